//! The self-contained HTML page of a suite, for publication. One file contains the headline, forest
//! plots, tables, findings, settings and methods. The template escapes all external text.

use super::{DisplayOptions, centres, ends_of_centres, ordered, pictured, words};
use crate::all_table;
use crate::charts::{self, forest};
use crate::findings::FindingOnPage;
use crate::html::{self, Material, Plot, Table, fact};
use crate::names::clean;
use crate::number::{self, Column};
use crate::protocol::{self, ChainOnPage};
use crate::shell::shell_line;
use crate::tests_run::{self, page::SuiteOnPage};
use askama::Template;
use assay_analysis::analysis;
use assay_analysis::figures::Figures;
use assay_analysis::{Adjust, Analysis, Comparison};

/// Maximum number of rows of a table. The CSV has all rows.
const MOST_ROWS: usize = 1000;

#[derive(Template)]
#[template(path = "benchmarks.html")]
struct Page {
    title: String,
    tool: String,
    claims: Vec<(String, String)>,
    notes: Vec<String>,
    plots: Vec<Plot>,
    suites: Vec<SuiteOnPage>,
    /// The tables of the primary metric.
    answers: Vec<Table>,
    /// The tables of all other metrics.
    others: Vec<Table>,
    tests: Vec<Table>,
    noun: String,
    pictures_told: String,
    pictures: Vec<Pictures>,
    summary: Option<Table>,
    chains: Vec<ChainOnPage>,
    findings: Vec<FindingOnPage>,
    environment: Vec<(String, String)>,
    made_by: String,
    methods: Vec<String>,
}

/// The pictures of one row.
struct Pictures {
    name: String,
    verdict: String,
    tone: &'static str,
    plots: Vec<Plot>,
}

/// Renders the HTML page of a suite.
///
/// # Errors
///
/// Returns an error if the template cannot be filled, which would be a bug.
pub(crate) fn render(material: Material<'_>) -> Result<String, askama::Error> {
    let Material { analysis: suite, shown, meta, command, protocol: chains, rows, tests, .. } =
        material;
    let mut claims = Vec::new();
    let mut notes = Vec::new();
    let mut has_mean = false;
    for (index, table) in suite.primary_tables().enumerate() {
        let table = &table;
        let sure = if index == 0 { words::sureness(suite) } else { String::new() };
        claims.push((clean(&words::headline(suite, table)), sure));
        notes.extend(words::known(suite, table));
        let mean = words::mean(suite, table);
        has_mean |= mean.is_some();
        notes.extend(mean);
    }
    notes.extend(words::controls(suite));
    notes.extend(crate::words::caveats_in_sentences(suite));
    let plots = forest::charts(suite, shown.sort)
        .into_iter()
        .enumerate()
        .map(|(number, chart)| Plot::of(&chart, format!("{}-{number}", chart.name)));
    let pictures: Vec<Pictures> = pictured(suite)
        .into_iter()
        .zip(rows)
        .enumerate()
        .map(|(number, (row, figures))| in_pictures(suite, row, figures, number))
        .collect();
    let (answers, others): (Vec<_>, Vec<_>) =
        suite.tables().partition(|table| table.metric == suite.primary);
    let [answers, others] =
        [answers, others].map(|part| part.iter().map(|t| on_page(suite, t, shown)).collect());
    let sides: Vec<&str> = suite.sides.iter().map(|side| side.name.as_str()).collect();
    let findings =
        words::told_once(suite).into_iter().map(|(f, more)| FindingOnPage::new(f, &more));
    Page {
        title: clean(&sides.join(", ")),
        tool: meta.tool.clone(),
        summary: html::summary(suite, chains),
        chains: protocol::on_page(suite, chains),
        claims,
        notes: notes.iter().map(|note| clean(note)).collect(),
        plots: plots.collect(),
        suites: tests_run::page::suites(suite, tests),
        answers,
        others,
        tests: all_table::on_page(suite, &suite.names()),
        noun: suite.noun.clone(),
        pictures_told: match suite.comparisons.len() {
            all if all > pictures.len() => {
                format!("The {} most informative of {all}, differences first.", pictures.len())
            }
            _ => "Differences first.".to_owned(),
        },
        pictures,
        findings: findings.collect(),
        environment: suite.environment.facts.iter().map(fact).collect(),
        made_by: shell_line(command),
        methods: methods(suite, has_mean),
    }
    .render()
}

