//! Additional data of one slice of a load test: histograms, for the whole slice and by second, and
//! counts of events. They belong to the observation with the same subject and block; nothing is
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
    /// The quantity that was timed, as in `latency`.
    pub of: String,
    /// Second of the observation, from 0; `None` for its whole measured time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second: Option<u32>,
    /// The rate of one attempt of a search, 1/s; `None` for the observation itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// Start of the timed period, in seconds since the start of the observation; `None` if they
    /// coincide.
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
    /// Second of the observation, from 0; `None` for its whole measured time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second: Option<u32>,
    /// The rate of one attempt of a search, 1/s; `None` for the observation itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// Counts by name, as in `answered`, `failed.timeout`, `status.200`.
    pub counts: BTreeMap<String, u64>,
}
