//! Tests of the store as a whole: added runs can be read back, and no recoverable data are lost,
//! whatever happens to the file.
#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

mod copying;
mod damage;
mod opening;
mod server;

use crate::db::Db;
use crate::{
    Access, Added, NewRun, SalvagedStore, SeriesSelection, Store, StoreError, StoreLocation,
    salvage,
};
use assay_analysis::history::Revision;
use assay_data::{Environment, Metric, Observation, Samples, assay_file};
use server::Server;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::io::Cursor;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock};
use tempfile::TempDir;

const PROJECT: &str = "demo";

/// Location of a test's store.
struct Home {
    directory: TempDir,
    /// Address of the database; `None` if the store is a file.
    address: Option<String>,
}

/// Runs a test on a file, and also on a PostgreSQL database if PostgreSQL is installed.
fn on_both(test: impl Fn(&Home)) {
    test(&Home::new());
    if let Some(address) = database() {
        test(&Home { address: Some(address), ..Home::new() });
    }
}

/// Creates a database on the server that all tests share, and returns its address. Returns `None`
/// if PostgreSQL is not installed.
fn database() -> Option<String> {
    static SERVER: OnceLock<Option<Server>> = OnceLock::new();
    static MADE: Mutex<u32> = Mutex::new(0);
    let server = SERVER.get_or_init(Server::start).as_ref()?;
    let mut made = MADE.lock().unwrap();
    *made += 1;
    Some(server.database(&format!("d{made}")))
}

impl Home {
    fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap(), address: None }
    }

    /// Returns the path of the store's file.
    fn path(&self) -> PathBuf {
        self.directory.path().join("history.db")
    }

    fn place(&self) -> StoreLocation {
        match &self.address {
            Some(address) => StoreLocation::read(OsStr::new(address), None).unwrap(),
            None => StoreLocation::File(self.path()),
        }
    }

    fn open(&self, access: Access) -> Result<Store, StoreError> {
        Store::open(&self.place(), access)
    }

    fn store(&self) -> Store {
        self.open(Access::Write).unwrap()
    }
}

/// Returns the SQLite connection of a store.
fn file(store: &Store) -> &rusqlite::Connection {
    match &store.db {
        Db::File(db) => db,
        Db::Server(_) => unreachable!("it is a file"),
    }
}

/// Returns the samples of benchmarks, each with nine values at or slightly above the given number.
fn samples(benchmarks: &[(&str, f64)]) -> Samples {
    let mut samples = Samples::new(vec![Metric::wall()]);
    samples.environment = Environment::from_facts([("hostname".to_owned(), "build-1".into())]);
    for (name, value) in benchmarks {
        let subject = samples.add_subject(name);
        for i in 0..9 {
            let values = vec![value * (1.0 + f64::from(i) / 1000.0)];
            samples.push(Observation { subject, values, ..Observation::default() });
        }
    }
    samples
}

fn commit(number: u64) -> Revision {
    Revision {
        commit: format!("{number:040x}"),
        parent: number.checked_sub(1).map(|parent| format!("{parent:040x}")),
        ordinal: Some(number),
        time: Some(1_700_000_000 + number as i64),
    }
}

fn new_run(samples: &Samples, number: u64) -> NewRun<'_> {
    NewRun {
        project: PROJECT,
        samples,
        machine: None,
        revision: Some(commit(number)),
        of_sides: Vec::new(),
        changed: false,
        started: 1_700_000_000_000 + number as i64 * 1000,
        added: 1_800_000_000_000,
        source: "run.assay",
    }
}

/// Creates a store with `runs` runs, each with the benchmarks `make` and `test`.
fn filled(home: &Home, runs: u64) -> Store {
    let mut store = home.store();
    for number in 0..runs {
        let samples = samples(&[("make", 1.0 + number as f64), ("test", 2.0)]);
        store.add(&new_run(&samples, number)).unwrap();
    }
    store
}

