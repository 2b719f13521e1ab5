//! The profile of a test suite as JSON, with samples attributed to tests.

use super::Head;
use super::finding::Finding;
use super::profile::{FunctionShare, ShareIntervals};
use super::values::{Estimate, view};
use crate::tests_run::sampled::{SampledSuite, title};
use assay_profiles::marked::Owned;
use assay_profiles::shares::Basis;

view! {
    /// Where the time of a test suite goes, by its tests. Shares lie between 0 and 1; those of `tests` and `outside` sum to 1.
    SuiteShares of (suite: &SampledSuite<'_>) {
        /// Layout and verb.
        #[serde(flatten)]
        head: Head = Head::of("tests"),
        /// What was profiled.
        name: String = suite.whole.profile.name.clone(),
        /// The test framework, as its runs told it.
        framework: String = suite.framework.to_owned(),
        /// The tool that sampled.
        sampler: Option<String> = suite.whole.profile.tool.clone(),
        /// What was sampled: `cpu` or `wall`.
        metric: String = suite.whole.profile.measure.clone(),
        /// Its base unit.
        unit: String = suite.whole.profile.unit.symbol().to_owned(),
        /// Number of samples, of all runs.
        samples: u64 = suite.found.samples,
        /// What all samples come to, in the unit; of several runs the mean of a run.
        amount: Option<f64> = Some(suite.found.amount),
        /// Number of runs.
        runs: usize = if let Basis::Runs(runs) = suite.found.basis { runs } else { 1 },
        /// Samples a second that were asked for.
        asked_hz: Option<f64> = suite.whole.profile.asked_hz,
        /// Samples a second that were taken; `null` where the sampler does not tell.
        delivered_hz: Option<f64> = suite.whole.profile.delivered_hz,
        /// Samples that the sampler reports as missed.
        missed: u64 = suite.whole.profile.missed,
        /// Confidence of each interval by itself.
        confidence: f64 = suite.found.confidence,
        /// Where the intervals of shares come from.
        intervals: ShareIntervals = (&suite.found.basis).into(),
        /// Share of the garbage collection; `null` where none was seen.
        garbage_collection: Option<Estimate> =
            suite.whole.shares.collection.map(|(share, own)| Estimate::new(share, own)),
        /// Tests that ran.
        ran: usize = suite.ran,
        /// Tests that failed.
        failed: usize = suite.failed,
        /// The tests that have samples, the largest share first.
        tests: Vec<SampledPart> =
            suite.found.tests().map(|own| SampledPart::of(own, suite.whole.top)).collect(),
        /// What lies outside of tests, the largest share first.
        outside: Vec<SampledPart> =
            suite.found.others().map(|own| SampledPart::of(own, suite.whole.top)).collect(),
        /// The functions of all tests together, the largest first; shares are those of the tests' samples.
        functions: Vec<FunctionShare> = most(&suite.found.functions.functions, suite.whole.top),
        /// What the checks found, the most serious first.
        findings: Vec<Finding> = suite.whole.findings.iter().map(Finding::of).collect(),
    }
}

view! {
    /// What a test, or something outside of tests, has of the samples.
    SampledPart of (own: &Owned, top: usize) {
        /// The name of the test; of others what it is.
        name: String = title(own.mark.as_ref()),
        /// Of what kind it is, as the hooks have it (`test`, `group_setup`, `fixture`, `run`); `null`: none of them, which is start, loading and end, and threads
        /// that tests start.
        kind: Option<String> = own.mark.as_ref().map(|mark| mark.kind.clone()),
        /// Its group or fixture, where it is of one.
        group: Option<String> = own
            .mark
            .as_ref()
            .filter(|mark| !own.is_test() && !mark.name.is_empty())
            .map(|mark| mark.name.clone()),
        /// Its samples, of all runs.
        samples: u64 = own.samples,
        /// What they come to, in the unit; of several runs the mean of a run.
        amount: Option<f64> = Some(own.amount),
        /// Its share of all samples.
        share: Estimate = Estimate::new(own.share, own.interval),
        /// Share of the garbage collection of its samples; `null` where the sampler does not see the collector.
        garbage_collection: Option<Estimate> =
            own.collection.map(|(share, own)| Estimate::new(share, own)),
        /// Share of the garbage collection of its time, as the hooks timed it; `null` where they did not.
        timed_garbage_collection: Option<Estimate> =
            own.timed_collection.map(|(share, own)| Estimate::new(share, own)),
        /// Its functions, the largest first; shares are those of its own samples.
        functions: Vec<FunctionShare> = most(&own.shares.functions, top),
    }
}

fn most(all: &[assay_profiles::shares::Share], top: usize) -> Vec<FunctionShare> {
    let most = if top == 0 { all.len() } else { top };
    all.iter().take(most).map(FunctionShare::of).collect()
}
