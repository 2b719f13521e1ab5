//! Checks of assumptions, reported as findings with stable codes.
//!
//! A check considers the size of an effect, never its p-value alone: with thousands of runs, even
//! negligible effects are significant. Effects that the verdict already accounts for, such as a
//! drifting difference or dependent values that widen the interval, are reported to explain it. The
//! codes are in the catalog of the data crate.

use crate::comparison::{Basis, Comparison, NoInterval};
use crate::dependence::Dependence;
use crate::policy;
use crate::verdict::Scale;
use assay_data::code;
use assay_data::import;
use assay_data::{Action, Environment, Finding, Metric, Outcome, Plan, Samples, Threshold};

mod apart;
mod builds;
mod requests;
pub(crate) mod rows;
mod series;
mod shared;
mod work;

pub(crate) use apart::{is_unmatched, not_interleaved, of_separate_runs};
pub(crate) use builds::{controls, layout, same_code};
pub(crate) use requests::requests_failed;
pub(crate) use series::moved;
pub use series::series;
pub(crate) use shared::{
    all_equal, change_point, coarse, correlated, drift, drifting, failures, for_dependence,
    not_positive, runs_of, shape, summary_only, summary_too_bare, timeouts, too_dependent, too_few,
    units_compared, warmed_up,
};
pub use shared::{interrupted, one_side_only, resumed_different};

/// Returns the number of started blocks, each of which should contain the primary metric. For a
/// metric counted in separate runs, it is the number of complete blocks.
fn begun_blocks(samples: &Samples, primary: usize, complete: usize) -> usize {
    if samples.metrics[primary].is_count() {
        return complete;
    }
    samples.next_block(None) as usize
}

/// Reports failures, timeouts, and blocks that lack the primary metric of some subject.
pub fn outcomes(samples: &Samples, primary: usize, complete_blocks: Option<usize>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let by_subject = samples.by_subject();
    for (index, subject) in samples.subjects.iter().enumerate() {
        let count = |is: fn(Outcome) -> bool| by_subject.count_outcomes(index, is);
        let runs = count(|_| true);
        let failed = count(|o| matches!(o, Outcome::Exit(_) | Outcome::Signal(_)));
        let late = count(|o| o == Outcome::Timeout);
        let name = &subject.name;
        let found = failures(&runs_of(name, failed, runs), failed, runs)
            .into_iter()
            .chain(timeouts(&runs_of(name, late, runs), late, runs));
        findings.extend(found.map(|finding| finding.about(name)));
    }
    if let Some(complete) = complete_blocks {
        let begun = begun_blocks(samples, primary, complete);
        if begun > complete {
            findings.push(
                Finding::new(
                    code::INCOMPLETE_BLOCKS,
                    format!(
                        "{} of {begun} blocks have no value and are left out of the comparison",
                        begun - complete
                    ),
                )
                .with("begun", begun as f64)
                .with("complete", complete as f64),
            );
        }
    }
    findings
}

