//! The protocol as Markdown, below the summary of the analysis: a table of its steps, and the sentence that one may publish.

use super::{shown, words::Teller};
use crate::markdown::escaped;
use assay_analysis::Analysis;
use assay_analysis::protocol::Protocol;

/// Adds every chain to a summary.
pub fn add_to(text: &mut String, analysis: &Analysis, chains: &[Protocol]) {
    let names = analysis.names();
    for chain in chains {
        let teller = Teller::new(analysis, chain, &names);
        *text += &format!(
            "\n### {}\n\n{}\n\n| step | status | |\n|:--|:--|:--|\n",
            escaped(&teller.heading()),
            escaped(&teller.settings())
        );
        for (index, (name, status, reasons)) in chain.steps().into_iter().enumerate() {
            let mut cell = escaped(&teller.line(index));
            // The line of the step has said its worst reason.
            for reason in reasons.iter().filter(|reason| !teller.is_first(reason)) {
                cell += &format!("<br>{}", escaped(&teller.reason(reason).0));
            }
            *text += &format!("| {} {name} | {} | {cell} |\n", index + 1, shown(status));
        }
        *text += &format!("\n**{}** {}\n", escaped(&teller.lead()), escaped(&teller.sentence()));
    }
}
