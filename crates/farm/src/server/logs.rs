//! Logs, a file each: appended as they come, cut at a limit. What was sent beyond it is counted in a file beside it, so that it can be shown.

use super::answer::Failure;
use assay_builds::wire::Logged;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Logs hold what programs of others print: they are the server's alone.
const PRIVATE: u32 = 0o600;
const PRIVATE_DIRECTORY: u32 = 0o700;
/// Locks that all logs share: pieces of one log come one after the other.
const LOCKS: usize = 16;

/// Whose log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    /// Of a lease, by its number.
    Lease(i64),
    /// Of a build without a job.
    Build(i64),
}

/// The logs below a directory.
pub(crate) struct Logs {
    directory: PathBuf,
    limit: u64,
    locks: [Mutex<()>; LOCKS],
}

impl Logs {
    /// Those below a directory, so many bytes each.
    pub fn new(directory: PathBuf, limit: u64) -> Self {
        Self { directory, limit, locks: [const { Mutex::new(()) }; LOCKS] }
    }

    /// The file of a log, whether it is there or not.
    pub fn path(&self, of: Of) -> PathBuf {
        let (letter, number) = match of {
            Of::Lease(number) => ('l', number),
            Of::Build(number) => ('b', number),
        };
        self.directory.join(format!("{:02x}", number & 0xff)).join(format!("{letter}{number}.log"))
    }

    /// Appends what is not there yet of these bytes, which begin at this place of the log.
    ///
    /// # Errors
    /// When bytes before them are missing, or the disk refuses.
    pub fn append(&self, of: Of, offset: u64, bytes: &[u8]) -> Result<Logged, Failure> {
        let path = self.path(of);
        let number = match of {
            Of::Lease(number) | Of::Build(number) => number.unsigned_abs() as usize,
        };
        let _alone = self.locks[number % LOCKS].lock().unwrap_or_else(PoisonError::into_inner);
        let failed = |error: io::Error| Failure::of_disk(&path, &error);
        if let Some(directory) = path.parent() {
            let mut builder = fs::DirBuilder::new();
            builder.recursive(true).mode(PRIVATE_DIRECTORY).create(directory).map_err(failed)?;
        }
        let mut options = OpenOptions::new();
        let file = options.create(true).append(true).mode(PRIVATE).open(&path);
        let mut file = file.map_err(failed)?;
        let kept = file.metadata().map_err(failed)?.len();
        let end = offset.saturating_add(bytes.len() as u64);
        if offset > kept && kept < self.limit {
            return Err(Failure::conflict(format!(
                "the log has {kept} bytes, so nothing can be added at {offset}: go on at {kept}"
            )));
        }
        let known = usize::try_from(kept.saturating_sub(offset)).unwrap_or(usize::MAX);
        let room = usize::try_from(self.limit.saturating_sub(kept)).unwrap_or(usize::MAX);
        let new = bytes.get(known.min(bytes.len())..).unwrap_or_default();
        let new = &new[..new.len().min(room)];
        file.write_all(new).map_err(failed)?;
        let kept = kept + new.len() as u64;
        if end > self.limit && end > self.seen(&path) {
            fs::write(beside(&path), end.to_string()).map_err(failed)?;
        }
        Ok(Logged { bytes: kept, cut: self.seen(&path).saturating_sub(self.limit) })
    }

    /// What there is of a log; nothing of one that nobody began.
    pub fn state(&self, of: Of) -> Logged {
        let path = self.path(of);
        let bytes = path.metadata().map_or(0, |found| found.len());
        Logged { bytes, cut: self.seen(&path).saturating_sub(self.limit) }
    }

    /// Bytes of a log from a place on, so many at most.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn read(&self, of: Of, offset: u64, most: usize) -> Result<Vec<u8>, Failure> {
        let path = self.path(of);
        let mut file = match File::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            file => file.map_err(|error| Failure::of_disk(&path, &error))?,
        };
        let mut bytes = Vec::new();
        // Beyond what a file system can hold there is no place to seek.
        if file.metadata().is_ok_and(|found| offset >= found.len()) {
            return Ok(bytes);
        }
        let read = file
            .seek(SeekFrom::Start(offset))
            .and_then(|_| file.take(most as u64).read_to_end(&mut bytes));
        read.map_err(|error| Failure::of_disk(&path, &error))?;
        Ok(bytes)
    }

    /// How far a log was sent, where that is beyond the limit.
    fn seen(&self, path: &Path) -> u64 {
        fs::read_to_string(beside(path)).ok().and_then(|text| text.parse().ok()).unwrap_or(0)
    }
}

fn beside(path: &Path) -> PathBuf {
    path.with_extension("cut")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail loudly")]
    use super::*;

    #[test]
    fn a_log_grows_by_what_is_new_and_is_cut_at_its_limit() {
        let room = tempfile::tempdir().unwrap();
        let logs = Logs::new(room.path().join("logs"), 10);
        let of = Of::Lease(7);
        let put = |offset: u64, text: &str| logs.append(of, offset, text.as_bytes());
        assert_eq!(put(0, "abc").unwrap(), Logged { bytes: 3, cut: 0 });
        // Twice, and half of it again.
        assert_eq!(put(0, "abc").unwrap().bytes, 3);
        assert_eq!(put(1, "bcde").unwrap().bytes, 5);
        assert!(put(6, "x").is_err(), "the sixth byte is missing");
        assert_eq!(put(5, "fghijklm").unwrap(), Logged { bytes: 10, cut: 3 });
        // What was cut is counted once, however often it comes.
        assert_eq!(put(5, "fghijklm").unwrap(), Logged { bytes: 10, cut: 3 });
        assert_eq!(put(13, "nop").unwrap(), Logged { bytes: 10, cut: 6 });
        assert_eq!(logs.read(of, 0, 99).unwrap(), b"abcdefghij");
        assert_eq!(logs.read(of, 8, 1).unwrap(), b"i");
        assert_eq!(logs.read(of, i64::MAX as u64, 1).unwrap(), b"");
        assert_eq!(logs.state(of), Logged { bytes: 10, cut: 6 });
        assert_eq!(logs.read(Of::Build(7), 0, 9).unwrap(), b"");
        // A half that was written before the power went is completed.
        let half = Of::Build(1);
        logs.append(half, 0, b"ab").unwrap();
        assert_eq!(logs.append(half, 0, b"abcd").unwrap().bytes, 4);
        assert_eq!(logs.read(half, 0, 9).unwrap(), b"abcd");
    }
}
