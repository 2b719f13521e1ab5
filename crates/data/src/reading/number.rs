//! Parses a number as programs print it: digits with an optional decimal point and exponent,
//! followed by an optional unit.
//!
//! Thousands separators and decimal commas are refused because their meaning would have to be
//! guessed: `1,234` is a different number in different countries.

use crate::number::plain;

/// Result of parsing a piece of text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Parsed<'a> {
    /// A finite number, and the unit after it or an empty string.
    Number(f64, &'a str),
    /// Infinite, not a number, or beyond the range of a double.
    NotFinite,
    /// Any other text.
    Nothing,
}

/// Parses a text that should be one number, optionally surrounded by blanks.
pub(super) fn parse(text: &str) -> Parsed<'_> {
    let text = text.trim();
    let end = length_of_number(text.as_bytes());
    if end == 0 {
        let bare = text.trim_start_matches(['+', '-']).to_ascii_lowercase();
        let odd = matches!(bare.as_str(), "nan" | "inf" | "infinity");
        return if odd { Parsed::NotFinite } else { Parsed::Nothing };
    }
    let unit = text[end..].trim_start();
    let is_unit = match unit.chars().next() {
        None => true,
        Some('1') => unit == "1/s" && unit.len() < text.len() - end,
        Some(c) => {
            (c.is_alphabetic() || matches!(c, '%' | '/' | '°'))
                && !unit.contains(char::is_whitespace)
        }
    };
    match plain(&text[..end]) {
        Some(value) if value.is_finite() && is_unit => Parsed::Number(value, unit),
        Some(value) if !value.is_finite() => Parsed::NotFinite,
        _ => Parsed::Nothing,
    }
}

/// Returns the length of the decimal number at the start of the text, in bytes. 0 if there is none.
fn length_of_number(text: &[u8]) -> usize {
    let digits = |from: usize| text[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let signed = |from: usize| usize::from(matches!(text.get(from), Some(b'+' | b'-')));
    let mut end = signed(0);
    let whole = digits(end);
    end += whole;
    let mut fraction = 0;
    if text.get(end) == Some(&b'.') {
        fraction = digits(end + 1);
        if whole + fraction > 0 {
            end += 1 + fraction;
        }
    }
    if whole + fraction == 0 {
        return 0;
    }
    // An exponent belongs to the number only if digits follow it.
    if matches!(text.get(end), Some(b'e' | b'E')) {
        let sign = signed(end + 1);
        let exponent = digits(end + 1 + sign);
        if exponent > 0 {
            end += 1 + sign + exponent;
        }
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_are_read_with_the_unit_behind_them() {
        for (text, value, unit) in [
            ("12.5", 12.5, ""),
            (" 12.5\n", 12.5, ""),
            ("12.5 ms", 12.5, "ms"),
            ("3MiB", 3.0, "MiB"),
            ("1e-3s", 1e-3, "s"),
            ("-.5", -0.5, ""),
            ("5.", 5.0, ""),
            ("+5E2", 500.0, ""),
            ("5E", 5.0, "E"),
            ("45%", 45.0, "%"),
            ("1234/s", 1234.0, "/s"),
            ("1234 1/s", 1234.0, "1/s"),
        ] {
            assert_eq!(parse(text), Parsed::Number(value, unit), "{text}");
        }
    }

    #[test]
    fn what_is_not_one_number_is_not_guessed_at() {
        for text in [
            "",
            "ms",
            "1,234",
            "1'234",
            "1_000",
            "1.2.3",
            "1 2",
            "0,5",
            "12 ms later",
            ".",
            "-",
            "٣",
        ] {
            assert_eq!(parse(text), Parsed::Nothing, "{text}");
        }
        for text in ["NaN", "-inf", "Infinity", "1e999", "-1e999 ms"] {
            assert_eq!(parse(text), Parsed::NotFinite, "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_finite_number_reads_back_to_the_same_bits(value: f64, unit in "(|ms|MiB|rows)") {
            prop_assume!(value.is_finite());
            let text = format!("{value:?}{unit}");
            prop_assert_eq!(parse(&text), Parsed::Number(value, &unit));
        }

        #[test]
        fn no_text_makes_it_fall_over(text in "\\PC{0,40}") {
            parse(&text);
        }
    }
}
