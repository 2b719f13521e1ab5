//! The causes that the numbers of a record support, most likely first.
//!
//! Causes outside the program come first (another machine, a reference that differs from itself).
//! Signs that the sides cannot be compared as intended (identical code, different output) follow.
//! Sampled functions come before the parts of the time, or after them if the largest part is not
//! user time. For each part, the counts that explain it are named or, if there are none, the part
//! itself.
//!
//! A count explains a part of the time if it changed in the same direction, and by enough to
//! account for the part: `COSTS` contains the longest plausible duration of one page fault,
//! allocation, 512-byte disk block or context switch. A count that rose with the time, but by too
//! little, is not named. Instructions explain processor time on the log scale: the ratio of the
//! times is the ratio of the instructions times that of the time per instruction.

use super::parts::{Part, PartName};
use super::{Change, Direction, FunctionPart, Why};
use crate::analysis::Analysis;
use crate::analysis::controls::has_same_code;
use crate::checks::MACHINE_FACTS;
use crate::comparison::{Comparison, Effect};
use crate::verdict::Scale;
use assay_data::{Design, Samples};
use assay_stats::Interval;

/// Minimum effect of a control, as a share of the difference, for the control to explain the
/// difference.
const FLOOR: f64 = 0.5;
/// Minimum share of the difference for a part or a function to be named.
const SMALLEST_PART: f64 = 0.2;
/// Minimum share of a part that a count must be able to explain.
const ENOUGH: f64 = 0.5;
/// Maximum number of instructions of an additional allocation, including its release and use.
const PER_ALLOCATION: f64 = 600.0;

/// The plausible duration of one counted event.
struct Cost {
    metric: &'static str,
    part: PartName,
    /// Maximum in seconds; infinite for waits, which have no usual length.
    most: f64,
    /// Typical value in seconds, which determines the order of counts that explain the same part.
    usual: f64,
}

/// The costs of counted events.
///
/// - A page fault takes 0.1 to 1 µs, and up to 5 µs in virtual machines.
/// - An allocation with its release takes 20 to 100 ns.
/// - A block of 512 bytes takes 1 µs to 2 ms on a disk, and 0.1 µs when written to the cache.
/// - A switch to another thread takes 1 to 5 µs, and up to 20 µs in virtual machines.
/// - A wait for a processor lasts up to a few slices of 3 to 30 ms.
const COSTS: [Cost; 10] = [
    cost("minor_faults", PartName::System, 5e-6, 5e-7),
    cost("block_in", PartName::System, 2e-5, 1e-6),
    cost("block_out", PartName::System, 2e-5, 2e-7),
    cost("voluntary_switches", PartName::System, 2e-5, 3e-6),
    cost("allocations", PartName::User, 2e-7, 5e-8),
    cost("major_faults", PartName::Waiting, 5e-2, 1e-4),
    cost("block_in", PartName::Waiting, 2e-3, 5e-6),
    cost("block_out", PartName::Waiting, 2e-3, 5e-6),
    cost("involuntary_switches", PartName::Waiting, 1e-1, 3e-3),
    cost("voluntary_switches", PartName::Waiting, f64::INFINITY, 1e-7),
];

const fn cost(metric: &'static str, part: PartName, most: f64, usual: f64) -> Cost {
    Cost { metric, part, most, usual }
}

/// A cause of a difference.
#[derive(Clone, Debug, PartialEq)]
pub struct Cause {
    /// Kind of the cause.
    pub kind: Kind,
    /// Share of the difference that the cause may explain; `None` if unknown.
    pub share: Option<Effect>,
}

/// The kind of a cause.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// The sides were recorded on different machines; contains the names of the facts that differ.
    Machine(Vec<&'static str>),
    /// The reference, measured twice, differs from itself by this effect.
    Floor(Effect),
    /// The code is the same on both sides, but its placement in memory differs.
    Placement,
    /// The outputs differ, so the sides do different work.
    Output,
    /// A function, by its index among the sampled functions.
    Function(usize),
    /// A count that explains a part of the time.
    Count {
        /// Index of the change.
        change: usize,
        /// The part that the count explains.
        part: PartName,
    },
    /// The number of instructions changed.
    Instructions {
        /// Index of the change.
        change: usize,
        /// Share of the change in processor time that the instructions explain.
        explains: Effect,
    },
    /// The time per instruction changed.
    PerInstruction {
        /// Index of the change of the instructions.
        change: usize,
        /// Share of the change in processor time that the number of instructions explains.
        explains: Effect,
    },
    /// A part of the time without a known cause.
    Part(PartName),
}

