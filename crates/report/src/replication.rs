//! The terminal report on a run and its repetition, which answers whether the old result was
//! confirmed.
//!
//! It starts with one sentence per result, followed by both sizes side by side with the change
//! between them, and the differences between the two runs. The second run's own report is drawn
//! elsewhere. Nothing is computed here.

use crate::label::label;
use crate::layout::Screen;
use crate::layout::{Page, Tone};
use crate::number::{self, Column};
use crate::small_table;
use crate::words::{self, in_plain_words};
use assay_analysis::replication::{Reason, Replicated, Replication, RunResult, Status};
use assay_analysis::{Analysis, Interval, Scale};
use assay_data::Unit;

/// The contents of the report.
#[derive(Clone, Copy, Debug)]
pub struct ReplicationReport<'a> {
    /// Path of the first run's file, as given by the user.
    pub file: &'a str,
    /// The first run.
    pub then: &'a Analysis,
    /// The second run.
    pub now: &'a Analysis,
    /// How each result turned out in the repetition.
    pub replication: &'a Replication,
    /// The differences between the runs, one sentence each.
    pub differences: &'a [String],
}

/// Renders the report for the terminal. Every line ends with a newline.
pub fn render(report: &ReplicationReport<'_>, screen: &Screen) -> String {
    let mut page = Page::new(screen);
    let names = page.fitted(&report.now.names(), (page.width() / 2).clamp(8, 60));
    for result in &report.replication.results {
        page.paragraph(2, &[(tone(result.status), sentence_with(report, result, &names))]);
    }
    if report.replication.results.is_empty() {
        page.paragraph(2, &[(Tone::Unsure, EMPTY.to_owned())]);
    }
    page.gap();
    table(&mut page, report);
    if !report.differences.is_empty() {
        page.gap();
        page.paragraph(2, &[(Tone::Strong, "Not the same as then:".to_owned())]);
        for difference in report.differences {
            page.paragraph(4, &[(Tone::Plain, format!("  {difference}"))]);
        }
    }
    page.finish()
}

const EMPTY: &str = "unknown: the runs have no result in common";

fn tone(status: Status) -> Tone {
    match status {
        Status::Confirmed => Tone::Good,
        Status::Unknown => Tone::Unsure,
        Status::NotConfirmed | Status::Contradicted => Tone::Bad,
    }
}

/// Returns a sentence that states how a result turned out.
pub fn sentence(report: &ReplicationReport<'_>, result: &Replicated) -> String {
    sentence_with(report, result, &report.now.names())
}

fn sentence_with(report: &ReplicationReport<'_>, result: &Replicated, names: &[String]) -> String {
    let status = match result.status {
        Status::Confirmed => "confirmed",
        Status::Unknown => "can't tell yet",
        Status::NotConfirmed => "not confirmed",
        Status::Contradicted => "contradicted",
    };
    let Some(against) = result.against else {
        return format!("{status}: {}", of_median(report, result, names));
    };
    let plain = |analysis: &Analysis| {
        let found = analysis.comparisons.iter().find(|c| (c.of, c.against) == (result.of, against));
        found.map_or_else(String::new, |c| in_plain_words(analysis, c))
    };
    let (then, now) = (plain(report.then), plain(report.now));
    let pair =
        format!("{} against {}", words::quoted(&names[result.of]), words::quoted(&names[against]));
    let why = match result.reason {
        Reason::Same => format!("{then} then, {now} now"),
        Reason::OtherSize => {
            format!("{then} then, {now} now: not the size that the first run predicts")
        }
        Reason::OtherDirection | Reason::Gone | Reason::New => {
            format!("{then} then, {now} now: the two results exclude each other")
        }
        Reason::BothSmall => {
            format!("{then} then, {now} now: both are compatible with a small difference")
        }
        Reason::OpenNow => {
            format!(
                "{then} then; now {now}, which does not contradict the first run. Measure longer"
            )
        }
        Reason::OpenThen => {
            format!("the first run had no verdict that could be confirmed; now: {now}")
        }
        Reason::NoInterval => "one of the runs is too short for an interval".to_owned(),
        Reason::OtherScale => "one run was decided on ratios, the other on differences".to_owned(),
    };
    format!("{status}: {pair}: {why}")
}

