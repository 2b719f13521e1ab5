//! Findings about versions on targets, for hand-made and random projects.

#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

mod simulation;

use super::words::{Tone, claims};
use super::*;

/// Returns seven targets: three Rubies on x86_64, two Rubies on arm64, and two Pythons.
fn targets() -> Vec<Target> {
    [
        ("ruby 3.1.2, x86_64", "runtime.ruby", "3.1.2", "x86_64"),
        ("ruby 3.3.0, x86_64", "runtime.ruby", "3.3.0", "x86_64"),
        ("ruby 3.4.1, x86_64", "runtime.ruby", "3.4.1", "x86_64"),
        ("ruby 3.1.2, arm64", "runtime.ruby", "3.1.2", "arm64"),
        ("ruby 3.3.0, arm64", "runtime.ruby", "3.3.0", "arm64"),
        ("python 3.11.2, x86_64", "runtime.python", "3.11.2", "x86_64"),
        ("python 3.12.1, x86_64", "runtime.python", "3.12.1", "x86_64"),
    ]
    .into_iter()
    .map(|(name, runtime, version, arch)| {
        let facts = [("arch", arch), ("os", "debian 12"), (runtime, version)];
        let facts = facts.map(|(name, value)| (name.to_owned(), value.to_owned()));
        Target { name: name.to_owned(), facts: facts.into() }
    })
    .collect()
}

/// Creates a project with versions 1.0, 1.1, and so on. Each row is a target, and each letter is
/// the result of a version: `p` passed, `f` failed, `F` failed twice, `b` both passed and failed
/// (flaky), `i` infrastructure fault, `t` not tested, `x` install failed. Any other letter means no
/// build.
fn built(rows: &[&str]) -> Project {
    let versions = (0..rows[0].len()).map(|minor| format!("1.{minor}")).collect();
    let mut cells = Vec::new();
    for (target, row) in rows.iter().enumerate() {
        for (version, letter) in row.chars().enumerate() {
            let (last, passed, failed) = match letter {
                'p' => (State::Passed, 1, 0),
                'f' => (State::Failed, 0, 1),
                'F' => (State::Failed, 0, 2),
                'b' => (State::Passed, 2, 1),
                'i' => (State::Infrastructure, 0, 0),
                't' => (State::NotTested, 0, 0),
                'x' => (State::InstallFailed, 0, 0),
                _ => continue,
            };
            cells.push(TargetBuilds { version, target, last, passed, failed });
        }
    }
    let mut all = targets();
    all.truncate(rows.len());
    Project { targets: all, versions, cells, measured: Vec::new() }
}

fn said(project: &Project) -> Vec<String> {
    let version = newest(project).unwrap();
    let judged = judge(project, &[version], &Options::default());
    claims(project, &judged[0]).into_iter().map(|claim| claim.text).collect()
}

fn codes(project: &Project) -> Vec<String> {
    let judged = judge(project, &[newest(project).unwrap()], &Options::default());
    judged[0].findings.iter().map(|finding| finding.code.clone()).collect()
}

/// Returns a benchmark result of version `1.n` compared with `1.(n-1)`.
fn measured(version: usize, target: usize, percent: f64, half: f64) -> Measured {
    let ratio = |percent: f64| 1.0 + percent / 100.0;
    Measured {
        version,
        base: Some(version - 1),
        target,
        benchmark: "parse".to_owned(),
        metric: "wall".to_owned(),
        better: Better::Lower,
        verdict: Verdict::Slower,
        ratio: ratio(percent),
        interval: Interval { lower: ratio(percent - half), upper: ratio(percent + half) },
        n: 30,
    }
}

#[test]
fn a_failure_is_told_by_what_its_targets_share_and_by_its_first_version() {
    let project = built(&["pppp", "pppp", "ppFf", "pppp", "pppp", "pppp", "pppp"]);
    assert_eq!(said(&project), ["fails on Ruby 3.4 only (1 of 7 targets); first with version 1.2"]);
    assert_eq!(codes(&project), ["TARGETS_FAIL"]);
    let project = built(&["ppp", "ppp", "ppp", "ppF", "ppF", "ppp", "ppp"]);
    assert_eq!(said(&project), ["fails on arm64 only (2 of 7 targets); first with version 1.2"]);
}

