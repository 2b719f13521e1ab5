//! Profiles as people and programs read them: the table of shares on a screen, the flame graph as SVG and as a page, and the
//! difference of two recorded profiles.
//!
//! Nothing is decided or computed here beyond the layout of a picture: shares, intervals and findings are those of
//! [`assay_profiles`].

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

/// A number with its interval; `None` where runs were too few for one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// The number.
    pub estimate: f64,
    /// Its interval.
    pub interval: Option<(f64, f64)>,
}

/// What a sampler cost, where it was measured: by runs without it, with it, and with it but for the samples, by turns.
#[derive(Clone, Debug, PartialEq)]
pub struct Overhead {
    /// How many runs of each.
    pub blocks: usize,
    /// The whole run with the sampler over that without it: what was measured (`wall`, `cpu`) and the ratio.
    pub whole: Vec<(String, Measured)>,
    /// CPU time that the sampler takes once a run, s: its start and its end.
    pub start_and_end: Option<Measured>,
    /// CPU time for each sample, s.
    pub sample: Option<Measured>,
    /// Samples in a run.
    pub samples: f64,
}

/// What there is to report of one profile.
#[derive(Clone, Copy, Debug)]
pub struct ProfileReport<'a> {
    /// The profile; of several runs all of them together.
    pub profile: &'a Profile,
    /// The shares of its functions.
    pub shares: &'a Shares,
    /// What speaks against believing it.
    pub findings: &'a [Finding],
    /// What the sampler cost, where that was measured.
    pub overhead: Option<&'a Overhead>,
    /// Whether it was sampled just now, and not read from a file.
    pub live: bool,
    /// So many functions are shown; 0: all.
    pub top: usize,
}
