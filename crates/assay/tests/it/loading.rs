//! `assay load` against servers that fail, close, redirect, stream, or break the rules of HTTP.

use serde_json::Value;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

fn assay(directory: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    command.current_dir(directory).env("XDG_STATE_HOME", directory).arg("load").args(arguments);
    command.stdin(Stdio::null()).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Maps the number of a request, from 1, and its path to a response and whether the connection is
/// closed afterwards. `None`: closed without a response.
type Script = fn(u64, &str) -> Option<(Vec<u8>, bool)>;

fn well() -> Option<(Vec<u8>, bool)> {
    answer("ok")
}

fn answer(text: &str) -> Option<(Vec<u8>, bool)> {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", text.len());
    Some(((head + text).into_bytes(), false))
}

/// Starts a server that follows a script. Returns its URL and the heads of the received requests.
fn scripted(script: Script) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let heard = Arc::clone(&asked);
    spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let heard = Arc::clone(&heard);
            spawn(move || -> Option<()> {
                let mut held = Vec::new();
                let mut room = [0; 4096];
                loop {
                    let bytes = stream.read(&mut room).ok().filter(|bytes| *bytes > 0)?;
                    held.extend_from_slice(&room[..bytes]);
                    while let Some(end) = held.windows(4).position(|four| four == b"\r\n\r\n") {
                        let head = String::from_utf8_lossy(&held[..end]).into_owned();
                        held.drain(..end + 4);
                        let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
                        let number = {
                            let mut heard = heard.lock().unwrap();
                            heard.push(head);
                            heard.len() as u64
                        };
                        let (answer, closes) = script(number, &path)?;
                        stream.write_all(&answer).ok()?;
                        if closes {
                            return None;
                        }
                    }
                }
            });
        }
    });
    (url, asked)
}

