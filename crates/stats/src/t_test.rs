//! Student's t tests: one sample against a value, pairs, two samples with a common variance
//! (Student 1908) and with different ones (Welch 1947).
//!
//! Equal to R's `t.test`. A common offset is subtracted before summing, so that the difference of
//! two means near 1e12 keeps its digits, which R loses. As in R, data that are constant up to
//! rounding are rejected. These tests compare means only; for skewed data use the rank tests.

use crate::p_values::PValues;
use crate::{Interval, descriptive, student_t};

/// An estimate with its standard error, degrees of freedom and t statistic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TTest {
    /// The mean, the mean of the differences of pairs, or the difference of the means, second −
    /// first.
    pub estimate: f64,
    /// Standard error of the estimate; 0 only if all differences of pairs are 0.
    pub standard_error: f64,
    /// Degrees of freedom, not necessarily whole.
    pub df: f64,
    /// The estimate divided by its standard error; NaN for 0/0.
    pub t: f64,
}

impl TTest {
    fn new(estimate: f64, standard_error: f64, df: f64) -> TTest {
        TTest { estimate, standard_error, df, t: estimate / standard_error }
    }

    /// Returns the statistic against a value other than 0: (estimate − value) / standard error.
    #[must_use]
    pub fn t_against(&self, value: f64) -> f64 {
        (self.estimate - value) / self.standard_error
    }

    /// Returns the p-values against 0.
    #[must_use]
    pub fn p(&self) -> PValues {
        let below = |t: f64| student_t::cdf(t, self.df);
        PValues { two: 2.0 * below(-self.t.abs()), less: below(self.t), greater: below(-self.t) }
    }

    /// Returns the interval for the estimated quantity at `confidence` in 0..1, or `None` if t is
    /// undefined.
    #[must_use]
    pub fn interval(&self, confidence: f64) -> Option<Interval> {
        if self.t.is_nan() || !(0.0..1.0).contains(&confidence) {
            return None;
        }
        let reach = student_t::two_sided(confidence, self.df) * self.standard_error;
        Some(Interval { lower: self.estimate - reach, upper: self.estimate + reach })
    }
}

/// Tests the mean of one sample against 0, like R's `t.test(xs)`.
///
/// `xs` must be finite, in any order. Returns `None` for fewer than two values, and for values that
/// are constant up to rounding. O(n).
#[must_use]
pub fn one_sample(xs: &[f64]) -> Option<TTest> {
    if xs.len() < 2 {
        return None;
    }
    let n = xs.len() as f64;
    let (mean, error) = (descriptive::mean(xs), (descriptive::variance(xs) / n).sqrt());
    // The bound that R uses.
    if error < 10.0 * f64::EPSILON * mean.abs() {
        return None;
    }
    Some(TTest::new(mean, error, n - 1.0))
}

/// Tests the mean of the differences y_i − x_i. R: `t.test(y, x, paired = TRUE)`.
///
/// Both samples must be finite and of the same length n ≥ 2. Returns `None` otherwise, or if all
/// differences are equal but not 0. Differences that are all 0 give an estimate of 0 with a t of
/// NaN. O(n).
#[must_use]
pub fn paired(x: &[f64], y: &[f64]) -> Option<TTest> {
    if x.len() != y.len() {
        return None;
    }
    let differences: Vec<f64> = x.iter().zip(y).map(|(x, y)| y - x).collect();
    one_sample(&differences)
}

/// Tests the difference of two means with a common variance. R: `t.test(y, x, var.equal = TRUE)`.
///
/// Both samples must be finite, in any order and not empty, with three values in total. Returns
/// `None` otherwise, or if both are constant up to rounding. O(n + m).
#[must_use]
pub fn pooled(x: &[f64], y: &[f64]) -> Option<TTest> {
    let (n, m) = (x.len() as f64, y.len() as f64);
    let error = pooled_sd(x, y)? * (1.0 / n + 1.0 / m).sqrt();
    two_sample(x, y, error, n + m - 2.0)
}

