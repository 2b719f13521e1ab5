//! How a scan's values grow with its parameter: the exponent of a power law, and whether
//! one power does for all of it.
//!
//! Method: in every block the least-squares slope of log(value) on log(parameter), then over the blocks the signed-rank
//! pseudo-median of these slopes with its Walsh interval (Hollander, Wolfe & Chicken, *Nonparametric Statistical Methods*, 3rd ed.,
//! ch. 3), as [`crate::paired`] does for differences. A slope per block rather than one fit through all values: what slows a whole
//! block down cancels in its slope, and the interval rests on the random order within blocks, not on a model of the noise. The
//! quadratic coefficient is treated likewise, and says where a single power does not do. Empirical curves of this kind: McGeoch,
//! *A Guide to Experimental Algorithmics*, ch. 7. It must not extrapolate: nothing is said beyond the values that were measured.

use crate::comparison::{Effect, effect_of_blocks};
use crate::design::level_for;
use crate::paired;
use assay_data::samples::BlockRow;
use assay_data::{Plan, Samples, Subject};
use assay_stats::{Interval, descriptive, signed_rank::SignedRankDistribution};

/// Fewest values of a parameter for a curve: two points make a line whatever is true.
const FEWEST_POINTS: usize = 3;
/// Fewest blocks for an exponent.
pub const FEWEST_BLOCKS: usize = 5;
/// Local exponents that differ by no more are told as one power, even where the bend is real.
const BEND: f64 = 0.1;

/// One command's values over one numeric parameter of a scan, all else held equal.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// What the command is called without its values, as in `sort {n}`.
    pub command: String,
    /// Which of the scan's commands it is, counted from 0.
    pub command_index: usize,
    /// Name of the parameter.
    pub parameter: String,
    /// The other parameters, with the values at which they are held.
    pub fixed: Vec<(String, String)>,
    /// The points, by ascending value of the parameter.
    pub points: Vec<Point>,
    /// The power with which the values grow, or why none is given.
    pub exponent: Result<Exponent, NoExponent>,
}

/// One point of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Value of the parameter, positive.
    pub value: f64,
    /// Index of the subject.
    pub subject: usize,
    /// Median of its primary metric; NaN without values.
    pub median: f64,
}

/// The power of the parameter with which values grow.
#[derive(Clone, Debug, PartialEq)]
pub struct Exponent {
    /// Best estimate: 1 where twice the parameter means twice the value.
    pub estimate: f64,
    /// Its interval at the level of the plan; `None` when there are too few blocks for one.
    pub interval: Option<Interval>,
    /// Exponents between neighbouring points, from the smallest parameter on.
    pub steps: Vec<f64>,
    /// True when a single power does not do: the quadratic coefficient's interval excludes 0, and the exponents between neighbours
    /// differ by more than a tenth.
    pub curved: bool,
    /// Complete blocks that it rests on.
    pub blocks: usize,
}

/// Why no exponent is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoExponent {
    /// The samples were not taken in blocks.
    NotInBlocks,
    /// There are fewer than five complete blocks: so many.
    TooFewBlocks(usize),
    /// A value is zero or negative, and has no logarithm.
    NotPositive,
}

/// The commands of a scan.
///
/// A scan's subjects are laid out value by value: for each combination of parameter values every command, in their order. Where
/// commands have values of their own, those of one combination belong together by their place alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// Number of commands: of each combination's subjects.
    pub commands: usize,
    /// What the commands are called without their values.
    pub labels: Vec<String>,
    /// True when the commands of a combination do not have the same parameters with the same values.
    pub own_values: bool,
}

impl Layout {
    /// The layout of these subjects; `None` where they are no scan, or where one can't tell whose values are whose.
    pub fn of(subjects: &[Subject]) -> Option<Self> {
        if let Some(commands) = alike(subjects) {
            let label = |k: usize| {
                label(subjects, commands, k).unwrap_or_else(|| format!("command {}", k + 1))
            };
            let labels = (0..commands).map(label).collect();
            return Some(Self { commands, labels: told_apart(labels), own_values: false });
        }
        if subjects.iter().all(|s| s.parameters.is_empty()) {
            return None;
        }
        let divides = |n: &usize| subjects.len().is_multiple_of(*n);
        (1..=subjects.len() / 2)
            .filter(divides)
            .find_map(|commands| Self::by_names(subjects, commands))
    }

