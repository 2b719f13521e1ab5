//! Tests that adding an item twice has the effect of adding it once, and of the jobs that additions
//! queue.

use super::farm::{asks, begun, check_sums, targets};
use super::*;
use crate::builds::model::Progress;
use crate::builds::wire::{NewBuild, NewJob};
use crate::builds::{Filter, policy};

#[test]
fn what_is_added_twice_is_there_once() {
    on_both(|home| {
        let store = home.store();
        assert!(store.add_owner("rails").unwrap().is_new);
        assert!(!store.add_owner("rails").unwrap().is_new);
        assert!(store.add_project("rails", "rack", &project(), NOW).unwrap().is_new);
        let needs = NewProject { needs: facts(&[("runtime.ruby", "3")]), ..project() };
        let changed = store.add_project("rails", "rack", &needs, NOW).unwrap();
        assert!(!changed.is_new && changed.thing.of == needs);
        assert_eq!(
            store.add_project("nobody", "x", &project(), NOW).unwrap_err().code(),
            "not_found"
        );
        let target = target("3.1.2");
        assert!(store.add_target(&key(&target), &target, NOW).unwrap().is_new);
        assert!(!store.add_target(&key(&target), &target, NOW).unwrap().is_new);
        let forged = store.add_target(&"0".repeat(64), &target, NOW).unwrap_err();
        assert_eq!(forged.code(), "bad_request");
        let of = ("rails", "rack");
        let first = store.add_version(of, "1.0", &version(1), NOW).unwrap();
        let again = store.add_version(of, "1.0", &version(1), NOW + 1).unwrap();
        assert!(first.is_new && !again.is_new && first.thing == again.thing);
        assert_eq!(store.queue().unwrap().queued, 1);
    });
}

#[test]
fn an_owner_whose_pages_would_be_others_is_refused() {
    let home = Home::new();
    let store = home.store();
    for name in ["api", "assets", "builds", "jobs", "nodes"] {
        let told = store.add_owner(name).unwrap_err();
        assert_eq!(told.code(), "bad_request");
        assert!(told.to_string().contains(&format!("/{name}/")), "{told}");
    }
    assert!(store.add_owner("Builds").unwrap().is_new);
}

#[test]
fn a_version_is_queued_where_its_needs_are_met_and_a_new_target_gets_the_newest() {
    on_both(|home| {
        let store = home.store();
        begun(&store);
        let needs = NewProject { needs: facts(&[("runtime.ruby", "3.4")]), ..project() };
        store.add_project("rails", "new", &needs, NOW).unwrap();
        store.add_version(("rails", "new"), "1", &version(1), NOW).unwrap();
        store.add_version(("rails", "new"), "2", &version(2), NOW).unwrap();
        let jobs = store.jobs(None, 99).unwrap().items;
        assert_eq!(jobs.len(), 2);
        assert!(jobs.iter().all(|job| job.of.target == Some(key(&targets()[1]))));
        let later = target("3.4.1");
        store.add_target(&key(&later), &later, NOW).unwrap();
        let jobs = store.jobs(None, 99).unwrap().items;
        assert_eq!(jobs.len(), 3);
        assert_eq!(jobs[2].of.version, "2");
        // In a project with benchmarks, each version after the first has a second job per target: a
        // comparison with the version before.
        store.add_version(("rails", "rack"), "1", &version(1), NOW).unwrap();
        store.add_version(("rails", "rack"), "2", &version(2), NOW).unwrap();
        let jobs = store.jobs(None, 99).unwrap().items;
        let benches: Vec<_> = jobs.iter().filter(|job| job.of.kind == Kind::Bench).collect();
        assert_eq!((jobs.len(), benches.len()), (12, 3));
        assert!(benches.iter().all(|b| b.of.version == "2" && b.of.base.as_deref() == Some("1")));
    });
}

#[test]
fn versions_that_were_added_before_any_target_are_all_built_in_the_order_of_their_numbers() {
    on_both(|home| {
        let store = home.store();
        store.add_owner("rails").unwrap();
        store.add_project("rails", "rack", &project(), NOW).unwrap();
        let bare = NewVersion { ordinal: None, published: None, ..version(1) };
        for (place, name) in ["1.10", "1.9", "2.0"].into_iter().enumerate() {
            store.add_version(("rails", "rack"), name, &bare, NOW + place as i64).unwrap();
        }
        let names = |store: &Store| -> Vec<String> {
            let page = store.versions("rails", "rack", None, 9).unwrap();
            page.items.into_iter().map(|version| version.name).collect()
        };
        assert_eq!(names(&store), ["2.0", "1.10", "1.9"]);
        assert_eq!(store.queue().unwrap().queued, 0);
        let one = target("3.1.2");
        store.add_target(&key(&one), &one, NOW).unwrap();
        let queued = |store: &Store| -> Vec<String> {
            store.jobs(None, 99).unwrap().items.into_iter().map(|job| job.of.version).collect()
        };
        let mut all = queued(&store);
        all.sort();
        assert_eq!(all, ["1.10", "1.9", "2.0"]);
    });
}

