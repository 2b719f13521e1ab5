//! `assay profile`: shows where a program spends its time. It finds a suitable sampler for the
//! program, or reads the output of a sampler, and shows shares of the time with their intervals.
//! With two programs, it samples runs alternately and decides on every function. Nothing is
//! computed here.

pub(super) mod comparing;
pub(super) mod exporting;
mod files;
pub(super) mod sampling;

use crate::args::{ColorWhen, JudgeArgs, any_words, seconds};
use crate::system::is_program;
use crate::{Ending, output, present, seed};
use anyhow::bail;
use assay_measure::sampling::{CallGraph, Clock, Sampler, SamplingError};
use assay_measure::{Command, interrupt, word_of};
use assay_report::remarks::Remarks;
use clap::ValueEnum;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Arguments of `assay profile`.
#[derive(clap::Args, Debug)]
#[command(after_long_help = "\
Samplers are installed separately: stackprof for Ruby (it distinguishes garbage collection), rbspy for Ruby, py-spy for Python, \
perf for compiled programs. If one is missing, the error message names the command that installs it. Profiles can be read without their samplers.

Two commands are run in blocks, in random order, one profile per run: the verdict on a function is based on how its time varies \
from run to run. For two files, only the sampling error is known.

Examples:
  assay profile 'ruby report.rb'                          functions with their shares, and garbage collection
  assay profile ./server --duration 30s -o server.html    a searchable, zoomable flame graph
  assay profile --pid 4711 --duration 10s -o now.svg
  assay profile 'python3 old.py' 'python3 new.py'         which functions got faster?
  assay profile ./prog --runs 5 --overhead                what does sampling itself cost?
  assay profile cpu.pb.gz -o cpu.speedscope.json          convert between formats
  assay profile before.collapsed after.collapsed          two recordings
  assay profile 'ruby old.rb' 'ruby new.rb' -o diff.html   a differential flame graph")]
pub(crate) struct Args {
    /// A command in quotes, or a profile file; two of the same kind are compared, and the first is
    /// the reference
    #[arg(value_name = "COMMAND|FILE", num_args = 0..=2, value_parser = any_words())]
    subjects: Vec<String>,

    /// A command as separate words, after `--`
    #[arg(last = true, value_name = "WORD")]
    words: Vec<OsString>,

    /// Sample a running process until --duration ends or Ctrl-C is pressed; the process keeps
    /// running
    #[arg(long, value_name = "PID", conflicts_with_all = ["subjects", "words"])]
    pid: Option<u32>,

    #[command(flatten)]
    how: HowArgs,

    #[command(flatten)]
    show: ProfileShowArgs,

    #[command(flatten)]
    judge: JudgeArgs,
}

/// Options that select a sampler.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Sampling")]
pub(crate) struct SamplerArgs {
    /// Sampler to use [default: the one that suits the program]
    #[arg(long, value_enum, value_name = "NAME")]
    sampler: Option<SamplerName>,

    /// Samples per second [default: 997 for stackprof and perf, 101 for rbspy and py-spy]
    ///
    /// rbspy and py-spy pause the process for each sample.
    #[arg(long, value_name = "HZ", value_parser = rate)]
    rate: Option<f64>,

    /// Clock of the timer: CPU time or wall time [default: cpu; wall for stackprof]
    ///
    /// The CPU timer of stackprof fires no more often than the kernel ticks.
    #[arg(long, value_enum, value_name = "CLOCK")]
    clock: Option<ClockName>,
}

/// Options for sampling.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Sampling")]
pub(crate) struct HowArgs {
    #[command(flatten)]
    by: SamplerArgs,

    /// How perf unwinds the stack
    ///
    /// Frame pointers (fp) are cheap, but the code must be compiled with them. dwarf is expensive,
    /// but always works.
    #[arg(long, value_enum, value_name = "HOW", default_value_t = CallGraphName::Fp)]
    call_graph: CallGraphName,

    /// Stop the program and the sampling after this time
    #[arg(long, value_name = "SPAN", value_parser = seconds)]
    duration: Option<f64>,

    /// Number of runs; for two commands, number of blocks with one run of each [default: 1, or 12
    /// for two commands]
    #[arg(long, short = 'r', value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    runs: Option<u32>,

