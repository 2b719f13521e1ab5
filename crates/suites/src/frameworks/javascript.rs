//! jest, vitest, mocha, jasmine and `node --test`, also when run by the scripts of a package.

use super::{EVENTS, Framework, Orders, WHOLE_FILE, any_of, hooked, hooks_beside, seed, too_old};
use crate::asking::{Answer, Request, RunRequirements};
use crate::call::Call;
use crate::error::SuiteError;
use crate::run::Run;
use crate::watching::Watch;
use crate::{events, reports};
use std::ffi::OsString;
use std::path::Path;

/// Returns the options that select tests by name. The names are matched without their file prefix.
fn named(wanted: &RunRequirements) -> Vec<String> {
    let only =
        wanted.only.as_ref().map(|only| only.iter().map(|name| own_name(name)).collect::<Vec<_>>());
    only.map_or_else(Vec::new, |only| vec![format!("--testNamePattern={}", any_of(&only))])
}

/// Returns a test's name without its file prefix.
fn own_name(name: &str) -> String {
    name.split_once(": ").map_or(name, |(_, own)| own).to_owned()
}

/// jest or vitest, which differ mainly in their options for reports and shuffling.
#[derive(Debug)]
pub(super) struct Package {
    name: &'static str,
    /// Options that add a reporter; `=` and the reporter's path are appended to the last one.
    reporter: &'static [&'static str],
    /// Options that request the report; the file name follows.
    report: &'static [&'static str],
    /// The option for a random order, and the option that takes its seed.
    shuffle: [&'static str; 2],
    /// Inserts options at the right position of the command line.
    place: fn(&Call, &[String]) -> Vec<OsString>,
    /// An option that old versions do not know, and the first version that does.
    needs: (&'static str, &'static str),
    /// Options for a single process and a driver; `=` and the driver's path are appended to the
    /// last one. Empty if the runner cannot be replaced.
    driven: &'static [&'static str],
}

/// jest.
pub(super) const JEST: Package = Package {
    name: "jest",
    // `--reporters` replaces configured reporters, so the default one is added again.
    reporter: &["--reporters=default", "--reporters"],
    report: &["--json"],
    shuffle: ["--randomize", "--seed"],
    place: Call::with_options,
    needs: ("randomize", "29.5"),
    driven: &[],
};

/// vitest.
pub(super) const VITEST: Package = Package {
    name: "vitest",
    reporter: &["--reporter"],
    // Without `--run`, vitest would wait for changes.
    report: &["--run", "--reporter=json"],
    shuffle: ["--sequence.shuffle", "--sequence.seed"],
    place: Call::with_last,
    needs: ("outputfile", "0.31"),
    driven: &["--run", "--no-file-parallelism", "--reporter"],
};

impl Framework for Package {
    fn name(&self) -> &'static str {
        self.name
    }

    fn knows(&self, call: &Call) -> bool {
        call.is(&[self.name]) || call.script_runs(&[self.name])
    }

    fn orders(&self) -> Orders {
        Orders::Seeded
    }

    fn selects(&self) -> bool {
        true
    }

    fn ask(
        &self,
        call: &Call,
        wanted: &RunRequirements,
        room: &Path,
    ) -> Result<Request, SuiteError> {
        let report = room.join("report.json");
        let reporter = hooks_beside(room).join("assay_jest_vitest_reporter.mjs");
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        // These options come first: jest would parse file names after them as more reporters.
        let mut options: Vec<String> = words(self.reporter);
        if let Some(option) = options.last_mut() {
            *option = format!("{option}={}", reporter.display());
        }
        options.extend::<Vec<String>>(words(self.report));
        options.push(format!("--outputFile={}", report.display()));
        if let Some(number) = seed(wanted) {
            let [shuffle, seed] = self.shuffle;
            options.extend([shuffle.to_owned(), format!("{seed}={number}")]);
        }
        options.extend(named(wanted));
        Ok(hooked(Request::words((self.place)(call, &options)), &RunRequirements::default(), room))
    }

    fn driven(&self, call: &Call, driver: &Path) -> Option<Request> {
        let mut options: Vec<String> = self.driven.iter().map(|word| (*word).to_owned()).collect();
        let last = options.last_mut()?;
        *last = format!("{last}={}", driver.display());
        Some(Request::words((self.place)(call, &options)))
    }

    fn read(&self, answer: &Answer<'_>) -> Result<Run, SuiteError> {
        // The report is used for versions that do not call the reporter for tests.
        let told = events::read(&answer.room.join(EVENTS))?;
        if let Some(run) = told.filter(|run| !run.tests.is_empty() || !run.unfinished.is_empty()) {
            return Ok(run);
        }
        let results = reports::of_file(&answer.room.join("report.json"), answer);
        let results = results.map_err(|error| too_old(error, answer, self.name, self.needs))?;
        Ok(reports::run(results, self.name, answer))
    }
}

