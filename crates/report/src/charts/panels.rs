//! Stacked frames with a common horizontal axis and one legend above them. Each has its name above
//! it.

use super::frame::{Axis, Frame};
use super::legend::Legend;
use super::scene::{Anchor, Ink, LETTERS, Scene};
use super::{BELOW, RIGHT, WIDTH};

/// Height of a frame that shares the chart with others.
pub(super) const PANEL: f64 = 96.0;
/// Space for a name above its frame.
const NAME: f64 = 22.0;

/// A frame: its name, the ink of the name, and its vertical axis.
pub(super) struct Panel {
    pub name: String,
    pub ink: Ink,
    pub y: Axis,
}

/// Draws the frames at the given height, and calls `draw` for the content of each. Names are shown
/// if there are several.
pub(super) fn panels(
    legend: &Legend<'_>,
    panels: Vec<Panel>,
    height: f64,
    x: &Axis,
    mut draw: impl FnMut(&mut Scene, &Frame, usize),
) -> Scene {
    let several = panels.iter().any(|panel| !panel.name.is_empty());
    let name = if several { NAME } else { 4.0 };
    // If frames have names, the line with the name also has space for the axis title.
    let titled = if several { 4.0 } else { LETTERS + 8.0 };
    let first = legend.draw(&mut Scene::new(WIDTH, 0.0), 0.0) + titled;
    let total = first + (height + name) * panels.len() as f64 + BELOW;
    let mut scene = Scene::new(WIDTH, total.ceil());
    legend.draw(&mut scene, 0.0);
    let left = panels.iter().map(|panel| panel.y.room()).fold(0.0, f64::max);
    let count = panels.len();
    for (row, Panel { name: own, ink, y }) in panels.into_iter().enumerate() {
        let y = if row == 0 { y } else { y.untitled() };
        let top = first + (height + name) * row as f64 + name;
        let width = WIDTH - left - RIGHT;
        let frame = Frame { left, top, width, height, x: x.clone(), y };
        frame.draw(&mut scene, row + 1 == count);
        draw(&mut scene, &frame, row);
        if several {
            scene.words((frame.right(), top - 8.0), own, Anchor::End, ink);
        }
    }
    scene
}
