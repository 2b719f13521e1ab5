//! `assay calibrate` and `assay doctor`: what they measure, show, keep and hand on.

use crate::room::{Room, codes};

#[test]
fn a_calibration_is_shown_kept_and_used_by_later_runs() {
    let room = Room::new();
    let result = room.json(&["calibrate", "--time", "6"]);
    let methods = result["methods"].as_array().unwrap();
    let names: Vec<&str> = methods.iter().map(|m| m["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"alternating") && names.len() == 5, "{names:?}");
    assert!(methods.iter().all(|m| m["comparisons"].as_u64() > Some(10)), "{methods:?}");
    let kept = room.read("state/assay/calibration.json");
    assert!(kept.contains("calibrated_wall_60s"), "{kept}");
    // Nobody sees a millionth in a minute.
    let run =
        room.json(&["run", "--no-save", "-n", "3", "--threshold", "0.0001%", "sh -c :", "sh -c :"]);
    assert!(codes(&run).contains(&"BELOW_SIGHT"), "{:?}", codes(&run));
}

#[test]
fn a_series_can_be_recorded_and_labelled_afterwards() {
    let room = Room::new();
    room.run(&["calibrate", "--time", "3", "--record", "series.assay", "sh -c :"]).ends(0);
    let runs = room.records("series.assay", "obs").len();
    let result = room.json(&["calibrate", "--from", "series.assay", "--no-save"]);
    assert_eq!(result["runs"].as_u64(), Some(runs as u64));
    assert!(!room.path("state/assay/calibration.json").exists());
    room.write("two.assay", "{\"assay\":1,\"kind\":\"run\"}\n");
    room.run(&["calibrate", "--from", "two.assay"]).ends(2).complains("two.assay");
}

#[test]
fn the_doctor_says_what_disturbs_and_what_it_costs() {
    let room = Room::new();
    let result = room.json(&["doctor", "--time", "2"]);
    let costs = result["costs"].as_array().unwrap();
    assert!(!costs.is_empty());
    for trial in costs {
        assert!(trial["before"]["median"].as_f64() > Some(0.0), "{trial}");
    }
    assert!(result["machine"].is_string());
    room.run(&["doctor", "--quick"]).ends(0);
}
