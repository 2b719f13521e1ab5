//! Kernel density estimates and their bandwidths.
//!
//! The estimate is the classical one with a normal kernel (Silverman, *Density Estimation for
//! Statistics and Data Analysis*, 1986). Values are first distributed linearly between the two
//! nearest points of the grid (Wand & Jones, *Kernel Smoothing*, 1995, appendix D), as in R's
//! `density`, so that ten million values need one pass. Bandwidths are those of R's `bw.nrd0`,
//! `bw.nrd` and `bw.SJ`. This module draws nothing and counts no modes.

mod sheather_jones;

use crate::descriptive;
pub use sheather_jones::{sheather_jones_direct, sheather_jones_solve};

/// Number of bandwidths by which the grid extends beyond the extremes, as in R's `density`.
const REACH: f64 = 3.0;
/// Number of bandwidths beyond which the kernel is below the last bit of its peak.
const KERNEL_ENDS: f64 = 8.5;

/// A density at equally spaced points.
#[derive(Clone, Debug, PartialEq)]
pub struct Density {
    /// Ascending, equally spaced, in the unit of the values.
    pub x: Vec<f64>,
    /// The density at each `x`, at least 0, in 1/unit; its sum times the spacing is 1, except for
    /// the mass beyond the ends (about 0.1 % of the outermost values).
    pub y: Vec<f64>,
}

impl Density {
    /// The distance between two neighboring points.
    #[must_use]
    pub fn spacing(&self) -> f64 {
        match self.x.as_slice() {
            [first, .., last] => (last - first) / (self.x.len() - 1) as f64,
            _ => f64::NAN,
        }
    }
}

/// The density of the values, smoothed by a normal kernel with the standard deviation `bandwidth`,
/// at `grid_points` places from three bandwidths below the smallest to three above the largest.
///
/// `xs`: finite, n ≥ 1, any order. `None` if there are no values, for fewer than two points, or for
/// a bandwidth that is not positive and finite. If the spacing is wider than the bandwidth, the
/// curve is as smooth as the grid allows, and its area remains 1. O(n + grid²) at worst, with grid²
/// only for bandwidths that are a large share of the range.
#[must_use]
pub fn estimate(xs: &[f64], bandwidth: f64, grid_points: usize) -> Option<Density> {
    let least = xs.iter().copied().min_by(f64::total_cmp)?;
    let most = xs.iter().copied().max_by(f64::total_cmp)?;
    let low = least - REACH * bandwidth;
    let range = (most - least) + 2.0 * REACH * bandwidth;
    let positive = |v: f64| v > 0.0 && v.is_finite();
    if grid_points < 2 || !positive(bandwidth) || !positive(range) {
        return None;
    }
    let spacing = range / (grid_points - 1) as f64;
    let x = (0..grid_points).map(|i| low + spacing * i as f64).collect();
    let mass = shared_out(xs, least, REACH * bandwidth, spacing, grid_points);
    Some(Density { x, y: smoothed(&mass, bandwidth / spacing, spacing) })
}

/// The share of all values at every point of the grid; a value between two points is divided
/// according to its distance to them.
fn shared_out(xs: &[f64], least: f64, margin: f64, spacing: f64, points: usize) -> Vec<f64> {
    let mut mass = vec![0.0; points];
    let per_step = 1.0 / spacing;
    for x in xs {
        // The offset is subtracted first, so that values around 1e12 keep their digits.
        let place = ((x - least) + margin) * per_step;
        let below = (place as usize).min(points - 2);
        let share = (place - below as f64).clamp(0.0, 1.0);
        mass[below] += 1.0 - share;
        mass[below + 1] += share;
    }
    let n = xs.len() as f64;
    mass.iter_mut().for_each(|m| *m /= n);
    mass
}

/// The mass smoothed by a normal kernel of this width in steps of the grid.
fn smoothed(mass: &[f64], width: f64, spacing: f64) -> Vec<f64> {
    let reach = ((KERNEL_ENDS * width).ceil() as usize).min(mass.len() - 1);
    let mut kernel: Vec<f64> =
        (0..=reach).map(|k| (-0.5 * (k as f64 / width).powi(2)).exp()).collect();
    // The discrete kernel is normalized, which matters if it is narrower than a step.
    let whole = kernel[0] + 2.0 * kernel[1..].iter().sum::<f64>();
    let cut = reach < (KERNEL_ENDS * width).ceil() as usize;
    let area = if cut { width * std::f64::consts::TAU.sqrt() } else { whole };
    kernel.iter_mut().for_each(|w| *w /= area * spacing);
    let mut y = vec![0.0; mass.len()];
    for (at, &m) in mass.iter().enumerate().filter(|(_, m)| **m > 0.0) {
        y[at] += m * kernel[0];
        let right = reach.min(mass.len() - 1 - at);
        for (k, w) in kernel.iter().enumerate().take(right + 1).skip(1) {
            y[at + k] += m * w;
        }
        for (k, w) in kernel.iter().enumerate().take(reach.min(at) + 1).skip(1) {
            y[at - k] += m * w;
        }
    }
    y
}

