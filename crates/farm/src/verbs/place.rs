//! `assay farm place`: starts the farm's jobs on the nodes of a cluster until it is interrupted. It
//! must run on a host that has the cluster's own commands.

use crate::Ending;
use crate::client::{Client, Token};
use crate::executors::placing::{Action, Cluster, Farm, Feature, Machine, Placing, UnplaceableJob};
use crate::executors::slurm::{self, Slurm, SlurmError, SlurmSettings};
use anyhow::{Context, bail, ensure};
use assay_farm::builds::model::{Progress, Scope};
use assay_farm::builds::wire::NewToken;
use assay_measure::interrupt;
use assay_report::console::output;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Maximum number of batch-job output files that are kept.
const SAID: usize = 1000;
/// Number of unsuccessful attempts to start a job or an agent after which it is reported as a
/// problem.
const TALKED_ABOUT: u32 = 3;

/// Start the farm's jobs on the nodes of a cluster
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  assay farm place --server http://farm:8040 --token-file admin.token --directory /shared/farm
  assay farm place … --feature runtime.ruby=3.4:ruby34 --sbatch --partition=bench

Each job is one batch job, alone on its node, that runs `assay-farm agent --once`. A node drained in Slurm is also drained in the farm, and vice versa;
resume it where it was drained.")]
pub(crate) struct Args {
    /// Kind of cluster
    #[arg(long, value_enum, default_value = "slurm")]
    executor: Executor,

    /// Address of the server, as reachable from the cluster's nodes
    #[arg(long, value_name = "URL")]
    server: String,

    /// File with a token of scope `admin` [default: the token in ASSAY_FARM_TOKEN]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,

    /// Directory shared by all nodes, for their tokens and the output of batch jobs
    #[arg(long, value_name = "DIR")]
    directory: PathBuf,

    /// Path of assay-farm on the nodes [default: its path here]
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,

    /// Node feature that implies a property, as in runtime.ruby=3.4:ruby34; may be repeated
    #[arg(long, value_name = "FACT=VALUE:NAME", value_parser = feature)]
    feature: Vec<Feature>,

    /// Additional option for sbatch, as in --sbatch=--partition=bench; may be repeated
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    sbatch: Vec<String>,

    /// Additional option for the agents; may be repeated
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    agent: Vec<String>,

    /// Let several jobs share a node, if the cluster allows it; jobs with benchmarks never do
    #[arg(long)]
    shared: bool,

    /// Maximum number of jobs in the cluster at a time
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    most: u64,

    /// Seconds between two checks of the queue
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=3600))]
    every: u64,

    /// Place the jobs that are queued now, then exit
    #[arg(long)]
    once: bool,
}

/// Kinds of clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Executor {
    /// Slurm, through its commands
    Slurm,
}

fn feature(text: &str) -> Result<Feature, String> {
    let parts = text.rsplit_once(':').and_then(|(fact, name)| Some((fact.split_once('=')?, name)));
    let Some(((fact, value), name)) = parts else {
        return Err("a feature is FACT=VALUE:NAME, as in runtime.ruby=3.4:ruby34".to_owned());
    };
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    if fact.is_empty() || value.is_empty() || name.is_empty() || !name.chars().all(is_name) {
        return Err("a feature's name has letters, digits, `_`, `.` and `-`".to_owned());
    }
    Ok(Feature { fact: fact.to_owned(), value: value.to_owned(), name: name.to_owned() })
}

/// Places jobs until interrupted.
///
/// # Errors
/// If placing cannot start. Later failures are printed, and the attempt is repeated.
pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    interrupt::install()?;
    let Executor::Slurm = args.executor;
    let program = match &args.program {
        Some(program) => program.clone(),
        None => std::env::current_exe()?,
    };
    ensure!(program.is_absolute(), "--program {}: nodes need an absolute path", program.display());
    let client = Client::new(&args.server, Token::find(args.token_file.as_deref())?)?.once();
    let shared = std::path::absolute(&args.directory)?;
    let made = slurm::prepare(&shared, SAID);
    made.with_context(|| format!("--directory {}: cannot be written to", shared.display()))?;
    let slurm = Slurm::new(SlurmSettings {
        server: client.address().to_owned(),
        program,
        shared: shared.clone(),
        agent: args.agent.clone(),
        sbatch: args.sbatch.clone(),
        is_shared: args.shared,
    });
    let mut placer = Placer {
        client,
        slurm,
        shared,
        placing: Placing::new(args.feature.clone(), usize::try_from(args.most)?),
        talk: ProblemPrinter::default(),
        began: Instant::now(),
    };
    if args.once {
        let trouble = placer.round()?;
        if !trouble.is_empty() {
            bail!("{}", trouble.join("; "));
        }
        return Ok(Ending::Fine);
    }
    while interrupt::count() == 0 {
        match placer.round() {
            Ok(trouble) => placer.talk.about(trouble),
            // If the farm or the cluster does not answer, the state is unknown, so no action is
            // taken.
            Err(error) => placer.talk.about(vec![output::told(&error)]),
        }
        interrupt::sleep_until(&[], Some(Duration::from_secs(args.every)))?;
    }
    Ok(Ending::Interrupted)
}

/// The connections to the farm and the cluster, and the state of placing jobs.
struct Placer {
    client: Client,
    slurm: Slurm,
    shared: PathBuf,
    placing: Placing,
    talk: ProblemPrinter,
    began: Instant,
}

