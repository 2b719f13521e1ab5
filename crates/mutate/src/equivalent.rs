//! Finds equivalent mutants among the survivors. An equivalent mutant is the same program as the
//! original, so no test can detect it, and looking for such a test wastes time. Only survivors are
//! compared because there are few of them.
//!
//! A mutant is equivalent if the language's compiler produces the same output for the changed text
//! as for the original, apart from positions: bytecode for Python and Ruby, object code for C and
//! C++, and for Go and Rust the code of functions that have code of their own (`compiled.rs`). This
//! is certain. Apart from the build, which still runs in the sandbox, nothing in the project is
//! run. For other survivors that may have the same meaning given the surrounding code
//! (`assay_mutate::mutants::doubts`), the reason is recorded.

use crate::arena::Arena;
use crate::policy::LONGEST_ASKED;
use crate::sources::Source;
use crate::trying::{TrialEnd, TrialState};
use assay_data::mutation::{Fate, MutantResult};
use assay_mutate::mutants::{Language, Mutant, doubts, emitted};
use assay_report::console::output::Passing;
use compiled::Function;
use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::time::Instant;

mod code;
mod compiled;
mod go;
mod rust;

const PYTHON: &str = include_str!("drivers/assay_same.py");
const RUBY: &str = include_str!("drivers/assay_same.rb");
/// Maximum number of bytes in one invocation of a compiler.
const AT_ONCE: usize = 8 << 20;
/// The reason recorded for equivalent mutants.
const SAME: &str = "the compiler produces the same program";

impl TrialState<'_> {
    /// Tries all pending mutants. If a survivor turns out to be equivalent, the mutants that were
    /// skipped because of it are tried afterwards.
    ///
    /// # Errors
    ///
    /// Fails if a copy cannot be written or tests can no longer be started.
    pub fn all_but_equivalents(
        &mut self,
        arenas: &mut Vec<Arena<'_>>,
        judged: &mut HashSet<usize>,
        progress: &Passing,
    ) -> anyhow::Result<TrialEnd> {
        loop {
            let over = self.all(arenas, progress)?;
            if over == TrialEnd::Interrupted {
                return Ok(over);
            }
            progress.show("asking compilers about survivors");
            self.restore(arenas)?;
            let found = find(&mut arenas[0], self.sources, self.origins, self.mutants, judged);
            if !found || over == TrialEnd::OutOfTime {
                return Ok(over);
            }
        }
    }
}

/// Marks equivalent mutants and records doubts about other survivors, leaving out the mutants that
/// are already in `judged`. Returns true if any equivalent mutants were found. The mutants that
/// were skipped because of them are pending afterwards.
pub(crate) fn find(
    arena: &mut Arena<'_>,
    sources: &[Source],
    origins: &[(usize, usize)],
    mutants: &mut [MutantResult],
    judged: &mut HashSet<usize>,
) -> bool {
    let before = mutants.iter().filter(|own| own.fate == Fate::Equivalent).count();
    let mut survivors: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (index, (own, (file, _))) in mutants.iter().zip(origins).enumerate() {
        if own.fate == Fate::Survived && judged.insert(index) {
            survivors.entry(*file).or_default().push(index);
        }
    }
    let mut same: HashSet<usize> = HashSet::new();
    let (mut of_go, mut of_rust) = (Vec::new(), Vec::new());
    for (file, all) in &survivors {
        let Some(source) = sources.get(*file) else { continue };
        let changes = changes(source, origins, all);
        let is_same = match source.language {
            Language::Python => {
                compared(arena, source, &changes, ("python3", "assay_same.py", PYTHON))
            }
            Language::Ruby => compared(arena, source, &changes, ("ruby", "assay_same.rb", RUBY)),
            Language::C | Language::Cpp => built(arena, source, &changes),
            Language::Go | Language::Rust => {
                let list = if source.language == Language::Go { &mut of_go } else { &mut of_rust };
                list.extend(functions(*file, source, all, &changes));
                None
            }
            _ => None,
        };
        let is_same = is_same.unwrap_or_default();
        same.extend(all.iter().zip(is_same).filter(|(_, is_same)| *is_same).map(|(own, _)| *own));
    }
    let until = Instant::now() + LONGEST_ASKED;
    if !of_go.is_empty() {
        same.extend(go::same(arena, sources, of_go, until));
    }
    if !of_rust.is_empty() {
        same.extend(rust::same(arena, sources, of_rust, until));
    }
    for (file, all) in survivors {
        let Some(source) = sources.get(file) else { continue };
        let doubts = doubts(source.language, &source.text, &changes(source, origins, &all));
        for (place, index) in all.into_iter().enumerate() {
            let own = &mut mutants[index];
            if same.contains(&index) {
                own.fate = Fate::Equivalent;
                own.reason = Some(SAME.to_owned());
            } else {
                own.doubt = doubts.get(place).copied().flatten().map(str::to_owned);
            }
        }
    }
    let found = mutants.iter().filter(|own| own.fate == Fate::Equivalent).count() > before;
    if found {
        reopen(sources, origins, mutants);
    }
    found
}

