//! Determines whether repeating an experiment confirmed its result.
//!
//! A second run never gives the same numbers. If the first run was right, the second must give the
//! same verdict, and a difference that the first one predicts, given the uncertainty of both runs.
//! So the change from the first run to the second has an interval of its own, by the method of
//! variance estimates recovery (Zou & Donner 2008, Statistics in Medicine 27, 1693): with estimates
//! e and half widths toward the other run, e₂ − e₁ ± √(h₁² + h₂²), separately for each side. This
//! generalizes the prediction interval of Patil, Peng & Leek (2016) to asymmetric intervals. The
//! sizes agree if the interval of the change contains 0 or is within the threshold.
//!
//! [`judge`] combines the verdicts with the agreement of the sizes.

use crate::analysis::Analysis;
use crate::comparison::Comparison;
use crate::describe::Description;
use crate::verdict::{Scale, Verdict};
use assay_stats::Interval;

/// The outcome of replicating a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// The runs have the same verdict, and their sizes agree.
    Confirmed,
    /// It is unknown whether the result is the same, for example because a run is inconclusive.
    Unknown,
    /// The sizes do not agree, but the verdicts do not contradict each other.
    NotConfirmed,
    /// The two results can't both be true.
    Contradicted,
}

/// The reason for a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The verdicts are the same, and the sizes agree.
    Same,
    /// The size differs from the first run's prediction.
    OtherSize,
    /// The runs found differences in opposite directions.
    OtherDirection,
    /// The first run found a difference that matters, and the second did not.
    Gone,
    /// The second run found a difference that matters, and the first did not.
    New,
    /// One run found a difference that may be too small to matter, and the other found none that
    /// matters, so both can be true.
    BothSmall,
    /// The second run has no verdict, but the sizes agree.
    OpenNow,
    /// The first run had no verdict, but the sizes agree.
    OpenThen,
    /// One of the runs has no interval.
    NoInterval,
    /// One run was decided on ratios and the other on differences.
    OtherScale,
}

/// The result of one run. Its numbers are natural logarithms or in base units, depending on
/// [`Replicated::scale`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunResult {
    /// The estimate of the difference or, without a comparison, of the median.
    pub estimate: f64,
    /// Interval of the estimate at the level of this run; `None` if there is none.
    pub interval: Option<Interval>,
    /// Verdict of the run; `None` if there is no comparison.
    pub verdict: Option<Verdict>,
    /// True if the direction was known, but the difference may be too small to matter.
    pub possibly_below_threshold: bool,
}

/// A result in the first run and in the second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Replicated {
    /// Index of the subject, in both runs.
    pub of: usize,
    /// Index of the reference; `None` if the result is a median.
    pub against: Option<usize>,
    /// Scale of all numbers.
    pub scale: Scale,
    /// The result of the first run.
    pub then: RunResult,
    /// The result of the second run.
    pub now: RunResult,
    /// The second estimate minus the first; NaN if the scales differ.
    pub change: f64,
    /// Interval of the change; `None` if a run has no interval, or if the scales differ.
    pub change_interval: Option<Interval>,
    /// The second effect as a multiple of the first; `None` if the first run had no direction, or
    /// if the scales differ.
    pub effect_ratio: Option<f64>,
    /// Whether the second run confirms the first.
    pub status: Status,
    /// The reason for `status`.
    pub reason: Reason,
}

/// All results of an experiment, in the first run and in the second.
#[derive(Clone, Debug, PartialEq)]
pub struct Replication {
    /// Every comparison of the primary metric or, without comparisons, every median, in the order
    /// of the subjects.
    pub results: Vec<Replicated>,
}

impl Replication {
    /// Compares two analyses of the same plan. Subjects are matched by index, because a repeated
    /// run preserves their order.
    pub fn of(then: &Analysis, now: &Analysis) -> Self {
        let mut results = Vec::new();
        for old in &then.comparisons {
            if let Some(new) =
                now.comparisons.iter().find(|c| (c.of, c.against) == (old.of, old.against))
            {
                results.push(compared(old, new));
            }
        }
        if then.comparisons.is_empty() {
            for subject in 0..then.subjects.len() {
                if let (Some(old), Some(new)) = (then.primary_of(subject), now.primary_of(subject))
                {
                    results.push(alone(subject, old, new));
                }
            }
        }
        Self { results }
    }

