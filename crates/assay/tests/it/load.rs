//! `assay load` by the built binary, against a small server in this process and servers that it
//! starts itself.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

#[path = "../../../farm/tests/it/support/slurm.rs"]
mod slurm;

use assay_data::{Histogram, assay_file};
use assay_load::Tally;
use serde_json::Value;
use slurm::Slurm;
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

/// Starts a server that answers requests on persistent connections, for the lifetime of this
/// process, and returns its URL.
fn server(status: &'static str) -> String {
    server_at("127.0.0.1", status)
}

fn server_at(address: &str, status: &'static str) -> String {
    let listener = TcpListener::bind((address, 0)).unwrap();
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
    // Two steps that share the error need more than six blocks; that is reported before they are
    // taken.
    assert!(said(&run).contains("3 of them are too few for a verdict"), "{}", said(&run));
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
    let placeholder = format!("{fine}{{{{id}}}}");
    let secret = server("400 Bad Request");
    let all: [(&[&str], &str); 21] = [
        (&["--rate", "10", &gone], "nothing listens there; start the server first"),
        (&["--rate", "10", &secret], ", load https://"),
        (&["--rate", "10", &broken], "--expect-status 503"),
        (&["--rate", "10", "--insecure", &tls], "TLS"),
        (&["--rate", "10", "http://192.0.2.1/"], "--i-may-load 192.0.2.1"),
        (&["--rate", "10", "ftp://localhost/"], "only http and https"),
        (&["--rate", "10", "http://no-such-host.invalid/"], "no-such-host.invalid"),
        (&["--rate", "1000000", &fine], "--most-rate 1000000"),
        (&["--rate", "0", &fine], "a number above 0"),
        (&["--rate", "10", "--primary", "p99", &fine], "did you mean latency_p99?"),
        (&["--rate", "10", "--secondary", "wall", &fine], "there is no such metric"),
        (&["--rate", "10", "--primary", "latency_p99", &fine, &fine], "at least 100 requests"),
        (&["--rate", "10", "--duration", "5s", &fine], "the length of a slice is --slice"),
        (&["--rate", "10", "--rev", "HEAD", "--serve", "a", "--serve", "b", &fine], "one --serve"),
        (&["--find", "p99<5%", &fine], "is not a goal"),
        (&["--rate", "10", "--header", "nonsense", &fine], "is not a header field"),
        (&["--rate", "10", "--values", "none.csv", &fine], "--values none.csv"),
        (&["--rate", "10", "--expect-body", "xyz", &fine], "--expect-body"),
        (&["--rate", "5..1", &fine], "--rate 5..1: "),
        (&["--rate", "10", &placeholder], "give the table with --values"),
        (&["--find", "p99<0ms", &fine], "can't be met"),
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

/// Starts a server that answers one request after another, each after this time, and returns its
/// URL.
fn one_at_a_time(takes: Duration) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let turn = std::sync::Arc::new(std::sync::Mutex::new(()));
    spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let turn = turn.clone();
            spawn(move || {
                let mut request = [0; 4096];
                while matches!(stream.read(&mut request), Ok(1..)) {
                    let turn = turn.lock();
                    sleep(takes);
                    drop(turn);
                    if stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").is_err() {
                        break;
                    }
                }
            });
        }
    });
    format!("http://{address}/")
}

/// Returns the number of processes whose command line contains this.
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
    // A separate directory identifies its servers.
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

    let fails =
        ["--serve", "sh -c 'echo no port {port} >&2; exit 7'", "--rate", "20", "--no-save", url];
    let run = assay(directory.path(), &fails);
    assert_eq!(run.status.code(), Some(2));
    assert!(said(&run).contains("ended with status 7; it said:\nno port"), "{}", said(&run));

    // Even if something else answers at that address.
    let other = server("200 OK");
    let fails = ["--serve", "true", "--rate", "20", "--slice", "100ms", "--no-save", &other];
    let run = assay(directory.path(), &fails);
    assert_eq!(run.status.code(), Some(2), "{}", said(&run));
    assert!(said(&run).contains("but true ended with status 0"), "{}", said(&run));
    assert!(said(&run).contains("a server must keep running in the foreground"), "{}", said(&run));
}

