//! What the slices of a load test come to together: counts added up, histograms merged exactly,
//! second by second and whole. It describes; intervals and verdicts come from the values of the
//! slices, which are what is independent of each other.

use assay_data::samples::Buckets;
use assay_data::{Histogram, Samples};
use std::collections::BTreeMap;

/// What came of all requests of one subject.
#[derive(Clone, Debug, PartialEq)]
pub struct Answers {
    /// Index of the subject.
    pub subject: usize,
    /// Slices.
    pub slices: usize,
    /// Counts of the parts that count, by name: `due`, `answered`, `failed`, `failed.timeout`,
    /// `status.200`, …
    pub counts: BTreeMap<String, u64>,
    /// Latencies of what was answered.
    pub latency: Histogram,
    /// Service times of it: from the sending, not from the due moment.
    pub service: Histogram,
    /// Slice by slice, in their order.
    pub by_slice: Vec<SliceOf>,
    /// Second by second from the start of a slice, its settling part included.
    pub seconds: Vec<SecondOf>,
}

/// Outcome of the requests of one slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SliceOf {
    /// Its block.
    pub block: u32,
    /// Answered.
    pub answered: u64,
    /// Failed.
    pub failed: u64,
}

/// The same second of all slices together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SecondOf {
    /// Answered.
    pub answered: u64,
    /// Failed.
    pub failed: u64,
    /// Latencies within which the shares [`SHARES`] of the answered were, s; NaN where nothing was.
    pub latency: [f64; 3],
}

/// The shares of which every second has the latency.
pub const SHARES: [f64; 3] = [0.5, 0.9, 0.99];

impl Answers {
    /// No answers of a subject.
    pub(crate) fn empty(subject: usize) -> Self {
        Self {
            subject,
            slices: 0,
            counts: BTreeMap::new(),
            latency: Histogram::default(),
            service: Histogram::default(),
            by_slice: Vec::new(),
            seconds: Vec::new(),
        }
    }

    /// A count; 0 where nothing of that name was counted.
    pub fn count(&self, name: &str) -> u64 {
        self.counts.get(name).copied().unwrap_or(0)
    }

    /// Why requests failed, by name, with how many, the most first.
    pub fn failures(&self) -> Vec<(&str, u64)> {
        let mut found: Vec<(&str, u64)> = self
            .counts
            .iter()
            .filter_map(|(name, &count)| Some((name.strip_prefix("failed.")?, count)))
            .collect();
        found.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        found
    }

    /// The time within which a share of all requests was answered, s; `None`: that share never was.
    pub fn within(&self, share: f64) -> Option<f64> {
        self.latency.quantile_seconds(share, self.count("failed"))
    }
}

/// What came of the requests of every subject that has any; nothing for what is no load test.
/// O(histograms).
pub fn of(samples: &Samples) -> Vec<Answers> {
    let mut found: BTreeMap<usize, Answers> = BTreeMap::new();
    // What a search only tried is not what was found.
    for own in samples.counts.iter().filter(|own| own.rate.is_none()) {
        let answers = found.entry(own.subject).or_insert_with(|| Answers::empty(own.subject));
        let Some(second) = own.second else {
            answers.slices += 1;
            let count = |name: &str| own.counts.get(name).copied().unwrap_or(0);
            let (answered, failed) = (count("answered"), count("failed"));
            answers.by_slice.push(SliceOf { block: own.block, answered, failed });
            for (name, count) in &own.counts {
                let sum = answers.counts.entry(name.clone()).or_default();
                *sum = if name.starts_with("most_") { *count.max(sum) } else { *sum + count };
            }
            continue;
        };
        let of = |name: &str| own.counts.get(name).copied().unwrap_or(0);
        let second = answers.second(second);
        second.answered += of("answered");
        second.failed += of("failed");
    }
    let mut seconds: Vec<&Buckets> = Vec::new();
    for own in samples.histograms.iter().filter(|own| own.rate.is_none()) {
        // What can't be read was refused when the file was.
        let Ok(histogram) = Histogram::decoded(&own.v2) else { continue };
        let answers = found.entry(own.subject).or_insert_with(|| Answers::empty(own.subject));
        match (own.of.as_str(), own.second) {
            ("latency", None) => answers.latency.add(&histogram),
            ("service", None) => answers.service.add(&histogram),
            ("latency", Some(_)) => seconds.push(own),
            _ => {}
        }
    }
    // One at a time: a histogram is large, and a test may have lasted for hours.
    seconds.sort_by_key(|own| (own.subject, own.second));
    for same in seconds.chunk_by(|a, b| (a.subject, a.second) == (b.subject, b.second)) {
        let mut sum = Histogram::default();
        let read = same.iter().filter_map(|own| Histogram::decoded(&own.v2).ok());
        read.for_each(|histogram| sum.add(&histogram));
        let [first, ..] = same else { continue };
        if let (Some(answers), Some(second)) = (found.get_mut(&first.subject), first.second) {
            let within = |share| sum.quantile_seconds(share, 0).unwrap_or(f64::NAN);
            answers.second(second).latency = SHARES.map(within);
        }
    }
    found.values_mut().for_each(|own| own.by_slice.sort_by_key(|slice| slice.block));
    found.into_values().collect()
}

/// More seconds of a slice than a day has are not drawn.
const MOST_SECONDS: u32 = 86_400;

impl Answers {
    fn second(&mut self, number: u32) -> &mut SecondOf {
        let number = number.min(MOST_SECONDS) as usize;
        if self.seconds.len() <= number {
            let none = SecondOf { answered: 0, failed: 0, latency: [f64::NAN; 3] };
            self.seconds.resize(number + 1, none);
        }
        &mut self.seconds[number]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_data::samples::Counts;

    #[test]
    fn slices_add_up_and_failures_are_never_within() {
        let mut samples = Samples::default();
        samples.add_subject("a");
        for block in 0..2 {
            let counts = [
                ("due", 10),
                ("answered", 9),
                ("failed", 1),
                ("failed.timeout", 1),
                ("most_open", 4 + u64::from(block)),
            ];
            let counts = counts.map(|(name, count)| (name.to_owned(), count)).into();
            samples.counts.push(Counts { block, counts, ..Counts::default() });
            let mut histogram = Histogram::default();
            (1..=9).for_each(|i| histogram.record(i * 1_000_000));
            for second in [None, Some(1)] {
                let of = "latency".to_owned();
                let v2 = histogram.encoded();
                samples.histograms.push(Buckets { block, of, second, v2, ..Buckets::default() });
            }
        }
        let found = of(&samples);
        let [answers] = found.as_slice() else { unreachable!("one subject") };
        assert_eq!((answers.slices, answers.count("due"), answers.count("most_open")), (2, 20, 5));
        assert_eq!(answers.failures(), [("timeout", 2)]);
        assert!(answers.within(0.5).is_some_and(|s| (s - 0.005).abs() < 1e-5));
        assert_eq!(answers.within(0.95), None);
        assert_eq!(answers.seconds.len(), 2);
        assert!((answers.seconds[1].latency[0] - 0.005).abs() < 1e-5);
        assert!(of(&Samples::default()).is_empty());
    }
}
