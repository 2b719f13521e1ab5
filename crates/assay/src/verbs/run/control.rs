//! Settings of the commands' processes and of the machine during a measurement, as given by the
//! arguments.
//!
//! Settings of a command (`--pin`, `--fifo`, `--nice`, `--no-aslr`) may apply to one command only,
//! so that two settings can be compared. Machine settings are in effect for the whole run;
//! `crate::knobs` applies and restores them.

use crate::commands::Prepared;
use crate::cpus::are_there;
use anyhow::Context;
use assay_data::finding::shared::not_controlled;
use assay_data::system_error::reason;
use assay_data::{Action, Finding};
use assay_measure::Command;
use assay_measure::fingerprint::Fingerprints;
use assay_measure::machine::{self, Knob, KnobError, Machine};
use clap::ValueEnum;
use std::path::PathBuf;

/// CPU numbers must be below this.
const MOST_CPUS: u32 = 1024;

/// Options that reduce the machine's noise.
#[derive(clap::Args, Debug, Default)]
#[command(next_help_heading = "Controlling the machine")]
pub(super) struct ControlArgs {
    /// Run on these CPUs, as in 1 or 0,2-3
    ///
    /// With N:, it applies only to the N-th command.
    #[arg(long, value_name = "[N:]LIST")]
    pub pin: Vec<String>,

    /// Use real-time scheduling (SCHED_FIFO) with this priority, from 1 to 99 [default: 10]
    #[arg(long, value_name = "[N:]PRIORITY", num_args = 0..=1, require_equals = true, default_missing_value = "10")]
    pub fifo: Vec<String>,

    /// Niceness, from -20 (most CPU time) to 19 (least)
    #[arg(long, value_name = "[N:]NICENESS", allow_hyphen_values = true)]
    pub nice: Vec<String>,

    /// Disable address space layout randomization for all commands, or for the N-th (=N)
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "all", value_parser = whom)]
    pub no_aslr: Vec<String>,

    /// Lock the program files into memory
    ///
    /// Memory that the programs allocate themselves cannot be locked from outside.
    #[arg(long)]
    pub mlock: bool,

    /// CPU frequency governor during the run, such as performance; the setting is restored
    /// afterwards
    #[arg(long, value_name = "NAME")]
    pub governor: Option<String>,

    /// Turn CPU turbo frequencies on or off during the run; the setting is restored afterwards
    #[arg(long, value_enum, value_name = "STATE")]
    pub turbo: Option<Switch>,

    /// Microseconds of every second that real-time programs may use
    ///
    /// With `unlimited`, programs under --fifo run without interruption.
    #[arg(long, value_name = "MICROSECONDS", allow_hyphen_values = true, value_parser = rt_runtime)]
    pub rt_runtime: Option<RtRuntime>,

    /// Let the scheduler divide CPU time among terminal sessions first, then among processes
    ///
    /// The setting is restored afterwards.
    #[arg(long, value_enum, value_name = "STATE")]
    pub autogroup: Option<Switch>,

    /// Drop the file system caches before every run, to measure cold starts
    #[arg(long)]
    pub drop_caches: bool,
}

/// State of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Switch {
    /// On
    On,
    /// Off
    Off,
}

/// Microseconds of every period available to real-time programs; `None` for no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RtRuntime(Option<u32>);

/// Parses the optional value of `--no-aslr`: `all`, or the number N of a command, which is returned
/// as `N:`.
fn whom(text: &str) -> Result<String, String> {
    match text.parse::<usize>() {
        Ok(n) => Ok(format!("{n}:")),
        Err(_) if text == "all" => Ok(text.to_owned()),
        Err(_) => Err("write the number of a command, or nothing for all".to_owned()),
    }
}

fn rt_runtime(text: &str) -> Result<RtRuntime, String> {
    match text {
        "unlimited" | "-1" => Ok(RtRuntime(None)),
        _ => text
            .parse()
            .map(|us| RtRuntime(Some(us)))
            .map_err(|_| "write a number of microseconds, or `unlimited`".to_owned()),
    }
}

impl ControlArgs {
    /// Returns the per-command settings: the option, its values, and the function that applies a
    /// value to a command.
    pub fn settings(&self) -> [(&'static str, &[String], Apply<'static>); 4] {
        [
            ("--pin", &self.pin, &|command, value| {
                let told = || format!("--pin {value}");
                let wanted = cpus(value).with_context(told)?;
                are_there(&wanted, machine::online_cpus().as_deref()).with_context(told)?;
                command.control.cpus = wanted;
                Ok(())
            }),
            ("--fifo", &self.fifo, &|command, value| {
                let priority = value.parse().ok().filter(|p| (1..=99).contains(p));
                command.control.fifo =
                    Some(priority.with_context(|| {
                        format!("--fifo {value}: give a priority from 1 to 99")
                    })?);
                Ok(())
            }),
            ("--nice", &self.nice, &|command, value| {
                let nice = value.parse().ok().filter(|n| (-20..=19).contains(n));
                command.control.nice = Some(nice.with_context(|| {
                    format!("--nice {value}: the niceness must be from -20 to 19")
                })?);
                Ok(())
            }),
            ("--no-aslr", &self.no_aslr, &|command, _all| {
                command.control.no_aslr = true;
                Ok(())
            }),
        ]
    }

