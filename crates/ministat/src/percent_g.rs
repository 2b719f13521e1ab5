//! Formats numbers as C's `%g` does: with significant digits, no trailing zeros, and an exponent
//! only if the number is very small or large.
//!
//! The digits come from the standard library's exact conversion, which rounds ties to even as glibc
//! does; this module only places the point. A NaN keeps its sign, as in glibc.

/// Formats a number as `%.Ng`, where N is `precision` and must be at least 1.
pub(crate) fn percent_g(value: f64, precision: usize) -> String {
    if value.is_nan() {
        return if value.is_sign_negative() { "-nan" } else { "nan" }.to_owned();
    }
    if value.is_infinite() {
        return if value < 0.0 { "-inf" } else { "inf" }.to_owned();
    }
    let scientific = format!("{value:.*e}", precision - 1);
    let (mantissa, exponent) = scientific.split_once('e').expect("`e` is in every such text");
    let exponent: i32 = exponent.parse().expect("a whole number of three digits at most");
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(positive) => ("-", positive),
        None => ("", mantissa),
    };
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let digits = digits.trim_end_matches('0');
    if digits.is_empty() {
        return format!("{sign}0");
    }
    let many = i32::try_from(precision).unwrap_or(i32::MAX);
    if exponent < -4 || exponent >= many {
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        let direction = if exponent < 0 { '-' } else { '+' };
        return format!("{sign}{first}{point}{rest}e{direction}{:02}", exponent.abs());
    }
    match usize::try_from(exponent) {
        Ok(whole) if digits.len() <= whole + 1 => format!("{sign}{digits:0<0$}", whole + 1),
        Ok(whole) => format!("{sign}{}.{}", &digits[..=whole], &digits[whole + 1..]),
        Err(_) => {
            let zeros = usize::try_from(-exponent - 1).unwrap_or_default();
            format!("{sign}0.{}{digits}", "0".repeat(zeros))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_look_as_c_prints_them() {
        for (value, precision, text) in [
            (0.0, 8, "0"),
            (-0.0, 8, "-0"),
            (1.0, 8, "1"),
            (100.0, 8, "100"),
            (123_456_789.0, 8, "1.2345679e+08"),
            (99_999_999.5, 8, "1e+08"),
            (0.0001, 8, "0.0001"),
            (0.000_099_999_999_99, 8, "0.0001"),
            (0.00001, 8, "1e-05"),
            (-1.234_567_8e-10, 8, "-1.2345678e-10"),
            (1e150, 8, "1e+150"),
            (238.047_614_284_761_66, 8, "238.04761"),
            (123_456.5, 6, "123456"),
            (123_457.5, 6, "123458"),
            (0.191_941, 6, "0.191941"),
            (5e-324, 8, "4.9406565e-324"),
            (f64::INFINITY, 6, "inf"),
            (f64::NEG_INFINITY, 6, "-inf"),
            (f64::NAN.copysign(1.0), 6, "nan"),
            (f64::NAN.copysign(-1.0), 6, "-nan"),
        ] {
            assert_eq!(percent_g(value, precision), text);
        }
    }

    proptest! {
        #[test]
        fn what_is_printed_is_the_number_to_so_many_digits(value: f64, precision in 1_usize..17) {
            prop_assume!(value.is_finite());
            let text = percent_g(value, precision);
            let exact: f64 = format!("{value:.*e}", precision - 1).parse().unwrap();
            prop_assert_eq!(text.parse::<f64>().unwrap(), exact);
        }
    }
}
