//! nanobench's JSON (`templates::json()`), where every epoch is an observation, and its CSV
//! (`templates::csv()`), which has only medians.
//!
//! nanobench divides by the iterations and, when printing, also by the batch size, so `wall` is the
//! time per unit, as in `ns/op`. If the system does not provide a CPU counter, its values are all
//! 0, and the counter is left out. A result without epochs was rejected by nanobench, because its
//! work was optimized away or was too short for the clock. The layouts of 4.x are supported.

use super::recorder::Recorder;
use super::{Context, Head, ImportError, Part, json};
use crate::finding::shared::benchmark_error;
use crate::input::Input;
use crate::lines::Lines;
use crate::number::plain;
use crate::samples::{Better, ITERATIONS, Metric, Outcome, Summary};
use crate::unit::Unit;
use json::Number;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};
use std::marker::PhantomData;

const EXPECTED: &str = "nanobench's results: `{\"results\": [{\"name\": …, \"measurements\": [{\"elapsed\": …}, …]}, …]}`";

/// Start of nanobench's table of medians.
const HEADER: &str = "\"title\";\"name\";\"unit\";\"batch\";\"elapsed\";";

/// Settings recorded from the first result.
const SETTINGS: [&str; 9] = [
    "epochs",
    "clockResolution",
    "clockResolutionMultiple",
    "maxEpochTime",
    "minEpochTime",
    "minEpochIterations",
    "epochIterations",
    "warmup",
    "unit",
];

pub(super) fn recognise(head: &Head<'_>) -> bool {
    let has = |key: &str| head.text.contains(key);
    head.is_json()
        && has("\"results\"")
        && (has("\"median(elapsed)\"") || has("\"clockResolution\"") || has("\"elapsed\""))
}

pub(super) fn recognise_table(head: &Head<'_>) -> bool {
    head.first.starts_with(HEADER)
}

#[derive(Deserialize)]
struct File {
    results: Vec<Benchmark>,
}

#[derive(Deserialize)]
struct Benchmark {
    #[serde(default)]
    title: String,
    name: String,
    #[serde(default = "one")]
    batch: f64,
    #[serde(rename = "complexityN", default)]
    complexity_n: Option<Number>,
    #[serde(default)]
    measurements: Vec<Epoch>,
    #[serde(flatten)]
    others: Map<String, Value>,
}

/// One epoch: its time and its counters.
#[derive(Deserialize)]
struct Epoch {
    #[serde(default, deserialize_with = "json::known_time")]
    elapsed: Option<Number>,
    iterations: Option<Number>,
    #[serde(flatten)]
    others: HashMap<String, Number>,
}

fn one() -> f64 {
    1.0
}

impl Benchmark {
    /// Returns the argument over which the complexity was examined; the tool writes -1 for none.
    fn n(&self) -> Option<String> {
        let n = self.complexity_n.and_then(Number::finite).filter(|&n| n >= 0.0)?;
        Some(n.to_string())
    }
}

pub(super) fn read(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    let file: File = json::read(input, EXPECTED, PhantomData)?;
    let mut recorder = Recorder::new(context, "nanobench");
    for (name, value) in file.results.first().iter().flat_map(|first| &first.others) {
        if SETTINGS.contains(&name.as_str()) {
            recorder.fact(&format!("nanobench.{name}"), value.clone());
        }
    }
    let epochs = file.results.iter().flat_map(|result| &result.measurements);
    let all = || epochs.clone().flat_map(|epoch| &epoch.others);
    let counted: HashSet<&str> =
        all().filter(|(_, value)| value.0 != 0.0).map(|(name, _)| name.as_str()).collect();
    let mut names = Names::of(file.results.iter().map(|r| (r.title.as_str(), r.name.as_str())));
    for result in &file.results {
        let n = result.n();
        let mut name = names.of_one(&result.title, &result.name);
        if let Some(n) = &n {
            name += &format!(" n={n}");
        }
        let name = names.free(name);
        if result.measurements.is_empty() {
            let what = "has no time; its work may have been optimized away (see doNotOptimizeAway)";
            recorder.finding(benchmark_error(&name, what));
            continue;
        }
        let parameters: Vec<_> = n.into_iter().map(|n| ("n".to_owned(), n)).collect();
        let subject = recorder.benchmark(&name, Some(&result.name), &parameters);
        take(&mut recorder, subject, result, &counted)
            .map_err(|problem| recorder.whole_file(format!("`{name}`: {problem}")))?;
    }
    recorder.finish("results without epochs")
}

