//! Accepted levels: from a given run on, the level is normal, and earlier runs are ignored.

use super::{Point, in_order, short_digest};
use assay_data::Finding;
use assay_data::code;

/// An accepted level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blessing {
    /// The benchmark, by its current name; `None` for the whole project.
    pub benchmark: Option<String>,
    /// Digest of the run from which the level is accepted.
    pub run: String,
    /// Start of `run` in milliseconds since 1970.
    pub started: i64,
    /// Time at which the level was accepted, in milliseconds since 1970.
    pub blessed: i64,
    /// The user's reason.
    pub reason: String,
}

/// Returns the last accepted level that applies to a benchmark.
pub fn last_of<'a>(blessings: &'a [Blessing], benchmark: &str) -> Option<&'a Blessing> {
    let own = blessings.iter().filter(|blessing| blessing.is_of(benchmark));
    own.max_by_key(|blessing| (blessing.started, blessing.blessed))
}

impl Blessing {
    /// Returns true if the accepted level applies to this benchmark or to all benchmarks.
    pub fn is_of(&self, benchmark: &str) -> bool {
        self.benchmark.as_deref().is_none_or(|own| own == benchmark)
    }

    /// Returns the index of the level's run among `points`, which must be in order. If that run is
    /// missing, returns the index of the first run that did not start earlier, or the number of
    /// runs if there is none.
    pub fn place(&self, points: &[Point]) -> usize {
        let own = points.iter().position(|point| point.recording == short_digest(&self.run));
        let later = || points.iter().position(|point| point.started >= self.started);
        own.or_else(later).unwrap_or(points.len())
    }

    /// Removes the runs made obsolete by the accepted level and returns their number. These are the
    /// runs before the level's run in the order of revisions, or by time if that run is missing.
    /// O(n log n).
    pub fn cut(&self, points: &mut Vec<Point>) -> usize {
        let all = points.len();
        in_order(points);
        let own = points.iter().position(|point| point.recording == short_digest(&self.run));
        match own {
            Some(own) => drop(points.drain(..own)),
            None => points.retain(|point| point.started >= self.started),
        }
        all - points.len()
    }

    /// Returns the finding that the `left_out` earlier runs are ignored.
    pub fn finding(&self, benchmark: &str, left_out: usize) -> Finding {
        let because = match self.reason.as_str() {
            "" => String::new(),
            reason => format!(" ({reason})"),
        };
        let runs = if left_out == 1 { "1 run".to_owned() } else { format!("{left_out} runs") };
        let message = format!(
            "the level of {benchmark} was accepted as normal at run {}{because}: {runs} before it are no longer used",
            short_digest(&self.run)
        );
        Finding::new(code::RUNS_LEFT_OUT, message).about(benchmark)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::RunSummary;

    fn blessing(benchmark: Option<&str>, started: i64) -> Blessing {
        let benchmark = benchmark.map(str::to_owned);
        Blessing { benchmark, run: "r".to_owned(), started, blessed: 9, reason: String::new() }
    }

    #[test]
    fn the_last_one_counts_of_a_benchmark_or_of_all() {
        let all = [blessing(Some("copy"), 5), blessing(None, 3), blessing(Some("sort"), 8)];
        assert_eq!(last_of(&all, "copy"), Some(&all[0]));
        assert_eq!(last_of(&all, "other"), Some(&all[1]));
        assert_eq!(last_of(&all[..1], "other"), None);
    }

    #[test]
    fn runs_before_it_are_left_out_and_its_own_stays() {
        let result = RunSummary { n: 1, units: 1, centre: 1.0, interval: None };
        let point = |started| Point {
            recording: String::new(),
            started,
            revision: None,
            result: result.clone(),
        };
        let mut points: Vec<Point> = (1..=6).map(point).collect();
        assert_eq!(blessing(None, 4).cut(&mut points), 3);
        assert_eq!(points.iter().map(|p| p.started).collect::<Vec<_>>(), [4, 5, 6]);
        points[1].recording = "r".to_owned();
        assert_eq!(blessing(None, 1).cut(&mut points), 1);
        assert_eq!(points.iter().map(|p| p.started).collect::<Vec<_>>(), [5, 6]);
    }
}
