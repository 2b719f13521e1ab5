//! Facts about the machine and its settings, recorded with every run.
//!
//! The list is explicit: nothing is recorded that is not named here, and no environment variable at
//! all. Facts that this machine does not offer are left out. The analysis decides what a fact means
//! for a measurement, from the facts alone.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::git;
use crate::sys::{clock, facts};

/// Duration for which the clock is read without pause: enough for a thousand readings. Time that
/// other processes take during it does not count.
const SPIN: Duration = Duration::from_micros(50);
/// Duration for which the clock is read if our share of a processor is requested as well. The
/// kernel assigns processors in slices of some milliseconds, so a shorter time would show a whole
/// slice or none.
const SPIN_AT_LENGTH: Duration = Duration::from_millis(800);
/// Maximum number of readings, in case a clock does not advance.
const MOST_READINGS: u32 = 1 << 20;
/// Maximum duration of `git status`; beyond it, whether files were changed is unknown.
const GIT_PATIENCE: Duration = Duration::from_millis(200);

/// Returns the facts in a fixed order. Sizes are in bytes, times in seconds, shares between 0 and
/// 1.
///
/// It takes a third of a millisecond; `git status` may add up to 200 ms. Must be called before
/// measuring, on the measuring thread.
pub fn capture() -> Vec<(String, Value)> {
    captured(&|_| true, GIT_PATIENCE, None)
}

/// Like [`capture`], with the share of a processor that one program gets, observed over most of a
/// second.
pub fn capture_with_share() -> Vec<(String, Value)> {
    captured(&|_| true, GIT_PATIENCE, Some(SPIN_AT_LENGTH))
}

/// Like [`capture`], without `git_dirty`, for which `git` would have to be started: for callers
/// that do not need that fact.
pub fn capture_without_git() -> Vec<(String, Value)> {
    captured(&|_| true, Duration::ZERO, None)
}

/// Like [`capture_without_git`], restricted to the facts with these names; the others are not
/// looked up.
pub fn capture_only(names: &[&str]) -> Vec<(String, Value)> {
    captured(&|name| names.contains(&name), Duration::ZERO, None)
}

fn captured(
    wants: &dyn Fn(&str) -> bool,
    git_patience: Duration,
    spin: Option<Duration>,
) -> Vec<(String, Value)> {
    let mut found = EnvironmentFields { wants, facts: Vec::with_capacity(40) };
    let any = |names: &[&str]| names.iter().any(|name| wants(name));
    found.add("os", || Some(std::env::consts::OS));
    found.add("distribution", facts::distribution);
    found.add("kernel", facts::kernel);
    found.add("arch", || Some(std::env::consts::ARCH));
    found.add("runner", facts::runner);
    found.add("hostname", facts::hostname);
    let first_cpu = any(&["cpu_model", "virtualisation"]).then(facts::first_cpu).flatten();
    found.add("cpu_model", || first_cpu.as_ref().and_then(|cpu| cpu.model.clone()));
    found.add("cpus_online", facts::cpus_online);
    found.add("cpus_allowed", facts::cpus_allowed);
    found.add("smt_active", facts::smt_active);
    found.add("governor", facts::governors);
    found.add("turbo", || facts::turbo().map(|on| if on { "on" } else { "off" }));
    found.add("aslr", facts::aslr);
    let load = any(&["load_1m", "processes_running"]).then(facts::load).flatten();
    found.add("load_1m", || load.map(|(load, _)| load));
    // The number excludes this process.
    found.add("processes_running", || load.map(|(_, running)| running.saturating_sub(1)));
    let sizes = any(&["memory_total", "swap_total"]).then(facts::memory_and_swap_bytes);
    let (memory, swap) = sizes.unwrap_or_default();
    found.add("memory_total", || memory);
    found.add("swap_total", || swap);
    found.add("thp", facts::transparent_huge_pages);
    let groups = any(&["cgroup_cpu_quota", "cgroup_memory_max"]).then(facts::own_groups);
    let groups = groups.unwrap_or_default();
    found.add("cgroup_cpu_quota", || facts::cgroup_cpu_quota(&groups));
    found.add("cgroup_memory_max", || facts::cgroup_memory_max(&groups));
    found.add("virtualisation", || facts::virtualisation(first_cpu.as_ref()));
    found.add("container", facts::container);
    found.add("steal_share", facts::steal_share);
    found.add("clock_source", facts::clock_source);
    if any(&["clock_cost_seconds", "clock_resolution_seconds", "cpu_share"]) {
        let (timer, cpu_share) = spin_on_clock(spin.unwrap_or(SPIN));
        found.add("clock_cost_seconds", || Some(timer.cost_seconds(cpu_share)));
        found.add("clock_resolution_seconds", || timer.resolution_seconds);
        found.add("cpu_share", || spin.map(|_| cpu_share));
    }
    found.add("sched_autogroup", facts::sched_autogroup);
    found.add("sched_rt_runtime_us", facts::sched_rt_runtime_us);
    found.add("perf_event_paranoid", facts::perf_event_paranoid);
    found.add("isolated_cpus", facts::isolated_cpus);
    found.add("nohz_full", facts::nohz_full);
    found.add("thermal_throttle_count", facts::thermal_throttle_count);
    found.add("on_battery", facts::on_battery);
    let state = any(&["git_commit", "git_dirty"]).then(|| git::state(Path::new("."), git_patience));
    if let Some(state) = state.flatten() {
        found.add("git_commit", || state.commit);
        found.add("git_dirty", || state.dirty);
    }
    found.facts
}

