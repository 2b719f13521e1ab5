//! The page of mutation testing: the score, undetected changes with advice, and sortable tables of
//! files and functions, in one self-contained HTML file. All content is available without scripts.
//! The template escapes all text, including code.

use super::advice::{self, Piece};
use super::survivor::Survivor;
use super::survivors;
use super::{basis, coupling, doubts, headline, others, percent};
use crate::charts::capital;
use crate::charts::quadrant;
use crate::html::{Plot, short_time};
use crate::names::clean;
use crate::shell::shell_line;
use crate::words::counted;
use askama::Template;
use assay_analysis::mutation::{Score, Scores};
use assay_data::mutation::{Fate, Mutation};
use std::cmp::Reverse;
use std::collections::HashMap;

/// Maximum number of survivors shown with their changes. The limit is due to the time that a
/// browser takes to draw them.
const MOST_SHOWN: usize = 400;
/// Maximum number of tests named per survivor. Further tests are only counted.
const MOST_TESTS: usize = 50;

/// The data from which the page is rendered.
#[derive(Clone, Copy, Debug)]
pub struct Material<'a> {
    /// The results of the mutants.
    pub mutation: &'a Mutation,
    /// The mutation scores.
    pub scores: &'a Scores,
    /// Name and version of the program that writes the page.
    pub tool: &'a str,
    /// The command line, starting with the name of the program.
    pub command: &'a [String],
    /// Start time, such as `2026-11-25T20:15:00Z`.
    pub started: &'a str,
}

#[derive(Template)]
#[template(path = "mutation.html")]
struct OnPage {
    title: String,
    tool: String,
    started: String,
    claim: String,
    is_good: bool,
    bar: Vec<Part>,
    basis: String,
    notes: Vec<String>,
    survivors: Vec<SurvivorOnPage>,
    left_out: String,
    coupling: Option<CouplingOnPage>,
    plots: Vec<Plot>,
    tables: Vec<Table>,
    flaky: Vec<String>,
    made_by: String,
    is_sample: bool,
}

/// The section of the page that reports whether code is well tested or tangled.
struct CouplingOnPage {
    claim: String,
    basis: String,
    sentences: Vec<String>,
}

/// A segment of the bar that shows the score.
struct Part {
    class: &'static str,
    count: usize,
    told: String,
}

struct SurvivorOnPage {
    id: String,
    name: String,
    place: String,
    is_whole: bool,
    said: String,
    lines: Vec<Line>,
    /// The pieces of the advice, each with a flag that is true for code.
    advice: Vec<(String, bool)>,
    ran: String,
    tests: Vec<String>,
}

/// A line of the diff of a change.
struct Line {
    class: &'static str,
    number: String,
    sign: String,
    text: String,
}

