//! `cargo test` and `cargo nextest`.
//!
//! libtest writes events only if unstable options are allowed. They are allowed only for the test
//! programs, by means of a runner through which cargo starts them, because allowing them in the
//! compiler's environment would rebuild everything.

use super::crates::crate_of;
use super::{EVENTS, Framework, Orders, WHOLE_FILE, seed, too_old};
use crate::asking::{Answer, Request, RunRequirements, Text};
use crate::call::Call;
use crate::error::SuiteError;
use crate::programs::{self, RECORD};
use crate::reports;
use crate::run::{Part, Process, Run, Span, Test, Unfinished};
use crate::seen;
use crate::seen::cargo::Packages;
use crate::watching::Watch;
use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// The two parts of a script that runs a test program. The script redirects the program's events to
/// one file, and writes the program's path and its start and end times to another.
const RUNNER: [&str; 2] = [
    r#"#!/bin/sh
# $1: the directory for events; then the program and its arguments.
events=$1
shift
# A program of a doc test is no program of tests.
case " $* " in *' --format=json '*) ;; *) exec "$@";; esac
"#,
    r#"
began=$(date +%s.%N)
echo "$began - $1" > "$events/$$.about"
RUSTC_BOOTSTRAP=1 "$@" > "$events/$$.json"
status=$?
echo "$began $(date +%s.%N) $1" > "$events/$$.about"
exit $status
"#,
];

/// `cargo test`.
#[derive(Debug)]
pub(super) struct CargoTest;

