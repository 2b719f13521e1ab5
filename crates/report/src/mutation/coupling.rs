//! The section of `assay mutate --coupling`, which reports whether code is well tested or tangled:
//! a sentence, a table of the functions that need attention, and advice.

use super::percent;
use crate::layout::{Page, Tone};
use crate::words::counted;
use assay_analysis::coupling::{Coupling, Couplings, Mean, Quadrant};
use assay_data::list;
use assay_data::mutation::Mutation;

/// Maximum number of rows in the table.
const MOST_ROWS: usize = 12;
/// Maximum number of sentences of advice.
const MOST_SENTENCES: usize = 4;
/// Maximum number of test files named in a sentence.
const MOST_FILES: usize = 3;

/// A function or file that needs attention.
struct Part<'a> {
    name: String,
    own: &'a Coupling,
}

/// Adds the section to the page.
pub(super) fn section(page: &mut Page, mutation: &Mutation, all: &Couplings) {
    page.gap();
    page.paragraph(2, &[(Tone::Strong, headline(all))]);
    page.paragraph(2, &[(Tone::Quiet, basis(&all.whole))]);
    let rows = attention(mutation, all);
    if !rows.is_empty() {
        page.gap();
        table(page, &rows);
    }
    for sentence in sentences(mutation, all) {
        page.gap();
        page.paragraph(2, &[(Tone::Plain, sentence)]);
    }
}

/// Returns the functions that need attention, most urgent first.
fn attention<'a>(mutation: &Mutation, all: &'a Couplings) -> Vec<Part<'a>> {
    let units = mutation.units.iter().zip(&all.units).map(|(unit, own)| Part {
        name: format!("{} {}", path(mutation, unit.file), unit.name),
        own,
    });
    let mut rows: Vec<Part<'_>> = units.filter(|part| needs(part.own)).collect();
    rows.sort_by_key(|part| (part.own.quadrant, std::cmp::Reverse(part.own.score.counted)));
    rows
}

/// Returns advice on the files that need attention or, if no file as a whole does, on the
/// functions.
pub(super) fn sentences(mutation: &Mutation, all: &Couplings) -> Vec<String> {
    let files = all.files.iter().enumerate();
    let mut wholes: Vec<Part<'_>> = files
        .map(|(file, own)| Part { name: path(mutation, file).to_owned(), own })
        .filter(|part| needs(part.own))
        .collect();
    if wholes.is_empty() {
        wholes = attention(mutation, all);
    }
    wholes.sort_by_key(|part| part.own.quadrant);
    wholes.iter().take(MOST_SENTENCES).map(|part| sentence(mutation, part)).collect()
}

/// Returns the table cells for a function: the share of changes detected, the share of failing
/// tests that are its own, the number of failing test files, the number of failing rewrites, and
/// its category.
pub(super) fn cells(own: &Coupling) -> [String; 5] {
    let share = |own: Option<f64>| own.map_or_else(|| "–".to_owned(), percent);
    let rewrites = match own.rewrites {
        0 => "–".to_owned(),
        all => format!("{} of {all}", own.failing),
    };
    let word = match (own.quadrant, own.is_clear) {
        (None, _) => "–".to_owned(),
        (Some(own), true) => own.word().to_owned(),
        (Some(own), false) => format!("probably {}", own.word()),
    };
    [
        share(own.score.share),
        share(own.focus.map(|own| own.mean)),
        own.radius.map_or_else(|| "–".to_owned(), |own| format!("{:.1}", own.mean)),
        rewrites,
        word,
    ]
}

fn path(mutation: &Mutation, file: usize) -> &str {
    mutation.files.get(file).map_or("", |own| own.path.as_str())
}

fn needs(own: &Coupling) -> bool {
    own.quadrant.is_some_and(|own| own != Quadrant::WellTested)
}

