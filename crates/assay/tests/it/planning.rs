//! Plans: numbers as in R, pilots, and errors if too little is given.

use crate::room::{Room, data};
use serde_json::Value;

/// Asserts that a number equals the published one within a relative error.
fn close(ours: &Value, expected: f64, tolerance: f64) {
    let ours = ours.as_f64().unwrap_or(f64::NAN);
    assert!((ours / expected - 1.0).abs() <= tolerance, "{ours} instead of {expected}");
}

#[test]
fn every_plan_of_r_is_reproduced() {
    let Some(directory) = std::env::var_os("ASSAY_TEST_DATA") else {
        println!("skipped: ASSAY_TEST_DATA names no directory");
        return;
    };
    let path = std::path::Path::new(&directory).join("oracles/expected.json");
    let expected: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let room = Room::new();
    let cases = expected.as_object().unwrap().iter().filter(|(case, _)| case.starts_with("power:"));
    let mut compared = 0;
    for (_, case) in cases {
        let case = &case["power_t_test"];
        let mut arguments = vec!["plan".to_owned()];
        for (name, value) in case["inputs"].as_object().unwrap() {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            match name.as_str() {
                "strict" => arguments.push("--strict".to_owned()),
                "sig.level" => arguments.extend(["--alpha".to_owned(), text]),
                name => arguments.extend([format!("--{name}"), text]),
            }
        }
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let ours = room.json(&arguments);
        for key in ["n", "delta", "sd", "sig_level", "power"] {
            close(&ours["power_t_test"][key], case[key].as_f64().unwrap(), 1e-6);
            compared += 1;
        }
        assert_eq!(ours["rank"]["reason"], "a simulation needs a pilot");
    }
    assert!(compared >= 420, "{compared}");
}

#[test]
fn a_published_pilot_plans_fourteen_thousand_where_the_rule_says_thirty_five() {
    let Some(directory) = std::env::var_os("ASSAY_TEST_DATA") else {
        println!("skipped: ASSAY_TEST_DATA names no directory");
        return;
    };
    let pilot = std::path::Path::new(&directory).join("data/jaybeams/part4-data.csv.gz");
    let pilot = pilot.to_str().unwrap();
    let plan = Room::new().json(&[
        "plan", "--pilot", pilot, "--by", "1", "--value", "2", "--unit", "ns", "--delta",
        "6.667us", "--alpha", "0.01", "--power", "0.95",
    ]);
    assert_eq!(
        (&plan["rank"]["n"], &plan["rank"]["founded_on"]),
        (&14_000.into(), &"simulation".into())
    );
    close(&plan["rank"]["rule_of_thumb"]["n"], 34_341.13, 0.01);
    assert_eq!(plan["pilot"]["n"], 20_000);
    close(&plan["power_t_test"]["n"], 29_861.85, 0.01);
    assert!(plan["sentence"].as_str().unwrap().starts_with("14,000 runs of each:"), "{plan}");
}

#[test]
fn a_published_pilot_that_was_dependent_plans_many_times_as_many() {
    let Some(directory) = std::env::var_os("ASSAY_TEST_DATA") else {
        println!("skipped: ASSAY_TEST_DATA names no directory");
        return;
    };
    let pilot = std::path::Path::new(&directory).join("data/jaybeams/part5-data-ni.csv.gz");
    let pilot = pilot.to_str().unwrap();
    let plan = Room::new().json(&[
        "plan", "--pilot", pilot, "--by", "1", "--value", "2", "--unit", "ns", "--delta",
        "6.667us", "--alpha", "0.01", "--power", "0.95",
    ]);
    let factor = plan["pilot"]["runs_per_independent"].as_f64().unwrap();
    assert!(factor > 100.0, "{factor}");
    let independent = plan["power_t_test"]["n"].as_f64().unwrap();
    close(&plan["rank"]["rule_of_thumb"]["n"], 1.15 * factor * independent, 1e-6);
    let sentence = plan["sentence"].as_str().unwrap();
    assert!(
        sentence.contains("runs carry as much information as one independent run, as in the pilot"),
        "{sentence}"
    );
}

