//! A minimal server for the agent's tests: a list of jobs, the submitted results, files for
//! downloads, and the failures of a real server: unreachable, forgetful, refusing.

use assay_farm::builds::model::{Facts, Kind, Progress, VersionKind};
use assay_farm::builds::wire::{
    Calibration, Ending, Heartbeat, HeartbeatAnswer, Hello, Job, LeaseRequest, LeasedJob, NewJob,
    NewProject, NewVersion, Origin, Project, Recipe, Version, Welcome,
};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// Time limit, which is rarely reached.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// The state of the server.
#[derive(Default)]
pub struct State {
    pub waiting: VecDeque<(i64, Project, Version)>,
    pub leased: BTreeMap<i64, String>,
    pub hellos: Vec<Hello>,
    pub askings: Vec<LeaseRequest>,
    pub tokens: BTreeSet<String>,
    pub beats: u64,
    pub logs: BTreeMap<i64, Vec<u8>>,
    pub samples: BTreeMap<i64, Vec<u8>>,
    /// The accepted results, and all submissions.
    pub endings: BTreeMap<i64, Ending>,
    pub handed: Vec<(i64, String)>,
    pub calibrations: Vec<Calibration>,
    /// The files that it serves, by path.
    pub files: BTreeMap<String, Vec<u8>>,
    /// Answers every request with 503.
    pub is_away: bool,
    /// Jobs that were cancelled, and jobs whose leases ran out.
    pub cancelled: BTreeSet<i64>,
    pub lost: BTreeSet<i64>,
    pub log_limit: u64,
    /// The kind of all jobs.
    pub kind: Option<Kind>,
    pub base: Option<Version>,
    /// Number of hellos after which another agent of this name also says hello.
    pub others: usize,
}

/// The server.
#[derive(Clone)]
pub struct Fake {
    state: Arc<(Mutex<State>, Condvar)>,
    pub port: u16,
}

impl Fake {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = State { log_limit: 1 << 20, ..State::default() };
        let own = Self { state: Arc::new((Mutex::new(state), Condvar::new())), port };
        let its = own.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let its = its.clone();
                std::thread::spawn(move || its.serve(stream));
            }
        });
        own
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.0.lock().unwrap()
    }

    /// Waits until a condition is true.
    pub fn until(&self, what: &str, is_so: impl Fn(&State) -> bool) -> MutexGuard<'_, State> {
        let end = Instant::now() + PATIENCE;
        let mut state = self.state();
        while !is_so(&state) {
            assert!(Instant::now() < end, "waited for: {what}");
            state = self.state.1.wait_timeout(state, Duration::from_millis(100)).unwrap().0;
        }
        state
    }

    /// Queues a job for a version that is an archive.
    pub fn job(&self, id: i64, archive: Vec<u8>, recipe: Recipe) {
        let path = format!("/files/{id}.tar.gz");
        let address = format!("{}{path}", self.url());
        self.state().files.insert(path, archive);
        self.queue(id, Some(address), None, recipe);
    }

    pub fn queue(&self, id: i64, address: Option<String>, origin: Option<Origin>, recipe: Recipe) {
        let project = Project {
            id: 1,
            owner: "me".to_owned(),
            name: "project".to_owned(),
            of: NewProject { origin, recipe, needs: Facts::new() },
        };
        let version = version("1.0", address);
        self.state().waiting.push_back((id, project, version));
        self.state.1.notify_all();
    }

    /// Waits until a condition is true, without returning the state.
    pub fn waits(&self, what: &str, is_so: impl Fn(&State) -> bool) {
        drop(self.until(what, is_so));
    }

    /// Waits for the end of a job, and returns its result.
    pub fn ending(&self, id: i64) -> Ending {
        self.until(&format!("the end of job {id}"), |state| state.endings.contains_key(&id)).endings
            [&id]
            .clone()
    }

    pub fn log(&self, id: i64) -> String {
        let state = self.state();
        String::from_utf8_lossy(state.logs.get(&id).map_or(&[], Vec::as_slice)).into_owned()
    }

    fn serve(&self, stream: TcpStream) {
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut writer = stream;
        loop {
            let mut first = String::new();
            if reader.read_line(&mut first).unwrap_or(0) == 0 {
                return;
            }
            let mut words = first.split(' ');
            let (method, target) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
            let mut length = 0;
            let mut token = None;
            loop {
                let mut line = String::new();
                if reader.read_line(&mut line).unwrap_or(0) == 0 {
                    return;
                }
                let line = line.trim_end();
                if line.is_empty() {
                    break;
                }
                let (name, value) = line.split_once(':').unwrap_or((line, ""));
                match name.to_lowercase().as_str() {
                    "content-length" => length = value.trim().parse().unwrap(),
                    "authorization" => token = Some(value.trim().to_owned()),
                    "expect" => writer.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").unwrap(),
                    _ => {}
                }
            }
            let mut body = vec![0; length];
            if reader.read_exact(&mut body).is_err() {
                return;
            }
            let (status, answer) = {
                let mut state = self.state();
                state.tokens.extend(token);
                answered(&mut state, method, target, &body)
            };
            self.state.1.notify_all();
            let head = format!(
                "HTTP/1.1 {status} X\r\nassay-api: 1\r\ncontent-length: {}\r\nretry-after: 0\r\n\r\n",
                answer.len()
            );
            if writer.write_all(head.as_bytes()).and_then(|()| writer.write_all(&answer)).is_err() {
                return;
            }
        }
    }
}

