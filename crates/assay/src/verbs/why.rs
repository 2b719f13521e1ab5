//! `assay why`: shows the most likely cause of a difference, based on the record and, with
//! `--measure`, on sampled runs. Nothing is computed here.

#[cfg(target_os = "linux")]
mod code;
#[cfg(target_os = "linux")]
mod measuring;

use crate::args::LookArgs;
use crate::{Ending, output, present};
use anyhow::{Context, bail};
use assay_analysis::{Options, analyse, why};
use assay_data::Samples;
use assay_data::import::{self, ImportOptions};
use assay_data::samples::NOT_COMPARED;
use assay_report::console::{outputs, whole_file};
use assay_report::json;
use assay_report::shell::quoted;
use assay_report::why::{WhyReport, markdown, render};
use std::path::{Path, PathBuf};

/// Arguments of `assay why`.
#[derive(clap::Args, Debug)]
#[command(after_long_help = "\
The answer comes first: the most likely cause with its share of the difference, or a statement that no part explains it. Wall time is \
user time, \
system time and waiting, so each has an exact share with an interval. Page faults, allocations and files are named as the cause of a \
part if they changed in the same direction and their cost can explain at least half of it; instructions explain processor time by the \
ratio of their counts. A cause is named only if the interval of its share, or of its change, excludes zero.

Nothing is run unless --measure is given. The more a run counts, the more can be explained: `assay run --alloc --count-instructions`.

Examples:
  assay why run.assay                          from what was recorded
  assay why run.assay --measure                also sample both commands: which functions take the time?
  assay why suite.assay --of BM_Copy           one benchmark of a suite
  assay why old.assay new.assay                two recordings
  assay why run.assay --export why.md          for a pull request
  assay run './old data' './new data' --why    directly after a run")]
pub(crate) struct Args {
    /// Recorded run, or other results with several sides; with several files, each file is a side
    #[arg(required = true, value_name = "RECORD")]
    files: Vec<PathBuf>,

    /// Command, side or benchmark whose difference to explain [default: the largest difference]
    #[arg(long, value_name = "NAME")]
    of: Option<String>,

    #[cfg(target_os = "linux")]
    #[command(flatten)]
    measure: measuring::MeasureArgs,

    /// Also write the explanation to a file: .json or .md
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    export: Vec<PathBuf>,

    #[command(flatten)]
    look: LookArgs,
}

/// The seconds spent in each function on both sides, and whether its code differs.
struct Measured {
    runs: Samples,
    code: Vec<(String, why::CodeChange)>,
    /// How the sampled runs ended.
    ending: Ending,
}

/// Reads the record, samples its commands if requested, and shows the explanation.
pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    let exports = args.export.iter().map(|path| ("--export", path.as_path(), "why.md"));
    outputs::check(&args.files, &exports.collect::<Vec<_>>())?;
    if let Some(path) = args.export.iter().find(|path| form_of(path).is_none()) {
        bail!("--export {}: an explanation can be exported as .json or .md", path.display());
    }
    #[cfg(target_os = "linux")]
    args.measure.check()?;
    let samples = import::load(&args.files, &ImportOptions::default())?;
    let named =
        || args.files.iter().map(|f| f.display().to_string()).collect::<Vec<_>>().join(", ");
    let mut analysis = analyse(&samples, &options(&samples)).with_context(named)?;
    let index = why::choose(&analysis, args.of.as_deref()).with_context(named)?;
    let measured = measured(args, &samples, &analysis.comparisons[index])?;
    crate::advice::spell(crate::advice::Dialect::Compare, &mut analysis.findings);
    let explained = explained(&samples, &analysis, index, measured.as_ref());
    let findings = measured.as_ref().map_or(&[][..], |own| &own.runs.findings);
    let next = next(args, &explained, &samples);
    let report = WhyReport {
        analysis: &analysis,
        why: &explained,
        findings,
        next: next.as_ref().map(|(command, what)| (command.as_str(), *what)),
    };
    let document = || json::text(&json::Reasons::of(&report, &named()));
    for path in &args.export {
        let text = if form_of(path) == Some(Form::Json) { document()? } else { markdown(&report) };
        whole_file::write(path, |file| Ok(file.write_all(text.as_bytes())?))
            .with_context(|| format!("--export {}", path.display()))?;
    }
    if args.look.json {
        output::print(&document()?)?;
    } else {
        output::print(&render(&report, &present::screen(args.look.color)))?;
    }
    Ok(measured.map_or(Ending::Fine, |own| own.ending))
}

