//! Runs tests, or a command, whenever a file is saved: at the first event, and once more if another
//! event arrives during the run.
//!
//! There is a single thread. It waits for saves, keys and signals. While a run is in progress, the
//! code that runs it waits for them as well. [`state`] and [`selection`] decide what to run; they
//! start nothing.

mod attention;
mod echo;
pub(crate) mod events;
pub(crate) mod ignored;
mod keys;
pub(crate) mod mutating;
mod programs;
mod run;
mod screen;
mod selection;
mod state;
mod syntax;
pub(crate) mod telling;
mod times;
mod wishes;

use crate::Ending;
use crate::args::ColorWhen;
use crate::changed::WHOLE_FILE;
use crate::tests::{Asker, Limits, Side, Warm};
use crate::toggles::language_of;
use anyhow::Context;
use assay_data::{Unit, list};
use assay_measure::interrupt;
use assay_measure::keys::Keys;
use assay_measure::preloaded::State as Held;
use assay_report::number;
use assay_report::watching::{Came, Light};
use assay_suites::Framework;
use attention::Attention;
use echo::Echo;
use events::{Events, Saved};
use ignored::Ignored;
use keys::Wish;
use mutating::{Mutating, MutationOutcome};
use programs::Programs;
use run::{Ran, Suite};
use screen::Screen;
use selection::Selection;
use state::{FullRuns, State, What};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use telling::{Telling, TellingArgs};
use times::Times;

/// Time without a save before the next run, if a save ended the previous run. It is longer than the
/// time between the two writes of an editor that saves by renaming. It doubles with each further
/// run in a row that a save ends.
const QUIET: Duration = Duration::from_millis(5);
/// Upper limit of the doubled [`QUIET`].
const LONGEST_QUIET: Duration = Duration::from_millis(200);
/// Time after which a run starts even if saves keep arriving.
const LONGEST_STORM: Duration = Duration::from_secs(2);
/// Maximum time to wait while git's lock file exists. A lock that stays longer was left behind by a
/// git process that was killed.
const LONGEST_LOCK: Duration = Duration::from_secs(10);
const LOCKED: Duration = Duration::from_millis(5);
/// Number of test runs after which the suite's launcher is replaced.
const MOST_RUNS: u64 = 200;

/// The settings of a watch.
pub(crate) struct How {
    /// The command that runs the tests, or that is run unchanged.
    pub command: Vec<OsString>,
    /// Test framework of the command; `None` if the command is run unchanged.
    pub framework: Option<Box<dyn Framework>>,
    /// True if each run starts from scratch, without a preloaded process.
    pub cold: bool,
    /// Root of the watched directory tree.
    pub top: PathBuf,
    /// Patterns of files to ignore, in addition to `.gitignore`.
    pub ignore: Vec<String>,
    /// The user's rules for which tests a change affects.
    pub rules: Vec<String>,
    /// Interval of polling; `None` to use file events if possible.
    pub poll: Option<Duration>,
    pub full: FullRuns,
    /// Time without a save after which all tests run, if only some have run.
    pub idle: Duration,
    pub limits: Limits,
    pub telling: TellingArgs,
    /// The settings for mutating changed lines when all tests pass; `None` if not requested.
    pub mutate: Option<mutating::How>,
    pub json: bool,
    pub quiet: bool,
    pub clear: bool,
    pub color: ColorWhen,
}

pub(crate) use state::FullRuns as Full;

/// A run to be started.
struct WatchTask {
    what: What,
    /// Files saved since the start of the previous run.
    changed: Vec<String>,
    why: String,
}

/// A watch in progress.
struct Watcher {
    how: How,
    attention: Attention,
    echo: Echo,
    selection: Selection,
    state: State,
    screen: Screen,
    telling: Telling,
    programs: Programs,
    suite: Option<Suite>,
    runs: u64,
    /// Tests of runs that were ended early, still to be run.
    owed: Option<What>,
    /// Saves since the start of the last run.
    held: Saved,
    /// Number of runs in a row that were ended by a save.
    ended: u32,
    /// The last duration of each test that has run, in seconds.
    known: BTreeMap<String, f64>,
    times: Times,
    mutating: Option<Mutating>,
    /// Result of the last run.
    last: Option<Came>,
    /// True while a syntax error in a source file is shown instead of the last result.
    is_broken: bool,
}

