//! Advice on the time of a suite: at most two lines, each with a command, derived from its runs.

use crate::number;
use assay_analysis::testing::Testing;
use assay_data::Unit;

/// Suites shorter than this get no advice, s.
const LONG: f64 = 2.0;
/// A part of this share of the whole is worth a line.
const LARGE: f64 = 1.0 / 3.0;
/// A setting is worth a comparison if what it changes has this share of the whole,
const SET: f64 = 0.15;
/// or, of logs, if each test writes this number of lines.
const TALKATIVE: f64 = 50.0;
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
    /// What is set up for several tests and takes longest of that, and its time in one run, s.
    pub longest_hook: Option<(&'a str, f64)>,
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

/// A setting that may cost much of the time, if one does: what is seen of it, and the toggle.
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
