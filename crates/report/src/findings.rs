//! Findings in each format: for the terminal, for a page, and in Markdown. All commands share this
//! module, so that their wording agrees. Nothing is decided here: the caller chooses the findings
//! to show, and the advice already names the options to use.

use crate::escape::escaped;
use crate::layout::{self, Page, Tone};
use crate::names::clean;
use assay_analysis::Analysis;
use assay_data::code::{CODE_CHANGED, SAME_CODE_MOVED};
use assay_data::list;
use assay_data::{Action, Advice, Finding, Invocation, Severity};

/// Maximum number of subjects named if a finding applies to several.
const NAMED: usize = 5;

/// Returns the advice in one line, such as `give it more time with --time 3s, or take more runs
/// with --runs 6`, or `None` if there is no advice.
pub fn hint(finding: &Finding) -> Option<String> {
    joined(&finding.advice.iter().map(ToString::to_string).collect::<Vec<_>>())
}

/// Returns the advice in one line for the terminal, where command lines and options are not
/// wrapped.
pub(crate) fn hint_on_screen(finding: &Finding) -> Option<String> {
    let told = |advice: &Advice| {
        let text = advice.to_string();
        let line = match (&advice.how, &advice.action) {
            (Some(Invocation::Command(line)), _) | (None, Action::Run { command: line, .. }) => {
                line
            }
            _ => return text,
        };
        text.replace(line, &layout::command(line))
    };
    joined(&finding.advice.iter().map(told).collect::<Vec<_>>())
}

fn joined(told: &[String]) -> Option<String> {
    match told {
        [] => None,
        [only] => Some(only.clone()),
        [one, other] => Some(format!("{one}, or {other}")),
        [first @ .., last] => Some(format!("{}, or {last}", first.join(", "))),
    }
}

/// Returns a finding in one line without its hint, as shown during a run:
/// `warning: the machine was busy`.
pub fn line(finding: &Finding) -> String {
    let kind = if finding.severity == Severity::Note { "note" } else { "warning" };
    format!("{kind}: {}", finding.message)
}

/// Returns the findings of the analysis about the measured code: the number of benchmarks that
/// execute changed code, how far the others moved, and the smallest detectable slowdown of a
/// function. Every format shows them with the result rather than among the notes.
pub(crate) fn about_code(analysis: &Analysis) -> impl Iterator<Item = &Finding> {
    analysis.findings.iter().filter(|finding| is_about_code(finding))
}

/// Returns true if [`about_code`] would return the finding.
pub(crate) fn is_about_code(finding: &Finding) -> bool {
    let is_about_code = finding.is(CODE_CHANGED) || finding.is(SAME_CODE_MOVED);
    finding.severity == Severity::Note && is_about_code
}

/// Renders findings as a Markdown list. Every line ends with a newline.
pub(crate) fn markdown<'a>(found: impl IntoIterator<Item = (&'a Finding, String)>) -> String {
    let item = |(finding, more)| {
        let hint = hint(finding).map_or_else(String::new, |hint| format!("; hint: {hint}"));
        format!("- {}\n", escaped(&format!("{}{more}{hint}", line(finding))))
    };
    found.into_iter().map(item).collect()
}

/// Draws a finding for the terminal: a warning with its hint below it, or a note on one line.
/// `more` follows the message, such as ` (and 3 more of this kind)`.
pub(crate) fn draw(page: &mut Page, finding: &Finding, more: &str) {
    if finding.severity == Severity::Note {
        let message = format!("{}{more}", finding.message);
        let hint = hint_on_screen(finding).map_or_else(String::new, |hint| format!(" ({hint})"));
        page.paragraph(hanging(page, 6), &[(Tone::Quiet, format!("note: {message}{hint}"))]);
    } else {
        draw_message(page, finding, more);
        draw_hint(page, finding);
    }
}

/// Draws the message of a warning without its advice.
pub(crate) fn draw_message(page: &mut Page, finding: &Finding, more: &str) {
    let message = format!("{}{more}", finding.message);
    let pieces = [(Tone::Unsure, "warning: ".to_owned()), (Tone::Plain, message)];
    page.paragraph(hanging(page, 9), &pieces);
}

