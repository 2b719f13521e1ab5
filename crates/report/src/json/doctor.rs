//! The doctor's report as JSON. What disturbs is written as every finding is, with what it costs here.

use super::Head;
use super::finding::Finding;
use super::values::{Estimate, words};
use crate::doctor::{Ailment, DoctorReport};
use schemars::JsonSchema;
use serde::Serialize;

/// What disturbs measuring on this machine, and which settings help, as measured here.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Diagnosis {
    #[serde(flatten)]
    head: Head,
    /// What matters and what would help most. For people.
    pub sentence: String,
    /// The machine in a line.
    pub machine: String,
    /// What disturbs measuring, the most serious first.
    pub findings: Vec<Disturbance>,
    /// Privileges and devices that are missing, each with what it would allow.
    pub missing: Vec<String>,
    /// The program that was run under every setting.
    pub workload: String,
    /// The settings that were tried, in random order with the program as it is.
    pub trials: Vec<Trial>,
}

/// A finding, and what it costs here.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Disturbance {
    #[serde(flatten)]
    pub finding: Finding,
    /// Name of the trial that shows what it costs here; `null` where none does.
    pub trial: Option<String>,
    /// Whether `assay doctor --fix` removes it.
    pub can_fix: bool,
}

/// A setting, against the program as it is.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Trial {
    /// The setting, as given on the command line.
    pub name: String,
    /// Number of blocks.
    pub blocks: usize,
    /// The spread of the program as it is.
    pub before: Spread,
    /// Its spread under the setting.
    pub after: Spread,
    /// `iqr_over_median` after / before.
    pub spread_ratio: Estimate,
    /// What is known of the change.
    pub verdict: SpreadVerdict,
    /// The relative change of the median.
    pub median_change: Option<f64>,
}

/// How much the wall times of a program spread.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Spread {
    /// The median, s.
    pub median: Option<f64>,
    /// The interquartile range as a fraction of the median.
    pub iqr_over_median: Option<f64>,
    /// The 99 % quantile as a multiple of the median.
    pub p99_over_median: Option<f64>,
}

words! {
    /// What is known of a change of the spread.
    SpreadVerdict from assay_analysis::spread::SpreadVerdict {
        /// Runs spread less.
        Source::Narrower => Narrower,
        /// Runs spread more.
        Source::Wider => Wider,
        /// Not known.
        Source::Unknown => Unknown,
    }
}

impl From<assay_analysis::spread::Spread> for Spread {
    fn from(found: assay_analysis::spread::Spread) -> Self {
        Self {
            median: Some(found.median),
            iqr_over_median: Some(found.iqr_over_median),
            p99_over_median: Some(found.p99_over_median),
        }
    }
}

impl From<&crate::doctor::Trial> for Trial {
    fn from(trial: &crate::doctor::Trial) -> Self {
        let found = &trial.found;
        Self {
            name: trial.name.clone(),
            blocks: found.blocks,
            before: found.before.into(),
            after: found.after.into(),
            spread_ratio: Estimate::new(found.ratio, Some(found.interval)),
            verdict: (&found.verdict).into(),
            median_change: Some(found.median_change()),
        }
    }
}

impl From<&Ailment> for Disturbance {
    fn from(ailment: &Ailment) -> Self {
        Self {
            finding: (&ailment.finding).into(),
            trial: ailment.trial.clone(),
            can_fix: ailment.can_fix,
        }
    }
}

impl From<&DoctorReport> for Diagnosis {
    fn from(report: &DoctorReport) -> Self {
        Self {
            head: Head::of("doctor"),
            sentence: report.sentence(),
            machine: report.machine.clone(),
            findings: report.disturbs.iter().map(Into::into).collect(),
            missing: report.missing.clone(),
            workload: report.workload.clone(),
            trials: report.costs.iter().map(Into::into).collect(),
        }
    }
}