/// Returns the causes, most likely first.
pub(super) fn of(samples: &Samples, analysis: &Analysis, why: &Why) -> Vec<Cause> {
    let c = &why.comparison;
    let mut found: Vec<Cause> = Vec::new();
    let alone = |kind: Kind| Cause { kind, share: None };
    found.extend(machine(analysis).map(alone));
    found.extend(floor(analysis, c).map(alone));
    if has_same_code(samples, c.metric, c.of, c.against) {
        found.push(alone(Kind::Placement));
    }
    if analysis.has_different_output(c) || is_of_other_work(analysis, c) {
        found.push(alone(Kind::Output));
    }
    let leading: Vec<&Part> = why
        .parts
        .iter()
        .filter(|part| part.is_known() && part.share.is_some_and(|s| s.estimate >= SMALLEST_PART))
        .collect();
    let functions = of_functions(why);
    let parts = of_parts(analysis, why, &leading);
    // Samples show where processor time is spent, but do not show waiting.
    let is_of_user = leading.first().is_none_or(|part| part.name == PartName::User);
    let (first, second) = if is_of_user { (functions, parts) } else { (parts, functions) };
    found.extend(first);
    found.extend(second);
    if why.parts.is_empty() {
        found.extend(instructions(analysis, why, time_of(c), None));
    }
    found
}

/// Returns the functions that are a large part of the difference, largest share first.
fn of_functions(why: &Why) -> Vec<Cause> {
    let of = |(index, own): (usize, &FunctionPart)| {
        let share = own.share.filter(|share| own.is_known() && share.estimate >= SMALLEST_PART)?;
        let share = Effect { estimate: share.estimate, interval: Some(share.interval) };
        Some(Cause { kind: Kind::Function(index), share: Some(share) })
    };
    why.functions.iter().enumerate().filter_map(of).collect()
}

/// Returns the causes that explain each of these parts.
fn of_parts(analysis: &Analysis, why: &Why, leading: &[&Part]) -> Vec<Cause> {
    let mut found = Vec::new();
    for part in leading {
        let share = part.share.map(|s| Effect { estimate: s.estimate, interval: Some(s.interval) });
        let counts = counts(analysis, why, part);
        let mut own: Vec<Cause> = counts
            .into_iter()
            .map(|change| Cause { kind: Kind::Count { change, part: part.name }, share })
            .collect();
        if part.name == PartName::User {
            let user = analysis.secondary_of(why.comparison.of, "user");
            own.extend(instructions(analysis, why, user.and_then(time_of), share));
        }
        if own.is_empty() {
            own.push(Cause { kind: Kind::Part(part.name), share });
        }
        found.extend(own);
    }
    found
}

/// Returns the facts in which the machines of separate recordings differ, if any.
fn machine(analysis: &Analysis) -> Option<Kind> {
    let facts = &analysis.environment.facts;
    let differs = |fact: &&'static str| {
        facts.keys().any(|key| key.split_once('@').is_some_and(|(name, _)| name == *fact))
    };
    let differing: Vec<&'static str> = MACHINE_FACTS.into_iter().filter(differs).collect();
    (analysis.design == Design::Unpaired && !differing.is_empty())
        .then_some(Kind::Machine(differing))
}

/// Returns the difference of the reference from itself, if it is large compared with that of the
/// sides.
fn floor(analysis: &Analysis, c: &Comparison) -> Option<Kind> {
    let control = analysis.controls.iter().find(|own| own.against == c.against)?;
    let interval = control.decision.interval?;
    let is_large = control.decision.estimate.abs() >= FLOOR * c.decision.estimate.abs();
    let same = control.decision.scale == c.decision.scale;
    (same && is_large && !interval.contains(0.0))
        .then(|| Kind::Floor(control.ratio.unwrap_or(control.shift)))
}

/// Returns true if a side of a suite does different work than the reference.
fn is_of_other_work(analysis: &Analysis, c: &Comparison) -> bool {
    analysis.is_suite() && analysis.side_has_different_output(analysis.subjects[c.of].side)
}

