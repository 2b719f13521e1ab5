//! The protocol as Markdown, below the summary of the analysis: a table of the chains if there are
//! several, a table of each chain's steps, and the sentence for publication.

use super::words::{Teller, shown};
use super::{summary, untold};
use crate::escape::escaped;
use assay_analysis::Analysis;
use assay_analysis::protocol::Protocol;

/// Appends every chain to a summary.
pub fn add_to(text: &mut String, analysis: &Analysis, chains: &[Protocol]) {
    let names = analysis.names();
    if let Some((heads, rows)) = summary::rows(analysis, chains, &names) {
        let line = |cells: &[String; 5]| {
            format!("| {} |\n", cells.each_ref().map(|cell| escaped(cell)).join(" | "))
        };
        *text += &format!("\n{}|:--|:--|--:|:--|:--|\n", line(&heads));
        rows.iter().for_each(|row| *text += &line(row));
    }
    for chain in chains {
        let teller = Teller::new(analysis, chain, &names);
        *text += &format!(
            "\n### {}\n\n{}\n\n| step | status | |\n|:--|:--|:--|\n",
            escaped(&teller.heading()),
            escaped(&teller.settings())
        );
        for (index, (name, status, found)) in chain.steps().into_iter().enumerate() {
            let mut cell = escaped(&teller.line(index));
            for finding in untold(status, found) {
                cell += &format!("<br>{}", escaped(&finding.message));
            }
            *text += &format!("| {} {name} | {} | {cell} |\n", index + 1, shown(status));
        }
        *text += &format!("\n**{}** {}\n", escaped(&teller.lead()), escaped(&teller.sentence()));
    }
}
