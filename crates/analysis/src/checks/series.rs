//! Checks of a single series: whether its values are all equal, drift, or are correlated.

use super::shared;
use crate::dependence::is_beyond_chance;
use crate::describe::{Description, SubjectSummary};
use crate::policy;
use assay_data::{Action, Finding, Metric, Severity, Unit};

/// Returns findings about one subject's series of the primary metric. If `in_blocks`, drift cancels
/// in the comparison.
pub fn series(
    summary: &SubjectSummary,
    metric_index: usize,
    metric: &Metric,
    in_blocks: bool,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let Some(description) = summary.metrics.get(metric_index).and_then(Option::as_ref) else {
        return findings;
    };
    let name = &summary.name;
    // Reproducible counts are expected to be equal.
    if description.clock_step.is_none() && description.n > 1 && !metric.exact {
        let which = format!("all {} values of {name}", description.n);
        let finding = shared::all_equal(&which, "").about(name).with("value", description.median);
        findings.push(match metric.unit {
            Unit::Second => finding.advise(Action::FinerClock).advise(Action::MoreWork),
            _ => finding.advise(Action::text("check that this quantity is meant to be constant")),
        });
    }
    if let Some(drift) = description.drift {
        let (severity, why) = if in_blocks {
            (Severity::Note, "; blocks cancel what all share")
        } else if !matters(drift, description) {
            (Severity::Note, ", which is small compared to the spread or the median")
        } else {
            (Severity::Warning, "")
        };
        let moved = moved(drift, description.median, &metric.unit);
        findings.push(shared::drift(name, &moved, drift, severity, why));
    }
    let share = description.effective() / description.n as f64;
    // If too few effective values remain for an interval, `TOO_DEPENDENT` reports that instead.
    if !in_blocks
        && share < policy::DEPENDENT_BELOW
        && description.effective() >= policy::FEWEST_EFFECTIVE
    {
        let (n, effective, lag1) = (description.n, description.effective(), description.lag1);
        let beyond = is_beyond_chance(n, effective, lag1);
        let widened = "the interval was widened for that";
        let found = shared::correlated(name, (n, effective), beyond, widened);
        findings.push(found.with("lag1", lag1));
    }
    findings
}

/// Returns true if a drift is worth a warning, that is, noticeable relative to both the spread and
/// the median. With many values, even a negligible drift is significant, and a drift of 1 does not
/// matter for values around 10¹² that scatter by 1.
fn matters(drift: f64, d: &Description) -> bool {
    drift.abs() >= policy::DRIFT_OF_SPREAD * d.standard_deviation
        && drift.abs() >= policy::DRIFT_OF_MEDIAN * d.median.abs()
}

/// Formats a change: in percent of the starting value, or in units if that value is not positive,
/// or if the percentage prints as zero or exceeds a hundredfold.
pub(crate) fn moved(by: f64, from: f64, unit: &Unit) -> String {
    let percent = by / from * 100.0;
    if from > 0.0 && (0.05..10_000.0).contains(&percent.abs()) {
        return format!("{percent:+.1} %");
    }
    let scale = unit.scale_for(by);
    let symbol = match unit {
        Unit::Other(symbol) => symbol.as_str(),
        _ => scale.symbol,
    };
    let size = by / scale.factor;
    let shown = if size.abs() < 0.01 { format!("{size:+.1e}") } else { format!("{size:+.2}") };
    format!("{shown} {symbol}").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_stats::resampling::Stream;

    /// Severity of the finding about dependence, if any, and whether the interval of the series is
    /// widened.
    fn told_of(values: &[f64]) -> (Option<Severity>, bool) {
        let described = Description::of(values, 0.95);
        let share = described.as_ref().map_or(1.0, |d| d.effective() / d.n as f64);
        let summary = SubjectSummary {
            side: 0,
            row: 0,
            name: "a".to_owned(),
            command: None,
            parameters: Vec::new(),
            against: None,
            observations: values.len(),
            failures: 0,
            timeouts: 0,
            metrics: vec![described],
        };
        let found = series(&summary, 0, &Metric::wall(), false);
        let told = found.iter().find(|f| f.code == "DEPENDENCE").map(|f| f.severity);
        (told, share < policy::DEPENDENT_BELOW)
    }

    #[test]
    fn independent_values_seldom_warn_of_dependence() {
        for n in [20, 60, 300] {
            let (mut warned, mut noted) = (0, 0);
            for experiment in 0..1000 {
                let mut stream = Stream::new(n, experiment);
                let values: Vec<f64> =
                    (0..n).map(|_| 10.0 + (0.3 * stream.normal()).exp()).collect();
                let (told, widened) = told_of(&values);
                assert!(widened || told.is_none());
                warned += u32::from(told == Some(Severity::Warning));
                noted += u32::from(told == Some(Severity::Note));
            }
            assert!(warned <= 70, "{warned} of 1000 series of {n} independent values");
            assert!(noted > 0, "what widens is said, if only as a note");
        }
    }

    #[test]
    fn values_that_hang_together_do_warn() {
        let warned = (0..100).filter(|&experiment| {
            let mut stream = Stream::new(8, experiment);
            let mut last = 0.0;
            let mut next = || {
                last = 0.5 * last + stream.normal();
                10.0 + last / 10.0
            };
            let values: Vec<f64> = (0..100).map(|_| next()).collect();
            told_of(&values).0 == Some(Severity::Warning)
        });
        let warned = warned.count();
        assert!(warned >= 95, "{warned} of 100");
    }
}
