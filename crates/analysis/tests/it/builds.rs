//! Simulations of whole experiments over builds, from turns to verdicts: builds of one source are
//! rarely called different, and a true difference is found if it exceeds the effect of placement.

use assay_analysis::{Experiment, Options, Step, Verdict, analyse};
use assay_data::source::Unit;
use assay_data::{Metric, Observation, Plan, Samples, Side, Subject, Threshold};
use assay_stats::resampling::Stream;

/// Runs an experiment with `builds` builds per side that stops by itself, or after 60 s. Placement
/// and noise have these standard deviations in percent, the second side takes longer by `longer`
/// percent, and the machine's speed drifts.
fn verdict(case: u64, builds: u32, placement: f64, noise: f64, longer: f64) -> (Verdict, usize) {
    let mut stream = Stream::new(81, case);
    let mut samples = Samples::new(vec![Metric::wall()]);
    let mut effects = Vec::new();
    for name in ["old", "new"] {
        let files = (0..builds).map(|build| format!("{name}-{build}")).collect();
        let side =
            samples.add_side(Side { name: name.to_owned(), builds: files, ..Side::default() });
        let row = samples.row_named("");
        samples.add(Subject { side, row, name: name.to_owned(), ..Subject::default() });
        let mean = if name == "new" { longer } else { 0.0 };
        effects.push((0..builds).map(|_| mean + placement * stream.normal()).collect::<Vec<f64>>());
    }
    let plan =
        Plan { budget_seconds: Some(60.0), ..Plan::sequential(0.95, Threshold::default(), case) };
    samples.plan = Some(plan.clone());
    let unit = Unit { builds: vec![builds; 2], ..Unit::of_subjects(&[None, Some(0)]) };
    let mut experiment = Experiment::of_units(plan, &[unit]);
    let (mut elapsed, mut drift) = (0.0, 0.0);
    while let Some(turn) = experiment.next_turn() {
        elapsed += 0.1;
        drift += 0.3 * stream.normal();
        let effect = effects[turn.place][turn.build as usize];
        let value = 1e-3 * ((effect + drift + noise * stream.normal()) / 100.0).exp();
        samples.push(Observation {
            subject: turn.place,
            block: Some(turn.block),
            position: Some(turn.position),
            level: vec![turn.build],
            time: Some(elapsed),
            values: vec![value],
            ..Observation::default()
        });
        if let Step::Stop(reason) = experiment.observe(turn, &[value], elapsed) {
            samples.stop = Some(reason);
            break;
        }
    }
    let analysis = analyse(&samples, &Options::default()).expect("two sides");
    let comparison = &analysis.comparisons[0];
    (comparison.decision.verdict, comparison.blocks.unwrap_or(0))
}

/// The share of simulated experiments with a direction, and the median number of blocks.
fn directions(cases: u64, builds: u32, placement: f64, noise: f64, longer: f64) -> (f64, usize) {
    let all = (0..cases).map(|case| verdict(case, builds, placement, noise, longer));
    let (verdicts, mut blocks): (Vec<Verdict>, Vec<usize>) = all.unzip();
    blocks.sort_unstable();
    let directed = verdicts.iter().filter(|v| matches!(v, Verdict::Slower | Verdict::Faster));
    let share = directed.count() as f64 / cases as f64;
    (share, blocks[blocks.len() / 2])
}

#[test]
fn builds_of_one_source_are_rarely_called_different() {
    for (builds, placement) in [(3, 1.0), (5, 1.0), (5, 3.0), (10, 2.0)] {
        let (share, _) = directions(100, builds, placement, 1.0, 0.0);
        // 5 % of 100, plus 2.3 standard errors.
        assert!(share <= 0.1, "{builds} builds, {placement} %: {share}");
    }
}

#[test]
fn a_true_difference_is_found_with_five_builds_a_side() {
    let (share, blocks) = directions(100, 5, 0.5, 1.0, 3.0);
    assert!(share >= 0.8, "{share}");
    assert!(blocks < 200, "{blocks}");
}
