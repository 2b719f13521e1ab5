//! Progress on the terminal, drawn only between runs, never while one is timed, and at most five
//! times a second.
//!
//! Nothing is drawn in the background, and without a terminal nothing is drawn at all. The report
//! crate chooses the words.

use crate::output;
use assay_analysis::Experiment;
use assay_analysis::engine::Standing;
use assay_analysis::outlook::blocks_until_clear;
use assay_data::{Environment, Metric, Plan, Unit};
use assay_report::progress::{Standing as SubjectStanding, Status, machine, span, status};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::cell::Cell;
use std::fs;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Minimum time between two updates of the line.
const EVERY: Duration = Duration::from_millis(200);
/// Time at the start during which nothing is drawn. Most comparisons of fast commands end within
/// it.
const QUIET_AT_FIRST: Duration = Duration::from_millis(400);
/// Maximum number of subjects in a line.
const MOST_NAMES: usize = 6;
/// Number of steps of the bar.
const STEPS: u64 = 1000;

/// Number of values from which work takes long enough to be worth a progress line.
const MANY_VALUES: usize = 500_000;
/// Total size of files, in bytes, above which reading takes long enough to be worth a progress
/// line.
const MANY_BYTES: u64 = 8 << 20;

/// The progress line of work on millions of values, such as `comparing: validity (5 of 8)`. It is
/// drawn when a phase begins. The duration of a phase is not estimated.
pub(crate) struct Work {
    bar: Option<ProgressBar>,
    what: &'static str,
    begun: Cell<usize>,
    phases: Cell<Option<usize>>,
}

impl Work {
    /// Starts work on files, with reading as the first phase. Nothing is drawn for small files, if
    /// `quiet`, or if standard error is not a terminal.
    pub fn on_files(quiet: bool, what: &'static str, files: &[PathBuf]) -> Self {
        let work = Self::new(quiet, what, None);
        let bytes: u64 = files.iter().filter_map(|file| Some(fs::metadata(file).ok()?.len())).sum();
        work.begun.set(1);
        if bytes >= MANY_BYTES {
            work.draw("reading");
        }
        work
    }

    /// Starts work on this many values, in this many phases. Nothing is drawn for few values, if
    /// `quiet`, or if standard error is not a terminal.
    pub fn on_values(quiet: bool, what: &'static str, values: usize, phases: usize) -> Self {
        Self::new(quiet || values < MANY_VALUES, what, Some(phases))
    }

    fn new(quiet: bool, what: &'static str, phases: Option<usize>) -> Self {
        let bar = (!quiet && io::stderr().is_terminal()).then(bar);
        Self { bar, what, begun: Cell::new(0), phases: Cell::new(phases) }
    }

    /// Records that the files have been read and that `phases` phases follow. A small number of
    /// values is not worth a line.
    pub fn read(&mut self, values: usize, phases: usize) {
        if values < MANY_VALUES {
            self.end();
            self.bar = None;
        }
        self.phases.set(Some(self.begun.get() + phases));
    }

    /// Shows that the next phase begins.
    pub fn begin(&self, phase: &str) {
        self.begun.set(self.begun.get() + 1);
        self.draw(phase);
    }

    fn draw(&self, phase: &str) {
        let Some(bar) = &self.bar else { return };
        let (begun, what) = (self.begun.get(), self.what);
        match self.phases.get() {
            Some(phases) => {
                bar.set_position((begun - 1) as u64 * STEPS / phases.max(begun) as u64);
                bar.set_message(format!("{what}: {phase} ({begun} of {})", phases.max(begun)));
            }
            None => bar.set_message(format!("{what}: {phase}")),
        }
        // A bar limits its own drawing rate, and the next phase may take long.
        bar.force_draw();
    }

    /// Removes the line from the terminal.
    pub fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Returns a bar that is not drawn yet.
fn bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(STEPS), ProgressDrawTarget::stderr_with_hz(20));
    let style = ProgressStyle::with_template("▕{bar:10}▏ {wide_msg}");
    bar.set_style(
        style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("█▉▊▋▌▍▎▏ "),
    );
    bar
}

/// The progress line of a verb that measures. It is invisible if `quiet`, or if standard error is
/// not a terminal.
pub(crate) struct Line {
    bar: Option<ProgressBar>,
    quiet: bool,
    began: Instant,
    drawn: Cell<Option<Instant>>,
}

impl Line {
    pub fn new(quiet: bool) -> Self {
        let bar = (!quiet && io::stderr().is_terminal()).then(bar);
        Self { bar, quiet, began: Instant::now(), drawn: Cell::new(None) }
    }

    /// Prints a message above the bar. Without a bar, prints it as a plain line unless `quiet`.
    pub fn say(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.println(output::in_plain_text(line)),
            None if self.quiet => {}
            None => output::say(line),
        }
    }

    /// Prints the name of the machine if the line is visible, and a warning if a portable runner
    /// lacks features that the user may expect.
    pub fn machine(&self, environment: &Environment) {
        if self.bar.is_some() {
            self.say(&machine(environment));
        }
        if let Some(finding) = assay_analysis::machine::runner(environment) {
            self.say(&assay_report::findings::line(&finding));
        }
    }

    /// Returns true if it is time to draw the line again.
    pub fn is_due(&self) -> bool {
        let is_early = || {
            let before = self.drawn.get();
            self.began.elapsed() < QUIET_AT_FIRST || before.is_some_and(|at| at.elapsed() < EVERY)
        };
        if self.bar.is_none() || is_early() {
            return false;
        }
        self.drawn.set(Some(Instant::now()));
        true
    }

    /// Draws the bar at this fraction, followed by `words`.
    pub fn draw(&self, share: f64, words: String) {
        if let Some(bar) = &self.bar {
            bar.set_position((share.clamp(0.0, 1.0) * STEPS as f64) as u64);
            bar.set_message(words);
        }
    }

    /// Resets the bar to zero, and replaces the words.
    fn reset(&self, words: &'static str) {
        if let Some(bar) = &self.bar {
            bar.reset();
            bar.set_message(words);
        }
    }

    /// Removes the line, so that the result can be printed.
    pub fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Returns the completed fraction of a plan.
