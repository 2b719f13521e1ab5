//! The runners: one per concurrent run, each with all commands and with counters.
//!
//! Each of several concurrent runs is started from its own thread, and a turn ends with the last of
//! them. A setting that the system refuses is dropped for all commands, unless something was
//! already measured with it.

use super::Prepared;
use assay_data::threads;
use assay_measure::counters::{Count, Counters, Event, Refusal};
use assay_measure::{
    AbortHandle, MeasureError, RunOptions, RunResult, Runner, RunnerKind, Setting, SubjectId,
    interrupt,
};
use std::time::Duration;

/// Interval between checks for a second interruption while waiting for the other runs.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// All runners, with the counters on them.
pub(crate) struct Runners {
    runners: Vec<Runner>,
    /// For each runner, the ids of all builds of each command.
    ids: Vec<Vec<Vec<SubjectId>>>,
    events: Vec<Event>,
    /// For each runner, the process id of its launcher and the counters on it.
    counters: Vec<(Option<u32>, Counters)>,
}

impl Runners {
    /// Starts as many runners, including `first`, as the command with the most concurrent runs
    /// needs, and counts these events in them. Events that cannot be counted are left out and
    /// returned.
    pub fn start(
        first: Runner,
        commands: &[Prepared],
        events: &[Event],
    ) -> Result<(Self, Vec<Refusal>), MeasureError> {
        let jobs = commands.iter().map(|c| c.jobs).max().unwrap_or(1);
        let mut runners = vec![first];
        for _ in 1..jobs {
            runners.push(Runner::start()?);
        }
        let ids = runners.iter_mut().map(|r| taught(r, commands)).collect::<Result<_, _>>()?;
        let mut runners = Self { runners, ids, events: events.to_vec(), counters: Vec::new() };
        let mut refusals = Vec::new();
        if !events.is_empty() {
            refusals = runners.open_counters();
            let refused = |event: &Event| refusals.iter().any(|r| r.event == event.name);
            if events.iter().any(refused) {
                runners.events.retain(|event| !refused(event));
                runners.open_counters();
            }
        }
        Ok((runners, refusals))
    }

    /// Returns the events that are counted.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// Returns true if events can only be counted in user mode here, not in the kernel.
    pub fn counts_user_only(&self) -> bool {
        self.counters.iter().any(|(_, counters)| counters.user_only())
    }

    /// Returns the first runner, which also runs the hooks.
    pub fn first(&mut self) -> &mut Runner {
        &mut self.runners[0]
    }

    /// Lets all runners exit. Nothing can be run afterwards.
    pub fn dismiss(&mut self) {
        self.runners.iter_mut().for_each(Runner::dismiss);
    }

    fn open_counters(&mut self) -> Vec<Refusal> {
        let mut refusals = Vec::new();
        self.counters.clear();
        for runner in &self.runners {
            let process = runner.launcher_process_id();
            let (counters, refused) =
                assay_measure::counters::open(process.unwrap_or(0), &self.events);
            refusals = refused;
            self.counters.push((process, counters));
        }
        refusals
    }

    /// Registers all commands again after their settings changed.
    pub fn teach(&mut self, commands: &[Prepared]) -> Result<(), MeasureError> {
        self.ids =
            self.runners.iter_mut().map(|r| taught(r, commands)).collect::<Result<_, _>>()?;
        Ok(())
    }

