//! The profile of a test suite as JSON, with samples attributed to tests.

use super::Head;
use super::finding::Finding;
use super::profile::{FunctionShare, ShareIntervals};
use super::values::{Estimate, view};
use crate::tests_run::sampled::{SampledSuite, title};
use assay_profiles::marked::Owned;
use assay_profiles::shares::Basis;

view! {
    /// The time of a test suite by test. Shares are between 0 and 1; those of `tests` and `outside`
    /// sum to 1.
    SuiteShares of (suite: &SampledSuite<'_>) {
        /// Layout version and verb.
        #[serde(flatten)]
        head: Head = Head::of("tests"),
        /// The profiled suite.
        name: String => suite.whole.profile.name,
        /// The test framework, as reported by the runs.
        framework: String,
        /// The sampler.
        sampler: Option<String> => suite.whole.profile.tool,
        /// The sampled quantity: `cpu` or `wall`.
        metric: String => suite.whole.profile.measure,
        /// Base unit of the quantity.
        unit: String => suite.whole.profile.unit,
        /// Number of samples of all runs.
        samples: u64 => suite.found.samples,
        /// Sum of all samples, in `unit`; for several runs, the mean per run.
        amount: Option<f64> => suite.found.amount,
        /// Number of runs.
        runs: usize = if let Basis::Runs(runs) = suite.found.basis { runs } else { 1 },
        /// Requested samples per second.
        asked_hz: Option<f64> => suite.whole.profile.asked_hz,
        /// Actual samples per second; `null` if the sampler does not report it.
        delivered_hz: Option<f64> => suite.whole.profile.delivered_hz,
        /// Number of samples that the sampler reports as missed.
        missed: u64 => suite.whole.profile.missed,
        /// Confidence of each interval by itself.
        confidence: f64 => suite.found.confidence,
        /// Basis of the intervals of shares.
        intervals: ShareIntervals => suite.found.basis,
        /// The garbage collector's share of the samples; `null` if it has none.
        garbage_collection: Option<Estimate> => suite.whole.shares.collection,
        /// Number of tests that ran.
        ran: usize,
        /// Number of tests that failed.
        failed: usize,
        /// The tests with samples, largest share first.
        tests: Vec<SampledPart> =
            suite.found.tests().map(|own| SampledPart::of(own, suite.whole.top)).collect(),
        /// Parts of the run outside of tests, largest share first.
        outside: Vec<SampledPart> =
            suite.found.others().map(|own| SampledPart::of(own, suite.whole.top)).collect(),
        /// The functions over all tests together, largest share first. Shares are relative to the
        /// tests' samples.
        functions: Vec<FunctionShare> = most(&suite.found.functions.functions, suite.whole.top),
        /// Findings of the checks, most serious first.
        findings: Vec<Finding> => suite.whole.findings,
    }
}

view! {
    /// The samples of a test, or of a part of the run outside of tests.
    SampledPart of (own: &Owned, top: usize) {
        /// Name of the test, or a description of the part.
        name: String = title(own.mark.as_ref()),
        /// The kind, as reported by the hooks (`test`, `group_setup`, `fixture`, `run`); `null` for
        /// start, loading and end, and for threads that tests start.
        kind: Option<String> = own.mark.as_ref().map(|mark| mark.kind.clone()),
        /// Group or fixture, if any.
        group: Option<String> = own
            .mark
            .as_ref()
            .filter(|mark| !own.is_test() && !mark.name.is_empty())
            .map(|mark| mark.name.clone()),
        /// Number of samples, of all runs.
        samples: u64,
        /// The sum of the samples, in the unit; for several runs, the mean per run.
        amount: Option<f64>,
        /// Share of all samples.
        share: Estimate = Estimate::new(own.share, own.interval),
        /// The garbage collector's share of these samples; `null` if the sampler does not see the
        /// garbage collector.
        garbage_collection: Option<Estimate> => own.collection,
        /// The garbage collector's share of the time, as measured by the hooks; `null` if they did
        /// not measure it.
        timed_garbage_collection: Option<Estimate> => own.timed_collection,
        /// The functions, largest share first. Shares are relative to these samples.
        functions: Vec<FunctionShare> = most(&own.shares.functions, top),
    }
}

fn most(all: &[assay_profiles::shares::Share], top: usize) -> Vec<FunctionShare> {
    let most = if top == 0 { all.len() } else { top };
    all.iter().take(most).map(FunctionShare::of).collect()
}
