//! Parses numbers as C's `strtod`, `strtol` and `atoi` do in the C locale: with leading white
//! space, a sign, hexadecimal numbers, and `inf` and `nan` by name. Text after the number is left
//! to the caller.
//!
//! Decimal numbers are correctly rounded, as in glibc. Short ones take a single division: a whole
//! number below 2^53 and a power of ten up to 10^22 are both exact, so only the quotient is
//! rounded. Long ones are left to the standard library.

/// Powers of ten that are exactly representable as doubles.
pub(crate) const EXACT_POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// Returns the result of C's `isspace` in the C locale.
pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

fn after_space(text: &[u8]) -> usize {
    text.iter().take_while(|byte| is_space(**byte)).count()
}

/// Returns the number at the start of the text and its length in bytes, like `strtod`; 0 and 0
/// bytes if there is none.
pub(crate) fn strtod(text: &[u8]) -> (f64, usize) {
    let mut start = after_space(text);
    let is_negative = text.get(start) == Some(&b'-');
    if is_negative || text.get(start) == Some(&b'+') {
        start += 1;
    }
    let body = &text[start..];
    let (size, taken) = magnitude(body);
    if taken == 0 {
        return (0.0, 0);
    }
    // Negation sets the sign bit, so the sign also applies to zero and NaN.
    (if is_negative { -size } else { size }, start + taken)
}

/// Parses an unsigned number; returns its nonnegative value and its length in bytes.
fn magnitude(body: &[u8]) -> (f64, usize) {
    let starts_with = |word: &str| {
        body.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()))
    };
    match body.first() {
        Some(b'i' | b'I') if starts_with("infinity") => (f64::INFINITY, 8),
        Some(b'i' | b'I') if starts_with("inf") => (f64::INFINITY, 3),
        Some(b'n' | b'N') if starts_with("nan") => {
            (f64::NAN.copysign(1.0), 3 + length_of_payload(&body[3..]))
        }
        Some(b'0') if matches!(body.get(1), Some(b'x' | b'X')) => match hexadecimal(&body[2..]) {
            Some((value, taken)) => (value, 2 + taken),
            // The number is the zero alone.
            None => (0.0, 1),
        },
        Some(b'0'..=b'9' | b'.') => decimal(body),
        _ => (0.0, 0),
    }
}

/// Returns the length of a leading `(letters_and_digits)`, the payload of a NaN; 0 if there is
/// none.
fn length_of_payload(text: &[u8]) -> usize {
    if text.first() != Some(&b'(') {
        return 0;
    }
    let inner = text[1..].iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
    if text.get(1 + inner) == Some(&b')') { inner + 2 } else { 0 }
}

fn count_digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// Returns the length of an exponent that begins with one of these letters; 0 if there is none, or
/// it has no digits.
fn length_of_exponent(text: &[u8], letters: [u8; 2]) -> usize {
    if !text.first().is_some_and(|byte| letters.contains(byte)) {
        return 0;
    }
    let sign = usize::from(matches!(text.get(1), Some(b'+' | b'-')));
    match count_digits(&text[1 + sign..]) {
        0 => 0,
        digits => 1 + sign + digits,
    }
}

fn decimal(body: &[u8]) -> (f64, usize) {
    let whole = count_digits(body);
    let mut end = whole;
    let mut fraction = 0;
    if body.get(end) == Some(&b'.') {
        fraction = count_digits(&body[end + 1..]);
        end += 1 + fraction;
    }
    if whole + fraction == 0 {
        return (0.0, 0);
    }
    let exponent = length_of_exponent(&body[end..], [b'e', b'E']);
    if exponent == 0 && whole + fraction <= 15 {
        let digits = body[..end].iter().filter(|byte| **byte != b'.');
        let number = digits.fold(0_u64, |sum, digit| sum * 10 + u64::from(digit - b'0'));
        #[expect(clippy::cast_precision_loss, reason = "fifteen digits are below 2^53")]
        return (number as f64 / EXACT_POWERS[fraction], end);
    }
    end += exponent;
    let text = std::str::from_utf8(&body[..end]).expect("digits, point and exponent are ASCII");
    (text.parse().expect("digits with a point and an exponent are a number"), end)
}