#[test]
fn a_search_holds_its_budget_and_says_what_is_known() {
    let directory = tempfile::tempdir().unwrap();
    let (a, b) = (format!("a={}", server("200 OK")), format!("b={}", server("200 OK")));
    let line = ["--find", "p50<1s", "--slice", "500ms", "--settle", "0", "--time", "2s"];
    let began = Instant::now();
    let run = assay(directory.path(), &[&line[..], &["--no-save", "--json", &a, &b]].concat());
    let took = began.elapsed().as_secs_f64();
    assert_eq!(run.status.code(), Some(0), "{}", said(&run));
    // Two seconds, one more slice, and starting.
    assert!(took < 4.0, "{took} s");
    let json: Value = serde_json::from_slice(&run.stdout).unwrap();
    let findings = json["findings"].as_array().unwrap();
    let told: Vec<&str> = findings
        .iter()
        .filter(|own| own["code"] == "CAPACITY_LIMIT")
        .filter_map(|own| own["message"].as_str())
        .filter(|own| own.contains("finding it takes"))
        .collect();
    assert_eq!(told.len(), 2, "{findings:?}");
    // Usually at least a rate; a busy machine may miss one.
    let of_first = told.iter().find(|own| own.contains(" requests/s with p50<1s, ")).unwrap();
    assert!(of_first.contains("when the time was over; finding it takes "), "{of_first}");
    assert!(told.iter().any(|own| own.contains("no rate was tried")), "{told:?}");
    let alone = assay(directory.path(), &[&line[..], &["--no-save", &a]].concat());
    let screen = String::from_utf8_lossy(&alone.stdout).into_owned();
    assert!(screen.starts_with("capacity of a: "), "{screen}");
    assert!(screen.contains(" requests/s with"), "{screen}");
}

#[test]
fn a_search_ends_overloaded_slices_instead_of_waiting_for_every_answer() {
    let directory = tempfile::tempdir().unwrap();
    let url = one_at_a_time(Duration::from_millis(5));
    let line = ["--find", "p99<100ms", "--rate", "50", "--time", "8s", "--no-save", "--json", &url];
    let began = Instant::now();
    let run = assay(directory.path(), &line);
    let took = began.elapsed().as_secs_f64();
    assert_eq!(run.status.code(), Some(0), "{}", said(&run));
    // A single slice that waits for its answers would take the time limit of a request, 30 s.
    assert!(took < 20.0, "{took} s");
    let json: Value = serde_json::from_slice(&run.stdout).unwrap();
    let found = json["descriptions"][0]["metrics"]["capacity"]["median"].as_f64();
    let findings = json["findings"].as_array().unwrap();
    let told = || findings.iter().filter_map(|own| own["message"].as_str());
    let has_bounds = told().any(|own| own.contains(" requests/s with p99<100ms"));
    assert!(found.is_some_and(|found| found < 400.0) || has_bounds, "{findings:?}");
}

#[test]
fn a_search_answers_first_and_keeps_the_load_for_verbose() {
    let directory = tempfile::tempdir().unwrap();
    let url = server("200 OK");
    let line = ["--find", "p50<1s", "--most-rate", "300", "--slice", "50ms", "-r", "1"];
    let run = assay(directory.path(), &[&line[..], &["--no-save", &url]].concat());
    assert_eq!(run.status.code(), Some(0), "{}", said(&run));
    let screen = String::from_utf8_lossy(&run.stdout).into_owned();
    let (answer, rest) = screen.split_once("\n\n").unwrap();
    assert!(answer.contains("/s with p50 below 1s"), "{screen}");
    assert!(rest.starts_with("latency at that rate: p50 "), "{screen}");
    assert!(!rest.contains("load: the highest rate"), "{screen}");
}

