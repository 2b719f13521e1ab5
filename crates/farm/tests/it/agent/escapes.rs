//! Attempts of a version to escape from the sandbox with the agent's policy: each test is one way
//! out. Most are tried by one job, whose tests fail if they succeed in escaping; those that end a
//! job are in separate jobs.

use crate::agent::fake::Fake;
use crate::agent::tools::{TOKEN, agent, archive, is_possible, place, processes};
use assay_farm::builds::model::State;
use assay_farm::builds::wire::{Origin, Outcome, Recipe};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Each function is one way out, and fails if it succeeds.
const WAYS: &str = include_str!("ways.py");
/// A word in the command line of processes that a version leaves behind.
const LEFT: &str = "987650";

struct Tried {
    outcomes: BTreeMap<i64, Outcome>,
    logs: BTreeMap<i64, String>,
    said: String,
    room: tempfile::TempDir,
}

/// Creates the archive of a version by hand, with names that no library writes.
fn crooked(name: &str, link: Option<&str>) -> Vec<u8> {
    let mut builder =
        tar::Builder::new(flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast()));
    let mut header = tar::Header::new_gnu();
    let text: &[u8] = if link.is_some() { b"" } else { b"got out" };
    header.set_size(text.len() as u64);
    header.set_mode(0o644);
    let old = header.as_old_mut();
    old.name[..name.len()].copy_from_slice(name.as_bytes());
    if let Some(link) = link {
        old.linkname[..link.len()].copy_from_slice(link.as_bytes());
        header.set_entry_type(tar::EntryType::Symlink);
    }
    header.set_cksum();
    builder.append(&header, text).unwrap();
    builder.into_inner().unwrap().finish().unwrap()
}

/// Returns the results of all jobs, which are run by one agent.
fn tried() -> Option<&'static Tried> {
    static TRIED: OnceLock<Option<Tried>> = OnceLock::new();
    TRIED.get_or_init(run).as_ref()
}

fn run() -> Option<Tried> {
    if !is_possible() {
        return None;
    }
    let fake = Fake::start();
    fake.state().log_limit = 100_000;
    let room = place();
    std::fs::write(room.path().join("secret"), TOKEN).unwrap();
    let agent = agent(&fake, room.path(), &["--disk", "64MiB"]);
    fake.waits("an agent", |state| !state.hellos.is_empty());
    let ways = WAYS
        .replace("@AGENT@", &agent.id().to_string())
        .replace("@OWN@", &std::process::id().to_string())
        .replace("@PORT@", &fake.port.to_string())
        .replace("@DIRECTORY@", &room.path().display().to_string())
        .replace("@TOKEN@", TOKEN)
        .replace("@LEFT@", LEFT);
    let recipe = |test: &str| {
        Recipe {
        install: vec!["mkdir -p ~/.local/bin && printf '#!/bin/sh\\nexec \"$@\"\\n' > ~/.local/bin/prlimit && chmod 755 ~/.local/bin/prlimit".to_owned()],
        test: Some(test.to_owned()),
        timeout: Some(300),
        memory: Some(256 << 20),
        processes: Some(64),
        ..Recipe::default()
    }
    };
    let python = |text: &str| archive(&[("test_it.py", text)]);
    let unittest = "python3 -m unittest test_it";
    let test = |body: &str| {
        format!("import unittest, os, sys\nclass A(unittest.TestCase):\n def test_x(self):\n{body}")
    };
    fake.job(1, python(&ways), recipe(unittest));
    let memory = test(
        "  x = []\n  for i in range(64): x.append(b'x' * (32 << 20))\n  open('got-out', 'w')\n",
    );
    fake.job(2, python(&memory), recipe(unittest));
    let disk = test(
        "  import time\n  for i in range(600):\n   open('f%d' % i, 'wb').write(b'x' * (1 << 20))\n   time.sleep(0.02)\n  time.sleep(60)\n",
    );
    fake.job(3, python(&disk), recipe(unittest));
    // Far more than the log keeps; even more would only take longer.
    let flood = test("  for i in range(300): os.write(1, b'x' * 65535 + b'\\n')\n");
    fake.job(4, python(&flood), recipe(unittest));
    let named = "import unittest\nclass A(unittest.TestCase): pass\ndef f(self): self.fail('\\x1b[2J')\nsetattr(A, 'test_<script>alert(1)</script>\\x1b[31m', f)\n";
    fake.job(5, python(named), recipe(unittest));
    // A report that is a link to a file that the tests may not read.
    let secret = room.path().join("secret").display().to_string();
    let linked = format!(
        "import os\nos.chdir('../../rooms/1')\nfor name in ['report.xml', 'report.json', 'events.jsonl']:\n os.path.lexists(name) and os.remove(name)\n os.symlink('{secret}', name)\n"
    );
    fake.job(6, python(&linked), recipe("python3 -m pytest"));
    fake.job(7, crooked("../../../../out", None), recipe("true"));
    fake.job(8, crooked("p-1.0/l", Some("/etc")), recipe("true"));
    fake.job(9, crooked("/tmp/assay-farm-got-out", None), recipe("true"));
    for (id, url) in [
        (10, "ext::sh -c 'touch /tmp/assay-farm-got-out'".to_owned()),
        (11, "--upload-pack=touch /tmp/assay-farm-got-out".to_owned()),
        (12, format!("file://{}", room.path().display())),
    ] {
        fake.queue(id, None, Some(Origin::Git { url }), Recipe::default());
    }
    let mut outcomes = BTreeMap::new();
    for id in 1..=12 {
        outcomes.insert(id, fake.ending(id).outcome);
    }
    let (_, said) = agent.end();
    let logs = (1..=12).map(|id| (id, fake.log(id))).collect();
    Some(Tried { outcomes, logs, said, room })
}

