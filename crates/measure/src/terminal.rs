//! How wide a terminal is, as it says itself: 0 where it does not know, which other ways of asking hide.

use std::os::fd::AsFd;

/// Columns of the terminal behind this descriptor, 0 where it does not know its size; `None` where it is no terminal.
pub fn columns_of(descriptor: impl AsFd) -> Option<u16> {
    let descriptor = descriptor.as_fd();
    if !rustix::termios::isatty(descriptor) {
        return None;
    }
    Some(rustix::termios::tcgetwinsize(descriptor).map_or(0, |size| size.ws_col))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]

    use super::*;

    #[test]
    fn a_file_is_no_terminal() {
        assert_eq!(columns_of(tempfile::tempfile().unwrap()), None);
    }
}
