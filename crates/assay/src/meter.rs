//! The metrics of every run of a command, and how their values are computed from the results.
//!
//! Wall and processor time, memory and the kernel's other accounting come from the launcher. All
//! other metrics are optional: counters, and numbers that the program prints (`--metric`) or
//! reports through the sample protocol (`--samples`). Several concurrent runs (`--jobs`) yield one
//! set of values. This module runs nothing and decides nothing.

use crate::counted::Counted;
use assay_data::assay_file::MAX_METRICS;
use assay_data::code;
use assay_data::finding::shared::multiplexed;
use assay_data::protocol::{self, Report};
use assay_data::reading::{MetricSpec, Reading, Source, Take, take};
use assay_data::samples::{OF_EVERY_RUN, STEAL};
use assay_data::{Action, Better, Finding, Metric, Unit};
use assay_measure::counters::Count;
use assay_measure::{KeptOutput, RunResult};
use std::collections::{BTreeMap, BTreeSet};

/// Processor time divided by wall time, which is the average number of busy processors.
pub(crate) const CPU_PER_WALL: &str = "cpu_per_wall";
/// Number of runs per second if several run concurrently.
const THROUGHPUT: &str = "throughput";
/// Median duration of a command's concurrent runs.
const JOB_WALL: &str = "job_wall";
/// Minimum duration of a run for which steal time is read, in seconds. Steal time is accounted in
/// ticks of 10 ms, which are too coarse for shorter runs.
pub(crate) const STEAL_FROM_SECONDS: f64 = 0.01;

/// Returns the metrics that every run has.
pub(crate) fn of_every_run() -> Vec<Metric> {
    OF_EVERY_RUN
        .iter()
        .map(|&name| {
            let unit = match name {
                "wall" | "cpu" | "user" | "system" => Unit::Second,
                "max_rss" => Unit::Byte,
                _ => Unit::One,
            };
            Metric::lower(name, unit)
        })
        .collect()
}

/// Returns the values of the metrics of every run, in the order of [`OF_EVERY_RUN`].
pub(crate) fn accounted(results: &[RunResult]) -> [f64; 11] {
    let sum = |of: fn(&RunResult) -> f64| results.iter().map(of).sum::<f64>();
    // The kernel counts whole microseconds. The sum is rounded to microseconds, so that equal times
    // become equal numbers.
    let microseconds = |seconds: f64| (seconds * 1e6).round() / 1e6;
    let (user, system) = (sum(|r| r.user_seconds), sum(|r| r.system_seconds));
    [
        wall(results),
        microseconds(user + system),
        microseconds(user),
        microseconds(system),
        results.iter().map(|r| r.max_rss_bytes).max().unwrap_or(0) as f64,
        sum(|r| r.minor_faults as f64),
        sum(|r| r.major_faults as f64),
        sum(|r| r.voluntary_switches as f64),
        sum(|r| r.involuntary_switches as f64),
        sum(|r| r.block_in as f64),
        sum(|r| r.block_out as f64),
    ]
}

/// Returns the time from the start of the first run to the end of the last one, in seconds.
fn wall(results: &[RunResult]) -> f64 {
    if let [alone] = results {
        return alone.wall_seconds;
    }
    let first = results.iter().map(|r| r.started_ns).min().unwrap_or(0);
    let last = results.iter().map(|r| r.ended_ns).max().unwrap_or(0);
    last.saturating_sub(first) as f64 / 1e9
}

/// Metrics requested in addition to those that every run has.
#[derive(Clone, Debug, Default)]
pub(crate) struct Requested {
    /// Numbers to read from the program's output, or by name from the sample protocol.
    pub specs: Vec<MetricSpec>,
    /// True if all numbers that the program reports through the sample protocol are recorded.
    pub samples: bool,
    /// Events to count, with their units.
    pub counters: Vec<Metric>,
    /// True if any command has several concurrent runs.
    pub jobs: bool,
    /// Metrics named as primary or secondary.
    pub named: Vec<String>,
    /// True if the machine reports stolen time.
    pub steal: bool,
    /// Counts to take in separate runs after the measurement.
    pub counted: Vec<Counted>,
}

/// The result of one turn.
#[derive(Debug, Default)]
pub(crate) struct Measured {
    /// One value for each metric known at the time; NaN if the value is missing.
    pub values: Vec<f64>,
    /// Names and individual values of metrics with several values per turn.
    pub inner: Vec<(String, Vec<f64>)>,
    /// Metrics that could not be read.
    pub missing: Vec<Missing>,
}

/// A metric that a run did not provide.
#[derive(Debug)]
pub(crate) struct Missing {
    pub metric: String,
    pub why: String,
    /// True if the user requested the metric by name.
    pub must: bool,
}

