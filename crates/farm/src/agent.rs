//! The agent: asks for a job, does it in the sandbox, hands in what came of it, and asks again. One job at a time, so that a benchmark has the machine
//! for itself. A sign of life goes to the server meanwhile; when the job is not wanted any more, all that runs of it ends.
//!
//! What must never happen: that a result is lost (it is on the disk before it is sent), that it counts twice (it has a key from the start), that something
//! outlives the agent (the launcher ends it, even if the agent is killed), or that a stranger's code sees the token (the sandbox has none of its variables and
//! files).

mod benching;
mod commands;
mod discovering;
mod fetching;
mod judging;
mod lease;
mod log;
mod place;
mod platform;
mod policy;
mod qualifying;
mod repeating;
mod runtimes;
mod spool;
mod suggesting;
mod testing;
mod walls;

use crate::Ending;
use anyhow::{Context, bail};
use assay_builds::model::{Fault, Kind, State};
use assay_builds::wire::{self, Asking, Hello, Leased, Outcome, Welcome};
use assay_console::output;
use assay_farm::client::{Client, ClientError, Code, Lease, jittered};
use assay_farm::plain;
use assay_measure::interrupt;
use commands::Commands;
use fetching::{Means, Web};
use lease::Held;
use log::{Log, Sending};
use place::{Job, Place};
use runtimes::Own;
use spool::{Entry, Spool};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use testing::Found;
use walls::Walls;

/// What the agent calls itself.
const TOOL: &str = concat!("assay-farm ", env!("CARGO_PKG_VERSION"));
/// So often in a row somebody else may have been quicker.
const CONFLICTS: u32 = 5;

/// What is wanted of an agent.
#[derive(Debug)]
pub(crate) struct Settings {
    pub name: String,
    /// One job alone: this one, or any.
    pub once: Option<Option<i64>>,
    pub directory: PathBuf,
    /// Of the runtimes that are there, these alone.
    pub runtimes: Vec<String>,
    pub kinds: Vec<Kind>,
    /// Bytes that a job may write.
    pub disk: u64,
    pub calibrates: Option<Duration>,
    pub discovers: Option<Duration>,
    pub allows_files: bool,
}

/// An agent at work.
struct Agent<'a> {
    settings: &'a Settings,
    client: Arc<Client>,
    walls: Walls,
    web: Web,
    place: Place,
    spool: Spool,
    targets: Vec<Own>,
    /// What measures; `None`: it is not there.
    assay: Option<PathBuf>,
    instance: String,
    welcome: Welcome,
    calibrated: Option<Instant>,
    discovered: Option<Instant>,
    /// Questions in a row that nobody answered.
    unanswered: u32,
}

/// Runs until somebody ends it, or one job is done.
///
/// # Errors
/// When the server refuses the agent, or nothing can be run here.
pub(crate) fn run(settings: &Settings, client: Client) -> anyhow::Result<Ending> {
    interrupt::install()?;
    let mut walls = Walls::find()?;
    // Agents for one job may be placed on a machine side by side.
    let most = if settings.once.is_some() { policy::AT_ONCE } else { 1 };
    let place = Place::open(&settings.directory, most, &walls)?;
    let found = runtimes::find(&mut walls, &settings.runtimes);
    found.notes.iter().for_each(|note| say(note));
    if found.targets.is_empty() {
        let what = match settings.runtimes.as_slice() {
            [] => "no runtime".to_owned(),
            asked => format!("no `{}`", asked.join("` or `")),
        };
        bail!(
            "there is {what} here that the user of the sandbox can run; install one for all users and have it on PATH (known are {})",
            runtimes::names()
        );
    }
    found.targets.iter().for_each(|own| say(&format!("target: {}", own.target.name)));
    if !walls.sandbox.has_groups() {
        say(
            "there are no control groups here: memory and processes are limited for each process, not for all of a job together",
        );
    }
    let assay = measuring(place.directory(), &walls)?;
    let mut kinds = settings.kinds.clone();
    if assay.is_none() && kinds.contains(&Kind::Bench) {
        say("there is no `assay` beside this program or in ASSAY: no benchmarks are run here");
        kinds.retain(|kind| *kind != Kind::Bench);
    }
    if kinds.is_empty() {
        bail!("there is nothing that this agent could do");
    }
    let settings = &Settings { kinds, ..settings.copied() };
    let spool = Spool::new(place.spool());
    let mut agent = Agent {
        settings,
        client: Arc::new(client),
        walls,
        web: Web::new(),
        place,
        spool,
        targets: found.targets,
        assay,
        instance: random(8)?,
        welcome: Welcome {
            lease: 0,
            heartbeat: 0,
            ask: 0,
            clock_ahead: 0.0,
            log_limit: 0,
            drained: None,
        },
        calibrated: None,
        discovered: None,
        unanswered: 0,
    };
    if !agent.hello()? {
        return Ok(Ending::Interrupted);
    }
    agent.works()
}

