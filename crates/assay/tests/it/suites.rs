//! Suites: files of many benchmarks, compared by name, through the built binary.

use crate::room::{Room, codes};

/// Writes a table in long form: for each benchmark a number of values around a level.
fn write(room: &Room, file: &str, rows: &[(&str, f64, usize)]) {
    let mut text = "bench,ns\n".to_owned();
    for (name, size, count) in rows {
        for number in 0..*count {
            let own = size * (1.0 + 0.001 * ((number * 7 % 12) as f64));
            text += &format!("{name},{own}\n");
        }
    }
    room.write(file, &text);
}

fn pair(room: &Room) {
    write(room, "old.csv", &[("copy", 100.0, 12), ("sort", 50.0, 12), ("gone", 9.0, 12)]);
    write(room, "new.csv", &[("copy", 80.0, 12), ("sort", 60.0, 12), ("come", 9.0, 12)]);
}

const LONG: [&str; 6] = ["compare", "--by", "bench", "--value", "ns", "--unit=ns"];

fn arguments<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&LONG[..], more].concat()
}

#[test]
fn two_files_of_benchmarks_are_one_suite() {
    let room = Room::new();
    pair(&room);
    let ended = room.run(&arguments(&["old.csv", "new.csv"])).ends(0);
    let ended = ended.shows("1 of 2 benchmarks is slower, 1 faster");
    assert!(!ended.stdout.contains("geometric mean"), "of two: {}", ended.stdout);
    ended.shows("only in old, not in new: gone").shows("only in new, not in old: come");
    let result = room.json(&arguments(&["old.csv", "new.csv"]));
    let side = |name: &str| serde_json::json!({"name": name, "command": null, "source": format!("{name}.csv"), "builds": []});
    assert_eq!(result["sides"], serde_json::json!([side("old"), side("new")]));
    // Each side of each benchmark is described, including those that only one side has.
    let described = result["descriptions"].as_array().unwrap().iter();
    let described: Vec<_> = described
        .map(|d| (&d["side"], &d["row"]))
        .map(|(side, row)| format!("{side} {row}"))
        .collect();
    assert!(
        described.contains(&"\"old\" \"gone\"".to_owned()) && described.len() == 6,
        "{described:?}"
    );
    assert!(codes(&result).contains(&"NOT_INTERLEAVED"));
    let swapped = room.json(&arguments(&["--reference", "new", "old.csv", "new.csv"]));
    assert_eq!(
        (&swapped["sides"][0]["name"], &swapped["means"][0]["of"]),
        (&"new".into(), &"old".into())
    );
    room.run(&arguments(&["--reference", "x", "old.csv", "new.csv"]))
        .ends(2)
        .complains("`old`, `new`");
}

#[test]
fn recordings_are_inconclusive_for_a_gate() {
    let room = Room::new();
    pair(&room);
    room.run(&arguments(&["--fail-if", "slower", "old.csv", "new.csv"])).ends(3);
}

#[test]
fn every_export_of_a_suite_is_written() {
    let room = Room::new();
    pair(&room);
    let exports =
        ["--export=s.csv", "--export=s.md", "--export=s.json", "--report=s.html", "--plots=p"];
    room.run(&arguments(&[&exports[..], &["old.csv", "new.csv"]].concat())).ends(0);
    assert!(room.read("s.csv").starts_with("side,row,metric,unit,n,median"));
    assert!(room.read("s.md").contains("| copy |"));
    let page = room.read("s.html");
    assert!(page.contains("plot-forest-0") && !page.contains("Every classical test"));
    // The values of each benchmark, collapsed.
    assert!(page.contains("<details><summary>copy: ") && page.contains("plot-row-0-density"));
    room.run(&arguments(&["--all", "--report=all.html", "old.csv", "new.csv"])).ends(0);
    let page = room.read("all.html");
    assert!(page.contains("Every classical test") && page.contains("Brunner-Munzel"));
    assert!(room.read("p/forest.svg").contains("copy"));
    let exported: serde_json::Value = serde_json::from_str(&room.read("s.json")).unwrap();
    assert_eq!(exported["adjust"], "holm");
}

