//! Width of a terminal as reported by the terminal itself. It is 0 if unknown, which other
//! interfaces do not show.

pub use crate::sys::terminal::columns_of;

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]

    use super::*;

    #[test]
    fn a_file_is_no_terminal() {
        assert_eq!(columns_of(tempfile::tempfile().unwrap()), None);
    }
}
