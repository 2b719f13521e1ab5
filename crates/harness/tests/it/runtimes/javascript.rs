//! Scripts with tinybench and mitata from npm.

use crate::runtimes::support::{Subject, in_turns, installed, programs, value};
use assay_harness::executed::{ExecutedScript, executed_scripts, noting_scripts};
use assay_harness::{Effort, Request, by_looks};
use std::path::Path;
use std::process::Command;

/// Returns the script of a library that is installed in a directory of the runtimes, next to the
/// library.
fn script(place: &str, name: &str) -> Option<Subject> {
    let library = installed(&format!("{place}/node_modules/{name}"))?;
    let directory = Path::new(&library).ancestors().nth(2).expect("it is in node_modules");
    let file = directory.join(format!("{name}.mjs"));
    std::fs::copy(programs().join(format!("javascript/{name}.mjs")), &file).expect("a copy");
    Some(Subject::new(&["node", file.to_str().expect("a path in UTF-8")]))
}

#[test]
fn tasks_of_tinybench_are_listed_and_measured_one_by_one() {
    let Some(script) = script("javascript", "tinybench") else { return };
    let driver = by_looks(&script.program()).expect("it imports the library");
    assert_eq!(driver.name(), "tinybench");
    let names = ["sums > reduce", "sums > a \"label\"\nü", "sums > broken", "map"];
    assert_eq!(script.list(&*driver), names);

    let once = script.measure(&*driver, names[0], Effort::Once);
    assert_eq!(once.iterations, Some(1.0));
    let calibrated = script.measure(&*driver, names[0], Effort::Seconds(0.05));
    let count = calibrated.iterations.expect("iterations");
    // Adding a thousand numbers takes between 100 ns and 100 µs.
    assert!((5e2..5e5).contains(&count), "{count}");
    for name in [names[1], names[3]] {
        let pinned = script.measure(&*driver, name, Effort::Iterations(500));
        assert_eq!(pinned.iterations, Some(500.0));
        assert!((1e-8..1e-3).contains(&value(&pinned, "wall")), "{pinned:?}");
    }
    let broken = script.measure(&*driver, names[2], Effort::Seconds(0.01));
    assert_eq!(broken.error.as_deref(), Some("TypeError: not today"));
}

#[test]
fn earlier_versions_of_tinybench_measure_for_as_long_as_they_are_told() {
    let Some(script) = script("javascript/earlier", "tinybench") else { return };
    let driver = by_looks(&script.program()).expect("it imports the library");
    assert!(script.list(&*driver).contains(&"map".to_owned()));
    for (effort, iterations) in [(Effort::Once, 1.0), (Effort::Iterations(500), 500.0)] {
        let found = script.measure(&*driver, "map", effort);
        assert_eq!(found.iterations, Some(iterations));
    }
    let found = script.measure(&*driver, "map", Effort::Seconds(0.02));
    let seconds = value(&found, "wall") * found.iterations.expect("iterations");
    // The script's own 500 ms would be much longer.
    assert!((0.015..0.1).contains(&seconds), "{seconds}");
    let (found, _) = in_turns(&script, &*driver, "map", Effort::Iterations(500));
    assert_eq!(found.iterations, Some(500.0));
}

#[test]
fn benchmarks_of_vitest_are_named_by_file_and_suites() {
    let Some(modules) = installed("vitest/node_modules/vitest") else { return };
    let project =
        Path::new(&modules).ancestors().nth(2).expect("it is in node_modules").join("bench");
    std::fs::create_dir_all(&project).expect("a directory");
    let text = "import { bench, describe } from 'vitest';
        const options = { time: 20, warmupTime: 5 };
        describe('text', () => {
          bench('split', () => { 'a b c'.split(' '); }, options);
          bench('broken', () => { throw new TypeError('not today'); }, options);
        });
        bench('split', () => { 'a b c d e f g h'.split(' '); }, options);";
    std::fs::write(project.join("own.bench.mjs"), text).expect("a file");
    std::fs::write(project.join("zz.bench.mjs"), "import './missing.mjs';").expect("a file");
    let program = format!("{modules}/vitest.mjs");
    let root = project.to_str().expect("a path in UTF-8");
    let subject = Subject::new(&["node", &program, "bench", "--root", root]);
    let driver = by_looks(&subject.program()).expect("it is named so");
    assert_eq!(driver.name(), "vitest");
    let names = [
        "own.bench.mjs > text > split",
        "own.bench.mjs > text > broken",
        "own.bench.mjs > split",
        "zz.bench.mjs",
    ];
    assert_eq!(subject.list(&*driver), names);
    let reply = subject.run(|scratch| driver.measure(names[0], Effort::Seconds(0.02), scratch));
    assert!(reply.success, "the failed one says so itself");
    let found = driver.read(&reply).expect("a result");
    assert_eq!(found.iter().map(|own| &own.benchmark).collect::<Vec<_>>(), names);
    for own in [&found[0], &found[2]] {
        assert!((1e-9..1e-3).contains(&value(own, "wall")), "{own:?}");
        assert!(own.iterations.expect("iterations") > 10.0);
    }
    // vitest 4 keeps the error to itself.
    assert_eq!(found[1].error.as_deref(), Some("it has no time"));
    // A file that can't be loaded is not lost among the others.
    let error = found[3].error.as_deref().expect("an error");
    assert!(error.contains("missing.mjs"), "{error}");
}

