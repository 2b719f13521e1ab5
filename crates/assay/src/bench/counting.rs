//! Counting passes that follow the timing. They count the allocations of a benchmark, its
//! instructions on a simulated processor, and the events of the machine's own counters. Nothing is
//! timed in them, because counting slows a program down.
//!
//! If the harness accepts a number of iterations, one process is run with few iterations and one
//! with more. The difference is due to the additional iterations: startup, preparations and the
//! output of results cancel out. Otherwise one process that does the least work possible with its
//! harness is counted, including startup. Counters that a program reports only while it is counted
//! (it can query the counter itself, `c/assay_alloc.h`) are recorded as well.
//!
//! Exact values are counted twice: counts that repeat are known, not estimated. The machine's
//! counters are read more often and compared like times, often enough that each of them can have a
//! verdict at its share of the error.

use super::benchmarks::{Benchmarks, Runs};
use crate::counted::{Counted, Counter, allocations_hidden, children_missing, is_sum};
use crate::output;
use crate::run_error::RunError;
use anyhow::Context;
use assay_analysis::Adjust;
use assay_analysis::paired::fewest_blocks;
use assay_analysis::policy;
use assay_data::code;
use assay_data::finding::shared::not_counted;
use assay_data::samples::{NOT_COMPARED, PER_ITERATION};
use assay_data::source::{Measured, Turn};
use assay_data::system_error::reason;
use assay_data::{Action, Finding, Metric, Pass, Plan, Severity};
use assay_harness::Effort;
use assay_measure::Command;
use assay_measure::allocations::{notes, refusal};
use assay_measure::counters::Event;

/// Number of times that each exact count is taken.
pub(crate) const TIMES: u32 = 2;
/// Maximum difference in iterations between the two runs. It is large, so that the variation
/// between processes is small in comparison.
const BETWEEN: u64 = 1000;

/// The counts that were requested.
#[derive(Clone, Debug, Default)]
pub(crate) struct Passes {
    /// Exact counts.
    pub counted: Vec<Counted>,
    /// Events for the machine's own counters.
    pub events: Vec<Event>,
}

impl Passes {
    /// Returns true if nothing is counted.
    pub fn is_empty(&self) -> bool {
        self.counted.is_empty() && self.events.is_empty()
    }

    /// Checks that the exact counts are possible here.
    ///
    /// # Errors
    /// Returns an error if a tool is missing, or if there is no directory for the files that runs
    /// leave behind.
    pub fn check_tools(&self) -> anyhow::Result<()> {
        for counted in &self.counted {
            counted.start().with_context(|| counted.option())?;
        }
        Ok(())
    }
}

/// Returns how often to read the machine's counters if `comparisons` comparisons share the error.
/// With fewer readings, the rank test could not reach the level of the strictest comparison.
fn readings(plan: &Plan, adjust: Adjust, comparisons: usize) -> u32 {
    let share = if adjust == Adjust::None { 1 } else { comparisons.max(1) };
    // However the timing ended, the level of the comparisons of counters is at least this one.
    fewest_blocks(plan.level() / share as f64).max(policy::FEWEST_READINGS)
}

/// What counts in a run: an exact counter, or the machine's counters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Pass(Counted),
    Machine,
}

/// The state of counting.
#[derive(Debug, Default)]
pub(super) struct Counting {
    /// Exact counts.
    counted: Vec<Counted>,
    /// Events that the machine can count.
    events: Vec<Event>,
    /// For each side, whether allocations can be counted.
    countable: Vec<bool>,
    /// Findings about counting.
    pub findings: Vec<Finding>,
}

impl Counting {
    fn find(&mut self, finding: Finding) {
        if !self.findings.contains(&finding) {
            self.findings.push(finding);
        }
    }
}

/// One count of one run.
type Count = (Metric, f64);