fn take(
    recorder: &mut Recorder<'_>,
    subject: usize,
    result: &Benchmark,
    counted: &HashSet<&str>,
) -> Result<(), String> {
    if !(result.batch > 0.0 && result.batch.is_finite()) {
        return Err(format!("a batch of {}; expected a number above 0", result.batch));
    }
    let wall = recorder.metric(&Metric::wall())?;
    let iterations = Metric { better: Better::Higher, ..Metric::lower(ITERATIONS, Unit::One) };
    let iterations = recorder.metric(&iterations)?;
    for epoch in &result.measurements {
        let mut values: Vec<_> =
            epoch.elapsed.map(|elapsed| (wall, elapsed.0 / result.batch)).into_iter().collect();
        values.extend(epoch.iterations.map(|count| (iterations, count.0)));
        let mut others: Vec<_> =
            epoch.others.iter().filter(|(name, _)| counted.contains(name.as_str())).collect();
        others.sort_by_key(|(name, _)| name.as_str());
        for (name, value) in others {
            let metric = recorder.metric(&Metric::lower(name, Unit::One))?;
            values.push((metric, value.0 / result.batch));
        }
        recorder.observe(subject, &[], Outcome::Ok, &values)?;
    }
    Ok(())
}

/// Names of results. If a name occurs under two titles, the title is prefixed to it.
struct Names {
    ambiguous: HashSet<String>,
    taken: HashMap<String, usize>,
}

impl Names {
    fn of<'n>(results: impl Iterator<Item = (&'n str, &'n str)>) -> Self {
        let mut title_of: HashMap<&str, &str> = HashMap::new();
        let mut ambiguous = HashSet::new();
        for (title, name) in results {
            if *title_of.entry(name).or_insert(title) != title {
                ambiguous.insert(name.to_owned());
            }
        }
        Self { ambiguous, taken: HashMap::new() }
    }

    fn of_one(&self, title: &str, name: &str) -> String {
        if self.ambiguous.contains(name) { format!("{title}: {name}") } else { name.to_owned() }
    }

    /// Returns `name`, with a number appended if it is already in use.
    fn free(&mut self, name: String) -> String {
        let times = self.taken.entry(name.clone()).or_default();
        *times += 1;
        if *times > 1 { format!("{name} #{times}") } else { name }
    }
}

pub(super) fn read_table(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    let mut recorder = Recorder::new(context, "nanobench");
    let mut lines = Lines::new(input.into_reader(), context.file);
    let mut rows: Vec<(u64, csv::StringRecord)> = Vec::new();
    let mut header = true;
    while let Some(line) = lines.next()? {
        let text = line.text.trim();
        if text.is_empty() || std::mem::take(&mut header) {
            continue;
        }
        let mut record = csv::StringRecord::new();
        let mut reader = csv::ReaderBuilder::new()
            .delimiter(b';')
            .has_headers(false)
            .flexible(true)
            .from_reader(text.as_bytes());
        if !matches!(reader.read_record(&mut record), Ok(true)) || record.len() < 5 {
            let problem = "expected a row `\"title\";\"name\";\"unit\";batch;elapsed;…`";
            return Err(recorder.at(line.number, problem));
        }
        rows.push((line.number, record));
    }
    let mut names = Names::of(rows.iter().map(|(_, row)| (&row[0], &row[1])));
    for (line, row) in &rows {
        let number = |column: usize| plain(&row[column]);
        let (Some(batch), Some(elapsed)) = (number(3).filter(|&b| b > 0.0), number(4)) else {
            let problem = "expected numbers in the columns `batch`, above 0, and `elapsed`";
            return Err(recorder.at(*line, problem));
        };
        let name = names.of_one(&row[0], &row[1]);
        let name = names.free(name);
        // The tool writes 0 for quantities that it could not measure.
        if elapsed > 0.0 && elapsed.is_finite() {
            let subject = recorder.benchmark(&name, Some(&row[1]), &[]);
            recorder.metric(&Metric::wall()).map_err(|problem| recorder.at(*line, problem))?;
            recorder.summary(Summary {
                subject,
                metric: "wall".to_owned(),
                median: Some(elapsed / batch),
                ..Summary::default()
            });
        }
    }
    recorder.finish("a header and results without a time")
}
