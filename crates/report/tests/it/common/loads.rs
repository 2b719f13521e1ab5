//! Load tests: two servers at three rates; the second responds more slowly and can't keep up at the
//! highest rate.

use super::{noise, quiet_machine};
use assay_data::samples::{Buckets, Counts};
use assay_data::{
    Better, Histogram, Metric, Observation, Plan, Samples, Side, StopReason, Subject, Threshold,
    Unit,
};

/// Returns slices of two servers, `blocks` of them at each rate, of three seconds each.
pub fn load_samples(blocks: u32) -> Samples {
    let higher = |name: &str, unit| Metric { better: Better::Higher, ..Metric::lower(name, unit) };
    let mut samples = Samples::new(vec![
        Metric::lower("latency_p50", Unit::Second),
        Metric::lower("latency_p99", Unit::Second),
        higher("answered", Unit::One),
        higher("rate_achieved", Unit::PerSecond),
    ]);
    let plan = Plan::sequential(0.95, Threshold::default(), 7);
    samples.plan = Some(Plan { primary: "latency_p50".to_owned(), ..plan });
    samples.stop = Some(StopReason::Clear);
    samples.environment = quiet_machine();
    for name in ["unicorn", "thin"] {
        samples.add_side(Side { name: name.to_owned(), ..Side::default() });
    }
    samples.row_named("");
    const RATES: [u64; 3] = [50, 100, 200];
    for (step, rate) in RATES.into_iter().enumerate() {
        for (side, server) in ["unicorn", "thin"].into_iter().enumerate() {
            samples.add(Subject {
                side,
                name: format!("{server} rate={rate}"),
                parameters: vec![("rate".to_owned(), rate.to_string().into())],
                against: Some(2 * step),
                ..Subject::default()
            });
        }
    }
    for block in 0..blocks {
        for position in 0..6 {
            let subject = (position + block as usize * 5) % 6;
            let time = Some(f64::from(block) * 20.0 + position as f64 * 3.2);
            slice(&mut samples, (subject, block), time, RATES[subject / 2]);
        }
    }
    samples
}

/// Adds one slice: every tenth request takes ten times as long, and beyond 100/s one in 25 of the
/// second server's requests times out.
fn slice(samples: &mut Samples, (subject, block): (usize, u32), time: Option<f64>, rate: u64) {
    let usual = if subject % 2 == 0 { 20e-3 } else { 26e-3 } * (1.0 + 0.02 * noise(subject, block));
    let is_over = subject % 2 == 1 && rate > 100;
    let latency = |request: u64| {
        let spread = 1.0 + (request * 37 % 100) as f64 / 400.0;
        usual * spread * if request % 10 == 9 { 10.0 } else { 1.0 }
    };
    let mut whole = Histogram::default();
    let mut failed = 0;
    for second in 0..3 {
        let mut own = Histogram::default();
        let requests = (second * rate..(second + 1) * rate).filter(|request| {
            let fails = is_over && request % 25 == 0;
            failed += u64::from(fails);
            !fails
        });
        requests.for_each(|request| own.record((latency(request) * 1e9) as u64));
        whole.add(&own);
        let (answered, missed) = (own.count(), rate - own.count());
        let (number, v2) = (Some(second as u32), own.encoded());
        let counts = [("answered", answered), ("failed", missed), ("failed.timeout", missed)];
        add_counts(samples, (subject, block), number, &counts);
        let of = "latency".to_owned();
        samples.histograms.push(Buckets {
            subject,
            block,
            of,
            second: number,
            v2,
            ..Buckets::default()
        });
    }
    let all = 3 * rate;
    let counts =
        [("due", all), ("answered", all - failed), ("failed", failed), ("failed.timeout", failed)];
    add_counts(samples, (subject, block), None, &counts);
    for of in ["latency", "service"] {
        let (of, v2) = (of.to_owned(), whole.encoded());
        samples.histograms.push(Buckets { subject, block, of, v2, ..Buckets::default() });
    }
    let share = (all - failed) as f64 / all as f64;
    let within = |q| whole.quantile_seconds(q, failed).unwrap_or(5.0);
    samples.push(Observation {
        subject,
        block: Some(block),
        time,
        values: vec![within(0.5), within(0.99), share, rate as f64 * share],
        ..Observation::default()
    });
}

fn add_counts(
    samples: &mut Samples,
    (subject, block): (usize, u32),
    second: Option<u32>,
    counts: &[(&str, u64)],
) {
    let known = counts.iter().filter(|(name, count)| *count > 0 || *name == "failed");
    let counts = known.map(|&(name, count)| (name.to_owned(), count)).collect();
    samples.counts.push(Counts { subject, block, second, counts, ..Counts::default() });
}

/// Returns a search for the highest rate: two servers that sustain 97 and 60 requests per second,
/// with `blocks` searches each.
pub fn search_samples(blocks: u32) -> Samples {
    let capacity = Metric { better: Better::Higher, ..Metric::lower("capacity", Unit::PerSecond) };
    let mut samples = Samples::new(vec![capacity, Metric::lower("latency_p99", Unit::Second)]);
    samples.plan = Some(Plan {
        primary: "capacity".to_owned(),
        ..Plan::sequential(0.95, Threshold::default(), 7)
    });
    samples.stop = Some(StopReason::Clear);
    samples.environment = quiet_machine();
    samples.environment.set("load_goals", "p90<200ms, errors<0.1%");
    samples.row_named("");
    for (side, name) in ["unicorn", "thin"].into_iter().enumerate() {
        samples.add_side(Side { name: name.to_owned(), ..Side::default() });
        let (name, against) = (name.to_owned(), Some(0));
        samples.add(Subject { side, name, against, ..Subject::default() });
    }
    for block in 0..blocks {
        for subject in 0..2 {
            let held = [97.0, 60.0][subject] * (1.0 + 0.03 * noise(subject, block));
            for rate in [0.7, 1.4, 1.0, 1.2].map(|factor| factor * held) {
                let is_held = rate <= held;
                let mut times = Histogram::default();
                let usual = if is_held { 0.05 } else { 0.6 } * rate / held;
                (0..100)
                    .for_each(|k| times.record((usual * (1.0 + k as f64 / 200.0) * 1e9) as u64));
                let (of, v2, rate) = ("latency".to_owned(), times.encoded(), Some(rate));
                let failed = if is_held { 0 } else { 20 };
                let counts = [("answered", 100), ("failed", failed), ("held", u64::from(is_held))];
                let counts = counts.map(|(name, count)| (name.to_owned(), count)).into();
                samples.counts.push(Counts { subject, block, rate, counts, second: None });
                samples.histograms.push(Buckets {
                    subject,
                    block,
                    of,
                    rate,
                    v2,
                    second: None,
                    from: None,
                });
            }
            let counts = [("due", 100), ("answered", 100), ("failed", 0)];
            add_counts(&mut samples, (subject, block), None, &counts);
            let (block, values) = (Some(block), vec![held, 0.07]);
            samples.push(Observation { subject, block, values, ..Observation::default() });
        }
    }
    samples
}
