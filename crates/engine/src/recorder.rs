//! Where a session records, as it measures.

use assay_data::samples::{Buckets, Counts};
use assay_data::{Environment, Finding, Inner, Metric, Observation, Row, StopReason, Subject};

/// Keeps what is measured, the moment it is measured. Nothing that goes wrong in keeping it ends a session: a recorder remembers its
/// failure, and its owner reports it in the end.
pub trait Recorder {
    /// A metric that is new.
    fn metric(&mut self, metric: &Metric);

    /// A row that a run discovered.
    fn row(&mut self, row: &Row);

    /// A row that was discovered, on one of the sides: of every such row each place of its unit, before any run of it.
    fn subject(&mut self, subject: &Subject);

    /// A run.
    fn observation(&mut self, observation: &Observation);

    /// Several values of one metric within the run that was recorded last.
    fn inner(&mut self, inner: &Inner);

    /// A histogram within the run that was recorded last.
    fn histogram(&mut self, buckets: &Buckets);

    /// What was counted within the run that was recorded last.
    fn counts(&mut self, counts: &Counts);

    /// Something that was found.
    fn finding(&mut self, finding: &Finding);

    /// The end: facts that were known only now, why measuring stopped, and how many blocks there are.
    fn end(&mut self, late_facts: &Environment, reason: StopReason, blocks: u32);
}

/// Records nothing.
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
