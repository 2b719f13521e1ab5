//! Sentences about a version on its targets: `fails on Ruby 3.4 only; first with version 1.2`.
//! Findings, terminal output and pages use the same sentences. Names are untrusted input and are
//! not escaped; callers must escape them before display.

use super::{
    Affected, AffectedTargets, BenchmarkOnTargets, Condition, Failing, Judged, Moved, Project,
    Rule, Since, State,
};
use crate::number::{self, counted};
use crate::policy;
use crate::verdict::Verdict;
use assay_data::list;

/// The tone of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Fine, or better.
    Good,
    /// Failing, or worse.
    Bad,
    /// Unknown, or uncertain.
    Unsure,
}

/// One sentence about a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Tone of the sentence.
    pub tone: Tone,
    /// The sentence without a final period, to follow the version's name and a colon.
    pub text: String,
}

/// Maximum number of targets that are named; any others are counted.
const NAMED: usize = 3;
/// Maximum number of benchmarks that are named; any others are counted.
const BENCHMARKS: usize = 5;

/// Formats a condition: `Ruby 3.4`, `arm64`, `kernel 6.1 or newer`.
pub fn condition(condition: &Condition) -> String {
    let kind = kind(&condition.name);
    let with = |value: &str| match &kind {
        Some(kind) => format!("{kind} {value}"),
        None => value.to_owned(),
    };
    match &condition.rule {
        Rule::Known => kind.clone().unwrap_or_else(|| condition.name.clone()),
        Rule::Is(value) if value.is_empty() => format!("no {}", condition.name),
        Rule::Is(value) => with(value),
        Rule::AtLeast(value) => format!("{} or newer", with(value)),
        Rule::AtMost(value) => format!("{} or older", with(value)),
    }
}

/// Returns the word before the value of a fact; `None` if the value is self-explanatory.
fn kind(name: &str) -> Option<String> {
    if let Some(runtime) = name.strip_prefix("runtime.") {
        return Some(match runtime {
            "ruby" => "Ruby".to_owned(),
            "python" => "Python".to_owned(),
            "node" => "Node.js".to_owned(),
            "go" => "Go".to_owned(),
            "java" => "Java".to_owned(),
            "rust" => "Rust".to_owned(),
            "php" => "PHP".to_owned(),
            other => other.to_owned(),
        });
    }
    match name {
        "os" | "arch" | "cpu" => None,
        other => Some(other.strip_prefix("setting.").unwrap_or(other).to_owned()),
    }
}

fn joined(conditions: &[Condition]) -> String {
    conditions.iter().map(condition).collect::<Vec<_>>().join(" and ")
}

/// Lists the names of targets, counting those beyond the first few.
pub fn names(project: &Project, targets: &[usize]) -> String {
    let name = |&target: &usize| project.targets.get(target).map(|target| target.name.clone());
    let mut names: Vec<String> = targets.iter().take(NAMED).filter_map(name).collect();
    if targets.len() > NAMED {
        names.push(format!("{} more", targets.len() - NAMED));
    }
    list::all(&names)
}

fn version(project: &Project, place: usize) -> &str {
    project.versions.get(place).map_or("", String::as_str)
}

/// Describes where a failure occurs: `on Ruby 3.4 only (2 of 7 targets)`.
fn only(project: &Project, on: &Affected) -> String {
    let share = format!("{} of {}", on.targets.len(), counted(on.of, "target"));
    match &on.place {
        AffectedTargets::Everywhere if on.of == 1 => format!("on {}", names(project, &on.targets)),
        AffectedTargets::Everywhere => format!("on all {}", counted(on.of, "target")),
        AffectedTargets::Only { conditions, .. } => {
            format!("on {} only ({share})", joined(conditions))
        }
        AffectedTargets::Except(except) => format!("on all but {} ({share})", condition(except)),
        AffectedTargets::Unexplained => format!("on {share}: {}", names(project, &on.targets)),
    }
}

