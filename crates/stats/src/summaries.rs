//! The difference and ratio of two means, computed from summaries.
//!
//! Welch's test (1947) needs only the means, their standard errors and the numbers of values, so
//! summaries give the same result as R's `t.test(y, x)` gives from the values. The ratio of
//! positive means is computed on the log scale by the delta method: relative standard errors
//! replace the standard errors, also in Satterthwaite's degrees of freedom. Fieller's interval is
//! better if a mean might be 0, but assumes a common variance.

use crate::descriptive;
use crate::t_test::TTest;

/// The summary of a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summarised {
    /// Mean of the sample.
    pub mean: f64,
    /// The standard error of the mean, at least 0.
    pub standard_error: f64,
    /// Number of values, at least 2.
    pub count: f64,
}

impl Summarised {
    /// Summarizes finite values in any order; `None` for fewer than two. O(n).
    #[must_use]
    pub fn of(xs: &[f64]) -> Option<Self> {
        let count = xs.len() as f64;
        let standard_error = || (descriptive::variance(xs) / count).sqrt();
        (xs.len() > 1).then(|| Self {
            mean: descriptive::mean(xs),
            standard_error: standard_error(),
            count,
        })
    }

    fn is_usable(&self) -> bool {
        let Self { mean, standard_error, count } = *self;
        mean.is_finite() && standard_error.is_finite() && standard_error >= 0.0 && count >= 2.0
    }
}

/// Tests the difference of the means, y − x, like R's `t.test(y, x)`.
///
/// Returns `None` if a number is not finite, a count is below two, or neither side varies. O(1).
#[must_use]
pub fn welch(x: &Summarised, y: &Summarised) -> Option<TTest> {
    (x.is_usable() && y.is_usable()).then_some(())?;
    test(y.mean - x.mean, (x.standard_error, x.count), (y.standard_error, y.count))
}

/// Tests the logarithm of the ratio of the means, ln(y / x), by the delta method.
///
/// Returns `None` in the same cases as [`welch`], and if a mean is not positive. O(1).
#[must_use]
pub fn log_ratio(x: &Summarised, y: &Summarised) -> Option<TTest> {
    let positive = x.mean > 0.0 && y.mean > 0.0;
    (positive && x.is_usable() && y.is_usable()).then_some(())?;
    let relative = |side: &Summarised| (side.standard_error / side.mean, side.count);
    test((y.mean / x.mean).ln(), relative(x), relative(y))
}

fn test(estimate: f64, (ex, n): (f64, f64), (ey, m): (f64, f64)) -> Option<TTest> {
    let (vx, vy) = (ex * ex, ey * ey);
    let all = vx + vy;
    let df = all * all / (vx * vx / (n - 1.0) + vy * vy / (m - 1.0));
    let standard_error = all.sqrt();
    (standard_error > 0.0 && df.is_finite()).then(|| TTest {
        estimate,
        standard_error,
        df,
        t: estimate / standard_error,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::t_test;
    use proptest::prelude::*;

    fn values() -> impl Strategy<Value = Vec<f64>> {
        prop::collection::vec(1.0..100.0f64, 2..20)
    }

    proptest! {
        #[test]
        fn summaries_give_what_their_values_give(x in values(), y in values()) {
            let (Some(whole), Some(sx), Some(sy)) =
                (t_test::welch(&x, &y), Summarised::of(&x), Summarised::of(&y))
            else {
                return Ok(());
            };
            let left = welch(&sx, &sy).unwrap();
            let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs()));
            prop_assert!(close(left.estimate, whole.estimate), "{left:?} {whole:?}");
            prop_assert!(close(left.standard_error, whole.standard_error) && close(left.df, whole.df));
        }

        #[test]
        fn swapping_the_sides_inverts_the_ratio(x in values(), y in values(), by in 0.1..10.0f64) {
            let (sx, sy) = (Summarised::of(&x).unwrap(), Summarised::of(&y).unwrap());
            let Some(found) = log_ratio(&sx, &sy) else { return Ok(()) };
            let back = log_ratio(&sy, &sx).unwrap();
            prop_assert!((found.estimate + back.estimate).abs() < 1e-12);
            // Changing the unit on both sides has no effect.
            let scaled = |s: &Summarised| Summarised {
                mean: s.mean * by, standard_error: s.standard_error * by, count: s.count,
            };
            let scaled = log_ratio(&scaled(&sx), &scaled(&sy)).unwrap();
            prop_assert!((scaled.estimate - found.estimate).abs() < 1e-9);
            prop_assert!((scaled.standard_error - found.standard_error).abs() < 1e-9);
        }
    }

    #[test]
    fn relative_errors_add_in_the_logarithm_of_a_ratio() {
        let of = |mean, standard_error| Summarised { mean, standard_error, count: 10.0 };
        let found = log_ratio(&of(10.0, 0.3), &of(20.0, 0.8)).unwrap();
        assert!((found.estimate - std::f64::consts::LN_2).abs() < 1e-15, "{found:?}");
        // Relative standard errors of 3 % and 4 %.
        assert!((found.standard_error - 0.05).abs() < 1e-15, "{found:?}");
        let equal = log_ratio(&of(10.0, 0.3), &of(10.0, 0.3)).unwrap();
        assert!(equal.estimate == 0.0 && (equal.df - 18.0).abs() < 1e-12, "{equal:?}");
    }

    #[test]
    fn what_a_summary_lacks_gives_nothing() {
        let of = |mean, standard_error, count| Summarised { mean, standard_error, count };
        let good = of(10.0, 0.5, 9.0);
        assert!(welch(&good, &good).is_some());
        for bad in [of(f64::NAN, 0.5, 9.0), of(1.0, -1.0, 9.0), of(1.0, 0.5, 1.0)] {
            assert_eq!((welch(&good, &bad), log_ratio(&bad, &good)), (None, None), "{bad:?}");
        }
        assert_eq!(log_ratio(&good, &of(-3.0, 0.5, 9.0)), None);
        let constant = of(3.0, 0.0, 9.0);
        assert_eq!(welch(&constant, &constant), None);
        assert!(welch(&constant, &good).is_some());
        assert_eq!(Summarised::of(&[4.0]), None);
    }

    #[test]
    fn a_ratio_needs_two_means_above_zero() {
        let side = |mean| Summarised { mean, standard_error: 0.1, count: 9.0 };
        assert!(log_ratio(&side(0.5), &side(0.25)).is_some());
        for (x, y) in [(0.0, 1.0), (1.0, 0.0), (-1.0, 1.0), (1.0, -1.0)] {
            assert_eq!(log_ratio(&side(x), &side(y)), None, "{x} {y}");
        }
    }
}
