//! The distribution of a series for plots, and its modes.
//!
//! More than one mode is reported only if three criteria agree: the dip test rejects unimodality,
//! the smoothed density has a clear valley, and enough values are on either side of it. Values in
//! coarse steps are smoothed over at least one step, since otherwise every step would be a mode.

use crate::policy;
use assay_stats::density::{self, Density};
use assay_stats::descriptive;
use assay_stats::dip::Dip;

/// Number of bins; it has many divisors, so that plots of many widths can be made from them.
pub const BINS: usize = 240;
/// Number of points at which the density is evaluated.
const POINTS: usize = 512;
/// Number of interquartile ranges shown beyond the quartiles, as far as there are values.
const VIEW: f64 = 3.0;

/// Bandwidths for a kernel density by several rules; `None` where a rule does not apply.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bandwidths {
    /// Silverman's bandwidth, R's `bw.nrd0`.
    pub nrd0: Option<f64>,
    /// Scott's bandwidth, R's `bw.nrd`.
    pub nrd: Option<f64>,
    /// Sheather and Jones's bandwidth by solving the equation.
    pub sj_ste: Option<f64>,
    /// Sheather and Jones's bandwidth by direct plug-in.
    pub sj_dpi: Option<f64>,
}

impl Bandwidths {
    pub(super) fn of(sorted: &[f64]) -> Self {
        Self {
            nrd0: density::nrd0(sorted),
            nrd: density::nrd(sorted),
            sj_ste: density::sheather_jones_solve(sorted),
            sj_dpi: density::sheather_jones_direct(sorted),
        }
    }

    /// Returns the bandwidth for plots: Sheather and Jones's if available, otherwise Silverman's.
    fn best(&self) -> Option<f64> {
        self.sj_ste.or(self.sj_dpi).or(self.nrd0)
    }
}

/// The distribution over the visible part of the axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// Lower end: the smallest value, or three interquartile ranges below the lower quartile.
    pub low: f64,
    /// Upper end: the largest value, or three interquartile ranges above the upper quartile.
    pub high: f64,
    /// Number of values below `low`.
    pub below: usize,
    /// Number of values above `high`.
    pub above: usize,
    /// Counts in 240 equal bins from `low` to `high`; empty if all values are equal.
    pub counts: Vec<u32>,
    /// The smoothed density of the values between the ends; `None` if undefined.
    pub density: Option<Density>,
    /// The bandwidth of `density`.
    pub bandwidth: Option<f64>,
}

impl Shape {
    /// Computes the shape; `sorted` must not be empty, and `step` is the smallest gap between
    /// values. O(n).
    pub(super) fn of(sorted: &[f64], bandwidths: &Bandwidths, step: Option<f64>) -> Self {
        let (min, max) = (sorted[0], sorted[sorted.len() - 1]);
        let [p25, p75] = [0.25, 0.75].map(|p| descriptive::quantile_sorted(sorted, p));
        let reach = VIEW * (p75 - p25);
        let (low, high) =
            if reach > 0.0 { (min.max(p25 - reach), max.min(p75 + reach)) } else { (min, max) };
        let below = sorted.partition_point(|v| *v < low);
        let seen = &sorted[below..sorted.partition_point(|v| *v <= high)];
        let above = sorted.len() - below - seen.len();
        let width = (high - low) / BINS as f64;
        let mut counts = Vec::new();
        if width > 0.0 {
            counts = vec![0; BINS];
            seen.iter().for_each(|v| counts[(((v - low) / width) as usize).min(BINS - 1)] += 1);
        }
        let coarse = step.filter(|_| is_coarse(sorted)).unwrap_or(0.0);
        let bandwidth =
            bandwidths.best().map(|h| h.max(coarse)).filter(|h| *h > 0.0 && width > 0.0);
        let smooth = coarse * policy::DENSITY_STEPS <= high - low;
        let density = bandwidth.filter(|_| smooth).and_then(|h| density::estimate(seen, h, POINTS));
        Self { low, high, below, above, counts, density, bandwidth }
    }
}

fn is_coarse(sorted: &[f64]) -> bool {
    let distinct = 1 + sorted.windows(2).filter(|pair| pair[0] < pair[1]).count();
    distinct as f64 <= policy::STEPPED_BELOW * sorted.len() as f64
}

