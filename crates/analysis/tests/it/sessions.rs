//! Guarantees of a session, tested with a fake source that drives the clock: order, recording,
//! retries, interruption, failures, counting and resuming.
#![allow(clippy::unwrap_used)]

use assay_analysis::engine::{Limits, Phase, Recorder, Session};
use assay_data::code;
use assay_data::source::{
    Failure, Layout, Measured, Obstacle, OfRow, Purpose, RowResult, Turn, Unit,
};
use assay_data::{
    Environment, Finding, Inner, Metric, Observation, Plan, Row, Samples, Side, Source, StopReason,
    StopRule, Subject, Threshold,
};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

/// Units of two sides with these numbers of rows. A run takes one second on the first side, two on
/// the second.
struct Pretended<'a> {
    clock: &'a Cell<f64>,
    rows: Vec<usize>,
    metrics: Vec<Metric>,
    turns: Vec<Turn>,
    /// Outcomes of the turns with these numbers, instead of values.
    odd: Vec<(usize, Odd)>,
    asked: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum Odd {
    Lost,
    Interrupted,
    OutOfTime,
    Broken,
    Failed,
    LateMetric,
}

impl<'a> Pretended<'a> {
    fn new(clock: &'a Cell<f64>, rows: &[usize]) -> Self {
        Self {
            clock,
            rows: rows.to_vec(),
            metrics: vec![Metric::wall()],
            turns: Vec::new(),
            odd: Vec::new(),
            asked: 0,
        }
    }

    fn with(mut self, odd: &[(usize, Odd)]) -> Self {
        self.odd = odd.to_vec();
        self
    }
}

impl Source for Pretended<'_> {
    type Error = String;

    fn layout(&self) -> Layout {
        let side = |name: &str| Side { name: name.to_owned(), ..Side::default() };
        let mut layout = Layout { sides: vec![side("old"), side("new")], ..Layout::default() };
        for (unit, &rows) in self.rows.iter().enumerate() {
            let mut places = Vec::new();
            let first_row = layout.rows.len();
            let row = |row| Row { name: format!("{unit}.{row}"), ..Row::default() };
            layout.rows.extend((0..rows).map(row));
            for (index, side) in ["old", "new"].into_iter().enumerate() {
                let first = layout.subjects.len();
                places.push((first..first + rows).collect());
                let name = |row| format!("{side}: {unit}.{row}");
                let subject = |row| Subject {
                    side: index,
                    row: first_row + row,
                    name: name(row),
                    ..Subject::default()
                };
                layout.subjects.extend((0..rows).map(subject));
            }
            layout.units.push(Unit::against_the_first(places));
        }
        layout
    }

    fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    fn measure(&mut self, turn: &Turn) -> Result<Measured, Obstacle<String>> {
        self.asked += 1;
        let took = (1.0 + turn.place as f64) * (1.0 + f64::from(turn.block % 7) / 1000.0);
        self.clock.set(self.clock.get() + took);
        let odd = self.odd.iter().find(|(at, _)| *at == self.asked).map(|(_, odd)| *odd);
        match odd {
            Some(Odd::Lost) => return Err(Obstacle::Lost),
            Some(Odd::Interrupted) => return Err(Obstacle::Interrupted),
            Some(Odd::OutOfTime) => return Err(Obstacle::OutOfTime),
            Some(Odd::Broken) => return Err("it is broken".to_owned().into()),
            Some(Odd::Failed) => return Ok(Measured::failed(0, "broke".to_owned())),
            Some(Odd::LateMetric) => self.metrics.push(Metric::lower("late", Metric::wall().unit)),
            None => {}
        }
        self.turns.push(*turn);
        let mut values = vec![took];
        values.resize(self.metrics.len(), 7.0);
        let row = |row| RowResult {
            row: OfRow::Known(row),
            values: values.clone(),
            ..RowResult::default()
        };
        let rows = (0..self.rows[turn.unit]).map(row).collect();
        Ok(Measured { rows, ..Measured::default() })
    }

    fn findings(&self, _: &Samples, failures: &[Failure]) -> Vec<Finding> {
        let found = |f: &Failure| format!("unit {} row {} {}", f.turn.unit, f.row, f.how);
        let finding = |f| Finding::new(code::LAYOUT, found(f)).at(assay_data::Severity::Warning);
        failures.iter().map(finding).collect()
    }
}

