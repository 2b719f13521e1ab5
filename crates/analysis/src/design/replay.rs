//! Resumes a run: replays the recording through the experiment as if it were measured now.
//!
//! The random stream is drawn exactly as in the original run, so the run continues like an
//! uninterrupted one. This requires a recording of the same plan. An observation out of turn means
//! that the plan was different, and ends the replay with an error.

use super::{Experiment, Step, UnitState};
use assay_data::{Observation, Samples, StopReason, Turn};
use std::collections::BTreeMap;

/// Reasons why recorded observations can't belong to this experiment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// The experiment has already measured something.
    #[error("the experiment has begun; a recording can only be resumed at its beginning")]
    Begun,
    /// The number of subjects in the recording does not match the experiment.
    #[error("the recording holds {recorded} subjects, the experiment {planned}")]
    Subjects {
        /// Number of subjects in the recording.
        recorded: usize,
        /// Number of subjects of the experiment.
        planned: usize,
    },
    /// The recording does not contain the deciding metric.
    #[error("the recording has {recorded} metrics, and none at place {primary}")]
    Metric {
        /// Number of metrics in the recording.
        recorded: usize,
        /// Requested index of the deciding metric.
        primary: usize,
    },
    /// An observation is out of turn.
    #[error(
        "observation {observation} of the recording is not the one whose turn it was by the plan and its seed ({expected}): the file was changed, or measured in another way; measure again"
    )]
    Turn {
        /// Number of the observation, counted from 1.
        observation: usize,
        /// Description of the expected observation.
        expected: String,
    },
}

/// Computes the elapsed time after each run from the times at which runs started. A run is taken to
/// have ended when the next one started, and the last run to have lasted as long as the one before.
#[derive(Default)]
struct Watch {
    first: Option<f64>,
    took: f64,
}

impl Watch {
    /// Returns the seconds from the start of the first run to the end of the run that started at
    /// `own`; 0 if no times were recorded.
    fn seconds_at(&mut self, own: Option<f64>, next: Option<f64>) -> f64 {
        let Some(own) = own else { return 0.0 };
        let first = *self.first.get_or_insert(own);
        if let Some(next) = next {
            self.took = next - own;
        }
        own + self.took - first
    }
}

impl Experiment {
    /// Replays recorded observations in their order. The experiment then continues as if it had
    /// never stopped: with the same turns and pairs, and inside a block if the recording ends in
    /// one. From then on, the seconds passed to [`Experiment::observe`] count from the resumption,
    /// and the budget counts only the blocks since then. If one of several units ends early in the
    /// recording, it had failed and stays excluded.
    ///
    /// Returns the reason, if any, to stop at the end of the recording: all planned blocks taken, a
    /// clear answer, or the user's condition. `primary` is the index of the deciding metric.
    /// O(observations · look).
    ///
    /// # Errors
    ///
    /// Returns an error if the experiment has already begun, or if the recording has a different
    /// plan. The experiment must not be used afterwards.
    pub fn replay(
        &mut self,
        samples: &Samples,
        primary: usize,
    ) -> Result<Option<StopReason>, ReplayError> {
        if self.units.iter().any(|unit| unit.spent.blocks > 0 || unit.position > 0) {
            return Err(ReplayError::Begun);
        }
        let planned = self.units.iter().map(|unit| unit.rows.len() * unit.places()).sum();
        let recorded = samples.subjects.len();
        if recorded < planned || (recorded > planned && !self.discovers) {
            return Err(ReplayError::Subjects { recorded, planned });
        }
        if primary >= samples.metrics.len() {
            return Err(ReplayError::Metric { recorded: samples.metrics.len(), primary });
        }
        let timed = |(_, o): &(usize, Observation)| o.pass.is_none();
        let mut rest = samples.observations().enumerate().filter(timed).peekable();
        let unit_of: BTreeMap<usize, usize> = self.subjects().collect();
        let mut last_of_unit = vec![0; self.units.len()];
        for (index, observation) in samples.observations().enumerate().filter(timed) {
            if let Some(&unit) = unit_of.get(&observation.subject) {
                last_of_unit[unit] = index;
            }
        }
        let mut last = Step::Continue;
        let mut watch = Watch::default();
        while let Some(&(index, _)) = rest.peek() {
            if self.next_unit().is_none() {
                // The recording continues although all rows have stopped, so reopen them.
                self.rows().for_each(|row| row.stopped = None);
            }
            let Some(turn) = self.next_turn() else { break };
            let subjects = self.units[turn.unit].places[turn.place].clone();
            let discovers = self.discovers;
            let is_of_turn = |(_, o): &(usize, Observation)| {
                let known = subjects.contains(&o.subject);
                (o.block, o.position) == (Some(turn.block), Some(turn.position))
                    && (known || (discovers && !unit_of.contains_key(&o.subject)))
            };
            let mut values = vec![f64::NAN; subjects.len()];
            let (mut taken, mut own_time) = (0, None);
            while let Some((_, observation)) = rest.next_if(is_of_turn) {
                match subjects.iter().position(|&subject| subject == observation.subject) {
                    Some(row) => values[row] = observation.values[primary],
                    None => self.discover(samples.subjects[observation.subject].row),
                }
                own_time = own_time.or(observation.time);
                taken += 1;
            }
            if taken == 0 && self.units.len() > 1 && last_of_unit[turn.unit] < index {
                last = self.give_up(turn.unit, 0.0);
                continue;
            }
            if taken == 0 && self.units[turn.unit].search.is_some() && rest.peek().is_some() {
                last = self.fail(turn, 0.0);
                continue;
            }
            if taken < subjects.len() && rest.peek().is_some() {
                let expected = told(turn, subjects.get(taken).copied(), samples);
                return Err(ReplayError::Turn { observation: index + taken + 1, expected });
            }
            let next = rest.peek().and_then(|(_, observation)| observation.time);
            self.replayed_seconds = watch.seconds_at(own_time, next);
            // No time has passed since the run was resumed.
            last = self.observe(turn, &values, 0.0);
        }
        self.units.iter_mut().for_each(|unit| unit.replayed = unit.spent);
        Ok(match last {
            Step::Stop(StopReason::Budget) | Step::Continue => None,
            Step::Stop(reason) => Some(reason),
        })
    }

