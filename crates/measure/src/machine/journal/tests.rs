//! Journals of running, ended and nonexistent processes.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::sync::atomic::Ordering;

use proptest::prelude::*;

use super::*;

fn change(path: &str, before: &str, after: &str) -> Change {
    let (before, after) = (before.to_owned(), after.to_owned());
    Change { knob: "governor", path: PathBuf::from(path), before, after }
}

/// Returns a process that has ended.
fn gone(started: u64) -> Owner {
    let mut child = std::process::Command::new("/bin/true").spawn().unwrap();
    child.wait().unwrap();
    Owner { process: child.id(), started, ..Owner::this().unwrap() }
}

fn count(directory: &Path) -> usize {
    fs::read_dir(directory).unwrap().count()
}

fn left(directory: &Path) -> Vec<Vec<Change>> {
    let left = Journal::left_behind(directory).unwrap();
    left.into_iter().map(|left| left.changes).collect()
}

#[test]
fn what_a_living_process_changed_is_not_left_behind() {
    let directory = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(directory.path()).unwrap();
    assert_eq!(count(directory.path()), 0);
    journal.record(&[]).unwrap();
    assert_eq!(count(directory.path()), 0);
    journal.record(&[change("/a", "x", "y")]).unwrap();
    journal.record(&[change("/b", "x", "y")]).unwrap();
    assert_eq!(Journal::left_behind(directory.path()).unwrap(), []);
    // Changes made by this process are not listed as those of another process.
    assert_eq!(Journal::held_by_others(directory.path()).unwrap(), []);
    Journal::sweep(directory.path()).unwrap();
    assert_eq!(count(directory.path()), 1);
    journal.clear().unwrap();
    journal.clear().unwrap();
    assert_eq!(count(directory.path()), 0);
}

#[test]
fn what_another_living_process_holds_is_told_with_its_number_until_it_ends() {
    let directory = tempfile::tempdir().unwrap();
    let mut child = std::process::Command::new("/bin/sleep").arg("1000").spawn().unwrap();
    let started = processes::started(child.id()).unwrap();
    let owner = Owner { process: child.id(), started, ..Owner::this().unwrap() };
    let changes = [change("/a", "x", "y"), change("/b", "x", "y")];
    Journal::of(directory.path(), owner).record(&changes).unwrap();
    let held = Journal::held_by_others(directory.path());
    Journal::sweep(directory.path()).unwrap();
    let still_there = count(directory.path());
    let not_left = Journal::left_behind(directory.path());
    child.kill().unwrap();
    child.wait().unwrap();
    let process = child.id();
    let holder = Holder { process, encloses_us: false, changes: changes.to_vec() };
    assert_eq!(held.unwrap(), [holder]);
    assert_eq!((still_there, not_left.unwrap().len()), (1, 0));
    assert_eq!(Journal::held_by_others(directory.path()).unwrap(), []);
    assert_eq!(left(directory.path()), [changes.to_vec()]);
}

#[test]
fn what_dead_processes_changed_comes_back_in_the_order_in_which_it_was_made() {
    let directory = tempfile::tempdir().unwrap();
    let later = [change("/a", "y", "z"), change("/b", "\"1\"\n", "\u{1F980}")];
    let earlier = [change("/a", "x", "y")];
    let mut journal = Journal::of(directory.path(), gone(900));
    journal.record(&later[..1]).unwrap();
    journal.record(&later[1..]).unwrap();
    Journal::of(directory.path(), gone(100)).record(&earlier).unwrap();
    assert_eq!(left(directory.path()), [earlier.to_vec(), later.to_vec()]);
    // One of the two journals is removed, the other one is kept.
    let all = Journal::left_behind(directory.path()).unwrap();
    all[1].forget().unwrap();
    all[1].forget().unwrap();
    Journal::sweep(directory.path()).unwrap();
    assert_eq!(left(directory.path()), [earlier.to_vec()]);
}

