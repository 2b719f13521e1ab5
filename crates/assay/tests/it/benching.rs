//! `assay bench` with a script that answers like a harness: the measurements, verdicts, records,
//! and reports of failures.

use crate::room::{Ended, Room, children_of, codes, signal, start, until};
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// Returns a room with two builds, each with its table of benchmarks.
pub fn builds(old: &str, new: &str) -> Room {
    let room = Room::new();
    for (name, table) in [("old", old), ("new", new)] {
        // The two differ in a comment, as two builds do.
        let text = format!("{}# {name}\n", include_str!("fake-harness.sh"));
        room.write(name, &text);
        fs::set_permissions(room.path(name), fs::Permissions::from_mode(0o755)).unwrap();
        room.write(&format!("{name}.table"), table);
    }
    room
}

fn bench(room: &Room, more: &[&str]) -> Ended {
    room.run(&[&["bench", "./old", "./new", "--time", "30s"], more].concat())
}

const THREE_OLD: &str = "copy/8 100\nmove 200\nsame 50\n";
const THREE_NEW: &str = "copy/8 80\nmove 230\nsame 50\n";

#[test]
fn every_benchmark_of_two_builds_gets_its_verdict() {
    let room = builds(THREE_OLD, THREE_NEW);
    let ended =
        bench(&room, &["--save", "s.assay", "--export", "c.md", "--export", "c.json"]).ends(0);
    let ended = ended.shows("1 of 3 benchmarks is slower, 1 faster, 1 equivalent");
    ended.complains("3 benchmarks on old and new");
    assert!(room.read("c.md").contains("| copy/8"), "{}", room.read("c.md"));
    // The file gives the printed result again, like any recording.
    let again = room.run(&["compare", "s.assay"]).ends(0);
    again.shows("1 of 3 benchmarks is slower, 1 faster, 1 equivalent");
    let result = room.json(&["compare", "s.assay"]);
    assert_eq!(result["design"], "blocks");
    let printed: serde_json::Value = serde_json::from_str(&room.read("c.json")).unwrap();
    assert_eq!(printed["means"], result["means"]);
    assert_eq!(printed["comparisons"], result["comparisons"]);
}

#[test]
fn sides_alternate_at_random_within_blocks_and_do_the_same_work() {
    let room = builds(THREE_OLD, THREE_NEW);
    bench(&room, &["--runs", "12", "--seed", "3", "--save", "s.assay"]).ends(0);
    let observations = room.records("s.assay", "obs");
    assert_eq!(observations.len(), 3 * 2 * 12);
    let mut first = [0, 0];
    for pair in observations.chunks(2) {
        assert_eq!((&pair[0]["block"], &pair[0]["pos"]), (&pair[1]["block"], &0.into()));
        assert_eq!(pair[0]["values"]["iterations"], pair[1]["values"]["iterations"]);
        first[pair[0]["subject"].as_u64().unwrap() as usize % 2] += 1;
    }
    assert!(first[0] > 6 && first[1] > 6, "{first:?}");
}

