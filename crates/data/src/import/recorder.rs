//! The builder that importers of benchmark tools fill with named benchmarks and their metrics,
//! values, levels and summaries.
//!
//! It finds benchmarks and metrics quickly by name, because a file may contain a hundred thousand
//! of them, and rejects data that would take unlimited memory. It is independent of all formats.
//!
//! Metrics have the same names for all tools, so that their files can be compared: `wall` is the
//! time of one iteration (or one run) in seconds, `cpu` its CPU time, `user` and `system` the parts
//! of that, `max_rss` the peak memory, and `rate` the iterations per second. All other metrics keep
//! the tool's name.

use super::troubles::Troubles;
use super::{Context, ImportError, Part, json};
use crate::Finding;
use crate::assay_file::MAX_METRICS;
use crate::finding::shared::benchmark_errors;
use crate::number::Marks;
use crate::read_error::{FilePosition, ReadError, quoted_start};
use crate::samples::{
    ITERATIONS, Metric, Observation, Outcome, ParameterValue, Row, Samples, Side, Subject, Summary,
};
use crate::unit::Unit;
use serde_json::Value;
use std::collections::HashMap;

/// Number of values, including missing ones, that is always allowed. Beyond that, a file may have
/// `ALLOWED_CELLS_PER_VALUE` times as many values as are present. Without a limit, a short file
/// with many metrics could fill any memory, because every observation stores a value for every
/// metric.
const ALLOWED_CELLS: usize = 20_000_000;
const ALLOWED_CELLS_PER_VALUE: usize = 50;

/// Maximum number of findings that are kept for one file. Further ones are only counted.
const MAX_FINDINGS: usize = 200;

/// Maximum length of a benchmark's full name that is composed from several parts of a file, in
/// bytes. Without a limit, each of many short lines could repeat a long part.
pub(super) const MAX_JOINED_NAME: usize = 4096;

impl Samples {
    /// Adds a row on the file's only side, and returns the index of its subject. The name must be
    /// new. This is not checked, which would be slow for many rows.
    pub(super) fn add_row_of_file(
        &mut self,
        context: &Context<'_>,
        row: Row,
        parameters: Vec<(String, ParameterValue)>,
    ) -> usize {
        if self.sides.is_empty() {
            let (name, source) = (context.label.to_owned(), Some(context.file.to_owned()));
            self.sides.push(Side { name, source, ..Side::default() });
        }
        let (at, name) = (self.rows.len(), row.name.clone());
        self.rows.push(row);
        self.subjects.push(Subject { row: at, parameters, name, ..Subject::default() });
        self.subjects.len() - 1
    }
}

/// Gathers the results of a benchmark tool.
pub(super) struct Recorder<'a> {
    context: &'a Context<'a>,
    samples: Samples,
    benchmarks: HashMap<String, usize>,
    metrics: HashMap<String, usize>,
    /// Number of present values.
    values: usize,
    /// Number of findings beyond the limit.
    more_findings: usize,
    /// Values in the file that are not finite numbers, which are reported together.
    not_finite: Troubles,
}

impl<'a> Recorder<'a> {
    /// Creates a recorder for a file written by `tool`, such as `hyperfine 1.20`.
    pub(super) fn new(context: &'a Context<'a>, tool: &str) -> Self {
        let mut recorder = Self::without_tool(context);
        recorder.tool(tool);
        recorder
    }

    /// Returns the name of the tool.
    pub(super) fn tool_named(&self) -> Option<&str> {
        self.samples.tool.as_deref()
    }

    /// Sets the name of the tool, including its version if known.
    pub(super) fn tool(&mut self, tool: &str) {
        self.samples.tool = Some(tool.to_owned());
        self.samples.environment.set("recorded_by", tool);
    }

    /// Makes a recorder for a file that no known tool wrote.
    pub(super) fn without_tool(context: &'a Context<'a>) -> Self {
        let samples = Samples::bounded(Vec::new());
        let (benchmarks, metrics) = (HashMap::new(), HashMap::new());
        let not_finite = Troubles::default();
        Self { context, samples, benchmarks, metrics, values: 0, more_findings: 0, not_finite }
    }

