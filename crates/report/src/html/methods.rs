//! The methods behind the numbers on a page, in sentences that can be copied into a paper, with
//! their sources.

use crate::names::fitted;
use crate::number;
use crate::words::{confidence, quoted};
use assay_analysis::figures::{Figures, IntervalOf};
use assay_analysis::protocol::{Protocol, TestName};
use assay_analysis::{Analysis, unpaired};
use assay_data::list;
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

const DAVISON: &str = "Davison, A. C. and Hinkley, D. V. (1997). Bootstrap methods and their application. Cambridge University Press.";
const LEHMANN: &str =
    "Lehmann, E. L. (1975). Nonparametrics: statistical methods based on ranks. Holden-Day.";
const R: &str = "R Core Team. R: a language and environment for statistical computing (power.t.test, wilcox.test). https://www.R-project.org/";

/// Returns the names of the subjects whose separate recordings are compared by the exact
/// distribution, and whether any other subjects are compared differently.
fn exact(analysis: &Analysis) -> (Vec<String>, bool) {
    let names = fitted(&analysis.names(), 40, "…");
    let (exact, rest): (Vec<_>, Vec<_>) =
        analysis.comparisons.iter().partition(|c| unpaired::is_exact(c.counts));
    (exact.into_iter().map(|c| quoted(&names[c.of])).collect(), !rest.is_empty())
}

/// Returns the paragraphs that describe the methods.
pub(super) fn told(analysis: &Analysis, figures: &Figures, chains: &[Protocol]) -> Vec<String> {
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
    shown += &resampled(figures);
    if figures.between.iter().any(|b| !b.quantiles.is_empty()) {
        shown += " Quantiles were compared by order statistics (Zou and Donner 2008).";
    }
    shown += " No value was removed.";
    told.push(shown);
    told.extend(chains.iter().find_map(planned_and_tested));
    told
}