#[test]
fn a_changed_recipe_builds_again_and_the_same_one_does_not() {
    on_both(|home| {
        let store = home.store();
        begun(&store);
        let of = ("rails", "rack");
        store.add_version(of, "1", &version(1), NOW).unwrap();
        for job in store.jobs(None, 99).unwrap().items {
            store.cancel(job.id, NOW).unwrap();
        }
        let known = store.project("rails", "rack").unwrap().of;
        store.add_project("rails", "rack", &known, NOW).unwrap();
        assert_eq!(store.queue().unwrap().queued, 0);
        let mut other = known;
        other.recipe.test = Some("rake spec".to_owned());
        store.add_project("rails", "rack", &other, NOW).unwrap();
        assert_eq!(store.queue().unwrap().queued, 2);
    });
}

#[test]
fn what_an_agent_says_is_gone_keeps_the_jobs_that_others_asked_for() {
    on_both(|home| {
        let store = home.store();
        begun(&store);
        store.add_version(("rails", "rack"), "1", &version(1), NOW).unwrap();
        assert!(store.version_is_gone(("rails", "rack"), "1", false).unwrap().is_gone);
        assert_eq!(store.queue().unwrap().queued, 2);
    });
}

#[test]
fn a_job_for_any_target_with_some_facts_goes_to_one_that_has_them() {
    on_both(|home| {
        let store = home.store();
        begun(&store);
        store.add_version(("rails", "rack"), "1", &version(1), NOW).unwrap();
        for node in [0, 2] {
            let leased = store.lease(farm::NODES[node].0, &asks(node), NOW, LEASE).unwrap();
            let leased = leased.unwrap();
            store.cancel(leased.job.id, NOW).unwrap();
        }
        let wanted = NewJob {
            owner: "rails".to_owned(),
            project: "rack".to_owned(),
            version: "1".to_owned(),
            kind: Kind::Test,
            base: None,
            target: None,
            needs: facts(&[("runtime.ruby", "3.4")]),
            priority: 5,
            round: 0,
        };
        let job = store.add_job(&wanted, NOW).unwrap();
        assert!(job.is_new && job.thing.of == wanted);
        assert!(!store.add_job(&wanted, NOW).unwrap().is_new, "it is in the queue");
        assert!(!store.may_lease("a", &asks(0)).unwrap());
        assert_eq!(store.lease("a", &asks(0), NOW, LEASE).unwrap(), None);
        let leased = store.lease("c", &asks(2), NOW, LEASE).unwrap().unwrap();
        assert_eq!((leased.job.id, leased.target), (job.thing.id, key(&targets()[1])));
        assert_eq!(leased.job.progress, Progress::Leased);
        let bad = NewJob { base: Some("1".to_owned()), ..wanted };
        assert_eq!(store.add_job(&bad, NOW).unwrap_err().code(), "bad_request");
    });
}

#[test]
fn a_build_without_a_job_is_one_for_its_key() {
    on_both(|home| {
        let store = home.store();
        begun(&store);
        store.add_version(("rails", "rack"), "1", &version(1), NOW).unwrap();
        let new = NewBuild {
            owner: "rails".to_owned(),
            project: "rack".to_owned(),
            version: "1".to_owned(),
            target: key(&targets()[0]),
            node: "a".to_owned(),
            outcome: outcome(State::Failed),
        };
        let one = store.add_build("k1", &new, NOW).unwrap();
        let again = store.add_build("k1", &new, NOW + 9).unwrap();
        assert!(one.is_new && !again.is_new && one.thing == again.thing);
        let forged = NewBuild { outcome: outcome(State::Passed), ..new.clone() };
        assert_eq!(store.add_build("k1", &forged, NOW).unwrap_err().code(), "conflict");
        let elsewhere = NewBuild { node: "b".to_owned(), ..new.clone() };
        assert_eq!(store.add_build("k1", &elsewhere, NOW).unwrap_err().code(), "conflict");
        let mut bare = forged.clone();
        bare.outcome.evidence = Evidence::default();
        let bare = store.add_build("k2", &bare, NOW).unwrap().thing;
        assert_eq!(bare.of.outcome.state, State::NotTested);
        let lost = NewBuild { outcome: outcome(State::Lost), ..new };
        assert_eq!(store.add_build("k3", &lost, NOW).unwrap_err().code(), "bad_request");
        check_sums(&store);
        let target = key(&targets()[0]);
        let filter = Filter { target: Some(&target), ..Filter::default() };
        assert_eq!(store.builds(&filter, None, policy::PAGE).unwrap().items.len(), 2);
    });
}

#[test]
fn a_version_that_is_gone_keeps_what_was_found_and_has_no_jobs() {
    on_both(|home| {
        let store = home.store();
        begun(&store);
        let of = ("rails", "rack");
        store.add_version(of, "1", &version(1), NOW).unwrap();
        assert_eq!(store.queue().unwrap().queued, 2);
        assert!(store.version_is_gone(("rails", "rack"), "1", true).unwrap().is_gone);
        assert_eq!(store.queue().unwrap().queued, 0);
        assert_eq!(store.versions("rails", "rack", None, 9).unwrap().items.len(), 1);
        // A new target gets no jobs for versions that no longer exist at their origin.
        let later = target("3.5.0");
        store.add_target(&key(&later), &later, NOW).unwrap();
        assert_eq!(store.queue().unwrap().queued, 0);
        assert!(!store.add_version(of, "1", &version(1), NOW).unwrap().thing.is_gone);
    });
}