fn of_median(report: &ReplicationReport<'_>, result: &Replicated, names: &[String]) -> String {
    let metric = &report.now.metrics[report.now.primary];
    let name = words::quoted(&names[result.of]);
    let amounts = [result.then, result.now].map(|said| in_units(result.scale, said.estimate));
    let column = Column::new(&metric.unit, &amounts, &half_widths(result));
    let [then, now] = amounts.map(|amount| column.with_unit(amount));
    let what = format!("median {} of {name}: {then} then, {now} now", label(metric));
    match result.reason {
        Reason::OtherSize => format!("{what}: that is not what the first run predicts"),
        Reason::NoInterval => format!("{what}; one of the runs is too short for an interval"),
        _ => what,
    }
}

/// Converts a size from the scale of the result to the metric's unit. The ratio of two subjects
/// remains a ratio.
pub(crate) fn in_units(scale: Scale, on_scale: f64) -> f64 {
    if scale == Scale::Ratio { on_scale.exp() } else { on_scale }
}

fn half_widths(result: &Replicated) -> Vec<f64> {
    let of = |said: RunResult| {
        let interval = said.interval?;
        Some(
            (in_units(result.scale, interval.upper) - in_units(result.scale, interval.lower)) / 2.0,
        )
    };
    [result.then, result.now].into_iter().filter_map(of).collect()
}

/// Draws the sizes of both runs and the change between them, side by side.
fn table(page: &mut Page, report: &ReplicationReport<'_>) {
    let names = page.fitted(&report.now.names(), (page.width() * 3 / 10).clamp(8, 40));
    let (head, rows) = sizes(report, &names);
    let tones: Vec<Tone> = rows.iter().map(|_| Tone::Plain).collect();
    if !rows.is_empty() {
        small_table::draw(page, &head, &rows, &tones);
    }
}

/// Returns the headings and rows of the table that compares both runs, for the terminal and the
/// page.
pub(crate) fn sizes(
    report: &ReplicationReport<'_>,
    names: &[String],
) -> (Vec<String>, Vec<Vec<String>>) {
    let mut rows: Vec<Vec<String>> = report
        .replication
        .results
        .iter()
        .map(|result| {
            let sized = |estimate, interval, is_change| {
                size(report, result, (estimate, interval), is_change)
            };
            vec![
                names[result.of].clone(),
                sized(result.then.estimate, result.then.interval, false),
                sized(result.now.estimate, result.now.interval, false),
                sized(result.change, result.change_interval, true),
                result.effect_ratio.map_or_else(String::new, number::multiple),
            ]
        })
        .collect();
    let relative = report.replication.results.iter().all(|r| r.scale == Scale::Ratio);
    let change = if relative { "now / then" } else { "now - then" };
    let mut head: Vec<String> = ["", "then", "now", change, "effect"].map(str::to_owned).into();
    // An effect compares two subjects, so a single subject has none.
    if rows.iter().all(|row| row[4].is_empty()) {
        head.truncate(4);
        rows.iter_mut().for_each(|row| row.truncate(4));
    }
    (head, rows)
}

/// Formats a size with its interval. Medians of a single program and results decided on differences
/// are amounts in the metric's unit, and everything else is a ratio.
fn size(
    report: &ReplicationReport<'_>,
    result: &Replicated,
    size: (f64, Option<Interval>),
    is_change: bool,
) -> String {
    let is_ratio = result.scale == Scale::Ratio && (result.against.is_some() || is_change);
    let unit = &report.now.metrics[report.now.primary].unit;
    formatted(unit, result.scale, is_ratio, size)
}

/// Formats a size on the given scale with its interval, as a ratio or in the unit. It is empty if
/// the size is not finite.
pub(crate) fn formatted(
    unit: &Unit,
    scale: Scale,
    is_ratio: bool,
    (estimate, interval): (f64, Option<Interval>),
) -> String {
    if !estimate.is_finite() {
        return String::new();
    }
    let ends = interval.map(|i| (in_units(scale, i.lower), in_units(scale, i.upper)));
    let estimate = in_units(scale, estimate);
    if is_ratio {
        return number::ratio(estimate, ends);
    }
    let half = ends.map_or(f64::NAN, |(lower, upper)| (upper - lower) / 2.0);
    let (lower, upper) = ends.unwrap_or((estimate, estimate));
    let column = Column::for_amounts(unit, &[estimate, lower, upper], &[half]);
    match ends {
        Some((lower, upper)) => {
            format!(
                "{} [{} … {}]",
                column.with_unit(estimate),
                column.number(lower),
                column.number(upper)
            )
        }
        None => column.with_unit(estimate),
    }
}
