//! The answer about a change: the verdicts on all benchmarks of all programs, with a second
//! measurement of alarms.
//!
//! **Error rate of the answer.** The programs share the error in proportion to their numbers of
//! benchmarks (Bonferroni: program i with n_i of N benchmarks has the level α n_i / N). Within a
//! program, [`Adjust::Holm`](crate::Adjust) keeps to that level. Thus the probability of any wrong
//! direction in the whole answer is at most α, for any number of benchmarks and any correlation
//! between them. The second measurement can only cancel an alarm.

use crate::comparison::NoInterval;
use crate::{Analysis, Comparison, Effect, Verdict};
use assay_data::Better;

/// Minimum time for a second measurement, in seconds. Less time would decide nothing.
pub const LEAST_TO_CONFIRM: f64 = 3.0;
/// Share of the budget reserved for confirming alarms.
pub const KEPT_TO_CONFIRM: f64 = 0.25;

/// Returns the confidence for the answers of one program at which all programs together have the
/// confidence `confidence`.
///
/// The program has `own` of all `all` benchmarks, with 0 < own ≤ all.
pub fn confidence_of_program(confidence: f64, own: usize, all: usize) -> f64 {
    1.0 - (1.0 - confidence) * own as f64 / all.max(own) as f64
}

/// A second measurement of an alarm.
#[derive(Clone, Debug, PartialEq)]
pub enum Second {
    /// The benchmark was measured again, in a fresh build.
    Measured {
        /// The verdict of the second measurement.
        verdict: Verdict,
        /// Ratio of the new side to the old one, with its interval.
        ratio: Option<Effect>,
    },
    /// The benchmark was not measured again; contains the reason.
    Missing(String),
}

impl Second {
    /// Converts the comparison of a second measurement. With too few blocks, it counts as missing,
    /// because it shows nothing about the alarm.
    pub fn of(comparison: &Comparison) -> Self {
        match comparison.no_interval() {
            Some(NoInterval::TooFew { .. }) => Self::Missing(
                "there was too little time for it; allow more with --budget".to_owned(),
            ),
            _ => Self::Measured { verdict: comparison.decision.verdict, ratio: comparison.ratio },
        }
    }
}

/// Results for one benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// An alarm: worse by more than the threshold and, if measured a second time, worse again.
    Slower,
    /// An alarm at first, but faster or equivalent in the second build.
    NotConfirmed,
    /// An alarm at first, but inconclusive in the second build.
    Undecided,
    /// Worse, but perhaps by less than the threshold.
    SlightlySlower,
    /// Better than the old side.
    Faster,
    /// The difference is below the threshold.
    Equivalent,
    /// The comparison has no verdict.
    Inconclusive,
}

/// Standings that leave the question about a benchmark open.
pub const OPEN: [Standing; 4] =
    [Standing::Inconclusive, Standing::NotConfirmed, Standing::Undecided, Standing::SlightlySlower];

/// One benchmark.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckedRow {
    /// Index of the benchmark's comparison in the analysis of its program.
    pub comparison: usize,
    /// Result of the comparison.
    pub standing: Standing,
    /// The second measurement, if the comparison was an alarm at first.
    pub second: Option<Second>,
}

/// A program with its benchmarks.
#[derive(Clone, Debug)]
pub struct CheckedProgram {
    /// Name of the program.
    pub name: String,
    /// Analysis of the program's first measurement.
    pub analysis: Analysis,
    /// The measured benchmarks of the program.
    pub rows: Vec<CheckedRow>,
    /// Names of the benchmarks that were not measured because their machine code, including
    /// everything they call, is the same on both sides.
    pub unreached: Vec<String>,
    /// Names of the benchmarks without a result, because they failed or time ran out.
    pub missing: Vec<String>,
}

/// Returns true if a verdict is an alarm: worse, and by more than the threshold.
pub fn is_alarm(comparison: &Comparison) -> bool {
    let decision = &comparison.decision;
    decision.verdict == Verdict::Slower && !decision.possibly_below_threshold
}

