//! The sentence of an explanation, and its evidence, line by line.

use super::{WhyReport, about, line_of};
use crate::label::label;
use crate::number;
use crate::words::quoted;
use assay_analysis::why::{
    Cause, Change, CodeChange, Direction, Input, Kind, Part, PartName, Whole, Why,
};
use assay_analysis::{Analysis, Effect, Interval};
use assay_data::code::{
    CODE_CHANGED, CPU_FREQUENCY, LAYOUT, MACHINE_BUSY, METRICS_DIFFER, OUTPUT_DIFFERS,
    RECORDINGS_DIFFER, SAME_CODE_MOVED,
};
use assay_data::list;
use assay_data::samples::PER_ITERATION;
use assay_data::{Finding, Metric, Unit};

/// Maximum number of functions, or of metrics, named in one line.
const MOST: usize = 4;

/// Returns the answer in one sentence: the most likely cause, or that no part explains the
/// difference.
pub fn sentence(report: &WhyReport<'_>) -> String {
    let why = report.why;
    if !why.has_difference() {
        let why_not = match why.comparison.decision.verdict {
            assay_analysis::Verdict::Equivalent => "no difference that matters",
            _ => "no difference is known",
        };
        return format!("There is nothing to explain: {why_not}");
    }
    match why.causes.as_slice() {
        [] => unexplained(report),
        [cause, rest @ ..] => {
            let first = of_cause(report, cause);
            match (&cause.kind, rest.first()) {
                (Kind::Output, Some(next)) => format!("{first}; {}", of_cause(report, next)),
                _ => first,
            }
        }
    }
}

/// Returns a sentence saying that no part explains the difference, and why.
fn unexplained(report: &WhyReport<'_>) -> String {
    let why = report.why;
    let metrics = &report.analysis.metrics;
    let decided_by = metrics[why.comparison.metric].name.as_str();
    let has_parts = metrics.iter().any(|metric| metric.name == "user");
    let known: Vec<&Part> = why.parts.iter().filter(|part| part.share.is_some()).collect();
    let reason = match known.first() {
        Some(part) => format!(
            "the largest share, {}, may be zero: {}",
            part_word(part.name),
            part.share.map(|s| share(s.estimate, s.interval)).unwrap_or_default()
        ),
        None if !why.parts.is_empty() => {
            "the difference varies too much from run to run to be divided".to_owned()
        }
        None if has_parts && !matches!(decided_by, "wall" | "cpu") => {
            format!(
                "only differences in wall or CPU time have parts, and this is one in {decided_by}"
            )
        }
        None => "the record has no parts of the time (assay run records them)".to_owned(),
    };
    let inputs = input_words(why).map(|inputs| format!("; the sides differ in {inputs}"));
    format!("No part explains the difference: {reason}{}", inputs.unwrap_or_default())
}

