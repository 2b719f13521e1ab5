//! The user's options, which override the samples' plan, and the errors that occur if an option
//! can't be applied.

use super::family::Adjust;
use assay_data::metric_names;
use assay_data::samples::NOT_COMPARED;
use assay_data::{Metric, Plan, Samples, StopRule, Threshold, Unit};

/// The user's options for recorded samples; they override the samples' plan.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Confidence of the verdict (default: the plan's, or 95 %).
    pub confidence: Option<f64>,
    /// Smallest difference that matters (default: the plan's, or 1 %).
    pub threshold: Option<Threshold>,
    /// Name of the deciding metric (default: the plan's, or the first).
    pub primary: Option<String>,
    /// Names of the secondary metrics (default: the plan's, or all).
    pub secondary: Option<Vec<String>>,
    /// True to also run all classical tests.
    pub all: bool,
    /// How the comparisons of a family share the error rate.
    pub adjust: Adjust,
    /// The subject (for a suite, the side) that all others are compared with (default: the one
    /// given by the samples, or the first).
    pub reference: Option<String>,
    /// True to compare nothing and analyze each subject separately, for the findings about its
    /// deciding metric. Other metrics and the parameters are then not described.
    pub alone: bool,
}

/// Reasons why samples can't be analyzed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnalysisError {
    /// The samples have neither observations nor summaries.
    #[error("there are no observations to analyze")]
    Nothing,
    /// No row has values of the primary metric on both the reference and another side.
    #[error("no {noun} has a value of `{metric}` on several sides")]
    NothingInCommon {
        /// The noun for a row.
        noun: String,
        /// Name of the primary metric.
        metric: String,
    },
    /// The requested reference is not among the samples.
    #[error("--reference {asked}: there is no such {what}; there are {known}")]
    NoSuchReference {
        /// The requested name.
        asked: String,
        /// `subject` or `side`, whichever was requested.
        what: &'static str,
        /// The existing names.
        known: String,
    },
    /// The requested metric was not measured; contains the message.
    #[error("{0}")]
    NoSuchMetric(String),
    /// The unit of an absolute threshold is not that of the primary metric.
    #[error("{}", units_differ("the threshold", threshold, metric, unit))]
    ThresholdUnit {
        /// Unit of the threshold.
        threshold: Unit,
        /// Name of the primary metric.
        metric: String,
        /// Unit of the primary metric.
        unit: Unit,
    },
}

impl AnalysisError {
    pub(crate) fn no_metric(samples: &Samples, asked: &str) -> Self {
        let names: Vec<&str> = samples.metrics.iter().map(|metric| metric.name.as_str()).collect();
        Self::NoSuchMetric(metric_names::unknown(asked, &names))
    }

    pub(super) fn no_reference<'a>(
        asked: &str,
        what: &'static str,
        known: impl Iterator<Item = &'a str>,
    ) -> Self {
        let known: Vec<String> = known.map(|name| format!("`{name}`")).collect();
        Self::NoSuchReference { asked: asked.to_owned(), what, known: known.join(", ") }
    }
}

/// Returns a message, with advice, about an amount whose unit does not fit a metric.
pub(crate) fn units_differ(what: &str, asked: &Unit, metric: &str, unit: &Unit) -> String {
    let named = |unit: &Unit| match unit {
        Unit::One => "no unit".to_owned(),
        other => format!("the unit `{}`", other.symbol()),
    };
    let advice = match (asked, unit) {
        (Unit::Second, Unit::One) => {
            "name the unit of the numbers (--unit us), or give the amount without a unit (2units) or in %"
        }
        (Unit::Byte, Unit::One) => {
            "name the unit of the numbers (--unit KiB), or give the amount without a unit (2units) or in %"
        }
        (_, Unit::One) => {
            "name the unit of the numbers (--unit), or give the amount without a unit (2units) or in %"
        }
        (_, Unit::Second) => "write a time such as 5ms, or a percentage such as 1%",
        (_, Unit::Byte) => "write a size such as 64KiB, or a percentage such as 1%",
        _ => "give it in that unit or in %",
    };
    format!("{what} has {}, but `{metric}` has {}; {advice}", named(asked), named(unit))
}

/// Returns the samples' plan, overridden by the user's options. Samples without a plan are
/// evaluated once.
pub(crate) fn plan_for(samples: &Samples, options: &Options) -> Plan {
    let mut plan = samples.plan.clone().unwrap_or_else(|| Plan {
        stop: StopRule::Fixed { blocks: 0 },
        budget_seconds: None,
        warmup: 0,
        primary: samples.metrics.first().map_or_else(|| "value".to_owned(), |m| m.name.clone()),
        ..Plan::sequential(0.95, Threshold::default(), 0)
    });
    if let Some(confidence) = options.confidence {
        plan.confidence = confidence;
        if let StopRule::Sequential { look_level, .. } = &mut plan.stop {
            *look_level = assay_data::plan::look_level(confidence);
        }
    }
    if let Some(threshold) = &options.threshold {
        plan.threshold = threshold.clone();
    }
    if let Some(primary) = &options.primary {
        plan.primary.clone_from(primary);
    }
    if let Some(secondary) = &options.secondary {
        plan.secondary.clone_from(secondary);
    }
    plan
}

pub(crate) fn primary_metric(
    samples: &Samples,
    options: &Options,
    plan: &Plan,
) -> Result<usize, AnalysisError> {
    match (samples.metric_index(&plan.primary), &options.primary) {
        (Some(index), _) => Ok(index),
        (None, None) if !samples.metrics.is_empty() => Ok(0),
        _ => Err(AnalysisError::no_metric(samples, &plan.primary)),
    }
}

/// Returns the secondary metrics: the named ones, in that order, or all. Metrics named in the plan
/// may be missing from the samples; those named in the options must exist.
pub(crate) fn secondary_metrics(
    samples: &Samples,
    options: &Options,
    plan: &Plan,
    primary: usize,
) -> Result<Vec<usize>, AnalysisError> {
    if plan.secondary.is_empty() {
        // Some metrics, such as stolen time, only explain others.
        let of_subjects =
            |&m: &usize| m != primary && !NOT_COMPARED.contains(&samples.metrics[m].name.as_str());
        return Ok((0..samples.metrics.len()).filter(of_subjects).collect());
    }
    let mut found = Vec::new();
    for name in &plan.secondary {
        match samples.metric_index(name) {
            Some(metric) if metric != primary && !found.contains(&metric) => found.push(metric),
            None if options.secondary.is_some() => {
                return Err(AnalysisError::no_metric(samples, name));
            }
            _ => {}
        }
    }
    Ok(found)
}

pub(crate) fn check_threshold(threshold: &Threshold, metric: &Metric) -> Result<(), AnalysisError> {
    match threshold {
        Threshold::Absolute { unit, .. } if *unit != metric.unit => {
            Err(AnalysisError::ThresholdUnit {
                threshold: unit.clone(),
                metric: metric.name.clone(),
                unit: metric.unit.clone(),
            })
        }
        _ => Ok(()),
    }
}
