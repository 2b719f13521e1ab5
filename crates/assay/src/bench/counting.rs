//! Passes that count, after everything is timed: what a benchmark allocates, how many instructions it takes on a simulated processor,
//! and what the machine's own counters say. Nothing is timed in them, since counting slows a program down.
//!
//! Where the harness can be held to a number of iterations, a process is run with few and with more of them, and the difference
//! is what the iterations between took: start-up, preparations and the printing of results fall out. Else one process with the least
//! work that the harness can do is counted, start-up and all. Counters that a program gives only while it is counted (it can ask the
//! counter itself, `c/assay_alloc.h`) are taken too. What is exact is counted twice: counts that repeat are known, not estimated. The
//! machine's counters are read more often, in an order that alternates, and compared as times are: so often that each of them can have
//! a verdict at its share of the error.

use super::rounds::{Measured, Suite};
use crate::counted::{Counted, Counter, children_missing, is_sum};
use crate::session::{Obstacle, Record};
use anyhow::Context;
use assay_analysis::benchmarks::Adjust;
use assay_analysis::design::level_for;
use assay_analysis::paired;
use assay_data::samples::{NOT_COMPARED, PER_ITERATION};
use assay_data::{Finding, Metric, Observation, Outcome, Plan, Severity};
use assay_harness::Effort;
use assay_measure::Command;
use assay_measure::allocations::{notes, refusal};
use assay_measure::counters::Event;

/// How often what is exact is counted.
pub(crate) const TIMES: u32 = 2;
/// How often the machine's counters are read at least: enough for a verdict on what repeats nearly.
const FEWEST_READINGS: u32 = 12;
/// Iterations between the two runs whose difference is taken: against them, what differs from process to process is little.
const BETWEEN: u64 = 1000;

/// What to count.
#[derive(Clone, Debug, Default)]
pub(crate) struct Passes {
    /// What is exact.
    pub counted: Vec<Counted>,
    /// Events that the machine counts.
    pub events: Vec<Event>,
}

impl Passes {
    /// Makes sure that what is exact can be counted here.
    ///
    /// # Errors
    /// When a tool is missing, or there is no place for what runs leave behind.
    pub fn check_tools(&self) -> anyhow::Result<()> {
        for counted in &self.counted {
            counted.start().with_context(|| counted.option())?;
        }
        Ok(())
    }
}

/// How often the machine's counters are read when so many comparisons share the error: by fewer the rank test cannot reach the level of
/// the first of them.
fn readings(plan: &Plan, adjust: Adjust, comparisons: usize) -> u32 {
    let share = if adjust == Adjust::None { 1 } else { comparisons.max(1) };
    paired::fewest_blocks(level_for(plan, share).interval).max(FEWEST_READINGS)
}

/// What is counted in one run: exactly, or by the machine.
#[derive(Clone, Copy)]
enum By<'a> {
    Pass(Counted),
    Machine(&'a [Event]),
}

/// One count of one run.
type Count = (Metric, f64);

