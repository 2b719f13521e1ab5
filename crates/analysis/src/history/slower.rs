//! Finds tests that got slower over days of runs, from the changes in all series. The series share
//! the error ([`events`](super::events)).

use super::events::Gathering;
use super::trend::trend;
use super::{Benchmark, Point, RunSummary, Series};
use crate::comparison::Effect;
use crate::policy;
use crate::verdict::Verdict;
use assay_data::code;
use assay_data::{Action, Finding, Metric};
use std::collections::BTreeMap;

/// Milliseconds per day.
const DAY: f64 = 86_400_000.0;

/// Reports the tests that got slower within the last [`policy::SLOWER_DAYS`] days, largest change
/// first. `times` maps each test to its durations in seconds, each with its time; all times,
/// including `now`, are in milliseconds since 1970. If most tests slowed down at the same time,
/// this is reported once, since no single test is the cause. O(values log values).
pub fn slower_tests(times: &BTreeMap<String, Vec<(i64, f64)>>, now: i64) -> Vec<Finding> {
    let mut gathering = Gathering::default();
    for (name, taken) in times {
        let point = |(place, &(started, seconds)): (usize, &(i64, f64))| Point {
            recording: place.to_string(),
            started,
            revision: None,
            result: RunSummary { n: 1, units: 1, centre: seconds, interval: None },
        };
        let points = taken.iter().enumerate().filter(|(_, (_, seconds))| *seconds > 0.0);
        let series = Series {
            benchmark: Benchmark { name: name.clone(), ..Benchmark::default() },
            metric: Metric::wall(),
            machine: String::new(),
            points: points.map(point).collect(),
        };
        gathering.add(&trend(series, policy::SLOWER_CONFIDENCE));
    }
    let mut found = Vec::new();
    for event in gathering.finish().events {
        let days = (now - event.after.started) as f64 / DAY;
        if days > policy::SLOWER_DAYS {
            continue;
        }
        let since = match days {
            days if days < 1.5 => "in the last day".to_owned(),
            days => format!("in the last {days:.0} days"),
        };
        let slower = event.moved.iter().filter(|moved| moved.change.verdict == Verdict::Slower);
        let slower =
            slower.filter_map(|moved| Some((moved.change.ratio?, moved.benchmark.name.clone())));
        let slower: Vec<(Effect, String)> =
            slower.filter(|(ratio, _)| ratio.estimate >= policy::SLOWER_FROM).collect();
        if slower.len() > 1 && slower.len() * 2 > times.len() {
            let message = format!(
                "{} of {} tests got slower {since}, all at the same time: the cause is the machine, or something that they share",
                slower.len(),
                times.len()
            );
            found.push((f64::INFINITY, finding(message)));
            continue;
        }
        for (ratio, name) in slower {
            let percent = |ratio: f64| (ratio - 1.0) * 100.0;
            let interval = ratio.interval.filter(|interval| interval.is_bounded());
            let interval = interval.map_or(String::new(), |i| {
                format!(" [{:.0} … {:.0} %]", percent(i.lower), percent(i.upper))
            });
            let message =
                format!("`{name}` got {:.0} % slower{interval} {since}", percent(ratio.estimate));
            let finding = finding(message).about(&name).with("ratio", ratio.estimate);
            found.push((ratio.estimate, finding.with("days", days)));
        }
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    found.into_iter().map(|(_, finding)| finding).collect()
}

fn finding(message: String) -> Finding {
    Finding::new(code::TEST_SLOWER, message)
        .advise(Action::text("profile it: t while watching, or assay tests --profile --only TEST"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_stats::resampling::Stream;

    /// Series of runs at intervals of six hours, given as stretches of a number of runs and a
    /// level.
    fn times(levels: &[&[(usize, f64)]]) -> BTreeMap<String, Vec<(i64, f64)>> {
        let mut stream = Stream::new(7, 0);
        let mut all = BTreeMap::new();
        for (number, stretches) in levels.iter().enumerate() {
            let values =
                stretches.iter().flat_map(|(count, level)| std::iter::repeat_n(*level, *count));
            let taken = values
                .enumerate()
                .map(|(place, level)| {
                    let at = (place as f64 * DAY / 4.0) as i64;
                    (at, level * (1.0 + 0.05 * stream.uniform()))
                })
                .collect();
            all.insert(format!("t{number}"), taken);
        }
        all
    }

    #[test]
    fn what_got_slower_is_told_with_how_much_and_since_when() {
        let same: &[(usize, f64)] = &[(100, 0.2)];
        let faster: &[(usize, f64)] = &[(52, 0.2), (48, 0.1)];
        let slower: &[(usize, f64)] = &[(52, 0.2), (48, 0.26)];
        let now = (25.0 * DAY) as i64;
        let found = slower_tests(&times(&[same, slower, faster, same, same]), now);
        let messages: Vec<&str> = found.iter().map(|finding| finding.message.as_str()).collect();
        assert_eq!(messages.len(), 1, "{messages:?}");
        assert!(messages[0].starts_with("`t1` got 3"), "{messages:?}");
        assert!(messages[0].contains("in the last 12 days"), "{messages:?}");
        // Changes long ago are not reported.
        let later = (90.0 * DAY) as i64;
        assert!(slower_tests(&times(&[same, slower, faster, same, same]), later).is_empty());
        assert!(slower_tests(&times(&[same, same, same, same]), now).is_empty());
    }

    #[test]
    fn what_slowed_all_at_once_is_told_once() {
        let slower: &[(usize, f64)] = &[(52, 0.2), (48, 0.26)];
        let found = slower_tests(&times(&[slower, slower, slower]), (25.0 * DAY) as i64);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].message.starts_with("3 of 3 tests got slower"), "{found:?}");
    }
}
