//! Summarizes many benchmarks by the geometric mean of their ratios, with its uncertainty.
//!
//! Each benchmark contributes the Hodges-Lehmann shift of the logarithms (for blocks, the
//! pseudo-median of the per-block log-ratios), so that a stall does not affect it; the mean of
//! these shifts is the logarithm of the geometric mean. There are two intervals for two questions.
//! The first is for *these benchmarks*: only the samples are random, so each sample is resampled.
//! The second is for *benchmarks of this kind*: the given benchmarks represent others, so the
//! benchmarks are resampled, with their effects as measured, which already include the variation of
//! their samples (Efron and Tibshirani, "An Introduction to the Bootstrap", chapter 8). Both are
//! percentile intervals; since a percentile interval from few benchmarks is too narrow, the second
//! is stretched by t/z · √(k/(k − 1)) about the estimate, and is never narrower than the first.
//! p-values of single benchmarks are adjusted by [`crate::adjust`].

use crate::resampling::Stream;
use crate::{Interval, descriptive, normal, signed_rank, student_t, two_sample};

/// The measurements of one benchmark, all positive.
#[derive(Clone, Copy, Debug)]
pub enum Benchmark<'a> {
    /// Two samples, recorded separately.
    Apart {
        /// Values of the reference, n ≥ 1.
        x: &'a [f64],
        /// Values of the other subject, n ≥ 1.
        y: &'a [f64],
    },
    /// Blocks in which both subjects were measured.
    Blocks {
        /// The ratio in each block, other over reference, n ≥ 1.
        ratios: &'a [f64],
    },
}

/// The logarithms of a benchmark's values, ascending.
enum Logs {
    Apart(Vec<f64>, Vec<f64>),
    Blocks(Vec<f64>),
}

impl Logs {
    /// Returns the logarithms of a benchmark's values, or `None` if a sample is empty or a value is
    /// not positive and finite.
    fn of(benchmark: &Benchmark<'_>) -> Option<Self> {
        let logs = |xs: &[f64]| {
            let usable = !xs.is_empty() && xs.iter().all(|x| x.is_finite() && *x > 0.0);
            let all = || xs.iter().map(|x| x.ln()).collect::<Vec<_>>();
            usable.then(|| descriptive::sorted(&all()))
        };
        match benchmark {
            Benchmark::Apart { x, y } => Some(Self::Apart(logs(x)?, logs(y)?)),
            Benchmark::Blocks { ratios } => logs(ratios).map(Self::Blocks),
        }
    }

    fn effect(&self) -> f64 {
        match self {
            Self::Apart(x, y) => two_sample::hodges_lehmann(x, y),
            Self::Blocks(ratios) => signed_rank::pseudo_median(ratios),
        }
    }

    fn resampled(&self, stream: &mut Stream) -> Self {
        match self {
            Self::Apart(x, y) => Self::Apart(resampled(x, stream), resampled(y, stream)),
            Self::Blocks(ratios) => Self::Blocks(resampled(ratios, stream)),
        }
    }
}

/// The geometric mean of ratios with its intervals.
#[derive(Clone, Debug, PartialEq)]
pub struct GeometricMean {
    /// The geometric mean of the benchmarks' ratios, other over reference.
    pub estimate: f64,
    /// The ratio of each benchmark, in the order given.
    pub ratios: Vec<f64>,
    /// The interval if only the samples, not the benchmarks, are random.
    pub of_these: Interval,
    /// The interval for benchmarks of this kind, or `None` if there is only one benchmark.
    pub of_such: Option<Interval>,
}

