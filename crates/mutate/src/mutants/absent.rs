//! Code that is in the source but not in the program that the tests run on this machine: code for
//! another platform, for a disabled feature, or only for the type checker. No test here could
//! detect a change to it, so its mutants count neither as detected nor as missed.
//!
//! Code counts as built unless it is known to be left out: every evaluator returns `None` for a
//! condition that it does not understand.

mod c;
mod conditions;
mod go;
mod logic;
mod rust;

pub(crate) use rust::each;
pub use rust::modules_off;

use assay_suites::coverage::Language;
use std::collections::BTreeSet;
use std::env::consts;
use tree_sitter::Node;

/// The platform and settings for which the sources are built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildPlatform {
    /// Operating system, as named by Rust: `linux`, `macos`, `windows`.
    pub system: String,
    /// Processor, as named by Rust: `x86_64`, `aarch64`.
    pub processor: String,
    /// Go build tags set by the command.
    pub tags: BTreeSet<String>,
    /// Enabled features of a crate; `None` if unknown, in which case any may be enabled.
    pub features: Option<BTreeSet<String>>,
    /// Features that another crate may enable.
    pub perhaps: BTreeSet<String>,
    /// Names that `RUSTFLAGS` sets with `--cfg`; `None` if there may be a build script, which can
    /// set any name.
    pub settings: Option<BTreeSet<String>>,
    /// Macros of C that nothing defines.
    pub undefined: BTreeSet<String>,
}

impl Default for BuildPlatform {
    fn default() -> Self {
        let (system, processor) = (consts::OS.to_owned(), consts::ARCH.to_owned());
        let (tags, perhaps, undefined) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        Self { system, processor, tags, features: None, perhaps, settings: None, undefined }
    }
}

/// Lines that are not part of the program (numbered from 1), with the condition that leaves them
/// out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExcludedLines {
    /// First line.
    pub first: u32,
    /// Last line.
    pub last: u32,
    /// The reason, as a noun phrase: `#[cfg(windows)]`.
    pub why: String,
}

impl ExcludedLines {
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

/// Returns the lines of a file that are not built here. O(bytes).
pub(crate) fn absent(
    language: Language,
    path: &str,
    text: &[u8],
    root: Node<'_>,
    here: &BuildPlatform,
) -> Vec<ExcludedLines> {
    let words = String::from_utf8_lossy(text);
    match language {
        Language::Go => {
            let mut all: Vec<ExcludedLines> = go::file(path, &words, here).into_iter().collect();
            all.extend(conditions::of(language, root, text, here));
            all
        }
        Language::Rust => rust::of(root, text, here),
        Language::C | Language::Cpp => c::of(&words, language == Language::Cpp, here),
        _ => conditions::of(language, root, text, here),
    }
}

/// The text on one line, truncated if it is long.
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
