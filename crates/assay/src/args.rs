//! Arguments that several commands share, and the parsers of their values.

use crate::Ending;
use crate::patterns::matching;
use anyhow::Context;
use assay_analysis::protocol::{Protocol, ProtocolOptions, Status};
use assay_analysis::{Analysis, Options};
use assay_data::code::{Code, OUTPUT_DIFFERS, OUTPUT_NOT_COMPARED};
use assay_data::import::{ColumnRef, ImportOptions, SideFiles};
use assay_data::reading::check_unit;
use assay_data::select::Filter;
use assay_data::unit::{Quantity, parse_quantity};
use assay_data::{Better, Threshold, Unit};
use assay_measure::{text_of, word_of};
pub(crate) use assay_report::console::output::ColorWhen;
use assay_report::remarks::Remarks;
use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{ArgAction, Args, ValueEnum};
use std::path::PathBuf;

/// Returns a parser for words that need not be UTF-8, because the names of programs and files need
/// not be.
pub(crate) fn any_words() -> impl TypedValueParser<Value = String> {
    OsStringValueParser::new().map(|word| text_of(&word))
}

/// Options that decide a comparison.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Deciding")]
pub(crate) struct JudgeArgs {
    /// Smallest difference that matters, as in 2% or 250us [default: 1%]
    ///
    /// A percentage of the reference, an amount with a unit, or, for numbers without a unit, a
    /// number followed by `units`, as in 2units.
    #[arg(long, value_name = "SIZE", value_parser = threshold)]
    pub threshold: Option<Threshold>,

    /// Confidence level of the verdict [default: 95%]
    #[arg(long, value_name = "PERCENT", value_parser = confidence)]
    pub confidence: Option<f64>,

    /// Metric that the verdict is about [default: wall, or the first]
    ///
    /// For commands: wall, cpu, user, system, max_rss, minor_faults, major_faults,
    /// voluntary_switches, involuntary_switches, block_in, block_out, cpu_per_wall, and the metrics
    /// that --metric, --samples and --counters add. For benchmarks: wall, cpu if the harness
    /// reports it, and the benchmark's own counters. For both: the metrics of --alloc and
    /// --count-instructions; if one of these is the primary metric, nothing is timed. Choose it
    /// before you measure: picking the metric with the best result afterwards is a way to fool
    /// yourself.
    #[arg(long, value_name = "METRIC")]
    pub primary: Option<String>,

    /// Secondary metrics to test and show [default: test all]
    ///
    /// With fewer metrics, the multiple-comparison correction is milder.
    #[arg(long, value_name = "METRICS", value_delimiter = ',')]
    pub secondary: Vec<String>,

    /// Exit with status 1 on these verdicts, and with status 3 if inconclusive
    ///
    /// A comparison of separate recordings counts as inconclusive here, because its intervals do
    /// not cover drift between the recordings.
    #[arg(long, value_name = "VERDICT", value_enum, value_delimiter = ',', action = ArgAction::Append)]
    pub fail_if: Vec<FailIf>,
}

/// Options about whether the sides do the same work.
#[derive(Args, Debug)]
#[command(next_help_heading = "Deciding")]
pub(crate) struct SameArgs {
    /// Exit with status 4 if a side does different work than the reference: its test results,
    /// server responses, or the numbers that benchmarks report about their work differ
    #[arg(long)]
    pub require_same: bool,
}

impl SameArgs {
    /// Returns the ending of the command: `judged`, unless `--require-same` is given and the work
    /// differs or could not be compared.
    pub fn ending(&self, analysis: &Analysis, judged: Ending) -> Ending {
        let has = |code: &Code| analysis.findings.iter().any(|finding| finding.is(code));
        match judged {
            _ if self.require_same && has(OUTPUT_DIFFERS) => Ending::CommandFailed,
            Ending::Fine if self.require_same && has(OUTPUT_NOT_COMPARED) => {
                Ending::InconclusiveUnderFailIf
            }
            judged => judged,
        }
    }
}

