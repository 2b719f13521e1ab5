//! tinybench's table, as printed by `console.table(bench.table())`: mean, median and number of
//! samples of each task.
//!
//! The margin of error is not read, because it involves a quantile of Student's t. If a file has
//! tables of several runs, each is an observation.

use super::recorder::Recorder;
use super::runs::Runs;
use super::{Context, Head, ImportError, Part};
use crate::finding::shared::benchmark_error;
use crate::input::Input;
use crate::lines::Lines;
use crate::read_error::quoted_start;
use crate::samples::{Metric, Summary};

pub(super) fn recognise(head: &Head<'_>) -> bool {
    head.text.lines().any(|line| Columns::of(line).is_some())
}

/// Indices of the columns that are read.
struct Columns {
    task: usize,
    mean: usize,
    median: Option<usize>,
    samples: Option<usize>,
}

impl Columns {
    /// Finds the columns in a header. Returns `None` for any other line.
    fn of(line: &str) -> Option<Self> {
        let cells = cells(line)?;
        let find = |starts: &[&str]| {
            cells.iter().position(|cell| starts.iter().any(|s| cell.starts_with(s)))
        };
        Some(Self {
            task: find(&["Task name", "Task Name"])?,
            mean: find(&["Latency avg (ns)", "Latency average (ns)", "Average Time (ns)"])?,
            median: find(&["Latency med (ns)", "Latency median (ns)"]),
            samples: find(&["Samples"]),
        })
    }
}

/// Returns the cells of a row, without the quotes of strings.
fn cells(line: &str) -> Option<Vec<&str>> {
    let inside = line.trim().strip_prefix('│')?.strip_suffix('│')?;
    let unquoted = |cell: &str| cell.len() > 1 && cell.starts_with('\'') && cell.ends_with('\'');
    let cell = inside.split('│').map(str::trim);
    Some(cell.map(|cell| if unquoted(cell) { &cell[1..cell.len() - 1] } else { cell }).collect())
}

pub(super) fn read(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    let mut runs = Runs::new(Recorder::new(context, "tinybench"));
    let mut lines = Lines::new(input.into_reader(), context.file);
    let mut columns: Option<Columns> = None;
    while let Some(line) = lines.next()? {
        if let Some(found) = Columns::of(line.text) {
            columns = Some(found);
            continue;
        }
        if line.text.trim().starts_with('└') {
            columns = None;
        }
        let Some(known) = &columns else { continue };
        let Some(row) = cells(line.text) else {
            if line.text.trim().starts_with('│') {
                let problem = "the table breaks off within this row";
                return Err(runs.recorder.at(line.number, problem));
            }
            continue;
        };
        let taken = take(&mut runs, known, &row);
        taken.map_err(|problem| runs.recorder.at(line.number, problem))?;
    }
    runs.finish("a table of tinybench without a task")
}

fn take(runs: &mut Runs<'_>, columns: &Columns, row: &[&str]) -> Result<(), String> {
    let cell = |column: usize| row.get(column).copied().unwrap_or_default();
    // `1737.5 ± 0.30%`
    let marks = runs.recorder.marks();
    let figure = |text: &str| marks.read(text.split('±').next().unwrap_or_default().trim());
    let (name, mean) = (cell(columns.task), cell(columns.mean));
    if mean.is_empty() || mean.starts_with("N/A") || mean.starts_with("NaN") {
        runs.recorder.finding(benchmark_error(name, "has no time"));
        return Ok(());
    }
    let seconds = |text: &str| figure(text).filter(|ns| *ns >= 0.0).map(|ns| ns / 1e9);
    let wrong = || {
        format!("`{}` is not a time; expected something like `1737.5 ± 0.30%`", quoted_start(mean))
    };
    let value = seconds(mean).ok_or_else(wrong)?;
    let summary = Summary {
        mean: Some(value),
        median: columns.median.and_then(|column| seconds(cell(column))),
        count: columns.samples.and_then(|column| cell(column).parse().ok()),
        ..Summary::default()
    };
    runs.add(name, &Metric::wall(), value, summary)
}
