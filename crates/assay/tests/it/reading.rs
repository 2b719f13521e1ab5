//! Input files of `assay compare`: valid ones in several forms, and every kind of invalid one.

use crate::room::{Room, codes, data};
use std::io::Write;
use std::process::Stdio;

/// Writes a sample file like that of a run: two subjects in four blocks.
fn recorded(room: &Room) {
    let common = ["run", "--save", "s.assay", "-r", "4", "--seed", "5", "-n", "a", "-n", "b"];
    room.run(&[&common[..], &["true", "true"]].concat()).ends(0);
}

#[test]
fn a_file_that_is_not_there_gets_a_suggestion() {
    let room = Room::new();
    room.write("results.txt", "1\n2\n");
    room.run(&["compare", "result.txt"]).ends(2).complains("`results.txt`");
    // The files of a directory are recordings of one side; a directory without files is an error.
    room.run(&["compare", "."]).ends(0);
    std::fs::create_dir(room.path("none")).unwrap();
    room.run(&["compare", "none"]).ends(2).complains("directory");
    room.run(&["compare"]).ends(2).complains("FILE");
}

#[test]
fn an_empty_file_is_named() {
    let room = Room::new();
    room.write("empty.txt", "");
    room.write("blank.txt", "\n\n");
    room.write("some.txt", "1\n2\n3\n4\n");
    for name in ["empty.txt", "blank.txt"] {
        room.run(&["compare", "some.txt", name]).ends(2).complains(name);
    }
}

#[test]
fn a_bad_line_is_named_by_file_line_and_column() {
    let room = Room::new();
    room.write("bad.txt", "1.5\n# fine\n\ntwo\n3\n");
    room.run(&["compare", "bad.txt"]).ends(2).complains("bad.txt:4:1: `two`");
    recorded(&room);
    let text = room.read("s.assay");
    let (number, line) = text.lines().enumerate().find(|(_, l)| l.contains("\"obs\"")).unwrap();
    let damaged = text.replacen(line, &line.replace("\"block\":0", "\"block\":zero"), 1);
    room.write("bad.assay", &damaged);
    room.run(&["compare", "bad.assay"]).ends(2).complains(&format!("bad.assay:{}:", number + 1));
}

#[test]
fn a_file_that_breaks_off_anywhere_is_read_as_far_as_it_goes() {
    let room = Room::new();
    recorded(&room);
    let text = room.read("s.assay");
    let first_block_ends = text.match_indices("\"obs\"").nth(2).unwrap().0;
    for end in (first_block_ends + 10..text.len()).step_by(97) {
        room.write("cut.assay", &text[..end]);
        let whole = room.records("cut.assay", "obs").len();
        let result = room.json(&["compare", "cut.assay"]);
        let read = result["descriptions"].as_array().unwrap().iter();
        let read: u64 = read.map(|s| s["observations"].as_u64().unwrap()).sum();
        // A record that lacks only its newline is valid.
        assert!(
            read == whole as u64 || read == whole as u64 + 1,
            "{whole} observations, {read} read"
        );
        if read == whole as u64 && !text[..end].ends_with('\n') {
            assert!(codes(&result).contains(&"TRUNCATED_FILE"), "{end}: {:?}", codes(&result));
        }
    }
    for end in [0, 1, 9, 40] {
        room.write("cut.assay", &text[..end]);
        room.run(&["compare", "cut.assay"]).ends(2).complains("cut.assay");
    }
}

#[test]
fn a_file_of_a_later_version_asks_for_a_later_assay() {
    let room = Room::new();
    recorded(&room);
    room.write("later.assay", &room.read("s.assay").replacen("{\"assay\":1", "{\"assay\":2", 1));
    room.run(&["compare", "later.assay"]).ends(2).complains("later.assay").complains("version 2");
}

#[test]
fn records_of_an_unknown_kind_are_skipped() {
    let room = Room::new();
    recorded(&room);
    let text = room.read("s.assay") + "{\"kind\":\"weather\",\"sky\":\"clear\"}\n";
    room.write("more.assay", &text);
    let [plain, more] = ["s.assay", "more.assay"].map(|name| room.json(&["compare", name]));
    assert_eq!(plain["comparisons"], more["comparisons"]);
}

