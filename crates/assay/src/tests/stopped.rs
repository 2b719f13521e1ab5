//! Runs stopped by the user, with the tests that had ended by then.

use super::Ran;
use crate::run_error::RunError;
use assay_measure::clock::now_seconds;
use assay_measure::{Outcome, RunResult};
use assay_suites::{Answer, Run, parts};

/// Returns the result of a run that was killed without a reply from the launcher.
pub(super) fn ended_now(began: f64) -> RunResult {
    const KILL: i32 = 9;
    let ended = now_seconds();
    let nanoseconds = |seconds: f64| (seconds * 1e9) as u64;
    RunResult {
        outcome: Outcome::Signalled(KILL),
        wall_seconds: ended - began,
        user_seconds: 0.0,
        system_seconds: 0.0,
        max_rss_bytes: 0,
        minor_faults: 0,
        major_faults: 0,
        voluntary_switches: 0,
        involuntary_switches: 0,
        block_in: 0,
        block_out: 0,
        started_seconds: 0.0,
        started_ns: nanoseconds(began),
        ended_ns: nanoseconds(ended),
        left_behind: false,
        stderr_tail: None,
        output_bytes: None,
        trace: None,
        output: None,
        errors: None,
        samples: None,
    }
}

/// Returns a run that the user stopped, with the tests that had ended. Tests that were still
/// running are dropped, since their failure is due to the interruption.
pub(super) fn stopped(
    mut run: Run,
    result: RunResult,
    answer: &Answer<'_>,
) -> Result<Ran, RunError> {
    let running: Vec<String> = run.unfinished.drain(..).map(|own| own.name).collect();
    run.tests.retain(|test| !running.contains(&test.name));
    run.faults.clear();
    if run.tests.is_empty() {
        return Err(RunError::Interrupted("before any test had ended".to_owned()));
    }
    let parts = parts::of(&run, answer.began, answer.ended);
    Ok(Ran { run, parts, result, hung: None, is_stopped: true })
}
