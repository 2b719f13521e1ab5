//! Options for suites, which consist of many benchmarks in several files, and errors about files
//! with many series that cannot be compared. This module does no arithmetic.

use super::Args;
use assay_analysis::Adjust;
use assay_analysis::analysis::is_suite;
use assay_data::list;
use assay_data::{Samples, Tool, select};
use assay_report::benchmarks::{DisplayOptions, Sort};
use clap::ValueEnum;
use std::collections::BTreeMap;

/// Maximum number of benchmark names per side in an error message.
const NAMED: usize = 3;

/// Options for how a suite is judged and shown.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Suites (files of many benchmarks)")]
pub(crate) struct SuiteArgs {
    /// Multiple-comparison correction across all comparisons
    #[arg(long, value_enum, value_name = "HOW", default_value_t = AdjustHow::Holm)]
    adjust: AdjustHow,

    /// Order of the benchmarks
    #[arg(long, value_enum, value_name = "ORDER", default_value_t = SortBy::Effect)]
    sort: SortBy,

    /// Show every benchmark for secondary metrics, not only those that differ
    #[arg(long)]
    all_metrics: bool,
}

/// Multiple-comparison corrections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum AdjustHow {
    /// Family-wise error rate (Holm): at the level of --confidence, no benchmark gets the wrong
    /// direction
    Holm,
    /// False discovery rate (Benjamini-Hochberg): few of the reported differences are wrong; suits
    /// large suites
    Bh,
    /// No correction: each benchmark is judged by itself
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
    /// Returns the multiple-comparison correction.
    pub fn adjust(&self) -> Adjust {
        match self.adjust {
            AdjustHow::Holm => Adjust::Holm,
            AdjustHow::Bh => Adjust::FalseDiscovery,
            AdjustHow::None => Adjust::None,
        }
    }

    /// Rejects any correction other than the one that the four steps use.
    ///
    /// # Errors
    /// Fails if another correction is selected. The message names the option to leave out.
    pub fn check_rigorous(&self) -> anyhow::Result<()> {
        let other = match self.adjust {
            AdjustHow::Holm => return Ok(()),
            AdjustHow::Bh => "bh",
            AdjustHow::None => "none",
        };
        anyhow::bail!(
            "--rigorous always corrects by Holm's procedure; leave out --adjust {other}, or --rigorous"
        )
    }

    /// Returns which benchmarks are shown, and in which order.
    pub fn shown(&self) -> DisplayOptions {
        let sort = match self.sort {
            SortBy::Effect => Sort::Effect,
            SortBy::Name => Sort::Name,
            SortBy::File => Sort::File,
        };
        DisplayOptions { sort, all_metrics: self.all_metrics, ..DisplayOptions::default() }
    }
}

/// Checks that there are series to compare.
///
/// # Errors
/// Fails if the files have no benchmark in common, or if there is only one file of benchmarks. The
/// message explains what to do.
pub(super) fn check_comparable(args: &Args, samples: &Samples) -> anyhow::Result<()> {
    if is_suite(samples) || args.reference.is_some() || samples.shares_a_row(|_| true) {
        return Ok(());
    }
    let mut of_file: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for subject in &samples.subjects {
        let file = samples.side_of(subject).source.as_deref().unwrap_or_default();
        of_file.entry(file).or_default().push(&subject.name);
    }
    let few = |names: &[&str]| {
        let told: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        list::first(&told, NAMED)
    };
    let tool = Tool::that_recorded(&samples.environment);
    // Commands with different names are compared with each other, but benchmarks are matched by
    // name.
    let are_benchmarks = tool.is_some_and(Tool::names_benchmarks)
        && samples.subjects.iter().all(|subject| {
            let name = &samples.row_of(subject).name;
            subject.command.is_none() && !name.is_empty() && *name != samples.side_of(subject).name
        });
    let are_suites = of_file.values().all(|names| names.len() > 1);
    if of_file.len() > 1 && (are_suites || are_benchmarks) {
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
    let within = tool.is_some_and(|tool| tool.compares_within);
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
