//! The results of jobs: each state with its cause, and servers that are unreachable, cancel jobs,
//! or have lost the lease.

use crate::agent::fake::{Fake, version};
use crate::agent::tools::{
    TOKEN, agent, agent_with, archive, is_possible, place, processes, signal,
};
use assay_farm::builds::model::{Fault, Kind, State};
use assay_farm::builds::wire::{Origin, Recipe};
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

const PASSES: &str =
    "import unittest\nclass A(unittest.TestCase):\n def test_x(self): print('seen in the log')\n";
const FAILS: &str = "import unittest\nclass A(unittest.TestCase):\n def test_x(self): pass\n def test_y(self): self.fail('no')\n";

fn recipe(install: &[&str], test: Option<&str>) -> Recipe {
    Recipe {
        install: install.iter().map(|own| (*own).to_owned()).collect(),
        test: test.map(str::to_owned),
        timeout: Some(300),
        ..Recipe::default()
    }
}

#[test]
fn each_state_is_told_from_the_others() {
    if !is_possible() {
        return;
    }
    let fake = Fake::start();
    let room = place();
    let unittest = Some("python3 -m unittest discover -s tests");
    let passes = archive(&[("tests/test_a.py", PASSES)]);
    let fails = archive(&[("tests/test_a.py", FAILS)]);
    fake.job(1, passes.clone(), recipe(&["true"], unittest));
    fake.job(2, fails, recipe(&["true"], unittest));
    // Status 0 without a test.
    fake.job(3, passes.clone(), recipe(&["true"], Some("true")));
    fake.job(4, passes.clone(), recipe(&["echo it can not be >&2; exit 3"], unittest));
    fake.job(
        5,
        archive(&[("tests/test_a.py", "import nothing_of_this_name")]),
        recipe(&["true"], unittest),
    );
    let slow = archive(&[("tests/test_a.py", &format!("import time\ntime.sleep(600)\n{PASSES}"))]);
    fake.job(6, slow, Recipe { timeout: Some(2), ..recipe(&["true"], unittest) });
    fake.job(7, passes.clone(), recipe(&["echo Could not resolve host: x; exit 6"], unittest));
    fake.queue(8, Some(format!("{}/files/none.tar.gz", fake.url())), None, Recipe::default());
    fake.queue(9, Some("http://127.0.0.1:9/p.tar.gz".to_owned()), None, Recipe::default());
    // The commands suggested by the files.
    fake.job(10, passes, Recipe::default());
    let other = archive(&[("README", "nothing to test")]);
    fake.job(11, other, Recipe::default());
    let agent = agent(&fake, room.path(), &[]);
    let mut found = Vec::new();
    for id in 1..=11 {
        let outcome = fake.ending(id).outcome;
        assert!(!outcome.reason.is_empty() && outcome.seconds >= 0.0, "{id}: {outcome:?}");
        found.push((id, outcome.state, outcome.fault));
    }
    let (status, said) = agent.end();
    assert_eq!(status, Some(130), "{said}");
    let expected = [
        (1, State::Passed, None),
        (2, State::Failed, None),
        (3, State::NotTested, None),
        (4, State::InstallFailed, None),
        // The framework counts a module that cannot be loaded as a failure.
        (5, State::Failed, None),
        (6, State::TimedOut, None),
        (7, State::Infrastructure, Some(Fault::Network)),
        (8, State::InstallFailed, None),
        (9, State::Infrastructure, Some(Fault::Network)),
        (10, State::Passed, None),
        (11, State::NotTested, None),
    ];
    assert_eq!(found, expected, "{said}");
    let state = fake.state();
    let first = &state.endings[&1].outcome;
    assert_eq!((first.evidence.tests, first.evidence.failed), (1, 0));
    assert!(first.evidence.framework.as_ref().is_some_and(|own| own.contains("unittest")));
    let second = &state.endings[&2].outcome;
    assert_eq!((second.evidence.tests, second.evidence.failed), (2, 1));
    assert!(second.evidence.failures[0].contains("test_y"));
    assert!(
        state.endings[&10].outcome.repeat.contains("assay tests -- "),
        "{:?}",
        state.endings[&10]
    );
    assert_eq!(state.tokens.iter().collect::<Vec<_>>(), [&format!("Bearer {TOKEN}")]);
    drop(state);
    // The commands that were run, their output, and the result.
    let log = fake.log(1);
    for part in ["$ true", "$ python3 -m unittest discover", "seen in the log", "assay: passed: "] {
        assert!(log.contains(part), "{part}: {log}");
    }
    assert!(fake.log(4).contains("it can not be"), "{}", fake.log(4));
    // Nothing of a job is left.
    assert_eq!(std::fs::read_dir(room.path().join("jobs")).unwrap().count(), 0);
    assert_eq!(std::fs::read_dir(room.path().join("spool")).unwrap().count(), 0);
}

