//! Code that is in the source and not in the program that the tests run here: of another platform, of a feature that is off, or there for the type checker
//! alone. No test on this machine could notice a change of it, so it counts neither as noticed nor as missed.
//!
//! What is not known to be left out counts as built: each judge answers `None` to a condition that it does not understand.

mod c;
mod conditions;
mod go;
mod logic;
mod rust;

pub(crate) use rust::each;
pub use rust::modules_off;

use assay_coverage::Language;
use std::collections::BTreeSet;
use std::env::consts;
use tree_sitter::Node;

/// The platform and settings for which the sources are built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Here {
    /// The system as Rust names it: `linux`, `macos`, `windows`.
    pub system: String,
    /// The processor as Rust names it: `x86_64`, `aarch64`.
    pub processor: String,
    /// Build tags of Go that the command sets.
    pub tags: BTreeSet<String>,
    /// Features of a crate that are on; `None`: not known, so all may be.
    pub features: Option<BTreeSet<String>>,
    /// Features that another crate may turn on.
    pub perhaps: BTreeSet<String>,
    /// Names that a build script may set with `--cfg`; `None`: there is a script, so any may be set.
    pub settings: Option<BTreeSet<String>>,
    /// Macros of C that nothing defines.
    pub undefined: BTreeSet<String>,
}

impl Default for Here {
    fn default() -> Self {
        let (system, processor) = (consts::OS.to_owned(), consts::ARCH.to_owned());
        let (tags, perhaps, undefined) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        Self { system, processor, tags, features: None, perhaps, settings: None, undefined }
    }
}

/// Lines that are not part of the program, from 1, with the condition that leaves them out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Absent {
    /// The first line.
    pub first: u32,
    /// The last line.
    pub last: u32,
    /// The reason, as a noun phrase: `#[cfg(windows)]`.
    pub why: String,
}

impl Absent {
    fn of(node: Node<'_>, why: impl Into<String>) -> Self {
        let line = |row: usize| u32::try_from(row).unwrap_or(u32::MAX).saturating_add(1);
        Self {
            first: line(node.start_position().row),
            last: line(node.end_position().row),
            why: why.into(),
        }
    }

    fn file(why: impl Into<String>) -> Self {
        Self { first: 1, last: u32::MAX, why: why.into() }
    }
}

/// The lines of a file that are not built here. O(bytes).
pub(crate) fn absent(
    language: Language,
    path: &str,
    text: &[u8],
    root: Node<'_>,
    here: &Here,
) -> Vec<Absent> {
    let words = String::from_utf8_lossy(text);
    match language {
        Language::Go => {
            let mut all: Vec<Absent> = go::file(path, &words, here).into_iter().collect();
            all.extend(conditions::of(language, root, text, here));
            all
        }
        Language::Rust => rust::of(root, text, here),
        Language::C | Language::Cpp => c::of(&words, language == Language::Cpp, here),
        _ => conditions::of(language, root, text, here),
    }
}

/// A text on one line, cut where it is long.
fn short(text: &str) -> String {
    const LONGEST: usize = 60;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= LONGEST {
        return line;
    }
    line.chars().take(LONGEST - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests;
