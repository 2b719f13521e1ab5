//! The growth of the primary metric with a parameter of a scan, as JSON.

use super::values::{Interval, view, words};
use assay_analysis::{NoExponent, scaling};
use serde_json::{Map, Value};

view! {
    /// Growth of one side's primary metric with one parameter. There is a curve for every parameter
    /// with at least three distinct positive numbers as values, and for every combination of the
    /// other parameters' values.
    Curve of (curve: &assay_analysis::Curve) {
        /// Name of the side.
        side: String => curve.command,
        /// The parameter that varies.
        parameter: String,
        /// The other parameters, with their fixed values.
        fixed: Map<String, Value>,
        /// The points, by ascending value of the parameter.
        points: Vec<Point>,
        /// The power of the parameter with which the metric grows: 1 if doubling the parameter
        /// doubles the value. `null` if there is none.
        exponent: Option<f64> = curve.exponent.as_ref().ok().map(|e| e.estimate),
        /// Interval of the exponent; both ends are `null` if there are too few blocks.
        exponent_interval: Interval =
            Interval::ends(curve.exponent.as_ref().ok().and_then(|e| e.interval)),
        /// The exponents between neighboring points; `null` if there is no exponent.
        steps: Option<Vec<Option<f64>>> =
            curve.exponent.as_ref().ok().map(|e| e.steps.iter().copied().map(Some).collect()),
        /// True if a single power does not fit: the exponent is different at the end than at the
        /// start.
        curved: Option<bool> = curve.exponent.as_ref().ok().map(|e| e.curved),
        /// The reason for a missing exponent; otherwise `null`.
        reason: Option<WhyNoExponent> => curve.exponent.as_ref().err(),
    }
}

view! {
    /// A point of a curve.
    Point of (point: &scaling::Point) {
        /// Value of the parameter.
        value: Option<f64>,
        /// Index in `descriptions`, from 0.
        description: usize => point.subject,
        /// Median of the primary metric.
        median: Option<f64>,
    }
}

words! {
    /// Reasons for a missing exponent.
    WhyNoExponent from NoExponent {
        /// The samples were not taken in blocks.
        Source::NotInBlocks => NotInBlocks,
        /// There are fewer than five complete blocks.
        Source::TooFewBlocks(_) => TooFewBlocks,
        /// A value is zero or negative.
        Source::NotPositive => NotPositive,
    }
}
