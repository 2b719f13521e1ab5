//! Facts about the machine and its settings, recorded with every run.
//!
//! By allow-list: nothing is recorded that is not named here, and no environment variable at all.
//! A fact that this machine does not offer is left out. What a fact means for a measurement is
//! decided in the analysis, from the facts alone.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::git;
use crate::sys::{clock, facts};

/// How often the clock is read to learn its cost and its step.
const CLOCK_READINGS: u32 = 4000;
/// How long the processor is kept busy to see how much of it we get, where others want one.
const SPIN: Duration = Duration::from_millis(2);
/// The same where nobody else does: what is left to see is what a hypervisor takes.
const SPIN_ALONE: Duration = Duration::from_micros(250);
/// How long `git status` may take; beyond that it is not known whether files were changed.
const GIT_PATIENCE: Duration = Duration::from_millis(200);

/// The facts, in a fixed order. Sizes are in B, times in s, shares between 0 and 1.
///
/// It takes 1 ms, or 3 while other processes run, and longer only where `git status` does: at
/// most 200 ms. Call it before measuring, on the thread that measures.
pub fn capture() -> Vec<(String, Value)> {
    let mut found = Found(Vec::with_capacity(40));
    found.add("os", Some(std::env::consts::OS));
    found.add("distribution", facts::distribution());
    found.add("kernel", facts::kernel());
    found.add("arch", Some(std::env::consts::ARCH));
    found.add("hostname", facts::hostname());
    found.add("cpu_model", facts::cpu_model());
    found.add("cpus_online", facts::cpus_online());
    found.add("cpus_allowed", facts::cpus_allowed());
    found.add("smt_active", facts::smt_active());
    found.add("governor", facts::governors());
    found.add("turbo", facts::turbo().map(|on| if on { "on" } else { "off" }));
    found.add("aslr", facts::aslr());
    let load = facts::load();
    found.add("load_1m", load.map(|(load, _)| load));
    // This one is running too, and is not meant.
    let others = load.map(|(_, running)| running.saturating_sub(1));
    found.add("processes_running", others);
    found.add("memory_total", facts::memory_total_bytes());
    found.add("swap_total", facts::swap_total_bytes());
    found.add("thp", facts::transparent_huge_pages());
    found.add("cgroup_cpu_quota", facts::cgroup_cpu_quota());
    found.add("cgroup_memory_max", facts::cgroup_memory_max());
    found.add("virtualisation", facts::virtualisation());
    found.add("container", facts::container());
    found.add("steal_share", facts::steal_share());
    found.add("clock_source", facts::clock_source());
    let timer = measure_clock(clock::monotonic_ns);
    found.add("clock_cost_seconds", Some(timer.cost_seconds));
    found.add("clock_resolution_seconds", timer.resolution_seconds);
    let spin = if others == Some(0) { SPIN_ALONE } else { SPIN };
    found.add("cpu_share", Some(cpu_share(spin)));
    found.add("sched_autogroup", facts::sched_autogroup());
    found.add("sched_rt_runtime_us", facts::sched_rt_runtime_us());
    found.add("perf_event_paranoid", facts::perf_event_paranoid());
    found.add("isolated_cpus", facts::isolated_cpus());
    found.add("nohz_full", facts::nohz_full());
    found.add("thermal_throttle_count", facts::thermal_throttle_count());
    found.add("on_battery", facts::on_battery());
    if let Some(state) = git::state(Path::new("."), GIT_PATIENCE) {
        found.add("git_commit", state.commit);
        found.add("git_dirty", state.dirty);
    }
    found.0
}

/// The numbers of the processors that this process may use, the smallest first; none where the
/// system does not tell. A cpuset or `taskset` leaves fewer than there are.
pub fn allowed_cpus() -> Vec<u32> {
    facts::allowed_cpus().unwrap_or_default()
}

/// Processor time that a hypervisor gave to others, over all processors since boot, s; `None`
/// where the system does not count it. Take it before and after a run of measurements.
pub fn steal_seconds() -> Option<f64> {
    facts::steal_seconds()
}

struct Found(Vec<(String, Value)>);

impl Found {
    fn add(&mut self, name: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.0.push((name.to_owned(), value.into()));
        }
    }
}

struct Timer {
    cost_seconds: f64,
    /// `None` if it never moved.
    resolution_seconds: Option<f64>,
}

/// What one reading of a clock costs in the mean, and its smallest step. `read` gives ns and never
/// goes back.
fn measure_clock(mut read: impl FnMut() -> u64) -> Timer {
    let first = read();
    let mut before = first;
    let mut smallest = u64::MAX;
    for _ in 0..CLOCK_READINGS {
        let now = read();
        let step = now.saturating_sub(before);
        if step > 0 {
            smallest = smallest.min(step);
        }
        before = now;
    }
    Timer {
        cost_seconds: before.saturating_sub(first) as f64 / 1e9 / f64::from(CLOCK_READINGS),
        resolution_seconds: (smallest < u64::MAX).then(|| smallest as f64 / 1e9),
    }
}

/// The share of a processor that a thread gets which wants all of one, between 0 and 1.
fn cpu_share(spin: Duration) -> f64 {
    let (wall, cpu) = (clock::monotonic_ns(), clock::thread_cpu_ns());
    let end = wall + spin.as_nanos() as u64;
    let mut now = wall;
    while now < end {
        now = clock::monotonic_ns();
    }
    let had = clock::thread_cpu_ns().saturating_sub(cpu);
    (had as f64 / now.saturating_sub(wall) as f64).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_ticks_coarsely_shows_its_step_and_its_cost() {
        let mut t = 0;
        let timer = measure_clock(|| {
            t += 25;
            t / 100 * 100
        });
        assert_eq!(timer.resolution_seconds, Some(1e-7));
        assert!((timer.cost_seconds - 25e-9).abs() < 1e-10);
        assert_eq!(measure_clock(|| 7).resolution_seconds, None);
    }

    #[test]
    fn a_busy_thread_gets_a_share_between_nothing_and_all() {
        let share = cpu_share(SPIN_ALONE);
        assert!(share > 0.0 && share <= 1.0, "{share}");
    }
}
