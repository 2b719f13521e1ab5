//! Small searches with known answers. The program `examples/bisect.rs` simulates the success rate
//! of searches.

use super::*;
use crate::design::{Experiment, Step};
use assay_data::source::Unit;
use assay_data::{Observation, Threshold};
use assay_stats::resampling::Stream;

/// A simulated search over places with given levels and noise. Places in `broken` fail.
struct Simulated {
    levels: Vec<f64>,
    noise: f64,
    broken: Vec<usize>,
    most: u32,
}

impl Simulated {
    fn plan(&self) -> Plan {
        let stop = StopRule::Sequential { look_level: 0.002, max_blocks: self.most };
        Plan { stop, budget_seconds: None, ..Plan::sequential(0.95, Threshold::default(), 3) }
    }

    fn experiment(&self) -> Experiment {
        let references: Vec<Option<usize>> =
            (0..self.levels.len()).map(|place| (place > 0).then_some(0)).collect();
        let unit = Unit { search: true, ..Unit::of_subjects(&references) };
        Experiment::of_units(self.plan(), &[unit]).of_metric(&Metric::wall())
    }

    fn samples(&self) -> Samples {
        let mut samples = Samples::new(vec![Metric::wall()]);
        (0..self.levels.len()).for_each(|place| {
            samples.add_subject(&place.to_string());
        });
        samples
    }

    /// Continues a search until it stops, and returns the reason. The noise of a run depends only
    /// on its block and place.
    fn go_on(&self, experiment: &mut Experiment, samples: &mut Samples) -> StopReason {
        let mut seconds = 0.0;
        loop {
            let Some(turn) = experiment.next_turn() else { return StopReason::Clear };
            let step = if self.broken.contains(&turn.place) {
                experiment.fail(turn, seconds)
            } else {
                let mut stream = Stream::new(u64::from(turn.block), turn.place as u64);
                let value = (self.levels[turn.place] + self.noise * stream.normal()).exp();
                seconds += 1.0;
                samples.push(Observation {
                    subject: turn.place,
                    block: Some(turn.block),
                    position: Some(turn.position),
                    values: vec![value],
                    ..Observation::default()
                });
                experiment.observe(turn, &[value], seconds)
            };
            if let Step::Stop(why) = step {
                return why;
            }
        }
    }

    fn found(&self) -> (Bisected, StopReason, Samples) {
        let mut samples = self.samples();
        let why = self.go_on(&mut self.experiment(), &mut samples);
        samples.stop = Some(why);
        (Bisected::of(&samples, 0, &self.plan(), &self.broken), why, samples)
    }
}

fn step(places: usize, at: usize, change: f64) -> Simulated {
    let levels = (0..places).map(|place| if place >= at { change } else { 0.0 }).collect();
    Simulated { levels, noise: 0.02, broken: Vec::new(), most: 2000 }
}

#[test]
fn the_commit_is_found_with_few_builds() {
    let (found, why, _) = step(40, 23, 0.05).found();
    let (best, pair) = found.best.expect("a candidate");
    assert_eq!((found.outcome, why), (Outcome::Found, StopReason::Clear));
    assert_eq!((best.after, best.at), (22, 23));
    assert!(best.probability >= 0.95 && pair.blocks >= policy::BISECT_PAIRS, "{pair:?}");
    assert!((pair.estimate - 0.05).abs() < 0.02 && found.measured <= 16, "{found:?}");
}

#[test]
fn an_improvement_is_found_as_well_and_ends_side_by_side() {
    for (places, at) in [(2, 1), (3, 2), (9, 1), (9, 8)] {
        let (found, ..) = step(places, at, -0.08).found();
        let (best, pair) = found.best.expect("a candidate");
        assert_eq!((found.outcome, best.at), (Outcome::Found, at));
        assert!(pair.interval.is_some_and(|i| i.upper < 0.0), "{pair:?}");
    }
}

#[test]
fn where_the_ends_do_not_differ_nothing_is_searched() {
    let (found, why, _) = step(30, 12, 0.0).found();
    assert_eq!((found.outcome, why, found.measured), (Outcome::Unchanged, StopReason::Clear, 2));
    let (found, why, _) = Simulated { most: 12, noise: 0.5, ..step(30, 12, 0.0) }.found();
    assert_eq!((found.outcome, why), (Outcome::EndsUnknown, StopReason::Blocks));
}

#[test]
fn ends_that_take_thousands_of_blocks_are_told_apart() {
    // The recording gives the same result as the search.
    let simulated = Simulated { noise: 0.5, most: 60_000, ..step(3, 1, 0.06) };
    let (found, why, samples) = simulated.found();
    let is_of_ends = |own: &Observation| own.subject != 1;
    let ends = samples.observations().take_while(is_of_ends).count() / 2;
    assert!(ends > policy::BISECT_LOOKED as usize, "{ends}");
    assert_eq!((found.outcome, why), (Outcome::Found, StopReason::Clear), "{ends}");
    assert_eq!(found.best.expect("a candidate").0.at, 1);
}

#[test]
fn commits_that_fail_are_left_out_and_the_rest_is_narrowed() {
    let simulated = Simulated { broken: vec![9, 10, 11, 15], ..step(20, 10, 0.08) };
    let (found, ..) = simulated.found();
    let (best, _) = found.best.expect("a candidate");
    assert_eq!((found.outcome, best.after, best.at), (Outcome::Found, 8, 12));
}

#[test]
fn too_much_noise_is_said_with_what_is_left() {
    // Stops the search a fixed number of blocks after the two ends are known to differ.
    let simulated = Simulated { noise: 0.1, ..step(40, 23, 0.08) };
    let (_, _, whole) = simulated.found();
    let begun = whole.observations().find(|own| own.subject != 0 && own.subject != 39);
    let most = begun.and_then(|own| own.block).expect("a search") + 8;
    let (found, why, _) = Simulated { most, ..simulated }.found();
    assert_eq!((found.outcome, why), (Outcome::Unplaced, StopReason::Blocks));
    let all: f64 = found.candidates.iter().map(|c| c.probability).sum();
    assert!((all - 1.0).abs() < 1e-9 && found.blocks_left.is_some_and(|left| left > 0.0));
    assert!(found.candidates.windows(2).all(|two| two[0].probability >= two[1].probability));
}

#[test]
fn a_search_that_broke_off_goes_on_as_if_it_had_not() {
    let simulated = Simulated { broken: vec![7, 14], ..step(16, 8, 0.06) };
    let (_, why, whole) = simulated.found();
    for count in (0..whole.len()).step_by(7) {
        let mut part = simulated.samples();
        whole.observations().take(count).for_each(|own| part.push(own));
        let mut experiment = simulated.experiment();
        assert_eq!(experiment.replay(&part, 0), Ok(None), "{count}");
        assert_eq!(simulated.go_on(&mut experiment, &mut part), why, "{count}");
        let same = part.observations().eq(whole.observations());
        assert!(same, "{count}");
    }
    assert_eq!(simulated.experiment().replay(&whole, 0), Ok(Some(why)));
}

#[test]
fn anything_may_be_handed_in() {
    let mut search = Search::new(0, 0.95);
    search.skip(7);
    search.take(&[(9, 1.0), (0, f64::NAN)]);
    search.take(&[(0, -1.0), (1, 0.0)]);
    search.look(true);
    assert_eq!((search.next(), search.scale()), (vec![0, 1], Scale::Shift));
    let plan = step(3, 1, 0.1).plan();
    let found = Bisected::of(&Samples::default(), 0, &plan, &[]);
    assert_eq!((found.outcome, found.runs), (Outcome::EndsUnknown, 0));
}
