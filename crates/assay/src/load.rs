//! Load tests as a source: each turn is one slice, a server loaded at one rate for some seconds, all of whose metrics are one observation.
//!
//! The requests are `assay-load`'s, the servers `assay-measure`'s; here they are joined and made into values. There are no statistics.

mod generators;
mod knee;
mod recovery;
mod requests;
mod slice;
mod source;

pub(crate) use generators::{Generators, Way, work};
pub(crate) use knee::{Goal, Search};
pub(crate) use requests::{MOST as MOST_REQUESTS, Requests};
pub(crate) use slice::{
    CAPACITY, LATENCY_MEDIAN, RATE_ACHIEVED, fewest_requests, metrics, too_short,
};
pub(crate) use source::{Place, Slices, Told};
