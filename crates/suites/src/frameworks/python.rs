//! pytest and unittest.
//!
//! pytest writes JUnit XML itself. The hook, a plugin loaded through the environment, also reports
//! when each test began, how long its setup took, and which test was running if the process was
//! killed. unittest has no reports, so a custom runner runs it.

use super::{EVENTS, Framework, Orders, hooked, hooks_beside, ordered, too_old};
use crate::asking::{Answer, Request, RunRequirements};
use crate::call::Call;
use crate::error::SuiteError;
use crate::run::Run;
use crate::watching::Watch;
use crate::{events, reports};
use std::ffi::OsString;
use std::path::Path;

/// Module name of the pytest plugin.
const PLUGIN: &str = "assay_tests_hook";
/// File name of the unittest runner.
const RUNNER: &str = "assay_unittest.py";
/// Options that make pytest depend on earlier failures, for which it needs its own cache.
const BY_CACHE: [&str; 9] = [
    "--lf",
    "--last-failed",
    "--ff",
    "--failed-first",
    "--nf",
    "--new-first",
    "--sw",
    "--stepwise",
    "--cache-clear",
];

/// pytest.
#[derive(Debug)]
pub(super) struct Pytest;

impl Framework for Pytest {
    fn name(&self) -> &'static str {
        "pytest"
    }

    fn knows(&self, call: &Call) -> bool {
        call.is(&["pytest", "py.test"])
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
        let mut options = vec![format!("--junit-xml={}", room.join("report.xml").display())];
        // Failures in orders chosen by assay must not affect the user's next run.
        if !call.has(&BY_CACHE) {
            options
                .extend(["-o".to_owned(), format!("cache_dir={}", room.join("cache").display())]);
        }
        let request = Request::words(call.with_options(&options));
        Ok(ordered(loaded(hooked(request, wanted, room), room), wanted))
    }

    fn watch(&self, _: &Call, room: &Path) -> Option<Watch> {
        Some(Watch::events(room.join(EVENTS)))
    }

    fn read(&self, answer: &Answer<'_>) -> Result<Run, SuiteError> {
        if let Some(run) = events::read(&answer.room.join(EVENTS))? {
            return Ok(run);
        }
        let results = reports::of_file(&answer.room.join("report.xml"), answer);
        let results =
            results.map_err(|error| too_old(error, answer, "pytest", ("--junit-xml", "3.0")))?;
        Ok(reports::run(results, "pytest", answer))
    }

    fn list(&self, call: &Call, room: &Path) -> Result<Request, SuiteError> {
        let cache = format!("cache_dir={}", room.join("cache").display());
        // `--verbosity=-1` prints one name per line, whatever the user's verbosity options.
        let options = ["--collect-only", "--color=no", "-o", &cache].map(str::to_owned);
        let mut call = call.clone();
        call.argv = call.with_options(&options);
        Ok(Request::words(call.with_last(&["--verbosity=-1".to_owned()])))
    }

    fn listed(&self, answer: &Answer<'_>) -> Result<Vec<String>, SuiteError> {
        let text = String::from_utf8_lossy(answer.output);
        let names = text.lines().map(str::trim_end).take_while(|line| !line.is_empty());
        let names: Vec<String> =
            names.filter(|line| line.contains("::")).map(str::to_owned).collect();
        if names.is_empty() {
            Err(SuiteError::NoTests { said: answer.message() })
        } else {
            Ok(names)
        }
    }
}

/// Adds to a request the environment variables that load the pytest plugin.
pub(super) fn loaded(request: Request, room: &Path) -> Request {
    let mut request = request.env("PYTEST_PLUGINS", plugins());
    request.paths.push(("PYTHONPATH".to_owned(), hooks_beside(room).display().to_string()));
    request
}

/// Returns the plugins in the user's environment, followed by the hook.
fn plugins() -> String {
    let own = std::env::var("PYTEST_PLUGINS").ok().filter(|own| !own.is_empty());
    own.map_or_else(|| PLUGIN.to_owned(), |own| format!("{own},{PLUGIN}"))
}