/// Watches until the user quits.
///
/// # Errors
///
/// Returns an error if the directory cannot be watched, or if the command cannot be run at all.
pub(crate) fn watch(mut how: How) -> anyhow::Result<Ending> {
    interrupt::install().context("signals can't be handled")?;
    let ignored = Ignored::below(&how.top, &how.ignore)?;
    let events = Events::below(&how.top, how.poll, ignored)
        .with_context(|| how.top.display().to_string())?;
    let keys = match how.json {
        true => None,
        false => Keys::take().context("the terminal's keys")?,
    };
    let (selection, note) =
        Selection::of(&how.top, how.framework.as_deref(), &how.command, &how.rules);
    let suite = match how.framework.take() {
        Some(framework) => {
            let side = Side::new("suite", how.command.clone());
            let mut asker = Asker::start(how.limits)?;
            let language = language_of(framework.name());
            if !how.cold && matches!(language, Some("ruby" | "python")) {
                let root = selection.coverage().unwrap_or_else(|| how.top.clone());
                // The first run reports this error as well.
                let _can_not_be_asked = asker.preload(framework.as_ref(), &side, &root);
            }
            Some(Suite { framework, side, asker })
        }
        None => None,
    };
    let mut screen = Screen::new((how.json, how.quiet, how.clear), how.color);
    for note in note.into_iter().chain(selection.lost()) {
        screen.say(&note)?;
    }
    let telling = Telling::new(how.telling.clone(), screen.shows_output());
    let mutating = how.mutate.take().map(|own| Mutating::new(own, &how.top, &how.command));
    let mut watcher = Watcher {
        attention: Attention::to(events, keys),
        echo: Echo::default(),
        selection,
        state: State::new(how.full),
        screen,
        telling,
        programs: Programs::start()?,
        suite,
        runs: 0,
        owed: None,
        held: Saved::default(),
        ended: 0,
        known: BTreeMap::new(),
        times: Times::of(&how.top, &how.command),
        mutating,
        last: None,
        is_broken: false,
        how,
    };
    let ended = watcher.go();
    watcher.screen.end()?;
    ended
}

impl Watcher {
    fn go(&mut self) -> anyhow::Result<Ending> {
        let first = self.state.first();
        let mut next = first.map(|what| self.job(what, "at the start".to_owned()));
        let mut idle_since = Instant::now();
        loop {
            if interrupt::count() > 0 {
                return Ok(Ending::Interrupted);
            }
            for said in self.attention.said().into_iter().chain(self.selection.lost()) {
                self.screen.say(&said)?;
            }
            if let Some(wish) = self.attention.wish.take() {
                match wish {
                    Wish::Quit => return Ok(Ending::Fine),
                    wish => next = self.wished(wish)?.or(next),
                }
            }
            self.answer()?;
            if !self.attention.saved.is_empty() {
                if self.attention.saved.is_gone {
                    anyhow::bail!("{} no longer exists", self.how.top.display());
                }
                next = self.saved()?;
            }
            if let Some(job) = next.take() {
                next = self.do_job(job)?;
                idle_since = Instant::now();
                continue;
            }
            let due = self.state.when_idle().map(|what| {
                let left = self.how.idle.saturating_sub(idle_since.elapsed());
                (what, left)
            });
            if let Some((what, left)) = &due
                && left.is_zero()
            {
                next = Some(self.job(what.clone(), "there is nothing else to do".to_owned()));
                continue;
            }
            self.renew()?;
            self.rest()?;
            self.look_at_changes()?;
            self.show_wait()?;
            let left = due.map(|(_, left)| left);
            let tries = self.mutating.as_ref().is_some_and(Mutating::is_awaited);
            let most = left.into_iter().chain(tries.then_some(mutating::LOOK)).min();
            let saved = self.attention.wait(most)?;
            if !saved.is_empty() {
                self.echo.while_idle(&saved);
                idle_since = Instant::now();
            }
        }
    }

    /// Shows the results of mutations, or starts trying mutations if all tests pass.
    fn look_at_changes(&mut self) -> anyhow::Result<()> {
        let look = self.screen.look();
        let is_green = self.state.all_is_green() && self.owed.is_none();
        let Some(mutating) = &mut self.mutating else { return Ok(()) };
        let told = mutating.look(look);
        match told.or_else(|| if is_green { mutating.begin(look) } else { None }) {
            Some(MutationOutcome::Found(text)) => self.screen.tell(&text),
            Some(MutationOutcome::Failed(why)) => self.screen.say(&why),
            None => Ok(()),
        }
    }

