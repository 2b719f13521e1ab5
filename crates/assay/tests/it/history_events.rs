//! `assay history trend` without a benchmark: the changes of all of them, with well-formed and
//! malformed input.

use crate::history::{history, recorded, repository};
use crate::room::{Room, finish};
use serde_json::Value;
use std::fmt::Write;

const RUNS: u32 = 40;

/// Level of a benchmark in a run, as a factor.
type Level = fn(u32, u32) -> f64;

/// Creates runs of six benchmarks, one commit each, and adds all runs together.
fn project(level: Level, change: impl Fn(u32, &mut String)) -> Room {
    let room = repository();
    let mut line = String::new();
    for run in 0..RUNS {
        let mut rows = Vec::new();
        for benchmark in 0..6 {
            // Runs differ by about 2 %, in an order without a pattern.
            let noise = 1.0 + f64::from((run * (7 + 2 * benchmark) + benchmark) % 23) / 1150.0;
            let time = 100.0 * f64::from(benchmark + 1) * noise * level(benchmark, run);
            for i in 0..3 {
                let time = time * (1.0 + f64::from(i) / 1000.0);
                rows.push(format!(
                    r#"{{"name": "BM_{benchmark}", "run_name": "BM_{benchmark}", "run_type": "iteration", "iterations": 9, "real_time": {time}, "cpu_time": {time}, "time_unit": "ns"}}"#
                ));
            }
        }
        let day = format!("2026-05-{:02}T{:02}:00:00+00:00", 1 + run / 2, 8 + run % 2);
        let mut text = format!(
            r#"{{"context": {{"date": "{day}", "host_name": "build-1"}}, "benchmarks": [{}]}}"#,
            rows.join(", ")
        );
        change(run, &mut text);
        room.write(&format!("{run}.json"), &text);
        let _infallible = write!(
            line,
            "git -c user.name=a -c user.email=b commit -q --allow-empty -m {run} && $ASSAY history add -q {run}.json --rev HEAD && "
        );
    }
    finish(room.shell(&format!("{line} true"))).ends(0);
    room
}

/// Makes three of six benchmarks about a tenth slower from run 20 on, by different amounts.
fn slower(benchmark: u32, run: u32) -> f64 {
    if benchmark < 3 && run >= 20 { 1.1 + 0.02 * f64::from(benchmark) } else { 1.0 }
}

fn events(room: &Room) -> Value {
    room.json(&["history", "trend"])
}

fn codes(events: &Value) -> Vec<&str> {
    events["findings"].as_array().unwrap().iter().map(|f| f["code"].as_str().unwrap()).collect()
}

#[test]
fn what_happened_to_all_benchmarks_is_one_event_and_says_what_narrows_it() {
    let room = project(slower, |run, text| {
        // One benchmark is missing at the end.
        if run >= 37 {
            *text = text.replace("BM_5", "BM_renamed");
        }
    });
    let told = events(&room);
    let [event] = told["events"].as_array().unwrap().as_slice() else { unreachable!("{told}") };
    assert_eq!((&event["worse"], &event["better"]), (&3.into(), &0.into()));
    let names: Vec<&Value> =
        event["changes"].as_array().unwrap().iter().map(|change| &change["benchmark"]).collect();
    assert_eq!(names, ["BM_2", "BM_1", "BM_0"]);
    let size = event["changes"][0]["ratio"]["estimate"].as_f64().unwrap();
    assert!((1.12..1.16).contains(&size), "{size}");
    // The range is valid for git, and covers no more commits than stated in the JSON.
    let narrow = event["narrow"].as_str().unwrap();
    assert!(narrow.starts_with("git "), "{narrow}");
    let listed = format!(
        "git log --oneline --first-parent {}..{} | wc -l",
        event["after_commit"].as_str().unwrap(),
        event["up_to_commit"].as_str().unwrap()
    );
    let counted = finish(room.shell(&listed)).ends(0).stdout.trim().to_owned();
    assert_eq!(counted, event["commits"].to_string());
    assert_eq!(codes(&told), ["BENCHMARKS_MISSING", "TOO_FEW_RUNS"]);
    let screen = history(&room, &["trend"]).ends(0);
    screen
        .shows("1 event in ")
        .shows("3 of 7 series changed")
        .shows("3 series worse, ")
        .shows("BM_2 wall")
        .shows("next: git ")
        .shows("BM_5 is gone");
    // Under its other name it is not missing.
    history(&room, &["alias", "BM_5", "BM_renamed"]).ends(0);
    assert!(codes(&events(&room)).is_empty());
    history(&room, &["trend", "--machine", "elsewhere"]).ends(2).complains("has no results");
    history(&room, &["trend", "--metric", "nonsense"]).ends(2).complains("the metrics are");
    history(&room, &["trend", "--metric", "cpu", "--all"]).ends(0).shows("BM_0 cpu");
    history(&room, &["trend", "BM_0", "--all"]).ends(2);
    // The pages have the same content.
    history(&room, &["site", "out"]).ends(0);
    let page = room.read("out/index.html");
    assert!(
        page.contains("<strong>3 series worse</strong>") && page.contains(">BM_2</a>"),
        "{page}"
    );
    assert_eq!(page.matches("in the ").count() + page.matches("with commit ").count(), 1);
}

