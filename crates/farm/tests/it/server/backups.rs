//! Backups and upgrades with the built program, on both databases: a farm restored from a backup
//! written while it was running is the same, wherever it is restored, and an upgrade that fails
//! halfway changes nothing.

use super::*;
use assay_history::{Access, Store as History};
use std::fs;

on_both![
    a_farm_that_runs_is_the_same_behind_its_backup_on_either_database,
    an_upgrade_that_fails_halfway_changes_nothing_and_says_where_the_backup_is,
];

/// Runs a command of the program with the location of a store. Returns its status and output.
fn run(home: &Home, verb: &str, more: &[&str]) -> (Option<i32>, String) {
    let mut command = program();
    let ran = command.arg(verb).args(home.words()).args(more).output().unwrap();
    let said = [ran.stdout, ran.stderr].concat();
    (ran.status.code(), String::from_utf8(said).unwrap())
}

fn a_farm_that_runs_is_the_same_behind_its_backup_on_either_database(home: Home) {
    let server = Server::at(home, &["--lease", "600s"]);
    let token = server.farm("a", 3);
    let leased = server.leased("a", &token);
    let log = format!("/api/v1/jobs/{}/log?nonce={}&offset=0", leased.job.id, leased.nonce);
    server.asks("PUT", &log, &token, "", b"all green\n").is(200);
    let samples = format!("/api/v1/jobs/{}/samples?nonce={}", leased.job.id, leased.nonce);
    server.asks("PUT", &samples, &token, "", &files::samples()).is(200);
    server.end(&token, &leased, "k").is(201);
    let running = server.leased("a", &token);
    let file = server.home.room().join("farm.tar");
    let file = file.to_str().unwrap();
    let (status, said) = run(&server.home, "backup", &[file]);
    assert_eq!(status, Some(0), "{said}");
    let others = [Some(Home::file()), Home::database()];
    for other in others.into_iter().flatten() {
        let (status, said) = run(&other, "restore", &[file]);
        assert_eq!(status, Some(0), "{said}");
        let (child, address) = start(&other, &[]);
        let restored = Server { home: other, child, address, admin: server.admin.clone() };
        for path in [
            "/api/v1/home",
            "/api/v1/builds",
            "/api/v1/jobs",
            "/api/v1/targets",
            "/api/v1/owners/rails/projects/rack/matrix",
            "/api/v1/builds/1/log",
            "/api/v1/builds/1/samples",
            "/rails/rack",
        ] {
            let (was, is) = (server.get(path, &token), restored.get(path, &token));
            assert_eq!((was.status, was.body), (200, is.body), "{path}");
        }
        // It continues where it stopped, with the same leases; new ids follow the existing ones.
        let build = restored.end(&token, &running, "k2").is(201).json();
        assert_eq!(build["id"], 2);
        let path = "/api/v1/owners/rails/projects/rack/versions/2.0";
        restored.put(path, &server.admin, &version(9)).is(201);
        let (status, said) = run(&restored.home, "restore", &[file]);
        assert_eq!(status, Some(2), "{said}");
        assert!(said.contains("already has a store"), "{said}");
    }
}

fn an_upgrade_that_fails_halfway_changes_nothing_and_says_where_the_backup_is(home: Home) {
    fs::create_dir(home.data()).unwrap();
    let history = History::open(&home.place(), Access::Write).unwrap();
    // One of the tables to be created already exists, in a different form.
    history.db().batch("CREATE TABLE farm_build (x INTEGER)").unwrap();
    let rows = || {
        let mut lines = Vec::new();
        History::open(&home.place(), Access::Read).unwrap().copy_out(&mut lines).unwrap();
        String::from_utf8(lines).unwrap()
    };
    let before = rows();
    let (status, said) = run(&home, "upgrade", &[]);
    assert_eq!(status, Some(2), "{said}");
    assert!(said.contains("farm_build") && said.contains("backups/before-version"), "{said}");
    assert_eq!(rows(), before);
    let backup = fs::read_dir(home.data().join("backups")).unwrap().next().unwrap().unwrap();
    let checked = program().args(["backup", "--check"]).arg(backup.path()).output().unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    // The problem is fixed.
    history.db().batch("DROP TABLE farm_build").unwrap();
    let (status, said) = run(&home, "upgrade", &[]);
    assert_eq!(status, Some(0), "{said}");
    let (status, said) = run(&home, "status", &[]);
    assert_eq!(status, Some(0), "{said}");
}
