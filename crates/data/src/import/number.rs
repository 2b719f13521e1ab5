//! Reads a single number as people and tools write it, and converts it to the base unit of its
//! column. If the text is not a number, the error helps to fix the file.

use crate::number::{Marks, is_number, plain, ungrouped};
use crate::unit::{Unit, rate_of_symbol, unit_of_symbol};

/// Conversion from the unit of a column to its base unit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Conversion {
    /// The base unit to which numbers are converted.
    pub unit: Unit,
    /// Number by which values are divided; 1 for units that are not smaller than the base unit. It
    /// is a whole number, so that the result is rounded only once (1500 ns become exactly the
    /// double `1.5e-6`). Multiplying by 1e-9, which is itself inexact, would round twice.
    divide: f64,
    /// Number by which values are multiplied, or 1 for units smaller than the base unit.
    multiply: f64,
}

impl Conversion {
    /// Returns the conversion from the unit with the given symbol, or of plain numbers for `None`.
    /// An unknown symbol is taken for the user's own unit, whose numbers are not converted.
    pub(super) fn from_symbol(symbol: Option<&str>) -> Self {
        let as_it_is = |unit| Self { unit, divide: 1.0, multiply: 1.0 };
        let Some(symbol) = symbol else { return as_it_is(Unit::One) };
        match unit_of_symbol(symbol) {
            Some((factor, unit)) if factor < 1.0 => {
                Self { unit, divide: (1.0 / factor).round(), multiply: 1.0 }
            }
            Some((factor, unit)) => Self { unit, divide: 1.0, multiply: factor },
            None if symbol == "/s" => as_it_is(Unit::PerSecond),
            None => as_it_is(Unit::from(symbol.to_owned())),
        }
    }

    /// Returns the conversion of a rate of iterations, such as `ops/ms`, to iterations per second,
    /// or `None` for any other unit.
    pub(super) fn of_rate(symbol: &str) -> Option<Self> {
        let factor = rate_of_symbol(symbol)?;
        let (divide, multiply) =
            if factor < 1.0 { ((1.0 / factor).round(), 1.0) } else { (1.0, factor) };
        Some(Self { unit: Unit::PerSecond, divide, multiply })
    }

    /// Parses a number and converts it to the base unit. `marks` has the meaning of points and
    /// commas in the file. Returns `None` if the text is not a finite number.
    pub(super) fn read_number(&self, text: &str, marks: &Marks) -> Option<f64> {
        self.finite(marks.read(text)?)
    }

    /// Like [`read_number`](Self::read_number), but for a tool that always writes a decimal point
    /// and never groups digits.
    pub(super) fn read_plain(&self, text: &str) -> Option<f64> {
        self.finite(plain(text)?)
    }

    /// Parses a number written by a tool that never groups digits. The error describes what is
    /// wrong.
    pub(super) fn read_ungrouped(&self, text: &str) -> Result<f64, String> {
        let value = ungrouped(text).and_then(|value| self.finite(value));
        value.ok_or_else(|| match plain(text) {
            Some(_) => not_finite(text),
            None => not_a_number(text),
        })
    }

    fn finite(&self, value: f64) -> Option<f64> {
        Some(self.to_base(value)).filter(|value| value.is_finite())
    }

    /// Converts a number from this unit to the base unit.
    pub(super) fn to_base(&self, value: f64) -> f64 {
        value / self.divide * self.multiply
    }

    /// Parses a number and converts it to the base unit. The text must be trimmed. The error
    /// describes what is wrong.
    pub(super) fn read(&self, text: &str, marks: &Marks) -> Result<f64, String> {
        self.read_number(text, marks).ok_or_else(|| match plain(text) {
            Some(_) => not_finite(text),
            None => not_a_number(text),
        })
    }
}

fn not_finite(text: &str) -> String {
    if text.bytes().any(|b| b.is_ascii_digit()) {
        return format!("`{text}` is too large for a double; expected a finite number");
    }
    format!("`{text}` is not a finite number; remove the line if the value is missing")
}

fn not_a_number(text: &str) -> String {
    let shown = crate::read_error::quoted_start(text);
    let digits = text.trim_end_matches(|c: char| c.is_alphabetic() || c == '%');
    if digits.len() < text.len() && is_number(digits.trim_end()) {
        let unit = &text[digits.len()..];
        return format!(
            "`{shown}` has its unit in the same column; write the number alone and give `--unit {unit}`"
        );
    }
    if text.is_empty() {
        return "the value is missing; expected a number".to_owned();
    }
    format!("`{shown}` is not a number")
}

/// Returns true if the text is meant as a number, even if it is malformed like `12,3` or `12ms`, so
/// that its line is data and not a header.
pub(super) fn looks_like_number(text: &str) -> bool {
    let text = text.trim();
    let digits = text.trim_start_matches(['+', '-']).trim_start_matches('.');
    let has_digit =
        text.len() - digits.len() <= 2 && digits.starts_with(|c: char| c.is_ascii_digit());
    has_digit || plain(text).is_some()
}

/// Returns true if the text may be the heading of a column. A text such as `−5`, `<1` or `$5` is
/// meant as a number, and must not get lost by being taken for a heading.
pub(super) fn may_be_heading(text: &str) -> bool {
    let has = |of: fn(char) -> bool| text.contains(of);
    !looks_like_number(text) && (has(char::is_alphabetic) || !has(char::is_numeric))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nanoseconds_become_the_seconds_that_a_person_would_write() {
        let ns = Conversion::from_symbol(Some("ns"));
        assert_eq!(ns.unit, Unit::Second);
        for (text, seconds) in [("1500", 1.5e-6), ("518538", 0.000_518_538), ("1", 1e-9)] {
            assert_eq!(ns.read(text, &Marks::default()), Ok(seconds));
        }
        assert_eq!(Conversion::from_symbol(Some("us")).read_plain("6.667"), Some(6.667e-6));
        assert_eq!(Conversion::from_symbol(Some("KiB")).read_plain("2"), Some(2048.0));
        assert_eq!(Conversion::from_symbol(Some("furlong")).read_plain("2"), Some(2.0));
    }

    #[test]
    fn a_marked_number_is_no_heading() {
        for text in ["−5", "<1", "$5", "~5", "(5)", "12ms", "1,5", "-.5"] {
            assert!(!may_be_heading(text), "{text}");
        }
        for text in ["ms", "p99", "─", "Zeit (ms)", "-"] {
            assert!(may_be_heading(text), "{text}");
        }
    }

    #[test]
    fn what_is_no_number_is_said_with_its_likely_cause() {
        let plain = Conversion::from_symbol(None);
        let said = |text: &str| plain.read(text, &Marks::default()).err().unwrap_or_default();
        assert!(said("1,23,4").contains("`1,23,4` is not a number"));
        assert!(said("12ms").contains("`--unit ms`"));
        assert!(said("NaN").contains("not a finite number"));
        assert!(said("-inf").contains("not a finite number"));
        assert!(said("1e999").contains("too large"));
        assert!(said("fast").contains("`fast` is not a number"));
    }
}