#[test]
fn one_failed_build_is_told_as_one() {
    let project = built(&["pp", "pp", "pf"]);
    assert_eq!(
        said(&project),
        ["fails on Ruby 3.4 only (1 of 3 targets); first with version 1.1; seen once"]
    );
    let judged = judge(&project, &[1], &Options::default());
    assert_eq!(judged[0].findings[0].advice.len(), 1);
}

#[test]
fn versions_that_nobody_tested_may_have_brought_it() {
    let project = built(&["pppp", "pppp", "p.Ff"]);
    assert_eq!(
        said(&project),
        ["fails on Ruby 3.4 only (1 of 3 targets); first with version 1.1 or 1.2"]
    );
    let project = built(&["ppppp", "ppppp", "p..Ff"]);
    assert_eq!(
        said(&project),
        [
            "fails on Ruby 3.4 only (1 of 3 targets); first after version 1.0, with version 1.3 at the latest"
        ]
    );
    let project = built(&["ppp", "ppp", "..F"]);
    assert_eq!(
        said(&project),
        [
            "fails on Ruby 3.4 only (1 of 3 targets); since version 1.2 at the latest: never passed there before"
        ]
    );
}

#[test]
fn failures_of_different_versions_are_different_failures() {
    let project = built(&["pppp", "pppp", "pFFF", "ppFF", "ppFF", "pppp", "pppp"]);
    assert_eq!(
        said(&project),
        [
            "fails on Ruby 3.4 only (1 of 7 targets); first with version 1.1",
            "fails on arm64 only (2 of 7 targets); first with version 1.2"
        ]
    );
}

#[test]
fn what_says_nothing_of_the_version_is_no_failure() {
    let project = built(&["pp", "pi", "pt", "px", "pp", "p.", "pp"]);
    let found = said(&project);
    assert_eq!(
        found,
        [
            "ran no visible test on ruby 3.4.1, x86_64",
            "could not be installed on ruby 3.1.2, arm64",
            "was stopped by faults of the machine on ruby 3.3.0, x86_64",
            "passes on 3 of 7 targets; 1 not tested yet"
        ]
    );
    assert!(codes(&project).iter().all(|code| code == "TARGETS_UNTESTED"));
    assert!(!judge(&project, &[1], &Options::default())[0].is_alarm());
}

#[test]
fn what_both_passed_and_failed_is_flaky_and_on_neither_side() {
    let project = built(&["pp", "pb", "pF"]);
    assert_eq!(
        said(&project),
        [
            "fails on Ruby 3.4 only (1 of 3 targets); first with version 1.1",
            "both passed and failed on ruby 3.3.0, x86_64: a flaky test"
        ]
    );
    assert_eq!(codes(&project), ["TARGETS_FAIL", "FLAKY"]);
}

#[test]
fn all_is_well_in_one_sentence() {
    assert_eq!(said(&built(&["p", "p", "p"])), ["passes on all 3 targets"]);
    assert_eq!(
        said(&built(&["pF", "pF", "pF"])),
        ["fails on all 3 targets; first with version 1.1"]
    );
    assert_eq!(
        said(&built(&["p"])),
        ["passes on all 1 target"].map(|_| "passes on ruby 3.1.2, x86_64")
    );
    let nothing =
        Project { targets: targets(), versions: vec!["1".to_owned()], ..Project::default() };
    assert_eq!(newest(&nothing), None);
    let judged = judge(&nothing, &[0], &Options::default());
    assert_eq!(claims(&nothing, &judged[0])[0].text, "is not tested yet");
}

