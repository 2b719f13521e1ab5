//! The machine-readable output of `perf stat`: `-x SEPARATOR` (any of the usual ones) and `-j`. A
//! file may contain several runs.
//!
//! A run is one observation, and so is an interval of `-I`. A processor, socket or node of `-A` and
//! `--per-…` is a subject. With `-r N`, perf writes only a mean and what it calls variance, without
//! N. According to perf's source, this is the standard error of the mean in percent of the mean.
//! `duration_time` is called `wall`, `task-clock` is `cpu`, and `user_time` and `system_time` are
//! `user` and `system`; all other events keep perf's name. Metrics that perf computes from its
//! counts (`CPUs utilized`) are not read. The human-readable output is read by
//! [`perf_print`](super::perf_print).

use super::number::Conversion;
use super::recorder::Recorder;
use super::troubles::Troubles;
use super::{Context, Head, ImportError, Part, json};
use crate::finding::shared::{multiplexed, not_counted};
use crate::input::Input;
use crate::lines::Lines;
use crate::number::ungrouped;
use crate::samples::{Metric, Outcome, Summary};
use crate::{Finding, Severity};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::marker::PhantomData;

const EXPECTED: &str = "a counter of `perf stat -j`: `{\"counter-value\": …, \"event\": …}`";

/// Possible field separators, most likely first.
const SEPARATORS: [char; 6] = [',', ';', '\t', '|', ':', ' '];

/// Events with a different name in perf: its name and ours.
const KNOWN: [(&str, &str); 4] = [
    ("duration_time", "wall"),
    ("task-clock", "cpu"),
    ("user_time", "user"),
    ("system_time", "system"),
];

pub(super) fn recognise(head: &Head<'_>) -> bool {
    is_json(head) || separator(head.first).is_some()
}

fn is_json(head: &Head<'_>) -> bool {
    let has = |key: &str| head.first.contains(key);
    head.first.starts_with('{') && has("\"event\"") && has("\"counter-value\"")
}

fn separator(line: &str) -> Option<char> {
    SEPARATORS.into_iter().find(|&separator| Row::of_fields(line, separator).is_some())
}

pub(super) fn read(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    let text = String::from_utf8_lossy(&input.head);
    let separator = separator(Head::of(&text).first);
    drop(text);
    let mut lines = Lines::new(input.into_reader(), context.file);
    let mut runs = Runs::new(context);
    let mut fields = 0;
    while let Some(line) = lines.next()? {
        let text = line.text.trim_end();
        if let Some(time) = text.strip_prefix("# started on ") {
            runs.end().map_err(|problem| runs.recorder.at(line.number, problem))?;
            runs.started(time);
            continue;
        }
        if text.trim_start().starts_with('#') || text.is_empty() {
            continue;
        }
        let taken = match separator {
            Some(separator) => {
                let count = line.text.split(separator).count();
                if !line.ended && count < fields {
                    let problem = format!("the file breaks off here; expected {fields} fields");
                    return Err(runs.recorder.at(line.number, problem));
                }
                fields = fields.max(count);
                if Row::is_computed(line.text, separator) {
                    continue;
                }
                match Row::of_fields(line.text, separator) {
                    Some(row) => runs.take(&row),
                    None => Err(format!(
                        "expected `value{separator}unit{separator}event{separator}…` of `perf stat -x`, but the line begins with `{}`",
                        crate::read_error::quoted_start(text.trim_start())
                    )),
                }
            }
            None => {
                let place = (context.file, line.number);
                let counter: Counter = json::read_text(text, place, EXPECTED, PhantomData)?;
                counter.row().map_or(Ok(()), |row| runs.take(&row))
            }
        };
        taken.map_err(|problem| runs.recorder.at(line.number, problem))?;
    }
    runs.finish()
}

/// One counter of one run, with the fields of its line.
#[derive(Clone, Debug, Default)]
pub(super) struct Row<'a> {
    /// End of the interval, with `-I`.
    pub interval: Option<&'a str>,
    /// Processor, socket, node or control group. Empty for a count that covers all of them.
    pub place: String,
    /// The number, or the reason for its absence.
    pub value: Cow<'a, str>,
    pub unit: &'a str,
    pub event: &'a str,
    /// Standard error of the mean in percent of the mean. `None` without `-r`.
    pub error_percent: Option<f64>,
    /// Time for which the event was counted, in nanoseconds.
    pub runtime: Option<f64>,
    /// Time for which the event was counted, in percent of the time for which it was enabled.
    pub running: Option<f64>,
}

