//! HTTP/2 servers that break the rules, each in one way, at the level of frames. Every request has
//! exactly one outcome, which is named correctly.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use crate::frames::{self, GOAWAY, HEADERS, OK, RST_STREAM, SETTINGS, frame};
use crate::hostile::Wanted::{self, Answered, Failed};
use crate::hostile::{complaint, job};
use crate::support::{self, run};
use assay_load::{Failure, GeneratorJob};
use std::io::{Read, Write};

const DATA: u8 = 0;
const PRIORITY: u8 = 2;
const PUSH_PROMISE: u8 = 5;
const PING: u8 = 6;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;
/// Flags: end of the stream, end of the head, padded payload.
const END: u8 = 1;
const WHOLE: u8 = 4;
const PADDED: u8 = 8;

/// Returns the bytes sent for a request on a stream, and the bytes then sent repeatedly; if the
/// latter are empty, the connection is closed.
type Manner = fn(u32) -> (Vec<u8>, Vec<u8>);
type Mode = (&'static str, Manner, Wanted);

fn once(frames: &[Vec<u8>]) -> (Vec<u8>, Vec<u8>) {
    (frames.concat(), Vec::new())
}

fn answer(id: u32) -> Vec<u8> {
    [frame(HEADERS, WHOLE, id, &OK), frame(DATA, END, id, b"hello")].concat()
}

/// Returns a header field without indexing (RFC 7541, 6.2.2).
fn field(name: &str, value: &str) -> Vec<u8> {
    let short = |text: &str| u8::try_from(text.len()).unwrap();
    [&[0, short(name)], name.as_bytes(), &[short(value)], value.as_bytes()].concat()
}

/// Returns a HEADERS frame with these fields.
fn head(flags: u8, id: u32, fields: &[(&str, &str)]) -> Vec<u8> {
    let fields = fields.iter().map(|(name, value)| field(name, value));
    frame(
        HEADERS,
        flags,
        id,
        &std::iter::once(OK.to_vec()).chain(fields).collect::<Vec<_>>().concat(),
    )
}

fn error(kind: u8, id: u32, payload: &[u32]) -> Vec<u8> {
    frame(kind, 0, id, &payload.iter().flat_map(|own| own.to_be_bytes()).collect::<Vec<_>>())
}

const MODES: &[Mode] = &[
    ("interim 103", |id| once(&[frame(HEADERS, WHOLE, id, b"\x08\x03103"), answer(id)]), Answered),
    (
        "trailers",
        |id| {
            let body = frame(DATA, 0, id, b"hello");
            let trailer = frame(HEADERS, END | WHOLE, id, &field("grpc-status", "13"));
            once(&[frame(HEADERS, WHOLE, id, &OK), body, trailer])
        },
        Answered,
    ),
    (
        "continued head",
        |id| {
            let rest = frame(CONTINUATION, WHOLE, id, &field("x", "y"));
            once(&[frame(HEADERS, END, id, &OK), rest])
        },
        Answered,
    ),
    (
        "padding",
        |id| {
            once(&[frame(HEADERS, WHOLE, id, &OK), frame(DATA, END | PADDED, id, b"\x02hello\0\0")])
        },
        Answered,
    ),
    (
        "frames of unknown kinds",
        |id| once(&[frame(0xfa, 0, 0, b"?"), frame(0xfb, 0, id, b"?"), answer(id)]),
        Answered,
    ),
    ("priorities", |id| once(&[frame(PRIORITY, 0, id, &[0, 0, 0, 0, 7]), answer(id)]), Answered),
    (
        "empty data",
        |id| {
            let none = frame(DATA, 0, id, b"").repeat(5);
            once(&[frame(HEADERS, WHOLE, id, &OK), none, frame(DATA, END, id, b"hello")])
        },
        Answered,
    ),
    (
        "length that fits",
        |id| once(&[head(WHOLE, id, &[("content-length", "5")]), frame(DATA, END, id, b"hello")]),
        Answered,
    ),
    (
        "body too short",
        |id| once(&[head(WHOLE, id, &[("content-length", "100")]), frame(DATA, END, id, b"hello")]),
        Failed(Failure::WrongLength, ""),
    ),
    (
        "body too long",
        |id| once(&[head(WHOLE, id, &[("content-length", "3")]), frame(DATA, END, id, b"hello")]),
        Failed(Failure::WrongLength, ""),
    ),
    (
        "stream ended with an error",
        |id| once(&[error(RST_STREAM, id, &[2])]),
        Failed(Failure::StreamReset, "the stream with INTERNAL_ERROR"),
    ),
    (
        "stream ended within the body",
        |id| {
            once(&[
                frame(HEADERS, WHOLE, id, &OK),
                frame(DATA, 0, id, b"hel"),
                error(RST_STREAM, id, &[8]),
            ])
        },
        Failed(Failure::StreamReset, "the stream with CANCEL"),
    ),
    (
        "goes away with an error",
        |_| once(&[error(GOAWAY, 0, &[0, 11])]),
        Failed(Failure::StreamReset, "the connection with ENHANCE_YOUR_CALM"),
    ),
    (
        "compression that is none",
        |id| once(&[frame(HEADERS, END | WHOLE, id, &[0xff; 40])]),
        Failed(Failure::Malformed, "PROTOCOL_ERROR"),
    ),
    (
        "index beyond the table",
        |id| once(&[frame(HEADERS, END | WHOLE, id, &[0xfe])]),
        Failed(Failure::Malformed, "PROTOCOL_ERROR"),
    ),
    (
        "frame larger than allowed",
        |id| once(&[frame(HEADERS, WHOLE, id, &OK), frame(DATA, END, id, &[0; 20_000])]),
        Failed(Failure::Malformed, "FRAME_SIZE_ERROR"),
    ),
    (
        "padding longer than its frame",
        |id| once(&[frame(HEADERS, WHOLE, id, &OK), frame(DATA, END | PADDED, id, b"\xffhello")]),
        Failed(Failure::Malformed, "PROTOCOL_ERROR"),
    ),
    (
        "body without a head",
        |id| once(&[frame(DATA, END, id, b"hello")]),
        Failed(Failure::Malformed, "PROTOCOL_ERROR"),
    ),
    (
        "push that was ruled out",
        |id| {
            once(&[frame(PUSH_PROMISE, WHOLE, id, &[&[0, 0, 0, 2][..], &OK].concat()), answer(id)])
        },
        Failed(Failure::Malformed, "PROTOCOL_ERROR"),
    ),
    (
        "head that something interrupts",
        |id| once(&[frame(HEADERS, 0, id, &OK), frame(PING, 0, 0, &[0; 8])]),
        Failed(Failure::Malformed, "PROTOCOL_ERROR"),
    ),
    (
        "stream that nobody opened",
        |_| once(&[frame(HEADERS, END | WHOLE, 1001, &OK)]),
        Failed(Failure::Malformed, "PROTOCOL_ERROR"),
    ),
    (
        "window grown by nothing",
        |_| once(&[error(WINDOW_UPDATE, 0, &[0])]),
        Failed(Failure::Malformed, "PROTOCOL_ERROR"),
    ),
    (
        "window beyond its bound",
        |_| {
            once(&[
                error(WINDOW_UPDATE, 0, &[0x7fff_ffff]),
                error(WINDOW_UPDATE, 0, &[0x7fff_ffff]),
            ])
        },
        Failed(Failure::Malformed, "FLOW_CONTROL_ERROR"),
    ),
    (
        "settings of a wrong size",
        |_| once(&[frame(SETTINGS, 0, 0, b"12345")]),
        Failed(Failure::Malformed, "PROTOCOL_ERROR"),
    ),
    (
        "ping of a wrong size",
        |_| once(&[frame(PING, 0, 0, b"1")]),
        Failed(Failure::Malformed, "PROTOCOL_ERROR"),
    ),
    (
        "continuations without end",
        |id| (frame(HEADERS, 0, id, &OK), frame(CONTINUATION, 0, id, &field("x", "y"))),
        Failed(Failure::Malformed, "ENHANCE_YOUR_CALM"),
    ),
    (
        "settings without end",
        |_| (Vec::new(), frame(SETTINGS, 0, 0, &[])),
        Failed(Failure::Timeout, ""),
    ),
    (
        "pings without end",
        |_| (Vec::new(), frame(PING, 0, 0, &[0; 8])),
        Failed(Failure::Timeout, ""),
    ),
    (
        "unknown frames without end",
        |_| (Vec::new(), frame(0xfa, 0, 0, &[0; 1000])),
        Failed(Failure::Timeout, ""),
    ),
    (
        "empty data without end",
        |id| (frame(HEADERS, WHOLE, id, &OK), frame(DATA, 0, id, b"")),
        Failed(Failure::Malformed, "ENHANCE_YOUR_CALM"),
    ),
    ("never answers", |_| once(&[frame(PING, 0, 0, &[0; 8])]), Failed(Failure::Timeout, "")),
    (
        "body that stops",
        |id| once(&[frame(HEADERS, WHOLE, id, &OK), frame(DATA, 0, id, b"hel")]),
        Failed(Failure::Timeout, ""),
    ),
    ("closes", |_| (Vec::new(), Vec::new()), Failed(Failure::Closed, "")),
];

fn start(manner: Manner, settings: &'static [u8]) -> String {
    let address = support::start(move |stream| {
        frames::serve(stream, settings, |stream, id| {
            let (first, again) = manner(id);
            if first.is_empty() && again.is_empty() {
                return None;
            }
            stream.write_all(&first).ok()?;
            if !again.is_empty() {
                let many = again.repeat(4096_usize.div_ceil(again.len()));
                loop {
                    stream.write_all(&many).ok()?;
                }
            }
            Some(())
        })
    });
    format!("http://{address}/")
}

fn of_http2(url: &str, wanted: &Wanted) -> GeneratorJob {
    let mut job = job(url, wanted);
    // Each request has its own connection, so that none fails because of another's failure.
    job.connecting.http2_streams = Some(1);
    job
}

#[test]
fn each_breach_of_the_rules_of_http2_is_named() {
    let tried = MODES.iter().filter_map(|(name, manner, wanted)| {
        let job = of_http2(&start(*manner, &[]), wanted);
        complaint(&run(&job), wanted).map(|what| format!("{name}: {what}"))
    });
    let wrong: Vec<String> = tried.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_head_of_any_length_is_refused() {
    let manner: Manner = |id| {
        let large = "v".repeat(120);
        let fields = [("x", large.as_str()); 120];
        let first = head(0, id, &fields);
        let more: Vec<u8> = fields.iter().flat_map(|(name, value)| field(name, value)).collect();
        let rest = frame(CONTINUATION, 0, id, &more).repeat(30);
        once(&[first, rest, frame(CONTINUATION, WHOLE, id, &field("x", "y"))])
    };
    let wanted = Failed(Failure::Malformed, "violates the HTTP/2 protocol");
    assert_eq!(complaint(&run(&of_http2(&start(manner, &[]), &wanted)), &wanted), None);
}

#[test]
fn a_body_that_may_not_be_sent_ends_in_a_time_limit() {
    let wanted = Failed(Failure::Timeout, "");
    // SETTINGS_INITIAL_WINDOW_SIZE is 0; the server answers only after the body has arrived.
    let url = start(|_| once(&[frame(PING, 0, 0, &[0; 8])]), &[0, 4, 0, 0, 0, 0]);
    let mut job = of_http2(&url, &wanted);
    job.scenario.requests[0].method = "POST".to_owned();
    job.scenario.requests[0].body = vec![b'x'; 100_000];
    assert_eq!(complaint(&run(&job), &wanted), None);
}

#[test]
fn a_server_of_http1_is_named() {
    let address = support::start(|mut stream| {
        let _whatever_came = stream.read(&mut [0; 4096]).ok()?;
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n").ok()
    });
    let url = format!("http://{address}/");
    let wanted = Failed(Failure::Malformed, "in HTTP/1.1, not in HTTP/2");
    assert_eq!(complaint(&run(&of_http2(&url, &wanted)), &wanted), None);
}
