//! The additional measurements of `--coupling`: which tests detect a sample of the killed mutants
//! when all of them run, and whether any test fails with a rewrite, which does not change behavior.
//! Both use the same code as the trial of mutants, except that a run does not stop at the first
//! failure.

use crate::arena::Arena;
use crate::sources::{self, Root, Source};
use crate::trying::{TrialEnd, TrialState};
use assay_data::mutation::{Fate, MutantResult, MutatedUnit};
use assay_mutate::mutants::{Generator, Operator, line_starts, why_passed};
use assay_report::console::output::Passing;
use assay_suites::coverage::Project;
use std::collections::{BTreeSet, HashMap};
use std::fs;

/// The rewrites of a project, in the same form as its mutants.
#[derive(Debug, Default)]
pub(crate) struct Rewrites {
    /// The sources, with rewrites in place of mutants.
    pub sources: Vec<Source>,
    pub origins: Vec<(usize, usize)>,
    pub results: Vec<MutantResult>,
}

impl Rewrites {
    /// Returns the rewrites of the functions that have mutants.
    pub fn of(
        root: &Root,
        sources: &[Source],
        origins: &[(usize, usize)],
        mutants: &[MutantResult],
    ) -> Self {
        let mut units: HashMap<(usize, usize), usize> = HashMap::new();
        for (own, (file, index)) in mutants.iter().zip(origins) {
            if let Some(mutant) = sources.get(*file).and_then(|own| own.found.all.get(*index)) {
                units.insert((*file, mutant.unit), own.unit);
            }
        }
        let mut own = Self::default();
        let mut generators: HashMap<_, Option<Generator>> = HashMap::new();
        let mut others = None;
        for (file, source) in sources.iter().enumerate() {
            let language = source.language;
            let generator = generators.entry(language).or_insert_with(|| Generator::new(language));
            let found = &source.found;
            let mut all = generator
                .as_mut()
                .map(|own| own.rewrites(&source.path, &source.text, &found.units))
                .unwrap_or_default();
            all.retain(|rewrite| {
                let is_private = rewrite.operator == Operator::RenamePrivate;
                let unit = source.found.units.get(rewrite.unit);
                let name = unit.and_then(|unit| unit.name.rsplit('.').next());
                units.contains_key(&(file, rewrite.unit))
                    && (!is_private
                        || name.is_some_and(|name| {
                            let texts = others.get_or_insert_with(|| texts(root));
                            !is_used_elsewhere(texts, &source.path, name)
                        }))
            });
            let lines = line_starts(&source.text);
            for (index, rewrite) in all.iter().enumerate() {
                let Some(unit) = units.get(&(file, rewrite.unit)) else { continue };
                own.results.push(sources::result(source, rewrite, *unit, &lines));
                own.origins.push((file, index));
            }
            let found = assay_mutate::mutants::Mutants { all, ..found.clone() };
            let (path, text) = (source.path.clone(), source.text.clone());
            own.sources.push(Source::new(path, language, text, found));
        }
        own
    }

    /// Makes each renaming of a private function run with all tests that use its file, because a
    /// test that replaces the function with a stub never enters it.
    pub fn widen(&mut self, mutants: &[MutantResult], units: &[MutatedUnit]) {
        let file_of = |own: &MutantResult| units.get(own.unit).map(|unit| unit.file);
        for own in &mut self.results {
            if own.operator != Operator::RenamePrivate.name() || own.covered_by.is_none() {
                continue;
            }
            let file = file_of(own);
            let here = mutants.iter().filter(|other| file_of(other) == file);
            let tests: BTreeSet<usize> =
                here.flat_map(|other| other.covered_by.iter().flatten().copied()).collect();
            if own.fate == Fate::Uncovered && !tests.is_empty() {
                own.fate = Fate::Pending;
            }
            own.covered_by = Some(tests.into_iter().collect());
        }
    }
}

impl TrialState<'_> {
    /// Tries up to `most` of the killed mutants of each function with all their tests, and then
    /// tries the rewrites.
    ///
    /// # Errors
    ///
    /// Fails if a copy cannot be written or tests can no longer be started.
    pub fn coupled(
        &mut self,
        arenas: &mut Vec<Arena<'_>>,
        most: usize,
        (rewrites, later): (&mut Rewrites, &[bool]),
        progress: &Passing,
    ) -> anyhow::Result<TrialEnd> {
        self.completes = true;
        let sample = sample(self.mutants, most);
        let over = self.each(arenas, sample, progress)?;
        if over == TrialEnd::Interrupted {
            return Ok(over);
        }
        let Rewrites { sources, origins, results } = rewrites;
        let own = 0..results.len();
        let own = own.filter(|index| results[*index].fate == Fate::Pending).collect();
        let mut trying = TrialState {
            sources,
            origins,
            mutants: results,
            tests: self.tests,
            selectors: self.selectors,
            by_name: self.by_name,
            beside: self.beside,
            journal: self.journal.as_deref_mut(),
            deadline: self.deadline,
            most: None,
            kills: vec![0; self.tests.len()],
            later,
            completes: true,
            switches: None,
            behind: HashMap::new(),
            flaky: self.flaky,
            ends: self.ends,
            is_proven: self.is_proven,
            patience: self.patience,
            notes: Vec::new(),
        };
        trying.each(arenas, own, progress)
    }
}

/// Returns the paths and contents of all files of the project, any of which may refer to a function
/// by name.
fn texts(root: &Root) -> Vec<(String, Vec<u8>)> {
    let files = Project::of(&root.top).files();
    let read = |path: String| {
        let text = fs::read(root.top.join(&path)).ok()?;
        Some((path, text))
    };
    files.into_iter().filter_map(read).collect()
}

/// Returns true if a file other than `own` that is not a test contains `name`.
fn is_used_elsewhere(texts: &[(String, Vec<u8>)], own: &str, name: &str) -> bool {
    let mentions = |text: &[u8]| text.windows(name.len()).any(|part| part == name.as_bytes());
    let is_test = |path: &str, text: &[u8]| {
        let language = assay_mutate::mutants::Language::of_source(std::path::Path::new(path));
        language.is_some_and(|own| why_passed(own, path, text).is_some())
    };
    texts.iter().any(|(path, text)| path != own && mentions(text) && !is_test(path, text))
}

/// Draws a deterministic random sample of at most `most` killed mutants of each function, and
/// returns those for which it is not yet known which of all tests kill them. The extreme mutant is
/// not a small change, so it is drawn only if there are too few others.
pub(crate) fn sample(mutants: &mut [MutantResult], most: usize) -> Vec<usize> {
    let mut by_unit: HashMap<usize, Vec<usize>> = HashMap::new();
    for (index, own) in mutants.iter_mut().enumerate() {
        if own.fate != Fate::Killed || own.killed_by.is_empty() {
            continue;
        }
        // If only one test covers the mutant, the tests that kill it are known.
        let is_all = own.covered_by.as_ref().is_some_and(|tests| tests.len() == 1);
        own.is_complete |= is_all;
        by_unit.entry(own.unit).or_default().push(index);
    }
    let mut all = Vec::new();
    for (_, mut own) in by_unit {
        let key = |index: &usize| {
            let own = &mutants[*index];
            (own.operator == Operator::Body.name(), !own.is_complete, own.id.clone())
        };
        own.sort_by_key(key);
        let drawn = own.into_iter().take(most);
        all.extend(drawn.filter(|index| !mutants[*index].is_complete));
    }
    all.sort_unstable();
    all
}
