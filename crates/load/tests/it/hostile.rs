//! HTTP/1 servers that break the rules or use rare features, each in one way. In all cases every
//! request has exactly one outcome, which is named correctly, and the test ends.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use crate::support::{self, adds_up, constant, listener, run};
use assay_load::{Failure, GeneratorJob, Tally};
use rustix::net::sockopt::set_socket_linger;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::thread::{scope, sleep};
use std::time::Duration;

/// Number of requests to each server.
const REQUESTS: u64 = 4;
/// Time limits in seconds: for requests that are answered or fail, and for requests that time out.
const LIMITS: (f64, f64) = (10.0, 0.2);
/// Number of servers that are tested in parallel.
const AT_ONCE: usize = 8;

/// A step of a server's reaction to a request.
enum Step {
    Send(Vec<u8>),
    /// Sends the text byte by byte.
    Drip(Vec<u8>),
    /// Sends the text repeatedly until the connection is closed.
    Endless(&'static [u8]),
    Close,
    Reset,
    /// Stops sending but continues reading.
    HalfClose,
    Hang,
}
use Step::{Close, Drip, Endless, HalfClose, Hang, Reset, Send};

/// The expected outcome of the requests.
pub(crate) enum Wanted {
    Answered,
    /// Answered, with surplus bytes that belong to no answer.
    Stray,
    /// Failed in this way, with this text in the details; if empty, without details.
    Failed(Failure, &'static str),
}
use Wanted::{Answered, Failed, Stray};

/// A server's reaction to a request for a path.
type Manner = fn(&str) -> Vec<Step>;
type Mode = (&'static str, Manner, Wanted);

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
const CHUNKED: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

fn text(text: &str) -> Vec<Step> {
    vec![Send(text.as_bytes().to_vec())]
}

/// Returns an answer with these fields before its length.
fn with(fields: &str) -> Vec<Step> {
    text(&format!("HTTP/1.1 200 OK\r\n{fields}Content-Length: 5\r\n\r\nhello"))
}

/// Returns an answer with these fields and this body.
fn of(fields: &str, body: &str) -> Vec<Step> {
    text(&format!("HTTP/1.1 200 OK\r\n{fields}\r\n{body}"))
}

fn chunks(body: &str) -> Vec<Step> {
    text(&format!("{CHUNKED}{body}"))
}

fn then(mut steps: Vec<Step>, last: Step) -> Vec<Step> {
    steps.push(last);
    steps
}

fn fields(count: usize) -> String {
    (0..count).map(|i| format!("X-{i}: a\r\n")).collect()
}

fn redirection(to: &str) -> Vec<Step> {
    text(&format!("HTTP/1.1 302 Found\r\n{to}Content-Length: 0\r\n\r\n"))
}

/// Unusual but (nearly) correct behavior: such servers can be measured.
const READ: &[Mode] = &[
    ("300 fields", |_| with(&fields(300)), Answered),
    ("2000 fields", |_| with(&fields(2000)), Answered),
    ("folded field", |_| with("X-A: b\r\n c\r\n\td\r\n"), Answered),
    ("field of 200 KiB", |_| with(&format!("X: {}\r\n", "a".repeat(200 << 10))), Answered),
    (
        "bytes beyond ASCII in a value",
        |_| {
            vec![Send(
                [b"HTTP/1.1 200 OK\r\nX: \xff\xe9\r\n".as_slice(), &OK.as_bytes()[17..]].concat(),
            )]
        },
        Answered,
    ),
    ("no reason", |_| text(&OK.replace("200 OK", "200")), Answered),
    ("lines end with LF", |_| text(&OK.replace("\r\n", "\n")), Answered),
    ("no blank before values", |_| of("Content-Length:5\r\n", "hello"), Answered),
    ("length twice", |_| of("Content-Length: 5\r\nContent-Length: 5\r\n", "hello"), Answered),
    ("length as a list", |_| of("Content-Length: 5, 5\r\n", "hello"), Answered),
    (
        "length and chunks",
        |_| of("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", "5\r\nhello\r\n0\r\n\r\n"),
        Answered,
    ),
    ("chunk extension", |_| chunks("5;a=\"b\"\r\nhello\r\n0;c\r\n\r\n"), Answered),
    ("trailers", |_| chunks("5\r\nhello\r\n0\r\nX-A: b\r\nX-C: d\r\n\r\n"), Answered),
    ("zeros before the size", |_| chunks("0000005\r\nhello\r\n000\r\n\r\n"), Answered),
    (
        "gzip within chunks",
        |_| of("Transfer-Encoding: gzip, chunked\r\n", "5\r\nhello\r\n0\r\n\r\n"),
        Answered,
    ),
    (
        "compressed body",
        |_| of("Content-Encoding: gzip\r\nContent-Length: 5\r\n", "\u{1f}x\u{8}yz"),
        Answered,
    ),
    ("identity", |_| of("Transfer-Encoding: identity\r\nContent-Length: 5\r\n", "hello"), Answered),
    ("until closed", |_| then(of("", "hello"), Close), Answered),
    ("until half-closed", |_| then(of("", "hello"), HalfClose), Answered),
    ("HTTP/1.0", |_| then(text(&OK.replace("1.1", "1.0")), Close), Answered),
    (
        "HTTP/1.0 that stays",
        |_| {
            text(
                &OK.replace("1.1", "1.0").replace("\r\n\r\n", "\r\nConnection: keep-alive\r\n\r\n"),
            )
        },
        Answered,
    ),
    ("closes with notice", |_| then(with("Connection: close\r\n"), Close), Answered),
    ("closes without notice", |_| then(text(OK), Close), Answered),
    ("head byte by byte", |_| vec![Drip(OK.as_bytes().to_vec())], Answered),
    ("interim 100", |_| text(&format!("HTTP/1.1 100 Continue\r\n\r\n{OK}")), Answered),
    (
        "interim 103 twice",
        |_| text(&format!("{0}{0}{OK}", "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n")),
        Answered,
    ),
    (
        "204 with a length",
        |_| text("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n"),
        Answered,
    ),
    (
        "304 with a length",
        |_| text("HTTP/1.1 304 Not Modified\r\nContent-Length: 500\r\n\r\n"),
        Answered,
    ),
    ("204 with a body", |_| text("HTTP/1.1 204 No Content\r\n\r\nhello"), Stray),
    ("304 with a body", |_| text("HTTP/1.1 304 Not Modified\r\n\r\nhello"), Stray),
    ("bytes behind the body", |_| text(&format!("{OK}EXTRA")), Stray),
    ("two answers", |_| text(&format!("{OK}{OK}")), Stray),
];

/// Rule violations, and answers that never end.
const BROKEN: &[Mode] = &[
    ("2100 fields", |_| with(&fields(2100)), Failed(Failure::Malformed, "2048 header fields")),
    (
        "field of 300 KiB",
        |_| with(&format!("X: {}\r\n", "a".repeat(300 << 10))),
        Failed(Failure::Malformed, "longer than 256 KiB"),
    ),
    (
        "endless head",
        |_| then(text("HTTP/1.1 200 OK\r\n"), Endless(b"X: yyyyyyyy\r\n")),
        Failed(Failure::Malformed, "2048 header fields"),
    ),
    (
        "endless field",
        |_| then(text("HTTP/1.1 200 OK\r\nX: "), Endless(b"yyyyyyyy")),
        Failed(Failure::Malformed, "longer than 256 KiB"),
    ),
    (
        "interim without end",
        |_| vec![Endless(b"HTTP/1.1 102 Processing\r\n\r\n")],
        Failed(Failure::Malformed, "1000 interim answers"),
    ),
    (
        "NUL in a value",
        |_| with("X: a\0b\r\n"),
        Failed(Failure::Malformed, "value of a header field"),
    ),
    (
        "NUL in a name",
        |_| with("X\0Y: a\r\n"),
        Failed(Failure::Malformed, "name of a header field"),
    ),
    (
        "blank before the colon",
        |_| with("X : a\r\n"),
        Failed(Failure::Malformed, "name of a header field"),
    ),
    (
        "no status line",
        |_| text("Content-Length: 5\r\n\r\nhello"),
        Failed(Failure::Malformed, "does not begin with HTTP/1.1"),
    ),
    (
        "HTTP/0.9",
        |_| then(text("<html>hello</html>"), Close),
        Failed(Failure::Malformed, "does not begin with HTTP/1.1"),
    ),
    (
        "another protocol",
        |_| then(text("SSH-2.0-OpenSSH_9.0\r\n"), Close),
        Failed(Failure::Malformed, "does not begin with HTTP/1.1"),
    ),
    (
        "HTTP/3.0",
        |_| text(&OK.replace("1.1", "3.0")),
        Failed(Failure::Malformed, "does not begin with HTTP/1.1"),
    ),
    (
        "frames of HTTP/2",
        |_| vec![Send([&[0, 0, 18, 4, 0, 0, 0, 0, 0][..], &[0; 18]].concat())],
        Failed(Failure::Malformed, "--http2"),
    ),
    (
        "an alert of TLS",
        |_| vec![Send(vec![0x15, 3, 1, 0, 2, 2, 70])],
        Failed(Failure::Malformed, "https"),
    ),
    (
        "status of letters",
        |_| text(&OK.replace("200", "2x0")),
        Failed(Failure::Malformed, "three digits"),
    ),
    ("status 999", |_| text(&OK.replace("200", "999")), Failed(Failure::WrongStatus, "")),
    (
        "status 101",
        |_| text("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"),
        Failed(Failure::WrongStatus, ""),
    ),
    (
        "two lengths",
        |_| of("Content-Length: 5\r\nContent-Length: 6\r\n", "hello"),
        Failed(Failure::Malformed, "two different Content-Length"),
    ),
    (
        "negative length",
        |_| of("Content-Length: -5\r\n", "hello"),
        Failed(Failure::Malformed, "Content-Length is not a number"),
    ),
    (
        "length of letters",
        |_| of("Content-Length: 0x5\r\n", "hello"),
        Failed(Failure::Malformed, "Content-Length is not a number"),
    ),
    (
        "length beyond all numbers",
        |_| of("Content-Length: 99999999999999999999999\r\n", "hello"),
        Failed(Failure::Malformed, "larger than any body"),
    ),
    (
        "largest length",
        |_| of("Content-Length: 18446744073709551615\r\n", "hello"),
        Failed(Failure::Timeout, "was not completed"),
    ),
    (
        "body too short",
        |_| then(of("Content-Length: 100\r\n", "hello"), Close),
        Failed(Failure::WrongLength, ""),
    ),
    (
        "body too short, half-closed",
        |_| then(of("Content-Length: 100\r\n", "hello"), HalfClose),
        Failed(Failure::WrongLength, ""),
    ),
    (
        "size of letters",
        |_| chunks("zz\r\nhello\r\n0\r\n\r\n"),
        Failed(Failure::Malformed, "size of a chunk is not a number"),
    ),
    (
        "no size",
        |_| chunks("\r\nhello\r\n0\r\n\r\n"),
        Failed(Failure::Malformed, "size of a chunk is not a number"),
    ),
    (
        "negative size",
        |_| chunks("-5\r\nhello\r\n0\r\n\r\n"),
        Failed(Failure::Malformed, "size of a chunk is not a number"),
    ),
    (
        "size beyond all numbers",
        |_| chunks("fffffffffffffffff\r\nhello"),
        Failed(Failure::Malformed, "larger than any body"),
    ),
    (
        "largest size",
        |_| chunks("ffffffffffffffff\r\nhello"),
        Failed(Failure::Timeout, "was not completed"),
    ),
    (
        "chunk longer than its size",
        |_| chunks("3\r\nhello\r\n0\r\n\r\n"),
        Failed(Failure::Malformed, "longer than its size"),
    ),
    (
        "chunks without end",
        |_| then(chunks(""), Endless(b"5\r\nhello\r\n")),
        Failed(Failure::Timeout, "was not completed"),
    ),
    (
        "chunks that are cut",
        |_| then(chunks("5\r\nhello\r\n"), Close),
        Failed(Failure::WrongLength, ""),
    ),
    (
        "trailers without end",
        |_| then(chunks("0\r\n"), Endless(b"X: yyyyyyyy\r\n")),
        Failed(Failure::Malformed, "fields after the last chunk"),
    ),
    (
        "extension without end",
        |_| then(chunks("5;"), Endless(b"yyyyyyyy")),
        Failed(Failure::Malformed, "line before a chunk"),
    ),
    (
        "body without end",
        |_| then(of("", ""), Endless(b"data: 1\n\n")),
        Failed(Failure::Timeout, "was not completed"),
    ),
    ("never answers", |_| vec![Hang], Failed(Failure::Timeout, "")),
    (
        "head that stops",
        |_| then(text("HTTP/1.1 200 OK\r\nX:"), Hang),
        Failed(Failure::Timeout, "was not completed"),
    ),
    (
        "body that stops",
        |_| then(of("Content-Length: 9\r\n", "hello"), Hang),
        Failed(Failure::Timeout, "was not completed"),
    ),
    ("closes without an answer", |_| vec![Close], Failed(Failure::Closed, "")),
    ("half-closes without an answer", |_| vec![HalfClose], Failed(Failure::Closed, "")),
    (
        "closes in the head",
        |_| then(text("HTTP/1.1 200 OK\r\nX:"), Close),
        Failed(Failure::Closed, "in the middle of its answer"),
    ),
    ("resets without an answer", |_| vec![Reset], Failed(Failure::Reset, "")),
    (
        "resets in the body",
        |_| then(of("Content-Length: 100\r\n", "hello"), Reset),
        Failed(Failure::Reset, "in the middle of its answer"),
    ),
];

/// Redirections, which are followed here.
const REDIRECTIONS: &[Mode] = &[
    (
        "to a path beside",
        |path| match path {
            "/" => redirection("Location: next/?a=b\r\n"),
            "/next/?a=b" => redirection("Location: ../ok\r\n"),
            "/ok" => text(OK),
            _ => vec![Close],
        },
        Answered,
    ),
    ("to itself", |_| redirection("Location: /\r\n"), Failed(Failure::RedirectLoop, "/")),
    (
        "ever further",
        |path| redirection(&format!("Location: {path}x\r\n")),
        Failed(Failure::RedirectLoop, "/xxxxxxxxxxx"),
    ),
    (
        "to another server",
        |_| redirection("Location: http://example.com/a\r\n"),
        Failed(Failure::RedirectedAway, "http://example.com/a"),
    ),
    (
        "to another scheme",
        |_| redirection("Location: https://127.0.0.1/\r\n"),
        Failed(Failure::RedirectedAway, "https"),
    ),
    (
        "to no place",
        |_| redirection("Location: http://\r\n"),
        Failed(Failure::RedirectedAway, "http://"),
    ),
    ("without a place", |_| redirection(""), Failed(Failure::WrongStatus, "without a Location")),
];

/// Reads successive requests and reacts to each according to its path.
fn serve(mut stream: TcpStream, manner: Manner) -> Option<()> {
    let mut held = Vec::new();
    loop {
        let end = loop {
            match held.windows(4).position(|four| four == b"\r\n\r\n") {
                Some(end) => break end + 4,
                None => {
                    let mut room = [0; 4096];
                    let bytes = stream.read(&mut room).ok().filter(|bytes| *bytes > 0)?;
                    held.extend_from_slice(&room[..bytes]);
                }
            }
        };
        let head = String::from_utf8_lossy(&held[..end]).into_owned();
        held.drain(..end);
        let path = head.split(' ').nth(1)?;
        for step in manner(path) {
            match step {
                Send(bytes) => stream.write_all(&bytes).ok()?,
                Drip(bytes) => {
                    for byte in bytes {
                        stream.write_all(&[byte]).ok()?;
                        sleep(Duration::from_micros(200));
                    }
                }
                Endless(piece) => {
                    let many = piece.repeat(4096 / piece.len());
                    loop {
                        stream.write_all(&many).ok()?;
                    }
                }
                Close => return None,
                Reset => {
                    set_socket_linger(&stream, Some(Duration::ZERO)).ok()?;
                    return None;
                }
                HalfClose => {
                    stream.shutdown(Shutdown::Write).ok()?;
                    while stream.read(&mut [0; 4096]).ok()? > 0 {}
                    return None;
                }
                Hang => while stream.read(&mut [0; 4096]).ok()? > 0 {},
            }
        }
    }
}

pub(crate) fn job(url: &str, wanted: &Wanted) -> GeneratorJob {
    let waits = matches!(wanted, Failed(Failure::Timeout | Failure::ConnectTimeout, _));
    let timeout = if waits { LIMITS.1 } else { LIMITS.0 };
    support::job(url, constant(REQUESTS as f64 * 20.0), 0.05, timeout)
}

/// Returns how the outcomes differ from the expected ones, if they do.
pub(crate) fn complaint(tally: &Tally, wanted: &Wanted) -> Option<String> {
    adds_up(tally);
    let right = match *wanted {
        Answered => tally.answered == REQUESTS && tally.connections.stray == 0,
        Stray => tally.answered == REQUESTS && tally.connections.stray == REQUESTS,
        Failed(failure, detail) => {
            let told = tally.details.get(&failure).map_or("", String::as_str);
            let named = if detail.is_empty() { told.is_empty() } else { told.contains(detail) };
            tally.failed_as(failure) == REQUESTS && named
        }
    };
    let what = (tally.answered, &tally.statuses, tally.connections, &tally.details);
    let failed = Failure::ALL.map(|failure| (failure, tally.failed_as(failure)));
    let failed: Vec<_> = failed.into_iter().filter(|(_, count)| *count > 0).collect();
    (!right).then(|| format!("{failed:?} {what:?}"))
}

/// Tests all of these modes.
fn all_are_named(modes: &[Mode], change: fn(&mut GeneratorJob)) {
    let mut wrong = Vec::new();
    for some in modes.chunks(AT_ONCE) {
        wrong.extend(scope(|scope| {
            let each = some.iter().map(|(name, manner, wanted)| {
                scope.spawn(move || {
                    let manner = *manner;
                    let address = support::start(move |stream| serve(stream, manner));
                    let mut job = job(&format!("http://{address}/"), wanted);
                    change(&mut job);
                    complaint(&run(&job), wanted).map(|what| format!("{name}: {what}"))
                })
            });
            let each: Vec<_> = each.collect();
            each.into_iter().filter_map(|own| own.join().unwrap()).collect::<Vec<_>>()
        }));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn unusual_servers_are_measured() {
    all_are_named(READ, |_| ());
}

#[test]
fn broken_answers_are_named_for_what_they_are() {
    all_are_named(BROKEN, |_| ());
}

#[test]
fn redirections_end_somewhere() {
    all_are_named(REDIRECTIONS, |job| job.expect.follow = true);
}

#[test]
fn connections_that_servers_close_are_counted() {
    let manners: [Manner; 3] = [
        |_| then(of("", "hello"), Close),
        |_| then(text(&OK.replace("1.1", "1.0")), Close),
        |_| then(with("Connection: close\r\n"), Close),
    ];
    for manner in manners {
        let address = support::start(move |stream| serve(stream, manner));
        let tally = run(&job(&format!("http://{address}/"), &Answered));
        let counts = tally.connections;
        assert_eq!((counts.opened, counts.closed_by_server), (REQUESTS, REQUESTS));
    }
}

#[test]
fn an_answer_to_head_has_no_body_whatever_it_says() {
    let modes: [Mode; 3] = [
        ("length", |_| text("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n"), Answered),
        ("chunks", |_| text(CHUNKED), Answered),
        ("a body all the same", |_| text(OK), Stray),
    ];
    all_are_named(&modes, |job| job.scenario.requests[0].method = "HEAD".to_owned());
}

#[test]
fn a_server_that_speaks_no_tls_is_named() {
    let wanted = Failed(Failure::Tls, "InvalidContentType");
    let address = support::start(|mut stream| {
        let _whatever_came = stream.read(&mut [0; 4096]).ok()?;
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").ok()
    });
    let mut job = job(&format!("https://{address}/"), &wanted);
    job.connecting.tls.insecure = true;
    assert_eq!(complaint(&run(&job), &wanted), None);
}

#[test]
fn a_server_that_accepts_nobody_ends_in_a_time_limit() {
    // The kernel accepts connections on its behalf.
    let (_listens, address) = listener();
    let url = format!("http://{address}/");
    let wanted = Failed(Failure::Timeout, "");
    assert_eq!(complaint(&run(&job(&url, &wanted)), &wanted), None);
    // The kernel does so until the queue is full.
    let (full, address) = listener();
    rustix::net::listen(&full, 0).unwrap();
    let _waits = TcpStream::connect(&address).unwrap();
    let wanted = Failed(Failure::ConnectTimeout, "");
    let url = format!("http://{address}/");
    assert_eq!(complaint(&run(&job(&url, &wanted)), &wanted), None);
}
