//! Stores the results of mutants on disk, one per line. A line is appended as soon as its result is
//! known, so only unfinished results are lost if the process is killed. A journal belongs to one
//! state of the project and one command, and its results are not reused for another state.

use anyhow::Context;
use assay_data::mutation::Fate;
use assay_data::private;
use assay_measure::directories::cache_directory;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The result of one mutant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub id: String,
    /// Name of the mutant's fate, such as `killed`.
    pub fate: String,
    /// Names of the tests that failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub killed_by: Vec<String>,
    /// True if `killed_by` lists every test that fails with this mutant.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_complete: bool,
    pub tests_run: usize,
    pub seconds: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// An open journal file.
pub(crate) struct Journal {
    file: File,
    path: PathBuf,
}

impl Journal {
    /// Opens the journal of a state and returns the results in it. If `again` is true, the existing
    /// results are discarded.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be written.
    pub fn open(key: u64, again: bool) -> anyhow::Result<(Self, HashMap<String, Entry>)> {
        let cache = cache_directory().context(
            "neither XDG_CACHE_HOME nor HOME names a directory for the results: set one of them",
        )?;
        Self::at(&cache.join("mutate").join(format!("{key:016x}.jsonl")), again)
    }

    fn at(path: &Path, again: bool) -> anyhow::Result<(Self, HashMap<String, Entry>)> {
        let named = || path.display().to_string();
        if let Some(above) = path.parent() {
            private::directory(above).with_context(named)?;
        }
        let text = fs::read(path).unwrap_or_default();
        let text = if again { Vec::new() } else { text };
        let lines = text.split(|byte| *byte == b'\n');
        let entries = lines.filter_map(|line| serde_json::from_slice::<Entry>(line).ok());
        let entries = entries.filter(|own| Fate::named(&own.fate).is_some());
        let known: HashMap<String, Entry> = entries.map(|own| (own.id.clone(), own)).collect();
        let mut options = private::options();
        let mut file = options.create(true).append(true).open(path).with_context(named)?;
        if again {
            file.set_len(0).with_context(named)?;
        }
        // Terminates a partial line left by a process that was killed.
        if !text.is_empty() && !text.ends_with(b"\n") {
            file.write_all(b"\n").with_context(named)?;
        }
        Ok((Self { file, path: path.to_owned() }, known))
    }

    /// Appends the result of one mutant.
    ///
    /// # Errors
    ///
    /// Fails if the line cannot be written.
    pub fn add(&mut self, entry: &Entry) -> anyhow::Result<()> {
        let line = serde_json::to_string(entry)? + "\n";
        self.file.write_all(line.as_bytes()).with_context(|| self.path.display().to_string())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;

    #[test]
    fn whole_lines_are_found_again_whatever_was_cut() {
        let room = tempfile::tempdir().unwrap();
        let path = room.path().join("deep/a.jsonl");
        let entry = |id: &str| Entry {
            id: id.to_owned(),
            fate: "killed".to_owned(),
            killed_by: vec!["t".to_owned()],
            is_complete: false,
            tests_run: 1,
            seconds: 0.5,
            reason: None,
        };
        let (mut journal, known) = Journal::at(&path, false).unwrap();
        assert!(known.is_empty());
        journal.add(&entry("a")).unwrap();
        journal.add(&entry("b")).unwrap();
        drop(journal);
        let text = fs::read(&path).unwrap();
        fs::write(&path, &text[..text.len() - 9]).unwrap();
        let (mut journal, known) = Journal::at(&path, false).unwrap();
        assert_eq!(known.keys().collect::<Vec<_>>(), ["a"]);
        journal.add(&entry("c")).unwrap();
        let (_, known) = Journal::at(&path, false).unwrap();
        assert_eq!(known.len(), 2);
        assert_eq!(known["c"], entry("c"));
        assert!(Journal::at(&path, true).unwrap().1.is_empty());
        assert!(Journal::at(&path, false).unwrap().1.is_empty());
    }
}