    fn job(&self, what: What, why: String) -> WatchTask {
        WatchTask { what, changed: self.held.paths.iter().cloned().collect(), why }
    }

    /// Processes the saved files, and returns the run that they cause, if any.
    fn saved(&mut self) -> anyhow::Result<Option<WatchTask>> {
        if let Some(mutating) = &mut self.mutating {
            mutating.cancel();
            mutating.saved();
        }
        self.wait_for_git()?;
        // Note: a run starts at the first save, without waiting. Only if a save ended the previous
        // run does the next one wait for a moment without saves.
        if self.ended > 0 {
            let quiet = QUIET.saturating_mul(1 << (self.ended - 1).min(16)).min(LONGEST_QUIET);
            self.attention.wait_for_quiet(quiet, LONGEST_STORM)?;
        }
        self.held.and(std::mem::take(&mut self.attention.saved));
        self.tell_of_saves()?;
        if self.suite.is_none() {
            let why = self.named();
            return Ok(Some(self.job(What::All, why)));
        }
        if let Some((path, complaint)) = self.broken() {
            self.show_broken(&path, complaint)?;
            return Ok(None);
        }
        let selected = self.selection.touched(&self.held);
        let touched = self.state.after_change(selected.touched);
        let what = both(self.owed.clone(), touched);
        let was_broken = std::mem::take(&mut self.is_broken);
        let Some(what) = what else {
            let why = self.named();
            let held = std::mem::take(&mut self.held);
            let is_source = held.paths.iter().any(|path| self.selection.is_source(path));
            if let Some(last) = self.last.clone().filter(|_| was_broken) {
                // The sources are as they were in the last run.
                let why = "the broken source can be read again, and is unchanged".to_owned();
                let changed = held.paths.into_iter().collect();
                self.screen.begin(&why, false)?;
                self.show(Came { why, changed, ..last })?;
            } else if is_source {
                self.screen
                    .say(&format!("{why}: no test depends on what changed; nothing to run"))?;
            }
            return Ok(None);
        };
        let why = match selected.everything {
            Some(everything) => format!("{} ({everything})", self.named()),
            None => self.named(),
        };
        Ok(Some(self.job(what, why)))
    }

    fn warm(&mut self) -> Option<&mut Warm> {
        let suite = self.suite.as_mut()?;
        suite.asker.warm(&suite.side)
    }

    /// Makes the preloaded process load the saved files in the background.
    fn tell_of_saves(&mut self) -> anyhow::Result<()> {
        let top = &self.how.top;
        let paths = self.held.paths.iter().map(|path| top.join(path)).collect();
        let changed = (!self.held.are_unknown).then_some(paths);
        if let Some(warm) = self.warm() {
            warm.tell(changed);
        }
        self.say_of_warm()
    }

    /// Queries the preloaded process between runs, and restarts it if it died.
    fn rest(&mut self) -> anyhow::Result<()> {
        if let Some(warm) = self.warm() {
            warm.rest();
        }
        self.say_of_warm()
    }

    fn say_of_warm(&mut self) -> anyhow::Result<()> {
        let said = self.warm().map(Warm::said).unwrap_or_default();
        said.iter().try_for_each(|line| self.screen.say(line))
    }

    /// Describes the saves, as in `a.rb and 3 other files were saved`.
    fn named(&self) -> String {
        // Files that no longer exist are often temporary files of an editor, which are less
        // informative.
        let (there, gone): (Vec<&String>, Vec<&String>) =
            self.held.paths.iter().partition(|path| self.how.top.join(path).exists());
        let mut paths = if there.is_empty() { gone.iter() } else { there.iter() };
        match (paths.next(), paths.len()) {
            (None, _) => "files were saved".to_owned(),
            (Some(path), 0) => format!("{path} was saved"),
            (Some(path), 1) => format!("{path} and another file were saved"),
            (Some(path), more) => format!("{path} and {more} other files were saved"),
        }
    }

