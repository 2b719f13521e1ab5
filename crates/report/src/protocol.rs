//! The protocol for the terminal: four steps with their numbers, and the sentence for publication.
//!
//! Every step has its status as a word (color only repeats it), a line with its conclusion, the
//! underlying numbers, and advice if it did not pass. Nothing is decided here, since statuses and
//! findings come from [`assay_analysis::protocol`].

mod markdown;
mod page;
mod summary;
pub(crate) mod words;

pub use markdown::add_to as add_to_markdown;
pub(crate) use page::{ChainOnPage, on_page, summary_on_page};
pub use words::sentence;

use crate::all_table;
use crate::findings;
use crate::layout::Screen;
use crate::layout::{Page, Tone};
use crate::remarks::{self, Remarks};
use crate::small_table;
use crate::terminal;
use assay_analysis::Analysis;
use assay_analysis::protocol::{Protocol, Status};
use assay_data::{Finding, Severity, code};
use words::{Teller, shown};

/// Maximum number of pairs whose steps are drawn individually. The table has all pairs.
const MOST_CHAINS: usize = 10;
/// Width of the column of step names (`1 validity  `), in characters.
const NAME_WIDTH: usize = 12;
/// Width of the column of statuses, in characters.
const STATUS_WIDTH: usize = 11;

/// Renders the protocol for the terminal. Every line ends with a newline.
pub fn render(analysis: &Analysis, chains: &[Protocol], screen: &Screen) -> String {
    let mut page = Page::new(screen);
    let names = page.fitted(&analysis.names(), (page.width() / 3).clamp(8, 40));
    if let Some((heads, rows)) = summary::rows(analysis, chains, &names) {
        let tones: Vec<Tone> = chains.iter().map(|chain| tone(chain.outcome())).collect();
        small_table::draw(&mut page, &heads, &rows, &tones);
    }
    for chain in chains.iter().take(MOST_CHAINS) {
        page.gap();
        draw(&mut page, &Teller::new(analysis, chain, &names));
    }
    if let Some(more) = chains.len().checked_sub(MOST_CHAINS).filter(|&more| more > 0) {
        page.gap();
        let told = format!("the steps of {more} more are on the page (--report) and in the JSON");
        page.paragraph(2, &[(Tone::Quiet, told)]);
    }
    all_table::draw(&mut page, analysis, &names);
    let untold = |finding: &Finding| !has_said(finding, chains) && !is_no_matter(finding, chains);
    if analysis.findings.iter().any(untold) {
        page.gap();
        let mut remarks = remarks::List::new(Remarks::All);
        terminal::findings(&mut remarks, &page, analysis, untold);
        remarks.draw(&mut page);
    }
    page.finish()
}

/// Returns true if the chains already express a finding of the analysis in their own words.
fn has_said(finding: &Finding, chains: &[Protocol]) -> bool {
    let has = |f: &Finding| f.code == finding.code;
    let in_chain = |chain: &Protocol| chain.steps().iter().any(|(_, _, own)| own.iter().any(has));
    // The steps cover whether there are enough values for a verdict.
    [code::TOO_FEW, code::DRIFT, code::DEPENDENCE].iter().any(|code| finding.is(code))
        || chains.iter().any(in_chain)
}

/// Returns true if a finding about the shape of a difference can be left out because every chain
/// that reached its effect step reports the shape itself, or because no chain reached that step.
pub(crate) fn is_no_matter(finding: &Finding, chains: &[Protocol]) -> bool {
    let says_so = |chain: &Protocol| {
        chain.effect.found.is_none() || chain.effect.findings.iter().any(|f| f.is(code::SHAPE))
    };
    finding.is(code::SHAPE) && !chains.is_empty() && chains.iter().all(says_so)
}

fn draw(page: &mut Page, teller: &Teller<'_>) {
    page.paragraph(2, &[(Tone::Strong, teller.heading())]);
    page.paragraph(2, &[(Tone::Quiet, teller.settings())]);
    page.gap();
    for (index, (name, status, found)) in teller.chain.steps().into_iter().enumerate() {
        let (tone, word) = (tone(status), shown(status));
        let pieces = [
            (Tone::Strong, format!("{:NAME_WIDTH$}", format!("{} {name}", index + 1))),
            (tone, format!("{word:STATUS_WIDTH$}")),
            (Tone::Plain, format!(" {}", teller.line(index))),
        ];
        page.paragraph(6, &pieces);
        for detail in teller.numbers(index) {
            page.paragraph(6, &[(Tone::Quiet, format!("    {detail}"))]);
        }
        untold(status, found).iter().for_each(|finding| tell(page, finding));
        for hint in hints(found) {
            page.paragraph(7, &[(Tone::Plain, format!("    → {hint}"))]);
        }
    }
    page.gap();
    let outcome = teller.chain.outcome();
    page.paragraph(
        2,
        &[(tone(outcome), teller.lead()), (Tone::Plain, format!(" {}", teller.sentence()))],
    );
}

/// Returns the findings that the line of a step does not already state. If the step did not pass,
/// its line states the worst finding.
fn untold(status: Status, found: &[Finding]) -> &[Finding] {
    if status == Status::Passed { found } else { found.get(1..).unwrap_or_default() }
}

/// Returns the advice on the findings of a step, without duplicates.
fn hints(found: &[Finding]) -> Vec<String> {
    let mut told: Vec<String> = Vec::new();
    for hint in found.iter().filter_map(findings::hint) {
        if !told.contains(&hint) {
            told.push(hint);
        }
    }
    told
}

fn tell(page: &mut Page, finding: &Finding) {
    let (tone, word) = match Status::of(finding.severity) {
        Status::Passed => (Tone::Quiet, "note"),
        Status::Warning => (Tone::Unsure, "warning"),
        Status::Failed | Status::NotReached => (Tone::Bad, "failed"),
    };
    let plain = if finding.severity == Severity::Note { Tone::Quiet } else { Tone::Plain };
    page.paragraph(6, &[(tone, format!("    {word}: ")), (plain, finding.message.clone())]);
}

fn tone(status: Status) -> Tone {
    match status {
        Status::Passed => Tone::Good,
        Status::Warning => Tone::Unsure,
        Status::Failed => Tone::Bad,
        Status::NotReached => Tone::Quiet,
    }
}
