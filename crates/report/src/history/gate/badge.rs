//! Renders the result of a gate as a badge, a small SVG with the question on the left and the
//! answer on the right. It loads and runs nothing.

use super::GateReport;
use crate::charts::scene::text_width;
use crate::markup::escaped;
use crate::names::{clean, shorten};
use assay_analysis::history::gate::Standing;

/// Letter height.
const LETTERS: f64 = 11.0;
/// Margin around a text.
const MARGIN: f64 = 7.0;
const HEIGHT: f64 = 20.0;
/// Maximum width of the project's name, in columns.
const LONGEST: usize = 32;

/// Renders the badge. White letters have a contrast of at least 4.5 on every color used here.
pub fn badge(report: &GateReport<'_>) -> String {
    let gate = report.gate;
    let count = |standing| gate.judged.iter().filter(|j| j.standing == standing).count();
    let (answer, color) = match gate.standing() {
        Standing::Worse => (format!("{} worse", count(Standing::Worse)), "#c0392b"),
        Standing::Inconclusive => ("not known".to_owned(), "#6a6a6a"),
        Standing::Better | Standing::Normal => ("normal".to_owned(), "#1e7e34"),
    };
    let project = format!("{}: performance", shorten(&clean(report.project), LONGEST, "…"));
    let wide = |text: &str| text_width(text, LETTERS).ceil() + 2.0 * MARGIN;
    let (left, right) = (wide(&project), wide(&answer));
    let width = left + right;
    let words = |middle: f64, room: f64, text: &str| {
        format!(
            "<text x=\"{middle}\" y=\"14\" textLength=\"{}\" lengthAdjust=\"spacingAndGlyphs\">{}</text>",
            room - 2.0 * MARGIN,
            escaped(text)
        )
    };
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{HEIGHT}\" role=\"img\" aria-label=\"{label}\">\
         <title>{label}</title>\
         <clipPath id=\"r\"><rect width=\"{width}\" height=\"{HEIGHT}\" rx=\"3\"/></clipPath>\
         <g clip-path=\"url(#r)\"><rect width=\"{left}\" height=\"{HEIGHT}\" fill=\"#3b3b3b\"/>\
         <rect x=\"{left}\" width=\"{right}\" height=\"{HEIGHT}\" fill=\"{color}\"/></g>\
         <g fill=\"#ffffff\" text-anchor=\"middle\" font-family=\"Verdana, 'DejaVu Sans', Geneva, sans-serif\" font-size=\"{LETTERS}\">{}{}</g>\
         </svg>\n",
        words(left / 2.0, left, &project),
        words(left + right / 2.0, right, &answer),
        label = escaped(&format!("{project} {answer}")),
    )
}