    /// Also measure the cost of sampling
    ///
    /// Makes the same number of runs without sampling and with an idle sampler, interleaved.
    #[arg(long)]
    overhead: bool,

    /// Show the program's output on standard error
    #[arg(long)]
    show_output: bool,

    /// Seed of the random order [default: a new one]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(seed::BELOW))]
    seed: Option<u64>,
}

/// Output options of `assay profile`.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Output")]
pub(crate) struct ProfileShowArgs {
    /// Write the profile to a file; the extension selects the format
    ///
    /// One profile: .svg (flame graph), .html (searchable, zoomable), .txt (pprof's table), .pb.gz
    /// (pprof), .speedscope.json, .firefox.json, .collapsed. Two profiles or commands: .svg, .html
    /// (differential flame graph). Two commands also: .json, .md, .csv, .samples.csv, .assay.
    #[arg(long, short = 'o', visible_alias = "output", value_name = "FILE")]
    export: Vec<PathBuf>,

    /// Number of functions to show; 0 shows all
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,

    /// Show lines of code instead of functions; works with py-spy, rbspy and pprof files
    #[arg(long)]
    lines: bool,

    /// Show only functions whose name contains this text
    #[arg(long, value_name = "TEXT")]
    focus: Option<String>,

    /// Print JSON instead of text
    ///
    /// The fields are described in docs/reference/json.md.
    #[arg(long)]
    json: bool,

    /// Print nothing to standard error except errors
    #[arg(long, short)]
    quiet: bool,

    /// Print all warnings and notes in full [default: at most five lines]
    #[arg(long, short, conflicts_with = "quiet")]
    verbose: bool,

    /// When to use colors
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = ColorWhen::Auto)]
    color: ColorWhen,
}

impl ProfileShowArgs {
    fn remarks(&self) -> Remarks {
        Remarks::wanted(self.quiet, self.verbose)
    }
}

/// Names of samplers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SamplerName {
    /// For Ruby, in-process
    Stackprof,
    /// For Ruby, out-of-process
    Rbspy,
    /// For Python, out-of-process
    PySpy,
    /// For compiled programs
    Perf,
}

/// Names of clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ClockName {
    /// CPU time
    Cpu,
    /// Wall time
    Wall,
}

/// Methods of unwinding the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CallGraphName {
    /// Frame pointers
    Fp,
    /// Debug information (DWARF)
    Dwarf,
}

impl SamplerArgs {
    pub(super) fn sampler(&self) -> Option<Sampler> {
        self.sampler.map(|name| match name {
            SamplerName::Stackprof => Sampler::Stackprof,
            SamplerName::Rbspy => Sampler::Rbspy,
            SamplerName::PySpy => Sampler::PySpy,
            SamplerName::Perf => Sampler::Perf,
        })
    }

    pub(super) fn clock(&self) -> Option<Clock> {
        self.clock.map(|name| match name {
            ClockName::Cpu => Clock::Cpu,
            ClockName::Wall => Clock::Wall,
        })
    }

    /// Returns the first option given that applies only to sampling.
    pub(super) fn given(&self) -> Option<&'static str> {
        [
            ("--sampler", self.sampler.is_some()),
            ("--rate", self.rate.is_some()),
            ("--clock", self.clock.is_some()),
        ]
        .into_iter()
        .find_map(|(option, given)| given.then_some(option))
    }

    pub(super) fn rate(&self) -> Option<f64> {
        self.rate
    }
}

impl HowArgs {
    fn call_graph(&self) -> CallGraph {
        match self.call_graph {
            CallGraphName::Fp => CallGraph::FramePointers,
            CallGraphName::Dwarf => CallGraph::Dwarf,
        }
    }

    /// Returns the first option given that applies only to sampling.
    fn given(&self) -> Option<&'static str> {
        let others = [
            ("--duration", self.duration.is_some()),
            ("--runs", self.runs.is_some()),
            ("--overhead", self.overhead),
            ("--show-output", self.show_output),
        ];
        let others = others.into_iter().find_map(|(option, given)| given.then_some(option));
        self.by.given().or(others)
    }
}

/// What to profile.
enum Subject {
    File(PathBuf),
    Command(Command),
}

