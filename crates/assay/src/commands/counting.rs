//! Counts the allocations and instructions of commands. This takes separate runs after the timed
//! ones, because counting slows programs down.
//!
//! A pass is prepared at its first turn, and its runs contain only counts. If something cannot be
//! counted, the reason is reported, and the value is missing rather than zero.

use super::passes::Pass;
use super::runners::Runners;
use super::{Commands, failure, outcome};
use crate::counted::Counted;
use crate::run_error::RunError;
use assay_data::source::{Measured, Obstacle, RowResult};
use assay_data::{self as data};
use assay_measure::{MeasureError, RunOptions, RunResult, Runner};

/// Number of counting runs per command. Most counts are identical in every run, and three runs are
/// enough to notice those that vary.
pub(crate) const RUNS: u32 = 3;
/// Maximum number of programs of one command that are checked for allocations hidden by their
/// runtimes.
const MOST_PROGRAMS: usize = 32;

impl Commands {
    /// Counts one run of a command in a pass. There are no rows if the command cannot be counted.
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
            self.passes.runners = Some(Runners::start(Runner::start()?, &commands, &[])?.0);
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
        // Environment padding is only for times, since a longer environment takes more instructions
        // to process.
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
            // A partial run also leaves counts behind.
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
