//! pprof's protocol buffers (profile.proto), unpacked: Go, google-pprof, rbspy and many others write them.
//!
//! Of several values of a sample, the count of samples and one amount are read: the one that the file says is meant, else the last,
//! as pprof does. Field numbers are those of the format's definition.

use super::Problem;
use crate::builder::Builder;
use crate::model::{Frame, Profile};
use crate::wire::{Field, Fields};
use assay_data::Unit;
use std::collections::HashMap;

const NANO: f64 = 1e-9;

/// The message, its texts still by number.
#[derive(Default)]
struct Raw<'a> {
    texts: Vec<&'a [u8]>,
    types: Vec<(u64, u64)>,
    samples: Vec<&'a [u8]>,
    mappings: HashMap<u64, u64>,
    locations: Vec<Location>,
    functions: HashMap<u64, (u64, u64)>,
    duration: u64,
    period_type: (u64, u64),
    period: u64,
    meant: u64,
}

#[derive(Default)]
struct Location {
    id: u64,
    mapping: u64,
    address: u64,
    /// Function and line, the innermost of inlined ones first.
    lines: Vec<(u64, u64)>,
}

pub(super) fn parse(bytes: &[u8]) -> Result<Profile, Problem> {
    let raw = read(bytes)?;
    let text = |index: u64| -> String {
        let found = usize::try_from(index).ok().and_then(|index| raw.texts.get(index));
        found.map_or_else(String::new, |bytes| String::from_utf8_lossy(bytes).into_owned())
    };
    if raw.types.is_empty() {
        return Err(Problem::new(
            "these bytes are no profile of pprof's: they name no type of value",
        ));
    }
    let named: Vec<(String, String)> = raw.types.iter().map(|&(t, u)| (text(t), text(u))).collect();
    let count = named.iter().position(|(kind, unit)| unit == "count" && is_count(kind));
    let meant = (raw.meant != 0).then(|| text(raw.meant));
    let amount = meant.and_then(|meant| named.iter().position(|(kind, _)| *kind == meant));
    let amount = amount.unwrap_or(named.len() - 1);
    let (kind, unit) = &named[amount];
    let (base, scale) = unit_of(unit);
    let period_seconds = match unit_of(&text(raw.period_type.1)) {
        (Unit::Second, scale) if raw.period > 0 => Some(raw.period as f64 * scale),
        _ => None,
    };
    // A profile that only counts samples of a clock is times all the same.
    let by_period = (count == Some(amount)).then_some(period_seconds).flatten();
    let mut builder = Builder::default();
    let about = &mut builder.profile;
    about.tool = Some("pprof".to_owned());
    about.measure = if by_period.is_some() { text(raw.period_type.0) } else { kind.clone() };
    about.unit = if by_period.is_some() { Unit::Second } else { base };
    about.asked_hz = period_seconds.map(|period| 1.0 / period);
    about.seconds = (raw.duration > 0).then_some(raw.duration as f64 * NANO);
    let stacks = frames(&mut builder, &raw, &text);
    for bytes in &raw.samples {
        let (mut locations, mut values, mut labels) = (Vec::new(), Vec::new(), Vec::new());
        for field in Fields::of(bytes) {
            match field.map_err(broken)? {
                (1, field) => locations.extend(field.numbers()),
                (2, field) => values.extend(field.numbers()),
                (3, field) => labels.extend(label(field.bytes(), &text)?),
                _ => {}
            }
        }
        let value = |index: usize| values.get(index).map_or(0, |&value| (value as i64).max(0));
        // Without a count of its own, a sample was hit once.
        let samples = count.map_or(1, |index| value(index) as u64);
        let amount = match by_period {
            Some(period) => samples as f64 * period,
            None => value(amount) as f64 * scale,
        };
        // The innermost frame stands first there.
        let inwards = locations.iter().rev().filter_map(|id| stacks.get(id));
        let frames = inwards.flat_map(|own| own.iter().rev().copied()).collect();
        builder.add(frames, labels, samples, amount);
    }
    Ok(builder.build())
}

/// Whether a count counts samples, and not objects that the samples stand for.
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

