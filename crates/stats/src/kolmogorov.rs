//! The Kolmogorov-Smirnov test of one sample against a given distribution or one fitted to the
//! sample.
//!
//! As in R's `ks.test` (4.2), the exact distribution of D is used for fewer than 100 values without
//! ties (Marsaglia, Tsang & Wang, "Evaluating Kolmogorov's distribution", Journal of Statistical
//! Software 8, 2003), and the limit distribution otherwise, with R's error of 1e-6, so that results
//! equal R's. For a distribution that was *fitted* to the same sample the p-value is too large
//! ("naive"); for the normal distribution, [`crate::normality`] has Lilliefors' correction.

use crate::{descriptive, normal};

/// Number of values from which the limit distribution is used.
const EXACT_BELOW: usize = 100;

/// The largest distance between the sample and the distribution, with its p-value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distance {
    /// D in 0..=1.
    pub d: f64,
    /// p-value, as if the distribution had been known beforehand.
    pub p_naive: f64,
}

/// Distance from the normal distribution with the sample's mean and standard deviation.
///
/// `sorted`: ascending, finite. `None` for fewer than two values. If all values are equal, D is 1,
/// the maximum. O(n), or O(n³ log n) for fewer than 100 values.
#[must_use]
pub fn against_normal(sorted: &[f64]) -> Option<Distance> {
    let first = *sorted.first()?;
    let offsets: Vec<f64> = sorted.iter().map(|x| x - first).collect();
    let (mean, sd) = (descriptive::mean(&offsets), descriptive::standard_deviation(&offsets));
    let distribution = |x: f64| {
        // A standard deviation of 0 puts all weight at the mean.
        if sd > 0.0 { normal::cdf((x - mean) / sd) } else { f64::from(u8::from(x >= mean)) }
    };
    (sorted.len() > 1).then(|| of(&offsets, distribution))
}

/// Distance from the lognormal distribution fitted by mean and standard deviation of the
/// logarithms. `None` if a value is not positive, or if there are fewer than two values. Otherwise
/// like [`against_normal`].
#[must_use]
pub fn against_lognormal(sorted: &[f64]) -> Option<Distance> {
    if !sorted.first().is_some_and(|x| *x > 0.0) {
        return None;
    }
    against_normal(&sorted.iter().map(|x| x.ln()).collect::<Vec<_>>())
}

/// Distance from the exponential distribution with the sample's mean. `None` if a value is not
/// positive. Otherwise like [`against_normal`].
#[must_use]
pub fn against_exponential(sorted: &[f64]) -> Option<Distance> {
    let positive = sorted.first().is_some_and(|x| *x > 0.0);
    let mean = descriptive::mean(sorted);
    positive.then(|| of(sorted, |x| -(-x / mean).exp_m1()))
}

fn of(sorted: &[f64], distribution: impl Fn(f64) -> f64) -> Distance {
    let d = largest_distance(sorted, distribution);
    let tied = sorted.windows(2).any(|pair| pair[0] == pair[1]);
    let n = sorted.len();
    let p_naive = if n < EXACT_BELOW && !tied {
        1.0 - exact_cdf(d, n)
    } else {
        limit_upper(d * (n as f64).sqrt())
    };
    Distance { d, p_naive: p_naive.clamp(0.0, 1.0) }
}

/// The largest distance between the sample's distribution function and a distribution, on either
/// side of every step. `sorted`: ascending; `distribution`: a nondecreasing distribution function.
///
/// In long samples, whole blocks are skipped if the distribution at their two ends shows that no
/// value in between can be farther away: O(n), with few evaluations of the distribution.
pub(crate) fn largest_distance(sorted: &[f64], distribution: impl Fn(f64) -> f64) -> f64 {
    const BLOCK: usize = 256;
    let n = sorted.len() as f64;
    // The sample's distribution steps from i to i + 1 (in units of 1/n) at value i.
    let within = |begin: usize, end: usize, most: f64| {
        let distances = (begin..end).map(|i| {
            let at = distribution(sorted[i]);
            ((i + 1) as f64 / n - at).max(at - i as f64 / n)
        });
        distances.fold(most, f64::max)
    };
    let ends = |begin: usize| (begin, (begin + BLOCK).min(sorted.len()));
    let blocks: Vec<(usize, usize, f64)> = (0..sorted.len())
        .step_by(BLOCK)
        .map(ends)
        .map(|(begin, end)| {
            let (low, high) = (distribution(sorted[begin]), distribution(sorted[end - 1]));
            (begin, end, (end as f64 / n - low).max(high - begin as f64 / n))
        })
        .collect();
    let mut order: Vec<&(usize, usize, f64)> = blocks.iter().collect();
    order.sort_by(|a, b| b.2.total_cmp(&a.2));
    let mut most = 0.0;
    for &&(begin, end, bound) in &order {
        if bound <= most {
            break;
        }
        most = within(begin, end, most);
    }
    most
}