    /// Returns these options, and whether each was given.
    pub fn given(&self) -> [(&'static str, bool); 10] {
        let [pin, fifo, nice, no_aslr] =
            self.settings().map(|(name, values, _)| (name, !values.is_empty()));
        [
            pin,
            fifo,
            nice,
            no_aslr,
            ("--mlock", self.mlock),
            ("--governor", self.governor.is_some()),
            ("--turbo", self.turbo.is_some()),
            ("--rt-runtime", self.rt_runtime.is_some()),
            ("--autogroup", self.autogroup.is_some()),
            ("--drop-caches", self.drop_caches),
        ]
    }

    /// Returns the requested machine settings.
    pub fn knobs(&self) -> Vec<Knob> {
        let is_on = |switch: Switch| switch == Switch::On;
        let mut knobs = Vec::new();
        knobs.extend(self.governor.clone().map(Knob::Governor));
        knobs.extend(self.turbo.map(|switch| Knob::Turbo(is_on(switch))));
        knobs.extend(self.rt_runtime.map(|RtRuntime(us)| Knob::RtRuntime(us)));
        knobs.extend(self.autogroup.map(|switch| Knob::Autogroup(is_on(switch))));
        knobs
    }
}

/// If requested, tries once whether the file system caches can be dropped. If not permitted,
/// returns a finding, and the caches stay warm.
pub(super) fn may_drop_caches(wanted: bool) -> anyhow::Result<(bool, Option<Finding>)> {
    if !wanted {
        return Ok((false, None));
    }
    match Machine::here().drop_caches() {
        Ok(()) => Ok((true, None)),
        Err(error @ (KnobError::NotPermitted { .. } | KnobError::NotOffered { .. })) => {
            Ok((false, Some(not_controlled(&format!("--drop-caches: {error}")))))
        }
        Err(error) => Err(error.into()),
    }
}

/// Locks the files of the programs into memory until the returned locks are dropped. Files that
/// cannot be locked are reported.
pub(super) fn lock_programs(commands: &[Prepared]) -> (Vec<machine::PinnedFile>, Vec<Finding>) {
    let mut paths: Vec<PathBuf> = Vec::new();
    let mut files = Fingerprints::default();
    for prepared in commands {
        for (path, _) in prepared.every().iter().flat_map(|own| files.files_of(own)) {
            let path = PathBuf::from(path);
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
    }
    let mut locked = Vec::new();
    let mut findings = Vec::new();
    for (path, result) in machine::lock_files(&paths) {
        match result {
            Ok(lock) => locked.push(lock),
            Err(error) => findings.push(
                not_controlled(&format!(
                    "--mlock: {} could not be locked in memory: {}",
                    path.display(),
                    reason(&error)
                ))
                .advise(Action::text("raise the limit (ulimit -l)"))
                .advise(Action::text("run as root")),
            ),
        }
    }
    (locked, findings)
}

/// Parses a comma-separated list of CPU numbers and ranges.
fn cpus(text: &str) -> anyhow::Result<Vec<u32>> {
    let number = |part: &str| {
        let cpu = part.trim().parse().ok().filter(|&cpu: &u32| cpu < MOST_CPUS);
        cpu.with_context(|| {
            format!("`{part}` is not the number of a CPU; write them as 1 or 0,2-3")
        })
    };
    let mut cpus = Vec::new();
    for part in text.split(',') {
        match part.split_once('-') {
            Some((first, last)) => {
                let (first, last) = (number(first)?, number(last)?);
                anyhow::ensure!(
                    first <= last,
                    "`{}` is reversed; write it as {last}-{first}",
                    part.trim()
                );
                cpus.extend(first..=last);
            }
            None => cpus.push(number(part)?),
        }
    }
    cpus.sort_unstable();
    cpus.dedup();
    Ok(cpus)
}

/// A function that applies one value of an option to a command.
pub(super) type Apply<'a> = &'a dyn Fn(&mut Command, &str) -> anyhow::Result<()>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_are_numbers_and_ranges() {
        assert_eq!(cpus("0,2-3,2").expect("a list"), [0, 2, 3]);
        assert!(cpus("").is_err() && cpus("1-x").is_err() && cpus("5000").is_err());
    }

    #[test]
    fn a_range_that_is_upside_down_is_an_error_also_among_others() {
        for text in ["3-1", "0,3-1", "3-1,0"] {
            let told = cpus(text).expect_err("upside down").to_string();
            assert!(told.contains("`3-1`") && told.contains("1-3"), "{told}");
        }
    }

    #[test]
    fn real_time_is_a_number_or_unlimited() {
        assert_eq!(rt_runtime("unlimited"), Ok(RtRuntime(None)));
        assert_eq!(rt_runtime("950000"), Ok(RtRuntime(Some(950_000))));
        assert!(rt_runtime("much").is_err());
    }
}