/// Returns the pooled standard deviation of two samples, with n + m − 2 degrees of freedom, or
/// `None` if a sample is empty or there are fewer than three values in total. O(n + m).
#[must_use]
pub fn pooled_sd(x: &[f64], y: &[f64]) -> Option<f64> {
    if x.is_empty() || y.is_empty() || x.len() + y.len() < 3 {
        return None;
    }
    let squares = |xs: &[f64]| {
        if xs.len() > 1 { descriptive::variance(xs) * (xs.len() - 1) as f64 } else { 0.0 }
    };
    Some(((squares(x) + squares(y)) / (x.len() + y.len() - 2) as f64).sqrt())
}

/// Tests the difference of two means, each with its own variance, with Satterthwaite's degrees of
/// freedom. R: `t.test(y, x)`.
///
/// Both samples must be finite, in any order, with two values each. Returns `None` otherwise, or if
/// both are constant up to rounding. O(n + m).
#[must_use]
pub fn welch(x: &[f64], y: &[f64]) -> Option<TTest> {
    if x.len() < 2 || y.len() < 2 {
        return None;
    }
    let (n, m) = (x.len() as f64, y.len() as f64);
    let (vx, vy) = (descriptive::variance(x) / n, descriptive::variance(y) / m);
    let all = vx + vy;
    let df = all * all / (vx * vx / (n - 1.0) + vy * vy / (m - 1.0));
    two_sample(x, y, all.sqrt(), df)
}

fn two_sample(x: &[f64], y: &[f64], error: f64, df: f64) -> Option<TTest> {
    let difference = mean_difference(x, y);
    let largest = descriptive::mean(x).abs().max(descriptive::mean(y).abs());
    // R rejects a standard error below 10 ε times the larger mean. For values with a large common
    // offset this would reject valid data, so here each sample must also be constant up to
    // rounding.
    let tiny = error < 10.0 * f64::EPSILON * largest;
    if error == 0.0 || (tiny && one_number(x) && one_number(y)) {
        return None;
    }
    Some(TTest::new(difference, error, df))
}

/// Returns true if the values differ only by rounding.
fn one_number(xs: &[f64]) -> bool {
    let (low, high) =
        xs.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(*x), h.max(*x)));
    high - low <= 8.0 * f64::EPSILON * low.abs().max(high.abs())
}

/// Returns the difference of the means, y − x, after subtracting the first x from all values, or
/// NaN for an empty sample. O(n + m).
#[must_use]
pub fn mean_difference(x: &[f64], y: &[f64]) -> f64 {
    let Some(&origin) = x.first() else { return f64::NAN };
    mean_above(y, origin) - mean_above(x, origin)
}

