//! Round values for the axes of charts, shared by terminal reports and pages.
//!
//! On a linear axis, the values are multiples of 1, 2 or 5 times a power of ten, in the displayed
//! scale (MiB rather than bytes). On a logarithmic axis, they are powers of ten (1,024 for bytes)
//! and round values between them. Nothing is drawn here.

use crate::number;
use assay_data::Unit;

/// If the values exceed their range by more than this factor, ticks are labeled relative to the
/// first one.
const MOST_DIGITS: f64 = 1e6;

/// The ticks of a linear axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Linear {
    /// Values in the base unit with their labels, in ascending order. The labels do not include a
    /// unit.
    pub ticks: Vec<(f64, String)>,
    /// The unit of the labels, such as `ms`. It is empty for plain numbers, where each label has
    /// its own prefix.
    pub symbol: String,
    /// The value to which the labels are relative, formatted with its unit, or `None` if the labels
    /// show the values themselves.
    pub from: Option<String>,
}

/// Returns about `wanted` round values (at least 2) between the ends. There are none if an end is
/// not finite, and there is one if the ends are equal.
pub(crate) fn linear(low: f64, high: f64, unit: &Unit, wanted: usize) -> Linear {
    let none = Linear { ticks: Vec::new(), symbol: String::new(), from: None };
    let span = high - low;
    if !(span.is_finite() && low.is_finite()) {
        return none;
    }
    if span <= 0.0 {
        return Linear { ticks: vec![(low, number::value(low, unit))], ..none };
    }
    let largest = low.abs().max(high.abs());
    // Ticks that would differ only in the last of many digits are relative to the first one, in the
    // scale of the remainder.
    let offset = largest / span > MOST_DIGITS;
    let scale = unit.scale_for(if offset { span } else { largest });
    let step = round_step(span / scale.factor, wanted.max(2)) * scale.factor;
    let first = (low / step).ceil();
    let count = ((high / step).floor() - first).clamp(0.0, 1000.0) as usize;
    let decimals = number::decimals_for(step / scale.factor, 1);
    // If the step is smaller than the last decimal, adjacent ticks would have the same label.
    // Labels with many zeros would not fit next to the axis.
    let size = if offset { span } else { largest };
    let tiny = step / scale.factor < 0.1_f64.powi(decimals as i32)
        || (decimals > 6 && size / scale.factor < 1e-3);
    let exponent = |value: f64| (value / scale.factor).log10().floor();
    let digits = (exponent(size) - exponent(step)).max(2.0) as usize;
    let multiplies = matches!(unit, Unit::One) && !scale.symbol.is_empty();
    let behind = if multiplies { scale.symbol } else { "" };
    let origin = if offset { first * step } else { 0.0 };
    let ticks = (0..=count)
        .map(|k| (first + k as f64) * step)
        .map(|value| {
            let sign = if offset { "+" } else { "" };
            let scaled = (value - origin) / scale.factor;
            let written =
                if tiny { format!("{scaled:.digits$e}") } else { number::fixed(scaled, decimals) };
            let behind = if value == 0.0 { "" } else { behind };
            (value, format!("{sign}{written}{behind}"))
        })
        .collect();
    let symbol = match unit {
        Unit::Other(symbol) if scale.symbol.is_empty() => symbol.clone(),
        Unit::PerSecond if scale.symbol == "/s" => "1/s".to_owned(),
        _ if multiplies => String::new(),
        _ => scale.symbol.to_owned(),
    };
    let from =
        offset.then(|| format!("{origin} {}", unit.symbol()).trim_end_matches(" 1").to_owned());
    Linear { ticks, symbol, from }
}

/// Returns 1, 2 or 5 times a power of ten, so that about `wanted` steps make up the span.
fn round_step(span: f64, wanted: usize) -> f64 {
    let rough = span / wanted as f64;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().find(|step| step * power >= rough * 0.85);
    step.unwrap_or(10.0) * power
}

/// Returns at most `most` round values between two positive ends, each with its label including the
/// unit. There are at least three values if possible, and if there are fewer than two, the ends
/// themselves are returned.
pub(crate) fn logarithmic(low: f64, high: f64, unit: &Unit, most: usize) -> Vec<(f64, String)> {
    let told = |value: f64| (value, number::chosen(value, unit));
    // An end that is a round value is on the axis, regardless of rounding errors in its logarithm.
    let within = low.ln() - 1e-9..=high.ln() + 1e-9;
    let mut two: Vec<f64> = Vec::new();
    for factors in divisions(unit) {
        let base: f64 = if *unit == Unit::Byte { 1024.0 } else { 10.0 };
        let decades =
            (low.ln() / base.ln()).floor() as i32 - 1..=(high.ln() / base.ln()).ceil() as i32;
        let round: Vec<f64> = decades
            .flat_map(|decade| factors.iter().map(move |factor| factor * base.powi(decade)))
            .filter(|value| within.contains(&value.ln()))
            .collect();
        if round.len() > most && !two.is_empty() {
            break;
        }
        if round.len() > most {
            let every = round.len().div_ceil(most);
            return round.into_iter().step_by(every).map(told).collect();
        }
        match round.len() {
            0 | 1 => {}
            2 => two = round,
            _ => return round.into_iter().map(told).collect(),
        }
    }
    // Within a decade, evenly spaced values look similar on linear and logarithmic axes.
    let even = linear(low, high, unit, most.saturating_sub(1)).ticks;
    let even: Vec<f64> = even.into_iter().map(|(value, _)| value).collect();
    if (3..=most).contains(&even.len()) {
        return even.into_iter().map(told).collect();
    }
    if !two.is_empty() {
        return two.into_iter().map(told).collect();
    }
    let ends = if high > low { vec![low, high] } else { vec![low] };
    ends.into_iter().map(|value| (value, number::value(value, unit))).collect()
}

