//! Phrases about a suite: the headline of a table, the geometric mean, the verdict of a row, and
//! the reasons for missing results.

use crate::charts::whole_name;
use crate::findings;
use crate::label::wording;
use crate::number;
use crate::words::{counted, quoted};
use assay_analysis::analysis::Table;
use assay_analysis::policy::TESTED_FROM;
use assay_analysis::{Adjust, Analysis, Basis, Comparison, NoInterval, Role, Scale, Verdict};
use assay_data::code::{Topic, topic};
use assay_data::list;
use assay_data::samples::WHOLE_SUITE;
use assay_data::{Better, Design, Finding, Metric};

/// Maximum number of benchmarks named in a note. Further ones are only counted.
const NAMED: usize = 3;

/// Returns the name of a side as used in a sentence.
fn side(suite: &Analysis, side: usize) -> String {
    quoted(&suite.sides[side].name)
}

/// Returns the row for the whole suite, and the table without that row, so that the whole suite is
/// not counted as one of its parts.
fn whole<'a>(suite: &Analysis, table: &Table<'a>) -> (Option<&'a Comparison>, Table<'a>) {
    let is_whole = |row: &&&Comparison| suite.row_of(row).name == WHOLE_SUITE;
    let whole = table.rows.iter().find(is_whole).copied();
    let parts = table.rows.iter().filter(|row| !is_whole(row)).copied().collect();
    (whole, Table { rows: parts, ..table.clone() })
}

/// Returns the number of rows with each verdict, such as `3 of 11 benchmarks are slower, 2 faster,
/// 4 equivalent, 2 not known`. For a test suite, the result for the whole suite comes first.
pub(crate) fn counts(suite: &Analysis, table: &Table<'_>) -> String {
    let (whole, parts) = whole(suite, table);
    let Some(whole) = whole else { return of_rows(suite, &parts) };
    let metric = &suite.metrics[table.metric];
    let told = match whole.decision.verdict {
        Verdict::Faster => format!("the whole suite is {}", won(metric, true)),
        Verdict::Slower => format!("the whole suite is {}", won(metric, false)),
        Verdict::Equivalent => "the whole suite is equivalent".to_owned(),
        Verdict::Inconclusive => "no verdict on the whole suite".to_owned(),
    };
    let effect = effect(suite, whole, true);
    let effect = if effect.is_empty() { String::new() } else { format!(" ({effect})") };
    let told = format!("{told}{effect}");
    if parts.rows.is_empty() { told } else { format!("{told}; {}", of_rows(suite, &parts)) }
}

fn of_rows(suite: &Analysis, table: &Table<'_>) -> String {
    let metric = &suite.metrics[table.metric];
    let found = table.counts();
    let all = table.rows.len();
    let row = suite.noun.as_str();
    let told = [
        (found.slower, won(metric, false)),
        (found.faster, won(metric, true)),
        (found.equivalent, "equivalent"),
        (found.inconclusive, "not known"),
        (found.same_code, "unchanged in code"),
    ];
    if found.inconclusive == all {
        return match all {
            1 => format!("no verdict on the only {row} in both"),
            2 => format!("no verdict on either {row}"),
            _ => format!("no verdict on any of the {all} {row}s"),
        };
    }
    let mut said: Vec<String> = Vec::new();
    for (n, word) in told.into_iter().filter(|(n, _)| *n > 0) {
        said.push(match (said.is_empty(), n == all) {
            (true, true) if all == 1 => format!("the only {row} in both is {word}"),
            (true, true) if all == 2 => format!("both {row}s are {word}"),
            (true, true) => format!("all {all} {row}s are {word}"),
            (true, false) if n == 1 => format!("1 of {all} {row}s is {word}"),
            (true, false) => format!("{n} of {all} {row}s are {word}"),
            (false, _) => format!("{n} {word}"),
        });
    }
    said.join(", ")
}

/// Returns the headline of a table, with the sides it compares.
pub(crate) fn headline(suite: &Analysis, table: &Table<'_>) -> String {
    let different = match suite.side_has_different_output(table.side) {
        true => ", with different output",
        false => "",
    };
    let (of, against) = (side(suite, table.side), side(suite, 0));
    format!("{of} against {against}: {}{different}", counts(suite, table))
}

