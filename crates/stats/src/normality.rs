//! Two further tests of normality with estimated mean and standard deviation. Anderson and
//! Darling's test emphasizes the tails; Lilliefors' test uses the largest distance between the
//! distribution functions.
//!
//! The p-values of the first are Stephens' approximation (D'Agostino & Stephens, *Goodness-of-Fit
//! Techniques*, 1986, table 4.9). Those of the second are Dallal and Wilkinson's formula (American
//! Statistician 40, 1986), or Stephens' modified statistic if that formula gives more than 0.1. R's
//! package `nortest` (`ad.test`, `lillie.test`) makes the same choices. With very many values, both
//! tests detect even negligible deviations.

use crate::{descriptive, kolmogorov, normal};

/// Result of a normality test: a statistic and its p-value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// The test statistic: A² (Anderson-Darling) or D (Lilliefors).
    pub statistic: f64,
    /// p-value under the hypothesis that the values are normally distributed.
    pub p: f64,
}

/// Performs the Anderson-Darling test of normality. `sorted` must be ascending and finite. Returns
/// `None` for fewer than 8 values, or if all are equal. O(n).
#[must_use]
pub fn anderson_darling(sorted: &[f64]) -> Option<Fit> {
    anderson_darling_of(&standardized(sorted)?)
}

/// Performs the tests [`anderson_darling`] and [`lilliefors`] together. For long samples this saves
/// time, since both start by standardizing the values.
#[must_use]
pub fn anderson_darling_and_lilliefors(sorted: &[f64]) -> (Option<Fit>, Option<Fit>) {
    standardized(sorted).map_or((None, None), |z| (anderson_darling_of(&z), lilliefors_of(&z)))
}

/// The Anderson-Darling test of standardized values.
fn anderson_darling_of(z: &[f64]) -> Option<Fit> {
    const FEWEST: usize = 8;
    if z.len() < FEWEST {
        return None;
    }
    let n = z.len() as f64;
    // Every value occurs twice in the sum, once with its lower and once with its upper tail, so
    // both terms are computed together.
    let term = |(i, z): (usize, &f64)| {
        let (below, above) = ln_tails(*z);
        (2.0 * i as f64 + 1.0) * below + (2.0 * (n - i as f64) - 1.0) * above
    };
    let sum: f64 = z.iter().enumerate().map(term).sum();
    let statistic = -n - sum / n;
    let a = (1.0 + 0.75 / n + 2.25 / (n * n)) * statistic;
    let p = if a < 0.2 {
        1.0 - (-13.436 + 101.14 * a - 223.73 * a * a).exp()
    } else if a < 0.34 {
        1.0 - (-8.318 + 42.796 * a - 59.938 * a * a).exp()
    } else if a < 0.6 {
        (0.9177 - 4.279 * a - 1.38 * a * a).exp()
    } else if a < 10.0 {
        (1.2937 - 5.709 * a + 0.0186 * a * a).exp()
    } else {
        // The fitted formula reaches its minimum near a = 10 and would increase beyond it, so the
        // p-value is held constant.
        3.7e-24
    };
    Some(Fit { statistic, p })
}

/// ln Φ(x) and ln(1 − Φ(x)), even if one of them underflows.
fn ln_tails(x: f64) -> (f64, f64) {
    const TAIL_FROM: f64 = 30.0;
    let far = x.abs();
    let (small, large) = if far > TAIL_FROM {
        (normal::log10_upper(far) * std::f64::consts::LN_10, 0.0)
    } else {
        let tail = normal::cdf(-far);
        (tail.ln(), (-tail).ln_1p())
    };
    if x < 0.0 { (small, large) } else { (large, small) }
}

/// Performs the Lilliefors test of normality. `sorted` must be ascending and finite. Returns `None`
/// for fewer than 5 values, or if all are equal. O(n).
#[must_use]
pub fn lilliefors(sorted: &[f64]) -> Option<Fit> {
    lilliefors_of(&standardized(sorted)?)
}

/// The Lilliefors test of standardized values.
fn lilliefors_of(z: &[f64]) -> Option<Fit> {
    const FEWEST: usize = 5;
    if z.len() < FEWEST {
        return None;
    }
    let statistic = kolmogorov::largest_distance(z, normal::cdf);
    let n = z.len() as f64;
    let p = dallal_wilkinson(statistic, n);
    Some(Fit { statistic, p: if p > 0.1 { modified(statistic, n) } else { p } })
}

fn dallal_wilkinson(d: f64, n: f64) -> f64 {
    let (d, n) = if n > 100.0 { (d * (n / 100.0).powf(0.49), 100.0) } else { (d, n) };
    let shifted = n + 2.780_19;
    (-7.012_56 * d * d * shifted + 2.995_87 * d * shifted.sqrt() - 0.122_119
        + 0.974_598 / n.sqrt()
        + 1.679_97 / n)
        .exp()
}

