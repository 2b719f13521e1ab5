//! The agent: requests a job, runs it in the sandbox, submits the result, and requests the next
//! one. It runs one job at a time, so that a benchmark has the machine to itself. While a job runs,
//! heartbeats are sent to the server; if the job is no longer wanted, all its processes are ended.
//!
//! The following must never happen: a result is lost (it is written to disk before it is sent), a
//! result counts twice (it has a key from the start), a process outlives the agent (the launcher
//! ends it, even if the agent is killed), or untrusted code sees the token (the sandbox has none of
//! the agent's variables and files).

mod benching;
mod commands;
mod directory;
mod discovering;
mod fetching;
mod judging;
mod lease;
mod log;
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
use assay_farm::builds::model::{Fault, Kind, State};
use assay_farm::builds::wire::{self, Hello, LeaseRequest, LeasedJob, Outcome, Welcome};
use assay_farm::client::{Client, ClientError, Code, LeaseAnswer, jittered};
use assay_farm::plain;
use assay_measure::interrupt;
use assay_report::console::output;
use commands::Commands;
use directory::{AgentDirectory, JobDirectory};
use fetching::{FetchContext, Web};
use lease::HeldLease;
use log::{Log, Sending};
use runtimes::LocalTarget;
use spool::{Entry, Spool};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use testing::TestJobResult;
use walls::Walls;

/// The agent's name and version.
const TOOL: &str = concat!("assay-farm ", env!("CARGO_PKG_VERSION"));
/// Maximum number of consecutive conflicts with another agent.
const CONFLICTS: u32 = 5;

/// The settings of an agent.
#[derive(Debug)]
pub(crate) struct Settings {
    pub name: String,
    /// If set, the agent runs only one job: the job with the given id, or any job if the inner
    /// value is `None`.
    pub once: Option<Option<i64>>,
    pub directory: PathBuf,
    /// Use only these of the available runtimes; empty means all.
    pub runtimes: Vec<String>,
    pub kinds: Vec<Kind>,
    /// Maximum number of bytes that a job may write.
    pub disk: u64,
    pub calibrates: Option<Duration>,
    pub discovers: Option<Duration>,
    pub allows_files: bool,
}

/// A running agent.
struct Agent<'a> {
    settings: &'a Settings,
    client: Arc<Client>,
    walls: Walls,
    web: Web,
    place: AgentDirectory,
    spool: Spool,
    targets: Vec<LocalTarget>,
    /// The program that measures; `None` if it is not installed.
    assay: Option<PathBuf>,
    instance: String,
    welcome: Welcome,
    calibrated: Option<Instant>,
    discovered: Option<Instant>,
    /// Number of consecutive requests without an answer.
    unanswered: u32,
}

