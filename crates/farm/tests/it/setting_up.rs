//! `assay farm setup`: a second run changes nothing, and a run that finds a difference corrects
//! only that; locally and over SSH.

#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use crate::support::sshd;
use crate::support::systemd;

use sshd::Sshd;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use systemd::Systemd;
use tempfile::TempDir;

/// A directory for a farm, and the settings for setting it up there.
struct Room {
    directory: TempDir,
    user: String,
}

impl Room {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        // The farm's user must be able to enter it.
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
        for name in ["units", "programs"] {
            fs::create_dir(directory.path().join(name)).unwrap();
        }
        let programs = directory.path().join("programs");
        symlink(env!("CARGO_BIN_EXE_assay-farm"), programs.join("assay-farm")).unwrap();
        fs::write(programs.join("assay"), "#!/bin/sh\n").unwrap();
        let who = Command::new("id").arg("-un").output().unwrap();
        let who = String::from_utf8(who.stdout).unwrap().trim().to_owned();
        let user = if who == "root" { "nobody".to_owned() } else { who };
        Self { directory, user }
    }

    fn farm(&self) -> PathBuf {
        self.directory.path().join("my farm")
    }

    /// Runs the setup and returns the result of each step.
    fn setup(&self, more: &[&str]) -> BTreeMap<String, String> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_assay-farm"));
        command.arg("setup").arg("--directory").arg(self.farm()).args(["--user", &self.user]);
        command.arg("--units").arg(self.directory.path().join("units"));
        command.arg("--programs").arg(self.directory.path().join("programs"));
        let output = command.args(more).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        let printed = String::from_utf8(output.stdout).unwrap();
        let lines =
            printed.lines().map(|line| line.split_once("  ").or(line.split_once(": ")).unwrap());
        lines.map(|(step, came)| (step.trim().to_owned(), came.trim().to_owned())).collect()
    }

    /// Returns every file with its mode, owner, and time of change.
    fn files(&self) -> Vec<(PathBuf, u32, u32, i64, i64)> {
        let mut open = vec![self.farm(), self.directory.path().join("units")];
        let mut found = Vec::new();
        while let Some(path) = open.pop() {
            let data = fs::symlink_metadata(&path).unwrap();
            // Opening the database creates temporary files next to it.
            if path != self.farm().join("data") {
                found.push((
                    path.clone(),
                    data.mode(),
                    data.uid(),
                    data.ctime(),
                    data.ctime_nsec(),
                ));
            }
            if data.is_dir() && !path.ends_with("data") {
                open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            }
        }
        found.sort();
        found
    }
}

fn changed(came: &BTreeMap<String, String>) -> Vec<&str> {
    came.iter().filter(|(_, came)| *came == "changed").map(|(step, _)| step.as_str()).collect()
}