    /// The layout with so many commands, if references and names agree with it: one command's names differ by its values alone.
    fn by_names(subjects: &[Subject], commands: usize) -> Option<Self> {
        let refers = subjects.iter().all(|s| s.against.is_some());
        let plausible = (commands == 1 || refers) && references_allow(subjects, commands);
        let (first, rest) = subjects.split_at(commands);
        let named_alike =
            |(index, s): (usize, &Subject)| names(s).eq(names(&first[index % commands]));
        if !plausible || !rest.iter().enumerate().all(named_alike) {
            return None;
        }
        let labels: Option<_> = (0..commands).map(|k| label(subjects, commands, k)).collect();
        Some(Self { commands, labels: told_apart(labels?), own_values: commands > 1 })
    }

    /// Whether two subjects belong to the same combination.
    pub fn together(&self, a: usize, b: usize) -> bool {
        a / self.commands == b / self.commands
    }
}

/// The number of commands, several, that have the same parameters with the same values in every combination.
fn alike(subjects: &[Subject]) -> Option<usize> {
    let first = subjects.first()?;
    let commands = subjects.iter().take_while(|s| s.parameters == first.parameters).count();
    let same = |block: &[Subject]| {
        block.iter().all(|s| s.parameters == block[0].parameters)
            && names(&block[0]).eq(names(first))
    };
    let whole =
        commands > 1 && !first.parameters.is_empty() && subjects.len().is_multiple_of(commands);
    (whole && subjects.chunks(commands).all(same) && references_allow(subjects, commands))
        .then_some(commands)
}

fn names(subject: &Subject) -> impl Iterator<Item = &str> {
    subject.parameters.iter().map(|(name, _)| name.as_str())
}

/// Whether there may be so many commands by whom their subjects are compared with: all with the same one, or each with one of its
/// own combination (of one command: with itself). Nothing is known where some name nobody.
fn references_allow(subjects: &[Subject], commands: usize) -> bool {
    let Some(references) = subjects.iter().map(|s| s.against).collect::<Option<Vec<usize>>>()
    else {
        return true;
    };
    references.iter().all(|r| r == &references[0])
        || references.iter().enumerate().all(|(of, against)| of / commands == against / commands)
}

/// What a command is called without its values: as it was recorded, else as its names tell; `None` where its names have nothing in common.
fn label(subjects: &[Subject], commands: usize, command: usize) -> Option<String> {
    let own: Vec<&Subject> = subjects.iter().skip(command).step_by(commands).collect();
    if let Some(label) = &own.first()?.label
        && own.iter().all(|s| s.label.as_ref() == Some(label))
    {
        return Some(label.clone());
    }
    Some(without_values(template(&own)?, &own.first()?.parameters))
}

/// Labels of which those that are taken have a number behind them, as names of subjects do.
fn told_apart(labels: Vec<String>) -> Vec<String> {
    let mut apart: Vec<String> = Vec::new();
    for label in labels {
        let numbered = (2..=apart.len() + 1).map(|number| format!("{label} #{number}"));
        let free = std::iter::once(label.clone()).chain(numbered).find(|l| !apart.contains(l));
        apart.push(free.unwrap_or(label));
    }
    apart
}

/// A label without the ` n={n}` behind it, as names get it that did not hold their values: a table says that anyway.
fn without_values(mut label: String, parameters: &[(String, String)]) -> String {
    for (name, _) in parameters.iter().rev() {
        if let Some(rest) = label.strip_suffix(&format!(" {name}={{{name}}}"))
            && !rest.is_empty()
        {
            label.truncate(rest.len());
        }
    }
    label
}

/// The names of one command with `{parameter}` in the place of its values: `sort {n}` for `sort 1` and `sort 2`. The name of one
/// combination gives it, if its values stand out in that name well enough to give all the others back. Names may also differ by
/// the number behind them, as samples add it to names that are taken.
fn template(subjects: &[&Subject]) -> Option<String> {
    let filled = |text: &str, parameters: &[(String, String)]| {
        parameters.iter().fold(text.to_owned(), |text, (name, value)| {
            text.replace(&format!("{{{name}}}"), value)
        })
    };
    let fits = |text: &String| {
        subjects.iter().all(|s| {
            let name = filled(text, &s.parameters);
            name == s.name || name == unnumbered(s)
        })
    };
    let emptied = |subject: &Subject, apart: Apart| {
        subject.parameters.iter().fold(unnumbered(subject), |text, (parameter, value)| {
            replace(&text, value, &format!("{{{parameter}}}"), apart)
        })
    };
    let ways = [Apart::Words, Apart::Digits];
    let templates =
        ways.into_iter().flat_map(|apart| subjects.iter().map(move |s| emptied(s, apart)));
    let base = unnumbered(subjects.first()?);
    let same = || subjects.iter().all(|s| unnumbered(s) == base);
    templates.into_iter().find(fits).or_else(|| same().then(|| base.clone()))
}

