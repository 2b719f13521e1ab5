//! A run in a preloaded process whose output is captured, as in a run by the launcher.

use super::{Client, PreloadedError, PreloadedRun, Waiting};
use crate::capture::{Capture, CaptureRequest};
use crate::interrupt;
use crate::runner::{Outcome, OutputSoFar, RunResult, Watching};
use crate::sys::clock::monotonic_ns;
use rustix::process::Signal;
use std::fs::File;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

/// Time between asking a run to end and killing it.
const GRACE: Duration = Duration::from_secs(1);
/// Interval at which signals are checked for if nothing else happens.
const PULSE: Duration = Duration::from_secs(1);

impl Client {
    /// Runs a command to its end without input, and captures its output. Processes left in its
    /// group are killed. The run must begin within `patience` and end within `timeout`. Only the
    /// outcome, the times and the output are known in the result: a fork is not our child, so its
    /// processor time is reported as 0.
    ///
    /// # Errors
    ///
    /// Returns an error if the run is unavailable or lost, or if it was ended by the watcher or a
    /// second interrupt.
    pub fn run(
        &self,
        asked: &PreloadedRun<'_>,
        (patience, timeout): (Duration, Option<Duration>),
        watching: Option<Watching<'_>>,
    ) -> Result<RunResult, PreloadedError> {
        match watching {
            Some(watching) => self.run_watched(asked, (patience, timeout), watching),
            None => {
                let mut nobody = |_: &OutputSoFar<'_>| false;
                let watching = Watching { every: PULSE, also: &[], ends: &mut nobody };
                self.run_watched(asked, (patience, timeout), watching)
            }
        }
    }

    fn run_watched(
        &self,
        asked: &PreloadedRun<'_>,
        (patience, timeout): (Duration, Option<Duration>),
        watching: Watching<'_>,
    ) -> Result<RunResult, PreloadedError> {
        let wanted =
            CaptureRequest { keep_output: true, keep_errors: true, ..CaptureRequest::default() };
        let (capture, writers) = Capture::open(wanted)?;
        let nothing = File::open("/dev/null")?;
        let given = writers.descriptors();
        let [output, errors] = given.as_slice() else {
            return Err(std::io::Error::other("no files for its output").into());
        };
        let signals_before = interrupt::count();
        let (mut is_ended, mut is_aborted) = (false, false);
        let ends = watching.ends;
        let mut stops = || {
            capture.bound();
            let signals = interrupt::count();
            is_aborted |= signals >= 2 && signals > signals_before;
            is_ended = is_aborted || ends(&|from| capture.output_so_far(from));
            is_ended
        };
        let mut waiting = Waiting { every: watching.every, also: watching.also, stops: &mut stops };
        let started_ns = monotonic_ns();
        let streams = [nothing.as_fd(), *output, *errors];
        let mut running = self.begin(asked, streams, patience, &mut waiting)?;
        drop(given);
        drop(writers);
        let until = timeout.map(|timeout| Instant::now() + timeout);
        let outcome = running.wait(until, &mut waiting)?;
        let outcome = match outcome {
            Some(outcome) => outcome,
            None => {
                if !is_aborted {
                    running.end_group(Signal::TERM);
                    let mut never = || false;
                    let mut waiting = Waiting { every: GRACE, also: &[], stops: &mut never };
                    running.wait(Some(Instant::now() + GRACE), &mut waiting)?;
                }
                if is_ended {
                    return Err(PreloadedError::Stopped);
                }
                Outcome::TimedOut
            }
        };
        let ended_ns = monotonic_ns();
        running.end_group(Signal::KILL);
        let captured = capture.finish()?;
        Ok(RunResult {
            outcome,
            wall_seconds: ended_ns.saturating_sub(started_ns) as f64 / 1e9,
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
            started_ns,
            ended_ns,
            left_behind: false,
            stderr_tail: None,
            output_bytes: None,
            output: captured.output,
            trace: None,
            errors: captured.errors,
            samples: None,
        })
    }
}
