//! hyperfine's JSON: the layout of 1.x (`times` for every command), and schema 2 of 2.x
//! (`measurements` with all metrics).
//!
//! Runs are listed by command, regardless of the order in which they were taken. Commands are
//! therefore separate recordings, never blocks. `user` and `system` are not read from 1.x, which
//! keeps only their means. If commands ran in a shell, 1.x has subtracted the mean time of a shell
//! from its times, which the file does not show. If the runs were removed from the file,
//! [`summary`] reads the remaining statistics. The layouts were checked against hyperfine 1.15,
//! 1.20 and 2.0.

mod summary;
mod table;

use super::recorder::Recorder;
use super::{Context, Head, ImportError, Part, json};
use crate::declared_unit::DeclaredUnit;
use crate::input::Input;
use crate::samples::{Metric, Outcome};
use crate::select::without_value;
use crate::unit::Unit;
use json::Number;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::marker::PhantomData;
use summary::{KNOWN, Reported, declared};

pub(super) use table::{read as read_table, recognise as recognise_table};

const EXPECTED: &str =
    "hyperfine's results: `{\"results\": [{\"command\": …, \"times\": […]}, …]}` or schema 2";

pub(super) fn recognise(head: &Head<'_>) -> bool {
    let has = |key: &str| head.text.contains(key);
    let has_numbers = || has("\"times\"") || (has("\"mean\"") && has("\"median\""));
    head.is_json()
        && (has("\"hyperfine_version\"")
            || (has("\"results\"") && has("\"command\"") && has_numbers())
            || is_empty(head.text))
}

/// Recognizes the file that 1.x writes if no command finished.
fn is_empty(text: &str) -> bool {
    text.chars().filter(|c| !c.is_whitespace()).eq(r#"{"results":[]}"#.chars())
}

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    schema_version: u64,
    #[serde(default)]
    metadata: Metadata,
    primary_metric: Option<String>,
    results: Vec<Command>,
}

#[derive(Default, Deserialize)]
struct Metadata {
    hyperfine_version: Option<String>,
    start_time: Option<String>,
    #[serde(default)]
    platform: Map<String, Value>,
}

/// One command, in either layout.
#[derive(Deserialize)]
struct Command {
    command: String,
    name: Option<String>,
    #[serde(default)]
    parameters: Map<String, Value>,
    #[serde(default)]
    environment: Map<String, Value>,
    #[serde(default, deserialize_with = "json::times")]
    times: Vec<Number>,
    #[serde(default)]
    memory_usage_byte: Vec<Number>,
    #[serde(default)]
    exit_codes: ExitCodes,
    #[serde(default)]
    measurements: Vec<Run>,
    /// Statistics of each metric by name, as written by 2.x.
    #[serde(default)]
    summary: BTreeMap<String, Reported>,
    #[serde(default, deserialize_with = "json::some_time")]
    mean: Option<Number>,
    stddev: Option<Number>,
    #[serde(default, deserialize_with = "json::some_time")]
    median: Option<Number>,
    #[serde(default, deserialize_with = "json::some_time")]
    user: Option<Number>,
    #[serde(default, deserialize_with = "json::some_time")]
    system: Option<Number>,
    #[serde(default, deserialize_with = "json::some_time")]
    min: Option<Number>,
    #[serde(default, deserialize_with = "json::some_time")]
    max: Option<Number>,
}

/// A run in schema 2, in the file's order.
struct Run(Vec<(String, RunMember)>);

impl<'de> Deserialize<'de> for Run {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut all = Vec::new();
        json::each_member(|name, member| {
            all.push((name, member));
            Ok(())
        })
        .deserialize(deserializer)?;
        Ok(Self(all))
    }
}

/// The value of a member of a run: a metric's value and unit, an exit code, or anything else.
enum RunMember {
    Measured(f64, DeclaredUnit),
    Code(i64),
    Other,
}

#[derive(Deserialize)]
struct MemberValue {
    #[serde(default, deserialize_with = "json::known")]
    value: Option<Number>,
    #[serde(default)]
    unit: String,
}

impl<'de> Deserialize<'de> for RunMember {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RunMemberVisitor)
    }
}

struct RunMemberVisitor;

