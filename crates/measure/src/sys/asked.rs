//! Waits for a child's first output until a deadline, with poll(2).

use std::os::fd::OwnedFd;
use std::process::ChildStdout;
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, read};

/// Returns true at the first byte, false at the end of the output without one, and `None` when the
/// deadline has passed.
pub(crate) fn says_anything(output: ChildStdout, deadline: Instant) -> Option<bool> {
    let output = OwnedFd::from(output);
    loop {
        let left = deadline.checked_duration_since(Instant::now())?;
        let left = Timespec::try_from(left).ok()?;
        match poll(&mut [PollFd::new(&output, PollFlags::IN)], Some(&left)) {
            Ok(0) => return None,
            Ok(_) => {
                let mut byte = [0_u8; 1];
                return Some(read(&output, &mut byte).ok()? > 0);
            }
            Err(Errno::INTR) => {}
            Err(_) => return None,
        }
    }
}
