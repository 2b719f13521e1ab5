//! Profiles as JSON: the shares of functions in one, and the difference of two recorded ones.

use super::Head;
use super::finding::Finding;
use super::values::{Both, Design, Estimate, view, words};
use crate::profile::{Measured, Overhead, ProfileReport, screen};
use assay_profiles::difference::{self, Difference};
use assay_profiles::shares::{Basis, Share};

view! {
    /// Where the time of a program goes. Shares lie between 0 and 1.
    ProfileShares of (report: &ProfileReport<'_>) {
        /// Layout and verb.
        #[serde(flatten)]
        head: Head = Head::of("profile"),
        /// What was profiled.
        name: String = report.profile.name.clone(),
        /// The tool that sampled; `null` where the file does not say.
        sampler: Option<String> = report.profile.tool.clone(),
        /// What was sampled: `cpu`, `wall`, `samples`, or what the file says.
        metric: String = report.shares.measure.clone(),
        /// Its base unit.
        unit: String = report.shares.unit.symbol().to_owned(),
        /// Number of samples.
        samples: u64 = report.shares.samples,
        /// What all samples come to, in the unit; of several runs the mean of a run.
        amount: Option<f64> = Some(report.shares.amount),
        /// Number of runs.
        runs: usize = if let Basis::Runs(runs) = report.shares.basis { runs } else { 1 },
        /// Samples a second that were asked for; `null` where the file does not say.
        asked_hz: Option<f64> = report.profile.asked_hz,
        /// Samples a second that were taken.
        delivered_hz: Option<f64> = report.profile.delivered_hz,
        /// Samples that the sampler reports as missed.
        missed: u64 = report.profile.missed,
        /// How long it was sampled.
        seconds: Option<f64> = report.profile.seconds,
        /// Confidence of the intervals.
        confidence: f64 = report.shares.confidence,
        /// Where the intervals of shares come from.
        intervals: ShareIntervals = (&report.shares.basis).into(),
        /// Share of the garbage collection; `null` where none was seen.
        garbage_collection: Option<Estimate> =
            report.shares.collection.map(|(share, own)| Estimate::new(share, own)),
        /// What the sampler costs, with the option that asks for it; otherwise `null`.
        overhead: Option<SamplerOverhead> = report.overhead.map(SamplerOverhead::of),
        /// The functions, the largest first.
        functions: Vec<FunctionShare> =
            screen::shown(report).iter().map(FunctionShare::of).collect(),
        /// What the checks found, the most serious first.
        findings: Vec<Finding> = report.findings.iter().map(Finding::of).collect(),
    }
}

words! {
    /// Where the intervals of shares come from.
    ShareIntervals from Basis {
        /// The number of samples: Wilson's interval of a proportion.
        Source::Samples => Samples,
        /// The shares of several runs: Student's interval.
        Source::Runs(_) => Runs,
        /// There are none: it was not sampled, or what it counts are not times.
        Source::None => None,
    }
}

view! {
    /// The share of a function: of all frames with one name in one file.
    FunctionShare of (found: &Share) {
        /// Its name.
        name: String = found.function.name.clone(),
        /// Its file; `null` where it is not known.
        file: Option<String> = found.function.file.clone(),
        /// Share of the function itself.
        flat: Estimate = Estimate::new(found.flat, found.flat_interval),
        /// Share of the function and of all that it called; recursion is counted once.
        cum: Estimate = Estimate::new(found.cum, found.cum_interval),
        /// What was spent in the function itself, in the unit.
        flat_amount: Option<f64> = Some(found.function.flat_amount),
        /// What was spent in it and in all that it called.
        cum_amount: Option<f64> = Some(found.function.cum_amount),
        /// Samples of the function itself.
        flat_samples: u64 = found.function.flat_samples,
        /// Samples of it and of all that it called.
        cum_samples: u64 = found.function.cum_samples,
    }
}

view! {
    /// What a sampler costs, measured by runs without it, with it, and with it but for the samples.
    SamplerOverhead of (found: &Overhead) {
        /// Runs of each.
        blocks: usize = found.blocks,
        /// A run with the sampler over one without.
        ratios: Vec<MetricRatio> =
            found.whole.iter().map(|(metric, ratio)| MetricRatio::of(metric, *ratio)).collect(),
        /// CPU time of its start and end, s; `null` where it was not measured.
        start_and_end: Option<Estimate> = found.start_and_end.map(Estimate::from),
        /// CPU time of a sample, s; `null` where it was not measured.
        sample: Option<Estimate> = found.sample.map(Estimate::from),
        /// Samples in a run.
        samples_per_run: Option<f64> = Some(found.samples),
    }
}

view! {
    /// The ratio of one metric.
    MetricRatio of (metric: &str, ratio: Measured) {
        /// `wall` or `cpu`.
        metric: String = metric.to_owned(),
        /// The ratio.
        ratio: Estimate = ratio.into(),
    }
}

impl From<Measured> for Estimate {
    fn from(found: Measured) -> Self {
        let ends = found.interval;
        Self {
            estimate: Some(found.estimate),
            lower: ends.map(|(lower, _)| lower),
            upper: ends.map(|(_, upper)| upper),
        }
    }
}

view! {
    /// The shares of functions in two profiles that were recorded before. They cover the error of sampling only.
    ProfileDifference of (found: &Difference, findings: &[assay_data::Finding]) {
        /// Layout and verb.
        #[serde(flatten)]
        head: Head = Head::of("profile"),
        /// The profiles; the first is the reference.
        sides: Vec<ProfileSide> = [0, 1].map(|side| ProfileSide::of(found, side)).into(),
        /// How the samples were taken: `unpaired`.
        design: Design = Design::Unpaired,
        /// Base unit of amounts.
        unit: String = found.unit.symbol().to_owned(),
        /// Confidence of the intervals, each by itself, and of the changes all together.
        confidence: f64 = found.confidence,
        /// The functions, the largest difference first.
        functions: Vec<FunctionChange> = found.rows.iter().map(FunctionChange::of).collect(),
        /// What the checks found in the profiles.
        findings: Vec<Finding> = findings.iter().map(Finding::of).collect(),
    }
}

view! {
    /// One of two profiles.
    ProfileSide of (found: &Difference, side: usize) {
        /// Its name.
        name: String = found.names[side].clone(),
        /// Number of samples.
        samples: u64 = found.samples[side],
        /// What they come to, in the unit.
        amount: Option<f64> = Some(found.amounts[side]),
    }
}

view! {
    /// A function in two profiles.
    FunctionChange of (row: &difference::Row) {
        /// Its name.
        name: String = row.name.clone(),
        /// Its file; `null` where it is not known.
        file: Option<String> = row.file.clone(),
        /// What is known of the change.
        change: ShareChange = (&row.change).into(),
        /// The share of the function itself, between 0 and 1.
        shares: Both = Both::new(row.shares.into()),
        /// What was spent in it, in the unit.
        amounts: Both = Both::new(row.amounts.into()),
        /// The second share − the first, with Newcombe's interval.
        difference: Estimate = Estimate::new(row.difference, row.interval),
        /// p-value of the score test against no difference, adjusted by Holm over all functions.
        p_adjusted: Option<f64> = Some(row.p),
    }
}

words! {
    /// What is known of the change of a share.
    ShareChange from difference::Change {
        /// It is larger in the second profile.
        Source::Grew => Larger,
        /// It is smaller.
        Source::Shrank => Smaller,
        /// Not known.
        Source::Unknown => Inconclusive,
    }
}
