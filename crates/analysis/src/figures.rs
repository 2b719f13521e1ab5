//! The data of a report's plots: all curves, thinned to the resolution of a page.
//!
//! Like the whole analysis, this module is pure and draws nothing. The size of the result is
//! bounded for any number of observations: a series keeps its extremes and medians in at most 800
//! pieces, an empirical distribution has at most 1,000 points, and a density has 400. Values that
//! were thinned, cut off or omitted are counted, so that the caption can give their number.
//!
//! Densities are normal-kernel estimates with R's `bw.nrd0` (Silverman 1986). Resampled standard
//! deviations follow Efron (1979). Power is that of a t test. Pairwise differences use at most 600
//! quantiles of each side.

mod differences;
mod load;
mod power;
mod resampled;
mod series;
mod shape;
mod view;

pub use assay_stats::quantile_difference::QuantileDifference;
use differences::Sides;
pub use differences::{Between, BlockDifferences};
pub use load::{LoadFigures, QuantileCurve, SlicePiece, SliceTrace};
pub use power::{Point, PowerCurve};
pub use resampled::{IntervalOf, Resampled};
pub use series::{Correlogram, Piece, Trace};
pub use shape::{FiveNumbers, Shape};
pub use view::View;

use crate::evidence::Evidence;
use crate::protocol::Protocol;
use crate::{Analysis, Comparison};
use assay_data::{Design, Metric, Samples};

/// Maximum number of subjects in one plot; more could not be distinguished.
pub const MOST_SUBJECTS: usize = 8;

/// The data of every plot of the primary metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    /// The primary metric.
    pub metric: Metric,
    /// The part of the value axis shown in plots of distributions.
    pub view: View,
    /// The smallest and the largest value of the plotted subjects.
    pub range: (f64, f64),
    /// Confidence of the intervals.
    pub confidence: f64,
    /// The first [`MOST_SUBJECTS`] subjects that have values.
    pub subjects: Vec<SubjectFigures>,
    /// Number of subjects with values that are not plotted.
    pub left_out: usize,
    /// The plots of every comparison between two of the plotted subjects.
    pub between: Vec<Between>,
    /// True if every subject was measured once in every block.
    pub in_blocks: bool,
    /// True if the resampled standard deviations are those of differences from the reference.
    pub deviations_of_differences: bool,
    /// Plots specific to load tests; `None` for other measurements.
    pub load: Option<LoadFigures>,
}

/// The data of the plots of one subject.
#[derive(Clone, Debug, PartialEq)]
pub struct SubjectFigures {
    /// Index of the subject in the analysis.
    pub subject: usize,
    /// Name of the subject.
    pub name: String,
    /// Number of values.
    pub n: usize,
    /// The values in order of measurement.
    pub trace: Trace,
    /// The distribution of the values.
    pub shape: Shape,
    /// Autocorrelation; `None` for fewer than ten values, or if all are equal.
    pub correlogram: Option<Correlogram>,
    /// Uncertainty of the standard deviation of the values, or, in a protocol of blocks, of the
    /// differences. `None` for fewer than five values or more than half a million, if all are
    /// equal, or if nothing was resampled.
    pub deviation: Option<Resampled>,
}

/// Computes the data of the plots. O(n log n) for n observations; the result is of bounded size.
pub fn figures(samples: &Samples, analysis: &Analysis) -> Figures {
    with_protocol(samples, analysis, &[])
}

/// Like [`figures`], but uses the resamples and the power analysis of a protocol, since a second
/// bootstrap would give different numbers.
pub fn with_protocol(samples: &Samples, analysis: &Analysis, chains: &[Protocol]) -> Figures {
    let with_values: Vec<usize> =
        (0..samples.subjects.len()).filter(|&s| analysis.primary_of(s).is_some()).collect();
    let shown = &with_values[..with_values.len().min(MOST_SUBJECTS)];
    let left_out = with_values.len() - shown.len();
    let load = LoadFigures::of(samples, &analysis.answers, analysis.search.as_ref());
    Figures { left_out, load, ..drawn(&Evidence::of(samples), analysis, shown, Some(chains)) }
}