/// A sortable table. Each heading has a flag that is true for numeric columns.
struct Table {
    title: &'static str,
    told: &'static str,
    /// CSS class for the contents of the cells, which are counts or words.
    class: &'static str,
    heads: Vec<(&'static str, bool)>,
    rows: Vec<Row>,
}

struct Row {
    name: String,
    /// Anchor of the survivor to which the row links, or empty if there is no link.
    aim: String,
    cells: Vec<String>,
}

/// Renders the page.
///
/// # Errors
///
/// Returns an error if the template can't be filled, which would be a bug.
pub fn page(material: Material<'_>) -> Result<String, askama::Error> {
    let Material { mutation, scores, .. } = material;
    let all = survivors::of(mutation);
    let shown = &all[..all.len().min(MOST_SHOWN)];
    let left_out = match all.len() - shown.len() {
        0 => String::new(),
        more => format!("{} not shown.", counted(more, "more is")),
    };
    let notes =
        [others(mutation), doubts(mutation)].into_iter().chain(mutation.notes.iter().cloned());
    OnPage {
        title: "Changes that no test notices".to_owned(),
        tool: material.tool.to_owned(),
        started: short_time(material.started),
        claim: headline(mutation, &scores.whole),
        is_good: scores.whole.missed == 0 && scores.whole.detected > 0,
        bar: bar(mutation, &scores.whole),
        basis: basis(mutation),
        notes: notes.filter(|note| !note.is_empty()).map(|note| clean(&note)).collect(),
        survivors: shown.iter().map(on_page).collect(),
        left_out,
        coupling: scores.couplings.as_ref().map(|all| CouplingOnPage {
            claim: coupling::headline(all),
            basis: coupling::basis(&all.whole),
            sentences: coupling::sentences(mutation, all).iter().map(|own| clean(own)).collect(),
        }),
        plots: scores
            .couplings
            .iter()
            .filter_map(|all| quadrant::chart(mutation, all))
            .map(|chart| Plot::of(&chart, chart.name.to_owned()))
            .collect(),
        tables: tables(mutation, scores, shown),
        flaky: mutation.flaky.iter().map(|name| clean(name)).collect(),
        made_by: shell_line(material.command),
        is_sample: scores.whole.known < scores.whole.counted,
    }
    .render()
}

fn bar(mutation: &Mutation, whole: &Score) -> Vec<Part> {
    let unused = mutation.mutants.iter().filter(|own| own.fate == Fate::Uncovered).count();
    [
        ("noticed", whole.detected, "noticed"),
        ("missed", whole.missed.saturating_sub(unused), "run by tests, and not noticed"),
        ("unused", unused, "of functions that no test uses"),
        ("untried", whole.counted - whole.known, "not tried"),
    ]
    .into_iter()
    .filter(|(_, count, _)| *count > 0)
    .map(|(class, count, words)| Part { class, count, told: format!("{count} {words}") })
    .collect()
}

/// Returns the anchor of a survivor on the page.
fn id(own: &Survivor<'_>) -> String {
    let own = own.own.id.chars().filter(char::is_ascii_alphanumeric);
    format!("change-{}", own.collect::<String>())
}

fn on_page(own: &Survivor<'_>) -> SurvivorOnPage {
    let tests = own.tests().filter(|_| own.shows_change()).unwrap_or_default();
    let named = tests.len().min(MOST_TESTS);
    let ran = match (tests.len(), named) {
        (0, _) => capital(&own.ran(0)),
        (1, _) => "A test ran over it, and passed".to_owned(),
        (all, named) if named < all => {
            format!("{all} tests ran over it, and passed: {named} of them")
        }
        (all, _) => format!("{all} tests ran over it, and passed"),
    };
    let others = match own.weight {
        0 | 1 => String::new(),
        2 => "; another change counts as missed with it".to_owned(),
        all => format!("; {} other changes count as missed with it", all - 1),
    };
    let piece = |piece: Piece| match piece {
        Piece::Words(words) => (words.to_owned(), false),
        Piece::Code(code) => (code, true),
    };
    let mut advice: Vec<(String, bool)> = advice::of(own).into_iter().map(piece).collect();
    if let Some((first, false)) = advice.first_mut() {
        *first = capital(first);
    }
    SurvivorOnPage {
        id: id(own),
        name: clean(&own.unit.name),
        place: clean(&own.place()),
        is_whole: own.is_whole(),
        said: capital(&clean(&own.said())) + &others,
        lines: if own.shows_change() { lines(own) } else { Vec::new() },
        advice,
        ran,
        tests: tests.iter().take(named).map(|name| clean(name)).collect(),
    }
}

/// Returns the lines of a change. Original lines have their line numbers in the file, and
/// replacement lines have none.
fn lines(own: &Survivor<'_>) -> Vec<Line> {
    let diff = &own.own.diff;
    let before = diff.lines().take_while(|line| line.starts_with(' ')).count();
    let mut next = (own.own.begin.line as usize).saturating_sub(before);
    let one = |line: &str| {
        let (sign, text) = line.split_at(line.chars().next().map_or(0, char::len_utf8));
        let (class, number) = match sign {
            "+" => ("new", String::new()),
            _ => {
                let number = next.to_string();
                next += 1;
                (if sign == "-" { "gone" } else { "" }, number)
            }
        };
        let text = clean(&text.replace('\t', "    "));
        Line { class, number, sign: sign.to_owned(), text }
    };
    diff.lines().map(one).collect()
}

fn tables(mutation: &Mutation, scores: &Scores, shown: &[Survivor<'_>]) -> Vec<Table> {
    const HEADS: [(&str, bool); 4] =
        [("score", true), ("noticed", true), ("missed", true), ("of all", true)];
    let mut tables = Vec::new();
    let cells = |score: &Score| {
        vec![
            score.share.map_or_else(|| "–".to_owned(), percent),
            score.detected.to_string(),
            score.missed.to_string(),
            score.counted.to_string(),
        ]
    };
    let heads = |first: &'static str| [&[(first, false)], &HEADS[..]].concat();
    let mut files: Vec<_> = mutation.files.iter().zip(&scores.files).collect();
    files.sort_by_key(|(_, score)| Reverse(score.missed));
    let row = |(file, score): &(&assay_data::mutation::MutatedFile, &Score)| Row {
        name: clean(&file.path),
        aim: String::new(),
        cells: [cells(score), vec![clean(&file.language)]].concat(),
    };
    if !files.is_empty() {
        let rows = files.iter().map(row).collect();
        let heads = [&heads("file")[..], &[("language", false)]].concat();
        tables.push(Table { title: "Files", told: "", class: "counts", heads, rows });
    }
    let mut aims: HashMap<usize, String> = HashMap::new();
    for own in shown {
        aims.entry(own.own.unit).or_insert_with(|| id(own));
    }
    let mut units: Vec<_> = mutation.units.iter().zip(&scores.units).enumerate().collect();
    units.sort_by_key(|(_, (_, score))| Reverse(score.missed));
    let rows = units.into_iter().map(|(index, (unit, score))| {
        let path = mutation.files.get(unit.file).map_or("", |file| &file.path);
        let mut cells = cells(score);
        cells.push(clean(&format!("{path}:{}", unit.begin)));
        Row { name: clean(&unit.name), aim: aims.get(&index).cloned().unwrap_or_default(), cells }
    });
    let rows: Vec<Row> = rows.collect();
    if !rows.is_empty() {
        let heads = [&heads("function")[..], &[("place", false)]].concat();
        let told = "Each name links to its first change that no test notices.";
        tables.push(Table { title: "Functions", told, class: "counts", heads, rows });
    }
    if let Some(all) = &scores.couplings {
        let rows = mutation.units.iter().zip(&all.units).map(|(unit, own)| Row {
            name: clean(&unit.name),
            aim: String::new(),
            cells: coupling::cells(own).to_vec(),
        });
        let heads = vec![
            ("function", false),
            ("noticed", true),
            ("own tests", true),
            ("test files", true),
            ("failing rewrites", false),
            ("verdict", false),
        ];
        let told = "Own tests: share of the failing tests that belong to the code. Test files: number that fail with a change. Rewrites keep the meaning, so no test should fail.";
        let title = "Well tested or tangled, by function";
        tables.push(Table { title, told, class: "counts", heads, rows: rows.collect() });
    }
    let kept: Vec<Row> = mutation
        .mutants
        .iter()
        .filter(|own| own.fate == Fate::Kept)
        .filter_map(|own| Survivor::of(mutation, own))
        .map(|own| Row {
            name: clean(&format!("{} {}", own.place(), own.unit.name)),
            aim: String::new(),
            cells: vec![clean(&own.own.what), clean(own.own.reason.as_deref().unwrap_or_default())],
        })
        .collect();
    if !kept.is_empty() {
        let heads = vec![("place", false), ("change", false), ("reason", false)];
        let told = "A comment accepts that no test notices these.";
        tables.push(Table { title: "Accepted", told, class: "words", heads, rows: kept });
    }
    tables
}
