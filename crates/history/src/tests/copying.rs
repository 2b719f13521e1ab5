//! Tests of copies between the two kinds of database: a copy is complete, or it changes nothing.

use super::*;
use crate::CopyError;

fn copied(store: &Store) -> Vec<u8> {
    let mut lines = Vec::new();
    store.copy_out(&mut lines).unwrap();
    lines
}

/// Returns the lines of a copy in sorted order, since the two databases return rows in different
/// orders.
fn sorted(copy: &[u8]) -> Vec<String> {
    let mut lines: Vec<String> =
        std::str::from_utf8(copy).unwrap().lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

#[test]
fn a_store_is_the_same_behind_a_copy_whichever_database_keeps_it() {
    on_both(|from| {
        let mut given = filled(from, 3);
        given.set_alias(PROJECT, "make", "build\u{1}\0'\n").unwrap();
        let copy = copied(&given);
        on_both(|to| {
            let mut taken = to.store();
            // Reading a copy removes the previous contents.
            taken.add(&new_run(&samples(&[("other", 1.0)]), 9)).unwrap();
            assert!(taken.copy_in(&mut copy.as_slice()).unwrap() > 0);
            assert_eq!(sorted(&copied(&taken)), sorted(&copy));
            assert_eq!(taken.log(PROJECT, 9).unwrap(), given.log(PROJECT, 9).unwrap());
            let run = taken.find(PROJECT, "last").unwrap();
            assert_eq!(taken.text(&run).unwrap(), given.text(&run).unwrap());
            // The ids of new rows follow those that were copied.
            taken.add(&new_run(&samples(&[("more", 1.0)]), 10)).unwrap();
            assert_eq!(taken.count(PROJECT).unwrap(), 4);
        });
    });
}

#[test]
fn a_copy_that_is_not_whole_changes_nothing() {
    on_both(|home| {
        let store = filled(home, 2);
        let copy = copied(&store);
        let text = String::from_utf8(copy.clone()).unwrap();
        let without_rows: String = text
            .lines()
            .filter(|line| !line.starts_with('['))
            .map(|line| format!("{line}\n"))
            .collect();
        let without_a_table: String = text
            .lines()
            .filter(|line| !line.starts_with("{\"table\":\"alias\""))
            .map(|line| format!("{line}\n"))
            .collect();
        for damaged in [
            String::new(),
            text[..text.len() / 2].to_owned(),
            without_rows,
            without_a_table,
            text.replacen("\"project\"", "\"object\"", 1),
            text.replacen("[1,", "[\"1\",", 1),
            text.replacen("[1,", "[", 1),
            text.replacen("\n[1,", "\n[1,1,", 1),
        ] {
            let error = store.copy_in(&mut damaged.as_bytes()).unwrap_err();
            assert!(matches!(error, CopyError::Line { .. }), "{error}");
            assert_eq!(copied(&store), copy);
        }
    });
}

#[test]
fn a_copy_is_of_one_moment() {
    on_both(|home| {
        let store = filled(home, 2);
        let mut beside = home.store();
        let alone = copied(&store);
        // Another program adds a run while the copy is being written.
        let mut lines = Beside {
            lines: Vec::new(),
            write: Some(Box::new(move || {
                beside.add(&new_run(&samples(&[("late", 1.0)]), 5)).unwrap();
            })),
        };
        store.copy_out(&mut lines).unwrap();
        assert_eq!(lines.lines, alone);
        assert_ne!(copied(&store), alone);
    });
}

/// Writer that collects its input, and calls a function before its second write.
struct Beside {
    lines: Vec<u8>,
    write: Option<Box<dyn FnOnce()>>,
}

impl std::io::Write for Beside {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if let Some(write) = self.write.take_if(|_| !self.lines.is_empty()) {
            write();
        }
        self.lines.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn what_can_not_be_written_is_said() {
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    on_both(|home| {
        let store = filled(home, 1);
        assert!(matches!(store.copy_out(&mut Full), Err(CopyError::Lines(_))));
        // The store can still be read and written.
        assert_eq!(store.count(PROJECT).unwrap(), 1);
    });
}
