//! Findings of a summary, based on effect sizes rather than p-values alone.

use super::distributions::DistributionKind;
use super::{Part, Periodic, SeriesSummary, repeated};
use crate::checks;
use crate::coverage;
use crate::describe::SubjectSummary;
use crate::policy;
use assay_data::code;
use assay_data::list;
use assay_data::{Action, Finding, Severity, Unit};
use assay_stats::steady_state::Label;

pub(super) fn of(summary: &SeriesSummary) -> Vec<Finding> {
    let mut found = as_for_comparisons(summary);
    found.extend(too_few(summary));
    found.extend(too_dependent(summary));
    found.extend(changes(summary));
    found.extend(periodic(summary));
    found.extend(multimodal(summary));
    found.extend(coarse(summary));
    found.extend(not_normal(summary));
    found.extend(coverage::findings::median_of_summary(summary));
    found.extend(summary.levels.as_ref().and_then(|levels| levels.ignored(&summary.name)));
    explained(&mut found, summary);
    found.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    found
}

/// Merges findings that a change explains. A warm-up or another change makes a series drift and its
/// values correlated. The finding about the change replaces those about drift or dependence that
/// the steady part does not show, and takes over their evidence and the highest severity.
fn explained(found: &mut Vec<Finding>, summary: &SeriesSummary) {
    let changed = |finding: &Finding| finding.is(code::WARM_UP) || finding.is(code::CHANGE_POINT);
    let Some(at) = found.iter().position(changed) else { return };
    let Some(steady) = &summary.stability.rest else { return };
    let dependence = [code::DEPENDENCE, code::TOO_DEPENDENT, code::INTERVAL_OPTIMISTIC];
    let calm = |finding: &&Finding| match finding.is(code::DRIFT) {
        true => steady.drift.is_none(),
        false => !steady.dependent && dependence.iter().any(|code| finding.is(code)),
    };
    let consequences: Vec<Finding> = found.iter().filter(calm).cloned().collect();
    // The loss of coverage due to dependence is a consequence as well, but is not named.
    let consequences: Vec<Finding> =
        consequences.into_iter().filter(|finding| !finding.is(code::INTERVAL_OPTIMISTIC)).collect();
    if consequences.is_empty() {
        return;
    }
    let mut told = Vec::new();
    for finding in &consequences {
        let (name, word) = match finding.code.as_str() {
            "DRIFT" => ("drift", "drift"),
            _ => ("effective", "dependence"),
        };
        let value = finding.evidence.iter().find(|(key, _)| key == name).map(|(_, value)| *value);
        found[at].evidence.extend(value.map(|value| (name.to_owned(), value)));
        found[at].severity = found[at].severity.max(finding.severity);
        told.push(word);
    }
    let come = if told.len() > 1 { "come" } else { "comes" };
    found[at].message += &format!("; the {} of the whole {come} from that", told.join(" and the "));
    found.retain(|finding| !calm(&finding));
}

/// Returns the findings that a comparison would report about this series alone.
fn as_for_comparisons(series: &SeriesSummary) -> Vec<Finding> {
    let summary = SubjectSummary {
        side: 0,
        row: 0,
        name: series.name.clone(),
        command: None,
        parameters: Vec::new(),
        against: None,
        observations: series.description.n,
        failures: 0,
        timeouts: 0,
        metrics: vec![Some(series.description.clone())],
    };
    let mut found = checks::series(&summary, 0, &series.metric, false);
    found.retain(|finding| !finding.is(code::DEPENDENCE) || series.correlation.is_correlated());
    found
}

fn too_few(summary: &SeriesSummary) -> Option<Finding> {
    let (n, fewest) = (summary.description.n, policy::MEDIAN_FROM);
    let message =
        format!("{} has only {n} of the {fewest} values that an interval needs", summary.name);
    (n < fewest).then(|| {
        checks::too_few(message)
            .about(&summary.name)
            .with("have", n as f64)
            .with("needed", fewest as f64)
            .advise(Action::MoreValues)
    })
}

