//! The output of `go test -bench`: result lines, configuration lines and `Unit` lines. The events
//! of `go test -json` contain the same lines.
//!
//! A result line is `BenchmarkName-8 1000 54.2 ns/op 16 B/op …`. Every result line is one
//! observation, and `-count` produces several. Output of the benchmark itself may precede the
//! numbers or split the line in two; such lines are reassembled. Lines `key: value` before the
//! results are facts about the run. If their values change within the file, they are parameters
//! that distinguish benchmarks of the same name. Names are interpreted in
//! [`go_names`](super::go_names).

use super::go_names::{GoBenchmark, Naming, OriginalName, Settings, metric_of_unit};
use super::number::Conversion;
use super::recorder::Recorder;
use super::troubles::Troubles;
use super::{Context, Head, ImportError, Part};
use crate::finding::shared::{benchmark_errors, benchmarks_skipped, lines_skipped};
use crate::input::Input;
use crate::lines::{Lines, MAX_LINE};
use crate::number::plain;
use crate::read_error::quoted_start;
use crate::samples::{Better, ITERATIONS, Metric, Outcome};
use crate::unit::Unit;
use std::collections::HashMap;
use std::rc::Rc;

/// Maximum number of `key: value` settings in effect. Further ones are taken for the output of some
/// program.
const MAX_KEYS: usize = 32;
/// Maximum length of a value, in bytes. A longer value is not a setting.
const MAX_VALUE: usize = 256;
/// Maximum number of different combinations of settings in one file. A file with more is refused.
const MAX_SETTINGS: usize = 20_000;

/// Returns true if the head of the file contains a result line. A result that is split by the
/// program's own output counts only if it has one of Go's units (`…/op`).
pub(super) fn recognise(head: &Head<'_>) -> bool {
    let mut pending = None;
    head.text.lines().any(|line| {
        let torn = torn_result(line, pending);
        let is_torn = torn.is_some_and(|torn| torn.fields.iter().any(|(_, u)| u.ends_with("/op")));
        pending = name_before_tab(line).or(pending);
        is_torn || result(line).is_some() || Unreadable::of(line) == Unreadable::Result
    })
}

pub(super) fn read(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    let mut lines = Lines::new(input.into_reader(), context.file);
    let mut reader = Reader::new(context);
    while let Some(line) = lines.next()? {
        reader.line("", line.text, line.number, line.ended)?;
    }
    reader.finish()
}

/// Properties of a unit stated by `Unit` lines.
#[derive(Default)]
struct UnitMetadata {
    better: Option<Better>,
    exact: bool,
}

impl UnitMetadata {
    fn apply(&self, metric: &mut Metric) {
        *metric = metric.clone().directed(self.better);
        metric.exact |= self.exact;
        metric.assumed_exact |= self.exact;
    }
}

/// State of the reader for one package, because a stream of events interleaves the output of
/// several.
#[derive(Default)]
struct Stream {
    config: Rc<Settings>,
    /// Index of the current settings among all settings, or `None` until a result has used them.
    setting: Option<usize>,
    /// Name of a benchmark whose numbers have not been printed yet.
    pending: Option<String>,
    /// A line that is not complete yet.
    torn: String,
}

/// Gathers results from lines of text, or from a stream of events with the output of several
/// packages.
pub(super) struct Reader<'a> {
    recorder: Recorder<'a>,
    streams: HashMap<String, Stream>,
    naming: Naming,
    /// For each benchmark that was renamed for Go, the most recent original name, and the number of
    /// lines so far that gave one.
    named: HashMap<String, (Rc<OriginalName>, usize)>,
    /// All settings that were in effect for some result, with their indices.
    settings: HashMap<Rc<Settings>, usize>,
    /// Index of each benchmark, by name, settings and number of original names given so far.
    known: HashMap<String, usize>,
    /// For each unit in the file, the index of its metric and the conversion of its values.
    metrics: HashMap<String, (usize, Conversion)>,
    units: HashMap<String, UnitMetadata>,
    file: &'a str,
    failed: Troubles,
    skipped: Troubles,
    /// Lines that begin like a result but are not one, or whose values are not finite numbers.
    unread: Troubles,
    has_started: bool,
}