/// P(√n D > x) for large n, as in `ks.test`: 2 Σ (−1)^(k−1) exp(−2 k² x²), or the theta-function
/// form below 1.
///
/// In 0..=1; NaN for NaN. Both series end where R ends them, at an error of about 1e-6, and the
/// result is the complement of a sum near 1, so it is 0 below 1e-15.
#[must_use]
pub fn limit_upper(x: f64) -> f64 {
    use std::f64::consts::{PI, TAU};
    /// Terms smaller than this are omitted.
    const ENOUGH: f64 = 1e-6;
    if x.is_nan() {
        return f64::NAN;
    }
    if x <= 0.0 {
        return 1.0;
    }
    let within = if x < 1.0 {
        // Below 1 only the first term of exp(−(2k − 1)² π² / (8 x²)) matters.
        TAU.sqrt() * (-PI * PI / (8.0 * x * x) - x.ln()).exp()
    } else {
        let (mut sum, mut sign, mut k) = (1.0, -2.0, 1.0);
        loop {
            let term: f64 = sign * (-2.0 * x * x * k * k).exp();
            sum += term;
            if term.abs() <= ENOUGH {
                break sum;
            }
            sign = -sign;
            k += 1.0;
        }
    };
    (1.0 - within).clamp(0.0, 1.0)
}

/// P(D ≤ d) for n values of a continuous distribution, exact to about 1e-13. O(n³ log n) at worst.
#[must_use]
pub fn exact_cdf(d: f64, n: usize) -> f64 {
    if d <= 0.0 || n == 0 {
        return 0.0;
    }
    if d >= 1.0 {
        return 1.0;
    }
    let k = (n as f64 * d) as usize + 1;
    let size = 2 * k - 1;
    let h = k as f64 - n as f64 * d;
    let mut matrix = vec![0.0; size * size];
    for i in 0..size {
        for j in 0..size.min(i + 2) {
            matrix[i * size + j] = 1.0;
        }
    }
    for i in 0..size {
        matrix[i * size] -= h.powi(i as i32 + 1);
        matrix[(size - 1) * size + i] -= h.powi((size - i) as i32);
    }
    if 2.0 * h > 1.0 {
        matrix[(size - 1) * size] += (2.0 * h - 1.0).powi(size as i32);
    }
    for i in 0..size {
        for j in 0..size.min(i + 1) {
            for divisor in 2..=(i - j + 1) {
                matrix[i * size + j] /= divisor as f64;
            }
        }
    }
    let (power, mut exponent) = raised(&matrix, size, n);
    let mut probability = power[(k - 1) * size + k - 1];
    for i in 1..=n {
        probability *= i as f64 / n as f64;
        if probability < 1e-140 {
            probability *= 1e140;
            exponent -= 140;
        }
    }
    probability * 10f64.powi(exponent)
}

/// The matrix to the power n, and a separate power of ten.
fn raised(matrix: &[f64], size: usize, n: usize) -> (Vec<f64>, i32) {
    if n == 1 {
        return (matrix.to_vec(), 0);
    }
    let (half, exponent) = raised(matrix, size, n / 2);
    let mut power = product(&half, &half, size);
    let mut exponent = 2 * exponent;
    if n % 2 == 1 {
        power = product(matrix, &power, size);
    }
    if power[(size / 2) * size + size / 2] > 1e140 {
        power.iter_mut().for_each(|v| *v *= 1e-140);
        exponent += 140;
    }
    (power, exponent)
}

