//! Formatting of numbers: values in one scale per column, percentages, multiples, durations.
//!
//! A printed number has as many digits as its interval supports, and a nonzero number is never
//! printed as `0.0 %`. Input is in base units; output is scaled by the table in
//! [`assay_data::unit`].

use assay_data::{Threshold, Unit};

mod column;

pub use column::{Column, ends};

/// Maximum number of decimals.
const MOST_DECIMALS: usize = 9;
/// Maximum number of decimals of a small number in a column of large ones; smaller numbers get an
/// exponent.
const LONGEST_SMALL: usize = 6;
/// Factor from which values differ too much to be shown in one scale.
pub const DECADES: f64 = 1e4;
/// Ratios below this are shown with an exponent.
const SMALLEST_RATIO: f64 = 1e-4;
/// log₁₀ of the p-value below which a bound and the logarithm are shown.
const SMALLEST_LOG10: f64 = -300.0;
/// Numbers from this size are shown with an exponent.
const HUGE: f64 = 1e10;
/// Numbers below this are shown with an exponent if their digits would all be zeros.
const TINY: f64 = 1e-12;

/// Formats a single value with its unit.
pub fn value(value: f64, unit: &Unit) -> String {
    Column::new(unit, &[value], &[]).with_unit(value)
}

/// Formats a single value rounded to two digits, for cases in which only its size matters.
pub fn rough(value: f64, unit: &Unit) -> String {
    Column::significant(unit, &[value], 2).with_unit(value)
}

/// Formats a count with thousands separators: `9`, `35,000`.
pub fn count(n: f64) -> String {
    let digits = fixed(n.round(), 0);
    let (sign, size) = digits.strip_prefix('-').map_or(("", digits.as_str()), |size| ("-", size));
    if !size.bytes().all(|b| b.is_ascii_digit()) {
        return digits;
    }
    let grouped: Vec<&str> = size
        .as_bytes()
        .rchunks(3)
        .rev()
        .filter_map(|group| std::str::from_utf8(group).ok())
        .collect();
    format!("{sign}{}", grouped.join(","))
}

/// Formats an integer with thousands separators: `35,000`.
pub fn grouped(whole: u64) -> String {
    count(whole as f64)
}

/// Formats a number of things: `1 block`, `9 blocks`, `35,000 blocks`.
pub fn counted(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{} {what}s", grouped(n as u64)) }
}

/// Formats a share of a whole: `97 %`. Only the whole is `100 %`.
pub fn share(part: f64, whole: f64) -> String {
    let text = percent(part / whole);
    if part < whole && text == "100 %" { "more than 99 %".to_owned() } else { text }
}

/// Formats a p-value, given by its logarithm, for a table: `0.0312`, `2.1e-16`, `< 1e-300`; `?` if
/// undefined.
pub fn p_alone(log10_p: f64) -> String {
    let p = 10f64.powf(log10_p);
    match log10_p {
        l if l < SMALLEST_LOG10 => format!("< 1e{SMALLEST_LOG10:.0}"),
        l if l < -4.0 => format!("{p:.1e}"),
        _ => fixed(p, decimals_for(p, 3).min(4)),
    }
}

/// Formats a p-value, given by its logarithm, for a sentence: `p = 0.0312`, `p = 2.1e-16`, `p <
/// 1e-300 (log10 p = -11110.2)`, `p not defined`.
pub fn p_value(log10_p: f64) -> String {
    let alone = p_alone(log10_p);
    match log10_p {
        l if l.is_nan() => "p not defined".to_owned(),
        l if l < SMALLEST_LOG10 && l.is_finite() => {
            format!("p {alone} (log10 p = {})", fixed(l, 1))
        }
        l if l < SMALLEST_LOG10 => format!("p {alone}"),
        _ => format!("p = {alone}"),
    }
}

/// Formats a user-chosen amount, without trailing zeros: `6.667 µs`, `5 ms`.
pub fn chosen(amount: f64, unit: &Unit) -> String {
    let column = Column::new(unit, &[amount], &[]).with_decimals(6);
    trimmed(&column.number(amount)) + &column.suffix()
}

/// Formats a user-chosen fraction in percent, without trailing zeros: `1 %`, `99.9 %`.
pub fn chosen_percent(fraction: f64) -> String {
    format!("{} %", trimmed(&fixed(fraction * 100.0, 6)))
}

/// Formats a user-chosen threshold: `1 %`, `5 ms`.
pub fn threshold(threshold: &Threshold) -> String {
    match threshold {
        Threshold::Relative(share) => chosen_percent(*share),
        Threshold::Absolute { value, unit } => chosen(*value, unit),
    }
}

