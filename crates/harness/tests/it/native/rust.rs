//! Programs that `cargo bench` would run: criterion and divan.

use crate::native::tool::{Tool, built, compile, sources, value};
use assay_harness::{Effort, HarnessError, Program, by_help, question};
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

const BROKEN: [(&str, &str); 1] = [("SUMS_BROKEN", "1")];

/// Returns the program of a bench target.
fn program(target: &str) -> PathBuf {
    static OUTPUT: OnceLock<String> = OnceLock::new();
    let output = OUTPUT.get_or_init(|| {
        let mut command = Command::new(env!("CARGO"));
        command.current_dir(sources("rust")).env("CARGO_TARGET_DIR", built("rust"));
        command.args(["build", "--locked", "--benches", "--profile", "bench"]);
        let output = compile(command.args(["--message-format", "json"]));
        String::from_utf8(output.expect("this is run by cargo").stdout).unwrap()
    });
    let executables = output.split("\"executable\":\"").skip(1);
    let mut paths = executables.filter_map(|rest| rest.split('"').next()).map(PathBuf::from);
    let is = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with(target);
    paths.find(is).expect("it was built")
}

#[test]
fn criterion_lists_groups_and_measures_one_benchmark_at_every_effort() {
    let tool = Tool::recognised(&program("with_criterion"));
    assert_eq!((tool.driver.name().as_str(), tool.driver.pins()), ("criterion", false));
    assert_eq!(tool.driver.debug_build(&Default::default()), None);
    let names = ["sum", "sum (all) [2+]", "grow/vec/push/16", "grow/vec/push/64", "broken"];
    assert_eq!(tool.list(&[]).unwrap(), names);
    for name in names {
        let reading = tool.alone(name, Effort::Seconds(0.005));
        assert!(value(&reading, "wall").unwrap() > 0.0);
        // Ten samples of at least one iteration: on a busy machine all samples have the same
        // length.
        assert!(reading.iterations.unwrap() >= 10.0);
        let once = tool.alone(name, Effort::Once);
        assert!(value(&once, "wall").unwrap() > 0.0);
        assert_eq!(once.error, None);
    }
    let group = tool.alone("grow/vec/push/64", Effort::Seconds(0.005));
    assert_eq!(group.label.as_deref(), Some("grow/vec/push"));
    assert_eq!(group.parameters, [("1".to_owned(), "64".into())]);
}

#[test]
fn a_benchmark_of_criterion_that_panics_is_told_with_its_words() {
    let tool = Tool::recognised(&program("with_criterion"));
    assert_eq!(tool.list(&BROKEN).unwrap().len(), 5);
    for effort in [Effort::Once, Effort::Seconds(0.001)] {
        let error = tool.measure("broken", effort, &BROKEN).unwrap_err();
        assert!(matches!(error, HarnessError::Garbage { .. }));
        assert!(error.to_string().ends_with("it said: `no luck today`"), "{error}");
        assert!(tool.measure("sum", effort, &BROKEN).is_ok());
    }
    assert!(tool.measure("not there", Effort::Once, &[]).is_err());
}

#[test]
fn divan_lists_arguments_and_threads_and_measures_one_benchmark_at_every_effort() {
    let tool = Tool::recognised(&program("with_divan"));
    assert_eq!((tool.driver.name().as_str(), tool.driver.pins()), ("divan", true));
    let names = [
        "with_divan::broken",
        "with_divan::named::a (b::c)+",
        "with_divan::sum",
        "with_divan::sum_all",
        "with_divan::grow::push::16",
        "with_divan::grow::push::64",
        "with_divan::grow::shared::t=1",
        "with_divan::grow::shared::t=2",
    ];
    assert_eq!(tool.list(&[]).unwrap(), names);
    for name in &names[..6] {
        // This is more than the limit that one of the benchmarks sets for itself.
        let reading = tool.alone(name, Effort::Iterations(2_000));
        assert_eq!(reading.iterations, Some(2_000.0));
        assert!(value(&reading, "wall").unwrap() > 0.0);
        assert!(tool.alone(name, Effort::Seconds(0.005)).iterations.unwrap() >= 1.0);
        assert_eq!(tool.alone(name, Effort::Once).iterations, Some(1.0));
    }
    let push = tool.alone("with_divan::grow::push::64", Effort::Iterations(10));
    assert_eq!(value(&push, "alloc count"), Some(1.0));
    assert_eq!(value(&push, "grow bytes"), Some(480.0));
    // Filters do not select threads.
    let shared = tool.measure(names[7], Effort::Iterations(10), &[]).unwrap();
    let told: Vec<_> = shared.iter().map(|reading| reading.benchmark.as_str()).collect();
    assert_eq!(told, &names[6..]);
}

#[test]
fn a_benchmark_of_divan_that_panics_is_told_with_its_words() {
    let tool = Tool::recognised(&program("with_divan"));
    let error = tool.measure("with_divan::broken", Effort::Once, &BROKEN).unwrap_err();
    assert!(matches!(error, HarnessError::Garbage { .. }));
    assert!(error.to_string().ends_with("it said: `no luck today`"), "{error}");
    let error = tool.list(&BROKEN).unwrap_err().to_string();
    assert!(error.contains("--skip NAME"), "{error}");
    assert!(tool.measure("with_divan::sum", Effort::Once, &BROKEN).is_ok());
    assert!(tool.measure("with_divan::other", Effort::Once, &[]).is_err());
}

#[test]
fn neither_is_taken_for_the_other() {
    for (target, name) in [("with_criterion", "criterion"), ("with_divan", "divan")] {
        let program = program(target);
        let words = vec![program.as_os_str().to_owned()];
        let reply = crate::native::tool::run(&words, &question(), &[]);
        let driver = by_help(&Program::look(&words, &program), &reply).unwrap();
        assert_eq!(driver.name(), name);
    }
}