#[test]
fn what_can_not_be_handed_in_waits_in_order() {
    if !is_possible() {
        return;
    }
    let fake = Fake::start();
    let room = place();
    let files = archive(&[("tests/test_a.py", PASSES)]);
    let unittest = Some("python3 -m unittest discover -s tests");
    // The server becomes unreachable while the job runs.
    let recipe = recipe(&["echo begun; sleep 2"], unittest);
    fake.job(1, files, recipe);
    let first = agent(&fake, room.path(), &["--once"]);
    fake.until("a log", |state| state.logs.get(&1).is_some_and(|log| !log.is_empty())).is_away =
        true;
    let spool = room.path().join("spool");
    let end = Instant::now() + crate::agent::fake::PATIENCE;
    // An entry that is still being written has another name, and does not outlive a kill.
    let is_whole = |name: std::ffi::OsString| !name.to_string_lossy().starts_with("new-");
    while !std::fs::read_dir(&spool).unwrap().flatten().any(|own| is_whole(own.file_name())) {
        assert!(Instant::now() < end, "it never came into the spool");
        std::thread::sleep(Duration::from_millis(50));
    }
    // Neither killing the agent nor starting another one loses the result.
    first.kill();
    assert!(fake.state().endings.is_empty());
    fake.state().is_away = false;
    let (_, said) = agent(&fake, room.path(), &["--once"]).ended();
    let ending = fake.ending(1);
    assert_eq!(ending.outcome.state, State::Passed, "{said}");
    assert_eq!(fake.state().handed.len(), 1);
    assert!(fake.log(1).contains("assay: passed: "), "{}", fake.log(1));
    assert_eq!(std::fs::read_dir(&spool).unwrap().count(), 0);
}

#[test]
fn a_job_that_is_not_wanted_any_more_ends_with_all_its_processes() {
    if !is_possible() {
        return;
    }
    let fake = Fake::start();
    let room = place();
    let files = archive(&[("a", "b")]);
    let word = format!("31{}", std::process::id());
    let line = format!("setsid sleep {word}1 & sleep {word}2 & echo begun; sleep {word}3");
    for id in [1, 2] {
        fake.job(id, files.clone(), recipe(&[&line], Some("true")));
    }
    let agent = agent(&fake, room.path(), &[]);
    let is_running = |id| {
        fake.waits("the job", |state| {
            state.logs.get(&id).is_some_and(|own| String::from_utf8_lossy(own).contains("\nbegun"))
        });
        assert!(!processes(&word).is_empty());
    };
    is_running(1);
    fake.state().cancelled.insert(1);
    is_running(2);
    fake.state().lost.insert(2);
    fake.waits("another question", |state| state.waiting.is_empty() && state.askings.len() >= 3);
    assert!(processes(&word).is_empty());
    // No results were submitted for them.
    assert!(fake.state().handed.is_empty());
    let (status, said) = agent.end();
    assert_eq!(status, Some(130));
    assert!(said.contains("the job was cancelled") && said.contains("the lease expired"), "{said}");
}

#[test]
fn an_agent_that_is_ended_gives_its_job_back() {
    if !is_possible() {
        return;
    }
    let fake = Fake::start();
    let room = place();
    fake.job(1, archive(&[("a", "b")]), recipe(&["echo begun; sleep 600"], None));
    let agent = agent(&fake, room.path(), &[]);
    fake.waits("the job", |state| state.logs.contains_key(&1));
    signal(agent.id(), "TERM");
    let outcome = fake.ending(1).outcome;
    assert_eq!(outcome.state, State::Infrastructure);
    assert_eq!(outcome.reason, "the agent was stopped");
    assert_eq!(agent.ended().0, Some(130));
}

#[test]
fn one_job_and_no_other() {
    if !is_possible() {
        return;
    }
    let fake = Fake::start();
    let room = place();
    for id in [1, 2] {
        fake.job(id, archive(&[("a", "b")]), recipe(&["true"], None));
    }
    let (status, said) = agent(&fake, room.path(), &["--once=2"]).ended();
    assert_eq!(status, Some(0), "{said}");
    assert_eq!(fake.state().endings.keys().collect::<Vec<_>>(), [&2]);
    let (status, said) = agent(&fake, room.path(), &["--once=2"]).ended();
    assert_eq!(status, Some(2), "{said}");
    assert!(said.contains("job 2 cannot be leased"), "{said}");
}

#[test]
fn agents_for_one_job_each_may_have_one_name() {
    if !is_possible() {
        return;
    }
    let fake = Fake::start();
    let room = place();
    fake.state().others = 1;
    fake.job(1, archive(&[("a", "b")]), recipe(&["true"], None));
    let (status, said) = agent(&fake, room.path(), &["--once=1"]).ended();
    assert_eq!(status, Some(0), "{said}");
    assert_eq!(fake.state().hellos.len(), 2);
}

#[test]
fn two_agents_do_not_share_a_directory_and_a_wrong_token_is_said() {
    if !is_possible() {
        return;
    }
    let fake = Fake::start();
    let room = place();
    let first = agent(&fake, room.path(), &[]);
    fake.waits("an agent", |state| !state.hellos.is_empty());
    let (status, said) = agent(&fake, room.path(), &[]).ended();
    assert_eq!(status, Some(2));
    assert!(said.contains("in use by another agent"), "{said}");
    first.end();
    let targets = &fake.state().hellos[0].targets;
    let facts = &targets[0].facts;
    for name in ["os", "kernel", "libc", "arch", "runtime.python"] {
        assert!(facts.contains_key(name), "{name}: {facts:?}");
    }
}