/// Formats the absolute value of a fraction in percent, with two significant digits or, if it is
/// tiny, with one: `2.6 %`, `0.004 %`. Only zero is `0 %`.
pub fn percent(fraction: f64) -> String {
    let number = fraction.abs() * 100.0;
    let digits = if number < 0.01 { 1 } else { 2 };
    format!("{} %", visible(number, decimals_for(number, digits)))
}

/// Formats the absolute value of a fraction in percent with three significant digits, without
/// trailing zeros: `12.5 %`, `25 %`.
pub fn percent_fine(fraction: f64) -> String {
    let number = fraction.abs() * 100.0;
    format!("{} %", trimmed(&visible(number, decimals_for(number, 3))))
}

/// Formats related numbers alike: with two significant digits of the largest, and more decimals if
/// different numbers would look equal or one would look like zero.
pub fn side_by_side(numbers: &[f64]) -> Vec<String> {
    let sizes = || numbers.iter().copied().filter(|n| n.is_finite());
    let (least, most) = (sizes().fold(f64::INFINITY, f64::min), sizes().fold(0.0, f64::max));
    let mut decimals = decimals_for(most, 2);
    let enough = decimals + 4;
    while decimals < enough && least < most && fixed(least, decimals) == fixed(most, decimals) {
        decimals += 1;
    }
    numbers.iter().map(|&n| visible(n, decimals)).collect()
}

/// Formats a number that is followed by the ends of its interval, with two significant digits, or
/// as many decimals as the ends have.
pub fn before_ends(estimate: f64, lower: f64, upper: f64) -> String {
    let decimals = |text: &str| text.split_once('.').map_or(0, |(_, rest)| rest.len());
    let own = side_by_side(&[estimate]).remove(0);
    if decimals(&side_by_side(&[lower, upper])[0]) > decimals(&own) {
        side_by_side(&[estimate, lower, upper]).remove(0)
    } else {
        own
    }
}

/// Formats a multiple with two significant digits: `4.0 ×`.
pub fn multiple(ratio: f64) -> String {
    format!("{} ×", visible(ratio, decimals_for(ratio, 2)))
}

/// Formats a ratio with its interval: `0.974 [0.969 … 0.980]`. It has three digits, or more if the
/// interval is narrow, and an exponent if it is too small.
pub fn ratio(estimate: f64, ends: Option<(f64, f64)>) -> String {
    if estimate > 0.0 && estimate < SMALLEST_RATIO {
        return match ends {
            Some((lower, upper)) => format!("{estimate:.1e} [{lower:.1e} … {upper:.1e}]"),
            None => format!("{estimate:.1e}"),
        };
    }
    let plain = decimals_for(estimate, 3).max(2);
    let Some((lower, upper)) = ends else { return fixed(estimate, plain.min(3)) };
    let decimals = decimals_for((upper - lower) / 2.0, 1).clamp(plain.min(3), 6);
    let [estimate, lower, upper] = [estimate, lower, upper].map(|value| fixed(value, decimals));
    format!("{estimate} [{lower} … {upper}]")
}

/// Formats a ratio as a change, with its interval: `+12.3 % [+11.0 … +13.6]`. From a factor of two,
/// where percentages are hard to read, it becomes a multiple: `2.04 × [1.98 … 2.10]`.
pub fn change(ratio: f64, ends: Option<(f64, f64)>) -> String {
    if !(ratio > 0.5 && ratio < 2.0) {
        let text = self::ratio(ratio, ends);
        return match text.split_once(" [") {
            Some((estimate, ends)) => format!("{estimate} × [{ends}"),
            None => format!("{text} ×"),
        };
    }
    let percent = |ratio: f64| 100.0 * (ratio - 1.0);
    let plain = decimals_for(percent(ratio), 2).min(2);
    let decimals = match ends {
        Some((lower, upper)) => decimals_for(50.0 * (upper - lower), 1).clamp(plain.min(1), 4),
        None => plain,
    };
    let signed = |ratio: f64| {
        let text = fixed(percent(ratio), decimals);
        if text.starts_with('-') || text.bytes().all(|b| matches!(b, b'0' | b'.')) {
            text
        } else {
            format!("+{text}")
        }
    };
    match ends {
        Some((lower, upper)) => {
            format!("{} % [{} … {}]", signed(ratio), signed(lower), signed(upper))
        }
        None => format!("{} %", signed(ratio)),
    }
}

