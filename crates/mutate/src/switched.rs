//! A copy in which functions have their mutants behind a switch: it is built once for many, and to try one is to set the switch and to run the tests. Where
//! the framework's programs can be started without what builds them, they are, and only those that reach the changed function.
//!
//! Before anything is believed, all tests run with no mutant on: they must pass as they do without a switch.

use crate::arena::{Arena, Came, With, judged, untried};
use crate::policy::{COMPUTING_LEAST, COMPUTING_MORE, COMPUTING_SHARE, FORKED_MORE, PATIENCE};
use crate::singly::Singly;
use crate::sources::Source;
use crate::suite::{How, Ran};
use crate::switches::Standing;
use anyhow::Context;
use assay_data::mutation::Fate;
use assay_data::test_results::TestStatus;
use assay_measure::Outcome;
use assay_mutants::switch::{BODIES, body_file};
use assay_suites::Wanted;
use assay_suites::programs::{Program, recorded};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;
use std::time::Duration;

/// Which programs reached each function, by its number.
pub(crate) type Reached = HashMap<usize, BTreeSet<String>>;

/// What is built of a copy.
pub(crate) struct Built {
    /// What runs, one stage behind the other; none: the user's command.
    pub stages: Vec<Stage>,
    /// Where programs are kept.
    pub kept: PathBuf,
    /// How long the user's command takes, s.
    seconds: f64,
    /// Whether a run may end at the first test that fails.
    stops: bool,
    /// Which programs reach what,
    pub reached: Reached,
    /// and what is known of their tests.
    pub singly: Singly,
    /// The time of all tests in a driver, s; programs are test files then. `None` without a driver.
    pub driven: Option<f64>,
}

/// What kind of programs run in one go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Test programs, which tell their tests.
    Telling,
    /// Programs of single tests, which tell nothing but how they end.
    Silent,
    /// What compiles such programs before it runs them, and tells them.
    Compiling,
}

/// Programs that run in one go.
pub(crate) struct Stage {
    pub kind: Kind,
    pub programs: Vec<Program>,
    /// How long they take together, s.
    pub seconds: f64,
    /// Number of tests that each program reports without a change, by the prefix of their names; empty: not known.
    pub reported: HashMap<String, usize>,
}

impl Stage {
    /// Number of tests that some of its programs report together; `None`: not known for all of them.
    fn tests_of(&self, programs: &[&Program]) -> Option<usize> {
        let one = |own: &&Program| {
            let is_own = !own.tests.is_empty() && own.only.is_empty();
            let others = self.programs.iter().filter(|other| other.tests == own.tests).count();
            self.reported.get(&own.tests).filter(|_| is_own && others == 1).copied()
        };
        programs.iter().map(one).sum()
    }
}

/// A mutant behind the switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Behind {
    /// Its number in what is built.
    pub number: usize,
    /// The number of its function.
    pub unit: usize,
}

/// Where the switch of a copy is, and what belongs to it.
pub(crate) struct At {
    pub switch: PathBuf,
    /// What is noted.
    pub reached: PathBuf,
    /// Bodies that stand in files of their own.
    pub bodies: PathBuf,
}

impl At {
    /// That of the copy with this top.
    pub fn of(top: &Path) -> Self {
        let own = top.join(".assay");
        let (switch, reached) = (own.join("switch"), own.join("reached"));
        Self { switch, reached, bodies: top.join(BODIES) }
    }
}

