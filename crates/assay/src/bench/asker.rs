//! Sends requests to benchmark programs, one process or two at a time, and returns their answers.

use super::Side;
use super::turns::Pipes;
use crate::run_error::RunError;
use anyhow::Context;
use assay_data::system_error::reason;
use assay_harness::{Answer, Driver, Reading, Reply, Request, last_line};
use assay_measure::counters::{self, Count, Counters, Event, Refusal};
use assay_measure::{MeasureError, Outcome, RunOptions, RunResult, Runner, SubjectId, interrupt};
use std::fs;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Interval at which a starting process is checked.
const LOOK: Duration = Duration::from_millis(1);

/// The outcome of one run.
#[derive(Debug)]
pub(crate) struct Ran {
    /// The program's answer.
    pub reply: Reply,
    /// Duration and exit status of the run.
    pub result: RunResult,
    /// The count of each watched event by the machine; `None` if it was lost.
    pub counts: Vec<Option<Count>>,
}

impl Ran {
    /// Returns the values of a benchmark; `None` if the run failed, or if the benchmark failed or
    /// was skipped.
    pub fn reading(&self, driver: &dyn Driver, benchmark: &str) -> Option<Reading> {
        let readings = driver.read(&self.reply).ok().filter(|_| self.failure().is_none())?;
        let is_own = |own: &Reading| own.benchmark == benchmark && own.has_values();
        readings.into_iter().find(is_own)
    }

    /// Returns how the run failed, as the end of a sentence, with the program's last message;
    /// `None` if it succeeded.
    pub fn failure(&self) -> Option<String> {
        let how = self.end()?;
        Some(match self.result.outcome {
            Outcome::Exited(_) | Outcome::Signalled(_) => {
                match last_line(&self.reply.errors, &self.reply.output) {
                    Some(said) => format!("{how}; it said: {said}"),
                    None => format!("{how}, and said nothing"),
                }
            }
            _ => how,
        })
    }

    /// Returns how the run failed, as the end of a sentence without the program's output; `None` if
    /// it succeeded.
    pub fn end(&self) -> Option<String> {
        match self.result.outcome {
            Outcome::Exited(0) => None,
            Outcome::TimedOut => {
                Some("took longer than --timeout allows, and was ended".to_owned())
            }
            how => Some(how.to_string()),
        }
    }
}

/// A request registered with the runner, to be sent any number of times.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    id: SubjectId,
    answer: Answer,
    files: Vec<(PathBuf, String)>,
    scratch: PathBuf,
}

impl Question {
    /// Registers a request with a runner.
    fn of(
        runner: &mut Runner,
        command: &assay_measure::Command,
        request: &Request,
        scratch: &Path,
    ) -> Result<Self, RunError> {
        let id = runner.add(command)?;
        let (answer, files) = (request.answer.clone(), request.files.clone());
        Ok(Self { id, answer, files, scratch: scratch.to_path_buf() })
    }

    /// Empties the directory of the request, and creates the files of the request in it.
    fn lay_out(&self) -> Result<(), RunError> {
        empty(&self.scratch)?;
        for (path, text) in &self.files {
            let above = path.parent().map_or(Ok(()), fs::create_dir_all);
            above.and_then(|()| fs::write(path, text)).map_err(|error| {
                RunError::Reading(format!("{}: {}", path.display(), reason(&error)))
            })?;
        }
        Ok(())
    }

    /// Returns the outcome of a run of this request.
    fn ran(&self, result: RunResult, counts: Vec<Option<Count>>) -> Result<Ran, RunError> {
        if interrupt::count() > 0 && !result.outcome.is_success() {
            // The terminal sends Ctrl-C to the program as well.
            return Err(RunError::Interrupted("in a run, which is not kept".to_owned()));
        }
        let bytes = |kept: &Option<assay_measure::KeptOutput>| {
            kept.as_ref().map(|kept| kept.bytes.clone()).unwrap_or_default()
        };
        let reply = Reply {
            output: bytes(&result.output),
            errors: bytes(&result.errors),
            success: result.outcome.is_success(),
            answer: self.answer.clone(),
            own: Vec::new(),
        };
        Ok(Ran { reply, result, counts })
    }
}

/// Returns the runner of the second process, and starts it if necessary. It is started late because
/// few suites need it.
fn second(runner: &mut Option<Runner>) -> Result<&mut Runner, MeasureError> {
    match runner {
        Some(runner) => Ok(runner),
        none => Ok(none.insert(Runner::start()?)),
    }
}

/// Returns the options of a run.
fn options(padding: u16, timeout: Duration) -> RunOptions {
    RunOptions { pad: padding, timeout: Some(timeout), end_strays: true, ..RunOptions::default() }
}

/// Blocks until a process is waiting for its turn or has ended.
fn await_ready(pipes: &Pipes, has_ended: impl Fn() -> bool) {
    while !has_ended() && !pipes.is_ready() {
        std::thread::sleep(LOOK);
    }
}

/// Sends requests to programs.
pub(crate) struct Asker {
    runner: Runner,
    /// Runs the second of two processes that measure in turns.
    second: Option<Runner>,
    scratch: assay_measure::room::Room,
    /// Time after which a run is killed.
    timeout: Duration,
    directories: usize,
    /// The pid of the launcher, and the counters that were opened on it; `None` if no event is
    /// watched.
    watched: Option<(Option<u32>, Counters)>,
}

