//! Writes the object `context` of a file in Google Benchmark's layout: facts about the machine and
//! the library, under the library's names where it has them.
//!
//! Facts that were read from such a file return to their original place. Facts of other tools
//! appear under our names, as if the author of the benchmark had added them. One additional key
//! records facts about the counters that the layout cannot represent: their metrics and units, and
//! that they are not totals.

use crate::samples::ITERATIONS;
use crate::{Metric, Samples, Unit};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Key of an object that gives the metric of each counter, by the counter's name.
pub(crate) const COUNTERS: &str = "assay.counters";

/// Facts that appear in the context under our own names.
pub(crate) const OF_MACHINE: [&str; 6] =
    ["os", "arch", "architecture", "kernel", "cpu_model", "pkg"];

/// Metrics that have their own field in every row and are therefore not counters.
pub(crate) const FIELDS: [&str; 3] = ["wall", "cpu", ITERATIONS];

/// Prefix of the names of facts that were read from one of Google Benchmark's files.
const OWN: &str = "google_benchmark.";
/// Facts with the prefix [`OWN`] that are written elsewhere in the file, or not at all.
const ELSEWHERE: [&str; 2] = ["labels", "complexity"];

pub(super) struct Context<'a> {
    pub samples: &'a Samples,
}

impl Serialize for Context<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let (samples, facts) = (self.samples, &self.samples.environment.facts);
        let mut context: Map<String, Value> = Map::new();
        if let Some(date) = &samples.started {
            context.insert("date".to_owned(), date.as_str().into());
        }
        for (ours, theirs) in [("hostname", "host_name"), ("cpus_online", "num_cpus")] {
            if let Some(value) = facts.get(ours) {
                context.insert(theirs.to_owned(), value.clone());
            }
        }
        if let Some(mhz) = facts.get("cpu_mhz") {
            context.insert("mhz_per_cpu".to_owned(), mhz.clone());
        }
        if let Some(load) = facts.get("load_1m") {
            context.insert("load_avg".to_owned(), vec![load.clone()].into());
        }
        let tool = samples.tool.as_deref().unwrap_or("assay");
        // If the samples come from the library itself, the program's name is among the facts if it
        // is known.
        if !tool.starts_with("Google Benchmark") {
            context.insert("executable".to_owned(), tool.into());
        }
        if let Some(version) = tool.strip_prefix("Google Benchmark ") {
            context.insert("library_version".to_owned(), format!("v{version}").into());
        }
        for (name, value) in facts {
            let own = name.strip_prefix(OWN).filter(|own| !ELSEWHERE.contains(own));
            let machine = Some(name.as_str()).filter(|name| OF_MACHINE.contains(name));
            if let Some(name) = own.or(machine) {
                context.insert(name.to_owned(), value.clone());
            }
        }
        let metrics: BTreeMap<_, _> = counters(samples).collect();
        let mut map = to.serialize_map(None)?;
        for (name, value) in &context {
            map.serialize_entry(name, value)?;
        }
        map.serialize_entry(COUNTERS, &metrics)?;
        map.end()
    }
}

/// Returns the metrics that are written as counters, each with the name of its counter.
pub(super) fn counters(samples: &Samples) -> impl Iterator<Item = (&str, &Metric)> {
    let others = samples.metrics.iter().filter(|metric| !FIELDS.contains(&metric.name.as_str()));
    others.map(|metric| (counter(metric), metric))
}

/// Returns the name of a counter; the metric `rate` gets the name that Google Benchmark uses for
/// rates.
fn counter(metric: &Metric) -> &str {
    match (metric.name.as_str(), &metric.unit) {
        ("rate", Unit::PerSecond) => "items_per_second",
        (name, _) => name,
    }
}
