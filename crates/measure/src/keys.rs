//! Reads single keys from a terminal as they are pressed, without echo. The caller interprets them.
//!
//! While keys are read in this way, Ctrl-C is a key, not a signal. The terminal is restored
//! whenever the process ends in an orderly way.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Signal, getpgrp, getpid, kill_process};
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, isatty, tcgetattr, tcgetpgrp, tcsetattr,
};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};

/// The byte sent by Ctrl-Z.
const SUSPEND: u8 = 0x1a;

/// The keys pressed at the terminal on standard input. The terminal is restored on drop.
pub struct Keys {
    input: File,
    before: Termios,
}

impl Keys {
    /// Starts to read single keys. Returns `None` if standard input is not a terminal, or is a
    /// terminal that currently belongs to another process group.
    ///
    /// # Errors
    ///
    /// Returns an error if the terminal's modes can't be read or set.
    pub fn take() -> io::Result<Option<Self>> {
        let input = io::stdin();
        if !isatty(&input) || tcgetpgrp(&input).is_ok_and(|group| group != getpgrp()) {
            return Ok(None);
        }
        let input = File::from(input.as_fd().try_clone_to_owned()?);
        let keys = Self { before: tcgetattr(&input)?, input };
        keys.set()?;
        Ok(Some(keys))
    }

    fn set(&self) -> io::Result<()> {
        let mut modes = self.before.clone();
        modes
            .local_modes
            .remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG | LocalModes::IEXTEN);
        modes.special_codes[SpecialCodeIndex::VMIN] = 0;
        modes.special_codes[SpecialCodeIndex::VTIME] = 0;
        Ok(tcsetattr(&self.input, OptionalActions::Now, &modes)?)
    }

    fn unset(&self) {
        // Nothing can be restored if the terminal has been closed.
        let _gone = tcsetattr(&self.input, OptionalActions::Now, &self.before);
    }

    /// Returns a descriptor that becomes readable when a key is pressed.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.input.as_fd()
    }

    /// Returns the bytes of the keys pressed since the last call, which may be none. On Ctrl-Z,
    /// this process is stopped, and resumes here when it is continued.
    ///
    /// # Errors
    ///
    /// Returns an error if the terminal is gone.
    pub fn pressed(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; 64];
        let mut polled = [PollFd::from_borrowed_fd(self.input.as_fd(), PollFlags::IN)];
        poll(&mut polled, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).or_else(
            |error| match error {
                Errno::INTR => Ok(0),
                other => Err(other),
            },
        )?;
        if polled[0].revents().intersects(PollFlags::HUP | PollFlags::ERR) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let read = match self.input.read(&mut bytes) {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
            Err(error) => return Err(error),
        };
        bytes.truncate(read);
        if bytes.contains(&SUSPEND) {
            self.unset();
            kill_process(getpid(), Signal::TSTP)?;
            self.set()?;
            bytes.retain(|&byte| byte != SUSPEND);
        }
        Ok(bytes)
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        self.unset();
    }
}
