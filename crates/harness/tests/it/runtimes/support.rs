//! Runs a program as its driver requests, in the same way as the binary does.

use assay_harness::{Driver, Effort, Program, Reading, Reply, Request, Turns};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program with the user's arguments, and a directory for its files.
pub struct Subject {
    words: Vec<OsString>,
    directory: PathBuf,
    scratch: tempfile::TempDir,
}

impl Subject {
    /// Makes a subject that runs in the directory of these tests' programs.
    pub fn new(words: &[&str]) -> Self {
        Self {
            words: words.iter().map(OsString::from).collect(),
            directory: programs(),
            scratch: tempfile::tempdir().expect("a scratch directory"),
        }
    }

    pub fn scratch(&self) -> &Path {
        self.scratch.path()
    }

    /// Returns the program with paths relative to the tests' own working directory.
    pub fn program(&self) -> Program {
        let seen: Vec<OsString> = self
            .words
            .iter()
            .map(|word| {
                let path = self.directory.join(word);
                if path.is_file() { path.into_os_string() } else { word.clone() }
            })
            .collect();
        Program::look(&seen, Path::new(&seen[0]))
    }

    /// Empties the scratch directory, and runs the program.
    pub fn run(&self, request: impl FnOnce(&Path) -> Request) -> Reply {
        for entry in std::fs::read_dir(self.scratch()).expect("it is there").flatten() {
            let path = entry.path();
            let gone = if path.is_dir() {
                std::fs::remove_dir_all(path)
            } else {
                std::fs::remove_file(path)
            };
            gone.expect("it is ours");
        }
        let request = request(self.scratch());
        for (path, text) in &request.files {
            std::fs::create_dir_all(path.parent().expect("a file")).expect("a directory");
            std::fs::write(path, text).expect("a file");
        }
        let mut directories: BTreeMap<&str, Vec<&Path>> = BTreeMap::new();
        for (name, own) in &request.directories {
            directories.entry(name).or_default().push(own);
        }
        let directories = directories
            .into_iter()
            .map(|(name, all)| (name, std::env::join_paths(all).expect("paths without colons")));
        let output = Command::new(&self.words[0])
            .envs(directories)
            .args(&request.before)
            .args(&self.words[1..])
            .args(&request.args)
            .envs(request.env.iter().chain(&request.options).map(|(name, value)| (name, value)))
            .current_dir(&self.directory)
            .output()
            .expect("the program starts");
        Reply {
            output: output.stdout,
            errors: output.stderr,
            success: output.status.success(),
            answer: request.answer,
            own: Vec::new(),
        }
    }

    pub fn list(&self, driver: &dyn Driver) -> Vec<String> {
        let reply = self.run(|scratch| driver.list(scratch));
        driver.listed(&reply).unwrap_or_else(|error| panic!("{error}\n{}", told(&reply)))
    }

    /// Returns the reading of one benchmark, the only one in the answer.
    pub fn measure(&self, driver: &dyn Driver, benchmark: &str, effort: Effort) -> Reading {
        let reply = self.run(|scratch| driver.measure(benchmark, effort, scratch));
        let mut found =
            driver.read(&reply).unwrap_or_else(|error| panic!("{error}\n{}", told(&reply)));
        assert_eq!(found.len(), 1, "{found:?}");
        let reading = found.remove(0);
        assert_eq!(reading.benchmark, benchmark);
        assert_eq!(driver.debug_build(&reply), None);
        reading
    }
}

/// Measures a benchmark in turns with a process that does nothing in its own. Returns the reading,
/// and the number of turns.
pub fn in_turns(
    subject: &Subject,
    driver: &dyn Driver,
    benchmark: &str,
    effort: Effort,
) -> (Reading, u32) {
    let request = |scratch: &Path| driver.measure(benchmark, effort, scratch);
    let (mut found, turns) = all_in_turns(subject, driver, 1, request);
    assert_eq!((found.len(), turns.len()), (1, 1), "{found:?}");
    (found.remove(0), turns[0])
}

/// Answers a request for `benchmarks` benchmarks in turns with a process that does nothing in its
/// own. Returns the readings, and the number of turns of each benchmark.
pub fn all_in_turns(
    subject: &Subject,
    driver: &dyn Driver,
    benchmarks: usize,
    request: impl Fn(&Path) -> Request,
) -> (Vec<Reading>, Vec<u32>) {
    let room = tempfile::tempdir().expect("a directory");
    let pipe = |name: &str| {
        let path = room.path().join(name);
        assert!(Command::new("mkfifo").arg(&path).status().expect("it starts").success());
        let own = File::options().read(true).write(true).open(path);
        own.expect("a pipe")
    };
    let [own, other] = Turns::SIDES.map(pipe);
    let ready = pipe(Turns::READY);
    let count = std::thread::spawn(move || {
        let byte = |mut from: &File| {
            let mut byte = [0];
            from.read_exact(&mut byte).expect("a byte");
            byte[0]
        };
        byte(&ready);
        let of_one = |number: usize| {
            // Only for the first one is the process known to be ready.
            let mut count = u32::from(number == 0);
            (number == 0).then(|| (&own).write_all(&[Turns::TURN]).expect("room in the pipe"));
            while byte(&other) != Turns::DONE {
                count += 1;
                (&own).write_all(&[Turns::TURN]).expect("room in the pipe");
            }
            // Only now may it end, or go on.
            (&own).write_all(&[Turns::DONE]).expect("room in the pipe");
            count
        };
        (0..benchmarks).map(of_one).collect::<Vec<u32>>()
    });
    let turns = Turns { directory: room.path(), side: 0, count: 5 };
    let reply = subject.run(|scratch| turns.of(request(scratch)));
    let found = driver.read(&reply).unwrap_or_else(|e| panic!("{e}\n{}", told(&reply)));
    (found, count.join().expect("it has read and written"))
}

fn told(reply: &Reply) -> String {
    format!("{}\n{}", reply.text(), String::from_utf8_lossy(&reply.errors))
}

/// Returns the directory of the programs' sources.
pub fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs")
}

/// Returns a file installed by `scripts/runtimes.sh` if it exists; otherwise the test prints a
/// note.
pub fn installed(path: &str) -> Option<String> {
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/runtimes");
    let path = target.join(path);
    if !path.exists() {
        println!("skipped: {} is not there; sh scripts/runtimes.sh makes it", path.display());
        return None;
    }
    let whole = std::path::absolute(path).expect("a path");
    Some(whole.to_str().expect("a path in UTF-8").to_owned())
}

/// Returns the value of a metric.
pub fn value(reading: &Reading, metric: &str) -> f64 {
    let found = reading.values.iter().find(|(known, _)| known.name == metric);
    found.unwrap_or_else(|| panic!("no {metric} in {reading:?}")).1
}
