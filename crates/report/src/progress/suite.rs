//! Lines shown while a suite is measured: the plan and the progress.

use super::GAP;
use crate::number;
use assay_analysis::Verdict;
use assay_data::list;
use assay_data::{Plan, StopRule, Unit};

/// Current state of a suite's comparisons.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SuiteStanding {
    faster: usize,
    slower: usize,
    equivalent: usize,
    open: usize,
    given_up: usize,
}

impl SuiteStanding {
    /// Counts a comparison by its current verdict, or as open if its benchmark is still being
    /// measured.
    pub fn add(&mut self, verdict: Option<Verdict>, open: bool) {
        *match verdict {
            _ if open => &mut self.open,
            Some(Verdict::Faster) => &mut self.faster,
            Some(Verdict::Slower) => &mut self.slower,
            Some(Verdict::Equivalent) => &mut self.equivalent,
            Some(Verdict::Inconclusive) | None => &mut self.given_up,
        } += 1;
    }
}

/// Returns the progress of a suite:
/// `round 12   2 faster, 1 slower, 9 equivalent, 7 open   0:23 of 1:00`.
pub fn suite_status(
    round: usize,
    standing: &SuiteStanding,
    elapsed_seconds: f64,
    budget_seconds: Option<f64>,
) -> String {
    let counts = [
        (standing.faster, "faster"),
        (standing.slower, "slower"),
        (standing.equivalent, "equivalent"),
        (standing.given_up, "given up"),
        (standing.open, "open"),
    ];
    let told: Vec<String> =
        counts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
    let elapsed = number::clock(elapsed_seconds);
    let time = match budget_seconds {
        Some(budget) => format!("{elapsed} of {}", number::clock(budget)),
        None => elapsed,
    };
    format!("round {}{GAP}{}{GAP}{time}", round + 1, told.join(", "))
}

/// Approximate number of rounds required for a first verdict.
const ROUNDS_OF_A_VERDICT: f64 = 12.0;

/// Returns the plan of a suite with its approximate duration: `20 benchmarks on old and new (Google
/// Benchmark); a round takes about 3 s: until every verdict is clear, or 60 s`. `pinned` means that
/// every side runs the same number of iterations. If the first verdicts may take longer than the
/// budget, the plan says that measuring may continue for up to `ceiling_seconds`.
pub fn suite_plan(
    benchmarks: usize,
    sides: &[&str],
    harness: &str,
    pinned: bool,
    round_seconds: f64,
    (plan, ceiling_seconds): (&Plan, f64),
) -> String {
    let alone = sides.len() < 2;
    let what = match benchmarks {
        1 => "1 benchmark".to_owned(),
        n => format!("{n} benchmarks"),
    };
    let sides = list::all(sides);
    let work = if pinned && !alone { ", the same number of iterations on every side" } else { "" };
    let seconds = |seconds: f64| number::rough(seconds, &Unit::Second);
    let known = if alone { "every median is precise" } else { "every verdict is clear" };
    let length = match (&plan.stop, plan.budget_seconds) {
        (StopRule::Fixed { blocks }, _) => {
            format!("{blocks} rounds, about {}", seconds(round_seconds * f64::from(*blocks)))
        }
        (StopRule::Sequential { .. }, Some(budget)) => {
            let mut length = format!("until {known}, or {}", number::chosen(budget, &Unit::Second));
            if round_seconds * ROUNDS_OF_A_VERDICT > budget && ceiling_seconds > budget {
                length += &format!(
                    "; up to {} if the first verdicts take that long, unless --time {budget}s is given",
                    number::chosen(ceiling_seconds, &Unit::Second)
                );
            }
            length
        }
        (StopRule::Sequential { .. }, None) => format!("until {known}"),
    };
    format!(
        "{what} on {sides} ({harness}{work}); a round takes about {}: {length}",
        seconds(round_seconds)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_data::Threshold;

    #[test]
    fn the_line_counts_what_is_known() {
        let mut standing = SuiteStanding::default();
        standing.add(Some(Verdict::Faster), false);
        standing.add(Some(Verdict::Faster), true);
        standing.add(None, false);
        let line = suite_status(11, &standing, 23.4, Some(60.0));
        assert_eq!(line, "round 12   1 faster, 1 given up, 1 open   0:23 of 1:00");
    }

    #[test]
    fn the_plan_says_how_much_and_how_long() {
        let plan = Plan::sequential(0.95, Threshold::default(), 1);
        let told = suite_plan(20, &["old", "new"], "Google Benchmark", false, 3.4, (&plan, 60.0));
        assert_eq!(
            told,
            "20 benchmarks on old and new (Google Benchmark); a round takes about 3.4 s: until every verdict is clear, or 60 s"
        );
        let told = suite_plan(2, &["bm"], "Google Benchmark", true, 0.1, (&plan, 300.0));
        assert_eq!(
            told,
            "2 benchmarks on bm (Google Benchmark); a round takes about 100 ms: until every median is precise, or 60 s"
        );
        let told = suite_plan(2, &["a", "b"], "Go", false, 7.6, (&plan, 300.0));
        assert!(
            told.ends_with("or 60 s; up to 300 s if the first verdicts take that long, unless --time 60s is given"),
            "{told}"
        );
        let fixed = Plan { stop: StopRule::Fixed { blocks: 10 }, ..plan };
        let told = suite_plan(1, &["a", "b", "c"], "Go", true, 0.5, (&fixed, 300.0));
        assert!(told.starts_with("1 benchmark on a, b and c (Go, the same number"), "{told}");
        assert!(told.ends_with("a round takes about 500 ms: 10 rounds, about 5.0 s"), "{told}");
    }
}
