//! `assay compare`: reaches a verdict on samples recorded by `assay` or by other tools.

pub(crate) mod suite;

use crate::advice::Dialect;
use crate::args::{JudgeArgs, ProtocolArgs, ReadingArgs, SameArgs, ShowArgs, SideArgs, files_of};
use crate::present::Showing;
use crate::present::pages::Extras;
use crate::progress::Work;
use crate::{Ending, output, present};
use anyhow::{Context, bail};
use assay_analysis::Options;
use assay_analysis::analysis::{self, analyse_telling};
use assay_analysis::protocol::{self, STEPS};
use assay_data::code;
use assay_data::import;
use assay_data::select::{self, Key};
use assay_data::{Finding, Samples};
use assay_report::benchstat;
use std::path::PathBuf;

/// Arguments of `assay compare`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  assay compare old.txt new.txt                       one number per line, each file one subject
  assay compare run.assay                             a recorded run: the same verdict, to the last digit
  assay compare --unit ms old.txt new.txt             the numbers are milliseconds
  assay compare times.csv                             one column per subject
  assay compare --by build --value ns --unit ns t.csv long form: one row per value
  assay compare --by 1 --value 2 --unit ns data.csv.gz
  assay compare old.json new.json                     two suites: benchmarks matched by name
  assay compare --side 'old=old*.json' --side 'new=new*.json'   several recordings per side
  assay compare --rigorous --unit us --threshold 6.667us --alpha 0.01 --power 0.95 a.txt b.txt

A verdict on separate files also reflects anything else that changed between the recordings. Blocks measured in one run \
(`assay run A B`) do not have this weakness.")]
pub(crate) struct Args {
    /// Sample files: .assay, columns of numbers, CSV or any format in
    /// docs/reference/input-files.md; optionally .gz; - is standard input. The first is the
    /// reference
    #[arg(required_unless_present = "sides", value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Subject (for suites, side) that all others are compared with [default: the first]
    #[arg(long, value_name = "NAME")]
    reference: Option<String>,

    #[command(flatten)]
    sides: SideArgs,

    #[command(flatten)]
    reading: ReadingArgs,

    /// Key that forms the columns to compare: .file, .name, or a parameter such as n [default:
    /// .file]
    #[arg(long, value_name = "KEYS", value_delimiter = ',', help_heading = "Reading")]
    col: Vec<Key>,

    /// Key that forms the rows: .name, .fullname, .file, or parameters [default: the parts of the
    /// name that --col does not use]
    #[arg(long, value_name = "KEYS", value_delimiter = ',', help_heading = "Reading")]
    row: Vec<Key>,

    #[command(flatten)]
    judge: JudgeArgs,

    #[command(flatten)]
    same: SameArgs,

    /// Also run every classical test (t, Mann-Whitney, Kolmogorov-Smirnov, ...), with a short table
    /// on the terminal and all results in --json
    ///
    /// Each result equals R's for the same data. The tests do not change the verdict: picking the
    /// one with the most pleasing result is a way to fool yourself. Only complete blocks are used.
    /// For separate recordings of the same length, the paired tests match values by position.
    #[arg(long, help_heading = "Deciding")]
    all: bool,

    /// Print a table in benchstat's layout, with changes in percent and p-values
    ///
    /// The verdicts are assay's own: ~ means that no direction is known.
    #[arg(long, value_enum, value_name = "NAME", help_heading = "Output", conflicts_with_all = ["json", "rigorous"])]
    format: Option<Format>,

    #[command(flatten)]
    suite: suite::SuiteArgs,

    #[command(flatten)]
    protocol: ProtocolArgs,

    #[command(flatten)]
    show: ShowArgs,
}

/// Table layouts of other tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// benchstat's table
    Benchstat,
}

