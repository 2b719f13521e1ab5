//! Collapsed stacks. Frames are written as by py-spy, `name (file:line)`, if file and line are
//! known. Amounts that were timed instead of sampled are in microseconds.

use crate::model::{Frame, Profile};
use assay_data::Unit;
use std::collections::BTreeMap;

pub(super) fn write(profile: &Profile) -> String {
    let sampled = profile.samples() > 0;
    // The format has no labels: stacks that differ only in labels share a line.
    let mut lines: BTreeMap<String, u64> = BTreeMap::new();
    for stack in &profile.stacks {
        let names: Vec<String> = profile.frames_of(stack).map(name).collect();
        let line = if names.is_empty() { "(unknown)".to_owned() } else { names.join(";") };
        let count = match (sampled, &profile.unit) {
            (true, _) => stack.samples,
            (false, Unit::Second) => (stack.amount * 1e6).round() as u64,
            (false, _) => stack.amount.round() as u64,
        };
        let sum = lines.entry(line).or_default();
        *sum = sum.saturating_add(count);
    }
    let lines = lines.into_iter().filter(|(_, count)| *count > 0);
    lines.map(|(line, count)| format!("{line} {count}\n")).collect()
}

/// Returns a frame's text without characters that would end the frame or its line.
fn name(frame: &Frame) -> String {
    let place = match (&frame.file, frame.line) {
        (Some(file), Some(line)) => format!(" ({file}:{line})"),
        _ => String::new(),
    };
    let text = format!("{}{place}", frame.name);
    let text: String =
        text.chars().map(|c| if c == ';' || c.is_control() { ':' } else { c }).collect();
    match text.trim() {
        "" => "(unknown)".to_owned(),
        // A line that starts with `#` is a comment.
        text => text.strip_prefix('#').map_or_else(|| text.to_owned(), |rest| format!("№{rest}")),
    }
}