#[test]
fn what_went_in_comes_out_and_twice_is_once() {
    on_both(|home| {
        let mut store = home.store();
        let given = samples(&[("make", 1.0), ("test", 2.0)]);
        let added = store.add(&new_run(&given, 7)).unwrap();
        assert!(matches!(added, Added::New(_)));
        let again = store.add(&new_run(&given, 7)).unwrap();
        assert_eq!(again, Added::Known(added.run().clone()));
        // The same values measured for another revision are another run.
        assert!(matches!(store.add(&new_run(&given, 8)).unwrap(), Added::New(_)));
        let run = added.run();
        let text = store.text(run).unwrap();
        let read = assay_file::read_from(Cursor::new(text), "x").unwrap();
        assert_eq!((read.values(0, 0), read.len()), (given.values(0, 0), 18));
        assert_eq!(
            (run.machine.as_str(), run.results, run.metric.as_deref()),
            ("build-1", 2, Some("wall"))
        );
        let contents = store.contents(run).unwrap();
        assert_eq!(contents.results[1].benchmark.name, "test");
        assert_eq!(contents.comparisons[0].verdict, "slower");
        assert!(contents.findings.iter().any(|f| f.code == "NOT_INTERLEAVED"));
        assert_eq!(run.verdict.as_deref(), Some("slower"));
    });
}

#[test]
fn a_run_is_found_by_its_first_digits_or_as_the_last() {
    on_both(|home| {
        let store = filled(home, 30);
        let log = store.log(PROJECT, 3).unwrap();
        assert_eq!(log.len(), 3);
        assert!(log[0].started > log[1].started);
        assert_eq!(store.find(PROJECT, "last").unwrap(), log[0]);
        assert_eq!(store.find(PROJECT, log[2].short()).unwrap(), log[2]);
        assert_eq!(store.find(PROJECT, &log[2].short().to_uppercase()).unwrap(), log[2]);
        let missing = ["", "xyz", "0000000000", "%", "'; DROP TABLE run --"];
        for asked in missing {
            let error = store.find(PROJECT, asked).unwrap_err();
            assert!(matches!(error, StoreError::NoSuchRun { .. }), "{asked}: {error}");
        }
        // At least two of the 30 digests begin with the same of 16 digits.
        let digits =
            "0123456789abcdef".chars().map(|digit| store.find(PROJECT, &digit.to_string()));
        assert!(digits.into_iter().any(|found| matches!(found, Err(StoreError::Ambiguous { .. }))));
    });
}

#[test]
fn a_series_is_all_runs_of_one_benchmark_on_one_machine() {
    on_both(|home| {
        let mut store = filled(home, 12);
        let elsewhere = samples(&[("make", 99.0)]);
        let other = NewRun { machine: Some("build-2"), ..new_run(&elsewhere, 50) };
        store.add(&other).unwrap();
        let all = store.series(PROJECT, "make", SeriesSelection::default()).unwrap();
        let machines: Vec<&str> = all.iter().map(|series| series.machine.as_str()).collect();
        assert_eq!(machines, ["build-2", "build-1"]);
        let wanted = SeriesSelection {
            machine: Some("build-1"),
            last: Some(5),
            ..SeriesSelection::default()
        };
        let last = &store.series(PROJECT, "make", wanted).unwrap()[0];
        let commits: Vec<_> =
            last.points.iter().map(|p| p.revision.as_ref().unwrap().ordinal).collect();
        assert_eq!(commits, [11, 10, 9, 8, 7].map(Some));
        assert!((last.points[0].result.centre - 12.0 * 1.004).abs() < 1e-9);
        assert!(store.series(PROJECT, "no", SeriesSelection::default()).unwrap().is_empty());
        assert!(store.series("no", "make", SeriesSelection::default()).unwrap().is_empty());
    });
}

