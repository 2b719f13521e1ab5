//! The cause of a difference, from a record and from sampled runs.

use crate::room::Room;
use serde_json::Value;

/// Measures a command that sleeps against one that sleeps three times as long.
fn slept(room: &Room) {
    room.run(&["run", "-r", "10", "--save", "r.assay", "sleep 0.01", "sleep 0.2"]).ends(0);
}

fn first(explained: &Value) -> (&str, &str) {
    let cause = &explained["causes"][0];
    (cause["kind"].as_str().unwrap_or_default(), cause["part"].as_str().unwrap_or_default())
}

#[test]
fn a_command_that_sleeps_for_longer_waits() {
    let room = Room::new();
    slept(&room);
    let explained = room.json(&["why", "r.assay"]);
    assert_eq!(first(&explained).1, "waiting", "{explained:#}");
    let share = &explained["causes"][0]["share"];
    assert!(share["lower"].as_f64().is_some_and(|lower| lower > 0.5), "{share}");
    let sentence = explained["sentence"].as_str().unwrap();
    assert!(sentence.contains("of the difference is waiting"), "{sentence}");
    let screen = room.run(&["why", "r.assay"]).ends(0).stdout;
    let answer: Vec<&str> = screen.lines().take_while(|line| !line.is_empty()).collect();
    assert_eq!(
        answer.join(" ").split_whitespace().collect::<Vec<_>>().join(" "),
        sentence.split_whitespace().collect::<Vec<_>>().join(" ")
    );
    let schema: Value = serde_json::from_str(&room.run(&["schema", "why"]).ends(0).stdout).unwrap();
    assert_eq!(crate::room::schema::problems(&schema, &explained), Vec::<String>::new());
}

#[test]
fn an_explanation_is_written_as_markdown_and_json() {
    let room = Room::new();
    slept(&room);
    room.run(&["why", "r.assay", "--export", "why.md", "--export", "why.json"]).ends(0);
    assert!(room.read("why.md").starts_with("**"), "{}", room.read("why.md"));
    assert_eq!(
        room.json(&["why", "r.assay"]),
        serde_json::from_str::<Value>(&room.read("why.json")).unwrap()
    );
    let refused = room.run(&["why", "r.assay", "--export", "why.csv"]).ends(2);
    assert!(refused.stderr.contains(".json or .md"), "{}", refused.stderr);
}

#[test]
fn a_run_can_end_with_the_cause() {
    let room = Room::new();
    let ended = room.run(&["run", "--why", "-r", "10", "sleep 0.01", "sleep 0.2"]).ends(0);
    assert!(ended.stdout.contains("of the difference is waiting"), "{}", ended.stdout);
    assert!(ended.stdout.contains("--measure"), "{}", ended.stdout);
}

#[test]
fn different_output_comes_first() {
    let room = Room::new();
    let (old, new) = ("sleep 0.01; echo a", "sleep 0.2; echo b");
    room.run(&["run", "-r", "10", "-S", "sh", "--save", "r.assay", old, new]).ends(0);
    let explained = room.json(&["why", "r.assay"]);
    assert_eq!(first(&explained).0, "output", "{explained:#}");
}

#[test]
fn what_cannot_be_explained_says_why() {
    let room = Room::new();
    room.write("old.txt", "1\n2\n3\n2\n1\n2\n3\n2\n1\n2\n");
    room.write("new.txt", "11\n12\n13\n12\n11\n12\n13\n12\n11\n12\n");
    let explained = room.json(&["why", "old.txt", "new.txt"]);
    assert_eq!(explained["causes"], serde_json::json!([]));
    let sentence = explained["sentence"].as_str().unwrap();
    assert!(sentence.starts_with("No part explains the difference"), "{sentence}");
    let same = room.run(&["why", "old.txt", "old.txt"]).ends(0).stdout;
    assert!(same.contains("nothing to explain"), "{same}");
    let alone = room.run(&["why", "old.txt"]).ends(2).stderr;
    assert!(alone.contains("nothing to compare it with"), "{alone}");
    // Separate recordings of times have parts too.
    room.run(&["run", "-r", "10", "--save", "old.assay", "sleep 0.01"]).ends(0);
    room.run(&["run", "-r", "10", "--save", "new.assay", "sleep 0.2"]).ends(0);
    let apart = room.json(&["why", "old.assay", "new.assay"]);
    assert_eq!(first(&apart).1, "waiting", "{apart:#}");
    let named = room.run(&["why", "old.txt", "new.txt", "--of", "newer"]).ends(2).stderr;
    assert!(named.contains("`new`"), "{named}");
    let sampled = room.run(&["why", "old.txt", "new.txt", "--measure"]).ends(2).stderr;
    assert!(sampled.contains("--measure"), "{sampled}");
    let lone = room.run(&["why", "old.txt", "new.txt", "--rate", "99"]).ends(2).stderr;
    assert!(lone.contains("add --measure"), "{lone}");
}

#[test]
fn nothing_of_a_record_runs_unless_it_is_asked_for() {
    let room = Room::new();
    let line = "sleep 0.01; echo x >> ran";
    room.run(&["run", "-r", "10", "-S", "sh", "--save", "r.assay", line, "sleep 0.2"]).ends(0);
    let before = room.read("ran");
    room.run(&["why", "r.assay"]).ends(0);
    assert_eq!(room.read("ran"), before);
}
