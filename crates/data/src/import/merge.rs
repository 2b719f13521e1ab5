//! Merges several inputs, which are separate recordings. Their subjects are placed side by side.
//!
//! If any inputs have rows with the same name, each input is a side, and every row is compared with
//! the row of the same name on the first side that has one. Metrics are matched by name and must
//! agree in their units. Bare numbers, whose file specifies no metric, take the metric of the other
//! inputs. Blocks are dropped, because observations from different recordings never share one. The
//! plans are dropped too, because there is no single plan that all recordings followed.

use super::{ImportError, ImportOptions, Part};
use crate::samples::{Metric, Row, Samples, Side, Subject, Summary, free_name};
use crate::unit::Unit;
use crate::{Action, Finding, Severity, list};
use std::collections::{HashMap, HashSet};

/// Maximum number of recordings named with their deciding metrics; further ones are only counted.
const NAMED: usize = 3;

/// In the evidence of the finding about recordings with different deciding metrics, the key of the
/// number of such metrics.
const DECIDING_METRICS: &str = "deciding_metrics";

/// Returns true for the finding that recordings have different deciding metrics, which does not
/// apply if the user names a metric.
pub fn is_about_deciding_metric(finding: &Finding) -> bool {
    finding.number(DECIDING_METRICS).is_some()
}

/// An input with its names.
pub(super) struct LabelledInput {
    /// The file as the user named it.
    pub file: String,
    /// Short unique name, for subjects whose names clash.
    pub label: String,
    pub part: Part,
}

impl LabelledInput {
    fn primary(&self) -> Option<&Metric> {
        let samples = &self.part.samples;
        let planned = samples.plan.as_ref().and_then(|plan| samples.metric_index(&plan.primary));
        samples.metrics.get(planned.unwrap_or(0))
    }
}

pub(super) fn merge(
    mut parts: Vec<LabelledInput>,
    options: &ImportOptions,
) -> Result<Samples, ImportError> {
    if parts.len() <= 1 {
        return parts.pop().map(|only| only.part.samples).ok_or(ImportError::NoInput);
    }
    lend_metrics(&mut parts, options)?;
    check_units(&mut parts)?;
    let mut merged = Samples::new(order_metrics(&parts)?);
    merged.findings.extend(decided_differently(&parts, &merged));
    let shared = shared_names(&parts);
    let matched = shared.iter().flatten().any(|&shared| shared);
    let mut met = TakenNames::default();
    let counts = |of: fn(&Samples) -> usize| parts.iter().map(move |one| of(&one.part.samples));
    // Growing the list could otherwise take twice the memory of a large suite.
    merged.subjects.reserve_exact(counts(|own| own.subjects.len()).sum());
    merged.rows.reserve_exact(counts(|own| own.rows.len()).max().unwrap_or(0));
    for (LabelledInput { file, label, part }, shared) in parts.into_iter().zip(shared) {
        let names = Names { file: &file, label: &label, shared: &shared, matched };
        add(&mut merged, part.samples, &names, &mut met);
    }
    Ok(merged)
}

/// Assigns bare numbers the metric with which they are compared.
pub(super) fn lend_metrics(
    parts: &mut [LabelledInput],
    options: &ImportOptions,
) -> Result<(), ImportError> {
    let recorded = parts.iter().find(|one| !one.part.is_bare);
    let lender = recorded.map(|one| (one.file.clone(), one.primary().cloned()));
    let Some((file, lent)) = lender else {
        // If all inputs are bare numbers, different headers name the subjects and not the metric.
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
        (own.better, own.undirected) = (lent.better, lent.undirected);
    }
    Ok(())
}

/// Checks that every metric has the same unit in all inputs. This is required of the deciding
/// metric. Any other metric is dropped from the inputs that have it in a different unit, with a
/// finding.
pub(super) fn check_units(parts: &mut [LabelledInput]) -> Result<(), ImportError> {
    let primary = parts.first().and_then(LabelledInput::primary).map(|metric| metric.name.clone());
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
                crate::code::PARTLY_READ,
                format!("{differ}; `{}` of `{}` is left out", metric.name, one.file),
            )
            .at(Severity::Warning);
            one.part.samples.findings.push(finding);
            odd.push(metric.name.clone());
        }
        if !odd.is_empty() {
            one.part.samples.keep(|_, _, metric| !odd.contains(&metric.name));
        }
    }
    Ok(())
}

