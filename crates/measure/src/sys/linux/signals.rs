//! The handlers behind `interrupt`: they count, and do nothing else.

#![expect(unsafe_code, reason = "installing signal handlers")]

use std::io;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU32, Ordering};

/// How many of the watched signals came so far.
pub(crate) static COUNT: AtomicU32 = AtomicU32::new(0);

extern "C" fn count_it(_signal: libc::c_int) {
    COUNT.fetch_add(1, Ordering::SeqCst);
}

/// Counts SIGINT, SIGTERM and SIGHUP from now on. Whoever sleeps in a system call is woken.
pub(crate) fn install() -> io::Result<()> {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: `sigaction` is plain data, for which zero bytes mean no flags and nothing masked;
        // the handler touches one atomic integer only, as a handler may at any moment.
        let result = unsafe {
            let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
            action.sa_sigaction = count_it as *const () as usize;
            // Without SA_RESTART, so that a read returns.
            action.sa_flags = 0;
            libc::sigaction(signal, &action, std::ptr::null_mut())
        };
        if result != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}
