//! `assay check`: the benchmarks found in projects of each kind, the base, the settings, the
//! answers with their exit statuses, and the hook. No foreign project is compiled: the programs
//! here take the time given in a file of their revision.

use crate::room::{Ended, Room, finish, scattered_harness};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

mod action;
mod finding;

/// Writes files, with the directories that they need.
fn write(room: &Room, files: &[(&str, &str)]) {
    for (name, text) in files {
        fs::create_dir_all(room.path(name).parent().unwrap()).unwrap();
        room.write(name, text);
    }
}

fn git(room: &Room, words: &str) -> Ended {
    let mut command = room.shell(&format!("git {words}"));
    for role in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{role}_NAME"), "Somebody");
        command.env(format!("GIT_{role}_EMAIL"), "somebody@example.org");
    }
    finish(command).ends(0)
}

/// Returns a repository on a branch `change` off `main`, with these files in its first commit.
fn repository(files: &[(&str, &str)]) -> Room {
    let room = Room::new();
    write(&room, files);
    room.write(".gitignore", "/state\n/cache\n/out\n/.assay-*\n");
    git(&room, "init -q -b main && git add . && git commit -q -m first");
    git(&room, "checkout -q -b change");
    room
}

fn check(room: &Room, words: &[&str]) -> Command {
    let mut command = room.assay(&[&["check"], words].concat());
    command.env("XDG_CACHE_HOME", room.path("cache"));
    for name in ["GITHUB_BASE_REF", "GITHUB_EVENT_PATH", "CI_MERGE_REQUEST_DIFF_BASE_SHA"] {
        command.env_remove(name);
    }
    command
}

fn checked(room: &Room, words: &[&str]) -> Ended {
    finish(check(room, words))
}

/// Returns a room with a harness whose benchmark takes 100 ns in the base, with its settings.
fn harness() -> Room {
    let room = repository(&[
        ("bm.sh", &scattered_harness()),
        ("speed", "100\n"),
        ("assay.toml", "build = 'chmod +x bm.sh'\nbench = './bm.sh'\nthreshold = '10%'\n"),
    ]);
    git(&room, "checkout -q main && git tag begin && git checkout -q change");
    room
}

fn commit(room: &Room, name: &str) -> String {
    git(room, &format!("rev-parse {name}")).stdout.trim().to_owned()
}

#[test]
fn a_slowdown_is_measured_twice_and_fails() {
    let room = harness();
    room.write("speed", "150\n");
    room.write("new-file", "of the change\n");
    let words = ["--budget", "40s", "--comment", "out.md", "--json"];
    let result = checked(&room, &words).ends(1).json();
    assert_eq!(result["verdict"], "slower");
    let own = &result["programs"][0]["benchmarks"][0];
    assert_eq!((&own["standing"], &own["second_verdict"]), (&"slower".into(), &"slower".into()));
    assert_eq!(result["compared"]["base"], commit(&room, "main"));
    assert_eq!(result["compared"]["working_tree_changed"], true);
    let files = result["compared"]["changed_files"].as_array().unwrap();
    assert!(files.contains(&"new-file".into()) && files.contains(&"speed".into()), "{files:?}");
    let comment = room.read("out.md");
    assert!(comment.starts_with("<!-- assay-check -->\n❌ **assay check**: "), "{comment}");
    assert!(comment.contains("| `BM_One` |") && comment.contains("slower, confirmed"), "{comment}");
    // None of the user's files was touched.
    let status = git(&room, "status --porcelain").stdout;
    assert!(status.contains(" M speed") && status.contains("?? new-file"), "{status}");
    assert_eq!(git(&room, "stash list && git branch --list").stdout.lines().count(), 2);
    let mode = fs::metadata(room.path("bm.sh")).unwrap().permissions();
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&mode) & 0o111, 0, "it was not built here");
}

