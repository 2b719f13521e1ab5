//! Tests of creating a store and of migrating one from an earlier version.

use super::*;
use crate::builds::FarmError;
use crate::builds::sql;
use assay_history::db::values;

#[test]
fn what_is_not_there_is_only_begun_by_who_writes() {
    on_both(|home| {
        let none = Store::open(&home.place(), Access::Read).unwrap_err();
        assert_eq!(none.code(), "not_found");
        // A store with only the tables of the history is not a farm.
        drop(assay_history::Store::open(&home.place(), Access::Write).unwrap());
        let none = Store::open(&home.place(), Access::Read).unwrap_err();
        assert!(none.to_string().contains("assay farm serve"), "{none}");
        assert_eq!(home.store().version().unwrap(), Store::VERSION);
        let read = Store::open(&home.place(), Access::Read).unwrap();
        assert_eq!(read.version().unwrap(), Store::VERSION);
        assert!(read.add_owner("rails").is_err());
    });
}

#[test]
fn a_store_of_the_first_version_keeps_what_it_has() {
    on_both(|home| {
        let history = assay_history::Store::open(&home.place(), Access::Write).unwrap();
        let db = history.db();
        db.migrate(sql::NEW_SCHEMA).unwrap();
        db.migrate(sql::MIGRATIONS[0]).unwrap();
        db.execute(sql::SET_SCHEMA, values![1_i64]).unwrap();
        db.batch("INSERT INTO farm_owner (name) VALUES ('rails')").unwrap();
        drop(history);
        let old = Store::open(&home.place(), Access::Read).unwrap_err();
        assert!(old.to_string().contains("assay farm upgrade"), "{old}");
        let store = home.store();
        assert_eq!(store.version().unwrap(), Store::VERSION);
        assert_eq!(store.owners(None, 9).unwrap().items.len(), 1);
        store.add_project("rails", "rack", &project(), NOW).unwrap();
        let before = store.home_stamp().unwrap();
        store.add_version(("rails", "rack"), "1", &version(1), NOW).unwrap();
        assert_ne!(store.home_stamp().unwrap(), before);
    });
}

#[test]
fn a_migration_that_fails_halfway_changes_nothing() {
    on_both(|home| {
        let store = home.store();
        store.add_owner("rails").unwrap();
        let half = "CREATE TABLE farm_more (id INTEGER PRIMARY KEY); DELETE FROM farm_owner; \
                    INSERT INTO farm_more (nothing) VALUES (1)";
        let mut migrations = sql::MIGRATIONS.to_vec();
        migrations.push(half);
        assert!(matches!(store.migrate(&migrations), Err(FarmError::Store(_))));
        drop(store);
        let store = home.store();
        assert_eq!(store.version().unwrap(), Store::VERSION);
        assert_eq!(store.owners(None, 9).unwrap().items.len(), 1);
        // Creating this table succeeds only if the failed migration left no such table.
        migrations.pop();
        migrations.push("CREATE TABLE farm_more (id INTEGER PRIMARY KEY)");
        store.migrate(&migrations).unwrap();
        assert_eq!(store.version().unwrap(), Store::VERSION + 1);
        let later = Store::open(&home.place(), Access::Write).unwrap_err().to_string();
        assert!(later.contains("use a later assay"), "{later}");
    });
}
