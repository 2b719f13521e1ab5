//! Scans: commands over values of parameters.

use super::{analysed, gone_on_with_another, noise, quiet_machine, same_subjects};
use assay_analysis::Analysis;
use assay_data::{
    Better, Metric, Observation, Plan, Samples, Side, StopReason, Subject, Threshold, Unit,
};

/// Returns a scan with every command at each value of the parameters; `seconds` gives the time by
/// combination and command.
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
    for template in commands {
        samples.add_side(Side { name: (*template).to_owned(), ..Side::default() });
    }
    samples.row_named("");
    for (combination, parameters) in combinations.iter().enumerate() {
        for (command, template) in commands.iter().enumerate() {
            let fill = |name: String, (p, v): &(&str, &str)| name.replace(&format!("{{{p}}}"), v);
            let name = parameters.iter().fold((*template).to_owned(), fill);
            let parameters = parameters.iter().map(|&(p, v)| (p.to_owned(), v.into()));
            samples.add(Subject {
                side: command,
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

/// Returns two commands over six values: the second starts slower and grows less.
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

/// Returns one command over six values, with a constant startup cost.
pub fn scan_of_one() -> Analysis {
    let mut samples =
        scan(&SIZES, &["./work --size {n}"], 20, |c, _| 0.02 + 0.006 * size(c), |c, _| c);
    samples.stop = Some(StopReason::Until);
    samples.plan.as_mut().unwrap().until = Some("width < 1%".to_owned());
    analysed(&samples)
}

/// Returns one command over three words, each without comparison; and over three numbers, in too
/// few blocks.
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

/// Returns one command, with every value compared with the first.
pub fn scan_against_the_first() -> Analysis {
    let samples = scan(&SIZES[..4], &["make -j {n}"], 14, |c, _| 4.0 / size(c) + 0.3, |_, _| 0);
    analysed(&samples)
}

/// Returns three commands and two parameters, one of them not numeric.
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

/// Returns two commands with values of their own.
pub fn scan_of_own_values() -> Analysis {
    let mut samples = scan(
        &SIZES[..4],
        &["./tree {n}", "./list {n}"],
        16,
        |c, k| if k == 0 { 0.006 * size(c) } else { 0.003 * size(c).powf(1.5) },
        |c, _| c * 2,
    );
    for (index, subject) in samples.subjects.iter_mut().enumerate() {
        let value = if index % 2 == 0 { 1000 << (index / 2) } else { 10 << (index / 2) };
        subject.name = format!("{} {value}", ["./tree", "./list"][index % 2]);
        subject.command = Some(subject.name.clone());
        subject.parameters = vec![("n".to_owned(), value.to_string().into())];
    }
    analysed(&samples)
}

pub fn scan_mixed() -> Analysis {
    let mut samples = scan_of_two_samples();
    samples.findings.push(gone_on_with_another());
    analysed(&samples)
}

/// Returns a scan of two commands whose primary metric is a rate, where more is better. The second
/// has the higher rate from the value four.
pub fn scan_of_rates() -> Analysis {
    let whole = scan_of_two_samples();
    let rate = Metric { better: Better::Higher, ..Metric::lower("rate", Unit::PerSecond) };
    let mut samples = Samples::new(vec![rate]);
    same_subjects(&mut samples, &whole);
    samples.plan = whole.plan.clone();
    samples.plan.as_mut().unwrap().primary = "rate".to_owned();
    samples.stop = whole.stop;
    for mut o in whole.observations() {
        o.values = vec![1000.0 / o.values[0]];
        samples.push(o);
    }
    analysed(&samples)
}

/// Returns an interrupted scan of two commands with memory as a secondary metric.
pub fn scan_secondary() -> Analysis {
    let whole = scan_of_two_samples();
    let mut samples = Samples::new(whole.metrics.clone());
    same_subjects(&mut samples, &whole);
    samples.plan = whole.plan.clone();
    samples.plan.as_mut().unwrap().secondary = vec!["max_rss".to_owned()];
    samples.stop = Some(StopReason::Interrupted);
    whole.observations().take(12 * 4).for_each(|o| samples.push(o));
    analysed(&samples)
}
