//! A `test` job: the version is fetched and installed with network access, and its tests are run
//! without it, unless the recipe says otherwise. The frameworks of `assay tests` report which tests
//! ran, which is the evidence.

use super::commands::{CommandResult, Commands};
use super::directory::disarm;
use super::fetching::{FetchError, FetchedVersion};
use super::judging::{self, Judgement, Stop};
use super::policy::FREE;
use super::runtimes::Runtime;
use super::suggesting::{Steps, steps};
use anyhow::{Context, anyhow};
use assay_data::system_error::reason;
use assay_farm::builds::model::{Fault, State};
use assay_farm::builds::wire::{Evidence, LeasedJob};
use assay_measure::Command;
use assay_measure::clock::now_seconds;
use assay_suites::{
    Answer, Call, Run, RunRequirements, SuiteError, add_to_environment, frameworks,
};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// Maximum size of a report, bytes.
const LONGEST_REPORT: u64 = 256 << 20;

/// The result of a job.
#[derive(Debug)]
pub(super) struct TestJobResult {
    pub judged: Judgement,
    pub evidence: Evidence,
    pub steps: Steps,
}

impl TestJobResult {
    /// Creates a result without evidence.
    pub fn of(judged: Judgement) -> Self {
        Self { judged, evidence: Evidence::default(), steps: Steps::default() }
    }

    /// Creates the result of a job that was ended early, which proves nothing about the version.
    pub fn unwanted(why: String) -> Self {
        Self::of((State::Infrastructure, None, why))
    }

    /// Creates a result from a judgment and the steps that led to it.
    fn after(judged: Judgement, steps: &Steps) -> Self {
        Self { steps: steps.clone(), ..Self::of(judged) }
    }
}

/// Returns the judgment for a version that could not be fetched.
pub(super) fn not_fetched(error: &FetchError) -> Judgement {
    let why = error.to_string();
    match error {
        FetchError::Network(_) => (State::Infrastructure, Some(Fault::Network), why),
        FetchError::Disk(_) => (State::Infrastructure, Some(Fault::Disk), why),
        FetchError::Toolchain(_) => (State::Infrastructure, Some(Fault::Toolchain), why),
        FetchError::Gone(_) | FetchError::Version(_) => (State::InstallFailed, None, why),
        FetchError::Ended => {
            (State::TimedOut, None, "it was not fetched within its time limit".to_owned())
        }
    }
}

/// Returns a result if there is too little disk space for a job.
pub(super) fn no_room(commands: &Commands<'_>) -> Option<TestJobResult> {
    let free = commands.place.free();
    (free < FREE).then(|| {
        let why = format!("only {free} bytes are free on the disk of the node");
        TestJobResult::of((State::Infrastructure, Some(Fault::Disk), why))
    })
}

/// Runs the job.
///
/// # Errors
/// If no sandbox can be created, which is the machine's fault.
pub(super) fn test(
    commands: &mut Commands<'_>,
    leased: &LeasedJob,
    runtime: &Runtime,
) -> anyhow::Result<TestJobResult> {
    if let Some(found) = no_room(commands) {
        return Ok(found);
    }
    let work = commands.job.work();
    let fetched = match commands.fetch(&leased.project, &leased.version, &work) {
        Ok(fetched) => fetched,
        Err(error) => return Ok(refused(commands, &error)),
    };
    let recipe = &leased.project.of.recipe;
    let gem = brought(commands, &fetched)?;
    let steps = steps(recipe, &fetched.top, runtime, gem.as_deref());
    if let Some(judged) = install(commands, &steps, &fetched.top)? {
        return Ok(match judged {
            Ok(judged) => TestJobResult::after(judged, &steps),
            Err(why) => TestJobResult::unwanted(why),
        });
    }
    let Some(line) = steps.test.clone() else {
        let why = "the recipe has no tests, and its files suggest none".to_owned();
        return Ok(TestJobResult::after((State::NotTested, None, why), &steps));
    };
    let (came, run) = match tests(commands, &line, &fetched.top, recipe.network)? {
        Ok(ran) => ran,
        Err(why) => return Ok(TestJobResult::after((State::Errored, None, why), &steps)),
    };
    if let Some(Stop::Unwanted(why)) = &came.stop {
        return Ok(TestJobResult::unwanted(why.clone()));
    }
    let judged = judging::tested(&came.ended(steps.is_own_test), &run);
    let evidence = judging::evidence(&run);
    Ok(TestJobResult { evidence, ..TestJobResult::after(judged, &steps) })
}

