//! One connection of HTTP/1: how far it is, what was sent over it and not answered, and its bytes in and out. What becomes of an answer
//! is the engine's.

use crate::failure::Failure;
use crate::response::{Answer, Keep, Reader};
use crate::scenario::{Jar, Redirected};
use crate::socket::{self, Io};
use crate::tls;
use std::collections::VecDeque;
use std::os::fd::OwnedFd;

/// Servers keep connections without requests for at least so long, ns.
const IDLE: u64 = 500_000_000;

/// One request on its way.
#[derive(Debug, Default)]
pub(crate) struct Flight {
    /// Its number in the schedule.
    pub index: u64,
    /// When it was due, when it was sent, and when the first byte of its answer came, ns of the clock; 0: not yet.
    pub due: u64,
    pub sent: u64,
    pub first: u64,
    /// Which request of the scenario.
    pub request: usize,
    /// Whether it is in the part that counts.
    pub counts: bool,
    /// How often it was lost with a connection, or refused untouched, and went over another.
    pub again: u8,
    /// How many redirections it followed, and to where the last one points.
    pub hops: u8,
    pub redirected: Option<Redirected>,
    /// What is kept from step to step of a session.
    pub jar: Option<Box<Jar>>,
}

/// How far a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Connecting,
    Handshaking,
    Open,
}

/// What reading from a connection came to.
pub(crate) enum Received {
    /// Bytes of answers were taken, and these are whole.
    Some,
    /// Nothing more for now.
    Nothing,
    /// The other end closed it.
    End,
}

pub(crate) struct Connection {
    pub socket: OwnedFd,
    pub phase: Phase,
    pub tls: Option<Box<tls::Session>>,
    /// When it was begun, and when the TCP connection stood, ns of the clock.
    pub began: u64,
    pub connected: u64,
    /// What was sent, or waits to be sent, in the order in which answers come.
    pub flights: VecDeque<Flight>,
    pub reader: Reader,
    /// Bytes that the socket did not take yet.
    unsent: Vec<u8>,
    /// How many answers came over it.
    pub served: u64,
    /// When the last one came, ns of the clock.
    pub answered: u64,
    /// Whether it is among those that wait for something to do.
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

    /// Sends bytes, or keeps what the socket does not take.
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

    /// Sends what waits, now that the socket takes more.
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

    /// Whether its first request was sent after a pause in which a server may well have given it up. One that closes a busy connection
    /// without an answer failed.
    pub(crate) fn was_idle(&self) -> bool {
        self.flights.front().is_none_or(|flight| flight.sent > self.answered + IDLE)
    }

    /// Whether something waits to be sent.
    pub(crate) fn has_unsent(&self) -> bool {
        !self.unsent.is_empty() || self.tls.as_ref().is_some_and(|tls| tls.wants_to_send())
    }

    /// Reads once into `room`: how many plain bytes came.
    pub(crate) fn receive(&mut self, room: &mut [u8]) -> Result<(usize, Received), Failure> {
        let Some(tls) = &mut self.tls else {
            return match socket::read(&self.socket, room) {
                Io::Done(0) => Ok((0, Received::End)),
                // Less than there was room for: the socket is empty.
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
                // What came with the end is read before it.
                return match tls.read(room) {
                    Io::Done(0) => Ok((0, Received::End)),
                    Io::Done(bytes) => Ok((bytes, Received::Some)),
                    Io::Later => Ok((0, Received::Nothing)),
                    Io::Failed(failure) => Err(failure),
                };
            }
        }
    }

    /// The next answer in these bytes, and how many it used.
    pub(crate) fn answer(
        &mut self,
        bytes: &[u8],
        now: u64,
        is_head: impl Fn(usize) -> bool,
    ) -> Result<(usize, Option<Answer>), Failure> {
        let Some(flight) = self.flights.front_mut().filter(|flight| flight.sent > 0) else {
            // Nobody asked.
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
