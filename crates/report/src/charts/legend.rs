//! Legend of a plot: a sample of each line with its name, in as many rows as needed, and a frame of
//! the usual kind below it. A plot with a single line has no legend.

use super::frame::{Axis, Frame};
use super::scene::{self, Anchor, Ink, LETTERS, Position, Scene, text_width};
use super::scene::{BELOW, RIGHT, WIDTH};

/// Length of a line sample, in sheet units (about a pixel each).
const SAMPLE: f64 = 22.0;

/// Extra space for fonts that are wider than estimated, in sheet units (about a pixel each).
const SPARE: f64 = 16.0;

/// The lines of a picture, each with the index of its ink and its name.
#[derive(Clone, Debug)]
pub(super) struct Legend<'a>(pub Vec<(usize, &'a str)>);

impl Legend<'_> {
    /// Draws the legend, starting at the vertical position `top`, and returns the position of its
    /// lower end.
    pub fn draw(&self, scene: &mut Scene, top: f64) -> f64 {
        if self.0.len() < 2 {
            return top;
        }
        let (mut x, mut y) = (4.0, top + LETTERS);
        for &(ink, name) in &self.0 {
            let wide = SAMPLE + 6.0 + text_width(name, LETTERS);
            if x > 4.0 && x + wide > WIDTH - SPARE {
                x = 4.0;
                y += LETTERS + 5.0;
            }
            let middle = y - LETTERS * 0.35;
            let line: Vec<Position> = vec![(x, middle), (x + SAMPLE, middle)];
            scene.dashed(line, Ink::Subject(ink), 2.5, scene::dashes(ink));
            scene.words((x + SAMPLE + 6.0, y), name, Anchor::Start, Ink::Text);
            x += wide + 16.0;
        }
        y + 8.0
    }

    /// Returns a sheet with the legend, and a frame of the given height below it.
    pub fn framed(&self, x: Axis, y: Axis, height: f64) -> (Scene, Frame) {
        let top = self.draw(&mut Scene::new(WIDTH, 0.0), 0.0) + LETTERS + 10.0;
        let mut scene = Scene::new(WIDTH, (top + height + BELOW).ceil());
        self.draw(&mut scene, 0.0);
        let left = y.room();
        let width = WIDTH - left - RIGHT;
        let frame = Frame { left, top, width, height, x, y };
        frame.draw(&mut scene, true);
        (scene, frame)
    }
}
