//! The terminal report on a profile: the sampled program, the quality of the samples, the garbage
//! collector's share, the functions with their shares, and findings.
//!
//! The columns are pprof's (flat, flat%, sum%, cum, cum%), with an interval for each share. On
//! narrow pages, the intervals of the rightmost columns are dropped first.

use super::{Measured, Overhead, ProfileReport};
use crate::grid::{Cells, draw_columns, width_of};
use crate::layout::Screen;
use crate::layout::{Page, Tone};
use crate::names::{clean, fitted, width};
use crate::number::{self, Column};
use crate::remarks::{List, Remarks};
use crate::words::counted;
use assay_analysis::Interval;
use assay_data::Unit;
use assay_profiles::shares::{Basis, Share, Shares};
use std::collections::HashMap;

/// Minimum useful width of the column of names.
const NARROWEST_NAME: usize = 16;
/// Maximum width of names.
const WIDEST_NAME: usize = 100;
/// Number of spaces between columns.
const GAP: usize = 2;

/// Renders the profile for the terminal. Every line ends with a newline.
pub fn render(report: &ProfileReport<'_>, remarks: Remarks, screen: &Screen) -> String {
    let mut page = Page::new(screen);
    page.paragraph(
        2,
        &[
            (Tone::Strong, headline(report)),
            (Tone::Quiet, format!("   ({})", sureness(report.shares))),
        ],
    );
    page.paragraph(2, &[(Tone::Plain, rates(report))]);
    page.paragraph(2, &[(Tone::Plain, collection(report.shares))]);
    if let Some(cost) = cost(report) {
        page.paragraph(2, &[(Tone::Plain, cost)]);
    }
    page.gap();
    table(&mut page, report);
    List::of(remarks, &page, report.findings.iter()).draw_apart(&mut page);
    page.finish()
}

/// Formats an amount in the profile's unit. A number without a unit counts samples.
pub(super) fn amount(value: f64, unit: &Unit) -> String {
    match unit {
        Unit::One => number::count(value),
        _ => number::value(value, unit),
    }
}

/// Returns the answer as one line: the total amount sampled, and the function that takes the
/// largest part of it.
pub(crate) fn headline(report: &ProfileReport<'_>) -> String {
    let Shares { samples, amount: total, unit, measure, .. } = report.shares;
    let name = &report.profile.name;
    let what = match (unit, measure.as_str()) {
        (Unit::Second, "wall") => format!("{} of time", amount(*total, unit)),
        (Unit::Second, _) => format!("{} of CPU time", amount(*total, unit)),
        (Unit::Byte, _) => amount(*total, unit),
        (_, "samples") => String::new(),
        (_, measure) => format!("{} {measure}", amount(*total, unit)),
    };
    let each = match report.shares.basis {
        Basis::Runs(runs) => format!(" a run, {}", counted(runs, "run")),
        _ => String::new(),
    };
    let samples = match (*samples, what.is_empty()) {
        (0, _) => String::new(),
        (samples, true) => counted(samples as usize, "sample"),
        (samples, false) => format!(", {}", counted(samples as usize, "sample")),
    };
    format!("'{name}': {what}{each}{samples}{}", largest(report.shares))
}

/// Returns a clause with the function that has the largest share of its own, to be appended to a
/// sentence.
fn largest(shares: &Shares) -> String {
    let largest = shares.functions.first().filter(|found| found.flat > 0.0);
    largest.map_or_else(String::new, |found| {
        let name = fitted(std::slice::from_ref(&found.function.name), 80, "…").concat();
        let ends = found.flat_interval.map_or_else(String::new, |i| format!(" {}", ends(i)));
        format!("; {name} itself takes {}{ends}", percent(found.flat))
    })
}

pub(crate) fn sureness(shares: &Shares) -> String {
    let sure = format!("{:.0} % confidence", shares.confidence * 100.0);
    match shares.basis {
        Basis::Samples => format!("in brackets: {sure} interval, if samples are independent"),
        Basis::Runs(_) => {
            format!("in brackets: {sure} interval, from the differences between runs")
        }
        Basis::None => "no intervals: these are not samples of time".to_owned(),
    }
}

