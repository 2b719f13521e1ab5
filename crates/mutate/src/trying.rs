//! Tries the mutants in parallel: first the extreme mutant of each function, then the finer ones. A
//! finer mutant is skipped only if it is the same program as an extreme one that survived, or if no
//! test reaches its function. Each result is written to the journal as soon as it is known.

use crate::arena::{Arena, Change, CompleteReport, TestSelection, TrialResult, untried};
use crate::built::SwitchedMutant;
use crate::forked::ForkServer;
use crate::guard::TimeIsUp;
use crate::journal::{Entry, Journal};
use crate::policy::{FIRST_IN_A_HURRY, MOST_IN_A_BUILD, MOST_IN_A_HURRY, SHARE_OF_A_BUILD};
use crate::proof::{self, ProcessOrigin};
use crate::rounds::{self, RoundBuild};
use crate::sources::Source;
use crate::switches::{Round, Switches, TableMutant};
use assay_data::mutation::{Fate, MutantResult, MutationTest};
use assay_data::threads;
use assay_measure::{AbortHandle, interrupt};
use assay_mutate::mutants::{Operator, is_same};
use assay_report::console::output::Passing;
use std::collections::{HashMap, HashSet, VecDeque};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Interval between checks for an interrupt.
const LOOK: Duration = Duration::from_millis(100);
/// Extra time for a change that is still being tried when the time limit is reached.
const GRACE: Duration = Duration::from_secs(2);

/// The state of the mutants while they are tried.
pub(crate) struct TrialState<'a> {
    pub sources: &'a [Source],
    /// The source of each mutant, and its index in that source.
    pub origins: &'a [(usize, usize)],
    pub mutants: &'a mut [MutantResult],
    pub tests: &'a [MutationTest],
    /// The selector of each test.
    pub selectors: &'a [String],
    pub by_name: &'a HashMap<String, usize>,
    /// Duration of a run apart from its tests, s.
    pub beside: f64,
    pub journal: Option<&'a mut Journal>,
    /// Deadline for all trials.
    pub deadline: Option<Instant>,
    /// Number of finer mutants that are drawn at random and tried; `None` means all.
    pub most: Option<usize>,
    /// Number of kills of each test.
    pub kills: Vec<usize>,
    /// For each mutant, true if it can be tried in a process that has already loaded the tests.
    pub later: &'a [bool],
    /// True if all tests run even after a failure and each mutant is tried even if another one
    /// implies its result.
    pub completes: bool,
    /// Functions whose mutants can be placed behind a switch; `None` if there are none or if
    /// switches cannot be used with this suite.
    pub switches: Option<Switches<'a>>,
    /// The mutants of the current build.
    pub behind: HashMap<usize, SwitchedMutant>,
    /// Names of flaky tests.
    pub flaky: &'a [String],
    /// The report of a whole run without a change.
    pub ends: CompleteReport,
    /// True if results obtained by changing files have been proven reliable.
    pub is_proven: bool,
    /// Deadline for proving that results are reliable.
    pub patience: Option<Instant>,
    /// Notes to report.
    pub notes: Vec<String>,
}

/// The reason why trying ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TrialEnd {
    /// All mutants were tried.
    Done,
    /// The time limit was reached, or the whole random sample was tried.
    OutOfTime,
    /// The user interrupted the run.
    Interrupted,
}

type TrialMessage = (usize, anyhow::Result<TrialResult>);

impl<'a> TrialState<'a> {
    fn operator(&self, mutant: usize) -> Option<Operator> {
        let (source, own) = *self.origins.get(mutant)?;
        Some(self.sources.get(source)?.found.all.get(own)?.operator)
    }

    /// Returns true if two mutants of one function compile to the same program.
    fn is_same(&self, harsher: usize, milder: usize) -> bool {
        let ((source, first), (other, second)) = (self.origins[harsher], self.origins[milder]);
        let own = &self.sources[source];
        let (first, second) = (&own.found.all[first], &own.found.all[second]);
        source == other && is_same(&own.text, &own.found.units[first.unit], first, second)
    }

