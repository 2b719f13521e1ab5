//! The terminal report on the profile of a test suite: the share of samples of each test with its
//! garbage collection and largest functions, the time outside of tests, and the functions of all
//! tests together. Nothing is computed here.

use crate::grid::{Cells, GAP, draw_columns, width_of};
use crate::layout::Screen;
use crate::layout::{Page, Tone};
use crate::names::clean;
use crate::profile::ProfileReport;
use crate::profile::screen::{collection, ends, headline, percent, rates, sureness, table};
use crate::remarks::{List, Remarks};
use crate::words::counted;
use assay_analysis::Interval;
use assay_profiles::marked::{Attributed, Mark, Owned, TEST};

/// Maximum number of functions shown per test.
pub(crate) const FUNCTIONS: usize = 3;
/// Maximum number of rows for parts outside of tests.
const MOST_OTHERS: usize = 6;
/// Minimum useful width of the column of names.
const NARROWEST: usize = 24;
/// Indentation of a test's details.
const INDENT: &str = "  ";

/// The report on the samples of a suite.
#[derive(Clone, Copy, Debug)]
pub struct SampledSuite<'a> {
    /// The framework, as named by its runs.
    pub framework: &'a str,
    /// Number of tests run.
    pub ran: usize,
    /// Number of failed tests.
    pub failed: usize,
    /// The profile of all samples, in which each stack is below the name of the test or part that
    /// it belongs to.
    pub whole: &'a ProfileReport<'a>,
    /// The samples attributed to tests.
    pub found: &'a Attributed,
    /// Maximum number of tests listed, or 0 for all.
    pub tests: usize,
}

/// Returns the display name of a test, or of a part of the run outside of tests.
pub fn title(mark: Option<&Mark>) -> String {
    let Some(Mark { kind, name }) = mark else { return "(start, loading, end)".to_owned() };
    match (kind.as_str(), name.as_str()) {
        (TEST, name) => name.to_owned(),
        ("run", _) => "(between tests)".to_owned(),
        ("collect", _) => "(collecting tests)".to_owned(),
        ("suite_setup", _) => "(before the suite)".to_owned(),
        ("suite_teardown", _) => "(after the suite)".to_owned(),
        ("group", name) => format!("(around the tests of {name})"),
        ("group_setup", name) => format!("(before {name})"),
        ("group_teardown", name) => format!("(after {name})"),
        ("fixture", name) => format!("(fixture {name})"),
        ("fixture_teardown", name) => format!("(end of fixture {name})"),
        (kind, name) => format!("({kind} {name})"),
    }
}

/// Renders the report for the terminal. Every line ends with a newline.
pub fn render(suite: &SampledSuite<'_>, remarks: Remarks, screen: &Screen) -> String {
    let mut page = Page::new(screen);
    let head = format!("{}: {}", suite.framework, counted(suite.ran, "test"));
    let sure = format!("   ({})", sureness(suite.whole.shares));
    page.paragraph(2, &[(Tone::Strong, head), (Tone::Quiet, sure)]);
    if suite.failed > 0 {
        let failed = format!("  {} failed", counted(suite.failed, "test"));
        page.paragraph(4, &[(Tone::Bad, failed)]);
    }
    page.paragraph(2, &[(Tone::Plain, headline(suite.whole))]);
    page.paragraph(2, &[(Tone::Plain, rates(suite.whole))]);
    if suite.found.tests().any(|test| test.collection.is_some()) {
        page.paragraph(2, &[(Tone::Plain, collection(suite.whole.shares))]);
    } else if suite.found.tests().any(|test| test.timed_collection.is_some()) {
        let told =
            "garbage collection: this sampler does not see it; what stands with tests is timed";
        page.paragraph(2, &[(Tone::Plain, told.to_owned())]);
    }
    page.gap();
    let listed = tests(&mut page, suite);
    page.gap();
    others(&mut page, suite, &listed);
    page.gap();
    page.paragraph(2, &[(Tone::Quiet, "functions of all tests together".to_owned())]);
    let mut functions = suite.found.functions.clone();
    // A framework has dozens of functions that only call others.
    functions.functions.retain(|own| own.flat > 0.0);
    table(&mut page, &ProfileReport { shares: &functions, ..*suite.whole });
    List::of(remarks, &page, suite.whole.findings.iter()).draw_apart(&mut page);
    page.finish()
}

/// Returns the share of a test's time that was spent in the garbage collector. It is sampled or, if
/// the sampler cannot see the collector, timed by the hooks.
pub(crate) fn collected(test: &Owned) -> Option<(f64, Option<Interval>)> {
    test.collection.or(test.timed_collection)
}

/// Returns the functions with the largest shares, such as `String#% 20.1 %, Array#new 11.9 %`. The
/// garbage collector is left out, since it has its own column.
fn functions(test: &Owned) -> String {
    let own = test.shares.functions.iter().filter(|own| !own.function.collector && own.flat > 0.0);
    let own = own.take(FUNCTIONS);
    let told = own.map(|own| format!("{} {}", clean(own.function.bare()), percent(own.flat)));
    told.collect::<Vec<_>>().join(", ")
}

/// Returns a column for the shares and one for their intervals.
fn shares(heading: &str, all: &[Option<(f64, Option<Interval>)>], page: &Page) -> [Cells; 2] {
    let own = |cell: &dyn Fn(f64, Option<Interval>) -> String| -> Vec<String> {
        // Every test takes two lines.
        let two = all.iter().map(|own| [own.map(|(share, i)| cell(share, i)), None]);
        two.flatten().map(|text| page.spelled(&text.unwrap_or_default())).collect()
    };
    [
        Cells::right(heading, own(&|share, _| percent(share)), Tone::Strong),
        Cells::left("", own(&|_, i| i.map_or_else(String::new, ends)), Tone::Quiet, 1),
    ]
}

