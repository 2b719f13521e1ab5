//! Runs the tests of a copy of the project once, all of them or a selection, and returns the
//! result.
//!
//! Every run is started through [`Suite::command`], which limits its resources; processes it leaves
//! behind are ended. The order of runs and the meaning of a failed test are decided elsewhere.

use crate::copies::Copy;
use crate::guard::{Guard, TimeIsUp};
use crate::layout::Layout;
use crate::policy::{LARGEST_FILE, LONGEST_QUESTION, LONGEST_SUITE, LOOK, MOST_MEMORY, NEARLY};
use crate::status::{ByStatus, Outputs};
use crate::walls::{CACHE, Walls};
use anyhow::{Context, anyhow, bail};
use assay_data::system_error::reason;
use assay_data::test_results::TestStatus;
use assay_measure::clock::now_seconds;
use assay_measure::room::Room;
use assay_measure::sandbox::SandboxedCommand;
use assay_measure::{Command, Outcome, RunOptions, RunResult, Runner, Watching, interrupt};
use assay_mutate::mutants::Language;
use assay_suites::programs::Program;
use assay_suites::run::Run;
use assay_suites::{Answer, Call, Framework, Request, RunRequirements, add_to_environment, events};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use std::{fs, io};

/// The tests of a project, with the way in which the user starts them.
#[derive(Debug)]
pub(crate) struct Suite {
    pub framework: Box<dyn Framework>,
    pub argv: Vec<OsString>,
    /// The top of the project.
    pub root: PathBuf,
    /// The directory in which the command is started, relative to `root`.
    pub below: PathBuf,
    /// The sandbox in which the tests run.
    pub walls: Walls,
    /// The packages that Python imports from the copy.
    pub layout: Layout,
    /// Ends the runs at the time limit.
    pub guard: Guard,
    /// Judges the command by its exit status; set only if it reports no tests.
    pub by_status: OnceLock<ByStatus>,
    /// The output of each test without a change.
    pub outputs: OnceLock<Outputs>,
}

/// The result of a run.
#[derive(Debug)]
pub(crate) struct SuiteRun {
    /// The reported tests; `None` if nothing was reported.
    pub run: Option<Run>,
    /// Outcome of the process.
    pub outcome: Outcome,
    /// Duration, s.
    pub seconds: f64,
    /// Total CPU time of its processes, s.
    pub computed: f64,
    /// The line of the output that is most informative about a failure.
    pub said: Option<String>,
    /// The whole output, if no tests were reported.
    pub text: String,
    /// The reason why its report cannot be read.
    pub unread: Option<String>,
    /// Standard output of the run.
    pub output: Vec<u8>,
}

impl SuiteRun {
    /// Returns the failed tests: their names, which may differ from those in a run without a
    /// change, and their selectors.
    pub fn failed(&self) -> Vec<(&str, Option<&str>)> {
        let tests = self.run.iter().flat_map(|run| &run.tests);
        let failed = tests.filter(|test| test.status == TestStatus::Failed);
        failed.map(|test| (test.name.as_str(), test.id.as_deref())).collect()
    }
}

/// The limits of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunLimits {
    /// Time limit.
    pub limit: Duration,
    /// CPU time limit of each process, s; `None` means no limit.
    pub computing: Option<u64>,
    /// True if the run is ended as soon as a test fails.
    pub stops: bool,
}

impl RunLimits {
    /// The limits of a complete run, which may take any time.
    pub const WHOLE: Self = Self { limit: LONGEST_SUITE, computing: None, stops: false };
}

/// Runs suites, one at a time, with its own launcher and its own temporary directory.
pub(crate) struct Runs {
    pub runner: Runner,
    room: Room,
    count: usize,
}