/// Returns the requested and the achieved sampling rates, as far as they are known.
pub(crate) fn rates(report: &ProfileReport<'_>) -> String {
    let profile = report.profile;
    let tool = profile.tool.as_deref().unwrap_or("an unknown tool");
    let rate = |hz: f64| format!("{hz:.0}");
    let told = match (profile.asked_hz, profile.delivered_hz) {
        (Some(asked), Some(came)) => {
            format!("{} samples a second requested, {} delivered", rate(asked), rate(came))
        }
        (Some(asked), None) => {
            format!(
                "{} samples a second requested; the delivered rate is not recorded",
                rate(asked)
            )
        }
        (None, Some(came)) => format!("{} samples a second", rate(came)),
        (None, None) => "the sampling rate is not recorded".to_owned(),
    };
    let missed = match profile.missed {
        0 => String::new(),
        missed => format!(", {} missed", number::grouped(missed)),
    };
    format!("sampler: {tool}: {told}{missed}")
}

/// Returns the line about the garbage collector: its share, or that this sampler does not report
/// it.
pub(crate) fn collection(shares: &Shares) -> String {
    match shares.collection {
        Some((share, interval)) => {
            format!(
                "garbage collection: {}{}",
                percent(share),
                interval.map_or_else(String::new, |i| format!(" {}", ends(i)))
            )
        }
        None => "garbage collection: none seen, or this sampler does not report it".to_owned(),
    }
}

fn cost(report: &ProfileReport<'_>) -> Option<String> {
    match (report.overhead, report.live) {
        (Some(found), _) => Some(overhead(found)),
        (None, true) => Some("overhead of sampling: not measured (--overhead does)".to_owned()),
        (None, false) => None,
    }
}

/// Returns a sentence on the cost of sampling: the increase in time, the CPU time spent once per
/// run, and the CPU time spent on each sample. Only the last of these is included in the shares.
pub(super) fn overhead(found: &Overhead) -> String {
    let whole = found.whole.iter().map(|(metric, ratio)| {
        let name = if metric == "wall" { "time" } else { "CPU time" };
        format!("{name} {}", number::change(ratio.estimate, ratio.interval))
    });
    let seconds = |value: Measured| {
        let (low, high) = value.interval.unwrap_or((value.estimate, value.estimate));
        let column = Column::new(&Unit::Second, &[value.estimate, low, high], &[high - low]);
        let interval = value.interval.map_or_else(String::new, |(low, high)| {
            format!(" [{} … {}]", column.number(low), column.number(high))
        });
        format!("{}{interval}", column.with_unit(value.estimate))
    };
    let parts = found.start_and_end.zip(found.sample).map_or_else(String::new, |(once, each)| {
        format!(
            "; of that CPU time {} once a run, for the sampler's start and end, and {} for each of {} samples",
            seconds(once),
            seconds(each),
            number::count(found.samples)
        )
    });
    format!(
        "overhead of sampling, whole runs with and without it: {}{parts} ({} runs of each, interleaved)",
        whole.collect::<Vec<_>>().join(", "),
        found.blocks
    )
}

pub(crate) fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

pub(crate) fn ends(interval: Interval) -> String {
    format!("[{:.1} … {:.1}]", interval.lower * 100.0, interval.upper * 100.0)
}

/// Returns the functions to show: at most `report.top`, or all if that is 0.
pub(crate) fn shown<'a>(report: &ProfileReport<'a>) -> &'a [Share] {
    let all = &report.shares.functions;
    if report.top == 0 { all } else { &all[..report.top.min(all.len())] }
}

