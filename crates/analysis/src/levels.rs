//! Nested repetitions of one subject, as the samples record them: which level the spread comes from.
//!
//! The mathematics is [`assay_stats::levels`]; here it is told which values belong to which unit. Levels come from other tools'
//! records (build > process > iteration), or from programs that gave several values within one run, which are then the
//! iterations of that run. A level is not a block: nothing is compared here.

use assay_data::Samples;
use assay_stats::levels::Levels;
use std::collections::BTreeSet;

/// What the innermost levels are usually called, outermost first.
const NAMES: [&str; 4] = ["machine", "build", "process", "iteration"];

/// The levels of one subject's metric, with their names.
#[derive(Clone, Debug, PartialEq)]
pub struct Nested {
    /// The mean, the variance of each level, and the interval of the mean that they allow.
    pub levels: Levels,
    /// A name for each level: the last is `iteration`, the one above `process`, then `build`, `machine`, and `level 1`... above.
    pub names: Vec<String>,
}

/// The levels of a subject's metric; `None` where the samples record none for all of its values, or only one unit of the
/// outermost. O(n log n).
pub fn of(samples: &Samples, subject: usize, metric: usize) -> Option<Nested> {
    let levels =
        recorded(samples, subject, metric).or_else(|| within_runs(samples, subject, metric))?;
    let depth = levels.levels.len();
    // A single level is a plain series.
    if depth < 2 {
        return None;
    }
    let unnamed = depth.saturating_sub(NAMES.len());
    let names = (1..=unnamed)
        .map(|number| format!("level {number}"))
        .chain(NAMES[NAMES.len() - (depth - unnamed)..].iter().map(|name| (*name).to_owned()))
        .collect();
    Some(Nested { levels, names })
}

fn recorded(samples: &Samples, subject: usize, metric: usize) -> Option<Levels> {
    let series = samples.series(subject, metric);
    let keys: Option<Vec<Vec<u32>>> = series
        .observations
        .iter()
        .map(|&index| samples.observation(index).map(|o| o.level).filter(|l| !l.is_empty()))
        .collect();
    let keys = keys?;
    Levels::of(&series.values, &keys.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

/// The values that a program gave within its runs: the run is the process.
fn within_runs(samples: &Samples, subject: usize, metric: usize) -> Option<Levels> {
    let name = &samples.metrics.get(metric)?.name;
    let of_it = || samples.inner.iter().filter(|i| i.subject == subject && i.metric == *name);
    let blocks: BTreeSet<u32> = of_it().map(|inner| inner.block).collect();
    // One value a run is no level of its own.
    if blocks.len() < 2 || of_it().all(|inner| inner.values.len() < 2) {
        return None;
    }
    let pairs = || of_it().flat_map(|inner| inner.values.iter().map(|value| (inner.block, *value)));
    let keys: Vec<[u32; 1]> = pairs().map(|(block, _)| [block]).collect();
    let values: Vec<f64> = pairs().map(|(_, value)| value).collect();
    Levels::of(&values, &keys.iter().map(|key| key.as_slice()).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_data::samples::{Inner, Observation};
    use assay_data::{Metric, Unit};

    fn samples() -> Samples {
        let mut samples = Samples::new(vec![Metric::lower("real_time", Unit::Second)]);
        samples.add_subject("a");
        samples
    }

    #[test]
    fn recorded_levels_are_taken_apart_and_named_from_the_inside() {
        let mut samples = samples();
        for process in 0..4 {
            for iteration in 0..3 {
                let value = f64::from(process * 10) + f64::from(iteration);
                let level = vec![process, iteration];
                samples.push(Observation { level, values: vec![value], ..Observation::default() });
            }
        }
        let found = of(&samples, 0, 0).expect("there are levels");
        assert_eq!(found.names, ["process", "iteration"]);
        assert_eq!((found.levels.levels[0].units, found.levels.mean), (4, 16.0));
        assert!(found.levels.levels[0].share > 0.9);
        // A value without a level: nothing can be said.
        samples.push_value(0, 3.0);
        assert_eq!(of(&samples, 0, 0), None);
    }

    #[test]
    fn several_values_of_one_run_are_its_iterations() {
        let mut samples = samples();
        for block in 0..5 {
            samples.push_value(0, 1.0);
            let values = vec![f64::from(block), f64::from(block) + 0.5];
            samples.inner.push(Inner { subject: 0, block, metric: "real_time".to_owned(), values });
        }
        let found = of(&samples, 0, 0).expect("there are levels");
        assert_eq!((found.names.len(), found.levels.levels[1].units), (2, 10));
    }

    #[test]
    fn a_plain_series_has_no_levels() {
        let mut samples = samples();
        (0..9).for_each(|value| samples.push_value(0, f64::from(value)));
        assert_eq!(of(&samples, 0, 0), None);
        let level = |n| Observation { level: vec![n], values: vec![1.0], ..Observation::default() };
        let mut single = self::samples();
        (0..9).for_each(|number| single.push(level(number)));
        assert_eq!(of(&single, 0, 0), None);
        assert_eq!(of(&single, 3, 3), None);
    }
}
