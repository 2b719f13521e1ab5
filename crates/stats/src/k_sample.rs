//! Tests for several groups: equal location, equal spread.
//!
//! Location is tested by Kruskal and Wallis' test (1952), the analysis of variance, and Welch's
//! variant of it without equal variances (1951); spread by Levene's test about medians (Brown and
//! Forsythe 1974) and Fligner and Killeen's test (1976, as modified by Conover, Johnson and Johnson
//! 1981). R: `kruskal.test`, `oneway.test`, `fligner.test`. Groups and their values are assumed
//! independent; pairwise tests show which groups differ.

use crate::t_test::mean_above;
use crate::{autocorrelation, chi_squared, descriptive, f_distribution, normal};

/// A statistic with a chi-squared distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChiSquaredTest {
    /// The statistic; NaN if all values are equal.
    pub statistic: f64,
    /// Degrees of freedom: groups − 1.
    pub df: f64,
    /// p-value: the upper tail.
    pub p: f64,
}

/// A statistic with an F distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FTest {
    /// The statistic; NaN or infinite if groups are constant.
    pub f: f64,
    /// Degrees of freedom of the numerator: groups − 1.
    pub df1: f64,
    /// Degrees of freedom of the denominator, not always whole.
    pub df2: f64,
    /// p-value: the upper tail.
    pub p: f64,
}

impl FTest {
    fn new(f: f64, df1: f64, df2: f64) -> FTest {
        FTest { f, df1, df2, p: f_distribution::upper(f, df1, df2) }
    }
}

fn chi_squared(statistic: f64, groups: usize) -> ChiSquaredTest {
    let df = groups as f64 - 1.0;
    ChiSquaredTest { statistic, df, p: chi_squared::upper(statistic, df) }
}

/// Numbers of groups and values; `None` unless there are at least two groups, none is empty, and
/// there are more values than groups.
fn sizes(groups: &[&[f64]]) -> Option<(f64, f64)> {
    let total: usize = groups.iter().map(|group| group.len()).sum();
    let fit = groups.len() > 1 && groups.iter().all(|g| !g.is_empty()) && total > groups.len();
    fit.then_some((groups.len() as f64, total as f64))
}

/// Splits a concatenated list into the groups.
fn split<'a>(all: &'a [f64], groups: &'a [&[f64]]) -> impl Iterator<Item = &'a [f64]> {
    let mut rest = all;
    groups.iter().map(move |group| {
        let (head, tail) = rest.split_at(group.len());
        rest = tail;
        head
    })
}

/// Kruskal and Wallis' H, corrected for ties. O(N log N).
///
/// Requires finite values, at least two groups, none of them empty, and more values than groups;
/// otherwise `None`.
#[must_use]
pub fn kruskal_wallis(groups: &[&[f64]]) -> Option<ChiSquaredTest> {
    let (_, total) = sizes(groups)?;
    let all = groups.concat();
    let ranks = autocorrelation::ranks(&all);
    let middle = (total + 1.0) / 2.0;
    let between: f64 = split(&ranks, groups)
        .map(|of_group| of_group.len() as f64 * mean_above(of_group, middle).powi(2))
        .sum();
    let ties: f64 = descriptive::sorted(&all)
        .chunk_by(|a, b| a == b)
        .map(|group| group.len() as f64)
        .map(|c| c * c * c - c)
        .sum();
    let left = 1.0 - ties / (total * total * total - total);
    Some(chi_squared(12.0 * between / (total * (total + 1.0)) / left, groups.len()))
}

/// The analysis of variance with one variance for all groups. O(N).
///
/// Requires finite values, at least two groups, none of them empty, and more values than groups;
/// otherwise `None`.
#[must_use]
pub fn anova(groups: &[&[f64]]) -> Option<FTest> {
    let (k, total) = sizes(groups)?;
    let origin = groups[0][0];
    let grand = groups.iter().map(|g| g.len() as f64 * mean_above(g, origin)).sum::<f64>() / total;
    let between: f64 =
        groups.iter().map(|g| g.len() as f64 * (mean_above(g, origin) - grand).powi(2)).sum();
    let within: f64 = groups
        .iter()
        .filter(|g| g.len() > 1)
        .map(|g| (g.len() - 1) as f64 * descriptive::variance(g))
        .sum();
    Some(FTest::new((between / (k - 1.0)) / (within / (total - k)), k - 1.0, total - k))
}

/// Welch's analysis of variance, with one variance per group. O(N).
///
/// Requires finite values and at least two groups with at least two values each; otherwise `None`.
#[must_use]
pub fn welch_anova(groups: &[&[f64]]) -> Option<FTest> {
    let (k, _) = sizes(groups)?;
    if groups.iter().any(|g| g.len() < 2) {
        return None;
    }
    let origin = groups[0][0];
    let weighed: Vec<(f64, f64, f64)> = groups
        .iter()
        .map(|g| {
            let n = g.len() as f64;
            (n, n / descriptive::variance(g), mean_above(g, origin))
        })
        .collect();
    let weight: f64 = weighed.iter().map(|(_, w, _)| w).sum();
    let grand = weighed.iter().map(|(_, w, mean)| w * mean).sum::<f64>() / weight;
    let between: f64 = weighed.iter().map(|(_, w, mean)| w * (mean - grand).powi(2)).sum();
    let unequal =
        weighed.iter().map(|(n, w, _)| (1.0 - w / weight).powi(2) / (n - 1.0)).sum::<f64>()
            / (k * k - 1.0);
    let f = between / ((k - 1.0) * (1.0 + 2.0 * (k - 2.0) * unequal));
    Some(FTest::new(f, k - 1.0, 1.0 / (3.0 * unequal)))
}

