//! Setup of a child process between fork and exec.

#![expect(unsafe_code, reason = "code that runs between fork and exec")]

use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

use rustix::process::{Pid, Signal, kill_process_group, setsid};

use super::signals;

/// Makes the child lead its own session and outlive this process: no signal sent to our group or by
/// our terminal reaches it.
pub(crate) fn lead_a_session(command: &mut Command) {
    // SAFETY: between fork and exec the child makes system calls only and touches no memory but its
    // stack.
    unsafe {
        command.pre_exec(|| {
            signals::uninstall()?;
            setsid()?;
            Ok(())
        });
    }
}

/// Kills a child that leads a session, and everything it has started in its group. The child must
/// not have been waited for.
pub(crate) fn kill_session(child: &Child) {
    // It is harmless if the group is already empty.
    let _gone = kill_process_group(Pid::from_child(child), Signal::KILL);
}