/// Returns the confidence of the headline, the threshold, and a note if dependence was not tested.
pub(crate) fn sureness(suite: &Analysis) -> String {
    let sure = number::chosen_percent(suite.plan.confidence);
    let error = number::chosen_percent(1.0 - suite.plan.confidence);
    let family: usize = suite.primary_tables().map(|table| table.rows.len()).sum();
    let how = match suite.adjust {
        _ if family < 2 => format!("{sure} confidence"),
        Adjust::Holm if suite.rows.iter().any(|row| row.name == WHOLE_SUITE) => {
            format!("{sure} confidence for all whole suites together, and for all tests")
        }
        Adjust::Holm => format!("{sure} confidence for all statements together"),
        Adjust::FalseDiscovery => {
            format!("on average at most {error} of the reported differences are wrong")
        }
        Adjust::None => format!(
            "{sure} confidence for each by itself: of {family} equal ones {} may look different",
            number::rough(family as f64 * (1.0 - suite.plan.confidence), &assay_data::Unit::One)
        ),
    };
    let is_untested = |row: &Comparison| row.design != Design::Summary && row.untested;
    let rows = || suite.comparisons.iter();
    let untested = match (rows().any(is_untested), rows().all(|row| row.blocks.is_some())) {
        (false, _) => String::new(),
        (true, true) => format!("; dependence not tested below {TESTED_FROM} blocks"),
        (true, false) => format!("; dependence not tested below {TESTED_FROM} values a side"),
    };
    format!("{how}; threshold {}{untested}", number::threshold(&suite.plan.threshold))
}

/// Returns a statement on the precision of rows without a direction, such as `11 of 13 benchmarks
/// within ± 2.6 %; BM_map/100000 within ± 9.1 %`. Rows that are known much less precisely than the
/// rest are named if they are few. Returns `None` if no row is inconclusive, or if differences are
/// not ratios.
pub(crate) fn known(suite: &Analysis, table: &Table<'_>) -> Option<String> {
    /// Minimum ratio of a row's bound to the next smaller one for the row to count as much less
    /// precise.
    const MUCH: f64 = 1.5;
    /// Maximum number of rows named.
    const NAMED: usize = 3;
    let (_, table) = whole(suite, table);
    if table.counts().inconclusive == 0 {
        return None;
    }
    let bound = |row: &&Comparison| {
        let interval = row.decision.interval.filter(|_| row.decision.scale == Scale::Ratio)?;
        let farthest = interval.lower.exp_m1().abs().max(interval.upper.exp_m1());
        Some((farthest, row.of))
    };
    let judged = || table.rows.iter().filter(|row| row.role != Role::Control);
    let open = judged().filter(|row| !row.decision.verdict.is_directional());
    let mut bounds: Vec<(f64, usize)> = open.filter_map(bound).collect();
    bounds.sort_by(|a, b| a.0.total_cmp(&b.0));
    let all_rows = judged().count();
    let (&(widest, _), n) = (bounds.last()?, bounds.len());
    // Find the first large gap, which may only be among the last few rows.
    let from = n.saturating_sub(NAMED).max(1);
    let cut = (from..n).find(|&i| bounds[i].0 >= MUCH * bounds[i - 1].0).unwrap_or(n);
    let within = |share: f64| format!("within ± {}", number::percent(share));
    let row = |n: usize| counted(n, &suite.noun);
    let most = bounds.get(cut - 1).map_or(widest, |(bound, _)| *bound);
    let mut told = match (cut, all_rows) {
        (1, 1) => return None,
        (n, all) if n == all => format!("all {} {}", row(all), within(most)),
        (n, all) => format!("{n} of {} {}", row(all), within(most)),
    };
    for &(bound, subject) in &bounds[cut..] {
        let name = &suite.rows[suite.subjects[subject].row].name;
        told += &format!("; {} {}", quoted(name), within(bound));
    }
    Some(told)
}