/// Computes the geometric mean of the ratios of `benchmarks` at `confidence` (in 0..1), with
/// `resamples` resamples.
///
/// Returns `None` if there are no benchmarks or no resamples, a sample is empty, a value is not
/// positive and finite, or the confidence is out of range. The same seed gives the same digits.
/// O(resamples · Σ (n + m) log(n + m)).
#[must_use]
pub fn geometric_mean(
    benchmarks: &[Benchmark<'_>],
    confidence: f64,
    resamples: usize,
    seed: u64,
) -> Option<GeometricMean> {
    if benchmarks.is_empty() || resamples == 0 || !(0.0..1.0).contains(&confidence) {
        return None;
    }
    let of_logs = benchmarks.iter().map(Logs::of).collect::<Option<Vec<Logs>>>()?;
    let effects: Vec<f64> = of_logs.iter().map(Logs::effect).collect();
    let estimate = descriptive::mean(&effects);
    let count = benchmarks.len();
    let (mut these, mut such) = (Vec::new(), Vec::new());
    for number in 0..resamples {
        let mut stream = Stream::new(seed, number as u64);
        let drawn: Vec<f64> =
            of_logs.iter().map(|logs| logs.resampled(&mut stream).effect()).collect();
        these.push(descriptive::mean(&drawn));
        // Benchmarks are resampled with their effects as measured, since those already include the
        // variation of their samples; resampling the samples as well would count it twice.
        let sum: f64 = (0..count).map(|_| effects[stream.next_index(count)]).sum();
        such.push(sum / count as f64);
    }
    let of_these = percentiles(these, confidence);
    let of_such = (count > 1).then(|| {
        let k = count as f64;
        let stretch = student_t::two_sided(confidence, k - 1.0) / normal::two_sided(confidence)
            * (k / (k - 1.0)).sqrt();
        let found = percentiles(such, confidence);
        let stretched = Interval {
            lower: estimate + (found.lower - estimate) * stretch,
            upper: estimate + (found.upper - estimate) * stretch,
        };
        // The interval for benchmarks of this kind must be at least as wide as that for these
        // benchmarks.
        Interval {
            lower: stretched.lower.min(of_these.lower),
            upper: stretched.upper.max(of_these.upper),
        }
    });
    let exp = |i: Interval| Interval { lower: i.lower.exp(), upper: i.upper.exp() };
    Some(GeometricMean {
        estimate: estimate.exp(),
        ratios: effects.iter().map(|effect| effect.exp()).collect(),
        of_these: exp(of_these),
        of_such: of_such.map(exp),
    })
}

/// Draws as many values as given, with replacement, and returns them in ascending order. Draws are
/// counted per value, so that no sorting is needed.
fn resampled(sorted: &[f64], stream: &mut Stream) -> Vec<f64> {
    let mut counts = vec![0_u32; sorted.len()];
    sorted.iter().for_each(|_| counts[stream.next_index(sorted.len())] += 1);
    sorted
        .iter()
        .zip(counts)
        .flat_map(|(&value, count)| std::iter::repeat_n(value, count as usize))
        .collect()
}

fn percentiles(mut found: Vec<f64>, confidence: f64) -> Interval {
    found.sort_unstable_by(f64::total_cmp);
    let tail = (1.0 - confidence) / 2.0;
    let at = |p: f64| descriptive::quantile_sorted(&found, p);
    Interval { lower: at(tail), upper: at(1.0 - tail) }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Samples = (Vec<f64>, Vec<f64>);

    /// Benchmarks whose true log-ratios are drawn with a mean of 0.1 and the standard deviation
    /// `among`; also returns the actual mean of these.
    fn suite(number: u64, count: usize, among: f64) -> (Vec<Samples>, f64) {
        let mut stream = Stream::new(70, number);
        let mut truth = 0.0;
        let pairs = (0..count)
            .map(|_| {
                let effect = 0.1 + among * stream.normal();
                truth += effect / count as f64;
                let scale = 1.0 + 100.0 * stream.uniform();
                let mut values = |shift: f64| -> Vec<f64> {
                    (0..20).map(|_| scale * (shift + 0.05 * stream.normal()).exp()).collect()
                };
                (values(0.0), values(effect))
            })
            .collect();
        (pairs, truth)
    }

    fn mean_of(pairs: &[Samples], seed: u64) -> GeometricMean {
        let pairs: Vec<Benchmark<'_>> =
            pairs.iter().map(|(x, y)| Benchmark::Apart { x, y }).collect();
        geometric_mean(&pairs, 0.95, 199, seed).unwrap()
    }

    #[test]
    fn each_interval_holds_what_it_is_about() {
        let (mut these, mut such, mut wrong) = (0, 0, 0);
        for number in 0..250 {
            let (pairs, truth) = suite(number, 8, 0.1);
            let found = mean_of(&pairs, number);
            these += u32::from(found.of_these.contains(truth.exp()));
            such += u32::from(found.of_such.unwrap().contains(0.1_f64.exp()));
            wrong += u32::from(found.of_these.contains(0.1_f64.exp()));
        }
        assert!((222..=246).contains(&these), "{these}");
        assert!((225..=247).contains(&such), "{such}");
        assert!(wrong < 150, "{wrong}");
    }

    #[test]
    fn swapping_all_pairs_inverts_the_mean() {
        let (pairs, _) = suite(3, 5, 0.2);
        let swapped: Vec<_> = pairs.iter().map(|(x, y)| (y.clone(), x.clone())).collect();
        let (one, other) = (mean_of(&pairs, 1), mean_of(&swapped, 1));
        assert!((one.estimate * other.estimate - 1.0).abs() < 1e-12);
        assert!(one.of_these.contains(one.estimate) && one.of_such.unwrap().contains(one.estimate));
    }

    #[test]
    fn the_same_seed_gives_the_same_digits_and_a_single_one_stands_for_no_others() {
        let (pairs, _) = suite(4, 1, 0.0);
        assert_eq!(mean_of(&pairs, 9), mean_of(&pairs, 9));
        assert_eq!(mean_of(&pairs, 9).of_such, None);
        assert_eq!(mean_of(&pairs, 9).ratios.len(), 1);
    }

    #[test]
    fn values_without_a_ratio_are_refused() {
        let with = |x: &[f64], y: &[f64]| geometric_mean(&[Benchmark::Apart { x, y }], 0.95, 10, 1);
        assert_eq!(with(&[0.0], &[1.0]), None);
        assert_eq!(with(&[], &[1.0]), None);
        assert_eq!(with(&[f64::NAN], &[1.0]), None);
        assert_eq!(geometric_mean(&[], 0.95, 10, 1), None);
        assert!(with(&[2.0], &[1.0]).is_some_and(|found| found.estimate == 0.5));
    }

    #[test]
    fn percentiles_are_those_of_the_sorted_values() {
        let found = percentiles((0..101).rev().map(f64::from).collect(), 0.9);
        assert!((found.lower - 5.0).abs() < 1e-9 && (found.upper - 95.0).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn two_benchmarks_that_disagree_say_little_of_such_ones() {
        // One unchanged and one four times as slow, both without noise.
        let (one, four) = ([1.0; 5], [4.0; 5]);
        let both = [Benchmark::Blocks { ratios: &one }, Benchmark::Blocks { ratios: &four }];
        let found = geometric_mean(&both, 0.95, 100, 1).unwrap();
        let such = found.of_such.unwrap();
        assert!(
            (found.of_these.lower - 2.0).abs() < 1e-12
                && (found.of_these.upper - 2.0).abs() < 1e-12
        );
        assert!(such.lower < 0.1 && such.upper > 40.0, "{such:?}");
        // A single resample is valid.
        let found = geometric_mean(&both, 0.95, 1, 1).unwrap();
        assert!((found.of_these.lower - 2.0).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn a_resample_is_as_long_as_the_sample_and_in_order() {
        let xs: Vec<f64> = (0..40).map(f64::from).collect();
        let drawn = resampled(&xs, &mut Stream::new(3, 0));
        assert!(
            drawn.len() == 40 && drawn.windows(2).all(|pair| pair[0] <= pair[1]) && drawn != xs
        );
    }
}
