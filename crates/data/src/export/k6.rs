//! Exports a load test as k6's summary, the JSON of `k6 run --summary-export`, for existing scripts
//! and dashboards.
//!
//! The summary covers one server at one rate, all slices together. Unlike in k6,
//! `http_req_duration` is measured from the moment at which a request was due, because that is how
//! long users wait. Failed requests have no duration. A quantile that falls on requests that were
//! never answered is left out. The mean, minimum and maximum cover only the answered requests, as
//! do all values of `http_req_duration{expected_response:true}`. Phases of a request for which
//! there are no histograms are left out. The layout is that of k6 1.8 (`legacy` mode).

use super::shortest;
use crate::samples::Buckets;
use crate::{Histogram, Samples};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::io::{self, Write};

/// Name and order of each quantile, and the number of requests below which it is left out.
const QUANTILES: [(&str, f64, u64); 5] = [
    ("med", 0.5, 1),
    ("p(90)", 0.9, 1),
    ("p(95)", 0.95, 1),
    ("p(99)", 0.99, 100),
    ("p(99.9)", 0.999, 1000),
];

/// Writes the summary. O(histograms).
///
/// # Errors
/// Returns an `InvalidInput` error if there are no requests or several subjects, and the error of
/// the sink if writing fails.
pub fn k6(samples: &Samples, sink: &mut impl Write) -> io::Result<()> {
    let refused = |problem: String| Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
    if samples.histograms.is_empty() {
        return refused("only load tests have requests; these samples have none".to_owned());
    }
    if let [first, _, ..] = samples.subjects.as_slice() {
        let side = &samples.side_of(first).name;
        let values = first.parameters.iter().map(|(name, value)| format!(" {name}:{value}"));
        let filter = format!(".name:{side}{}", values.collect::<String>());
        return refused(format!(
            "k6's summary is of one server under one load, and these samples have {}; choose one, as in --filter '{filter}'",
            samples.subjects.len()
        ));
    }
    let totals = SliceTotals::of(samples);
    let mut metrics = Map::new();
    let mut add = |name: &str, value: Option<Value>| {
        metrics.extend(value.map(|value| (name.to_owned(), value)));
    };
    let requests = totals.answered + totals.failed;
    let counter = |count: u64| {
        let mut counter = json!({ "count": count });
        if totals.seconds > 0.0 {
            counter["rate"] = (count as f64 / totals.seconds).into();
        }
        Some(counter)
    };
    add("http_reqs", counter(requests));
    add("iterations", counter(requests));
    let duration = trend(&totals.times("latency"), totals.failed);
    add("http_req_duration", duration.clone());
    add("iteration_duration", duration);
    add("http_req_duration{expected_response:true}", trend(&totals.times("latency"), 0));
    add("http_req_connecting", trend(&totals.times("connect"), 0));
    add("http_req_tls_handshaking", trend(&totals.times("tls"), 0));
    // For this rate, k6 calls a failed request a "pass".
    let share = totals.failed as f64 / requests.max(1) as f64;
    let failed = json!({ "passes": totals.failed, "fails": totals.answered, "value": share });
    add("http_req_failed", Some(failed));
    add("data_received", counter(totals.received.round() as u64).filter(|_| totals.received > 0.0));
    let group = json!({
        "name": "", "path": "", "id": "d41d8cd98f00b204e9800998ecf8427e", "groups": {}, "checks": {}
    });
    let file = json!({ "root_group": group, "metrics": metrics });
    serde_json::to_writer_pretty(&mut *sink, &file)?;
    sink.write_all(b"\n")?;
    sink.flush()
}

/// Totals over all slices.
struct SliceTotals<'a> {
    samples: &'a Samples,
    answered: u64,
    failed: u64,
    /// Total length of the slices in seconds, as far as it is known.
    seconds: f64,
    /// Number of bytes received in the slices of known length.
    received: f64,
}

impl<'a> SliceTotals<'a> {
    fn of(samples: &'a Samples) -> Self {
        let mut totals = Self { samples, answered: 0, failed: 0, seconds: 0.0, received: 0.0 };
        let measured = samples.observations().filter(|own| own.pass.is_none());
        let values: HashMap<u32, Vec<f64>> =
            measured.filter_map(|own| Some((own.block?, own.values))).collect();
        let value = |block: u32, metric: &str| {
            let value = *values.get(&block)?.get(samples.metric_index(metric)?)?;
            Some(value).filter(|value| *value > 0.0)
        };
        for own in samples.counts.iter().filter(|own| own.second.is_none() && own.rate.is_none()) {
            let count = |name: &str| own.counts.get(name).copied().unwrap_or(0);
            totals.answered += count("answered");
            totals.failed += count("failed");
            // A slice does not state its length, so it is computed from the number of responses and
            // their rate.
            let rate = value(own.block, "rate_achieved");
            let seconds = rate.map_or(0.0, |rate| count("delivered") as f64 / rate);
            totals.seconds += seconds;
            totals.received += value(own.block, "received").unwrap_or(0.0) * seconds;
        }
        totals
    }

