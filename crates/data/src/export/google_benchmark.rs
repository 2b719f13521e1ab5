//! Exports samples in Google Benchmark's JSON, for compare.py and existing scripts, with one row of
//! kind `iteration` per observation.
//!
//! `wall` becomes `real_time`, `cpu` becomes `cpu_time` (the wall time if CPU time was not
//! measured, because the layout requires a number), and all other metrics become counters in base
//! units. Times are in nanoseconds, because compare.py skips benchmarks whose units differ. If no
//! double in nanoseconds reads back to the same bits, the nearest one is written.
//! [`google_context`](super::google_context) writes the facts. The layout cannot represent blocks
//! and their order, levels, the plan, summaries, and failures as such, so these are lost. The
//! `iterations` of a row are the metric of that name, or 1 if it was not recorded.

use super::google_context::{Context, counters};
use super::in_nanoseconds;
use crate::samples::ITERATIONS;
use crate::{Metric, Samples};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};
use std::io::{self, Write};

/// Writes the samples in the layout of Google Benchmark 1.7 and later. O(observations × metrics).
///
/// # Errors
/// Returns an error if the samples have no wall time, which this layout requires, or if writing to
/// the sink fails.
pub fn google_benchmark(samples: &Samples, sink: &mut impl Write) -> io::Result<()> {
    let Some(wall) = samples.metric_index("wall") else {
        let problem = "Google Benchmark's JSON holds wall times, and these samples have no metric `wall`; \
                       export CSV or keep the sample file";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
    };
    let file = File { samples, wall };
    serde_json::to_writer_pretty(&mut *sink, &file)?;
    sink.write_all(b"\n")?;
    sink.flush()
}

struct File<'a> {
    samples: &'a Samples,
    wall: usize,
}

impl Serialize for File<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(2))?;
        map.serialize_entry("context", &Context { samples: self.samples })?;
        map.serialize_entry("benchmarks", &Rows { samples: self.samples, wall: self.wall })?;
        map.end()
    }
}

struct Rows<'a> {
    samples: &'a Samples,
    wall: usize,
}

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let samples = self.samples;
        // Rows of one benchmark are adjacent, as readers expect.
        let by_subject = samples.by_subject();
        let index_of = |metric: &Metric| samples.metric_index(&metric.name);
        let mut counters: Vec<(usize, &str)> = counters(samples)
            .filter_map(|(name, metric)| Some((index_of(metric)?, name)))
            .collect();
        // The order of the metrics depends on which rows have them, so counters are sorted by name.
        counters.sort_by_key(|&(_, name)| name);
        let mut rows = to.serialize_seq(None)?;
        // Subjects that have only a summary get no rows and no family index.
        let mut family = 0;
        for subject in 0..samples.subjects.len() {
            let repetitions = by_subject.series(subject, self.wall).count();
            for (repetition, (index, _)) in by_subject.series(subject, self.wall).enumerate() {
                rows.serialize_element(&Row {
                    samples,
                    counters: &counters,
                    wall: self.wall,
                    subject,
                    family,
                    repetition,
                    repetitions,
                    index: index as usize,
                })?;
            }
            family += usize::from(repetitions > 0);
        }
        rows.end()
    }
}

struct Row<'a> {
    counters: &'a [(usize, &'a str)],
    samples: &'a Samples,
    wall: usize,
    subject: usize,
    family: usize,
    repetition: usize,
    repetitions: usize,
    index: usize,
}

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let samples = self.samples;
        let Some(observation) = samples.observation(self.index) else {
            return Err(serde::ser::Error::custom("an observation that is not there"));
        };
        let value = |name: &str| {
            let index = samples.metric_index(name)?;
            Some(observation.values[index]).filter(|value| value.is_finite())
        };
        let name = &samples.subjects[self.subject].name;
        let wall = observation.values[self.wall];
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("name", name)?;
        map.serialize_entry("family_index", &self.family)?;
        map.serialize_entry("per_family_instance_index", &0)?;
        map.serialize_entry("run_name", name)?;
        map.serialize_entry("run_type", "iteration")?;
        map.serialize_entry("repetitions", &self.repetitions)?;
        map.serialize_entry("repetition_index", &self.repetition)?;
        map.serialize_entry("threads", &1)?;
        map.serialize_entry("iterations", &(value(ITERATIONS).unwrap_or(1.0) as u64))?;
        map.serialize_entry("real_time", &in_nanoseconds(wall))?;
        map.serialize_entry("cpu_time", &in_nanoseconds(value("cpu").unwrap_or(wall)))?;
        map.serialize_entry("time_unit", "ns")?;
        let labels = samples.environment.facts.get("google_benchmark.labels");
        if let Some(label) = labels.and_then(|labels| labels.get(name)) {
            map.serialize_entry("label", label)?;
        }
        for (index, counter) in self.counters {
            let value = observation.values[*index];
            if value.is_finite() {
                map.serialize_entry(counter, &value)?;
            }
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::{Observation, Unit};

    #[test]
    fn every_observation_is_a_row_with_times_in_nanoseconds() {
        let mut samples =
            Samples::new(vec![Metric::wall(), Metric::lower("allocations", Unit::One)]);
        let copy = samples.add_subject("Copy/8");
        let moved = samples.add_subject("Move/8");
        for (subject, wall) in [(copy, 1.5e-6), (moved, 2e-6), (copy, 1.25e-6)] {
            let values = vec![wall, 3.0];
            samples.push(Observation { subject, values, ..Observation::default() });
        }
        let mut bytes = Vec::new();
        google_benchmark(&samples, &mut bytes).unwrap();
        let file: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        let rows = file["benchmarks"].as_array().unwrap();
        let of = |row: usize, key: &str| rows[row][key].clone();
        assert_eq!(rows.len(), 3);
        assert_eq!((of(0, "name"), of(1, "name")), ("Copy/8".into(), "Copy/8".into()));
        assert_eq!((of(1, "repetition_index"), of(1, "repetitions")), (1.into(), 2.into()));
        assert_eq!(of(0, "real_time").as_f64().unwrap().round(), 1500.0);
        assert_eq!((of(2, "cpu_time"), of(2, "allocations")), (2000.0.into(), 3.0.into()));
    }

    #[test]
    fn samples_without_wall_times_are_refused() {
        let samples = Samples::new(vec![Metric::lower("size", Unit::Byte)]);
        assert!(google_benchmark(&samples, &mut Vec::new()).is_err());
    }
}
