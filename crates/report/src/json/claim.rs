//! A result that was measured on several machines, as JSON.

use super::Head;
use super::values::{Estimate, Interval, Verdict, view, words};
use crate::claim::{ClaimRecord, ClaimReport, sentence};
use crate::replication::in_units;
use assay_analysis::Scale;
use assay_analysis::claim as found;

view! {
    /// The results of a recorded run on all machines where it was repeated.
    Claims of (report: &ClaimReport<'_>) {
        /// Version of the JSON layout, and the verb that wrote it.
        #[serde(flatten)]
        head: Head = Head::of("repeat"),
        /// One claim for every comparison of the primary metric in the first record.
        claims: Vec<Claim> = report.claims.iter().map(|claim| Claim::of(report, claim)).collect(),
        /// The records, in the order of the command line. The claims are taken from the first one.
        records: Vec<ClaimFile>,
    }
}

view! {
    /// A record of a run on one machine.
    ClaimFile of (record: &ClaimRecord) {
        /// Path of the record.
        file: String,
        /// Digest of the record's content; `null` if unknown.
        digest: Option<String>,
        /// Processor and number of CPUs of the machine.
        machine: String,
        /// Start of the run (RFC 3339); `null` if unknown.
        started: Option<String> => record.analysis.started,
    }
}

view! {
    /// A claimed result, checked on several machines. If ratios decide, its numbers are ratios;
    /// otherwise they are in the unit of the metric.
    Claim of (report: &ClaimReport<'_>, claim: &found::Claim) {
        /// Name of the side.
        of: String = name(report, claim.of),
        /// Name of the reference side.
        against: String = name(report, claim.against),
        /// The claimed verdict.
        verdict: Verdict => claim.verdict,
        /// Least favorable status of the claim over all machines.
        holds: ClaimHolds => claim.worst(),
        /// The status of the claim in words, for human readers.
        sentence: String = sentence(report, claim),
        /// Number of machines on which the claim holds.
        holds_on: usize = claim.count(found::Holds::Yes),
        /// Results by machine, in the order of their first record.
        machines: Vec<ClaimOnMachine> =
            claim.machines.iter().map(|machine| ClaimOnMachine::of(machine, claim.scale)).collect(),
        /// The mean over machines; `null` unless at least two of them have an interval.
        mean: Option<ClaimMean> = claim.mean.as_ref().map(|mean| ClaimMean::of(mean, claim.scale)),
    }
}

view! {
    /// The result of a claim on one machine.
    ClaimOnMachine of (machine: &found::OnMachine, scale: Scale) {
        /// Indices of the machine's records in `records`, from 0.
        records: Vec<usize>,
        /// Index of the record that was used, which is the longest one of the machine.
        longest: usize,
        /// The size of the difference in the longest record.
        #[serde(flatten)]
        size: Estimate = size(scale, machine.decision.estimate, machine.decision.interval),
        /// Verdict in the longest record.
        verdict: Verdict => machine.decision.verdict,
        /// Status of the claim on this machine.
        holds: ClaimHolds,
    }
}

view! {
    /// The mean difference over machines, by the random-effects model.
    ClaimMean of (mean: &found::OverMachines, scale: Scale) {
        /// The mean with its interval.
        #[serde(flatten)]
        size: Estimate = size(scale, mean.decision.estimate, mean.decision.interval),
        /// Verdict on the mean.
        verdict: Verdict => mean.decision.verdict,
        /// Prediction interval for the difference on one further machine.
        next: Interval = {
            let Estimate { lower, upper, .. } = size(scale, f64::NAN, Some(mean.next));
            Interval { lower, upper }
        },
        /// True if the machines differ by more than their errors, so that the mean may apply to
        /// none of them.
        differ: bool,
        /// Cochran's Q.
        q: f64 => mean.pooled.q,
        /// p-value of `q`, assuming that the difference is equal on all machines.
        q_p: f64 => mean.pooled.q_p,
        /// Share of the variance between machines that their errors do not explain, 0 to 1.
        i2: f64 => mean.pooled.i2,
    }
}

words! {
    /// Status of a claim.
    ClaimHolds from found::Holds {
        /// The longest run has the claimed verdict, and no run contradicts it.
        Source::Yes => Yes,
        /// A run has a different, conclusive verdict.
        Source::No => No,
        /// No run contradicts the claim, but the data does not suffice to confirm it.
        Source::Unknown => Unknown,
    }
}

fn name(report: &ClaimReport<'_>, subject: usize) -> String {
    report.records[0].analysis.subjects[subject].name.clone()
}

fn size(scale: Scale, estimate: f64, interval: Option<assay_analysis::Interval>) -> Estimate {
    let of = |on_scale| in_units(scale, on_scale);
    let ends =
        interval.map(|i| assay_analysis::Interval { lower: of(i.lower), upper: of(i.upper) });
    Estimate::new(of(estimate), ends)
}
