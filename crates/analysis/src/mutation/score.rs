//! The mutation score of a set of mutants.

use assay_data::mutation::{Fate, MutantResult};
use assay_stats::Interval;
use assay_stats::proportion::exact_interval;
use std::collections::HashSet;

/// Confidence of the intervals.
const CONFIDENCE: f64 = 0.95;

/// Detection statistics of a set of mutants.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Score {
    /// Number of mutants that count, whether or not they were tried.
    pub counted: usize,
    /// Number of mutants with a known fate.
    pub known: usize,
    /// Number detected by the tests.
    pub detected: usize,
    /// Number not detected by the tests.
    pub missed: usize,
    /// The share of the counted mutants that is detected, from 0 to 1; an estimate unless all fates
    /// are known. `None` if no fate is known.
    pub share: Option<f64>,
    /// 95 % interval for the share among all counted mutants, or the range of possible shares if
    /// there is no sample to estimate it from. Both ends equal the share if all fates are known.
    pub interval: Option<Interval>,
}

/// Computes the score of these mutants. `is_sample` is true if the mutants to try were drawn at
/// random.
pub(crate) fn score<'a>(mutants: impl Iterator<Item = &'a MutantResult>, is_sample: bool) -> Score {
    let mutants: Vec<&MutantResult> = mutants.collect();
    let is_waiting = |own: &&MutantResult| own.operator == "body" && own.fate == Fate::Pending;
    // If an extreme mutant is pending, all mutants were drawn as a single sample.
    let is_one_lot = is_sample && mutants.iter().any(is_waiting);
    let is_lost = |own: &&&MutantResult| own.operator == "body" && own.fate.is_missed();
    let lost: HashSet<usize> = mutants.iter().filter(is_lost).map(|own| own.unit).collect();
    // Numbers (detected, known) of mutants with a certain fate and of sampled mutants, and the
    // number of pending mutants.
    let (mut certain, mut sampled, mut pending) = ((0, 0), (0, 0), 0_usize);
    let mut has_pending_extreme = false;
    for own in mutants {
        let is_extreme = own.operator == "body";
        match own.fate {
            Fate::Pending => {
                pending += 1;
                has_pending_extreme |= is_extreme && !is_one_lot;
            }
            fate if fate.is_detected() || fate.is_missed() => {
                // Mutants missed along with their function were not drawn, nor were those known to
                // have no tests before any mutant of the function is tried. If a function's body
                // can't be removed, only its drawn mutants show that no test reaches it.
                let is_drawn = (!is_extreme || is_one_lot)
                    && match fate {
                        Fate::Implied => false,
                        Fate::Uncovered => !lost.contains(&own.unit) && own.covered_by.is_none(),
                        _ => true,
                    };
                let part = if is_drawn { &mut sampled } else { &mut certain };
                part.0 += usize::from(fate.is_detected());
                part.1 += 1;
            }
            _ => {}
        }
    }
    let (detected, known) = (certain.0 + sampled.0, certain.1 + sampled.1);
    let counted = known + pending;
    let all = counted as f64;
    let (share, interval) = match (counted, pending) {
        (0, _) => (None, None),
        (_, 0) => {
            let share = detected as f64 / all;
            (Some(share), Some(Interval { lower: share, upper: share }))
        }
        // Extreme mutants are tried first and are not a sample, so nothing is known about the
        // others.
        _ if has_pending_extreme || sampled.1 == 0 => {
            let (lower, upper) = (detected as f64 / all, (detected + pending) as f64 / all);
            let share = (known > 0).then(|| detected as f64 / known as f64);
            (share, Some(Interval { lower, upper }))
        }
        _ => {
            let rest = (sampled.1 + pending) as f64;
            let of = |share: f64| (certain.0 as f64 + share * rest) / all;
            // Known fates bound the result.
            let (least, most) = (detected as f64 / all, (detected + pending) as f64 / all);
            let found = exact_interval(sampled.0 as u64, sampled.1 as u64, CONFIDENCE);
            let interval = found.map(|own| Interval {
                lower: of(own.lower).max(least),
                upper: of(own.upper).min(most),
            });
            (Some(of(sampled.0 as f64 / sampled.1 as f64)), interval)
        }
    };
    Score { counted, known, detected, missed: known - detected, share, interval }
}
