//! The first step: do the samples meet the test's assumptions? The assumptions are independent
//! values of one unchanging quantity, read from a sufficiently fine clock, in successful runs.
//!
//! Independence is judged by the effective sample size (Geyer 1992), which reflects the effect of
//! dependence on the answer; the largest autocorrelation, over the default number of lags of R's
//! `acf` and over 30, is given for comparison with published figures. For blocks, the per-block
//! differences are judged, since variation common to both sides cancels.

use super::causes::{Cause, causes};
use super::{Protocol, Step, Values, found};
use crate::analysis::Analysis;
use crate::checks;
use crate::comparison::Comparison;
use crate::dependence::{Dependence, Order, is_beyond_chance};
use crate::paired;
use crate::policy;
use crate::recording::Recording;
use crate::verdict::Scale;
use assay_data::code;
use assay_data::{Better, Finding, Severity};
use assay_stats::descriptive::ByDefinition;
use assay_stats::steady_state::{Label, steady_state};
use assay_stats::{autocorrelation, descriptive, kolmogorov, merged, normal};

/// Fixed number of lags examined in addition to R's default.
const LAGS: usize = 30;

/// Distance of a series from a distribution with fitted parameters (the Kolmogorov-Smirnov
/// statistic).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DistributionFound {
    /// `normal`, `lognormal` or `exponential`.
    pub distribution: &'static str,
    /// The largest distance between the distribution functions, in 0..=1.
    pub d: f64,
    /// p-value that treats the parameters as known, as R prints it. It is too large, so a rejection
    /// is reliable.
    pub p_naive: f64,
}

impl DistributionFound {
    /// Returns true if this distribution is ruled out.
    pub fn is_rejected(&self) -> bool {
        self.p_naive < policy::NORMAL_LEVEL
    }

    fn all(sorted: &[f64]) -> Vec<Self> {
        let found = [
            ("normal", kolmogorov::against_normal(sorted)),
            ("lognormal", kolmogorov::against_lognormal(sorted)),
            ("exponential", kolmogorov::against_exponential(sorted)),
        ];
        let found = found
            .into_iter()
            .filter_map(|(distribution, distance)| Some((distribution, distance?)));
        found
            .map(|(distribution, found)| Self { distribution, d: found.d, p_naive: found.p_naive })
            .collect()
    }
}

/// Results for one series.
#[derive(Clone, Debug, PartialEq)]
pub struct SeriesFound {
    /// Index of the subject; for differences, of the compared subject.
    pub subject: usize,
    /// Number of values.
    pub n: usize,
    /// The largest absolute autocorrelation over `lags_r_default` lags.
    pub acf_max_r_default: f64,
    /// The default number of lags of R's `acf`: 10 log₁₀ n, rounded down.
    pub lags_r_default: usize,
    /// The largest absolute autocorrelation over 30 lags.
    pub acf_max_30: f64,
    /// Bound on the autocorrelation at one lag, 1.96/√n, which 95 of 100 series of independent
    /// values do not exceed.
    pub acf_bound: f64,
    /// Rank autocorrelation at lag 1.
    pub lag1: f64,
    /// Dependence of the values.
    pub dependence: Dependence,
    /// Autocorrelation time: number of values per effective value, at least 1.
    pub autocorrelation_time: f64,
    /// Effective number of values: n / autocorrelation time.
    pub effective: f64,
    /// Change from the first to the last third, in the base unit; `None` unless it is beyond
    /// chance.
    pub drift: Option<f64>,
    /// Skewness and excess kurtosis by every definition; NaN for constant values. Both are 0 for
    /// the normal distribution.
    pub moments: (ByDefinition, ByDefinition),
    /// Distances from common distributions. These are for information only: no step requires any of
    /// them.
    pub distributions: Vec<DistributionFound>,
    /// Number of failed runs, and of runs that hit the time limit.
    pub failures: (usize, usize),
}

impl SeriesFound {
    /// Returns the number of values that count: the effective number if dependence matters,
    /// otherwise all.
    pub fn counting(&self) -> f64 {
        if self.share() < policy::DEPENDENT_BELOW { self.effective } else { self.n as f64 }
    }

    /// Returns true if all values are equal, so that the shape is undefined.
    pub fn is_constant(&self) -> bool {
        self.n > 1 && self.moments.0.plain.is_nan()
    }

    /// Returns the effective number of values divided by n.
    pub fn share(&self) -> f64 {
        self.effective / self.n as f64
    }

