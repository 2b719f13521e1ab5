//! Renders the result of a gate as a comment on a pull request. The first line is an invisible mark
//! by which the next run finds and edits the comment. Names may contain anything and are shown as
//! text.

use super::{GateReport, HEADS, numbers, rests_on, sentence, shown, standing};
use crate::escape::{code, escaped};
use crate::findings;
use crate::label::label;
use crate::words::counted;
use assay_analysis::history::gate::Standing;
use std::fmt::Write;

/// Maximum number of rows; longer comments are not read.
const MOST_ROWS: usize = 60;

/// Renders the comment as Markdown. Its first line is the mark, and every line ends with a newline.
pub fn markdown(report: &GateReport<'_>) -> String {
    let gate = report.gate;
    let sign = match gate.standing() {
        Standing::Worse => "❌",
        Standing::Inconclusive => "❔",
        Standing::Better | Standing::Normal => "✅",
    };
    let mut text = format!("{}\n", mark(report.project));
    text += &format!("{sign} **{}**\n\n", escaped(&sentence(report)));
    let rows = shown(report);
    if !rows.is_empty() {
        text += &format!("| {} |\n|:--|--:|--:|:--|--:|--:|:--|\n", HEADS.join(" | "));
    }
    for judged in rows.iter().take(MOST_ROWS) {
        let name =
            format!("{} {}", code(&judged.benchmark.label()), escaped(&label(&judged.metric)));
        let told = match judged.standing {
            Standing::Worse => format!("**{}**", standing(judged)),
            _ => standing(judged),
        };
        let cells = numbers(judged).map(|cell| escaped(&cell)).join(" | ");
        text += &format!("| {name} | {cells} | {told} |\n");
    }
    if rows.len() > MOST_ROWS {
        text += &format!("\n… and {} more.\n", rows.len() - MOST_ROWS);
    }
    let normal = gate.judged.len() - rows.len();
    if !rows.is_empty() {
        text += "\n";
    }
    if normal > 0 && !rows.is_empty() {
        text += &format!("{} normal.\n\n", counted(normal, "benchmark"));
    }
    text += &format!("{}.\n", escaped(&rests_on(report)));
    let told = findings::told_once(gate.findings.iter(), assay_data::Finding::is_like);
    let list = findings::markdown(told);
    if !list.is_empty() {
        text += &format!("\n{list}");
    }
    text
}

/// Returns the mark of a project's comment. Letters, digits, dots, slashes, underscores and single
/// dashes in the project name are kept. All other bytes are written as numbers, so that no name can
/// end the mark early.
fn mark(project: &str) -> String {
    let mut name = String::with_capacity(project.len());
    for byte in project.bytes() {
        match byte {
            b'-' if !name.is_empty() && !name.ends_with('-') => name.push('-'),
            byte if byte.is_ascii_alphanumeric() || b"._/".contains(&byte) => {
                name.push(char::from(byte));
            }
            byte => {
                let _infallible = write!(name, "%{byte:02x}");
            }
        }
    }
    format!("<!-- assay-gate: {name} -->")
}

#[cfg(test)]
mod tests {
    use super::mark;

    #[test]
    fn a_mark_ends_only_once_and_tells_projects_apart() {
        assert_eq!(mark("parser-c_1"), "<!-- assay-gate: parser-c_1 -->");
        assert_eq!(mark("a --> b"), "<!-- assay-gate: a%20-%2d%3e%20b -->");
        assert_eq!(mark("-->"), "<!-- assay-gate: %2d-%3e -->");
        assert_ne!(mark("ä"), mark("a"));
    }
}
