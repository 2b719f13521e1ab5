//! Tests of the contents of pages: sums, cells and paged lists.

use super::farm::{asks, begun, check_sums, targets};
use super::*;
use crate::builds::sql;
use crate::builds::wire::{Calibration, Ending, NewBuild};
use crate::builds::{Filter, SubmissionOutcome};
use assay_history::db::Value;

/// Submits a build that belongs to no job, and returns its number.
fn build(store: &Store, number: usize, of: &str, on: usize, outcome: Outcome) -> i64 {
    let new = NewBuild {
        owner: "rails".to_owned(),
        project: "rack".to_owned(),
        version: of.to_owned(),
        target: key(&targets()[on]),
        node: "a".to_owned(),
        outcome,
    };
    store.add_build(&format!("k{number}"), &new, NOW + number as i64).unwrap().thing.id
}

fn filled(store: &Store) {
    begun(store);
    for ordinal in 1..=3 {
        let name = format!("1.{ordinal}");
        store.add_version(("rails", "rack"), &name, &version(ordinal), NOW).unwrap();
    }
    let states = [
        ("1.1", 0, State::Passed),
        ("1.1", 1, State::Passed),
        ("1.2", 0, State::Passed),
        ("1.2", 1, State::Failed),
        ("1.2", 1, State::Passed),
        ("1.2", 1, State::Infrastructure),
        ("1.3", 1, State::Failed),
    ];
    for (number, (of, on, state)) in states.into_iter().enumerate() {
        build(store, number, of, on, outcome(state));
    }
    build(store, 90, "1.3", 1, compared("slower"));
    build(store, 91, "1.3", 0, compared("equivalent"));
}

#[test]
fn a_matrix_has_the_last_build_of_each_with_what_came_before() {
    on_both(|home| {
        let store = home.store();
        filled(&store);
        check_sums(&store);
        let (matrix, next) = store.matrix("rails", "rack", None, 9).unwrap();
        assert_eq!(next, None);
        let names: Vec<&str> = matrix.versions.iter().map(|v| v.name.as_str()).collect();
        assert_eq!(names, ["1.3", "1.2", "1.1"]);
        assert_eq!(matrix.targets.len(), 2);
        let cell = |version: &str, on: usize| &matrix.cells[version][&key(&targets()[on])];
        // A later infrastructure failure does not replace a test result, and both test results are
        // counted.
        let flaky = cell("1.2", 1);
        assert_eq!((flaky.state, flaky.builds), (State::Passed, 3));
        assert_eq!((flaky.passed, flaky.failed), (1, 1));
        // A later benchmark does not replace the state of failing tests.
        let failing = cell("1.3", 1);
        assert_eq!(
            (failing.state, failing.comparisons[0].verdict.as_str()),
            (State::Failed, "slower")
        );
        assert_eq!(cell("1.3", 0).state, State::Passed);
        let (page, next) = store.matrix("rails", "rack", None, 2).unwrap();
        assert_eq!((page.versions.len(), page.cells.len()), (2, 2));
        let (rest, none) = store.matrix("rails", "rack", next.as_deref(), 2).unwrap();
        assert_eq!((rest.versions[0].name.as_str(), none), ("1.1", None));
        assert_eq!(rest.cells.keys().collect::<Vec<_>>(), ["1.1"]);
    });
}

#[test]
fn home_and_project_show_the_newest_version_and_the_last_build() {
    on_both(|home| {
        let store = home.store();
        filled(&store);
        store.add_project("rails", "quiet", &project(), NOW).unwrap();
        let page = store.home(None, 9).unwrap();
        let names: Vec<&str> = page.projects.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(names, ["rack", "quiet"]);
        let newest = page.projects[0].newest.as_ref().unwrap();
        assert_eq!(newest.name, "1.3");
        assert_eq!(newest.states[&State::Failed], 1);
        let last = page.projects[0].last.as_ref().unwrap();
        assert_eq!(last.id, page.latest[0].id);
        assert_eq!(page.projects[1].newest, None);
        assert_eq!(page.latest.len(), 9);
        let first = store.home(None, 1).unwrap();
        let second = store.home(first.next.as_deref(), 1).unwrap();
        assert_eq!((second.projects[0].name.as_str(), second.next), ("quiet", None));
        let project = store.project_page("rails", "rack", None, 2).unwrap();
        assert_eq!((project.versions.len(), project.latest.len()), (2, 9));
        assert_eq!(project.builds, page.builds);
        let rest = store.project_page("rails", "rack", project.next.as_deref(), 2).unwrap();
        assert_eq!(rest.versions[0].name, "1.1");
        assert!(store.project_page("rails", "none", None, 9).is_err());
        assert!(store.home(Some("x"), 9).is_err());
    });
}