    pub(super) fn of(subject: usize, recording: &Recording<'_>) -> Self {
        let values = &recording.in_order;
        let n = values.len();
        let lags_r_default =
            ((10.0 * (n.max(1) as f64).log10()).floor() as usize).min(n.saturating_sub(1));
        let acf = autocorrelation::autocorrelation(values, LAGS.max(lags_r_default));
        let largest =
            |lags: usize| acf.iter().take(lags).fold(0.0, |most: f64, r| most.max(r.abs()));
        let autocorrelation_time =
            if n < policy::DEPENDENCE_FROM { 1.0 } else { recording.autocorrelation_time };
        let moments = descriptive::moments(values);
        Self {
            subject,
            n,
            acf_max_r_default: largest(lags_r_default),
            lags_r_default,
            acf_max_30: largest(LAGS),
            acf_bound: normal::two_sided(0.95) / (n as f64).sqrt(),
            lag1: recording.lag1,
            dependence: Order::of_recording(recording).dependence(),
            autocorrelation_time,
            effective: n as f64 / autocorrelation_time,
            drift: None,
            moments: (moments.skewness, moments.excess_kurtosis),
            distributions: DistributionFound::all(&recording.sorted),
            failures: (0, 0),
        }
    }
}

/// Results about the samples of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Validity {
    /// Results for each series, the reference first; a single one if there is no reference.
    pub series: Vec<SeriesFound>,
    /// Results for the per-block differences; `None` if there are no blocks.
    pub differences: Option<SeriesFound>,
    /// Step of the clock behind the values, in the base unit.
    pub clock_step: f64,
    /// Rank autocorrelation of successive differences, if the difference drifted during a run in
    /// blocks.
    pub drifting: Option<f64>,
    /// Possible causes of correlation; empty unless correlation is reported as a warning or worse.
    pub causes: Vec<Cause>,
}

impl Validity {
    /// Returns the series whose dependence is judged: the per-block differences or, without blocks,
    /// each side.
    pub(super) fn judged(&self) -> &[SeriesFound] {
        self.differences.as_ref().map_or(&self.series, std::slice::from_ref)
    }

    /// Returns the number of values (or blocks) per side that count. For sides of different sizes,
    /// it is that of two equal sides with the same information.
    pub(super) fn counting(&self) -> f64 {
        if let Some(differences) = &self.differences {
            // Because of the random order, all blocks count unless the difference drifted.
            let drifts = self.drifting.is_some();
            return if drifts { differences.counting() } else { differences.n as f64 };
        }
        let judged = self.judged();
        judged.len() as f64 / judged.iter().map(|series| 1.0 / series.counting()).sum::<f64>()
    }

    /// Returns true if dependence widens the results for these values.
    pub(super) fn is_dependent(&self) -> bool {
        self.judged().iter().any(|series| series.share() < policy::DEPENDENT_BELOW)
    }
}

pub(super) fn step(
    analysis: &Analysis,
    names: &[String],
    protocol: &Protocol,
    comparison: Option<&Comparison>,
    values: &Values,
) -> Step<Validity> {
    let found_of = |subject: usize, of: &Recording<'_>| {
        let described = analysis.primary_of(subject);
        let summary = &analysis.subjects[subject];
        SeriesFound {
            drift: described.and_then(|d| d.drift),
            failures: (summary.failures, summary.timeouts),
            ..SeriesFound::of(subject, of)
        }
    };
    let mut series: Vec<SeriesFound> =
        protocol.against.iter().map(|&against| found_of(against, &values.against)).collect();
    series.push(found_of(protocol.of, &values.of));
    let differences = values.differences.as_ref().map(|d| SeriesFound::of(protocol.of, d));
    let (against, of) = (&values.against.sorted, &values.of.sorted);
    let clock_step = paired::clock_step_of_sorted(against, of, Scale::Shift);
    let drifting = comparison.and_then(Comparison::drifting);
    let mut found = Validity { series, differences, clock_step, drifting, causes: Vec::new() };

    let mut findings = Vec::new();
    if comparison.is_some_and(|c| c.mixed) {
        findings.push(found::mixed());
    }
    enough(&found, protocol, names, &mut findings);
    dependence(&found, protocol, names, &mut findings);
    stationarity(&found, protocol, names, &mut findings);
    if !protocol.paired {
        for (series, of) in found.series.iter().rev().zip([&values.of, &values.against]) {
            findings.extend(unsteady(series, of, protocol, names));
        }
    }
    clock(&found, protocol, values, names, &mut findings);
    for series in &found.series {
        let runs = analysis.subjects[series.subject].observations;
        let (failed, late) = series.failures;
        let name = &names[series.subject];
        let of = |some| checks::runs_of(name, some, runs);
        findings.extend(checks::failures(&of(failed), failed, runs).map(|f| f.about(name)));
        findings.extend(checks::timeouts(&of(late), late, runs).map(|f| f.about(name)));
    }
    if protocol.against.is_some() && !protocol.paired {
        findings.push(found::apart());
    }
    let dependent = |f: &Finding| {
        f.severity > Severity::Note && (f.is(code::TOO_DEPENDENT) || f.is(code::DEPENDENCE))
    };
    if findings.iter().any(dependent) {
        let drifts = found.series.iter().any(|series| series.drift.is_some());
        found.causes = causes(&analysis.environment, drifts);
    }
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    Step::of(found, findings)
}