#[test]
fn what_can_not_be_done_with_a_suite_says_why() {
    let room = Room::new();
    pair(&room);
    write(&room, "other.csv", &[("map", 1.0, 9), ("fold", 1.0, 9)]);
    let ended = room.run(&arguments(&["old.csv", "other.csv"])).ends(2);
    ended.complains("no benchmark in common").complains("`copy`").complains("`map`");
    room.run(&arguments(&["--reference", "copy", "old.csv", "other.csv"])).ends(0);
}

#[test]
fn the_four_steps_are_taken_for_every_benchmark() {
    let room = Room::new();
    pair(&room);
    let exports =
        ["--rigorous", "--threshold=5%", "--export=s.md", "--export=s.json", "--report=s.html"];
    let ended = room.run(&arguments(&[&exports[..], &["old.csv", "new.csv"]].concat())).ends(0);
    // A row for each, followed by its steps.
    ended.shows("did not pass").shows("copy").shows("sort").shows("4 effect");
    assert!(room.read("s.md").contains("| 4 effect |"));
    let page = room.read("s.html");
    assert!(page.contains("The four-step check: copy") && page.contains("plot-forest-0"));
    let exported: serde_json::Value = serde_json::from_str(&room.read("s.json")).unwrap();
    let chains = exported["rigorous"]["chains"].as_array();
    assert_eq!(chains.map(Vec::len), Some(2), "{}", exported["rigorous"]);
}

