//! Times. In the store they are ms since 1970 (UTC), in messages they are text as in RFC 3339.

use crate::builds::error::FarmError;
use jiff::Timestamp;

/// Formats a time, given in ms since 1970. A time outside the calendar's range becomes the
/// beginning of 1970.
#[must_use]
pub fn text(ms: i64) -> String {
    Timestamp::from_millisecond(ms).unwrap_or_default().to_string()
}

/// Parses a time and returns it in ms since 1970.
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
