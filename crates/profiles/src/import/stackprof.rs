//! stackprof's dump as JSON (`stackprof --json`, or the dump's hash as JSON): frames by id, and the
//! stacks in `raw`.
//!
//! `raw` is a sequence of groups: a length, that many frame ids (outermost first), and a count. Its
//! deltas (microseconds between samples) show the actual sampling rate; those of a CPU timer are
//! useless, since it fires at most as often as the kernel ticks. A dump without `raw` has no
//! stacks.
//!
//! Samples of the garbage collector have no callers. If the program marks what it runs
//! ([`crate::marked`]), they are assigned to the mark that was active before and after them, since
//! groups are in the order in which they were taken. If the mark changed in between, they are
//! divided in proportion to the samples that are certain to belong to each.

use super::{Problem, line, list, some, text};
use crate::builder::{Builder, delivered_hz};
use crate::marked::Mark;
use crate::model::{Frame, Profile};
use assay_data::Unit;
use serde_json::Value;
use std::collections::HashMap;

const MICRO: f64 = 1e-6;

pub(super) fn is_it(value: &Value) -> bool {
    ["mode", "frames", "interval", "samples"].iter().all(|field| value.get(field).is_some())
}

pub(super) fn parse(value: &Value) -> Result<Profile, Problem> {
    let Some(raw) = value.get("raw").and_then(Value::as_array) else {
        return Err(Problem::new(
            "this dump contains no stacks, only sums; profile with raw: true (StackProf.run(raw: true, …))",
        ));
    };
    let mode = text(value, "mode");
    let interval = value.get("interval").and_then(Value::as_f64).unwrap_or(0.0);
    let is_time = matches!(mode, "cpu" | "wall");
    let mut gaps: Vec<f64> = list(value, "raw_timestamp_deltas")
        .iter()
        .filter_map(Value::as_f64)
        .map(|micro| micro * MICRO)
        .collect();
    let seconds: f64 = gaps.iter().sum();
    let delivered = if is_time { delivered_hz(&mut gaps, mode == "cpu") } else { None };
    let asked = (is_time && interval > 0.0).then(|| 1.0 / (interval * MICRO));
    // The amount of a sample is the actual time between two samples, not the requested one.
    let weight = match delivered.or(asked) {
        Some(rate) => 1.0 / rate,
        None => 1.0,
    };
    let mut builder = Builder::default();
    let about = &mut builder.profile;
    about.tool = Some("stackprof".to_owned());
    about.measure = mode.to_owned();
    about.unit = if is_time { Unit::Second } else { Unit::One };
    about.asked_hz = asked;
    about.delivered_hz = delivered;
    about.seconds = (seconds > 0.0).then_some(seconds);
    about.missed = value.get("missed_samples").and_then(Value::as_u64).unwrap_or(0);
    let mut frames: HashMap<u64, u32> = HashMap::new();
    for (number, found) in value.get("frames").and_then(Value::as_object).into_iter().flatten() {
        if let Ok(number) = number.parse() {
            let index = builder.frame(frame(found));
            frames.insert(number, index);
        }
    }
    stacks(&mut builder, raw, &frames, weight)?;
    Ok(builder.build())
}

fn frame(value: &Value) -> Frame {
    Frame {
        name: some(text(value, "name")).unwrap_or_else(|| "(unknown)".to_owned()),
        file: some(text(value, "file")),
        line: line(value.get("line")),
    }
}

fn stacks(
    builder: &mut Builder,
    raw: &[Value],
    frames: &HashMap<u64, u32>,
    weight: f64,
) -> Result<(), Problem> {
    let broken = |place: usize| {
        Problem::new(format!(
            "`raw` breaks off or is damaged at its number {place}; take the dump anew"
        ))
    };
    let mut at = 0;
    let mut taken: Vec<(Vec<u32>, u64)> = Vec::new();
    while at < raw.len() {
        let length =
            raw[at].as_u64().and_then(|n| usize::try_from(n).ok()).ok_or_else(|| broken(at))?;
        let end = at.checked_add(1).and_then(|start| start.checked_add(length));
        let end = end.filter(|&end| end < raw.len()).ok_or_else(|| broken(at))?;
        let own: Option<Vec<u32>> = raw[at + 1..end]
            .iter()
            .map(|number| number.as_u64().and_then(|number| frames.get(&number).copied()))
            .collect();
        let own = own.ok_or_else(|| broken(at + 1))?;
        let count = raw[end].as_u64().ok_or_else(|| broken(end))?;
        taken.push((own, count));
        at = end + 1;
    }
    let owners = owners(&builder.profile, &taken);
    // The certain samples of each mark are those between two neighbors that have it.
    let mut known: HashMap<Option<u32>, u64> = HashMap::new();
    for ((_, count), [before, after]) in taken.iter().zip(&owners) {
        if let Some(mark) = before
            && before == after
        {
            *known.entry(*mark).or_default() += count;
        }
    }
    for ((own, count), [before, after]) in taken.into_iter().zip(owners) {
        let (before, after) = (before.flatten(), after.flatten());
        let mut add = |mark: Option<u32>, count: u64| {
            let frames = mark.into_iter().chain(own.iter().copied()).collect();
            builder.add(frames, Vec::new(), count, count as f64 * weight);
        };
        let of = |mark| known.get(&mark).copied().unwrap_or_default() as f64;
        let (first, second) = (of(before), of(after));
        let part = if first + second > 0.0 { first / (first + second) } else { 0.5 };
        let first = if before == after { 0 } else { (count as f64 * part) as u64 };
        add(before, first);
        add(after, count.saturating_sub(first));
    }
    Ok(())
}