/// Parses the text after `0x`, and returns the value and length of the number; `None` if the number
/// has no hexadecimal digit.
fn hexadecimal(body: &[u8]) -> Option<(f64, usize)> {
    let value_of = |byte: u8| char::from(byte).to_digit(16).map(u64::from);
    let mut mantissa: u64 = 0;
    let mut exponent: i64 = 0;
    let (mut digits, mut end, mut is_fraction) = (0_usize, 0, false);
    while let Some(&byte) = body.get(end) {
        if byte == b'.' && !is_fraction {
            is_fraction = true;
        } else if let Some(digit) = value_of(byte) {
            digits += 1;
            if mantissa >> 60 == 0 {
                mantissa = mantissa << 4 | digit;
                exponent -= i64::from(is_fraction) * 4;
            } else {
                // A digit that does not fit only matters for whether the number is above a tie.
                mantissa |= u64::from(digit != 0);
                exponent += i64::from(!is_fraction) * 4;
            }
        } else {
            break;
        }
        end += 1;
    }
    if digits == 0 {
        return None;
    }
    let length = length_of_exponent(&body[end..], [b'p', b'P']);
    if length > 0 {
        let (asked, _) = strtol(&body[end + 1..end + length]);
        exponent = exponent.saturating_add(asked);
        end += length;
    }
    Some((scaled(mantissa, exponent), end))
}

/// Returns `mantissa · 2^exponent`, rounded once, ties to even.
fn scaled(mantissa: u64, exponent: i64) -> f64 {
    if mantissa == 0 {
        return 0.0;
    }
    let shift = mantissa.leading_zeros();
    let mantissa = mantissa << shift;
    // Exponent of the highest bit.
    let top = exponent.saturating_sub(i64::from(shift)).saturating_add(63);
    if top > 1023 {
        return f64::INFINITY;
    }
    // Of the 64 bits, 53 are kept, or fewer if the number is denormal.
    let dropped =
        if top >= -1022 { 11 } else { (-1022_i64).saturating_sub(top).saturating_add(11) };
    if dropped > 64 {
        return 0.0;
    }
    let wide = u128::from(mantissa);
    let kept = wide >> dropped;
    let rest = wide - (kept << dropped);
    let half = 1_u128 << (dropped - 1);
    let rounds_up = rest > half || (rest == half && kept & 1 == 1);
    let kept = u64::try_from(kept).unwrap_or_default() + u64::from(rounds_up);
    // In the addition, the leading bit of a normal number carries into the exponent, and so does a
    // rounding that adds a bit.
    let biased = u64::try_from((top + 1022).max(0)).unwrap_or_default();
    f64::from_bits((biased << 52) + kept)
}

/// Returns the decimal number at the start of the text, clamped to 64 bits, and its length in
/// bytes, like `strtol`; 0 and 0 bytes if there is none.
pub(crate) fn strtol(text: &[u8]) -> (i64, usize) {
    let mut start = after_space(text);
    let is_negative = text.get(start) == Some(&b'-');
    if is_negative || text.get(start) == Some(&b'+') {
        start += 1;
    }
    let digits = count_digits(&text[start..]);
    let mut number: i64 = 0;
    for digit in &text[start..start + digits] {
        let digit = i64::from(digit - b'0');
        let next = number.saturating_mul(10);
        number = if is_negative { next.saturating_sub(digit) } else { next.saturating_add(digit) };
    }
    (number, if digits == 0 { 0 } else { start + digits })
}

/// Returns the value that C stores when it converts a `long` to an `int`: the lower 32 bits.
pub(crate) fn cut_to_int(number: i64) -> i32 {
    #[expect(clippy::cast_possible_truncation, reason = "the cut is what is wanted")]
    return number as i32;
}

