//! The growth of a scan's values with its parameter: the exponent of a power law, and a check that
//! one power fits the whole range.
//!
//! The method computes the least-squares slope of log(value) on log(parameter) in each block, and
//! the signed-rank pseudo-median of these slopes over the blocks with its Walsh interval
//! (Hollander, Wolfe & Chicken, *Nonparametric Statistical Methods*, 3rd ed., ch. 3), as
//! [`crate::paired`] does for differences. With a slope per block rather than one fit through all
//! values, a slowdown of a whole block cancels in its slope, and the interval relies on the random
//! order within blocks, not on a model of the noise. The quadratic coefficient is treated in the
//! same way and shows whether a single power fits. For empirical curves of this kind, see McGeoch,
//! *A Guide to Experimental Algorithmics*, ch. 7. Nothing is extrapolated beyond the measured
//! values.

use crate::comparison::{Effect, effect_of_blocks};
use crate::design::looks::{self, End};
use crate::policy;
use assay_data::samples::BlockRow;
use assay_data::{ParameterValue, Plan, Samples, Subject};
use assay_stats::{Interval, descriptive, signed_rank::SignedRankDistribution};

/// One command's values over one numeric parameter of a scan, with all other parameters fixed.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Label of the command, as in [`Layout::labels`], such as `sort {n}`.
    pub command: String,
    /// Index of the command in the scan.
    pub command_index: usize,
    /// Name of the parameter.
    pub parameter: String,
    /// The other parameters, with their fixed values.
    pub fixed: Vec<(String, ParameterValue)>,
    /// The points, by ascending value of the parameter.
    pub points: Vec<Point>,
    /// The exponent of the growth, or the reason why there is none.
    pub exponent: Result<Exponent, NoExponent>,
}

/// One point of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Value of the parameter, positive.
    pub value: f64,
    /// Index of the subject.
    pub subject: usize,
    /// Median of the subject's primary metric; NaN if there are no values.
    pub median: f64,
}

/// The exponent of the growth with the parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Exponent {
    /// Estimate of the exponent. It is 1 if doubling the parameter doubles the value.
    pub estimate: f64,
    /// Interval of the exponent at the plan's level; `None` if there are too few blocks.
    pub interval: Option<Interval>,
    /// Exponents between neighboring points, by ascending parameter.
    pub steps: Vec<f64>,
    /// True if a single power does not fit: the quadratic coefficient's interval excludes 0, and
    /// the exponents between neighbors differ by more than a tenth.
    pub curved: bool,
    /// Number of complete blocks from which the exponent was computed.
    pub blocks: usize,
}

/// The reason why a curve has no exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoExponent {
    /// The samples were not taken in blocks.
    NotInBlocks,
    /// There are fewer than five complete blocks; contains their number.
    TooFewBlocks(usize),
    /// A value is zero or negative, and has no logarithm.
    NotPositive,
}

/// The arrangement of a scan's subjects.
///
/// A scan's subjects are laid out value by value: every command, in order, for each combination of
/// parameter values. Usually each side is one command. If a side has several commands, as in
/// another tool's file, each is identified by its name without parameter values. If commands have
/// parameter values of their own, only their position shows which of them form a combination.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// Number of commands, which is the number of subjects per combination.
    pub commands: usize,
    /// Label of each command: the name of its side if there are several sides, otherwise its name
    /// without parameter values.
    pub labels: Vec<String>,
    /// True if the commands of a combination differ in their parameters or values.
    pub own_values: bool,
}

impl Layout {
    /// Determines the layout of the subjects of `samples`; `None` if they are not a scan.
    /// O(subjects).
    pub fn of(samples: &Samples) -> Option<Self> {
        let subjects = &samples.subjects;
        let first = command(samples, subjects.first()?);
        let commands =
            1 + subjects[1..].iter().take_while(|s| command(samples, s) != first).count();
        let combinations = || subjects.chunks(commands);
        let in_order = |combination: &[Subject]| {
            let same = |(one, own): (&Subject, &Subject)| {
                command(samples, one) == command(samples, own) && same_names(one, own)
            };
            combination.len() == commands && combination.iter().zip(subjects).all(same)
        };
        let is_scan = subjects.iter().any(|s| !s.parameters.is_empty());
        if !is_scan || !combinations().all(in_order) {
            return None;
        }
        let own = |c: &[Subject]| c.iter().any(|s| s.parameters != c[0].parameters);
        let own_values = combinations().any(own);
        // A single combination is a scan only if several commands share it.
        if subjects.len() == commands && (commands == 1 || own_values) {
            return None;
        }
        let several_sides = samples.sides.len() > 1;
        let label = |s: &Subject| match several_sides {
            true => samples.side_of(s).name.clone(),
            false => command(samples, s).1.to_owned(),
        };
        Some(Self {
            commands,
            labels: subjects[..commands].iter().map(label).collect(),
            own_values,
        })
    }

    /// Returns true if two subjects belong to the same combination.
    pub fn together(&self, a: usize, b: usize) -> bool {
        a / self.commands == b / self.commands
    }
}

/// Returns what identifies the command of a subject: its side, and its name without parameter
/// values.
fn command<'a>(samples: &'a Samples, subject: &'a Subject) -> (usize, &'a str) {
    (subject.side, samples.label_of(subject).unwrap_or(samples.full_name(subject)))
}

/// Returns true if two subjects have the same parameters, regardless of values.
fn same_names(a: &Subject, b: &Subject) -> bool {
    a.parameters.iter().map(|(name, _)| name).eq(b.parameters.iter().map(|(name, _)| name))
}

