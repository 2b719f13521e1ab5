//! `assay tests log`: shows which tests write most to a log.

use crate::args::LookArgs;
use crate::{Ending, output, present};
use assay_data::input;
use assay_report::json::{self, TestLog};
use assay_report::test_log::{self, LogLimits};
use assay_suites::log::{self, Marker};
use std::path::PathBuf;

/// Arguments of `assay tests log`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  assay tests log log/test.log                      which tests write most to the log?
  assay tests log -n 0 --shapes 0 log/test.log      all tests, each on one line
  go test -v ./... | assay tests log --marker '=== RUN +(.*)' -")]
pub(crate) struct Args {
    /// Log file, optionally compressed with gzip; - is standard input
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    file: PathBuf,

    /// Regular expression for the lines that mark the start of a test
    ///
    /// It is matched at the start of each line's message, and its first group is the test's name.
    /// All other lines are attributed to the test that started most recently. Without this option,
    /// headings between two lines of dashes, as Rails writes them, also mark the start of a test.
    #[arg(long, value_name = "REGEX", default_value = Marker::USUAL)]
    marker: String,

    /// Number of tests to list; 0 lists all
    #[arg(long, short = 'n', value_name = "TESTS", default_value_t = 10)]
    number: usize,

    /// Number of most frequent lines to show below each test, with values replaced by placeholders
    #[arg(long, value_name = "LINES", default_value_t = 1)]
    shapes: usize,

    #[command(flatten)]
    look: LookArgs,
}

/// Reads the log and shows the totals.
pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    let marker = Marker::new(&args.marker)?;
    let log = input::stream(&args.file)?;
    let name = args.file.display().to_string();
    let file = if name == "-" { "stdin" } else { name.as_str() };
    let found = log::read(log, &marker).map_err(|error| input::failed(file, error))?;
    output::print(&if args.look.json {
        json::text(&TestLog::of(&found, &name))?
    } else {
        let tests = if args.number == 0 { usize::MAX } else { args.number };
        let shown = LogLimits { tests, shapes: args.shapes };
        test_log::render(&found, shown, &present::screen(args.look.color))
    })?;
    Ok(Ending::Fine)
}
