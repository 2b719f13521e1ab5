//! Counts what the commands allocate, in runs of their own after the timed ones: counting makes a program slower, so no time is
//! taken under it.
//!
//! These runs are blocks like the others, in an order drawn anew for each, numbered after those that were there before; they hold
//! the counts and no other value. What can't be counted is told with the reason and has no value, never zero.

use super::crew::Crew;
use super::{Obstacle, Record, Session, failure, outcome};
use crate::progress::Progress;
use assay_analysis::{Experiment, Step, Turn};
use assay_data::samples::ALLOCATIONS;
use assay_data::{Finding, Metric, Observation, Plan, Severity, StopRule, Threshold, Unit};
use assay_measure::allocations::{self, Counting, Counts, Why};
use assay_measure::{MeasureError, RunOptions, interrupt};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// How often every command is counted: most counts are the same each time, and three runs show whether they are.
const RUNS: u32 = 3;
/// More programs of one command are not looked at for what their runtimes hide.
const MOST_PROGRAMS: usize = 32;

/// The pass of one session.
#[derive(Default)]
struct Pass {
    /// For every command how it is counted; `None` for one that can't be.
    countings: Vec<Option<Counting>>,
    /// Why commands can't be counted.
    reasons: BTreeMap<String, BTreeSet<usize>>,
    /// The programs that each command runs.
    programs: Vec<BTreeSet<PathBuf>>,
    /// Programs that went uncounted among others that were.
    bypassed: BTreeMap<usize, PathBuf>,
}

impl Session {
    /// How many blocks of counting are still to be taken.
    pub fn allocations_lacking(&self) -> u32 {
        RUNS.saturating_sub(self.samples.counting_blocks().len() as u32)
    }

    /// Counts the allocations of every command, and keeps and records them. What can't be counted is told in
    /// [`Session::findings`].
    ///
    /// # Errors
    /// When a hook fails, the runner can't go on, or the user stops it.
    pub fn count_allocations(
        &mut self,
        seed: u64,
        record: &mut Option<Record>,
        progress: &Progress,
    ) -> Result<(), Obstacle> {
        let blocks = self.allocations_lacking();
        let mut pass = Pass::prepare(self);
        if blocks == 0 || pass.countings.iter().all(Option::is_none) {
            self.refused.extend(pass.findings(self));
            return Ok(());
        }
        progress.busy("counting allocations");
        let counted = self.count_blocks(&mut pass, blocks, seed, record);
        self.refused.extend(pass.findings(self));
        counted
    }

    fn count_blocks(
        &mut self,
        pass: &mut Pass,
        blocks: u32,
        seed: u64,
        record: &mut Option<Record>,
    ) -> Result<(), Obstacle> {
        let mut commands = Vec::new();
        for (index, prepared) in self.commands.iter().enumerate() {
            let mut prepared = prepared.clone();
            let environment =
                pass.countings[index].as_ref().map(|c| c.environment(&prepared.command));
            match environment.transpose() {
                Ok(environment) => prepared.command.env.extend(environment.into_iter().flatten()),
                Err(error) => pass.give_up(index, error.to_string()),
            }
            commands.push(prepared);
        }
        let (mut crew, _) = Crew::start(&commands, &[])?;
        for metric in metrics() {
            if self.samples.metric_index(&metric.name).is_none() {
                if let Some(record) = record {
                    record.write(|writer| writer.metric(&metric));
                }
                self.samples.add_metric(metric);
            }
        }
        let first = self.samples.observations().filter_map(|o| o.block).max().map_or(0, |b| b + 1);
        let plan = Plan {
            stop: StopRule::Fixed { blocks },
            budget_seconds: None,
            // Another stream than those of warming up and measuring.
            ..Plan::sequential(0.95, Threshold::default(), seed ^ 2)
        };
        let mut experiment = Experiment::new(plan, commands.len());
        loop {
            let turn = experiment.next_turn();
            if let Some(counting) = pass.countings[turn.subject].take() {
                let counted = self.count_once(&mut crew, turn, &counting, pass)?;
                if let Some(mut observation) = counted {
                    pass.countings[turn.subject] = Some(counting);
                    observation.block = Some(first + turn.block);
                    if let Some(record) = record {
                        record.write(|writer| writer.observe(&observation));
                    }
                    self.samples.push(observation);
                }
            }
            if interrupt::count() > 0 {
                return Err(interrupted());
            }
            if let Step::Stop(_) = experiment.observe(turn, f64::NAN, 0.0) {
                return Ok(());
            }
        }
    }

