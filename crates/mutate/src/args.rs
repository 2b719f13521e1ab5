//! The command-line arguments of `assay mutate`.

use assay_measure::text_of;
use assay_report::console::output::ColorWhen;
use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{CommandFactory, Parser};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// Make small changes to the source, and report those that no test notices
///
/// Each change (a mutant) is made in a copy of the project, never in the project itself. The first
/// change to a function removes its whole body. Its conditions, operators, constants, statements
/// and return values are then changed one by one. If it is known which tests use the changed code
/// (rspec, minitest, test-unit, pytest, unittest), only these tests run, fastest first. A change
/// that no test notices (a survivor) shows that the code could be wrong without any test failing.
#[derive(Debug, Parser)]
#[command(
    name = "assay mutate",
    bin_name = "assay mutate",
    version,
    after_help = "Examples:
  assay mutate -- python -m unittest                which changes does no test notice?
  assay mutate --since main -- pytest               only lines that differ from main
  assay mutate --budget 5min -- bundle exec rspec   try a sample; the score has an interval
  assay mutate --coupling -- pytest                 is the code well tested, or tangled?
  assay mutate --list --diff src/stack.py           show the changes without running tests

To accept a survivor, write a comment on its line or the line above, in the
comment syntax of the language: `# assay: keep REASON`.

Exit codes: 0 success, 1 a condition of --fail-if is true, 2 usage or input
error, 4 the tests fail without any change, 130 interrupted."
)]
pub(crate) struct Args {
    /// Files or directories to change [default: all source files except tests]
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Command that runs the tests, after `--`
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
    /// List the changes, without running anything
    #[arg(long)]
    pub list: bool,
    /// With --list: show each change as a diff
    #[arg(long, requires = "list")]
    pub diff: bool,
    /// Change only lines that differ from this git revision
    #[arg(long, value_name = "REV", value_parser = OsStringValueParser::new().map(|word| text_of(&word)))]
    pub since: Option<String>,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
    /// Also write an HTML page with the score, the survivors, and suggested assertions
    #[arg(long, value_name = "FILE", conflicts_with = "list")]
    pub report: Option<PathBuf>,
    /// Also write the result to a file: .md, .sarif, .svg or .json; may be repeated
    ///
    /// .md is a comment for a review, .sarif is SARIF 2.1.0, and .svg is the plot of --coupling.
    #[arg(long, value_name = "FILE", conflicts_with = "list")]
    pub export: Vec<PathBuf>,
    /// Also write a report for Stryker's viewer
    #[arg(long, value_name = "FILE", conflicts_with = "list")]
    pub stryker: Option<PathBuf>,
    /// Number of changes to try in parallel [default: number of CPUs]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=512), conflicts_with = "list")]
    pub jobs: Option<u16>,
    /// Limit on the time, as in 90s or 5min, or on the number of changes within function bodies, as
    /// in 1000
    ///
    /// The changes that fit into the budget are a random sample, and the score is given with an
    /// interval.
    #[arg(long, value_name = "TIME", value_parser = budget, conflicts_with = "list")]
    pub budget: Option<Budget>,
    /// Also report whether code is well tested or tangled, based on N noticed changes to each
    /// function [default: 10]
    ///
    /// All tests run for each of these changes. Rewrites that do not change behavior are tried as
    /// well, and no test should notice them.
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "10", value_parser = clap::value_parser!(u16).range(1..), conflicts_with = "list")]
    pub coupling: Option<u16>,
    /// Try only this part of the functions, as in 2/5, to divide the work among machines
    #[arg(long, value_name = "I/N", value_parser = shard)]
    pub shard: Option<(u32, u32)>,
    /// Exit with status 1 if this condition is true: `survived`, `survived-in-diff` (with --since),
    /// or a score, as in `score<80%`; may be repeated
    #[arg(long, value_name = "CONDITION", value_parser = condition, conflicts_with = "list")]
    pub fail_if: Vec<Condition>,
    /// Number of survivors to show; 0 shows all
    #[arg(long, value_name = "N", default_value_t = 10, conflicts_with = "list")]
    pub survivors: usize,
    /// Try every change again, even if neither its tests nor its sources have changed since the
    /// last run
    #[arg(long, conflicts_with = "list")]
    pub again: bool,
    /// Build every change to C, Go and Rust code separately, and restart vitest for each change
    ///
    /// By default, many changes are built into one program, which selects one of them at run time.
    #[arg(long, conflicts_with = "list")]
    pub separate_builds: bool,
    /// Run changed programs with your privileges instead of in a sandbox; they may delete files and
    /// use the network
    #[arg(long, conflicts_with = "list")]
    pub no_sandbox: bool,
    /// Let programs in the sandbox also read this file or directory; may be repeated
    #[arg(long, value_name = "PATH", conflicts_with_all = ["list", "no_sandbox"])]
    pub readable: Vec<PathBuf>,
    /// Test framework, if it is not recognized from the command
    #[arg(long, value_name = "NAME", conflicts_with = "list")]
    pub framework: Option<String>,
    /// When to use colors
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = ColorWhen::Auto)]
    pub color: ColorWhen,
}

