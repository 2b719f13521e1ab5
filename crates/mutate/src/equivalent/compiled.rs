//! Compares survivors in Go and Rust by their compiled code. Many functions are compiled at once,
//! each with one change, and the code of each is compared with that of the original. The files of
//! the two languages invoke the compilers.
//!
//! Equal code proves something only for a function that has code of its own. An error is therefore
//! planted in each function first, and functions whose code does not change as a result are
//! skipped. Since a change to one function may affect the code of another, the functions that seem
//! to be the same are compiled again without the others, until all remaining ones are the same.

use super::code::Code;
use crate::arena::Arena;
use crate::sources::Source;
use assay_measure::interrupt;
use assay_mutate::mutants::Mutant;
use assay_mutate::mutants::controls::certain_body;
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::time::Instant;

/// Share of the remaining time that each attempt to confirm seemingly identical variants may use.
const SHARE: f64 = 0.6;

/// A function whose survivors are compared.
#[derive(Clone, Debug)]
pub(super) struct Function<'a> {
    /// Index of the source that contains the function.
    pub source: usize,
    /// Index of the function's unit in that source.
    pub unit: usize,
    /// The symbol of the function's code.
    pub symbol: String,
    /// Text to insert before the function when it is compiled.
    pub mark: String,
    /// The survivors in this function, each with its index in the table of mutants.
    pub changes: Vec<(usize, &'a Mutant)>,
}

/// A function compiled with one of its changes, or with a planted error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CompiledVariant {
    function: usize,
    /// Index of the change in `Function::changes`, or `None` for a planted error.
    change: Option<usize>,
}

/// The result of comparing survivors by their compiled code.
#[derive(Debug, Default)]
pub(super) struct Equivalences {
    /// Indices of the survivors whose code is the same as the original's.
    pub same: Vec<usize>,
    /// Indices of the functions for which compiling the original produced no code.
    pub absent: Vec<usize>,
}

/// A byte range, and the text that replaces it.
type Edit = (Range<usize>, Vec<u8>);

/// A function that compiles the contents of a copy with the setting of the given index. `None` if
/// this fails.
pub(super) type Compile<'c> = &'c mut dyn FnMut(&mut Arena<'_>, usize) -> Option<Code>;

/// Functions that are compiled together.
pub(super) struct Package<'a> {
    sources: &'a [Source],
    functions: &'a [Function<'a>],
    taken: HashSet<String>,
    until: Instant,
}