/// unittest, including Django's tests.
#[derive(Debug)]
pub(super) struct Unittest;

impl Framework for Unittest {
    fn name(&self) -> &'static str {
        "unittest"
    }

    fn knows(&self, call: &Call) -> bool {
        let is_django = call
            .arguments()
            .windows(2)
            .any(|two| two[0].ends_with("manage.py") && two[1] == "test")
            || call.is(&["manage.py"]) && call.verb().is_some_and(|verb| verb == "test");
        (call.is_module() && call.is(&["unittest"])) || is_django
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
        let runner = hooks_beside(room).join(RUNNER).into_os_string();
        let is_manage =
            |word: &OsString| Path::new(word).file_name().is_some_and(|name| name == "manage.py");
        let mut argv = call.argv.clone();
        let module = argv.windows(2).position(|two| two[0] == "-m" && two[1] == "unittest");
        match (module, argv.iter().position(is_manage)) {
            // `python -m unittest ARGUMENTS` becomes `python RUNNER ARGUMENTS`.
            (Some(module), _) => {
                argv.splice(module..module + 2, [runner]);
            }
            // If a script runs the tests itself, the runner runs the script.
            (None, Some(script)) => {
                let python = call.is(&["manage.py"]).then(|| interpreter(call, &argv[script]));
                let runner = python.into_iter().flatten().chain([runner, "--script".into()]);
                argv.splice(script..script, runner.collect::<Vec<_>>());
            }
            (None, None) => {
                let what = "is run by `python -m unittest` or by `manage.py test`; this command does neither";
                return Err(SuiteError::Unable { framework: "unittest", what: what.to_owned() });
            }
        };
        Ok(ordered(hooked(Request::words(argv), wanted, room), wanted))
    }

    fn watch(&self, _: &Call, room: &Path) -> Option<Watch> {
        Some(Watch::events(room.join(EVENTS)))
    }

    fn read(&self, answer: &Answer<'_>) -> Result<Run, SuiteError> {
        let run = events::read(&answer.room.join(EVENTS))?;
        run.ok_or_else(|| SuiteError::NoReport { said: answer.message() })
    }
}

/// Returns the words that start the interpreter of an executable script, from its shebang line.
fn interpreter(call: &Call, script: &OsString) -> Vec<OsString> {
    let text = script.to_str().and_then(|script| call.text(script)).unwrap_or_default();
    let line = text.lines().next().and_then(|line| line.strip_prefix("#!"));
    let words: Vec<OsString> =
        line.unwrap_or_default().split_whitespace().map(Into::into).collect();
    if words.is_empty() { vec!["python3".into()] } else { words }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn djangos_script_is_run_by_the_runner_wherever_it_lies() {
        let room = tempfile::tempdir().unwrap();
        std::fs::write(room.path().join("manage.py"), "#!/usr/bin/env python\nimport os\n")
            .unwrap();
        let asked = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let call = Call::new(&words, room.path());
            assert!(Unittest.knows(&call), "{line}");
            let request =
                Unittest.ask(&call, &RunRequirements::default(), Path::new("/r/1")).unwrap();
            let words: Vec<_> = request.argv.iter().map(|word| word.to_string_lossy()).collect();
            words.join(" ")
        };
        let runner = "/r/hooks/assay_unittest.py --script";
        assert_eq!(asked("python manage.py test"), format!("python {runner} manage.py test"));
        assert_eq!(
            asked("python ../manage.py test a"),
            format!("python {runner} ../manage.py test a")
        );
        assert_eq!(
            asked("./manage.py test"),
            format!("/usr/bin/env python {runner} ./manage.py test")
        );
        assert_eq!(asked("src/manage.py test"), format!("python3 {runner} src/manage.py test"));
        let words = ["python", "manage.py", "migrate"].map(OsString::from);
        assert!(!Unittest.knows(&Call::new(&words, room.path())));
    }
}
