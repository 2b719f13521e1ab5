//! Writes sample files: every record is one whole line, passed on in one `write_all` as soon as it
//! is known.
//!
//! The writer runs alongside the measurement, so it must be cheap: names are escaped once, and a
//! line is formatted into a reused buffer. It does not buffer across records (a killed run must
//! lose nothing but the observation being written) and does not check the meaning of the numbers.

use super::VERSION;
use super::number::{push_json, push_number};
use crate::finding::shared::TRUNCATED_FILE;
use crate::samples::{Buckets, Counts};
use crate::{
    Environment, Finding, Inner, Metric, Observation, Outcome, Plan, Row, Samples, Side,
    StopReason, Subject, Summary,
};
use serde_json::json;
use std::io::{self, Write};

/// Information about the run for the first line of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Header {
    /// The writing tool and its version, as in `assay 0.1.0`.
    pub tool: Option<String>,
    /// Start of the run, in RFC 3339 format.
    pub time: Option<String>,
    /// The command line of the measuring program.
    pub argv: Vec<String>,
    /// The plan made before the first block. Its seed is also written as a member of the header
    /// itself.
    pub plan: Option<Plan>,
}

impl Header {
    /// Returns the header that these samples were read with, or would be written with.
    pub fn of(samples: &Samples) -> Self {
        Self {
            tool: samples.tool.clone(),
            time: samples.started.clone(),
            argv: samples.argv.clone(),
            plan: samples.plan.clone(),
        }
    }
}

/// Appends records to a sample file.
pub struct Writer<W> {
    sink: W,
    line: Vec<u8>,
    subjects: usize,
    /// The name of every metric as a JSON key, including the colon.
    keys: Vec<Vec<u8>>,
}

impl<W: Write> Writer<W> {
    /// Starts a file with the header, the environment, and the sides, rows, subjects and metrics of
    /// the samples. An environment fact called `kind` is not written, because that member gives the
    /// kind of the record.
    ///
    /// # Errors
    /// Returns an error if writing to the sink fails.
    pub fn start(sink: W, header: &Header, samples: &Samples) -> io::Result<Self> {
        Self::start_with(sink, header, samples, &samples.sides)
    }

    fn start_with(sink: W, header: &Header, samples: &Samples, sides: &[Side]) -> io::Result<Self> {
        let mut writer =
            Self { sink, line: Vec::with_capacity(512), subjects: 0, keys: Vec::new() };
        // The version comes first, so that a file is recognized by its first bytes.
        writer.line.extend_from_slice(b"{\"assay\":");
        push_json(&mut writer.line, &VERSION);
        writer.line.extend_from_slice(b",\"kind\":\"run\"");
        writer.optional("tool", header.tool.as_ref());
        writer.optional("time", header.time.as_ref());
        writer.optional("seed", header.plan.as_ref().map(|plan| plan.seed));
        writer.optional("argv", Some(&header.argv).filter(|argv| !argv.is_empty()));
        writer.optional("plan", header.plan.as_ref());
        writer.end()?;
        writer.environment(&samples.environment)?;
        for side in sides {
            writer.record("side", side)?;
        }
        for row in &samples.rows {
            writer.row(row)?;
        }
        for subject in &samples.subjects {
            writer.subject(subject)?;
        }
        for metric in &samples.metrics {
            writer.metric(metric)?;
        }
        Ok(writer)
    }

    /// Continues a file that was read as `samples`, without writing anything yet. The sink must be
    /// at the beginning of a line.
    pub(super) fn resume(sink: W, samples: &Samples) -> Self {
        let keys = samples.metrics.iter().map(|metric| key(&metric.name)).collect();
        Self { sink, line: Vec::with_capacity(512), subjects: samples.subjects.len(), keys }
    }

    /// Adds facts about the machine, such as those that are known only at the end. Writes nothing
    /// if there are no facts.
    ///
    /// # Errors
    /// Returns an error if writing to the sink fails.
    pub fn environment(&mut self, environment: &Environment) -> io::Result<()> {
        if environment.is_empty() {
            return Ok(());
        }
        self.begin("environment");
        for (name, value) in environment.facts.iter().filter(|(name, _)| *name != "kind") {
            self.optional(name, Some(value));
        }
        self.end()
    }