/// A recorder that stores its calls.
#[derive(Clone, Default)]
struct Remembered<'a>(Option<&'a RefCell<Vec<String>>>);

impl Remembered<'_> {
    fn note(&self, what: String) {
        self.0.iter().for_each(|all| all.borrow_mut().push(what.clone()));
    }
}

impl Recorder for Remembered<'_> {
    fn metric(&mut self, metric: &Metric) {
        self.note(format!("metric {}", metric.name));
    }

    fn row(&mut self, row: &Row) {
        self.note(format!("row {}", row.name));
    }

    fn subject(&mut self, subject: &Subject) {
        self.note(format!("subject {}", subject.name));
    }

    fn observation(&mut self, o: &Observation) {
        self.note(format!("run of {} in block {:?}", o.subject, o.block));
    }

    fn histogram(&mut self, _: &assay_data::samples::Buckets) {}
    fn counts(&mut self, _: &assay_data::samples::Counts) {}
    fn inner(&mut self, inner: &Inner) {
        self.note(format!("inner {}", inner.metric));
    }

    fn finding(&mut self, finding: &Finding) {
        self.note(format!("finding {}", finding.message));
    }

    fn end(&mut self, _: &Environment, reason: StopReason, blocks: u32) {
        self.note(format!("{reason:?} after {blocks}"));
    }
}

fn plan(stop: StopRule) -> Plan {
    Plan { stop, ..Plan::sequential(0.95, Threshold::default(), 3) }
}

fn fixed(blocks: u32) -> Plan {
    Plan { budget_seconds: None, ..plan(StopRule::Fixed { blocks }) }
}

fn session<'a>(source: Pretended<'a>) -> Session<'a, Pretended<'a>> {
    let clock = source.clock;
    Session::unrecorded(source, || clock.get())
}

#[test]
fn a_whole_session_warms_up_measures_until_it_is_clear_and_counts() {
    let (clock, said) = (Cell::new(100.0), RefCell::new(Vec::new()));
    let source = Pretended::new(&clock, &[1]);
    let mut session = Session::<_, Remembered<'_>>::new(source, || clock.get());
    let warm = session.warm_up(2, 3, &mut |_| ()).unwrap();
    assert_eq!(warm, Phase { reason: StopReason::Blocks, block_seconds: Some(3.0) });
    assert!(session.samples.is_empty());
    session.begin(&Plan::sequential(0.95, Threshold::default(), 3), 0, Limits::default());
    session.recorder = Some(Remembered(Some(&said)));
    let mut seen = Vec::new();
    let phase = session.measure(&mut |s| seen.push((s.experiment.blocks(), s.seconds))).unwrap();
    assert_eq!(phase.reason, StopReason::Clear);
    assert_eq!(session.samples.complete_blocks(0).len(), 10);
    assert_eq!((seen[0], seen.len()), ((0, 0.0), 20));
    session.count(assay_data::Pass::Exact, 2, &mut |_| ()).unwrap();
    session.close(phase.reason, Environment::default());
    let purposes: BTreeSet<String> =
        session.source.turns.iter().map(|turn| format!("{:?}", turn.purpose)).collect();
    assert_eq!(purposes.into_iter().collect::<Vec<_>>(), ["Count(Exact)", "Measure", "WarmUp"]);
    let said = said.borrow();
    assert_eq!(said.iter().filter(|line| line.starts_with("run")).count(), 24);
    assert!(said.last().unwrap().starts_with("Clear after"), "{said:?}");
    let times: Vec<f64> = session.samples.observations().filter_map(|o| o.time).collect();
    assert_eq!((times[0], times.len()), (0.0, 20));
    assert!(times.windows(2).all(|two| two[0] < two[1]));
}