/// mocha or jasmine. A listener is loaded through `NODE_OPTIONS`, so any command may start them.
/// Their own reporters are kept.
#[derive(Debug)]
pub(super) struct Listened {
    name: &'static str,
    /// Option that selects tests by a regular expression matched against full names.
    filter: &'static str,
}

/// mocha.
pub(super) const MOCHA: Listened = Listened { name: "mocha", filter: "--grep" };
/// jasmine.
pub(super) const JASMINE: Listened = Listened { name: "jasmine", filter: "--filter" };

impl Framework for Listened {
    fn name(&self) -> &'static str {
        self.name
    }

    fn knows(&self, call: &Call) -> bool {
        call.is(&[self.name]) || call.script_runs(&[self.name])
    }

    fn orders(&self) -> Orders {
        Orders::No
    }

    fn selects(&self) -> bool {
        true
    }

    fn ask(
        &self,
        call: &Call,
        wanted: &RunRequirements,
        room: &Path,
    ) -> Result<Request, SuiteError> {
        if seed(wanted).is_some() {
            return Err(SuiteError::Unable {
                framework: self.name,
                what: "has no random order that assay can request; use --order given".to_owned(),
            });
        }
        let own = wanted
            .only
            .as_ref()
            .map(|only| only.iter().map(|name| own_name(name)).collect::<Vec<_>>());
        let options = own.map(|own| format!("{}={}", self.filter, any_of(&own)));
        let options: Vec<String> = options.into_iter().collect();
        let request = Request::words(call.with_options(&options));
        Ok(loaded(hooked(request, &RunRequirements::default(), room), false, room))
    }

    fn watch(&self, _: &Call, room: &Path) -> Option<Watch> {
        Some(Watch::events(room.join(EVENTS)))
    }

    fn read(&self, answer: &Answer<'_>) -> Result<Run, SuiteError> {
        let run = events::read(&answer.room.join(EVENTS))?;
        run.ok_or_else(|| SuiteError::NoReport { said: answer.message() })
    }
}

/// File name of the hook that every Node process of a command loads first.
const START: &str = "assay_node_start.cjs";

/// Adds to a request the hook that detects frameworks in Node processes as they start and makes
/// them report. If `runs_node`, `node --test` is made to report as well.
pub(super) fn loaded(mut request: Request, runs_node: bool, room: &Path) -> Request {
    let mut options = vec![required(room)];
    if runs_node {
        options.extend(reporters(room));
    }
    request.options.push(("NODE_OPTIONS".to_owned(), options.join(" ")));
    request
}

/// Returns the option that loads `START`.
fn required(room: &Path) -> String {
    let start = hooks_beside(room).join(START).display().to_string();
    match start.contains(' ') {
        true => format!("--require \"{start}\""),
        false => format!("--require {start}"),
    }
}

/// Returns the options of `node --test` that request its reports.
fn reporters(room: &Path) -> Vec<String> {
    let report = room.join("report.xml");
    vec![
        "--test-reporter=junit".to_owned(),
        format!("--test-reporter-destination={}", report.display()),
        format!("--test-reporter={}", hooks_beside(room).join(REPORTER).display()),
        "--test-reporter-destination=stdout".to_owned(),
    ]
}

