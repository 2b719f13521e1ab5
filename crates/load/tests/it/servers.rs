//! Whole slices against a test server that behaves, stalls, or misbehaves in one way. The server's
//! log is the reference.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use crate::support::{self, adds_up, constant, run};
use assay_load::{Failure, GeneratorJob, Hooks, Load, Request, Scenario, Tally, Target, generate};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// The server process, which is stopped when this value is dropped.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start(arguments: &[&str]) -> Self {
        let here = std::env::current_exe().unwrap();
        let program = here.parent().unwrap().parent().unwrap().join("examples/stall_server");
        let mut command = Command::new(program);
        command.args(["--port", "0"]).args(arguments).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the server of the examples");
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on ").unwrap();
        Self { url: format!("http://{address}/"), child }
    }

    fn misbehaving(how: &str) -> Self {
        Self::start(&["--misbehave", how])
    }

    fn job(&self, load: Load, seconds: f64) -> GeneratorJob {
        support::job(&self.url, load, seconds, 0.4)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _waited = self.child.wait();
    }
}

#[test]
fn every_misbehaviour_has_its_class_and_none_is_waited_for() {
    let all = [
        ("never-answers", Some(Failure::Timeout)),
        ("closes-midway", Some(Failure::Closed)),
        ("resets", Some(Failure::Reset)),
        ("garbage", Some(Failure::Malformed)),
        ("endless-headers", Some(Failure::Malformed)),
        ("endless-body", Some(Failure::Timeout)),
        ("wrong-length", Some(Failure::WrongLength)),
        ("bad-chunks", Some(Failure::Malformed)),
        ("status-500", Some(Failure::WrongStatus)),
        ("continue-100", None),
        ("http10", None),
        ("closes-after-each", None),
        ("redirects", None),
    ];
    for (how, wanted) in all {
        let server = Server::misbehaving(how);
        let tally = run(&server.job(constant(50.0), 0.2));
        adds_up(&tally);
        assert_eq!(tally.due, 10, "{how}");
        match wanted {
            // On a busy machine, an interrupted connection may count as either failure.
            Some(Failure::Reset) => assert_eq!(
                tally.failed_as(Failure::Reset) + tally.failed_as(Failure::Closed),
                10,
                "{how}: {:?}",
                tally.failed
            ),
            Some(failure) => assert_eq!(tally.failed_as(failure), 10, "{how}: {:?}", tally.failed),
            None => assert_eq!(tally.answered, 10, "{how}: {:?}", tally.failed),
        }
    }
}

#[test]
fn what_is_there_no_more_or_speaks_before_it_is_asked_ends_nothing() {
    let server = Server::misbehaving("drops-every-third");
    let tally = run(&server.job(constant(100.0), 0.3));
    adds_up(&tally);
    assert_eq!(tally.due, 30);
    assert!(tally.answered >= 10 && tally.failures() >= 1, "{:?}", tally.failed);
    let server = Server::misbehaving("answers-before-asked");
    adds_up(&run(&server.job(constant(100.0), 0.2)));
    let gone = Server::start(&[]);
    let job = gone.job(constant(100.0), 0.2);
    drop(gone);
    let tally = run(&job);
    assert_eq!((tally.failed_as(Failure::Refused), tally.answered), (20, 0));
    let closed = GeneratorJob { load: Load::Closed { connections: 4 }, ..job };
    let tally = run(&closed);
    adds_up(&tally);
    assert!(tally.failed_as(Failure::Refused) >= 4, "{:?}", tally.failed);
}

#[test]
fn a_stall_hides_no_request() {
    // A stall of 0.2 s in each second: a tenth of the due requests waited for at least half of
    // that.
    let stall =
        ["--answer-after", "1ms", "--stall-at", "300ms", "--stall-for", "200ms", "--every", "1s"];
    let server = Server::start(&stall);
    let mut job = server.job(constant(500.0), 1.0);
    job.connecting.timeout = 5.0;
    let tally = run(&job);
    adds_up(&tally);
    assert_eq!((tally.due, tally.answered), (500, 500));
    let within = |share| tally.latency.quantile_seconds(share, 0).unwrap();
    assert!(within(0.9) > 0.08, "{}", within(0.9));
    assert!(within(0.99) > 0.17, "{}", within(0.99));
}

#[test]
fn a_closed_test_keeps_its_connections_busy_and_pipelines_answers_in_order() {
    let server = Server::start(&["--body", "100"]);
    for pipeline in [1, 8] {
        let mut job = server.job(Load::Closed { connections: 4 }, 0.3);
        job.connecting.pipeline = pipeline;
        let tally = run(&job);
        adds_up(&tally);
        assert_eq!((tally.failures(), tally.connections.opened), (0, 4), "{:?}", tally.failed);
        assert_eq!(tally.connections.most_in_flight, 4 * pipeline as u64);
        assert!(tally.answered > 50, "{}", tally.answered);
    }
}

#[test]
fn new_connections_are_new_and_parts_ask_what_the_whole_asks() {
    let server = Server::start(&[]);
    let mut job = server.job(constant(100.0), 0.5);
    job.connecting.new = true;
    let tally = run(&job);
    assert_eq!((tally.answered, tally.connections.opened), (50, 50));
    assert_eq!(tally.connect.count(), 50);
    let mut sum = Tally::default();
    for number in 0..4 {
        let part = run(&GeneratorJob { part: (number, 4), ..job.clone() });
        sum.add(&Tally::of_line(&part.to_line()).unwrap());
    }
    assert_eq!((sum.due, sum.answered, sum.latency.count()), (50, 50, 50));
}

#[test]
fn a_session_waits_between_its_steps_and_an_interruption_counts_what_was_lost() {
    let server = Server::start(&[]);
    let first = Request::get(Target::parse(&server.url).unwrap());
    let second = Request { think_seconds: 0.05, ..first.clone() };
    let mut job = server.job(constant(20.0), 0.4);
    job.scenario = Scenario { requests: vec![first, second], session: true, ..job.scenario };
    let tally = run(&job);
    adds_up(&tally);
    // There are eight sessions; the second steps of the last ones may be due after the end.
    assert!((14..=16).contains(&tally.due), "{}", tally.due);
    assert_eq!(tally.connections.opened, tally.connections.most_open);
    let stops = generate(&job, &Hooks { stop: &|| true, pace: &|_| () }).unwrap();
    adds_up(&stops);
    assert!(stops.unknown > 0);
}

#[test]
fn bodies_are_looked_into_and_redirections_followed() {
    let server = Server::start(&["--body", "10"]);
    let mut job = server.job(constant(50.0), 0.1);
    job.expect.body = Some("no such text".to_owned());
    assert_eq!(run(&job).failed_as(Failure::WrongBody), 5);
    let server = Server::misbehaving("redirects");
    let mut job = server.job(constant(50.0), 0.1);
    job.expect.follow = true;
    let tally = run(&job);
    adds_up(&tally);
    assert!(tally.redirected >= 5, "{tally:?}");
}
