//! The steps of a protocol on a page, with all of their numbers, findings and advice as plain
//! lines.

use super::words::{Teller, shown};
use super::{hints, summary, untold};
use crate::names::fitted;
use assay_analysis::Analysis;
use assay_analysis::protocol::{Protocol, Status};

/// A chain with the texts that the page shows for it.
pub(crate) struct ChainOnPage {
    /// The title of its section, which names the subjects if there are several chains.
    pub title: String,
    /// The subjects compared.
    pub heading: String,
    /// The settings.
    pub settings: String,
    /// The steps in order.
    pub steps: Vec<StepOnPage>,
    /// The outcome of the chain.
    pub outcome: Status,
    /// The claim, which is the beginning of the sentence for publication.
    pub claim: String,
    /// The rest of that sentence, with the numbers behind the claim.
    pub rest: String,
}

/// A step with the texts that the page shows for it.
pub(crate) struct StepOnPage {
    /// The step's name.
    pub name: String,
    /// Status of the step as a word.
    pub status: &'static str,
    /// Status of the step as a CSS class.
    pub class: &'static str,
    /// Conclusion of the step.
    pub line: String,
    /// Numbers, findings and advice of the step.
    pub details: Vec<String>,
}

/// Returns the chains of a page.
pub(crate) fn on_page(analysis: &Analysis, chains: &[Protocol]) -> Vec<ChainOnPage> {
    let names = fitted(&analysis.names(), 60, "…");
    let several = chains.len() > 1;
    let on_page = |chain| on_page_alone(&Teller::new(analysis, chain, &names), several);
    chains.iter().map(on_page).collect()
}

/// Returns the headings and rows of the table of several chains.
pub(crate) fn summary_on_page(
    analysis: &Analysis,
    chains: &[Protocol],
) -> Option<(Vec<String>, Vec<Vec<String>>)> {
    let (heads, rows) = summary::rows(analysis, chains, &fitted(&analysis.names(), 40, "…"))?;
    Some((heads.to_vec(), rows.into_iter().map(|row| row.to_vec()).collect()))
}

fn on_page_alone(teller: &Teller<'_>, several: bool) -> ChainOnPage {
    let steps =
        teller.chain.steps().into_iter().enumerate().map(|(index, (name, status, found))| {
            let mut details = teller.numbers(index);
            details.extend(untold(status, found).iter().map(|finding| finding.message.clone()));
            details.extend(hints(found).into_iter().map(|hint| format!("What to do: {hint}")));
            StepOnPage {
                name: format!("{} {name}", index + 1),
                status: shown(status),
                class: status.word(),
                line: teller.line(index),
                details,
            }
        });
    let sentence = teller.sentence();
    let end = [" (", "; "].iter().filter_map(|mark| sentence.find(mark)).min();
    let (claim, rest) = sentence.split_at(end.unwrap_or(sentence.len()));
    ChainOnPage {
        title: if several {
            format!("The four-step check: {}", teller.pair())
        } else {
            "The four-step check, step by step".to_owned()
        },
        heading: teller.heading(),
        settings: teller.settings(),
        outcome: teller.chain.outcome(),
        steps: steps.collect(),
        claim: format!("{} {claim}", teller.lead()),
        rest: rest.to_owned(),
    }
}
