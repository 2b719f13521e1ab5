//! The distribution of values: density, empirical distribution, and box plot.

use super::{Point, View};
use assay_stats::density;
use assay_stats::descriptive::quantile_sorted;

/// Number of points at which a density is evaluated.
const DENSITY_POINTS: usize = 400;
/// Maximum number of points of an empirical distribution.
const STEPS: usize = 1000;
/// Minimum number of values for a density; fewer are only shown as dots.
const DENSITY_FROM: usize = 5;

/// The numbers that a box plot shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FiveNumbers {
    /// The smallest value within 1.5 interquartile ranges below the lower quartile.
    pub lower_whisker: f64,
    /// The 25 % quantile.
    pub lower_quartile: f64,
    /// The 50 % quantile.
    pub median: f64,
    /// The 75 % quantile.
    pub upper_quartile: f64,
    /// The largest value within 1.5 interquartile ranges above the upper quartile.
    pub upper_whisker: f64,
    /// Number of values outside the whiskers.
    pub outside: usize,
}

/// The curves of a distribution.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// Density within the view, on its scale (per unit, or per factor e); empty for fewer than five
    /// values, or if all are equal.
    pub density: Vec<Point>,
    /// The kernel's standard deviation, on the view's scale; 0 if there is no density.
    pub bandwidth: f64,
    /// Empirical distribution function, ascending in both coordinates; at most 1,000 points.
    pub ecdf: Vec<Point>,
    /// True if the empirical distribution has one point per value.
    pub every_step: bool,
    /// The box plot.
    pub numbers: FiveNumbers,
    /// Number of values below and above the view.
    pub beyond: (usize, usize),
    /// The values farthest outside the whiskers, drawn as dots: at most the hundred smallest and
    /// the hundred largest.
    pub outliers: Vec<f64>,
}

impl Shape {
    /// Computes the shape of ascending values, of which there must be at least one. O(n).
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

/// Returns at most `STEPS` points of the empirical distribution function, always including the
/// first and the last.
fn ecdf(sorted: &[f64]) -> Vec<Point> {
    let n = sorted.len();
    let steps = n.min(STEPS);
    let point = |k: usize| {
        let index = if steps < 2 { n - 1 } else { k * (n - 1) / (steps - 1) };
        (sorted[index], (index + 1) as f64 / n as f64)
    };
    if n == 0 { Vec::new() } else { (0..steps).map(point).collect() }
}

/// Returns the density within the view, and its bandwidth. Values outside the view are included in
/// the total, so the area under the curve is the share of values shown.
fn density_of(sorted: &[f64], view: &View) -> (Vec<Point>, f64) {
    let nothing = (Vec::new(), 0.0);
    if sorted.len() < DENSITY_FROM || sorted[0] == sorted[sorted.len() - 1] {
        return nothing;
    }
    let (low, high) = (view.scaled(view.low), view.scaled(view.high));
    let scaled: Vec<f64> = sorted.iter().map(|&v| view.scaled(v)).collect();
    let Some(bandwidth) = density::nrd0(&scaled) else { return nothing };
    // Kernels of values just outside extend into the view.
    let from = scaled.partition_point(|&v| v < low - 3.0 * bandwidth);
    let to = scaled.partition_point(|&v| v <= high + 3.0 * bandwidth);
    let seen = &scaled[from..to];
    let share = seen.len() as f64 / scaled.len() as f64;
    let Some(found) = density::estimate(seen, bandwidth, DENSITY_POINTS) else { return nothing };
    let curve = found.x.into_iter().zip(found.y.into_iter().map(|y| y * share));
    // The plot includes the kernels' tails beyond the extremes, but not tails cut off by the view.
    let (cut_low, cut_high) = (scaled[0] < low, scaled[scaled.len() - 1] > high);
    let within = |x: f64| !(cut_low && x < low || cut_high && x > high);
    (curve.filter(|&(x, _)| within(x)).map(|point| view.unscaled(point)).collect(), bandwidth)
}