/// Describes where a change occurs: `on 2 of 7 targets, both arm64`.
fn share_of(project: &Project, on: &Affected) -> String {
    let all = match on.targets.len() {
        2 => "both",
        _ => "all",
    };
    let share = format!("on {} of {}", on.targets.len(), counted(on.of, "target"));
    match &on.place {
        AffectedTargets::Only { conditions, .. } if on.targets.len() > 1 => {
            format!("{share}, {all} {}", joined(conditions))
        }
        AffectedTargets::Except(except) => format!("{share}, all but {}", condition(except)),
        _ => only(project, on),
    }
}

/// Names the version in which a change first occurred: `first with version 1.2`. `otherwise` is the
/// earlier state, such as `passed`, or empty if the base is certainly unaffected.
fn since(project: &Project, since: Since, otherwise: &str) -> String {
    let first = version(project, since.first);
    match since.after {
        None if otherwise.is_empty() => format!("since version {first} at the latest"),
        None => format!("since version {first} at the latest: never {otherwise} there before"),
        Some(_) if since.is_exact() => format!("first with version {first}"),
        Some(after) if after + 2 == since.first => {
            format!("first with version {} or {first}", version(project, after + 1))
        }
        Some(after) => format!(
            "first after version {}, with version {first} at the latest",
            version(project, after)
        ),
    }
}

/// Describes a failure: `fails on Ruby 3.4 only (2 of 7 targets); first with version 1.2`.
pub fn failing(project: &Project, failing: &Failing) -> String {
    let once = if failing.seen == 1 { "; seen once" } else { "" };
    format!(
        "fails {}; {}{once}",
        only(project, &failing.on),
        since(project, failing.on.since, "passed")
    )
}

/// Returns the words for a change of a metric: `is slower`, `is better in bytes`.
fn way(metric: &str, is_worse: bool) -> String {
    match (metric, is_worse) {
        ("wall" | "cpu" | "user" | "time" | "real_time" | "cpu_time", true) => {
            "is slower".to_owned()
        }
        ("wall" | "cpu" | "user" | "time" | "real_time" | "cpu_time", false) => {
            "is faster".to_owned()
        }
        (metric, true) => format!("is worse in {metric}"),
        (metric, false) => format!("is better in {metric}"),
    }
}

/// Describes a change of a benchmark: `parse is slower on 2 of 7 targets, both arm64: +4.8 to +5.4
/// %; first with version 1.2`.
pub fn moved(
    project: &Project,
    benchmark: &BenchmarkOnTargets,
    moved: &Moved,
    is_worse: bool,
) -> String {
    let (low, high) = moved.ratios;
    let size = match moved.interval {
        Some(interval) => number::change(low, Some((interval.lower, interval.upper))),
        None => {
            let [low, high] = [low, high].map(|ratio| number::change(ratio, None));
            if low == high { low } else { format!("{low} to {high}") }
        }
    };
    format!(
        "{} {} {}: {size}; {}",
        benchmark.name,
        way(&benchmark.metric, is_worse),
        share_of(project, &moved.on),
        since(project, moved.on.since, "")
    )
}

/// Lists other facts that separate the same targets; empty if there are none.
pub fn alike(place: &AffectedTargets) -> String {
    let AffectedTargets::Only { alike, .. } = place else { return String::new() };
    let mut names: Vec<String> = alike.iter().take(policy::FARM_ALIKE).map(condition).collect();
    if alike.len() > policy::FARM_ALIKE {
        names.push(format!("{} more", alike.len() - policy::FARM_ALIKE));
    }
    list::all(&names)
}

/// Returns the word for a state.
pub const fn state(state: State) -> &'static str {
    match state {
        State::Passed => "passed",
        State::Failed => "failed",
        State::Errored => "errored",
        State::NotTested => "not tested",
        State::InstallFailed => "install failed",
        State::TimedOut => "timed out",
        State::Infrastructure => "infrastructure",
        State::Lost => "lost",
    }
}

