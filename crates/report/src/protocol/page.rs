//! The steps of a protocol as a page shows them: all of their numbers, findings and advice, as plain lines.

use super::{hints, shown, summary, untold, words::Teller};
use crate::names::fitted;
use assay_analysis::Analysis;
use assay_analysis::protocol::{Protocol, Status};

/// One chain with its words.
pub(crate) struct ChainOnPage {
    /// The title of its section, which names the subjects where there are several chains.
    pub title: String,
    /// Who is compared with whom.
    pub heading: String,
    /// What was asked.
    pub settings: String,
    /// The steps in their order.
    pub steps: Vec<StepOnPage>,
    /// How the chain ended.
    pub outcome: Status,
    /// How the sentence that one may publish begins: what it claims.
    pub claim: String,
    /// The rest of it: the numbers that the claim rests on.
    pub rest: String,
}

/// One step with its words.
pub(crate) struct StepOnPage {
    /// What was checked.
    pub name: String,
    /// How it ended, as people read it.
    pub status: &'static str,
    /// How it ended, as style sheets read it.
    pub class: &'static str,
    /// What it comes to.
    pub line: String,
    /// Its numbers, its findings, and what to do.
    pub details: Vec<String>,
}

/// The chains of a page.
pub(crate) fn on_page(analysis: &Analysis, chains: &[Protocol]) -> Vec<ChainOnPage> {
    let names = fitted(&analysis.names(), 60, "…");
    let several = chains.len() > 1;
    let on_page = |chain| on_page_alone(&Teller::new(analysis, chain, &names), several);
    chains.iter().map(on_page).collect()
}

/// The heads and rows of the table of several chains.
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