/// Returns the changes of these mutants of the table, all of which are in one source.
fn changes<'a>(source: &'a Source, origins: &[(usize, usize)], all: &[usize]) -> Vec<&'a Mutant> {
    all.iter().filter_map(|own| source.found.all.get(origins[*own].1)).collect()
}

/// Returns the functions of a source that have code of their own, each with the survivors that
/// change its code.
fn functions<'a>(
    file: usize,
    source: &Source,
    all: &[usize],
    changes: &[&'a Mutant],
) -> Vec<Function<'a>> {
    let emitted = emitted(source.language, &source.text, &source.found.units);
    let mut functions: BTreeMap<usize, Function<'a>> = BTreeMap::new();
    for (index, change) in all.iter().zip(changes) {
        let Some(Some(own)) = emitted.get(change.unit) else { continue };
        if !own.takes(change) {
            continue;
        }
        let function = functions.entry(change.unit).or_insert_with(|| Function {
            source: file,
            unit: change.unit,
            symbol: own.symbol.clone(),
            mark: String::new(),
            changes: Vec::new(),
        });
        function.changes.push((*index, change));
    }
    functions.into_values().collect()
}

/// Makes mutants pending again that were implied by a change of their function's body that no
/// longer counts as surviving.
fn reopen(sources: &[Source], origins: &[(usize, usize)], mutants: &mut [MutantResult]) {
    let is_extreme = |index: usize| {
        let own = origins.get(index).and_then(|(source, own)| {
            sources.get(*source).and_then(|source| source.found.all.get(*own))
        });
        own.is_some_and(|own| own.operator.is_extreme())
    };
    let survivors = mutants.iter().enumerate().filter(|(_, own)| own.fate == Fate::Survived);
    let whole: HashSet<usize> =
        survivors.filter(|(index, _)| is_extreme(*index)).map(|(_, own)| own.unit).collect();
    let implied = mutants.iter_mut().filter(|own| own.fate == Fate::Implied);
    implied.filter(|own| !whole.contains(&own.unit)).for_each(|own| own.fate = Fate::Pending);
}

/// Compares the changed texts with the original by the output of the interpreter's compiler.
/// Returns `None` if the compiler gives no answer.
fn compared(
    arena: &mut Arena<'_>,
    source: &Source,
    changes: &[&Mutant],
    interpreter: (&str, &str, &str),
) -> Option<Vec<bool>> {
    let mut all = Vec::new();
    for some in changes.chunks((AT_ONCE / source.text.len().max(1)).max(1)) {
        all.extend(compared_at_once(arena, source, some, interpreter)?);
    }
    Some(all)
}