fn in_pictures(suite: &Analysis, row: &Comparison, figures: &Figures, number: usize) -> Pictures {
    let charts = charts::of_row(figures);
    let mut name = suite.row_of(row).name.clone();
    if suite.sides.len() > 2 {
        name += &format!(", {}", suite.sides[suite.subjects[row.of].side].name);
    }
    Pictures {
        name: clean(&name),
        verdict: words::verdict(suite, row),
        tone: html::tone(row.decision.verdict),
        plots: charts.iter().map(|c| Plot::of(c, format!("row-{number}-{}", c.name))).collect(),
    }
}

fn on_page(suite: &Analysis, table: &analysis::Table<'_>, shown: DisplayOptions) -> Table {
    let rows = ordered(suite, table, shown.sort);
    let unit = &suite.metrics[table.metric].unit;
    let ends = ends_of_centres(&rows);
    let cells = |row: &&Comparison| {
        let (x, y) = centres(row);
        let column = Column::for_row(unit, ends, &[x, y], &[]);
        let c = &row;
        let count = |n: usize| if n == 0 { "?".to_owned() } else { n.to_string() };
        html::Row {
            cells: vec![
                clean(&suite.row_of(row).name),
                words::value(&column, x, unit),
                words::value(&column, y, unit),
                format!("{} / {}", count(c.counts.0), count(c.counts.1)),
                words::effect(suite, row, true),
                words::verdict(suite, row),
            ],
            tone: html::tone(c.decision.verdict),
        }
    };
    let mut told = words::counts(suite, table);
    if rows.len() > MOST_ROWS {
        told += &format!("; {MOST_ROWS} of {} rows are shown", rows.len());
    }
    if let Some(note) = words::contradictions(suite, &rows) {
        told += &format!("; {note}");
    }
    if rows.iter().any(|row| words::is_starred(row)) {
        told += &format!("; {}", words::star(suite));
    }
    Table {
        title: clean(&charts::capital(&words::title(suite, table))),
        told,
        heads: ["", &suite.sides[0].name, &suite.sides[table.side].name, "values", "change", ""]
            .map(clean)
            .to_vec(),
        rows: rows.iter().take(MOST_ROWS).map(cells).collect(),
        kind: " verdicts",
    }
}

fn methods(suite: &Analysis, has_mean: bool) -> Vec<String> {
    let error = number::chosen_percent(1.0 - suite.plan.confidence);
    let shared = match suite.adjust {
        Adjust::Holm => format!(
            "Holm's procedure (1979) keeps the family-wise error at {error}: the benchmarks of the primary metric are one family, all secondary metrics a second one."
        ),
        Adjust::FalseDiscovery => format!(
            "The false discovery rate is kept at {error} (Benjamini and Hochberg 1995); intervals of the reported differences are false-coverage adjusted (Benjamini and Yekutieli 2005). The primary metric is one family, all secondary metrics a second one."
        ),
        Adjust::None => {
            "There is no multiple-comparison correction: each comparison is judged by itself."
                .to_owned()
        }
    };
    let mut methods = vec![
        "Benchmarks are matched by name and parameters. Each is compared by the Hodges-Lehmann ratio with its rank-based interval, widened if successive values are dependent; below ten values by the exact distribution of the Mann-Whitney test. Where several processes were recorded, their means are compared; where only summaries were recorded, Welch's test of the logarithms of means.".to_owned(),
        shared,
    ];
    if has_mean {
        methods.push("The geometric mean is over the benchmarks that both sides have. Its first interval is for these benchmarks; the second for others such as these.".to_owned());
    }
    methods
}