fn shown(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_server_that_stops_answering_is_slower_by_its_failures() {
    let directory = tempfile::tempdir().unwrap();
    let (fine, _) = scripted(|_, _| well());
    let (dies, _) = scripted(|number, _| if number < 45 { well() } else { None });
    let line = ["--rate", "100", "--slice", "200ms", "--settle", "0", "-r", "4", "--no-save"];
    let (a, b) = (format!("a={fine}/"), format!("b={dies}/"));
    let run = assay(directory.path(), &[&line[..], &["--fail-if", "slower", &a, &b]].concat());
    assert_eq!(run.status.code(), Some(1), "{}{}", shown(&run), said(&run));
    let screen = shown(&run);
    assert!(screen.starts_with("b stopped answering in slice"), "{screen}");
    assert!(
        screen.contains("slower, by failures") && screen.contains("50 % of its requests failed"),
        "{screen}"
    );
    // A failing reference never makes the other side pass.
    let (dies, _) = scripted(|number, _| if number < 45 { well() } else { None });
    let (a, b) = (format!("a={dies}/"), format!("b={fine}/"));
    let run = assay(directory.path(), &[&line[..], &["--fail-if", "slower", &a, &b]].concat());
    assert!(!matches!(run.status.code(), Some(0 | 2)), "{}{}", shown(&run), said(&run));
    assert!(shown(&run).starts_with("a, the reference, stopped answering"), "{}", shown(&run));
    // The same holds without a second server.
    let (dies, _) = scripted(|number, _| if number < 45 { well() } else { None });
    let run = assay(directory.path(), &[&line[..], &[&format!("{dies}/")]].concat());
    assert!(
        shown(&run).lines().next().is_some_and(|first| first.contains("failed")),
        "{}",
        shown(&run)
    );
}

#[test]
fn a_server_that_was_away_loses_and_a_pause_is_said_first() {
    let directory = tempfile::tempdir().unwrap();
    let (fine, _) = scripted(|_, _| well());
    // Four requests precede its first slice; each slice has twenty.
    let (away, _) = scripted(|number, _| if (25..=64).contains(&number) { None } else { well() });
    let line = ["--rate", "100", "--slice", "200ms", "--settle", "0", "-r", "5", "--no-save"];
    let (a, b) = (format!("a={fine}/"), format!("b={away}/"));
    let run = assay(directory.path(), &[&line[..], &["--fail-if", "slower", &a, &b]].concat());
    assert_eq!(run.status.code(), Some(1), "{}{}", shown(&run), said(&run));
    assert!(shown(&run).starts_with("b fails more: 40 % of its requests"), "{}", shown(&run));
    // The same holds if it is back before its next slice.
    let (brief, _) = scripted(|number, _| if (27..=41).contains(&number) { None } else { well() });
    let b = format!("b={brief}/");
    let run = assay(directory.path(), &[&line[..], &["--fail-if", "slower", &a, &b]].concat());
    assert_eq!(run.status.code(), Some(1), "{}{}", shown(&run), said(&run));
    assert!(shown(&run).starts_with("b fails more: 15 % of its requests"), "{}", shown(&run));
    let (pause, _) = scripted(|number, _| if (27..=30).contains(&number) { None } else { well() });
    let b = format!("b={pause}/");
    let run = assay(directory.path(), &[&line[..], &["--fail-if", "slower", &a, &b]].concat());
    assert_eq!(run.status.code(), Some(3), "{}{}", shown(&run), said(&run));
    assert!(shown(&run).starts_with("4 of 100 requests of b failed, 4.0 %"), "{}", shown(&run));
}

#[test]
fn a_server_that_hangs_for_a_while_loses() {
    let directory = tempfile::tempdir().unwrap();
    let (fine, _) = scripted(|_, _| well());
    // The last five requests of its first slice, and the one that is made before its next slice.
    let (hangs, _) = scripted(|number, _| {
        if (20..=25).contains(&number) {
            sleep(Duration::from_millis(1500));
        }
        well()
    });
    let line = ["--rate", "100", "--slice", "200ms", "--settle", "0", "-r", "5", "--no-save"];
    let (a, b) = (format!("a={fine}/"), format!("b={hangs}/"));
    let more = ["--timeout", "300ms", "--fail-if", "slower", &a, &b];
    let run = assay(directory.path(), &[&line[..], &more].concat());
    assert_eq!(run.status.code(), Some(1), "{}{}", shown(&run), said(&run));
    let screen = shown(&run).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(screen.starts_with("b fails more: 5"), "{screen}");
    assert!(screen.contains("between slices it answered nothing for 1"), "{screen}");
}

#[test]
fn the_first_failure_of_a_kind_is_told_exactly() {
    let directory = tempfile::tempdir().unwrap();
    let (url, _) = scripted(|number, _| match number % 3 {
        0 => Some((b"HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\n".to_vec(), true)),
        _ => well(),
    });
    let line = ["--rate", "60", "--slice", "200ms", "-r", "1", "--no-save", "--json", &url];
    let run = assay(directory.path(), &line);
    assert_eq!(run.status.code(), Some(0), "{}", said(&run));
    let json: Value = serde_json::from_slice(&run.stdout).unwrap();
    let findings = json["findings"].as_array().unwrap();
    let failed = findings.iter().filter(|own| own["code"] == "REQUESTS_FAILED");
    // The share of requests that failed has the same code.
    let mut messages = failed.map(|own| own["message"].as_str().unwrap().to_owned());
    let message = messages.find(|message| message.starts_with("the first"));
    let expected = "the first requests that failed: malformed: its Content-Length is not a number";
    assert_eq!(message.as_deref(), Some(expected), "{json:#}");
}

#[test]
fn a_screen_says_the_load_and_that_a_server_closes_connections() {
    let directory = tempfile::tempdir().unwrap();
    let (closes, _) = scripted(|_, _| well().map(|(answer, _)| (answer, true)));
    let line = ["--rate", "50", "--slice", "200ms", "-r", "2", "--no-save", "--verbose"];
    let run = assay(directory.path(), &[&line[..], &[&format!("{closes}/")]].concat());
    assert_eq!(run.status.code(), Some(0), "{}", said(&run));
    let screen = shown(&run).replace("\n  ", " ");
    for expected in [
        "load: 50 requests/s, evenly spaced",
        "slices of 200 ms",
        "the server closes them",
        "B/s received",
    ] {
        assert!(screen.contains(expected), "{expected}: {screen}");
    }
    assert!(said(&run).contains("2 blocks take"), "{}", said(&run));
    assert!(said(&run).contains("if a server hangs"), "{}", said(&run));
}

#[test]
fn what_a_server_does_wrong_is_named_for_what_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let (url, _) = scripted(|_, path| {
        let answer = |text: &str| Some((text.as_bytes().to_vec(), false));
        match path {
            "/loop" => answer("HTTP/1.1 302 Found\r\nLocation: /loop\r\nContent-Length: 0\r\n\r\n"),
            "/away" => answer(
                "HTTP/1.1 302 Found\r\nLocation: //example.com/\r\nContent-Length: 0\r\n\r\n",
            ),
            "/nowhere" => answer("HTTP/1.1 307 Odd\r\nContent-Length: 0\r\n\r\n"),
            "/101" => answer("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n"),
            "/ssh" => answer("SSH-2.0-OpenSSH_9.0\r\n"),
            "/999" => answer("HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n"),
            "/plain" => answer("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"),
            "/endless" => answer("HTTP/1.1 200 OK\r\n\r\ndata: 1\n\n"),
            _ => well(),
        }
    });
    let all: [(&str, &[&str], &str); 10] = [
        ("/loop", &["--follow"], "redirects more than ten times"),
        ("/away", &["--follow"], "redirects to another server, //example.com/"),
        ("/nowhere", &["--follow"], "redirects without a Location: status 307"),
        ("/101", &[], "switches to another protocol"),
        ("/ssh", &[], "does not begin with HTTP"),
        ("/999", &[], "--expect-status 999"),
        ("/plain", &[], "as TLS servers do to plain requests"),
        ("/endless", &["--timeout", "300ms"], "its answer was not completed within 300 ms"),
        ("/", &["--body", "abc", "-H", "Content-Length: 5"], "omit it"),
        ("/", &["--path", "/999"], "--path /999: it answers with status 999"),
    ];
    for (path, more, expected) in all {
        let target = format!("{url}{path}");
        let line = ["--rate", "20", "--slice", "50ms", "-r", "1", "--no-save"];
        let run = assay(directory.path(), &[&line[..], more, &[&target]].concat());
        assert_eq!(run.status.code(), Some(2), "{path}: {}", said(&run));
        assert!(said(&run).contains(expected), "{path}: {}", said(&run));
    }
    let line =
        ["--rate", "20", "--slice", "50ms", "-r", "1", "--no-save", "--expect-status", "999"];
    let run = assay(directory.path(), &[&line[..], &[&format!("{url}/999")]].concat());
    assert_eq!(run.status.code(), Some(0), "{}", said(&run));
    let everywhere = url.replace("127.0.0.1", "0.0.0.0");
    // On a busy machine there is a warning as well, and then a note is shown only with all
    // findings.
    let line = ["--rate", "20", "--slice", "50ms", "-r", "1", "--no-save", "-v", &everywhere];
    let run = assay(directory.path(), &line);
    assert_eq!(run.status.code(), Some(0), "{}", said(&run));
    let screen = shown(&run).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(screen.contains("its loopback was loaded"), "{screen}");
}

