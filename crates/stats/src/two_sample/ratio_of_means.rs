//! Intervals for the ratio of two means, second over first.
//!
//! Fieller's interval (1954) inverts the t test of y̅ − r x̅ with a common variance, and is
//! unbounded if the first mean might be 0. The other interval uses the delta method on the log
//! scale, with separate variances and a normal quantile. Both are for positive values. For times,
//! the robust ratio (the Hodges-Lehmann shift of logarithms) is usually better.

use crate::{Interval, descriptive, normal, student_t, t_test};

/// Returns Fieller's interval for mean(y) / mean(x) at `confidence` in 0..1, or
/// [`Interval::UNBOUNDED`] if every ratio is possible.
///
/// Returns `None` for an empty sample, fewer than three values in total, or a confidence out of
/// range. O(n + m).
#[must_use]
pub fn fieller(x: &[f64], y: &[f64], confidence: f64) -> Option<Interval> {
    if !(0.0..1.0).contains(&confidence) {
        return None;
    }
    let (n, m) = (x.len() as f64, y.len() as f64);
    let variance = t_test::pooled_sd(x, y)?.powi(2);
    let squared = student_t::two_sided(confidence, n + m - 2.0).powi(2) * variance;
    let (mean_x, mean_y) = (descriptive::mean(x), descriptive::mean(y));
    // The ratios r with (y̅ − r x̅)² ≤ q (1/m + r²/n) are those between the roots of a r² − 2 b r +
    // c, with c = y̅² − q/m.
    let a = mean_x * mean_x - squared / n;
    let b = mean_x * mean_y;
    // b² − a c, written without the difference of two fourth powers.
    let under_root = squared * (mean_y * mean_y / n + mean_x * mean_x / m - squared / (n * m));
    if a.is_nan() || a <= 0.0 || under_root < 0.0 {
        return Some(Interval::UNBOUNDED);
    }
    let root = under_root.sqrt();
    Some(Interval { lower: (b - root) / a, upper: (b + root) / a })
}

/// Returns the delta-method interval for mean(y) / mean(x) at `confidence` in 0..1.
///
/// Returns `None` for fewer than two values on a side, means that are not positive, or a confidence
/// out of range. O(n + m).
#[must_use]
pub fn delta_log(x: &[f64], y: &[f64], confidence: f64) -> Option<Interval> {
    let (mean_x, mean_y) = (descriptive::mean(x), descriptive::mean(y));
    let fit = x.len() > 1 && y.len() > 1 && mean_x > 0.0 && mean_y > 0.0;
    if !fit || !(0.0..1.0).contains(&confidence) {
        return None;
    }
    let relative =
        |xs: &[f64], mean: f64| descriptive::variance(xs) / xs.len() as f64 / mean / mean;
    let error = (relative(x, mean_x) + relative(y, mean_y)).sqrt();
    let reach = (normal::two_sided(confidence) * error).exp();
    let ratio = mean_y / mean_x;
    Some(Interval { lower: ratio / reach, upper: ratio * reach })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_uncertain_denominator_leaves_every_ratio_possible() {
        assert_eq!(fieller(&[0.1, 5.0], &[1.0, 2.0], 0.99), Some(Interval::UNBOUNDED));
        assert_eq!(fieller(&[1.0], &[2.0], 0.9), None);
        assert_eq!(delta_log(&[1.0, -3.0], &[2.0, 2.5], 0.9), None);
    }

    #[test]
    fn constant_samples_have_a_certain_ratio() {
        let point = Some(Interval { lower: 1.5, upper: 1.5 });
        assert_eq!(fieller(&[2.0; 3], &[3.0; 4], 0.95), point);
        assert_eq!(delta_log(&[2.0; 3], &[3.0; 4], 0.95), point);
    }

    #[test]
    fn a_wider_confidence_gives_a_wider_interval_around_the_ratio() {
        let (x, y) = ([9.0, 10.0, 11.0, 10.5], [12.0, 11.0, 13.0]);
        let ratio = descriptive::mean(&y) / descriptive::mean(&x);
        for method in [fieller, delta_log] {
            let (narrow, wide) = (method(&x, &y, 0.9).unwrap(), method(&x, &y, 0.99).unwrap());
            assert!(
                narrow.contains(ratio) && wide.lower < narrow.lower && wide.upper > narrow.upper
            );
        }
    }

    #[test]
    fn the_interval_of_the_logarithm_is_that_of_the_formula() {
        // Means 2 and 3, squared relative errors 2/2/4 and 2/2/9.
        let found = delta_log(&[1.0, 3.0], &[2.0, 4.0], 0.95).unwrap();
        let reach = (1.959_963_984_540_054 * (1.0_f64 / 4.0 + 1.0 / 9.0).sqrt()).exp();
        assert!((found.lower * reach / 1.5 - 1.0).abs() < 1e-12, "{found:?}");
        assert!((found.upper / reach / 1.5 - 1.0).abs() < 1e-12, "{found:?}");
        for confidence in [1.0, 1.5, -0.1, f64::NAN] {
            assert_eq!(fieller(&[9.0, 10.0], &[9.0, 11.0], confidence), None);
            assert_eq!(delta_log(&[9.0, 10.0], &[9.0, 11.0], confidence), None);
        }
    }
}
