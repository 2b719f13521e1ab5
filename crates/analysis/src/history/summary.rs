//! Summarizes a run for the history: one [`RunSummary`] for every metric of every benchmark.
//!
//! Values from several processes or builds are first summarized within each: a thousand iterations
//! of one process count as one process.

use super::{Benchmark, RunSummary};
use crate::describe::Description;
use crate::levels;
use assay_data::samples::{BySubject, NOT_COMPARED};
use assay_data::{Environment, Samples, Summary};
use assay_stats::{Interval, descriptive, normal};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// Confidence of the interval of a run's center.
const CONFIDENCE: f64 = 0.95;

/// The summary of one metric of one subject.
#[derive(Clone, Debug, PartialEq)]
pub struct Summarised {
    /// Index of the subject.
    pub subject: usize,
    /// Index of the metric.
    pub metric: usize,
    /// The benchmark, shared by its metrics.
    pub benchmark: Rc<Benchmark>,
    /// Commit of the subject's side; `None` if the side has no commit of its own, so that the
    /// commit of the whole run applies.
    pub commit: Option<String>,
    /// Summary of the metric's values.
    pub result: RunSummary,
}

/// Returns the name of a machine: its host name or, without one, its processor; `None` if both are
/// unknown.
pub fn machine_name(environment: &Environment) -> Option<&str> {
    environment.text("hostname").or_else(|| environment.text("cpu_model"))
}

/// Returns one entry for each metric of each subject that has values or a recorded summary. O(n log
/// n) for n observations.
pub fn of_samples(samples: &Samples) -> Vec<Summarised> {
    let by_subject = samples.by_subject();
    let summaries: HashMap<(usize, &str), &Summary> =
        samples.summaries.iter().map(|s| ((s.subject, s.metric.as_str()), s)).collect();
    let mut found = Vec::new();
    for (subject, of) in samples.subjects.iter().enumerate() {
        let side = samples.side_of(of);
        let row = samples.row_of(of);
        let own = samples.environment.text(&format!("git_commit@{}", side.name));
        let name = if row.name.is_empty() { &side.name } else { &row.name };
        let benchmark = Rc::new(Benchmark {
            name: name.clone(),
            parameters: of.parameters.clone(),
            // Sides that are revisions and commands with their own names have no role.
            role: if own.is_some() || row.name.is_empty() { 0 } else { of.side },
        });
        for (metric, known) in samples.metrics.iter().enumerate() {
            if NOT_COMPARED.contains(&known.name.as_str()) {
                continue;
            }
            let summary = || of_summary(summaries.get(&(subject, known.name.as_str()))?);
            let pooled = levels::is_of_recordings(samples, subject);
            let result = of_values(&by_subject, subject, metric, pooled).or_else(summary);
            found.extend(result.map(|result| Summarised {
                subject,
                metric,
                benchmark: Rc::clone(&benchmark),
                commit: own.map(str::to_owned),
                result,
            }));
        }
    }
    found
}

fn of_values(
    by_subject: &BySubject<'_>,
    subject: usize,
    metric: usize,
    pooled: bool,
) -> Option<RunSummary> {
    let series: Vec<(u32, f64)> = by_subject.series(subject, metric).collect();
    let mut units: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for &(observation, value) in &series {
        // A single level only numbers the values, unless it is the level of recordings.
        let level = by_subject.level(observation);
        let outermost = level.first().filter(|_| pooled || level.len() > 1);
        let Some(outermost) = outermost else {
            units.clear();
            break;
        };
        units.entry(*outermost).or_default().push(value);
    }
    let values: Vec<f64> = match units.is_empty() {
        true => series.iter().map(|&(_, value)| value).collect(),
        false => units.values().map(|values| descriptive::median(values)).collect(),
    };
    let description = Description::of(&values, CONFIDENCE)?;
    Some(RunSummary {
        n: series.len() as u64,
        units: values.len() as u64,
        centre: description.median,
        interval: description.median_interval.filter(|interval| interval.is_bounded()),
    })
}

