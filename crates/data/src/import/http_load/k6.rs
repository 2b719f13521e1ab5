//! k6's summary: the JSON of `--summary-export` (both layouts) and of `handleSummary`, and the text
//! at the end of a test. A file may contain several summaries; each is one observation.
//!
//! k6 measures a request from sending to the end of the response, without connecting. Whether
//! requests followed a schedule depends on the scenario, which only the text shows. Iterations that
//! a schedule could not start are counted in `dropped_iterations`.

use super::super::{Context, Head, ImportError, Part, json};
use super::{BREAKS_OFF, BaseUnit, Report, Reports, finish, number, time};
use crate::finding::shared::closed_loop;
use crate::import::recorder::Recorder;
use crate::input::Input;
use crate::lines::Lines;
use crate::number::plain;
use json::Number;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

const EXPECTED: &str = "k6's summary: `{\"metrics\": {\"http_req_duration\": {…}, …}}`";
const DURATION: &str = "http_req_duration";

/// Parts of a request whose means are read in addition to its duration: k6's name and ours.
const PARTS: [(&str, &str); 4] = [
    ("http_req_connecting", "connect"),
    ("http_req_tls_handshaking", "tls"),
    ("http_req_waiting", "first_byte"),
    ("http_req_receiving", "transfer"),
];

pub(in super::super) fn recognise_json(head: &Head<'_>) -> bool {
    let has = |key: &str| head.text.contains(key);
    head.is_json() && has("\"http_req_duration\"") && has("\"metrics\"")
}

pub(in super::super) fn recognise_text(head: &Head<'_>) -> bool {
    head.text.lines().any(|line| row(line).is_some_and(|(name, _)| name == DURATION))
}

/// The values of one metric: `avg`, `p(90)`, `count`, `rate`, … as numbers; times in milliseconds.
type Values = BTreeMap<String, f64>;

/// The metrics of one summary, by name.
#[derive(Default)]
struct Summary {
    metrics: BTreeMap<String, Values>,
    seconds: Option<f64>,
}

#[derive(Deserialize)]
struct File {
    metrics: Option<BTreeMap<String, Value>>,
    results: Option<Results>,
    config: Option<Config>,
}

#[derive(Deserialize)]
struct Results {
    metrics: Vec<NamedMetric>,
}

#[derive(Deserialize)]
struct NamedMetric {
    name: String,
    values: BTreeMap<String, Value>,
}

#[derive(Deserialize)]
struct Config {
    duration: Option<Number>,
}

pub(in super::super) fn read_json(
    input: Input,
    context: &Context<'_>,
) -> Result<Part, ImportError> {
    let recorder = Recorder::new(context, "k6");
    let mut reports = Reports::default();
    json::read_all(input, EXPECTED, |file: File| {
        if let Some(report) = of_json(file).report() {
            reports.push(report);
        }
    })?;
    finish(recorder, context.label, &reports, &[])
}

fn of_json(file: File) -> Summary {
    let numbers = |values: BTreeMap<String, Value>| -> Values {
        values.into_iter().filter_map(|(name, value)| Some((name, value.as_f64()?))).collect()
    };
    let mut metrics: BTreeMap<String, Values> = BTreeMap::new();
    for (name, value) in file.metrics.into_iter().flatten() {
        let Value::Object(mut value) = value else { continue };
        // In `handleSummary` the numbers are one level deeper.
        let value = match value.remove("values") {
            Some(Value::Object(values)) => values,
            _ => value,
        };
        metrics.insert(name, numbers(value.into_iter().collect()));
    }
    for named in file.results.into_iter().flat_map(|results| results.metrics) {
        metrics.insert(named.name, numbers(named.values));
    }
    let seconds = file.config.and_then(|config| config.duration).map(|duration| duration.0);
    Summary { metrics, seconds }
}

impl Summary {
    fn number(&self, metric: &str, key: &str) -> Option<f64> {
        self.metrics.get(metric)?.get(key).copied()
    }

