//! The actions that follow from the state of the farm and the cluster: placed and cancelled jobs,
//! drained and resumed nodes.
use super::*;
use assay_farm::builds::model::{Kind, Progress};
use assay_farm::builds::wire::NewJob;

fn facts(all: &[(&str, &str)]) -> Facts {
    all.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
}

fn job(id: i64, needs: &[(&str, &str)]) -> Job {
    let of = NewJob {
        owner: "a".to_owned(),
        project: "p".to_owned(),
        version: id.to_string(),
        kind: Kind::Test,
        base: None,
        target: None,
        needs: facts(needs),
        priority: 0,
        round: 0,
    };
    Job { id, of, progress: Progress::Queued, attempts: 0, node: None, build: None }
}

fn node(name: &str, targets: &[&str], drained: Option<&str>) -> Node {
    Node {
        id: 1,
        name: name.to_owned(),
        tool: String::new(),
        targets: targets.iter().map(|&target| target.to_owned()).collect(),
        seen: String::new(),
        clock_ahead: 0.0,
        drained: drained.map(str::to_owned),
        jobs: Vec::new(),
        calibration: None,
    }
}

fn machine(name: &str, drained: Option<&str>) -> Machine {
    Machine { name: name.to_owned(), drained: drained.map(str::to_owned) }
}

fn cluster(placed: &[i64], machines: &[Machine]) -> Cluster {
    let placed =
        placed.iter().map(|&job| ClusterJob { id: format!("9_{job}"), job, is_held: false });
    Cluster { placed: placed.collect(), greeting: Vec::new(), machines: machines.to_vec() }
}

fn feature(fact: &str, value: &str, name: &str) -> Feature {
    Feature { fact: fact.to_owned(), value: value.to_owned(), name: name.to_owned() }
}

fn places(actions: &[Action]) -> Vec<(Vec<i64>, &str, &[String])> {
    let places = actions.iter().filter_map(|action| match action {
        Action::Place(batch) => {
            Some((batch.jobs.clone(), batch.constraint.as_str(), &batch.excluded[..]))
        }
        _ => None,
    });
    places.collect()
}

#[test]
fn alike_jobs_are_one_array_and_none_is_placed_that_is_there() {
    let farm = Farm {
        queued: vec![job(1, &[]), job(2, &[("os", "debian")]), job(3, &[]), job(4, &[])],
        ..Farm::default()
    };
    let mut placing = Placing::new(vec![feature("os", "debian", "deb")], 10);
    let (actions, homeless) = placing.next(&farm, &cluster(&[4], &[]), 0.0);
    assert_eq!(places(&actions), [(vec![1, 3], "", &[][..]), (vec![2], "deb", &[][..])]);
    assert!(homeless.is_empty());
}

#[test]
fn no_more_are_placed_than_there_is_room_for() {
    let queued = (1..=300).map(|id| job(id, &[])).collect();
    let farm = Farm { queued, ..Farm::default() };
    let mut placing = Placing::new(Vec::new(), 150);
    let (actions, _) = placing.next(&farm, &cluster(&[1, 2], &[]), 0.0);
    let sizes: Vec<usize> = places(&actions).iter().map(|(jobs, ..)| jobs.len()).collect();
    assert_eq!(sizes, [100, 48]);
}

#[test]
fn a_need_picks_every_feature_that_meets_it() {
    let features = vec![
        feature("runtime.ruby", "3.1", "ruby31"),
        feature("runtime.ruby", "3.4", "ruby34"),
        feature("os", "debian 12", "bookworm"),
    ];
    let queued = vec![
        job(1, &[("runtime.ruby", "3"), ("os", "debian 12")]),
        job(2, &[("runtime.ruby", "2")]),
        job(3, &[("cpu", "epyc")]),
    ];
    let farm = Farm { queued, ..Farm::default() };
    let (actions, homeless) = Placing::new(features, 10).next(&farm, &cluster(&[], &[]), 0.0);
    assert_eq!(
        places(&actions),
        [(vec![1], "bookworm&(ruby31|ruby34)", &[][..]), (vec![3], "", &[][..])]
    );
    assert_eq!(homeless[0].job, 2);
    assert!(homeless[0].why.contains("runtime.ruby=2"), "{}", homeless[0].why);
}

