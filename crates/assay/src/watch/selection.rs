//! Selects the tests that a save affects, based on the record of what each test uses, and explains
//! why.

use super::events::Saved;
use super::state::{Touched, What};
use crate::changed::{ChangeQuery, Selection as Chosen, Tracked, WHOLE_FILE, reason};
use crate::cutting::Cutting;
use crate::output;
use crate::tests::Ran;
use assay_suites::Framework;
use assay_suites::coverage::{ABSENT, Project};
use assay_suites::run::TestStatus;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Tests affected by a save.
#[derive(Clone, Debug)]
pub(crate) struct Selected {
    /// The affected tests.
    pub touched: Touched,
    /// The reason for running all tests, if there is one.
    pub everything: Option<String>,
}

/// Selects tests, and remembers why.
pub(crate) struct Selection {
    /// The project, for reading sources.
    project: Project,
    /// The record of what each test uses, or `None` if uses are not tracked.
    tracked: Option<Tracked>,
    /// Splits sources into blocks.
    cutting: Cutting,
    /// Why each test was selected in the last selection.
    why: BTreeMap<String, String>,
    /// Number of tests that the last selection left out.
    left: usize,
}

impl Selection {
    /// Creates a selection for the project in the directory `top`. Also returns a message if what
    /// the tests use is unknown or cannot be stored.
    pub fn of(
        top: &Path,
        framework: Option<&dyn Framework>,
        command: &[OsString],
        rules: &[String],
    ) -> (Self, Option<String>) {
        let cutting = Cutting::default();
        let framework_covers = framework.filter(|own| (**own).covers());
        let opened = framework_covers.map(|own| Tracked::open(own, command, rules, &cutting));
        let (tracked, note) = match opened {
            Some(Ok((mut tracked, note))) => {
                // Records the state of the files as the first run sees them.
                tracked.look();
                (Some(tracked), note)
            }
            Some(Err(error)) => {
                (None, Some(format!("every save runs all tests: {}", output::told(&error))))
            }
            None => {
                let name = framework.map(|own| own.name());
                (
                    None,
                    name.map(|name| {
                        format!("every save runs all tests: what tests of {name} use is not known")
                    }),
                )
            }
        };
        let project = Project::of(top).cut_by(cutting.clone());
        (Self { project, tracked, cutting, why: BTreeMap::new(), left: 0 }, note)
    }

    /// Returns the root directory of the project if what the tests use is tracked.
    pub fn coverage(&self) -> Option<PathBuf> {
        self.tracked.as_ref().map(Tracked::top)
    }

    /// Returns true if a save affects any test.
    pub fn is_touched(&mut self, saved: &Saved) -> bool {
        let changed = changed(saved);
        let Some(tracked) = &mut self.tracked else { return true };
        tracked.choice(asked(changed.as_deref()), false).map_or(true, |choice| !choice.is_empty())
    }

    /// Returns the tests that a save affects.
    pub fn touched(&mut self, saved: &Saved) -> Selected {
        let changed = changed(saved);
        let Some(tracked) = &mut self.tracked else {
            return Selected { touched: Touched::All, everything: None };
        };
        let place = tracked.place().clone();
        let choice = match tracked.choice(asked(changed.as_deref()), true) {
            Ok(choice) => choice,
            Err(error) => {
                let everything = Some(output::told(&error));
                return Selected { touched: Touched::All, everything };
            }
        };
        self.why = choice.tests.iter().map(|own| (own.name.to_owned(), reason(&own.why))).collect();
        self.left = choice.left.len();
        let (touched, everything) = match Tracked::selection(&choice, &place) {
            Chosen::All(why) => (Touched::All, Some(why)),
            Chosen::Nothing(_) => (Touched::These(Vec::new()), None),
            Chosen::Some { only, .. } => (Touched::These(only), None),
        };
        Selected { touched, everything }
    }

    /// Returns true if a source may have a syntax error, either because our grammar, which may lag
    /// behind the language, rejects it, or because it could not be analyzed.
    pub fn looks_broken(&mut self, path: &str) -> bool {
        let now = self.project.now(path);
        now.content != ABSENT && now.blocks.as_ref().is_none_or(|blocks| blocks.is_broken)
    }

    /// Returns true if the path is an existing source in a supported language.
    pub fn is_source(&mut self, path: &str) -> bool {
        let now = self.project.now(path);
        now.content != ABSENT && now.blocks.is_some()
    }

    /// Returns a message about the consequences, once, if sources can no longer be split into
    /// blocks. Returns `None` if what the tests use is not tracked.
    pub fn lost(&self) -> Option<String> {
        self.tracked.as_ref().and_then(|_| self.cutting.lost())
    }

    /// Returns why each test was selected in the last selection, and how many tests were left out.
    pub fn explained(&self) -> (&BTreeMap<String, String>, usize) {
        (&self.why, self.left)
    }

    /// Stores what the tests of a run used. Returns a message the first time that this fails.
    pub fn take(&mut self, ran: &Ran, what: &What) -> Option<String> {
        let tracked = self.tracked.as_mut()?;
        let whole = match what {
            What::All => None,
            What::These(names) => {
                let files = names.iter().filter_map(|name| name.strip_prefix(WHOLE_FILE));
                Some(
                    files
                        .map(|file| format!("{}{file}", tracked.place().prefix))
                        .collect::<Vec<_>>(),
                )
            }
        };
        let error = tracked.take(&ran.run, ran.trouble().is_some(), whole.as_deref()).err()?;
        tracked.forget_store();
        Some(format!("the record of what tests use could not be saved: {}", output::told(&error)))
    }
}

fn changed(saved: &Saved) -> Option<Vec<String>> {
    (!saved.are_unknown).then(|| saved.paths.iter().cloned().collect())
}

/// Returns the query for the saved files; `None` means any files.
fn asked(saved: Option<&[String]>) -> ChangeQuery<'_> {
    saved.map_or(ChangeQuery::Any, ChangeQuery::Saved)
}

/// Returns the tests of a run, and whether each of them failed. Skipped tests are left out.
pub(crate) fn of_run(ran: &Ran) -> Vec<(&str, bool)> {
    let tests = ran.run.tests.iter().filter(|test| test.status != TestStatus::Skipped);
    tests.map(|test| (test.name.as_str(), test.status == TestStatus::Failed)).collect()
}