/// Returns the possible divisions of a decade (for bytes, of a factor of 1,024), from the coarsest
/// to the finest.
fn divisions(unit: &Unit) -> [&'static [f64]; 3] {
    match unit {
        Unit::Byte => [
            &[1.0],
            &[1.0, 16.0, 128.0],
            &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0],
        ],
        _ => [&[1.0], &[1.0, 3.0], &[1.0, 2.0, 5.0]],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn labels(low: f64, high: f64, unit: &Unit) -> Vec<String> {
        logarithmic(low, high, unit, 5).into_iter().map(|(_, text)| text).collect()
    }

    fn linear_labels(low: f64, high: f64, unit: &Unit) -> (Vec<String>, String) {
        let found = linear(low, high, unit, 4);
        (found.ticks.into_iter().map(|(_, text)| text).collect(), found.symbol)
    }

    #[test]
    fn a_logarithmic_axis_names_round_values_within_its_range() {
        assert_eq!(labels(0.0008, 2.0, &Unit::Second), ["1 ms", "10 ms", "100 ms", "1 s"]);
        // Two powers of ten, or two round values within one, are too few to read other values.
        assert_eq!(labels(0.002, 0.007, &Unit::Second), ["2 ms", "4 ms", "6 ms"]);
        assert_eq!(labels(0.8, 12.0, &Unit::One), ["1", "3", "10"]);
        assert_eq!(labels(0.62, 1.45, &Unit::One), ["0.8", "1", "1.2", "1.4"]);
        assert_eq!(
            labels(0.0021, 0.00241, &Unit::Second),
            ["2.1 ms", "2.2 ms", "2.3 ms", "2.4 ms"]
        );
        assert_eq!(labels(3e5, 4e6, &Unit::Byte), ["512 KiB", "1 MiB", "2 MiB"]);
        assert_eq!(labels(7.0, 7.0, &Unit::One), ["7"]);
        assert_eq!(labels(1e-9, 1e9, &Unit::Second).len(), 5);
    }

    #[test]
    fn a_linear_axis_counts_in_the_scale_that_people_read() {
        let ms =
            |labels: &[&str]| (labels.iter().map(|&l| l.to_owned()).collect(), "ms".to_owned());
        assert_eq!(linear_labels(0.0101, 0.0498, &Unit::Second), ms(&["20", "30", "40"]));
        assert_eq!(
            linear_labels(0.00101, 0.00121, &Unit::Second),
            ms(&["1.05", "1.10", "1.15", "1.20"])
        );
        let (memory, symbol) = linear_labels(1.1e6, 7.3e6, &Unit::Byte);
        assert_eq!((memory, symbol.as_str()), (vec!["2".into(), "4".into(), "6".into()], "MiB"));
        let (counts, symbol) = linear_labels(0.0, 35_000.0, &Unit::One);
        assert_eq!((counts.len(), counts[1].as_str(), symbol.as_str()), (4, "10k", ""));
    }

    #[test]
    fn values_that_differ_in_their_last_digits_are_told_from_the_first() {
        let found = linear(1e12, 1e12 + 40.0, &Unit::One, 4);
        assert_eq!(found.from.as_deref(), Some("1000000000000"));
        let written: Vec<&str> = found.ticks.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(written, ["+0", "+10", "+20", "+30", "+40"]);
    }

    #[test]
    fn an_axis_without_length_or_end_has_one_tick_or_none() {
        assert_eq!(linear(3.0, 3.0, &Unit::Second, 5).ticks.len(), 1);
        assert_eq!(linear(f64::NAN, 3.0, &Unit::Second, 5).ticks.len(), 0);
        assert_eq!(linear(0.0, f64::INFINITY, &Unit::Second, 5).ticks.len(), 0);
    }

    #[test]
    fn steps_smaller_than_any_decimal_are_written_with_an_exponent() {
        let found = linear(0.0, 1.7e-9, &Unit::Byte, 5);
        let written: Vec<&str> = found.ticks.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(written, ["0.00e0", "5.00e-10", "1.00e-9", "1.50e-9"]);
    }

    proptest! {
        #[test]
        fn ticks_ascend_within_the_axis_and_are_written_differently(
            low in -1e6f64..1e6, exponent in -9i32..7, unit in prop::sample::select(vec![Unit::Second, Unit::Byte, Unit::One, Unit::PerSecond])
        ) {
            let high = low + 10f64.powi(exponent) * 1.7;
            prop_assume!(high > low && (high - low) / low.abs().max(1.0) > 1e-12);
            let found = linear(low, high, &unit, 5);
            prop_assert!((2..=11).contains(&found.ticks.len()), "{found:?}");
            for pair in found.ticks.windows(2) {
                prop_assert!(pair[0].0 < pair[1].0 && pair[0].1 != pair[1].1, "{:?}", found);
            }
            let slack = (high - low) * 1e-6;
            prop_assert!(found.ticks.iter().all(|(v, _)| (low - slack..=high + slack).contains(v)));
        }
    }
}
