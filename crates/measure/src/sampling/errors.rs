//! Why nothing was sampled, in words for the user: which sampler is missing and how to install it, which setting of the system forbids.

use super::process::Ended;
use super::{Sampler, Target};
use crate::command::CommandError;
use crate::resolve::ResolveError;
use crate::runner::Outcome;
use crate::sys::machine_settings;
use std::io;
use std::path::PathBuf;

/// Why nothing was sampled.
#[derive(Debug, thiserror::Error)]
pub enum SamplingError {
    /// The command is none.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// Its program can't be found or run.
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    /// No sampler for the program is there.
    #[error("{subject} needs {}, and it is not there. Install it:\n{}", names(.samplers), lines(.samplers))]
    Missing {
        /// What is to be sampled, as in "a Ruby program".
        subject: &'static str,
        /// Any of these would do.
        samplers: Vec<Sampler>,
    },
    /// stackprof can't be put into a process that runs.
    #[error(
        "stackprof works within a program that it starts with; of a process that runs already it knows nothing: use --sampler rbspy"
    )]
    NotFromOutside,
    /// There is no such process.
    #[error("there is no process {process}; it may have ended")]
    NoProcess {
        /// Its number.
        process: u32,
    },
    /// perf samples processor time.
    #[error("perf samples processor time; waiting is not seen by it: leave out --clock wall")]
    NoWallClock,
    /// The kernel refuses to let perf sample.
    #[error(
        "the kernel does not let you sample: kernel.perf_event_paranoid is {level}.\nLower it (sudo sysctl kernel.perf_event_paranoid=2), or run as root or with the capability CAP_PERFMON"
    )]
    PerfParanoid {
        /// The setting's level.
        level: i64,
    },
    /// The kernel refuses to let a process be looked into.
    #[error("{sampler} may not look into the process{}", forbidden_by(*.scope))]
    NotAllowed {
        /// Which sampler was refused.
        sampler: &'static str,
        /// The level of `kernel.yama.ptrace_scope`, where the kernel has that.
        scope: Option<i64>,
    },
    /// The program or the sampler can't be started.
    #[error("cannot start `{program}`: {source}")]
    Start {
        /// The program.
        program: String,
        /// What the system says.
        source: io::Error,
    },
    /// A file in between can't be written or read.
    #[error("`{}`: {source}", .path.display())]
    Files {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The sampler wrote nothing.
    #[error("{sampler} sampled nothing; {ending}{said}")]
    Nothing {
        /// Which one.
        sampler: &'static str,
        /// How it ended.
        ending: String,
        /// The last that it or the program said; may be empty.
        said: String,
    },
}

fn names(samplers: &[Sampler]) -> String {
    samplers.iter().map(|sampler| sampler.name()).collect::<Vec<_>>().join(" or ")
}

fn lines(samplers: &[Sampler]) -> String {
    samplers.iter().map(|sampler| format!("  {}", sampler.install())).collect::<Vec<_>>().join("\n")
}

fn forbidden_by(level: Option<i64>) -> String {
    match level {
        Some(level) if level > 0 => format!(
            ": kernel.yama.ptrace_scope is {level}.\nLower it (sudo sysctl kernel.yama.ptrace_scope=0), or run as root or with the capability CAP_SYS_PTRACE"
        ),
        _ => ": it belongs to somebody else, or this container forbids it.\nRun as root or with the capability CAP_SYS_PTRACE (docker run --cap-add SYS_PTRACE)".to_owned(),
    }
}

/// What is wrong when a sampler leaves no file: that it was not allowed to, or what it said.
pub(super) fn nothing_written(
    sampler: Sampler,
    ended: &Ended,
    target: Target<'_>,
    timed: bool,
) -> SamplingError {
    let said = ended.said.to_lowercase();
    let refused =
        ["permission denied", "operation not permitted", "not permitted", "no permission"];
    if refused.iter().any(|words| said.contains(words)) && sampler != Sampler::Stackprof {
        return SamplingError::NotAllowed {
            sampler: sampler.name(),
            scope: machine_settings::ptrace_scope(),
        };
    }
    let who = match (sampler, target) {
        (Sampler::Stackprof, _) => "the program",
        _ => "it",
    };
    let ending = match ended.outcome {
        Outcome::Exited(0) if sampler == Sampler::Stackprof => {
            "the program ended without running what Ruby does at its end (exit! or exec)".to_owned()
        }
        Outcome::Exited(0) => "the program may have ended before its first sample".to_owned(),
        Outcome::Exited(status) => format!("{who} ended with status {status}"),
        Outcome::Signalled(_) if timed && !ended.interrupted => {
            "its time was over before it had begun: give it a longer --duration".to_owned()
        }
        Outcome::Signalled(signal) => format!("{who} was ended by signal {signal}"),
        Outcome::TimedOut | Outcome::WantedTerminal => format!("{who} did not end in its time"),
    };
    // Where in its own code a sampler gave up helps nobody here.
    let own = ended.said.split("Stack backtrace:").next().unwrap_or_default();
    let said = match own.trim() {
        "" => String::new(),
        said => format!(". The last that was said:\n{said}"),
    };
    SamplingError::Nothing { sampler: sampler.name(), ending, said }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(said: &str) -> Ended {
        Ended {
            outcome: Outcome::Exited(1),
            wall_seconds: 0.1,
            cpu_seconds: 0.1,
            interrupted: false,
            said: said.to_owned(),
        }
    }

    #[test]
    fn who_may_not_trace_is_told_what_would_let_him() {
        let told = nothing_written(
            Sampler::PySpy,
            &ended("Error: Permission Denied: …"),
            Target::Process(1),
            false,
        );
        let told = told.to_string();
        assert!(told.contains("CAP_SYS_PTRACE"), "{told}");
        let told = SamplingError::PerfParanoid { level: 3 }.to_string();
        assert!(told.contains("kernel.perf_event_paranoid=2") && told.contains("CAP_PERFMON"));
    }

    #[test]
    fn a_missing_sampler_comes_with_the_line_that_installs_it() {
        let told = SamplingError::Missing {
            subject: "a Ruby program",
            samplers: vec![Sampler::Stackprof, Sampler::Rbspy],
        };
        assert_eq!(
            told.to_string(),
            "a Ruby program needs stackprof or rbspy, and it is not there. Install it:\n  gem install stackprof   (Debian, Ubuntu: apt install ruby-stackprof)\n  cargo install rbspy"
        );
    }

    #[test]
    fn what_a_sampler_said_is_handed_on() {
        let told =
            nothing_written(Sampler::Perf, &ended("no such event\n"), Target::Process(1), false)
                .to_string();
        assert!(
            told.ends_with("it ended with status 1. The last that was said:\nno such event"),
            "{told}"
        );
    }
}
