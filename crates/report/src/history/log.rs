//! The list of runs, one per line, newest first.

use super::{revision_of, time};
use crate::grid::{Cells, draw_columns, width_of};
use crate::layout::Screen;
use crate::layout::{Page, Tone};
use crate::number;
use assay_analysis::history::Run;

/// Maximum length of the names of machines and sources, in columns.
const WIDEST: usize = 32;

/// The runs to list.
#[derive(Clone, Copy, Debug)]
pub struct Log<'a> {
    /// Name of the project.
    pub project: &'a str,
    /// The runs shown, newest first.
    pub runs: &'a [Run],
    /// Total number of runs, including those not shown.
    pub total: u64,
}

/// Renders the list for the terminal. Every line ends with a newline. O(runs shown).
pub fn log(of: &Log<'_>, screen: &Screen) -> String {
    let mut page = Page::new(screen);
    let column = |cell: &dyn Fn(&Run) -> String| -> Vec<String> {
        of.runs.iter().map(|run| page.spelled(&cell(run))).collect()
    };
    let named = |cell: &dyn Fn(&Run) -> String| -> Vec<String> {
        column(cell).iter().map(|name| page.shortened(name, WIDEST)).collect()
    };
    let mut columns = vec![
        Cells::left("run", column(&|run| run.short().to_owned()), Tone::Strong, 0),
        Cells::left("measured (UTC)", column(&|run| time(run.started)), Tone::Plain, 3),
        Cells::left("revision", column(&revision_of), Tone::Plain, 3),
        Cells::left("machine", named(&|run| run.machine.clone()), Tone::Plain, 3),
        Cells::right("results", column(&|run| number::grouped(run.results)), Tone::Plain),
    ];
    let verdicts = column(&|run| run.verdict.clone().unwrap_or_default());
    if verdicts.iter().any(|verdict| !verdict.is_empty()) {
        columns.push(Cells::left("verdict", verdicts, Tone::Plain, 3));
    }
    columns.push(Cells::left("source", named(&|run| run.source.clone()), Tone::Quiet, 3));
    while width_of(&columns) > page.table_width() && columns.len() > 2 {
        columns.pop();
    }
    draw_columns(&mut page, &columns, of.runs.len());
    let left = of.total.saturating_sub(of.runs.len() as u64);
    if left > 0 {
        page.gap();
        let more =
            format!("{} earlier runs of {}: -n 0 shows all", number::grouped(left), of.project);
        page.paragraph(2, &[(Tone::Quiet, more)]);
    }
    page.finish()
}
