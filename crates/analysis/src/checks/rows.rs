//! Findings about a suite. Each is reported once, never once per row, with the number of affected
//! benchmarks and some of their names.

use crate::analysis::{Adjust, Analysis, BENCHMARK, Only, Table};
use crate::checks::{self, work};
use crate::comparison::{Basis, Comparison, NoInterval};
use crate::describe::SubjectSummary;
use crate::levels::plural;
use crate::outlook;
use crate::paired;
use crate::policy;
use crate::unpaired;
use crate::verdict::Scale;
use assay_data::code;
use assay_data::list;
use assay_data::plan::MAX_BLOCKS;
use assay_data::{
    Action, Design, Environment, Finding, Samples, StopReason, StopRule, Threshold, Unit,
};

/// Maximum number of benchmarks named; the rest are counted.
const NAMED: usize = 3;
/// Maximum number of metrics named as missing on one side.
const NAMED_METRICS: usize = 12;
/// Maximum number of differing facts that a finding names.
const FACTS: usize = 4;
/// Maximum length of a fact's value that is shown, in characters.
const LONGEST_FACT: usize = 40;
/// Facts that differ between any two recordings and are irrelevant for the comparison: times,
/// names, and measured values.
const ALWAYS_DIFFER: [&str; 16] = [
    "started",
    "processes_running",
    "steal_share",
    "steal_share_of_run",
    "cpu_share",
    "clock_cost_seconds",
    "clock_resolution_seconds",
    "timer_precision_seconds",
    "thermal_throttle_count",
    "load_1m",
    "load_5m",
    "load_15m",
    "executable",
    "command",
    "calibrated_at",
    "git_commit",
];

/// Returns all findings about a suite. O(subjects + rows).
pub(crate) fn findings(samples: &Samples, suite: &Analysis) -> Vec<Finding> {
    let mut found = Vec::new();
    for table in &suite.primary_tables().collect::<Vec<_>>() {
        found.extend(without_interval(suite, table));
        found.extend(bases(suite, table));
        found.extend(steps(suite, table));
        found.extend(checks::controls(samples, suite, table));
    }
    found.extend(checks::same_code(samples, &suite.comparisons));
    found.extend(suite.controls.iter().filter_map(|c| checks::control(c, &suite.names())));
    found.extend(work::results(suite));
    found.extend(work::numbers(samples, suite));
    found.extend(outcomes(suite));
    found.extend(one_side(suite));
    if suite.design != Design::Blocks {
        found.extend(checks::of_separate_runs(samples, suite));
    }
    found.extend(checks::machines_differ(&suite.environment));
    found.extend(settings_differ(&suite.environment));
    found.extend(optimised_away(suite));
    found.extend(stopped_early(samples, suite));
    found
}

/// Lists names, as in `a, b, c and 9 more`.
fn names(suite: &Analysis, benchmarks: impl Iterator<Item = usize>) -> String {
    let all: Vec<&str> = benchmarks.map(|b| suite.rows[b].name.as_str()).collect();
    list::first(&all, NAMED)
}

/// Returns, for example, `3 of 11 benchmarks` or `both benchmarks`, followed by the side if there
/// are more than two.
fn how_many(suite: &Analysis, table: &Table<'_>, rows: usize) -> String {
    let of = table.rows.len();
    let row = suite.noun.as_str();
    let side = match suite.sides.len() {
        0..=2 => String::new(),
        _ => format!(" on {}", suite.sides[table.side].name),
    };
    match (rows == of, of) {
        (true, 1) => format!("the only {row}{side}"),
        (true, 2) => format!("both {row}s{side}"),
        (true, _) => format!("all {of} {row}s{side}"),
        (false, 1) => format!("{rows} of {of} {row}{side}"),
        (false, _) => format!("{rows} of {of} {row}s{side}"),
    }
}

