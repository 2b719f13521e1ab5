//! The page of a test suite for publication, in one self-contained HTML file: its duration, the
//! distribution of time, its tests by file and by time, and a sortable table of all tests. All
//! content is available without scripts. Several sides share the page of suites, which has these
//! parts for each side. Everything from outside is escaped by the templates or when it is drawn.

use super::icicle::{Icicle, named, seconds};
use super::{
    OF_TESTS, OfStatus, failures, headline, how_failed, percent, told_part, waterfall,
    with_interval,
};
use crate::findings::{self, FindingOnPage};
use crate::html::{Material, fact};
use crate::names::clean;
use crate::number::{self, Column};
use crate::shell::shell_line;
use crate::words::counted;
use askama::Template;
use assay_analysis::testing::{PHASES, TestTime, Testing};
use assay_analysis::{Analysis, Interval};
use assay_data::list;
use assay_data::{Finding, Unit};

/// CSS class of columns that are hidden on narrow screens.
const MINOR: &str = "minor";

/// Maximum number of failed tests shown with their messages. The table lists all tests.
const MOST_FAILED: usize = 50;

#[derive(Template)]
#[template(path = "tests.html")]
struct Page {
    title: String,
    tool: String,
    started: String,
    suites: Vec<SuiteOnPage>,
    findings: Vec<FindingOnPage>,
    environment: Vec<(String, String)>,
    measured_by: String,
    made_by: String,
}

/// The part of a page that describes the suite of one side.
pub(crate) struct SuiteOnPage {
    /// Name of the side, or empty if there is only one.
    pub name: String,
    pub claim: String,
    pub sure: String,
    /// Number of failed tests in words, or empty if none failed.
    pub failures: String,
    pub failed: Vec<Failed>,
    pub bar: Vec<Piece>,
    pub part_heads: Vec<String>,
    pub parts: Vec<PartRow>,
    pub notes: Vec<String>,
    pub icicle: String,
    pub data: String,
    pub waterfall: String,
    pub waterfall_told: String,
    /// Causes that were counted but never occurred.
    pub nothing: String,
    pub heads: Vec<Head>,
    pub rows: Vec<Row>,
}

/// The heading of a column.
pub(crate) struct Head {
    pub name: String,
    pub is_number: bool,
    /// CSS class by which the column can be hidden on narrow screens, or empty if it is always
    /// shown.
    pub class: &'static str,
}

pub(crate) struct Failed {
    pub name: String,
    pub how: String,
    pub told: Vec<String>,
}

/// A row of the table of parts: its CSS class and its cells.
pub(crate) struct PartRow {
    pub class: &'static str,
    pub cells: Vec<String>,
}

/// One section of the bar that shows how the total time is divided.
pub(crate) struct Piece {
    pub class: &'static str,
    pub percent: String,
    pub told: String,
}

pub(crate) struct Row {
    pub cells: Vec<String>,
    pub failed: bool,
}

/// Renders the page of one suite.
///
/// # Errors
///
/// Returns an error if the template can't be filled, which would be a bug.
pub(crate) fn render(material: Material<'_>) -> Result<String, askama::Error> {
    let Material { analysis, meta, command, tests, .. } = material;
    let other = analysis.findings.iter().filter(|own| !OF_TESTS.contains(&own.code.as_str()));
    let line = analysis.sides.first().and_then(|side| side.command.clone());
    Page {
        title: clean(&line.unwrap_or_else(|| "Tests".to_owned())),
        tool: meta.tool.clone(),
        started: analysis.started.as_deref().map(crate::html::short_time).unwrap_or_default(),
        suites: suites(analysis, tests),
        findings: findings::by_text(other)
            .iter()
            .map(|(finding, more)| FindingOnPage::new(finding, more))
            .collect(),
        environment: analysis.environment.facts.iter().map(fact).collect(),
        measured_by: shell_line(&meta.argv),
        made_by: shell_line(command),
    }
    .render()
}

/// Returns the suites of all sides.
pub(crate) fn suites(analysis: &Analysis, tests: &[Testing]) -> Vec<SuiteOnPage> {
    tests.iter().map(|found| suite(analysis, found, tests.len() > 1)).collect()
}

