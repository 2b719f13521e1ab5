//! The share of a series' variance that is associated with other series recorded at the same time.
//!
//! The running median over 31 runs is subtracted from every series, so that slow drift, which would
//! make any two series look related, counts neither as variance nor as explained variance. The
//! residuals are ranked: the share of one cause is the square of Spearman's correlation, and that
//! of several causes is the R² of a linear regression on their ranks (Kendall & Gibbons, *Rank
//! Correlation Methods*, 5th ed.; Conover & Iman 1981 for regression on ranks). Both are adjusted
//! for the number of causes (Ezekiel 1930), since a few runs would otherwise always seem partly
//! explained.
//!
//! A share that chance gives in more than 1 % of subjects is not reported: under independence, the
//! R² of k causes follows the distribution Beta(k/2, (m − k − 1)/2), which is exact for normal
//! scores and close for ranks. Instead of n, m is the effective number of runs of the pair by
//! Bartlett's formula (1935), because two series that both alternate, or both come in bursts, agree
//! more often by chance. Counts that are nearly always zero can't reach a large share: one switch
//! in a hundred runs explains one rank in a hundred.

use crate::policy;
use assay_stats::{autocorrelation, descriptive, special};

/// Width of the running median, in runs.
const WINDOW: usize = 31;
/// Maximum lag of the autocorrelations in Bartlett's formula.
const LAGS: usize = 12;
/// Squared norm below which the part of a cause that the previous causes do not explain counts as
/// zero.
const OWN: f64 = 1e-9;

/// The shares associated with each cause and with all causes together.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Explained {
    pub alone: Vec<Alone>,
    pub together: Option<f64>,
}

/// The share associated with one cause.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Alone {
    pub correlation: Option<f64>,
    pub share: Option<f64>,
}

/// Computes the shares. `values` and each of `causes` have one finite value per run. O(causes · n ·
/// window).
pub(super) fn explained(values: &[f64], causes: &[&[f64]]) -> Explained {
    let nothing = || Explained { alone: vec![Alone::default(); causes.len()], together: None };
    if values.len() < policy::CAUSE_FROM {
        return nothing();
    }
    let Some(target) = Standard::of(values) else { return nothing() };
    let sources: Vec<Option<Standard>> = causes.iter().map(|c| Standard::of(c)).collect();
    let changing = sources.iter().flatten().count();
    let level = policy::CAUSE_LEVEL / changing.max(1) as f64;
    let alone = |source: &Option<Standard>| {
        let Some(source) = source else { return Alone::default() };
        let correlation = dot(&target.ranks, &source.ranks).clamp(-1.0, 1.0);
        let runs = target.independent_with(source);
        let share = claimed(correlation * correlation, 1, runs, level);
        Alone { correlation: Some(correlation), share }
    };
    let alone = sources.iter().map(alone).collect();
    Explained { alone, together: together(&target, sources.iter().flatten()) }
}

fn together<'a>(target: &Standard, sources: impl Iterator<Item = &'a Standard>) -> Option<f64> {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let mut runs = target.ranks.len() as f64;
    let mut squared = 0.0;
    for source in sources {
        let mut own = source.ranks.clone();
        for known in &basis {
            let part = dot(&own, known);
            own.iter_mut().zip(known).for_each(|(x, k)| *x -= part * k);
        }
        let size = dot(&own, &own);
        if size < OWN {
            continue;
        }
        own.iter_mut().for_each(|x| *x /= size.sqrt());
        squared += dot(&target.ranks, &own).powi(2);
        runs = runs.min(target.independent_with(source));
        basis.push(own);
    }
    claimed(squared.min(1.0), basis.len(), runs, policy::CAUSE_LEVEL)
}

/// Returns the adjusted share if it is positive and `squared` is significant at `level`.
fn claimed(squared: f64, causes: usize, runs: f64, level: f64) -> Option<f64> {
    let k = causes as f64;
    let freedom = runs - k - 1.0;
    if causes == 0 || freedom < 2.0 {
        return None;
    }
    let left = 1.0 - squared;
    let chance = special::incomplete_beta(freedom / 2.0, k / 2.0, left, squared);
    let adjusted = 1.0 - left * (runs - 1.0) / freedom;
    (chance <= level && adjusted > 0.0).then_some(adjusted)
}

/// Ranks after removing slow drift, with mean 0 and norm 1.
struct Standard {
    ranks: Vec<f64>,
    autocorrelation: Vec<f64>,
}

impl Standard {
    /// Ranks a series after removing slow drift; `None` if it is constant apart from slow drift.
    fn of(values: &[f64]) -> Option<Self> {
        let mut ranks = autocorrelation::ranks(&without_drift(values));
        let autocorrelation = autocorrelation::autocorrelation(&ranks, LAGS.min(values.len() / 4));
        let middle = (values.len() as f64 + 1.0) / 2.0;
        ranks.iter_mut().for_each(|rank| *rank -= middle);
        let length = dot(&ranks, &ranks).sqrt();
        if length == 0.0 {
            return None;
        }
        ranks.iter_mut().for_each(|rank| *rank /= length);
        Some(Self { ranks, autocorrelation })
    }

    /// Returns the effective number of runs for the correlation of the two series, at most n.
    fn independent_with(&self, other: &Self) -> f64 {
        let inflation = 1.0 + 2.0 * dot(&self.autocorrelation, &other.autocorrelation);
        self.ranks.len() as f64 / inflation.max(1.0)
    }
}

/// Subtracts the running median. The window is narrower towards the ends, so that it remains
/// centered and a steady drift is also removed there.
fn without_drift(values: &[f64]) -> Vec<f64> {
    let last = values.len().saturating_sub(1);
    let median_at = |i: usize| {
        let reach = (WINDOW / 2).min(i).min(last - i);
        descriptive::median(&values[i - reach..=i + reach])
    };
    values.iter().enumerate().map(|(i, value)| value - median_at(i)).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}
