//! The store as a whole: what goes in comes out, and whatever happens to the file, nothing is lost that could be kept.
#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

mod server;

use crate::db::Db;
use crate::{Access, Added, NewRun, Place, Saved, Store, StoreError, Wanted, salvage};
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

/// Where a test has its store.
struct Home {
    directory: TempDir,
    /// The address of a database, where it is one.
    address: Option<String>,
}

/// Runs a test on a file, and on a database of PostgreSQL where that is installed.
fn on_both(test: impl Fn(&Home)) {
    test(&Home::new());
    if let Some(address) = database() {
        test(&Home { address: Some(address), ..Home::new() });
    }
}

/// A new database on the server that all tests share.
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

    /// The file of a store that is one.
    fn path(&self) -> PathBuf {
        self.directory.path().join("history.db")
    }

    fn place(&self) -> Place {
        match &self.address {
            Some(address) => Place::read(OsStr::new(address), None).unwrap(),
            None => Place::File(self.path()),
        }
    }

    fn open(&self, access: Access) -> Result<Store, StoreError> {
        Store::open(&self.place(), access)
    }

    fn store(&self) -> Store {
        self.open(Access::Write).unwrap()
    }
}

/// What SQLite calls the store.
fn file(store: &Store) -> &rusqlite::Connection {
    match &store.db {
        Db::File(db) => db,
        Db::Server(_) => unreachable!("it is a file"),
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
        // Of 30 runs some begin alike.
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
        assert_eq!(store.series(name, name, Wanted::default()).unwrap()[0].points.len(), 1);
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
fn a_store_is_private_and_made_only_by_a_writer() {
    on_both(|home| {
        let error = home.open(Access::Read).unwrap_err();
        assert!(matches!(error, StoreError::None { .. }), "{error}");
    });
    let home = Home::new();
    assert!(matches!(home.open(Access::Read), Err(StoreError::None { .. })));
    assert!(!home.path().exists());
    drop(home.store());
    let metadata = std::fs::metadata(home.path()).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions());
    assert_eq!(mode & 0o077, 0);
    let nowhere = home.directory.path().join("no/such/history.db");
    let nowhere = Store::open(&Place::File(nowhere), Access::Write);
    assert!(matches!(nowhere, Err(StoreError::ReadOnly { .. })));
}

#[test]
fn a_later_version_and_a_foreign_file_are_left_alone() {
    let home = Home::new();
    on_both(|home| {
        let store = filled(home, 1);
        match &store.db {
            Db::File(db) => db.pragma_update(None, "user_version", 99).unwrap(),
            Db::Server(_) => store.db.batch("UPDATE version SET number = 99").unwrap(),
        }
        drop(store);
        for access in [Access::Read, Access::Write] {
            let error = home.open(access).unwrap_err();
            assert!(matches!(error, StoreError::Newer { found: 99, known: 2, .. }), "{error}");
        }
    });
    if let Some(address) = database() {
        let home = Home { address: Some(address), ..Home::new() };
        let Place::Server(server) = home.place() else { unreachable!("it is an address") };
        let mut foreign = server.config.connect(postgres::NoTls).unwrap();
        foreign.batch_execute("CREATE SCHEMA assay; CREATE TABLE assay.t (x INTEGER)").unwrap();
        let error = home.open(Access::Write).unwrap_err();
        assert!(matches!(error, StoreError::Foreign { .. }), "{error}");
        // A schema that an administrator has made is taken.
        foreign.batch_execute("DROP TABLE assay.t").unwrap();
        assert_eq!(filled(&home, 1).count(PROJECT).unwrap(), 1);
    }
    let foreign = home.directory.path().join("thesis.txt");
    std::fs::write(
        &foreign,
        "years of work, which are longer than a header of a database ".repeat(20),
    )
    .unwrap();
    let other = home.directory.path().join("other.db");
    let db = rusqlite::Connection::open(&other).unwrap();
    db.execute_batch("CREATE TABLE t (x); PRAGMA user_version = 1").unwrap();
    drop(db);
    for path in [&foreign, &other] {
        let before = std::fs::read(path).unwrap();
        let error = Store::open(&Place::File(path.clone()), Access::Write).unwrap_err();
        assert!(matches!(error, StoreError::Foreign { .. }), "{error}");
        assert_eq!(std::fs::read(path).unwrap(), before);
    }
}

#[test]
fn two_writers_take_turns() {
    on_both(|home| {
        drop(home.store());
        let threads: Vec<_> = (0..4)
            .map(|writer: u64| {
                let path = home.place();
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
        assert_eq!(home.store().count(PROJECT).unwrap(), 5 + 4 * 5);
    });
}

#[test]
fn a_run_that_is_not_committed_was_never_there() {
    let home = Home::new();
    let store = filled(&home, 2);
    // As after `kill -9`: a transaction that nobody ends, and a file that is copied meanwhile.
    file(&store)
        .execute_batch("BEGIN IMMEDIATE; DELETE FROM result; DELETE FROM recording")
        .unwrap();
    let copy = Home::new();
    for name in ["history.db", "history.db-wal"] {
        std::fs::copy(home.directory.path().join(name), copy.directory.path().join(name)).unwrap();
    }
    let after = copy.store();
    assert_eq!(after.count(PROJECT).unwrap(), 2);
    assert!(after.text(&after.find(PROJECT, "last").unwrap()).is_ok());
}

/// Makes a store one of version 1.
fn first_version(store: &Store) {
    let steps = "DROP TABLE machine_state; DROP INDEX result_by_recording; \
                 CREATE INDEX result_by_recording ON result (recording); PRAGMA user_version = 1";
    file(store).execute_batch(steps).unwrap();
}

#[test]
fn a_migration_that_is_killed_was_never_begun() {
    let home = Home::new();
    let store = filled(&home, 3);
    first_version(&store);
    drop(store);
    // As after `kill -9` before the end: all of it is done, and nothing committed.
    let db = rusqlite::Connection::open(home.path()).unwrap();
    db.execute_batch("BEGIN IMMEDIATE").unwrap();
    db.execute_batch(crate::sql::MIGRATIONS[1]).unwrap();
    db.execute_batch("PRAGMA user_version = 2").unwrap();
    let copy = Home::new();
    for name in ["history.db", "history.db-wal"] {
        let from = home.directory.path().join(name);
        if from.exists() {
            std::fs::copy(from, copy.directory.path().join(name)).unwrap();
        }
    }
    let version = |store: &Store| store.first::<i64>("PRAGMA user_version", &[]).unwrap();
    assert_eq!(version(&copy.open(Access::Read).unwrap()), Some(1));
    let after = copy.store();
    assert_eq!((version(&after), after.count(PROJECT).unwrap()), (Some(2), 3));
    assert!(after.machine_states(PROJECT).unwrap().is_empty());
}

#[test]
fn a_store_in_a_place_that_is_only_read_can_be_read() {
    let home = Home::new();
    drop(filled(&home, 2));
    let read_only = std::os::unix::fs::PermissionsExt::from_mode(0o555);
    std::fs::set_permissions(home.directory.path(), read_only).unwrap();
    let store = home.open(Access::Read);
    let counted = store.and_then(|store| store.count(PROJECT));
    let writable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(home.directory.path(), writable).unwrap();
    assert_eq!(counted.unwrap(), 2);
}

/// The texts that are saved of a file, by the names of their runs, after its bytes were changed.
fn saved_of(home: &Home, damage: impl FnOnce(&mut [u8])) -> (Saved, HashMap<String, Vec<u8>>) {
    let damaged = Home::new();
    let mut bytes = std::fs::read(home.path()).unwrap();
    damage(&mut bytes);
    std::fs::write(damaged.path(), bytes).unwrap();
    let mut texts = HashMap::new();
    let saved = salvage(&damaged.path(), |name, text| -> Result<(), StoreError> {
        texts.insert(name.to_owned(), text.to_vec());
        Ok(())
    });
    (saved.unwrap(), texts)
}

/// A closed store of so many runs, some of which were removed again, and the page that its table of samples begins at.
fn with_gaps(home: &Home) -> usize {
    let mut store = filled(home, 60);
    for run in store.log(PROJECT, usize::MAX).unwrap().iter().step_by(13) {
        store.remove(run).unwrap();
    }
    let root = "SELECT rootpage FROM sqlite_master WHERE name = 'samples'";
    usize::try_from(store.first::<i64>(root, &[]).unwrap().unwrap()).unwrap()
}

#[test]
fn a_damaged_store_gives_back_what_is_whole() {
    let home = Home::new();
    let root = with_gaps(&home);
    let (all, whole) = saved_of(&home, |_| {});
    assert_eq!((all, whole.len()), (Saved { runs: 55, lost: 0 }, 55));
    let pages = std::fs::metadata(home.path()).unwrap().len() as usize / 4096;
    assert!(pages > 30, "{pages}");
    // A third of its pages is overwritten, in the middle.
    let third = pages / 3 * 4096;
    let (saved, texts) = saved_of(&home, |bytes| bytes[third..2 * third].fill(0xA5));
    assert!(saved.runs >= 10 && saved.lost > 0, "{saved:?}");
    // What was removed may count as lost where the list of runs is damaged.
    assert!((55..=60).contains(&(saved.runs + saved.lost)), "{saved:?}");
    for text in texts.values() {
        assert!(assay_file::read_from(Cursor::new(text.clone()), "x").is_ok());
    }
    // The page that leads to all samples: none of them lies on it.
    let (saved, texts) = saved_of(&home, |bytes| bytes[(root - 1) * 4096..root * 4096].fill(0));
    assert_eq!((saved, &texts), (all, &whole));
    // The first page, which says what there is. Nobody knows any more what the runs were called, and what was removed.
    let (saved, texts) = saved_of(&home, |bytes| bytes[..4096].fill(0xA5));
    assert!(saved.runs >= 55, "{saved:?}");
    assert!(whole.values().all(|text| texts.values().any(|saved| saved == text)));
}

#[test]
fn whatever_is_damaged_nothing_is_made_up() {
    let home = Home::new();
    with_gaps(&home);
    let (_, whole) = saved_of(&home, |_| {});
    let mut state = 20_u64;
    // Knuth's numbers; all that is asked of them is to be many and the same every time.
    let mut below = |most: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % most
    };
    for _ in 0..60 {
        let (_, texts) = saved_of(&home, |bytes| {
            for _ in 0..40 {
                let at = below(bytes.len());
                let length = 1 + below(64).min(bytes.len() - at - 1);
                bytes[at..at + length].iter_mut().for_each(|byte| *byte = below(256) as u8);
            }
        });
        let known = |text: &Vec<u8>| whole.values().any(|whole| whole == text);
        // What was removed may come back where the list of free pages is damaged.
        let parses = |text: &Vec<u8>| assay_file::read_from(Cursor::new(text.clone()), "x").is_ok();
        assert!(texts.values().all(|text| known(text) || parses(text)));
    }
}

#[test]
fn what_was_written_last_is_saved_from_the_log() {
    let home = Home::new();
    let store = filled(&home, 20);
    let copy = Home::new();
    for name in ["history.db", "history.db-wal"] {
        std::fs::copy(home.directory.path().join(name), copy.directory.path().join(name)).unwrap();
    }
    assert_eq!(store.count(PROJECT).unwrap(), 20);
    let saved = salvage(&copy.path(), |_, _| Ok::<(), StoreError>(()));
    assert_eq!(saved.unwrap(), Saved { runs: 20, lost: 0 });
}

#[test]
fn a_writer_that_others_keep_waiting_says_so_and_a_full_disk_changes_nothing() {
    let home = Home::new();
    let (first, mut second) = (filled(&home, 2), home.store());
    file(&second).busy_timeout(std::time::Duration::from_millis(50)).unwrap();
    file(&first).execute_batch("BEGIN IMMEDIATE").unwrap();
    let large: Vec<(String, f64)> = (0..400).map(|i| (format!("b{i}"), f64::from(i))).collect();
    let large: Vec<(&str, f64)> = large.iter().map(|(name, v)| (name.as_str(), *v)).collect();
    let large = samples(&large);
    let error = second.add(&new_run(&large, 9)).unwrap_err();
    assert!(matches!(error, StoreError::Busy { .. }), "{error}");
    file(&first).execute_batch("ROLLBACK").unwrap();
    // So many pages and no more, as on a disk that is full.
    let pages: i64 = second.first("PRAGMA page_count", &[]).unwrap().unwrap();
    file(&second).pragma_update(None, "max_page_count", pages).unwrap();
    let error = second.add(&new_run(&large, 9)).unwrap_err();
    assert!(matches!(error, StoreError::Full { .. }), "{error}");
    drop((first, second));
    let whole = home.store();
    assert_eq!(whole.count(PROJECT).unwrap(), 2);
    assert_eq!(
        file(&whole).query_row("PRAGMA integrity_check", [], |r| r.get(0)),
        Ok("ok".to_owned())
    );
}

#[test]
fn a_server_that_goes_is_said_and_what_it_had_is_there_when_it_is_back() {
    let Some(mut server) = Server::start() else { return };
    let address = server.database("runs");
    let home = Home { address: Some(address), ..Home::new() };
    let mut store = filled(&home, 2);
    server.stop();
    let given = samples(&[("make", 5.0)]);
    let error = store.add(&new_run(&given, 9)).unwrap_err();
    assert!(error.is_gone(), "{error}");
    let error = home.open(Access::Write).unwrap_err();
    assert!(error.is_gone() && error.to_string().contains("can't be reached"), "{error}");
    server.start_again();
    assert_eq!(home.open(Access::Read).unwrap().count(PROJECT).unwrap(), 2);
    let elsewhere = home.address.clone().unwrap().replace("runs", "elsewhere");
    let elsewhere = Home { address: Some(elsewhere), ..Home::new() };
    let error = elsewhere.open(Access::Write).unwrap_err();
    assert!(matches!(error, StoreError::Refused { .. }), "{error}");
    // Who only reads can't write, whatever he may.
    let mut reading = home.open(Access::Read).unwrap();
    let error = reading.add(&new_run(&given, 9)).unwrap_err();
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error}");
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
        // A run of something else misses nothing.
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
    });
}
