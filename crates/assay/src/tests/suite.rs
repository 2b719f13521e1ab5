//! Suites as a source: each turn is one run of the whole suite of a side. The tests that it reports
//! are rows; the whole suite is a row as well, and the deciding one.

use super::{Asker, Ran, Side, first_lines};
use crate::run_error::RunError;
use assay_analysis::checks::interrupted;
use assay_data::code;
use assay_data::finding::shared::benchmarks_skipped;
use assay_data::list;
use assay_data::samples::{
    BEGAN, ENDED, PLACE, RETRIES, SPANS, TEST_TIME, WHOLE_SUITE, WORKER, WORKERS,
};
use assay_data::source::{
    Failure as Failed, Layout, Measured, Obstacle, OfRow, Purpose, RowResult, Source, Turn, Unit,
};
use assay_data::{
    Action, Finding, Inner, Metric, Outcome, Row, Samples, Side as Compared, Subject, Unit as Of,
};
use assay_measure::Outcome as Ended;
use assay_suites::run::{Part, Span, Test, TestStatus};
use assay_suites::{Framework, Order, RunRequirements};
use std::collections::BTreeMap;

/// Name of the row of the whole suite.
pub(crate) const WHOLE: &str = WHOLE_SUITE;
/// Word for a row, for messages.
const NOUN: &str = "test";
/// Maximum number of tests whose message becomes a finding.
const MOST_MESSAGES: usize = 20;
/// Minimum duration of a recorded activity of a process outside tests, as a fraction of its run;
/// shorter ones are invisible in a plot.
const SPAN_FROM: f64 = 0.0005;
/// Metrics of a run as a whole; the metrics of the parts of a run follow them.
const OF_WHOLE: [&str; 5] = ["wall", "cpu", "max_rss", TEST_TIME, WORKERS];

/// Returns the seed of the order of a block, for a plan with this seed. Some frameworks accept no
/// seed above 65535, and 0 may make them draw one.
pub(crate) fn order_of(seed: u64, block: u32) -> u64 {
    // Any mixing that separates neighboring values is good enough (splitmix64).
    let mut mixed = seed.wrapping_add(u64::from(block).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (mixed ^ (mixed >> 31)) % 65_535 + 1
}

/// Properties of a test other than its times.
#[derive(Clone, Debug, Default)]
pub(crate) struct About {
    /// The file that contains it.
    pub file: Option<String>,
    /// The name by which it is selected.
    pub id: Option<String>,
    /// Index of the side, and message, of the test's last failure.
    pub message: Option<(usize, String)>,
    /// Number of runs in which the test was skipped.
    pub skipped: u32,
}

/// Suites that are run alternately.
pub(crate) struct Suite<'a> {
    pub sides: Vec<Side>,
    pub framework: &'a dyn Framework,
    pub asker: Asker,
    /// The seed, if tests run in a random order, which differs between blocks.
    pub order: Option<u64>,
    /// Requirements for all runs.
    pub wanted: RunRequirements,
    /// Properties of the tests, by name.
    pub tests: BTreeMap<String, About>,
    /// The framework of each side, as reported by its runs.
    pub told: Vec<Option<String>>,
    /// The last run of each side.
    pub last: Vec<Option<Ran>>,
    /// Activities of the processes of each run outside tests.
    pub spans: Vec<Inner>,
    metrics: Vec<Metric>,
    /// Number of runs that failed for reasons other than failed tests, by side and reason.
    troubles: BTreeMap<(usize, String), u32>,
    /// True if the user stopped the only run; the tests that had ended are kept.
    pub is_stopped: bool,
    /// For each side, sentences about tests or hooks that hung in runs that were killed for that.
    pub hung: Vec<(usize, String)>,
    notes: Vec<String>,
}

impl<'a> Suite<'a> {
    pub fn new(
        sides: Vec<Side>,
        framework: &'a dyn Framework,
        asker: Asker,
        wanted: RunRequirements,
        order: Option<u64>,
    ) -> Self {
        let told = vec![None; sides.len()];
        let last = sides.iter().map(|_| None).collect();
        let metrics = OF_WHOLE.iter().map(|&name| metric(name)).collect();
        let (tests, spans, troubles, is_stopped, hung, notes) = Default::default();
        Self {
            sides,
            framework,
            asker,
            order,
            wanted,
            tests,
            told,
            last,
            spans,
            metrics,
            troubles,
            is_stopped,
            hung,
            notes,
        }
    }

