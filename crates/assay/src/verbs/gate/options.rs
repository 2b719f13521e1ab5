//! The options of `assay gate`.

use crate::args::{SideArgs, any_words, confidence, seconds, threshold};
use crate::history::BesideArgs;
use assay_data::Threshold;
use std::path::PathBuf;

/// Arguments of `assay gate`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  assay bench ./bench --keep && assay gate     compare the run just kept with earlier runs
  assay gate new.json                          judge a file, without keeping it
  assay gate new.json --machine ci             judge a file from a machine whose host name changes
  assay gate --confirm --build make            raise an alarm only if a fresh run confirms it
  assay gate new.json --rev HEAD --confirm --build make -- bench build/bm
  assay gate --export comment.md --export gate.xml --export gate.sarif --export badge.svg

Exit codes: 0 nothing is worse, 1 something is worse, 2 usage or input error,
3 inconclusive (too few runs, too much spread, or an outlier that no other run
confirms: run it again, or use --confirm), 130 interrupted.

If both builds can be measured here and now, `assay bench --rev OLD --rev NEW`
detects smaller changes, because differences between runs cancel out. --confirm
measures this way: if a benchmark is worse or this run is an outlier, it
measures those benchmarks of the last normal revision and of the new one
alternately, and that fresh run decides. The command is that of the recorded
run, or the words after `--`.")]
pub(crate) struct Args {
    /// File in any format that `assay compare` reads [default: the last run that was kept]
    #[arg(value_name = "FILE")]
    pub(super) file: Option<PathBuf>,

    #[command(flatten)]
    pub(super) sides: SideArgs,

    /// Smallest worsening to report [default: 1%]
    #[arg(long, value_name = "PERCENT", value_parser = share, help_heading = "Deciding")]
    pub(super) threshold: Option<f64>,

    /// Worsening that must be detectable; otherwise the answer is inconclusive [default: 5%,
    /// or a larger threshold]
    #[arg(long, value_name = "PERCENT", value_parser = share, help_heading = "Deciding")]
    pub(super) detect: Option<f64>,

    /// Confidence level that all verdicts share [default: 95%]
    #[arg(long, value_name = "PERCENT", value_parser = confidence, help_heading = "Deciding")]
    pub(super) confidence: Option<f64>,

    /// Number of latest runs that define what is normal [default: 50]
    #[arg(long, value_name = "RUNS", value_parser = clap::value_parser!(u32).range(5..), help_heading = "Deciding")]
    pub(super) window: Option<u32>,

    /// Metric to judge [default: the run's primary metric]
    #[arg(long, value_name = "METRIC", help_heading = "Deciding")]
    pub(super) primary: Option<String>,

    /// Also judge these metrics (the error rate is shared among all of them)
    #[arg(long, value_name = "METRICS", value_delimiter = ',', help_heading = "Deciding")]
    pub(super) secondary: Vec<String>,

    /// Use only runs of revisions on this branch (by first parents) to define what is normal
    #[arg(long, value_name = "BRANCH", help_heading = "Deciding", value_parser = any_words())]
    pub(super) branch: Option<String>,

    #[command(flatten)]
    pub(super) confirm: ConfirmArgs,

    /// Also write the answer to a file: .json, .md, .xml, .sarif or .svg
    ///
    /// .md is a comment for a pull request, with a hidden first line that identifies it; .xml is
    /// JUnit XML, .sarif is SARIF 2.1.0, and .svg is a badge.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(super) export: Vec<PathBuf>,

    /// Also list the benchmarks that are normal, and show all findings
    #[arg(long, help_heading = "Output")]
    pub(super) all: bool,

    #[command(flatten)]
    pub(super) beside: BesideArgs,
}

/// Options for confirming alarms.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Confirming")]
pub(super) struct ConfirmArgs {
    /// Raise an alarm only if a fresh run confirms it: measure the last normal revision and the new
    /// one alternately
    #[arg(long)]
    pub(super) confirm: bool,

    /// Shell line that builds a revision, run at the root of its working tree, once per commit
    /// [default: the build line of the run, if it has one]
    #[arg(long, value_name = "LINE", requires = "confirm", value_parser = any_words())]
    pub(super) build: Option<String>,

    /// Revision that was measured [default: the recorded one]
    #[arg(long, value_name = "REVISION", requires = "confirm", value_parser = any_words())]
    pub(super) rev: Option<String>,

    /// Time budget of a fresh run, not counting builds [default: 60s]
    #[arg(long, value_name = "SPAN", value_parser = seconds, requires = "confirm")]
    pub(super) time: Option<f64>,

    /// `run` or `bench` with arguments, to measure the benchmarks again [default: the command of
    /// the recorded run]
    #[arg(last = true, value_name = "VERB|ARGUMENT", requires = "confirm", value_parser = any_words())]
    pub(super) words: Vec<String>,
}

fn share(text: &str) -> Result<f64, String> {
    let found = threshold(text);
    if let Ok(Threshold::Relative(share)) = found {
        return Ok(share);
    }
    // The input is a bare number, or has another unit or a decimal comma.
    let number = text.trim_end_matches(|c: char| c.is_alphabetic() || c == '%').replace(',', ".");
    let number = number.trim();
    match number.parse::<f64>() {
        Ok(size) if size > 0.0 => Err(format!("it is a percentage: write `{number}%`")),
        _ => Err(found.err().unwrap_or_else(|| "write it like `5%`".to_owned())),
    }
}
