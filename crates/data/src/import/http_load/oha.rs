//! oha's JSON (`--output-format json`). A file may contain several documents; each is one
//! observation.

use super::super::{Context, Head, ImportError, Part, json};
use super::hey::{CUT_BY_OHA, UNLESS_CORRECTED};
use super::{Report, Reports, finish};
use crate::finding::shared::closed_loop;
use crate::import::recorder::Recorder;
use crate::input::Input;
use crate::number::plain;
use json::Number;
use serde::Deserialize;
use std::collections::BTreeMap;

const EXPECTED: &str = "oha's JSON: `{\"summary\": {…}, \"latencyPercentiles\": {…}, …}`";

pub(in super::super) fn recognise(head: &Head<'_>) -> bool {
    head.is_json()
        && head.text.contains("\"latencyPercentiles\"")
        && head.text.contains("\"requestsPerSec\"")
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    summary: Summary,
    latency_percentiles: BTreeMap<String, Number>,
    details: Option<Details>,
    status_code_distribution: BTreeMap<String, u64>,
    error_distribution: BTreeMap<String, u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Summary {
    slowest: Number,
    fastest: Number,
    average: Number,
    requests_per_sec: Number,
    size_per_sec: Option<Number>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Details {
    #[serde(rename = "DNSDialup")]
    dialup: Option<Average>,
    first_byte: Option<Average>,
}

#[derive(Deserialize)]
struct Average {
    average: Number,
}

pub(in super::super) fn read(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    let mut recorder = Recorder::new(context, "oha");
    let mut reports = Reports::default();
    json::read_all(input, EXPECTED, |file: File| reports.push(report(&file)))?;
    recorder.finding(closed_loop("oha", UNLESS_CORRECTED));
    finish(recorder, context.label, &reports, &[])
}

fn report(file: &File) -> Report {
    let mut report = Report::default();
    for (percentile, value) in &file.latency_percentiles {
        let percent = percentile.strip_prefix('p').and_then(plain);
        if let Some(percent) = percent {
            report.quantile(percent, value.0);
        }
    }
    report.time("latency_mean", file.summary.average.0);
    report.time("latency_min", file.summary.fastest.0);
    report.time("latency_max", file.summary.slowest.0);
    if let Some(details) = &file.details {
        let mean = |average: &Option<Average>| average.as_ref().map_or(f64::NAN, |a| a.average.0);
        report.time("connect", mean(&details.dialup));
        report.time("first_byte", mean(&details.first_byte));
    }
    let (mut answered, mut well, mut errors, mut cut) = (0.0, 0.0, 0.0, 0.0);
    for (status, count) in &file.status_code_distribution {
        let count = *count as f64;
        answered += count;
        if status.starts_with(['2', '3']) {
            well += count;
        } else {
            report.failure(&format!("status {status}"), count);
        }
    }
    for (error, count) in &file.error_distribution {
        let count = *count as f64;
        if error == CUT_BY_OHA {
            cut += count;
        } else {
            errors += count;
            report.failure(error, count);
        }
    }
    if answered == 0.0 {
        report.without_times();
    }
    report.requests(answered + errors, well);
    report.rate(file.summary.requests_per_sec.0, answered + errors + cut, well);
    if let Some(rate) = &file.summary.size_per_sec {
        report.received(rate.0);
    }
    report
}
