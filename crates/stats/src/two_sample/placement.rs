//! The interval for a shift between two recorded samples, from placements, widened by the
//! autocorrelation time.
//!
//! The placement of a value is the number of values of the other sample below it, after subtracting
//! the estimated shift. The variances of the placements (Fligner and Policello, 1981; Brunner and
//! Munzel, 2000, for the degrees of freedom) give the variance of the Mann-Whitney count without
//! assuming equal spread; the ends of the interval are then determined by rank among the sorted
//! differences. Unlike in these sources, each variance is multiplied by the autocorrelation time of
//! its sample. No such formula accounts for slow drift between the two recordings.

use super::differences;
use crate::{Interval, autocorrelation, descriptive, student_t};

/// A shift between two samples, with its interval and the parameters used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    /// The interval for the shift, second minus first.
    pub interval: Interval,
    /// The Hodges-Lehmann estimate of the shift, second minus first.
    pub shift: f64,
    /// Autocorrelation time of the first sample, at least 1.
    pub tau_x: f64,
    /// Autocorrelation time of the second sample, at least 1.
    pub tau_y: f64,
    /// Degrees of freedom of the t quantile used.
    pub df: f64,
}

/// Returns the shift from `x` to `y`, with its interval at `confidence` (in 0..1).
///
/// `x` and `y` must be finite, n ≥ 2 each, and in order of measurement. Returns `None` if the
/// samples are too small, too dependent or too unequal for an interval within them. With fewer than
/// ten values on a side, use the exact distribution instead. O((n + m) log(n + m)) typically.
#[must_use]
pub fn placement_interval(
    x_in_order: &[f64],
    y_in_order: &[f64],
    confidence: f64,
) -> Option<Placement> {
    let (x, y) = (descriptive::sorted(x_in_order), descriptive::sorted(y_in_order));
    let tau_x = autocorrelation::autocorrelation_time(x_in_order);
    let tau_y = autocorrelation::autocorrelation_time(y_in_order);
    placement_interval_of((&x, tau_x), (&y, tau_y), confidence)
}

/// Like [`placement_interval`], but for sorted samples, each with its autocorrelation time of at
/// least 1. O((n + m) log) typically.
#[must_use]
pub fn placement_interval_of(
    (x_sorted, tau_x): (&[f64], f64),
    (y_sorted, tau_y): (&[f64], f64),
    confidence: f64,
) -> Option<Placement> {
    let (n, m) = (x_sorted.len(), y_sorted.len());
    if n < 2 || m < 2 || !(0.0..1.0).contains(&confidence) {
        return None;
    }
    let matrix = differences(x_sorted, y_sorted)?;
    let shift = matrix.median()?;
    let (of_x, of_y) = placement_variances(&matrix.row_counts(shift), m);
    let (n, m) = (n as f64, m as f64);
    let vx = of_x * tau_x / (m * m * n);
    let vy = of_y * tau_y / (n * n * m);
    let all = vx + vy;
    let df = if all > 0.0 {
        all * all / (vx * vx / (n - 1.0) + vy * vy / (m - 1.0))
    } else {
        // Nothing varies, so every difference equals the shift.
        n + m - 2.0
    };
    let pairs = matrix.len();
    let k = (n * m * (0.5 - student_t::two_sided(confidence, df) * all.sqrt())).floor();
    if k.is_nan() || k < 0.0 {
        return None;
    }
    let k = (k as u64).min((pairs - 1) / 2);
    let ends = matrix.select_each(&[k + 1, pairs - k])?;
    let interval = Interval { lower: ends[0], upper: ends[1] };
    Some(Placement { interval, shift, tau_x, tau_y, df })
}

/// Returns the variances of the placements of all x among the shifted y, and of all shifted y among
/// the x.
fn placement_variances(counts: &(Vec<u32>, Vec<u32>), columns: usize) -> (f64, f64) {
    // Computed one after the other, since each takes megabytes for long samples.
    let of_rows = descriptive::variance(&placements_of_rows(counts));
    (of_rows, descriptive::variance(&placements_of_columns(counts, columns)))
}

