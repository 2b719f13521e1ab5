//! Stores of `assay history` that are servers, disappear, fill up, are damaged, read-only or of a
//! later version; runs with unusual clocks, commits and names.

use crate::history::{history, recorded, repository, suite};
use crate::room::{finish, start, until};
use server::Server;

#[path = "../../../history/src/tests/server.rs"]
pub mod server;

/// Adds a password to an address, which must not show up anywhere.
fn with_password(address: &str) -> String {
    address.replace("postgres:///", "postgres://postgres:secret@/")
}

#[test]
fn a_team_keeps_its_runs_on_a_server() {
    let Some(server) = Server::start() else { return };
    let store = with_password(&server.database("runs"));
    let room = repository();
    let kept = room
        .run(&["run", "true", "-r", "10", "--keep", "--store", &store, "--save", "r.assay"])
        .ends(0);
    let kept = kept.complains("postgres:***@");
    assert!(!kept.stderr.contains("secret") && !room.read("r.assay").contains("secret"));
    suite(&room, "a.json", [100.0, 50.0]);
    let add = history(&room, &["add", "a.json", "--rev", "v2", "--store", &store]).ends(0);
    add.shows("of v2, commit ");
    history(&room, &["add", "a.json", "--rev", "v2", "--store", &store])
        .ends(0)
        .shows("it was there before");
    let log = room.json(&["history", "log", "--store", &store]);
    assert_eq!((&log["total"], log.to_string().contains("secret")), (&2.into(), false));
    history(&room, &["show", "--store", &store]).ends(0).shows("BM_Sort");
    history(&room, &["trend", "BM_Copy", "--store", &store]).ends(0).shows("1 run on build-1");
    room.run(&["gate", "a.json", "--store", &store]).ends(3).shows("more runs");
    history(&room, &["export", "--all", "--out", "out", "--store", &store]).ends(0).shows("2 runs");
    history(&room, &["bless", "BM_Copy", "--reason", "meant", "--store", &store])
        .ends(0)
        .shows("meant");
    history(&room, &["rm", "last", "--store", &store]).ends(0).shows("removed");
    let nobody = with_password(&server.database("empty"));
    let none =
        history(&room, &["log", "--store", &nobody]).ends(2).complains("there is no history at");
    assert!(!none.stderr.contains("secret"));
    let wrong = history(&room, &["log", "--store", "postgres://a:secret@h:port/d"]).ends(2);
    assert!(!wrong.complains("is not the address").stderr.contains("secret"));
    history(&room, &["log", "--store", "postgres:///d?host=/nowhere"])
        .ends(2)
        .complains("can't be reached");
}

#[test]
fn what_was_measured_while_the_server_went_waits_for_it() {
    let Some(mut server) = Server::start() else { return };
    let store = with_password(&server.database("runs"));
    let room = repository();
    room.write("waits.sh", "touch begun; until [ -e gone ]; do sleep 0.02; done");
    let keeping = room.assay(&["run", "sh waits.sh", "-r", "5", "--keep", "--store", &store]);
    let keeping = start(keeping);
    until("something is measured", || room.path("begun").exists());
    server.stop();
    room.write("gone", "");
    let kept = keeping.finish().ends(0).complains("can't be reached").complains("the run waits in");
    assert!(!kept.stderr.contains("secret"));
    // If the store is unreachable from the start, that is an error before anything is measured, so
    // nothing is lost.
    suite(&room, "a.json", [100.0, 50.0]);
    history(&room, &["add", "a.json", "--store", &store]).ends(2).complains("can't be reached");
    room.run(&["run", "true", "--keep", "--store", &store]).ends(2).complains("can't be reached");
    server.start_again();
    suite(&room, "b.json", [101.0, 50.0]);
    std::fs::remove_file(room.path("gone")).unwrap();
    let line = format!(
        "(until [ -e gone ]; do sleep 0.02; done; cat b.json) | $ASSAY history add --rev v2 --store '{store}' a.json -"
    );
    let adding = start(room.shell(&line));
    let total = || history(&room, &["log", "--json", "--store", &store]).stdout;
    until("the first file is there", || total().contains("\"total\": 2"));
    server.stop();
    room.write("gone", "");
    adding.finish().ends(0).complains("1 run that waited for").complains("the run waits in");
    server.start_again();
    let last = history(&room, &["add", "a.json", "--rev", "v2", "--store", &store]).ends(0);
    last.complains("1 run that waited for").shows("it was there before");
    let log = room.json(&["history", "log", "--store", &store]);
    let of = |n: usize| log["runs"][n]["revision"]["ordinal"].clone();
    assert_eq!((&log["total"], of(1), of(2)), (&3.into(), 2.into(), 2.into()));
    assert_eq!(std::fs::read_dir(room.path("state/assay/waiting")).unwrap().count(), 0);
}

