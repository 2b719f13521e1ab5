//! The supported test frameworks. For each, a file defines how the framework is detected from the
//! command, how per-test times are requested, how it orders and selects tests, and how its report
//! is read.

mod cargo;
pub(crate) mod crates;
mod ctest;
mod go;
mod javascript;
mod jvm;
mod native;
mod printed;
mod python;
mod ruby;

use crate::asking::{Answer, Request, RunRequirements};
use crate::call::Call;
use crate::error::SuiteError;
use crate::hooks;
use crate::programs::Program;
use crate::run::Run;
use crate::watching::Watch;
use std::ffi::OsString;
use std::fmt::Debug;
use std::path::{Path, PathBuf};

/// How far the order of a framework's tests can be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orders {
    /// The order cannot be chosen.
    No,
    /// A random order can be chosen by a seed.
    Seeded,
    /// Any order can be chosen, test by test.
    Any,
}

/// A test framework.
pub trait Framework: Debug + Sync {
    /// Name by which users select the framework.
    fn name(&self) -> &'static str;

    /// Returns true if the command runs this framework.
    fn knows(&self, call: &Call) -> bool;

    /// Returns how far the order of tests can be chosen.
    fn orders(&self) -> Orders;

    /// Returns true if a run can be restricted to tests by name. Otherwise a restricted run
    /// includes additional tests, or cannot be restricted at all.
    fn selects(&self) -> bool {
        self.orders() == Orders::Any
    }

    /// Returns true if runs can report what each test uses of the project.
    fn covers(&self) -> bool {
        false
    }

    /// Returns true if coverage is reported per file instead of per test, so that tests are
    /// selected by file.
    fn covers_files(&self) -> bool {
        false
    }

    /// Returns the command that runs the suite and writes its reports to `room`, an empty
    /// directory.
    ///
    /// # Errors
    /// Returns an error if the framework does not support what is wanted.
    fn ask(
        &self,
        call: &Call,
        wanted: &RunRequirements,
        room: &Path,
    ) -> Result<Request, SuiteError>;