impl<'de> Visitor<'de> for RunMemberVisitor {
    type Value = RunMember;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value with its unit, or an exit code")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<RunMember, A::Error> {
        let MemberValue { value, unit } =
            MemberValue::deserialize(MapAccessDeserializer::new(map))?;
        let (Some(Number(value)), unit) = (value, declared(&unit)) else {
            return Ok(RunMember::Other);
        };
        if unit.unit == Unit::Second {
            json::checked_time(Number(value))?;
        }
        Ok(RunMember::Measured(value, unit))
    }

    fn visit_i64<E>(self, code: i64) -> Result<RunMember, E> {
        Ok(RunMember::Code(code))
    }

    fn visit_u64<E>(self, code: u64) -> Result<RunMember, E> {
        Ok(RunMember::Code(code as i64))
    }

    fn visit_f64<E>(self, _: f64) -> Result<RunMember, E> {
        Ok(RunMember::Other)
    }

    fn visit_bool<E>(self, _: bool) -> Result<RunMember, E> {
        Ok(RunMember::Other)
    }

    fn visit_str<E>(self, _: &str) -> Result<RunMember, E> {
        Ok(RunMember::Other)
    }

    fn visit_unit<E>(self) -> Result<RunMember, E> {
        Ok(RunMember::Other)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<RunMember, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(RunMember::Other)
    }
}

/// The exit codes of a command. Only the nonzero ones are stored, by index of the run, because
/// there may be millions.
#[derive(Default)]
struct ExitCodes {
    count: usize,
    failed: HashMap<usize, i32>,
}

impl<'de> Deserialize<'de> for ExitCodes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut codes = Self::default();
        json::each(|code: Option<i32>| {
            if let Some(code) = code.filter(|code| *code != 0) {
                codes.failed.insert(codes.count, code);
            }
            codes.count += 1;
            Ok(())
        })
        .deserialize(deserializer)?;
        Ok(codes)
    }
}

impl Command {
    /// Returns the parameters with their values, which 2.x wraps into an object.
    fn parameters(&self) -> Vec<(String, String)> {
        let value = |value: &Value| match value.get("value").unwrap_or(value) {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        self.parameters.iter().map(|(name, v)| (name.clone(), value(v))).collect()
    }

    /// Returns the statistics that 1.x writes next to the times. The number of runs is taken from
    /// its other lists, which have one entry per run.
    fn reported(&self) -> Reported {
        let runs = self.exit_codes.count.max(self.memory_usage_byte.len());
        Reported {
            unit: "second".to_owned(),
            count: (runs > 0).then_some(runs as u64),
            mean: self.mean,
            stddev: self.stddev,
            median: self.median,
            min: self.min,
            max: self.max,
        }
    }
}

pub(super) fn read(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    let file: File = json::read(input, EXPECTED, PhantomData)?;
    if file.schema_version > 2 {
        return Err(ImportError::NewerFormat {
            file: context.file.to_owned(),
            format: "hyperfine's JSON",
            version: file.schema_version.to_string(),
            known: "schema 2",
        });
    }
    let version = file.metadata.hyperfine_version.as_deref().unwrap_or("1.x");
    // Other tools that write its layout give their own name.
    let is_other = version.starts_with(|c: char| c.is_alphabetic());
    let tool = if is_other { version.to_owned() } else { format!("hyperfine {version}") };
    let mut recorder = Recorder::new(context, &tool);
    if let Some(time) = &file.metadata.start_time {
        recorder.started(time);
    }
    for (name, value) in &file.metadata.platform {
        recorder.fact(name, value.clone());
    }
    let primary = file.primary_metric.as_deref().unwrap_or("time_wall_clock");
    let names = names(&file.results);
    let is_empty = file.results.is_empty();
    for (command, name) in file.results.into_iter().zip(&names) {
        let parameters = command.parameters();
        let label = label(&command, &parameters);
        let benchmark = recorder.benchmark(name, label.as_deref(), &parameters);
        let subject = recorder.subject_mut(benchmark);
        subject.command = Some(command.command.clone());
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        subject.env = command.environment.iter().map(|(k, v)| (k.clone(), text(v))).collect();
        let read = if !command.measurements.is_empty() {
            runs_of_2(&mut recorder, benchmark, &command, primary)
        } else if !command.times.is_empty() {
            runs_of_1(&mut recorder, benchmark, command)
        } else if !command.summary.is_empty() {
            summary::of_2(&mut recorder, benchmark, &command.summary, primary)
        } else {
            let parts = [("user", command.user), ("system", command.system)];
            summary::of_1(&mut recorder, benchmark, &command.reported(), parts)
        };
        read.map_err(|problem| recorder.whole_file(format!("`{name}`: {problem}")))?;
    }
    recorder.finish(if is_empty {
        "an empty list of hyperfine's results: no command finished"
    } else {
        "commands without runs"
    })
}

/// Returns a distinct name for every command, from its name or command line.
fn names(commands: &[Command]) -> Vec<String> {
    let parameters: Vec<_> = commands.iter().map(Command::parameters).collect();
    let plain = |c: &Command| c.name.clone().unwrap_or_else(|| c.command.clone());
    let plain: Vec<String> = commands.iter().map(plain).collect();
    distinct_names(plain.iter().map(String::as_str).zip(parameters.iter().map(Vec::as_slice)))
}

/// Returns distinct names. If several commands have the same name, parameters are appended, and
/// numbers if necessary.
fn distinct_names<'c>(
    commands: impl Iterator<Item = (&'c str, &'c [(String, String)])> + Clone,
) -> Vec<String> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for (plain, _) in commands.clone() {
        *counts.entry(plain).or_default() += 1;
    }
    let mut taken: HashMap<String, usize> = HashMap::new();
    let name = |(plain, parameters): (&str, &[(String, String)])| {
        let mut name = plain.to_owned();
        if counts[plain] > 1 {
            for (parameter, value) in parameters {
                name += &format!(" {parameter}={value}");
            }
        }
        let times = taken.entry(name.clone()).or_default();
        *times += 1;
        if *times > 1 { format!("{name} #{times}") } else { name }
    };
    commands.map(name).collect()
}

