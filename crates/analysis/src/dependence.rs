//! When correlation of successive values is reported: one rule for the checks and for the
//! protocol.
//!
//! The effective sample size (Geyer 1992) widens every interval, whatever is said here. Of short series it is often below nine
//! tenths of the values by chance, since it adds up the correlations of many lags; a correlation of neighbours beyond chance seldom
//! is. So a warning needs both, or that more than half of the values are lost. Nothing is decided here but what is said.

use crate::policy;

/// True when so few of n values count (`effective`) that chance alone hardly gives it; `lag1` is the rank autocorrelation of
/// neighbours. Of independent series some 5 in 100 are called so. O(1).
pub fn is_beyond_chance(n: usize, effective: f64, lag1: f64) -> bool {
    let n = n as f64;
    let share = effective / n;
    share < policy::DEPENDENT_BELOW
        && (lag1 > policy::DEPENDENCE_Z / n.sqrt() || share < policy::SURELY_DEPENDENT_BELOW)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_lost_values_are_chance_unless_neighbours_resemble_each_other() {
        assert!(!is_beyond_chance(20, 15.0, 0.30));
        assert!(is_beyond_chance(20, 15.0, 0.40));
        assert!(is_beyond_chance(20, 9.0, 0.0));
        assert!(!is_beyond_chance(20, 19.0, 0.9));
        assert!(is_beyond_chance(300, 250.0, 0.1));
    }
}
