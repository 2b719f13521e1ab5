//! Setup of a child process between fork and exec.

#![expect(unsafe_code, reason = "code that runs between fork and exec")]

use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::Arc;

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{
    Pid, Signal, getpid, kill_process_group, set_parent_process_death_signal, setsid,
};

use super::launcher::Page;
use super::signals;

/// Makes the child end when this process ends, for any reason, and restores the signal handlers
/// that this process had before it installed its own. The child must be started on the main thread,
/// because the kernel watches the thread, not the process.
pub(crate) fn end_with_us(command: &mut Command) {
    // SAFETY: between fork and exec the child makes system calls only and touches no memory but its
    // stack, so it needs no lock that another thread may have held at the time of the fork.
    unsafe {
        command.pre_exec(|| {
            signals::uninstall()?;
            Ok(set_parent_process_death_signal(Some(Signal::TERM))?)
        });
    }
}

/// Like [`end_with_us`], for a program that starts others, which a signal to the program itself
/// would not reach. The program leads a session of its own, and therefore a process group, which it
/// records in a guard's page before it can start anything. The guard kills the group when this
/// process is gone.
///
/// A session is used rather than only a group so that a process in it that accesses the terminal
/// gets an error. In a background group, it would be stopped forever.
pub(crate) fn end_with_us_as_session(command: &mut Command, page: Arc<Page>) {
    // SAFETY: between fork and exec the child makes system calls only and writes one integer into
    // memory shared with the guard; it needs no lock that another thread may have held at the time
    // of the fork.
    unsafe {
        command.pre_exec(move || {
            signals::uninstall()?;
            set_parent_process_death_signal(Some(Signal::TERM))?;
            setsid()?;
            page.set_group(getpid().as_raw_nonzero().get());
            Ok(())
        });
    }
}

/// Lets the child inherit a descriptor, and passes its number in an environment variable.
pub(crate) fn hand_down(command: &mut Command, variable: &str, descriptor: &OwnedFd) {
    let number = descriptor.as_raw_fd();
    command.env(variable, number.to_string());
    // SAFETY: between fork and exec the child makes one system call, on a descriptor that our
    // caller holds open until then.
    unsafe {
        command
            .pre_exec(move || Ok(fcntl_setfd(BorrowedFd::borrow_raw(number), FdFlags::empty())?));
    }
}

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