fn is_set_up_again_and_again(more: &[&str]) {
    let room = Room::new();
    let step = "cache=mkdir cache && echo \"it's done\" > cache/of-$FARM_USER";
    let given = [more, &["--step", step, "--env", "INLINEDIR=/var/cache/a b"]].concat();
    let first = room.setup(&given);
    for step in [
        "database",
        "directories",
        "environment",
        "first token",
        "program assay",
        "program assay-farm",
        "step cache",
        "systemd unit",
    ] {
        assert_eq!(first.get(step).map(String::as_str), Some("changed"), "{step}: {first:#?}");
    }
    assert!(first["service"].starts_with("left out"), "{first:#?}");
    let before = room.files();
    let second = room.setup(&given);
    assert!(changed(&second).is_empty(), "{second:#?}");
    assert_eq!(room.files(), before);
    let farm = room.farm();
    assert!(farm.join(format!("cache/of-{}", room.user)).is_file());
    let mode = |path: &str| farm.join(path).metadata().unwrap().mode() & 0o777;
    assert_eq!(
        (mode("data"), mode("data/admin-token"), mode("etc/environment")),
        (0o700, 0o600, 0o640)
    );
    assert_eq!(
        farm.join("data").metadata().unwrap().uid(),
        farm.join("data/admin-token").metadata().unwrap().uid()
    );
    let environment = fs::read_to_string(farm.join("etc/environment")).unwrap();
    assert!(environment.contains("INLINEDIR=\"/var/cache/a b\""), "{environment}");
    let unit = fs::read_to_string(room.directory.path().join("units/assay-farm.service")).unwrap();
    assert!(unit.contains(&format!("User={}", room.user)), "{unit}");

    // Manual changes are reverted, and nothing else is touched.
    fs::set_permissions(farm.join("data"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(farm.join("bin/assay"), "something else").unwrap();
    // After reading the token, a user may remove the file: no other token is created.
    fs::remove_file(farm.join("data/admin-token")).unwrap();
    let third = room.setup(&given);
    assert_eq!(changed(&third), ["directories", "program assay"]);
    assert_eq!(fs::read_to_string(farm.join("bin/assay")).unwrap(), "#!/bin/sh\n");
    assert_eq!(mode("data"), 0o700);
}

#[test]
fn a_farm_is_set_up_here_again_and_again() {
    is_set_up_again_and_again(&[]);
}

#[test]
fn a_farm_is_set_up_over_ssh_again_and_again() {
    let Some(sshd) = Sshd::start() else { return };
    is_set_up_again_and_again(&["--host", "127.0.0.1", "--ssh", &sshd.ssh()]);
}

#[test]
fn the_server_runs_under_systemd_when_it_is_set_up_and_what_is_in_its_way_is_said() {
    let room = Room::new();
    let programs = room.directory.path().join("programs");
    // Links have other targets there.
    fs::remove_file(programs.join("assay-farm")).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_assay-farm"), programs.join("assay-farm")).unwrap();
    let Some(mut there) = Systemd::start(&programs) else { return };
    let setup = "/mnt/assay-farm setup --directory '/srv/my farm' --env 'GREETING=a $b'";
    let (first, status) = there.does(setup);
    assert_eq!(status, 0, "{first}");
    assert!(first.contains("service                  changed"), "{first}");
    // It answers as soon as the setup reports success, as its user and in its environment.
    let asked = "ps -o user=,comm= -C assay-farm; tr '\\0' '\\n' < /proc/$(pidof assay-farm)/environ | grep GREETING";
    assert_eq!(there.does(asked).0, "assay-f+ assay-farm\nGREETING=a $b\n");
    assert_eq!(
        there.does("systemd-analyze verify /etc/systemd/system/assay-farm.service"),
        (String::new(), 0)
    );
    let (second, status) = there.does(setup);
    assert!(status == 0 && second.contains("0 changed, 9 unchanged"), "{second}");
    // The address cannot be listened on.
    let (taken, status) = there.does(&format!("{setup} --listen 192.0.2.1:8040"));
    assert!(status == 2 && taken.contains("does not start"), "{taken}");
    let (again, status) = there.does(setup);
    assert!(status == 0 && again.contains("systemd unit             changed"), "{again}");
}

#[test]
fn what_can_not_be_set_up_is_said_before_anything_is_done() {
    let room = Room::new();
    let said = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_assay-farm"));
        let output = command.arg("setup").args(words).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let path = room.farm();
    let path = path.to_str().unwrap();
    assert!(said(&["--directory", "farm"]).contains("absolute path"));
    assert!(said(&["--directory", "/"]).contains("absolute path"));
    assert!(said(&["--directory", path, "--user", "a b"]).contains("--user"));
    assert!(said(&["--directory", path, "--step", "name"]).contains("NAME=COMMAND"));
    assert!(said(&["--directory", path, "--env", "A-B=1"]).contains("name of a variable"));
    assert!(said(&["--directory", path, "--host=-oProxyCommand=x"]).contains("not a valid host"));
    let gone = said(&["--directory", path, "--host", "there", "--ssh", "false"]);
    assert!(gone.contains("there"), "{gone}");
    assert!(!Path::new(path).exists());
}