impl Arena<'_> {
    /// Has these texts stand in their files, and in all others what is theirs.
    ///
    /// # Errors
    /// When they can't be written.
    pub fn stand(&mut self, standing: &[Standing], sources: &[Source]) -> anyhow::Result<()> {
        let path = |own: &Standing| sources.get(own.source).map(|own| own.path.clone());
        let texts: HashMap<String, Vec<u8>> = standing
            .iter()
            .filter_map(|own| Some((path(own)?, own.switched.text.clone())))
            .collect();
        self.set("0")?;
        let At { bodies, .. } = At::of(&self.copy.top());
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

    /// Sets the switch: to the number of a mutant, `0`, or `r`, with which it is noted what is reached.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn set(&self, to: &str) -> anyhow::Result<()> {
        let At { switch, .. } = At::of(&self.copy.top());
        if let Some(above) = switch.parent().filter(|above| !above.exists()) {
            fs::create_dir(above).with_context(|| above.display().to_string())?;
            self.suite.walls.hand_over(above)?;
        }
        fs::write(&switch, to).with_context(|| switch.display().to_string())
    }

    /// What was noted since, which is forgotten there.
    pub fn reached(&self) -> Reached {
        let At { reached: noted, .. } = At::of(&self.copy.top());
        let text = fs::read(&noted).unwrap_or_default();
        let _is_none = fs::remove_file(&noted);
        let mut reached = Reached::new();
        for line in String::from_utf8_lossy(&text).lines() {
            let Some((unit, program)) = line.split_once(' ') else { continue };
            if let Ok(unit) = unit.parse() {
                reached.entry(unit).or_default().insert(program.to_owned());
            }
        }
        reached
    }

    /// Builds what stands; what compilers said, if it can't be built, or which programs reached what meanwhile: they are the build's own, or tests, where only
    /// a run of the tests builds.
    ///
    /// # Errors
    /// When it can't be started.
    pub fn build(&mut self, with: With<'_>) -> anyhow::Result<Result<Reached, String>> {
        if self.suite.is_driven() {
            return Ok(self.learn_driven(with)?.map(|_| Reached::new()));
        }
        let top = self.copy.top();
        self.set("r")?;
        self.reached();
        let (is_built, said) = match self.suite.build(&mut self.runs, &top, true)? {
            Some(built) => built,
            None => {
                let how = How::WHOLE;
                let ran = self.suite.run(&mut self.runs, &top, &Wanted::default(), how)?;
                (ran.run.is_some_and(|run| !run.tests.is_empty()), ran.text)
            }
        };
        Ok(if is_built { Ok(self.reached()) } else { Err(said) })
    }

    /// Runs all tests of what is built with no mutant on, and learns what runs again for each. Which functions were reached, or why nothing of it can be
    /// believed.
    ///
    /// # Errors
    /// When they can't be started.
    pub fn learn(&mut self, with: With<'_>) -> anyhow::Result<Result<Reached, String>> {
        // It is built by being loaded.
        if let Some(built) = self.built.as_ref().filter(|own| own.driven.is_some()) {
            return Ok(Ok(built.reached.clone()));
        }
        let top = self.copy.top();
        let kept = self.runs.place().join("kept");
        let _is_none = fs::remove_dir_all(&kept);
        fs::create_dir(&kept).with_context(|| kept.display().to_string())?;
        self.set("r")?;
        self.reached();
        let wanted = Wanted { keep: Some(kept.clone()), ..Wanted::default() };
        let how = How::WHOLE;
        let ran = self.suite.run(&mut self.runs, &top, &wanted, how)?;
        if let Some(missing) = missing(&[&ran], with) {
            return Ok(Err(missing));
        }
        let reached = self.reached();
        let seconds = ran.seconds;
        // One that fails at times does not end it.
        let stops = with.flaky.is_empty();
        let (stages, singly, driven) = (Vec::new(), Singly::default(), None);
        let reaches = reached.clone();
        let mut built = Built { stages, kept, seconds, stops, reached: reaches, singly, driven };
        self.set("0")?;
        built.stages = self.stages(&built, with)?;
        self.built = Some(built);
        Ok(Ok(reached))
    }

    /// What runs again, if that tells what a run does: programs first, then what compiles before it runs.
    fn stages(&mut self, built: &Built, with: With<'_>) -> anyhow::Result<Vec<Stage>> {
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
            let how = How { stops: built.stops, ..How::WHOLE };
            let ran = self.suite.again(&mut self.runs, &top, (&own, &built.kept), how)?;
            let Some(ran) = ran else { return Ok(Vec::new()) };
            // Silent ones that don't end as they did are better told.
            if of == Kind::Silent && ran.outcome != Outcome::Exited(0) {
                continue;
            }
            let reported = reported(&ran);
            stages.push(Stage { kind: of, seconds: ran.seconds, programs, reported });
            if of != Kind::Silent {
                told.push(ran);
            }
        }
        let told: Vec<&Ran> = told.iter().collect();
        Ok(if missing(&told, with).is_none() { stages } else { Vec::new() })
    }

    /// Tries a mutant of what is built.
    ///
    /// # Errors
    /// When the switch can't be set, or tests not be started.
    pub fn behind(&mut self, own: Behind, with: With<'_>) -> anyhow::Result<Came> {
        let built = self.built.take().context("nothing is built with a switch")?;
        self.set(&own.number.to_string())?;
        let came = self.tried(&built, own, with);
        self.set("0")?;
        self.built = Some(built);
        let noticed = came.iter().flat_map(|came| &came.killed_by);
        noticed.for_each(|test| *self.kills.entry(*test).or_default() += 1);
        came
    }

    fn tried(&mut self, built: &Built, behind: Behind, with: With<'_>) -> anyhow::Result<Came> {
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
            // What is compiled by it has run by then.
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
                    Came { seconds: ran.seconds, ..came_of(stage, &programs, &ran, with) }
                }
            };
            came = Came {
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
    /// Runs programs (`None`: the user's command), which take so long otherwise (s), with a mutant on. What computes far longer than that is ended soon, and believed to have no end if the
    /// same programs are quick without the mutant; all else that takes long has the time that a busy machine is given.
    ///
    /// # Errors
    /// When they can't be started, or the switch not be set.
    pub fn run_with(
        &mut self,
        behind: Behind,
        programs: Option<&[&Program]>,
        seconds: f64,
        built: &Built,
    ) -> anyhow::Result<Ran> {
        let patient = limit(seconds, built);
        let soon = Duration::from_secs_f64(seconds * PATIENCE) + COMPUTING_MORE;
        let soon = How { limit: soon, ..patient };
        let ran = self.run_again(programs, built, soon)?;
        if ran.outcome != Outcome::TimedOut {
            return Ok(ran);
        }
        // What waits may wait for a machine that is busy.
        if ran.computed >= COMPUTING_LEAST {
            self.set("0")?;
            let control = self.run_again(programs, built, How { stops: false, ..soon })?;
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
        built: &Built,
        how: How,
    ) -> anyhow::Result<Ran> {
        let (top, runs) = (self.copy.top(), &mut self.runs);
        let Some(programs) = programs else {
            return self.suite.run(runs, &top, &Wanted::default(), how);
        };
        let ran = self.suite.again(runs, &top, (programs, built.kept.as_path()), how)?;
        ran.context("what ran before can't run again")
    }
}

/// What a run of programs of a kind means.
fn came_of(stage: &Stage, programs: &[&Program], ran: &Ran, with: With<'_>) -> Came {
    match (stage.kind, ran.outcome) {
        (Kind::Silent, Outcome::TimedOut) => untried(Fate::TimedOut),
        (Kind::Silent, Outcome::Exited(0)) => {
            Came { tests_run: programs.len(), ..untried(Fate::Survived) }
        }
        (Kind::Silent, _) => {
            let reason = Some("a test in documentation fails".to_owned());
            Came { tests_run: 1, reason, ..untried(Fate::Killed) }
        }
        _ => {
            let expected = stage.tests_of(programs);
            judged(ran, true, expected, with)
        }
    }
}

/// How what takes so long otherwise is run with a change: nothing is built any more. A change that makes something compute without an end is seen by that,
/// long before the time is up that a busy machine is given.
pub(crate) fn limit(seconds: f64, built: &Built) -> How {
    let patient = seconds * PATIENCE;
    let limit = Duration::from_secs_f64(patient) + FORKED_MORE;
    // Of all processors; and no system counts less than seconds.
    let processors = available_parallelism().map_or(1, NonZero::get);
    let computing = Some((patient * processors as f64).ceil().max(1.0) as u64);
    How { limit, computing, stops: built.stops }
}

/// Number of tests of each program in a run, by the prefix of their names.
fn reported(ran: &Ran) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    for test in ran.run.iter().flat_map(|run| &run.tests) {
        if let Some((program, _)) = test.name.split_once(": ") {
            *counts.entry(program.to_owned()).or_default() += 1;
        }
    }
    counts
}

