//! A copy whose functions contain their mutants behind a switch. It is built once for many mutants;
//! trying one means setting the switch and running the tests. If the framework's test programs can
//! be started directly, only those that reach the changed function are run.
//!
//! Before any result is used, all tests run with no mutant active. They must pass as they do
//! without a switch.

use crate::arena::{Arena, TestSelection, TrialResult, judged, untried};
use crate::built::{
    CopyBuild, Kind, ReachingPrograms, SingleTestReach, Stage, SwitchPaths, SwitchedMutant,
};
use crate::policy::{COMPUTING_LEAST, COMPUTING_MORE, COMPUTING_SHARE, FORKED_MORE, PATIENCE};
use crate::sources::Source;
use crate::suite::{RunLimits, SuiteRun};
use crate::switches::Standing;
use anyhow::Context;
use assay_data::mutation::Fate;
use assay_data::test_results::TestStatus;
use assay_measure::Outcome;
use assay_mutate::mutants::switch::body_file;
use assay_suites::RunRequirements;
use assay_suites::programs::{Program, recorded};
use std::collections::{HashMap, HashSet};
use std::fs;
use std::num::NonZero;
use std::path::PathBuf;
use std::thread::available_parallelism;
use std::time::Duration;

impl Arena<'_> {
    /// Writes the given texts to their files, and restores the original text of all other files.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn stand(&mut self, standing: &[Standing], sources: &[Source]) -> anyhow::Result<()> {
        let path = |own: &Standing| sources.get(own.source).map(|own| own.path.clone());
        let texts: HashMap<String, Vec<u8>> = standing
            .iter()
            .filter_map(|own| Some((path(own)?, own.switched.text.clone())))
            .collect();
        self.set("0")?;
        let SwitchPaths { bodies, .. } = SwitchPaths::of(&self.copy.top());
        let _is_none = fs::remove_dir_all(&bodies);
        fs::create_dir(&bodies).with_context(|| bodies.display().to_string())?;
        for (number, body) in standing.iter().flat_map(|own| &own.switched.bodies) {
            let place = bodies.join(body_file(*number));
            fs::write(&place, body).with_context(|| place.display().to_string())?;
        }
        for path in self.standing.keys().filter(|path| !texts.contains_key(*path)) {
            if let Some(own) = sources.iter().find(|own| own.path == *path) {
                self.copy.write(path, &own.text)?;
            }
        }
        for (path, text) in &texts {
            if self.standing.get(path) != Some(text) {
                self.copy.write(path, text)?;
            }
        }
        self.standing = texts;
        self.built = None;
        self.driven = None;
        Ok(())
    }

    /// Sets the switch to the number of a mutant, to `0`, or to `r`, with which reached functions
    /// are recorded.
    ///
    /// # Errors
    /// If the switch cannot be written.
    pub fn set(&self, to: &str) -> anyhow::Result<()> {
        let SwitchPaths { switch, .. } = SwitchPaths::of(&self.copy.top());
        if let Some(above) = switch.parent().filter(|above| !above.exists()) {
            fs::create_dir(above).with_context(|| above.display().to_string())?;
            self.suite.walls.hand_over(above)?;
        }
        fs::write(&switch, to).with_context(|| switch.display().to_string())
    }

    /// Returns the functions recorded since the last call, and deletes the record.
    pub fn reached(&self) -> ReachingPrograms {
        let SwitchPaths { reached: noted, .. } = SwitchPaths::of(&self.copy.top());
        let text = fs::read(&noted).unwrap_or_default();
        let _is_none = fs::remove_file(&noted);
        let mut reached = ReachingPrograms::new();
        for line in String::from_utf8_lossy(&text).lines() {
            let Some((unit, program)) = line.split_once(' ') else { continue };
            if let Ok(unit) = unit.parse() {
                reached.entry(unit).or_default().insert(program.to_owned());
            }
        }
        reached
    }

    /// Builds the current sources. Returns the compilers' output if that fails, and otherwise which
    /// programs reached which functions during the build. These are programs of the build, or tests
    /// if only a test run builds.
    ///
    /// # Errors
    /// If the build cannot be started.
    pub fn build(
        &mut self,
        with: TestSelection<'_>,
    ) -> anyhow::Result<Result<ReachingPrograms, String>> {
        if self.suite.is_driven() {
            return Ok(self.learn_driven(with)?.map(|_| ReachingPrograms::new()));
        }
        let top = self.copy.top();
        self.set("r")?;
        self.reached();
        let (is_built, said) = match self.suite.build(&mut self.runs, &top, true)? {
            Some(built) => built,
            None => {
                let how = RunLimits::WHOLE;
                let ran = self.suite.run(&mut self.runs, &top, &RunRequirements::default(), how)?;
                (ran.run.is_some_and(|run| !run.tests.is_empty()), ran.text)
            }
        };
        Ok(if is_built { Ok(self.reached()) } else { Err(said) })
    }

    /// Runs all tests of the build with no mutant active, and determines what to run for each
    /// mutant. Returns the functions that were reached, or the reason why the build cannot be used.
    ///
    /// # Errors
    /// If the tests cannot be started.
    pub fn learn(
        &mut self,
        with: TestSelection<'_>,
    ) -> anyhow::Result<Result<ReachingPrograms, String>> {
        // With a driver, loading the tests replaces building.
        if let Some(built) = self.built.as_ref().filter(|own| own.driven.is_some()) {
            return Ok(Ok(built.reached.clone()));
        }
        let top = self.copy.top();
        let kept = self.runs.place().join("kept");
        let _is_none = fs::remove_dir_all(&kept);
        fs::create_dir(&kept).with_context(|| kept.display().to_string())?;
        self.set("r")?;
        self.reached();
        let wanted = RunRequirements { keep: Some(kept.clone()), ..RunRequirements::default() };
        let how = RunLimits::WHOLE;
        let ran = self.suite.run(&mut self.runs, &top, &wanted, how)?;
        if let Some(missing) = missing(&[&ran], with) {
            return Ok(Err(missing));
        }
        let reached = self.reached();
        let seconds = ran.seconds;
        // With flaky tests, a failure must not end a run early.
        let stops = with.flaky.is_empty();
        let (stages, singly, driven) = (Vec::new(), SingleTestReach::default(), None);
        let reaches = reached.clone();
        let mut built =
            CopyBuild { stages, kept, seconds, stops, reached: reaches, singly, driven };
        self.set("0")?;
        built.stages = self.stages(&built, with)?;
        self.built = Some(built);
        Ok(Ok(reached))
    }

    /// Returns the stages to run instead of the user's command, if they report the same tests:
    /// programs first, then commands that compile before they run.
    fn stages(&mut self, built: &CopyBuild, with: TestSelection<'_>) -> anyhow::Result<Vec<Stage>> {
        let top = self.copy.top();
        let kind = |own: &Program| match own.path() {
            _ if own.status.is_some() => Kind::Silent,
            Some(path) if own.place.join(path).is_file() => Kind::Telling,
            _ => Kind::Compiling,
        };
        let mut all = recorded(&built.kept);
        for own in &mut all {
            own.tests = self.suite.framework.names(own).unwrap_or_default();
        }
        let (mut stages, mut told) = (Vec::new(), Vec::new());
        for of in [Kind::Telling, Kind::Silent, Kind::Compiling] {
            let programs: Vec<Program> =
                all.iter().filter(|own| kind(own) == of).cloned().collect();
            if programs.is_empty() {
                continue;
            }
            let own: Vec<&Program> = programs.iter().collect();
            let how = RunLimits { stops: built.stops, ..RunLimits::WHOLE };
            let ran = self.suite.again(&mut self.runs, &top, (&own, &built.kept), how)?;
            let Some(ran) = ran else { return Ok(Vec::new()) };
            // Silent programs that do not end with status 0 are judged by the commands that report
            // them.
            if of == Kind::Silent && ran.outcome != Outcome::Exited(0) {
                continue;
            }
            let reported = reported(&ran);
            stages.push(Stage { kind: of, seconds: ran.seconds, programs, reported });
            if of != Kind::Silent {
                told.push(ran);
            }
        }
        let told: Vec<&SuiteRun> = told.iter().collect();
        Ok(if missing(&told, with).is_none() { stages } else { Vec::new() })
    }

    /// Tries a mutant of the build.
    ///
    /// # Errors
    /// If the switch cannot be set, or tests cannot be started.
    pub fn behind(
        &mut self,
        own: SwitchedMutant,
        with: TestSelection<'_>,
    ) -> anyhow::Result<TrialResult> {
        let built = self.built.take().context("nothing is built with a switch")?;
        self.set(&own.number.to_string())?;
        let came = self.tried(&built, own, with);
        self.set("0")?;
        self.built = Some(built);
        let noticed = came.iter().flat_map(|came| &came.killed_by);
        noticed.for_each(|test| *self.kills.entry(*test).or_default() += 1);
        came
    }

    fn tried(
        &mut self,
        built: &CopyBuild,
        behind: SwitchedMutant,
        with: TestSelection<'_>,
    ) -> anyhow::Result<TrialResult> {
        if built.driven.is_some()
            && let Some(came) = self.tried_driven(built, behind, with)?
        {
            return Ok(came);
        }
        if built.stages.is_empty() {
            let ran = self.run_with(behind, None, built.seconds, built)?;
            return Ok(judged(&ran, true, Some(with.ends.reported), with));
        }
        let mut came = untried(Fate::Survived);
        let has_silent = built.stages.iter().any(|own| own.kind == Kind::Silent);
        for stage in &built.stages {
            // The programs that it compiles have already been run as silent ones.
            if stage.kind == Kind::Compiling && has_silent {
                continue;
            }
            let programs = those_that_reach(stage, built, behind.unit);
            if programs.is_empty() {
                continue;
            }
            let own = match self.tried_singly((&programs, stage), built, behind, with)? {
                Some(own) => own,
                None => {
                    let ran = self.run_with(behind, Some(&programs), stage.seconds, built)?;
                    TrialResult { seconds: ran.seconds, ..came_of(stage, &programs, &ran, with) }
                }
            };
            came = TrialResult {
                tests_run: came.tests_run + own.tests_run,
                seconds: came.seconds + own.seconds,
                ..own
            };
            if came.fate != Fate::Survived {
                break;
            }
        }
        Ok(came)
    }
}

