//! How the numbers of a page came about, in sentences that one may copy into a paper, and the sources of what was used: of that
//! alone.

use super::confidence;
use assay_analysis::Analysis;
use assay_analysis::figures::Figures;
use assay_data::{Design, StopRule};

const BLOCKS: &str = "Wilcoxon, F. (1945). Individual comparisons by ranking methods. Biometrics Bulletin 1(6), 80–83.";
const HODGES_LEHMANN: &str = "Hodges, J. L. and Lehmann, E. L. (1963). Estimates of location based on rank tests. Annals of Mathematical Statistics 34(2), 598–611.";
const MANN_WHITNEY: &str = "Mann, H. B. and Whitney, D. R. (1947). On a test of whether one of two random variables is stochastically larger than the other. Annals of Mathematical Statistics 18(1), 50–60.";
const FLIGNER: &str = "Fligner, M. A. and Policello, G. E. (1981). Robust rank procedures for the Behrens-Fisher problem. Journal of the American Statistical Association 76(373), 162–168.";
const GEYER: &str =
    "Geyer, C. J. (1992). Practical Markov chain Monte Carlo. Statistical Science 7(4), 473–483.";
const HOLM: &str = "Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6(2), 65–70.";
const SILVERMAN: &str = "Silverman, B. W. (1986). Density estimation for statistics and data analysis. Chapman and Hall.";
const EFRON: &str = "Efron, B. (1979). Bootstrap methods: another look at the jackknife. Annals of Statistics 7(1), 1–26.";
const BCA: &str = "Efron, B. (1987). Better bootstrap confidence intervals. Journal of the American Statistical Association 82(397), 171–185.";
const ZOU: &str = "Zou, G. Y. and Donner, A. (2008). Construction of confidence limits about effect measures: a general approach. Statistics in Medicine 27(10), 1693–1702.";

/// Fewer values on a side are compared by the exact law.
const EXACT_BELOW: usize = 10;

fn is_exact(analysis: &Analysis) -> bool {
    analysis.comparisons.iter().any(|c| c.counts.0.min(c.counts.1) < EXACT_BELOW)
}

/// The paragraphs.
pub(super) fn told(analysis: &Analysis, figures: &Figures) -> Vec<String> {
    let mut told = vec![taken(analysis)];
    if !analysis.comparisons.is_empty() {
        told.push(decided(analysis));
    }
    let sure = confidence(analysis);
    let mut shown = format!(
        "Medians have {sure} intervals from order statistics, widened where successive values depend on each other (autocorrelation \
         time of the ranks; Geyer 1992)."
    );
    if figures.subjects.iter().any(|s| !s.shape.density.is_empty()) {
        shown += " Densities are normal-kernel estimates (Silverman 1986).";
    }
    if let Some(r) = figures.subjects.iter().find_map(|s| s.deviation.as_ref()) {
        shown += &format!(
            " Standard deviations were resampled {} times from a recorded seed (Efron 1979), with BCa intervals (Efron 1987).",
            r.resamples
        );
    }
    if figures.between.iter().any(|b| !b.quantiles.is_empty()) {
        shown += " Quantiles were compared by order statistics (Zou and Donner 2008).";
    }
    shown += " No value was removed.";
    told.push(shown);
    told
}

fn taken(analysis: &Analysis) -> String {
    let seed = format!("seed {}", analysis.plan.seed);
    match (analysis.design, analysis.blocks) {
        (Design::Blocks, Some(blocks)) if analysis.subjects.len() > 1 => {
            let stopped = match analysis.plan.stop {
                StopRule::Sequential { look_level, .. } => format!(
                    "The differences were looked at after every block, each time at level {look_level}, so that the intervals hold \
                     whenever measuring stopped."
                ),
                StopRule::Fixed { .. } => {
                    "The number of blocks was fixed beforehand.".to_owned()
                }
            };
            format!(
                "The {} subjects were measured in {blocks} blocks, each once per block, in an order drawn anew for every block \
                 ({seed}). {stopped}",
                analysis.subjects.len()
            )
        }
        (Design::Blocks, Some(blocks)) => format!("One subject was measured {blocks} times."),
        _ if analysis.subjects.len() > 1 => {
            "The samples were recorded apart; what changed between the recordings is in their difference.".to_owned()
        }
        _ => "The sample was recorded and is described here.".to_owned(),
    }
}

fn decided(analysis: &Analysis) -> String {
    let sure = confidence(analysis);
    let several = if analysis.comparisons.len() > 1 {
        " Several comparisons share the error (Holm 1979)."
    } else {
        ""
    };
    if analysis.design == Design::Blocks {
        return format!(
            "Differences are pseudo-medians of the per-block differences (of logarithms, where ratios are given) with {sure} intervals \
             from signed ranks (Wilcoxon 1945; Hodges and Lehmann 1963).{several}"
        );
    }
    let how = if is_exact(analysis) {
        "from the exact law of the rank test (Mann and Whitney 1947)"
    } else {
        "from the variances of placements, which need not be equal, widened where successive values depend on each other (Mann and \
         Whitney 1947; Fligner and Policello 1981; Geyer 1992)"
    };
    format!(
        "Differences are Hodges-Lehmann estimates, medians of all pairwise differences (Hodges and Lehmann 1963), of logarithms where \
         ratios are given, with {sure} intervals {how}.{several}"
    )
}

/// The sources, in the order of their first authors.
pub(super) fn sources(analysis: &Analysis, figures: &Figures) -> Vec<&'static str> {
    let compared = !analysis.comparisons.is_empty();
    let blocks = compared && analysis.design == Design::Blocks;
    let recorded = compared && !blocks;
    let resampled = figures.subjects.iter().any(|s| s.deviation.is_some());
    let mut sources = vec![GEYER];
    let mut when = |used: bool, source: &'static str| {
        if used {
            sources.push(source);
        }
    };
    when(blocks, BLOCKS);
    when(compared, HODGES_LEHMANN);
    when(recorded, MANN_WHITNEY);
    when(recorded && !is_exact(analysis), FLIGNER);
    when(analysis.comparisons.len() > 1, HOLM);
    when(figures.subjects.iter().any(|s| !s.shape.density.is_empty()), SILVERMAN);
    when(resampled, EFRON);
    when(resampled, BCA);
    when(figures.between.iter().any(|b| !b.quantiles.is_empty()), ZOU);
    sources.sort_unstable();
    sources
}
