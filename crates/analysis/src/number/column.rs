//! Columns: one scale and one number of decimals for values shown together. A column has as many
//! digits as the intervals support, without losing the digits of small values next to large ones.
//! Single values, percentages and durations are in the parent module.

use assay_data::{Unit, unit::Scale};

use super::{MOST_DECIMALS, decimals_for, decimals_within, fixed, is_zero, two_digits};

/// Maximum number of decimals if an interval supports them; see [`MOST_DECIMALS`].
const MOST_SUPPORTED_DECIMALS: usize = 12;
/// Maximum number of significant digits if an interval supports them; a double has no more.
const MOST_SUPPORTED: i32 = 15;
/// Differences below this share of the largest value are floating-point rounding.
const ROUNDING: f64 = 1e-15;
/// Number of significant digits shown of an interval's half width.
const HALF_WIDTH_DIGITS: i32 = 2;

/// One scale and one number of decimals for values shown together.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    unit: Unit,
    symbol: String,
    factor: f64,
    decimals: usize,
    /// The smallest half width, in the base unit; infinite if there is none.
    narrowest: f64,
    /// Values below this, in the base unit, may print as zero, since the intervals do not support
    /// their digits.
    floor: f64,
}

impl Column {
    /// Creates a column for `values` whose intervals have these half widths (in base units; half
    /// widths that are not finite are ignored).
    ///
    /// The scale is that of the smallest value, unless the largest would then have five digits
    /// before the point. The decimals show two digits of the smallest half width or, if there is
    /// none, four digits of the values (three for bytes).
    pub fn new(unit: &Unit, values: &[f64], half_widths: &[f64]) -> Self {
        let (smallest, largest) = range(values);
        Self::in_scale(unit, scale_of(unit, smallest, largest), values, half_widths)
    }

    /// Creates a column for one row of a table that spans decades. It has the scale of the whole
    /// table, unless the table's range is too large for one scale, and the decimals appropriate for
    /// this row. `table` holds the [`ends`] of the table's values.
    pub fn for_row(unit: &Unit, table: [f64; 2], row: &[f64], half_widths: &[f64]) -> Self {
        let [smallest, largest] = table;
        let scale = unit.scale_for(smallest);
        if largest / scale.factor < 10_000.0 {
            Self::in_scale(unit, scale_of(unit, smallest, largest), row, half_widths)
        } else {
            Self::new(unit, row, half_widths)
        }
    }

    fn in_scale(unit: &Unit, scale: Scale, values: &[f64], half_widths: &[f64]) -> Self {
        let largest = range(values).1 / scale.factor;
        let narrowest = half_widths
            .iter()
            .map(|h| h / scale.factor)
            // Narrower intervals are floating-point rounding.
            .filter(|h| h.is_finite() && *h > ROUNDING * largest)
            .fold(f64::INFINITY, f64::min);
        let plain_digits = if *unit == Unit::Byte { 3 } else { 4 };
        // Values with a small spread around a large value differ only in late digits.
        let supported = |value, digits| decimals_within(value, digits, MOST_SUPPORTED_DECIMALS);
        let decimals = if narrowest.is_finite() {
            supported(narrowest, HALF_WIDTH_DIGITS).min(supported(largest, MOST_SUPPORTED))
        } else {
            decimals_for(largest, plain_digits)
        };
        let whole = scale.factor == 1.0 && values.iter().all(|v| v.fract() == 0.0);
        let counts = matches!(unit, Unit::One | Unit::Byte) && whole;
        let decimals = if counts { 0 } else { decimals };
        let symbol = match unit {
            Unit::Other(symbol) if scale.symbol.is_empty() => symbol.clone(),
            _ => scale.symbol.to_owned(),
        };
        let narrowest = narrowest * scale.factor;
        let rounding = ROUNDING * largest * scale.factor;
        let floor = if narrowest.is_finite() { narrowest } else { rounding };
        Self { unit: unit.clone(), symbol, factor: scale.factor, decimals, narrowest, floor }
    }

    /// Creates a column for amounts in a sentence. Unlike [`Column::new`], it uses the scale of the
    /// largest amount, so that an end near zero does not lengthen the others.
    pub fn for_amounts(unit: &Unit, amounts: &[f64], half_widths: &[f64]) -> Self {
        let largest = amounts.iter().map(|v| v.abs()).filter(|v| v.is_finite()).fold(0.0, f64::max);
        let at_largest = Self::new(unit, &[largest], half_widths);
        let whole = amounts.iter().all(|v| v.fract() == 0.0);
        // Half a count needs a decimal, even if the largest is whole.
        let decimals = if whole { at_largest.decimals } else { at_largest.decimals.max(1) };
        at_largest.with_decimals(decimals)
    }

