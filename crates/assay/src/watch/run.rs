//! A single run of tests or of a command, which a save or a key may end.

use super::attention::{Attention, borrowed};
use super::echo::Echo;
use super::screen::Screen;
use super::selection::{self, Selection};
use super::state::{self, What};
use super::{WatchTask, Watcher, programs};
use crate::run_error::RunError;
use crate::tests::{Asker, Attending, Side};
use assay_data::Unit;
use assay_measure::clock::now_seconds;
use assay_measure::interrupt;
use assay_report::number;
use assay_report::watching::{Came, Failed, Light};
use assay_report::words::counted;
use assay_suites::run::TestStatus;
use assay_suites::watching::HangingTest;
use assay_suites::{Framework, RunRequirements};
use std::time::{Duration, Instant};

/// A test suite and the framework that runs it.
pub(super) struct Suite {
    pub framework: Box<dyn Framework>,
    pub side: Side,
    pub asker: Asker,
}

/// Outcome of a run.
pub(super) enum Ran {
    /// A save or a key ended the run.
    Ended,
    /// The run produced no result, and these tests have to run instead.
    Else(What),
    Came(Box<Came>, Option<What>),
}

impl Watcher {
    /// Runs the command of `--any`.
    pub(super) fn run_any(&mut self, job: &WatchTask) -> anyhow::Result<Ran> {
        let shown = self.screen.shows_output();
        let (echo, began) = (&mut self.echo, Instant::now());
        let mut ends = |attention: &mut Attention| {
            let saved = echo.of_others(attention.look(), began.elapsed());
            attention.wish.is_some() || interrupt::count() > 0 || !saved.is_empty()
        };
        let ran = self.programs.any(&self.how.command, shown, &mut self.attention, &mut ends);
        let result = match ran {
            Ok(Some(result)) => result,
            Ok(None) => return Ok(Ran::Ended),
            Err(RunError::Interrupted(_)) => return Ok(Ran::Ended),
            Err(error) => return Err(error.into()),
        };
        let mut came = Came { seconds: result.wall_seconds, ..self.blank(job) };
        if !result.outcome.is_success() {
            (came.light, came.trouble) = (Light::Red, Some(result.outcome.to_string()));
        }
        came.all_green = came.light == Light::Green;
        came.said = (!shown).then(|| programs::said(&result));
        Ok(Ran::Came(Box::new(came), None))
    }