impl Placer {
    /// Reads the state of the farm and of the cluster, and performs all actions that are due.
    /// Returns messages about actions that failed and about jobs and nodes that need attention.
    fn round(&mut self) -> anyhow::Result<Vec<String>> {
        // The cluster is read before the farm. A job that the cluster has accepted is then also in
        // the farm's answer, and a job that ends between the two queries is not placed again.
        let cluster = self.slurm.look()?;
        let farm = self.farm(&cluster)?;
        let mut trouble = Vec::new();
        for machine in &cluster.machines {
            if let Err(error) = self.token_for(machine) {
                trouble.push(format!(
                    "cannot create a token for the node {}: {}",
                    machine.name,
                    output::told(&error)
                ));
            }
        }
        let now = self.began.elapsed().as_secs_f64();
        let (actions, homeless) = self.placing.next(&farm, &cluster, now);
        for action in &actions {
            if let Err(error) = self.act(action) {
                if let Action::Place(batch) = action
                    && matches!(error.downcast_ref(), Some(SlurmError::Failed { .. }))
                {
                    self.placing.not_placed(&batch.jobs);
                }
                trouble.push(output::told(&error));
            }
        }
        trouble.extend(
            homeless
                .iter()
                .map(|UnplaceableJob { job, why }| format!("cannot place job {job}: {why}")),
        );
        let unbegun = farm.queued.iter().filter(|job| self.placing.tries(job.id) >= TALKED_ABOUT);
        trouble.extend(unbegun.map(|job| {
            format!(
                "job {} was placed several times and never started: see the output of the batch jobs in {}",
                job.id,
                self.shared.join("said").display()
            )
        }));
        let strangers = cluster
            .machines
            .iter()
            .filter(|machine| self.placing.greetings_of(&machine.name) >= TALKED_ABOUT);
        trouble.extend(strangers.map(|machine| {
            format!(
                "an agent was started on the node {} several times and never reached the farm: see its output in {}",
                machine.name,
                self.shared.join("said").display()
            )
        }));
        Ok(trouble)
    }

    fn farm(&self, cluster: &Cluster) -> anyhow::Result<Farm> {
        // The limit is the maximum number of jobs in the cluster. The farm's answer includes jobs
        // that have already been placed.
        let queued = self.client.queued(self.placing.most)?;
        let is_queued: BTreeSet<i64> = queued.iter().map(|job| job.id).collect();
        let mut cancelled = BTreeSet::new();
        for placed in cluster.placed.iter().filter(|placed| !is_queued.contains(&placed.job)) {
            match self.client.job(placed.job) {
                Ok(job) if job.progress == Progress::Cancelled => {
                    cancelled.insert(job.id);
                }
                Ok(_) => {}
                // A deleted job is cancelled in the cluster.
                Err(error) if error.is_not_found() => {
                    cancelled.insert(placed.job);
                }
                Err(error) => return Err(error.into()),
            }
        }
        let nodes = self.client.nodes()?;
        let targets = self.client.targets()?;
        let facts: BTreeMap<_, _> =
            targets.into_iter().map(|target| (target.digest, target.of.facts)).collect();
        Ok(Farm { queued, cancelled, nodes, facts })
    }

    fn act(&self, action: &Action) -> anyhow::Result<()> {
        match action {
            Action::Place(batch) => self.slurm.place(batch)?,
            Action::Greet(name) => self.slurm.greet(name)?,
            Action::Cancel(id) => self.slurm.cancel(id)?,
            Action::DrainMachine { name, reason } => self.slurm.drain(name, reason)?,
            Action::ResumeMachine(name) => self.slurm.resume(name)?,
            Action::DrainNode { name, reason } => self.client.drain(name, reason)?,
            Action::ResumeNode(name) => self.client.resume(name)?,
        }
        Ok(())
    }

    /// Creates a token that is bound to this node, unless the node's token file already exists.
    fn token_for(&self, machine: &Machine) -> anyhow::Result<()> {
        let path = self.shared.join("tokens").join(&machine.name);
        if path.exists() {
            return Ok(());
        }
        let made = self.client.add_token(&NewToken {
            name: format!("slurm {}", machine.name),
            scope: Scope::Agent,
            node: Some(machine.name.clone()),
            owner: None,
            until: None,
        })?;
        write_private(&path, &made.secret).with_context(|| path.display().to_string())
    }
}

/// Writes a file that only its owner can read. The file is replaced atomically, so it is never
/// incomplete.
fn write_private(path: &Path, text: &str) -> std::io::Result<()> {
    let new = path.with_extension("new");
    let mut options = std::fs::OpenOptions::new();
    let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&new)?;
    writeln!(file, "{text}")?;
    file.sync_all()?;
    std::fs::rename(&new, path)
}

/// Prints each problem once rather than in every round, and prints a message when all problems are
/// gone.
#[derive(Debug, Default)]
struct ProblemPrinter {
    said: BTreeSet<String>,
}

impl ProblemPrinter {
    fn about(&mut self, trouble: Vec<String>) {
        let now: BTreeSet<String> = trouble.into_iter().collect();
        now.difference(&self.said).for_each(|line| output::say(line));
        if now.is_empty() && !self.said.is_empty() {
            output::say("placing works again");
        }
        self.said = now;
    }
}