/// Formats a rounded duration: `0.4 s`, `38 s`, `4 min`, `1 h 20 min`, `3 days`.
pub fn duration(seconds: f64) -> String {
    if !seconds.is_finite() {
        return "forever".to_owned();
    }
    let minutes = (seconds / 60.0).round();
    match seconds {
        s if s < 9.95 => format!("{} s", trimmed(&fixed(s, 1))),
        s if s < 99.5 => format!("{} s", fixed(s, 0)),
        _ if minutes < 60.0 => format!("{minutes} min"),
        _ if minutes < 60.0 * 48.0 => {
            let (hours, rest) = ((minutes / 60.0).floor(), minutes % 60.0);
            if rest == 0.0 { format!("{hours} h") } else { format!("{hours} h {rest} min") }
        }
        s => format!("{} days", fixed(s / 86_400.0, 0)),
    }
}

/// Formats a running time like a clock: `0:38`, `12:05`, `1:20:00`.
pub fn clock(seconds: f64) -> String {
    let whole = if seconds.is_finite() { seconds.max(0.0) as u64 } else { 0 };
    let (hours, minutes, rest) = (whole / 3600, whole / 60 % 60, whole % 60);
    if hours > 0 {
        format!("{hours}:{minutes:02}:{rest:02}")
    } else {
        format!("{minutes}:{rest:02}")
    }
}

/// Returns the number of decimals that show this many significant digits of a value.
pub fn decimals_for(value: f64, digits: i32) -> usize {
    decimals_within(value, digits, MOST_DECIMALS)
}

fn decimals_within(value: f64, digits: i32, most: usize) -> usize {
    let size = value.abs();
    if size == 0.0 || !size.is_finite() {
        return 0;
    }
    let exponent = size.log10().floor() as i32;
    let decimals = (digits - 1 - exponent).clamp(0, most as i32);
    // With two digits, 9.96 is printed as 10, not 10.0.
    let step = 10f64.powi(decimals);
    let carried = (size * step).round() / step >= 10f64.powi(exponent + 1);
    (decimals - i32::from(carried && decimals > 0)) as usize
}

/// Formats a number with `decimals` decimals, with an exponent if it would be too long, and without
/// a sign if it rounds to zero.
pub fn fixed(value: f64, decimals: usize) -> String {
    if value.is_nan() {
        return "?".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf".to_owned() } else { "-inf".to_owned() };
    }
    if value.abs() >= HUGE {
        return format!("{value:.2e}");
    }
    let text = format!("{value:.decimals$}");
    // Long rows of zeros are unreadable.
    let is_tiny = value != 0.0 && value.abs() < TINY;
    if is_tiny && decimals + 1 >= MOST_DECIMALS && is_zero(text.trim_start_matches('-')) {
        return format!("{value:.1e}");
    }
    match text.strip_prefix('-') {
        Some(size) if is_zero(size) => size.to_owned(),
        _ => text,
    }
}

/// Like [`fixed`], but a nonzero number never looks like zero: it gets more decimals or an
/// exponent.
fn visible(number: f64, decimals: usize) -> String {
    let text = fixed(number, decimals);
    if number == 0.0 {
        return "0".to_owned();
    }
    if !is_zero(&text) {
        return text;
    }
    let finer = fixed(number, decimals_for(number, 1));
    if is_zero(&finer) { format!("{number:.0e}") } else { finer }
}

/// Formats a number of any size with two significant digits.
fn two_digits(number: f64) -> String {
    let decimals = decimals_for(number, 2);
    if decimals > LONGEST_SMALL { format!("{number:.1e}") } else { fixed(number, decimals) }
}

fn is_zero(text: &str) -> bool {
    text.chars().all(|c| matches!(c, '0' | '.'))
}

