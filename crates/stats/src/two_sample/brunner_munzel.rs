//! Brunner and Munzel's test ("The nonparametric Behrens-Fisher problem", 2000) of whether one
//! sample tends to have smaller values than the other, without assuming equal spread.
//!
//! The estimate is p = P(Y < X) + ½ P(Y = X). Its variance comes from placements, and the quantile
//! from Student's t with Satterthwaite's degrees of freedom. As in the R packages, the interval is
//! not clipped to 0..1. If the samples do not overlap at all, the standard error is 0, so the
//! statistic is infinite and has no p-value.

use super::rank_sum::stairs;
use crate::p_values::PValues;
use crate::{Interval, student_t};

/// The estimate of P(Y < X) + ½ P(Y = X), with its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BrunnerMunzel {
    /// P(Y < X) + ½ P(Y = X), in 0..=1. Above one half, the second sample tends to be smaller.
    pub p_y_less: f64,
    /// Standard error of the estimate; 0 if the samples do not overlap.
    pub standard_error: f64,
    /// Degrees of freedom; NaN if the samples do not overlap.
    pub df: f64,
    /// (p − ½) / standard error; infinite if the samples do not overlap, NaN if all values are
    /// equal.
    pub statistic: f64,
}

impl BrunnerMunzel {
    /// Returns the p-values against ½, or NaN if the samples do not overlap.
    #[must_use]
    pub fn p(&self) -> PValues {
        let below = |t: f64| student_t::cdf(t, self.df);
        let t = self.statistic;
        PValues { two: 2.0 * below(-t.abs()), less: below(-t), greater: below(t) }
    }

    /// Returns the interval for P(Y < X) + ½ P(Y = X) at `confidence` in 0..1, or `None` if the
    /// samples do not overlap.
    #[must_use]
    pub fn interval(&self, confidence: f64) -> Option<Interval> {
        if self.df.is_nan() || !(0.0..1.0).contains(&confidence) {
            return None;
        }
        let reach = student_t::two_sided(confidence, self.df) * self.standard_error;
        Some(Interval { lower: self.p_y_less - reach, upper: self.p_y_less + reach })
    }
}

/// The placements of both samples: for each value, the number of values of the other sample below
/// it, where ties count half.
pub(super) struct Placements {
    /// Mean placement of the x values among the y values, in 0..=m.
    pub mean_x: f64,
    /// Mean placement of the y values among the x values, in 0..=n.
    pub mean_y: f64,
    /// Variance of the placements of the x values among the y values.
    pub of_x: f64,
    /// Variance of the placements of the y values among the x values.
    pub of_y: f64,
}

impl Placements {
    /// Computes the placements. Returns `None` unless both samples are ascending and finite, n ≥ 2
    /// each. O(n + m).
    pub fn of(x: &[f64], y: &[f64]) -> Option<Self> {
        if x.len() < 2 || y.len() < 2 {
            return None;
        }
        let (n, m) = (x.len() as f64, y.len() as f64);
        // Pairs with y < x, and half of those with y = x.
        let won: f64 = stairs(x, y)
            .map(|step| step.of_x as f64 * (step.below_y as f64 + step.of_y as f64 / 2.0))
            .sum();
        let (mean_x, mean_y) = (won / n, (n * m - won) / m);
        let (mut squares_x, mut squares_y) = (0.0, 0.0);
        for step in stairs(x, y) {
            let (of_x, of_y) = (step.of_x as f64, step.of_y as f64);
            let from_x = step.below_y as f64 + of_y / 2.0 - mean_x;
            let from_y = step.below_x as f64 + of_x / 2.0 - mean_y;
            squares_x += of_x * from_x * from_x;
            squares_y += of_y * from_y * from_y;
        }
        let (of_x, of_y) = (squares_x / (n - 1.0), squares_y / (m - 1.0));
        Some(Self { mean_x, mean_y, of_x, of_y })
    }
}

/// Runs the test. Returns `None` unless both samples are ascending and finite, n ≥ 2 each. O(n +
/// m).
#[must_use]
pub fn brunner_munzel(x_sorted: &[f64], y_sorted: &[f64]) -> Option<BrunnerMunzel> {
    let (n, m) = (x_sorted.len() as f64, y_sorted.len() as f64);
    let Placements { mean_x, of_x: vx, of_y: vy, .. } = Placements::of(x_sorted, y_sorted)?;
    let p_y_less = mean_x / m;
    let standard_error = (vx / (n * m * m) + vy / (m * n * n)).sqrt();
    let (wx, wy) = (n * vx, m * vy);
    let df = (wx + wy) * (wx + wy) / (wx * wx / (n - 1.0) + wy * wy / (m - 1.0));
    let statistic = (p_y_less - 0.5) / standard_error;
    Some(BrunnerMunzel { p_y_less, standard_error, df, statistic })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_example_of_pain_scores_is_met() {
        // Section 6 of the paper: p = 0.788, t = 3.137, df = 17.68, two-sided p = 0.0058.
        let mut low = [1., 2., 1., 1., 1., 1., 1., 1., 1., 1., 2., 4., 1., 1.];
        let mut high = [3., 3., 4., 3., 1., 2., 3., 1., 1., 5., 4.];
        low.sort_by(f64::total_cmp);
        high.sort_by(f64::total_cmp);
        let test = brunner_munzel(&high, &low).unwrap();
        assert!((test.p_y_less - 0.788_961_038_961_039).abs() < 1e-12, "{test:?}");
        assert!((test.statistic - 3.137_467_471_464_49).abs() < 1e-6, "{test:?}");
        assert!((test.df - 17.682_841_979_481_8).abs() < 1e-6, "{test:?}");
        assert!((test.p().two - 0.005_786_208_666_2).abs() < 1e-8, "{test:?}");
        // R: lawstat::brunner.munzel.test(low, high).
        let interval = test.interval(0.95).unwrap();
        assert!((interval.lower - 0.595_216_9).abs() < 1e-6, "{interval:?}");
        assert!((interval.upper - 0.982_705_2).abs() < 1e-6, "{interval:?}");
        assert_eq!(test.interval(1.0), None);
        let turned = brunner_munzel(&low, &high).unwrap();
        assert!((turned.p().less - test.p().greater).abs() < 1e-12);
    }

    #[test]
    fn samples_that_do_not_overlap_have_no_p() {
        let test = brunner_munzel(&[4.0, 5.0, 6.0], &[1.0, 2.0, 3.0]).unwrap();
        assert_eq!((test.p_y_less, test.standard_error), (1.0, 0.0));
        assert_eq!(test.statistic, f64::INFINITY);
        assert!(test.p().two.is_nan() && test.interval(0.95).is_none());
        assert!(brunner_munzel(&[1.0], &[1.0, 2.0]).is_none());
    }

    #[test]
    fn two_values_a_side_are_enough() {
        assert!(brunner_munzel(&[1.0, 4.0], &[2.0, 3.0]).is_some());
    }
}