#[test]
fn scripts_measure_in_turns() {
    for (name, benchmark) in [("tinybench", "map"), ("mitata", "reduce")] {
        let Some(script) = script("javascript", name) else { return };
        let driver = by_looks(&script.program()).expect("it imports the library");
        script.list(&*driver);
        let effort = if driver.pins() { Effort::Iterations(500) } else { Effort::Seconds(0.05) };
        let (found, turns) = in_turns(&script, &*driver, benchmark, effort);
        assert_eq!(turns, 5, "{name}");
        assert!((1e-9..1e-3).contains(&value(&found, "wall")), "{found:?}");
        assert!(found.busy_cpus.is_some_and(|busy| busy > 0.1), "{found:?}");
        // A task that did not run again would have only those of one turn.
        assert!(found.iterations.is_some_and(|count| !driver.pins() || count == 500.0));
    }
}

#[test]
fn benchmarks_of_mitata_are_measured_at_every_argument() {
    for place in ["javascript", "javascript/earlier"] {
        script(place, "mitata").iter().for_each(every_argument_is_measured);
    }
}

fn every_argument_is_measured(script: &Subject) {
    let driver = by_looks(&script.program()).expect("it imports the library");
    assert!(!driver.pins());
    let names = ["reduce", "fill 10", "fill 100000", "broken", "reduce #2"];
    assert_eq!(script.list(&*driver), names);

    let wall = |name| {
        let found = script.measure(&*driver, name, Effort::Seconds(0.05));
        assert!(found.iterations.is_some_and(|count| count >= 1.0));
        value(&found, "wall")
    };
    let (short, long) = (wall(names[1]), wall(names[2]));
    assert!(short * 100.0 < long, "{short} s, {long} s");
    assert!(wall(names[4]) > 0.0);
    assert!(value(&script.measure(&*driver, names[0], Effort::Once), "wall") > 0.0);
    let broken = script.measure(&*driver, names[3], Effort::Seconds(0.01));
    assert_eq!(broken.error.as_deref(), Some("TypeError: not today"));
}

#[test]
fn comments_of_scripts_are_not_what_they_execute() {
    if !Command::new("node").arg("--version").output().is_ok_and(|node| node.status.success()) {
        return;
    }
    // Returns the digest of what a script executes.
    let digest = |text: &str| -> String {
        let room = tempfile::tempdir().expect("a directory");
        let own = noting_scripts(Request::default(), room.path());
        let script = room.path().join("script.mjs");
        std::fs::write(&script, text).expect("a script");
        for (file, text) in &own.files {
            std::fs::create_dir_all(file.parent().expect("a directory")).expect("a directory");
            std::fs::write(file, text).expect("a file");
        }
        let mut node = Command::new("node");
        node.arg(&script).envs(own.options);
        assert!(node.status().expect("node runs").success(), "{text}");
        let scripts = executed_scripts(room.path()).expect("it answers");
        let is_own = |own: &&ExecutedScript| own.file.ends_with("script.mjs");
        scripts.iter().find(is_own).expect("it is one of them").digest.clone()
    };
    let same = |one: &str, other: &str| digest(one) == digest(other);
    const PLAIN: &str = "const f = (a) => a / 2;\nf(1);\n";
    let commented = "// One.\nconst f = (a) => a / 2;\n/**\n * Two: `.\n */\n  // Three '\nf(1);\n";
    assert!(same(PLAIN, commented));
    assert!(!same(PLAIN, &PLAIN.replace('2', "3")));
    // Strings, templates and regular expressions contain no comments.
    for text in [
        "const t = `\n// a\n`;\nt.length;\n",
        "const t = `${[1].map((x) => `${x}\n// a\n`)}\n// a\n`;\n",
        "const t = 'b\\\n// a';\n",
        "const t = /[/'\"`]/.test('`');\nconst u = `\n// a\n`;\n",
        "const t = (1) / 2 /* ` */;\nconst u = `\n// a\n`;\n",
        "if (1) /`/.test('');\nconst u = `\n// a\n`;\n",
        "const o = {a: {}};\nconst u = `${{ a: 1 }.a}\n// a`;\n",
    ] {
        assert!(!same(text, &text.replace("// a", "// b")), "{text}");
    }
}

#[test]
fn a_script_that_fails_says_why() {
    if installed("javascript/node_modules/tinybench").is_none() {
        return;
    }
    let file = std::env::temp_dir().join(format!("assay-nowhere-{}.mjs", std::process::id()));
    std::fs::write(&file, "import { Bench } from 'tinybench';").expect("a file");
    let other = Subject::new(&["node", file.to_str().expect("a path in UTF-8")]);
    let driver = by_looks(&other.program()).expect("it imports the library");
    let reply = other.run(|scratch| driver.list(scratch));
    std::fs::remove_file(&file).expect("it was made");
    let error = driver.listed(&reply).expect_err("the library is not there").to_string();
    assert!(error.contains("tinybench"), "{error}");
}
