//! Counts what the commands allocate and how many instructions they take, in runs of their own after the timed ones: counting makes
//! a program slower, so no time is taken under it.
//!
//! These runs are blocks like the others, in an order drawn anew for each, numbered after those that were there before; they hold
//! the counts and no other value. What can't be counted is told with the reason and has no value, never zero.

use super::crew::Crew;
use super::{Obstacle, Prepared, Record, Session, failure, outcome};
use crate::counted::{Counted, Counter, children_missing, of_program};
use crate::progress::Progress;
use assay_analysis::{Experiment, Step, Turn};
use assay_data::{Finding, Observation, Plan, Severity, StopRule, Threshold};
use assay_measure::allocations::{self, Executed, Why};
use assay_measure::{MeasureError, RunOptions, RunResult, interrupt};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// How often every command is counted: most counts are the same each time, and three runs show whether they are.
pub(crate) const RUNS: u32 = 3;
/// More programs of one command are not looked at for what their runtimes hide.
const MOST_PROGRAMS: usize = 32;

/// One pass of a session.
struct Pass {
    counted: Counted,
    /// For every command what counts it; `None` for one that can't be counted.
    counters: Vec<Option<Counter>>,
    /// Why commands can't be counted.
    reasons: BTreeMap<String, BTreeSet<usize>>,
    /// The programs that each command runs.
    programs: Vec<BTreeSet<PathBuf>>,
    /// Programs that went uncounted among others that were.
    bypassed: BTreeMap<usize, PathBuf>,
    /// The programs that those of each command have run.
    executed: Vec<BTreeSet<Executed>>,
}

impl Session {
    /// How many blocks of counting are still to be taken.
    pub fn counting_lacks(&self, counted: Counted) -> u32 {
        RUNS.saturating_sub(self.samples.counting_blocks_of(counted.names()).len() as u32)
    }

    /// Counts every command, and keeps and records the counts. What can't be counted is told in [`Session::findings`].
    ///
    /// # Errors
    /// When a hook fails, the runner can't go on, or the user stops it.
    pub fn count(
        &mut self,
        counted: Counted,
        seed: u64,
        record: &mut Option<Record>,
        progress: &Progress,
    ) -> Result<(), Obstacle> {
        let blocks = self.counting_lacks(counted);
        let mut pass = Pass::prepare(counted, self);
        if blocks == 0 || pass.counters.iter().all(Option::is_none) {
            self.refused.extend(pass.findings(self));
            return Ok(());
        }
        progress.busy(counted.doing());
        let taken = self.count_blocks(&mut pass, blocks, seed, record);
        self.refused.extend(pass.findings(self));
        taken
    }

