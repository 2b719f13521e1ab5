//! Exports samples in the form in which `go test -bench` prints results, for benchstat: one line
//! per observation.
//!
//! Names are changed so that benchstat accepts them: `Benchmark` is put in front, blanks become
//! `_`, and parameters become `/key=value` unless the name already contains them. If this changes a
//! name, a comment line before the results gives the original; benchstat skips it, and our reader
//! uses it. `wall` is written as `ns/op` and bytes as `B/op`. Metrics that were read from such a
//! file get their unit back, and others keep their name, with the suffix `/op` unless they are
//! rates. Go's facts about the machine (`goos`, `goarch`, `cpu`) and the code (`pkg`) precede the
//! results, under Go's own names. Levels, blocks and failures are lost.

use super::{in_megabytes, in_nanoseconds, text_of};
use crate::import::{NAMED, OriginalName, metric_of_unit};
use crate::samples::ITERATIONS;
use crate::{Better, Environment, Metric, Samples, Subject, Unit};
use std::io::{self, Write};

/// Settings that Go writes on lines of their own, never as part of a name.
const SETTINGS: [&str; 4] = ["goos", "goarch", "pkg", "cpu"];

/// Writes the samples as lines of `go test -bench`. O(observations × metrics).
///
/// # Errors
/// Returns an error if writing to the sink fails.
pub fn go_bench(samples: &Samples, sink: &mut impl Write) -> io::Result<()> {
    let mut settings = of_machine(&samples.environment);
    for (key, value) in SETTINGS.iter().zip(&settings).filter(|(_, value)| !value.is_empty()) {
        writeln!(sink, "{key}: {value}")?;
    }
    let units: Vec<(Scale, String)> = samples.metrics.iter().map(unit).collect();
    let iterations = samples.metric_index(ITERATIONS);
    for (index, (metric, (_, unit))) in samples.metrics.iter().zip(&units).enumerate() {
        let read = metric_of_unit(unit).0;
        let is_read = (read.better, read.undirected) == (metric.better, metric.undirected);
        if Some(index) != iterations && !is_read && !metric.undirected {
            let better = if metric.better == Better::Higher { "higher" } else { "lower" };
            writeln!(sink, "Unit {unit} better={better}")?;
        }
        if metric.assumed_exact {
            writeln!(sink, "Unit {unit} assume=exact")?;
        }
    }
    // The index of many millions of observations is large, and useless for a single subject.
    let by_subject = (samples.subjects.len() > 1).then(|| samples.by_subject());
    for (place, subject) in samples.subjects.iter().enumerate() {
        let own = by_subject.as_ref().map(|by_subject| by_subject.observations(place));
        let count = own.map_or(samples.len(), <[u32]>::len);
        let indices = (0..count).map(|at| own.map_or(at, |own| own[at] as usize));
        let label = samples.label_of(subject);
        let name = name(subject, label);
        if count > 0 && !is_of_go(label) {
            writeln!(sink, "{NAMED}{name} {}", OriginalName::of(subject, label).to_json())?;
        }
        for (place, key) in SETTINGS.iter().enumerate() {
            if let Some(value) = subject.parameter(key).map(|value| one_line(value.as_str()))
                && value != settings[place]
            {
                writeln!(sink, "{}", format!("{key}: {value}").trim_end())?;
                settings[place] = value;
            }
        }
        for observation in indices.filter_map(|index| samples.observation(index)) {
            let count = iterations.map_or(1.0, |metric| observation.values[metric]);
            let count = if count >= 1.0 { count as u64 } else { 1 };
            let mut line = format!("{name}\t{count}");
            let values = observation.values.iter().zip(&units).enumerate();
            let mut has_value = false;
            for (metric, (&value, (scale, unit))) in values {
                if value.is_finite() && Some(metric) != iterations {
                    let shown = match scale {
                        Scale::None => value,
                        Scale::Nanoseconds => in_nanoseconds(value),
                        Scale::Megabytes => in_megabytes(value),
                    };
                    line += &format!("\t{shown} {unit}");
                    has_value = true;
                }
            }
            // benchstat rejects a line without a measurement.
            if has_value {
                writeln!(sink, "{line}")?;
            }
        }
    }
    sink.flush()
}

/// Returns the values of [`SETTINGS`] that the environment gives for all subjects. A value is empty
/// if it is unknown.
fn of_machine(environment: &Environment) -> [String; 4] {
    let of = |names: &[&str]| text_of(environment, names).unwrap_or_default();
    let os: String = of(&["os"]).chars().take_while(char::is_ascii_alphanumeric).collect();
    let os = os.to_lowercase();
    let os = if os == "macos" { "darwin" } else { os.as_str() };
    let arch = match of(&["architecture", "arch"]) {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "x86" | "i386" | "i686" => "386",
        other => other,
    };
    [os, arch, of(&["pkg"]), of(&["cpu_model"])].map(one_line)
}

fn one_line(value: &str) -> String {
    value.replace(['\n', '\r'], " ").trim().to_owned()
}

/// Returns true if the label is a name from Go's output, which begins with `Benchmark`.
fn is_of_go(label: Option<&str>) -> bool {
    label.is_some_and(|label| label.starts_with("Benchmark"))
}

