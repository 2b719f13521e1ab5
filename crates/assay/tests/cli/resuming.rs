//! `--resume`: a run that goes on is the run that it would have been, or it is refused.

use crate::room::{Room, codes};

const RUN: [&str; 8] = ["run", "--save", "x.assay", "-n", "9", "--seed", "5", "--warmup=0"];

/// A recorded run of nine blocks of which only some observations are left, as a crash leaves it.
fn broken_off(room: &Room, observations: usize) {
    room.run(&[&RUN[..], &["sh a.sh", "sh b.sh"]].concat()).ends(0);
    let text = room.read("x.assay");
    let mut kept = 0;
    let lines = text.lines().filter(|line| {
        kept += usize::from(line.starts_with("{\"kind\":\"obs\""));
        kept <= observations && !line.starts_with("{\"kind\":\"stop\"")
    });
    let text: Vec<&str> = lines.collect();
    // The last line breaks off, too.
    room.write("x.assay", &format!("{}\n{{\"kind\":\"obs\",\"subj", text.join("\n")));
}

fn scripts(room: &Room) {
    room.write("a.sh", "echo a >> log");
    room.write("b.sh", "echo b >> log");
}

#[test]
fn a_run_that_was_killed_goes_on_where_it_was() {
    let room = Room::new();
    scripts(&room);
    broken_off(&room, 7);
    let before = room.read("log").lines().count();
    let result = room.json(&["run", "--resume", "x.assay"]);
    assert_eq!(result["blocks"], 9);
    assert!(codes(&result).contains(&"RESUMED"), "{:?}", codes(&result));
    // No warm-up was asked for, so eleven runs are what was lacking.
    assert_eq!(room.read("log").lines().count() - before, 11);
    assert_eq!(room.records("x.assay", "obs").len(), 18);
    let again = room.json(&["compare", "x.assay"]);
    assert_eq!(again["comparisons"], result["comparisons"]);
    let times: Vec<f64> =
        room.records("x.assay", "obs").iter().map(|o| o["t"].as_f64().unwrap()).collect();
    assert!(times.is_sorted(), "{times:?}");
    // There is nothing left to do.
    let runs = room.read("log").lines().count();
    room.run(&["run", "--resume", "x.assay"]).ends(0).complains("nothing to go on with");
    assert_eq!(room.read("log").lines().count(), runs);
}

#[test]
fn another_program_another_command_another_machine_is_refused() {
    let room = Room::new();
    scripts(&room);
    broken_off(&room, 7);
    room.write("b.sh", "echo b >> log; :");
    let refused = room.run(&["run", "--resume", "x.assay"]).ends(2);
    refused.complains("b.sh").complains("has changed").complains("--force");
    let result = room.json(&["run", "--resume", "x.assay", "--force"]);
    assert!(codes(&result).contains(&"RESUMED_DIFFERENT"), "{:?}", codes(&result));

    let room = Room::new();
    scripts(&room);
    broken_off(&room, 7);
    let other = ["run", "--resume", "x.assay", "--warmup=0", "sh a.sh", "sh a.sh"];
    room.run(&other).ends(2).complains("now it is `sh a.sh`");
    let more = ["run", "--resume", "x.assay", "--warmup=0", "-n", "20", "sh a.sh", "sh b.sh"];
    room.run(&more).ends(2).complains("--runs");
    let text = room.read("x.assay");
    let moved = text.replace("\"cpu_model\":\"", "\"cpu_model\":\"Other ");
    assert_ne!(text, moved);
    room.write("x.assay", &moved);
    room.run(&["run", "--resume", "x.assay"]).ends(2).complains("CPU");
    room.write("x.assay", &text);
    let log = room.read("log").lines().count();
    let same = ["run", "--resume", "x.assay", "--warmup=0", "sh a.sh", "sh b.sh"];
    room.run(&same).ends(0);
    assert_eq!(room.read("log").lines().count(), log + 11);
}

#[test]
fn what_is_no_recorded_run_is_refused() {
    let room = Room::new();
    room.run(&["run", "--resume", "nowhere.assay"]).ends(2).complains("nowhere.assay");
    room.write("numbers.assay", "{\"assay\":1,\"kind\":\"run\"}\n");
    room.run(&["run", "--resume", "numbers.assay"]).ends(2).complains("not begun by");
    room.run(&["run", "--resume", "numbers.assay", "--save", "y.assay", "true"]).ends(2);
    room.run(&["run"]).ends(2).complains("COMMAND");
}
