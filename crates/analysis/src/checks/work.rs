//! Whether the sides of a suite did the same work: the results of tests, and the numbers that a
//! benchmark reports about its own work. What varies within a side is not compared.

use crate::analysis::{Analysis, Table};
use crate::comparison::Comparison;
use crate::number;
use crate::testing::Testing;
use assay_data::finding::shared::output_differs;
use assay_data::{Finding, Samples, Unit};

/// Maximum number of rows named.
const NAMED: usize = 3;

/// Findings about tests that fail in every run of one side and in none of the reference, or the
/// reverse. O(tests · failing tests).
pub(crate) fn results(suite: &Analysis) -> Vec<Finding> {
    let Some((reference, others)) = suite.testing.split_first() else { return Vec::new() };
    let fails = |side: &Testing, name: &str| {
        let own = side.failing.iter().find(|own| own.name == name);
        own.map_or(Some(false), |own| own.always().then_some(true))
    };
    let ran = |side: &Testing, name: &str| {
        side.tests.iter().any(|own| own.name == name)
            || side.failing.iter().any(|own| own.name == name)
            || side.untimed.iter().any(|own| own == name)
    };
    let mut found = Vec::new();
    for other in others {
        for (one, instead) in [(other, reference), (reference, other)] {
            let differs = |name: &&str| {
                let both = (fails(one, name), fails(instead, name));
                both == (Some(true), Some(false)) && ran(instead, name)
            };
            let names = one.failing.iter().map(|own| own.name.as_str());
            let names: Vec<&str> = names.filter(differs).collect();
            if !names.is_empty() {
                let tests = if names.len() == 1 { "1 test fails" } else { "tests fail" };
                let count =
                    if names.len() == 1 { String::new() } else { format!("{} ", names.len()) };
                let message = format!(
                    "{count}{tests} in every run of {} and in none of {}: {}",
                    one.side,
                    instead.side,
                    listed(&names)
                );
                let finding = output_differs(&other.side, message);
                found.push(finding.with("tests", names.len() as f64));
            }
        }
    }
    found
}

/// Findings about numbers without a better direction (elements, hits) that are the same in every
/// run of a side, and another one on the other. O(values).
pub(crate) fn numbers(samples: &Samples, suite: &Analysis) -> Vec<Finding> {
    let by_subject = samples.by_subject();
    let constant = |subject: usize, metric: usize| {
        let mut values = by_subject.series(subject, metric).map(|(_, value)| value);
        let first = values.next()?;
        let mut others = values.peekable();
        (others.peek().is_some() && others.all(|value| value == first)).then_some(first)
    };
    let differing = |table: &Table<'_>| -> Option<Finding> {
        let name = &suite.metrics[table.metric].name;
        let of_row = |c: &&Comparison| {
            let (own, reference) =
                (constant(c.of, table.metric)?, constant(c.against, table.metric)?);
            let row = &suite.row_of(c).name;
            let numbers = number::side_by_side(&[own, reference]);
            (own != reference).then(|| format!("{row}: {} instead of {}", numbers[0], numbers[1]))
        };
        let told: Vec<String> = table.rows.iter().filter_map(of_row).collect();
        let told: Vec<&str> = told.iter().map(String::as_str).collect();
        let side = &suite.sides[table.side].name;
        let message = format!("{side} reports other {name}: {}", listed(&told));
        let finding = || output_differs(side, message).with("benchmarks", told.len() as f64);
        (!told.is_empty()).then(finding)
    };
    let is_result = |table: &Table<'_>| {
        let metric = &suite.metrics[table.metric];
        metric.undirected && metric.unit == Unit::One
    };
    suite.tables().filter(is_result).filter_map(|table| differing(&table)).collect()
}

fn listed(all: &[&str]) -> String {
    let more = all.len().saturating_sub(NAMED);
    let named = all.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{named} and {more} more") } else { named }
}
