//! Counts the allocations and instructions of commands, in separate runs after the timed ones:
//! counting makes a program slower, so nothing is timed in them.
//!
//! A pass is prepared at its first turn. Its runs contain the counts and no other values. If
//! something cannot be counted, the reason is reported, and the value is missing, never zero.

use super::runners::Runners;
use super::{Commands, Prepared, failure, outcome};
use crate::counted::{Counted, Counter, allocations_hidden, children_missing, of_program};
use crate::run_error::RunError;
use assay_data::source::{Measured, Obstacle, RowResult};
use assay_data::{self as data, Finding};
use assay_measure::allocations::{self, Executed, Why};
use assay_measure::{MeasureError, RunOptions, RunResult};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Number of counting runs per command: most counts are the same each time, and three runs show
/// whether they are.
pub(crate) const RUNS: u32 = 3;
/// Maximum number of programs of one command that are checked for allocations hidden by their
/// runtimes.
const MOST_PROGRAMS: usize = 32;

/// The passes that were started.
#[derive(Default)]
pub(super) struct Passes {
    begun: BTreeMap<data::Pass, Pass>,
    /// Runs the commands of the last pass.
    runners: Option<Runners>,
    /// True if the last turn ran something.
    pub ran: bool,
}

/// One pass.
struct Pass {
    counted: Counted,
    /// The counter of each command; `None` if it cannot be counted.
    counters: Vec<Option<Counter>>,
    /// Commands that cannot be counted, by reason.
    reasons: BTreeMap<String, BTreeSet<usize>>,
    /// The programs that each command runs.
    programs: Vec<BTreeSet<PathBuf>>,
    /// A program of each command that was not counted, although others were.
    bypassed: BTreeMap<usize, PathBuf>,
    /// The programs executed by those of each command.
    executed: Vec<BTreeSet<Executed>>,
}

impl Commands {
    /// Counts one run of a command in a pass; `None` if it cannot be counted.
    pub(super) fn count(
        &mut self,
        subject: usize,
        pass: data::Pass,
    ) -> Result<Measured, Obstacle<RunError>> {
        self.passes.ran = false;
        if !self.passes.begun.contains_key(&pass) {
            self.begin_pass(pass)?;
        }
        let mut begun = std::mem::take(&mut self.passes.begun);
        let counted = match begun.get_mut(&pass) {
            Some(pass) => self.count_once(subject, pass),
            None => Ok(None),
        };
        self.passes.begun = begun;
        Ok(Measured { rows: counted?.into_iter().collect(), ..Measured::default() })
    }

    fn begin_pass(&mut self, pass: data::Pass) -> Result<(), RunError> {
        let asked = self.settings.counted.iter().find(|counted| counted.pass() == pass);
        let Some(&counted) = asked else { return Ok(()) };
        let mut begun = Pass::prepare(counted, &self.commands);
        self.passes.runners = None;
        if begun.counters.iter().any(Option::is_some) {
            let commands = begun.wrapped(&self.commands);
            self.passes.runners = Some(Runners::start(&commands, &[])?.0);
            counted.metrics().into_iter().for_each(|metric| self.meter.add(metric));
        }
        self.passes.begun.insert(pass, begun);
        Ok(())
    }

    fn count_once(
        &mut self,
        subject: usize,
        pass: &mut Pass,
    ) -> Result<Option<RowResult>, Obstacle<RunError>> {
        let Some(counter) = pass.counters[subject].take() else { return Ok(None) };
        let line = self.commands[subject].prepare.clone();
        self.hook("--prepare", line.as_ref()).map_err(RunError::obstacle)?;
        let Some(runners) = &mut self.passes.runners else { return Ok(None) };
        self.passes.ran = true;
        // Environment padding is only for times; a longer environment takes more instructions to
        // process.
        let options = RunOptions {
            timeout: self.settings.timeout,
            end_strays: true,
            ..RunOptions::default()
        };
        let results = match runners.run((subject, 0), self.commands[subject].jobs, options) {
            Err(MeasureError::LostRun { .. }) => {
                // Discard the counts of the lost run; there may be none.
                let _ = counter.take();
                pass.counters[subject] = Some(counter);
                return Err(Obstacle::Lost);
            }
            other => other.map_err(|error| RunError::from(error).obstacle())?,
        };
        // The program's earlier messages were written without the counter.
        let slow = |r: &RunResult| r.outcome == assay_measure::Outcome::TimedOut;
        let how = match results.iter().any(slow) {
            true => Some("took longer than --timeout allows".to_owned()),
            false => results.iter().find_map(|r| failure(r, &self.settings.tolerated)),
        };
        if let Some(how) = how {
            let under = match pass.counted {
                Counted::Allocations => "it ran with the counting library",
                Counted::Instructions => "valgrind ran it",
            };
            // A partial run leaves counts behind as well.
            let _ = counter.take();
            pass.give_up(subject, format!("it {how} when {under}"));
            return Ok(None);
        }
        let count = match counter.take() {
            Ok(count) => count,
            Err(why) => {
                pass.give_up(subject, why);
                return Ok(None);
            }
        };
        pass.counters[subject] = Some(counter);
        if let Some(program) = count.bypassed {
            pass.bypassed.insert(subject, program);
        }
        pass.executed[subject].extend(count.executed);
        let room = MOST_PROGRAMS.saturating_sub(pass.programs[subject].len());
        pass.programs[subject].extend(count.programs.into_iter().take(room));
        let counts = pass.counted.names().iter().copied().zip(count.values);
        let values = self.meter.row(counts);
        Ok(Some(RowResult { values, ended: outcome(&results), ..RowResult::default() }))
    }
}