/// Returns the placements of all x (rows of the matrix of differences) among the shifted y, where
/// ties count half.
///
/// They are derived from the differences themselves: y − shift is below x exactly if y − x is below
/// the shift, without a second rounding. The counts are, for every row, the numbers of differences
/// less than the shift and at most the shift.
fn placements_of_rows((less, at_most): &(Vec<u32>, Vec<u32>)) -> Vec<f64> {
    let twice = less.iter().zip(at_most).map(|(&l, &a)| u64::from(l) + u64::from(a));
    twice.map(|twice| twice as f64 / 2.0).collect()
}

/// Returns the placements of all shifted y (columns) among the x.
fn placements_of_columns((less, at_most): &(Vec<u32>, Vec<u32>), columns: usize) -> Vec<f64> {
    // Column j is beyond the shift in every row whose count is at most j, so a histogram of the
    // counts is accumulated.
    let mut ends = vec![0_u64; columns + 1];
    for &end in less.iter().chain(at_most) {
        ends[end as usize] += 1;
    }
    let beyond_twice = ends[..columns].iter().scan(0, |beyond, count| {
        *beyond += count;
        Some(*beyond)
    });
    beyond_twice.map(|twice| twice as f64 / 2.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placements_equal_their_definition() {
        let x = [1.0, 2.0, 2.0, 5.0, 9.0];
        let y = [0.0, 2.0, 3.0, 3.0, 4.0, 7.0, 8.0];
        for shift in [-3.0, 0.0, 0.5, 1.0] {
            let counts = differences(&x, &y).unwrap().row_counts(shift);
            let of_x = placements_of_rows(&counts);
            let of_y = placements_of_columns(&counts, y.len());
            let half = |a: f64, b: f64| {
                if a < b {
                    1.0
                } else if a == b {
                    0.5
                } else {
                    0.0
                }
            };
            let mut expected_x: Vec<f64> =
                x.iter().map(|x| y.iter().map(|y| half(y - shift, *x)).sum()).collect();
            expected_x.reverse();
            let expected_y: Vec<f64> =
                y.iter().map(|y| x.iter().map(|x| half(*x, y - shift)).sum()).collect();
            assert_eq!((of_x, of_y), (expected_x, expected_y), "{shift}");
        }
    }

    #[test]
    fn constant_samples_give_the_point_between_them() {
        let placement = placement_interval(&[3.0; 12], &[5.0; 15], 0.95).unwrap();
        assert_eq!(placement.interval, Interval { lower: 2.0, upper: 2.0 });
        assert_eq!((placement.shift, placement.tau_x, placement.tau_y), (2.0, 1.0, 1.0));
    }

    #[test]
    fn samples_too_small_get_no_interval() {
        assert_eq!(placement_interval(&[1.0], &[2.0, 3.0], 0.95), None);
        assert_eq!(placement_interval(&[1.0, 5.0], &[2.0, 3.0], 0.99), None);
        assert_eq!(placement_interval(&[1.0, 5.0, 6.0], &[2.0, 3.0, 1.0], f64::NAN), None);
    }

    #[test]
    fn as_many_differences_lie_below_the_interval_as_above() {
        let x: Vec<f64> = (0..11).map(|i| f64::from(i * i) / 8.0).collect();
        let y: Vec<f64> = (0..13).map(|i| 3.0 + f64::from(i * i) / 7.0).collect();
        let found = placement_interval_of((&x, 1.0), (&y, 1.0), 0.95).unwrap();
        let all: Vec<f64> = x.iter().flat_map(|x| y.iter().map(move |y| y - x)).collect();
        let below = all.iter().filter(|d| **d < found.interval.lower).count();
        let above = all.iter().filter(|d| **d > found.interval.upper).count();
        assert!(below == above && below > 10, "{below} {above}");
    }
}