/// Verdicts that can fail a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailIf {
    /// A side is slower than the reference
    Slower,
    /// A side is faster than the reference
    Faster,
    /// A side is slower or faster
    Different,
    /// No difference reaches the threshold
    Equivalent,
}

impl JudgeArgs {
    /// Returns the options for the analysis of recorded samples.
    pub fn options(&self) -> Options {
        Options {
            confidence: self.confidence,
            threshold: self.threshold.clone(),
            primary: self.primary.clone(),
            secondary: (!self.secondary.is_empty()).then(|| self.secondary.clone()),
            ..Options::default()
        }
    }
}

/// Options for reading files of numbers.
#[derive(Args, Debug)]
#[command(next_help_heading = "Reading")]
pub(crate) struct ReadingArgs {
    /// Long CSV: column with the subject of each row (its name, or its number from 1)
    #[arg(long, value_name = "COLUMN")]
    pub by: Option<ColumnRef>,

    /// Long CSV: column with the values
    #[arg(long, value_name = "COLUMN")]
    pub value: Option<ColumnRef>,

    /// Whitespace-separated columns: number of the column to read, from 1
    #[arg(long, value_name = "NUMBER")]
    pub column: Option<usize>,

    /// Unit of the numbers: ns, us, ms, s, B, KiB, MiB, ... [default: none]
    #[arg(long, value_parser = unit)]
    pub unit: Option<String>,

    /// Name of the metric [default: value, or the column's name]
    #[arg(long, value_name = "NAME")]
    pub metric: Option<String>,

    /// Which numbers are better [default: by the unit: shorter times, higher rates]
    #[arg(long, value_enum, value_name = "DIRECTION")]
    pub better: Option<Direction>,

    /// Number of observations (for a run, blocks) to skip at the start of every series, as a
    /// warm-up
    #[arg(long, value_name = "NUMBER", default_value_t = 0, hide_default_value = true)]
    pub skip: usize,

    /// Text files: a regular expression with a group `value` for the number, as in 'took
    /// (?<value>[0-9.]+)(?<unit>m?s)'
    ///
    /// Optional groups: `unit`, `name` (of the subject), and any other name as a parameter. Lines
    /// that do not match are skipped and counted.
    #[arg(long, value_name = "REGEX")]
    pub pattern: Option<String>,

    /// Benchmarks and metrics to keep, as in 'Copy -n:8', '.name:(BM_A OR BM_B)', '.metric:wall'
    /// (docs/reference/filter.md)
    #[arg(long, value_name = "QUERY", allow_hyphen_values = true)]
    pub filter: Option<Filter>,
}

/// Which values are better, in the words of `--metric NAME:UNIT:higher=`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Direction {
    /// Less is better
    Lower,
    /// More is better
    Higher,
}

/// Options for sides with several recordings.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Reading")]
pub(crate) struct SideArgs {
    /// A side with several recordings, as its name and its files: 'old=old*.json'; repeat the
    /// option for every side
    ///
    /// FILES are paths and patterns, separated by spaces. A directory stands for all files in it,
    /// and each document in a file of several JSON documents is a recording. Each recording is one
    /// unit, however many values it has: the verdict is based on the spread between recordings.
    #[arg(long = "side", value_name = "NAME=FILES", value_parser = any_words())]
    pub sides: Vec<String>,
}

