//! The geometric mean of a suite's ratios, over the benchmarks that both sides have.
//!
//! With enough values on every side and an affordable number of them the intervals are those of [`assay_stats::suite`], by
//! resampling. Else (few values, a suite of thousands, summaries) they come from the standard errors: of each mean logarithm for these
//! benchmarks, Student's over the benchmarks' effects for such ones, never narrower than the first. A mean over benchmarks that
//! somebody chose summarises them and decides nothing.

use super::Table;
use crate::evidence::Pair;
use assay_data::Plan;
use assay_stats::suite::{Benchmark, geometric_mean};
use assay_stats::summaries::{self, Summarised};
use assay_stats::{Interval, descriptive, student_t};

/// Fewest benchmarks that make a whole.
const FEWEST: usize = 2;
/// Fewest values on a side from which resampling knows their spread.
const FEWEST_TO_RESAMPLE: usize = 6;
const RESAMPLES: usize = 1000;
const FEWEST_RESAMPLES: usize = 200;
/// Values that all resamples may hold together.
const AFFORDABLE: usize = 2_000_000;

/// A geometric mean with what is known of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Mean {
    /// The geometric mean of the ratios, side / reference.
    pub estimate: f64,
    /// The interval for these benchmarks; `None` where the spread of some is not known.
    pub of_these: Option<Interval>,
    /// The interval for benchmarks such as these.
    pub of_such: Option<Interval>,
    /// Over how many benchmarks.
    pub benchmarks: usize,
    /// How many that both sides have are not in it, since they have no ratio.
    pub left_out: usize,
}

/// The mean of a table's ratios; `None` for fewer than two. `pairs`: those of the rows, in their order.
pub(super) fn of<'a>(
    pairs: impl Iterator<Item = &'a Pair>,
    table: &Table,
    plan: &Plan,
) -> Option<Mean> {
    let ratio = |row: &super::Row| row.comparison.ratio.map(|r| r.estimate.ln());
    let (effects, pairs): (Vec<f64>, Vec<&Pair>) = table
        .rows
        .iter()
        .zip(pairs)
        .filter_map(|(row, pair)| Some((ratio(row).filter(|r| r.is_finite())?, pair)))
        .unzip();
    if effects.len() < FEWEST {
        return None;
    }
    let mean = descriptive::mean(&effects);
    let (of_these, of_such) = resampled(&pairs, plan)
        .unwrap_or_else(|| from_errors(mean, &effects, &pairs, plan.confidence));
    Some(Mean {
        estimate: mean.exp(),
        of_these,
        of_such,
        benchmarks: effects.len(),
        left_out: table.rows.len() - effects.len(),
    })
}

type Intervals = (Option<Interval>, Option<Interval>);

fn resampled(pairs: &[&Pair], plan: &Plan) -> Option<Intervals> {
    let mut ratios: Vec<Vec<f64>> = Vec::new();
    for pair in pairs {
        if let Pair::Blocks(paired) | Pair::Known(paired) = pair {
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
            Pair::Summaries(..) => return None,
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

/// The squared standard error of an effect with its degrees of freedom; `None` where nothing is known of the spread.
fn error_of(pair: &Pair) -> Option<(f64, f64)> {
    let of_logs = |values: &[f64]| {
        let logs: Vec<f64> = values.iter().map(|v| v.ln()).collect();
        Summarised::of(&logs).map(|s| (s.standard_error.powi(2), s.count - 1.0))
    };
    let (x, y) = match pair {
        Pair::Apart(x, y, _) => (of_logs(&x.in_order)?, of_logs(&y.in_order)?),
        Pair::Blocks(paired) | Pair::Known(paired) => {
            let found = Summarised::of(paired.log_ratios()?)?;
            return Some((found.standard_error.powi(2), found.count - 1.0));
        }
        Pair::Summaries(x, y) => {
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
