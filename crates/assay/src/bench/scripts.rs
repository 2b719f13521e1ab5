//! Digests of the code that Node.js benchmarks execute: the text of every script in a tree, without
//! the functions that an untimed run of the benchmark did not call. Node.js provides this text even
//! for scripts written by a bundler or compiler, so the sources are not needed.

use super::tree::{contents, root_of};
use super::{Asker, Catalogue};
use crate::output;
use crate::run_error::RunError;
use assay_harness::Effort;
use assay_harness::executed::{ExecutedScript, executed_scripts, noting_scripts};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Extensions of scripts, and of files that only describe scripts.
const SCRIPTS: [&str; 10] =
    ["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "map", "tsbuildinfo"];
/// The directory of installed packages, some of which may be copies of packages of the tree.
const PACKAGES: &str = "node_modules";
/// The hidden directory below [`PACKAGES`] in which pnpm keeps the packages that it links to. All
/// other hidden directories there are caches of tools.
const LINKED: &str = ".pnpm";

/// Returns the digests by benchmark and side, provided that all sides run on Node.js, have separate
/// trees, and differ only in scripts. Runs each benchmark once per side. If that takes longer than
/// `most_seconds`, returns an empty map. Calls `telling(done, total)` with the number of runs.
///
/// # Errors
///
/// Fails if the user interrupts. A run that fails only yields no digest.
pub(super) fn digests(
    catalogue: &Catalogue,
    benchmarks: &[usize],
    (asker, most_seconds): (&mut Asker, f64),
    telling: &mut dyn FnMut(usize, usize),
) -> Result<BTreeMap<(usize, usize), String>, RunError> {
    let began = Instant::now();
    let mut found = BTreeMap::new();
    let Some(roots) = roots(catalogue) else { return Ok(found) };
    let (all, mut done) = (benchmarks.len() * roots.len(), 0);
    for (side, root) in roots.iter().enumerate() {
        for &benchmark in benchmarks {
            telling(done, all);
            done += 1;
            if began.elapsed().as_secs_f64() > most_seconds {
                return Ok(BTreeMap::new());
            }
            let Some(name) = &catalogue.benchmarks[benchmark].on[side] else { continue };
            let scratch = asker.directory().map_err(|e| RunError::Reading(output::told(&e)))?;
            let driver = &catalogue.drivers[side];
            let request = driver.measure(name, Effort::Once, &scratch);
            let request = noting_scripts(request, &scratch);
            let ran = asker.ask(&catalogue.sides[side], &request, &scratch)?;
            let did_run = ran.reading(&**driver, name).is_some();
            let scripts = executed_scripts(&scratch).filter(|_| did_run);
            if let Some(digest) = scripts.and_then(|scripts| digest(root, &scripts)) {
                found.insert((benchmark, side), digest);
            }
        }
    }
    Ok(found)
}

/// Returns the root of each side's tree; `None` if the code that the sides execute can't be
/// compared.
fn roots(catalogue: &Catalogue) -> Option<Vec<PathBuf>> {
    if !catalogue.drivers.iter().all(|driver| driver.notes_scripts()) {
        return None;
    }
    let roots: Option<Vec<PathBuf>> = catalogue.sides.iter().map(root_of).collect();
    let roots = roots?;
    let different: BTreeSet<&PathBuf> = roots.iter().collect();
    // A file that is not a script may change the behavior of a function.
    let others = |root: &PathBuf| Some(contents(root, &SCRIPTS, &[])?.others);
    let others: Option<Vec<_>> = roots.iter().map(others).collect();
    let is_known = different.len() == roots.len() && others?.windows(2).all(|two| two[0] == two[1]);
    is_known.then_some(roots)
}

/// Returns the digest of the executed parts of a tree's scripts; `None` if there are none.
fn digest(root: &Path, scripts: &[ExecutedScript]) -> Option<String> {
    let own: BTreeSet<(&Path, &str)> = scripts
        .iter()
        .filter_map(|script| Some((script.file.strip_prefix(root).ok()?, script.digest.as_str())))
        .filter(|(file, _)| !is_in_cache(file))
        .collect();
    let mut hasher = DefaultHasher::new();
    own.hash(&mut hasher);
    (!own.is_empty()).then(|| format!("executed:{:016x}", hasher.finish()))
}

/// Returns true for a file that a tool generated below the installed packages.
fn is_in_cache(file: &Path) -> bool {
    let parts: Vec<_> = file.iter().map(|part| part.to_string_lossy()).collect();
    let is_hidden = |name: &str| name.starts_with('.') && name != LINKED;
    parts.windows(2).any(|two| two[0] == PACKAGES && is_hidden(&two[1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_scripts_of_the_tree_count() {
        let script = |file: &str, digest: &str| ExecutedScript {
            file: file.into(),
            digest: digest.to_owned(),
        };
        let of = |root: &str, scripts: &[ExecutedScript]| digest(Path::new(root), scripts);
        let base = of("/base", &[script("/base/dist/a.mjs", "1"), script("/base/bench.mjs", "2")]);
        let others = [
            script("/head/bench.mjs", "2"),
            script("/head/dist/a.mjs", "1"),
            script("/head/node_modules/.vite/deps/b.js", "3"),
            script("/usr/lib/npm.js", "4"),
        ];
        assert_eq!(base, of("/head", &others));
        assert_ne!(base, of("/head", &[script("/head/dist/a.mjs", "5"), others[0].clone()]));
        assert_ne!(base, of("/head", &others[1..]));
        assert_eq!(of("/head", &others[2..]), None);
        // An installed package may be a copy of one in the tree.
        let copied = |digest: &str| of("/head", &[script("/head/node_modules/b/b.js", digest)]);
        assert_ne!(copied("6"), copied("7"));
        let linked = "/head/node_modules/.pnpm/b@1.0.0/node_modules/b/b.js";
        assert_ne!(of("/head", &[script(linked, "6")]), None);
    }
}
