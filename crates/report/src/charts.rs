//! Plots of an analysis: one picture for every question that an eye answers better than a number.
//!
//! [`charts`] makes pictures out of [`Figures`]; [`svg`] and [`png`] write them. All share one set of axes, ticks and colours.
//! They are small and of one width, so that the same picture is read on a phone and, two beside each other, on a desk. Each has
//! a title and a caption that says what to look for and how it was computed. No statistics here: curves come thinned and
//! ready from the analysis.

mod certainty;
mod differences;
mod distribution;
pub mod forest;
mod frame;
mod over_time;
pub mod palette;
pub mod png;
pub mod scene;
pub mod svg;

use crate::label::label;
use crate::names::fitted;
use assay_analysis::figures::Figures;
use assay_data::Metric;
use scene::{Anchor, Ink, LETTERS, Place, Scene, Shape, text_width};

/// Width of every picture.
pub const WIDTH: f64 = 420.0;
/// Room at the right for half a label, and below for labels and a title.
const RIGHT: f64 = 14.0;
const BELOW: f64 = 42.0;
/// Height of the frame of most pictures.
const HEIGHT: f64 = 190.0;
/// Longest name in a legend.
const NAME: usize = 34;

/// A picture with its words.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// Short and of small letters: the name of its file, and of its place on a page.
    pub name: &'static str,
    /// What it shows, in a few words.
    pub title: String,
    /// What to look for in it, and how it was computed.
    pub caption: String,
    /// The picture.
    pub scene: Scene,
}

impl Chart {
    /// The same with its title above it, and below that what it is about: a file by itself stands in no page that says so.
    pub fn titled(mut self, about: &[String]) -> Self {
        const TITLE: f64 = 15.0;
        self.scene.lower(TITLE + LETTERS + 18.0);
        let width = self.scene.width;
        let shortened = |text: &str, size: f64| {
            crate::names::shorten(text, (width / (size * 0.56)) as usize, "…")
        };
        let (place, text) = ((4.0, TITLE + 2.0), shortened(&self.title, TITLE));
        let (anchor, ink) = (Anchor::Start, Ink::Text);
        self.scene.shapes.push(Shape::Words { place, text, anchor, size: TITLE, ink });
        let about = shortened(&about.join(" · "), LETTERS);
        self.scene.words((4.0, TITLE + LETTERS + 7.0), about, Anchor::Start, Ink::Quiet);
        self
    }
}

/// The plots of an analysis, in the order in which they are best read; those that these samples can't fill are left out.
pub fn charts(figures: &Figures) -> Vec<Chart> {
    if figures.subjects.is_empty() {
        return Vec::new();
    }
    let sheet = Sheet::of(figures);
    let mut charts = vec![over_time::raw(&sheet)];
    charts.extend(distribution::density(&sheet));
    charts.push(distribution::ecdf(&sheet));
    charts.push(distribution::boxes(&sheet));
    charts.extend(over_time::correlogram(&sheet));
    charts.extend(differences::pairwise(&sheet));
    charts.extend(differences::blocks(&sheet));
    charts.extend(differences::quantiles(&sheet));
    charts.extend(certainty::bootstrap(&sheet));
    charts.extend(certainty::bootstrap_normal(&sheet));
    charts.extend(certainty::power(&sheet));
    charts
}

/// Those of one row of many: its values over time and their distribution.
pub fn of_row(figures: &Figures) -> Vec<Chart> {
    if figures.subjects.is_empty() {
        return Vec::new();
    }
    let sheet = Sheet::of(figures);
    let shape = distribution::density(&sheet).unwrap_or_else(|| distribution::boxes(&sheet));
    vec![over_time::raw(&sheet), shape]
}

/// What the metric is called where it stands alone: `wall` is no noun.
fn whole_name(metric: &Metric) -> String {
    match metric.name.as_str() {
        "wall" => "wall time".to_owned(),
        "cpu" => "CPU time".to_owned(),
        _ => label(metric),
    }
}

/// What every picture needs to know.
struct Sheet<'a> {
    figures: &'a Figures,
    /// Names of the subjects, short enough for a legend.
    names: Vec<String>,
    /// What the metric is called.
    metric: String,
}

impl<'a> Sheet<'a> {
    fn of(figures: &'a Figures) -> Self {
        let names: Vec<String> = figures.subjects.iter().map(|s| s.name.clone()).collect();
        Self { figures, names: fitted(&names, NAME, "…"), metric: whole_name(&figures.metric) }
    }

    /// Draws a legend from this place down, as many names to a line as fit, and says where it ends. A single subject needs none.
    fn legend(&self, scene: &mut Scene, top: f64) -> f64 {
        self.legend_of(scene, top, &(0..self.names.len()).collect::<Vec<_>>())
    }

    fn legend_of(&self, scene: &mut Scene, top: f64, subjects: &[usize]) -> f64 {
        const SAMPLE: f64 = 22.0;
        if subjects.len() < 2 {
            return top;
        }
        let (mut x, mut y) = (4.0, top + LETTERS);
        for &subject in subjects {
            let wide = SAMPLE + 6.0 + text_width(&self.names[subject], LETTERS);
            if x > 4.0 && x + wide > WIDTH {
                x = 4.0;
                y += LETTERS + 5.0;
            }
            let middle = y - LETTERS * 0.35;
            let line: Vec<Place> = vec![(x, middle), (x + SAMPLE, middle)];
            scene.dashed(line, Ink::Subject(subject), 2.5, scene::dashes(subject));
            scene.words((x + SAMPLE + 6.0, y), &self.names[subject], Anchor::Start, Ink::Text);
            x += wide + 16.0;
        }
        y + 8.0
    }

    /// Says which subjects are not drawn; empty when all are.
    fn left_out(&self) -> String {
        match self.figures.left_out {
            0 => String::new(),
            n => format!(" Drawn are the first {} subjects; {n} more are not.", self.names.len()),
        }
    }

    /// Says what lies beyond the ends of an axis; empty when nothing does.
    fn beyond(&self) -> String {
        let (below, above) = self
            .figures
            .subjects
            .iter()
            .fold((0, 0), |(b, a), s| (b + s.shape.beyond.0, a + s.shape.beyond.1));
        let of: usize = self.figures.subjects.iter().map(|s| s.n).sum();
        let n = over_time::counted;
        match (below, above) {
            (0, 0) => String::new(),
            (0, above) => {
                format!(" Not in the picture: {} of {} values, larger ones.", n(above), n(of))
            }
            (below, 0) => {
                format!(" Not in the picture: {} of {} values, smaller ones.", n(below), n(of))
            }
            (below, above) => format!(
                " Not in the picture: {} smaller and {} larger ones of {} values.",
                n(below),
                n(above),
                n(of)
            ),
        }
    }
}