/// Levene's test of equal spread: the analysis of variance of the distances from the group's
/// median. O(N).
///
/// Requires finite values, at least two groups, none of them empty, and more values than groups;
/// otherwise `None`.
#[must_use]
pub fn levene_median(groups: &[&[f64]]) -> Option<FTest> {
    sizes(groups)?;
    let distances: Vec<Vec<f64>> = groups
        .iter()
        .map(|group| {
            let median = descriptive::median(group);
            group.iter().map(|x| (x - median).abs()).collect()
        })
        .collect();
    anova(&distances.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

/// Fligner and Killeen's test of equal spread: normal scores of the ranks of the distances from the
/// group's median. O(N log N).
///
/// Requires finite values, at least two groups, none of them empty, and more values than groups;
/// otherwise `None`.
#[must_use]
pub fn fligner_killeen(groups: &[&[f64]]) -> Option<ChiSquaredTest> {
    let (_, total) = sizes(groups)?;
    let distances: Vec<f64> = groups
        .iter()
        .flat_map(|group| {
            let median = descriptive::median(group);
            group.iter().map(move |x| (x - median).abs())
        })
        .collect();
    let scores: Vec<f64> = autocorrelation::ranks(&distances)
        .into_iter()
        .map(|rank| normal::quantile((1.0 + rank / (total + 1.0)) / 2.0))
        .collect();
    let mean = descriptive::mean(&scores);
    let between: f64 = split(&scores, groups)
        .map(|of_group| of_group.len() as f64 * mean_above(of_group, mean).powi(2))
        .sum();
    Some(chi_squared(between / descriptive::variance(&scores), groups.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::t_test;

    const A: [f64; 5] = [1.0, 2.5, 3.0, 4.25, 7.0];
    const B: [f64; 4] = [2.0, 6.0, 8.0, 9.5];

    #[test]
    fn two_groups_are_the_squares_of_the_two_sample_tests() {
        let groups: [&[f64]; 2] = [&A, &B];
        let (pooled, welch) = (t_test::pooled(&A, &B).unwrap(), t_test::welch(&A, &B).unwrap());
        let (equal, own) = (anova(&groups).unwrap(), welch_anova(&groups).unwrap());
        assert!(
            (equal.f - pooled.t.powi(2)).abs() < 1e-12 && (equal.p - pooled.p().two).abs() < 1e-12
        );
        assert!((own.f - welch.t.powi(2)).abs() < 1e-12 && (own.df2 - welch.df).abs() < 1e-10);
        let ranks = crate::two_sample::RankSum::of(&A, &B).unwrap();
        let h = kruskal_wallis(&groups).unwrap();
        assert!((h.statistic - ranks.z(false).powi(2)).abs() < 1e-12);
        assert!((h.p - ranks.asymptotic(false).two).abs() < 1e-12);
    }

    #[test]
    fn groups_that_lie_alike_show_no_difference() {
        let groups: [&[f64]; 3] = [&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0], &[2.0, 1.0, 3.0]];
        assert_eq!(kruskal_wallis(&groups).unwrap().p, 1.0);
        assert!(anova(&groups).unwrap().f < 1e-20);
        assert!(levene_median(&groups).unwrap().f < 1e-20);
        assert!(fligner_killeen(&groups).unwrap().statistic.abs() < 1e-12);
    }

    #[test]
    fn what_is_no_comparison_of_groups_has_no_answer() {
        let empty: [&[f64]; 2] = [&[], &[1.0, 2.0]];
        assert!(kruskal_wallis(&empty).is_none() && anova(&empty).is_none());
        assert!(levene_median(&[&A]).is_none() && fligner_killeen(&[]).is_none());
        assert!(welch_anova(&[&A, &[1.0]]).is_none());
        let constant: [&[f64]; 2] = [&[5.0; 3], &[5.0; 4]];
        assert!(kruskal_wallis(&constant).unwrap().p.is_nan());
        assert!(anova(&constant).unwrap().p.is_nan());
    }

    #[test]
    fn three_groups_are_those_of_r() {
        let groups: [&[f64]; 3] = [&A, &B, &[3.0, 3.0, 5.0, 11.0, 12.0, 4.0]];
        let near = |ours: f64, expected: f64| (ours / expected - 1.0).abs() < 1e-11;
        // R: oneway.test(v ~ g), with var.equal, and of the distances from the medians.
        let own = welch_anova(&groups).unwrap();
        assert!(
            near(own.f, 1.518_593_877_165_994) && near(own.p, 0.282_232_203_779_932),
            "{own:?}"
        );
        assert!(near(own.df1, 2.0) && near(own.df2, 7.128_900_695_214_1), "{own:?}");
        let equal = anova(&groups).unwrap();
        assert!(near(equal.f, 1.158_912_461_126_335) && near(equal.p, 0.346_597_312_431_75));
        let spread = levene_median(&groups).unwrap();
        assert!(near(spread.f, 0.491_873_548_848_008) && near(spread.p, 0.623_285_740_142_165));
        // R: kruskal.test, fligner.test.
        let ranks = kruskal_wallis(&groups).unwrap();
        assert!(
            near(ranks.statistic, 2.176_378_896_882_497) && near(ranks.p, 0.336_825_782_411_357)
        );
        let scores = fligner_killeen(&groups).unwrap();
        assert!(
            near(scores.statistic, 0.919_541_893_104_049) && near(scores.p, 0.631_428_259_764_145)
        );
        // A group of one value has a location but no spread.
        assert!(anova(&[&[1.0], &[2.0, 4.0]]).is_some_and(|found| near(found.f, 4.0 / 3.0)));
    }
}