#[test]
fn nodes_that_are_known_not_to_do_are_left_out() {
    let farm = Farm {
        queued: vec![job(1, &[("os", "debian")]), job(2, &[("os", "arch")])],
        nodes: vec![node("n1", &["d"], None), node("n2", &["f"], None), node("n3", &[], None)],
        facts: BTreeMap::from([
            ("d".to_owned(), facts(&[("os", "debian")])),
            ("f".to_owned(), facts(&[("os", "fedora")])),
        ]),
        ..Farm::default()
    };
    let all = [machine("n1", None), machine("n2", None), machine("n3", None)];
    let mut placing = Placing::new(Vec::new(), 10);
    let (actions, _) = placing.next(&farm, &cluster(&[], &all), 0.0);
    assert_eq!(places(&actions)[0], (vec![1], "", &["n2".to_owned()][..]));
    // Nothing is known about the third; the first two are known to be unsuitable.
    assert_eq!(places(&actions)[1], (vec![2], "", &["n1".to_owned(), "n2".to_owned()][..]));
    let (actions, homeless) =
        Placing::new(Vec::new(), 10).next(&farm, &cluster(&[], &all[..2]), 0.0);
    assert_eq!(places(&actions).len(), 1);
    assert_eq!(homeless.iter().map(|one| one.job).collect::<Vec<_>>(), [2]);
}

#[test]
fn a_job_for_one_target_goes_only_where_that_may_be() {
    let mut own = job(1, &[]);
    own.of.target = Some("d".to_owned());
    let farm = Farm {
        queued: vec![own],
        nodes: vec![node("n1", &["d", "e"], None), node("n2", &["e"], None)],
        ..Farm::default()
    };
    let all = [machine("n1", None), machine("n2", None)];
    let (actions, _) = Placing::new(Vec::new(), 10).next(&farm, &cluster(&[], &all), 0.0);
    assert_eq!(places(&actions), [(vec![1], "", &["n2".to_owned()][..])]);
}

#[test]
fn a_job_that_comes_back_unbegun_waits_longer_each_time_and_is_placed_again() {
    let farm = Farm { queued: vec![job(1, &[])], ..Farm::default() };
    let (gone, there) = (cluster(&[], &[]), cluster(&[1], &[]));
    let mut placing = Placing::new(Vec::new(), 10);
    let mut now = 0.0;
    for wait in [2.0, 4.0, 8.0] {
        assert_eq!(places(&placing.next(&farm, &gone, now).0).len(), 1);
        assert!(placing.next(&farm, &there, now).0.is_empty());
        assert!(placing.next(&farm, &gone, now).0.is_empty());
        assert!(placing.next(&farm, &gone, now + wait - 0.1).0.is_empty());
        now += wait;
    }
    assert_eq!(placing.tries(1), 3);
    // Once a job is leased, its failed attempts are forgotten.
    placing.next(&Farm::default(), &gone, now);
    assert_eq!(placing.tries(1), 0);
}

#[test]
fn what_the_cluster_refused_was_never_there() {
    let farm = Farm { queued: vec![job(1, &[])], ..Farm::default() };
    let mut placing = Placing::new(Vec::new(), 10);
    placing.next(&farm, &cluster(&[], &[]), 0.0);
    placing.not_placed(&[1]);
    assert_eq!(places(&placing.next(&farm, &cluster(&[], &[]), 0.0).0).len(), 1);
}

#[test]
fn what_was_taken_back_is_taken_back_there() {
    let farm = Farm { cancelled: BTreeSet::from([2]), ..Farm::default() };
    let (actions, _) = Placing::new(Vec::new(), 10).next(&farm, &cluster(&[1, 2], &[]), 0.0);
    assert_eq!(actions, [Action::Cancel("9_2".to_owned())]);
}

