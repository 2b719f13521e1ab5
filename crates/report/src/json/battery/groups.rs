//! Classical tests of several series together, as JSON.

use crate::json::values::{NamedValues, view};
use assay_analysis::battery::{self as found, ChiSquaredTest, FTest};

view! {
    /// Tests of all series together that have values.
    GroupTests of (groups: &found::GroupTests) {
        /// The Kruskal-Wallis test. R: `kruskal.test`.
        kruskal_wallis: Option<KruskalWallis>,
        /// One-way analysis of variance, assuming equal variances. R: `oneway.test(var.equal =
        /// TRUE)`.
        anova_oneway: Option<VarianceRatio>,
        /// Welch's one-way analysis of variance. R: `oneway.test`.
        anova_welch: Option<VarianceRatio>,
        /// Levene's test: analysis of variance of the distances from the medians. R: `leveneTest`
        /// of the package `car`.
        levene_median: Option<VarianceRatio>,
        /// The Fligner-Killeen test of variances. R: `fligner.test`.
        fligner_killeen: Option<FlignerKilleen>,
        /// Two-sided p-values of every pair, by both names separated by a bar. R:
        /// `pairwise.wilcox.test(exact = FALSE)`.
        pairwise_mann_whitney_asymptotic: Pairwise => groups.pairwise,
    }
}

view! {
    /// The Kruskal-Wallis test.
    KruskalWallis of (test: &ChiSquaredTest) {
        /// The Kruskal-Wallis statistic.
        #[serde(rename = "H")]
        h: Option<f64> => test.statistic,
        /// Degrees of freedom.
        df: Option<f64>,
        /// The p-value.
        p: Option<f64>,
    }
}

view! {
    /// The Fligner-Killeen test.
    FlignerKilleen of (test: &ChiSquaredTest) {
        /// The Fligner-Killeen statistic.
        #[serde(rename = "X2")]
        x2: Option<f64> => test.statistic,
        /// Degrees of freedom.
        df: Option<f64>,
        /// The p-value.
        p: Option<f64>,
    }
}

view! {
    /// An F test of several groups.
    VarianceRatio of (test: &FTest) {
        /// The F statistic.
        #[serde(rename = "F")]
        f: Option<f64>,
        /// Degrees of freedom of the numerator.
        df1: Option<f64>,
        /// Degrees of freedom of the denominator.
        df2: Option<f64>,
        /// The p-value.
        p: Option<f64>,
    }
}

view! {
    /// p-values of all pairs, unadjusted and adjusted.
    Pairwise of (all: &found::Pairwise) {
        /// Unadjusted.
        raw: NamedValues<Option<f64>> = named(all, &all.raw),
        /// Adjusted by Holm's method.
        holm: NamedValues<Option<f64>> = named(all, &all.holm),
        /// Adjusted by the method of Benjamini and Hochberg.
        bh: NamedValues<Option<f64>> = named(all, &all.bh),
        /// Adjusted by the method of Benjamini and Yekutieli.
        by: NamedValues<Option<f64>> = named(all, &all.by),
        /// Adjusted by Hochberg's method.
        hochberg: NamedValues<Option<f64>> = named(all, &all.hochberg),
        /// Adjusted by Bonferroni's method.
        bonferroni: NamedValues<Option<f64>> = named(all, &all.bonferroni),
    }
}

fn named(all: &found::Pairwise, p: &[f64]) -> NamedValues<Option<f64>> {
    let names = all.pairs.iter().map(|(first, second)| format!("{first}|{second}"));
    names.zip(p.iter().copied().map(Some)).collect()
}
