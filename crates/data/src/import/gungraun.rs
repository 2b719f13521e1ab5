//! gungraun (formerly iai-callgrind) and iai: their printed output, and gungraun's summaries in
//! JSON (`summary.json`, or `--output-format=json`).
//!
//! The values are exact counts of a simulation. Each occurrence of a benchmark in the file is one
//! observation. The value of an earlier run, which is printed next to the new one, is not read. In
//! both formats, metrics have the names of gungraun's JSON, so that they can be compared. Metrics
//! of tools other than callgrind and DHAT are prefixed with the name of the tool, because all of
//! those count errors.

use super::json;
use super::recorder::Recorder;
use super::{Context, Head, ImportError, Part};
use crate::input::Input;
use crate::lines::{Lines, TextLine};
use crate::read_error::quoted_start;
use crate::samples::{Better, Metric, Outcome};
use crate::unit::Unit;
use serde::Deserialize;
use serde_json::Value;
use std::borrow::Cow;
use std::marker::PhantomData;

const EXPECTED: &str =
    "gungraun's summary: `{\"module_path\": …, \"profiles\": [{\"tool\": …, …}], …}`";
/// Supported versions of summaries.
const VERSIONS: [&str; 2] = ["6", "7"];
/// Maximum length of a summary, in bytes.
const MAX_SUMMARY: usize = 16 * 1024 * 1024;

/// Names in the printed output with the corresponding names in the JSON, where the two differ by
/// more than blanks.
const NAMES: [(&str, &str); 9] = [
    ("Instructions", "Ir"),
    ("Total read+write", "TotalRW"),
    ("L1 Hits", "L1hits"),
    ("L2 Hits", "LLhits"),
    ("LL Hits", "LLhits"),
    ("RAM Hits", "RamHits"),
    ("RAM Hit Rate", "RamHitRate"),
    ("At t-gmax", "AtTGmax"),
    ("At t-end", "AtTEnd"),
];

pub(super) fn recognise(head: &Head<'_>) -> bool {
    let has = |key: &str| head.text.contains(key);
    let is_summary = has("\"function_name\"") && has("\"module_path\"") && has("\"profiles\"");
    is_summary || head.text.lines().any(|line| figure(&plain(line)).is_some())
}

/// Parses `Instructions: 1734|1650 (+5.09090%)` into the metric and its new value, which is `N/A`
/// if there is only an old one.
fn figure(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.strip_prefix("  ")?.split_once(':')?;
    let first = rest.split_ascii_whitespace().next()?;
    let is_figure = |text: &str| text == "N/A" || crate::number::plain(text).is_some();
    let is_of_iai = || {
        let names =
            ["Instructions", "L1 Accesses", "L2 Accesses", "RAM Accesses", "Estimated Cycles"];
        names.contains(&name) && is_figure(first)
    };
    match first.split_once('|') {
        Some((new, old)) => (is_figure(new) && is_figure(old)).then_some((name, new)),
        None => is_of_iai().then_some((name, first)),
    }
}

/// Returns the line without terminal colors.
fn plain(line: &str) -> Cow<'_, str> {
    if !line.contains('\x1b') {
        return Cow::Borrowed(line);
    }
    let mut pieces = line.split("\x1b[");
    let mut text = pieces.next().unwrap_or_default().to_owned();
    pieces.for_each(|piece| text += piece.split_once('m').map_or(piece, |(_, text)| text));
    Cow::Owned(text)
}

/// Returns the number of opening minus closing braces on a line, ignoring those in strings.
fn depth(line: &str) -> isize {
    let (mut depth, mut in_text, mut escaped) = (0, false, false);
    for byte in line.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            b'{' if !in_text => depth += 1,
            b'}' if !in_text => depth -= 1,
            _ => {}
        }
    }
    depth
}

/// The JSON object that is being read.
struct JsonText {
    text: String,
    line: u64,
    depth: isize,
}

struct Reader<'a> {
    recorder: Recorder<'a>,
    file: &'a str,
    /// Lines that may form a name, beginning with the most recent one that can start a name.
    above: Vec<String>,
    tool: String,
    /// The current benchmark.
    benchmark: Option<String>,
    counts: Vec<(usize, f64)>,
    json: Option<JsonText>,
}