fn compared_at_once(
    arena: &mut Arena<'_>,
    source: &Source,
    changes: &[&Mutant],
    (interpreter, name, script): (&str, &str, &str),
) -> Option<Vec<bool>> {
    let original = std::str::from_utf8(&source.text).ok()?;
    let changed = changes.iter().map(|own| String::from_utf8(own.applied(&source.text)).ok());
    let pairs: Option<Vec<[String; 2]>> =
        changed.map(|changed| Some([original.to_owned(), changed?])).collect();
    let room = arena.runs.place().to_owned();
    let (script_path, pairs_path) = (room.join(name), room.join("pairs.json"));
    fs::write(&script_path, script).ok()?;
    fs::write(&pairs_path, serde_json::to_string(&pairs?).ok()?).ok()?;
    // Use the interpreter with which the tests are started, if the command names it.
    let own = arena.suite.argv.first().filter(|word| {
        let name = Path::new(word).file_name().map(|own| own.to_string_lossy().into_owned());
        name.is_some_and(|own| own.starts_with(interpreter.trim_end_matches('3')))
    });
    let interpreter = own.cloned().unwrap_or_else(|| OsString::from(interpreter));
    let argv = vec![interpreter, script_path.into_os_string(), pairs_path.into_os_string()];
    let said = arena.suite.output_of(&mut arena.runs, &arena.copy.top(), argv)?;
    let same: Vec<bool> = serde_json::from_slice(&said).ok()?;
    (same.len() == changes.len()).then_some(same)
}

/// Compiles each changed text in place of the file and compares the object code with the
/// original's. Returns `None` if the file cannot be compiled by itself.
fn built(arena: &mut Arena<'_>, source: &Source, changes: &[&Mutant]) -> Option<Vec<bool>> {
    let place = Path::new(&source.path);
    let is_header = place.extension().is_some_and(|own| own.to_string_lossy().starts_with('h'));
    if is_header {
        return None;
    }
    let original = object(arena, source)?;
    let mut all = Vec::new();
    for own in changes {
        // Code that the preprocessor omits with these settings may be part of the program with
        // others.
        if is_conditional(&source.text[..own.range.start]) {
            all.push(false);
            continue;
        }
        arena.copy.write(&source.path, &own.applied(&source.text)).ok()?;
        let changed = object(arena, source);
        arena.copy.write(&source.path, &source.text).ok()?;
        all.push(changed.is_some_and(|changed| changed == original));
    }
    Some(all)
}

/// Returns the object code compiled from a file of the copy.
fn object(arena: &mut Arena<'_>, source: &Source) -> Option<Vec<u8>> {
    let top = arena.copy.top();
    let output = arena.runs.place().join("same.o");
    let _not_there = fs::remove_file(&output);
    let compiler = if source.language == Language::Cpp { "c++" } else { "cc" };
    let mut argv: Vec<OsString> =
        [compiler, "-O2", "-g0", "-w", "-c", "-frandom-seed=0"].map(OsString::from).to_vec();
    let place = top.join(&source.path);
    let beside = place.parent()?.to_owned();
    for directory in [top.join("include"), top.clone(), beside] {
        argv.push("-I".into());
        argv.push(directory.into_os_string());
    }
    argv.extend([place.into_os_string(), "-o".into(), output.clone().into_os_string()]);
    arena.suite.output_of(&mut arena.runs, &top, argv)?;
    fs::read(&output).ok()
}

/// Returns true if a text ends within a section that the preprocessor includes conditionally.
fn is_conditional(before: &[u8]) -> bool {
    let text = String::from_utf8_lossy(before);
    let mut depth = 0_usize;
    for line in text.lines() {
        let Some(directive) = line.trim_start().strip_prefix('#') else { continue };
        let directive = directive.trim_start();
        if directive.starts_with("if") {
            depth += 1;
        } else if directive.starts_with("endif") {
            depth = depth.saturating_sub(1);
        }
    }
    depth > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_between_if_and_endif_is_conditional() {
        assert!(is_conditional(b"#include <a.h>\n#ifdef B\nint a;\n"));
        assert!(is_conditional(b"# if B\n#if C\n#endif\n"));
        assert!(!is_conditional(b"#ifdef B\n#endif\nint a; // #if\n"));
    }
}
