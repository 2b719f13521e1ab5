//! The sources of a run's noise, as a line for the terminal and as an object for programs.
//!
//! The line appears only if there is something to report: a tenth or more of the spread is
//! associated with a cause, or more runs are disturbed than expected. The wording is "goes with",
//! never "because of".

use crate::number::{self, Column};
use crate::words::quoted;
use assay_analysis::noise::{Cause, NoiseOf, Weighed};
use assay_analysis::policy;
use assay_analysis::{Analysis, Comparison, Scale};

/// Maximum number of subjects whose shares are reported, largest first.
const MOST_SUBJECTS: usize = 2;

/// Returns `noise: 41 % of the spread of 'sort-old' goes with involuntary switches; ...`, or `None`
/// if there is nothing to report. `names` are the display names of the subjects.
///
/// The weighted ratio does not affect any decision and is added only if `in_full`.
pub(crate) fn line(analysis: &Analysis, names: &[String], in_full: bool) -> Option<String> {
    let mut said = shares(analysis, names);
    if analysis.noise.iter().any(NoiseOf::is_disturbed) {
        let disturbed: usize = analysis.noise.iter().map(|of| of.disturbed.len()).sum();
        let runs: usize = analysis.noise.iter().map(|of| of.runs).sum();
        said.push(format!("{disturbed} of {runs} runs were disturbed (marked, kept)"));
        let several = analysis.comparisons.len() > 1;
        let weighed = analysis.noise.iter().filter(|_| in_full);
        let weighed = weighed.filter_map(|of| Some((of, of.weighed?)));
        said.extend(weighed.take(MOST_SUBJECTS).filter_map(|(of, weighed)| {
            let compared = analysis.comparisons.iter().find(|c| c.of == of.subject)?;
            let whose =
                if several { format!(" of {}", quoted(&names[of.subject])) } else { String::new() };
            Some(instead(analysis, compared, weighed, &whose))
        }));
    }
    (!said.is_empty()).then(|| format!("noise: {}", said.join("; ")))
}

fn shares(analysis: &Analysis, names: &[String]) -> Vec<String> {
    let mut told: Vec<(f64, &NoiseOf)> = analysis
        .noise
        .iter()
        .filter_map(|of| Some((of.together.filter(|share| *share >= policy::CAUSE_SHARE)?, of)))
        .collect();
    told.sort_by(|a, b| b.0.total_cmp(&a.0));
    told.into_iter()
        .take(MOST_SUBJECTS)
        .map(|(share, of)| {
            let name = quoted(&names[of.subject]);
            format!("{} of the spread of {name} goes with {}", number::share(share, 1.0), with(of))
        })
        .collect()
}

/// Returns the causes with which the spread is associated: the ones that matter individually, with
/// their shares if there are several, or otherwise all causes together.
fn with(of: &NoiseOf) -> String {
    let mut alone: Vec<(f64, &Cause)> =
        of.causes.iter().filter_map(|cause| Some((cause.share?, cause))).collect();
    alone.sort_by(|a, b| b.0.total_cmp(&a.0));
    let spoken = |cause: &Cause| {
        let name = cause.metric.replace('_', " ");
        let name = if name == "steal" { "stolen time".to_owned() } else { name };
        let less = if name == "stolen time" { "less" } else { "fewer" };
        match cause.correlation {
            Some(correlation) if correlation < 0.0 => format!("{less} {name}"),
            _ => name,
        }
    };
    match alone.as_slice() {
        [] => {
            let all: Vec<String> =
                of.causes.iter().filter(|c| c.correlation.is_some()).map(spoken).collect();
            format!("{} together", all.join(", "))
        }
        [(_, only)] => spoken(only),
        several => {
            let each = |(share, cause): &(f64, &Cause)| {
                format!("{} ({})", spoken(cause), number::share(*share, 1.0))
            };
            several.iter().map(each).collect::<Vec<_>>().join(" and ")
        }
    }
}

/// Formats `weighted by that, the ratio is 0.973 instead of 0.974`.
fn instead(analysis: &Analysis, c: &Comparison, weighed: Weighed, whose: &str) -> String {
    let (what, estimates) = match weighed.scale {
        Scale::Ratio => {
            let plain = c.decision.estimate.exp();
            let half_width = c.ratio.and_then(|r| r.interval).map_or(0.0, |i| i.half_width());
            let decimals = number::decimals_for(half_width, 1).clamp(3, 6);
            ("ratio", [weighed.estimate, plain].map(|ratio| number::fixed(ratio, decimals)))
        }
        Scale::Shift => {
            let both = [weighed.estimate, c.decision.estimate];
            let half_width = c.decision.interval.map(|i| i.half_width());
            let half_widths: Vec<f64> = half_width.into_iter().collect();
            let column = Column::for_amounts(&analysis.metrics[c.metric].unit, &both, &half_widths);
            ("difference", both.map(|shift| column.with_unit(shift)))
        }
    };
    let [weighed, plain] = estimates;
    if weighed == plain {
        format!("weighted by that, the {what}{whose} stays {plain}")
    } else {
        format!("weighted by that, the {what}{whose} is {weighed} instead of {plain}")
    }
}
