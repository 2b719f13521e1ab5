//! Aggregates the slices of a load test: counts are added and histograms merged exactly, by second
//! and in total. The result is descriptive; intervals and verdicts use the values of the slices,
//! which are independent.

use assay_data::samples::Buckets;
use assay_data::{Histogram, Samples};
use std::collections::BTreeMap;

/// Outcome of all requests of one subject.
#[derive(Clone, Debug, PartialEq)]
pub struct Answers {
    /// Index of the subject.
    pub subject: usize,
    /// Number of slices.
    pub slices: usize,
    /// Counts of the measured parts by name: `due`, `answered`, `failed`, `failed.timeout`,
    /// `status.200`, … They are sums over the slices, except for maxima, whose names begin with
    /// `most_`.
    pub counts: BTreeMap<String, u64>,
    /// Latencies of answered requests.
    pub latency: Histogram,
    /// Service times of answered requests, measured from sending the request, not from its due
    /// time.
    pub service: Histogram,
    /// Outcomes by slice, in order.
    pub by_slice: Vec<SliceOf>,
    /// Outcomes by second from the start of a slice, including its settling part.
    pub seconds: Vec<SecondOf>,
}

/// Outcome of the requests of one slice.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SliceOf {
    /// Block of the slice.
    pub block: u32,
    /// Number of answered requests.
    pub answered: u64,
    /// Number of failed requests.
    pub failed: u64,
    /// Number of failed requests that the server refused, broke off, or answered incorrectly. The
    /// others timed out or could not be sent.
    pub broken: u64,
    /// Time in seconds before the slice during which the idle server answered no request.
    pub silent_seconds: f64,
    /// Maximum lateness of the generator in seconds; `None` if not recorded.
    pub late_seconds: Option<f64>,
}

/// Outcome of one second, counted from the start of a slice, over all slices together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SecondOf {
    /// Number of answered requests.
    pub answered: u64,
    /// Number of failed requests.
    pub failed: u64,
    /// Latencies in seconds within which the shares [`SHARES`] of the answered requests were
    /// answered; NaN if there were none.
    pub latency: [f64; 3],
}

/// Kinds of failures that a busy machine may cause, or that the machine running this program
/// causes.
const WAITED: [&str; 5] = ["timeout", "connect_timeout", "tls_timeout", "no_port", "no_descriptor"];

/// Levels of the latency quantiles kept for every second.
pub const SHARES: [f64; 3] = [0.5, 0.9, 0.99];

impl Answers {
    /// Creates an empty outcome for a subject.
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

    /// Returns a count by its name; 0 if the name is unknown.
    pub fn count(&self, name: &str) -> u64 {
        self.counts.get(name).copied().unwrap_or(0)
    }

    /// Returns the kinds of failures with their counts, most frequent first.
    pub fn failures(&self) -> Vec<(&str, u64)> {
        let mut found: Vec<(&str, u64)> = self
            .counts
            .iter()
            .filter_map(|(name, &count)| Some((name.strip_prefix("failed.")?, count)))
            .collect();
        found.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        found
    }

    /// Returns the time in seconds within which this share of all requests was answered; `None` if
    /// too many of them failed.
    pub fn within(&self, share: f64) -> Option<f64> {
        self.latency.quantile_seconds(share, self.count("failed"))
    }
}

/// Returns the outcomes of every subject with requests; empty if this is not a load test.
/// O(histograms).
pub fn of(samples: &Samples) -> Vec<Answers> {
    let mut found: BTreeMap<usize, Answers> = BTreeMap::new();
    // Rates tried by a search do not count.
    for own in samples.counts.iter().filter(|own| own.rate.is_none()) {
        let answers = found.entry(own.subject).or_insert_with(|| Answers::empty(own.subject));
        let Some(second) = own.second else {
            answers.slices += 1;
            let count = |name: &str| own.counts.get(name).copied().unwrap_or(0);
            let (answered, failed) = (count("answered"), count("failed"));
            let waited: u64 = WAITED.iter().map(|way| count(&format!("failed.{way}"))).sum();
            answers.by_slice.push(SliceOf {
                block: own.block,
                answered,
                failed,
                broken: failed.saturating_sub(waited),
                silent_seconds: count("silent_ms") as f64 * 1e-3,
                late_seconds: None,
            });
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
    let mut late: BTreeMap<(usize, u32), f64> = BTreeMap::new();
    for own in samples.histograms.iter().filter(|own| own.rate.is_none()) {
        // Unreadable histograms are rejected when a file is read.
        let Ok(histogram) = Histogram::decoded(&own.v2) else { continue };
        let answers = found.entry(own.subject).or_insert_with(|| Answers::empty(own.subject));
        match (own.of.as_str(), own.second) {
            ("latency", None) => answers.latency.add(&histogram),
            ("service", None) => answers.service.add(&histogram),
            ("lateness", None) => {
                late.insert((own.subject, own.block), histogram.longest_seconds());
            }
            ("latency", Some(_)) => seconds.push(own),
            _ => {}
        }
    }
    // Merges one second at a time, since histograms are large and a test may last for hours.
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
    for own in found.values_mut() {
        own.by_slice.sort_by_key(|slice| slice.block);
        for slice in &mut own.by_slice {
            slice.late_seconds = late.get(&(own.subject, slice.block)).copied();
        }
    }
    found.into_values().collect()
}

/// Largest index of a plotted second: one day. Later seconds are added to it.
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