/// Returns a sentence with the number of functions in each category.
pub(super) fn headline(all: &Couplings) -> String {
    let count =
        |quadrant: Quadrant| all.units.iter().filter(|own| own.quadrant == Some(quadrant)).count();
    let best_first = Quadrant::ALL.into_iter().rev();
    let parts: Vec<String> = best_first
        .filter(|own| count(*own) > 0)
        .map(|own| format!("{} {}", count(own), own.word()))
        .collect();
    let unknown = all.units.iter().filter(|own| own.quadrant.is_none()).count();
    let of = counted(all.units.len(), "function");
    match (parts.is_empty(), unknown) {
        (true, _) => format!("Well tested or tangled: too little is known of {of}"),
        (false, 0) => format!("Well tested or tangled: of {of} {}", parts.join(", ")),
        (false, unknown) => format!(
            "Well tested or tangled: of {of} {}; too little is known of {unknown}",
            parts.join(", ")
        ),
    }
}

/// Returns a clause that states what the result is based on: the numbers of detected changes and of
/// rewrites.
pub(super) fn basis(whole: &Coupling) -> String {
    format!(
        "{} for which all tests ran, and {} with the same meaning, {} of which fail a test",
        counted(whole.complete, "noticed change"),
        counted(whole.rewrites, "rewrite"),
        if whole.failing == 0 { "none".to_owned() } else { whole.failing.to_string() }
    )
}

fn table(page: &mut Page, rows: &[Part<'_>]) {
    let names: Vec<String> = rows.iter().take(MOST_ROWS).map(|part| part.name.clone()).collect();
    let names = page.fitted(&names, page.width().saturating_sub(58));
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or_default().max(8);
    let head = format!(
        "  {:width$}  {:>7}  {:>9}  {:>10}  {:>8}",
        "function", "noticed", "own tests", "test files", "rewrites"
    );
    page.line(&vec![(Tone::Quiet, head)]);
    for (part, name) in rows.iter().zip(&names) {
        let [noticed, focus, radius, rewrites, word] = cells(part.own);
        let blanks = width - name.chars().count();
        page.line(&vec![
            (Tone::Plain, format!("  {name}{:blanks$}", "")),
            (Tone::Plain, format!("  {noticed:>7}  {focus:>9}  {radius:>10}  {rewrites:>8}  ")),
            (Tone::Bad, word),
        ]);
    }
    if rows.len() > MOST_ROWS {
        let more = format!("  {} more: --json has all", rows.len() - MOST_ROWS);
        page.line(&vec![(Tone::Quiet, more)]);
    }
}

/// Returns a sentence that states the problem of a part and the remedy.
fn sentence(mutation: &Mutation, part: &Part<'_>) -> String {
    let (name, own) = (&part.name, part.own);
    let probably = if own.is_clear { "" } else { "probably " };
    let share = percent(own.score.share.unwrap_or_default());
    match own.quadrant {
        Some(Quadrant::Untested) => format!(
            "{name} is {probably}untested: {share} of its changes are noticed. Begin with the survivors above"
        ),
        Some(Quadrant::Tangled) => {
            let radius = own.radius.map_or(0.0, |own| own.mean);
            let focus = own.focus.map_or_else(String::new, |own| in_words(&own));
            let files: Vec<String> = own.foreign.iter().map(|(file, _)| file.clone()).collect();
            let most = files[..files.len().min(MOST_FILES)].join(", ");
            format!(
                "{name} is {probably}tangled: {radius:.1} test files fail for each change of it, and {focus} of the tests that fail are its own. Those of others: {most}. \
                 Test it by itself, with its dependencies passed in, and let those tests only check that it is used"
            )
        }
        Some(Quadrant::Brittle) => {
            let names: Vec<String> = own
                .brittle_tests
                .iter()
                .filter_map(|test| Some(mutation.tests.get(*test)?.name.clone()))
                .collect();
            let tests = match names.is_empty() {
                true => "No test is named: the whole run fails".to_owned(),
                false => format!("They fail: {}", list::first(&names, MOST_FILES)),
            };
            format!(
                "{name} is {probably}brittle: {} of {} fail a test, though they mean the same. {tests}. Have them check the result, and not how it is computed",
                own.failing,
                counted(own.rewrites, "rewrite")
            )
        }
        Some(Quadrant::WellTested) | None => String::new(),
    }
}

/// Formats a mean share, with its interval unless the interval has zero width.
fn in_words(own: &Mean) -> String {
    match own.interval {
        Some(interval) if interval.upper > interval.lower => {
            format!(
                "{} [{} … {}]",
                percent(own.mean),
                percent(interval.lower),
                percent(interval.upper)
            )
        }
        _ => percent(own.mean),
    }
}
