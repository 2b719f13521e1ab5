//! Examines tests that failed in some of the random orders: determines whether the order is the
//! cause, and then which earlier test.

use super::Suite;
use crate::run_error::RunError;
use assay_analysis::testing::{Failing, Testing};
use assay_data::code;
use assay_data::samples::PLACE;
use assay_data::{Action, Finding, Samples, Severity};
use assay_measure::interrupt;
use assay_suites::polluter::{self, ObservedOrders, OrderDependence};
use assay_suites::run::TestStatus;
use assay_suites::{Orders, RunRequirements};

/// Maximum number of failing tests whose polluter is searched for: one polluter has many victims,
/// and each search takes a dozen runs.
const MOST_SEARCHED: usize = 3;

/// Examines the tests that failed in some runs of a suite in random orders. Calls `telling` with
/// the subject of each search.
///
/// # Errors
/// [`RunError::Interrupted`]. Runs that crash end a search without an answer.
pub(crate) fn search(
    suite: &mut Suite<'_>,
    samples: &Samples,
    found: &Testing,
    telling: &mut dyn FnMut(&str),
) -> Result<Vec<Finding>, RunError> {
    let sometimes = found.failing.iter().filter(|test| !test.always());
    let sometimes: Vec<&Failing> = sometimes.collect();
    let beside = found.workers.is_some_and(|workers| workers > 1.5);
    if suite.framework.orders() != Orders::Any || suite.order.is_none() || beside {
        return Ok(Vec::new());
    }
    let mut told = Vec::new();
    for test in sometimes.into_iter().take(MOST_SEARCHED) {
        telling(&test.name);
        let before = |blocks: &[u32]| {
            blocks.iter().map(|&block| before(samples, block, &test.name)).collect()
        };
        let orders = ObservedOrders {
            failed_behind: before(&test.failed_in),
            passed_behind: before(&test.passed_in),
        };
        let searched = polluter::search(&test.name, &orders, |tests| fails(suite, tests));
        match searched {
            Ok(found) => told.push(finding(suite, &test.name, &found)),
            Err(RunError::Interrupted(why)) => return Err(RunError::Interrupted(why)),
            Err(_) if interrupt::count() > 0 => break,
            Err(error) => {
                let message = format!(
                    "`{}`: the search for what it depends on broke off: {error}",
                    test.name
                );
                told.push(dependent(Severity::Note, message).about(&test.name));
            }
        }
    }
    Ok(told)
}

/// Returns the tests that ran before the test `name` in a block, in order.
fn before(samples: &Samples, block: u32, name: &str) -> Vec<String> {
    let Some(place) = samples.metric_index(PLACE) else { return Vec::new() };
    let in_block = samples.observations().filter(|own| own.block == Some(block));
    let mut all: Vec<(f64, String)> = in_block
        .filter_map(|own| {
            let at = own.values.get(place).copied().filter(|at| at.is_finite())?;
            let subject = &samples.subjects[own.subject];
            Some((at, samples.row_of(subject).name.clone()))
        })
        .collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let names = all.into_iter().map(|(_, name)| name);
    names.take_while(|own| own != name).collect()
}

/// Runs these tests in this order, and returns true if the last one fails.
fn fails(suite: &mut Suite<'_>, tests: &[String]) -> Result<bool, RunError> {
    let side = &suite.sides[0];
    let by_id = tests.iter().map(|name| {
        suite.tests.get(name).and_then(|about| about.id.clone()).unwrap_or_else(|| name.clone())
    });
    let wanted = RunRequirements { only: Some(by_id.collect()), ..RunRequirements::default() };
    let ran = suite.asker.run(suite.framework, side, &wanted, 0)?;
    if ran.is_stopped {
        return Err(RunError::Interrupted("in a run, which is not kept".to_owned()));
    }
    let victim = tests.last().and_then(|name| ran.run.tests.iter().find(|test| test.name == *name));
    victim.map(|test| test.status == TestStatus::Failed).ok_or_else(|| {
        RunError::Failed(format!("`{}` was not run", tests.last().cloned().unwrap_or_default()))
    })
}

fn dependent(severity: Severity, message: String) -> Finding {
    Finding::new(code::ORDER_DEPENDENT, message).at(severity)
}

fn finding(suite: &Suite<'_>, victim: &str, found: &OrderDependence) -> Finding {
    let line = |first: &str| {
        let quoted = |name: &str| shell_words::quote(name).into_owned();
        let command = suite.sides[0].argv.iter().map(|word| quoted(&word.to_string_lossy()));
        let command: Vec<String> = command.collect();
        format!(
            "assay tests --only {} --only {} -- {}",
            quoted(first),
            quoted(victim),
            command.join(" ")
        )
    };
    let dependent = |message: String| dependent(Severity::Warning, message);
    let found = match found {
        OrderDependence::Polluter(first) => {
            dependent(format!("`{victim}` depends on the order: it fails after `{first}`"))
                .advise(Action::run("see it fail", &line(first)))
        }
        OrderDependence::Needed(first) => dependent(format!(
            "`{victim}` depends on the order: it fails by itself, and passes after `{first}`"
        ))
        .advise(Action::run("see it pass", &line(first))),
        OrderDependence::Together(all) => dependent(format!(
            "`{victim}` depends on the order: by itself it behaves differently than after {} others together, and no single one causes this",
            all.len()
        )),
        OrderDependence::NotByOrder => {
            let message = format!(
                "`{victim}` is flaky: it sometimes fails in the same order, so the order is not the cause"
            );
            Finding::new(code::FLAKY, message)
        }
    };
    found.about(victim)
}