impl<'a> Reader<'a> {
    pub(super) fn new(context: &'a Context<'a>) -> Self {
        Self {
            recorder: Recorder::new(context, "go test"),
            streams: HashMap::new(),
            naming: Naming::default(),
            named: HashMap::new(),
            settings: HashMap::new(),
            known: HashMap::new(),
            metrics: HashMap::new(),
            units: HashMap::new(),
            file: context.file,
            failed: Troubles::default(),
            skipped: Troubles::default(),
            unread: Troubles::default(),
            has_started: false,
        }
    }

    /// Returns true if any result was read.
    pub(super) fn has_results(&self) -> bool {
        !self.known.is_empty()
    }

    /// Sets the start of the run, unless it is already set.
    pub(super) fn started(&mut self, time: &str) {
        if !std::mem::replace(&mut self.has_started, true) {
            self.recorder.started(time);
        }
    }

    /// Reads output of a package, which may be only part of a line. `number` is the number of the
    /// line in the file.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`line`](Self::line), and if a line is too long.
    pub(super) fn output(
        &mut self,
        package: &str,
        output: &str,
        number: u64,
    ) -> Result<(), ImportError> {
        let stream = self.streams.entry(package.to_owned()).or_default();
        let whole = output.rfind('\n').map_or(0, |end| stream.torn.len() + end + 1);
        stream.torn.push_str(output);
        if stream.torn.len() as u64 > MAX_LINE {
            let problem = "output without a line feed that is longer than 16 MiB";
            return Err(self.recorder.at(number, problem));
        }
        let text: String = stream.torn.drain(..whole).collect();
        text.lines().try_for_each(|text| self.line(package, text, number, true))
    }

    /// Reads a line. `ended` is false if the file breaks off within it.
    ///
    /// # Errors
    /// Returns an error if the line is a result that cannot be parsed.
    pub(super) fn line(
        &mut self,
        package: &str,
        text: &str,
        number: u64,
        ended: bool,
    ) -> Result<(), ImportError> {
        if let Some(found) = result(text) {
            return self.take(package, &found, number, ended);
        }
        if let Some((name, named)) = OriginalName::read(text) {
            let count = self.named.get(name).map_or(0, |(_, count)| *count) + 1;
            self.named.insert(name.to_owned(), (Rc::new(named), count));
            return Ok(());
        }
        // Taken out temporarily instead of cloned, because a name may be long and there may be many
        // lines.
        let pending = self.streams.get_mut(package).and_then(|stream| stream.pending.take());
        if let Some(found) = torn_result(text, pending.as_deref()) {
            return self.take(package, &found, number, ended);
        }
        if let Some(stream) = self.streams.get_mut(package) {
            stream.pending = pending;
        }
        if !ended && text.starts_with("Benchmark") {
            let problem = "the file breaks off here; expected the numbers of this benchmark";
            return Err(self.recorder.at(number, problem));
        }
        let kind = Unreadable::of(text);
        if kind == Unreadable::Result {
            let problem = format!(
                "`{}` is not a result; expected a name, the number of iterations, and pairs of value and unit, such as `100 54.2 ns/op`",
                quoted_start(text)
            );
            return Err(self.recorder.at(number, problem));
        }
        if kind == Unreadable::Beginning {
            self.unread.add(format!("`{}` ({}:{number})", quoted_start(text), self.file));
        }
        if let Some(name) = name_before_tab(text) {
            self.stream(package).pending = Some(name.to_owned());
        } else if let Some(rest) = text.trim_start().strip_prefix("--- ") {
            let name = |rest: &str| rest.split_ascii_whitespace().next().unwrap_or("?").to_owned();
            if let Some(rest) = rest.strip_prefix("FAIL: ") {
                self.failed.add(format!("`{}`", name(rest)));
            } else if let Some(rest) = rest.strip_prefix("SKIP: ") {
                self.skipped.add(format!("`{}`", name(rest)));
            }
        } else if let Some(what) = text.strip_prefix("panic: ") {
            let running = self.stream(package).pending.take();
            let at = running.map(|name| format!(" in `{name}`")).unwrap_or_default();
            self.failed.add(format!("a panic{at} ({})", quoted_start(what)));
        } else if let Some(rest) = text.strip_prefix("FAIL\t") {
            // The package is followed by the duration.
            let package = rest.split('\t').next().unwrap_or(rest);
            self.failed.add(format!("package `{}`", quoted_start(package)));
        } else if let Some(rest) = text.strip_prefix("Unit ") {
            self.unit_line(rest);
        } else if let Some((key, value)) = config_line(text) {
            self.configure(package, key, value);
        }
        Ok(())
    }