pub(super) fn read(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    let mut reader = Reader {
        recorder: Recorder::new(context, "gungraun"),
        file: context.file,
        above: Vec::new(),
        tool: String::new(),
        benchmark: None,
        counts: Vec::new(),
        json: None,
    };
    let mut lines = Lines::new(input.into_reader(), context.file);
    while let Some(line) = lines.next()? {
        reader.line(&line)?;
    }
    reader.end_of_benchmark()?;
    if let Some(json) = reader.json.take() {
        reader.summary(&json)?;
    }
    reader.recorder.finish("what gungraun prints, without a count")
}

impl Reader<'_> {
    fn line(&mut self, line: &TextLine<'_>) -> Result<(), ImportError> {
        let is_object = line.text.trim_start().starts_with('{');
        if let Some(json) = &mut self.json {
            if json.text.len() + line.text.len() > MAX_SUMMARY {
                return Err(self.recorder.at(line.number, "a summary of more than 16 MiB"));
            }
            json.text += "\n";
            json.text += line.text;
            json.depth += depth(line.text);
        } else if is_object {
            self.end_of_benchmark()?;
            let (text, depth) = (line.text.to_owned(), depth(line.text));
            self.json = Some(JsonText { text, line: line.number, depth });
        } else {
            let text = plain(line.text);
            return match figure(&text) {
                Some((name, value)) => self.figure(name, value, line),
                None if !line.ended && text.starts_with("  ") && text.contains(':') => {
                    Err(self.recorder.at(line.number, "the file breaks off within this result"))
                }
                None => self.other(&text),
            };
        }
        match self.json.take_if(|json| json.depth <= 0) {
            Some(json) => self.summary(&json),
            None => Ok(()),
        }
    }

    fn figure(&mut self, name: &str, value: &str, line: &TextLine<'_>) -> Result<(), ImportError> {
        let wrong = |problem: String| self.recorder.at(line.number, problem);
        if !line.ended && !line.text.trim_end().ends_with([')', ']']) {
            return Err(wrong("the file breaks off within this result".to_owned()));
        }
        if !self.above.is_empty() {
            self.end_of_benchmark()?;
            self.benchmark = Some(self.above.drain(..).collect::<Vec<_>>().join(" "));
        }
        if self.benchmark.is_none() {
            let problem = "a result without the name of a benchmark before it";
            return Err(self.recorder.at(line.number, problem));
        }
        let Some(value) = crate::number::plain(value) else { return Ok(()) };
        let mut known = name.to_owned();
        for (printed, ours) in NAMES {
            known = known.replacen(printed, ours, 1);
        }
        let capital = |word: &str| {
            let mut letters = word.chars();
            letters.next().map_or(String::new(), |c| c.to_uppercase().chain(letters).collect())
        };
        let known: String = known.split(' ').map(capital).collect();
        let tool = std::mem::take(&mut self.tool);
        let counted = self.count(&tool, &known, value);
        self.tool = tool;
        counted.map_err(|problem| self.recorder.at(line.number, problem))
    }

    fn other(&mut self, text: &str) -> Result<(), ImportError> {
        if let Some(tool) = text.strip_prefix("  ======= ") {
            tool.split(' ').next().unwrap_or_default().clone_into(&mut self.tool);
            if !self.above.is_empty() {
                self.end_of_benchmark()?;
                self.benchmark = Some(self.above.drain(..).collect::<Vec<_>>().join(" "));
            }
            return Ok(());
        }
        let is_path = |word: &str| {
            word.split("::").count() > 1
                && word.split("::").all(|part| {
                    !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '_')
                })
        };
        if text.trim().is_empty() {
            self.above.clear();
        } else if !text.starts_with(' ') {
            // A name may continue over several lines, because its arguments may.
            let begins = text.split(' ').next().is_some_and(is_path);
            if begins || !self.above.first().is_some_and(|first| first.contains("::")) {
                self.above.clear();
                self.tool.clear();
            }
            self.above.push(text.to_owned());
        }
        Ok(())
    }

    fn count(&mut self, tool: &str, name: &str, value: f64) -> Result<(), String> {
        let name = match tool.to_lowercase().as_str() {
            "" | "callgrind" | "dhat" => name.to_owned(),
            other => format!("{other} {name}"),
        };
        let unit = if name.ends_with("Bytes") { Unit::Byte } else { Unit::One };
        let is_hit_rate = name.ends_with("L1HitRate") || name.ends_with("LLHitRate");
        let better = if is_hit_rate { Better::Higher } else { Better::Lower };
        let metric = Metric { exact: true, better, ..Metric::lower(&name, unit) };
        self.counts.push((self.recorder.metric(&metric)?, value));
        Ok(())
    }

    fn end_of_benchmark(&mut self) -> Result<(), ImportError> {
        let counts = std::mem::take(&mut self.counts);
        let Some(name) = self.benchmark.take() else { return Ok(()) };
        if counts.is_empty() {
            return Ok(());
        }
        let benchmark = self.recorder.benchmark(&name, None, &[]);
        let taken = self.recorder.observe(benchmark, &[], Outcome::Ok, &counts);
        taken.map_err(|problem| {
            self.recorder.whole_file(format!("`{}`: {problem}", quoted_start(&name)))
        })
    }

    /// Reads a summary. A JSON object that is not a summary is skipped.
    fn summary(&mut self, json: &JsonText) -> Result<(), ImportError> {
        let at = (self.file, json.line);
        let value: Value = json::read_text(&json.text, at, EXPECTED, PhantomData)?;
        if value.get("profiles").is_none() || value.get("module_path").is_none() {
            return Ok(());
        }
        let version = value.get("version").and_then(Value::as_str).unwrap_or_default();
        if !VERSIONS.contains(&version) {
            return Err(ImportError::NewerFormat {
                file: self.file.to_owned(),
                format: "gungraun's summary",
                version: version.to_owned(),
                known: "versions 6 and 7",
            });
        }
        let wrong = |error: serde_json::Error| {
            self.recorder.at(json.line, format!("{error}; expected {EXPECTED}"))
        };
        let summary = Summary::deserialize(&value).map_err(wrong)?;
        self.benchmark = Some(summary.name());
        for profile in &summary.profiles {
            let tool = profile.get("tool").and_then(Value::as_str).unwrap_or_default();
            let mut counts = json::at_line(json.line, || counts_of(profile));
            // The number of instructions comes first, which makes it the deciding metric.
            counts.sort_by_key(|(name, _)| *name != "Ir");
            for (name, value) in counts {
                let counted = self.count(tool, name, value);
                counted.map_err(|problem| self.recorder.at(json.line, problem))?;
            }
        }
        self.end_of_benchmark()
    }
}