    /// Returns true if a run failed for a reason other than failed tests: its process failed
    /// although no test did, or its report has faults.
    pub fn is_troubled(&self) -> bool {
        !self.troubles.is_empty()
    }

    /// Runs the suite of a side once, in the order of a block. A run that the user stopped contains
    /// the tests that had ended.
    ///
    /// # Errors
    /// As in [`Asker::run`].
    fn run(&mut self, side: usize, block: u32, padding: u16) -> Result<Ran, RunError> {
        let order = self.order.map_or(Order::Given, |seed| Order::Random(order_of(seed, block)));
        let wanted = RunRequirements { order, ..self.wanted.clone() };
        let side = &self.sides[side];
        let ran = self.asker.run(self.framework, side, &wanted, padding);
        // With several sides the message must name the suite.
        ran.map_err(|error| match (error, self.sides.len()) {
            (RunError::Failed(why), 2..) => RunError::Failed(format!("{}: {why}", side.name)),
            (error, _) => error,
        })
    }

    fn value(&mut self, values: &mut Vec<f64>, name: &str, value: Option<f64>) {
        let Some(value) = value else { return };
        let known = self.metrics.iter().position(|own| own.name == name);
        let index = known.unwrap_or_else(|| {
            self.metrics.push(metric(name));
            self.metrics.len() - 1
        });
        if values.len() <= index {
            values.resize(index + 1, f64::NAN);
        }
        values[index] = value;
    }

    fn whole(&mut self, ran: &Ran) -> RowResult {
        let mut values = Vec::new();
        let result = &ran.result;
        let cpu = result.user_seconds + result.system_seconds;
        self.value(&mut values, "wall", Some(result.wall_seconds));
        // A fork of a preloaded process has no resource usage of its own in the protocol.
        let is_told = result.max_rss_bytes > 0;
        self.value(&mut values, "cpu", Some(cpu).filter(|_| is_told));
        self.value(&mut values, "max_rss", Some(result.max_rss_bytes as f64).filter(|_| is_told));
        let is_timed = ran.run.tests.iter().any(|test| test.seconds.is_some());
        self.value(&mut values, TEST_TIME, Some(ran.parts.tests).filter(|_| is_timed));
        self.value(&mut values, WORKERS, Some(ran.parts.workers as f64).filter(|n| *n > 0.0));
        for part in Part::ALL {
            self.value(&mut values, part.name(), ran.parts.of(part));
        }
        let ended = match result.outcome {
            Ended::Exited(0) => Outcome::Ok,
            Ended::Exited(status) => Outcome::Exit(status),
            _ => Outcome::Exit(1),
        };
        let inner = spans(ran);
        for (name, _) in &inner {
            self.value(&mut values, name, Some(f64::NAN));
        }
        RowResult { values, inner, ended, ..RowResult::default() }
    }

    fn test(&mut self, side: usize, place: usize, test: &Test, began: f64) -> Option<RowResult> {
        let about = self.tests.entry(test.name.clone()).or_default();
        about.file = test.file.clone().or(about.file.take());
        about.id = test.id.clone().or(about.id.take());
        let failed = test.status == TestStatus::Failed;
        if let Some(message) = test.message.as_ref().filter(|_| failed || test.retries > 0) {
            // Some frameworks color their messages even without a terminal.
            about.message = Some((side, anstream::adapter::strip_str(message).to_string()));
        }
        if test.status == TestStatus::Skipped {
            about.skipped += 1;
            return None;
        }
        // A test without a time still has an outcome.
        let mut values = Vec::new();
        self.value(&mut values, "wall", test.seconds);
        let of = [
            ("setup", test.setup),
            ("body", test.body),
            ("teardown", test.teardown),
            ("gc", test.gc),
            (RETRIES, Some(f64::from(test.retries)).filter(|retries| *retries > 0.0)),
        ];
        for (name, value) in of {
            self.value(&mut values, name, value);
        }
        self.value(&mut values, PLACE, Some(place as f64));
        let moment = |at: Option<f64>| at.map(|at| rounded(at - began));
        self.value(&mut values, BEGAN, moment(test.began));
        // For most tests the time from start to end equals the reported time; it is longer for
        // those during which their group was set up.
        let seconds = test.seconds.unwrap_or(f64::INFINITY);
        let ended = test.ended.zip(test.began).filter(|(to, from)| to - from > seconds + 1e-4);
        self.value(&mut values, ENDED, moment(ended.map(|(ended, _)| ended)));
        let worker = Some(test.process as f64).filter(|_| test.process > 0);
        self.value(&mut values, WORKER, worker);
        for (name, count) in &test.causes {
            self.value(&mut values, name, Some(*count));
        }
        let row = Row {
            name: test.name.clone(),
            noun: Some(NOUN.to_owned()),
            group: groups(test),
            ..Row::default()
        };
        Some(RowResult {
            row: OfRow::Discovered(row),
            values,
            ended: if failed { Outcome::Exit(1) } else { Outcome::Ok },
            ..RowResult::default()
        })
    }
}