fn broken(left: usize) -> Problem {
    Problem::new(format!(
        "these bytes are no profile of pprof's, or damaged: a message breaks off {left} bytes before its end"
    ))
}

fn read(bytes: &[u8]) -> Result<Raw<'_>, Problem> {
    let mut raw = Raw::default();
    for field in Fields::of(bytes) {
        match field.map_err(broken)? {
            (1, field) => raw.types.push(value_type(field)?),
            (2, field) => raw.samples.push(field.bytes()),
            (3, field) => {
                let (mut id, mut name) = (0, 0);
                for field in Fields::of(field.bytes()) {
                    match field.map_err(broken)? {
                        (1, field) => id = field.number(),
                        (5, field) => name = field.number(),
                        _ => {}
                    }
                }
                raw.mappings.insert(id, name);
            }
            (4, field) => raw.locations.push(location(field)?),
            (5, field) => {
                let (mut id, mut name, mut file) = (0, 0, 0);
                for field in Fields::of(field.bytes()) {
                    match field.map_err(broken)? {
                        (1, field) => id = field.number(),
                        (2, field) => name = field.number(),
                        (4, field) => file = field.number(),
                        _ => {}
                    }
                }
                raw.functions.insert(id, (name, file));
            }
            (6, field) => raw.texts.push(field.bytes()),
            (10, field) => raw.duration = field.number(),
            (11, field) => raw.period_type = value_type(field)?,
            (12, field) => raw.period = field.number(),
            (14, field) => raw.meant = field.number(),
            _ => {}
        }
    }
    Ok(raw)
}

fn value_type(field: Field<'_>) -> Result<(u64, u64), Problem> {
    let (mut kind, mut unit) = (0, 0);
    for field in Fields::of(field.bytes()) {
        match field.map_err(broken)? {
            (1, field) => kind = field.number(),
            (2, field) => unit = field.number(),
            _ => {}
        }
    }
    Ok((kind, unit))
}

fn location(field: Field<'_>) -> Result<Location, Problem> {
    let mut found = Location::default();
    for field in Fields::of(field.bytes()) {
        match field.map_err(broken)? {
            (1, field) => found.id = field.number(),
            (2, field) => found.mapping = field.number(),
            (3, field) => found.address = field.number(),
            (4, field) => {
                let (mut function, mut line) = (0, 0);
                for field in Fields::of(field.bytes()) {
                    match field.map_err(broken)? {
                        (1, field) => function = field.number(),
                        (2, field) => line = field.number(),
                        _ => {}
                    }
                }
                found.lines.push((function, line));
            }
            _ => {}
        }
    }
    Ok(found)
}

fn label(bytes: &[u8], text: &impl Fn(u64) -> String) -> Result<Option<(String, String)>, Problem> {
    let (mut key, mut word, mut number) = (0, 0, 0);
    for field in Fields::of(bytes) {
        match field.map_err(broken)? {
            (1, field) => key = field.number(),
            (2, field) => word = field.number(),
            (3, field) => number = field.number(),
            _ => {}
        }
    }
    let value = if word == 0 { number.to_string() } else { text(word) };
    Ok(Some((text(key), value)).filter(|(key, _)| !key.is_empty()))
}

/// The frames of every location, the innermost first.
fn frames(
    builder: &mut Builder,
    raw: &Raw<'_>,
    text: &impl Fn(u64) -> String,
) -> HashMap<u64, Vec<u32>> {
    let some = |text: String| (!text.is_empty()).then_some(text);
    let mut all = HashMap::new();
    for location in &raw.locations {
        let mut own = Vec::new();
        for &(function, line) in &location.lines {
            let (name, file) = raw.functions.get(&function).copied().unwrap_or_default();
            let name = some(text(name)).unwrap_or_else(|| "(unknown)".to_owned());
            let line = u32::try_from(line).ok().filter(|&line| line > 0);
            own.push(builder.frame(Frame { name, file: some(text(file)), line }));
        }
        if own.is_empty() {
            let file = raw.mappings.get(&location.mapping).and_then(|&file| some(text(file)));
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