    /// Declares another row. Its index is the number of rows declared before it.
    ///
    /// # Errors
    /// Returns an error if writing to the sink fails.
    pub fn row(&mut self, row: &Row) -> io::Result<()> {
        self.record("row", row)
    }

    /// Declares another subject. Its side and row must already be declared, and its index is the
    /// number of subjects declared before it.
    ///
    /// # Errors
    /// Returns an error if writing to the sink fails.
    pub fn subject(&mut self, subject: &Subject) -> io::Result<()> {
        self.subjects += 1;
        self.record("subject", subject)
    }

    /// Declares another metric, for the observations that follow. Its name must be new.
    ///
    /// # Errors
    /// Returns an error if writing to the sink fails.
    pub fn metric(&mut self, metric: &Metric) -> io::Result<()> {
        self.keys.push(key(&metric.name));
        self.record("metric", metric)
    }

    /// Appends an observation. Values that are not finite count as missing and are left out.
    ///
    /// # Errors
    /// Returns an `InvalidInput` error if the subject was not declared or there are more values
    /// than metrics, and the error of the sink if writing fails.
    pub fn observe(&mut self, observation: &Observation) -> io::Result<()> {
        if observation.subject >= self.subjects || observation.values.len() > self.keys.len() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!(
                    "an observation of subject {} with {} values, where {} subjects and {} metrics are declared",
                    observation.subject,
                    observation.values.len(),
                    self.subjects,
                    self.keys.len()
                ),
            ));
        }
        self.begin("obs");
        self.optional("subject", Some(observation.subject));
        self.optional("pass", observation.pass);
        self.optional("block", observation.block);
        self.optional("pos", observation.position);
        self.optional("level", Some(&observation.level).filter(|level| !level.is_empty()));
        if let Some(time) = observation.time.filter(|time| time.is_finite()) {
            self.line.extend_from_slice(b",\"t\":");
            push_number(&mut self.line, time);
        }
        self.optional("outcome", Some(observation.outcome).filter(|&end| end != Outcome::Ok));
        self.line.extend_from_slice(b",\"values\":{");
        let mut is_first = true;
        for (key, &value) in self.keys.iter().zip(&observation.values) {
            if value.is_finite() {
                if !is_first {
                    self.line.push(b',');
                }
                is_first = false;
                self.line.extend_from_slice(key);
                push_number(&mut self.line, value);
            }
        }
        self.line.push(b'}');
        self.end()
    }

    /// Appends the values of one metric that a program reported within one run. Writes nothing if
    /// there are no values.
    ///
    /// # Errors
    /// Returns an `InvalidInput` error if the subject was not declared or a value is not finite,
    /// and the error of the sink if writing fails.
    pub fn inner(&mut self, inner: &Inner) -> io::Result<()> {
        if inner.values.is_empty() {
            return Ok(());
        }
        if inner.subject >= self.subjects || inner.values.iter().any(|v| !v.is_finite()) {
            let problem = "values of a subject that is not declared, or that are not finite";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
        }
        self.record("values", inner)
    }

    /// Appends the histogram of a slice.
    ///
    /// # Errors
    /// Returns an `InvalidInput` error if the subject was not declared, and the error of the sink
    /// if writing fails.
    pub fn histogram(&mut self, buckets: &Buckets) -> io::Result<()> {
        self.is_declared(buckets.subject)?;
        self.record("hist", buckets)
    }

    /// Appends the counts of a slice.
    ///
    /// # Errors
    /// Returns an `InvalidInput` error if the subject was not declared, and the error of the sink
    /// if writing fails.
    pub fn counts(&mut self, counts: &Counts) -> io::Result<()> {
        self.is_declared(counts.subject)?;
        self.record("counts", counts)
    }

    fn is_declared(&self, subject: usize) -> io::Result<()> {
        if subject < self.subjects {
            return Ok(());
        }
        let problem = "a record of a subject that is not declared";
        Err(io::Error::new(io::ErrorKind::InvalidInput, problem))
    }

    /// Appends the summary of a series for which a tool kept no samples.
    ///
    /// # Errors
    /// Returns an `InvalidInput` error if the subject was not declared or a number is not finite,
    /// and the error of the sink if writing fails.
    pub fn summary(&mut self, summary: &Summary) -> io::Result<()> {
        if summary.subject >= self.subjects || summary.numbers().any(|v| !v.is_finite()) {
            let problem =
                "a summary of a subject that is not declared, or of numbers that are not finite";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
        }
        self.record("summary", summary)
    }

    /// Appends a finding made while measuring. Evidence that is not finite is written as `null`. A
    /// [`TRUNCATED_FILE`] is not written, because it concerns the file that was read and does not
    /// apply to the one being written.
    ///
    /// # Errors
    /// Returns an error if writing to the sink fails.
    pub fn finding(&mut self, finding: &Finding) -> io::Result<()> {
        if finding.is(TRUNCATED_FILE) {
            return Ok(());
        }
        self.record("finding", finding)
    }

    /// Appends the reason why measuring stopped, and the number of blocks measured.
    ///
    /// # Errors
    /// Returns an error if writing to the sink fails.
    pub fn stop(&mut self, reason: StopReason, blocks: u32) -> io::Result<()> {
        self.record("stop", &json!({ "reason": reason, "blocks": blocks }))
    }

    /// Returns the sink.
    pub fn into_inner(self) -> W {
        self.sink
    }

    fn begin(&mut self, kind: &str) {
        self.line.clear();
        self.line.extend_from_slice(b"{\"kind\":\"");
        self.line.extend_from_slice(kind.as_bytes());
        self.line.push(b'"');
    }

    /// Adds a member to the current record if `value` is not `None`.
    fn optional(&mut self, name: &str, value: Option<impl serde::Serialize>) {
        if let Some(value) = value {
            self.line.push(b',');
            push_json(&mut self.line, name);
            self.line.push(b':');
            push_json(&mut self.line, &value);
        }
    }

    /// Writes a record of the given kind with the members of `value`.
    fn record(&mut self, kind: &str, value: &impl serde::Serialize) -> io::Result<()> {
        self.begin(kind);
        self.line.push(b',');
        let brace = self.line.len();
        push_json(&mut self.line, value);
        self.line.remove(brace);
        self.line.pop();
        self.end()
    }

    fn end(&mut self) -> io::Result<()> {
        self.line.extend_from_slice(b"}\n");
        self.sink.write_all(&self.line)
    }
}

