//! Logs, one file each. Pieces are appended as they arrive, up to a size limit. If more bytes
//! arrive, a file next to the log records the full length, so that the number of omitted bytes can
//! be shown.

use super::answer::{Failure, LogOwner};
use assay_farm::builds::wire::LogExtent;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Mode of log files. They contain output of untrusted programs and are private to the server.
const PRIVATE: u32 = 0o600;
/// Mode of the directories that contain logs.
const PRIVATE_DIRECTORY: u32 = 0o700;
/// Number of locks, each shared by several logs. A lock ensures that pieces of a log are written
/// one after another.
const LOCKS: usize = 16;

/// The log files in a directory.
pub(crate) struct Logs {
    directory: PathBuf,
    limit: u64,
    locks: [Mutex<()>; LOCKS],
}

impl Logs {
    /// Creates the logs in a directory. `limit` is the maximum size of a log in bytes.
    pub fn new(directory: PathBuf, limit: u64) -> Self {
        Self { directory, limit, locks: [const { Mutex::new(()) }; LOCKS] }
    }

    /// Returns the path of a log, which need not exist.
    pub fn path(&self, of: LogOwner) -> PathBuf {
        let (letter, number) = match of {
            LogOwner::Lease(number) => ('l', number),
            LogOwner::Build(number) => ('b', number),
        };
        self.directory.join(format!("{:02x}", number & 0xff)).join(format!("{letter}{number}.log"))
    }

    /// Appends `bytes`, which begin at `offset` of the log, except for those that the log already
    /// has.
    ///
    /// # Errors
    /// If the bytes between the end of the log and `offset` are missing, or writing fails.
    pub fn append(&self, of: LogOwner, offset: u64, bytes: &[u8]) -> Result<LogExtent, Failure> {
        let path = self.path(of);
        let number = match of {
            LogOwner::Lease(number) | LogOwner::Build(number) => number.unsigned_abs() as usize,
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
                "the log has {kept} bytes, so nothing can be added at offset {offset}: continue at {kept}"
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
        Ok(LogExtent { bytes: kept, cut: self.seen(&path).saturating_sub(self.limit) })
    }

    /// Returns the number of stored and omitted bytes of a log, both 0 if it does not exist.
    pub fn state(&self, of: LogOwner) -> LogExtent {
        let path = self.path(of);
        let bytes = path.metadata().map_or(0, |found| found.len());
        LogExtent { bytes, cut: self.seen(&path).saturating_sub(self.limit) }
    }

    /// Returns at most `most` bytes of a log, starting at `offset`; none if the log does not exist.
    ///
    /// # Errors
    /// If reading fails.
    pub fn read(&self, of: LogOwner, offset: u64, most: usize) -> Result<Vec<u8>, Failure> {
        let path = self.path(of);
        let mut file = match File::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            file => file.map_err(|error| Failure::of_disk(&path, &error))?,
        };
        let mut bytes = Vec::new();
        // Seeking to an offset above the maximum file size would fail.
        if file.metadata().is_ok_and(|found| offset >= found.len()) {
            return Ok(bytes);
        }
        let read = file
            .seek(SeekFrom::Start(offset))
            .and_then(|_| file.take(most as u64).read_to_end(&mut bytes));
        read.map_err(|error| Failure::of_disk(&path, &error))?;
        Ok(bytes)
    }

    /// Returns the full length of a log including omitted bytes, or 0 if it is within the limit.
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
        let of = LogOwner::Lease(7);
        let put = |offset: u64, text: &str| logs.append(of, offset, text.as_bytes());
        assert_eq!(put(0, "abc").unwrap(), LogExtent { bytes: 3, cut: 0 });
        // The text is sent again, first unchanged and then with an overlap.
        assert_eq!(put(0, "abc").unwrap().bytes, 3);
        assert_eq!(put(1, "bcde").unwrap().bytes, 5);
        assert!(put(6, "x").is_err(), "the sixth byte is missing");
        assert_eq!(put(5, "fghijklm").unwrap(), LogExtent { bytes: 10, cut: 3 });
        // Omitted bytes are counted once, even if they are sent several times.
        assert_eq!(put(5, "fghijklm").unwrap(), LogExtent { bytes: 10, cut: 3 });
        assert_eq!(put(13, "nop").unwrap(), LogExtent { bytes: 10, cut: 6 });
        assert_eq!(logs.read(of, 0, 99).unwrap(), b"abcdefghij");
        assert_eq!(logs.read(of, 8, 1).unwrap(), b"i");
        assert_eq!(logs.read(of, i64::MAX as u64, 1).unwrap(), b"");
        assert_eq!(logs.state(of), LogExtent { bytes: 10, cut: 6 });
        assert_eq!(logs.read(LogOwner::Build(7), 0, 9).unwrap(), b"");
        // A piece of which only the beginning was written before a power failure is completed.
        let half = LogOwner::Build(1);
        logs.append(half, 0, b"ab").unwrap();
        assert_eq!(logs.append(half, 0, b"abcd").unwrap().bytes, 4);
        assert_eq!(logs.read(half, 0, 9).unwrap(), b"abcd");
    }
}
