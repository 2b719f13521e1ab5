//! The store as a whole: what goes in comes out, and whatever happens to the file, nothing is lost that could be kept.
#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use crate::{Access, Added, NewRun, Saved, Store, StoreError, Wanted, salvage};
use assay_analysis::history::Revision;
use assay_data::{Environment, Metric, Observation, Samples, assay_file};
use std::io::Cursor;
use std::path::PathBuf;
use tempfile::TempDir;

const PROJECT: &str = "demo";

struct Place {
    directory: TempDir,
}

impl Place {
    fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("history.db")
    }

    fn store(&self) -> Store {
        Store::open(&self.path(), Access::Write).unwrap()
    }
}

/// A run of these benchmarks, each with nine values around its number.
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

/// A store with so many runs of `make` and `test`.
fn filled(place: &Place, runs: u64) -> Store {
    let mut store = place.store();
    for number in 0..runs {
        let samples = samples(&[("make", 1.0 + number as f64), ("test", 2.0)]);
        store.add(&new_run(&samples, number)).unwrap();
    }
    store
}

#[test]
fn what_went_in_comes_out_and_twice_is_once() {
    let place = Place::new();
    let mut store = place.store();
    let given = samples(&[("make", 1.0), ("test", 2.0)]);
    let added = store.add(&new_run(&given, 7)).unwrap();
    assert!(matches!(added, Added::New(_)));
    let again = store.add(&new_run(&given, 7)).unwrap();
    assert_eq!(again, Added::Known(added.run().clone()));
    // The same numbers of another revision are another run.
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
}

#[test]
fn a_run_is_found_by_its_first_digits_or_as_the_last() {
    let place = Place::new();
    let store = filled(&place, 30);
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
    // Of 30 runs some begin alike.
    let digits = "0123456789abcdef".chars().map(|digit| store.find(PROJECT, &digit.to_string()));
    assert!(digits.into_iter().any(|found| matches!(found, Err(StoreError::Ambiguous { .. }))));
}

#[test]
fn a_series_is_all_runs_of_one_benchmark_on_one_machine() {
    let place = Place::new();
    let mut store = filled(&place, 12);
    let elsewhere = samples(&[("make", 99.0)]);
    let other = NewRun { machine: Some("build-2"), ..new_run(&elsewhere, 50) };
    store.add(&other).unwrap();
    let all = store.series(PROJECT, "make", Wanted::default()).unwrap();
    let machines: Vec<&str> = all.iter().map(|series| series.machine.as_str()).collect();
    assert_eq!(machines, ["build-2", "build-1"]);
    let wanted = Wanted { machine: Some("build-1"), last: Some(5), ..Wanted::default() };
    let last = &store.series(PROJECT, "make", wanted).unwrap()[0];
    let commits: Vec<_> =
        last.points.iter().map(|p| p.revision.as_ref().unwrap().ordinal).collect();
    assert_eq!(commits, [11, 10, 9, 8, 7].map(Some));
    assert!((last.points[0].result.centre - 12.0 * 1.004).abs() < 1e-9);
    assert!(store.series(PROJECT, "no", Wanted::default()).unwrap().is_empty());
    assert!(store.series("no", "make", Wanted::default()).unwrap().is_empty());
}

#[test]
fn a_benchmark_that_was_renamed_keeps_its_past() {
    let place = Place::new();
    let mut store = filled(&place, 4);
    let renamed = samples(&[("build", 1.0), ("test", 2.0)]);
    store.add(&new_run(&renamed, 4)).unwrap();
    assert_eq!(store.benchmarks(PROJECT).unwrap(), ["build", "make", "test"]);
    store.set_alias(PROJECT, "make", "build").unwrap();
    assert_eq!(store.benchmarks(PROJECT).unwrap(), ["build", "test"]);
    let series = store.series(PROJECT, "build", Wanted::default()).unwrap();
    assert_eq!((series.len(), series[0].points.len()), (1, 5));
    assert!(store.series(PROJECT, "make", Wanted::default()).unwrap().is_empty());
    // Renamed once more: both old names lead to the newest, and never in a circle.
    store.set_alias(PROJECT, "build", "compile").unwrap();
    let series = store.series(PROJECT, "compile", Wanted::default()).unwrap();
    assert_eq!(series[0].points.len(), 5);
    let circle = store.set_alias(PROJECT, "compile", "make");
    assert!(matches!(circle, Err(StoreError::Circle { .. })), "{circle:?}");
    assert!(store.remove_alias(PROJECT, "make").unwrap());
    assert_eq!(store.series(PROJECT, "make", Wanted::default()).unwrap()[0].points.len(), 4);
    assert!(!store.remove_alias(PROJECT, "make").unwrap());
}

