//! Compares the results of commands: their exit status, their standard output, and the files named
//! by `--same`.
//!
//! Only warm-up runs are observed, never measured ones. If a command's outputs differ from those of
//! its reference, each of the two is run once more, untimed. Parts that differ between runs of the
//! same command (times, addresses, order) are not comparable. Outputs are read while they are
//! written, into traces of bounded size.

pub(super) mod difference;
mod discarded;

pub(crate) use discarded::read_where_noticed;

use super::Prepared;
use assay_data::Samples;
use assay_data::finding::shared::{OUTPUTS, SAME_OUTPUTS};
use assay_measure::Outcome;
use assay_measure::trace::{Region, Trace};
use std::time::Duration;

/// Minimum time between two writes of a file that lets its modification time show whether a run
/// wrote it. Some file systems record times in steps of up to 10 ms.
pub(super) const TIME_STEP: Duration = Duration::from_millis(20);
/// Index of the exit status among the parts of every command.
pub(super) const STATUS: usize = 0;
/// Index of standard output among the parts of every command.
pub(super) const STDOUT: usize = 1;

/// A result of a run that can be compared: the exit status, standard output, or a file.
#[derive(Clone, Debug)]
pub(super) enum Part {
    Status(Outcome),
    Bytes(Trace),
    /// There is no such file.
    Missing,
    /// The run did not write to the file.
    Untouched,
    /// Not compared, because a metric is read from it.
    Metric,
    /// Not comparable, with the reason.
    Unknown(String),
}

impl Part {
    pub fn trace(&self) -> Option<&Trace> {
        match self {
            Self::Bytes(trace) => Some(trace),
            _ => None,
        }
    }

    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Status(own), Self::Status(other)) => own == other,
            (Self::Bytes(own), Self::Bytes(other)) => own.first_difference(other).is_none(),
            (Self::Missing, Self::Missing)
            | (Self::Untouched, Self::Untouched)
            | (Self::Metric, Self::Metric) => true,
            _ => false,
        }
    }
}

/// What is known from the observed runs of a command.
#[derive(Clone, Debug)]
pub(super) struct Observed {
    /// Parts of the last run, in the same order for all commands.
    pub parts: Vec<Part>,
    /// For each part, whether it differs between runs of the command.
    pub varies: Vec<bool>,
    /// Duration of the longest observed run, in seconds.
    pub seconds: f64,
    /// User CPU time of the last observed run, in seconds.
    pub user_seconds: f64,
}

/// Whether outputs are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Outputs {
    #[default]
    NotCompared,
    Compared,
    /// Outputs must be the same, so even slow commands are run again.
    Required,
}

/// The state of comparing outputs.
#[derive(Default)]
pub(super) struct Same {
    /// Each compared command with its reference, by index; empty if outputs are not compared.
    pub pairs: Vec<(usize, usize)>,
    pub observed: Vec<Option<Observed>>,
    pub outputs: Outputs,
}

impl Same {
    pub fn new(commands: &[Prepared], outputs: Outputs) -> Self {
        // Commands with different parameter values do different work.
        let pairs = commands.iter().enumerate().filter_map(|(of, command)| {
            let against = command.against.unwrap_or(0);
            let comparable =
                against != of && commands.get(against)?.parameters == command.parameters;
            (comparable && outputs != Outputs::NotCompared).then_some((of, against))
        });
        Self { pairs: pairs.collect(), observed: vec![None; commands.len()], outputs }
    }

    /// Returns true if the warm-up runs of a command are observed.
    pub fn observes(&self, subject: usize) -> bool {
        self.pairs.iter().any(|&(of, against)| of == subject || against == subject)
    }

    pub fn observe(&mut self, subject: usize, parts: Vec<Part>, seconds: f64, user_seconds: f64) {
        let Some(known) = &mut self.observed[subject] else {
            let varies = vec![false; parts.len()];
            self.observed[subject] = Some(Observed { parts, varies, seconds, user_seconds });
            return;
        };
        for (varies, (own, before)) in known.varies.iter_mut().zip(parts.iter().zip(&known.parts)) {
            *varies |= !own.is_same(before);
        }
        *known = Observed {
            parts,
            varies: std::mem::take(&mut known.varies),
            seconds: known.seconds.max(seconds),
            user_seconds,
        };
    }

    pub fn both(&self, (of, against): (usize, usize)) -> Option<(&Observed, &Observed)> {
        Some((self.observed[of].as_ref()?, self.observed[against].as_ref()?))
    }

    /// Returns the parts known to differ between a command and its reference.
    pub fn differing(&self, pair: (usize, usize)) -> Vec<usize> {
        let Some((own, other)) = self.both(pair) else { return Vec::new() };
        let differs = |&part: &usize| {
            let (own_part, other_part) = (&own.parts[part], &other.parts[part]);
            let unknown = |part: &Part| matches!(part, Part::Unknown(_));
            let varies = own.varies[part] || other.varies[part];
            let is_known = !(varies || unknown(own_part) || unknown(other_part));
            is_known && !own_part.is_same(other_part)
        };
        (0..own.parts.len().min(other.parts.len())).filter(differs).collect()
    }

    /// Returns where the traces of a part begin to differ, if they do.
    pub fn region(&self, pair: (usize, usize), part: usize) -> Option<Region> {
        let (own, other) = self.both(pair)?;
        own.parts[part].trace()?.first_difference(other.parts[part].trace()?)
    }
}

/// Returns what a record says about outputs that must be the same: `Some(true)` if they are,
/// `Some(false)` if they differ, `None` if that is unknown.
pub(crate) fn are_same(samples: &Samples) -> Option<bool> {
    match samples.environment.text(OUTPUTS)? {
        SAME_OUTPUTS => Some(true),
        DIFFERENT => Some(false),
        _ => None,
    }
}

/// Returns all commands of these pairs, without repetition.
pub(super) fn involved(pairs: &[(usize, usize)]) -> Vec<usize> {
    let mut all: Vec<usize> = pairs.iter().flat_map(|&(of, against)| [against, of]).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Value of the recorded fact if outputs differ.
pub(super) const DIFFERENT: &str = "different";
