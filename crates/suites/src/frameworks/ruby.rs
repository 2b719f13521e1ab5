//! rspec, minitest and test-unit. A hook loaded through `RUBYOPT` makes them report, regardless of
//! the command that starts them, and records which framework it found.

use super::{EVENTS, Framework, Orders, hooked, hooks_beside, ordered, seed};
use crate::asking::{Answer, Request, RunRequirements};
use crate::call::Call;
use crate::error::SuiteError;
use crate::run::Run;
use crate::watching::Watch;
use crate::{events, reports};
use std::path::Path;

/// File name of the hook that loads the others.
const HOOK: &str = "assay_tests.rb";

/// Adds the Ruby hook to a request for a test run.
fn with_hook(request: Request, wanted: &RunRequirements, room: &Path) -> Request {
    loaded(hooked(request, wanted, room), room)
}

/// Adds to a request the option in `RUBYOPT` that loads the hook into Ruby processes.
pub(super) fn loaded(mut request: Request, room: &Path) -> Request {
    let option = format!("-r{}", hooks_beside(room).join(HOOK).display());
    request.options.push(("RUBYOPT".to_owned(), option));
    request
}

fn read(answer: &Answer<'_>) -> Result<Run, SuiteError> {
    let run = events::read(&answer.room.join(EVENTS))?;
    run.ok_or_else(|| SuiteError::NoReport { said: answer.message() })
}

/// Returns the messages of a report of rspec that belong to the suite rather than to an example.
fn messages(report: &Path) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Messages {
        messages: Vec<String>,
    }
    let bytes = std::fs::read(report).ok()?;
    let found: Messages = serde_json::from_slice(&bytes).ok()?;
    crate::error::message(b"", found.messages.join("\n").as_bytes())
}

/// rspec.
#[derive(Debug)]
pub(super) struct Rspec;

impl Framework for Rspec {
    fn name(&self) -> &'static str {
        "rspec"
    }

    fn knows(&self, call: &Call) -> bool {
        let is_task =
            call.is(&["rake"]) && call.verb().is_some_and(|task| task.starts_with("spec"));
        call.is(&["rspec", "parallel_rspec", "turbo_tests"]) || is_task
    }

    fn covers(&self) -> bool {
        true
    }

    fn orders(&self) -> Orders {
        Orders::Any
    }

    fn ask(
        &self,
        call: &Call,
        wanted: &RunRequirements,
        room: &Path,
    ) -> Result<Request, SuiteError> {
        let is_rspec = call.is(&["rspec"]);
        let mut options = Vec::new();
        let mut task_options = Vec::new();
        if is_rspec {
            // Fallback in case the hook is not loaded, for example because the command clears the
            // environment.
            let report = room.join("report.json").display().to_string();
            options.extend(["--format".to_owned(), "json".to_owned(), "--out".to_owned(), report]);
        }
        if let Some(seed) = seed(wanted) {
            match is_rspec {
                true => options.extend(["--order".to_owned(), format!("rand:{seed}")]),
                false => {
                    task_options.push(("SPEC_OPTS".to_owned(), format!("--order rand:{seed}")))
                }
            }
        }
        let mut request = with_hook(Request::words(call.with_options(&options)), wanted, room);
        request.options.extend(task_options);
        Ok(request)
    }

    fn watch(&self, _: &Call, room: &Path) -> Option<Watch> {
        Some(Watch::events(room.join(EVENTS)))
    }

    fn read(&self, answer: &Answer<'_>) -> Result<Run, SuiteError> {
        if let Some(run) = events::read(&answer.room.join(EVENTS))? {
            return Ok(run);
        }
        let report = answer.room.join("report.json");
        let results = reports::of_file(&report, answer);
        // A report without examples has only messages, for example if a file cannot be loaded.
        let results = results.map_err(|error| match error {
            SuiteError::Garbage { .. } => {
                SuiteError::NoReport { said: messages(&report).or_else(|| answer.message()) }
            }
            other => other,
        })?;
        Ok(reports::run(results, "rspec", answer))
    }

    fn list(&self, call: &Call, room: &Path) -> Result<Request, SuiteError> {
        let report = room.join("report.json").display().to_string();
        let options = ["--dry-run", "--format", "json", "--out", &report].map(str::to_owned);
        Ok(Request::words(call.with_options(&options)))
    }

    fn listed(&self, answer: &Answer<'_>) -> Result<Vec<String>, SuiteError> {
        let results = reports::of_file(&answer.room.join("report.json"), answer)?;
        Ok(results.tests.into_iter().map(|test| test.name).collect())
    }
}

/// minitest, including Rails tests.
#[derive(Debug)]
pub(super) struct Minitest;

impl Framework for Minitest {
    fn name(&self) -> &'static str {
        "minitest"
    }

    fn knows(&self, call: &Call) -> bool {
        let is_task = |tool: &str, task: &str| {
            call.is(&[tool]) && call.verb().is_some_and(|own| own.starts_with(task))
        };
        call.is(&["ruby", "m", "minitest", "parallel_test", "jruby", "truffleruby"])
            || is_task("rake", "test")
            || is_task("rails", "test")
            || call.is(&["rake"]) && call.verb().is_none()
    }

    fn covers(&self) -> bool {
        true
    }

    fn orders(&self) -> Orders {
        Orders::Any
    }

    fn ask(
        &self,
        call: &Call,
        wanted: &RunRequirements,
        room: &Path,
    ) -> Result<Request, SuiteError> {
        // minitest reads its seed from `SEED`; for test-unit, the hook sets the seed.
        let request = with_hook(Request::words(call.argv.clone()), wanted, room);
        Ok(match seed(wanted) {
            Some(seed) => ordered(request, wanted).env("SEED", seed.to_string()),
            None => request,
        })
    }

    fn watch(&self, _: &Call, room: &Path) -> Option<Watch> {
        Some(Watch::events(room.join(EVENTS)))
    }

    fn read(&self, answer: &Answer<'_>) -> Result<Run, SuiteError> {
        read(answer)
    }
}

/// test-unit. Its commands cannot be distinguished from those of minitest.
#[derive(Debug)]
pub(super) struct TestUnit;

impl Framework for TestUnit {
    fn name(&self) -> &'static str {
        "test-unit"
    }

    fn knows(&self, call: &Call) -> bool {
        call.is(&["testrb", "test-unit"])
    }

    fn covers(&self) -> bool {
        true
    }

    fn orders(&self) -> Orders {
        Orders::Any
    }

    fn ask(
        &self,
        call: &Call,
        wanted: &RunRequirements,
        room: &Path,
    ) -> Result<Request, SuiteError> {
        Minitest.ask(call, wanted, room)
    }

    fn watch(&self, _: &Call, room: &Path) -> Option<Watch> {
        Some(Watch::events(room.join(EVENTS)))
    }

    fn read(&self, answer: &Answer<'_>) -> Result<Run, SuiteError> {
        read(answer)
    }
}
