//! pprof's protocol buffers (profile.proto), decompressed: written by Go, google-pprof, rbspy and
//! many others.
//!
//! If a sample has several values, the number of samples and one amount are read: the one that the
//! file declares as default, or else the last, as pprof does.

use super::Problem;
use crate::builder::Builder;
use crate::model::{Frame, Profile};
use crate::proto;
use assay_data::Unit;
use prost::Message;
use std::collections::HashMap;

const NANO: f64 = 1e-9;

pub(super) fn parse(bytes: &[u8]) -> Result<Profile, Problem> {
    let raw = proto::Profile::decode(bytes).map_err(|error| {
        Problem::new(format!("these bytes are no profile of pprof's, or damaged: {error}"))
    })?;
    let text = |index: i64| -> String {
        let found = usize::try_from(index).ok().and_then(|index| raw.string_table.get(index));
        found.map_or_else(String::new, |bytes| String::from_utf8_lossy(bytes).into_owned())
    };
    if raw.sample_type.is_empty() {
        return Err(Problem::new(
            "these bytes are no profile of pprof's: they name no type of value",
        ));
    }
    let named: Vec<(String, String)> =
        raw.sample_type.iter().map(|own| (text(own.kind), text(own.unit))).collect();
    let count = named.iter().position(|(kind, unit)| unit == "count" && is_count(kind));
    let meant = (raw.default_sample_type != 0).then(|| text(raw.default_sample_type));
    let amount = meant.and_then(|meant| named.iter().position(|(kind, _)| *kind == meant));
    let amount = amount.unwrap_or(named.len() - 1);
    let (kind, unit) = &named[amount];
    let (base, scale) = unit_of(unit);
    let period_type = raw.period_type.unwrap_or_default();
    let period_seconds = match unit_of(&text(period_type.unit)) {
        (Unit::Second, scale) if raw.period > 0 => Some(raw.period as f64 * scale),
        _ => None,
    };
    // A profile that only counts samples of a clock still measures time.
    let by_period = (count == Some(amount)).then_some(period_seconds).flatten();
    let mut builder = Builder::default();
    let about = &mut builder.profile;
    about.tool = Some("pprof".to_owned());
    about.measure = if by_period.is_some() { text(period_type.kind) } else { kind.clone() };
    about.unit = if by_period.is_some() { Unit::Second } else { base };
    about.asked_hz = period_seconds.map(|period| 1.0 / period);
    about.seconds = (raw.duration_nanos > 0).then_some(raw.duration_nanos as f64 * NANO);
    let stacks = frames(&mut builder, &raw, &text);
    for sample in &raw.sample {
        let value = |index: usize| sample.value.get(index).map_or(0, |&value| value.max(0));
        // Without a count, each entry stands for one sample.
        let samples = count.map_or(1, |index| value(index) as u64);
        let amount = match by_period {
            Some(period) => samples as f64 * period,
            None => value(amount) as f64 * scale,
        };
        // In pprof the innermost frame comes first.
        let inwards = sample.location_id.iter().rev().filter_map(|id| stacks.get(id));
        let frames = inwards.flat_map(|own| own.iter().rev().copied()).collect();
        let labels = sample.label.iter().filter_map(|own| label(own, &text)).collect();
        builder.add(frames, labels, samples, amount);
    }
    Ok(builder.build())
}

/// Returns true if a value counts samples, rather than the objects that they represent.
fn is_count(kind: &str) -> bool {
    matches!(kind, "samples" | "sample" | "contentions" | "events" | "count")
}

fn unit_of(unit: &str) -> (Unit, f64) {
    match unit {
        "nanoseconds" | "ns" => (Unit::Second, 1e-9),
        "microseconds" | "us" => (Unit::Second, 1e-6),
        "milliseconds" | "ms" => (Unit::Second, 1e-3),
        "seconds" | "s" => (Unit::Second, 1.0),
        "bytes" | "byte" => (Unit::Byte, 1.0),
        _ => (Unit::One, 1.0),
    }
}

fn label(own: &proto::Label, text: &impl Fn(i64) -> String) -> Option<(String, String)> {
    let value = if own.text == 0 { own.number.to_string() } else { text(own.text) };
    Some((text(own.key), value)).filter(|(key, _)| !key.is_empty())
}

/// Returns the frames of each location, innermost first.
fn frames(
    builder: &mut Builder,
    raw: &proto::Profile,
    text: &impl Fn(i64) -> String,
) -> HashMap<u64, Vec<u32>> {
    let some = |text: String| (!text.is_empty()).then_some(text);
    let functions: HashMap<u64, &proto::Function> =
        raw.function.iter().map(|own| (own.id, own)).collect();
    let mappings: HashMap<u64, i64> =
        raw.mapping.iter().map(|own| (own.id, own.filename)).collect();
    let mut all = HashMap::new();
    for location in &raw.location {
        let mut own = Vec::new();
        for line in &location.line {
            let (name, file) =
                functions.get(&line.function_id).map_or((0, 0), |own| (own.name, own.filename));
            let name = some(text(name)).unwrap_or_else(|| "(unknown)".to_owned());
            let line = u32::try_from(line.line).ok().filter(|&line| line > 0);
            own.push(builder.frame(Frame { name, file: some(text(file)), line }));
        }
        if own.is_empty() {
            let file = mappings.get(&location.mapping_id).and_then(|&file| some(text(file)));
            let name = match &file {
                Some(file) => format!("[{}]", file.rsplit('/').next().unwrap_or(file)),
                None => format!("{:#x}", location.address),
            };
            own.push(builder.frame(Frame { name, file, line: None }));
        }
        all.insert(location.id, own);
    }
    all
}
