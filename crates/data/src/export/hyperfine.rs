//! Exports samples in hyperfine's JSON, for existing scripts and plots, in the layout of 1.x or in
//! schema 2 of 2.x.
//!
//! In addition to the individual runs, these files have statistics that describe them (mean,
//! standard deviation, median, extremes). The statistics are computed here and used nowhere else;
//! verdicts are based on others. The layouts cannot represent blocks and their order, the plan, the
//! environment, timeouts as such, and metrics that hyperfine does not have, so these are lost. Runs
//! are listed by command, so the blocks cannot be recovered from such a file; keep the sample file
//! for that.
//!
//! The layouts are those that hyperfine 1.20 and 2.0 write.

use super::text_of;
use crate::reading::{Take, take};
use crate::{Observation, Outcome, Samples, Subject};
use serde::{Serialize, Serializer, ser::SerializeMap};
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::rc::Rc;

/// For each metric: our name, hyperfine 2's name, and hyperfine's name for its unit.
const METRICS: [(&str, &str, &str); 5] = [
    ("wall", "time_wall_clock", "second"),
    ("cpu", "time_cpu", "second"),
    ("user", "time_user", "second"),
    ("system", "time_system", "second"),
    ("max_rss", "memory_peak_resident", "byte"),
];

/// Writes the samples in the layout of hyperfine 1.x. O(observations).
///
/// Subjects that have no run with a wall time are left out. `command` is the command line, or the
/// name if several subjects have the same command line and parameters. The additional key `name`,
/// which hyperfine 1.x does not write, is ignored by readers of that layout. `user` and `system`
/// are means, or 0 if they were not measured, because the layout requires a number. The exit code
/// is `null` for runs that were ended by a signal or the time limit.
///
/// # Errors
/// Returns an error if the samples have no wall time, which this layout requires, or if writing to
/// the sink fails.
pub fn hyperfine(samples: &Samples, sink: &mut impl Write) -> io::Result<()> {
    let results = runs(samples)?.into_iter().map(|runs| {
        let wall = runs.values("wall");
        let mean_of = |metric| take(&runs.values(metric), Take::Mean).unwrap_or(0.0);
        let memory = runs.values("max_rss");
        let parameters = runs.subject.parameters.iter();
        Result1 {
            command: runs.command(),
            name: Some(runs.subject.name.as_str()).filter(|&name| name != runs.name_by_command()),
            summary: Summary::of(&wall),
            user: mean_of("user"),
            system: mean_of("system"),
            memory_usage_byte: (memory.len() == wall.len())
                .then(|| memory.iter().map(|&bytes| bytes as u64).collect()),
            exit_codes: runs.observations().map(|run| exit_code(run.outcome)).collect(),
            parameters: parameters.map(|(name, value)| (name.as_str(), value.as_str())).collect(),
            times: wall,
        }
    });
    write(&File1 { results: results.collect() }, sink)
}

