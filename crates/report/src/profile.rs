//! Profiles as people and programs read them: the table of shares on a screen, JSON, the flame graph as SVG and as a page, and the
//! difference of two recorded profiles.
//!
//! Nothing is decided or computed here beyond the layout of a picture: shares, intervals and findings are those of
//! [`assay_profiles`].

pub mod difference;
pub mod flame;
pub mod json;
pub mod page;
pub mod screen;
pub mod verdicts;

use assay_data::Finding;
use assay_profiles::Profile;
use assay_profiles::shares::Shares;

/// What a sampler cost, where it was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Cost {
    /// What was measured: `wall`, `cpu`.
    pub metric: String,
    /// With the sampler over without it, and its interval.
    pub ratio: f64,
    /// The interval of the ratio; `None` where runs were too few.
    pub interval: Option<(f64, f64)>,
    /// How many pairs of runs.
    pub blocks: usize,
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
    /// What the sampler cost; empty where that was not measured.
    pub cost: &'a [Cost],
    /// Whether it was sampled just now, and not read from a file.
    pub live: bool,
    /// So many functions are shown; 0: all.
    pub top: usize,
}