#[test]
fn a_benchmark_that_was_renamed_keeps_its_past() {
    on_both(|home| {
        let mut store = filled(home, 4);
        let renamed = samples(&[("build", 1.0), ("test", 2.0)]);
        store.add(&new_run(&renamed, 4)).unwrap();
        assert_eq!(store.benchmarks(PROJECT).unwrap(), ["build", "make", "test"]);
        store.set_alias(PROJECT, "make", "build").unwrap();
        assert_eq!(store.benchmarks(PROJECT).unwrap(), ["build", "test"]);
        let series = store.series(PROJECT, "build", SeriesSelection::default()).unwrap();
        assert_eq!((series.len(), series[0].points.len()), (1, 5));
        assert!(store.series(PROJECT, "make", SeriesSelection::default()).unwrap().is_empty());
        // After a second renaming, both old names lead to the newest name. Renaming it to one of
        // them again is an error.
        store.set_alias(PROJECT, "build", "compile").unwrap();
        let series = store.series(PROJECT, "compile", SeriesSelection::default()).unwrap();
        assert_eq!(series[0].points.len(), 5);
        let circle = store.set_alias(PROJECT, "compile", "make");
        assert!(matches!(circle, Err(StoreError::Circle { .. })), "{circle:?}");
        assert!(store.remove_alias(PROJECT, "make").unwrap());
        assert_eq!(
            store.series(PROJECT, "make", SeriesSelection::default()).unwrap()[0].points.len(),
            4
        );
        assert!(!store.remove_alias(PROJECT, "make").unwrap());
    });
}

#[test]
fn what_is_removed_is_gone_with_all_that_belongs_to_it() {
    on_both(|home| {
        let mut store = filled(home, 3);
        let run = store.find(PROJECT, "last").unwrap();
        store.remove(&run).unwrap();
        assert_eq!(store.count(PROJECT).unwrap(), 2);
        for table in ["result", "samples", "comparison", "finding"] {
            let left = format!("SELECT count(*) FROM {table} WHERE recording = {}", run.id);
            assert_eq!(store.first::<i64>(&left, &[]).unwrap(), Some(0), "{table}");
        }
        assert!(matches!(store.text(&run), Err(StoreError::BadSamples { .. })));
    });
}

#[test]
fn names_may_be_anything() {
    on_both(|home| {
        let mut store = home.store();
        let name = "'; DROP TABLE recording; -- \u{0}\n<script>";
        let samples = samples(&[(name, 1.0)]);
        let run = NewRun { project: name, ..new_run(&samples, 0) };
        store.add(&run).unwrap();
        assert_eq!(store.benchmarks(name).unwrap(), [name]);
        assert_eq!(
            store.series(name, name, SeriesSelection::default()).unwrap()[0].points.len(),
            1
        );
        assert_eq!(store.projects().unwrap(), [name]);
    });
}

#[test]
fn what_holds_nothing_is_not_kept() {
    on_both(|home| {
        let empty = Samples::new(vec![Metric::wall()]);
        let error = home.store().add(&new_run(&empty, 0)).unwrap_err();
        assert!(matches!(error, StoreError::Nothing));
    });
}

#[test]
fn the_last_run_is_the_one_that_was_added_last_whatever_clocks_said() {
    on_both(|home| {
        let mut store = filled(home, 3);
        let given = samples(&[("make", 9.0)]);
        let early = NewRun { started: 5, added: 6, ..new_run(&given, 9) };
        let added = store.add(&early).unwrap().run().clone();
        assert_eq!(store.find(PROJECT, "last").unwrap(), added);
        assert_eq!(store.log(PROJECT, 9).unwrap().last(), Some(&added));
    });
}