/// Returns the groups that contain a test: its file, and its class or group if known and different.
fn groups(test: &Test) -> Vec<String> {
    let mut groups: Vec<String> = Vec::new();
    let file = test.file.as_deref().map(|file| file.trim_start_matches("./"));
    for group in file.into_iter().chain(test.group.as_deref()) {
        // Some frameworks prefix a class with its file.
        let rest = groups.first().and_then(|file| group.strip_prefix(file.as_str()));
        let group = rest.map_or(group, |rest| rest.trim_start_matches([':', '#', '.', ' ']));
        if !group.is_empty() {
            groups.push(group.to_owned());
        }
    }
    groups
}

/// Rounds to whole microseconds: the clocks of frameworks are not more precise, and it makes
/// recordings shorter.
fn rounded(seconds: f64) -> f64 {
    (seconds * 1e6).round() / 1e6
}

/// Returns the activities of the processes outside tests, in the lists that [`SPANS`] names.
fn spans(ran: &Ran) -> Vec<(String, Vec<f64>)> {
    let began = ran.result.started_ns as f64 / 1e9;
    let least = ran.result.wall_seconds * SPAN_FROM;
    let seen: Vec<&Span> =
        ran.run.spans.iter().filter(|span| span.ended - span.began >= least).collect();
    if seen.is_empty() {
        return Vec::new();
    }
    let part = |span: &&Span| Part::ALL.iter().position(|part| *part == span.part);
    let lists = [
        seen.iter().map(|span| part(span).unwrap_or_default() as f64).collect(),
        seen.iter().map(|span| span.process as f64).collect(),
        seen.iter().map(|span| rounded(span.began - began)).collect(),
        seen.iter().map(|span| rounded(span.ended - began)).collect(),
    ];
    SPANS.iter().map(|name| (*name).to_owned()).zip(lists).collect()
}

/// Returns a metric of a suite by its name. A cause that is a time is recognized by its name.
fn metric(name: &str) -> Metric {
    let unit = match name {
        "max_rss" => Of::Byte,
        "wall" | "cpu" => Of::Second,
        name if name == BEGAN || name == ENDED || SPANS[2..].contains(&name) => Of::Second,
        name if name.ends_with("_time") => Of::Second,
        name if Part::ALL.iter().any(|part| part.name() == name) => Of::Second,
        _ => Of::One,
    };
    Metric::lower(name, unit)
}