/// Describes the resampling of the standard deviations: the number of resamples and the seed.
fn resampled(figures: &Figures) -> String {
    let drawn = || figures.subjects.iter().filter_map(|s| Some((s, s.deviation.as_ref()?)));
    let Some((_, first)) = drawn().next() else { return String::new() };
    let often = if drawn().all(|(_, r)| r.resamples == first.resamples) {
        format!("{} times", number::count(first.resamples as f64))
    } else {
        let each = drawn().map(|(s, r)| {
            let times = number::count(r.resamples as f64);
            format!("{times} times for {}", quoted(&fitted_name(&s.name)))
        });
        list::all(&each.collect::<Vec<_>>())
    };
    let mut kinds: Vec<&str> = Vec::new();
    for (_, r) in drawn() {
        let kind = match r.interval_of {
            IntervalOf::Normal => "normal intervals (Davison and Hinkley 1997)",
            IntervalOf::Bca => "BCa intervals (Efron 1987)",
            IntervalOf::Percentile => "percentile intervals where BCa ones are not available",
        };
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let of = if figures.deviations_of_differences { " of the blocks' differences" } else { "" };
    format!(
        " Standard deviations{of} were resampled {often} from the seed {} (Efron 1979), with {}.",
        first.seed,
        kinds.join(", ")
    )
}

/// Describes the power analysis and the test of the protocol, which are the same for all chains.
/// `None` if the chain ended before its power analysis.
fn planned_and_tested(chain: &Protocol) -> Option<String> {
    let power = chain.power.found.as_ref()?;
    let mut told = format!(
        "The four-step check planned with the largest upper end of the standard deviations' {} bootstrap intervals (normal, basic and \
         percentile; up to {} resamples from the seed {}; Davison and Hinkley 1997): the number of values that Student's t test needs \
         for the threshold at a significance of {} and a power of {} (R's power.t.test), and 15 % more for a rank test (Lehmann \
         1975).",
        number::chosen_percent(power.confidence),
        number::count(chain.resampling.0 as f64),
        chain.resampling.1,
        number::percent_fine(chain.level_planned()),
        number::chosen_percent(chain.power_wanted)
    );
    if let Some(test) = &chain.test.found {
        let name = match test.name {
            TestName::MannWhitney => "the Mann-Whitney U test (Mann and Whitney 1947)",
            TestName::SignedRank => {
                "the signed-rank test of the blocks' differences (Wilcoxon 1945)"
            }
        };
        let distribution = if test.exact {
            "by its exact distribution"
        } else {
            "by the normal distribution with corrections for ties and continuity"
        };
        told +=
            &format!(" It tested two-sidedly by {name}, {distribution}, as R's wilcox.test does.");
        if test.log10_p_decisive > test.log10_p {
            told += " The deviate was divided by the factor by which dependence widens the distribution of the statistic (Geyer 1992).";
        }
    }
    if chain.effect.found.is_some() {
        told += " The size of the effect is the estimate named above, as a shift in the metric's unit, with its interval.";
    }
    Some(told)
}

fn fitted_name(name: &str) -> String {
    fitted(&[name.to_owned()], 40, "…").remove(0)
}

fn taken(analysis: &Analysis) -> String {
    let seed = format!("seed {}", analysis.plan.seed);
    match (analysis.design, analysis.blocks) {
        (Design::Blocks, Some(blocks)) if analysis.subjects.len() > 1 => {
            let stopped = match analysis.plan.stop {
                StopRule::Sequential { .. } => {
                    "The differences were evaluated while measuring, and the intervals hold whenever it stops.".to_owned()
                }
                StopRule::Fixed { .. } => {
                    "The number of blocks was fixed beforehand.".to_owned()
                }
            };
            format!(
                "The {} subjects were measured in {blocks} blocks, each once per block, in a new random order for every block ({seed}). {stopped}",
                analysis.subjects.len()
            )
        }
        (Design::Blocks, Some(blocks)) => format!("One subject was measured {blocks} times."),
        _ if analysis.subjects.len() > 1 => {
            "The samples were recorded in separate runs; whatever changed between the runs is part of their difference.".to_owned()
        }
        _ => "The recorded sample is described here.".to_owned(),
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
    let by_distribution = "from the exact distribution of the rank test (Mann and Whitney 1947)";
    let by_placements = "from the variances of placements, which need not be equal, widened where successive values depend on each \
                         other (Mann and Whitney 1947; Fligner and Policello 1981; Geyer 1992)";
    let how = match exact(analysis) {
        (names, _) if names.is_empty() => by_placements.to_owned(),
        (_, false) => by_distribution.to_owned(),
        (names, true) => {
            format!("{by_distribution} for {}, otherwise {by_placements}", list::all(&names))
        }
    };
    format!(
        "Differences are Hodges-Lehmann estimates, medians of all pairwise differences (Hodges and Lehmann 1963), of logarithms where \
         ratios are given, with {sure} intervals {how}.{several}"
    )
}

/// Returns the sources, ordered by first author.
pub(super) fn sources(
    analysis: &Analysis,
    figures: &Figures,
    chains: &[Protocol],
) -> Vec<&'static str> {
    let compared = !analysis.comparisons.is_empty();
    let blocks = compared && analysis.design == Design::Blocks;
    let recorded = compared && !blocks;
    let resampled = |kind: Option<IntervalOf>| {
        let mut drawn = figures.subjects.iter().filter_map(|s| s.deviation.as_ref());
        drawn.any(|r| kind.is_none_or(|kind| r.interval_of == kind))
    };
    let planned = chains.iter().any(|chain| chain.power.found.is_some());
    let mut sources = vec![GEYER];
    let mut when = |used: bool, source: &'static str| {
        if used {
            sources.push(source);
        }
    };
    when(blocks, BLOCKS);
    when(compared, HODGES_LEHMANN);
    when(recorded, MANN_WHITNEY);
    when(recorded && exact(analysis).1, FLIGNER);
    when(analysis.comparisons.len() > 1, HOLM);
    when(figures.subjects.iter().any(|s| !s.shape.density.is_empty()), SILVERMAN);
    when(resampled(None), EFRON);
    when(resampled(Some(IntervalOf::Bca)), BCA);
    when(planned || resampled(Some(IntervalOf::Normal)), DAVISON);
    when(planned, LEHMANN);
    when(planned, R);
    when(figures.between.iter().any(|b| !b.quantiles.is_empty()), ZOU);
    sources.sort_unstable();
    sources
}