impl Framework for CargoTest {
    fn name(&self) -> &'static str {
        "cargo"
    }

    fn knows(&self, call: &Call) -> bool {
        call.is(&["cargo"]) && call.verb().is_some_and(|verb| verb == "test" || verb == "t")
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
        let events = room.join(EVENTS);
        // Kept for reruns: doc test programs are started by rustdoc through this runner.
        let runner = wanted.keep.as_deref().unwrap_or(room).join("run.sh");
        let doc = room.join("rustdoc.sh");
        let quoted = |path: &Path| serde_json::Value::from(path.display().to_string()).to_string();
        let config = format!(
            "target.'cfg(all())'.runner=[\"sh\", {}, {}]",
            quoted(&runner),
            quoted(&events)
        );
        let mut passed = vec![
            "-Zunstable-options".to_owned(),
            "--format=json".to_owned(),
            "--report-time".to_owned(),
        ];
        if let Some(seed) = seed(wanted) {
            passed.push(format!("--shuffle-seed={seed}"));
        }
        // Whole files cannot be selected.
        let only = wanted.only.as_ref();
        if let Some(only) = only.filter(|only| !only.iter().any(|own| own.starts_with(WHOLE_FILE)))
        {
            passed.extend(chosen(only));
        }
        let mut call = call.clone();
        let verb = call.verb().unwrap_or_default();
        call.argv = call.with_options_behind(&verb, &["--config".to_owned(), config]);
        let own = std::env::var("RUSTDOC").unwrap_or_else(|_| "rustdoc".to_owned());
        // rustdoc runs doc tests itself. Version queries must be passed through unchanged.
        let wrapped = format!(
            "#!/bin/sh\ncase \" $* \" in *' --test '*) exec sh '{}' '{}' '{own}' \"$@\";; *) exec '{own}' \"$@\";; esac\n",
            runner.display(),
            events.display()
        );
        let mut request = Request::words(call.with_passed(&passed))
            .file(runner, runner_that(wanted.keep.as_deref()))
            .env("RUSTDOC", doc.display().to_string());
        request.files.push(Text { path: doc, content: wrapped.into_bytes(), runs: true });
        request.directories.push(events);
        Ok(match &wanted.coverage {
            Some(top) => seen::with_usage_directory(request, top, room),
            None => request,
        })
    }

    fn builds(&self, call: &Call, _: bool) -> Option<Request> {
        let verb = call.verb()?;
        let options = ["--no-run", "--message-format=short"].map(str::to_owned);
        Some(Request::words(call.with_options_behind(&verb, &options)))
    }

    fn again(
        &self,
        programs: &[&programs::Program],
        _: &Path,
        stops: bool,
        room: &Path,
    ) -> Option<Request> {
        let (runner, script, events) =
            (room.join("run.sh"), room.join("again.sh"), room.join(EVENTS));
        let own = programs.iter().map(|own| {
            let before = ["sh".into(), runner.clone().into(), events.clone().into()];
            let mut words: Vec<OsString> =
                before.into_iter().chain(own.words.iter().cloned()).collect();
            if !own.only.is_empty() {
                // `only` is set only if the program is known to accept these options.
                words.push("--exact".into());
                words.extend(stops.then(|| "--fail-fast".into()));
                words.extend(own.only.iter().map(OsString::from));
            }
            (*own, words)
        });
        let text = programs::again(own, stops);
        let words = [OsString::from("sh"), script.clone().into()].to_vec();
        let mut request = Request::words(words).file(script, text).file(runner, runner_that(None));
        request.directories.push(events);
        // Backtraces are not needed here, and resolving one takes ten times as long as the failing
        // test.
        Some(request.env("RUST_BACKTRACE", "0"))
    }

    fn names(&self, program: &programs::Program) -> Option<String> {
        let path = program.path().filter(|_| program.status.is_none())?;
        crate_of(&path.to_string_lossy()).filter(|own| own != "doc")
    }

    fn compiles(&self, call: &Call, kept: &Path) -> Option<Request> {
        let recorder = kept.join("compiler.sh");
        // Version queries compile nothing and are not recorded.
        let text = format!(
            "#!/bin/sh\nkept='{}' own=$$\ncase \" $* \" in *' --crate-name '*' --out-dir '*){RECORD};; esac\nexec \"$@\"\n",
            kept.display()
        );
        // The workspace wrapper is used only for the project's own crates, so dependencies are not
        // rebuilt.
        let mut request =
            self.builds(call, true)?.env("RUSTC_WORKSPACE_WRAPPER", recorder.display().to_string());
        request.files.push(Text { path: recorder, content: text.into_bytes(), runs: true });
        Some(request)
    }

    fn watch(&self, _: &Call, room: &Path) -> Option<Watch> {
        Some(Watch::libtest(room.join(EVENTS)))
    }

    fn read(&self, answer: &Answer<'_>) -> Result<Run, SuiteError> {
        let directory = answer.room.join(EVENTS);
        let unreadable = |source| SuiteError::unreadable(&directory, source);
        let mut programs: Vec<Program> = Vec::new();
        for entry in fs::read_dir(&directory).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            if path.extension().is_some_and(|ending| ending == "about") {
                programs.extend(Program::of(&path, answer.since_1970));
            }
        }
        programs.sort_by(|a, b| a.began.total_cmp(&b.began));
        if programs.is_empty() {
            return Err(SuiteError::NoReport { said: answer.message() });
        }
        let process = Process {
            name: String::new(),
            began: programs.first().map(|program| program.began),
            ended: programs.last().and_then(|program| program.ended),
        };
        let mut run =
            Run { framework: "cargo test".to_owned(), processes: vec![process], ..Run::default() };
        // Time before the first program is the build.
        let began = answer.began;
        run.spans.push(span(Part::Boot, began, programs[0].began));
        let mut names: HashSet<String> = HashSet::new();
        let packages = Packages::of(answer);
        for program in &programs {
            let before = run.tests.len();
            program.add(&mut run, &mut names, answer)?;
            if let Some(packages) = &packages {
                let tests = run.tests[before..].iter().map(|test| test.name.clone()).collect();
                let process = program.events.file_stem().unwrap_or_default().to_string_lossy();
                packages.add(&mut run.seen, &process, &program.path, tests);
            }
        }
        Ok(run)
    }
}