#[test]
fn what_creeps_is_no_event_and_is_said() {
    let room = project(
        |benchmark, run| if benchmark == 4 { 1.0 + 0.003 * f64::from(run) } else { 1.0 },
        |_, _| {},
    );
    let told = events(&room);
    assert_eq!((told["events"].as_array().unwrap().len(), codes(&told)), (0, vec!["CREEP"]));
    history(&room, &["trend"])
        .ends(0)
        .shows("nothing changed in ")
        .shows("BM_4 gets worse steadily from ");
    history(&room, &["trend", "BM_4"])
        .ends(0)
        .shows("wall of BM_4 has been getting worse steadily since ");
}

#[test]
fn of_too_few_runs_nothing_is_known() {
    let room = Room::new();
    for number in 0..4 {
        room.write("own.txt", &format!("BenchmarkX 100 {} ns/op\n", 200 + number));
        room.run(&["history", "add", "--machine", "m", "own.txt"]).ends(0);
    }
    let shown = room.run(&["history", "trend"]).ends(0);
    shown.shows("whether anything changed in ").shows("is not known yet");
    let shown = room.run(&["history", "trend", "BenchmarkX"]).ends(0);
    shown.shows("whether wall of BenchmarkX changed is not known yet: 6 more runs are needed");
}

#[test]
fn a_level_of_three_runs_is_no_event_and_says_how_many_more_would_make_it_one() {
    let room =
        project(|benchmark, run| if benchmark == 2 && run < 3 { 0.5 } else { 1.0 }, |_, _| {});
    let said = events(&room);
    assert_eq!((said["events"].as_array().unwrap().len(), codes(&said)), (0, vec!["TOO_FEW_RUNS"]));
    history(&room, &["trend"]).ends(0).shows("nothing changed in ").shows("3 runs of BM_2");
    history(&room, &["trend", "BM_2"])
        .ends(0)
        .shows("wall of BM_2 may have changed for the worse: 2 more runs will show");
    history(&room, &["trend", "BM_1"]).ends(0).shows("did not change");
}

#[test]
fn clocks_that_go_back_leave_the_event_where_it_is() {
    let room = project(slower, |run, text| {
        let day = |run: u32| format!("2026-05-{:02}T{:02}:00:00+00:00", 1 + run / 2, 8 + run % 2);
        *text = text.replace(&day(run), &day(RUNS - 1 - run));
    });
    let told = events(&room);
    let [event] = told["events"].as_array().unwrap().as_slice() else { unreachable!("{told}") };
    assert_eq!((&event["worse"], &event["better"]), (&3.into(), &0.into()));
    assert!(event["commits"].as_u64().unwrap() <= 9, "{event}");
}

#[test]
fn a_rewritten_history_and_unknown_revisions_have_events_that_nothing_narrows() {
    let room = repository();
    recorded(&room, 30, 1.2);
    assert!(events(&room)["events"][0]["narrow"].is_string());
    let line = "git checkout -q --orphan fresh && git -c user.name=a -c user.email=b commit -q --allow-empty -m fresh \
                && git branch -q -D main && git tag -d $(git tag) >/dev/null \
                && git reflog expire --expire=now --all && git gc -q --prune=now";
    finish(room.shell(line)).ends(0);
    let told = events(&room);
    assert_eq!(
        (&told["events"][0]["narrow"], codes(&told)),
        (&Value::Null, vec!["COMMITS_MISSING"])
    );
    assert!(told["events"][0]["up_to_commit"].is_string());
    // No revision at all, and names that are not commits.
    let unknown = Room::new();
    for number in 0..30 {
        let name = format!("{number}.json");
        let time = if number < 15 { 100.0 } else { 130.0 };
        crate::history::suite(&unknown, &name, [time + f64::from(number * 7 % 5), 50.0]);
        let day = format!("2026-05-01T{:02}:{:02}", number / 60, number % 60);
        unknown.write(&name, &unknown.read(&name).replace("2026-05-01T12:00", &day));
        let revision: &[&str] = if number % 3 == 0 { &["--rev", "nightly"] } else { &[] };
        history(&unknown, &[&["add", "-q", &name, "--store", "own.db"], revision].concat());
    }
    let told = unknown.json(&["history", "trend", "--store", "own.db"]);
    let event = &told["events"][0];
    assert_eq!(
        (&event["worse"], &event["narrow"], &event["commits"]),
        (&1.into(), &Value::Null, &Value::Null)
    );
    history(&unknown, &["trend", "--store", "own.db"]).ends(0).shows("1 event in ");
}

#[test]
fn a_unit_that_changed_is_no_event() {
    let room = Room::new();
    for number in 0..40 {
        let unit = if number < 20 { "B" } else { "s" };
        let name = format!("{number}.csv");
        let rows: String = (0..5).map(|i| format!("a,{}\n", number * 7 % 5 + i)).collect();
        room.write(&name, &format!("name,value\n{rows}"));
        let add = [
            "add", "-q", "--by", "name", "--value", "value", "--unit", unit, &name, "--store",
            "own.db",
        ];
        history(&room, &add).ends(0);
    }
    let told = room.json(&["history", "trend", "--store", "own.db"]);
    assert_eq!(
        (told["events"].as_array().unwrap().len(), codes(&told)),
        (0, vec!["RUNS_LEFT_OUT"])
    );
    history(&room, &["trend", "a", "--store", "own.db"])
        .ends(0)
        .shows("was recorded in B before, and is in s now");
}
