//! Profiles as JSON: the shares of functions in one profile, and the differences between two
//! recorded profiles.

use super::Head;
use super::finding::Finding;
use super::values::{Both, Design, Estimate, View, view, words};
use crate::profile::{Measured, Overhead, ProfileReport, screen};
use assay_profiles::difference::{self, Difference};
use assay_profiles::shares::{Basis, Share};

view! {
    /// The time of a program, by function. Shares are between 0 and 1.
    ProfileShares of (report: &ProfileReport<'_>) {
        /// Layout version and verb.
        #[serde(flatten)]
        head: Head = Head::of("profile"),
        /// The profiled program.
        name: String => report.profile.name,
        /// The sampler; `null` if the file does not name it.
        sampler: Option<String> => report.profile.tool,
        /// The sampled quantity: `cpu`, `wall`, `samples`, or a name from the file.
        metric: String => report.shares.measure,
        /// Base unit of the quantity.
        unit: String => report.shares.unit,
        /// Number of samples.
        samples: u64 => report.shares.samples,
        /// Sum of all samples, in `unit`; for several runs, the mean per run.
        amount: Option<f64> => report.shares.amount,
        /// Number of runs.
        runs: usize = if let Basis::Runs(runs) = report.shares.basis { runs } else { 1 },
        /// Requested samples per second; `null` if the file does not state it.
        asked_hz: Option<f64> => report.profile.asked_hz,
        /// Actual samples per second.
        delivered_hz: Option<f64> => report.profile.delivered_hz,
        /// Number of samples that the sampler reports as missed.
        missed: u64 => report.profile.missed,
        /// Duration of sampling, in seconds.
        seconds: Option<f64> => report.profile.seconds,
        /// Confidence of the intervals.
        confidence: f64 => report.shares.confidence,
        /// Basis of the intervals of shares.
        intervals: ShareIntervals => report.shares.basis,
        /// The garbage collector's share of the samples; `null` if it has none.
        garbage_collection: Option<Estimate> => report.shares.collection,
        /// The cost of sampling; `null` without `--overhead`.
        overhead: Option<SamplerOverhead>,
        /// The functions, largest share first.
        functions: Vec<FunctionShare> =
            screen::shown(report).iter().map(FunctionShare::of).collect(),
        /// Findings of the checks, most serious first.
        findings: Vec<Finding>,
    }
}

words! {
    /// Bases of the intervals of shares.
    ShareIntervals from Basis {
        /// The number of samples, with Wilson's interval for a proportion.
        Source::Samples => Samples,
        /// The shares in several runs, with Student's interval.
        Source::Runs(_) => Runs,
        /// Nothing: there are no intervals, because the profile is not from sampling or its values
        /// are not times.
        Source::None => None,
    }
}

view! {
    /// The share of a function, which comprises all frames with the same name and file.
    FunctionShare of (found: &Share) {
        /// Name of the function.
        name: String => found.function.name,
        /// File of the function; `null` if unknown.
        file: Option<String> => found.function.file,
        /// Share spent in the function itself, excluding the functions that it calls.
        flat: Estimate = Estimate::new(found.flat, found.flat_interval),
        /// Share spent in the function and everything that it calls. Recursive calls are counted
        /// once.
        cum: Estimate = Estimate::new(found.cum, found.cum_interval),
        /// Amount spent in the function itself, in the profile's unit.
        flat_amount: Option<f64> => found.function.flat_amount,
        /// Amount spent in the function and everything that it calls, in the profile's unit.
        cum_amount: Option<f64> => found.function.cum_amount,
        /// Number of samples in the function itself.
        flat_samples: u64 => found.function.flat_samples,
        /// Number of samples in the function and everything that it calls.
        cum_samples: u64 => found.function.cum_samples,
    }
}

view! {
    /// The cost of sampling, measured by comparing runs without the sampler, with it, and with an
    /// idle sampler.
    SamplerOverhead of (found: &Overhead) {
        /// Number of blocks, each with one run of every kind.
        blocks: usize,
        /// Ratio of a whole run with the sampler to one without it, by metric.
        ratios: Vec<MetricRatio> =
            found.whole.iter().map(|(metric, ratio)| MetricRatio::of(metric, *ratio)).collect(),
        /// CPU time per run for starting and stopping the sampler, in seconds; `null` if it was not
        /// measured.
        start_and_end: Option<Estimate>,
        /// CPU time per sample, in seconds; `null` if it was not measured.
        sample: Option<Estimate>,
        /// Number of samples per run.
        samples_per_run: Option<f64> => found.samples,
    }
}

view! {
    /// Overhead of sampling in one metric, as a ratio.
    MetricRatio of (metric: &str, ratio: Measured) {
        /// `wall` or `cpu`.
        metric: String => metric,
        /// The ratio.
        ratio: Estimate => ratio,
    }
}

impl View<Measured> for Estimate {
    fn view(found: &Measured) -> Self {
        let (lower, upper) = found.interval.unzip();
        Self { estimate: Some(found.estimate), lower, upper }
    }
}

view! {
    /// The shares of functions in two recorded profiles. Intervals cover only the sampling error.
    ProfileDifference of (found: &Difference, findings: &[assay_data::Finding]) {
        /// Layout version and verb.
        #[serde(flatten)]
        head: Head = Head::of("profile"),
        /// The profiles; the first is the reference.
        sides: Vec<ProfileSide> = [0, 1].map(|side| ProfileSide::of(found, side)).into(),
        /// The design of the experiment: `unpaired`.
        design: Design = Design::Unpaired,
        /// Base unit of amounts.
        unit: String,
        /// Confidence of each interval by itself, and of all changes together.
        confidence: f64,
        /// The functions, largest difference first.
        functions: Vec<FunctionChange> => found.rows,
        /// Findings of the checks in the profiles.
        findings: Vec<Finding> => findings,
    }
}

view! {
    /// One of two profiles.
    ProfileSide of (found: &Difference, side: usize) {
        /// Name of the profile.
        name: String => found.names[side],
        /// Number of samples.
        samples: u64 => found.samples[side],
        /// The sum of all samples, in the unit.
        amount: Option<f64> => found.amounts[side],
    }
}

view! {
    /// A function in two profiles.
    FunctionChange of (row: &difference::Row) {
        /// Name of the function.
        name: String,
        /// File of the function; `null` if unknown.
        file: Option<String>,
        /// The verdict on the change.
        change: ShareChange,
        /// Shares spent in the function itself, between 0 and 1.
        shares: Both,
        /// Amounts spent in the function itself, in the unit.
        amounts: Both,
        /// The second share minus the first, with Newcombe's interval.
        difference: Estimate = Estimate::new(row.difference, row.interval),
        /// p-value of the score test that the shares are equal, adjusted over all functions by
        /// Holm's method.
        p_adjusted: Option<f64> => row.p,
    }
}

words! {
    /// Verdicts on the change of a share.
    ShareChange from difference::Change {
        /// The share is larger in the second profile.
        Source::Grew => Larger,
        /// The share is smaller in the second profile.
        Source::Shrank => Smaller,
        /// No difference is known.
        Source::Unknown => Inconclusive,
    }
}