/// Returns the separator between the two names of a ratio. Paths are separated with spaces, since
/// it would otherwise be unclear where the first one ends.
pub(crate) fn by(one: &str, other: &str) -> &'static str {
    if [one, other].iter().any(|name| name.contains(['/', '.'])) { " / " } else { "/" }
}

/// Minimum number of benchmarks for showing a geometric mean. The mean of only a few benchmarks
/// represents neither them nor other benchmarks.
const FEWEST_IN_MEAN: usize = 10;

/// Returns a line with the geometric mean of a table and its intervals; `None` if there are too few
/// benchmarks.
pub(crate) fn mean(suite: &Analysis, table: &Table<'_>) -> Option<String> {
    let found = table.mean.filter(|mean| mean.rows >= FEWEST_IN_MEAN)?;
    let ends = |i: assay_analysis::Interval| (i.lower, i.upper);
    let ratio = number::ratio(found.estimate, found.of_these.map(ends));
    let over = match (found.left_out, suite.only.is_empty()) {
        (0, true) => format!("all {}", counted(found.rows, &suite.noun)),
        (0, false) => format!("the {} in both", counted(found.rows, &suite.noun)),
        (n, _) => format!(
            "the {} in both that have a ratio ({n} have none)",
            counted(found.rows, &suite.noun)
        ),
    };
    let (of, against) = (side(suite, table.side), side(suite, 0));
    let mut line =
        format!("geometric mean of {of}{}{against}: {ratio} over {over}", by(&of, &against));
    if found.of_these.is_none() {
        line += "; no interval: some benchmarks have no spread";
    }
    if let Some(such) = found.of_such {
        let [low, high] = [such.lower, such.upper].map(|end| number::fixed(end, 2));
        line += &format!("; for {}s such as these [{low} … {high}]", suite.noun);
    }
    Some(line)
}

/// Returns the lines that explain the basis of the verdicts: which benchmarks execute changed code,
/// how much the other benchmarks changed, and how much the reference differed from itself.
pub(crate) fn controls(suite: &Analysis) -> impl Iterator<Item = String> {
    let stated = findings::about_code(suite);
    stated.map(|finding| finding.message.clone()).chain(floor(suite))
}

/// Returns a note on the largest difference of the reference from itself; `None` if the reference
/// was not measured twice.
fn floor(suite: &Analysis) -> Option<String> {
    let moved = |c: &Comparison| Some((c.ratio?.estimate - 1.0).abs());
    let all = suite.controls.iter().filter_map(|c| Some((moved(c)?, c)));
    let (most, c) = all.max_by(|(a, _), (b, _)| a.total_cmp(b))?;
    let (side, row) = (side(suite, 0), &suite.row_of(c).name);
    let most = number::percent(most);
    Some(format!("the floor of this run: {side}, measured twice, moved by up to {most} ({row})"))
}

/// Returns the word for a better or worse value: `faster` or `slower` for times, otherwise `lower`
/// or `higher`.
fn won(metric: &Metric, better: bool) -> &'static str {
    let words = wording(metric);
    match (words.is_time, better == (metric.better == Better::Lower)) {
        (true, true) => "faster",
        (true, false) => "slower",
        (false, true) => "lower",
        (false, false) => "higher",
    }
}

/// Returns the verdict of a row in a word or two, with a star if the difference may be below the
/// threshold.
pub(crate) fn verdict(suite: &Analysis, row: &Comparison) -> String {
    let c = &row;
    let metric = &suite.metrics[c.metric];
    let star = if is_starred(c) { "*" } else { "" };
    match (c.decision.verdict, c.no_interval()) {
        (Verdict::Faster, _) => format!("{}{star}", won(metric, true)),
        (Verdict::Slower, _) => format!("{}{star}", won(metric, false)),
        _ if c.role == Role::Control => "same code".to_owned(),
        (Verdict::Equivalent, _) => "equivalent".to_owned(),
        (Verdict::Inconclusive, None) => "not known".to_owned(),
        (Verdict::Inconclusive, Some(why)) => match why {
            NoInterval::TooFew { .. } => "too few".to_owned(),
            NoInterval::TooDependent => "too dependent".to_owned(),
            NoInterval::Mixed => "no verdict".to_owned(),
            NoInterval::NoCount => "number unknown".to_owned(),
            NoInterval::NoSpread => "spread unknown".to_owned(),
        },
    }
}

