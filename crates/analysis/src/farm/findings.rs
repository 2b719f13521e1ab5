//! Findings about a version on its targets.

use super::{AffectedTargets, BenchmarkOnTargets, Builds, Project, State, words};
use crate::policy;
use assay_data::code;
use assay_data::{Action, Finding, Severity};
use assay_stats::Interval;

/// Returns all findings about a version, most important first.
pub(super) fn of(
    project: &Project,
    version: usize,
    builds: &Builds,
    benchmarks: &[BenchmarkOnTargets],
) -> Vec<Finding> {
    let name = project.versions.get(version).map_or("", String::as_str);
    let mut found = Vec::new();
    for failing in &builds.failing {
        let mut finding = Finding::new(
            code::TARGETS_FAIL,
            format!("{name} {}", words::failing(project, failing)),
        )
        .with("targets", failing.on.targets.len() as f64)
        .with("tested", failing.on.of as f64)
        .with("builds", failing.seen as f64);
        if failing.seen == 1 {
            finding = finding.advise(Action::Repeat);
        }
        found.push(finding);
        found.extend(alike(name, &failing.on.place));
    }
    for benchmark in benchmarks {
        for moved in &benchmark.worse {
            found.push(
                Finding::new(
                    code::TARGETS_SLOWER,
                    format!("{name}: {}", words::moved(project, benchmark, moved, true)),
                )
                .with("targets", moved.on.targets.len() as f64)
                .with("measured", moved.on.of as f64)
                .with("least_ratio", moved.ratios.0)
                .with("largest_ratio", moved.ratios.1),
            );
            found.extend(alike(&benchmark.name, &moved.on.place));
        }
    }
    found.extend(benchmarks.iter().filter_map(differ));
    if !builds.flaky.is_empty() {
        let message = format!(
            "{name} both passed and failed on {}: some test depends on more than the version",
            words::names(project, &builds.flaky)
        );
        found.push(Finding::new(code::FLAKY, message).with("targets", builds.flaky.len() as f64));
    }
    found.extend(
        builds.others.iter().map(|(&state, targets)| untested(project, name, state, targets)),
    );
    found
}

/// Returns the finding that other facts separate the same targets, if there are any.
fn alike(name: &str, place: &AffectedTargets) -> Option<Finding> {
    let also = words::alike(place);
    if also.is_empty() {
        return None;
    }
    let AffectedTargets::Only { conditions, alike } = place else { return None };
    let told: Vec<String> = conditions.iter().map(words::condition).collect();
    let message = format!(
        "what {} does on {} may equally be due to {also}: no target has one without the other",
        name,
        told.join(" and ")
    );
    Some(
        Finding::new(code::TARGETS_DIFFER, message)
            .with("facts", alike.len() as f64)
            .advise(Action::Do { text: "add a target that has only one of them".to_owned() }),
    )
}

/// Returns the finding that targets differ by more than their errors, if they do.
fn differ(benchmark: &BenchmarkOnTargets) -> Option<Finding> {
    let pooled = benchmark.pooled.as_ref().filter(|pooled| pooled.differ)?;
    let Interval { lower, upper } = pooled.pooled.prediction(policy::FARM_CONFIDENCE);
    let of = |log: f64| crate::number::change(log.exp(), None);
    let message = format!(
        "{} changed by different amounts on its targets: on the next one it may be {} to {}",
        benchmark.name,
        of(lower),
        of(upper)
    );
    Some(
        Finding::new(code::TARGETS_DIFFER, message)
            .with("q", pooled.pooled.q)
            .with("p", pooled.pooled.q_p)
            .with("i2", pooled.pooled.i2)
            .with("tau", pooled.pooled.tau2.sqrt()),
    )
}

fn untested(project: &Project, name: &str, state: State, targets: &[usize]) -> Finding {
    let severity = match state {
        State::InstallFailed | State::TimedOut | State::Errored => Severity::Warning,
        _ => Severity::Note,
    };
    let message = format!("{name} {}", words::untested(project, state, targets));
    Finding::new(code::TARGETS_UNTESTED, message).at(severity).with("targets", targets.len() as f64)
}
