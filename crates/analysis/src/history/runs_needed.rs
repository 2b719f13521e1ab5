//! The number of runs needed for a question about a benchmark, and the findings about too few runs.

use crate::policy;
use assay_data::Finding;
use assay_data::code;

/// A question about the runs of a benchmark on one machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Question {
    /// Whether one more run is worse than those before it.
    Judge,
    /// Whether the level changed: each level needs a minimum number of runs.
    Change,
}

impl Question {
    /// Returns the minimum number of runs needed to answer the question.
    pub(super) fn fewest(self) -> usize {
        match self {
            Self::Judge => policy::FEWEST_RUNS,
            Self::Change => 2 * policy::FEWEST_RUNS,
        }
    }

    /// Returns the number of runs still missing; `None` if there are enough.
    pub(super) fn more(self, runs: usize) -> Option<usize> {
        self.fewest().checked_sub(runs).filter(|more| *more > 0)
    }

    /// Returns the finding about a benchmark with too few runs; `None` if there are enough.
    pub(super) fn finding(self, benchmark: &str, runs: usize) -> Option<Finding> {
        let more = self.more(runs)?;
        let counted = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        let are = if more == 1 { "is" } else { "are" };
        let message = match self {
            Self::Judge => format!(
                "{benchmark} has {} before this one on this machine: {more} more {are} needed to judge a run",
                counted(runs, "run")
            ),
            Self::Change => format!(
                "{benchmark} has {} on this machine: {more} more {are} needed to show a change, {} on either side of it",
                counted(runs, "run"),
                policy::FEWEST_RUNS
            ),
        };
        let found = Finding::new(code::TOO_FEW_RUNS, message).about(benchmark);
        Some(found.with("runs", runs as f64).with("more", more as f64))
    }
}

/// Returns the finding about several series with too few runs to show a change.
pub(super) fn finding_of_several(few: usize, all: usize) -> Finding {
    let message = format!(
        "{few} of {all} series {} fewer than {} runs on one machine: a change cannot be detected there",
        if few == 1 { "has" } else { "have" },
        Question::Change.fewest()
    );
    Finding::new(code::TOO_FEW_RUNS, message).with("series", few as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_question_says_for_what_runs_are_needed() {
        let told = |question: Question, runs| question.finding("b", runs).map(|f| f.message);
        assert_eq!(
            told(Question::Judge, 1).as_deref(),
            Some("b has 1 run before this one on this machine: 4 more are needed to judge a run")
        );
        assert_eq!(
            told(Question::Change, 1).as_deref(),
            Some(
                "b has 1 run on this machine: 9 more are needed to show a change, 5 on either side of it"
            )
        );
        assert_eq!((told(Question::Judge, 5), told(Question::Change, 10)), (None, None));
        assert_eq!(Question::Change.more(9), Some(1));
    }
}