impl SideArgs {
    /// Returns all sides. Those of `files`, which have no name, come first.
    ///
    /// # Errors
    /// Returns an error if a side has no name or files, if a name is given twice, or if a pattern
    /// matches nothing.
    pub fn with(&self, files: &[PathBuf]) -> anyhow::Result<Vec<SideFiles>> {
        let alone = |file: &PathBuf| SideFiles { name: None, files: vec![file.clone()] };
        let mut sides: Vec<SideFiles> = files.iter().map(alone).collect();
        for text in &self.sides {
            let (name, patterns) = text
                .split_once('=')
                .filter(|(name, patterns)| !name.is_empty() && !patterns.trim().is_empty())
                .with_context(|| {
                    format!("--side {text}: give its name and its files, as in 'old=old*.json'")
                })?;
            if sides.iter().any(|side| side.name.as_deref() == Some(name)) {
                anyhow::bail!(
                    "--side {text}: a side `{name}` was already given; list all its files after one name, separated by spaces"
                );
            }
            let mut files = Vec::new();
            for pattern in patterns.split_whitespace() {
                let path = PathBuf::from(word_of(pattern));
                let found = match path.exists() || pattern == "-" {
                    true => vec![path],
                    false => matching(pattern, |path| path.exists())
                        .with_context(|| format!("--side {text}: {pattern}"))?,
                };
                files.extend(
                    found.into_iter().filter(|file| !files.contains(file)).collect::<Vec<_>>(),
                );
            }
            sides.push(SideFiles { name: Some(name.to_owned()), files });
        }
        Ok(sides)
    }
}

/// Returns all files of `sides`.
pub(crate) fn files_of(sides: &[SideFiles]) -> Vec<PathBuf> {
    sides.iter().flat_map(|side| side.files.clone()).collect()
}

impl ReadingArgs {
    /// Returns the options for the importers.
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
            better: self.better.map(|better| match better {
                Direction::Lower => Better::Lower,
                Direction::Higher => Better::Higher,
            }),
        }
    }
}

/// The four-step check, from validity to effect.
#[derive(Args, Debug)]
#[command(next_help_heading = "Four-step check")]
pub(crate) struct ProtocolArgs {
    /// Run the four-step check for publication (validity, power, test, effect), and state what can
    /// be published
    ///
    /// The threshold is the smallest difference of interest, as an amount (6.667us) or a share of
    /// the reference's median. The check ends at the first step that fails. The steps are explained
    /// in docs/concepts/four-step-check.md.
    #[arg(long)]
    pub rigorous: bool,

    /// Significance level: probability of finding a difference where there is none [default: 1%;
    /// `assay plan` uses 5%]
    #[arg(long, value_name = "SHARE", value_parser = chance, requires = "rigorous")]
    pub alpha: Option<f64>,

    /// Power: probability of finding a difference as large as the threshold [default: 95%; `assay
    /// plan` uses 80%]
    #[arg(long, value_name = "SHARE", value_parser = chance, requires = "rigorous")]
    pub power: Option<f64>,

    /// Exit with status 1 if any step warns or fails
    #[arg(long, requires = "rigorous")]
    pub strict: bool,
}

impl ProtocolArgs {
    /// Returns the options of the four-step check; `None` without `--rigorous`.
    pub fn options(&self) -> Option<ProtocolOptions> {
        let default = ProtocolOptions::default();
        self.rigorous.then(|| ProtocolOptions {
            alpha: self.alpha.unwrap_or(default.alpha),
            power: self.power.unwrap_or(default.power),
            ..default
        })
    }

    /// Returns the ending of the command: `judged`, or status 1 if `--strict` is given and a step
    /// did not pass.
    pub fn ending(&self, chains: &[Protocol], judged: Ending) -> Ending {
        let passed = chains.iter().all(|chain| chain.outcome() == Status::Passed);
        if self.strict && !passed { Ending::FailIfCameTrue } else { judged }
    }
}

/// Options for recording a run.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Recording")]
pub(crate) struct KeepArgs {
    /// Record the run in this file [default: in the state directory]
    ///
    /// The state directory keeps the last 200 runs.
    #[arg(long, value_name = "FILE", conflicts_with = "no_save")]
    pub save: Option<PathBuf>,

    /// Do not record the run
    #[arg(long)]
    pub no_save: bool,

    /// Omit host name, directories, repository, values of variables, and arguments that look like
    /// secrets from the record
    #[arg(long)]
    pub anonymous: bool,
}

impl KeepArgs {
    /// Returns these arguments for a run that resumes or repeats a run recorded with `first`. The
    /// new run is anonymous if `self` or `first` is.
    pub fn after(&self, first: &Self) -> Self {
        Self { anonymous: self.anonymous || first.anonymous, ..self.clone() }
    }
}