/// Returns the reason for a comparison's missing interval, as a clause for readers of JSON and CSV;
/// `None` if it has an interval.
pub(crate) fn reason(c: &Comparison) -> Option<String> {
    let (n, m) = c.counts;
    let what = match &c.basis {
        Basis::Units(unit) => unit.as_str(),
        _ if c.blocks.is_some() => "block",
        _ => "value",
    };
    Some(match c.no_interval()? {
        NoInterval::TooFew { needed } if c.blocks.is_some() && c.basis == Basis::Values => {
            format!("too few blocks: {n}; {needed} can decide")
        }
        NoInterval::TooFew { needed } => {
            format!("too few: {n} and {m}; {} a side can decide", counted(needed, what))
        }
        NoInterval::TooDependent => format!(
            "successive {} are correlated: they carry as much information as {} independent ones",
            if c.blocks.is_some() { "differences" } else { "values" },
            number::fixed(c.effective, 0)
        ),
        NoInterval::Mixed => "the blocks do not form one experiment".to_owned(),
        NoInterval::NoCount => "a summary without the number of its values".to_owned(),
        NoInterval::NoSpread => "a summary without a spread".to_owned(),
    })
}

/// Formats the change of a row, with its interval if requested. If there is no ratio, formats the
/// difference in the metric's unit.
pub(crate) fn effect(suite: &Analysis, row: &Comparison, with_interval: bool) -> String {
    let c = &row;
    let unit = &suite.metrics[c.metric].unit;
    if let (Some(ratio), Scale::Ratio) = (c.ratio, c.decision.scale) {
        let ends = ratio.interval.map(|i| (i.lower, i.upper));
        let text = number::change(ratio.estimate, ends);
        return if with_interval { text } else { before(&text) };
    }
    let shift = c.shift;
    if !shift.estimate.is_finite() {
        return String::new();
    }
    let ends = shift.interval.filter(|i| i.is_bounded() && with_interval);
    let mut amounts = vec![shift.estimate];
    amounts.extend(ends.iter().flat_map(|i| [i.lower, i.upper]));
    let widths: Vec<f64> = ends.iter().map(|i| i.half_width()).collect();
    let column = number::Column::for_amounts(unit, &amounts, &widths);
    let sign = if shift.estimate > 0.0 { "+" } else { "" };
    match ends {
        Some(i) => format!(
            "by {sign}{} [{} … {}]",
            column.with_unit(shift.estimate),
            column.number(i.lower),
            column.number(i.upper)
        ),
        None => format!("by {sign}{}", column.with_unit(shift.estimate)),
    }
}

fn before(ratio: &str) -> String {
    ratio.split(" [").next().unwrap_or_default().to_owned()
}

/// Formats a value in its row's scale. Values with many leading zeros are written with a power of
/// ten.
pub(crate) fn value(column: &number::Column, value: f64, unit: &assay_data::Unit) -> String {
    let text = column.with_unit(value);
    if !text.trim_start_matches('-').starts_with("0.0000") || value == 0.0 {
        return text;
    }
    let scale = unit.scale_for(value);
    format!("{:.1e} {}", value / scale.factor, scale.symbol).trim_end().to_owned()
}

/// Returns the title of a table: the metric, followed by the sides if there are more than two.
pub(crate) fn title(suite: &Analysis, table: &Table<'_>) -> String {
    let metric = whole_name(&suite.metrics[table.metric]);
    match sides(suite, table) {
        Some(sides) => format!("{metric}, {sides}"),
        None => metric,
    }
}