    /// Returns the report, or `None` if the summary has no requests.
    fn report(&self) -> Option<Report> {
        let requests = self.number("http_reqs", "count")?;
        let mut report = Report::default();
        for (key, &value) in self.metrics.get(DURATION)? {
            match key.as_str() {
                "avg" => report.milliseconds("latency_mean", value),
                "min" => report.milliseconds("latency_min", value),
                "max" => report.milliseconds("latency_max", value),
                "med" => report.quantile(50.0, value / 1e3),
                key => {
                    let digits = key.trim_start_matches('p').trim_matches(['(', ')']);
                    let percent = plain(digits);
                    if let Some(percent) = percent.filter(|_| key.starts_with('p')) {
                        report.quantile(percent, value / 1e3);
                    }
                }
            }
        }
        for (part, metric) in PARTS {
            report.milliseconds(metric, self.number(part, "avg").unwrap_or(f64::NAN));
        }
        // k6 reports a time of zero for requests without a response.
        if report.value("latency_max") == Some(0.0) {
            report.without_times();
        }
        let share = ["value", "rate"].iter().find_map(|key| self.number("http_req_failed", key));
        let failed = (share.unwrap_or(0.0) * requests).round();
        report.failure("requests failed", failed);
        report.requests(requests, requests - failed);
        let rate = self.number("http_reqs", "rate").or(self.seconds.map(|s| requests / s));
        report.rate(rate.unwrap_or(f64::NAN), requests, requests - failed);
        let received = self.number("data_received", "rate");
        let of_duration = || Some(self.number("data_received", "count")? / self.seconds?);
        report.received(received.or_else(of_duration).unwrap_or(f64::NAN));
        if let Some(dropped) = self.number("dropped_iterations", "count") {
            report.set("dropped_iterations", BaseUnit::Things, dropped);
            report.failure("iterations dropped", dropped);
        }
        Some(report)
    }
}

/// Parses a row such as `http_reqs......: 100 5351.752496/s` into the name and the text of the
/// values.
fn row(line: &str) -> Option<(&str, &str)> {
    let (name, values) = line.trim().trim_start_matches(['✓', '✗', ' ']).split_once(": ")?;
    let bare = name.trim_end_matches('.');
    (bare.len() + 2 < name.len()).then_some((bare, values.trim()))
}

pub(in super::super) fn read_text(
    input: Input,
    context: &Context<'_>,
) -> Result<Part, ImportError> {
    let mut recorder = Recorder::new(context, "k6");
    let mut lines = Lines::new(input.into_reader(), context.file);
    let mut reports = Reports::default();
    let mut open: Option<(u64, Summary)> = None;
    let mut is_closed = false;
    // True within the part of one group or scenario, whose requests are included in the totals.
    let mut is_part = false;
    while let Some(line) = lines.next()? {
        let text = line.text.trim();
        is_closed |= text.starts_with("* ")
            && (text.contains(" looping VUs for ") || text.contains(" iterations shared among "));
        if let Some(heading) = text.strip_prefix("█ ") {
            is_part = ["GROUP: ", "SCENARIO: "].iter().any(|start| heading.starts_with(start));
        }
        let Some((name, values)) = row(text).filter(|_| !is_part) else { continue };
        let values = numbers(name, values).map_err(|problem| recorder.at(line.number, problem))?;
        let Some(values) = values else { continue };
        let is_again = open.as_ref().is_some_and(|(_, open)| open.metrics.contains_key(name));
        if is_again && let Some(last) = open.take() {
            reports.push(end(&recorder, &last)?);
        }
        let (_, summary) = open.get_or_insert_with(|| (line.number, Summary::default()));
        summary.metrics.insert(name.to_owned(), values);
    }
    if let Some(last) = open {
        reports.push(end(&recorder, &last)?);
    }
    if is_closed {
        recorder.finding(closed_loop("k6 with a fixed number of users", ""));
    }
    finish(recorder, context.label, &reports, &[])
}

fn end(recorder: &Recorder<'_>, (begins, summary): &(u64, Summary)) -> Result<Report, ImportError> {
    let report = summary.report().ok_or_else(|| recorder.at(*begins, BREAKS_OFF))?;
    Ok(Report { begins: *begins, ..report })
}

/// Returns the numbers of a row under their JSON keys, or `None` if the row is not used.
fn numbers(name: &str, text: &str) -> Result<Option<Values>, String> {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let first = words.first().copied().unwrap_or_default();
    let pair = |key: &str, value| BTreeMap::from([(key.to_owned(), value)]);
    let is_time = name == DURATION || PARTS.iter().any(|(part, _)| *part == name);
    Ok(match name {
        _ if is_time => {
            let pairs = words.iter().filter_map(|word| word.split_once('='));
            let values = pairs.map(|(key, value)| Ok((key.to_owned(), time(value)? * 1e3)));
            Some(values.collect::<Result<_, String>>()?)
        }
        "http_req_failed" => Some(pair("value", number(first)? / 1e2)),
        "http_reqs" => {
            let rate = words.get(1).map(|rate| number(rate.trim_end_matches("/s"))).transpose()?;
            let mut values = pair("count", number(first)?);
            values.insert("rate".to_owned(), rate.unwrap_or(f64::NAN));
            Some(values)
        }
        "dropped_iterations" => Some(pair("count", number(first)?)),
        _ => None,
    })
}