#[test]
fn what_did_not_change_by_the_threshold_passes_and_so_does_what_is_faster() {
    let room = harness();
    room.write("speed", "101\n");
    let ended = checked(&room, &["--budget", "40s"]).ends(0);
    ended.shows("The only benchmark is not slower by 10 % or more.");
    room.write("speed", "50\n");
    let result = checked(&room, &["--budget", "40s", "--json"]).ends(0).json();
    assert_eq!(result["verdict"], "faster");
    let words = ["--budget", "40s", "--fail-if", "faster"];
    checked(&room, &words).ends(1);
}

/// The last two runs of a benchmark decide nothing: the harness adds up to 1 % at random.
#[test]
fn not_known_passes_unless_a_condition_is_named() {
    let room = harness();
    room.write("speed", "100.3\n");
    room.write("speed", "100\n");
    room.write("other", "1\n");
    // A verdict on 0.001 % takes more blocks than this time allows.
    let words = ["--budget", "3s", "--threshold", "0.001%", "--confidence", "99.9%", "--json"];
    let result = checked(&room, &words).ends(0).json();
    assert_eq!(result["verdict"], "inconclusive", "{result:#}");
    checked(&room, &[&words[..], &["--fail-if", "slower"]].concat()).ends(3);
}

#[test]
fn an_alarm_that_no_second_build_confirms_is_none() {
    let room = harness();
    // The first build of the change is slow, the second one is not.
    room.write(
        "assay.toml",
        "build = '''\nchmod +x bm.sh\n[ ! -f slow ] || [ -f \"$ONCE\" ] || { echo 150 >speed; : >\"$ONCE\"; }\n'''\nbench = './bm.sh'\nthreshold = '10%'\n",
    );
    room.write("slow", "");
    let mut command = check(&room, &["--budget", "40s", "--json"]);
    command.env("ONCE", room.path("state-once"));
    let result = finish(command).ends(0).json();
    let own = &result["programs"][0]["benchmarks"][0];
    assert_eq!(own["standing"], "not_confirmed", "{result:#}");
    assert_eq!((&own["verdict"], &result["verdict"]), (&"slower".into(), &"inconclusive".into()));
}

#[test]
fn without_time_or_by_request_an_alarm_counts_unconfirmed_and_says_so() {
    let room = harness();
    room.write("speed", "200\n");
    let ended = checked(&room, &["--budget", "40s", "--no-confirm"]).ends(1);
    ended.shows("This was not confirmed by a second build: --no-confirm was given.");
}

#[test]
fn commands_are_timed_as_a_whole() {
    let room = repository(&[
        ("time.sh", "#!/bin/sh\nsleep 0.02\n"),
        ("assay.toml", "run = 'sh ./time.sh'\nthreshold = '20%'\n"),
    ]);
    room.write("time.sh", "#!/bin/sh\nsleep 0.06\n");
    let result = checked(&room, &["--budget", "20s", "--json"]).ends(1).json();
    assert_eq!(result["programs"][0]["program"], "sh ./time.sh");
    assert_eq!(result["programs"][0]["benchmarks"][0]["standing"], "slower");
}

#[test]
fn nothing_is_measured_if_nothing_changed_or_only_documents_did() {
    let room = harness();
    checked(&room, &[]).ends(0).shows("Nothing changed since");
    write(&room, &[("docs/page.txt", "x"), ("README.md", "y")]);
    let ended = checked(&room, &["--comment", "out.md"]).ends(0);
    ended.shows("only documents and settings of the project changed");
    assert!(room.read("out.md").contains("✅"));
    let result = checked(&room, &["--json"]).ends(0).json();
    assert_eq!(result["verdict"], "unreached");
}

#[test]
fn files_that_a_check_writes_are_no_change_unless_git_tracks_them() {
    let room = harness();
    let words = ["--comment", "out.txt", "--save", "samples"];
    write(&room, &[("samples/bm.assay", "written earlier")]);
    checked(&room, &words).ends(0).shows("Nothing changed since");
    assert!(room.path("out.txt").is_file());
    checked(&room, &words).ends(0).shows("Nothing changed since");
    let changed = |words: &[&str]| {
        let explained = checked(&room, &[words, &["--explain", "--json"]].concat()).ends(0);
        explained.json()["compared"]["changed_files"].clone()
    };
    assert_eq!(changed(&words), serde_json::json!([]));
    assert_eq!(changed(&["--save", "samples"]), serde_json::json!(["out.txt"]));
    git(&room, "add out.txt");
    assert_eq!(changed(&words), serde_json::json!(["out.txt"]));
}

