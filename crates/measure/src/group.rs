//! The process group of the current run, stored as one integer that several threads share, so that
//! any of them can end the run.

use std::fmt::Debug;
use std::sync::atomic::{AtomicI32, Ordering};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// A process group; initially none. It is stored as one integer, which may be in memory shared with
/// another process.
#[derive(Debug, Default)]
#[repr(transparent)]
pub(crate) struct Group(AtomicI32);

/// The owner of a group, which is kept as long as someone may want to end the group.
pub(crate) trait InFlight: Debug + Send + Sync {
    /// Returns the group.
    fn group(&self) -> &Group;
}

impl InFlight for Group {
    fn group(&self) -> &Group {
        self
    }
}

impl Group {
    /// Returns the ID of the process group, or `None` if there is no valid one.
    pub(crate) fn id(&self) -> Option<Pid> {
        let group = self.0.load(Ordering::SeqCst);
        // A group of 1 would address all processes. Shared memory is not trusted, so it is rejected
        // here.
        Pid::from_raw(group).filter(|_| group > 1)
    }

    /// Sets the current group; 0 means none. This is a single store, so that our child may do it
    /// between fork and exec.
    pub(crate) fn set_group(&self, group: i32) {
        self.0.store(group, Ordering::SeqCst);
    }

    /// Asks the current run to end (SIGTERM). Returns false if there is no current run.
    pub(crate) fn end_group(&self) -> bool {
        let Some(group) = self.id() else { return false };
        // The group may be gone by now. A stopped process does not receive a signal until it
        // continues.
        let _ = kill_process_group(group, Signal::TERM);
        let _ = kill_process_group(group, Signal::CONT);
        true
    }

    /// Kills the current run. Returns false if there is no current run.
    pub(crate) fn kill_group(&self) -> bool {
        let Some(group) = self.id() else { return false };
        // The group may not exist yet, and the process may be gone, so the signal is sent to both.
        let _ = kill_process_group(group, Signal::KILL);
        let _ = kill_process(group, Signal::KILL);
        true
    }
}
