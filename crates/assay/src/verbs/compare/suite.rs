//! `assay compare` on suites: many benchmarks in several files. It finds out whether files are that, says what to do where they can't
//! be compared, and shows the rest. No arithmetic.

use super::Args;
use crate::Ending;
use crate::advice::Dialect;
use crate::present::{self, suite};
use anyhow::Context;
use assay_analysis::benchmarks::{self, Adjust, SuiteError};
use assay_data::{Samples, Tool, select};
use assay_report::benchmarks::{Shown, Sort};
use clap::ValueEnum;
use std::collections::BTreeMap;

/// How many names of each side an error tells.
const NAMED: usize = 3;

/// How to show and decide a suite.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Suites (files of many benchmarks)")]
pub(crate) struct SuiteArgs {
    /// Multiple-comparison correction across the benchmarks
    #[arg(long, value_enum, value_name = "HOW", default_value_t = AdjustHow::Holm)]
    adjust: AdjustHow,

    /// Order of the benchmarks
    #[arg(long, value_enum, value_name = "ORDER", default_value_t = SortBy::Effect)]
    sort: SortBy,

    /// For secondary metrics show every benchmark, not only those that differ
    #[arg(long)]
    all_metrics: bool,
}

/// How the comparisons of a suite share the error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum AdjustHow {
    /// Family-wise: no wrong direction in any benchmark, at the level of --confidence
    Holm,
    /// False discovery rate (Benjamini-Hochberg): few of the reported differences are wrong; for
    /// large suites
    Bh,
    /// No correction: every benchmark by itself
    None,
}

/// Orders of benchmarks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SortBy {
    /// Differences by size, then inconclusive ones, then equivalent ones
    Effect,
    /// By name
    Name,
    /// In the order of the first file
    File,
}

impl SuiteArgs {
    /// How the benchmarks share the error.
    pub fn adjust(&self) -> Adjust {
        match self.adjust {
            AdjustHow::Holm => Adjust::Holm,
            AdjustHow::Bh => Adjust::FalseDiscovery,
            AdjustHow::None => Adjust::None,
        }
    }

    /// How to show them.
    pub fn shown(&self) -> Shown {
        let sort = match self.sort {
            SortBy::Effect => Sort::Effect,
            SortBy::Name => Sort::Name,
            SortBy::File => Sort::File,
        };
        Shown { sort, all_metrics: self.all_metrics }
    }
}

/// Compares a suite; `None` where the samples are none.
///
/// # Errors
/// When it can't be compared as was asked, or can't be shown.
pub(super) fn run(args: &Args, samples: &Samples) -> anyhow::Result<Option<Ending>> {
    if !benchmarks::is_suite(samples) {
        return check_no_suite(args, samples).map(|()| None);
    }
    let asked = [("--rigorous", args.protocol.rigorous), ("--all", args.all)];
    if let Some((option, _)) = asked.iter().find(|(_, asked)| *asked) {
        anyhow::bail!(
            "{option} looks closely at one comparison, and these files hold {}; give it files with one benchmark",
            several(samples)
        );
    }
    let reference = args.reference.as_deref();
    if let Some(name) = reference {
        let sides = sides(samples);
        if !sides.contains_key(name) {
            let known: Vec<String> = sides.keys().map(|side| format!("`{side}`")).collect();
            anyhow::bail!(
                "--reference {name}: of suites it names a side, and there are {}",
                known.join(", ")
            );
        }
    }
    let found = benchmarks::analyse(samples, &args.judge.options(), args.suite.adjust(), reference);
    let mut suite = match found {
        Ok(suite) => suite,
        Err(SuiteError::NothingInCommon) => anyhow::bail!(
            "no benchmark has a value of `{}` on several sides",
            args.judge.primary.as_deref().unwrap_or("the first metric")
        ),
        Err(error) => return Err(error).with_context(|| super::named(&args.files)),
    };
    let file = args.files.first().filter(|_| args.files.len() == 1);
    let file = file.map(std::path::PathBuf::as_path);
    suite::present(Dialect::Compare, &mut suite, samples, args.suite.shown(), &args.show, file)?;
    let decided = suite.primary_tables().flat_map(|table| &table.rows).map(|row| &row.comparison);
    Ok(Some(present::judge_all(decided, &args.judge.fail_if)))
}

/// The sides with the benchmarks on them.
fn sides(samples: &Samples) -> BTreeMap<&str, Vec<&str>> {
    let mut sides: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for subject in &samples.subjects {
        let row = samples.row_of(subject);
        sides.entry(&samples.side_of(subject).name).or_default().push(&row.name);
    }
    sides
}

fn several(samples: &Samples) -> String {
    let sides = sides(samples);
    let most = sides.values().map(Vec::len).max().unwrap_or(0);
    format!("{most} benchmarks on {} sides", sides.len())
}

/// Says what to do with files of many things that have nothing in common, or of which there is only one.
fn check_no_suite(args: &Args, samples: &Samples) -> anyhow::Result<()> {
    if args.reference.is_some() || samples.shares_a_row(|_| true) {
        return Ok(());
    }
    let mut of_file: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for subject in &samples.subjects {
        let file = samples.side_of(subject).source.as_deref().unwrap_or_default();
        of_file.entry(file).or_default().push(&subject.name);
    }
    let few = |names: &[&str]| {
        let told: Vec<String> = names.iter().take(NAMED).map(|name| format!("`{name}`")).collect();
        let more = names.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        told.join(", ") + &more
    };
    if of_file.len() > 1 && of_file.values().all(|names| names.len() > 1) {
        let sides: Vec<String> =
            of_file.iter().map(|(file, names)| format!("{file} has {}", few(names))).collect();
        let rows = select::common_rows(samples).map_or_else(String::new, |keys| {
            let keys: Vec<String> = keys.iter().map(ToString::to_string).collect();
            format!("; to match them by what their names share: --row {}", keys.join(","))
        });
        anyhow::bail!(
            "the files have no benchmark in common: {}{rows}; to compare all of them with one: --reference NAME",
            sides.join("; ")
        );
    }
    let alone = of_file.len() == 1 && samples.subjects.len() > 1 && samples.plan.is_none();
    let is_recorded = samples.environment.text("recorded_by").is_some();
    let within = Tool::that_recorded(&samples.environment).is_some_and(|t| t.compares_within);
    if alone && is_recorded && !within {
        let names: Vec<&str> = samples.subjects.iter().map(|s| s.name.as_str()).collect();
        anyhow::bail!(
            "one file of {} benchmarks ({}), and nothing to compare them with; give a second file of the same benchmarks, or compare all of \
             them with one: --reference NAME (assay describe shows them by themselves)",
            names.len(),
            few(&names)
        );
    }
    Ok(())
}
