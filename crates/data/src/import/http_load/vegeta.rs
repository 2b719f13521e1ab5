//! The output of `vegeta report`, as text and as JSON (`-type=json`). A file may contain several
//! reports; each is one observation.
//!
//! vegeta keeps its schedule, and measures latency from when a request is sent. `rate_achieved` is
//! what vegeta calls throughput, which counts only successful requests. The rate at which requests
//! were sent is `rate_sent`.

use super::super::{Context, Head, ImportError, Part, json};
use super::{BREAKS_OFF, BaseUnit, Report, Reports, finish, number, time};
use crate::import::recorder::Recorder;
use crate::input::Input;
use crate::lines::Lines;
use json::Number;
use serde::Deserialize;
use std::collections::BTreeMap;

const EXPECTED: &str = "vegeta's report: `{\"latencies\": {…}, \"requests\": …, \"success\": …}`";
const BEGINS: &str = "[total, rate, throughput]";
const NAMED: [(&str, &str); 3] =
    [("mean", "latency_mean"), ("min", "latency_min"), ("max", "latency_max")];
const QUANTILES: [&str; 5] = ["50", "90", "95", "99", "99.9"];

pub(in super::super) fn recognise_text(head: &Head<'_>) -> bool {
    head.text.lines().any(|line| line.starts_with("Requests") && line.contains(BEGINS))
}

pub(in super::super) fn recognise_json(head: &Head<'_>) -> bool {
    let has = |key: &str| head.text.contains(key);
    head.is_json() && has("\"latencies\"") && has("\"50th\"") && has("\"throughput\"")
}

#[derive(Deserialize)]
struct File {
    /// Mean, quantiles and extremes of the latency, in nanoseconds, by name.
    latencies: BTreeMap<String, Number>,
    bytes_in: Option<Bytes>,
    duration: Number,
    wait: Number,
    requests: Number,
    rate: Number,
    throughput: Number,
    success: Number,
    #[serde(default)]
    status_codes: BTreeMap<String, u64>,
}

#[derive(Deserialize)]
struct Bytes {
    total: Number,
}

pub(in super::super) fn read_json(
    input: Input,
    context: &Context<'_>,
) -> Result<Part, ImportError> {
    let recorder = Recorder::new(context, "vegeta");
    let mut reports = Reports::default();
    json::read_all(input, EXPECTED, |file: File| reports.push(of_json(&file)))?;
    finish(recorder, context.label, &reports, &[])
}

fn of_json(file: &File) -> Report {
    let mut report = Report::default();
    let latency = |key: &str| file.latencies.get(key).map_or(f64::NAN, |value| value.0 / 1e9);
    for quantile in QUANTILES {
        // Quantiles have no zero before their suffix: `99th`.
        if let Ok(percent) = quantile.parse() {
            report.quantile(percent, latency(&format!("{quantile}th")));
        }
    }
    for (key, metric) in NAMED {
        report.time(metric, latency(key));
    }
    sent(&mut report, [file.requests.0, file.rate.0, file.throughput.0], file.success.0);
    for (code, count) in &file.status_codes {
        status(&mut report, code, *count as f64);
    }
    if let Some(bytes) = &file.bytes_in {
        report.received(bytes.total.0 / ((file.duration.0 + file.wait.0) / 1e9));
    }
    report
}

fn sent(report: &mut Report, [requests, rate, throughput]: [f64; 3], success: f64) {
    report.set("rate_achieved", BaseUnit::PerSecond, throughput);
    report.set("rate_sent", BaseUnit::PerSecond, rate);
    // Rounded, because the text states the success ratio only as a percentage with two decimals.
    report.requests(requests, (requests * success).round());
}

fn status(report: &mut Report, code: &str, count: f64) {
    match code {
        "0" => report.failure("no answer", count),
        code if code.starts_with(['2', '3']) => {}
        code => report.failure(&format!("status {code}"), count),
    }
}

pub(in super::super) fn read_text(
    input: Input,
    context: &Context<'_>,
) -> Result<Part, ImportError> {
    let recorder = Recorder::new(context, "vegeta");
    let mut lines = Lines::new(input.into_reader(), context.file);
    let mut reports = Reports::default();
    let mut open: Option<Open> = None;
    while let Some(line) = lines.next()? {
        let text = line.text.trim();
        if text.starts_with("Requests") && text.contains(BEGINS) {
            if let Some(open) = &open {
                return Err(recorder.at(open.report.begins, BREAKS_OFF));
            }
            open = Some(Open { report: Report::beginning(line.number), ..Open::default() });
        }
        if text == "Error Set:" {
            if let Some(done) = open.take() {
                reports.push(done.finish());
            }
        } else if let Some(open) = &mut open {
            open.line(text).map_err(|problem| recorder.at(line.number, problem))?;
        }
    }
    match open {
        Some(open) => Err(recorder.at(open.report.begins, BREAKS_OFF)),
        None => finish(recorder, context.label, &reports, &[]),
    }
}

/// An incomplete text report.
#[derive(Default)]
struct Open {
    report: Report,
    sent: [f64; 3],
    success: f64,
    seconds: f64,
    bytes: f64,
}

impl Open {
    /// Parses `Latencies     [min, mean, 50, 90, 95, 99, max]  266.485µs, 763.342µs, …`.
    fn line(&mut self, text: &str) -> Result<(), String> {
        let Some((heading, rest)) = text.split_once('[') else { return Ok(()) };
        let Some((names, values)) = rest.split_once(']') else { return Ok(()) };
        let values: Vec<&str> = values.split(',').map(str::trim).collect();
        let names: Vec<&str> = names.split(',').map(str::trim).collect();
        let at = |place: usize| values.get(place).copied().unwrap_or_default();
        match heading.trim_end() {
            "Requests" => self.sent = [number(at(0))?, number(at(1))?, number(at(2))?],
            "Duration" => self.seconds = time(at(0))?,
            "Latencies" => {
                for (name, value) in names.iter().zip(&values) {
                    let seconds = time(value)?;
                    let named = NAMED.iter().find(|(key, _)| key == name);
                    match (named, name.parse()) {
                        (Some((_, metric)), _) => self.report.time(metric, seconds),
                        (None, Ok(percent)) => self.report.quantile(percent, seconds),
                        _ => {}
                    }
                }
            }
            "Bytes In" => self.bytes = number(at(0))?,
            "Success" => self.success = number(at(0))? / 1e2,
            "Status Codes" => {
                for pair in at(0).split_ascii_whitespace() {
                    let (code, count) = pair.split_once(':').unwrap_or((pair, ""));
                    status(&mut self.report, code, number(count)?);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn finish(mut self) -> Report {
        sent(&mut self.report, self.sent, self.success);
        self.report.received(self.bytes / self.seconds);
        self.report
    }
}
