//! What many comparisons of one metric of one side come to together: how many have which verdict,
//! and the geometric mean of their ratios. Of a suite they are its rows, of a scan the values of
//! its parameters.
//!
//! With enough values on every side and an affordable number of them the intervals are those of
//! [`assay_stats::suite`], by resampling. Else (few values, a suite of thousands, summaries) they
//! come from the standard errors: of each mean logarithm for these rows, Student's over the rows'
//! effects for such ones, never narrower than the first. A mean over rows that somebody chose
//! summarises them and decides nothing.

use super::family::Member;
use crate::comparison::{Comparison, NoInterval};
use crate::evidence::Pair;
use crate::verdict::Verdict;
use assay_data::Plan;
use assay_stats::suite::{Benchmark, geometric_mean};
use assay_stats::summaries::{self, Summarised};
use assay_stats::{Interval, descriptive, student_t};
use std::collections::HashMap;

/// Fewest comparisons that make a whole.
const FEWEST: usize = 2;
/// Fewest values on a side from which resampling knows their spread.
const FEWEST_TO_RESAMPLE: usize = 6;
const RESAMPLES: usize = 1000;
const FEWEST_RESAMPLES: usize = 200;
/// Values that all resamples may hold together.
const AFFORDABLE: usize = 2_000_000;

/// The comparisons of one metric of one side with one reference.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Index of the metric.
    pub metric: usize,
    /// Index of the side.
    pub of: usize,
    /// Index of the side that it is compared with.
    pub against: usize,
    /// The comparisons, as indices of [`Analysis::comparisons`](super::Analysis::comparisons) for
    /// the primary metric, else of [`Analysis::secondary`](super::Analysis::secondary); in the
    /// order of the reference.
    pub comparisons: Vec<usize>,
    /// The geometric mean of their ratios; `None` where there is none.
    pub mean: Option<Mean>,
}

/// A geometric mean with what is known of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Mean {
    /// The geometric mean of the ratios, side / reference.
    pub estimate: f64,
    /// The interval for these rows; `None` where the spread of some is not known.
    pub of_these: Option<Interval>,
    /// The interval for rows such as these.
    pub of_such: Option<Interval>,
    /// Over how many rows.
    pub rows: usize,
    /// How many rows are not in it, since they have no ratio.
    pub left_out: usize,
}

/// How many comparisons have which verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Better than the reference.
    pub faster: usize,
    /// Worse than the reference.
    pub slower: usize,
    /// Within the threshold.
    pub equivalent: usize,
    /// Not known.
    pub inconclusive: usize,
}

/// The comparisons of one metric of one side with the reference, as a table shows them.
#[derive(Clone, Debug, PartialEq)]
pub struct Table<'a> {
    /// Index of the metric.
    pub metric: usize,
    /// Index of the side.
    pub side: usize,
    /// Index of the side that it is compared with.
    pub against: usize,
    /// The comparisons, in the order of the reference.
    pub rows: Vec<&'a Comparison>,
    /// The geometric mean of their ratios; `None` where there is none.
    pub mean: Option<&'a Mean>,
}

impl Table<'_> {
    /// Counts the verdicts. O(rows).
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for comparison in &self.rows {
            *match comparison.decision.verdict {
                Verdict::Faster => &mut counts.faster,
                Verdict::Slower => &mut counts.slower,
                Verdict::Equivalent => &mut counts.equivalent,
                Verdict::Inconclusive => &mut counts.inconclusive,
            } += 1;
        }
        counts
    }
}

/// The groups of a family, in the order in which they begin. `side`: which side a subject is on;
/// `wanted`: which comparisons belong to a group; `is_whole`: which subject is the whole of which
/// the others are parts, and so in no mean with them. O(members), and the resamples.
pub(super) fn groups(
    members: &[Member<'_>],
    decided: &[Comparison],
    plan: &Plan,
    side: impl Fn(usize) -> usize,
    wanted: impl Fn(&Comparison) -> bool,
    is_whole: impl Fn(usize) -> bool,
) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    // A scan may have as many as it has commands.
    let mut places: HashMap<(usize, usize, usize), usize> = HashMap::new();
    for (index, c) in decided.iter().enumerate().filter(|(_, c)| wanted(c)) {
        let (metric, of, against) = (c.metric, side(c.of), side(c.against));
        let place = *places.entry((metric, of, against)).or_insert_with(|| {
            groups.push(Group { metric, of, against, comparisons: Vec::new(), mean: None });
            groups.len() - 1
        });
        groups[place].comparisons.push(index);
    }
    for group in &mut groups {
        let own = group.comparisons.iter().copied();
        let parts: Vec<usize> = own.filter(|&index| !is_whole(decided[index].of)).collect();
        group.mean = mean(&parts, members, decided, plan);
    }
    groups
}

