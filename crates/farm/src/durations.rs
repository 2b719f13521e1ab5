//! Durations on the command line: `500ms`, `60s`, `5min`, `1h`.

use std::time::Duration;

/// Parses a duration.
///
/// # Errors
/// If it is invalid, or not greater than 0.
pub(crate) fn read(text: &str) -> Result<Duration, String> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let factor = match unit.trim() {
        "ms" => 1e-3,
        "s" => 1.0,
        "min" | "m" => 60.0,
        "h" => 3600.0,
        _ => return Err("give a number with ms, s, min or h, as in 60s".to_owned()),
    };
    let seconds = number.parse::<f64>().ok().map(|number| number * factor);
    let seconds = seconds.filter(|seconds| *seconds > 0.0 && *seconds < 1e7);
    seconds.map(Duration::from_secs_f64).ok_or_else(|| "give a time above 0, as in 60s".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_their_unit_alone() {
        assert_eq!(read("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(read("1.5 min"), Ok(Duration::from_secs(90)));
        for bad in ["", "5", "0s", "-1s", "1e9h", "s"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
