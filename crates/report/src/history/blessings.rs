//! Levels accepted as normal, one line each.

use super::date;
use crate::layout::Screen;
use crate::layout::{Page, Tone};
use assay_analysis::history::{Blessing, short_digest};

/// Renders the accepted levels for the terminal. Every line ends with a newline.
pub fn blessings(project: &str, all: &[Blessing], screen: &Screen) -> String {
    let mut page = Page::new(screen);
    for blessing in all {
        let what = blessing.benchmark.as_deref().unwrap_or("every benchmark");
        let reason = match blessing.reason.as_str() {
            "" => String::new(),
            reason => format!(": {reason}"),
        };
        let (run, day) = (short_digest(&blessing.run), date(blessing.started));
        let line = format!("{what} has been normal since run {run} of {day}{reason}");
        page.paragraph(2, &[(Tone::Plain, line)]);
    }
    if all.is_empty() {
        let none = format!(
            "no level of {project} was accepted: what is normal is determined from its runs"
        );
        page.paragraph(2, &[(Tone::Plain, none)]);
    }
    page.finish()
}
