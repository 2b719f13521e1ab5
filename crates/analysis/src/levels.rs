//! Nested repetitions of one subject, as recorded in the samples, and the level that contributes
//! most of the variance.
//!
//! The mathematics is in [`assay_stats::levels`]; this module assigns values to units. Levels are
//! recorded by other tools (build > process > iteration), or result from programs that report
//! several values in one run, which are then the iterations of that run. Unlike blocks, levels do
//! not serve to compare subjects.

use crate::policy;
use assay_data::code;
use assay_data::{Action, Finding, Samples};
use assay_stats::descriptive;
use assay_stats::levels::Levels;
use std::collections::{BTreeMap, BTreeSet};

/// Usual names of the innermost levels, starting with the outermost.
const NAMES: [&str; 4] = ["machine", "build", "process", "iteration"];

/// Name of the level of builds.
pub(crate) const BUILD: &str = NAMES[1];

/// Name of the level of pooled recordings.
pub(crate) const RECORDING: &str = "recording";

/// The levels of one subject's metric, with their names.
#[derive(Clone, Debug, PartialEq)]
pub struct Nested {
    /// The mean with its interval, and the variance of each level.
    pub levels: Levels,
    /// Names of the levels, outermost first. The innermost levels are usually `machine`, `build`,
    /// `process` and `iteration`; the ones above them are `level 1`, `level 2` and so on. The
    /// outermost level is `recording` if recordings are pooled, and `build` if the side has several
    /// builds.
    pub names: Vec<String>,
    /// True if the values are those of the series itself, false if a program reported them within
    /// its runs.
    pub of_series: bool,
    /// The standard error that the mean would have if all values were independent.
    pub error_if_independent: f64,
}

impl Nested {
    /// Returns the factor by which the standard error of the mean is too small if the levels are
    /// ignored; `None` if nothing varies.
    pub fn too_narrow(&self) -> Option<f64> {
        let factor = self.levels.squared_error.sqrt() / self.error_if_independent;
        factor.is_finite().then_some(factor)
    }

    /// Returns, for each level, the maximum share by which more repetitions can narrow the interval
    /// of the mean, given the existing units of the level above. The share is 1 for the outermost
    /// level, where there is no limit.
    pub fn most_gained(&self) -> Vec<f64> {
        let mut above = 0.0;
        let gained = self.levels.levels.iter().map(|level| {
            let left = 1.0 - f64::sqrt(above);
            above += level.share;
            left
        });
        gained.collect()
    }

    /// Returns the optimal number of repetitions of each level except the outermost, within one
    /// unit of the level above. A unit of each level, excluding its content, is assumed to cost
    /// `ratio` > 0 times as much as a unit of the level below. The number is at least 1; `None` if
    /// the level above adds no variance.
    pub fn best_repetitions(&self, ratio: f64) -> Vec<Option<f64>> {
        let depth = self.levels.levels.len() as i32;
        let costs: Vec<f64> = (0..depth).rev().map(|inner| ratio.powi(inner)).collect();
        self.levels.best_repetitions(&costs)
    }

    /// Returns the finding that ignoring the levels greatly overstates the precision of the mean,
    /// if it does.
    pub(crate) fn ignored(&self, name: &str) -> Option<Finding> {
        let factor =
            self.too_narrow().filter(|f| self.of_series && *f >= policy::LEVELS_TOO_NARROW)?;
        let levels = &self.levels.levels;
        let (outer, inner) = (levels.first()?, levels.last()?);
        let message = format!(
            "the {} values of {name} come from {} {}, and those differ: an interval of the mean that treats the values as independent is {factor:.1} times too narrow",
            inner.units,
            outer.units,
            plural(&self.names[0])
        );
        let finding = Finding::new(code::LEVELS_IGNORED, message).about(name);
        let finding = finding
            .with("factor", factor)
            .with("units", outer.units as f64)
            .with("values", inner.units as f64)
            .with("share", outer.share);
        Some(
            finding
                .advise(Action::text(format!(
                    "use the interval over the {}",
                    plural(&self.names[0])
                )))
                .advise(Action::MoreUnits { units: plural(&self.names[0]) }),
        )
    }
}

/// Returns the usual name of the outermost of `depth` levels.
pub(crate) fn outermost_name(depth: usize) -> String {
    match NAMES.len().checked_sub(depth).and_then(|place| NAMES.get(place)) {
        Some(name) if depth > 1 => (*name).to_owned(),
        _ if depth <= 1 => NAMES[NAMES.len() - 2].to_owned(),
        _ => "level 1".to_owned(),
    }
}

/// Returns true if the subject's side pools several recordings.
pub(crate) fn is_of_recordings(samples: &Samples, subject: usize) -> bool {
    let of = samples.subjects.get(subject);
    of.is_some_and(|of| !samples.side_of(of).recordings.is_empty())
}

/// Returns the values of a subject that are used for planning: those of its series or, if its side
/// pools several recordings, the mean of each recording.
pub(crate) fn independent_values(samples: &Samples, subject: usize, metric: usize) -> Vec<f64> {
    let series = samples.series(subject, metric);
    if !is_of_recordings(samples, subject) {
        return series.values;
    }
    let mut of_recording: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for (&observation, &value) in series.observations.iter().zip(&series.values) {
        let observation = samples.observation(observation);
        let outermost = observation.and_then(|o| o.level.first().copied()).unwrap_or(0);
        of_recording.entry(outermost).or_default().push(value);
    }
    of_recording.values().map(|values| descriptive::mean(values)).collect()
}

/// Returns the plural of a level's name.
pub fn plural(name: &str) -> String {
    match name.strip_prefix("level ") {
        Some(number) => format!("units of level {number}"),
        None if name.ends_with('s') => format!("{name}es"),
        None => format!("{name}s"),
    }
}

