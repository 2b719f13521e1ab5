//! What is set up in a child of ours between fork and exec.

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

/// The same for a program that starts others, which no signal to itself would reach: it leads a session, and so a group, of its own, and
/// has that written into a guard's page before it can start anything. The guard kills the group when this process is gone.
///
/// A session rather than a group alone: who asks for the terminal in it is refused, and not stopped for ever as a group in the background
/// would be.
pub(crate) fn end_with_us_as_session(command: &mut Command, page: Arc<Page>) {
    // SAFETY: between fork and exec the child makes system calls only and writes one integer into memory that is shared with the guard;
    // nothing that another thread may have held at the moment of the fork is needed.
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

/// Lets the child keep a descriptor, whose number it finds in a variable.
pub(crate) fn hand_down(command: &mut Command, variable: &str, descriptor: &OwnedFd) {
    let number = descriptor.as_raw_fd();
    command.env(variable, number.to_string());
    // SAFETY: between fork and exec the child makes one system call, on a descriptor that our caller holds open until then.
    unsafe {
        command
            .pre_exec(move || Ok(fcntl_setfd(BorrowedFd::borrow_raw(number), FdFlags::empty())?));
    }
}

/// Has the child lead a session of its own and outlive this process: no signal to our group or our terminal reaches it.
pub(crate) fn lead_a_session(command: &mut Command) {
    // SAFETY: between fork and exec the child makes system calls only and touches no memory but its stack.
    unsafe {
        command.pre_exec(|| {
            signals::uninstall()?;
            setsid()?;
            Ok(())
        });
    }
}

/// Kills a child that leads a session, and what it has started in its group. It must not have been waited for.
pub(crate) fn kill_session(child: &Child) {
    // That nobody is left is no harm.
    let _gone = kill_process_group(Pid::from_child(child), Signal::KILL);
}
