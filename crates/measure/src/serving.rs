//! A server that is started for a load test. It leads its own session, and all its descendants are
//! tracked and accounted for. None is left when it is stopped, or when `assay` is gone, however it
//! ends, because a guard then kills the server's process group.
//!
//! This module is independent of the server's network protocol.

use crate::command::Command;
use crate::interrupt;
use crate::runner::Outcome;
use crate::sys::child;
use crate::sys::launcher::Launcher;
use crate::sys::processes::{self, Member};
use assay_data::system_error::reason;
use rustix::process::{
    Pid, Signal, WaitOptions, getpid, kill_process, kill_process_group, set_child_subreaper,
    waitpid,
};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Time that a server has to end on request.
const GRACE: Duration = Duration::from_secs(5);
/// Maximum number of bytes returned from the end of a server's output.
const TAIL: u64 = 4000;

/// The server can't be started.
#[derive(Debug, thiserror::Error)]
#[error("the server `{program}` can't be started: {reason}", reason = reason(source))]
pub struct ServingError {
    program: String,
    source: io::Error,
}

/// A server and all its descendants.
pub struct Server {
    root: Pid,
    guard: Launcher,
    said: File,
    ended: Cell<Option<Outcome>>,
    /// Processes known to belong to the server, with their start times. Once a process has become a
    /// daemon, nothing else shows that it belongs to the server.
    known: RefCell<HashMap<u32, u64>>,
}

/// Processor time used by a server up to a certain time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    cpu_seconds: f64,
}

/// Resource use of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ServerUsage {
    /// Processor time used by all the server's processes since the earlier [`Look`], in seconds.
    pub cpu_seconds: f64,
    /// Current memory of all the server's processes, in bytes, with shared memory counted once
    /// (`Pss` of proc(5)); `None` if the kernel does not report it.
    pub memory_bytes: Option<u64>,
    /// Current number of open descriptors of all the server's processes; `None` if it can't be
    /// read.
    pub descriptors: Option<u64>,
}

impl Server {
    /// Starts a server. Its output is kept in an unnamed file in `directory`. `cpus` lists the
    /// processors that it may use; if it is empty, the server may use all.
    ///
    /// # Errors
    ///
    /// Returns an error if the server can't be started.
    pub fn start(command: &Command, cpus: &[u32], directory: &Path) -> Result<Self, ServingError> {
        Self::start_as(command, cpus, directory, None)
    }

    /// Like [`Server::start`], but runs the server with this user and group ID, and without other
    /// groups. Only root can do that.
    ///
    /// # Errors
    ///
    /// Returns an error if the server can't be started.
    pub fn start_as(
        command: &Command,
        cpus: &[u32],
        directory: &Path,
        user: Option<(u32, u32)>,
    ) -> Result<Self, ServingError> {
        let program = command.argv.first().map(|word| word.to_string_lossy().into_owned());
        let program = program.unwrap_or_default();
        let failed = |source: io::Error| ServingError { program: program.clone(), source };
        set_child_subreaper(Some(getpid())).map_err(|error| failed(error.into()))?;
        let guard = Launcher::start_as_guard().map_err(failed)?;
        let said = tempfile_in(directory).map_err(failed)?;
        let mut process = std::process::Command::new(&command.argv[0]);
        process.args(&command.argv[1..]).envs(command.env.iter().map(|(k, v)| (k, v)));
        if let Some(directory) = &command.cwd {
            process.current_dir(directory);
        }
        if let Some((user, group)) = user {
            // The standard library then drops all other groups.
            process.uid(user).gid(group);
        }
        let shown = || said.try_clone().map(Stdio::from).map_err(failed);
        process.stdin(Stdio::null()).stdout(shown()?).stderr(shown()?);
        child::end_with_us_as_session(&mut process, Arc::clone(guard.page()));
        // A child inherits its parent's processor affinity.
        let before = sched_getaffinity(None).map_err(|error| failed(error.into()))?;
        if !cpus.is_empty() {
            let mut own = CpuSet::new();
            cpus.iter()
                .filter(|&&cpu| (cpu as usize) < CpuSet::MAX_CPU)
                .for_each(|&cpu| own.set(cpu as usize));
            sched_setaffinity(None, &own).map_err(|error| failed(error.into()))?;
        }
        let started = process.spawn();
        if !cpus.is_empty() {
            sched_setaffinity(None, &before).map_err(|error| failed(error.into()))?;
        }
        let started = started.map_err(|error| {
            guard.page().set_group(0);
            failed(error)
        })?;
        Ok(Self {
            root: Pid::from_child(&started),
            guard,
            said,
            ended: Cell::new(None),
            known: RefCell::default(),
        })
    }

