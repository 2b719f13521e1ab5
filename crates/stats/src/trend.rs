//! Measures the drift of a series during its measurement.
//!
//! The direction is Spearman's rank correlation with time, which is sensitive to any steady drift
//! but not to single outliers. The amount is the Hodges-Lehmann shift from the first third to the
//! last, in the unit of the values. Both are meant for checking the size of the effect, not for
//! comparing subjects.

use crate::{autocorrelation, descriptive, two_sample};

/// Returns Spearman's rank correlation of the values with their index, in −1..=1, or 0 for a
/// constant series or n < 2.
///
/// `xs` must be finite and in order of measurement. O(n log n). Like R's `cor(seq_along(x), x,
/// method = "spearman")`.
#[must_use]
pub fn rank_correlation(xs: &[f64]) -> f64 {
    correlation_of_ranks(&autocorrelation::ranks(xs))
}

/// Like [`rank_correlation`], but takes the [`ranks`](autocorrelation::ranks) of the values. O(n).
#[must_use]
pub fn correlation_of_ranks(ranks: &[f64]) -> f64 {
    if ranks.len() < 2 {
        return 0.0;
    }
    let n = ranks.len() as f64;
    let middle = (n + 1.0) / 2.0;
    let (mut both, mut of_values, mut of_time) = (0.0, 0.0, 0.0);
    for (index, rank) in ranks.iter().enumerate() {
        let (value, time) = (rank - middle, index as f64 + 1.0 - middle);
        both += value * time;
        of_values += value * value;
        of_time += time * time;
    }
    if of_values == 0.0 { 0.0 } else { both / (of_values * of_time).sqrt() }
}

/// Returns the rank correlation with time, multiplied by √(n − 1). For many independent values of
/// any distribution, this is standard normal.
///
/// For dependent values, its standard deviation is about √τ; divide by it if that matters.
#[must_use]
pub fn z_score(xs: &[f64]) -> f64 {
    rank_correlation(xs) * (xs.len().saturating_sub(1) as f64).sqrt()
}

/// Returns the Hodges-Lehmann shift from the first third of the series to the last, or `None` for n
/// < 3.
///
/// A linear drift covers two thirds of its range between the middles of these parts. `xs` must be
/// finite and in order of measurement. O(n log n) typically.
#[must_use]
pub fn shift_between_thirds(xs: &[f64]) -> Option<f64> {
    let third = xs.len() / 3;
    if third == 0 {
        return None;
    }
    let first = descriptive::sorted(&xs[..third]);
    let last = descriptive::sorted(&xs[xs.len() - third..]);
    Some(two_sample::hodges_lehmann(&first, &last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rising_series_is_correlated_with_time_and_a_constant_one_is_not() {
        let rising: Vec<f64> = (0..30).map(|i| f64::from(i).exp()).collect();
        assert!((rank_correlation(&rising) - 1.0).abs() < 1e-15);
        assert!((z_score(&rising) - 29_f64.sqrt()).abs() < 1e-12);
        let falling: Vec<f64> = rising.iter().rev().copied().collect();
        assert!((rank_correlation(&falling) + 1.0).abs() < 1e-15);
        assert_eq!(rank_correlation(&[1.0; 10]), 0.0);
        assert_eq!(z_score(&[]), 0.0);
    }

    #[test]
    fn the_correlation_equals_the_textbook_formula() {
        // Without ties: 1 − 6 Σ d² / (n (n² − 1)), here with ranks 2 1 4 3 5.
        let rho = rank_correlation(&[20.0, 10.0, 40.0, 30.0, 50.0]);
        assert!((rho - (1.0 - 6.0 * 4.0 / 120.0)).abs() < 1e-15);
    }

    #[test]
    fn a_straight_drift_moves_the_thirds_by_two_thirds_of_its_way() {
        let xs: Vec<f64> = (0..300).map(|i| 5.0 + f64::from(i) * 0.25).collect();
        assert_eq!(shift_between_thirds(&xs), Some(50.0));
        assert_eq!(shift_between_thirds(&xs[..2]), None);
    }
}
