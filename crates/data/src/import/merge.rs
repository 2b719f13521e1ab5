//! Several inputs as one: recordings that were taken apart, subject beside subject.
//!
//! Where inputs hold things of the same name, each is a side, and every thing is compared with the one of its name on the first
//! side that has it. Metrics are matched by name and must agree in their units. Bare numbers, whose file fixes no metric, take that of the
//! others. Blocks are given up, because observations of different recordings never share one; the plan too, since no single
//! one was followed.

use super::{ImportError, ImportOptions, Part};
use crate::samples::{Metric, Samples, Summary};
use crate::unit::Unit;
use crate::{Finding, Severity};
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
    check_units(&mut parts)?;
    let mut merged = Samples::new(order_metrics(&parts)?);
    let common = common_names(&parts);
    let mut subjects = Subjects::default();
    for Labelled { file, label, part } in parts {
        add(&mut merged, part.samples, &file, &label, &common, &mut subjects);
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

/// Every metric has one unit wherever it occurs: the one that decides must, and another is left out of the inputs that have it in a
/// unit of their own, which is said.
fn check_units(parts: &mut [Labelled]) -> Result<(), ImportError> {
    let primary = parts.first().and_then(Labelled::primary).map(|metric| metric.name.clone());
    let mut first: HashMap<String, (String, Unit)> = HashMap::new();
    for one in parts {
        let mut odd: Vec<String> = Vec::new();
        for metric in &one.part.samples.metrics {
            let own = || (one.file.clone(), metric.unit.clone());
            let (other, unit) = first.entry(metric.name.clone()).or_insert_with(own);
            if *unit == metric.unit {
                continue;
            }
            let differ = ImportError::MixedUnits {
                metric: metric.name.clone(),
                first: other.clone(),
                first_unit: unit.symbol().to_owned(),
                second: one.file.clone(),
                second_unit: metric.unit.symbol().to_owned(),
            };
            if Some(&metric.name) == primary.as_ref() || one.part.samples.metrics.len() == 1 {
                return Err(differ);
            }
            let finding = Finding::new(
                "UNITS_DIFFER",
                Severity::Warning,
                format!("{differ}; `{}` of `{}` is left out", metric.name, one.file),
            );
            one.part.samples.findings.push(finding);
            odd.push(metric.name.clone());
        }
        if !odd.is_empty() {
            one.part.samples.keep(|_, metric| !odd.contains(&metric.name));
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

/// Names that several inputs have. A subject that has no name but its input's does not count.
fn common_names(parts: &[Labelled]) -> HashSet<String> {
    let mut holders: HashMap<&String, usize> = HashMap::new();
    let mut common = HashSet::new();
    for (index, one) in parts.iter().enumerate() {
        for name in one.part.samples.subjects.iter().map(|s| &s.name).filter(|n| **n != one.label) {
            if *holders.entry(name).or_insert(index) != index {
                common.insert(name.clone());
            }
        }
    }
    common
}

/// The subjects so far, found by their names.
#[derive(Default)]
struct Subjects {
    names: HashSet<String>,
    /// Where each benchmark was met first.
    benchmarks: HashMap<String, usize>,
}

impl Subjects {
    /// The name, or where it is taken the name with the first free number behind it.
    fn free(&mut self, name: String) -> String {
        if self.names.insert(name.clone()) {
            return name;
        }
        let numbered = (2..).map(|number| format!("{name} #{number}"));
        let free = numbered.into_iter().find(|name| !self.names.contains(name));
        let free = free.expect("one of endlessly many names is free");
        self.names.insert(free.clone());
        free
    }
}

fn add(
    merged: &mut Samples,
    mut part: Samples,
    file: &str,
    label: &str,
    common: &HashSet<String>,
    known: &mut Subjects,
) {
    let mut renamed = HashMap::new();
    let mut subjects = Vec::with_capacity(part.subjects.len());
    for subject in &part.subjects {
        let mut own = subject.clone();
        let name = if common.contains(&subject.name) {
            format!("{label}: {}", subject.name)
        } else {
            subject.name.clone()
        };
        own.name = known.free(name);
        own.source.get_or_insert_with(|| file.to_owned());
        let index = merged.subjects.len();
        // An index into the subjects of its own file would mean another one here.
        own.against = None;
        if !common.is_empty() {
            let first = *known.benchmarks.entry(subject.name.clone()).or_insert(index);
            own.against = Some(first);
            own.benchmark = Some(subject.name.clone());
            own.side = Some(label.to_owned());
        }
        renamed.insert(subject.name.clone(), own.name.clone());
        merged.subjects.push(own);
        subjects.push(index);
    }
    let metrics: Vec<_> =
        part.metrics.iter().filter_map(|m| merged.metric_index(&m.name)).collect();
    let findings = std::mem::take(&mut part.findings);
    for mut finding in findings {
        finding.subject = finding.subject.map(|name| renamed.get(&name).cloned().unwrap_or(name));
        // What is true of all recordings in the same words is said once.
        if !merged.findings.contains(&finding) {
            merged.findings.push(finding);
        }
    }
    let when = part.started.take().map(|time| ("started".to_owned(), time.into()));
    let facts = std::mem::take(&mut part.environment.facts);
    let summaries = std::mem::take(&mut part.summaries).into_iter();
    merged.summaries.extend(summaries.filter_map(|summary| {
        Some(Summary { subject: *subjects.get(summary.subject)?, ..summary })
    }));
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
