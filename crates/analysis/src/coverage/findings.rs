//! Coverage warnings as findings, for the two intervals that are always shown: that of the median
//! and that of the verdict.
//!
//! Only intervals near 95 % get warnings, since no others were simulated. The kind of data is
//! determined only if this number of values of some kind would get a warning.

use super::{Kind, Method, Optimistic, Situation, Traits, simulated, speaks_for, warning};
use crate::comparison::Comparison;
use crate::describe::SubjectSummary;
use crate::evidence::Evidence;
use crate::policy;
use crate::series_summary::SeriesSummary;
use assay_data::code;
use assay_data::{Action, Finding};

/// Returns the finding about the median of one subject's values. If `in_blocks`, there is none,
/// since the values are compared in blocks, in which common variation cancels.
pub(crate) fn median(
    evidence: &Evidence<'_>,
    summary: &SubjectSummary,
    subject: usize,
    metric: usize,
    in_blocks: bool,
) -> Option<Finding> {
    let description = summary.metrics.get(metric)?.as_ref()?;
    let n = description.n;
    if !speaks_for(description.confidence) || in_blocks {
        return None;
    }
    if is_dependent(n, description.lag1) {
        return Some(dependent(&summary.name, n, description.lag1));
    }
    description.median_interval?;
    if !may_miss(Method::MedianWidened, n) {
        return None;
    }
    let shape = Traits::of_shape(&evidence.index().values(subject, metric));
    let found = warning(Method::MedianWidened, n, shape)?;
    Some(finding(found, &format!("the median of {}", summary.name), &summary.name, n))
}

/// Returns the finding about the median of a series summary.
pub(crate) fn median_of_summary(summary: &SeriesSummary) -> Option<Finding> {
    let d = &summary.description;
    if !speaks_for(d.confidence) {
        return None;
    }
    if is_dependent(d.n, d.lag1) {
        return Some(dependent(&summary.name, d.n, d.lag1));
    }
    d.median_interval?;
    // For normal and independent values, from which few values can't be distinguished, the interval
    // has its nominal coverage. Certain dependence was reported above.
    let traits = Traits { unseen: false, dependent: false, ..summary.situation.traits };
    let situation = Situation { traits, ..summary.situation };
    let found = situation.warning(Method::MedianWidened)?;
    Some(finding(found, &format!("the median of {}", summary.name), &summary.name, d.n))
}

/// Returns the finding about the interval that decided a comparison.
pub(crate) fn verdict(evidence: &Evidence<'_>, c: &Comparison, name: &str) -> Option<Finding> {
    c.decision.interval?;
    if !speaks_for(1.0 - c.level) {
        return None;
    }
    let (method, n) = match c.blocks {
        Some(blocks) => (Method::Blocks, blocks),
        None => (Method::Recordings, c.counts.0.min(c.counts.1)),
    };
    // For recordings, the finding about each side covers this.
    if c.blocks.is_some() && is_dependent(n, c.lag1) {
        return Some(dependent(&format!("the difference of {name}"), n, c.lag1).about(name));
    }
    if !may_miss(method, n) {
        return None;
    }
    let traits = if c.blocks.is_some() {
        let paired = evidence.in_blocks(c.against, c.of, c.metric);
        match paired.log_ratios() {
            Some(logs) => Traits::of_shape(logs),
            None => Traits::of_shape(&paired.shifts()),
        }
    } else {
        let of = |subject| Traits::of_shape(&evidence.index().values(subject, c.metric));
        of(c.against).or(of(c.of))
    };
    let found = warning(method, n, traits)?;
    Some(finding(found, "the verdict", name, n))
}

/// Returns true if the correlation `lag1` between neighbors among `n` values is certain: chance
/// alone gives such a correlation in 3 of 1,000 series. Returns false if there are too few values
/// to test.
fn is_dependent(n: usize, lag1: f64) -> bool {
    let values = n as f64;
    n >= policy::TESTED_FROM && (lag1 + 1.0 / values) * values.sqrt() > policy::REFUSED_Z
}

/// Warns that the coverage of intervals is below their level because successive values are
/// correlated. The warning gives no number, since the loss depends on the range of the dependence,
/// which one series cannot show.
fn dependent(what: &str, n: usize, lag1: f64) -> Finding {
    let message = format!(
        "successive values of {what} are correlated ({lag1:.2} between neighbors): an interval that treats them as independent covers less than its level, and so may one that is widened for what {n} values show"
    );
    optimistic(message, what)
        .with("lag1", lag1)
        .with("n", n as f64)
        .advise(Action::MoreValues)
        .advise(Action::MeasureInBlocks)
}

fn may_miss(method: Method, n: usize) -> bool {
    Kind::ALL
        .iter()
        .any(|kind| simulated(method, *kind, n).is_some_and(|c| c < policy::COVERAGE_LEAST))
}

fn finding(found: Optimistic, what: &str, subject: &str, n: usize) -> Finding {
    let message = format!(
        "the interval of {what} covers less than its level: with {}, a 95 % interval contained the true value in only {:.0} % of simulated experiments",
        found.situation.words(),
        100.0 * found.simulated
    );
    optimistic(message, subject)
        .with("nominal", found.nominal)
        .with("simulated", found.simulated)
        .with("n", n as f64)
        .advise(Action::MoreValues)
        .advise(Action::text("read the interval as one of lower confidence"))
}

fn optimistic(message: String, subject: &str) -> Finding {
    Finding::new(code::INTERVAL_OPTIMISTIC, message).about(subject)
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
            let described =
                analysis.subjects[0].metrics[0].as_ref().expect("as the test was built");
            let dependent = is_dependent(described.n, described.lag1);
            (dependent, analysis.findings.iter().any(|f| f.is(code::INTERVAL_OPTIMISTIC)))
        };
        assert_eq!(analysed(Kind::Normal), (false, false));
        let (dependent, warned) = analysed(Kind::Autoregressive);
        assert_eq!(warned, dependent);
    }

    /// Share of series of `n` values with autoregressive coefficient `phi` that get a warning.
    fn warned(phi: f64, n: usize) -> f64 {
        let series = 400;
        let count = (0..series).filter(|&number| {
            let mut stream = assay_stats::resampling::Stream::new(71, number);
            let mut state = stream.normal();
            let values: Vec<f64> = (0..n)
                .map(|_| {
                    let value = (0.02 * state).exp();
                    state = phi * state + (1.0 - phi * phi).sqrt() * stream.normal();
                    value
                })
                .collect();
            let options = crate::series_summary::Options::default();
            let summary = SeriesSummary::of("a", &assay_data::Metric::wall(), &values, &options);
            summary.is_some_and(|summary| median_of_summary(&summary).is_some())
        });
        count.count() as f64 / series as f64
    }

    #[test]
    fn the_warning_means_something() {
        for n in [10, 20, 50, 100] {
            let share = warned(0.0, n);
            assert!(share <= 0.05, "{n} independent values: {share}");
        }
        for n in [50, 100, 200] {
            let share = warned(0.9, n);
            assert!(share >= 0.8, "{n} values that remember 0.9: {share}");
        }
    }
}