/// Returns the findings about one comparison of the primary metric.
pub fn comparison(c: &Comparison, names: &[String], metric: &Metric, plan: &Plan) -> Vec<Finding> {
    let mut findings = Vec::new();
    let name = &names[c.of];
    // For summaries and units, a missing interval is reported along with the basis.
    let refused = c.dependence == Dependence::TooStrong;
    if c.decision.interval.is_none() && !refused && !c.mixed && c.basis == Basis::Values {
        findings.push(without_verdict(c, name, plan));
    }
    if refused {
        let whose = if c.blocks.is_some() {
            format!("of the difference of {name}")
        } else {
            format!("of {name}")
        };
        findings.push(
            too_dependent(
                &whose,
                &format!("they carry no more information than {:.0} independent ones", c.effective),
            )
            .about(name)
            .with("effective", c.effective)
            .with("lag1", c.lag1)
            .advise(if c.blocks.is_some() {
                Action::Repeat
            } else {
                Action::MeasureInBlocks
            }),
        );
    }
    if let Some(lag1) = c.drifting() {
        findings.push(
            drifting(&format!(" of {name}"), lag1).about(name).with("effective", c.effective),
        );
    }
    if c.decision.scale == Scale::Shift && matches!(plan.threshold, Threshold::Relative(_)) {
        findings.push(not_positive("some values").about(name));
    }
    if c.changes_shape()
        && let (Some(ratio), Some(medians)) = (c.ratio, c.ratio_of_medians())
    {
        findings.push(
            shape(&format!(
                "ratio of medians {medians:.4}, of means {:.4}, of 99 % quantiles {:.4}",
                c.means.1 / c.means.0,
                c.p99.1 / c.p99.0
            ))
            .about(name)
            .with("pseudo_median_ratio", ratio.estimate)
            .with("ratio_of_medians", medians)
            .advise(Action::SeeDistributions),
        );
    }
    let step = c.decision.clock_step;
    // The smallest gap between a few values without ties is not a clock step.
    let in_steps = c.distinct as f64 <= policy::STEPPED_BELOW * (c.counts.0 + c.counts.1) as f64;
    if c.decision.interval.is_some()
        && in_steps
        && step > policy::COARSE_OF_THRESHOLD * c.decision.threshold
    {
        // The values do not show what kind of clock was used.
        let means = match (c.decision.scale, c.means.1 / c.means.0) {
            (Scale::Ratio, ratio) if ratio > 0.0 => format!(
                "; if the clock was read at the start and at the end, the means are correct nevertheless: they differ by {}",
                crate::number::percent((ratio - 1.0).abs())
            ),
            _ => String::new(),
        };
        let message = format!(
            "{} comes in steps that are large compared to the threshold; the interval includes the rounding error{means}",
            metric.name
        );
        let of_scale = |size: f64| match c.decision.scale {
            Scale::Ratio => size.exp_m1(),
            Scale::Shift => size,
        };
        findings.push(
            coarse(message, &metric.unit)
                .about(name)
                .with("step", of_scale(step))
                .with("threshold", of_scale(c.decision.threshold)),
        );
    }
    findings
}

fn without_verdict(c: &Comparison, name: &str, plan: &Plan) -> Finding {
    let planned = plan.fixed_blocks();
    let needed = match c.no_interval() {
        Some(NoInterval::TooFew { needed }) => needed,
        _ => c.fewest_blocks as usize,
    };
    let (what, have) = match c.blocks {
        Some(blocks) => {
            let lacking = planned.filter(|&all| all as usize > blocks);
            let how =
                lacking.map_or("taken".to_owned(), |all| format!("of {all} have both values"));
            ("blocks", format!("{blocks} {how}, {} needed", c.fewest_blocks))
        }
        None => (
            "values",
            format!("{} and {}; {needed} on each side can decide", c.counts.0, c.counts.1),
        ),
    };
    let finding = too_few(format!("too few {what} for a verdict ({have})"))
        .about(name)
        .with("have", c.blocks.unwrap_or(c.counts.0.min(c.counts.1)) as f64)
        .with("needed", needed as f64);
    if c.blocks.is_none() {
        return finding.advise(Action::MoreValues);
    }
    // With a fixed number of blocks, additional time would not be used. Further blocks may lack
    // values as often as the recorded ones.
    finding.advise(match (planned, c.blocks) {
        (Some(all), Some(blocks)) => {
            let all = u64::from(all).max(blocks as u64);
            let runs = (u64::from(c.fewest_blocks) * all).div_ceil((blocks as u64).max(1));
            Action::FixRuns { runs }
        }
        _ => Action::MeasureLonger { seconds: None },
    })
}

