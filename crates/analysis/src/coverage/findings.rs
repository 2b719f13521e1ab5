//! The warning as a finding, for the two intervals that every screen shows: that of a median, and that of a verdict.
//!
//! Only intervals near 95 % are warned of, since no others were simulated. What kind of data it is, is asked only where some kind
//! of so many values would be warned of.

use super::{Kind, Method, Optimistic, Situation, Traits, simulated, speaks_for, warning};
use crate::comparison::Comparison;
use crate::describe::SubjectSummary;
use crate::evidence::Evidence;
use crate::policy;
use crate::series_summary::SeriesSummary;
use assay_data::{Action, Finding, Severity};

/// The code of both.
const INTERVAL_OPTIMISTIC: &str = "INTERVAL_OPTIMISTIC";

/// About the median of one subject's values.
pub(crate) fn median(
    evidence: &Evidence<'_>,
    summary: &SubjectSummary,
    subject: usize,
    metric: usize,
) -> Option<Finding> {
    let description = summary.metrics.get(metric)?.as_ref()?;
    description.median_interval?;
    let n = description.n;
    if !speaks_for(description.confidence) || !may_miss(Method::MedianWidened, n) {
        return None;
    }
    let shape = Traits::of_shape(&evidence.index().values(subject, metric));
    let dependent = is_dependent(description.effective(), n);
    let found = warning(Method::MedianWidened, n, Traits { dependent, ..shape })?;
    Some(finding(found, &format!("the median of {}", summary.name), &summary.name, n))
}

/// About the median of a summary, whose description shows dependence.
pub(crate) fn median_of_summary(summary: &SeriesSummary) -> Option<Finding> {
    let d = &summary.description;
    d.median_interval.filter(|_| speaks_for(d.confidence))?;
    // Fewer values can't be told from normal ones, and the interval of those holds.
    let situation = Situation {
        traits: Traits { unseen: false, ..summary.situation.traits },
        ..summary.situation
    };
    let found = situation.warning(Method::MedianWidened)?;
    Some(finding(found, &format!("the median of {}", summary.name), &summary.name, d.n))
}

/// About the interval that decided a comparison.
pub(crate) fn verdict(evidence: &Evidence<'_>, c: &Comparison, name: &str) -> Option<Finding> {
    c.decision.interval?;
    if !speaks_for(1.0 - c.level) {
        return None;
    }
    let (method, n) = match c.blocks {
        Some(blocks) => (Method::Blocks, blocks),
        None => (Method::Recordings, c.counts.0.min(c.counts.1)),
    };
    if !may_miss(method, n) {
        return None;
    }
    let traits = if c.blocks.is_some() {
        let paired = evidence.in_blocks(c.against, c.of, c.metric);
        let shape = match paired.log_ratios() {
            Some(logs) => Traits::of_shape(logs),
            None => Traits::of_shape(&paired.shifts()),
        };
        Traits { dependent: c.drifting().is_some(), ..shape }
    } else {
        let of = |subject| Traits::of_shape(&evidence.index().values(subject, c.metric));
        let dependent = is_dependent(c.effective, n);
        Traits { dependent, ..of(c.against).or(of(c.of)) }
    };
    let found = warning(method, n, traits)?;
    Some(finding(found, "the verdict", name, n))
}

/// Whether so many values are worth less than three quarters of their number, as [`Traits::of`] asks.
fn is_dependent(effective: f64, n: usize) -> bool {
    effective < 0.75 * n as f64
}

fn may_miss(method: Method, n: usize) -> bool {
    Kind::ALL
        .iter()
        .any(|kind| simulated(method, *kind, n).is_some_and(|c| c < policy::COVERAGE_LEAST))
}

fn finding(found: Optimistic, what: &str, subject: &str, n: usize) -> Finding {
    Finding::new(
        INTERVAL_OPTIMISTIC,
        Severity::Warning,
        format!(
            "the interval of {what} covers less than its level: with {}, a 95 % interval contained the true value in only {:.0} % of simulated experiments",
            found.situation.words(),
            100.0 * found.simulated
        ),
    )
    .about(subject)
    .with("nominal", found.nominal)
    .with("simulated", found.simulated)
    .with("n", n as f64)
    .advise(Action::MoreValues)
    .advise(Action::text("read the interval as one of lower confidence"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_says_how_often_the_interval_holds() {
        let found = Optimistic { nominal: 0.95, simulated: 0.871, situation: Kind::Autoregressive };
        let finding = finding(found, "the median of a", "a", 20);
        assert!(finding.message.contains("in only 87 % of simulated experiments"), "{finding:?}");
        assert!(finding.message.contains("correlated values"), "{finding:?}");
        assert_eq!(finding.evidence[1], ("simulated".to_owned(), 0.871));
    }

    #[test]
    fn few_recorded_values_that_hang_together_are_warned_of_and_others_are_not() {
        let analysed = |kind: Kind| {
            let mut samples = assay_data::Samples::new(vec![assay_data::Metric::wall()]);
            samples.add_subject("a");
            let mut stream = assay_stats::resampling::Stream::new(3, 7);
            for value in super::super::simulation::sample(kind, 24, &mut stream) {
                samples.push_value(0, value);
            }
            let analysis = crate::analyse(&samples, &crate::Options::default())
                .expect("as the test was built");
            let dependent = analysis.subjects[0].metrics[0]
                .as_ref()
                .expect("as the test was built")
                .effective()
                < 18.0;
            (dependent, analysis.findings.iter().any(|f| f.code == INTERVAL_OPTIMISTIC))
        };
        assert_eq!(analysed(Kind::Normal), (false, false));
        let (dependent, warned) = analysed(Kind::Autoregressive);
        let misses = simulated(Method::MedianWidened, Kind::Autoregressive, 24);
        assert_eq!(warned, dependent && misses.is_some_and(|c| c < policy::COVERAGE_LEAST));
    }
}
