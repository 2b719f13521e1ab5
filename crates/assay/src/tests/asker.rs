//! Runs a suite once and returns its report. Each run has its own temporary directory for its
//! reports, which is removed afterwards.

use super::live::{self, Live};
use super::ran::Ran;
use super::stopped;
use super::warm::Cold;
use super::{Side, Warm};
use crate::output;
use crate::room;
use crate::run_error::RunError;
use anyhow::Context;
use assay_data::list;
use assay_data::system_error::reason;
use assay_measure::clock::now_seconds;
use assay_measure::{
    Command, MeasureError, Outcome, OutputSoFar, RunOptions, RunResult, Runner, Watching, git,
    interrupt,
};
use assay_report::number;
use assay_suites::frameworks::WHOLE_FILE;
use assay_suites::parts::{self};
use assay_suites::run::{Test, TestStatus, Unfinished};
use assay_suites::watching::HangingTest;
use assay_suites::{
    Answer, Call, Framework, Request, Run, RunRequirements, SuiteError, add_to_environment,
};
use std::collections::BTreeMap;
use std::fs;
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Time limits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Time after which a run is killed, whatever it is doing.
    pub suite: Duration,
    /// Time after which a run is killed because a test, or the setup of a group of tests, does not
    /// end.
    pub test: Option<Duration>,
}

/// Callback during a run.
pub(crate) trait Attending {
    /// Returns true if the run is to be ended. `running` returns the test or hook that is running,
    /// if the framework reports it.
    fn ends(&mut self, running: &mut dyn FnMut() -> Option<HangingTest>) -> bool;
}

/// Number of times that a suite is checked within the time limit of a test.
const LOOKS: u32 = 20;
/// Minimum interval between two checks.
const OFTENEST: Duration = Duration::from_millis(20);
/// Maximum interval between two checks.
const SELDOMEST: Duration = Duration::from_secs(1);

/// Runs suites, one at a time.
pub(crate) struct Asker {
    runner: Runner,
    room: assay_measure::room::Room,
    limits: Limits,
    runs: usize,
    /// Preloaded processes, by the name of their side.
    warm: BTreeMap<String, Warm>,
    /// True if the last run was a fork of a preloaded process.
    was_warm: bool,
    /// Shows progress while a suite runs; `None` for no progress.
    live: Option<Live>,
}

impl Asker {
    /// Starts the launcher and creates the directory that contains the temporary directories of all
    /// runs.
    ///
    /// # Errors
    /// If the launcher cannot be started or the directory cannot be created.
    pub fn start(limits: Limits) -> anyhow::Result<Self> {
        let (room, runner) = (room::temporary()?, Runner::start()?);
        let (runs, warm, was_warm, live) = Default::default();
        Ok(Self { room, runner, limits, runs, warm, was_warm, live })
    }

    /// Shows the progress of suites while they run.
    pub fn attend(&mut self, live: Live) {
        self.live = Some(live);
    }

    /// Runs the suite of a side, with `padding` bytes added to its environment.
    ///
    /// # Errors
    /// [`RunError::Failed`] if the suite crashed, hung, or produced no readable report. Failed
    /// tests are not an error.
    pub fn run(
        &mut self,
        framework: &dyn Framework,
        side: &Side,
        wanted: &RunRequirements,
        padding: u16,
    ) -> Result<Ran, RunError> {
        let room = self.room()?;
        let ran = side.under(|| self.run_in(&room, framework, side, wanted, padding));
        let ran = match ran {
            Err(RunError::Failed(why)) if self.room.is_full() => Err(RunError::Reading(format!(
                "{}: the directory for temporary files is full; set TMPDIR to another one, or free some space ({why})",
                self.room.path().display()
            ))),
            ran => ran,
        };
        // Anything that a test made undeletable there is removed with the parent directory.
        let _stays = fs::remove_dir_all(&room);
        ran
    }

