//! What tests use, according to the lines that hooks wrote: code by file and line, files, programs.
//! It is gathered per process; test names are resolved last, since a name may change once all tests
//! are known. The submodules read the same information from runs of other frameworks: [`go`],
//! [`cargo`].

pub(crate) mod cargo;
pub(crate) mod go;

use crate::asking::{Answer, Request};
use crate::run::Test;
use assay_data::seen::{ProcessUsage, Started, SuiteUsage, Used};
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

/// Directory for the recorded usage, in the room of a run.
const SEEN: &str = "seen";
/// File in the directory [`SEEN`] that contains the path of the project's top.
const TOP: &str = "top";

/// Adds to a request the directory for recorded usage and the file with the project's top.
pub(crate) fn with_usage_directory(mut request: Request, top: &Path, room: &Path) -> Request {
    request.directories.push(place(room));
    request.file(place(room).join(TOP), top.as_os_str().as_encoded_bytes())
}

/// Returns the directory for recorded usage.
pub(crate) fn place(room: &Path) -> PathBuf {
    room.join(SEEN)
}

/// Returns the project's top, if usage was requested.
fn top_of(answer: &Answer<'_>) -> Option<PathBuf> {
    let text = fs::read_to_string(place(answer.room).join(TOP)).ok()?;
    Path::new(&text).canonicalize().ok()
}

/// What one process uses, under construction; files are numbered as they are added.
#[derive(Default)]
struct Program {
    process: ProcessUsage,
    numbers: HashMap<String, u32>,
}

impl Program {
    fn number(&mut self, path: &str) -> u32 {
        if let Some(number) = self.numbers.get(path) {
            return *number;
        }
        let number = u32::try_from(self.numbers.len()).unwrap_or(u32::MAX);
        self.numbers.insert(path.to_owned(), number);
        self.process.sources.insert(number, path.to_owned());
        number
    }
}

/// Returns a path relative to the top of the project; `None` if it is outside.
fn below(top: &Path, path: &Path) -> Option<String> {
    path.strip_prefix(top).ok()?.to_str().map(str::to_owned)
}

/// The members of lines about usage.
#[derive(Deserialize, Default)]
pub(crate) struct UsageLine {
    source: Option<String>,
    number: Option<u32>,
    covers: Option<String>,
    covers_file: Option<String>,
    #[serde(default)]
    loaded: Vec<u32>,
    #[serde(default)]
    blocks: BTreeMap<u32, Vec<u32>>,
    #[serde(default)]
    loads: Vec<u32>,
    #[serde(default)]
    opens: Vec<String>,
    #[serde(default)]
    lists: Vec<String>,
    #[serde(default)]
    spawns: Vec<SpawnedProgram>,
    #[serde(default)]
    builds: Vec<String>,
    imports: Option<BTreeMap<u32, Vec<u32>>>,
    unseen: Option<String>,
}

/// A program that was started: only its words, or also its directory.
#[derive(Deserialize)]
#[serde(untagged)]
enum SpawnedProgram {
    Words(Vec<String>),
    Placed {
        words: Vec<String>,
        #[serde(rename = "in")]
        place: Option<String>,
        #[serde(default)]
        cut: bool,
    },
}

impl From<SpawnedProgram> for Started {
    fn from(own: SpawnedProgram) -> Self {
        match own {
            SpawnedProgram::Words(words) => words.into(),
            SpawnedProgram::Placed { words, place, cut } => Self { words, place, is_cut: cut },
        }
    }
}

impl UsageLine {
    /// Returns true for lines about usage, which begin with a member that other lines do not have.
    pub fn begins(text: &str) -> bool {
        let begins = ["{\"covers\":", "{\"covers_file\":", "{\"source\":", "{\"loaded\":"];
        begins.iter().any(|begin| text.starts_with(begin))
    }

    fn used(self) -> (Used, Option<BTreeMap<u32, Vec<u32>>>) {
        let Self {
            blocks, loaded, mut loads, opens, lists, spawns, builds, imports, unseen, ..
        } = self;
        loads.extend(loaded);
        let spawns = spawns.into_iter().map(Started::from).collect();
        (Used { blocks, loads, opens, lists, spawns, builds, unseen }, imports)
    }
}

/// The usage read so far.
#[derive(Default)]
pub(crate) struct UsageCollector {
    processes: Vec<ProcessUsage>,
    /// Indices of the tests, in the order of each process's list.
    tests: Vec<Vec<usize>>,
    /// Usage by all tests of a file together, for processes that report it this way: process index
    /// and file.
    files: Vec<(usize, String, Used)>,
}

impl UsageCollector {
    /// Starts the lines of the next process.
    pub fn next_process(&mut self) {
        self.processes.push(ProcessUsage::default());
        self.tests.push(Vec::new());
    }

    /// Returns true if any test has coverage.
    pub fn any(&self) -> bool {
        self.tests.iter().any(|tests| !tests.is_empty())
    }

    /// Adds a line of the current process; `test` returns the index of the last test with a name.
    /// Usage outside of tests is attributed to all tests.
    pub fn take(&mut self, line: UsageLine, test: impl FnOnce(&str) -> Option<usize>) {
        let (Some(process), Some(tests)) = (self.processes.last_mut(), self.tests.last_mut())
        else {
            return;
        };
        if let (Some(source), Some(number)) = (&line.source, line.number) {
            process.sources.insert(number, source.clone());
            return;
        }
        let test = line.covers.as_deref().and_then(test);
        let file = line.covers_file.clone();
        let (used, imports) = line.used();
        for (file, of) in imports.into_iter().flatten() {
            process.imports.get_or_insert_default().entry(file).or_default().extend(of);
        }
        if let Some(file) = file {
            self.files.push((self.processes.len() - 1, file, used));
            return;
        }
        match test {
            Some(test) => {
                tests.push(test);
                process.tests.push((String::new(), used));
            }
            None => process.outside.add(&used),
        }
    }

    /// Returns all recorded usage; `all` are the tests with their final names.
    pub fn finish(mut self, all: &[Test]) -> SuiteUsage {
        for (process, file, used) in self.files {
            let own = all.iter().enumerate().filter(|(_, test)| test.file.as_ref() == Some(&file));
            for (test, _) in own {
                self.tests[process].push(test);
                self.processes[process].tests.push((String::new(), used.clone()));
            }
        }
        let name = |test: usize| all.get(test).map_or(String::new(), |test| test.name.clone());
        let all = self.processes.into_iter().zip(self.tests);
        let named = all.map(|(mut process, tests)| {
            for (own, test) in process.tests.iter_mut().zip(tests) {
                own.0 = name(test);
            }
            process
        });
        SuiteUsage { processes: named.filter(|process| !process.sources.is_empty()).collect() }
    }
}
