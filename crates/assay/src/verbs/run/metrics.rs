//! Which numbers are wanted beyond what every run has: those that the program prints or hands over, and counters.

use crate::counted::Counted;
use crate::meter::{Meter, is_given};
use crate::session::Prepared;
use anyhow::{bail, ensure};
use assay_data::reading::MetricSpec;
use assay_measure::counters::{self, Event};
use assay_measure::{Channel, Output};
use clap::ValueEnum;

/// What to measure.
#[derive(clap::Args, Debug, Default)]
#[command(next_help_heading = "Measuring")]
pub(super) struct MetricArgs {
    /// A number of the program's own: stdout, NAME:UNIT=REGEX, NAME=json:/POINTER, or NAME by the sample protocol; the first one decides
    ///
    /// `stdout`: a bare number is all that the program prints. `NAME:UNIT:higher=REGEX`: the first group of a regular
    /// expression in what it prints (`stderr:REGEX` on standard error), its unit, and that more of it is better.
    /// `NAME=json:/a/0/b`: by JSON pointer. `NAME` alone: given by the sample protocol. Where several numbers match, say
    /// which is meant: `:first`, `:last`, `:sum`, `:mean`, `:median`, `:max` (docs/reference/metrics.md).
    #[arg(long, value_name = "SPEC")]
    pub metric: Vec<String>,

    /// Take every number that the program gives by the sample protocol; over a descriptor, or over a file where those get closed (=path)
    #[arg(long, value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "fd", value_enum)]
    pub samples: Option<How>,

    /// Count events, as in instructions,cycles,cache-misses or page-faults,context-switches
    #[arg(long, value_name = "LIST")]
    pub counters: Option<String>,

    /// Count what every command allocates, in three runs each after the timed ones
    ///
    /// Calls of malloc and its kin, of realloc and of free, bytes asked for, and the peak of live bytes: metrics
    /// `allocations`, `reallocs`, `frees`, `allocated_bytes` and `peak_heap`, over all processes of a run. For any dynamically
    /// linked program, as it is: assay run --alloc './old data' './new data' (docs/guides/allocations.md).
    #[arg(long)]
    pub alloc: bool,

    /// Count instructions on a simulated processor (valgrind), in three runs each after the timed ones
    ///
    /// A metric `valgrind_instructions`, over all processes of a run: it hardly depends on the
    /// machine or on what else runs there. To decide by it alone, without timing anything: assay
    /// run --count-instructions --primary valgrind_instructions --fail-if slower './old data'
    /// './new data' (docs/guides/instructions.md).
    #[arg(long)]
    pub count_instructions: bool,
}

/// How a program hands over numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum How {
    /// Over a descriptor that it inherits
    Fd,
    /// Over a file, named by its path
    Path,
}

/// What the arguments ask for.
#[derive(Debug, Default)]
pub(super) struct Asked {
    pub specs: Vec<MetricSpec>,
    pub channel: Channel,
    /// Take numbers that nobody has named, too.
    pub all_samples: bool,
    pub events: Vec<Event>,
    /// What is counted after all else.
    pub counted: Vec<Counted>,
}

impl MetricArgs {
    /// Reads the arguments.
    pub fn read(&self) -> anyhow::Result<Asked> {
        let mut specs: Vec<MetricSpec> = Vec::new();
        let counted = Counted::asked(self.alloc, self.count_instructions);
        for text in &self.metric {
            let spec = MetricSpec::parse(text)
                .map_err(|error| anyhow::anyhow!("--metric {text}: {error}"))?;
            let name = &spec.metric.name;
            ensure!(
                !Meter::is_own(name),
                "--metric {text}: every run has a metric `{name}` already; choose another name, or --primary {name}"
            );
            if let Some(own) = counted.iter().find(|own| own.names().contains(&name.as_str())) {
                let option = own.option();
                bail!(
                    "--metric {text}: {option} counts something of that name; choose another one"
                );
            }
            ensure!(
                specs.iter().all(|s| s.metric.name != *name),
                "--metric {text}: there are two metrics of the name `{name}`"
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
            bail!("--metric {name}: --counters counts something of that name; choose another one");
        }
        let all_samples = self.samples.is_some();
        Ok(Asked { specs, channel, all_samples, events, counted })
    }
}

impl Asked {
    /// What is counted of which this metric decides: then nothing is timed.
    pub fn deciding(&self, primary: &str) -> Option<Counted> {
        Counted::of_metric(primary).filter(|own| self.counted.contains(own))
    }

    /// Sees to it that the commands' runs bring what is to be read.
    pub fn prepare(&self, commands: &mut [Prepared]) -> anyhow::Result<()> {
        let stdout = self.specs.iter().find(|spec| spec.wants_stdout());
        let stderr = self.specs.iter().any(MetricSpec::wants_stderr);
        for prepared in commands {
            let command = &mut prepared.command;
            if let Some(spec) = stdout
                && command.output != Output::Null
            {
                bail!(
                    "--metric {} is read from standard output; leave out --output for `{}`",
                    spec.metric.name,
                    prepared.text
                );
            }
            command.keep_output = stdout.is_some();
            command.keep_errors = stderr;
            command.samples = self.channel;
        }
        Ok(())
    }
}
