//! The self-contained page for publication, which contains a result with its plots, numbers,
//! checks, machine, data and methods in one file.
//!
//! It loads no external scripts, fonts or images, so it opens offline and in twenty years. It works
//! on a phone, in print, and in light and dark mode, and all content is there without scripts. The
//! template escapes everything that comes from outside (names, paths, findings, the environment).
//! Nothing is decided or computed here.

mod data;
mod methods;
mod table;
mod tables;

pub use data::Data;

use crate::all_table;
use crate::benchmarks::{self, DisplayOptions};
use crate::charts::{self, Chart, svg};
use crate::describe::{self, page::SeriesOnPage};
use crate::findings::{self, FindingOnPage};
use crate::glossary;
use crate::json::Meta;
use crate::markup::escaped;
use crate::names::{clean, fitted};
use crate::number;
use crate::protocol::{self, ChainOnPage};
use crate::ranking;
use crate::replication::ReplicationReport;
use crate::scan;
use crate::shell::shell_line;
use crate::terminal;
use crate::tests_run;
use crate::words;
use askama::Template;
use assay_analysis::Analysis;
use assay_analysis::figures::Figures;
use assay_analysis::protocol::{Protocol, Status};
use assay_analysis::replication::{self, Replicated};
use assay_analysis::series_summary::SeriesSummary;
use assay_analysis::testing::Testing;
use assay_data::code::{Topic, topic};
use assay_data::{Design, Finding, Unit};
pub(crate) use table::{Row, Table};
pub(crate) use tables::tone;

/// The input of a page.
#[derive(Clone, Copy, Debug)]
pub struct Material<'a> {
    /// The analysis of the run.
    pub analysis: &'a Analysis,
    /// Which rows of a suite are shown, and in which order.
    pub shown: DisplayOptions,
    /// The data for the plots of the analysis.
    pub figures: &'a Figures,
    /// For a suite, the plot data of every row of [`benchmarks::pictured`], in that order.
    pub rows: &'a [Figures],
    /// The samples, or their location.
    pub data: &'a Data,
    /// Metadata: the program that made the page, and the command that took the samples.
    pub meta: &'a Meta,
    /// The command that regenerates this page.
    pub command: &'a [String],
    /// The protocol of every comparison; empty if not requested.
    pub protocol: &'a [Protocol],
    /// The individual series; empty if they are not described.
    pub summaries: &'a [SeriesSummary],
    /// The comparison with the earlier run that this run repeats, if any.
    pub repeats: Option<ReplicationReport<'a>>,
    /// The results of test suites, one for each side; empty for other runs.
    pub tests: &'a [Testing],
}

/// Renders the page.
///
/// # Errors
///
/// If the template can't be filled, which would be a bug.
pub fn render(material: Material<'_>) -> Result<String, askama::Error> {
    let page = if material.analysis.is_suite() {
        benchmarks::page::render(material)
    } else if !material.tests.is_empty() {
        tests_run::page::render(material)
    } else {
        page(material).render()
    };
    Ok(words_added(&page?))
}

/// Glossary terms that are not explained on these pages, which use the words in their everyday
/// sense.
const EVERYDAY: [&str; 2] = ["Event", "Look"];

/// Placeholder for the glossary in a page.
const WORDS: &str = "<!-- words -->";

/// Returns the page with a glossary of the terms it uses.
fn words_added(page: &str) -> String {
    let Some((body, _)) = page.split_once(WORDS) else { return page.to_owned() };
    let body = body.split_once("</style>").map_or(body, |(_, body)| body);
    let mut list = String::new();
    let used = glossary::used_in(body);
    for entry in used.iter().filter(|entry| !EVERYDAY.contains(&entry.term)) {
        let id = entry.term.to_lowercase().replace(' ', "-");
        list += &format!(
            "<dt id=\"word-{id}\">{}</dt><dd>{}</dd>\n",
            escaped(entry.term),
            escaped(&entry.text())
        );
    }
    page.replacen(WORDS, &list, 1)
}

