//! The doctor's report as JSON. Disturbances are written like all findings, with their cost on this
//! machine.

use super::Head;
use super::finding::Finding;
use super::values::{Estimate, view, words};
use crate::doctor::{self, Ailment, DoctorReport};
use assay_analysis::spread;

view! {
    /// Disturbances of measurements on this machine, and the measured effect of settings against
    /// them.
    Diagnosis of (report: &DoctorReport) {
        /// Layout version and verb.
        #[serde(flatten)]
        head: Head = Head::of("doctor"),
        /// The main disturbance and the best remedy, in one sentence. For people.
        sentence: String = report.sentence(),
        /// A description of the machine in one line.
        machine: String,
        /// The disturbances, most serious first.
        findings: Vec<Disturbance> => report.disturbs,
        /// Missing privileges and devices, each with the feature that it would allow.
        missing: Vec<String>,
        /// The program that was run under every setting.
        workload: String,
        /// The tried settings, in random order with the program without a setting.
        trials: Vec<Trial> => report.costs,
        /// The noise of the program without a setting over time; `null` if it ran too seldom.
        over_time: Option<SpreadOverTime>,
        /// Share of the CPU time that the hypervisor gave to others during the experiment; `null`
        /// outside of virtual machines.
        stolen: Option<f64>,
    }
}

view! {
    /// The noise of a program over time.
    SpreadOverTime of (found: &spread::SpreadOverTime) {
        /// Mean time between successive runs, s.
        apart_seconds: Option<f64>,
        /// Share of the spread that successive runs have in common.
        shared: Option<f64>,
        /// The spread (`iqr_over_median`) that a tenth of all stretches of 16 runs do not exceed.
        quiet: Option<f64>,
        /// The spread that a tenth of these stretches exceed.
        noisy: Option<f64>,
    }
}

view! {
    /// A finding with its measured cost.
    Disturbance of (ailment: &Ailment) {
        /// The finding.
        #[serde(flatten)]
        finding: Finding,
        /// Name of the trial that shows the cost; `null` if none does.
        trial: Option<String>,
        /// True if `assay doctor --fix` removes the disturbance.
        can_fix: bool,
    }
}

view! {
    /// A setting, compared with the program without it.
    Trial of (trial: &doctor::Trial) {
        /// The setting, as given on the command line.
        name: String,
        /// Number of blocks.
        blocks: usize => trial.found.blocks,
        /// The spread without the setting.
        before: Spread => trial.found.before,
        /// The spread with the setting.
        after: Spread => trial.found.after,
        /// `iqr_over_median` after / before.
        spread_ratio: Estimate = Estimate::new(trial.found.ratio, Some(trial.found.interval)),
        /// The verdict on the change of the spread.
        verdict: SpreadVerdict => trial.found.verdict,
        /// The relative change of the median.
        median_change: Option<f64> => trial.found.median_change(),
    }
}

view! {
    /// The spread of a program's wall times.
    Spread of (found: &spread::Spread) {
        /// The median, s.
        median: Option<f64>,
        /// The interquartile range as a fraction of the median.
        iqr_over_median: Option<f64>,
        /// The 99 % quantile as a multiple of the median.
        p99_over_median: Option<f64>,
    }
}

words! {
    /// Verdicts on a change of the spread.
    SpreadVerdict from spread::SpreadVerdict {
        /// Runs vary less.
        Source::Narrower => Narrower,
        /// Runs vary more.
        Source::Wider => Wider,
        /// Unknown.
        Source::Unknown => Unknown,
    }
}