/// Removes trailing zeros of a fraction, which may precede a prefix: `10.50k` becomes `10.5k`.
fn trimmed(text: &str) -> String {
    let number = text.trim_end_matches(['k', 'M', 'G']);
    if number.contains('.') && !number.contains('e') {
        let prefix = &text[number.len()..];
        format!("{}{prefix}", number.trim_end_matches('0').trim_end_matches('.'))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_has_three_digits_and_counts_are_whole() {
        assert_eq!(value(35_756_442.0, &Unit::Byte), "34.1 MiB");
        assert_eq!(value(120.0, &Unit::One), "120");
        assert_eq!(value(12_345.0, &Unit::One), "12.35k");
        assert_eq!(value(1233.0, &Unit::PerSecond), "1233/s");
        assert_eq!(value(0.0, &Unit::Second), "0 ns");
        assert_eq!(value(3.0, &Unit::Other("furlong".into())), "3.000 furlong");
        assert_eq!(value(1536.0, &Unit::Other("B/s".into())), "1.500 KiB/s");
    }

    #[test]
    fn a_percent_that_is_not_zero_never_looks_like_it() {
        let shown = [0.026, 0.0996, 0.00004, 0.0, 0.123, 1e-12].map(percent);
        assert_eq!(shown, ["2.6 %", "10 %", "0.004 %", "0 %", "12 %", "1e-10 %"]);
    }

    #[test]
    fn ends_of_an_interval_share_their_decimals_and_stay_apart() {
        assert_eq!(side_by_side(&[2.04, 3.08]), ["2.0", "3.1"]);
        assert_eq!(side_by_side(&[0.3, 12.4]), ["0.3", "12"]);
        assert_eq!(side_by_side(&[2.631, 2.637]), ["2.63", "2.64"]);
    }

    #[test]
    fn a_share_that_is_not_all_is_not_called_all() {
        assert_eq!(share(9999.0, 10_000.0), "more than 99 %");
        assert_eq!(share(2200.0, 2200.0), "100 %");
        assert_eq!(share(81.0, 100.0), "81 %");
    }

    #[test]
    fn an_estimate_is_as_precise_as_its_interval() {
        assert_eq!(before_ends(3.218, 3.186, 3.247), "3.22");
        assert_eq!(before_ends(0.98, 0.2, 1.6), "0.98");
        assert_eq!(ratio(0.9741, Some((0.9692, 0.9801))), "0.974 [0.969 … 0.980]");
        assert_eq!(ratio(1.83e-9, Some((1.56e-9, 2.31e-9))), "1.8e-9 [1.6e-9 … 2.3e-9]");
        assert_eq!(rough(1.4287e-3, &Unit::Second), "1.4 ms");
    }

    #[test]
    fn what_is_not_finite_or_is_huge_stays_short() {
        assert_eq!(
            [f64::NAN, f64::INFINITY, 1e300, -0.0001].map(|v| fixed(v, 2)),
            ["?", "inf", "1.00e300", "0.00"]
        );
    }

    #[test]
    fn durations_are_rounded_to_what_people_care_about() {
        let shown = [0.42, 38.4, 240.0, 4800.0, 7200.0, 400_000.0].map(duration);
        assert_eq!(shown, ["0.4 s", "38 s", "4 min", "1 h 20 min", "2 h", "5 days"]);
        assert_eq!([38.9, 725.0, 4800.0].map(clock), ["0:38", "12:05", "1:20:00"]);
    }

    #[test]
    fn large_counts_have_their_thousands_apart() {
        let shown = [9.0, 999.0, 1000.0, 35_000.0, 1_486_639.4, -12_345.0].map(count);
        assert_eq!(shown, ["9", "999", "1,000", "35,000", "1,486,639", "-12,345"]);
        assert_eq!(count(f64::INFINITY), "inf");
        let column = Column::significant(&Unit::Second, &[-816.907e-6, -819.243e-6], 6);
        assert_eq!(column.with_unit(-816.907e-6), "-816.907 µs");
    }

    #[test]
    fn p_values_have_one_form_and_one_floor() {
        let shown = [0.5f64, 0.03124, 0.0001, 2.13e-16, 0.0, f64::NAN].map(|p| p_value(p.log10()));
        let told =
            ["p = 0.500", "p = 0.0312", "p = 0.0001", "p = 2.1e-16", "p < 1e-300", "p not defined"];
        assert_eq!(shown, told);
        assert_eq!(p_value(-11_110.2), "p < 1e-300 (log10 p = -11110.2)");
        assert_eq!([-11_110.2, -20.0, f64::NAN].map(p_alone), ["< 1e-300", "1.0e-20", "?"]);
    }

    #[test]
    fn what_was_chosen_is_repeated_without_trailing_zeros() {
        assert_eq!(chosen(6.667e-6, &Unit::Second), "6.667 µs");
        assert_eq!(chosen(10_000.0, &Unit::One), "10k");
        assert_eq!(chosen(12_345.0, &Unit::One), "12.345k");
        assert_eq!(chosen(2.5e6, &Unit::One), "2.5M");
        assert_eq!(chosen(100.0, &Unit::One), "100");
        assert_eq!(chosen_percent(0.01), "1 %");
        assert_eq!(chosen_percent(0.999), "99.9 %");
    }

    #[test]
    fn fine_percentages_and_multiples_have_three_and_two_digits() {
        assert_eq!([0.001_234, -0.25, 0.5].map(percent_fine), ["0.123 %", "25 %", "50 %"]);
        assert_eq!([1.26, 12.6, 126.0].map(multiple), ["1.3 ×", "13 ×", "126 ×"]);
    }
}
