//! `assay bisect`: the commit of a change is found, commits that do not build are skipped, and
//! errors are reported. How often searches are right is simulated elsewhere
//! (`analysis/examples/bisect.rs`); the program here takes the time given in a file of its commit.

use crate::room::{Ended, Room, finish, scattered_harness};
use serde_json::Value;

pub const BUILD: &str = "test ! -e broken && mkdir -p build && cp bm.sh build/bm";

/// Returns a repository with fourteen commits after `good`: the program takes 40 ns up to the
/// eighth and 60 ns from the ninth on; the fourth does not build.
pub fn repository() -> Room {
    let room = Room::new();
    room.write("bm.sh", &scattered_harness());
    room.shell("chmod +x bm.sh").status().unwrap();
    room.write(".gitignore", "build/\nstate/\ncache/\n*.assay\nassay-*\n");
    room.write("speed", "40\n");
    let lines = "git init -q -b main && git add . && git commit -q -m first && git tag good
        for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14; do
            echo $n > number
            test $n = 4 && touch broken || rm -f broken
            test $n = 9 && echo 60 > speed
            git add -A && git commit -q -m \"$(printf 'number %s \\033[31m' $n)\" || exit 1
        done";
    shell(&room, lines).ends(0);
    room
}

fn shell(room: &Room, lines: &str) -> Ended {
    let mut command = room.shell(lines);
    for role in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{role}_NAME"), "Somebody");
        command.env(format!("GIT_{role}_EMAIL"), "somebody@example.org");
        command.env(format!("GIT_{role}_DATE"), "2026-01-02T03:04:05Z");
    }
    finish(command)
}

fn bisect(room: &Room, words: &[&str]) -> Ended {
    let mut command = room.assay(&[&["bisect"], words].concat());
    command.env("XDG_CACHE_HOME", room.path("cache"));
    finish(command)
}

fn searched(room: &Room, more: &[&str]) -> Ended {
    let what = ["good..main", "--build", BUILD, "--benchmark", "BM_One", "--seed", "4"];
    bisect(room, &[&what[..], more, &["--", "build/bm"]].concat())
}

fn json(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap()
}

#[test]
fn the_commit_is_found_and_nothing_is_left_in_the_repository() {
    let room = repository();
    let before = shell(&room, "git status --porcelain; git worktree list; git for-each-ref").stdout;
    let screen = searched(&room, &["--save", "s.assay"]).ends(1);
    for said in ["changed for the worse", "number 9", "2026-01-02", "predecessor", "next: git show"]
    {
        assert!(screen.stdout.contains(said), "{said}: {}", screen.stdout);
    }
    assert!(!screen.stdout.contains('\u{1b}'), "{}", screen.stdout);
    let after = shell(&room, "git status --porcelain; git worktree list; git for-each-ref").stdout;
    assert_eq!(before, after);
    // A finished search is shown again without measuring anything again.
    let again = bisect(&room, &["--resume", "s.assay", "--json"]).ends(1);
    let found = json(&again);
    assert_eq!(found["outcome"], "found", "{found:#}");
    assert_eq!(found["commit"]["subject"], "number 9 \u{1b}[31m");
    assert_eq!((&found["verdict"], &found["commits"]), (&"slower".into(), &14.into()));
    let ratio = found["ratio"]["estimate"].as_f64().unwrap();
    assert!((ratio - 1.5).abs() < 0.1, "{ratio}");
    assert!(found["probability"].as_f64().unwrap() >= 0.95, "{found:#}");
    assert!(found["built"].as_u64().unwrap() <= 10, "{found:#}");
}

#[test]
fn a_search_goes_on_and_leaves_out_what_does_not_build() {
    let room = repository();
    // The change is after the commit that does not build.
    shell(&room, "git checkout -q main~10 && echo 60 > speed && git commit -q -a -m broken")
        .ends(0);
    shell(&room, "git rm -q broken && git commit -q -m fixed && git branch mended").ends(0);
    let what = ["good..mended", "--build", BUILD, "--benchmark", "BM_One", "--seed", "4"];
    let short = [&what[..], &["--runs", "11", "--save", "s.assay", "--", "build/bm"]].concat();
    let first = bisect(&room, &short).ends(3);
    assert!(first.stdout.contains("next: assay bisect --resume"), "{}", first.stdout);
    let found = json(&bisect(&room, &["--resume", "s.assay", "--json"]).ends(1));
    assert_eq!(found["outcome"], "found", "{found:#}");
    assert_eq!(found["commit"]["subject"], "fixed");
    assert!(found["after"]["subject"].as_str().unwrap().starts_with("number 3"));
    let skipped = found["skipped"].as_array().unwrap();
    assert!(
        !skipped.is_empty() && skipped.iter().all(|s| s["why"].as_str().unwrap().contains("build"))
    );
    let codes: Vec<&Value> =
        found["findings"].as_array().unwrap().iter().map(|f| &f["code"]).collect();
    assert!(codes.contains(&&Value::from("COMMITS_MISSING")), "{codes:?}");
}

#[test]
fn where_nothing_changed_that_is_the_answer() {
    let room = repository();
    let words = ["good..main~6", "--build", BUILD, "--benchmark", "BM_One", "--threshold", "4%"];
    let screen = bisect(&room, &[&words[..], &["--", "build/bm"]].concat()).ends(0);
    assert!(
        screen.stdout.contains("did not change by 4 % or more from good to main~6"),
        "{}",
        screen.stdout
    );
}

#[test]
fn what_is_wrong_is_said_before_anything_is_measured() {
    let room = repository();
    let end = ["--benchmark", "BM_One", "--", "build/bm"];
    for (words, said) in [
        (&["good"][..], "write it as GOOD..BAD"),
        (&["good...main"], "write it as GOOD..BAD"),
        (&["main..good"], "good..main"),
        (&["good..good"], "same commit"),
        (&["good..nowhere"], "`nowhere` is not a revision"),
        (&["good..."], "GOOD..BAD"),
        (&["good..main~10", "--build", BUILD], "can't be measured: the build line"),
        (&["good..main", "--build", "true"], "does not exist"),
        (&["good..main", "--build", BUILD, "--primary", "speed"], "no such metric"),
    ] {
        let ended = bisect(&room, &[words, &end[..]].concat()).ends(2);
        assert!(ended.stderr.contains(said), "{words:?}: {}", ended.stderr);
    }
    // A program outside the tree is the same for all commits, unless its arguments name files of
    // the tree.
    let alone = bisect(&room, &["good..main", "--build", "false", "--", "/bin/true"]).ends(2);
    alone.complains("this program is the same for every revision");
    let shell =
        bisect(&room, &["good..main", "--build", "false", "--", "/bin/sh", "bm.sh"]).ends(2);
    shell.complains("can't be measured: the build line");
    let nothing = bisect(&room, &["good..main"]).ends(2);
    assert!(nothing.stderr.contains("COMMAND"), "{}", nothing.stderr);
    // If the good commit's program fails, a command failed.
    bisect(&room, &["good..main", "--", "false"]).ends(4);
}
