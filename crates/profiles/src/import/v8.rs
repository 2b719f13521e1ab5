//! V8's CPU profile (`node --cpu-prof`, `.cpuprofile` of Chrome's developer tools): a tree of nodes,
//! and for each sample the innermost node and the time since the sample before it, in microseconds.
//!
//! A sample represents the wall time until the next one. Samples of `(idle)` are left out.

use super::{Problem, list, some, text};
use crate::builder::{Builder, delivered_hz};
use crate::model::{Frame, Profile};
use assay_data::Unit;
use serde_json::Value;
use std::collections::HashMap;

const MICRO: f64 = 1e-6;

pub(super) fn is_it(value: &Value) -> bool {
    value.get("nodes").is_some_and(Value::is_array)
        && value.get("startTime").is_some()
        && value.get("endTime").is_some()
}

/// A node of the tree: its parent, and its frame; `None` for the root.
#[derive(Default)]
struct Node {
    parent: Option<u64>,
    frame: Option<u32>,
    is_idle: bool,
}

pub(super) fn parse(value: &Value) -> Result<Profile, Problem> {
    let number = |value: &Value, field: &str| value.get(field).and_then(Value::as_f64);
    let mut builder = Builder::default();
    builder.profile.tool = Some("V8".to_owned());
    builder.profile.measure = "wall".to_owned();
    builder.profile.unit = Unit::Second;
    let mut nodes: HashMap<u64, Node> = HashMap::new();
    for (index, found) in list(value, "nodes").iter().enumerate() {
        let Some(id) = found.get("id").and_then(Value::as_u64) else {
            return Err(Problem::new(format!("node {index} has no id")));
        };
        let call = found.get("callFrame").unwrap_or(&Value::Null);
        let name = text(call, "functionName");
        let own = nodes.entry(id).or_default();
        own.is_idle = name == "(idle)";
        own.frame = (name != "(root)").then(|| builder.frame(frame(call, name)));
        // Depending on the version, either the node names its parent or the parent its children.
        if let Some(parent) = found.get("parent").and_then(Value::as_u64) {
            own.parent = Some(parent);
        }
        for child in list(found, "children").iter().filter_map(Value::as_u64) {
            nodes.entry(child).or_default().parent = Some(id);
        }
    }
    let samples: Vec<u64> = list(value, "samples").iter().filter_map(Value::as_u64).collect();
    let mut deltas: Vec<f64> =
        list(value, "timeDeltas").iter().filter_map(Value::as_f64).map(|own| own * MICRO).collect();
    if samples.len() != list(value, "samples").len() || deltas.len() != samples.len() {
        return Err(Problem::new("it needs a number in timeDeltas for each node in samples"));
    }
    let seconds = number(value, "endTime")
        .zip(number(value, "startTime"))
        .map_or(0.0, |(end, start)| (end - start) * MICRO);
    // The profile ends some time after the last sample.
    let last = (seconds - deltas.iter().sum::<f64>()).max(0.0);
    for (index, &id) in samples.iter().enumerate() {
        let until = deltas.get(index + 1).copied().unwrap_or(last);
        let (mut frames, mut steps) = (Vec::new(), 0);
        let mut at = Some(id);
        while let Some(node) = at.and_then(|id| nodes.get(&id)) {
            if node.is_idle {
                frames.clear();
                break;
            }
            frames.extend(node.frame);
            steps += 1;
            if steps > nodes.len() {
                return Err(Problem::new("its nodes are each other's parents"));
            }
            at = node.parent;
        }
        frames.reverse();
        if !frames.is_empty() {
            builder.add(frames, Vec::new(), 1, until);
        }
    }
    let mut profile = builder.build();
    profile.seconds = (seconds > 0.0).then_some(seconds);
    profile.delivered_hz = delivered_hz(&mut deltas, false);
    Ok(profile)
}

fn frame(call: &Value, name: &str) -> Frame {
    // Lines are counted from 0; -1 means no line.
    let line = call.get("lineNumber").and_then(Value::as_i64).map(|line| line + 1);
    Frame {
        name: some(name).unwrap_or_else(|| "(anonymous)".to_owned()),
        file: some(text(call, "url")),
        line: line.and_then(|line| u32::try_from(line).ok()).filter(|&line| line > 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Profile, Problem> {
        let value: Value = serde_json::from_str(text).unwrap();
        assert!(is_it(&value));
        parse(&value)
    }

    #[test]
    fn a_sample_lasts_until_the_next_one_and_idle_is_no_work() {
        let profile = of(r#"{"nodes": [
            {"id": 1, "callFrame": {"functionName": "(root)", "url": "", "lineNumber": -1}, "children": [2, 4]},
            {"id": 2, "callFrame": {"functionName": "main", "url": "file:///a.js", "lineNumber": 2}, "children": [3]},
            {"id": 3, "callFrame": {"functionName": "", "url": "file:///a.js", "lineNumber": 6}},
            {"id": 4, "callFrame": {"functionName": "(idle)", "url": "", "lineNumber": -1}}],
            "startTime": 0, "endTime": 10000, "samples": [2, 3, 4, 3], "timeDeltas": [1000, 1000, 2000, 3000]}"#)
        .unwrap();
        let told: Vec<(Vec<&str>, u64, f64)> = profile
            .stacks
            .iter()
            .map(|own| {
                let names = profile.frames_of(own).map(|frame| frame.name.as_str()).collect();
                (names, own.samples, (own.amount * 1e6).round())
            })
            .collect();
        let want = vec![(vec!["main"], 1, 1000.0), (vec!["main", "(anonymous)"], 2, 5000.0)];
        assert_eq!(told, want);
        assert_eq!(profile.frames[0].line, Some(3));
    }

    #[test]
    fn damaged_trees_are_errors() {
        for text in [
            r#"{"nodes": [{"callFrame": {}}], "startTime": 0, "endTime": 1}"#,
            r#"{"nodes": [{"id": 1, "parent": 1, "callFrame": {"functionName": "(root)"}}], "startTime": 0, "endTime": 1, "samples": [1], "timeDeltas": [1]}"#,
            r#"{"nodes": [{"id": 1, "callFrame": {}}], "startTime": 0, "endTime": 1, "samples": [1], "timeDeltas": []}"#,
        ] {
            assert!(of(text).is_err(), "{text}");
        }
    }
}
