//! A calibration as JSON: how often each way of measuring reports a difference that does not exist,
//! and which differences can be detected.

use super::Head;
use super::values::{Estimate, Verdict, view, words};
use crate::calibration::CalibrationReport;
use assay_analysis::calibration;
use serde_json::{Map, Value};

view! {
    /// The reliability of measurements on this machine.
    Calibrated of (report: &CalibrationReport<'_>) {
        /// Version of the JSON layout, and the verb that wrote it.
        #[serde(flatten)]
        head: Head = Head::of("calibrate"),
        /// One sentence on the differences that can be trusted, for human readers.
        sentence: String = crate::calibration::sentence(report),
        /// Number of runs in the series.
        runs: usize => report.calibration.runs,
        /// Median wall time of a run, in seconds.
        median_seconds: Option<f64> => report.calibration.median_seconds,
        /// Time from the start of one run to the start of the next, in seconds.
        seconds_per_run: Option<f64> => report.calibration.seconds_per_run,
        /// Results of every way of measuring when applied to the series. All runs are of one
        /// program, so every reported difference is a false alarm.
        methods: Vec<Method> => report.calibration.methods,
        /// Smallest detectable differences, by metric and time budget.
        detectable: Vec<Detectable> => report.calibration.detectable,
        /// Result for a byte-identical copy at another path, compared with the original; `null` if
        /// it was not measured.
        layout: Option<Layout>,
        /// Facts about the machine, by name.
        environment: Map<String, Value> => report.environment.facts,
    }
}

view! {
    /// A way of measuring, applied to a program that is compared with itself.
    Method of (method: &calibration::Method) {
        /// Name of the way of measuring. It defines the order of the runs and the rule for
        /// stopping.
        name: MethodName,
        /// Name of the statistical test that decides.
        test: &'static str,
        /// Number of comparisons made.
        comparisons: u32,
        /// Effective number of independent comparisons.
        independent: u32,
        /// Number of comparisons that found a difference.
        false_alarms: u32,
        /// Rate of false alarms, with its 95 % interval.
        rate: Estimate = Estimate::new(method.rate(), method.interval()),
        /// Relative difference that 5 % of the comparisons exceed although the programs are
        /// identical.
        phantom_p95: Option<f64>,
    }
}

words! {
    /// Name of a way of measuring, defined by the order of the runs and the rule for stopping.
    MethodName from calibration::MethodName {
        /// All runs of one program, then all runs of the other.
        Source::BlockOrder => BlockOrder,
        /// Runs of the two programs in alternation.
        Source::Alternating => Alternating,
        /// Random order within blocks, for 50 blocks.
        Source::Ours => AssayFixed,
        /// Random order within blocks, until the verdict is clear.
        Source::OursDefault => AssayDefault,
    }
}

view! {
    /// The smallest difference that can be detected within a time budget.
    Detectable of (found: &calibration::Detectable) {
        /// Name of the metric: `wall` or `cpu`.
        metric: &'static str,
        /// Time budget for both programs together, in seconds.
        budget_seconds: f64,
        /// Number of blocks that fit into the budget.
        blocks: u32,
        /// Smallest true difference, as a fraction, whose direction is found by 90 % of runs with
        /// this budget; `null` if there are too few blocks, or if a value is not positive.
        difference: Option<f64>,
        /// True if the budget allows more blocks than the series has.
        extrapolated: bool,
    }
}

view! {
    /// A byte-identical copy at another path, compared with the original.
    Layout of (layout: &calibration::Layout) {
        /// Ratio of the wall time of the copy to that of the original.
        ratio: Estimate = Estimate::new(layout.ratio, Some(layout.interval)),
        /// Verdict on the difference between copy and original.
        verdict: Verdict,
    }
}
