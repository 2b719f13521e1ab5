//! Kills the server, or the database below it, repeatedly between and within requests: everything
//! that was acknowledged is there afterwards, and every job ends exactly once.
//!
//! `ASSAY_FARM_KILLS` sets the number of kills; by default it is about twenty. The moments are
//! drawn from one seed, so that they are the same in each run, as far as a busy machine permits.

use super::postgres::Server as Postgres;
use super::*;
use assay_farm::builds::wire::{Build, Job, Page};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

const SERVER_KILLS: u64 = 20;
const DATABASE_KILLS: u64 = 25;

/// Returns the number of kills.
fn kills(usual: u64) -> u64 {
    std::env::var("ASSAY_FARM_KILLS").ok().map_or(usual, |text| text.parse().unwrap())
}

/// Returns a pseudorandom duration below a number of milliseconds.
fn moment(number: u64, below: u64) -> Duration {
    let drawn = (number + 24).wrapping_mul(6_364_136_223_846_793_005) ^ 0x5bd1_e995;
    Duration::from_micros((drawn >> 33) % (below * 1_000))
}

on_both![a_server_that_is_killed_loses_no_build_and_ends_no_job_twice];

fn a_server_that_is_killed_loses_no_build_and_ends_no_job_twice(home: Home) {
    let more = ["--rate", "1000"];
    let mut server = Server::at(home, &more);
    let token = server.farm("a", 8);
    let mut ended: BTreeMap<i64, Build> = BTreeMap::new();
    let mut next = 9;
    for round in 0..kills(SERVER_KILLS) {
        // Requests that may be interrupted at any point.
        let path = format!("/api/v1/owners/rails/projects/rack/versions/1.{next}");
        next += 1;
        server.put(&path, &server.admin, &version(next)).is(201);
        let leased = server.leased("a", &token);
        assert!(!ended.contains_key(&leased.job.id), "job {} was given again", leased.job.id);
        let key = format!("k{round}");
        let log = format!("/api/v1/jobs/{}/log?nonce={}&offset=0", leased.job.id, leased.nonce);
        let told = thread::scope(|scope| {
            let sent = scope.spawn(|| {
                let body = serde_json::to_vec(&ending(&leased, &key)).unwrap();
                let path = format!("/api/v1/jobs/{}/result", leased.job.id);
                let head = format!(
                    "PUT {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer {token}\r\nContent-Length: {}\r\n\r\n",
                    body.len()
                );
                let mut stream = TcpStream::connect(&server.address).ok()?;
                stream.write_all(&[head.as_bytes(), &body].concat()).ok()?;
                let mut answer = Vec::new();
                let _cut_off = stream.read_to_end(&mut answer);
                (!answer.is_empty()).then_some(answer)
            });
            // Before, during or after the request.
            thread::sleep(moment(round, 6));
            server.signal("-KILL");
            sent.join().unwrap()
        });
        server.kill(&more);
        if told.is_none() {
            // The agent repeats what it could not submit: first the log, then the result.
            let late = server.asks("PUT", &log, &token, "", b"spooled");
            assert!(matches!(late.status, 200 | 409), "{late:?}");
        }
        let again = server.end(&token, &leased, &key);
        assert!(matches!(again.status, 200 | 201), "{again:?}");
        // Everything that was acknowledged has been kept.
        assert!(told.is_none() || again.status == 200, "round {round}");
        ended.insert(leased.job.id, again.thing());
    }
    for (id, build) in &ended {
        let job: Job = server.get(&format!("/api/v1/jobs/{id}"), &server.admin).thing();
        assert_eq!(job.build, Some(build.id), "{job:?}");
    }
    let jobs: BTreeSet<i64> = all_builds(&server).into_keys().collect();
    assert_eq!(jobs, ended.into_keys().collect());
}

