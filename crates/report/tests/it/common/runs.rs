//! Runs in blocks with unusual properties: zeros, timeouts, disturbances, secondary metrics.

use super::{Recipe, analysed, fixed, noise, quiet_machine, same_subjects};
use assay_analysis::Analysis;
use assay_data::code;
use assay_data::{
    Better, Finding, Metric, Observation, Outcome, Plan, Samples, Severity, StopReason, Threshold,
    Unit,
};

/// Returns counts, some of them zero, which are compared by differences.
pub fn zeros() -> Analysis {
    let mut samples = Samples::new(vec![Metric::lower("major_faults", Unit::One)]);
    samples.add_subject("cold");
    samples.add_subject("warm");
    samples.plan = Some(Plan { primary: "major_faults".to_owned(), ..fixed(20) });
    samples.stop = Some(StopReason::Blocks);
    for block in 0..20 {
        for subject in 0..2 {
            let value = f64::from((block * 7 + subject as u32 * 3) % 4)
                + if subject == 0 { 12.0 } else { 0.0 };
            samples.push(Observation {
                subject,
                block: Some(block),
                position: Some(subject as u32),
                values: vec![value],
                ..Observation::default()
            });
        }
    }
    analysed(&samples)
}

pub fn absolute_threshold() -> Analysis {
    let mut recipe = Recipe::of(&["old", "new"], &[1.0, 0.9], 0.05, 24);
    recipe.seconds = 125e-6;
    recipe.plan.threshold = Threshold::Absolute { value: 6.667e-6, unit: Unit::Second };
    recipe.analysis()
}

pub fn timeouts_and_failures() -> Analysis {
    let mut recipe = Recipe::of(&["slow", "quick"], &[1.0, 0.7], 0.02, 12);
    recipe.plan = fixed(12);
    recipe.stop = StopReason::Blocks;
    let whole = recipe.samples();
    let mut samples = Samples::new(whole.metrics.clone());
    same_subjects(&mut samples, &whole);
    samples.plan = whole.plan.clone();
    samples.stop = whole.stop;
    for (index, mut o) in whole.observations().enumerate() {
        if o.subject == 0 && index % 4 < 2 {
            o.outcome = Outcome::Timeout;
            o.values[0] = 0.85;
        } else if o.subject == 1 && o.block == Some(5) {
            o.outcome = Outcome::Exit(3);
        }
        samples.push(o);
    }
    analysed(&samples)
}

pub fn all_equal() -> Analysis {
    let mut samples = Samples::new(vec![Metric::lower("allocations", Unit::One)]);
    samples.plan = Some(Plan { primary: "allocations".to_owned(), ..fixed(10) });
    samples.stop = Some(StopReason::Blocks);
    samples.add_subject("before");
    samples.add_subject("after");
    for block in 0..10 {
        for subject in 0..2 {
            samples.push(Observation {
                subject,
                block: Some(block),
                position: Some(subject as u32),
                values: vec![1204.0],
                ..Observation::default()
            });
        }
    }
    analysed(&samples)
}

/// Returns two programs without times: only instructions and allocations were counted.
pub fn only_counted() -> Analysis {
    let mut samples = Samples::new(vec![
        Metric::wall(),
        Metric::lower("cpu", Unit::Second),
        Metric::exact("valgrind_instructions/iteration", Unit::One),
        Metric::exact("allocations/iteration", Unit::One),
    ]);
    let primary = samples.metrics[2].name.clone();
    samples.plan = Some(Plan { primary, ..fixed(2) });
    samples.stop = Some(StopReason::Blocks);
    samples.environment = quiet_machine();
    samples.add_subject("old");
    samples.add_subject("new");
    for block in 0..2 {
        for subject in 0..2 {
            samples.push(Observation {
                subject,
                block: Some(block),
                position: Some(subject as u32),
                values: vec![f64::NAN, f64::NAN, [41_210.0, 39_800.0][subject], 12.0],
                ..Observation::default()
            });
        }
    }
    analysed(&samples)
}