#[test]
fn a_benchmark_that_later_runs_of_its_suite_lack_has_vanished() {
    on_both(|home| {
        let mut store = filled(home, 4);
        assert_eq!(store.vanished(PROJECT, "make").unwrap(), None);
        let lacking = samples(&[("test", 2.0), ("lint", 1.0)]);
        store.add(&new_run(&lacking, 4)).unwrap();
        // A run of unrelated benchmarks does not count as a run that lacks `make`.
        store.add(&new_run(&samples(&[("deploy", 2.0)]), 5)).unwrap();
        let vanished = store.vanished(PROJECT, "make").unwrap().unwrap();
        assert_eq!((vanished.runs, vanished.last.revision), (1, Some(commit(3))));
        assert_eq!(store.vanished(PROJECT, "test").unwrap(), None);
        assert_eq!(store.vanished(PROJECT, "deploy").unwrap(), None);
        let all = store.benchmarks(PROJECT).unwrap();
        let gone = store.vanished_among(PROJECT, &all).unwrap();
        let gone: Vec<(&str, u64)> = gone.iter().map(|(name, v)| (name.as_str(), v.runs)).collect();
        assert_eq!(gone, [("make", 1)]);
        store.set_alias(PROJECT, "make", "lint").unwrap();
        assert_eq!(store.vanished(PROJECT, "lint").unwrap(), None);
    });
}

#[test]
fn a_project_is_read_at_once_with_all_that_its_runs_measured() {
    on_both(|home| {
        let mut store = home.store();
        let mut both = samples(&[]);
        for (subject, name) in ["old", "new"].into_iter().enumerate() {
            both.environment.set(&format!("git_commit@{name}"), commit(subject as u64).commit);
            both.add_subject(name);
            both.push_value(subject, 1.0 + subject as f64);
        }
        both.environment.set("load_1m", 0.5);
        both.environment.set("calibrated_wall_60s", 0.02);
        let of_sides = [0, 1].map(|n| (commit(n).commit, commit(n))).into();
        let new = NewRun { revision: None, of_sides, ..new_run(&both, 2) };
        store.add(&new).unwrap();
        let before = store.stamp(PROJECT).unwrap();
        let alone = samples(&[("make", 3.0)]);
        store.add(&new_run(&alone, 1)).unwrap();
        // A run of two revisions is listed once for each, with that revision's results.
        let measured = store.measured(PROJECT).unwrap();
        let commits: Vec<u64> =
            measured.iter().map(|run| run.revision.as_ref().unwrap().ordinal.unwrap()).collect();
        assert_eq!((commits.as_slice(), measured[0].id == measured[1].id), (&[0, 1, 1][..], true));
        let centres = |of: usize| -> Vec<f64> {
            let results = store.contents_of(&measured[of]).unwrap();
            results.iter().map(|result| result.summary.centre).collect()
        };
        assert_eq!((centres(0), centres(1), centres(2).len()), (vec![1.0], vec![2.0], 1));
        let names = |store: &Store| -> Vec<String> {
            let all = store.catalogue(PROJECT).unwrap();
            all.iter().map(assay_analysis::history::Benchmark::label).collect()
        };
        assert_eq!(names(&store), ["make", "new", "old"]);
        assert_eq!(store.metrics().unwrap(), [Metric::wall()]);
        let states = store.machine_states(PROJECT).unwrap();
        let known: Vec<(&str, f64)> = states.iter().map(|s| (s.name.as_str(), s.value)).collect();
        assert_eq!(known, [("calibrated_wall_60s", 0.02), ("load_1m", 0.5)]);
        // The stamp changes when runs are added or removed, or benchmarks are renamed.
        let with = store.stamp(PROJECT).unwrap();
        store.set_alias(PROJECT, "old", "young").unwrap();
        assert_eq!(names(&store), ["make", "new", "young"]);
        let renamed = store.stamp(PROJECT).unwrap();
        store.remove(&measured[2]).unwrap();
        assert_eq!(store.measured(PROJECT).unwrap().len(), 2);
        let all = [before, with, renamed, store.stamp(PROJECT).unwrap()];
        assert!(all.iter().enumerate().all(|(i, stamp)| !all[..i].contains(stamp)), "{all:?}");
    });
}
