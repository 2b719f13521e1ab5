//! Reads sample files line by line, strictly: a wrong line is an error with its position, never a
//! guess. Only an incomplete last line, as left by a crash, is dropped, with a finding about the
//! loss.
//!
//! Unknown kinds and members are skipped, so that files of later minor versions can be read.

use super::VERSION;
use super::record::{Kind, ObservationSeed, Run, Stop, Version};
use crate::finding::shared::{TRUNCATED_FILE, truncated_file};
use crate::input::Input;
use crate::lines::{Lines, TextLine};
use crate::read_error::{FilePosition, ReadError, quoted_start};
use crate::samples::{Buckets, Counts};
use crate::{
    Finding, Histogram, Inner, Metric, Observation, Pass, Row, Samples, Side, Subject, Summary,
};
use serde::de::DeserializeSeed;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;

/// Maximum number of metrics in one file. Each takes a column as long as the file, so an absurd
/// number is refused.
pub const MAX_METRICS: usize = 1000;

/// Reads a sample file. Gzip compression is recognized by content. Takes O(bytes) time, and memory
/// for the samples and one line.
///
/// # Errors
/// Returns an error if the file cannot be read, is not a sample file, is of a later version, or
/// contains an invalid line.
pub fn read(path: &Path) -> Result<Samples, ReadError> {
    read_input(Input::open(path)?)
}

/// Contents of a file, and where it breaks off if it is incomplete.
pub(super) struct FileContents {
    pub(super) samples: Samples,
    /// Number of bytes of uncompressed text before an incomplete last record, or `None` if the last
    /// record is complete.
    pub(super) broken_at: Option<u64>,
}

/// Like [`read`], but also returns where an incomplete last record begins.
pub(super) fn read_whole(path: &Path) -> Result<FileContents, ReadError> {
    whole(Input::open(path)?)
}

/// Reads a sample file from a stream, plain or gzip-compressed. Messages refer to it as `name`.
///
/// # Errors
/// Fails in the same cases as [`read`].
pub fn read_from(stream: impl Read + 'static, name: &str) -> Result<Samples, ReadError> {
    read_input(Input::of(stream, name)?)
}

pub(crate) fn read_input(input: Input) -> Result<Samples, ReadError> {
    Ok(whole(input)?.samples)
}

fn whole(input: Input) -> Result<FileContents, ReadError> {
    let file = input.file.clone();
    let mut lines = Lines::new(input.into_reader(), &file);
    let mut reader = Reader::default();
    let mut broken_at = None;
    while let Some(line) = lines.next()? {
        if line.text.trim().is_empty() {
            continue;
        }
        let place = |column| FilePosition { file: file.clone(), line: line.number, column };
        match reader.line(line.text) {
            Ok(()) => {}
            Err(Problem::Json(error))
                if !line.ended && reader.has_header && breaks_off(&error, line.text) =>
            {
                broken_at = Some(line.start);
                reader.samples.findings.push(truncated(&place(None), line));
            }
            Err(Problem::NoHeader) => {
                return Err(ReadError::NoHeader {
                    place: place(None),
                    seen: quoted_start(line.text),
                });
            }
            Err(Problem::Version(version)) => {
                return Err(ReadError::Version { file, version, known: VERSION });
            }
            Err(Problem::Invalid(problem)) => {
                return Err(ReadError::Line { place: place(None), problem });
            }
            Err(Problem::Json(error)) => {
                let (column, problem) = describe(&error, line.text);
                return Err(ReadError::Line { place: place(column), problem });
            }
        }
    }
    if !reader.has_header {
        let expected = "a sample file, as `assay run --save` writes it";
        return Err(ReadError::Empty { file, expected });
    }
    Ok(FileContents { samples: reader.samples, broken_at })
}

/// An error in one line, before its position is known.
enum Problem {
    NoHeader,
    Version(u64),
    Json(serde_json::Error),
    Invalid(String),
}

impl From<serde_json::Error> for Problem {
    fn from(error: serde_json::Error) -> Self {
        Self::Json(error)
    }
}

#[derive(Default)]
struct Reader {
    samples: Samples,
    has_header: bool,
    /// Names of the subjects read so far.
    names: BTreeSet<String>,
    side_names: BTreeSet<String>,
    row_names: BTreeSet<String>,
    /// For each subject, the blocks in which it was measured, by pass.
    seen: Vec<BTreeMap<Option<Pass>, SeenBlocks>>,
    /// Buffer that is reused for every observation.
    observation: Observation,
}

