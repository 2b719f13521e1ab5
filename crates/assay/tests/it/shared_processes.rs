//! `assay bench` with a harness that starts slowly and can measure several benchmarks in one
//! process: pytest-benchmark.

use crate::room::{Room, codes};
use std::path::Path;

/// A start that takes much longer than the benchmarks; it is counted in a file.
const CONFTEST: &str = "import os, time
with open(os.environ['STARTS'], 'a') as file:
    file.write('x')
time.sleep(0.3)
";
const TESTS: &str = "import os
CALLS = int(os.environ['CALLS'])
def test_same(benchmark):
    benchmark(sum, range(2000))
def test_changed(benchmark):
    benchmark(sum, range(2000 * CALLS))
def test_broken(benchmark):
    benchmark(lambda: 1 / 0)
def test_more(benchmark):
    benchmark(sum, range(1000))
";

/// Returns the Python of the tests' own environment, which has pytest-benchmark.
fn python() -> Option<String> {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/runtimes/python/bin/python3");
    let found = path.is_file().then(|| path.display().to_string());
    if found.is_none() {
        println!("skipped: {} is missing (sh scripts/runtimes.sh)", path.display());
    }
    found
}

#[test]
fn benchmarks_share_a_process_if_starting_takes_the_time_and_a_broken_one_spoils_no_other() {
    let Some(python) = python() else { return };
    let room = Room::new();
    room.write("conftest.py", CONFTEST);
    room.write("test_sums.py", TESTS);
    let starts = format!("STARTS={}", room.path("starts").display());
    let program = format!("{python} -m pytest -p no:unraisableexception test_sums.py");
    let bench =
        ["bench", &program, "--old-env", "CALLS=1", "--new-env", "CALLS=2", "--env", &starts];
    let more = ["--runs", "8", "--time", "60s", "--save", "s.assay", "--seed", "1"];
    // One of the benchmarks fails, which is the exit status of the whole.
    let ended = room.run(&[&bench[..], &more].concat());
    let ended = ended.complains("one process of each side for all benchmarks");
    ended.shows("1 of 3 benchmarks is slower").shows("test_broken");
    // Twice: the list, all benchmarks, the broken one by itself, and eight blocks.
    assert_eq!(room.read("starts").len(), 2 * (1 + 1 + 1 + 8));
    assert_eq!(room.records("s.assay", "obs").len(), 2 * 3 * 8);
    let result = room.json(&["compare", "s.assay"]);
    assert!(codes(&result).contains(&"BENCHMARK_FAILED"), "{:?}", codes(&result));
    assert_eq!(result["environment"]["measured_in_one_process"], true, "{}", result["environment"]);

    // A resumed run keeps its processes, even if it has time for more of them.
    let text = room.read("s.assay");
    let is_kept =
        |line: &&str| !line.contains("\"kind\":\"stop\"") && !line.contains("\"block\":7");
    let kept: Vec<&str> = text.lines().filter(is_kept).collect();
    room.write("s.assay", &format!("{}\n", kept.join("\n")));
    room.write("starts", "");
    let _failed = room.run(&["bench", "--resume", "s.assay", "--time", "10min"]);
    assert_eq!(room.records("s.assay", "obs").len(), 2 * 3 * 8);
    assert_eq!(room.read("starts").len(), 2 * (1 + 1 + 1 + 1));

    // With enough time, each benchmark has its own processes.
    room.write("starts", "");
    let alone = ["--runs", "3", "--time", "10min", "--filter", "same"];
    room.run(&[&bench[..], &alone].concat()).ends(0);
    assert_eq!(room.read("starts").len(), 2 * (1 + 1 + 3));
}
