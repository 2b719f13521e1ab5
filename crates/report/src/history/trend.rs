//! A benchmark over its revisions: one sentence about the last change or drift, the parts between
//! changes, and the commits between which each change occurred.

use super::date;
use crate::findings;
use crate::label::label;
use crate::layout::Screen;
use crate::layout::{Page, Tone};
use crate::number::{self, Column};
use crate::small_table;
use crate::words::counted;
use assay_analysis::Verdict;
use assay_analysis::history::trend::{Change, Trend};
use assay_analysis::history::{Blessing, short_digest};
use assay_data::{Metric, code};

/// Maximum width of the bar chart, in columns.
const PICTURE: usize = 60;
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A trend, with the command lines that narrow down its changes.
#[derive(Clone, Copy, Debug)]
pub struct TrendReport<'a> {
    /// The trend.
    pub trend: &'a Trend,
    /// A command line for each change; `None` if its commits are unknown.
    pub narrow: &'a [Option<String>],
}

/// Returns the sentence about the last change, or about a steady drift since then. If neither is
/// known, the sentence says so.
pub(crate) fn sentence(trend: &Trend) -> String {
    let name = trend.series.benchmark.label();
    let what = format!("{} of {name}", label(&trend.series.metric));
    let last = trend.changes.last().map_or(0, |change| change.index);
    if let Some(creep) = trend.creeps.last().filter(|creep| creep.from >= last) {
        let way = if creep.verdict == Verdict::Faster { "better" } else { "worse" };
        let since = match creep.between(&trend.series).0 {
            Some(revision) => format!("since {}", revision.short()),
            None => format!("since {}", date(trend.series.points[creep.from].started)),
        };
        return format!("{what} has been getting {way} steadily {since}, without a single step");
    }
    match (trend.changes.last(), &trend.short) {
        (Some(change), _) => {
            let (size, when) = (size(trend, change), when(trend, change));
            let verdict = verdict(change.verdict);
            let accepted = if change.accepted.is_some() { "; that was accepted" } else { "" };
            format!("{what} changed for the {verdict}, by {size}, {when}{accepted}")
        }
        (None, Some(short)) => {
            let (verdict, more) = (verdict(short.verdict), counted(short.more(), "more run"));
            format!("{what} may have changed for the {verdict}: {more} will show")
        }
        (None, None) => match trend.findings.iter().find(|own| own.is(code::TOO_FEW_RUNS)) {
            Some(few) => {
                let more = few.number("more").unwrap_or(1.0) as u64;
                let is = if more == 1 { "1 more run is" } else { "more runs are" };
                let more = if more == 1 { String::new() } else { format!("{more} ") };
                format!("whether {what} changed is not known yet: {more}{is} needed")
            }
            None => format!("{what} did not change, as far as its runs show"),
        },
    }
}

/// Returns where a change occurred, for the middle of a sentence: its commits or, if they are
/// unknown, the date.
fn when(trend: &Trend, change: &Change) -> String {
    let (before, after) = trend.between(change);
    let (Some(before), Some(after)) = (before, after) else {
        let point = &trend.series.points[change.latest.min(trend.series.points.len() - 1)];
        return format!("on {} or before", date(point.started));
    };
    let (from, to) = (before.short(), after.short());
    if before.commit == after.commit {
        return format!("between runs of {to}");
    }
    match trend.commits(change) {
        Some(1) => format!("with commit {to}"),
        _ => format!("after {from}, up to {to}"),
    }
}

fn verdict(verdict: Verdict) -> &'static str {
    if verdict == Verdict::Faster { "better" } else { "worse" }
}

/// Returns a note that a change was accepted and why, placed after the location of the change;
/// empty if it was not accepted.
pub(crate) fn accepted(blessing: Option<&Blessing>) -> String {
    let Some(blessing) = blessing else { return String::new() };
    let because = match blessing.reason.as_str() {
        "" => String::new(),
        reason => format!(" ({reason})"),
    };
    format!("; accepted at run {}{because}", short_digest(&blessing.run))
}

/// Formats the size of a change: a ratio with its interval or, if values are not positive, an
/// amount in the metric's unit.
pub(crate) fn size(trend: &Trend, change: &Change) -> String {
    size_of(change, &trend.series.metric)
}

/// Like [`size`], for a change of this metric.
pub(crate) fn size_of(change: &Change, metric: &Metric) -> String {
    match change.ratio {
        Some(ratio) => {
            let ends = ratio.interval.map(|interval| (interval.lower, interval.upper));
            number::change(ratio.estimate, ends)
        }
        None => number::value(change.shift.estimate, &metric.unit),
    }
}