fn enough(found: &Validity, protocol: &Protocol, names: &[String], findings: &mut Vec<Finding>) {
    for series in found.judged() {
        if series.n < policy::FEWEST_VALUES {
            let name = &names[series.subject];
            findings.push(found::too_few_values(protocol, name, series.n, policy::FEWEST_VALUES));
        }
    }
}

fn dependence(
    found: &Validity,
    protocol: &Protocol,
    names: &[String],
    findings: &mut Vec<Finding>,
) {
    if protocol.paired {
        // The order within blocks was random, so dependence alone does no harm, but a drifting
        // difference does.
        if let Some(lag1) = found.drifting {
            findings.push(found::drifting(lag1));
        }
        return;
    }
    for series in found.judged() {
        let &SeriesFound { subject, effective, n, .. } = series;
        let name = &names[subject];
        if series.dependence == Dependence::Untested {
            if n >= policy::FEWEST_VALUES {
                findings.push(found::dependence_unknown(n));
            }
        } else if series.dependence == Dependence::TooStrong {
            findings.push(found::too_dependent(name, n, effective));
        } else if is_beyond_chance(n, effective, series.lag1) {
            findings.push(found::dependent(name, n, effective));
        } else if series.share() < policy::DEPENDENT_BELOW {
            findings.push(found::perhaps_dependent(name, n, effective));
        }
    }
}

fn stationarity(
    found: &Validity,
    protocol: &Protocol,
    names: &[String],
    findings: &mut Vec<Finding>,
) {
    for series in &found.series {
        if let Some(drift) = series.drift {
            // With a NaN threshold, every drift matters.
            let matters = !protocol.paired
                && (drift.abs() > protocol.threshold || protocol.threshold.is_nan());
            findings.push(found::drift(protocol, &names[series.subject], drift, matters));
        }
    }
}

/// Returns the finding about parts of a series that differ by more than the threshold, beyond
/// chance.
fn unsteady(
    series: &SeriesFound,
    values: &Recording<'_>,
    protocol: &Protocol,
    names: &[String],
) -> Option<Finding> {
    let tolerance = protocol.threshold / descriptive::median_sorted(&values.sorted).abs();
    if !tolerance.is_finite() {
        return None;
    }
    let lower_is_better = protocol.better == Better::Lower;
    let (_, seed) = protocol.resampling;
    let found =
        steady_state(&values.in_order, tolerance, lower_is_better, policy::UNSTEADY_LEVEL, seed)?;
    let name = &names[series.subject];
    (found.label != Label::Flat)
        .then(|| found::unsteady(name, found.label, found.begins, found.parts.len()))
}

fn clock(
    found: &Validity,
    protocol: &Protocol,
    values: &Values,
    names: &[String],
    findings: &mut Vec<Finding>,
) {
    let constant =
        |of: &Recording<'_>| of.sorted.len() > 1 && of.sorted.first() == of.sorted.last();
    for (series, of) in found.series.iter().rev().zip([&values.of, &values.against]) {
        if constant(of) {
            findings.push(found::all_equal(&names[series.subject]));
        }
    }
    let (against, of) = (&values.against.sorted, &values.of.sorted);
    let all = against.len() + of.len();
    let in_steps = merged::distinct(against, of) as f64 <= policy::STEPPED_BELOW * all as f64;
    if in_steps && found.clock_step > policy::COARSE_OF_THRESHOLD * protocol.threshold {
        findings.push(found::coarse_clock(protocol, found.clock_step));
    }
}
