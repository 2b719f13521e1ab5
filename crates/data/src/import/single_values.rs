//! JSON of services that store one value per benchmark: github-action-benchmark's `[{"name",
//! "unit", "value"}]`, and Bencher's metric format, `{"benchmark": {"measure": {"value": …}}}`.
//!
//! A value is an observation. Bounds and ranges are not read, because they are free text or limits
//! chosen by the user. Neither format states the direction: higher is better for units per second
//! and for Bencher's `throughput`, and lower is better for everything else.

use super::http_load::k6;
use super::json::Number;
use super::number::Conversion;
use super::recorder::Recorder;
use super::{Context, Head, ImportError, Part, json};
use crate::input::Input;
use crate::samples::{Better, Metric, Outcome};
use crate::unit::Unit;
use serde::Deserialize;
use std::collections::BTreeMap;

const EXPECTED_ENTRIES: &str =
    "github-action-benchmark's entries: `[{\"name\": …, \"unit\": …, \"value\": …}, …]`";
const EXPECTED_BMF: &str = "Bencher's metrics: `{\"benchmark\": {\"latency\": {\"value\": …}}}`";

/// Recognizes a list of plain objects with the keys `name`, `unit` and `value`.
pub(super) fn recognise_entries(head: &Head<'_>) -> bool {
    let Some(list) = head.text.trim_start().strip_prefix('[') else { return false };
    let Some(first) = list.trim_start().strip_prefix('{') else { return false };
    let Some((first, _)) = first.split_once('}') else { return false };
    !first.contains(['{', '['])
        && ["\"name\"", "\"unit\"", "\"value\""].iter().all(|key| first.contains(key))
}

/// Recognizes objects nested three deep, the innermost of which begins with a value or its bounds.
/// k6's summaries also have this form, and are excluded.
pub(super) fn recognise_bmf(head: &Head<'_>) -> bool {
    if k6::recognise_json(head) {
        return false;
    }
    let mut rest = head.text.trim_start();
    for _ in 0..2 {
        let Some(behind) = rest.strip_prefix('{').and_then(|rest| key(rest.trim_start())) else {
            return false;
        };
        rest = behind.1;
    }
    let inner = rest.strip_prefix('{').and_then(|rest| key(rest.trim_start()));
    inner.is_some_and(|(key, value)| {
        ["value", "lower_value", "upper_value"].contains(&key)
            && !value.starts_with(['{', '[', '"'])
    })
}

/// Splits off a key, and returns it with the text after its colon.
fn key(text: &str) -> Option<(&str, &str)> {
    let text = text.strip_prefix('"')?;
    let mut escaped = false;
    let end = text.find(|c| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    })?;
    let behind = text[end + 1..].trim_start().strip_prefix(':')?;
    Some((&text[..end], behind.trim_start()))
}

#[derive(Deserialize)]
struct Entry {
    name: String,
    unit: String,
    value: Number,
}

/// The metric that a unit denotes, and the conversion of its numbers to the base unit.
pub(super) struct UnitMetric {
    pub(super) metric: Metric,
    pub(super) conversion: Conversion,
}

/// Interprets a unit written by a person or a tool: times, memory, and runs per second. Any other
/// unit becomes the name of a metric.
pub(super) fn rated(unit: &str) -> UnitMetric {
    if let Some(conversion) = Conversion::of_rate(unit) {
        return UnitMetric { metric: Metric::of_unit("rate", Unit::PerSecond), conversion };
    }
    let symbol = unit.strip_suffix("/iter").or_else(|| unit.strip_suffix("/op")).unwrap_or(unit);
    let conversion = Conversion::from_symbol(Some(symbol));
    let name = match &conversion.unit {
        Unit::Second => "wall",
        Unit::Byte => "bytes",
        _ => unit,
    };
    let metric = match &conversion.unit {
        // The metric has the name of the unknown unit, but its own unit omits `/iter`.
        Unit::Other(_) => {
            Metric::of_unit(name, Unit::from(unit.to_owned())).in_unit(&conversion.unit)
        }
        known => Metric::of_unit(name, known.clone()),
    };
    UnitMetric { metric, conversion }
}

pub(super) fn read_entries(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    let mut recorder = Recorder::new(context, "github-action-benchmark");
    let entries = json::each(|entry: Entry| {
        let UnitMetric { metric, conversion } = rated(&entry.unit);
        let metric = recorder.metric(&metric)?;
        let benchmark = recorder.benchmark(&entry.name, None, &[]);
        let value = conversion.to_base(entry.value.0);
        recorder.observe(benchmark, &[], Outcome::Ok, &[(metric, value)])
    });
    json::read(input, EXPECTED_ENTRIES, entries)?;
    recorder.finish("a list without entries")
}

#[derive(Deserialize)]
struct Measure {
    value: Number,
}

pub(super) fn read_bmf(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    let mut recorder = Recorder::new(context, "Bencher");
    let benchmarks = json::each_member(|benchmark: String, measures: BTreeMap<String, Measure>| {
        take(&mut recorder, &benchmark, &measures)
    });
    json::read(input, EXPECTED_BMF, benchmarks)?;
    recorder.finish("benchmarks without a measure")
}

/// Records the measures of a benchmark. Bencher's own measures are in nanoseconds, operations per
/// second and bytes. The file does not state the units of others.
fn take(
    recorder: &mut Recorder<'_>,
    benchmark: &str,
    measures: &BTreeMap<String, Measure>,
) -> Result<(), String> {
    let benchmark = recorder.benchmark(benchmark, None, &[]);
    let mut values = Vec::with_capacity(measures.len());
    for (measure, told) in measures {
        let (metric, value) = match measure.as_str() {
            "latency" => (Metric::wall(), told.value.0 / 1e9),
            "throughput" => {
                let rate = Metric::lower("rate", Unit::PerSecond);
                (Metric { better: Better::Higher, ..rate }, told.value.0)
            }
            "file-size" => (Metric::lower(measure, Unit::Byte), told.value.0),
            _ => (Metric::of_name(measure), told.value.0),
        };
        values.push((recorder.metric(&metric)?, value));
    }
    recorder.observe(benchmark, &[], Outcome::Ok, &values)
}