/// Returns the numbers of values on the two sides, as in `3 and 3` or `2 to 5 and 3`.
fn sizes(rows: &[&Comparison]) -> String {
    let range = |of: fn(&Comparison) -> usize| {
        let (low, high) = rows
            .iter()
            .map(|row| of(row))
            .fold((usize::MAX, 0), |(low, high), n| (low.min(n), high.max(n)));
        if low == high { format!("{low}") } else { format!("{low} to {high}") }
    };
    format!("{} and {}", range(|r| r.counts.0), range(|r| r.counts.1))
}

/// Reports rows without an interval, grouped by reason.
fn without_interval(suite: &Analysis, table: &Table<'_>) -> Vec<Finding> {
    let rows = |is: &dyn Fn(&Comparison, NoInterval) -> bool| -> Vec<&Comparison> {
        let lacks = |row: &&Comparison| row.no_interval().is_some_and(|why| is(row, why));
        table.rows.iter().copied().filter(lacks).collect()
    };
    let mut found = Vec::new();
    let mut tell = |rows: &[&Comparison], finding: Finding, next: Vec<Action>| {
        if !rows.is_empty() {
            let finding =
                finding.with("benchmarks", rows.len() as f64).with("of", table.rows.len() as f64);
            found.push(next.into_iter().fold(finding, Finding::advise));
        }
    };
    let too_few = |why| matches!(why, NoInterval::TooFew { .. });
    let needed = |rows: &[&Comparison]| {
        let of_row = |row: &&Comparison| match row.no_interval() {
            Some(NoInterval::TooFew { needed }) => needed,
            _ => 0,
        };
        rows.iter().map(of_row).max().unwrap_or(0)
    };
    let alone = match suite.design {
        Design::Blocks => paired::fewest_blocks(suite.plan.level()) as usize,
        _ => unpaired::fewest(1.0 - suite.plan.confidence),
    };
    let shared = |needed: usize| {
        if needed > alone && suite.adjust == Adjust::Holm {
            format!(" ({alone} for one {} alone)", suite.noun)
        } else {
            String::new()
        }
    };
    let advice = |needed: usize| {
        let mut advice = match suite.design {
            Design::Blocks => {
                // With a fixed number of blocks, more time would not be used.
                let more = match suite.plan.stop {
                    StopRule::Fixed { .. } => Action::FixRuns { runs: needed as u64 },
                    StopRule::Sequential { .. } => Action::MeasureLonger { seconds: None },
                };
                vec![more, Action::FewerRows { rows: format!("{}s", suite.noun) }]
            }
            _ => vec![Action::more_repetitions(&suite.environment)],
        };
        if needed > alone && suite.adjust == Adjust::Holm {
            advice.push(Action::FalseDiscoveryRate);
        }
        advice
    };
    let few = rows(&|row, why| too_few(why) && !matches!(row.basis, Basis::Units(_)));
    let enough = needed(&few);
    let what = if suite.design == Design::Blocks { "blocks" } else { "repetitions" };
    tell(
        &few,
        checks::too_few(format!(
            "too few {what} for a verdict on {} ({}): {enough} on each side can decide{}",
            how_many(suite, table, few.len()),
            sizes(&few),
            shared(enough)
        )),
        advice(enough),
    );
    let few = rows(&|row, why| too_few(why) && matches!(row.basis, Basis::Units(_)));
    let enough = needed(&few);
    tell(
        &few,
        checks::too_few(format!(
            "too few {} for a verdict on {} ({}): {enough} on each side can decide{}, since values of one are not independent",
            unit_of(&few),
            how_many(suite, table, few.len()),
            sizes(&few),
            shared(enough)
        )),
        advice(enough),
    );
    let dependent = rows(&|_, why| why == NoInterval::TooDependent);
    tell(
        &dependent,
        checks::too_dependent(
            &format!("of {}", how_many(suite, table, dependent.len())),
            "too few independent ones are left for a verdict",
        ),
        vec![Action::MeasureInBlocks],
    );
    let bare = rows(&|_, why| matches!(why, NoInterval::NoCount | NoInterval::NoSpread));
    tell(
        &bare,
        checks::summary_too_bare(&format!("of {}", how_many(suite, table, bare.len()))),
        vec![Action::keep_values(&suite.environment)],
    );
    found
}