#[test]
fn values_and_recorded_paths_are_encoded_and_an_empty_body_is_one() {
    let directory = tempfile::tempdir().unwrap();
    let (url, asked) = scripted(|_, _| well());
    fs::write(directory.path().join("v.csv"), "name\na b\ncaf\u{e9}/..\n\"q\"\"t, u\"\n").unwrap();
    let log = "1.2.3.4 - - [29/Nov/2026:06:00:00 +0000] \"GET /a b c HTTP/1.1\" 200 5\n\
               1.2.3.4 - - [29/Nov/2026:06:00:00 +0000] \"GET /q?x=\\x22y HTTP/1.1\" 200 5\n\
               1.2.3.4 - - [29/Nov/2026:06:00:00 +0000] \"HEAD /only HTTP/1.1\" 200 5\n\
               1.2.3.4 - - [29/Nov/2026:06:00:00 +0000] \"\\x16\\x03\" 400 5\n";
    fs::write(directory.path().join("log"), log).unwrap();
    // The second request of the log's only second is due in its middle: a recording is replayed as
    // a whole, so it has no `--slice`.
    let common = ["--settle", "0", "-r", "1", "--no-save"];
    let typed = format!("{url}/v/{{{{name}}}}");
    let lines: [&[&str]; 4] = [
        &["--slice", "100ms", "--rate", "60", "--values", "v.csv", &typed],
        &["--replay", "log", &url],
        &["--slice", "100ms", "--rate", "20", "--body", "", &url],
        &["--slice", "100ms", "--rate", "20", "--body", "@/dev/null", &url],
    ];
    for line in lines {
        let run = assay(directory.path(), &[&common[..], line].concat());
        assert_eq!(run.status.code(), Some(0), "{}", said(&run));
    }
    let asked = asked.lock().unwrap();
    let has = |start: &str| asked.iter().any(|head| head.starts_with(start));
    for path in ["/v/a%20b", "/v/caf%C3%A9/..", "/v/q%22t,%20u", "/a%20b%20c", "/q?x=%22y"] {
        assert!(has(&format!("GET {path} HTTP/1.1\r\n")), "{path}: {asked:?}");
    }
    assert!(has("HEAD /only HTTP/1.1\r\n") && !has("GET /only"), "{asked:?}");
    let posts = asked.iter().filter(|head| head.starts_with("POST"));
    assert!(
        posts.clone().count() > 3 && posts.clone().all(|own| own.contains("Content-Length: 0"))
    );
}