    /// Returns each subject with the unit that measures it.
    fn subjects(&self) -> impl Iterator<Item = (usize, usize)> {
        let of_unit = |(index, unit): (usize, &UnitState)| {
            unit.places.iter().flatten().map(|&s| (s, index)).collect::<Vec<_>>()
        };
        self.units.iter().enumerate().flat_map(of_unit)
    }
}

fn told(turn: Turn, subject: Option<usize>, samples: &Samples) -> String {
    let subject = subject.and_then(|subject| samples.subjects.get(subject));
    let name = subject.map_or("", |subject| subject.name.as_str());
    format!("block {}, place {}, `{name}`", turn.block + 1, turn.position + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_data::source::{Purpose, Unit};
    use assay_data::{Metric, Plan, StopRule, Threshold};

    fn plan(stop: StopRule) -> Plan {
        Plan { stop, ..Plan::sequential(0.95, Threshold::default(), 11) }
    }

    fn empty(subjects: usize) -> Samples {
        let mut samples = Samples::new(vec![Metric::wall()]);
        (0..subjects).for_each(|s| {
            samples.add_subject(&format!("s{s}"));
        });
        samples
    }

    fn value(turn: Turn) -> f64 {
        (1.0 + turn.place as f64) * (1.0 + f64::from((turn.block * 5 + 3) % 17) / 100.0)
    }

    fn recorded(turn: Turn) -> Observation {
        Observation {
            subject: turn.place,
            block: Some(turn.block),
            position: Some(turn.position),
            time: Some(0.0),
            values: vec![value(turn)],
            ..Observation::default()
        }
    }

    /// Measures until it stops, and returns the turns and the reason.
    fn measure(experiment: &mut Experiment, samples: &mut Samples) -> (Vec<Turn>, StopReason) {
        let mut turns = Vec::new();
        loop {
            let turn = experiment.next_turn().expect("something is open");
            turns.push(turn);
            samples.push(recorded(turn));
            if let Step::Stop(reason) = experiment.observe(turn, &[value(turn)], 0.0) {
                return (turns, reason);
            }
        }
    }

    fn first(whole: &Samples, count: usize) -> Samples {
        let mut part = empty(whole.subjects.len());
        whole.observations().take(count).for_each(|o| part.push(o));
        part
    }

    #[test]
    fn wherever_a_run_breaks_off_it_goes_on_as_if_it_had_not() {
        let sequential = StopRule::Sequential { look_level: 0.002, max_blocks: 40 };
        let references: [&[Option<usize>]; 3] =
            [&[None], &[None, Some(0), Some(0)], &[None, Some(0), None, Some(2)]];
        for stop in [sequential, StopRule::Fixed { blocks: 9 }] {
            for references in references {
                let begin = || Experiment::against(plan(stop.clone()), references);
                let mut whole = empty(references.len());
                let (turns, reason) = measure(&mut begin(), &mut whole);
                for count in 0..turns.len() {
                    let mut part = first(&whole, count);
                    let mut experiment = begin();
                    assert_eq!(experiment.replay(&part, 0), Ok(None), "{count}");
                    let (rest, end) = measure(&mut experiment, &mut part);
                    assert_eq!((rest.as_slice(), end), (&turns[count..], reason), "{count}");
                    assert_eq!(part, whole);
                }
                assert_eq!(begin().replay(&whole, 0), Ok(Some(reason)));
            }
        }
    }

    #[test]
    fn the_budget_counts_only_what_was_measured_since() {
        let budget = Plan { budget_seconds: Some(10.0), ..plan(StopRule::Fixed { blocks: 100 }) };
        let mut samples = empty(1);
        (0..50).for_each(|block| {
            let purpose = Purpose::Measure;
            let turn =
                Turn { unit: 0, place: 0, block, position: 0, padding: 0, build: 0, purpose };
            samples.push(recorded(turn));
        });
        let mut experiment = Experiment::new(budget, 1);
        assert_eq!(experiment.replay(&samples, 0), Ok(None));
        let turn = experiment.next_turn().expect("it goes on");
        assert_eq!(experiment.observe(turn, &[1.0], 6.0), Step::Stop(StopReason::Budget));
    }

    #[test]
    fn a_recording_of_another_plan_is_refused_at_its_first_strange_turn() {
        let mut whole = empty(3);
        let stop = StopRule::Fixed { blocks: 9 };
        measure(&mut Experiment::new(plan(stop.clone()), 3), &mut whole);
        let mut other = Experiment::new(Plan { seed: 12, ..plan(stop.clone()) }, 3);
        assert!(matches!(
            other.replay(&whole, 0),
            Err(ReplayError::Turn { observation: 1..=9, .. })
        ));
        let mut gap = empty(3);
        whole.observations().skip(1).for_each(|o| gap.push(o));
        let found = Experiment::new(plan(stop.clone()), 3).replay(&gap, 0);
        assert!(matches!(found, Err(ReplayError::Turn { observation: 1, .. })));
        let found = Experiment::new(plan(stop.clone()), 2).replay(&whole, 0);
        assert_eq!(found, Err(ReplayError::Subjects { recorded: 3, planned: 2 }));
        let mut begun = Experiment::new(plan(stop.clone()), 3);
        assert_eq!(begun.replay(&first(&whole, 1), 0), Ok(None));
        assert_eq!(begun.replay(&whole, 0), Err(ReplayError::Begun));
        let found = Experiment::new(plan(stop), 3).replay(&whole, 7);
        assert_eq!(found, Err(ReplayError::Metric { recorded: 1, primary: 7 }));
    }
    /// Three units of two sides; each run of the second measures two rows.
    fn suite() -> (Samples, Vec<Unit>) {
        let unit = |places: &[&[usize]]| {
            Unit::against_the_first(places.iter().map(|rows| rows.to_vec()).collect())
        };
        let units = vec![unit(&[&[0], &[1]]), unit(&[&[2, 3], &[4, 5]]), unit(&[&[6], &[7]])];
        (empty(8), units)
    }

    /// Measures a suite whose last unit fails after `until_failure` turns; returns the turns.
    fn measure_suite(
        experiment: &mut Experiment,
        units: &[Unit],
        samples: &mut Samples,
        mut until_failure: usize,
    ) -> Vec<Turn> {
        let mut turns = Vec::new();
        while let Some(turn) = experiment.next_turn() {
            turns.push(turn);
            if turn.unit == 2 {
                if until_failure == 0 {
                    experiment.give_up(turn.unit, 0.0);
                    continue;
                }
                until_failure -= 1;
            }
            let subjects = &units[turn.unit].places[turn.place];
            for &subject in subjects {
                samples.push(Observation { subject, ..recorded(turn) });
            }
            experiment.observe(turn, &vec![value(turn); subjects.len()], 0.0);
        }
        turns
    }

    #[test]
    fn a_suite_goes_on_too_and_what_failed_in_it_stays_left_out() {
        let plan = plan(StopRule::Fixed { blocks: 4 });
        let (mut whole, units) = suite();
        let mut experiment = Experiment::of_units(plan.clone(), &units);
        measure_suite(&mut experiment, &units, &mut whole, 3);
        for count in (0..=whole.len()).filter(|&count| {
            // A cut between the values of one run cannot occur.
            whole.observation(count).is_none_or(|o| o.subject != 3 && o.subject != 5)
        }) {
            let (mut part, _) = suite();
            whole.observations().take(count).for_each(|o| part.push(o));
            let tried = part.observations().filter(|o| o.subject >= 6).count();
            let mut experiment = Experiment::of_units(plan.clone(), &units);
            assert!(experiment.replay(&part, 0).is_ok(), "{count}");
            measure_suite(&mut experiment, &units, &mut part, 3 - tried);
            assert_eq!(part, whole, "{count}");
        }
    }
}