    /// Runs the tests of the suite.
    pub(super) fn run_suite(&mut self, job: &WatchTask) -> anyhow::Result<Ran> {
        let Some(suite) = &mut self.suite else { return Ok(Ran::Ended) };
        let only = match &job.what {
            What::These(names) if suite.framework.selects() => Some(names.clone()),
            _ => None,
        };
        let count = only.as_ref().map(Vec::len);
        let coverage = self.selection.coverage();
        let wanted = RunRequirements { only, coverage, ..RunRequirements::default() };
        let wakers = self.attention.wakers()?;
        let (every, also) = (self.attention.every(), borrowed(&wakers));
        let began = now_seconds();
        let mut of_run = OfRun {
            attention: &mut self.attention,
            selection: &mut self.selection,
            echo: &mut self.echo,
            screen: &mut self.screen,
            count,
            began,
        };
        let framework = suite.framework.as_ref();
        let unknown = (framework.name() == "tap").then(|| suite.side.line());
        let ran =
            suite.asker.run_attended(framework, &suite.side, &wanted, (every, &also), &mut of_run);
        let warm = suite.asker.was_warm();
        self.say_of_warm()?;
        let mut came = Came { passed: Some(0), warm, ..self.blank(job) };
        let ran = match ran {
            Ok(Some(ran)) => ran,
            Ok(None) | Err(RunError::Interrupted(_)) => return Ok(Ran::Ended),
            // Some of the selected tests may have been removed or renamed.
            Err(RunError::Reading(_)) if matches!(job.what, What::These(_)) => {
                return Ok(Ran::Else(What::All));
            }
            Err(RunError::Failed(why) | RunError::Reading(why)) => {
                let why = match unknown {
                    Some(line) => format!(
                        "{why}. To run any command on every save: assay watch --any -- {line}"
                    ),
                    None => why,
                };
                let what = &job.what;
                self.state.ran(state::Came { what, tests: &[], broke: true, is_short: true });
                (came.light, came.trouble) = (Light::Red, Some(why));
                came.seconds = now_seconds() - began;
                return Ok(Ran::Came(Box::new(came), None));
            }
            Err(error) => return Err(error.into()),
        };
        let tests = &ran.run.tests;
        came.failed =
            tests.iter().filter(|test| test.status == TestStatus::Failed).map(failed).collect();
        came.skipped = tests.iter().filter(|test| test.status == TestStatus::Skipped).count();
        came.passed = Some(tests.len() - came.failed.len() - came.skipped);
        came.seconds = ran.result.wall_seconds;
        came.trouble = ran.trouble();
        let broke = came.trouble.is_some();
        if broke || !came.failed.is_empty() {
            came.light = Light::Red;
        }
        let is_red = came.light == Light::Red;
        let ran_too = |name: &String| tests.iter().any(|test| test.name == *name);
        // The run failed with fewer tests than expected because some could not be loaded. It is
        // therefore unknown which change would fix them.
        let is_short = tests.iter().any(assay_suites::run::Test::is_stand_in)
            || is_red
                && match &job.what {
                    What::All if self.known.is_empty() => broke,
                    What::All => !self.known.keys().all(ran_too),
                    What::These(names) => broke && !names.iter().all(ran_too),
                };
        if job.what == What::All && !is_short {
            self.known.clear();
        }
        let times = tests.iter().map(|test| (test.name.clone(), test.seconds.unwrap_or(0.0)));
        self.known.extend(times);
        let told = selection::of_run(&ran);
        let next = self.state.ran(state::Came { what: &job.what, tests: &told, broke, is_short });
        if let Some(said) = self.selection.take(&ran, &job.what) {
            self.screen.say(&said)?;
        }
        came.all_green = self.state.all_is_green();
        if came.all_green && job.what == What::All {
            let at = jiff::Timestamp::now().as_millisecond();
            let (found, refused) = self.times.keep(at, self.known.iter().map(|(n, s)| (n, *s)));
            came.findings = found;
            if let Some(refused) = refused {
                self.screen.say(&refused)?;
            }
        }
        Ok(Ran::Came(Box::new(came), next))
    }
}

/// The callback during a run of the suite.
struct OfRun<'a> {
    attention: &'a mut Attention,
    selection: &'a mut Selection,
    echo: &'a mut Echo,
    screen: &'a mut Screen,
    count: Option<usize>,
    began: f64,
}

impl Attending for OfRun<'_> {
    fn ends(&mut self, running: &mut dyn FnMut() -> Option<HangingTest>) -> bool {
        let took = Duration::from_secs_f64((now_seconds() - self.began).max(0.0));
        let saved = self.echo.of_others(self.attention.look(), took);
        let (count, began) = (self.count, self.began);
        self.screen.running(|| {
            let what = count.map_or("all tests".to_owned(), |n| counted(n, "test"));
            let second = &Unit::Second;
            match running() {
                Some(hung) => {
                    let name = &hung.what.name;
                    format!("running {what}: {name}, for {}", number::rough(hung.seconds, second))
                }
                None => {
                    format!("running {what}, for {}", number::rough(now_seconds() - began, second))
                }
            }
        });
        if self.attention.wish.is_some() || interrupt::count() > 0 {
            return true;
        }
        !saved.is_empty() && (saved.is_gone || self.selection.is_touched(&saved))
    }
}

fn failed(test: &assay_suites::run::Test) -> Failed {
    Failed {
        name: test.name.clone(),
        file: test.file.clone(),
        line: test.line,
        message: test.message.clone(),
    }
}
