//! Converts the observations of one process of a run to uses with checksums, and assigns them to
//! tests. The uses of a test are what it entered, opened and started itself; the top levels of its
//! own file, of the files it entered, and of the files that those import; and everything that
//! happened outside of tests, which all tests share.

use crate::coverage::blocks::{ABSENT, DIRECTORY, Sum, UNKNOWN};
use crate::coverage::extent::Extent;
use crate::coverage::map::{Map, ProjectSnapshot, Use, UseKind};
use crate::coverage::project::Project;
use crate::coverage::started::{CommandReads, ReadPath, reads};
use assay_data::seen::{ProcessUsage, Started, Used};
use std::collections::{BTreeSet, HashMap};

/// Converts the observations of a process to uses.
pub(crate) struct ObservationConverter<'a> {
    map: &'a mut Map,
    project: &'a mut Project,
    process: &'a ProcessUsage,
    before: &'a ProjectSnapshot,
    /// Paths of all test files.
    tests: &'a BTreeSet<String>,
    /// Uses outside of tests, shared by all tests.
    outside: Vec<Use>,
    outside_always: Option<String>,
    /// For each file, by its number, the sources that it imports directly or indirectly.
    imported: HashMap<u32, BTreeSet<u32>>,
}

impl<'a> ObservationConverter<'a> {
    pub fn new(
        map: &'a mut Map,
        project: &'a mut Project,
        process: &'a ProcessUsage,
        before: &'a ProjectSnapshot,
        tests: &'a BTreeSet<String>,
    ) -> Self {
        let (outside, outside_always, imported) = Default::default();
        let mut own =
            Self { map, project, process, before, tests, outside, outside_always, imported };
        own.look_outside();
        own
    }

    fn look_outside(&mut self) {
        let process = self.process;
        let own = &process.outside;
        let mut all = Vec::new();
        let imported: Option<BTreeSet<u32>> =
            process.imports.as_ref().map(|all| all.values().flatten().copied().collect());
        for file in own.loads.iter().chain(own.blocks.keys()) {
            let Some(path) = process.sources.get(file) else { continue };
            // The top level of a test file belongs to its own tests. The top levels of other files
            // belong to the tests that import them, if imports are known.
            let is_reached = imported.as_ref().is_some_and(|imported| imported.contains(file));
            if !self.tests.contains(path.as_str()) && !is_reached {
                all.push(self.top(path));
            }
        }
        for (file, lines) in &own.blocks {
            let Some(path) = process.sources.get(file) else { continue };
            if !self.tests.contains(path.as_str()) {
                self.blocks(path, lines, &mut all);
            }
        }
        self.others(own, UseKind::Searched, &mut all);
        all.sort_unstable();
        all.dedup();
        self.outside = all;
        self.outside_always = self.always(own);
    }

    /// Returns the uses by a test in this file, and the reason if it may use more than is known.
    pub fn test(&mut self, own: &Used, file: Option<&str>) -> (Vec<Use>, Option<String>) {
        let process = self.process;
        let mut uses = self.outside.clone();
        let path = |number: &u32| process.sources.get(number).map(String::as_str);
        let mut tops: BTreeSet<&str> = own.loads.iter().filter_map(path).collect();
        for (number, lines) in &own.blocks {
            if let Some(path) = path(number) {
                tops.insert(path);
                self.blocks(path, lines, &mut uses);
            }
        }
        if let Some(file) = file {
            tops.insert(file);
            let number = process.sources.iter().find(|(_, path)| path.as_str() == file);
            if let Some((number, _)) = number {
                // Blocks that the test's file executed when it was loaded.
                if let Some(lines) = process.outside.blocks.get(number) {
                    self.blocks(file, lines, &mut uses);
                }
                tops.extend(self.imported(*number).iter().filter_map(path));
            }
        }
        for path in tops {
            uses.push(self.top(path));
        }
        self.others(own, UseKind::Listed, &mut uses);
        (uses, self.always(own).or_else(|| self.outside_always.clone()))
    }

    fn imported(&mut self, file: u32) -> &BTreeSet<u32> {
        let process = self.process;
        self.imported.entry(file).or_insert_with(|| {
            let mut reached = BTreeSet::new();
            let mut next = vec![file];
            while let Some(file) = next.pop() {
                let of = process.imports.as_ref().and_then(|imports| imports.get(&file));
                next.extend(of.into_iter().flatten().filter(|file| reached.insert(**file)));
            }
            reached
        })
    }