/// Computes the values of the metrics from the results of runs.
#[derive(Debug)]
pub(crate) struct Meter {
    requested: Requested,
    /// All metrics, in the order of the values.
    metrics: Vec<Metric>,
    /// Names of the metrics that programs have reported through the sample protocol.
    welcome: Vec<String>,
    /// Number of invalid lines of the sample protocol, and a description of the first, by subject.
    bad_lines: BTreeMap<usize, (usize, String)>,
    /// Subjects whose runs were read, and subjects that reported anything through the sample
    /// protocol.
    heard: (BTreeSet<usize>, BTreeSet<usize>),
    /// Smallest fraction of the time for which any counter was active; `None` if all were always
    /// active.
    multiplexed: Option<f64>,
}

impl Meter {
    /// Creates a meter for the requested metrics.
    pub fn new(requested: Requested) -> Self {
        let mut metrics = of_every_run();
        let higher =
            |name: &str, unit| Metric { better: Better::Higher, ..Metric::lower(name, unit) };
        if requested.named.iter().any(|name| name == CPU_PER_WALL) {
            metrics.push(higher(CPU_PER_WALL, Unit::One));
        }
        if requested.jobs {
            metrics.push(higher(THROUGHPUT, Unit::PerSecond));
            metrics.push(Metric::lower(JOB_WALL, Unit::Second));
        }
        if requested.steal {
            metrics.push(Metric::lower(STEAL, Unit::Second));
        }
        metrics.extend(requested.counters.iter().cloned());
        let printed = requested.specs.iter().filter(|spec| !is_given(spec));
        metrics.extend(printed.map(|spec| spec.metric.clone()));
        Self {
            requested,
            metrics,
            welcome: Vec::new(),
            bad_lines: BTreeMap::new(),
            heard: (BTreeSet::new(), BTreeSet::new()),
            multiplexed: None,
        }
    }

    /// Adopts the metrics of a resumed run, so that the values keep their order.
    ///
    /// # Errors
    /// Returns a message if the metrics are not those that this meter measures.
    pub fn adopt(&mut self, recorded: &[Metric]) -> Result<(), String> {
        let told = |metrics: &[Metric]| {
            let told = metrics.iter().map(|m| format!("{} ({})", m.name, m.unit.symbol()));
            told.collect::<Vec<_>>().join(", ")
        };
        let may_come = |name: &str| {
            self.requested.samples
                || self.is_counted(name)
                || self.requested.specs.iter().any(|s| is_given(s) && s.metric.name == name)
        };
        let late = recorded.get(self.metrics.len()..).unwrap_or(&[]);
        if !recorded.starts_with(&self.metrics) || !late.iter().all(|m| may_come(&m.name)) {
            return Err(format!(
                "the file has other metrics ({}) than this run would have ({})",
                told(recorded),
                told(&self.metrics)
            ));
        }
        let given = late.iter().filter(|m| !self.is_counted(&m.name)).map(|m| m.name.clone());
        let given: Vec<String> = given.collect();
        self.welcome.extend(given);
        self.metrics.extend_from_slice(late);
        Ok(())
    }

    /// Adds a metric if none of that name is known.
    pub fn add(&mut self, metric: Metric) {
        if !self.metrics.iter().any(|known| known.name == metric.name) {
            self.metrics.push(metric);
        }
    }

