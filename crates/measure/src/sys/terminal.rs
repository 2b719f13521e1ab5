//! How wide a terminal is, by tcgetwinsize(3).

use std::os::fd::AsFd;

/// Columns of the terminal behind this descriptor, 0 where it does not know its size; `None` where it is no terminal.
pub fn columns_of(descriptor: impl AsFd) -> Option<u16> {
    let descriptor = descriptor.as_fd();
    if !rustix::termios::isatty(descriptor) {
        return None;
    }
    Some(rustix::termios::tcgetwinsize(descriptor).map_or(0, |size| size.ws_col))
}
