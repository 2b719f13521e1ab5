//! Counts collected in a separate pass: allocations, and instructions on a simulated processor.
//! This module wraps a command and reads the files that its run left behind. The caller runs the
//! wrapped command. Nothing is timed in such a pass, because both kinds of counting slow programs
//! down.

use assay_data::code;
use assay_data::finding::shared::not_counted;
use assay_data::samples::{ALLOCATIONS, VALGRIND_INSTRUCTIONS};
use assay_data::{Action, Finding, Metric, Pass, Severity, Unit};
use assay_measure::Command;
use assay_measure::allocations::{Counting, Counts, Executed, RefusalReason};
use assay_measure::simulation::Simulation;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Metric of peak live memory, which is not a sum over the work of a run.
const PEAK: &str = "peak_heap";

/// Maximum number of uncounted programs to report by name.
const MOST_TOLD: usize = 5;

/// What to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    /// Calls and bytes of malloc and related functions.
    Allocations,
    /// Instructions on valgrind's simulated processor.
    Instructions,
}

impl Counted {
    /// Returns the kinds of counts that the options request.
    pub fn asked(alloc: bool, instructions: bool) -> Vec<Self> {
        let all = [(alloc, Self::Allocations), (instructions, Self::Instructions)];
        all.into_iter().filter(|(asked, _)| *asked).map(|(_, counted)| counted).collect()
    }

    /// Returns the finding that this kind can't be counted for the commands in `whose`, with the
    /// reason.
    pub fn refused(self, whose: &str, why: &str) -> Finding {
        let what = format!("the {} of {whose}", self.what());
        let (finding, guide) = match self {
            Self::Allocations => {
                let message = format!("{what} can't be counted: {why}");
                let found = Finding::new(code::NOT_COUNTED, message);
                (found, "docs/guides/allocations.md")
            }
            Self::Instructions => (not_counted(&what, why), "docs/guides/instructions.md"),
        };
        finding.advise(Action::Read { page: format!("{guide} says what can be counted") })
    }

    /// Returns the pass in which this kind is counted.
    pub fn pass(self) -> Pass {
        match self {
            Self::Allocations => Pass::Allocations,
            Self::Instructions => Pass::Instructions,
        }
    }

    /// Returns the kind of count that provides the metric with this name.
    pub fn of_metric(name: &str) -> Option<Self> {
        [Self::Allocations, Self::Instructions].into_iter().find(|own| own.names().contains(&name))
    }

    /// Returns the names of the metrics of this kind.
    pub fn names(self) -> &'static [&'static str] {
        match self {
            Self::Allocations => &ALLOCATIONS,
            Self::Instructions => &[VALGRIND_INSTRUCTIONS],
        }
    }

    /// Returns the metrics of this kind. They are exact counts, and lower is better.
    pub fn metrics(self) -> Vec<Metric> {
        let unit = |name: &str| match name {
            "allocated_bytes" | PEAK => Unit::Byte,
            _ => Unit::One,
        };
        self.names().iter().map(|name| Metric::exact(name, unit(name))).collect()
    }

    /// Returns what is counted, as a word for messages.
    pub fn what(self) -> &'static str {
        match self {
            Self::Allocations => "allocations",
            Self::Instructions => "instructions",
        }
    }

    /// Returns the description of the activity, for the progress display.
    pub fn doing(self) -> &'static str {
        match self {
            Self::Allocations => "counting allocations",
            Self::Instructions => "counting instructions",
        }
    }

    /// Returns the option that requests this kind.
    pub fn option(self) -> &'static str {
        match self {
            Self::Allocations => "--alloc",
            Self::Instructions => "--count-instructions",
        }
    }

    /// Prepares to count one command at a time.
    ///
    /// # Errors
    ///
    /// Fails if a tool is missing, or if there is no directory for the files that runs leave
    /// behind.
    pub fn start(self) -> anyhow::Result<Counter> {
        Ok(match self {
            Self::Allocations => Counter::Allocations(Counting::start()?),
            Self::Instructions => Counter::Instructions(Simulation::start()?),
        })
    }
}

/// Returns true if a count grows with the work of a run, so that the difference between two runs is
/// due to their difference in work.
pub(crate) fn is_sum(name: &str) -> bool {
    name != PEAK
}

/// Counts the runs of one command.
#[derive(Debug)]
pub(crate) enum Counter {
    /// Counts allocations.
    Allocations(Counting),
    /// Counts instructions.
    Instructions(Simulation),
}

/// The counts of one or several runs.
#[derive(Debug, Default)]
pub(crate) struct Count {
    /// One value per metric, in the order of [`Counted::metrics`]; NaN if unknown.
    pub values: Vec<f64>,
    /// Programs that the run started, as far as the counter reports them.
    pub programs: Vec<PathBuf>,
    /// Path of a program that was not counted because it has its own malloc.
    pub bypassed: Option<PathBuf>,
    /// The programs that the counted ones executed, or tried to execute.
    pub executed: BTreeSet<Executed>,
}

