//! Profiles for people and programs: the table of shares for the terminal, the flame graph as SVG
//! and as a page, and the difference between two recorded profiles.
//!
//! Nothing is decided or computed here beyond the layout of a graph. Shares, intervals and findings
//! come from [`assay_profiles`].

pub(crate) mod boxes;
pub mod difference;
pub mod differential;
pub mod differential_page;
pub mod flame;
pub mod page;
pub mod screen;
pub mod verdicts;

use assay_data::Finding;
use assay_profiles::Profile;
use assay_profiles::shares::Shares;

/// A number with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// The estimated number.
    pub estimate: f64,
    /// Interval of the number, or `None` if there were too few runs for one.
    pub interval: Option<(f64, f64)>,
}

/// The measured cost of a sampler, from three kinds of alternating runs: without the sampler, with
/// it, and with a sampler that takes no samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Overhead {
    /// Number of blocks, each with one run of every kind.
    pub blocks: usize,
    /// Ratio of a whole run with the sampler to a run without it, by metric (`wall`, `cpu`).
    pub whole: Vec<(String, Measured)>,
    /// CPU time per run for starting and ending the sampler, in seconds.
    pub start_and_end: Option<Measured>,
    /// CPU time per sample, in seconds.
    pub sample: Option<Measured>,
    /// Number of samples per run.
    pub samples: f64,
}

/// The contents of a report on one profile.
#[derive(Clone, Copy, Debug)]
pub struct ProfileReport<'a> {
    /// The profile, in which several runs are merged.
    pub profile: &'a Profile,
    /// The shares of the functions in the profile.
    pub shares: &'a Shares,
    /// Findings that cast doubt on the profile.
    pub findings: &'a [Finding],
    /// The cost of the sampler, if measured.
    pub overhead: Option<&'a Overhead>,
    /// True if the profile was just sampled rather than read from a file.
    pub live: bool,
    /// Maximum number of functions shown, or 0 for all.
    pub top: usize,
}
