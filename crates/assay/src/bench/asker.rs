//! Puts requests to benchmark programs, one process at a time, and hands back what they answered.

use super::Side;
use crate::run_error::RunError;
use anyhow::Context;
use assay_harness::{Answer, Reply, Request};
use assay_measure::counters::{self, Count, Counters, Event, Refusal};
use assay_measure::{MeasureError, Outcome, RunOptions, RunResult, Runner, SubjectId, interrupt};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What came of one run.
#[derive(Debug)]
pub(crate) struct Ran {
    /// What it answered.
    pub reply: Reply,
    /// How long it took, and how it ended.
    pub result: RunResult,
    /// What the machine counted, for each event that it was told to watch; nothing where an event was lost.
    pub counts: Vec<Option<Count>>,
}

impl Ran {
    /// How it failed, in words that end a sentence; `None` when it ended well.
    pub fn failure(&self) -> Option<String> {
        let how = match self.result.outcome {
            Outcome::Exited(0) => return None,
            how @ (Outcome::Exited(_) | Outcome::Signalled(_)) => how,
            Outcome::TimedOut => {
                return Some("took longer than --timeout allows, and was ended".to_owned());
            }
            how @ (Outcome::WantedTerminal | Outcome::Stopped) => return Some(how.to_string()),
        };
        let said = [&self.reply.errors, &self.reply.output].into_iter().find_map(|bytes| {
            let text = String::from_utf8_lossy(bytes);
            // Google Benchmark's warnings stand there whatever happens.
            let said = |line: &&str| !line.is_empty() && !line.starts_with("***WARNING***");
            let line = text.lines().rev().map(str::trim).find(said)?;
            Some(line.chars().take(200).collect::<String>())
        });
        Some(match said {
            Some(said) => format!("{how}; it said: {said}"),
            None => format!("{how}, and said nothing"),
        })
    }
}

/// A request that was taught to the runner, to be put as often as is wished.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    id: SubjectId,
    answer: Answer,
    files: Vec<(PathBuf, String)>,
    scratch: PathBuf,
}

/// Asks programs.
pub(crate) struct Asker {
    runner: Runner,
    scratch: assay_measure::room::Room,
    /// After so long a run is ended.
    timeout: Duration,
    directories: usize,
    /// What the machine counts, on the launcher of this process number.
    watched: Option<(Option<u32>, Counters)>,
}

impl Asker {
    /// Starts the launcher and makes a directory for answers.
    ///
    /// # Errors
    /// When the system lets us do neither.
    pub fn start(timeout: Duration) -> anyhow::Result<Self> {
        let scratch = crate::room::temporary()?;
        Ok(Self { runner: Runner::start()?, scratch, timeout, directories: 0, watched: None })
    }

    /// Has the machine count these events of every run from here on. What it can't count is reported.
    pub fn watch(&mut self, events: &[Event]) -> Vec<Refusal> {
        let process = self.runner.launcher_process_id();
        let (counters, refusals) = counters::open(process.unwrap_or(0), events);
        self.watched = Some((process, counters));
        refusals
    }

    /// What was counted since the last run ended. Counters go with the launcher that they were opened on: if somebody killed that one,
    /// they are opened on the next, and this run is not counted.
    fn counts(&mut self) -> Vec<Option<Count>> {
        let Some((process, counters)) = &mut self.watched else { return Vec::new() };
        if *process == self.runner.launcher_process_id() {
            return counters.take();
        }
        let events = counters.events().to_vec();
        self.watch(&events);
        vec![None; events.len()]
    }

    /// A directory of its own for the files of one request.
    ///
    /// # Errors
    /// When it can't be made.
    pub fn directory(&mut self) -> anyhow::Result<PathBuf> {
        self.directories += 1;
        let path = self.scratch.path().join(self.directories.to_string());
        fs::create_dir(&path).with_context(|| path.display().to_string())?;
        Ok(path)
    }

    /// Makes a request ready; `scratch` is emptied before each time it is put.
    ///
    /// # Errors
    /// When the program can't be found, or can't be given such a request.
    pub fn prepare(
        &mut self,
        side: &Side,
        request: &Request,
        scratch: &Path,
    ) -> Result<Question, RunError> {
        self.prepare_command(&side.asking(request), request, scratch)
    }

    /// The same for the command of a request that was wrapped otherwise.
    ///
    /// # Errors
    /// As for [`Asker::prepare`].
    pub fn prepare_command(
        &mut self,
        command: &assay_measure::Command,
        request: &Request,
        scratch: &Path,
    ) -> Result<Question, RunError> {
        let id = self.runner.add(command)?;
        let (answer, files) = (request.answer.clone(), request.files.clone());
        Ok(Question { id, answer, files, scratch: scratch.to_path_buf() })
    }

    /// Puts a request, with so many bytes of padding in the environment.
    ///
    /// # Errors
    /// [`RunError::Interrupted`] when the user ended it; [`MeasureError::LostRun`] when somebody killed the launcher, which is there
    /// again; what else keeps a program from being started.
    pub fn put(&mut self, question: &Question, padding: u16) -> Result<Ran, RunError> {
        empty(&question.scratch)?;
        for (path, text) in &question.files {
            let above = path.parent().map_or(Ok(()), fs::create_dir_all);
            above
                .and_then(|()| fs::write(path, text))
                .map_err(|error| RunError::Reading(format!("{}: {error}", path.display())))?;
        }
        let options = RunOptions {
            pad: padding,
            timeout: Some(self.timeout),
            end_strays: true,
            ..RunOptions::default()
        };
        let result = self.runner.run(question.id, options)?;
        if interrupt::count() > 0 && !result.outcome.is_success() {
            // The terminal sends Ctrl-C to the program as well.
            return Err(RunError::Interrupted("in a run, which is not kept".to_owned()));
        }
        let bytes = |kept: &Option<assay_measure::Kept>| {
            kept.as_ref().map(|kept| kept.bytes.clone()).unwrap_or_default()
        };
        let reply = Reply {
            output: bytes(&result.output),
            errors: bytes(&result.errors),
            success: result.outcome.is_success(),
            answer: question.answer.clone(),
            own: Vec::new(),
        };
        let counts = self.counts();
        Ok(Ran { reply, result, counts })
    }

    /// Makes a request ready and puts it once, again if its run is lost.
    ///
    /// # Errors
    /// As for [`Asker::prepare`] and [`Asker::put`].
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

/// Empties a directory of our own, which a program may have filled with whatever it likes.
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
    emptied.map_err(|error| RunError::Reading(format!("{}: {error}", directory.display())))
}
