//! Reads the pipes of a run while it goes on: the last of standard error is kept, standard output
//! is counted. It never waits for the end of a pipe, for a process that outlives the run may hold
//! it open.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::io::{Errno, read};
use rustix::pipe::{PipeFlags, pipe_with};

/// So much of standard error is kept, bytes.
const TAIL: usize = 4096;
/// One read; also what a pipe holds, so that nothing written before the end of a run lies deeper
/// than two of them.
const CHUNK: usize = 1 << 16;

/// The reading ends of one run's pipes, and what came out of them.
pub(crate) struct Capture {
    output: Option<OwnedFd>,
    errors: Option<OwnedFd>,
    /// `None` unless asked for.
    output_bytes: Option<u64>,
    tail: Option<Vec<u8>>,
    buffer: Vec<u8>,
}

impl Capture {
    /// Makes the pipes that are asked for. Returns the writing ends too, standard output's first:
    /// they must be dropped as soon as the launcher has them.
    pub(crate) fn open(output: bool, errors: bool) -> Result<(Self, Vec<OwnedFd>), Errno> {
        let mut writers = Vec::with_capacity(2);
        let mut make = |wanted: bool| -> Result<Option<OwnedFd>, Errno> {
            if !wanted {
                return Ok(None);
            }
            let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
            fcntl_setfl(&reader, OFlags::NONBLOCK)?;
            writers.push(writer);
            Ok(Some(reader))
        };
        let capture = Self {
            output: make(output)?,
            errors: make(errors)?,
            output_bytes: output.then_some(0),
            tail: errors.then(Vec::new),
            buffer: vec![0; CHUNK],
        };
        Ok((capture, writers))
    }

    /// Sleeps until the control socket has something, reading the pipes meanwhile. Returns early,
    /// with `Errno::INTR`, when a signal comes.
    pub(crate) fn read_until(&mut self, control: BorrowedFd<'_>) -> Result<(), Errno> {
        loop {
            let wanted = PollFlags::IN;
            let mut polled = Vec::with_capacity(3);
            polled.push(PollFd::from_borrowed_fd(control, wanted));
            for pipe in [&self.output, &self.errors].into_iter().flatten() {
                polled.push(PollFd::from_borrowed_fd(pipe.as_fd(), wanted));
            }
            poll(&mut polled, None)?;
            if !polled[0].revents().is_empty() {
                return Ok(());
            }
            self.read_some();
        }
    }

    /// Takes what still lies in the pipes after the end of the run, and gives the results: the
    /// count of standard output and the tail of standard error, each if it was asked for.
    pub(crate) fn finish(mut self) -> (Option<u64>, Option<String>) {
        // A bounded number of reads: a process outside the group may go on writing for ever.
        for _ in 0..2 {
            self.read_some();
        }
        let tail = self.tail.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        (self.output_bytes, tail)
    }

    /// One read from each pipe; a pipe at its end is closed.
    fn read_some(&mut self) {
        if let Some(pipe) = &self.output {
            match read(pipe, &mut self.buffer[..]) {
                Ok(0) => self.output = None,
                Ok(n) => *self.output_bytes.get_or_insert(0) += n as u64,
                // Empty, or woken by a signal: the next poll sees to it. A pipe has no other error.
                Err(_) => {}
            }
        }
        if let Some(pipe) = &self.errors {
            match read(pipe, &mut self.buffer[..]) {
                Ok(0) => self.errors = None,
                Ok(n) => {
                    let tail = self.tail.get_or_insert_default();
                    tail.extend_from_slice(&self.buffer[n.saturating_sub(TAIL)..n]);
                    tail.drain(..tail.len().saturating_sub(TAIL));
                }
                Err(_) => {}
            }
        }
    }
}
