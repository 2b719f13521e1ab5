//! Additional data about one slice of a load test: histograms and counts of events, for the whole
//! slice and by second. They belong to the observation with the same subject and block. Nothing is
//! computed from them here.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A histogram of times within one observation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Buckets {
    /// Index of the subject.
    pub subject: usize,
    /// Block of the observation.
    pub block: u32,
    /// Name of the quantity that was timed, such as `latency`.
    pub of: String,
    /// Second of the observation, counted from 0. `None` for its whole measured time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second: Option<u32>,
    /// The rate of one attempt of a search, per second. `None` for the observation itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// Start of the timed period, in seconds since the start of the observation. `None` if both
    /// start at the same time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<f64>,
    /// The histogram in HdrHistogram's V2 encoding ([`crate::Histogram::encoded`]).
    pub v2: String,
}

/// Counts within one observation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    /// Index of the subject.
    pub subject: usize,
    /// Block of the observation.
    pub block: u32,
    /// Second of the observation, counted from 0. `None` for its whole measured time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second: Option<u32>,
    /// The rate of one attempt of a search, per second. `None` for the observation itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// Counts by name, such as `answered`, `failed.timeout` and `status.200`.
    pub counts: BTreeMap<String, u64>,
}
