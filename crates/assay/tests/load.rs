//! `assay load` by the built binary, against a small server in this process and servers that it starts itself.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use serde_json::Value;
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

/// A server that answers each request on a connection that stays, for as long as this process lives; its URL.
fn server(status: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    spawn(move || {
        for stream in listener.incoming().flatten() {
            spawn(move || serve(stream, status));
        }
    });
    format!("http://{address}/")
}

fn serve(mut stream: TcpStream, status: &str) -> Option<()> {
    let mut held = Vec::new();
    let mut room = [0; 4096];
    loop {
        let bytes = stream.read(&mut room).ok().filter(|bytes| *bytes > 0)?;
        held.extend_from_slice(&room[..bytes]);
        while let Some(end) = held.windows(4).position(|four| four == b"\r\n\r\n") {
            held.drain(..end + 4);
            let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 2\r\n\r\nok");
            stream.write_all(answer.as_bytes()).ok()?;
        }
    }
}

fn assay(directory: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    command.current_dir(directory).env("XDG_STATE_HOME", directory).arg("load").args(arguments);
    command.stdin(Stdio::null()).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn two_servers_are_loaded_by_turns_and_the_record_says_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let (a, b) = (format!("a={}", server("200 OK")), format!("b={}", server("200 OK")));
    let line =
        ["--rate", "50,100", "--slice", "100ms", "-r", "3", "--save", "l.assay", "--json", &a, &b];
    let run = assay(directory.path(), &line);
    assert_eq!(run.status.code(), Some(0), "{}", said(&run));
    let json: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!((&json["verb"], &json["primary"]), (&"load".into(), &"latency_p50".into()));
    let answers = json["answers"].as_array().unwrap();
    assert_eq!(answers.len(), 4);
    for own in answers {
        let due = own["counts"]["due"].as_u64().unwrap();
        let rate = own["parameters"]["rate"].as_u64().unwrap();
        assert_eq!((own["slices"].as_u64(), due), (Some(3), rate * 3 / 10), "{own}");
        assert_eq!(own["counts"]["answered"].as_u64(), Some(due));
    }
    let mut again = Command::new(env!("CARGO_BIN_EXE_assay"));
    let again = again
        .current_dir(directory.path())
        .args(["compare", "l.assay", "--json"])
        .output()
        .unwrap();
    let read: Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(read["answers"], json["answers"]);
    assert_eq!(read["comparisons"], json["comparisons"]);
}

#[test]
fn generators_of_their_own_send_the_same_schedule() {
    let directory = tempfile::tempdir().unwrap();
    let url = server("200 OK");
    let line = [
        "--rate",
        "200",
        "--slice",
        "200ms",
        "-r",
        "2",
        "--no-save",
        "--json",
        "--generators",
        "3",
        &url,
    ];
    let run = assay(directory.path(), &line);
    assert_eq!(run.status.code(), Some(0), "{}", said(&run));
    let json: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(json["answers"][0]["counts"]["due"].as_u64(), Some(80));
    assert_eq!(json["answers"][0]["counts"]["answered"].as_u64(), Some(80));
    let via = [
        "--rate",
        "100",
        "--slice",
        "100ms",
        "-r",
        "1",
        "--no-save",
        "-q",
        "--via",
        "env A=b",
        &url,
    ];
    assert_eq!(assay(directory.path(), &via).status.code(), Some(0));
    let lost =
        ["--rate", "100", "--slice", "100ms", "-r", "1", "--no-save", "-q", "--via", "false", &url];
    let run = assay(directory.path(), &lost);
    assert_eq!(run.status.code(), Some(2));
    assert!(said(&run).contains("the generator false was lost"), "{}", said(&run));
}

#[test]
fn what_can_not_be_loaded_says_why_before_anything_is_sent() {
    let directory = tempfile::tempdir().unwrap();
    let (fine, broken) = (server("200 OK"), server("503 Busy"));
    let gone = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}/", listener.local_addr().unwrap())
    };
    let tls = fine.replace("http:", "https:");
    let all: [(&[&str], &str); 12] = [
        (&["--rate", "10", &gone], "nothing listens there"),
        (&["--rate", "10", &broken], "--expect-status 503"),
        (&["--rate", "10", "--insecure", &tls], "does it speak TLS"),
        (&["--rate", "10", "http://192.0.2.1/"], "--i-may-load 192.0.2.1"),
        (&["--rate", "10", "ftp://localhost/"], "only http and https"),
        (&["--rate", "10", "http://no-such-host.invalid/"], "no-such-host.invalid"),
        (&["--rate", "1000000", &fine], "--most-rate 1000000"),
        (&["--rate", "0", &fine], "a number above 0"),
        (&["--find", "p99<5%", &fine], "is no goal"),
        (&["--rate", "10", "--header", "nonsense", &fine], "is no field"),
        (&["--rate", "10", "--values", "none.csv", &fine], "--values none.csv"),
        (&["--rate", "10", "--expect-body", "xyz", &fine], "--expect-body"),
    ];
    for (line, expected) in all {
        let run = assay(
            directory.path(),
            &[line, &["--no-save", "--slice", "100ms", "-r", "1"]].concat(),
        );
        assert_eq!(run.status.code(), Some(2), "{line:?}: {}", said(&run));
        assert!(said(&run).contains(expected), "{line:?}: {}", said(&run));
    }
}