/// Prints the explanation of the largest difference in samples that were just measured. Prints
/// nothing if nothing was compared.
pub(crate) fn print_after(
    samples: &Samples,
    file: Option<&Path>,
    color: crate::args::ColorWhen,
) -> anyhow::Result<()> {
    let analysis = analyse(samples, &options(samples))?;
    let Ok(index) = why::choose(&analysis, None) else { return Ok(()) };
    let explained = explained(samples, &analysis, index, None);
    let sampling = file.filter(|_| explained.has_difference() && can_be_sampled(samples));
    let next = sampling.map(|file| format!("assay why {} --measure", shown(file)));
    let next = next.as_deref().map(|command| (command, FUNCTIONS));
    let report = WhyReport { analysis: &analysis, why: &explained, findings: &[], next };
    output::print(&format!("\n{}", render(&report, &present::screen(color))))
}

/// The question that sampling answers.
const FUNCTIONS: &str = "which functions?";
/// The question that counting answers.
const COUNTS: &str = "more instructions, or slower ones?";

/// Format of an exported explanation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Json,
    Markdown,
}

fn form_of(path: &Path) -> Option<Form> {
    match path.extension()?.to_str()? {
        "json" => Some(Form::Json),
        "md" => Some(Form::Markdown),
        _ => None,
    }
}

/// Returns options that compare all comparable metrics of the record.
fn options(samples: &Samples) -> Options {
    let primary = samples.plan.as_ref().map(|plan| plan.primary.as_str());
    let primary = primary.or(samples.metrics.first().map(|metric| metric.name.as_str()));
    let names = samples.metrics.iter().map(|metric| metric.name.as_str());
    let others = names.filter(|name| Some(*name) != primary && !NOT_COMPARED.contains(name));
    Options { secondary: Some(others.map(str::to_owned).collect()), ..Options::default() }
}

fn explained(
    samples: &Samples,
    analysis: &assay_analysis::Analysis,
    index: usize,
    measured: Option<&Measured>,
) -> why::Why {
    let sampled = measured.map(|own| why::Sampled {
        runs: &own.runs,
        whole: assay_profiles::runs::WHOLE,
        others: assay_profiles::runs::REST,
        code: &own.code,
    });
    why::explain(samples, analysis, index, sampled.as_ref())
}

#[cfg(target_os = "linux")]
fn measured(
    args: &Args,
    samples: &Samples,
    comparison: &assay_analysis::Comparison,
) -> anyhow::Result<Option<Measured>> {
    if !args.measure.is_asked() {
        return Ok(None);
    }
    let [file] = &args.files[..] else {
        bail!("--measure: give one record, whose commands can be run again");
    };
    let pair = [comparison.against, comparison.of];
    measuring::measure(&args.measure, samples, file, pair, args.look.quiet)
}

#[cfg(not(target_os = "linux"))]
fn measured(
    _: &Args,
    _: &Samples,
    _: &assay_analysis::Comparison,
) -> anyhow::Result<Option<Measured>> {
    Ok(None)
}

/// Returns a command that provides more information, if there is one, and the question that it
/// answers.
fn next(args: &Args, explained: &why::Why, samples: &Samples) -> Option<(String, &'static str)> {
    if !explained.has_difference() || !can_be_sampled(samples) {
        return None;
    }
    let counted = samples.metrics.iter().any(|metric| metric.name.contains("instructions"));
    let is_user = explained.part(why::PartName::User).is_some_and(why::Part::is_known);
    #[cfg(target_os = "linux")]
    if !args.measure.is_asked() {
        let of = args.of.as_ref().map(|name| format!(" --of {}", quoted([name])));
        let file = args.files.first().map(|file| shown(file)).unwrap_or_default();
        return Some((format!("assay why {file}{} --measure", of.unwrap_or_default()), FUNCTIONS));
    }
    let _ = args;
    (is_user && !counted).then(|| ("assay run --count-instructions …".to_owned(), COUNTS))
}

fn shown(file: &Path) -> String {
    quoted([file.display().to_string()])
}

/// Returns true if the recorded commands of a run can be sampled on this system.
fn can_be_sampled(samples: &Samples) -> bool {
    let verb = samples.argv.get(1).map(String::as_str);
    cfg!(target_os = "linux")
        && verb == Some("run")
        && samples.subjects.iter().all(|subject| subject.command.is_some())
}