impl Suite<'_> {
    /// What a metric will be called that was asked for with or without what is put behind it, if it is among those that will be
    /// counted.
    ///
    /// # Errors
    /// When it would be counted of whole processes only: a verdict on starting up is none on a benchmark.
    pub fn counted_name(&self, passes: &Passes, asked: &str) -> anyhow::Result<Option<String>> {
        let plain = asked.strip_suffix(PER_ITERATION).unwrap_or(asked);
        if !passes.counted.iter().any(|counted| counted.names().contains(&plain)) {
            return Ok(None);
        }
        anyhow::ensure!(
            self.units.iter().all(|unit| unit.pinned.is_some()),
            "--primary {asked}: {} can't be held to a number of iterations, so the count would be of starting up, and say nothing of a benchmark. \
             Use a harness that can (Google Benchmark from 1.8 on), or decide by a time",
            self.catalogue.drivers[0].name()
        );
        Ok(Some(if is_sum(plain) { format!("{plain}{PER_ITERATION}") } else { plain.to_owned() }))
    }

    /// Counts what was asked for, of every benchmark on every side, and records it in blocks of its own. What can't be counted
    /// becomes a finding.
    ///
    /// # Errors
    /// When a tool is missing, a run fails, or the user ended it.
    pub fn count(
        &mut self,
        passes: &Passes,
        plan: &Plan,
        adjust: Adjust,
        record: &mut Option<Record>,
        telling: &mut dyn FnMut(usize, usize),
    ) -> anyhow::Result<()> {
        if passes.counted.is_empty() && passes.events.is_empty() {
            return Ok(());
        }
        let first = self.samples.next_block();
        let alone: Vec<usize> =
            (0..self.units.len()).filter(|&u| self.units[u].benchmarks.len() == 1).collect();
        if alone.len() < self.units.len() {
            self.samples.findings.push(
                Finding::new(
                    "NOT_COUNTED",
                    Severity::Warning,
                    "a program that can't be held to one benchmark is not counted: nothing would tell which of them it was",
                )
                .next("count it as a whole: assay run --alloc"),
            );
        }
        let countable = self.countable(passes);
        let events = self.countable_events(&passes.events);
        let exact: Vec<By<'_>> = passes.counted.iter().map(|&counted| By::Pass(counted)).collect();
        let machine: Vec<By<'_>> =
            if events.is_empty() { Vec::new() } else { vec![By::Machine(&events)] };
        let times = if exact.is_empty() { 0 } else { TIMES };
        let readings = match machine.is_empty() {
            true => 0,
            false => readings(plan, adjust, self.compared_as_secondary(plan, &events)),
        };
        let all = alone.len() * (times + readings) as usize;
        let (mut done, mut whole) = (0, false);
        for time in 0..times + readings {
            let what = if time < times { &exact } else { &machine };
            for &unit in &alone {
                telling(done, all);
                done += 1;
                whole |= self.count_unit(unit, what, &countable, first + time, record)?;
            }
        }
        if whole {
            self.samples.findings.push(
                Finding::new(
                    "COUNTED_WHOLE",
                    Severity::Warning,
                    "the harness can't be held to a number of iterations: counts are of whole processes that do as little as they can, most of it \
                     starting up",
                )
                .next("a harness that can (Google Benchmark from 1.8 on), or counts around the loop itself (c/assay_alloc.h)"),
            );
        }
        Ok(())
    }

    /// How many comparisons share the error with those of these events: all of metrics beside the one that decides, but for exact
    /// counts, which are known.
    fn compared_as_secondary(&self, plan: &Plan, events: &[Event]) -> usize {
        let secondary = &plan.secondary;
        let is_named = |name: &str| {
            secondary.iter().any(|b| b == name || b.strip_suffix(PER_ITERATION) == Some(name))
        };
        let is_secondary = |name: &str| match secondary.is_empty() {
            true => name != plan.primary && !NOT_COMPARED.contains(&name),
            false => name != plan.primary && is_named(name),
        };
        let measured = self.samples.metrics.iter().filter(|m| !m.exact).map(|m| m.name.as_str());
        let metrics =
            measured.chain(events.iter().map(|e| e.name)).filter(|name| is_secondary(name));
        let pairs: usize =
            self.units.iter().map(|unit| unit.benchmarks.len() * (unit.on.len() - 1)).sum();
        metrics.count() * pairs
    }

    /// Has the machine count, and returns what it can count of these; of the rest it is told why not.
    fn countable_events(&mut self, events: &[Event]) -> Vec<Event> {
        if events.is_empty() {
            return Vec::new();
        }
        let refusals = self.asker.watch(events);
        for refusal in &refusals {
            let message = format!("{} can't be counted here: {}", refusal.event, refusal.why);
            self.samples.findings.push(
                Finding::new("NOT_COUNTED", Severity::Warning, message)
                    .about(&refusal.event)
                    .next("count instructions on a simulated processor: --count-instructions"),
            );
        }
        let refused = |event: &Event| refusals.iter().any(|r| r.event == event.name);
        let counted: Vec<Event> = events.iter().copied().filter(|event| !refused(event)).collect();
        if counted.len() < events.len() && !counted.is_empty() {
            self.asker.watch(&counted);
        }
        counted
    }

    /// On which sides allocations can be counted; why not is a finding, and so is what their runtimes hide.
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
                let message =
                    format!("the allocations of {} can't be counted, because {why}", side.name);
                let finding = Finding::new("ALLOCATIONS_NOT_COUNTED", Severity::Warning, message);
                found.push(
                    finding
                        .about(&side.name)
                        .next("link it dynamically, or count within the program"),
                );
            } else {
                let hidden = |note: assay_measure::allocations::Note| {
                    let message = format!("{} {}", note.runtime, note.text);
                    Finding::new("ALLOCATIONS_HIDDEN", Severity::Note, message)
                };
                found.extend(notes(&program).into_iter().map(hidden));
            }
        }
        for finding in found {
            if !self.samples.findings.contains(&finding) {
                self.samples.findings.push(finding);
            }
        }
        countable
    }

    /// Counts one benchmark once on all of its sides. True when that tells of whole processes only: the harness can't be held to a number
    /// of iterations, and the program gave no counts of its own.
    fn count_unit(
        &mut self,
        unit: usize,
        what: &[By<'_>],
        countable: &[bool],
        block: u32,
        record: &mut Option<Record>,
    ) -> anyhow::Result<bool> {
        let Measured { benchmarks, on, pinned } = &self.units[unit];
        let (benchmark, pinned) = (benchmarks[0], *pinned);
        let mut sides: Vec<(usize, usize)> =
            on.iter().map(|(side, _, subjects)| (*side, subjects[0])).collect();
        if block % 2 == 1 {
            sides.reverse();
        }
        let mut whole = false;
        for (position, (side, subject)) in sides.into_iter().enumerate() {
            let mut counts: Vec<Count> = Vec::new();
            for &by in what {
                if matches!(by, By::Pass(Counted::Allocations)) && !countable[side] {
                    continue;
                }
                let (own, said) = self.differences(benchmark, side, pinned, by)?;
                whole |= pinned.is_none() && !own.is_empty() && said.is_empty();
                counts.extend(own.into_iter().chain(said));
            }
            let mut known: Vec<(usize, f64)> = Vec::new();
            for (metric, value) in counts {
                known.push((Record::add_metric(record, &mut self.samples, &metric), value));
            }
            let values = self.samples.row(&known);
            let observation = Observation {
                subject,
                block: Some(block),
                position: Some(position as u32),
                level: Vec::new(),
                time: None,
                outcome: Outcome::Ok,
                values,
            };
            Record::observe(record, &mut self.samples, observation);
        }
        Ok(whole)
    }

    /// The counts of one benchmark on one side, per iteration where that can be told, and those that the program gave itself.
    fn differences(
        &mut self,
        benchmark: usize,
        side: usize,
        pinned: Option<u64>,
        by: By<'_>,
    ) -> anyhow::Result<(Vec<Count>, Vec<Count>)> {
        let Some(most) = pinned else {
            return self.counted(benchmark, side, Effort::Once, by);
        };
        let between = most.saturating_sub(1).clamp(1, BETWEEN);
        let (few, _) = self.counted(benchmark, side, Effort::Iterations(1), by)?;
        let (many, said) = self.counted(benchmark, side, Effort::Iterations(1 + between), by)?;
        let difference = |((metric, few), (_, many)): (Count, Count)| {
            if !is_sum(&metric.name) {
                return (metric, many);
            }
            let name = format!("{}{PER_ITERATION}", metric.name);
            (Metric { name, ..metric }, (many - few) / between as f64)
        };
        Ok((few.into_iter().zip(many).map(difference).collect(), said))
    }

    /// What was counted in one run, and the exact counts that the program gave itself.
    fn counted(
        &mut self,
        benchmark: usize,
        side: usize,
        effort: Effort,
        by: By<'_>,
    ) -> anyhow::Result<(Vec<Count>, Vec<Count>)> {
        let catalogue = self.catalogue;
        let scratch = self.asker.directory()?;
        let own = catalogue.benchmarks[benchmark].on[side].clone().unwrap_or_default();
        let request = catalogue.drivers[side].measure(&own, effort, &scratch);
        let command = catalogue.sides[side].asking(&request);
        let counter = match by {
            By::Pass(counted) => Some(counted.start()?),
            By::Machine(_) => None,
        };
        let wrapped = |counter: &Counter| counter.wrapped(&command);
        let command: Command = counter.as_ref().map_or(Ok(command.clone()), wrapped)?;
        let question = self.asker.prepare_command(&command, &request, &scratch)?;
        let ran = self.asker.put(&question, 0)?;
        if let Some(how) = ran.failure() {
            let side = &catalogue.sides[side].name;
            let text = format!("`{own}` on {side}, run to be counted: it {how}");
            return Err(Obstacle::Failed(text).into());
        }
        let found: Vec<Count> = match (by, &counter) {
            (By::Pass(counted), Some(counter)) => {
                let count = counter.take().map_err(|why| {
                    anyhow::anyhow!(
                        "`{own}` on {}: its {} were not counted: {why}",
                        catalogue.sides[side].name,
                        counted.what()
                    )
                })?;
                let side = &catalogue.sides[side].name;
                let missing = children_missing(side, &count.executed);
                let missing = missing.map(|finding| finding.about(side));
                let new = missing.filter(|found| !self.samples.findings.contains(found));
                self.samples.findings.extend(new);
                let all = counted.metrics().into_iter().zip(count.values);
                all.filter(|(_, value)| value.is_finite()).collect()
            }
            (By::Machine(events), _) => {
                let metrics = events.iter().map(|e| Metric::lower(e.name, e.unit()));
                let value = |count: &Option<assay_measure::counters::Count>| {
                    count.as_ref().map_or(f64::NAN, |count| count.value)
                };
                metrics.zip(ran.counts.iter().map(value)).collect()
            }
            (By::Pass(_), None) => Vec::new(),
        };
        let readings = catalogue.drivers[side].read(&ran.reply).unwrap_or_default();
        let mut reading = readings.into_iter().find(|reading| reading.benchmark == own);
        reading.iter_mut().for_each(|reading| reading.divide(&self.totals));
        let mut said = Vec::new();
        for (metric, value) in reading.into_iter().flat_map(|reading| reading.values) {
            let known = self.samples.metric_index(&metric.name);
            if counter.is_some() && known.is_none_or(|at| self.samples.metrics[at].exact) {
                said.push((Metric::exact(&metric.name, metric.unit), value));
            }
        }
        // There may be thousands of them.
        std::fs::remove_dir_all(&scratch).with_context(|| scratch.display().to_string())?;
        Ok((found, said))
    }
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
            // All on one side is the most that n blocks can say: it happens by chance in one of 2^(n-1).
            let reachable = 0.5_f64.powi(n as i32 - 1);
            assert!(reachable <= plan.level() / comparisons as f64, "{n} for {comparisons}");
            assert!(n == FEWEST_READINGS || 2.0 * reachable > plan.level() / comparisons as f64);
            assert_eq!(readings(&plan, Adjust::None, comparisons), FEWEST_READINGS);
        }
        assert_eq!(readings(&plan, Adjust::Holm, 36), 16);
    }
}