/// Returns all metrics, the deciding one first. That is the primary metric of the first input if
/// all inputs have it, and the first metric that all inputs have otherwise.
pub(super) fn order_metrics(parts: &[LabelledInput]) -> Result<Vec<Metric>, ImportError> {
    let mut metrics = Samples::default();
    for metric in parts.iter().flat_map(|one| &one.part.samples.metrics) {
        metrics.add_metric(metric.clone());
    }
    let mut metrics = metrics.metrics;
    let is_common =
        |m: &Metric| parts.iter().all(|one| one.part.samples.metric_index(&m.name).is_some());
    let primary = parts.first().and_then(LabelledInput::primary).filter(|&m| is_common(m));
    // A count of iterations gives no information about a benchmark that measures something else.
    let is_count = |m: &Metric| {
        m.name == "iterations"
            && parts.iter().any(|one| one.primary().is_some_and(|own| own.name != m.name))
    };
    let decides = match primary {
        Some(primary) => metrics.iter().position(|m| m.name == primary.name),
        None => metrics.iter().position(|m| is_common(m) && !is_count(m)),
    };
    let Some(decides) = decides else {
        let sides: Vec<_> = parts
            .iter()
            .map(|one| {
                let own = one.part.samples.metrics.iter().filter(|&m| !is_count(m));
                let names: Vec<_> = own.map(|m| format!("`{}`", m.name)).collect();
                let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
                format!("{} has {names}", one.file)
            })
            .collect();
        return Err(ImportError::NoCommonMetric { sides: sides.join("; ") });
    };
    metrics[..=decides].rotate_right(1);
    Ok(metrics)
}

/// Returns the finding about recordings whose plans name different deciding metrics. It does not
/// apply if the user names one.
fn decided_differently(parts: &[LabelledInput], merged: &Samples) -> Option<Finding> {
    let decides = &merged.metrics.first()?.name;
    let planned: Vec<(&str, &str)> = parts
        .iter()
        .filter_map(|one| {
            Some((one.file.as_str(), one.part.samples.plan.as_ref()?.primary.as_str()))
        })
        .collect();
    let mut by: Vec<&str> = planned.iter().map(|&(_, metric)| metric).collect();
    by.sort_unstable();
    by.dedup();
    if by.len() < 2 {
        return None;
    }
    let told: Vec<String> =
        planned.iter().map(|(file, metric)| format!("{file} by {metric}")).collect();
    let message = format!(
        "different metrics decided about the recordings ({}); here {decides} decides",
        list::first(&told, NAMED)
    );
    let finding = Finding::new(crate::code::RECORDINGS_DIFFER, message)
        .with(DECIDING_METRICS, by.len() as f64);
    let others =
        by.into_iter().filter(|metric| metric != decides && merged.metric_index(metric).is_some());
    Some(others.map(Action::decide_by).fold(finding, Finding::advise))
}

/// Returns the names by which the subjects of an input are matched with those of other inputs: the
/// names of their rows, or their full names if several subjects share a row (on different sides or
/// with different parameters), because an input counts as a single side.
pub(super) fn matched_by(samples: &Samples) -> Vec<&str> {
    let by_row = no_row_is_shared(samples);
    samples.subjects.iter().map(|subject| matched_name(samples, subject, by_row)).collect()
}

/// Returns true if no two subjects have the same row.
fn no_row_is_shared(samples: &Samples) -> bool {
    let mut met = vec![false; samples.rows.len()];
    samples.subjects.iter().all(|subject| !std::mem::replace(&mut met[subject.row], true))
}

fn matched_name<'a>(samples: &'a Samples, subject: &'a Subject, by_row: bool) -> &'a str {
    if by_row { samples.full_name(subject) } else { &subject.name }
}

/// Returns, for every subject of every input, whether another input has a subject of the same name.
/// A name that is only the label of its input is not counted.
fn shared_names(parts: &[LabelledInput]) -> Vec<Vec<bool>> {
    // For each name, the first input that has it, and whether any other input does.
    let mut holders: HashMap<&str, (usize, bool)> = HashMap::new();
    let names: Vec<Vec<&str>> = parts.iter().map(|one| matched_by(&one.part.samples)).collect();
    for (index, (one, names)) in parts.iter().zip(&names).enumerate() {
        for name in names.iter().filter(|name| **name != one.label) {
            let (first, shared) = holders.entry(name).or_insert((index, false));
            *shared |= *first != index;
        }
    }
    let is_shared = |name: &&str| holders.get(name).is_some_and(|&(_, shared)| shared);
    names.iter().map(|names| names.iter().map(is_shared).collect()).collect()
}

