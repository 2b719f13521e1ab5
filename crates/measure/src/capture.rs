//! Captures the output of a run: standard output, standard error, and samples.
//!
//! Output that must be kept goes to files in memory, which need no reader during the run. Pipes are
//! read during the run: the last part of standard error is kept, and standard output is counted or
//! traced. The end of a pipe is never awaited, since a process that outlives the run may keep the
//! pipe open.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::io::{Errno, read};

use crate::options::LastWords;
use crate::sys::memory;
use crate::trace::{Trace, Tracer, Window};
use crate::wire::SentDescriptors;

/// Number of bytes kept from the end of standard error.
const TAIL: usize = 4096;
/// Maximum number of bytes of one read. It equals the capacity of a pipe, so two reads return
/// everything written before the end of a run.
const CHUNK: usize = 1 << 16;
/// Maximum number of bytes kept of each output of a run.
const MOST_KEPT: u64 = 64 << 20;

/// The captured output of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptOutput {
    /// The first bytes of the output, at most 64 MiB.
    pub bytes: Vec<u8>,
    /// Total number of bytes written; more than `bytes.len()` if only the first 64 MiB were kept.
    pub written: u64,
}

/// Selects the outputs of a run that are captured.
#[derive(Debug, Default)]
pub(crate) struct CaptureRequest {
    /// If true, standard output goes to a pipe and its bytes are counted. Must not be combined with
    /// `keep_output`.
    pub(crate) pipe_output: bool,
    /// If given, standard output goes to a pipe and is traced. The window selects the part that is
    /// kept.
    pub(crate) trace_output: Option<Window>,
    pub(crate) keep_output: bool,
    pub(crate) keep_errors: bool,
    /// How to capture the last part of standard error.
    pub(crate) last_words: LastWords,
    pub(crate) samples: Samples,
}

/// Destination of a run's samples.
#[derive(Debug, Default)]
pub(crate) enum Samples {
    #[default]
    Nowhere,
    /// A file in memory, which the command inherits as a descriptor.
    Descriptor,
    /// This file, which the command opens by name.
    File(File),
}

/// The capture in progress of one run: its files in memory, the read ends of its pipes, and the
/// data read so far.
pub(crate) struct Capture {
    output: Option<OwnedFd>,
    errors: Option<OwnedFd>,
    /// Number of bytes read from standard output; `None` if counting was not requested.
    output_bytes: Option<u64>,
    tracer: Option<Tracer>,
    /// Last bytes read from the pipe of standard error.
    piped_tail: Vec<u8>,
    tail: bool,
    keep_errors: bool,
    kept_output: Option<File>,
    kept_errors: Option<File>,
    samples: Option<File>,
    buffer: Vec<u8>,
}

/// The output captured from one run. Parts that were not requested are `None`.
pub(crate) struct CaptureResult {
    pub(crate) output_bytes: Option<u64>,
    pub(crate) stderr_tail: Option<String>,
    pub(crate) output: Option<KeptOutput>,
    pub(crate) trace: Option<Trace>,
    pub(crate) errors: Option<KeptOutput>,
    pub(crate) samples: Option<KeptOutput>,
}

/// The write ends to send to the launcher. They must be dropped once it has received them.
#[derive(Default)]
pub(crate) struct Writers {
    stdout: Option<OwnedFd>,
    stderr: Option<OwnedFd>,
    samples: Option<OwnedFd>,
}

impl Writers {
    /// Returns the descriptors for standard output and standard error, for a caller that passes
    /// them to a child itself.
    pub(crate) fn into_standard(self) -> (Option<OwnedFd>, Option<OwnedFd>) {
        (self.stdout, self.stderr)
    }

    pub(crate) fn sent_descriptors(&self) -> SentDescriptors {
        SentDescriptors {
            stdout: self.stdout.is_some(),
            stderr: self.stderr.is_some(),
            samples: self.samples.is_some(),
        }
    }

    /// Returns the descriptors in the order in which the launcher's protocol expects them.
    pub(crate) fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        let all = [&self.stdout, &self.stderr, &self.samples];
        all.into_iter().flatten().map(AsFd::as_fd).collect()
    }
}

