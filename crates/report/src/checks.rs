//! The results of checking the assumptions behind the intervals, as one line or as a shorter
//! summary.

use crate::number;
use crate::words::counted;
use assay_analysis::dependence::{Dependence, is_beyond_chance};
use assay_analysis::policy;
use assay_analysis::{Analysis, Comparison, Scale};
use assay_data::{Design, StopReason};

/// Maximum number of drifting subjects listed individually. More are only counted.
const MOST_DRIFTS: usize = 3;

/// The result of a check.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CheckResult {
    /// The assumption holds as far as can be tested.
    Passed,
    /// The check found something that the reader should know.
    Noted,
    /// A fact about the experiment, such as its length or the effect that it could detect.
    Fact,
}

/// Returns a line with the results of all checks, and a summary that omits the names of those that
/// passed. Returns `None` if there were no checks.
pub(crate) fn lines(analysis: &Analysis) -> Option<(String, String)> {
    let all = checks(analysis);
    let texts = |wanted: &dyn Fn(CheckResult) -> bool| -> Vec<String> {
        let chosen = all.iter().filter(|(result, _)| wanted(*result));
        chosen.map(|(_, text)| text.clone()).collect()
    };
    let passed = all.iter().filter(|(result, _)| *result == CheckResult::Passed).count();
    let mut summary = texts(&|result| result == CheckResult::Noted);
    match (passed, summary.is_empty()) {
        (0, _) => {}
        (n, true) => summary.push(format!("{n} passed")),
        (n, false) => summary.push(format!("{} passed", counted(n, "other"))),
    }
    summary.extend(texts(&|result| result == CheckResult::Fact));
    let line = |texts: &[String]| format!("checks: {}", texts.join(" · "));
    (!all.is_empty()).then(|| (line(&texts(&|_| true)), line(&summary) + " (--verbose)"))
}

/// Returns true if the drifts have the same direction and differ by less than a factor of two.
fn are_alike(drifts: &[f64]) -> bool {
    let least = drifts.iter().copied().fold(f64::INFINITY, f64::min);
    let most = drifts.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (near, far) = if least > 0.0 { (least, most) } else { (most.abs(), least.abs()) };
    least * most > 0.0 && far < 2.0 * near
}

/// Returns the results of the checks, passed or not.
fn checks(analysis: &Analysis) -> Vec<(CheckResult, String)> {
    let mut said: Vec<(CheckResult, String)> = Vec::new();
    said.extend(untested(analysis).map(|text| (CheckResult::Noted, text)));
    said.extend(dependence(analysis));
    said.extend(weighted(analysis).map(|text| (CheckResult::Noted, text)));
    let primaries = || (0..analysis.subjects.len()).filter_map(|s| analysis.primary_of(s));
    let drifts: Vec<f64> = primaries().filter_map(|d| Some(d.drift? / d.median.abs())).collect();
    let most = primaries().map(|d| d.n).max().unwrap_or(0);
    if !drifts.is_empty() {
        let in_blocks = analysis.design == Design::Blocks && !analysis.comparisons.is_empty();
        // Drift on one side only becomes part of the difference, because blocks do not cancel it.
        let alike = drifts.len() == primaries().count() && are_alike(&drifts);
        let cancelled = match analysis.comparisons.iter().any(Comparison::wanders) {
            _ if !in_blocks => "",
            true => " (not alike in all: the difference drifts as well)",
            false if alike => " (the blocks cancel it)",
            false => " (the blocks cancel only what all sides share)",
        };
        let signed = |drift: &f64| {
            format!("{}{}", if *drift < 0.0 { "-" } else { "+" }, number::percent(*drift))
        };
        let drift = match drifts.len() {
            n if n > MOST_DRIFTS => {
                format!("drift in {n} of {}{cancelled}", analysis.subjects.len())
            }
            _ => {
                let drifts: Vec<String> = drifts.iter().map(signed).collect();
                format!("drift {}{cancelled}", drifts.join(", "))
            }
        };
        said.push((CheckResult::Noted, drift));
    } else if most >= policy::DRIFT_FROM {
        said.push((CheckResult::Passed, "no drift".to_owned()));
    }
    said.extend((most >= policy::OUTLIERS_FROM).then(|| {
        match primaries().map(|d| d.outliers).sum::<usize>() {
            0 => (CheckResult::Passed, "no outliers".to_owned()),
            n => (CheckResult::Noted, format!("{}, kept", counted(n, "outlier"))),
        }
    }));
    let seen = analysis.comparisons.iter().filter_map(|c| Some((c, c.detectable?)));
    let seen = seen.filter(|(_, size)| *size > 0.0);
    if let Some((c, size)) = seen.max_by(|a, b| a.1.total_cmp(&b.1)) {
        let size = match c.decision.scale {
            Scale::Ratio => number::percent(size.exp_m1()),
            Scale::Shift => {
                format!("a difference of {}", number::rough(size, &analysis.metrics[c.metric].unit))
            }
        };
        said.push((CheckResult::Fact, format!("could detect {size}")));
    }
    said.extend(analysis.blocks.map(|blocks| (CheckResult::Fact, taken(blocks, analysis))));
    let same_output = (CheckResult::Passed, "same output".to_owned());
    said.extend(analysis.has_same_outputs().then_some(same_output));
    said
}

