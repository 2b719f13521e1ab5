//! HTTP/2 against a server that speaks it frame by frame, so that it can say what no server says when asked: GOAWAY in the midst of things,
//! and streams that it ends with an error.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use assay_load::{
    Arrivals, Connecting, Expect, Failure, Hooks, Job, Load, Request, Scenario, Tally, Target,
    generate,
};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::spawn;

pub(crate) const PREFACE: usize = 24;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const RST_STREAM: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const GOAWAY: u8 = 7;
/// `:status: 200`, by its number in the static table (RFC 7541, A).
pub(crate) const OK: [u8; 1] = [0x88];

#[derive(Clone, Copy)]
enum Manner {
    /// Every third stream is ended with this error.
    EndsEveryThird(u32),
    /// Each connection says GOAWAY once it has answered so many, and is closed then.
    GoesAwayAfter(u32),
    /// Garbage instead of frames.
    Babbles,
}

pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

fn serve(mut stream: TcpStream, manner: Manner) -> Option<()> {
    stream.read_exact(&mut [0; PREFACE]).ok()?;
    if let Manner::Babbles = manner {
        return stream.write_all(&[b'x'; 4096]).ok();
    }
    stream.write_all(&frame(SETTINGS, 0, 0, &[])).ok()?;
    let mut seen = 0;
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head).ok()?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        stream.read_exact(&mut vec![0; length as usize]).ok()?;
        let id = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        match (head[3], head[4]) {
            (SETTINGS, 0) => stream.write_all(&frame(SETTINGS, 1, 0, &[])).ok()?,
            (HEADERS, _) => {
                seen += 1;
                let answer = match manner {
                    Manner::EndsEveryThird(error) if seen % 3 == 0 => {
                        frame(RST_STREAM, 0, id, &error.to_be_bytes())
                    }
                    _ => frame(HEADERS, 5, id, &OK),
                };
                stream.write_all(&answer).ok()?;
                if let Manner::GoesAwayAfter(count) = manner
                    && seen == count
                {
                    let last = [id.to_be_bytes(), [0; 4]].concat();
                    stream.write_all(&frame(GOAWAY, 0, 0, &last)).ok()?;
                    // What was sent meanwhile is read and not answered.
                    stream.set_read_timeout(Some(std::time::Duration::from_millis(50))).ok()?;
                    while stream.read(&mut [0; 4096]).ok()? > 0 {}
                    return Some(());
                }
            }
            _ => {}
        }
    }
}

fn load(manner: Manner) -> Tally {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    spawn(move || {
        for stream in listener.incoming().flatten() {
            spawn(move || serve(stream, manner));
        }
    });
    let job = Job {
        scenario: Scenario::of(Request::get(Target::parse(&url).unwrap())),
        load: Load::Open(Arrivals::Constant { rate: 1000.0 }),
        settle_seconds: 0.0,
        seconds: 0.3,
        connecting: Connecting {
            http2_streams: Some(8),
            timeout: 1.0,
            connect_timeout: 1.0,
            ..Connecting::default()
        },
        expect: Expect::default(),
        keep_requests: 0,
        part: (0, 1),
    };
    let tally = generate(&job, &Hooks { stop: &|| false, pace: &|_| () }).expect("it begins");
    assert_eq!(tally.due, 300);
    assert_eq!(tally.due, tally.answered + tally.failures(), "{:?}", tally.failed);
    tally
}

#[test]
fn a_stream_that_is_ended_with_an_error_is_a_failure_of_its_own() {
    let tally = load(Manner::EndsEveryThird(2));
    let reset = tally.failed_as(Failure::StreamReset);
    // Of the last streams of a connection two may be no third.
    let least = (300 - 2 * tally.connections.opened.min(150)) / 3;
    assert!((least..=100).contains(&reset) && tally.failures() == reset, "{:?}", tally.failed);
}

#[test]
fn a_refused_stream_goes_over_the_connection_once_more() {
    let tally = load(Manner::EndsEveryThird(7));
    // What is sent again may by chance be a third once more, and is then a failure.
    let reset = tally.failed_as(Failure::StreamReset);
    assert!(reset == tally.failures() && tally.answered >= 270, "{:?}", tally.failed);
}

#[test]
fn what_a_server_that_goes_away_did_not_touch_goes_over_another_connection() {
    let tally = load(Manner::GoesAwayAfter(20));
    assert_eq!(tally.answered, 300, "{:?}", tally.failed);
    assert!(tally.connections.opened >= 15, "{:?}", tally.connections);
}

#[test]
fn what_is_no_frame_breaks_the_connection_and_nothing_else() {
    let tally = load(Manner::Babbles);
    assert_eq!(tally.answered, 0);
}