#[test]
fn the_same_pilot_and_seed_plan_the_same_to_the_digit() {
    let room = Room::new();
    let (a, b) = (data("lnorm_a.txt"), data("lnorm_b.txt"));
    let arguments = ["plan", "--pilot", a.as_str(), b.as_str(), "--delta", "5%"];
    let first = room.json(&arguments);
    assert_eq!(first, room.json(&arguments));
    assert!(first["rank"]["simulated_n"].as_f64().unwrap() > 10.0, "{first}");
    let other = room.json(&[&arguments[..], &["--seed", "2"]].concat());
    assert_ne!(first["pilot"]["sd"], other["pilot"]["sd"]);
}

#[test]
fn a_pilot_in_blocks_plans_blocks_and_minutes() {
    let room = Room::new();
    let pilot = data("sorting.assay");
    let finer = room.json(&["plan", "--pilot", &pilot, "--threshold", "1%", "--blocks"]);
    let coarser = room.json(&["plan", "--pilot", &pilot, "--threshold", "4%", "--blocks"]);
    let needed = |plan: &Value, how: &str| plan["blocks"][how]["to_find"].as_u64().unwrap();
    assert!(needed(&finer, "sequential") > needed(&finer, "fixed"));
    assert!(needed(&finer, "fixed") > 10 * needed(&coarser, "fixed"));
    assert!(finer["blocks"]["seconds_per_block"].as_f64().unwrap() > 0.0);
    let files = data("lnorm_a.txt");
    let ended = room.run(&["plan", "--pilot", &files, "--delta", "1%", "--blocks"]).ends(2);
    assert!(ended.stderr.contains("--blocks needs a pilot in blocks"), "{}", ended.stderr);
}

#[test]
fn pairs_are_planned_by_their_differences() {
    let room = Room::new();
    let (a, b) = (data("lnorm_a.txt"), data("lnorm_b.txt"));
    let plan = room.json(&["plan", "--pilot", &a, &b, "--delta", "5%", "--type", "paired"]);
    assert_eq!(plan["pilot"]["spreads"].as_array().unwrap().len(), 1);
    assert!(plan["rank"]["formula_n"].as_f64().unwrap() > 5.0, "{plan}");
    let few = data("ties_b.txt");
    let ended =
        room.run(&["plan", "--pilot", &a, &few, "--delta", "5%", "--type", "paired"]).ends(2);
    assert!(ended.stderr.contains("the same number of values of both"), "{}", ended.stderr);
}

#[test]
fn a_calibrated_machine_tells_how_long_a_percentage_takes() {
    let room = Room::new();
    let asked = ["plan", "--delta", "1%", "--sd", "3%"];
    room.run(&asked).ends(0).shows("`assay calibrate` which");
    assert!(room.json(&asked)["here"].is_null());
    let amounts = room.run(&["plan", "--delta", "1ms", "--sd", "3ms"]).ends(0);
    assert!(!amounts.stdout.contains("calibrate"), "{}", amounts.stdout);
}

#[test]
fn what_this_machine_can_tell_makes_minutes_of_a_percentage() {
    let room = Room::new();
    room.run(&["run", "--save", "known.assay", "-r", "2", "sh -c :", "sh -c :"]).ends(0);
    let machine = room.records("known.assay", "environment").remove(0);
    let mut kept = serde_json::json!({
        "calibrated_at": "2026-01-02", "calibrated_wall_60s": 0.02, "calibrated_cpu_60s": 0.01,
    });
    for fact in ["hostname", "cpu_model", "cpus_online"] {
        kept[fact] = machine[fact].clone();
    }
    std::fs::create_dir_all(room.path("state/assay")).unwrap();
    room.write("state/assay/calibration.json", &kept.to_string());
    // Half of the difference that is detectable in a minute takes four minutes.
    let asked = ["plan", "--delta", "1%", "--sd", "3%"];
    room.run(&asked).ends(0).shows("time: about 4 min of `assay run A B` here").shows("2026-01-02");
    let here = room.json(&asked)["here"].clone();
    assert_eq!(here["in_a_minute"], 0.02);
    close(&here["seconds"], 240.0, 1e-9);
    // A calibration of another machine does not apply to this one.
    kept["hostname"] = "elsewhere".into();
    room.write("state/assay/calibration.json", &kept.to_string());
    room.run(&asked).ends(0).shows("`assay calibrate` which");
}