#[test]
fn what_is_removed_is_gone_with_all_that_belongs_to_it() {
    let place = Place::new();
    let mut store = filled(&place, 3);
    let run = store.find(PROJECT, "last").unwrap();
    store.remove(&run).unwrap();
    assert_eq!(store.count(PROJECT).unwrap(), 2);
    for table in ["result", "samples", "comparison", "finding"] {
        let left = format!("SELECT count(*) FROM {table} WHERE recording = {}", run.id);
        let left: i64 = store.db.query_row(&left, [], |row| row.get(0)).unwrap();
        assert_eq!(left, 0, "{table}");
    }
    assert!(matches!(store.text(&run), Err(StoreError::BadSamples { .. })));
}

#[test]
fn names_may_be_anything() {
    let place = Place::new();
    let mut store = place.store();
    let name = "'; DROP TABLE recording; -- \u{0}\n<script>";
    let samples = samples(&[(name, 1.0)]);
    let run = NewRun { project: name, ..new_run(&samples, 0) };
    store.add(&run).unwrap();
    assert_eq!(store.benchmarks(name).unwrap(), [name]);
    assert_eq!(store.series(name, name, Wanted::default()).unwrap()[0].points.len(), 1);
    assert_eq!(store.projects().unwrap(), [name]);
}

#[test]
fn what_holds_nothing_is_not_kept() {
    let place = Place::new();
    let empty = Samples::new(vec![Metric::wall()]);
    let error = place.store().add(&new_run(&empty, 0)).unwrap_err();
    assert!(matches!(error, StoreError::Nothing));
}

#[test]
fn a_store_is_private_and_made_only_by_a_writer() {
    let place = Place::new();
    assert!(matches!(Store::open(&place.path(), Access::Read), Err(StoreError::None { .. })));
    assert!(!place.path().exists());
    drop(place.store());
    let metadata = std::fs::metadata(place.path()).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions());
    assert_eq!(mode & 0o077, 0);
    let nowhere = place.directory.path().join("no/such/history.db");
    assert!(matches!(Store::open(&nowhere, Access::Write), Err(StoreError::ReadOnly { .. })));
}

#[test]
fn a_later_version_and_a_foreign_file_are_left_alone() {
    let place = Place::new();
    let store = filled(&place, 1);
    store.db.pragma_update(None, "user_version", 99).unwrap();
    drop(store);
    for access in [Access::Read, Access::Write] {
        let error = Store::open(&place.path(), access).unwrap_err();
        assert!(matches!(error, StoreError::Newer { found: 99, known: 2, .. }), "{error}");
    }
    let foreign = place.directory.path().join("thesis.txt");
    std::fs::write(
        &foreign,
        "years of work, which are longer than a header of a database ".repeat(20),
    )
    .unwrap();
    let other = place.directory.path().join("other.db");
    let db = rusqlite::Connection::open(&other).unwrap();
    db.execute_batch("CREATE TABLE t (x); PRAGMA user_version = 1").unwrap();
    drop(db);
    for path in [&foreign, &other] {
        let before = std::fs::read(path).unwrap();
        let error = Store::open(path, Access::Write).unwrap_err();
        assert!(matches!(error, StoreError::Foreign { .. }), "{error}");
        assert_eq!(std::fs::read(path).unwrap(), before);
    }
}

