//! What one slice of a load test holds beside its values: histograms, whole and second by second, and counts of what happened. They
//! stand beside an observation, under the same subject and block; nothing is computed from them here.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A histogram of times within one observation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Buckets {
    /// Index of the subject.
    pub subject: usize,
    /// Block of the observation.
    pub block: u32,
    /// What was timed, as in `latency`.
    pub of: String,
    /// Which second of the observation, from 0; `None`: all of it that counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second: Option<u32>,
    /// The rate that a search tried, 1/s; `None`: not one of its tries, but what the observation is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// When what its times are of began, s since the observation did; `None`: with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<f64>,
    /// The histogram in HdrHistogram's V2 encoding ([`crate::Histogram::encoded`]).
    pub v2: String,
}

/// What was counted within one observation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    /// Index of the subject.
    pub subject: usize,
    /// Block of the observation.
    pub block: u32,
    /// Which second of the observation, from 0; `None`: all of it that counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second: Option<u32>,
    /// The rate that a search tried, 1/s; `None`: not one of its tries, but what the observation is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// Counts by name, as in `answered`, `failed.timeout`, `status.200`.
    pub counts: BTreeMap<String, u64>,
}