impl Passes {
    /// Returns the findings of counting; `names` are those of the commands.
    pub fn findings(&self, names: &[String]) -> Vec<Finding> {
        self.begun.values().flat_map(|pass| pass.findings(names)).collect()
    }
}

impl Pass {
    /// Determines which commands can be counted.
    fn prepare(counted: Counted, commands: &[Prepared]) -> Self {
        let count = commands.len();
        let mut pass = Self {
            counted,
            counters: (0..count).map(|_| None).collect(),
            reasons: BTreeMap::new(),
            programs: vec![BTreeSet::new(); count],
            bypassed: BTreeMap::new(),
            executed: vec![BTreeSet::new(); count],
        };
        for (index, prepared) in commands.iter().enumerate() {
            // The program existed before; if it is gone since, its run reports that.
            let program = prepared.command.resolve().unwrap_or_default();
            if counted == Counted::Allocations
                && let Some(refusal) = allocations::refusal(&program)
            {
                pass.give_up(index, of_program(&refusal.program, refusal.why));
                continue;
            }
            match counted.start() {
                Ok(counter) => pass.counters[index] = Some(counter),
                Err(error) => pass.give_up(index, error.to_string()),
            }
            pass.programs[index].insert(program);
        }
        pass
    }

    /// Returns the commands wrapped for counting.
    fn wrapped(&mut self, commands: &[Prepared]) -> Vec<Prepared> {
        let mut wrapped = commands.to_vec();
        for (index, prepared) in wrapped.iter_mut().enumerate() {
            // Counts do not depend on memory placement, so one build represents all.
            prepared.builds.clear();
            match self.counters[index].as_ref().map(|counter| counter.wrapped(&prepared.command)) {
                Some(Ok(command)) => prepared.command = command,
                Some(Err(error)) => self.give_up(index, error.to_string()),
                None => {}
            }
        }
        wrapped
    }

    /// Marks a command as one that cannot be counted, or no longer.
    fn give_up(&mut self, subject: usize, why: String) {
        self.counters[subject] = None;
        self.reasons.entry(why).or_default().insert(subject);
    }

    fn findings(&self, all: &[String]) -> Vec<Finding> {
        let names = |subjects: &BTreeSet<usize>| {
            let names = subjects.iter().map(|&s| format!("'{}'", all[s]));
            names.collect::<Vec<_>>().join(", ")
        };
        let about = |finding: Finding, subjects: &BTreeSet<usize>| match subjects.first() {
            Some(&only) if subjects.len() == 1 => finding.about(&all[only]),
            _ => finding,
        };
        let mut findings = Vec::new();
        for (why, subjects) in &self.reasons {
            findings.push(about(self.counted.refused(&names(subjects), why), subjects));
        }
        if self.counted != Counted::Allocations {
            return findings;
        }
        let mut hidden: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
        for (subject, programs) in self.programs.iter().enumerate() {
            if self.reasons.values().any(|subjects| subjects.contains(&subject)) {
                continue;
            }
            let name = &all[subject];
            let missing = children_missing(&format!("'{name}'"), &self.executed[subject]);
            findings.extend(missing.map(|finding| finding.about(name)));
            for note in programs.iter().flat_map(|program| allocations::notes(program)) {
                let why = format!("{} {}", note.runtime, note.text);
                hidden.entry(why).or_default().insert(subject);
            }
        }
        for (&subject, program) in &self.bypassed {
            hidden.entry(of_program(program, Why::OwnMalloc)).or_default().insert(subject);
        }
        for (why, subjects) in &hidden {
            findings.push(about(allocations_hidden(&names(subjects), why), subjects));
        }
        findings
    }
}