#[derive(Template)]
#[template(path = "report.html")]
struct Page {
    title: String,
    tool: String,
    started: String,
    verdicts: Vec<Claim>,
    notes: Vec<String>,
    summary: Option<Table>,
    chains: Vec<ChainOnPage>,
    /// The tables that are part of the main result.
    answers: Vec<Table>,
    /// The plot that shows the main result best; empty if there is none.
    picture: Vec<Plot>,
    /// All other plots.
    plots: Vec<Plot>,
    series: Vec<SeriesOnPage>,
    /// All other tables.
    numbers: Vec<Table>,
    tests: Vec<Table>,
    findings: Vec<FindingOnPage>,
    environment: Vec<(String, String)>,
    measured_by: String,
    made_by: String,
    data: DataPart,
    methods: Vec<String>,
    sources: Vec<&'static str>,
}

struct Claim {
    tone: &'static str,
    claim: String,
    sureness: String,
}

/// A chart with its caption, and its identifier on the page.
pub(crate) struct Plot {
    pub id: String,
    pub title: String,
    pub caption: String,
    pub svg: String,
}

impl Plot {
    /// Creates the plot of a chart with the given identifier.
    pub(crate) fn of(chart: &Chart, id: String) -> Self {
        let (title, caption) = (chart.title.clone(), chart.caption.clone());
        Self { svg: svg::inline(chart, &id), title, caption, id }
    }
}

struct DataPart {
    csv: String,
    file_name: String,
    told: String,
    link: String,
}

fn page(material: Material<'_>) -> Page {
    let Material { analysis, figures, data, meta, command, protocol, summaries, repeats, .. } =
        material;
    let charts = charts::charts(analysis, figures);
    let ids = charts::file_names(&charts);
    let best = charts::best(&charts);
    let mut plots: Vec<Plot> =
        charts.iter().zip(ids).map(|(chart, id)| Plot::of(chart, id)).collect();
    let picture = best.map(|best| plots.remove(best)).into_iter().collect();
    let mut notes = Vec::new();
    let mut verdicts = claims(analysis, protocol, &mut notes);
    let chains = protocol::on_page(analysis, protocol);
    if !chains.is_empty() {
        // If the protocol was requested, its outcome comes first, so that no verdict is shown that
        // it rejects.
        verdicts = chains.iter().map(headline).collect();
    }
    if let Some(report) = &repeats {
        // For a repeated run, whether it was confirmed comes first.
        verdicts.splice(0..0, report.replication.results.iter().map(|r| became(report, r)));
    }
    Page {
        title: title(analysis),
        tool: meta.tool.clone(),
        started: analysis.started.as_deref().map(short_time).unwrap_or_default(),
        verdicts,
        notes,
        summary: summary(analysis, protocol).or_else(|| repeats.as_ref().and_then(then_and_now)),
        chains,
        answers: tables::answers(analysis),
        picture,
        plots,
        series: describe::page::of(summaries),
        numbers: tables::of(analysis),
        tests: all_table::on_page(analysis, &analysis.names()),
        findings: findings(analysis, protocol, summaries),
        environment: environment(analysis),
        measured_by: shell_line(&meta.argv),
        made_by: shell_line(command),
        data: data_part(data),
        methods: methods::told(analysis, figures, protocol),
        sources: methods::sources(analysis, figures, protocol),
    }
}

/// Returns the claim on whether this run confirms a result of the earlier run.
fn became(report: &ReplicationReport<'_>, result: &Replicated) -> Claim {
    let tone = match result.status {
        replication::Status::Confirmed => "good",
        replication::Status::Unknown => "unsure",
        replication::Status::NotConfirmed | replication::Status::Contradicted => "bad",
    };
    Claim {
        tone,
        claim: crate::replication::sentence(report, result),
        sureness: format!("repeated: {}", clean(report.file)),
    }
}

/// Returns the results of both runs side by side, or `None` if they have no result in common.
fn then_and_now(report: &ReplicationReport<'_>) -> Option<Table> {
    let names = fitted(&report.now.names(), 40, "…");
    let (heads, rows) = crate::replication::sizes(report, &names);
    (!rows.is_empty()).then(|| Table::plain("Then and now".to_owned(), heads, rows))
}

