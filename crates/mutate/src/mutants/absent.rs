//! Finds code that is in the source but not in the program that the tests run on this machine: code
//! for another platform, for a disabled feature, or only for the type checker. No test here could
//! detect a change to such code, so its mutants count neither as detected nor as missed.
//!
//! Code counts as built unless it is known to be left out. Every evaluator returns `None` for a
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
    /// Operating system as named by Rust, such as `linux`, `macos` or `windows`.
    pub system: String,
    /// Processor architecture as named by Rust, such as `x86_64` or `aarch64`.
    pub processor: String,
    /// Go build tags that the test command sets.
    pub tags: BTreeSet<String>,
    /// Enabled features of the crate. `None` if unknown, in which case any feature may be enabled.
    pub features: Option<BTreeSet<String>>,
    /// Features that another crate may enable.
    pub perhaps: BTreeSet<String>,
    /// Names that `RUSTFLAGS` sets with `--cfg`. `None` if there may be a build script, which can
    /// set any name.
    pub settings: Option<BTreeSet<String>>,
    /// C macros that nothing defines.
    pub undefined: BTreeSet<String>,
}

impl Default for BuildPlatform {
    fn default() -> Self {
        let (system, processor) = (consts::OS.to_owned(), consts::ARCH.to_owned());
        let (tags, perhaps, undefined) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        Self { system, processor, tags, features: None, perhaps, settings: None, undefined }
    }
}

/// A range of lines that are not part of the program, with the condition that leaves them out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExcludedLines {
    /// First line, counting from 1.
    pub first: u32,
    /// Last line, inclusive.
    pub last: u32,
    /// The reason, as a noun phrase such as `#[cfg(windows)]`.
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

/// Returns the text on one line, truncated if it is long.
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
