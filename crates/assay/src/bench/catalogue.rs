//! The benchmarks of the programs: the harness of each side, and the sides that have each
//! benchmark.

use super::{Asker, Side};
use anyhow::{Context, bail};
use assay_data::select::Filter;
use assay_data::{Metric, Samples, Subject};
use assay_harness::{Driver, Effort, Kind};
use std::collections::BTreeMap;
use std::path::Path;

/// Number of blocks that give a verdict on most benchmarks.
const ENOUGH_BLOCKS: f64 = 20.0;

/// Which benchmarks to measure, and how.
#[derive(Debug, Default)]
pub(crate) struct BenchmarkSelection {
    /// Benchmarks to select; `None` for all.
    pub filter: Option<Filter>,
    /// Benchmarks to leave out, even if `filter` matches them.
    pub exclude: Option<Filter>,
    /// Name of the harness; `None` to detect it.
    pub harness: Option<String>,
    /// True if the reference is measured twice, as a control.
    pub control: bool,
    /// True if benchmarks that use a single CPU all run on the same one.
    pub pin: bool,
}

impl BenchmarkSelection {
    fn accepts(&self, name: &str) -> bool {
        let mut samples = Samples::default();
        let (side, row) = (samples.side_named(""), samples.row_named(name));
        let subject = Subject { side, row, ..Subject::default() };
        let metric = Metric::wall();
        let is = |filter: &Option<Filter>| {
            filter.as_ref().map(|f| f.accepts(&samples, &subject, &metric))
        };
        is(&self.filter).unwrap_or(true) && !is(&self.exclude).unwrap_or(false)
    }
}

/// One benchmark, on some or all sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Listed {
    /// The name by which the sides are matched.
    pub name: String,
    /// Name of the benchmark on each side; `None` where it is missing.
    pub on: Vec<Option<String>>,
}

/// All selected benchmarks of the programs.
#[derive(Debug)]
pub(crate) struct Catalogue {
    /// The sides; the first is the reference.
    pub sides: Vec<Side>,
    /// The harness of each side.
    pub drivers: Vec<Box<dyn Driver>>,
    /// The benchmarks, in the reference's order, followed by those that it lacks.
    pub benchmarks: Vec<Listed>,
    /// Duration of a process that measures nothing, in seconds. It is that of the slowest process
    /// that listed its benchmarks.
    pub start_seconds: f64,
    /// True if the reference is measured a second time, as a control.
    pub control: bool,
    /// True if benchmarks that use a single CPU all run on the same one.
    pub pin: bool,
}

impl Catalogue {
    /// Asks every program for its harness and its benchmarks.
    ///
    /// # Errors
    /// Returns an error if a program cannot be run, its harness is unknown, none of its benchmarks
    /// is selected, or two have the same name.
    pub fn of(
        sides: Vec<Side>,
        wanted: &BenchmarkSelection,
        asker: &mut Asker,
    ) -> anyhow::Result<Self> {
        let mut drivers = Vec::with_capacity(sides.len());
        let mut benchmarks: Vec<Listed> = Vec::new();
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        let mut start_seconds: f64 = 0.0;
        for (index, side) in sides.iter().enumerate() {
            let driver = driver_of(side, wanted.harness.as_deref(), asker)
                .with_context(|| side.name.clone())?;
            let scratch = asker.directory()?;
            let mut ran = asker.ask(side, &driver.list(&scratch), &scratch)?;
            if let Some(request) = driver.own_words(&scratch) {
                ran.reply.own = asker.ask(side, &request, &scratch)?.reply.output;
            }
            start_seconds = start_seconds.max(ran.result.wall_seconds);
            // The driver's error contains what the program printed.
            let names = driver.listed(&ran.reply).with_context(|| match ran.end() {
                Some(how) => format!("{}: when asked to list its benchmarks, it {how}", side.name),
                None => side.name.clone(),
            })?;
            let mut taken = 0;
            for own in names {
                if !wanted.accepts(&own) || side.versus.as_ref().is_some_and(|p| !p.is_match(&own))
                {
                    continue;
                }
                taken += 1;
                let name = side.matched(&own);
                let at = *known.entry(name.clone()).or_insert_with(|| {
                    benchmarks.push(Listed { name, on: vec![None; sides.len()] });
                    benchmarks.len() - 1
                });
                let place = &mut benchmarks[at].on[index];
                if let Some(first) = place {
                    if *first == own {
                        bail!("{}: it has two benchmarks called `{own}`; rename one", side.name);
                    }
                    bail!(
                        "{}: `{first}` and `{own}` would both be called `{}`; choose a pattern that keeps them apart",
                        side.name,
                        side.matched(&own)
                    );
                }
                *place = Some(own);
            }
            if taken == 0 {
                bail!(
                    "{}: none of its benchmarks is selected; to see all of them, use --list without --filter and --exclude",
                    side.name
                );
            }
            drivers.push(driver);
        }
        let (control, pin) = (wanted.control, wanted.pin);
        Ok(Self { sides, drivers, benchmarks, start_seconds, control, pin })
    }

