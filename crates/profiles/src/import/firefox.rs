//! Samples of Firefox Profiler profiles: the processed format that its page saves and that samply
//! and Vernier write (columns; tables per thread or shared by all), and the Gecko profiler's own
//! format (rows with a schema).
//!
//! Markers, counters and memory are skipped. Threads are merged into one profile, with their names
//! as labels.

use super::{Problem, line, list, some, text};
use crate::builder::{Builder, delivered_hz};
use crate::model::{Frame, Profile};
use assay_data::Unit;
use serde_json::Value;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

const MILLI: f64 = 1e-3;
/// Stacks deeper than this come from a damaged file, such as a table with a cycle of prefixes.
const DEEPEST: usize = 100_000;

pub(super) fn is_it(value: &Value) -> bool {
    value.get("meta").is_some() && value.get("threads").is_some_and(Value::is_array)
}

pub(super) fn parse(value: &Value) -> Result<Profile, Problem> {
    let mut builder = Builder::default();
    let meta = value.get("meta").unwrap_or(&Value::Null);
    let interval = meta.get("interval").and_then(Value::as_f64).filter(|&ms| ms > 0.0);
    let about = &mut builder.profile;
    about.tool = some(text(meta, "importedFrom")).or_else(|| some(text(meta, "product")));
    about.asked_hz = interval.map(|ms| 1.0 / (ms * MILLI));
    about.measure = "wall".to_owned();
    about.unit = Unit::Second;
    let mut gaps = Vec::new();
    threads(&mut builder, value, interval.unwrap_or(1.0), &mut gaps)?;
    let mut profile = builder.build();
    profile.delivered_hz = delivered_hz(&mut gaps, false);
    Ok(profile)
}

/// Reads the threads of a process, and those of its child processes.
fn threads(
    builder: &mut Builder,
    value: &Value,
    interval: f64,
    gaps: &mut Vec<f64>,
) -> Result<(), Problem> {
    let shared = value.get("shared").unwrap_or(&Value::Null);
    let all = list(value, "threads");
    for thread in all {
        let name = text(thread, "name");
        let many = all.len() > 1 || !list(value, "processes").is_empty();
        let labels = match many && !name.is_empty() {
            true => vec![("thread".to_owned(), name.to_owned())],
            false => Vec::new(),
        };
        Tables::of(thread, shared).read(builder, thread, &labels, interval, gaps).map_err(
            |what| Problem::new(format!("the thread `{}`: {what}", name.escape_debug())),
        )?;
    }
    for process in list(value, "processes").iter().filter(|process| is_it(process)) {
        // The depth of this recursion is limited by the nesting that the JSON parser accepts.
        threads(builder, process, interval, gaps)?;
    }
    Ok(())
}

/// The tables that a thread's samples refer to.
struct Tables<'a> {
    thread: &'a Value,
    shared: &'a Value,
}

impl<'a> Tables<'a> {
    fn of(thread: &'a Value, shared: &'a Value) -> Self {
        Self { thread, shared }
    }

    fn table(&self, name: &str) -> Table<'a> {
        let own = self.thread.get(name).or_else(|| self.shared.get(name));
        Table { value: own.unwrap_or(&Value::Null) }
    }

    fn texts(&self) -> &'a [Value] {
        ["stringArray", "stringTable"]
            .iter()
            .find_map(|name| self.thread.get(name).or_else(|| self.shared.get(name)))
            .and_then(Value::as_array)
            .map_or(&[], Vec::as_slice)
    }

    fn read(
        &self,
        builder: &mut Builder,
        thread: &Value,
        labels: &[(String, String)],
        interval: f64,
        gaps: &mut Vec<f64>,
    ) -> Result<(), String> {
        let samples = Table { value: thread.get("samples").unwrap_or(&Value::Null) };
        let stacks = self.table("stackTable");
        let mut known: HashMap<usize, Vec<u32>> = HashMap::new();
        let mut frames: HashMap<usize, u32> = HashMap::new();
        let is_samples = samples
            .value
            .get("weightType")
            .and_then(Value::as_str)
            .is_none_or(|kind| kind == "samples");
        let mut before: Option<f64> = None;
        for row in 0..samples.len() {
            let time = match samples.number("timeDeltas", row) {
                Some(delta) => Some(before.unwrap_or(0.0) + delta),
                None => samples.number("time", row),
            };
            if let (Some(before), Some(time)) = (before, time) {
                gaps.push((time - before) * MILLI);
            }
            before = time.or(before);
            let Some(stack) = samples.index("stack", row) else { continue };
            let own = match known.entry(stack) {
                Entry::Occupied(own) => own.into_mut(),
                Entry::Vacant(place) => {
                    place.insert(self.stack(builder, &stacks, stack, &mut frames)?)
                }
            };
            let weight = samples.number("weight", row).unwrap_or(1.0);
            let count = if is_samples { weight.abs().round() as u64 } else { 1 };
            let seconds = if is_samples { weight.abs() * interval } else { weight.abs() } * MILLI;
            builder.add(own.clone(), labels.to_vec(), count, seconds);
        }
        Ok(())
    }

    /// Returns the frames of a stack, outermost first.
    fn stack(
        &self,
        builder: &mut Builder,
        stacks: &Table<'_>,
        stack: usize,
        frames: &mut HashMap<usize, u32>,
    ) -> Result<Vec<u32>, String> {
        let mut inwards = Vec::new();
        let mut at = Some(stack);
        while let Some(stack) = at {
            let frame =
                stacks.index("frame", stack).ok_or(format!("its stack {stack} has no frame"))?;
            inwards.push(match frames.entry(frame) {
                Entry::Occupied(own) => *own.get(),
                Entry::Vacant(place) => *place.insert(builder.frame(self.frame(frame)?)),
            });
            if inwards.len() > DEEPEST {
                return Err(format!("its stack {stack} runs in a circle"));
            }
            at = stacks.index("prefix", stack);
        }
        inwards.reverse();
        Ok(inwards)
    }

    fn frame(&self, frame: usize) -> Result<Frame, String> {
        let frames = self.table("frameTable");
        let texts = self.texts();
        let word = |index: Option<usize>| index.and_then(|i| texts.get(i)).and_then(Value::as_str);
        if frame >= frames.len() {
            return Err(format!("its frame {frame} is not in the table"));
        }
        // In the Gecko profiler's own format, this column contains both the name and the location.
        if let Some(location) = word(frames.index("location", frame)) {
            return Ok(located(location));
        }
        let functions = self.table("funcTable");
        let function =
            frames.index("func", frame).ok_or(format!("its frame {frame} has no function"))?;
        let name = word(functions.index("name", function));
        let name = name.ok_or(format!("its function {function} has no name"))?;
        let line_of = |table: &Table<'_>, column: &str, row| line(table.cell(column, row));
        let file = word(functions.index("fileName", function)).or_else(|| {
            // Frames of native code have no source file, but a library.
            let resources = self.table("resourceTable");
            word(resources.index("name", functions.index("resource", function)?))
        });
        Ok(Frame {
            name: name.to_owned(),
            file: file.and_then(some),
            line: line_of(&frames, "line", frame)
                .or_else(|| line_of(&functions, "lineNumber", function)),
        })
    }
}

