//! The server from the point of view of agents and other clients: the built program, accessed
//! through real HTTP.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail loudly")]

#[macro_use]
mod homes;
mod agents;
mod backups;
#[path = "../../../../assay/tests/it/browser/mod.rs"]
mod browser;
mod driven;
mod files;
mod following;
mod killing;
mod pages;
#[path = "../../../../history/src/tests/server.rs"]
mod postgres;
mod secret;
mod serving;
mod strangers;

use assay_farm::builds::model::{Facts, Kind, State, VersionKind, digest};
use assay_farm::builds::wire::{
    Ending, Evidence, Hello, LeaseRequest, LeasedJob, MadeToken, NewTarget, NewVersion, Outcome,
};
use homes::Home;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Time limit for anything on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running server, which ends with the test.
struct Server {
    home: Home,
    child: Child,
    address: String,
    admin: String,
}

/// An HTTP answer.
struct Answer {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Answer {
    fn thing<T: DeserializeOwned>(&self) -> T {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    fn json(&self) -> Value {
        self.thing()
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (own, value) = line.split_once(':')?;
            own.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// Checks that the request was refused with this status and code.
    #[track_caller]
    fn refuses(&self, status: u16, code: &str) -> String {
        assert_eq!(self.status, status, "{self:?}");
        let told = self.json();
        assert_eq!(told["error"]["code"], code, "{self:?}");
        told["error"]["message"].as_str().unwrap().to_owned()
    }

    #[track_caller]
    fn is(&self, status: u16) -> &Self {
        assert_eq!(self.status, status, "{self:?}");
        self
    }
}

impl std::fmt::Debug for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}\n{}", self.head, String::from_utf8_lossy(&self.body))
    }
}

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_assay-farm"))
}

fn start(home: &Home, more: &[&str]) -> (Child, String) {
    let mut command = program();
    command.args(["serve", "--listen", "127.0.0.1:0", "--log", "error"]).args(home.words());
    let mut child =
        command.args(more).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().split_once("://").map(|(_, address)| address.to_owned());
    (child, address.unwrap_or_else(|| panic!("the server says `{line}`")))
}

impl Server {
    fn new(more: &[&str]) -> Self {
        Self::at(Home::file(), more)
    }

    /// Starts a server in an existing directory.
    fn at(home: Home, more: &[&str]) -> Self {
        let (child, address) = start(&home, more);
        let admin = std::fs::read_to_string(home.data().join("admin-token")).unwrap();
        Self { home, child, address, admin: admin.trim().to_owned() }
    }

    fn data(&self) -> PathBuf {
        self.home.data()
    }

    fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args([signal, &self.child.id().to_string()]).status();
        assert!(sent.unwrap().success());
    }

    /// Kills the server at any point of its work, and restarts it.
    fn kill(&mut self, more: &[&str]) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        (self.child, self.address) = start(&self.home, more);
    }

    /// Sends raw bytes, and returns everything received until the server closes the connection.
    fn raw(&self, bytes: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        // If the request is refused early, the connection may already be closed.
        let _refused_early = stream.write_all(bytes);
        answer(stream)
    }

    fn asks(&self, method: &str, path: &str, token: &str, more: &str, body: &[u8]) -> Answer {
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: {}\r\n{}{more}\r\n",
            self.address,
            body.len(),
            if token.is_empty() {
                String::new()
            } else {
                format!("Authorization: Bearer {token}\r\n")
            },
        );
        self.raw(&[head.as_bytes(), body].concat())
    }

    fn get(&self, path: &str, token: &str) -> Answer {
        self.asks("GET", path, token, "", b"")
    }

    fn put(&self, path: &str, token: &str, body: &impl Serialize) -> Answer {
        self.asks("PUT", path, token, "", &serde_json::to_vec(body).unwrap())
    }

    fn post(&self, path: &str, token: &str, body: &impl Serialize) -> Answer {
        self.asks("POST", path, token, "", &serde_json::to_vec(body).unwrap())
    }

    fn token(&self, scope: &str, node: Option<&str>, owner: Option<&str>) -> String {
        let name = format!("{scope} {}", node.unwrap_or_default());
        let new = json!({"name": name, "scope": scope, "node": node, "owner": owner});
        self.post("/api/v1/tokens", &self.admin, &new).is(201).thing::<MadeToken>().secret
    }

    /// Adds a project with a number of versions and a node that has said hello, and returns the
    /// node's token.
    fn farm(&self, node: &str, versions: i64) -> String {
        let admin = &self.admin;
        self.put("/api/v1/owners/rails", admin, &json!({}));
        self.put("/api/v1/owners/rails/projects/rack", admin, &json!({}));
        let token = self.token("agent", Some(node), None);
        self.hello(node, &token, node).is(200);
        for ordinal in 1..=versions {
            let path = format!("/api/v1/owners/rails/projects/rack/versions/1.{ordinal}");
            self.put(&path, admin, &version(ordinal)).is(201);
        }
        token
    }

    fn hello(&self, node: &str, token: &str, instance: &str) -> Answer {
        let hello = Hello {
            tool: "assay-farm 0.1.0".to_owned(),
            targets: vec![target()],
            kinds: vec![Kind::Test],
            instance: instance.to_owned(),
            time: jiff::Timestamp::now().to_string(),
        };
        self.post(&format!("/api/v1/nodes/{node}/hello"), token, &hello)
    }

    fn lease(&self, node: &str, token: &str) -> Answer {
        self.post(&format!("/api/v1/nodes/{node}/lease"), token, &asking(node))
    }

    fn leased(&self, node: &str, token: &str) -> LeasedJob {
        self.lease(node, token).is(200).thing()
    }

    fn end(&self, token: &str, leased: &LeasedJob, key: &str) -> Answer {
        self.put(&format!("/api/v1/jobs/{}/result", leased.job.id), token, &ending(leased, key))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ended_already = self.child.kill();
        let _ended = self.child.wait();
    }
}

/// Reads an answer to its end and joins the pieces of a chunked body.
fn answer(mut stream: impl Read) -> Answer {
    let mut bytes = Vec::new();
    let _reset_after_an_early_answer = stream.read_to_end(&mut bytes);
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
    let end = end.unwrap_or_else(|| panic!("no answer: {}", String::from_utf8_lossy(&bytes)));
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let mut body = bytes[end + 4..].to_vec();
    if head.to_lowercase().contains("transfer-encoding: chunked") {
        let (mut whole, mut rest) = (Vec::new(), body.as_slice());
        while let Some(at) = rest.windows(2).position(|two| two == b"\r\n") {
            let length = std::str::from_utf8(&rest[..at]).unwrap();
            let length = usize::from_str_radix(length, 16).unwrap();
            whole.extend_from_slice(&rest[at + 2..at + 2 + length]);
            rest = &rest[at + 4 + length..];
        }
        body = whole;
    }
    Answer { status, head, body }
}

fn target() -> NewTarget {
    let facts: Facts = [("os", "debian 12"), ("runtime.ruby", "3.1.2")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
    NewTarget { name: "ruby 3.1.2, debian 12".to_owned(), facts }
}

fn version(ordinal: i64) -> NewVersion {
    NewVersion {
        kind: VersionKind::Release,
        published: None,
        ordinal: Some(ordinal),
        address: None,
        sha256: None,
    }
}

fn asking(instance: &str) -> LeaseRequest {
    LeaseRequest {
        instance: instance.to_owned(),
        targets: vec![digest(&target().facts)],
        kinds: vec![Kind::Test],
        job: None,
    }
}

fn outcome(state: State) -> Outcome {
    Outcome {
        state,
        fault: None,
        reason: "3 tests".to_owned(),
        began: "2026-11-26T06:00:00Z".to_owned(),
        seconds: 1.5,
        evidence: Evidence { tests: 3, ..Evidence::default() },
        repeat: "rake test".to_owned(),
        log_cut: 0,
        comparisons: Vec::new(),
    }
}

fn ending(leased: &LeasedJob, key: &str) -> Ending {
    Ending { nonce: leased.nonce.clone(), key: key.to_owned(), outcome: outcome(State::Passed) }
}
