//! `assay farm place` on a real Slurm cluster with two virtual nodes: whatever is killed, every job
//! ends once; nodes are drained and resumed in both directions.

#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use crate::support::serving;
use crate::support::slurm;

use assay_farm::builds::model::{Facts, Kind, Progress, VersionKind};
use assay_farm::builds::wire::{Job, NewJob, NewProject, NewVersion};
use assay_farm::client::{BuildFilter, Client};
use serving::Served;
use slurm::Slurm;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Time limit for anything on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// Number of times the controller is killed; `ASSAY_FARM_KILLS` sets a higher number.
const KILLS: u32 = 10;
/// The seed of the random moments, which are the same in each run, except on a busy machine.
const SEED: u32 = 24;

/// A farm, a cluster, and the process that connects them.
struct World {
    served: Served,
    slurm: Slurm,
    placer: Option<Child>,
    /// The log of the agents' actions.
    log: PathBuf,
}

impl World {
    fn new() -> Option<Self> {
        let slurm = Slurm::start()?;
        let log = slurm.directory.join("agents");
        let mut own = Self { served: Served::start(), slurm, placer: None, log };
        let client = own.client();
        client.add_owner("alice").unwrap();
        // Only jobs queued by a test: no target meets the needs of this project itself.
        let needs = Facts::from([("os".to_owned(), "none".to_owned())]);
        let project = NewProject { origin: None, recipe: Default::default(), needs };
        client.add_project("alice", "tidy", &project).unwrap();
        own.place();
        Some(own)
    }

    fn client(&self) -> &Client {
        &self.served.client
    }

    fn place(&mut self) {
        let mut command = self.slurm.command(env!("CARGO_BIN_EXE_assay-farm"));
        command
            .args(["place", "--every", "1", "--server", &self.served.address])
            .arg("--token-file");
        command
            .arg(self.served.token_file())
            .arg("--directory")
            .arg(self.slurm.directory.join("shared"));
        let agent = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/support/agent.rb");
        command.args(["--program", agent, "--feature", "disk=slow:slowdisk"]);
        command.env("AGENT_LOG", &self.log).env("AGENT_SECONDS", "0.3");
        self.placer = Some(command.stdin(Stdio::null()).spawn().unwrap());
    }

    fn kill_placer(&mut self) {
        let mut placer = self.placer.take().unwrap();
        placer.kill().unwrap();
        placer.wait().unwrap();
    }

    /// Queues a job for a new version.
    fn job(&self, version: &str, needs: &[(&str, &str)]) -> Job {
        let new = NewVersion {
            kind: VersionKind::Release,
            published: None,
            ordinal: None,
            address: None,
            sha256: None,
        };
        self.client().add_version(("alice", "tidy"), version, &new).unwrap();
        let needs =
            needs.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        let job = serde_json::json!({
            "owner": "alice", "project": "tidy", "version": version, "kind": Kind::Test, "needs": Facts::from_iter::<BTreeMap<_, _>>(needs),
        });
        self.client().add_job(&serde_json::from_value::<NewJob>(job).unwrap()).unwrap()
    }

    fn progress(&self, job: &Job) -> Progress {
        self.client().job(job.id).unwrap().progress
    }

    fn drained(&self, node: &str) -> Option<String> {
        self.client().node(node).unwrap().drained
    }

    fn agents(&self) -> Vec<String> {
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }

