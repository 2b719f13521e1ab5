//! Runs of a test suite without comparison: the terminal report of `assay tests`, with the slowest
//! tests and their shares, the distribution of time, and the failed tests. Nothing is computed
//! here.

pub mod advice;
mod icicle;
pub mod junit;
pub(crate) mod page;
pub mod sampled;
mod waterfall;

use crate::grid::{Cells, GAP, draw_columns, width_of};
use crate::layout::Screen;
use crate::layout::{Page, Tone};
use crate::medians;
use crate::names::width;
use crate::number::{self, Column};
use crate::remarks::{List, Remarks};
use crate::words::counted;
use assay_analysis::Interval;
use assay_analysis::testing::{Failing, TestTime, Testing};
use assay_data::code;
use assay_data::list;
use assay_data::{Finding, Unit};
use std::collections::HashMap;

/// Maximum width of a test's name, in columns.
const WIDEST_NAME: usize = 60;
/// Minimum width of a test's name, in columns.
const NARROWEST_NAME: usize = 20;
/// Maximum number of failed tests listed.
const MOST_FAILED: usize = 20;

/// Codes of findings that are shown together with the tests they concern.
const OF_TESTS: [&str; 3] = [code::TEST_FAILED.name, code::FLAKY.name, code::ORDER_DEPENDENT.name];

/// The contents of the report apart from the results of the suite.
#[derive(Clone, Copy, Debug)]
pub struct ScreenContent<'a> {
    /// The framework, as named by its runs.
    pub framework: &'a str,
    /// Maximum number of tests listed, or 0 for all.
    pub tests: usize,
    /// The order in which the tests ran, in words, such as `in random orders of seed 7`.
    pub order: &'a str,
    /// Explanations of failed tests and of tests that depend on others, each with the name of the
    /// test.
    pub said: &'a [(String, String)],
    /// The findings.
    pub findings: &'a [Finding],
    /// How many remarks follow.
    pub remarks: Remarks,
    /// The information on which the advice is based.
    pub asked: advice::AdviceInput<'a>,
}

/// Renders the report for the terminal. Every line ends with a newline. O(tests log tests).
pub fn render(found: &Testing, shown: &ScreenContent<'_>, screen: &Screen) -> String {
    let mut page = Page::new(screen);
    head(&mut page, found, shown);
    page.gap();
    if !found.tests.is_empty() {
        slowest(&mut page, found, shown);
    }
    untimed(&mut page, found, shown);
    page.gap();
    parts(&mut page, found);
    let advice = match shown.remarks {
        Remarks::Few => Vec::new(),
        _ => advice::lines(found, &shown.asked),
    };
    for line in advice {
        page.paragraph(2, &[(Tone::Unsure, "try: ".to_owned()), (Tone::Plain, line)]);
    }
    failed(&mut page, found, shown);
    page.gap();
    let mut list = List::new(shown.remarks);
    let other = shown.findings.iter().filter(|finding| !OF_TESTS.contains(&finding.code.as_str()));
    other.for_each(|finding| list.finding(&page, finding, ""));
    list.draw(&mut page);
    page.finish()
}

/// The failing tests by name.
struct OfStatus<'a>(HashMap<&'a str, &'a Failing>);

impl<'a> OfStatus<'a> {
    fn of(found: &'a Testing) -> Self {
        Self(found.failing.iter().map(|test| (test.name.as_str(), test)).collect())
    }

    fn failing(&self, name: &str) -> Option<&'a Failing> {
        self.0.get(name).copied()
    }
}

/// Returns `pytest 8.3.2: 312 tests in 2.134 s, all passed`, and the interval of that time with the
/// condition under which it holds.
fn headline(found: &Testing, framework: &str, findings: &[Finding]) -> (String, String) {
    let (time, interval) = with_interval(found.whole.median, found.whole.median_interval);
    let condition = medians::condition(found.whole.assumes_independence());
    let passed = if has_passed(found, findings) { ", all passed" } else { "" };
    let head = format!("{framework}: {} in {time}{passed}", counted(found.count(), "test"));
    (head, interval + condition)
}

fn head(page: &mut Page, found: &Testing, shown: &ScreenContent<'_>) {
    let (head, interval) = headline(found, shown.framework, shown.findings);
    let runs = match found.runs {
        1 => "1 run; --runs 20 finds flaky tests".to_owned(),
        n => format!("{n} runs{}", shown.order),
    };
    page.paragraph(2, &[(Tone::Strong, head), (Tone::Quiet, format!("{interval}   ({runs})"))]);
    if let Some(line) = failures(found) {
        page.paragraph(4, &[(Tone::Bad, format!("  {line}"))]);
    }
}