fn too_dependent(summary: &SeriesSummary) -> Option<Finding> {
    let effective = summary.description.effective();
    let dependent = effective < policy::FEWEST_EFFECTIVE
        && summary.description.n as f64 >= 2.0 * policy::FEWEST_EFFECTIVE;
    dependent.then(|| {
        let worth = format!(
            "{} carry no more information than {effective:.0} independent ones",
            summary.description.n
        );
        checks::too_dependent(&format!("of {}", summary.name), &worth)
            .about(&summary.name)
            .with("effective", effective)
            .advise(Action::text("look for what changes slowly: frequency, heat, other work"))
            .advise(Action::MeasureInBlocks)
    })
}

/// Returns the finding about a warm-up or another change that is large enough to matter.
fn changes(summary: &SeriesSummary) -> Option<Finding> {
    let steady = summary.stability.steady.as_ref()?;
    let (first, last) = (steady.parts.first()?, steady.parts.last()?);
    let change = (last.median - first.median) / first.median.abs();
    let measured = |finding: Finding| {
        finding
            .with("parts", steady.parts.len() as f64)
            .with("begins", last.start as f64)
            .with("change", change)
    };
    let name = &summary.name;
    match steady.label {
        Label::Flat => None,
        Label::WarmUp => Some(
            measured(checks::warmed_up(
                name,
                &format!(
                    "is steady from value {} of {} on, {} from where it began",
                    last.start + 1,
                    summary.description.n,
                    checks::moved(last.median - first.median, first.median, &summary.metric.unit)
                ),
            ))
            .advise(Action::WarmUpLonger)
            .advise(Action::Skip { values: last.start as u64 }),
        ),
        Label::Slowdown | Label::NoSteadyState => {
            let places: Vec<String> =
                steady.parts[1..].iter().take(4).map(|part| (part.start + 1).to_string()).collect();
            let gradually = if climbs(&steady.parts) { ", or drifted gradually" } else { "" };
            let rest = if steady.label == Label::NoSteadyState {
                ", and had not settled by its end"
            } else {
                ""
            };
            Some(
                measured(checks::change_point(
                    name,
                    &format!(
                        "changed at {}{gradually}{rest}",
                        told_places(&places, steady.parts.len() > 5)
                    ),
                ))
                .advise(Action::text(
                    "find out what changed there; one number for the whole series hides it",
                )),
            )
        }
    }
}

/// Formats positions in a series: `value 5`, `values 5 and 9`, `values 5, 9, 14, 20, ...`.
fn told_places(places: &[String], has_more: bool) -> String {
    match places {
        [only] => format!("value {only}"),
        _ if has_more => format!("values {}, ...", places.join(", ")),
        [] => "some value".to_owned(),
        _ => format!("values {}", list::all(places)),
    }
}

/// Returns true if the medians of the parts all change in the same direction, as when a smooth
/// drift is cut into steps.
fn climbs(parts: &[Part]) -> bool {
    let steps = || parts.windows(2).map(|pair| pair[1].median - pair[0].median);
    parts.len() > 2 && (steps().all(|step| step > 0.0) || steps().all(|step| step < 0.0))
}

fn multimodal(summary: &SeriesSummary) -> Option<Finding> {
    let modes = &summary.modes;
    if modes.len() < 2 {
        return None;
    }
    let finding = Finding::new(
        code::MULTIMODAL,
        format!("{} has {} modes: no single number describes it", summary.name, modes.len()),
    );
    let dip = summary.tests.dip.map_or(f64::NAN, |dip| dip.p);
    let finding = finding.about(&summary.name).with("modes", modes.len() as f64).with("dip_p", dip);
    Some(finding.advise(Action::text(
        "find out what makes the difference (inputs, caches, frequency, another core) and measure the cases separately",
    )))
}

/// Returns the finding about a periodic deviation that is large enough to matter.
fn periodic(summary: &SeriesSummary) -> Option<Finding> {
    let found = summary.periodic?;
    let d = &summary.description;
    let spread = repeated::spread(d.standard_deviation, summary.descriptives.iqr);
    let size = found.excess.abs();
    if size < policy::TICK_OF_SPREAD * spread && size < policy::TICK_OF_MEDIAN * d.median.abs() {
        return None;
    }
    let Periodic { period, first, .. } = found;
    let every = match period {
        2 => "every second value".to_owned(),
        3 => "every third value".to_owned(),
        n => format!("every {n} values one"),
    };
    let message = format!(
        "{every} of {} differs by {}: values {}, {}, {}, ...",
        summary.name,
        checks::moved(found.excess, d.median, &summary.metric.unit),
        first + 1,
        first + period + 1,
        first + 2 * period + 1
    );
    Some(
        Finding::new(code::PERIODIC, message)
            .about(&summary.name)
            .with("period", period as f64)
            .with("first", first as f64)
            .with("excess", found.excess)
            .with("z", found.z)
            .advise(Action::text("look for what recurs so regularly: a timer, garbage collection, a buffer that is flushed"))
            .advise(Action::text("let every observation cover whole periods if this belongs to the work")),
    )
}

