//! A calibration as JSON: how often each way of measuring reports a difference where there is none, and what can be detected.

use super::Head;
use super::values::{Estimate, Verdict, words};
use crate::calibration::CalibrationReport;
use assay_analysis::calibration;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

/// How far measurements on this machine can be trusted.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Calibrated {
    #[serde(flatten)]
    head: Head,
    /// What to trust. For people.
    pub sentence: String,
    /// Runs in the series.
    pub runs: usize,
    /// Median wall time of a run.
    pub median_seconds: Option<f64>,
    /// Time from the start of one run to the start of the next.
    pub seconds_per_run: Option<f64>,
    /// Every way of measuring, tried on the series. All differences that it found are false.
    pub methods: Vec<Method>,
    /// The smallest detectable differences, by metric and budget.
    pub detectable: Vec<Detectable>,
    /// A byte-identical copy at another path against the original; `null` where it was not measured.
    pub layout: Option<Layout>,
    /// Facts about the machine, by name.
    pub environment: Map<String, Value>,
}

/// A way of measuring a program against itself.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Method {
    /// In which order it measures, and when it stops.
    pub name: MethodName,
    /// The test that decides.
    pub test: &'static str,
    /// How many comparisons were tried.
    pub comparisons: u32,
    /// How many independent ones they are worth.
    pub independent: u32,
    /// How many of them found a difference.
    pub false_alarms: u32,
    /// The share of these, with its 95 % interval.
    pub rate: Estimate,
    /// The apparent relative difference that one comparison in twenty exceeds.
    pub phantom_p95: Option<f64>,
}

words! {
    /// In which order a way of measuring takes runs, and when it stops.
    MethodName from calibration::MethodName {
        /// All runs of one, then all of the other.
        Source::BlockOrder => BlockOrder,
        /// In turns.
        Source::Alternating => Alternating,
        /// In random order within blocks, 50 of them.
        Source::Ours => AssayFixed,
        /// In random order within blocks until the answer is clear.
        Source::OursDefault => AssayDefault,
    }
}

/// The smallest difference that a run detects.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Detectable {
    /// `wall` or `cpu`.
    pub metric: &'static str,
    /// Seconds that the run takes, for both programs together.
    pub budget_seconds: f64,
    /// The blocks that fit into it.
    pub blocks: u32,
    /// The smallest true difference, as a fraction, whose direction is found in 90 of 100 such runs; `null` for too few blocks.
    pub difference: Option<f64>,
    /// Whether more blocks fit into the budget than the series holds.
    pub extrapolated: bool,
}

/// A byte-identical copy at another path against the original.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Layout {
    /// Its wall time over that of the original.
    pub ratio: Estimate,
    /// The verdict on the difference.
    pub verdict: Verdict,
}

impl From<&calibration::Method> for Method {
    fn from(method: &calibration::Method) -> Self {
        Self {
            name: (&method.name).into(),
            test: method.test,
            comparisons: method.comparisons,
            independent: method.independent,
            false_alarms: method.false_alarms,
            rate: Estimate::new(method.rate(), method.interval()),
            phantom_p95: Some(method.phantom_p95),
        }
    }
}

impl From<&calibration::Detectable> for Detectable {
    fn from(found: &calibration::Detectable) -> Self {
        Self {
            metric: found.metric,
            budget_seconds: found.budget_seconds,
            blocks: found.blocks,
            difference: found.difference,
            extrapolated: found.extrapolated,
        }
    }
}

impl From<&CalibrationReport<'_>> for Calibrated {
    fn from(report: &CalibrationReport<'_>) -> Self {
        let calibration = report.calibration;
        Self {
            head: Head::of("calibrate"),
            sentence: crate::calibration::sentence(report),
            runs: calibration.runs,
            median_seconds: Some(calibration.median_seconds),
            seconds_per_run: Some(calibration.seconds_per_run),
            methods: calibration.methods.iter().map(Into::into).collect(),
            detectable: calibration.detectable.iter().map(Into::into).collect(),
            layout: report.layout.map(|layout| Layout {
                ratio: Estimate::new(layout.ratio, Some(layout.interval)),
                verdict: (&layout.verdict).into(),
            }),
            environment: report.environment.facts.clone(),
        }
    }
}