/// The p-value from the modified statistic, by piecewise polynomials.
fn modified(d: f64, n: f64) -> f64 {
    const PIECES: [(f64, [f64; 5]); 4] = [
        (0.302, [1.0, 0.0, 0.0, 0.0, 0.0]),
        (0.5, [2.767_73, -19.828_315, 80.709_644, -138.551_52, 81.218_052]),
        (0.9, [-4.901_232, 40.662_806, -97.490_286, 94.029_866, -32.355_711]),
        (1.31, [6.198_765, -19.558_097, 23.186_922, -12.234_627, 2.423_045]),
    ];
    let k = (n.sqrt() - 0.01 + 0.85 / n.sqrt()) * d;
    let piece = PIECES.iter().find(|(up_to, _)| k <= *up_to);
    piece.map_or(0.0, |(_, c)| c.iter().rev().fold(0.0, |sum, c| sum * k + c))
}

/// The values minus their mean, divided by their standard deviation; `None` if they do not vary.
fn standardized(sorted: &[f64]) -> Option<Vec<f64>> {
    let (first, last) = (*sorted.first()?, *sorted.last()?);
    // The first value is subtracted before averaging, since the sum of the raw values may overflow.
    let offsets: Vec<f64> = sorted.iter().map(|x| x - first).collect();
    let (mean, sd) = (descriptive::mean(&offsets), descriptive::standard_deviation(&offsets));
    (last > first && sd > 0.0).then(|| offsets.iter().map(|x| (x - mean) / sd).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scores(n: u32) -> Vec<f64> {
        (0..n).map(|i| normal::quantile((f64::from(i) + 0.5) / f64::from(n))).collect()
    }

    #[test]
    fn normal_scores_pass_and_an_exponential_does_not() {
        let normal = scores(60);
        assert!(anderson_darling(&normal).unwrap().p > 0.9);
        assert!(lilliefors(&normal).unwrap().p > 0.9);
        let both = (anderson_darling(&normal), lilliefors(&normal));
        assert_eq!(anderson_darling_and_lilliefors(&normal), both);
        let skewed: Vec<f64> = (0..60).map(|i| -((f64::from(60 - i) - 0.5) / 60.0).ln()).collect();
        assert!(anderson_darling(&skewed).unwrap().p < 1e-3);
        assert!(lilliefors(&skewed).unwrap().p < 0.02);
    }

    #[test]
    fn a_value_a_thousand_sds_away_gives_a_number() {
        let mut xs = scores(2_000_000 / 1000);
        xs.push(1e9);
        let found = anderson_darling(&xs).unwrap();
        assert!(found.statistic.is_finite() && found.p < 1e-20, "{found:?}");
    }

    #[test]
    fn too_few_or_equal_values_have_no_answer() {
        assert_eq!(anderson_darling(&scores(7)), None);
        assert_eq!(lilliefors(&scores(4)), None);
        assert_eq!(anderson_darling(&[2.0; 20]), None);
        assert_eq!(lilliefors(&[2.0; 20]), None);
        assert_eq!(lilliefors(&[]), None);
    }

    /// R's package `nortest`: statistics and p-values of i^e for i = 0, 1, …, n − 1, covering every
    /// piece of both formulas.
    #[test]
    fn powers_have_the_p_values_of_nortest() {
        let near = |ours: f64, expected: f64| (ours / expected - 1.0).abs() < 1e-9;
        for (n, e, anderson, a_p, distance, d_p) in [
            (
                12,
                1.2,
                0.191_226_172_337_479_74,
                0.870_303_072_799,
                0.104_910_520_469_1,
                0.972_347_874_127_3,
            ),
            (
                12,
                1.6,
                0.313_801_792_766_250_6,
                0.503_311_170_992_4,
                0.135_733_915_266_5,
                0.783_754_069_274_5,
            ),
            (
                20,
                2.0,
                0.712_048_783_029_718_6,
                0.053_054_690_968_504_93,
                0.145_317_153_518_42,
                0.326_565_688_264_7,
            ),
            (
                30,
                2.6,
                1.601_878_133_455_877,
                0.000_318_297_477_700_976_1,
                0.176_906_142_241_52,
                0.017_459_887_139_53,
            ),
            (
                101,
                2.0,
                3.418_855_772_272_025,
                1.306_870_719_712_886e-8,
                0.134_287_221_949_32,
                0.000_119_279_401_826,
            ),
            (
                150,
                1.5,
                2.993_886_346_964_7,
                1.493_245_704_955_271e-7,
                0.093_239_238_111_508,
                0.002_804_610_057_403,
            ),
        ] {
            let xs: Vec<f64> = (0..n).map(|i| f64::from(i).powf(e)).collect();
            let (found, other) = (anderson_darling(&xs).unwrap(), lilliefors(&xs).unwrap());
            assert!(near(found.statistic, anderson) && near(found.p, a_p), "{n} {e} {found:?}");
            assert!(near(other.statistic, distance) && near(other.p, d_p), "{n} {e} {other:?}");
        }
        // Lilliefors' test accepts five values; Anderson and Darling's does not.
        let few = lilliefors(&[1.0, 2.0, 4.0, 7.0, 15.0]).unwrap();
        assert!(
            near(few.statistic, 0.225_402_186_444_3) && near(few.p, 0.551_625_021_375),
            "{few:?}"
        );
    }
}
