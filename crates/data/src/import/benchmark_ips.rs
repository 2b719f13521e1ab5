//! Reads results of benchmark-ips (Ruby): the JSON of `json!`, the file of `hold!` and `save!`, and
//! the printed output.
//!
//! The held file has the rate of every cycle of about 100 ms, each of which is an observation. The
//! JSON and the output have only a mean and a standard deviation, which become a summary. If a
//! benchmark was run several times within a report (`iterations`), the mean of each run is one
//! observation. The same label in another report is another benchmark, with a number after its
//! name. With `stats: :bootstrap`, the error is half the width of an interval instead. The output
//! says so, and no standard deviation is then read from it; the JSON does not. Warm-up lines and
//! the comparison are skipped. The formats are those of 2.7 and 2.14.

use super::recorder::Recorder;
use super::{Context, Head, ImportError, Part, json};
use crate::input::Input;
use crate::lines::Lines;
use crate::number::plain;
use crate::read_error::quoted_start;
use crate::samples::{Better, Metric, Outcome, Summary};
use crate::unit::Unit;
use json::Number;
use serde::Deserialize;
use std::collections::HashMap;
use std::marker::PhantomData;

const EXPECTED: &str = "results of benchmark-ips: `[{\"name\": …, \"ips\": …, \"stddev\": …}, …]`";
const EXPECTED_HELD: &str = "a result of benchmark-ips saved with `hold!`: `{\"item\": …, \"iter\": …, \"samples\": […], \"cycles\": …}`";

/// Heading above the results in the printed output.
const RUNNING: &str = "Calculating ----";
const WARMING: &str = "Warming up ----";

pub(super) fn recognise(head: &Head<'_>) -> bool {
    is_json(head) || is_held(head) || is_print(head)
}

fn is_json(head: &Head<'_>) -> bool {
    let has = |key: &str| head.text.contains(key);
    head.is_json() && has("\"ips\"") && has("\"microseconds\"") && has("\"cycles\"")
}

fn is_held(head: &Head<'_>) -> bool {
    let start: String = head.text.chars().filter(|c| !c.is_whitespace()).take(9).collect();
    (start.starts_with("{\"item\":") || start.starts_with("[{\"item\":"))
        && head.text.contains("\"samples\"")
}

fn is_print(head: &Head<'_>) -> bool {
    head.text.lines().any(|line| line.starts_with(RUNNING) || line.starts_with(WARMING))
        && head.text.contains("i/")
}

pub(super) fn read(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    let text = String::from_utf8_lossy(&input.head).into_owned();
    let head = Head::of(&text);
    let recorder = Recorder::new(context, "benchmark-ips");
    let mut reader = Reader { recorder, runs: Vec::new(), is_resampled: false };
    if is_json(&head) {
        let entries = json::each(|entry: Entry| {
            reader.runs.push(entry.into());
            Ok(())
        });
        json::read(input, EXPECTED, entries)?;
    } else if !is_held(&head) {
        reader.print(input, context)?;
    } else if text.trim_start_matches('\u{feff}').trim_start().starts_with('[') {
        json::read(input, EXPECTED_HELD, json::each(|held: HeldBenchmark| reader.held(&held)))?;
    } else {
        // One object per line, as written by earlier versions.
        let mut lines = Lines::new(input.into_reader(), context.file);
        while let Some(line) = lines.next()? {
            if !line.text.trim().is_empty() {
                let place = (context.file, line.number);
                let held = json::read_text(line.text, place, EXPECTED_HELD, PhantomData)?;
                reader.held(&held).map_err(|problem| reader.recorder.at(line.number, problem))?;
            }
        }
    }
    reader.finish()
}

/// An entry of the JSON.
#[derive(Deserialize)]
struct Entry {
    name: String,
    ips: Number,
    #[serde(default = "missing")]
    stddev: Number,
    iterations: u64,
    #[serde(default)]
    cycles: u64,
}

fn missing() -> Number {
    Number(f64::NAN)
}

impl From<Entry> for Run {
    fn from(entry: Entry) -> Self {
        // Every sample took one round of `cycles` iterations.
        let is_whole = entry.cycles > 0 && entry.iterations.is_multiple_of(entry.cycles);
        let count = is_whole.then(|| entry.iterations / entry.cycles).filter(|&count| count > 0);
        let (mean, sd) = (entry.ips.finite(), entry.stddev.finite());
        Self { name: entry.name, mean, sd: sd.filter(|_| count != Some(1)), count, report: 0 }
    }
}

/// A benchmark of a held file, with its iterations per second in each cycle.
#[derive(Deserialize)]
struct HeldBenchmark {
    item: String,
    samples: Vec<Number>,
}

/// One run of a benchmark for which only a summary is available.
struct Run {
    name: String,
    mean: Option<f64>,
    sd: Option<f64>,
    count: Option<u64>,
    /// Index, within the output, of the report that contains the run.
    report: usize,
}

struct Reader<'a> {
    recorder: Recorder<'a>,
    runs: Vec<Run>,
    /// True if the output states that its errors are half-widths of intervals from resampling.
    is_resampled: bool,
}

