//! `--report` and `--plots`: writes the page and the charts that the report crate draws.
//!
//! Files that cannot be written are reported before anything is measured. Nothing is drawn here.

use crate::advice::spell;
use crate::args::PageArgs;
use crate::present::Showing;
use crate::progress::Work;
use crate::{output, present, whole_file};
use anyhow::Context;
use assay_analysis::Analysis;
use assay_analysis::figures::{Figures, of_comparisons, with_protocol};
use assay_analysis::protocol::Protocol;
use assay_analysis::series_summary::{self, Options, SeriesSummary};
use assay_analysis::testing;
use assay_data::Samples;
use assay_data::publishing::publishable;
use assay_report::benchmarks::pictured;
use assay_report::charts::{self, Chart, forest, png, svg};
use assay_report::html::{self, Data, Material};
use assay_report::json::Meta;
use assay_report::replication::ReplicationReport;
use std::fs;
use std::path::Path;

/// Pixels of a PNG per unit of the chart, which makes the image about 1,000 pixels wide.
const PIXELS: f64 = 2.5;

/// Checks the file extension of the page, and creates the directory of the charts.
///
/// # Errors
/// Fails if the extension belongs to another format, or the directory cannot be created or written.
pub(crate) fn check(wanted: &PageArgs) -> anyhow::Result<()> {
    if let Some(path) = &wanted.report {
        let ending = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        anyhow::ensure!(
            !OTHER_ENDINGS.contains(&ending.as_str()),
            "--report {}: a report is HTML: name it {}; --export writes .md, .json and .csv",
            path.display(),
            path.with_extension("html").display()
        );
    }
    if let Some(directory) = &wanted.plots {
        let named = || format!("--plots {}", directory.display());
        if directory.exists() && !directory.is_dir() {
            anyhow::bail!("{}: that is a file; name a directory", named());
        }
        fs::create_dir_all(directory).with_context(named)?;
        whole_file::check_directory(directory).with_context(named)?;
    }
    Ok(())
}

/// Endings of files that are not HTML.
const OTHER_ENDINGS: [&str; 7] = ["pdf", "md", "json", "csv", "txt", "png", "svg"];

/// Contents of a page in addition to the analysis.
#[derive(Clone, Copy, Default)]
pub(crate) struct Extras<'a> {
    /// The protocol of every comparison.
    pub protocol: &'a [Protocol],
    /// Summaries of the individual series; if empty, the page summarizes the series that it draws.
    pub summaries: &'a [SeriesSummary],
    /// The comparison with the run that this one repeats.
    pub repeats: Option<ReplicationReport<'a>>,
}

/// Writes the requested page and charts.
///
/// # Errors
/// Fails if a file cannot be written.
pub(crate) fn write(
    how: Showing<'_>,
    analysis: &Analysis,
    samples: &Samples,
    extras: Extras<'_>,
    meta: &Meta,
) -> anyhow::Result<()> {
    let (wanted, quiet) = (&how.show.pages, how.show.quiet);
    if wanted.report.is_none() && wanted.plots.is_none() {
        return Ok(());
    }
    let outputs = usize::from(wanted.report.is_some()) + usize::from(wanted.plots.is_some());
    let work = Work::on_values(quiet, "drawing", samples.len(), 1 + outputs);
    work.begin("curves");
    let figures = with_protocol(samples, analysis, extras.protocol);
    let tests = testing::of(samples, analysis.plan.confidence);
    let rows = match wanted.report.is_some() && analysis.is_suite() {
        true => of_comparisons(samples, analysis, &pictured(analysis)),
        false => Vec::new(),
    };
    let written = wanted.report.as_deref().map(|path| {
        work.begin("page");
        let data = Data::of(samples, meta.file.clone());
        let command = present::argv();
        let (figures, rows, data, command) = (&figures, &rows, &data, &command);
        let tests = &tests;
        let Extras { protocol, summaries, repeats } = extras;
        let mut drawn =
            if summaries.is_empty() { alone(analysis, samples, figures) } else { Vec::new() };
        drawn.iter_mut().for_each(|summary| spell(how.dialect, &mut summary.findings));
        let summaries = if summaries.is_empty() { &drawn } else { summaries };
        let shown = how.rows;
        let material = Material {
            analysis,
            shown,
            figures,
            rows,
            data,
            meta,
            command,
            protocol,
            summaries,
            repeats,
            tests,
        };
        html::render(material)
            .map_err(anyhow::Error::from)
            .map(|page| if wanted.unredacted { page } else { publishable(&page) })
            .and_then(|page| whole_file::replace(path, page.as_bytes()))
            .with_context(|| format!("--report {}", path.display()))
    });
    let drawn = wanted.plots.as_deref().map(|directory| {
        work.begin("plots");
        let sides = || analysis.sides.iter().map(|side| side.name.clone()).collect();
        let about = if analysis.is_suite() { sides() } else { analysis.names() };
        let drawn = if analysis.is_suite() {
            forest::charts(analysis, how.rows.sort)
        } else {
            charts::charts(analysis, &figures)
        };
        write_charts(&drawn, &about, directory)
            .with_context(|| format!("--plots {}", directory.display()))
    });
    work.end();
    if !quiet
        && let Some(Ok(())) = &written
        && let Some(path) = &wanted.report
    {
        output::say(&format!("report: {}", path.display()));
    }
    written.into_iter().chain(drawn).collect()
}

/// Summarizes, one by one, the series of a comparison that the page draws.
fn alone(analysis: &Analysis, samples: &Samples, figures: &Figures) -> Vec<SeriesSummary> {
    // In a suite, the rows take the place of series.
    if analysis.is_suite() {
        return Vec::new();
    }
    let options = Options { confidence: analysis.plan.confidence, ..Options::default() };
    let shown = figures.subjects.iter().map(|s| s.subject);
    series_summary::of_subjects(samples, shown, analysis.primary, &options)
}

/// Writes each chart as SVG and PNG. Charts of the same name are numbered.
pub(crate) fn write_charts(
    drawn: &[Chart],
    about: &[String],
    directory: &Path,
) -> anyhow::Result<()> {
    for (chart, name) in drawn.iter().zip(charts::file_names(drawn)) {
        let chart = chart.clone().titled(about);
        let file = |ending: &str| directory.join(format!("{name}.{ending}"));
        whole_file::replace(&file("svg"), svg::standalone(&chart).as_bytes())?;
        whole_file::replace(&file("png"), &png::render(&chart.scene, PIXELS)?)?;
    }
    Ok(())
}