pub(crate) fn share_done(plan: &Plan, standing: &Standing<'_>) -> f64 {
    let by_time = plan.budget_seconds.map_or(0.0, |budget| standing.seconds / budget);
    let by_blocks =
        plan.fixed_blocks().map_or(0.0, |all| standing.experiment.blocks() as f64 / f64::from(all));
    by_time.max(by_blocks)
}

/// The progress line of a run.
pub(crate) struct Progress {
    line: Line,
    plan: Plan,
    names: Vec<String>,
    unit: Unit,
    /// Activity whose duration does not depend on the result; `None` for an experiment that ends
    /// when there is an answer.
    what: Option<&'static str>,
}

impl Progress {
    /// Creates the line, and announces the machine.
    pub fn new(quiet: bool, environment: &Environment, names: Vec<String>, plan: Plan) -> Self {
        let line = Line::new(quiet);
        line.machine(environment);
        Self { line, plan, names, unit: Unit::Second, what: None }
    }

    /// Creates a line for runs that take the time of `plan`, regardless of the result. `what` is
    /// shown before the number of runs.
    pub fn of_span(quiet: bool, environment: &Environment, what: &'static str, plan: Plan) -> Self {
        Self { what: Some(what), ..Self::new(quiet, environment, Vec::new(), plan) }
    }

    /// Restarts the line for other runs whose duration does not depend on the result.
    pub fn next_span(&mut self, what: &'static str, plan: Plan) {
        self.line.reset("");
        (self.what, self.plan) = (Some(what), plan);
    }

    /// Shows a short activity without its completed fraction.
    pub fn busy(&self, what: &'static str) {
        self.line.reset(what);
    }

    /// Adopts the plan and the unit of the deciding metric, which may have changed during warm-up.
    pub fn follow(&mut self, plan: &Plan, primary: &Metric) {
        self.plan = plan.clone();
        self.unit = primary.unit.clone();
    }

    /// Prints a message above the line.
    pub fn say(&self, line: &str) {
        self.line.say(line);
    }

    /// Shows which block of the warm-up is running.
    pub fn warm_up(&self, block: usize, blocks: u32) {
        if self.line.is_due() {
            self.line.draw(0.0, format!("warming up, block {} of {blocks}", block + 1));
        }
    }

    /// Shows the completed fraction and the current estimates.
    pub fn show(&self, standing: Standing<'_>) {
        if self.line.is_due() {
            let share = share_done(&self.plan, &standing);
            self.line.draw(share, self.told(standing.experiment, standing.seconds));
        }
    }

    fn told(&self, experiment: &mut Experiment, elapsed_seconds: f64) -> String {
        if let (Some(what), Some(budget)) = (self.what, self.plan.budget_seconds) {
            let blocks = experiment.blocks() as u64;
            return span(what, blocks, elapsed_seconds, budget, output::width_of_progress());
        }
        let alone = self.names.len() == 1;
        let standing = |(subject, name): (usize, &String)| SubjectStanding {
            name: name.clone(),
            median: experiment.median(0, 0, subject),
            interval: if alone { experiment.median_interval(0, 0, subject) } else { None },
            difference: experiment.estimate(0, 0, subject),
        };
        let subjects: Vec<SubjectStanding> =
            self.names.iter().take(MOST_NAMES).enumerate().map(standing).collect();
        // From the first complete block on, all differences are known; before that, none are.
        let mut compared = subjects.iter().filter_map(|s| s.difference.as_ref()).peekable();
        let whole = self.names.len() <= MOST_NAMES;
        let settled = whole && compared.peek().is_some() && compared.all(|d| d.is_settled());
        // At least one second, because shorter times cannot be read.
        let blocks = experiment.blocks();
        let rate = elapsed_seconds / blocks.max(1) as f64;
        let ahead = subjects.iter().filter_map(|s| s.difference.as_ref());
        let ahead: Option<Vec<f64>> = ahead.map(|d| blocks_until_clear(d, blocks)).collect();
        let clear_in_seconds = ahead
            .filter(|ahead| whole && !ahead.is_empty() && self.plan.is_sequential())
            .map(|ahead| ahead.into_iter().fold(0.0, f64::max) - blocks as f64)
            .map(|more| (more * rate).max(1.0));
        let told = Status {
            clear_in_seconds,
            subjects: &subjects,
            unit: &self.unit,
            blocks: experiment.blocks() as u64,
            planned_blocks: self.plan.fixed_blocks().map(u64::from),
            settled,
            elapsed_seconds,
            budget_seconds: self.plan.budget_seconds,
        };
        status(&told, output::width_of_progress(), output::unicode())
    }

    /// Removes the line from the terminal.
    pub fn end(&self) {
        self.line.end();
    }
}