impl Source for Suite<'_> {
    type Error = RunError;

    fn layout(&self) -> Layout {
        let mut samples = Samples::default();
        for (index, side) in self.sides.iter().enumerate() {
            let command = Some(side.line());
            let compared = Compared {
                name: side.name.clone(),
                command: command.clone(),
                ..Compared::default()
            };
            samples.add_side(compared);
            if index == 0 {
                let noun = Some(NOUN.to_owned());
                samples.rows.push(Row { name: WHOLE.to_owned(), noun, ..Row::default() });
            }
            samples.subjects.push(Subject {
                side: index,
                row: 0,
                name: format!("{}: {WHOLE}", side.name),
                command,
                cwd: side.directory.as_ref().map(|path| path.display().to_string()),
                env: side.env.clone(),
                against: Some(0),
                ..Subject::default()
            });
        }
        let Samples { sides, rows, subjects, .. } = samples;
        let references: Vec<_> = (0..sides.len()).map(|side| (side > 0).then_some(0)).collect();
        Layout { units: vec![Unit::of_subjects(&references).discovering()], sides, rows, subjects }
    }

    fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    fn measure(&mut self, turn: &Turn) -> Result<Measured, Obstacle<RunError>> {
        let ran = self.run(turn.place, turn.block, turn.padding);
        let ran = ran.map_err(RunError::obstacle)?;
        let side = turn.place;
        if ran.is_stopped {
            // A partial run is kept only if there is no complete one.
            if self.sides.len() > 1 || self.last[side].is_some() {
                return Err(Obstacle::Interrupted);
            }
            self.is_stopped = true;
        }
        let mut rows = vec![self.whole(&ran)];
        if turn.purpose == Purpose::Measure {
            let (subject, block) = (side, turn.block);
            let own = rows[0].inner.iter().cloned();
            let own = own.map(|(metric, values)| Inner { subject, block, metric, values });
            self.spans.extend(own);
        }
        let began = ran.result.started_ns as f64 / 1e9;
        for (place, test) in ran.run.tests.iter().enumerate() {
            rows.extend(self.test(side, place, test, began));
        }
        if turn.purpose == Purpose::Measure {
            self.hung.extend(ran.hung.iter().map(|hung| (side, hung.clone())));
            if let Some(trouble) = ran.trouble().filter(|_| ran.hung.is_none() && !ran.is_stopped) {
                *self.troubles.entry((side, trouble)).or_default() += 1;
            }
        }
        let new = ran.run.notes.iter().filter(|note| !self.notes.contains(note));
        let new: Vec<String> = new.cloned().collect();
        self.notes.extend(new);
        self.told[side] = Some(ran.run.framework.clone());
        let started = ran.result.started_seconds;
        self.last[side] = Some(ran);
        Ok(Measured { rows, started_seconds: Some(started), ..Measured::default() })
    }

    fn findings(&self, _: &Samples, _: &[Failed]) -> Vec<Finding> {
        let mut found = Vec::new();
        if self.is_stopped {
            found.push(interrupted("these are the tests that had ended by then"));
        }
        for ((side, trouble), runs) in &self.troubles {
            let whose = match self.sides.len() {
                1 => String::new(),
                _ => format!("{}: ", self.sides[*side].name),
            };
            let often = match runs {
                1 => String::new(),
                runs => format!(" ({runs} runs)"),
            };
            let message = format!("{whose}{trouble}{often}");
            found.push(
                Finding::new(code::SUITE_STATUS, message)
                    .with("runs", f64::from(*runs))
                    .advise(Action::text("run it by itself and see why")),
            );
        }
        for (side, told) in self.hung.iter().take(MOST_MESSAGES) {
            let whose = match self.sides.len() {
                1 => String::new(),
                _ => format!("{}: ", self.sides[*side].name),
            };
            let message = format!("{whose}{told}");
            found.push(
                Finding::new(code::TEST_HUNG, message)
                    .advise(Action::text("fix what hangs, or raise --test-timeout")),
            );
        }
        let said =
            self.tests.iter().filter_map(|(name, about)| Some((name, about.message.as_ref()?)));
        for (name, (_, message)) in said.take(MOST_MESSAGES) {
            let message = format!("`{name}` failed: {}", first_lines(message));
            found.push(Finding::new(code::TEST_FAILED, message).about(name));
        }
        let skipped: Vec<String> = self
            .tests
            .iter()
            .filter(|(_, about)| about.skipped > 0)
            .map(|(name, _)| format!("`{name}`"))
            .collect();
        if !skipped.is_empty() {
            let message = format!("skipped, so without values: {}", list::first(&skipped, 1));
            found.push(benchmarks_skipped(message, skipped.len()));
        }
        for note in &self.notes {
            let message = format!("the framework was only partly observed: {note}");
            found.push(Finding::new(code::PARTLY_READ, message));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_stands_in_its_file_and_in_its_class_each_told_once() {
        let of = |file: Option<&str>, group: Option<&str>| {
            let (file, group) = (file.map(str::to_owned), group.map(str::to_owned));
            groups(&Test { file, group, ..Test::default() })
        };
        assert_eq!(of(Some("./a.rb"), Some("A")), ["a.rb", "A"]);
        assert_eq!(of(Some("t/a.py"), Some("t/a.py::A")), ["t/a.py", "A"]);
        assert_eq!(of(Some("pkg"), Some("pkg")), ["pkg"]);
        assert_eq!(of(None, Some("A")), ["A"]);
        assert!(of(None, None).is_empty());
    }

    #[test]
    fn orders_of_blocks_differ_and_are_small() {
        let orders: Vec<u64> = (0..100).map(|block| order_of(7, block)).collect();
        assert!(orders.iter().all(|order| (1..65_536).contains(order)));
        let mut different = orders.clone();
        different.sort_unstable();
        different.dedup();
        assert!(different.len() > 95);
        assert_eq!(order_of(7, 3), orders[3]);
        assert_ne!(order_of(8, 3), orders[3]);
    }
}
