//! A result that was measured on several machines: the number of machines on which it holds, and
//! its mean over all of them.
//!
//! The first record makes the claim; the others repeat its experiment. The claim holds on a machine
//! if the verdict is the same there. Effect sizes differ between machines for good reasons, so they
//! are not compared individually. They are pooled by the random-effects model of
//! [`assay_stats::meta_analysis`], which also tests whether they differ by more than their errors.

use crate::analysis::Analysis;
use crate::comparison::Comparison;
use crate::policy;
use crate::verdict::{Decision, Scale, Verdict};
use assay_data::Better;
use assay_stats::Interval;
use assay_stats::meta_analysis::{Pooled, random_effects};
use assay_stats::student_t;

/// A recorded run and the machine it was measured on.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// Identifier of the machine.
    pub machine: &'a str,
    /// The analysis of the run.
    pub analysis: &'a Analysis,
}

/// Whether a claim holds on a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// The longest run has the claimed verdict, and no run has a different one.
    Yes,
    /// A run has a different, conclusive verdict.
    No,
    /// The longest run, or the claim itself, is inconclusive, and no run refutes the claim.
    Unknown,
}

/// The outcome for a claim on one machine.
#[derive(Clone, Debug, PartialEq)]
pub struct OnMachine {
    /// Indices of the machine's records, at least one.
    pub records: Vec<usize>,
    /// Index of the record that counts: the one with the largest effective number of observations.
    pub longest: usize,
    /// The decision of the longest record.
    pub decision: Decision,
    /// Whether the claim holds on this machine.
    pub holds: Holds,
}

/// The mean effect over machines.
#[derive(Clone, Debug, PartialEq)]
pub struct OverMachines {
    /// The mean, and the variation between machines, on the claim's scale.
    pub pooled: Pooled,
    /// The verdict on the mean, with its interval.
    pub decision: Decision,
    /// Prediction interval for the effect on one further machine.
    pub next: Interval,
    /// True if the machines differ by more than their errors, so that the mean applies to none.
    pub differ: bool,
}

/// A comparison of the first record, and its outcome on all machines.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// Index of the subject.
    pub of: usize,
    /// Index of the reference.
    pub against: usize,
    /// Scale of all numbers.
    pub scale: Scale,
    /// The claimed verdict.
    pub verdict: Verdict,
    /// The machines, in the order of their first record; the machine of the claim comes first.
    pub machines: Vec<OnMachine>,
    /// The mean over machines; `None` unless at least two of them have a bounded interval.
    pub mean: Option<OverMachines>,
}

impl Claim {
    /// Returns a claim for each comparison of the first record; none if there are no records. A
    /// record that lacks the comparison, or has it on another scale, is left out of that claim.
    pub fn all(records: &[Record<'_>]) -> Vec<Self> {
        let Some(first) = records.first() else { return Vec::new() };
        first.analysis.comparisons.iter().map(|c| Self::of(first.analysis, c, records)).collect()
    }

    fn of(first: &Analysis, claimed: &Comparison, records: &[Record<'_>]) -> Self {
        let scale = claimed.decision.scale;
        let mut machines: Vec<(&str, Vec<(usize, &Comparison)>)> = Vec::new();
        for (index, record) in records.iter().enumerate() {
            let own = record.analysis.comparisons.iter().find(|c| {
                (c.of, c.against) == (claimed.of, claimed.against) && c.decision.scale == scale
            });
            let Some(own) = own else { continue };
            match machines.iter_mut().find(|(machine, _)| *machine == record.machine) {
                Some((_, runs)) => runs.push((index, own)),
                None => machines.push((record.machine, vec![(index, own)])),
            }
        }
        let verdict = claimed.decision.verdict;
        let runs: Vec<_> = machines.into_iter().map(|(_, runs)| runs).collect();
        let longest: Vec<&Comparison> = runs.iter().map(|runs| longest(runs).1).collect();
        let better = first.metrics[claimed.metric].better;
        Self {
            of: claimed.of,
            against: claimed.against,
            scale,
            verdict,
            mean: mean(&longest, better, first.plan.confidence),
            machines: runs.iter().map(|runs| on_machine(verdict, runs)).collect(),
        }
    }

    /// Returns the number of machines with this outcome.
    pub fn count(&self, holds: Holds) -> usize {
        self.machines.iter().filter(|machine| machine.holds == holds).count()
    }

    /// Returns the worst outcome on any machine: [`Holds::No`] is worse than [`Holds::Unknown`]. A
    /// claim without a verdict is unknown.
    pub fn worst(&self) -> Holds {
        if self.verdict == Verdict::Inconclusive {
            Holds::Unknown
        } else if self.count(Holds::No) > 0 {
            Holds::No
        } else if self.count(Holds::Unknown) > 0 {
            Holds::Unknown
        } else {
            Holds::Yes
        }
    }
}

fn longest<'a>(runs: &[(usize, &'a Comparison)]) -> (usize, &'a Comparison) {
    let more = |a: &(usize, &Comparison), b: &(usize, &Comparison)| {
        // If several are equally long, the first counts.
        a.1.effective.total_cmp(&b.1.effective).then(b.0.cmp(&a.0))
    };
    runs.iter().copied().max_by(more).expect("a machine has a record")
}

