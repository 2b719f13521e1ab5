//! Invalid arguments for every verb: the message says what is wrong, where, and what to do instead;
//! the status is 2, and nothing was changed.

#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// An address where nothing listens.
const NOBODY: &str = "http://127.0.0.1:1";

/// Invalid arguments of each verb, and parts of the expected message. `FILE` is a file, `NONE` does
/// not exist.
const WRONG: [(&[&str], &[&str]); 40] = [
    (&["serve", "--data", "FILE"], &["--data", "FILE", "not a directory"]),
    (&["serve", "--data", "NONE", "--listen", "8040"], &["--listen", "127.0.0.1:8040"]),
    (&["serve", "--data", "NONE", "--host", "http://x"], &["--host", "farm.example"]),
    (&["serve", "--data", "NONE", "--store", "mysql://x/y"], &["--store", "mysql", "postgres://"]),
    (&["serve", "--data", "NONE", "--lease", "0s"], &["--lease", "60s"]),
    (
        &["serve", "--data", ".", "--tls-cert", "FILE", "--tls-key", "FILE"],
        &["--tls-cert", "no certificate"],
    ),
    (&["add", "tidy"], &["tidy", "alice/tidy"]),
    (&["add", "a b/tidy"], &["`a b`", "letters, digits"]),
    (&["add", "api/tidy"], &["`api`", "another name"]),
    (&["add", "a/b", "--need", "ruby"], &["--need", "runtime.ruby=3.4"]),
    (&["add", "a/b", "--gem", "g", "--index", "here"], &["--index", "https://"]),
    (
        &["add", "a/b", "--version", "1", "--address", "https://x", "--sha256", "ab"],
        &["--sha256", "64"],
    ),
    (&["add", "a/b", "--bench", "'x"], &["--bench", "quote"]),
    (&["add", "a/b", "--server", NOBODY], &[NOBODY, "can't be reached"]),
    (&["agent", "--server", NOBODY, "--name", "a b"], &["`a b`", "letters, digits"]),
    (&["agent", "--server", "farm", "--name", "a"], &["`farm`", "https://farm.example"]),
    (&["agent", "--server", NOBODY, "--name", "a", "--disk", "5 parsecs"], &["--disk", "GiB"]),
    (&["agent", "--server", NOBODY, "--name", "a", "--token-file", "FILE"], &["FILE", "chmod 600"]),
    (&["status", "--data", "NONE"], &["NONE", "assay farm serve"]),
    (&["status", "--data", "."], &["no farm", "assay farm serve"]),
    (&["status", "--data", ".", "--versions", "0"], &["--versions", "1..=500"]),
    (&["token", "add", "--data", ".", "--scope", "agent", "x"], &["--node"]),
    (&["token", "add", "--data", ".", "--scope", "god", "x"], &["--scope", "submit"]),
    (&["token", "add", "--data", ".", "--scope", "read", "--lasts", "1", "x"], &["--lasts", "60s"]),
    (&["token", "rotate", "--data", ".", "first"], &["'first'", "<ID>"]),
    (&["place", "--server", NOBODY, "--directory", "FILE"], &["--directory", "FILE"]),
    (
        &["place", "--server", NOBODY, "--directory", "NONE", "--program", "x"],
        &["--program", "absolute path"],
    ),
    (
        &["place", "--server", NOBODY, "--directory", "NONE", "--feature", "ruby"],
        &["--feature", ":ruby34"],
    ),
    (&["setup", "--directory", "NONE", "--store", "farm.db"], &["--store", "postgres:///farm"]),
    (&["setup", "--directory", "NONE", "--programs", "NONE"], &["assay-farm", "--programs"]),
    (&["setup", "--directory", "NONE", "--listen", "x"], &["--listen", "127.0.0.1:8040"]),
    (&["doctor", "--store", "x"], &["--data"]),
    (&["doctor", "--server", "farm"], &["`farm`", "https://farm.example"]),
    (&["doctor", "--data", ".", "--store", "mysql://x"], &["--store", "postgres://"]),
    (&["backup", "--data", ".", "FILE"], &["FILE", "another file"]),
    (&["backup", "--check", "FILE"], &["FILE", "not a backup"]),
    (&["backup", "NONE"], &["--data"]),
    (&["restore", "--data", "NONE", "FILE"], &["FILE", "not a backup"]),
    (&["restore", "--data", "NONE", "."], &[".", "directory"]),
    (&["upgrade", "--data", "FILE"], &["--data", "FILE", "not a directory"]),
];

#[test]
fn wrong_words_are_told_with_what_is_wrong_and_what_to_do() {
    let room = tempfile::tempdir().unwrap();
    let (file, none) = (room.path().join("a-file"), room.path().join("nothing"));
    fs::write(&file, "text\n").unwrap();
    let place = |word: &str| match word {
        "FILE" => file.display().to_string(),
        "NONE" => none.display().to_string(),
        other => other.to_owned(),
    };
    for (words, parts) in WRONG {
        let mut command = Command::new(env!("CARGO_BIN_EXE_assay-farm"));
        command.args(words.iter().map(|word| place(word))).current_dir(room.path());
        let ran = command.env("ASSAY_FARM_TOKEN", "assay_1_none").output().unwrap();
        let said = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(2), "{words:?}: {said}");
        assert!(said.starts_with("error: "), "{words:?}: {said}");
        for part in parts {
            assert!(said.contains(&place(part)), "{words:?}: `{part}` is not in: {said}");
        }
        assert!(ran.stdout.is_empty(), "{words:?}");
    }
    let left: Vec<_> = fs::read_dir(room.path()).unwrap().flatten().map(|own| own.path()).collect();
    assert_eq!(left, [Path::new(&file)], "nothing was made");
}

#[test]
fn doctor_looks_for_what_measures_where_an_agent_does() {
    let room = tempfile::tempdir().unwrap();
    let said = |assay: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_assay-farm"));
        command.args(["doctor", "--server", "http://127.0.0.1:1"]).current_dir(room.path());
        let ran = command.env("ASSAY", assay).env("ASSAY_FARM_TOKEN", "assay_1_none").output();
        let said = String::from_utf8(ran.unwrap().stdout).unwrap();
        said.lines().find(|line| line.contains(" assay ")).unwrap_or_default().to_owned()
    };
    assert!(said("/usr/bin/env").starts_with("ok "), "{}", said("/usr/bin/env"));
}

#[test]
fn a_server_is_asked_where_no_thread_may_be_started() {
    let nobody = ["--reuid=65534", "--regid=65534", "--clear-groups"];
    let as_nobody = |line: &[&str]| Command::new("setpriv").args(nobody).args(line).output();
    if !as_nobody(&["prlimit", "--nproc=1", "true"]).is_ok_and(|own| own.status.success()) {
        println!("skipped: only root can become nobody, with setpriv and prlimit");
        return;
    }
    let room = tempfile::tempdir().unwrap();
    // Root's own directories are not accessible to nobody.
    let program = room.path().join("assay-farm");
    fs::copy(env!("CARGO_BIN_EXE_assay-farm"), &program).unwrap();
    for path in [room.path(), &program] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let program = program.to_str().unwrap();
    let line = ["prlimit", "--nproc=1", program, "add", "a/b", "--pypi", "b", "--server", NOBODY];
    let ended = as_nobody(&line).unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(2), "{said}");
    assert!(said.contains("can't be reached"), "{said}");
}
