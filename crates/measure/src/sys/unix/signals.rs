//! The handlers behind `interrupt`: they count, wake a thread that is about to sleep, and do
//! nothing else.

#![expect(unsafe_code, reason = "installing signal handlers")]

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use super::waker::Waker;

/// Number of signals in [`COUNTED`] received so far.
pub(crate) static COUNT: AtomicU32 = AtomicU32::new(0);

/// True after SIGTERM or SIGHUP.
pub(crate) static ENDS: AtomicBool = AtomicBool::new(false);

static WAKER: OnceLock<Waker> = OnceLock::new();

/// True if a message on standard error should tell the user that assay is waiting for the current
/// run.
pub(crate) static TELLS: AtomicBool = AtomicBool::new(false);
const WAITING: &[u8] = b"\nwaiting for the current run to end; press Ctrl-C again to stop it now\n";

extern "C" fn count_it(signal: libc::c_int) {
    if signal != libc::SIGINT {
        ENDS.store(true, Ordering::SeqCst);
    }
    let before = COUNT.fetch_add(1, Ordering::SeqCst);
    // The error number is restored below, because the interrupted code may be about to read its
    // own.
    let kept = errno::errno();
    if let Some(waker) = WAKER.get() {
        // SAFETY: `write` may be called in a handler, the byte is static, and the descriptor is
        // never closed.
        let _full = unsafe { libc::write(waker.writer.as_raw_fd(), c"".as_ptr().cast(), 1) };
    }
    if before == 0 && TELLS.load(Ordering::SeqCst) {
        // SAFETY: as above. If nobody can read the bytes any more, this is harmless.
        let _unread =
            unsafe { libc::write(libc::STDERR_FILENO, WAITING.as_ptr().cast(), WAITING.len()) };
    }
    errno::set_errno(kept);
}

/// Handler for SIGXFSZ, which makes a write that exceeds the limit fail. The signal is handled
/// rather than ignored, because programs inherit which signals are ignored.
extern "C" fn nothing(_signal: libc::c_int) {}

/// Signals that are counted.
const COUNTED: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// Counts SIGINT, SIGTERM and SIGHUP from now on. A thread sleeping in a system call is woken.
/// Signals that were ignored (`nohup`, a background job of a script) stay ignored. Exceeding the
/// file size limit becomes a write error instead of ending the process.
pub(crate) fn install() -> io::Result<()> {
    if WAKER.get().is_none() {
        // If two threads get here at the same time, one value is kept.
        let _other = WAKER.set(Waker::new()?);
    }
    for signal in COUNTED {
        if set(signal, count_it as *const () as usize)? == libc::SIG_IGN {
            set(signal, libc::SIG_IGN)?;
        }
    }
    set(libc::SIGXFSZ, nothing as *const () as usize).map(drop)
}

/// Returns the descriptor that becomes readable on a signal; `None` before [`install`].
pub(crate) fn waker() -> Option<BorrowedFd<'static>> {
    WAKER.get().map(|waker| waker.reader.as_fd())
}

/// Resets the signals to their default actions. Counted signals that are ignored stay ignored:
/// `nohup` requests that for all descendants. Can be called between fork and exec, because it makes
/// only system calls.
pub(crate) fn uninstall() -> io::Result<()> {
    for signal in COUNTED {
        if set(signal, libc::SIG_DFL)? == libc::SIG_IGN {
            set(signal, libc::SIG_IGN)?;
        }
    }
    set(libc::SIGXFSZ, libc::SIG_DFL).map(drop)
}

/// Installs an empty handler for every ignored signal. The signal still has no effect in this
/// process, but exec gives commands the default action, regardless of what this process inherited.
/// The standard library handles SIGPIPE.
pub(crate) fn keep_ignored_from_commands() {
    for signal in (1..=31).filter(|signal| *signal != libc::SIGPIPE) {
        // SAFETY: `sigaction` is plain data, and without a new action the call only reads.
        let is_ignored = unsafe {
            let mut now: libc::sigaction = MaybeUninit::zeroed().assume_init();
            libc::sigaction(signal, std::ptr::null(), &raw mut now) == 0
                && now.sa_sigaction == libc::SIG_IGN
        };
        if is_ignored {
            // A signal reserved by the C library cannot be changed.
            let _kept = set(signal, nothing as *const () as usize);
        }
    }
}

/// Sets the handler of a signal, and returns the previous one.
fn set(signal: libc::c_int, handler: libc::sighandler_t) -> io::Result<libc::sighandler_t> {
    // SAFETY: `sigaction` is plain data, for which zero bytes mean no flags and nothing masked; the
    // handler is SIG_DFL, SIG_IGN or one of ours, which only touches atomic integers and makes
    // system calls, as a handler may at any time.
    unsafe {
        let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
        let mut before: libc::sigaction = MaybeUninit::zeroed().assume_init();
        action.sa_sigaction = handler;
        // Without SA_RESTART, so that a read returns.
        action.sa_flags = 0;
        if libc::sigaction(signal, &raw const action, &raw mut before) != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(before.sa_sigaction)
    }
}
