//! The third step: is there a difference? Uses the Mann-Whitney test for separate recordings and
//! Wilcoxon's signed-rank test of the per-block differences for blocks, both two-sided and as in
//! R's `wilcox.test`.
//!
//! The statistic W is R's: the number of pairs in which the subject's value is larger than the
//! reference's, ties counting half; for blocks V, the sum of the ranks of the positive differences.
//! If values are correlated, z is divided by the factor by which correlation widens the
//! distribution of W (each side's share of its variance times its autocorrelation time). Several
//! comparisons share the significance by Holm's rule (1979).

use super::validity::{SeriesFound, Validity};
use super::{Protocol, Step, Values, found, status_of};
use assay_stats::normal;
use assay_stats::signed_rank::SignedRankTest;
use assay_stats::two_sample::RankSum;

/// The rank test used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestName {
    /// The Mann-Whitney test (1947), also called Wilcoxon's rank-sum test.
    MannWhitney,
    /// Wilcoxon's signed-rank test (1945).
    SignedRank,
}

/// Results of the test.
#[derive(Clone, Debug, PartialEq)]
pub struct TestFound {
    /// The test used.
    pub name: TestName,
    /// R's W: the number of pairs in which the subject's value is larger, ties counting half. For
    /// blocks, R's V.
    pub statistic: f64,
    /// True if p is from the exact distribution, false if from the normal distribution with
    /// corrections for ties and continuity.
    pub exact: bool,
    /// Two-sided p-value that assumes independence; 0 if it underflows, NaN if undefined.
    pub p: f64,
    /// log₁₀ of `p`, which does not underflow.
    pub log10_p: f64,
    /// log₁₀ of the deciding p-value, which accounts for dependence, if any.
    pub log10_p_decisive: f64,
    /// True if the deciding p-value is below the level.
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

/// Determines whether the test rejects at this level, and which findings follow.
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

/// Assigns each chain its share of the significance. The smallest p-value is compared with the
/// significance divided by the number of chains, and each following one with a divisor one less,
/// until one does not reject. All later ones use that divisor.
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

/// Returns the factor by which dependence widens the distribution of the Mann-Whitney statistic.
/// The variance of the statistic is the sum of both samples' shares, each proportional to the size
/// of the other.
fn widening(series: &[SeriesFound]) -> f64 {
    let [x, y] = series else { return 1.0 };
    let (n, m) = (x.n as f64, y.n as f64);
    ((m * x.autocorrelation_time + n * y.autocorrelation_time) / (n + m)).sqrt()
}

/// Returns log₁₀ of the two-sided p-value of a normal deviate; NaN for NaN.
fn two_sided_log10(z: f64) -> f64 {
    let log10 = normal::log10_upper(z.abs()) + std::f64::consts::LOG10_2;
    if log10 > 0.0 { 0.0 } else { log10 }
}

/// The result of a rank test, computed as in R.
struct Ranked {
    statistic: f64,
    exact: bool,
    p: f64,
    log10_p: f64,
    /// The corrected normal deviate; NaN for constant values.
    z: f64,
}

/// Applies the Mann-Whitney test to samples in ascending order.
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
    // Adding 0.0 below turns the −0 of an empty sum of ranks into 0.
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
