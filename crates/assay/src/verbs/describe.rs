//! `assay describe`: summarizes individual series without comparing them.

use crate::advice::{Dialect, spell};
use crate::args::{LookArgs, PageArgs, ReadingArgs, ShowArgs, SideArgs, confidence, files_of};
use crate::present::Showing;
use crate::present::pages::Extras;
use crate::progress::Work;
use crate::{Ending, output, present};
use anyhow::Context;
use assay_analysis::overview;
use assay_analysis::series_summary::{self, Options, SeriesSummary};
use assay_data::{Samples, import};
use assay_report::benchmarks::DisplayOptions;
use assay_report::remarks::Remarks;
use assay_report::{describe, json};
use std::path::PathBuf;

/// Arguments of `assay describe`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  assay describe times.txt                       one number per line
  assay describe --unit ms old.txt new.txt       two series, in milliseconds
  assay describe run.assay --primary max_rss     another metric of a run
  assay describe --by 1 --value 2 --unit ns data.csv.gz
  assay describe --all --json times.txt          every number, for programs

To write the samples for other tools, use assay convert FILE --to FORMAT.

Values are assumed to be in the order of measurement. In a sorted file, changes over time are lost.")]
pub(crate) struct Args {
    /// Sample files: .assay, columns of numbers, CSV or any format in
    /// docs/reference/input-files.md; optionally .gz; - is standard input
    #[arg(required_unless_present = "sides", value_name = "FILE")]
    files: Vec<PathBuf>,

    #[command(flatten)]
    sides: SideArgs,

    #[command(flatten)]
    reading: ReadingArgs,

    #[command(flatten)]
    what: WhatArgs,

    #[command(flatten)]
    look: LookArgs,

    /// Print every warning and note in full [default: at most five lines for each series]
    #[arg(long, short, conflicts_with = "quiet", help_heading = "Output")]
    verbose: bool,

    #[command(flatten)]
    pages: PageArgs,
}

/// Options that select what is described.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Describing")]
struct WhatArgs {
    /// Metric to describe, if there are several [default: wall for commands, otherwise the first]
    #[arg(long, value_name = "METRIC")]
    primary: Option<String>,

    /// Describe every metric, and each series separately even if there are more than three
    ///
    /// With --json, also run the signed-rank test and the bootstrap.
    #[arg(long)]
    all: bool,

    /// Confidence level of the intervals [default: 95%]
    #[arg(long, value_name = "PERCENT", value_parser = confidence)]
    confidence: Option<f64>,

    /// Seed of all random choices [default: 1]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(..1 << 53))]
    seed: Option<u64>,
}

/// Maximum number of subjects that are each described in full. If there are more, they are shown in
/// one table unless `--all` is given.
const FEW: usize = 3;

/// Shows many series, or series that exist only as summaries, in one table.
fn show_overview(args: &Args, files: &[PathBuf], samples: &Samples) -> anyhow::Result<Ending> {
    let confidence = args.what.confidence.unwrap_or(Options::default().confidence);
    let mut found = overview::of_samples(samples, args.what.primary.as_deref(), confidence)
        .with_context(|| {
            files.iter().map(|f| f.display().to_string()).collect::<Vec<_>>().join(", ")
        })?;
    if args.pages.report.is_some() || args.pages.plots.is_some() {
        anyhow::bail!(
            "--report and --plots draw only a few series, and there are {} (or only summaries of them); with --all, every one is drawn",
            found.lines.len()
        );
    }
    spell(Dialect::Describe, &mut found.findings);
    let file = files.first().filter(|_| files.len() == 1);
    let meta = present::meta_of("describe", samples, file.map(PathBuf::as_path));
    if args.look.json {
        let seed = args.what.seed.unwrap_or(Options::default().seed);
        let document = json::SeriesDescription::of_overview(&found, seed, &meta);
        output::print(&json::text(&document)?)?;
    } else {
        let screen = present::screen(args.look.color);
        let remarks = Remarks::wanted(args.look.quiet, args.verbose);
        output::print(&assay_report::overview::render(&found, "--all", remarks, &screen))?;
    }
    Ok(Ending::Fine)
}

/// Writes the report and the plots of series that are not compared.
fn write_pages(
    args: &Args,
    samples: &Samples,
    summaries: &[SeriesSummary],
    meta: &json::Meta,
) -> anyhow::Result<()> {
    if args.pages.report.is_none() && args.pages.plots.is_none() {
        return Ok(());
    }
    let mut apart = samples.clone();
    apart.subjects.iter_mut().enumerate().for_each(|(own, s)| s.against = Some(own));
    let options = assay_analysis::Options {
        confidence: args.what.confidence,
        primary: args.what.primary.clone(),
        ..assay_analysis::Options::default()
    };
    let mut analysis = assay_analysis::analyse(&apart, &options)?;
    spell(Dialect::Describe, &mut analysis.findings);
    let extras = Extras { summaries, ..Extras::default() };
    let show = &ShowArgs {
        json: false,
        export: Vec::new(),
        pages: args.pages.clone(),
        verbose: false,
        quiet: args.look.quiet,
        color: args.look.color,
    };
    let (dialect, rows) = (Dialect::Describe, DisplayOptions::default());
    let how = Showing { dialect, rows, show, file: None };
    present::pages::write(how, &analysis, &apart, extras, meta)
}

/// Reads the samples, writes the plots, and shows the summaries.
pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    let page = args.pages.report.as_deref().map(|path| ("--report", path, "report.html"));
    let sides = args.sides.with(&args.files)?;
    let files = files_of(&sides);
    assay_report::console::outputs::check(&files, &page.into_iter().collect::<Vec<_>>())?;
    present::pages::check(&args.pages)?;
    let mut work = Work::on_files(args.look.quiet, "describing", &files);
    let samples = import::load_sides(&sides, &args.reading.options())?;
    if samples.is_empty() || (samples.subjects.len() > FEW && !args.what.all && !args.look.json) {
        work.end();
        return show_overview(args, &files, &samples);
    }
    let defaults = Options::default();
    let options = Options {
        confidence: args.what.confidence.unwrap_or(defaults.confidence),
        primary: args.what.primary.clone(),
        all: args.what.all,
        seed: args.what.seed.unwrap_or(defaults.seed),
    };
    let summaries = series_summary::phases(&samples, &options).and_then(|phases| {
        work.read(samples.len(), phases);
        series_summary::of_samples_telling(&samples, &options, &mut |phase| work.begin(phase))
    });
    work.end();
    let mut summaries = summaries.with_context(|| {
        files.iter().map(|f| f.display().to_string()).collect::<Vec<_>>().join(", ")
    })?;
    spell(Dialect::Describe, &mut summaries.findings);
    summaries.series.iter_mut().for_each(|p| spell(Dialect::Describe, &mut p.findings));
    let file = files.first().filter(|_| files.len() == 1);
    let meta = present::meta_of("describe", &samples, file.map(PathBuf::as_path));
    let written = write_pages(args, &samples, &summaries.series, &meta);
    if args.look.json {
        output::print(&json::text(&json::SeriesDescription::of(&summaries, &meta))?)?;
    } else {
        output::print(&describe::render(
            &summaries,
            Remarks::wanted(args.look.quiet, args.verbose),
            &present::screen(args.look.color),
        ))?;
    }
    written.map(|()| Ending::Fine)
}