/// Returns a name as a JSON key with its colon.
fn key(name: &str) -> Vec<u8> {
    let mut key = Vec::new();
    push_json(&mut key, name);
    key.push(b':');
    key
}

/// Writes samples as a whole file, for `convert` and for merging. If the samples have a stop
/// reason, it is recorded with the number of blocks in them.
///
/// # Errors
/// Returns an error if writing to the sink fails.
pub fn write(samples: &Samples, sink: impl Write) -> io::Result<()> {
    write_with(samples, &samples.sides, sink)
}

/// Like [`write()`], but leaves out the names of source files, so that the same numbers from
/// another directory give the same text.
///
/// # Errors
/// Returns an error if writing to the sink fails.
pub fn write_without_sources(samples: &Samples, sink: impl Write) -> io::Result<()> {
    let sides = samples.sides.iter().map(|side| Side { source: None, ..side.clone() });
    write_with(samples, &sides.collect::<Vec<_>>(), sink)
}

fn write_with(samples: &Samples, sides: &[Side], sink: impl Write) -> io::Result<()> {
    let mut writer = Writer::start_with(sink, &Header::of(samples), samples, sides)?;
    for observation in samples.observations() {
        writer.observe(&observation)?;
    }
    for inner in &samples.inner {
        writer.inner(inner)?;
    }
    for buckets in &samples.histograms {
        writer.histogram(buckets)?;
    }
    for counts in &samples.counts {
        writer.counts(counts)?;
    }
    for summary in &samples.summaries {
        writer.summary(summary)?;
    }
    for finding in &samples.findings {
        writer.finding(finding)?;
    }
    samples.stop.map_or(Ok(()), |reason| writer.stop(reason, samples.next_block(None)))
}
