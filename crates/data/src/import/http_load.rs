//! Common code of the importers for HTTP load generators. Each report is one observation. Its
//! metrics have the same names for every tool, which are also those of the metrics that `assay`
//! measures.
//!
//! `rate_achieved` is the rate of successful requests per second, `answered` the fraction of
//! requests that succeeded, and `failed` the number of requests that did not. `latency_…` is the
//! time from sending a request (or from when it was due, if the tool keeps a schedule) to the end
//! of the response; `connect`, `tls`, `first_byte` and `transfer` are the means of its parts. The
//! requests of a report are not independent, so their mean and spread are recorded as values of a
//! single observation and not as a summary. Values that are not in the file are omitted.

pub(super) mod apache_bench;
pub(super) mod h2load;
pub(super) mod hey;
pub(super) mod k6;
pub(super) mod oha;
pub(super) mod request_logs;
pub(super) mod vegeta;
pub(super) mod wrk;

use super::number::Conversion;
use super::recorder::Recorder;
use super::{ImportError, Part};
use crate::finding::shared::request_errors;
use crate::number::plain;
use crate::read_error::quoted_start;
use crate::samples::{Better, Metric, Outcome};
use crate::unit::Unit;
use std::collections::HashMap;
use std::rc::Rc;

/// Metrics that come first, in this order. Servers are compared by the first metric that all files
/// have.
const FIRST: [&str; 4] = ["latency_p50", "latency_p99", "rate_achieved", "answered"];

/// Metrics, apart from rates, for which higher is better.
const HIGHER: [&str; 5] =
    ["answered", "requests", "replies", "status_2xx", "replies_per_connection"];

/// Maximum number of options of one report, and of options that differ between reports. No tool has
/// more.
const MAX_OPTIONS: usize = 100;

/// Maximum number of values in one report, as a protection against hostile files.
const MAX_VALUES: usize = 1000;

/// Error message about an incomplete report.
pub(super) const BREAKS_OFF: &str = "the report that begins here breaks off";

/// Identifies a metric by its unit and its name, or by a quantile of the quantity with that name.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Name {
    name: &'static str,
    /// Quantile of `name` in percent, or `None` if the metric is called `name` itself.
    quantile: Option<f64>,
    of: BaseUnit,
}

/// The base unit of a metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum BaseUnit {
    Seconds,
    Things,
    PerSecond,
    Bytes,
    BytesPerSecond,
}

impl Name {
    /// Returns the name of the metric, such as `latency_p99_9` for a quantile.
    fn text(&self) -> String {
        match self.quantile {
            Some(percent) => format!("{}_p{}", self.name, percent.to_string().replace('.', "_")),
            None => self.name.to_owned(),
        }
    }

    fn metric(&self) -> Metric {
        let unit = match self.of {
            BaseUnit::Seconds => Unit::Second,
            BaseUnit::Things => Unit::One,
            BaseUnit::PerSecond => Unit::PerSecond,
            BaseUnit::Bytes => Unit::Byte,
            BaseUnit::BytesPerSecond => Unit::Other("B/s".to_owned()),
        };
        let metric = Metric::of_unit(&self.text(), unit);
        match HIGHER.contains(&self.name) {
            true => Metric { better: Better::Higher, ..metric },
            false => metric,
        }
    }
}

/// One report of a load generator. A file may contain millions of them.
#[derive(Debug, Default)]
pub(super) struct Report {
    /// Line on which the report begins, or 0 if lines are not counted.
    pub begins: u64,
    /// The requested load, such as the URL, the number of connections or the rate. Options that
    /// differ between the reports of a file distinguish them.
    options: Rc<Vec<(String, String)>>,
    /// The command line, if the tool prints it.
    pub command: Option<Rc<str>>,
    values: Vec<(Name, f64)>,
    /// Numbers of failed requests or connections, by kind.
    failures: Vec<(String, f64)>,
}

/// The reports of a file.
#[derive(Default)]
pub(super) struct Reports {
    reports: Vec<Report>,
    /// Failures of all reports.
    failures: Vec<(String, f64)>,
}