    /// Returns true if the process may have seen content of a file that differs from the current
    /// content.
    fn is_unknown(&mut self, path: &str) -> bool {
        match self.before.files.get(path) {
            Some(kept) => self.project.now(path).content != kept.content,
            None => self.project.is_later(path, self.before.moment),
        }
    }

    fn top(&mut self, path: &str) -> Use {
        let now = self.project.now(path);
        let is_unknown = self.is_unknown(path);
        let sum = match &now.blocks {
            _ if is_unknown => UNKNOWN,
            Some(blocks) => blocks.top(),
            None => now.content,
        };
        Use { path: self.map.number_of(path), how: UseKind::Loaded, sum }
    }

    fn blocks(&mut self, path: &str, lines: &[u32], uses: &mut Vec<Use>) {
        let now = self.project.now(path);
        let path_number = self.map.number_of(path);
        let is_unknown = self.is_unknown(path);
        let mut add = |sum: Sum| uses.push(Use { path: path_number, how: UseKind::Entered, sum });
        if is_unknown {
            return add(UNKNOWN);
        }
        let Some(blocks) = &now.blocks else { return add(now.content) };
        for block in lines.iter().flat_map(|line| blocks.at(*line)) {
            self.map.call(block.sum, &block.name);
            add(block.sum);
        }
    }

    fn others(&mut self, own: &Used, listed: UseKind, uses: &mut Vec<Use>) {
        for path in &own.opens {
            uses.push(self.content(path, UseKind::Opened));
        }
        for path in &own.lists {
            let path = path.trim_end_matches('/');
            let sum = self.project.listing(path, listed == UseKind::Listed);
            uses.push(Use { path: self.map.number_of(path), how: listed, sum });
        }
        self.extents(&own.builds, UseKind::Built, uses);
        let started = own.spawns.iter().map(|started| reads(started, self.project.top()));
        let all: BTreeSet<ReadPath> = started
            .filter_map(|reads| match reads {
                CommandReads::These(these) => Some(these),
                // A test that may read anything runs after every change.
                CommandReads::Anything => None,
            })
            .flatten()
            .collect();
        for read in all {
            match read {
                ReadPath::File(path) => uses.push(self.content(&path, UseKind::Started)),
                ReadPath::Names(path) => {
                    let sum = self.project.listing(&path, true);
                    uses.push(Use { path: self.map.number_of(&path), how: UseKind::Listed, sum });
                }
                ReadPath::All(path) => {
                    let below = if path.is_empty() { path } else { format!("{path}/") };
                    self.extents(&[format!("{below}**")], UseKind::Started, uses);
                }
            }
        }
    }

    /// Adds uses of files, and uses of parts of the project ([`Extent`]) by the names of their
    /// files.
    fn extents(&mut self, paths: &[String], how: UseKind, uses: &mut Vec<Use>) {
        for path in paths {
            let Some(extent) = Extent::read(path) else {
                uses.push(self.content(path, how));
                continue;
            };
            let files = self.project.below("").filter(|file| extent.holds(file));
            let files: Vec<String> = files.map(str::to_owned).collect();
            uses.extend(files.iter().map(|file| self.content(file, how)));
            let sum = self.project.extent(&extent);
            uses.push(Use { path: self.map.number_of(path), how, sum });
        }
    }

    fn content(&mut self, path: &str, how: UseKind) -> Use {
        let sum = self.project.now(path).content;
        // The modification time of a directory changes with the files in it.
        let is_unknown = sum != ABSENT && sum != DIRECTORY && self.is_unknown(path);
        let sum = if is_unknown { UNKNOWN } else { sum };
        Use { path: self.map.number_of(path), how, sum }
    }

    /// Returns the reason why a test may use more than is known: it was not fully observed, or it
    /// started a program that may read anything in the project. `None` if there is no such reason.
    fn always(&self, own: &Used) -> Option<String> {
        if own.unseen.is_some() {
            return own.unseen.clone();
        }
        let may = |own: &&Started| reads(own, self.project.top()) == CommandReads::Anything;
        own.spawns
            .iter()
            .find(may)
            .map(|own| format!("it starts `{}`, which may read anything", own.words.join(" ")))
    }
}