impl Asker {
    /// Starts the launcher and creates a directory for answers.
    ///
    /// # Errors
    /// Returns an error if the launcher cannot be started or the directory cannot be created.
    pub fn start(timeout: Duration) -> anyhow::Result<Self> {
        let scratch = crate::room::temporary()?;
        let runner = Runner::start()?;
        Ok(Self { runner, second: None, scratch, timeout, directories: 0, watched: None })
    }

    /// Starts counting these events in every run. Returns the events that cannot be counted.
    pub fn watch(&mut self, events: &[Event]) -> Vec<Refusal> {
        let process = self.runner.launcher_process_id();
        let (counters, refusals) = counters::open(process.unwrap_or(0), events);
        self.watched = Some((process, counters));
        refusals
    }

    /// Returns the counts since the end of the previous run. Counters belong to the launcher on
    /// which they were opened. If it was killed, they are opened on its successor, and the counts
    /// of this run are lost.
    fn counts(&mut self) -> Vec<Option<Count>> {
        let Some((process, counters)) = &mut self.watched else { return Vec::new() };
        if *process == self.runner.launcher_process_id() {
            return counters.take();
        }
        let events = counters.events().to_vec();
        self.watch(&events);
        vec![None; events.len()]
    }

    /// Creates a directory for the files of one request.
    ///
    /// # Errors
    /// Returns an error if the directory cannot be created.
    pub fn directory(&mut self) -> anyhow::Result<PathBuf> {
        self.directories += 1;
        let path = self.scratch.path().join(self.directories.to_string());
        fs::create_dir(&path).with_context(|| path.display().to_string())?;
        Ok(path)
    }

    /// Prepares a request. `scratch` is emptied each time before the request is sent.
    ///
    /// # Errors
    /// Returns an error if the program is not found or cannot be given the request.
    pub fn prepare(
        &mut self,
        side: &Side,
        request: &Request,
        scratch: &Path,
    ) -> Result<Question, RunError> {
        self.prepare_command(&side.asking(request), request, scratch)
    }

    /// Like [`Asker::prepare`], for a command that is already wrapped.
    ///
    /// # Errors
    /// See [`Asker::prepare`].
    pub fn prepare_command(
        &mut self,
        command: &assay_measure::Command,
        request: &Request,
        scratch: &Path,
    ) -> Result<Question, RunError> {
        Question::of(&mut self.runner, command, request, scratch)
    }

    /// Like [`Asker::prepare_command`], for the second of two processes.
    ///
    /// # Errors
    /// See [`Asker::prepare`].
    pub fn prepare_second(
        &mut self,
        command: &assay_measure::Command,
        request: &Request,
        scratch: &Path,
    ) -> Result<Question, RunError> {
        Question::of(second(&mut self.second)?, command, request, scratch)
    }

    /// Sends a request, with `padding` bytes added to the environment.
    ///
    /// # Errors
    /// Returns [`RunError::Interrupted`] if the user interrupted the run, [`MeasureError::LostRun`]
    /// if the launcher was killed (it has been restarted then), or any error from starting the
    /// program.
    pub fn put(&mut self, question: &Question, padding: u16) -> Result<Ran, RunError> {
        question.lay_out()?;
        let result = self.runner.run(question.id, options(padding, self.timeout))?;
        let counts = self.counts();
        question.ran(result, counts)
    }

    /// Sends the requests of two processes that measure in turns. The second process starts when
    /// the first waits for its turn, so that neither disturbs the startup of the other. Events are
    /// not counted.
    ///
    /// # Errors
    /// See [`Asker::put`], for both processes.
    pub(super) fn put_two(
        &mut self,
        questions: [&Question; 2],
        paddings: [u16; 2],
        pipes: &Pipes,
    ) -> Result<[Ran; 2], RunError> {
        for question in questions {
            question.lay_out()?;
        }
        pipes.empty();
        // Each also waits for the other.
        let timeout = 2 * self.timeout;
        let (first, second) = (&mut self.runner, second(&mut self.second)?);
        let [one, two] = std::thread::scope(|scope| {
            let start = |runner: &'_ mut Runner, side: usize| {
                let ran = runner.run(questions[side].id, options(paddings[side], timeout));
                pipes.ended(side);
                ran
            };
            let one = scope.spawn(move || start(first, 0));
            await_ready(pipes, || one.is_finished());
            let two = scope.spawn(move || start(second, 1));
            await_ready(pipes, || two.is_finished());
            pipes.give(0);
            [one, two].map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
        });
        let one = questions[0].ran(one?, Vec::new())?;
        Ok([one, questions[1].ran(two?, Vec::new())?])
    }

    /// Prepares a request and sends it once, or again each time the run is lost.
    ///
    /// # Errors
    /// See [`Asker::prepare`] and [`Asker::put`].
    pub fn ask(&mut self, side: &Side, request: &Request, scratch: &Path) -> Result<Ran, RunError> {
        let question = self.prepare(side, request, scratch)?;
        loop {
            match self.put(&question, 0) {
                Err(RunError::Measure(MeasureError::LostRun { .. })) => {}
                other => return other,
            }
        }
    }
}

/// Empties one of our directories, in which a program may have created anything.
fn empty(directory: &Path) -> Result<(), RunError> {
    let emptied = fs::read_dir(directory).and_then(|entries| {
        for entry in entries {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                fs::remove_dir_all(entry.path())?;
            } else {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    });
    emptied
        .map_err(|error| RunError::Reading(format!("{}: {}", directory.display(), reason(&error))))
}