    fn run_in(
        &mut self,
        room: &Path,
        framework: &dyn Framework,
        side: &Side,
        wanted: &RunRequirements,
        padding: u16,
    ) -> Result<Ran, RunError> {
        let directory = directory_of(side);
        let call = Call::new(&side.argv, &directory);
        let request = framework.ask(&call, wanted, room);
        let request = request.map_err(|error| RunError::Reading(error.to_string()))?;
        let mut watch = framework.watch(&call, room);
        let limit = self.limits.test.unwrap_or(self.limits.suite);
        let is_limited = self.limits.test.is_some();
        let mut live = self.live.take();
        let mut every = (limit / LOOKS).clamp(OFTENEST, SELDOMEST);
        if let Some(live) = &mut live {
            live.begins();
            every = if is_limited { every.min(live::EVERY) } else { live::EVERY };
        }
        let began = now_seconds();
        let mut hung = None;
        let mut ends = |output: &OutputSoFar<'_>| {
            let now = now_seconds();
            if let Some(watch) = &mut watch {
                if let Some(live) = &mut live {
                    live.take(&watch.progress(now, output), now - began);
                }
                hung = is_limited.then(|| watch.hung(now, limit.as_secs_f64(), output)).flatten();
            }
            // SIGTERM ends the suite immediately, and so does a second Ctrl-C. The first one does
            // not reach the suite, which has a process group of its own.
            hung.is_some() || interrupt::is_asked_to_end()
        };
        let watching = Watching { every, also: &[], ends: &mut ends };
        let result = self.put(&request, side, padding, Some(watching));
        let result = match result {
            Ok(result) => result,
            // A second Ctrl-C killed it; the events of its tests up to then are kept.
            Err(RunError::Interrupted(_)) => stopped::ended_now(began),
            Err(error) => {
                self.live = live;
                return Err(error);
            }
        };
        let (output, errors) = (kept(&result.output), kept(&result.errors));
        let answer = answer(room, &directory, &result, (&output, &errors));
        let read = framework.read(&answer).and_then(|run| with_tests(run, &answer));
        let read = read.map_err(|error| with_names(error, wanted));
        if let (Some(live), Some(watch)) = (&mut live, &mut watch) {
            let from = |place: u64| {
                let place = usize::try_from(place).unwrap_or(usize::MAX);
                output.get(place..).unwrap_or_default().to_vec()
            };
            live.take(&watch.progress(now_seconds(), &from), now_seconds() - began);
        }
        if let (Some(live), Ok(run)) = (&mut live, &read) {
            live.ended(run.tests.len(), result.wall_seconds);
        }
        self.live = live;
        if interrupt::count() > 0 && !is_through(&result, read.as_ref().ok()) {
            return stopped::stopped(read.unwrap_or_default(), result, &answer);
        }
        match hung {
            Some(hung) => self.cut_short(read.unwrap_or_default(), result, &answer, &hung),
            None => match read.as_ref().ok().and_then(|run| run.unbuilt.as_deref()) {
                Some(said) => Err(unbuilt(said)),
                None => self.judged(read, result, &answer),
            },
        }
    }

    /// Runs the suite of a side, calling `attending` at intervals and whenever one of `also` is
    /// readable. Returns `None` if `attending` ended the run.
    ///
    /// # Errors
    /// As in [`Asker::run`].
    pub fn run_attended(
        &mut self,
        framework: &dyn Framework,
        side: &Side,
        wanted: &RunRequirements,
        (every, also): (Duration, &[BorrowedFd<'_>]),
        attending: &mut dyn Attending,
    ) -> Result<Option<Ran>, RunError> {
        let room = self.room()?;
        let directory = directory_of(side);
        let call = Call::new(&side.argv, &directory);
        let request = framework.ask(&call, wanted, &room);
        let request = request.map_err(|error| RunError::Reading(error.to_string()))?;
        let mut watch = framework.watch(&call, &room);
        let mut is_ended = false;
        let mut ends = |output: &OutputSoFar<'_>| {
            is_ended = attending.ends(&mut || watch.as_mut()?.hung(now_seconds(), 0.0, output));
            is_ended
        };
        let watching = Watching { every, also, ends: &mut ends };
        let result = side.under(|| not_interrupted(self.put(&request, side, 0, Some(watching))?));
        let ran = match result {
            Err(_) if is_ended => None,
            Err(error) => Some(Err(error)),
            Ok(_) if is_ended => None,
            Ok(result) => {
                let (output, errors) = (kept(&result.output), kept(&result.errors));
                let answer = answer(&room, &directory, &result, (&output, &errors));
                Some(self.judged(framework.read(&answer), result, &answer))
            }
        };
        let _stays = fs::remove_dir_all(&room);
        ran.transpose()
    }

    /// Stops showing progress.
    pub fn be_silent(&mut self) {
        self.live = None;
    }

    /// Preloads the suite of a side in a process that later runs are forked from, if that is
    /// possible. `root` is the top of the project.
    ///
    /// # Errors
    /// If the framework cannot be called.
    pub fn preload(
        &mut self,
        framework: &dyn Framework,
        side: &Side,
        root: &Path,
    ) -> Result<(), RunError> {
        let room = self.room()?;
        let call = Call::new(&side.argv, &directory_of(side));
        let request = framework.ask(&call, &RunRequirements::default(), &room);
        let request = request.map_err(|error| RunError::Reading(error.to_string()))?;
        request.write_privately().map_err(|(path, error)| {
            RunError::Reading(format!("{}: {}", path.display(), reason(&error)))
        })?;
        // Hooks that are added for a run are loaded by that run.
        let command = command(&Request::words(request.argv), side)?;
        let warm = Warm::start(&command, side, &room, root);
        self.warm.insert(side.name.clone(), warm);
        Ok(())
    }

    /// Like [`Asker::preload`], for runs that are measured: runs the suite once, so that everything
    /// a run needs is loaded.
    ///
    /// # Errors
    /// If it cannot be preloaded.
    pub fn preload_to_measure(
        &mut self,
        framework: &dyn Framework,
        side: &Side,
        wanted: &RunRequirements,
    ) -> Result<(), RunError> {
        let here = directory_of(side);
        let here = here.canonicalize().unwrap_or(here);
        let root = git::top(&here).unwrap_or(here);
        self.preload(framework, side, &root)?;
        let before = self.warm(side).and_then(|warm| {
            warm.settle();
            warm.stages()
        });
        self.run(framework, side, wanted, 0)?;
        if let Some(warm) = self.warm(side) {
            warm.learn(before);
        }
        Ok(())
    }

    /// Returns the preloaded process of a side, if it has one.
    pub fn warm(&mut self, side: &Side) -> Option<&mut Warm> {
        self.warm.get_mut(&side.name)
    }

    /// Returns true if the last run was a fork of a preloaded process rather than a new process.
    pub fn was_warm(&self) -> bool {
        self.was_warm
    }

    /// Replaces the launcher by a new one, which keeps none of the commands of earlier runs in
    /// memory. A caller that runs suites all day should call this from time to time.
    ///
    /// # Errors
    /// If the new launcher cannot be started.
    pub fn renew(&mut self) -> Result<(), RunError> {
        self.runner = Runner::start()?;
        Ok(())
    }

    /// Returns the names of the tests of a side.
    ///
    /// # Errors
    /// If the framework cannot list them, or finds no tests.
    pub fn list(
        &mut self,
        framework: &dyn Framework,
        side: &Side,
    ) -> Result<Vec<String>, RunError> {
        let room = self.room()?;
        let directory = directory_of(side);
        let call = Call::new(&side.argv, &directory);
        let request = framework.list(&call, &room);
        let request = request.map_err(|error| RunError::Reading(error.to_string()))?;
        let result = side.under(|| not_interrupted(self.put(&request, side, 0, None)?))?;
        let (output, errors) = (kept(&result.output), kept(&result.errors));
        let listed = framework.listed(&answer(&room, &directory, &result, (&output, &errors)));
        let _stays = fs::remove_dir_all(&room);
        listed.map_err(|error| told(error, result.outcome))
    }

    /// Creates a temporary directory for one run.
    fn room(&mut self) -> Result<PathBuf, RunError> {
        self.runs += 1;
        let room = self.room.path().join(self.runs.to_string());
        let made = fs::create_dir(&room).with_context(|| room.display().to_string());
        made.map_err(|error| RunError::Reading(output::told(&error)))?;
        Ok(room)
    }

    /// Runs a command once.
    fn put(
        &mut self,
        request: &Request,
        side: &Side,
        padding: u16,
        mut watching: Option<Watching<'_>>,
    ) -> Result<RunResult, RunError> {
        let command = prepared(request, side)?;
        self.was_warm = false;
        if let Some(warm) = self.warm.get_mut(&side.name) {
            let own = watching.as_mut();
            let own =
                own.map(|own| Watching { every: own.every, also: own.also, ends: &mut *own.ends });
            match warm.run(&command, self.limits.suite, own) {
                Ok(result) => {
                    self.was_warm = true;
                    if side.warm {
                        // Loading that continues after a run must not overlap with the next run.
                        warm.settle();
                    }
                    return Ok(result);
                }
                Err(Cold::Because(why)) if side.warm => {
                    return Err(RunError::Failed(format!("it can't be preloaded: {why}")));
                }
                Err(Cold::Stopped) => return Err(MeasureError::Interrupted.into()),
                // The report of a lost run must not be mistaken for that of the next one.
                Err(Cold::Because(_)) => {
                    for directory in &request.directories {
                        let _not_there = fs::remove_dir_all(directory);
                    }
                    prepared(request, side)?;
                }
            }
        }
        let subject = self.runner.add(&command)?;
        let options = RunOptions {
            pad: padding,
            timeout: Some(self.limits.suite),
            end_strays: true,
            ..RunOptions::default()
        };
        Ok(self.runner.run_watched(subject, options, watching)?)
    }

    /// Returns a run that was killed because something hung. Tests that had ended are kept, and the
    /// test that hung counts as failed.
    fn cut_short(
        &self,
        mut run: Run,
        result: RunResult,
        answer: &Answer<'_>,
        hung: &HangingTest,
    ) -> Result<Ran, RunError> {
        // Frameworks that are being killed may report tests as failed that merely had not ended.
        let is_own = |name: &String| Some(name) == hung.test.as_ref();
        run.tests.retain(|test| !is_own(&test.name) && test.ended.is_none_or(|at| at <= hung.at));
        let told = self.told_of(hung, run.tests.len());
        if let Some(name) = &hung.test {
            let began = run.unfinished.iter().find(|own| own.name == *name);
            let process = began.map_or(0, |own| own.process);
            let began = began.and_then(|own| own.began).unwrap_or(hung.at - hung.seconds);
            run.tests.push(Test {
                name: name.clone(),
                began: Some(began),
                ended: Some(hung.at),
                seconds: Some((hung.at - began).max(0.0)),
                status: TestStatus::Failed,
                message: Some(told.clone()),
                process,
                ..Test::default()
            });
        }
        if run.tests.iter().all(|test| is_own(&test.name)) {
            return Err(RunError::Failed(told));
        }
        run.unfinished.clear();
        let parts = parts::of(&run, answer.began, answer.ended);
        Ok(Ran { run, parts, result, hung: Some(told), is_stopped: false })
    }

    /// Returns a description of the test that hung.
    fn told_of(&self, hung: &HangingTest, ended: usize) -> String {
        let second = &assay_data::Unit::Second;
        let limit = self.limits.test.unwrap_or_default().as_secs_f64();
        let limit = number::chosen(limit, second);
        let waiting = hung.test.as_ref().filter(|_| hung.what.beside);
        let place = match (&hung.within, hung.what.phase) {
            (Some(within), _) => format!(", in its {within}"),
            (None, Some(phase)) => format!(", in its {}", phase.name()),
            (None, None) => String::new(),
        };
        format!(
            "`{}`{} took longer than --test-timeout {limit}: for {} by then{place}. The suite was ended; {}",
            hung.what.name,
            waiting.map_or(String::new(), |test| format!(", for which `{test}` waited,")),
            number::rough(hung.seconds, second),
            match ended {
                0 => "no test had ended before".to_owned(),
                1 => "1 test had ended before".to_owned(),
                n => format!("{n} tests had ended before"),
            }
        )
    }

    /// Returns a completed run, or an error if the run crashed, hung or reported nothing.
    fn judged(
        &self,
        read: Result<Run, SuiteError>,
        result: RunResult,
        answer: &Answer<'_>,
    ) -> Result<Ran, RunError> {
        let read = read.map(Run::with_lost);
        let running = read.as_ref().map_or(&[][..], |run| &run.unfinished);
        match result.outcome {
            Outcome::TimedOut => {
                let limit =
                    number::chosen(self.limits.suite.as_secs_f64(), &assay_data::Unit::Second);
                return Err(RunError::Failed(format!(
                    "the suite took longer than --timeout {limit} and was killed{}; allow it more time, or fix what hangs",
                    while_running(running, answer.ended)
                )));
            }
            Outcome::Exited(_) => {}
            how => {
                return Err(RunError::Failed(format!(
                    "the suite {how}{}",
                    while_running(running, answer.ended)
                )));
            }
        }
        let run = read.map_err(|error| told(error, result.outcome))?;
        let said = || answer.message().map_or(String::new(), |said| format!("; it said: {said}"));
        if !run.unfinished.is_empty() {
            let said = said();
            return Err(RunError::Failed(format!(
                "the suite {} before it had finished{}{said}",
                result.outcome,
                while_running(&run.unfinished, answer.ended)
            )));
        }
        if run.tests.is_empty() && !run.faults.is_empty() {
            let faults = run.faults.join("; ");
            return Err(RunError::Failed(format!("no test ran: {faults}{}", said())));
        }
        let run = with_tests(run, answer).map_err(|error| told(error, result.outcome))?;
        let parts = parts::of(&run, answer.began, answer.ended);
        Ok(Ran { run, parts, result, hung: None, is_stopped: false })
    }
}