    fn stream(&mut self, package: &str) -> &mut Stream {
        if !self.streams.contains_key(package) {
            self.streams.insert(package.to_owned(), Stream::default());
        }
        self.streams.get_mut(package).expect("it was put there if it was not")
    }

    /// Applies a setting. An empty value removes it.
    fn configure(&mut self, package: &str, key: &str, value: &str) {
        let stream = self.stream(package);
        if stream.config.iter().any(|(known, old)| known == key && old == value) {
            return;
        }
        stream.setting = None;
        let config = Rc::make_mut(&mut stream.config);
        let place = config.iter().position(|(known, _)| known == key);
        match place {
            Some(place) if value.is_empty() => drop(config.remove(place)),
            Some(place) => value.clone_into(&mut config[place].1),
            None if value.is_empty() || config.len() >= MAX_KEYS => {}
            None => config.push((key.to_owned(), value.to_owned())),
        }
    }

    /// Reads a `Unit` line without its first word, such as `ns/op better=lower assume=exact`. It
    /// applies to the whole file.
    fn unit_line(&mut self, rest: &str) {
        let mut words = rest.split_ascii_whitespace();
        let Some(unit) = words.next() else { return };
        let metadata = self.units.entry(unit.to_owned()).or_default();
        for word in words {
            match word.split_once('=') {
                Some(("better", "higher")) => metadata.better = Some(Better::Higher),
                Some(("better", "lower")) => metadata.better = Some(Better::Lower),
                Some(("assume", assumed)) => metadata.exact = assumed == "exact",
                _ => {}
            }
        }
        if let Some(&(metric, _)) = self.metrics.get(unit) {
            metadata.apply(self.recorder.metric_mut(metric));
        }
    }

    fn take(
        &mut self,
        package: &str,
        found: &GoResult<'_>,
        number: u64,
        ended: bool,
    ) -> Result<(), ImportError> {
        let GoResult { name, iterations, fields } = found;
        let stream = self.stream(package);
        stream.pending = None;
        let (config, setting) = (Rc::clone(&stream.config), stream.setting);
        let setting = match setting {
            Some(setting) => setting,
            None => {
                let next = self.settings.len();
                let setting = *self.settings.entry(Rc::clone(&config)).or_insert(next);
                self.stream(package).setting = Some(setting);
                setting
            }
        };
        if setting >= MAX_SETTINGS {
            let problem = format!(
                "lines `key: value` have changed {MAX_SETTINGS} times by here; split the file"
            );
            return Err(self.recorder.at(number, problem));
        }
        let (named, called) = self.named.get(*name).cloned().unzip();
        let called = called.unwrap_or_default();
        let key = format!("{name}\n{setting}\n{called}");
        let last = fields.len() - 1;
        let is_first = self.metrics.is_empty();
        let mut values = Vec::with_capacity(fields.len());
        for (index, &(value, unit)) in fields.iter().enumerate() {
            if !ended && index == last && !is_first && !self.metrics.contains_key(unit) {
                let problem = format!("the file breaks off here, within the unit `{unit}`");
                return Err(self.recorder.at(number, problem));
            }
            let (metric, conversion) = self.metric(unit, number)?;
            let (metric, read) = (*metric, conversion.read_plain(value));
            if fields[..index].iter().any(|(_, earlier)| *earlier == unit) {
                let (unit, name) = (quoted_start(unit), quoted_start(name));
                let problem =
                    format!("`{name}` has two values in `{unit}`; one unit has one value");
                return Err(self.recorder.at(number, problem));
            }
            let Some(read) = read else {
                let shown = format!("{} {}", quoted_start(value), quoted_start(unit));
                let name = quoted_start(name);
                let what = format!("`{shown}` of `{name}` ({}:{number})", self.file);
                self.recorder.not_finite(what);
                continue;
            };
            values.push((metric, read));
        }
        // Added after the metrics of the line, because a benchmark may itself report a metric of
        // this name.
        if !self.metrics.contains_key(ITERATIONS) {
            let metric = Metric { better: Better::Higher, ..Metric::lower(ITERATIONS, Unit::One) };
            let metric = self.recorder.metric(&metric);
            let metric = metric.map_err(|problem| self.recorder.at(number, problem))?;
            // A split line may lack the iterations.
            values.extend(iterations.is_finite().then_some((metric, *iterations)));
        }
        let benchmark = match self.known.get(&key) {
            Some(&benchmark) => benchmark,
            None => {
                let benchmark = self.recorder.benchmark(&key, None, &[]);
                let name = (*name).to_owned();
                self.naming.benchmarks.push(GoBenchmark { name, config, named });
                self.known.insert(key, benchmark);
                benchmark
            }
        };
        let taken = self.recorder.observe(benchmark, &[], Outcome::Ok, &values);
        taken.map_err(|problem| self.recorder.at(number, problem))
    }

