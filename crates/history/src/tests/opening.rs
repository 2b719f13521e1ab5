//! Tests of opening a store: if it belongs to another program or has another version, while several
//! programs write it, in a read-only directory, and with a failing disk or server.

use super::*;

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
    let nowhere = Store::open(&StoreLocation::File(nowhere), Access::Write);
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
        let StoreLocation::Server(server) = home.place() else { unreachable!("it is an address") };
        let mut foreign = server.address.connect(postgres::NoTls).unwrap();
        foreign.batch_execute("CREATE SCHEMA assay; CREATE TABLE assay.t (x INTEGER)").unwrap();
        let error = home.open(Access::Write).unwrap_err();
        assert!(matches!(error, StoreError::Foreign { .. }), "{error}");
        // An empty schema, as an administrator may have created it, is used.
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
        let error = Store::open(&StoreLocation::File(path.clone()), Access::Write).unwrap_err();
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
                        // All writers add the same runs in the first half, and runs of their own in
                        // the second.
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
    // Simulates `kill -9`: a transaction is not ended, and the file is copied in the middle of it.
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

/// Downgrades a store to version 1.
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
    // Simulates `kill -9` just before the end of the migration: all statements were run, but not
    // committed.
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
    // Limits the number of pages, which has the same effect as a full disk.
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
    // A store opened for reading cannot be written, whatever the user's permissions.
    let mut reading = home.open(Access::Read).unwrap();
    let error = reading.add(&new_run(&given, 9)).unwrap_err();
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error}");
}