/// Writes the samples in hyperfine's schema 2. O(observations).
///
/// Subjects without any wall time and metrics that hyperfine does not have are left out. The
/// metadata name the tool that measured, not hyperfine.
///
/// # Errors
/// Returns an error if the samples have no wall time, or if writing to the sink fails.
pub fn hyperfine2(samples: &Samples, sink: &mut impl Write) -> io::Result<()> {
    let all = runs(samples)?;
    let results = all.iter().map(|runs| Result2 {
        command: runs.subject.command.as_deref().unwrap_or(&runs.subject.name),
        name: runs.subject.command.is_some().then_some(runs.subject.name.as_str()),
        measurements: runs.observations().map(|run| Measurement { samples, run }).collect(),
        parameters: {
            let known = runs.subject.parameters.iter();
            known
                .map(|(name, value)| (name.as_str(), Parameter { value: value.as_str() }))
                .collect()
        },
        environment: {
            let known = runs.subject.env.iter();
            known.map(|(name, value)| (name.as_str(), value.as_str())).collect()
        },
        summary: {
            let known =
                METRICS.into_iter().map(|(ours, theirs, unit)| (theirs, unit, runs.values(ours)));
            known
                .filter(|(_, _, values)| !values.is_empty())
                .map(|(name, unit, values)| {
                    let (summary, count) = (Summary::of(&values), values.len());
                    (name, Summary2 { unit, count, summary })
                })
                .collect()
        },
    });
    let primary = samples.plan.as_ref().map_or("wall", |plan| plan.primary.as_str());
    let known = METRICS.iter().find(|(ours, _, _)| *ours == primary);
    let environment = &samples.environment;
    let tool = samples.tool.as_deref().unwrap_or("assay");
    let system = environment.text("os");
    write(
        &File2 {
            schema_version: 2,
            metadata: Metadata {
                hyperfine_version: tool.strip_prefix("hyperfine ").unwrap_or(tool),
                start_time: samples.started.as_deref(),
                platform: Platform {
                    os: system.and_then(|os| os.split(' ').next()),
                    architecture: text_of(environment, &["arch", "architecture"]),
                },
            },
            primary_metric: known.map_or("time_wall_clock", |(_, theirs, _)| theirs),
            results: results.collect(),
        },
        sink,
    )
}

/// The runs of one subject that have a wall time, in the order of measuring.
struct Runs<'a> {
    samples: &'a Samples,
    subject: &'a Subject,
    of_command: Rc<OfCommand<'a>>,
    /// Indices of the observations.
    taken: Vec<u32>,
}

/// The subjects of each command.
type OfCommand<'a> = HashMap<&'a str, Vec<&'a Subject>>;

fn runs(samples: &Samples) -> io::Result<Vec<Runs<'_>>> {
    let Some(wall) = samples.metric_index("wall") else {
        let problem = "hyperfine's JSON holds wall times, and these samples have no metric `wall`; \
                       export CSV or keep the sample file";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
    };
    let by_subject = samples.by_subject();
    let mut of_command = OfCommand::new();
    for subject in &samples.subjects {
        if let Some(command) = &subject.command {
            of_command.entry(command).or_default().push(subject);
        }
    }
    let of_command = Rc::new(of_command);
    let all = samples.subjects.iter().enumerate().map(|(place, subject)| {
        let taken = by_subject.series(place, wall).map(|(index, _)| index).collect();
        Runs { samples, subject, of_command: Rc::clone(&of_command), taken }
    });
    Ok(all.filter(|runs| !runs.taken.is_empty()).collect())
}

impl<'a> Runs<'a> {
    /// Returns the finite values of one of our metrics.
    fn values(&self, metric: &str) -> Vec<f64> {
        let Some(index) = self.samples.metric_index(metric) else { return Vec::new() };
        self.observations().map(|run| run.values[index]).filter(|value| value.is_finite()).collect()
    }

    fn observations(&self) -> impl Iterator<Item = Observation> + '_ {
        self.taken.iter().filter_map(|&index| self.samples.observation(index as usize))
    }

    /// Returns the subjects with this command.
    fn with(&self, command: &str) -> &[&'a Subject] {
        self.of_command.get(command).map_or(&[], Vec::as_slice)
    }

    /// Returns the text that distinguishes this subject from the others in a layout without names.
    fn command(&self) -> &'a str {
        let same = |other: &&&Subject| other.parameters == self.subject.parameters;
        let unique = |command: &&str| self.with(command).iter().filter(same).count() == 1;
        self.subject.command.as_deref().filter(unique).unwrap_or(&self.subject.name)
    }

    /// Returns the name that readers give to a subject without a name: its command, with its
    /// parameters if several have the same command.
    fn name_by_command(&self) -> String {
        let mut name = self.command().to_owned();
        if self.with(&name).len() > 1 {
            for (parameter, value) in &self.subject.parameters {
                name += &format!(" {parameter}={value}");
            }
        }
        name
    }
}

fn exit_code(outcome: Outcome) -> Option<i32> {
    match outcome {
        Outcome::Ok => Some(0),
        Outcome::Exit(status) => Some(status),
        Outcome::Signal(_) | Outcome::Timeout => None,
    }
}

