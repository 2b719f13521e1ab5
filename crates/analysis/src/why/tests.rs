//! Explanations of samples with planted causes.

#![allow(clippy::unwrap_used, reason = "in a test a failed unwrap is a failed test")]

use super::*;
use crate::{Options, analyse};
use assay_data::finding::shared::output_differs;
use assay_data::samples::OF_EVERY_RUN;
use assay_data::{Metric, Observation, Unit};
use assay_stats::resampling::Stream;

/// The mean values of one side, with times in seconds.
#[derive(Clone, Copy)]
struct Means {
    user: f64,
    system: f64,
    waiting: f64,
    faults: f64,
    voluntary: f64,
    involuntary: f64,
    written: f64,
    allocations: f64,
    instructions: f64,
}

/// A program of 20 ms.
const BASE: Means = Means {
    user: 0.016,
    system: 0.003,
    waiting: 0.001,
    faults: 800.0,
    voluntary: 1.0,
    involuntary: 2.0,
    written: 8.0,
    allocations: 1000.0,
    instructions: 4e7,
};

/// Two programs in blocks, with 1 % noise in each part of the time.
fn samples(old: Means, new: Means) -> Samples {
    seeded(old, new, 5)
}

fn seeded(old: Means, new: Means, seed: u64) -> Samples {
    let mut metrics: Vec<Metric> = OF_EVERY_RUN
        .iter()
        .map(|name| match *name {
            "wall" | "cpu" | "user" | "system" => Metric::lower(name, Unit::Second),
            "max_rss" => Metric::lower(name, Unit::Byte),
            _ => Metric::lower(name, Unit::One),
        })
        .collect();
    metrics.push(Metric::exact("allocations", Unit::One));
    metrics.push(Metric::exact("valgrind_instructions", Unit::One));
    let mut samples = Samples::new(metrics);
    samples.add_subject("old");
    samples.add_subject("new");
    let mut stream = Stream::new(seed, 0);
    for block in 0..40 {
        let speed = 1.0 + 0.03 * stream.normal();
        for (subject, means) in [old, new].into_iter().enumerate() {
            let mut noisy = |mean: f64| mean * speed * (1.0 + 0.01 * stream.normal());
            let (user, system) = (noisy(means.user), noisy(means.system));
            let waiting = noisy(means.waiting) + 1e-4 * stream.uniform();
            let mut count = |mean: f64| (mean + 0.3 * stream.normal()).round().max(0.0);
            samples.push(Observation {
                subject,
                block: Some(block),
                position: Some(subject as u32),
                values: vec![
                    user + system + waiting,
                    user + system,
                    user,
                    system,
                    4e6,
                    count(means.faults),
                    0.0,
                    count(means.voluntary),
                    count(means.involuntary),
                    0.0,
                    count(means.written),
                    means.allocations,
                    means.instructions,
                ],
                ..Observation::default()
            });
        }
    }
    samples
}

fn explained(samples: &Samples) -> (Analysis, Why) {
    let analysis = analyse(samples, &Options::default()).unwrap();
    let index = choose(&analysis, None).unwrap();
    let why = explain(samples, &analysis, index, None);
    (analysis, why)
}

/// The first cause, with the name of its metric if it has one.
fn first(new: Means) -> (Option<Kind>, Option<String>) {
    first_of(&samples(BASE, new))
}

fn first_of(samples: &Samples) -> (Option<Kind>, Option<String>) {
    let (analysis, why) = explained(samples);
    let kind = why.causes.first().map(|cause| cause.kind.clone());
    let name = match kind {
        Some(
            Kind::Count { change, .. }
            | Kind::Instructions { change, .. }
            | Kind::PerInstruction { change, .. },
        ) => Some(analysis.metrics[why.changes[change].metric].name.clone()),
        _ => None,
    };
    (kind, name)
}

#[test]
fn the_shares_of_the_parts_hold_what_was_planted_and_add_up() {
    let new = Means { user: 0.019, system: 0.004, ..BASE };
    let (_, why) = explained(&samples(BASE, new));
    let share = |name| why.part(name).unwrap().share.unwrap();
    assert!(share(PartName::User).interval.contains(0.75), "{why:#?}");
    assert!(share(PartName::System).interval.contains(0.25), "{why:#?}");
    assert!(share(PartName::Waiting).interval.contains(0.0), "{why:#?}");
    let sum: f64 = why.parts.iter().map(|part| part.share.unwrap().estimate).sum();
    assert!((sum - 1.0).abs() < 1e-9, "{sum}");
    assert_eq!(why.parts[0].name, PartName::User);
}