/// Returns the script that runs a test program and, if `keep` is given, records the program in that
/// directory. Doc test programs, which rustdoc deletes, are copied there together with their exit
/// status.
fn runner_that(keep: Option<&Path>) -> String {
    let Some(keep) = keep else { return RUNNER.join(seen::cargo::RUNNER) };
    let kept = format!("\nkept='{}' own=$$", keep.display());
    let doc = r#" own=doc-$$
    program=$1
    shift
    cp "$program" "$kept/$own.program" || exec "$program" "$@"
    set -- "$kept/$own.program" "$@""#;
    let doc = [
        &kept,
        doc,
        RECORD,
        "\"$@\"\nstatus=$?\necho $status > \"$kept/$own.status\"\nexit $status",
    ]
    .concat();
    let first = RUNNER[0].replace("exec \"$@\"", &doc);
    [&first, seen::cargo::RUNNER, &kept, RECORD, RUNNER[1]].concat()
}

/// Returns the filter arguments that select these tests. Names of doc tests contain spaces, at
/// which rustdoc would split them, so all doc tests of the file run, as do other tests whose names
/// contain one of the filters.
fn chosen(names: &[String]) -> Vec<String> {
    let has_doc = names.iter().any(|name| name.starts_with("doc: "));
    let own = |name: &String| {
        let own = name.split_once(": ").map_or(name.as_str(), |(_, own)| own);
        let end = if has_doc { own.find(' ') } else { None };
        own[..end.unwrap_or(own.len())].to_owned()
    };
    let exactly = (!has_doc).then(|| "--exact".to_owned());
    exactly.into_iter().chain(names.iter().map(own)).collect()
}

fn span(part: Part, began: f64, ended: f64) -> Span {
    Span { part, group: None, began, ended, process: 0 }
}

/// A test program that ran.
struct Program {
    /// Name of the program's crate, or `doc`.
    name: String,
    /// Path of the program.
    path: PathBuf,
    began: f64,
    /// End time, or `None` if the program did not end.
    ended: Option<f64>,
    events: PathBuf,
}

impl Program {
    /// Parses the line that the runner wrote: `BEGAN ENDED PROGRAM`.
    fn of(about: &Path, since_1970: f64) -> Option<Self> {
        let text = fs::read_to_string(about).ok()?;
        let mut words = text.trim_end().splitn(3, ' ');
        let began: f64 = words.next()?.parse().ok()?;
        let ended: Option<f64> = words.next()?.parse().ok();
        let path = words.next()?;
        let name = crate_of(path)?;
        let events = about.with_extension("json");
        let (began, ended) = (began - since_1970, ended.map(|ended| ended - since_1970));
        Some(Self { name, path: path.into(), began, ended, events })
    }

    /// Adds the program's tests to the run. Programs run sequentially. Within a program, only the
    /// total duration of the tests is known, not when each test ran.
    fn add(
        &self,
        run: &mut Run,
        names: &mut HashSet<String>,
        answer: &Answer<'_>,
    ) -> Result<(), SuiteError> {
        let bytes = fs::read(&self.events).unwrap_or_default();
        if !bytes.contains(&b'{') {
            // The program uses a custom harness, or it died before printing anything.
            if self.ended.is_none() {
                let (name, began) = (self.name.clone(), Some(self.began));
                run.unfinished.push(Unfinished { name, began, ..Unfinished::default() });
            }
            let said = crate::error::message(answer.errors, &bytes).unwrap_or_default();
            if !said.is_empty() {
                run.notes.push(format!("`{}` listed no tests: {said}", self.name));
            }
            return Ok(());
        }
        let results = reports::of_bytes(bytes, &self.name)?;
        for test in &results.tests {
            run.tests.push(Test {
                name: reports::unique(names, format!("{}: {}", self.name, test.name)),
                group: Some(self.name.clone()),
                ..reports::of_result(test)
            });
        }
        let unfinished = results.unfinished.iter().map(|name| Unfinished {
            name: format!("{}: {name}", self.name),
            ..Unfinished::default()
        });
        run.unfinished.extend(unfinished);
        let Some(ended) = self.ended else { return Ok(()) };
        let all = results.groups.iter().map(|(_, _, seconds)| seconds).sum::<f64>();
        if all > 0.0 {
            // The tests are assumed to run at the end, since programs start slowly and end quickly.
            let began = (ended - all).max(self.began);
            run.spans.push(span(Part::Loading, self.began, began));
            run.spans.push(span(Part::Body, began, ended));
        }
        Ok(())
    }
}

