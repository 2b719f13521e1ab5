//! Advice on reducing the duration of a suite, derived from its runs. It has at most two lines,
//! each with a command.

use crate::number;
use assay_analysis::testing::Testing;
use assay_data::Unit;

/// Minimum duration of a suite that gets advice, in seconds.
const LONG: f64 = 2.0;
/// Minimum share of the total time for which a part gets a line of advice.
const LARGE: f64 = 1.0 / 3.0;
/// Minimum share of the total time that the garbage collector must take for its setting to be worth
/// comparing.
const SET: f64 = 0.15;
/// Minimum mean number of log lines per test for the advice to compare a log setting.
const TALKATIVE: f64 = 50.0;
/// Minimum share of the total time at which processor time, the tests or loading dominate. If
/// processor time is below it, tests wait more than they compute.
const BUSY: f64 = 0.5;
/// Maximum number of lines of advice.
const MOST: usize = 2;

/// The information on which the advice is based.
#[derive(Clone, Copy, Debug)]
pub struct AdviceInput<'a> {
    /// The framework, as named in its runs.
    pub framework: &'a str,
    /// The command that runs the suite, or empty if it is unknown.
    pub command: &'a str,
    /// Number of processors.
    pub processors: usize,
    /// The hook or fixture with the longest total time among those that several tests share, and
    /// that time per run in seconds.
    pub longest_hook: Option<(&'a str, f64)>,
}

/// Returns the lines of advice.
pub(super) fn lines(found: &Testing, asked: &AdviceInput<'_>) -> Vec<String> {
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
        let name = crate::shell::quoted([&test.name]);
        all.push(match is_hooked {
            true => format!(
                "one test takes {} of it: `assay tests --profile --only {name} -- {command}` shows which functions",
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
    if let Some((hook, seconds)) = asked.longest_hook.filter(|(_, own)| own / whole >= LARGE) {
        all.push(format!(
            "{hook} takes {} of it: `assay tests --profile -- {command}` shows which functions",
            percent(seconds / whole)
        ));
    }
    all.extend(settings(found, framework, &share).map(|(what, toggle)| {
        format!("{what}: `assay tests --toggle {toggle} -- {command}` measures what that costs")
    }));
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
    if hooks >= LARGE && asked.longest_hook.is_none_or(|(_, own)| own / whole < LARGE) {
        all.push(format!(
            "what is set up for groups takes {}: `assay tests --report suite.html -- {command}` shows which",
            percent(hooks)
        ));
    }
    all.truncate(MOST);
    all
}

/// Returns an observation, and the setting (toggle) that may account for much of the time, or
/// `None` if there is no such setting.
fn settings(
    found: &Testing,
    framework: &str,
    share: &dyn Fn(&str) -> f64,
) -> Option<(String, &'static str)> {
    let is_python = matches!(framework, "pytest" | "unittest");
    if !is_python && !matches!(framework, "rspec" | "minitest" | "test-unit") {
        return None;
    }
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    let sum =
        |cause: &str| found.tests.iter().filter_map(|test| test.causes.get(cause)).sum::<f64>();
    let (gc, sql) = (share("gc"), sum("sql_time") / found.whole.median);
    let loading = share("boot") + share("loading");
    if gc >= SET {
        let toggle = if is_python { "python-gc=freeze" } else { "gc=generational" };
        return Some((format!("the garbage collector takes {}", percent(gc)), toggle));
    }
    if sql >= LARGE {
        let what = format!("SQL takes {}; if that is PostgreSQL", percent(sql));
        return Some((what, "pg.fsync=off --with postgres"));
    }
    if sum("log_lines") >= TALKATIVE * found.count() as f64 {
        return Some((
            format!("tests write {:.0} lines of logs", sum("log_lines")),
            "log-level=off",
        ));
    }
    (loading >= BUSY).then(|| (format!("loading takes {}", percent(loading)), "warm=on"))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]

    use super::*;
    use assay_analysis::describe::Description;
    use assay_analysis::testing::{PartTime, TestTime};
    use std::collections::BTreeMap;

    /// Returns a suite of ten seconds with these parts, in seconds, and two tests with these
    /// causes.
    fn suite(parts: &[(&'static str, f64)], causes: &[(&str, f64)]) -> Testing {
        let of = |seconds: f64| Description::of(&[seconds], 0.95).unwrap();
        let parts = parts.iter().map(|&(name, seconds)| PartTime {
            name,
            seconds,
            share: seconds / 10.0,
            described: of(seconds),
        });
        let test = |name: &str| TestTime {
            name: name.to_owned(),
            group: Vec::new(),
            time: of(1.0),
            phases: BTreeMap::new(),
            share: 0.1,
            share_interval: None,
            causes: causes.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect(),
        };
        Testing {
            side: "suite".to_owned(),
            runs: 1,
            whole: of(10.0),
            tests: vec![test("a"), test("b")],
            untimed: Vec::new(),
            parts: parts.collect(),
            together: 2.0,
            cpu: Some(10.0),
            workers: None,
            first: None,
            failing: Vec::new(),
            causes: Vec::new(),
            timeline: None,
        }
    }

    fn asked<'a>(framework: &'a str, longest_hook: Option<(&'a str, f64)>) -> AdviceInput<'a> {
        AdviceInput { framework, command: "run it", processors: 1, longest_hook }
    }

    #[test]
    fn what_costs_much_is_compared_by_a_toggle_of_its_language() {
        for (framework, part, causes, toggle) in [
            ("rspec 3.12", ("gc", 2.0), &[][..], Some("gc=generational")),
            ("pytest 8.3", ("gc", 2.0), &[], Some("python-gc=freeze")),
            ("pytest 8.3", ("gc", 1.0), &[], None),
            ("node:test 22", ("gc", 5.0), &[], None),
            ("minitest 5", ("loading", 6.0), &[], Some("warm=on")),
            ("rspec 3.12", ("gc", 0.0), &[("sql_time", 2.0)], Some("pg.fsync=off --with postgres")),
            ("rspec 3.12", ("gc", 0.0), &[("log_lines", 80.0)], Some("log-level=off")),
        ] {
            let found = lines(&suite(&[part], causes), &asked(framework, None));
            let expected = toggle.map(|own| format!("`assay tests --toggle {own} -- run it`"));
            match expected {
                Some(own) => assert!(found.len() == 1 && found[0].contains(&own), "{found:?}"),
                None => assert!(found.is_empty(), "{found:?}"),
            }
        }
    }

    #[test]
    fn the_hook_that_takes_a_third_is_named_and_there_are_two_lines_at_most() {
        let parts = [("hooks", 4.0), ("gc", 2.0), ("loading", 5.0)];
        let hook = Some(("fixture base of a.py", 3.5));
        let found = lines(&suite(&parts, &[]), &asked("pytest 8.3", hook));
        assert!(found.len() == 2 && found[0].starts_with("fixture base of a.py takes 35 % of it"));
        let many = lines(&suite(&parts[..1], &[]), &asked("pytest 8.3", Some(("x", 1.0))));
        assert!(many.len() == 1 && many[0].starts_with("what is set up for groups takes 40 %"));
    }
}
