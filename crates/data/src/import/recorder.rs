//! What the importers of benchmark tools fill: named benchmarks with their metrics, values, levels and summaries.
//!
//! It finds benchmarks and metrics by name quickly, since a file may hold a hundred thousand of them, and refuses what would take
//! memory without bound. It knows no format.
//!
//! Names of metrics are the same for all tools, so that their files go together: `wall` is the time of one iteration (or one run) in
//! seconds, `cpu` its processor time, `user` and `system` its parts, `max_rss` peak memory, `rate` iterations per second. All else keeps the name
//! that the tool gave it.

use super::troubles::Troubles;
use super::{Context, ImportError, Part, json};
use crate::Finding;
use crate::assay_file::MAX_METRICS;
use crate::finding::shared::benchmark_errors;
use crate::number::Marks;
use crate::read_error::{Place, ReadError, quoted_start};
use crate::samples::{
    ITERATIONS, Metric, Observation, Outcome, ParameterValue, Row, Samples, Side, Subject, Summary,
};
use crate::unit::Unit;
use serde_json::Value;
use std::collections::HashMap;

/// Values, missing ones included, that a file may always come to, and how many times the values that are there it may come to beyond
/// that: every observation has a place for every metric, so that a short file of many metrics could fill any memory.
const ALLOWED_CELLS: usize = 20_000_000;
const ALLOWED_CELLS_PER_VALUE: usize = 50;

/// Most findings of one file; of the others only their number is reported.
const MAX_FINDINGS: usize = 200;

/// Longest full name of a benchmark that is put together from several parts of a file, in bytes: each of many short lines could
/// repeat a long part.
pub(super) const MAX_JOINED_NAME: usize = 4096;

impl Samples {
    /// Adds a row, whose name must be new, on the one side that is the file, and returns its subject. Nothing looks for a rival of the
    /// name: that would make many rows slow.
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

/// Gathers what a benchmark tool recorded.
pub(super) struct Recorder<'a> {
    context: &'a Context<'a>,
    samples: Samples,
    benchmarks: HashMap<String, usize>,
    metrics: HashMap<String, usize>,
    /// Values that are there, and findings that are not kept.
    values: usize,
    more_findings: usize,
    /// Values that a file has but that are not finite numbers.
    not_finite: Troubles,
}

impl<'a> Recorder<'a> {
    /// Of a file that `tool` wrote, as in `hyperfine 1.20`.
    pub(super) fn new(context: &'a Context<'a>, tool: &str) -> Self {
        let mut recorder = Self::without_tool(context);
        recorder.tool(tool);
        recorder
    }

    /// Says with which version the tool wrote the file, once that is known.
    pub(super) fn tool(&mut self, tool: &str) {
        self.samples.tool = Some(tool.to_owned());
        self.samples.environment.set("recorded_by", tool);
    }

    /// Of a file that no known tool wrote.
    pub(super) fn without_tool(context: &'a Context<'a>) -> Self {
        let samples = Samples::bounded(Vec::new());
        let (benchmarks, metrics) = (HashMap::new(), HashMap::new());
        let not_finite = Troubles::default();
        Self { context, samples, benchmarks, metrics, values: 0, more_findings: 0, not_finite }
    }