/// Options for the output of a command.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Output")]
pub(crate) struct ShowArgs {
    /// Print JSON instead of text
    ///
    /// The fields are described in docs/reference/json.md.
    #[arg(long)]
    pub json: bool,

    /// Also write the result to a file: .json, .md, .csv, ...
    ///
    /// The extension selects the format: .json, .md, .csv (summary), .samples.csv (every
    /// observation), .hyperfine.json or .hyperfine2.json (hyperfine's layout).
    #[arg(long, value_name = "FILE")]
    pub export: Vec<PathBuf>,

    #[command(flatten)]
    pub pages: PageArgs,

    /// Print only errors, and each warning on one line, to standard error
    #[arg(long, short)]
    pub quiet: bool,

    /// Print every check, warning and note in full [default: at most five lines]
    #[arg(long, short, conflicts_with = "quiet")]
    pub verbose: bool,

    /// When to use colors
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = ColorWhen::Auto)]
    pub color: ColorWhen,
}

impl ShowArgs {
    /// Returns which remarks to show on the terminal after the result.
    pub fn remarks(&self) -> Remarks {
        Remarks::wanted(self.quiet, self.verbose)
    }

    /// Returns true if any output other than that on the terminal is requested. Such output
    /// contains every fact.
    pub fn writes_documents(&self) -> bool {
        self.json
            || !self.export.is_empty()
            || self.pages.report.is_some()
            || self.pages.plots.is_some()
    }
}

/// Options for writing pages and plots.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Output")]
pub(crate) struct PageArgs {
    /// Also write an HTML page that works offline
    ///
    /// The page contains the verdict, plots, numbers, data and methods, and describes the machine.
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,

    /// Keep absolute paths and possible secrets in the page [default: both are removed]
    #[arg(long, requires = "report")]
    pub unredacted: bool,

    /// Also write every plot to this directory, as SVG and PNG
    #[arg(long, value_name = "DIR")]
    pub plots: Option<PathBuf>,
}

/// Options for the output of commands that write only text or JSON.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Output")]
pub(crate) struct LookArgs {
    /// Print JSON instead of text
    ///
    /// The fields are described in docs/reference/json.md.
    #[arg(long)]
    pub json: bool,

    /// Print nothing to standard error except errors
    #[arg(long, short)]
    pub quiet: bool,

    /// When to use colors
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = ColorWhen::Auto)]
    pub color: ColorWhen,
}

/// Parses the unit of numbers.
fn unit(text: &str) -> Result<String, String> {
    if text == "m" {
        return Err("`m` may mean minutes or milliseconds: write `min` or `ms`".to_owned());
    }
    check_unit(text).map(|()| text.to_owned()).map_err(|error| error.to_string())
}

/// Parses a quantity. On failure, `told` turns the parser's message, which lists every unit, into
/// the message to show. A decimal comma has a message of its own.
fn quantity(text: &str, told: impl FnOnce(String) -> String) -> Result<Quantity, String> {
    parse_quantity(text).map_err(|error| {
        let with_point = text.replace(',', ".");
        let is_decimal = with_point != text && parse_quantity(&with_point).is_ok();
        match is_decimal {
            true => format!("decimals have a point: write `{with_point}`"),
            false => told(error.to_string()),
        }
    })
}

/// Returns a message on how to write a time of several parts, such as `1m30s`, as one number;
/// `None` if `text` is no such time.
fn sum_of_times(text: &str) -> Option<String> {
    let mut rest = text.trim();
    let mut sum = 0.0;
    while !rest.is_empty() {
        let unit = rest.find(|c: char| c.is_alphabetic())?;
        let end = rest[unit..].find(|c: char| c.is_ascii_digit());
        let (part, others) = rest.split_at(end.map_or(rest.len(), |end| unit + end));
        let Ok(Quantity::Amount(value, Unit::Second)) = parse_quantity(part) else { return None };
        sum += value;
        rest = others;
    }
    (sum > 0.0).then(|| format!("a time is one number with its unit: write `{sum}s`"))
}

