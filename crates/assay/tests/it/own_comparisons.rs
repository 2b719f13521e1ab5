//! `assay bench` with a script of benchmark-ips that compares its own reports, or is too cold.

use crate::room::{Room, codes};
use crate::test_profiles::ruby_has;

/// Returns a script of three reports that burn CPU time in a ratio of 1 : 3 : 9, in the order of
/// `names`.
fn script(names: [&str; 3], more: &str) -> String {
    let seconds = |name: &str| match name {
        "short" => 0.001,
        "middle" => 0.003,
        _ => 0.009,
    };
    let report = |name: &str| format!("  x.report('{name}') {{ burn({}) }}\n", seconds(name));
    let reports: String = names.map(report).concat();
    format!(
        "require 'benchmark/ips'
def burn(seconds)
  ends = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) + seconds
  nil while Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) < ends
end
Benchmark.ips do |x|
  x.config(warmup: 0.1)
{reports}{more}end
"
    )
}

/// Decided by CPU time, which other tests on the machine do not change.
const BENCH: [&str; 6] = ["bench", "ruby x.rb", "--runs", "8", "--primary", "cpu"];

#[test]
fn reports_that_a_script_compares_are_ranked() {
    if !ruby_has("benchmark/ips") {
        return;
    }
    let room = Room::new();
    room.write("x.rb", &script(["middle", "long", "short"], "  x.compare!\n"));
    let ended = room.run(&[&BENCH[..], &["--save", "x.assay"]].concat()).ends(0);
    let ended = ended.shows("ranking: 1. short; 2. middle, 3.0 ×");
    ended.shows("× the CPU time of middle");
    // The file gives the same answer.
    room.run(&["compare", "x.assay", "--primary", "cpu"]).ends(0).shows("ranking: 1. short;");
    // The reports that match a filter are compared.
    let two = room.run(&[&BENCH[..], &["--filter", "short OR long"]].concat()).ends(0);
    two.shows("the CPU time of long");
}

#[test]
fn reports_that_a_script_does_not_compare_are_shown_by_themselves() {
    if !ruby_has("benchmark/ips") {
        return;
    }
    let room = Room::new();
    room.write("x.rb", &script(["middle", "long", "short"], ""));
    let ended = room.run(&BENCH).ends(0).shows("3 series of");
    assert!(!ended.stdout.contains("ranking"), "{}", ended.stdout);
}

#[test]
fn two_scripts_measure_in_turns() {
    if !ruby_has("benchmark/ips") {
        return;
    }
    let room = Room::new();
    let text = script(["middle", "long", "short"], "");
    room.write("x.rb", &text);
    // The second is slower in one report, and fails in another once it is compared.
    let slower = text.replace("burn(0.003)", "burn(0.006)");
    let fails = "burn(0.001) if ENV['ASSAY_TURNS'].nil? || raise('not today')";
    room.write("y.rb", &slower.replace("burn(0.001)", fails));
    let two = ["bench", "ruby x.rb", "ruby y.rb", "--runs", "8", "--primary", "cpu"];
    let ended = room.run(&[&two[..], &["--run-time", "60ms", "--save", "x.assay"]].concat());
    let ended = ended.ends(4).shows("`short` on y.rb: it failed: RuntimeError: not today");
    ended.shows("1 of 2 benchmarks is higher, 1 equivalent");
    assert!(room.read("x.assay").contains("\"measured_in_turns\":true"));
    let observations = room.records("x.assay", "obs");
    // The failed report has no complete block; the first side may have been measured.
    let complete = 2 * 2 * 8;
    assert!((complete..=complete + 1).contains(&observations.len()), "{observations:?}");
    // One CPU runs both sides, if there is a choice.
    let is_pinned = |file: &str| room.read(file).contains("\"pin\"");
    let has_choice = std::thread::available_parallelism().is_ok_and(|cpus| cpus.get() > 1);
    assert!(is_pinned("x.assay") == has_choice);
    let free = ["--no-pin", "--filter", "long", "--runs", "2", "--save", "free.assay"];
    room.run(&[&two[..3], &free].concat()).ends(0);
    assert!(!is_pinned("free.assay"));
}

#[test]
fn values_that_are_cold_are_named() {
    if !ruby_has("benchmark/ips") {
        return;
    }
    let room = Room::new();
    let text = script(["middle", "long", "short"], "").replace("warmup: 0.1", "warmup: 0");
    // A report that takes less time with each call.
    let text = text.replace("burn(0.009)", "burn(0.02 / ($calls = $calls.to_i + 1))");
    room.write("x.rb", &text);
    let result = room.json(&BENCH);
    let cold: Vec<_> =
        result["findings"].as_array().unwrap().iter().filter(|f| f["code"] == "WARM_UP").collect();
    assert_eq!(cold.len(), 1, "{:?}", codes(&result));
    assert_eq!(cold[0]["subject"], "long");
}
