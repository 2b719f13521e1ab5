//! `go test`, also when run by gotestsum: its events (`-json`) report when each test and each
//! package began and ended. Cached results are never used.

use super::{Framework, Orders, WHOLE_FILE, any_of, seed};
use crate::asking::{Answer, Request, RunRequirements};
use crate::call::Call;
use crate::error::SuiteError;
use crate::programs::{self, Program, RECORD};
use crate::reports;
use crate::run::{Part, Run, Span, Test};
use crate::seen;
use crate::watching::Watch;
use std::collections::BTreeSet;
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

    fn covers(&self) -> bool {
        true
    }

    fn ask(
        &self,
        call: &Call,
        wanted: &RunRequirements,
        room: &Path,
    ) -> Result<Request, SuiteError> {
        match (&wanted.coverage, &wanted.keep) {
            (Some(top), _) => covered(call, wanted, (top, room)),
            (None, Some(keep)) if builds_here(call) => {
                let recorder = keep.join("record.sh");
                let exec = format!("-exec=sh '{}' '{}'", recorder.display(), keep.display());
                let more = FOR_BUILDS.iter().map(|own| (*own).to_owned()).chain([exec]).collect();
                Ok(self.request(call, wanted, more, room)?.file(recorder, recorder_text()))
            }
            (None, _) => self.request(call, wanted, Vec::new(), room),
        }
    }

    fn builds(&self, call: &Call, told: bool) -> Option<Request> {
        let mut options: Vec<String> =
            FOR_BUILDS.iter().filter(|_| told).map(|own| (*own).to_owned()).collect();
        options.extend(["-run=^$", "-exec=true"].map(str::to_owned));
        builds_here(call).then(|| Request::words(call.with_options_behind("test", &options)))
    }

    fn again(
        &self,
        programs: &[&Program],
        kept: &Path,
        stops: bool,
        room: &Path,
    ) -> Option<Request> {
        let converter = kept.join("converter");
        if !converter.is_file() {
            return None;
        }
        let own = programs.iter().map(|own| {
            let before = ["-t", "-p", &own.about].map(OsString::from);
            let before = std::iter::once(converter.clone().into()).chain(before);
            let mut words: Vec<OsString> = before.chain(own.words.clone()).collect();
            // This option must directly follow the program.
            if stops {
                words.insert(5, "-test.failfast".into());
            }
            if !own.only.is_empty() {
                words.retain(|word| !word.to_string_lossy().starts_with(RUN));
                words.insert(5, format!("{RUN}={}", any_of(&own.only)).into());
            }
            (*own, words)
        });
        let text = programs::again(own, stops);
        let script = room.join("again.sh");
        let words = [OsString::from("sh"), script.clone().into()].to_vec();
        Some(Request::words(words).file(script, text))
    }

    fn names(&self, program: &Program) -> Option<String> {
        // If the command already selects subtests, its selection must not be replaced.
        let is_part = |word: &OsString| {
            word.to_str().is_none_or(|word| word.starts_with(RUN) && word.contains('/'))
        };
        let can = !program.about.is_empty() && !program.words.iter().any(is_part);
        can.then(|| program.about.clone())
    }

    fn files(&self, call: &Call, tests: &[&str]) -> Vec<Option<String>> {
        seen::go::files(&call.directory, tests)
    }

    fn code(&self, call: &Call) -> Option<Vec<OsString>> {
        let options = ["-o", "/dev/null", "-gcflags=-S -l", "."].map(str::to_owned);
        let words = ["go", "build"].map(str::to_owned).into_iter();
        let words = words.chain(list_words(&call.arguments())).chain(options);
        builds_here(call).then(|| words.map(OsString::from).collect())
    }

    fn watch(&self, call: &Call, _: &Path) -> Option<Watch> {
        (!call.is(&["gotestsum"])).then(Watch::go)
    }

    fn read(&self, answer: &Answer<'_>) -> Result<Run, SuiteError> {
        let file = answer.room.join("events.json");
        let results = match file.exists() {
            true => reports::of_file(&file, answer)?,
            false if !answer.output.trim_ascii_start().starts_with(b"{") => {
                return Err(SuiteError::NoReport { said: answer.message() });
            }
            false => reports::of_bytes(answer.output.to_vec(), "(standard output)")?,
        };
        let mut run = reports::run(results, "go", answer);
        if let Some(said) = instead_of_tests(&run) {
            if String::from_utf8_lossy(answer.output).contains("[setup failed]") {
                let said = first_line(said).map(|line| format!("`{line}`"));
                return Err(SuiteError::NoTests { said });
            }
            run.unbuilt = Some(said.to_owned());
        }
        run.framework = "go test".to_owned();
        run.seen = seen::go::seen(answer, &mut run.tests);
        // Time before a package begins is the build of the test programs.
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
        if names.is_empty() {
            Err(SuiteError::NoTests { said: answer.message() })
        } else {
            Ok(names)
        }
    }
}