    /// Returns the meaning of points and commas in the file's numbers.
    pub(super) fn marks(&self) -> &'a Marks {
        self.context.marks
    }

    /// Sets the start of the run, in RFC 3339 format if that is what the tool writes.
    pub(super) fn started(&mut self, time: &str) {
        self.samples.started = Some(time.to_owned());
    }

    /// Records a fact about the machine or the tool's settings.
    pub(super) fn fact(&mut self, name: &str, value: impl Into<Value>) {
        self.samples.environment.set(name, value);
    }

    /// Returns the index of the benchmark with this full name, which includes its parameters. A new
    /// benchmark gets `label` as its base name, and the parameters.
    pub(super) fn benchmark(
        &mut self,
        name: &str,
        label: Option<&str>,
        parameters: &[(String, String)],
    ) -> usize {
        if let Some(&index) = self.benchmarks.get(name) {
            return index;
        }
        let label = label.map(str::to_owned);
        let row = Row { name: name.to_owned(), label, ..Row::default() };
        let value =
            |(name, value): &(String, String)| (name.clone(), ParameterValue::from(value.as_str()));
        let parameters = parameters.iter().map(value).collect();
        let index = self.samples.add_row_of_file(self.context, row, parameters);
        self.benchmarks.insert(name.to_owned(), index);
        index
    }

    /// Returns the benchmark with this full name if it exists.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.benchmarks.get(name).copied()
    }

    /// Returns the row of a benchmark and its parameters, so that they can be completed later.
    pub(super) fn keys_mut(
        &mut self,
        benchmark: usize,
    ) -> (&mut Row, &mut Vec<(String, ParameterValue)>) {
        let subject = &mut self.samples.subjects[benchmark];
        (&mut self.samples.rows[subject.row], &mut subject.parameters)
    }

    /// Returns the subject of a benchmark, so that it can be completed later.
    pub(super) fn subject_mut(&mut self, benchmark: usize) -> &mut Subject {
        &mut self.samples.subjects[benchmark]
    }

    /// Returns the index of the metric with this name, which is added if it is new.
    ///
    /// # Errors
    /// Returns an error if there are too many metrics, or if the metric had a different unit
    /// before.
    pub(super) fn metric(&mut self, metric: &Metric) -> Result<usize, String> {
        if let Some(&index) = self.metrics.get(&metric.name) {
            let known = &self.samples.metrics[index].unit;
            if *known != metric.unit {
                return Err(format!(
                    "`{}` is in {} here but in {} before; a metric must have one unit",
                    metric.name,
                    metric.unit.symbol(),
                    known.symbol()
                ));
            }
            return Ok(index);
        }
        if self.metrics.len() >= MAX_METRICS {
            return Err(format!("more than {MAX_METRICS} metrics in one file"));
        }
        let index = self.samples.add_metric(metric.clone());
        self.metrics.insert(metric.name.clone(), index);
        Ok(index)
    }

    /// Returns true if there is a metric of this name.
    pub(super) fn has_metric(&self, name: &str) -> bool {
        self.metrics.contains_key(name)
    }

    /// Returns a metric, so that it can be corrected later.
    pub(super) fn metric_mut(&mut self, metric: usize) -> &mut Metric {
        &mut self.samples.metrics[metric]
    }

    /// Appends one observation of a benchmark: its indices in the levels (empty if the tool has
    /// none), its outcome, and pairs of a metric's index and its value. Values that are not finite
    /// are stored as missing and reported to the user.
    ///
    /// # Errors
    /// Returns an error if a time is negative, or if the observations would take too much memory.
    pub(super) fn observe(
        &mut self,
        benchmark: usize,
        level: &[u32],
        outcome: Outcome,
        values: &[(usize, f64)],
    ) -> Result<(), String> {
        let metrics = self.samples.metrics.len();
        self.values += values.len();
        let allowed = self.values.saturating_mul(ALLOWED_CELLS_PER_VALUE).max(ALLOWED_CELLS);
        if (self.samples.len() + 1).saturating_mul(metrics) > allowed {
            return Err(format!(
                "{} observations of {metrics} metrics, nearly all of them missing, are too many to keep in memory; split the file",
                self.samples.len() + 1
            ));
        }
        let mut row = vec![f64::NAN; metrics];
        for &(metric, value) in values {
            row[metric] = self.checked(benchmark, metric, value, self.samples.len())?;
        }
        let level = level.to_vec();
        self.samples.push(Observation {
            subject: benchmark,
            level,
            outcome,
            values: row,
            ..Observation::default()
        });
        Ok(())
    }

    /// Appends observations of a benchmark as whole columns of the same length. If they are the
    /// first ones, the columns are moved instead of copied, because a file may contain ten million
    /// runs.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`observe`](Self::observe).
    pub(super) fn observe_all(
        &mut self,
        benchmark: usize,
        mut columns: Vec<(usize, Vec<f64>)>,
        outcome: impl Fn(usize) -> Outcome,
    ) -> Result<(), String> {
        let runs = columns.iter().map(|(_, values)| values.len()).min().unwrap_or(0);
        if !self.samples.is_empty() {
            return (0..runs).try_for_each(|run| {
                let values: Vec<_> = columns.iter().map(|(m, values)| (*m, values[run])).collect();
                self.observe(benchmark, &[], outcome(run), &values)
            });
        }
        for (metric, values) in &mut columns {
            for (run, value) in values.iter_mut().enumerate() {
                *value = self.checked(benchmark, *metric, *value, run)?;
            }
        }
        self.values += runs * columns.len();
        self.samples.take_columns(benchmark, runs, columns, outcome);
        Ok(())
    }

    /// Returns a value as it is stored. A value that is not finite becomes NaN, and is reported to
    /// the user.
    fn checked(
        &mut self,
        benchmark: usize,
        metric: usize,
        value: f64,
        observation: usize,
    ) -> Result<f64, String> {
        let known = &self.samples.metrics[metric];
        if !value.is_finite() {
            let benchmark = quoted_start(&self.samples.subjects[benchmark].name);
            let name = quoted_start(&known.name);
            let place = match json::line_of(value) {
                Some(line) => self.place(line),
                None => format!("{}: observation {}", self.context.file, observation + 1),
            };
            self.not_finite(format!("`{name}` of `{benchmark}` ({place})"));
            return Ok(f64::NAN);
        }
        if value < 0.0 && known.unit == Unit::Second {
            let name = quoted_start(&known.name);
            return Err(format!("a time of {value} s as `{name}`; a time cannot be negative"));
        }
        Ok(value)
    }

    /// Returns the position of a line for messages.
    pub(super) fn place(&self, line: u64) -> String {
        format!("{}:{line}", self.context.file)
    }

    /// Records a value that is not a finite number. `what` is the value with its position, as shown
    /// to the user.
    pub(super) fn not_finite(&mut self, what: String) {
        self.not_finite.add(what);
    }

    /// Divides a metric by another one in every observation, and calls the quotient `name`. The
    /// quotient replaces the metric, or is added to it if `is_secondary` is true.
    ///
    /// # Errors
    /// Returns an error if there are too many metrics.
    pub(super) fn divide(
        &mut self,
        metric: usize,
        by: usize,
        name: &str,
        is_secondary: bool,
    ) -> Result<(), String> {
        let mut divided = metric;
        if is_secondary {
            let own = Metric { name: name.to_owned(), ..self.samples.metrics[metric].clone() };
            divided = self.metric(&own)?;
        } else {
            self.metrics.remove(&self.samples.metrics[metric].name);
            self.metrics.insert(name.to_owned(), metric);
            name.clone_into(&mut self.samples.metrics[metric].name);
        }
        self.samples.divide(divided, metric, by);
        Ok(())
    }

    /// Adds the summary of a series for which the tool kept no samples. Numbers that are not finite
    /// are missing.
    pub(super) fn summary(&mut self, mut summary: Summary) {
        for number in [
            &mut summary.mean,
            &mut summary.sd,
            &mut summary.standard_error,
            &mut summary.median,
            &mut summary.min,
            &mut summary.max,
        ] {
            *number = number.filter(|value| value.is_finite());
        }
        self.samples.summaries.push(summary);
    }

    /// Adds a finding about the file. The number of problems with single benchmarks is unlimited,
    /// so only the first findings are kept.
    pub(super) fn finding(&mut self, finding: Finding) {
        if self.samples.findings.len() < MAX_FINDINGS {
            self.samples.findings.push(finding);
        } else {
            self.more_findings += 1;
        }
    }

    /// Returns an error about a line of the file.
    pub(super) fn at(&self, line: u64, problem: impl Into<String>) -> ImportError {
        let place = FilePosition { file: self.context.file.to_owned(), line, column: None };
        ReadError::Line { place, problem: problem.into() }.into()
    }

    /// Returns an error about the file as a whole, for a problem whose line is unknown.
    pub(super) fn whole_file(&self, problem: impl Into<String>) -> ImportError {
        ImportError::Content { file: self.context.file.to_owned(), problem: problem.into() }
    }

    /// Returns the samples. `holds` describes the contents of a file that has none.
    ///
    /// # Errors
    /// Returns an error if there is neither a value nor a summary.
    pub(super) fn finish(mut self, holds: &'static str) -> Result<Part, ImportError> {
        if self.more_findings > 0 {
            let more = self.more_findings;
            let message = format!("{more} more benchmarks have problems");
            self.samples.findings.push(benchmark_errors(&message, more));
        }
        if let Some(seen) = self.not_finite.summary() {
            let counted = self.metrics.get(ITERATIONS);
            let of_interest =
                |(metric, value): (usize, &f64)| counted != Some(&metric) && value.is_finite();
            let has_value = |o: Observation| o.values.iter().enumerate().any(of_interest);
            let message = format!(
                "some values are not finite numbers and are left out, often after a division by zero: {seen}"
            );
            if self.samples.summaries.is_empty() && !self.samples.observations().any(has_value) {
                return Err(self.whole_file(message));
            }
            self.finding(benchmark_errors(&message, self.not_finite.count()));
        }
        if self.samples.is_empty() && self.samples.summaries.is_empty() {
            return Err(ImportError::NoNumbers { file: self.context.file.to_owned(), holds });
        }
        Ok(Part { samples: self.samples, is_bare: false, is_ours: false })
    }
}
