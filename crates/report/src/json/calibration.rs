//! A calibration as JSON: how often each way of measuring reports a nonexistent difference, and
//! what can be detected.

use super::Head;
use super::values::{Estimate, Verdict, view, words};
use crate::calibration::CalibrationReport;
use assay_analysis::calibration;
use serde_json::{Map, Value};

view! {
    /// How far measurements on this machine can be trusted.
    Calibrated of (report: &CalibrationReport<'_>) {
        /// Layout and verb.
        #[serde(flatten)]
        head: Head = Head::of("calibrate"),
        /// What to trust. For people.
        sentence: String = crate::calibration::sentence(report),
        /// Runs in the series.
        runs: usize = report.calibration.runs,
        /// Median wall time of a run.
        median_seconds: Option<f64> = Some(report.calibration.median_seconds),
        /// Time from the start of one run to the start of the next.
        seconds_per_run: Option<f64> = Some(report.calibration.seconds_per_run),
        /// Every way of measuring, tried on the series. All differences that it found are false.
        methods: Vec<Method> = report.calibration.methods.iter().map(Method::of).collect(),
        /// The smallest detectable differences, by metric and budget.
        detectable: Vec<Detectable> =
            report.calibration.detectable.iter().map(Detectable::of).collect(),
        /// A byte-identical copy at another path against the original; `null` where it was not measured.
        layout: Option<Layout> = report.layout.map(Layout::of),
        /// Facts about the machine, by name.
        environment: Map<String, Value> = report.environment.facts.clone(),
    }
}

view! {
    /// A way of measuring a program against itself.
    Method of (method: &calibration::Method) {
        /// In which order it measures, and when it stops.
        name: MethodName = (&method.name).into(),
        /// The test that decides.
        test: &'static str = method.test,
        /// How many comparisons were tried.
        comparisons: u32 = method.comparisons,
        /// How many independent ones they are worth.
        independent: u32 = method.independent,
        /// How many of them found a difference.
        false_alarms: u32 = method.false_alarms,
        /// The share of these, with its 95 % interval.
        rate: Estimate = Estimate::new(method.rate(), method.interval()),
        /// The apparent relative difference that one comparison in twenty exceeds.
        phantom_p95: Option<f64> = Some(method.phantom_p95),
    }
}

words! {
    /// In which order a way of measuring takes runs, and when it stops.
    MethodName from calibration::MethodName {
        /// All runs of one, then all of the other.
        Source::BlockOrder => BlockOrder,
        /// In turns.
        Source::Alternating => Alternating,
        /// In random order within blocks, 50 of them.
        Source::Ours => AssayFixed,
        /// In random order within blocks until the answer is clear.
        Source::OursDefault => AssayDefault,
    }
}

view! {
    /// The smallest difference that a run detects.
    Detectable of (found: &calibration::Detectable) {
        /// `wall` or `cpu`.
        metric: &'static str = found.metric,
        /// Seconds that the run takes, for both programs together.
        budget_seconds: f64 = found.budget_seconds,
        /// The blocks that fit into it.
        blocks: u32 = found.blocks,
        /// The smallest true difference, as a fraction, whose direction is found in 90 of 100 such runs; `null` for too few blocks.
        difference: Option<f64> = found.difference,
        /// Whether more blocks fit into the budget than the series holds.
        extrapolated: bool = found.extrapolated,
    }
}

view! {
    /// A byte-identical copy at another path against the original.
    Layout of (layout: calibration::Layout) {
        /// Its wall time over that of the original.
        ratio: Estimate = Estimate::new(layout.ratio, Some(layout.interval)),
        /// The verdict on the difference.
        verdict: Verdict = (&layout.verdict).into(),
    }
}
