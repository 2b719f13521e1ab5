//! Logs and samples: pieces that are sent twice or too early, limits, following, and the history.

use super::browser::{chromium, visited};
use super::*;
use assay_data::{Metric, Observation, Row, Samples, Side, Subject, assay_file};
use std::thread;

on_both![
    a_log_is_followed_while_it_grows_until_its_job_ends,
    samples_go_into_the_history_and_come_back_whole,
];

#[test]
fn pieces_of_a_log_come_twice_or_not_at_all_and_it_is_cut_at_its_limit() {
    let server = Server::new(&[]);
    let token = server.farm("a", 1);
    let leased = server.leased("a", &token);
    let job = format!("/api/v1/jobs/{}", leased.job.id);
    let put = |offset: u64, bytes: &[u8]| {
        let path = format!("{job}/log?nonce={}&offset={offset}", leased.nonce);
        server.asks("PUT", &path, &token, "", bytes)
    };
    assert_eq!(put(0, b"abc").is(200).json(), json!({"bytes": 3, "cut": 0}));
    assert_eq!(put(0, b"abc").is(200).json(), json!({"bytes": 3, "cut": 0}));
    let told = put(9, b"x").refuses(409, "conflict");
    assert!(told.contains("continue at 3"), "{told}");
    let forged = format!("{job}/log?nonce={}&offset=0", "0".repeat(64));
    server.asks("PUT", &forged, &token, "", b"x").refuses(409, "lease_lost");
    put(3, &vec![b'x'; (4 << 20) + 1]).refuses(413, "too_large");
    let limit = 16 << 20;
    let mut at = 3;
    while at < limit + (1 << 20) {
        at += 4 << 20;
        put(at - (4 << 20), &vec![b'x'; 4 << 20]).is(200);
    }
    let logged = put(at, b"more").is(200).json();
    assert_eq!(logged, json!({"bytes": limit, "cut": at + 4 - limit}));
    let read = server.get(&format!("{job}/log?offset={}", limit - 2), &token);
    assert_eq!(read.is(200).body, b"xx");
    let cut = (at + 4 - limit).to_string();
    assert_eq!(read.header("log-cut"), Some(cut.as_str()));
    assert_eq!(read.header("content-type"), Some("text/plain; charset=utf-8"));
}

fn a_log_is_followed_while_it_grows_until_its_job_ends(home: Home) {
    let server = Server::at(home, &[]);
    let token = server.farm("a", 1);
    let leased = server.leased("a", &token);
    let job = format!("/api/v1/jobs/{}", leased.job.id);
    let put = |offset: u64, bytes: &[u8]| {
        let path = format!("{job}/log?nonce={}&offset={offset}", leased.nonce);
        server.asks("PUT", &path, &token, "", bytes).is(200);
    };
    put(0, "begun \u{1b}[31m<b>".as_bytes());
    thread::scope(|scope| {
        let followed = scope.spawn(|| server.get(&format!("{job}/log/follow?offset=6"), &token));
        // First half a character, then the rest of it.
        let rest = " größer\n".as_bytes();
        put(14, &rest[..4]);
        thread::sleep(Duration::from_millis(600));
        put(18, &rest[4..]);
        server.end(&token, &leased, "k").is(201);
        let followed = String::from_utf8(followed.join().unwrap().body).unwrap();
        let text: String = followed
            .lines()
            .filter_map(|line| line.strip_prefix("data: {\"offset\""))
            .map(|data| {
                let event: Value = serde_json::from_str(&format!("{{\"offset\"{data}")).unwrap();
                event["text"].as_str().unwrap().to_owned()
            })
            .collect();
        assert_eq!(text, "\u{1b}[31m<b> größer\n", "{followed}");
        assert!(followed.trim_end().ends_with("event: end\ndata: {}"), "{followed}");
    });
}

fn samples_go_into_the_history_and_come_back_whole(home: Home) {
    let server = Server::at(home, &[]);
    let token = server.farm("a", 1);
    let leased = server.leased("a", &token);
    let file = format!("/api/v1/jobs/{}/samples?nonce={}", leased.job.id, leased.nonce);
    server.asks("PUT", &file, &token, "", b"no samples").refuses(400, "bad_request");
    let samples = samples();
    let kept = server.asks("PUT", &file, &token, "", &samples).is(200).json();
    assert_eq!(kept["project"], "rails/rack");
    // Sending it twice has the same effect as once.
    assert_eq!(server.asks("PUT", &file, &token, "", &samples).is(200).json(), kept);
    let build = server.end(&token, &leased, "k").is(201).json();
    assert_eq!(build["has_samples"], true);
    let path = format!("/api/v1/builds/{}/samples", build["id"]);
    let back = server.get(&path, &token);
    assert!(back.is(200).body.starts_with(b"{\"assay\":"));
    server.asks("PUT", &file, &token, "", &samples).refuses(409, "lease_lost");
    server.get("/api/v1/builds/99/samples", &token).refuses(404, "not_found");
}

