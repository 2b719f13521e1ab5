//! Interprets the names in `go test -bench` output: units as metrics, parts of a benchmark's name
//! as parameters, and the settings that vary within a file.
//!
//! `BenchmarkSort/n=16/sorted-8` has the parameters `n` = 16, `1` = sorted (the first one without a
//! name) and `gomaxprocs` = 8. As in benchstat, a number after the last dash is always taken for
//! `gomaxprocs`, although the name of a benchmark that ran on one processor might itself end in
//! such a number.

use super::number::Conversion;
use super::recorder::Recorder;
use crate::samples::{Metric, ParameterValue, Subject};
use crate::unit::{self, Unit, unit_of_symbol};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

/// Units whose values are converted. Any other unit means whatever the benchmark's author chose.
const SCALED: [&str; 14] =
    ["ns", "us", "µs", "ms", "s", "sec", "B", "bytes", "kB", "KB", "MB", "GB", "KiB", "MiB"];

/// Maximum total size of settings repeated as parameters of every benchmark, in bytes.
const MAX_TEXT: usize = 64 * 1024 * 1024;

/// Settings that are recorded under a different name: Go's and ours.
const FACTS: [(&str, &str); 3] = [("goos", "os"), ("goarch", "architecture"), ("cpu", "cpu_model")];

/// Returns the metric that a unit stands for, and the conversion of its values to base units:
/// `ns/op` is `wall`, `MB/s` is `B/s`, `p50-ns/op` is `p50-s/op`. Units defined by the benchmark's
/// author may have no direction.
pub(crate) fn metric_of_unit(of_go: &str) -> (Metric, Conversion) {
    let (above, below) = of_go.split_once('/').map_or((of_go, None), |(a, b)| (a, Some(b)));
    let (prefix, symbol) = above.rfind('-').map_or(("", above), |dash| above.split_at(dash + 1));
    let is_rate = below == Some("s");
    let conversion = SCALED.contains(&symbol).then(|| Conversion::from_symbol(Some(symbol)));
    let conversion = conversion.unwrap_or_else(|| Conversion::from_symbol(None));
    let (factor, base) = match unit_of_symbol(symbol) {
        Some(known) if SCALED.contains(&symbol) => known,
        _ => (1.0, Unit::One),
    };
    // The metric's name must not mention a unit that its values no longer have.
    let symbol = if factor == 1.0 { symbol } else { base.symbol() };
    let name = match below {
        Some("op") if prefix.is_empty() && base == Unit::Second => "wall".to_owned(),
        Some(below) => format!("{prefix}{symbol}/{below}"),
        None => format!("{prefix}{symbol}"),
    };
    let unit = match base {
        Unit::One if is_rate => Unit::PerSecond,
        base if is_rate => Unit::Other(format!("{}/s", base.symbol())),
        base => base,
    };
    let direction = unit::direction_of_symbol(of_go);
    let metric = match unit {
        Unit::One => Metric::of_name(&name),
        unit => Metric::of_unit(&name, unit),
    };
    (metric.directed(direction), conversion)
}

/// Start of a line that gives the original name of a benchmark that was renamed for Go; the new
/// name and an [`OriginalName`] follow. Go's own tools treat it as a comment.
pub(crate) const NAMED: &str = "# name of ";

/// The name, label and parameters that a benchmark had before it was renamed for Go.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OriginalName {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    parameters: Vec<(String, String)>,
}

impl OriginalName {
    pub(crate) fn of(subject: &Subject, label: Option<&str>) -> Self {
        let text = |(name, value): &(String, ParameterValue)| (name.clone(), value.to_string());
        Self {
            name: subject.name.clone(),
            label: label.map(str::to_owned),
            parameters: subject.parameters.iter().map(text).collect(),
        }
    }

    /// Returns the JSON on one line.
    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Parses a line that begins with [`NAMED`] into Go's name and the original name.
    pub(super) fn read(line: &str) -> Option<(&str, Self)> {
        let (name, told) = line.strip_prefix(NAMED)?.split_once(' ')?;
        Some((name, serde_json::from_str(told).ok()?))
    }
}

/// The `key: value` lines in effect.
pub(super) type Settings = Vec<(String, String)>;

/// One benchmark as it is named in the file.
pub(super) struct GoBenchmark {
    /// Name with parameters and `-N`.
    pub name: String,
    /// The settings in effect.
    pub config: Rc<Settings>,
    /// The original name, if the benchmark was renamed for Go.
    pub named: Option<Rc<OriginalName>>,
}

impl GoBenchmark {
    fn setting(&self, key: &str) -> &str {
        self.config.iter().find(|(known, _)| known == key).map_or("", |(_, value)| value)
    }
}

/// All benchmarks of a file, in the order of their subjects.
#[derive(Default)]
pub(super) struct Naming {
    pub benchmarks: Vec<GoBenchmark>,
}

