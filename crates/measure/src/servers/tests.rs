//! Tests with real servers; if these are not installed, the tests report that they were skipped.

#![expect(clippy::unwrap_used, reason = "a test may fail")]
#![expect(clippy::print_stdout, reason = "a test that is skipped says so")]

use super::*;
use crate::emulated::{Emulated, ignored_under_emulation};
use crate::machine::{Entry, Undone};
use std::process::Command as Process;

fn start(kind: Kind, reach: Reach, medium: Medium) -> Option<Throwaway> {
    match Throwaway::start(kind, reach, medium) {
        Err(ServersError::NotInstalled { kind, package }) => {
            println!("skipped: there is no {kind}; apt-get install {package}");
            None
        }
        started => Some(started.unwrap()),
    }
}

fn value<'a>(server: &'a Throwaway, name: &str) -> Option<&'a str> {
    server.variables().iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
}

/// Returns the output of `psql`, run with nothing but the server's variables.
fn query(server: &Throwaway, statement: &str) -> String {
    let mut command = Process::new("psql");
    command.args(["-X", "-A", "-t", "-c", statement]);
    command.envs(server.variables().iter().map(|(name, value)| (name, value)));
    let ran = command.output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8_lossy(&ran.stdout).trim().to_owned()
}

fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_postgres_of_ones_own_is_private_is_set_while_it_runs_and_goes() {
    if ignored_under_emulation(Emulated::Users) {
        return;
    }
    let Some(server) = start(Kind::Postgres, Reach::Socket, Medium::Disk) else { return };
    assert_eq!(mode(server.directory()), 0o700);
    assert_eq!(query(&server, "SELECT current_database()"), "test");
    assert_eq!(query(&server, "SHOW listen_addresses"), "");
    let settings = server.settings();
    assert_eq!(settings.read("fsync").unwrap(), None);
    let off = Some("off".to_owned());
    settings
        .change(&[("fsync".to_owned(), off.clone()), ("work_mem".to_owned(), Some("8MB".into()))])
        .unwrap();
    assert_eq!(
        (query(&server, "SHOW fsync"), query(&server, "SHOW work_mem")),
        ("off".into(), "8MB".into())
    );
    assert_eq!(settings.read("fsync").unwrap(), off);
    // A setting that still has the value set by `assay` is restored; one that was changed again
    // since is left alone.
    let change = |setting: &str, after: &str| ServerChange {
        address: settings.address().to_owned(),
        setting: setting.to_owned(),
        before: None,
        after: after.to_owned(),
    };
    assert_eq!(settings.undo(&change("fsync", "off")).unwrap(), Undone::Restored);
    let left = settings.undo(&change("work_mem", "9MB")).unwrap();
    assert_eq!(left, Undone::LeftAlone { now: "8MB".to_owned() });
    assert_eq!(
        (query(&server, "SHOW fsync"), query(&server, "SHOW work_mem")),
        ("on".into(), "8MB".into())
    );
    settings.settle().unwrap();
    assert!(matches!(settings.read("no_such"), Err(SettingError::Unknown { .. })));
    assert!(matches!(settings.read("shared_buffers"), Err(SettingError::NeedsStart { .. })));
    let refused = settings.change(&[("fsync".to_owned(), Some("perhaps".into()))]).unwrap_err();
    assert!(refused.to_string().contains("fsync"), "{refused}");
    let (directory, processes) = (server.directory().to_owned(), server.server.processes());
    assert!(processes.len() > 3 && server.ended().is_none());
    drop(server);
    assert!(!directory.exists());
    assert!(processes.iter().all(|id| !Path::new(&format!("/proc/{id}")).exists()));
}

#[test]
fn clients_without_sockets_have_a_port_and_a_password_and_data_may_be_in_memory() {
    if ignored_under_emulation(Emulated::Users) {
        return;
    }
    let Some(server) = start(Kind::Postgres, Reach::Loopback, Medium::Memory) else { return };
    assert!(server.is_in_memory() && server.directory().starts_with(MEMORY));
    assert_eq!(value(&server, "PGHOST"), Some("127.0.0.1"));
    assert_eq!(query(&server, "SHOW listen_addresses"), "127.0.0.1");
    let url = value(&server, "DATABASE_URL").unwrap();
    let (before, after) = url.split_once(value(&server, "PGPASSWORD").unwrap()).unwrap();
    let wrong = format!("{before}guessed{after}");
    let mut command = Process::new("psql");
    let ran = command.args(["-X", "-w", "-d", &wrong, "-c", "SELECT 1"]).output().unwrap();
    assert!(!ran.status.success());
    assert!(String::from_utf8_lossy(&ran.stderr).contains("password authentication failed"));
}