fn unit_of(rows: &[&Comparison]) -> String {
    match rows.first().map(|row| &row.basis) {
        Some(Basis::Units(name)) => plural(name),
        _ => "units".to_owned(),
    }
}

/// Reports comparisons that are not based on values.
fn bases(suite: &Analysis, table: &Table<'_>) -> Vec<Finding> {
    let decided = |row: &&Comparison| row.decision.interval.is_some();
    let of = |is: &dyn Fn(&Basis) -> bool| -> Vec<&Comparison> {
        table.rows.iter().copied().filter(decided).filter(|row| is(&row.basis)).collect()
    };
    let mut found = Vec::new();
    let (built, units): (Vec<&Comparison>, Vec<&Comparison>) =
        of(&|basis| matches!(basis, Basis::Units(_))).into_iter().partition(|c| c.blocks.is_some());
    let named: Vec<(&Comparison, &str)> =
        built.iter().map(|&c| (c, suite.row_of(c).name.as_str())).collect();
    found.extend(checks::layout(&named));
    if !units.is_empty() {
        let name = unit_of(&units);
        let rows = how_many(suite, table, units.len());
        let what = format!("of {rows} the means of {name} ({})", sizes(&units));
        found.push(checks::units_compared(&what).with("benchmarks", units.len() as f64));
    }
    let summaries = of(&|basis| *basis == Basis::Summary);
    if !summaries.is_empty() {
        let of = format!(" of {}", how_many(suite, table, summaries.len()));
        found.push(
            checks::summary_only(&of)
                .with("benchmarks", summaries.len() as f64)
                .advise(Action::keep_values(&suite.environment)),
        );
    }
    found
}

/// Reports values in coarse steps, and values without logarithms.
fn steps(suite: &Analysis, table: &Table<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    let is_coarse = |row: &&Comparison| {
        let c = row;
        let d = &c.decision;
        let in_steps =
            c.distinct as f64 <= policy::STEPPED_BELOW * (c.counts.0 + c.counts.1) as f64;
        d.interval.is_some() && in_steps && d.clock_step > policy::COARSE_OF_THRESHOLD * d.threshold
    };
    let coarse: Vec<&Comparison> = table.rows.iter().copied().filter(is_coarse).collect();
    if !coarse.is_empty() {
        let message = format!(
            "the values of {} come in steps that are large compared to the threshold ({})",
            how_many(suite, table, coarse.len()),
            names(suite, coarse.iter().map(|row| suite.subjects[row.of].row))
        );
        found.push(
            checks::coarse(message, &suite.metrics[table.metric].unit)
                .with("benchmarks", coarse.len() as f64)
                .advise(Action::text("keep more digits in the file")),
        );
    }
    let shifts = table.rows.iter().copied().filter(|row| row.decision.scale == Scale::Shift);
    let shifts: Vec<&Comparison> = shifts.collect();
    if !shifts.is_empty() && matches!(suite.plan.threshold, Threshold::Relative(_)) {
        let what = format!(
            "some values of {} ({})",
            how_many(suite, table, shifts.len()),
            names(suite, shifts.iter().map(|row| suite.subjects[row.of].row))
        );
        found.push(checks::not_positive(&what).with("benchmarks", shifts.len() as f64));
    }
    found
}

/// Reports rows with failed runs, or with runs that hit a time limit.
fn outcomes(suite: &Analysis) -> Vec<Finding> {
    let with = |is: &dyn Fn(&SubjectSummary) -> bool| -> Vec<&str> {
        let is_compared = |subject: &&SubjectSummary| !checks::is_unmatched(suite, subject);
        let subjects = suite.subjects.iter().filter(|subject| is(subject)).filter(is_compared);
        subjects.map(|subject| subject.name.as_str()).collect()
    };
    let named = |subjects: &[&str]| {
        let mut told = subjects[..subjects.len().min(NAMED)].to_vec();
        if subjects.len() > NAMED {
            told.push("...");
        }
        format!("runs of {}", told.join(", "))
    };
    let of = suite.rows.len();
    let failed = with(&|subject| subject.failures > 0);
    let late = with(&|subject| subject.timeouts > 0);
    let mut found = Vec::new();
    found.extend(checks::failures(&named(&failed), failed.len(), of));
    found.extend(checks::timeouts(&named(&late), late.len(), of));
    found
}

