//! How the primary metric grows with a parameter of a scan, as JSON.

use super::values::Interval;
use assay_analysis::NoExponent;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

/// How the primary metric of one side grows with one parameter. There is one for every parameter with at least three distinct
/// positive numbers for values, and every combination of the other parameters' values.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Curve {
    /// Name of the side.
    pub side: String,
    /// The parameter that varies.
    pub parameter: String,
    /// The other parameters with the values at which they are held.
    pub fixed: Map<String, Value>,
    /// The points, by ascending value of the parameter.
    pub points: Vec<Point>,
    /// The power of the parameter with which the metric grows: 1 where twice the parameter means twice the value. `null` where
    /// none can be given.
    pub exponent: Option<f64>,
    /// Its interval; no ends for too few blocks.
    pub exponent_interval: Interval,
    /// The exponents between neighbouring points; `null` where there is no exponent.
    pub steps: Option<Vec<Option<f64>>>,
    /// True where a single power does not do: the metric grows with another power at the end than at the beginning.
    pub curved: Option<bool>,
    /// Why there is no exponent; otherwise `null`.
    pub reason: Option<WhyNoExponent>,
}

/// A point of a curve.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Point {
    /// Value of the parameter.
    pub value: Option<f64>,
    /// Index in `descriptions`, from 0.
    pub description: usize,
    /// Median of the primary metric.
    pub median: Option<f64>,
}

super::values::words! {
    /// Why a curve has no exponent.
    WhyNoExponent from NoExponent {
        /// The samples were not taken in blocks.
        Source::NotInBlocks => NotInBlocks,
        /// There are fewer than five complete blocks.
        Source::TooFewBlocks(_) => TooFewBlocks,
        /// A value is zero or negative.
        Source::NotPositive => NotPositive,
    }
}

impl From<&assay_analysis::Curve> for Curve {
    fn from(curve: &assay_analysis::Curve) -> Self {
        let exponent = curve.exponent.as_ref().ok();
        let point = |point: &assay_analysis::scaling::Point| Point {
            value: Some(point.value),
            description: point.subject,
            median: Some(point.median),
        };
        Self {
            side: curve.command.clone(),
            parameter: curve.parameter.clone(),
            fixed: super::parameters(&curve.fixed),
            points: curve.points.iter().map(point).collect(),
            exponent: exponent.map(|e| e.estimate),
            exponent_interval: Interval::ends(exponent.and_then(|e| e.interval)),
            steps: exponent.map(|e| e.steps.iter().copied().map(Some).collect()),
            curved: exponent.map(|e| e.curved),
            reason: curve.exponent.as_ref().err().map(WhyNoExponent::from),
        }
    }
}