/// The programs of a stage that a function may be reached by: all, where nobody knows.
fn those_that_reach<'s>(stage: &'s Stage, built: &Built, unit: usize) -> Vec<&'s Program> {
    let known = built.that_reach(unit);
    let reaches = |own: &&Program| known.as_ref().is_none_or(|all| all.contains(own));
    stage.programs.iter().filter(reaches).collect()
}

impl Built {
    /// One for a driver: the times of the user's command and of the driver (s), and the functions that its tests reach.
    pub fn driven(
        (seconds, driven): (f64, f64),
        reached: Reached,
        tests: HashMap<usize, Vec<usize>>,
    ) -> Self {
        let (stages, kept, singly) = (Vec::new(), PathBuf::new(), Singly::of(tests));
        Self { stages, kept, seconds, stops: true, reached, singly, driven: Some(driven) }
    }

    /// The same for another copy; `None`: each copy has to be built by itself.
    pub fn elsewhere(&self) -> Option<Self> {
        let tests = self.singly.tests().clone();
        let driven = self.driven?;
        Some(Self::driven((self.seconds, driven), self.reached.clone(), tests))
    }

    /// The programs that reach a function; `None`: another one reached it, which one of them may have started.
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

/// Why tests that pass otherwise are not known to pass now; `None`: all do.
fn missing(all: &[&Ran], with: With<'_>) -> Option<String> {
    let tests = || all.iter().flat_map(|ran| &ran.run).flat_map(|run| &run.tests);
    let passed: HashSet<&str> = tests()
        .filter(|test| test.status != TestStatus::Failed)
        .map(|test| test.name.as_str())
        .collect();
    let without = with.all.iter().find(|test| !passed.contains(test.name.as_str()))?;
    Some(format!("{} does not pass when it is built with all changes", without.name))
}
