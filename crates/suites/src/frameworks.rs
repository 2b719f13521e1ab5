//! The test frameworks that are known. Each is a file: how it is recognised from the command, how it is asked for the time of every test, how it
//! orders and selects tests, and how its answer is read.

mod cargo;
mod ctest;
mod go;
mod javascript;
mod jvm;
mod native;
mod printed;
mod python;
mod ruby;

pub(crate) use cargo::crate_that_runs;

use crate::asking::{Answer, Request, Wanted};
use crate::call::Call;
use crate::error::SuiteError;
use crate::hooks;
use crate::programs::Program;
use crate::run::Run;
use crate::watching::Watch;
use std::ffi::OsString;
use std::fmt::Debug;
use std::path::{Path, PathBuf};

/// How the order of tests can be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orders {
    /// Not at all.
    No,
    /// A random one by a seed.
    Seeded,
    /// Any, test by test.
    Any,
}

/// A test framework.
pub trait Framework: Debug + Sync {
    /// Its name, by which users choose it.
    fn name(&self) -> &'static str;

    /// Whether a command runs it.
    fn knows(&self, call: &Call) -> bool;

    /// How the order of tests can be chosen.
    fn orders(&self) -> Orders;

    /// Whether a run can be held to some of the tests by their names; else it is held to more than these, or not at all.
    fn selects(&self) -> bool {
        self.orders() == Orders::Any
    }

    /// Whether its runs can tell what each test uses of the project.
    fn covers(&self) -> bool {
        false
    }

    /// Whether they tell it of all tests of a file together, so that they are chosen by files.
    fn covers_files(&self) -> bool {
        false
    }

    /// The command that runs the suite and leaves its answer in `room`, which is empty then.
    ///
    /// # Errors
    /// When it can't do what is wanted.
    fn ask(&self, call: &Call, wanted: &Wanted, room: &Path) -> Result<Request, SuiteError>;

    /// What a run told.
    ///
    /// # Errors
    /// When it left no answer, or one that can't be read.
    fn read(&self, answer: &Answer<'_>) -> Result<Run, SuiteError>;

    /// The command that builds all that a run needs, and runs no test. If it is `told`, compilers name each error by file and line, and stop at none; a run with
    /// [`Wanted::keep`] takes what is built so. `None`: a run alone builds.
    fn builds(&self, _call: &Call, _told: bool) -> Option<Request> {
        None
    }

    /// The command that runs test programs again which a run recorded in `kept`, if it `stops` until the first of them that fails; its answer is read as that of
    /// a run. `None`: only a run runs them.
    fn again(
        &self,
        _programs: &[&Program],
        _kept: &Path,
        _stops: bool,
        _room: &Path,
    ) -> Option<Request> {
        None
    }

    /// What stands before the names of a test program's tests, with a colon and a blank behind it, where [`Framework::again`] can hold it to some of them by the
    /// rest of their names. `None`: it can't.
    fn names(&self, _program: &Program) -> Option<String> {
        None
    }

    /// The files in which tests stand that runs name without one, below the directory of the call; `None`: not known.
    fn files(&self, _call: &Call, tests: &[&str]) -> Vec<Option<String>> {
        vec![None; tests.len()]
    }

    /// The command that builds as [`Framework::builds`] does, and records in `kept` which compilers it runs on the project's own code, which can run again
    /// ([`programs`]). `None`: it says nothing of them.
    fn compiles(&self, _call: &Call, _kept: &Path) -> Option<Request> {
        None
    }

    /// The words that compile the package of the directory that they are started in, as this command does, and print on standard error what code its functions
    /// have, none within another. `None`: there are none.
    fn code(&self, _call: &Call) -> Option<Vec<OsString>> {
        None
    }

    /// The command that has the framework load a driver as a reporter. The driver replaces the framework's runner and runs its tests repeatedly. `None` if the
    /// framework allows no such driver.
    fn driven(&self, _call: &Call, _driver: &Path) -> Option<Request> {
        None
    }

    /// What looks at a run of this command from outside while it goes on, with its answer in `room`; `None` where it tells nothing before it is over.
    fn watch(&self, _call: &Call, _room: &Path) -> Option<Watch> {
        None
    }

    /// The command that lists the tests and runs none.
    ///
    /// # Errors
    /// When there is none.
    fn list(&self, _call: &Call, _room: &Path) -> Result<Request, SuiteError> {
        let what = "can't list its tests without running them, so it can't be divided: --shard is for pytest, rspec and go";
        Err(SuiteError::Unable { framework: self.name(), what: what.to_owned() })
    }

    /// The tests that were listed, by the names that a run gives them; of Go the functions, without subtests.
    ///
    /// # Errors
    /// When there is no list, or it can't be read.
    fn listed(&self, answer: &Answer<'_>) -> Result<Vec<String>, SuiteError> {
        Err(SuiteError::NoReport { said: answer.said() })
    }
}

/// All that are recognised, in the order in which they are asked.
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

/// And those that are looked for last, for they read whatever there is.
const LAST: [&dyn Framework; 1] = [&native::Catch2];

fn known() -> impl Iterator<Item = &'static dyn Framework> {
    KNOWN.into_iter().chain(LAST)
}

/// The names of all frameworks.
pub fn names() -> Vec<&'static str> {
    known().map(Framework::name).chain(["tap", "junit:FILE", "tap:FILE"]).collect()
}

/// The names of those whose runs can tell what each test uses of the project.
pub fn that_cover() -> Vec<&'static str> {
    known().filter(|own| (**own).covers()).map(Framework::name).collect()
}

/// The framework of this name.
///
/// # Errors
/// When there is none.
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

/// The framework that a command runs. One that is not known may print what can be read: TAP, JUnit XML.
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

    fn ask(&self, call: &Call, wanted: &Wanted, room: &Path) -> Result<Request, SuiteError> {
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

/// The seed of the order, where it is random.
fn seed(wanted: &Wanted) -> Option<u64> {
    match wanted.order {
        crate::Order::Given => None,
        crate::Order::Random(seed) => Some(seed),
    }
}

/// What stands before the path of a file all of whose tests are wanted (docs/reference/test-events.md, `ASSAY_TESTS_ONLY`).
pub const WHOLE_FILE: &str = "file:";

/// The directory of hooks, beside the rooms of all runs: what an interpreter makes of them to load them faster is there for the next run.
const HOOKS: &str = "hooks";
/// The directory of what they write, in the room of a run.
const EVENTS: &str = "events";

fn hooks_beside(room: &Path) -> PathBuf {
    room.with_file_name(HOOKS)
}

/// A request with the hooks, and what tells it where to write and what to do.
fn hooked(request: Request, wanted: &Wanted, room: &Path) -> Request {
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

/// A request whose hook orders the tests, where the framework can't.
fn ordered(request: Request, wanted: &Wanted) -> Request {
    match seed(wanted) {
        Some(seed) => request.env("ASSAY_TESTS_ORDER", seed.to_string()),
        None => request,
    }
}

/// A regular expression that matches these names and no others, as nearly all dialects read it.
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

/// Whether what a command said speaks of an option of this name that it doesn't know.
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

/// Explains a missing report: the framework is too old for one of our options, or said why itself.
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
        assert!(by_name("nose").unwrap_err().to_string().contains("there are rspec, "));
    }

    #[test]
    fn names_are_matched_as_they_are() {
        assert_eq!(any_of(&["a.b".to_owned(), "c (d)".to_owned()]), r"^(a\.b|c \(d\))$");
    }
}
