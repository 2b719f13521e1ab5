//! Determines whether a goal of a search for the highest rate can be met at any rate. A goal that
//! even sequential requests miss can't.

use crate::policy;
use assay_stats::binomial;

/// Returns true if `missed` of `all` sequential requests rule out that at most a share `allowed` of
/// all requests misses the goal. O(1).
pub fn is_out_of_reach(missed: u64, all: u64, allowed: f64) -> bool {
    missed > 0 && 1.0 - binomial::at_most_of(missed - 1, all, allowed) < policy::OUT_OF_REACH
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_slow_requests_rule_out_a_far_quantile_only_if_there_are_too_many() {
        // A goal for p99: one in a hundred may take longer.
        assert!(is_out_of_reach(25, 25, 0.01));
        assert!(is_out_of_reach(8, 100, 0.01));
        assert!(!is_out_of_reach(3, 100, 0.01));
        assert!(!is_out_of_reach(0, 100, 0.01));
        assert!(!is_out_of_reach(1, 1, 0.01));
        // A goal for p50.
        assert!(is_out_of_reach(25, 25, 0.5) && !is_out_of_reach(14, 25, 0.5));
        // No request may fail.
        assert!(is_out_of_reach(1, 1000, 0.0));
    }
}
