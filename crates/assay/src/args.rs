//! Arguments that several verbs share, and the readers of their values.

use crate::Ending;
use assay_analysis::Options;
use assay_analysis::protocol::{Protocol, ProtocolOptions, Status};
use assay_data::import::{ColumnRef, ImportOptions};
use assay_data::select::Filter;
use assay_data::unit::{Quantity, parse_quantity};
use assay_data::{Threshold, Unit};
use clap::{ArgAction, Args, ValueEnum};
use std::path::PathBuf;

/// How to decide.
#[derive(Args, Debug)]
#[command(next_help_heading = "Deciding")]
pub(crate) struct JudgeArgs {
    /// Smallest difference that matters: a percentage of the reference, or an amount such as 250us, or 2units where numbers have no unit [default: 1%]
    #[arg(long, value_name = "SIZE", value_parser = threshold)]
    pub threshold: Option<Threshold>,

    /// How sure the verdict must be [default: 95%]
    #[arg(long, value_name = "PERCENT", value_parser = confidence)]
    pub confidence: Option<f64>,

    /// The metric that decides [default: wall for commands, else the first]
    ///
    /// For commands: wall, cpu, user, system, max_rss, minor_faults, major_faults,
    /// voluntary_switches, involuntary_switches, block_in, block_out, cpu_per_wall, and what is
    /// asked for by --metric, --samples and --counters. For benchmarks: wall, cpu where the harness
    /// tells it, and their own counters. For both, what --alloc and --count-instructions count:
    /// then nothing is timed. Choose before you look: deciding on whichever metric came out best is
    /// how one fools oneself.
    #[arg(long, value_name = "METRIC")]
    pub primary: Option<String>,

    /// Decide only these metrics beside it, instead of all: fewer share the error among them, and each is told on the screen
    #[arg(long, value_name = "METRICS", value_delimiter = ',')]
    pub secondary: Vec<String>,

    /// End with status 1 if a verdict is one of these; with 3 if it is inconclusive
    ///
    /// Samples that were recorded apart count as inconclusive here, since drift between the recordings is not in them.
    #[arg(long, value_name = "VERDICT", value_enum, value_delimiter = ',', action = ArgAction::Append)]
    pub fail_if: Vec<FailIf>,
}

/// Verdicts that can fail a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailIf {
    /// A command is slower than the reference
    Slower,
    /// A command is faster than the reference
    Faster,
    /// A command is slower or faster
    Different,
    /// Any difference is below the threshold
    Equivalent,
}

impl JudgeArgs {
    /// What was asked for, for the analysis of recorded samples.
    pub fn options(&self) -> Options {
        Options {
            confidence: self.confidence,
            threshold: self.threshold.clone(),
            primary: self.primary.clone(),
            secondary: (!self.secondary.is_empty()).then(|| self.secondary.clone()),
            all: false,
        }
    }
}

/// How to read files of numbers.
#[derive(Args, Debug)]
#[command(next_help_heading = "Reading")]
pub(crate) struct ReadingArgs {
    /// CSV in long form: the column (name, or number from 1) that says which subject a row belongs to
    #[arg(long, value_name = "COLUMN")]
    pub by: Option<ColumnRef>,

    /// CSV in long form: the column of the values
    #[arg(long, value_name = "COLUMN")]
    pub value: Option<ColumnRef>,

    /// Columns separated by spaces: which one to read, from 1
    #[arg(long, value_name = "NUMBER")]
    pub column: Option<usize>,

    /// Unit of the numbers: ns, us, ms, s, B, KiB, MiB, ... [default: none]
    #[arg(long)]
    pub unit: Option<String>,

    /// What the numbers are called [default: value, or the column's name]
    #[arg(long, value_name = "NAME")]
    pub metric: Option<String>,

    /// Leave the first observations of every series out (of a run, its first blocks): a warm-up
    #[arg(long, value_name = "NUMBER", default_value_t = 0, hide_default_value = true)]
    pub skip: usize,

    /// Lines of any text: a regular expression whose group `value` is the number, as in 'took (?<value>[0-9.]+)(?<unit>m?s)'
    ///
    /// Further groups, if there are any: `unit`, `name` of the subject, and parameters under their own names. Lines that don't match
    /// are passed over and counted.
    #[arg(long, value_name = "REGEX")]
    pub pattern: Option<String>,