/// Silverman's bandwidth, 0.9 min(sd, IQR / 1.34) n^(−1/5): R's `bw.nrd0`.
///
/// `sorted`: ascending, finite. `None` for fewer than two values; if the spread is 0, the absolute
/// value (or 1) is used instead, as in R. O(n).
#[must_use]
pub fn nrd0(sorted: &[f64]) -> Option<f64> {
    let (sd, robust) = spreads(sorted, 1.34)?;
    let candidates = [sd.min(robust), sd, sorted[0].abs(), 1.0];
    let spread = candidates.into_iter().find(|s| *s != 0.0)?;
    Some(0.9 * spread * (sorted.len() as f64).powf(-0.2))
}

/// Scott's variation of [`nrd0`], 1.06 min(sd, IQR / 1.34) n^(−1/5): R's `bw.nrd`.
///
/// `sorted`: ascending, finite. `None` for fewer than two values; 0 if more than half are equal.
/// O(n).
#[must_use]
pub fn nrd(sorted: &[f64]) -> Option<f64> {
    let (sd, robust) = spreads(sorted, 1.34)?;
    Some(1.06 * sd.min(robust) * (sorted.len() as f64).powf(-0.2))
}

/// The standard deviation, and the interquartile range divided by `divisor`.
fn spreads(sorted: &[f64], divisor: f64) -> Option<(f64, f64)> {
    if sorted.len() < 2 {
        return None;
    }
    let sd = descriptive::standard_deviation(sorted);
    Some((sd, descriptive::interquartile_range(sorted) / divisor))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normal;

    fn wavy(n: u32) -> Vec<f64> {
        (0..n).map(|i| f64::from(i * 37 % n) + 5.0 * f64::from(i).sin()).collect()
    }

    #[test]
    fn the_curve_is_the_mean_of_the_kernels() {
        let xs = wavy(200);
        let found = estimate(&xs, 8.0, 512).unwrap();
        for (x, y) in found.x.iter().zip(&found.y).step_by(31) {
            let direct =
                xs.iter().map(|v| normal::density((x - v) / 8.0) / 8.0).sum::<f64>() / 200.0;
            assert!((y - direct).abs() < 2e-3 * 0.005, "{x}: {y} {direct}");
        }
    }

    #[test]
    fn the_area_is_one_however_narrow_the_kernel_is() {
        for bandwidth in [1e-9, 0.01, 1.0, 40.0, 1e6] {
            let found = estimate(&wavy(300), bandwidth, 400).unwrap();
            let area: f64 = found.y.iter().sum::<f64>() * found.spacing();
            assert!((area - 1.0).abs() < 3e-3, "{bandwidth}: {area}");
            assert!(found.y.iter().all(|y| *y >= 0.0));
        }
    }

    #[test]
    fn an_offset_moves_the_curve_and_nothing_else() {
        let xs: Vec<f64> = (0..50).map(|i| f64::from(i * i % 64) / 4.0).collect();
        let far: Vec<f64> = xs.iter().map(|x| x + 1e12).collect();
        let (near, far) = (estimate(&xs, 1.0, 256).unwrap(), estimate(&far, 1.0, 256).unwrap());
        for (a, b) in near.y.iter().zip(&far.y) {
            assert!((a - b).abs() < 1e-12, "{a} {b}");
        }
    }

    #[test]
    fn the_rules_of_thumb_take_the_smaller_spread() {
        // For 0, 1, 2, 3 the quartiles are 0.75 and 2.25, and the standard deviation is √(5/3).
        let (even, shrink) = ([0.0, 1.0, 2.0, 3.0], 4f64.powf(-0.2));
        assert!((nrd(&even).unwrap() - 1.06 * 1.5 / 1.34 * shrink).abs() < 1e-14);
        assert!((nrd0(&even).unwrap() - 0.9 * 1.5 / 1.34 * shrink).abs() < 1e-14);
        // For 0, 0, 1, 1 the quartiles are 0 and 1, and the standard deviation is √(1/3).
        let two = [0.0, 0.0, 1.0, 1.0];
        assert!((nrd(&two).unwrap() - 1.06 * (1f64 / 3.0).sqrt() * shrink).abs() < 1e-14);
        // More than half of the values are equal.
        let equal = [1.0, 1.0, 1.0, 1.0, 9.0];
        assert_eq!(nrd(&equal), Some(0.0));
        let sd = descriptive::standard_deviation(&equal);
        assert!((nrd0(&equal).unwrap() - 0.9 * sd * 5f64.powf(-0.2)).abs() < 1e-14);
        assert_eq!(nrd0(&[-3.0, -3.0]), Some(2.7 * 2f64.powf(-0.2)));
    }

    #[test]
    fn without_values_or_width_there_is_no_curve() {
        assert_eq!(estimate(&[], 1.0, 100), None);
        assert_eq!(estimate(&[1.0, 2.0], 0.0, 100), None);
        assert_eq!(estimate(&[1.0, 2.0], f64::NAN, 100), None);
        assert_eq!(estimate(&[1.0, 2.0], 1.0, 1), None);
        assert!(estimate(&[1.0], 1.0, 9).is_some());
        assert_eq!((nrd0(&[3.0]), nrd(&[])), (None, None));
        assert_eq!(nrd0(&[0.0, 0.0]), Some(0.9 * 2f64.powf(-0.2)));
    }
}