fn suite(analysis: &Analysis, found: &Testing, several: bool) -> SuiteOnPage {
    let environment = &analysis.environment;
    let own = environment.text(&format!("test_framework@{}", found.side));
    let framework = own.or_else(|| environment.text("test_framework")).unwrap_or("tests");
    let (claim, interval) = headline(found, framework, &analysis.findings);
    let runs = counted(found.runs, "run");
    let ends = match interval.is_empty() {
        true => String::new(),
        false => {
            let confidence = number::chosen_percent(found.whole.confidence);
            format!("median{interval}, {confidence} confidence, ")
        }
    };
    let icicle = Icicle::of(found);
    let nothing: Vec<String> = {
        let shown = causes(found);
        let none = found.causes.iter().filter(|cause| !shown.contains(cause));
        none.map(|cause| clean(&cause.replace('_', " "))).collect()
    };
    let (heads, rows) = table(found);
    let (bar, part_heads, parts, notes) = parts(found);
    let (waterfall, waterfall_told) = match &found.timeline {
        Some(timeline) => (waterfall::svg(timeline, &found.tests), moments(found, timeline)),
        None => Default::default(),
    };
    SuiteOnPage {
        name: if several { clean(&found.side) } else { String::new() },
        claim: clean(&claim),
        sure: format!("({ends}{runs})"),
        failures: failures(found).unwrap_or_default(),
        failed: failed(&analysis.findings, found),
        bar,
        part_heads,
        parts,
        notes,
        icicle: icicle.svg(),
        data: icicle.data(),
        waterfall,
        waterfall_told,
        heads,
        rows,
        nothing: list::all(&nothing),
    }
}

fn moments(found: &Testing, timeline: &assay_analysis::testing::Timeline) -> String {
    let which = match found.runs {
        1 => "The run".to_owned(),
        n => format!("Run {} of {n}, the one nearest to the median", timeline.run),
    };
    let lanes = match timeline.lanes.len() {
        1 => String::new(),
        n => format!(" {n} lanes ran in parallel."),
    };
    format!(
        "{which}: {}.{lanes} Setup and teardown of a test are lighter than its body; hooks of a group are above it. The line below the bars \
         is the critical path: anything shorter on it would end the run earlier. Tests too short to be seen share one bar, with their number.",
        with_interval(timeline.wall, None).0
    )
}

fn ends_of(column: &Column, interval: Option<Interval>) -> String {
    interval.filter(|i| i.is_bounded()).map_or_else(String::new, |i| {
        format!("{} … {}", column.number(i.lower), column.with_unit(i.upper))
    })
}

fn parts(found: &Testing) -> (Vec<Piece>, Vec<String>, Vec<PartRow>, Vec<String>) {
    let is_told = found.parts.iter().any(|part| part.name == "boot");
    let whole: f64 = found.parts.iter().map(|part| part.seconds).sum();
    let all: Vec<f64> = found.parts.iter().map(|part| part.seconds.abs()).collect();
    let column = Column::new(&Unit::Second, &[&all[..], &[whole]].concat(), &[]);
    let several = found.runs > 1;
    let mut heads = vec![
        "part".to_owned(),
        if several { "mean" } else { "time" }.to_owned(),
        "of all".to_owned(),
    ];
    if several {
        heads.extend(["median".to_owned(), "interval".to_owned()]);
    }
    heads.push(String::new());
    let cells =
        |name: &str, time: f64, share: &str, own: Option<(f64, Option<Interval>)>, what: &str| {
            let mut cells = vec![name.to_owned(), column.with_unit(time), share.to_owned()];
            if several {
                let (median, interval) = own.unwrap_or((f64::NAN, None));
                let widths: Vec<f64> = interval.iter().map(|i| i.half_width()).collect();
                let column = Column::for_row(&Unit::Second, number::ends(&all), &[median], &widths);
                let known = median.is_finite();
                cells.push(if known { column.with_unit(median) } else { String::new() });
                cells.push(ends_of(&column, interval));
            }
            cells.push(what.to_owned());
            cells
        };
    let mut rows: Vec<PartRow> = Vec::new();
    let mut bar = Vec::new();
    for part in &found.parts {
        let (name, what) = told_part(part.name, is_told);
        let own = (part.described.median, part.described.median_interval);
        let cells = cells(name, part.seconds, &percent(part.share), Some(own), what);
        rows.push(PartRow { class: part.name, cells });
        bar.push(Piece {
            class: part.name,
            percent: format!("{:.3}", part.share.max(0.0) * 100.0),
            told: format!("{name}: {} ({})", column.with_unit(part.seconds), percent(part.share)),
        });
    }
    let own = (found.whole.median, found.whole.median_interval);
    rows.push(PartRow { class: "", cells: cells("whole", whole, "100 %", Some(own), "") });
    let shows_no_interval = rows.iter().all(|row| row.cells[4.min(row.cells.len() - 1)].is_empty());
    if several && shows_no_interval {
        // Without enough runs for intervals, their column is removed.
        heads.remove(4);
        rows.iter_mut().for_each(|row| drop(row.cells.remove(4)));
    }
    let mut notes = Vec::new();
    if several {
        notes.push("The means sum to the mean of the whole; medians do not sum.".to_owned());
    }
    if let Some(first) = &found.first {
        let (time, ends) = with_interval(first.seconds, Some(first.interval));
        notes.push(format!("{time}{ends} of it are paid by whichever test runs first."));
    }
    if let Some(workers) = found.workers.filter(|workers| *workers > 1.5) {
        notes.push(format!(
            "{} processes ran tests in parallel, which took {} together; the parts are those of the process that ended last.",
            workers.round(),
            with_interval(found.together, None).0
        ));
    }
    (bar, heads, rows, notes)
}

