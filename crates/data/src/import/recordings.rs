//! Pools several recordings of one side: files in a directory, documents in one file, or files that
//! the user named together.
//!
//! Random properties of a process affect all its values, so a recording is one unit, however many
//! values it has. The index of the recording is therefore the outermost level of its observations.
//! If a recording has only a summary, its mean or median is its only value. Recordings that are
//! byte-identical count once.

use super::merge::{self, LabelledInput};
use super::{ImportError, ImportOptions, Part, Reopen};
use crate::finding::shared::same_recording;
use crate::samples::{Observation, Recorded, Row, Samples, Side, Subject};
use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The files of one side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SideFiles {
    /// The user's name for the side, or `None` to name it after its file.
    pub name: Option<String>,
    /// Files of the side, or directories that contain them. `-` is standard input.
    pub files: Vec<PathBuf>,
}

/// Maximum size of a file that is hashed or split into its documents, in bytes.
const MOST: u64 = 1 << 28;

/// Maximum number of recordings of a side.
const MOST_RECORDINGS: usize = 10_000;

/// One recording.
pub(super) struct Recording {
    /// Name in messages.
    pub file: String,
    pub part: Part,
    /// Hash of the recording's bytes, if known.
    pub digest: Option<u64>,
}

/// Returns the files in a directory, sorted by path, without hidden files and directories. Returns
/// `None` if there are none or the directory cannot be read.
pub(super) fn files_of(directory: &Path) -> Option<Vec<PathBuf>> {
    let is_hidden = |path: &Path| {
        path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
    };
    let entries = fs::read_dir(directory).ok()?.flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.is_file() && !is_hidden(path)).collect();
    files.sort();
    (!files.is_empty()).then_some(files)
}

/// Returns the hash of the text of a document, ignoring surrounding blanks.
pub(super) fn digest(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.trim_ascii().hash(&mut hasher);
    hasher.finish()
}

/// Returns the hash of a file, or `None` if it is too large or cannot be read.
pub(super) fn digest_of_file(path: &Path) -> Option<u64> {
    let is_small = fs::metadata(path).ok()?.len() <= MOST;
    is_small.then(|| fs::read(path).ok()).flatten().map(|bytes| digest(&bytes))
}

/// Returns the documents of a file that contains several JSON objects, either in succession or in a
/// list, each with the number of its first line. Returns `None` for any other file.
pub(super) fn documents(again: Reopen<'_>) -> Option<Vec<(u64, Vec<u8>)>> {
    let mut bytes = Vec::new();
    let input = again()?.ok()?;
    input.into_reader().take(MOST + 1).read_to_end(&mut bytes).ok()?;
    if bytes.len() as u64 > MOST {
        return None;
    }
    let whole = values_of(&bytes)?;
    let list = match whole.as_slice() {
        &[(begin, end)] if bytes[begin] == b'[' => Some((begin + 1, end - 1)),
        _ => None,
    };
    let found = match list {
        // Within the brackets, each item of the list is a document.
        Some((begin, end)) => {
            let within = values_of(&bytes[begin..end])?.into_iter();
            within.map(|(from, to)| (from + begin, to + begin)).collect()
        }
        None => whole,
    };
    let are_objects = found.iter().all(|&(begin, _)| bytes[begin] == b'{');
    if found.len() < 2 || found.len() > MOST_RECORDINGS || !are_objects {
        return None;
    }
    let (mut line, mut seen) = (1, 0);
    let document = |(begin, end): (usize, usize)| {
        line += bytes[seen..begin].iter().filter(|&&b| b == b'\n').count() as u64;
        seen = begin;
        (line, bytes[begin..end].to_vec())
    };
    Some(found.into_iter().map(document).collect())
}