    /// Meaning of points and commas in the file's numbers.
    pub(super) fn marks(&self) -> &'a Marks {
        self.context.marks
    }

    /// When the run began, RFC 3339 where the tool says it so.
    pub(super) fn started(&mut self, time: &str) {
        self.samples.started = Some(time.to_owned());
    }

    /// Records a fact about the machine or the tool's settings.
    pub(super) fn fact(&mut self, name: &str, value: impl Into<Value>) {
        self.samples.environment.set(name, value);
    }

    /// The benchmark of this full name, its parameters included; one that is new gets the base name `label` and the parameters.
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

    /// The benchmark of this full name, if it was met.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.benchmarks.get(name).copied()
    }

    /// The row of a benchmark, and its parameters, to add what is known of them only later.
    pub(super) fn keys_mut(
        &mut self,
        benchmark: usize,
    ) -> (&mut Row, &mut Vec<(String, ParameterValue)>) {
        let subject = &mut self.samples.subjects[benchmark];
        (&mut self.samples.rows[subject.row], &mut subject.parameters)
    }

    /// The subject of a benchmark, to add what more is known of it.
    pub(super) fn subject_mut(&mut self, benchmark: usize) -> &mut Subject {
        &mut self.samples.subjects[benchmark]
    }

    /// The metric of this name, declared if it is new.
    ///
    /// # Errors
    /// When there are too many, or it was in another unit before.
    pub(super) fn metric(&mut self, metric: &Metric) -> Result<usize, String> {
        if let Some(&index) = self.metrics.get(&metric.name) {
            let known = &self.samples.metrics[index].unit;
            if *known != metric.unit {
                return Err(format!(
                    "`{}` is in {} here and in {} before; one metric has one unit",
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

    /// Whether there is a metric of this name.
    pub(super) fn has_metric(&self, name: &str) -> bool {
        self.metrics.contains_key(name)
    }

    /// A metric, to mend what is known of it only later.
    pub(super) fn metric_mut(&mut self, metric: usize) -> &mut Metric {
        &mut self.samples.metrics[metric]
    }

    /// Appends one observation of a benchmark: its place in the levels (none if the tool has none), how it ended, and the values that
    /// it has by metric. Those that are not finite numbers are missing, and the user is told so.
    ///
    /// # Errors
    /// When a time is negative, or all together would take too much memory.
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
                "{} observations of {metrics} metrics, nearly all of them missing, are more than is kept in memory; split the file",
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

    /// Appends observations of a benchmark by whole columns, which are of one length; the first are taken over without a copy: a file
    /// may hold ten million runs.
    ///
    /// # Errors
    /// As for [`observe`](Self::observe).
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

    /// A value as it is kept: NaN for one that is not finite, of which the user is told.
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
            return Err(format!("a time of {value} s as `{name}`; a time is not negative"));
        }
        Ok(value)
    }

    /// A line as the user is told of it.
    pub(super) fn place(&self, line: u64) -> String {
        format!("{}:{line}", self.context.file)
    }

    /// Notes a value that is not a finite number, as the user is told of it: with its place.
    pub(super) fn not_finite(&mut self, what: String) {
        self.not_finite.add(what);
    }

    /// Divides a metric by another one, observation by observation, and calls the quotient `name`. It takes the place of the
    /// metric, or is a secondary one.
    ///
    /// # Errors
    /// When there are too many metrics.
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

    /// Notes what survives of a series of which the tool kept no samples. Numbers that are not finite are missing.
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

    /// Notes what reading found: something that the user should know of the file. There is no end to what may be wrong with single
    /// benchmarks, so that of many findings the first are kept.
    pub(super) fn finding(&mut self, finding: Finding) {
        if self.samples.findings.len() < MAX_FINDINGS {
            self.samples.findings.push(finding);
        } else {
            self.more_findings += 1;
        }
    }

    /// An error of a line of the file.
    pub(super) fn at(&self, line: u64, problem: impl Into<String>) -> ImportError {
        let place = Place { file: self.context.file.to_owned(), line, column: None };
        ReadError::Line { place, problem: problem.into() }.into()
    }

    /// An error of the file as a whole, where no line is known.
    pub(super) fn whole_file(&self, problem: impl Into<String>) -> ImportError {
        ImportError::Content { file: self.context.file.to_owned(), problem: problem.into() }
    }

    /// The samples; `holds` says what the file holds where there are none.
    ///
    /// # Errors
    /// When there is neither a value nor a summary.
    pub(super) fn finish(mut self, holds: &'static str) -> Result<Part, ImportError> {
        if self.more_findings > 0 {
            let more = self.more_findings;
            let message = format!("{more} more benchmarks have something wrong with them");
            self.samples.findings.push(benchmark_errors(&message, more));
        }
        if let Some(seen) = self.not_finite.told() {
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