/// The names of an input, and whether other inputs share them.
struct Names<'a> {
    /// The file as the user named it.
    file: &'a str,
    /// Short unique name.
    label: &'a str,
    /// For every subject, whether other inputs have its name.
    shared: &'a [bool],
    /// True if any two inputs share a name, in which case each input is a side.
    matched: bool,
}

/// The names that are already in use.
#[derive(Default)]
struct TakenNames {
    /// Names of subjects.
    names: HashSet<String>,
    /// Rows by name, with their first subject.
    rows: HashMap<String, (usize, usize)>,
}

/// Adds the sides of an input, and returns the index of the first. If inputs are matched by rows,
/// the input is a single side; otherwise its own sides are added.
fn add_sides(merged: &mut Samples, part: &Samples, names: &Names<'_>) -> usize {
    let &Names { file, label, matched, .. } = names;
    let before = merged.sides.len();
    let source = |side: &Side| Some(side.source.clone().unwrap_or_else(|| file.to_owned()));
    match part.sides.as_slice() {
        [only] => {
            let side = Side { name: label.to_owned(), source: source(only), ..only.clone() };
            merged.add_side(side);
        }
        several if !matched => several.iter().for_each(|side| {
            merged.add_side(Side { source: source(side), ..side.clone() });
        }),
        several => {
            let source = several.first().map_or_else(|| Some(file.to_owned()), source);
            merged.add_side(Side { name: label.to_owned(), source, ..Side::default() });
        }
    }
    before
}

fn add(merged: &mut Samples, mut part: Samples, names: &Names<'_>, met: &mut TakenNames) {
    let &Names { label, shared, matched, .. } = names;
    // Only subjects with findings are listed, which are few in a large suite.
    let mut renamed: HashMap<String, String> = HashMap::new();
    let told: HashSet<String> = part.findings.iter().filter_map(|f| f.subject.clone()).collect();
    let mut subjects = Vec::with_capacity(part.subjects.len());
    let by_row = no_row_is_shared(&part);
    let first_side = add_sides(merged, &part, names);
    for (mut own, &shared) in std::mem::take(&mut part.subjects).into_iter().zip(shared) {
        let name = matched_name(&part, &own, by_row);
        let index = merged.subjects.len();
        // If the inputs share no name, nothing is matched, and rows keep their own names, which may
        // be empty.
        let of_row = part.row_of(&own);
        let row_name = if matched { name } else { &of_row.name };
        let (row, first) = met.rows.get(row_name).copied().unwrap_or_else(|| {
            let label = if matched { part.label_of(&own) } else { of_row.label.as_deref() };
            merged.rows.push(Row {
                name: row_name.to_owned(),
                label: label.map(str::to_owned),
                noun: of_row.noun.clone(),
                group: of_row.group.clone(),
            });
            let known = (merged.rows.len() - 1, index);
            met.rows.insert(row_name.to_owned(), known);
            known
        });
        let shown = if shared { format!("{label}: {name}") } else { own.name.clone() };
        let shown = free_name(shown, |name| met.names.contains(name));
        met.names.insert(shown.clone());
        let before = std::mem::replace(&mut own.name, shown);
        if told.contains(&before) {
            renamed.insert(before, own.name.clone());
        }
        own.row = row;
        own.side = first_side + if matched { 0 } else { own.side };
        // An index into the subjects of the input would refer to a different subject in the merged
        // samples.
        own.against = matched.then_some(first);
        merged.subjects.push(own);
        subjects.push(index);
    }
    let metrics: Vec<_> =
        part.metrics.iter().filter_map(|m| merged.metric_index(&m.name)).collect();
    let findings = std::mem::take(&mut part.findings);
    for mut finding in findings {
        finding.subject = finding.subject.map(|name| renamed.get(&name).cloned().unwrap_or(name));
        // A finding that is the same in all recordings is added once.
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
        // Facts in which the recordings differ are kept separately, so that none hides another.
        let facts = &mut merged.environment.facts;
        match facts.get(&name) {
            Some(known) if *known != value => facts.insert(format!("{name}@{label}"), value),
            Some(_) => None,
            None => facts.insert(name, value),
        };
    }
}
