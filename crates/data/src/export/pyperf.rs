//! Exports samples in pyperf's JSON, for `pyperf stats`, `hist` and `compare_to`, with one
//! benchmark per subject and one run per process.
//!
//! Values that belong to one process according to their level form one run; any other value is a
//! separate run. pyperf has a single metric, so only the deciding one is written. It must be in
//! seconds, bytes or plain numbers, and its values must be greater than zero. The layout cannot
//! represent blocks and their order, other metrics, the plan and summaries, so these are lost. The
//! layout is that of version 1.0 (`pyperf.Benchmark.dump`).

use crate::{Samples, Unit};
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// Writes the deciding metric, or the first one if there is no deciding one. O(observations).
///
/// # Errors
/// Returns an error if a value is not finite and greater than zero, the metric has another unit,
/// there is no metric, or writing to the sink fails.
pub fn pyperf(samples: &Samples, sink: &mut impl Write) -> io::Result<()> {
    let refused = |problem: String| io::Error::new(io::ErrorKind::InvalidInput, problem);
    let primary = samples.plan.as_ref().map_or("", |plan| plan.primary.as_str());
    let metric = samples.metric_index(primary).unwrap_or(0);
    let Some(known) = samples.metrics.get(metric) else {
        return Err(refused("these samples have no metric".to_owned()));
    };
    let unit = match known.unit {
        Unit::Second => "second",
        Unit::Byte => "byte",
        Unit::One => "integer",
        ref other => {
            return Err(refused(format!(
                "pyperf knows seconds, bytes and plain numbers, and `{}` is in {}; write CSV, or keep the sample file",
                known.name,
                other.symbol()
            )));
        }
    };
    let by_subject = samples.by_subject();
    let mut benchmarks = Vec::new();
    for (subject, own) in samples.subjects.iter().enumerate() {
        let mut runs: Vec<Vec<f64>> = Vec::new();
        let mut last: Option<u32> = None;
        for (index, value) in by_subject.series(subject, metric) {
            if !(value > 0.0 && value.is_finite()) {
                return Err(refused(format!(
                    "pyperf takes no value of zero or below, and `{}` has one of {value}",
                    own.name
                )));
            }
            let level = samples.observation(index as usize).map(|o| o.level).unwrap_or_default();
            let process = level.first().copied().filter(|_| level.len() > 1);
            match runs.last_mut().filter(|_| process.is_some() && process == last) {
                Some(run) => run.push(value),
                None => runs.push(vec![value]),
            }
            last = process;
        }
        // pyperf does not allow a benchmark without values.
        if !runs.is_empty() {
            let runs: Vec<Value> =
                runs.into_iter().map(|values| json!({ "values": values })).collect();
            benchmarks.push(json!({ "metadata": { "name": own.name }, "runs": runs }));
        }
    }
    let mut metadata = Map::new();
    metadata.insert("unit".to_owned(), unit.into());
    for (fact, key) in [
        ("hostname", "hostname"),
        ("cpu_model", "cpu_model_name"),
        ("python_version", "python_version"),
    ] {
        if let Some(text) = samples.environment.text(fact) {
            metadata.insert(key.to_owned(), text.into());
        }
    }
    let file = json!({ "version": "1.0", "metadata": metadata, "benchmarks": benchmarks });
    serde_json::to_writer_pretty(&mut *sink, &file)?;
    sink.write_all(b"\n")?;
    sink.flush()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::{Metric, Observation};

    fn written(samples: &Samples) -> Value {
        let mut bytes = Vec::new();
        pyperf(samples, &mut bytes).unwrap();
        serde_json::from_slice(&bytes).unwrap()
    }

    #[test]
    fn values_of_one_process_are_one_run_and_others_a_run_each() {
        let mut samples = Samples::new(vec![Metric::wall()]);
        let (plain, nested) = (samples.add_subject("plain"), samples.add_subject("nested"));
        samples.push_value(plain, 0.1);
        samples.push_value(plain, 0.2);
        for (level, value) in [([0, 0], 1.0), ([0, 1], 2.0), ([1, 0], 3.0)] {
            let (level, values) = (level.to_vec(), vec![value]);
            samples.push(Observation { subject: nested, level, values, ..Observation::default() });
        }
        let file = written(&samples);
        let runs = |benchmark: usize| &file["benchmarks"][benchmark]["runs"];
        assert_eq!(*runs(0), json!([{ "values": [0.1] }, { "values": [0.2] }]));
        assert_eq!(*runs(1), json!([{ "values": [1.0, 2.0] }, { "values": [3.0] }]));
        assert_eq!(file["metadata"]["unit"], "second");
    }

    #[test]
    fn what_pyperf_does_not_take_is_refused() {
        let mut samples = Samples::new(vec![Metric::wall()]);
        let a = samples.add_subject("a");
        samples.push_value(a, 0.0);
        let refused = pyperf(&samples, &mut Vec::new()).unwrap_err().to_string();
        assert!(refused.contains("`a` has one of 0"), "{refused}");
        let rate = Metric { unit: Unit::PerSecond, ..Metric::wall() };
        let refused = pyperf(&Samples::new(vec![rate]), &mut Vec::new()).unwrap_err().to_string();
        assert!(refused.contains("seconds, bytes and plain numbers"), "{refused}");
    }
}