/// Reports rows that one side lacks, and metrics that one side lacks for all rows or for those
/// named.
fn one_side(suite: &Analysis) -> Vec<Finding> {
    let mut found = Vec::new();
    for only in suite.only.iter().filter(|only| only.metric.is_none()) {
        let n = only.rows.len();
        let rows = match n {
            1 => format!("1 {} is", suite.noun),
            _ => format!("{n} {}s are", suite.noun),
        };
        let told = names(suite, only.rows.iter().copied());
        found.push(only_in(suite, only, &rows, &told).with("benchmarks", n as f64));
    }
    let mut metrics: Vec<(&Only, Vec<String>)> = Vec::new();
    for only in &suite.only {
        let Some(metric) = only.metric else { continue };
        let name = suite.metrics[metric].name.replace('_', " ");
        let other = only.side.max(only.not_on);
        let told = if suite.tables().any(|t| t.metric == metric && t.side == other) {
            format!("{name} (of {})", names(suite, only.rows.iter().copied()))
        } else {
            name
        };
        let same =
            |(known, _): &&mut (&Only, _)| (known.side, known.not_on) == (only.side, only.not_on);
        match metrics.iter_mut().find(same) {
            Some((_, all)) => all.push(told),
            None => metrics.push((only, vec![told])),
        }
    }
    for (only, told) in metrics {
        let n = told.len();
        let metrics = if n == 1 { "1 metric is".to_owned() } else { format!("{n} metrics are") };
        found.push(
            only_in(suite, only, &metrics, &list::first(&told, NAMED_METRICS))
                .with("metrics", n as f64),
        );
    }
    found
}

fn only_in(suite: &Analysis, only: &Only, what: &str, told: &str) -> Finding {
    let [on, lacks] = [only.side, only.not_on].map(|side| &suite.sides[side].name);
    checks::one_side_only(what, on, lacks, told)
}

/// Reports differing versions and settings of recordings. Differences between machines have a
/// finding of their own.
pub(crate) fn settings_differ(environment: &Environment) -> Option<Finding> {
    let mut told: Vec<String> = Vec::new();
    let mut count = 0;
    let mut last = "";
    for key in environment.facts.keys() {
        let Some((fact, side)) = key.rsplit_once('@') else { continue };
        // The facts of a tool may be grouped under its name.
        let own = fact.rsplit('.').next().unwrap_or(fact);
        let is_known = ALWAYS_DIFFER.contains(&own) || checks::MACHINE_FACTS.contains(&own);
        let value = |key: &str| {
            let number = || environment.number(key).map(|number| number.to_string());
            let flag = || environment.flag(key).map(|flag| flag.to_string());
            environment.text(key).map(str::to_owned).or_else(number).or_else(flag)
        };
        // Values that are lists or tables are results, not settings.
        let Some(here) = value(key).filter(|_| fact != last && !is_known) else { continue };
        last = fact;
        count += 1;
        let is_short = |text: &String| text.chars().count() <= LONGEST_FACT;
        let name = fact.replace('_', " ");
        told.push(match (value(fact).filter(is_short), Some(here).filter(is_short)) {
            (Some(one), Some(other)) => format!("{name} ({one}, in {side} {other})"),
            _ => name,
        });
    }
    let told = list::first(&told, FACTS);
    (count > 0).then(|| {
        Finding::new(code::RECORDINGS_DIFFER, format!("the recordings differ in {told}"))
            .with("facts", count as f64)
            .advise(Action::text("record both with the same versions and settings"))
    })
}