impl CheckedProgram {
    /// Creates a program's result from its first measurement. `wanted` lists the names of the
    /// benchmarks that should have been measured.
    pub fn new(
        name: String,
        analysis: Analysis,
        unreached: Vec<String>,
        wanted: &[String],
    ) -> Self {
        let row = |(index, comparison): (usize, &Comparison)| {
            let standing = match comparison.decision.verdict {
                Verdict::Slower if is_alarm(comparison) => Standing::Slower,
                Verdict::Slower => Standing::SlightlySlower,
                Verdict::Faster => Standing::Faster,
                Verdict::Equivalent => Standing::Equivalent,
                Verdict::Inconclusive => Standing::Inconclusive,
            };
            CheckedRow { comparison: index, standing, second: None }
        };
        let rows = analysis.comparisons.iter().enumerate().map(row).collect();
        let has = |name: &&String| {
            analysis.comparisons.iter().any(|own| analysis.row_of(own).name == **name)
        };
        let missing = wanted.iter().filter(|name| !has(name)).cloned().collect();
        Self { name, analysis, rows, unreached, missing }
    }

    /// Returns the indices of the rows that are alarms.
    pub fn alarms(&self) -> Vec<usize> {
        let is_alarm = |&at: &usize| self.rows[at].standing == Standing::Slower;
        (0..self.rows.len()).filter(is_alarm).collect()
    }

    /// Records the second measurement of an alarm. The row remains an alarm if the benchmark is
    /// worse again, or if it was not measured.
    pub fn settle(&mut self, row: usize, second: Second) {
        let row = &mut self.rows[row];
        row.standing = match &second {
            Second::Measured { verdict: Verdict::Inconclusive, .. } => Standing::Undecided,
            Second::Measured { verdict: Verdict::Slower, .. } | Second::Missing(_) => row.standing,
            Second::Measured { .. } => Standing::NotConfirmed,
        };
        row.second = Some(second);
    }

    /// Returns the comparison of a row.
    pub fn comparison(&self, row: &CheckedRow) -> &Comparison {
        &self.analysis.comparisons[row.comparison]
    }

    /// Returns the name of a row's benchmark.
    pub fn benchmark(&self, row: &CheckedRow) -> &str {
        &self.analysis.row_of(self.comparison(row)).name
    }

    /// Returns the share by which a benchmark may be worse, from the unfavorable end of its
    /// interval. `None` if that end is unknown or infinite.
    pub fn at_worst(&self, row: &CheckedRow) -> Option<f64> {
        let comparison = self.comparison(row);
        let interval = comparison.ratio?.interval?;
        let worst = match self.analysis.metrics[comparison.metric].better {
            Better::Lower => interval.upper - 1.0,
            Better::Higher => 1.0 - interval.lower,
        };
        worst.is_finite().then_some(worst.max(0.0))
    }
}

/// Answers about all benchmarks together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// At least one benchmark is worse by more than the threshold.
    Slower,
    /// No benchmark is known to be slower, but the answer about at least one is open.
    Inconclusive,
    /// No benchmark is worse; at least one is better.
    Faster,
    /// No benchmark changed by the threshold or more.
    Equivalent,
    /// No benchmark was measured, because none executes changed code.
    Unreached,
}