/// Returns the levels of a subject's metric, either recorded or formed by the values that a program
/// reported within its runs. `None` if there are neither, or if there are fewer than two levels or
/// outermost units. O(n log n).
pub fn of(samples: &Samples, subject: usize, metric: usize) -> Option<Nested> {
    let recorded = recorded(samples, subject, metric);
    let of_series = recorded.is_some();
    let (levels, values) = recorded.or_else(|| within_runs(samples, subject, metric))?;
    let error_if_independent =
        descriptive::standard_deviation(&values) / (values.len() as f64).sqrt();
    let depth = levels.levels.len();
    // A single level is a plain series.
    if depth < 2 {
        return None;
    }
    let has_builds =
        samples.subjects.get(subject).is_some_and(|own| !samples.side_of(own).builds.is_empty());
    // Without an iteration level, the runs of a build are processes.
    let below_builds = &NAMES[2..];
    let (outermost, inner) = if of_series && is_of_recordings(samples, subject) {
        (Some(RECORDING), &NAMES[NAMES.len().saturating_sub(depth - 1)..])
    } else if of_series && has_builds {
        (Some(BUILD), &below_builds[..below_builds.len().min(depth - 1)])
    } else {
        (None, &NAMES[NAMES.len().saturating_sub(depth)..])
    };
    let unnamed = depth - inner.len() - usize::from(outermost.is_some());
    let between = (1..=unnamed).map(|number| format!("level {number}"));
    let named = |name: &&str| (*name).to_owned();
    let names = outermost.iter().map(named).chain(between).chain(inner.iter().map(named)).collect();
    Some(Nested { levels, names, of_series, error_if_independent })
}

fn recorded(samples: &Samples, subject: usize, metric: usize) -> Option<(Levels, Vec<f64>)> {
    let series = samples.series(subject, metric);
    let keys: Option<Vec<Vec<u32>>> = series
        .observations
        .iter()
        .map(|&index| samples.observation(index).map(|o| o.level).filter(|l| !l.is_empty()))
        .collect();
    let keys = keys?;
    let levels = Levels::of(&series.values, &keys.iter().map(Vec::as_slice).collect::<Vec<_>>())?;
    Some((levels, series.values))
}

/// Returns the values that a program reported within its runs, with their levels; each run is a
/// process.
fn within_runs(samples: &Samples, subject: usize, metric: usize) -> Option<(Levels, Vec<f64>)> {
    let name = &samples.metrics.get(metric)?.name;
    let of_it = || samples.inner.iter().filter(|i| i.subject == subject && i.metric == *name);
    let blocks: BTreeSet<u32> = of_it().map(|inner| inner.block).collect();
    // One value per run is not a separate level.
    if blocks.len() < 2 || of_it().all(|inner| inner.values.len() < 2) {
        return None;
    }
    let pairs = || of_it().flat_map(|inner| inner.values.iter().map(|value| (inner.block, *value)));
    let keys: Vec<[u32; 1]> = pairs().map(|(block, _)| [block]).collect();
    let values: Vec<f64> = pairs().map(|(_, value)| value).collect();
    let levels = Levels::of(&values, &keys.iter().map(|key| key.as_slice()).collect::<Vec<_>>())?;
    Some((levels, values))
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_data::samples::Recorded;
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
        // More iterations gain almost nothing, and ignoring the processes gives a finding.
        let gained = found.most_gained();
        assert!(gained[0] == 1.0 && gained[1] < 0.05, "{gained:?}");
        let finding = found.ignored("a").expect("ignoring the processes misleads");
        assert!(finding.message.contains("12 values of a come from 4 processes"), "{finding:?}");
        assert!(finding.is(code::LEVELS_IGNORED));
        // The processes differ, so one iteration of each is enough unless starting a process is
        // expensive.
        assert_eq!(found.best_repetitions(1.0), [Some(1.0)]);
        assert!(found.best_repetitions(1e6)[0].is_some_and(|best| best > 10.0));
        // A value without a level prevents the computation.
        samples.push_value(0, 3.0);
        assert_eq!(of(&samples, 0, 0), None);
    }

    #[test]
    fn every_level_has_a_name_however_deep_they_are() {
        let of_depth = |depth: usize, change: &dyn Fn(&mut Samples)| {
            let mut samples = samples();
            change(&mut samples);
            for number in 0..2_u32.pow(u32::try_from(depth).expect("a small depth")) {
                let level: Vec<u32> = (0..depth).rev().map(|place| number >> place & 1).collect();
                let values = vec![f64::from(number)];
                samples.push(Observation { level, values, ..Observation::default() });
            }
            let found = of(&samples, 0, 0).expect("there are levels");
            assert_eq!(found.names.len(), found.levels.levels.len());
            found.names.join(" ")
        };
        let builds = |samples: &mut Samples| samples.sides[0].builds = vec!["a".to_owned()];
        let recordings =
            |samples: &mut Samples| samples.sides[0].recordings = vec![Recorded::default()];
        assert_eq!(of_depth(5, &|_| ()), "level 1 machine build process iteration");
        assert_eq!(of_depth(2, &builds), "build process");
        assert_eq!(of_depth(3, &builds), "build process iteration");
        assert_eq!(of_depth(5, &builds), "build level 1 level 2 process iteration");
        assert_eq!(of_depth(2, &recordings), "recording iteration");
        assert_eq!(of_depth(6, &recordings), "recording level 1 machine build process iteration");
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
        // The series has one value per run: the values within runs are not ignored.
        assert!(!found.of_series && found.ignored("a").is_none());
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
