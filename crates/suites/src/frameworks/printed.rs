//! Commands that print TAP or JUnit XML, or write it to a file. No options are added to them. An
//! unknown command may start a framework that can be made to report through the environment alone
//! (pytest, rspec, minitest, test-unit, mocha, jasmine, jest, vitest, `node --test`).

use super::{EVENTS, Framework, KNOWN, Orders, hooked, javascript, python, ruby, seed};
use crate::asking::{Answer, Request, RunRequirements};
use crate::call::{Call, is_variable};
use crate::error::SuiteError;
use crate::run::Run;
use crate::watching::Watch;
use crate::{events, reports};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

fn request(call: &Call, wanted: &RunRequirements) -> Result<Request, SuiteError> {
    let unable =
        |what: &str| SuiteError::Unable { framework: "this command", what: what.to_owned() };
    if seed(wanted).is_some() {
        return Err(unable("has no random order that assay can request; use --order given"));
    }
    if wanted.only.is_some() {
        return Err(unable("can't run only some of its tests"));
    }
    Ok(Request::words(call.argv.clone()))
}

/// A command that prints its report.
#[derive(Debug)]
pub(super) struct Printed {
    /// True if frameworks that the command may start are made to report through the environment.
    pub looks: bool,
}

impl Framework for Printed {
    fn name(&self) -> &'static str {
        "tap"
    }

    fn knows(&self, _: &Call) -> bool {
        false
    }

    fn orders(&self) -> Orders {
        Orders::No
    }

    fn ask(
        &self,
        call: &Call,
        wanted: &RunRequirements,
        room: &Path,
    ) -> Result<Request, SuiteError> {
        let request = request(call, wanted)?;
        if !self.looks {
            return Ok(request);
        }
        let cure = room.join(CURE);
        let request = hooked(
            request,
            &RunRequirements { causes: wanted.causes, ..RunRequirements::default() },
            room,
        )
        .file(cure, cure_for(call).unwrap_or_default());
        let request = ruby::loaded(python::loaded(request, room), room);
        let behind = call.behind().join("\n");
        let runs_node = behind.contains("node") && behind.contains("--test");
        let request = javascript::loaded(request, runs_node, room);
        Ok(call.through_env(request))
    }

    fn watch(&self, _: &Call, _: &Path) -> Option<Watch> {
        Some(Watch::tap())
    }

    fn read(&self, answer: &Answer<'_>) -> Result<Run, SuiteError> {
        let found = if self.looks { events::read(&answer.room.join(EVENTS))? } else { None };
        let (told, broken) = match found {
            Some(run) if !run.tests.is_empty() || !run.unfinished.is_empty() => (Some(run), None),
            other => (None, other.filter(|run| !run.faults.is_empty())),
        };
        if let Some(run) = told {
            return Ok(run);
        }
        // A framework that ran no tests can only report faults; another one may have run the tests.
        match (reports::printed(answer.output)?, broken) {
            (Some(results), broken) => {
                let mut run = reports::run(results, "", answer);
                run.faults.extend(broken.into_iter().flat_map(|run| run.faults));
                Ok(run)
            }
            (None, Some(run)) => Ok(run),
            (None, None) => {
                let cure = std::fs::read_to_string(answer.room.join(CURE)).ok();
                Err(SuiteError::Unknown {
                    said: answer.message().unwrap_or_else(|| "nothing".to_owned()),
                    cure: cure.filter(|cure| !cure.is_empty()).unwrap_or_else(|| {
                        format!(
                            "known are {}. Name it with --framework, or have it print TAP, or write JUnit XML: --framework junit:FILE",
                            super::names().join(", ")
                        )
                    }),
                })
            }
        }
    }
}

/// Name of the file in the directory of a run that contains advice for a command that reports
/// nothing.
const CURE: &str = "cure.txt";

/// Returns advice for a command that starts a framework in a way that assay cannot observe, which
/// is usually to run the framework's own command line instead.
fn cure_for(call: &Call) -> Option<String> {
    if call.is(&["tox", "nox"]) {
        let own = call.program();
        return Some(format!(
            "{own} runs tests in its own environment, which assay cannot reach: run what it runs there, as in `assay tests -- .{own}/py/bin/python -m pytest`"
        ));
    }
    if call.is(&["ava"]) && !call.has(&["--tap", "-t"]) {
        let line: Vec<_> = call.with_options(&["--tap".to_owned()]);
        let line: Vec<_> = line.iter().map(|word| word.to_string_lossy()).collect();
        return Some(format!(
            "ava prints the results of tests with --tap: `assay tests -- {}`",
            line.join(" ")
        ));
    }
    if call.is(&["prove"]) && !call.has(&["-v", "--verbose"]) {
        let line: Vec<_> = call.with_options(&["-v".to_owned()]);
        let line: Vec<_> = line.iter().map(|word| word.to_string_lossy()).collect();
        return Some(format!(
            "prove prints the results of tests with -v: `assay tests -- {}`",
            line.join(" ")
        ));
    }
    let program = call.line();
    let (env, line) = framework_line(call)?;
    let env: String = env.iter().map(|own| format!("--env {own} ")).collect();
    Some(format!(
        "`{program}` runs `{line}`, but passes nothing on to it: name that command itself, as in `assay tests {env}-- {line}`"
    ))
}

