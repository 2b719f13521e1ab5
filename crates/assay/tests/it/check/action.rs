//! The steps of the GitHub action, with substitutes for the runner's files, `assay`, the release and
//! the forge.

use super::write;
use crate::room::{Ended, Room, finish};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Returns a runner whose `assay` ends with a status, and whose `curl` records its arguments.
fn runner(status: u32, head: &str) -> Room {
    let room = Room::new();
    let event = format!(
        r#"{{"pull_request": {{"number": 12, "head": {{"repo": {{"full_name": "{head}"}}}}}}}}"#
    );
    let assay = format!(
        "#!/bin/sh\necho \"$@\" >>asked\nwhile [ $# -gt 0 ]; do [ \"$1\" != --comment ] || comment=$2; shift; done\n\
         [ {status} = 2 ] || printf '<!-- assay-check -->\\nthe answer\\n' >\"$comment\"\nexit {status}\n"
    );
    let curl = "#!/bin/sh\nfor word; do last=$word; done\necho \"$last\" >>curled\ncase $last in\n\
         */pulls/12) echo '{\"head\": {\"sha\": \"abc\"}}' ;;\n*comments?*) echo '[]' ;;\n*) echo '{\"id\": 7}' ;;\nesac\n";
    write(
        &room,
        &[("bin/assay", &assay), ("bin/curl", curl), ("event.json", &event), ("temp/x", "")],
    );
    for program in ["bin/assay", "bin/curl"] {
        fs::set_permissions(room.path(program), Permissions::from_mode(0o755)).unwrap();
    }
    room
}

fn step(room: &Room, name: &str, variables: &[(&str, &str)]) -> Ended {
    let script = sources().join("packaging/github-action/action.sh");
    let mut command = room.shell(&format!("PATH=$PWD/bin:$PATH sh '{}' {name}", script.display()));
    command.env("RUNNER_TEMP", room.path("temp")).env("GITHUB_REPOSITORY", "own/project");
    command.env("GITHUB_TOKEN", "secret").env("ASSAY_ARGS", "");
    for name in ["OUTPUT", "PATH", "STEP_SUMMARY"] {
        command.env(format!("GITHUB_{name}"), room.path(&name.to_lowercase()));
    }
    command.env("GITHUB_EVENT_PATH", room.path("event.json")).env_remove("GITHUB_API_URL");
    command.envs(variables.iter().copied());
    finish(command)
}

fn has_tools() -> bool {
    let found = std::process::Command::new("jq").arg("--version").output();
    found.is_ok_and(|ran| ran.status.success())
}

#[test]
fn a_check_writes_summary_and_outputs_and_the_comment_is_posted() {
    if !has_tools() {
        println!("skipped: jq is not there");
        return;
    }
    let room = runner(1, "own/project");
    let args = [("ASSAY_ARGS", "--threshold 3% *")];
    step(&room, "check", &args).ends(0);
    assert_eq!(room.read("output"), "status=1\nfork=false\n");
    assert!(room.read("step_summary").contains("the answer"));
    assert!(
        room.read("asked").trim().ends_with("comment.md --threshold 3% *"),
        "{}",
        room.read("asked")
    );
    step(&room, "comment", &[]).ends(0).shows("made comment 7");
    let asked = room.read("curled");
    assert!(
        asked.contains("https://api.github.com/repos/own/project/issues/12/comments"),
        "{asked}"
    );
    assert!(!asked.contains("secret"));
}

#[test]
fn a_check_that_failed_says_so_in_the_summary() {
    if !has_tools() {
        return;
    }
    let room = runner(2, "own/project");
    step(&room, "check", &[]).ends(0);
    assert_eq!(room.read("output"), "status=2\nfork=none\n");
    assert!(room.read("step_summary").contains("status 2"));
    step(&room, "comment", &[]).ends(0).shows("no comment to post");
}

#[test]
fn the_comment_of_a_fork_is_posted_only_to_the_request_that_was_measured() {
    if !has_tools() {
        return;
    }
    let room = runner(0, "other/project");
    step(&room, "check", &[]).ends(0);
    assert_eq!(room.read("output"), "status=0\nfork=true\n");
    assert_eq!(room.read("temp/assay-check/number"), "12\n");
    let workflow_run = |sha: &str| format!(r#"{{"workflow_run": {{"head_sha": "{sha}"}}}}"#);
    room.write("event.json", &workflow_run("other"));
    step(&room, "comment", &[]).ends(1).complains("not the one that was measured");
    room.write("event.json", &workflow_run("abc"));
    step(&room, "comment", &[]).ends(0).shows("made comment 7");
    room.write("temp/assay-check/comment.md", "buy this\n");
    step(&room, "comment", &[]).ends(1).complains("no comment of assay check");
    room.write("temp/assay-check/number", "12; echo x\n");
    step(&room, "comment", &[]).ends(1).complains("is no number");
}

#[test]
fn the_release_is_installed_from_its_directory_with_the_version_of_the_action() {
    let room = runner(0, "own/project");
    write(&room, &[("release/install.sh", "echo \"$@\" >installed\n")]);
    let release = room.path("release").display().to_string();
    step(&room, "install", &[("ASSAY_FROM", &release), ("ACTION_REPOSITORY", "o/assay")]).ends(0);
    let temp = room.path("temp").display().to_string();
    let version = env!("CARGO_PKG_VERSION");
    let expected = format!("--from {release} --version {version} --prefix {temp}/assay\n");
    assert_eq!(room.read("installed"), expected);
    assert_eq!(room.read("path"), format!("{temp}/assay/bin\n"));
    // Without a directory it is the release of the action's repository.
    step(&room, "install", &[("ACTION_REPOSITORY", "o/assay")]);
    let url = format!("https://github.com/o/assay/releases/download/v{version}/install.sh");
    assert!(room.read("curled").contains(&url), "{}", room.read("curled"));
}

#[test]
fn the_workflows_are_short_and_the_action_has_what_they_use() {
    let read = |path: &str| fs::read_to_string(sources().join(path)).unwrap();
    let workflow = read("examples/github-action/check.yml");
    assert!(workflow.lines().count() <= 25);
    let action = read("action.yml");
    for input in ["mode", "args", "comment", "version", "from", "token"] {
        assert!(action.contains(&format!("inputs.{input}")), "{input} is not used");
    }
    for step in ["install", "check", "comment"] {
        assert!(action.contains(&format!("action.sh\" {step}\n")), "{step}");
    }
}