#[test]
fn counting_draws_random_orders_too() {
    let clock = Cell::new(0.0);
    let mut session = session(Pretended::new(&clock, &[1]));
    session.begin(&fixed(1), 0, Limits::default());
    session.count(assay_data::Pass::Exact, 200, &mut |_| ()).unwrap();
    let first: Vec<usize> =
        session.source.turns.iter().filter(|t| t.position == 0).map(|t| t.place).collect();
    let new_first = first.iter().filter(|&&place| place == 1).count();
    // Five standard deviations around 100.
    assert!((65..135).contains(&new_first), "{new_first}");
    let alternations = first.windows(2).filter(|two| two[0] != two[1]).count();
    assert!((65..135).contains(&alternations), "{alternations}");
}

#[test]
fn a_lost_run_is_taken_again_and_told() {
    let clock = Cell::new(0.0);
    let mut session = session(Pretended::new(&clock, &[1]).with(&[(3, Odd::Lost)]));
    session.begin(&fixed(4), 0, Limits::default());
    let phase = session.measure(&mut |_| ()).unwrap();
    session.close(phase.reason, Environment::default());
    assert_eq!((session.samples.len(), session.source.asked), (8, 9));
    assert_eq!(session.samples.findings[0].code, "INCOMPLETE_BLOCKS");
}

#[test]
fn what_was_measured_before_an_interruption_or_an_error_is_kept() {
    let clock = Cell::new(0.0);
    let mut halted = session(Pretended::new(&clock, &[1]).with(&[(4, Odd::Interrupted)]));
    halted.begin(&fixed(4), 0, Limits::default());
    assert_eq!(halted.measure(&mut |_| ()).unwrap().reason, StopReason::Interrupted);
    assert_eq!(halted.samples.len(), 3);
    let mut broken = session(Pretended::new(&clock, &[1]).with(&[(4, Odd::Broken)]));
    broken.begin(&fixed(4), 0, Limits::default());
    assert_eq!(broken.measure(&mut |_| ()), Err("it is broken".to_owned()));
    assert_eq!(broken.samples.len(), 3);
    let asked = Cell::new(0);
    let mut stopped = session(Pretended::new(&clock, &[1])).interrupted_by(|| {
        asked.set(asked.get() + 1);
        asked.get() == 2
    });
    stopped.begin(&fixed(4), 0, Limits::default());
    assert_eq!(stopped.measure(&mut |_| ()).unwrap().reason, StopReason::Interrupted);
    assert_eq!(stopped.samples.len(), 2);
}

#[test]
fn a_unit_that_fails_is_left_out_and_the_others_go_on() {
    let clock = Cell::new(0.0);
    let mut session = session(Pretended::new(&clock, &[1, 2, 1]).with(&[(9, Odd::Failed)]));
    session.begin(&fixed(5), 0, Limits::default());
    let phase = session.measure(&mut |_| ()).unwrap();
    session.close(phase.reason, Environment::default());
    assert_eq!(phase.reason, StopReason::Blocks);
    let failed = session.failures[0].turn.unit;
    let turns = |unit| session.source.turns.iter().filter(|t| t.unit == unit).count();
    for unit in 0..3 {
        assert_eq!(turns(unit) == 10, unit != failed, "{unit}");
    }
    assert_eq!(session.samples.findings[0].message, format!("unit {failed} row 0 broke"));
}