/// Parses `name (file:line:column)`, `name (in library)`, or a plain name.
fn located(location: &str) -> Frame {
    let split = location.strip_suffix(')').and_then(|rest| rest.rsplit_once(" ("));
    let Some((name, place)) = split else { return Frame::named(location) };
    if let Some(library) = place.strip_prefix("in ") {
        return Frame { name: name.to_owned(), file: some(library), line: None };
    }
    let mut parts = place.rsplitn(3, ':');
    let (last, middle, first) = (parts.next(), parts.next(), parts.next());
    let number = |text: Option<&str>| text.and_then(|text| text.parse::<u32>().ok());
    match (first, number(middle), number(last)) {
        (Some(file), Some(line), Some(_)) => {
            Frame { name: name.to_owned(), file: some(file), line: Some(line) }
        }
        _ => match place.rsplit_once(':') {
            Some((file, line)) if line.parse::<u32>().is_ok() => {
                Frame { name: name.to_owned(), file: some(file), line: line.parse().ok() }
            }
            _ => Frame::named(location),
        },
    }
}

/// A table in either format: columns by name, or rows with a schema that gives each column's index.
struct Table<'a> {
    value: &'a Value,
}

impl<'a> Table<'a> {
    fn rows(&self) -> Option<&'a [Value]> {
        self.value.get("data").and_then(Value::as_array).map(Vec::as_slice)
    }

    fn len(&self) -> usize {
        if let Some(rows) = self.rows() {
            return rows.len();
        }
        // The recorded length is not trusted: it could cause an arbitrarily long loop.
        let columns = self.value.as_object().into_iter().flatten();
        columns.filter_map(|(_, column)| column.as_array().map(Vec::len)).max().unwrap_or(0)
    }

    fn cell(&self, column: &str, row: usize) -> Option<&'a Value> {
        match self.rows() {
            Some(rows) => {
                let place = self.value.get("schema")?.get(column)?.as_u64()?;
                rows.get(row)?.get(usize::try_from(place).ok()?)
            }
            None => self.value.get(column)?.get(row),
        }
    }

    fn number(&self, column: &str, row: usize) -> Option<f64> {
        self.cell(column, row)?.as_f64()
    }

    fn index(&self, column: &str, row: usize) -> Option<usize> {
        self.cell(column, row)?.as_u64().and_then(|index| usize::try_from(index).ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn rows_with_a_schema_are_read_as_columns_are() {
        let thread = json!({"name": "Main",
            "samples": {"schema": {"stack": 0, "time": 1}, "data": [[1, 0.0], [null, 1.0], [1, 2.0]]},
            "stackTable": {"schema": {"prefix": 0, "frame": 1}, "data": [[null, 0], [0, 1]]},
            "frameTable": {"schema": {"location": 0}, "data": [[0], [1]]},
            "stringTable": ["main (in libxul.so)", "draw (chrome://a.js:12:3)"]});
        let profile = parse(&json!({"meta": {"interval": 1}, "threads": [thread]})).unwrap();
        assert_eq!((profile.samples(), profile.stacks.len()), (2, 1));
        let frames = [("draw", Some("chrome://a.js"), Some(12)), ("main", Some("libxul.so"), None)];
        for (frame, (name, file, line)) in profile.frames.iter().zip(frames) {
            assert_eq!(
                (frame.name.as_str(), frame.file.as_deref(), frame.line),
                (name, file, line)
            );
        }
    }

    #[test]
    fn a_circle_of_prefixes_ends() {
        let thread = json!({"name": "x", "samples": {"stack": [0], "time": [0]},
            "stackTable": {"prefix": [1, 0], "frame": [0, 0]}, "frameTable": {"func": [0]},
            "funcTable": {"name": [0]}, "stringArray": ["f"]});
        let problem = parse(&json!({"meta": {}, "threads": [thread]})).unwrap_err();
        assert!(problem.what.contains("circle"), "{problem:?}");
    }
}