fn coarse(summary: &SeriesSummary) -> Option<Finding> {
    let d = &summary.description;
    let step = d.clock_step?;
    let stepped = summary.distinct as f64 <= policy::STEPPED_BELOW * d.n as f64;
    let spread = repeated::spread(d.standard_deviation, summary.descriptives.iqr);
    let is_time = summary.metric.unit == Unit::Second;
    // A step can't be relative to a median of zero.
    let of_median = is_time && d.median != 0.0 && step > policy::COARSE_OF_MEDIAN * d.median.abs();
    let of_spread = summary.multiples && step > policy::COARSE_OF_SPREAD * spread;
    if !(stepped && (of_median || of_spread)) {
        return None;
    }
    let message = if of_median {
        format!(
            "{} comes in steps of {:.2} % of its median; smaller differences can't be seen in single values",
            summary.metric.name,
            step / d.median.abs() * 100.0
        )
    } else {
        format!(
            "all values of {} are multiples of a step as large as {:.1} times their spread; smaller differences can't be seen in single values",
            summary.metric.name,
            step / spread
        )
    };
    // Whole numbers are mostly counts, for which there is no finer resolution.
    let counts = !is_time && step == 1.0;
    let severity = if counts { Severity::Note } else { Severity::Warning };
    let finding = checks::coarse(message, &summary.metric.unit)
        .about(&summary.name)
        .with("step", step)
        .with("distinct", summary.distinct as f64);
    Some(
        Finding { severity, ..finding }
            .advise(Action::text("keep more digits if they were rounded")),
    )
}

fn not_normal(summary: &SeriesSummary) -> Option<Finding> {
    let (tails, fit) = (summary.tails?, summary.tests.anderson_darling?);
    let distribution = summary
        .distributions
        .iter()
        .find(|distribution| distribution.kind == DistributionKind::Normal)?;
    // At ties, the distribution function jumps, so its distance from any continuous distribution is
    // at least half the jump.
    let far = distribution.distance > policy::NORMAL_DISTANCE + summary.commonest_share
        || tails.skewness.abs() > policy::NORMAL_SKEWNESS
        || tails.kurtosis > policy::NORMAL_KURTOSIS;
    (far && fit.p < policy::NORMAL_LEVEL).then(|| {
        let message = format!(
            "{} does not follow a normal distribution: intervals and tests that assume one (Student's t, mean ± sd) mislead; assay's own compare ranks and do not",
            summary.name
        );
        Finding::new(code::NOT_NORMAL, message)
            .about(&summary.name)
            .with("distance", distribution.distance)
            .with("skewness", tails.skewness)
            .with("excess_kurtosis", tails.kurtosis)
            .with("anderson_darling_p", fit.p)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_listed_as_one_would_say_them() {
        let told = |places: &[&str], has_more| {
            told_places(&places.iter().map(|p| (*p).to_owned()).collect::<Vec<_>>(), has_more)
        };
        assert_eq!(told(&["5"], false), "value 5");
        assert_eq!(told(&["329", "676"], false), "values 329 and 676");
        assert_eq!(told(&["1", "2", "3"], false), "values 1, 2 and 3");
        assert_eq!(told(&["1", "2", "3", "4"], true), "values 1, 2, 3, 4, ...");
    }

    #[test]
    fn only_steps_that_all_go_the_same_way_may_be_a_drift() {
        let parts = |medians: &[f64]| -> Vec<Part> {
            let part = |(i, &median): (usize, &f64)| Part { start: i, end: i + 1, median };
            medians.iter().enumerate().map(part).collect()
        };
        assert!(climbs(&parts(&[1.0, 2.0, 3.0])) && climbs(&parts(&[3.0, 2.0, 1.0])));
        assert!(!climbs(&parts(&[1.0, 2.0, 1.0])) && !climbs(&parts(&[1.0, 2.0])));
    }
}
