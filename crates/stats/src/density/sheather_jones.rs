//! The bandwidths of Sheather and Jones ("A reliable data-based bandwidth selection method for
//! kernel density estimation", 1991), as in R's `bw.SJ`: computed from counts of pairs by binned
//! distance, so that the cost does not grow with n².
//!
//! Unlike in R, the bins begin at the smallest value, not at 0, so that an offset changes nothing,
//! and the root is found to twelve digits; R stops at one percent of the upper bound.

use super::spreads;

/// Number of bins over the range, as in R.
const BINS: usize = 1000;
/// Maximum number of times the bounds are widened to find a change of sign, as in R.
const MOST_TRIES: u32 = 99;

/// The bandwidth that solves the plug-in equation (R's `bw.SJ(method = "ste")`).
///
/// `sorted`: ascending, finite, n ≥ 2. `None` if the values are too few or too sparse to estimate
/// the curvature, in which case R gives an error. O(n + bins²).
#[must_use]
pub fn sheather_jones_solve(sorted: &[f64]) -> Option<f64> {
    let pilot = Pilot::of(sorted)?;
    let ratio = 1.357
        * (pilot.pairs.fourth(1.24 * pilot.spread * pilot.n.powf(-1.0 / 7.0)) / pilot.third)
            .powf(1.0 / 7.0);
    if !ratio.is_finite() {
        return None;
    }
    let rest = |h: f64| pilot.optimal(pilot.pairs.fourth(ratio * h.powf(5.0 / 7.0))) - h;
    let mut upper = 1.144 * pilot.spread * pilot.n.powf(-0.2);
    let mut lower = 0.1 * upper;
    let mut tries = 1;
    // A root requires different signs at both ends; NaN has none.
    while rest(lower) * rest(upper) > 0.0 {
        if tries > MOST_TRIES {
            return None;
        }
        if tries % 2 == 1 {
            upper *= 1.2;
        } else {
            lower /= 1.2;
        }
        tries += 1;
    }
    bisected(rest, lower, upper)
}

/// The direct plug-in bandwidth (R's `bw.SJ(method = "dpi")`). Same preconditions and cost as
/// [`sheather_jones_solve`].
#[must_use]
pub fn sheather_jones_direct(sorted: &[f64]) -> Option<f64> {
    let pilot = Pilot::of(sorted)?;
    let width = (2.394 / (pilot.n * pilot.third)).powf(1.0 / 7.0);
    let found = pilot.optimal(pilot.pairs.fourth(width));
    (found.is_finite() && found > 0.0).then_some(found)
}

/// The starting point of both methods.
struct Pilot {
    n: f64,
    /// The smaller of the standard deviation and IQR / 1.349.
    spread: f64,
    pairs: Pairs,
    /// Minus the estimate of the integral of f'·f''''': positive if usable.
    third: f64,
}

impl Pilot {
    fn of(sorted: &[f64]) -> Option<Self> {
        let (sd, robust) = spreads(sorted, 1.349)?;
        let (n, spread) = (sorted.len() as f64, sd.min(robust));
        let pairs = Pairs::of(sorted)?;
        let third = -pairs.sixth(1.23 * spread * n.powf(-1.0 / 9.0));
        (third.is_finite() && third > 0.0).then_some(Self { n, spread, pairs, third })
    }

    /// The optimal bandwidth for this roughness of the density.
    fn optimal(&self, roughness: f64) -> f64 {
        (1.0 / (2.0 * std::f64::consts::PI.sqrt() * self.n) / roughness).powf(0.2)
    }
}

/// Counts of pairs of values by distance in bins.
struct Pairs {
    n: f64,
    bin: f64,
    counts: Vec<f64>,
}

impl Pairs {
    fn of(sorted: &[f64]) -> Option<Self> {
        let (first, last) = (sorted.first()?, sorted.last()?);
        let bin = (last - first) * 1.01 / BINS as f64;
        if !(bin > 0.0 && bin.is_finite()) {
            return None;
        }
        let mut held = vec![0.0; BINS];
        for x in sorted {
            held[(((x - first) / bin) as usize).min(BINS - 1)] += 1.0;
        }
        let mut counts = vec![0.0; BINS];
        for (at, &here) in held.iter().enumerate().filter(|(_, h)| **h > 0.0) {
            counts[0] += here * (here - 1.0) / 2.0;
            for (before, &there) in held[..at].iter().enumerate() {
                counts[at - before] += here * there;
            }
        }
        Some(Self { n: sorted.len() as f64, bin, counts })
    }

    /// The mean of a derivative of the normal density over all pairs: `term` is the derivative
    /// divided by the density, as a function of the squared distance, and `own` is its value at 0.
    fn mean_of(&self, h: f64, term: impl Fn(f64) -> f64, own: f64) -> f64 {
        /// Larger squared distances contribute nothing.
        const FARTHEST: f64 = 1000.0;
        let mut sum = 0.0;
        for (bins, &count) in self.counts.iter().enumerate() {
            let squared = (bins as f64 * self.bin / h).powi(2);
            if squared >= FARTHEST {
                break;
            }
            sum += (-squared / 2.0).exp() * term(squared) * count;
        }
        (2.0 * sum + self.n * own) / (self.n * (self.n - 1.0) * std::f64::consts::TAU.sqrt())
    }