    /// One run under the counter; nothing if it shows that the command can't be counted.
    fn count_once(
        &mut self,
        crew: &mut Crew,
        turn: Turn,
        counting: &Counting,
        pass: &mut Pass,
    ) -> Result<Option<Observation>, Obstacle> {
        let subject = turn.subject;
        let options =
            RunOptions { pad: turn.padding, timeout: self.manner.timeout, capture_stderr: false };
        let results = loop {
            let line = self.commands[subject].prepare.clone();
            self.hook("--prepare", line.as_ref())?;
            match crew.run(subject, self.commands[subject].jobs, options) {
                Err(MeasureError::LostRun { .. }) => {
                    // What it had counted goes with it.
                    self.lost += 1;
                    if let Err(error) = counting.take() {
                        pass.give_up(subject, error.to_string());
                        return Ok(None);
                    }
                }
                Err(MeasureError::Interrupted) => return Err(interrupted()),
                other => break other?,
            }
        };
        self.conclude(turn)?;
        // What the program said of itself before was without the counter.
        if let Some(how) = results.iter().find_map(|r| failure(r, &self.manner.tolerated)) {
            pass.give_up(subject, format!("it {how} when it ran with the counting library"));
            return Ok(None);
        }
        let records = match counting.take() {
            Ok(records) => records,
            Err(error) => {
                pass.give_up(subject, error.to_string());
                return Ok(None);
            }
        };
        let mut counts: Vec<Counts> = Vec::new();
        for found in records {
            match found.counts {
                Some(found) => counts.push(found),
                None => {
                    pass.bypassed.insert(subject, found.program.clone());
                }
            }
            if pass.programs[subject].len() < MOST_PROGRAMS {
                pass.programs[subject].insert(found.program);
            }
        }
        if counts.is_empty() {
            let why = match pass.bypassed.remove(&subject) {
                Some(program) => of_program(&program, Why::OwnMalloc),
                None => {
                    "its run left no counts: the dynamic linker did not load the counting library"
                        .to_owned()
                }
            };
            pass.give_up(subject, why);
            return Ok(None);
        }
        let mut values = vec![f64::NAN; self.samples.metrics.len()];
        for (name, value) in ALLOCATIONS.iter().zip(summed(&counts)) {
            if let Some(metric) = self.samples.metric_index(name) {
                values[metric] = value;
            }
        }
        Ok(Some(Observation {
            subject,
            position: Some(turn.position),
            outcome: outcome(&results),
            values,
            ..Observation::default()
        }))
    }
}

impl Pass {
    /// Finds out which commands can be counted.
    fn prepare(session: &Session) -> Self {
        let count = session.commands.len();
        let mut pass = Self {
            countings: (0..count).map(|_| None).collect(),
            programs: vec![BTreeSet::new(); count],
            ..Self::default()
        };
        for (index, prepared) in session.commands.iter().enumerate() {
            // That it is there was seen before; if it is gone since, its run will say so.
            let program = prepared.command.resolve().unwrap_or_default();
            if let Some(refusal) = allocations::refusal(&program) {
                pass.give_up(index, of_program(&refusal.program, refusal.why));
                continue;
            }
            match Counting::start() {
                Ok(counting) => pass.countings[index] = Some(counting),
                Err(error) => pass.give_up(index, error.to_string()),
            }
            pass.programs[index].insert(program);
        }
        pass
    }

