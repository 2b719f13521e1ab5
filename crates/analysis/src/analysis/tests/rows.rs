//! Suites of synthetic data with known truth.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail loudly")]

use crate::analysis::{Adjust, Analysis, AnalysisError, Only, Shape, Table, analyse, is_suite};
use crate::{Basis, Options, Verdict};
use assay_data::{Design, Metric, Observation, Samples, Subject, Summary, Unit};
use assay_stats::resampling::Stream;

/// Returns samples of a suite with `values` values per side. Each benchmark is given by its name
/// and the factor by which the new side's time differs.
fn suite(benchmarks: &[(&str, f64)], values: usize, seed: u64) -> Samples {
    suite_of_spread(benchmarks, values, seed, 0.002)
}

fn suite_of_spread(benchmarks: &[(&str, f64)], values: usize, seed: u64, spread: f64) -> Samples {
    let metrics = vec![Metric::wall(), Metric::lower("allocations", Unit::One)];
    let mut samples = Samples::new(metrics);
    let mut stream = Stream::new(seed, 0);
    for side in ["old", "new"] {
        for (name, factor) in benchmarks {
            let subject = add(&mut samples, side, name);
            let factor = if side == "new" { *factor } else { 1.0 };
            for _ in 0..values {
                let wall = 1e-6 * factor * (1.0 + spread * stream.normal());
                push(&mut samples, subject, &[], &[wall, 8.0]);
            }
        }
    }
    samples
}

fn add(samples: &mut Samples, side: &str, benchmark: &str) -> usize {
    let name = format!("{side}: {benchmark}");
    let (side, row) = (samples.side_named(side), samples.row_named(benchmark));
    samples.add(Subject { side, row, name, ..Subject::default() })
}

fn push(samples: &mut Samples, subject: usize, level: &[u32], values: &[f64]) {
    let (level, values) = (level.to_vec(), values.to_vec());
    samples.push(Observation { subject, level, values, ..Observation::default() });
}

fn analysed(samples: &Samples, adjust: Adjust) -> Analysis {
    analyse(samples, &Options { adjust, ..Options::default() }).unwrap()
}

fn tables(found: &Analysis) -> Vec<Table<'_>> {
    found.tables().collect()
}

fn verdicts(table: &Table<'_>) -> Vec<Verdict> {
    table.rows.iter().map(|row| row.decision.verdict).collect()
}

#[test]
fn a_metric_that_one_side_lacks_is_told_with_its_benchmarks() {
    let samples = suite(&[("copy", 0.8), ("sort", 1.1), ("read", 1.0)], 12, 1);
    let mut metrics = samples.metrics.clone();
    metrics.push(Metric::lower("faults", Unit::One));
    let mut changed = Samples::new(metrics);
    (changed.sides, changed.rows) = (samples.sides.clone(), samples.rows.clone());
    changed.subjects.clone_from(&samples.subjects);
    for mut own in samples.observations() {
        let subject = &samples.subjects[own.subject];
        let new = samples.side_of(subject).name == "new";
        // Faults are counted on the new side only, allocations of `sort` on the old side only.
        if new && samples.row_of(subject).name == "sort" {
            own.values[1] = f64::NAN;
        }
        own.values.push(if new { 5.0 } else { f64::NAN });
        changed.push(own);
    }
    let found = analysed(&changed, Adjust::Holm);
    let told: Vec<_> =
        found.only.iter().map(|o| (o.metric.unwrap(), o.side, o.not_on, &o.rows[..])).collect();
    assert_eq!(told, [(1, 0, 1, &[1][..]), (2, 1, 0, &[0, 1, 2][..])]);
    let told: Vec<&str> = found.findings.iter().map(|f| f.message.as_str()).collect();
    for text in [
        "1 metric is only in old, not in new: allocations (of sort)",
        "1 metric is only in new, not in old: faults",
    ] {
        assert!(told.contains(&text), "{told:?}");
    }
}

fn names(found: &Analysis) -> Vec<&str> {
    found.sides.iter().map(|side| side.name.as_str()).collect()
}

fn codes(found: &Analysis) -> Vec<&str> {
    found.findings.iter().map(|f| f.code.as_str()).collect()
}