#[test]
fn the_metric_of_a_pilot_is_chosen_by_primary() {
    let room = Room::new();
    let pilot = data("sorting.assay");
    let asked = ["plan", "--pilot", &pilot, "--threshold", "1%"];
    let metric = |more: &[&str]| room.json(&[&asked[..], more].concat())["pilot"]["metric"].clone();
    assert_eq!(metric(&[]), "wall");
    assert_eq!(metric(&["--primary", "cpu"]), "cpu");
    room.run(&[&asked[..], &["--primary", "colour"]].concat())
        .ends(2)
        .complains("no metric `colour`");
    let lognormal = data("lnorm_a.txt");
    let named = ["plan", "--pilot", &lognormal, "--metric", "latency", "--delta", "1%"];
    assert_eq!(room.json(&named)["pilot"]["metric"], "latency");
}

#[test]
fn a_threshold_is_read_as_everywhere() {
    let room = Room::new();
    let (a, b) = (data("lnorm_a.txt"), data("lnorm_b.txt"));
    for verb in [&["compare", a.as_str(), b.as_str()][..], &["plan", "--pilot", a.as_str()]] {
        let with = |threshold| [verb, &["--threshold", threshold]].concat();
        room.run(&with("2")).ends(2).complains("`2` of what?").complains("`2units`");
        room.run(&with("2units")).ends(0);
    }
    let plan = |option| room.json(&["plan", "--pilot", &a, option, "2units"])["rank"].clone();
    assert_eq!(plan("--threshold"), plan("--delta"));
}

#[test]
fn what_can_not_be_planned_is_told_with_what_to_do() {
    let room = Room::new();
    let (lognormal, constant) = (data("lnorm_a.txt"), data("const_a.txt"));
    let scaled = |power: &str| (1..=20).map(|n| format!("1.{n:02}e{power}\n")).collect::<String>();
    room.write("huge.txt", &scaled("307"));
    room.write("tiny.txt", &scaled("-310"));
    for (arguments, told) in [
        (&["--delta", "1ms"][..], "Give --pilot FILE"),
        (&["--sd", "1ms"], "neither the number of runs nor the difference is given"),
        (
            &["--n", "9", "--delta", "1", "--sd", "1", "--alpha", "1%", "--power", "90%"],
            "nothing to calculate",
        ),
        (&["--delta", "1ms", "--sd", "4%"], "give both in the same unit"),
        (&["--delta", "1ms", "--sd", "3KiB"], "give both in the same unit"),
        (
            &["--delta", "1", "--sd", "1", "--power", "0.01"],
            "the power must be above the significance",
        ),
        (&["--delta", "1e-9", "--sd", "1"], "about 1.8e19 runs of each would be needed"),
        (&["--delta", "0", "--sd", "1"], "greater than 0"),
        (&["--delta", "1", "--sd", "1", "--alpha", "5"], "between 0 and 1"),
        (&["--delta", "1ms", "--pilot", &lognormal], "name the unit of the numbers (--unit us)"),
        (&["--delta", "1", "--unit", "ms", "--pilot", &lognormal], "of what?"),
        (&["--delta", "1%", "--pilot", &constant], "all values of the pilot are equal"),
        (&["--delta", "1%", "--pilot", "huge.txt"], "so large or so small"),
        (&["--delta", "1%", "--pilot", "tiny.txt"], "so large or so small"),
        (&["--delta", "1%", "--pilot", "nowhere.txt"], "nowhere.txt"),
        (&["--delta", "1", "--sd", "1", "--blocks"], "--pilot"),
        (&["--pilot", "a.assay", "--blocks", "--alternative", "less"], "cannot be used with"),
        (&["--pilot", "a.assay", "--blocks", "--type", "paired"], "cannot be used with"),
        (&["--pilot", "a.assay", "--blocks", "--strict"], "cannot be used with"),
        (&["--delta", "1ms", "--threshold", "1ms"], "cannot be used with"),
    ] {
        let ended = room.run(&[&["plan"], arguments].concat()).ends(2);
        assert!(ended.stderr.contains(told), "{arguments:?}: {}", ended.stderr);
    }
}
