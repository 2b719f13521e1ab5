//! Waits for a child's first output until a deadline, with a reader thread, because waiting for
//! such a pipe can have no time limit.

use std::io::Read;
use std::process::ChildStdout;
use std::sync::mpsc::channel;
use std::time::Instant;

/// Returns true at the first byte, false at the end of the output without one, and `None` when the
/// deadline has passed.
pub(crate) fn says_anything(mut output: ChildStdout, deadline: Instant) -> Option<bool> {
    let (sender, answer) = channel();
    // The thread ends with the child, which the caller kills.
    std::thread::spawn(move || sender.send(output.read(&mut [0]).is_ok_and(|read| read > 0)));
    answer.recv_timeout(deadline.checked_duration_since(Instant::now())?).ok()
}