impl Benchmarks<'_> {
    /// Returns the full name of a requested metric, which may lack its suffix, if the metric will
    /// be counted.
    ///
    /// # Errors
    /// Returns an error if only whole processes could be counted, because a verdict on their
    /// startup says nothing about a benchmark.
    pub fn counted_name(&self, passes: &Passes, asked: &str) -> anyhow::Result<Option<String>> {
        let plain = asked.strip_suffix(PER_ITERATION).unwrap_or(asked);
        if !passes.counted.iter().any(|counted| counted.names().contains(&plain)) {
            return Ok(None);
        }
        anyhow::ensure!(
            self.units.iter().all(|unit| unit.pinned.is_some()),
            "--primary {asked}: {} can't run a fixed number of iterations, so the count would be mostly startup and say nothing about a benchmark. Use a harness that can (Google Benchmark 1.8 or later), or decide by a time",
            self.catalogue.drivers[0].name()
        );
        Ok(Some(if is_sum(plain) { format!("{plain}{PER_ITERATION}") } else { plain.to_owned() }))
    }

    /// Determines which of the requested counts are possible, and returns the number of blocks of
    /// each pass. Counts that are impossible become findings.
    pub fn begin_counting(
        &mut self,
        passes: &Passes,
        plan: &Plan,
        adjust: Adjust,
    ) -> [(Pass, u32); 2] {
        if passes.counted.is_empty() && passes.events.is_empty() {
            return [(Pass::Exact, 0), (Pass::Counters, 0)];
        }
        if self.units.iter().any(|unit| unit.benchmarks.len() > 1) {
            self.counting.find(
                not_counted(
                    "a program that can't be limited to one benchmark",
                    "nothing would show which of them was counted",
                )
                .advise(Action::CountWhole),
            );
        }
        self.counting.counted.clone_from(&passes.counted);
        self.counting.countable = self.countable(passes);
        let events = self.countable_events(&passes.events);
        let times = if passes.counted.is_empty() { 0 } else { TIMES };
        let readings = match events.is_empty() {
            true => 0,
            false => readings(plan, adjust, self.compared_as_secondary(plan, &events)),
        };
        self.counting.events = events;
        [(Pass::Exact, times), (Pass::Counters, readings)]
    }

    /// Counts a benchmark once on one side; counts nothing if the program cannot run a single
    /// benchmark.
    pub(super) fn count(&mut self, turn: &Turn, pass: Pass) -> Result<Measured, RunError> {
        let Runs { benchmarks, on, pinned, .. } = &self.units[turn.unit];
        let &[benchmark] = benchmarks.as_slice() else { return Ok(Measured::default()) };
        let (side, pinned) = (on[turn.place].0, *pinned);
        let what: Vec<By> = match pass {
            Pass::Exact => self.counting.counted.iter().map(|&counted| By::Pass(counted)).collect(),
            _ => vec![By::Machine],
        };
        let mut counts: Vec<Count> = Vec::new();
        for by in what {
            if by == By::Pass(Counted::Allocations) && !self.counting.countable[side] {
                continue;
            }
            let (own, said) = self.differences(benchmark, (side, turn.build), pinned, by)?;
            if pinned.is_none() && !own.is_empty() && said.is_empty() {
                self.counting.find(counted_whole());
            }
            counts.extend(own.into_iter().chain(said));
        }
        Ok(Measured::values(self.row(counts)))
    }

    /// Returns the number of comparisons that share the error, including those of these events.
    /// They are all comparisons of secondary metrics, except those of exact counts, which are
    /// known.
    fn compared_as_secondary(&self, plan: &Plan, events: &[Event]) -> usize {
        let secondary = &plan.secondary;
        let is_named = |name: &str| {
            secondary.iter().any(|b| b == name || b.strip_suffix(PER_ITERATION) == Some(name))
        };
        let is_secondary = |name: &str| match secondary.is_empty() {
            true => name != plan.primary && !NOT_COMPARED.contains(&name),
            false => name != plan.primary && is_named(name),
        };
        let measured = self.metrics.iter().filter(|m| !m.exact).map(|m| m.name.as_str());
        let metrics =
            measured.chain(events.iter().map(|e| e.name)).filter(|name| is_secondary(name));
        let pairs: usize =
            self.units.iter().map(|unit| unit.benchmarks.len() * (unit.on.len() - 1)).sum();
        metrics.count() * pairs
    }

    /// Starts the machine's counters, and returns the events that they can count. The other events
    /// become findings.
    fn countable_events(&mut self, events: &[Event]) -> Vec<Event> {
        if events.is_empty() {
            return Vec::new();
        }
        let refusals = self.asker.watch(events);
        for refusal in &refusals {
            self.counting.find(
                not_counted(&refusal.event, &refusal.why)
                    .about(&refusal.event)
                    .advise(Action::CountInstructions),
            );
        }
        let refused = |event: &Event| refusals.iter().any(|r| r.event == event.name);
        let counted: Vec<Event> = events.iter().copied().filter(|event| !refused(event)).collect();
        if counted.len() < events.len() && !counted.is_empty() {
            self.asker.watch(&counted);
        }
        counted
    }

    /// Returns for each side whether allocations can be counted. Obstacles, and allocations that a
    /// runtime hides, become findings.
    fn countable(&mut self, passes: &Passes) -> Vec<bool> {
        let alloc = passes.counted.contains(&Counted::Allocations);
        let mut countable = Vec::new();
        let mut found: Vec<Finding> = Vec::new();
        for side in &self.catalogue.sides {
            let Some(program) = side.command.resolve().ok().filter(|_| alloc) else {
                countable.push(false);
                continue;
            };
            let refused = refusal(&program);
            countable.push(refused.is_none());
            if let Some(why) = refused {
                let found_here = Counted::Allocations.refused(&side.name, &why.to_string());
                found.push(found_here.about(&side.name));
            } else {
                let hidden = |note: assay_measure::allocations::Note| {
                    allocations_hidden(&side.name, &format!("{} {}", note.runtime, note.text))
                };
                found.extend(notes(&program).into_iter().map(hidden));
            }
        }
        found.into_iter().for_each(|finding| self.counting.find(finding));
        countable
    }

    /// Returns the counts of one benchmark on one side, per iteration if possible, and the counts
    /// that the program itself reported.
    fn differences(
        &mut self,
        benchmark: usize,
        side: (usize, u32),
        pinned: Option<u64>,
        by: By,
    ) -> Result<(Vec<Count>, Vec<Count>), RunError> {
        let Some(most) = pinned else {
            return self.counted(benchmark, side, Effort::Once, by);
        };
        let between = most.saturating_sub(1).clamp(1, BETWEEN);
        let (few, _) = self.counted(benchmark, side, Effort::Counted(1), by)?;
        let (many, said) = self.counted(benchmark, side, Effort::Counted(1 + between), by)?;
        let difference = |((metric, few), (_, many)): (Count, Count)| {
            if !is_sum(&metric.name) {
                return (metric, many);
            }
            let name = format!("{}{PER_ITERATION}", metric.name);
            (Metric { name, ..metric }, (many - few) / between as f64)
        };
        Ok((few.into_iter().zip(many).map(difference).collect(), said))
    }

    /// Returns the counts of one run of a side's build, and the exact counts that the program
    /// itself reported.
    fn counted(
        &mut self,
        benchmark: usize,
        (side, build): (usize, u32),
        effort: Effort,
        by: By,
    ) -> Result<(Vec<Count>, Vec<Count>), RunError> {
        let catalogue = self.catalogue;
        let scratch = self.asker.directory().map_err(in_words)?;
        let own = catalogue.benchmarks[benchmark].on[side].clone().unwrap_or_default();
        let request = catalogue.drivers[side].measure(&own, effort, &scratch);
        let command = catalogue.sides[side].of_build(build as usize).asking(&request);
        let counter = match by {
            By::Pass(counted) => Some(counted.start().map_err(in_words)?),
            By::Machine => None,
        };
        let wrapped = |counter: &Counter| counter.wrapped(&command);
        let command: Command =
            counter.as_ref().map_or(Ok(command.clone()), wrapped).map_err(in_words)?;
        let question = self.asker.prepare_command(&command, &request, &scratch)?;
        let ran = self.asker.put(&question, 0)?;
        if let Some(how) = ran.failure() {
            let side = &catalogue.sides[side].name;
            let text = format!("`{own}` on {side}, in its counting run: it {how}");
            return Err(RunError::Failed(text));
        }
        let found: Vec<Count> = match (by, &counter) {
            (By::Pass(counted), Some(counter)) => {
                let count = counter.take().map_err(|why| {
                    RunError::Reading(format!(
                        "`{own}` on {}: its {} were not counted: {why}",
                        catalogue.sides[side].name,
                        counted.what()
                    ))
                })?;
                let side = &catalogue.sides[side].name;
                let missing = children_missing(side, &count.executed);
                let missing = missing.map(|finding| finding.about(side));
                missing.into_iter().for_each(|finding| self.counting.find(finding));
                let all = counted.metrics().into_iter().zip(count.values);
                all.filter(|(_, value)| value.is_finite()).collect()
            }
            (By::Machine, _) => {
                let metrics = self.counting.events.iter().map(|e| Metric::lower(e.name, e.unit()));
                let value = |count: &Option<assay_measure::counters::Count>| {
                    count.as_ref().map_or(f64::NAN, |count| count.value)
                };
                metrics.zip(ran.counts.iter().map(value)).collect()
            }
            (By::Pass(_), None) => Vec::new(),
        };
        let mut reading = ran.reading(&*catalogue.drivers[side], &own);
        reading.iter_mut().for_each(|reading| reading.divide(&self.totals));
        let mut said = Vec::new();
        for (metric, value) in reading.into_iter().flat_map(|reading| reading.values) {
            let known = self.metrics.iter().find(|known| known.name == metric.name);
            if counter.is_some() && known.is_none_or(|known| known.exact) {
                said.push((Metric::exact(&metric.name, metric.unit), value));
            }
        }
        // The directory may contain thousands of files.
        std::fs::remove_dir_all(&scratch).map_err(|error| {
            RunError::Reading(format!("{}: {}", scratch.display(), reason(&error)))
        })?;
        Ok((found, said))
    }
}

