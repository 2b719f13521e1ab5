//! Compares a set with the reference, using Student's t with a pooled variance and tabulated
//! critical values. The wording is that of the original.
//!
//! The order and grouping of the operations are also those of the original, because they affect the
//! last digit.

use crate::Flavour;
use crate::dataset::Dataset;
use crate::percent_g::percent_g;
use crate::student::{LEVELS, critical_value};
use std::io::{self, Write};

/// Formats a quotient with `%g`. A NaN is printed as negative, like the result of an operation on
/// numbers.
fn shown(value: f64) -> String {
    percent_g(if value.is_nan() { f64::NAN.copysign(-1.0) } else { value }, 6)
}

/// Writes the difference of `set` from `reference`, or a message that no difference is proven.
pub(crate) fn write(
    set: &Dataset,
    reference: &Dataset,
    level: usize,
    flavour: Flavour,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (n, m) = (set.count(), reference.count());
    let t = critical_value(set.points.len() + reference.points.len() - 2, level);
    let squares = (n - 1.0) * set.variance + (m - 1.0) * reference.variance;
    let pooled = (squares / (n + m - 2.0)).sqrt();
    let difference = set.average - reference.average;
    let error = t * (pooled * (1.0 / n + 1.0 / m).sqrt());
    let percent = LEVELS[level];
    // If either side is NaN, there is no proven difference.
    if difference.abs() > error {
        writeln!(out, "Difference at {percent:.1}% confidence")?;
        writeln!(out, "\t{} +/- {}", shown(difference), shown(error))?;
        let relative_error = match flavour {
            Flavour::Of2015 => error,
            Flavour::Of2025 => {
                let ratio = (set.average * set.average) / (reference.average * reference.average);
                let squares = (n - 1.0) * set.variance + (m - 1.0) * reference.variance * ratio;
                t * (squares * ((n + m) / (n * m * (n + m - 2.0)))).sqrt()
            }
        };
        let of_reference = |value: f64| shown(value * 100.0 / reference.average);
        writeln!(out, "\t{}% +/- {}%", of_reference(difference), of_reference(relative_error))?;
        writeln!(out, "\t(Student's t, pooled s = {})", shown(pooled))
    } else {
        writeln!(out, "No difference proven at {percent:.1}% confidence")
    }
}
