//! `assay compare --rigorous`: golden screens from fixed files, the exit statuses, and a published
//! result from its own data.

use crate::room::{Room, data, finish};
use insta::assert_snapshot;
use serde_json::Value;
use std::io::Write;

const DOCUMENTED: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/concepts/four-step-check.in");

/// Returns what the protocol prints, started in the directory of the files so that their names are
/// short.
fn shown(directory: &str, columns: usize, arguments: &[&str]) -> String {
    let room = Room::new();
    let mut command = room.assay(&[&["compare", "--rigorous"], arguments].concat());
    command.current_dir(directory).env("COLUMNS", columns.to_string());
    let ended = finish(command).ends(0);
    assert_eq!(ended.stderr, "");
    ended.stdout.replace(env!("CARGO_PKG_VERSION"), "VERSION")
}

fn documented(columns: usize) -> String {
    shown(DOCUMENTED, columns, &["--unit", "us", "--threshold", "12us", "old.txt", "new.txt"])
}

#[test]
fn every_step_has_its_line_at_every_width() {
    for columns in [40, 80, 120] {
        assert_snapshot!(format!("protocol_{columns}"), documented(columns));
    }
}

#[test]
fn blocks_one_subject_three_subjects_and_constants() {
    let cases: [(&str, &[&str]); 5] = [
        ("protocol_blocks", &["--threshold", "20%", "sorting.assay"]),
        ("protocol_too_few", &["sorting.assay"]),
        ("protocol_three", &["--threshold", "30%", "three.assay"]),
        ("protocol_alone", &["--threshold", "20%", "lnorm_a.txt"]),
        ("protocol_constant", &["const_a.txt", "const_b.txt"]),
    ];
    for (name, arguments) in cases {
        assert_snapshot!(name, shown(&data(""), 100, arguments));
    }
}

