//! Writes numbers in the sample file as the shortest decimals that read back to the same bits.
//! Whole numbers have no decimal point.

/// 2^53, beyond which not every whole number is a double, and the exponent form is shorter.
const WHOLE: f64 = 9_007_199_254_740_992.0;

/// Appends a finite number.
pub(crate) fn push_number(line: &mut Vec<u8>, value: f64) {
    let is_negative_zero = value == 0.0 && value.is_sign_negative();
    if value.fract() == 0.0 && value.abs() < WHOLE && !is_negative_zero {
        push_json(line, &(value as i64));
    } else {
        push_json(line, &value);
    }
}

/// Appends anything that serializes to JSON without failing: numbers, strings, and the records of
/// this format.
pub(super) fn push_json(line: &mut Vec<u8>, value: &(impl serde::Serialize + ?Sized)) {
    serde_json::to_writer(line, value)
        .expect("writing to memory does not fail, and every map of this format has text keys");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_have_no_point_and_all_read_back_to_the_same_bits() {
        let text = |value| {
            let mut line = Vec::new();
            push_number(&mut line, value);
            String::from_utf8(line).expect("JSON is UTF-8")
        };
        assert_eq!(text(35_700_000.0), "35700000");
        assert_eq!(text(-3.0), "-3");
        assert_eq!(text(0.812), "0.812");
        assert_eq!(text(-0.0), "-0.0");
        for value in [5e-324, f64::MAX, -f64::MIN_POSITIVE, 0.1 + 0.2, 1e300, WHOLE, WHOLE + 2.0] {
            let back: f64 = serde_json::from_str(&text(value)).expect("a number");
            assert_eq!(back.to_bits(), value.to_bits());
        }
    }
}