/// Returns the number at the start of the text, like `atoi`.
pub(crate) fn atoi(text: &[u8]) -> i32 {
    cut_to_int(strtol(text).0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_are_read_as_far_as_they_go() {
        for (text, value, taken) in [
            ("12.5", 12.5, 4),
            (" \t\n+5E2x", 500.0, 7),
            ("5e", 5.0, 1),
            ("5e+", 5.0, 1),
            (".5", 0.5, 2),
            ("5.", 5.0, 2),
            (".", 0.0, 0),
            ("-", 0.0, 0),
            ("abc", 0.0, 0),
            ("0x", 0.0, 1),
            ("0x.p1", 0.0, 1),
            ("0x5f", 95.0, 4),
            ("0x1.8p1", 3.0, 7),
            ("0x1p", 1.0, 3),
            ("0X.8", 0.5, 4),
            ("1e400", f64::INFINITY, 5),
            ("-Infinity!", f64::NEG_INFINITY, 9),
            ("infinit", f64::INFINITY, 3),
            ("1e-400", 0.0, 6),
            ("1,5", 1.0, 1),
        ] {
            assert_eq!(strtod(text.as_bytes()), (value, taken), "{text}");
        }
        for (text, taken, is_negative) in
            [("nan", 3, false), ("-NAN", 4, true), ("nan(a_1)", 8, false), ("nan(a b)", 3, false)]
        {
            let (value, used) = strtod(text.as_bytes());
            assert_eq!(
                (value.is_nan(), value.is_sign_negative(), used),
                (true, is_negative, taken)
            );
        }
        assert!(strtod(b"-0").0.is_sign_negative());
    }

    #[test]
    fn hexadecimal_numbers_are_rounded_once_and_to_even() {
        for (text, bits) in [
            ("0x1.00000000000008p0", 1.0_f64.to_bits()),
            ("0x1.000000000000080000000000000000000001p0", 1.0_f64.to_bits() + 1),
            ("0x1.00000000000018p0", 1.0_f64.to_bits() + 2),
            ("0x0.8p-1074", 0),
            ("0x0.80000001p-1074", 1),
            ("0x1p-1074", 1),
            ("0x1.8p-1074", 2),
            ("0x0.fffffffffffffcp-1022", f64::MIN_POSITIVE.to_bits()),
            ("0x1.fffffffffffff8p1023", f64::INFINITY.to_bits()),
            ("0x1.fffffffffffff7p1023", f64::MAX.to_bits()),
            ("0x1p99999999999999999999", f64::INFINITY.to_bits()),
            ("0x1p-99999999999999999999", 0),
            ("0x0p99999999999999999999", 0),
        ] {
            assert_eq!(strtod(text.as_bytes()), (f64::from_bits(bits), text.len()), "{text}");
        }
    }

    #[test]
    fn whole_numbers_stay_within_their_bits() {
        assert_eq!(strtol(b" +30"), (30, 4));
        assert_eq!(strtol(b"-99999999999999999999"), (i64::MIN, 21));
        assert_eq!(strtol(b"+"), (0, 0));
        assert_eq!(cut_to_int(4_294_967_336), 40);
        assert_eq!([atoi(b" 33x"), atoi(b"x"), atoi(b"99999999999999999999")], [33, 0, -1]);
    }

    proptest! {
        #[test]
        fn decimal_numbers_are_the_standard_library_s(text in "[0-9]{0,20}\\.?[0-9]{0,20}(e[+-]?[0-9]{1,4})?") {
            if let Ok(value) = text.parse::<f64>() {
                prop_assert_eq!(strtod(text.as_bytes()), (value, text.len()));
            }
        }

        #[test]
        fn every_double_comes_back_from_its_hexadecimal_digits(bits: u64) {
            let value = f64::from_bits(bits & !(1 << 63));
            prop_assume!(value.is_finite());
            let exponent = i64::try_from(bits >> 52 & 0x7ff).unwrap();
            let fraction = bits & ((1 << 52) - 1);
            let text = if exponent == 0 {
                format!("0x{fraction:x}p-1074")
            } else {
                format!("0x{:x}p{}", fraction | 1 << 52, exponent - 1075)
            };
            prop_assert_eq!(strtod(text.as_bytes()), (value, text.len()));
        }

        #[test]
        fn no_bytes_make_it_fall_over(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            prop_assert!(strtod(&bytes).1 <= bytes.len());
            prop_assert!(strtol(&bytes).1 <= bytes.len());
        }
    }
}