    /// Uses the fourth derivative: the estimate of the integral of f''².
    fn fourth(&self, h: f64) -> f64 {
        self.mean_of(h, |s| s * s - 6.0 * s + 3.0, 3.0) / h.powi(5)
    }

    /// Uses the sixth derivative.
    fn sixth(&self, h: f64) -> f64 {
        self.mean_of(h, |s| s * s * s - 15.0 * s * s + 45.0 * s - 15.0, -15.0) / h.powi(7)
    }
}

/// The point at which the function changes sign between two points; `None` if a value there is NaN.
fn bisected(f: impl Fn(f64) -> f64, mut lower: f64, mut upper: f64) -> Option<f64> {
    let at_lower = f(lower);
    for _ in 0..60 {
        let middle = 0.5 * (lower + upper);
        let value = f(middle);
        if value.is_nan() {
            return None;
        }
        if (value > 0.0) == (at_lower > 0.0) {
            lower = middle;
        } else {
            upper = middle;
        }
        if upper - lower <= 1e-12 * upper {
            break;
        }
    }
    Some(0.5 * (lower + upper))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: Option<f64>, expected: f64) -> bool {
        found.is_some_and(|found| (found / expected - 1.0).abs() < 1e-9)
    }

    /// R: `bw.SJ(x, method = "ste", tol = 1e-13)` and `bw.SJ(x, method = "dpi")`; if the smallest
    /// value is 0, R uses the same bins.
    #[test]
    fn both_bandwidths_are_those_of_r() {
        let uneven = [0.0, 0.4, 1.1, 1.5, 2.2, 2.3, 3.9, 4.8, 7.5, 7.7, 8.2, 11.3];
        assert!(near(sheather_jones_solve(&uneven), 1.583_191_678_670_53));
        assert!(near(sheather_jones_direct(&uneven), 1.930_996_553_981_091_2));
        let even: Vec<f64> = (0..10).map(f64::from).collect();
        assert!(near(sheather_jones_solve(&even), 2.438_155_985_945_398_3));
        assert!(near(sheather_jones_direct(&even), 2.370_099_118_042_851_7));
        // The bounds must be widened to find this one.
        let heaps = [0.0, 0.001, 0.002, 0.003, 1.0, 1.001, 1.002, 5.0];
        assert!(near(sheather_jones_solve(&heaps), 0.153_424_597_048_990_86));
        assert!(near(sheather_jones_direct(&heaps), 0.380_968_413_320_585_8));
        assert!(near(sheather_jones_solve(&[0.0, 1.0]), 0.116_395_344_254_274_3));
        // The bins begin at the smallest value, so that an offset changes nothing.
        let moved: Vec<f64> = even.iter().map(|x| x + 1024.0).collect();
        assert_eq!(sheather_jones_solve(&moved), sheather_jones_solve(&even));
    }

    #[test]
    fn where_r_stops_with_an_error_there_is_none() {
        // R reports "sample is too sparse to find TD" for the first; the second has no range.
        for sparse in [&[0.0, 0.0, 0.0, 0.0, 0.0, 1.0][..], &[3.0; 5], &[1.0], &[]] {
            assert_eq!(sheather_jones_solve(sparse), None, "{sparse:?}");
            assert_eq!(sheather_jones_direct(sparse), None, "{sparse:?}");
        }
    }

    #[test]
    fn pairs_are_counted_by_the_bins_between_them() {
        let pairs = Pairs::of(&[0.0, 0.0, 0.0, 0.5, 1.0]).unwrap();
        assert!(pairs.n == 5.0 && (pairs.bin - 1.01e-3).abs() < 1e-15);
        // 0.5 is in bin 495, 1 in bin 990.
        let held: Vec<(usize, f64)> =
            pairs.counts.iter().copied().enumerate().filter(|(_, count)| *count > 0.0).collect();
        assert_eq!(held, [(0, 3.0), (495, 4.0), (990, 3.0)]);
        assert!(Pairs::of(&[2.0, 2.0]).is_none() && Pairs::of(&[0.0, f64::INFINITY]).is_none());
    }

    #[test]
    fn a_root_is_found_on_rising_and_falling_ground() {
        let found = bisected(|x| x * x - 2.0, 0.0, 5.0).unwrap();
        assert!((found - 2f64.sqrt()).abs() < 1e-11, "{found}");
        let found = bisected(|x| 3.0 - x, 1.0, 4.0).unwrap();
        assert!((found - 3.0).abs() < 1e-11, "{found}");
        assert_eq!(bisected(|_| f64::NAN, 1.0, 4.0), None);
    }
}