    /// Returns the given values in the order of the metrics. The values of all other metrics are
    /// NaN.
    pub fn row<'a>(&self, known: impl Iterator<Item = (&'a str, f64)>) -> Vec<f64> {
        let mut values = vec![f64::NAN; self.metrics.len()];
        for (name, value) in known {
            if let Some(index) = self.metrics.iter().position(|metric| metric.name == name) {
                values[index] = value;
            }
        }
        values
    }

    /// Returns true if the metric is counted in separate runs after the measurement.
    fn is_counted(&self, name: &str) -> bool {
        self.requested.counted.iter().any(|counted| counted.names().contains(&name))
    }

    /// Returns all metrics known so far.
    pub fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    /// Returns true for names that a program may not use for its own numbers.
    pub fn is_own(name: &str) -> bool {
        OF_EVERY_RUN.contains(&name) || [CPU_PER_WALL, STEAL, THROUGHPUT, JOB_WALL].contains(&name)
    }

    /// Returns the values of one turn. Metrics that a program reports for the first time are added
    /// to the known ones.
    pub fn read(
        &mut self,
        subject: usize,
        results: &[RunResult],
        steal: Option<f64>,
        counts: &[Option<Count>],
    ) -> Measured {
        let mut measured =
            Measured { values: vec![f64::NAN; self.metrics.len()], ..Measured::default() };
        let accounts = accounted(results);
        measured.values[..accounts.len()].copy_from_slice(&accounts);
        let (wall, cpu) = (accounts[0], accounts[1]);
        let walls: Vec<f64> = results.iter().map(|r| r.wall_seconds).collect();
        self.set(&mut measured, CPU_PER_WALL, cpu / wall);
        self.set(&mut measured, THROUGHPUT, results.len() as f64 / wall);
        self.set(&mut measured, JOB_WALL, take(&walls, Take::Median).unwrap_or(f64::NAN));
        self.set(&mut measured, STEAL, steal.unwrap_or(f64::NAN));
        if results.len() > 1 {
            measured.inner.push((JOB_WALL.to_owned(), walls));
        }
        let events: Vec<String> = self.requested.counters.iter().map(|m| m.name.clone()).collect();
        for (name, count) in events.iter().zip(counts) {
            if let Some(count) = count {
                self.set(&mut measured, name, count.value);
                if count.share < 1.0 {
                    let least = self.multiplexed.unwrap_or(1.0);
                    self.multiplexed = Some(least.min(count.share));
                }
            }
        }
        self.printed(&mut measured, results);
        self.heard.0.insert(subject);
        if results.iter().any(|r| r.samples.is_some()) {
            self.given(&mut measured, subject, results);
        }
        measured
    }

    fn set(&self, measured: &mut Measured, name: &str, value: f64) {
        if let Some(index) = self.metrics.iter().position(|m| m.name == name) {
            measured.values[index] = value;
        }
    }

    /// Reads the numbers that the program printed, averaged over concurrent runs.
    fn printed(&self, measured: &mut Measured, results: &[RunResult]) {
        for spec in self.requested.specs.iter().filter(|spec| !is_given(spec)) {
            let mut values = Vec::new();
            let mut all = Vec::new();
            let mut problem = None;
            for result in results {
                match spec.read(bytes(&result.output), bytes(&result.errors)) {
                    Ok(found) => {
                        values.push(found.value);
                        all.extend(found.all);
                    }
                    Err(error) => problem = Some(error.to_string()),
                }
            }
            let metric = spec.metric.name.clone();
            match problem {
                Some(why) => measured.missing.push(Missing { metric, why, must: true }),
                None => {
                    self.set(measured, &metric, take(&values, Take::Mean).unwrap_or(f64::NAN));
                    if !all.is_empty() {
                        measured.inner.push((metric, all));
                    }
                }
            }
        }
    }

    /// Reads the numbers that the program reported through the sample protocol, averaged over
    /// concurrent runs.
    fn given(&mut self, measured: &mut Measured, subject: usize, results: &[RunResult]) {
        let reports: Vec<Report> =
            results.iter().map(|result| protocol::parse(bytes(&result.samples))).collect();
        if results.iter().any(|result| !bytes(&result.samples).is_empty()) {
            self.heard.1.insert(subject);
        }
        for kept in results.iter().filter_map(|result| result.samples.as_ref()) {
            if kept.written > kept.bytes.len() as u64 {
                let told = format!(
                    "of {} bytes that a run wrote, only the first {} are read",
                    kept.written,
                    kept.bytes.len()
                );
                self.bad_lines.entry(subject).or_insert((0, told)).0 += 1;
            }
        }
        for report in &reports {
            if let Some(first) = report.problems.first() {
                let lines = report.problems.len() + report.more_problems;
                self.bad_lines.entry(subject).or_insert_with(|| (0, first.to_string())).0 += lines;
            }
        }
        for name in self.expected(&reports) {
            let wanted = self.requested.specs.iter().find(|s| is_given(s) && s.metric.name == name);
            let readings: Result<Vec<(Metric, Reading)>, String> =
                reports.iter().map(|report| reading_of(&name, wanted, report)).collect();
            let must = wanted.is_some();
            let kept = readings.and_then(|r| self.admit(measured, &name, r));
            if let Err(why) = kept {
                if self.metrics.iter().any(|m| m.name == name) && !self.welcome.contains(&name) {
                    // The name is taken, which is a problem of the program, not of the metric of
                    // that name.
                    self.bad_lines.entry(subject).or_insert((0, why)).0 += 1;
                    continue;
                }
                measured.missing.push(Missing { metric: name, why, must });
            }
        }
    }

    /// Returns the names of the metrics to read: those requested and, if everything is recorded,
    /// also those that were reported before or are reported now.
    fn expected(&self, reports: &[Report]) -> Vec<String> {
        let asked = self.requested.specs.iter().filter(|spec| is_given(spec));
        let mut names: Vec<String> = asked.map(|spec| spec.metric.name.clone()).collect();
        if self.requested.samples {
            let now = reports.iter().flat_map(|r| &r.given).map(|given| &given.metric.name);
            for name in self.welcome.iter().chain(now) {
                if !names.contains(name) {
                    names.push(name.clone());
                }
            }
        }
        names
    }

    /// Stores a reported value. A new metric is added to the known metrics.
    fn admit(
        &mut self,
        measured: &mut Measured,
        name: &str,
        readings: Vec<(Metric, Reading)>,
    ) -> Result<(), String> {
        let taken = self.metrics.iter().any(|m| m.name == name);
        let by_programs = self.welcome.iter().any(|welcome| welcome == name);
        if Self::is_own(name) || self.is_counted(name) || (taken && !by_programs) {
            return Err(format!(
                "every run already has a metric `{name}`; the program must choose another name"
            ));
        }
        if !taken && self.metrics.len() >= MAX_METRICS {
            return Err(format!(
                "a file can hold at most {MAX_METRICS} metrics, and it already has that many"
            ));
        }
        let Some((metric, _)) = readings.first() else { return Ok(()) };
        match self.metrics.iter().find(|m| m.name == name) {
            Some(known) if known.unit != metric.unit => {
                return Err(format!(
                    "it is given in {} here, but was given in {} before",
                    unit_name(&metric.unit),
                    unit_name(&known.unit)
                ));
            }
            Some(_) => {}
            None => {
                self.metrics.push(metric.clone());
                self.welcome.push(name.to_owned());
                measured.values.push(f64::NAN);
            }
        }
        let values: Vec<f64> = readings.iter().map(|(_, reading)| reading.value).collect();
        self.set(measured, name, take(&values, Take::Mean).unwrap_or(f64::NAN));
        let all: Vec<f64> = readings.into_iter().flat_map(|(_, reading)| reading.all).collect();
        if !all.is_empty() {
            measured.inner.push((name.to_owned(), all));
        }
        Ok(())
    }

    /// Forgets the problems of earlier runs, which were not recorded.
    pub fn forget_problems(&mut self) {
        self.bad_lines.clear();
        self.heard = (BTreeSet::new(), BTreeSet::new());
        self.multiplexed = None;
    }

    /// Returns findings about commands that reported nothing through the sample protocol, although
    /// all of its numbers were requested.
    fn silent(&self, names: &[String]) -> Vec<Finding> {
        let (read, reporting) = &self.heard;
        let is_asked = self.requested.samples && !self.requested.specs.iter().any(is_given);
        let silent = read.difference(reporting).filter(|_| is_asked);
        let found = silent.map(|&subject| {
            let name = names.get(subject).map_or("", String::as_str);
            let message = format!("`{name}` reported nothing through the sample protocol");
            Finding::new(code::SAMPLES_PROBLEM, message)
                .about(name)
                .advise(Action::Read { page: "docs/reference/sample-protocol.md".to_owned() })
        });
        found.collect()
    }

    /// Returns findings about the sample protocol and multiplexed counters.
    pub fn findings(&self, names: &[String]) -> Vec<Finding> {
        let mut findings = Vec::new();
        for (&subject, (count, first)) in &self.bad_lines {
            let name = names.get(subject).map_or("", String::as_str);
            let message = format!(
                "{count} lines that '{name}' wrote to the sample channel could not be used; the first: {first}"
            );
            findings.push(
                Finding::new(code::SAMPLES_PROBLEM, message)
                    .about(name)
                    .with("lines", *count as f64)
                    .advise(Action::text("write each line with a single call"))
                    .advise(Action::Read { page: "docs/reference/sample-protocol.md".to_owned() }),
            );
        }
        if let Some(share) = self.multiplexed {
            findings.push(multiplexed(share));
        }
        findings.extend(self.silent(names));
        findings
    }
}

/// Returns true if a program reports the number through the sample protocol.
pub(crate) fn is_given(spec: &MetricSpec) -> bool {
    matches!(spec.source, Source::Protocol)
}

/// Returns a metric's reading from one run, in the requested form if there is one, otherwise as the
/// program reports it.
fn reading_of(
    name: &str,
    wanted: Option<&MetricSpec>,
    report: &Report,
) -> Result<(Metric, Reading), String> {
    let given = report.given.iter().find(|given| given.metric.name == name);
    let given = given.ok_or_else(|| {
        "the program reported no value for it through the sample protocol (docs/reference/sample-protocol.md)".to_owned()
    })?;
    let read = match wanted {
        Some(spec) => spec.given(report),
        None => given.reading().map(|reading| (given.metric.clone(), reading)),
    };
    read.map_err(|error| error.to_string())
}

fn unit_name(unit: &Unit) -> String {
    match unit.symbol() {
        "" | "1" => "plain numbers".to_owned(),
        symbol => format!("`{symbol}`"),
    }
}

fn bytes(kept: &Option<KeptOutput>) -> &[u8] {
    kept.as_ref().map_or(&[], |kept| kept.bytes.as_slice())
}
