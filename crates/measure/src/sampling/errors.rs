//! Errors of sampling, worded for the user. They say which sampler is missing and how to install
//! it, or which system setting forbids sampling.

use super::ended::ProcessEnd;
use super::request::{Sampler, Target};
use crate::command::CommandError;
use crate::resolve::ResolveError;
use crate::runner::Outcome;
use crate::sys::{machine_settings, processes};
use assay_data::list;
use assay_data::system_error::reason;
use std::io;
use std::path::PathBuf;

/// Reasons why nothing was sampled.
#[derive(Debug, thiserror::Error)]
pub enum SamplingError {
    /// The command is invalid.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// The sampler's program can't be found or run.
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    /// No sampler for the program is installed.
    #[error("{subject} needs {}, which is not installed. Install it:\n{}{}", names(.samplers), lines(.samplers), instead(.samplers))]
    Missing {
        /// Description of the program, such as "a Ruby program".
        subject: &'static str,
        /// The suitable samplers, any one of which is sufficient.
        samplers: Vec<Sampler>,
    },
    /// stackprof can sample Ruby programs only.
    #[error("stackprof samples Ruby programs only, and this is {subject}: leave out --sampler")]
    NotRuby {
        /// Description of the program, such as "a compiled program".
        subject: &'static str,
    },
    /// The program failed before anything was sampled.
    #[error("`{program}` {outcome}, and nothing was sampled before{said}")]
    Failed {
        /// The program's command line.
        program: String,
        /// Outcome of the program.
        outcome: Outcome,
        /// The end of the output of the program and the sampler; may be empty.
        said: String,
    },
    /// stackprof can't be loaded into a running process.
    #[error(
        "stackprof works within a program that is started with it, not in a process that is already running: let assay start the program (assay profile 'ruby …'), or sample from outside (--sampler rbspy, or perf for what the interpreter itself does)"
    )]
    NotFromOutside,
    /// The process does not exist.
    #[error("there is no process {process}; it may have ended")]
    NoProcess {
        /// Process ID.
        process: u32,
    },
    /// perf samples processor time only.
    #[error("perf samples processor time and does not see waiting: omit --clock wall")]
    NoWallClock,
    /// The kernel does not let perf sample.
    #[error(
        "the kernel does not let you sample: kernel.perf_event_paranoid is {level}.\nLower it (sudo sysctl kernel.perf_event_paranoid=2), or run as root or with the capability CAP_PERFMON"
    )]
    PerfParanoid {
        /// The level of `kernel.perf_event_paranoid`.
        level: i64,
    },
    /// The process belongs to another user.
    #[error(
        "process {process} belongs to {owner}, and you may not inspect it.\nRun as root (sudo), or with the capability CAP_SYS_PTRACE"
    )]
    Foreign {
        /// Process ID.
        process: u32,
        /// Name or number of the user who owns the process.
        owner: String,
    },
    /// The process belongs to the same user, but is not dumpable.
    #[error(
        "process {process} is yours, but cannot be inspected: it has changed its user or its capabilities, or requested this itself (prctl PR_SET_DUMPABLE).\nRun as root (sudo), or with the capability CAP_SYS_PTRACE"
    )]
    Hidden {
        /// Process ID.
        process: u32,
    },
    /// The kernel does not permit tracing the process.
    #[error("{} may not inspect the process: {}{said}", .sampler.name(), forbidden_by(*.sampler, *.scope))]
    NotAllowed {
        /// The sampler that was refused.
        sampler: Sampler,
        /// The level of `kernel.yama.ptrace_scope`, if the kernel has it.
        scope: Option<i64>,
        /// The end of the sampler's output; may be empty.
        said: String,
    },
    /// The program is a text file without an interpreter line.
    #[error(
        "`{}` is a text file, and its first line does not name its interpreter (as `#!/usr/bin/env ruby` does); name it: assay profile 'INTERPRETER {}'",
        .path.display(), .path.display()
    )]
    NoInterpreter {
        /// The file.
        path: PathBuf,
    },
    /// The program or the sampler can't be started.
    #[error("cannot start `{program}`: {reason}", reason = reason(source))]
    Start {
        /// The program.
        program: String,
        /// The system's error.
        source: io::Error,
    },
    /// An intermediate file can't be written or read.
    #[error("`{}`: {reason}", .path.display(), reason = reason(source))]
    Files {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The sampler wrote nothing.
    #[error("{sampler} sampled nothing; {ending}{said}")]
    Nothing {
        /// The sampler.
        sampler: &'static str,
        /// How sampling ended, in words.
        ending: String,
        /// The end of the output of the sampler or the program; may be empty.
        said: String,
    },
}