/// Returns the changes that explain a part of the time, most likely first.
fn counts(analysis: &Analysis, why: &Why, part: &Part) -> Vec<usize> {
    let mut found: Vec<(usize, f64)> = Vec::new();
    for (index, change) in why.changes.iter().enumerate() {
        let name = analysis.metrics[change.metric].name.as_str();
        let cost = COSTS.iter().find(|cost| cost.metric == name && cost.part == part.name);
        let Some(cost) = cost.filter(|_| goes_with(change.direction, part.seconds)) else {
            continue;
        };
        let count = change.shift.estimate.abs();
        let explains = count * cost.most >= ENOUGH * part.seconds.abs();
        let is_allocation = name != "allocations" || is_of_allocations(analysis, why, count);
        if explains && is_allocation {
            found.push((index, count * cost.usual));
        }
    }
    found.sort_by(|a, b| b.1.total_cmp(&a.1));
    found.into_iter().map(|(index, _)| index).collect()
}

/// Returns true if the change in instructions is unknown, or small enough to be due to the change
/// in allocations.
fn is_of_allocations(analysis: &Analysis, why: &Why, count: f64) -> bool {
    instructions_of(analysis, why)
        .is_none_or(|(_, change)| change.shift.estimate.abs() <= PER_ALLOCATION * count)
}

/// Returns true if a count changed in the direction of the time.
fn goes_with(direction: Direction, seconds: f64) -> bool {
    match direction {
        Direction::More => seconds > 0.0,
        Direction::Less => seconds < 0.0,
        Direction::Unchanged | Direction::Unknown => false,
    }
}

/// Returns the change in instructions, with its index.
fn instructions_of<'a>(analysis: &Analysis, why: &'a Why) -> Option<(usize, &'a Change)> {
    let named = |name: &str| {
        let is_own = |change: &&Change| {
            let own = analysis.metrics[change.metric].name.as_str();
            own == name || own.strip_suffix(assay_data::samples::PER_ITERATION) == Some(name)
        };
        let at = why.changes.iter().position(|change| is_own(&change))?;
        Some((at, &why.changes[at]))
    };
    // Simulated instructions are preferred, because they exclude the kernel and have almost no
    // noise.
    named(assay_data::samples::VALGRIND_INSTRUCTIONS).or_else(|| named("instructions"))
}

/// Returns the effect of a comparison of times on the scale of ratios, if its direction is known.
fn time_of(c: &Comparison) -> Option<Effect> {
    let is_known = |own: &Effect| own.interval.is_some_and(|i| i.lower > 1.0 || i.upper < 1.0);
    c.ratio.filter(is_known).filter(|_| c.decision.scale == Scale::Ratio)
}

/// Returns what caused the change in processor time, if instructions were counted: their number, or
/// the time per instruction.
fn instructions(
    analysis: &Analysis,
    why: &Why,
    time: Option<Effect>,
    share: Option<Effect>,
) -> Option<Cause> {
    let (change, own) = instructions_of(analysis, why)?;
    let explains = quotient(own.ratio?, time?)?;
    let interval = explains.interval?;
    let kind = if explains.estimate >= ENOUGH && interval.lower > 0.0 {
        Kind::Instructions { change, explains }
    } else if interval.upper < ENOUGH {
        Kind::PerInstruction { change, explains }
    } else {
        return None;
    };
    Some(Cause { kind, share })
}

/// Returns the quotient of the logarithms of two ratios. Its interval covers all quotients of
/// numbers in their intervals.
fn quotient(of: Effect, whole: Effect) -> Option<Effect> {
    let (own, all) = (of.interval?, whole.interval?);
    let ends = [own.lower, own.upper].map(f64::ln);
    let wholes = [all.lower, all.upper].map(f64::ln);
    let quotients: Vec<f64> =
        ends.iter().flat_map(|end| wholes.iter().map(move |whole| end / whole)).collect();
    let lower = quotients.iter().copied().fold(f64::INFINITY, f64::min);
    let upper = quotients.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let interval = Interval { lower, upper };
    let estimate = of.estimate.ln() / whole.estimate.ln();
    (estimate.is_finite() && interval.is_bounded())
        .then_some(Effect { estimate, interval: Some(interval) })
}