#[test]
fn values_of_different_units_are_not_compared() {
    let room = Room::new();
    let file = |unit: &str| {
        let header = "{\"assay\":1,\"kind\":\"run\"}\n{\"kind\":\"side\",\"name\":\"x\"}\n{\"kind\":\"row\"}\n\
                      {\"kind\":\"subject\",\"side\":0,\"row\":0,\"name\":\"x\"}\n";
        let metric = format!("{{\"kind\":\"metric\",\"name\":\"size\",\"unit\":\"{unit}\"}}\n");
        let values = "{\"kind\":\"obs\",\"subject\":0,\"values\":{\"size\":1}}\n".repeat(6);
        format!("{header}{metric}{values}")
    };
    room.write("seconds.assay", &file("s"));
    room.write("bytes.assay", &file("B"));
    let ended = room.run(&["compare", "seconds.assay", "bytes.assay"]).ends(2);
    ended.complains("seconds.assay").complains("bytes.assay").complains("size");
    room.write("plain.txt", "1\n2\n3\n");
    room.run(&["compare", "seconds.assay", "plain.txt"]).ends(2).complains("plain.txt");
}

#[test]
fn subjects_without_a_metric_in_common_are_an_error_that_names_both() {
    let room = Room::new();
    let file = |metric: &str| {
        format!(
            "{{\"assay\":1,\"kind\":\"run\"}}\n{{\"kind\":\"side\",\"name\":\"x\"}}\n{{\"kind\":\"row\"}}\n\
             {{\"kind\":\"subject\",\"side\":0,\"row\":0,\"name\":\"of-{metric}\"}}\n\
             {{\"kind\":\"metric\",\"name\":\"{metric}\",\"unit\":\"s\"}}\n{}",
            format!("{{\"kind\":\"obs\",\"subject\":0,\"values\":{{\"{metric}\":1}}}}\n").repeat(6)
        )
    };
    room.write("a.assay", &file("wall"));
    room.write("b.assay", &file("latency"));
    let ended = room.run(&["compare", "a.assay", "b.assay"]).ends(2);
    ended.complains("a.assay has `wall`").complains("b.assay has `latency`");
}

#[test]
fn one_observation_is_shown_and_decides_nothing() {
    let room = Room::new();
    room.write("one.txt", "42\n");
    room.write("many.txt", "1\n2\n3\n4\n5\n6\n7\n8\n");
    assert_eq!(room.json(&["compare", "one.txt", "many.txt"])["verdict"], "inconclusive");
    let alone = room.json(&["compare", "one.txt"]);
    assert_eq!(alone["descriptions"][0]["metrics"]["value"]["median"], 42.0);
    room.run(&["compare", "one.txt"]).ends(0).shows("42");
}

#[test]
fn one_value_that_go_assumes_to_be_exact_decides() {
    let room = Room::new();
    let text = |size: u32, unit: &str| format!("{unit}BenchmarkSize 1 {size}.0 text-bytes\n");
    let unit = "Unit text-bytes assume=exact\n";
    room.write("old.txt", &text(100, unit));
    room.write("new.txt", &text(105, unit));
    // As in benchstat: `100.0 ± 0%  105.0 ± 0%  +5.00% (n=1)`.
    let screen = room.run(&["compare", "old.txt", "new.txt"]).ends(0).stdout;
    assert!(screen.contains("has a 5.0 % higher text-bytes"), "{screen}");
    room.run(&["convert", "--to", "go", "old.txt", "-o", "again.txt"]).ends(0);
    let again = room.read("again.txt");
    assert!(again.contains("Unit text-bytes assume=exact\n"), "{again}");
    for file in ["old.txt", "new.txt"] {
        room.write(file, &text(if file == "old.txt" { 100 } else { 105 }, ""));
    }
    let screen = room.run(&["compare", "old.txt", "new.txt"]).ends(0).stdout;
    assert!(screen.contains("too few"), "{screen}");
}

#[test]
fn zeros_and_negative_values_are_compared_as_differences() {
    let room = Room::new();
    room.write("zeros.txt", "0\n0\n1\n0\n2\n0\n1\n0\n");
    room.write("higher.txt", "10\n11\n12\n13\n10\n11\n12\n14\n");
    room.write("below.txt", "-5\n-4\n-6\n-5.5\n-4.5\n-5.2\n-4.1\n-6.3\n");
    for name in ["zeros.txt", "below.txt"] {
        let result = room.json(&["compare", name, "higher.txt"]);
        let only = &result["comparisons"][0];
        assert_eq!(
            (&only["scale"], &only["verdict"]),
            (&"shift".into(), &"slower".into()),
            "{name}"
        );
        assert!(only["ratio"].is_null(), "{only:#}");
        assert!(only["shift"]["lower"].as_f64().is_some_and(|lower| lower > 0.0));
        assert!(codes(&result).contains(&"NOT_POSITIVE"), "{name}");
    }
}