    /// Returns one histogram of all times of the kind `kind`.
    fn times(&self, kind: &str) -> Histogram {
        let mut sum = Histogram::default();
        let own = |own: &&Buckets| own.of == kind && own.second.is_none() && own.rate.is_none();
        // Histograms that cannot be decoded were refused when the samples were read.
        let read = self.samples.histograms.iter().filter(own);
        read.filter_map(|own| Histogram::decoded(&own.v2).ok()).for_each(|own| sum.add(&own));
        sum
    }
}

/// Returns statistics of the times in milliseconds, where `beyond` further requests were never
/// answered. Returns `None` if there are no times.
fn trend(times: &Histogram, beyond: u64) -> Option<Value> {
    // Chooses milliseconds that give the same bits when divided by 1000.
    let milliseconds = |seconds: f64| shortest(seconds * 1e3, |ms| ms / 1e3 == seconds);
    if times.count() == 0 {
        return None;
    }
    let mut values = Map::new();
    values.insert("avg".to_owned(), milliseconds(times.mean_seconds()).into());
    let shortest = times.quantile_seconds(0.0, 0)?;
    values.insert("min".to_owned(), milliseconds(shortest).into());
    values.insert("max".to_owned(), milliseconds(times.longest_seconds()).into());
    for (name, share, fewest) in QUANTILES {
        if let Some(time) = times.quantile_seconds(share, beyond)
            && times.count() + beyond >= fewest
        {
            values.insert(name.to_owned(), milliseconds(time).into());
        }
    }
    Some(values.into())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::import::{ImportOptions, load_bytes};
    use crate::samples::{Better, Counts};
    use crate::{Metric, Observation, Unit};

    /// Returns two slices of 2 s with 1,000 requests each: 990 take 1 ms to 990 ms, 10 fail.
    fn samples() -> Samples {
        let rate = |name| Metric { better: Better::Higher, ..Metric::lower(name, Unit::PerSecond) };
        let mut samples = Samples::new(vec![rate("rate_achieved"), rate("received")]);
        let subject = samples.add_subject("a");
        for block in 0..2 {
            let mut times = Histogram::default();
            (1..=990).for_each(|ms| times.record(ms * 1_000_000));
            let (of, v2) = ("latency".to_owned(), times.encoded());
            samples.histograms.push(Buckets { subject, block, of, v2, ..Buckets::default() });
            let counts = [("answered", 990), ("failed", 10), ("delivered", 990), ("due", 1000)];
            let counts = counts.map(|(name, count)| (name.to_owned(), count)).into();
            samples.counts.push(Counts { subject, block, counts, ..Counts::default() });
            let (block, values) = (Some(block), vec![495.0, 49_500.0]);
            samples.push(Observation { subject, block, values, ..Observation::default() });
        }
        samples
    }

    fn written(samples: &Samples) -> Vec<u8> {
        let mut bytes = Vec::new();
        k6(samples, &mut bytes).unwrap();
        bytes
    }

    #[test]
    fn the_importer_of_k6_reads_what_was_measured() {
        let options = ImportOptions::default();
        let read = load_bytes(written(&samples()), "a.json", &options).unwrap();
        let value = |name: &str| {
            let metric = read.metric_index(name).unwrap_or_else(|| unreachable!("{name}"));
            read.values(0, metric)[0]
        };
        let times = [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99)];
        let mut truth = Histogram::default();
        (1..=990).for_each(|ms| truth.record(ms * 1_000_000));
        for (name, share) in times {
            let found = value(&format!("latency_{name}"));
            assert_eq!(Some(found), truth.quantile_seconds(share, 10), "{name}");
        }
        // One request in a hundred was never answered, so this quantile is unknown.
        assert_eq!(read.metric_index("latency_p99_9"), None);
        assert_eq!((value("requests"), value("failed"), value("answered")), (2000.0, 20.0, 0.99));
        assert!((value("rate_achieved") - 495.0).abs() < 1e-9);
        assert!((value("received") - 49_500.0).abs() < 1e-9);
        assert_eq!(value("latency_max"), truth.longest_seconds());
    }

    #[test]
    fn the_layout_is_that_of_k6() {
        let known = include_bytes!("../../tests/formats/k6/k6.json");
        let known: Value = serde_json::from_slice(known).unwrap();
        let own: Value = serde_json::from_slice(&written(&samples())).unwrap();
        assert_eq!(own["root_group"], known["root_group"]);
        let duration = own["metrics"]["http_req_duration"].as_object().unwrap();
        for key in known["metrics"]["http_req_duration"].as_object().unwrap().keys() {
            assert!(duration.contains_key(key), "{key}");
        }
        for (name, values) in own["metrics"].as_object().unwrap() {
            let known = known["metrics"].get(name);
            let known = known.unwrap_or_else(|| unreachable!("k6 has no {name}"));
            let lacks = known.as_object().unwrap().keys().find(|key| values.get(*key).is_none());
            assert_eq!(lacks, None, "{name}");
        }
    }

    #[test]
    fn several_servers_are_told_how_to_choose_one() {
        let mut two = samples();
        two.add_subject("b");
        let told = k6(&two, &mut Vec::new()).unwrap_err().to_string();
        assert!(told.contains("--filter"), "{told}");
        assert!(k6(&Samples::new(vec![Metric::wall()]), &mut Vec::new()).is_err());
    }
}
