//! Simulates many agents. Each requests a job from a server once a second and submits a result,
//! while versions are added at a constant rate. Measures the response times, and checks whether a
//! job was ever leased twice and whether each one ended.
//!
//!     lease_clients ADDRESS:PORT STORE CLIENTS SECONDS
//!
//! STORE is the server's own store, in which tokens are created beforehand. Prints one line of
//! JSON.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "an example")]

use assay_farm::builds::Store;
use assay_farm::builds::model::{Kind, Scope, State, VersionKind, digest};
use assay_farm::builds::wire::{
    Ending, Evidence, Hello, LeaseRequest, LeasedJob, NewProject, NewTarget, NewToken, NewVersion,
    Outcome, Recipe,
};
use assay_history::{Access, StoreLocation};
use serde::Serialize;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio::time::{interval_at, sleep};

/// Jobs per client and second. The other requests find no job, as most do in practice.
const SHARE: f64 = 0.05;
/// Time during which clients continue to ask for jobs that have not been leased yet.
const PATIENCE: Duration = Duration::from_secs(30);

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [address, place, clients, seconds] = words.as_slice() else {
        println!("lease_clients ADDRESS:PORT STORE CLIENTS SECONDS");
        return;
    };
    let (clients, seconds): (usize, u64) = (clients.parse().unwrap(), seconds.parse().unwrap());
    let place = StoreLocation::read(OsStr::new(place), std::env::var("PGPASSWORD").ok().as_deref())
        .unwrap();
    let store = Store::open(&place, Access::Write).unwrap();
    let now = jiff::Timestamp::now().as_millisecond();
    let target = NewTarget {
        name: "simulated".to_owned(),
        facts: [("os".to_owned(), "simulated".to_owned())].into(),
    };
    store.add_owner("simulated").unwrap();
    let project =
        NewProject { origin: None, recipe: Recipe::default(), needs: target.facts.clone() };
    store.add_project("simulated", "jobs", &project, 0).unwrap();
    store.add_target(&digest(&target.facts), &target, now).unwrap();
    let token = |scope: Scope, node: Option<String>| {
        let name = node.clone().unwrap_or_else(|| "submitter".to_owned());
        let new = NewToken { name, scope, node, owner: None, until: None };
        store.add_token(&new, now).unwrap().secret
    };
    let submitter = token(Scope::Submit, None);
    let tokens: Vec<String> = (0..clients)
        .map(|number| token(Scope::Agent, Some(format!("simulated{number}"))))
        .collect();
    let jobs = (clients as f64 * seconds as f64 * SHARE) as u64;
    let (all, added) = Runtime::new().unwrap().block_on(async {
        let (address, target) = (Arc::new(address.clone()), Arc::new(target));
        // Allows time for every client to register first.
        let begins = Instant::now() + Duration::from_secs(2 + clients as u64 / 200);
        let ends = begins + Duration::from_secs(seconds);
        let left = Arc::new(AtomicU64::new(jobs));
        let adding = tokio::spawn({
            let address = Arc::clone(&address);
            async move { submit(&address, &submitter, now, jobs, begins, seconds).await }
        });
        let each = tokens.into_iter().enumerate().map(|(number, token)| {
            let (address, target) = (Arc::clone(&address), Arc::clone(&target));
            let left = Arc::clone(&left);
            // Spread evenly over the second, like agents that were started at different times.
            let begins = begins + Duration::from_secs_f64(number as f64 / clients as f64);
            tokio::spawn(async move {
                client(&address, &token, number, &target, begins, ends, &left).await
            })
        });
        let mut all = Vec::new();
        for one in each.collect::<Vec<_>>() {
            all.push(one.await.unwrap());
        }
        (all, adding.await.unwrap())
    });
    let mut waits: Vec<f64> = all.iter().flat_map(|one| one.waits.iter().copied()).collect();
    waits.sort_by(f64::total_cmp);
    let quantile = |q: f64| waits.get(((waits.len() as f64 * q) as usize).min(waits.len() - 1));
    let mut given: HashMap<i64, usize> = HashMap::new();
    all.iter().flat_map(|one| &one.jobs).for_each(|job| *given.entry(*job).or_default() += 1);
    let told = serde_json::json!({
        "asked": waits.len(),
        "p50": quantile(0.5),
        "p99": quantile(0.99),
        "max": waits.last(),
        "jobs": added,
        "leased": given.len(),
        "twice": given.values().filter(|count| **count > 1).count(),
        "ended": all.iter().map(|one| one.ended).sum::<usize>(),
        "errors": all.iter().map(|one| one.errors).sum::<usize>(),
    });
    println!("{told}");
}