    /// Reads the results of a run.
    ///
    /// # Errors
    /// Returns an error if the run left no report, or one that cannot be read.
    fn read(&self, answer: &Answer<'_>) -> Result<Run, SuiteError>;

    /// Returns the command that builds everything a run needs without running tests, or `None` if
    /// only a run can build. If `told`, compilers report each error with its file and line and do
    /// not stop early. Runs with [`RunRequirements::keep`] reuse this build.
    fn builds(&self, _call: &Call, _told: bool) -> Option<Request> {
        None
    }

    /// Returns the command that reruns test programs recorded in `kept` by an earlier run, or
    /// `None` if programs can only be run by a full run. If `stops`, the command ends at the first
    /// failure. Its results are read like those of a run.
    fn again(
        &self,
        _programs: &[&Program],
        _kept: &Path,
        _stops: bool,
        _room: &Path,
    ) -> Option<Request> {
        None
    }

    /// Returns the prefix of a program's test names, which is followed by a colon and a space.
    /// `None` unless [`Framework::again`] can select tests by the part of their names after it.
    fn names(&self, _program: &Program) -> Option<String> {
        None
    }

    /// Returns the files of tests whose names do not include the file, relative to the call's
    /// directory; `None` for each test whose file is unknown.
    fn files(&self, _call: &Call, tests: &[&str]) -> Vec<Option<String>> {
        vec![None; tests.len()]
    }

    /// Returns a command that builds like that of [`Framework::builds`] and also records in `kept`
    /// the compiler invocations for the project's own code, so that they can be rerun
    /// ([`programs`](crate::programs)). `None` if compilers cannot be recorded.
    fn compiles(&self, _call: &Call, _kept: &Path) -> Option<Request> {
        None
    }

    /// Returns the command that compiles the package in the current directory in the same way as
    /// this call and prints the code of each function, without nested functions, to standard error.
    /// `None` if not supported.
    fn code(&self, _call: &Call) -> Option<Vec<OsString>> {
        None
    }

    /// Returns the command that makes the framework load a driver as a reporter. The driver
    /// replaces the framework's runner and runs its tests repeatedly. `None` if the framework does
    /// not support such drivers.
    fn driven(&self, _call: &Call, _driver: &Path) -> Option<Request> {
        None
    }

    /// Returns a watcher that observes a run of this command from outside while the run writes its
    /// reports to `room`. `None` if no report is available before the run ends.
    fn watch(&self, _call: &Call, _room: &Path) -> Option<Watch> {
        None
    }

    /// Returns the command that lists the tests without running them.
    ///
    /// # Errors
    /// Returns an error if the framework cannot list its tests.
    fn list(&self, _call: &Call, _room: &Path) -> Result<Request, SuiteError> {
        let what = "can't list its tests without running them, so it can't be divided: --shard is for pytest, rspec and go";
        Err(SuiteError::Unable { framework: self.name(), what: what.to_owned() })
    }

    /// Returns the listed tests, by the names that a run reports. For Go, these are the functions,
    /// without subtests.
    ///
    /// # Errors
    /// Returns an error if the list is missing or cannot be read.
    fn listed(&self, answer: &Answer<'_>) -> Result<Vec<String>, SuiteError> {
        Err(SuiteError::NoReport { said: answer.message() })
    }
}

/// The frameworks that can be detected from a command, in the order in which they are tried.
const KNOWN: [&dyn Framework; 17] = [
    &ruby::Rspec,
    &ruby::Minitest,
    &ruby::TestUnit,
    &python::Pytest,
    &python::Unittest,
    &go::GoTest,
    &cargo::Nextest,
    &cargo::CargoTest,
    &javascript::JEST,
    &javascript::VITEST,
    &javascript::MOCHA,
    &javascript::JASMINE,
    &javascript::NodeTest,
    &jvm::Maven,
    &jvm::Gradle,
    &ctest::Ctest,
    &native::GoogleTest,
];

/// Frameworks that are tried last, because detecting them requires reading the program file itself.
const LAST: [&dyn Framework; 1] = [&native::Catch2];

fn known() -> impl Iterator<Item = &'static dyn Framework> {
    KNOWN.into_iter().chain(LAST)
}

/// Returns the names by which users select frameworks and report formats.
pub fn names() -> Vec<&'static str> {
    known().map(Framework::name).chain(["tap", "junit:FILE", "tap:FILE"]).collect()
}

/// Returns the names of the frameworks whose runs can report what each test uses of the project.
pub fn that_cover() -> Vec<&'static str> {
    known().filter(|own| (**own).covers()).map(Framework::name).collect()
}

/// Returns the framework or report format with this name.
///
/// # Errors
/// Returns an error if no framework or report format has this name.
pub fn by_name(name: &str) -> Result<Box<dyn Framework>, SuiteError> {
    if let Some(file) = name.strip_prefix("junit:").or_else(|| name.strip_prefix("tap:")) {
        return Ok(Box::new(printed::Written { file: file.into() }));
    }
    if name == "tap" {
        return Ok(Box::new(printed::Printed { looks: false }));
    }
    let own = known().find(|own| own.name() == name);
    let own = own.ok_or_else(|| SuiteError::NoSuchFramework {
        name: name.to_owned(),
        known: names().join(", "),
    })?;
    Ok(Box::new(own))
}

/// Returns the framework that a command runs. An unknown command is expected to print TAP or JUnit
/// XML.
pub fn by_call(call: &Call) -> Box<dyn Framework> {
    match known().find(|framework| framework.knows(call)) {
        Some(own) => Box::new(own),
        None => Box::new(printed::Printed { looks: true }),
    }
}

