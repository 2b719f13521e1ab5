//! Samples with made-up, deterministic numbers, and their analyses, for the tests of every report.

#![allow(dead_code, clippy::unwrap_used, reason = "each test takes what it needs")]

use assay_analysis::{Analysis, Options, analyse};
use assay_data::{
    Better, Environment, Finding, Metric, Observation, Outcome, Plan, Samples, Severity,
    StopReason, StopRule, Subject, Threshold, Unit,
};

/// Noise between about −1 and 1, bell-shaped, the same for the same arguments.
pub fn noise(subject: usize, block: u32) -> f64 {
    let mut state =
        0x9E37_79B9_7F4A_7C15u64.wrapping_mul(u64::from(block) * 64 + subject as u64 + 1);
    let mut sum = 0.0;
    for _ in 0..3 {
        state ^= state >> 30;
        state = state.wrapping_mul(0xBF58_476D_1CE4_E5B9);
        state ^= state >> 27;
        state = state.wrapping_mul(0x94D0_49BB_1331_11EB);
        state ^= state >> 31;
        sum += (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5;
    }
    sum / 1.5
}

/// How an experiment with made-up numbers is made.
pub struct Recipe {
    pub names: Vec<&'static str>,
    /// Factor of every subject's wall time.
    pub factors: Vec<f64>,
    pub seconds: f64,
    pub spread: f64,
    pub blocks: u32,
    pub plan: Plan,
    pub stop: StopReason,
}

impl Recipe {
    pub fn of(names: &[&'static str], factors: &[f64], spread: f64, blocks: u32) -> Self {
        Self {
            names: names.to_vec(),
            factors: factors.to_vec(),
            seconds: 0.812,
            spread,
            blocks,
            plan: Plan::sequential(0.95, Threshold::default(), 7),
            stop: StopReason::Clear,
        }
    }

    /// Samples of wall, cpu and peak memory in blocks.
    pub fn samples(&self) -> Samples {
        let mut samples = Samples::new(vec![
            Metric::wall(),
            Metric::lower("cpu", Unit::Second),
            Metric::lower("max_rss", Unit::Byte),
        ]);
        for name in &self.names {
            samples.add(Subject {
                name: (*name).to_owned(),
                command: Some(format!("{name} --input data")),
                ..Subject::default()
            });
        }
        samples.plan = Some(self.plan.clone());
        samples.stop = Some(self.stop);
        samples.started = Some("2026-03-01T12:00:00Z".to_owned());
        samples.environment = quiet_machine();
        let subjects = self.names.len();
        let mut time = 0.0;
        for block in 0..self.blocks {
            for position in 0..subjects {
                let subject = (position + block as usize * 7 % 3) % subjects;
                let own = 1.0 + self.spread * noise(subject, block);
                let wall = self.seconds * self.factors[subject] * own;
                let memory = 35_700_000.0 + 40_960.0 * (noise(subject + 9, block) * 8.0).round();
                samples.push(Observation {
                    subject,
                    block: Some(block),
                    position: Some(position as u32),
                    time: Some(time),
                    values: vec![wall, wall * (0.998 + 0.001 * noise(subject + 5, block)), memory],
                    ..Observation::default()
                });
                time += wall;
            }
        }
        samples
    }

    pub fn analysis(&self) -> Analysis {
        analysed(&self.samples())
    }
}

pub fn analysed(samples: &Samples) -> Analysis {
    analyse(samples, &Options::default()).unwrap()
}

pub fn quiet_machine() -> Environment {
    let facts = [
        ("os", "Linux".into()),
        ("cpus_online", 2.into()),
        ("virtualisation", "kvm".into()),
        ("load_1m", 0.1.into()),
        ("clock_cost_seconds", 24e-9.into()),
        ("governor", "powersave".into()),
        ("turbo", "on".into()),
    ];
    Environment::from_facts(facts.map(|(name, fact)| (name.to_owned(), fact)))
}

pub fn fixed(blocks: u32) -> Plan {
    Plan {
        stop: StopRule::Fixed { blocks },
        budget_seconds: None,
        ..Plan::sequential(0.95, Threshold::default(), 7)
    }
}

pub fn faster() -> Analysis {
    Recipe::of(&["sort-old", "sort-new"], &[1.0, 0.974], 0.02, 42).analysis()
}

/// Like [`faster`], of wall time alone: the example of the JSON page.
pub fn only_wall() -> Analysis {
    let whole = Recipe::of(&["sort-old", "sort-new"], &[1.0, 0.974], 0.02, 42).samples();
    let mut samples = Samples::new(vec![Metric::wall()]);
    whole.subjects.iter().for_each(|s| {
        samples.add(s.clone());
    });
    samples.plan = whole.plan.clone();
    samples.stop = whole.stop;
    samples.started = whole.started.clone();
    samples.environment = quiet_machine();
    for mut o in whole.observations() {
        o.values.truncate(1);
        samples.push(o);
    }
    let mut analysis = analysed(&samples);
    // Enough for the example of the JSON page: one with an interval, one without.
    analysis.comparisons[0].quantiles.retain(|q| q.share == 0.5 || q.share == 0.99);
    analysis
}

pub fn four_times() -> Analysis {
    Recipe::of(&["./count old.txt", "./count-simd old.txt"], &[1.0, 0.25], 0.05, 12).analysis()
}

pub fn four_times_slower() -> Analysis {
    Recipe::of(&["release", "debug"], &[1.0, 4.2], 0.05, 12).analysis()
}

pub fn equivalent() -> Analysis {
    Recipe::of(&["old", "new"], &[1.0, 1.001], 0.02, 60).analysis()
}

pub fn inconclusive() -> Analysis {
    let mut recipe = Recipe::of(&["old", "new"], &[1.0, 0.997], 0.06, 40);
    recipe.stop = StopReason::Budget;
    recipe.analysis()
}

pub fn hopeless() -> Analysis {
    let mut recipe = Recipe::of(&["old", "new"], &[1.0, 1.02], 0.6, 30);
    recipe.stop = StopReason::Budget;
    recipe.analysis()
}

pub fn inconclusive_fixed() -> Analysis {
    let mut recipe = Recipe::of(&["old", "new"], &[1.0, 0.999], 0.06, 20);
    recipe.plan = fixed(20);
    recipe.stop = StopReason::Blocks;
    recipe.analysis()
}

pub fn too_few() -> Analysis {
    let mut recipe = Recipe::of(&["old", "new"], &[1.0, 0.9], 0.02, 4);
    recipe.stop = StopReason::Interrupted;
    recipe.analysis()
}

pub fn qualified() -> Analysis {
    let mut recipe = Recipe::of(&["old", "new"], &[1.0, 0.986], 0.02, 14);
    recipe.stop = StopReason::Budget;
    recipe.analysis()
}

pub fn three() -> Analysis {
    Recipe::of(
        &["gzip -6 data.tar", "zstd -3 data.tar", "lz4 data.tar"],
        &[1.0, 0.31, 1.004],
        0.03,
        30,
    )
    .analysis()
}

pub fn alone() -> Analysis {
    let mut recipe = Recipe::of(&["./build.sh --all"], &[1.0], 0.05, 57);
    recipe.stop = StopReason::Precise;
    recipe.analysis()
}

pub fn alone_with_one_value() -> Analysis {
    let mut samples = Samples::new(vec![Metric::lower("value", Unit::One)]);
    samples.add_subject("numbers.txt");
    samples.push_value(0, 17.0);
    analysed(&samples)
}

/// Two files of numbers.
pub fn recordings(values: impl Fn(usize, u32) -> f64, counts: [u32; 2], metric: Metric) -> Samples {
    let mut samples = Samples::new(vec![metric]);
    for (subject, (name, count)) in ["old.txt", "new.txt"].into_iter().zip(counts).enumerate() {
        samples.add_subject(name);
        (0..count).for_each(|i| samples.push_value(subject, values(subject, i)));
    }
    samples
}

pub fn unpaired() -> Analysis {
    let values = |s: usize, i: u32| [0.0123, 0.0118][s] * (1.0 + 0.04 * noise(s, i));
    analysed(&recordings(values, [50, 44], Metric::lower("value", Unit::Second)))
}

/// Three recordings with every classical test.
pub fn every_test() -> Analysis {
    let mut samples = Samples::new(vec![Metric::lower("score", Unit::One)]);
    for (s, level) in [140.0, 145.0, 139.0].into_iter().enumerate() {
        let subject = samples.add_subject(["old", "new", "other"][s]);
        for i in 0..12 {
            samples.push_value(subject, level * (1.0 + 0.1 * noise(s, i)));
        }
    }
    analyse(&samples, &Options { all: true, ..Options::default() }).unwrap()
}

/// Every classical test of what never varies.
pub fn every_test_of_constants() -> Analysis {
    let samples = recordings(|_, _| 5.0, [6, 7], Metric::lower("score", Unit::One));
    analyse(&samples, &Options { all: true, ..Options::default() }).unwrap()
}

pub fn unpaired_generic() -> Analysis {
    let values = |s: usize, i: u32| [140.0, 145.0][s] * (1.0 + 0.1 * noise(s, i));
    analysed(&recordings(values, [50, 44], Metric::lower("score", Unit::One)))
}

pub fn unpaired_higher() -> Analysis {
    let metric = Metric { better: Better::Higher, ..Metric::lower("requests", Unit::PerSecond) };
    let values = |s: usize, i: u32| [1400.0, 1245.0][s] * (1.0 + 0.04 * noise(s, i));
    analysed(&recordings(values, [50, 44], metric))
}

pub fn unpaired_too_few() -> Analysis {
    let values = |s: usize, i: u32| 1.0 + s as f64 + 0.01 * noise(s, i);
    analysed(&recordings(values, [3, 3], Metric::lower("value", Unit::One)))
}

pub fn too_dependent() -> Analysis {
    let values =
        |s: usize, i: u32| 1.0 + f64::from(i) * 0.01 + s as f64 * 0.05 + 0.001 * noise(s, i);
    analysed(&recordings(values, [60, 60], Metric::lower("value", Unit::Second)))
}

/// Counts of which some are zero: compared by differences.
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
    whole.subjects.iter().for_each(|s| {
        samples.add(s.clone());
    });
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

/// A difference that changes slowly during the run.
pub fn wandering() -> Analysis {
    let recipe = Recipe::of(&["old", "new"], &[1.0, 0.96], 0.004, 64);
    let whole = recipe.samples();
    let mut samples = Samples::new(whole.metrics.clone());
    whole.subjects.iter().for_each(|s| {
        samples.add(s.clone());
    });
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

/// Less memory, the same time, on a busy machine.
pub fn less_memory() -> Analysis {
    let whole = Recipe::of(&["old", "new"], &[1.0, 1.0], 0.01, 40).samples();
    let mut samples = Samples::new(whole.metrics.clone());
    whole.subjects.iter().for_each(|s| {
        samples.add(s.clone());
    });
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

/// Runs that were put aside now and then, which their times show.
pub fn disturbed() -> Analysis {
    let whole = Recipe::of(&["sort-old", "sort-new"], &[1.0, 0.974], 0.02, 60).samples();
    let mut metrics = whole.metrics.clone();
    metrics.push(Metric::lower("involuntary_switches", Unit::One));
    metrics.push(Metric::lower("minor_faults", Unit::One));
    let mut samples = Samples::new(metrics);
    whole.subjects.iter().for_each(|s| {
        samples.add(s.clone());
    });
    samples.plan = whole.plan.clone();
    samples.stop = whole.stop;
    samples.environment = quiet_machine();
    for mut o in whole.observations() {
        let block = o.block.unwrap();
        // One run in eight or so is put aside twice, and takes longer for it.
        let switches = if noise(o.subject + 20, block) > 0.4 { 2.0 } else { 0.0 };
        o.values[0] += 0.02 * switches;
        o.values.extend([switches, 120.0 + (4.0 * noise(o.subject + 30, block)).round()]);
        samples.push(o);
    }
    analysed(&samples)
}

/// A scan: for each value of the parameters every command; `seconds` of combination and command.
pub fn scan(
    combinations: &[&[(&str, &str)]],
    commands: &[&str],
    blocks: u32,
    seconds: impl Fn(usize, usize) -> f64,
    against: impl Fn(usize, usize) -> usize,
) -> Samples {
    let mut samples = Samples::new(vec![
        Metric::wall(),
        Metric::lower("cpu", Unit::Second),
        Metric::lower("max_rss", Unit::Byte),
    ]);
    samples.plan = Some(Plan::sequential(0.95, Threshold::default(), 7));
    samples.stop = Some(StopReason::Clear);
    samples.environment = quiet_machine();
    for (combination, parameters) in combinations.iter().enumerate() {
        for (command, template) in commands.iter().enumerate() {
            let fill = |name: String, (p, v): &(&str, &str)| name.replace(&format!("{{{p}}}"), v);
            let name = parameters.iter().fold((*template).to_owned(), fill);
            let parameters = parameters.iter().map(|&(p, v)| (p.to_owned(), v.to_owned()));
            samples.add(Subject {
                command: Some(name.clone()),
                name,
                parameters: parameters.collect(),
                against: Some(against(combination, command)),
                ..Subject::default()
            });
        }
    }
    let subjects = samples.subjects.len();
    let mut time = 0.0;
    for block in 0..blocks {
        for position in 0..subjects {
            let subject = (position + block as usize * 7) % subjects;
            let (combination, command) = (subject / commands.len(), subject % commands.len());
            let wall = seconds(combination, command) * (1.0 + 0.02 * noise(subject, block));
            let memory = 8e6 * (1.0 + seconds(combination, command));
            samples.push(Observation {
                subject,
                block: Some(block),
                position: Some(position as u32),
                time: Some(time),
                values: vec![wall, wall * 0.998, memory.round()],
                ..Observation::default()
            });
            time += wall;
        }
    }
    samples
}

const SIZES: [&[(&str, &str)]; 6] =
    [&[("n", "1")], &[("n", "2")], &[("n", "4")], &[("n", "8")], &[("n", "16")], &[("n", "32")]];

fn size(combination: usize) -> f64 {
    f64::from(1 << combination)
}

/// Two commands over six values: the second starts slower and grows less.
pub fn scan_of_two_samples() -> Samples {
    scan(
        &SIZES,
        &["./sort-old {n}", "./sort-new {n}"],
        30,
        |c, k| {
            if k == 0 { 0.004 * size(c).powf(1.2) } else { 0.0044 * size(c) + 0.00039 }
        },
        |c, _| c * 2,
    )
}

pub fn scan_of_two() -> Analysis {
    analysed(&scan_of_two_samples())
}

/// One command by itself over six values, with a start that costs.
pub fn scan_of_one() -> Analysis {
    let mut samples =
        scan(&SIZES, &["./work --size {n}"], 20, |c, _| 0.02 + 0.006 * size(c), |c, _| c);
    samples.stop = Some(StopReason::Until);
    samples.plan.as_mut().unwrap().until = Some("width < 1%".to_owned());
    analysed(&samples)
}

/// One command over three words, each by itself; and over three numbers, in too few blocks.
pub fn scan_of_words() -> Analysis {
    let modes: [&[(&str, &str)]; 4] =
        [&[("mode", "fast")], &[("mode", "small")], &[("mode", "best")], &[("mode", "none")]];
    analysed(&scan(&modes, &["pack --{mode}"], 12, |c, _| 0.3 + 0.2 * c as f64, |c, _| c))
}

pub fn scan_too_short() -> Analysis {
    let mut samples = scan(&SIZES[..3], &["x {n}"], 7, |c, _| 0.3 / size(c), |c, _| c);
    samples.stop = Some(StopReason::Interrupted);
    analysed(&samples)
}

/// One command, every value held against the first.
pub fn scan_against_the_first() -> Analysis {
    let samples = scan(&SIZES[..4], &["make -j {n}"], 14, |c, _| 4.0 / size(c) + 0.3, |_, _| 0);
    analysed(&samples)
}

/// Three commands, two parameters, one of them no number.
pub fn scan_of_three() -> Analysis {
    let combinations: Vec<Vec<(&str, &str)>> = ["text", "log"]
        .into_iter()
        .flat_map(|kind| ["10", "100", "1000"].map(|mb| vec![("kind", kind), ("mb", mb)]))
        .collect();
    let combinations: Vec<&[(&str, &str)]> = combinations.iter().map(Vec::as_slice).collect();
    let samples = scan(
        &combinations,
        &["gzip {kind} {mb}", "zstd {kind} {mb}", "lz4 {kind} {mb}"],
        16,
        |c, k| 0.02 * 10f64.powi((c % 3) as i32) * [1.0, 0.3, 0.995][k] * [1.0, 0.7][c / 3],
        |c, _| c * 3,
    );
    analysed(&samples)
}

/// Two commands that have values of their own.
pub fn scan_of_own_values() -> Analysis {
    let mut samples = scan(
        &SIZES[..4],
        &["./tree", "./list"],
        16,
        |c, k| if k == 0 { 0.006 * size(c) } else { 0.003 * size(c).powf(1.5) },
        |c, _| c * 2,
    );
    for (index, subject) in samples.subjects.iter_mut().enumerate() {
        let value = if index % 2 == 0 { 1000 << (index / 2) } else { 10 << (index / 2) };
        subject.name = format!("{} {value}", ["./tree", "./list"][index % 2]);
        subject.command = Some(subject.name.clone());
        subject.parameters = vec![("n".to_owned(), value.to_string())];
    }
    analysed(&samples)
}

/// A run, and a scan, that were gone on with although a program was no longer the same.
pub fn mixed() -> Analysis {
    let mut samples = Recipe::of(&["sort-old", "sort-new"], &[1.0, 0.974], 0.02, 42).samples();
    samples.findings.push(gone_on_with_another());
    analysed(&samples)
}

pub fn scan_mixed() -> Analysis {
    let mut samples = scan_of_two_samples();
    samples.findings.push(gone_on_with_another());
    analysed(&samples)
}

fn gone_on_with_another() -> Finding {
    let message = "what was gone on with was not the same: sort-new: its file has changed";
    Finding::new("RESUMED_DIFFERENT", Severity::Serious, message)
        .next("measure anew: the blocks before and after are not one experiment")
}

/// A scan of two whose primary metric is a rate: more is better. The second has more of it from four on.
pub fn scan_of_rates() -> Analysis {
    let whole = scan_of_two_samples();
    let rate = Metric { better: Better::Higher, ..Metric::lower("rate", Unit::PerSecond) };
    let mut samples = Samples::new(vec![rate]);
    samples.subjects = whole.subjects.clone();
    samples.plan = whole.plan.clone();
    samples.plan.as_mut().unwrap().primary = "rate".to_owned();
    samples.stop = whole.stop;
    for mut o in whole.observations() {
        o.values = vec![1000.0 / o.values[0]];
        samples.push(o);
    }
    analysed(&samples)
}

/// A scan of two with its memory decided beside it, cut short.
pub fn scan_beside() -> Analysis {
    let whole = scan_of_two_samples();
    let mut samples = Samples::new(whole.metrics.clone());
    samples.subjects = whole.subjects.clone();
    samples.plan = whole.plan.clone();
    samples.plan.as_mut().unwrap().beside = vec!["max_rss".to_owned()];
    samples.stop = Some(StopReason::Interrupted);
    whole.observations().take(12 * 4).for_each(|o| samples.push(o));
    analysed(&samples)
}

/// Two commands with metrics named beside the primary one.
pub fn beside() -> Analysis {
    beside_of(&["sort-old", "sort-new"], &[1.0, 0.974])
}

pub fn beside_of_three() -> Analysis {
    beside_of(&["sort-old", "sort-new", "sort-other"], &[1.0, 0.974, 1.003])
}

fn beside_of(names: &[&'static str], factors: &[f64]) -> Analysis {
    let whole = Recipe::of(names, factors, 0.02, 42).samples();
    let mut samples = whole.clone();
    let inner = samples.add_metric(Metric::lower("inner", Unit::Second));
    let share = Metric { better: Better::Higher, ..Metric::lower("cpu_per_wall", Unit::One) };
    let share = samples.add_metric(share);
    let mut with = Samples::new(samples.metrics.clone());
    with.subjects = samples.subjects.clone();
    with.stop = samples.stop;
    with.plan = samples.plan.clone();
    with.plan.as_mut().unwrap().beside =
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

/// Every fixture with its name.
pub fn all() -> Vec<(&'static str, Analysis)> {
    vec![
        ("faster", faster()),
        ("four_times", four_times()),
        ("four_times_slower", four_times_slower()),
        ("equivalent", equivalent()),
        ("inconclusive", inconclusive()),
        ("inconclusive_fixed", inconclusive_fixed()),
        ("hopeless", hopeless()),
        ("too_few", too_few()),
        ("qualified", qualified()),
        ("three", three()),
        ("alone", alone()),
        ("alone_with_one_value", alone_with_one_value()),
        ("unpaired", unpaired()),
        ("unpaired_generic", unpaired_generic()),
        ("unpaired_higher", unpaired_higher()),
        ("unpaired_too_few", unpaired_too_few()),
        ("too_dependent", too_dependent()),
        ("zeros", zeros()),
        ("absolute_threshold", absolute_threshold()),
        ("timeouts_and_failures", timeouts_and_failures()),
        ("all_equal", all_equal()),
        ("wandering", wandering()),
        ("less_memory", less_memory()),
        ("disturbed", disturbed()),
        ("scan_of_one", scan_of_one()),
        ("scan_of_two", scan_of_two()),
        ("scan_of_three", scan_of_three()),
        ("scan_against_the_first", scan_against_the_first()),
        ("scan_beside", scan_beside()),
        ("scan_of_own_values", scan_of_own_values()),
        ("scan_of_rates", scan_of_rates()),
        ("mixed", mixed()),
        ("scan_mixed", scan_mixed()),
        ("scan_of_words", scan_of_words()),
        ("scan_too_short", scan_too_short()),
        ("every_test", every_test()),
        ("every_test_of_constants", every_test_of_constants()),
        ("beside", beside()),
        ("beside_of_three", beside_of_three()),
    ]
}

/// All keys of an object and of what is in it.
pub fn keys_of(value: &serde_json::Value) -> Vec<String> {
    use serde_json::Value;
    match value {
        Value::Object(map) => {
            map.iter().flat_map(|(key, v)| [vec![key.clone()], keys_of(v)].concat()).collect()
        }
        Value::Array(items) => items.iter().flat_map(keys_of).collect(),
        _ => Vec::new(),
    }
}

/// A suite of two sides: benchmarks that differ, that do not, that are too few, that one side lacks; a counter beside.
pub fn suite() -> assay_analysis::Benchmarks {
    suite_adjusted(assay_analysis::benchmarks::Adjust::Holm)
}

pub fn suite_adjusted(adjust: assay_analysis::benchmarks::Adjust) -> assay_analysis::Benchmarks {
    let metrics = vec![Metric::wall(), Metric::lower("allocations", Unit::One)];
    let mut samples = Samples::new(metrics);
    let rows = [
        ("copy/n:2", 2e-7, 0.8, 12, [8.0, 6.0]),
        ("copy/n:16", 3e-6, 0.9, 12, [64.0, 64.0]),
        ("sort", 4e-3, 1.25, 12, [1.0, 1.0]),
        ("read_a_file_whose_name_is_really_very_long", 5e-4, 1.0, 12, [3.0, 3.0]),
        ("close", 5e-6, 1.012, 12, [3.0, 4.0]),
        ("once", 1e-3, 1.1, 1, [3.0, 3.0]),
        ("gone", 1e-3, f64::NAN, 12, [3.0, 3.0]),
    ];
    for (side, place) in [("old", 0), ("new", 1)] {
        for (index, (name, seconds, factor, count, counts)) in rows.into_iter().enumerate() {
            let factor = if place == 1 { factor } else { 1.0 };
            if factor.is_nan() {
                continue;
            }
            let parameters = name.split_once("/n:").map(|(_, n)| ("n".to_owned(), n.to_owned()));
            let subject = samples.add(Subject {
                name: format!("{side}: {name}"),
                label: name.split('/').next().map(str::to_owned),
                parameters: parameters.into_iter().collect(),
                benchmark: Some(name.to_owned()),
                side: Some(side.to_owned()),
                ..Subject::default()
            });
            for number in 0..count {
                let own = 1.0 + 0.004 * noise(index * 2 + place, number);
                samples.push(Observation {
                    subject,
                    values: vec![seconds * factor * own, counts[place]],
                    ..Observation::default()
                });
            }
        }
    }
    samples.environment.set("recorded_by", "google-benchmark 1.7");
    samples.environment.set("library_build_type", "release");
    samples.environment.set("library_build_type@new", "debug");
    assay_analysis::benchmarks::analyse(&samples, &Options::default(), adjust, None).unwrap()
}
