//! Formats errors of the operating system for messages.

use std::io;

/// Returns the message of an error without the number that Rust appends: `Permission denied`
/// instead of `Permission denied (os error 13)`. Every message that contains an [`io::Error`] uses
/// this.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    match error.raw_os_error() {
        Some(number) => {
            let number = format!(" (os error {number})");
            text.strip_suffix(&number).unwrap_or(&text).to_owned()
        }
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_the_system_is_left_out() {
        let missing = io::Error::from_raw_os_error(2);
        assert_eq!(format!("{} (os error 2)", reason(&missing)), missing.to_string());
        let quoted = io::Error::other("it said: gone (os error 2)");
        assert_eq!(reason(&quoted), "it said: gone (os error 2)");
    }
}
