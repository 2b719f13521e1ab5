//! Kills agents at random moments, with the real server: no process outlives its agent, and every
//! job ends once.

use crate::agent::tools::{agent_at, is_possible, place, processes};
use assay_farm::builds::model::{Facts, Progress, Scope, VersionKind};
use assay_farm::builds::wire::{NewProject, NewToken, NewVersion, Origin, Recipe};
use assay_farm::client::{BuildFilter, Client, Token};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// `ASSAY_FARM_KILLS` sets a higher number.
const KILLS: usize = 25;
/// The seed of the random moments, which are the same in each run, except on a busy machine.
const SEED: u64 = 24;
const JOBS: usize = 6;
/// Time limit, which leaves enough time for a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// The real server, which ends with the test.
pub struct Server {
    child: Child,
    pub url: String,
    pub admin: Client,
}

impl Server {
    pub fn start(data: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_assay-farm"))
            .args(["serve", "--listen", "127.0.0.1:0", "--lease", "4s", "--log", "error", "--data"])
            .arg(data)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        let url = url.trim().to_owned();
        let token = Token::find(Some(&data.join("admin-token"))).unwrap();
        let admin = Client::new(&url, token).unwrap();
        Self { child, url, admin }
    }

    /// Creates a token for an agent.
    pub fn token(&self, node: &str) -> String {
        let new = NewToken {
            name: format!("agent {node}"),
            scope: Scope::Agent,
            node: Some(node.to_owned()),
            owner: None,
            until: None,
        };
        self.admin.add_token(&new).unwrap().secret
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _reaped = self.child.wait();
    }
}

pub fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < end, "waited for: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Returns the control groups that these processes created.
fn groups(makers: &[i32]) -> Vec<String> {
    let places = ["", "memory", "pids", "unified"].map(|own| Path::new("/sys/fs/cgroup").join(own));
    let names = places.iter().filter_map(|own| std::fs::read_dir(own).ok()).flatten().flatten();
    names
        .filter_map(|own| own.file_name().into_string().ok())
        .filter(|name| makers.iter().any(|own| name.starts_with(&format!("assay-sandbox-{own}-"))))
        .collect()
}

#[test]
fn killed_agents_leave_nothing_and_every_job_ends_once() {
    if !is_possible() {
        return;
    }
    let kills = std::env::var("ASSAY_FARM_KILLS").ok().and_then(|own| own.parse().ok());
    let kills = kills.unwrap_or(KILLS);
    let (data, room) = (place(), place());
    let server = Server::start(data.path());
    let token = server.token("node");
    let start = || agent_at(&server.url, &token, room.path(), &[]);
    let word = format!("0.7{}", std::process::id());
    let get = "printf 'echo 1..1; echo ok 1 - it runs\\n' > test.sh".to_owned();
    let project = NewProject {
        origin: Some(Origin::Command { list: "true".to_owned(), get }),
        recipe: Recipe {
            install: vec![format!("setsid sleep {word} & sleep {word}")],
            test: Some("sh test.sh".to_owned()),
            ..Recipe::default()
        },
        needs: Facts::new(),
    };
    server.admin.add_owner("me").unwrap();
    server.admin.add_project("me", "p", &project).unwrap();
    let first = start();
    until("a target", || !server.admin.targets().unwrap().is_empty());
    let kind = VersionKind::Release;
    for number in 0..JOBS {
        let new = NewVersion { kind, published: None, ordinal: None, address: None, sha256: None };
        server.admin.add_version(("me", "p"), &format!("1.{number}"), &new).unwrap();
    }
    first.kill();
    let mut drawn = SEED;
    let mut killed = Vec::new();
    for _ in 0..kills {
        // Kills it at any moment, from before it is ready until after a job is done.
        drawn =
            drawn.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let agent = start();
        killed.push(agent.id());
        std::thread::sleep(Duration::from_millis(50 + (drawn >> 33) % 1500));
        agent.kill();
        until("the end of all that it ran", || processes(&word).is_empty());
    }
    let last = start();
    let is_over = |progress| matches!(progress, Progress::Done | Progress::Cancelled);
    until("the end of all jobs", || {
        (1..=i64::try_from(JOBS).unwrap()).all(|id| is_over(server.admin.job(id).unwrap().progress))
    });
    let (_, said) = last.end();
    // Leftovers of a killed agent are removed when the next one starts.
    assert!(groups(&killed).is_empty(), "{:?}", groups(&killed));
    assert!(processes(&word).is_empty());
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(!mounts.contains(room.path().to_str().unwrap()), "{mounts}");
    assert_eq!(std::fs::read_dir(room.path().join("jobs")).unwrap().count(), 0);
    let builds = server.admin.builds(&BuildFilter {
        project: Some("p"),
        owner: Some("me"),
        ..BuildFilter::default()
    });
    let builds = builds.unwrap();
    for id in 1..=i64::try_from(JOBS).unwrap() {
        let ended = builds.iter().filter(|own| own.job == Some(id) && !own.is_evidence).count();
        assert_eq!(ended, 1, "job {id}: {builds:?}\n{said}");
    }
}
