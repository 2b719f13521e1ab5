//! Why one side takes longer, for the terminal or as Markdown: one sentence with the most likely
//! cause, and at most five lines of evidence for it.
//!
//! Nothing is decided here. A cause is always given with its number and the interval of that
//! number.

mod words;

use crate::findings;
use crate::layout::{Page, Screen, Tone};
use crate::markup::escaped;
use assay_analysis::Analysis;
use assay_analysis::why::Why;
use assay_data::Finding;

pub use words::sentence;

/// Maximum number of lines after the answer.
const MOST_LINES: usize = 5;

/// The content of the report on a difference.
#[derive(Clone, Copy, Debug)]
pub struct WhyReport<'a> {
    /// The analysis of the record.
    pub analysis: &'a Analysis,
    /// The explanation of one of the analysis's comparisons.
    pub why: &'a Why,
    /// Findings about the sampled runs.
    pub findings: &'a [Finding],
    /// A command that would explain more, and the question that it answers.
    pub next: Option<(&'a str, &'a str)>,
}

impl WhyReport<'_> {
    /// Returns the names of the side and of its reference.
    fn names(&self) -> (String, String) {
        let c = &self.why.comparison;
        let subject = |index: usize| &self.analysis.subjects[index];
        let name = |index: usize| match self.analysis.is_suite() {
            true => self.analysis.sides[subject(index).side].name.clone(),
            false => subject(index).name.clone(),
        };
        (name(c.of), name(c.against))
    }

    /// Returns the lines after the answer, each with its heading.
    fn lines(&self) -> Vec<(&'static str, String)> {
        let mut lines = words::evidence(self);
        let warnings = self.findings.iter().map(|finding| ("sampling", finding.message.clone()));
        lines.extend(warnings);
        let next = self.next.map(|(command, what)| ("next", format!("{command} ({what})")));
        lines.truncate(MOST_LINES - usize::from(next.is_some()));
        lines.extend(next);
        lines
    }
}

/// Renders the report for the terminal. Every line ends with a newline.
pub fn render(report: &WhyReport<'_>, screen: &Screen) -> String {
    let mut page = Page::new(screen);
    let tone = match report.why.causes.is_empty() {
        true => Tone::Unsure,
        false => Tone::Strong,
    };
    page.paragraph(2, &[(tone, sentence(report))]);
    page.gap();
    let drawn: Vec<Page> = report
        .lines()
        .into_iter()
        .map(|(heading, line)| {
            let mut own = page.like();
            own.paragraph(4, &[(Tone::Quiet, format!("  {heading}: ")), (Tone::Plain, line)]);
            own
        })
        .collect();
    // The difference and the next command are always shown, with as much of the evidence between
    // them as fits.
    let is_fixed = |place: usize| place == 0 || place + 1 == drawn.len() && report.next.is_some();
    let fixed = drawn.iter().enumerate().filter(|(place, _)| is_fixed(*place));
    let mut room = MOST_LINES.saturating_sub(fixed.map(|(_, own)| own.lines()).sum());
    for (place, own) in drawn.iter().enumerate() {
        if !is_fixed(place) {
            match room.checked_sub(own.lines()) {
                Some(rest) => room = rest,
                None => continue,
            }
        }
        page.take(own, usize::MAX);
    }
    page.finish()
}

/// Returns the explanation as Markdown.
pub fn markdown(report: &WhyReport<'_>) -> String {
    let mut text = format!("**{}**\n", escaped(&sentence(report)));
    let lines = report.lines();
    if !lines.is_empty() {
        text.push('\n');
    }
    for (heading, line) in lines {
        text += &format!("- {heading}: {}\n", escaped(&line));
    }
    text
}

/// Returns the most serious of the findings that concern the comparison, for the list of evidence.
fn about<'a>(report: &WhyReport<'a>) -> Option<&'a Finding> {
    let c = &report.why.comparison;
    let subject = &report.analysis.subjects[c.of];
    let names = [&subject.name, &report.analysis.row_of(c).name];
    let concerns = |finding: &&Finding| {
        let own = finding.subject.as_deref();
        own.is_none_or(|own| names.iter().any(|name| *name == own)) && words::is_evidence(finding)
    };
    report.analysis.findings.iter().find(concerns)
}

/// Returns a finding as one line.
fn line_of(finding: &Finding) -> String {
    match findings::hint(finding) {
        Some(hint) if finding.message.len() < 60 => format!("{} ({hint})", finding.message),
        _ => finding.message.clone(),
    }
}