/// Finds the first command of a known framework among the lines that a call may run
/// ([`Call::behind`]). Returns the variables that are set for the command, and the command.
fn framework_line(call: &Call) -> Option<(Vec<String>, String)> {
    let is_set = |word: &str| {
        word.split_once('=').is_some_and(|(name, value)| is_variable(name) && !value.contains('$'))
    };
    let mut exported: Vec<String> = Vec::new();
    for line in call.behind() {
        let line = line.trim().trim_start_matches(['@', '-', '+']);
        for part in line.split("&&").flat_map(|part| part.split(';')).map(str::trim) {
            if part.starts_with('#') {
                continue;
            }
            let mut words: Vec<&str> = part.split_whitespace().collect();
            if words.first() == Some(&"export") {
                exported.extend(words.iter().filter(|w| is_set(w)).map(|w| (*w).to_owned()));
                continue;
            }
            let is_start = |word: &&str| *word == "exec" || *word == "time" || is_set(word);
            let begins = words.iter().take_while(|word| is_start(word)).count();
            let rest = words.split_off(begins);
            if rest.is_empty() {
                continue;
            }
            let known =
                Call::new(&rest.iter().map(OsString::from).collect::<Vec<_>>(), &call.directory);
            if KNOWN.iter().any(|framework| framework.knows(&known)) {
                exported.extend(words.iter().filter(|w| is_set(w)).map(|w| (*w).to_owned()));
                return Some((exported, rest.join(" ")));
            }
        }
    }
    None
}

/// A command that writes its report to a file.
#[derive(Debug)]
pub(super) struct Written {
    pub file: PathBuf,
}

impl Framework for Written {
    fn name(&self) -> &'static str {
        "report"
    }

    fn knows(&self, _: &Call) -> bool {
        false
    }

    fn orders(&self) -> Orders {
        Orders::No
    }

    fn ask(&self, call: &Call, wanted: &RunRequirements, _: &Path) -> Result<Request, SuiteError> {
        request(call, wanted)
    }

    fn read(&self, answer: &Answer<'_>) -> Result<Run, SuiteError> {
        let path = answer.directory.join(&self.file);
        let changed = std::fs::metadata(&path).and_then(|file| file.modified()).ok();
        let changed = changed.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        let began = answer.began + answer.since_1970;
        if changed.is_none_or(|time| time.as_secs_f64() < began - 0.02) {
            let file = self.file.display().to_string();
            return Err(SuiteError::NotWritten { file, said: answer.message() });
        }
        Ok(reports::run(reports::of_file(&path, answer)?, "", answer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_not_be_asked_through_a_script_is_named() {
        let room = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(room.path().join(name), text).unwrap();
        write("Makefile", "test: build\n\t@PYTHONPATH=src python -m pytest -q tests\n");
        write("run.sh", "#!/bin/sh\nset -e\nexport A=b PYTHONPATH=src:$HOME\nexec go test ./...\n");
        let cure = |line: &str| {
            let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
            cure_for(&Call::new(&words, room.path()))
        };
        let make = cure("make test").unwrap();
        let works = "`assay tests --env PYTHONPATH=src -- python -m pytest -q tests`";
        assert!(make.ends_with(works), "{make}");
        for line in ["./run.sh", "sh run.sh", "bash ./run.sh -v"] {
            let script = cure(line).unwrap();
            assert!(script.ends_with("`assay tests --env A=b -- go test ./...`"), "{script}");
        }
        assert!(cure("tox -e py").unwrap().contains(".tox/py/bin/python -m pytest"));
        assert!(cure("prove -r t").unwrap().ends_with("`assay tests -- prove -v -r t`"));
        assert_eq!(cure("prove -v t"), None);
        assert_eq!(cure("./none.sh"), None);
        // Lines that only set variables, and empty parts of lines.
        write("set.sh", "#!/bin/sh\ni=0; while [ $i -lt 3 ]; do i=$((i+1)); exec\ndone;;\nA=b\n");
        assert_eq!(cure("./set.sh"), None);
    }
}