/// Returns the run, or an error if it ran no test and the report does not say why.
fn with_tests(run: Run, answer: &Answer<'_>) -> Result<Run, SuiteError> {
    let is_empty = run.tests.is_empty() && run.unfinished.is_empty() && run.faults.is_empty();
    if is_empty { Err(SuiteError::NoTests { said: answer.message() }) } else { Ok(run) }
}

/// Returns the error of a run in which no package could be built.
fn unbuilt(said: &str) -> RunError {
    let said = live::first_lines(said);
    let said = if said.is_empty() { said } else { format!(": {said}") };
    RunError::Failed(format!("no test ran: no package can be built{said}"))
}

/// Returns the error of a run without tests, which names the tests that were requested by name.
fn with_names(error: SuiteError, wanted: &RunRequirements) -> SuiteError {
    const SHOWN: usize = 5;
    let names = wanted.only.as_deref().unwrap_or_default();
    let is_whole = names.iter().any(|name| name.starts_with(WHOLE_FILE));
    match error {
        SuiteError::NoTests { .. } if !names.is_empty() && !is_whole => {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            SuiteError::NotNamed { names: list::first(&names, SHOWN) }
        }
        error => error,
    }
}

/// Returns true if a suite ran to its end despite a Ctrl-C: nothing ended it, no test is
/// unfinished, and failed tests explain a bad status.
fn is_through(result: &RunResult, run: Option<&Run>) -> bool {
    let is_whole =
        |run: &Run| run.unfinished.is_empty() && run.faults.is_empty() && run.has_failed();
    match result.outcome {
        Outcome::Exited(0) => true,
        Outcome::Exited(_) => !interrupt::is_asked_to_end() && run.is_some_and(is_whole),
        _ => false,
    }
}