/// Returns the first message if go reported only packages, or the pattern that names them, and no
/// tests. In that case no package could be built, or even set up, as outside of a module.
fn instead_of_tests(run: &Run) -> Option<&str> {
    let is_package = |test: &Test| test.file.as_ref() == Some(&test.name);
    let is_none = run.unfinished.is_empty() && !run.tests.is_empty();
    let is_none = is_none && run.tests.iter().all(is_package);
    is_none.then(|| run.tests.iter().find_map(|test| test.message.as_deref()).unwrap_or_default())
}

/// Returns the first line of go's output that is not empty, shortened.
fn first_line(said: &str) -> Option<String> {
    const LONGEST: usize = 200;
    let line = said.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.chars().take(LONGEST).collect())
}

/// Options for a build that reports all errors of the compiler, and no others.
const FOR_BUILDS: [&str; 2] = ["-vet=off", "-gcflags=./...=-e"];

/// Option that selects the tests of a test program.
const RUN: &str = "-test.run";

/// Returns true if the command can be changed to only build, and to start its test programs through
/// another program.
fn builds_here(call: &Call) -> bool {
    let arguments = call.arguments();
    let mut names = arguments.iter().map(|word| word.trim_start_matches('-'));
    call.is(&["go"]) && !names.any(|own| own.starts_with("exec") || own.starts_with("gcflags"))
}

/// Returns a script that runs a test program and records it, together with its package and the tool
/// that converts its output into events. `go` deletes test programs after the run.
fn recorder_text() -> String {
    let before = r#"#!/bin/sh
# $1: where it is kept; then the program and its arguments.
kept=$1 own=$$
shift
program=$1
shift
go list -e . > "$kept/$own.about" 2> /dev/null < /dev/null
if [ ! -f "$kept/converter" ]; then
    cp "$(go tool -n test2json 2> /dev/null < /dev/null)" "$kept/converter.$own" && mv "$kept/converter.$own" "$kept/converter"
fi
ln "$program" "$kept/$own.test" 2> /dev/null || cp "$program" "$kept/$own.test"
set -- "$kept/$own.test" "$@"
"#;
    [before, RECORD, "exec \"$@\"\n"].concat()
}

