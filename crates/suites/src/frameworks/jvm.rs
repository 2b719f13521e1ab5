//! Maven (Surefire and Failsafe) and Gradle, which always write JUnit XML to their build
//! directories. Report files that are newer than the start of the run are read.

use super::{Framework, Orders, seed};
use crate::asking::{Answer, Request, RunRequirements};
use crate::call::Call;
use crate::error::SuiteError;
use crate::reports;
use crate::run::{Run, Test};
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// Maximum depth at which modules are searched for.
const MAX_DEPTH: usize = 6;
/// Resolution of file system timestamps, in seconds.
const TICK: f64 = 0.02;

/// Maven.
#[derive(Debug)]
pub(super) struct Maven;

impl Framework for Maven {
    fn name(&self) -> &'static str {
        "maven"
    }

    fn knows(&self, call: &Call) -> bool {
        call.is(&["mvn", "mvnw", "mvnd"])
            && call.has(&[
                "test",
                "verify",
                "install",
                "package",
                "integration-test",
                "surefire:test",
            ])
    }

    fn orders(&self) -> Orders {
        Orders::Seeded
    }

    fn ask(&self, call: &Call, wanted: &RunRequirements, _: &Path) -> Result<Request, SuiteError> {
        let mut options = Vec::new();
        if let Some(seed) = seed(wanted) {
            options.push("-Dsurefire.runOrder=random".to_owned());
            options.push(format!("-Dsurefire.runOrder.random.seed={seed}"));
        }
        if let Some(only) = &wanted.only {
            let test = |name: &String| name.replacen(": ", "#", 1);
            options.push(format!("-Dtest={}", only.iter().map(test).collect::<Vec<_>>().join(",")));
        }
        Ok(Request::words(call.with_options(&options)))
    }

    fn read(&self, answer: &Answer<'_>) -> Result<Run, SuiteError> {
        read(answer, &["target/surefire-reports", "target/failsafe-reports"], "Maven")
    }
}

/// Gradle.
#[derive(Debug)]
pub(super) struct Gradle;

impl Framework for Gradle {
    fn name(&self) -> &'static str {
        "gradle"
    }

    fn knows(&self, call: &Call) -> bool {
        let is_task = |word: &String| {
            let task = word.rsplit(':').next().unwrap_or_default();
            task == "check" || task == "build" || task.to_lowercase().ends_with("test")
        };
        call.is(&["gradle", "gradlew"]) && call.arguments().iter().any(is_task)
    }

    fn orders(&self) -> Orders {
        Orders::No
    }

    fn ask(&self, call: &Call, wanted: &RunRequirements, _: &Path) -> Result<Request, SuiteError> {
        if seed(wanted).is_some() {
            return Err(SuiteError::Unable {
                framework: "Gradle",
                what: "has no random order; use --order given".to_owned(),
            });
        }
        let mut options = Vec::new();
        // Otherwise Gradle skips tests whose inputs have not changed.
        if !call.has(&["--rerun", "--rerun-tasks"]) {
            options.push("--rerun".to_owned());
        }
        for name in wanted.only.iter().flatten() {
            options.extend(["--tests".to_owned(), name.replacen(": ", ".", 1)]);
        }
        Ok(Request::words(call.with_last(&options)))
    }

    fn read(&self, answer: &Answer<'_>) -> Result<Run, SuiteError> {
        if super::refuses(answer, "--rerun") {
            let said = answer.message().unwrap_or_default();
            return Err(SuiteError::TooOld { framework: "Gradle", needed: "7.6", said });
        }
        read(answer, &["build/test-results"], "Gradle")
    }
}

fn read(answer: &Answer<'_>, places: &[&str], framework: &str) -> Result<Run, SuiteError> {
    let mut files = Vec::new();
    let youngest = answer.began + answer.since_1970 - TICK;
    find(answer.directory, places, youngest, MAX_DEPTH, &mut files);
    files.sort();
    if files.is_empty() {
        return Err(SuiteError::NoReport { said: answer.message() });
    }
    let mut run = Run { framework: framework.to_owned(), ..Run::default() };
    // Different modules may have classes with the same name.
    let mut names = HashSet::new();
    for file in files {
        let results = reports::of_file(&file, answer)?;
        run.tests.extend(results.tests.iter().map(|test| {
            let group = test.name.split_once(": ").map(|(class, _)| class.to_owned());
            let name = reports::unique(&mut names, test.name.clone());
            Test { name, group, ..reports::of_result(test) }
        }));
        run.faults.extend(results.faults);
    }
    Ok(run)
}

/// Finds the reports that are in `places` below a directory and in its modules and that are no
/// older than `youngest`, in seconds since 1970.
fn find(directory: &Path, places: &[&str], youngest: f64, depth: usize, files: &mut Vec<PathBuf>) {
    for place in places {
        reports_in(&directory.join(place), youngest, 2, files);
    }
    let Some(entries) = fs::read_dir(directory).ok().filter(|_| depth > 0) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_module = !name.starts_with('.')
            && !matches!(&*name, "src" | "target" | "build" | "node_modules");
        if is_module && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            find(&entry.path(), places, youngest, depth - 1, files);
        }
    }
}

fn reports_in(directory: &Path, youngest: f64, depth: usize, files: &mut Vec<PathBuf>) {
    let Some(entries) = fs::read_dir(directory).ok().filter(|_| depth > 0) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            reports_in(&path, youngest, depth - 1, files);
            continue;
        }
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let changed = entry.metadata().ok().and_then(|file| file.modified().ok());
        let changed = changed.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let is_young = changed.is_some_and(|time| time.as_secs_f64() >= youngest);
        if name.starts_with("TEST-") && name.ends_with(".xml") && is_young {
            files.push(path);
        }
    }
}