#[test]
fn a_slowdown_is_told_by_what_its_targets_share() {
    let mut project = built(&["pp", "pp", "pp", "pp", "pp", "pp", "pp"]);
    for target in 0..7 {
        let percent = if target == 3 || target == 4 { 5.0 } else { 0.1 };
        let mut one = measured(1, target, percent, 0.6);
        if percent < 1.0 {
            one.verdict = Verdict::Equivalent;
        }
        project.measured.push(one);
    }
    assert_eq!(
        said(&project),
        [
            "parse is slower on 2 of 7 targets, both arm64: +5.0 %; first with version 1.1",
            "passes on all 7 targets"
        ]
    );
    assert_eq!(codes(&project), ["TARGETS_SLOWER", "TARGETS_DIFFER"]);
    let judged = judge(&project, &[1], &Options::default());
    let pooled = judged[0].benchmarks[0].pooled.as_ref().unwrap();
    assert!(pooled.differ && pooled.pooled.i2 > 0.9);
    // Two slower targets out of seven are too few to make the mean slower.
    assert_eq!(pooled.decision.verdict, Verdict::Inconclusive);
}

#[test]
fn a_slowdown_against_one_base_is_told_from_its_first_version_on() {
    let mut project = built(&["pppp", "pppp", "pppp"]);
    for version in 1..4 {
        for target in 0..3 {
            let percent = if target == 2 && version > 1 { 5.0 } else { 0.1 };
            let mut one = measured(version, target, percent, 0.6);
            one.base = Some(0);
            project.measured.push(one);
        }
    }
    let found = said(&project);
    assert_eq!(
        found[0],
        "parse is slower on Ruby 3.4 only (1 of 3 targets): +5.0 % [+4.4 … +5.6]; first with version 1.2"
    );
}

#[test]
fn a_target_that_only_measured_is_not_tested() {
    let mut project = built(&["pp", "pp"]);
    let measured_there =
        project.cells.iter_mut().find(|cell| (cell.version, cell.target) == (1, 1));
    measured_there.unwrap().passed = 0;
    assert_eq!(said(&project), ["passes on ruby 3.1.2, x86_64; 1 not tested yet"]);
}

#[test]
fn a_direction_must_hold_beside_all_others() {
    // As the only comparison, its interval is above the threshold. As one of twenty, the difference
    // may be due to chance.
    let alone = |number: usize| {
        let mut project = built(&["pp"]);
        for benchmark in 0..number {
            let mut one = measured(1, 0, if benchmark == 0 { 2.0 } else { 0.0 }, 0.9);
            one.benchmark = format!("b{benchmark:02}");
            project.measured.push(one);
        }
        judge(&project, &[1], &Options::default()).remove(0)
    };
    assert!(alone(1).is_alarm());
    let many = alone(20);
    assert!(!many.is_alarm());
    assert!(many.benchmarks.iter().any(|benchmark| benchmark.possibly_worse == [0]));
}

#[test]
fn what_a_run_withheld_is_not_found_here() {
    let mut project = built(&["pp", "pp"]);
    let mut one = measured(1, 0, 5.0, 0.5);
    one.verdict = Verdict::Inconclusive;
    project.measured.push(one);
    let judged = judge(&project, &[1], &Options::default());
    assert!(!judged[0].is_alarm());
    assert_eq!(judged[0].undecided(), [0]);
}

#[test]
fn numbers_that_are_none_are_not_known() {
    let mut project = built(&["pp", "pp", "pp"]);
    for (target, ratio) in [f64::NAN, 0.0, f64::INFINITY].into_iter().enumerate() {
        let mut one = measured(1, target, 5.0, 0.5);
        one.ratio = ratio;
        one.interval = Interval { lower: ratio, upper: ratio };
        project.measured.push(one);
    }
    let judged = judge(&project, &[1], &Options::default());
    assert!(!judged[0].is_alarm() && judged[0].benchmarks[0].pooled.is_none());
}

#[test]
fn a_metric_of_which_more_is_better_is_worse_with_less() {
    let mut project = built(&["pp", "pp"]);
    for target in 0..2 {
        let mut one = measured(1, target, -5.0, 0.5);
        (one.metric, one.better) = ("ops_per_second".to_owned(), Better::Higher);
        project.measured.push(one);
    }
    let found = said(&project);
    assert_eq!(
        found[0],
        "parse is worse in ops_per_second on all 2 targets: -5.0 %; first with version 1.1"
    );
    assert_eq!(claims(&project, &judge(&project, &[1], &Options::default())[0])[0].tone, Tone::Bad);
}