impl Runs {
    /// Starts a launcher and creates a temporary directory.
    ///
    /// # Errors
    /// If the launcher or the directory cannot be created.
    pub fn start() -> anyhow::Result<Self> {
        let room = Room::temporary().map_err(|(parent, error)| {
            anyhow!(
                "{}: {}; set TMPDIR to a directory for temporary files",
                parent.display(),
                reason(&error)
            )
        })?;
        Ok(Self { runner: Runner::start()?, room, count: 0 })
    }

    /// Returns the private directory, which persists between runs.
    pub fn place(&self) -> &Path {
        self.room.path()
    }

    /// Gives other runs the packages that Go has compiled in these runs, including the standard
    /// library: in the sandbox, Go's cache starts empty. The files are shared, since Go never
    /// changes their contents.
    ///
    /// # Errors
    /// If something cannot be read or linked.
    pub fn share_compiled(&self, others: &Self) -> io::Result<()> {
        let cache = |own: &Self| own.place().join(CACHE).join("go-build");
        let mut open = vec![(cache(self), cache(others))];
        while let Some((from, to)) = open.pop().filter(|(from, _)| from.is_dir()) {
            fs::create_dir_all(&to)?;
            for entry in fs::read_dir(&from)? {
                let entry = entry?;
                let to = to.join(entry.file_name());
                if entry.file_type()?.is_dir() {
                    open.push((entry.path(), to));
                } else {
                    fs::hard_link(entry.path(), to)?;
                }
            }
        }
        Ok(())
    }
}

impl Suite {
    /// Returns the language for which the framework reports, for each function, which tests use it;
    /// `None` if there is none. For other languages at most files are recorded. Even a file that no
    /// test was seen to use may then be part of something that the tests use.
    pub fn sees(&self) -> Option<Language> {
        match self.framework.name() {
            "rspec" | "minitest" | "test-unit" => Some(Language::Ruby),
            "pytest" | "unittest" => Some(Language::Python),
            _ => None,
        }
    }

    /// Returns a copy of a directory in which the tests can run.
    ///
    /// # Errors
    /// If something cannot be read or written.
    pub fn copy(&self, top: &Path) -> anyhow::Result<Copy> {
        let copy = Copy::of(top)?;
        let own = copy.top();
        self.layout.install(&own).with_context(|| own.display().to_string())?;
        self.walls.hand_over(copy.place())?;
        Ok(copy)
    }

    /// Runs the tests in the copy at `top`.
    ///
    /// # Errors
    /// If the run cannot be started. A run that fails, crashes or hangs is a result.
    pub fn run(
        &self,
        runs: &mut Runs,
        top: &Path,
        wanted: &RunRequirements,
        how: RunLimits,
    ) -> anyhow::Result<SuiteRun> {
        let ask = |room: &Path| Ok(self.framework.ask(&self.call(top), wanted, room)?);
        self.run_request(runs, top, ask, how)
    }

    /// Builds what runs need without running a test. Returns whether that succeeded, and the
    /// output, which contains every error if `told` is true; `None` if only a test run builds.
    ///
    /// # Errors
    /// If the build cannot be started.
    pub fn build(
        &self,
        runs: &mut Runs,
        top: &Path,
        told: bool,
    ) -> anyhow::Result<Option<(bool, String)>> {
        let request = self.framework.builds(&self.call(top), told);
        let Some(request) = request else { return Ok(None) };
        let how = RunLimits::WHOLE;
        let ran = self.run_request(runs, top, |_| Ok(request), how)?;
        Ok(Some((ran.outcome == Outcome::Exited(0), ran.text)))
    }

    /// Runs test programs recorded by an earlier run; `None` if they can only be run through the
    /// framework.
    ///
    /// # Errors
    /// If they cannot be started.
    pub fn again(
        &self,
        runs: &mut Runs,
        top: &Path,
        (programs, kept): (&[&Program], &Path),
        how: RunLimits,
    ) -> anyhow::Result<Option<SuiteRun>> {
        let has = |room: &Path| self.framework.again(programs, kept, how.stops, room);
        if has(kept).is_none() {
            return Ok(None);
        }
        let ask = |room: &Path| has(room).context("it cannot be queried this way");
        self.run_request(runs, top, ask, how).map(Some)
    }

