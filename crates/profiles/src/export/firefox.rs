//! The processed format of the Firefox Profiler (profiler.firefox.com): one thread for each thread
//! of the profile, in columns. The stacks are written one after the other, since their order in
//! time is unknown. The profiler upgrades older versions of the format.

use super::entries;
use crate::model::{Frame, Profile, Stack};
use assay_data::Unit;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};

/// The version of the format that is written; the profiler reads all versions since this one.
const VERSION: u32 = 48;
const OTHER: u32 = 0;
const COLLECTION: u32 = 1;

pub(super) fn write(profile: &Profile) -> Value {
    let rate = profile.delivered_hz.or(profile.asked_hz);
    let sampled = profile.samples() > 0;
    let interval = match (rate, sampled && profile.unit == Unit::Second) {
        (Some(rate), _) => 1e3 / rate,
        (None, true) => 1e3 * profile.amount() / profile.samples() as f64,
        (None, false) => 1.0,
    };
    let mut threads: BTreeMap<&str, Vec<&Stack>> = BTreeMap::new();
    for stack in &profile.stacks {
        let thread = stack.labels.iter().find(|(key, _)| key == "thread");
        threads.entry(thread.map_or("", |(_, name)| name)).or_default().push(stack);
    }
    let name = if profile.name.is_empty() { "profile" } else { &profile.name };
    let threads: Vec<Value> = threads
        .into_iter()
        .enumerate()
        .map(|(index, (thread, stacks))| {
            let thread = if thread.is_empty() { name } else { thread };
            self::thread(profile, thread, index, &stacks, interval)
        })
        .collect();
    json!({
        "meta": {
            "interval": interval,
            "startTime": 0,
            "processType": 0,
            "product": name,
            "importedFrom": concat!("assay ", env!("CARGO_PKG_VERSION")),
            "stackwalk": 1,
            "version": 27,
            "preprocessedProfileVersion": VERSION,
            "symbolicated": true,
            "debug": false,
            "categories": [
                {"name": "Other", "color": "grey", "subcategories": ["Other"]},
                {"name": "GC / CC", "color": "orange", "subcategories": ["Other"]},
            ],
            "markerSchema": [],
            "usesOnlyOneStackType": true,
            "doesNotUseFrameImplementation": true,
            "sourceCodeIsNotOnSearchfox": true,
        },
        "libs": [],
        "counters": [],
        "pages": [],
        "threads": threads,
    })
}

/// The strings of a thread, by index.
#[derive(Default)]
struct Texts {
    list: Vec<String>,
    index: HashMap<String, usize>,
}

impl Texts {
    fn of(&mut self, text: &str) -> usize {
        let next = self.list.len();
        let own = *self.index.entry(text.to_owned()).or_insert(next);
        if own == next {
            self.list.push(text.to_owned());
        }
        own
    }
}

fn thread(profile: &Profile, name: &str, index: usize, stacks: &[&Stack], interval: f64) -> Value {
    let mut texts = Texts::default();
    let (mut prefix, mut frame_of) = (Vec::new(), Vec::new());
    let mut known: HashMap<(Option<usize>, u32), usize> = HashMap::new();
    let (mut stack_column, mut times, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    let entries = entries(profile);
    let timed = profile.samples() == 0 && profile.unit == Unit::Second;
    let mut now = 0.0;
    for stack in stacks {
        let mut at: Option<usize> = None;
        for &frame in &stack.frames {
            let next = frame_of.len();
            let own = *known.entry((at, frame)).or_insert(next);
            if own == next {
                prefix.push(at);
                frame_of.push(frame);
            }
            at = Some(own);
        }
        let (count, _) = entries(stack);
        for _ in 0..count {
            stack_column.push(at);
            times.push(now);
            weights.push(match timed {
                true => json!(stack.amount * 1e3),
                false => json!(stack.samples.max(1) / count),
            });
            now += interval;
        }
    }
    let functions: Vec<&Frame> = profile.frames.iter().collect();
    let names: Vec<usize> = functions.iter().map(|frame| texts.of(&frame.name)).collect();
    let files: Vec<Option<usize>> =
        functions.iter().map(|frame| frame.file.as_deref().map(|file| texts.of(file))).collect();
    let lines: Vec<Option<u32>> = functions.iter().map(|frame| frame.line).collect();
    let category = |frame: &Frame| if frame.is_collector() { COLLECTION } else { OTHER };
    let categories: Vec<u32> = functions.iter().map(|frame| category(frame)).collect();
    let many = functions.len();
    let of_stacks: Vec<u32> = frame_of.iter().map(|&f| categories[f as usize]).collect();
    let nothing = vec![Value::Null; many];
    json!({
        "name": name,
        "processType": "default",
        "processName": name,
        "processStartupTime": 0,
        "processShutdownTime": null,
        "registerTime": 0,
        "unregisterTime": null,
        "pausedRanges": [],
        "pid": "1",
        "tid": index + 1,
        "isMainThread": index == 0,
        "showMarkersInTimeline": false,
        "samples": {
            "weightType": if timed { "tracing-ms" } else { "samples" },
            "stack": stack_column, "time": times, "weight": weights, "length": stack_column.len(),
        },
        "stackTable": {
            "frame": frame_of, "prefix": prefix, "category": of_stacks,
            "subcategory": vec![0; frame_of.len()], "length": frame_of.len(),
        },
        "frameTable": {
            "address": vec![-1; many], "inlineDepth": vec![0; many], "category": categories,
            "subcategory": vec![0; many], "func": (0..many).collect::<Vec<_>>(),
            "nativeSymbol": nothing, "innerWindowID": nothing, "implementation": nothing,
            "line": lines, "column": nothing, "length": many,
        },
        "funcTable": {
            "name": names, "isJS": vec![false; many], "relevantForJS": vec![false; many],
            "resource": vec![-1; many], "fileName": files, "lineNumber": nothing,
            "columnNumber": nothing, "length": many,
        },
        "resourceTable": {"lib": [], "name": [], "host": [], "type": [], "length": 0},
        "nativeSymbols": {"libIndex": [], "address": [], "name": [], "functionSize": [], "length": 0},
        "markers": {"data": [], "name": [], "startTime": [], "endTime": [], "phase": [], "category": [], "length": 0},
        "stringArray": texts.list,
    })
}