#[test]
fn every_benchmark_is_decided_against_its_namesake() {
    let samples = suite(&[("copy", 0.8), ("sort", 1.1), ("read", 1.0)], 12, 1);
    assert!(is_suite(&samples));
    let found = analysed(&samples, Adjust::Holm);
    assert_eq!(
        (names(&found), tables(&found).len(), &found.shape),
        (vec!["old", "new"], 2, &Shape::Rows)
    );
    let table = &tables(&found)[0];
    assert_eq!(verdicts(table), [Verdict::Faster, Verdict::Slower, Verdict::Equivalent]);
    let counts = table.counts();
    assert_eq!(
        (counts.faster, counts.slower, counts.equivalent, counts.inconclusive),
        (1, 1, 1, 0)
    );
    let mean = table.mean.unwrap();
    let truth = (0.8_f64 * 1.1).cbrt();
    assert!((mean.estimate - truth).abs() < 0.002 && mean.of_these.unwrap().contains(truth));
    assert_eq!((mean.rows, mean.left_out), (3, 0));
    // Both sides have equal counts of allocations.
    assert_eq!(verdicts(&tables(&found)[1]), [Verdict::Equivalent; 3]);
    assert_eq!(found.metrics[tables(&found)[1].metric].name, "allocations");
    assert!(codes(&found).contains(&"NOT_INTERLEAVED"));
}

#[test]
fn swapping_the_sides_turns_every_verdict_round() {
    let samples = suite(&[("copy", 0.8), ("sort", 1.1)], 12, 2);
    let options = Options { reference: Some("new".to_owned()), ..Options::default() };
    let swapped = analyse(&samples, &options).unwrap();
    assert_eq!(names(&swapped), ["new", "old"]);
    assert_eq!(verdicts(&tables(&swapped)[0]), [Verdict::Slower, Verdict::Faster]);
}

#[test]
fn what_is_on_one_side_only_is_listed_and_not_in_the_mean() {
    let mut samples = suite(&[("copy", 0.9), ("sort", 0.9)], 12, 3);
    for (side, name) in [("old", "gone"), ("new", "come"), ("new", "fresh")] {
        let subject = add(&mut samples, side, name);
        (0..12).for_each(|i| push(&mut samples, subject, &[], &[f64::from(i), 1.0]));
    }
    let found = analysed(&samples, Adjust::Holm);
    assert_eq!(tables(&found)[0].rows.len(), 2);
    assert!((tables(&found)[0].mean.unwrap().estimate - 0.9).abs() < 0.003);
    let names = |only: &Only| -> Vec<String> {
        only.rows.iter().map(|&b| found.rows[b].name.clone()).collect()
    };
    assert_eq!((found.only[0].side, names(&found.only[0])), (0, vec!["gone".to_owned()]));
    assert_eq!(names(&found.only[1]), ["come", "fresh"]);
    let told: Vec<_> = found.findings.iter().filter(|f| f.code == "BENCHMARKS_MISSING").collect();
    assert_eq!(told.len(), 2);
    assert!(told[1].message.contains("2 benchmarks are only in new, not in old: come, fresh"));
}

#[test]
fn more_benchmarks_make_each_level_stricter_and_the_false_discovery_rate_less_so() {
    let names: Vec<String> = (0..30).map(|i| format!("b{i}")).collect();
    let benchmarks: Vec<(&str, f64)> = names.iter().map(|name| (name.as_str(), 1.2)).collect();
    let samples = suite(&benchmarks, 6, 4);
    // With six values per side the smallest p-value is 2 / C(12, 6), which is above 0.05 / 30.
    let holm = analysed(&samples, Adjust::Holm);
    assert_eq!(tables(&holm)[0].counts().inconclusive, 30);
    let few = holm.findings.iter().find(|f| f.code == "TOO_FEW").unwrap();
    let start = "too few repetitions for a verdict on all 30 benchmarks (6 and 6): 7 on each side can decide (4 for one benchmark alone)";
    assert!(few.message.starts_with(start), "{}", few.message);
    assert!(few.advice.contains(&assay_data::Action::FalseDiscoveryRate.into()));
    let bh = analysed(&samples, Adjust::FalseDiscovery);
    assert_eq!(tables(&bh)[0].counts().slower, 30);
    // All rows have a direction, so each interval keeps the full level of 0.05.
    assert!(tables(&bh)[0].rows.iter().all(|r| (r.level - 0.05).abs() < 1e-12));
    assert_eq!(tables(&analysed(&samples, Adjust::None))[0].counts().slower, 30);
}

#[test]
fn of_nothing_that_differs_hardly_ever_is_anything_told() {
    let names: Vec<String> = (0..20).map(|i| format!("b{i}")).collect();
    let benchmarks: Vec<(&str, f64)> = names.iter().map(|name| (name.as_str(), 1.0)).collect();
    let mut wrong = [0, 0, 0];
    for seed in 0..30 {
        let samples = suite_of_spread(&benchmarks, 8, 100 + seed, 0.02);
        for (place, adjust) in
            [Adjust::Holm, Adjust::FalseDiscovery, Adjust::None].into_iter().enumerate()
        {
            let counts = tables(&analysed(&samples, adjust))[0].counts();
            wrong[place] += i32::from(counts.faster + counts.slower > 0);
        }
    }
    // Of 30 suites, 1 or 2 have a false alarm on average if the error rate is shared among the
    // benchmarks, and 19 if it is not.
    assert!(wrong[0] <= 6 && wrong[1] <= 6 && wrong[2] > 10, "{wrong:?}");
}