/// Returns the curves of a scan: one for every command, every numeric parameter with at least three
/// distinct positive values, and every combination of the other parameters. If commands have
/// parameter values of their own, each curve uses those of its command.
///
/// `end` is the reason why measuring ended. `rows` contains the complete blocks of the metric; it
/// is `None` for samples without blocks. O(subjects · blocks · log blocks).
pub fn curves(
    samples: &Samples,
    layout: &Layout,
    metric: usize,
    (plan, end): (&Plan, End),
    rows: Option<&Vec<BlockRow>>,
    distribution: &mut SignedRankDistribution,
) -> Vec<Curve> {
    let mut curves = Vec::new();
    for command in 0..layout.commands {
        for (parameter, (name, _)) in samples.subjects[command].parameters.iter().enumerate() {
            for (fixed, values) in groups(&samples.subjects, layout, command, parameter) {
                let points: Vec<Point> = values
                    .into_iter()
                    .map(|(value, subject)| {
                        let values = samples.values(subject, metric);
                        let median =
                            if values.is_empty() { f64::NAN } else { descriptive::median(&values) };
                        Point { value, subject, median }
                    })
                    .collect();
                let exponent = exponent(&points, (plan, end), rows, distribution);
                curves.push(Curve {
                    command: layout.labels[command].clone(),
                    command_index: command,
                    parameter: name.clone(),
                    fixed,
                    points,
                    exponent,
                });
            }
        }
    }
    curves
}

type Fixed = Vec<(String, ParameterValue)>;

/// Returns the values of one parameter in ascending order, with their subjects, for each
/// combination of the other parameters in the order of the scan.
fn groups(
    subjects: &[Subject],
    layout: &Layout,
    command: usize,
    parameter: usize,
) -> Vec<(Fixed, Vec<(f64, usize)>)> {
    let mut groups: Vec<(Fixed, Vec<(f64, usize)>)> = Vec::new();
    for subject in (command..subjects.len()).step_by(layout.commands) {
        let mut others = subjects[subject].parameters.clone();
        let (_, value) = others.remove(parameter);
        // A parameter is numeric only if all of its values are numbers.
        let Some(value) = value.number() else { return Vec::new() };
        let at = groups.iter().position(|(fixed, _)| *fixed == others).unwrap_or_else(|| {
            groups.push((others, Vec::new()));
            groups.len() - 1
        });
        if value > 0.0 {
            groups[at].1.push((value, subject));
        }
    }
    for (_, values) in &mut groups {
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        values.dedup_by(|a, b| a.0 == b.0);
    }
    groups.retain(|(_, values)| values.len() >= policy::CURVE_POINTS);
    groups
}

fn exponent(
    points: &[Point],
    (plan, end): (&Plan, End),
    rows: Option<&Vec<BlockRow>>,
    distribution: &mut SignedRankDistribution,
) -> Result<Exponent, NoExponent> {
    let rows = rows.ok_or(NoExponent::NotInBlocks)?;
    if rows.len() < policy::CURVE_BLOCKS {
        return Err(NoExponent::TooFewBlocks(rows.len()));
    }
    let of_points = |row: &BlockRow| -> Vec<f64> {
        points.iter().map(|point| row.values[point.subject].ln()).collect()
    };
    let logs: Vec<Vec<f64>> = rows.iter().map(of_points).collect();
    if logs.iter().flatten().any(|log| !log.is_finite()) {
        return Err(NoExponent::NotPositive);
    }
    let x: Vec<f64> = points.iter().map(|point| point.value.ln()).collect();
    let (slope, bend) = contrasts(&x);
    let level = looks::level(plan, 1.0, rows.len(), end);
    let mut over_blocks = |weights: &[f64]| -> Effect {
        let along = |y: &Vec<f64>| weights.iter().zip(y).map(|(w, y)| w * y).sum();
        let found: Vec<f64> = logs.iter().map(along).collect();
        effect_of_blocks(&found, level, distribution)
    };
    let whole = over_blocks(&slope);
    let bent = over_blocks(&bend).interval.is_some_and(|i| !i.contains(0.0));
    let steps: Vec<f64> = (1..x.len())
        .map(|right| {
            let mut weights = vec![0.0; x.len()];
            let run = x[right] - x[right - 1];
            (weights[right - 1], weights[right]) = (-1.0 / run, 1.0 / run);
            over_blocks(&weights).estimate
        })
        .collect();
    let least = steps.iter().copied().fold(f64::INFINITY, f64::min);
    let most = steps.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Ok(Exponent {
        estimate: whole.estimate,
        interval: whole.interval,
        curved: bent && most - least > policy::CURVE_BEND,
        steps,
        blocks: rows.len(),
    })
}

/// Returns weights for combining the values over `x` (three or more, distinct, ascending) into
/// their least-squares slope, and into the quadratic coefficient of the parabola fitted to them.
fn contrasts(x: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let n = x.len() as f64;
    let mean = x.iter().sum::<f64>() / n;
    let linear: Vec<f64> = x.iter().map(|x| x - mean).collect();
    let squares: f64 = linear.iter().map(|l| l * l).sum();
    // The component of the square that is neither constant nor linear.
    let along = linear.iter().map(|l| l * l * l).sum::<f64>() / squares;
    let quadratic: Vec<f64> = linear.iter().map(|l| l * l - squares / n - along * l).collect();
    let size: f64 = quadratic.iter().map(|q| q * q).sum();
    (linear.iter().map(|l| l / squares).collect(), quadratic.iter().map(|q| q / size).collect())
}

#[cfg(test)]
mod tests;