impl Counter {
    /// Returns the command, wrapped for counting.
    ///
    /// # Errors
    ///
    /// Fails if the command cannot be wrapped.
    pub fn wrapped(&self, command: &Command) -> anyhow::Result<Command> {
        Ok(match self {
            Self::Allocations(counting) => {
                let mut wrapped = command.clone();
                wrapped.env.extend(counting.environment(command)?);
                wrapped
            }
            Self::Instructions(simulation) => simulation.command(command)?,
        })
    }

    /// Returns the counts of all runs since the last call, summed over their processes.
    ///
    /// # Errors
    ///
    /// Returns a message that explains why nothing was counted.
    pub fn take(&self) -> Result<Count, String> {
        match self {
            Self::Instructions(simulation) => {
                let instructions = simulation.take().map_err(|error| error.to_string())?;
                Ok(Count { values: vec![instructions as f64], ..Count::default() })
            }
            Self::Allocations(counting) => {
                let executed = counting.take_executed();
                let records = counting.take().map_err(|error| error.to_string())?;
                let executed = executed.map_err(|error| error.to_string())?;
                let mut count = Count { executed, ..Count::default() };
                let mut counts: Vec<Counts> = Vec::new();
                for record in records {
                    match record.counts {
                        Some(found) => counts.push(found),
                        None => count.bypassed = Some(record.program.clone()),
                    }
                    count.programs.push(record.program);
                }
                if counts.is_empty() {
                    return Err(match count.bypassed {
                        Some(program) => of_program(&program, RefusalReason::OwnMalloc),
                        None => "its run left no counts: the dynamic linker did not load the counting library".to_owned(),
                    });
                }
                count.values = summed(&counts).to_vec();
                Ok(count)
            }
        }
    }
}

/// Returns the reason with the program's name but without its path, which anonymous records keep
/// private.
pub(crate) fn of_program(program: &Path, why: RefusalReason) -> String {
    let name = program.file_name().unwrap_or(program.as_os_str());
    format!("`{}` {why}", name.to_string_lossy())
}

/// Returns the finding that the counts lack some allocations of `whose`.
pub(crate) fn allocations_hidden(whose: &str, why: &str) -> Finding {
    let message = format!("the counts lack some allocations of {whose}: {why}");
    Finding::new(code::COUNTS_INCOMPLETE, message)
}

/// Returns a finding about programs that a command runs and that are missing from its counts;
/// `None` if all are included.
pub(crate) fn children_missing(who: &str, executed: &BTreeSet<Executed>) -> Option<Finding> {
    let uncounted = executed.iter().filter_map(Executed::uncounted);
    let why: BTreeSet<String> = uncounted.map(|r| of_program(&r.program, r.why)).collect();
    let told: Vec<&str> = why.iter().take(MOST_TOLD).map(String::as_str).collect();
    let more = match why.len().saturating_sub(MOST_TOLD) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    let message = format!(
        "the allocations of {who} lack those of programs that it runs: {}{more}",
        told.join("; ")
    );
    (!why.is_empty()).then(|| {
        Finding::new(code::COUNTS_INCOMPLETE, message)
            .at(Severity::Warning)
            .with("programs", why.len() as f64)
            .advise(Action::text("link them dynamically and leave their environment intact"))
            .advise(Action::text("count without them"))
    })
}

/// Returns the values of one run in the order of [`ALLOCATIONS`]: sums over all its processes, and
/// the largest peak of any process.
fn summed(counts: &[Counts]) -> [f64; 5] {
    let sum = |of: fn(&Counts) -> u64| counts.iter().map(of).fold(0, u64::wrapping_add) as f64;
    let peak = counts.iter().filter_map(|c| c.peak_bytes).max();
    [
        sum(|c| c.allocations),
        sum(|c| c.reallocs),
        sum(|c| c.frees),
        sum(|c| c.allocated_bytes),
        peak.map_or(f64::NAN, |peak| peak as f64),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_all_processes_are_summed_and_the_peak_is_of_one() {
        let process = |allocations, peak_bytes| Counts {
            allocations,
            allocated_bytes: 10 * allocations,
            peak_bytes,
            ..Counts::default()
        };
        let values = summed(&[process(2, Some(300)), process(5, Some(100)), process(0, None)]);
        assert_eq!(values, [7.0, 0.0, 0.0, 70.0, 300.0]);
        assert!(summed(&[process(1, None)])[4].is_nan());
        let metrics = Counted::Allocations.metrics();
        assert_eq!(metrics.len(), values.len());
        assert!(metrics.iter().all(|metric| metric.exact));
        assert!(!is_sum(&metrics[4].name) && metrics[..4].iter().all(|m| is_sum(&m.name)));
    }
}