/// Returns the result for a version that could not be fetched, if the job is still wanted.
pub(super) fn refused(commands: &mut Commands<'_>, error: &FetchError) -> TestJobResult {
    commands.log.say(&error.to_string());
    match commands.unwanted() {
        Some(Stop::Unwanted(why)) => TestJobResult::unwanted(why),
        _ => TestJobResult::of(not_fetched(error)),
    }
}

/// Moves a gem's file to where it can be installed from.
fn brought(
    commands: &Commands<'_>,
    fetched: &FetchedVersion,
) -> anyhow::Result<Option<std::path::PathBuf>> {
    let Some(file) = &fetched.gem else { return Ok(None) };
    let to = commands.job.home().join("version.gem");
    fs::rename(file, &to).with_context(|| to.display().to_string())?;
    commands.job.hand_over(commands.walls)?;
    Ok(Some(to))
}

/// Installs a version's dependencies. Returns `None` on success, `Ok` with the judgment if they
/// cannot be installed, and `Err` if the job is no longer wanted.
pub(super) fn install(
    commands: &mut Commands<'_>,
    steps: &Steps,
    top: &Path,
) -> anyhow::Result<Option<Result<Judgement, String>>> {
    for line in &steps.install {
        let came = commands.line(line, top, true)?;
        if let Some(Stop::Unwanted(why)) = &came.stop {
            return Ok(Some(Err(why.clone())));
        }
        if let Some(judged) = judging::installed(&came.ended(steps.is_own_install), line) {
            return Ok(Some(Ok(judged)));
        }
    }
    Ok(None)
}

/// The results of the tests, or the reason why they cannot be obtained.
type TestAttempt = Result<(CommandResult, Result<Run, SuiteError>), String>;

fn tests(
    commands: &mut Commands<'_>,
    line: &str,
    top: &Path,
    network: bool,
) -> anyhow::Result<TestAttempt> {
    let command = match Command::parse(line, false) {
        Ok(command) => command,
        Err(error) => return Ok(Err(format!("its tests can't be run: {error}"))),
    };
    let call = Call::new(&command.argv, top);
    let framework = frameworks::by_call(&call);
    let room = commands.job.rooms().join("1");
    fs::create_dir(&room).with_context(|| room.display().to_string())?;
    let request = match framework.ask(&call, &RunRequirements::default(), &room) {
        Ok(request) => request,
        Err(error) => return Ok(Err(error.to_string())),
    };
    request.write().map_err(|(path, error)| anyhow!("{}: {}", path.display(), reason(&error)))?;
    commands.job.hand_over(commands.walls)?;
    let mut env: BTreeMap<String, String> = command.env.into_iter().collect();
    add_to_environment(&mut env, &request.env, &request.options, &request.paths);
    let env: Vec<(OsString, OsString)> =
        env.into_iter().map(|(name, own)| (name.into(), own.into())).collect();
    commands.log.say(&format!("$ {line}"));
    let began = now_seconds();
    let came = commands.run(&request.argv, env, (top, network), false)?;
    // All processes of the job have ended, so the agent can safely read the files.
    for own in [commands.job.rooms(), commands.job.work()] {
        disarm(&own, LONGEST_REPORT).with_context(|| own.display().to_string())?;
    }
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    let answer = Answer {
        room: &room,
        directory: top,
        output: &came.ran.output.bytes,
        errors: &came.ran.errors.bytes,
        began,
        ended: began + came.ran.seconds,
        since_1970: since - now_seconds(),
    };
    let run = framework.read(&answer);
    Ok(Ok((came, run)))
}
