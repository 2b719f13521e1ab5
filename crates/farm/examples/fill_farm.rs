//! Fills a farm's store with synthetic builds, in a few statements, so that pages can be measured
//! with many of them:
//!
//!     cargo run --release -p assay-farm --example fill_farm -- farm.sqlite 1000000
//!     cargo run --release -p assay-farm --example fill_farm -- postgres:///farm 10000000
//!
//! Ten owners have a hundred projects each, there are twenty targets, and each version has five
//! builds on each target. The sums are the same as if the builds had been added one by one.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "an example")]

use assay_farm::builds::Store;
use assay_farm::builds::model::{State, digest};
use assay_farm::builds::wire::NewTarget;
use assay_history::db::{Db, DbError, values};
use assay_history::{Access, StoreLocation};
use std::ffi::OsStr;

const PROJECTS: i64 = 1_000;
const TARGETS: i64 = 20;
const ROUNDS: i64 = 5;
/// Number of builds added by one statement.
const TOGETHER: i64 = 200_000;
const NOW: i64 = 1_764_136_800_000;

const SAID: &str = r#"{"state":"passed","reason":"","began":"2026-11-26T06:00:00Z","seconds":12.5,"evidence":{"framework":"minitest 5.17","tests":120,"failed":0,"skipped":2,"assertions":310,"failures":[]},"repeat":"assay tests -- rake test","log_cut":0,"comparisons":[]}"#;
/// Numbers from `?1` up to but excluding `?2`.
const NUMBERS: &str = "WITH RECURSIVE n (i) AS (SELECT CAST(?1 AS INTEGER) UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?2) ";
/// The state of the build with a given number: most pass.
const STATE: &str = "CASE WHEN i * 7919 % 100 < 86 THEN 0 WHEN i * 7919 % 100 < 93 THEN 1 ELSE i * 7919 % 100 - 92 END";

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [place, builds] = words.as_slice() else {
        println!("fill_farm PLACE BUILDS");
        return;
    };
    let builds: i64 = builds.parse().unwrap();
    let place = StoreLocation::read(OsStr::new(place), std::env::var("PGPASSWORD").ok().as_deref());
    let mut store = Store::open(&place.unwrap(), Access::Write).unwrap();
    for number in 0..TARGETS {
        let facts = [
            ("os".to_owned(), "debian 12".to_owned()),
            ("runtime.ruby".to_owned(), format!("3.{number}")),
        ];
        let target = NewTarget { name: format!("ruby 3.{number}, debian 12"), facts: facts.into() };
        store.add_target(&digest(&target.facts), &target, NOW).unwrap();
    }
    for owner in 0..10 {
        store.add_owner(&format!("owner{owner}")).unwrap();
    }
    // Each version has builds on each target, and each project has versions.
    let versions = (builds / (TARGETS * ROUNDS)).max(PROJECTS) / PROJECTS * PROJECTS;
    let db = store.history().db();
    fill(db, versions).unwrap();
    if db.is_server() {
        db.batch("ANALYZE").unwrap();
    }
    println!("{}", versions * TARGETS * ROUNDS);
}

