//! HTTP/2 against a server that is scripted frame by frame, so that it can send data that no real
//! server would send on request: GOAWAY at any time, and streams that end with an error.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use crate::frames;
use crate::frames::{GOAWAY, HEADERS, OK, RST_STREAM, frame};
use crate::support::{adds_up, constant, job, run, start};
use assay_load::{Failure, Tally};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

#[derive(Clone, Copy)]
enum Manner {
    /// Ends every third stream with this error.
    EndsEveryThird(u32),
    /// Sends GOAWAY on each connection after this number of answers, and then closes it.
    GoesAwayAfter(u32),
    /// Garbage instead of frames.
    Babbles,
}

fn serve(mut stream: TcpStream, manner: Manner) -> Option<()> {
    if let Manner::Babbles = manner {
        return stream.write_all(&[b'x'; 4096]).ok();
    }
    let mut seen = 0;
    frames::serve(stream, &[], |stream, id| {
        seen += 1;
        let answer = match manner {
            Manner::EndsEveryThird(error) if seen % 3 == 0 => {
                frame(RST_STREAM, 0, id, &error.to_be_bytes())
            }
            _ => frame(HEADERS, 5, id, &OK),
        };
        stream.write_all(&answer).ok()?;
        match manner {
            Manner::GoesAwayAfter(count) if seen == count => {
                let last = [id.to_be_bytes(), [0; 4]].concat();
                stream.write_all(&frame(GOAWAY, 0, 0, &last)).ok()?;
                // Requests sent in the meantime are read but not answered.
                stream.set_read_timeout(Some(Duration::from_millis(50))).ok()?;
                while stream.read(&mut [0; 4096]).ok()? > 0 {}
                None
            }
            _ => Some(()),
        }
    })
}

fn load(manner: Manner) -> Tally {
    let url = format!("http://{}/", start(move |stream| serve(stream, manner)));
    let mut job = job(&url, constant(1000.0), 0.3, 1.0);
    job.connecting.http2_streams = Some(8);
    let tally = run(&job);
    adds_up(&tally);
    assert_eq!((tally.due, tally.unknown), (300, 0));
    tally
}

#[test]
fn a_stream_that_is_ended_with_an_error_is_a_failure_of_its_own() {
    let tally = load(Manner::EndsEveryThird(2));
    let reset = tally.failed_as(Failure::StreamReset);
    // A connection may end with up to two streams after its last third one.
    let least = (300 - 2 * tally.connections.opened.min(150)) / 3;
    assert!((least..=100).contains(&reset) && tally.failures() == reset, "{:?}", tally.failed);
}

#[test]
fn a_refused_stream_goes_over_the_connection_once_more() {
    let tally = load(Manner::EndsEveryThird(7));
    // A repeated request may again be the third stream of a connection, and then fails.
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