/// Returns the names of the files, as errors list them.
fn named(files: &[PathBuf]) -> String {
    files.iter().map(|f| f.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// Rejects options that would treat the runs of one build as independent values.
///
/// # Errors
/// Fails if a side has several builds, and classical tests or a format based on them are requested.
fn check_builds(args: &Args, samples: &Samples) -> anyhow::Result<()> {
    let option = match (args.all, args.protocol.rigorous) {
        _ if args.format.is_some() => "--format",
        (true, _) => "--all",
        (_, true) => "--rigorous",
        _ => return Ok(()),
    };
    if samples.sides.iter().any(|side| !side.builds.is_empty()) {
        bail!(
            "{option}: each side has several builds, and classical tests would treat the runs of one build as independent values; without {option}, the interval is based on the builds"
        );
    }
    Ok(())
}

/// Checks that there is something to compare, and adds a finding about a file that was given twice.
///
/// # Errors
/// Fails if the condition of `--fail-if` could never be met.
fn check_sides(args: &Args, samples: &mut Samples) -> anyhow::Result<()> {
    let fail_if = &args.judge.fail_if;
    // Several subjects of one side are compared with each other.
    let sides = samples.sides.len().max(samples.subjects.len());
    let instead = "give a second file, or a recording of several sides";
    present::check_fail_if(fail_if, sides, "one side", instead)?;
    let Some(file) = given_twice(&args.files) else { return Ok(()) };
    if !fail_if.is_empty() && args.files.len() == 2 {
        bail!("--fail-if: {} is given twice, and does not differ from itself", file.display());
    }
    let message = format!("{} is given twice: it does not differ from itself", file.display());
    samples.findings.push(Finding::new(code::SAME_INPUT, message));
    Ok(())
}

/// Returns the first file that is given twice, under the same or different paths.
fn given_twice(files: &[PathBuf]) -> Option<&PathBuf> {
    let places: Vec<Option<PathBuf>> =
        files.iter().map(|file| file.canonicalize().ok().filter(|place| place.is_file())).collect();
    let again = |i: usize| places[i].is_some() && places[..i].contains(&places[i]);
    (1..files.len()).find(|&i| again(i)).map(|i| &files[i])
}

/// Reads the samples, analyzes them, and shows the result.
pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    let sides = args.sides.with(&args.files)?;
    let files = files_of(&sides);
    present::check_exports(&args.show, &files, None, &[])?;
    let asked = args.protocol.options();
    if asked.is_some() {
        present::check_protocol_exports(&args.show)?;
        args.suite.check_rigorous()?;
    }
    let mut work = Work::on_files(args.show.quiet, "comparing", &files);
    let mut samples = import::load_sides(&sides, &args.reading.options())?;
    if let ([only], false) = (files.as_slice(), args.col.is_empty()) {
        // All columns of a file have its name as their source, because they come from one
        // recording.
        let file = only.display().to_string();
        samples.sides.iter_mut().for_each(|side| {
            side.source.get_or_insert_with(|| file.clone());
        });
    }
    if !args.col.is_empty() || !args.row.is_empty() {
        select::project(&mut samples, &args.row, &args.col)?;
    }
    suite::check_comparable(args, &samples)?;
    check_sides(args, &mut samples)?;
    check_builds(args, &samples)?;
    present::check_direction(&samples, args.judge.primary.as_deref(), &args.judge.fail_if)?;
    let options = Options {
        all: args.all || args.format.is_some(),
        adjust: args.suite.adjust(),
        reference: args.reference.clone(),
        ..args.judge.options()
    };
    let steps = asked.map_or(0, |_| samples.subjects.len().saturating_sub(1).max(1) * STEPS.len());
    work.read(samples.len(), analysis::phases(&options) + steps);
    let analysis = analyse_telling(&samples, &options, &mut |phase| work.begin(phase));
    let mut analysis = analysis.with_context(|| named(&files))?;
    let file = files.first().filter(|_| files.len() == 1);
    let file = file.map(PathBuf::as_path);
    let rows = args.suite.shown();
    let how = Showing { dialect: Dialect::Compare, rows, show: &args.show, file };
    if let Some(options) = asked {
        let mut chains =
            protocol::run_telling(&samples, &analysis, &options, &mut |step| work.begin(step));
        work.end();
        present::protocol(how, &mut analysis, &samples, &mut chains)?;
        return Ok(args.protocol.ending(&chains, present::judge(&analysis, &args.judge.fail_if)));
    }
    work.end();
    if args.format == Some(Format::Benchstat) {
        present::export_all(how, &analysis, &samples, Extras::default())?;
        output::print(&benchstat::render(&analysis, rows))?;
        return Ok(present::judge(&analysis, &args.judge.fail_if));
    }
    present::present(how, &mut analysis, &samples)?;
    Ok(args.same.ending(&analysis, present::judge(&analysis, &args.judge.fail_if)))
}
