//! `go test`, also behind gotestsum: its events (`-json`) tell when each test and each package began and ended. Results are never taken from
//! Go's cache.

use super::{Framework, Orders, any_of, seed};
use crate::asking::{Answer, Request, Wanted};
use crate::call::Call;
use crate::error::SuiteError;
use crate::reports;
use crate::run::{Part, Run, Span};
use crate::watching::Watch;
use std::ffi::OsString;
use std::path::Path;

/// `go test`.
#[derive(Debug)]
pub(super) struct GoTest;

impl Framework for GoTest {
    fn name(&self) -> &'static str {
        "go"
    }

    fn knows(&self, call: &Call) -> bool {
        call.is(&["gotestsum"]) || call.is(&["go"]) && call.has(&["test"])
    }

    fn orders(&self) -> Orders {
        Orders::Seeded
    }

    fn ask(&self, call: &Call, wanted: &Wanted, room: &Path) -> Result<Request, SuiteError> {
        let mut options = vec!["-count=1".to_owned()];
        if let Some(seed) = seed(wanted) {
            options.push(format!("-shuffle={seed}"));
        }
        if let Some(only) = &wanted.only {
            options.push(format!("-run={}", any_of(&tests(only))));
        }
        if call.is(&["gotestsum"]) {
            let file = format!("--jsonfile={}", room.join("events.json").display());
            let mut argv = call.with_options(&[file]);
            match call.has(&["--"]) {
                true => {
                    let place = argv.iter().position(|word| word == "--").unwrap_or(0);
                    argv.splice(place + 1..place + 1, options.into_iter().map(Into::into));
                }
                false => argv.extend(
                    ["--".to_owned()]
                        .into_iter()
                        .chain(options)
                        .chain(["./...".to_owned()])
                        .map(Into::into),
                ),
            }
            return Ok(Request::words(argv));
        }
        options.insert(0, "-json".to_owned());
        // Behind `-json` it would have tests print without the marks by which an end is told from what they printed before it on its line.
        let is_verbose =
            |word: &OsString| matches!(word.to_str(), Some("-v" | "--v" | "-v=true" | "-test.v"));
        let mut argv = call.with_options_behind("test", &options);
        let passed = argv.iter().position(|word| word == "-args" || word == "--args");
        let passed = argv.split_off(passed.unwrap_or(argv.len()));
        argv.retain(|word| !is_verbose(word));
        argv.extend(passed);
        Ok(Request::words(argv))
    }

    fn watch(&self, call: &Call, _: &Path) -> Option<Watch> {
        (!call.is(&["gotestsum"])).then(Watch::go)
    }

    fn read(&self, answer: &Answer<'_>) -> Result<Run, SuiteError> {
        let file = answer.room.join("events.json");
        let results = match file.exists() {
            true => reports::of_file(&file, answer)?,
            false if !answer.output.trim_ascii_start().starts_with(b"{") => {
                return Err(SuiteError::NoReport { said: answer.said() });
            }
            false => reports::of_bytes(answer.output.to_vec(), "(standard output)")?,
        };
        let mut run = reports::run(results, "go", answer);
        run.framework = "go test".to_owned();
        // What runs before a package begins is the build of the programs.
        let first = run.processes.iter().enumerate();
        let spans = first.filter_map(|(process, own)| {
            let (began, ended) = (answer.began, own.began?);
            Some(Span { part: Part::Boot, group: None, began, ended, process })
        });
        run.spans.extend(spans.collect::<Vec<_>>());
        Ok(run)
    }

    fn list(&self, call: &Call, _: &Path) -> Result<Request, SuiteError> {
        if call.is(&["gotestsum"]) {
            let what = "can't list tests: divide `go test` itself";
            return Err(SuiteError::Unable { framework: "gotestsum", what: what.to_owned() });
        }
        let options = ["-json", "-list=."].map(str::to_owned);
        Ok(Request::words(call.with_options_behind("test", &options)))
    }

    fn listed(&self, answer: &Answer<'_>) -> Result<Vec<String>, SuiteError> {
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "PascalCase")]
        struct Event {
            #[serde(default)]
            package: String,
            #[serde(default)]
            output: String,
        }
        let text = String::from_utf8_lossy(answer.output);
        let events = text.lines().filter_map(|line| serde_json::from_str::<Event>(line).ok());
        let is_test = |event: &Event| {
            let name = event.output.trim_end();
            !name.contains(char::is_whitespace)
                && ["Test", "Example", "Fuzz"].iter().any(|kind| name.starts_with(kind))
        };
        let names: Vec<String> = events
            .filter(is_test)
            .map(|event| format!("{}: {}", event.package, event.output.trim_end()))
            .collect();
        if names.is_empty() { Err(SuiteError::NoTests { said: answer.said() }) } else { Ok(names) }
    }
}

/// The functions of tests: without their packages, and without subtests, of which one function has many.
fn tests(names: &[String]) -> Vec<String> {
    let function = |name: &String| {
        let own = name.rsplit_once(": ").map_or(name.as_str(), |(_, own)| own);
        own.split('/').next().unwrap_or_default().to_owned()
    };
    let mut functions: Vec<String> = names.iter().map(function).collect();
    functions.sort();
    functions.dedup();
    functions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn go_prints_no_more_than_its_events() {
        let words = "go test -v ./... -args -v".split(' ').map(OsString::from).collect::<Vec<_>>();
        let call = Call::new(&words, Path::new("/nonexistent"));
        let request = GoTest.ask(&call, &Wanted::default(), Path::new("/r")).unwrap();
        let asked = "go test -json -count=1 ./... -args -v".split(' ').map(OsString::from);
        assert_eq!(request.argv, asked.collect::<Vec<_>>());
    }
}
