//! Tests of concurrent access: no job is leased twice, and all results submitted at the same time
//! count.

use super::farm::check_sums;
use super::*;
use crate::builds::wire::Ending;
use std::collections::BTreeSet;

const THREADS: usize = 6;
const JOBS: usize = 60;

fn race(home: &Home) {
    let store = home.store();
    store.add_owner("rails").unwrap();
    store.add_project("rails", "rack", &project(), NOW).unwrap();
    let target = target("3.1.2");
    store.add_target(&key(&target), &target, NOW).unwrap();
    for number in 0..JOBS {
        let name = number.to_string();
        store.add_version(("rails", "rack"), &name, &version(number as i64), NOW).unwrap();
    }
    let given: Vec<i64> = std::thread::scope(|scope| {
        let work = |thread: usize| {
            let target = target.clone();
            move || {
                let (store, node) = (home.store(), format!("n{thread}"));
                store.hello(&node, &hello(std::slice::from_ref(&target), &node), NOW).unwrap();
                let mut given = Vec::new();
                let asking = asking(&[target], &node);
                while let Some(leased) = store.lease(&node, &asking, NOW, LEASE).unwrap() {
                    given.push(leased.job.id);
                    store.beat(&node, leased.job.id, &leased.nonce, NOW, LEASE).unwrap();
                    let ending = Ending {
                        nonce: leased.nonce,
                        key: format!("k{}", leased.job.id),
                        outcome: outcome(State::Passed),
                    };
                    store.hand_in(&node, leased.job.id, &ending, 0, NOW).unwrap();
                }
                given
            }
        };
        let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(work(thread))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(given.len(), JOBS);
    assert_eq!(given.iter().collect::<BTreeSet<_>>().len(), JOBS);
    check_sums(&store);
    assert_eq!(store.home(None, 9).unwrap().builds[&State::Passed], JOBS as u64);
}

#[test]
fn many_agents_of_a_file_get_each_job_once() {
    race(&Home::new());
}

#[test]
fn many_agents_of_a_server_get_each_job_once() {
    if let Some(home) = Home::on_server() {
        race(&home);
    }
}

#[test]
fn a_thing_that_many_add_at_once_is_one() {
    on_both(|home| {
        drop(home.store());
        let news: Vec<bool> = std::thread::scope(|scope| {
            let add = || {
                let store = home.store();
                let owner = store.add_owner("rails").unwrap().is_new;
                store.add_project("rails", "rack", &project(), NOW).unwrap();
                let target = target("3.1.2");
                store.add_target(&key(&target), &target, NOW).unwrap();
                store.add_version(("rails", "rack"), "1", &version(1), NOW).unwrap();
                owner
            };
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(add)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(news.iter().filter(|is_new| **is_new).count(), 1);
        assert_eq!(home.store().queue().unwrap().queued, 1);
    });
}
