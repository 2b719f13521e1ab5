//! Units: base units inside, scaled ones for people, and the quantities that people type.
//!
//! Files and computations hold SI base units (second, byte, 1); only the printer scales. One table serves both directions,
//! so that what is printed can be typed.

use serde::{Deserialize, Serialize};

/// A base unit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Unit {
    /// Seconds.
    Second,
    /// Bytes.
    Byte,
    /// A plain number or a count.
    #[default]
    One,
    /// Per second.
    PerSecond,
    /// Any other unit, never scaled.
    Other(String),
}

impl From<String> for Unit {
    fn from(symbol: String) -> Self {
        match symbol.as_str() {
            "s" => Self::Second,
            "B" => Self::Byte,
            "1" | "" => Self::One,
            "1/s" => Self::PerSecond,
            _ => Self::Other(symbol),
        }
    }
}

impl From<Unit> for String {
    fn from(unit: Unit) -> Self {
        unit.symbol().to_owned()
    }
}

/// A multiple of a base unit, with the symbol that people read and type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// Symbol, such as `ms`; empty for plain numbers.
    pub symbol: &'static str,
    /// How many base units one of it is.
    pub factor: f64,
}

const SECONDS: [Scale; 4] = [
    Scale { symbol: "ns", factor: 1e-9 },
    Scale { symbol: "µs", factor: 1e-6 },
    Scale { symbol: "ms", factor: 1e-3 },
    Scale { symbol: "s", factor: 1.0 },
];
const BYTES: [Scale; 5] = [
    Scale { symbol: "B", factor: 1.0 },
    Scale { symbol: "KiB", factor: 1024.0 },
    Scale { symbol: "MiB", factor: 1_048_576.0 },
    Scale { symbol: "GiB", factor: 1_073_741_824.0 },
    Scale { symbol: "TiB", factor: 1_099_511_627_776.0 },
];
const ONES: [Scale; 4] = [
    Scale { symbol: "", factor: 1.0 },
    Scale { symbol: "k", factor: 1e3 },
    Scale { symbol: "M", factor: 1e6 },
    Scale { symbol: "G", factor: 1e9 },
];
const PER_SECOND: [Scale; 3] = [
    Scale { symbol: "/s", factor: 1.0 },
    Scale { symbol: "k/s", factor: 1e3 },
    Scale { symbol: "M/s", factor: 1e6 },
];

const BYTES_PER_SECOND: [Scale; 4] = [
    Scale { symbol: "B/s", factor: 1.0 },
    Scale { symbol: "KiB/s", factor: 1024.0 },
    Scale { symbol: "MiB/s", factor: 1_048_576.0 },
    Scale { symbol: "GiB/s", factor: 1_073_741_824.0 },
];

impl Unit {
    /// The symbol as files hold it: `s`, `B`, `1`, `1/s`.
    pub fn symbol(&self) -> &str {
        match self {
            Self::Second => "s",
            Self::Byte => "B",
            Self::One => "1",
            Self::PerSecond => "1/s",
            Self::Other(symbol) => symbol,
        }
    }

    /// The scale in which a value of this size is best read: the largest that leaves at least one whole unit. Plain counts
    /// stay whole below ten thousand. A unit of somebody else's is never scaled, but for bytes per second.
    pub fn scale_for(&self, value: f64) -> Scale {
        let magnitude = value.abs();
        let table: &[Scale] = match self {
            Self::Second => &SECONDS,
            Self::Byte => &BYTES,
            // No prefix helps beyond a million G.
            Self::One if !(10_000.0..1e15).contains(&magnitude) => &ONES[..1],
            Self::One => &ONES,
            Self::PerSecond => &PER_SECOND,
            Self::Other(symbol) if symbol == "B/s" => &BYTES_PER_SECOND,
            Self::Other(_) => return Scale { symbol: "", factor: 1.0 },
        };
        // 999.96 ms would print as 1000.0 ms: such a value reads better in the next scale.
        let fits = |scale: &&Scale| magnitude >= scale.factor * 0.99995;
        *table.iter().rev().find(fits).unwrap_or(&table[0])
    }
}

/// A number with a unit, as typed: `6.667us`, `64KiB`, `1%`.
#[derive(Clone, Debug, PartialEq)]
pub enum Quantity {
    /// A fraction, typed in per cent.
    Fraction(f64),
    /// An amount in a base unit.
    Amount(f64, Unit),
    /// A number without a unit.
    Bare(f64),
}

/// Why a typed quantity could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuantityError {
    /// There is no finite number at the start.
    #[error("`{0}` does not begin with a number; write it like `250ms`, `64KiB` or `1%`")]
    NotANumber(String),
    /// The unit is not in the table.
    #[error(
        "`{unit}` in `{text}` is not a unit that is known here; known are ns, us, ms, s, min, h, B, KiB, MiB, GiB, kB, MB, GB, /s, units (of numbers that have none) and %"
    )]
    UnknownUnit {
        /// What was typed.
        text: String,
        /// The part that was not understood.
        unit: String,
    },
}

