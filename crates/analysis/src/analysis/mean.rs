//! Summaries of many comparisons of one metric of one side: the number of comparisons with each
//! verdict, and the geometric mean of the ratios. The comparisons are the rows of a suite, or the
//! parameter values of a scan.
//!
//! With enough values on every side, and not too many in total, the intervals are those of
//! [`assay_stats::suite`], by resampling. Otherwise (few values, a suite of thousands of rows,
//! summaries) they are computed from standard errors. The interval for exactly these rows
//! ([`Mean::of_these`]) uses the standard error of each row's mean logarithm. The interval for rows
//! of this kind ([`Mean::of_such`]) is Student's over the rows' effects, and never narrower than
//! the interval for exactly these rows. The mean only summarizes; no verdict depends on it.

use super::family::Member;
use crate::comparison::{Comparison, NoInterval, Role};
use crate::evidence::Pair;
use crate::verdict::Verdict;
use assay_data::Plan;
use assay_stats::suite::{Benchmark, geometric_mean};
use assay_stats::summaries::{self, Summarised};
use assay_stats::{Interval, descriptive, student_t};
use std::collections::HashMap;

/// Minimum number of ratios for a geometric mean.
const FEWEST: usize = 2;
/// Minimum number of values on a side for resampling.
const FEWEST_TO_RESAMPLE: usize = 6;
const RESAMPLES: usize = 1000;
const FEWEST_RESAMPLES: usize = 200;
/// Maximum total number of values in all resamples.
const AFFORDABLE: usize = 2_000_000;

/// The comparisons of one metric of one side with one reference.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Index of the metric.
    pub metric: usize,
    /// Index of the side.
    pub of: usize,
    /// Index of the reference side.
    pub against: usize,
    /// Indices of the comparisons, in the order of the reference. They index
    /// [`Analysis::comparisons`](super::Analysis::comparisons) for the primary metric, and
    /// [`Analysis::secondary`](super::Analysis::secondary) for any other.
    pub comparisons: Vec<usize>,
    /// The geometric mean of the ratios; `None` if it can't be computed.
    pub mean: Option<Mean>,
}

/// A geometric mean with its intervals.
#[derive(Clone, Debug, PartialEq)]
pub struct Mean {
    /// The geometric mean of the ratios of the side to the reference.
    pub estimate: f64,
    /// Confidence interval for exactly these rows; `None` if the spread of any row is unknown.
    pub of_these: Option<Interval>,
    /// Confidence interval for rows of this kind, if these rows are considered a sample.
    pub of_such: Option<Interval>,
    /// Number of rows included.
    pub rows: usize,
    /// Number of rows excluded because they have no ratio.
    pub left_out: usize,
}

/// The number of comparisons with each verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Number of comparisons that are better than the reference.
    pub faster: usize,
    /// Number of comparisons that are worse than the reference.
    pub slower: usize,
    /// Number of comparisons within the threshold.
    pub equivalent: usize,
    /// Number of inconclusive comparisons.
    pub inconclusive: usize,
    /// Number of controls: comparisons whose code is the same on both sides.
    pub same_code: usize,
}

/// The comparisons of one metric of one side with the reference, for a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Table<'a> {
    /// Index of the metric.
    pub metric: usize,
    /// Index of the side.
    pub side: usize,
    /// Index of the reference side.
    pub against: usize,
    /// The comparisons, in the order of the reference.
    pub rows: Vec<&'a Comparison>,
    /// The geometric mean of the ratios; `None` if it can't be computed.
    pub mean: Option<&'a Mean>,
}

impl Table<'_> {
    /// Counts the verdicts. O(rows).
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for comparison in &self.rows {
            *match comparison.decision.verdict {
                _ if comparison.role == Role::Control => &mut counts.same_code,
                Verdict::Faster => &mut counts.faster,
                Verdict::Slower => &mut counts.slower,
                Verdict::Equivalent => &mut counts.equivalent,
                Verdict::Inconclusive => &mut counts.inconclusive,
            } += 1;
        }
        counts
    }
}