/// Returns the finding that counts cover whole processes, since the harness accepts no number of
/// iterations and the program reported no counts.
fn counted_whole() -> Finding {
    Finding::new(code::COUNTED_WHOLE, "the harness does not accept a number of iterations: counts cover whole processes that do as little as possible, mostly start-up").at(Severity::Warning)
    .advise(Action::text("use a harness that does (Google Benchmark 1.8 or later)"))
    .advise(Action::text("count around the loop itself (c/assay_alloc.h)"))
}

fn in_words(error: anyhow::Error) -> RunError {
    error.downcast().unwrap_or_else(|error| RunError::Reading(output::told(&error)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_data::Threshold;

    #[test]
    fn counters_are_read_so_often_that_all_of_a_suite_can_have_a_verdict() {
        let plan = Plan::sequential(0.95, Threshold::default(), 1);
        for comparisons in [1, 4, 5, 12, 36, 1000] {
            let n = readings(&plan, Adjust::Holm, comparisons);
            // The strongest result of n blocks is that all are on one side, which happens by chance
            // with probability 2^-(n-1).
            let reachable = 0.5_f64.powi(n as i32 - 1);
            assert!(reachable <= plan.level() / comparisons as f64, "{n} for {comparisons}");
            assert!(
                n == policy::FEWEST_READINGS || 2.0 * reachable > plan.level() / comparisons as f64
            );
            assert_eq!(readings(&plan, Adjust::None, comparisons), policy::FEWEST_READINGS);
        }
        assert_eq!(readings(&plan, Adjust::Holm, 36), 16);
    }
}