/// Returns the name in a form that benchstat accepts: one word that begins with `Benchmark`.
fn name(subject: &Subject, label: Option<&str>) -> String {
    let mut name = subject.name.clone();
    let is_of_go = is_of_go(label);
    for (key, value) in &subject.parameters {
        if SETTINGS.contains(&key.as_str()) {
            // A setting that distinguishes benchmarks of the same name is at the end of the name.
            name = name.replacen(&format!(" {key}={value}"), "", 1);
            continue;
        }
        // A parameter with a number as its key is already in the name, and Go's number of
        // processors follows the last dash of the name, or it is 1.
        let is_told = key.parse::<u32>().is_ok() || (is_of_go && key == "gomaxprocs");
        if !is_told && !name.contains(value.as_str()) {
            name += &format!("/{key}={value}");
        }
    }
    let name: String = name.chars().map(|c| if c.is_whitespace() { '_' } else { c }).collect();
    let rest = name.strip_prefix("Benchmark").unwrap_or(&name);
    let mut letters = rest.chars();
    // Go does not accept a benchmark whose name continues with a lower-case letter.
    let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    format!("Benchmark{first}{}", letters.as_str())
}

/// The conversion from our base unit to the unit that Go uses.
enum Scale {
    None,
    Nanoseconds,
    Megabytes,
}

/// Returns the conversion and the unit as Go writes it.
fn unit(metric: &Metric) -> (Scale, String) {
    let word: String =
        metric.name.chars().map(|c| if c.is_whitespace() { '_' } else { c }).collect();
    // A metric that was read from Go's output is named after its unit there, unless Go scales that
    // unit.
    let (told, _) = metric_of_unit(&word);
    if told.name == metric.name && told.unit == metric.unit {
        let above = word.find('/').unwrap_or(word.len());
        return match (&metric.unit, word.split_at(above)) {
            (_, ("B", "/s")) => (Scale::Megabytes, "MB/s".to_owned()),
            (Unit::Second, (above, below)) if above == "s" || above.ends_with("-s") => {
                (Scale::Nanoseconds, format!("{}ns{below}", &above[..above.len() - 1]))
            }
            _ => (Scale::None, word),
        };
    }
    let per_op =
        |text: &str| if text.contains('/') { text.to_owned() } else { format!("{text}/op") };
    match (&metric.unit, word.as_str()) {
        (Unit::Second, "wall") => (Scale::Nanoseconds, "ns/op".to_owned()),
        (Unit::Second, _) => (Scale::Nanoseconds, format!("{word}-ns/op")),
        (Unit::Byte, "bytes") => (Scale::None, "B/op".to_owned()),
        (Unit::Byte, _) => (Scale::None, format!("{word}-B/op")),
        (Unit::PerSecond, _) => (Scale::None, format!("{word}/s")),
        (Unit::Other(symbol), _) if symbol == "B/s" => (Scale::None, format!("{word}-B/s")),
        _ => (Scale::None, per_op(&word)),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::Observation;

    fn written(samples: &Samples) -> String {
        let mut bytes = Vec::new();
        go_bench(samples, &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn lines_are_what_benchstat_reads() {
        let mut samples = Samples::new(vec![
            Metric::wall(),
            Metric::lower("allocs/op", Unit::One),
            Metric::lower("iterations", Unit::One),
        ]);
        let subject = Subject {
            name: "copy element".to_owned(),
            parameters: vec![("n".to_owned(), "8".into())],
            ..Subject::default()
        };
        let subject = samples.add_command(subject);
        let values = vec![1.5e-6, 3.0, 400.0];
        samples.push(Observation { subject, values, ..Observation::default() });
        let values = vec![f64::NAN, f64::NAN, 400.0];
        samples.push(Observation { subject, values, ..Observation::default() });
        samples.environment.set("cpu_model", "A\nB");
        let expected = "cpu: A B\n# name of BenchmarkCopy_element/n=8 {\"name\":\"copy element\",\"label\":\"copy element\",\"parameters\":[[\"n\",\"8\"]]}\n\
            BenchmarkCopy_element/n=8\t400\t1500 ns/op\t3 allocs/op\n";
        assert_eq!(written(&samples), expected);
    }

    #[test]
    fn what_is_known_of_the_machine_is_told_in_the_words_of_go() {
        let mut samples = Samples::new(vec![Metric::wall()]);
        let a = samples.add_subject("a");
        samples.push_value(a, 5.42e-8);
        samples.environment.set("os", "Linux-6.1.0-x86_64-with-glibc2.36");
        samples.environment.set("arch", "x86_64");
        samples.environment.set("cpu_model", "Fast 3000");
        let head = "goos: linux\ngoarch: amd64\ncpu: Fast 3000\n";
        let name = "# name of BenchmarkA {\"name\":\"a\",\"label\":\"a\"}\n";
        assert_eq!(written(&samples), format!("{head}{name}BenchmarkA\t1\t54.2 ns/op\n"));
    }

    #[test]
    fn the_direction_of_a_unit_is_told_where_go_would_take_the_other() {
        let score = Metric { better: Better::Higher, ..Metric::lower("score", Unit::One) };
        let mut samples = Samples::new(vec![score, Metric::lower("jobs/s", Unit::PerSecond)]);
        let subject = samples.add_subject("a");
        let values = vec![5.0, 2.0];
        samples.push(Observation { subject, values, ..Observation::default() });
        let expected = "Unit score better=higher\nUnit jobs/s better=lower\n# name of BenchmarkA {\"name\":\"a\",\"label\":\"a\"}\nBenchmarkA\t1\t5 score\t2 jobs/s\n";
        assert_eq!(written(&samples), expected);
    }
}
