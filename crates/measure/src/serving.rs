//! A server that is started to be loaded: it leads a session of its own, everything that it starts is found and accounted for, and nothing
//! of it is left when it is stopped, or when `assay` is gone, however that came about (then a guard kills its group).
//!
//! What is asked of it over the network is not known here.

use crate::command::Command;
use crate::interrupt;
use crate::runner::Outcome;
use crate::sys::child;
use crate::sys::launcher::Launcher;
use crate::sys::processes::{self, Member};
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

/// How long a server may take to end once it was asked to.
const GRACE: Duration = Duration::from_secs(5);
/// So much of what it said is kept, from its end.
const TAIL: u64 = 4000;

/// Why a server can't be started.
#[derive(Debug, thiserror::Error)]
#[error("the server `{program}` can't be started: {source}")]
pub struct ServingError {
    program: String,
    source: io::Error,
}

/// A server and all that it has started.
pub struct Server {
    root: Pid,
    guard: Launcher,
    said: File,
    ended: Cell<Option<Outcome>>,
    /// Processes that were found to be its own, with when they were started: one that becomes a daemon is no longer seen to be.
    known: RefCell<HashMap<u32, u64>>,
}

/// What a server had used until some moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    cpu_seconds: f64,
}

/// What a server used.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Used {
    /// Processor time of all its processes since the look, s.
    pub cpu_seconds: f64,
    /// Memory of all its processes now, what they share counted once, B (`Pss` of proc(5)); `None` where the kernel does not say.
    pub memory_bytes: Option<u64>,
    /// Open descriptors of all its processes now.
    pub descriptors: Option<u64>,
}

impl Server {
    /// Starts it. What it prints is kept in a file without a name in `directory`. `cpus`: where it may run; none: anywhere.
    ///
    /// # Errors
    /// When it can't be started.
    pub fn start(command: &Command, cpus: &[u32], directory: &Path) -> Result<Self, ServingError> {
        Self::start_as(command, cpus, directory, None)
    }

    /// The same, as another user with this user and group id, and no other groups; only root can.
    ///
    /// # Errors
    /// When it can't be started.
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
        // A child inherits where its parent may run.
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

    /// The status with which the process that was started ended, 128 and the signal where that ended it; `None` while it runs.
    pub fn status(&self) -> Option<i32> {
        self.outcome().map(|outcome| match outcome {
            Outcome::Exited(status) => status,
            Outcome::Signalled(signal) => 128 + signal,
            _ => 1,
        })
    }

    /// Asks the process that was started to end (SIGTERM), and does not wait for it: whoever drops this does.
    pub fn ask_to_end(&self) {
        // It may have ended at this very moment.
        let _gone = kill_process(self.root, Signal::TERM);
    }

    /// How it ended, in words; `None` while it runs.
    pub fn ended(&self) -> Option<String> {
        let how = match self.outcome()? {
            Outcome::Exited(status) => format!("ended with status {status}"),
            Outcome::Signalled(signal) => format!("was ended by signal {signal}"),
            other => format!("ended: {other:?}"),
        };
        let said = self.said();
        let said = said.trim();
        Some(if said.is_empty() { how } else { format!("{how}; it said:\n{said}") })
    }

    /// The end of what it printed; what is no text is replaced.
    pub fn said(&self) -> String {
        let mut said = &self.said;
        let length = said.metadata().map_or(0, |file| file.len());
        let mut bytes = Vec::new();
        let read = said
            .seek(SeekFrom::Start(length.saturating_sub(TAIL)))
            .and_then(|_| said.read_to_end(&mut bytes))
            .and_then(|_| said.seek(SeekFrom::End(0)));
        // It only explains; without it the rest still holds.
        read.map_or_else(|_| String::new(), |_| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Asks the process that was started to quit at once (SIGQUIT), and gives it some seconds for that.
    pub fn quit(&self) {
        // It may have ended at this very moment.
        let _gone = kill_process(self.root, Signal::QUIT);
        let began = Instant::now();
        while self.ended().is_none() && began.elapsed() < GRACE {
            sleep(Duration::from_millis(5));
        }
    }

    /// The ids of all its processes.
    pub fn processes(&self) -> Vec<u32> {
        self.tree().into_iter().map(|process| process.id).collect()
    }

    fn tree(&self) -> Vec<Member> {
        let root = self.root.as_raw_nonzero().get().unsigned_abs();
        let tree = processes::tree_of(root, &self.known.borrow());
        self.known.borrow_mut().extend(tree.iter().map(|own| (own.id, own.started)));
        tree
    }

    /// What it has used so far, to be held against later.
    pub fn looked_at(&self) -> Look {
        Look { cpu_seconds: self.tree().iter().map(|process| process.cpu_seconds).sum() }
    }

    /// What it has used since, and holds now.
    pub fn used_since(&self, look: &Look) -> Used {
        let all = self.processes();
        let sum = |of: fn(u32) -> Option<u64>| {
            all.iter().filter_map(|&process| of(process)).reduce(|a, b| a + b)
        };
        Used {
            cpu_seconds: (self.looked_at().cpu_seconds - look.cpu_seconds).max(0.0),
            memory_bytes: sum(processes::memory_bytes),
            descriptors: sum(processes::descriptors),
        }
    }

    /// Asks everything of it to end, and kills what does not.
    fn end(&self) {
        let began = Instant::now();
        let mut signal = Signal::TERM;
        let mut told = false;
        let interrupts = interrupt::count();
        loop {
            // Who is asked while it is being asked may ask others in turn, and daemons left the group: all are named.
            let all = self.processes();
            let is_over = self.ended().is_some() && all.is_empty();
            if is_over {
                break;
            }
            let impatient = began.elapsed() > GRACE || interrupt::count() > interrupts + 1;
            if !told || impatient {
                signal = if impatient { Signal::KILL } else { signal };
                // They may have ended at this very moment.
                let _gone = kill_process_group(self.root, signal);
                for process in all {
                    let known = Pid::from_raw(process.cast_signed());
                    let _gone = known.map(|process| kill_process(process, signal));
                }
                told = true;
            }
            sleep(Duration::from_millis(5));
        }
        // Orphans of it have become ours, and are there until they are waited for.
        for &process in self.known.borrow().keys() {
            let known = Pid::from_raw(process.cast_signed()).filter(|own| *own != self.root);
            let _not_ours = known.map(|own| waitpid(Some(own), WaitOptions::NOHANG));
        }
        self.guard.page().set_group(0);
    }
}

/// Has this process, and all that it starts from now on, run on these processors.
///
/// # Errors
/// What the system says if it refuses.
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

/// A file without a name.
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
        assert_eq!(server.said(), "hello\n");
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
