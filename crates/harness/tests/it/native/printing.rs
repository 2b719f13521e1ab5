//! Programs that cannot be given options and print their results: nanobench, if installed, and a
//! harness started by the user's own code.

use crate::native::tool::{Tool, built, run, sources, value};
use assay_harness::{Effort, Program, by_help, by_name, by_output, names, plain_run, question};
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

/// Returns the program with the driver for its output, which nothing else recognizes.
fn printing(words: Vec<OsString>) -> Tool {
    let driver = by_output(&run(&words, &plain_run(), &[])).expect("it prints results");
    assert!(!driver.isolates() && !driver.pins());
    Tool { words, driver }
}

#[test]
fn a_program_of_nanobench_is_known_by_what_it_prints() {
    let program = built("sums_nanobench");
    let mut compiler = Command::new("c++");
    compiler.args(["-std=c++17", "-o"]).arg(&program).arg(sources("sums_nanobench.cpp"));
    let said = compiler.output().map(|output| {
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    });
    match said {
        Ok((true, _)) => {}
        Ok((false, said)) => {
            assert!(said.contains("there is no nanobench"), "{said}");
            println!("skipped: there is no nanobench here");
            return;
        }
        Err(_) => {
            println!("skipped: there is no `c++` here");
            return;
        }
    }
    let words = vec![program.clone().into_os_string()];
    // It ignores the question, and answers with its results.
    let reply = run(&words, &question(), &[]);
    assert!(by_help(&Program::look(&words, &program), &reply).is_none());
    assert!(by_output(&reply).is_some());
    let tool = printing(words);
    assert_eq!(tool.driver.name(), "nanobench, printed by the program");
    assert_eq!(tool.list(&[]).unwrap(), ["sum", "sum/all"]);
    let found = tool.measure("sum", Effort::Seconds(0.1), &[]).unwrap();
    assert!(found.iter().all(|reading| value(reading, "wall").unwrap() > 0.0));
    assert!(found.iter().all(|reading| reading.iterations.unwrap() >= 3.0));
}

#[test]
fn a_harness_that_its_user_runs_himself_is_known_by_what_it_prints() {
    let Some(go) = crate::native::go::tool() else { return };
    let script = tempfile::NamedTempFile::new().unwrap();
    let program = go.words[0].to_string_lossy();
    let line = format!("exec '{program}' -test.run '^$' -test.bench 'Sum' -test.benchtime 3x\n");
    std::fs::write(script.path(), line).unwrap();
    let tool = printing(vec!["sh".into(), script.path().into()]);
    assert_eq!(tool.driver.name(), "go test, printed by the program");
    let listed = tool.list(&[]).unwrap();
    assert_eq!(listed.len(), 2);
    assert_eq!(go.list(&[]).unwrap()[0], listed[0]);
    let found = tool.measure(&listed[1], Effort::Once, &[]).unwrap();
    assert!(found.iter().all(|reading| value(reading, "wall").unwrap() > 0.0));
}

#[test]
fn numbers_that_may_be_anything_are_read_for_whoever_says_so() {
    let words: Vec<OsString> = ["sh", "-c", "echo 1.5; echo 2.5"].map(Into::into).to_vec();
    assert!(by_output(&run(&words, &plain_run(), &[])).is_none());
    assert!(names().contains(&"printing"));
    let program = Program::look(&words, Path::new("/bin/sh"));
    let tool = Tool { driver: by_name("printing", &program).unwrap(), words };
    assert_eq!(tool.list(&[]).unwrap(), ["output"]);
    assert_eq!(value(&tool.measure("output", Effort::Once, &[]).unwrap()[0], "value"), Some(2.0));
    let words: Vec<OsString> = ["sh", "-c", "echo 1.5; exit 3"].map(Into::into).to_vec();
    let broken = Tool { words, ..tool };
    assert!(broken.list(&[]).is_err());
    assert!(broken.measure("output", Effort::Once, &[]).is_err());
}
