//! What a scan says as a whole: the geometric mean of one command's ratios to another, over all values of the parameters.
//!
//! Of blocks each ratio is the pseudo-median of the per-block ratios, else the Hodges-Lehmann ratio of two samples
//! ([`assay_stats::suite`], which also says what the two intervals are about). It summarises and does not decide: a mean over
//! values that somebody chose holds for these, and a command that is faster here and slower there has both verdicts in the table.

use crate::comparison::Comparison;
use crate::scaling::Layout;
use assay_data::samples::BlockRow;
use assay_data::{Plan, Samples};
use assay_stats::suite::{Benchmark, GeometricMean, geometric_mean};

/// Fewest comparisons that make a whole.
const FEWEST: usize = 3;
/// Resamples, fewer for many values, so that the price stays the same.
const RESAMPLES: usize = 1000;
const FEWEST_RESAMPLES: usize = 200;
/// Values that all resamples may hold together.
const AFFORDABLE: usize = 3_000_000;

/// One command against another, over a scan.
#[derive(Clone, Debug, PartialEq)]
pub struct Overall {
    /// Which of the scan's commands, counted from 0.
    pub of: usize,
    /// The command that it is compared with.
    pub against: usize,
    /// Comparisons: combinations of the parameters' values.
    pub comparisons: usize,
    /// Their geometric mean with its intervals, at the confidence of the plan.
    pub mean: GeometricMean,
}

/// One for every two commands that are compared in at least three combinations of values; none where a value is not positive, or
/// where there are too many values for some hundred resamples. O(resamples · n log n).
pub(crate) fn overall(
    samples: &Samples,
    layout: &Layout,
    primary: usize,
    plan: &Plan,
    comparisons: &[Comparison],
    rows: Option<&[BlockRow]>,
) -> Vec<Overall> {
    let together = |c: &&Comparison| layout.together(c.of, c.against);
    let commands = |c: &Comparison| (c.of % layout.commands, c.against % layout.commands);
    let mut pairs: Vec<(usize, usize)> =
        comparisons.iter().filter(together).map(commands).collect();
    pairs.sort_unstable();
    pairs.dedup();
    let of_pair = |(of, against): (usize, usize)| {
        let own: Vec<&Comparison> =
            comparisons.iter().filter(together).filter(|c| commands(c) == (of, against)).collect();
        if own.len() < FEWEST || own.iter().any(|c| c.mixed) {
            return None;
        }
        let values: Vec<(Vec<f64>, Vec<f64>)> = own
            .iter()
            .map(|c| match rows {
                Some(rows) => {
                    let ratio = |row: &BlockRow| row.values[c.of] / row.values[c.against];
                    (Vec::new(), rows.iter().map(ratio).collect())
                }
                None => {
                    let series = |subject| samples.series(subject, primary).values;
                    (series(c.against), series(c.of))
                }
            })
            .collect();
        let count: usize = values.iter().map(|(x, y)| x.len() + y.len()).sum();
        let resamples = (AFFORDABLE / count.max(1)).min(RESAMPLES);
        if resamples < FEWEST_RESAMPLES {
            return None;
        }
        let benchmarks: Vec<Benchmark<'_>> = values
            .iter()
            .map(|(x, y)| match rows {
                Some(_) => Benchmark::Blocks { ratios: y },
                None => Benchmark::Apart { x, y },
            })
            .collect();
        let mean = geometric_mean(&benchmarks, plan.confidence, resamples, plan.seed)?;
        Some(Overall { of, against, comparisons: own.len(), mean })
    };
    pairs.into_iter().filter_map(of_pair).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

    use crate::{Options, analyse};
    use assay_data::{Metric, Observation, Samples, Side, Subject};

    /// Two commands at so many values of n, the second taking 0.8 of the time, in ten blocks.
    fn scan(values: usize, in_blocks: bool) -> Samples {
        let mut samples = Samples::new(vec![Metric::wall()]);
        samples.sides =
            ["old", "new"].map(|name| Side { name: name.to_owned(), ..Side::default() }).into();
        samples.row_named("");
        for value in 1..=values {
            for command in ["old", "new"] {
                samples.add(Subject {
                    side: usize::from(command == "new"),
                    name: format!("{command} {value}"),
                    parameters: vec![("n".to_owned(), value.to_string().into())],
                    against: (command == "new").then(|| 2 * (value - 1)),
                    ..Subject::default()
                });
            }
        }
        for block in 0..10_u32 {
            for subject in 0..2 * values {
                let factor = if subject % 2 == 1 { 0.8 } else { 1.0 };
                let slow = 1.0 + f64::from(block) * 0.1;
                let own = 1.0 + 0.001 * f64::from((block * 7 + subject as u32 * 3) % 5);
                samples.push(Observation {
                    subject,
                    block: in_blocks.then_some(block),
                    values: vec![(1 + subject / 2) as f64 * factor * slow * own],
                    ..Observation::default()
                });
            }
        }
        samples
    }

    #[test]
    fn one_command_over_all_values_is_one_number() {
        let analysis = analyse(&scan(4, true), &Options::default()).unwrap();
        let [overall] = analysis.overall.as_slice() else { unreachable!("one pair of commands") };
        assert_eq!((overall.of, overall.against, overall.comparisons), (1, 0, 4));
        assert!((overall.mean.estimate - 0.8).abs() < 0.002, "{overall:?}");
        // What slows a whole block down is not in its ratios.
        assert!(overall.mean.of_these.contains(0.8), "{overall:?}");
        assert!(overall.mean.of_these.half_width() < 0.003, "{overall:?}");
    }

    #[test]
    fn recordings_apart_have_wider_intervals_and_two_values_none() {
        let apart = analyse(&scan(4, false), &Options::default()).unwrap();
        let of_these = apart.overall[0].mean.of_these;
        assert!(of_these.contains(0.8) && of_these.half_width() > 0.03, "{of_these:?}");
        assert!(analyse(&scan(2, true), &Options::default()).unwrap().overall.is_empty());
    }
}
