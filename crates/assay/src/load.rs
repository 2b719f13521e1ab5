//! Load tests as a source: each turn is one slice, in which a server is loaded at one rate for some
//! seconds. All metrics of a slice form one observation.
//!
//! `assay-load` sends the requests and `assay-measure` runs the servers. This module combines them
//! and computes the values, but no statistics.

mod acknowledging;
mod bracket;
mod generators;
mod knee;
mod recovery;
mod requests;
mod same;
mod slice;
mod slot;
mod source;
mod time_left;

pub(crate) use generators::{GeneratorLaunch, Generators, work};
pub(crate) use knee::{Goal, Search, TRIES};
pub(crate) use recovery::longest_hanging;
pub(crate) use requests::{MOST as MOST_REQUESTS, Requests};
pub(crate) use same::compare_answers;
pub(crate) use slice::{
    CAPACITY, LATENCY_MEDIAN, RATE_ACHIEVED, fewest_requests, metrics, too_short,
};
pub(crate) use slot::LoadSlot;
pub(crate) use source::{ProgressCallback, Slices};
pub(crate) use time_left::TimeLeft;
