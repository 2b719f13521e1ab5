//! The short screen output of a search for the highest rate: the rate that each server sustains,
//! and its latency at that rate. All other results are shown with `--verbose`.

use super::applied::{self, name};
use super::{SHOWN, latency, missed_goals, notes};
use crate::goals::CAPACITY;
use crate::layout::{Page, Tone};
use crate::remarks::List;
use crate::screen_table::column_of;
use crate::{medians, scan, small_table};
use assay_analysis::Analysis;
use assay_analysis::slices::Answers;

/// Draws the capacities, and adds the other results of the search to the remarks.
pub(crate) fn draw(page: &mut Page, analysis: &Analysis, remarks: &mut List) {
    match analysis.subjects.len() {
        // The answer above already states the capacity.
        1 => analysis.answers.iter().take(1).for_each(|own| there(page, own)),
        // The table of the scan already has a row for each server.
        _ if scan::shows(analysis) => {}
        _ => capacities(page, analysis),
    }
    missed_goals(analysis).for_each(|line| remarks.check(page, 6, line));
    let load = applied::load(analysis).into_iter();
    load.chain(notes(analysis)).for_each(|line| remarks.note(page, line));
}

/// Draws the latencies of the only server at its capacity.
fn there(page: &mut Page, own: &Answers) {
    if own.count("due") == 0 {
        return;
    }
    let quantiles = SHOWN.map(|(name, wanted)| format!("{name} {}", latency(own, wanted)));
    page.gap();
    let text = format!("latency at that rate: {}", quantiles.join(" · "));
    page.paragraph(2, &[(Tone::Plain, text)]);
}

/// Draws a table with the capacity and the latencies of each server.
fn capacities(page: &mut Page, analysis: &Analysis) {
    let places: Vec<(&str, f64)> =
        SHOWN.into_iter().filter(|(_, q)| [0.5, 0.99].contains(q)).collect();
    let mut head: Vec<String> = vec![String::new(), CAPACITY.to_owned()];
    head.extend(places.iter().map(|(name, _)| format!("{name} there")));
    let row = |subject: usize| {
        let answers = analysis.answers.iter().find(|own| own.subject == subject);
        let answers = answers.filter(|own| own.count("due") > 0);
        let latencies = places.iter().map(|&(_, wanted)| Some(latency(answers?, wanted)));
        let cells = std::iter::once(capacity(analysis, subject)).chain(latencies);
        let cells = cells.map(|cell| cell.unwrap_or_else(|| "-".to_owned()));
        std::iter::once(name(analysis, subject)).chain(cells).collect::<Vec<_>>()
    };
    let rows: Vec<Vec<String>> = (0..analysis.subjects.len()).map(row).collect();
    page.gap();
    small_table::draw(page, &head, &rows, &vec![Tone::Plain; rows.len()]);
}

/// Formats the capacity of a subject with its interval; `None` if no search found a capacity.
pub(super) fn capacity(analysis: &Analysis, subject: usize) -> Option<String> {
    let metric = analysis.metrics.iter().position(|metric| metric.name == CAPACITY)?;
    let d = analysis.subjects[subject].metrics.get(metric)?.as_ref()?;
    Some(medians::with_interval(&column_of(analysis, metric, true), d))
}