impl<'a> Package<'a> {
    /// Creates a package of functions in these sources. The comparison ends at `until`.
    pub fn new(sources: &'a [Source], functions: &'a [Function<'a>], until: Instant) -> Self {
        let taken = functions.iter().map(|own| own.symbol.clone()).collect();
        Self { sources, functions, taken, until }
    }

    /// Finds the survivors whose code is the same as the original's with every one of the settings.
    pub fn found(
        &self,
        arena: &mut Arena<'_>,
        compile: Compile<'_>,
        settings: usize,
    ) -> Equivalences {
        let mut found = Equivalences::default();
        let Some(base) = self.compiled(arena, compile, 0, &[]) else {
            found.absent = (0..self.functions.len()).collect();
            return found;
        };
        let own = |function: usize| &self.functions[function];
        let (present, absent): (Vec<usize>, Vec<usize>) =
            (0..self.functions.len()).partition(|function| base.has(&own(*function).symbol));
        found.absent = absent;
        let planted =
            present.into_iter().map(|function| CompiledVariant { function, change: None });
        let planted = self.judged(arena, compile, (0, &base), planted.collect(), self.until);
        let emitted = planted.into_iter().filter(|(_, is_same)| !is_same);
        let mut left: Vec<CompiledVariant> = emitted
            .flat_map(|(tried, _)| {
                let function = tried.function;
                let changes = 0..own(function).changes.len();
                changes.map(move |change| CompiledVariant { function, change: Some(change) })
            })
            .collect();
        let mut base = Some(base);
        for setting in 0..settings {
            let known = base.take().or_else(|| self.compiled(arena, compile, setting, &[]));
            left = match known {
                Some(known) if !left.is_empty() => {
                    self.settled(arena, compile, (setting, &known), left)
                }
                _ => Vec::new(),
            };
        }
        let index =
            |tried: &CompiledVariant| Some(own(tried.function).changes.get(tried.change?)?.0);
        found.same = left.iter().filter_map(index).collect();
        found
    }

    /// Returns the variants whose code is still that of the original when no variants with
    /// different code are compiled along with them.
    fn settled(
        &self,
        arena: &mut Arena<'_>,
        compile: Compile<'_>,
        base: (usize, &Code),
        mut left: Vec<CompiledVariant>,
    ) -> Vec<CompiledVariant> {
        loop {
            let now = Instant::now();
            let time = self.until.saturating_duration_since(now).mul_f64(SHARE);
            let (mut same, mut is_over) = (Vec::new(), true);
            for batch in one_of_each(&left) {
                let count = batch.len();
                let judged = self.judged(arena, compile, base, batch, now + time);
                let before = same.len();
                same.extend(judged.into_iter().filter(|(_, is)| *is).map(|(tried, _)| tried));
                is_over &= same.len() - before == count;
            }
            left = same;
            if is_over || left.is_empty() {
                return left;
            }
        }
    }

    /// Returns the variants whose code could be determined, each with whether it is the same as
    /// that of the unchanged function. Variants that fail to compile are left out, and the
    /// remaining ones are compiled without them.
    fn judged(
        &self,
        arena: &mut Arena<'_>,
        compile: Compile<'_>,
        (setting, base): (usize, &Code),
        batch: Vec<CompiledVariant>,
        until: Instant,
    ) -> Vec<(CompiledVariant, bool)> {
        let (mut open, mut judged) = (vec![batch], Vec::new());
        while let Some(mut batch) = open.pop().filter(|_| Instant::now() < until) {
            match self.compiled(arena, compile, setting, &batch) {
                Some(code) => judged.extend(batch.into_iter().map(|tried| {
                    let symbol = &self.functions[tried.function].symbol;
                    (tried, base.is_same(&code, symbol, &self.taken))
                })),
                None if batch.len() > 1 => {
                    open.push(batch.split_off(batch.len() / 2));
                    open.push(batch);
                }
                None => {}
            }
        }
        judged
    }

    /// Compiles all functions, with the changes of the variants in `batch`.
    fn compiled(
        &self,
        arena: &mut Arena<'_>,
        compile: Compile<'_>,
        setting: usize,
        batch: &[CompiledVariant],
    ) -> Option<Code> {
        if interrupt::count() > 0 || Instant::now() >= self.until {
            return None;
        }
        let texts = self.texts(batch)?;
        let written: anyhow::Result<()> = texts
            .iter()
            .try_for_each(|(source, text)| arena.copy.write(&self.sources[*source].path, text));
        let code = written.ok().and_then(|()| compile(arena, setting));
        for source in texts.keys() {
            let own = &self.sources[*source];
            arena.copy.write(&own.path, &own.text).ok()?;
        }
        code
    }

    /// Returns the contents of the files with these changes.
    fn texts(&self, batch: &[CompiledVariant]) -> Option<BTreeMap<usize, Vec<u8>>> {
        let mut edits: BTreeMap<usize, Vec<Edit>> = BTreeMap::new();
        for (number, own) in self.functions.iter().enumerate() {
            let source = &self.sources[own.source];
            let unit = source.found.units.get(own.unit)?;
            let edits = edits.entry(own.source).or_default();
            let start = unit.range.start;
            edits.push((start..start, own.mark.clone().into_bytes()));
            let Some(tried) = batch.iter().find(|tried| tried.function == number) else { continue };
            edits.push(match tried.change {
                None => certain_body(source.language, unit, &source.text)?,
                Some(change) => {
                    let (_, mutant) = own.changes.get(change)?;
                    (mutant.range.clone(), mutant.replacement.clone().into_bytes())
                }
            });
        }
        let edited = |(source, edits): (usize, Vec<_>)| {
            Some((source, edited(&self.sources[source].text, edits)?))
        };
        edits.into_iter().map(edited).collect()
    }
}

/// Divides the variants into batches with at most one variant of each function.
fn one_of_each(all: &[CompiledVariant]) -> Vec<Vec<CompiledVariant>> {
    let mut batches: Vec<Vec<CompiledVariant>> = Vec::new();
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    for tried in all {
        let place = counts.entry(tried.function).or_insert(0);
        match batches.get_mut(*place) {
            Some(batch) => batch.push(*tried),
            None => batches.push(vec![*tried]),
        }
        *place += 1;
    }
    batches
}

/// Applies edits to a text, or returns `None` if they overlap.
fn edited(text: &[u8], mut edits: Vec<Edit>) -> Option<Vec<u8>> {
    edits.sort_by_key(|(range, _)| (range.start, range.end));
    let (mut out, mut at) = (Vec::with_capacity(text.len()), 0);
    for (range, other) in edits {
        out.extend_from_slice(text.get(at..range.start)?);
        out.extend_from_slice(&other);
        at = range.end;
    }
    out.extend_from_slice(text.get(at..)?);
    Some(out)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;

    #[test]
    fn of_no_function_there_are_two_changes_together() {
        let tried = |function, change| CompiledVariant { function, change: Some(change) };
        let all = [tried(0, 0), tried(0, 1), tried(1, 0), tried(2, 0), tried(2, 1), tried(2, 2)];
        let batches = one_of_each(&all);
        assert_eq!(batches[0], [all[0], all[2], all[3]]);
        assert_eq!(batches[1], [all[1], all[4]]);
        assert_eq!(batches[2], [all[5]]);
    }

    #[test]
    fn texts_are_changed_in_places_that_do_not_overlap() {
        let edits = vec![(4..5, b"X".to_vec()), (0..0, b"<".to_vec()), (1..3, Vec::new())];
        assert_eq!(edited(b"abcdef", edits).unwrap(), b"<adXf");
        assert_eq!(edited(b"abcdef", vec![(0..3, Vec::new()), (2..4, Vec::new())]), None);
    }
}
