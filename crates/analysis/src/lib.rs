//! From samples to verdicts: which subject is measured next and when to stop, what two subjects' samples say, and what speaks
//! against believing it.
//!
//! Pure: no clock, no files, no processes, no printing. The same samples and plan always give the same [`Analysis`], to the
//! digit, whether they come from the run that just ended or from its file a year later. The procedure, with the simulations
//! that it rests on, is explained in `docs/concepts/deciding.md`.
//!
//! - [`design`]: the experiment itself, fed observation by observation. [`until`]: the condition that may stop it.
//! - [`paired`], [`unpaired`]: the interval for blocks, and for samples recorded apart.
//! - [`verdict`]: one interval, one verdict.
//! - [`levels`]: nested repetitions, and which level the spread comes from.
//! - [`quantiles`]: where in the distribution the difference lies.
//! - [`comparison`]: everything that is said about one subject against another.
//! - [`protocol`]: the chain from validity to effect, step by step.
//! - [`describe`], [`checks`], [`machine`], [`outlook`]: the series by themselves, the findings, how many blocks it would take.
//! - [`series_summary`]: one series from every side. [`overview`]: many series at a glance.
//! - [`scaling`]: how a scan's values grow with its parameter.
//! - [`noise`]: where the spread comes from, and which runs were disturbed.
//! - [`coverage`]: how often intervals hold what they are about, simulated.
//! - [`calibration`]: how often a series of one program would have been called two.
//! - [`spread`]: whether a setting makes runs spread less.
//! - [`mock`]: synthetic data to learn with. [`replication`]: whether a result was confirmed by
//!   another run.
//! - [`battery`]: every classical test beside the verdict, for those who ask.
//! - [`figures`]: what the plots of a report show, thinned.
//! - [`history`]: what recorded runs of a project come to over its revisions. [`farm`]: what a version came to on many machines.
//! - [`mutation`]: which share of the changes of a project's source its tests notice. [`coupling`]: whether that is because they are well tested, or
//!   because everything hangs on everything.
//! - [`planning`]: how many runs a question needs. [`bisect`]: which of many commits brought a change.
//! - [`analysis`]: all of it, from [`assay_data::Samples`].

pub mod analysis;
pub mod battery;
pub mod bisect;
pub mod calibration;
pub mod checks;
pub mod comparison;
pub mod coupling;
pub mod coverage;
pub mod dependence;
pub mod describe;
pub mod design;
mod evidence;
pub mod failing;
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
pub mod recording;
mod recordings;
pub mod replication;
pub mod scaling;
pub mod search;
pub mod series_summary;
pub mod slices;
pub mod spread;
pub mod testing;
mod ticks;
pub mod unpaired;
pub mod until;
pub mod verdict;

#[cfg(test)]
mod tests;

pub use analysis::{Adjust, Analysis, Options, Shape, analyse};
pub use assay_stats::Interval;
pub use assay_stats::quantile_difference::QuantileDifference;
pub use battery::Battery;
pub use comparison::{Basis, Comparison, Effect, NoInterval};
pub use describe::{Description, Histogram, NoMedianInterval, SubjectSummary};
pub use design::{Experiment, Step};
pub use noise::NoiseOf;
pub use outlook::Outlook;
pub use scaling::{Curve, Exponent, Layout, NoExponent};
pub use verdict::{Scale, Verdict};