impl Reader {
    fn line(&mut self, text: &str) -> Result<(), Problem> {
        let is_object = text.trim_start().starts_with('{');
        if !self.has_header {
            return if is_object { self.header(text) } else { Err(Problem::NoHeader) };
        }
        // Otherwise a list would be accepted as a record, with its items as the members in order.
        if !is_object {
            let seen = quoted_start(text);
            return Err(Problem::Invalid(format!(
                "expected one record, a JSON object, not `{seen}`"
            )));
        }
        // Nearly all lines are observations, and our own writer puts the kind first, so usually the
        // kind need not be parsed.
        if text.starts_with(r#"{"kind":"obs","#) {
            return self.observation(text);
        }
        match serde_json::from_str::<Kind<'_>>(text)?.kind.0.as_ref() {
            "obs" => self.observation(text),
            "environment" => self.environment(text),
            "side" => self.side(text),
            "row" => self.row(text),
            "subject" => self.subject(text),
            "metric" => self.metric(text),
            "values" => self.inner(text),
            "hist" => self.histogram(text),
            "counts" => self.counts(text),
            "summary" => self.summary(text),
            "finding" => {
                let finding: Finding = serde_json::from_str(text)?;
                if !finding.is(TRUNCATED_FILE) {
                    self.samples.findings.push(finding);
                }
                Ok(())
            }
            "stop" => {
                self.samples.stop = Some(serde_json::from_str::<Stop>(text)?.reason);
                Ok(())
            }
            "run" => Err(Problem::Invalid(
                "a second header; one file holds one run, so take the files apart".to_owned(),
            )),
            _ => Ok(()),
        }
    }

    fn header(&mut self, text: &str) -> Result<(), Problem> {
        let version = match serde_json::from_str::<Version>(text) {
            Ok(Version { assay: Some(version) }) => version,
            Err(error) if error.is_eof() && text.starts_with(r#"{"assay""#) => {
                return Err(Problem::Invalid(
                    "the header breaks off, so nothing was recorded in this file".to_owned(),
                ));
            }
            _ => return Err(Problem::NoHeader),
        };
        match version.as_u64() {
            Some(VERSION) => {}
            Some(later) if later > VERSION => return Err(Problem::Version(later)),
            _ => {
                return Err(Problem::Invalid(format!(
                    "`assay` is the version of the format and should be {VERSION}, not {version}"
                )));
            }
        }
        let run: Run = serde_json::from_str(text)?;
        self.samples.tool = run.tool;
        self.samples.started = run.time;
        self.samples.argv = run.argv;
        self.samples.plan = run.plan;
        self.has_header = true;
        Ok(())
    }

    fn environment(&mut self, text: &str) -> Result<(), Problem> {
        let facts: Map<String, Value> = serde_json::from_str(text)?;
        let facts = facts.into_iter().filter(|(name, _)| name != "kind");
        self.samples.environment.facts.extend(facts);
        Ok(())
    }

    fn inner(&mut self, text: &str) -> Result<(), Problem> {
        let inner: Inner = serde_json::from_str(text)?;
        if inner.subject >= self.samples.subjects.len() {
            return Err(Problem::Invalid(format!(
                "values of subject {}, which is not declared",
                inner.subject
            )));
        }
        if self.samples.metric_index(&inner.metric).is_none() {
            return Err(Problem::Invalid(format!(
                "values of metric `{}`, which is not declared",
                inner.metric
            )));
        }
        self.samples.inner.push(inner);
        Ok(())
    }

    fn histogram(&mut self, text: &str) -> Result<(), Problem> {
        let buckets: Buckets = serde_json::from_str(text)?;
        self.is_declared("a histogram", buckets.subject)?;
        if let Err(error) = Histogram::decoded(&buckets.v2) {
            return Err(Problem::Invalid(error.to_string()));
        }
        self.samples.histograms.push(buckets);
        Ok(())
    }

    fn counts(&mut self, text: &str) -> Result<(), Problem> {
        let counts: Counts = serde_json::from_str(text)?;
        self.is_declared("counts", counts.subject)?;
        self.samples.counts.push(counts);
        Ok(())
    }

    fn is_declared(&self, what: &str, subject: usize) -> Result<(), Problem> {
        if subject < self.samples.subjects.len() {
            return Ok(());
        }
        Err(Problem::Invalid(format!("{what} of subject {subject}, which is not declared")))
    }

    fn summary(&mut self, text: &str) -> Result<(), Problem> {
        let summary: Summary = serde_json::from_str(text)?;
        let said = |what: String| Err(Problem::Invalid(format!("a summary of {what}")));
        if summary.subject >= self.samples.subjects.len() {
            return said(format!("subject {}, which is not declared", summary.subject));
        }
        if self.samples.metric_index(&summary.metric).is_none() {
            return said(format!("metric `{}`, which is not declared", summary.metric));
        }
        self.samples.summaries.push(summary);
        Ok(())
    }

    fn side(&mut self, text: &str) -> Result<(), Problem> {
        let side: Side = serde_json::from_str(text)?;
        if !self.side_names.insert(side.name.clone()) {
            return Err(Problem::Invalid(format!("side `{}` is declared twice", side.name)));
        }
        self.samples.sides.push(side);
        Ok(())
    }

    fn row(&mut self, text: &str) -> Result<(), Problem> {
        let row: Row = serde_json::from_str(text)?;
        if !self.row_names.insert(row.name.clone()) {
            return Err(Problem::Invalid(format!("row `{}` is declared twice", row.name)));
        }
        self.samples.rows.push(row);
        Ok(())
    }

    fn subject(&mut self, text: &str) -> Result<(), Problem> {
        let subject: Subject = serde_json::from_str(text)?;
        let declared = [
            ("side", subject.side, self.samples.sides.len()),
            ("row", subject.row, self.samples.rows.len()),
        ];
        if let Some((key, index, known)) = declared.into_iter().find(|(_, i, known)| i >= known) {
            return Err(Problem::Invalid(format!(
                "subject `{}` is of {key} {index}, which is not declared: {}",
                subject.name,
                match known {
                    0 => format!("no {key} record stands before this line"),
                    n => format!("{n} are, numbered from 0 to {}", n - 1),
                }
            )));
        }
        if !self.names.insert(subject.name.clone()) {
            return Err(Problem::Invalid(format!("subject `{}` is declared twice", subject.name)));
        }
        self.samples.subjects.push(subject);
        self.seen.push(BTreeMap::new());
        Ok(())
    }

    fn metric(&mut self, text: &str) -> Result<(), Problem> {
        let metric: Metric = serde_json::from_str(text)?;
        let known = self.samples.metric_index(&metric.name).map(|i| &self.samples.metrics[i]);
        match known {
            Some(known) if known.unit != metric.unit => {
                return Err(Problem::Invalid(format!(
                    "metric `{}` is declared in {} here but in {} before; a metric must have one unit",
                    metric.name,
                    metric.unit.symbol(),
                    known.unit.symbol()
                )));
            }
            Some(_) => {}
            None if self.samples.metrics.len() >= MAX_METRICS => {
                return Err(Problem::Invalid(format!(
                    "more than {MAX_METRICS} metrics in one file"
                )));
            }
            None => {
                self.samples.add_metric(metric);
            }
        }
        Ok(())
    }

    fn observation(&mut self, text: &str) -> Result<(), Problem> {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        ObservationSeed {
            into: &mut self.observation,
            metrics: &self.samples.metrics,
            subjects: self.samples.subjects.len(),
        }
        .deserialize(&mut deserializer)?;
        deserializer.end()?;
        let observation = &self.observation;
        if let Some(block) = observation.block
            && !self.seen[observation.subject].entry(observation.pass).or_default().insert(block)
        {
            let of_pass = match observation.pass {
                Some(pass) => format!(" of the pass `{}`", pass.word()),
                None => String::new(),
            };
            return Err(Problem::Invalid(format!(
                "subject {} (`{}`) has a second observation in block {block}{of_pass}; a block holds one of every subject",
                observation.subject, self.samples.subjects[observation.subject].name
            )));
        }
        self.samples.push(observation.clone());
        // An observation after a stop means that the run was resumed.
        self.samples.stop = None;
        Ok(())
    }
}

