//! The process group of the run in flight, in one integer that several threads look at: whoever has lost patience ends it from outside.

use std::fmt::Debug;
use std::sync::atomic::{AtomicI32, Ordering};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// A process group; as it is made, none. It is one integer, and may lie in memory that is shared with another process.
#[derive(Debug, Default)]
#[repr(transparent)]
pub(crate) struct Group(AtomicI32);

/// Whatever holds a group, as long as somebody may want to end it.
pub(crate) trait InFlight: Debug + Send + Sync {
    /// The group.
    fn group(&self) -> &Group;
}

impl InFlight for Group {
    fn group(&self) -> &Group {
        self
    }
}

impl Group {
    /// Its number.
    pub(crate) fn id(&self) -> Option<Pid> {
        let group = self.0.load(Ordering::SeqCst);
        // 1 would be everybody: nobody's group, and not to be trusted from shared memory.
        Pid::from_raw(group).filter(|_| group > 1)
    }

    /// Says which group is in flight; 0: none any more. One store, so that a child of ours may call it between fork and exec.
    pub(crate) fn set_group(&self, group: i32) {
        self.0.store(group, Ordering::SeqCst);
    }

    /// Asks what is in flight to end (SIGTERM); false if nothing was.
    pub(crate) fn end_group(&self) -> bool {
        let Some(group) = self.id() else { return false };
        // It may be gone by now; and a stopped process hears nothing else than that it goes on.
        let _ = kill_process_group(group, Signal::TERM);
        let _ = kill_process_group(group, Signal::CONT);
        true
    }

    /// Kills what is in flight; false if nothing was.
    pub(crate) fn kill_group(&self) -> bool {
        let Some(group) = self.id() else { return false };
        // Both may fail only because the process is gone or has not made its group yet; hence both.
        let _ = kill_process_group(group, Signal::KILL);
        let _ = kill_process(group, Signal::KILL);
        true
    }
}