    /// Builds what runs need, and records in a directory the invocations of compilers on the
    /// project's own code; `None` if these cannot be recorded or the build fails.
    pub fn compilers(&self, runs: &mut Runs, top: &Path, kept: &Path) -> Option<()> {
        let request = self.framework.compiles(&self.call(top), kept)?;
        let how = RunLimits::WHOLE;
        let ran = self.run_request(runs, top, |_| Ok(request), how).ok()?;
        (ran.outcome == Outcome::Exited(0)).then_some(())
    }

    /// Returns the command with which a driver runs the tests in the copy at `top`; `None` if the
    /// framework does not support drivers.
    pub fn driven(&self, top: &Path, driver: &Path) -> Option<Request> {
        self.framework.driven(&self.call(top), driver)
    }

    /// Returns true if a driver can run the tests.
    pub fn is_driven(&self) -> bool {
        self.driven(&self.root, Path::new("")).is_some()
    }

    /// Returns the command that prints the compiled code of a package, with the settings of the
    /// tests; `None` if there is no such command.
    pub fn code(&self, top: &Path) -> Option<Vec<OsString>> {
        self.framework.code(&self.call(top))
    }

    /// Returns, for each of these tests of a run in the copy at `top`, the file that contains it,
    /// relative to the directory of the tests; `None` if the test's name includes the file, or if
    /// the file is unknown.
    pub fn files(&self, top: &Path, tests: &[&str]) -> Vec<Option<String>> {
        self.framework.files(&self.call(top), tests)
    }

    /// Returns the user's command for the copy at `top`.
    fn call(&self, top: &Path) -> Call {
        let argv: Vec<OsString> = self.argv.iter().map(|word| self.moved(word, top)).collect();
        Call::new(&argv, &top.join(&self.below))
    }

    fn run_request(
        &self,
        runs: &mut Runs,
        top: &Path,
        ask: impl FnOnce(&Path) -> anyhow::Result<Request>,
        how: RunLimits,
    ) -> anyhow::Result<SuiteRun> {
        if interrupt::count() > 0 {
            bail!("interrupted before anything was changed, or while a change was tried");
        }
        if self.guard.is_over() {
            bail!(TimeIsUp);
        }
        runs.count += 1;
        let room = runs.room.path().join(runs.count.to_string());
        fs::create_dir(&room).with_context(|| room.display().to_string())?;
        let ran = ask(&room).and_then(|request| self.run_in(runs, &room, top, &request, how));
        // If a test made something in it unreadable, it is removed together with the parent
        // directory.
        let _stays = fs::remove_dir_all(&room);
        // A run that was ended early has no result.
        if interrupt::count() > 0 {
            bail!("interrupted before anything was changed, or while a change was tried");
        }
        if self.guard.is_over() { Err(TimeIsUp.into()) } else { ran }
    }