#[test]
fn secrets_stay_out_of_the_record() {
    let directory = tempfile::tempdir().unwrap();
    let url = server("200 OK").replace("http://", "http://me:hunter2@");
    let line =
        ["--rate", "50", "--slice", "50ms", "-r", "1", "--save", "s.assay", "--report", "s.html"];
    let header =
        ["--header", "Authorization: Bearer hunter2hunter2", "--header", "Cookie: id=hunter2"];
    let run = assay(directory.path(), &[&line[..], &header, &[&url]].concat());
    assert_eq!(run.status.code(), Some(0), "{}", said(&run));
    let shown = String::from_utf8_lossy(&run.stdout).into_owned() + &said(&run);
    assert!(!shown.contains("hunter2"), "{shown}");
    for file in ["s.assay", "s.html"] {
        let text = fs::read_to_string(directory.path().join(file)).unwrap();
        assert!(!text.contains("hunter2"), "{file}");
    }
}

#[test]
fn a_search_finds_a_rate_that_is_held() {
    let directory = tempfile::tempdir().unwrap();
    let url = server("200 OK");
    let line = [
        "--find",
        "p50<1s",
        "--most-rate",
        "300",
        "--slice",
        "50ms",
        "-r",
        "1",
        "--no-save",
        "--json",
        &url,
    ];
    let run = assay(directory.path(), &line);
    assert_eq!(run.status.code(), Some(0), "{}", said(&run));
    let json: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(json["primary"], "capacity");
    let found = json["descriptions"][0]["metrics"]["capacity"]["median"].as_f64().unwrap();
    assert!(found <= 300.0 && found > 0.0, "{found}");
}

/// Processes whose command line holds this.
fn running(mark: &str) -> usize {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines.filter(|line| String::from_utf8_lossy(line).contains(mark)).count()
}

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(30), "{what}");
        sleep(Duration::from_millis(20));
    }
}

#[test]
fn servers_are_started_measured_and_ended_even_if_assay_is_killed() {
    let directory = tempfile::tempdir().unwrap();
    // A directory of its own is the mark by which its servers are found.
    let mark = directory.path().display().to_string();
    let serve = format!("python3 -m http.server {{port}} --bind 127.0.0.1 --directory {mark}");
    let url = "http://127.0.0.1:{port}/";
    let line = [
        "--serve",
        &serve,
        "--rate",
        "20",
        "--slice",
        "100ms",
        "-r",
        "1",
        "--no-save",
        "--json",
        url,
    ];
    let run = assay(directory.path(), &line);
    assert_eq!(run.status.code(), Some(0), "{}", said(&run));
    let json: Value = serde_json::from_slice(&run.stdout).unwrap();
    let metrics = &json["descriptions"][0]["metrics"];
    assert!(
        metrics["server_memory"]["median"].as_f64().is_some_and(|bytes| bytes > 1e6),
        "{metrics}"
    );
    assert_eq!(running(&mark), 0);

    let mut long = Command::new(env!("CARGO_BIN_EXE_assay"));
    long.current_dir(directory.path()).args([
        "load",
        "--serve",
        &serve,
        "--rate",
        "20",
        "--slice",
        "30s",
        "--no-save",
        url,
    ]);
    let mut long = long.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until("both run", || running(&mark) >= 2);
    sleep(Duration::from_millis(300));
    long.kill().unwrap();
    long.wait().unwrap();
    until("the server ends with it", || running(&mark) == 0);

    let fails = ["--serve", "sh -c 'echo no port >&2; exit 7'", "--rate", "20", "--no-save", url];
    let run = assay(directory.path(), &fails);
    assert_eq!(run.status.code(), Some(2));
    assert!(said(&run).contains("ended with status 7; it said:\nno port"), "{}", said(&run));
}
