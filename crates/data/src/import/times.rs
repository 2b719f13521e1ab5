//! Times of recordings: parses timestamps, and determines whether the recordings of two sides
//! alternate.

use crate::finding::shared::{recorded_apart, recordings_alternate};
use crate::samples::Samples;
use crate::{Finding, Side};

/// Parses `2024-02-02T10:00:00+01:00` into seconds since 1970. A time without an offset is taken as
/// UTC. Returns `None` for any other text.
pub(super) fn seconds(text: &str) -> Option<f64> {
    let text = text.trim();
    let (date, time) = text.split_once(['T', ' '])?;
    let mut parts = date.split('-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    if parts.next().is_some() || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let (clock, offset) = match time.find(['+', '-', 'Z']) {
        Some(at) => time.split_at(at),
        None => (time, ""),
    };
    let mut parts = clock.trim().split(':').map(crate::number::finite);
    let (hours, minutes) = (parts.next()??, parts.next()??);
    let seconds = parts.next().unwrap_or(Some(0.0))?;
    let offset = match offset.trim_start_matches('Z') {
        "" => 0.0,
        shift => {
            let sign = if shift.starts_with('-') { -1.0 } else { 1.0 };
            let digits: String = shift.chars().filter(char::is_ascii_digit).collect();
            let hours = crate::number::finite(digits.get(..2)?)?;
            let minutes = digits.get(2..4).and_then(crate::number::finite).unwrap_or(0.0);
            sign * (hours * 3600.0 + minutes * 60.0)
        }
    };
    let of_day = hours * 3600.0 + minutes * 60.0 + seconds;
    Some(days_since_1970(year, month, day) as f64 * 86_400.0 + of_day - offset)
}

/// Returns the number of days from 1970-01-01 to a date of the Gregorian calendar. Years begin in
/// March in the computation, so that a leap day is the last day of its year.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Returns findings about the times of recordings, for every side except the first: one of the two
/// was recorded after the other, or they alternate.
pub(super) fn findings(samples: &Samples) -> Vec<Finding> {
    let Some((reference, others)) = samples.sides.split_first() else { return Vec::new() };
    others.iter().filter_map(|other| of_two(reference, other)).collect()
}

fn of_two(reference: &Side, other: &Side) -> Option<Finding> {
    let times = |side: &Side| -> Option<Vec<f64>> {
        side.recordings.iter().map(|one| seconds(one.started.as_deref()?)).collect()
    };
    let (x, y) = (times(reference)?, times(other)?);
    if x.len() < 2 || y.len() < 2 {
        return None;
    }
    let first = |times: &[f64]| times.iter().copied().fold(f64::INFINITY, f64::min);
    let last = |times: &[f64]| times.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if last(&x) < first(&y) {
        return Some(recorded_apart(&reference.name, &other.name));
    }
    if last(&y) < first(&x) {
        return Some(recorded_apart(&other.name, &reference.name));
    }
    let mut all: Vec<(f64, bool)> = x.iter().map(|&time| (time, false)).collect();
    all.extend(y.iter().map(|&time| (time, true)));
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    // Two recordings with the same time have no order.
    if all.windows(2).any(|two| two[0].0 == two[1].0) {
        return None;
    }
    let turns = 1 + all.windows(2).filter(|two| two[0].1 != two[1].1).count();
    let (n, m) = (x.len() as f64, y.len() as f64);
    // The expected number of runs of the same side in a random order (Wald and Wolfowitz 1940).
    let expected = 1.0 + 2.0 * n * m / (n + m);
    (turns as f64 >= expected).then(|| recordings_alternate(&reference.name, &other.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::Recorded;

    #[test]
    fn times_are_read_with_their_offsets() {
        for (text, expected) in [
            ("1970-01-01T00:00:00Z", 0.0),
            ("2024-02-29T10:00:00+00:00", 1_709_200_800.0),
            ("2024-02-29T11:30:00+01:30", 1_709_200_800.0),
            ("2024-02-29 09:00:00.5-0100", 1_709_200_800.5),
            ("2000-03-01T00:00", 951_868_800.0),
        ] {
            assert_eq!(seconds(text), Some(expected), "{text}");
        }
        for text in ["", "yesterday", "2024-13-01T00:00:00", "10:00:00", "Tue Feb  2 10:00:00 2024"]
        {
            assert_eq!(seconds(text), None, "{text}");
        }
    }

    fn found(minutes: [&[u32]; 2]) -> Vec<String> {
        let side = |name: &str, minutes: &[u32]| Side {
            name: name.to_owned(),
            recordings: minutes
                .iter()
                .map(|minute| Recorded {
                    file: String::new(),
                    started: Some(format!("2024-02-02T10:{minute:02}:00Z")),
                })
                .collect(),
            ..Side::default()
        };
        let mut samples = Samples::default();
        samples.add_side(side("old", minutes[0]));
        samples.add_side(side("new", minutes[1]));
        findings(&samples).into_iter().map(|finding| finding.code).collect()
    }

    #[test]
    fn one_side_after_the_other_is_told_from_turns() {
        assert_eq!(found([&[1, 2, 3], &[4, 5, 6]]), ["NOT_INTERLEAVED"]);
        assert_eq!(found([&[4, 5, 6], &[1, 2, 3]]), ["NOT_INTERLEAVED"]);
        assert_eq!(found([&[1, 3, 5], &[2, 4, 6]]), ["RECORDINGS_ALTERNATE"]);
        assert_eq!(found([&[1, 2, 6], &[3, 4, 5]]), [""; 0]);
        assert_eq!(found([&[1, 1, 1], &[1, 1, 1]]), [""; 0]);
    }
}
