//! What goes wrong with synthetic data, and how it is written: outliers (`1%: 10 x`), drift
//! (`5%`), a tick (`period 10, 3%`), the step of a clock (`1us`). Amounts are in the numbers of the
//! distribution, or in a unit that can be converted to theirs.

use assay_data::Unit;
use assay_data::unit::{Quantity, parse_quantity, unit_of_symbol};

/// What the numbers of a distribution are: so many of a base unit each.
#[derive(Clone, Debug, PartialEq)]
pub struct Numbers {
    /// The base unit.
    pub unit: Unit,
    /// How many base units one of them is.
    pub factor: f64,
}

impl Default for Numbers {
    /// Plain numbers.
    fn default() -> Self {
        Self { unit: Unit::One, factor: 1.0 }
    }
}

/// How much more a value has than it would have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Change {
    /// This fraction of itself.
    Relative(f64),
    /// This amount, in the numbers of the distribution.
    Absolute(f64),
}

/// Values that are much larger than the others, here and there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outliers {
    /// The chance of a value to be one, from 0 to 1.
    pub share: f64,
    /// What it then has more.
    pub change: Change,
}

/// What comes back after every so many values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tick {
    /// It hits every `period`-th value; at least 1.
    pub period: u32,
    /// What that has more.
    pub change: Change,
}

/// Why an effect could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct EffectError(String);

impl Numbers {
    /// The numbers of a unit by its symbol; any word that is not known is a unit of its own.
    pub fn of_symbol(symbol: &str) -> Self {
        let (factor, unit) =
            unit_of_symbol(symbol).unwrap_or_else(|| (1.0, Unit::from(symbol.to_owned())));
        Self { unit, factor }
    }

    /// An amount as people type it, in these numbers: bare, or with a unit that can be converted.
    ///
    /// # Errors
    /// When it is not a number, a share of something, or of another unit.
    pub fn amount(&self, text: &str) -> Result<f64, EffectError> {
        match parse_quantity(text).map_err(|error| EffectError(error.to_string()))? {
            Quantity::Bare(number) => Ok(number),
            Quantity::Amount(amount, unit) if unit == self.unit => Ok(self.of_base(amount)),
            Quantity::Amount(..) => Err(EffectError(format!(
                "`{}` has a unit, but the numbers are {}; say what they are with --unit, or leave the unit out",
                text.trim(),
                if self.unit == Unit::One { "plain" } else { "of another unit" }
            ))),
            Quantity::Fraction(_) => {
                Err(EffectError(format!("`{}` of what? Give an amount", text.trim())))
            }
        }
    }

    /// Numbers of the distribution in the base unit. Divided by a whole number where that is what
    /// is meant: 12.5 ms are the double nearest to 0.0125.
    pub fn to_base(&self, number: f64) -> f64 {
        if self.factor < 1.0 { number / (1.0 / self.factor).round() } else { number * self.factor }
    }

    fn of_base(&self, amount: f64) -> f64 {
        if self.factor < 1.0 { amount * (1.0 / self.factor).round() } else { amount / self.factor }
    }
}

impl Change {
    /// Reads `5%`, `300` or `2ms`; less is written with a minus.
    ///
    /// # Errors
    /// When it is none of these.
    pub fn parse(text: &str, numbers: &Numbers) -> Result<Self, EffectError> {
        match parse_quantity(text) {
            Ok(Quantity::Fraction(fraction)) => Ok(Self::Relative(fraction)),
            _ => numbers.amount(text).map(Self::Absolute),
        }
    }
}

impl Outliers {
    /// Reads `1%: 10 x` (a hundredth of the values is ten times as large) or `1%: +300` (has 300
    /// more).
    ///
    /// # Errors
    /// When share or size are missing or none.
    pub fn parse(text: &str, numbers: &Numbers) -> Result<Self, EffectError> {
        let usage = "write the share and the size of outliers, as in `1%: 10 x` or `1%: +300`";
        let (share, size) = text.split_once(':').ok_or_else(|| EffectError(usage.to_owned()))?;
        let found = match parse_quantity(share) {
            Ok(Quantity::Fraction(share) | Quantity::Bare(share)) => Some(share),
            _ => None,
        };
        let share = found.filter(|share| (0.0..=1.0).contains(share)).ok_or_else(|| {
            EffectError(format!("`{}` is no share from 0% to 100%; {usage}", share.trim()))
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
    /// Reads `period 10, 3%`: every tenth value is 3 % larger. The word may be left out.
    ///
    /// # Errors
    /// When period or size are missing or none.
    pub fn parse(text: &str, numbers: &Numbers) -> Result<Self, EffectError> {
        let usage = "write a tick as in `period 10, 3%`: every tenth value is 3 % larger";
        let (period, size) = text.split_once(',').ok_or_else(|| EffectError(usage.to_owned()))?;
        let number = period.trim().trim_start_matches("period").trim();
        let period = number.parse().ok().filter(|&period: &u32| period > 0);
        let period = period.ok_or_else(|| {
            EffectError(format!("`{number}` is no number of values from 1 on; {usage}"))
        })?;
        Ok(Self { period, change: Change::parse(size, numbers)? })
    }
}
