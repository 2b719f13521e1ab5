//! Width of a terminal, by tcgetwinsize(3).

use std::os::fd::AsFd;

/// Returns the number of columns of the terminal that the descriptor refers to, or 0 if its size is
/// unknown; `None` if it is not a terminal.
pub fn columns_of(descriptor: impl AsFd) -> Option<u16> {
    let descriptor = descriptor.as_fd();
    if !rustix::termios::isatty(descriptor) {
        return None;
    }
    Some(rustix::termios::tcgetwinsize(descriptor).map_or(0, |size| size.ws_col))
}