/// Returns the byte ranges of the objects and lists in a text, between which there are only blanks
/// and commas. Returns `None` for any other text.
fn values_of(text: &[u8]) -> Option<Vec<(usize, usize)>> {
    let mut found = Vec::new();
    let (mut depth, mut begin) = (0_usize, 0);
    let (mut in_string, mut escaped) = (false, false);
    for (at, &byte) in text.iter().enumerate() {
        if in_string {
            in_string = escaped || byte != b'"';
            escaped = byte == b'\\' && !escaped;
            continue;
        }
        match byte {
            b'"' if depth > 0 => in_string = true,
            b'{' | b'[' => {
                if depth == 0 {
                    begin = at;
                }
                depth += 1;
            }
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    found.push((begin, at + 1));
                }
            }
            _ if depth > 0 || byte.is_ascii_whitespace() || byte == b',' => {}
            // A byte-order mark.
            0xef | 0xbb | 0xbf if found.is_empty() => {}
            _ => return None,
        }
    }
    (depth == 0 && !found.is_empty()).then_some(found)
}

/// Returns all recordings of a side as a single input. If there is only one, it is unchanged.
pub(super) fn pooled(
    label: &str,
    mut recordings: Vec<Recording>,
    options: &ImportOptions,
) -> Result<LabelledInput, ImportError> {
    let mut known = Vec::new();
    let all = recordings.len();
    recordings.retain(|one| {
        // A few numbers may well be repeated, but not a tool's whole document.
        let digest = one.digest.filter(|_| !one.part.is_bare);
        let is_new = digest.is_none_or(|digest| !known.contains(&digest));
        known.extend(digest);
        is_new
    });
    let same = all - recordings.len();
    let first = recordings.first().map(|one| one.file.clone()).ok_or(ImportError::NoInput)?;
    if recordings.len() == 1 {
        let mut part = recordings.remove(0).part;
        if same > 0 {
            part.samples.findings.push(same_recording(label, all, 1));
        }
        return Ok(LabelledInput { file: first, label: label.to_owned(), part });
    }
    let kept = recordings.len();
    let labelled =
        |one: Recording| LabelledInput { file: one.file, label: label.to_owned(), part: one.part };
    let mut parts: Vec<LabelledInput> = recordings.into_iter().map(labelled).collect();
    merge::lend_metrics(&mut parts, options)?;
    merge::check_units(&mut parts)?;
    in_order_of_time(&mut parts);
    let (is_bare, is_ours) =
        (parts.iter().all(|one| one.part.is_bare), parts.iter().all(|one| one.part.is_ours));
    let mut pool = Pool::of(label, &first, &parts)?;
    for (number, one) in parts.into_iter().enumerate() {
        pool.add(number as u32, one)?;
    }
    let mut samples = pool.samples;
    if same > 0 {
        samples.findings.push(same_recording(label, all, kept));
    }
    let file = format!("{first} and {} more", kept - 1);
    Ok(LabelledInput { file, label: label.to_owned(), part: Part { samples, is_bare, is_ours } })
}

/// Sorts recordings by their start, if all of them state it.
fn in_order_of_time(parts: &mut [LabelledInput]) {
    let times: Option<Vec<f64>> = parts.iter().map(|one| began(&one.part.samples)).collect();
    if times.is_some() {
        parts.sort_by(|a, b| {
            let time = |one: &LabelledInput| began(&one.part.samples).unwrap_or(f64::NAN);
            time(a).total_cmp(&time(b))
        });
    }
}

fn began(samples: &Samples) -> Option<f64> {
    super::times::seconds(samples.started.as_deref()?)
}

/// Combines the samples of several recordings.
struct Pool {
    samples: Samples,
    subjects: HashMap<String, usize>,
}

impl Pool {
    fn of(label: &str, first: &str, parts: &[LabelledInput]) -> Result<Self, ImportError> {
        let mut samples = Samples::new(merge::order_metrics(parts)?);
        let recorded = |one: &LabelledInput| Recorded {
            file: one.file.clone(),
            started: one.part.samples.started.clone(),
        };
        samples.add_side(Side {
            name: label.to_owned(),
            source: Some(format!("{first} and {} more", parts.len() - 1)),
            recordings: parts.iter().map(recorded).collect(),
            ..Side::default()
        });
        if let Some(one) = parts.first() {
            samples.environment = one.part.samples.environment.clone();
            samples.tool.clone_from(&one.part.samples.tool);
            samples.started.clone_from(&one.part.samples.started);
        }
        Ok(Self { samples, subjects: HashMap::new() })
    }

