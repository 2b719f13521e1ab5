//! Units that a program or a command line declares for its numbers, and their conversion to base
//! units.
//!
//! Unlike quantities given as option values, such numbers may be in any unit: known units are
//! converted, and any other word is a unit of its own. A word that is almost a known unit is
//! refused, because it is more likely a typo than a new unit.

use crate::unit::{Unit, unit_of_symbol};

/// Symbols that are suggested if a word is almost one of them.
const KNOWN: [&str; 21] = [
    "ns", "us", "µs", "ms", "s", "sec", "second", "seconds", "min", "minute", "minutes", "h", "B",
    "byte", "bytes", "kB", "MB", "GB", "KiB", "MiB", "GiB",
];

/// Maximum length of a symbol, in characters.
const MAX_SYMBOL: usize = 20;

/// A declared unit, and how to convert numbers in it to its base unit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DeclaredUnit {
    /// The base unit.
    pub unit: Unit,
    /// Number of base units in one declared unit.
    pub factor: f64,
}

/// Reasons why a word is not accepted as a unit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// The word is almost the symbol of a known unit.
    #[error("`{found}` is not a known unit; did you mean `{near}`? (case counts)")]
    NearlyKnown {
        /// The word as given.
        found: String,
        /// The symbol that it resembles.
        near: &'static str,
    },
    /// The word is too long, or has characters that do not occur in units.
    #[error(
        "`{0}` is not a unit; a unit is one word of at most 20 characters, such as ms, MiB, 1/s or rows"
    )]
    NotAUnit(String),
}

impl DeclaredUnit {
    /// Returns the unit of plain numbers, which have no dimension.
    pub fn one() -> Self {
        Self { unit: Unit::One, factor: 1.0 }
    }

    /// Parses a symbol: a unit of time or bytes, `1`, `1/s` (or `/s`), or any other word.
    pub fn parse(symbol: &str) -> Result<Self, UnitError> {
        if let Some((factor, unit)) = unit_of_symbol(symbol) {
            return Ok(Self { unit, factor });
        }
        match symbol {
            "1" => return Ok(Self::one()),
            "1/s" | "/s" => return Ok(Self { unit: Unit::PerSecond, factor: 1.0 }),
            _ => {}
        }
        let fits = symbol.chars().count() <= MAX_SYMBOL && symbol.chars().all(is_unit_character);
        if !fits || !symbol.chars().any(|c| c.is_alphabetic() || matches!(c, '%' | '°')) {
            return Err(UnitError::NotAUnit(crate::excerpt::excerpt(symbol)));
        }
        if let Some(near) = nearly(symbol) {
            return Err(UnitError::NearlyKnown { found: symbol.to_owned(), near });
        }
        Ok(Self { unit: Unit::Other(symbol.to_owned()), factor: 1.0 })
    }

    /// Converts a number in this unit to the base unit.
    pub fn to_base(&self, value: f64) -> f64 {
        if self.factor < 1.0 {
            // Dividing by a whole number turns 12.5 ms into the double nearest to 0.0125, whereas
            // multiplying by 0.001 may give its neighbor.
            value / (1.0 / self.factor).round()
        } else {
            value * self.factor
        }
    }
}

/// Checks a unit that a person typed. Any word is accepted unless it is almost a known unit.
///
/// # Errors
/// Returns an error if the word is almost a known unit.
pub fn check_unit(symbol: &str) -> Result<(), UnitError> {
    match DeclaredUnit::parse(symbol) {
        Err(error @ UnitError::NearlyKnown { .. }) => Err(error),
        _ => Ok(()),
    }
}

/// Returns true for characters allowed in units: letters, digits, and signs as in `GB/s`, `%` or
/// `m²`.
pub(crate) fn is_unit_character(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '/' | '%' | '_' | '-' | '.' | '^' | '°' | '²' | '³')
}

/// Returns the known unit that almost equals `word`: ignoring case, the two are equal or, if the
/// word has three or more letters, one edit apart.
fn nearly(word: &str) -> Option<&'static str> {
    let same = |known: &&str| known.to_lowercase() == word.to_lowercase();
    let slip = |known: &&str| {
        word.chars().count() >= 3
            && strsim::osa_distance(&known.to_lowercase(), &word.to_lowercase()) == 1
    };
    KNOWN.into_iter().find(same).or_else(|| KNOWN.into_iter().find(slip))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_units_come_in_base_units_to_the_nearest_double() {
        let base = |symbol: &str, value| {
            DeclaredUnit::parse(symbol).map(|declared| (declared.to_base(value), declared.unit))
        };
        assert_eq!(base("ms", 12.5), Ok((0.0125, Unit::Second)));
        assert_eq!(base("us", 1.1), Ok((1.1e-6, Unit::Second)));
        assert_eq!(base("min", 2.0), Ok((120.0, Unit::Second)));
        assert_eq!(base("KiB", 3.0), Ok((3072.0, Unit::Byte)));
        assert_eq!(base("1", 3.0), Ok((3.0, Unit::One)));
        assert_eq!(base("/s", 3.0), Ok((3.0, Unit::PerSecond)));
    }

    #[test]
    fn any_other_word_is_a_unit_of_its_own() {
        for word in ["rows", "GB/s", "%", "J", "°C", "kWh", "px", "ops"] {
            let unit = DeclaredUnit::parse(word).map(|declared| declared.unit);
            assert_eq!(unit, Ok(Unit::Other(word.to_owned())));
        }
    }

    #[test]
    fn a_slip_is_refused_with_the_unit_that_was_meant() {
        for (word, meant) in [
            ("mss", "ms"),
            ("MS", "ms"),
            ("mib", "MiB"),
            ("sek", "sec"),
            ("b", "B"),
            ("secnds", "seconds"),
        ] {
            let error = DeclaredUnit::parse(word);
            assert_eq!(
                error,
                Err(UnitError::NearlyKnown { found: word.to_owned(), near: meant }),
                "{word}"
            );
        }
    }

    #[test]
    fn what_no_unit_looks_like_is_refused() {
        for word in ["", "12", "a b", "m\u{7}s", "a very long unit that nobody has"] {
            assert!(matches!(DeclaredUnit::parse(word), Err(UnitError::NotAUnit(_))), "{word}");
        }
    }
}
