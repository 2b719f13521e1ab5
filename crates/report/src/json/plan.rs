//! The decisions made before the first block, as JSON.

use super::values::{View, view, words};
use assay_data::StopRule;
use serde::Serialize;

view! {
    /// Decisions made before the first block.
    Plan of (plan: &assay_data::Plan) {
        /// Confidence of the verdicts.
        confidence: f64,
        /// The smallest difference that matters.
        threshold: Threshold,
        /// The stopping rule.
        stop: Stop,
        /// Time budget of measuring, s; `null` for no limit.
        budget_seconds: Option<f64>,
        /// Number of warm-up blocks, not recorded.
        warmup: u32,
        /// Name of the metric that decides.
        primary: String,
        /// Names of the compared secondary metrics; empty for all.
        secondary: Vec<String>,
        /// The stop condition as given; `null` to stop when the answer is clear.
        until: Option<String>,
        /// The seed of every random choice.
        seed: u64,
    }
}

/// The smallest difference that matters: a fraction of the reference, or an amount.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Threshold {
    /// A fraction of the reference: 0.01 is 1 %. `null` for an amount.
    pub relative: Option<f64>,
    /// An amount; `null` for a fraction.
    pub absolute: Option<f64>,
    /// The base unit of the amount; `null` for a fraction.
    pub unit: Option<String>,
}

/// The stopping rule of a run.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stop {
    /// The rule.
    pub rule: Rule,
    /// Level of an interval that holds at any time; `null` for a fixed number.
    pub look_level: Option<f64>,
    /// Number of blocks at which the run gives up; `null` for a fixed number.
    pub max_blocks: Option<u32>,
    /// The fixed number of blocks; 0 for samples measured without a plan; otherwise `null`.
    pub blocks: Option<u32>,
}

words! {
    /// Stopping rules.
    Rule from StopRule {
        /// Evaluate repeatedly, and stop when the answer is clear.
        Source::Sequential { .. } => Sequential,
        /// Take a fixed number of blocks and evaluate once.
        Source::Fixed { .. } => Fixed,
    }
}

impl View<assay_data::Threshold> for Threshold {
    fn view(threshold: &assay_data::Threshold) -> Self {
        match threshold {
            assay_data::Threshold::Relative(share) => {
                Self { relative: Some(*share), absolute: None, unit: None }
            }
            assay_data::Threshold::Absolute { value, unit } => Self {
                relative: None,
                absolute: Some(*value),
                unit: Some(unit.symbol().to_owned()),
            },
        }
    }
}

impl View<StopRule> for Stop {
    fn view(stop: &StopRule) -> Self {
        let (look_level, max_blocks, blocks) = match *stop {
            StopRule::Sequential { look_level, max_blocks } => {
                (Some(look_level), Some(max_blocks), None)
            }
            StopRule::Fixed { blocks } => (None, None, Some(blocks)),
        };
        Self { rule: stop.into(), look_level, max_blocks, blocks }
    }
}
