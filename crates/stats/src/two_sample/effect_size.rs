//! Effect sizes: differences in standard deviations, and the probability that one sample exceeds
//! the other.
//!
//! Cohen's d (1988) divides the difference of the means by the pooled standard deviation, and
//! Glass' delta (1976) divides it by that of the reference alone. Hedges' g (1981) removes the bias
//! of d by the exact factor. Vargha and Delaney's A₁₂ and Cliff's delta count pairs and are
//! distribution-free.

use super::rank_sum::RankSum;
use crate::{descriptive, special, t_test};

/// Effect sizes of one difference, second sample against first. Those that divide by a standard
/// deviation are NaN if it is 0 or unknown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EffectSize {
    /// P(Y > X) + ½ P(Y = X), in 0..=1.
    pub a12: f64,
    /// P(Y > X) − P(Y < X) = 2 A₁₂ − 1, in −1..=1.
    pub cliffs_delta: f64,
    /// Difference of the means over the pooled standard deviation.
    pub cohen_d: f64,
    /// Cohen's d times Γ(v/2) / (√(v/2) Γ((v−1)/2)), where v = n + m − 2.
    pub hedges_g: f64,
    /// Difference of the means over the standard deviation of the first sample.
    pub glass_delta: f64,
}

/// Computes the effect sizes from the samples and their Mann-Whitney count. O(n + m).
#[must_use]
pub fn effect_size(x: &[f64], y: &[f64], ranks: &RankSum) -> EffectSize {
    let difference = t_test::mean_difference(x, y);
    let sd = t_test::pooled_sd(x, y).unwrap_or(f64::NAN);
    let cohen_d = difference / sd;
    let v = (x.len() + y.len()) as f64 - 2.0;
    let a12 = ranks.a12();
    EffectSize {
        a12,
        cliffs_delta: 2.0 * a12 - 1.0,
        cohen_d,
        hedges_g: cohen_d * unbiased(v),
        glass_delta: difference / descriptive::standard_deviation(x),
    }
}

/// Returns Hedges' factor for `v` degrees of freedom, or 0 for one degree of freedom.
fn unbiased(v: f64) -> f64 {
    if v <= 1.0 {
        return 0.0;
    }
    // Stirling's formula for both, with the large terms cancelled analytically.
    let a = v / 2.0;
    let errors = special::stirling_error(a) - special::stirling_error(a - 0.5);
    (errors - 0.5 - (a - 1.0) * (-0.5 / a).ln_1p()).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hedges_factor_is_near_its_usual_approximation() {
        for v in [2.0, 5.0, 18.0, 70_000.0] {
            let rough = 1.0 - 3.0 / (4.0 * v - 1.0);
            assert!((unbiased(v) - rough).abs() < 0.05 / (v * v), "{v}: {} {rough}", unbiased(v));
        }
    }

    #[test]
    fn sizes_follow_the_second_sample() {
        let (x, y) = ([1.0, 2.0, 3.0], [3.0, 4.0, 5.0]);
        let sizes = effect_size(&x, &y, &RankSum::of(&x, &y).unwrap());
        assert!((sizes.a12 - 8.5 / 9.0).abs() < 1e-15);
        assert_eq!((sizes.cohen_d, sizes.glass_delta), (2.0, 2.0));
        let constant =
            effect_size(&[5.0; 3], &[5.0; 3], &RankSum::of(&[5.0; 3], &[5.0; 3]).unwrap());
        assert!(constant.cohen_d.is_nan() && constant.cliffs_delta == 0.0);
    }

    #[test]
    fn sizes_of_samples_of_two_lengths_are_those_of_the_formulas() {
        // R: J = gamma(v/2) / (sqrt(v/2) gamma((v − 1)/2)) with v = 11.
        let x = [3.9, 4.1, 4.7, 5.3, 5.8, 6.2];
        let y = [5.1, 5.9, 6.1, 6.4, 7.2, 7.7, 8.0];
        let sizes = effect_size(&x, &y, &RankSum::of(&x, &y).unwrap());
        let near = |ours: f64, expected: f64| (ours / expected - 1.0).abs() < 1e-11;
        assert!(near(sizes.cohen_d, 1.640_978_956_263_774), "{sizes:?}");
        assert!(near(sizes.hedges_g, 1.526_044_478_341_311), "{sizes:?}");
        assert!(near(sizes.glass_delta, 1.760_232_069_037_548), "{sizes:?}");
        assert!(near(sizes.a12, 37.0 / 42.0) && near(sizes.cliffs_delta, 32.0 / 42.0), "{sizes:?}");
    }
}