impl GoTest {
    /// Returns the command for these requirements, with additional options.
    fn request(
        &self,
        call: &Call,
        wanted: &RunRequirements,
        more: Vec<String>,
        room: &Path,
    ) -> Result<Request, SuiteError> {
        let mut options = vec!["-count=1".to_owned()];
        options.extend(more);
        if let Some(seed) = seed(wanted) {
            options.push(format!("-shuffle={seed}"));
        }
        if let Some(only) = wanted.only.as_ref().map(|only| tests(call, only))
            && !only.is_empty()
        {
            options.push(format!("-run={}", any_of(&only)));
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
        // `-v` after `-json` would make tests print without the markers that separate the end of a
        // test from its earlier output on the same line.
        let is_verbose =
            |word: &OsString| matches!(word.to_str(), Some("-v" | "--v" | "-v=true" | "-test.v"));
        let mut argv = call.with_options_behind("test", &options);
        let passed = argv.iter().position(|word| word == "-args" || word == "--args");
        let passed = argv.split_off(passed.unwrap_or(argv.len()));
        argv.retain(|word| !is_verbose(word));
        argv.extend(passed);
        Ok(Request::words(argv))
    }
}

/// Like [`request`](GoTest::request), but starts programs so that what each test uses can be
/// determined ([`seen::go`]).
fn covered(
    call: &Call,
    wanted: &RunRequirements,
    (top, room): (&Path, &Path),
) -> Result<Request, SuiteError> {
    let unable = |what: &str| SuiteError::Unable { framework: "go test", what: what.to_owned() };
    if call.arguments().iter().any(|word| word.trim_start_matches('-').starts_with("exec")) {
        return Err(unable("can't show what tests use if -exec runs them; leave it out"));
    }
    let Some(modules) = seen::go::modules(&call.directory) else {
        return Err(unable("can't show what tests use outside of a module: there is no go.mod"));
    };
    let mut call = call.clone();
    // Coverage is configured here, so the user's options for it are removed.
    call.argv = without(&call.argv, |name| name.starts_with("cover"), |name| name != "cover");
    let runner = room.join("run-go.sh");
    let words = list_words(&call.arguments());
    let words = if words.is_empty() { "-e".to_owned() } else { words.join(" ") };
    let exec =
        format!("-exec=sh '{}' '{}' '{words}'", runner.display(), seen::place(room).display());
    let more = vec!["-cover".to_owned(), format!("-coverpkg={modules}"), exec];
    if let Some(only) = &wanted.only {
        call.argv = narrowed(&call, only);
    }
    let request = GoTest.request(&call, wanted, more, room)?;
    Ok(seen::with_usage_directory(request, top, room).file(runner, seen::go::RUNNER))
}

/// Maximum number of packages named on the command line.
const MOST_PACKAGES: usize = 200;

/// Replaces patterns such as `./...` with the packages of the wanted tests, so that other packages
/// are not built. Returns the words unchanged if a package does not exist, which a pattern would
/// tolerate, or if there are too many packages.
fn narrowed(call: &Call, only: &[String]) -> Vec<OsString> {
    let words = &call.argv[..];
    let package = |name: &String| match name.strip_prefix(WHOLE_FILE) {
        Some(file) => {
            let directory = file.rsplit_once('/').map_or("", |(directory, _)| directory);
            call.directory.join(directory).is_dir().then(|| format!("./{directory}"))
        }
        None => {
            let (package, _) = name.split_once(": ")?;
            seen::go::is_there(&call.directory, package).then(|| package.to_owned())
        }
    };
    let packages: Option<BTreeSet<String>> = only.iter().map(package).collect();
    let Some(packages) = packages.filter(|own| (1..=MOST_PACKAGES).contains(&own.len())) else {
        return words.to_vec();
    };
    let is_pattern = |word: &OsString| {
        word.to_str().is_some_and(|word| word.starts_with('.') && word.ends_with("/..."))
    };
    let passed = words.iter().position(|word| word == "-args" || word == "--args");
    let (own, passed) = words.split_at(passed.unwrap_or(words.len()));
    let Some(place) = own.iter().position(is_pattern) else { return words.to_vec() };
    let (before, behind) = own.split_at(place);
    let behind = behind.iter().filter(|word| !is_pattern(word)).cloned();
    before
        .iter()
        .cloned()
        .chain(packages.into_iter().map(OsString::from))
        .chain(behind)
        .chain(passed.iter().cloned())
        .collect()
}

/// Returns the words without the options for which `is_named` is true. For those for which `takes`
/// is true as well, a value in the next word is also removed.
fn without(
    words: &[OsString],
    is_named: impl Fn(&str) -> bool,
    takes: impl Fn(&str) -> bool,
) -> Vec<OsString> {
    let mut kept = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        let option = text.strip_prefix('-').map(|own| own.trim_start_matches('-'));
        match option.filter(|own| is_named(own)) {
            Some(own) if !own.contains('=') && takes(own) => drop(words.next()),
            Some(_) => {}
            None => kept.push(word.clone()),
        }
    }
    kept
}