fn of_cause(report: &WhyReport<'_>, cause: &Cause) -> String {
    let (analysis, why) = (report.analysis, report.why);
    let (of, against) = report.names();
    let (of, against) = (quoted(&of), quoted(&against));
    let of_all = cause.share.map(of_difference).unwrap_or_default();
    let whole = match why.whole {
        Whole::Wall => "the difference",
        Whole::Cpu | Whole::Busy => "the difference in CPU time",
    };
    match &cause.kind {
        Kind::Machine(facts) => {
            let facts: Vec<String> = facts.iter().map(|fact| fact.replace('_', " ")).collect();
            format!(
                "The machine is the most likely cause: {of} and {against} were recorded on machines with different {}",
                list::all(&facts)
            )
        }
        Kind::Floor(effect) => format!(
            "The machine is the most likely cause: {against}, measured twice, differs from itself by {}",
            number::change(effect.estimate, ends(*effect))
        ),
        Kind::Placement => {
            let row = &analysis.row_of(&why.comparison).name;
            let what = if row.is_empty() { of } else { quoted(row) };
            format!(
                "The placement of the code in memory is the most likely cause: the code of {what} and of all it calls is the same on both sides"
            )
        }
        Kind::Output => {
            format!("{of} does not do the same work as {against}: their outputs differ")
        }
        Kind::Function(index) => {
            let function = &why.functions[*index];
            let code = match function.code {
                CodeChange::Changed => ", whose code changed",
                CodeChange::Same => ", whose code is the same",
                CodeChange::OnOneSide => ", which only one side has",
                CodeChange::Unknown => "",
            };
            let counts = brief_changes(analysis, why);
            let counts = if counts.is_empty() { counts } else { format!("; {counts}") };
            format!(
                "{of_all} of the difference in CPU time is in {}{code}{counts}",
                quoted(&function.name)
            )
        }
        Kind::Count { change, part } => {
            let change = &why.changes[*change];
            format!(
                "{of_all} of {whole} is {}, most likely from {}: {}",
                part_word(*part),
                cause_word(&analysis.metrics[change.metric]),
                amount(analysis, change)
            )
        }
        Kind::Instructions { change, explains } => {
            let change = &why.changes[*change];
            let way = if change.shift.estimate > 0.0 { "more" } else { "fewer" };
            let explained = of_difference(*explains);
            match cause.share {
                Some(_) => format!(
                    "{of_all} of {whole} is user time, from {way} instructions: {}, which explains {explained} of it",
                    amount(analysis, change)
                ),
                None => format!(
                    "{explained} of the difference is explained by {way} instructions: {}",
                    amount(analysis, change)
                ),
            }
        }
        Kind::PerInstruction { change, explains } => {
            let change = &why.changes[*change];
            let most = explains.interval.map_or(explains.estimate, |own| own.upper).max(0.0);
            let (all, it) = match cause.share {
                Some(_) => (format!("{of_all} of {whole} is user time, in which "), "it"),
                None => (String::new(), "the difference"),
            };
            let number = match change.direction {
                Direction::Unchanged => "their number is the same".to_owned(),
                _ => format!(
                    "their number ({}) explains at most {} of {it}",
                    brief(analysis, change),
                    number::percent(most)
                ),
            };
            format!(
                "{all}each instruction takes a different time, as with caches, branches or placement in memory: {number}"
            )
        }
        Kind::Part(part) => {
            let what = match part {
                PartName::User => "user time: the code of the program and of its libraries",
                PartName::System => "system time: what the kernel does for the program",
                PartName::Waiting => {
                    "waiting: the processes sleep, or wait for disks, networks or other processes"
                }
            };
            format!("{of_all} of {whole} is {what}")
        }
    }
}

/// Returns the evidence in decreasing order of importance, each line with its heading.
pub(super) fn evidence(report: &WhyReport<'_>) -> Vec<(&'static str, String)> {
    let (analysis, why) = (report.analysis, report.why);
    let (of, against) = report.names();
    let said = crate::words::sentence(analysis, &why.comparison, &of, &against).plain();
    let row = &analysis.row_of(&why.comparison).name;
    let said = if row.is_empty() { said } else { format!("{row}: {said}") };
    let mut lines = vec![("difference", said)];
    if !why.has_difference() {
        return lines;
    }
    let parts: Vec<String> = why.parts.iter().map(part_line).collect();
    if !parts.is_empty() {
        lines.push(match why.whole {
            Whole::Wall => ("time", parts.join(", ")),
            Whole::Cpu => ("CPU time", parts.join(", ")),
            Whole::Busy => (
                "CPU time",
                format!("{}; waiting grew in proportion, as on a busy machine", parts.join(", ")),
            ),
        });
    }
    let known = why.functions.iter().filter(|function| function.is_known()).take(MOST);
    let functions: Vec<String> = known
        .map(|own| {
            let code = match own.code {
                CodeChange::Changed => " (code changed)",
                CodeChange::OnOneSide => " (on one side only)",
                CodeChange::Same => " (same code)",
                CodeChange::Unknown => "",
            };
            let share = own.share.map(|s| share(s.estimate, s.interval)).unwrap_or_default();
            format!("{} {share}{code}", own.name)
        })
        .collect();
    match (functions.is_empty(), why.functions.len()) {
        (false, _) => lines.push(("functions", functions.join(", "))),
        (true, 0) => {}
        (true, n) => {
            lines.push(("functions", format!("the shares of the {n} sampled ones are unknown")));
        }
    }
    let counts = changes(analysis, why);
    if !counts.is_empty() {
        lines.push(("counts", counts));
    }
    if let Some(inputs) = input_words(why) {
        lines.push(("inputs", format!("the sides differ in {inputs}")));
    }
    lines.extend(about(report).map(|finding| ("finding", line_of(finding))));
    lines
}