/// Starts a server that answers one request after another, 10 ms each, whether or not the client
/// still waits.
fn slow_server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let turn = std::sync::Arc::new(std::sync::Mutex::new(()));
    spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let turn = std::sync::Arc::clone(&turn);
            spawn(move || {
                let mut room = [0; 4096];
                while stream.read(&mut room).is_ok_and(|bytes| bytes > 0) {
                    let turn = turn.lock();
                    sleep(Duration::from_millis(10));
                    drop(turn);
                    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
                    if stream.write_all(answer).is_err() {
                        return;
                    }
                }
            });
        }
    });
    format!("http://{address}/")
}

#[test]
fn a_slice_does_not_suffer_from_the_overload_of_the_one_before() {
    let directory = tempfile::tempdir().unwrap();
    let url = slow_server();
    let line =
        ["--rate", "20,300", "--slice", "400ms", "--settle", "0", "--timeout", "150ms", "-r", "4"];
    let run = assay(directory.path(), &[&line[..], &["--no-save", "--json", &url]].concat());
    assert_eq!(run.status.code(), Some(0), "{}", said(&run));
    let json: Value = serde_json::from_slice(&run.stdout).unwrap();
    let failed: Vec<u64> = json["answers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|own| own["counts"]["failed"].as_u64().unwrap_or(0))
        .collect();
    // Of 480 requests at 300 per second about 100 per second are answered in time; at 20 all are,
    // whichever slice came before.
    assert!(failed[0] <= 1 && failed[1] > 100, "{failed:?}");
}

#[test]
fn single_requests_are_written_with_their_moments() {
    let directory = tempfile::tempdir().unwrap();
    let (fine, broken) = (server("200 OK"), server("503 Busy"));
    let (a, b) = (format!("a={fine}"), format!("b={broken}"));
    let line = ["--rate", "100", "--slice", "100ms", "-r", "2", "--record-requests", "r.csv"];
    let statuses = ["--expect-status", "200,503", "--expect-body", "ok", "--no-save"];
    let run = assay(directory.path(), &[&line[..], &statuses, &[&a, &b]].concat());
    assert_eq!(run.status.code(), Some(0), "{}", said(&run));
    let text = fs::read_to_string(directory.path().join("r.csv")).unwrap();
    let mut lines = text.lines();
    let head = "block,side,rate,due_s,sent_s,first_byte_s,ended_s,latency_s,status,failure";
    assert_eq!(lines.next(), Some(head));
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 40);
    for row in &rows {
        let [due, _, first, ended, latency] =
            [3, 4, 5, 6, 7].map(|at| row[at].parse::<f64>().unwrap());
        assert!(due <= first && first <= ended && (ended - due - latency).abs() < 2e-9, "{row:?}");
        assert_eq!(row[8], if row[1] == "a" { "200" } else { "503" });
    }
}

