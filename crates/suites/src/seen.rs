//! What the hooks' lines say of what tests used: code by file and line, files, programs. Gathered by process; test names come last, since a name
//! may change when all tests are known.

use assay_data::seen::{ProcessSeen, Seen, Used};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The members of such lines.
#[derive(Deserialize, Default)]
pub(crate) struct Line {
    source: Option<String>,
    number: Option<u32>,
    covers: Option<String>,
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
    spawns: Vec<Vec<String>>,
    imports: Option<BTreeMap<u32, Vec<u32>>>,
    unseen: Option<String>,
}

impl Line {
    /// Whether a line is one of these: they begin with the member that no other has.
    pub fn begins(text: &str) -> bool {
        ["{\"covers\":", "{\"source\":", "{\"loaded\":"].iter().any(|begin| text.starts_with(begin))
    }

    fn used(self) -> (Used, Option<BTreeMap<u32, Vec<u32>>>) {
        let Self { blocks, loaded, mut loads, opens, lists, spawns, imports, unseen, .. } = self;
        loads.extend(loaded);
        (Used { blocks, loads, opens, lists, spawns, unseen }, imports)
    }
}

/// What a run's lines said so far.
#[derive(Default)]
pub(crate) struct Gathered {
    processes: Vec<ProcessSeen>,
    /// Index of each test, in the order of the lists above.
    tests: Vec<Vec<usize>>,
}

impl Gathered {
    /// Another process's lines follow.
    pub fn next_process(&mut self) {
        self.processes.push(ProcessSeen::default());
        self.tests.push(Vec::new());
    }

    /// Takes a line of it; `test` is the index of the last test of that name. What belongs to no test is everybody's.
    pub fn take(&mut self, line: Line, test: impl FnOnce(&str) -> Option<usize>) {
        let (Some(process), Some(tests)) = (self.processes.last_mut(), self.tests.last_mut())
        else {
            return;
        };
        if let (Some(source), Some(number)) = (&line.source, line.number) {
            process.sources.insert(number, source.clone());
            return;
        }
        let test = line.covers.as_deref().and_then(test);
        let (used, imports) = line.used();
        for (file, of) in imports.into_iter().flatten() {
            process.imports.get_or_insert_default().entry(file).or_default().extend(of);
        }
        match test {
            Some(test) => {
                tests.push(test);
                process.tests.push((String::new(), used));
            }
            None => process.outside.add(&used),
        }
    }

    /// All of it, with the names that the tests have now.
    pub fn finish(self, name: impl Fn(usize) -> String) -> Seen {
        let all = self.processes.into_iter().zip(self.tests);
        let named = all.map(|(mut process, tests)| {
            for (own, test) in process.tests.iter_mut().zip(tests) {
                own.0 = name(test);
            }
            process
        });
        Seen { processes: named.filter(|process| !process.sources.is_empty()).collect() }
    }
}