    /// Tries all pending mutants.
    ///
    /// # Errors
    /// If a copy cannot be written, or tests cannot be started any more.
    pub fn all(
        &mut self,
        arenas: &mut Vec<Arena<'_>>,
        progress: &Passing,
    ) -> anyhow::Result<TrialEnd> {
        let is_extreme =
            |own: &Self, index: usize| own.operator(index).is_some_and(Operator::is_extreme);
        let pending: Vec<usize> = (0..self.mutants.len())
            .filter(|own| self.mutants[*own].fate == Fate::Pending)
            .collect();
        // With a time limit, the mutants tried are a sample of all: otherwise functions that no
        // test uses would take up the time.
        let is_quick = self.switches.as_ref().is_some_and(|own| own.is_driven);
        if self.deadline.is_some() || is_quick && self.most.is_none() {
            let tasks = self.arranged(pending);
            return self.in_builds(arenas, tasks, progress);
        }
        let extremes = pending.iter().copied().filter(|own| is_extreme(self, *own));
        let extremes: Vec<Vec<usize>> = extremes.map(|own| vec![own]).collect();
        let over = self.in_builds(arenas, extremes, progress)?;
        if over != TrialEnd::Done {
            return Ok(over);
        }
        let mut known: HashMap<usize, usize> = HashMap::new();
        for index in (0..self.mutants.len()).filter(|own| is_extreme(self, *own)) {
            known.insert(self.mutants[index].unit, index);
        }
        let mut finer = Vec::new();
        let others: Vec<usize> =
            pending.into_iter().filter(|own| !is_extreme(self, *own)).collect();
        for index in others {
            let extreme = known.get(&self.mutants[index].unit).copied();
            match extreme.map(|own| self.mutants[own].fate) {
                Some(Fate::Uncovered) => self.mutants[index].fate = Fate::Uncovered,
                Some(Fate::Survived) if extreme.is_some_and(|own| self.is_same(own, index)) => {
                    self.mutants[index].fate = Fate::Implied;
                }
                _ => finer.push(index),
            }
        }
        let drawn = self.drawn(&finer);
        let is_all = drawn.len() == finer.len();
        let tasks = self.arranged(drawn);
        let over = self.in_builds(arenas, tasks, progress)?;
        Ok(if over == TrialEnd::Done && !is_all { TrialEnd::OutOfTime } else { over })
    }

    /// Returns the finer mutants that are drawn at random. The draw is deterministic, and the same
    /// even if some results are known from before.
    fn drawn(&self, finer: &[usize]) -> Vec<usize> {
        let Some(most) = self.most else { return finer.to_vec() };
        let without = [Fate::Implied, Fate::Uncovered, Fate::Kept, Fate::Absent];
        let mut ids: Vec<&str> = (0..self.mutants.len())
            .filter(|index| !self.operator(*index).is_some_and(Operator::is_extreme))
            .filter(|index| !without.contains(&self.mutants[*index].fate))
            .map(|index| self.mutants[index].id.as_str())
            .collect();
        ids.sort_unstable();
        let first_left = ids.get(most);
        let is_drawn =
            |index: &usize| first_left.is_none_or(|own| self.mutants[*index].id.as_str() < *own);
        finer.iter().copied().filter(is_drawn).collect()
    }