impl Capture {
    /// Creates the requested files and pipes.
    pub(crate) fn open(wanted: CaptureRequest) -> io::Result<(Self, Writers)> {
        let mut writers = Writers::default();
        let mut capture = Self {
            output: None,
            errors: None,
            output_bytes: wanted.pipe_output.then_some(0),
            tracer: wanted.trace_output.map(Tracer::new),
            piped_tail: Vec::new(),
            tail: wanted.last_words != LastWords::Unheard,
            keep_errors: wanted.keep_errors,
            kept_output: None,
            kept_errors: None,
            samples: None,
            buffer: Vec::new(),
        };
        // Output that a metric reads goes to a file in memory and never to a pipe, because reading
        // a pipe would wake `assay` while the program runs. Only runs that are not timed are
        // traced.
        if wanted.trace_output.is_some() {
            (capture.output, writers.stdout) = pipe_to_read()?;
        } else if wanted.keep_output {
            (capture.kept_output, writers.stdout) = file_to_keep("assay-output")?;
        } else if wanted.pipe_output {
            (capture.output, writers.stdout) = pipe_to_read()?;
        }
        if wanted.keep_errors || wanted.last_words == LastWords::Filed {
            (capture.kept_errors, writers.stderr) = file_to_keep("assay-errors")?;
        } else if wanted.last_words == LastWords::Piped {
            (capture.errors, writers.stderr) = pipe_to_read()?;
        }
        match wanted.samples {
            Samples::Nowhere => {}
            Samples::Descriptor => {
                (capture.samples, writers.samples) = file_to_keep("assay-samples")?;
            }
            Samples::File(file) => capture.samples = Some(file),
        }
        if capture.output.is_some() || capture.errors.is_some() {
            capture.buffer = vec![0; CHUNK];
        }
        Ok((capture, writers))
    }

    /// Returns the standard output captured so far, starting at offset `from`. Returns at most 64
    /// KiB per call, and nothing if the output is not kept.
    pub(crate) fn output_so_far(&self, from: u64) -> Vec<u8> {
        let mut bytes = vec![0; CHUNK];
        let file = self.kept_output.as_ref();
        let read = file.and_then(|file| file.read_at(&mut bytes, from).ok()).unwrap_or(0);
        bytes.truncate(read);
        bytes
    }

    /// Frees the memory of output that exceeds the limit, except for its last part. The freed bytes
    /// still count as written.
    pub(crate) fn bound(&self) {
        for file in [&self.kept_output, &self.kept_errors].into_iter().flatten() {
            let written = file.metadata().map_or(0, |found| found.len());
            let end = written.saturating_sub(CHUNK as u64);
            if end > MOST_KEPT + CHUNK as u64 {
                memory::give_back(file, MOST_KEPT, end - MOST_KEPT);
            }
        }
    }

    /// Waits until the control socket is readable, and reads the pipes in the meantime. Returns
    /// early with `Errno::INTR` on a signal, and immediately if no pipe is open.
    pub(crate) fn read_until(&mut self, control: BorrowedFd<'_>) -> Result<(), Errno> {
        while self.output.is_some() || self.errors.is_some() {
            let wanted = PollFlags::IN;
            let mut polled = Vec::with_capacity(3);
            polled.push(PollFd::from_borrowed_fd(control, wanted));
            polled.extend(self.pipes().map(|pipe| PollFd::from_borrowed_fd(pipe, wanted)));
            poll(&mut polled, None)?;
            if !polled[0].revents().is_empty() {
                return Ok(());
            }
            self.read_some();
        }
        Ok(())
    }

    /// Reads the remaining bytes from the pipes after the end of the run, reads the files, and
    /// returns the requested output.
    pub(crate) fn finish(mut self) -> io::Result<CaptureResult> {
        // The number of reads is bounded because a process outside the group may continue writing
        // forever.
        for _ in 0..2 {
            self.read_some();
        }
        let tail = match &self.kept_errors {
            _ if !self.tail => None,
            Some(file) => {
                let written = file.metadata()?.len();
                let length = written.min(TAIL as u64);
                Some(read_part(file, written - length, length)?)
            }
            None => Some(self.piped_tail),
        };
        Ok(CaptureResult {
            output_bytes: self.output_bytes,
            stderr_tail: tail.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
            output: self.kept_output.as_ref().map(kept).transpose()?,
            trace: self.tracer.map(Tracer::finish),
            errors: self.kept_errors.as_ref().filter(|_| self.keep_errors).map(kept).transpose()?,
            samples: self.samples.as_ref().map(kept).transpose()?,
        })
    }

