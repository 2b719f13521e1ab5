//! What became of a project's mutants: the screen of `assay mutate`, and the report that Stryker's viewer opens ([`stryker`]). Nothing is decided
//! or counted here but lines.

pub mod stryker;

use crate::layout::{Page, Tone};
use crate::number;
use crate::terminal::Screen;
use crate::words::counted;
use assay_analysis::mutation::{Score, Scores};
use assay_data::Unit;
use assay_data::mutation::{Fate, MutantResult, Mutation};

/// So many names of tests stand below a survivor.
const MOST_TESTS: usize = 3;

/// The screen, every line ended; at most `most` survivors are shown, 0: all.
pub fn render(mutation: &Mutation, scores: &Scores, most: usize, screen: &Screen) -> String {
    let mut page = Page::new(screen);
    let whole = &scores.whole;
    page.paragraph(2, &[(tone(whole), headline(mutation, whole))]);
    page.paragraph(2, &[(Tone::Quiet, basis(mutation))]);
    if mutation.files.len() > 1 {
        page.gap();
        files(&mut page, mutation, scores);
    }
    survivors(&mut page, mutation, most);
    let others = others(mutation);
    if !others.is_empty() || !mutation.notes.is_empty() || !mutation.flaky.is_empty() {
        page.gap();
    }
    if !others.is_empty() {
        page.paragraph(2, &[(Tone::Quiet, others)]);
    }
    if !mutation.flaky.is_empty() {
        let names = shortened(&mutation.flaky);
        let text = format!(
            "{} failed in some runs without any change, and {} left out: {names}",
            counted(mutation.flaky.len(), "test"),
            if mutation.flaky.len() == 1 { "was" } else { "were" }
        );
        page.paragraph(2, &[(Tone::Unsure, text)]);
    }
    for note in &mutation.notes {
        page.paragraph(2, &[(Tone::Unsure, note.clone())]);
    }
    page.finish()
}

/// What would be changed, a line each, or as diffs; every line ended.
pub fn list(mutation: &Mutation, diffs: bool, screen: &Screen) -> String {
    let mut page = Page::new(screen);
    for own in &mutation.mutants {
        let unit = mutation.units.get(own.unit);
        let path =
            unit.and_then(|unit| mutation.files.get(unit.file)).map_or("", |file| &file.path);
        let name = unit.map_or("", |unit| unit.name.as_str());
        let kept = match (&own.reason, own.fate) {
            (Some(reason), Fate::Kept) => format!(" (accepted: {reason})"),
            _ => String::new(),
        };
        let head = format!("{path}:{} {name}: {}{kept}", own.begin.line, own.what);
        let id = format!("{} ", own.id);
        page.line(&vec![(Tone::Quiet, id), (Tone::Plain, head)]);
        if diffs {
            change(&mut page, own);
        }
    }
    let (functions, files) = (mutation.units.len(), mutation.files.len());
    let total = format!(
        "{} of {} in {}",
        counted(mutation.mutants.len(), "change"),
        counted(functions, "function"),
        counted(files, "file")
    );
    page.line(&vec![(Tone::Strong, total)]);
    page.finish()
}

fn change(page: &mut Page, own: &MutantResult) {
    for line in own.diff.lines() {
        let tone = match line.as_bytes().first() {
            Some(b'-') => Tone::Bad,
            Some(b'+') => Tone::Good,
            _ => Tone::Quiet,
        };
        page.line(&vec![(tone, format!("    {line}"))]);
    }
}

fn tone(score: &Score) -> Tone {
    match score.share {
        Some(share) if share >= 1.0 => Tone::Good,
        _ => Tone::Strong,
    }
}

/// The score as a sentence.
fn headline(mutation: &Mutation, whole: &Score) -> String {
    let changes = counted(whole.counted, "change");
    match (whole.share, whole.interval) {
        (None, _) => "No change of the source was tried: there is nothing that counts".to_owned(),
        (Some(share), Some(own)) if whole.known < whole.counted => {
            let sample = if mutation.is_sample { "a sample of " } else { "" };
            format!(
                "The tests notice {} [{} … {}] of {changes}: {sample}{} tried, {} missed",
                percent(share),
                percent(own.lower),
                percent(own.upper),
                whole.known,
                whole.missed
            )
        }
        (Some(share), _) => {
            format!("The tests notice {} of {changes}: {} missed", percent(share), whole.missed)
        }
    }
}

fn basis(mutation: &Mutation) -> String {
    let second = &Unit::Second;
    let functions = counted(mutation.units.len(), "function");
    let files = counted(mutation.files.len(), "file");
    let tests = counted(mutation.tests.len(), "test");
    let known = match mutation.known_before {
        0 => String::new(),
        n => format!("; {n} were known from before"),
    };
    format!(
        "{functions} in {files}; {} with {tests}, which take {} without a change; {} in all{known}",
        mutation.framework,
        number::rough(mutation.suite_seconds, second),
        number::rough(mutation.seconds, second),
    )
}