/// Describes the result of a version whose tests gave no answer: `could not be installed on 2
/// targets`.
pub fn untested(project: &Project, judged_state: State, targets: &[usize]) -> String {
    let what = match judged_state {
        State::InstallFailed => "could not be installed",
        State::TimedOut => "took too long",
        State::Errored => "could not be tested to the end",
        State::Infrastructure => "was stopped by faults of the machine",
        State::Lost => "was lost",
        State::Passed | State::Failed | State::NotTested => "ran no visible test",
    };
    format!("{what} on {}", names(project, targets))
}

/// Returns all sentences about a version, most important first. There is at least one.
pub fn claims(project: &Project, judged: &Judged) -> Vec<Claim> {
    let builds = &judged.builds;
    let mut said = Vec::new();
    let mut claim = |tone, text| said.push(Claim { tone, text });
    for group in &builds.failing {
        claim(Tone::Bad, failing(project, group));
    }
    let worse = judged.benchmarks.iter().flat_map(|b| b.worse.iter().map(move |moved| (b, moved)));
    let all_worse = worse.clone().count();
    for (benchmark, group) in worse.take(BENCHMARKS) {
        claim(Tone::Bad, moved(project, benchmark, group, true));
    }
    if all_worse > BENCHMARKS {
        claim(Tone::Bad, format!("{} more are worse", all_worse - BENCHMARKS));
    }
    if !builds.flaky.is_empty() {
        let on = names(project, &builds.flaky);
        claim(Tone::Unsure, format!("both passed and failed on {on}: a flaky test"));
    }
    for (&of, targets) in &builds.others {
        let tone = match of {
            State::InstallFailed | State::TimedOut | State::Errored => Tone::Bad,
            _ => Tone::Unsure,
        };
        claim(tone, untested(project, of, targets));
    }
    let improved =
        judged.benchmarks.iter().flat_map(|b| b.improved.iter().map(move |moved| (b, moved)));
    if builds.failing.is_empty() && !builds.passed.is_empty() {
        claim(Tone::Good, passes(project, judged));
    }
    if all_worse == 0 {
        for (benchmark, group) in improved.take(BENCHMARKS) {
            claim(Tone::Good, moved(project, benchmark, group, false));
        }
        said.extend(speed(judged));
    }
    if said.is_empty() {
        said.push(Claim { tone: Tone::Unsure, text: "is not tested yet".to_owned() });
    }
    said
}

fn passes(project: &Project, judged: &Judged) -> String {
    let (passed, without) = (&judged.builds.passed, judged.builds.without.len());
    let rest = if without == 0 { String::new() } else { format!("; {without} not tested yet") };
    let known = project.targets.len();
    match passed.len() {
        1 => format!("passes on {}{rest}", names(project, passed)),
        all if all == known => format!("passes on all {}", counted(all, "target")),
        some => format!("passes on {some} of {}{rest}", counted(known, "target")),
    }
}

/// Returns the sentence about speed for a version that got worse in no benchmark.
fn speed(judged: &Judged) -> Option<Claim> {
    let all = judged.benchmarks.iter().flat_map(|benchmark| &benchmark.on);
    let (mut known, mut open) = (0, 0);
    for on in all {
        if on.decision.verdict == Verdict::Inconclusive {
            open += 1;
        } else {
            known += 1;
        }
    }
    let possibly: usize = judged.benchmarks.iter().map(|b| b.possibly_worse.len()).sum();
    let compared = counted(known + open, "comparison");
    match (known, open, possibly) {
        (0, 0, _) => None,
        (_, 0, 0) => {
            Some(Claim { tone: Tone::Good, text: format!("is not slower in any of {compared}") })
        }
        (_, _, 0) => Some(Claim {
            tone: Tone::Unsure,
            text: format!("was not found slower; {open} of {compared} not known yet"),
        }),
        _ => Some(Claim {
            tone: Tone::Unsure,
            text: format!(
                "is a little slower in {possibly} of {compared}, perhaps too little to matter"
            ),
        }),
    }
}
