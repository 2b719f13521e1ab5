//! Whether a child says anything before one's patience is at an end: a thread reads, since such a pipe cannot be waited for with a limit.

use std::io::Read;
use std::process::ChildStdout;
use std::sync::mpsc::channel;
use std::time::Instant;

/// True at the first byte, false at the end without one, `None` when the time is up.
pub(crate) fn says_anything(mut output: ChildStdout, deadline: Instant) -> Option<bool> {
    let (sender, answer) = channel();
    // It ends with the child, which is killed by whoever asked.
    std::thread::spawn(move || sender.send(output.read(&mut [0]).is_ok_and(|read| read > 0)));
    answer.recv_timeout(deadline.checked_duration_since(Instant::now())?).ok()
}