#[test]
fn the_four_steps_need_values_and_say_so_where_only_summaries_are_left() {
    let room = Room::new();
    for (side, mean) in [("old", 1.0), ("new", 2.0)] {
        let results = |n: usize| {
            format!(
                r#"{{"command": "c{n}", "mean": {mean}, "stddev": 0.1, "median": {mean}, "min": 0.9, "max": 2.1}}"#
            )
        };
        let text = format!(r#"{{"results": [{}, {}]}}"#, results(1), results(2));
        room.write(&format!("{side}.json"), &text);
    }
    let ended = room.run(&["compare", "--rigorous", "old.json", "new.json"]).ends(0);
    ended.shows("1 validity FAILED no values of 'old: c1' were recorded");
}

#[test]
fn every_test_is_made_of_every_benchmark() {
    let room = Room::new();
    pair(&room);
    let text = arguments(&["--all", "old.csv", "new.csv"]);
    room.run(&text).ends(0).shows("copy, new against old:").shows("Brunner-Munzel");
    let result = room.json(&text);
    let compared = result["comparisons"].as_array().unwrap();
    assert!(compared.iter().all(|c| c["tests"]["mann_whitney"].is_object()), "{compared:?}");
    // The benchmarks are not a group, because they are not expected to take the same time.
    assert!(result["groups"].is_null());
}

#[test]
fn one_benchmark_in_two_files_is_a_plain_comparison() {
    let room = Room::new();
    write(&room, "old.csv", &[("copy", 100.0, 12)]);
    write(&room, "new.csv", &[("copy", 80.0, 12)]);
    let result = room.json(&arguments(&["old.csv", "new.csv"]));
    assert_eq!(
        (&result["verdict"], &result["comparisons"][0]["of"], &result["comparisons"][0]["row"]),
        (&"faster".into(), &"new".into(), &"copy".into())
    );
}

#[test]
fn many_series_are_described_in_one_table() {
    let room = Room::new();
    let rows = [("a", 1.0, 9), ("b", 2.0, 9), ("c", 3.0, 9), ("d", 4.0, 9)];
    write(&room, "many.csv", &rows);
    let long = ["describe", "--by", "bench", "--value", "ns", "--unit=ns"];
    let ended = room.run(&[&long[..], &["many.csv"]].concat()).ends(0);
    let ended = ended.shows("4 series of").shows("spread");
    assert!(ended.stdout.lines().count() < 12, "{}", ended.stdout);
    let whole = room.run(&[&long[..], &["--all", "many.csv"]].concat()).ends(0);
    assert!(whole.stdout.lines().count() > 40);
}

#[test]
fn machines_with_different_processors_are_matched_by_the_rows_that_the_error_names() {
    let room = Room::new();
    let write = |file: &str, processors: usize, shift: usize| {
        let mut text = "goos: linux\ngoarch: amd64\npkg: sorting\n".to_owned();
        for repetition in 0..9 {
            for size in [8, 64] {
                let ns = size * 100 + (repetition * 5 % 9) + shift * size;
                text += &format!("BenchmarkSort/n={size}-{processors} \t 1000 \t {ns} ns/op\n");
            }
        }
        room.write(file, &text);
    };
    write("old.txt", 2, 0);
    write("new.txt", 8, 20);
    let ended = room.run(&["compare", "old.txt", "new.txt"]).ends(2);
    ended.complains("no benchmark in common").complains("--row .name,n;");
    let ended = room.run(&["compare", "--row", ".name,n", "old.txt", "new.txt"]).ends(0);
    ended.shows("new against old: both benchmarks are slower").shows("BenchmarkSort n=64");
}

#[test]
fn a_metric_of_one_side_only_is_told() {
    let room = Room::new();
    let write = |file: &str, more: &str| {
        let mut text = "goos: linux\ngoarch: amd64\npkg: sorting\n".to_owned();
        for repetition in 0..9 {
            for name in ["Sort", "Copy"] {
                let ns = 800 + repetition * 5 % 9;
                text += &format!("Benchmark{name}-2 \t 1000 \t {ns} ns/op{more}\n");
            }
        }
        room.write(file, &text);
    };
    write("old.txt", "");
    write("new.txt", " \t 8 B/op \t 2 allocs/op");
    let told = "2 metrics are only in new, not in old: B/op, allocs/op";
    room.run(&["compare", "old.txt", "new.txt"]).ends(0).shows(told);
    let result = room.json(&["compare", "old.txt", "new.txt"]);
    assert_eq!(result["only"][0]["metric"], "B/op");
}

#[test]
fn a_column_of_names_leaves_no_colon_behind() {
    let room = Room::new();
    pair(&room);
    let ended =
        room.run(&arguments(&["--col", ".fullname", "--filter", "copy OR sort", "old.csv"]));
    let ended = ended.ends(0);
    assert!(!ended.stdout.contains(": '"), "{}", ended.stdout);
    room.run(&arguments(&["--filter", "(copy", "old.csv"]))
        .complains("at the end: a `)` is missing");
}

#[test]
fn three_plain_files_share_the_error_as_adjust_says() {
    let room = Room::new();
    let values = |shift: f64| -> String {
        (0..40).map(|i| format!("{}\n", 10.0 + shift + f64::from(i * 17 % 40) / 20.0)).collect()
    };
    // A difference that is found at 5 %, but not at half of that.
    for (name, shift) in [("a.txt", 0.0), ("b.txt", 0.29), ("c.txt", 0.29), ("d.txt", 0.0)] {
        room.write(name, &values(shift));
    }
    let compared = |how: &str, other: &str| -> Vec<(String, f64)> {
        let files = ["a.txt", "b.txt", other];
        let options = ["compare", "--unit", "ms", "--threshold", "0.1%", "--adjust", how];
        let result = room.json(&[&options[..], &files].concat());
        assert_eq!(result["adjust"], how);
        let told = |c: &serde_json::Value| {
            (c["verdict"].as_str().unwrap().to_owned(), c["level"].as_f64().unwrap())
        };
        result["comparisons"].as_array().unwrap().iter().map(told).collect()
    };
    let both = |verdict: &str, level: f64| vec![(verdict.to_owned(), level); 2];
    assert_eq!(compared("holm", "c.txt"), both("inconclusive", 0.025));
    assert_eq!(compared("bh", "c.txt"), both("slower", 0.05));
    assert_eq!(compared("none", "c.txt"), both("slower", 0.05));
    // One such difference among two is not a discovery.
    assert_eq!(compared("bh", "d.txt"), both("inconclusive", 0.025));
    let alone = compared("none", "d.txt");
    assert_eq!((alone[0].0.as_str(), alone[1].0.as_str()), ("slower", "inconclusive"));
}
