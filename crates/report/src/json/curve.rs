//! The growth of the primary metric with a parameter of a scan, as JSON.

use super::values::{Interval, view, words};
use assay_analysis::{NoExponent, scaling};
use serde_json::{Map, Value};

view! {
    /// Growth of one side's primary metric with one parameter. There is a curve for every parameter
    /// with at least three distinct positive numbers as values, for every combination of the values
    /// of the other parameters.
    Curve of (curve: &assay_analysis::Curve) {
        /// Name of the side that was measured.
        side: String => curve.command,
        /// Name of the parameter that varies along the curve.
        parameter: String,
        /// Values of the other parameters, which are fixed, by name.
        fixed: Map<String, Value>,
        /// Points of the curve, by ascending value of the parameter.
        points: Vec<Point>,
        /// Exponent of the power law by which the metric grows with the parameter. It is 1 if
        /// doubling the parameter doubles the metric; `null` if it could not be computed.
        exponent: Option<f64> = curve.exponent.as_ref().ok().map(|e| e.estimate),
        /// Interval of the exponent; both ends are `null` if there are too few blocks.
        exponent_interval: Interval =
            Interval::ends(curve.exponent.as_ref().ok().and_then(|e| e.interval)),
        /// Exponents between neighboring points; `null` if no exponent could be computed.
        steps: Option<Vec<Option<f64>>> =
            curve.exponent.as_ref().ok().map(|e| e.steps.iter().copied().map(Some).collect()),
        /// True if a single power law does not fit, because the exponent at the end of the curve
        /// differs from that at its start; `null` if no exponent could be computed.
        curved: Option<bool> = curve.exponent.as_ref().ok().map(|e| e.curved),
        /// The reason why no exponent could be computed; otherwise `null`.
        reason: Option<WhyNoExponent> => curve.exponent.as_ref().err(),
    }
}

view! {
    /// A point of a curve.
    Point of (point: &scaling::Point) {
        /// Value of the parameter.
        value: Option<f64>,
        /// Index of the point's entry in `descriptions`, from 0.
        description: usize => point.subject,
        /// Median of the primary metric at this point.
        median: Option<f64>,
    }
}

words! {
    /// The reason why no exponent of a curve could be computed.
    WhyNoExponent from NoExponent {
        /// The samples were not taken in blocks.
        Source::NotInBlocks => NotInBlocks,
        /// There are fewer than five complete blocks.
        Source::TooFewBlocks(_) => TooFewBlocks,
        /// A value is zero or negative, so it has no logarithm.
        Source::NotPositive => NotPositive,
    }
}
