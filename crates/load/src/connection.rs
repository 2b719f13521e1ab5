//! One HTTP/1 connection: its state, the requests sent over it that are unanswered, and its input
//! and output buffers. The engine handles the answers.

use crate::failure::Failure;
use crate::response::{Answer, Keep, Reader};
use crate::scenario::{Jar, RedirectTarget};
use crate::socket::{self, Io};
use crate::tls;
use std::collections::VecDeque;
use std::os::fd::OwnedFd;

/// Shortest time for which servers are expected to keep idle connections, in nanoseconds.
const IDLE: u64 = 500_000_000;

/// A request in flight.
#[derive(Debug, Default)]
pub(crate) struct Flight {
    /// Number of the request in the schedule.
    pub index: u64,
    /// Time at which the request was due, in ns of the clock.
    pub due: u64,
    /// Time at which the request was sent, in ns of the clock; 0 if it was not sent yet.
    pub sent: u64,
    /// Time of the first byte of the answer, in ns of the clock; 0 if there is none yet.
    pub first: u64,
    /// Index of the request in the scenario.
    pub request: usize,
    /// True if the request is in the measured part.
    pub counts: bool,
    /// Number of times the request was sent again over another connection, after it was lost with a
    /// connection or rejected unprocessed.
    pub again: u8,
    /// Number of redirections followed.
    pub hops: u8,
    /// Target of the last redirection followed.
    pub redirected: Option<RedirectTarget>,
    /// State kept between the steps of a session.
    pub jar: Option<Box<Jar>>,
}

/// State of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Connecting,
    Handshaking,
    Open,
}

/// Result of reading from a connection.
pub(crate) enum Received {
    /// Bytes were read, and there may be more.
    Some,
    /// Nothing more is available now.
    Nothing,
    /// The peer closed the connection.
    End,
}

pub(crate) struct Connection {
    pub socket: OwnedFd,
    pub phase: Phase,
    pub tls: Option<Box<tls::Session>>,
    /// Time at which connecting began, in ns of the clock.
    pub began: u64,
    /// Time at which the TCP connection was established, in ns of the clock.
    pub connected: u64,
    /// Requests that were sent or are waiting to be sent, in the order of the expected answers.
    pub flights: VecDeque<Flight>,
    pub reader: Reader,
    /// Bytes that the socket has not accepted yet.
    unsent: Vec<u8>,
    /// Number of answers received.
    pub served: u64,
    /// Time of the last answer, in ns of the clock.
    pub answered: u64,
    /// True if the connection is in the list of connections waiting for work.
    pub listed: bool,
}

impl Connection {
    pub(crate) fn new(
        socket: OwnedFd,
        tls: Option<Box<tls::Session>>,
        keep: Keep,
        now: u64,
    ) -> Self {
        Self {
            socket,
            phase: Phase::Connecting,
            tls,
            began: now,
            connected: 0,
            flights: VecDeque::new(),
            reader: Reader::new(keep),
            unsent: Vec::new(),
            served: 0,
            answered: 0,
            listed: false,
        }
    }

    /// Sends bytes, and buffers those that the socket does not accept.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        if let Some(tls) = &mut self.tls {
            tls.write(bytes)?;
            return tls.send(&self.socket);
        }
        let mut rest = bytes;
        while self.unsent.is_empty() && !rest.is_empty() {
            match socket::write(&self.socket, rest) {
                Io::Done(sent) => rest = &rest[sent..],
                Io::Later => break,
                Io::Failed(failure) => return Err(failure),
            }
        }
        self.unsent.extend_from_slice(rest);
        Ok(())
    }

    /// Sends buffered bytes once the socket accepts more.
    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        if let Some(tls) = &mut self.tls {
            return if tls.wants_to_send() { tls.send(&self.socket) } else { Ok(()) };
        }
        let mut sent = 0;
        while sent < self.unsent.len() {
            match socket::write(&self.socket, &self.unsent[sent..]) {
                Io::Done(more) => sent += more,
                Io::Later => break,
                Io::Failed(failure) => return Err(failure),
            }
        }
        self.unsent.drain(..sent);
        Ok(())
    }

    /// Returns true if the connection's first unanswered request was sent after an idle period in
    /// which the server may have closed the connection. A server that closes a busy connection
    /// without an answer counts as a failure.
    pub(crate) fn was_idle(&self) -> bool {
        self.flights.front().is_none_or(|flight| flight.sent > self.answered + IDLE)
    }

    /// Returns true if there are bytes waiting to be sent.
    pub(crate) fn has_unsent(&self) -> bool {
        !self.unsent.is_empty() || self.tls.as_ref().is_some_and(|tls| tls.wants_to_send())
    }

    /// Reads once into `room`; returns the number of plaintext bytes.
    pub(crate) fn receive(&mut self, room: &mut [u8]) -> Result<(usize, Received), Failure> {
        let Some(tls) = &mut self.tls else {
            return match socket::read(&self.socket, room) {
                Io::Done(0) => Ok((0, Received::End)),
                // A partial read means that the socket is empty.
                Io::Done(bytes) if bytes < room.len() => Ok((bytes, Received::Nothing)),
                Io::Done(bytes) => Ok((bytes, Received::Some)),
                Io::Later => Ok((0, Received::Nothing)),
                Io::Failed(failure) => Err(failure),
            };
        };
        loop {
            match tls.read(room) {
                Io::Done(0) => return Ok((0, Received::End)),
                Io::Done(bytes) => return Ok((bytes, Received::Some)),
                Io::Failed(failure) => return Err(failure),
                Io::Later => {}
            }
            let more = tls.receive(&self.socket)?;
            if tls.wants_to_send() {
                tls.send(&self.socket)?;
            }
            if !more {
                // Data that arrived together with the end is returned first.
                return match tls.read(room) {
                    Io::Done(0) => Ok((0, Received::End)),
                    Io::Done(bytes) => Ok((bytes, Received::Some)),
                    Io::Later => Ok((0, Received::Nothing)),
                    Io::Failed(failure) => Err(failure),
                };
            }
        }
    }

    /// Parses the next answer in these bytes; also returns the number of bytes used.
    pub(crate) fn answer(
        &mut self,
        bytes: &[u8],
        now: u64,
        is_head: impl Fn(usize) -> bool,
    ) -> Result<(usize, Option<Answer>), Failure> {
        let Some(flight) = self.flights.front_mut().filter(|flight| flight.sent > 0) else {
            // No request was sent.
            return Err(Failure::Malformed);
        };
        self.reader.read_at(now);
        if flight.first == 0 {
            flight.first = now;
            self.reader.expect_no_body(is_head(flight.request));
        }
        self.reader.take(bytes)
    }
}