/// Options hidden from `-h`. They still appear in `--help` and in the shell completions.
const RARE: [&str; 7] =
    ["stryker", "shard", "survivors", "again", "readable", "framework", "color"];

impl Args {
    /// Returns the argument parser, including the help texts.
    pub fn asked() -> clap::Command {
        let all = Self::command().mut_args(|own| {
            let is_rare = RARE.contains(&own.get_id().as_str());
            own.hide_short_help(is_rare)
        });
        let examples = all.get_after_help().cloned().unwrap_or_default();
        all.after_help("All options, with examples: assay mutate --help").after_long_help(examples)
    }
}

/// A limit on the mutants to try.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Budget {
    /// A time limit.
    Time(Duration),
    /// The extreme mutant of each function, plus this number of finer mutants.
    Changes(usize),
}

impl Budget {
    /// Returns the time limit, or `None` if the budget is a number of mutants.
    pub fn time(self) -> Option<Duration> {
        match self {
            Self::Time(own) => Some(own),
            Self::Changes(_) => None,
        }
    }

    /// Returns the number of finer mutants, or `None` if the budget is a time limit.
    pub fn changes(self) -> Option<usize> {
        match self {
            Self::Time(_) => None,
            Self::Changes(own) => Some(own),
        }
    }
}

/// A condition under which the exit status is 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Condition {
    /// A mutant survived.
    Survived,
    /// A mutant survived on a line that differs from the revision given by `--since`.
    SurvivedInDiff,
    /// The score is below this share (0 to 1).
    ScoreBelow(f64),
}

fn condition(text: &str) -> Result<Condition, String> {
    let bare: String = text.split_whitespace().collect();
    match bare.as_str() {
        "survived" => return Ok(Condition::Survived),
        "survived-in-diff" => return Ok(Condition::SurvivedInDiff),
        _ => {}
    }
    let share = bare.strip_prefix("score<").and_then(|own| own.strip_suffix('%'));
    match share.and_then(|own| own.parse::<f64>().ok()) {
        Some(share) if (0.0..=100.0).contains(&share) => Ok(Condition::ScoreBelow(share / 100.0)),
        _ => Err("give `survived`, `survived-in-diff`, or a score as in `score<80%`".to_owned()),
    }
}

fn shard(text: &str) -> Result<(u32, u32), String> {
    let parts =
        text.split_once('/').and_then(|(own, of)| Some((own.parse().ok()?, of.parse().ok()?)));
    match parts {
        Some((own, of)) if own >= 1 && own <= of => Ok((own, of)),
        _ => Err("give a part and the number of parts, as in 2/5".to_owned()),
    }
}

fn budget(text: &str) -> Result<Budget, String> {
    if !text.is_empty() && text.chars().all(|c| c.is_ascii_digit()) {
        let changes = text.parse().ok().filter(|changes| *changes > 0);
        let changes = changes.map(Budget::Changes);
        return changes.ok_or_else(|| "give a number of changes above 0, as in 1000".to_owned());
    }
    duration(text).map(Budget::Time)
}

fn duration(text: &str) -> Result<Duration, String> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let factor = match unit.trim() {
        "s" => 1.0,
        "min" | "m" => 60.0,
        "h" => 3600.0,
        _ => {
            let words =
                "give a time with s, min or h, as in 5min, or a number of changes, as in 1000";
            return Err(words.to_owned());
        }
    };
    let seconds = number.parse::<f64>().ok().map(|number| number * factor);
    let seconds = seconds.filter(|seconds| *seconds > 0.0 && *seconds < 1e7);
    seconds.map(Duration::from_secs_f64).ok_or_else(|| "give a time above 0, as in 5min".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_well_formed_and_the_short_help_fits_on_a_screen() {
        Args::asked().debug_assert();
        for id in RARE {
            assert!(Args::command().get_arguments().any(|own| own.get_id() == id), "{id}");
        }
        let short = Args::asked().render_help().to_string();
        assert!(short.lines().count() <= 60, "{short}");
        assert!(short.contains("--report") && !short.contains("--stryker"), "{short}");
        assert!(Args::asked().render_long_help().to_string().contains("--stryker"));
    }

    #[test]
    fn values_are_read_as_they_are_written() {
        assert_eq!(condition("score < 80 %"), Ok(Condition::ScoreBelow(0.8)));
        assert_eq!(condition("survived"), Ok(Condition::Survived));
        assert_eq!(condition("survived-in-diff"), Ok(Condition::SurvivedInDiff));
        assert!(condition("score>80%").is_err() && condition("score<180%").is_err());
        assert_eq!(shard("2/5"), Ok((2, 5)));
        assert!(shard("0/5").is_err() && shard("6/5").is_err() && shard("x").is_err());
        assert_eq!(duration("1.5min"), Ok(Duration::from_secs(90)));
        assert!(duration("5").is_err() && duration("0s").is_err());
        assert_eq!(budget("5min"), Ok(Budget::Time(Duration::from_secs(300))));
        assert_eq!(budget("1000"), Ok(Budget::Changes(1000)));
        assert!(budget("0").is_err() && budget("").is_err() && budget("1000x").is_err());
    }
}
