//! The recorder interface of a session.

use assay_data::samples::{Buckets, Counts};
use assay_data::{Environment, Finding, Inner, Metric, Observation, Row, StopReason, Subject};

/// Stores measurements as they are made. A failure to store does not end a session: the recorder
/// keeps the error, and its owner reports it at the end.
pub trait Recorder {
    /// Records a new metric.
    fn metric(&mut self, metric: &Metric);

    /// Records a row discovered by a run.
    fn row(&mut self, row: &Row);

    /// Records the subject of a discovered row. Called once for each place of the row's unit,
    /// before any run of that subject is recorded.
    fn subject(&mut self, subject: &Subject);

    /// Records a run.
    fn observation(&mut self, observation: &Observation);

    /// Records several values of one metric within the last recorded run.
    fn inner(&mut self, inner: &Inner);

    /// Records a histogram of values within the last recorded run.
    fn histogram(&mut self, buckets: &Buckets);

    /// Records counts within the last recorded run.
    fn counts(&mut self, counts: &Counts);

    /// Records a finding.
    fn finding(&mut self, finding: &Finding);

    /// Records the end of the session: facts known only then, the reason for stopping, and the
    /// number of blocks.
    fn end(&mut self, late_facts: &Environment, reason: StopReason, blocks: u32);
}

/// A recorder that stores nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unrecorded;

impl Recorder for Unrecorded {
    fn metric(&mut self, _: &Metric) {}
    fn row(&mut self, _: &Row) {}
    fn subject(&mut self, _: &Subject) {}
    fn observation(&mut self, _: &Observation) {}
    fn inner(&mut self, _: &Inner) {}
    fn histogram(&mut self, _: &Buckets) {}
    fn counts(&mut self, _: &Counts) {}
    fn finding(&mut self, _: &Finding) {}
    fn end(&mut self, _: &Environment, _: StopReason, _: u32) {}
}