/// Returns the build that ended each job. Checks that no job has two, and that the totals match the
/// builds.
fn all_builds(server: &Server) -> BTreeMap<i64, Build> {
    let mut found = BTreeMap::new();
    let mut after = String::new();
    loop {
        let page = server.get(&format!("/api/v1/builds?limit=500&after={after}"), &server.admin);
        let page: Page<Build> = page.is(200).thing();
        for build in page.items.into_iter().filter(|build| !build.is_evidence) {
            let before = found.insert(build.job.unwrap(), build);
            assert!(before.is_none(), "a job ended twice: {before:?}");
        }
        match page.next {
            Some(next) => after = next,
            None => break,
        }
    }
    let home = server.get("/api/v1/home", &server.admin).is(200).json();
    let sums: u64 = home["builds"].as_object().unwrap().values().filter_map(Value::as_u64).sum();
    assert_eq!(sums, found.len() as u64);
    found
}

#[test]
fn a_database_that_is_killed_under_its_server_loses_nothing_that_was_said_yes_to() {
    let Some(mut database) = Postgres::start() else { return };
    let home = Home::of(database.database("farm"));
    // If the answer with a job is lost, the agent waits for the end of its lease.
    let server = Server::at(home, &["--rate", "10000", "--lease", "5s"]);
    let agents = ["a", "b"].map(|node| (node, server.farm(node, 0)));
    let is_over = AtomicBool::new(false);
    let done: Vec<Done> = thread::scope(|scope| {
        let (server, is_over) = (&server, &is_over);
        let work = |(node, token): &(&'static str, String)| {
            let (node, token) = (*node, token.clone());
            scope.spawn(move || works(server, node, &token, is_over))
        };
        let working: Vec<_> = agents.iter().map(work).collect();
        for number in 0..kills(DATABASE_KILLS) {
            thread::sleep(moment(number, 250));
            database.kill();
            thread::sleep(moment(number + 7, 20));
            database.start_again();
        }
        is_over.store(true, Ordering::Relaxed);
        working.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let found = all_builds(&server);
    let versions: BTreeSet<&str> = found.values().map(|build| &*build.of.version).collect();
    assert_eq!(versions.len(), found.len(), "a version was queued twice");
    for one in &done {
        assert!(one.versions.len() > 1 && one.builds.len() > 1, "nothing was done meanwhile");
        let lost = one.versions.iter().find(|version| !versions.contains(version.as_str()));
        assert_eq!(lost, None);
        for build in &one.builds {
            assert_eq!(found.get(&build.job.unwrap()), Some(build), "it was said to be kept");
        }
    }
}

/// The requests of an agent that the server acknowledged.
#[derive(Default)]
struct Done {
    versions: Vec<String>,
    builds: Vec<Build>,
}

/// Adds versions and ends their jobs, and repeats every request without an answer. At the end,
/// continues until every job has ended.
fn works(server: &Server, node: &str, token: &str, is_over: &AtomicBool) -> Done {
    let mut done = Done::default();
    let mut ends: Option<Instant> = None;
    for number in 0.. {
        let name = format!("{node}.{number}");
        if ends.is_none() && is_over.load(Ordering::Relaxed) {
            ends = Some(Instant::now() + PATIENCE);
        }
        if ends.is_none() {
            let path = format!("/api/v1/owners/rails/projects/rack/versions/{name}");
            let added = server.put(&path, &server.admin, &version(number));
            if matches!(added.status, 200 | 201) {
                done.versions.push(name.clone());
            }
        }
        let leased = server.lease(node, token);
        if leased.status == 200 {
            let leased: LeasedJob = leased.thing();
            let ended = loop {
                let ended = server.end(token, &leased, &name);
                if ended.status < 500 {
                    break ended;
                }
                thread::sleep(Duration::from_millis(10));
            };
            match ended.status {
                200 | 201 => done.builds.push(ended.thing()),
                // The agent was away for longer than its lease.
                _ => drop(ended.refuses(409, "lease_lost")),
            }
            continue;
        }
        if let Some(ends) = ends {
            let left = server.get("/api/v1/jobs", &server.admin);
            if left.status == 200 && left.json()["items"] == json!([]) {
                break;
            }
            assert!(Instant::now() < ends, "jobs that never end: {left:?}");
        }
        thread::sleep(Duration::from_millis(5));
    }
    done
}
