//! Detects files in the watched directory that the runs themselves write, such as logs, reports and
//! programs. A run that its own output ends would be restarted forever. A file that is written at
//! about the same time in several consecutive runs therefore no longer ends a run at that time. It
//! still starts another run, after a pause that grows each time, so that no save is lost and no
//! endless loop results.

use super::events::Saved;
use std::collections::BTreeMap;
use std::time::Duration;

/// Number of consecutive runs after which a file that each of them wrote within [`EARLY`] is
/// considered to be written by runs.
const RUNS: u32 = 3;
/// Initial period of a run to which [`RUNS`] applies.
const EARLY: Duration = Duration::from_secs(2);
/// Number of consecutive runs after which a file that they wrote later than [`EARLY`] is considered
/// to be written by runs. It is larger than [`RUNS`] because a person may also save such a file.
const LATER_RUNS: u32 = 5;
/// Unless both are within [`EARLY`], two times are about the same if they differ by at most half of
/// the earlier one plus this.
const SLACK: Duration = Duration::from_millis(500);
/// The first pause. Each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// The range of times into the run at which a file was written, over consecutive runs.
#[derive(Clone, Copy, Debug)]
struct Written {
    least: Duration,
    most: Duration,
    runs: u32,
}

impl Written {
    fn at(time: Duration) -> Self {
        Self { least: time, most: time, runs: 1 }
    }

    fn is_own(&self) -> bool {
        self.runs >= RUNS && self.most <= EARLY || self.runs >= LATER_RUNS
    }

    /// Returns true if `time` is about the same as the earlier times.
    fn is_about(&self, time: Duration) -> bool {
        let is_early = self.most <= EARLY && time <= EARLY;
        let later = time <= self.least + self.least / 2 + SLACK;
        is_early || later && self.most <= time + time / 2 + SLACK
    }
}

/// Detects which files the runs themselves write.
#[derive(Debug, Default)]
pub(crate) struct Echo {
    known: BTreeMap<String, Written>,
    /// Files saved during the current run, each with the time of its first save since the start of
    /// the run.
    during: BTreeMap<String, Duration>,
    pauses: u32,
    told: bool,
}

impl Echo {
    /// Records the start of a run.
    pub fn begin(&mut self) {
        self.during.clear();
    }

    /// Records the files that were saved at `time` in the current run, and returns those that the
    /// run, as far as is known, did not write itself.
    pub fn of_others(&mut self, saved: Saved, time: Duration) -> Saved {
        let mut others = saved;
        for path in &others.paths {
            self.during.entry(path.clone()).or_insert(time);
        }
        let known = &self.known;
        others
            .paths
            .retain(|path| !known.get(path).is_some_and(|own| own.is_own() && own.is_about(time)));
        others
    }

    /// Records the end of the current run.
    pub fn end(&mut self) {
        // Files that this run did not write are forgotten, so someone else is considered to write
        // them.
        let before = std::mem::take(&mut self.known);
        let during = std::mem::take(&mut self.during).into_iter();
        self.known = during
            .map(|(path, time)| {
                let again = before.get(&path).filter(|own| own.is_about(time));
                let written = again.map_or(Written::at(time), |own| Written {
                    least: own.least.min(time),
                    most: own.most.max(time),
                    runs: own.runs + 1,
                });
                (path, written)
            })
            .collect();
    }

    fn is_own(&self, path: &str) -> bool {
        self.known.get(path).is_some_and(Written::is_own)
    }

    /// Records files that were saved while nothing ran, so runs are not the only ones that write
    /// them.
    pub fn while_idle(&mut self, saved: &Saved) {
        self.known.retain(|path, _| !saved.paths.contains(path));
        self.pauses = 0;
    }

    /// Returns the pause before the next run if all files saved during the last one are written by
    /// runs, and `None` otherwise.
    pub fn pause(&mut self, saved: &Saved) -> Option<Duration> {
        let is_own = !saved.are_unknown && saved.paths.iter().all(|path| self.is_own(path));
        if !is_own || saved.paths.is_empty() {
            self.pauses = 0;
            return None;
        }
        let pause = FIRST_PAUSE.saturating_mul(1 << self.pauses.min(16)).min(LONGEST_PAUSE);
        self.pauses += 1;
        Some(pause)
    }

    /// Returns a message, the first time that a file turns out to be written by the runs
    /// themselves.
    pub fn said(&mut self) -> Option<String> {
        let own = self.known.iter().find(|(_, own)| own.is_own()).map(|(path, _)| path.clone());
        let first = own.filter(|_| !self.told)?;
        self.told = true;
        Some(format!(
            "{first} is written by the runs themselves, which restart again and again: list it in .gitignore, or use --ignore '{first}'"
        ))
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]

    use super::*;

    fn saved(names: &[&str]) -> Saved {
        let paths = names.iter().map(|name| (*name).to_owned()).collect();
        Saved { paths, ..Saved::default() }
    }

    /// Simulates consecutive runs, each with a file saved at a time, ms; returns whether that ended
    /// each run.
    fn runs(echo: &mut Echo, name: &str, times: &[u64]) -> Vec<bool> {
        let one = |time: &u64| {
            echo.begin();
            let others = echo.of_others(saved(&[name]), Duration::from_millis(*time));
            echo.end();
            !others.is_empty()
        };
        times.iter().map(one).collect()
    }

    #[test]
    fn what_runs_write_themselves_ends_none_and_begins_one_after_longer_and_longer_pauses() {
        let mut echo = Echo::default();
        let log = saved(&["a.log"]);
        assert_eq!(runs(&mut echo, "a.log", &[50, 9, 300, 100]), [true, true, true, false]);
        echo.begin();
        let both = echo.of_others(saved(&["a.log", "a.rb"]), Duration::from_millis(40));
        assert_eq!(both, saved(&["a.rb"]));
        echo.end();
        let pauses: Vec<u64> =
            (0..9).map(|_| echo.pause(&log).unwrap().as_millis() as u64).collect();
        assert_eq!(pauses[..3], [250, 500, 1000]);
        assert_eq!(pauses[8], 30_000);
        assert!(echo.said().unwrap().contains("a.log"));
        assert_eq!(echo.said(), None);
        // Another program writes it as well.
        echo.while_idle(&log);
        assert_eq!(runs(&mut echo, "a.log", &[50]), [true]);
        assert_eq!(echo.pause(&log), None);
    }

    #[test]
    fn what_runs_write_at_their_end_is_theirs_and_what_comes_at_any_time_is_peoples() {
        let mut echo = Echo::default();
        let at_the_end = runs(&mut echo, "out", &[9000, 9500, 8800, 10_000, 9100, 9300, 9200]);
        assert_eq!(at_the_end, [true, true, true, true, true, false, false]);
        // Much earlier, so a person saved it.
        assert_eq!(runs(&mut echo, "out", &[3000]), [true]);
        let mut echo = Echo::default();
        let server = [4000, 60_000, 9000, 31_000, 5000, 200_000, 8000, 7000, 50_000, 3000];
        assert!(runs(&mut echo, "app.py", &server).into_iter().all(|ended| ended));
        // The same holds for files saved in some runs only.
        runs(&mut echo, "a.rb", &[1, 1]);
        runs(&mut echo, "b.rb", &[1]);
        assert_eq!(runs(&mut echo, "a.rb", &[1, 1, 1]), [true, true, true]);
    }
}
