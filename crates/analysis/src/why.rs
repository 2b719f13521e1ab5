//! Explains why one side takes longer than the other, from everything in a record.
//!
//! There are three kinds of evidence of different strength. Wall time is the sum of user time,
//! system time and waiting, so each of these has an exact share of the difference, with an interval
//! ([`parts`]). Sampled functions divide processor time in the same way ([`functions`]). A count
//! (page faults, allocations, instructions) is not part of the time itself, but can explain a part
//! that changed in the same direction, if the count changed by enough, given the cost of each event
//! ([`causes`]).
//!
//! A cause is named only if the interval of its effect excludes zero.

mod causes;
mod functions;
mod parts;

#[cfg(test)]
mod tests;

use crate::analysis::{Analysis, is_suite};
use crate::comparison::{Comparison, Effect};
use crate::verdict::Verdict;
use assay_data::{Samples, Subject, list};
use assay_stats::ratio_of_means::RatioOfMeans;

pub use causes::{Cause, Kind};
pub use functions::{CodeChange, FunctionPart, Sampled};
pub use parts::{Part, PartName, Whole};

/// Number of names listed in an error.
const SHOWN: usize = 5;

/// A count with a smaller relative change counts as unchanged.
const UNCHANGED: f64 = 0.01;

/// The direction of a metric's change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The side has more than its reference.
    More,
    /// The side has less than its reference.
    Less,
    /// The change is smaller than 1 %.
    Unchanged,
    /// Unknown.
    Unknown,
}

/// The change of a metric other than the parts of the time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Index of the metric.
    pub metric: usize,
    /// Side / reference; `None` if a value is zero.
    pub ratio: Option<Effect>,
    /// Side − reference, in the metric's unit.
    pub shift: Effect,
    /// Direction of the change.
    pub direction: Direction,
}

/// An input of two commands that differs between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// The files of the program; contains the name of the only file that differs, if the others are
    /// the same.
    Files(Option<String>),
    /// The command line.
    Arguments,
    /// Variables of the environment, by name.
    Environment(Vec<String>),
    /// Settings of the processes, by name.
    Settings(Vec<String>),
    /// The working directory.
    Directory,
    /// The number of runs in parallel.
    Jobs,
}

/// The explanation of one difference.
#[derive(Clone, Debug, PartialEq)]
pub struct Why {
    /// The difference of the primary metric.
    pub comparison: Comparison,
    /// The time that is divided into parts.
    pub whole: Whole,
    /// The parts of the time, largest share first; empty if the record has none.
    pub parts: Vec<Part>,
    /// The sampled functions, largest share first; empty if there is no sampling.
    pub functions: Vec<FunctionPart>,
    /// The other metrics, in the order of the record.
    pub changes: Vec<Change>,
    /// The inputs in which the sides differ, if recorded.
    pub inputs: Vec<Input>,
    /// The causes supported by the numbers, most likely first.
    pub causes: Vec<Cause>,
}

impl Why {
    /// Returns true if there is a difference to explain.
    pub fn has_difference(&self) -> bool {
        self.comparison.decision.verdict.is_directional()
    }

    /// Returns the part with this name.
    pub fn part(&self, name: PartName) -> Option<&Part> {
        self.parts.iter().find(|part| part.name == name)
    }
}

/// Reasons why no difference can be explained.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WhyError {
    /// There is only one command or series of numbers.
    #[error(
        "there is only one series, and nothing to compare it with; give a second file, or a record of several commands"
    )]
    Alone,
    /// No side, row or subject has this name.
    #[error("--of {0}: nothing that was compared has this name; there are {1}")]
    Unknown(String, String),
}

/// Returns the index of the comparison to explain: the one whose side, row or subject has this
/// name. Without a name, it is the comparison with the largest difference found, or else the first.
///
/// # Errors
/// If nothing was compared, or no side, row or subject has this name.
pub fn choose(analysis: &Analysis, of: Option<&str>) -> Result<usize, WhyError> {
    let all = &analysis.comparisons;
    if all.is_empty() {
        return Err(WhyError::Alone);
    }
    let size = |c: &Comparison| match c.decision.verdict {
        Verdict::Faster | Verdict::Slower => c.decision.estimate.abs(),
        Verdict::Equivalent | Verdict::Inconclusive => 0.0,
    };
    let names = |c: &Comparison| {
        let subject = &analysis.subjects[c.of];
        let side = &analysis.sides[subject.side].name;
        [&subject.name, &analysis.row_of(c).name, side].map(String::as_str)
    };
    let is_wanted = |c: &Comparison| of.is_none_or(|name| names(c).contains(&name));
    let wanted = (0..all.len()).filter(|&index| is_wanted(&all[index]));
    // Of several equal ones, the first.
    let largest =
        wanted.reduce(|best, next| if size(&all[next]) > size(&all[best]) { next } else { best });
    largest.ok_or_else(|| {
        let name = |c: &Comparison| {
            let [subject, row, _] = names(c);
            format!("`{}`", if row.is_empty() { subject } else { row })
        };
        let known: Vec<String> = all.iter().map(name).collect();
        WhyError::Unknown(of.unwrap_or_default().to_owned(), list::first(&known, SHOWN))
    })
}