impl Reports {
    /// Adds a report. If its options or its command are the same as in the previous report, they
    /// are shared.
    pub(super) fn push(&mut self, mut report: Report) {
        if let Some(last) = self.reports.last() {
            if last.options == report.options {
                report.options = Rc::clone(&last.options);
            }
            if last.command == report.command {
                report.command.clone_from(&last.command);
            }
        }
        for (kind, count) in std::mem::take(&mut report.failures) {
            match self.failures.iter().position(|(known, _)| *known == kind) {
                Some(known) => self.failures[known].1 += count,
                None if self.failures.len() < MAX_OPTIONS => self.failures.push((kind, count)),
                None => {}
            }
        }
        report.values.shrink_to_fit();
        self.reports.push(report);
    }
}

impl Report {
    pub(super) fn beginning(line: u64) -> Self {
        Self { begins: line, ..Self::default() }
    }

    pub(super) fn option(&mut self, name: &str, value: &str) {
        if self.options.len() < MAX_OPTIONS {
            Rc::make_mut(&mut self.options).push((name.to_owned(), value.to_owned()));
        }
    }

    /// Adds a value in the base unit. Values that are not finite are ignored, and if a metric is
    /// added twice, the first value is kept.
    pub(super) fn set(&mut self, name: &'static str, of: BaseUnit, value: f64) {
        self.add(Name { name, quantile: None, of }, value);
    }

    fn add(&mut self, name: Name, value: f64) {
        let is_new = self.values.iter().all(|(known, _)| *known != name);
        if value.is_finite() && is_new && self.values.len() < MAX_VALUES {
            self.values.push((name, value));
        }
    }

    /// Adds a time in seconds.
    pub(super) fn time(&mut self, name: &'static str, seconds: f64) {
        self.set(name, BaseUnit::Seconds, seconds);
    }

    /// Adds a time in milliseconds, the unit of most tools.
    pub(super) fn milliseconds(&mut self, metric: &'static str, value: f64) {
        self.time(metric, value / 1e3);
    }

    /// Adds a quantile of the latency in seconds: 99.9 is `latency_p99_9`, 0 the minimum and 100
    /// the maximum.
    pub(super) fn quantile(&mut self, percent: f64, seconds: f64) {
        self.quantile_of("latency", percent, seconds);
    }

    /// Adds a quantile of another quantity, in seconds. Only the latency has a minimum and a
    /// maximum.
    pub(super) fn quantile_of(&mut self, name: &'static str, percent: f64, seconds: f64) {
        match (name, percent) {
            ("latency", 0.0) => self.time("latency_min", seconds),
            ("latency", 100.0) => self.time("latency_max", seconds),
            _ if percent > 0.0 && percent < 100.0 => {
                self.add(Name { name, quantile: Some(percent), of: BaseUnit::Seconds }, seconds);
            }
            _ => {}
        }
    }

    /// Adds the number of requests, the number that failed and the fraction that succeeded; `well`
    /// is the number of successful ones.
    pub(super) fn requests(&mut self, requests: f64, well: f64) {
        let well = well.clamp(0.0, requests.max(0.0));
        self.set("answered", BaseUnit::Things, well / requests);
        self.set("requests", BaseUnit::Things, requests);
        self.set("failed", BaseUnit::Things, requests - well);
    }

    /// Adds the rate of successful requests: the tool's rate of completed requests, reduced by the
    /// fraction that failed. `ended` is the number of completed requests, `well` that of successful
    /// ones.
    pub(super) fn rate(&mut self, per_second: f64, ended: f64, well: f64) {
        let share = if well >= ended { 1.0 } else { well.max(0.0) / ended };
        self.set("rate_achieved", BaseUnit::PerSecond, per_second * share);
    }

    /// Adds bytes received per second.
    pub(super) fn received(&mut self, bytes_per_second: f64) {
        self.set("received", BaseUnit::BytesPerSecond, bytes_per_second);
    }

    /// Adds the number of requests that failed in a particular way, if it is not zero.
    pub(super) fn failure(&mut self, kind: &str, count: f64) {
        if count > 0.0 && count.is_finite() && self.failures.len() < MAX_OPTIONS {
            self.failures.push((kind.to_owned(), count));
        }
    }

    /// Removes all times, because they are zero in a report without responses.
    pub(super) fn without_times(&mut self) {
        self.values.retain(|(name, _)| name.of != BaseUnit::Seconds);
    }

