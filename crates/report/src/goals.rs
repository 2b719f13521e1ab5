//! The goals of a search for the highest rate (`assay load --find`), as recorded with its samples.

use assay_analysis::Analysis;
use assay_data::{Finding, Metric, code, list};

/// Name of the metric whose value a search determines.
pub(crate) const CAPACITY: &str = "capacity";

/// Returns true if the load test searched for the highest rate.
pub(crate) fn is_search(analysis: &Analysis) -> bool {
    analysis.environment.text("load_goals").is_some()
}

/// Returns the goals of a search in words: `p99 below 50ms and errors below 0.1%`.
fn goals(analysis: &Analysis) -> Option<String> {
    let goal = |text: &str| match text.split_once('<') {
        Some((name, limit)) => {
            format!("{} below {}", name.trim(), limit.trim_start_matches('=').trim())
        }
        None => text.trim().to_owned(),
    };
    let all: Vec<String> = analysis.environment.text("load_goals")?.split(',').map(goal).collect();
    Some(list::all(&all))
}

/// Returns the sentence about a subject for which the search ran out of time before it found the
/// capacity. The sentence has the bounds of the capacity, if any are known.
pub(crate) fn unfinished(analysis: &Analysis, subject: usize, name: &str) -> String {
    let own = Some(analysis.subjects[subject].name.as_str());
    let is_about = |f: &&Finding| f.is(code::CAPACITY_LIMIT) && f.subject.as_deref() == own;
    match analysis.findings.iter().find(is_about) {
        Some(finding) => finding.message.clone(),
        None => format!("the capacity of '{name}' was not found in the time allowed"),
    }
}

/// Formats the goals of the search if it determined the values of this metric, and returns `None`
/// otherwise.
pub(crate) fn of_metric(analysis: &Analysis, metric: &Metric) -> Option<String> {
    goals(analysis).filter(|_| metric.name == CAPACITY)
}
