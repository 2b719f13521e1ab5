//! Taking up a run again: what was recorded is fed through the experiment as if it were measured now.
//!
//! The random stream is drawn exactly as then, so that what follows is what would have followed. That only holds if the recording
//! is one of this plan; an observation that is not the one whose turn it is shows that it is not, and stops it.

use super::{Experiment, Step, Turn};
use assay_data::{Samples, StopReason};

/// Why recorded observations can't be those of this experiment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// The experiment has measured something already.
    #[error("the experiment has begun; a recording can only be taken up at its beginning")]
    Begun,
    /// The samples hold other subjects.
    #[error("the recording holds {recorded} subjects, the experiment {planned}")]
    Subjects {
        /// Subjects in the recording.
        recorded: usize,
        /// Subjects of the experiment.
        planned: usize,
    },
    /// The recording does not hold the metric that decides.
    #[error("the recording has {recorded} metrics, and none at place {primary}")]
    Metric {
        /// Metrics in the recording.
        recorded: usize,
        /// Index asked for.
        primary: usize,
    },
    /// An observation is not the one whose turn it was.
    #[error(
        "observation {observation} of the recording is not the one whose turn it was by the plan and its seed ({expected}): the file was changed, or measured in another way; measure anew"
    )]
    Turn {
        /// Which observation, counted from 1.
        observation: usize,
        /// What it should have been, in words.
        expected: String,
    },
}

impl Experiment {
    /// Feeds recorded observations, in their order, through the experiment, which then goes on as if it had never stopped: the
    /// same turns, the same pairs, inside a block where one broke off. The seconds handed to [`Experiment::observe`] from here on
    /// are those since taking up again, and the budget counts only the blocks since then.
    ///
    /// Gives back what would have stopped the run at its end: all planned blocks taken, a clear answer, the user's condition. It
    /// may be measured on all the same. `primary` is the index of the metric that decides. O(observations · look).
    ///
    /// # Errors
    /// When the experiment has begun, or when the recording is not one of this plan. The experiment is then of no use any more.
    pub fn replay(
        &mut self,
        samples: &Samples,
        primary: usize,
    ) -> Result<Option<StopReason>, ReplayError> {
        if self.blocks > 0 || self.place > 0 {
            return Err(ReplayError::Begun);
        }
        let (recorded, planned) = (samples.subjects.len(), self.order.len());
        if recorded != planned {
            return Err(ReplayError::Subjects { recorded, planned });
        }
        if primary >= samples.metrics.len() {
            return Err(ReplayError::Metric { recorded: samples.metrics.len(), primary });
        }
        // Runs that counted stand between those of the experiment, with blocks of their own.
        let counting = samples.counting_blocks();
        let own_block = |block: u32| block - counting.range(..block).count() as u32;
        let mut last = Step::Continue;
        for (index, observation) in samples.observations().enumerate() {
            if observation.block.is_some_and(|block| counting.contains(&block)) {
                continue;
            }
            let turn = self.next_turn();
            let found =
                (observation.block.map(own_block), observation.position, observation.subject);
            if found != (Some(turn.block), Some(turn.position), turn.subject) {
                let expected = told(turn, samples);
                return Err(ReplayError::Turn { observation: index + 1, expected });
            }
            // No time has passed since the run was taken up again.
            last = self.observe(turn, observation.values[primary], 0.0);
        }
        self.replayed = self.blocks;
        Ok(match last {
            Step::Stop(StopReason::Budget) | Step::Continue => None,
            Step::Stop(reason) => Some(reason),
        })
    }
}

fn told(turn: Turn, samples: &Samples) -> String {
    let name = samples.subjects.get(turn.subject).map_or("", |subject| subject.name.as_str());
    format!("block {}, place {}, `{name}`", turn.block + 1, turn.position + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_data::{Metric, Observation, Plan, StopRule, Threshold};

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
        (1.0 + turn.subject as f64) * (1.0 + f64::from((turn.block * 5 + 3) % 17) / 100.0)
    }

    fn recorded(turn: Turn) -> Observation {
        Observation {
            subject: turn.subject,
            block: Some(turn.block),
            position: Some(turn.position),
            time: Some(0.0),
            values: vec![value(turn)],
            ..Observation::default()
        }
    }

    /// Measures until it stops and gives the turns with the reason.
    fn measure(experiment: &mut Experiment, samples: &mut Samples) -> (Vec<Turn>, StopReason) {
        let mut turns = Vec::new();
        loop {
            let turn = experiment.next_turn();
            turns.push(turn);
            samples.push(recorded(turn));
            if let Step::Stop(reason) = experiment.observe(turn, value(turn), 0.0) {
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
            samples.push(recorded(Turn { subject: 0, block, position: 0, padding: 0 }));
        });
        let mut experiment = Experiment::new(budget, 1);
        assert_eq!(experiment.replay(&samples, 0), Ok(None));
        let turn = experiment.next_turn();
        assert_eq!(experiment.observe(turn, 1.0, 6.0), Step::Stop(StopReason::Budget));
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
}