#[test]
fn a_store_that_can_not_take_a_run_says_why_and_keeps_what_it_has() {
    let room = repository();
    room.write("none.json", "{");
    history(&room, &["add", "none.json"]).ends(2);
    history(&room, &["add", "missing.json"]).ends(2);
    assert!(!room.path(".assay/history.db").exists(), "nothing was added, so nothing begins");
    suite(&room, "a.json", [100.0, 50.0]);
    history(&room, &["add", "-q", "a.json"]).ends(0);
    let many: String = (0..600).map(|i| format!("n{i},{}\n", i * 7 % 13 + 1)).collect();
    room.write("many.csv", &format!("name,value\n{many}"));
    // No file may be larger than 40 KiB.
    let line = "trap '' XFSZ; ulimit -f 80; $ASSAY history add --by name --value value many.csv";
    finish(room.shell(line))
        .ends(2)
        .complains("there is no space")
        .complains("many.csv is not kept");
    assert_eq!(room.json(&["history", "log"])["total"], 1);
    history(&room, &["add", "-q", "--by", "name", "--value", "value", "many.csv"]).ends(0);
    // Byte 60 of the first page contains the version.
    let path = room.path(".assay/history.db");
    let mut later = std::fs::read(&path).unwrap();
    later[60..64].copy_from_slice(&99_u32.to_be_bytes());
    std::fs::write(room.path("later.db"), &later).unwrap();
    for words in [&["log"][..], &["add", "a.json"]] {
        let refused = history(&room, &[words, &["--store", "later.db"]].concat());
        refused.ends(2).complains("has version 99").complains("use a later assay");
    }
    assert_eq!(std::fs::read(room.path("later.db")).unwrap(), later);
}

#[test]
fn a_store_that_may_only_be_read_is_read_and_says_that_it_can_not_be_written() {
    let room = repository();
    suite(&room, "a.json", [100.0, 50.0]);
    history(&room, &["add", "-q", "a.json"]).ends(0);
    // Root may write everything, so this runs as another user.
    let line = "chmod 755 . .assay && chmod 644 .assay/history.db a.json && chmod 555 .assay \
                && as='setpriv --reuid=65534 --regid=65534 --clear-groups' && if [ \"$(id -u)\" != 0 ]; then as=; fi \
                && if ! $as \"$ASSAY\" --version >/dev/null; then echo skipped; exit; fi \
                && export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*' \
                && $as \"$ASSAY\" history log && $as \"$ASSAY\" history add a.json --rev x";
    let ended = finish(room.shell(line));
    finish(room.shell("chmod 755 .assay"));
    if !ended.stdout.contains("skipped") {
        ended.ends(2).shows("a.json").complains("can't be written");
    }
}

#[test]
fn names_that_mean_harm_are_shown_as_they_are_and_do_none() {
    let room = repository();
    let name = "\\u001b[31m\\u0007\\n../../<script>alert(1)</script>\\u0000";
    suite(&room, "a.json", [100.0, 50.0]);
    room.write("a.json", &room.read("a.json").replace("BM_Copy", name).replace("build-1", name));
    history(&room, &["add", "a.json", "--rev=--help"]).ends(0);
    for words in [
        &["log"][..],
        &["show"],
        &["bless"],
        &["export", "--all", "--out", "out"],
        &["add", "a.json"],
    ] {
        let shown = history(&room, words).ends(0);
        let all = shown.stdout + &shown.stderr;
        assert!(!all.contains(['\u{1b}', '\u{7}', '\0']), "{all:?}");
    }
    let files = std::fs::read_dir(room.path("out")).unwrap();
    assert!(files.flatten().all(|file| file.file_name().to_string_lossy().ends_with(".assay")));
}