/// Returns the mean of the distances from `origin`, refined once.
pub(crate) fn mean_above(xs: &[f64], origin: f64) -> f64 {
    let n = xs.len() as f64;
    let rough = xs.iter().map(|x| x - origin).sum::<f64>() / n;
    rough + xs.iter().map(|x| (x - origin) - rough).sum::<f64>() / n
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_by_rounding_alone_is_one_number() {
        let rounded = [0.3, 0.1 + 0.2, 0.3];
        assert!(one_number(&rounded) && one_number(&[-0.3, -0.1 - 0.2]) && one_number(&[0.0; 3]));
        assert!(!one_number(&[0.3, 0.3 + 1e-12]) && !one_number(&[0.0, 1e-300]));
        // No test can determine the distance of two such samples.
        assert_eq!(welch(&rounded, &[0.7, 0.7, 0.7 + 1e-16]), None);
    }

    #[test]
    fn student_and_welch_agree_with_r_on_sleep() {
        // R: t.test(extra ~ group, data = sleep, var.equal = TRUE), and without `var.equal`.
        let first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
        let second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];
        let pooled = pooled(&second, &first).unwrap();
        assert!((pooled.t + 1.860_813_467_486_85).abs() < 1e-12 && pooled.df == 18.0);
        let welch = welch(&second, &first).unwrap();
        assert!((welch.p().two - 0.079_394_140_187_358_2).abs() < 1e-12, "{welch:?}");
        let paired = paired(&second, &first).unwrap();
        assert!((paired.t + 4.062_127_683_382_04).abs() < 1e-12, "{paired:?}");
        assert!((paired.estimate + 1.58).abs() < 1e-12);
    }

    #[test]
    fn constant_data_are_refused_and_differences_of_nothing_have_no_t() {
        assert_eq!(one_sample(&[5.0; 4]), None);
        assert_eq!(welch(&[5.0; 4], &[5.0; 3]), None);
        assert_eq!(pooled(&[5.0; 4], &[7.0; 3]), None);
        assert_eq!(paired(&[1.0, 2.0], &[3.0, 4.0]), None);
        let nothing = paired(&[1.0, 2.0], &[1.0, 2.0]).unwrap();
        assert_eq!(nothing.estimate, 0.0);
        assert!(nothing.t.is_nan() && nothing.p().two.is_nan());
        assert_eq!(nothing.interval(0.95), None);
        // One constant sample is allowed.
        assert!(welch(&[5.0; 4], &[5.0, 6.0]).is_some());
    }

    #[test]
    fn too_few_values_give_nothing() {
        assert_eq!(one_sample(&[1.0]), None);
        assert_eq!(welch(&[1.0], &[2.0, 3.0]), None);
        assert_eq!(pooled(&[1.0], &[2.0]), None);
        assert!(pooled(&[1.0], &[2.0, 4.0]).is_some());
        assert_eq!(paired(&[1.0, 2.0], &[2.0]), None);
    }

    #[test]
    fn an_offset_of_a_million_millions_changes_nothing() {
        let (x, y) = ([0.25, 1.5, 3.0, -2.75], [0.5, 1.75, 4.0, -1.0]);
        let far = |xs: &[f64]| xs.iter().map(|x| x + 1e12).collect::<Vec<_>>();
        let (near, far) = (welch(&x, &y).unwrap(), welch(&far(&x), &far(&y)).unwrap());
        assert!((near.t - far.t).abs() <= 1e-12 * near.t.abs(), "{near:?} {far:?}");
    }

    #[test]
    fn one_sample_pairs_and_one_variance_are_those_of_r() {
        let x = [4.1, 5.3, 3.9, 6.2, 5.8, 4.7];
        let y = [5.9, 6.4, 5.1, 7.7, 8.0, 6.1, 7.2];
        let near = |ours: f64, expected: f64| (ours / expected - 1.0).abs() < 1e-11;
        // R: t.test(x).
        let own = one_sample(&x).unwrap();
        let interval = own.interval(0.95).unwrap();
        assert!(near(own.t, 13.237_584_555_341_394) && near(own.p().two, 4.396_086_087_587_11e-5));
        assert!(
            near(interval.lower, 4.029_059_332_958_489)
                && near(interval.upper, 5.970_940_667_041_51)
        );
        // R: t.test(y, x, paired = TRUE, alternative = "greater"), t.test(y, x, var.equal = TRUE,
        // alternative = "greater").
        let pairs = paired(&x, &y[..6]).unwrap();
        assert!(
            near(pairs.t, 9.2) && near(pairs.p().greater, 0.000_127_312_960_766_303_3),
            "{pairs:?}"
        );
        let equal = pooled(&x, &y).unwrap();
        assert!(
            near(equal.t, 2.949_551_481_755_291)
                && near(equal.p().greater, 0.006_609_996_966_681_77)
        );
        assert!(near(equal.p().less, 1.0 - 0.006_609_996_966_681_77));
        // A single value has no variance, so the other sample's is used for both.
        assert_eq!(pooled_sd(&[9.0], &[1.0, 3.0]), Some(2f64.sqrt()));
    }

    #[test]
    fn the_mean_above_an_origin_is_that_of_its_second_look() {
        // The first pass has a rounding error, which the second corrects.
        let xs = [1e16 + 2.0, 1e16 + 4.0, 1e16 + 8.0];
        assert_eq!(mean_above(&xs, 1e16), 14.0 / 3.0);
        let odd: Vec<f64> = (0..1000).map(|i| 1e8 + f64::from(i) / 7.0).collect();
        let exact = 999.0 / 14.0;
        assert!((mean_above(&odd, 0.0) - 1e8 - exact).abs() < 2e-8);
    }
}