/// Message, with advice, for a sampler that took no sample although nothing failed.
const TOO_SHORT: &str = "the program ended, or only waited, before the first sample was due: give it more work, sample more often (--rate 5000), or include waiting (--clock wall, if the sampler supports it)";

/// Time in seconds by which a sampler must have begun.
const LONG_ENOUGH: f64 = 2.0;

impl SamplingError {
    /// Returns the error for a sampler that worked but took no sample.
    pub fn too_short(sampler: Sampler) -> Self {
        Self::Nothing { sampler: sampler.name(), ending: TOO_SHORT.to_owned(), said: String::new() }
    }
}

fn names(samplers: &[Sampler]) -> String {
    samplers.iter().map(|sampler| sampler.name()).collect::<Vec<_>>().join(" or ")
}

fn lines(samplers: &[Sampler]) -> String {
    samplers.iter().map(|sampler| format!("  {}", sampler.install())).collect::<Vec<_>>().join("\n")
}

/// Returns a hint at an alternative to a sampler whose installation requires a compiler.
fn instead(samplers: &[Sampler]) -> &'static str {
    match samplers {
        [Sampler::Rbspy] => {
            "\nOr download the program for your machine from the releases of rbspy/rbspy on GitHub. Without it: let assay start the program (assay profile 'ruby …'), so that stackprof samples it from within; or sample what the interpreter itself does, --sampler perf"
        }
        _ => "",
    }
}

/// Returns the setting that forbids sampling, and the remedy. perf requests events from the kernel;
/// all others trace, for which Yama has levels.
fn forbidden_by(sampler: Sampler, scope: Option<i64>) -> String {
    match (sampler, scope) {
        (Sampler::Perf, _) => "this container or its security profile forbids events, or the process belongs to another user.\nRun as root (sudo), or with the capability CAP_PERFMON (docker run --cap-add PERFMON; before Docker 25 --security-opt seccomp=unconfined too)".to_owned(),
        (_, Some(1)) => "kernel.yama.ptrace_scope is 1, so only processes that you started can be inspected.\nLower it (sudo sysctl kernel.yama.ptrace_scope=0), run as root (sudo) or with the capability CAP_SYS_PTRACE, or have the program started here: assay profile 'COMMAND'".to_owned(),
        (_, Some(2)) => "kernel.yama.ptrace_scope is 2, so only root may inspect processes.\nLower it (sudo sysctl kernel.yama.ptrace_scope=1 for programs that are started here, =0 for those already running), or run as root (sudo) or with the capability CAP_SYS_PTRACE".to_owned(),
        (_, Some(level)) if level > 2 => format!("kernel.yama.ptrace_scope is {level}, so nobody may inspect a process, not even root, and it cannot be lowered until the machine is rebooted (set it in /etc/sysctl.d).\nWithout it: --sampler stackprof samples Ruby from within, --sampler perf what is compiled"),
        _ => "it belongs to another user, or this container or its security profile forbids it.\nRun as root (sudo), or with the capability CAP_SYS_PTRACE (docker run --cap-add SYS_PTRACE)".to_owned(),
    }
}

/// Returns the error for a sampler that left no file. Either sampling was not permitted, or the
/// sampler's output and outcome show the cause.
pub(super) fn nothing_written(
    sampler: Sampler,
    ended: &ProcessEnd,
    target: Target<'_>,
    timed: bool,
) -> SamplingError {
    // The location in the sampler's code does not help the user.
    let own = ended.said.split("Stack backtrace:").next().unwrap_or_default().trim();
    let said = match own {
        "" => String::new(),
        own => format!("\nThe end of its output:\n{own}"),
    };
    let lower = own.to_lowercase();
    let refused = [
        "permission denied",
        "not permitted",
        "no permission",
        "access to performance monitoring and observability operations is limited",
    ];
    if refused.iter().any(|words| lower.contains(words)) && sampler != Sampler::Stackprof {
        if let Target::Process(process) = target
            && let Some(owner) = processes::other_owner(process)
        {
            return SamplingError::Foreign { process, owner };
        }
        // perf explains all possible settings at length, so only the conclusion is given.
        let said = if sampler == Sampler::Perf { String::new() } else { said };
        let scope = machine_settings::ptrace_scope();
        return SamplingError::NotAllowed { sampler, scope, said };
    }
    let who = match (sampler, target) {
        (Sampler::Stackprof, _) => "the program".to_owned(),
        (_, Target::Process(_)) => "it".to_owned(),
        _ => format!("the program, or {} itself,", sampler.name()),
    };
    let ending = match ended.outcome {
        Outcome::Exited(0) if sampler == Sampler::Stackprof => {
            "the program ended without running Ruby's exit handlers (exit!, or exec of another program): sample it from outside, --sampler rbspy".to_owned()
        }
        Outcome::Exited(0) if lower.contains("no python processes found") => {
            "the program ended before py-spy found it, which takes some tenths of a second: give it more work".to_owned()
        }
        Outcome::Exited(0) => TOO_SHORT.to_owned(),
        Outcome::Signalled(_) if timed && !ended.interrupted => match target {
            Target::Process(process) if processes::started(process).is_none() => {
                format!("process {process} ended before the first sample was due")
            }
            Target::Process(process) if ended.wall_seconds > LONG_ENOUGH => format!(
                "process {process} only waited: give it work while it is sampled, or include waiting (--clock wall, if the sampler supports it)"
            ),
            Target::Process(_) => {
                "its time was over before it had started: use a longer --duration".to_owned()
            }
            Target::Command(_) => "no sample was due before the program or its --duration ended: give it more to do, sample more often (--rate 5000), or give a longer --duration".to_owned(),
        },
        outcome => format!("{who} {outcome}"),
    };
    SamplingError::Nothing { sampler: sampler.name(), ending, said }
}