/// Returns true for findings that are evidence about a cause.
pub(super) fn is_evidence(finding: &Finding) -> bool {
    [
        OUTPUT_DIFFERS,
        LAYOUT,
        CODE_CHANGED,
        SAME_CODE_MOVED,
        RECORDINGS_DIFFER,
        MACHINE_BUSY,
        CPU_FREQUENCY,
        METRICS_DIFFER,
    ]
    .iter()
    .any(|code| finding.is(code))
}

/// Returns a share of the difference with its interval: `84 % [80 … 88]`.
fn share(estimate: f64, interval: Interval) -> String {
    let percent = |own: f64| 100.0 * own;
    let decimals = usize::from(percent(interval.half_width()) < 1.0);
    let [estimate, lower, upper] =
        [estimate, interval.lower, interval.upper].map(|own| number::fixed(percent(own), decimals));
    format!("{estimate} % [{lower} … {upper}]")
}

fn of_difference(effect: Effect) -> String {
    match effect.interval {
        Some(interval) => share(effect.estimate, interval),
        None => number::percent(effect.estimate),
    }
}

fn ends(effect: Effect) -> Option<(f64, f64)> {
    effect.interval.map(|own| (own.lower, own.upper))
}

fn part_word(part: PartName) -> &'static str {
    match part {
        PartName::User => "user time",
        PartName::System => "system time",
        PartName::Waiting => "waiting",
    }
}

fn part_line(part: &Part) -> String {
    let amount = number::rough(part.seconds, &Unit::Second);
    let signed = if part.seconds > 0.0 { format!("+{amount}") } else { amount };
    match part.share {
        Some(own) => {
            format!("{} {} ({signed})", part_word(part.name), share(own.estimate, own.interval))
        }
        None => format!("{} {signed}, of unknown share", part_word(part.name)),
    }
}

/// Returns the words for a metric that is a cause of the time spent.
fn cause_word(metric: &Metric) -> String {
    match metric.name.as_str() {
        "minor_faults" => "page faults".to_owned(),
        "major_faults" => "pages that are read from disk".to_owned(),
        "block_in" => "reading from disk".to_owned(),
        "block_out" => "writing to disk".to_owned(),
        "voluntary_switches" => "sleeping or blocking (voluntary context switches)".to_owned(),
        "involuntary_switches" => {
            "other processes on its processor (involuntary context switches)".to_owned()
        }
        _ => label(metric),
    }
}

/// Returns the short name of a metric, for use in a list.
fn short_word(metric: &Metric) -> String {
    match metric.name.as_str() {
        "minor_faults" => "page faults".to_owned(),
        "valgrind_instructions" | "valgrind_instructions/iteration" => "instructions".to_owned(),
        "block_in" => "blocks read".to_owned(),
        "block_out" => "blocks written".to_owned(),
        _ => label(metric),
    }
}

/// Returns the size of a change: the difference and, if known, the ratio with its interval.
fn amount(analysis: &Analysis, change: &Change) -> String {
    let metric = &analysis.metrics[change.metric];
    // The kernel counts blocks of 512 bytes.
    let is_block = matches!(metric.name.as_str(), "block_in" | "block_out");
    let size = |own: f64| match metric.unit {
        Unit::One if is_block => number::rough(512.0 * own.abs(), &Unit::Byte),
        Unit::One => number::count(own.abs()),
        _ => number::rough(own.abs(), &metric.unit),
    };
    let less = if metric.unit == Unit::One && !is_block { "fewer" } else { "less" };
    let way = if change.shift.estimate > 0.0 { "more" } else { less };
    let each = if metric.name.ends_with(PER_ITERATION) { "iteration" } else { "run" };
    let count = format!("{} {way} in each {each}", size(change.shift.estimate));
    let known = |effect: Effect| ends(effect).filter(|(lower, upper)| lower < upper);
    match change.ratio {
        Some(ratio) => format!("{count} ({})", number::change(ratio.estimate, known(ratio))),
        None => match known(change.shift) {
            Some((lower, upper)) => {
                let ends = if lower + upper > 0.0 { (lower, upper) } else { (upper, lower) };
                format!("{count} [{} … {}]", size(ends.0), size(ends.1))
            }
            None => count,
        },
    }
}