fn title(analysis: &Analysis) -> String {
    let (names, over) = match analysis.scan() {
        Some(layout) => {
            let mut varied = scan::parameters(analysis);
            varied.retain(|name| varies(analysis, name));
            let over = match varied.is_empty() {
                true => String::new(),
                false => format!(", over {}", varied.join(", ")),
            };
            (&layout.labels, over)
        }
        None => (&analysis.names(), String::new()),
    };
    let names = fitted(names, 40, "…");
    let title = match names.as_slice() {
        [only] => only.clone(),
        [first, second] => format!("{second} against {first}"),
        [first, ..] => format!("{} and {} more", first, names.len() - 1),
        [] => "assay".to_owned(),
    };
    clean(&format!("{title}{over}"))
}

/// Returns true if a parameter has more than one value.
fn varies(analysis: &Analysis, name: &str) -> bool {
    let all = analysis.subjects.iter().flat_map(|s| &s.parameters);
    let mut values = all.filter(|own| own.0 == name).map(|own| &own.1);
    let first = values.next();
    values.any(|value| Some(value) != first)
}

/// Returns an overview of the chains of a protocol, or `None` for a single chain.
pub(crate) fn summary(analysis: &Analysis, chains: &[Protocol]) -> Option<Table> {
    let (heads, rows) = protocol::summary_on_page(analysis, chains)?;
    Some(Table::plain("The four-step check at a glance".to_owned(), heads, rows))
}

/// Returns the verdicts, and adds the notes shown below them to `notes`. Notes on a verdict that
/// the protocol rejects are left out.
fn claims(analysis: &Analysis, chains: &[Protocol], notes: &mut Vec<String>) -> Vec<Claim> {
    let refused = |of: usize| chains.iter().any(|c| c.of == of && c.outcome() == Status::Failed);
    let names = fitted(&analysis.names(), 80, "…");
    let claim =
        |tone, said: words::Sentence| Claim { tone, claim: said.claim, sureness: said.sureness };
    if scan::shows(analysis) {
        let (mut compared, grown) = (scan::compared(analysis), scan::grown(analysis));
        if compared.is_empty() {
            compared = grown;
        } else {
            notes.extend(scan::overall(analysis));
            notes.extend(grown.iter().map(words::Sentence::plain));
        }
        return compared.into_iter().map(|said| claim("plain", said)).collect();
    }
    if analysis.comparisons.is_empty() {
        let subjects = names.iter().enumerate();
        return subjects
            .map(|(s, name)| claim("plain", terminal::alone_said(analysis, s, name)))
            .collect();
    }
    let mut found = Vec::new();
    if let Some(claim) = ranking::line(analysis, &names) {
        found.push(Claim { tone: "plain", claim, sureness: String::new() });
    }
    for c in &analysis.comparisons {
        let (of, against) = (&names[c.of], &names[c.against]);
        found.push(claim(tone(c.decision.verdict), words::sentence(analysis, c, of, against)));
        if !refused(c.of) {
            notes.extend(words::details(analysis, c, of, against));
        }
    }
    let control = |c| words::control(analysis, c, &names[c.of], &names[c.against]);
    notes.extend(analysis.controls.iter().map(control));
    notes.extend(findings::about_code(analysis).map(|finding| finding.message.clone()));
    if analysis.comparisons.iter().any(|c| c.design != Design::Blocks && !refused(c.of)) {
        notes.extend(words::caveats_in_sentences(analysis));
    }
    found
}

/// Returns the conclusion of a chain, in a tone that depends on its outcome.
fn headline(chain: &ChainOnPage) -> Claim {
    let tone = match chain.outcome {
        Status::Passed => "good",
        Status::Warning => "unsure",
        Status::Failed | Status::NotReached => "bad",
    };
    Claim { tone, claim: chain.claim.clone(), sureness: String::new() }
}