/// Adds versions at a constant rate, each of which creates a job. Returns the number of versions
/// that the server accepted.
async fn submit(
    address: &str,
    token: &str,
    now: i64,
    jobs: u64,
    begins: Instant,
    seconds: u64,
) -> u64 {
    let mut line = Line { address, token, stream: None };
    let each = Duration::from_secs_f64(seconds as f64 / jobs.max(1) as f64);
    let mut due = interval_at(begins.into(), each);
    let mut added = 0;
    for number in 0..jobs {
        due.tick().await;
        let version = NewVersion {
            kind: VersionKind::Release,
            published: None,
            ordinal: i64::try_from(number).ok(),
            address: None,
            sha256: None,
        };
        let path = format!("/api/v1/owners/simulated/projects/jobs/versions/{now}.{number}");
        if let Some((201, _)) = line.ask("PUT", &path, &version).await {
            added += 1;
        }
    }
    added
}

#[derive(Default)]
struct Found {
    /// Seconds from when a request was due until its answer.
    waits: Vec<f64>,
    jobs: Vec<i64>,
    ended: usize,
    errors: usize,
}

async fn client(
    address: &str,
    token: &str,
    number: usize,
    target: &NewTarget,
    begins: Instant,
    ends: Instant,
    left: &AtomicU64,
) -> Found {
    let node = format!("simulated{number}");
    let mut found = Found::default();
    let mut line = Line { address, token, stream: None };
    let hello = Hello {
        tool: "lease_clients".to_owned(),
        targets: vec![target.clone()],
        kinds: vec![Kind::Test],
        instance: node.clone(),
        time: jiff::Timestamp::now().to_string(),
    };
    while line.ask("POST", &format!("/api/v1/nodes/{node}/hello"), &hello).await.is_none() {
        sleep(Duration::from_millis(100)).await;
    }
    let asking = LeaseRequest {
        instance: node.clone(),
        targets: vec![digest(&target.facts)],
        kinds: vec![Kind::Test],
        job: None,
    };
    let mut due = interval_at(begins.into(), Duration::from_secs(1));
    loop {
        let since = due.tick().await;
        let is_over = Instant::now() >= ends;
        if is_over && (left.load(Relaxed) == 0 || Instant::now() >= ends + PATIENCE) {
            return found;
        }
        let answer = line.ask("POST", &format!("/api/v1/nodes/{node}/lease"), &asking).await;
        if !is_over {
            found.waits.push(since.elapsed().as_secs_f64());
        }
        match answer {
            Some((204, _)) => {}
            Some((200, body)) => {
                let leased: LeasedJob = serde_json::from_slice(&body).unwrap();
                found.jobs.push(leased.job.id);
                let outcome = Outcome {
                    state: State::Passed,
                    fault: None,
                    reason: String::new(),
                    began: jiff::Timestamp::now().to_string(),
                    seconds: 0.0,
                    evidence: Evidence { tests: 1, ..Evidence::default() },
                    repeat: String::new(),
                    log_cut: 0,
                    comparisons: Vec::new(),
                };
                let key = format!("simulated-{}", leased.nonce);
                let ending = Ending { nonce: leased.nonce, key, outcome };
                let path = format!("/api/v1/jobs/{}/result", leased.job.id);
                match line.ask("PUT", &path, &ending).await {
                    Some((201, _)) => {
                        found.ended += 1;
                        left.fetch_sub(1, Relaxed);
                    }
                    _ => found.errors += 1,
                }
            }
            _ => found.errors += 1,
        }
    }
}

/// A persistent connection, reopened if necessary.
struct Line<'a> {
    address: &'a str,
    token: &'a str,
    stream: Option<BufReader<TcpStream>>,
}

impl Line<'_> {
    async fn ask(
        &mut self,
        method: &str,
        path: &str,
        body: &impl Serialize,
    ) -> Option<(u16, Vec<u8>)> {
        let body = serde_json::to_vec(body).ok()?;
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nContent-Length: {}\r\n\r\n",
            self.token,
            body.len()
        );
        if self.stream.is_none() {
            self.stream = Some(BufReader::new(TcpStream::connect(self.address).await.ok()?));
        }
        let answer = self.exchange(&[head.as_bytes(), &body].concat()).await;
        if answer.is_none() {
            self.stream = None;
        }
        answer
    }

    async fn exchange(&mut self, request: &[u8]) -> Option<(u16, Vec<u8>)> {
        let stream = self.stream.as_mut()?;
        stream.write_all(request).await.ok()?;
        let (mut status, mut length) = (None, 0);
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line).await.ok()? == 0 {
                return None;
            }
            let line = line.trim_end();
            if line.is_empty() {
                break;
            }
            match status {
                None => status = line.split(' ').nth(1)?.parse().ok(),
                Some(_) => {
                    if let Some((name, value)) = line.split_once(':')
                        && name.eq_ignore_ascii_case("content-length")
                    {
                        length = value.trim().parse().ok()?;
                    }
                }
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await.ok()?;
        Some((status?, body))
    }
}
