//! Two one-sided Welch tests (Schuirmann 1987): whether a difference of means is within a margin.
//!
//! Equivalence at level α requires both tests to reject, that is, the 1 − 2α interval to be inside
//! the margin. R: `t.test` with `mu` = ∓ margin, twice.

use crate::{student_t, t_test};

/// Both one-sided tests of a difference of means, second − first, against one margin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Equivalence {
    /// The margin, ≥ 0, in the unit of the values.
    pub margin: f64,
    /// The statistic against −margin.
    pub t_lower: f64,
    /// p-value against −margin: small if the difference is above −margin.
    pub p_lower: f64,
    /// The statistic against +margin.
    pub t_upper: f64,
    /// p-value against +margin: small if the difference is below +margin.
    pub p_upper: f64,
    /// Welch's degrees of freedom.
    pub df: f64,
}

impl Equivalence {
    /// Returns the p-value of equivalence, which is the larger of the two p-values.
    #[must_use]
    pub fn p(&self) -> f64 {
        self.p_lower.max(self.p_upper)
    }
}

/// Tests the difference in `welch` against a margin, whose absolute value is used.
#[must_use]
pub fn equivalence(welch: &t_test::TTest, margin: f64) -> Equivalence {
    let margin = margin.abs();
    let (t_lower, t_upper) = (welch.t_against(-margin), welch.t_against(margin));
    Equivalence {
        margin,
        t_lower,
        p_lower: student_t::cdf(-t_lower, welch.df),
        t_upper,
        p_upper: student_t::cdf(t_upper, welch.df),
        df: welch.df,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equivalent_at_five_percent_means_the_90_percent_interval_is_inside() {
        let x = [10.0, 10.2, 9.9, 10.1, 10.05];
        let y = [10.1, 10.0, 10.15, 10.2, 9.95];
        let welch = t_test::welch(&x, &y).unwrap();
        let interval = welch.interval(0.9).unwrap();
        let reach = interval.lower.abs().max(interval.upper.abs());
        assert!((equivalence(&welch, reach).p() - 0.05).abs() < 1e-12);
        assert!(equivalence(&welch, reach * 1.1).p() < 0.05);
        assert!(equivalence(&welch, reach * 0.9).p() > 0.05);
    }
}
