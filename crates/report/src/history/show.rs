//! A single run: its origin, the result of each benchmark, and its decisions and findings at the
//! time.

use super::time;
use crate::findings;
use crate::label::label;
use crate::layout::Screen;
use crate::layout::{Page, Tone};
use crate::number::{self, Column};
use crate::shell::shell_line;
use crate::small_table;
use crate::words::counted;
use assay_analysis::history::{Contents, Run, RunResult};

/// A run and its stored contents.
#[derive(Clone, Copy, Debug)]
pub struct ShownRun<'a> {
    /// The run.
    pub run: &'a Run,
    /// Contents of the run.
    pub contents: &'a Contents,
    /// If true, all metrics are shown; otherwise only the deciding one.
    pub all: bool,
}

/// Renders the run for the terminal. Every line ends with a newline. O(results).
pub fn show(of: &ShownRun<'_>, screen: &Screen) -> String {
    let mut page = Page::new(screen);
    let run = of.run;
    let head = format!("run {}", run.short());
    let when = format!("   measured {} UTC on {}", time(run.started), run.machine);
    page.paragraph(2, &[(Tone::Strong, head), (Tone::Plain, when)]);
    let revision = match &run.revision {
        Some(revision) if run.changed => {
            format!("revision {}, with changes that are in no commit", revision.commit)
        }
        Some(revision) => format!("revision {}", revision.commit),
        None => "revision not known".to_owned(),
    };
    page.paragraph(2, &[(Tone::Plain, revision)]);
    let mut from = format!("from {}", run.source);
    if let Some(tool) = &run.tool {
        from += &format!(", by {tool}");
    }
    page.paragraph(2, &[(Tone::Plain, from)]);
    if !run.argv.is_empty() {
        page.paragraph(2, &[(Tone::Quiet, shell_line(&run.argv))]);
    }
    page.gap();
    let is_shown =
        |r: &&RunResult| of.all || run.metric.as_ref().is_none_or(|m| *m == r.metric.name);
    let shown: Vec<&RunResult> = of.contents.results.iter().filter(is_shown).collect();
    results(&mut page, &shown);
    let hidden = of.contents.results.len() - shown.len();
    if hidden > 0 {
        let more = format!("  {} of other metrics: --all", counted(hidden, "result"));
        page.paragraph(2, &[(Tone::Quiet, more)]);
    }
    for compared in &of.contents.comparisons {
        let ratio = compared.ratio.map_or_else(String::new, |ratio| {
            let ends = ratio.interval.map(|interval| (interval.lower, interval.upper));
            format!(" ({})", number::change(ratio.estimate, ends))
        });
        let line = format!(
            "{} against {}: {}{ratio}",
            compared.subject, compared.reference, compared.verdict
        );
        page.paragraph(2, &[(Tone::Plain, line)]);
    }
    for finding in &of.contents.findings {
        findings::draw(&mut page, finding, "");
    }
    page.finish()
}

fn results(page: &mut Page, results: &[&RunResult]) {
    let head = ["", "", "", "values", "processes"].map(str::to_owned);
    let rows: Vec<[String; 5]> = results.iter().map(|result| row(result)).collect();
    small_table::draw(page, &head, &rows, &vec![Tone::Plain; rows.len()]);
}

fn row(result: &RunResult) -> [String; 5] {
    let RunResult { benchmark, metric, summary } = result;
    let mut own = vec![summary.centre];
    let ends = summary.interval.map(|interval| [interval.lower, interval.upper]);
    own.extend(ends.iter().flatten());
    let widths: Vec<f64> = summary.interval.iter().map(|i| i.half_width()).collect();
    let column = Column::new(&metric.unit, &own, &widths);
    let interval = ends.map_or_else(String::new, |[lower, upper]| {
        format!("[{} … {}]", column.number(lower), column.number(upper))
    });
    let units = if summary.units == summary.n { String::new() } else { summary.units.to_string() };
    [
        format!("{} {}", benchmark.label(), label(metric)),
        column.with_unit(summary.centre),
        interval,
        summary.n.to_string(),
        units,
    ]
}
