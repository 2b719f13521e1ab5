//! Times: ms since 1970 in the store, text in RFC 3339 over the wire.

use crate::builds::error::FarmError;
use jiff::Timestamp;

/// Formats a time. A time outside of the calendar's range becomes the beginning of 1970.
#[must_use]
pub fn text(ms: i64) -> String {
    Timestamp::from_millisecond(ms).unwrap_or_default().to_string()
}

/// Parses a time.
///
/// # Errors
/// If the text is not a time.
pub fn read(text: &str) -> Result<i64, FarmError> {
    let time: Result<Timestamp, _> = text.parse();
    time.map(Timestamp::as_millisecond).map_err(|_| {
        FarmError::Bad(format!("`{text}` is not a valid time: write it as 2026-11-26T06:00:00Z"))
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail loudly")]
    use super::*;

    #[test]
    fn a_time_is_read_as_it_was_written() {
        for ms in [0, 1_764_136_800_123, -1] {
            assert_eq!(read(&text(ms)).unwrap(), ms);
        }
        assert!(read("yesterday").is_err());
        assert!(read("2026-11-26").is_err());
    }
}