#[test]
fn benchmarks_that_execute_no_function_that_changed_are_not_measured() {
    let mut ruby = Command::new("ruby");
    if !ruby.args(["-e", "require 'benchmark/ips'"]).output().is_ok_and(|o| o.status.success()) {
        return;
    }
    let script = |name: &str, item: &str| {
        format!(
            "require 'benchmark/ips'\nrequire_relative '../lib/of'\nBenchmark.ips {{ |x|\n  x.config(warmup: 0.3)\n  x.report('{item}') {{ {name} }}\n}}\n"
        )
    };
    let library = "def quick\n  1\nend\n\ndef slow\n  2\nend\n";
    let room = repository(&[
        ("Gemfile", "gem 'benchmark-ips'\n"),
        ("lib/of.rb", library),
        ("bench/quick.rb", &script("quick", "a quick one")),
        ("bench/slow.rb", &script("slow", "a slow one")),
    ]);
    room.write("lib/of.rb", &library.replace("  2", "  100.times { 2 }"));
    let words = ["--budget", "60s", "--no-confirm", "--threshold", "50%", "--json"];
    let result = checked(&room, &words).ends(1).json();
    assert_eq!(result["programs"][0]["benchmarks"][0]["benchmark"], "a slow one");
    assert_eq!(result["unmeasured"][0]["program"], "bench/quick.rb");
    let why = result["unmeasured"][0]["why"].as_str().unwrap();
    assert!(why.starts_with("the change does not reach it"), "{why}");
}

#[test]
fn a_submodule_with_changes_that_no_commit_has_is_refused() {
    let room = harness();
    room.shell("mkdir other").status().unwrap();
    git(&room, "-C other init -q && echo text > other/text && git -C other add .");
    git(&room, "-C other commit -q -m text");
    git(&room, "-c protocol.file.allow=always submodule --quiet add ./other 'a part'");
    git(&room, "commit -q -m part -- .gitmodules 'a part'");
    // New files do not count, since builds leave them behind.
    room.write("a part/object", "");
    checked(&room, &["--explain"]).ends(0);
    room.write("a part/text", "other");
    let refused = checked(&room, &["--explain"]).ends(2);
    refused.complains("the submodule `a part` has changes that are not committed in it");
}

#[test]
fn a_program_that_fails_is_reported_with_its_reason() {
    let room = harness();
    let settings = "build = 'chmod +x bm.sh'\nbench = ['./bm.sh', './absent']\nthreshold = '10%'\n";
    room.write("assay.toml", settings);
    room.write("speed", "101\n");
    let ended = checked(&room, &["--budget", "20s"]).ends(4);
    ended.shows("./absent: not measured:").shows("1 program could not be measured.");
    room.write("assay.toml", "bench = './absent'\n");
    checked(&room, &[]).ends(2).complains("no program could be measured");
    room.write("assay.toml", "build = 'echo this is wrong; false'\nbench = './bm.sh'\n");
    checked(&room, &[]).ends(2).complains("this is wrong");
}

