//! `assay convert`: converts samples from any supported format to a format for other tools or for
//! people.

use crate::args::ReadingArgs;
use crate::raw_form::RawForm;
use crate::{Ending, output, whole_file};
use anyhow::Context;
use assay_data::import;
use assay_report::console::outputs;
use std::path::{Path, PathBuf};

/// Arguments of `assay convert`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  assay convert bench.json -o bench.assay             everything, in assay's own format
  assay convert --to csv bench.json                   every observation as a table, on the screen
  assay convert run.assay -o run.hyperfine.json       for scripts that read hyperfine's JSON
  assay convert run.assay -o run.gbench.json          for Google Benchmark's compare.py
  assay convert --to go old.json > old.txt            for benchstat
  assay convert --to text --filter 'BM_Copy .metric:cpu' bench.json   plain numbers, for R or ministat

Several files are merged into one. Only .assay keeps everything; other formats drop what they cannot represent.")]
pub(crate) struct Args {
    /// Files to read, in any supported format; - is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Format to write [default: by the extension of --output, otherwise assay]
    #[arg(long, value_enum, value_name = "FORMAT")]
    to: Option<RawForm>,

    /// File to write [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Omit host name, user, directories and repository
    #[arg(long)]
    anonymous: bool,

    #[command(flatten)]
    reading: ReadingArgs,
}

/// Reads the samples and writes them.
pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    let form = form(args)?;
    if let Some(path) = &args.output {
        outputs::check(&args.files, &[("--output", path, "samples.csv")])?;
    }
    let mut samples = import::load(&args.files, &args.reading.options())?;
    if args.anonymous {
        samples.make_anonymous();
    }
    match &args.output {
        Some(path) => whole_file::write(path, |mut file| Ok(form.write(&samples, &mut file)?))
            .with_context(|| format!("--output {}", path.display()))?,
        None => output::stream(|mut out| Ok(form.write(&samples, &mut out)?))?,
    }
    Ok(Ending::Fine)
}

fn form(args: &Args) -> anyhow::Result<RawForm> {
    match (args.to, &args.output) {
        (Some(form), _) => Ok(form),
        (None, None) => Ok(RawForm::Assay),
        (None, Some(path)) => form_of(path).with_context(|| {
            format!(
                "--output {}: unknown extension; give --to, or one of {}",
                path.display(),
                RawForm::endings()
            )
        }),
    }
}

/// Returns the format that a file name selects. Every `.csv` is a table of observations, because
/// nothing is summarized here.
pub(crate) fn form_of(path: &Path) -> Option<RawForm> {
    let is_csv = || path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("csv"));
    RawForm::of_ending(path).or_else(|| is_csv().then_some(RawForm::Csv))
}