/// Draws the advice of a finding on a line of its own.
pub(crate) fn draw_hint(page: &mut Page, finding: &Finding) {
    if let Some(hint) = hint_on_screen(finding) {
        page.paragraph(hanging(page, 8), &[(Tone::Quiet, format!("  hint: {hint}"))]);
    }
}

/// Returns the indentation of continuation lines, which aligns them with the text after `begin`, or
/// 4 if that would leave too little width.
fn hanging(page: &Page, begin: usize) -> usize {
    if begin <= page.width() / 8 { begin } else { 4 }
}

/// Merges findings that have the same text but different subjects. Each group is returned as its
/// first finding, with the names of the other subjects: ` (also b and c)`.
pub(crate) fn by_text<'a>(found: impl Iterator<Item = &'a Finding>) -> Vec<(&'a Finding, String)> {
    told_once(found, |_, _| false)
}

/// Merges findings like [`by_text`]. Of several findings that `same` considers to be of one kind,
/// only the first is kept, with the number of others.
pub(crate) fn told_once<'a>(
    found: impl Iterator<Item = &'a Finding>,
    same: impl Fn(&Finding, &Finding) -> bool,
) -> Vec<(&'a Finding, String)> {
    struct Told<'a> {
        finding: &'a Finding,
        subjects: Vec<String>,
        others: usize,
    }
    let mut told: Vec<Told<'_>> = Vec::new();
    for finding in found {
        let others = told.iter_mut().find(|known| same(known.finding, finding));
        if let Some(known) = others {
            known.others += 1;
            continue;
        }
        let subject = finding.subject.as_deref();
        match told.iter_mut().find(|known| has_same_text(known.finding, finding)) {
            Some(known) => known.subjects.extend(subject.map(clean)),
            None => told.push(Told { finding, subjects: Vec::new(), others: 0 }),
        }
    }
    let more = |told: &Told<'_>| match (told.others, told.subjects.as_slice()) {
        (0, []) => String::new(),
        (0, few) if few.len() <= NAMED => format!(" (also {})", list::all(few)),
        (0, subjects) => format!(" (also {})", list::first(subjects, NAMED)),
        (others, _) => format!(" (and {others} more of this kind)"),
    };
    told.iter().map(|told| (told.finding, more(told))).collect()
}

/// Returns true if two findings about different subjects differ only in the name of the subject.
pub(crate) fn has_same_text(one: &Finding, other: &Finding) -> bool {
    let (Some(own), Some(others)) = (&one.subject, &other.subject) else { return false };
    let is_alike = one.code == other.code && one.severity == other.severity;
    is_alike
        && own != others
        && one.advice == other.advice
        && one.message.contains(own.as_str())
        && one.message.replacen(own.as_str(), others, 1) == other.message
}

/// A finding in the form that templates take.
pub(crate) struct FindingOnPage {
    pub severity: &'static str,
    pub code: String,
    pub message: String,
    pub hint: String,
}

impl FindingOnPage {
    /// Converts a finding, appending `more` to its message. Control characters are replaced.
    pub(crate) fn new(finding: &Finding, more: &str) -> Self {
        Self {
            severity: finding.severity.word(),
            code: clean(&finding.code),
            message: clean(&format!("{}{more}", finding.message)),
            hint: clean(&hint(finding).unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_data::code::NOT_NORMAL;

    #[test]
    fn findings_with_the_same_text_name_their_subjects_in_one_line() {
        let about = |name: &str, end: &str| {
            Finding::new(NOT_NORMAL, format!("{name} is skewed{end}")).about(name)
        };
        let found = [about("a", ""), about("b", ""), about("c", " by 3"), about("d", "")];
        let told = by_text(found.iter());
        let told: Vec<String> =
            told.iter().map(|(finding, more)| format!("{}{more}", finding.message)).collect();
        assert_eq!(told, ["a is skewed (also b and d)", "c is skewed by 3"]);
    }
}
