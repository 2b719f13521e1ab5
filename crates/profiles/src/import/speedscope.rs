//! speedscope's JSON: frames shared by all profiles, and profiles that were sampled or timed from
//! call to return (`evented`).
//!
//! Several profiles in a file are threads; they are merged into one, with their names as labels.

use super::{Problem, line, list, some, text};
use crate::builder::Builder;
use crate::model::{Frame, Profile};
use assay_data::Unit;
use serde_json::Value;

pub(super) fn is_it(value: &Value) -> bool {
    text(value, "$schema").contains("speedscope")
        || (value.get("shared").is_some_and(|shared| shared.get("frames").is_some())
            && value.get("profiles").is_some())
}

pub(super) fn parse(value: &Value) -> Result<Profile, Problem> {
    let mut builder = Builder::default();
    builder.profile.tool = some(text(value, "exporter"));
    builder.profile.name = text(value, "name").to_owned();
    let shared = value.get("shared").unwrap_or(&Value::Null);
    let frames: Vec<u32> = list(shared, "frames").iter().map(|f| builder.frame(frame(f))).collect();
    let profiles = list(value, "profiles");
    let mut unit: Option<&str> = None;
    let mut weights = Vec::new();
    for (index, profile) in profiles.iter().enumerate() {
        let own = text(profile, "unit");
        if unit.is_some_and(|unit| unit != own) {
            return Err(Problem::new(format!(
                "profile {index} is in `{own}` and another in `{}`; keep one of them",
                unit.unwrap_or_default()
            )));
        }
        unit = Some(own);
        let factor = scale(own).ok_or_else(|| {
            Problem::new(format!("profile {index} is in `{own}`, which is no unit of speedscope's"))
        })?;
        let name = text(profile, "name");
        let labels = match profiles.len() {
            1 => Vec::new(),
            _ => vec![("thread".to_owned(), name.to_owned())],
        };
        match text(profile, "type") {
            "sampled" => sampled(&mut builder, profile, &frames, &labels, factor, &mut weights)?,
            "evented" => evented(&mut builder, profile, &frames, &labels, factor, index)?,
            other => {
                return Err(Problem::new(format!(
                    "profile {index} is of the type `{other}`; known are sampled and evented"
                )));
            }
        }
    }
    let (measure, unit) = match unit {
        Some("bytes") => ("bytes", Unit::Byte),
        Some("none") | None => ("samples", Unit::One),
        _ => ("wall", Unit::Second),
    };
    builder.profile.measure = measure.to_owned();
    builder.profile.unit = unit;
    if builder.profile.unit == Unit::Second && !weights.is_empty() {
        // Samplers give each sample the period as its weight; for one that uses gaps as weights,
        // the median is the period.
        weights.sort_by(f64::total_cmp);
        let period = weights[weights.len() / 2];
        builder.profile.asked_hz = (period > 0.0).then(|| 1.0 / period);
    }
    Ok(builder.build())
}

/// Returns the factor that converts a unit to its base unit.
fn scale(unit: &str) -> Option<f64> {
    Some(match unit {
        "seconds" | "bytes" | "none" => 1.0,
        "milliseconds" => 1e-3,
        "microseconds" => 1e-6,
        "nanoseconds" => 1e-9,
        _ => return None,
    })
}

fn frame(value: &Value) -> Frame {
    Frame {
        name: some(text(value, "name")).unwrap_or_else(|| "(unknown)".to_owned()),
        file: some(text(value, "file")),
        line: line(value.get("line")),
    }
}

fn sampled(
    builder: &mut Builder,
    profile: &Value,
    frames: &[u32],
    labels: &[(String, String)],
    factor: f64,
    all: &mut Vec<f64>,
) -> Result<(), Problem> {
    let weights = list(profile, "weights");
    let unweighted = text(profile, "unit") == "none";
    for (place, stack) in list(profile, "samples").iter().enumerate() {
        let stack = stack.as_array().map_or(&[][..], Vec::as_slice);
        let own: Option<Vec<u32>> = stack.iter().map(|index| pick(frames, index)).collect();
        let own = own.ok_or_else(|| {
            Problem::new(format!(
                "sample {place} names a frame that is not among the {} shared ones",
                frames.len()
            ))
        })?;
        if own.is_empty() {
            // Samplers write an empty stack for a thread that does nothing.
            continue;
        }
        let weight = weights.get(place).map_or(Some(1.0), Value::as_f64).unwrap_or(0.0) * factor;
        let samples = if unweighted { weight.round().max(0.0) as u64 } else { 1 };
        if weight > 0.0 {
            all.push(weight);
        }
        builder.add(own, labels.to_vec(), samples, weight);
    }
    Ok(())
}

fn pick(frames: &[u32], index: &Value) -> Option<u32> {
    index.as_u64().and_then(|index| frames.get(usize::try_from(index).ok()?).copied())
}

/// Reads calls and returns: the time between two events was spent in the current stack.
fn evented(
    builder: &mut Builder,
    profile: &Value,
    frames: &[u32],
    labels: &[(String, String)],
    factor: f64,
    index: usize,
) -> Result<(), Problem> {
    let mut open: Vec<u32> = Vec::new();
    let mut since = profile.get("startValue").and_then(Value::as_f64).unwrap_or(0.0);
    for (place, event) in list(profile, "events").iter().enumerate() {
        let wrong = |what: &str| Problem::new(format!("event {place} of profile {index} {what}"));
        let at =
            event.get("at").and_then(Value::as_f64).ok_or_else(|| wrong("has no time (`at`)"))?;
        let frame = event.get("frame").and_then(|frame| pick(frames, frame));
        let frame =
            frame.ok_or_else(|| wrong("names a frame that is not among the shared ones"))?;
        if !open.is_empty() {
            builder.add(open.clone(), labels.to_vec(), 0, (at - since) * factor);
        }
        since = at;
        match text(event, "type") {
            "O" => open.push(frame),
            "C" if open.last() == Some(&frame) => drop(open.pop()),
            "C" => return Err(wrong("closes a frame that is not the innermost open one")),
            _ => return Err(wrong("is neither O (open) nor C (close)")),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn calls_and_returns_are_times_without_samples() {
        let value = json!({"shared": {"frames": [{"name": "a"}, {"name": "b"}]}, "profiles": [{
            "type": "evented", "name": "x", "unit": "milliseconds", "startValue": 0, "endValue": 10, "events": [
                {"type": "O", "frame": 0, "at": 0}, {"type": "O", "frame": 1, "at": 4},
                {"type": "C", "frame": 1, "at": 5}, {"type": "C", "frame": 0, "at": 10}]}]});
        let profile = parse(&value).unwrap();
        let told: Vec<_> = profile.stacks.iter().map(|s| (s.frames.len(), s.samples)).collect();
        assert_eq!(told, [(1, 0), (2, 0)]);
        assert!((profile.stacks[0].amount - 0.009).abs() < 1e-12, "{:?}", profile.stacks);
    }

    #[test]
    fn a_frame_that_is_not_there_is_told() {
        let value = json!({"shared": {"frames": []}, "profiles": [{
            "type": "sampled", "unit": "none", "samples": [[0]], "weights": [1]}]});
        assert!(parse(&value).unwrap_err().what.contains("sample 0"));
    }
}
