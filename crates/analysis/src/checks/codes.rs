//! The codes of all findings, wherever in the house they are made: a list to hold the page of findings to. What each means is said
//! there.

/// Every code that a check, the machine's facts, a reader or the measuring itself may give.
pub const CODES: [&str; 75] = [
    "ALLOCATIONS_HIDDEN",
    "ALLOCATIONS_NOT_COUNTED",
    "ALL_EQUAL",
    "BATTERY",
    "BELOW_DETECTABLE",
    "BENCHMARK_ERROR",
    "BENCHMARK_FAILED",
    "BENCHMARK_SKIPPED",
    "BUDGET_SPENT",
    "CHANGE_POINT",
    "CHILDREN_NOT_COUNTED",
    "CLOCK_SOURCE",
    "COARSE_CLOCK",
    "COUNTED_WHOLE",
    "COUNTERS_USER_ONLY",
    "COUNTER_TOTALS",
    "CPU_DECIDES_SOONER",
    "CPU_QUOTA",
    "CPU_SCALING",
    "CPU_SHARE",
    "DEBUG_LIBRARY",
    "DEPENDENCE",
    "DISTURBED",
    "DRIFT",
    "FAILURES",
    "FEW_BLOCKS_PLANNED",
    "GOVERNOR",
    "INCOMPLETE_BLOCKS",
    "INTERRUPTED",
    "INTERVAL_OPTIMISTIC",
    "LEFT_PROCESSES",
    "LEVELS_IGNORED",
    "LIBRARIES_DIFFER",
    "LIBRARIES_UNKNOWN",
    "LINES_SKIPPED",
    "LOAD",
    "LOST_RUN",
    "MACHINES_DIFFER",
    "MACHINE_SET",
    "MEMORY_FLOOR",
    "MEMORY_UNTRUSTED",
    "METRICS_DIFFER",
    "METRIC_MISSING",
    "MULTIMODAL",
    "MULTIPLEXED",
    "NOT_CONTROLLED",
    "NOT_COUNTED",
    "NOT_INTERLEAVED",
    "NOT_NORMAL",
    "NOT_POSITIVE",
    "NOT_SAVED",
    "NO_ASLR",
    "ONE_SIDE_ONLY",
    "OPTIMISED_AWAY",
    "PERIODIC",
    "POSITION",
    "REQUEST_ERRORS",
    "RESUMED",
    "RESUMED_DIFFERENT",
    "SAMPLES_PROBLEM",
    "SETTINGS_DIFFER",
    "SHAPE",
    "SKIPPED",
    "STEAL",
    "SUMMARY_ONLY",
    "SUMMARY_TOO_BARE",
    "TIMEOUTS",
    "TOO_DEPENDENT",
    "TOO_FEW",
    "TRUNCATED_FILE",
    "TURBO",
    "UNCOMMITTED",
    "UNITS_COMPARED",
    "UNITS_DIFFER",
    "WARM_UP",
];

/// The code of a run that was gone on with as another one: its verdicts are withheld.
pub(crate) const RESUMED_DIFFERENT: &str = "RESUMED_DIFFERENT";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_sorted_and_unique() {
        assert!(CODES.is_sorted_by(|a, b| a < b));
    }
}