/// Reports disagreement between the verdicts on wall-clock time and CPU time.
pub fn wall_and_cpu(primary: &Comparison, cpu: &Comparison, name: &str) -> Option<Finding> {
    use crate::verdict::Verdict::{Equivalent, Faster, Inconclusive, Slower};
    let message = match (primary.decision.verdict, cpu.decision.verdict) {
        (Faster, Slower) | (Slower, Faster) => format!(
            "wall and CPU time of {name} moved in opposite directions: waiting changed, or work moved to another process or core"
        ),
        (Faster | Slower, Equivalent) => format!(
            "the CPU time of {name} did not change: it waits differently, or the work is done in another process"
        ),
        (Equivalent, Faster | Slower) if !cpu.decision.possibly_below_threshold => format!(
            "the CPU time of {name} changed although its wall time did not: work overlaps with waiting, or runs on another core"
        ),
        (Inconclusive, _) => return sooner_by_cpu(primary, cpu, name),
        _ => return None,
    };
    let mut finding = Finding::new(code::METRICS_DIFFER, message).about(name);
    if let (Some(wall), Some(cpu)) = (primary.ratio, cpu.ratio) {
        finding = finding.with("wall_ratio", wall.estimate).with("cpu_ratio", cpu.estimate);
    }
    Some(
        finding
            .advise(Action::text("decide beforehand which of the two matters to your users"))
            .advise(Action::decide_by("cpu")),
    )
}

fn sooner_by_cpu(primary: &Comparison, cpu: &Comparison, name: &str) -> Option<Finding> {
    let (wall, cpu) =
        (primary.decision.interval?.half_width(), cpu.decision.interval?.half_width());
    (cpu < wall * 2.0 / 3.0 && cpu > 0.0).then(|| {
        Finding::new(code::METRICS_DIFFER, format!(
                "the CPU time of {name} is known {:.1} times as precisely as its wall time; a program that only computes can be decided on it",
                wall / cpu
            ))
        .about(name)
        .with("wall_half_width", wall)
        .with("cpu_half_width", cpu)
        .advise(Action::decide_by("cpu"))
    })
}

/// Reports that a command that was measured twice differs from itself.
pub(crate) fn control(c: &Comparison, names: &[String]) -> Option<Finding> {
    let interval = c.decision.interval.filter(|interval| !interval.contains(0.0))?;
    let message = format!(
        "'{}', measured twice, differs from itself: differences of that size between other commands mean nothing in this run",
        names[c.against]
    );
    Some(
        Finding::new(code::CONTROL_DIFFERS, message)
            .about(&names[c.against])
            .with("lower", interval.lower)
            .with("upper", interval.upper)
            .advise(Action::Repeat),
    )
}

/// Name of the fact that identifies the runner of the commands.
pub(crate) const RUNNER: &str = "runner";
/// Names of the facts that distinguish machines and their settings.
pub(crate) const MACHINE_FACTS: [&str; 6] =
    ["hostname", "cpu_model", "kernel", "arch", "governor", RUNNER];

/// Reports recordings from different machines or machine settings. If recordings were merged, a
/// fact that differs occurs once per recording, as `name@recording`.
pub fn machines_differ(environment: &Environment) -> Option<Finding> {
    let differing: Vec<&str> = MACHINE_FACTS
        .into_iter()
        .filter(|fact| {
            environment
                .facts
                .keys()
                .any(|key| key.split_once('@').is_some_and(|(name, _)| name == *fact))
        })
        .collect();
    (!differing.is_empty()).then(|| {
        Finding::new(
            code::RECORDINGS_DIFFER,
            format!("the recordings differ in {}", differing.join(", ")),
        )
        .with("facts", differing.len() as f64)
        .advise(Action::MeasureInBlocks)
    })
}

/// Returns the findings recorded with the samples. The finding about different deciding metrics is
/// left out if the user named a metric.
pub(crate) fn of_samples(samples: &Samples, is_metric_named: bool) -> Vec<Finding> {
    let applies = |f: &&Finding| !is_metric_named || !import::is_about_deciding_metric(f);
    samples.findings.iter().filter(applies).cloned().collect()
}
