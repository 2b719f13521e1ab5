//! The counting passes.

use super::Prepared;
use super::runners::Runners;
use crate::counted::{Counted, Counter, allocations_hidden, children_missing, of_program};
use assay_data::{self as data, Finding};
use assay_measure::allocations::{self, Executed, RefusalReason};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// The passes that were started.
#[derive(Default)]
pub(super) struct Passes {
    pub begun: BTreeMap<data::Pass, Pass>,
    /// Runners of the pass that began last.
    pub runners: Option<Runners>,
    /// True if the last turn ran something.
    pub ran: bool,
}

/// A pass, which takes one kind of count from all commands.
pub(super) struct Pass {
    pub counted: Counted,
    /// Counter of each command; `None` if the command cannot be counted.
    pub counters: Vec<Option<Counter>>,
    /// Indices of the commands that cannot be counted, by reason.
    pub reasons: BTreeMap<String, BTreeSet<usize>>,
    /// For each command, the programs that it is known to run.
    pub programs: Vec<BTreeSet<PathBuf>>,
    /// For each command, a program that was not counted although others were.
    pub bypassed: BTreeMap<usize, PathBuf>,
    /// For each command, the programs that counted programs executed or tried to execute.
    pub executed: Vec<BTreeSet<Executed>>,
}

impl Passes {
    /// Returns the findings of all passes. `names` are the names of the commands.
    pub fn findings(&self, names: &[String]) -> Vec<Finding> {
        self.begun.values().flat_map(|pass| pass.findings(names)).collect()
    }
}

impl Pass {
    /// Starts a counter for each command that can be counted.
    pub fn prepare(counted: Counted, commands: &[Prepared]) -> Self {
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
            // The program existed before; if it has disappeared since, its run reports that.
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

    /// Returns the commands, wrapped for counting where possible.
    pub fn wrapped(&mut self, commands: &[Prepared]) -> Vec<Prepared> {
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

    /// Records that a command cannot be counted, or no longer, and why.
    pub fn give_up(&mut self, subject: usize, why: String) {
        self.counters[subject] = None;
        self.reasons.entry(why).or_default().insert(subject);
    }

    pub fn findings(&self, all: &[String]) -> Vec<Finding> {
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
            hidden
                .entry(of_program(program, RefusalReason::OwnMalloc))
                .or_default()
                .insert(subject);
        }
        for (why, subjects) in &hidden {
            findings.push(about(allocations_hidden(&names(subjects), why), subjects));
        }
        findings
    }
}
