//! Results of the requests of a load test, as JSON.

use super::parameters;
use super::values::view;
use assay_analysis::{Analysis, search, slices};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

view! {
    /// What came of all requests of one side at one step, all slices together. It describes: intervals and verdicts are those of
    /// `comparisons` and `descriptions`, whose observations are slices.
    Answers of (analysis: &Analysis, own: &slices::Answers) {
        /// Name of the side.
        side: String = analysis.sides[analysis.subjects[own.subject].side].name.clone(),
        /// The step: rate or connections, and parameters of the server.
        parameters: Map<String, Value> = parameters(&analysis.subjects[own.subject].parameters),
        /// Slices.
        slices: usize = own.slices,
        /// Counts by name, settling parts left out: `due`, `answered`, `failed`, each way of failing (`failed.timeout`), statuses
        /// (`status.200`), `connections`, `full_handshakes`, `resumed_handshakes`, `most_open` (the most of any slice).
        counts: BTreeMap<String, u64> = own.counts.clone(),
        /// Seconds from the moment at which a request was due to the end of its answer, by share of the requests; what failed was never
        /// answered: `null` where so many failed.
        latency: BTreeMap<String, Option<f64>> = quantiles(|share| own.within(share)),
        /// Seconds from its sending instead.
        service: BTreeMap<String, Option<f64>> =
            quantiles(|share| own.service.quantile_seconds(share, own.count("failed"))),
        /// Second by second from the start of a slice, its settling part included, all slices together.
        seconds: Vec<Second> = own.seconds.iter().map(Second::of).collect(),
    }
}

view! {
    /// One second.
    Second of (second: &slices::SecondOf) {
        /// Answered.
        answered: u64 = second.answered,
        /// Failed.
        failed: u64 = second.failed,
        /// Median latency of the answered, s; `null` where nothing was answered.
        p50: Option<f64> = Some(second.latency[0]).filter(|value| value.is_finite()),
        /// The same within which 90 % were.
        p90: Option<f64> = Some(second.latency[1]).filter(|value| value.is_finite()),
        /// The same within which 99 % were.
        p99: Option<f64> = Some(second.latency[2]).filter(|value| value.is_finite()),
    }
}

view! {
    /// A rate that a search tried in one slice.
    Try of (analysis: &Analysis, search: &search::Search, own: &search::Try) {
        /// Name of the side.
        side: String = analysis.sides[analysis.subjects[own.subject].side].name.clone(),
        /// The parameters of the server.
        parameters: Map<String, Value> = parameters(&analysis.subjects[own.subject].parameters),
        /// The rate that was asked for, 1/s.
        rate: f64 = own.rate,
        /// The share of the requests that the latency is of: that of the first goal.
        share: f64 = search.share,
        /// Within which so many were answered, s; `null` where so many failed.
        latency: Option<f64> = Some(own.latency).filter(|value| value.is_finite()),
        /// Whether all goals were met.
        held: bool = own.is_held,
    }
}

impl Try {
    /// Returns all tries of a search.
    pub(super) fn all(analysis: &Analysis, search: &search::Search) -> Vec<Self> {
        search.tries.iter().map(|own| Self::of(analysis, search, own)).collect()
    }
}

fn quantiles(within: impl Fn(f64) -> Option<f64>) -> BTreeMap<String, Option<f64>> {
    let shares =
        [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p99_9", 0.999), ("max", 1.0)];
    let known = |share| within(share).filter(|value| value.is_finite());
    shares.into_iter().map(|(name, share)| (name.to_owned(), known(share))).collect()
}
