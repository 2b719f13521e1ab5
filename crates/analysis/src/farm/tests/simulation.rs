//! Random farms with planted faults. Checks that each fault is found with the correct version, and
//! that nothing else is reported.

use super::*;
use assay_stats::resampling::Stream;

const VERSIONS: usize = 20;
const TARGETS: usize = 5;
/// Target on which the tests fail, and the first version that fails there.
const FAILS: (usize, usize) = (2, 12);
/// Target and version of a planted slowdown of 5 % against the previous version.
const SLOWER: (usize, usize) = (4, 8);

/// A hundred builds, each with tests and three benchmarks against the version before: one in twenty
/// has a fault of the machine, and one in twenty no result.
fn farm(number: u64, planted: bool) -> Project {
    let mut stream = Stream::new(2_024, number);
    let mut project = built(&[""; TARGETS]);
    project.versions = (0..VERSIONS).map(|version| format!("1.{version}")).collect();
    for version in 0..VERSIONS {
        for target in 0..TARGETS {
            let fails = planted && target == FAILS.0 && version >= FAILS.1;
            let (last, passed, failed) = match stream.uniform() {
                u if u < 0.05 => (State::Infrastructure, 0, 0),
                u if u < 0.10 => continue,
                _ if fails => (State::Failed, 0, 1),
                _ => (State::Passed, 1, 0),
            };
            project.cells.push(TargetBuilds { version, target, last, passed, failed });
            if version == 0 || last == State::Infrastructure {
                continue;
            }
            for benchmark in ["parse", "render", "sort"] {
                let is_slower = planted && (target, version) == SLOWER && benchmark == "parse";
                let truth = if is_slower { 1.05_f64.ln() } else { 0.0 };
                project.measured.push(drawn(&mut stream, version, target, benchmark, truth));
            }
        }
    }
    project
}

/// Returns the result of a benchmark with thirty blocks, whose ratios have a spread of 1 to 3 %,
/// summarized by mean and t interval.
fn drawn(
    stream: &mut Stream,
    version: usize,
    target: usize,
    benchmark: &str,
    truth: f64,
) -> Measured {
    const BLOCKS: usize = 30;
    let spread = 0.01 + 0.02 * stream.uniform();
    let logs: Vec<f64> = (0..BLOCKS).map(|_| truth + spread * stream.normal()).collect();
    let mean = assay_stats::descriptive::mean(&logs);
    let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / 29.0;
    let half = assay_stats::student_t::two_sided(0.95, 29.0) * (variance / BLOCKS as f64).sqrt();
    let interval = Interval { lower: (mean - half).exp(), upper: (mean + half).exp() };
    let verdict = match interval {
        i if i.lower > 1.0 => Verdict::Slower,
        i if i.upper < 1.0 => Verdict::Faster,
        _ => Verdict::Inconclusive,
    };
    Measured {
        benchmark: benchmark.to_owned(),
        verdict,
        ratio: mean.exp(),
        interval,
        ..measured(version, target, 0.0, 0.0)
    }
}

fn all_judged(project: &Project) -> Vec<Judged> {
    let versions: Vec<usize> = (0..project.versions.len()).collect();
    judge(project, &versions, &Options::default())
}

#[test]
fn what_was_planted_is_named_with_its_first_version_and_nothing_else_is() {
    let project = farm(7, true);
    assert!(project.cells.len() > 85, "about a hundred builds");
    for judged in all_judged(&project) {
        let builds: Vec<(Vec<usize>, Since)> =
            judged.builds.failing.iter().map(|f| (f.on.targets.clone(), f.on.since)).collect();
        let known = project.cells.iter().any(|cell| {
            (cell.version, cell.target) == (judged.version, FAILS.0) && cell.failed > 0
        });
        if known {
            assert_eq!(builds, [(vec![FAILS.0], Since { after: Some(11), first: 12 })]);
            let said = claims(&project, &judged)[0].text.clone();
            assert!(said.starts_with("fails on Ruby 3.4 only (1 of "), "{said}");
            assert!(said.contains("; first with version 1.12"), "{said}");
        } else {
            assert!(builds.is_empty(), "{builds:?} with {}", judged.version);
        }
        let slower: Vec<_> = judged.benchmarks.iter().filter(|b| !b.worse.is_empty()).collect();
        if judged.version == SLOWER.1 {
            assert_eq!((slower.len(), slower[0].name.as_str()), (1, "parse"));
            let moved = &slower[0].worse[0].on;
            assert_eq!((moved.targets.as_slice(), moved.since.first), (&[SLOWER.0][..], 8));
            assert!(moved.since.is_exact());
        } else {
            assert!(slower.is_empty(), "{slower:?}");
        }
    }
}

#[test]
fn a_hundred_builds_without_a_difference_rarely_raise_an_alarm_and_planted_ones_are_found() {
    const FARMS: u64 = 60;
    let (mut false_alarms, mut found, mut beside) = (0, 0, 0);
    for number in 0..FARMS {
        let quiet = farm(number, false);
        false_alarms += all_judged(&quiet).iter().filter(|judged| judged.is_alarm()).count();
        let planted = farm(1_000 + number, true);
        for judged in all_judged(&planted) {
            for benchmark in &judged.benchmarks {
                for moved in &benchmark.worse {
                    let is_it = benchmark.name == "parse"
                        && judged.version == SLOWER.1
                        && moved.on.targets == [SLOWER.0];
                    *(if is_it { &mut found } else { &mut beside }) += 1;
                }
            }
        }
    }
    // None of the 1,200 versions has a difference. An alarm must be significant and also exceed the
    // threshold.
    assert!(false_alarms <= 2, "{false_alarms} alarms of {} versions", FARMS * VERSIONS as u64);
    assert!(beside <= 2, "{beside} beside what was planted");
    // In one farm in ten, this version has no build on this target.
    assert!(found >= 47, "{found} of {FARMS}");
}