/// Returns the options of `go test` that `go list` also needs because they determine which files a
/// package has.
fn list_words(arguments: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let own = word.strip_prefix('-').map_or("", |own| own.trim_start_matches('-'));
        let name = own.split('=').next().unwrap_or_default();
        match name {
            "race" | "msan" | "asan" => found.push(format!("-{own}")),
            "tags" | "mod" | "modfile" | "overlay" if own.contains('=') => {
                found.push(format!("-{own}"));
            }
            "tags" | "mod" | "modfile" | "overlay" => {
                found.extend(words.next().map(|value| format!("-{own}={value}")));
            }
            _ => {}
        }
    }
    found
}

/// Returns the functions to run, sorted and without duplicates: the names without packages and
/// subtests, and for whole files all test functions in them.
fn tests(call: &Call, names: &[String]) -> Vec<String> {
    let whole = names.iter().filter_map(|name| name.strip_prefix(WHOLE_FILE));
    let whole: Vec<String> = whole
        .filter_map(|file| call.text(file))
        .flat_map(|text| seen::go::tests_of(&text))
        .collect();
    let names = names.iter().filter(|name| !name.starts_with(WHOLE_FILE));
    let function = |name: &String| {
        let own = name.rsplit_once(": ").map_or(name.as_str(), |(_, own)| own);
        own.split('/').next().unwrap_or_default().to_owned()
    };
    let mut functions: Vec<String> = names.map(function).chain(whole).collect();
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
        let request = GoTest.ask(&call, &RunRequirements::default(), Path::new("/r")).unwrap();
        let asked = "go test -json -count=1 ./... -args -v".split(' ').map(OsString::from);
        assert_eq!(request.argv, asked.collect::<Vec<_>>());
    }

    /// Reads a run of packages, each `ok` or with the step that failed.
    fn read(packages: &[(&str, &str)]) -> Result<Run, SuiteError> {
        const GOOD: &str = r#"{"Action":"run","Package":"NAME","Test":"TestA"}
{"Action":"pass","Package":"NAME","Test":"TestA","Elapsed":0.1}
{"Action":"pass","Package":"NAME","Elapsed":0.1}
"#;
        const FAILED: &str = r##"{"ImportPath":"NAME","Action":"build-output","Output":"# NAME\n"}
{"ImportPath":"NAME","Action":"build-output","Output":"NAME.go:3: no x\n"}
{"ImportPath":"NAME","Action":"build-fail"}
{"Action":"start","Package":"NAME"}
{"Action":"output","Package":"NAME","Output":"FAIL\tNAME [STEP failed]\n"}
{"Action":"fail","Package":"NAME","Elapsed":0,"FailedBuild":"NAME"}
"##;
        let events = |(name, step): &(&str, &str)| {
            let events = if *step == "ok" { GOOD } else { FAILED };
            events.replace("NAME", name).replace("STEP", step)
        };
        let output: String = packages.iter().map(events).collect();
        let (room, directory) = (Path::new("/nonexistent"), Path::new("/nonexistent"));
        let (output, errors) = (output.as_bytes(), &b""[..]);
        let (began, ended, since_1970) = Default::default();
        GoTest.read(&Answer { room, directory, output, errors, began, ended, since_1970 })
    }

    #[test]
    fn packages_in_place_of_tests_are_not_tests() {
        let unbuilt = |packages: &[(&str, &str)]| read(packages).unwrap().unbuilt;
        assert_eq!(unbuilt(&[("a", "build"), ("b", "build")]).as_deref(), Some("a.go:3: no x"));
        assert_eq!(unbuilt(&[("a", "build"), ("b", "ok")]), None);
        assert_eq!(unbuilt(&[("a", "ok")]), None);
        let of_one = read(&[("a", "build"), ("b", "ok")]).unwrap();
        assert_eq!(of_one.tests.len(), 2, "a package counts as a failed test beside other tests");
        let error = read(&[("./...", "setup"), ("b", "build")]).unwrap_err();
        assert_eq!(error.to_string(), "it ran no test; it said: `./....go:3: no x`");
    }

    #[test]
    fn code_is_that_of_what_the_tests_are_built_of() {
        let of = |line: &str| {
            let words = line.split(' ').map(OsString::from).collect::<Vec<_>>();
            GoTest.code(&Call::new(&words, Path::new("/nonexistent")))
        };
        let words = ["go", "build", "-tags=a", "-o", "/dev/null", "-gcflags=-S -l", "."];
        assert_eq!(of("go test -tags a -run X ./...").unwrap(), words);
        assert_eq!(of("go test -gcflags=-N ./..."), None);
    }

    #[test]
    fn a_program_that_runs_again_is_held_to_some_tests() {
        let kept = tempfile::tempdir().unwrap();
        std::fs::write(kept.path().join("converter"), "").unwrap();
        let words = ["/k/1.test", "-test.v=test2json", "-test.run=Test"].map(OsString::from);
        let about = "example.org/own".to_owned();
        let mut program = Program { words: words.to_vec(), about, ..Program::default() };
        assert_eq!(GoTest.names(&program).as_deref(), Some("example.org/own"));
        program.only = ["TestA", "TestB"].map(str::to_owned).to_vec();
        let request = GoTest.again(&[&program], kept.path(), true, Path::new("/r")).unwrap();
        let script = String::from_utf8_lossy(&request.files[0].content).into_owned();
        let line = "'/k/1.test' '-test.run=^(TestA|TestB)$' '-test.failfast' '-test.v=test2json'\n";
        assert!(script.contains(line), "{script}");
        program.words.push("-test.run=TestA/b".into());
        assert_eq!(GoTest.names(&program), None);
    }

    #[test]
    fn what_is_counted_is_chosen_here() {
        let line =
            "go test -race -cover -coverprofile x -tags a,b -coverpkg=./... ./... -run TestA";
        let words = line.split(' ').map(OsString::from).collect::<Vec<_>>();
        let room = tempfile::tempdir().unwrap();
        std::fs::write(room.path().join("go.mod"), "module m\n").unwrap();
        let call = Call::new(&words, room.path());
        let wanted =
            RunRequirements { coverage: Some("/top".into()), ..RunRequirements::default() };
        let request = GoTest.ask(&call, &wanted, Path::new("/r")).unwrap();
        let words: Vec<_> = request.argv.iter().map(|word| word.to_string_lossy()).collect();
        assert_eq!(words[..5], ["go", "test", "-json", "-count=1", "-cover"]);
        assert_eq!(words[5], "-coverpkg=m/...");
        assert_eq!(words[6], "-exec=sh '/r/run-go.sh' '/r/seen' '-race -tags=a,b'");
        assert_eq!(words[7..], ["-race", "-tags", "a,b", "./...", "-run", "TestA"]);
        // Packages without wanted tests are not built.
        let only = ["m/a: TestA/sub", "file:b/b_test.go"].map(str::to_owned).to_vec();
        let wanted = RunRequirements { only: Some(only), ..wanted };
        let of = || {
            let request = GoTest.ask(&call, &wanted, Path::new("/r")).unwrap();
            let words = request.argv.iter().map(|word| word.to_string_lossy().into_owned());
            words.skip(7).collect::<Vec<_>>()
        };
        let words = ["-run=^(TestA)$", "-race", "-tags", "a,b", "./...", "-run", "TestA"];
        assert_eq!(of(), words, "one is not there");
        for name in ["a", "b"] {
            std::fs::create_dir(room.path().join(name)).unwrap();
        }
        let words = ["-run=^(TestA)$", "-race", "-tags", "a,b", "./b", "m/a", "-run", "TestA"];
        assert_eq!(of(), words);
        let words = ["go", "test", "-exec=x"].map(OsString::from);
        assert!(GoTest.ask(&Call::new(&words, room.path()), &wanted, Path::new("/r")).is_err());
    }
}