impl Arena<'_> {
    /// Runs programs (`None` means the user's command), which take `seconds` without a change, with
    /// a mutant active. A run that uses far more CPU time is ended early. It is taken to be in an
    /// endless loop if the same programs are quick without the mutant; everything else has the time
    /// limit for a busy machine.
    ///
    /// # Errors
    /// If the programs cannot be started, or the switch cannot be set.
    pub fn run_with(
        &mut self,
        behind: SwitchedMutant,
        programs: Option<&[&Program]>,
        seconds: f64,
        built: &CopyBuild,
    ) -> anyhow::Result<SuiteRun> {
        let patient = limit(seconds, built);
        let soon = Duration::from_secs_f64(seconds * PATIENCE) + COMPUTING_MORE;
        let soon = RunLimits { limit: soon, ..patient };
        let ran = self.run_again(programs, built, soon)?;
        if ran.outcome != Outcome::TimedOut {
            return Ok(ran);
        }
        // A run that used little CPU time may have been waiting for a busy machine.
        if ran.computed >= COMPUTING_LEAST {
            self.set("0")?;
            let control = self.run_again(programs, built, RunLimits { stops: false, ..soon })?;
            self.set(&behind.number.to_string())?;
            let is_quick = control.computed <= ran.computed * COMPUTING_SHARE;
            if control.outcome == Outcome::Exited(0) && is_quick {
                return Ok(ran);
            }
        }
        self.run_again(programs, built, patient)
    }

    fn run_again(
        &mut self,
        programs: Option<&[&Program]>,
        built: &CopyBuild,
        how: RunLimits,
    ) -> anyhow::Result<SuiteRun> {
        let (top, runs) = (self.copy.top(), &mut self.runs);
        let Some(programs) = programs else {
            return self.suite.run(runs, &top, &RunRequirements::default(), how);
        };
        let ran = self.suite.again(runs, &top, (programs, built.kept.as_path()), how)?;
        ran.context("what ran before cannot run again")
    }
}