pub(crate) fn table(page: &mut Page, report: &ProfileReport<'_>) {
    let rows = shown(report);
    if rows.is_empty() {
        page.paragraph(2, &[(Tone::Quiet, "no function to show".to_owned())]);
        return;
    }
    let names: Vec<String> = rows.iter().map(|f| page.spelled(&f.function.name)).collect();
    let widest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let wanted = widest.min(NARROWEST_NAME);
    // The interval of the total is dropped first, then the running sum, then the other interval.
    let choices =
        [(true, true, true), (true, true, false), (true, false, false), (false, false, false)];
    let room_for = |choice| {
        page.table_width().checked_sub(width_of(&numbers(page, report, rows, choice)) + GAP)
    };
    let choice =
        choices.into_iter().find(|&choice| room_for(choice).is_some_and(|room| room >= wanted));
    let choice = choice.unwrap_or((false, false, false));
    let room = room_for(choice).unwrap_or(NARROWEST_NAME).clamp(4, WIDEST_NAME);
    let mut columns = numbers(page, report, rows, choice);
    columns.push(Cells::toned(
        "function",
        rows.iter()
            .zip(function_names(page, rows, &names, room))
            .map(|(f, name)| (if f.function.collector { Tone::Unsure } else { Tone::Plain }, name))
            .collect(),
        GAP,
    ));
    draw_columns(page, &columns, rows.len());
    let left_out = report.shares.functions.len() - rows.len();
    if left_out > 0 {
        let share: f64 = report.shares.functions[rows.len()..].iter().map(|f| f.flat).sum();
        let more = format!(
            "and {} with {} together (--top 0 shows all)",
            counted(left_out, "more function"),
            percent(share)
        );
        page.paragraph(2, &[(Tone::Quiet, more)]);
    }
}

/// Shortens names to fit. The directories of a path are dropped first, then the middle of the name
/// is cut out, and names that become equal are numbered.
fn function_names(page: &Page, rows: &[Share], names: &[String], room: usize) -> Vec<String> {
    let mut met: HashMap<String, usize> = HashMap::new();
    let fitted = rows.iter().zip(names).map(|(f, name)| {
        let bare = f.function.bare();
        let file = f.function.file.as_deref().and_then(|file| file.rsplit_once('/'));
        let short = match file {
            Some((_, base)) if width(name) > room && bare != name => {
                format!("{} ({}/{})", clean(bare), page.ellipsis(), clean(base))
            }
            _ => clean(name),
        };
        page.shortened(&short, room)
    });
    fitted
        .map(|name| {
            let before = met.entry(name.clone()).or_default();
            *before += 1;
            match *before {
                1 => name,
                n => {
                    let number = format!(" #{n}");
                    page.shortened(&name, room.saturating_sub(number.len())) + &number
                }
            }
        })
        .collect()
}

fn numbers(
    page: &Page,
    report: &ProfileReport<'_>,
    rows: &[Share],
    (flat_interval, sum, cum_interval): (bool, bool, bool),
) -> Vec<Cells> {
    let shares = report.shares;
    let has_intervals = shares.basis != Basis::None;
    let all: Vec<f64> =
        rows.iter().flat_map(|f| [f.function.flat_amount, f.function.cum_amount]).collect();
    let column = Column::new(&shares.unit, &all, &[]);
    let value = |value: f64| match shares.unit {
        Unit::One => number::count(value),
        // Use one unit per column, so that its values can be compared.
        _ => column.number(value) + &column.suffix(),
    };
    let cells = |of: &dyn Fn(&Share) -> String| {
        rows.iter().map(|f| page.spelled(&of(f))).collect::<Vec<_>>()
    };
    let told = |interval: Option<Interval>| interval.map_or_else(String::new, ends);
    let mut columns = vec![
        Cells::right("flat", cells(&|f| value(f.function.flat_amount)), Tone::Plain).with_gap(0),
        Cells::right("flat%", cells(&|f| percent(f.flat)), Tone::Strong).with_gap(GAP),
    ];
    if has_intervals && flat_interval {
        columns.push(Cells::right("", cells(&|f| told(f.flat_interval)), Tone::Quiet).with_gap(1));
    }
    if sum {
        let mut running = 0.0;
        let sums = rows.iter().map(|f| {
            running += f.flat;
            percent(running)
        });
        columns.push(Cells::right("sum%", sums.collect(), Tone::Quiet).with_gap(GAP));
    }
    columns.push(
        Cells::right("cum", cells(&|f| value(f.function.cum_amount)), Tone::Plain).with_gap(GAP),
    );
    columns.push(Cells::right("cum%", cells(&|f| percent(f.cum)), Tone::Plain).with_gap(GAP));
    if has_intervals && cum_interval {
        columns.push(Cells::right("", cells(&|f| told(f.cum_interval)), Tone::Quiet).with_gap(1));
    }
    columns
}