impl Framework for &'static dyn Framework {
    fn name(&self) -> &'static str {
        (**self).name()
    }

    fn knows(&self, call: &Call) -> bool {
        (**self).knows(call)
    }

    fn orders(&self) -> Orders {
        (**self).orders()
    }

    fn selects(&self) -> bool {
        (**self).selects()
    }

    fn covers(&self) -> bool {
        (**self).covers()
    }

    fn covers_files(&self) -> bool {
        (**self).covers_files()
    }

    fn ask(
        &self,
        call: &Call,
        wanted: &RunRequirements,
        room: &Path,
    ) -> Result<Request, SuiteError> {
        Ok(call.through_env((**self).ask(call, wanted, room)?))
    }

    fn read(&self, answer: &Answer<'_>) -> Result<Run, SuiteError> {
        (**self).read(answer)
    }

    fn builds(&self, call: &Call, told: bool) -> Option<Request> {
        (**self).builds(call, told)
    }

    fn again(
        &self,
        programs: &[&Program],
        kept: &Path,
        stops: bool,
        room: &Path,
    ) -> Option<Request> {
        (**self).again(programs, kept, stops, room)
    }

    fn names(&self, program: &Program) -> Option<String> {
        (**self).names(program)
    }

    fn files(&self, call: &Call, tests: &[&str]) -> Vec<Option<String>> {
        (**self).files(call, tests)
    }

    fn compiles(&self, call: &Call, kept: &Path) -> Option<Request> {
        (**self).compiles(call, kept)
    }

    fn code(&self, call: &Call) -> Option<Vec<OsString>> {
        (**self).code(call)
    }

    fn driven(&self, call: &Call, driver: &Path) -> Option<Request> {
        Some(call.through_env((**self).driven(call, driver)?))
    }

    fn watch(&self, call: &Call, room: &Path) -> Option<Watch> {
        (**self).watch(call, room)
    }

    fn list(&self, call: &Call, room: &Path) -> Result<Request, SuiteError> {
        (**self).list(call, room)
    }

    fn listed(&self, answer: &Answer<'_>) -> Result<Vec<String>, SuiteError> {
        (**self).listed(answer)
    }
}

/// Returns the seed of a random order, or `None` for the framework's own order.
fn seed(wanted: &RunRequirements) -> Option<u64> {
    match wanted.order {
        crate::Order::Given => None,
        crate::Order::Random(seed) => Some(seed),
    }
}

/// Prefix of a path in the list of wanted tests that selects all tests of that file
/// (docs/reference/test-events.md, `ASSAY_TESTS_ONLY`).
pub const WHOLE_FILE: &str = "file:";

/// Name of the directory with the hooks. It is shared by all runs, so that interpreters can reuse
/// their compiled copies of the hooks.
const HOOKS: &str = "hooks";
/// Name of the directory for the events that hooks write, inside the directory of a run.
const EVENTS: &str = "events";

fn hooks_beside(room: &Path) -> PathBuf {
    room.with_file_name(HOOKS)
}

/// Adds the hooks to a request, and the variables that configure them.
fn hooked(request: Request, wanted: &RunRequirements, room: &Path) -> Request {
    let events = room.join(EVENTS);
    let mut request = request.env("ASSAY_TESTS", format!("path:{}", events.display()));
    request.directories.push(events);
    for (name, text) in hooks::files() {
        request = request.file(hooks_beside(room).join(name), text);
    }
    for (name, library) in hooks::LIBRARIES {
        request = request.file(hooks_beside(room).join(name), library);
    }
    if wanted.causes {
        request = request.env("ASSAY_TESTS_CAUSES", "1");
    }
    if wanted.frames {
        request = request.env("ASSAY_TESTS_FRAMES", "1");
    }
    if let Some(top) = &wanted.coverage {
        request = request.env("ASSAY_TESTS_COVERAGE", format!("path:{}", top.display()));
    }
    if let Some(only) = &wanted.only {
        let list = room.join("only.txt");
        let names: String = only.iter().map(|name| format!("{name}\n")).collect();
        request =
            request.env("ASSAY_TESTS_ONLY", format!("path:{}", list.display())).file(list, names);
    }
    request
}