/// Whole percents, which are 100 only where nothing is missing.
fn percent(share: f64) -> String {
    let whole = (share * 100.0).round();
    let shown = if share < 1.0 && whole >= 100.0 {
        99.0
    } else if share > 0.0 && whole < 1.0 {
        1.0
    } else {
        whole
    };
    format!("{shown} %")
}

/// A line for each file, the one with most that is missed first.
fn files(page: &mut Page, mutation: &Mutation, scores: &Scores) {
    let mut order: Vec<usize> = (0..mutation.files.len()).collect();
    order.sort_by_key(|file| (std::cmp::Reverse(scores.files[*file].missed), *file));
    let names: Vec<String> = mutation.files.iter().map(|file| file.path.clone()).collect();
    let names = page.fitted(&names, page.width().saturating_sub(34));
    let width = order.iter().map(|file| names[*file].chars().count()).max().unwrap_or_default();
    for file in order {
        let score = &scores.files[file];
        let share = score.share.map_or_else(|| "–".to_owned(), percent);
        let counts = format!("{} of {} noticed", score.detected, score.known);
        let name = &names[file];
        let blanks = width - name.chars().count();
        page.line(&vec![
            (Tone::Plain, format!("  {name}{:blanks$}  ", "")),
            (tone(score), format!("{share:>6}")),
            (Tone::Quiet, format!("  {counts}")),
        ]);
    }
}

fn survivors(page: &mut Page, mutation: &Mutation, most: usize) {
    let all: Vec<&MutantResult> = mutation
        .mutants
        .iter()
        .filter(|own| matches!(own.fate, Fate::Survived | Fate::Uncovered))
        .collect();
    // No test at all is said once a unit.
    let mut shown: Vec<&MutantResult> = Vec::new();
    for own in all {
        let is_said = own.fate == Fate::Uncovered
            && shown.iter().any(|other| other.unit == own.unit && other.fate == Fate::Uncovered);
        if !is_said {
            shown.push(own);
        }
    }
    // What nobody would notice at all comes first.
    shown.sort_by_key(|own| (own.operator != "body", own.fate != Fate::Uncovered));
    let left = if most == 0 { 0 } else { shown.len().saturating_sub(most) };
    for own in shown.iter().take(shown.len() - left) {
        page.gap();
        survivor(page, mutation, own);
    }
    if left > 0 {
        page.gap();
        let more = format!("{}: --survivors 0 shows all", counted(left, "more survivor"));
        page.paragraph(2, &[(Tone::Quiet, more)]);
    }
}

fn survivor(page: &mut Page, mutation: &Mutation, own: &MutantResult) {
    let unit = mutation.units.get(own.unit);
    let path = unit.and_then(|unit| mutation.files.get(unit.file)).map_or("", |file| &file.path);
    let name = unit.map_or("", |unit| unit.name.as_str());
    if own.fate == Fate::Uncovered {
        let text = format!("{path}:{} {name}: no test uses it", unit.map_or(0, |unit| unit.begin));
        page.paragraph(2, &[(Tone::Bad, text)]);
        return;
    }
    let line = own.begin.line;
    let head = format!("{path}:{line} {name}: nobody notices that {}", own.what);
    page.paragraph(2, &[(Tone::Bad, head)]);
    change(page, own);
    let names: Vec<String> = own
        .covered_by
        .iter()
        .flatten()
        .filter_map(|test| Some(mutation.tests.get(*test)?.name.clone()))
        .collect();
    let ran = match (&own.covered_by, names.is_empty()) {
        (None, _) => "all tests ran, and passed".to_owned(),
        (Some(_), true) => "no test ran over it".to_owned(),
        (Some(_), false) => format!("ran over it, and passed: {}", shortened(&names)),
    };
    page.paragraph(4, &[(Tone::Quiet, format!("    {ran}"))]);
}

/// Some names and how many more.
fn shortened(names: &[String]) -> String {
    let shown = names[..names.len().min(MOST_TESTS)].join(", ");
    match names.len().saturating_sub(MOST_TESTS) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// What else became of mutants, in a sentence; empty: nothing.
fn others(mutation: &Mutation) -> String {
    let count = |fate: Fate| mutation.mutants.iter().filter(|own| own.fate == fate).count();
    let mut parts = Vec::new();
    for (fate, words) in [
        (Fate::TimedOut, "were noticed because the tests did not end"),
        (
            Fate::Implied,
            "count as missed untried, since a harsher change of the same code survived",
        ),
        (Fate::Unviable, "could not be run at all, and do not count"),
        (Fate::Kept, "are accepted by comments, and do not count"),
    ] {
        if count(fate) > 0 {
            parts.push(format!("{} {words}", count(fate)));
        }
    }
    parts.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentage_is_100_only_where_nothing_is_missing() {
        assert_eq!(percent(1.0), "100 %");
        assert_eq!(percent(0.999), "99 %");
        assert_eq!(percent(0.001), "1 %");
        assert_eq!(percent(0.0), "0 %");
        assert_eq!(percent(0.746), "75 %");
    }
}