pub fn version(name: &str, address: Option<String>) -> Version {
    let kind = VersionKind::Release;
    let of = NewVersion { kind, published: None, ordinal: None, address, sha256: None };
    Version {
        id: 1,
        owner: "me".to_owned(),
        project: "project".to_owned(),
        name: name.to_owned(),
        is_gone: false,
        of,
    }
}

fn json(status: u16, value: &impl Serialize) -> (u16, Vec<u8>) {
    (status, serde_json::to_vec(value).unwrap())
}

fn refused(status: u16, code: &str) -> (u16, Vec<u8>) {
    json(status, &serde_json::json!({"error": {"code": code, "message": "as the test wants it"}}))
}

fn answered(state: &mut State, method: &str, target: &str, body: &[u8]) -> (u16, Vec<u8>) {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    if let Some(file) = state.files.get(path) {
        return (200, file.clone());
    }
    if state.is_away {
        return (503, Vec::new());
    }
    let query: BTreeMap<&str, &str> =
        query.split('&').filter_map(|pair| pair.split_once('=')).collect();
    let parts: Vec<&str> = path.trim_start_matches("/api/v1/").split('/').collect();
    let id = parts.get(1).and_then(|own| own.parse::<i64>().ok()).unwrap_or(0);
    match (method, parts.as_slice()) {
        ("POST", ["nodes", _, "hello"]) => {
            state.hellos.push(serde_json::from_slice(body).unwrap());
            let welcome = Welcome {
                lease: 60,
                heartbeat: 1,
                ask: 1,
                clock_ahead: 0.0,
                log_limit: state.log_limit,
                drained: None,
            };
            json(200, &welcome)
        }
        ("POST", ["nodes", _, "lease"]) => {
            let asking: LeaseRequest = serde_json::from_slice(body).unwrap();
            if state.hellos.len() <= state.others {
                return refused(409, "conflict");
            }
            let target = asking.targets[0].clone();
            let wanted = asking.job;
            state.askings.push(asking);
            let place = state.waiting.iter().position(|own| wanted.is_none_or(|id| id == own.0));
            let Some((id, project, version)) = place.and_then(|own| state.waiting.remove(own))
            else {
                return (204, Vec::new());
            };
            let nonce = format!("nonce-{id}");
            state.leased.insert(id, nonce.clone());
            let kind = state.kind.unwrap_or(Kind::Test);
            let of = serde_json::json!({
                "owner": "me", "project": "project", "version": version.name, "kind": kind,
            });
            let of: NewJob = serde_json::from_value(of).unwrap();
            let job =
                Job { id, of, progress: Progress::Leased, attempts: 1, node: None, build: None };
            let until = "2100-01-01T00:00:00Z".to_owned();
            let base = state.base.clone();
            json(200, &LeasedJob { job, project, version, base, target, nonce, until })
        }
        ("POST", ["jobs", _, "heartbeat"]) => {
            let beat: Heartbeat = serde_json::from_slice(body).unwrap();
            state.beats += 1;
            if state.lost.contains(&id) || state.leased.get(&id) != Some(&beat.nonce) {
                return refused(409, "lease_lost");
            }
            let is_cancelled = state.cancelled.contains(&id);
            json(200, &HeartbeatAnswer { until: "2100-01-01T00:00:00Z".to_owned(), is_cancelled })
        }
        ("PUT", ["jobs", _, "log"]) => {
            let offset: usize = query["offset"].parse().unwrap();
            let log = state.logs.entry(id).or_default();
            if offset > log.len() {
                return refused(400, "bad_request");
            }
            // Known bytes have no effect.
            let known = log.len() - offset;
            log.extend_from_slice(body.get(known..).unwrap_or_default());
            json(200, &serde_json::json!({"bytes": log.len(), "cut": 0}))
        }
        ("PUT", ["jobs", _, "samples"]) => {
            state.samples.insert(id, body.to_vec());
            json(200, &serde_json::json!({}))
        }
        ("PUT", ["jobs", _, "result"]) => {
            let ending: Ending = serde_json::from_slice(body).unwrap();
            state.handed.push((id, ending.key.clone()));
            if state.leased.get(&id) != Some(&ending.nonce) {
                return refused(409, "lease_lost");
            }
            let outcome = ending.outcome.clone();
            let key = ending.key.clone();
            state.endings.insert(id, ending);
            json(
                201,
                &serde_json::json!({
                    "id": id, "key": key, "job": id, "added": "2026-01-01T00:00:00Z", "log_bytes": 0,
                    "has_samples": false, "owner": "me", "project": "project", "version": "1.0",
                    "target": "t", "node": "n", "outcome": outcome,
                }),
            )
        }
        ("POST", ["nodes", _, "calibration"]) => {
            state.calibrations.push(serde_json::from_slice(body).unwrap());
            json(200, &serde_json::json!({}))
        }
        _ => refused(404, "not_found"),
    }
}