/// A mode of the values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mode {
    /// Position of the density's maximum.
    pub at: f64,
    /// The valley to the left of the mode; −∞ for the first mode.
    pub from: f64,
    /// The valley to the right of the mode; ∞ for the last mode.
    pub to: f64,
    /// Share of the values between the two valleys.
    pub share: f64,
}

/// Returns the modes from left to right; empty if there is no density.
pub(super) fn modes(sorted: &[f64], shape: &Shape, dip: Option<Dip>) -> Vec<Mode> {
    let Some(density) = &shape.density else { return Vec::new() };
    let several =
        sorted.len() >= policy::SHAPE_FROM && dip.is_some_and(|dip| dip.p < policy::DIP_LEVEL);
    let hills = if several { hills(&density.y) } else { vec![Hill::whole(&density.y)] };
    let n = sorted.len() as f64;
    let mut modes: Vec<Mode> = hills
        .iter()
        .map(|hill| Mode {
            at: density.x[hill.top],
            from: if hill.begin == 0 { f64::NEG_INFINITY } else { density.x[hill.begin] },
            to: if hill.end + 1 >= density.x.len() { f64::INFINITY } else { density.x[hill.end] },
            share: 0.0,
        })
        .collect();
    let share = |mode: &Mode| {
        let upto = |end: f64| sorted.partition_point(|v| *v < end) as f64;
        (upto(mode.to) - upto(mode.from)) / n
    };
    modes.iter_mut().for_each(|mode| mode.share = share(mode));
    // Merges the smallest mode with the nearer of its neighbors until all modes are large enough.
    while modes.len() > 1
        && let Some(small) =
            (0..modes.len()).min_by(|&a, &b| modes[a].share.total_cmp(&modes[b].share))
        && modes[small].share < policy::MODE_SHARE
    {
        let gone = modes.remove(small);
        let left = small > 0
            && (small == modes.len() || gone.at - modes[small - 1].at < modes[small].at - gone.at);
        let heir = &mut modes[if left { small - 1 } else { small }];
        heir.share += gone.share;
        heir.from = heir.from.min(gone.from);
        heir.to = heir.to.max(gone.to);
    }
    modes
}

/// A section of the grid with one maximum.
struct Hill {
    begin: usize,
    top: usize,
    end: usize,
}

impl Hill {
    fn whole(y: &[f64]) -> Self {
        let top = (0..y.len()).max_by(|&a, &b| y[a].total_cmp(&y[b])).unwrap_or(0);
        Self { begin: 0, top, end: y.len().saturating_sub(1) }
    }
}

/// Returns the hills between clear valleys. Starts with all local hills, and joins the pair with
/// the shallowest valley until all valleys are deep enough.
fn hills(y: &[f64]) -> Vec<Hill> {
    let mut hills: Vec<Hill> = Vec::new();
    let mut begin = 0;
    for i in 1..y.len() {
        let last = i + 1 == y.len();
        // A valley is where the curve stops decreasing.
        let valley = !last && y[i] <= y[i - 1] && y[i] < y[i + 1];
        if valley || last {
            let top = (begin..=i).max_by(|&a, &b| y[a].total_cmp(&y[b])).unwrap_or(begin);
            hills.push(Hill { begin, top, end: i });
            begin = i;
        }
    }
    let depth = |pair: &[Hill]| y[pair[0].end] / y[pair[0].top].min(y[pair[1].top]);
    while let Some(shallowest) = (1..hills.len())
        .max_by(|&a, &b| depth(&hills[a - 1..=a]).total_cmp(&depth(&hills[b - 1..=b])))
        && depth(&hills[shallowest - 1..=shallowest]) > policy::VALLEY
    {
        let right = hills.remove(shallowest);
        let left = &mut hills[shallowest - 1];
        left.end = right.end;
        if y[right.top] > y[left.top] {
            left.top = right.top;
        }
    }
    hills
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_again_and_again_are_coarse() {
        let steps: Vec<f64> = (0..60).map(|i| f64::from(i / 20)).collect();
        let all: Vec<f64> = (0..60).map(f64::from).collect();
        assert!(is_coarse(&steps) && !is_coarse(&all));
    }
}
