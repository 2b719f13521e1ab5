//! Requests to samplers.

use crate::command::Command;
use std::path::Path;
use std::time::Duration;

/// A sampling profiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampler {
    /// stackprof, loaded into the Ruby process: the only one that distinguishes garbage collection.
    Stackprof,
    /// rbspy, external, for Ruby.
    Rbspy,
    /// py-spy, external, for Python.
    PySpy,
    /// perf, for compiled programs.
    Perf,
}

impl Sampler {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stackprof => "stackprof",
            Self::Rbspy => "rbspy",
            Self::PySpy => "py-spy",
            Self::Perf => "perf",
        }
    }

    /// Returns installation commands.
    pub fn install(self) -> &'static str {
        match self {
            Self::Stackprof => {
                "gem install stackprof   (Debian, Ubuntu: apt install ruby-stackprof)"
            }
            Self::Rbspy => "cargo install rbspy",
            Self::PySpy => "pip install py-spy",
            Self::Perf => {
                "apt install linux-perf   (Ubuntu: apt install linux-tools-generic; Fedora: dnf install perf)"
            }
        }
    }

    /// Returns the default sampling rate per second: not a round number, so that it does not
    /// synchronize with other periodic events. Samplers that stop the process for each sample have
    /// a lower rate.
    pub fn usual_rate(self) -> f64 {
        match self {
            Self::Stackprof | Self::Perf => 997.0,
            Self::Rbspy | Self::PySpy => 101.0,
        }
    }
}

/// The clock that a sampler's timer follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// Processor time: waiting is not sampled.
    Cpu,
    /// Elapsed time: waiting is sampled as well.
    Wall,
}

/// The method by which perf unwinds the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallGraph {
    /// By frame pointers: cheap, but correct only if all code was compiled with them.
    FramePointers,
    /// By debug information: expensive, but correct without frame pointers.
    Dwarf,
}

/// Target of the sampling.
#[derive(Clone, Copy, Debug)]
pub enum Target<'a> {
    /// A program, from its start to its end.
    Command(&'a Command),
    /// A running process; it continues afterwards.
    Process(u32),
}

/// Sampling options.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Samples per second.
    pub rate: f64,
    /// The timer's clock; `None` for the sampler's default.
    pub clock: Option<Clock>,
    /// The method by which perf unwinds the stack.
    pub call_graph: CallGraph,
    /// Time after which sampling ends, together with the program if it was started here.
    pub duration: Option<Duration>,
    /// An empty directory for intermediate files; the caller removes it.
    pub directory: &'a Path,
    /// If true, py-spy samples the program without its children. When it follows children, py-spy
    /// loses a program that calls exec.
    pub alone: bool,
    /// If true, the program's output is shown on standard error instead of being discarded.
    pub show_output: bool,
}
