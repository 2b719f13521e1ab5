//! The report of `assay doctor` as JSON. Disturbances have the format of all findings, with their
//! cost on this machine in addition.

use super::Head;
use super::finding::Finding;
use super::values::{Estimate, view, words};
use crate::doctor::{self, Ailment, DoctorReport};
use assay_analysis::spread;

view! {
    /// Disturbances of measurements on this machine, and the measured effect of settings that
    /// reduce them.
    Diagnosis of (report: &DoctorReport) {
        /// Version of the JSON layout, and the verb that wrote it.
        #[serde(flatten)]
        head: Head = Head::of("doctor"),
        /// The main disturbance and the best remedy in one sentence, for human readers.
        sentence: String = report.sentence(),
        /// Description of the machine in one line.
        machine: String,
        /// The disturbances, most serious first.
        findings: Vec<Disturbance> => report.disturbs,
        /// Missing privileges and devices, each with the feature that it would enable.
        missing: Vec<String>,
        /// Name of the program that was run with every setting.
        workload: String,
        /// The settings that were tried, in random order with runs without a setting.
        trials: Vec<Trial> => report.costs,
        /// Noise of the program without a setting over time; `null` if there were too few runs.
        over_time: Option<SpreadOverTime>,
        /// Share of the CPU time that the hypervisor gave to other machines during the experiment;
        /// `null` outside of virtual machines.
        stolen: Option<f64>,
    }
}

view! {
    /// The noise of a program over time.
    SpreadOverTime of (found: &spread::SpreadOverTime) {
        /// Mean time between successive runs, in seconds.
        apart_seconds: Option<f64>,
        /// Share of the spread that successive runs have in common, which is their rank
        /// autocorrelation.
        shared: Option<f64>,
        /// Spread (`iqr_over_median`) of quiet times: the 10 % quantile over all stretches of 16
        /// successive runs.
        quiet: Option<f64>,
        /// Spread (`iqr_over_median`) of noisy times: the 90 % quantile over all stretches of 16
        /// successive runs.
        noisy: Option<f64>,
    }
}

view! {
    /// A disturbance of measurements with its measured cost.
    Disturbance of (ailment: &Ailment) {
        /// The disturbance as a finding.
        #[serde(flatten)]
        finding: Finding,
        /// Name of the trial that shows the cost of the disturbance; `null` if there is none.
        trial: Option<String>,
        /// True if `assay doctor --fix` removes the disturbance.
        can_fix: bool,
    }
}

view! {
    /// A program run with a setting, compared with runs without it.
    Trial of (trial: &doctor::Trial) {
        /// Name of the setting, as given on the command line.
        name: String,
        /// Number of blocks. Each contains one run with and one run without the setting.
        blocks: usize => trial.found.blocks,
        /// Spread of the wall times without the setting.
        before: Spread => trial.found.before,
        /// Spread of the wall times with the setting.
        after: Spread => trial.found.after,
        /// Ratio of `iqr_over_median` with the setting to that without it.
        spread_ratio: Estimate = Estimate::new(trial.found.ratio, Some(trial.found.interval)),
        /// Verdict on the change of the spread.
        verdict: SpreadVerdict => trial.found.verdict,
        /// Relative change of the median due to the setting.
        median_change: Option<f64> => trial.found.median_change(),
    }
}

view! {
    /// The spread of a program's wall times.
    Spread of (found: &spread::Spread) {
        /// Median wall time, in seconds.
        median: Option<f64>,
        /// Interquartile range as a fraction of the median.
        iqr_over_median: Option<f64>,
        /// 99 % quantile as a multiple of the median.
        p99_over_median: Option<f64>,
    }
}

words! {
    /// Verdict on a change of the spread.
    SpreadVerdict from spread::SpreadVerdict {
        /// The setting reduces the spread of the runs.
        Source::Narrower => Narrower,
        /// The setting increases the spread of the runs.
        Source::Wider => Wider,
        /// It is unknown whether the setting changes the spread.
        Source::Unknown => Unknown,
    }
}