/// Determines what to profile, and profiles it.
pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    let mut subjects =
        args.subjects.iter().map(|text| subject(text)).collect::<anyhow::Result<Vec<_>>>()?;
    if !args.words.is_empty() {
        subjects.push(Subject::Command(Command::new(args.words.iter().cloned())?));
    }
    let inputs: Vec<PathBuf> = subjects
        .iter()
        .filter_map(|subject| match subject {
            Subject::File(path) => Some(path.clone()),
            Subject::Command(_) => None,
        })
        .collect();
    exporting::check(&args.show, &inputs)?;
    if args.show.lines && subjects.len() > 1 {
        bail!("--lines applies to a single profile; two are compared by function");
    }
    let instead = "give a second command";
    present::check_fail_if(&args.judge.fail_if, subjects.len(), "one profile", instead)?;
    if let Some(process) = args.pid {
        interrupt::install()?;
        return sampling::process(args, process);
    }
    match (subjects.as_slice(), args.how.given()) {
        ([], _) => bail!(
            "what should be profiled? Name a command in quotes, a profile file, or a process with --pid (assay profile --help has examples)"
        ),
        ([Subject::File(file)], None) => files::one(args, file),
        ([Subject::File(old), Subject::File(new)], None) => files::two(args, old, new),
        ([Subject::File(file), ..], Some(option)) if inputs.len() == subjects.len() => {
            bail!("{option} applies to sampling, but {} is a finished profile", file.display())
        }
        ([Subject::Command(command)], _) => {
            interrupt::install()?;
            ended(sampling::command(args, command))
        }
        ([Subject::Command(old), Subject::Command(new)], _) => {
            interrupt::install()?;
            ended(comparing::commands(args, [old, new]))
        }
        ([_, _], _) => bail!(
            "a file can't be compared with a command, because more than the program would differ between them; sample both in one run, or compare two files"
        ),
        _ => bail!("give one or two commands or files"),
    }
}

/// Returns the ending of sampling. If the program failed before its first sample, reports that and
/// returns the status of a failed command, because the command line was not at fault.
fn ended(sampled: anyhow::Result<Ending>) -> anyhow::Result<Ending> {
    match sampled {
        Err(error) if matches!(error.downcast_ref(), Some(SamplingError::Failed { .. })) => {
            output::error(&error);
            Ok(Ending::CommandFailed)
        }
        other => other,
    }
}

/// Parses a subject: a profile file, or a command. A file that can be read but not executed is a
/// profile.
fn subject(text: &str) -> anyhow::Result<Subject> {
    let own = word_of(text);
    let path = Path::new(&own);
    // A pipe, such as `<(perf script)` or /dev/stdin, cannot be run.
    let is_pipe = path.metadata().is_ok_and(|file| !file.is_file() && !file.is_dir());
    if text == "-" || is_pipe {
        return Ok(Subject::File(path.to_owned()));
    }
    if path.is_file() {
        if !is_program(path) || exporting::is_profile_name(path) {
            return Ok(Subject::File(path.to_owned()));
        }
        // A name without a slash would be looked up in PATH, but this file is in the current
        // directory.
        let path = if text.contains('/') { path.to_owned() } else { Path::new(".").join(path) };
        return Ok(Subject::Command(Command::new([path])?));
    }
    let is_file_name = exporting::is_profile_name(path) || files::interpreter_for(path).is_some();
    if is_file_name && !text.contains(' ') && !found_as_program(text) {
        bail!("{text}: there is no such file");
    }
    Ok(Subject::Command(Command::parse(text, false)?))
}

/// Returns true if `text` names a program that can be found, whatever its extension.
fn found_as_program(text: &str) -> bool {
    Command::new([word_of(text)]).is_ok_and(|command| command.resolve().is_ok())
}

/// Parses a sampling rate, as in `997` or `997Hz`.
fn rate(text: &str) -> Result<f64, String> {
    let bare = text.trim().trim_end_matches("Hz").trim_end_matches("hz").trim_end();
    match bare.parse::<f64>() {
        Ok(rate) if (1.0..=50_000.0).contains(&rate) => Ok(rate),
        _ => Err("write it like `997`, in samples per second, between 1 and 50000".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_a_number_of_samples_a_second() {
        assert_eq!([rate("997"), rate("99.5Hz"), rate("100 hz")], [Ok(997.0), Ok(99.5), Ok(100.0)]);
        for text in ["0", "1e9", "fast", "-5"] {
            assert!(rate(text).is_err(), "{text}");
        }
    }
}