fn on_machine(claimed: Verdict, runs: &[(usize, &Comparison)]) -> OnMachine {
    let (index, counts) = longest(runs);
    let other = |verdict: Verdict| verdict != claimed && verdict != Verdict::Inconclusive;
    let holds = if claimed == Verdict::Inconclusive {
        Holds::Unknown
    } else if runs.iter().any(|(_, c)| other(c.decision.verdict)) {
        Holds::No
    } else if counts.decision.verdict == claimed {
        Holds::Yes
    } else {
        Holds::Unknown
    };
    OnMachine {
        records: runs.iter().map(|(index, _)| *index).collect(),
        longest: index,
        decision: counts.decision.clone(),
        holds,
    }
}

/// Computes the mean over machines. The error on each machine is the half width of its interval
/// divided by the t quantile of its level.
fn mean(longest: &[&Comparison], better: Better, confidence: f64) -> Option<OverMachines> {
    let of = |c: &&Comparison| {
        let interval = c.decision.interval.filter(Interval::is_bounded)?;
        let error = interval.half_width()
            / student_t::two_sided(1.0 - c.level, (c.effective - 1.0).max(1.0));
        Some((c.decision.estimate, error))
    };
    let (effects, errors): (Vec<f64>, Vec<f64>) = longest.iter().filter_map(of).unzip();
    let pooled = random_effects(&effects, &errors)?;
    let claimed = &longest.first()?.decision;
    let decision = Decision::read(
        claimed.scale,
        pooled.estimate,
        Some(pooled.interval(confidence)),
        claimed.threshold,
        0.0,
        better,
    );
    let next = pooled.prediction(confidence);
    Some(OverMachines { decision, next, differ: pooled.q_p < policy::MACHINES_DIFFER, pooled })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replication::tests::experiment;

    /// Runs of 60 blocks in which the second of two programs takes this many percent of the time
    /// of the first.
    fn run(seed: u64, per_cent: u32) -> Analysis {
        experiment(seed, 60, &["normal(100, 3)", &format!("normal({per_cent}, 3)")])
    }

    /// A run too short for a verdict.
    fn open(seed: u64) -> Analysis {
        experiment(seed, 7, &["normal(100, 20)", "normal(95, 20)"])
    }

    fn claim(runs: &[(&str, &Analysis)]) -> Claim {
        let records: Vec<_> =
            runs.iter().map(|&(machine, analysis)| Record { machine, analysis }).collect();
        let mut all = Claim::all(&records);
        assert_eq!(all.len(), 1);
        all.remove(0)
    }

    #[test]
    fn a_claim_holds_where_the_verdict_is_the_same() {
        let (faster, less, slower, open) = (run(1, 80), run(2, 90), run(3, 120), open(4));
        assert_eq!(open.comparisons[0].decision.verdict, Verdict::Inconclusive);
        let claim = claim(&[("a", &faster), ("b", &less), ("c", &slower), ("d", &open)]);
        let holds: Vec<_> = claim.machines.iter().map(|machine| machine.holds).collect();
        assert_eq!(holds, [Holds::Yes, Holds::Yes, Holds::No, Holds::Unknown]);
        assert_eq!((claim.verdict, claim.worst()), (Verdict::Faster, Holds::No));
        let mean = claim.mean.expect("four intervals");
        assert!(mean.differ && mean.pooled.i2 > 0.9, "{mean:?}");
        assert!(mean.next.lower < mean.decision.interval.expect("pooled").lower);
    }

    #[test]
    fn machines_count_once_and_every_run_of_one_can_refute() {
        let runs = [run(5, 80), run(6, 80), run(7, 80), run(8, 80)];
        let short = experiment(9, 20, &["normal(100, 3)", "normal(80, 3)"]);
        let [a, b, c, d] = &runs;
        let agreed = claim(&[("a", a), ("b", &short), ("b", b), ("c", c), ("d", d)]);
        assert_eq!((agreed.machines.len(), agreed.count(Holds::Yes)), (4, 4));
        assert_eq!((&agreed.machines[1].records, agreed.machines[1].longest), (&vec![1, 2], 2));
        let mean = agreed.mean.as_ref().expect("four intervals");
        assert!(!mean.differ && mean.decision.verdict == Verdict::Faster, "{mean:?}");
        let refuted = claim(&[("a", a), ("a", &run(10, 120))]);
        assert_eq!((refuted.machines.len(), refuted.worst()), (1, Holds::No));
    }

    #[test]
    fn the_mean_over_machines_covers_the_mean_of_effects_that_differ() {
        // Effects average 10 % and vary by 3 % between machines.
        let wrong = (0..40u64).filter(|series| {
            let effects = [86, 88, 90, 92, 94];
            let runs: Vec<Analysis> =
                (0..5).map(|i| run(1000 + series * 5 + i, effects[i as usize])).collect();
            let machines = ["a", "b", "c", "d", "e"];
            let named: Vec<_> = machines.into_iter().zip(&runs).collect();
            let mean = claim(&named).mean.expect("five intervals");
            let covers = mean.decision.interval.is_some_and(|i| i.contains(0.9f64.ln()));
            !covers || !mean.differ
        });
        assert_eq!(wrong.count(), 0);
    }

    #[test]
    fn a_record_without_a_verdict_claims_nothing() {
        let (open, faster) = (open(4), run(11, 80));
        let claim = claim(&[("a", &open), ("b", &faster)]);
        assert_eq!((claim.worst(), claim.count(Holds::Yes)), (Holds::Unknown, 0));
        assert!(Claim::all(&[]).is_empty());
        assert_eq!(super::mean(&[], Better::Lower, 0.95), None);
    }
}
