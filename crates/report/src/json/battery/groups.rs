//! Classical tests of several series together, as JSON.

use crate::json::values::{NamedValues, view};
use assay_analysis::battery::{self as found, ChiSquaredTest, FTest};

view! {
    /// Tests of all series together that have values.
    GroupTests of (groups: &found::GroupTests) {
        /// The Kruskal-Wallis test. R: `kruskal.test`.
        kruskal_wallis: Option<KruskalWallis> = groups.kruskal_wallis.map(KruskalWallis::of),
        /// One-way analysis of variance, assuming equal variances. R: `oneway.test(var.equal =
        /// TRUE)`.
        anova_oneway: Option<VarianceRatio> = groups.anova_oneway.map(VarianceRatio::of),
        /// Welch's one-way analysis of variance. R: `oneway.test`.
        anova_welch: Option<VarianceRatio> = groups.anova_welch.map(VarianceRatio::of),
        /// Levene's test: analysis of variance of the distances from the medians. R: `leveneTest`
        /// of the package `car`.
        levene_median: Option<VarianceRatio> = groups.levene_median.map(VarianceRatio::of),
        /// The Fligner-Killeen test of variances. R: `fligner.test`.
        fligner_killeen: Option<FlignerKilleen> = groups.fligner_killeen.map(FlignerKilleen::of),
        /// Two-sided p-values of every pair, by both names separated by a bar. R:
        /// `pairwise.wilcox.test(exact = FALSE)`.
        pairwise_mann_whitney_asymptotic: Pairwise = Pairwise::of(&groups.pairwise),
    }
}

impl From<&found::GroupTests> for GroupTests {
    fn from(groups: &found::GroupTests) -> Self {
        Self::of(groups)
    }
}

view! {
    /// The Kruskal-Wallis test.
    KruskalWallis of (test: ChiSquaredTest) {
        /// The statistic.
        #[serde(rename = "H")]
        h: Option<f64> = Some(test.statistic),
        /// Degrees of freedom.
        df: Option<f64> = Some(test.df),
        /// The p-value.
        p: Option<f64> = Some(test.p),
    }
}

view! {
    /// The Fligner-Killeen test.
    FlignerKilleen of (test: ChiSquaredTest) {
        /// The statistic.
        #[serde(rename = "X2")]
        x2: Option<f64> = Some(test.statistic),
        /// Degrees of freedom.
        df: Option<f64> = Some(test.df),
        /// The p-value.
        p: Option<f64> = Some(test.p),
    }
}

view! {
    /// An F test of several groups.
    VarianceRatio of (test: FTest) {
        /// The statistic.
        #[serde(rename = "F")]
        f: Option<f64> = Some(test.f),
        /// Degrees of freedom of the numerator.
        df1: Option<f64> = Some(test.df1),
        /// Degrees of freedom of the denominator.
        df2: Option<f64> = Some(test.df2),
        /// The p-value.
        p: Option<f64> = Some(test.p),
    }
}

view! {
    /// p-values of all pairs.
    Pairwise of (all: &found::Pairwise) {
        /// Not adjusted.
        raw: NamedValues<Option<f64>> = named(all, &all.raw),
        /// Adjusted by Holm.
        holm: NamedValues<Option<f64>> = named(all, &all.holm),
        /// Adjusted by Benjamini and Hochberg.
        bh: NamedValues<Option<f64>> = named(all, &all.bh),
        /// Adjusted by Benjamini and Yekutieli.
        by: NamedValues<Option<f64>> = named(all, &all.by),
        /// Adjusted by Hochberg.
        hochberg: NamedValues<Option<f64>> = named(all, &all.hochberg),
        /// Adjusted by Bonferroni.
        bonferroni: NamedValues<Option<f64>> = named(all, &all.bonferroni),
    }
}

fn named(all: &found::Pairwise, p: &[f64]) -> NamedValues<Option<f64>> {
    let names = all.pairs.iter().map(|(first, second)| format!("{first}|{second}"));
    names.zip(p.iter().copied().map(Some)).collect()
}