/// Returns a change in a few characters: `+12 %`, `4.0 ×`, `+35`.
fn brief(analysis: &Analysis, change: &Change) -> String {
    let sign = if change.shift.estimate > 0.0 { "+" } else { "" };
    match change.ratio {
        Some(ratio) if ratio.estimate >= 2.0 => number::multiple(ratio.estimate),
        Some(ratio) => number::change(ratio.estimate, None),
        _ => match &analysis.metrics[change.metric].unit {
            Unit::One => format!("{sign}{}", number::count(change.shift.estimate)),
            unit => format!("{sign}{}", number::rough(change.shift.estimate, unit)),
        },
    }
}

/// Returns the metrics whose changes are known: first those that changed, largest change first,
/// then those that did not.
fn changes(analysis: &Analysis, why: &Why) -> String {
    let size = |change: &&Change| change.ratio.map_or(f64::INFINITY, |r| r.estimate.ln().abs());
    let mut moved: Vec<&Change> = why
        .changes
        .iter()
        .filter(|own| matches!(own.direction, Direction::More | Direction::Less))
        .collect();
    moved.sort_by(|a, b| size(b).total_cmp(&size(a)));
    let told = |change: &&Change| {
        format!("{} {}", short_word(&analysis.metrics[change.metric]), brief(analysis, change))
    };
    let mut lists = Vec::new();
    if !moved.is_empty() {
        let some: Vec<String> = moved.iter().take(MOST).map(told).collect();
        let more = moved.len().saturating_sub(MOST);
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        lists.push(format!("{}{more}", some.join(", ")));
    }
    let same = unchanged(analysis, why);
    if !same.is_empty() {
        lists.push(format!("unchanged: {}", same.join(", ")));
    }
    lists.join("; ")
}

/// Returns the names of the metrics that did not change; metrics that are always zero are left out.
fn unchanged(analysis: &Analysis, why: &Why) -> Vec<String> {
    let is_same = |own: &&Change| own.direction == Direction::Unchanged && own.ratio.is_some();
    let same = why.changes.iter().filter(is_same).take(MOST);
    same.map(|own| short_word(&analysis.metrics[own.metric])).collect()
}

/// Returns the changes in instructions and allocations, for the sentence about a function.
fn brief_changes(analysis: &Analysis, why: &Why) -> String {
    let is_wanted = |own: &&Change| {
        let name = analysis.metrics[own.metric].name.as_str();
        name.contains("instructions") || name.starts_with("allocations")
    };
    let of = |own: &&Change| analysis.metrics[own.metric].name.contains("instructions");
    let mut wanted: Vec<&Change> = why.changes.iter().filter(is_wanted).collect();
    wanted.sort_by_key(|own| !of(own));
    let told = wanted.into_iter().filter_map(|own| {
        let name = short_word(&analysis.metrics[own.metric]);
        match own.direction {
            Direction::Unchanged => Some(format!("{name} unchanged")),
            Direction::More | Direction::Less => Some(format!("{name} {}", brief(analysis, own))),
            Direction::Unknown => None,
        }
    });
    told.collect::<Vec<_>>().join(", ")
}

/// Returns a list of the inputs in which the sides differ; `None` if none are known.
pub(super) fn input_words(why: &Why) -> Option<String> {
    let told = why.inputs.iter().map(|input| match input {
        Input::Files(Some(name)) => format!("the file {}", quoted(name)),
        Input::Files(None) => "the program's files".to_owned(),
        Input::Arguments => "the arguments".to_owned(),
        Input::Environment(names) => format!("the environment ({})", names.join(", ")),
        Input::Settings(names) => format!("settings of the process ({})", names.join(", ")),
        Input::Directory => "the working directory".to_owned(),
        Input::Jobs => "the number of jobs".to_owned(),
    });
    let told: Vec<String> = told.collect();
    (!told.is_empty()).then(|| list::all(&told))
}