    fn add(&mut self, number: u32, one: LabelledInput) -> Result<(), ImportError> {
        let LabelledInput { file, part, .. } = one;
        let theirs = part.samples;
        if theirs.sides.len() > 1 {
            let sides: Vec<String> =
                theirs.sides.iter().map(|side| format!("`{}`", side.name)).collect();
            let problem = format!(
                "contains {} sides ({}), but a recording of one side must contain one: record each side in its own file",
                sides.len(),
                sides.join(", ")
            );
            return Err(ImportError::Content { file, problem });
        }
        let is_alone = part.is_bare && theirs.subjects.len() == 1;
        let names = merge::matched_by(&theirs).into_iter().map(str::to_owned);
        let names: Vec<String> =
            names.map(|name| if is_alone { String::new() } else { name }).collect();
        let own: Vec<usize> = theirs
            .subjects
            .iter()
            .zip(&names)
            .map(|(subject, name)| self.subject(name, subject, theirs.row_of(subject)))
            .collect();
        let metrics: Vec<usize> =
            theirs.metrics.iter().map(|metric| self.samples.add_metric(metric.clone())).collect();
        for observation in theirs.observations() {
            let known: Vec<(usize, f64)> =
                metrics.iter().copied().zip(observation.values.iter().copied()).collect();
            let mut level = vec![number];
            level.extend(&observation.level);
            self.samples.push(Observation {
                subject: own[observation.subject],
                level,
                values: self.samples.values_of(&known),
                outcome: observation.outcome,
                ..Observation::default()
            });
        }
        for summary in &theirs.summaries {
            let metric = self.samples.metric_index(&summary.metric);
            let value = summary.location().filter(|value| value.is_finite());
            if let (Some(metric), Some(value), Some(&subject)) =
                (metric, value, own.get(summary.subject))
            {
                self.samples.push(Observation {
                    subject,
                    level: vec![number],
                    values: self.samples.values_of(&[(metric, value)]),
                    ..Observation::default()
                });
            }
        }
        for finding in theirs.findings {
            if !self.samples.findings.contains(&finding) {
                self.samples.findings.push(finding);
            }
        }
        Ok(())
    }

    /// Returns the index of the subject with this name. A new one is copied from `subject` and
    /// `row`.
    fn subject(&mut self, name: &str, subject: &Subject, row: &Row) -> usize {
        if let Some(&known) = self.subjects.get(name) {
            return known;
        }
        let label = self.samples.sides.first().map(|side| side.name.clone()).unwrap_or_default();
        let shown = if name.is_empty() { label } else { subject.name.clone() };
        let own = Row { name: name.to_owned(), ..row.clone() };
        self.samples.rows.push(own);
        let row = self.samples.rows.len() - 1;
        self.samples.subjects.push(Subject {
            side: 0,
            row,
            name: shown,
            against: None,
            ..subject.clone()
        });
        let index = self.samples.subjects.len() - 1;
        self.subjects.insert(name.to_owned(), index);
        index
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_what_stands_between_brackets_of_the_outermost_level() {
        let text = br#" {"a": "}{"} {"b": [1, {"c": "\""}]},
            {"d": 1} "#;
        let found: Vec<&[u8]> =
            values_of(text).unwrap_or_default().iter().map(|&(from, to)| &text[from..to]).collect();
        assert_eq!(found, [&br#"{"a": "}{"}"#[..], br#"{"b": [1, {"c": "\""}]}"#, br#"{"d": 1}"#]);
        for other in ["", "1 2", "{} x", "{", "}{", "a{}"] {
            assert_eq!(values_of(other.as_bytes()), None, "{other}");
        }
    }
}