#[test]
fn an_index_of_python_is_asked_and_its_sums_are_held() {
    if !is_possible() {
        return;
    }
    let fake = Fake::start();
    let room = place();
    let files = archive(&[("tests/test_a.py", PASSES)]);
    let page = |sum: &str| {
        format!(
            r#"{{"files":[{{"filename":"p-1.0.tar.gz","url":"/files/p-1.0.tar.gz","hashes":{{"sha256":"{sum}"}}}}]}}"#
        )
    };
    {
        let mut state = fake.state();
        state.files.insert("/files/p-1.0.tar.gz".to_owned(), files.clone());
        state.files.insert("/bad/p/".to_owned(), page(&"0".repeat(64)).into_bytes());
    }
    let index = format!("{}/bad", fake.url());
    let origin = Origin::PyPi { name: "p".to_owned(), index: Some(index) };
    fake.queue(1, None, Some(origin), Recipe::default());
    let (_, said) = agent(&fake, room.path(), &["--once"]).ended();
    let outcome = fake.ending(1).outcome;
    assert_eq!(outcome.state, State::InstallFailed, "{said}");
    assert!(outcome.reason.contains("not the expected file"), "{}", outcome.reason);
    // The message contains the actual checksum.
    let sum =
        outcome.reason.split("SHA-256 is ").nth(1).unwrap().split(',').next().unwrap().to_owned();
    fake.state().files.insert("/good/p/".to_owned(), page(&sum).into_bytes());
    let index = format!("{}/good", fake.url());
    let origin = Origin::PyPi { name: "p".to_owned(), index: Some(index) };
    fake.queue(2, None, Some(origin), recipe(&["true"], None));
    let (_, said) = agent(&fake, room.path(), &["--once"]).ended();
    assert_eq!(fake.ending(2).outcome.state, State::Passed, "{said}");
}

/// Replaces the program that measures: prints its arguments, and fixed results.
const MEASURES: &str = r#"#!/bin/sh
case $1 in
calibrate)
  lower=0.0
  [ -e "$0.drifted" ] && lower=0.2
  printf '{"methods":[{"name":"assay_default","comparisons":400,"rate":{"estimate":0.3,"lower":%s,"upper":0.4}}],"detectable":[{"metric":"wall","budget_seconds":60.0,"difference":0.01}]}' $lower
  ;;
bench)
  while [ $# -gt 0 ]; do
    case $1 in
      --export) result=$2; shift ;;
      --save) samples=$2; shift ;;
    esac
    shift
  done
  { git show base:mark; git show version:mark; } > "$samples"
  printf '{"comparisons":[{"of":"version","row":"sum","metric":"wall","family":"primary","verdict":"slower","ratio":{"estimate":1.05,"lower":1.02,"upper":1.08},"blocks":40}]}' > "$result"
  ;;
esac
"#;

#[test]
fn both_sides_of_a_benchmark_are_measured_in_one_lease_by_a_node_that_may_vote() {
    if !is_possible() {
        return;
    }
    let fake = Fake::start();
    let room = place();
    let measures = room.path().join("measures");
    std::fs::write(&measures, MEASURES).unwrap();
    std::fs::set_permissions(&measures, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = "/files/base.tar.gz".to_owned();
    let address = format!("{}{path}", fake.url());
    {
        let mut state = fake.state();
        state.kind = Some(Kind::Bench);
        state.base = Some(version("0.9", Some(address)));
        state.files.insert(path, archive(&[("mark", "0.9\n"), ("gone", "since then")]));
    }
    let bench = Some("--program ./it --harness printing".to_owned());
    fake.job(1, archive(&[("mark", "1.0\n")]), Recipe { bench, ..recipe(&[], None) });
    let start = || agent_with(&fake.url(), TOKEN, room.path(), &[], Some(&measures));
    let first = start();
    let outcome = fake.ending(1).outcome;
    assert_eq!(outcome.state, State::Passed, "{outcome:?}\n{}", fake.log(1));
    assert_eq!(outcome.comparisons.len(), 1);
    assert_eq!((outcome.comparisons[0].verdict.as_str(), outcome.comparisons[0].n), ("slower", 40));
    assert_eq!(fake.state().samples[&1], b"0.9\n1.0\n");
    let state = fake.until("a calibration", |state| !state.calibrations.is_empty());
    assert!(state.calibrations[0].is_fit);
    drop(state);
    first.end();
    // Later it finds differences where there are none.
    std::fs::write(room.path().join("measures.drifted"), "").unwrap();
    let second = start();
    let state = fake.until("a second calibration", |state| state.calibrations.len() == 2);
    let found = &state.calibrations[1];
    assert!(!found.is_fit && found.reason.contains("with itself"), "{found:?}");
    drop(state);
    second.end();
}
