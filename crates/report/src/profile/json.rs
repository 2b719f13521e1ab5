//! A profile as JSON, for programs; the fields are told in `docs/reference/profiles.md`. Numbers are in base units, what is not known
//! is `null`.

use super::screen::shown;
use super::{Measured, ProfileReport};
use crate::json::VERSION;
use assay_analysis::Interval;
use assay_data::Finding;
use assay_profiles::difference::Difference;
use assay_profiles::shares::Basis;
use serde_json::{Value, json};

/// One profile.
pub fn render(report: &ProfileReport<'_>) -> Value {
    let (profile, shares) = (report.profile, report.shares);
    let functions: Vec<Value> = shown(report)
        .iter()
        .map(|f| {
            json!({
                "name": f.function.name, "file": f.function.file,
                "flat": f.flat, "flat_interval": interval(f.flat_interval),
                "cum": f.cum, "cum_interval": interval(f.cum_interval),
                "flat_amount": f.function.flat_amount, "cum_amount": f.function.cum_amount,
                "flat_samples": f.function.flat_samples, "cum_samples": f.function.cum_samples,
            })
        })
        .collect();
    let measured = |value: Measured| {
        let interval = value.interval.map(|(lower, upper)| [lower, upper]);
        json!({"estimate": value.estimate, "interval": interval})
    };
    let cost: Vec<Value> = report
        .overhead
        .iter()
        .flat_map(|found| found.whole.iter().map(|(metric, ratio)| (metric, ratio, found.blocks)))
        .map(|(metric, ratio, blocks)| {
            json!({
                "metric": metric, "ratio": ratio.estimate, "blocks": blocks,
                "interval": ratio.interval.map(|(lower, upper)| [lower, upper]),
            })
        })
        .collect();
    let parts = report.overhead.map(|found| {
        json!({
            "start_and_end": found.start_and_end.map(measured),
            "sample": found.sample.map(measured),
            "samples_a_run": found.samples,
        })
    });
    json!({
        "assay": VERSION,
        "profile": profile.name,
        "tool": profile.tool,
        "measure": shares.measure,
        "unit": shares.unit.symbol(),
        "samples": shares.samples,
        "amount": shares.amount,
        "runs": match shares.basis { Basis::Runs(runs) => runs, _ => 1 },
        "asked_hz": profile.asked_hz,
        "delivered_hz": profile.delivered_hz,
        "missed": profile.missed,
        "seconds": profile.seconds,
        "confidence": shares.confidence,
        "intervals": match shares.basis { Basis::Samples => "samples", Basis::Runs(_) => "runs", Basis::None => "none" },
        "garbage_collection": shares.collection.map(|(share, own)| json!({"share": share, "interval": interval(own)})),
        "overhead": cost,
        "overhead_parts": parts,
        "functions": functions,
        "findings": report.findings,
    })
}

/// The difference of two profiles taken apart.
pub fn difference(found: &Difference, findings: &[Finding]) -> Value {
    let rows: Vec<Value> = found
        .rows
        .iter()
        .map(|row| {
            json!({
                "name": row.name, "file": row.file, "change": row.change.word(),
                "shares": row.shares, "amounts": row.amounts, "difference": row.difference,
                "interval": interval(row.interval), "p_adjusted": row.p,
            })
        })
        .collect();
    json!({
        "assay": VERSION,
        "profiles": found.names,
        "design": "unpaired",
        "samples": found.samples,
        "amounts": found.amounts,
        "unit": found.unit.symbol(),
        "confidence": found.confidence,
        "functions": rows,
        "findings": findings,
    })
}

fn interval(interval: Option<Interval>) -> Value {
    json!(interval.map(|interval| [interval.lower, interval.upper]))
}