    /// Returns the worst status of all results: contradicted, then not confirmed, then unknown.
    /// `Unknown` if there are no results.
    pub fn status(&self) -> Status {
        self.results.iter().map(|result| result.status).max().unwrap_or(Status::Unknown)
    }
}

fn compared(old: &Comparison, new: &Comparison) -> Replicated {
    let said = |c: &Comparison| RunResult {
        estimate: c.decision.estimate,
        interval: c.decision.interval,
        verdict: Some(c.decision.verdict),
        possibly_below_threshold: c.decision.possibly_below_threshold,
    };
    let (then, now) = (said(old), said(new));
    let (change, change_interval) = change(then, now);
    let same_scale = old.decision.scale == new.decision.scale;
    let agree = change_interval.map(|i| agrees(i, old.decision.threshold));
    let (status, reason) =
        if same_scale { judge(then, now, agree) } else { (Status::Unknown, Reason::OtherScale) };
    let ratio = now.estimate / then.estimate;
    Replicated {
        of: old.of,
        against: Some(old.against),
        scale: old.decision.scale,
        then,
        now,
        change: if same_scale { change } else { f64::NAN },
        change_interval: change_interval.filter(|_| same_scale),
        effect_ratio: Some(ratio).filter(|ratio| {
            ratio.is_finite() && same_scale && old.decision.verdict.is_directional()
        }),
        status,
        reason,
    }
}

fn alone(subject: usize, old: &Description, new: &Description) -> Replicated {
    let positive = |d: &Description| d.min > 0.0;
    let scale = if positive(old) && positive(new) { Scale::Ratio } else { Scale::Shift };
    let on_scale = |value: f64| if scale == Scale::Ratio { value.ln() } else { value };
    let said = |d: &Description| RunResult {
        estimate: on_scale(d.median),
        interval: d
            .median_interval
            .map(|i| Interval { lower: on_scale(i.lower), upper: on_scale(i.upper) }),
        verdict: None,
        possibly_below_threshold: false,
    };
    let (then, now) = (said(old), said(new));
    let (change, change_interval) = change(then, now);
    let (status, reason) = match change_interval {
        None => (Status::Unknown, Reason::NoInterval),
        Some(interval) if interval.contains(0.0) => (Status::Confirmed, Reason::Same),
        Some(_) => (Status::NotConfirmed, Reason::OtherSize),
    };
    Replicated {
        of: subject,
        against: None,
        scale,
        then,
        now,
        change,
        change_interval,
        effect_ratio: None,
        status,
        reason,
    }
}

/// Returns the second estimate minus the first, with its interval.
fn change(then: RunResult, now: RunResult) -> (f64, Option<Interval>) {
    let change = now.estimate - then.estimate;
    let interval = then.interval.zip(now.interval).map(|(old, new)| Interval {
        lower: change - (now.estimate - new.lower).hypot(old.upper - then.estimate),
        upper: change + (new.upper - now.estimate).hypot(then.estimate - old.lower),
    });
    (change, interval.filter(Interval::is_bounded))
}

fn agrees(change: Interval, threshold: f64) -> bool {
    change.contains(0.0) || (change.lower > -threshold && change.upper < threshold)
}

