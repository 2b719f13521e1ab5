//! The launcher as the engine of a runner. Subjects are registered with the launcher, which runs
//! them. It is ended when the user interrupts twice.

use std::io;
use std::sync::Arc;

use rustix::io::Errno;

use super::facts::peak_memory_bytes;
use super::launcher::{Answer, Launcher, Page};
use crate::capture::Capture;
use crate::error::MeasureError;
use crate::group::InFlight;
use crate::interrupt;
use crate::prepared::Prepared;
use crate::runner::{Engine, RunOptions, Trouble, Watching, end_if_asked};
use crate::wire::{MOST_PADDING, Reply, Request};

/// Starts a launcher.
///
/// # Errors
///
/// Returns an error if the system does not allow the launcher to start.
pub(crate) fn launcher() -> io::Result<Box<dyn Engine>> {
    Ok(Box::new(Launcher::start()?))
}

impl Engine for Launcher {
    fn learn(&mut self, prepared: &Prepared) -> Result<(), Trouble> {
        let link = self.link();
        link.send(Request::Add { payload: prepared.payload.len() as u64 }, &prepared.payload, &[])?;
        loop {
            match link.receive()? {
                Answer::Reply(Reply { failure: None, .. }) => return Ok(()),
                Answer::Reply(Reply { failure: Some((step, error)), .. }) => {
                    return Err(Trouble::Error(prepared.failed(step, error)));
                }
                Answer::Signal => {}
                Answer::Gone => return Err(Trouble::Gone),
            }
        }
    }

    fn run(
        &mut self,
        (subject, prepared): (u32, &Prepared),
        options: RunOptions,
        mut watching: Option<Watching<'_>>,
    ) -> Result<(Reply, Capture), Trouble> {
        let signals_before = interrupt::count();
        let wanted = prepared.capture_request(&options).map_err(Trouble::Error)?;
        let (mut capture, writers) = Capture::open(wanted)?;
        let request = Request::Run {
            subject,
            // A timeout of zero is the shortest timeout, not the absence of one.
            timeout_ns: options.timeout.map_or(0, |t| {
                u64::try_from(t.as_nanos()).unwrap_or(u64::MAX).clamp(1, i64::MAX as u64 / 2)
            }),
            padding: options.pad.min(MOST_PADDING),
            given: writers.sent_descriptors(),
            alone: options.end_strays,
        };
        self.link().send(request, &[], &writers.descriptors())?;
        // Only the command may hold the write end of a pipe: otherwise the pipe would never reach
        // its end.
        drop(writers);
        let mut aborted = false;
        let page = Arc::clone(self.page());
        let mut ended_at = None;
        loop {
            let answer = match (&mut watching, capture.read_until(self.link().socket())) {
                (None, Ok(())) => self.link().receive()?,
                (Some(watching), Ok(())) => {
                    let (every, also) = (watching.every, watching.also);
                    let mut look = || {
                        capture.bound();
                        end_if_asked(watching, &capture, &page, &mut ended_at);
                        // Output that arrives while a run is ending is not read.
                        ended_at.is_none()
                    };
                    self.link().receive_watching(every, also, &mut look)?
                }
                (_, Err(Errno::INTR)) => Answer::Signal,
                (_, Err(error)) => return Err(io::Error::from(error).into()),
            };
            match answer {
                Answer::Reply(_) if aborted => {
                    return Err(Trouble::Error(MeasureError::Interrupted));
                }
                Answer::Reply(reply) => return Ok((reply, capture)),
                Answer::Gone if aborted => return Err(Trouble::Aborted),
                Answer::Gone => return Err(Trouble::Gone),
                // The first signal lets the run finish. Only signals during this run count, so that
                // a cleanup can still be run after an interruption.
                Answer::Signal => {
                    let signals = interrupt::count();
                    if signals >= 2 && signals > signals_before {
                        aborted = true;
                        if !self.page().kill_group() {
                            // The run is about to start, or is opening an input without a writer.
                            self.kill()?;
                        }
                    }
                }
            }
        }
    }

    fn memory_floor_bytes(&self) -> Option<u64> {
        peak_memory_bytes(Launcher::process_id(self))
    }

    fn process_id(&self) -> Option<u32> {
        Some(Launcher::process_id(self))
    }

    fn dismiss(&mut self) {
        self.link().dismiss();
    }

    fn in_flight(&self) -> Arc<dyn InFlight> {
        Arc::<Page>::clone(self.page())
    }
}