impl Naming {
    /// Sets the name, label and parameters of every subject, and records settings that all
    /// benchmarks share as facts about the environment.
    ///
    /// # Errors
    /// Returns an error if the settings of all benchmarks would take too much memory.
    pub(super) fn apply(&self, recorder: &mut Recorder<'_>) -> Result<(), String> {
        let mut settings: BTreeMap<&str, HashSet<&str>> = BTreeMap::new();
        for (key, _) in self.benchmarks.iter().flat_map(|known| known.config.iter()) {
            settings.entry(key).or_default();
        }
        for known in &self.benchmarks {
            settings.iter_mut().for_each(|(key, values)| {
                values.insert(known.setting(key));
            });
        }
        for (key, values) in settings.iter().filter(|(_, values)| values.len() == 1) {
            let name =
                FACTS.iter().find(|(theirs, _)| theirs == key).map_or(*key, |(_, ours)| ours);
            values.iter().for_each(|value| recorder.fact(name, *value));
        }
        let varying: Vec<&str> =
            settings.iter().filter(|(_, values)| values.len() > 1).map(|(key, _)| *key).collect();
        // Benchmarks of the same name are distinguished by the settings in which they differ.
        let mut first_of: HashMap<&str, &GoBenchmark> = HashMap::new();
        let mut differing: HashSet<(&str, &str)> = HashSet::new();
        let mut text = 0;
        for known in &self.benchmarks {
            let first = *first_of.entry(&known.name).or_insert(known);
            for &key in &varying {
                text += key.len() + known.setting(key).len();
                if first.setting(key) != known.setting(key) {
                    differing.insert((&known.name, key));
                }
            }
        }
        if text > MAX_TEXT {
            return Err(format!(
                "lines `key: value` that change within the file are parameters of {} benchmarks, too many to keep in memory; split the file",
                self.benchmarks.len()
            ));
        }
        let of_go = || self.benchmarks.iter().filter(|known| known.named.is_none());
        let has_procs = of_go().any(|known| processors(&known.name).1.is_some());
        let mut taken: HashMap<String, usize> = HashMap::new();
        for (index, known) in self.benchmarks.iter().enumerate() {
            let (label, mut parameters) = parts(&known.name, has_procs);
            let (mut label, mut name) = (Some(label), known.name.clone());
            let named = known.named.as_deref().cloned();
            let settings: &[&str] = if named.is_some() { &[] } else { &varying };
            if let Some(named) = named {
                (name, label, parameters) = (named.name, named.label, named.parameters);
            }
            for &key in settings {
                let value = known.setting(key);
                parameters.push((key.to_owned(), value.to_owned()));
                if differing.contains(&(known.name.as_str(), key)) {
                    name += &format!(" {key}={value}");
                }
            }
            // A value may itself look like a key and a value.
            let times = taken.entry(name.clone()).or_default();
            *times += 1;
            let name = if *times > 1 { format!("{name} #{times}") } else { name };
            recorder.subject_mut(index).name.clone_from(&name);
            let (row, own) = recorder.keys_mut(index);
            (row.name, row.label) = (name, label);
            *own = parameters.into_iter().map(|(key, value)| (key, value.into())).collect();
        }
        Ok(())
    }
}

/// Splits a name into the part before the last dash and the number of processors after it.
fn processors(name: &str) -> (&str, Option<&str>) {
    match name.rsplit_once('-') {
        Some((name, digits))
            if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            (name, Some(digits))
        }
        _ => (name, None),
    }
}

/// Returns the base name and the parameters. If any benchmark states its number of processors, one
/// that does not ran on a single processor.
fn parts(name: &str, has_procs: bool) -> (String, Vec<(String, String)>) {
    let (name, procs) = processors(name);
    let mut parts = name.split('/');
    let label = parts.next().unwrap_or(name).to_owned();
    let mut unnamed = 0;
    let mut parameters: Vec<_> = parts
        .map(|part| match part.split_once('=') {
            Some((key, value)) if !key.is_empty() => (key.to_owned(), value.to_owned()),
            _ => {
                unnamed += 1;
                (unnamed.to_string(), part.to_owned())
            }
        })
        .collect();
    if has_procs {
        parameters.push(("gomaxprocs".to_owned(), procs.unwrap_or("1").to_owned()));
    }
    (label, parameters)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::Better;

    #[test]
    fn units_name_metrics_in_base_units() {
        for (unit, name, base, better, of_1000) in [
            ("ns/op", "wall", Unit::Second, Better::Lower, 1e-6),
            ("sec/op", "wall", Unit::Second, Better::Lower, 1e3),
            ("B/op", "B/op", Unit::Byte, Better::Lower, 1e3),
            ("allocs/op", "allocs/op", Unit::One, Better::Lower, 1e3),
            ("MB/s", "B/s", Unit::Other("B/s".into()), Better::Higher, 1e9),
            ("sorts/s", "sorts/s", Unit::PerSecond, Better::Higher, 1e3),
            ("p50-ns/op", "p50-s/op", Unit::Second, Better::Lower, 1e-6),
            ("ns/GC", "s/GC", Unit::Second, Better::Lower, 1e-6),
            ("text-bytes", "text-bytes", Unit::Byte, Better::Lower, 1e3),
            ("fps", "fps", Unit::One, Better::Higher, 1e3),
            ("MB/SEC", "B/SEC", Unit::Byte, Better::Higher, 1e9),
            ("peak-MB", "peak-B", Unit::Byte, Better::Lower, 1e9),
        ] {
            let (metric, conversion) = metric_of_unit(unit);
            assert_eq!(metric, Metric { better, ..Metric::lower(name, base) }, "{unit}");
            assert_eq!(conversion.read_plain("1000"), Some(of_1000), "{unit}");
        }
        assert!(
            ["elements", "%hit", "rows/op"].iter().all(|&own| metric_of_unit(own).0.undirected)
        );
    }

    #[test]
    fn parts_of_a_name_are_parameters() {
        let pairs = |name| {
            let (label, parameters) = parts(name, true);
            (label, parameters.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>())
        };
        assert_eq!(
            pairs("BenchmarkSort/n=16/sorted/x-8"),
            (
                "BenchmarkSort".to_owned(),
                ["n=16", "1=sorted", "2=x", "gomaxprocs=8"].map(String::from).to_vec()
            )
        );
        assert_eq!(pairs("BenchmarkA").1, ["gomaxprocs=1"]);
        assert_eq!(pairs("BenchmarkA/b-c").1, ["1=b-c", "gomaxprocs=1"]);
    }
}