/// Draws the table of tests and returns the tests listed.
fn tests<'a>(page: &mut Page, suite: &SampledSuite<'a>) -> Vec<&'a Owned> {
    let all = suite.found.tests().count();
    let most = if suite.tests == 0 { all } else { suite.tests.min(all) };
    let rows: Vec<&Owned> = suite.found.tests().take(most).collect();
    if rows.is_empty() {
        page.paragraph(2, &[(Tone::Quiet, "no sample hit a test".to_owned())]);
        return rows;
    }
    let of_all: Vec<_> = rows.iter().map(|test| Some((test.share, test.interval))).collect();
    let of_gc: Vec<_> = rows.iter().map(|test| collected(test)).collect();
    let [all_share, all_ends] = shares("of all", &of_all, page);
    let [gc_share, gc_ends] = shares("its GC", &of_gc, page);
    let mut numbers = vec![(true, all_share), (false, all_ends)];
    if of_gc.iter().any(Option::is_some) {
        numbers.extend([(true, gc_share), (false, gc_ends)]);
    }
    let wide = |numbers: &[(bool, Cells)]| {
        numbers.iter().map(|(_, cells)| cells.gap + cells.width()).sum::<usize>() + GAP
    };
    // If there is not enough space, drop intervals from the right.
    while wide(&numbers) + NARROWEST > page.table_width() {
        let Some(at) = numbers.iter().rposition(|(stays, _)| !stays) else { break };
        numbers.remove(at);
    }
    let room = page.table_width().saturating_sub(wide(&numbers)).max(NARROWEST);
    let names: Vec<String> =
        rows.iter().map(|test| page.spelled(&title(test.mark.as_ref()))).collect();
    let names = page.fitted(&names, room);
    let cells = names.into_iter().zip(&rows).flat_map(|(name, test)| {
        let own = page.shortened(&page.spelled(&functions(test)), room - INDENT.len());
        [(Tone::Plain, name), (Tone::Quiet, format!("{INDENT}{own}"))]
    });
    let cells = cells.collect();
    let mut columns: Vec<Cells> = numbers.into_iter().map(|(_, cells)| cells).collect();
    columns[0].gap = 0;
    columns.push(Cells::toned("test, and what it does itself most", cells, GAP));
    draw_columns(page, &columns, 2 * rows.len());
    rows
}

/// Draws the shares of the listed tests together, of the other tests, and of the parts outside of
/// tests.
fn others(page: &mut Page, suite: &SampledSuite<'_>, listed: &[&Owned]) {
    let spelled = |text: String, page: &Page| page.spelled(&text);
    let mut rows: Vec<(f64, Option<Interval>, String)> = Vec::new();
    let sum = |all: &mut dyn Iterator<Item = &Owned>| all.map(|own| own.share).sum::<f64>();
    let tests = suite.found.tests().count();
    rows.push((
        sum(&mut listed.iter().copied()),
        None,
        format!("{} above", counted(listed.len(), "test")),
    ));
    if tests > listed.len() {
        let left = counted(tests - listed.len(), "more test");
        rows.push((
            sum(&mut suite.found.tests().skip(listed.len())),
            None,
            format!("{left}: -n 0 shows all"),
        ));
    }
    let outside = suite.found.others().count();
    let most = if outside > MOST_OTHERS { MOST_OTHERS - 1 } else { outside };
    for own in suite.found.others().take(most) {
        rows.push((own.share, own.interval, title(own.mark.as_ref())));
    }
    if outside > most {
        let told = format!("{} outside of tests: --json has all", outside - most);
        rows.push((sum(&mut suite.found.others().skip(most)), None, told));
    }
    rows.push((rows.iter().map(|row| row.0).sum(), None, "all".to_owned()));
    let shares = rows.iter().map(|row| spelled(percent(row.0), page)).collect();
    let intervals: Vec<String> =
        rows.iter().map(|row| spelled(row.1.map_or_else(String::new, ends), page)).collect();
    let names: Vec<String> = rows.iter().map(|row| page.spelled(&row.2)).collect();
    let mut columns = vec![Cells::right("of all", shares, Tone::Strong).with_gap(0)];
    if intervals.iter().any(|cell| !cell.is_empty()) {
        columns.push(Cells::left("", intervals, Tone::Quiet, 1));
    }
    let room = page.table_width().saturating_sub(width_of(&columns) + GAP).max(NARROWEST);
    columns.push(Cells::left(
        "in tests and outside of them",
        page.fitted(&names, room),
        Tone::Plain,
        GAP,
    ));
    draw_columns(page, &columns, rows.len());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_the_hooks_has_words() {
        let named = |kind: &str, name: &str| {
            title(Some(&Mark { kind: kind.to_owned(), name: name.to_owned() }))
        };
        assert_eq!(named(TEST, "A: x"), "A: x");
        assert_eq!(title(None), "(start, loading, end)");
        let kinds = ["group", "group_setup", "group_teardown", "fixture", "fixture_teardown"];
        for kind in kinds {
            let told = named(kind, "Users");
            assert!(told.contains("Users") && !told.contains('_'), "{told}");
        }
        for kind in ["run", "collect", "suite_setup", "suite_teardown"] {
            assert!(!named(kind, "").contains(['_', '?']) && named(kind, "").len() > 9, "{kind}");
        }
    }
}