/// Replaces the error that a sampler left no file with the failure of the sampled program, if that
/// is known.
pub(super) fn or_failed(
    error: SamplingError,
    target: Target<'_>,
    known: Option<Outcome>,
) -> SamplingError {
    match (error, target, known) {
        (
            SamplingError::Nothing { said, .. },
            Target::Command(command),
            Some(outcome @ Outcome::Exited(1..)),
        ) => SamplingError::Failed { program: list::line(&command.argv), outcome, said },
        (error, ..) => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::Command;

    fn ended(said: &str) -> ProcessEnd {
        ProcessEnd {
            outcome: Outcome::Exited(1),
            leader_cpu_seconds: 0.0,
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
        for (scope, advice) in [
            (Some(1), "sysctl kernel.yama.ptrace_scope=0"),
            (Some(2), "sysctl kernel.yama.ptrace_scope=1"),
            (Some(3), "rebooted"),
            (None, "--cap-add SYS_PTRACE"),
        ] {
            let told = forbidden_by(Sampler::PySpy, scope);
            assert!(told.contains(advice), "{told}");
        }
        assert!(forbidden_by(Sampler::Perf, Some(1)).contains("--cap-add PERFMON"));
    }

    #[test]
    fn a_missing_sampler_comes_with_the_line_that_installs_it() {
        let told = SamplingError::Missing {
            subject: "a Ruby program",
            samplers: vec![Sampler::Stackprof, Sampler::Rbspy],
        };
        assert_eq!(
            told.to_string(),
            "a Ruby program needs stackprof or rbspy, which is not installed. Install it:\n  gem install stackprof   (Debian, Ubuntu: apt install ruby-stackprof)\n  cargo install rbspy"
        );
    }

    #[test]
    fn a_process_that_ended_or_only_waited_needs_no_longer_duration() {
        let told = |process: u32, wall_seconds: f64| {
            let ended = ProcessEnd { outcome: Outcome::Signalled(2), wall_seconds, ..ended("") };
            nothing_written(Sampler::Perf, &ended, Target::Process(process), true).to_string()
        };
        let own = std::process::id();
        assert!(told(own, 5.0).contains("only waited"), "{}", told(own, 5.0));
        assert!(told(own, 0.1).contains("--duration"), "{}", told(own, 0.1));
        let gone = told(u32::MAX / 2, 5.0);
        assert!(gone.contains("ended before the first sample"), "{gone}");
    }

    #[test]
    fn a_program_that_failed_is_told_as_such() {
        let command = Command::new(["false", "x"]).expect("a command");
        let target = Target::Command(&command);
        let told = |known| {
            let none = nothing_written(Sampler::Perf, &ended(""), target, false);
            or_failed(none, target, known).to_string()
        };
        assert!(told(Some(Outcome::Exited(1))).starts_with("`false x` exited with status 1"));
        assert!(told(None).starts_with("perf sampled nothing"));
    }

    #[test]
    fn what_a_sampler_said_is_handed_on() {
        let told =
            nothing_written(Sampler::Perf, &ended("no such event\n"), Target::Process(1), false)
                .to_string();
        assert!(
            told.ends_with("it exited with status 1\nThe end of its output:\nno such event"),
            "{told}"
        );
    }
}