    /// Tries tasks: those with mutants behind a switch, in as many builds as necessary, and then
    /// the others.
    fn in_builds(
        &mut self,
        arenas: &mut Vec<Arena<'_>>,
        tasks: Vec<Vec<usize>>,
        progress: &Passing,
    ) -> anyhow::Result<TrialEnd> {
        let Some(mut switches) = self.switches.take() else {
            return self.plainly(arenas, tasks, progress);
        };
        let own = |index: &usize| {
            let (source, mutant) = self.origins[*index];
            TableMutant { index: *index, source, mutant }
        };
        let mut waiting: VecDeque<Vec<TableMutant>> =
            tasks.iter().map(|task| task.iter().map(own).collect()).collect();
        let mut plain = Vec::new();
        let mut most = if self.deadline.is_some() { FIRST_IN_A_HURRY } else { MOST_IN_A_BUILD };
        loop {
            let (mut round, tasks) = switches.next(&mut waiting, &mut plain, most);
            if tasks.is_empty() {
                self.switches = Some(switches);
                break;
            }
            if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Ok(TrialEnd::OutOfTime);
            }
            progress.show(&format!("building {} changes together", round.mutants.len()));
            let (with, began) = (self.with(), Instant::now());
            let (sources, until) = (self.sources, self.deadline);
            match rounds::ready(&mut switches, &mut round, arenas, sources, with, until) {
                Err(_) if interrupt::count() > 0 => return Ok(TrialEnd::Interrupted),
                Err(error) if error.is::<TimeIsUp>() => return Ok(TrialEnd::OutOfTime),
                Err(error) => return Err(error),
                Ok(RoundBuild::Unusable(why)) => {
                    let what = if switches.is_driven {
                        "each change was tried in its own processes"
                    } else {
                        "each change was built by itself"
                    };
                    self.notes.push(format!("{what}: {why}"));
                    plain.extend(tasks);
                    let indices =
                        |task: Vec<TableMutant>| task.iter().map(|own| own.index).collect();
                    plain.extend(waiting.into_iter().map(indices));
                    break;
                }
                Ok(RoundBuild::Built { unviable, reached, tests }) => {
                    let took = began.elapsed();
                    let tasks =
                        self.sorted((&switches, &round), tasks, (&unviable, &reached), &mut plain)?;
                    for (index, own) in &self.behind {
                        self.mutants[*index].covered_by = tests.get(&own.unit).cloned();
                    }
                    let over = self.phase(arenas, tasks, progress)?;
                    self.behind.clear();
                    if over != TrialEnd::Done {
                        return Ok(over);
                    }
                    if let Some(deadline) = self.deadline {
                        let left = deadline.saturating_duration_since(Instant::now());
                        most = next_build(round.mutants.len(), took, left);
                    }
                }
            }
        }
        self.plainly(arenas, plain, progress)
    }

    /// Returns the tasks that are to be tried in a build. Results that are already known are
    /// recorded; tasks that must be tried without a switch are added to `plain`.
    fn sorted(
        &mut self,
        (switches, round): (&Switches<'_>, &Round),
        tasks: Vec<Vec<usize>>,
        (unviable, reached): (&HashMap<usize, String>, &HashSet<usize>),
        plain: &mut Vec<Vec<usize>>,
    ) -> anyhow::Result<Vec<Vec<usize>>> {
        let numbers: HashMap<usize, (usize, TableMutant)> =
            round.mutants.iter().enumerate().map(|(at, own)| (own.index, (at + 1, *own))).collect();
        let mut left = Vec::new();
        for task in tasks {
            let (mut own, mut is_plain) = (Vec::new(), false);
            for index in task {
                let Some((number, mutant)) = numbers.get(&index) else { continue };
                if let Some(said) = unviable.get(&index) {
                    let reason = Some(format!("it can't be built: {said}"));
                    self.take(index, TrialResult { reason, ..untried(Fate::Unviable) })?;
                } else if !switches.takes(mutant.source, mutant.mutant) {
                    is_plain = true;
                    own.push(index);
                } else {
                    let unit = switches.unit(*mutant);
                    if reached.contains(&unit) {
                        self.behind.insert(index, SwitchedMutant { number: *number, unit });
                        own.push(index);
                    } else {
                        self.take(index, untried(Fate::Uncovered))?;
                    }
                }
            }
            match (is_plain, own.is_empty()) {
                (_, true) => {}
                (true, _) => {
                    self.behind.retain(|index, _| !own.contains(index));
                    plain.push(own);
                }
                (false, _) => left.push(own),
            }
        }
        Ok(left)
    }

    /// Tries tasks without a switch, by changing a file for each.
    fn plainly(
        &mut self,
        arenas: &mut [Arena<'_>],
        tasks: Vec<Vec<usize>>,
        progress: &Passing,
    ) -> anyhow::Result<TrialEnd> {
        if tasks.is_empty() {
            return Ok(TrialEnd::Done);
        }
        self.restore(arenas)?;
        if !self.is_proven {
            progress.show("proving that a change can be noticed");
            let (sources, origins, with) = (self.sources, self.origins, self.with());
            let way = (ProcessOrigin::Plain, self.patience);
            match proof::of(&mut arenas[0], sources, origins, self.mutants, with, way) {
                Err(error) if error.is::<TimeIsUp>() && interrupt::count() == 0 => {
                    return Ok(TrialEnd::OutOfTime);
                }
                proven => proven?,
            }
            self.is_proven = true;
        }
        self.phase(arenas, tasks, progress)
    }

    /// Restores the user's sources in the copies.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn restore(&self, arenas: &mut [Arena<'_>]) -> anyhow::Result<()> {
        let others = arenas.iter_mut().filter(|arena| !arena.standing.is_empty());
        for arena in others {
            arena.stand(&[], self.sources)?;
        }
        Ok(())
    }

    fn with(&self) -> TestSelection<'a> {
        let (all, selectors, by_name) = (self.tests, self.selectors, self.by_name);
        let (beside, flaky, ends, stops) = (self.beside, self.flaky, self.ends, !self.completes);
        TestSelection { all, selectors, by_name, only: None, beside, stops, flaky, ends }
    }

    /// Tries these mutants, each as a separate task.
    ///
    /// # Errors
    /// If a copy cannot be written, or tests cannot be started any more.
    pub fn each(
        &mut self,
        arenas: &mut Vec<Arena<'_>>,
        mutants: Vec<usize>,
        progress: &Passing,
    ) -> anyhow::Result<TrialEnd> {
        let tasks = mutants.into_iter().map(|own| vec![own]).collect();
        self.plainly(arenas, tasks, progress)
    }

    /// Returns true if only a sample is tried, so that each mutant is tried regardless of the
    /// others.
    fn is_sample(&self) -> bool {
        self.deadline.is_some() || self.most.is_some()
    }

    /// Arranges finer mutants in the order in which they are tried: by position in the source, the
    /// harshest of a line first. A sample is in a random order, which is deterministic.
    fn arranged(&self, mut finer: Vec<usize>) -> Vec<Vec<usize>> {
        if self.is_sample() {
            finer.sort_by(|a, b| self.mutants[*a].id.cmp(&self.mutants[*b].id));
        } else {
            let key = |own: &usize| (self.mutants[*own].unit, self.mutants[*own].begin.line);
            finer.sort_by_key(|own| (key(own), self.operator(*own)));
        }
        finer.into_iter().map(|own| vec![own]).collect()
    }

    fn phase(
        &mut self,
        arenas: &mut [Arena<'_>],
        tasks: Vec<Vec<usize>>,
        progress: &Passing,
    ) -> anyhow::Result<TrialEnd> {
        let stop = AtomicBool::new(false);
        let next = AtomicUsize::new(0);
        let handles: Vec<AbortHandle> =
            arenas.iter().filter_map(|arena| arena.runs.runner.abort_handle()).collect();
        let lines: Vec<UnixStream> = arenas
            .iter()
            .flat_map(|arena| arena.forked.as_ref().map_or_else(Vec::new, ForkServer::lines))
            .collect();
        let (sender, news) = channel::<TrialMessage>();
        // The tests with the most kills come first, as of the beginning of the phase.
        let covered: HashMap<usize, Option<Vec<usize>>> =
            tasks.iter().flatten().map(|own| (*own, self.in_order(*own))).collect();
        let total: usize = tasks.iter().map(Vec::len).sum();
        let (sources, origins, with) = (self.sources, self.origins, self.with());
        let (deadline, later) = (self.deadline, self.later);
        let behind = &self.behind.clone();
        let (tasks, covered, stop, next) = (&tasks, &covered, &stop, &next);
        let mut refused = None;
        thread::scope(|scope| {
            for arena in arenas.iter_mut() {
                let sender: Sender<TrialMessage> = sender.clone();
                let started = threads::start_in(scope, move || {
                    while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
                        for index in task {
                            let late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
                            if stop.load(Ordering::Relaxed) || late {
                                return;
                            }
                            let (source, own) = origins[*index];
                            let source: &Source = &sources[source];
                            let mutant = &source.found.all[own];
                            let changed = mutant.applied(&source.text);
                            let change = Change {
                                path: &source.path,
                                language: source.language,
                                original: &source.text,
                                changed: &changed,
                                function: source.function(mutant.unit).filter(|_| later[*index]),
                                behind: behind.get(index).copied(),
                            };
                            let only = covered.get(index).and_then(|only| only.as_deref());
                            let with = TestSelection { only, ..with };
                            let came = arena.attempt(change, with);
                            let is_ended = |error: &anyhow::Error| error.is::<TimeIsUp>();
                            if came.as_ref().err().is_some_and(is_ended) {
                                return;
                            }
                            if stop.load(Ordering::Relaxed) {
                                return;
                            }
                            let is_over = came.is_err();
                            if sender.send((*index, came)).is_err() || is_over {
                                return;
                            }
                        }
                    }
                });
                if let Err(error) = started {
                    stop.store(true, Ordering::Relaxed);
                    refused = Some(error);
                    break;
                }
            }
            drop(sender);
            let heard = self.hear(&news, (stop, &handles, &lines), (total, progress));
            refused.map_or(heard, |error| Err(error.into()))
        })
    }

    /// Receives the workers' results until all workers have finished.
    fn hear(
        &mut self,
        news: &Receiver<TrialMessage>,
        (stop, handles, lines): (&AtomicBool, &[AbortHandle], &[UnixStream]),
        (total, progress): (usize, &Passing),
    ) -> anyhow::Result<TrialEnd> {
        let end = || {
            stop.store(true, Ordering::Relaxed);
            for own in handles {
                let _nothing_in_flight = own.abort_in_flight();
            }
            for own in lines {
                let _gone = own.shutdown(Shutdown::Both);
            }
        };
        let began = Instant::now();
        let (mut heard, mut missed, mut failure) = (0, 0, None);
        let mut interrupted = false;
        loop {
            match news.recv_timeout(LOOK) {
                Ok((index, Ok(came))) => {
                    heard += 1;
                    missed += usize::from(came.fate.is_missed());
                    if let Err(error) = self.take(index, came) {
                        failure.get_or_insert(error);
                        end();
                    }
                }
                Ok((_, Err(error))) => {
                    failure.get_or_insert(error);
                    end();
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if interrupt::count() > 0 && !interrupted {
                interrupted = true;
                end();
            }
            // A run in progress may take much longer than the remaining time, so the workers stop
            // here.
            if self.deadline.is_some_and(|deadline| Instant::now() >= deadline + GRACE) {
                end();
            }
            let left = match heard {
                0 => String::new(),
                _ => {
                    let each = began.elapsed().as_secs_f64() / heard as f64;
                    let left = self.left((total - heard) as f64 * each);
                    format!(", {left:.0} s left")
                }
            };
            progress.show(&format!("{heard} of {total} changes tried, {missed} missed{left}"));
        }
        match failure {
            _ if interrupted => Ok(TrialEnd::Interrupted),
            Some(error) => Err(error),
            None if heard < total => Ok(TrialEnd::OutOfTime),
            None => Ok(TrialEnd::Done),
        }
    }

    fn left(&self, needed: f64) -> f64 {
        let most =
            self.deadline.map(|own| own.saturating_duration_since(Instant::now()).as_secs_f64());
        most.map_or(needed, |most| most.min(needed))
    }

    fn take(&mut self, index: usize, came: TrialResult) -> anyhow::Result<()> {
        let own = &mut self.mutants[index];
        // The result with all tests must be the same, otherwise it proves nothing: a side effect of
        // one test may prevent another from failing or ending.
        let is_known = own.fate != Fate::Pending;
        if is_known && (came.fate != own.fate || came.killed_by.is_empty()) {
            return Ok(());
        }
        for test in &came.killed_by {
            self.kills[*test] += 1;
        }
        if let Some(journal) = self.journal.as_mut() {
            journal.add(&Entry {
                id: own.id.clone(),
                fate: came.fate.name().to_owned(),
                killed_by: came
                    .killed_by
                    .iter()
                    .filter_map(|test| Some(self.tests.get(*test)?.name.clone()))
                    .collect(),
                is_complete: self.completes,
                tests_run: came.tests_run,
                seconds: came.seconds,
                reason: came.reason.clone(),
            })?;
        }
        own.fate = came.fate;
        own.killed_by = came.killed_by;
        own.killed_by.sort_unstable();
        own.killed_by.dedup();
        own.is_complete = self.completes && own.fate != Fate::TimedOut;
        own.tests_run = came.tests_run;
        own.seconds = Some(came.seconds).filter(|seconds| *seconds > 0.0);
        own.reason = came.reason;
        Ok(())
    }

    /// Returns the tests of a mutant: those with the most kills first, then the quickest.
    fn in_order(&self, mutant: usize) -> Option<Vec<usize>> {
        let mut tests = self.mutants[mutant].covered_by.clone()?;
        let seconds = |test: &usize| self.tests[*test].seconds.unwrap_or(f64::INFINITY);
        tests.sort_by(|a, b| {
            let kills = self.kills[*b].cmp(&self.kills[*a]);
            kills.then(seconds(a).total_cmp(&seconds(b))).then(a.cmp(b))
        });
        Some(tests)
    }
}

/// Returns the number of changes in the next build: as many as can be built in a fixed share of the
/// remaining time, assuming that compile time is proportional to their number.
fn next_build(built: usize, took: Duration, left: Duration) -> usize {
    let times = SHARE_OF_A_BUILD * left.as_secs_f64() / took.as_secs_f64().max(1e-3);
    let fits = built as f64 * times;
    let sizes = FIRST_IN_A_HURRY..=MOST_IN_A_HURRY;
    sizes.rev().find(|own| *own as f64 <= fits).unwrap_or(FIRST_IN_A_HURRY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_build_fits_into_the_time_left() {
        let next = |built, took, left| {
            next_build(built, Duration::from_secs_f64(took), Duration::from_secs_f64(left))
        };
        assert_eq!(next(50, 1.0, 60.0), MOST_IN_A_HURRY);
        assert_eq!(next(50, 20.0, 100.0), 100);
        assert_eq!(next(50, 60.0, 30.0), FIRST_IN_A_HURRY);
        assert_eq!(next(3, 0.0, 0.0), FIRST_IN_A_HURRY);
    }
}
