//! Comparison of outputs: those that differ are reported, and no others.

use crate::room::{Room, codes, primary};
use serde_json::Value;

/// Pairs of shell lines whose outputs differ, by the kind of difference.
const DIFFERENT: [(&str, &str, &str); 41] = [
    // Text.
    ("a word", "echo one", "echo two"),
    ("a letter case", "echo Total", "echo total"),
    ("a number", "seq 100", "seq 99; echo 101"),
    ("a late number", "seq 100000", "seq 99999; echo 1"),
    ("one line less", "seq 1000", "seq 999"),
    ("one line more at the start", "seq 1 100", "seq 0 100"),
    ("no line break at the end", "echo x", "printf x"),
    ("nothing", "echo x", "true"),
    ("only a line break", "echo", "true"),
    ("spaces at the end", "echo 'a '", "echo 'a'"),
    ("a tab", "printf 'a\\tb\\n'", "printf 'a b\\n'"),
    ("line endings", "printf 'a\\r\\nb\\r\\n'", "printf 'a\\nb\\n'"),
    ("letters beyond ASCII", "echo 'é'", "echo 'e'"),
    ("two ways to write é", "printf '\\303\\251\\n'", "printf 'e\\314\\201\\n'"),
    (
        "the end of a long line",
        "head -c 100000 /dev/zero | tr '\\0' x",
        "head -c 99999 /dev/zero | tr '\\0' x; printf y",
    ),
    ("the sign of a zero", "echo 0.0", "echo -0.0"),
    ("the last digit", "echo 3.14159265358979", "echo 3.14159265358978"),
    ("an empty line", "printf 'a\\n\\nb\\n'", "printf 'a\\nb\\n'"),
    ("a carriage return", "printf 'a\\rb\\n'", "printf 'ab\\n'"),
    ("a colour", "printf '\\033[1mx\\033[0m\\n'", "printf 'x\\n'"),
    // Binary.
    ("one bit", "printf '\\001'", "printf '\\003'"),
    ("a zero byte", "printf 'a\\000b'", "printf 'ab'"),
    ("zero bytes at the end", "head -c 1000 /dev/zero", "head -c 1001 /dev/zero"),
    ("one zero byte or none", "printf '\\000'", "true"),
    ("bytes that are no UTF-8", "printf '\\377\\376'", "printf '\\376\\377'"),
    (
        "the first byte of many",
        "printf '\\001'; head -c 300000 /dev/zero",
        "head -c 300001 /dev/zero",
    ),
    (
        "the last byte of many",
        "head -c 300000 /dev/zero; printf '\\001'",
        "head -c 300001 /dev/zero",
    ),
    (
        "a byte at the end of a piece",
        "head -c 65535 /dev/zero; printf '\\001'",
        "head -c 65536 /dev/zero",
    ),
    (
        "a byte after a piece",
        "head -c 65536 /dev/zero; printf '\\001'",
        "head -c 65536 /dev/zero; printf '\\002'",
    ),
    ("a piece less", "head -c 131072 /dev/zero", "head -c 65536 /dev/zero"),
    (
        "a byte late in 64 MiB",
        "head -c 67108863 /dev/zero; printf '\\001'",
        "head -c 67108864 /dev/zero",
    ),
    // Order.
    ("two lines exchanged", "printf 'a\\nb\\n'", "printf 'b\\na\\n'"),
    ("lines reversed", "seq 10000", "seq 10000 -1 1"),
    (
        "two pieces exchanged",
        "head -c 65536 /dev/zero; seq 20000",
        "seq 20000; head -c 65536 /dev/zero",
    ),
    ("other sorting", "printf 'a\\nB\\n' | LC_ALL=C sort", "printf 'a\\nB\\n' | LC_ALL=C sort -f"),
    // Exit status.
    ("status 1", "true", "exit 1"),
    ("status 3", "exit 2", "exit 3"),
    ("a signal", "exit 15", "kill -TERM $$"),
    ("status and output", "echo a", "echo b; exit 1"),
    // Writing in parts.
    ("output of a background process", "(echo a) & wait", "(echo b) & wait"),
    (
        "output in many parts",
        "for i in 1 2 3 4 5 6 7 8; do echo $i; done",
        "for i in 1 2 3 4 5 6 7 9; do echo $i; done",
    ),
];

