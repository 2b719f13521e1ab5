//! The pages from the point of view of a reader's browser: who may see them, what they show, and
//! how they handle untrusted text.

use super::browser::{chromium, visited};
use super::*;
use assay_farm::builds::wire::{BenchmarkComparison, NewBuild};

on_both![a_page_says_where_a_version_fails_and_since_when,];

/// A name that must have no effect.
const HOSTILE: &str = "</pre><img src=x onerror=document.body.dataset.ran=1>\u{1b}[31m";

/// Returns a target with a version of Ruby on an architecture.
fn on(ruby: &str, arch: &str) -> NewTarget {
    let facts: Facts = [("arch", arch), ("os", "debian 12"), ("runtime.ruby", ruby)]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
    NewTarget { name: format!("ruby {ruby}, debian 12, {arch}"), facts }
}

/// Adds three versions on three targets: the last one fails on Ruby 3.4 and is slower on arm64.
fn filled(server: &Server) {
    let admin = &server.admin;
    let token = server.token("agent", Some("a"), None);
    server.put("/api/v1/owners/rails", admin, &json!({}));
    server.put("/api/v1/owners/rails/projects/rack", admin, &json!({}));
    let targets = [on("3.1.2", "x86_64"), on("3.4.1", "x86_64"), on("3.1.2", "arm64")];
    for target in &targets {
        let path = format!("/api/v1/targets/{}", digest(&target.facts));
        server.put(&path, admin, target);
    }
    for ordinal in 1..=3 {
        let path = format!("/api/v1/owners/rails/projects/rack/versions/1.{ordinal}");
        server.put(&path, admin, &version(ordinal)).is(201);
        for (place, target) in targets.iter().enumerate() {
            let fails = ordinal == 3 && place == 1;
            let mut outcome = outcome(if fails { State::Failed } else { State::Passed });
            if fails {
                outcome.reason = HOSTILE.to_owned();
                outcome.evidence.failed = 1;
                outcome.evidence.failures = vec![HOSTILE.to_owned()];
            }
            let new = |outcome| NewBuild {
                owner: "rails".to_owned(),
                project: "rack".to_owned(),
                version: format!("1.{ordinal}"),
                target: digest(&target.facts),
                node: "a".to_owned(),
                outcome,
            };
            let key = format!("k{ordinal}{place}");
            server.put(&format!("/api/v1/builds/{key}"), &token, &new(outcome)).is(201);
            let log = format!("/api/v1/builds/{key}/log?offset=0");
            if ordinal == 3 {
                let mut outcome = self::outcome(State::Passed);
                outcome.comparisons = vec![slower_on_arm(place)];
                let path = format!("/api/v1/builds/b{place}");
                server.put(&path, &token, &new(outcome)).is(201);
            }
            server.asks(
                "PUT",
                &log,
                &token,
                "",
                format!("\u{1b}[32mok\u{1b}[0m {HOSTILE}\n").as_bytes(),
            );
        }
    }
}

/// Returns a benchmark that is slower on the third target.
fn slower_on_arm(place: usize) -> BenchmarkComparison {
    let ratio = if place == 2 { 1.05 } else { 1.0 };
    BenchmarkComparison {
        benchmark: "parse".to_owned(),
        metric: "wall".to_owned(),
        verdict: if place == 2 { "slower" } else { "equivalent" }.to_owned(),
        ratio,
        lower: ratio - 0.004,
        upper: ratio + 0.004,
        n: 40,
    }
}

fn text(answer: &Answer) -> String {
    String::from_utf8(answer.body.clone()).unwrap()
}

fn a_page_says_where_a_version_fails_and_since_when(home: Home) {
    let server = Server::at(home, &[]);
    filled(&server);
    let page = server.get("/rails/rack", &server.admin);
    let said = text(page.is(200));
    assert!(
        said.contains(
            "1.3: fails on Ruby 3.4 only (1 of 3 targets); first with version 1.3; seen once"
        ),
        "{said}"
    );
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    assert!(page.header("content-security-policy").unwrap().contains("script-src 'self'"));
    let tag = format!("If-None-Match: {}\r\n", page.header("etag").unwrap());
    server.asks("GET", "/rails/rack", &server.admin, &tag, b"").is(304);
    let verdicts = server.get("/api/v1/owners/rails/projects/rack/verdicts", &server.admin).json();
    let newest = &verdicts["versions"][0];
    assert_eq!(
        (newest["version"].as_str(), newest["is_alarm"].as_bool()),
        (Some("1.3"), Some(true))
    );
    assert_eq!(newest["failing"][0]["first"], "1.3");
    assert_eq!(newest["failing"][0]["targets"], json!([digest(&on("3.4.1", "x86_64").facts)]));
    let home = text(server.get("/", &server.admin).is(200));
    assert!(home.contains("fails on 1 of 3") && home.contains("href=\"/rails/rack\""), "{home}");
    let badge = server.get("/rails/rack/badge.svg", "");
    assert!(text(badge.is(200)).contains("fails on 1 of 3"));
    assert_eq!(badge.header("content-type"), Some("image/svg+xml"));
    for path in ["/waterfall", "/rails/rack/matrix", "/nodes/a", "/builds/9"] {
        let page = server.get(path, &server.admin);
        if path == "/nodes/a" && page.status == 404 {
            // A node that only submitted builds never said hello.
            continue;
        }
        let said = text(page.is(200));
        assert!(!said.contains("<img") && !said.contains('\u{1b}'), "{path}: {said}");
    }
    let missing = server.get("/rails/none", &server.admin);
    assert!(text(missing.is(404)).contains("Not found"));
}