/// The blocks in which one subject was measured in one pass. Blocks are nearly always in order, so
/// a single bound usually represents them all.
#[derive(Default)]
struct SeenBlocks {
    /// Every block below this one was seen.
    below: u32,
    /// The blocks above `below` that were seen.
    beyond: BTreeSet<u32>,
}

impl SeenBlocks {
    /// Returns false if the block was seen before.
    fn insert(&mut self, block: u32) -> bool {
        if block != self.below {
            return block > self.below && self.beyond.insert(block);
        }
        self.below += 1;
        while self.beyond.remove(&self.below) {
            self.below += 1;
        }
        true
    }
}

/// Returns true if a line is truncated JSON. This includes a number in a skipped member that breaks
/// off at its point or in its exponent, for which the parser reports a syntax error rather than an
/// early end.
fn breaks_off(error: &serde_json::Error, text: &str) -> bool {
    let is_in_number = error.is_syntax() && text.ends_with(['.', 'e', 'E', '+', '-']);
    error.is_eof() || (is_in_number && error.column() >= text.len())
}

fn truncated(place: &FilePosition, line: TextLine<'_>) -> Finding {
    let lost = quoted_start(line.text);
    let message =
        format!("{place}: the last record breaks off and was left out; it began `{lost}`");
    truncated_file(message)
        .with("complete_bytes", line.start as f64)
        .with("lost_bytes", line.bytes as f64)
}

/// Returns the column of an error in a line, and a description of the error.
fn describe(error: &serde_json::Error, text: &str) -> (Option<u64>, String) {
    let column = error.column();
    let said = error.to_string();
    let said = said.rsplit_once(" at line ").map_or(said.as_str(), |(said, _)| said);
    let rest = text.as_bytes().get(column.saturating_sub(1)..).unwrap_or_default();
    let not_finite = ["NaN", "nan", "Infinity", "inf"];
    let problem = if not_finite.iter().any(|word| rest.starts_with(word.as_bytes())) {
        "not a finite number; a value that is missing is left out of `values`".to_owned()
    } else if said.starts_with("number out of range") {
        "the number is too large for a double".to_owned()
    } else if said.starts_with("recursion limit") {
        "nested more than 100 deep; no record of this format is".to_owned()
    } else if error.is_data() {
        said.to_owned()
    } else if error.is_eof() {
        "the record breaks off before the end of its line; expected one JSON object on one line"
            .to_owned()
    } else {
        format!("not JSON ({said}); expected one record, a JSON object, on one line")
    };
    (Some(column as u64).filter(|&column| column > 0), problem)
}