#[test]
fn builds_are_found_by_all_that_they_are_of_and_go_on_where_a_page_ended() {
    on_both(|home| {
        let store = home.store();
        filled(&store);
        let on = key(&targets()[1]);
        let all = Filter { owner: Some("rails"), project: Some("rack"), ..Filter::default() };
        let count = |filter: &Filter<'_>| store.lines(filter, None, 99).unwrap().items.len();
        assert_eq!(count(&Filter::default()), 9);
        assert_eq!(count(&all), 9);
        assert_eq!(count(&Filter { state: Some(State::Failed), ..all }), 2);
        assert_eq!(count(&Filter { version: Some("1.2"), ..all }), 4);
        assert_eq!(count(&Filter { version: Some("1.2"), target: Some(&on), ..all }), 3);
        assert_eq!(
            count(&Filter { target: Some(&on), state: Some(State::Passed), ..Filter::default() }),
            3
        );
        assert_eq!(count(&Filter { owner: Some("rails"), ..Filter::default() }), 9);
        assert_eq!(count(&Filter { node: Some("a"), ..Filter::default() }), 9);
        assert_eq!(count(&Filter { owner: Some("nobody"), ..Filter::default() }), 0);
        assert_eq!(count(&Filter { version: Some("9"), ..all }), 0);
        let alone = Filter { version: Some("1.2"), ..Filter::default() };
        assert!(store.lines(&alone, None, 9).is_err());
        let mut found = Vec::new();
        let mut after = None;
        loop {
            let page = store.lines(&all, after.as_deref(), 2).unwrap();
            found.extend(page.items.iter().map(|line| line.id));
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        assert_eq!(found.len(), 9);
        assert!(found.windows(2).all(|two| two[0] > two[1]));
        let page = store.build_page(found[0]).unwrap();
        assert_eq!((page.version.name.as_str(), page.leases.len()), ("1.3", 0));
        assert_eq!(store.waterfall(&all, None, 3).unwrap().builds.len(), 3);
    });
}

#[test]
fn a_benchmark_that_cannot_decide_is_done_again_on_the_same_target_but_not_for_ever() {
    on_both(|home| {
        let store = home.store();
        begun(&store);
        store.add_version(("rails", "rack"), "1", &version(1), NOW).unwrap();
        store.add_version(("rails", "rack"), "2", &version(2), NOW).unwrap();
        let mut benches = 0;
        let ask = LeaseRequest { kinds: vec![Kind::Bench], ..asks(2) };
        while let Some(leased) = store.lease("c", &ask, NOW, LEASE).unwrap() {
            assert_eq!(leased.job.of.base.as_deref(), Some("1"));
            assert_eq!(leased.base.unwrap().name, "1");
            assert_eq!(i64::from(leased.job.of.round), benches);
            // While the node runs this benchmark, it gets no other job.
            assert_eq!(store.lease("c", &asks(2), NOW, LEASE).unwrap(), None);
            benches += 1;
            let ending = Ending {
                nonce: leased.nonce,
                key: format!("b{benches}"),
                outcome: compared("inconclusive"),
            };
            let ended = store.hand_in("c", leased.job.id, &ending, 0, NOW).unwrap();
            assert!(matches!(ended, SubmissionOutcome::Ended(_)));
        }
        assert_eq!(benches, crate::builds::policy::ROUNDS);
        let benched = store.benched("rails", "rack", "2", None, 99).unwrap().items;
        assert_eq!(benched.len() as i64, benches);
        assert!(benched.iter().all(|b| b.base == "1" && b.comparisons.len() == 1));
        check_sums(&store);
    });
}

#[test]
fn a_node_that_is_not_fit_gets_no_benchmarks_until_it_is() {
    on_both(|home| {
        let store = home.store();
        begun(&store);
        store.add_version(("rails", "rack"), "1", &version(1), NOW).unwrap();
        let said = |is_fit: bool| Calibration {
            time: crate::builds::when::text(NOW),
            false_alarms: 0.2,
            comparisons: 100,
            detects: 1.05,
            is_fit,
            reason: if is_fit { String::new() } else { "20 % false alarms".to_owned() },
        };
        let node = store.calibrated("a", &said(false)).unwrap();
        assert!(node.drained.is_none() && node.calibration.is_some_and(|own| !own.is_fit));
        // An unfit node gets no benchmarks, but still gets tests.
        let benches = LeaseRequest { kinds: vec![Kind::Bench], job: Some(1), ..asks(0) };
        let tests = LeaseRequest { kinds: vec![Kind::Bench, Kind::Test], ..asks(0) };
        assert!(!store.may_lease("a", &benches).unwrap());
        assert_eq!(store.lease("a", &benches, NOW, LEASE).unwrap(), None);
        assert!(store.may_lease("a", &tests).unwrap());
        store.calibrated("a", &said(true)).unwrap();
        assert!(store.may_lease("a", &benches).unwrap());
        // A calibration does not resume a node that a person has drained.
        store.drain("a", "new disk").unwrap();
        assert_eq!(
            store.calibrated("a", &said(true)).unwrap().drained.as_deref(),
            Some("new disk")
        );
        assert_eq!(store.resume("a").unwrap().drained, None);
        let page = store.node_page("a").unwrap();
        assert_eq!((page.calibrations.len(), page.targets.len()), (3, 1));
        assert_eq!(store.nodes(None, 9).unwrap().items.len(), 3);
        // If two agents have the same name, the one that registered last owns the name.
        store.hello("a", &hello(&targets()[..1], "other"), NOW).unwrap();
        let told = store.lease("a", &asks(0), NOW, LEASE).unwrap_err();
        assert_eq!(told.code(), "conflict");
        assert!(told.to_string().contains("another agent with the name a"), "{told}");
    });
}

#[test]
fn nothing_that_is_asked_often_looks_at_all_rows() {
    let home = Home::new();
    let store = home.store();
    let of_jobs = |which: &str| format!("{}{which}", sql::JOB);
    // Each statement has its number of parameters, and the aliases of subqueries that may be
    // scanned in full because they have few rows.
    let asked: [(String, i64, &[&str]); 28] = [
        (sql::lines(sql::ALONG_ALL, &[]), 4, &["x", "y"]),
        (sql::lines(sql::ALONG_PROJECT, &[sql::IN_STATE]), 5, &["x", "y"]),
        (sql::lines(sql::ALONG_VERSION, &[sql::ON_TARGET]), 5, &["x", "y"]),
        (sql::lines(sql::ALONG_TARGET, &[]), 4, &["x", "y"]),
        (sql::lines(sql::ALONG_NODE, &[]), 4, &["x", "y"]),
        (sql::PROJECT_LINES.to_owned(), 3, &["p"]),
        (sql::VERSION_LINES.to_owned(), 4, &[]),
        (sql::CELLS.to_owned(), 4, &["v"]),
        (sql::TARGETS_OF_CELLS.to_owned(), 4, &["v"]),
        (sql::PROJECT_STAMP.to_owned(), 2, &[]),
        (sql::JOBS_STAMP.to_owned(), 2, &[]),
        (sql::TOKEN_SECRET.to_owned(), 1, &[]),
        (sql::BENCHED.to_owned(), 3, &[]),
        (sql::build(), 1, &[]),
        (sql::BUILD_OF_KEY.to_owned(), 1, &[]),
        (sql::NEXT.to_owned(), 2, &[]),
        (sql::EXPIRED.to_owned(), 2, &[]),
        (sql::ANY_DUE.to_owned(), 1, &[]),
        (sql::WAKE.to_owned(), 1, &[]),
        (sql::BUSY_WITH.to_owned(), 1, &[]),
        (sql::FITS.to_owned(), 1, &[]),
        (sql::LEASES.to_owned(), 1, &[]),
        (sql::END_LEASES.to_owned(), 3, &[]),
        (sql::CANCEL_VERSION.to_owned(), 1, &[]),
        (sql::VERSION_BEFORE.to_owned(), 2, &[]),
        (of_jobs(sql::QUEUED_JOBS), 3, &[]),
        (of_jobs(sql::JOBS_OF_PROJECT), 2, &[]),
        (sql::AUDIT.to_owned(), 2, &[]),
    ];
    for (statement, parameters, whole) in asked {
        let values: Vec<Value<'_>> = (0..parameters).map(|_| Value::from(1_i64)).collect();
        let explained = format!("EXPLAIN QUERY PLAN {statement}");
        let plan: Vec<String> =
            store.look(|db| Ok(db.rows(&explained, &values, |row| row.get(3))?)).unwrap();
        for step in plan.iter().filter_map(|step| step.strip_prefix("SCAN ")) {
            assert!(whole.contains(&step), "{step}: {plan:#?}\n{statement}");
        }
    }
}
