//! The interval for a shift between two samples with unequal spread, which consists of all shifts
//! that Brunner and Munzel's test does not reject.
//!
//! The placements are recomputed at every shift ("The nonparametric Behrens-Fisher problem", 2000),
//! unlike in [`placement_interval`](super::placement_interval), which computes them once at the
//! estimate. With few values, placements at the estimate give intervals that are too narrow, or
//! none at strict levels. Unlike in the source, each variance is multiplied by the autocorrelation
//! time τ of its sample, and the degrees of freedom are those of n/τ values. No such formula
//! accounts for slow drift between the two recordings.

use super::brunner_munzel::Placements;
use super::differences;
use crate::{Interval, normal, sorting, student_t};

impl Placements {
    /// Returns true if the test does not reject that the samples are alike: under the null
    /// hypothesis, the probability of at least this distance is at least `tail` on either side,
    /// with normal quantile `z`.
    fn accepts(
        &self,
        (n, tau_x): (f64, f64),
        (m, tau_y): (f64, f64),
        (tail, z): (f64, f64),
    ) -> bool {
        let vx = self.of_x * tau_x / (m * m * n);
        let vy = self.of_y * tau_y / (n * n * m);
        let all = vx + vy;
        let off = (self.mean_y / n - 0.5).abs();
        if all <= 0.0 {
            return off == 0.0;
        }
        // The minimum effective size is one value, which leaves hardly any degrees of freedom.
        let free = |n: f64, tau: f64| (n / tau - 1.0).max(LEAST_FREEDOM);
        let df = all * all / (vx * vx / free(n, tau_x) + vy * vy / free(m, tau_y));
        // Student's t has heavier tails, so acceptance by the normal distribution is sufficient.
        // Otherwise a tail is computed, which takes a tenth of the time of a quantile.
        let t = off / all.sqrt();
        t <= z || student_t::cdf(-t, df) >= tail
    }
}

/// Up to this number of differences, all are sorted once instead of being searched each time.
const SORTED_UP_TO: u64 = 4096;
/// Degrees of freedom of a sample with an effective size of at most one.
const LEAST_FREEDOM: f64 = 0.5;

/// Returns the interval for the shift from `x` to `y` at `confidence` (in 0..1), from the first to
/// the last of the sorted differences between which the test accepts.
///
/// Each sample must be ascending and finite, with its autocorrelation time ≥ 1. Returns `None` for
/// fewer than two values on a side. Shifts without overlap of the samples are never accepted, so
/// there is an interval at any confidence; for few values the exact distribution of ranks must be
/// used in addition. The ends are found by bisection, assuming that the statistic decreases
/// monotonically with the shift. O((n + m) log²(n m)) typically.
#[must_use]
pub fn studentized_interval(
    (x, tau_x): (&[f64], f64),
    (y, tau_y): (&[f64], f64),
    confidence: f64,
) -> Option<Interval> {
    if x.len() < 2 || y.len() < 2 || !(0.0..1.0).contains(&confidence) {
        return None;
    }
    let matrix = differences(x, y)?;
    let sizes = ((x.len() as f64, tau_x), (y.len() as f64, tau_y));
    let pairs = matrix.len();
    let level = ((1.0 - confidence) / 2.0, normal::two_sided(confidence));
    // In a small matrix, a dozen searches cost more than sorting it once.
    let sorted = (pairs <= SORTED_UP_TO).then(|| {
        let mut all: Vec<f64> = x.iter().flat_map(|x| y.iter().map(move |y| y - x)).collect();
        sorting::sort(&mut all);
        all
    });
    let pair_at = |lower: u64, upper: u64| -> Option<[f64; 2]> {
        match &sorted {
            Some(all) => Some([*all.get(lower as usize - 1)?, *all.get(upper as usize - 1)?]),
            None => matrix.select_each(&[lower, upper])?.try_into().ok(),
        }
    };
    let mut shifted = y.to_vec();
    // Returns true if a shift with `below` differences under it is accepted. If the differences on
    // both sides of it are equal, there is no such shift, and their common value is tested.
    let mut accepts = |below: u64| -> Option<bool> {
        if below == 0 || below == pairs {
            return Some(false);
        }
        let [left, right] = pair_at(below, below + 1)?;
        let shift = f64::midpoint(left, right);
        shifted.iter_mut().zip(y).for_each(|(shifted, y)| *shifted = y - shift);
        Some(Placements::of(x, &shifted)?.accepts(sizes.0, sizes.1, level))
    };
    // Searches for the outermost accepted gaps, starting from the middle gap, which is accepted
    // unless nothing varies.
    let middle = pairs / 2;
    let mut outermost = |mut refused: u64| -> Option<u64> {
        let mut accepted = middle;
        while refused.abs_diff(accepted) > 1 {
            let between = u64::midpoint(refused, accepted);
            if accepts(between)? { accepted = between } else { refused = between }
        }
        Some(accepted)
    };
    let (lower, upper) = (outermost(0)?, outermost(pairs)?);
    // A gap extends from the difference below the shift to the one above it.
    let [lower, upper] = pair_at(lower.max(1), (upper + 1).min(pairs))?;
    Some(Interval { lower, upper })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::descriptive;
    use crate::resampling::Stream;
    use crate::two_sample::brunner_munzel;

    #[test]
    fn inside_the_interval_the_test_accepts_and_outside_it_rejects() {
        let mut stream = Stream::new(5, 0);
        for (n, m, spread) in [(5, 5, 1.0), (15, 5, 5.0), (24, 30, 0.2), (60, 40, 3.0)] {
            let mut sample = |n: usize, spread: f64| {
                descriptive::sorted(&(0..n).map(|_| spread * stream.normal()).collect::<Vec<_>>())
            };
            let (x, y) = (sample(n, 1.0), sample(m, spread));
            let found = studentized_interval((&x, 1.0), (&y, 1.0), 0.95).unwrap();
            let p_at = |shift: f64| {
                let shifted: Vec<f64> = y.iter().map(|y| y - shift).collect();
                brunner_munzel(&x, &shifted).unwrap().p().two
            };
            let hair = 1e-9;
            for (end, outwards) in [(found.lower, -hair), (found.upper, hair)] {
                assert!(p_at(end - outwards) >= 0.05, "{n} {m}: inside {end}");
                let outside = p_at(end + outwards);
                assert!(outside < 0.05 || outside.is_nan(), "{n} {m}: outside {end}");
            }
            let wider = studentized_interval((&x, 3.0), (&y, 3.0), 0.95).unwrap();
            assert!(wider.lower <= found.lower && wider.upper >= found.upper);
        }
    }

    #[test]
    fn constant_samples_give_the_point_between_them() {
        let found = studentized_interval((&[3.0; 12], 1.0), (&[5.0; 15], 1.0), 0.95);
        assert_eq!(found, Some(Interval { lower: 2.0, upper: 2.0 }));
        assert_eq!(studentized_interval((&[3.0], 1.0), (&[5.0; 15], 1.0), 0.95), None);
    }
}
