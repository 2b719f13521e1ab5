//! Passes that count, after everything is timed: what a benchmark allocates, and how many instructions it takes on a simulated
//! processor. Nothing is timed in them, since counting slows a program down.
//!
//! Where the harness can be held to a number of iterations, a process is run with few and with more of them, and the difference
//! is what the iterations between took: start-up, preparations and the printing of results fall out. Else one process with the least
//! work that the harness can do is counted, start-up and all. Counters that a program gives only while it is counted (it can ask the
//! counter itself, `c/assay_alloc.h`) are taken too. Each is counted twice: counts that repeat are known, not estimated.

use super::rounds::{Measured, Suite};
use crate::session::{Obstacle, Record};
use anyhow::Context;
use assay_data::{Finding, Metric, Observation, Outcome, Severity, Unit};
use assay_harness::Effort;
use assay_measure::Command;
use assay_measure::allocations::{Counting, notes, refusal};
use std::path::Path;

/// How often everything is counted.
const TIMES: u32 = 2;
/// Iterations between the two runs whose difference is taken: against them, what differs from process to process is little.
const BETWEEN: u64 = 1000;
/// What is put behind the name of a count that is per iteration.
const PER_ITERATION: &str = "/iteration";
/// Counts that grow with the iterations of a run; all others stand as they are.
const OF_A_RUN: [&str; 5] =
    ["allocations", "reallocs", "frees", "allocated_bytes", "simulated_instructions"];

/// What to count.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Passes {
    /// Allocations.
    pub alloc: bool,
    /// Instructions, simulated.
    pub simulate: bool,
}

/// One count of one run.
type Count = (String, Unit, f64);

/// Has a command run to its end.
type Run<'a> = &'a mut dyn FnMut(&Command) -> Result<(), Obstacle>;