/// Returns the answer about all benchmarks of these programs.
pub fn answer(programs: &[CheckedProgram]) -> Answer {
    let rows = || programs.iter().flat_map(|program| &program.rows);
    let any = |of: &[Standing]| rows().any(|row| of.contains(&row.standing));
    if any(&[Standing::Slower]) {
        Answer::Slower
    } else if any(&OPEN) || programs.iter().any(|program| !program.missing.is_empty()) {
        Answer::Inconclusive
    } else if any(&[Standing::Faster]) {
        Answer::Faster
    } else if any(&[Standing::Equivalent]) {
        Answer::Equivalent
    } else {
        Answer::Unreached
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, analyse};
    use assay_data::{
        Metric, Observation, Plan, Samples, StopReason, StopRule, Subject, Threshold,
    };
    use assay_stats::resampling::Stream;

    #[test]
    fn the_programs_share_the_error() {
        let levels = [3, 5, 42].map(|own| 1.0 - confidence_of_program(0.95, own, 50));
        assert!((levels.iter().sum::<f64>() - 0.05).abs() < 1e-12, "{levels:?}");
        assert!((confidence_of_program(0.95, 7, 7) - 0.95).abs() < 1e-12);
    }

    /// A build of `count` benchmarks, of which the first takes `ratio` times as long on the new
    /// side, measured in 24 blocks with a spread of 2 % and isolated outliers of up to three times
    /// the value.
    fn measured(count: usize, ratio: f64, confidence: f64, stream: &mut Stream) -> Analysis {
        let mut samples = Samples::new(vec![Metric::wall()]);
        for row in 0..count {
            let name = format!("b{row}");
            let row = samples.row_named(&name);
            let sides = ["old", "new"].map(|side| {
                let (own, name) = (samples.side_named(side), format!("{side}: {name}"));
                samples.add(Subject { side: own, row, name, ..Subject::default() })
            });
            for block in 0..24 {
                for subject in sides {
                    let outlier =
                        if stream.uniform() < 0.02 { 1.0 + 2.0 * stream.uniform() } else { 1.0 };
                    let own = if subject == sides[1] && row == 0 { ratio } else { 1.0 };
                    let value = 1e-3 * own * outlier * (0.02 * stream.normal()).exp();
                    samples.push(Observation {
                        subject,
                        block: Some(block),
                        values: vec![value],
                        ..Observation::default()
                    });
                }
            }
        }
        samples.plan = Some(Plan {
            stop: StopRule::Fixed { blocks: 24 },
            ..Plan::sequential(confidence, Threshold::Relative(0.01), 1)
        });
        samples.stop = Some(StopReason::Blocks);
        analyse(&samples, &Options::default()).expect("samples")
    }

    /// The answer about one program with 50 benchmarks; alarms are measured a second time.
    fn checked(ratio: f64, stream: &mut Stream) -> Answer {
        let confidence = confidence_of_program(0.95, 50, 50);
        let first = measured(50, ratio, confidence, stream);
        let mut program = CheckedProgram::new("p".to_owned(), first, Vec::new(), &[]);
        for row in program.alarms() {
            let own = if program.benchmark(&program.rows[row]) == "b0" { ratio } else { 1.0 };
            let second = measured(1, own, confidence, stream);
            program.settle(row, Second::of(&second.comparisons[0]));
        }
        answer(&[program])
    }

    #[test]
    fn a_benchmark_without_a_result_is_not_known() {
        let mut stream = Stream::new(12, 0);
        let of = |wanted: &[&str], stream: &mut Stream| {
            let names: Vec<String> = wanted.iter().map(|&name| name.to_owned()).collect();
            let own = measured(2, 1.0, 0.95, stream);
            CheckedProgram::new("p".to_owned(), own, Vec::new(), &names)
        };
        let all = of(&["b0", "b1"], &mut stream);
        assert!(all.missing.is_empty());
        let mut some = of(&["b0", "b1", "b2"], &mut stream);
        assert_eq!(some.missing, ["b2"]);
        some.rows.iter_mut().for_each(|row| row.standing = Standing::Equivalent);
        assert_eq!(answer(&[some.clone()]), Answer::Inconclusive);
        some.missing.clear();
        assert_eq!(answer(&[some]), Answer::Equivalent);
    }

    #[test]
    fn unchanged_suites_with_outliers_raise_no_alarm_and_a_slowdown_among_them_is_found() {
        let mut stream = Stream::new(11, 0);
        let alarms = (0..200).filter(|_| checked(1.0, &mut stream) == Answer::Slower).count();
        assert!(alarms <= 10, "{alarms} of 200 unchanged suites");
        let found = (0..10).filter(|_| checked(1.1, &mut stream) == Answer::Slower).count();
        assert!(found >= 9, "{found} of 10 slowdowns by 10 %");
    }
}
