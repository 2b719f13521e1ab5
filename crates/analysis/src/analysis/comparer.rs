//! Decides every subject against its reference: the primary metric, and the secondary ones. Several
//! share the error (Holm 1979, by levels: whoever is decided leaves the others a larger share). How
//! one pair is compared is `comparison`'s.

use crate::comparison::{Basis, Comparison, Question};
use crate::evidence::Evidence;
use crate::paired::Paired;
use crate::quantiles;
use crate::recording::Recording;
use assay_data::samples::BlockRow;
use assay_data::{Plan, Samples, Threshold};
use assay_stats::signed_rank::SignedRankDistribution;

/// One metric of one subject against its reference.
#[derive(Clone, Copy)]
struct Pair {
    metric: usize,
    of: usize,
    against: usize,
}

pub(super) struct Comparer<'a> {
    pub(super) samples: &'a Samples,
    /// Where there are levels or summaries.
    pub(super) evidence: Option<&'a Evidence<'a>>,
    pub(super) plan: &'a Plan,
    pub(super) distribution: &'a mut SignedRankDistribution,
    pub(super) in_blocks: bool,
    /// Whether the samples are not those of one experiment, so that nothing is decided.
    pub(super) mixed: bool,
}

/// Whether a comparison leaves its share of the error to the others: its direction is found, or it is a count that is known.
fn needs_no_share(c: &Comparison) -> bool {
    c.decision.verdict.is_directional() || c.level == 0.0
}

impl Comparer<'_> {
    pub(super) fn primary(
        &mut self,
        metric: usize,
        compared: &[(usize, usize)],
        rows: &[BlockRow],
        recordings: &[Recording<'_>],
    ) -> Vec<Comparison> {
        let pairs: Vec<Pair> =
            compared.iter().map(|&(of, against)| Pair { metric, of, against }).collect();
        let plan = self.plan;
        let all_rows = vec![rows.to_vec()];
        let mut decided = self.holm(&pairs, plan, |_| 0, &all_rows, Some(recordings));
        if !self.mixed {
            for c in decided.iter_mut().filter(|c| c.basis == Basis::Values) {
                let sides = (&recordings[c.against], &recordings[c.of]);
                c.quantiles = quantiles::of(sides.0, sides.1, plan.confidence);
            }
        }
        decided
    }

    pub(super) fn secondary(
        &mut self,
        metrics: &[usize],
        compared: &[(usize, usize)],
    ) -> Vec<Comparison> {
        // Rows of every metric cost memory, which ten thousand runs of one command would feel.
        if compared.is_empty() {
            return Vec::new();
        }
        let all_rows: Vec<Vec<BlockRow>> = metrics
            .iter()
            .map(|&m| if self.in_blocks { self.samples.complete_blocks(m) } else { Vec::new() })
            .collect();
        let measured = |subject, metric| match self.evidence {
            Some(evidence) => evidence.has(subject, metric),
            None => !self.samples.values(subject, metric).is_empty(),
        };
        let pairs: Vec<Pair> = metrics
            .iter()
            .flat_map(|&metric| {
                compared.iter().map(move |&(of, against)| Pair { metric, of, against })
            })
            .filter(|pair| [pair.of, pair.against].iter().all(|&s| measured(s, pair.metric)))
            .collect();
        let row_of = |metric: usize| metrics.iter().position(|&m| m == metric).unwrap_or(0);
        // An absolute threshold belongs to the primary metric.
        let plan = match self.plan.threshold {
            Threshold::Relative(_) => self.plan.clone(),
            Threshold::Absolute { .. } => {
                Plan { threshold: Threshold::default(), ..self.plan.clone() }
            }
        };
        self.holm(&pairs, &plan, row_of, &all_rows, None)
    }

    /// Decides every pair at its share of the error; whoever has a direction leaves the others a larger
    /// share, until nothing changes.
    fn holm(
        &mut self,
        pairs: &[Pair],
        plan: &Plan,
        row_of: impl Fn(usize) -> usize,
        all_rows: &[Vec<BlockRow>],
        recordings: Option<&[Recording<'_>]>,
    ) -> Vec<Comparison> {
        let mut decided: Vec<Option<Comparison>> = vec![None; pairs.len()];
        let mut share = pairs.len();
        loop {
            let mut newly = 0;
            for (slot, &pair) in decided.iter_mut().zip(pairs) {
                if slot.as_ref().is_some_and(needs_no_share) {
                    continue;
                }
                let rows = all_rows.get(row_of(pair.metric)).map_or(&[][..], Vec::as_slice);
                let found = self.compare(plan, pair, share, rows, recordings);
                newly += usize::from(needs_no_share(&found));
                *slot = Some(found);
            }
            let done = decided.iter().flatten().filter(|c| needs_no_share(c)).count();
            if newly == 0 || done == pairs.len() {
                return decided.into_iter().flatten().collect();
            }
            share = pairs.len() - done;
        }
    }

    fn compare(
        &mut self,
        plan: &Plan,
        Pair { metric, of, against }: Pair,
        share: usize,
        rows: &[BlockRow],
        recordings: Option<&[Recording<'_>]>,
    ) -> Comparison {
        let better = self.samples.metrics[metric].better;
        let share = share as f64;
        let question = Question { plan, metric, better, against, of, share };
        let pair = self.evidence.and_then(|evidence| evidence.pair(against, of, metric));
        let found = if let Some(pair) = pair {
            pair.compare(question, self.distribution)
        } else if self.in_blocks {
            let mut paired = Paired::of_metric(&self.samples.metrics[metric]);
            rows.iter().for_each(|row| paired.push(row.values[against], row.values[of]));
            Comparison::in_blocks(question, &paired, self.distribution)
        } else if let Some(recordings) = recordings {
            Comparison::of_recordings(question, &recordings[against], &recordings[of])
        } else {
            let [reference, other] =
                [against, of].map(|subject| Recording::of(self.samples.values(subject, metric)));
            Comparison::of_recordings(question, &reference, &other)
        };
        if self.mixed { found.withheld() } else { found }
    }
}