impl Settings {
    fn copied(&self) -> Self {
        Self {
            name: self.name.clone(),
            once: self.once,
            directory: self.directory.clone(),
            runtimes: self.runtimes.clone(),
            kinds: Vec::new(),
            ..*self
        }
    }
}

impl Agent<'_> {
    /// Says that it is there, until somebody hears it; false if it is to end instead.
    fn hello(&mut self) -> anyhow::Result<bool> {
        loop {
            if interrupt::count() > 0 {
                return Ok(false);
            }
            let hello = Hello {
                tool: TOOL.to_owned(),
                targets: self.targets.iter().map(|own| own.target.clone()).collect(),
                kinds: self.settings.kinds.clone(),
                instance: self.instance.clone(),
                time: now(),
            };
            match self.client.hello(&self.settings.name, &hello) {
                Ok(welcome) => {
                    self.unanswered = 0;
                    if let Some(reason) = &welcome.drained {
                        say(&format!("the server gives this node no jobs: {reason}"));
                    }
                    if welcome.clock_ahead.abs() > 5.0 {
                        say(&format!(
                            "this clock is {:.0} s off the server's",
                            welcome.clock_ahead
                        ));
                    }
                    self.welcome = welcome;
                    return Ok(true);
                }
                Err(error) => self.away(error)?,
            }
        }
    }

    /// Waits, since nobody answered.
    ///
    /// # Errors
    /// With what the server refused, if that is it.
    fn away(&mut self, error: ClientError) -> anyhow::Result<()> {
        if !error.is_away() {
            return Err(error.into());
        }
        if self.unanswered == 0 {
            say(&format!("{error}; asking again until it is there"));
        }
        self.unanswered = self.unanswered.saturating_add(1);
        let pause = policy::AWAY.saturating_mul(1 << self.unanswered.min(8));
        interrupt::sleep_until(&[], Some(jittered(pause.min(policy::LONG_AWAY))))?;
        Ok(())
    }

    fn works(&mut self) -> anyhow::Result<Ending> {
        let mut conflicts = 0;
        loop {
            if let Err(error) = self.spool.replay(&self.client, &mut say) {
                self.away(error)?;
            }
            if interrupt::count() > 0 {
                if self.spool.waiting() > 0 {
                    say("what could not be handed in yet waits in the directory of this agent");
                }
                return Ok(Ending::Interrupted);
            }
            if self.settings.once.is_none() {
                self.calibrates();
                self.discovers();
            }
            let job = self.settings.once.flatten();
            let asking = Asking {
                instance: self.instance.clone(),
                targets: self.targets.iter().map(|own| own.digest.clone()).collect(),
                kinds: self.settings.kinds.clone(),
                job,
            };
            match self.client.lease(&self.settings.name, &asking) {
                Ok(Lease::Job(leased)) => {
                    (self.unanswered, conflicts) = (0, 0);
                    self.job(&leased)?;
                    if self.settings.once.is_some() {
                        return self.last();
                    }
                }
                Ok(Lease::Nothing(after)) => {
                    (self.unanswered, conflicts) = (0, 0);
                    match self.settings.once {
                        Some(Some(job)) => bail!(
                            "job {job} is not there to be leased: it ended, or another node has it"
                        ),
                        Some(None) => {
                            say("there is nothing to do");
                            return Ok(Ending::Fine);
                        }
                        None => {}
                    }
                    let pause = after.unwrap_or(Duration::from_secs(self.welcome.ask.max(1)));
                    interrupt::sleep_until(&[], Some(jittered(pause)))?;
                }
                // Somebody was quicker; or another agent goes by this name, and then always is: but for those that are placed for one job each, which may
                // be several on a node. Each goes by the name for as long as it takes to get its job.
                Err(error) if error.code() == Some(&Code::Conflict) && conflicts < CONFLICTS => {
                    conflicts += 1;
                    interrupt::sleep_until(&[], Some(jittered(policy::AWAY)))?;
                    if self.settings.once.is_some() && !self.hello()? {
                        return Ok(Ending::Interrupted);
                    }
                }
                // The server began anew, and does not know the node any more.
                Err(error) if error.code() == Some(&Code::NotFound) && job.is_none() => {
                    if !self.hello()? {
                        return Ok(Ending::Interrupted);
                    }
                }
                Err(error) => self.away(error)?,
            }
        }
    }

    /// The end of an agent for one job: what it found is handed in first, as long as nobody ends it.
    fn last(&mut self) -> anyhow::Result<Ending> {
        loop {
            match self.spool.replay(&self.client, &mut say) {
                Ok(()) if interrupt::count() > 0 => return Ok(Ending::Interrupted),
                Ok(()) => return Ok(Ending::Fine),
                Err(_) if interrupt::count() > 0 => return Ok(Ending::Interrupted),
                Err(error) => self.away(error)?,
            }
        }
    }

    /// Does a job, and puts what came of it into the spool.
    fn job(&mut self, leased: &Leased) -> anyhow::Result<()> {
        let id = leased.job.id;
        let Some(own) = self.targets.iter().find(|own| own.digest == leased.target).cloned() else {
            bail!("the server gave this node job {id} for a target that is not here");
        };
        say(&format!(
            "job {id}: {} {} on {}",
            leased.project.name, leased.version.name, own.target.name
        ));
        let (key, began, started) = (random(16)?, now(), Instant::now());
        let job = self.place.job(&key, &own.runtime, self.assay.as_deref())?;
        let mut log = Log::new(&job.beside().join("log"), self.welcome.log_limit)?;
        let every = Duration::from_secs(self.welcome.heartbeat.max(1));
        let held = Held::start(Arc::clone(&self.client), id, &leased.nonce, every)?;
        let sending = Sending::start(
            Arc::clone(&self.client),
            (id, leased.nonce.clone()),
            &log,
            held.over(),
        )?;
        self.walls.refresh()?;
        let done = self.done(leased, &own, (&job, &mut log, &held));
        let Done { found, comparisons, samples } = done.unwrap_or_else(|error| {
            let why = plain::line(&format!("{error:#}"));
            let fault = Some(Fault::Sandbox);
            Done::of(Found::of((State::Infrastructure, fault, why)))
        });
        let (state, fault, reason) = found.judged;
        log.say(&format!("{}: {reason}", state.name()));
        log.close();
        let sent = sending.end();
        if held.is_over() {
            say(&format!("job {id}: {}", held.why()));
            return Ok(());
        }
        say(&format!("job {id}: {}: {reason}", state.name()));
        let outcome = Outcome {
            state,
            fault,
            reason: plain::line(&reason),
            began,
            seconds: started.elapsed().as_secs_f64(),
            evidence: found.evidence,
            repeat: repeating::line(leased, &found.steps, (own.runtime.name, &own.runtime.version))
                .unwrap_or_default(),
            log_cut: log.cut(),
            comparisons,
        };
        let ending = wire::Ending { nonce: leased.nonce.clone(), key, outcome };
        let entry = Entry { job: id, ending, sent };
        self.spool.put(&entry, log.path(), samples.as_deref())?;
        // The lease is held until it is known whether the result arrived.
        if let Err(error) = self.spool.replay(&self.client, &mut say) {
            say(&format!("job {id}: {error}; it waits here"));
        }
        drop(held);
        Ok(())
    }

    fn done(
        &mut self,
        leased: &Leased,
        own: &Own,
        (job, log, held): (&Job, &mut Log, &Held),
    ) -> anyhow::Result<Done> {
        let recipe = &leased.project.of.recipe;
        let span = recipe.timeout.map_or(policy::TIMEOUT, Duration::from_secs);
        let mut commands = Commands {
            walls: &mut self.walls,
            web: &self.web,
            place: &self.place,
            job,
            log,
            held,
            deadline: Instant::now() + span.min(Duration::from_secs(7 * 24 * 3600)),
            disk: self.settings.disk,
            allows_files: self.settings.allows_files,
            limits: commands::limits(recipe),
        };
        match leased.job.of.kind {
            Kind::Test => testing::test(&mut commands, leased, &own.runtime).map(Done::of),
            Kind::Bench => {
                let assay = self.assay.as_deref().context("there is no `assay` here")?;
                let measured = benching::bench(&mut commands, leased, assay)?;
                let (comparisons, samples) = (measured.comparisons, measured.samples);
                Ok(Done { found: measured.found, comparisons, samples })
            }
        }
    }

    /// Looks whether this node may vote, if it is time to.
    fn calibrates(&mut self) {
        let Some((assay, every)) = self.assay.as_ref().zip(self.settings.calibrates) else {
            return;
        };
        let is_due = self.calibrated.is_none_or(|last| last.elapsed() >= every);
        if !is_due || !self.settings.kinds.contains(&Kind::Bench) {
            return;
        }
        self.calibrated = Some(Instant::now());
        let name = &self.settings.name;
        let first = self.place.directory().join("first-calibration");
        let told = match qualifying::calibrate(assay, &first, &now()) {
            Ok(found) => {
                if found.is_fit {
                    let detects = 100.0 * (found.detects - 1.0);
                    say(&format!("calibration: a run of a minute detects {detects:.1} %"));
                }
                let said = self.client.calibrated(name, &found);
                let drained = self.client.node(name).ok().and_then(|own| own.drained);
                let is_ours =
                    drained.as_ref().is_some_and(|own| own.starts_with(qualifying::PREFIX));
                match (found.is_fit, drained) {
                    (false, None) => {
                        let why = format!("{}{}", qualifying::PREFIX, found.reason);
                        say(&why);
                        said.and_then(|()| self.client.drain(name, &why))
                    }
                    (true, Some(_)) if is_ours => said.and_then(|()| self.client.resume(name)),
                    _ => said,
                }
                .map_err(anyhow::Error::from)
            }
            Err(error) => Err(error),
        };
        if let Err(error) = told {
            say(&format!("calibration: {error:#}"));
        }
    }

    /// Looks for new versions, if it is time to.
    fn discovers(&mut self) {
        let Some(every) = self.settings.discovers else { return };
        if self.discovered.is_some_and(|last| last.elapsed() < every) {
            return;
        }
        self.discovered = Some(Instant::now());
        let looked = random(16).and_then(|key| {
            let job = self.place.job(&key, &self.targets[0].runtime, None)?;
            job.hand_over(&self.walls)?;
            let limits = commands::limits(&wire::Recipe::default());
            let policy = job.policy(&job.work(), true, limits);
            let mut means = Means {
                walls: &mut self.walls,
                web: &self.web,
                allows_files: self.settings.allows_files,
                policy: &policy,
                beside: &job.beside(),
            };
            Ok(discovering::discover(&self.client, &mut means, &mut say)?)
        });
        match looked {
            Ok(0) => {}
            Ok(added) => say(&format!("{added} new versions")),
            Err(error) => say(&format!("looking for new versions: {error:#}")),
        }
    }
}