/// Returns a note if it could not be tested whether the values are independent, as the intervals
/// assume.
fn untested(analysis: &Analysis) -> Option<String> {
    let c = analysis.comparisons.iter().find(|c| c.untested && c.design != Design::Summary)?;
    let what = if c.blocks.is_some() { "blocks" } else { "values a side" };
    let n = c.blocks.unwrap_or(c.counts.0.min(c.counts.1));
    let of_what = match (worst_dependence(analysis), c.dependence) {
        (Dependence::Untested, _) => "dependence not tested",
        (_, Dependence::Untested) => "dependence not tested everywhere",
        _ => "dependence of one side not tested",
    };
    (n > 0).then(|| format!("{of_what} ({} {what} needed)", policy::TESTED_FROM))
}

fn worst_dependence(analysis: &Analysis) -> Dependence {
    analysis.comparisons.iter().map(|c| c.dependence).max().unwrap_or_default()
}

/// Returns the result of checking whether the values are independent, as the intervals assume;
/// `None` if this was not tested.
fn dependence(analysis: &Analysis) -> Option<(CheckResult, String)> {
    if worst_dependence(analysis) == Dependence::Untested {
        return None;
    }
    let in_blocks = analysis.design == Design::Blocks && !analysis.comparisons.is_empty();
    // Last item: whether the difference drifted (in blocks), or whether chance could explain the
    // dependence (otherwise).
    let (share, effective, n, so) = if in_blocks {
        let of = |c: &Comparison| {
            let n = c.blocks.unwrap_or(0) as f64;
            (c.effective / n, c.effective, n, c.dependence >= Dependence::Noticed)
        };
        analysis.comparisons.iter().map(of).min_by(|a, b| a.0.total_cmp(&b.0))?
    } else {
        let of = |s: usize| {
            let d = analysis.primary_of(s)?;
            let n = d.n as f64;
            let by_chance = !is_beyond_chance(d.n, d.effective(), d.lag1);
            Some((d.effective() / n, d.effective(), n, by_chance))
        };
        (0..analysis.subjects.len()).filter_map(of).min_by(|a, b| a.0.total_cmp(&b.0))?
    };
    if n < policy::DEPENDENCE_FROM as f64 {
        return None;
    }
    // In blocks only a drifting difference matters, and the test for it has its own significance
    // level.
    let (result, word) = match share {
        _ if in_blocks && so => (CheckResult::Noted, "the difference drifted"),
        s if s >= policy::DEPENDENT_BELOW => (CheckResult::Passed, "no autocorrelation"),
        _ if in_blocks => (CheckResult::Passed, "no autocorrelation that matters"),
        _ if so => (CheckResult::Passed, "autocorrelation within chance"),
        s if s >= 0.5 => (CheckResult::Noted, "weak autocorrelation"),
        _ => (CheckResult::Noted, "strong autocorrelation"),
    };
    Some((result, format!("{word} (effective n {effective:.0} of {n:.0})")))
}

/// Returns a note if the noise changed during the run, so that blocks received different weights.
fn weighted(analysis: &Analysis) -> Option<String> {
    let ratios: Vec<f64> = analysis.comparisons.iter().filter_map(|c| c.weighted).collect();
    let least = ratios.iter().copied().reduce(f64::min)?;
    let shown = number::fixed(least, 2);
    Some(match ratios.len() {
        1 => format!("noise changed: quiet blocks count more (interval {shown} × as wide)"),
        n => format!(
            "noise changed in {n} comparisons: quiet blocks count more (intervals down to {shown} × as wide)"
        ),
    })
}

fn taken(blocks: usize, analysis: &Analysis) -> String {
    let blocks = counted(blocks, "block");
    if let (Some(until), Some(StopReason::Blocks | StopReason::Budget)) =
        (&analysis.plan.until, analysis.stop)
    {
        return format!("{blocks}; {until} never came true");
    }
    match analysis.stop {
        Some(StopReason::Clear) => format!("{blocks}, then clear"),
        Some(StopReason::Precise) => format!("{blocks}, then precise enough"),
        Some(StopReason::Diminishing) => format!("{blocks}; more would hardly narrow it"),
        Some(StopReason::Blocks) => format!("{blocks}, as planned"),
        Some(StopReason::Budget) => format!("{blocks}, then out of time"),
        Some(StopReason::Interrupted) => format!("{blocks}, then interrupted"),
        Some(StopReason::Failed) => format!("{blocks}, then a failure"),
        Some(StopReason::Until) => {
            let condition = analysis.plan.until.as_deref().unwrap_or("the condition");
            format!("{blocks}, until {condition} came true")
        }
        None => blocks,
    }
}
