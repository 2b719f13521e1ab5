//! Several inputs as one: recordings that were taken apart, subject beside subject.
//!
//! Metrics are matched by name and must agree in their units. Bare numbers, whose file fixes no metric, take that of the
//! others. Blocks are given up, because observations of different recordings never share one; the plan too, since no single
//! one was followed.

use super::{ImportError, ImportOptions, Part};
use crate::samples::{Metric, Samples};
use crate::unit::Unit;
use std::collections::{HashMap, HashSet};

/// One input with its names.
pub(super) struct Labelled {
    /// As the user named it.
    pub file: String,
    /// Short and unique: for subjects whose names clash.
    pub label: String,
    pub part: Part,
}

impl Labelled {
    fn primary(&self) -> Option<&Metric> {
        let samples = &self.part.samples;
        let planned = samples.plan.as_ref().and_then(|plan| samples.metric_index(&plan.primary));
        samples.metrics.get(planned.unwrap_or(0))
    }
}

pub(super) fn merge(
    mut parts: Vec<Labelled>,
    options: &ImportOptions,
) -> Result<Samples, ImportError> {
    if parts.len() <= 1 {
        return parts.pop().map(|only| only.part.samples).ok_or(ImportError::NoInput);
    }
    lend_metrics(&mut parts, options)?;
    check_units(&parts)?;
    let mut merged = Samples::new(order_metrics(&parts)?);
    let clashing = clashing_names(&parts);
    for Labelled { file, label, part } in parts {
        add(&mut merged, part.samples, &file, &label, &clashing);
    }
    Ok(merged)
}

/// Gives bare numbers the metric that they are compared with.
fn lend_metrics(parts: &mut [Labelled], options: &ImportOptions) -> Result<(), ImportError> {
    let recorded = parts.iter().find(|one| !one.part.is_bare);
    let lender = recorded.map(|one| (one.file.clone(), one.primary().cloned()));
    let Some((file, lent)) = lender else {
        // Nothing but bare numbers: headers that disagree name the subjects rather than the metric.
        let names: HashSet<_> =
            parts.iter().flat_map(|one| &one.part.samples.metrics).map(|m| &m.name).collect();
        if names.len() > 1 {
            for metric in parts.iter_mut().flat_map(|one| &mut one.part.samples.metrics) {
                "value".clone_into(&mut metric.name);
            }
        }
        return Ok(());
    };
    let offered: HashMap<String, Metric> = parts
        .iter()
        .rev()
        .filter(|one| !one.part.is_bare)
        .flat_map(|one| &one.part.samples.metrics)
        .map(|metric| (metric.name.clone(), metric.clone()))
        .collect();
    for one in parts.iter_mut().filter(|one| one.part.is_bare) {
        let Some(own) = one.part.samples.metrics.first_mut() else { continue };
        let by_name = offered.get(&own.name);
        let lent = if options.metric.is_some() { by_name } else { by_name.or(lent.as_ref()) };
        let Some(lent) = lent else { continue };
        if options.unit.is_none() && lent.unit != Unit::One {
            return Err(ImportError::UnitNeeded {
                file: one.file.clone(),
                metric: lent.name.clone(),
                other: file,
                unit: lent.unit.symbol().to_owned(),
                example: match lent.unit {
                    Unit::Second => "ms".to_owned(),
                    Unit::Byte => "KiB".to_owned(),
                    _ => lent.unit.symbol().to_owned(),
                },
            });
        }
        own.name.clone_from(&lent.name);
        own.better = lent.better;
    }
    Ok(())
}

/// Every metric has one unit wherever it occurs.
fn check_units(parts: &[Labelled]) -> Result<(), ImportError> {
    let mut first: HashMap<&str, (&Labelled, &Metric)> = HashMap::new();
    for one in parts {
        for metric in &one.part.samples.metrics {
            let &mut (other, known) = first.entry(&metric.name).or_insert((one, metric));
            if known.unit != metric.unit {
                return Err(ImportError::MixedUnits {
                    metric: metric.name.clone(),
                    first: other.file.clone(),
                    first_unit: known.unit.symbol().to_owned(),
                    second: one.file.clone(),
                    second_unit: metric.unit.symbol().to_owned(),
                });
            }
        }
    }
    Ok(())
}

/// All metrics, first the one that decides: the primary one of the first input if all have it, else the first that all have.
fn order_metrics(parts: &[Labelled]) -> Result<Vec<Metric>, ImportError> {
    let mut metrics = Samples::default();
    for metric in parts.iter().flat_map(|one| &one.part.samples.metrics) {
        metrics.add_metric(metric.clone());
    }
    let mut metrics = metrics.metrics;
    let is_common =
        |m: &Metric| parts.iter().all(|one| one.part.samples.metric_index(&m.name).is_some());
    let primary = parts.first().and_then(Labelled::primary).filter(|&m| is_common(m));
    let decides = match primary {
        Some(primary) => metrics.iter().position(|m| m.name == primary.name),
        None => metrics.iter().position(is_common),
    };
    let Some(decides) = decides else {
        let sides: Vec<_> = parts
            .iter()
            .map(|one| {
                let names: Vec<_> =
                    one.part.samples.metrics.iter().map(|m| format!("`{}`", m.name)).collect();
                let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
                format!("{} has {names}", one.file)
            })
            .collect();
        return Err(ImportError::NoCommonMetric { sides: sides.join("; ") });
    };
    metrics[..=decides].rotate_right(1);
    Ok(metrics)
}

fn clashing_names(parts: &[Labelled]) -> HashSet<String> {
    let mut seen = HashSet::new();
    let names = parts.iter().flat_map(|one| &one.part.samples.subjects).map(|s| &s.name);
    names.filter(|name| !seen.insert(*name)).cloned().collect()
}

fn add(
    merged: &mut Samples,
    mut part: Samples,
    file: &str,
    label: &str,
    clashing: &HashSet<String>,
) {
    let mut renamed = HashMap::new();
    let mut subjects = Vec::with_capacity(part.subjects.len());
    for subject in &part.subjects {
        let mut own = subject.clone();
        if clashing.contains(&subject.name) && subject.name != label {
            own.name = format!("{label}: {}", subject.name);
        }
        own.source.get_or_insert_with(|| file.to_owned());
        let index = merged.add(own);
        renamed.insert(subject.name.clone(), merged.subjects[index].name.clone());
        subjects.push(index);
    }
    let metrics: Vec<_> =
        part.metrics.iter().filter_map(|m| merged.metric_index(&m.name)).collect();
    let findings = std::mem::take(&mut part.findings);
    merged.findings.extend(findings.into_iter().map(|mut finding| {
        finding.subject = finding.subject.map(|name| renamed.get(&name).cloned().unwrap_or(name));
        finding
    }));
    let when = part.started.take().map(|time| ("started".to_owned(), time.into()));
    let facts = std::mem::take(&mut part.environment.facts);
    merged.append(part, &subjects, &metrics);
    for (name, value) in facts.into_iter().chain(when) {
        // Facts in which the recordings differ are kept apart, so that none hides another.
        let facts = &mut merged.environment.facts;
        match facts.get(&name) {
            Some(known) if *known != value => facts.insert(format!("{name}@{label}"), value),
            Some(_) => None,
            None => facts.insert(name, value),
        };
    }
}
