//! The codes of all findings, wherever in the house they are made. What each means is said on the page of findings; tests hold page,
//! list and code together: a code stands here, has its section there, and is made in one place.

/// Every code that a check, the machine's facts, a reader, a profile or the measuring itself may give.
pub const CODES: [&str; 138] = [
    "ALARM_CONFIRMED",
    "ALARM_NOT_CONFIRMED",
    "ALARM_UNCONFIRMED",
    "ALLOCATIONS_HIDDEN",
    "ALLOCATIONS_NOT_COUNTED",
    "ALL_EQUAL",
    "AUTOGROUP",
    "BATTERY",
    "BELOW_DETECTABLE",
    "BELOW_THRESHOLD",
    "BENCHMARK_ERROR",
    "BENCHMARK_FAILED",
    "BENCHMARK_SKIPPED",
    "BENCHMARK_VANISHED",
    "BUDGET_SPENT",
    "BUILDS_VARY",
    "BUSY_PROCESS",
    "CAN_CONFIRM",
    "CERTIFICATES_NOT_CHECKED",
    "CHANGED_WITHOUT_COMMIT",
    "CHANGE_POINT",
    "CHILDREN_NOT_COUNTED",
    "CLOCK_SOURCE",
    "CLOSED_LOOP",
    "COARSE_CLOCK",
    "COMMAND_FAILED",
    "COMMIT_GONE",
    "COMMIT_SKIPPED",
    "COUNTED_WHOLE",
    "COUNTERS_USER_ONLY",
    "COUNTER_TOTALS",
    "CPU_DECIDES_SOONER",
    "CPU_QUOTA",
    "CPU_SCALING",
    "CPU_SHARE",
    "CREEP",
    "DEBUG_BUILD",
    "DEBUG_LIBRARY",
    "DEPENDENCE",
    "DEPENDENCE_UNKNOWN",
    "DISTURBED",
    "DRIFT",
    "FAILURES",
    "FEW_BLOCKS_PLANNED",
    "FEW_REQUESTS",
    "FLAKY",
    "GENERATOR_BUSY",
    "GENERATOR_LATE",
    "GOVERNOR",
    "INCOMPLETE_BLOCKS",
    "INTERRUPTED",
    "INTERVAL_OPTIMISTIC",
    "LAYOUT",
    "LAYOUT_SUSPECTED",
    "LEFT_PROCESSES",
    "LEVELS_IGNORED",
    "LEVEL_TOO_SHORT",
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
    "NORMAL_ACCEPTED",
    "NORMAL_CHANGED",
    "NOT_CONTROLLED",
    "NOT_COUNTED",
    "NOT_INTERLEAVED",
    "NOT_NORMAL",
    "NOT_ON_BRANCH",
    "NOT_POSITIVE",
    "NOT_REJECTED",
    "NOT_SAVED",
    "NO_ASLR",
    "NO_COLLECTION",
    "NO_FREE_DESCRIPTOR",
    "NO_FREE_PORT",
    "NO_ISOLATED_CPU",
    "NO_THRESHOLD",
    "ONE_SIDE_ONLY",
    "ONLY_SAMENESS",
    "OPTIMISED_AWAY",
    "ORDER_DEPENDENT",
    "OTHER_CHANGES",
    "PERIODIC",
    "PORTABLE_RUNNER",
    "POSITION",
    "PROFILE_EVENTS",
    "PROFILE_FEW",
    "PROFILE_MISSED",
    "PROFILE_RATE",
    "PROFILE_STRIPPED",
    "PROFILE_WAITING",
    "REQUESTS_LEFT_OUT",
    "REQUEST_ERRORS",
    "RESUMED",
    "RESUMED_DIFFERENT",
    "RT_LIMIT",
    "RUNS_DIFFER",
    "SAME_BUILDS",
    "SAMPLES_PROBLEM",
    "SERVER_OVER_MEMORY",
    "SERVER_STILL_BUSY",
    "SETTINGS_DIFFER",
    "SHAPE",
    "SKIPPED",
    "STEAL",
    "STRADDLES",
    "SUITE_STATUS",
    "SUMMARY_ONLY",
    "SUMMARY_TOO_BARE",
    "SWAP",
    "TESTS_FEW_SAMPLES",
    "TESTS_HOOK",
    "TESTS_UNSEEN",
    "TEST_FAILED",
    "TEST_HUNG",
    "TEST_SLOWER",
    "TIMEOUTS",
    "TOGGLE_LEFT_OUT",
    "TOO_DEPENDENT",
    "TOO_FEW",
    "TOO_FEW_FOR_THRESHOLD",
    "TOO_FEW_RUNS",
    "TRUNCATED_FILE",
    "TURBO",
    "UNCOMMITTED",
    "UNITS_COMPARED",
    "UNITS_DIFFER",
    "UNIT_CHANGED",
    "WARM_UP",
];

/// What a finding is about, for reports that gather findings of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    /// Whether there can be a verdict at all: the sentence about a comparison says it.
    Verdict,
    /// How the samples were taken: the note on separate recordings says it.
    Design,
    /// The machine.
    Machine,
    /// One series by itself, which says nothing against a comparison in blocks.
    Series,
    /// What the lines of checks and noise say: drift that blocks cancel, disturbed runs.
    Checks,
    /// Anything else.
    Other,
}

/// What the findings of a code are about.
pub fn topic(code: &str) -> Topic {
    match code {
        "TOO_DEPENDENT" | "TOO_FEW" => Topic::Verdict,
        "NOT_INTERLEAVED" => Topic::Design,
        "BATTERY" | "CLOCK_SOURCE" | "CPU_QUOTA" | "CPU_SHARE" | "GOVERNOR" | "LOAD"
        | "NO_ASLR" | "PORTABLE_RUNNER" | "STEAL" | "TURBO" => Topic::Machine,
        "CHANGE_POINT" | "LEVELS_IGNORED" | "MULTIMODAL" | "NOT_NORMAL" | "PERIODIC"
        | "WARM_UP" => Topic::Series,
        "DISTURBED" | "DRIFT" => Topic::Checks,
        _ => Topic::Other,
    }
}

/// The code of a run that was resumed as another one: its verdicts are withheld.
pub(crate) const RESUMED_DIFFERENT: &str = "RESUMED_DIFFERENT";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_sorted_and_unique() {
        assert!(CODES.is_sorted_by(|a, b| a < b));
    }
}