    /// Which benchmarks and metrics to keep, as in 'Copy -n:8', '.name:(BM_A OR BM_B)', '.metric:wall' (docs/reference/filter.md)
    #[arg(long, value_name = "QUERY", allow_hyphen_values = true)]
    pub filter: Option<Filter>,
}

impl ReadingArgs {
    /// What was asked for, for the importers.
    pub fn options(&self) -> ImportOptions {
        ImportOptions {
            by: self.by.clone(),
            value: self.value.clone(),
            column: self.column,
            unit: self.unit.clone(),
            metric: self.metric.clone(),
            skip: self.skip,
            pattern: self.pattern.clone(),
            filter: self.filter.clone(),
        }
    }
}

/// The chain from validity to effect.
#[derive(Args, Debug)]
#[command(next_help_heading = "Protocol")]
pub(crate) struct ProtocolArgs {
    /// Run the whole chain, step by step: validity, power, test, effect; and say what one may publish
    ///
    /// The threshold is the smallest difference that matters, as an amount (6.667us) or a share of the reference's median. A step
    /// that fails ends the chain. What each step asks, and why: docs/concepts/protocol.md.
    #[arg(long)]
    pub rigorous: bool,

    /// How often a difference may be found where there is none [default: 1%; `assay plan` takes 5%]
    #[arg(long, value_name = "SHARE", value_parser = chance, requires = "rigorous")]
    pub alpha: Option<f64>,

    /// How surely a difference as large as the threshold should be found [default: 95%; `assay plan` takes 80%]
    #[arg(long, value_name = "SHARE", value_parser = chance, requires = "rigorous")]
    pub power: Option<f64>,

    /// End with status 1 if a step warned or failed
    #[arg(long, requires = "rigorous")]
    pub strict: bool,
}

impl ProtocolArgs {
    /// What was asked for; `None` without `--rigorous`.
    pub fn options(&self) -> Option<ProtocolOptions> {
        let default = ProtocolOptions::default();
        self.rigorous.then(|| ProtocolOptions {
            alpha: self.alpha.unwrap_or(default.alpha),
            power: self.power.unwrap_or(default.power),
            ..default
        })
    }

    /// How the verb ends: as `--fail-if` says, or with status 1 where `--strict` finds a step that did not pass.
    pub fn ending(&self, chains: &[Protocol], judged: Ending) -> Ending {
        let passed = chains.iter().all(|chain| chain.outcome() == Status::Passed);
        if self.strict && !passed { Ending::FailIfCameTrue } else { judged }
    }
}

/// Whether and where to record what is measured.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Keeping")]
pub(crate) struct KeepArgs {
    /// Record the run in this file [default: among the last 200 runs in the state directory]
    #[arg(long, value_name = "FILE", conflicts_with = "no_save")]
    pub save: Option<PathBuf>,

    /// Do not record the run
    #[arg(long)]
    pub no_save: bool,

    /// Leave host, directories and repository out of the record
    #[arg(long)]
    pub anonymous: bool,
}

/// What to show and where to keep it.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Showing")]
pub(crate) struct ShowArgs {
    /// Print JSON instead of the screen (fields: docs/reference/json.md)
    #[arg(long)]
    pub json: bool,

    /// Also write the result to a file; its ending says how: .json, .md, .csv (summary), .samples.csv (every observation), .hyperfine.json and .hyperfine2.json (for scripts that read hyperfine's)
    #[arg(long, value_name = "FILE")]
    pub export: Vec<PathBuf>,

    #[command(flatten)]
    pub pages: PageArgs,

    /// Say nothing on standard error but errors
    #[arg(long, short)]
    pub quiet: bool,

    /// When to use colours
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = ColorWhen::Auto)]
    pub color: ColorWhen,
}

/// Pages and pictures to write.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Showing")]
pub(crate) struct PageArgs {
    /// Also write a page to publish: verdict, plots, numbers, machine, data and methods in one HTML file that opens offline
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,

    /// Also write every plot into a directory, as SVG and as PNG
    #[arg(long, value_name = "DIR")]
    pub plots: Option<PathBuf>,
}