impl Reader<'_> {
    fn rate(&mut self) -> Result<usize, String> {
        let rate = Metric { better: Better::Higher, ..Metric::lower("rate", Unit::PerSecond) };
        self.recorder.metric(&rate)
    }

    fn held(&mut self, held: &HeldBenchmark) -> Result<(), String> {
        let rate = self.rate()?;
        let benchmark = self.recorder.benchmark(&held.item, None, &[]);
        held.samples.iter().try_for_each(|sample| {
            self.recorder.observe(benchmark, &[], Outcome::Ok, &[(rate, sample.0)])
        })
    }

    /// Reads the printed output. In earlier versions, a label longer than its column is on a
    /// separate line.
    fn print(&mut self, input: Input, context: &Context<'_>) -> Result<(), ImportError> {
        let mut lines = Lines::new(input.into_reader(), context.file);
        let mut running = false;
        let mut label: Option<String> = None;
        let mut asked = 0;
        let mut report = 0;
        while let Some(line) = lines.next()? {
            let text = line.text;
            if text.starts_with("ruby ")
                || text.starts_with("jruby ")
                || text.starts_with("truffleruby ")
            {
                self.recorder.fact("ruby", text.trim());
            } else if text.starts_with(RUNNING) || text.starts_with(WARMING) {
                running = text.starts_with(RUNNING);
                report += usize::from(running);
                label = None;
                asked = line.number;
            } else if text.starts_with("Comparison:") || text.trim().is_empty() {
                running &= text.trim().is_empty() && asked > 0;
                label = None;
            } else if running {
                match result(text) {
                    Some((before, mut run)) => {
                        let before = before.trim();
                        let above = label.take().unwrap_or_default();
                        run.name = if before.is_empty() { above } else { before.to_owned() };
                        run.report = report;
                        if run.name.is_empty() {
                            let problem = "a result without a label before it";
                            return Err(self.recorder.at(line.number, problem));
                        }
                        self.runs.push(run);
                        asked = 0;
                    }
                    // Early versions print the warm-up below this heading.
                    None if text.ends_with("i/100ms") || text.starts_with("------") => label = None,
                    None if text.trim().starts_with("with ") && text.contains("% confidence") => {
                        // The half-width of an interval from resampling is not a standard
                        // deviation.
                        self.is_resampled = true;
                        self.recorder.fact("benchmark_ips.stats", text.trim());
                    }
                    None if text.contains("(±") || !line.ended => {
                        return Err(self.recorder.at(line.number, wrong(text, line.ended)));
                    }
                    None => label = Some(text.trim().to_owned()),
                }
            }
        }
        if asked > 0 {
            let problem = "the file breaks off after this heading; expected results, one a line";
            return Err(self.recorder.at(asked, problem));
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Part, ImportError> {
        // Runs within one report are repetitions, but the same label in another report is a
        // different benchmark.
        let mut reports: HashMap<String, Vec<usize>> = HashMap::new();
        for run in &mut self.runs {
            let known = reports.entry(run.name.clone()).or_default();
            if !known.contains(&run.report) {
                known.push(run.report);
            }
            let number = known.iter().position(|report| *report == run.report).unwrap_or_default();
            if number > 0 {
                run.name += &format!(" #{}", number + 1);
            }
        }
        let mut times: HashMap<String, usize> = HashMap::new();
        for run in &self.runs {
            *times.entry(run.name.clone()).or_default() += 1;
        }
        for run in std::mem::take(&mut self.runs) {
            let rate = self.rate().map_err(|problem| self.recorder.whole_file(problem))?;
            let benchmark = self.recorder.benchmark(&run.name, None, &[]);
            if times[&run.name] > 1 {
                let value = run.mean.unwrap_or(f64::NAN);
                let taken = self.recorder.observe(benchmark, &[], Outcome::Ok, &[(rate, value)]);
                taken.map_err(|problem| self.recorder.whole_file(problem))?;
            } else {
                self.recorder.summary(Summary {
                    subject: benchmark,
                    metric: "rate".to_owned(),
                    count: run.count,
                    mean: run.mean,
                    sd: run.sd.filter(|_| !self.is_resampled),
                    ..Summary::default()
                });
            }
        }
        self.recorder.finish("benchmarks that were not run")
    }
}

fn wrong(text: &str, ended: bool) -> String {
    let how = if ended { "is not a result" } else { "breaks off" };
    format!("`{}` {how}; expected `label  6.741M (±21.7%) i/s …`", quoted_start(text.trim()))
}

/// Parses `  label  6.741M (±21.7%) i/s  (148.3 ns/i) - …` into the text before the number, and the
/// numbers.
fn result(text: &str) -> Option<(&str, Run)> {
    let (left, after) = text.rsplit_once("(±")?;
    let (percent, rest) = after.split_once("%)")?;
    if !rest.trim_start().starts_with("i/s") || !rest.contains(" - ") {
        return None;
    }
    let share = plain(percent.trim())? / 100.0;
    let left = left.trim_end();
    let start = left.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let mean = scaled(&left[start..])?;
    let sd = Some(mean * share).filter(|sd| sd.is_finite());
    let mean = Some(mean).filter(|mean| mean.is_finite());
    Some((&left[..start], Run { name: String::new(), mean, sd, count: None, report: 0 }))
}

/// Parses a number that may end in one of benchmark-ips' scale letters: `k`, `M`, `B` (10⁹), `T`,
/// `Q` (10¹⁵).
fn scaled(text: &str) -> Option<f64> {
    const LETTERS: [(char, f64); 5] =
        [('k', 1e3), ('M', 1e6), ('B', 1e9), ('T', 1e12), ('Q', 1e15)];
    let letter = LETTERS.iter().find(|(letter, _)| text.ends_with(*letter));
    let digits = letter.map_or(text, |_| &text[..text.len() - 1]);
    let number = plain(digits)?;
    Some(letter.map_or(number, |(_, factor)| number * factor))
}
