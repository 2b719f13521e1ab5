//! Which tests a save touches, by the map of what they were seen to use; and why.

use super::events::Saved;
use super::state::{Touched, What};
use crate::changed::{Asked, Selection as Chosen, Tracked, WHOLE_FILE, reason};
use crate::cutting::Cutting;
use crate::tests::Ran;
use assay_coverage::{ABSENT, Project};
use assay_suites::Framework;
use assay_suites::run::TestStatus;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

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
    /// For looking at sources.
    project: Project,
    /// What tests use, where that is seen.
    tracked: Option<Tracked>,
    /// Who cuts them.
    cutting: Cutting,
    /// Why each test runs that was chosen last, in words.
    why: BTreeMap<String, String>,
    /// How many were left out then.
    left: usize,
}

impl Selection {
    /// Of the project at this directory; with what is to be said if what its tests use is not known, or can't be kept.
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
                // What the first run sees.
                tracked.look();
                (Some(tracked), note)
            }
            Some(Err(error)) => (None, Some(format!("every save runs all tests: {error:#}"))),
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

    /// The top of the project, for seeing what tests use.
    pub fn coverage(&self) -> Option<PathBuf> {
        self.tracked.as_ref().map(Tracked::top)
    }

    /// Whether a save touches anything at all.
    pub fn is_touched(&mut self, saved: &Saved) -> bool {
        let changed = changed(saved);
        let Some(tracked) = &mut self.tracked else { return true };
        tracked.choice(asked(changed.as_deref()), false).map_or(true, |choice| !choice.is_empty())
    }

    /// What a save touches.
    pub fn touched(&mut self, saved: &Saved) -> Selected {
        let changed = changed(saved);
        let Some(tracked) = &mut self.tracked else {
            return Selected { touched: Touched::All, everything: None };
        };
        let place = tracked.place().clone();
        let choice = match tracked.choice(asked(changed.as_deref()), true) {
            Ok(choice) => choice,
            Err(error) => {
                let everything = Some(format!("{error:#}"));
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

    /// Whether a source can't be read as its language, by our grammar, which may lag behind the language; or nobody knows whether it can.
    pub fn looks_broken(&mut self, path: &str) -> bool {
        let now = self.project.now(path);
        now.content != ABSENT && now.blocks.as_ref().is_none_or(|blocks| blocks.is_broken)
    }

    /// What is lost because nobody cuts sources: said once, and only where it is known what tests use.
    pub fn lost(&self) -> Option<String> {
        self.tracked.as_ref().and_then(|_| self.cutting.lost())
    }

    /// Why each test ran that was chosen last, in words, and how many were left out.
    pub fn explained(&self) -> (&BTreeMap<String, String>, usize) {
        (&self.why, self.left)
    }

    /// Takes what a run of these tests saw. What it says is why that can't be kept, once.
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
        Some(format!("what tests use is not kept for the next time: {error:#}"))
    }
}

fn changed(saved: &Saved) -> Option<Vec<String>> {
    (!saved.are_unknown).then(|| saved.paths.iter().cloned().collect())
}

/// `None`: whatever they are.
fn asked(saved: Option<&[String]>) -> Asked<'_> {
    saved.map_or(Asked::Any, Asked::Saved)
}

/// The tests of a run, and whether each failed; those that were skipped say nothing.
pub(crate) fn of_run(ran: &Ran) -> Vec<(&str, bool)> {
    let tests = ran.run.tests.iter().filter(|test| test.status != TestStatus::Skipped);
    tests.map(|test| (test.name.as_str(), test.status == TestStatus::Failed)).collect()
}