fn is_value(text: &str) -> bool {
    text.starts_with("<not ") || ungrouped(text).is_some()
}

fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic())
}

/// Returns the fields of a line. If the separator is a comma, a decimal comma of the locale also
/// splits numbers, whose two halves are joined again. Decimal commas are detected by the percentage
/// of the time, which always has two decimals.
fn fields(line: &str, separator: char) -> Vec<&str> {
    let parts: Vec<&str> = line.split(separator).collect();
    let trimmed = || parts.iter().map(|part| part.trim()).collect();
    if separator != ',' {
        return trimmed();
    }
    let Some(split) = Split::of(&trimmed()) else { return trimmed() };
    let mut whole = Vec::with_capacity(parts.len());
    let (mut at, mut begin) = (0, 0);
    while at < parts.len() {
        let joined = split.begins.contains(&Some(at)) && at + 1 < parts.len();
        let end = begin + parts[at].len() + if joined { 1 + parts[at + 1].len() } else { 0 };
        whole.push(line[begin..end].trim());
        (at, begin) = (at + 1 + usize::from(joined), end + 1);
    }
    whole
}

/// Indices of the first halves of the numbers that are split by decimal commas: the value, its
/// error, and the percentage of the time. `None` for a number that is not split.
struct Split {
    begins: [Option<usize>; 3],
}

impl Split {
    /// Finds the split numbers in a line. Returns `None` if its numbers have decimal points.
    fn of(parts: &[&str]) -> Option<Self> {
        let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let digits = |at: usize| parts.get(at).is_some_and(|text| is_digits(text));
        let is_event = |&at: &usize| {
            let unit = parts[at - 1];
            is_word(parts[at]) && (unit.is_empty() || is_word(unit)) && is_value(parts[at - 2])
        };
        let event = (2..parts.len()).find(is_event)?;
        let mut at = event + 1;
        // Name of a control group.
        if parts.get(at).is_some_and(|text| is_word(text) || text.starts_with('/')) {
            at += 1;
        }
        let error = parts
            .get(at + 1)
            .and_then(|text| text.strip_suffix('%'))
            .filter(|text| is_digits(text) && digits(at))
            .map(|_| at);
        at += if error.is_some() { 2 } else { 0 };
        let share = at + 1;
        let has_decimals = parts.get(share + 1).is_some_and(|text| text.len() == 2);
        if !(digits(at) && digits(share) && digits(share + 1) && has_decimals) {
            return None;
        }
        // The value may be preceded by the end of an interval, which has a decimal point in every
        // locale, and by a place, which is followed by its number of processors unless it is a
        // single processor or thread.
        let before = &parts[..event - 1];
        let interval = usize::from(before[0].contains('.'));
        let place = before.get(interval).filter(|text| is_word(text));
        let own = &before[interval + usize::from(place.is_some())..];
        let unit = parts[event - 1];
        let is_parted = match (own.len(), place) {
            (0 | 1, _) => false,
            (2, Some(place)) if !place.starts_with("CPU") => !unit.is_empty() && unit != "ns",
            _ => true,
        };
        let value = event
            .checked_sub(3)
            .filter(|&at| is_parted && digits(event - 2) && ungrouped(parts[at]).is_some());
        Some(Self { begins: [value, error, Some(share)] })
    }
}

impl<'a> Row<'a> {
    /// Parses `[interval,][place,[number,]]value,unit,event,[error%,]runtime,running,…`. Returns
    /// `None` for any other line.
    fn of_fields(line: &'a str, separator: char) -> Option<Self> {
        let fields = fields(line, separator);
        let is_row = |at: usize| {
            let rest = &fields[at..];
            rest.len() >= 5
                && is_value(rest[0])
                && (rest[1].is_empty() || is_word(rest[1]))
                && is_word(rest[2])
        };
        let at = (0..fields.len().min(4)).find(|&at| is_row(at))?;
        let (before, rest) = fields.split_at(at);
        let is_interval = before.first().is_some_and(|first| is_value(first));
        let (interval, place) = before.split_at(usize::from(is_interval));
        // With `--cgroup`, the name of the control group follows the event.
        let is_group = !rest[3].is_empty() && ungrouped(rest[3].trim_end_matches('%')).is_none();
        let counted = &rest[3 + usize::from(is_group)..];
        let error = counted.first().and_then(|text| text.strip_suffix('%'));
        let error_percent = match error {
            Some(text) => Some(ungrouped(text)?),
            None => None,
        };
        let counted = &counted[usize::from(error.is_some())..];
        let number = |at: usize| counted.get(at).and_then(|text| ungrouped(text));
        let group = is_group.then(|| &rest[3]);
        Some(Self {
            interval: interval.first().copied(),
            place: place.first().or(group).copied().unwrap_or_default().to_owned(),
            value: rest[0].into(),
            unit: rest[1],
            event: rest[2],
            error_percent,
            runtime: Some(number(0)?),
            running: Some(number(1).filter(|share| (0.0..=100.5).contains(share))?),
        })
    }

