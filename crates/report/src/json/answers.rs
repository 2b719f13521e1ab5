//! Results of the requests of a load test, as JSON.

use super::values::view;
use assay_analysis::{Analysis, search, slices};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

view! {
    /// Results of all requests of one side at one step, over all slices. These are descriptive: the
    /// intervals and verdicts are in `comparisons` and `descriptions`, whose observations are
    /// slices.
    Answers of (own: &slices::Answers, analysis: &Analysis) {
        /// Name of the side.
        side: String = analysis.sides[analysis.subjects[own.subject].side].name.clone(),
        /// The step: rate or number of connections, and the parameters of the server.
        parameters: Map<String, Value> => analysis.subjects[own.subject].parameters,
        /// Number of slices.
        slices: usize,
        /// Counts by name, without settling times: `due`, `answered`, `failed`, each kind of
        /// failure (`failed.timeout`), status codes (`status.200`), `connections`,
        /// `full_handshakes`, `resumed_handshakes`, `most_open` (the maximum of any slice).
        counts: BTreeMap<String, u64>,
        /// Latency in seconds from the scheduled time of a request to the end of its answer, by
        /// share of the requests. A failed request counts as never answered, so the value is `null`
        /// if too many failed.
        latency: BTreeMap<String, Option<f64>> = quantiles(|share| own.within(share)),
        /// Like `latency`, but from the time at which the request was sent.
        service: BTreeMap<String, Option<f64>> =
            quantiles(|share| own.service.quantile_seconds(share, own.count("failed"))),
        /// Counts for each second from the start of a slice, including its settling time, over all
        /// slices.
        seconds: Vec<Second>,
    }
}

view! {
    /// One second since the start of a slice, over all slices.
    Second of (second: &slices::SecondOf) {
        /// Number of answered requests.
        answered: u64,
        /// Number of failed requests.
        failed: u64,
        /// Median latency of the answered requests, in seconds; `null` if there were none.
        p50: Option<f64> = Some(second.latency[0]).filter(|value| value.is_finite()),
        /// 90 % quantile of the latency of the answered requests, in seconds; `null` if there were
        /// none.
        p90: Option<f64> = Some(second.latency[1]).filter(|value| value.is_finite()),
        /// 99 % quantile of the latency of the answered requests, in seconds; `null` if there were
        /// none.
        p99: Option<f64> = Some(second.latency[2]).filter(|value| value.is_finite()),
    }
}

view! {
    /// A rate that a search tried in one slice.
    Try of (own: &search::Try, analysis: &Analysis, search: &search::Search) {
        /// Name of the side.
        side: String = analysis.sides[analysis.subjects[own.subject].side].name.clone(),
        /// The parameters of the server.
        parameters: Map<String, Value> => analysis.subjects[own.subject].parameters,
        /// The requested rate, in requests per second.
        rate: f64,
        /// The share of requests to which `latency` refers, as given by the first goal.
        share: f64 => search.share,
        /// Time within which this share of requests was answered, in seconds; `null` if too many
        /// failed.
        latency: Option<f64> = Some(own.latency).filter(|value| value.is_finite()),
        /// True if all goals were met.
        held: bool => own.is_held,
    }
}

impl Try {
    /// Returns all rates that a search tried.
    pub(super) fn all(analysis: &Analysis, search: &search::Search) -> Vec<Self> {
        search.tries.iter().map(|own| Self::of(own, analysis, search)).collect()
    }
}

fn quantiles(within: impl Fn(f64) -> Option<f64>) -> BTreeMap<String, Option<f64>> {
    let shares =
        [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p99_9", 0.999), ("max", 1.0)];
    let known = |share| within(share).filter(|value| value.is_finite());
    shares.into_iter().map(|(name, share)| (name.to_owned(), known(share))).collect()
}