/// Returns a note, for display below a table, that explains ratios which disagree with the values
/// shown next to them. Returns `None` if no ratio disagrees.
pub(crate) fn contradictions(suite: &Analysis, rows: &[&Comparison]) -> Option<String> {
    let ends = super::ends_of_centres(rows);
    let mut of_kind: Vec<(String, Vec<String>)> = Vec::new();
    for row in rows {
        let kind = match is_contradicted(suite, row, ends) {
            true => what_effect_is(suite, row, true),
            false if row.basis != Basis::Summary && row.medians_disagree() => {
                what_effect_is(suite, row, false)
            }
            false => continue,
        };
        let name = suite.row_of(row).name.clone();
        match of_kind.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, names)) => names.push(name),
            None => of_kind.push((kind, vec![name])),
        }
    }
    let told = of_kind.into_iter().map(|(kind, mut names)| {
        let more = names.len().saturating_sub(NAMED);
        names.truncate(NAMED);
        names.extend((more > 0).then(|| format!("{more} more")));
        format!("{}: {kind}", list::all(&names))
    });
    let told: Vec<String> = told.collect();
    (!told.is_empty()).then(|| told.join("; "))
}

/// Explains the meaning of a row's effect, for rows whose medians suggest a different size or even
/// a different direction.
fn what_effect_is(suite: &Analysis, row: &Comparison, in_direction: bool) -> String {
    let what = match row.decision.scale {
        Scale::Ratio => "ratio",
        Scale::Shift => "difference",
    };
    let of = match &row.basis {
        _ if suite.design == Design::Blocks => "blocks".to_owned(),
        Basis::Units(unit) => format!("pairs of means, one of each {unit}"),
        Basis::Values | Basis::Summary => "pairs of values".to_owned(),
    };
    let disagree = match in_direction {
        true => format!("the {what} and the two medians disagree in direction: "),
        false => String::new(),
    };
    format!(
        "{disagree}the {what} is the median of the {what}s within all {of}, not the {what} of the medians"
    )
}

/// Names the two sides that a table compares, such as `new against old`; `None` if there are only
/// two sides.
pub(crate) fn sides(suite: &Analysis, table: &Table<'_>) -> Option<String> {
    (suite.sides.len() > 2)
        .then(|| format!("{} against {}", side(suite, table.side), side(suite, 0)))
}

/// Returns true if the effect of a row and the values shown next to it have opposite directions.
fn is_contradicted(suite: &Analysis, row: &Comparison, ends: [f64; 2]) -> bool {
    let c = &row;
    // The ratio of summaries is the ratio of the values shown.
    if c.basis == Basis::Summary {
        return false;
    }
    let unit = &suite.metrics[c.metric].unit;
    let (x, y) = super::centres(row);
    let column = number::Column::for_row(unit, ends, &[x, y], &[]);
    let effect = match (c.ratio, c.decision.scale) {
        (Some(ratio), Scale::Ratio) => {
            let told =
                before(&number::ratio(ratio.estimate, ratio.interval.map(|i| (i.lower, i.upper))));
            told.parse::<f64>().map_or(0.0, |told| told - 1.0)
        }
        _ => c.shift.estimate,
    };
    // The printed values are compared too: a difference hidden by rounding needs no explanation.
    effect * (y - x) < 0.0 && value(&column, x, unit) != value(&column, y, unit)
}

/// Returns true if a row is marked with a star, that is, if its difference may be below the
/// threshold.
pub(crate) fn is_starred(row: &Comparison) -> bool {
    row.decision.may_not_matter()
}

/// Returns the legend that explains the star after a verdict.
pub(crate) fn star(suite: &Analysis) -> String {
    format!("* possibly by less than {}", number::threshold(&suite.plan.threshold))
}

/// Returns the findings that are not already stated elsewhere. Of several similar findings, only
/// the first is returned, with a note on the others.
pub(crate) fn told_once(suite: &Analysis) -> Vec<(&Finding, String)> {
    let is_news = |(place, finding): &(usize, &Finding)| {
        // The importers of both sides may report the same message.
        let same = |known: &Finding| known.code == finding.code && known.message == finding.message;
        let is_said = topic(&finding.code) == Topic::Design || findings::is_about_code(finding);
        !is_said && !suite.findings[..*place].iter().any(same)
    };
    let found = suite.findings.iter().enumerate().filter(is_news).map(|(_, finding)| finding);
    findings::told_once(found, |known, other| known.is_like(other) && other.subject.is_some())
}
