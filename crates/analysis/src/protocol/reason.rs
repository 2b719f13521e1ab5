//! Why a step of the protocol did not simply pass, as data: what was seen, with its numbers. Each kind of reason has one status;
//! the words and the advice are the reports'.

use super::{Label, Status};
use assay_stats::Interval;

/// Something that speaks against a step, or that one should know about it.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// The blocks are not those of one experiment: the run was gone on with as another one.
    Mixed,
    /// Too few values for anything to be said.
    TooFewValues {
        /// Index of the subject.
        subject: usize,
        /// How many there are.
        n: usize,
        /// How many are the fewest.
        fewest: usize,
    },
    /// Successive values hang together so much that no answer of the test can be trusted.
    TooDependent {
        /// Index of the subject; for blocks that of the compared one.
        subject: usize,
        /// Independent values that they are worth.
        effective: f64,
        /// How many there are.
        n: usize,
    },
    /// Successive values hang together: the number of samples counts as fewer, and the interval is widened.
    Dependent {
        /// Index of the subject; for blocks that of the compared one.
        subject: usize,
        /// Independent values that they are worth.
        effective: f64,
        /// How many there are.
        n: usize,
    },
    /// Perhaps successive values hang together, perhaps it is chance; to be safe they count as fewer, and the interval is widened.
    PerhapsDependent {
        /// Index of the subject.
        subject: usize,
        /// Independent values that they are taken for.
        effective: f64,
        /// How many there are.
        n: usize,
    },
    /// The per-block difference changed during the run.
    Drifting {
        /// Rank autocorrelation of successive differences.
        lag1: f64,
    },
    /// Too few values to judge dependence.
    DependenceUnknown {
        /// How many there are.
        n: usize,
    },
    /// The values moved from the first to the last third by more than the threshold.
    Drift {
        /// Index of the subject.
        subject: usize,
        /// By how much, in the base unit.
        drift: f64,
    },
    /// They moved, but by less than the threshold; or the blocks cancel it.
    SmallDrift {
        /// Index of the subject.
        subject: usize,
        /// By how much, in the base unit.
        drift: f64,
    },
    /// The series fell into parts that lie farther apart than the threshold.
    Unsteady {
        /// Index of the subject.
        subject: usize,
        /// How it came to its last part.
        label: Label,
        /// Index of the first value of the last part; `None` without a steady state.
        begins: Option<usize>,
        /// Number of parts.
        parts: usize,
    },
    /// The values come in steps that are large against the threshold.
    CoarseClock {
        /// The step, in the base unit.
        step: f64,
    },
    /// All values of a subject are equal.
    AllEqual {
        /// Index of the subject.
        subject: usize,
    },
    /// Some runs failed; their values count.
    Failures {
        /// Index of the subject.
        subject: usize,
        /// How many.
        failed: usize,
        /// Of how many runs.
        runs: usize,
    },
    /// Some runs hit the time limit; their values are lower bounds.
    Timeouts {
        /// Index of the subject.
        subject: usize,
        /// How many.
        late: usize,
        /// Of how many runs.
        runs: usize,
    },
    /// Not taken in blocks: drift between the recordings is not in the numbers.
    Unpaired,
    /// The threshold is a share of zero.
    NoThreshold,
    /// Too few values to see the threshold, enough for ten times it.
    TooFewForThreshold {
        /// Values (or blocks) needed of each.
        needed: f64,
        /// Values (or blocks) that there are, or are worth.
        have: f64,
        /// The smallest difference that these can see.
        visible: f64,
    },
    /// Too few values even for ten times the threshold.
    TooFewForTenfold {
        /// Values (or blocks) needed of each, for ten times the threshold.
        needed: f64,
        /// Values (or blocks) that there are, or are worth.
        have: f64,
        /// The smallest difference that these can see; NaN when there is none.
        visible: f64,
    },
    /// Nothing wavers: there is no spread to plan with.
    NoSpread,
    /// The test does not reject: no difference is shown.
    NotRejected,
    /// The test is not defined, since all values are equal.
    NothingToRank,
    /// The test was made stricter for the dependence.
    Deflated {
        /// The p-value that takes the values for independent.
        naive_log10_p: f64,
    },
    /// Too few values for an interval at this confidence.
    NoInterval,
    /// The interval reaches from beyond the threshold to within it.
    Straddles,
    /// The interval lies within the threshold on both sides.
    BelowThreshold,
    /// The interval was widened for the dependence.
    Widened {
        /// The interval that takes the values for independent.
        classic: Interval,
    },
    /// The difference is not the same everywhere in the distribution.
    NotPlainShift,
}

impl Reason {
    /// What this reason alone makes of its step.
    pub fn status(&self) -> Status {
        match self {
            Self::Mixed
            | Self::TooFewValues { .. }
            | Self::TooDependent { .. }
            | Self::TooFewForTenfold { .. }
            | Self::NoThreshold
            | Self::BelowThreshold => Status::Failed,
            Self::Dependent { .. }
            | Self::Drifting { .. }
            | Self::DependenceUnknown { .. }
            | Self::Drift { .. }
            | Self::Unsteady { .. }
            | Self::CoarseClock { .. }
            | Self::AllEqual { .. }
            | Self::Failures { .. }
            | Self::Timeouts { .. }
            | Self::TooFewForThreshold { .. }
            | Self::NotRejected
            | Self::NothingToRank
            | Self::NoInterval
            | Self::Straddles => Status::Warning,
            Self::PerhapsDependent { .. }
            | Self::SmallDrift { .. }
            | Self::Unpaired
            | Self::NoSpread
            | Self::Deflated { .. }
            | Self::Widened { .. }
            | Self::NotPlainShift => Status::Passed,
        }
    }

    /// Its stable name in JSON.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Mixed => "MIXED",
            Self::TooFewValues { .. } => "TOO_FEW_VALUES",
            Self::TooDependent { .. } => "TOO_DEPENDENT",
            Self::Dependent { .. } => "DEPENDENT",
            Self::PerhapsDependent { .. } => "PERHAPS_DEPENDENT",
            Self::Drifting { .. } => "DRIFTING",
            Self::DependenceUnknown { .. } => "DEPENDENCE_UNKNOWN",
            Self::Drift { .. } => "DRIFT",
            Self::SmallDrift { .. } => "SMALL_DRIFT",
            Self::Unsteady { .. } => "UNSTEADY",
            Self::CoarseClock { .. } => "COARSE_CLOCK",
            Self::AllEqual { .. } => "ALL_EQUAL",
            Self::Failures { .. } => "FAILURES",
            Self::Timeouts { .. } => "TIMEOUTS",
            Self::Unpaired => "UNPAIRED",
            Self::NoThreshold => "NO_THRESHOLD",
            Self::TooFewForThreshold { .. } => "TOO_FEW_FOR_THRESHOLD",
            Self::TooFewForTenfold { .. } => "TOO_FEW_FOR_TENFOLD",
            Self::NoSpread => "NO_SPREAD",
            Self::NotRejected => "NOT_REJECTED",
            Self::NothingToRank => "NOTHING_TO_RANK",
            Self::Deflated { .. } => "DEFLATED",
            Self::NoInterval => "NO_INTERVAL",
            Self::Straddles => "STRADDLES",
            Self::BelowThreshold => "BELOW_THRESHOLD",
            Self::Widened { .. } => "WIDENED",
            Self::NotPlainShift => "NOT_PLAIN_SHIFT",
        }
    }
}
