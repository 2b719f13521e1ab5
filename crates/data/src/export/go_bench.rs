//! Samples as `go test -bench` prints them, for benchstat: one line for every observation.
//!
//! Names become what benchstat takes for a benchmark: `Benchmark` in front, blanks to `_`, parameters as `/key=value` where the name does not
//! hold them already. `wall` is `ns/op`, bytes are `B/op`, metrics of other names keep theirs with `/op` behind it unless they are rates. Facts of the
//! environment that benchstat knows (`goos`, `goarch`, `cpu`, `pkg`) stand on top. Levels, blocks and failures are lost.

use super::in_nanoseconds;
use crate::{Metric, Samples, Subject, Unit};
use std::io::{self, Write};

/// Writes the text. O(observations × metrics).
///
/// # Errors
/// When the sink refuses.
pub fn go_bench(samples: &Samples, sink: &mut impl Write) -> io::Result<()> {
    let environment = &samples.environment;
    for (key, fact) in
        [("goos", "goos"), ("goarch", "goarch"), ("pkg", "pkg"), ("cpu", "cpu_model")]
    {
        if let Some(value) = environment.text(fact) {
            writeln!(sink, "{key}: {}", value.replace(['\n', '\r'], " "))?;
        }
    }
    let names: Vec<String> = samples.subjects.iter().map(name).collect();
    let units: Vec<(bool, String)> = samples.metrics.iter().map(unit).collect();
    let iterations = samples.metric_index("iterations");
    let mut by_subject: Vec<Vec<usize>> = vec![Vec::new(); names.len()];
    for (index, observation) in samples.observations().enumerate() {
        if let Some(rows) = by_subject.get_mut(observation.subject) {
            rows.push(index);
        }
    }
    for (name, indices) in names.iter().zip(by_subject) {
        for observation in indices.into_iter().filter_map(|index| samples.observation(index)) {
            let count = iterations.map_or(1.0, |metric| observation.values[metric]);
            let count = if count >= 1.0 { count as u64 } else { 1 };
            let mut line = format!("{name}\t{count}");
            let values = observation.values.iter().zip(&units).enumerate();
            let mut has_value = false;
            for (metric, (&value, (is_time, unit))) in values {
                if value.is_finite() && Some(metric) != iterations {
                    let shown = if *is_time { in_nanoseconds(value) } else { value };
                    line += &format!("\t{shown} {unit}");
                    has_value = true;
                }
            }
            // benchstat refuses a line without a measurement.
            if has_value {
                writeln!(sink, "{line}")?;
            }
        }
    }
    sink.flush()
}

/// The name as benchstat reads it: one word that begins with `Benchmark`.
fn name(subject: &Subject) -> String {
    let mut name = subject.name.clone();
    for (key, value) in &subject.parameters {
        let unnamed = key.parse::<u32>().is_ok();
        if !unnamed && !name.contains(value.as_str()) {
            name += &format!("/{key}={value}");
        }
    }
    let name: String = name.chars().map(|c| if c.is_whitespace() { '_' } else { c }).collect();
    let rest = name.strip_prefix("Benchmark").unwrap_or(&name);
    let mut letters = rest.chars();
    // What follows must not begin with a small letter, or it is no benchmark to Go.
    let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    format!("Benchmark{first}{}", letters.as_str())
}

/// Whether it is a time, which Go writes in nanoseconds, and the unit as Go writes it.
fn unit(metric: &Metric) -> (bool, String) {
    let word: String =
        metric.name.chars().map(|c| if c.is_whitespace() { '_' } else { c }).collect();
    let per_op =
        |text: &str| if text.contains('/') { text.to_owned() } else { format!("{text}/op") };
    match (&metric.unit, word.as_str()) {
        (Unit::Second, "wall") => (true, "ns/op".to_owned()),
        (Unit::Second, _) => (true, format!("{word}-ns/op")),
        (Unit::Byte, "B/op" | "bytes") => (false, "B/op".to_owned()),
        (Unit::Byte, _) => (false, format!("{word}-B/op")),
        (Unit::PerSecond, _) => (false, format!("{word}/s")),
        _ => (false, per_op(&word)),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::Observation;

    #[test]
    fn lines_are_what_benchstat_reads() {
        let mut samples = Samples::new(vec![
            Metric::wall(),
            Metric::lower("allocs/op", Unit::One),
            Metric::lower("iterations", Unit::One),
        ]);
        let subject = Subject {
            name: "copy element".to_owned(),
            parameters: vec![("n".to_owned(), "8".to_owned())],
            ..Subject::default()
        };
        let subject = samples.add(subject);
        let values = vec![1.5e-6, 3.0, 400.0];
        samples.push(Observation { subject, values, ..Observation::default() });
        let values = vec![f64::NAN, f64::NAN, 400.0];
        samples.push(Observation { subject, values, ..Observation::default() });
        samples.environment.set("cpu_model", "A\nB");
        let mut bytes = Vec::new();
        go_bench(&samples, &mut bytes).unwrap();
        let expected = "cpu: A B\nBenchmarkCopy_element/n=8\t400\t1500 ns/op\t3 allocs/op\n";
        assert_eq!(String::from_utf8(bytes).unwrap(), expected);
    }
}
