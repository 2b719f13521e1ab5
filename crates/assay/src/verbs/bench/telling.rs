//! Progress messages while a suite is tried and measured, the list of benchmarks, and the results
//! of a smoke test.

use crate::bench::{Benchmarks, Catalogue, Trial};
use crate::output;
use crate::progress::{Line, share_done};
use assay_analysis::engine::Standing;
use assay_data::{Finding, Plan, Unit};
use assay_report::json::{self, Failure, Listed, Listing, SmokeTest};
use assay_report::number;
use assay_report::progress::{SuiteStanding, suite_plan, suite_status};

/// The progress line of a suite.
pub(super) struct Telling {
    pub line: Line,
}

impl Telling {
    /// Shows how many of all runs were tried.
    pub fn trying(&self, done: usize, of: usize) {
        self.counted("trying every benchmark once", done, of);
    }

    /// Shows how many runs have reported which functions they execute, and the total.
    pub fn tracing(&self, done: usize, of: usize) {
        self.counted("looking which functions are executed, nothing is timed", done, of);
    }

    /// Shows how many of all benchmarks were counted.
    pub fn counting(&self, done: usize, of: usize) {
        self.counted("counting, nothing is timed", done, of);
    }

    /// Shows for how many pairs of a benchmark and a function the calls were delayed.
    pub fn delaying(&self, done: usize, of: usize) {
        self.counted("delaying the functions that changed", done, of);
    }

    fn counted(&self, what: &str, done: usize, of: usize) {
        if self.line.is_due() {
            self.line.draw(done as f64 / of.max(1) as f64, format!("{what}: {done} of {of}"));
        }
    }

    /// Reports the planned measurement and its approximate duration.
    pub fn plan(
        &self,
        catalogue: &Catalogue,
        suite: &Benchmarks<'_>,
        trial: &Trial,
        (plan, ceiling_seconds): (&Plan, f64),
        counted_alone: bool,
    ) {
        let names: Vec<&str> = catalogue.sides.iter().map(|side| side.name.as_str()).collect();
        let mut harness = catalogue.drivers.first().map(|driver| driver.name()).unwrap_or_default();
        if trial.together {
            harness += ", one process of each side for all benchmarks";
        }
        let pinned = catalogue.pins() && catalogue.isolates() && !trial.together;
        if counted_alone {
            let many = if suite.benchmarks() == 1 { "benchmark" } else { "benchmarks" };
            let what = format!("{} {many} on {}", suite.benchmarks(), names.join(" and "));
            self.line
                .say(&format!("{what} ({harness}): {} is counted, nothing is timed", plan.primary));
            return;
        }
        let round = suite.round_seconds(trial);
        self.line.say(&suite_plan(
            suite.benchmarks(),
            &names,
            &harness,
            pinned,
            round,
            (plan, ceiling_seconds),
        ));
    }

    /// Reports the findings about the libraries that the sides load.
    pub fn libraries(&self, findings: &[Finding]) {
        findings
            .iter()
            .for_each(|finding| self.line.say(&format!("libraries: {}", finding.message)));
    }

    /// Shows how many rounds are done, and the current results.
    pub fn rounds(&self, standing: Standing<'_>, plan: &Plan) {
        if !self.line.is_due() {
            return;
        }
        let share = share_done(plan, &standing);
        let Standing { experiment, seconds } = standing;
        let mut known = SuiteStanding::default();
        let most = experiment.blocks();
        let shape: Vec<(usize, usize)> = experiment.shape().collect();
        for (unit, (rows, places)) in shape.into_iter().enumerate() {
            for (row, place) in (0..rows).flat_map(|row| (1..places).map(move |p| (row, p))) {
                let open = experiment.is_open(unit, row);
                known.add(experiment.estimate(unit, row, place).map(|d| d.verdict), open);
            }
        }
        self.line.draw(share, suite_status(most, &known, seconds, plan.budget_seconds));
    }
}

/// Prints the benchmarks of every side.
pub(super) fn list(catalogue: &Catalogue, as_json: bool) -> anyhow::Result<()> {
    let sides: Vec<&str> = catalogue.sides.iter().map(|side| side.name.as_str()).collect();
    if as_json {
        let benchmarks = catalogue.benchmarks.iter().map(|listed| {
            let on = sides.iter().zip(&listed.on).filter(|(_, own)| own.is_some());
            let on = on.map(|(side, _)| (*side).to_owned()).collect();
            Listed { name: listed.name.clone(), on }
        });
        let harnesses = catalogue.drivers.iter().map(|d| d.name()).collect();
        let names = sides.iter().map(|side| (*side).to_owned()).collect();
        let listing = Listing::new(names, harnesses, benchmarks.collect());
        return output::print(&json::text(&listing)?);
    }
    let mut text = String::new();
    for listed in &catalogue.benchmarks {
        text.push_str(&listed.name);
        let missing: Vec<&str> = sides
            .iter()
            .zip(&listed.on)
            .filter(|(_, own)| own.is_none())
            .map(|(side, _)| *side)
            .collect();
        if !missing.is_empty() {
            text.push_str(&format!("   (not on {})", missing.join(", ")));
        }
        text.push('\n');
    }
    output::print(&text)
}

/// Prints the result of every benchmark, and returns the number of failed runs.
pub(super) fn smoke(catalogue: &Catalogue, trial: &Trial, as_json: bool) -> anyhow::Result<usize> {
    let mut broken = Vec::new();
    let mut runs = 0;
    for (listed, tried) in catalogue.benchmarks.iter().zip(&trial.tried) {
        for ((side, own), tried) in catalogue.sides.iter().zip(&listed.on).zip(tried) {
            if own.is_none() {
                continue;
            }
            runs += 1;
            if let Some(how) = &tried.failure {
                broken.push(Failure {
                    benchmark: listed.name.clone(),
                    side: side.name.clone(),
                    failure: how.clone(),
                });
            }
        }
    }
    if as_json {
        let failures = broken.len();
        output::print(&json::text(&SmokeTest::new(runs, broken))?)?;
        return Ok(failures);
    }
    let mut text = String::new();
    for Failure { benchmark, side, failure } in &broken {
        text.push_str(&format!("broken: {benchmark} on {side}: it {failure}\n"));
    }
    let seconds: f64 = trial.tried.iter().flatten().map(|tried| tried.seconds).sum();
    let took = number::rough(seconds, &Unit::Second);
    text.push_str(&match broken.len() {
        0 => format!("all {runs} run ({took})\n"),
        n => format!("{n} of {runs} are broken ({took})\n"),
    });
    output::print(&text)?;
    Ok(broken.len())
}
