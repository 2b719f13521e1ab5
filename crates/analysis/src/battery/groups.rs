//! Tests for equal location and spread of all subjects together, and adjusted tests of every pair.

use assay_stats::k_sample::{self, ChiSquaredTest, FTest};
use assay_stats::{adjust, descriptive, two_sample::RankSum};

/// Results of the tests of all subjects that have values.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupTests {
    /// The Kruskal-Wallis test: R's `kruskal.test`.
    pub kruskal_wallis: Option<ChiSquaredTest>,
    /// Analysis of variance with equal variances: R's `oneway.test(var.equal = TRUE)`.
    pub anova_oneway: Option<FTest>,
    /// Welch's analysis of variance: R's `oneway.test`.
    pub anova_welch: Option<FTest>,
    /// Levene's test of equal variances, with distances from the group medians.
    pub levene_median: Option<FTest>,
    /// The Fligner-Killeen test of equal variances: R's `fligner.test`.
    pub fligner_killeen: Option<ChiSquaredTest>,
    /// Mann-Whitney tests of every pair: R's `pairwise.wilcox.test(exact = FALSE)`.
    pub pairwise: Pairwise,
}

/// Two-sided Mann-Whitney p-values for every pair, from the normal distribution with continuity
/// correction. A p-value is NaN if all values of a pair are equal; the adjustments ignore that
/// pair.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pairwise {
    /// Names of the two subjects of each pair, the earlier subject first.
    pub pairs: Vec<(String, String)>,
    /// Unadjusted p-values.
    pub raw: Vec<f64>,
    /// p-values adjusted by Holm's method.
    pub holm: Vec<f64>,
    /// p-values adjusted by Benjamini and Hochberg's method.
    pub bh: Vec<f64>,
    /// p-values adjusted by Benjamini and Yekutieli's method.
    pub by: Vec<f64>,
    /// p-values adjusted by Hochberg's method.
    pub hochberg: Vec<f64>,
    /// p-values adjusted by Bonferroni's method.
    pub bonferroni: Vec<f64>,
}

impl GroupTests {
    /// Tests all subjects that have values; `None` for fewer than two.
    pub(super) fn of(names: &[&str], values: &[Vec<f64>]) -> Option<Self> {
        let kept = names.iter().zip(values).filter(|(_, values)| !values.is_empty());
        let (names, groups): (Vec<&str>, Vec<&[f64]>) =
            kept.map(|(name, values)| (*name, values.as_slice())).unzip();
        if groups.len() < 2 {
            return None;
        }
        Some(Self {
            kruskal_wallis: k_sample::kruskal_wallis(&groups),
            anova_oneway: k_sample::anova(&groups),
            anova_welch: k_sample::welch_anova(&groups),
            levene_median: k_sample::levene_median(&groups),
            fligner_killeen: k_sample::fligner_killeen(&groups),
            pairwise: Pairwise::of(&names, &groups),
        })
    }
}

impl Pairwise {
    fn of(names: &[&str], groups: &[&[f64]]) -> Self {
        let sorted: Vec<Vec<f64>> = groups.iter().map(|g| descriptive::sorted(g)).collect();
        let mut found = Self::default();
        for first in 0..groups.len() {
            for second in first + 1..groups.len() {
                let test = RankSum::of(&sorted[first], &sorted[second]);
                found.raw.push(test.map_or(f64::NAN, |t| t.asymptotic(true).two));
                found.pairs.push((names[first].to_owned(), names[second].to_owned()));
            }
        }
        let known: Vec<f64> = found.raw.iter().copied().filter(|p| !p.is_nan()).collect();
        let spread = |adjusted: Vec<f64>| {
            let mut adjusted = adjusted.into_iter();
            let next = |p: &f64| if p.is_nan() { None } else { adjusted.next() };
            found.raw.iter().map(next).map(|p| p.unwrap_or(f64::NAN)).collect()
        };
        let holm = spread(adjust::holm(&known));
        let bh = spread(adjust::benjamini_hochberg(&known));
        let by = spread(adjust::benjamini_yekutieli(&known));
        let hochberg = spread(adjust::hochberg(&known));
        let bonferroni = spread(adjust::bonferroni(&known));
        Self { holm, bh, by, hochberg, bonferroni, ..found }
    }
}