    fn count_blocks(
        &mut self,
        pass: &mut Pass,
        blocks: u32,
        seed: u64,
        record: &mut Option<Record>,
    ) -> Result<(), Obstacle> {
        let commands = pass.wrapped(&self.commands);
        let (mut crew, _) = Crew::start(&commands, &[])?;
        for metric in pass.counted.metrics() {
            Record::add_metric(record, &mut self.samples, &metric);
        }
        let first = self.samples.next_block();
        let plan = Plan {
            stop: StopRule::Fixed { blocks },
            budget_seconds: None,
            // Another stream than those of warming up and measuring.
            ..Plan::sequential(0.95, Threshold::default(), seed ^ 2)
        };
        let mut experiment = Experiment::new(plan, commands.len());
        loop {
            let turn = experiment.next_turn();
            if let Some(counter) = pass.counters[turn.subject].take() {
                let counts = self.count_once(&mut crew, turn, &counter, pass)?;
                if let Some(mut observation) = counts {
                    pass.counters[turn.subject] = Some(counter);
                    observation.block = Some(first + turn.block);
                    Record::observe(record, &mut self.samples, observation);
                }
            }
            if interrupt::count() > 0 {
                return Err(pass.interrupted());
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
        counter: &Counter,
        pass: &mut Pass,
    ) -> Result<Option<Observation>, Obstacle> {
        let subject = turn.subject;
        // Padding the environment is for times; a longer environment takes more instructions to go through.
        let options = RunOptions { pad: 0, timeout: self.manner.timeout, capture_stderr: false };
        let results = loop {
            let line = self.commands[subject].prepare.clone();
            self.hook("--prepare", line.as_ref())?;
            match crew.run(subject, self.commands[subject].jobs, options) {
                Err(MeasureError::LostRun { .. }) => {
                    self.lost += 1;
                    // What it had counted goes with it; that there may be nothing is no matter.
                    let _ = counter.take();
                }
                Err(MeasureError::Interrupted) => return Err(pass.interrupted()),
                other => break other?,
            }
        };
        self.conclude(turn)?;
        // What the program said of itself before was without the counter.
        let slow = |r: &RunResult| r.outcome == assay_measure::Outcome::TimedOut;
        let how = match results.iter().any(slow) {
            true => Some("took longer than --timeout allows".to_owned()),
            false => results.iter().find_map(|r| failure(r, &self.manner.tolerated)),
        };
        if let Some(how) = how {
            let under = match pass.counted {
                Counted::Allocations => "it ran with the counting library",
                Counted::Instructions => "valgrind ran it",
            };
            // Half a run leaves counts behind, too.
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
        if let Some(program) = count.bypassed {
            pass.bypassed.insert(subject, program);
        }
        pass.executed[subject].extend(count.executed);
        let room = MOST_PROGRAMS.saturating_sub(pass.programs[subject].len());
        pass.programs[subject].extend(count.programs.into_iter().take(room));
        let counts = pass.counted.names().iter().zip(count.values);
        let known =
            counts.filter_map(|(name, value)| Some((self.samples.metric_index(name)?, value)));
        let values = self.samples.row(&known.collect::<Vec<_>>());
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
    fn prepare(counted: Counted, session: &Session) -> Self {
        let count = session.commands.len();
        let mut pass = Self {
            counted,
            counters: (0..count).map(|_| None).collect(),
            reasons: BTreeMap::new(),
            programs: vec![BTreeSet::new(); count],
            bypassed: BTreeMap::new(),
            executed: vec![BTreeSet::new(); count],
        };
        for (index, prepared) in session.commands.iter().enumerate() {
            // That it is there was seen before; if it is gone since, its run will say so.
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

    /// The commands as they have to be run.
    fn wrapped(&mut self, commands: &[Prepared]) -> Vec<Prepared> {
        let mut wrapped = commands.to_vec();
        for (index, prepared) in wrapped.iter_mut().enumerate() {
            match self.counters[index].as_ref().map(|counter| counter.wrapped(&prepared.command)) {
                Some(Ok(command)) => prepared.command = command,
                Some(Err(error)) => self.give_up(index, error.to_string()),
                None => {}
            }
        }
        wrapped
    }

    /// A command that can't be counted, or not any more.
    fn give_up(&mut self, subject: usize, why: String) {
        self.counters[subject] = None;
        self.reasons.entry(why).or_default().insert(subject);
    }

    fn interrupted(&self) -> Obstacle {
        Obstacle::Interrupted(format!(
            "while counting {}: what was timed before is kept",
            self.counted.what()
        ))
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
        let (code, guide) = match self.counted {
            Counted::Allocations => {
                ("ALLOCATIONS_NOT_COUNTED", "docs/guides/allocations.md says what can be counted")
            }
            Counted::Instructions => {
                ("NOT_COUNTED", "docs/guides/instructions.md says what can be counted")
            }
        };
        let what = self.counted.what();
        let mut findings = Vec::new();
        for (why, subjects) in &self.reasons {
            let message = format!("the {what} of {} can't be counted: {why}", names(subjects));
            let finding = Finding::new(code, Severity::Warning, message).next(guide);
            findings.push(about(finding, subjects));
        }
        if self.counted != Counted::Allocations {
            return findings;
        }
        let mut hidden: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
        for (subject, programs) in self.programs.iter().enumerate() {
            if self.reasons.values().any(|subjects| subjects.contains(&subject)) {
                continue;
            }
            let name = &session.commands[subject].name;
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
            let message =
                format!("not all that {} allocates is in the counts: {why}", names(subjects));
            let finding = Finding::new("ALLOCATIONS_HIDDEN", Severity::Note, message);
            findings.push(about(finding, subjects));
        }
        findings
    }
}