/// Pairs of shell lines whose outputs are the same, or differ from run to run of each.
const NOT_DIFFERENT: [(&str, &str, &str); 40] = [
    // Equal, however they were made.
    ("nothing", "true", ":"),
    ("a word", "echo one", "printf 'one\\n'"),
    ("numbers", "seq 1000", "i=1; while [ $i -le 1000 ]; do echo $i; i=$((i+1)); done"),
    ("many bytes", "head -c 5000000 /dev/zero", "dd if=/dev/zero bs=1000000 count=5 2> /dev/null"),
    ("64 MiB", "head -c 67108864 /dev/zero", "dd if=/dev/zero bs=1M count=64 2> /dev/null"),
    ("a whole piece", "head -c 65536 /dev/zero", "dd if=/dev/zero bs=64k count=1 2> /dev/null"),
    ("single bytes", "printf abc", "printf a; printf b; printf c"),
    ("sorted lines", "seq 100 | sort", "seq 100 -1 1 | sort"),
    ("zero bytes", "printf '\\000\\000'", "head -c 2 /dev/zero"),
    ("a status", "exit 3", "sh -c 'exit 3'"),
    ("no newline", "printf x", "echo x | tr -d '\\n'"),
    ("colours", "printf '\\033[1m'", "printf '\\033'; printf '[1m'"),
    ("standard error", "echo a >&2", "echo b >&2"),
    ("a temporary file", "f=$(mktemp); echo a > $f; cat $f; rm $f", "echo a"),
    ("an environment variable", "A=1; echo $A", "echo 1"),
    ("bytes that are no UTF-8", "printf '\\377'", "printf '\\377'"),
    ("late in many parts", "seq 20000", "seq 10000; seq 10001 20000"),
    ("the same signal", "kill -TERM $$", "kill -15 $$"),
    ("time passing", "sleep 0.01; echo a", "echo a"),
    ("a background process", "(echo a) & wait", "echo a"),
    // Different from run to run.
    ("the time", "date +%s%N", "date +%s%N; true"),
    ("the time against a text", "date +%s%N", "echo 1"),
    ("a text against the time", "echo 1", "date +%s%N"),
    ("the time in the middle", "echo a; date +%N; echo b", "echo a; date +%N; echo b; true"),
    ("the process", "echo $$", "echo $$; true"),
    ("a child", "sh -c 'echo $PPID'; :", "sh -c 'echo $PPID'"),
    ("a random number", "od -An -N8 -tx1 /dev/urandom", "od -An -N8 -tx1 /dev/urandom; true"),
    ("random bytes", "head -c 100000 /dev/urandom", "head -c 100001 /dev/urandom"),
    ("random bytes late", "seq 50000; head -c 9 /dev/urandom", "seq 50000; head -c 8 /dev/urandom"),
    ("the name of a file", "f=$(mktemp); echo $f; rm $f", "f=$(mktemp); echo $f; rm -f $f"),
    ("a random order", "seq 50 | shuf", "seq 50 | shuf; true"),
    ("a random order against a fixed one", "seq 50 | shuf", "seq 50"),
    ("the number of a new file", "f=$(mktemp); ls -i $f", "f=$(mktemp); ls -i $f; true"),
    ("a stack", "cat /proc/self/stat", "cat /proc/self/stat; true"),
    ("a uuid", "cat /proc/sys/kernel/random/uuid", "cat /proc/sys/kernel/random/uuid; true"),
    ("elapsed time", "cat /proc/uptime; sleep 0.02; date +%N", "date +%N"),
    ("a counter in a file", "echo x >> n; wc -l < n", "echo x >> m; echo x >> m; wc -l < m"),
    (
        "a length",
        "n=$(od -An -N3 -tu4 /dev/urandom); head -c $((n % 500000)) /dev/zero",
        "n=$(od -An -N3 -tu4 /dev/urandom); head -c $((n % 500001)) /dev/zero",
    ),
    ("a growing status", "echo >> s; exit $(wc -l < s)", "echo >> t; echo >> t; exit $(wc -l < t)"),
    (
        "a log with times",
        "for i in 1 2 3; do echo \"$(date +%N) step $i\"; done",
        "for i in 1 2; do echo \"$(date +%N) step $i\"; done",
    ),
];

/// Runs two shell lines in the fewest runs, and returns the result.
fn compared(room: &Room, old: &str, new: &str, more: &[&str]) -> Value {
    let run = [
        "run",
        "--shell",
        "sh",
        "--runs",
        "1",
        "--no-save",
        "--ignore-failure",
        "-n",
        "old",
        "-n",
        "new",
    ];
    room.json(&[&run[..], more, &[old, new]].concat())
}

