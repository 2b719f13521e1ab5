//! The summary as Markdown, for a pull request: the sentences, a table with one row per subject,
//! and the measuring method.
//!
//! The summary is deliberately short because the JSON has all numbers. Names may contain arbitrary
//! characters and are escaped so that they stay text.

use crate::answers;
use crate::benchmarks::{self, DisplayOptions};
use crate::escape::escaped;
use crate::findings;
use crate::label::label;
use crate::medians;
use crate::number;
use crate::progress;
use crate::ranking;
use crate::scan;
use crate::screen_table::{column_of, other_metrics};
use crate::words::{self, Sentence};
use assay_analysis::Analysis;
use assay_data::{Design, Finding, Severity};

/// Renders the summary as GitHub-flavored Markdown. Every line ends with a newline, and `shown`
/// selects and orders the rows of a suite.
pub fn render(analysis: &Analysis, shown: DisplayOptions) -> String {
    if analysis.is_suite() {
        return benchmarks::markdown::render(analysis, shown);
    }
    let mut text = String::new();
    let names = analysis.names();
    let sentences: Vec<Sentence> = if scan::shows(analysis) {
        scan::sentences(analysis)
    } else {
        let told = |c| words::sentence(analysis, c, &names[c.of], &names[c.against]);
        analysis.comparisons.iter().map(told).collect()
    };
    if let Some(line) = ranking::line(analysis, &names) {
        text += &format!("**{}**\n\n", escaped(&line));
    }
    for said in sentences {
        let sureness =
            if said.sureness.is_empty() { String::new() } else { format!(" ({})", said.sureness) };
        text += &format!("**{}**{}\n\n", escaped(&said.claim), escaped(&sureness));
    }
    for c in &analysis.controls {
        let said = words::control(analysis, c, &names[c.of], &names[c.against]);
        text += &format!("{}\n\n", escaped(&said));
    }
    for finding in findings::about_code(analysis) {
        text += &format!("{}\n\n", escaped(&finding.message));
    }
    text += &table(analysis);
    text += &format!("\n{}\n", escaped(&design_note(analysis)));
    text += &answers::markdown(analysis);
    let grave = |f: &&Finding| f.severity != Severity::Note && !words::has_said(&f.code);
    let found = findings::markdown(findings::by_text(analysis.findings.iter().filter(grave)));
    if !found.is_empty() {
        text += &format!("\n{found}");
    }
    if !analysis.environment.is_empty() {
        text += &format!("\n{}\n", escaped(&progress::machine(&analysis.environment)));
    }
    text
}

fn table(analysis: &Analysis) -> String {
    let mut metrics = vec![analysis.primary];
    metrics.extend(other_metrics(analysis));
    let several = !analysis.comparisons.is_empty();
    let mut head = "| |".to_owned();
    let mut rule = "|:--|".to_owned();
    let parameters = scan::parameters(analysis);
    for name in &parameters {
        head += &format!(" {} |", escaped(name));
        rule += "--:|";
    }
    for &metric in &metrics {
        head += &format!(" {} |", escaped(&label(&analysis.metrics[metric])));
        rule += "--:|";
    }
    if several {
        head += " ratio |";
        rule += "--:|";
    }
    let mut text = format!("{head}\n{rule}\n");
    for (index, subject) in analysis.subjects.iter().enumerate() {
        let mut row = format!("| {} |", escaped(&subject.name));
        for name in &parameters {
            let own = subject.parameters.iter().find(|(p, _)| p == name);
            row += &format!(
                " {} |",
                own.map_or_else(String::new, |(_, value)| escaped(value.as_str()))
            );
        }
        for &metric in &metrics {
            let column = column_of(analysis, metric, metric == analysis.primary);
            let cell = match &subject.metrics[metric] {
                None => String::new(),
                Some(d) if metric == analysis.primary => medians::with_interval(&column, d),
                Some(d) => column.with_unit(d.median),
            };
            row += &format!(" {} |", cell.replace('|', "\\|"));
        }
        if several {
            row += &format!(" {} |", ratio(analysis, index));
        }
        text += &format!("{row}\n");
    }
    text
}

fn ratio(analysis: &Analysis, subject: usize) -> String {
    if analysis.comparisons.iter().any(|c| c.against == subject) {
        return "1".to_owned();
    }
    match analysis.comparison_of(subject).and_then(|c| c.ratio) {
        None => String::new(),
        Some(effect) => number::ratio(effect.estimate, effect.interval.map(|i| (i.lower, i.upper))),
    }
}

/// Returns one sentence on how the samples were taken.
fn design_note(analysis: &Analysis) -> String {
    let confidence = number::chosen_percent(analysis.plan.confidence);
    let medians = format!("Medians with {confidence} confidence intervals");
    match (analysis.design, analysis.blocks) {
        (Design::Blocks, Some(blocks)) if analysis.subjects.len() > 1 => {
            let same = if analysis.has_same_outputs() { " The outputs are the same." } else { "" };
            format!("{medians}; {blocks} blocks, random order within each.{same}")
        }
        (Design::Blocks, Some(blocks)) => format!("{medians}; {blocks} runs."),
        _ if !analysis.comparisons.is_empty() => {
            let caveats = words::caveats_in_sentences(analysis);
            format!("{medians}. {}", caveats.unwrap_or_default()).trim_end().to_owned()
        }
        _ => format!("{medians}."),
    }
}