#[test]
fn revisions_of_a_server_are_served_and_compared() {
    let directory = tempfile::tempdir().unwrap();
    let git = |line: &[&str]| {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=t", "-c", "user.email=t@t"]).args(line);
        assert!(command.current_dir(directory.path()).output().unwrap().status.success());
    };
    let program = |answer: &str| {
        let text = format!(
            "import http.server, sys\n\
             class A(http.server.BaseHTTPRequestHandler):\n\
             \x20   def do_GET(self):\n\
             \x20       self.send_response({answer}); self.send_header('Content-Length', '0'); self.end_headers()\n\
             \x20   def log_message(self, *a): pass\n\
             http.server.HTTPServer(('127.0.0.1', int(sys.argv[1])), A).serve_forever()\n"
        );
        fs::write(directory.path().join("serve.py"), text).unwrap();
    };
    git(&["init", "-q", "-b", "main"]);
    program("200");
    git(&["add", "."]);
    git(&["commit", "-qm", "one"]);
    program("204");
    git(&["commit", "-qam", "two"]);
    let line = ["--rev", "HEAD~1", "--rev", "HEAD", "--serve", "python3 serve.py {port}"];
    let how = ["--rate", "20", "--slice", "200ms", "-r", "2", "--no-save", "--json"];
    let url = ["http://127.0.0.1:{port}/"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    command.current_dir(directory.path()).env("XDG_CACHE_HOME", directory.path().join("cache"));
    let run = command.arg("load").args([&line[..], &how, &url].concat()).output().unwrap();
    assert_eq!(run.status.code(), Some(0), "{}", said(&run));
    let json: Value = serde_json::from_slice(&run.stdout).unwrap();
    let answers = json["answers"].as_array().unwrap();
    let status = |own: &Value, status: &str| own["counts"][status].as_u64();
    assert_eq!(status(&answers[0], "status.200"), Some(8), "{}", answers[0]);
    assert_eq!(status(&answers[1], "status.204"), Some(8), "{}", answers[1]);
}

/// A separate network namespace, connected to this one by a pair of interfaces; removed on drop.
struct Namespace {
    name: String,
    network: String,
}

impl Namespace {
    /// Returns `None` if that is not allowed here, or there is no ip(8).
    fn new() -> Option<Self> {
        let id = std::process::id();
        let own = Self { name: format!("assay-{id}"), network: format!("10.213.{}", id % 250) };
        let (name, network) = (&own.name, &own.network);
        let (here, there) = (format!("va{id}"), format!("vb{id}"));
        let lines = [
            format!("netns add {name}"),
            format!("link add {here} type veth peer name {there} netns {name}"),
            format!("addr add {network}.1/24 dev {here}"),
            format!("link set {here} up"),
            format!("-n {name} addr add {network}.2/24 dev {there}"),
            format!("-n {name} link set {there} up"),
        ];
        lines.iter().all(|line| ip(line)).then_some(own)
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        // This also removes its interface and the other end.
        ip(&format!("netns del {}", self.name));
    }
}

fn ip(line: &str) -> bool {
    let mut command = Command::new("ip");
    command.args(line.split(' ')).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

#[test]
#[allow(clippy::print_stderr, reason = "a test that is skipped says so")]
fn generators_on_another_machine_send_from_there_and_are_counted_as_one() {
    let Some(namespace) = Namespace::new() else {
        eprintln!("skipped: no network namespace can be made here");
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let host = format!("{}.1", namespace.network);
    let url = server_at(&host, "200 OK");
    let via = format!("ip netns exec {}", namespace.name);
    let line = ["--rate", "100", "--slice", "200ms", "--settle", "0", "-r", "2", "--json"];
    let ways = ["--via", &via, "--via", &via, "--i-may-load", &host, "--save", "v.assay"];
    let run = assay(directory.path(), &[&line[..], &ways, &[&url]].concat());
    assert_eq!(run.status.code(), Some(0), "{}", said(&run));
    let json: Value = serde_json::from_slice(&run.stdout).unwrap();
    let counts = &json["answers"][0]["counts"];
    assert_eq!((counts["due"].as_u64(), counts["answered"].as_u64()), (Some(40), Some(40)));
    let record = fs::read_to_string(directory.path().join("v.assay")).unwrap();
    assert!(record.contains(&format!("generator@{via}")), "the offset of its clock");
    // On this machine it cannot be determined whether the host may be loaded.
    let run = assay(directory.path(), &["--rate", "10", "--via", &via, "--no-save", &url]);
    assert!(said(&run).contains("--i-may-load"), "{}", said(&run));
}

/// Returns the histogram of a process that measured each of these itself.
fn of_one_process(tallies: &[Tally]) -> Histogram {
    let mut one = Histogram::default();
    for (middle, count) in tallies.iter().flat_map(|tally| tally.latency.recorded()) {
        (0..count).for_each(|_| one.record((middle * 1e9).round() as u64));
    }
    one
}

#[test]
fn generators_that_slurm_places_add_up_bucket_by_bucket() {
    let Some(slurm) = Slurm::start() else { return };
    let directory = tempfile::tempdir().unwrap();
    // Each generator's answer is recorded on its way.
    let taps = directory.path().join("taps");
    fs::create_dir(&taps).unwrap();
    let srun = directory.path().join("srun");
    let nodes = taps.join("nodes");
    let tap = format!(
        "#!/bin/sh\necho \"$*\" >> '{}'\n/usr/bin/srun \"$@\" | tee '{}'/$$.lines\n",
        nodes.display(),
        taps.display()
    );
    fs::write(&srun, tap).unwrap();
    fs::set_permissions(&srun, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", directory.path().display(), std::env::var("PATH").unwrap());
    let mut command = slurm.command(env!("CARGO_BIN_EXE_assay"));
    command.current_dir(directory.path()).env("XDG_STATE_HOME", directory.path()).env("PATH", path);
    command.args([
        "load", "--rate", "200", "--slice", "300ms", "-r", "3", "--json", "--save", "s.assay",
    ]);
    let run = command.args(["--on", "slurm:2", &server("200 OK")]).stdin(Stdio::null()).output();
    let run = run.unwrap();
    assert_eq!(run.status.code(), Some(0), "{}", said(&run));
    let json: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(json["answers"][0]["counts"]["answered"], json["answers"][0]["counts"]["due"]);
    assert_eq!(fs::read_to_string(nodes).unwrap().lines().count(), 2);

    let files = fs::read_dir(&taps).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|end| end == "lines"));
    let slices: Vec<Vec<Tally>> = files
        .map(|path| {
            let text = fs::read_to_string(path).unwrap();
            let tallies: Vec<Tally> =
                text.lines().filter_map(|line| Tally::of_line(line).ok()).collect();
            // The first generator was called before, to check that the server answers.
            let before = tallies.len() - 3;
            tallies.into_iter().skip(before).collect()
        })
        .collect();
    assert_eq!(slices.len(), 2);
    let text = fs::read(directory.path().join("s.assay")).unwrap();
    let samples = assay_file::read_from(std::io::Cursor::new(text), "s.assay").unwrap();
    for block in 0..3 {
        let own = |buckets: &&assay_data::samples::Buckets| {
            buckets.block == block && buckets.of == "latency" && buckets.second.is_none()
        };
        let recorded = samples.histograms.iter().find(own).unwrap();
        let recorded = Histogram::decoded(&recorded.v2).unwrap();
        let parts: Vec<Tally> = slices.iter().map(|own| own[block as usize].clone()).collect();
        assert!(parts.iter().all(|part| part.latency.count() > 0), "both sent");
        assert_eq!(recorded.recorded(), of_one_process(&parts).recorded());
    }
}

#[test]
fn what_a_server_held_is_kept_in_the_history() {
    let directory = tempfile::tempdir().unwrap();
    let url = format!("a={}", server("200 OK"));
    let run = assay(
        directory.path(),
        &["--rate", "50", "--slice", "100ms", "-r", "3", "--no-save", "--keep=front", "-q", &url],
    );
    assert_eq!(run.status.code(), Some(0), "{}", said(&run));
    let mut log = Command::new(env!("CARGO_BIN_EXE_assay"));
    log.current_dir(directory.path()).env("XDG_STATE_HOME", directory.path());
    let log = log.args(["history", "show", "--project", "front", "--json"]).output().unwrap();
    let shown: Value = serde_json::from_slice(&log.stdout).unwrap();
    assert_eq!(shown["run"]["primary"], "latency_p50", "{shown:#}");
}
