//! The text of `assay describe` for a page. For every series, rows describe its course over time,
//! the dependence of its values, the fitted distributions and how well they fit, modes, outliers
//! and levels. The wording is the same as in the terminal. Charts and plain numbers are elsewhere
//! on the page.

use super::{column, distribution_told, distributions_by_fit, words};
use crate::layout::STICKY;
use crate::names::clean;
use assay_analysis::policy::{CORRELOGRAM_FROM, DISTRIBUTIONS_FROM};
use assay_analysis::series_summary::SeriesSummary;

/// One series: its heading, and its facts, each with its key.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SeriesOnPage {
    pub heading: String,
    pub facts: Vec<(&'static str, String)>,
}

/// Returns all series that vary; constant series are reported only as findings. Headings include
/// the metric if there are several metrics.
pub(crate) fn of(summaries: &[SeriesSummary]) -> Vec<SeriesOnPage> {
    let several = summaries.iter().any(|p| p.metric.name != summaries[0].metric.name);
    let varying = summaries.iter().filter(|p| p.distinct > 1);
    varying.map(|p| SeriesOnPage { heading: heading(p, several), facts: facts(p) }).collect()
}

fn heading(p: &SeriesSummary, several: bool) -> String {
    let name = clean(&p.name);
    if several { format!("{name}: {}", crate::label::label(&p.metric)) } else { name }
}

fn facts(p: &SeriesSummary) -> Vec<(&'static str, String)> {
    let column = column(p);
    let n = p.description.n;
    let mut facts = vec![("over time", words::over_time(p, &column))];
    if n >= CORRELOGRAM_FROM {
        facts.push(("dependence", words::dependence(p)));
    }
    if n >= DISTRIBUTIONS_FROM {
        for distribution in distributions_by_fit(p) {
            let (with, wrong) = distribution_told(&distribution, &column);
            let told =
                format!("{with}; largest distance from the data (Kolmogorov-Smirnov): {wrong}");
            facts.push((distribution.kind.word(), told));
        }
        facts.push(("tails", words::tails(p)));
    }
    facts.push(("how often", words::repeated(p, &column)));
    facts.extend(words::facts(p, &column).into_iter().map(|line| ("values", line)));
    let levels = p.levels.iter().flat_map(|found| words::levels(p, found));
    facts.extend(levels.map(|line| ("levels", line)));
    facts.retain(|(_, told)| !told.is_empty());
    // A key shared by several lines is shown only before the first one.
    let mut before = "";
    for (word, told) in &mut facts {
        *told = told.replace(STICKY, "\u{a0}");
        if *word == before {
            *word = "";
        } else {
            before = word;
        }
    }
    facts
}