#[test]
fn two_writers_take_turns() {
    let place = Place::new();
    drop(place.store());
    let threads: Vec<_> = (0..4)
        .map(|writer: u64| {
            let path = place.path();
            std::thread::spawn(move || {
                let mut store = Store::open(&path, Access::Write).unwrap();
                for number in 0..10 {
                    // Half of the runs are added by everybody.
                    let mark = if number < 5 { 0 } else { writer };
                    let samples = samples(&[("make", (mark * 100 + number) as f64 + 1.0)]);
                    store.add(&new_run(&samples, number)).unwrap();
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(place.store().count(PROJECT).unwrap(), 5 + 4 * 5);
}

#[test]
fn a_run_that_is_not_committed_was_never_there() {
    let place = Place::new();
    let store = filled(&place, 2);
    // As after `kill -9`: a transaction that nobody ends, and a file that is copied meanwhile.
    store.db.execute_batch("BEGIN IMMEDIATE; DELETE FROM result; DELETE FROM recording").unwrap();
    let copy = Place::new();
    for name in ["history.db", "history.db-wal"] {
        std::fs::copy(place.directory.path().join(name), copy.directory.path().join(name)).unwrap();
    }
    let after = copy.store();
    assert_eq!(after.count(PROJECT).unwrap(), 2);
    assert!(after.text(&after.find(PROJECT, "last").unwrap()).is_ok());
}

#[test]
fn a_store_in_a_place_that_is_only_read_can_be_read() {
    let place = Place::new();
    drop(filled(&place, 2));
    let read_only = std::os::unix::fs::PermissionsExt::from_mode(0o555);
    std::fs::set_permissions(place.directory.path(), read_only).unwrap();
    let store = Store::open(&place.path(), Access::Read);
    let counted = store.and_then(|store| store.count(PROJECT));
    let writable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(place.directory.path(), writable).unwrap();
    assert_eq!(counted.unwrap(), 2);
}

#[test]
fn a_damaged_store_gives_back_what_is_whole() {
    let place = Place::new();
    drop(filled(&place, 60));
    let mut bytes = std::fs::read(place.path()).unwrap();
    let pages = bytes.len() / 4096;
    assert!(pages > 30, "{pages}");
    // Five pages are overwritten, behind those that lead to all others.
    let middle = pages * 2 / 3 * 4096;
    bytes[middle..middle + 5 * 4096].fill(0xA5);
    std::fs::write(place.path(), bytes).unwrap();
    let mut texts = Vec::new();
    let saved = salvage(&place.path(), |_, text| -> Result<(), StoreError> {
        texts.push(text.to_vec());
        Ok(())
    });
    let Saved { runs, lost } = saved.unwrap();
    assert!(runs >= 20 && lost > 0 && runs + lost <= 60, "{runs} {lost}");
    for text in texts {
        assert!(assay_file::read_from(Cursor::new(text), "x").is_ok());
    }
}

#[test]
fn a_benchmark_that_later_runs_of_its_suite_lack_has_vanished() {
    let place = Place::new();
    let mut store = filled(&place, 4);
    assert_eq!(store.vanished(PROJECT, "make").unwrap(), None);
    let lacking = samples(&[("test", 2.0), ("lint", 1.0)]);
    store.add(&new_run(&lacking, 4)).unwrap();
    // A run of something else misses nothing.
    store.add(&new_run(&samples(&[("deploy", 2.0)]), 5)).unwrap();
    let vanished = store.vanished(PROJECT, "make").unwrap().unwrap();
    assert_eq!((vanished.runs, vanished.last.revision), (1, Some(commit(3))));
    assert_eq!(store.vanished(PROJECT, "test").unwrap(), None);
    assert_eq!(store.vanished(PROJECT, "deploy").unwrap(), None);
    store.set_alias(PROJECT, "make", "lint").unwrap();
    assert_eq!(store.vanished(PROJECT, "lint").unwrap(), None);
}

#[test]
fn a_project_is_read_at_once_with_all_that_its_runs_measured() {
    let place = Place::new();
    let mut store = place.store();
    let mut both = samples(&[]);
    for (subject, name) in ["old", "new"].into_iter().enumerate() {
        both.environment.set(&format!("git_commit@{name}"), commit(subject as u64).commit);
        both.add_subject(name);
        both.push_value(subject, 1.0 + subject as f64);
    }
    both.environment.set("load_1m", 0.5);
    both.environment.set("calibrated_wall_60s", 0.02);
    let of_sides = vec![commit(0), commit(1)];
    let new = NewRun { revision: None, of_sides, ..new_run(&both, 2) };
    store.add(&new).unwrap();
    let before = store.stamp(PROJECT).unwrap();
    let alone = samples(&[("make", 3.0)]);
    store.add(&new_run(&alone, 1)).unwrap();
    // A run of two revisions stands there for each, with its own results.
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
    // The stamp tells runs that were added or removed, and other names.
    let with = store.stamp(PROJECT).unwrap();
    store.set_alias(PROJECT, "old", "young").unwrap();
    assert_eq!(names(&store), ["make", "new", "young"]);
    let renamed = store.stamp(PROJECT).unwrap();
    store.remove(&measured[2]).unwrap();
    assert_eq!(store.measured(PROJECT).unwrap().len(), 2);
    let all = [before, with, renamed, store.stamp(PROJECT).unwrap()];
    assert!(all.iter().enumerate().all(|(i, stamp)| !all[..i].contains(stamp)), "{all:?}");
}
