//! The Shapiro-Wilk test of normality, which measures the straightness of a normal probability
//! plot.
//!
//! Royston's approximation ("Remark AS R94: a remark on algorithm AS 181: the W-test for
//! normality", Applied Statistics 44, 1995), for 3 to 5000 values, as in R's `shapiro.test`. With
//! thousands of values it detects even negligible deviations, whose size must be judged by other
//! means.

use crate::{descriptive, normal};

/// Numbers of values for which the approximation is valid.
pub const VALUES: std::ops::RangeInclusive<usize> = 3..=5000;

/// The statistic and its p-value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShapiroWilk {
    /// W in 0..=1; near 1 for normal values.
    pub w: f64,
    /// p-value: probability of such a small W for normal values.
    pub p: f64,
}

/// Tests a sample. `sorted`: ascending, finite. `None` if n is not in [`VALUES`], or all values are
/// equal. O(n).
#[must_use]
pub fn shapiro_wilk(sorted: &[f64]) -> Option<ShapiroWilk> {
    let n = sorted.len();
    if !VALUES.contains(&n) {
        return None;
    }
    let range = sorted[n - 1] - sorted[0];
    if !(range > 0.0 && range.is_finite()) {
        return None;
    }
    // Deviations from the median in units of the range, so that neither offset nor unit costs
    // digits.
    let centre = descriptive::quantile_sorted(sorted, 0.5);
    let scaled: Vec<f64> = sorted.iter().map(|x| (x - centre) / range).collect();
    let weights = weights(n);
    let mean = descriptive::mean(&scaled);
    let mut along = 0.0;
    for (i, weight) in weights.iter().enumerate() {
        along += weight * (scaled[n - 1 - i] - scaled[i]);
    }
    let squares: f64 = scaled.iter().map(|x| (x - mean).powi(2)).sum();
    let weight_squares: f64 = 2.0 * weights.iter().map(|w| w * w).sum::<f64>();
    let whole = (squares * weight_squares).sqrt();
    // 1 − W, factored to avoid cancellation.
    let lacking = ((whole - along) * (whole + along) / (squares * weight_squares)).max(0.0);
    let w = 1.0 - lacking;
    Some(ShapiroWilk { w, p: p_value(w, lacking, n) })
}

/// The weights of the upper half, largest first.
fn weights(n: usize) -> Vec<f64> {
    const LARGEST: [f64; 6] = [0.0, 0.221_157, -0.147_981, -2.071_19, 4.434_685, -2.706_056];
    const SECOND: [f64; 6] = [0.0, 0.042_981, -0.293_762, -1.752_461, 5.682_633, -3.582_633];
    let half = n / 2;
    if n == 3 {
        return vec![0.5f64.sqrt()];
    }
    let scores: Vec<f64> =
        (1..=half).map(|i| -normal::quantile((i as f64 - 0.375) / (n as f64 + 0.25))).collect();
    let squares = 2.0 * scores.iter().map(|m| m * m).sum::<f64>();
    let root = 1.0 / (n as f64).sqrt();
    let corrected =
        |place: usize, by: &[f64]| polynomial(by, root) + scores[place] / squares.sqrt();
    let mut heads = vec![corrected(0, &LARGEST)];
    if n > 5 {
        heads.push(corrected(1, &SECOND));
    }
    let taken = |of: &[f64]| 2.0 * of[..heads.len()].iter().map(|v| v * v).sum::<f64>();
    let scale = ((squares - taken(&scores)) / (1.0 - taken(&heads))).sqrt();
    let rest = scores[heads.len()..].iter().map(|m| m / scale);
    heads.iter().copied().chain(rest).collect()
}

fn p_value(w: f64, lacking: f64, n: usize) -> f64 {
    const SMALL_MEAN: [f64; 4] = [0.544, -0.399_78, 0.025_054, -6.714e-4];
    const SMALL_SD: [f64; 4] = [1.3822, -0.778_57, 0.062_767, -0.002_032_2];
    const MEAN: [f64; 4] = [-1.5861, -0.310_82, -0.083_751, 0.003_891_5];
    const SD: [f64; 3] = [-0.4803, -0.082_676, 0.003_030_2];
    if n == 3 {
        // For three values the p-value is exact: √W is the sine of an angle of at least 60 degrees.
        let sixth = std::f64::consts::FRAC_PI_3;
        return (6.0 / std::f64::consts::PI * (w.sqrt().asin() - sixth)).clamp(0.0, 1.0);
    }
    let (size, far) = (n as f64, lacking.ln());
    let (y, mean, sd) = if n <= 11 {
        let most = 0.459 * size - 2.273;
        if far >= most {
            return 1e-99;
        }
        (-(most - far).ln(), polynomial(&SMALL_MEAN, size), polynomial(&SMALL_SD, size).exp())
    } else {
        let log = size.ln();
        (far, polynomial(&MEAN, log), polynomial(&SD, log).exp())
    };
    normal::cdf((mean - y) / sd)
}

fn polynomial(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equally_spaced_normal_scores_look_normal_and_a_far_value_does_not() {
        let mut xs: Vec<f64> = (1..100).map(|i| normal::quantile(f64::from(i) / 100.0)).collect();
        let found = shapiro_wilk(&xs).unwrap();
        assert!(found.w > 0.99 && found.p > 0.5, "{found:?}");
        xs.push(30.0);
        assert!(shapiro_wilk(&xs).unwrap().p < 1e-10);
    }

    #[test]
    fn too_few_too_many_and_equal_values_have_no_answer() {
        assert_eq!(shapiro_wilk(&[1.0, 2.0]), None);
        assert_eq!(shapiro_wilk(&[4.0; 9]), None);
        assert_eq!(shapiro_wilk(&(0..5001).map(f64::from).collect::<Vec<_>>()), None);
        assert!(shapiro_wilk(&(0..5000).map(f64::from).collect::<Vec<_>>()).is_some());
    }

    #[test]
    fn few_and_odd_samples_are_those_of_r() {
        for (xs, w, p) in [
            (&[1.0, 2.0, 4.0][..], 0.964_285_714_285_714_2, 0.636_886_845_028_963),
            (&[1.0, 2.0, 4.0, 8.0, 9.0], 0.900_963_269_334_728, 0.415_232_429_865_503),
            (&[1.0, 1.0, 1.0, 1.0, 9.0], 0.552_181_683_086_904, 0.000_130_978_175_851_881),
            (
                &[1.0, 1.0, 2.0, 50.0, 50.0, 51.0, 51.0],
                0.679_626_501_796_364,
                0.002_212_340_621_728,
            ),
        ] {
            let found = shapiro_wilk(xs).unwrap();
            assert!(
                (found.w - w).abs() < 1e-6 && (found.p / p - 1.0).abs() < 1e-4,
                "{xs:?} {found:?}"
            );
        }
        let twenty: Vec<f64> = (0..20).map(|i| f64::from(i).powf(1.7)).collect();
        let found = shapiro_wilk(&twenty).unwrap();
        assert!((found.w - 0.917_267_727_417).abs() < 1e-6 && (found.p - 0.087_794_4).abs() < 1e-5);
        // This W is too far from 1 for the formula for few values.
        assert_eq!(p_value(0.1, 0.9, 4), 1e-99);
    }
}