    /// Returns a value added before.
    pub(super) fn value(&self, metric: &str) -> Option<f64> {
        let is_it = |known: &Name| known.name == metric && known.quantile.is_none();
        self.values.iter().find(|(known, _)| is_it(known)).map(|&(_, value)| value)
    }

    fn option_value(&self, name: &str) -> Option<&str> {
        self.options.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Returns the metric `name`, for a log of individual requests.
fn metric_of(name: &'static str, of: BaseUnit) -> Metric {
    Name { name, quantile: None, of }.metric()
}

/// Passes every report to the recorder as one observation. If all reports have the same options,
/// they form one subject, which is named after the file. Otherwise, subjects are named after the
/// options that differ. `always` lists options that become parameters even if they do not differ.
///
/// # Errors
/// Returns an error if there is no report, or if too many options differ.
pub(super) fn finish(
    mut recorder: Recorder<'_>,
    label: &str,
    Reports { reports, failures }: &Reports,
    always: &[&str],
) -> Result<Part, ImportError> {
    let varying = varying_options(&recorder, reports)?;
    let mut metrics: Vec<(Name, usize)> = Vec::new();
    for (name, _) in reports.iter().flat_map(|report| &report.values) {
        if metrics.len() <= MAX_VALUES && metrics.iter().all(|(known, _)| known != name) {
            metrics.push((*name, 0));
        }
    }
    let rank = |name: &Name| FIRST.iter().position(|first| *first == name.text());
    metrics.sort_by_key(|(name, _)| rank(name).unwrap_or(FIRST.len()));
    for (name, index) in &mut metrics {
        let metric = recorder.metric(&name.metric());
        *index = metric.map_err(|problem| recorder.whole_file(problem))?;
    }
    for report in reports {
        let parameter = |name: &str| {
            let value = report.option_value(name).unwrap_or("no");
            (name.to_owned(), value.to_owned())
        };
        let told: Vec<(String, String)> = varying.iter().map(|name| parameter(name)).collect();
        let name: Vec<String> =
            told.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let name = if name.is_empty() { label.to_owned() } else { name.join(" ") };
        let also = always.iter().filter(|name| {
            !varying.iter().any(|known| known == *name) && report.option_value(name).is_some()
        });
        let parameters: Vec<_> = told.into_iter().chain(also.map(|name| parameter(name))).collect();
        let subject = recorder.benchmark(&name, None, &parameters);
        if let Some(command) = &report.command {
            recorder.subject_mut(subject).command = Some(command.to_string());
        }
        let index = |name| metrics.iter().find(|(known, _)| known == name).map(|&(_, index)| index);
        let values = report.values.iter();
        let values: Vec<_> =
            values.filter_map(|(name, value)| Some((index(name)?, *value))).collect();
        let taken = recorder.observe(subject, &[], Outcome::Ok, &values);
        taken.map_err(|problem| match report.begins {
            0 => recorder.whole_file(problem),
            line => recorder.at(line, problem),
        })?;
    }
    tell_failures(&mut recorder, failures);
    recorder.finish("lines of a load generator without a report")
}

/// Returns the names of the options in which the reports differ.
fn varying_options(
    recorder: &Recorder<'_>,
    reports: &[Report],
) -> Result<Vec<String>, ImportError> {
    let mut seen: HashMap<&str, &str> = HashMap::new();
    let mut varying: Vec<String> = Vec::new();
    for (index, report) in reports.iter().enumerate() {
        for (option, value) in report.options.iter() {
            let is_new = !seen.contains_key(option.as_str());
            let first = *seen.entry(option).or_insert(value);
            let differs = first != value || is_new && index > 0;
            if differs && !varying.contains(option) {
                varying.push(option.clone());
            }
        }
        if varying.len() > MAX_OPTIONS {
            let problem = format!("more than {MAX_OPTIONS} options differ by here");
            return Err(recorder.at(report.begins.max(1), problem));
        }
        let lacks = seen.keys().filter(|known| report.option_value(known).is_none());
        let lacks: Vec<String> = lacks
            .filter(|name| !varying.iter().any(|v| v == *name))
            .map(|n| (*n).to_owned())
            .collect();
        varying.extend(lacks);
    }
    varying.sort();
    Ok(varying)
}

/// Adds one finding about all failed requests of the file.
fn tell_failures(recorder: &mut Recorder<'_>, kinds: &[(String, f64)]) {
    if kinds.is_empty() {
        return;
    }
    let all: f64 = kinds.iter().map(|(_, count)| count).sum();
    let told = kinds.iter().take(8).map(|(kind, count)| format!("{} {count}", quoted_start(kind)));
    let more = match kinds.len().saturating_sub(8) {
        0 => String::new(),
        more => format!(" and {more} more kinds"),
    };
    let told: Vec<String> = told.collect();
    recorder.finding(request_errors(&format!("{}{more}", told.join(", ")), all));
}

/// Parses `1.2ms`, `337.881µs`, `1m2.5s`, `0.0446 secs` and `12 min` into seconds. Returns `None`
/// for anything else and for infinite times.
pub(super) fn seconds(text: &str) -> Option<f64> {
    let mut rest = text.trim();
    let mut sum: f64 = 0.0;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '-' && c != '+')?;
        let number = plain(&rest[..end])?;
        rest = rest[end..].trim_start();
        let end = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let (unit, after) = (rest[..end].trim_end(), &rest[end..]);
        let conversion = Conversion::from_symbol(Some(unit));
        if conversion.unit != Unit::Second {
            return None;
        }
        sum += conversion.to_base(number);
        rest = after;
    }
    Some(sum).filter(|sum| sum.is_finite())
}

