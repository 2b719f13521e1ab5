//! Confirmation of an alarm by a fresh run: both revisions are measured alternately, which cancels
//! the variation between runs.
//!
//! An alarm stands if the fresh run also finds the new revision worse, or if no fresh run was
//! possible; a run that stands out alone is an alarm only if the fresh run finds it worse. This
//! module measures nothing.

use super::{Gate, Standing};
use crate::Verdict;
use crate::comparison::Effect;
use crate::history::short;
use crate::number;
use assay_data::code;
use assay_data::{Action, Finding, Severity};

/// The outcome of confirming an alarm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The fresh run also finds the new revision worse.
    Confirmed,
    /// The fresh run does not find the new revision worse, so it is not an alarm.
    NotConfirmed,
    /// There was no fresh run, so the alarm stands.
    NotMeasured,
}

/// A fresh run of one benchmark, or the reason for its absence.
#[derive(Clone, Debug, PartialEq)]
pub struct Confirmation {
    /// The last normal revision, if known.
    pub against: Option<String>,
    /// The new revision, if known.
    pub revision: Option<String>,
    /// Result of the fresh run for the new revision, or the reason for its absence.
    pub fresh: Result<Fresh, String>,
}

/// The result of a fresh run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fresh {
    /// Verdict of the fresh run.
    pub verdict: Verdict,
    /// Ratio of the new revision to the last normal one, with its interval.
    pub ratio: Option<Effect>,
}

impl Confirmation {
    /// Returns the outcome for the alarm.
    pub fn outcome(&self) -> Outcome {
        match &self.fresh {
            Ok(Fresh { verdict: Verdict::Slower, .. }) => Outcome::Confirmed,
            Ok(_) => Outcome::NotConfirmed,
            Err(_) => Outcome::NotMeasured,
        }
    }

    fn finding(&self, label: &str, stands_out: bool) -> Finding {
        let of = |name: &Option<String>| short(name.as_deref().unwrap_or("?")).to_owned();
        let (old, new) = (of(&self.against), of(&self.revision));
        let size = |fresh: &Fresh| {
            fresh.ratio.map_or_else(String::new, |ratio| {
                let ends = ratio.interval.map(|i| (i.lower, i.upper));
                format!(", {}", number::change(ratio.estimate, ends))
            })
        };
        let finding = match &self.fresh {
            Err(why) => {
                let message = match stands_out {
                    true => format!("whether {label} is worse stays open, unconfirmed: {why}"),
                    false => format!("the alarm about {label} stands, unconfirmed: {why}"),
                };
                Finding::new(code::ALARM_CONFIRMATION, message).at(Severity::Warning)
            }
            Ok(fresh @ Fresh { verdict: Verdict::Slower, .. }) => {
                let message = format!(
                    "a fresh run of {new} and {old}, alternately, also finds {label} worse{}",
                    size(fresh)
                );
                Finding::new(code::ALARM_CONFIRMATION, message)
            }
            Ok(fresh) => {
                let (said, so) = match fresh.verdict {
                    Verdict::Inconclusive => ("can't tell", "it is not known whether it is worse"),
                    Verdict::Faster => ("finds it better", "no alarm"),
                    _ => ("finds no difference that matters", "no alarm"),
                };
                let message = format!(
                    "{label} was outside the normal range, but a fresh run of {new} and {old}, alternately, {said}{}: {so}",
                    size(fresh)
                );
                let found = Finding::new(code::ALARM_CONFIRMATION, message).at(Severity::Warning);
                match fresh.verdict {
                    Verdict::Inconclusive => found.advise(Action::MeasureLonger { seconds: None }),
                    _ => found.advise(Action::CheckMachine),
                }
            }
        };
        let finding = finding.about(label);
        match self.fresh.as_ref().ok().and_then(|fresh| fresh.ratio) {
            Some(ratio) => finding.with("ratio", ratio.estimate),
            None => finding,
        }
    }
}

impl Gate {
    /// Records the result of a fresh run for the benchmark at index `place`. If it does not confirm
    /// the alarm, the benchmark becomes normal or inconclusive, according to the fresh run.
    pub fn settle(&mut self, place: usize, confirmation: Confirmation) {
        let Some(label) = self.judged.get(place).map(|judged| self.label(judged)) else { return };
        let judged = &mut self.judged[place];
        self.findings.push(confirmation.finding(&label, judged.stands_out));
        if let Ok(fresh) = &confirmation.fresh {
            judged.stands_out = false;
            judged.standing = match fresh.verdict {
                Verdict::Slower => Standing::Worse,
                Verdict::Inconclusive => Standing::Inconclusive,
                Verdict::Faster | Verdict::Equivalent => Standing::Normal,
            };
        }
        judged.confirmation = Some(confirmation);
    }

    /// Returns the number of alarms that a fresh run did not confirm.
    pub fn unconfirmed(&self) -> usize {
        let not = |judged: &&super::Judged| {
            judged.confirmation.as_ref().map(Confirmation::outcome) == Some(Outcome::NotConfirmed)
        };
        self.judged.iter().filter(not).count()
    }
}