    /// Returns true for a line without a count, which has only a metric computed from others.
    fn is_computed(line: &str, separator: char) -> bool {
        let mut fields = line.split(separator).map(str::trim).skip_while(|field| !field.is_empty());
        fields.by_ref().take(3).filter(|field| field.is_empty()).count() == 3
    }
}

/// A line of `-j`.
#[derive(Deserialize)]
struct Counter {
    #[serde(default, deserialize_with = "as_text")]
    interval: Option<String>,
    #[serde(rename = "counter-value")]
    value: Option<String>,
    #[serde(default)]
    unit: String,
    event: Option<String>,
    variance: Option<f64>,
    #[serde(rename = "event-runtime")]
    runtime: Option<f64>,
    #[serde(rename = "pcnt-running")]
    running: Option<f64>,
    /// Place of the counter: `cpu`, `socket`, `core`, ….
    #[serde(flatten)]
    others: Map<String, Value>,
}

/// Reads the end of an interval as text, because it is only compared with that of the previous
/// line.
fn as_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Value::deserialize(deserializer).map(|value| Some(value.to_string()))
}

impl Counter {
    fn row(&self) -> Option<Row<'_>> {
        const PLACES: [&str; 7] = ["cpu", "socket", "die", "core", "node", "thread", "cluster"];
        let place = PLACES.iter().find_map(|&name| {
            let text = match self.others.get(name)? {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            Some(if name == "cpu" { format!("CPU{text}") } else { text })
        });
        Some(Row {
            interval: self.interval.as_deref(),
            place: place.unwrap_or_default(),
            value: self.value.as_deref()?.trim().into(),
            unit: &self.unit,
            event: self.event.as_deref()?,
            error_percent: self.variance,
            runtime: self.runtime,
            running: self.running,
        })
    }
}

/// Gathers rows into runs, for the human-readable output as well.
pub(super) struct Runs<'a> {
    pub recorder: Recorder<'a>,
    /// Name of the subject to which counts without a place belong.
    name: String,
    /// The values of the current run, by place.
    places: Vec<AggregationUnit>,
    /// Index of each place in `places`, by name.
    place_of: HashMap<String, usize>,
    seen: HashSet<(String, String)>,
    interval: Option<String>,
    intervals: u32,
    /// Number of summaries so far, by name of their subject.
    repeated: HashMap<String, usize>,
    missing: Troubles,
    missed: HashSet<String>,
    /// The smallest percentage of its time for which any event was counted.
    running: f64,
    has_started: bool,
}

/// The values of one CPU, core, socket, process or cgroup in a run.
struct AggregationUnit {
    name: String,
    values: Vec<(usize, f64)>,
    summaries: Vec<Summary>,
}

impl<'a> Runs<'a> {
    pub(super) fn new(context: &'a Context<'a>) -> Self {
        Self {
            recorder: Recorder::new(context, "perf stat"),
            name: context.label.to_owned(),
            places: Vec::new(),
            place_of: HashMap::new(),
            seen: HashSet::new(),
            interval: None,
            intervals: 0,
            repeated: HashMap::new(),
            missing: Troubles::default(),
            missed: HashSet::new(),
            running: 100.0,
            has_started: false,
        }
    }

    /// Records the start of the first run, as perf writes it.
    pub(super) fn started(&mut self, time: &str) {
        if !std::mem::replace(&mut self.has_started, true) {
            self.recorder.started(time.trim());
        }
    }

    /// Sets the name of the following runs.
    pub(super) fn name(&mut self, name: &str) {
        name.clone_into(&mut self.name);
    }

    /// Returns true if the current run has a value of this metric, under our name or perf's.
    pub(super) fn has(&self, metric: &str) -> bool {
        let ours = |event: &str| our_name(event) == metric;
        self.seen.iter().any(|(_, event)| ours(event)) && !self.missed.contains(metric)
    }

