//! Files that runs write themselves, where they are watched: a log, a report, a database. A run that is ended by its own writing would begin again for
//! ever. Such a file ends no run any more after some times, and begins the next one after a pause that grows: no save is lost, and no storm begins.

use super::events::Saved;
use std::collections::HashMap;
use std::time::Duration;

/// After so many runs in a row during which it was written a file is taken for one that runs write.
const RUNS: u32 = 3;
/// A file that is written later after the start of a run than this is not written by the run, as a rule.
const EARLY: Duration = Duration::from_secs(2);
/// The first pause, which doubles,
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// up to this one.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// What is known of them.
#[derive(Debug, Default)]
pub(crate) struct Echo {
    runs: HashMap<String, u32>,
    pauses: u32,
    told: bool,
}

impl Echo {
    /// The same without files that runs write.
    pub fn without(&self, saved: &Saved) -> Saved {
        let paths = saved.paths.iter().filter(|path| !self.is_own(path)).cloned().collect();
        Saved { paths, ..saved.clone() }
    }

    fn is_own(&self, path: &str) -> bool {
        self.runs.get(path).is_some_and(|runs| *runs >= RUNS)
    }

    /// Takes what was saved during a run that took so long until then.
    pub fn during_run(&mut self, saved: &Saved, took: Duration) {
        let before = std::mem::take(&mut self.runs);
        if took > EARLY {
            return;
        }
        // What was not written again is somebody else's.
        let count = |path: &String| (path.clone(), before.get(path).unwrap_or(&0) + 1);
        self.runs = saved.paths.iter().map(count).collect();
    }

    /// Takes what was saved while nothing ran: runs do not write it, or not alone.
    pub fn while_idle(&mut self, saved: &Saved) {
        self.runs.retain(|path, _| !saved.paths.contains(path));
        self.pauses = 0;
    }

    /// How long to wait until the next run, of what was saved during the last one.
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

    /// What is to be said of it, once.
    pub fn said(&mut self) -> Option<String> {
        let mut own: Vec<&String> =
            self.runs.iter().filter(|(_, runs)| **runs >= RUNS).map(|(path, _)| path).collect();
        own.sort();
        if self.told || own.is_empty() {
            return None;
        }
        let first = own[0].clone();
        self.told = true;
        Some(format!(
            "{first} is written by the runs themselves, which begin again and again: name it in .gitignore, or by --ignore '{first}'"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn saved(names: &[&str]) -> Saved {
        let paths = names.iter().map(|name| (*name).to_owned()).collect();
        Saved { paths, ..Saved::default() }
    }

    #[test]
    fn what_runs_write_themselves_ends_none_and_begins_one_after_longer_and_longer_pauses() {
        let mut echo = Echo::default();
        let log = saved(&["a.log"]);
        for _ in 0..RUNS {
            assert_eq!(echo.without(&log), log);
            assert_eq!(echo.pause(&log), None);
            echo.during_run(&log, Duration::from_millis(50));
        }
        assert!(echo.without(&log).is_empty());
        assert_eq!(echo.without(&saved(&["a.log", "a.rb"])), saved(&["a.rb"]));
        let pauses: Vec<u64> =
            (0..9).map(|_| echo.pause(&log).unwrap().as_millis() as u64).collect();
        assert_eq!(pauses[..3], [250, 500, 1000]);
        assert_eq!(pauses[8], 30_000);
        assert!(echo.said().unwrap().contains("a.log"));
        assert_eq!(echo.said(), None);
        // Somebody else writes it as well.
        echo.while_idle(&log);
        assert_eq!(echo.without(&log), log);
        assert_eq!(echo.pause(&log), None);
    }

    #[test]
    fn saves_that_come_late_or_in_some_runs_alone_are_peoples() {
        let mut echo = Echo::default();
        let one = saved(&["a.rb"]);
        for took in [1, 1, 3000, 1, 1] {
            echo.during_run(&one, Duration::from_millis(took));
        }
        assert_eq!(echo.without(&one), one);
        echo.during_run(&saved(&["b.rb"]), Duration::ZERO);
        echo.during_run(&one, Duration::ZERO);
        assert_eq!(echo.without(&one), one);
    }
}