#[test]
fn a_history_that_was_rewritten_or_is_cut_off_is_said_to_be() {
    let room = repository();
    recorded(&room, 30, 1.2);
    history(&room, &["trend", "BM_Copy"]).ends(0).shows("next: ");
    // The same tree in other commits, and nothing that leads to the old ones.
    let line = "git checkout -q --orphan fresh && git -c user.name=a -c user.email=b commit -q --allow-empty -m fresh \
                && git branch -q -D main && git tag -d $(git tag) >/dev/null \
                && git reflog expire --expire=now --all && git gc -q --prune=now";
    finish(room.shell(line)).ends(0);
    let trend =
        history(&room, &["trend", "BM_Copy"]).ends(0).shows("is no longer in this repository");
    assert!(!trend.stdout.contains("next: "), "{}", trend.stdout);
    // In a shallow clone the number of earlier commits is unknown.
    let cut = repository();
    finish(cut.shell("git clone -q --depth 1 \"file://$PWD\" cut && mkdir cut/.assay")).ends(0);
    suite(&cut, "cut/a.json", [100.0, 50.0]);
    let said = finish(cut.shell("cd cut && $ASSAY history add a.json --rev HEAD")).ends(0);
    said.complains("shallow clone");
}

#[test]
fn a_level_that_was_accepted_is_what_is_normal() {
    let room = repository();
    recorded(&room, 30, 1.1);
    let screen = history(&room, &["bless", "BM_Copy", "--reason", "it checks every byte"]).ends(0);
    screen.shows("BM_Copy has been normal since run").shows("it checks every byte");
    let json = room.run(&["gate", "--json"]).ends(3).json();
    let copy = &json["benchmarks"][0];
    assert_eq!(
        (&copy["benchmark"], &copy["standing"], &copy["runs"]),
        (&"BM_Copy".into(), &"inconclusive".into(), &0.into())
    );
    assert_eq!(json["benchmarks"][1]["standing"], "normal");
    assert!(json["findings"].as_array().unwrap().iter().any(|f| f["code"] == "RUNS_LEFT_OUT"));
    history(&room, &["trend", "BM_Copy"])
        .ends(0)
        .shows("; that was accepted")
        .shows("(it checks every byte)")
        .shows("was accepted as normal");
    // The events of the project include it as accepted, without anything to narrow down.
    let all = history(&room, &["trend"]).ends(0);
    let all = all.shows("1 event in ").shows(", accepted: ").shows("(it checks every byte)");
    assert!(!all.stdout.contains("next: "), "{}", all.stdout);
    let event = &room.json(&["history", "trend"])["events"][0];
    let reason = &event["changes"][0]["accepted"]["reason"];
    assert_eq!((&event["accepted"], reason), (&true.into(), &"it checks every byte".into()));
    history(&room, &["site", "accepted"]).ends(0);
    let page = room.read("accepted/index.html");
    assert!(page.contains("; accepted at run ") && !page.contains("class=\"bad\""), "{page}");
    history(&room, &["bless", "BM_Nothing"]).ends(2).complains("has no benchmark `BM_Nothing`");
    history(&room, &["bless", "BM_Sort", "--remove"])
        .ends(2)
        .complains("no level of BM_Sort was accepted");
    history(&room, &["bless", "BM_Copy", "--remove"]).ends(0).shows("no level of");
    assert_eq!(room.json(&["history", "trend"])["events"][0]["accepted"], false);
    history(&room, &["site", "open"]).ends(0);
    assert!(!room.read("open/index.html").contains("accepted"));
    room.run(&["gate"]).ends(0);
}

#[test]
fn what_there_is_too_much_of_is_shown_first_and_goes_when_asked() {
    let room = repository();
    for number in 0..30 {
        let name = format!("{number}.json");
        suite(&room, &name, [100.0 + f64::from(number), 50.0]);
        history(&room, &["add", "-q", &name, "--rev", if number < 25 { "v2" } else { "main" }])
            .ends(0);
    }
    let shown = history(&room, &["prune", "--keep", "2"]).ends(0).shows("and 6 more");
    shown.shows("26 of 30 runs").complains("nothing was changed yet");
    assert_eq!(room.json(&["history", "log"])["total"], 30);
    let size = || std::fs::metadata(room.path(".assay/history.db")).unwrap().len();
    let before = size();
    history(&room, &["prune", "--keep", "2", "--remove"]).ends(0).shows("26 of 30 runs");
    assert_eq!(room.json(&["history", "log"])["total"], 4);
    assert!(size() < before, "{before} {}", size());
    // They were measured on a past day of 2026.
    history(&room, &["bless", "--run", "last"]).ends(0);
    history(&room, &["prune", "--older-than", "0d", "--remove"]).ends(0).shows("3 of 4 runs");
    history(&room, &["prune"]).ends(2);
}