/// Returns an error if the run failed after an interruption, which may have reached the command as
/// well.
fn not_interrupted(result: RunResult) -> Result<RunResult, RunError> {
    if interrupt::count() > 0 && !result.outcome.is_success() {
        return Err(RunError::Interrupted("in a run, which is not kept".to_owned()));
    }
    Ok(result)
}

/// Returns the command of a request, after writing the files that it needs to start.
///
/// # Errors
/// If they cannot be written.
pub(crate) fn prepared(request: &Request, side: &Side) -> Result<Command, RunError> {
    request.write_privately().map_err(|(path, error)| {
        RunError::Reading(format!("{}: {}", path.display(), reason(&error)))
    })?;
    command(request, side)
}

/// Returns the directory of a side.
pub(crate) fn directory_of(side: &Side) -> PathBuf {
    side.directory.clone().unwrap_or_else(|| PathBuf::from("."))
}

fn kept(kept: &Option<assay_measure::KeptOutput>) -> Vec<u8> {
    kept.as_ref().map(|kept| kept.bytes.clone()).unwrap_or_default()
}

fn answer<'a>(
    room: &'a Path,
    directory: &'a Path,
    result: &RunResult,
    (output, errors): (&'a [u8], &'a [u8]),
) -> Answer<'a> {
    let (began, ended) = (seconds(result.started_ns), seconds(result.ended_ns));
    Answer { room, directory, output, errors, began, ended, since_1970: since_1970() }
}