    /// Creates a column in the scale of the largest value, with enough decimals to show `digits`
    /// significant digits of it.
    pub fn significant(unit: &Unit, values: &[f64], digits: i32) -> Self {
        let largest = range(values).1;
        let column = Self::new(unit, &[largest], &[]);
        let decimals = decimals_for(largest / column.factor, digits);
        column.with_decimals(decimals)
    }

    /// Limits the column's decimals to the resolution `step`, in the base unit; 0 means no limit.
    #[must_use]
    pub fn no_finer_than(self, step: f64) -> Self {
        let finest = if step > 0.0 { decimals_for(step / self.factor, 1) } else { MOST_DECIMALS };
        let decimals = self.decimals.min(finest);
        self.with_decimals(decimals)
    }

    /// Sets the number of decimals, even if that hides small values.
    #[must_use]
    pub fn with_decimals(self, decimals: usize) -> Self {
        Self { decimals, floor: f64::INFINITY, ..self }
    }

    /// Uses the fewest decimals that show these values exactly, up to three more than now. If more
    /// are needed, the column is unchanged. This is for a few values that matter individually.
    #[must_use]
    pub fn exact(self, values: &[f64]) -> Self {
        let whole = |decimals: usize| {
            let step = 10f64.powi(decimals as i32);
            values.iter().map(|v| v / self.factor * step).all(|v| {
                v.abs() < 1e15 && (v - v.round()).abs() <= 1e-9 * v.abs().max(f64::MIN_POSITIVE)
            })
        };
        match (0..=self.decimals + 3).find(|decimals| whole(*decimals)) {
            Some(decimals) => self.with_decimals(decimals),
            None => self,
        }
    }

    /// Removes one decimal, for live displays.
    #[must_use]
    pub fn with_fewer_digits(self) -> Self {
        Self { decimals: self.decimals.saturating_sub(1), ..self }
    }

    /// Formats a value without its unit. A value so much smaller than the largest that its digits
    /// would be lost keeps two of them. A plain number, which includes its prefix, then uses its
    /// own scale.
    pub fn number(&self, value: f64) -> String {
        let scaled = value / self.factor;
        let text = fixed(scaled, self.decimals);
        let is_lost = self.loses(&text, value);
        if self.unit == Unit::One && (is_lost || self.begins_with_zeros(&text, value)) {
            return self.alone(value);
        }
        let number = match text {
            _ if is_lost => two_digits(scaled),
            // A nonzero value that would print as zero despite the maximum number of decimals gets
            // an exponent.
            zero if is_zero(&zero) && scaled != 0.0 && self.decimals >= MOST_DECIMALS => {
                format!("{scaled:.1e}")
            }
            number => number,
        };
        // A prefix that only multiplies is part of the number; otherwise a range such as 0.06 to
        // 13.92k would be misread.
        if self.only_multiplies() { number + &self.symbol } else { number }
    }

    /// Returns true if the significant digits of a value would be lost in this column.
    fn loses(&self, text: &str, value: f64) -> bool {
        let digits = text.trim_start_matches(['-', '0', '.']).chars().filter(char::is_ascii_digit);
        value.is_finite()
            && value.abs() > self.floor
            && digits.count() < 2
            && text
                .parse::<f64>()
                .is_ok_and(|told| (told * self.factor - value).abs() > 1e-9 * value.abs())
    }

    /// Returns true if a plain number would have a prefix and zeros before its first digit.
    fn begins_with_zeros(&self, text: &str, value: f64) -> bool {
        let zeros = text.trim_start_matches('-').starts_with("0.00");
        zeros && self.only_multiplies() && value.abs() > self.floor
    }

    /// Formats the value in its own scale, with its unit.
    fn alone(&self, value: f64) -> String {
        let scale = self.unit.scale_for(value);
        let own = Self::in_scale(&self.unit, scale, &[value], &[self.narrowest]);
        let decimals = own.decimals;
        own.with_decimals(decimals).with_unit(value)
    }

    fn only_multiplies(&self) -> bool {
        matches!(self.symbol.as_str(), "k" | "M" | "G")
    }

    /// Formats the value with its unit: `812.4 ms`. If the column's scale would hide all of its
    /// digits, it uses its own scale.
    pub fn with_unit(&self, value: f64) -> String {
        if self.unit != Unit::One && self.loses(&fixed(value / self.factor, self.decimals), value) {
            return self.alone(value);
        }
        self.number(value) + &self.suffix()
    }

    /// Returns the unit that follows a number, including its space. It is empty for plain numbers,
    /// whose prefix is part of the number.
    pub fn suffix(&self) -> String {
        match self.symbol.as_str() {
            "" => String::new(),
            _ if self.only_multiplies() => String::new(),
            symbol if symbol.starts_with('/') || ["k/s", "M/s"].contains(&symbol) => {
                symbol.to_owned()
            }
            symbol => format!(" {symbol}"),
        }
    }
}