    /// Runs a build of a command, `jobs` times concurrently, and waits for the last run to end.
    pub fn run(
        &mut self,
        (subject, build): (usize, u32),
        jobs: u32,
        options: RunOptions,
    ) -> Result<Vec<RunResult>, MeasureError> {
        let Some((first, others)) = self.runners.split_first_mut() else {
            return Err(MeasureError::LauncherGone);
        };
        let build = build as usize % self.ids[0][subject].len();
        let own = self.ids[0][subject][build];
        if jobs == 1 {
            return first.run(own, options).map(|result| vec![result]);
        }
        let others = &mut others[..jobs as usize - 1];
        let abort: Vec<AbortHandle> = others.iter().filter_map(|r| r.abort_handle()).collect();
        let main = std::thread::current();
        std::thread::scope(|scope| {
            let running: Vec<_> = others
                .iter_mut()
                .zip(&self.ids[1..])
                .map(|(runner, ids)| {
                    let (id, main) = (ids[subject][build], main.clone());
                    threads::start_in(scope, move || {
                        let result = runner.run(id, options);
                        main.unpark();
                        result
                    })
                })
                .collect();
            let running: Vec<_> = match running.into_iter().collect::<std::io::Result<_>>() {
                Ok(running) => running,
                Err(source) => {
                    // Do not wait for the runs that were started.
                    abort.iter().for_each(|handle| {
                        handle.abort_in_flight();
                    });
                    return Err(MeasureError::Thread { source });
                }
            };
            let signals_before = interrupt::count();
            let mut results = vec![first.run(own, options)];
            while running.iter().any(|job| !job.is_finished()) {
                // Signals wake only this thread, so it has to end the other runs.
                let signals = interrupt::count();
                if signals >= 2 && signals > signals_before {
                    results.push(Err(MeasureError::Interrupted));
                    abort.iter().for_each(|handle| {
                        handle.abort_in_flight();
                    });
                }
                std::thread::park_timeout(LOOK_EVERY);
            }
            let gone = |_| Err(MeasureError::LauncherGone);
            results.extend(running.into_iter().map(|job| job.join().unwrap_or_else(gone)));
            // An interruption by the user takes precedence over how the runs ended.
            let interrupted = |r: &Result<_, _>| matches!(r, Err(MeasureError::Interrupted));
            if results.iter().any(interrupted) {
                return Err(MeasureError::Interrupted);
            }
            results.into_iter().collect()
        })
    }

    /// Discards the counts since the last call, which come from hooks that the same launchers ran.
    pub fn forget_counts(&mut self) {
        for (_, counters) in &mut self.counters {
            counters.take();
        }
    }

    /// Returns the counts since the last call, summed over the runners of `jobs` concurrent runs;
    /// `None` for an event whose count was lost.
    pub fn take_counts(&mut self, jobs: u32) -> Vec<Option<Count>> {
        if self.events.is_empty() {
            return Vec::new();
        }
        // When a launcher is replaced, its counters are lost. The current run is not counted, but
        // later ones are.
        let replaced = |(runner, (process, _)): (&Runner, &(Option<u32>, Counters))| {
            runner.launcher_process_id() != *process
        };
        if self.runners.iter().zip(&self.counters).any(replaced) {
            self.open_counters();
            return vec![None; self.events.len()];
        }
        let mut totals: Vec<Option<Count>> = Vec::new();
        for (_, counters) in self.counters.iter_mut().take(jobs as usize) {
            let counts = counters.take();
            if totals.is_empty() {
                totals = counts;
                continue;
            }
            for (total, count) in totals.iter_mut().zip(counts) {
                *total = match (total.take(), count) {
                    (Some(a), Some(b)) => {
                        Some(Count { value: a.value + b.value, share: a.share.min(b.share) })
                    }
                    _ => None,
                };
            }
        }
        totals
    }

    /// Returns the kind of the runners.
    pub fn kind(&self) -> RunnerKind {
        self.runners.first().map_or(RunnerKind::Launcher, Runner::kind)
    }

    /// Returns the smallest peak memory that can be measured, in bytes.
    pub fn memory_floor_bytes(&self) -> u64 {
        self.runners.iter().map(Runner::memory_floor_bytes).max().unwrap_or(0)
    }
}

fn taught(runner: &mut Runner, commands: &[Prepared]) -> Result<Vec<Vec<SubjectId>>, MeasureError> {
    let mut every =
        |prepared: &Prepared| prepared.every().iter().map(|own| runner.add(own)).collect();
    commands.iter().map(&mut every).collect()
}

/// Removes a setting from all commands.
pub(super) fn without(commands: &mut [Prepared], setting: Setting) {
    for command in commands.iter_mut().flat_map(Prepared::every_mut) {
        let control = &mut command.control;
        match setting {
            Setting::Pin => control.cpus.clear(),
            Setting::Fifo => control.fifo = None,
            Setting::Nice => control.nice = None,
            Setting::Aslr => control.no_aslr = false,
        }
    }
}

/// Returns the command-line option that requests a setting.
pub(super) fn option_of(setting: Setting) -> &'static str {
    match setting {
        Setting::Pin => "--pin",
        Setting::Fifo => "--fifo",
        Setting::Nice => "--nice",
        Setting::Aslr => "--no-aslr",
    }
}