    fn run_in(
        &self,
        runs: &mut Runs,
        room: &Path,
        top: &Path,
        request: &Request,
        how: RunLimits,
    ) -> anyhow::Result<SuiteRun> {
        let directory = top.join(&self.below);
        request
            .write()
            .map_err(|(path, error)| anyhow!("{}: {}", path.display(), reason(&error)))?;
        self.walls.hand_over(runs.room.path())?;
        let (command, _limits) =
            self.command(request, how.computing, top, &directory, runs.room.path())?;
        let subject = runs.runner.add(&command)?;
        let options =
            RunOptions { timeout: Some(how.limit), end_strays: true, ..RunOptions::default() };
        // If hooks write events while tests run, a failure is seen before the run ends.
        let events = request.env.iter().find(|(name, _)| name == "ASSAY_TESTS");
        let events = events.and_then(|(_, value)| value.strip_prefix("path:")).map(PathBuf::from);
        let mut is_ended = false;
        let mut ends = |_: &assay_measure::OutputSoFar<'_>| {
            let run = events.as_deref().and_then(|path| events::read(path).ok().flatten());
            let failed = |run: &Run| run.tests.iter().any(|own| own.status == TestStatus::Failed);
            is_ended = run.is_some_and(|run| failed(&run));
            is_ended
        };
        let watching = Watching { every: LOOK, also: &[], ends: &mut ends };
        let watching = (how.stops && events.is_some()).then_some(watching);
        let began = now_seconds();
        let result = runs.runner.run_watched(subject, options, watching)?;
        let bytes = |kept: &Option<assay_measure::KeptOutput>| {
            kept.as_ref().map(|kept| kept.bytes.clone()).unwrap_or_default()
        };
        let (output, errors) = (bytes(&result.output), bytes(&result.errors));
        let answer = answer(room, &directory, &result, (&output, &errors), began);
        let mut unread = None;
        let run = match self.by_status.get() {
            Some(own) => own.run(result.outcome, &output, &errors),
            None => match self.framework.read(&answer) {
                Ok(run) => Some(match self.outputs.get() {
                    Some(outputs) => outputs.held_against(run),
                    None => run,
                }),
                Err(error) => {
                    unread = Some(error.to_string());
                    None
                }
            },
        };
        // If a child was ended for its CPU usage, its parent reports that in its own way. Therefore
        // the CPU time is checked here.
        let computed = result.user_seconds + result.system_seconds;
        let is_endless = how.computing.is_some_and(|most| computed >= most as f64 * NEARLY);
        let outcome = match result.outcome {
            _ if is_ended => Outcome::Exited(1),
            Outcome::Exited(0) => Outcome::Exited(0),
            _ if is_endless => Outcome::TimedOut,
            outcome => outcome,
        };
        let is_told = run.as_ref().is_some_and(|run| !run.tests.is_empty());
        let text = if is_told { Vec::new() } else { [&errors[..], b"\n", &output].concat() };
        let text = String::from_utf8_lossy(&text).into_owned();
        let (seconds, said) = (result.wall_seconds, answer.message());
        Ok(SuiteRun { run, outcome, seconds, computed, said, text, unread, output })
    }

    /// Returns the output of a program, run in the sandbox, that runs no tests; `None` if it cannot
    /// be run or fails.
    pub fn output_of(&self, runs: &mut Runs, top: &Path, argv: Vec<OsString>) -> Option<Vec<u8>> {
        let room = runs.room.path();
        self.walls.hand_over(room).ok()?;
        let directory = top.join(&self.below);
        let argv = limited(argv, true, None);
        let env = self.environment(top);
        let (command, _limits) = self.walls.command(argv, env, &directory, (top, room)).ok()?;
        let subject = runs.runner.add(&Command { keep_output: true, ..command }).ok()?;
        let options = RunOptions {
            timeout: Some(LONGEST_QUESTION),
            end_strays: true,
            ..RunOptions::default()
        };
        let result = runs.runner.run_watched(subject, options, None).ok()?;
        let is_fine = result.outcome == Outcome::Exited(0);
        result.output.filter(|_| is_fine).map(|kept| kept.bytes)
    }

    /// Returns the environment variables that refer to the project, changed to refer to the copy at
    /// `top`.
    pub fn environment(&self, top: &Path) -> BTreeMap<String, String> {
        let mut env = BTreeMap::new();
        for (name, value) in std::env::vars() {
            let own = self.moved(OsStr::new(&value), top).into_string().unwrap_or_default();
            if own != value {
                env.insert(name, own);
            }
        }
        self.layout.add(&mut env, &self.root, top);
        env
    }

    /// Replaces the project's path by the copy's in a text.
    pub fn moved(&self, text: &OsStr, top: &Path) -> OsString {
        let (Some(text), Some(from), Some(to)) = (text.to_str(), self.root.to_str(), top.to_str())
        else {
            return text.to_owned();
        };
        let mut moved = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(from).filter(|_| from.len() > 1) {
            let (before, found) = rest.split_at(at);
            let after = &found[from.len()..];
            moved += before;
            let is_whole = after.is_empty() || after.starts_with(['/', ':', ' ', '\'', '"']);
            moved += if is_whole { to } else { from };
            rest = after;
        }
        OsString::from(moved + rest)
    }

    /// Returns the command of a run: the framework's request, with the environment that it needs
    /// and with limits.
    fn command(
        &self,
        request: &Request,
        computing: Option<u64>,
        top: &Path,
        directory: &Path,
        room: &Path,
    ) -> anyhow::Result<(Command, Option<SandboxedCommand>)> {
        let argv = limited(request.argv.clone(), self.sees().is_some(), computing);
        let mut env = self.environment(top);
        add_to_environment(&mut env, &request.env, &request.options, &request.paths);
        let (command, entered) = self.walls.command(argv, env, directory, (top, room))?;
        Ok((Command { keep_output: true, keep_errors: true, ..command }, entered))
    }
}