/// Returns the smallest nonzero and the largest absolute value; infinity and 0 if there are none.
fn range(values: &[f64]) -> (f64, f64) {
    let sizes = || values.iter().map(|v| v.abs()).filter(|v| v.is_finite() && *v > 0.0);
    (sizes().fold(f64::INFINITY, f64::min), sizes().fold(0.0, f64::max))
}

/// Returns the smallest nonzero and the largest absolute value, which determine the scale.
pub fn ends(values: &[f64]) -> [f64; 2] {
    let (smallest, largest) = range(values);
    [smallest, largest]
}

fn scale_of(unit: &Unit, smallest: f64, largest: f64) -> Scale {
    if !smallest.is_finite() {
        return unit.scale_for(0.0);
    }
    // Like counts, rates below ten thousand are shown without a prefix.
    if *unit == Unit::PerSecond && largest < 10_000.0 {
        return unit.scale_for(1.0);
    }
    let fine = unit.scale_for(smallest);
    if largest / fine.factor < 10_000.0 { fine } else { unit.scale_for(largest) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_has_one_scale_and_the_digits_of_its_narrowest_interval() {
        let column = Column::new(&Unit::Second, &[0.8124, 1.021], &[0.0069, 0.0055]);
        assert_eq!(column.with_unit(0.8124), "812.4 ms");
        assert_eq!(column.with_unit(1.021), "1021.0 ms");
        let wide = Column::new(&Unit::Second, &[0.0032, 11.0], &[]);
        assert_eq!(wide.with_unit(11.0), "11.00 s");
    }

    #[test]
    fn what_is_not_zero_does_not_print_as_zero_beside_something_large() {
        let told = |unit: &Unit, values: &[f64]| -> Vec<String> {
            let column = Column::new(unit, values, &[]);
            values.iter().map(|value| column.with_unit(*value)).collect()
        };
        assert_eq!(
            told(&Unit::One, &[0.5, 1.0, 0.0, 3.0, 1_234_567.9]),
            ["0.5000", "1", "0.000M", "3", "1.235M"]
        );
        assert_eq!(told(&Unit::Second, &[529.3e-9, 2.205e-3]), ["529.3 ns", "2.205 ms"]);
        assert_eq!(told(&Unit::Byte, &[5.0, 3e9]), ["5 B", "2.79 GiB"]);
        assert_eq!(told(&Unit::Other("m".into()), &[-0.5, 123_456.0]), ["-0.5000 m", "123456 m"]);
        let column = Column::new(&Unit::Second, &[529.3e-9, 2.205e-3], &[]);
        assert_eq!([529.3e-9, 1e-12].map(|v| column.number(v)), ["0.00053", "1.0e-9"]);
    }

    #[test]
    fn what_is_below_the_interval_may_be_rounded_away() {
        let column = Column::new(&Unit::Second, &[0.8, 1.0], &[0.1]);
        assert_eq!([0.003, 0.25].map(|v| column.number(v)), ["3", "250"]);
        let amounts = Column::for_amounts(&Unit::Second, &[1e-9, 2.0], &[1.0]);
        assert_eq!(amounts.number(1e-9), "0.0");
        let counts = Column::new(&Unit::One, &[4.0, 2e6], &[0.5]);
        assert_eq!([4.0, 2e6].map(|v| counts.number(v)), ["4", "2.00000000M"]);
    }

    #[test]
    fn small_differences_of_large_values_and_tiny_plain_numbers_keep_their_digits() {
        let far = Column::new(&Unit::One, &[1e12 + 3.25], &[0.5]);
        assert_eq!(far.with_unit(1e12 + 3.25), "1000.00000000325G");
        let narrow = Column::new(&Unit::One, &[1e12 + 0.5], &[0.09]);
        assert_eq!(narrow.with_unit(1e12 + 0.5), "1000.00000000050G");
        let tiny = Column::new(&Unit::One, &[2e-10], &[]);
        assert_eq!(tiny.with_unit(2.04e-10), "2.0e-10");
        assert_eq!(tiny.with_unit(0.0), "0.000000000");
    }

    #[test]
    fn values_that_stand_for_themselves_are_told_whole_where_few_digits_do() {
        let told = |values: &[f64]| {
            let column = Column::new(&Unit::Second, values, &[0.5]).exact(values);
            values.iter().map(|v| column.number(*v)).collect::<Vec<_>>()
        };
        assert_eq!(told(&[3.0, 4.0, 5.0]), ["3", "4", "5"]);
        assert_eq!(told(&[1.25, 3.5]), ["1.25", "3.50"]);
        // A third has no finite decimal expansion, so it keeps only the supported digits.
        let column = Column::new(&Unit::One, &[1.0 / 3.0], &[0.05]);
        assert_eq!(column.clone().exact(&[1.0 / 3.0]), column);
    }

    #[test]
    fn the_ends_are_the_smallest_and_the_largest_size() {
        assert_eq!(ends(&[3.0, 1.0, 2.0]), [1.0, 3.0]);
    }
}
