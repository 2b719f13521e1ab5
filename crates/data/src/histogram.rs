//! Histograms of times in the layout of HdrHistogram. They hold any number of values in constant
//! memory, each accurate to 0.1 %. Histograms of several threads, processes and machines add up
//! exactly, bucket by bucket.
//!
//! Source: G. Tene, HdrHistogram (hdrhistogram.org), whose V2 encoding is used for writing. Nothing
//! is decided here.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use hdrhistogram::Histogram as Buckets;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer, V2Serializer};

/// Shortest time distinguished from zero, in ns.
const LOWEST: u64 = 1_000;
/// Longest recorded time, in ns: one hour. Longer times are counted as one hour.
const HIGHEST: u64 = 3_600_000_000_000;
/// Number of significant decimal digits.
const DIGITS: u8 = 3;

/// A histogram of times from 1 µs to an hour.
#[derive(Clone, PartialEq)]
pub struct Histogram {
    buckets: Buckets<u64>,
}

/// The reason why a histogram could not be decoded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a histogram in HdrHistogram's V2 encoding: {0}")]
pub struct HistogramError(String);

impl std::fmt::Debug for Histogram {
    /// Writes only the number of counted times, because there are thousands of buckets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Histogram of {}", self.count())
    }
}

impl Default for Histogram {
    fn default() -> Self {
        // The bounds are valid, so the library accepts them.
        // Note: the bounds are fixed, because only equal buckets add up exactly.
        let buckets = Buckets::new_with_bounds(LOWEST, HIGHEST, DIGITS);
        Self { buckets: buckets.unwrap_or_else(|_| unreachable!("right bounds")) }
    }
}

impl Histogram {
    /// Counts one time, in ns. O(1).
    pub fn record(&mut self, nanoseconds: u64) {
        self.buckets.saturating_record(nanoseconds);
    }

    /// Adds all counts of `other`. The result is exact, because both have the same buckets.
    pub fn add(&mut self, other: &Self) {
        // Cannot fail, because both histograms have the same bounds.
        let _never = self.buckets.add(&other.buckets);
    }

    /// Removes all counts.
    pub fn clear(&mut self) {
        self.buckets.reset();
    }

    /// Returns the number of counted times.
    pub fn count(&self) -> u64 {
        self.buckets.len()
    }

    /// Returns the mean in seconds, or NaN if nothing was counted.
    pub fn mean_seconds(&self) -> f64 {
        if self.count() == 0 { f64::NAN } else { self.buckets.mean() / 1e9 }
    }

    /// Returns the longest time in seconds, to the precision of its bucket, or NaN if nothing was
    /// counted.
    pub fn longest_seconds(&self) -> f64 {
        if self.count() == 0 { f64::NAN } else { seconds(self.buckets.max()) }
    }

    /// Returns the quantile of order `share`, in seconds, where `beyond` further times are known
    /// only to be longer than every counted one. Returns `None` if the quantile is one of these,
    /// and NaN if there are no times at all. The rank is `share` times the total number of times,
    /// rounded up (type 1 of Hyndman and Fan, 1996).
    pub fn quantile_seconds(&self, share: f64, beyond: u64) -> Option<f64> {
        let all = self.count() + beyond;
        if all == 0 {
            return Some(f64::NAN);
        }
        let rank = ((share * all as f64).ceil() as u64).clamp(1, all);
        if rank > self.count() {
            return None;
        }
        let mut below = 0;
        for step in self.buckets.iter_recorded() {
            below += step.count_since_last_iteration();
            if below >= rank {
                return Some(seconds(self.buckets.median_equivalent(step.value_iterated_to())));
            }
        }
        Some(self.longest_seconds())
    }

    /// Returns the middle of each nonempty bucket, in seconds, with its count.
    pub fn recorded(&self) -> Vec<(f64, u64)> {
        let of = |step: hdrhistogram::iterators::IterationValue<u64>| {
            let middle = self.buckets.median_equivalent(step.value_iterated_to());
            (seconds(middle), step.count_at_value())
        };
        self.buckets.iter_recorded().map(of).collect()
    }

    /// Returns the histogram in HdrHistogram's V2 encoding, compressed and in base64, as in a line
    /// of a histogram log.
    pub fn encoded(&self) -> String {
        let mut bytes = Vec::new();
        // Writing to memory does not fail.
        let _written = V2DeflateSerializer::new().serialize(&self.buckets, &mut bytes);
        BASE64.encode(&bytes)
    }

    /// Like [`Self::encoded`], but returns uncompressed bytes, for a pipe between processes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let _written = V2Serializer::new().serialize(&self.buckets, &mut bytes);
        bytes
    }

    /// Decodes the output of [`Self::encoded`], or any other histogram in that encoding.
    ///
    /// # Errors
    /// Returns an error if `text` is not a histogram in that encoding.
    pub fn decoded(text: &str) -> Result<Self, HistogramError> {
        let bytes = BASE64.decode(text.trim());
        let bytes = bytes.map_err(|error| HistogramError(error.to_string()))?;
        Self::from_bytes(&bytes)
    }

    /// Decodes the output of [`Self::to_bytes`].
    ///
    /// # Errors
    /// Returns an error if `bytes` are not a histogram in that encoding.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, HistogramError> {
        let read = Deserializer::new().deserialize::<u64, _>(&mut &*bytes);
        let read = read.map_err(|error| HistogramError(error.to_string()))?;
        let mut own = Self::default();
        // The other histogram may have different bounds, so its values are counted anew.
        for step in read.iter_recorded() {
            own.buckets.saturating_record_n(step.value_iterated_to(), step.count_at_value());
        }
        Ok(own)
    }
}

fn seconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: impl IntoIterator<Item = u64>) -> Histogram {
        let mut histogram = Histogram::default();
        values.into_iter().for_each(|value| histogram.record(value));
        histogram
    }

    #[test]
    fn quantiles_are_within_a_thousandth_and_count_what_never_came() {
        let histogram = of((1..=1000).map(|ms| ms * 1_000_000));
        let within = |share, beyond, truth: f64| {
            let found = histogram.quantile_seconds(share, beyond).expect("known");
            assert!((found / truth - 1.0).abs() < 1e-3, "{share}: {found} for {truth}");
        };
        within(0.5, 0, 0.5);
        within(0.99, 0, 0.99);
        within(1.0, 0, 1.0);
        // If as many further ones were never answered, the median is the longest counted time.
        within(0.5, 1000, 1.0);
        assert_eq!(histogram.quantile_seconds(0.51, 1000), None);
        assert!(Histogram::default().quantile_seconds(0.5, 0).is_some_and(f64::is_nan));
    }

    #[test]
    fn parts_add_up_bucket_for_bucket_and_survive_their_encodings() {
        let values: Vec<u64> = (0..10_000_u64).map(|i| i * i * 37 % 5_000_000_000).collect();
        let whole = of(values.iter().copied());
        let mut sum = Histogram::default();
        for part in 0..4 {
            let part = of(values.iter().copied().skip(part).step_by(4));
            sum.add(&Histogram::from_bytes(&part.to_bytes()).expect("read"));
        }
        assert_eq!(sum.recorded(), whole.recorded());
        assert_eq!(
            Histogram::decoded(&whole.encoded()).expect("read").recorded(),
            whole.recorded()
        );
        assert!(Histogram::decoded("no histogram").is_err());
        assert!(Histogram::decoded("HISTFAAAAAAA").is_err());
    }
}