/// Converts an error of a suite. A command that runs no tests, or that succeeds without results, is
/// treated as mistyped, not as a failure.
pub(crate) fn told(error: SuiteError, outcome: Outcome) -> RunError {
    let advice = match error {
        SuiteError::NoTests { .. } => "; run the command by itself to see whether it finds any",
        SuiteError::NoReport { .. } => "; run the command by itself to see why",
        _ => "",
    };
    let text = format!("the suite {outcome}: {error}{advice}");
    let is_typed = match error {
        SuiteError::NoTests { .. } | SuiteError::NotNamed { .. } | SuiteError::TooOld { .. } => {
            true
        }
        SuiteError::Unknown { .. } | SuiteError::NotWritten { .. } => outcome.is_success(),
        _ => false,
    };
    if is_typed { RunError::Reading(text) } else { RunError::Failed(text) }
}

/// Returns `, while this ran: X (for 4.2 s)`, naming at most three tests.
fn while_running(running: &[Unfinished], ended: f64) -> String {
    const NAMED: usize = 3;
    let one = |test: &Unfinished| {
        let since = test.began.map(|began| (ended - began).max(0.0));
        let since = since.map(|seconds| number::rough(seconds, &assay_data::Unit::Second));
        let phase = test.phase.map_or(String::new(), |phase| format!(", in its {}", phase.name()));
        let since = since.map_or(String::new(), |since| format!(" (for {since}{phase})"));
        format!("`{}`{since}", test.name)
    };
    if running.is_empty() {
        return String::new();
    }
    let named: Vec<String> = running.iter().take(NAMED).map(one).collect();
    format!(", while this ran: {}", list::counted(&named, running.len()))
}

/// Returns the command of a request, in the environment of its side.
fn command(request: &Request, side: &Side) -> Result<Command, RunError> {
    let command = Command::new(request.argv.clone());
    let command = command.map_err(|error| RunError::Reading(error.to_string()))?;
    let mut env: BTreeMap<String, String> = side.env.iter().cloned().collect();
    let added = &side.added;
    add_to_environment(
        &mut env,
        added.env.iter().chain(&request.env),
        added.options.iter().chain(&request.options),
        added.paths.iter().chain(&request.paths),
    );
    Ok(Command {
        env: env.into_iter().collect(),
        cwd: side.directory.clone(),
        keep_output: true,
        keep_errors: true,
        ..command
    })
}

fn seconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e9
}

/// Returns the offset of Unix time from the monotonic clock, s.
fn since_1970() -> f64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now.as_secs_f64() - now_seconds()
}