    /// Returns the number of turns in which two processes of these sides measure a benchmark for
    /// `seconds`; `None` if a single turn suffices, or if these sides cannot measure in turns.
    pub fn turns(&self, sides: &[usize], seconds: f64) -> Option<u32> {
        let has_one_build = |&side: &usize| self.sides[side].builds.len() < 2;
        let is_pair = sides.len() == 2 && !self.control && self.isolates();
        if !is_pair || !sides.iter().all(has_one_build) {
            return None;
        }
        let lengths: Option<Vec<f64>> =
            sides.iter().map(|&side| self.drivers[side].turn_seconds()).collect();
        let longest = lengths?.into_iter().fold(f64::EPSILON, f64::max);
        let count = (seconds / longest).ceil().min(1000.0) as u32;
        (count > 1).then_some(count)
    }

    /// Returns true if all benchmarks should share one process of each side, because starting one
    /// for each benchmark would take all of `seconds` before there are enough blocks.
    pub fn should_share(&self, seconds: f64) -> bool {
        let scratch = Path::new("");
        let can_share =
            |driver: &dyn Driver| driver.measure_several(&[], Effort::Once, scratch).is_some();
        let processes: usize =
            self.benchmarks.iter().map(|own| own.on.iter().flatten().count()).sum();
        let starting = self.start_seconds * processes as f64 * ENOUGH_BLOCKS;
        self.drivers.iter().all(|driver| can_share(driver.as_ref()))
            && !self.control
            && starting > seconds
    }

    /// Returns the indices of the benchmarks that can be compared: those on the reference and at
    /// least one other side or, with a single side, all of them.
    pub fn comparable(&self) -> Vec<usize> {
        let on_two = |listed: &Listed| {
            let others = &listed.on[1..];
            listed.on[0].is_some() && (others.is_empty() || others.iter().any(Option::is_some))
        };
        (0..self.benchmarks.len()).filter(|&index| on_two(&self.benchmarks[index])).collect()
    }

    /// Returns true if every side's program can run a single benchmark.
    pub fn isolates(&self) -> bool {
        self.drivers.iter().all(|driver| driver.isolates())
    }

    /// Returns true if the programs of all sides accept a number of iterations.
    pub fn pins(&self) -> bool {
        self.drivers.iter().all(|driver| driver.pins())
    }
}

/// Returns the harness of a side's program.
///
/// # Errors
/// Returns an error if the program cannot be run, or if its harness is unknown.
pub(crate) fn driver_of(
    side: &Side,
    named: Option<&str>,
    asker: &mut Asker,
) -> anyhow::Result<Box<dyn Driver>> {
    let program = side.program()?;
    if let Some(script) = program.missing_script() {
        bail!("{}: no such file", script.display());
    }
    if let Some(name) = named {
        return assay_harness::by_name(name, &program).with_context(|| {
            format!(
                "--harness {name}: unknown harness; known are {}",
                assay_harness::names().join(", ")
            )
        });
    }
    if let Some(driver) = assay_harness::by_looks(&program) {
        return Ok(driver);
    }
    let scratch = asker.directory()?;
    let ran = asker.ask(side, &assay_harness::question(), &scratch)?;
    if let Some(driver) = assay_harness::by_help(&program, &ran.reply) {
        return Ok(driver);
    }
    // Some programs always print their results, regardless of the request.
    if let Some(driver) = assay_harness::by_output(&ran.reply) {
        return Ok(driver);
    }
    if !ran.reply.success {
        let plain = asker.ask(side, &assay_harness::plain_run(), &scratch)?;
        if let Some(driver) = assay_harness::by_output(&plain.reply) {
            return Ok(driver);
        }
    }
    let said = ran.failure().map_or(String::new(), |how| format!(" (with --help, it {how})"));
    let what = match program.kind {
        Kind::Executable => "an executable",
        Kind::Script => "a script",
        Kind::Archive => "an archive",
        Kind::Other => "a file",
    };
    bail!(
        "{what} of no harness that assay knows{said}; known are {}. If it uses one of them, name it with --harness NAME; to time a whole program, use `assay run`",
        assay_harness::names().join(", ")
    )
}
