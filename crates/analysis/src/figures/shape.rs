//! How values are distributed: density, empirical distribution, box, and how sure their standard
//! deviation is.

use super::{Point, View};
use assay_stats::density;
use assay_stats::descriptive::quantile_sorted;

/// Points of a density and of an empirical distribution.
const DENSITY_POINTS: usize = 400;
const STEPS: usize = 1000;
/// Fewer values have no density: their dots are all there is to see.
const DENSITY_FROM: usize = 5;

/// The numbers of a box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FiveNumbers {
    /// The smallest value within 1.5 interquartile ranges below the lower quartile.
    pub lower_whisker: f64,
    /// 25 %.
    pub lower_quartile: f64,
    /// 50 %.
    pub median: f64,
    /// 75 %.
    pub upper_quartile: f64,
    /// The largest value within 1.5 interquartile ranges above the upper quartile.
    pub upper_whisker: f64,
    /// How many values lie outside the whiskers.
    pub outside: usize,
}

/// A distribution as curves.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// Density over value, on the view's scale (per unit, or per factor e), within the view; empty
    /// for fewer than five values or equal ones.
    pub density: Vec<Point>,
    /// The kernel's standard deviation, on the view's scale; 0 without a density.
    pub bandwidth: f64,
    /// Share of values that are at most this large, ascending in both; at most 1,000 points.
    pub ecdf: Vec<Point>,
    /// True when the distribution has one point for every value.
    pub every_step: bool,
    /// The box.
    pub numbers: FiveNumbers,
    /// How many values lie outside the view, below and above.
    pub beyond: (usize, usize),
    /// The smallest values outside the whiskers and the largest, at most a hundred of each, for
    /// dots beside the box.
    pub outliers: Vec<f64>,
}

impl Shape {
    /// The shape of values in ascending order, at least one. O(n).
    pub(super) fn of(sorted: &[f64], view: &View) -> Self {
        let below = sorted.partition_point(|&v| v < view.low && !view.contains(v));
        let up_to = sorted.partition_point(|&v| v <= view.high || view.contains(v));
        let (density, bandwidth) = density_of(sorted, view);
        let numbers = FiveNumbers::of(sorted);
        let low = sorted.partition_point(|&v| v < numbers.lower_whisker);
        let high = sorted.partition_point(|&v| v <= numbers.upper_whisker);
        let mut outliers = sorted[..low.min(100)].to_vec();
        outliers.extend(&sorted[high.max(sorted.len().saturating_sub(100))..]);
        Self {
            density,
            bandwidth,
            ecdf: ecdf(sorted),
            every_step: sorted.len() <= STEPS,
            numbers,
            beyond: (below, sorted.len() - up_to),
            outliers,
        }
    }
}

impl FiveNumbers {
    fn of(sorted: &[f64]) -> Self {
        let at = |p| quantile_sorted(sorted, p);
        let (lower_quartile, upper_quartile) = (at(0.25), at(0.75));
        let fence = 1.5 * (upper_quartile - lower_quartile);
        let low = sorted.partition_point(|&v| v < lower_quartile - fence);
        let high = sorted.partition_point(|&v| v <= upper_quartile + fence);
        let value = |index: usize| sorted.get(index).copied().unwrap_or(f64::NAN);
        Self {
            lower_whisker: value(low),
            lower_quartile,
            median: at(0.5),
            upper_quartile,
            upper_whisker: value(high.saturating_sub(1)),
            outside: low + sorted.len() - high,
        }
    }
}

/// At most so many of the points (value, share of values up to it), always with the first and the
/// last.
fn ecdf(sorted: &[f64]) -> Vec<Point> {
    let n = sorted.len();
    let steps = n.min(STEPS);
    let point = |k: usize| {
        let index = if steps < 2 { n - 1 } else { k * (n - 1) / (steps - 1) };
        (sorted[index], (index + 1) as f64 / n as f64)
    };
    if n == 0 { Vec::new() } else { (0..steps).map(point).collect() }
}

/// The density within the view. Values beyond it count in its height: the curve's area is the share
/// of values that it shows.
fn density_of(sorted: &[f64], view: &View) -> (Vec<Point>, f64) {
    let nothing = (Vec::new(), 0.0);
    if sorted.len() < DENSITY_FROM || sorted[0] == sorted[sorted.len() - 1] {
        return nothing;
    }
    let (low, high) = (view.scaled(view.low), view.scaled(view.high));
    let scaled: Vec<f64> = sorted.iter().map(|&v| view.scaled(v)).collect();
    let Some(bandwidth) = density::nrd0(&scaled) else { return nothing };
    // Values just outside still reach in with their kernels.
    let from = scaled.partition_point(|&v| v < low - 3.0 * bandwidth);
    let to = scaled.partition_point(|&v| v <= high + 3.0 * bandwidth);
    let seen = &scaled[from..to];
    let share = seen.len() as f64 / scaled.len() as f64;
    let Some(found) = density::estimate(seen, bandwidth, DENSITY_POINTS) else { return nothing };
    let curve = found.x.into_iter().zip(found.y.into_iter().map(|y| y * share));
    // The kernels' tails beyond the extremes belong to the picture, what the view cuts off does
    // not.
    let (cut_low, cut_high) = (scaled[0] < low, scaled[scaled.len() - 1] > high);
    let within = |x: f64| !(cut_low && x < low || cut_high && x > high);
    (curve.filter(|&(x, _)| within(x)).map(|point| view.unscaled(point)).collect(), bandwidth)
}
