//! Handlers that forward signals to a process group outside our session, which signals from the
//! terminal do not reach.

#![expect(unsafe_code, reason = "installing signal handlers")]

use super::signals::set;
use rustix::process::Pid;
use std::io;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicI32, Ordering};

/// The process group that signals are forwarded to; 0 if there is none.
static GROUP: AtomicI32 = AtomicI32::new(0);

/// Signals that are forwarded unchanged.
const PASSED: [libc::c_int; 7] = [
    libc::SIGINT,
    libc::SIGTERM,
    libc::SIGHUP,
    libc::SIGQUIT,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGWINCH,
];

extern "C" fn pass(signal: libc::c_int) {
    let group = GROUP.load(Ordering::SeqCst);
    if group <= 1 {
        return;
    }
    // SAFETY: `kill` and `raise` may be called in a handler. It is harmless if the group is empty;
    // the error number that they may leave is restored, because the interrupted code may be about
    // to read its own.
    unsafe {
        let error = libc::__errno_location();
        let kept = *error;
        if signal == libc::SIGTSTP {
            // In a session without a terminal, nothing else stops the process.
            libc::kill(-group, libc::SIGSTOP);
            libc::raise(libc::SIGSTOP);
            libc::kill(-group, libc::SIGCONT);
            // The size of the window may have changed in the meantime.
            libc::kill(-group, libc::SIGWINCH);
        } else {
            libc::kill(-group, signal);
            if signal == libc::SIGTERM || signal == libc::SIGHUP {
                libc::kill(-group, libc::SIGCONT);
            }
        }
        *error = kept;
    }
}

/// Signals are forwarded while this value is alive, and ignored after it is dropped.
pub(crate) struct Passes;

/// Forwards signals to a process group from now on. Signals that were ignored (as under `nohup`)
/// stay ignored.
pub(crate) fn to_group(group: Pid) -> io::Result<Passes> {
    GROUP.store(group.as_raw_nonzero().get(), Ordering::SeqCst);
    for signal in PASSED.into_iter().chain([libc::SIGTSTP]) {
        if set(signal, pass as *const () as usize)? == libc::SIG_IGN {
            set(signal, libc::SIG_IGN)?;
        }
    }
    Ok(Passes)
}

impl Drop for Passes {
    fn drop(&mut self) {
        GROUP.store(0, Ordering::SeqCst);
    }
}

/// Resets a signal to its default action, and sends it to this process, without dumping core.
pub(crate) fn die_of(signal: libc::c_int) {
    // SAFETY: plain system calls; the limit lives on the stack, and the set of signals is
    // initialized by `sigemptyset`.
    unsafe {
        let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        libc::setrlimit(libc::RLIMIT_CORE, &raw const none);
        let _refused = set(signal, libc::SIG_DFL);
        let mut only: libc::sigset_t = MaybeUninit::zeroed().assume_init();
        libc::sigemptyset(&raw mut only);
        libc::sigaddset(&raw mut only, signal);
        libc::sigprocmask(libc::SIG_UNBLOCK, &raw const only, std::ptr::null_mut());
        libc::raise(signal);
    }
}