/// The name of a subject without the number that it got because the name was taken.
fn unnumbered(subject: &Subject) -> String {
    match subject.name.rsplit_once(" #") {
        Some((name, number)) if number.chars().all(|c| c.is_ascii_digit()) => name.to_owned(),
        _ => subject.name.clone(),
    }
}

/// What may not touch a value for it to stand by itself: `4` in `-j 4`, or also in `-j4`.
#[derive(Clone, Copy)]
enum Apart {
    /// Letters and digits.
    Words,
    /// Digits.
    Digits,
}

/// Replaces `value` where it stands by itself.
fn replace(text: &str, value: &str, by: &str, apart: Apart) -> String {
    let mut replaced = String::new();
    let mut rest = text;
    let touches = |c: Option<char>| {
        c.is_some_and(|c| match apart {
            Apart::Words => c.is_alphanumeric() || c == '{',
            Apart::Digits => c.is_ascii_digit() || c == '{',
        })
    };
    while let Some(at) = rest.find(value).filter(|_| !value.is_empty()) {
        let (before, from) = rest.split_at(at);
        let after = &from[value.len()..];
        let last = before.chars().next_back().or_else(|| replaced.chars().next_back());
        replaced += before;
        replaced += if touches(last) || touches(after.chars().next()) { value } else { by };
        rest = after;
    }
    replaced + rest
}

/// The curves of a scan: for every command, every numeric parameter with at least three distinct positive values, and every
/// combination of the others; its own values, where commands have some of their own. `rows`: the complete blocks of the metric, `None` for samples that were not taken in blocks.
/// O(subjects · blocks · log blocks).
pub fn curves(
    samples: &Samples,
    layout: &Layout,
    metric: usize,
    plan: &Plan,
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
                let exponent = exponent(&points, plan, rows, distribution);
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

type Fixed = Vec<(String, String)>;

/// The values of one parameter with their subjects, ascending, for each combination of the others in the order of the scan.
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
        let value = value.trim().parse::<f64>().ok().filter(|v| v.is_finite());
        // A parameter that is not a number anywhere is none.
        let Some(value) = value else { return Vec::new() };
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
    groups.retain(|(_, values)| values.len() >= FEWEST_POINTS);
    groups
}

fn exponent(
    points: &[Point],
    plan: &Plan,
    rows: Option<&Vec<BlockRow>>,
    distribution: &mut SignedRankDistribution,
) -> Result<Exponent, NoExponent> {
    let rows = rows.ok_or(NoExponent::NotInBlocks)?;
    if rows.len() < FEWEST_BLOCKS {
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
    let level = level_for(plan, 1);
    let mut over_blocks = |weights: &[f64]| -> Effect {
        let along = |y: &Vec<f64>| weights.iter().zip(y).map(|(w, y)| w * y).sum();
        let found: Vec<f64> = logs.iter().map(along).collect();
        let drifts = paired::drifting(&found).is_some();
        effect_of_blocks(&found, level, distribution, drifts)
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
        curved: bent && most - least > BEND,
        steps,
        blocks: rows.len(),
    })
}

/// The weights with which values over `x` (three or more, distinct, ascending) add up to their least-squares slope, and to the
/// quadratic coefficient of the parabola through them.
fn contrasts(x: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let n = x.len() as f64;
    let mean = x.iter().sum::<f64>() / n;
    let linear: Vec<f64> = x.iter().map(|x| x - mean).collect();
    let squares: f64 = linear.iter().map(|l| l * l).sum();
    // What of the square is neither constant nor linear.
    let along = linear.iter().map(|l| l * l * l).sum::<f64>() / squares;
    let quadratic: Vec<f64> = linear.iter().map(|l| l * l - squares / n - along * l).collect();
    let size: f64 = quadratic.iter().map(|q| q * q).sum();
    (linear.iter().map(|l| l / squares).collect(), quadratic.iter().map(|q| q / size).collect())
}

#[cfg(test)]
mod tests;