/// How to show what has no other forms than screen and JSON.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Showing")]
pub(crate) struct LookArgs {
    /// Print JSON instead of the screen (fields: docs/reference/json.md)
    #[arg(long)]
    pub json: bool,

    /// Say nothing on standard error but errors
    #[arg(long, short)]
    pub quiet: bool,

    /// When to use colours
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = ColorWhen::Auto)]
    pub color: ColorWhen,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Reads the smallest difference that matters: a percentage, or an amount with its unit.
pub(crate) fn threshold(text: &str) -> Result<Threshold, String> {
    let found = match parse_quantity(text).map_err(|e| e.to_string())? {
        Quantity::Fraction(fraction) => Threshold::Relative(fraction),
        Quantity::Amount(value, unit) => Threshold::Absolute { value, unit },
        Quantity::Bare(number) => {
            return Err(format!(
                "`{number}` of what? Write `{number}%`, an amount with its unit such as `{number}ms`, or `{number}units` where the numbers have no unit"
            ));
        }
    };
    let size = match &found {
        Threshold::Relative(fraction) => *fraction,
        Threshold::Absolute { value, .. } => *value,
    };
    if size > 0.0 {
        Ok(found)
    } else {
        Err("the smallest difference that matters must be more than nothing".to_owned())
    }
}

/// Reads a confidence: `99%`, `99` or `0.99`.
pub(crate) fn confidence(text: &str) -> Result<f64, String> {
    let fraction = match parse_quantity(text).map_err(|e| e.to_string())? {
        Quantity::Fraction(fraction) => fraction,
        Quantity::Bare(number) if number < 1.0 => number,
        Quantity::Bare(number) => number / 100.0,
        Quantity::Amount(..) => return Err("write it like `99%`".to_owned()),
    };
    if (0.5..=0.9999).contains(&fraction) {
        Ok(fraction)
    } else {
        Err("it must lie between 50% and 99.99%".to_owned())
    }
}

/// Reads a chance between nothing and certainty: `0.01`, `1%`.
pub(crate) fn chance(text: &str) -> Result<f64, String> {
    let share = match parse_quantity(text).map_err(|e| e.to_string())? {
        Quantity::Fraction(share) | Quantity::Bare(share) => share,
        Quantity::Amount(..) => return Err("write it like `0.01` or `1%`".to_owned()),
    };
    if share > 0.0 && share < 1.0 {
        Ok(share)
    } else {
        Err("it must lie between 0 and 1; write it like `0.01` or `1%`".to_owned())
    }
}

/// Reads a span of time; a bare number counts seconds.
pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    let span = match parse_quantity(text).map_err(|e| e.to_string())? {
        Quantity::Amount(value, Unit::Second) | Quantity::Bare(value) => value,
        _ => return Err("write it like `90s` or `2min`".to_owned()),
    };
    if span > 0.0 && span < 1e9 {
        Ok(span)
    } else {
        Err("it must be more than nothing, and end one day".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_says_of_what() {
        assert_eq!(threshold("2%"), Ok(Threshold::Relative(0.02)));
        assert!(threshold("2").is_err_and(|e| e.contains("2%") && e.contains("2units")));
        let plain = Threshold::Absolute { value: 2.0, unit: Unit::One };
        assert_eq!(threshold("2units"), Ok(plain));
        assert!(threshold("0%").is_err());
        assert!(threshold("-1%").is_err());
    }

    #[test]
    fn confidence_is_read_as_people_write_it() {
        for text in ["99%", "99", "0.99"] {
            assert_eq!(confidence(text), Ok(0.99));
        }
        assert!(confidence("100%").is_err());
        assert!(confidence("5ms").is_err());
    }

    #[test]
    fn a_chance_lies_between_nothing_and_certainty() {
        assert_eq!([chance("0.01"), chance("1%")], [Ok(0.01), Ok(0.01)]);
        for text in ["0", "1", "95", "100%", "5ms", "-0.1"] {
            assert!(chance(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_span_of_time_has_an_end() {
        assert_eq!(seconds("2min"), Ok(120.0));
        assert_eq!(seconds("3"), Ok(3.0));
        assert!(seconds("0").is_err());
        assert!(seconds("3MiB").is_err());
    }
}