#[test]
fn more_code_is_more_instructions() {
    let (kind, _) = first(Means { user: 0.020, instructions: 5e7, ..BASE });
    assert!(matches!(kind, Some(Kind::Instructions { .. })), "{kind:?}");
    // The faster program executes fewer instructions, which explains the difference.
    let (kind, _) = first(Means { user: 0.012, instructions: 3e7, ..BASE });
    assert!(matches!(kind, Some(Kind::Instructions { .. })), "{kind:?}");
}

#[test]
fn the_same_instructions_that_take_longer_are_no_other_work() {
    let (kind, _) = first(Means { user: 0.020, ..BASE });
    assert!(matches!(kind, Some(Kind::PerInstruction { .. })), "{kind:?}");
}

#[test]
fn allocations_are_named_only_if_they_can_take_the_time() {
    let many = Means { user: 0.020, allocations: 101_000.0, instructions: 5.2e7, ..BASE };
    assert_eq!(first(many).1.as_deref(), Some("allocations"));
    // A hundred more allocations do not take 4 ms.
    let few = Means { allocations: 1100.0, ..many };
    assert_eq!(first(few).1.as_deref(), Some("valgrind_instructions"));
}

#[test]
fn page_faults_files_and_switches_explain_system_time() {
    let faults = Means { system: 0.006, faults: 5000.0, ..BASE };
    assert_eq!(first(faults).1.as_deref(), Some("minor_faults"));
    let written = Means { system: 0.006, written: 20_008.0, ..BASE };
    assert_eq!(first(written).1.as_deref(), Some("block_out"));
    // Twenty page faults do not take 3 ms.
    let few = Means { system: 0.006, faults: 820.0, ..BASE };
    assert_eq!(first(few).0, Some(Kind::Part(PartName::System)));
    let switches = Means { system: 0.006, voluntary: 800.0, ..BASE };
    assert_eq!(first(switches).1.as_deref(), Some("voluntary_switches"));
    let few = Means { system: 0.006, voluntary: 40.0, ..BASE };
    assert_eq!(first(few).0, Some(Kind::Part(PartName::System)));
}

#[test]
fn waiting_is_told_apart_by_who_gave_up_the_processor() {
    let sleeps = Means { waiting: 0.011, voluntary: 6.0, ..BASE };
    assert_eq!(first(sleeps).1.as_deref(), Some("voluntary_switches"));
    let contended = Means { waiting: 0.011, involuntary: 8.0, ..BASE };
    assert_eq!(first(contended).1.as_deref(), Some("involuntary_switches"));
    let disk = Means { waiting: 0.011, voluntary: 6.0, written: 4008.0, ..BASE };
    assert_eq!(first(disk).1.as_deref(), Some("block_out"));
}

#[test]
fn another_output_comes_first() {
    let mut samples = samples(BASE, Means { user: 0.012, instructions: 3e7, ..BASE });
    samples.findings.push(output_differs("new", "'new' writes something else"));
    let (_, why) = explained(&samples);
    assert_eq!(why.causes[0].kind, Kind::Output);
    assert!(matches!(why.causes[1].kind, Kind::Instructions { .. }), "{why:#?}");
}

#[test]
fn a_reference_that_differs_from_itself_comes_first() {
    let mut samples = samples(BASE, Means { user: 0.0168, ..BASE });
    samples.add_subject("old again");
    samples.subjects[2].repeats = Some(0);
    samples.subjects[2].against = Some(2);
    for block in 0..40 {
        let own: Vec<_> = samples.observations().filter(|o| o.block == Some(block)).collect();
        let values = own[0].values.iter().map(|value| value * 1.05).collect();
        let (subject, position) = (2, Some(2));
        samples.push(Observation {
            subject,
            block: Some(block),
            position,
            values,
            ..Observation::default()
        });
    }
    let (_, why) = explained(&samples);
    assert!(matches!(why.causes[0].kind, Kind::Floor(_)), "{:#?}", why.causes);
}