/// Combines two verdicts. `agree` is true if the sizes agree, and `None` if that is unknown, in
/// which case the status is unknown.
///
/// | then | now | sizes agree | sizes do not agree |
/// |---|---|---|---|
/// | a verdict | the same verdict | confirmed | not confirmed |
/// | faster | slower, or vice versa | contradicted | contradicted |
/// | a difference that matters | equivalent, or vice versa | contradicted | contradicted |
/// | a difference that may be too small to matter | equivalent, or vice versa | unknown | not confirmed |
/// | inconclusive | any, or vice versa | unknown | not confirmed |
pub fn judge(then: RunResult, now: RunResult, agree: Option<bool>) -> (Status, Reason) {
    use Verdict::{Equivalent, Inconclusive};
    let (Some(agree), Some(old), Some(new)) = (agree, then.verdict, now.verdict) else {
        return (Status::Unknown, Reason::NoInterval);
    };
    let unless_other_size = |status, reason| {
        if agree { (status, reason) } else { (Status::NotConfirmed, Reason::OtherSize) }
    };
    match (old, new) {
        (Inconclusive, _) => unless_other_size(Status::Unknown, Reason::OpenThen),
        (_, Inconclusive) => unless_other_size(Status::Unknown, Reason::OpenNow),
        (old, new) if old == new => unless_other_size(Status::Confirmed, Reason::Same),
        (Equivalent, _) if now.possibly_below_threshold => {
            unless_other_size(Status::Unknown, Reason::BothSmall)
        }
        (_, Equivalent) if then.possibly_below_threshold => {
            unless_other_size(Status::Unknown, Reason::BothSmall)
        }
        (Equivalent, _) => (Status::Contradicted, Reason::New),
        (_, Equivalent) => (Status::Contradicted, Reason::Gone),
        _ => (Status::Contradicted, Reason::OtherDirection),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::analysis::{Options, analyse};
    use crate::mock::{Recipe, Simulation};
    use assay_data::{Metric, Observation, Plan, Samples, StopRule, Threshold};
    use proptest::prelude::*;

    fn said(verdict: Verdict, possibly: bool, estimate: f64, half: f64) -> RunResult {
        RunResult {
            estimate,
            interval: Some(Interval { lower: estimate - half, upper: estimate + half }),
            verdict: Some(verdict),
            possibly_below_threshold: possibly,
        }
    }

    #[test]
    fn two_verdicts_come_to_what_the_table_says() {
        use Verdict::{Equivalent, Faster, Inconclusive, Slower};
        let status = |old, old_small, new, new_small, agree| {
            judge(said(old, old_small, 0.0, 1.0), said(new, new_small, 0.0, 1.0), agree).0
        };
        let both = |old, old_small, new, new_small| {
            [Some(true), Some(false)].map(|agree| status(old, old_small, new, new_small, agree))
        };
        use Status::{Confirmed, Contradicted, NotConfirmed, Unknown};
        assert_eq!(both(Faster, false, Faster, false), [Confirmed, NotConfirmed]);
        assert_eq!(both(Equivalent, false, Equivalent, false), [Confirmed, NotConfirmed]);
        assert_eq!(both(Faster, false, Slower, false), [Contradicted; 2]);
        assert_eq!(both(Slower, true, Faster, true), [Contradicted; 2]);
        assert_eq!(both(Faster, false, Equivalent, false), [Contradicted; 2]);
        assert_eq!(both(Equivalent, false, Slower, false), [Contradicted; 2]);
        assert_eq!(both(Faster, true, Equivalent, false), [Unknown, NotConfirmed]);
        assert_eq!(both(Equivalent, false, Faster, true), [Unknown, NotConfirmed]);
        assert_eq!(both(Inconclusive, false, Faster, false), [Unknown, NotConfirmed]);
        assert_eq!(both(Faster, false, Inconclusive, false), [Unknown, NotConfirmed]);
        assert_eq!(status(Faster, false, Faster, false, None), Unknown);
    }

    #[test]
    fn the_change_has_the_uncertainty_of_both_runs() {
        let then = said(Verdict::Faster, false, -0.10, 0.03);
        let now = said(Verdict::Faster, false, -0.06, 0.04);
        let (change, interval) = change(then, now);
        let interval = interval.expect("both have one");
        assert!((change - 0.04).abs() < 1e-12);
        assert!((interval.lower + 0.01).abs() < 1e-12 && (interval.upper - 0.09).abs() < 1e-12);
        assert!(agrees(interval, 0.01));
        assert!(!agrees(Interval { lower: 0.001, upper: 0.02 }, 0.01));
        assert!(agrees(Interval { lower: 0.001, upper: 0.002 }, 0.01));
        let open = RunResult { interval: None, ..now };
        assert_eq!(super::change(then, open).1, None);
    }

    /// Analyzes an experiment of `blocks` blocks on programs whose times have these distributions.
    pub(crate) fn experiment(seed: u64, blocks: u32, distributions: &[&str]) -> Analysis {
        let subjects = distributions.iter().enumerate().map(|(i, distribution)| {
            (i.to_string(), distribution.parse().expect("a distribution"))
        });
        let recipe = Recipe {
            subjects: subjects.collect(),
            count: blocks,
            seed,
            blocks: true,
            ..Recipe::default()
        };
        let mut samples = Samples::new(vec![Metric::wall()]);
        for (name, _) in &recipe.subjects {
            samples.add_subject(name);
        }
        samples.plan = Some(Plan {
            stop: StopRule::Fixed { blocks },
            ..Plan::sequential(0.95, Threshold::default(), seed)
        });
        for drawn in Simulation::new(recipe).expect("sound") {
            let drawn = drawn.expect("finite");
            let (block, position) = drawn.place.expect("in blocks");
            samples.push(Observation {
                subject: drawn.subject,
                block: Some(block),
                position: Some(position),
                values: vec![drawn.value],
                ..Observation::default()
            });
        }
        analyse(&samples, &Options::default()).expect("samples")
    }

    /// Counts how often each status occurs when a result of 60 blocks is repeated with 60 blocks.
    fn repeated(distributions: &[&str], again: &[&str]) -> [usize; 4] {
        let mut counts = [0; 4];
        for seed in 0..300 {
            let then = experiment(2 * seed, 60, distributions);
            let now = experiment(2 * seed + 1, 60, again);
            counts[Replication::of(&then, &now).status() as usize] += 1;
        }
        counts
    }

    #[test]
    fn a_true_result_is_confirmed_and_a_false_one_is_not() {
        // A difference of 5 % with a spread of 3 % is clear in each run of 60 blocks.
        let [confirmed, _, not, contradicted] =
            repeated(&["normal(100, 3)", "normal(95, 3)"], &["normal(100, 3)", "normal(95, 3)"]);
        // The prediction holds in 95 of 100 cases.
        assert!(
            confirmed >= 270 && not <= 25 && contradicted == 0,
            "{confirmed} {not} {contradicted}"
        );
        let [confirmed, _, not, contradicted] =
            repeated(&["normal(100, 3)", "normal(95, 3)"], &["normal(95, 3)", "normal(100, 3)"]);
        assert_eq!((confirmed, not, contradicted), (0, 0, 300));
        let [confirmed, _, not, _] =
            repeated(&["normal(100, 3)", "normal(95, 3)"], &["normal(100, 3)", "normal(90, 3)"]);
        assert!(confirmed == 0 && not >= 295, "{confirmed} {not}");
    }

    #[test]
    fn a_program_alone_is_confirmed_by_its_median() {
        let [confirmed, unknown, not, _] = repeated(&["normal(100, 3)"], &["normal(100, 3)"]);
        assert!(confirmed >= 270 && unknown == 0, "{confirmed} {not}");
        let [confirmed, _, not, _] = repeated(&["normal(100, 3)"], &["normal(110, 3)"]);
        assert_eq!((confirmed, not), (0, 300));
    }

    #[test]
    fn too_few_blocks_can_not_tell() {
        let then = experiment(1, 60, &["normal(100, 3)", "normal(95, 3)"]);
        let now = experiment(2, 3, &["normal(100, 3)", "normal(95, 3)"]);
        let replication = Replication::of(&then, &now);
        assert_eq!(replication.status(), Status::Unknown);
        assert_eq!(replication.results[0].reason, Reason::NoInterval);
        assert_eq!(Replication { results: Vec::new() }.status(), Status::Unknown);
    }

    proptest! {
        #[test]
        fn a_run_confirms_itself(estimate in -1.0..1.0, half in 0.0..1.0) {
            for verdict in [Verdict::Faster, Verdict::Slower, Verdict::Equivalent] {
                let run = said(verdict, false, estimate, half);
                let (change, interval) = change(run, run);
                let interval = interval.expect("both have one");
                prop_assert!(change == 0.0 && interval.contains(0.0));
                let agree = Some(agrees(interval, 0.01));
                prop_assert_eq!(judge(run, run, agree), (Status::Confirmed, Reason::Same));
            }
        }
    }
}
