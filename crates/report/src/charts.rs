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
mod legend;
mod load;
mod over_parameter;
mod over_time;
pub mod palette;
mod panels;
pub mod png;
pub mod quadrant;
pub mod scene;
pub mod svg;

use crate::label::label;
use crate::names::fitted;
use assay_analysis::Analysis;
use assay_analysis::figures::Figures;
use assay_data::Metric;
pub(crate) use frame::plain;
use legend::Legend;
use scene::{Anchor, Ink, LETTERS, Scene, Shape};

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
pub fn charts(analysis: &Analysis, figures: &Figures) -> Vec<Chart> {
    let mut charts = over_parameter::charts(analysis);
    charts.extend(figures.load.iter().flat_map(|load| load::charts(analysis, load)));
    if figures.subjects.is_empty() {
        return charts;
    }
    let sheet = Sheet::of(figures);
    charts.push(over_time::raw(&sheet));
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

/// The names of pictures, those of a name that was there before numbered: of their files, and of their places on a page.
pub fn file_names(charts: &[Chart]) -> Vec<String> {
    let named = |(index, chart): (usize, &Chart)| {
        let same = charts[..index].iter().filter(|before| before.name == chart.name).count();
        if same > 0 { format!("{}-{}", chart.name, same + 1) } else { chart.name.to_owned() }
    };
    charts.iter().enumerate().map(named).collect()
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

/// The text with a capital at its beginning.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
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

    /// Which line is whose, of some subjects.
    fn legend(&self, subjects: &[usize]) -> Legend<'_> {
        Legend(subjects.iter().map(|&s| (s, self.names[s].as_str())).collect())
    }

    /// The same of all of them.
    fn whole_legend(&self) -> Legend<'_> {
        self.legend(&(0..self.names.len()).collect::<Vec<_>>())
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