#[test]
fn of_the_directions_that_are_told_few_are_wrong() {
    let names: Vec<String> = (0..24).map(|i| format!("b{i}")).collect();
    let benchmarks: Vec<(&str, f64)> = names
        .iter()
        .enumerate()
        .map(|(i, name)| (name.as_str(), if i < 8 { 1.06 } else { 1.0 }))
        .collect();
    let (mut told, mut wrong, mut holm) = (0, 0, 0);
    for seed in 0..20 {
        let samples = suite_of_spread(&benchmarks, 9, 500 + seed, 0.03);
        let count = |adjust| -> (usize, usize) {
            let found = analysed(&samples, adjust);
            let rows = tables(&found).remove(0).rows;
            let directional = rows.iter().filter(|r| r.decision.verdict.is_directional());
            directional.fold((0, 0), |(all, wrong), r| {
                (all + 1, wrong + usize::from(found.subjects[r.of].row >= 8))
            })
        };
        let bh = count(Adjust::FalseDiscovery);
        told += bh.0;
        wrong += bh.1;
        holm += count(Adjust::Holm).0;
    }
    assert!(told > holm && told > 80, "{told} {holm}");
    assert!((wrong as f64) < 0.1 * told as f64, "{wrong} of {told}");
}

#[test]
fn values_of_few_processes_decide_nothing_whatever_their_number() {
    let mut samples = Samples::new(vec![Metric::wall()]);
    for side in ["old", "new"] {
        for (name, processes) in [("few", 2), ("many", 8)] {
            let subject = add(&mut samples, side, name);
            for process in 0..processes {
                for value in 0..10 {
                    let wall = if side == "old" { 1.0 } else { 2.0 }
                        + 0.01 * f64::from(process)
                        + 1e-4 * f64::from(value);
                    push(&mut samples, subject, &[process], &[wall]);
                }
            }
        }
    }
    let found = analysed(&samples, Adjust::Holm);
    let rows = &tables(&found)[0].rows;
    assert_eq!(verdicts(&tables(&found)[0]), [Verdict::Inconclusive, Verdict::Slower]);
    assert_eq!(rows[0].counts, (2, 2));
    assert_eq!(rows[1].basis, Basis::Units("process".to_owned()));
    let few = found.findings.iter().find(|f| f.code == "TOO_FEW").unwrap();
    assert!(
        few.message
            .contains("too few processes for a verdict on 1 of 2 benchmarks (2 and 2): 4 on"),
        "{}",
        few.message
    );
    assert!(codes(&found).contains(&"UNITS_COMPARED"));
}

#[test]
fn where_only_summaries_are_left_means_decide_and_it_is_said() {
    let mut samples = Samples::new(vec![Metric::wall()]);
    for (side, factor) in [("old", 1.0), ("new", 1.5)] {
        for (name, count) in [("whole", Some(10)), ("bare", None)] {
            let subject = add(&mut samples, side, name);
            samples.summaries.push(Summary {
                subject,
                metric: "wall".to_owned(),
                mean: Some(factor),
                sd: Some(0.05),
                count,
                ..Summary::default()
            });
        }
    }
    let found = analysed(&samples, Adjust::Holm);
    assert_eq!(found.design, Design::Summary);
    assert_eq!(verdicts(&tables(&found)[0]), [Verdict::Slower, Verdict::Inconclusive]);
    assert!(codes(&found).contains(&"SUMMARY_ONLY") && codes(&found).contains(&"SUMMARY_ONLY"));
    let mean = tables(&found)[0].mean.unwrap();
    // With a single value per side, the spread of the row is unknown, and so is that of the mean.
    assert!((mean.estimate - 1.5).abs() < 1e-12 && mean.of_these.is_none());
}

#[test]
fn one_value_on_each_side_has_a_ratio_and_a_reason() {
    let found = analysed(&suite(&[("copy", 0.5), ("sort", 0.5)], 1, 6), Adjust::Holm);
    assert_eq!(verdicts(&tables(&found)[0]), [Verdict::Inconclusive; 2]);
    let mean = tables(&found)[0].mean.unwrap();
    assert!((mean.estimate - 0.5).abs() < 0.01 && mean.of_these.is_none());
    assert!(codes(&found).contains(&"TOO_FEW"));
}

