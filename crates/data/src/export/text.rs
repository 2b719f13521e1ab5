//! Exports bare numbers, one per line, in base units, for R's `scan`, ministat and any script.

use crate::Samples;
use crate::assay_file::push_number;
use std::io::{self, Write};

/// Writes the values of the first metric of the only subject, in the order of measuring. Values are
/// exact: the shortest decimals that read back to the same bits. O(observations).
///
/// # Errors
/// Returns an error if there is not exactly one subject, because bare numbers cannot tell several
/// apart, or if writing to the sink fails.
pub fn text(samples: &Samples, sink: &mut impl Write) -> io::Result<()> {
    if samples.subjects.len() != 1 {
        let names: Vec<_> =
            samples.subjects.iter().take(6).map(|s| format!("`{}`", s.name)).collect();
        let problem = format!(
            "bare numbers can't tell {} subjects apart ({}, …); choose one with --filter",
            samples.subjects.len(),
            names.join(", ")
        );
        return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
    }
    let mut lines = Vec::new();
    for value in samples.values(0, 0) {
        push_number(&mut lines, value);
        lines.push(b'\n');
        if lines.len() > 1 << 16 {
            sink.write_all(&lines)?;
            lines.clear();
        }
    }
    sink.write_all(&lines)?;
    sink.flush()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::Metric;

    #[test]
    fn numbers_stand_line_by_line_and_two_subjects_are_refused() {
        let mut samples = Samples::new(vec![Metric::wall()]);
        let a = samples.add_subject("a");
        [0.1, 2.0, 1e-7].iter().for_each(|&value| samples.push_value(a, value));
        let mut bytes = Vec::new();
        text(&samples, &mut bytes).unwrap();
        let read: Vec<f64> =
            String::from_utf8(bytes).unwrap().lines().map(|l| l.parse().unwrap()).collect();
        assert_eq!(read, [0.1, 2.0, 1e-7]);
        samples.add_subject("b");
        assert!(text(&samples, &mut Vec::new()).unwrap_err().to_string().contains("`a`, `b`"));
    }
}