/// Scale of a time or size unit by its symbol, in base units: `us`, `µs`, `min`, `MB`.
pub fn unit_of_symbol(symbol: &str) -> Option<(f64, Unit)> {
    let seconds = |factor| Some((factor, Unit::Second));
    let bytes = |factor| Some((factor, Unit::Byte));
    match symbol {
        "ns" | "nsec" | "nanosecond" | "nanoseconds" => seconds(1e-9),
        "us" | "µs" | "μs" | "usec" | "microsecond" | "microseconds" => seconds(1e-6),
        "ms" | "msec" | "millisecond" | "milliseconds" => seconds(1e-3),
        "s" | "sec" | "secs" | "second" | "seconds" => seconds(1.0),
        "m" | "min" | "minute" | "minutes" => seconds(60.0),
        "h" | "hour" | "hours" => seconds(3600.0),
        "B" | "byte" | "bytes" => bytes(1.0),
        "kB" | "KB" => bytes(1e3),
        "MB" => bytes(1e6),
        "GB" => bytes(1e9),
        "KiB" => bytes(1024.0),
        "MiB" => bytes(1_048_576.0),
        "GiB" => bytes(1_073_741_824.0),
        "TiB" => bytes(1_099_511_627_776.0),
        _ => None,
    }
}

/// Reads a quantity as people type it. Spaces between number and unit are allowed.
///
/// # Errors
/// When there is no number at the start, or the unit is not known.
pub fn parse_quantity(text: &str) -> Result<Quantity, QuantityError> {
    let trimmed = text.trim();
    let is_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | '+' | '-');
    let mut end = trimmed.find(|c: char| !is_number(c)).unwrap_or(trimmed.len());
    // An exponent belongs to the number only when digits follow it.
    let rest = &trimmed.as_bytes()[end..];
    if matches!(rest.first(), Some(b'e' | b'E')) {
        let signed = usize::from(matches!(rest.get(1), Some(b'+' | b'-')));
        let digits = rest[1 + signed..].iter().take_while(|b| b.is_ascii_digit()).count();
        if digits > 0 {
            end += 1 + signed + digits;
        }
    }
    let not_a_number = || QuantityError::NotANumber(text.to_owned());
    let number: f64 = trimmed[..end].parse().map_err(|_| not_a_number())?;
    if !number.is_finite() {
        return Err(not_a_number());
    }
    match trimmed[end..].trim() {
        "" => Ok(Quantity::Bare(number)),
        "%" => Ok(Quantity::Fraction(number / 100.0)),
        // Said where a bare number might be taken for a percentage.
        "unit" | "units" => Ok(Quantity::Amount(number, Unit::One)),
        "/s" => Ok(Quantity::Amount(number, Unit::PerSecond)),
        symbol => unit_of_symbol(symbol)
            .map(|(factor, unit)| Quantity::Amount(number * factor, unit))
            .ok_or_else(|| QuantityError::UnknownUnit {
                text: text.to_owned(),
                unit: symbol.to_owned(),
            }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_read_as_people_type_them() {
        assert_eq!(parse_quantity("250ms"), Ok(Quantity::Amount(0.25, Unit::Second)));
        assert_eq!(parse_quantity(" 64 KiB"), Ok(Quantity::Amount(65536.0, Unit::Byte)));
        assert_eq!(parse_quantity("2%"), Ok(Quantity::Fraction(0.02)));
        assert_eq!(parse_quantity("1e-3s"), Ok(Quantity::Amount(1e-3, Unit::Second)));
        assert_eq!(parse_quantity("12"), Ok(Quantity::Bare(12.0)));
        assert_eq!(parse_quantity("2units"), Ok(Quantity::Amount(2.0, Unit::One)));
        assert_eq!(parse_quantity("40 /s"), Ok(Quantity::Amount(40.0, Unit::PerSecond)));
        assert!(matches!(parse_quantity("fast"), Err(QuantityError::NotANumber(_))));
        assert!(matches!(parse_quantity("3 parsec"), Err(QuantityError::UnknownUnit { .. })));
        assert!(parse_quantity("1e999").is_err());
    }

    #[test]
    fn a_value_is_shown_in_the_scale_that_leaves_a_whole_unit() {
        assert_eq!(Unit::Second.scale_for(0.0025).symbol, "ms");
        assert_eq!(Unit::Second.scale_for(0.999_96).symbol, "s");
        assert_eq!(Unit::Second.scale_for(0.0).symbol, "ns");
        assert_eq!(Unit::Byte.scale_for(1e6).symbol, "KiB");
        assert_eq!(Unit::One.scale_for(9_999.0).symbol, "");
        assert_eq!(Unit::One.scale_for(12_345.0).symbol, "k");
    }

    #[test]
    fn a_unit_survives_the_file() {
        for unit in
            [Unit::Second, Unit::Byte, Unit::One, Unit::PerSecond, Unit::Other("furlong".into())]
        {
            assert_eq!(Unit::from(String::from(unit.clone())), unit);
        }
    }
}
