//! A result on several machines, as JSON.

use super::Head;
use super::values::{Estimate, Interval, Verdict, view, words};
use crate::claim::{ClaimRecord, ClaimReport, sentence};
use crate::replication::in_units;
use assay_analysis::Scale;
use assay_analysis::claim as found;

view! {
    /// The results of a recorded run on all machines on which it was repeated.
    Claims of (report: &ClaimReport<'_>) {
        /// Layout version and verb.
        #[serde(flatten)]
        head: Head = Head::of("repeat"),
        /// Every comparison of the primary metric of the first record.
        claims: Vec<Claim> = report.claims.iter().map(|claim| Claim::of(report, claim)).collect(),
        /// The records, in the order of the command line; the first one makes the claims.
        records: Vec<ClaimFile>,
    }
}

view! {
    /// A record.
    ClaimFile of (record: &ClaimRecord) {
        /// Path of the record.
        file: String,
        /// Digest of the content, or `null`.
        digest: Option<String>,
        /// Processor and number of CPUs of the machine.
        machine: String,
        /// Start of the run (RFC 3339), or `null`.
        started: Option<String> => record.analysis.started,
    }
}

view! {
    /// A result on several machines. Ratios are given as ratios, everything else in the unit.
    Claim of (report: &ClaimReport<'_>, claim: &found::Claim) {
        /// Name of the side.
        of: String = name(report, claim.of),
        /// Name of the reference side.
        against: String = name(report, claim.against),
        /// The verdict that is claimed.
        verdict: Verdict => claim.verdict,
        /// Status of the claim on all machines together.
        holds: ClaimHolds => claim.worst(),
        /// The status of the claim in words. For people.
        sentence: String = sentence(report, claim),
        /// Number of machines on which the claim holds.
        holds_on: usize = claim.count(found::Holds::Yes),
        /// The machines, in the order of their first record.
        machines: Vec<ClaimOnMachine> =
            claim.machines.iter().map(|machine| ClaimOnMachine::of(machine, claim.scale)).collect(),
        /// The mean over machines; `null` unless two of them have an interval.
        mean: Option<ClaimMean> = claim.mean.as_ref().map(|mean| ClaimMean::of(mean, claim.scale)),
    }
}

view! {
    /// A result on one machine.
    ClaimOnMachine of (machine: &found::OnMachine, scale: Scale) {
        /// Indices of the machine's records.
        records: Vec<usize>,
        /// Index of the record used: the longest one.
        longest: usize,
        /// The size of the difference in that record.
        #[serde(flatten)]
        size: Estimate = size(scale, machine.decision.estimate, machine.decision.interval),
        /// Verdict in that record.
        verdict: Verdict => machine.decision.verdict,
        /// Status of the claim on this machine.
        holds: ClaimHolds,
    }
}

view! {
    /// The mean over machines, by the random-effects model.
    ClaimMean of (mean: &found::OverMachines, scale: Scale) {
        /// The mean with its interval.
        #[serde(flatten)]
        size: Estimate = size(scale, mean.decision.estimate, mean.decision.interval),
        /// The verdict on the mean.
        verdict: Verdict => mean.decision.verdict,
        /// Interval for the difference on one further machine.
        next: Interval = {
            let Estimate { lower, upper, .. } = size(scale, f64::NAN, Some(mean.next));
            Interval { lower, upper }
        },
        /// True if the machines differ by more than their errors, so that the mean need not apply
        /// to any of them.
        differ: bool,
        /// Cochran's Q.
        q: f64 => mean.pooled.q,
        /// p-value of `q`, assuming that all machines are alike.
        q_p: f64 => mean.pooled.q_p,
        /// Share of the variance between machines that is not due to their errors, 0 to 1.
        i2: f64 => mean.pooled.i2,
    }
}

words! {
    /// Statuses of a claim.
    ClaimHolds from found::Holds {
        /// The verdict is the same.
        Source::Yes => Yes,
        /// The verdict is different.
        Source::No => No,
        /// The verdict is not contradicted, but the data does not suffice to confirm it.
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