#[test]
fn a_suite_that_was_killed_is_resumed_as_it_would_have_gone_on() {
    let room = builds(THREE_OLD, THREE_NEW);
    let runs = ["-r", "8", "--seed", "3", "--save", "s.assay"];
    bench(&room, &runs).ends(0);
    let whole = room.records("s.assay", "obs");
    let text = room.read("s.assay");
    for kept in [0, 7, 30] {
        let mut seen = 0;
        let part: Vec<&str> = text
            .lines()
            .filter(|line| {
                seen += usize::from(line.starts_with("{\"kind\":\"obs\""));
                seen <= kept && !line.starts_with("{\"kind\":\"stop\"")
            })
            .collect();
        room.write("s.assay", &format!("{}\n", part.join("\n")));
        let result = room.json(&["bench", "--resume", "s.assay"]);
        assert!(codes(&result).contains(&"RESUMED"), "{:?}", codes(&result));
        let now = room.records("s.assay", "obs");
        assert_eq!(now[..kept], whole[..kept]);
        let places = |all: &[serde_json::Value]| {
            all.iter().map(|o| (o["subject"].clone(), o["block"].clone())).collect::<Vec<_>>()
        };
        assert_eq!(places(&now), places(&whole), "{kept}");
    }
    // Names are only for display: a side is identified by its position.
    let renamed = text.replace(r#""name":"old"#, r#""name":"before"#);
    let kept = renamed.lines().filter(|line| !line.starts_with("{\"kind\":\"stop\""));
    let kept: Vec<&str> = kept.take_while(|line| !line.contains("\"block\":5,")).collect();
    room.write("s.assay", &format!("{}\n", kept.join("\n")));
    let result = room.json(&["bench", "--resume", "s.assay"]);
    assert_eq!(
        (&result["sides"][0]["name"], room.records("s.assay", "obs").len()),
        (&"before".into(), 48)
    );
    // A changed build is a different experiment, and the file determines the other settings.
    room.run(&["bench", "--resume", "s.assay", "-r", "9"]).ends(2).complains("--runs");
    room.write("new", &format!("{}# changed\n", room.read("new")));
    room.run(&["bench", "--resume", "s.assay"]).ends(2).complains("has changed");
}

#[test]
fn a_launcher_that_is_killed_costs_a_suite_one_run_which_is_taken_again_and_told() {
    let room = builds("one 100\ntwo 300\n", "one 90\ntwo 310\n");
    let words = ["bench", "./old", "./new", "-r", "20", "--save", "s.assay", "--json"];
    let assay = start(room.assay(&words));
    until("runs are recorded", || room.records("s.assay", "obs").len() > 4);
    let launcher = children_of(assay.pid());
    assert_eq!(launcher.len(), 1);
    signal(launcher[0], "KILL");
    let result = assay.finish().ends(0).json();
    assert!(codes(&result).contains(&"INCOMPLETE_BLOCKS"), "{result:#}");
    assert_eq!(room.records("s.assay", "obs").len(), 2 * 2 * 20);
}

#[test]
fn a_suite_is_resumed_without_the_side_that_had_nothing_to_measure() {
    let room = builds(THREE_OLD, THREE_NEW);
    room.write("bad", &format!("{}# bad\n", room.read("new")));
    fs::set_permissions(room.path("bad"), fs::Permissions::from_mode(0o755)).unwrap();
    room.write("bad.table", "copy/8 80 crash\nmove 230 crash\n");
    let three = ["bench", "./old", "./bad", "./new", "-r", "3", "--save", "s.assay"];
    room.run(&three).ends(4);
    let text = room.read("s.assay");
    let part: Vec<&str> = text.lines().take_while(|line| !line.contains("\"block\":2,")).collect();
    room.write("s.assay", &format!("{}\n", part.join("\n")));
    let resumed = room.run(&["bench", "--resume", "s.assay", "--json"]).ends(4).json();
    let sides: Vec<&str> =
        resumed["sides"].as_array().unwrap().iter().map(|s| s["name"].as_str().unwrap()).collect();
    assert_eq!((sides, room.records("s.assay", "obs").len()), (vec!["old", "new"], 18));
}

#[test]
fn a_benchmark_that_fails_while_it_is_counted_ends_the_suite_and_keeps_its_times() {
    let room = builds("good 100\nwary 100\n", "good 80\nwary 100 crash-counted\n");
    let counted = ["--runs", "3", "--counters", "page-faults", "--save", "s.assay"];
    let ended = bench(&room, &counted).ends(4).shows("good");
    ended
        .complains("`wary` on new, in its counting run: it exited with status 7")
        .complains("no counting here");
    let timed = room.records("s.assay", "obs").into_iter().filter(|o| o["pass"].is_null());
    assert_eq!(timed.count(), 2 * 2 * 3);
    assert_eq!(room.records("s.assay", "stop")[0]["reason"], "failed");
}

#[test]
fn what_fails_is_left_out_and_the_rest_is_decided() {
    let old = "good 100\nbad 100\nodd 100\nlate 100\ngone 9\n";
    let new = "good 80\nbad 100 crash\nodd 100 garbage\nlate 80 crash-after 4\ncome 9\n";
    let room = builds(old, new);
    let ended = bench(&room, &["--save", "s.assay", "--verbose"]).ends(4);
    let ended = ended.shows("good").shows("faster");
    let ended = ended.shows("`bad` on new: it was ended by signal 6");
    let _ = ended
        .shows("1 benchmark was not measured: it is only in old, not in any other side: `gone`");
    let result = room.run(&["compare", "s.assay", "--json"]).json();
    let told: Vec<&str> = result["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|finding| finding["code"] == "BENCHMARK_FAILED")
        .map(|finding| finding["message"].as_str().unwrap())
        .collect();
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(told.iter().any(|m| m.contains("size > 0")), "{told:?}");
    assert!(
        told.iter()
            .any(|m| m.contains("late") && m.contains("out of luck") && m.contains("3 blocks")),
        "{told:?}"
    );
}

#[test]
fn a_benchmark_that_gives_up_says_why_and_one_that_hangs_is_ended() {
    let room = builds("a 10 error no input\nb 10\n", "a 10\nb 9 hang\n");
    let ended = bench(&room, &["--timeout", "1s"]).ends(2);
    ended
        .complains("no benchmark can be measured on two sides")
        .complains("no input")
        .complains("--timeout");
}

#[test]
fn builds_that_are_the_same_are_refused_unless_that_is_meant() {
    let room = builds(THREE_OLD, THREE_OLD);
    room.run(&["bench", "./old", "./old"]).ends(2).complains("--aa");
    room.run(&["bench", "./old", "--aa", "--runs", "2", "--no-save"]).ends(0);
}

#[test]
fn a_debug_library_as_debian_ships_it_is_told_of_and_measured() {
    let room = builds(THREE_OLD, THREE_NEW);
    let ended = bench(&room, &["--env", "BUILD_TYPE=debug", "--runs", "1", "--no-save"]).ends(0);
    ended.shows("warning: old and new: the Google Benchmark library was built without NDEBUG");
    let result = room.json(&["bench", "./old", "./new", "--runs", "1", "--no-save"]);
    assert!(!codes(&result).contains(&"DEBUG_BUILD"), "{:?}", codes(&result));
}

#[test]
fn one_program_alone_shows_its_numbers() {
    let room = builds(THREE_OLD, THREE_OLD);
    let alone = ["bench", "./old", "--runs", "12", "--save", "s.assay"];
    let ended =
        room.run(&alone).ends(0).complains("3 benchmarks on old (Google Benchmark); a round");
    let ended = ended.shows("3 series of wall").shows("copy/8").shows("same ");
    assert!(!ended.stdout.contains("not measured"), "{}", ended.stdout);
    ended.shows("every series in full: assay describe --all s.assay");
    let result = room.json(&["bench", "./old", "--runs", "2", "--no-save"]);
    assert_eq!(result["comparisons"].as_array().map(Vec::len), Some(0));
    assert_eq!(result["descriptions"].as_array().map(Vec::len), Some(3));
    assert_eq!(
        (&result["sides"][0]["name"], result["sides"].as_array().map(Vec::len)),
        (&"old".into(), Some(1))
    );
    assert_eq!(result["rows"].as_array().map(Vec::len), Some(3));
    assert_eq!(result["descriptions"][0]["row"], result["rows"][0]["name"]);
    room.run(&["bench", "--resume", "s.assay"]).ends(0).shows("3 series of wall");
    // Two recordings of one program are compared like any others.
    room.run(&["bench", "./old", "--runs", "12", "--save", "t.assay"]).ends(0);
    room.run(&["compare", "s.assay", "t.assay"]).ends(0).shows("benchmarks");
    room.run(&["bench", "./old", "--fail-if", "slower"])
        .ends(2)
        .complains("nothing to compare it with");
}

#[test]
fn benchmarks_are_chosen_listed_and_tried() {
    let room = builds(THREE_OLD, "copy/8 80\nextra 5\n");
    let listed = bench(&room, &["--list"]).ends(0);
    assert_eq!(
        listed.stdout,
        "copy/8\nmove   (not on new)\nsame   (not on new)\nextra   (not on old)\n"
    );
    let listed =
        room.run(&["bench", "./old", "--list", "--exclude", "/^same$/", "--filter", "-move"]);
    assert_eq!(listed.ends(0).stdout, "copy/8\n");
    let listed = bench(&room, &["--list", "--json"]).ends(0).json();
    assert_eq!(listed["benchmarks"][1]["on"], serde_json::json!(["old"]));
    bench(&room, &["--filter", "nothing"]).ends(2).complains("--list");
    room.run(&["bench", "./old", "--smoke"]).ends(0).shows("all 3 run");
    assert_eq!(room.run(&["bench", "./old", "--smoke", "--json"]).ends(0).json()["runs"], 3);
    let broken = builds("a 1\nb 1 crash\n", "a 1\n");
    broken
        .run(&["bench", "./old", "--smoke"])
        .ends(4)
        .shows("broken: b on old: it was ended by signal 6");
}

#[test]
fn one_build_is_compared_with_itself_by_two_filters_or_two_environments() {
    let room = builds("BM_old/1 100\nBM_old/2 200\nBM_new/1 50\nBM_new/2 100\n", "");
    let by_filter =
        ["bench", "./old", "--old-filter", "BM_old", "--new-filter", "BM_new", "--runs", "9"];
    let ended = room.run(&by_filter).ends(0);
    ended.shows("BM_new against BM_old: both benchmarks are faster").shows("/1");
    let by_env = ["bench", "./old", "--old-env", "X=1", "--new-env", "X=2", "--runs", "2"];
    room.run(&by_env).ends(0).shows("X=2 against X=1");
    let passed =
        ["bench", "./old", "--env", "2:OWN_ARGUMENT=seen", "--aa", "--runs", "1", "--", "--mine"];
    room.run(&passed).ends(0);
    assert!(room.read("old.seen").contains("seen"));
}

#[test]
fn counters_are_told_per_iteration_even_where_a_run_can_not_tell() {
    let room = builds("copy 100 x x 2\n", "copy 100 x x 0\n");
    let result = room.run(&["bench", "./old", "./new", "--runs", "9", "--json"]).ends(0).json();
    let told = result.to_string();
    assert!(told.contains("\"calls/iteration\"") && !told.contains("\"calls\""), "{told}");
}

#[test]
fn other_programs_are_refused_with_the_harnesses_that_are_known() {
    let room = Room::new();
    room.link("true", "plain");
    room.link("false", "other");
    let ended = room.run(&["bench", "./plain", "./other"]).ends(2);
    ended.complains("of no harness that assay knows").complains("google-benchmark");
    room.run(&["bench", "./nowhere", "./other"]).ends(2).complains("nowhere");
}

#[test]
fn changed_builds_fail_a_pipeline_and_unknown_metrics_are_named() {
    let room = builds(THREE_OLD, THREE_NEW);
    bench(&room, &["--fail-if", "slower"]).ends(1);
    bench(&room, &["--primary", "nothing"]).ends(2).complains("known are wall, cpu");
    assert!(
        codes(&room.run(&["bench", "./old", "./new", "--runs", "3", "--json"]).json())
            .contains(&"TOO_FEW")
    );
}

#[test]
fn a_budget_that_is_too_short_is_told() {
    let room = builds("same 50\nother 70\n", "same 50\nother 70\n");
    let more = ["--threshold", "0.0001%", "--time", "8s", "--json"];
    let result = bench_with(&room, &more).ends(0).json();
    // On a machine too slow even for the minimum number of blocks, that is reported beforehand
    // instead.
    let codes = codes(&result);
    assert!(codes.contains(&"STOPPED_EARLY") || codes.contains(&"TOO_FEW"), "{codes:?}");
}

/// A program with the code of two benchmarks, which lets the script answer instead. The names are
/// mangled as in C++.
const COMPILED: &str = r#"
#include <stdio.h>
#include <unistd.h>
volatile int sink;
#if LATER
__attribute__((noinline)) void unrelated(int x) { for (int i = 0; i < x; i++) sink += i / (x + 1); }
#else
__attribute__((noinline)) void unrelated(int x) { sink = x; }
#endif
__attribute__((noinline)) void shared(int x) { sink = x * 3; }
__attribute__((noinline)) void changed(int x) { sink = x * (5 + LATER); }
void _Z7BM_sortRN9benchmark5StateE(void *state) { for (int i = 0; i < 9; i++) shared(*(int *)state); }
void _ZL6BM_mapRN9benchmark5StateE(void *state) { changed(*(int *)state); }
int main(int count, char **words) {
    unrelated(count);
    char script[4096];
    snprintf(script, sizeof script, "%s.sh", words[0]);
    words[0] = script;
    char *all[64] = {"sh"};
    for (int i = 0; i < count && i < 60; i++) all[i + 1] = words[i];
    execv("/bin/sh", all);
    return 9;
}
"#;

#[test]
fn a_difference_between_builds_with_the_same_code_may_be_layout() {
    let room = Room::new();
    room.write("bm.c", COMPILED);
    let build = |options: &[&str]| {
        for (name, later, own) in [("old", 0, 100), ("new", 1, 120)] {
            let mut compiler = std::process::Command::new("cc");
            compiler.args(["-O2", &format!("-DLATER={later}"), "bm.c", "-o", name]).args(options);
            assert!(compiler.current_dir(room.path(".")).status().unwrap().success());
            room.write(&format!("{name}.sh"), include_str!("fake-harness.sh"));
            let table = format!("BM_sort {own}\nBM_sort/8 {own}\nBM_map {own}\nBM_same {own}\n");
            room.write(&format!("{name}.sh.table"), &table);
        }
    };
    build(&[]);
    let ended = room.run(&["bench", "./old", "./new", "--runs", "12", "--save", "s.assay"]).ends(0);
    let ended = ended.shows("the code of 2 benchmarks (");
    ended.shows("measure several builds a side with --builds");
    let findings = room.json(&["compare", "s.assay"])["findings"].clone();
    let suspected = |f: &&serde_json::Value| f["code"] == "LAYOUT";
    let found: Vec<_> = findings.as_array().unwrap().iter().filter(suspected).collect();
    assert_eq!((found.len(), &found[0]["evidence"]["benchmarks"]), (1, &2.0.into()));
    // The arguments may cause the difference, and without symbols nothing is known.
    let silent = |more: &[&str]| {
        let result = room.json(&[&["bench", "--runs", "12", "--no-save"], more].concat());
        assert!(!codes(&result).contains(&"LAYOUT"), "{more:?}");
    };
    silent(&["./old", "./new --some"]);
    silent(&["./old", "./new", "--exclude", "sort"]);
    build(&["-s"]);
    silent(&["./old", "./new"]);
}

#[test]
fn benchmarks_of_the_same_code_are_controls_of_the_others() {
    let room = Room::new();
    room.write("bm.c", COMPILED);
    for (name, later) in [("old", 0), ("new", 1)] {
        let mut compiler = std::process::Command::new("cc");
        compiler.args(["-O2", &format!("-DLATER={later}"), "bm.c", "-o", name]);
        assert!(compiler.current_dir(room.path(".")).status().unwrap().success());
        room.write(&format!("{name}.sh"), include_str!("fake-harness.sh"));
        // Placement moved each benchmark by up to 1 %; the changed one takes 5 % longer.
        let control =
            |n: u32| format!("BM_sort/{n} {}\n", 1000 + later * (n * 7 % 21) - 10 * later);
        let table = (1..=12).map(control).collect::<String>();
        room.write(&format!("{name}.sh.table"), &format!("{table}BM_map {}\n", 1000 + 50 * later));
    }
    let bench = ["bench", "./old", "./new", "--runs", "16", "--save", "s.assay", "--control"];
    let ended =
        room.run(&bench).ends(0).shows("1 of 13 benchmarks is slower, 12 unchanged in code");
    let ended =
        ended.shows("the code of 12 benchmarks is the same in both builds; they moved by up to 1");
    let ended = ended.shows("1 of 13 benchmarks reaches code that changed; none reaches `main`");
    ended.shows("the floor of this run: old, measured twice, moved by up to 0.0");
    let result = room.json(&["compare", "s.assay"]);
    assert!(!codes(&result).contains(&"LAYOUT"), "{:?}", codes(&result));
    let of = |role: &str| {
        let all = result["comparisons"].as_array().unwrap().iter();
        all.filter(|c| c["metric"] == "wall" && c["role"] == role).cloned().collect::<Vec<_>>()
    };
    let (controls, judged) = (of("control"), of("judged"));
    assert_eq!((controls.len(), judged.len()), (12, 1));
    assert!(controls.iter().all(|c| c["verdict"] != "slower" && c["verdict"] != "faster"));
    let upper = judged[0]["without_change"]["upper"].as_f64().unwrap();
    let lower = judged[0]["ratio"]["lower"].as_f64().unwrap();
    assert!(upper > 0.01 && lower < 1.05 / (1.0 + upper) + 1e-3, "{judged:?}");
    // Benchmarks with the same code are never undecided, and never called faster or slower.
    let same = ["bench", "./old", "./new", "--runs", "16", "--no-save", "--filter", "sort"];
    room.run(&[&same[..], &["--fail-if", "different"]].concat()).ends(0);
    room.run(&["bench", "./old", "--control", "--no-save"]).ends(2).complains("--control");
}

/// Runs the two builds with these options only.
fn bench_with(room: &Room, more: &[&str]) -> Ended {
    room.run(&[&["bench", "./old", "./new", "--no-save"], more].concat())
}

/// Returns a room with five builds per side, each with its own time.
fn several_builds(old: [u32; 5], new: [u32; 5]) -> Room {
    let room = Room::new();
    for (side, times) in [("old", old), ("new", new)] {
        for (build, time) in times.into_iter().enumerate() {
            let name = format!("{side}-{build}");
            room.write(&name, &format!("{}# {name}\n", include_str!("fake-harness.sh")));
            fs::set_permissions(room.path(&name), fs::Permissions::from_mode(0o755)).unwrap();
            room.write(&format!("{name}.table"), &format!("sort {time}\n"));
        }
    }
    room
}

const BY_BUILDS: [&str; 7] =
    ["bench", "--builds", "old-?,new-?", "--runs", "30", "--save", "s.assay"];

#[test]
fn the_interval_is_over_builds_and_layout_is_told() {
    // The new builds equal the old ones, except that two are luckier: by their blocks alone they
    // would be faster beyond doubt.
    let room = several_builds([1000, 1030, 1000, 1030, 1015], [1000, 1000, 1030, 1000, 1015]);
    let result = room.json(&BY_BUILDS);
    let c = &result["comparisons"][0];
    assert_eq!(c["verdict"], "inconclusive");
    assert_eq!((&c["basis"], &c["unit_of_basis"]), (&"units".into(), &"build".into()));
    assert_eq!((&c["counts"]["of"], &c["blocks"]), (&5.into(), &30.into()));
    assert!((0.02..0.04).contains(&c["layout"].as_f64().unwrap()), "{}", c["layout"]);
    assert!(codes(&result).contains(&"LAYOUT"));
    assert_eq!(result["sides"][1]["name"], "new");
    assert_eq!(result["sides"][1]["builds"].as_array().unwrap().len(), 5);
    // Every build runs once before any is repeated; the file gives the same result.
    for cycle in room.records("s.assay", "obs").chunks(10) {
        let mut builds: Vec<_> =
            cycle.iter().map(|o| format!("{} {}", o["subject"], o["level"])).collect();
        builds.sort_unstable();
        builds.dedup();
        assert_eq!(builds.len(), 10);
    }
    assert_eq!(room.json(&["compare", "s.assay"])["comparisons"], result["comparisons"]);
    room.run(&["compare", "s.assay", "--verbose"]).ends(0).shows("layout alone moves");
}

#[test]
fn a_difference_beyond_layout_is_found_over_builds() {
    let room = several_builds([1000, 1005, 1000, 995, 1000], [1103, 1100, 1095, 1100, 1100]);
    assert_eq!(room.json(&BY_BUILDS)["comparisons"][0]["verdict"], "slower");
}

#[test]
fn builds_that_tell_nothing_are_refused() {
    let room = several_builds([1000; 5], [1000; 5]);
    let with = |builds: &str| room.run(&["bench", "--builds", builds, "--runs", "10"]).ends(2);
    with("old-?,nothing-*").complains("nothing-*: no file matches");
    with("old-?,new-0 new-1").complains("`new-0` has 2 different builds");
    with("5").complains("--builds N applies to git revisions");
    with("2").complains("at least 3");
    for copy in ["new-1", "new-2", "new-3"] {
        fs::copy(room.path("new-0"), room.path(copy)).unwrap();
    }
    with("old-?,new-?").complains("byte-for-byte identical");
}

#[test]
fn too_few_rounds_for_a_verdict_are_told_before_they_are_taken() {
    let room = builds(THREE_OLD, THREE_NEW);
    let ended = room.run(&["bench", "./old", "./new", "--time", "1ms", "--no-save"]).ends(0);
    ended.complains("that is too few for a verdict");
}

#[test]
fn an_interrupt_in_the_first_round_is_told_as_one() {
    let room = builds("a 10\n", "a 10\n");
    // Trial runs have a time, rounds a number of iterations; names of directories may contain any
    // letter.
    let slow = "for word in \"$@\"; do case \"$word\" in --benchmark_min_time=*x) echo x >> rounds; exec sleep 60;; esac; done\n";
    for name in ["old", "new"] {
        let text = room.read(name).replacen("table=", &format!("{slow}table="), 1);
        room.write(name, &text);
    }
    let assay = start(room.assay(&["bench", "./old", "./new", "--save", "s.assay"]));
    until("the first round begins", || room.path("rounds").exists());
    assay.interrupt_twice();
    assay.finish().ends(130).complains("before any benchmark was measured on both sides");
}

#[test]
fn a_program_of_benchmark_dotnet_is_driven_benchmark_by_benchmark() {
    let room = Room::new();
    room.write("dotnet", include_str!("fake-dotnet.sh"));
    fs::set_permissions(room.path("dotnet"), fs::Permissions::from_mode(0o755)).unwrap();
    room.write(
        "old.dll",
        "Bench.Words.Join(N: 10) 90\nBench.Words.Join(N: 1000) 900\nBench.Words.Sort 5000\n",
    );
    room.write(
        "new.dll",
        "Bench.Words.Join(N: 10) 90\nBench.Words.Join(N: 1000) 700\nBench.Words.Sort 5000\n",
    );
    let sides = ["bench", "./dotnet old.dll", "./dotnet new.dll"];
    let ended = room
        .run(&[&sides[..], &["--runs", "12", "--run-time", "1ms", "--save", "s.assay"]].concat())
        .ends(0);
    let ended = ended.complains("BenchmarkDotNet").complains("3 benchmarks");
    ended.shows("1 of 3 benchmarks is faster").shows("Join(N: 1000)");
    // Each process measured one benchmark; its time is per call, and the number of calls is known.
    let observed = room.records("s.assay", "obs");
    assert_eq!(observed.len(), 3 * 2 * 12);
    for values in observed.iter().map(|o| &o["values"]) {
        let (wall, calls) =
            (values["wall"].as_f64().unwrap(), values["iterations"].as_f64().unwrap());
        assert!(
            (8e-8..6e-6).contains(&wall) && (0.9e-3..1.2e-3).contains(&(wall * calls)),
            "{values}"
        );
    }
    room.write("dotnet", &include_str!("fake-dotnet.sh").replace("in_process=yes", "in_process="));
    let ended = room.run(&sides).ends(2);
    ended.complains("it lists no benchmark; it said: `// Build Exception: error NETSDK1045`");
}