    /// Adds a counter. A counter that occurs again, or is from another interval, begins another
    /// run.
    pub(super) fn take(&mut self, row: &Row<'_>) -> Result<(), String> {
        let key = (row.place.clone(), row.event.to_owned());
        if self.interval.as_deref() != row.interval || self.seen.contains(&key) {
            self.end()?;
            self.interval = row.interval.map(str::to_owned);
        }
        self.seen.insert(key);
        if row.value.starts_with('<') {
            if self.missed.insert(our_name(row.event).to_owned()) {
                self.missing.add(format!(
                    "`{}` ({})",
                    row.event,
                    row.value.trim_matches(['<', '>'])
                ));
            }
            return Ok(());
        }
        let conversion = Conversion::from_symbol((!row.unit.is_empty()).then_some(row.unit));
        let mut value = conversion.read_ungrouped(&row.value)?;
        // perf prints a clock only to a hundredth of a millisecond. The time for which a clock was
        // counted is its exact value.
        if row.event.starts_with("task-clock")
            && let Some(exact) = row.runtime.map(|ns| ns / 1e9)
            && (exact - value).abs() <= 0.5001e-5
        {
            value = exact;
        }
        self.running = row.running.map_or(self.running, |share| share.min(self.running));
        let name = our_name(row.event);
        let metric = self.recorder.metric(&Metric::lower(name, conversion.unit))?;
        let index = *self.place_of.entry(row.place.clone()).or_insert(self.places.len());
        if index == self.places.len() {
            let name = row.place.clone();
            self.places.push(AggregationUnit { name, values: Vec::new(), summaries: Vec::new() });
        }
        let place = &mut self.places[index];
        match row.error_percent {
            None => place.values.push((metric, value)),
            Some(percent) => place.summaries.push(Summary {
                metric: name.to_owned(),
                mean: Some(value),
                standard_error: Some(value.abs() * percent / 100.0).filter(|e| e.is_finite()),
                ..Summary::default()
            }),
        }
        Ok(())
    }

    /// Sets the number of runs that were averaged for the means of the current run.
    pub(super) fn count(&mut self, count: u64) {
        let summaries = self.places.iter_mut().flat_map(|place| &mut place.summaries);
        summaries.for_each(|summary| summary.count = Some(count));
    }

    /// Adds individual values of `wall`, which replace its mean.
    pub(super) fn walls(&mut self, walls: &[f64]) -> Result<(), String> {
        let name = self.name.clone();
        let benchmark = self.recorder.benchmark(&name, None, &[]);
        let wall = self.recorder.metric(&Metric::wall())?;
        for place in &mut self.places {
            place.summaries.retain(|summary| summary.metric != "wall");
        }
        walls.iter().try_for_each(|&value| {
            self.recorder.observe(benchmark, &[], Outcome::Ok, &[(wall, value)])
        })
    }

    /// Ends the current run.
    pub(super) fn end(&mut self) -> Result<(), String> {
        self.seen.clear();
        self.place_of.clear();
        let mut level = Vec::new();
        if self.interval.take().is_some() {
            level.push(self.intervals);
            self.intervals += 1;
        }
        for place in std::mem::take(&mut self.places) {
            let (mut name, parameters) = match place.name.strip_prefix("CPU") {
                _ if place.name.is_empty() => (self.name.clone(), Vec::new()),
                Some(cpu) => (place.name.clone(), vec![("cpu".to_owned(), cpu.to_owned())]),
                None => (place.name.clone(), vec![("place".to_owned(), place.name.clone())]),
            };
            if !place.summaries.is_empty() {
                let times = self.repeated.entry(name.clone()).or_default();
                *times += 1;
                if *times > 1 {
                    name += &format!(" #{times}");
                }
            }
            let benchmark = self.recorder.benchmark(&name, None, &parameters);
            if !place.values.is_empty() {
                self.recorder.observe(benchmark, &level, Outcome::Ok, &place.values)?;
            }
            for summary in place.summaries {
                self.recorder.summary(Summary { subject: benchmark, ..summary });
            }
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Part, ImportError> {
        self.end().map_err(|problem| self.recorder.whole_file(problem))?;
        if let Some(seen) = self.missing.summary() {
            // The user may not have requested these events, because many are in perf's default
            // list.
            let severity = Severity::Note;
            self.recorder.finding(Finding { severity, ..not_counted("some events", &seen) });
        }
        if self.running < 99.995 {
            self.recorder.finding(multiplexed(self.running / 100.0));
        }
        self.recorder.finish("events that perf could not count")
    }
}

/// Returns our name for an event, or its own. A clock that counts only in user mode (`:u`) is still
/// the same clock.
fn our_name(event: &str) -> &str {
    let base = event.split(':').next().unwrap_or(event);
    KNOWN.iter().find(|(theirs, _)| *theirs == base).map_or(event, |(_, ours)| ours)
}