#[test]
fn recordings_of_two_machines_are_explained_by_them() {
    let mut samples = samples(BASE, Means { user: 0.020, ..BASE });
    let mut apart = Samples::new(samples.metrics.clone());
    apart.add_subject("old");
    apart.add_subject("new");
    for observation in samples.observations() {
        apart.push(Observation { block: None, position: None, ..observation });
    }
    apart.environment.set("cpu_model@old", "one");
    apart.environment.set("cpu_model@new", "another");
    let (_, why) = explained(&apart);
    assert_eq!(why.causes[0].kind, Kind::Machine(vec!["cpu_model"]), "{why:#?}");
    // The files have no blocks, so their runs are paired in order.
    assert!(!why.parts.is_empty());
    // Samples in blocks come from one machine, so its facts are those of both sides.
    samples.environment = apart.environment.clone();
    let (_, why) = explained(&samples);
    assert!(!matches!(why.causes[0].kind, Kind::Machine(_)), "{why:#?}");
}

#[test]
fn the_same_code_is_explained_by_its_placement() {
    let mut samples = samples(BASE, Means { user: 0.017, ..BASE });
    samples.subjects.iter_mut().for_each(|own| own.code = Some("sha256:1".to_owned()));
    let (_, why) = explained(&samples);
    assert_eq!(why.causes[0].kind, Kind::Placement);
}

#[test]
fn without_a_difference_or_a_known_share_nothing_is_named() {
    assert_eq!(first(BASE), (None, None));
    // A record that does not contain the parts of the time.
    let mut samples = samples(BASE, Means { user: 0.020, ..BASE });
    for metric in &mut samples.metrics[1..] {
        metric.name = format!("other_{}", metric.name);
    }
    let (_, why) = explained(&samples);
    assert!(why.has_difference());
    assert_eq!(why.causes, []);
}

#[test]
fn nothing_is_certain_by_chance() {
    // Programs that differ only in user time, by 2 %: no other part and no count may be named more
    // often than the error allows.
    let mut wrong = 0;
    let runs = 60;
    for seed in 0..runs {
        let (kind, _) = first_of(&seeded(BASE, Means { user: BASE.user * 1.02, ..BASE }, seed));
        wrong += usize::from(!matches!(
            kind,
            None | Some(Kind::PerInstruction { .. } | Kind::Part(PartName::User))
        ));
    }
    assert!(wrong <= 3, "{wrong} of {runs}");
}

#[test]
fn a_difference_is_chosen_by_its_name_or_its_size() {
    let (analysis, _) = explained(&samples(BASE, Means { user: 0.020, ..BASE }));
    assert_eq!(choose(&analysis, Some("new")), Ok(0));
    let unknown = choose(&analysis, Some("newer")).unwrap_err().to_string();
    assert!(unknown.contains("`new`"), "{unknown}");
}

#[test]
fn sampled_functions_have_shares_of_the_processor_time() {
    let mut runs = Samples::new(vec![Metric::lower("self", Unit::Second)]);
    let names = ["(whole run)", "inflate", "crc", "(all others)"];
    runs.rows =
        names.map(|name| assay_data::Row { name: name.to_owned(), ..Default::default() }).to_vec();
    for side in ["old", "new"] {
        let side_index = runs.side_named(side);
        for (row, name) in names.iter().enumerate() {
            let name = format!("{side}: {name}");
            runs.add(Subject { side: side_index, row, name, ..Subject::default() });
        }
    }
    let mut stream = Stream::new(3, 0);
    for block in 0..12 {
        for side in 0..2 {
            let mut noisy = |mean: f64| mean * (1.0 + 0.02 * stream.normal());
            let inflate = noisy(if side == 1 { 0.8 } else { 0.5 });
            let (crc, rest) = (noisy(0.3), noisy(0.1));
            for (row, value) in [inflate + crc + rest, inflate, crc, rest].into_iter().enumerate() {
                let (subject, block) = (side * names.len() + row, Some(block));
                runs.push(Observation {
                    subject,
                    block,
                    values: vec![value],
                    ..Observation::default()
                });
            }
        }
    }
    let code = [("inflate".to_owned(), CodeChange::Changed)];
    let sampled = Sampled { runs: &runs, whole: names[0], others: names[3], code: &code };
    let samples = samples(BASE, Means { user: 0.020, instructions: 5e7, ..BASE });
    let analysis = analyse(&samples, &Options::default()).unwrap();
    let why = explain(&samples, &analysis, 0, Some(&sampled));
    let inflate = &why.functions[0];
    assert_eq!((inflate.name.as_str(), inflate.code), ("inflate", CodeChange::Changed));
    assert!(inflate.share.is_some_and(|share| share.interval.contains(1.0)), "{inflate:?}");
    assert!(!why.functions[1].is_known(), "{why:#?}");
    assert_eq!(why.causes[0].kind, Kind::Function(0));
}