    fn metric(&mut self, unit: &str, number: u64) -> Result<&(usize, Conversion), ImportError> {
        if !self.metrics.contains_key(unit) {
            let (mut metric, conversion) = metric_of_unit(unit);
            if let Some(metadata) = self.units.get(unit) {
                metadata.apply(&mut metric);
            }
            let index = self.recorder.metric(&metric);
            let index = index.map_err(|problem| self.recorder.at(number, problem))?;
            self.metrics.insert(unit.to_owned(), (index, conversion));
        }
        Ok(&self.metrics[unit])
    }

    /// Returns the samples.
    ///
    /// # Errors
    /// Returns an error if the input has no results.
    pub(super) fn finish(mut self) -> Result<Part, ImportError> {
        let unfinished: Vec<_> =
            self.streams.values_mut().filter_map(|stream| stream.pending.take()).collect();
        for name in unfinished {
            self.failed.add(format!("`{name}`, which never reported its numbers"));
        }
        if let Some(seen) = self.failed.summary() {
            let message = format!("not everything ran to completion: {seen}");
            self.recorder.finding(benchmark_errors(&message, self.failed.count()));
        }
        if let Some(seen) = self.skipped.summary() {
            let message = format!("skipped, so without values: {seen}");
            self.recorder.finding(benchmarks_skipped(message, self.skipped.count()));
        }
        if let Some(seen) = self.unread.summary() {
            let what =
                "that begin like a result but are not one, perhaps printed by the benchmark,";
            self.recorder.finding(lines_skipped(what, &seen, self.unread.count() as u64));
        }
        let named = self.naming.apply(&mut self.recorder);
        named.map_err(|problem| self.recorder.whole_file(problem))?;
        self.recorder.finish("what `go test` prints, without results of benchmarks")
    }
}

fn is_number(word: &&str) -> bool {
    plain(word).is_some()
}

/// Classification of a line that cannot be read as a result.
#[derive(PartialEq)]
enum Unreadable {
    /// A malformed result.
    Result,
    /// A line that begins like a result but may be anything, because benchmarks may print any text.
    Beginning,
    /// Not a result.
    Other,
}

impl Unreadable {
    fn of(text: &str) -> Self {
        let is_named = name_at_start(text).is_some();
        let mut words = text.split_ascii_whitespace().skip(1);
        let (Some(count), Some(value), true) = (words.next(), words.next(), is_named) else {
            return Self::Other;
        };
        let is_counted = count.parse::<u64>().is_ok();
        if is_number(&count) && is_number(&value) {
            return Self::Result;
        }
        // A unit of Go's own shows that the preceding word was meant as a value.
        let units = words.step_by(2);
        match units.clone().next() {
            Some(_) if units.clone().any(|unit| unit.ends_with("/op")) => Self::Result,
            Some(unit) if is_counted && unit.ends_with("/s") => Self::Result,
            Some(_) if is_counted => Self::Beginning,
            _ => Self::Other,
        }
    }
}