    fn outcome(&self) -> Option<Outcome> {
        if self.ended.get().is_none()
            && let Ok(Some((_, status))) = waitpid(Some(self.root), WaitOptions::NOHANG)
        {
            self.ended.set(Some(Outcome::of_status(status.as_raw())));
        }
        self.ended.get()
    }

    /// Returns the exit status of the started process, or 128 plus the number of the signal that
    /// ended it; `None` while it is running.
    pub fn status(&self) -> Option<i32> {
        self.outcome().map(|outcome| match outcome {
            Outcome::Exited(status) => status,
            Outcome::Signalled(signal) => 128 + signal,
            _ => 1,
        })
    }

    /// Asks the started process to end (SIGTERM) and does not wait for that. Dropping the value
    /// waits.
    pub fn ask_to_end(&self) {
        // It may have just ended.
        let _gone = kill_process(self.root, Signal::TERM);
    }

    /// Returns how the server ended, and the end of its output; `None` while it is running.
    pub fn ended(&self) -> Option<String> {
        let how = match self.outcome()? {
            Outcome::Exited(status) => format!("ended with status {status}"),
            Outcome::Signalled(signal) => format!("was ended by signal {signal}"),
            other => format!("ended: {other:?}"),
        };
        let said = self.output_tail();
        let said = said.trim();
        Some(if said.is_empty() { how } else { format!("{how}; it said:\n{said}") })
    }