/// `cargo nextest run`.
#[derive(Debug)]
pub(super) struct Nextest;

impl Framework for Nextest {
    fn name(&self) -> &'static str {
        "nextest"
    }

    fn knows(&self, call: &Call) -> bool {
        call.is(&["cargo-nextest"])
            || call.is(&["cargo"]) && call.verb().is_some_and(|verb| verb == "nextest")
    }

    fn orders(&self) -> Orders {
        Orders::No
    }

    fn selects(&self) -> bool {
        true
    }

    fn ask(&self, call: &Call, wanted: &RunRequirements, _: &Path) -> Result<Request, SuiteError> {
        if seed(wanted).is_some() {
            return Err(SuiteError::Unable {
                framework: "nextest",
                what:
                    "runs each test in its own process, and has no random order; use --order given"
                        .to_owned(),
            });
        }
        let verb = if call.has(&["run"]) { "run" } else { "r" };
        let mut options = vec![
            "--message-format".to_owned(),
            "libtest-json".to_owned(),
            "--no-fail-fast".to_owned(),
        ];
        if let Some(only) = &wanted.only {
            let test = |name: &String| {
                let own = name.rsplit_once('$').map_or(name.as_str(), |(_, own)| own);
                format!("test(={own})")
            };
            options
                .extend(["-E".to_owned(), only.iter().map(test).collect::<Vec<_>>().join(" + ")]);
        }
        let argv = call.with_options_behind(verb, &options);
        Ok(Request::words(argv).env("NEXTEST_EXPERIMENTAL_LIBTEST_JSON", "1"))
    }

    fn read(&self, answer: &Answer<'_>) -> Result<Run, SuiteError> {
        if !answer.output.contains(&b'{') {
            let none = SuiteError::NoReport { said: answer.message() };
            return Err(too_old(none, answer, "nextest", ("libtest-json", "0.9.59")));
        }
        let results = reports::of_bytes(answer.output.to_vec(), "(standard output)")?;
        let mut run = reports::run(results, "nextest", answer);
        // Group times are measured by nextest's own clock.
        run.processes.clear();
        Ok(run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compilers_are_recorded_by_what_cargo_starts_for_the_projects_own_crates() {
        let words = ["cargo", "test", "-p", "a"].map(OsString::from);
        let call = Call::new(&words, Path::new("/p"));
        let request = CargoTest.compiles(&call, Path::new("/kept")).unwrap();
        assert_eq!(request.argv[..3], ["cargo", "test", "--no-run"]);
        let wrapper = ("RUSTC_WORKSPACE_WRAPPER".to_owned(), "/kept/compiler.sh".to_owned());
        assert_eq!(request.env, [wrapper]);
        assert!(request.files[0].runs);
    }

    #[test]
    fn a_program_that_runs_again_is_held_to_some_tests() {
        let words = ["/t/deps/own-12ab", "--format=json"].map(OsString::from).to_vec();
        let mut program = programs::Program { words, ..programs::Program::default() };
        assert_eq!(CargoTest.names(&program).as_deref(), Some("own"));
        program.only = ["a::b", "c"].map(str::to_owned).to_vec();
        let request = CargoTest.again(&[&program], Path::new("/k"), true, Path::new("/r")).unwrap();
        let script = String::from_utf8_lossy(&request.files[0].content).into_owned();
        let line = "'/t/deps/own-12ab' '--format=json' '--exact' '--fail-fast' 'a::b' 'c'\n";
        assert!(script.contains(line), "{script}");
        program.status = Some(0);
        assert_eq!(CargoTest.names(&program), None);
    }

    #[test]
    fn doc_tests_are_chosen_by_their_file() {
        let names = ["a: x::y", "doc: a/src/lib.rs - one (line 1)"].map(str::to_owned);
        assert_eq!(chosen(&names), ["x::y", "a/src/lib.rs"]);
        assert_eq!(chosen(&names[..1]), ["--exact", "x::y"]);
    }
}