/// Returns the findings of the analysis, and those of the summaries that the analysis does not
/// report.
fn findings(
    analysis: &Analysis,
    chains: &[Protocol],
    summaries: &[SeriesSummary],
) -> Vec<FindingOnPage> {
    // Findings stated below the verdict are not repeated.
    let said = |f: &&Finding| {
        let has_said = words::has_said(&f.code) || findings::is_about_code(f);
        has_said || protocol::is_no_matter(f, chains)
    };
    let rest = analysis.findings.iter().filter(|f| !said(f));
    // A summary contains more about its series than the analysis, and determines which finding
    // explains another. Findings that it leaves out are not reported here.
    let about = |f: &Finding, name: &str| f.subject.as_deref() == Some(name);
    // For comparisons the analysis is more accurate: for example, drift cancels in blocks.
    let alone = analysis.comparisons.is_empty();
    let drawn = |f: &&Finding| !(alone && summaries.iter().any(|p| about(f, &p.name)));
    let mut rest: Vec<&Finding> = rest.filter(drawn).collect();
    let own = summaries.iter().flat_map(|p| &p.findings);
    rest.extend(own.filter(|f| alone || topic(&f.code) == Topic::Series));
    rest.sort_by_key(|f| std::cmp::Reverse(f.severity));
    let told = findings::by_text(rest.into_iter());
    told.iter().map(|(finding, more)| FindingOnPage::new(finding, more)).collect()
}

fn environment(analysis: &Analysis) -> Vec<(String, String)> {
    analysis.environment.facts.iter().map(fact).collect()
}

/// Formats a fact of the environment for people.
pub(crate) fn fact((name, value): (&String, &serde_json::Value)) -> (String, String) {
    let value = match value {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Null => "unknown".to_owned(),
        serde_json::Value::Bool(is) => if *is { "yes" } else { "no" }.to_owned(),
        other => other.as_f64().map_or_else(|| other.to_string(), |n| quantity(name, n)),
    };
    let name = name.trim_end_matches("_seconds").trim_end_matches("_us").replace('_', " ");
    (clean(&name), clean(&value))
}

/// Formats a number of the environment in the unit implied by its name.
fn quantity(name: &str, n: f64) -> String {
    match name {
        "memory_total" | "swap_total" | "cgroup_memory_max" => number::value(n, &Unit::Byte),
        name if name.ends_with("_share") || name.ends_with("_share_of_run") => {
            number::percent_fine(n)
        }
        name if name.ends_with("_seconds")
            || name.starts_with("calibrated_") && n.fract() != 0.0 =>
        {
            if name.starts_with("calibrated_") {
                number::percent_fine(n)
            } else {
                number::value(n, &Unit::Second)
            }
        }
        "run_time" => number::value(n, &Unit::Second),
        name if name.ends_with("_us") && n >= 0.0 => number::value(n / 1e6, &Unit::Second),
        _ => number::value(n, &Unit::One),
    }
}

fn data_part(data: &Data) -> DataPart {
    let nothing = || DataPart {
        csv: String::new(),
        file_name: String::new(),
        told: String::new(),
        link: String::new(),
    };
    match data {
        Data::Embedded { csv, told, command } => DataPart {
            csv: csv.clone(),
            file_name: "samples.csv".to_owned(),
            told: told.clone(),
            link: command.clone(),
        },
        Data::Elsewhere { values, file: Some(file) } => DataPart {
            told: format!("{values} values are too many for a page; they are in"),
            link: clean(file),
            ..nothing()
        },
        Data::Elsewhere { values, file: None } => {
            DataPart { told: format!("{values} values are too many for a page."), ..nothing() }
        }
    }
}

/// Formats an RFC 3339 time as date and time, to the second.
pub(crate) fn short_time(time: &str) -> String {
    let (day, clock) = time.split_once('T').unwrap_or((time, ""));
    let clock = clock.trim_end_matches('Z').split('.').next().unwrap_or("");
    clean(format!("{day} {clock}").trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_told_to_the_second() {
        assert_eq!(short_time("2026-03-01T12:00:05.123456Z"), "2026-03-01 12:00:05");
    }
}