/// Returns the numbers of the processors that this process may use, in ascending order; empty if
/// the system does not report them. A cpuset or `taskset` may restrict them.
pub fn allowed_cpus() -> Vec<u32> {
    facts::allowed_cpus().unwrap_or_default()
}

/// Returns true if commands can be restricted to this processor. A sandbox may forbid it.
pub fn can_pin(cpu: u32) -> bool {
    facts::can_pin(cpu)
}

/// The processor time that a hypervisor gives to others after a certain moment.
#[derive(Clone, Copy, Debug)]
pub struct StolenTime {
    before: f64,
}

impl StolenTime {
    /// Begins to count the time; `None` if the system does not report it.
    pub fn start() -> Option<Self> {
        Some(Self { before: facts::steal_seconds()? })
    }

    /// Returns the time since the start, summed over all processors, in seconds.
    pub fn seconds(self) -> Option<f64> {
        Some((facts::steal_seconds()? - self.before).max(0.0))
    }
}

/// The facts of an environment, as pairs of name and value.
struct EnvironmentFields<'a> {
    wants: &'a dyn Fn(&str) -> bool,
    facts: Vec<(String, Value)>,
}

impl EnvironmentFields<'_> {
    /// Adds a fact if it is wanted and its value is known.
    fn add<V: Into<Value>>(&mut self, name: &str, look_up: impl FnOnce() -> Option<V>) {
        if (self.wants)(name)
            && let Some(value) = look_up()
        {
            self.facts.push((name.to_owned(), value.into()));
        }
    }
}

/// Observations of a clock that is read without pause.
struct Timer {
    seconds: f64,
    readings: u32,
    /// `None` if it never advanced.
    resolution_seconds: Option<f64>,
}

impl Timer {
    /// Returns the mean cost of a reading, given the share of a processor that the thread had.
    fn cost_seconds(&self, cpu_share: f64) -> f64 {
        self.seconds * cpu_share / f64::from(self.readings)
    }
}

/// Returns the properties of the clock, and the share of a processor that a fully busy thread gets,
/// between 0 and 1.
fn spin_on_clock(span: Duration) -> (Timer, f64) {
    let before = clock::thread_cpu_ns();
    let timer = measure_clock(span, clock::monotonic_ns);
    let had = clock::thread_cpu_ns().saturating_sub(before) as f64 / 1e9;
    let share = (had / timer.seconds).min(1.0);
    (timer, share)
}

/// Reads a clock as fast as possible for `span`. `read` returns nanoseconds and is monotonic.
fn measure_clock(span: Duration, mut read: impl FnMut() -> u64) -> Timer {
    let first = read();
    let end = first.saturating_add(span.as_nanos() as u64);
    let (mut now, mut smallest, mut readings) = (first, u64::MAX, 0);
    while now < end && readings < MOST_READINGS {
        let before = std::mem::replace(&mut now, read());
        readings += 1;
        let step = now.saturating_sub(before);
        if step > 0 {
            smallest = smallest.min(step);
        }
    }
    Timer {
        seconds: now.saturating_sub(first) as f64 / 1e9,
        readings,
        resolution_seconds: (smallest < u64::MAX).then(|| smallest as f64 / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_ticks_coarsely_shows_its_step_and_its_cost() {
        let mut t = 0;
        let timer = measure_clock(Duration::from_micros(100), || {
            t += 25;
            t / 100 * 100
        });
        assert_eq!(timer.resolution_seconds, Some(1e-7));
        assert!((timer.seconds - 100e-6).abs() < 1e-12);
        assert!((timer.cost_seconds(1.0) - 25e-9).abs() < 1e-10);
        // Time during which other processes had the CPU is not a cost of reading the clock.
        assert!((timer.cost_seconds(0.5) - 12.5e-9).abs() < 1e-10);
        assert_eq!(measure_clock(Duration::from_micros(100), || 7).resolution_seconds, None);
    }

    #[test]
    fn a_busy_thread_gets_a_share_between_nothing_and_all() {
        let (_, share) = spin_on_clock(SPIN);
        assert!(share > 0.0 && share <= 1.0, "{share}");
    }
}
