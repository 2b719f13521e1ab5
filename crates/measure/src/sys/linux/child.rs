//! What is set up in a child of ours between fork and exec.

#![expect(unsafe_code, reason = "code that runs between fork and exec")]

use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::{Signal, set_parent_process_death_signal};

use super::signals;

/// Has the child end when this process does, however that happens, and take signals as if this process had never watched any.
/// It must be started on the main thread: the kernel watches the thread, not the process.
pub(crate) fn end_with_us(command: &mut Command) {
    // SAFETY: between fork and exec the child makes system calls only and touches no memory but its stack, so nothing that
    // another thread may have held at the moment of the fork is needed.
    unsafe {
        command.pre_exec(|| {
            signals::uninstall()?;
            Ok(set_parent_process_death_signal(Some(Signal::TERM))?)
        });
    }
}
