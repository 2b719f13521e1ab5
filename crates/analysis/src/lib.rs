//! Statistical analysis of benchmark samples: selects the next measurement, decides when to stop,
//! compares subjects, and reports doubts about the result.
//!
//! This crate is pure: it reads no clock and no files, starts no processes and prints nothing. The
//! same samples and plan always give the same [`Analysis`], digit for digit, whether they come from
//! the run that just ended or from its file a year later. `docs/concepts/deciding.md` explains the
//! procedure and the simulations on which it is based.
//!
//! - [`design`]: the experiment itself, which takes one observation after another. [`engine`]: the
//!   measurement loop around it. [`until`]: the user's stopping condition.
//! - [`paired`], [`unpaired`]: the interval for blocks, and for samples recorded separately.
//! - [`verdict`]: the verdict that follows from an interval.
//! - [`levels`]: nested repetitions, and the level that contributes most of the variance.
//! - [`quantiles`]: the part of the distribution that differs.
//! - [`comparison`]: the complete comparison of one subject with another.
//! - [`protocol`]: the chain from validity to effect, step by step.
//! - [`describe`], [`checks`], [`machine`], [`outlook`]: single series, findings about them, and
//!   the number of blocks needed for a verdict.
//! - [`series_summary`]: a detailed summary of one series. [`overview`]: many series at a glance.
//! - [`scaling`]: the growth of a scan's values with its parameter.
//! - [`noise`]: sources of variance, and runs that were disturbed.
//! - [`coverage`]: simulated coverage of the intervals.
//! - [`calibration`]: the false-positive rate for samples of one program.
//! - [`spread`]: the effect of a setting on the spread between runs.
//! - [`mock`]: synthetic data for learning. [`replication`]: confirmation of a result by another
//!   run.
//! - [`battery`]: the classical tests, shown next to the verdict on request.
//! - [`figures`]: the data behind a report's plots, thinned.
//! - [`history`]: recorded runs of a project across its revisions. [`farm`]: one version across
//!   many machines.
//! - [`mutation`]: the share of source mutations that a project's tests detect. [`coupling`]:
//!   distinguishes well-tested code from code in which everything depends on everything.
//! - [`planning`]: the number of runs needed for a question. [`bisect`]: the search for the commit
//!   that introduced a change. [`why`]: the most likely cause of a difference.
//! - [`analysis`]: all of the above, from [`assay_data::Samples`].

pub mod analysis;
pub mod battery;
pub mod bisect;
pub mod calibration;
pub mod check;
pub mod checks;
pub mod claim;
pub mod comparison;
pub mod coupling;
pub mod coverage;
pub mod dependence;
pub mod describe;
pub mod design;
pub mod engine;
mod evidence;
mod failing;
pub mod farm;
pub mod figures;
pub mod goals;
pub mod history;
pub mod levels;
pub mod machine;
pub mod mock;
pub mod mutation;
pub mod noise;
pub mod number;
pub mod outlook;
pub mod overview;
pub mod paired;
pub mod planning;
pub mod policy;
pub mod protocol;
pub mod quantiles;
pub mod ranking;
pub mod recording;
mod recordings;
pub mod replication;
pub mod scaling;
pub mod search;
pub mod sensitivity;
pub mod series_summary;
pub mod slices;
pub mod spread;
pub mod testing;
mod ticks;
pub mod unpaired;
pub mod until;
pub mod verdict;
pub mod why;

#[cfg(test)]
mod tests;

pub use analysis::{Adjust, Analysis, Options, Shape, analyse};
pub use assay_stats::Interval;
pub use assay_stats::meta_analysis::Pooled;
pub use assay_stats::quantile_difference::QuantileDifference;
pub use battery::Battery;
pub use comparison::{Basis, Comparison, Effect, NoInterval, Role};
pub use describe::{Description, Histogram, NoMedianInterval, SubjectSummary};
pub use design::{Experiment, Step};
pub use noise::NoiseOf;
pub use outlook::Outlook;
pub use scaling::{Curve, Exponent, Layout, NoExponent};
pub use verdict::{Scale, Verdict};