fn differs(result: &Value) -> Option<&str> {
    let findings = result["findings"].as_array().unwrap();
    let found = findings.iter().find(|finding| finding["code"] == "OUTPUT_DIFFERS")?;
    found["message"].as_str()
}

#[test]
fn every_output_that_differs_is_reported() {
    let room = Room::new();
    let reported = |(what, old, new): &(&'static str, &str, &str)| {
        let result = compared(&room, old, new, &[]);
        let sentence = result["sentence"].as_str().unwrap();
        let said = differs(&result).is_some() && sentence.contains("different output");
        (!said || result["environment"]["outputs"] != "different").then_some(*what)
    };
    assert_eq!(DIFFERENT.iter().filter_map(reported).collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn no_other_output_is_reported() {
    let room = Room::new();
    let reported = |(index, (what, old, new)): (usize, &(&'static str, &str, &str))| {
        let result = compared(&room, old, new, &[]);
        let varies = result["environment"]["outputs"] == "not comparable";
        let noted = codes(&result).contains(&"OUTPUT_NOT_COMPARED");
        let sentence = result["sentence"].as_str().unwrap();
        let right = varies == (index >= 20) && varies == noted && !sentence.contains("output");
        (differs(&result).is_some() || !right).then_some(*what)
    };
    let false_reports: Vec<_> = NOT_DIFFERENT.iter().enumerate().filter_map(reported).collect();
    assert_eq!(false_reports, [""; 0]);
}

#[test]
fn the_place_of_a_late_byte_is_known() {
    let room = Room::new();
    let old = "seq 500000; echo late 1; seq 10";
    let new = "seq 500000; echo late 2; seq 10";
    let result = compared(&room, old, new, &[]);
    assert_eq!(
        differs(&result).unwrap(),
        "standard output of 'new' differs from that of 'old' in line 500001 (byte 3388901): \"late 2\" instead of \"late 1\""
    );
}

#[test]
fn files_are_compared_that_the_commands_leave() {
    let room = Room::new();
    let with = |old: &str, new: &str, files: &[&str]| {
        let files: Vec<&str> = files.iter().flat_map(|file| ["--same", file]).collect();
        compared(&room, old, new, &files)
    };
    let result = with("echo 1 > out", "echo 2 > out", &["out"]);
    assert!(
        differs(&result).unwrap().contains("out of 'new' differs from that of 'old' in line 1")
    );
    let result = with("echo 1 > out", "printf '1\\n' > out", &["out"]);
    assert_eq!((differs(&result), &result["environment"]["outputs"]), (None, &"same".into()));
    // Each command may have its own name for the file.
    let result = with("echo 1 > a", "echo 1 > b", &["1:a", "2:b"]);
    assert_eq!(result["environment"]["outputs"], "same");
    let result = with("echo 1 > a", "echo 2 > b", &["1:a", "2:b"]);
    assert!(differs(&result).is_some());
    // A file that only one command writes is a difference.
    let result = with("echo 1 > out", "true", &["out"]);
    assert!(differs(&result).unwrap().contains("'new' does not write to it"));
    let result = with("true", "true", &["nowhere"]);
    assert!(codes(&result).contains(&"OUTPUT_NOT_COMPARED"));
    // The result is in the file; the printed output may vary.
    let result = with("date +%N; echo 1 > out", "date +%N; echo 1 > out", &["out"]);
    assert_eq!(result["environment"]["outputs"], "same");
    room.run(&["run", "--no-save", "--same", "1:a", "true", "true"]).ends(2).complains("--same");
}

#[test]
fn outputs_that_have_to_be_the_same_decide_the_exit_status() {
    let room = Room::new();
    let required = |old: &str, new: &str, more: &[&str]| {
        let run = ["run", "--require-same", "--shell", "sh", "--runs", "1", "--no-save"];
        room.run(&[&run[..], more, &[old, new]].concat())
    };
    required("echo 1", "echo 1", &["--verbose"]).ends(0).shows("same output");
    let ended = required("echo 1", "echo 2", &[]).ends(4);
    assert_eq!(ended.complains("\"2\" instead of \"1\"").stdout, "");
    required("date +%N", "date +%N; true", &[]).ends(3);
    let ended = required("echo 1", "echo 2", &["--metric", "stdout"]).ends(3);
    ended.shows("--require-same: the output is the metric");
    // Without a warm-up they are compared last.
    let late = required("echo 1", "echo 2", &["--warmup", "0"]).ends(4);
    late.shows("different output");
    room.run(&["run", "--require-same", "true"]).ends(2).complains("--require-same");
}

#[test]
fn comparing_outputs_adds_runs_only_where_they_differ() {
    let room = Room::new();
    let runs = |log: &str| room.read(log).lines().count();
    // Two timed runs each.
    let counted = |warmup: &str, old: &str, new: &str| {
        std::fs::write(room.path("log"), "").unwrap();
        let [old, new] = [old, new].map(|line| format!("echo ran >> log; {line}"));
        let run = ["run", "--shell", "sh", "--runs", "2", "--no-save", "--quiet"];
        room.run(&[&run[..], &["--warmup", warmup, &old, &new]].concat()).ends(0);
        runs("log")
    };
    assert_eq!(counted("0", "echo 1", "echo 2"), 4);
    let count = |old: &str, new: &str| counted("1", old, new);
    assert_eq!(count("echo a", "echo a; true"), 6);
    assert_eq!(count("echo a", "echo b"), 8);
}

#[test]
fn a_record_keeps_what_was_found_and_an_anonymous_one_no_output() {
    let room = Room::new();
    let run = ["run", "--runs", "1", "--save", "s.assay"];
    let result = room.json(&[&run[..], &["echo secret-1", "echo secret-2"]].concat());
    let again = room.json(&["compare", "s.assay"]);
    assert_eq!(again["sentence"], result["sentence"]);
    assert_eq!(differs(&again), differs(&result));
    assert!(differs(&again).unwrap().contains("\"secret-2\" instead of"));
    room.run(&[
        "run",
        "--runs",
        "1",
        "--anonymous",
        "--save",
        "a.assay",
        "-n",
        "a",
        "-n",
        "b",
        "--shell",
        "sh",
        "echo $A",
        "echo $A$A",
        "--env",
        "A=hidden-word",
    ])
    .ends(0);
    let findings = room.records("a.assay", "finding");
    let found = findings.iter().find(|finding| finding["code"] == "OUTPUT_DIFFERS").unwrap();
    assert!(!found["message"].as_str().unwrap().contains("hidden-word"), "{found}");
}

#[test]
fn a_program_that_notices_a_discarded_output_gets_a_pipe() {
    let room = Room::new();
    room.write("text", &"x\n".repeat(100));
    let run = ["run", "--runs", "1", "--no-save"];
    let result = room.json(&[&run[..], &["grep x text", "cat text"]].concat());
    assert!(codes(&result).contains(&"OUTPUT_DISCARDED"));
    assert_eq!(result["environment"]["outputs"], "same");
    let result = room.json(&[&run[..], &["--output", "null", "grep x text", "cat text"]].concat());
    assert!(!codes(&result).contains(&"OUTPUT_DISCARDED"));
}

#[test]
fn a_program_that_does_less_when_its_output_is_discarded_is_noticed() {
    let room = Room::new();
    // It works only if standard output is not a device.
    let line = "if [ ! -c /proc/self/fd/1 ]; then i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; fi; echo x";
    let result = compared(&room, line, "echo x", &[]);
    let findings = result["findings"].as_array().unwrap();
    let found: Vec<_> = findings.iter().filter(|f| f["code"] == "OUTPUT_DISCARDED").collect();
    assert_eq!(found.len(), 1, "{findings:?}");
    assert_eq!(found[0]["subject"], "old");
}

#[test]
fn a_control_is_measured_in_every_block_and_decides_nothing() {
    let room = Room::new();
    let run = ["run", "--control", "--runs", "8", "--save", "s.assay", "-n", "old", "-n", "new"];
    let result = room.json(&[&run[..], &["sleep 0.001", "sleep 0.01"]].concat());
    assert_eq!(primary(&result).len(), 1);
    assert_eq!(primary(&result)[0]["of"], "new");
    let all = result["comparisons"].as_array().unwrap();
    let controls: Vec<_> = all.iter().filter(|c| c["family"] == "control").collect();
    assert_eq!(controls.len(), 1);
    assert_eq!(
        (&controls[0]["of"], &controls[0]["against"]),
        (&"old (control)".into(), &"old".into())
    );
    assert_eq!(room.records("s.assay", "obs").len(), 24);
    let again = room.json(&["compare", "s.assay"]);
    assert_eq!(again["comparisons"], result["comparisons"]);
    room.run(&["compare", "s.assay"]).ends(0).shows("the floor of this run: 'old (control)' takes");
    room.run(&["run", "--control", "-P", "n=1,2", "sleep 0.00{n}"]).ends(2).complains("--control");
}