/// Dresses a command, has it run, and tells what was counted; the directory is its own.
type Counter = fn(Command, &Path, Run<'_>) -> anyhow::Result<Vec<Count>>;

impl Suite<'_> {
    /// Counts what was asked for, of every benchmark on every side, and records it in blocks of its own. What can't be counted
    /// becomes a finding.
    ///
    /// # Errors
    /// When a tool is missing, a run fails, or the user ended it.
    pub fn count(
        &mut self,
        passes: Passes,
        record: &mut Option<Record>,
        telling: &mut dyn FnMut(usize, usize),
    ) -> anyhow::Result<()> {
        if !passes.alloc && !passes.simulate {
            return Ok(());
        }
        let first = self.samples.last_block().map_or(0, |last| last + 1);
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
        let all = alone.len() * TIMES as usize;
        let mut done = 0;
        for time in 0..TIMES {
            for &unit in &alone {
                telling(done, all);
                done += 1;
                self.count_unit(unit, passes, &countable, first + time, record)?;
            }
        }
        Ok(())
    }

    /// On which sides allocations can be counted; why not is a finding, and so is what their runtimes hide.
    fn countable(&mut self, passes: Passes) -> Vec<bool> {
        let mut countable = Vec::new();
        let mut found: Vec<Finding> = Vec::new();
        for side in &self.catalogue.sides {
            let Some(program) = side.command.resolve().ok().filter(|_| passes.alloc) else {
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

    fn count_unit(
        &mut self,
        unit: usize,
        passes: Passes,
        countable: &[bool],
        block: u32,
        record: &mut Option<Record>,
    ) -> anyhow::Result<()> {
        let Measured { benchmarks, on, pinned } = &self.units[unit];
        let (benchmark, pinned) = (benchmarks[0], *pinned);
        let sides: Vec<(usize, usize)> =
            on.iter().map(|(side, _, subjects)| (*side, subjects[0])).collect();
        for (position, (side, subject)) in sides.into_iter().enumerate() {
            let mut counts = Vec::new();
            if passes.alloc && countable[side] {
                counts.extend(self.differences(benchmark, side, pinned, allocated)?);
            }
            if passes.simulate {
                counts.extend(self.differences(benchmark, side, pinned, simulated)?);
            }
            let mut values = vec![f64::NAN; self.samples.metrics.len()];
            for (name, unit, value) in counts {
                let metric = Metric::exact(&name, unit);
                let at = self.samples.metric_index(&name).unwrap_or_else(|| {
                    if let Some(record) = record {
                        record.write(|writer| writer.metric(&metric));
                    }
                    values.push(f64::NAN);
                    self.samples.add_metric(metric.clone())
                });
                values[at] = value;
            }
            let observation = Observation {
                subject,
                block: Some(block),
                position: Some(position as u32),
                level: Vec::new(),
                time: None,
                outcome: Outcome::Ok,
                values,
            };
            if let Some(record) = record {
                record.write(|writer| writer.observe(&observation));
            }
            self.samples.push(observation);
        }
        Ok(())
    }

    /// The counts of one benchmark on one side: per iteration where that can be told.
    fn differences(
        &mut self,
        benchmark: usize,
        side: usize,
        pinned: Option<u64>,
        count: Counter,
    ) -> anyhow::Result<Vec<Count>> {
        let Some(most) = pinned else {
            return self.counted(benchmark, side, Effort::Once, count);
        };
        let between = most.saturating_sub(1).clamp(1, BETWEEN);
        let few = self.counted(benchmark, side, Effort::Iterations(1), count)?;
        let many = self.counted(benchmark, side, Effort::Iterations(1 + between), count)?;
        let difference = |((name, unit, few), (_, _, many)): (Count, Count)| {
            if OF_A_RUN.contains(&name.as_str()) {
                (format!("{name}{PER_ITERATION}"), unit, (many - few) / between as f64)
            } else {
                (name, unit, many)
            }
        };
        Ok(few.into_iter().zip(many).map(difference).collect())
    }

    fn counted(
        &mut self,
        benchmark: usize,
        side: usize,
        effort: Effort,
        count: Counter,
    ) -> anyhow::Result<Vec<Count>> {
        let catalogue = self.catalogue;
        let scratch = self.asker.directory()?;
        let counts = self.asker.directory()?;
        let own = catalogue.benchmarks[benchmark].on[side].clone().unwrap_or_default();
        let request = catalogue.drivers[side].measure(&own, effort, &scratch);
        let command = catalogue.sides[side].asking(&request);
        let mut reply = None;
        let asker = &mut *self.asker;
        let mut found = count(command, &counts, &mut |command| {
            let question = asker.prepare_command(command, &request, &scratch)?;
            let ran = asker.put(&question, 0)?;
            match ran.failure() {
                None => reply = Some(ran.reply),
                Some(how) => {
                    return Err(Obstacle::Failed(format!(
                        "`{own}` on {}, run to be counted: it {how}",
                        catalogue.sides[side].name
                    )));
                }
            }
            Ok(())
        })?;
        let readings = reply.and_then(|reply| catalogue.drivers[side].read(&reply).ok());
        let reading = readings.into_iter().flatten().find(|reading| reading.benchmark == own);
        for (metric, value) in reading.into_iter().flat_map(|reading| reading.values) {
            let known = self.samples.metric_index(&metric.name);
            if known.is_none_or(|at| self.samples.metrics[at].exact) {
                found.push((metric.name, metric.unit, value));
            }
        }
        // There may be thousands of them.
        for directory in [&scratch, &counts] {
            std::fs::remove_dir_all(directory).with_context(|| directory.display().to_string())?;
        }
        Ok(found)
    }
}

/// Looks for valgrind before anything is measured.
///
/// # Errors
/// With how to install it.
pub(crate) fn find_simulator() -> anyhow::Result<()> {
    let found = Command::parse("valgrind --version", false)?.resolve();
    found.map(|_| ()).context(
        "--simulate counts instructions with valgrind, which is not there; install it (apt-get install valgrind)",
    )
}

/// Allocations of all processes of a run.
fn allocated(mut command: Command, _own: &Path, run: Run<'_>) -> anyhow::Result<Vec<Count>> {
    let counting = Counting::start()?;
    let variables = counting.environment(&command)?;
    command.env.extend(variables);
    run(&command)?;
    let records = counting.read()?;
    let counts: Vec<_> = records.iter().filter_map(|record| record.counts).collect();
    anyhow::ensure!(
        !counts.is_empty(),
        "the allocations of `{}` were not counted: no process of it has loaded the counter",
        command.argv.first().map(|word| word.to_string_lossy()).unwrap_or_default()
    );
    let sum = |of: fn(&assay_measure::allocations::Counts) -> u64| {
        counts.iter().map(of).sum::<u64>() as f64
    };
    let mut found = vec![
        ("allocations".to_owned(), Unit::One, sum(|c| c.allocations)),
        ("reallocs".to_owned(), Unit::One, sum(|c| c.reallocs)),
        ("frees".to_owned(), Unit::One, sum(|c| c.frees)),
        ("allocated_bytes".to_owned(), Unit::Byte, sum(|c| c.allocated_bytes)),
    ];
    if let Some(peak) = counts.iter().filter_map(|counts| counts.peak_bytes).max() {
        found.push(("peak_heap".to_owned(), Unit::Byte, peak as f64));
    }
    Ok(found)
}

/// Instructions of all processes of a run, on valgrind's processor.
fn simulated(mut command: Command, own: &Path, run: Run<'_>) -> anyhow::Result<Vec<Count>> {
    let file = format!("--cachegrind-out-file={}/%p", own.display());
    let words = [
        "valgrind",
        "--quiet",
        "--tool=cachegrind",
        "--cache-sim=no",
        "--trace-children=yes",
        &file,
    ];
    command.argv = words.into_iter().map(Into::into).chain(command.argv).collect();
    run(&command)?;
    let mut instructions = 0.0;
    for entry in std::fs::read_dir(own)? {
        let path = entry?.path();
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let summary = text.lines().rev().find_map(|line| line.strip_prefix("summary:"));
        let count = summary.and_then(|rest| rest.split_whitespace().next()?.parse::<f64>().ok());
        instructions += count.with_context(|| {
            format!("{}: valgrind left no `summary:` of what it counted", path.display())
        })?;
    }
    anyhow::ensure!(instructions > 0.0, "valgrind left no count of instructions");
    Ok(vec![("simulated_instructions".to_owned(), Unit::One, instructions)])
}