#[test]
fn what_the_cluster_holds_is_taken_back_and_placed_again() {
    let farm = Farm { queued: vec![job(1, &[])], ..Farm::default() };
    let mut held = cluster(&[1], &[]);
    let mut placing = Placing::new(Vec::new(), 10);
    assert!(placing.next(&farm, &held, 0.0).0.is_empty());
    held.placed[0].is_held = true;
    assert_eq!(placing.next(&farm, &held, 0.0).0, [Action::Cancel("9_1".to_owned())]);
    assert_eq!(places(&placing.next(&farm, &cluster(&[], &[]), 2.5).0).len(), 1);
}

#[test]
fn a_node_that_slurm_drained_for_what_it_forgot_is_resumed_when_nothing_is_leased_there() {
    let mut farm = Farm { nodes: vec![node("n1", &[], None)], ..Farm::default() };
    let forgot = |name: &str| machine(name, Some("Duplicate jobid"));
    let there = cluster(&[], &[forgot("n1"), forgot("n2")]);
    let resumed = |name: &str| Action::ResumeMachine(name.to_owned());
    assert_eq!(drains(&farm, &there), [resumed("n1"), resumed("n2")]);
    farm.nodes[0].jobs = vec![7];
    assert_eq!(drains(&farm, &there), [resumed("n2")]);
}

#[test]
fn a_drain_is_handed_on_and_ends_where_it_began() {
    let asked = |here: Option<&str>, there: Option<&str>| {
        let farm = Farm { nodes: vec![node("n1", &[], here)], ..Farm::default() };
        drains(&farm, &cluster(&[], &[machine("n1", there), machine("n2", Some("new"))]))
    };
    let name = || "n1".to_owned();
    assert_eq!(
        asked(Some("drift"), None),
        [Action::DrainMachine { name: name(), reason: "assay: drift".to_owned() }]
    );
    assert_eq!(
        asked(None, Some("fan")),
        [Action::DrainNode { name: name(), reason: "slurm: fan".to_owned() }]
    );
    assert_eq!(asked(None, Some("assay: drift")), [Action::ResumeMachine(name())]);
    assert_eq!(asked(Some("slurm: fan"), None), [Action::ResumeNode(name())]);
    for (here, there) in [
        (None, None),
        (Some("drift"), Some("assay: drift")),
        (Some("slurm: fan"), Some("fan")),
        (Some("drift"), Some("fan")),
    ] {
        assert!(asked(here, there).is_empty(), "{here:?} {there:?}");
    }
    assert_eq!(asked(Some("slurm: fan"), Some("assay: drift")).len(), 2);
}

#[test]
fn a_node_that_the_farm_does_not_know_is_had_say_hello_once_at_a_time() {
    let mut farm = Farm { nodes: vec![node("n1", &["d"], None)], ..Farm::default() };
    let machines = [machine("n1", None), machine("n2", None), machine("n3", Some("fan"))];
    let mut there = cluster(&[], &machines);
    let mut placing = Placing::new(Vec::new(), 10);
    let greet = || vec![Action::Greet("n2".to_owned())];
    assert_eq!(placing.next(&farm, &there, 0.0).0, greet());
    let greeting = |is_held| Greeting { id: "20".to_owned(), machine: "n2".to_owned(), is_held };
    there.greeting = vec![greeting(false)];
    assert_eq!(placing.next(&farm, &there, 9.0).0, []);
    // It ended without a hello: it is tried again after a while, with growing pauses.
    there.greeting.clear();
    assert_eq!(placing.next(&farm, &there, 10.0).0, greet());
    assert_eq!(placing.next(&farm, &there, 13.0).0, []);
    assert_eq!((placing.next(&farm, &there, 14.5).0, placing.greetings_of("n2")), (greet(), 3));
    // A held one is cancelled and does not count.
    there.greeting = vec![greeting(true)];
    let held = Action::Cancel("20".to_owned());
    assert_eq!(placing.next(&farm, &there, 15.0).0, std::slice::from_ref(&held));
    assert_eq!(placing.next(&farm, &there, 500.0).0, [vec![held.clone()], greet()].concat());
    farm.nodes.push(node("n2", &["d"], None));
    assert_eq!(placing.next(&farm, &there, 1000.0).0, [held]);
    assert_eq!(placing.greetings_of("n2"), 0);
}
