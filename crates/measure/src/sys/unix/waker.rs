//! A pipe that a signal handler writes to, which wakes the reader at its other end.

use std::io::{self, PipeReader, PipeWriter};

use rustix::fs::{OFlags, fcntl_setfl};

/// Both ends of the pipe; neither blocks.
#[derive(Debug)]
pub(crate) struct Waker {
    pub(crate) reader: PipeReader,
    pub(crate) writer: PipeWriter,
}

impl Waker {
    pub(crate) fn new() -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        fcntl_setfl(&reader, OFlags::NONBLOCK)?;
        fcntl_setfl(&writer, OFlags::NONBLOCK)?;
        Ok(Self { reader, writer })
    }
}