/// Explains a comparison, given by its index, of analyzed samples. O(observations log).
pub fn explain(
    samples: &Samples,
    analysis: &Analysis,
    index: usize,
    sampled: Option<&Sampled<'_>>,
) -> Why {
    let comparison = analysis.comparisons[index].clone();
    let confidence = analysis.plan.confidence;
    let (whole, parts) = parts::of(samples, analysis, &comparison);
    let functions = sampled.map_or_else(Vec::new, |own| functions::of(own, confidence));
    let mut why = Why {
        whole,
        parts,
        functions,
        changes: changes(analysis, &comparison),
        inputs: inputs(samples, &comparison),
        causes: Vec::new(),
        comparison,
    };
    if why.has_difference() {
        why.causes = causes::of(samples, analysis, &why);
    }
    why
}

/// Returns the changes of all metrics other than the parts of the time.
fn changes(analysis: &Analysis, comparison: &Comparison) -> Vec<Change> {
    let is_same = |c: &&Comparison| (c.of, c.against) == (comparison.of, comparison.against);
    let is_time = |c: &&Comparison| parts::is_time(&analysis.metrics[c.metric]);
    let own = analysis.secondary.iter().filter(is_same).filter(|c| !is_time(c));
    own.map(|c| Change {
        metric: c.metric,
        ratio: c.ratio,
        shift: c.shift,
        direction: direction(c),
    })
    .collect()
}

fn direction(c: &Comparison) -> Direction {
    let Some(interval) = c.decision.interval else { return Direction::Unknown };
    let unchanged = match c.ratio {
        Some(_) if c.decision.scale == crate::Scale::Ratio => UNCHANGED.ln_1p(),
        // Any difference from zero counts.
        _ => UNCHANGED * c.medians.0.abs(),
    };
    if interval.lower >= -unchanged && interval.upper <= unchanged {
        Direction::Unchanged
    } else if interval.lower > 0.0 {
        Direction::More
    } else if interval.upper < 0.0 {
        Direction::Less
    } else {
        Direction::Unknown
    }
}

/// Returns the inputs in which two commands differ.
fn inputs(samples: &Samples, comparison: &Comparison) -> Vec<Input> {
    let subject = |index: usize| samples.subjects.get(index);
    let (Some(one), Some(other)) = (subject(comparison.against), subject(comparison.of)) else {
        return Vec::new();
    };
    if is_suite(samples) || one.command.is_none() || other.command.is_none() {
        return Vec::new();
    }
    let mut found = Vec::new();
    if one.files != other.files {
        found.push(Input::Files(only_file(one, other)));
    }
    if rest(one) != rest(other) {
        found.push(Input::Arguments);
    }
    let differing = |a: &[(String, String)], b: &[(String, String)]| {
        let lacks = |own: &&(String, String), others: &[(String, String)]| !others.contains(own);
        let mut names: Vec<String> = (a.iter().filter(|own| lacks(own, b)))
            .chain(b.iter().filter(|own| lacks(own, a)))
            .map(|(name, _)| name.clone())
            .collect();
        names.sort();
        names.dedup();
        names
    };
    let environment = differing(&one.env, &other.env);
    found.extend((!environment.is_empty()).then_some(Input::Environment(environment)));
    let settings = differing(&one.control, &other.control);
    found.extend((!settings.is_empty()).then_some(Input::Settings(settings)));
    found.extend((one.cwd != other.cwd).then_some(Input::Directory));
    found.extend((one.jobs != other.jobs).then_some(Input::Jobs));
    found
}

/// Returns the name of the only file that differs, if it has one name on both sides.
fn only_file(one: &Subject, other: &Subject) -> Option<String> {
    let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    let differ = |own: &Subject, others: &Subject| {
        let left = own.files.iter().filter(|file| !others.files.contains(file));
        left.map(|(path, _)| name(path)).collect::<Vec<_>>()
    };
    match (differ(one, other).as_slice(), differ(other, one).as_slice()) {
        ([a], [b]) if a == b => Some(a.clone()),
        _ => None,
    }
}

/// Returns a command line without the words that name its files, which are compared by content.
fn rest(subject: &Subject) -> Vec<&str> {
    let line = subject.command.as_deref().unwrap_or_default();
    let is_file = |word: &&str| {
        let word = word.trim_start_matches("./");
        !subject.files.iter().any(|(path, _)| path == word || path.ends_with(&format!("/{word}")))
    };
    line.split_whitespace().filter(is_file).collect()
}

/// Returns true if a share of the difference is known to be positive.
fn is_known(share: Option<RatioOfMeans>) -> bool {
    share.is_some_and(|share| share.interval.lower > 0.0)
}
