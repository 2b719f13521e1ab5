//! A suite as one JSON object, for programs. Its fields stand in `docs/reference/json.md`.
//!
//! Rows have the keys of a comparison of two subjects, with the benchmark's own before them, so that whoever reads the one reads the
//! other.

use super::words;
use crate::json::{self, Meta, Named};
use crate::json_values::{list, number};
use assay_analysis::benchmarks::{Benchmarks, MetricOnlyOn, OnlyOn, Row, Table};
use assay_analysis::{Basis, Interval};
use serde_json::{Map, Value, json};

/// The suite as one JSON object.
pub fn render(suite: &Benchmarks, meta: &Meta) -> Value {
    let mut top = Map::new();
    let mut put = |key: &str, value: Value| {
        top.insert(key.to_owned(), value);
    };
    put("assay", json!(json::VERSION));
    put("design", json!(json::design(suite.design)));
    put("confidence", number(suite.plan.confidence));
    put("threshold", json::threshold(&suite.plan.threshold));
    put("adjust", json!(suite.adjust.word()));
    put("primary", json!(suite.metrics[suite.primary].name));
    put("reference", json!(suite.sides[0]));
    put("sides", json!(suite.sides));
    put("tables", list(&suite.tables, |table| summary(suite, table)));
    let rows = suite.tables.iter().flat_map(|table| table.rows.iter().map(move |r| (table, r)));
    put("benchmarks", rows.map(|(table, r)| row(suite, table, r)).collect());
    put("only", list(&suite.only, |only| one_side(suite, only)));
    put("only_metrics", list(&suite.only_metrics, |only| metric_of_one_side(suite, only)));
    put("findings", json!(suite.findings));
    put("environment", Value::Object(suite.environment.facts.clone()));
    put("started", json!(suite.started));
    put("tool", json!(meta.tool));
    put("argv", json!(meta.argv));
    put("file", json!(meta.file));
    Value::Object(top)
}

/// What the rows of one metric on one side come to.
fn summary(suite: &Benchmarks, table: &Table) -> Value {
    let counts = table.counts();
    let ends = |i: Interval| json!({"lower": number(i.lower), "upper": number(i.upper)});
    let mean = table.mean.as_ref();
    json!({
        "metric": suite.metrics[table.metric].name,
        "of": suite.sides[table.side],
        "against": suite.sides[0],
        "sentence": words::headline(suite, table),
        "compared": table.rows.len(),
        "faster": counts.faster,
        "slower": counts.slower,
        "equivalent": counts.equivalent,
        "inconclusive": counts.inconclusive,
        "geometric_mean": mean.map_or(Value::Null, |m| number(m.estimate)),
        "interval_of_these": mean.and_then(|m| m.of_these).map(ends),
        "interval_of_such": mean.and_then(|m| m.of_such).map(ends),
        "benchmarks": mean.map(|m| m.benchmarks),
    })
}

fn row(suite: &Benchmarks, table: &Table, row: &Row) -> Value {
    let benchmark = &suite.benchmarks[row.benchmark];
    let metric = &suite.metrics[table.metric];
    let mut fields = Map::new();
    let parameters: Map<String, Value> =
        benchmark.parameters.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    fields.insert("benchmark".to_owned(), json!(benchmark.name));
    fields.insert("label".to_owned(), json!(benchmark.label));
    fields.insert("parameters".to_owned(), Value::Object(parameters));
    let effect = words::effect(suite, row, true);
    let gap = if effect.is_empty() { "" } else { " " };
    let named = Named {
        metric,
        of: &suite.sides[table.side],
        against: &suite.sides[0],
        sentence: format!("{}: {effect}{gap}{}", benchmark.name, words::verdict(suite, row)),
        plan: &suite.plan,
    };
    if let Value::Object(compared) = json::comparison_of(&named, &row.comparison) {
        fields.extend(compared);
    }
    let unit = match &row.comparison.basis {
        Basis::Units(unit) => Some(unit.as_str()),
        Basis::Values | Basis::Summary => None,
    };
    fields.insert("units".to_owned(), json!(unit));
    fields.insert("reason".to_owned(), json!(words::reason(row)));
    Value::Object(fields)
}

fn one_side(suite: &Benchmarks, only: &OnlyOn) -> Value {
    json!({
        "side": suite.sides[only.side],
        "not_on": suite.sides[only.not_on],
        "benchmarks": names(suite, &only.benchmarks),
    })
}

fn metric_of_one_side(suite: &Benchmarks, only: &MetricOnlyOn) -> Value {
    json!({
        "metric": suite.metrics[only.metric].name,
        "side": suite.sides[only.side],
        "not_on": suite.sides[only.not_on],
        "benchmarks": names(suite, &only.benchmarks),
    })
}

fn names<'a>(suite: &'a Benchmarks, benchmarks: &[usize]) -> Vec<&'a str> {
    benchmarks.iter().map(|&b| suite.benchmarks[b].name.as_str()).collect()
}
