//! speedscope's JSON: one sampled profile per thread. The stacks are written one after the other,
//! since their order in time is unknown.

use super::entries;
use crate::model::Profile;
use assay_data::Unit;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

pub(super) fn write(profile: &Profile) -> Value {
    let frames: Vec<Value> = profile
        .frames
        .iter()
        .map(|frame| {
            let mut value = Map::new();
            value.insert("name".to_owned(), json!(frame.name));
            if let Some(file) = &frame.file {
                value.insert("file".to_owned(), json!(file));
            }
            if let Some(line) = frame.line {
                value.insert("line".to_owned(), json!(line));
            }
            Value::Object(value)
        })
        .collect();
    let unit = match profile.unit {
        Unit::Second => "seconds",
        Unit::Byte => "bytes",
        _ => "none",
    };
    let mut threads: BTreeMap<&str, Vec<&crate::Stack>> = BTreeMap::new();
    for stack in &profile.stacks {
        let thread = stack.labels.iter().find(|(key, _)| key == "thread");
        threads.entry(thread.map_or("", |(_, name)| name)).or_default().push(stack);
    }
    let entries = entries(profile);
    let profiles: Vec<Value> = threads
        .into_iter()
        .map(|(thread, stacks)| {
            let (mut samples, mut weights) = (Vec::new(), Vec::new());
            let mut end = 0.0;
            for stack in stacks {
                // If the unit is unknown, the weight is the count.
                let (count, weight) = match unit {
                    "none" => (1, stack.amount),
                    _ => entries(stack),
                };
                for _ in 0..count {
                    samples.push(json!(stack.frames));
                    weights.push(json!(weight));
                }
                end += stack.amount;
            }
            let name = if thread.is_empty() { &profile.name } else { thread };
            json!({
                "type": "sampled", "name": name, "unit": unit,
                "startValue": 0, "endValue": end, "samples": samples, "weights": weights,
            })
        })
        .collect();
    json!({
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "exporter": concat!("assay ", env!("CARGO_PKG_VERSION")),
        "name": profile.name,
        "activeProfileIndex": 0,
        "shared": {"frames": frames},
        "profiles": profiles,
    })
}