/// What a job came to.
struct Done {
    found: Found,
    comparisons: Vec<wire::Compared>,
    samples: Option<PathBuf>,
}

impl Done {
    fn of(found: Found) -> Self {
        Self { found, comparisons: Vec::new(), samples: None }
    }
}

/// What an agent of this machine would test on, and what is to be said of runtimes that it would leave out.
///
/// # Errors
/// When there can be no sandbox here.
pub(crate) fn platforms() -> anyhow::Result<(Vec<String>, Vec<String>)> {
    let found = runtimes::find(&mut Walls::find()?, &[]);
    Ok((found.targets.into_iter().map(|own| own.target.name).collect(), found.notes))
}

/// The program that measures: the one that ASSAY names, or beside this program. `None`: there is none.
pub(crate) fn assay() -> Option<PathBuf> {
    let named = std::env::var_os("ASSAY").map(PathBuf::from);
    let beside = std::env::current_exe().ok().and_then(|own| Some(own.parent()?.join("assay")));
    named.into_iter().chain(beside).find(|own| own.is_absolute() && own.is_file())
}

/// The same, where the user of the sandbox can read it: as it is, or a copy in the agent's directory.
fn measuring(directory: &Path, walls: &Walls) -> anyhow::Result<Option<PathBuf>> {
    let Some(found) = assay() else { return Ok(None) };
    let policy = assay_sandbox::Policy::default();
    if walls.sandbox.check(&policy, std::slice::from_ref(&found)).is_ok() {
        return Ok(Some(found));
    }
    let copy = directory.join("assay");
    // A new file each time: one that runs can't be written.
    let unfinished = directory.join("assay.new");
    std::fs::copy(&found, &unfinished).with_context(|| unfinished.display().to_string())?;
    std::fs::rename(&unfinished, &copy).with_context(|| copy.display().to_string())?;
    Ok(Some(copy))
}

fn say(line: &str) {
    output::say(&plain::line(line));
}

/// So many random bytes in hexadecimal digits.
fn random(bytes: usize) -> anyhow::Result<String> {
    let mut drawn = vec![0; bytes];
    File::open("/dev/urandom")
        .and_then(|mut own| own.read_exact(&mut drawn))
        .context("/dev/urandom")?;
    Ok(drawn.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn now() -> String {
    jiff::Timestamp::now().to_string()
}
