//! The handlers behind `interrupt`: they count, and do nothing else.

#![expect(unsafe_code, reason = "installing signal handlers")]

use std::io;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// How many of the watched signals came so far.
pub(crate) static COUNT: AtomicU32 = AtomicU32::new(0);

/// Whether somebody sits before standard error who should know that the run at hand is waited for.
pub(crate) static TELLS: AtomicBool = AtomicBool::new(false);
const WAITING: &[u8] = b"\nwaiting for the run at hand to end; Ctrl-C again ends it now\n";

extern "C" fn count_it(_signal: libc::c_int) {
    let before = COUNT.fetch_add(1, Ordering::SeqCst);
    if before == 0 && TELLS.load(Ordering::SeqCst) {
        // SAFETY: `write` may be called in a handler, and the bytes are static. That nobody can
        // read them any more is no harm; the error number that it may leave is restored, for the
        // code that was interrupted may be about to read its own.
        unsafe {
            let error = libc::__errno_location();
            let kept = *error;
            let _written = libc::write(libc::STDERR_FILENO, WAITING.as_ptr().cast(), WAITING.len());
            *error = kept;
        }
    }
}

/// The signals that are counted.
const COUNTED: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// Counts SIGINT, SIGTERM and SIGHUP from now on. Whoever sleeps in a system call is woken. One that was being ignored
/// (`nohup`, a background job of a script) stays so. SIGXFSZ is ignored, so that a file that may not grow is an error of
/// writing, and not the end of everything.
pub(crate) fn install() -> io::Result<()> {
    for signal in COUNTED {
        if set(signal, count_it as *const () as usize)? == libc::SIG_IGN {
            set(signal, libc::SIG_IGN)?;
        }
    }
    set(libc::SIGXFSZ, libc::SIG_IGN).map(drop)
}

/// Has the signals do again what they do by default. One of the counted that is ignored stays so: `nohup` asks for that, and
/// for every program that comes of it. To be called between fork and exec, too: system calls are all it makes.
pub(crate) fn uninstall() -> io::Result<()> {
    for signal in COUNTED {
        if set(signal, libc::SIG_DFL)? == libc::SIG_IGN {
            set(signal, libc::SIG_IGN)?;
        }
    }
    set(libc::SIGXFSZ, libc::SIG_DFL).map(drop)
}

/// Sets what happens on a signal, and returns what happened before.
fn set(signal: libc::c_int, handler: libc::sighandler_t) -> io::Result<libc::sighandler_t> {
    // SAFETY: `sigaction` is plain data, for which zero bytes mean no flags and nothing masked; the handler is SIG_DFL, SIG_IGN or
    // touches one atomic integer only, as a handler may at any moment.
    unsafe {
        let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
        let mut before: libc::sigaction = MaybeUninit::zeroed().assume_init();
        action.sa_sigaction = handler;
        // Without SA_RESTART, so that a read returns.
        action.sa_flags = 0;
        if libc::sigaction(signal, &action, &mut before) != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(before.sa_sigaction)
    }
}
