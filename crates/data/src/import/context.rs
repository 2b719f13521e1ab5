//! Arguments and results of importers.

use super::options::ImportOptions;
use crate::input::Input;
use crate::number::Marks;
use crate::read_error::ReadError;
use crate::samples::Samples;
use crate::test_results::TestResults;
use std::cell::RefCell;

/// The beginning of a file, as seen by the recognition of formats.
pub(super) struct Head<'a> {
    /// The text at the beginning of the file.
    pub(super) text: &'a str,
    /// The first line that is neither blank nor a comment.
    pub(super) first: &'a str,
    /// The second line that is neither blank nor a comment.
    pub(super) second: &'a str,
}

impl<'a> Head<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let text = text.trim_start_matches('\u{feff}');
        let mut data = text.lines().map(str::trim).filter(|line| !is_comment_or_blank(line));
        let first = data.next().unwrap_or_default();
        Self { text, first, second: data.next().unwrap_or_default() }
    }

    /// Returns true if the text begins like a JSON object or list.
    pub(super) fn is_json(&self) -> bool {
        self.text.trim_start().starts_with(['{', '['])
    }
}

pub(super) fn is_comment_or_blank(line: &str) -> bool {
    line.is_empty() || line.starts_with('#')
}

/// Arguments that every importer gets in addition to the input.
pub(super) struct Context<'a> {
    pub(super) options: &'a ImportOptions,
    /// Name for a subject to which the file gives none.
    pub(super) label: &'a str,
    /// The file as the user named it.
    pub(super) file: &'a str,
    /// Receives the individual tests of a report, for callers that run the suite. `None` if only
    /// their times are wanted.
    pub(super) tests: Option<&'a RefCell<TestResults>>,
    /// What points and commas mean in the file's numbers.
    pub(super) marks: &'a Marks,
}

/// Result of reading one input.
pub(super) struct Part {
    pub(super) samples: Samples,
    /// True if the file does not specify the metric of its numbers. They then take the name of
    /// another file's metric. Unless the user gave a unit for these numbers, that metric must not
    /// have one.
    pub(super) is_bare: bool,
    /// True if assay wrote the file, in which case every metric is named.
    pub(super) is_ours: bool,
}

/// Opens an input again, or returns `None` if it can be read only once.
pub(super) type Reopen<'a> = &'a dyn Fn() -> Option<Result<Input, ReadError>>;