#[test]
fn a_metric_that_comes_late_is_recorded_before_its_first_value() {
    let (clock, said) = (Cell::new(0.0), RefCell::new(Vec::new()));
    let source = Pretended::new(&clock, &[1]).with(&[(2, Odd::LateMetric)]);
    let mut session = Session::<_, Remembered<'_>>::new(source, || clock.get());
    session.begin(&fixed(2), 0, Limits::default());
    session.recorder = Some(Remembered(Some(&said)));
    session.measure(&mut |_| ()).unwrap();
    assert_eq!(said.borrow()[1], "metric late");
    let late = session.samples.metric_index("late").unwrap();
    let late: Vec<f64> = session.samples.observations().map(|o| o.values[late]).collect();
    assert!(late[0].is_nan() && late[1..] == [7.0; 3]);
}

#[test]
fn metrics_are_known_before_warming_up_and_those_that_it_brings_after_it() {
    let clock = Cell::new(0.0);
    let mut session = session(Pretended::new(&clock, &[1]).with(&[(2, Odd::LateMetric)]));
    assert_eq!(session.samples.metric_index("wall"), Some(0));
    session.warm_up(1, 3, &mut |_| ()).unwrap();
    let late = session.samples.metric_index("late");
    assert_eq!(late, Some(1));
    session.begin(&fixed(2), late.unwrap(), Limits::default());
    session.measure(&mut |_| ()).unwrap();
    assert_eq!(session.samples.values(0, 1), [7.0; 2]);
}

#[test]
fn wherever_a_session_breaks_off_another_goes_on_to_the_same_samples() {
    for rows in [&[1][..], &[1, 1, 1]] {
        let clock = Cell::new(0.0);
        let sequential = Plan::sequential(0.95, Threshold::default(), 3);
        let until = Plan { budget_seconds: None, ..sequential };
        let mut whole = session(Pretended::new(&clock, rows));
        whole.begin(&until, 0, Limits { sharing: rows.len(), ..Limits::default() });
        whole.measure(&mut |_| ()).unwrap();
        for taken in 0..whole.samples.len() {
            let mut part = Samples::new(whole.samples.metrics.clone());
            part.subjects.clone_from(&whole.samples.subjects);
            whole.samples.observations().take(taken).for_each(|o| part.push(o));
            let mut again = session(Pretended::new(&clock, rows));
            again.begin(&until, 0, Limits { sharing: rows.len(), ..Limits::default() });
            assert_eq!(again.resume(part, 50.0), Ok(None), "{taken}");
            again.measure(&mut |_| ()).unwrap();
            let without_time = |samples: &Samples| {
                let observations = samples.observations();
                observations.map(|o| Observation { time: None, ..o }).collect::<Vec<_>>()
            };
            assert_eq!(without_time(&again.samples), without_time(&whole.samples), "{taken}");
            let first = again.samples.observation(taken).unwrap();
            assert_eq!(first.time, Some(50.0));
        }
    }
}

#[test]
fn a_source_without_time_for_a_turn_ends_the_session_and_what_it_gave_is_kept() {
    let clock = Cell::new(0.0);
    let mut session = session(Pretended::new(&clock, &[1]).with(&[(4, Odd::OutOfTime)]));
    let plan = Plan { budget_seconds: Some(20.0), ..plan(StopRule::Fixed { blocks: 100 }) };
    session.begin(&plan, 0, Limits::default());
    assert_eq!(session.measure(&mut |_| ()).unwrap().reason, StopReason::Budget);
    assert_eq!(session.samples.len(), 3);
}

#[test]
fn the_budget_is_held_to_by_the_clock_that_is_handed_in() {
    let clock = Cell::new(0.0);
    let mut session = session(Pretended::new(&clock, &[1]));
    let plan = Plan { budget_seconds: Some(20.0), ..plan(StopRule::Fixed { blocks: 100 }) };
    session.begin(&plan, 0, Limits::default());
    assert_eq!(session.measure(&mut |_| ()).unwrap().reason, StopReason::Budget);
    // A block takes three seconds.
    assert_eq!(session.samples.complete_blocks(0).len(), 6);
    assert!(session.source.turns.iter().all(|turn| turn.purpose == Purpose::Measure));
}