fn product(a: &[f64], b: &[f64], size: usize) -> Vec<f64> {
    let mut out = vec![0.0; size * size];
    for i in 0..size {
        let row = &mut out[i * size..(i + 1) * size];
        for (j, &left) in a[i * size..(i + 1) * size].iter().enumerate() {
            if left != 0.0 {
                let other = &b[j * size..(j + 1) * size];
                row.iter_mut().zip(other).for_each(|(sum, right)| *sum += left * right);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exact_distribution_agrees_with_published_values_and_with_the_limit() {
        // From the paper: P(D ≤ 0.274) for 10 values.
        assert!((exact_cdf(0.274, 10) - 0.628_479_615_46).abs() < 1e-10);
        // One value: D is at least ½, uniform above.
        assert!((exact_cdf(0.75, 1) - 0.5).abs() < 1e-15);
        let (exact, limit) = (1.0 - exact_cdf(0.13, 99), limit_upper(0.13 * 99f64.sqrt()));
        assert!((exact - limit).abs() < 0.02, "{exact} {limit}");
    }

    #[test]
    fn both_series_of_the_limit_meet_at_one() {
        assert!((limit_upper(1.0 - 1e-12) - limit_upper(1.0)).abs() < 1e-4);
        assert_eq!((limit_upper(0.0), limit_upper(40.0)), (1.0, 0.0));
        assert!(limit_upper(f64::NAN).is_nan());
    }

    #[test]
    fn passing_over_blocks_changes_nothing() {
        let xs: Vec<f64> = (0..5000).map(|i| (f64::from(i) / 5000.0).powi(2)).collect();
        let n = xs.len() as f64;
        let plain =
            xs.iter().enumerate().map(|(i, x)| ((i + 1) as f64 / n - x).max(x - i as f64 / n));
        assert_eq!(largest_distance(&xs, |x| x), plain.fold(0.0, f64::max));
    }

    #[test]
    fn distances_are_those_from_the_distribution_that_is_named() {
        let xs = [0.2, 0.5, 1.1, 1.9, 2.0, 3.4];
        let logarithms: Vec<f64> = xs.iter().map(|x: &f64| x.ln()).collect();
        assert_eq!(against_lognormal(&xs), against_normal(&logarithms));
        assert!(against_lognormal(&xs).is_some());
        // A single value is its own mean, at which the exponential distribution function is 1 −
        // 1/e.
        let found = against_exponential(&[3.0]).unwrap();
        assert!((found.d - (1.0 - (-1.0_f64).exp())).abs() < 1e-15, "{found:?}");
        assert_eq!(against_exponential(&[0.0, 1.0]), None);
        assert!(against_exponential(&[1e-300, 1.0]).is_some());
    }

    #[test]
    fn equal_values_are_as_far_from_a_normal_distribution_as_can_be() {
        assert_eq!(against_normal(&[5.0; 10]).unwrap().d, 1.0);
        assert_eq!(against_normal(&[5.0]), None);
        assert_eq!(against_lognormal(&[0.0, 1.0]), None);
        assert_eq!(against_exponential(&[]), None);
    }

    #[test]
    fn the_exact_distribution_is_that_of_r() {
        // R: C_pKolmogorov2x; n! / nⁿ is below 10⁻¹⁴⁰ for 400 values.
        for (d, n, expected) in [
            (0.18, 20, 0.518_724_050_172_122),
            (0.3, 20, 0.956_932_933_341_482),
            (0.12, 99, 0.893_669_077_324_611),
            (0.04, 400, 0.469_109_726_253_846),
            (0.07, 400, 0.962_208_852_077_863),
        ] {
            let found = exact_cdf(d, n);
            assert!((found - expected).abs() < 1e-11, "{d} {n}: {found}");
        }
        assert_eq!((exact_cdf(1.0, 5), exact_cdf(0.0, 5)), (1.0, 0.0));
    }

    #[test]
    fn a_distance_above_the_distribution_is_found_in_any_block() {
        let xs: Vec<f64> = (0..5000).map(|i| (f64::from(i) / 5000.0).sqrt()).collect();
        let n = xs.len() as f64;
        let plain =
            xs.iter().enumerate().map(|(i, x)| ((i + 1) as f64 / n - x).max(x - i as f64 / n));
        assert_eq!(largest_distance(&xs, |x| x), plain.fold(0.0, f64::max));
    }

    #[test]
    fn of_two_values_the_distribution_has_a_closed_form() {
        // From ½ on, the probability is 1 − 2 (1 − d)².
        for d in [0.55, 0.6, 0.75, 0.95] {
            let expected = 1.0 - 2.0 * (1.0 - d) * (1.0 - d);
            assert!((exact_cdf(d, 2) - expected).abs() < 1e-14, "{d}");
        }
    }
}