/// Parses a number as printed by a tool. `nan` becomes NaN.
pub(super) fn number(text: &str) -> Result<f64, String> {
    let wrong = || format!("`{}` is not a number", quoted_start(text));
    plain(text.trim().trim_end_matches(['%', ','])).ok_or_else(wrong)
}

/// Parses a time as a tool prints it, with `NaN` and `inf` as NaN; the error describes the fault.
pub(super) fn time(text: &str) -> Result<f64, String> {
    let text = text.trim();
    let word = text.trim_start_matches('-').split_ascii_whitespace().next().unwrap_or_default();
    if matches!(word.to_ascii_lowercase().as_str(), "nan" | "inf") {
        return Ok(f64::NAN);
    }
    seconds(text).ok_or_else(|| format!("`{}` is not a time", quoted_start(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_each_tool_writes_them() {
        for (text, expected) in [
            ("268.00us", 268.0 / 1e6),
            ("337.881µs", 337.881 / 1e6),
            ("12ms", 0.012),
            ("0.0446 secs", 0.0446),
            ("1.5 sec", 1.5),
            ("1m2.5s", 62.5),
            ("2h", 7200.0),
            ("0s", 0.0),
        ] {
            assert_eq!(seconds(text), Some(expected), "{text}");
        }
        for text in ["", "12", "ms", "1 parsec", "1e999s", "1.2.3s"] {
            assert_eq!(seconds(text), None, "{text}");
        }
        assert!(time("-nan").is_ok_and(f64::is_nan) && time("soon").is_err());
    }

    #[test]
    fn quantiles_are_named_as_assay_names_its_own() {
        let mut report = Report::default();
        for (percent, value) in [(50.0, 1.0), (99.9, 2.0), (0.0, 3.0), (100.0, 4.0), (50.0, 9.0)] {
            report.quantile(percent, value);
        }
        let names: Vec<_> = report.values.iter().map(|(name, _)| name.text()).collect();
        assert_eq!(names, ["latency_p50", "latency_p99_9", "latency_min", "latency_max"]);
        assert_eq!(report.values[0].1, 1.0, "the first stays");
    }

    #[test]
    fn the_rate_is_of_what_was_answered_well() {
        let mut report = Report::default();
        report.requests(100.0, 70.0);
        report.rate(50.0, 100.0, 70.0);
        assert_eq!(report.value("rate_achieved"), Some(35.0));
        assert_eq!(report.value("answered"), Some(0.7));
        assert_eq!(report.value("failed"), Some(30.0));
        let mut none = Report::default();
        none.requests(0.0, 0.0);
        assert_eq!(none.value("answered"), None);
    }
}
