//! Agents that are late, repeat requests, share a name, have a wrong clock, or never had the job.

use super::*;
use assay_farm::builds::wire::{Build, HeartbeatAnswer, Node, Welcome};
use std::time::Instant;

on_both![
    a_result_counts_once_and_only_of_who_has_the_job,
    a_job_that_is_taken_back_tells_who_has_it,
    a_lease_that_nobody_prolongs_is_given_to_another_agent,
    two_agents_with_one_name_are_noticed,
    a_wrong_clock_is_shown_and_changes_nothing,
];

fn a_result_counts_once_and_only_of_who_has_the_job(home: Home) {
    let server = Server::at(home, &[]);
    let (a, b) = (server.farm("a", 2), server.farm("b", 0));
    let leased = server.leased("a", &a);
    let path = format!("/api/v1/jobs/{}/result", leased.job.id);
    // Never leased, forged nonces, other nodes.
    let forged = Ending { nonce: "0".repeat(64), ..ending(&leased, "x") };
    server.put(&path, &a, &forged).refuses(409, "lease_lost");
    server.put(&path, &b, &ending(&leased, "x")).refuses(409, "lease_lost");
    server.put("/api/v1/jobs/2/result", &b, &ending(&leased, "x")).refuses(409, "lease_lost");
    server.put("/api/v1/jobs/99/result", &a, &ending(&leased, "x")).refuses(404, "not_found");
    let beat = json!({"nonce": leased.nonce});
    let beats = format!("/api/v1/jobs/{}/heartbeat", leased.job.id);
    server.post(&beats, &b, &beat).refuses(409, "lease_lost");
    assert!(!server.post(&beats, &a, &beat).is(200).thing::<HeartbeatAnswer>().is_cancelled);
    // Submitting it twice has the same effect as once; a different result with the same key is
    // refused.
    let first: Build = server.end(&a, &leased, "k").is(201).thing();
    let again: Build = server.end(&a, &leased, "k").is(200).thing();
    assert_eq!(first, again);
    let mut other = ending(&leased, "k");
    other.outcome.state = State::Failed;
    server.put(&path, &a, &other).refuses(409, "conflict");
    // A second result of the same lease is kept as evidence, and the answer says so.
    server.end(&a, &leased, "k2").refuses(409, "lease_lost");
    let builds = server.get("/api/v1/builds", &a).json();
    assert_eq!(builds["items"].as_array().unwrap().len(), 2);
    assert_eq!(builds["items"][0]["is_evidence"], true);
    let home = server.get("/api/v1/home", &a).json();
    assert_eq!(home["builds"], json!({"passed": 1}));
}

fn a_job_that_is_taken_back_tells_who_has_it(home: Home) {
    let server = Server::at(home, &[]);
    let a = server.farm("a", 1);
    let leased = server.leased("a", &a);
    let job = format!("/api/v1/jobs/{}", leased.job.id);
    let cancelled = server.asks("DELETE", &job, &server.admin, "", b"").is(200).json();
    assert_eq!(cancelled["progress"], "cancelled");
    let beat = json!({"nonce": leased.nonce});
    let beaten: HeartbeatAnswer =
        server.post(&format!("{job}/heartbeat"), &a, &beat).is(200).thing();
    assert!(beaten.is_cancelled);
    server.end(&a, &leased, "k").refuses(409, "lease_lost");
    assert_eq!(server.get(&job, &a).json()["progress"], "cancelled");
    let jobs = server.get("/api/v1/jobs?progress=queued", &a).json();
    assert_eq!(jobs["items"], json!([]));
}

fn a_lease_that_nobody_prolongs_is_given_to_another_agent(home: Home) {
    let server = Server::at(home, &["--lease", "4s"]);
    let (a, b) = (server.farm("a", 1), server.farm("b", 0));
    let first = server.leased("a", &a);
    let began = Instant::now();
    let second = loop {
        let answer = server.lease("b", &b);
        if answer.status == 200 {
            break answer.thing::<LeasedJob>();
        }
        assert!(began.elapsed() < PATIENCE, "{answer:?}");
        std::thread::sleep(Duration::from_millis(100));
    };
    assert_eq!(first.job.id, second.job.id);
    let beat = json!({"nonce": first.nonce});
    let path = format!("/api/v1/jobs/{}", first.job.id);
    server.post(&format!("{path}/heartbeat"), &a, &beat).refuses(409, "lease_lost");
    let log = format!("{path}/log?nonce={}&offset=0", first.nonce);
    server.asks("PUT", &log, &a, "", b"late").refuses(409, "lease_lost");
    let told = server.end(&a, &first, "late").refuses(409, "lease_lost");
    assert!(told.contains("kept as build 1"), "{told}");
    server.end(&b, &second, "k").is(201);
    let page = server.get(&format!("{path}/page"), &b).json();
    assert_eq!(page["progress"], "done");
    assert_eq!(page["leases"][0]["how"], "expired");
    assert_eq!(page["leases"][1]["node"], "b");
}

fn two_agents_with_one_name_are_noticed(home: Home) {
    let server = Server::at(home, &[]);
    let token = server.farm("a", 1);
    server.hello("a", &token, "second").is(200);
    let told = server.lease("a", &token).refuses(409, "conflict");
    assert!(told.contains("another agent with the name a"), "{told}");
    let asked = server.post("/api/v1/nodes/a/lease", &token, &asking("second"));
    asked.is(200);
}

fn a_wrong_clock_is_shown_and_changes_nothing(home: Home) {
    let server = Server::at(home, &[]);
    let token = server.token("agent", Some("a"), None);
    let ahead = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(24);
    let hello = Hello {
        tool: "assay-farm 0.1.0".to_owned(),
        targets: vec![target()],
        kinds: vec![Kind::Test],
        instance: "a".to_owned(),
        time: ahead.to_string(),
    };
    let welcome = server.post("/api/v1/nodes/a/hello", &token, &hello).is(200).thing::<Welcome>();
    assert!((welcome.clock_ahead - 86_400.0).abs() < 120.0, "{welcome:?}");
    assert_eq!((welcome.lease, welcome.heartbeat, welcome.ask), (60, 15, 2));
    let node: Node = server.get("/api/v1/nodes/a", &token).is(200).thing();
    assert!((node.clock_ahead - 86_400.0).abs() < 120.0);
    let time: jiff::Timestamp = node.seen.parse().unwrap();
    assert!(time < jiff::Timestamp::now() + jiff::SignedDuration::from_mins(10));
    let bad = json!({"tool": "x", "targets": [], "kinds": [], "instance": "a", "time": "noon"});
    server.post("/api/v1/nodes/a/hello", &token, &bad).refuses(400, "bad_request");
}
