//! Small projects on which the real binary is tried.
#![allow(dead_code, reason = "each file of tests needs some of it")]

use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// Selects the sandbox, which is disabled otherwise.
pub const SANDBOX: &str = "in the sandbox";

/// A project with its own cache.
pub struct Project(pub TempDir);

impl Project {
    pub fn new(files: &[(&str, &str)]) -> Self {
        let own = Self(tempfile::tempdir().unwrap());
        fs::create_dir(own.top()).unwrap();
        files.iter().for_each(|(path, text)| own.write(path, text));
        own
    }

    pub fn top(&self) -> std::path::PathBuf {
        self.0.path().join("project")
    }

    pub fn write(&self, path: &str, text: &str) {
        fs::write(self.top().join(path), text).unwrap();
    }

    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_assay-mutate"));
        // The mutants tried here are harmless, and the caller's interpreter may be in a home
        // directory.
        let runs = words.contains(&"--") && !words.contains(&SANDBOX);
        command.args(runs.then_some("--no-sandbox"));
        command.args(words.iter().filter(|word| **word != SANDBOX)).current_dir(self.top());
        command.env("XDG_CACHE_HOME", self.0.path().join("cache"));
        command.env("NO_COLOR", "1").env("COLUMNS", "100");
        if !words.contains(&SANDBOX) {
            // The user within the sandbox can access only the usual directory for temporary files.
            command.env("TMPDIR", self.temporary());
        }
        command.env("PYTHONDONTWRITEBYTECODE", "1");
        command.stdin(Stdio::null());
        command
    }

    pub fn temporary(&self) -> std::path::PathBuf {
        let path = self.0.path().join("tmp");
        fs::create_dir_all(&path).unwrap();
        path
    }

    pub fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    /// Runs it with JSON output on Python tests.
    pub fn tried(&self, words: &[&str]) -> (Value, Option<i32>) {
        self.tried_by(words, &["python3", "-m", "unittest"])
    }

    /// Runs it with JSON output on the tests of a command.
    pub fn tried_by(&self, words: &[&str], command: &[&str]) -> (Value, Option<i32>) {
        let all = [words, &["--json", "--"], command].concat();
        let output = self.run(&all);
        let parsed = serde_json::from_slice(&output.stdout);
        let value = parsed.unwrap_or_else(|_| panic!("{output:?}"));
        (value, output.status.code())
    }

    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let entries = fs::read_dir(self.top()).unwrap().flatten();
        let files = entries.filter(|entry| entry.path().is_file());
        files
            .map(|own| (own.file_name().into_string().unwrap(), fs::read(own.path()).unwrap()))
            .collect()
    }
}

/// Returns the fates of the mutants of each unit.
pub fn fates(result: &Value) -> BTreeMap<String, Vec<String>> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for own in result["mutants"].as_array().unwrap() {
        let unit = usize::try_from(own["unit"].as_u64().unwrap()).unwrap();
        let name = result["units"][unit]["name"].as_str().unwrap();
        all.entry(name.to_owned()).or_default().push(own["fate"].as_str().unwrap().to_owned());
    }
    all
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns true if a program is installed; otherwise prints that the test is skipped.
pub fn is_there(program: &str, word: &str) -> bool {
    let ran = Command::new(program).arg(word).stdout(Stdio::null()).stderr(Stdio::null()).status();
    let is_there = ran.is_ok_and(|status| status.success());
    if !is_there {
        println!("skipped: there is no {program}");
    }
    is_there
}
