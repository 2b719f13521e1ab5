//! Results of mutation testing: the terminal output of `assay mutate`, and in the submodules the
//! page, the review comment ([`markdown`]), code scanning ([`sarif`]) and the report format of
//! Stryker's viewer ([`stryker`]). All of them show the same survivors and the same advice on
//! assertions that would detect them. Nothing is decided here.

mod advice;
mod coupling;
mod markdown;
mod page;
mod sarif;
pub mod stryker;
mod survivor;
mod survivors;

pub use advice::known;
pub use markdown::markdown;
pub use page::{Material, page};
pub use sarif::sarif;

use crate::layout::Screen;
use crate::layout::{Page, Tone};
use crate::names::clean;
use crate::number;
use crate::words::counted;
use assay_analysis::mutation::{Score, Scores};
use assay_data::Unit;
use assay_data::list;
use assay_data::mutation::{Fate, MutantResult, Mutation};
use std::collections::BTreeMap;
use survivor::Survivor;

/// Maximum number of test names below a survivor.
const MOST_TESTS: usize = 3;
/// Maximum number of reasons listed for code that is not built.
const MOST_REASONS: usize = 3;

/// Renders the results for the terminal. Every line ends with a newline. At most `most` survivors
/// are shown, or all if it is 0.
pub fn render(mutation: &Mutation, scores: &Scores, most: usize, screen: &Screen) -> String {
    let mut page = Page::new(screen);
    let whole = &scores.whole;
    page.paragraph(2, &[(tone(whole), headline(mutation, whole))]);
    if !mutation.mutants.is_empty() {
        page.paragraph(2, &[(Tone::Quiet, basis(mutation))]);
    }
    if mutation.files.len() > 1 {
        page.gap();
        files(&mut page, mutation, scores);
    }
    survivors(&mut page, mutation, most);
    if let Some(all) = &scores.couplings {
        coupling::section(&mut page, mutation, all);
    }
    let others = others(mutation);
    let doubts = doubts(mutation);
    if !doubts.is_empty() {
        page.gap();
        page.paragraph(2, &[(Tone::Quiet, doubts)]);
    }
    if !others.is_empty() || !mutation.notes.is_empty() || !mutation.flaky.is_empty() {
        page.gap();
    }
    if !others.is_empty() {
        page.paragraph(2, &[(Tone::Quiet, others)]);
    }
    if !mutation.flaky.is_empty() {
        let names = list::first(&mutation.flaky, MOST_TESTS);
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

/// Lists the planned changes, either one per line or as diffs. Every line ends with a newline.
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
        let id = format!("{} ", clean(&own.id));
        page.line(&vec![(Tone::Quiet, id), (Tone::Plain, page.spelled(&head))]);
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
        // Leading whitespace is significant, and `spelled` removes control characters.
        let line = page.spelled(&format!("    {}", line.replace('\t', "    ")));
        page.line(&vec![(tone, line)]);
    }
}

fn tone(score: &Score) -> Tone {
    match score.share {
        Some(share) if share >= 1.0 => Tone::Good,
        _ => Tone::Strong,
    }
}