/// Returns the groups of a family, in the order of their first members. `side` returns the side of
/// a subject, `wanted` returns true if a comparison belongs to a group, and `is_whole` returns true
/// if a subject is the whole suite, which is excluded from the mean of its parts. O(members), plus
/// the resampling.
pub(super) fn groups(
    members: &[Member<'_>],
    decided: &[Comparison],
    plan: &Plan,
    side: impl Fn(usize) -> usize,
    wanted: impl Fn(&Comparison) -> bool,
    is_whole: impl Fn(usize) -> bool,
) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    // A scan may have as many groups as commands.
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

/// Returns the geometric mean of the ratios of these members; `None` for fewer than two ratios, or
/// if the samples of any member are not from one experiment.
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
    let (effects, own): (Vec<f64>, Vec<&Member<'_>>) = which
        .iter()
        .filter_map(|&index| Some((ratio(index).filter(|r| r.is_finite())?, &members[index])))
        .unzip();
    if effects.len() < FEWEST {
        return None;
    }
    let mean = descriptive::mean(&effects);
    let (of_these, of_such) =
        resampled(&own, plan).unwrap_or_else(|| from_errors(mean, &effects, &own, plan.confidence));
    let left_out = which.len() - effects.len();
    Some(Mean { estimate: mean.exp(), of_these, of_such, rows: effects.len(), left_out })
}

type Intervals = (Option<Interval>, Option<Interval>);

/// Computes the intervals by resampling. Returns `None` if a side has too few values, or if there
/// are too many values in total.
fn resampled(members: &[&Member<'_>], plan: &Plan) -> Option<Intervals> {
    let mut count = 0;
    let mut pairs = Vec::new();
    for member in members {
        let pair = member.pair();
        let sizes = match &pair {
            Pair::Apart(x, y, _) => (x.in_order.len(), y.in_order.len()),
            Pair::Blocks(paired) | Pair::Known(paired) => (paired.len(), paired.len()),
            Pair::Summaries(..) | Pair::Few(..) => return None,
        };
        count += sizes.0 + sizes.1;
        if sizes.0.min(sizes.1) < FEWEST_TO_RESAMPLE || count > AFFORDABLE / FEWEST_RESAMPLES {
            return None;
        }
        pairs.push(pair);
    }
    let mut ratios: Vec<Vec<f64>> = Vec::new();
    for pair in &pairs {
        if let Pair::Blocks(paired) | Pair::Known(paired) = pair {
            if paired.has_builds() {
                return None;
            }
            ratios.push(paired.log_ratios()?.iter().map(|log| log.exp()).collect());
        }
    }
    let mut ratios = ratios.iter();
    let mut benchmarks = Vec::with_capacity(pairs.len());
    for pair in &pairs {
        benchmarks.push(match pair {
            Pair::Apart(x, y, _) => Benchmark::Apart { x: &x.in_order, y: &y.in_order },
            Pair::Blocks(_) | Pair::Known(_) => Benchmark::Blocks { ratios: ratios.next()? },
            Pair::Summaries(..) | Pair::Few(..) => return None,
        });
    }
    let resamples = (AFFORDABLE / count.max(1)).min(RESAMPLES);
    let found = geometric_mean(&benchmarks, plan.confidence, resamples, plan.seed)?;
    Some((Some(found.of_these), found.of_such))
}

/// Returns the squared standard error of an effect and its degrees of freedom; `None` if the spread
/// is unknown.
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

fn from_errors(mean: f64, effects: &[f64], own: &[&Member<'_>], confidence: f64) -> Intervals {
    let k = effects.len() as f64;
    let errors: Option<Vec<(f64, f64)>> = own.iter().map(|own| error_of(&own.pair())).collect();
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
    // The interval for rows of this kind must be at least as wide as the one for exactly these
    // rows.
    let of_such = of_such.map(|such| match of_these {
        Some(these) => {
            Interval { lower: such.lower.min(these.lower), upper: such.upper.max(these.upper) }
        }
        None => such,
    });
    let exp = |i: Interval| Interval { lower: i.lower.exp(), upper: i.upper.exp() };
    (of_these.map(exp), of_such.map(exp))
}