/// The marks of the groups before and after a group, if that group is the collector's. A
/// neighboring group may have no mark.
type Owners = [Option<Option<u32>>; 2];

fn owners(profile: &Profile, taken: &[(Vec<u32>, u64)]) -> Vec<Owners> {
    let of_frames = |has: fn(&Frame) -> bool| profile.frames.iter().map(has).collect::<Vec<bool>>();
    let (marks, collectors) =
        (of_frames(|frame| Mark::of(frame).is_some()), of_frames(Frame::is_collector));
    let mut owners = vec![[None; 2]; taken.len()];
    if !marks.contains(&true) {
        return owners;
    }
    let is_collection = |own: &[u32]| own.iter().all(|&frame| collectors[frame as usize]);
    let mark_of = |own: &[u32]| own.iter().rev().copied().find(|&frame| marks[frame as usize]);
    // Two passes, forwards and backwards, find the neighbor before and the neighbor after.
    for (side, backwards) in [(0, false), (1, true)] {
        let mut last = None;
        for step in 0..taken.len() {
            let index = if backwards { taken.len() - 1 - step } else { step };
            let own = &taken[index].0;
            match is_collection(own) {
                true => owners[index][side] = Some(last),
                false => last = mark_of(own),
            }
        }
    }
    owners
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn dump(raw: Value, deltas: Value) -> Value {
        json!({"mode": "cpu", "interval": 1000, "samples": 3, "missed_samples": 1,
            "frames": {"7": {"name": "a", "file": "a.rb", "line": 2}, "8": {"name": "b"}},
            "raw": raw, "raw_timestamp_deltas": deltas})
    }

    #[test]
    fn a_timer_that_ticks_at_the_kernels_pace_gives_it_away() {
        let deltas: Vec<u64> = vec![4000; 12];
        let profile = parse(&dump(json!([2, 7, 8, 10, 1, 7, 2]), json!(deltas))).unwrap();
        assert_eq!((profile.asked_hz, profile.delivered_hz), (Some(1000.0), Some(250.0)));
        assert_eq!((profile.samples(), profile.missed), (12, 1));
        assert!((profile.amount() - 0.048).abs() < 1e-12);
    }

    #[test]
    fn the_collector_belongs_to_the_marks_around_it() {
        let of = |raw: Value, marked: bool| {
            let file = |name: &str| match marked {
                true => format!("assay-frame:test:{name}"),
                false => format!("{name}.rb"),
            };
            let value = json!({"mode": "wall", "interval": 1000, "samples": 3,
                "frames": {"1": {"name": "f", "file": file("a")}, "2": {"name": "f", "file": file("b")},
                    "3": {"name": "work"}, "8": {"name": "(garbage collection)"}, "9": {"name": "(marking)"}},
                "raw": raw});
            let profile = parse(&value).unwrap();
            let told = profile.stacks.iter().map(|stack| {
                let files = profile.frames_of(stack).map(|frame| {
                    let file = frame.file.as_deref().unwrap_or(&frame.name);
                    file.rsplit(':').next().unwrap_or_default().to_owned()
                });
                (files.collect::<Vec<_>>().join(" "), stack.samples)
            });
            told.collect::<Vec<_>>()
        };
        let raw =
            json!([1, 8, 4, 2, 1, 3, 5, 2, 8, 9, 7, 2, 1, 3, 1, 1, 8, 3, 2, 2, 3, 1, 1, 8, 6]);
        let mut found = of(raw.clone(), true);
        found.sort();
        let wanted = [
            ("(garbage collection)", 3),
            // Some samples of the collector certainly belong to `a`, but none to `b` or to no mark.
            ("a (garbage collection)", 4 + 3),
            ("a (garbage collection) (marking)", 7),
            ("a work", 6),
            ("b (garbage collection)", 3),
            ("b work", 1),
        ];
        assert_eq!(found, wanted.map(|(stack, samples)| (stack.to_owned(), samples)));
        assert_eq!(of(raw, false).len(), 4);
    }

    #[test]
    fn raw_that_breaks_off_is_told() {
        for raw in
            [json!([2, 7]), json!([1, 9, 1]), json!([1, 7]), json!([u64::MAX, 7, 1]), json!(["x"])]
        {
            assert!(parse(&dump(raw.clone(), json!([]))).is_err(), "{raw}");
        }
        let without = json!({"mode": "cpu", "interval": 1, "samples": 1, "frames": {}});
        assert!(parse(&without).unwrap_err().what.contains("raw: true"));
    }
}
