//! A calibration as JSON: how often each way of measuring reports a nonexistent difference, and
//! what can be detected.

use super::Head;
use super::values::{Estimate, Verdict, view, words};
use crate::calibration::CalibrationReport;
use assay_analysis::calibration;
use serde_json::{Map, Value};

view! {
    /// The reliability of measurements on this machine.
    Calibrated of (report: &CalibrationReport<'_>) {
        /// Layout version and verb.
        #[serde(flatten)]
        head: Head = Head::of("calibrate"),
        /// The trustworthy results, in one sentence. For people.
        sentence: String = crate::calibration::sentence(report),
        /// Number of runs in the series.
        runs: usize => report.calibration.runs,
        /// Median wall time of a run.
        median_seconds: Option<f64> => report.calibration.median_seconds,
        /// Time from the start of one run to the start of the next, s.
        seconds_per_run: Option<f64> => report.calibration.seconds_per_run,
        /// Every way of measuring, applied to the series. All differences that they find are false.
        methods: Vec<Method> => report.calibration.methods,
        /// The smallest detectable differences, by metric and budget.
        detectable: Vec<Detectable> => report.calibration.detectable,
        /// A byte-identical copy at another path, compared with the original; `null` if it was not
        /// measured.
        layout: Option<Layout>,
        /// Facts about the machine, by name.
        environment: Map<String, Value> => report.environment.facts,
    }
}

view! {
    /// A way of measuring a program against itself.
    Method of (method: &calibration::Method) {
        /// Order of the runs, and rule for stopping.
        name: MethodName,
        /// The test that decides.
        test: &'static str,
        /// Number of comparisons.
        comparisons: u32,
        /// Effective number of independent comparisons.
        independent: u32,
        /// Number of comparisons that found a difference.
        false_alarms: u32,
        /// The rate of false alarms, with its 95 % interval.
        rate: Estimate = Estimate::new(method.rate(), method.interval()),
        /// The apparent relative difference that one comparison in twenty exceeds.
        phantom_p95: Option<f64>,
    }
}

words! {
    /// Order of the runs of a way of measuring, and rule for stopping.
    MethodName from calibration::MethodName {
        /// All runs of one program, then all of the other.
        Source::BlockOrder => BlockOrder,
        /// The programs alternate.
        Source::Alternating => Alternating,
        /// Random order within blocks, for 50 blocks.
        Source::Ours => AssayFixed,
        /// Random order within blocks, until the answer is clear.
        Source::OursDefault => AssayDefault,
    }
}

view! {
    /// The smallest difference that a run detects.
    Detectable of (found: &calibration::Detectable) {
        /// `wall` or `cpu`.
        metric: &'static str,
        /// Time of the run for both programs together, s.
        budget_seconds: f64,
        /// Number of blocks that fit into the budget.
        blocks: u32,
        /// The smallest true difference, as a fraction, whose direction 90 of 100 such runs find;
        /// `null` if there are too few blocks.
        difference: Option<f64>,
        /// True if more blocks fit into the budget than the series has.
        extrapolated: bool,
    }
}

view! {
    /// A byte-identical copy at another path, compared with the original.
    Layout of (layout: &calibration::Layout) {
        /// Wall time of the copy / wall time of the original.
        ratio: Estimate = Estimate::new(layout.ratio, Some(layout.interval)),
        /// The verdict on the difference.
        verdict: Verdict,
    }
}