    /// Returns the end of the server's output; invalid UTF-8 is replaced.
    pub fn output_tail(&self) -> String {
        let mut said = &self.said;
        let length = said.metadata().map_or(0, |file| file.len());
        let mut bytes = Vec::new();
        let read = said
            .seek(SeekFrom::Start(length.saturating_sub(TAIL)))
            .and_then(|_| said.read_to_end(&mut bytes))
            .and_then(|_| said.seek(SeekFrom::End(0)));
        // The output serves only as an explanation, so a failure to read it is ignored.
        read.map_or_else(|_| String::new(), |_| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Asks the started process to quit immediately (SIGQUIT), and waits up to five seconds for
    /// that.
    pub fn quit(&self) {
        // It may have just ended.
        let _gone = kill_process(self.root, Signal::QUIT);
        let began = Instant::now();
        while self.ended().is_none() && began.elapsed() < GRACE {
            sleep(Duration::from_millis(5));
        }
    }

    /// Returns the IDs of all the server's processes.
    pub fn processes(&self) -> Vec<u32> {
        self.tree().into_iter().map(|process| process.id).collect()
    }

    fn tree(&self) -> Vec<Member> {
        let root = self.root.as_raw_nonzero().get().unsigned_abs();
        let tree = processes::tree_of(root, &self.known.borrow());
        self.known.borrow_mut().extend(tree.iter().map(|own| (own.id, own.started)));
        tree
    }

    /// Returns the server's processor time so far, for [`Self::used_since`].
    pub fn looked_at(&self) -> Look {
        Look { cpu_seconds: self.tree().iter().map(|process| process.cpu_seconds).sum() }
    }

    /// Returns the processor time that the server has used since `look`, and the memory and
    /// descriptors that it currently holds.
    pub fn used_since(&self, look: &Look) -> ServerUsage {
        let all = self.processes();
        let sum = |of: fn(u32) -> Option<u64>| {
            all.iter().filter_map(|&process| of(process)).reduce(|a, b| a + b)
        };
        ServerUsage {
            cpu_seconds: (self.looked_at().cpu_seconds - look.cpu_seconds).max(0.0),
            memory_bytes: sum(processes::memory_bytes),
            descriptors: sum(processes::descriptors),
        }
    }

    /// Asks all the server's processes to end, and kills those that do not end in time.
    fn end(&self) {
        let began = Instant::now();
        let mut signal = Signal::TERM;
        let mut told = false;
        let interrupts = interrupt::count();
        loop {
            // Processes may start others while they are being signaled, and daemons have left the
            // group, so each process is also signaled individually.
            let all = self.processes();
            let is_over = self.ended().is_some() && all.is_empty();
            if is_over {
                break;
            }
            let impatient = began.elapsed() > GRACE || interrupt::count() > interrupts + 1;
            if !told || impatient {
                signal = if impatient { Signal::KILL } else { signal };
                // They may have just ended.
                let _gone = kill_process_group(self.root, signal);
                for process in all {
                    let known = Pid::from_raw(process.cast_signed());
                    let _gone = known.map(|process| kill_process(process, signal));
                }
                told = true;
            }
            sleep(Duration::from_millis(5));
        }
        // The server's orphans have become our children, and exist until they are waited for.
        for &process in self.known.borrow().keys() {
            let known = Pid::from_raw(process.cast_signed()).filter(|own| *own != self.root);
            let _not_ours = known.map(|own| waitpid(Some(own), WaitOptions::NOHANG));
        }
        self.guard.page().set_group(0);
    }
}

/// Restricts this thread, and all threads and processes that it starts from now on, to these
/// processors.
///
/// # Errors
///
/// Returns an error if the system refuses.
pub fn run_on(cpus: &[u32]) -> io::Result<()> {
    let mut own = CpuSet::new();
    cpus.iter()
        .filter(|&&cpu| (cpu as usize) < CpuSet::MAX_CPU)
        .for_each(|&cpu| own.set(cpu as usize));
    Ok(sched_setaffinity(None, &own)?)
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

/// Creates an unnamed file in a directory.
fn tempfile_in(directory: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags, open};
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC | OFlags::APPEND;
    Ok(open(directory, flags, Mode::RUSR | Mode::WUSR)?.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emulated::{Emulated, ignored_under_emulation};

    fn shell(line: &str) -> Command {
        Command::parse(&format!("sh -c '{line}'"), false).expect("a command")
    }

    fn gone(processes: &[u32]) -> bool {
        processes.iter().all(|id| !Path::new(&format!("/proc/{id}")).exists())
    }

    #[test]
    fn all_that_a_server_starts_is_found_measured_and_ended() {
        if ignored_under_emulation(Emulated::Orphans) {
            return;
        }
        let line = "echo hello; setsid sleep 100 & (while :; do :; done) & wait";
        let server = Server::start(&shell(line), &[], &std::env::temp_dir()).expect("started");
        let before = server.looked_at();
        let began = Instant::now();
        while server.processes().len() < 3 || server.used_since(&before).cpu_seconds < 0.05 {
            assert!(began.elapsed() < Duration::from_secs(20), "{:?}", server.processes());
            sleep(Duration::from_millis(10));
        }
        let used = server.used_since(&before);
        assert!(used.memory_bytes.is_some_and(|bytes| bytes > 100_000), "{used:?}");
        assert!(used.descriptors.is_some_and(|count| count >= 3), "{used:?}");
        assert_eq!(server.output_tail(), "hello\n");
        assert_eq!(server.ended(), None);
        let all = server.processes();
        drop(server);
        assert!(gone(&all), "{all:?}");
    }

    #[test]
    fn how_a_server_ended_is_told_with_what_it_said() {
        if ignored_under_emulation(Emulated::Orphans) {
            return;
        }
        let server = Server::start(&shell("echo no port >&2; exit 3"), &[], &std::env::temp_dir());
        let server = server.expect("started");
        let began = Instant::now();
        let how = loop {
            if let Some(how) = server.ended() {
                break how;
            }
            assert!(began.elapsed() < Duration::from_secs(20));
            sleep(Duration::from_millis(5));
        };
        assert_eq!(how, "ended with status 3; it said:\nno port");
    }
}
