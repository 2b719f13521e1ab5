//! A finding in each form: on the screen, on a page, in Markdown. One place for all verbs, so that they speak alike. Which findings are
//! shown is the caller's choice; nothing is decided here, and options come with the advice.

use crate::layout::{Page, Tone};
use crate::markdown::escaped;
use crate::names::clean;
use assay_data::{Finding, Severity};

/// What to do about it, in one line: `give it more time with --time 3s, or take more runs with --runs 6`. `None` when there is nothing
/// to do.
pub fn hint(finding: &Finding) -> Option<String> {
    let told: Vec<String> = finding.advice.iter().map(ToString::to_string).collect();
    match told.as_slice() {
        [] => None,
        [only] => Some(only.clone()),
        [one, other] => Some(format!("{one}, or {other}")),
        [first @ .., last] => Some(format!("{}, or {last}", first.join(", "))),
    }
}

/// A finding in one line without its hint, as said while something runs: `warning: the machine was busy`.
pub fn line(finding: &Finding) -> String {
    let kind = if finding.severity == Severity::Note { "note" } else { "warning" };
    format!("{kind}: {}", finding.message)
}

/// Findings as a list in Markdown, every line ended.
pub(crate) fn markdown<'a>(found: impl IntoIterator<Item = (&'a Finding, String)>) -> String {
    let item = |(finding, more)| {
        let hint = hint(finding).map_or_else(String::new, |hint| format!("; hint: {hint}"));
        format!("- {}\n", escaped(&format!("{}{more}{hint}", line(finding))))
    };
    found.into_iter().map(item).collect()
}

/// A finding on the screen: a warning with its hint below, a note on one line. `more` follows the message, as in ` (and 3 more of
/// this kind)`.
pub(crate) fn draw(page: &mut Page, finding: &Finding, more: &str) {
    if finding.severity == Severity::Note {
        let message = format!("{}{more}", finding.message);
        let hint = hint(finding).map_or_else(String::new, |hint| format!(" ({hint})"));
        page.paragraph(hanging(page, 6), &[(Tone::Quiet, format!("note: {message}{hint}"))]);
    } else {
        draw_message(page, finding, more);
        draw_hint(page, finding);
    }
}

/// A warning without what to do about it.
pub(crate) fn draw_message(page: &mut Page, finding: &Finding, more: &str) {
    let message = format!("{}{more}", finding.message);
    let pieces = [(Tone::Unsure, "warning: ".to_owned()), (Tone::Plain, message)];
    page.paragraph(hanging(page, 9), &pieces);
}

/// What to do about a finding, on a line of its own.
pub(crate) fn draw_hint(page: &mut Page, finding: &Finding) {
    if let Some(hint) = hint(finding) {
        page.paragraph(hanging(page, 8), &[(Tone::Quiet, format!("  hint: {hint}"))]);
    }
}

/// How far lines after the first hang under their beginning: below its text where there is room for that, else a little.
fn hanging(page: &Page, begin: usize) -> usize {
    if begin <= page.width() / 8 { begin } else { 4 }
}

/// Those that are kept, each once: of several that `same` takes for one kind only the first, with how many more there are.
pub(crate) fn told_once<'a>(
    found: impl Iterator<Item = &'a Finding>,
    same: impl Fn(&Finding, &Finding) -> bool,
) -> Vec<(&'a Finding, String)> {
    let mut told: Vec<(&Finding, usize)> = Vec::new();
    for finding in found {
        match told.iter_mut().find(|(known, _)| same(known, finding)) {
            Some((_, count)) => *count += 1,
            None => told.push((finding, 1)),
        }
    }
    let more = |count| match count {
        1 => String::new(),
        n => format!(" (and {} more of this kind)", n - 1),
    };
    told.into_iter().map(|(finding, count)| (finding, more(count))).collect()
}

/// A finding as templates take it.
pub(crate) struct Noted {
    pub severity: &'static str,
    pub code: String,
    pub message: String,
    pub hint: String,
}

impl Noted {
    /// Control characters are shown as what they are.
    pub(crate) fn new(finding: &Finding, more: &str) -> Self {
        Self {
            severity: finding.severity.word(),
            code: clean(&finding.code),
            message: clean(&format!("{}{more}", finding.message)),
            hint: clean(&hint(finding).unwrap_or_default()),
        }
    }
}