/// Returns the benchmark's name at the start of a line. `Benchmarking …` is a sentence, because in
/// a name no lowercase letter follows `Benchmark`. A name followed by a colon is a program's own
/// output, as in `BenchmarkEnv: staging`.
fn name_at_start(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("Benchmark")?;
    let name = text.split_ascii_whitespace().next()?;
    (!rest.starts_with(|c: char| c.is_lowercase()) && !name.ends_with(':')).then_some(name)
}

/// The contents of a result line.
struct GoResult<'a> {
    name: &'a str,
    /// Number of iterations, or NaN if it is unknown because the line is split.
    iterations: f64,
    /// Pairs of value and unit.
    fields: Vec<(&'a str, &'a str)>,
}

/// Parses the name and the numbers of a result line, separated by any blanks.
fn result(text: &str) -> Option<GoResult<'_>> {
    let name = name_at_start(text)?;
    let mut words = text.split_ascii_whitespace().skip(1);
    let iterations = words.next()?.parse::<u64>().ok()? as f64;
    let mut fields = Vec::new();
    while let Some(value) = words.next() {
        plain(value)?;
        fields.push((value, words.next()?));
    }
    (!fields.is_empty() && fields.iter().all(|(_, unit)| !is_number(unit))).then_some(GoResult {
        name,
        iterations,
        fields,
    })
}

/// Like [`result`], but for a line that begins or continues with other text. The numbers are at the
/// end, separated by tabs as `go test` prints them, and the name is within the line or on an
/// earlier one.
fn torn_result<'a>(text: &'a str, pending: Option<&'a str>) -> Option<GoResult<'a>> {
    let mut fields = Vec::new();
    let mut pieces = text.rsplit('\t');
    let before = loop {
        let piece = pieces.next()?;
        match piece.trim().split_once(' ') {
            Some((value, unit))
                if plain(value).is_some() && !unit.contains(char::is_whitespace) =>
            {
                fields.push((value, unit));
            }
            _ => break piece,
        }
    };
    let ends_with_digit = before.ends_with(|c: char| c.is_ascii_digit());
    let last = before.split_ascii_whitespace().next_back().unwrap_or_default();
    let iterations = last.parse::<u64>().map_or(f64::NAN, |count| count as f64);
    let name = name_before_tab(text).or(pending)?;
    fields.reverse();
    (ends_with_digit && !fields.is_empty()).then_some(GoResult { name, iterations, fields })
}

/// Returns the last benchmark name that is followed by blanks and a tab, which shows that its
/// numbers were about to be printed.
fn name_before_tab(text: &str) -> Option<&str> {
    // Examines every tab, starting with the last one. The name is the word before the tab and its
    // blanks, if that word begins like a name.
    text.rmatch_indices('\t').find_map(|(tab, _)| {
        let before = text[..tab].trim_end_matches(' ');
        let word = before
            .rfind(char::is_whitespace)
            .map_or(0, |blank| blank + before[blank..].chars().next().map_or(0, char::len_utf8));
        let start = before[word..].rfind("Benchmark")?;
        Some(&before[word + start..])
    })
}

/// Parses `key: value`, where the key is a single word that begins with a lowercase letter and has
/// no uppercase letters.
fn config_line(text: &str) -> Option<(&str, &str)> {
    let (key, value) = text.split_once(':')?;
    let is_key = key.starts_with(|c: char| c.is_lowercase())
        && !key.contains(|c: char| c.is_whitespace() || c.is_uppercase() || c == '/');
    let value_follows = value.is_empty() || value.starts_with([' ', '\t']);
    let value = value.trim();
    (is_key && value_follows && value.len() <= MAX_VALUE).then_some((key, value))
}