/// Returns the totals counted by a tool. In version 7 each metric has `values`; in version 6 the
/// values are typed and nested under the kind of tool. Some tools count nothing.
fn counts_of(profile: &Value) -> Vec<(&str, f64)> {
    let mut counts = Vec::new();
    if let Some(metrics) = profile.pointer("/data/total/metrics").and_then(Value::as_object) {
        let new = |(name, told): (_, &Value)| Some((name, number(told.pointer("/values/new")?)?));
        counts.extend(metrics.iter().map(|(name, told)| (name.as_str(), told)).filter_map(new));
    }
    if let Some(kinds) = profile.pointer("/summaries/total/summary").and_then(Value::as_object) {
        for (name, told) in kinds.values().filter_map(Value::as_object).flatten() {
            let new = ["/metrics/Left", "/metrics/Both/0"].iter().find_map(|at| told.pointer(at));
            let value = new.and_then(|new| number(new.get("Int").or_else(|| new.get("Float"))?));
            counts.extend(value.map(|value| (name.as_str(), value)));
        }
    }
    counts
}

/// Parses a number, which need not be finite. Returns `None` for `null`, which means that only an
/// earlier run has a value.
fn number(value: &Value) -> Option<f64> {
    let number = json::Number::deserialize(value).ok()?;
    (!value.is_null()).then_some(number.0)
}

#[derive(Deserialize)]
struct Summary {
    module_path: String,
    id: Option<String>,
    /// Description of the benchmark, which is called `details` before version 7.
    #[serde(alias = "details")]
    description: Option<String>,
    profiles: Vec<Value>,
}

impl Summary {
    /// Returns the name as printed.
    fn name(&self) -> String {
        let more = self.description.as_ref().map(|more| format!(":{more}")).unwrap_or_default();
        match &self.id {
            Some(id) => format!("{} {id}{more}", self.module_path),
            None => self.module_path.clone(),
        }
    }
}