/// Runs until interrupted, or until one job is done.
///
/// # Errors
/// If the server refuses the agent, or nothing can be run on this machine.
pub(crate) fn run(settings: &Settings, client: Client) -> anyhow::Result<Ending> {
    interrupt::install()?;
    let mut walls = Walls::find()?;
    // Several agents for single jobs may be placed on one machine.
    let most = if settings.once.is_some() { policy::AT_ONCE } else { 1 };
    let place = AgentDirectory::open(&settings.directory, most, &walls)?;
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
            "no control groups are available here: limits of memory and processes apply to each process, not to the job as a whole",
        );
    }
    let assay = measuring(place.directory(), &walls)?;
    let mut kinds = settings.kinds.clone();
    if assay.is_none() && kinds.contains(&Kind::Bench) {
        say("`assay` was not found next to this program or in ASSAY: this node runs no benchmarks");
        kinds.retain(|kind| *kind != Kind::Bench);
    }
    if kinds.is_empty() {
        bail!("this agent cannot do any kind of job: see the messages above for what is missing");
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
    /// Announces the agent, repeatedly until the server answers. Returns false if it must exit
    /// instead.
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
                            "this machine's clock differs from the server's by {:.0} s",
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

    /// Counts a request without an answer, and waits before the next one.
    ///
    /// # Errors
    /// If the server refused the request.
    fn away(&mut self, error: ClientError) -> anyhow::Result<()> {
        if !error.is_away() {
            return Err(error.into());
        }
        if self.unanswered == 0 {
            say(&format!("{error}; trying again until the server can be reached"));
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
                    say(
                        "results that could not be submitted yet are kept in this agent's directory",
                    );
                }
                return Ok(Ending::Interrupted);
            }
            if self.settings.once.is_none() {
                self.calibrates();
                self.discovers();
            }
            let job = self.settings.once.flatten();
            let asking = LeaseRequest {
                instance: self.instance.clone(),
                targets: self.targets.iter().map(|own| own.digest.clone()).collect(),
                kinds: self.settings.kinds.clone(),
                job,
            };
            match self.client.lease(&self.settings.name, &asking) {
                Ok(LeaseAnswer::Granted(leased)) => {
                    (self.unanswered, conflicts) = (0, 0);
                    self.job(&leased)?;
                    if self.settings.once.is_some() {
                        return self.last();
                    }
                }
                Ok(LeaseAnswer::Nothing(after)) => {
                    (self.unanswered, conflicts) = (0, 0);
                    match self.settings.once {
                        Some(Some(job)) => bail!(
                            "job {job} cannot be leased: it has ended, or another node has it"
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
                // Another agent was faster, or uses the same name, in which case this happens every
                // time. Agents placed for one job each are an exception: a node may have several,
                // and each uses the name only until it has leased its job.
                Err(error) if error.code() == Some(&Code::Conflict) && conflicts < CONFLICTS => {
                    conflicts += 1;
                    interrupt::sleep_until(&[], Some(jittered(policy::AWAY)))?;
                    if self.settings.once.is_some() && !self.hello()? {
                        return Ok(Ending::Interrupted);
                    }
                }
                // The server was reset and no longer knows the node.
                Err(error) if error.code() == Some(&Code::NotFound) && job.is_none() => {
                    if !self.hello()? {
                        return Ok(Ending::Interrupted);
                    }
                }
                Err(error) => self.away(error)?,
            }
        }
    }

    /// Submits the result of an agent that runs only one job, repeatedly until the server answers
    /// or the agent is interrupted.
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

    /// Runs a job and puts the result into the spool.
    fn job(&mut self, leased: &LeasedJob) -> anyhow::Result<()> {
        let id = leased.job.id;
        let Some(own) = self.targets.iter().find(|own| own.digest == leased.target).cloned() else {
            bail!(
                "the server leased job {id} to this node for a target that the node does not have"
            );
        };
        say(&format!(
            "job {id}: {} {} on {}",
            leased.project.name, leased.version.name, own.target.name
        ));
        let (key, began, started) = (random(16)?, now(), Instant::now());
        let job = self.place.job(&key, &own.runtime, self.assay.as_deref())?;
        let mut log = Log::new(&job.beside().join("log"), self.welcome.log_limit)?;
        let every = Duration::from_secs(self.welcome.heartbeat.max(1));
        let held = HeldLease::start(Arc::clone(&self.client), id, &leased.nonce, every)?;
        let sending = Sending::start(
            Arc::clone(&self.client),
            (id, leased.nonce.clone()),
            &log,
            held.over(),
        )?;
        self.walls.refresh()?;
        let done = self.done(leased, &own, (&job, &mut log, &held));
        let JobResult { found, comparisons, samples } = done.unwrap_or_else(|error| {
            let why = plain::line(&output::told(&error));
            let fault = Some(Fault::Sandbox);
            JobResult::of(TestJobResult::of((State::Infrastructure, fault, why)))
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
        // The lease is kept until it is known whether the result has reached the server.
        if let Err(error) = self.spool.replay(&self.client, &mut say) {
            say(&format!("job {id}: {error}; the result is kept here until it can be submitted"));
        }
        drop(held);
        Ok(())
    }

    fn done(
        &mut self,
        leased: &LeasedJob,
        own: &LocalTarget,
        (job, log, held): (&JobDirectory, &mut Log, &HeldLease),
    ) -> anyhow::Result<JobResult> {
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
            Kind::Test => testing::test(&mut commands, leased, &own.runtime).map(JobResult::of),
            Kind::Bench => {
                let assay =
                    self.assay.as_deref().context("`assay` was not found on this machine")?;
                let measured = benching::bench(&mut commands, leased, assay)?;
                let (comparisons, samples) = (measured.comparisons, measured.samples);
                Ok(JobResult { found: measured.found, comparisons, samples })
            }
        }
    }

    /// Checks whether this node may measure, if a calibration is due.
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
        let told = qualifying::calibrate(assay, &first, &now()).and_then(|found| {
            if found.is_fit {
                let detects = 100.0 * (found.detects - 1.0);
                say(&format!("calibration: a run of a minute detects {detects:.1} %"));
            } else {
                say(&format!("calibration: {}; no benchmarks until it is better", found.reason));
            }
            Ok(self.client.calibrated(name, &found)?)
        });
        if let Err(error) = told {
            say(&format!("calibration: {}", output::told(&error)));
        }
    }

    /// Looks for new versions, if the interval between searches has passed.
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
            let mut means = FetchContext {
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
            Err(error) => say(&format!("looking for new versions: {}", output::told(&error))),
        }
    }
}

/// The results of a job.
struct JobResult {
    found: TestJobResult,
    comparisons: Vec<wire::BenchmarkComparison>,
    samples: Option<PathBuf>,
}

impl JobResult {
    fn of(found: TestJobResult) -> Self {
        Self { found, comparisons: Vec::new(), samples: None }
    }
}

/// Returns the targets of an agent on this machine, and notes about runtimes that it would not use.
///
/// # Errors
/// If no sandbox is available on this machine.
pub(crate) fn platforms() -> anyhow::Result<(Vec<String>, Vec<String>)> {
    let found = runtimes::find(&mut Walls::find()?, &[]);
    Ok((found.targets.into_iter().map(|own| own.target.name).collect(), found.notes))
}

/// Returns the program that measures: the one named by ASSAY, or the one next to this program;
/// `None` if there is neither.
pub(crate) fn assay() -> Option<PathBuf> {
    let named = std::env::var_os("ASSAY").map(PathBuf::from);
    let beside = std::env::current_exe().ok().and_then(|own| Some(own.parent()?.join("assay")));
    named.into_iter().chain(beside).find(|own| own.is_absolute() && own.is_file())
}

/// Like [`assay()`], but returns a path that the sandbox's user can read: the program itself, or a
/// copy of it in the agent's directory.
fn measuring(directory: &Path, walls: &Walls) -> anyhow::Result<Option<PathBuf>> {
    let Some(found) = assay() else { return Ok(None) };
    let policy = assay_measure::sandbox::Policy::default();
    if walls.sandbox.check(&policy, std::slice::from_ref(&found)).is_ok() {
        return Ok(Some(found));
    }
    let copy = directory.join("assay");
    // Created under a new name, since a running program cannot be written to.
    let unfinished = directory.join("assay.new");
    std::fs::copy(&found, &unfinished).with_context(|| unfinished.display().to_string())?;
    std::fs::rename(&unfinished, &copy).with_context(|| copy.display().to_string())?;
    Ok(Some(copy))
}

fn say(line: &str) {
    output::say(&plain::line(line));
}

/// Returns random bytes as hexadecimal digits.
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
