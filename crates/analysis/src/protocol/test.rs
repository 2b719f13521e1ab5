//! The third step: is there a difference? The Mann-Whitney test for samples recorded apart,
//! Wilcoxon's signed-rank test of the per-block differences for blocks, both two-sided and as R's
//! `wilcox.test` does them.
//!
//! The statistic W is R's: the number of pairs in which the subject's value is larger than the
//! reference's, ties counting half; for blocks V, the sum of the ranks of the positive differences.
//! Where values are correlated, z is divided by the factor by which that widens the distribution of
//! W (each side's share of its variance times its autocorrelation time). Several comparisons share
//! the significance by Holm's rule (1979).

use super::validity::{SeriesFound, Validity};
use super::{Protocol, Step, Values, found, status_of};
use assay_stats::normal;
use assay_stats::signed_rank::SignedRankTest;
use assay_stats::two_sample::RankSum;

/// Which test was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestName {
    /// Mann and Whitney, 1947; Wilcoxon's rank-sum test.
    MannWhitney,
    /// Wilcoxon, 1945.
    SignedRank,
}

/// What the test found.
#[derive(Clone, Debug, PartialEq)]
pub struct TestFound {
    /// Which test.
    pub name: TestName,
    /// W of R: pairs in which the subject's value is larger, ties counting half; V for blocks.
    pub statistic: f64,
    /// True when p is that of the exact distribution, false for the normal distribution with the
    /// corrections for ties and continuity.
    pub exact: bool,
    /// Two-sided p-value that takes the values for independent; 0 where it is smaller than any
    /// number, NaN when not defined.
    pub p: f64,
    /// log₁₀ of it, which does not underflow.
    pub log10_p: f64,
    /// log₁₀ of the p-value that decides: widened for dependence, else the same.
    pub log10_p_decisive: f64,
    /// True when the p-value that decides is below the level.
    pub rejects: bool,
}

pub(super) fn step(protocol: &Protocol, values: &Values, validity: &Validity) -> Step<TestFound> {
    let (name, ranked) = match &values.differences {
        Some(differences) => (TestName::SignedRank, signed_rank(&differences.in_order)),
        None => (TestName::MannWhitney, mann_whitney(&values.of.sorted, &values.against.sorted)),
    };
    let widening = if name == TestName::MannWhitney && validity.is_dependent() {
        widening(&validity.series)
    } else {
        1.0
    };
    let mut found = TestFound {
        name,
        statistic: ranked.statistic,
        exact: ranked.exact,
        p: ranked.p,
        log10_p: ranked.log10_p,
        log10_p_decisive: ranked.log10_p,
        rejects: false,
    };
    if widening > 1.0 && ranked.z.is_finite() {
        found.log10_p_decisive = two_sided_log10(ranked.z / widening).max(ranked.log10_p);
    }
    let mut step = Step::of(found, Vec::new());
    judge(&mut step, protocol.level);
    step
}

/// Reads off whether the test rejects at this level, and what is to be said of it.
fn judge(step: &mut Step<TestFound>, level: f64) {
    let Some(result) = &mut step.found else { return };
    result.rejects = result.log10_p_decisive < level.log10();
    let mut findings = Vec::new();
    if result.log10_p.is_nan() {
        findings.push(found::nothing_to_rank());
    } else if !result.rejects {
        findings.push(found::not_rejected(level, result.log10_p_decisive));
    }
    if result.log10_p_decisive > result.log10_p {
        findings.push(found::deflated(result.log10_p));
    }
    step.status = status_of(&findings);
    step.findings = findings;
}

/// Gives each chain its share of the significance: the smallest p-value is held against all of it
/// divided by their number, the next against that of one less, until one does not reject; the rest
/// are held against the same.
pub(super) fn share_alpha(chains: &mut [Protocol]) {
    let mut order: Vec<(f64, usize)> = chains
        .iter()
        .enumerate()
        .filter_map(|(i, chain)| Some((chain.test.found.as_ref()?.log10_p_decisive, i)))
        .collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut rejected = 0;
    for (log10_p, index) in order {
        let chain = &mut chains[index];
        let whole = super::alpha_of_a_look(chain.alpha, chain.looked_often);
        chain.level = whole / (chain.shared_by - rejected) as f64;
        judge(&mut chain.test, chain.level);
        rejected += usize::from(log10_p < chain.level.log10() && rejected + 1 < chain.shared_by);
    }
}

/// By how much dependence widens the distribution of the Mann-Whitney statistic: its variance is
/// made of both samples' shares, that of each in proportion to the size of the other.
fn widening(series: &[SeriesFound]) -> f64 {
    let [x, y] = series else { return 1.0 };
    let (n, m) = (x.n as f64, y.n as f64);
    ((m * x.autocorrelation_time + n * y.autocorrelation_time) / (n + m)).sqrt()
}

/// log₁₀ of the two-sided p-value of a normal deviate; NaN for NaN.
fn two_sided_log10(z: f64) -> f64 {
    let log10 = normal::log10_upper(z.abs()) + std::f64::consts::LOG10_2;
    if log10 > 0.0 { 0.0 } else { log10 }
}

/// A rank test of R's.
struct Ranked {
    statistic: f64,
    exact: bool,
    p: f64,
    log10_p: f64,
    /// The corrected normal deviate; NaN for constant values.
    z: f64,
}

/// Of samples in ascending order.
fn mann_whitney(of: &[f64], against: &[f64]) -> Ranked {
    let nothing =
        Ranked { statistic: f64::NAN, exact: false, p: f64::NAN, log10_p: f64::NAN, z: f64::NAN };
    let Some(ranks) = RankSum::of(against, of) else { return nothing };
    let z = ranks.z(true);
    match ranks.exact() {
        Some(exact) => Ranked::exact(ranks.u, exact.two, z),
        None => Ranked {
            statistic: ranks.u,
            exact: false,
            p: ranks.asymptotic(true).two,
            log10_p: ranks.log10_p_two(),
            z,
        },
    }
}

fn signed_rank(differences: &[f64]) -> Ranked {
    let test = SignedRankTest::of(differences);
    // A sum of no ranks is -0 otherwise.
    let z = test.z(true);
    match test.exact() {
        Some(exact) => Ranked::exact(test.v + 0.0, exact.two, z),
        None => Ranked {
            statistic: test.v + 0.0,
            exact: false,
            p: test.asymptotic(true).two,
            log10_p: two_sided_log10(z),
            z,
        },
    }
}

impl Ranked {
    fn exact(statistic: f64, p: f64, z: f64) -> Self {
        Self { statistic, exact: true, p, log10_p: p.log10(), z }
    }
}
