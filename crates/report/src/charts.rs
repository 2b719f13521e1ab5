//! Plots of an analysis, one for each question that a picture answers better than a number.
//!
//! [`charts`] makes pictures from [`Figures`]; [`svg`] and [`png`] write them. All share one style
//! of axes, ticks and colors. They are small and have the same width, so that a picture is readable
//! on a phone, and two of them fit side by side on a desktop. Each has a title and a caption that
//! says what to look for and how it was computed. There are no statistics here: the analysis
//! provides curves that are thinned and ready to draw.

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
pub use scene::WIDTH;
use scene::{Anchor, BELOW, Ink, LETTERS, RIGHT, Scene, Shape};

/// Height of the frame of most pictures, in sheet units (about a pixel each).
const HEIGHT: f64 = 190.0;
/// Maximum length of a name in a legend, in characters.
const NAME: usize = 34;

/// A picture with its title and caption.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// Short lower-case name, used for the picture's file and for its anchor on an HTML page.
    pub name: &'static str,
    /// Short description of the content.
    pub title: String,
    /// Explanation of what to look for in the picture, and of how it was computed.
    pub caption: String,
    /// The picture.
    pub scene: Scene,
}

impl Chart {
    /// Returns the chart with its title and the lines of `about` drawn above the picture, for a
    /// standalone file that has no page to explain it.
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

/// Returns the plots of an analysis in reading order. Plots for which the analysis lacks data are
/// left out.
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

/// Returns the index of the plot that shows the main result: medians over a parameter, a search for
/// the highest rate, or the distribution of the values.
pub(crate) fn best(charts: &[Chart]) -> Option<usize> {
    let named = |name: &&str| charts.iter().position(|chart| chart.name == *name);
    ["over-parameter", "rates-tried", "density", "box"].iter().find_map(named)
}

/// Returns unique names for pictures, for use as file names and as anchors on an HTML page.
/// Repeated names get a number.
pub fn file_names(charts: &[Chart]) -> Vec<String> {
    let named = |(index, chart): (usize, &Chart)| {
        let same = charts[..index].iter().filter(|before| before.name == chart.name).count();
        if same > 0 { format!("{}-{}", chart.name, same + 1) } else { chart.name.to_owned() }
    };
    charts.iter().enumerate().map(named).collect()
}

/// Returns the plots of one row of a suite: its values over time and their distribution.
pub fn of_row(figures: &Figures) -> Vec<Chart> {
    if figures.subjects.is_empty() {
        return Vec::new();
    }
    let sheet = Sheet::of(figures);
    let shape = distribution::density(&sheet).unwrap_or_else(|| distribution::boxes(&sheet));
    vec![over_time::raw(&sheet), shape]
}

/// Returns the text with its first letter capitalized.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Returns a name of the metric that can be used as a noun, such as `wall time` for `wall`.
pub(crate) fn whole_name(metric: &Metric) -> String {
    match metric.name.as_str() {
        "wall" => "wall time".to_owned(),
        "cpu" => "CPU time".to_owned(),
        _ => label(metric),
    }
}

/// Data shared by all pictures of an analysis.
struct Sheet<'a> {
    figures: &'a Figures,
    /// Names of the subjects, shortened to fit a legend.
    names: Vec<String>,
    /// Name of the metric.
    metric: String,
}

impl<'a> Sheet<'a> {
    fn of(figures: &'a Figures) -> Self {
        let names: Vec<String> = figures.subjects.iter().map(|s| s.name.clone()).collect();
        Self { figures, names: fitted(&names, NAME, "…"), metric: whole_name(&figures.metric) }
    }

    /// Returns the legend of the given subjects.
    fn legend(&self, subjects: &[usize]) -> Legend<'_> {
        Legend(subjects.iter().map(|&s| (s, self.names[s].as_str())).collect())
    }

    /// Returns the legend of all subjects.
    fn whole_legend(&self) -> Legend<'_> {
        self.legend(&(0..self.names.len()).collect::<Vec<_>>())
    }

    /// Returns a note on subjects that are not drawn; empty if all are drawn.
    fn left_out(&self) -> String {
        match self.figures.left_out {
            0 => String::new(),
            n => format!(" The first {} subjects are drawn; {n} more are not.", self.names.len()),
        }
    }

    /// Returns a note on values outside the range of the axis; empty if there are none.
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
                format!(" {} of {} values are outside the plot, on the right.", n(above), n(of))
            }
            (below, 0) => {
                format!(" {} of {} values are outside the plot, on the left.", n(below), n(of))
            }
            (below, above) => format!(
                " {} smaller and {} larger ones of {} values are outside the plot.",
                n(below),
                n(above),
                n(of)
            ),
        }
    }
}