#[test]
fn a_goal_out_of_reach_is_named_at_once_with_what_was_seen() {
    let directory = tempfile::tempdir().unwrap();
    let (url, _) = scripted(|_, _| {
        sleep(Duration::from_millis(10));
        well()
    });
    let line = ["--find", "p99<1ms", "--slice", "300ms", "--time", "60s", "--no-save", &url];
    let began = Instant::now();
    let run = assay(directory.path(), &line);
    assert_eq!(run.status.code(), Some(0), "{}", said(&run));
    let screen = shown(&run).replace("\n  ", " ");
    assert!(screen.contains("the goal p99<1ms is not met at any rate"), "{screen}");
    assert!(began.elapsed() < Duration::from_secs(50), "it does not go on for all of its time");
}

#[test]
fn gaps_between_chunks_and_first_bytes_are_metrics() {
    let directory = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    spawn(move || {
        for mut stream in listener.incoming().flatten() {
            spawn(move || -> Option<()> {
                // Otherwise the kernel holds chunks back until the previous one is acknowledged,
                // and they arrive together.
                stream.set_nodelay(true).ok()?;
                let mut room = [0; 4096];
                while stream.read(&mut room).is_ok_and(|bytes| bytes > 0) {
                    stream
                        .write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                        .ok()?;
                    for _ in 0..4 {
                        stream.write_all(b"4\r\ndata\r\n").ok()?;
                        sleep(Duration::from_millis(20));
                    }
                    stream.write_all(b"0\r\n\r\n").ok()?;
                }
                Some(())
            });
        }
    });
    let line = ["--rate", "20", "--slice", "500ms", "-r", "2", "--no-save", "--json", &url];
    let run = assay(directory.path(), &line);
    assert_eq!(run.status.code(), Some(0), "{}", said(&run));
    let json: Value = serde_json::from_slice(&run.stdout).unwrap();
    let metrics = &json["descriptions"][0]["metrics"];
    let of = |name: &str| metrics[name]["median"].as_f64().unwrap_or(f64::NAN);
    // A busy machine makes them longer, never shorter.
    assert!(of("chunk_gap_p50") >= 0.019, "{metrics}");
    assert!(of("first_byte_p50") > 0.0, "{metrics}");
}

#[test]
fn another_answer_is_different_output_unless_a_server_varies_it() {
    let directory = tempfile::tempdir().unwrap();
    let line = ["--rate", "100", "--slice", "100ms", "--settle", "0", "-r", "6", "--no-save"];
    let load = |a: &str, b: &str, more: &[&str]| {
        let sides = [&format!("a={a}/page")[..], &format!("b={b}/page")];
        assay(directory.path(), &[&line[..], more, &sides].concat())
    };
    let (whole, asked) = scripted(|_, _| well());
    let (less, _) = scripted(|_, _| answer("o"));
    let run = load(&whole, &less, &["--require-same"]);
    assert_eq!(run.status.code(), Some(4), "{}{}", shown(&run), said(&run));
    let screen = shown(&run).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(screen.contains("with different output"), "{screen}");
    assert!(
        screen.contains("'b' does not answer as 'a' does: GET /page: 1 bytes instead of 2"),
        "{screen}"
    );
    // Six slices of ten requests, two that check whether it answers, and two that are compared.
    assert!(asked.lock().unwrap().len() <= 64, "{}", asked.lock().unwrap().len());
    let (same, _) = scripted(|_, _| well());
    let run = load(&whole, &same, &["--require-same"]);
    assert!(!shown(&run).contains("different output"), "{}", shown(&run));
    assert_eq!(run.status.code(), Some(0), "{}{}", shown(&run), said(&run));
    // A number that differs in every answer.
    let (counts, _) = scripted(|number, _| answer(&format!("{number:09}")));
    let run = load(&whole, &counts, &["--require-same", "--json"]);
    assert!(shown(&run).contains("OUTPUT_NOT_COMPARED") && !shown(&run).contains("OUTPUT_DIFFERS"));
    assert_eq!(run.status.code(), Some(3), "{}", said(&run));
}