    /// Waits until a condition is true.
    fn wait(&self, what: &str, is_true: impl Fn() -> bool) {
        let began = Instant::now();
        while !is_true() {
            assert!(
                began.elapsed() < PATIENCE,
                "{what}: never\n{}\n{}\n{:#?}",
                self.slurm.says("squeue --format=%i|%T|%N|%r|%k"),
                self.slurm.says("sinfo --Node --format=%N|%T|%E"),
                self.agents()
            );
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if let Some(placer) = &mut self.placer {
            let _gone = placer.kill().and_then(|()| placer.wait().map(drop));
        }
    }
}

#[test]
fn every_job_ends_once_whatever_is_killed_and_runs_where_it_may() {
    let Some(mut world) = World::new() else { return };
    let mut jobs: Vec<Job> = (0..20).map(|number| world.job(&format!("1.{number}"), &[])).collect();
    let slow: Vec<Job> =
        (0..3).map(|number| world.job(&format!("2.{number}"), &[("disk", "slow")])).collect();
    jobs.extend(slow.iter().cloned());
    let kills = std::env::var("ASSAY_FARM_KILLS").ok().map_or(KILLS, |own| own.parse().unwrap());
    let mut moment = SEED;
    for number in 0..kills {
        moment = moment.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        std::thread::sleep(Duration::from_millis(u64::from(moment >> 16) % 1500));
        world.slurm.kill_controller();
        if number % 5 == 2 {
            world.kill_placer();
            world.place();
        }
        world.slurm.start_controller();
    }
    for job in &jobs {
        world.wait("a job ends", || world.progress(job) == Progress::Done);
    }
    let all = BuildFilter { owner: Some("alice"), ..BuildFilter::default() };
    let mut built: Vec<_> =
        world.client().builds(&all).unwrap().into_iter().map(|build| build.job.unwrap()).collect();
    built.sort_unstable();
    let mut wanted: Vec<_> = jobs.iter().map(|job| job.id).collect();
    wanted.sort_unstable();
    assert_eq!(built, wanted, "a build for each job, and one only");
    let log = world.agents();
    for job in &slow {
        let leased: Vec<_> =
            log.iter().filter(|line| line.starts_with(&format!("{} leased", job.id))).collect();
        assert!(!leased.is_empty() && leased.iter().all(|line| line.ends_with(" n2")), "{log:#?}");
    }
    // The cluster's jobs have been removed as well.
    world.wait("the cluster is idle", || world.slurm.says("squeue --noheader").is_empty());
}

#[test]
fn nodes_are_drained_in_both_directions_and_what_is_taken_back_is_taken_back_there() {
    let Some(mut world) = World::new() else { return };
    // The farm knows a node after its first hello.
    let nodes = ["n1", "n2"];
    for (number, node) in nodes.iter().enumerate() {
        let job = world.job(&format!("0.{number}"), &[("node", node)]);
        world.wait("a job ends", || world.progress(&job) == Progress::Done);
    }
    world.client().drain("n1", "clock drifts").unwrap();
    world.wait("drained there", || {
        let said = world.slurm.says("sinfo --noheader --Node --nodes=n1 --format=%T|%E");
        said.starts_with("drain") && said.ends_with("|assay: clock drifts")
    });
    world.slurm.says("scontrol update NodeName=n2 State=DRAIN Reason=fan");
    world.wait("drained here", || world.drained("n2").as_deref() == Some("slurm: fan"));

    // The job is not started before it is cancelled.
    let job = world.job("1.0", &[]);
    world.wait("placed", || !world.slurm.says("squeue --noheader").is_empty());
    world.client().cancel(job.id).unwrap();
    world.wait("taken back there", || world.slurm.says("squeue --noheader").is_empty());
    assert!(!world.agents().iter().any(|line| line.starts_with(&format!("{} ", job.id))));

    world.client().resume("n1").unwrap();
    world.slurm.says("scontrol update NodeName=n2 State=RESUME");
    world.wait("resumed in both", || {
        world.drained("n1").is_none()
            && world.drained("n2").is_none()
            && world.slurm.says("sinfo --noheader --states=drain --format=%N").is_empty()
    });
    // Neither drain was copied back from the other side.
    world.kill_placer();
    world.place();
    let job = world.job("1.1", &[]);
    world.wait("a job ends", || world.progress(&job) == Progress::Done);
    assert!(world.drained("n1").is_none() && world.drained("n2").is_none());
}

#[test]
fn a_version_is_tested_on_a_cluster_where_no_agent_ever_ran() {
    let Some(world) = World::new() else { return };
    let needs = Facts::from([("os".to_owned(), "virtual".to_owned())]);
    let project = NewProject { origin: None, recipe: Default::default(), needs };
    world.client().add_project("alice", "fresh", &project).unwrap();
    let new = NewVersion {
        kind: VersionKind::Release,
        published: None,
        ordinal: None,
        address: None,
        sha256: None,
    };
    world.client().add_version(("alice", "fresh"), "1.0", &new).unwrap();
    // Each of the two nodes is a separate target.
    let all = BuildFilter { owner: Some("alice"), ..BuildFilter::default() };
    world.wait("built on both", || world.client().builds(&all).unwrap().len() == 2);
}

#[test]
fn what_is_wrong_with_a_cluster_is_said_once_and_ends_nothing() {
    let served = Served::start();
    let room = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay-farm"));
    command
        .args(["place", "--once", "--server", &served.address])
        .arg("--token-file")
        .arg(served.token_file());
    command.arg("--directory").arg(room.path()).env("PATH", room.path());
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(said.contains("`squeue` can't be started") && said.contains("slurm-client"), "{said}");
}