/// Makes the hook order the tests, for frameworks that cannot order them themselves.
fn ordered(request: Request, wanted: &RunRequirements) -> Request {
    match seed(wanted) {
        Some(seed) => request.env("ASSAY_TESTS_ORDER", seed.to_string()),
        None => request,
    }
}

/// Returns a regular expression that matches exactly these names, in a syntax that nearly all
/// dialects share.
fn any_of(names: &[String]) -> String {
    let escaped: Vec<String> = names.iter().map(|name| escaped(name)).collect();
    format!("^({})$", escaped.join("|"))
}

fn escaped(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for c in name.chars() {
        if r"\.+*?()|[]{}^$/".contains(c) {
            text.push('\\');
        }
        text.push(c);
    }
    text
}

/// Returns true if the command complained that an option with this name is unknown.
fn refuses(answer: &Answer<'_>, option: &str) -> bool {
    let has = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        text.lines().any(|line| {
            let line = line.to_ascii_lowercase();
            line.contains(option)
                && [
                    "unrecognized",
                    "unknown",
                    "bad option",
                    "invalid option",
                    "not defined",
                    "not supported",
                ]
                .iter()
                .any(|word| line.contains(word))
        })
    };
    has(answer.errors) || has(answer.output)
}

/// Explains a missing report, either because the framework is too old for an option that was added,
/// or with the reason that the command printed.
fn too_old(
    error: SuiteError,
    answer: &Answer<'_>,
    framework: &'static str,
    (option, needed): (&str, &'static str),
) -> SuiteError {
    match error {
        SuiteError::NoReport { said } if refuses(answer, option) => {
            let said = said.unwrap_or_default();
            SuiteError::TooOld { framework, needed, said }
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;

    fn call(line: &str) -> Call {
        let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        Call::new(&words, Path::new("/nonexistent"))
    }

    #[test]
    fn frameworks_are_known_by_their_commands() {
        for (line, name) in [
            ("bundle exec rspec spec/models", "rspec"),
            ("bin/rspec", "rspec"),
            ("bundle exec rake spec", "rspec"),
            ("ruby -Ilib:test test/user_test.rb", "minitest"),
            ("bin/rails test", "minitest"),
            ("rake test", "minitest"),
            ("pytest", "pytest"),
            ("python3 -m pytest -x tests", "pytest"),
            ("tox -e py", "tap"),
            ("python -m unittest discover", "unittest"),
            ("python manage.py test", "unittest"),
            ("go test ./...", "go"),
            ("gotestsum -- ./...", "go"),
            ("cargo test --workspace", "cargo"),
            ("cargo +nightly test", "cargo"),
            ("cargo nextest run", "nextest"),
            ("npx jest --ci", "jest"),
            ("vitest run", "vitest"),
            ("node --test", "node"),
            ("npx mocha --reporter tap", "mocha"),
            ("npx nyc mocha", "mocha"),
            ("jasmine spec/a.js", "jasmine"),
            ("cross-env NODE_ENV=test mocha", "mocha"),
            ("node --import tsx --test tests", "node"),
            ("mvn -q test", "maven"),
            ("./mvnw verify", "maven"),
            ("./gradlew test", "gradle"),
            ("ctest --test-dir build", "ctest"),
            ("make check", "tap"),
            ("go build", "tap"),
            ("node app.js", "tap"),
        ] {
            assert_eq!(by_call(&call(line)).name(), name, "{line}");
        }
        for name in names() {
            assert!(by_name(name).is_ok(), "{name}");
        }
        assert!(by_name("nose").unwrap_err().to_string().contains("known are rspec, "));
    }

    #[test]
    fn names_are_matched_as_they_are() {
        assert_eq!(any_of(&["a.b".to_owned(), "c (d)".to_owned()]), r"^(a\.b|c \(d\))$");
    }
}