/// Returns true if every test passed in every run and the suite itself succeeded. Tests without a
/// reported time do not count as passed, since they may have been skipped.
fn has_passed(found: &Testing, findings: &[Finding]) -> bool {
    let has_failed = findings.iter().any(|finding| finding.is(code::SUITE_STATUS));
    found.count() > 0 && found.failing.is_empty() && found.untimed.is_empty() && !has_failed
}

/// Returns the number of failed tests as a phrase, or `None` if all tests passed.
fn failures(found: &Testing) -> Option<String> {
    let always = found.failing.iter().filter(|test| test.always()).count();
    let retried = found.failing.iter().filter(|test| test.failed == 0).count();
    let sometimes = found.failing.len() - always - retried;
    let again = match retried {
        0 => String::new(),
        n => format!("{} flaky: failed at first, passed when tried again", counted(n, "test")),
    };
    let failed = match (always, sometimes) {
        (0, 0) => String::new(),
        (n, 0) if found.runs == 1 => format!("{} failed", counted(n, "test")),
        (n, 0) => format!("{} failed in every run", counted(n, "test")),
        (0, n) => format!("{} failed in some runs", counted(n, "test")),
        (n, some) => format!("{} failed in every run, {some} in some", counted(n, "test")),
    };
    let all: Vec<String> = [failed, again].into_iter().filter(|own| !own.is_empty()).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

/// Returns a median, and its interval in brackets.
fn with_interval(median: f64, interval: Option<Interval>) -> (String, String) {
    let interval = interval.filter(|interval| interval.is_bounded());
    let widths: Vec<f64> = interval.iter().map(|i| i.half_width()).collect();
    let column = Column::new(&Unit::Second, &[median], &widths);
    let ends = interval.map_or_else(String::new, |i| {
        format!(" [{} … {}]", column.number(i.lower), column.number(i.upper))
    });
    (column.with_unit(median), ends)
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

fn slowest(page: &mut Page, found: &Testing, shown: &ScreenContent<'_>) {
    let most = if shown.tests == 0 { found.tests.len() } else { shown.tests };
    let rows = &found.tests[..most.min(found.tests.len())];
    let names: Vec<String> = rows.iter().map(|test| page.spelled(&test.name)).collect();
    let widest = names.iter().map(|name| width(name)).max().unwrap_or(0);
    // Columns that do not fit are dropped, first the causes and then the intervals.
    let mut numbers = columns(page, found, rows);
    let room = loop {
        let own: usize = numbers.iter().map(|column| column.gap + column.width()).sum();
        let room = page.table_width().saturating_sub(own).min(WIDEST_NAME);
        if room >= NARROWEST_NAME.min(widest) || numbers.len() <= 1 {
            break room;
        }
        numbers.pop();
    };
    let heading = if rows.len() == found.tests.len() { "tests" } else { "slowest tests" };
    let mut columns = vec![Cells::left(heading, page.fitted(&names, room), Tone::Plain, 0)];
    columns.extend(numbers);
    while width_of(&columns) > page.table_width() && columns.len() > 2 {
        columns.pop();
    }
    draw_columns(page, &columns, rows.len());
    let left = found.tests.len() - rows.len();
    if left > 0 {
        let share: f64 = rows.iter().map(|test| test.share).sum();
        let more = format!(
            "these {} take {} of the total; {}: -n 0 shows all",
            counted(rows.len(), "test"),
            percent(share),
            counted(left, "more test")
        );
        page.paragraph(2, &[(Tone::Quiet, more)]);
    }
}

/// Lists the tests without a reported time, below the other tests.
fn untimed(page: &mut Page, found: &Testing, shown: &ScreenContent<'_>) {
    let Some(first) = found.untimed.first() else { return };
    let count = found.untimed.len();
    let line = if found.tests.is_empty() {
        "the report contains no times of tests, only their outcomes".to_owned()
    } else {
        let named = list::counted(&[format!("`{first}`")], count);
        format!("without a time in the report: {named}")
    };
    page.paragraph(2, &[(Tone::Quiet, line)]);
    if found.tests.is_empty() {
        let most = if shown.tests == 0 { count } else { shown.tests.min(count) };
        for name in &found.untimed[..most] {
            page.paragraph(4, &[(Tone::Plain, format!("  {name}"))]);
        }
        if most < count {
            let more = format!("{}: -n 0 shows all", counted(count - most, "more test"));
            page.paragraph(2, &[(Tone::Quiet, more)]);
        }
    }
}

fn columns(page: &Page, found: &Testing, rows: &[TestTime]) -> Vec<Cells> {
    let table = number::ends(&rows.iter().map(|test| test.time.median).collect::<Vec<_>>());
    let (mut times, mut ends, mut shares, mut of_shares) = (vec![], vec![], vec![], vec![]);
    for test in rows {
        let interval = test.time.median_interval.filter(|interval| interval.is_bounded());
        let widths: Vec<f64> = interval.iter().map(|i| i.half_width()).collect();
        let column = Column::for_row(&Unit::Second, table, &[test.time.median], &widths);
        times.push(page.spelled(&column.with_unit(test.time.median)));
        ends.push(interval.map_or_else(String::new, |i| {
            page.spelled(&format!("[{} … {}]", column.number(i.lower), column.number(i.upper)))
        }));
        shares.push(percent(test.share));
        of_shares.push(
            test.share_interval.filter(|i| i.is_bounded()).map_or_else(String::new, |i| {
                page.spelled(&format!("[{:.1} … {:.1}]", i.lower * 100.0, i.upper * 100.0))
            }),
        );
    }
    let has = |cells: &[String]| cells.iter().any(|cell| !cell.is_empty());
    let mut columns = vec![Cells::right("time", times, Tone::Strong)];
    if has(&ends) {
        columns.push(Cells::left("", ends, Tone::Quiet, 1));
    }
    columns.push(Cells::right("of all", shares, Tone::Plain));
    if has(&of_shares) {
        columns.push(Cells::left("", of_shares, Tone::Quiet, 1));
    }
    for cause in &found.causes {
        let is_time = cause.ends_with("_time");
        let cell = |test: &TestTime| match test.causes.get(cause) {
            Some(&value) if is_time => number::rough(value, &Unit::Second),
            Some(&value) => number::count(value),
            None => String::new(),
        };
        let cells: Vec<String> = rows.iter().map(|test| page.spelled(&cell(test))).collect();
        // Leave out a cause that has no values in any test.
        let is_any =
            rows.iter().any(|test| test.causes.get(cause).is_some_and(|value| *value != 0.0));
        if is_any {
            columns.push(Cells::right(&cause.replace('_', " "), cells, Tone::Plain).with_gap(GAP));
        }
    }
    columns
}

/// Returns the display name of a part of the time, with a description.
fn told_part(part: &str, is_told: bool) -> (&'static str, &'static str) {
    match part {
        "boot" => ("start", "interpreters and compilers, until the framework runs"),
        "loading" => ("loading", "loading and collecting the test files"),
        "hooks" => ("group hooks", "setup and teardown of a suite, a file or a group"),
        "setup" => ("setup", "before each test"),
        "body" if is_told => ("bodies", "of tests"),
        "body" => ("tests", ""),
        "teardown" => ("teardown", "after each test"),
        "gc" => ("garbage collector", "during tests"),
        "framework" => {
            ("framework", "the framework's own work: reports, plugins, choosing the next test")
        }
        "ending" => ("end", "after the last test"),
        _ if is_told => ("unaccounted", "everything else"),
        _ => ("outside tests", "start, loading and everything else: not divided in the report"),
    }
}

fn parts(page: &mut Page, found: &Testing) {
    let is_told = found.parts.iter().any(|part| part.name == "boot");
    let all: Vec<f64> = found.parts.iter().map(|part| part.seconds.abs()).collect();
    let whole: f64 = found.parts.iter().map(|part| part.seconds).sum();
    let column = Column::new(&Unit::Second, &[&all[..], &[whole]].concat(), &[]);
    let named: Vec<_> = found.parts.iter().map(|part| told_part(part.name, is_told)).collect();
    let mut names: Vec<String> = named.iter().map(|(name, _)| (*name).to_owned()).collect();
    let mut times: Vec<String> =
        found.parts.iter().map(|part| column.with_unit(part.seconds)).collect();
    let mut shares: Vec<String> = found.parts.iter().map(|part| percent(part.share)).collect();
    let mut what: Vec<String> = named.iter().map(|(_, what)| (*what).to_owned()).collect();
    if let Some(first) = &found.first {
        // Included in the parts above, so it is shown apart from the sum.
        let (time, ends) = with_interval(first.seconds, Some(first.interval));
        let line = format!("{ends} included above: whichever test runs first takes longer");
        names.push("first test".to_owned());
        times.push(time);
        shares.push(String::new());
        what.push(line.trim_start().to_owned());
    }
    names.push("whole".to_owned());
    times.push(column.with_unit(whole));
    shares.push("100 %".to_owned());
    what.push(if found.runs > 1 { "on average".to_owned() } else { String::new() });
    let rows = names.len();
    let spelled = |page: &Page, cells: Vec<String>| -> Vec<String> {
        cells.iter().map(|cell| page.spelled(cell)).collect()
    };
    let mut columns = vec![
        Cells::left("where the time goes", names, Tone::Plain, 0),
        Cells::right("", spelled(page, times), Tone::Strong),
        Cells::right("", shares, Tone::Plain),
        Cells::left("", spelled(page, what), Tone::Quiet, GAP),
    ];
    while width_of(&columns) > page.table_width() && columns.len() > 2 {
        columns.pop();
    }
    draw_columns(page, &columns, rows);
    if let Some(workers) = found.workers.filter(|workers| *workers > 1.5) {
        let (together, _) = with_interval(found.together, None);
        let line = format!(
            "{} processes ran tests in parallel, {together} in total; the parts are those of the one that ended last",
            workers.round()
        );
        page.paragraph(2, &[(Tone::Quiet, line)]);
    }
}

fn failed(page: &mut Page, found: &Testing, shown: &ScreenContent<'_>) {
    if found.failing.is_empty() {
        return;
    }
    page.gap();
    for test in found.failing.iter().take(MOST_FAILED) {
        let how = how_failed(test, found.runs);
        page.paragraph(4, &[(Tone::Bad, format!("{how}: ")), (Tone::Strong, test.name.clone())]);
        for (_, said) in shown.said.iter().filter(|(name, _)| *name == test.name) {
            for line in said.lines() {
                page.paragraph(6, &[(Tone::Quiet, format!("    {line}"))]);
            }
        }
        let is_own = |finding: &&Finding| {
            finding.subject.as_deref() == Some(&test.name)
                && !finding.is(assay_data::code::TEST_FAILED)
        };
        for finding in shown.findings.iter().filter(is_own) {
            let quoted = format!("`{}` ", test.name);
            let said = finding.message.strip_prefix(&quoted).unwrap_or(&finding.message);
            page.paragraph(4, &[(Tone::Unsure, format!("    it {said}"))]);
            for advice in &finding.advice {
                page.paragraph(6, &[(Tone::Plain, format!("    {advice}"))]);
            }
        }
    }
    let left = found.failing.len().saturating_sub(MOST_FAILED);
    if left > 0 {
        let more = format!("and {}: --json has all", counted(left, "more failed test"));
        page.paragraph(2, &[(Tone::Quiet, more)]);
    }
}

/// Describes how a test failed.
fn how_failed(test: &Failing, runs: usize) -> String {
    match (runs, test.always()) {
        (1, true) => "failed".to_owned(),
        (1, false) => "failed at first, and passed when tried again".to_owned(),
        (_, true) => format!("failed in all {} runs", test.runs),
        (_, false) => at_times(test),
    }
}

/// Returns `failed in 3 of 20 runs, 15 % [5 … 36]; 19 green runs in a row would show that it is
/// fixed`.
fn at_times(test: &Failing) -> String {
    let share = percent(test.share());
    let ends = test.interval.map_or_else(String::new, |i| {
        format!(" [{:.0} … {:.0}]", i.lower * 100.0, i.upper * 100.0)
    });
    let green = test.green_runs.map_or_else(String::new, |runs| {
        format!("; {} in a row would show that it is fixed", counted(runs as usize, "green run"))
    });
    let again = match test.retried {
        0 => String::new(),
        n if n == test.failed + test.retried => ", and passed when tried again".to_owned(),
        n => format!(", and passed in {n} of them when tried again"),
    };
    let wrong = test.failed + test.retried;
    format!("failed in {wrong} of {} runs{again}, {share}{ends}{green}", test.runs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fails_at_times_says_how_often_and_what_would_tell() {
        let test = Failing {
            name: "x".to_owned(),
            failed: 3,
            retried: 0,
            runs: 20,
            interval: Some(Interval { lower: 0.05, upper: 0.36 }),
            green_runs: Some(19),
            failed_in: Vec::new(),
            passed_in: Vec::new(),
        };
        assert_eq!(
            at_times(&test),
            "failed in 3 of 20 runs, 15.0 % [5 … 36]; 19 green runs in a row would show that it is fixed"
        );
    }
}