/// Returns the score as a sentence.
fn headline(mutation: &Mutation, whole: &Score) -> String {
    let changes = counted(whole.counted, "change");
    let changes = match &mutation.since {
        Some(revision) => format!("{changes} in lines that differ from {}", clean(revision)),
        None => changes,
    };
    match (whole.share, whole.interval) {
        (None, _) if mutation.mutants.is_empty() => match &mutation.since {
            Some(revision) => {
                format!(
                    "No function has lines that differ from {revision}: there is nothing to try"
                )
            }
            None => "There is nothing to try".to_owned(),
        },
        (None, _) => "No change counts, so there is no score".to_owned(),
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
    let take = if mutation.tests.len() == 1 { "takes" } else { "take" };
    let known = match mutation.known_before {
        0 => String::new(),
        n => format!("; {n} results are from earlier runs"),
    };
    format!(
        "{functions} in {files}; {} with {tests}, which {take} {} without a change; {} in all{known}",
        clean(&mutation.framework),
        number::rough(mutation.suite_seconds, second),
        number::rough(mutation.seconds, second),
    )
}

/// Formats a share as a whole percentage. 100 % and 0 % are shown only if they are exact.
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

/// Draws a line for each file, starting with the one that has the most missed changes.
fn files(page: &mut Page, mutation: &Mutation, scores: &Scores) {
    let mut order: Vec<usize> = (0..mutation.files.len()).collect();
    order.sort_by_key(|file| (std::cmp::Reverse(scores.files[*file].missed), *file));
    let names: Vec<String> = mutation.files.iter().map(|file| file.path.clone()).collect();
    let names = page.fitted(&names, page.width().saturating_sub(34));
    let width = order.iter().map(|file| names[*file].chars().count()).max().unwrap_or_default();
    for file in order.into_iter().filter(|file| scores.files[*file].counted > 0) {
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
    let all = survivors::of(mutation);
    let shown = if most == 0 { all.len() } else { all.len().min(most) };
    for own in &all[..shown] {
        page.gap();
        survivor(page, own);
    }
    if shown < all.len() {
        page.gap();
        let more =
            format!("{}: --survivors 0 shows all", counted(all.len() - shown, "more survivor"));
        page.paragraph(2, &[(Tone::Quiet, more)]);
    }
}

fn survivor(page: &mut Page, own: &Survivor<'_>) {
    let head = format!("{} {}: {}", own.place(), own.unit.name, own.said());
    page.paragraph(2, &[(Tone::Bad, head)]);
    if own.shows_change() {
        change(page, own.own);
        page.paragraph(6, &[(Tone::Quiet, format!("    {}", own.ran(MOST_TESTS)))]);
    }
    if let Some(doubt) = &own.own.doubt {
        page.paragraph(6, &[(Tone::Unsure, format!("    it may be equivalent: {doubt}"))]);
    }
    let advice = advice::plain(&advice::of(own));
    page.paragraph(6, &[(Tone::Plain, format!("    to notice it: {advice}"))]);
}

/// Returns a sentence about survivors that may be equivalent to the original code, which no test
/// could detect. It is empty if there are no such survivors.
fn doubts(mutation: &Mutation) -> String {
    let survivors = mutation.mutants.iter().filter(|own| own.fate == Fate::Survived);
    let (all, doubtful) = survivors
        .fold((0, 0), |(all, own), next| (all + 1, own + usize::from(next.doubt.is_some())));
    match (all, doubtful) {
        (0, _) => String::new(),
        (_, 0) => format!(
            "{}: some may be equivalent to the original, but none is known to be",
            counted(all, "survivor")
        ),
        _ => format!(
            "{doubtful} of {} may be equivalent to the original code, so that no test can notice them: they are shown last",
            counted(all, "survivor")
        ),
    }
}

/// Returns a sentence about mutants with other results, such as timeouts or accepted survivors. It
/// is empty if there are none.
fn others(mutation: &Mutation) -> String {
    let count = |fate: Fate| mutation.mutants.iter().filter(|own| own.fate == fate).count();
    let mut parts = Vec::new();
    for (fate, one, several) in [
        (
            Fate::TimedOut,
            "was noticed because the tests did not end",
            "were noticed because the tests did not end",
        ),
        (
            Fate::Implied,
            "counts as missed untried: it is the same program as another change, which survived",
            "count as missed untried: each is the same program as another change, which survived",
        ),
        (
            Fate::Equivalent,
            "survives because it compiles to the same program, and does not count",
            "survive because they compile to the same program, and do not count",
        ),
        (
            Fate::Unviable,
            "could not be run at all, and does not count",
            "could not be run at all, and do not count",
        ),
        (
            Fate::Kept,
            "is accepted by a comment, and does not count",
            "are accepted by comments, and do not count",
        ),
    ] {
        match count(fate) {
            0 => {}
            1 => parts.push(format!("1 {one}")),
            many => parts.push(format!("{many} {several}")),
        }
    }
    if let Some(left_out) = absent(mutation) {
        parts.push(left_out);
    }
    parts.join("; ")
}

/// Returns a sentence about changes in code that is not built here, or `None` if there are no such
/// changes.
fn absent(mutation: &Mutation) -> Option<String> {
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for own in mutation.mutants.iter().filter(|own| own.fate == Fate::Absent) {
        *reasons.entry(own.reason.as_deref().unwrap_or_default()).or_default() += 1;
    }
    let count: usize = reasons.values().sum();
    let mut reasons: Vec<(&str, usize)> = reasons.into_iter().collect();
    reasons.sort_by_key(|(why, count)| (std::cmp::Reverse(*count), *why));
    let names: Vec<&str> = reasons.iter().map(|(why, _)| *why).collect();
    let names = list::first(&names, MOST_REASONS);
    match count {
        0 => None,
        1 => Some(format!("1 is in code that is not built here, and does not count: {names}")),
        many => {
            Some(format!("{many} are in code that is not built here, and do not count: {names}"))
        }
    }
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