/// The mean of some ratios; `None` for fewer than two, and of what is not one experiment.
fn mean(
    which: &[usize],
    members: &[Member<'_>],
    decided: &[Comparison],
    plan: &Plan,
) -> Option<Mean> {
    if which.iter().any(|&index| decided[index].no_interval() == Some(NoInterval::Mixed)) {
        return None;
    }
    let ratio = |index: usize| decided[index].ratio.map(|r| r.estimate.ln());
    let (effects, pairs): (Vec<f64>, Vec<&Pair>) = which
        .iter()
        .filter_map(|&index| Some((ratio(index).filter(|r| r.is_finite())?, &members[index].pair)))
        .unzip();
    if effects.len() < FEWEST {
        return None;
    }
    let mean = descriptive::mean(&effects);
    let (of_these, of_such) = resampled(&pairs, plan)
        .unwrap_or_else(|| from_errors(mean, &effects, &pairs, plan.confidence));
    let left_out = which.len() - effects.len();
    Some(Mean { estimate: mean.exp(), of_these, of_such, rows: effects.len(), left_out })
}

type Intervals = (Option<Interval>, Option<Interval>);

fn resampled(pairs: &[&Pair], plan: &Plan) -> Option<Intervals> {
    let mut ratios: Vec<Vec<f64>> = Vec::new();
    for pair in pairs {
        if let Pair::Blocks(paired) | Pair::Known(paired) = pair {
            if paired.has_builds() {
                return None;
            }
            ratios.push(paired.log_ratios()?.iter().map(|log| log.exp()).collect());
        }
    }
    let mut ratios = ratios.iter();
    let mut benchmarks = Vec::with_capacity(pairs.len());
    let mut count = 0;
    for pair in pairs {
        let benchmark = match pair {
            Pair::Apart(x, y, _) => Benchmark::Apart { x: &x.in_order, y: &y.in_order },
            Pair::Blocks(_) | Pair::Known(_) => Benchmark::Blocks { ratios: ratios.next()? },
            Pair::Summaries(..) | Pair::Few(..) => return None,
        };
        let sizes = match benchmark {
            Benchmark::Apart { x, y } => (x.len(), y.len()),
            Benchmark::Blocks { ratios } => (ratios.len(), ratios.len()),
        };
        if sizes.0.min(sizes.1) < FEWEST_TO_RESAMPLE {
            return None;
        }
        count += sizes.0 + sizes.1;
        benchmarks.push(benchmark);
    }
    let resamples = (AFFORDABLE / count.max(1)).min(RESAMPLES);
    if resamples < FEWEST_RESAMPLES {
        return None;
    }
    let found = geometric_mean(&benchmarks, plan.confidence, resamples, plan.seed)?;
    Some((Some(found.of_these), found.of_such))
}

/// The squared standard error of an effect with its degrees of freedom; `None` where nothing is
/// known of the spread.
fn error_of(pair: &Pair) -> Option<(f64, f64)> {
    let of_logs = |values: &[f64]| {
        let logs: Vec<f64> = values.iter().map(|v| v.ln()).collect();
        Summarised::of(&logs).map(|s| (s.standard_error.powi(2), s.count - 1.0))
    };
    let (x, y) = match pair {
        Pair::Apart(x, y, _) => (of_logs(&x.in_order)?, of_logs(&y.in_order)?),
        Pair::Blocks(paired) | Pair::Known(paired) => {
            let logs = paired.log_ratios()?;
            if let Some(builds) = paired.over_builds(logs) {
                return Some((builds.squared_error, builds.df));
            }
            let found = Summarised::of(logs)?;
            return Some((found.standard_error.powi(2), found.count - 1.0));
        }
        Pair::Summaries(x, y) | Pair::Few(x, y) => {
            let test = summaries::log_ratio(&x.summarised()?, &y.summarised()?)?;
            return Some((test.standard_error.powi(2), test.df));
        }
    };
    let all = x.0 + y.0;
    let df = if all > 0.0 { all * all / (x.0 * x.0 / x.1 + y.0 * y.0 / y.1) } else { x.1 + y.1 };
    Some((all, df))
}

fn from_errors(mean: f64, effects: &[f64], pairs: &[&Pair], confidence: f64) -> Intervals {
    let k = effects.len() as f64;
    let errors: Option<Vec<(f64, f64)>> = pairs.iter().map(|pair| error_of(pair)).collect();
    let around = |error: f64, df: f64| {
        let reach = student_t::two_sided(confidence, df) * error;
        reach.is_finite().then_some(Interval { lower: mean - reach, upper: mean + reach })
    };
    let of_these = errors.and_then(|errors| {
        let all: f64 = errors.iter().map(|(squared, _)| squared).sum();
        let df = all * all / errors.iter().map(|(squared, df)| squared * squared / df).sum::<f64>();
        if all == 0.0 {
            return Some(Interval { lower: mean, upper: mean });
        }
        around(all.sqrt() / k, df)
    });
    let of_such = around(descriptive::standard_deviation(effects) / k.sqrt(), k - 1.0);
    // What is not known of these is not known of such either.
    let of_such = of_such.map(|such| match of_these {
        Some(these) => {
            Interval { lower: such.lower.min(these.lower), upper: such.upper.max(these.upper) }
        }
        None => such,
    });
    let exp = |i: Interval| Interval { lower: i.lower.exp(), upper: i.upper.exp() };
    (of_these.map(exp), of_such.map(exp))
}
