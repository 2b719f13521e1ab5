//! `assay convert`, and the selections of `--filter`, `--row` and `--col`.

use crate::room::Room;

/// Writes a long table of two benchmarks with a parameter, as in hyperfine.
fn two_sizes(room: &Room) {
    let result = |command: &str, n: &str, times: &str| {
        format!(
            r#"{{"command": "{command} {n}", "mean": 1, "times": [{times}], "parameters": {{"n": "{n}"}}}}"#
        )
    };
    let rows = [
        result("sort", "8", "0.8, 0.81, 0.79, 0.805"),
        result("sort", "64", "6.4, 6.5, 6.45, 6.41"),
        result("find", "8", "0.2, 0.21, 0.19, 0.205"),
    ];
    room.write("h.json", &format!(r#"{{"results": [{}]}}"#, rows.join(", ")));
}

#[test]
fn every_form_that_keeps_the_values_reads_back_as_it_was() {
    let room = Room::new();
    two_sizes(&room);
    let medians = |file: &str| {
        let described = room.json(&["describe", file]);
        described.to_string().matches("6.43").count()
    };
    let expected = medians("h.json");
    assert!(expected > 0);
    for name in ["c.assay", "c.samples.csv", "c.hyperfine.json", "c.hyperfine2.json"] {
        room.run(&["convert", "h.json", "-o", name]).ends(0);
        assert_eq!(medians(name), expected, "{name}");
    }
    let text = room.run(&["convert", "--to", "text", "--filter", "find", "h.json"]);
    assert_eq!(text.ends(0).stdout, "0.2\n0.21\n0.19\n0.205\n");
    let go = room.run(&["convert", "--to", "go", "--filter", "find", "h.json"]).ends(0).stdout;
    assert!(go.starts_with("# name of BenchmarkFind_8 {\"name\":\"find 8\""), "{go}");
    assert!(go.contains("}\nBenchmarkFind_8\t1\t200000000 ns/op\n"), "{go}");
    let google = room.run(&["convert", "--to", "google-benchmark", "h.json"]).ends(0).stdout;
    assert_eq!(google.matches("\"run_type\": \"iteration\"").count(), 12);
}

#[test]
fn what_can_not_be_written_is_said() {
    let room = Room::new();
    two_sizes(&room);
    room.run(&["convert", "h.json", "-o", "out.xyz"]).ends(2).complains(".hyperfine.json");
    room.run(&["convert", "--to", "text", "h.json"]).ends(2).complains("choose one with --filter");
    room.run(&["convert", "h.json", "-o", "h.json", "--to", "csv"])
        .ends(2)
        .complains("which is read");
    room.run(&["convert", "--filter", "n:9", "h.json"])
        .ends(2)
        .complains("there are: sort 8, sort 64");
    room.run(&["convert", "--filter", "(n:8", "h.json"]).ends(2).complains("a `)` is missing");
}

#[test]
fn one_subject_is_chosen_by_its_parameter() {
    let room = Room::new();
    two_sizes(&room);
    let left = room.json(&["describe", "--filter", "sort n:64", "h.json"]);
    assert!(left.to_string().contains("sort 64") && !left.to_string().contains("sort 8"));
    room.run(&["compare", "--col", "m", "h.json"]).ends(2).complains("there are n");
    let compare = ["compare", "--col", "n", "--filter", "sort", "h.json"];
    let sizes = room.run(&compare).stdout;
    assert!(sizes.contains("Measured one after the other"), "{sizes}");
    assert!(!sizes.contains("separate runs") && !sizes.ends_with("\n\n"), "{sizes}");
    let whole = room.run(&[&compare[..], &["--verbose"]].concat()).stdout;
    assert!(whole.contains("--old-filter"), "{whole}");
    room.run(&["convert", "h.json", "-o", "c.assay"]).ends(0);
    room.run(&["describe", "c.assay", "--metric", "cpu"]).ends(2).complains("--primary cpu");
}