#[test]
fn another_process_under_the_same_number_does_not_count_as_alive() {
    let directory = tempfile::tempdir().unwrap();
    let this = Owner::this().unwrap();
    let before = Owner { started: this.started.saturating_sub(1), ..this };
    Journal::of(directory.path(), before).record(&[change("/a", "x", "y")]).unwrap();
    assert_eq!(left(directory.path()).len(), 1);
    assert_eq!(Journal::held_by_others(directory.path()).unwrap(), []);
}

#[test]
fn changes_of_an_earlier_boot_are_forgotten_and_not_put_back() {
    let directory = tempfile::tempdir().unwrap();
    let old = Owner { boot: "another".to_owned(), ..Owner::this().unwrap() };
    Journal::of(directory.path(), old).record(&[change("/a", "x", "y")]).unwrap();
    assert_eq!(Journal::left_behind(directory.path()).unwrap(), []);
    Journal::sweep(directory.path()).unwrap();
    assert_eq!(count(directory.path()), 0);
}

#[test]
fn only_one_has_the_turn() {
    let directory = tempfile::tempdir().unwrap();
    let at_it = std::sync::atomic::AtomicU32::new(0);
    let (path, at_it) = (directory.path(), &at_it);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(move || {
                for _ in 0..50 {
                    let turn = Journal::turn(path).unwrap();
                    assert_eq!(at_it.fetch_add(1, Ordering::SeqCst), 0);
                    std::thread::yield_now();
                    at_it.fetch_sub(1, Ordering::SeqCst);
                    drop(turn);
                }
            });
        }
    });
    assert!(Journal::turn(&directory.path().join("missing")).is_err());
}

#[test]
fn everybody_may_read_a_journal() {
    let directory = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(directory.path()).unwrap();
    journal.record(&[change("/a", "x", "y")]).unwrap();
    let mode = fs::metadata(&journal.path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o644);
}

#[test]
fn a_line_that_is_cut_off_stands_for_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let mut journal = Journal::of(directory.path(), gone(5));
    journal.record(&[change("/a", "x", "y"), change("/b", "x", "y")]).unwrap();
    let whole = fs::read_to_string(&journal.path).unwrap();
    for length in 0..whole.len() {
        fs::write(&journal.path, &whole[..length]).unwrap();
        assert!(left(directory.path()).concat().len() <= 2, "{length}");
    }
    fs::write(&journal.path, &whole[..whole.len() - 3]).unwrap();
    assert_eq!(left(directory.path()), [[change("/a", "x", "y")]]);
}

#[test]
fn a_directory_that_is_missing_or_holds_other_things_leaves_nothing_behind() {
    let directory = tempfile::tempdir().unwrap();
    let missing = directory.path().join("missing");
    assert_eq!(Journal::left_behind(&missing).unwrap(), []);
    Journal::sweep(&missing).unwrap();
    assert_eq!(Journal::held_by_others(&missing).unwrap(), []);
    let mut journal = Journal::open(&missing).unwrap();
    assert!(journal.record(&[change("/a", "x", "y")]).is_err());
    fs::write(directory.path().join("runs.assay"), "{}").unwrap();
    fs::write(directory.path().join("changed-by-1-1.jsonl"), [0xff, 0, b'\n']).unwrap();
    assert_eq!(Journal::left_behind(directory.path()).unwrap(), []);
    Journal::sweep(directory.path()).unwrap();
    assert_eq!(count(directory.path()), 1);
}

proptest! {
    #[test]
    fn no_line_makes_a_reader_panic(line in "\\PC*|\\{\"(knob|path|process)\":(\"governor\"|1)?\\}") {
        let value = serde_json::from_str(&line).unwrap_or_default();
        let _ = (Owner::from_line(&line), Change::from_line(&value));
    }

    #[test]
    fn what_is_written_is_read(path in "/\\PC{0,20}", before in "\\PC*", after in "\\PC*") {
        let change = change(&path, &before, &after);
        let line = serde_json::from_str(&change.to_line().unwrap()).unwrap();
        prop_assert_eq!(Change::from_line(&line), Some(change));
    }
}