#[test]
fn blocks_of_a_suite_are_those_of_each_benchmark() {
    let mut samples = Samples::new(vec![Metric::wall()]);
    let mut stream = Stream::new(9, 0);
    for (name, factor) in [("copy", 1.1), ("sort", 1.0)] {
        let subjects = ["old", "new"].map(|side| add(&mut samples, side, name));
        for block in 0..20_u32 {
            // A slow block affects both sides alike.
            let slow = 1.0 + stream.uniform();
            for (subject, factor) in subjects.into_iter().zip([1.0, factor]) {
                let values = vec![slow * factor * (1.0 + 0.001 * stream.normal())];
                let block = Some(block);
                samples.push(Observation { subject, block, values, ..Observation::default() });
            }
        }
    }
    let found = analysed(&samples, Adjust::Holm);
    assert_eq!(verdicts(&tables(&found)[0]), [Verdict::Slower, Verdict::Equivalent]);
    assert_eq!(tables(&found)[0].rows[0].blocks, Some(20));
    assert!(!codes(&found).contains(&"NOT_INTERLEAVED"));
    let mean = tables(&found)[0].mean.unwrap();
    assert!(mean.of_these.unwrap().half_width() < 0.002);
}

#[test]
fn settings_in_which_recordings_differ_are_told_with_their_values() {
    let mut samples = suite(&[("copy", 1.0), ("sort", 1.0)], 8, 7);
    for (name, value) in [
        ("library_build_type", "release"),
        ("library_build_type@new", "debug"),
        ("hostname", "a"),
        ("hostname@new", "b"),
        ("started@new", "later"),
    ] {
        samples.environment.set(name, value);
    }
    let found = analysed(&samples, Adjust::Holm);
    let told = found.findings.iter().filter(|f| f.code == "RECORDINGS_DIFFER");
    let told: Vec<&str> = told.map(|f| f.message.as_str()).collect();
    let settings = "the recordings differ in library build type (release, in new debug)";
    assert_eq!(told, ["the recordings differ in hostname", settings]);
}

#[test]
fn a_third_side_has_tables_of_its_own_in_the_same_family() {
    let mut samples = suite(&[("copy", 0.8), ("sort", 1.0)], 12, 8);
    for name in ["copy", "other"] {
        let subject = add(&mut samples, "next", name);
        (0..12).for_each(|i| {
            push(&mut samples, subject, &[], &[1e-6 + 1e-10 * f64::from(i * 5 % 12), 8.0])
        });
    }
    let found = analysed(&samples, Adjust::Holm);
    let sides: Vec<usize> = found.primary_tables().map(|table| table.side).collect();
    assert_eq!(sides, [1, 2]);
    assert_eq!(tables(&found)[1].rows.len(), 1);
    assert!(tables(&found)[1].mean.is_none());
}

#[test]
fn what_is_no_suite_is_told_apart() {
    assert!(!is_suite(&suite(&[("copy", 1.0)], 3, 1)));
    let mut apart = Samples::new(vec![Metric::wall()]);
    for (side, row) in [("old", "a"), ("new", "b")] {
        let subject = add(&mut apart, side, row);
        apart.push_value(subject, 1.0);
    }
    assert!(!is_suite(&apart) && !is_suite(&Samples::default()));
    assert_eq!(analyse(&apart, &Options::default()).unwrap().shape, Shape::Sides);
    // Both sides have both rows, but those of the new side have no values.
    let samples = suite(&[("copy", 1.0), ("sort", 1.0)], 3, 1);
    let mut one_sided = Samples::new(samples.metrics.clone());
    (one_sided.sides, one_sided.rows) = (samples.sides.clone(), samples.rows.clone());
    one_sided.subjects.clone_from(&samples.subjects);
    let old = samples.observations().filter(|o| samples.subjects[o.subject].side == 0);
    old.for_each(|own| one_sided.push(own));
    let (noun, metric) = ("benchmark".to_owned(), "wall".to_owned());
    let nothing = analyse(&one_sided, &Options::default());
    assert_eq!(nothing, Err(AnalysisError::NothingInCommon { noun, metric }));
    let options = Options { primary: Some("heat".to_owned()), ..Options::default() };
    assert!(matches!(analyse(&samples, &options), Err(AnalysisError::NoSuchMetric(_))));
    let options = Options { reference: Some("older".to_owned()), ..Options::default() };
    let error = analyse(&samples, &options).unwrap_err();
    assert_eq!(
        error.to_string(),
        "--reference older: there is no such side; there are `old`, `new`"
    );
}

#[test]
fn what_is_looked_at_alone_is_described_by_its_deciding_metric() {
    let samples = suite(&[("copy", 1.0), ("sort", 1.0)], 12, 3);
    let found = analyse(&samples, &Options { alone: true, ..Options::default() }).unwrap();
    assert!(found.comparisons.is_empty() && found.secondary.is_empty());
    assert_eq!(found.subjects.len(), 4);
    let only_wall =
        |own: &crate::SubjectSummary| own.metrics.len() == 1 && own.metrics[0].is_some();
    assert!(found.subjects.iter().all(only_wall));
    let all = analysed(&samples, Adjust::Holm);
    assert!(all.subjects.iter().all(|own| own.metrics.iter().all(Option::is_some)));
}