/// Computes the plots of single comparisons, without resampling, which would take too long for many
/// of them. O(n log n) for n observations.
pub fn of_comparisons(
    samples: &Samples,
    analysis: &Analysis,
    comparisons: &[&Comparison],
) -> Vec<Figures> {
    let evidence = Evidence::of(samples);
    let one = |c: &&Comparison| drawn(&evidence, analysis, &[c.against, c.of], None);
    comparisons.iter().map(one).collect()
}

/// Computes the plots of the subjects `shown`. Nothing is resampled if `chains` is `None`.
fn drawn(
    evidence: &Evidence<'_>,
    analysis: &Analysis,
    shown: &[usize],
    chains: Option<&[Protocol]>,
) -> Figures {
    let metric = analysis.metrics[analysis.primary].clone();
    let resamples = chains.is_some();
    let chains = chains.unwrap_or_default();
    let series: Vec<Vec<f64>> =
        shown.iter().map(|&s| evidence.index().values(s, analysis.primary)).collect();
    let sorted: Vec<Vec<f64>> =
        series.iter().map(|values| assay_stats::descriptive::sorted(values)).collect();
    let view = View::of(&sorted);
    let ends = |pick: fn(f64, f64) -> f64, of: fn(&Vec<f64>) -> Option<&f64>| {
        sorted.iter().filter_map(of).copied().reduce(pick).unwrap_or(f64::NAN)
    };
    let planned = chains.iter().any(|chain| chain.power.found.is_some());
    let subject = |(index, &subject): (usize, &usize)| SubjectFigures {
        subject,
        name: analysis.subjects[subject].name.clone(),
        n: series[index].len(),
        trace: Trace::of(&series[index]),
        shape: Shape::of(&sorted[index], &view),
        correlogram: Correlogram::of(&series[index]),
        deviation: if !resamples {
            None
        } else if planned {
            of_plan(chains, subject)
        } else {
            Resampled::of(&series[index], analysis.plan.confidence, analysis.plan.seed)
        },
    };
    let subjects = shown.iter().enumerate().map(subject).collect();
    let place = |subject: usize| shown.iter().position(|&s| s == subject);
    let in_blocks = analysis.design == Design::Blocks;
    let between = analysis
        .comparisons
        .iter()
        .filter_map(|c| {
            let (of, against) = (place(c.of)?, place(c.against)?);
            let blocks: Option<Vec<(f64, f64)>> = in_blocks.then(|| {
                let paired = evidence.in_blocks(c.against, c.of, analysis.primary);
                paired.reference().iter().copied().zip(paired.other().iter().copied()).collect()
            });
            let sides = Sides {
                sorted: (&sorted[against], &sorted[of]),
                in_order: (&series[against], &series[of]),
                blocks: blocks.as_deref(),
            };
            let chain = chains.iter().find(|p| p.of == c.of && p.against == Some(c.against));
            Some(Between::of(c, (against, of), &sides, &analysis.plan, chain))
        })
        .collect();
    Figures {
        metric,
        view,
        range: (ends(f64::min, |s| s.first()), ends(f64::max, |s| s.last())),
        confidence: analysis.plan.confidence,
        subjects,
        left_out: 0,
        between,
        in_blocks,
        deviations_of_differences: planned && chains.iter().any(|chain| chain.paired),
        load: None,
    }
}

/// Returns the resamples that the protocols made for a subject.
fn of_plan(chains: &[Protocol], subject: usize) -> Option<Resampled> {
    let found = chains.iter().filter_map(|chain| Some((chain.power.found.as_ref()?, chain)));
    let mut spreads =
        found.flat_map(|(power, chain)| power.spreads.iter().map(move |s| (s, chain)));
    let (spread, chain) = spreads.find(|(spread, _)| spread.subject == subject)?;
    Resampled::of_plan(spread, chain.resampling.1)
}

#[cfg(test)]
mod tests;