/// Parses the smallest difference that matters: a percentage, or an amount with its unit.
pub(crate) fn threshold(text: &str) -> Result<Threshold, String> {
    if let Some(number) = text.strip_suffix('m').filter(|rest| rest.trim().parse::<f64>().is_ok()) {
        return Err(format!(
            "`m` may mean minutes or milliseconds: write `{number}min` or `{number}ms`"
        ));
    }
    let found = match quantity(text, |error| error)? {
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
        Err("the smallest difference that matters must be greater than 0".to_owned())
    }
}

/// Parses a confidence: `99%`, `99` or `0.99`.
pub(crate) fn confidence(text: &str) -> Result<f64, String> {
    let fraction = match quantity(text, |_| "write it like `99%`".to_owned())? {
        Quantity::Fraction(fraction) => fraction,
        Quantity::Bare(number) if number < 1.0 => number,
        Quantity::Bare(number) => number / 100.0,
        Quantity::Amount(..) => return Err("write it like `99%`".to_owned()),
    };
    if (0.5..=0.9999).contains(&fraction) {
        Ok(fraction)
    } else {
        Err("it must be between 50% and 99.99%".to_owned())
    }
}

/// Parses a probability strictly between 0 and 1: `0.01`, `1%`.
pub(crate) fn chance(text: &str) -> Result<f64, String> {
    let share = match quantity(text, |_| "write it like `0.01` or `1%`".to_owned())? {
        Quantity::Fraction(share) | Quantity::Bare(share) => share,
        Quantity::Amount(..) => return Err("write it like `0.01` or `1%`".to_owned()),
    };
    if share > 0.0 && share < 1.0 {
        Ok(share)
    } else if share > 1.0 && share < 100.0 {
        Err(format!("it must be between 0 and 1, like `0.01`, or a percentage: `{share}%`"))
    } else {
        Err("it must be between 0 and 1; write it like `0.01` or `1%`".to_owned())
    }
}

/// Parses a duration into seconds. Seconds are also the default unit.
pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    let like = "write it like `90s` or `2min`; its unit is ns, us, ms, s, min or h";
    let span = match quantity(text, |_| sum_of_times(text).unwrap_or_else(|| like.to_owned()))? {
        Quantity::Amount(value, Unit::Second) | Quantity::Bare(value) => value,
        _ => return Err(like.to_owned()),
    };
    if span > 0.0 && span < 1e9 {
        Ok(span)
    } else {
        Err("a duration must be more than 0 s and less than 30 years".to_owned())
    }
}

/// Options for keeping a measured run in the history.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Recording")]
pub(crate) struct KeepInHistoryArgs {
    /// Also keep the run in the project's history, for `assay history` and `assay gate`
    ///
    /// The project is named after the repository's directory, unless another name is given:
    /// --keep=NAME.
    #[arg(long, value_name = "PROJECT", num_args = 0..=1, require_equals = true, default_missing_value = "", conflicts_with = "anonymous")]
    pub keep: Option<String>,

    /// History file, or postgres://USER@HOST/DATABASE [default: .assay/history.db in the
    /// repository, or a file in the state directory]
    #[arg(long, value_name = "PLACE", requires = "keep")]
    pub store: Option<PathBuf>,

    /// Name of the machine, if its host name changes from run to run
    #[arg(long, value_name = "NAME", requires = "keep", value_parser = any_words())]
    pub machine: Option<String>,
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
        assert!(threshold("5m").is_err_and(|e| e.contains("5min") && e.contains("5ms")));
        assert!(unit("m").is_err() && unit("MS").is_err_and(|e| e.contains("`ms`")));
        assert_eq!(unit("rows per second"), Ok("rows per second".to_owned()));
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
        assert!(seconds("1m30s").is_err_and(|e| e.contains("write `90s`")));
        assert!(seconds("0,5s").is_err_and(|e| e.contains("write `0.5s`")));
        assert!(seconds("foo").is_err_and(|e| e.contains("`90s`") && !e.contains("KiB")));
        assert!(seconds("3MiB").is_err());
    }
}