#[test]
fn a_redis_of_ones_own_is_set_while_it_runs_and_goes() {
    if ignored_under_emulation(Emulated::Users) {
        return;
    }
    for reach in [Reach::Socket, Reach::Loopback] {
        let Some(server) = start(Kind::Redis, reach, Medium::Disk) else { return };
        let settings = server.settings();
        let before = settings.read("save").unwrap();
        assert!(before.as_ref().is_some_and(|own| own.starts_with("3600")), "{before:?}");
        settings.change(&[("save".to_owned(), Some(String::new()))]).unwrap();
        assert_eq!(settings.read("save").unwrap().as_deref(), Some(""));
        assert!(matches!(settings.read("no-such"), Err(SettingError::Unknown { .. })));
        // Uses the address that clients have.
        let url = value(&server, "REDIS_URL").unwrap();
        let by_address = Settings::at(url).unwrap();
        by_address.change(&[("save".to_owned(), before.clone())]).unwrap();
        assert_eq!(settings.read("save").unwrap(), before);
        if let Some((before, after)) = url.split_once('@') {
            assert!(!by_address.address().contains(before.rsplit(':').next().unwrap()));
            let guessed = Settings::at(&format!("redis://:guessed@{after}")).unwrap();
            assert!(matches!(guessed.read("save"), Err(SettingError::NotAsked { .. })));
        }
        let directory = server.directory().to_owned();
        drop(server);
        assert!(!directory.exists());
    }
}

#[test]
fn a_server_that_ends_before_it_answers_shows_its_last_words() {
    if ignored_under_emulation(Emulated::Orphans) {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let start = Start { directory: directory.path(), reach: Reach::Socket, user: None };
    let argv = ["sh", "-c", "echo 'FATAL: no room' >&2; exit 1"].map(Into::into).to_vec();
    let server = start.server(Kind::Postgres, argv).unwrap();
    let error = await_ready(Kind::Postgres, &server, || false).unwrap_err().to_string();
    assert_eq!(error, "PostgreSQL did not start: it ended with status 1; it said:\nFATAL: no room");
}

#[test]
fn a_change_is_written_down_without_a_password_and_read_again() {
    let settings = Settings::at("postgres://ann:secret@db/x").unwrap();
    let change = ServerChange {
        address: settings.address().to_owned(),
        setting: "fsync".to_owned(),
        before: None,
        after: "off".to_owned(),
    };
    let line = change.to_line().unwrap();
    assert!(!line.contains("secret"), "{line}");
    let read = |line: &str| ServerChange::from_line(&serde_json::from_str(line).unwrap());
    assert_eq!(read(&line), Some(change));
    assert_eq!(read(&line.replace("fsync", "fsync = off; --")), None);
}

/// A helper that the next test starts as a separate process, and kills.
#[test]
#[ignore = "holds servers until it is killed"]
fn holds_servers() {
    let both = [(Kind::Postgres, Medium::Memory), (Kind::Redis, Medium::Disk)];
    let held: Vec<Throwaway> =
        both.iter().filter_map(|&(kind, medium)| start(kind, Reach::Socket, medium)).collect();
    let line = "touch \"$1\"";
    let done = std::env::var("ASSAY_TEST_DONE").unwrap();
    let _afterwards = Afterwards::run(line, &[&done], &[]).unwrap();
    for server in &held {
        println!("held {}", server.directory().display());
    }
    println!("all");
    sleep(Duration::from_secs(600));
}

/// Returns the processes whose command line or directory names a path.
fn processes_of(directory: &str) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let commands = entries.filter_map(|entry| {
        let cwd = std::fs::read_link(entry.path().join("cwd")).unwrap_or_default();
        let words = std::fs::read(entry.path().join("cmdline")).ok()?;
        let words = String::from_utf8_lossy(&words).replace('\0', " ");
        // The shell that removes the directory also has its name in the command line, until it
        // ends.
        let is_theirs = words.contains(directory) || cwd.starts_with(directory);
        is_theirs.then_some(words)
    });
    commands.collect()
}

#[test]
fn nothing_is_left_of_servers_whose_owner_is_killed() {
    if ignored_under_emulation(Emulated::Users) {
        return;
    }
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;
    let room = tempfile::tempdir().unwrap();
    let done = room.path().join("done");
    let mut holder = Process::new(std::env::current_exe().unwrap());
    holder.args(["--exact", "servers::tests::holds_servers", "--ignored", "--nocapture"]);
    holder.env("ASSAY_TEST_DONE", &done).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut holder = holder.spawn().unwrap();
    let lines = BufReader::new(holder.stdout.take().unwrap()).lines();
    let held: Vec<String> = lines
        .map(|line| line.unwrap())
        .take_while(|line| line != "all")
        .filter_map(|line| Some(line.split_once("held ")?.1.to_owned()))
        .collect();
    let alive: Vec<usize> = held.iter().map(|own| processes_of(own).len()).collect();
    assert!(alive.iter().all(|&count| count > 0), "{held:?} {alive:?}");
    // `kill` sends SIGKILL.
    holder.kill().unwrap();
    holder.wait().unwrap();
    let began = Instant::now();
    let left = |own: &String| Path::new(own).exists() || !processes_of(own).is_empty();
    while held.iter().any(left) || !done.exists() {
        assert!(began.elapsed() < Duration::from_secs(30), "{held:?}");
        sleep(PAUSE);
    }
}
