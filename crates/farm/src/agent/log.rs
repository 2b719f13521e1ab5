//! The log of a job: a file that records the output of commands up to a limit and counts the rest,
//! and a thread that sends it to the server while it grows. Pieces are sent with their offsets, so
//! sending one twice has no effect. The contents are untrusted: they are passed on byte for byte
//! and must be escaped when displayed.

use super::policy::{LAST_LINES, PIECE, SEND};
use crate::client::{Client, ClientError};
use anyhow::Context;
use assay_data::threads;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;

/// A log that is being written.
#[derive(Debug)]
pub(super) struct Log {
    file: File,
    path: PathBuf,
    /// Length of the log in bytes, up to which the sender may read.
    length: Arc<AtomicU64>,
    /// Limit for the output of commands.
    limit: u64,
    cut: u64,
}

impl Log {
    /// Creates a new private log.
    ///
    /// # Errors
    /// If the file cannot be created.
    pub fn new(path: &Path, limit: u64) -> anyhow::Result<Self> {
        let file = OpenOptions::new().append(true).create_new(true).mode(0o600).open(path);
        let file = file.with_context(|| path.display().to_string())?;
        let limit = limit.saturating_sub(LAST_LINES);
        Ok(Self { file, path: path.to_owned(), length: Arc::default(), limit, cut: 0 })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn length(&self) -> u64 {
        self.length.load(Ordering::Acquire)
    }

    /// Returns the number of bytes that did not fit into the log.
    pub fn cut(&self) -> u64 {
        self.cut
    }

    /// Appends the output of a command, up to the limit.
    pub fn take(&mut self, bytes: &[u8]) {
        let room = self.limit.saturating_sub(self.length());
        let taken = bytes.len().min(usize::try_from(room).unwrap_or(usize::MAX));
        self.lose(bytes.len() as u64 - taken as u64);
        self.append(&bytes[..taken]);
    }

    /// Adds to the number of output bytes that were lost.
    pub fn lose(&mut self, bytes: u64) {
        self.cut += bytes;
    }

    /// Appends a line of the agent itself, for which space is reserved.
    pub fn say(&mut self, line: &str) {
        let line = format!("assay: {}\n", crate::plain::line(line));
        if self.length() + line.len() as u64 <= self.limit + LAST_LINES {
            self.append(line.as_bytes());
        }
    }

    fn append(&mut self, bytes: &[u8]) {
        // If the disk is full, the job ends for that reason, and the log grows no further.
        match self.file.write_all(bytes) {
            Ok(()) => {
                self.length.fetch_add(bytes.len() as u64, Ordering::Release);
            }
            Err(_) => self.cut += bytes.len() as u64,
        }
    }

    /// Appends a line with the number of bytes that are missing from the log, if there are any.
    pub fn close(&mut self) {
        if self.cut > 0 {
            let cut = self.cut;
            self.say(&format!("{cut} more bytes were written, but not kept"));
        }
    }
}

/// Sends a log from a thread while the log grows.
#[derive(Debug)]
pub(super) struct Sending {
    thread: Option<JoinHandle<u64>>,
    ends: Option<Sender<()>>,
}

impl Sending {
    /// Starts sending. `is_over` becomes true once the lease is lost and the log is no longer
    /// wanted.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn start(
        client: Arc<Client>,
        (job, nonce): (i64, String),
        log: &Log,
        is_over: Arc<AtomicBool>,
    ) -> io::Result<Self> {
        let (ends, ended) = channel::<()>();
        let (path, length) = (log.path.clone(), Arc::clone(&log.length));
        let thread = threads::start(move || {
            let mut sent = 0;
            while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(SEND) {
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
                // A piece that cannot be sent now is sent later, with the result at the latest.
                let _later =
                    send(&client, (job, &nonce), &path, &mut sent, length.load(Ordering::Acquire));
            }
            sent
        })?;
        Ok(Self { thread: Some(thread), ends: Some(ends) })
    }

    /// Stops sending, and returns the number of bytes that the server has.
    pub fn end(mut self) -> u64 {
        self.ends = None;
        self.thread.take().and_then(|own| own.join().ok()).unwrap_or(0)
    }
}

/// Sends the bytes of a file between `sent` and `length`, and advances `sent`.
///
/// # Errors
/// If the server cannot be reached or refuses them.
pub(super) fn send(
    client: &Client,
    (job, nonce): (i64, &str),
    path: &Path,
    sent: &mut u64,
    length: u64,
) -> Result<(), ClientError> {
    let Ok(file) = File::open(path) else { return Ok(()) };
    let mut piece = vec![0; PIECE];
    while *sent < length {
        let most = usize::try_from(length - *sent).unwrap_or(PIECE).min(PIECE);
        match file.read_at(&mut piece[..most], *sent) {
            Ok(0) | Err(_) => break,
            Ok(read) => {
                client.log(job, nonce, *sent, &piece[..read])?;
                *sent += read as u64;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;

    #[test]
    fn what_is_too_long_is_cut_and_said() {
        let room = tempfile::tempdir().unwrap();
        let path = room.path().join("log");
        let mut log = Log::new(&path, LAST_LINES + 10).unwrap();
        log.take(b"12345678");
        log.take(b"abcdef");
        log.lose(100);
        log.say("\u{1b}[31mnot red");
        log.close();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(
            text,
            "12345678abassay: \u{fffd}[31mnot red\nassay: 104 more bytes were written, but not kept\n"
        );
        assert_eq!((log.cut(), log.length()), (104, text.len() as u64));
    }
}
