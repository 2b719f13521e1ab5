//! One number as people and tools write it, converted to the base unit of its column; and if it is none, why, in words that
//! help to mend the file.

use crate::unit::{Unit, unit_of_symbol};

/// From the unit of a column to its base unit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Conversion {
    /// The base unit.
    pub unit: Unit,
    /// Small units divide by a whole number, which rounds once (1500 ns are exactly what `1.5e-6` reads as); to multiply by
    /// 1e-9, itself not exact, would round twice.
    divide: f64,
    multiply: f64,
}

impl Conversion {
    /// The conversion from this unit; plain numbers without one. A symbol that is not in the table is a unit of the user's
    /// own and is not converted.
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

    /// The number in the base unit; `None` when the text is none, or not finite.
    pub(super) fn read_number(&self, text: &str) -> Option<f64> {
        Some(self.to_base(text.parse().ok()?)).filter(|value| value.is_finite())
    }

    /// A number of this unit in the base unit.
    pub(super) fn to_base(&self, value: f64) -> f64 {
        value / self.divide * self.multiply
    }

    /// Reads a number, trimmed by the caller, into the base unit; or says why it is none.
    pub(super) fn read(&self, text: &str) -> Result<f64, String> {
        self.read_number(text).ok_or_else(|| match text.parse::<f64>() {
            Ok(_) => not_finite(text),
            Err(_) => not_a_number(text),
        })
    }
}

fn not_finite(text: &str) -> String {
    if text.bytes().any(|b| b.is_ascii_digit()) {
        return format!("`{text}` is too large for a double; expected a finite number");
    }
    format!("`{text}` is not a finite number; take the line out if the value is missing")
}

fn not_a_number(text: &str) -> String {
    let shown = crate::read_error::quoted_start(text);
    let is_decimal_comma = text.matches(',').count() == 1
        && text.replace(',', ".").parse::<f64>().is_ok_and(f64::is_finite);
    if is_decimal_comma {
        return format!(
            "`{shown}` has a decimal comma; write it with a point: `{}`",
            text.replace(',', ".")
        );
    }
    let digits = text.trim_end_matches(|c: char| c.is_alphabetic() || c == '%');
    if digits.len() < text.len() && digits.trim_end().parse::<f64>().is_ok() {
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

/// Without the commas between thousands: `24,000.57`, `1,234,567`. `None` where there are none, and for `1,234`, which may have a decimal comma.
pub(super) fn without_thousands(text: &str) -> Option<String> {
    let (whole, fraction) = text.split_once('.').map_or((text, None), |(w, f)| (w, Some(f)));
    let groups: Vec<&str> = whole.trim_start_matches(['-', '+']).split(',').collect();
    let (first, rest) = groups.split_first()?;
    let are_digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let is_grouped = (1..=3).contains(&first.len())
        && groups.iter().all(|group| are_digits(group))
        && rest.iter().all(|group| group.len() == 3);
    let is_certain = rest.len() > 1 || (rest.len() == 1 && fraction.is_some_and(are_digits));
    (is_grouped && is_certain).then(|| text.replace(',', ""))
}

/// True when the text is meant as a number, even a wrong one such as `12,3` or `12ms`, so that its line is data and not a header.
pub(super) fn looks_like_number(text: &str) -> bool {
    let text = text.trim();
    let digits = text.trim_start_matches(['+', '-']).trim_start_matches('.');
    let has_digit =
        text.len() - digits.len() <= 2 && digits.starts_with(|c: char| c.is_ascii_digit());
    has_digit || text.parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nanoseconds_become_the_seconds_that_a_person_would_write() {
        let ns = Conversion::from_symbol(Some("ns"));
        assert_eq!(ns.unit, Unit::Second);
        for (text, seconds) in [("1500", 1.5e-6), ("518538", 0.000_518_538), ("1", 1e-9)] {
            assert_eq!(ns.read(text), Ok(seconds));
        }
        assert_eq!(Conversion::from_symbol(Some("us")).read("6.667"), Ok(6.667e-6));
        assert_eq!(Conversion::from_symbol(Some("KiB")).read("2"), Ok(2048.0));
        assert_eq!(Conversion::from_symbol(Some("furlong")).read("2"), Ok(2.0));
    }

    #[test]
    fn commas_between_thousands_are_told_from_decimal_ones() {
        for (text, plain) in [
            ("24,000.57", Some("24000.57")),
            ("-1,234,567", Some("-1234567")),
            ("1,234", None),
            ("0,57", None),
            ("1,23,456", None),
            ("1,234.5x", None),
            ("1234.5", None),
        ] {
            assert_eq!(without_thousands(text).as_deref(), plain, "{text}");
        }
    }

    #[test]
    fn what_is_no_number_is_said_with_its_likely_cause() {
        let plain = Conversion::from_symbol(None);
        let said = |text: &str| plain.read(text).err().unwrap_or_default();
        assert!(said("12,3").contains("decimal comma; write it with a point: `12.3`"));
        assert!(said("12ms").contains("`--unit ms`"));
        assert!(said("NaN").contains("not a finite number"));
        assert!(said("-inf").contains("not a finite number"));
        assert!(said("1e999").contains("too large"));
        assert!(said("fast").contains("`fast` is not a number"));
    }
}