#[test]
fn values_that_are_all_equal_are_no_proof_of_a_difference() {
    let room = Room::new();
    room.write("three.txt", &"3\n".repeat(20));
    room.write("same.txt", &"3\n".repeat(15));
    let result = room.json(&["compare", "three.txt", "same.txt"]);
    assert_eq!(result["verdict"], "equivalent");
    assert!(codes(&result).contains(&"ALL_EQUAL"));
    assert_eq!(result["comparisons"][0]["shift"]["estimate"], 0.0);
    room.write("zero.txt", &"0\n".repeat(9));
    let result = room.json(&["compare", "zero.txt", "zero.txt"]);
    assert!(["equivalent", "inconclusive"].contains(&result["verdict"].as_str().unwrap()));
}

#[test]
fn numbers_come_from_columns_tables_compressed_files_and_standard_input() {
    let room = Room::new();
    room.write("wide.csv", "old,new\n1,2\n1.1,2.1\n1.2,2.2\n1.3,2.3\n1.4,2.4\n");
    room.write("long.csv", "build,ns\nold,1\nnew,2\nold,1.1\nnew,2.1\nold,1.2\nnew,2.2\nold,1.3\nnew,2.3\nold,1.4\nnew,2.4\n");
    room.write("columns.txt", "x 1\nx 1.1\nx 1.2\nx 1.3\nx 1.4\n");
    let wide = room.json(&["compare", "wide.csv"]);
    assert_eq!(
        (&wide["comparisons"][0]["of"], &wide["comparisons"][0]["against"]),
        (&"new".into(), &"old".into())
    );
    let long = room.json(&["compare", "--by", "build", "--value", "ns", "long.csv"]);
    assert_eq!(long["comparisons"][0]["ratio"], wide["comparisons"][0]["ratio"]);
    let columns = room.json(&["compare", "--column", "2", "--unit", "ms", "columns.txt"]);
    let value = &columns["descriptions"][0]["metrics"]["value"];
    assert_eq!((&value["median"], &value["unit"]), (&0.0012.into(), &"s".into()));

    let mut command = room.assay(&["compare", "-", &data("zlib_without.txt"), "--json"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let numbers = std::fs::read(data("zlib_with.txt")).unwrap();
    child.stdin.take().unwrap().write_all(&numbers).unwrap();
    let output = child.wait_with_output().unwrap();
    let piped: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let files = room.json(&["compare", &data("zlib_with.txt"), &data("zlib_without.txt")]);
    assert_eq!(piped["comparisons"][0]["shift"], files["comparisons"][0]["shift"]);
}

#[test]
fn what_is_not_text_is_refused() {
    let room = Room::new();
    std::fs::copy(env!("CARGO_BIN_EXE_assay"), room.path("program")).unwrap();
    room.run(&["compare", "program"]).ends(2).complains("program");
    std::fs::write(room.path("latin.txt"), b"1\n\xff\xe4\n").unwrap();
    room.run(&["compare", "latin.txt"]).ends(2).complains("latin.txt:2");
}

#[test]
fn a_file_of_no_known_format_is_answered_with_what_it_is_and_what_is_known() {
    let room = Room::new();
    room.write("report.json", "{\"suites\": [], \"summary\": {\"passed\": 3}}\n");
    let refused = room.run(&["compare", "report.json", "report.json"]);
    refused.ends(2).complains("`report.json` is JSON with the keys `suites`, `summary`");
    room.write("page", "<!doctype html>\n<html><body>1</body></html>\n");
    room.run(&["describe", "page"]).ends(2).complains("is an HTML page; its format is unknown");
    room.run(&["describe", "page"]).ends(2).complains("\n  JSON of  hyperfine (1.x, 2.x), pyperf");
    // A directory is read as its files, sorted by name.
    room.run(&["describe", "."]).ends(2).complains("`./page` is an HTML page");
    std::fs::create_dir(room.path("none")).unwrap();
    let refused = room.run(&["describe", "none"]).ends(2);
    refused.complains("there is no `new/sample.json` below this one");
}