#[test]
fn the_base_is_where_the_branch_left_the_one_that_it_goes_to() {
    let room = harness();
    room.write("speed", "200\n");
    let compared = |command: Command| finish(command).ends(0).json()["compared"].clone();
    let explain = ["--explain", "--json"];
    let found = |words: &[&str]| compared(check(&room, &[&explain[..], words].concat()));
    git(
        &room,
        "checkout -q main -- . && git checkout -q main && git commit -q --allow-empty -m on",
    );
    git(&room, "checkout -q change && git commit -q --allow-empty -m own");
    // The last commit of `main` is not an ancestor.
    let begin = commit(&room, "begin");
    assert_eq!(
        (&found(&[])["base"], &found(&[])["branch"]),
        (&Value::from(begin.clone()), &"main".into())
    );
    git(
        &room,
        "update-ref refs/remotes/origin/dev change~0 && git commit -q --allow-empty -m more",
    );
    let mut of_github = check(&room, &explain);
    of_github.env("GITHUB_BASE_REF", "dev");
    assert_eq!(compared(of_github)["base"], commit(&room, "change~1"));
    room.write(".assay-event", &format!(r#"{{"pull_request": {{"base": {{"sha": "{begin}"}}}}}}"#));
    let mut of_event = check(&room, &explain);
    of_event.env("GITHUB_EVENT_PATH", room.path(".assay-event"));
    assert_eq!(compared(of_event)["base"], begin);
    assert_eq!(found(&["--base", "HEAD~1"])["base"], commit(&room, "HEAD~1"));
    checked(&room, &["--base", "nowhere"]).ends(2).complains("nowhere");
    git(&room, "branch -q -D main && git update-ref -d refs/remotes/origin/dev");
    checked(&room, &[]).ends(2).complains("git knows none of origin/HEAD, origin/main");
    room.write("assay.toml", "base = 'begin'\nrun = 'true'\n");
    assert_eq!(found(&[])["source"], "assay.toml");
    git(&room, "checkout -q --orphan apart && git commit -q -m apart");
    checked(&room, &["--base", "begin"]).ends(2).complains("no common ancestor");
}

#[test]
fn outside_of_a_repository_and_before_the_first_commit_there_is_an_error() {
    let room = Room::new();
    checked(&room, &[]).ends(2).complains("no revisions in");
    git(&room, "init -q -b main");
    room.write("assay.toml", "run = 'true'\n");
    checked(&room, &[]).ends(2).complains("no commit yet");
}

#[test]
fn the_hook_is_installed_skipped_removed_and_never_replaces_another() {
    let room = harness();
    let hook = ".git/hooks/pre-push";
    checked(&room, &["--remove-hook"]).ends(0).shows("there is no pre-push hook");
    checked(&room, &["--install-hook"]).ends(0).shows("git push --no-verify");
    checked(&room, &["--install-hook"]).ends(0);
    let text = room.read(hook);
    assert!(text.contains("git push --no-verify") && text.contains("--remove-hook"), "{text}");
    // The hook works: a push of a slow change is stopped.
    room.write("speed", "200\n");
    git(&room, "commit -q -a -m slow && git init -q --bare out");
    let directory = Path::new(env!("CARGO_BIN_EXE_assay")).parent().unwrap().display().to_string();
    let push = |more: &str| {
        let line = format!("PATH={directory}:$PATH git push {more} -q out change");
        let mut command = room.shell(&line);
        command.env("XDG_CACHE_HOME", room.path("cache"));
        finish(command)
    };
    let stopped = push("");
    assert_ne!(stopped.status, 0, "{stopped:?}");
    stopped.complains("assay check stopped this push");
    assert_eq!(push("--no-verify").status, 0);
    checked(&room, &["--remove-hook"]).ends(0).shows("removed:");
    assert!(!room.path(hook).exists());
    room.write(hook, "#!/bin/sh\necho mine\n");
    checked(&room, &["--install-hook"])
        .ends(2)
        .complains("was not installed by assay, so it is left as it is");
    checked(&room, &["--remove-hook"]).ends(2).complains("was not installed by assay");
    assert_eq!(room.read(hook), "#!/bin/sh\necho mine\n");
}

#[test]
fn the_same_files_give_the_same_build() {
    let room = harness();
    room.write("speed", "101\n");
    let words = ["--budget", "1s"];
    checked(&room, &words).ends(0).complains("head: building it");
    let again = checked(&room, &words).ends(0);
    assert!(again.stderr.contains("head: was built before"), "{again:?}");
}