fn fill(db: &Db, versions: i64) -> Result<(), DbError> {
    let each = versions / PROJECTS;
    let zeros = "0, 0, 0, 0, 0, 0, 0, 0";
    let sums = "n0, n1, n2, n3, n4, n5, n6, n7";
    db.execute(
        &format!(
            "{NUMBERS} INSERT INTO farm_project (id, owner, name, said, newest, last_build, {sums}) \
             SELECT i + 1, i % 10 + 1, 'project' || i, '{{\"recipe\":{{}},\"needs\":{{}}}}', (i + 1) * ?3, 0, {zeros} FROM n"
        ),
        values![0_i64, PROJECTS, each],
    )?;
    db.execute(
        &format!(
            "{NUMBERS} INSERT INTO farm_version (id, project, name, place, added, is_gone, said, {sums}) \
             SELECT i + 1, i / ?3 + 1, '1.' || (i % ?3), i, {NOW}, FALSE, '{{\"kind\":\"release\"}}', {zeros} FROM n"
        ),
        values![0_i64, versions, each],
    )?;
    let cells = versions * TARGETS;
    let indexes = without_indexes(db)?;
    let mut from = 0;
    while from < cells * ROUNDS {
        let to = (from + TOGETHER).min(cells * ROUNDS);
        db.execute(
            &format!(
                "{NUMBERS} INSERT INTO farm_build (id, handed, project, version, target, node, kind, counts, state, reason, added, seconds, \
                 tests, failed, said, log_bytes) SELECT i + 1, 'k' || i, i % ?3 / {TARGETS} / ?4 + 1, i % ?3 / {TARGETS} + 1, i % {TARGETS} + 1, \
                 'node' || (i % 50), 0, TRUE, {STATE}, '', {NOW} + i * 10, 12.5, 120, 0, ?5, 0 FROM n"
            ),
            values![from, to, cells, each, SAID],
        )?;
        from = to;
        println!("{from}");
    }
    for index in indexes {
        db.batch(&index)?;
    }
    let last = cells * (ROUNDS - 1);
    db.execute(
        &format!("INSERT INTO farm_cell (version, target, build, kind, state, builds, passed, failed) \
         SELECT version, target, id, 0, state, {ROUNDS}, CASE WHEN state = 0 THEN {ROUNDS} ELSE {ROUNDS} - 1 END, CASE WHEN state = 1 THEN 1 ELSE 0 END \
         FROM farm_build WHERE id > ?1"),
        values![last],
    )?;
    // Each table is scanned once.
    db.batch(
        "CREATE TABLE farm_filled AS SELECT project, state, count(*) AS n, max(id) AS last FROM farm_build GROUP BY project, state; \
         CREATE INDEX farm_filled_project ON farm_filled (project, state); \
         CREATE TABLE farm_filled_cells AS SELECT version, state, count(*) AS n FROM farm_cell GROUP BY version, state; \
         CREATE INDEX farm_filled_version ON farm_filled_cells (version, state); \
         UPDATE farm_project SET last_build = (SELECT max(f.last) FROM farm_filled f WHERE f.project = farm_project.id)",
    )?;
    let sums = |table: &str, filled: &str, column: &str| {
        let each = State::ALL.map(|state| {
            let state = state as i64;
            format!(
                "n{state} = coalesce((SELECT f.n FROM {filled} f WHERE f.{column} = {table}.id AND f.state = {state}), 0)"
            )
        });
        format!("UPDATE {table} SET {}", each.join(", "))
    };
    db.batch(&sums("farm_version", "farm_filled_cells", "version"))?;
    db.batch(&sums("farm_project", "farm_filled", "project"))?;
    for state in State::ALL {
        let state = state as i64;
        db.batch(&format!(
            "UPDATE farm_total SET n{state} = (SELECT coalesce(sum(n), 0) FROM farm_filled WHERE state = {state})"
        ))?;
    }
    db.batch("DROP TABLE farm_filled; DROP TABLE farm_filled_cells")?;
    if db.is_server() {
        // Rows were numbered explicitly; the database continues after them.
        for table in ["farm_project", "farm_version", "farm_build"] {
            db.batch(&format!(
                "SELECT setval(pg_get_serial_sequence('{table}', 'id'), (SELECT max(id) FROM {table}))"
            ))?;
        }
    }
    Ok(())
}

/// Drops the indexes of the builds, except those of constraints, and returns the statements that
/// create them again. Building an index over all rows is much faster than updating it for each. On
/// a server, foreign keys are not checked; the referenced rows exist.
fn without_indexes(db: &Db) -> Result<Vec<String>, DbError> {
    let which = if db.is_server() {
        db.batch("SET session_replication_role = replica; SET maintenance_work_mem = '512MB'")?;
        "SELECT i.indexname::text, i.indexdef FROM pg_indexes i WHERE i.schemaname = 'assay' AND i.tablename = 'farm_build' \
         AND NOT EXISTS (SELECT 1 FROM pg_constraint c WHERE c.conname = i.indexname)"
    } else {
        db.batch("PRAGMA cache_size = -262144; PRAGMA foreign_keys = OFF")?;
        "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = 'farm_build' AND sql IS NOT NULL"
    };
    let found = db.rows(which, &[], |row| Ok((row.get::<String>(0)?, row.get::<String>(1)?)))?;
    found
        .into_iter()
        .map(|(name, made)| db.batch(&format!("DROP INDEX {name}")).map(|()| made))
        .collect()
}