/// Returns samples with two sides.
pub fn samples() -> Vec<u8> {
    let mut samples = Samples::new(vec![Metric::wall()]);
    for name in ["base", "new"] {
        let subject = samples.add_subject(name);
        for block in 0..5 {
            let values = vec![0.01 + f64::from(block) * 1e-4];
            samples.push(Observation { subject, values, ..Observation::default() });
        }
    }
    let mut text = Vec::new();
    assay_file::write(&samples, &mut text).unwrap();
    text
}

/// Returns samples of a base and a version, as an agent measures them: as commits of a repository
/// that no longer exists.
fn of_two_versions(slower: f64) -> Vec<u8> {
    let mut samples = Samples::new(vec![Metric::wall()]);
    samples.rows.push(Row { name: "parse/<b>".to_owned(), ..Row::default() });
    for (side, name) in ["base", "version"].into_iter().enumerate() {
        samples.add_side(Side { name: name.to_owned(), ..Side::default() });
        samples.environment.set(&format!("git_commit@{name}"), name.repeat(8).as_str());
        let subject =
            samples.add(Subject { side, name: format!("parse {name}"), ..Subject::default() });
        for block in 0..5 {
            let value = (0.01 + f64::from(block) * 1e-4) * if side == 1 { slower } else { 1.0 };
            samples.push_value(subject, value);
        }
    }
    let mut text = Vec::new();
    assay_file::write(&samples, &mut text).unwrap();
    text
}

#[test]
fn benchmarks_have_their_history_over_versions() {
    let server = Server::new(&["--public"]);
    let token = server.farm("a", 4);
    server.get("/rails/rack/history/index.html", "").is(200);
    assert!(!String::from_utf8(server.get("/rails/rack", "").body).unwrap().contains("/history/"));
    for ordinal in 2..=4 {
        let job = json!({"owner": "rails", "project": "rack", "version": format!("1.{ordinal}"), "kind": "bench", "base": format!("1.{}", ordinal - 1)});
        server.post("/api/v1/jobs", &server.admin, &job).is(201);
        let asking = LeaseRequest { kinds: vec![Kind::Bench], ..asking("a") };
        let leased: LeasedJob =
            server.post("/api/v1/nodes/a/lease", &token, &asking).is(200).thing();
        let file = format!("/api/v1/jobs/{}/samples?nonce={}", leased.job.id, leased.nonce);
        let slower = if ordinal == 4 { 1.3 } else { 1.0 };
        server.asks("PUT", &file, &token, "", &of_two_versions(slower)).is(200);
        server.end(&token, &leased, &format!("k{ordinal}")).is(201);
    }
    let text = |path: &str| {
        let page = server.get(path, "");
        String::from_utf8(page.is(200).body.clone()).unwrap()
    };
    assert!(text("/rails/rack").contains("href=\"/rails/rack/history/index.html\""));
    let index = text("/rails/rack/history/index.html");
    // It shows versions, not their names during measurement.
    assert!(index.contains(">1.4</a>") && !index.contains("versionversion"), "{index}");
    let benchmark = text("/rails/rack/benchmark?name=parse/%3Cb%3E&metric=wall");
    let link = benchmark.split("href=\"/rails/rack/history/benchmarks/").nth(1);
    let file =
        link.and_then(|rest| rest.split('"').next()).unwrap_or_else(|| panic!("{benchmark}"));
    let page = format!("/rails/rack/history/benchmarks/{file}");
    let of_benchmark = text(&page);
    for version in ["1.1", "1.2", "1.3", "1.4"] {
        assert!(of_benchmark.contains(&format!(">{version}</a>")), "{version}: {of_benchmark}");
    }
    server.get("/rails/rack/history/benchmarks/none.html", "").is(404);
    server.get("/rails/rack/history/../../../admin-token", "").is(404);
    if let Some(browser) = chromium() {
        for path in ["/rails/rack/history/index.html", &page, "/rails/rack/history/compare.html"] {
            let address = format!("http://{}{path}", server.address);
            let (dom, said) = visited(&browser, server.home.room(), &["--dump-dom"], &address);
            let complaints: Vec<&str> =
                said.lines().filter(|line| line.contains("CONSOLE")).collect();
            assert!(complaints.is_empty(), "{path}: {complaints:?}");
            assert!(dom.contains("href=\"/rails/rack\""), "{path}: no way back: {dom}");
        }
    }
}