#[test]
fn a_browser_enters_once_and_its_cookie_is_for_reading_alone() {
    let server = Server::new(&[]);
    let refused = server.get("/", "");
    let said = text(refused.is(401));
    // The message for programs is not shown to readers.
    assert!(!said.contains("Authorization"), "{said}");
    assert!(said.contains("action=\"/enter\"") && refused.header("www-authenticate").is_none());
    let form = "Content-Type: application/x-www-form-urlencoded\r\n";
    let enter = |secret: &str| {
        server.asks("POST", "/enter", "", form, format!("token={secret}").as_bytes())
    };
    enter("assay_1_forged").is(401);
    let read = server.token("read", None, None);
    let entered = enter(&read);
    assert_eq!(entered.is(303).header("location"), Some("/"));
    let cookie = entered.header("set-cookie").unwrap();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    let (pair, _) = cookie.split_once(';').unwrap();
    let with = |pair: &str| format!("Cookie: other=1; {pair}\r\n");
    server.asks("GET", "/", "", &with(pair), b"").is(200);
    server.asks("GET", "/api/v1/home", "", &with(pair), b"").is(200);
    let admins = format!("assay-farm-token={}", server.admin);
    let owner = server.asks("PUT", "/api/v1/owners/x", "", &with(&admins), b"{}");
    owner.refuses(401, "unauthorized");
    // Public files.
    server.get("/assets/farm.css", "").is(200);
    server.get("/assets/../admin-token", "").is(404);
}

#[test]
fn whoever_lets_anybody_read_lets_nobody_change() {
    let server = Server::new(&["--public"]);
    server.get("/", "").is(200);
    server.get("/api/v1/home", "").is(200);
    server.put("/api/v1/owners/x", "", &json!({})).refuses(401, "unauthorized");
    server.get("/api/v1/tokens", "").refuses(401, "unauthorized");
    server.get("/api/v1/audit", "").refuses(401, "unauthorized");
}

#[test]
fn a_browser_opens_the_pages_without_a_complaint_and_names_do_nothing() {
    let Some(browser) = chromium() else { return };
    let server = Server::new(&["--public"]);
    filled(&server);
    for path in [
        "/",
        "/rails/rack",
        "/rails/rack/benchmark?name=parse&metric=wall",
        "/builds/9",
        "/none/none",
    ] {
        let address = format!("http://{}{path}", server.address);
        let (dom, said) = visited(&browser, server.home.room(), &["--dump-dom"], &address);
        // The browser itself reports missing pages.
        let complaints = said.lines().filter(|line| line.contains("CONSOLE"));
        let complaints: Vec<&str> =
            complaints.filter(|line| !line.contains("404 (Not Found)")).collect();
        assert!(complaints.is_empty(), "{path}: {complaints:?}");
        assert!(dom.contains("data-ready=\"1\""), "{path}: the script did not run: {dom}");
        assert!(!dom.contains("data-ran") && !dom.contains("<img"), "{path}: {dom}");
    }
}

#[test]
fn the_status_of_a_project_is_its_matrix() {
    let server = Server::new(&[]);
    filled(&server);
    let status = |more: &[&str]| {
        let mut command = program();
        command.args(["status", "--data"]).arg(server.data()).args(more);
        let ran = command.env("LC_ALL", "C.UTF-8").output().unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8(ran.stdout).unwrap()
    };
    let screen = status(&["rails/rack"]);
    assert!(
        screen.starts_with("1.3: fails on Ruby 3.4 only (1 of 3 targets); first with version"),
        "{screen}"
    );
    assert!(screen.contains("3  ruby 3.4.1, debian 12, x86_64"), "{screen}");
    let verdicts: Value = serde_json::from_str(&status(&["rails/rack", "--json"])).unwrap();
    assert_eq!(verdicts["versions"][0]["claims"][0]["tone"], "bad");
    let unknown = program().args(["status", "rack", "--data"]).arg(server.data()).output().unwrap();
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("OWNER/PROJECT"));
    assert_eq!(unknown.status.code(), Some(2));
}
