//! jest, vitest and `node --test`, also behind the scripts of a package.

use super::{Framework, HOOKS, Orders, any_of, hooked, seed, too_old};
use crate::asking::{Answer, Request, Wanted};
use crate::call::Call;
use crate::error::SuiteError;
use crate::run::Run;
use crate::{events, reports};
use std::path::Path;

/// The options that choose tests by their names, without the files that the names begin with.
fn named(wanted: &Wanted) -> Vec<String> {
    let own = |name: &String| name.split_once(": ").map_or(name.clone(), |(_, own)| own.to_owned());
    let only = wanted.only.as_ref().map(|only| only.iter().map(own).collect::<Vec<_>>());
    only.map_or_else(Vec::new, |only| vec![format!("--testNamePattern={}", any_of(&only))])
}

/// jest.
#[derive(Debug)]
pub(super) struct Jest;

impl Framework for Jest {
    fn name(&self) -> &'static str {
        "jest"
    }

    fn knows(&self, call: &Call) -> bool {
        call.is(&["jest"]) || call.script_runs(&["jest"])
    }

    fn orders(&self) -> Orders {
        Orders::Seeded
    }

    fn selects(&self) -> bool {
        true
    }

    fn ask(&self, call: &Call, wanted: &Wanted, room: &Path) -> Result<Request, SuiteError> {
        let report = room.join("report.json");
        let mut options = vec!["--json".to_owned(), format!("--outputFile={}", report.display())];
        if let Some(seed) = seed(wanted) {
            options.extend(["--randomize".to_owned(), format!("--seed={seed}")]);
        }
        options.extend(named(wanted));
        Ok(Request::words(call.with_options(&options)))
    }

    fn read(&self, answer: &Answer<'_>) -> Result<Run, SuiteError> {
        let results = reports::of_file(&answer.room.join("report.json"), answer);
        let results =
            results.map_err(|error| too_old(error, answer, "jest", ("randomize", "29.5")))?;
        Ok(reports::run(results, "jest", answer))
    }
}

/// vitest.
#[derive(Debug)]
pub(super) struct Vitest;

impl Framework for Vitest {
    fn name(&self) -> &'static str {
        "vitest"
    }

    fn knows(&self, call: &Call) -> bool {
        call.is(&["vitest"]) || call.script_runs(&["vitest"])
    }

    fn orders(&self) -> Orders {
        Orders::Seeded
    }

    fn selects(&self) -> bool {
        true
    }

    fn ask(&self, call: &Call, wanted: &Wanted, room: &Path) -> Result<Request, SuiteError> {
        let report = room.join("report.json");
        // `vitest` alone would wait for changes.
        let run = "--run".to_owned();
        let mut options =
            vec![run, "--reporter=json".to_owned(), format!("--outputFile={}", report.display())];
        if let Some(seed) = seed(wanted) {
            options.push("--sequence.shuffle".to_owned());
            options.push(format!("--sequence.seed={seed}"));
        }
        options.extend(named(wanted));
        Ok(Request::words(call.with_last(&options)))
    }

    fn read(&self, answer: &Answer<'_>) -> Result<Run, SuiteError> {
        let results = reports::of_file(&answer.room.join("report.json"), answer);
        let results =
            results.map_err(|error| too_old(error, answer, "vitest", ("outputfile", "0.31")))?;
        Ok(reports::run(results, "vitest", answer))
    }
}

/// The reporter that writes events, among the hooks.
const REPORTER: &str = "assay_node_reporter.mjs";

/// `node --test`.
#[derive(Debug)]
pub(super) struct NodeTest;

impl Framework for NodeTest {
    fn name(&self) -> &'static str {
        "node"
    }

    fn knows(&self, call: &Call) -> bool {
        call.is(&["node", "nodejs", "tsx"]) && call.has(&["--test"])
            || call.script().is_some_and(|words| words.iter().any(|word| word == "--test"))
    }

    fn orders(&self) -> Orders {
        Orders::No
    }

    fn ask(&self, call: &Call, wanted: &Wanted, room: &Path) -> Result<Request, SuiteError> {
        if seed(wanted).is_some() {
            return Err(SuiteError::Unable {
                framework: "node --test",
                what: "has no random order; --order given".to_owned(),
            });
        }
        let report = room.join("report.xml");
        let mut options = vec![
            "--test-reporter=junit".to_owned(),
            format!("--test-reporter-destination={}", report.display()),
            format!("--test-reporter={}", room.join(HOOKS).join(REPORTER).display()),
            "--test-reporter-destination=stdout".to_owned(),
        ];
        if let Some(only) = &wanted.only {
            // Groups stand before the names, and have to be matched by themselves.
            let mut names: Vec<String> =
                only.iter().flat_map(|name| name.split(": ").map(str::to_owned)).collect();
            names.sort();
            names.dedup();
            options.push(format!("--test-name-pattern={}", any_of(&names)));
        }
        if call.script().is_some() {
            // What stands behind the files is theirs.
            let mut request = hooked(Request::words(call.argv.clone()), &Wanted::default(), room);
            request.options.push(("NODE_OPTIONS".to_owned(), options.join(" ")));
            return Ok(request);
        }
        let request = Request::words(call.with_options_behind("--test", &options));
        Ok(hooked(request, &Wanted::default(), room))
    }

    fn read(&self, answer: &Answer<'_>) -> Result<Run, SuiteError> {
        if let Some(run) = events::read(&answer.room.join("events"))? {
            return Ok(run);
        }
        let results = reports::of_file(&answer.room.join("report.xml"), answer);
        let errors = String::from_utf8_lossy(answer.errors);
        let results = results.map_err(|error| match error {
            // Of an old one `junit` is a module that there is not.
            SuiteError::NoReport { said }
                if errors.contains("'junit'") || errors.contains("/junit'") =>
            {
                SuiteError::TooOld {
                    framework: "node",
                    needed: "20.0",
                    said: said.unwrap_or_default(),
                }
            }
            other => too_old(other, answer, "node", ("--test", "20.0")),
        })?;
        Ok(reports::run(results, "node --test", answer))
    }
}