fn write(file: &impl Serialize, sink: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *sink, file)?;
    sink.write_all(b"\n")?;
    sink.flush()
}

/// Descriptive statistics of at least one finite value.
#[derive(Serialize)]
struct Summary {
    mean: f64,
    /// Standard deviation, with the denominator n − 1; `None` for a single value.
    stddev: Option<f64>,
    median: f64,
    min: f64,
    max: f64,
}

impl Summary {
    fn of(values: &[f64]) -> Self {
        let of = |kind| take(values, kind).expect("a subject without runs was left out before");
        let mean = of(Take::Mean);
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let stddev = (values.len() > 1).then(|| (squares / (values.len() - 1) as f64).sqrt());
        Self { mean, stddev, median: of(Take::Median), min: of(Take::Min), max: of(Take::Max) }
    }
}

#[derive(Serialize)]
struct File1<'a> {
    results: Vec<Result1<'a>>,
}

struct Result1<'a> {
    command: &'a str,
    name: Option<&'a str>,
    summary: Summary,
    user: f64,
    system: f64,
    times: Vec<f64>,
    memory_usage_byte: Option<Vec<u64>>,
    exit_codes: Vec<Option<i32>>,
    parameters: BTreeMap<&'a str, &'a str>,
}

impl Serialize for Result1<'_> {
    /// Writes the members one by one, because `user` and `system` come in the middle of the
    /// summary.
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("command", self.command)?;
        if let Some(name) = self.name {
            map.serialize_entry("name", name)?;
        }
        map.serialize_entry("mean", &self.summary.mean)?;
        map.serialize_entry("stddev", &self.summary.stddev)?;
        map.serialize_entry("median", &self.summary.median)?;
        map.serialize_entry("user", &self.user)?;
        map.serialize_entry("system", &self.system)?;
        map.serialize_entry("min", &self.summary.min)?;
        map.serialize_entry("max", &self.summary.max)?;
        map.serialize_entry("times", &self.times)?;
        if let Some(memory) = &self.memory_usage_byte {
            map.serialize_entry("memory_usage_byte", memory)?;
        }
        map.serialize_entry("exit_codes", &self.exit_codes)?;
        if !self.parameters.is_empty() {
            map.serialize_entry("parameters", &self.parameters)?;
        }
        map.end()
    }
}

#[derive(Serialize)]
struct File2<'a> {
    schema_version: u32,
    metadata: Metadata<'a>,
    primary_metric: &'static str,
    results: Vec<Result2<'a>>,
}

#[derive(Serialize)]
struct Metadata<'a> {
    hyperfine_version: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    start_time: Option<&'a str>,
    platform: Platform<'a>,
}

#[derive(Serialize)]
struct Platform<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    os: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    architecture: Option<&'a str>,
}

#[derive(Serialize)]
struct Result2<'a> {
    command: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    measurements: Vec<Measurement<'a>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    parameters: BTreeMap<&'a str, Parameter<'a>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    environment: BTreeMap<&'a str, &'a str>,
    summary: BTreeMap<&'static str, Summary2>,
}

#[derive(Serialize)]
struct Parameter<'a> {
    value: &'a str,
}

#[derive(Serialize)]
struct Summary2 {
    unit: &'static str,
    count: usize,
    #[serde(flatten)]
    summary: Summary,
}

/// A single run: its metrics by name, and its exit code.
struct Measurement<'a> {
    samples: &'a Samples,
    run: Observation,
}

#[derive(Serialize)]
struct Value {
    value: f64,
    unit: &'static str,
}

impl Serialize for Measurement<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        for (ours, theirs, unit) in METRICS {
            let value = self.samples.metric_index(ours).map(|index| self.run.values[index]);
            if let Some(value) = value.filter(|value| value.is_finite()) {
                map.serialize_entry(theirs, &Value { value, unit })?;
            }
        }
        map.serialize_entry("exit_code", &exit_code(self.run.outcome))?;
        map.end()
    }
}

#[cfg(test)]
mod tests;
