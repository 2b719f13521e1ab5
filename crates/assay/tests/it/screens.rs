//! Golden screens: fixed files in, output for people and programs out. Read a screen before
//! accepting its change.

use crate::room::{Room, data, finish};
use insta::assert_snapshot;
use std::io::Write;

/// Returns what `assay compare` prints, started in the directory of the files so that their names
/// are short.
fn compared(arguments: &[&str]) -> String {
    wide(80, arguments)
}

fn wide(columns: usize, arguments: &[&str]) -> String {
    let room = Room::new();
    let mut command = room.assay(&[&["compare"], arguments].concat());
    command.current_dir(data("")).env("COLUMNS", columns.to_string());
    let ended = finish(command).ends(0);
    assert_eq!(ended.stderr, "");
    ended.stdout.replace(env!("CARGO_PKG_VERSION"), "VERSION")
}

/// Returns what is exported to a file of this name.
fn exported(to: &str, arguments: &[&str]) -> String {
    let room = Room::new();
    let path = room.path(to).display().to_string();
    compared(&[&["--export", &path], arguments].concat());
    room.read(to).replace(env!("CARGO_PKG_VERSION"), "VERSION")
}

#[test]
fn two_recordings_of_numbers() {
    for pair in ["zlib_with zlib_without", "lnorm_a lnorm_b", "unequal_a unequal_b"] {
        let files = pair.split(' ').map(|name| format!("{name}.txt")).collect::<Vec<_>>();
        assert_snapshot!(pair.replace(' ', "_and_"), compared(&[&files[0], &files[1]]));
    }
}

#[test]
fn numbers_that_are_tied_constant_or_negative() {
    for kind in ["ties", "const", "neg"] {
        let files = ["a", "b"].map(|which| format!("{kind}_{which}.txt"));
        assert_snapshot!(kind, compared(&[&files[0], &files[1]]));
    }
}

#[test]
fn what_the_user_says_about_numbers_is_heard() {
    let files = ["--unit", "s", "--metric", "wall", "zlib_without.txt", "zlib_with.txt"];
    assert_snapshot!("units", compared(&files));
    let strict = ["--threshold", "500ms", "--confidence", "99%"];
    assert_snapshot!("absolute_threshold", compared(&[&files[..], &strict].concat()));
}

#[test]
fn one_file_of_numbers_alone() {
    assert_snapshot!("numbers_alone", compared(&["lnorm_a.txt"]));
}

#[test]
fn what_a_run_recorded() {
    for name in ["sorting", "three", "building"] {
        assert_snapshot!(name, compared(&[&format!("{name}.assay")]));
    }
}

#[test]
fn another_question_to_the_same_record() {
    let arguments = ["--primary", "max_rss", "--threshold", "5%", "sorting.assay"];
    assert_snapshot!("sorting_by_memory", compared(&arguments));
}

#[test]
fn a_narrow_and_a_wide_terminal() {
    for columns in [20, 40, 120] {
        assert_snapshot!(format!("sorting_{columns}"), wide(columns, &["sorting.assay"]));
    }
}

#[test]
fn json_for_programs() {
    assert_snapshot!("sorting_json", compared(&["--json", "sorting.assay"]));
    assert_snapshot!("zlib_json", compared(&["--json", "zlib_with.txt", "zlib_without.txt"]));
}

#[test]
fn markdown_for_pull_requests() {
    assert_snapshot!("sorting_markdown", exported("r.md", &["sorting.assay"]));
    assert_snapshot!("three_markdown", exported("r.md", &["three.assay"]));
    assert_snapshot!("zlib_markdown", exported("r.md", &["zlib_with.txt", "zlib_without.txt"]));
}

#[test]
fn csv_for_spreadsheets() {
    assert_snapshot!("three_csv", exported("r.csv", &["three.assay"]));
    assert_snapshot!("zlib_csv", exported("r.csv", &["zlib_with.txt", "zlib_without.txt"]));
}

/// A published benchmark of two containers, 35,000 values each; its author found a shift of
/// -816.907 µs between them.
#[test]
fn a_published_result_comes_out_of_its_own_data() {
    let Some(directory) = std::env::var_os("ASSAY_TEST_DATA") else {
        // `eprintln!` would be captured by the test harness.
        writeln!(std::io::stderr(), "skipped: ASSAY_TEST_DATA is not set").unwrap();
        return;
    };
    let file = std::path::Path::new(&directory).join("data/jaybeams/part5-data.csv.gz");
    let arguments = ["compare", "--by", "1", "--value", "2", "--unit", "ns"];
    let result = Room::new().json(&[&arguments[..], &[file.to_str().unwrap()]].concat());
    // The file begins with `map`, so that the difference is that of `array` to it: below zero.
    assert_eq!(result["verdict"], "faster");
    let only = &result["comparisons"][0];
    assert_eq!((&only["of"], &only["against"]), (&"array".into(), &"map".into()));
    assert_eq!(only["counts"], serde_json::json!({"of": 35000, "against": 35000}));
    let shift = |end: &str| only["shift"][end].as_f64().unwrap() * 1e6;
    assert!((shift("estimate") + 816.907).abs() < 5e-4, "{} µs", shift("estimate"));
    // His interval assumed independent values; ours is a little wider, since they are not quite
    // independent.
    for (end, his, outwards) in [("lower", -819.243, -1.0), ("upper", -814.566, 1.0)] {
        let wider_by = (shift(end) - his) * outwards;
        assert!((0.0..0.1).contains(&wider_by), "{end}: {} µs", shift(end));
    }
}
