//! The guard reverts changes that `assay` makes to the machine when `assay` ends, however it ends.
//!
//! A machine setting is a file in `/proc` or `/sys`. Before such a file is changed, its value is
//! passed to a small separate process (another instance of the launcher's program), which writes
//! all values back as soon as `assay` is gone, even after `kill -9`. This process runs in its own
//! session, so that Ctrl-C, a closed terminal and signals to a group do not reach it, and holds
//! neither the terminal nor any output. Only SIGKILL to the guard itself, or the loss of the
//! machine, prevents the values from being restored. The caller decides what to change; nothing is
//! changed here.

use std::path::{Path, PathBuf};

use crate::error::MeasureError;
use crate::sys::launcher::Link;
use crate::wire::{Request, remembered};

/// A small process that writes remembered values back into files of `/proc` and `/sys` when `assay`
/// ends for any reason. Dropping the guard writes them back immediately, in reverse order, and
/// waits until that is done.
pub struct Guard {
    link: Link,
    remembered: Vec<(PathBuf, String)>,
}

impl Guard {
    /// Starts the guard's process, which runs until the guard is dropped. Takes about 1 ms.
    ///
    /// # Errors
    ///
    /// Returns [`MeasureError::Launcher`] if the process can't be started.
    pub fn start() -> Result<Self, MeasureError> {
        let link = Link::start_silent().map_err(|source| MeasureError::Launcher { source })?;
        Ok(Self { link, remembered: Vec::new() })
    }

    /// Remembers the value of a file. Once this returns, the value will eventually be written back,
    /// byte for byte. Call it before the file is changed. A relative path is relative to the
    /// current directory.
    ///
    /// # Errors
    ///
    /// Returns [`MeasureError::Unguarded`] if the guard is gone or already remembers 2048 values,
    /// or if the path or the value contains a zero byte. The file must not be changed then.
    pub fn remember(&mut self, path: &Path, value: &str) -> Result<(), MeasureError> {
        let unguarded = |source| MeasureError::Unguarded { path: path.to_owned(), source };
        let absolute = std::path::absolute(path).map_err(unguarded)?;
        let invalid = || unguarded(rustix::io::Errno::INVAL.into());
        let payload = remembered(&absolute, value).ok_or_else(invalid)?;
        let request = Request::Remember { payload: payload.len() as u64 };
        self.link.send(request, &payload, &[]).map_err(unguarded)?;
        match self.link.acknowledged().map_err(unguarded)? {
            None => self.remembered.push((absolute, value.to_owned())),
            Some(error) => return Err(unguarded(std::io::Error::from_raw_os_error(error))),
        }
        Ok(())
    }

    /// Restores all values, as dropping does, but reports failures.
    ///
    /// # Errors
    ///
    /// Returns [`MeasureError::NotRestored`] with the first file that could not be restored, or
    /// with all files if the guard was killed.
    pub fn restore(mut self) -> Result<(), MeasureError> {
        let ended = self.link.end();
        let files = std::mem::take(&mut self.remembered);
        let lost = match ended.map(|status| status.code()) {
            Ok(Some(0)) => return Ok(()),
            // The status is the position of the first failure, counted from 1. The largest status
            // represents all positions from there on.
            Ok(Some(place @ 1..=254)) => {
                files.into_iter().nth(place as usize - 1).into_iter().collect()
            }
            _ => files,
        };
        if lost.is_empty() { Ok(()) } else { Err(MeasureError::NotRestored { files: lost }) }
    }

    /// Ends the guard without writing anything: for a caller that has restored everything itself.
    /// Later changes by others are kept.
    pub fn forget(mut self) {
        self.remembered.clear();
        self.link.kill();
    }

    /// Returns the process ID of the guard.
    pub fn process_id(&self) -> u32 {
        self.link.process_id()
    }
}