    /// Returns the pipes that have to be read during the run with [`Capture::read_some`].
    pub(crate) fn pipes(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        [&self.output, &self.errors].into_iter().flatten().map(AsFd::as_fd)
    }

    /// Reads once from each pipe, and closes a pipe that has reached its end.
    pub(crate) fn read_some(&mut self) {
        if let Some(pipe) = &self.output {
            match read(pipe, &mut self.buffer[..]) {
                Ok(0) => self.output = None,
                Ok(n) => {
                    let bytes = &self.buffer[..n];
                    if let Some(count) = &mut self.output_bytes {
                        *count += n as u64;
                    }
                    if let Some(tracer) = &mut self.tracer {
                        tracer.add(bytes);
                    }
                }
                // The pipe is empty, or the read was interrupted by a signal; the next poll handles
                // both. Other errors do not occur for pipes.
                Err(_) => {}
            }
        }
        if let Some(pipe) = &self.errors {
            match read(pipe, &mut self.buffer[..]) {
                Ok(0) => self.errors = None,
                Ok(n) => {
                    let tail = &mut self.piped_tail;
                    tail.extend_from_slice(&self.buffer[n.saturating_sub(TAIL)..n]);
                    tail.drain(..tail.len().saturating_sub(TAIL));
                }
                Err(_) => {}
            }
        }
    }
}

fn pipe_to_read() -> io::Result<(Option<OwnedFd>, Option<OwnedFd>)> {
    let (reader, writer) = io::pipe()?;
    fcntl_setfl(&reader, OFlags::NONBLOCK)?;
    Ok((Some(reader.into()), Some(writer.into())))
}

/// Creates a file in memory for output. Every write appends to it, so several processes that share
/// it cannot overwrite each other's output.
fn file_to_keep(name: &str) -> io::Result<(Option<File>, Option<OwnedFd>)> {
    let file = memory::file(name)?;
    fcntl_setfl(&file, OFlags::APPEND)?;
    let writer = OwnedFd::from(file.try_clone()?);
    Ok((Some(file), Some(writer)))
}

/// Returns the current contents of a file. A process that outlived its run may still be writing to
/// it.
fn kept(file: &File) -> io::Result<KeptOutput> {
    let written = file.metadata()?.len();
    let bytes = read_part(file, 0, written.min(MOST_KEPT))?;
    Ok(KeptOutput { bytes, written })
}

/// Reads at most `length` bytes from offset `start`. Returns fewer if the file ends earlier.
fn read_part(file: &File, start: u64, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(length.min(MOST_KEPT)).map_err(io::Error::other)?];
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read_at(&mut bytes[filled..], start + filled as u64) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;
    use std::io::Write;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn what_is_not_kept_takes_no_memory_and_is_counted() {
        let wanted = CaptureRequest { keep_output: true, ..CaptureRequest::default() };
        let (capture, writers) = Capture::open(wanted).unwrap();
        let mut writer = File::from(writers.stdout.unwrap());
        let piece = vec![b'x'; 1 << 20];
        let most = MOST_KEPT >> 20;
        for _ in 0..most + 8 {
            writer.write_all(&piece).unwrap();
        }
        capture.bound();
        writer.write_all(b"the end").unwrap();
        let held = writer.metadata().unwrap().blocks() * 512;
        assert!(held < MOST_KEPT + (1 << 20), "{held}");
        let kept = capture.finish().unwrap().output.unwrap();
        assert_eq!(kept.written, ((most + 8) << 20) + 7);
        assert_eq!(kept.bytes.len() as u64, MOST_KEPT);
        assert!(kept.bytes.iter().all(|byte| *byte == b'x'));
    }
}
