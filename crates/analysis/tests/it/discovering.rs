//! Rows discovered by runs, such as the tests of a suite: they are recorded as they appear and
//! recognized later, but only the named total decides.
#![allow(clippy::unwrap_used)]

use assay_analysis::engine::{Limits, Recorder, Session};
use assay_analysis::{Options, Verdict, analyse};
use assay_data::assay_file::{self, Header, Writer};
use assay_data::source::{Layout, Measured, Obstacle, OfRow, RowResult, Turn, Unit};
use assay_data::{
    Environment, Finding, Inner, Metric, Observation, Plan, Row, Samples, Side, Source, StopReason,
    Subject, Threshold,
};
use std::cell::Cell;
use std::convert::Infallible;
use std::fs::File;
use std::path::Path;

const TOTAL: &str = "(whole suite)";

/// A test suite under two settings, the new one taking half the time. `parses` is always present,
/// `sends` only under the new setting, `late` from the fourth block on; `flickers` has a value in
/// every other block, and its times give no verdict.
struct Suite<'a> {
    clock: &'a Cell<f64>,
    metrics: [Metric; 1],
}

impl<'a> Suite<'a> {
    fn new(clock: &'a Cell<f64>) -> Self {
        Self { clock, metrics: [Metric::wall()] }
    }
}

fn row(name: &str) -> Row {
    Row { name: name.to_owned(), noun: Some("test".to_owned()), ..Row::default() }
}

impl Source for Suite<'_> {
    type Error = Infallible;

    fn layout(&self) -> Layout {
        let sides =
            ["plain", "gc off"].map(|name| Side { name: name.to_owned(), ..Side::default() });
        let of = |(side, own): (usize, &Side)| Subject {
            side,
            name: format!("{}: {TOTAL}", own.name),
            against: Some(0),
            ..Subject::default()
        };
        Layout {
            subjects: sides.iter().enumerate().map(of).collect(),
            sides: sides.to_vec(),
            rows: vec![row(TOTAL)],
            units: vec![Unit::of_subjects(&[None, Some(0)]).discovering()],
        }
    }

    fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    fn measure(&mut self, turn: &Turn) -> Result<Measured, Obstacle<Infallible>> {
        let wobble = 1.0 + f64::from((turn.block * 5 + turn.place as u32 * 3) % 7) / 1000.0;
        let took = [2.0, 1.0][turn.place] * wobble;
        self.clock.set(self.clock.get() + took);
        let mut rows = vec![RowResult { values: vec![took], ..RowResult::default() }];
        let mut give = |name: &str, seconds: f64| {
            let row = OfRow::Discovered(row(name));
            rows.push(RowResult { row, values: vec![seconds], ..RowResult::default() });
        };
        give("parses", took / 2.0);
        // Of two tests with the same name, the second is ignored.
        give("parses", 77.0);
        if turn.place == 1 {
            give("sends", took / 10.0);
        }
        if turn.block >= 3 {
            give("late", took / 5.0);
        }
        if turn.block.is_multiple_of(2) {
            give("flickers", f64::from(turn.block * 37 % 11 + 1) * wobble);
        }
        Ok(Measured { rows, ..Measured::default() })
    }
}

/// Records to a file, and simulates a crash at a given record number.
struct Filed {
    writer: Writer<File>,
    left: usize,
}

impl Filed {
    fn write(&mut self, step: impl FnOnce(&mut Writer<File>) -> std::io::Result<()>) {
        if self.left > 0 {
            self.left -= 1;
            step(&mut self.writer).unwrap();
        }
    }
}

impl Recorder for Filed {
    fn metric(&mut self, metric: &Metric) {
        self.write(|writer| writer.metric(metric));
    }

    fn row(&mut self, row: &Row) {
        self.write(|writer| writer.row(row));
    }

    fn subject(&mut self, subject: &Subject) {
        self.write(|writer| writer.subject(subject));
    }

    fn observation(&mut self, observation: &Observation) {
        self.write(|writer| writer.observe(observation));
    }

    fn histogram(&mut self, _: &assay_data::samples::Buckets) {}
    fn counts(&mut self, _: &assay_data::samples::Counts) {}
    fn inner(&mut self, inner: &Inner) {
        self.write(|writer| writer.inner(inner));
    }

    fn finding(&mut self, finding: &Finding) {
        self.write(|writer| writer.finding(finding));
    }

    fn end(&mut self, _: &Environment, reason: StopReason, blocks: u32) {
        self.write(|writer| writer.stop(reason, blocks));
    }
}