/// Returns the size of a change, the commits between which it occurred, and whether it was
/// accepted; `None` if both runs are of the same commit, so that no commit caused it.
pub(crate) fn place(trend: &Trend, change: &Change) -> Option<String> {
    let (size, accepted) = (size(trend, change), accepted(change.accepted.as_ref()));
    let (before, after) = trend.between(change);
    let (Some(before), Some(after)) = (before, after) else {
        return Some(format!("{size}: the revisions of its runs are not known{accepted}"));
    };
    if before.commit == after.commit {
        return None;
    }
    let (from, to) = (before.short(), after.short());
    Some(match trend.commits(change) {
        Some(1) => format!("{size} came with commit {to}, after {from}{accepted}"),
        commits => {
            let commits = commits.map_or_else(|| "commits".to_owned(), |n| format!("{n} commits"));
            format!("{size} is among the {commits} after {from}, up to {to}{accepted}")
        }
    })
}

/// Renders the trend for the terminal. Every line ends with a newline. O(runs).
pub fn trend(report: &TrendReport<'_>, screen: &Screen) -> String {
    let mut page = Page::new(screen);
    let TrendReport { trend, narrow } = report;
    let series = &trend.series;
    page.paragraph(2, &[(Tone::Strong, sentence(trend))]);
    if let Some((first, last)) = series.points.first().zip(series.points.last()) {
        let runs = match series.points.len() {
            1 => "1 run".to_owned(),
            runs => format!("{runs} runs"),
        };
        let (first, last) = (date(first.started), date(last.started));
        let sure = number::chosen_percent(trend.confidence);
        let what = format!("{runs} on {}, {first} to {last}; {sure} confidence", series.machine);
        page.paragraph(2, &[(Tone::Quiet, what)]);
    }
    page.gap();
    if page.unicode() && series.points.len() > 2 {
        page.paragraph(
            2,
            &[(Tone::Plain, format!("  {}", picture(&trend.values(), page.width())))],
        );
    }
    parts(&mut page, trend);
    for (change, narrow) in trend.changes.iter().zip(narrow.iter()) {
        page.gap();
        let Some(place) = place(trend, change) else { continue };
        page.paragraph(2, &[(Tone::Plain, place)]);
        if let Some(narrow) = narrow.as_ref().filter(|_| change.accepted.is_none()) {
            page.paragraph(2, &[(Tone::Quiet, format!("  next: {narrow}"))]);
        }
    }
    if !trend.findings.is_empty() {
        page.gap();
        trend.findings.iter().for_each(|finding| findings::draw(&mut page, finding, ""));
    }
    page.finish()
}

fn parts(page: &mut Page, trend: &Trend) {
    let medians: Vec<f64> = trend.parts.iter().map(|part| part.median).collect();
    let column = Column::new(&trend.series.metric.unit, &medians, &[]);
    let rows: Vec<[String; 5]> = trend
        .parts
        .iter()
        .enumerate()
        .filter_map(|(number, part)| {
            let first = trend.series.points.get(part.from)?;
            let change = number.checked_sub(1).and_then(|before| trend.changes.get(before));
            Some([
                first.revision.as_ref().map_or_else(|| "-".to_owned(), |r| r.short().to_owned()),
                date(first.started),
                (part.to - part.from).to_string(),
                column.with_unit(part.median),
                change.map_or_else(String::new, |change| size(trend, change)),
            ])
        })
        .collect();
    let head = ["from", "", "runs", "median", "change"].map(str::to_owned);
    small_table::draw(page, &head, &rows, &vec![Tone::Plain; rows.len()]);
}

/// Draws the values in order as bars. If there are more runs than columns, several runs share a
/// column.
fn picture(values: &[f64], width: usize) -> String {
    let columns = PICTURE.min(width.saturating_sub(4)).min(values.len()).max(1);
    let of = |column: usize| {
        let part = &values[column * values.len() / columns..(column + 1) * values.len() / columns];
        part.iter().sum::<f64>() / part.len() as f64
    };
    let means: Vec<f64> = (0..columns).map(of).collect();
    let [low, high] = number::ends(&means);
    let bar = |value: &f64| {
        let height = if high > low { (value - low) / (high - low) * 7.0 } else { 3.0 };
        BARS[(height.round().max(0.0) as usize).min(7)]
    };
    means.iter().map(bar).collect()
}