    /// A command that can't be counted, or not any more.
    fn give_up(&mut self, subject: usize, why: String) {
        self.countings[subject] = None;
        self.reasons.entry(why).or_default().insert(subject);
    }

    fn findings(&self, session: &Session) -> Vec<Finding> {
        let names = |subjects: &BTreeSet<usize>| {
            let names = subjects.iter().map(|&s| format!("'{}'", session.commands[s].name));
            names.collect::<Vec<_>>().join(", ")
        };
        let about = |finding: Finding, subjects: &BTreeSet<usize>| match subjects.first() {
            Some(&only) if subjects.len() == 1 => finding.about(&session.commands[only].name),
            _ => finding,
        };
        let mut findings = Vec::new();
        for (why, subjects) in &self.reasons {
            let message = format!("the allocations of {} can't be counted: {why}", names(subjects));
            let finding = Finding::new("ALLOCATIONS_NOT_COUNTED", Severity::Warning, message)
                .next("docs/guides/allocations.md says what can be counted");
            findings.push(about(finding, subjects));
        }
        let mut hidden: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
        for (subject, programs) in self.programs.iter().enumerate() {
            if self.reasons.values().any(|subjects| subjects.contains(&subject)) {
                continue;
            }
            for note in programs.iter().flat_map(|program| allocations::notes(program)) {
                let why = format!("{} {}", note.runtime, note.text);
                hidden.entry(why).or_default().insert(subject);
            }
        }
        for (&subject, program) in &self.bypassed {
            hidden.entry(of_program(program, Why::OwnMalloc)).or_default().insert(subject);
        }
        for (why, subjects) in &hidden {
            let message =
                format!("not all that {} allocates is in the counts: {why}", names(subjects));
            let finding = Finding::new("ALLOCATIONS_HIDDEN", Severity::Note, message);
            findings.push(about(finding, subjects));
        }
        findings
    }
}

/// Of the path only the name is told: an anonymous run keeps the rest to itself.
fn of_program(program: &std::path::Path, why: Why) -> String {
    let name = program.file_name().unwrap_or(program.as_os_str());
    format!("`{}` {why}", name.to_string_lossy())
}

/// The metrics, in the order of [`ALLOCATIONS`].
fn metrics() -> impl Iterator<Item = Metric> {
    ALLOCATIONS.into_iter().map(|name| {
        let in_bytes = ["allocated_bytes", "peak_heap"].contains(&name);
        Metric::exact(name, if in_bytes { Unit::Byte } else { Unit::One })
    })
}

/// The values of one run, in the order of [`ALLOCATIONS`]: sums over all its processes, and the largest peak of any one.
fn summed(counts: &[Counts]) -> [f64; 5] {
    let sum = |of: fn(&Counts) -> u64| counts.iter().map(of).fold(0, u64::wrapping_add) as f64;
    let peak = counts.iter().filter_map(|c| c.peak_bytes).max();
    [
        sum(|c| c.allocations),
        sum(|c| c.reallocs),
        sum(|c| c.frees),
        sum(|c| c.allocated_bytes),
        peak.map_or(f64::NAN, |peak| peak as f64),
    ]
}

fn interrupted() -> Obstacle {
    Obstacle::Interrupted("while counting allocations: what was timed before is kept".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_all_processes_are_summed_and_the_peak_is_of_one() {
        let process = |allocations, peak_bytes| Counts {
            allocations,
            allocated_bytes: 10 * allocations,
            peak_bytes,
            ..Counts::default()
        };
        let values = summed(&[process(2, Some(300)), process(5, Some(100)), process(0, None)]);
        assert_eq!(values, [7.0, 0.0, 0.0, 70.0, 300.0]);
        assert!(summed(&[process(1, None)])[4].is_nan());
        assert_eq!(metrics().map(|m| m.name).collect::<Vec<_>>(), ALLOCATIONS);
    }
}
