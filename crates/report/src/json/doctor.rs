//! The doctor's report as JSON. Disturbances are written like all findings, with their cost on this
//! machine.

use super::Head;
use super::finding::Finding;
use super::values::{Estimate, view, words};
use crate::doctor::{self, Ailment, DoctorReport};
use assay_analysis::spread;

view! {
    /// What disturbs measuring on this machine, and which settings help, as measured here.
    Diagnosis of (report: &DoctorReport) {
        /// Layout and verb.
        #[serde(flatten)]
        head: Head = Head::of("doctor"),
        /// What matters and what would help most. For people.
        sentence: String = report.sentence(),
        /// The machine in a line.
        machine: String = report.machine.clone(),
        /// What disturbs measuring, the most serious first.
        findings: Vec<Disturbance> = report.disturbs.iter().map(Disturbance::of).collect(),
        /// Privileges and devices that are missing, each with what it would allow.
        missing: Vec<String> = report.missing.clone(),
        /// The program that was run under every setting.
        workload: String = report.workload.clone(),
        /// The settings that were tried, in random order with the program as it is.
        trials: Vec<Trial> = report.costs.iter().map(Trial::of).collect(),
    }
}

view! {
    /// A finding, and what it costs here.
    Disturbance of (ailment: &Ailment) {
        /// What it is.
        #[serde(flatten)]
        finding: Finding = Finding::of(&ailment.finding),
        /// Name of the trial that shows what it costs here; `null` where none does.
        trial: Option<String> = ailment.trial.clone(),
        /// Whether `assay doctor --fix` removes it.
        can_fix: bool = ailment.can_fix,
    }
}

view! {
    /// A setting, against the program as it is.
    Trial of (trial: &doctor::Trial) {
        /// The setting, as given on the command line.
        name: String = trial.name.clone(),
        /// Number of blocks.
        blocks: usize = trial.found.blocks,
        /// The spread of the program as it is.
        before: Spread = Spread::of(&trial.found.before),
        /// Its spread under the setting.
        after: Spread = Spread::of(&trial.found.after),
        /// `iqr_over_median` after / before.
        spread_ratio: Estimate = Estimate::new(trial.found.ratio, Some(trial.found.interval)),
        /// What is known of the change.
        verdict: SpreadVerdict = (&trial.found.verdict).into(),
        /// The relative change of the median.
        median_change: Option<f64> = Some(trial.found.median_change()),
    }
}

view! {
    /// How much the wall times of a program spread.
    Spread of (found: &spread::Spread) {
        /// The median, s.
        median: Option<f64> = Some(found.median),
        /// The interquartile range as a fraction of the median.
        iqr_over_median: Option<f64> = Some(found.iqr_over_median),
        /// The 99 % quantile as a multiple of the median.
        p99_over_median: Option<f64> = Some(found.p99_over_median),
    }
}

words! {
    /// What is known of a change of the spread.
    SpreadVerdict from spread::SpreadVerdict {
        /// Runs spread less.
        Source::Narrower => Narrower,
        /// Runs spread more.
        Source::Wider => Wider,
        /// Not known.
        Source::Unknown => Unknown,
    }
}
