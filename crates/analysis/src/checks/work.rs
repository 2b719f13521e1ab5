//! Compares the work done by the sides of a suite: test results, and the numbers that a benchmark
//! reports about its own work. Numbers that vary within a side are not compared.

use crate::analysis::{Analysis, Table};
use crate::comparison::Comparison;
use crate::number;
use crate::testing::Testing;
use assay_data::finding::shared::output_differs;
use assay_data::list;
use assay_data::{Finding, Samples, Unit};

/// Maximum number of rows that a finding names.
const NAMED: usize = 3;

/// Reports tests that fail in every run of one side and in no run of the reference, and vice versa.
/// O(tests · failing tests).
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
                    list::first(&names, NAMED)
                );
                let finding = output_differs(&other.side, message);
                found.push(finding.with("tests", names.len() as f64));
            }
        }
    }
    found
}

/// Reports numbers for which neither direction is better (elements, hits) that are the same in
/// every run of one side but differ between the sides. O(values).
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
        let side = &suite.sides[table.side].name;
        let message = format!("{side} reports other {name}: {}", list::first(&told, NAMED));
        let finding = || output_differs(side, message).with("benchmarks", told.len() as f64);
        (!told.is_empty()).then(finding)
    };
    let is_result = |table: &Table<'_>| {
        let metric = &suite.metrics[table.metric];
        metric.undirected && metric.unit == Unit::One
    };
    suite.tables().filter(is_result).filter_map(|table| differing(&table)).collect()
}

#[cfg(test)]
mod tests {
    use crate::analysis::{Analysis, Options, analyse};
    use assay_data::code::OUTPUT_DIFFERS;
    use assay_data::samples::WHOLE_SUITE;
    use assay_data::{Metric, Observation, Outcome, Samples, Subject, Unit};

    /// Analyzes two sides with these rows in 12 blocks; `of` returns the outcome and the number of
    /// each run.
    fn analysed(rows: &[&str], of: impl Fn(&str, &str, u32) -> (Outcome, f64)) -> Analysis {
        let elements = Metric { undirected: true, ..Metric::lower("elements", Unit::One) };
        let mut samples = Samples::new(vec![Metric::wall(), elements]);
        for name in ["old", "new"] {
            for row in rows {
                let (side, row_index) = (samples.side_named(name), samples.row_named(row));
                let own = format!("{name}: {row}");
                let subject =
                    samples.add(Subject { side, row: row_index, name: own, ..Subject::default() });
                for block in 0..12 {
                    let (outcome, number) = of(name, row, block);
                    let values = vec![1.0 + f64::from(block * 7 % 5) / 1e3, number];
                    let block = Some(block);
                    samples.push(Observation {
                        subject,
                        block,
                        values,
                        outcome,
                        ..Observation::default()
                    });
                }
            }
        }
        analyse(&samples, &Options::default()).expect("two sides")
    }

    fn told(found: &Analysis) -> Vec<&str> {
        let differs = found.findings.iter().filter(|finding| finding.is(OUTPUT_DIFFERS));
        differs.map(|finding| finding.message.as_str()).collect()
    }

    #[test]
    fn a_test_with_another_result_is_told_and_a_flaky_one_is_not() {
        let found = analysed(&[WHOLE_SUITE, "adds", "parses", "waits"], |side, row, block| {
            let fails = match row {
                "parses" => side == "new",
                "waits" => side == "new" && block % 3 == 0,
                _ => false,
            };
            (if fails { Outcome::Exit(1) } else { Outcome::Ok }, f64::NAN)
        });
        assert_eq!(told(&found), ["1 test fails in every run of new and in none of old: parses"]);
        assert!(found.side_has_different_output(1) && !found.side_has_different_output(0));
    }

    #[test]
    fn a_number_of_elements_is_told_if_each_side_always_has_the_same_one() {
        let found = analysed(&["copy", "find", "sort"], |side, row, block| {
            let number = match (row, side) {
                ("find", "new") => 1199.0,
                ("sort", _) => f64::from(block) + if side == "new" { 9.0 } else { 0.0 },
                _ => 1200.0,
            };
            (Outcome::Ok, number)
        });
        assert_eq!(told(&found), ["new reports other elements: find: 1199 instead of 1200"]);
    }
}