/// File name of the reporter that writes events.
const REPORTER: &str = "assay_node_reporter.mjs";
/// File name of the module that test processes import to record what their tests use.
const COVERAGE: &str = "assay_node_coverage.mjs";

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

    fn covers(&self) -> bool {
        true
    }

    fn covers_files(&self) -> bool {
        true
    }

    fn ask(
        &self,
        call: &Call,
        wanted: &RunRequirements,
        room: &Path,
    ) -> Result<Request, SuiteError> {
        if seed(wanted).is_some() {
            return Err(SuiteError::Unable {
                framework: "node --test",
                what: "has no random order; use --order given".to_owned(),
            });
        }
        let mut options = reporters(room);
        let only = wanted.only.as_deref().unwrap_or_default();
        let (files, names): (Vec<_>, Vec<_>) =
            only.iter().partition(|name| name.starts_with(WHOLE_FILE));
        if !names.is_empty() && files.is_empty() {
            // Names include their groups, and the name of each group must be matched separately.
            let mut names: Vec<String> =
                names.iter().flat_map(|name| name.split(": ").map(str::to_owned)).collect();
            names.sort();
            names.dedup();
            options.push(format!("--test-name-pattern={}", any_of(&names)));
        }
        let argv = match call.script() {
            // Words after the files are arguments of the test files.
            Some(_) => call.argv.clone(),
            None => call.with_options_behind("--test", &options),
        };
        // Processes for files that were not selected exit immediately. If both names and whole
        // files are wanted, everything runs.
        let only = wanted.only.clone().filter(|_| names.is_empty() && !files.is_empty());
        let told = RunRequirements {
            only,
            coverage: wanted.coverage.clone(),
            ..RunRequirements::default()
        };
        let mut request = hooked(Request::words(argv), &told, room);
        let mut of_node = vec![required(room)];
        if call.script().is_some() {
            of_node.extend(options);
        }
        if told.only.is_some() || told.coverage.is_some() {
            of_node.push(format!("--import={}", url(&hooks_beside(room).join(COVERAGE))));
        }
        request.options.push(("NODE_OPTIONS".to_owned(), of_node.join(" ")));
        Ok(request)
    }

    fn watch(&self, _: &Call, room: &Path) -> Option<Watch> {
        Some(Watch::events(room.join(EVENTS)))
    }

    fn read(&self, answer: &Answer<'_>) -> Result<Run, SuiteError> {
        if let Some(run) = events::read(&answer.room.join(EVENTS))? {
            return Ok(run);
        }
        let results = reports::of_file(&answer.room.join("report.xml"), answer);
        let errors = String::from_utf8_lossy(answer.errors);
        let results = results.map_err(|error| match error {
            // Old versions try to load `junit` as a module and fail.
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

/// Returns the URL of a file, encoded so that it contains no space at which Node would split the
/// options.
fn url(path: &Path) -> String {
    let path = path.display().to_string();
    let signs = [("%", "%25"), (" ", "%20"), ("#", "%23"), ("?", "%3F"), ("\"", "%22")];
    let encoded = signs.iter().fold(path, |path, (sign, code)| path.replace(sign, code));
    format!("file://{encoded}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chosen_files_are_told_to_the_processes_of_node() {
        let call = Call::new(&["node", "--test"].map(OsString::from), Path::new("/nonexistent"));
        let only = |names: &[&str]| RunRequirements {
            only: Some(names.iter().map(|name| (*name).to_owned()).collect()),
            coverage: Some("/top".into()),
            ..RunRequirements::default()
        };
        let room = Path::new("/a b/1");
        let of = |names: &[&str]| {
            let request = NodeTest.ask(&call, &only(names), room).unwrap();
            let chosen = request.env.iter().any(|(name, _)| name == "ASSAY_TESTS_ONLY");
            let words: Vec<_> =
                request.argv.iter().map(|w| w.to_string_lossy().into_owned()).collect();
            let pattern = words.iter().any(|word| word.starts_with("--test-name-pattern"));
            assert!(request.options[0].1.contains(" --import=file:///a%20b/hooks/"));
            (chosen, pattern)
        };
        assert_eq!(of(&["file:a.test.mjs"]), (true, false));
        assert_eq!(of(&["a test"]), (false, true));
        assert_eq!(of(&["a test", "file:a.test.mjs"]), (false, false), "all run");
    }

    #[test]
    fn vitest_takes_a_driver_and_jest_takes_none() {
        let words = ["npx", "vitest", "run", "src"].map(OsString::from);
        let call = Call::new(&words, Path::new("/nonexistent"));
        let words = VITEST.driven(&call, Path::new("/r/d.mjs")).unwrap().argv;
        assert_eq!(words[4..], ["--run", "--no-file-parallelism", "--reporter=/r/d.mjs"]);
        assert!(JEST.driven(&call, Path::new("/r/d.mjs")).is_none());
    }

    #[test]
    fn files_of_the_user_are_no_reporters_of_jest() {
        let words = ["npx", "jest", "src"].map(OsString::from);
        let call = Call::new(&words, Path::new("/nonexistent"));
        let request = JEST.ask(&call, &RunRequirements::default(), Path::new("/r/1")).unwrap();
        let words: Vec<_> = request.argv.iter().map(|word| word.to_string_lossy()).collect();
        assert_eq!(
            words[2..],
            [
                "--reporters=default",
                "--reporters=/r/hooks/assay_jest_vitest_reporter.mjs",
                "--json",
                "--outputFile=/r/1/report.json",
                "src"
            ]
        );
    }
}