/// Measures the suite, recorded in the file up to the record with this number; resumes the existing
/// contents of the file.
fn measure(path: &Path, records: usize) -> (Samples, StopReason) {
    let clock = Cell::new(0.0);
    let mut session = Session::<_, Filed>::new(Suite::new(&clock), || clock.get());
    let plan = Plan { budget_seconds: None, ..Plan::sequential(0.95, Threshold::default(), 5) };
    session.begin(&plan, 0, Limits { sharing: 1, ..Limits::default() });
    if path.exists() {
        let (recorded, writer) = assay_file::resume(path).unwrap();
        session.recorder = Some(Filed { writer, left: records });
        assert_eq!(session.resume(recorded, 0.0), Ok(None));
    } else {
        let file = File::create(path).unwrap();
        let writer = Writer::start(file, &Header::of(&session.samples), &session.samples).unwrap();
        session.recorder = Some(Filed { writer, left: records });
    }
    let Ok(phase) = session.measure(&mut |_| ());
    session.close(phase.reason, Environment::default());
    (session.samples, phase.reason)
}

fn value(samples: &Samples, name: &str) -> Vec<f64> {
    let subject = samples.subjects.iter().position(|subject| subject.name == name).unwrap();
    samples.values(subject, 0)
}

#[test]
fn rows_that_come_are_subjects_of_every_side_and_the_total_decides_alone() {
    let room = tempfile::tempdir().unwrap();
    let path = room.path().join("suite.assay");
    let (samples, reason) = measure(&path, usize::MAX);
    // If `flickers` decided, measuring would continue to the end of the plan; the total alone has
    // its answer after ten blocks.
    let blocks = value(&samples, &format!("plain: {TOTAL}")).len();
    assert_eq!((reason, blocks), (StopReason::Clear, 12));
    let rows: Vec<&str> = samples.rows.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(rows.len(), 5);
    assert_eq!((rows[0], rows[4]), (TOTAL, "late"));
    assert_eq!(samples.subjects.len(), 10);
    for subject in &samples.subjects {
        let reference = &samples.subjects[subject.against.unwrap()];
        assert_eq!((reference.side, reference.row), (0, subject.row), "{}", subject.name);
    }
    let late = value(&samples, "gc off: late");
    assert_eq!((late.len(), value(&samples, "plain: sends").len()), (9, 0));
    assert!(value(&samples, "plain: parses").iter().all(|&seconds| seconds < 2.0));
    // The file has the same contents.
    let read = assay_file::read(&path).unwrap();
    assert_eq!((&read.rows, &read.subjects), (&samples.rows, &samples.subjects));
    assert!(read.observations().eq(samples.observations()));
    let analysis = analyse(&read, &Options::default()).unwrap();
    let verdict = |name: &str| {
        let of_row = |c: &&assay_analysis::Comparison| analysis.row_of(c).name == name;
        analysis.comparisons.iter().find(of_row).map(|c| c.decision.verdict)
    };
    assert_eq!(verdict(TOTAL), Some(Verdict::Faster));
    assert_eq!(verdict("parses"), Some(Verdict::Faster));
    assert_eq!(verdict("flickers"), Some(Verdict::Inconclusive));
    assert_eq!(verdict("sends"), None);
    let found: Vec<&str> = analysis.findings.iter().map(|f| f.message.as_str()).collect();
    assert!(found.iter().any(|message| message.contains("sends")), "{found:?}");
}

#[test]
fn wherever_it_is_killed_it_goes_on_and_finds_its_rows_again() {
    let room = tempfile::tempdir().unwrap();
    let whole = room.path().join("whole.assay");
    let (samples, _) = measure(&whole, usize::MAX);
    let totals = |samples: &Samples| {
        let of_total = samples.observations().filter(|o| o.subject < 2);
        of_total.map(|o| Observation { time: None, ..o }).collect::<Vec<_>>()
    };
    let sorted = |samples: &Samples| {
        let mut names: Vec<String> = samples.subjects.iter().map(|s| s.name.clone()).collect();
        names.sort();
        names
    };
    let records = samples.len() + (samples.rows.len() - 1) + (samples.subjects.len() - 2);
    for killed_after in 0..records {
        let path = room.path().join(format!("{killed_after}.assay"));
        measure(&path, killed_after);
        let taken = assay_file::read(&path).unwrap();
        // The last turn may have been interrupted between its rows, of which only the recorded ones
        // exist.
        let lost = {
            let of_turn = |o: &Observation| (o.block, o.position);
            let last = taken.observation(taken.len().wrapping_sub(1)).map(|o| of_turn(&o));
            let in_last = |samples: &Samples| {
                samples.observations().filter(|o| Some(of_turn(o)) == last).count()
            };
            in_last(&samples) - in_last(&taken)
        };
        if totals(&taken).len() == totals(&samples).len() {
            continue;
        }
        let (again, reason) = measure(&path, usize::MAX);
        assert_eq!(reason, StopReason::Clear);
        assert_eq!(totals(&again), totals(&samples), "{killed_after}");
        assert_eq!(again.len(), samples.len() - lost, "{killed_after}");
        assert_eq!(sorted(&again), sorted(&samples), "{killed_after}");
        // No row is declared or measured twice, since such a file could not be read.
        let read = assay_file::read(&path).unwrap();
        assert_eq!((&read.rows, &read.subjects), (&again.rows, &again.subjects));
        assert!(read.observations().eq(again.observations()), "{killed_after}");
    }
}