fn of_summary(summary: &Summary) -> Option<RunSummary> {
    let centre = summary.location().filter(|centre| centre.is_finite())?;
    let n = summary.count.unwrap_or(1);
    let half = summary.error_of_mean().map(|error| normal::two_sided(CONFIDENCE) * error);
    let interval = half.map(|half| Interval { lower: centre - half, upper: centre + half });
    Some(RunSummary { n, units: n, centre, interval })
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_data::{Metric, Observation, Row, Side, Subject, Unit};

    /// One row on two sides.
    fn of_two_sides() -> Samples {
        let mut samples = Samples::new(vec![Metric::wall()]);
        samples.rows.push(Row { name: "Sort".to_owned(), ..Row::default() });
        for (side, name) in ["old", "new"].into_iter().enumerate() {
            samples.add_side(Side { name: name.to_owned(), ..Side::default() });
            samples.add(Subject { side, name: format!("Sort {name}"), ..Subject::default() });
            for value in 0..9 {
                samples.push_value(side, f64::from(value) + 10.0 * side as f64);
            }
        }
        samples
    }

    #[test]
    fn sides_of_one_row_are_roles_unless_they_are_revisions() {
        let mut samples = of_two_sides();
        let roles = |samples: &Samples| {
            let found = of_samples(samples).into_iter();
            found.map(|s| (s.benchmark.role, s.commit)).collect::<Vec<_>>()
        };
        assert_eq!(roles(&samples), [(0, None), (1, None)]);
        for (side, commit) in [("old", "aa"), ("new", "bb")] {
            samples.environment.set(&format!("git_commit@{side}"), commit);
        }
        assert_eq!(roles(&samples), [(0, Some("aa".to_owned())), (0, Some("bb".to_owned()))]);
        let centres: Vec<f64> = of_samples(&samples).iter().map(|s| s.result.centre).collect();
        assert_eq!(centres, [4.0, 14.0]);
    }

    #[test]
    fn commands_are_known_by_their_names_whatever_their_place() {
        let mut samples = Samples::new(vec![Metric::wall()]);
        for name in ["make", "make check"] {
            let subject = samples.add_subject(name);
            samples.push_value(subject, 1.0);
        }
        let found = of_samples(&samples);
        let names: Vec<(&str, usize)> =
            found.iter().map(|s| (s.benchmark.name.as_str(), s.benchmark.role)).collect();
        assert_eq!(names, [("make", 0), ("make check", 0)]);
    }

    #[test]
    fn iterations_of_one_process_count_once() {
        let mut samples = Samples::new(vec![Metric::lower("time", Unit::Second)]);
        samples.add_subject("a");
        // One of seven processes is slow and has most of the iterations.
        for process in 0..7 {
            for iteration in 0..if process == 0 { 100 } else { 3 } {
                let value = if process == 0 { 9.0 } else { 1.0 + f64::from(process) / 100.0 };
                let level = vec![process, iteration];
                samples.push(Observation { level, values: vec![value], ..Observation::default() });
            }
        }
        let result = &of_samples(&samples)[0].result;
        assert_eq!((result.n, result.units, result.centre), (118, 7, 1.04));
    }

    #[test]
    fn a_summary_is_kept_with_the_error_that_it_tells() {
        let mut samples = Samples::new(vec![Metric::wall()]);
        samples.add_subject("a");
        samples.summaries.push(Summary {
            metric: "wall".to_owned(),
            count: Some(25),
            mean: Some(2.0),
            sd: Some(0.5),
            ..Summary::default()
        });
        let result = &of_samples(&samples)[0].result;
        assert_eq!((result.n, result.centre), (25, 2.0));
        let interval = result.interval.expect("there is an error");
        assert!((interval.upper - 2.196).abs() < 1e-3, "{interval:?}");
    }
}
