//! Tests that two equal stamps mean equal pages.

use super::farm::{asks, begun, targets};
use super::*;
use crate::builds::wire::{Ending, NewBuild};
use crate::builds::{FarmError, Stamp};
use std::collections::HashMap;

/// All contents that a page has had so far, by stamp.
#[derive(Default)]
pub(super) struct PageContents {
    pages: HashMap<(&'static str, Stamp), String>,
}

impl PageContents {
    /// Reads the pages and asserts that their contents equal earlier ones with the same stamp.
    /// Returns the stamps.
    pub(super) fn look(&mut self, store: &mut Store) -> [Stamp; 2] {
        let (home, project) = ("home", "project");
        let read = |store: &mut Store| -> Result<_, FarmError> {
            let stamps = [store.home_stamp()?, store.project_stamp("rails", "rack")?];
            let matrix = store.matrix("rails", "rack", None, 99)?;
            let page = store.project_page("rails", "rack", None, 99)?;
            Ok((stamps, [format!("{:?}", store.home(None, 99)?), format!("{page:?} {matrix:?}")]))
        };
        let (stamps, pages) = store.at_one_moment(read).unwrap();
        for ((name, stamp), page) in [home, project].into_iter().zip(&stamps).zip(pages) {
            let before = self.pages.entry((name, stamp.clone())).or_insert_with(|| page.clone());
            assert_eq!(*before, page, "{name} is another under the same stamp {stamp:?}");
        }
        stamps
    }
}

#[test]
fn whatever_pages_show_changes_their_stamp_and_nothing_else_does() {
    on_both(|home| {
        let mut store = home.store();
        begun(&store);
        let mut seen = PageContents::default();
        let of = ("rails", "rack");
        let mut last = seen.look(&mut store);
        let mut does = |what: &str, changes: [bool; 2], change: &dyn Fn(&Store)| {
            change(&store);
            let now = seen.look(&mut store);
            let changed = [now[0] != last[0], now[1] != last[1]];
            assert_eq!(changed, changes, "{what}");
            last = now;
        };
        does("a version", [true; 2], &|store| {
            store.add_version(of, "1", &version(1), NOW).unwrap();
        });
        does("the same again", [false; 2], &|store| {
            store.add_version(of, "1", &version(1), NOW).unwrap();
        });
        does("another project", [true, false], &|store| {
            store.add_project("rails", "rake", &project(), NOW).unwrap();
        });
        let build = NewBuild {
            owner: "rails".to_owned(),
            project: "rack".to_owned(),
            version: "1".to_owned(),
            target: key(&targets()[1]),
            node: "b".to_owned(),
            outcome: outcome(State::Passed),
        };
        does("a build", [true; 2], &|store| {
            store.add_build("k", &build, NOW).unwrap();
        });
        does("a log", [false; 2], &|store| store.log_of_build(1, 99).unwrap());
        let leased = std::cell::RefCell::new(None);
        does("a lease", [true; 2], &|store| {
            *leased.borrow_mut() = store.lease("a", &asks(0), NOW, LEASE).unwrap();
        });
        let leased = leased.take().unwrap();
        let id = leased.job.id;
        does("a heartbeat", [false; 2], &|store| {
            store.beat("a", id, &leased.nonce, NOW + 5, LEASE).unwrap();
        });
        let ending = |key: &str, state| Ending {
            nonce: leased.nonce.clone(),
            key: key.to_owned(),
            outcome: outcome(state),
        };
        does("a fault of a machine", [true; 2], &|store| {
            store.hand_in("a", id, &ending("f", State::Infrastructure), 0, NOW).unwrap();
        });
        does("a result that is late", [true; 2], &|store| {
            store.hand_in("a", id, &ending("l", State::Passed), 0, NOW).unwrap();
        });
        does("the same again", [false; 2], &|store| {
            store.hand_in("a", id, &ending("l", State::Passed), 0, NOW).unwrap();
        });
        does("a job that is taken back", [true; 2], &|store| {
            let waits = store.queued(None, 9).unwrap().items.remove(0);
            store.cancel(waits.id, NOW).unwrap();
        });
        let changed = NewProject { needs: facts(&[("os", "none")]), ..project() };
        does("another recipe", [true; 2], &|store| {
            store.add_project("rails", "rack", &changed, NOW).unwrap();
        });
        does("a version that is gone", [true; 2], &|store| {
            store.version_is_gone(("rails", "rack"), "1", true).unwrap();
        });
        does("and there again", [true; 2], &|store| {
            store.add_version(of, "1", &version(1), NOW).unwrap();
        });
        does("a node, a target, a token's use", [false; 2], &|store| {
            store.drain("a", "test").unwrap();
            let later = target("9.9");
            let new = hello(&[later], "d");
            store.hello("d", &Hello { kinds: Vec::new(), ..new }, NOW).unwrap();
            store.audit(NOW, "ci", "PUT /x", 201).unwrap();
        });
        assert_eq!(store.project_stamp("rails", "none").unwrap_err().code(), "not_found");
    });
}
