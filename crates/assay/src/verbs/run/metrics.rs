//! Metrics requested in addition to those of every run: numbers that the program prints or reports,
//! and counters.

use crate::commands::Prepared;
use crate::counted::Counted;
use crate::meter::{Meter, is_given};
use anyhow::{bail, ensure};
use assay_data::reading::MetricSpec;
use assay_measure::counters::{self, Event};
use assay_measure::{Channel, Output};
use clap::ValueEnum;

/// Options for metrics.
#[derive(clap::Args, Debug, Default)]
#[command(next_help_heading = "Measuring")]
pub(super) struct MetricArgs {
    /// A custom metric that the program reports: stdout, NAME:UNIT=REGEX, NAME=json:/POINTER, or
    /// NAME for the sample protocol
    ///
    /// The first one becomes the primary metric. `stdout`: the program prints a bare number and
    /// nothing else. `NAME:UNIT:higher=REGEX`: the first group of a regular expression in its
    /// output (`stderr:REGEX` for standard error), with a unit; `higher` means that more is better.
    /// `NAME=json:/a/0/b`: a JSON pointer. `NAME` alone: reported through the sample protocol. If
    /// several numbers match, select with `:first`, `:last`, `:sum`, `:mean`, `:median` or `:max`
    /// (docs/reference/metrics.md).
    #[arg(long, value_name = "SPEC")]
    pub metric: Vec<String>,

    /// Record every number that the program reports through the sample protocol
    ///
    /// Numbers are passed through a file descriptor or, with =path, through a file, for programs
    /// that close descriptors.
    #[arg(long, value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "fd", value_enum)]
    pub samples: Option<How>,

    /// Count hardware or software events, as in instructions,cycles,cache-misses or
    /// page-faults,context-switches
    #[arg(long, value_name = "LIST")]
    pub counters: Option<String>,

    /// Count heap allocations, in three extra runs of each command after the timed ones
    ///
    /// Adds `allocations`, `reallocs`, `frees` and `allocated_bytes`, summed over all processes of
    /// a run, and `peak_heap` of the largest process. Works with any dynamically linked program,
    /// unmodified: assay run --alloc './old data' './new data' (docs/guides/allocations.md).
    #[arg(long)]
    pub alloc: bool,

    /// Count instructions under valgrind, in three extra runs of each command after the timed ones
    ///
    /// Adds the metric `valgrind_instructions`, summed over all processes of a run; it hardly
    /// depends on the machine or its load. To decide by this metric alone, without any timing:
    /// assay run --count-instructions --primary valgrind_instructions --fail-if slower './old data'
    /// './new data' (docs/guides/instructions.md).
    #[arg(long)]
    pub count_instructions: bool,
}

/// How a program passes numbers to assay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum How {
    /// Through an inherited file descriptor
    Fd,
    /// Through a file, passed by path
    Path,
}

/// The metrics that the arguments request.
#[derive(Debug, Default)]
pub(super) struct RequestedMetrics {
    pub specs: Vec<MetricSpec>,
    pub channel: Channel,
    /// True if numbers that are not requested by name are also read.
    pub all_samples: bool,
    pub events: Vec<Event>,
    /// Kinds of counting, done after everything else.
    pub counted: Vec<Counted>,
}

impl MetricArgs {
    /// Returns the options that only some runners support, and whether each was given.
    pub fn given(&self) -> [(&'static str, bool); 2] {
        [("--counters", self.counters.is_some()), ("--alloc", self.alloc)]
    }

    /// Parses the arguments.
    pub fn read(&self) -> anyhow::Result<RequestedMetrics> {
        let mut specs: Vec<MetricSpec> = Vec::new();
        let counted = Counted::asked(self.alloc, self.count_instructions);
        for text in &self.metric {
            let spec = MetricSpec::parse(text)
                .map_err(|error| anyhow::anyhow!("--metric {text}: {error}"))?;
            let name = &spec.metric.name;
            ensure!(
                !Meter::is_own(name),
                "--metric {text}: every run already has a metric `{name}`; choose another name, or --primary {name}"
            );
            if let Some(own) = counted.iter().find(|own| own.names().contains(&name.as_str())) {
                let option = own.option();
                bail!(
                    "--metric {text}: {option} counts something with that name; choose another one"
                );
            }
            ensure!(
                specs.iter().all(|s| s.metric.name != *name),
                "--metric {text}: there are two metrics named `{name}`"
            );
            specs.push(spec);
        }
        let channel = match self.samples {
            Some(How::Path) => Channel::Path,
            Some(How::Fd) => Channel::Descriptor,
            None if specs.iter().any(is_given) => Channel::Descriptor,
            None => Channel::None,
        };
        let events = match &self.counters {
            Some(list) => counters::parse(list)
                .map_err(|error| anyhow::anyhow!("--counters {list}: {error}"))?,
            None => Vec::new(),
        };
        if let Some(spec) = specs.iter().find(|s| events.iter().any(|e| e.name == s.metric.name)) {
            let name = &spec.metric.name;
            bail!(
                "--metric {name}: --counters counts something with that name; choose another one"
            );
        }
        let all_samples = self.samples.is_some();
        Ok(RequestedMetrics { specs, channel, all_samples, events, counted })
    }
}

impl RequestedMetrics {
    /// Returns the kind of counting that provides the primary metric; nothing is timed then.
    pub fn deciding(&self, primary: &str) -> Option<Counted> {
        Counted::of_metric(primary).filter(|own| self.counted.contains(own))
    }

    /// Makes the commands keep the output from which metrics are read.
    pub fn prepare(&self, commands: &mut [Prepared]) -> anyhow::Result<()> {
        let stdout = self.specs.iter().find(|spec| spec.wants_stdout());
        let stderr = self.specs.iter().any(MetricSpec::wants_stderr);
        for prepared in commands {
            if let Some(spec) = stdout
                && prepared.command.output != Output::Null
            {
                bail!(
                    "--metric {} is read from standard output; leave out --output for `{}`",
                    spec.metric.name,
                    prepared.text
                );
            }
            for command in prepared.every_mut() {
                command.keep_output = stdout.is_some();
                command.keep_errors = stderr;
                command.samples = self.channel;
            }
        }
        Ok(())
    }
}