/// Reports that measuring ended before every benchmark had an answer.
fn stopped_early(samples: &Samples, suite: &Analysis) -> Option<Finding> {
    match samples.stop? {
        StopReason::Interrupted => {
            Some(checks::interrupted("results are based on the runs until then"))
        }
        StopReason::Budget => {
            let open = suite.comparisons.iter().filter(|c| c.is_open()).count();
            let all: usize = suite.primary_tables().map(|table| table.rows.len()).sum();
            let seconds = suite.plan.budget_seconds?;
            (open > 0).then(|| {
                let message = format!(
                    "the time budget ended before {open} of {all} comparisons had a verdict"
                );
                let finding = Finding::new(code::STOPPED_EARLY, message)
                    .with("open", open as f64)
                    .with("budget_seconds", seconds);
                let finding = match seconds_until_clear(suite, seconds) {
                    Some(needed) => finding
                        .with("needed_seconds", needed)
                        .advise(Action::MeasureLonger { seconds: Some(needed) }),
                    None => finding,
                };
                finding
                    .advise(Action::LargerThreshold)
                    .advise(Action::FewerRows { rows: format!("{}s", suite.noun) })
            })
        }
        _ => None,
    }
}

/// Estimates the total time until all open rows have an answer, in seconds, given the `seconds`
/// spent so far. Returns `None` if a row can't get an answer within the maximum number of blocks.
fn seconds_until_clear(suite: &Analysis, seconds: f64) -> Option<f64> {
    let blocks = |row: &Comparison| row.blocks.unwrap_or(0) as f64;
    let taken: f64 = suite.comparisons.iter().map(blocks).sum();
    let more = |row: &Comparison| -> Option<f64> {
        let n = row.blocks?;
        let needed = match row.decision.interval {
            Some(_) => outlook::blocks_until_clear(&row.decision, n)?,
            None => f64::from(row.fewest_blocks),
        };
        (needed <= f64::from(MAX_BLOCKS)).then_some((needed - n as f64).max(0.0))
    };
    let open = suite.comparisons.iter().filter(|row| row.is_open());
    let more = open.map(more).sum::<Option<f64>>()?;
    // Rows with an answer take no more time. The margin of 10 % allows for the error of the
    // estimate.
    (taken > 0.0).then(|| (1.1 * seconds * (1.0 + more / taken)).ceil())
}

/// Reports benchmarks that take no time because their work was optimized away.
fn optimised_away(suite: &Analysis) -> Option<Finding> {
    // Rows may also be functions. One that is missing from a program takes no time there, which is
    // not a problem.
    if suite.noun != BENCHMARK {
        return None;
    }
    let is_time = |table: &Table<'_>| suite.metrics[table.metric].unit == Unit::Second;
    let mut names: Vec<&str> = Vec::new();
    for table in suite.primary_tables().filter(is_time) {
        for row in table.rows {
            let (x, y) = row.medians;
            let name = suite.rows[suite.subjects[row.of].row].name.as_str();
            if x.min(y) < policy::NO_TIME && !names.contains(&name) {
                names.push(name);
            }
        }
    }
    let first = names.first()?;
    let message = match names.len() {
        1 => format!("`{first}` takes no time at all: its work was optimized away"),
        n => format!(
            "`{first}` and {} more take no time at all: their work was optimized away",
            n - 1
        ),
    };
    Some(
        Finding::new(code::OPTIMISED_AWAY, message).with("benchmarks", names.len() as f64).advise(
            Action::text("let the benchmark use its result: DoNotOptimize, black_box, a sink"),
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_that_always_differ_are_no_difference_between_recordings() {
        let mut environment = Environment::default();
        let machine = checks::MACHINE_FACTS;
        for fact in ALWAYS_DIFFER.into_iter().chain(machine) {
            for (name, value) in [(fact.to_owned(), "1"), (format!("go.{fact}"), "1")] {
                environment.set(&format!("{name}@b"), "2");
                environment.set(&name, value);
            }
        }
        assert_eq!(settings_differ(&environment), None);
        environment.set("go_version", "1.22");
        environment.set("go_version@b", "1.23");
        let found = settings_differ(&environment).expect("a version");
        assert_eq!(found.message, "the recordings differ in go version (1.22, in b 1.23)");
        assert_eq!(found.number("facts"), Some(1.0));
    }
}
