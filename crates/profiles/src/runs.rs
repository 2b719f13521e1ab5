//! Converts alternating sampled runs of two programs into samples for the usual comparison.
//!
//! Each run is one profile. It gives one value per function: the time spent in the function in that
//! run. A verdict on a function therefore depends on its variation from run to run, not on the
//! number of samples.

use crate::functions::Functions;
use crate::model::Profile;
use crate::policy;
use assay_data::{Metric, Observation, Row, Samples, Subject, Unit};
use std::collections::{HashMap, HashSet};

/// Name of the row for the whole run, which is listed in addition to its functions.
pub const WHOLE: &str = "(whole run)";
/// Name of the row for all functions without a row of their own.
pub const REST: &str = "(all others)";

/// One sampled run.
#[derive(Clone, Debug)]
pub struct Run {
    /// Index of the program in the `names` passed to [`samples`].
    pub side: usize,
    /// Number of the block (one run of each program), from 0.
    pub block: u32,
    /// Position of the run within its block, from 0.
    pub position: u32,
    /// The recorded profile.
    pub profile: Profile,
}

/// Converts runs to samples. There is a subject for each function on each side, with the metrics
/// `self` and `total` in seconds, or in samples if the profiles have no times. O(frames of all
/// stacks of all runs).
pub fn samples(names: &[String], runs: &[Run]) -> Samples {
    let unit = match runs.iter().all(|run| run.profile.unit == Unit::Second) {
        true => Unit::Second,
        false => Unit::One,
    };
    let mut samples =
        Samples::new(vec![Metric::lower("self", unit.clone()), Metric::lower("total", unit)]);
    let per_run: Vec<HashMap<String, [f64; 2]>> = runs.iter().map(amounts).collect();
    let asked = asked_about(runs, &per_run);
    let mut benchmarks = vec![WHOLE.to_owned()];
    benchmarks.extend(asked.iter().cloned());
    let all: HashSet<&String> = asked.iter().collect();
    let whole: f64 = runs.iter().map(|run| run.profile.amount()).sum();
    let rest: f64 = per_run.iter().map(|own| others(own, &all)).sum();
    if rest > policy::SMALLEST_FUNCTION * whole {
        benchmarks.push(REST.to_owned());
    }
    let row = |name: &String| Row {
        name: name.clone(),
        noun: Some("function".to_owned()),
        ..Row::default()
    };
    samples.rows = benchmarks.iter().map(row).collect();
    for side in names {
        let index = samples.side_named(side);
        for (row, benchmark) in benchmarks.iter().enumerate() {
            let name = format!("{side}: {benchmark}");
            samples.add(Subject { side: index, row, name, ..Subject::default() });
        }
    }
    for (run, own) in runs.iter().zip(&per_run) {
        let whole = run.profile.amount();
        for (index, benchmark) in benchmarks.iter().enumerate() {
            let values = match benchmark.as_str() {
                // The metric `total` has no value here, since it would equal `self`.
                WHOLE => [whole, f64::NAN],
                // The metric `total` has no value here: a sum over functions that call each other
                // would count time twice.
                REST => [others(own, &all), f64::NAN],
                name => own.get(name).copied().unwrap_or([0.0; 2]),
            };
            samples.push(Observation {
                subject: run.side * benchmarks.len() + index,
                block: Some(run.block),
                position: Some(run.position),
                values: values.to_vec(),
                ..Observation::default()
            });
        }
    }
    samples
}

/// Returns the amount spent in functions that are not compared.
fn others(own: &HashMap<String, [f64; 2]>, asked: &HashSet<&String>) -> f64 {
    own.iter().filter(|(name, _)| !asked.contains(name)).map(|(_, amounts)| amounts[0]).sum()
}

/// Returns two amounts for each function in a run: the amount spent in the function itself, and the
/// amount including the functions it called.
fn amounts(run: &Run) -> HashMap<String, [f64; 2]> {
    let mut own: HashMap<String, [f64; 2]> = HashMap::new();
    for function in Functions::of(&run.profile).list {
        // Functions are identified by their bare names, because a function may be in a different
        // file on the other side. Functions of the same name in one run are merged.
        let entry = own.entry(function.bare().to_owned()).or_default();
        entry[0] += function.flat_amount;
        entry[1] += function.cum_amount;
    }
    own
}

/// Returns the names of the functions that are large enough to compare, largest first.
fn asked_about(runs: &[Run], per_run: &[HashMap<String, [f64; 2]>]) -> Vec<String> {
    let whole: f64 = runs.iter().map(|run| run.profile.amount()).sum();
    let mut sums: HashMap<&String, f64> = HashMap::new();
    for own in per_run {
        for (name, amounts) in own {
            *sums.entry(name).or_default() += amounts[0];
        }
    }
    let mut asked: Vec<(&String, f64)> = sums
        .into_iter()
        .filter(|&(_, sum)| sum > 0.0 && sum >= policy::SMALLEST_FUNCTION * whole)
        .collect();
    asked.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    asked.into_iter().map(|(name, _)| name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::load_bytes;

    #[test]
    fn every_function_has_its_amount_in_every_run() {
        let run = |side, block, text: &str| Run {
            side,
            block,
            position: side as u32,
            profile: load_bytes(text.as_bytes(), "x").unwrap(),
        };
        let runs = [
            run(0, 0, "main;a 600\nmain;b 382\nmain;rare 9\nmain 9\n"),
            run(1, 0, "main;a 300\nmain;b 390\n"),
        ];
        let samples = samples(&["old".to_owned(), "new".to_owned()], &runs);
        let value = |name: &str, metric| {
            let subject = samples.subjects.iter().position(|s| s.name == name).unwrap();
            samples.values(subject, metric)
        };
        assert_eq!(value("old: a", 0), [600.0]);
        assert_eq!(value("new: a", 0), [300.0]);
        assert_eq!(value("old: (whole run)", 0), [1000.0]);
        assert_eq!(value("old: (all others)", 0), [18.0]);
        assert_eq!(value("new: (all others)", 0), [0.0]);
        assert!(samples.subjects.iter().all(|s| !s.name.ends_with(": rare")));
    }
}
