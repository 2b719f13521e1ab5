//! Effects on synthetic data and their notation: outliers (`1%: 10 x`), drift (`5%`), a tick
//! (`period 10, 3%`), the step of a clock (`1us`). Amounts are plain numbers, as in the
//! distribution, or have a unit that can be converted to the distribution's.

use assay_data::Unit;
use assay_data::unit::{Quantity, parse_quantity, unit_of_symbol};

/// The unit of a distribution's numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Numbers {
    /// The base unit.
    pub unit: Unit,
    /// Number of base units that a 1 in the distribution stands for.
    pub factor: f64,
}

impl Default for Numbers {
    /// Returns plain numbers, without a unit.
    fn default() -> Self {
        Self { unit: Unit::One, factor: 1.0 }
    }
}

/// Increase of a value; negative for a decrease.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Change {
    /// A fraction of the value itself.
    Relative(f64),
    /// An amount, in the numbers of the distribution.
    Absolute(f64),
}

/// Occasional values that are much larger than the others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outliers {
    /// Probability of an outlier, from 0 to 1.
    pub share: f64,
    /// Increase of an outlier.
    pub change: Change,
}

/// A periodic effect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tick {
    /// Every `period`-th value is affected; at least 1.
    pub period: u32,
    /// Increase of an affected value.
    pub change: Change,
}

/// An error in the notation of an effect.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct EffectError(String);

impl Numbers {
    /// Returns numbers in the unit with this symbol; an unknown symbol becomes a unit of its own.
    pub fn of_symbol(symbol: &str) -> Self {
        let (factor, unit) =
            unit_of_symbol(symbol).unwrap_or_else(|| (1.0, Unit::from(symbol.to_owned())));
        Self { unit, factor }
    }

    /// Parses an amount: a bare number, or a number with a unit that can be converted.
    ///
    /// # Errors
    /// Returns an error if the text is not a number, is a fraction, or has an incompatible unit.
    pub fn amount(&self, text: &str) -> Result<f64, EffectError> {
        match parse_quantity(text).map_err(|error| EffectError(error.to_string()))? {
            Quantity::Bare(number) => Ok(number),
            Quantity::Amount(amount, unit) if unit == self.unit => Ok(self.of_base(amount)),
            Quantity::Amount(..) => Err(EffectError(format!(
                "`{}` has a unit, but the numbers are {}; give their unit with --unit, or leave the unit out",
                text.trim(),
                if self.unit == Unit::One { "plain" } else { "of another unit" }
            ))),
            Quantity::Fraction(_) => {
                Err(EffectError(format!("`{}` of what? Give an amount", text.trim())))
            }
        }
    }

    /// Converts a number of the distribution to the base unit. Divides by a whole number if
    /// possible, so that 12.5 ms is the double nearest to 0.0125.
    pub fn to_base(&self, number: f64) -> f64 {
        if self.factor < 1.0 { number / (1.0 / self.factor).round() } else { number * self.factor }
    }

    fn of_base(&self, amount: f64) -> f64 {
        if self.factor < 1.0 { amount * (1.0 / self.factor).round() } else { amount / self.factor }
    }
}

impl Change {
    /// Parses a change such as `5%`, `300` or `2ms`. A minus sign means a decrease.
    ///
    /// # Errors
    /// Returns an error if the text is neither a percentage nor an amount that [`Numbers::amount`]
    /// accepts.
    pub fn parse(text: &str, numbers: &Numbers) -> Result<Self, EffectError> {
        match parse_quantity(text) {
            Ok(Quantity::Fraction(fraction)) => Ok(Self::Relative(fraction)),
            _ => numbers.amount(text).map(Self::Absolute),
        }
    }
}

impl Outliers {
    /// Parses outliers such as `1%: 10 x` (one value in a hundred is ten times as large) or `1%:
    /// +300` (one value in a hundred is larger by 300).
    ///
    /// # Errors
    /// Returns an error if the share or the size is missing or invalid.
    pub fn parse(text: &str, numbers: &Numbers) -> Result<Self, EffectError> {
        let usage = "write the share and the size of outliers, as in `1%: 10 x` or `1%: +300`";
        let (share, size) = text.split_once(':').ok_or_else(|| EffectError(usage.to_owned()))?;
        let found = match parse_quantity(share) {
            Ok(Quantity::Fraction(share) | Quantity::Bare(share)) => Some(share),
            _ => None,
        };
        let share = found.filter(|share| (0.0..=1.0).contains(share)).ok_or_else(|| {
            EffectError(format!("`{}` is not a share from 0% to 100%; {usage}", share.trim()))
        })?;
        let size = size.trim();
        let times = size.strip_suffix(['x', '×']).map(str::trim);
        let change = match times {
            Some(times) => match parse_quantity(times) {
                Ok(Quantity::Bare(factor)) => Change::Relative(factor - 1.0),
                _ => return Err(EffectError(format!("`{times}` is not a factor; {usage}"))),
            },
            None => Change::parse(size, numbers)?,
        };
        Ok(Self { share, change })
    }
}

impl Tick {
    /// Parses a tick such as `period 10, 3%`: every tenth value is 3 % larger. The word `period` is
    /// optional.
    ///
    /// # Errors
    /// Returns an error if the period or the size is missing or invalid.
    pub fn parse(text: &str, numbers: &Numbers) -> Result<Self, EffectError> {
        let usage = "write a tick as in `period 10, 3%`: every tenth value is 3 % larger";
        let (period, size) = text.split_once(',').ok_or_else(|| EffectError(usage.to_owned()))?;
        let number = period.trim().trim_start_matches("period").trim();
        let period = number.parse().ok().filter(|&period: &u32| period > 0);
        let period = period.ok_or_else(|| {
            EffectError(format!("`{number}` is not a number of values, at least 1; {usage}"))
        })?;
        Ok(Self { period, change: Change::parse(size, numbers)? })
    }
}