#[test]
fn json_for_programs() {
    let arguments = ["--json", "--unit", "us", "--threshold", "12us", "old.txt", "new.txt"];
    let text = shown(DOCUMENTED, 80, &arguments);
    let report: Value = serde_json::from_str(&text).unwrap();
    let protocol = &report["rigorous"];
    assert_eq!(protocol["outcome"], "passed");
    let chain = &protocol["chains"][0];
    assert_eq!((&chain["of"], &chain["against"]), (&"new".into(), &"old".into()));
    let names: Vec<&str> =
        chain["steps"].as_array().unwrap().iter().map(|s| s["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["validity", "power", "test", "effect"]);
    // The protocol's shift is that of the corresponding comparison.
    let effect = &chain["steps"][3]["numbers"];
    assert_eq!(effect["hodges_lehmann"], report["comparisons"][0]["shift"]["estimate"]);
    assert!(chain["sentence"].as_str().is_some_and(|s| s.contains("new takes")));
}

#[test]
fn the_reference_can_be_named() {
    let room = Room::new();
    let (old, new) = (format!("{DOCUMENTED}/old.txt"), format!("{DOCUMENTED}/new.txt"));
    let arguments = ["compare", "--rigorous", "--threshold", "12", &old, &new];
    let forth = room.run(&arguments).ends(2);
    forth.complains("12");
    let arguments = ["compare", "--rigorous", "--threshold", "12us", "--unit", "us", &old, &new];
    let (forth, back) =
        (room.json(&arguments), room.json(&[&arguments[..], &["--reference", "new"]].concat()));
    let shift = |report: &Value| {
        report["rigorous"]["chains"][0]["steps"][3]["numbers"]["hodges_lehmann"].as_f64().unwrap()
    };
    assert_eq!(shift(&forth), -shift(&back));
    let back = &back["comparisons"][0];
    assert_eq!((&back["of"], &back["against"]), (&"old".into(), &"new".into()));
    room.run(&["compare", "--reference", "newer", &old, &new])
        .ends(2)
        .complains("newer")
        .complains("`new`");
}

#[test]
fn strict_fails_what_did_not_pass() {
    let room = Room::new();
    let (old, new) = (format!("{DOCUMENTED}/old.txt"), format!("{DOCUMENTED}/new.txt"));
    let run = |threshold: &str, status: i32| {
        let common = ["compare", "--rigorous", "--strict", "--unit", "us"];
        room.run(&[&common[..], &["--threshold", threshold, &old, &new]].concat()).ends(status);
    };
    run("12us", 0);
    // Too few for so small a difference, and an effect too small for so large a threshold.
    run("1us", 1);
    run("100us", 1);
    room.run(&["compare", "--alpha", "0.01", &old, &new]).ends(2).complains("--rigorous");
    room.run(&["compare", "--rigorous", "--alpha", "2", &old, &new]).ends(2).complains("0.01");
}

#[test]
fn every_test_stands_below_the_protocol_where_both_are_asked_for() {
    let room = Room::new();
    let (old, new) = (format!("{DOCUMENTED}/old.txt"), format!("{DOCUMENTED}/new.txt"));
    let asked = ["compare", "--rigorous", "--all", "--unit", "us", "--threshold", "12us"];
    let shown = room.run(&[&asked[..], &[&old, &new]].concat()).ends(0).stdout;
    let (_, below) = shown.split_once("You may publish:").unwrap();
    assert!(below.contains("new against old:") && below.contains("Brunner-Munzel"), "{shown}");
}

#[test]
fn numbers_without_a_unit_and_an_amount_with_one_are_told_how_to_meet() {
    let room = Room::new();
    let (old, new) = (format!("{DOCUMENTED}/old.txt"), format!("{DOCUMENTED}/new.txt"));
    let ended = room.run(&["compare", "--threshold", "1us", &old, &new]).ends(2);
    ended.complains("`value` has no unit").complains("--unit us").complains("2units");
    let ended = room.run(&["compare", "--threshold", "2units", "--unit", "us", &old, &new]).ends(2);
    ended
        .complains("has no unit, but `value` has the unit `s`")
        .complains("a percentage such as 1%");
}

#[test]
fn without_a_threshold_the_condition_stands_before_the_advice() {
    let room = Room::new();
    let spread = ("0\n".repeat(10) + "1\n").repeat(3);
    room.write("old.txt", &(spread.clone() + &"0\n".repeat(10)));
    room.write("new.txt", &(spread + &"0\n".repeat(10) + "1\n"));
    let flat = |shown: String| shown.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown = flat(room.run(&["compare", "old.txt", "new.txt"]).ends(0).stdout);
    assert!(shown.contains("between the recordings, but a share of 0 cannot"), "{shown}");
    assert!(shown.contains("give an amount (--threshold) (95 % confidence"), "{shown}");
    let shown = flat(room.run(&["compare", "--rigorous", "old.txt", "new.txt"]).ends(0).stdout);
    assert!(shown.contains("NOT REACHED since there is no threshold"), "{shown}");
}

#[test]
fn sides_of_different_size_are_explained() {
    let room = Room::new();
    let values = |n: u32, centre: f64| -> String {
        (0..n).map(|i| format!("{}\n", centre + f64::from(i * 7919 % 1009) / 100.0)).collect()
    };
    room.write("few.txt", &values(100, 100.0));
    room.write("many.txt", &values(900, 90.0));
    let shown = room.run(&["compare", "--rigorous", "few.txt", "many.txt"]).ends(0).stdout;
    let flat = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    for told in [
        "counted as ",
        " of each: 100 values of few",
        " and 900 values of many",
        " carry as much information as ",
    ] {
        assert!(flat.contains(told), "{told}: {shown}");
    }
}

#[test]
fn several_chains_begin_with_a_table_and_their_sections_name_them() {
    let room = Room::new();
    let three = data("three.assay");
    let asked = ["compare", "--rigorous", "--threshold", "30%", &three];
    let exports = ["--report", "p.html", "--export", "p.md"];
    let shown = room.run(&[&asked[..], &exports].concat()).ends(0).stdout;
    let (table, _) = shown.split_once("four-step check: ").unwrap();
    assert!(table.contains("outcome") && table.contains("did not pass"), "{shown}");
    assert_eq!(table.lines().filter(|line| line.contains(" - ")).count(), 2, "{shown}");
    let page = room.read("p.html");
    assert!(page.contains("<h2>The four-step check at a glance</h2>"));
    assert_eq!(page.matches("<h2>The four-step check: ").count(), 2);
    assert!(
        room.read("p.md")
            .contains("| pair | outcome | difference | 95 % interval | did not pass |")
    );
}

#[test]
fn exports_hold_the_protocol_too() {
    let room = Room::new();
    let (old, new) = (format!("{DOCUMENTED}/old.txt"), format!("{DOCUMENTED}/new.txt"));
    let exports = ["--export", "p.json", "--export", "p.md"];
    room.run(&[&["compare", "--rigorous", &old, &new], &exports[..]].concat()).ends(0);
    let report: Value = serde_json::from_str(&room.read("p.json")).unwrap();
    assert!(report["rigorous"]["chains"][0]["steps"].is_array());
    let markdown = room.read("p.md");
    let chain = &report["rigorous"]["chains"][0];
    for step in chain["steps"].as_array().unwrap() {
        let (name, status) = (step["name"].as_str().unwrap(), step["status"].as_str().unwrap());
        let row = format!(" {name} | {} |", status.to_uppercase().replace('_', " "));
        assert!(markdown.contains(&row), "{row}\n{markdown}");
    }
    let sentence = chain["sentence"].as_str().unwrap().split(" (").next().unwrap();
    assert!(markdown.contains(sentence), "{sentence}\n{markdown}");
}

#[test]
fn a_table_of_subjects_has_no_place_for_the_protocol() {
    let room = Room::new();
    let (old, new) = (format!("{DOCUMENTED}/old.txt"), format!("{DOCUMENTED}/new.txt"));
    let refused = room.run(&["compare", "--rigorous", &old, &new, "--export", "p.csv"]).ends(2);
    assert!(refused.stderr.contains("--export p.csv") && refused.stderr.contains(".md or .json"));
    assert!(!room.path("p.csv").exists());
    // Exporting the samples themselves is possible.
    room.run(&["compare", "--rigorous", &old, &new, "--export", "p.samples.csv"]).ends(0);
    assert!(!room.read("p.samples.csv").is_empty());
}

#[test]
fn the_page_draws_and_cites_what_the_protocol_did() {
    let room = Room::new();
    // Every comment is a fact of the environment, and there are many.
    let comments: String = (0..40).map(|i| format!("# fact{i}: {i}\n")).collect();
    for (name, centre) in [("old.txt", 100.0), ("new.txt", 90.0)] {
        let value = |i: u32| centre + f64::from(i * 7919 % 101) / 25.0;
        let values: String = (0..60).map(|i| format!("{}\n", value(i))).collect();
        room.write(name, &format!("{comments}{values}"));
    }
    let asked = ["--alpha", "0.02", "--power", "0.9", "--threshold", "3ms", "--unit", "ms"];
    let pages = ["--report", "p.html", "old.txt", "new.txt"];
    room.run(&[&["compare", "--rigorous"], &asked[..], &pages[..]].concat()).ends(0);
    let page = room.read("p.html");
    let methods = page.split("<h3>Methods</h3>").nth(1).unwrap();
    for cited in [
        "up to 10,000 resamples from the seed 1",
        "resampled 10,000 times from the seed 1",
        "at a significance of 2 % and a power of 90 %",
        "15 % more for a rank test (Lehmann 1975)",
        "corrections for ties and continuity",
        "Lehmann, E. L. (1975)",
        "Davison, A. C.",
    ] {
        assert!(methods.contains(cited), "{cited}\n{methods}");
    }
    assert!(!methods.contains("BCa") && !page.contains("four in five"));
    assert!(
        page.contains("is found by the rank test in 90 % of experiments"),
        "the power plot has another power"
    );
    // The claim is bold, but not the numbers in parentheses after it.
    let conclusion = page.split("<p class=\"conclusion\"><strong>").nth(1).unwrap();
    let (bold, rest) = conclusion.split_once("</strong>").unwrap();
    assert!(bold.starts_with("You may publish: ") && !bold.contains('('), "{bold}");
    assert!(rest.starts_with(" ("), "{rest}");
    assert!(page.contains(" facts about the machine</summary>"));
}

#[test]
fn what_was_found_about_the_file_is_told_below_the_sentence() {
    let room = Room::new();
    let whole = std::fs::read_to_string(data("sorting.assay")).unwrap();
    room.write("cut.assay", &whole[..whole.len() - 9]);
    let shown = room.run(&["compare", "--rigorous", "cut.assay"]);
    let (_, after) = shown.stdout.split_once("4 effect").unwrap();
    assert!(after.contains("warning: ") && after.contains("cut.assay"), "{after}");
}

/// Returns the protocol of one of the files of the published series, in its author's order of
/// steps.
fn published(name: &str) -> Option<Value> {
    let Some(directory) = std::env::var_os("ASSAY_TEST_DATA") else {
        // `eprintln!` would be captured by the test harness.
        let mut stderr = std::io::stderr();
        writeln!(stderr, "skipped: ASSAY_TEST_DATA is not set").unwrap();
        return None;
    };
    let file = std::path::Path::new(&directory).join("data/jaybeams").join(name);
    let reading = ["compare", "--by", "1", "--value", "2", "--unit", "ns", "--rigorous"];
    let asked = ["--threshold", "6.667us", "--alpha", "0.01", "--power", "0.95"];
    let report = Room::new().json(&[&reading[..], &asked[..], &[file.to_str().unwrap()]].concat());
    Some(report["rigorous"]["chains"][0].clone())
}

fn near(value: &Value, expected: f64, tolerance: f64) {
    let value = value.as_f64().unwrap();
    assert!((value - expected).abs() <= tolerance, "{value} is not {expected}");
}

#[test]
fn a_published_result_passes_every_step_with_its_numbers() {
    let Some(chain) = published("part5-data.csv.gz") else { return };
    assert_eq!((&chain["of"], &chain["against"]), (&"array".into(), &"map".into()));
    assert_eq!(chain["outcome"], "passed");
    let numbers = |step: usize| &chain["steps"][step]["numbers"];
    let largest = numbers(0)["series"].as_array().unwrap().iter();
    let largest = largest.map(|s| s["acf_max_abs_r_default"].as_f64().unwrap()).fold(0.0, f64::max);
    assert!((largest - 0.0198).abs() < 5e-5, "{largest}");
    assert!(
        numbers(0)["series"]
            .as_array()
            .unwrap()
            .iter()
            .all(|s| s["ess_per_n"].as_f64() > Some(0.95))
    );
    // Resampling moves the ends by a few hundredths of a microsecond.
    for (side, lower, upper) in [(0, 154.6, 157.1), (1, 185.1, 189.5)] {
        for kind in ["normal", "basic", "percentile"] {
            let interval = &numbers(1)["bootstrap_sd"][side][kind];
            near(&interval["lower"], lower * 1e-6, 0.2e-6);
            near(&interval["upper"], upper * 1e-6, 0.2e-6);
        }
    }
    assert_eq!(numbers(2)["statistic"], 7_902_652.5);
    near(&numbers(2)["log10_p_two"], -11110.2, 0.05);
    near(&numbers(3)["hodges_lehmann"], -816.907e-6, 5e-10);
    near(&numbers(3)["interval"]["lower"], -819.243e-6, 5e-10);
    near(&numbers(3)["interval"]["upper"], -814.566e-6, 5e-10);
    assert!(chain["sentence"].as_str().unwrap().contains("-816.907 µs [-819.243 … -814.566]"));
}

#[test]
fn published_data_that_its_author_found_dependent_is_judged_by_what_is_left_of_it() {
    let Some(chain) = published("part5-data-ni.csv.gz") else { return };
    // The author stopped here. About 400 independent values are left, which is enough for a
    // difference of 470 times the threshold.
    assert_eq!((&chain["outcome"], &chain["stopped_at"]), (&"warning".into(), &Value::Null));
    let validity = &chain["steps"][0];
    assert_eq!(validity["status"], "warning");
    assert_eq!(validity["findings"][0]["code"], "DEPENDENCE");
    near(&validity["numbers"]["series"][0]["acf_max_abs_r_default"], 0.8338, 5e-5);
    let shares = validity["numbers"]["series"].as_array().unwrap().iter();
    assert!(shares.map(|s| s["ess_per_n"].as_f64().unwrap()).all(|share| share < 0.01));
    let cause = &validity["numbers"]["causes"][0];
    assert_eq!(cause["cause"], "frequency_scaling");
    assert!(cause["evidence"].as_str().is_some_and(|e| e.contains("cpupower")), "{cause}");
    let statuses: Vec<_> =
        chain["steps"].as_array().unwrap().iter().map(|s| &s["status"]).collect();
    assert_eq!(statuses[1..], ["warning", "passed", "passed"]);
    let effect = &chain["steps"][3]["numbers"];
    assert!(effect["interval"]["upper"].as_f64().unwrap() < -2e-3, "{effect}");
}

#[test]
fn a_published_pilot_plans_thirty_five_thousand_and_goes_on() {
    let Some(chain) = published("part4-data.csv.gz") else { return };
    let power = &chain["steps"][1];
    assert_eq!(
        (&power["status"], &power["numbers"]["planned"]),
        (&"warning".into(), &35_000.0.into())
    );
    assert_eq!(power["findings"][0]["code"], "TOO_FEW");
    assert_eq!(chain["steps"][3]["status"], "passed");
    assert_eq!(chain["outcome"], "warning");
}

#[test]
fn another_correction_than_holms_is_refused() {
    let room = Room::new();
    let files = [data("const_a.txt"), data("const_b.txt")];
    let with = |how| room.run(&["compare", "--rigorous", "--adjust", how, &files[0], &files[1]]);
    for how in ["bh", "none"] {
        let error = with(how).ends(2).stderr;
        assert!(error.contains(&format!("leave out --adjust {how}")), "{error}");
    }
    assert_eq!(with("holm").stderr, "");
}