/// Returns a difference that changes slowly during the run.
pub fn drifting() -> Analysis {
    let recipe = Recipe::of(&["old", "new"], &[1.0, 0.96], 0.004, 64);
    let whole = recipe.samples();
    let mut samples = Samples::new(whole.metrics.clone());
    same_subjects(&mut samples, &whole);
    samples.plan = whole.plan.clone();
    samples.stop = Some(StopReason::Budget);
    for mut o in whole.observations() {
        if o.subject == 1 {
            o.values[0] *= 1.0 + 0.02 * (f64::from(o.block.unwrap()) / 9.0).sin();
        }
        samples.push(o);
    }
    analysed(&samples)
}

/// Returns less memory and the same time, on a busy machine.
pub fn less_memory() -> Analysis {
    let whole = Recipe::of(&["old", "new"], &[1.0, 1.0], 0.01, 40).samples();
    let mut samples = Samples::new(whole.metrics.clone());
    same_subjects(&mut samples, &whole);
    samples.plan = whole.plan.clone();
    samples.stop = whole.stop;
    samples.environment = quiet_machine();
    samples.environment.set("load_1m", 3.2);
    for mut o in whole.observations() {
        if o.subject == 1 {
            o.values[2] *= 0.88;
        }
        samples.push(o);
    }
    analysed(&samples)
}

/// Returns runs that were occasionally preempted, which affects their times.
pub fn disturbed() -> Analysis {
    let whole = Recipe::of(&["sort-old", "sort-new"], &[1.0, 0.974], 0.02, 60).samples();
    let mut metrics = whole.metrics.clone();
    metrics.push(Metric::lower("involuntary_switches", Unit::One));
    metrics.push(Metric::lower("minor_faults", Unit::One));
    let mut samples = Samples::new(metrics);
    same_subjects(&mut samples, &whole);
    samples.plan = whole.plan.clone();
    samples.stop = whole.stop;
    samples.environment = quiet_machine();
    for mut o in whole.observations() {
        let block = o.block.unwrap();
        // About one run in eight is preempted twice, which makes it slower.
        let switches = if noise(o.subject + 20, block) > 0.4 { 2.0 } else { 0.0 };
        o.values[0] += 0.02 * switches;
        o.values.extend([switches, 120.0 + (4.0 * noise(o.subject + 30, block)).round()]);
        samples.push(o);
    }
    analysed(&samples)
}

/// Returns a run and a scan that were resumed although a program had changed.
pub fn mixed() -> Analysis {
    let mut samples = Recipe::of(&["sort-old", "sort-new"], &[1.0, 0.974], 0.02, 42).samples();
    samples.findings.push(gone_on_with_another());
    analysed(&samples)
}

pub fn gone_on_with_another() -> Finding {
    let message = "the run was resumed although something changed: sort-new: its file has changed";
    Finding::new(code::RESUMED, message).at(assay_data::Severity::Serious).advise(
        assay_data::Action::text(
            "measure again: the blocks before and after are not one experiment",
        ),
    )
}

/// Returns two commands with named secondary metrics.
pub fn secondary() -> Analysis {
    secondary_of(&["sort-old", "sort-new"], &[1.0, 0.974])
}

pub fn secondary_of_three() -> Analysis {
    secondary_of(&["sort-old", "sort-new", "sort-other"], &[1.0, 0.974, 1.003])
}

fn secondary_of(names: &[&'static str], factors: &[f64]) -> Analysis {
    let whole = Recipe::of(names, factors, 0.02, 42).samples();
    let mut samples = whole.clone();
    let inner = samples.add_metric(Metric::lower("inner", Unit::Second));
    let share = Metric { better: Better::Higher, ..Metric::lower("cpu_per_wall", Unit::One) };
    let share = samples.add_metric(share);
    let mut with = Samples::new(samples.metrics.clone());
    same_subjects(&mut with, &samples);
    with.stop = samples.stop;
    with.plan = samples.plan.clone();
    with.plan.as_mut().unwrap().secondary =
        ["inner", "cpu_per_wall", "max_rss", "cpu"].map(str::to_owned).to_vec();
    for mut o in samples.observations() {
        o.values[inner] =
            o.values[0] / 3.0 * (1.0 + 0.06 * noise(o.subject + 20, o.block.unwrap()));
        o.values[share] = o.values[1] / o.values[0];
        if o.subject == 1 {
            o.values[2] *= 3.0;
        }
        with.push(o);
    }
    analysed(&with)
}
