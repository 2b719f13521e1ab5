//! Requests to samplers.

use crate::command::Command;
use std::path::Path;
use std::time::Duration;

/// A sampling profiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampler {
    /// stackprof, which is loaded into the Ruby process. It is the only sampler that distinguishes
    /// garbage collection.
    Stackprof,
    /// rbspy, which samples Ruby programs from outside.
    Rbspy,
    /// py-spy, which samples Python programs from outside.
    PySpy,
    /// perf, for compiled programs.
    Perf,
}

impl Sampler {
    /// Returns the sampler's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stackprof => "stackprof",
            Self::Rbspy => "rbspy",
            Self::PySpy => "py-spy",
            Self::Perf => "perf",
        }
    }

    /// Returns commands that install the sampler.
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

    /// Returns the default sampling rate per second. It is not round, so that it does not
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
    /// Processor time. Waiting is not sampled.
    Cpu,
    /// Elapsed time. Waiting is sampled as well.
    Wall,
}

/// The method by which perf unwinds the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallGraph {
    /// Uses frame pointers, which is cheap, but correct only if all code was compiled with them.
    FramePointers,
    /// Uses debug information, which is expensive, but correct without frame pointers.
    Dwarf,
}

/// What to sample.
#[derive(Clone, Copy, Debug)]
pub enum Target<'a> {
    /// A program, from its start to its end.
    Command(&'a Command),
    /// A running process with this ID, which continues afterwards.
    Process(u32),
}

/// Options of a sampling run.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Number of samples per second.
    pub rate: f64,
    /// The clock that the timer follows, or `None` for the sampler's default.
    pub clock: Option<Clock>,
    /// The method by which perf unwinds the stack.
    pub call_graph: CallGraph,
    /// Time after which sampling ends, together with the program if it was started here.
    pub duration: Option<Duration>,
    /// An empty directory for intermediate files, which the caller removes.
    pub directory: &'a Path,
    /// If true, py-spy samples the program without its children. When py-spy follows children, it
    /// loses a program that calls exec.
    pub alone: bool,
    /// If true, the program's output is shown on standard error instead of being discarded.
    pub show_output: bool,
}
