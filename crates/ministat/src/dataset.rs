//! A set of points and its statistics: average, median and variance, computed as in the selected
//! flavor, to the last bit.
//!
//! Sums are naive and in input order, except that the two-pass sum of squares is in sorted order.
//! Other orders would give other bits. If there are infinities or NaN among the numbers (which the
//! flavor of 2015 reads), the sign of a NaN shows in the output. It follows the rules of x86: an
//! operation that produces a NaN gives a negative one, and an operation with NaN operands returns
//! the first of them.

use crate::Flavour;
use crate::sorting;

/// Symbols of the sets in plot and table: a space for no set, then one symbol for each of the seven
/// sets.
pub(crate) const SYMBOLS: [u8; 8] = *b" x+*%#@O";

/// A set of at least three points.
#[derive(Clone, Debug)]
pub(crate) struct Dataset {
    /// The name as printed.
    pub name: Vec<u8>,
    /// The points in ascending order.
    pub points: Vec<f64>,
    pub average: f64,
    pub median: f64,
    pub variance: f64,
    pub deviation: f64,
}

/// Returns the result that x86 gives for an operation: if it is a NaN, the first NaN among the
/// operands or, if there is none, the default NaN.
fn nan_of(operands: [f64; 2], result: f64) -> f64 {
    if !result.is_nan() {
        return result;
    }
    let given = operands.into_iter().find(|operand| operand.is_nan());
    given.unwrap_or(f64::NAN.copysign(-1.0))
}

/// Returns the sum and the sum of squares, added in order.
fn sums(points: &[f64]) -> (f64, f64) {
    let plain = points.iter().fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
    if !(plain.0.is_nan() || plain.1.is_nan()) {
        return plain;
    }
    points.iter().fold((0.0, 0.0), |(sum, squares): (f64, f64), &x| {
        let square = nan_of([x, x], x * x);
        (nan_of([sum, x], sum + x), nan_of([square, squares], square + squares))
    })
}

#[expect(clippy::cast_precision_loss, reason = "no memory holds 2^53 points")]
fn count(points: &[f64]) -> f64 {
    points.len() as f64
}

impl Dataset {
    /// Creates a set of points, which are given in input order. There must be at least one.
    pub(crate) fn new(name: Vec<u8>, mut points: Vec<f64>, flavour: Flavour) -> Self {
        let n = count(&points);
        let (sum, squares) = sums(&points);
        sorting::sort(&mut points);
        let average = sum / n;
        let upper = points[points.len() / 2];
        let (median, variance) = match flavour {
            Flavour::Of2015 => {
                let of_mean = nan_of([sum, sum], sum * sum) / n;
                let around = nan_of([squares, of_mean], squares - of_mean);
                (upper, around / (n - 1.0))
            }
            Flavour::Of2025 => {
                let is_even = points.len().is_multiple_of(2);
                let lower = if is_even { points[points.len() / 2 - 1] } else { upper };
                let median = if is_even { (lower + upper) / 2.0 } else { upper };
                let around: f64 =
                    points.iter().fold(0.0, |sum, x| sum + (x - average) * (x - average));
                (median, around / (n - 1.0))
            }
        };
        let deviation = nan_of([variance, variance], variance.sqrt());
        Self { name, points, average, median, variance, deviation }
    }

    pub(crate) fn smallest(&self) -> f64 {
        self.points[0]
    }

    pub(crate) fn largest(&self) -> f64 {
        self.points[self.points.len() - 1]
    }

    /// Returns the number of points.
    pub(crate) fn count(&self) -> f64 {
        count(&self.points)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(points: &[f64], flavour: Flavour) -> Dataset {
        Dataset::new(Vec::new(), points.to_vec(), flavour)
    }

    #[test]
    fn the_flavours_differ_in_median_and_variance() {
        let points = [1_000_000_000.1, 1_000_000_000.2, 1_000_000_000.3, 1_000_000_000.4];
        let (old, new) = (set(&points, Flavour::Of2015), set(&points, Flavour::Of2025));
        assert_eq!(old.median, 1_000_000_000.3);
        assert!((new.median - 1_000_000_000.25).abs() < 1e-6);
        assert!((new.deviation - 0.129_099_4).abs() < 1e-6);
        let is_right = (old.deviation - 0.129_099_4).abs() < 1e-6;
        assert!(!is_right, "the one-pass sum cancels");
    }

    #[test]
    fn the_average_has_the_sign_of_the_first_nan_and_the_deviation_that_of_the_last() {
        let (plus, minus) = (f64::NAN.copysign(1.0), f64::NAN.copysign(-1.0));
        let found = set(&[plus, 1.0, minus], Flavour::Of2015);
        assert!(found.average.is_sign_positive() && found.deviation.is_sign_negative());
        let found = set(&[minus, 1.0, plus], Flavour::Of2015);
        assert!(found.average.is_sign_negative() && found.deviation.is_sign_positive());
    }

    #[test]
    fn a_nan_that_is_made_is_negative() {
        let found = set(&[1.0, f64::INFINITY, 2.0], Flavour::Of2015);
        assert_eq!(found.average, f64::INFINITY);
        assert!(found.deviation.is_nan() && found.deviation.is_sign_negative());
        assert!(set(&[0.1; 3], Flavour::Of2015).variance < 0.0);
        assert!(set(&[0.1; 3], Flavour::Of2015).deviation.is_sign_negative());
    }
}