    /// Waits while git is checking something out or rebasing, so that everything it writes counts
    /// as one save.
    fn wait_for_git(&mut self) -> anyhow::Result<()> {
        let Some(lock) = git_of(&self.how.top).map(|own| own.join("index.lock")) else {
            return Ok(());
        };
        let began = Instant::now();
        while lock.exists() && began.elapsed() < LONGEST_LOCK && interrupt::count() == 0 {
            self.attention.wait(Some(LOCKED))?;
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    /// Returns the first saved source file with a syntax error, and the message of the interpreter.
    fn broken(&mut self) -> Option<(String, String)> {
        for path in &self.held.paths {
            if self.selection.looks_broken(path) {
                let file = self.how.top.join(path);
                if let Some(said) = syntax::complaint(&file, &self.how.command, &mut self.programs)
                {
                    return Some((path.clone(), said));
                }
            }
        }
        None
    }

    fn show_broken(&mut self, path: &str, complaint: String) -> anyhow::Result<()> {
        let came = Came {
            light: Light::Broken,
            trouble: Some(complaint),
            ..self.blank(&WatchTask {
                what: What::All,
                changed: self.held.paths.iter().cloned().collect(),
                why: format!("{path} can't be read"),
            })
        };
        self.is_broken = true;
        self.screen.begin(&came.why, false)?;
        self.show(came)
    }

    fn show(&mut self, came: Came) -> anyhow::Result<()> {
        self.screen.came(&came)?;
        for wrong in self.telling.tell(&came, &mut self.programs) {
            self.screen.say(&wrong)?;
        }
        if came.light != Light::Broken {
            self.last = Some(came);
        }
        Ok(())
    }

    /// Returns the result of a run before anything has run.
    fn blank(&self, job: &WatchTask) -> Came {
        Came {
            run: self.runs,
            began: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string(),
            changed: job.changed.clone(),
            why: job.why.clone(),
            all: job.what == What::All,
            light: Light::Green,
            all_green: false,
            passed: None,
            skipped: 0,
            failed: Vec::new(),
            seconds: 0.0,
            trouble: None,
            warm: false,
            said: None,
            findings: Vec::new(),
        }
    }

    /// Runs a task, and returns the next one if it follows automatically.
    fn do_job(&mut self, job: WatchTask) -> anyhow::Result<Option<WatchTask>> {
        self.runs += 1;
        if let Some(mutating) = &mut self.mutating {
            mutating.cancel();
        }
        let held = std::mem::take(&mut self.held);
        let is_suite = self.suite.is_some();
        self.screen.begin(&heading(&job, is_suite), !is_suite)?;
        self.echo.begin();
        let began = Instant::now();
        let ran = match is_suite {
            true => self.run_suite(&job)?,
            false => self.run_any(&job)?,
        };
        // Saves that arrive at the very end still belong to the run.
        let late = self.attention.look();
        self.echo.of_others(late, began.elapsed());
        let meanwhile = self.attention.saved.clone();
        self.echo.end();
        if let Some(said) = self.echo.said() {
            self.screen.say(&said)?;
        }
        match ran {
            Ran::Ended => {
                if self.attention.wish.is_none() {
                    self.ended += 1;
                }
                self.owed = both(self.owed.take(), Some(job.what));
                self.held = held;
                Ok(None)
            }
            Ran::Else(what) => {
                let why = "the tests to run were not found".to_owned();
                Ok(Some(WatchTask { what, why, ..job }))
            }
            Ran::Came(came, next) => {
                self.ended = 0;
                self.owed = self.owed.take().and_then(|owed| left_of(owed, &job.what));
                self.show(*came)?;
                if let Some(pause) = self.echo.pause(&meanwhile) {
                    self.pause(pause)?;
                }
                let again =
                    next.map(|what| self.job(what, "the failed tests pass again".to_owned()));
                let owed = self.owed.clone();
                Ok(again
                    .or(owed.map(|what| self.job(what, "their last run was stopped".to_owned()))))
            }
        }
    }

    /// Waits until the pause is over or an event arrives.
    fn pause(&mut self, pause: Duration) -> anyhow::Result<()> {
        let began = Instant::now();
        while began.elapsed() < pause && interrupt::count() == 0 && self.attention.wish.is_none() {
            // A file was saved by another program.
            if !self.attention.wait(Some(pause.saturating_sub(began.elapsed())))?.is_empty() {
                break;
            }
        }
        Ok(())
    }

    /// Replaces the launchers from time to time, to forget the commands of earlier runs.
    fn renew(&mut self) -> anyhow::Result<()> {
        self.programs.renew()?;
        if let Some(suite) = &mut self.suite
            && self.runs.is_multiple_of(MOST_RUNS)
            && self.runs > 0
        {
            suite.asker.renew()?;
        }
        Ok(())
    }

    fn show_wait(&mut self) -> anyhow::Result<()> {
        if !self.attention.has_keys() {
            return Ok(());
        }
        match self.attention.pattern() {
            Some(pattern) => self.screen.waiting(&format!("pattern: {pattern}")),
            None => {
                let held = self.warm().and_then(|warm| warm.state().map(Held::memory));
                let held = held.filter(|held| *held > 0).map_or(String::new(), |held| {
                    format!("{} preloaded · ", number::rough(held as f64, &Unit::Byte))
                });
                let tries = self.mutating.as_ref().is_some_and(Mutating::is_at_work);
                let tries = if tries { "trying changes · " } else { "" };
                self.screen.waiting(&format!("waiting for a save · {tries}{held}h keys, q quits"))
            }
        }
    }
}

/// Returns the git directory of the working tree that contains `top`. In a linked worktree, `.git`
/// is a file that contains its path.
fn git_of(top: &Path) -> Option<PathBuf> {
    let own = top.ancestors().map(|above| above.join(".git")).find(|own| own.exists())?;
    if own.is_dir() {
        return Some(own);
    }
    let text = std::fs::read_to_string(&own).ok()?;
    Some(own.parent()?.join(text.strip_prefix("gitdir:")?.trim()))
}

/// Returns the union of the tests of two runs.
fn both(one: Option<What>, other: Option<What>) -> Option<What> {
    match (one, other) {
        (None, other) => other,
        (one, None) => one,
        (Some(What::These(one)), Some(What::These(other))) => {
            let new: Vec<String> = other.into_iter().filter(|name| !one.contains(name)).collect();
            Some(What::These([one, new].concat()))
        }
        _ => Some(What::All),
    }
}

/// Returns the tests in `owed` that are not in `ran`, if any.
fn left_of(owed: What, ran: &What) -> Option<What> {
    match (owed, ran) {
        (_, What::All) => None,
        (What::All, _) => Some(What::All),
        (What::These(owed), What::These(ran)) => {
            let left: Vec<String> = owed.into_iter().filter(|name| !ran.contains(name)).collect();
            (!left.is_empty()).then_some(What::These(left))
        }
    }
}

fn heading(job: &WatchTask, is_suite: bool) -> String {
    match &job.what {
        What::All if is_suite => format!("all tests: {}", job.why),
        What::All => job.why.clone(),
        What::These(names) => {
            let named = names.iter().map(|name| name.strip_prefix(WHOLE_FILE).unwrap_or(name));
            let named: Vec<&str> = named.collect();
            let count = match names.len() {
                1 => String::new(),
                more => format!("{more} tests: "),
            };
            format!("{}: {count}{}", job.why, list::first(&named, telling::NAMED))
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]

    use super::*;

    fn these(names: &[&str]) -> What {
        What::These(names.iter().map(|name| (*name).to_owned()).collect())
    }

    #[test]
    fn git_is_found_around_a_directory_also_of_a_linked_tree() {
        let room = tempfile::tempdir().unwrap();
        let tree = room.path().join("tree/deep");
        std::fs::create_dir_all(&tree).unwrap();
        std::fs::write(room.path().join("tree/.git"), "gitdir: /main/.git/worktrees/tree\n")
            .unwrap();
        assert_eq!(git_of(&tree), Some("/main/.git/worktrees/tree".into()));
        std::fs::create_dir(tree.join(".git")).unwrap();
        assert_eq!(git_of(&tree), Some(tree.join(".git")));
    }

    #[test]
    fn what_was_ended_runs_with_what_ended_it_and_what_did_not_run_is_owed() {
        let merged = both(Some(these(&["a", "b"])), Some(these(&["b", "c"])));
        assert_eq!(merged, Some(these(&["a", "b", "c"])));
        assert_eq!(both(Some(What::All), Some(these(&["a"]))), Some(What::All));
        assert_eq!(both(None, Some(these(&["a"]))), Some(these(&["a"])));
        assert_eq!(left_of(these(&["a", "b"]), &these(&["b"])), Some(these(&["a"])));
        assert_eq!(left_of(these(&["a"]), &these(&["a", "b"])), None);
        assert_eq!(left_of(What::All, &these(&["a"])), Some(What::All));
        assert_eq!(left_of(What::All, &What::All), None);
    }
}
