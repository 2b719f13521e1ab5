//! Reads Catch2's XML (`--reporter xml`), versions 2 and 3: the mean and standard deviation of
//! every benchmark. There are no samples.
//!
//! A benchmark is named after its test case, its sections, and itself. Catch2's JSON contains no
//! benchmarks, and the error for such a file says what to do. Only the necessary tags are read, in
//! the form in which the reporter writes them, one per line.

use super::recorder::{MAX_JOINED_NAME, Recorder};
use super::{Context, Head, ImportError, Part};
use crate::finding::shared::benchmark_error;
use crate::input::Input;
use crate::lines::Lines;
use crate::number::plain;
use crate::samples::{Metric, Summary};
use crate::xml::attribute;
use std::collections::HashMap;

/// Tags that contain text of the user, which may have line feeds in it.
const LONG_TAGS: [&str; 4] = ["<BenchmarkResults ", "<TestCase ", "<Section ", "<failed "];
/// Maximum length of a tag, in bytes.
const MAX_TAG: usize = 1024 * 1024;
/// Maximum depth of nested sections.
const MAX_DEPTH: usize = 1000;

pub(super) fn recognise(head: &Head<'_>) -> bool {
    let has = |key: &str| head.text.contains(key);
    let is_xml = head.first.starts_with('<') && (has("<Catch name=") || has("<Catch2TestRun "));
    is_xml || (head.is_json() && has("\"catch2-version\""))
}

/// The state of the reader.
struct Reader<'c> {
    recorder: Recorder<'c>,
    /// Names of the open test case and sections.
    open: Vec<String>,
    /// The open benchmark, and its results so far.
    benchmark: Option<(String, Summary)>,
    /// Number of occurrences of each name.
    times: HashMap<String, usize>,
    ended: bool,
}

pub(super) fn read(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    let recorder = Recorder::new(context, "Catch2");
    let mut lines = Lines::new(input.into_reader(), context.file);
    let (open, times) = (Vec::new(), HashMap::new());
    let mut reader = Reader { recorder, open, benchmark: None, times, ended: false };
    let mut tag = String::new();
    let mut quotes = 0;
    let mut last = 1;
    while let Some(line) = lines.next()? {
        last = line.number;
        let text = line.text.trim();
        if last == 1 && text.starts_with('{') {
            let problem =
                "Catch2's JSON contains no benchmarks; let it write XML: `--reporter xml`";
            return Err(reader.recorder.whole_file(problem));
        }
        if tag.is_empty() {
            tag.push_str(text);
        } else {
            tag.push('\n');
            tag.push_str(text);
        }
        quotes += text.matches('"').count();
        let is_long = LONG_TAGS.iter().any(|long| tag.starts_with(long));
        let is_open = is_long && !quotes.is_multiple_of(2);
        if is_open && tag.len() <= MAX_TAG {
            continue;
        }
        quotes = 0;
        reader.take(&tag).map_err(|problem| reader.recorder.at(last, problem))?;
        tag.clear();
    }
    if !reader.ended {
        let problem = "the file breaks off here; expected `</Catch2TestRun>` or `</Catch>`";
        return Err(reader.recorder.at(last, problem));
    }
    reader.recorder.finish("test cases without a benchmark")
}

impl Reader<'_> {
    fn take(&mut self, tag: &str) -> Result<(), String> {
        let name = tag.split([' ', '>', '/']).next().unwrap_or_default();
        match name {
            "<TestCase" | "<Section" => {
                if self.open.len() >= MAX_DEPTH {
                    return Err(format!("sections nested more than {MAX_DEPTH} deep"));
                }
                self.open.push(attribute(tag, "name").unwrap_or_default());
            }
            "<BenchmarkResults" => {
                let own = attribute(tag, "name").ok_or("a benchmark without a name")?;
                let count = attribute(tag, "samples").and_then(|samples| samples.parse().ok());
                self.benchmark = Some((own, Summary { count, ..Summary::default() }));
            }
            "<mean" => self.put(tag, |summary, value| summary.mean = Some(value))?,
            "<standardDeviation" => self.put(tag, |summary, value| summary.sd = Some(value))?,
            "<failed" => {
                if let Some((own, _)) = self.benchmark.take() {
                    let name = self.full(&own)?;
                    let why = attribute(tag, "message").unwrap_or_default();
                    let what = format!("ended with an error: {why}");
                    self.recorder.finding(benchmark_error(&name, &what));
                }
            }
            "<Catch2TestRun" => {
                if let Some(version) = attribute(tag, "catch2-version") {
                    self.recorder.tool(&format!("Catch2 {version}"));
                }
                if let Some(seed) = attribute(tag, "rng-seed") {
                    self.recorder.fact("catch2.rng_seed", seed);
                }
            }
            "<" if tag.starts_with("</BenchmarkResults>") => self.end()?,
            "<" if tag.starts_with("</TestCase>") || tag.starts_with("</Section>") => {
                self.open.pop();
            }
            "<" if tag.starts_with("</Catch2TestRun>") || tag.starts_with("</Catch>") => {
                self.ended = true;
            }
            _ => {}
        }
        Ok(())
    }

    fn put(&mut self, tag: &str, put: fn(&mut Summary, f64)) -> Result<(), String> {
        let Some((_, summary)) = &mut self.benchmark else { return Ok(()) };
        let value = attribute(tag, "value").and_then(|value| plain(&value));
        let nanoseconds = value.filter(|value| value.is_finite());
        let nanoseconds = nanoseconds.ok_or("expected a number in `value=\"…\"`")?;
        put(summary, nanoseconds / 1e9);
        Ok(())
    }

    fn end(&mut self) -> Result<(), String> {
        let Some((own, summary)) = self.benchmark.take() else { return Ok(()) };
        if summary.mean.is_none() {
            return Err(format!("`{own}` has neither `<mean …>` nor `<failed …>`"));
        }
        // A test case runs once for each of its sections, and repeats the benchmarks before them
        // each time.
        let plain = self.full(&own)?;
        let times = self.times.entry(plain.clone()).or_default();
        let mut name = plain.clone();
        loop {
            *times += 1;
            if *times > 1 {
                name = format!("{plain} #{times}");
            }
            if self.recorder.find(&name).is_none() {
                break;
            }
        }
        let subject = self.recorder.benchmark(&name, Some(&own), &[]);
        let metric = Metric::wall();
        self.recorder.metric(&metric)?;
        self.recorder.summary(Summary { subject, metric: metric.name, ..summary });
        Ok(())
    }

    fn full(&self, own: &str) -> Result<String, String> {
        let length = own.len() + self.open.iter().map(String::len).sum::<usize>();
        if length > MAX_JOINED_NAME {
            return Err(format!("a name of {length} bytes, its test case and sections included"));
        }
        let parts = self.open.iter().map(String::as_str).chain([own]);
        Ok(parts.collect::<Vec<_>>().join(": "))
    }
}