/// Returns the fate of a mutant after a run of a stage's programs.
fn came_of(
    stage: &Stage,
    programs: &[&Program],
    ran: &SuiteRun,
    with: TestSelection<'_>,
) -> TrialResult {
    match (stage.kind, ran.outcome) {
        (Kind::Silent, Outcome::TimedOut) => untried(Fate::TimedOut),
        (Kind::Silent, Outcome::Exited(0)) => {
            TrialResult { tests_run: programs.len(), ..untried(Fate::Survived) }
        }
        (Kind::Silent, _) => {
            let reason = Some("a test in documentation fails".to_owned());
            TrialResult { tests_run: 1, reason, ..untried(Fate::Killed) }
        }
        _ => {
            let expected = stage.tests_of(programs);
            judged(ran, true, expected, with)
        }
    }
}

/// Returns the limits of a run with a change whose tests take `seconds` without one, when nothing
/// remains to be built. An endless loop is detected by its CPU time, long before the time limit,
/// which allows for a busy machine.
pub(crate) fn limit(seconds: f64, built: &CopyBuild) -> RunLimits {
    let patient = seconds * PATIENCE;
    let limit = Duration::from_secs_f64(patient) + FORKED_MORE;
    // Sum over all processors, in whole seconds, which is the unit of the limit.
    let processors = available_parallelism().map_or(1, NonZero::get);
    let computing = Some((patient * processors as f64).ceil().max(1.0) as u64);
    RunLimits { limit, computing, stops: built.stops }
}