/// Wraps a command in limits on the size of files written, on the CPU time of each process (s),
/// and, if `of_memory` is true, on address space. Some programs reserve much more memory than they
/// use.
pub(crate) fn limited(
    argv: Vec<OsString>,
    of_memory: bool,
    computing: Option<u64>,
) -> Vec<OsString> {
    // The first limit is in blocks of 512 bytes, the second in KiB.
    let mut limits = format!("ulimit -c 0; ulimit -f {}", LARGEST_FILE * 2048);
    if let Some(most) = computing {
        limits += &format!("; ulimit -S -t {most}");
    }
    if of_memory {
        limits += &format!("; ulimit -v {}", MOST_MEMORY * 1024);
    }
    let shell = format!("{limits}; exec \"$@\"");
    let shell = ["/bin/sh", "-c", &shell, "sh"].map(OsString::from);
    shell.into_iter().chain(argv).collect()
}

fn answer<'a>(
    room: &'a Path,
    directory: &'a Path,
    result: &RunResult,
    (output, errors): (&'a [u8], &'a [u8]),
    began: f64,
) -> Answer<'a> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    let since_1970 = since - now_seconds();
    let ended = began + result.wall_seconds;
    Answer { room, directory, output, errors, began, ended, since_1970 }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;

    #[test]
    fn what_go_compiled_is_there_for_other_runs() {
        let (first, second) = (Runs::start().unwrap(), Runs::start().unwrap());
        first.share_compiled(&second).unwrap();
        assert!(!second.place().join(CACHE).exists());
        let below = Path::new(CACHE).join("go-build/0a");
        fs::create_dir_all(first.place().join(&below)).unwrap();
        fs::write(first.place().join(&below).join("x-d"), "compiled").unwrap();
        first.share_compiled(&second).unwrap();
        assert_eq!(fs::read(second.place().join(&below).join("x-d")).unwrap(), b"compiled");
    }

    #[test]
    fn what_names_the_project_names_its_copy() {
        let framework = assay_suites::frameworks::by_name("pytest").unwrap();
        let (root, below) = (PathBuf::from("/home/me/a"), PathBuf::new());
        let walls = Walls::of(true, &[], (&root, &[])).unwrap();
        let (layout, guard) = (Layout::default(), Guard::default());
        let (by_status, outputs) = (OnceLock::new(), OnceLock::new());
        let argv = Vec::new();
        let suite =
            Suite { framework, argv, root, below, walls, layout, guard, by_status, outputs };
        let moved = |text: &str| suite.moved(OsStr::new(text), Path::new("/t"));
        assert_eq!(moved("/home/me/a/bin:/home/me/ab:/home/me/a"), "/t/bin:/home/me/ab:/t");
        assert_eq!(moved("--root=/home/me/a"), "--root=/t");
        assert_eq!(moved("nothing"), "nothing");
    }
}