/// Checks one way out of the first job.
fn way(name: &str) {
    let Some(tried) = tried() else { return };
    assert!(WAYS.contains(&format!("def test_{name}(")), "there is no such way");
    let outcome = &tried.outcomes[&1];
    let out = outcome.evidence.failures.iter().any(|own| own.contains(name));
    assert!(!out, "{}", tried.logs[&1]);
    // All ways were tried.
    let ways = WAYS.matches("def test_").count() as u64;
    assert_eq!(outcome.evidence.tests, ways, "{outcome:?}\n{}", tried.logs[&1]);
}

macro_rules! ways {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            way(stringify!($name));
        }
    )*};
}

ways! {
    writing_outside
    writing_to_the_agent_s_directory
    other_users_processes
    the_network
    the_servers_api_on_loopback
    fork_bomb
    setuid
    ptrace
    proc_of_the_system
    the_agents_token
    devices
    namespaces
    control_groups
    the_terminal
    limits_by_a_program_of_its_own
    leaving_a_process_behind
}

#[test]
fn nothing_arrived_outside() {
    let Some(tried) = tried() else { return };
    let read = |name: &str| std::fs::read_to_string(tried.room.path().join(name)).unwrap();
    assert_eq!(
        (read("lock"), read("secret"), read("token-of-the-test")),
        (String::new(), TOKEN.to_owned(), TOKEN.to_owned())
    );
    for (directory, left) in [("spool", 0), ("jobs", 0), (".", 5)] {
        let entries = std::fs::read_dir(tried.room.path().join(directory)).unwrap().flatten();
        let entries: Vec<_> = entries.map(|own| own.file_name()).collect();
        assert_eq!(entries.len(), left, "{directory}: {entries:?}");
    }
}

#[test]
fn a_process_that_was_left_behind_is_gone() {
    if tried().is_some() {
        assert!(processes(LEFT).is_empty());
    }
}

#[test]
fn memory_has_an_end() {
    let Some(tried) = tried() else { return };
    let outcome = &tried.outcomes[&2];
    // The kernel kills it, or Python reports an error if the limit is per process.
    assert!(matches!(outcome.state, State::Errored | State::Failed), "{outcome:?}");
}

#[test]
fn the_disk_has_an_end() {
    let Some(tried) = tried() else { return };
    let outcome = &tried.outcomes[&3];
    assert_eq!(outcome.state, State::Errored, "{outcome:?}");
    assert!(outcome.reason.contains("wrote more than 67108864 bytes"), "{outcome:?}");
}

#[test]
fn a_log_has_an_end_and_says_so() {
    let Some(tried) = tried() else { return };
    let (outcome, log) = (&tried.outcomes[&4], &tried.logs[&4]);
    assert!(outcome.log_cut > 19_000_000, "{}", outcome.log_cut);
    assert!(log.len() <= 100_000, "{}", log.len());
    assert!(log.contains("more bytes were written, but not kept"), "{}", &log[log.len() - 400..]);
}

#[test]
fn names_and_reasons_are_plain_text() {
    let Some(tried) = tried() else { return };
    let outcome = &tried.outcomes[&5];
    assert_eq!(outcome.state, State::Failed, "{outcome:?}");
    let name = &outcome.evidence.failures[0];
    // As text; the pages escape it.
    assert!(name.contains("<script>"), "{name}");
    for text in [name, &outcome.reason, &outcome.repeat, &tried.said.replace('\n', " ")] {
        assert!(!text.chars().any(char::is_control), "{text:?}");
    }
}

#[test]
fn links_in_artifacts_lead_nowhere() {
    let Some(tried) = tried() else { return };
    let text = format!("{:?}{}{}", tried.outcomes[&6], tried.logs[&6], tried.said);
    assert!(!text.contains(TOKEN), "{text}");
}

#[test]
fn archives_stay_in_their_directory() {
    let Some(tried) = tried() else { return };
    for id in [7, 8, 9] {
        let outcome = &tried.outcomes[&id];
        assert_eq!(outcome.state, State::InstallFailed, "{outcome:?}");
        assert!(outcome.reason.contains("leads out of the directory"), "{outcome:?}");
    }
    assert!(!tried.room.path().join("out").exists());
    assert!(!std::path::Path::new("/tmp/assay-farm-got-out").exists());
}

#[test]
fn addresses_run_nothing_and_read_no_local_repository() {
    let Some(tried) = tried() else { return };
    for id in [10, 11, 12] {
        assert_eq!(tried.outcomes[&id].state, State::InstallFailed, "{:?}", tried.outcomes[&id]);
    }
    assert!(!std::path::Path::new("/tmp/assay-farm-got-out").exists());
}
