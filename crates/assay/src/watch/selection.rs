//! Which tests a save touches, by the map of what they were seen to use; and why.

use super::events::Saved;
use super::state::Touched;
use crate::tests::Ran;
use assay_coverage::{Choice, Map, Project, Why, choose};
use assay_suites::run::TestStatus;
use std::collections::BTreeMap;
use std::path::Path;

/// What a save touches.
#[derive(Clone, Debug)]
pub(crate) struct Selected {
    /// Which tests.
    pub touched: Touched,
    /// Why it is all of them, where it is.
    pub everything: Option<String>,
}

/// What is known of the project and its tests.
pub(crate) struct Selection {
    project: Project,
    map: Map,
    /// Why each test runs that was chosen last, in words.
    why: BTreeMap<String, String>,
    /// How many were left out then.
    left: usize,
}

impl Selection {
    /// Of the project at this directory, of whose tests nothing is known.
    pub fn of(top: &Path) -> Self {
        Self { project: Project::of(top), map: Map::default(), why: BTreeMap::new(), left: 0 }
    }

    /// Whether a save touches anything at all.
    pub fn is_touched(&mut self, saved: &Saved) -> bool {
        let changed = changed(saved);
        !choose(&self.map, &mut self.project, changed.as_deref()).is_empty()
    }

    /// What a save touches.
    pub fn touched(&mut self, saved: &Saved) -> Selected {
        let changed = changed(saved);
        let choice = choose(&self.map, &mut self.project, changed.as_deref());
        self.why = choice.tests.iter().map(|own| (own.name.to_owned(), told(&own.why))).collect();
        self.left = choice.left.len();
        let Choice { everything, tests, files, .. } = choice;
        // Tests that nobody knows yet have no names by which they could be run alone.
        let everything = everything.or_else(|| {
            files.first().map(|file| format!("{file} may hold tests that are not known yet"))
        });
        let touched = match everything {
            Some(_) => Touched::All,
            None => Touched::These(tests.iter().map(|own| own.name.to_owned()).collect()),
        };
        Selected { touched, everything }
    }

    /// Whether a source can't be read as its language, by our grammar, which may lag behind the language.
    pub fn looks_broken(&mut self, path: &str) -> bool {
        self.project.now(path).blocks.as_ref().is_some_and(|blocks| blocks.is_broken)
    }

    /// Why each test ran that was chosen last, in words, and how many were left out.
    pub fn explained(&self) -> (&BTreeMap<String, String>, usize) {
        (&self.why, self.left)
    }

    /// Takes what a run saw that began at this moment, s since 1970; `all`: all tests ran.
    pub fn take(&mut self, _ran: &Ran, _began: f64, _all: bool) {}
}

fn changed(saved: &Saved) -> Option<Vec<String>> {
    (!saved.are_unknown).then(|| saved.paths.iter().cloned().collect())
}

/// A reason in words that stand behind a test's name.
fn told(why: &Why) -> String {
    match why {
        Why::Failed => "failed when it ran last".to_owned(),
        Why::Unseen => "nobody saw yet what it uses".to_owned(),
        Why::Used { path, block: Some(block), .. } => format!("uses {block} of {path}"),
        Why::Used { path, block: None, .. } => format!("uses {path}"),
        Why::InFile(path) => format!("stands in {path}"),
        Why::Starts(program) => format!("starts {program}, which may read anything"),
        Why::Called { source } => format!("its file is called like {source}"),
        Why::Everything => "all run".to_owned(),
    }
}

/// The tests of a run, and whether each failed; those that were skipped say nothing.
pub(crate) fn of_run(ran: &Ran) -> Vec<(&str, bool)> {
    let tests = ran.run.tests.iter().filter(|test| test.status != TestStatus::Skipped);
    tests.map(|test| (test.name.as_str(), test.status == TestStatus::Failed)).collect()
}
