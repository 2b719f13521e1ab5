//! Advice on the time of a suite: at most two lines, each with a command, derived from its runs.

use crate::number;
use assay_analysis::testing::Testing;
use assay_data::Unit;

/// Suites shorter than this get no advice, s.
const LONG: f64 = 2.0;
/// A part of this share of the whole is worth a line.
const LARGE: f64 = 1.0 / 3.0;
/// With less processor time than this share of the whole, tests wait more than they compute.
const BUSY: f64 = 0.5;
/// Most lines.
const MOST: usize = 2;

/// Input for the advice.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The framework, as its runs named it.
    pub framework: &'a str,
    /// The command of the suite; empty: not known.
    pub command: &'a str,
    /// Number of processors.
    pub processors: usize,
}

/// The lines.
pub(super) fn lines(found: &Testing, asked: &Asked<'_>) -> Vec<String> {
    let whole = found.whole.median;
    if whole < LONG || found.count() < 2 || asked.command.is_empty() {
        return Vec::new();
    }
    let framework = asked.framework.split([' ', ':']).next().unwrap_or_default();
    let command = asked.command;
    let is_hooked = matches!(framework, "pytest" | "unittest" | "rspec" | "minitest" | "test-unit");
    let share = |name: &str| {
        found.parts.iter().find(|part| part.name == name).map_or(0.0, |part| part.share)
    };
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    let mut all = Vec::new();
    let slowest = found.tests.first().filter(|test| test.share >= LARGE);
    if let Some(test) = slowest {
        let name = test.name.replace('\'', "'\\''");
        all.push(match is_hooked {
            true => format!(
                "one test takes {} of it: `assay tests --profile --only '{name}' -- {command}` shows which functions",
                percent(test.share)
            ),
            false => format!("one test takes {} of it: `{}`", percent(test.share), test.name),
        });
    }
    let busy = found.cpu.map(|cpu| cpu / whole);
    let waits = busy.is_some_and(|busy| busy < BUSY);
    let within = share("body") + share("setup") + share("teardown");
    if waits && within >= LARGE && is_hooked && found.causes.is_empty() {
        let cpu = number::rough(found.cpu.unwrap_or_default(), &Unit::Second);
        all.push(format!(
            "it waits more than it computes ({cpu} of processor time): `assay tests --causes -- {command}` counts sleeps, SQL, HTTP and programs"
        ));
    }
    let runs_alone = found.workers.is_none_or(|workers| workers < 1.5);
    if runs_alone && within >= BUSY && slowest.is_none() && asked.processors > 1 {
        let beside = match framework {
            "pytest" if !command.contains(" -n") => {
                Some(format!("`{command} -n auto` (pytest-xdist)"))
            }
            "rspec" => Some("`parallel_rspec` (parallel_tests)".to_owned()),
            "mocha" if !command.contains("--parallel") => Some(format!("`{command} --parallel`")),
            "ctest" if !command.contains(" -j") => {
                Some(format!("`{command} -j {}`", asked.processors))
            }
            _ => None,
        };
        all.extend(beside.map(|beside| {
            format!(
                "one process runs all tests, and there are {} processors: {beside}",
                asked.processors
            )
        }));
        if matches!(framework, "pytest" | "rspec") {
            all.push(format!(
                "on several machines: `assay tests --shard 1/4 -- {command}` runs one part of four"
            ));
        }
    }
    let hooks = share("hooks");
    if hooks >= LARGE {
        all.push(format!(
            "what is set up for groups takes {}: `assay tests --report suite.html -- {command}` shows which",
            percent(hooks)
        ));
    }
    all.truncate(MOST);
    all
}