/// Returns the name of a command without its parameter values, such as `sort {n}` for `sort 8`, or
/// `None` if it has no parameters.
fn label(command: &Command, parameters: &[(String, String)]) -> Option<String> {
    let plain = command.name.clone().unwrap_or_else(|| command.command.clone());
    let marked = |text: String, (name, value): &(String, String)| without_value(&text, name, value);
    (!parameters.is_empty()).then(|| parameters.iter().fold(plain, marked))
}

fn outcome(code: Option<i32>) -> Outcome {
    match code {
        Some(code) if code != 0 => Outcome::Exit(code),
        _ => Outcome::Ok,
    }
}

fn runs_of_1(
    recorder: &mut Recorder<'_>,
    benchmark: usize,
    command: Command,
) -> Result<(), String> {
    let wall = recorder.metric(&Metric::wall())?;
    let numbers = |list: Vec<Number>| list.into_iter().map(|number| number.0).collect();
    let mut columns = Vec::with_capacity(2);
    let has_memory = command.memory_usage_byte.len() == command.times.len();
    columns.push((wall, numbers(command.times)));
    if has_memory {
        let memory = recorder.metric(&Metric::lower("max_rss", Unit::Byte))?;
        columns.push((memory, numbers(command.memory_usage_byte)));
    }
    let failed = command.exit_codes.failed;
    recorder.observe_all(benchmark, columns, |run| outcome(failed.get(&run).copied()))
}

fn runs_of_2(
    recorder: &mut Recorder<'_>,
    benchmark: usize,
    command: &Command,
    primary: &str,
) -> Result<(), String> {
    for run in &command.measurements {
        let code = run.0.iter().find_map(|(name, member)| match member {
            RunMember::Code(code) if name == "exit_code" => Some(*code as i32),
            _ => None,
        });
        let mut values = Vec::new();
        // The metric that the user chose comes first, which makes it the deciding one.
        let (chosen, others): (Vec<_>, Vec<_>) =
            run.0.iter().partition(|(name, _)| name == primary);
        for (name, member) in chosen.into_iter().chain(others) {
            let RunMember::Measured(value, DeclaredUnit { factor, unit }) = member else {
                continue;
            };
            let ours =
                KNOWN.iter().find(|(theirs, _)| theirs == name).map_or(name.as_str(), |k| k.1);
            let metric = recorder.metric(&Metric::lower(ours, unit.clone()))?;
            values.push((metric, value * factor));
        }
        recorder.observe(benchmark, &[], outcome(code), &values)?;
    }
    Ok(())
}
