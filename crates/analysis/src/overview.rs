//! Many series at a glance: location, precision, spread, number of processes, and doubts.
//!
//! This is for files with too many benchmarks to read page by page; [`crate::series_summary`] gives
//! the details of one. Series with only a summary are included.

use crate::analysis::AnalysisError;
use crate::checks;
use crate::dependence::is_beyond_chance;
use crate::describe::Description;
use crate::levels;
use assay_data::{Environment, Finding, Metric, Samples, Summary};

/// The data of one series.
#[derive(Clone, Debug, PartialEq)]
pub enum SeriesData {
    /// The values of the series.
    Values {
        /// Description of the values.
        description: Box<Description>,
        /// Number and name of the outermost units that contain the values, if there are several.
        units: Option<(usize, String)>,
        /// True if successive values are correlated beyond chance.
        dependent: bool,
    },
    /// The recorded summary of a series without values.
    Summary(Box<Summary>),
}

/// One series of the overview.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Name of the subject.
    pub name: String,
    /// The data of the series.
    pub known: SeriesData,
}

/// All series of one metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Overview {
    /// The metric.
    pub metric: Metric,
    /// Confidence of the medians' intervals.
    pub confidence: f64,
    /// The series that have values or a summary, in order.
    pub lines: Vec<Line>,
    /// Findings from reading the file.
    pub findings: Vec<Finding>,
    /// Recorded facts about the machine.
    pub environment: Environment,
}

/// Summarizes one metric of every subject: `primary` if given, otherwise the plan's primary metric
/// or, without one, the first. O(n log n).
///
/// # Errors
/// Returns an error if there are neither values nor summaries, or if there is no metric of this
/// name.
pub fn of_samples(
    samples: &Samples,
    primary: Option<&str>,
    confidence: f64,
) -> Result<Overview, AnalysisError> {
    let planned = samples.plan.as_ref().map(|plan| plan.primary.as_str());
    let index = match primary {
        Some(asked) => {
            samples.metric_index(asked).ok_or_else(|| AnalysisError::no_metric(samples, asked))?
        }
        None => planned.and_then(|name| samples.metric_index(name)).unwrap_or(0),
    };
    let metric = samples.metrics.get(index).ok_or(AnalysisError::Nothing)?;
    let by_subject = samples.by_subject();
    let mut summaries: Vec<Option<&Summary>> = vec![None; samples.subjects.len()];
    for summary in samples.summaries.iter().filter(|s| s.metric == metric.name) {
        if let Some(place) = summaries.get_mut(summary.subject) {
            *place = Some(summary);
        }
    }
    let known = |subject: usize| -> Option<SeriesData> {
        let series: Vec<(u32, f64)> = by_subject.series(subject, index).collect();
        let values: Vec<f64> = series.iter().map(|&(_, value)| value).collect();
        let Some(description) = Description::of(&values, confidence) else {
            return summaries[subject]
                .map(|summary| SeriesData::Summary(Box::new(summary.clone())));
        };
        let mut outer: Vec<u32> =
            series.iter().filter_map(|&(o, _)| by_subject.level(o).first().copied()).collect();
        let has_levels = outer.len() == values.len();
        outer.sort_unstable();
        outer.dedup();
        let nested = has_levels && outer.len() > 1 && outer.len() < values.len();
        let depth = series.first().map_or(0, |&(o, _)| by_subject.level(o).len()).max(2);
        let dependent = is_beyond_chance(description.n, description.effective(), description.lag1);
        Some(SeriesData::Values {
            units: nested.then(|| {
                let name = match levels::is_of_recordings(samples, subject) {
                    true => levels::RECORDING.to_owned(),
                    false => levels::outermost_name(depth),
                };
                (outer.len(), name)
            }),
            dependent,
            description: Box::new(description),
        })
    };
    let lines: Vec<Line> = samples
        .subjects
        .iter()
        .enumerate()
        .filter_map(|(subject, own)| Some(Line { name: own.name.clone(), known: known(subject)? }))
        .collect();
    if lines.is_empty() {
        return Err(AnalysisError::Nothing);
    }
    let mut findings = checks::of_samples(samples, primary.is_some());
    findings.extend(checks::outcomes(samples, index, None));
    Ok(Overview {
        metric: metric.clone(),
        confidence,
        lines,
        findings,
        environment: samples.environment.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_data::Observation;

    #[test]
    fn values_processes_and_summaries_stand_in_one_table() {
        let mut samples = Samples::new(vec![Metric::wall()]);
        for name in ["values", "nested", "summary", "nothing"] {
            samples.add_subject(name);
        }
        for value in 0..12_u32 {
            samples.push_value(0, 1.0 + f64::from(value * 5 % 12));
            let (level, values) = (vec![value / 4], vec![f64::from(value)]);
            samples.push(Observation { subject: 1, level, values, ..Observation::default() });
        }
        let metric = "wall".to_owned();
        let mean = Some(3.0);
        samples.summaries.push(Summary { subject: 2, metric, mean, ..Summary::default() });
        let found = of_samples(&samples, None, 0.95).expect("there are values");
        assert_eq!(found.lines.len(), 3);
        assert!(found.findings.is_empty());
        let SeriesData::Values { units, dependent, description } = &found.lines[1].known else {
            unreachable!("it has values")
        };
        assert_eq!((units, *dependent), (&Some((3, "process".to_owned())), true));
        assert_eq!(description.n, 12);
        assert!(matches!(&found.lines[0].known, SeriesData::Values { units: None, .. }));
        assert!(matches!(&found.lines[2].known, SeriesData::Summary(_)));
        let failed = Observation {
            outcome: assay_data::Outcome::Exit(1),
            values: vec![1.0],
            ..Observation::default()
        };
        samples.push(failed);
        let found = of_samples(&samples, None, 0.95).expect("there are values");
        assert_eq!(found.findings[0].code, "FAILURES");
        assert!(of_samples(&samples, Some("heat"), 0.95).is_err());
        assert!(of_samples(&Samples::default(), None, 0.95).is_err());
    }
}
