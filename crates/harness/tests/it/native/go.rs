//! `go test -c` programs.

use crate::native::tool::{Tool, built, compile, sources, value};
use assay_harness::{Effort, HarnessError};
use std::process::Command;
use std::sync::OnceLock;

pub fn tool() -> Option<Tool> {
    static BUILT: OnceLock<bool> = OnceLock::new();
    let program = built("sums.test");
    let is_built = BUILT.get_or_init(|| build("sums.test", &[]));
    is_built.then(|| Tool::recognised(&program))
}

fn build(name: &str, flags: &[&str]) -> bool {
    let mut command = Command::new("go");
    // A separate module, regardless of the environment.
    command.env("GOFLAGS", "").env("GOWORK", "off").current_dir(sources("go"));
    command.args(["test", "-c"]).args(flags).arg("-o").arg(built(name)).arg(".");
    compile(&mut command).is_some()
}

/// Returns the name followed by the number of processors, if that is not 1.
fn full(name: &str, listed: &[String]) -> String {
    let suffix = listed[0].strip_prefix("BenchmarkSum").expect("the first one");
    format!("{name}{suffix}")
}

#[test]
fn benchmarks_and_their_parts_are_listed_under_full_names() {
    let Some(tool) = tool() else { return };
    assert_eq!(tool.driver.name(), "go test");
    let listed = tool.list(&[]).unwrap();
    let names = [
        "BenchmarkSum",
        "BenchmarkGrow/n=16/a+b_(c)",
        "BenchmarkGrow/n=64/a+b_(c)",
        "BenchmarkSumAll",
        "BenchmarkBroken",
    ];
    assert_eq!(listed, names.map(|name| full(name, &listed)));
    // On one processor, names have no number.
    assert_eq!(tool.list(&[("GOMAXPROCS", "1")]).unwrap(), names);
}

#[test]
fn one_benchmark_is_measured_at_every_effort() {
    let Some(tool) = tool() else { return };
    let listed = tool.list(&[]).unwrap();
    for name in &listed {
        let reading = tool.alone(name, Effort::Iterations(500));
        assert_eq!(reading.iterations, Some(500.0));
        assert!(value(&reading, "wall").unwrap() > 0.0);
        assert!(value(&reading, "allocs/op").is_some());
        assert_eq!(reading.error, None);
    }
    let grow = full("BenchmarkGrow/n=64/a+b_(c)", &listed);
    let reading = tool.alone(&grow, Effort::Seconds(0.01));
    assert!(reading.iterations.unwrap() >= 1.0);
    assert_eq!(value(&reading, "elements"), Some(64.0));
    assert_eq!(value(&reading, "B/op"), Some(512.0));
    assert_eq!(value(&reading, "allocs/op"), Some(1.0));
    assert_eq!(tool.alone(&grow, Effort::Once).iterations, Some(1.0));
}

#[test]
fn a_benchmark_that_fails_is_listed_and_told_with_its_words() {
    let Some(tool) = tool() else { return };
    let broken = full("BenchmarkBroken", &tool.list(&[]).unwrap());
    assert!(tool.list(&[("SUMS_BROKEN", "first")]).unwrap().contains(&broken));
    for when in ["first", "later"] {
        let found = tool.measure(&broken, Effort::Iterations(3), &[("SUMS_BROKEN", when)]).unwrap();
        assert_eq!(found.len(), 1);
        assert!(found[0].error.as_deref().unwrap().ends_with("no luck today"), "{found:?}");
        assert_eq!(found[0].values, []);
    }
    let panic = tool.measure(&broken, Effort::Once, &[("SUMS_BROKEN", "panic")]).unwrap_err();
    assert!(panic.to_string().contains("panic: no luck today"), "{panic}");
    assert!(matches!(
        tool.measure("BenchmarkOther", Effort::Once, &[]),
        Err(HarnessError::Garbage { .. })
    ));
}

#[test]
fn a_build_without_optimisation_is_known_by_its_file() {
    let Some(tool) = tool() else { return };
    assert_eq!(tool.driver.debug_build(&Default::default()), None);
    assert!(build("slow.test", &["-gcflags=-N -l"]));
    let slow = Tool::recognised(&built("slow.test"));
    // Older versions of Go store nothing in the programs that `go test -c` builds.
    let file = std::fs::read(built("slow.test")).unwrap();
    if !file.windows(14).any(|bytes| bytes == b"build\t-gcflags") {
        println!("skipped: this Go does not note how it built a test program");
        return;
    }
    assert!(slow.driver.debug_build(&Default::default()).unwrap().contains("-N"));
}
