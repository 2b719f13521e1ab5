//! Candidate distributions and how well each fits: by the largest distance between the distribution
//! functions, and by comparing skewness and kurtosis with those of known distributions (Cullen &
//! Frey, *Probabilistic Techniques in Exposure Assessment*, 1999). A fit illustrates the shape; no
//! verdict depends on it.

use super::numbers::{Descriptives, Tests};
use assay_stats::descriptive;

/// A family of distributions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DistributionKind {
    /// The normal distribution, fitted by mean and standard deviation.
    Normal,
    /// The lognormal distribution, fitted by mean and standard deviation of the logarithms.
    Lognormal,
    /// The exponential distribution, fitted by the mean.
    Exponential,
}

impl DistributionKind {
    /// Returns the word used in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Lognormal => "lognormal",
            Self::Exponential => "exponential",
        }
    }
}

/// A distribution with its best-fitting parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distribution {
    /// The family.
    pub kind: DistributionKind,
    /// Mean of the values (lognormal: of their logarithms).
    pub mean: f64,
    /// Standard deviation of the values (lognormal: of their logarithms; exponential: the mean).
    pub sd: f64,
    /// Largest distance between the distribution functions: at some point, this share of the values
    /// is on the wrong side.
    pub distance: f64,
}

pub(super) fn fitted(sorted: &[f64], tests: &Tests) -> Vec<Distribution> {
    let distribution = |kind, values: &[f64], distance| Distribution {
        kind,
        mean: descriptive::mean(values),
        sd: descriptive::standard_deviation(values),
        distance,
    };
    let varied = sorted.first() != sorted.last();
    let mut distributions = Vec::new();
    if let Some(found) = tests.normal.filter(|_| varied) {
        distributions.push(distribution(DistributionKind::Normal, sorted, found.d));
    }
    if let Some(found) = tests.lognormal.filter(|_| varied) {
        let logs: Vec<f64> = sorted.iter().map(|v| v.ln()).collect();
        distributions.push(distribution(DistributionKind::Lognormal, &logs, found.d));
    }
    if let Some(found) = tests.exponential.filter(|_| varied) {
        let mean = descriptive::mean(sorted);
        distributions.push(Distribution {
            kind: DistributionKind::Exponential,
            mean,
            sd: mean,
            distance: found.d,
        });
    }
    distributions
}

/// Skewness and excess kurtosis, with those of known distributions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tails {
    /// Skewness of the values, adjusted for bias.
    pub skewness: f64,
    /// Excess kurtosis of the values, adjusted for bias.
    pub kurtosis: f64,
    /// Excess kurtosis of a lognormal distribution with the same skewness (0 for zero skewness).
    pub lognormal_kurtosis: f64,
    /// Excess kurtosis of a gamma distribution with the same skewness.
    pub gamma_kurtosis: f64,
}

impl Tails {
    /// Compares the skewness and kurtosis of a sample; `None` for fewer than four values, or if all
    /// are equal.
    pub(super) fn of(d: &Descriptives) -> Option<Self> {
        let (skewness, kurtosis) = (d.skewness.adjusted, d.kurtosis_excess.adjusted);
        (skewness.is_finite() && kurtosis.is_finite()).then(|| Self {
            skewness,
            kurtosis,
            lognormal_kurtosis: lognormal_kurtosis(skewness),
            gamma_kurtosis: 1.5 * skewness * skewness,
        })
    }
}

/// Returns the excess kurtosis of a lognormal distribution with this skewness. With w = exp(σ²),
/// the skewness is (w + 2) √(w − 1) and the excess kurtosis is w⁴ + 2w³ + 3w² − 6.
fn lognormal_kurtosis(skewness: f64) -> f64 {
    let size = skewness.abs();
    // (w + 2)² (w − 1) = s² has one root above 1, below 1 + s^(2/3).
    let (mut low, mut high) = (0.0, size.powf(2.0 / 3.0).min(size * size));
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if (middle + 3.0) * middle.sqrt() < size {
            low = middle;
        } else {
            high = middle;
        }
    }
    let w = 1.0 + high;
    w.powi(4) + 2.0 * w.powi(3) + 3.0 * w * w - 6.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lognormal_of_sigma_one_has_its_known_kurtosis() {
        let w = 1f64.exp();
        let skewness = (w + 2.0) * (w - 1.0).sqrt();
        assert!((lognormal_kurtosis(skewness) - 110.936_392).abs() < 1e-4);
        assert!(lognormal_kurtosis(0.0).abs() < 1e-12);
    }
}
