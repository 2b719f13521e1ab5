//! Tests of the whole store, on SQLite and PostgreSQL: an item that is added twice exists once,
//! every job ends exactly once, and the sums match the rows.
#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

mod adding;
mod farm;
mod opening;
mod queue;
mod racing;
mod reading;
#[path = "../../../history/src/tests/server.rs"]
mod server;
mod stamps;
mod tokens;

use crate::builds::Store;
use crate::builds::model::{Facts, Kind, State, VersionKind, digest};
use crate::builds::wire::{
    BenchmarkComparison, Evidence, Hello, LeaseRequest, NewProject, NewTarget, NewVersion, Outcome,
    Recipe,
};
use assay_history::{Access, StoreLocation};
use server::Server;
use std::ffi::OsStr;
use std::sync::{Mutex, OnceLock};
use tempfile::TempDir;

/// An arbitrary time, in ms since 1970.
const NOW: i64 = 1_764_136_800_000;
const LEASE: i64 = 60_000;

/// Location of a test's store.
struct Home {
    directory: TempDir,
    /// Address of the PostgreSQL database; `None` if the store is a file.
    address: Option<String>,
}

impl Home {
    fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap(), address: None }
    }

    /// Creates a new database on the server shared by all tests. Returns `None` if PostgreSQL is
    /// not installed.
    fn on_server() -> Option<Self> {
        static SERVER: OnceLock<Option<Server>> = OnceLock::new();
        static MADE: Mutex<u32> = Mutex::new(0);
        let server = SERVER.get_or_init(Server::start).as_ref()?;
        let mut made = MADE.lock().unwrap();
        *made += 1;
        Some(Self { address: Some(server.database(&format!("f{made}"))), ..Self::new() })
    }

    fn place(&self) -> StoreLocation {
        match &self.address {
            Some(address) => StoreLocation::read(OsStr::new(address), None).unwrap(),
            None => StoreLocation::File(self.directory.path().join("farm.sqlite")),
        }
    }

    fn store(&self) -> Store {
        Store::open(&self.place(), Access::Write).unwrap()
    }
}

/// Runs a test on a SQLite file, and also on a PostgreSQL database if PostgreSQL is installed.
fn on_both(test: impl Fn(&Home)) {
    test(&Home::new());
    if let Some(home) = Home::on_server() {
        test(&home);
    }
}

fn facts(all: &[(&str, &str)]) -> Facts {
    all.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
}

fn target(ruby: &str) -> NewTarget {
    NewTarget {
        name: format!("ruby {ruby}"),
        facts: facts(&[("os", "debian 12"), ("runtime.ruby", ruby)]),
    }
}

fn key(target: &NewTarget) -> String {
    digest(&target.facts)
}

fn project() -> NewProject {
    NewProject { origin: None, recipe: Recipe::default(), needs: Facts::new() }
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

fn hello(targets: &[NewTarget], instance: &str) -> Hello {
    Hello {
        tool: "assay-farm 0.1.0".to_owned(),
        targets: targets.to_vec(),
        kinds: vec![Kind::Test, Kind::Bench],
        instance: instance.to_owned(),
        time: crate::builds::when::text(NOW),
    }
}

fn asking(targets: &[NewTarget], instance: &str) -> LeaseRequest {
    LeaseRequest {
        instance: instance.to_owned(),
        targets: targets.iter().map(key).collect(),
        kinds: vec![Kind::Test, Kind::Bench],
        job: None,
    }
}

fn outcome(state: State) -> Outcome {
    Outcome {
        state,
        fault: (state == State::Infrastructure).then_some(crate::builds::model::Fault::Disk),
        reason: String::new(),
        began: crate::builds::when::text(NOW),
        seconds: 1.5,
        evidence: Evidence { tests: 3, ..Evidence::default() },
        repeat: String::new(),
        log_cut: 0,
        comparisons: Vec::new(),
    }
}

fn compared(verdict: &str) -> Outcome {
    let compared = BenchmarkComparison {
        benchmark: "sort".to_owned(),
        metric: "wall_time".to_owned(),
        verdict: verdict.to_owned(),
        ratio: 1.01,
        lower: 0.9,
        upper: 1.1,
        n: 20,
    };
    Outcome { comparisons: vec![compared], ..outcome(State::Passed) }
}