/// Returns the number of tests of each program in a run, by the prefix of their names.
fn reported(ran: &SuiteRun) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    for test in ran.run.iter().flat_map(|run| &run.tests) {
        if let Some((program, _)) = test.name.split_once(": ") {
            *counts.entry(program.to_owned()).or_default() += 1;
        }
    }
    counts
}

/// Returns the programs of a stage that may reach a function; all programs if unknown.
fn those_that_reach<'s>(stage: &'s Stage, built: &CopyBuild, unit: usize) -> Vec<&'s Program> {
    let known = built.that_reach(unit);
    let reaches = |own: &&Program| known.as_ref().is_none_or(|all| all.contains(own));
    stage.programs.iter().filter(reaches).collect()
}

impl CopyBuild {
    /// Creates the build of a driver from the durations (s) of the user's command and of the tests
    /// in the driver, and the functions that the tests reach.
    pub fn driven(
        (seconds, driven): (f64, f64),
        reached: ReachingPrograms,
        tests: HashMap<usize, Vec<usize>>,
    ) -> Self {
        let (stages, kept, singly) = (Vec::new(), PathBuf::new(), SingleTestReach::of(tests));
        Self { stages, kept, seconds, stops: true, reached, singly, driven: Some(driven) }
    }

    /// Returns the same build for another copy; `None` if each copy has to be built separately.
    pub fn elsewhere(&self) -> Option<Self> {
        let tests = self.singly.tests().clone();
        let driven = self.driven?;
        Some(Self::driven((self.seconds, driven), self.reached.clone(), tests))
    }

    /// Returns the programs that reach a function; `None` if another program reached it, which one
    /// of them may have started.
    pub fn that_reach(&self, unit: usize) -> Option<Vec<&Program>> {
        let path = |own: &Program| {
            let path = own.place.join(own.path()?).canonicalize().ok()?;
            Some(path.to_string_lossy().into_owned())
        };
        let all = || self.stages.iter().flat_map(|own| &own.programs);
        let known: HashSet<String> = all().filter_map(path).collect();
        let reach = self.reached.get(&unit)?;
        let reaches = |own: &&Program| path(own).is_some_and(|own| reach.contains(&own));
        reach.iter().all(|own| known.contains(own)).then(|| all().filter(reaches).collect())
    }
}

/// Returns the reason why tests that normally pass are not known to pass in these runs; `None` if
/// all pass.
fn missing(all: &[&SuiteRun], with: TestSelection<'_>) -> Option<String> {
    let tests = || all.iter().flat_map(|ran| &ran.run).flat_map(|run| &run.tests);
    let passed: HashSet<&str> = tests()
        .filter(|test| test.status != TestStatus::Failed)
        .map(|test| test.name.as_str())
        .collect();
    let without = with.all.iter().find(|test| !passed.contains(test.name.as_str()))?;
    Some(format!("{} does not pass when it is built with all changes", without.name))
}