fn failed(findings: &[Finding], found: &Testing) -> Vec<Failed> {
    let one = |test: &assay_analysis::testing::Failing| {
        let how = how_failed(test, found.runs);
        let own = findings.iter().filter(|finding| finding.subject.as_deref() == Some(&test.name));
        let told = own.filter(|finding| OF_TESTS.contains(&finding.code.as_str())).map(|finding| {
            let quoted = format!("`{}` ", test.name);
            let said = finding.message.strip_prefix(&quoted).unwrap_or(&finding.message);
            let advice = finding.advice.iter().map(|advice| format!("; {advice}"));
            clean(&format!("{said}{}", advice.collect::<String>()))
        });
        Failed { name: named(&test.name), how, told: told.collect() }
    };
    found.failing.iter().take(MOST_FAILED).map(one).collect()
}

/// Returns the names of the causes that occur in at least one test.
fn causes(found: &Testing) -> Vec<&String> {
    let is_any = |cause: &&String| {
        found.tests.iter().any(|test| test.causes.get(*cause).is_some_and(|value| *value != 0.0))
    };
    found.causes.iter().filter(is_any).collect()
}

/// Returns the headings and rows of the table of all tests, slowest first.
fn table(found: &Testing) -> (Vec<Head>, Vec<Row>) {
    let status = OfStatus::of(found);
    let bounded = |test: &TestTime| test.time.median_interval.is_some_and(|i| i.is_bounded());
    let several = found.tests.iter().any(bounded);
    let causes = causes(found);
    let has = |phase: &&&str| {
        let with = |test: &TestTime| test.phases.contains_key(**phase);
        found.tests.iter().any(with)
    };
    let phases: Vec<&&str> = PHASES.iter().filter(has).collect();
    let head = |name: &str, is_number, class| Head { name: name.to_owned(), is_number, class };
    let mut heads = vec![head("test", false, ""), head("time", true, "")];
    if several {
        heads.push(head("interval", true, MINOR));
    }
    heads.push(head("of all", true, MINOR));
    heads.extend(phases.iter().map(|name| match told_part(name, false).0 {
        "tests" => head("body", true, MINOR),
        name => head(name, true, MINOR),
    }));
    let names = causes.iter().map(|cause| clean(&cause.replace('_', " ")));
    heads.extend(names.map(|name| head(&name, true, MINOR)));
    heads.push(head("status", false, ""));
    let medians: Vec<f64> = found.tests.iter().map(|test| test.time.median).collect();
    let table = number::ends(&medians);
    let row = |test: &TestTime| {
        let interval = test.time.median_interval.filter(|interval| interval.is_bounded());
        let widths: Vec<f64> = interval.iter().map(|i| i.half_width()).collect();
        let column = Column::for_row(&Unit::Second, table, &[test.time.median], &widths);
        let mut cells = vec![named(&test.name), column.with_unit(test.time.median)];
        if several {
            cells.push(ends_of(&column, interval));
        }
        cells.push(percent(test.share));
        let known = |value: Option<&f64>, show: &dyn Fn(f64) -> String| {
            value.map_or_else(String::new, |&value| show(value))
        };
        cells.extend(phases.iter().map(|name| known(test.phases.get(**name), &seconds)));
        cells.extend(causes.iter().map(|&cause| {
            let is_time = cause.ends_with("_time");
            let show = |value| if is_time { seconds(value) } else { number::count(value) };
            known(test.causes.get(cause), &show)
        }));
        let failing = status.failing(&test.name);
        cells.push(match failing {
            None => "passed".to_owned(),
            Some(own) if own.always() => "failed".to_owned(),
            Some(own) => {
                let ends = own.interval.map_or_else(String::new, |i| {
                    format!(" [{:.0} … {:.0}]", i.lower * 100.0, i.upper * 100.0)
                });
                let wrong = own.failed + own.retried;
                format!("failed {wrong} of {}: {}{ends}", own.runs, percent(own.share()))
            }
        });
        Row { cells, failed: failing.is_some() }
    };
    (heads, found.tests.iter().map(row).collect())
}
