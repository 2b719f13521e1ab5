//! Opens connections, assigns requests to them, reads them, and handles their loss. `answers`
//! defines the effect of an answer or a failure on its request.

use super::{Engine, HeldConnection, MOST_READS, Slot};
use crate::clock::now;
use crate::connection::{Connection, Flight, Phase, Received};
use crate::failure::Failure;
use crate::http2::Http2;
use crate::scenario::Asker;
use crate::{socket, tls};
use rustix::event::epoll;

/// Maximum number of times that an unprocessed request is sent again. Several connections may be
/// closed together, each of which may have carried it.
const MOST_AGAIN: u8 = 5;
/// Detail text for a connection that broke after the first byte of an answer.
const HALF: &str = "it closed the connection in the middle of its answer";

impl Engine<'_> {
    /// Opens a connection for a request.
    pub(super) fn open_for(&mut self, flight: Flight) {
        let time = now();
        let opened = socket::open(&self.address).and_then(|socket| {
            let session = match &self.tls {
                Some((config, name)) => Some(Box::new(tls::Session::new(config, name)?)),
                None => None,
            };
            Ok((socket, session))
        });
        let (socket, session) = match opened {
            Ok(opened) => opened,
            Err(failure) => return self.failed(flight, failure, time),
        };
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot { age: 0, held: None });
            self.slots.len() - 1
        });
        let own = &mut self.slots[slot];
        let data = epoll::EventData::new_u64(u64::from(own.age) << 32 | slot as u64);
        let interest = epoll::EventFlags::IN
            | epoll::EventFlags::OUT
            | epoll::EventFlags::RDHUP
            | epoll::EventFlags::ET;
        if let Err(error) = epoll::add(&self.epoll, &socket, data, interest) {
            self.free.push(slot);
            return self.failed(flight, Failure::of_socket(error), time);
        }
        let mut connection = Connection::new(socket, session, self.keep, time);
        connection.flights.push_back(flight);
        own.held = Some(HeldConnection::Http1(Box::new(connection)));
        self.open += 1;
        self.opening += 1;
        let most = &mut self.tally.connections.most_open;
        *most = (*most).max(self.open as u64);
    }

    /// Sends a request over an open connection.
    pub(super) fn give(&mut self, slot: usize, mut flight: Flight) {
        let time = now();
        flight.sent = time;
        self.sent += 1;
        let most = &mut self.tally.connections.most_in_flight;
        *most = (*most).max(self.in_flight);
        match self.slots[slot].held.as_mut() {
            Some(HeldConnection::Http1(connection)) => {
                let asker = Asker { row: flight.index, jar: flight.jar.as_deref() };
                let fixed = self.prepared.fixed(flight.request);
                let sent = match (fixed, &flight.redirected, flight.jar.is_some()) {
                    (Some(bytes), None, false) => connection.send(bytes),
                    (_, place, _) => {
                        self.bytes.clear();
                        match place {
                            Some(to) => self.prepared.write_redirected(
                                flight.request,
                                to,
                                asker,
                                &mut self.bytes,
                            ),
                            None => self.prepared.write(flight.request, asker, &mut self.bytes),
                        }
                        connection.send(&self.bytes)
                    }
                };
                connection.flights.push_back(flight);
                if let Err(failure) = sent {
                    return self.broken(slot, failure);
                }
                self.list(slot);
            }
            Some(HeldConnection::Http2(own)) => {
                let asker = Asker { row: flight.index, jar: flight.jar.as_deref() };
                let to = flight.redirected.as_ref();
                let Some(request) = self.prepared.of_http2(flight.request, to, asker) else {
                    let why = "the request can't be written in HTTP/2";
                    self.tally.explain(Failure::Malformed, why);
                    return self.failed(flight, Failure::Malformed, time);
                };
                match own.send(request, flight) {
                    Ok(()) => {
                        if !own.is_dirty {
                            own.is_dirty = true;
                            self.unfinished.push((slot, self.slots[slot].age));
                        }
                        self.list(slot);
                    }
                    Err(flight) => {
                        // The connection accepts no more requests: its current requests continue,
                        // and this one is sent over another connection.
                        own.retired = true;
                        self.in_flight -= 1;
                        self.dispatch(*flight);
                    }
                }
            }
            None => self.failed(flight, Failure::Reset, time),
        }
    }

    /// Adds a connection to the waiting list if it has room.
    pub(super) fn list(&mut self, slot: usize) {
        let room = match self.slots[slot].held.as_mut() {
            Some(HeldConnection::Http1(own)) => {
                let has = own.phase == Phase::Open && own.flights.len() < self.per_connection;
                has.then_some(&mut own.listed)
            }
            Some(HeldConnection::Http2(own)) => {
                (!own.retired && own.load() < self.per_connection).then_some(&mut own.listed)
            }
            None => None,
        };
        if let Some(listed) = room.filter(|listed| !**listed) {
            *listed = true;
            self.waiting.push(slot);
        }
    }

    /// Handles an event of a connection.
    pub(super) fn ready(&mut self, slot: usize, reads: bool, writes: bool, ended: bool) {
        match self.slots[slot].held.as_mut() {
            Some(HeldConnection::Http1(connection)) => {
                if connection.phase == Phase::Connecting {
                    if writes {
                        self.connected(slot);
                    }
                    return;
                }
                if writes && let Err(failure) = connection.flush() {
                    return self.broken(slot, failure);
                }
                if connection.phase == Phase::Handshaking {
                    return self.handshake(slot);
                }
                if reads {
                    self.read(slot, ended);
                }
            }
            Some(HeldConnection::Http2(_)) => self.pump(slot),
            None => {}
        }
    }

    /// Handles the result of connecting.
    pub(super) fn connected(&mut self, slot: usize) {
        let Some(HeldConnection::Http1(connection)) = self.slots[slot].held.as_mut() else {
            return;
        };
        if let Err(failure) = socket::connected(&connection.socket) {
            return self.broken(slot, failure);
        }
        connection.connected = now();
        if connection.flights.front().is_some_and(|flight| flight.counts) {
            self.tally.connect.record(connection.connected - connection.began);
        }
        if connection.tls.is_some() {
            connection.phase = Phase::Handshaking;
            return self.handshake(slot);
        }
        self.opened(slot);
    }

    pub(super) fn handshake(&mut self, slot: usize) {
        let Some(HeldConnection::Http1(connection)) = self.slots[slot].held.as_mut() else {
            return;
        };
        let Some(session) = connection.tls.as_mut() else { return };
        loop {
            if let Err(failure) = session.send(&connection.socket) {
                return self.broken(slot, failure);
            }
            if !session.is_handshaking() {
                break;
            }
            match session.receive(&connection.socket) {
                Ok(true) => {}
                Ok(false) if session.has_ended() => return self.broken(slot, Failure::Tls),
                Ok(false) => return,
                Err(failure) => return self.broken(slot, failure),
            }
        }
        let counts = connection.flights.front().is_some_and(|flight| flight.counts);
        if counts {
            self.tally.tls.record(now() - connection.connected);
        }
        let done = &mut self.tally.connections;
        if session.was_resumed() {
            done.resumed_handshakes += 1
        } else {
            done.full_handshakes += 1
        }
        self.opened(slot);
    }

    /// Handles a connection that is ready for use.
    pub(super) fn opened(&mut self, slot: usize) {
        self.tally.connections.opened += 1;
        let Some(HeldConnection::Http1(connection)) = self.slots[slot].held.as_mut() else {
            return;
        };
        connection.phase = Phase::Open;
        self.opening -= 1;
        let first = connection.flights.pop_front();
        if self.connecting.http2_streams.is_some() {
            let over_tls = connection.tls.as_ref().map(|session| session.speaks_http2());
            if over_tls == Some(false) {
                connection.flights.extend(first);
                let why = "it does not agree to HTTP/2 in the handshake of TLS (ALPN)";
                self.tally.explain(Failure::Malformed, why);
                return self.broken(slot, Failure::Malformed);
            }
            let Some(HeldConnection::Http1(connection)) = self.slots[slot].held.take() else {
                return;
            };
            self.slots[slot].held = Some(HeldConnection::Http2(Box::new(Http2::new(*connection))));
        }
        if let Some(flight) = first {
            self.give(slot, flight);
        }
        self.fill(slot);
        // Data that arrived with the end of the handshake triggers no further event.
        if self.tls.is_some() && matches!(self.slots[slot].held, Some(HeldConnection::Http1(_))) {
            self.read(slot, false);
        }
    }

    /// Assigns waiting requests to a connection.
    pub(super) fn fill(&mut self, slot: usize) {
        while !self.backlog.is_empty() {
            let has_room = match self.slots[slot].held.as_ref() {
                Some(HeldConnection::Http1(own)) => own.flights.len() < self.per_connection,
                Some(HeldConnection::Http2(own)) => {
                    !own.retired && own.load() < self.per_connection
                }
                None => false,
            };
            if !has_room {
                return;
            }
            let Some(flight) = self.backlog.pop_front() else { break };
            self.in_flight += 1;
            self.give(slot, flight);
        }
        self.list(slot);
    }

    /// Reads available data from a connection and handles the answers in it. `ended`: the peer will
    /// send no more; the kernel reports this only once.
    pub(super) fn read(&mut self, slot: usize, ended: bool) {
        let mut room = std::mem::take(&mut self.room);
        for turn in 0.. {
            let Some(HeldConnection::Http1(connection)) = self.slots[slot].held.as_mut() else {
                break;
            };
            // Note: the epoll is edge-triggered. Code that stops before the socket is empty must
            // put the connection on this list, or it never gets another event.
            if turn == MOST_READS {
                self.unfinished.push((slot, self.slots[slot].age));
                break;
            }
            let (bytes, received) = match connection.receive(&mut room) {
                Ok(received) => received,
                Err(failure) => {
                    self.broken(slot, failure);
                    break;
                }
            };
            if self.in_window {
                self.tally.received += bytes as u64;
            }
            if bytes > 0 && !self.take_answers(slot, &room[..bytes]) {
                break;
            }
            match received {
                Received::Some => {}
                Received::Nothing if ended && bytes > 0 => {}
                Received::Nothing => break,
                Received::End => {
                    self.ended(slot);
                    break;
                }
            }
        }
        self.room = room;
    }

    /// Handles the answers in `bytes`; returns true if the connection is still usable.
    pub(super) fn take_answers(&mut self, slot: usize, mut bytes: &[u8]) -> bool {
        let time = now();
        while !bytes.is_empty() {
            let Some(HeldConnection::Http1(connection)) = self.slots[slot].held.as_mut() else {
                return false;
            };
            let prepared = self.prepared;
            match connection.answer(bytes, time, |request| prepared.is_head(request)) {
                Err(failure) => {
                    self.broken(slot, failure);
                    return false;
                }
                Ok((used, answer)) => {
                    bytes = &bytes[used..];
                    let counts = connection.flights.front().is_some_and(|own| own.counts);
                    for gap in connection.reader.gaps.drain(..).filter(|_| counts) {
                        self.tally.chunk_gap.record(gap);
                    }
                    let Some(answer) = answer else { continue };
                    connection.served += 1;
                    connection.answered = time;
                    let Some(flight) = connection.flights.pop_front() else { return false };
                    self.tally.connections.closed_by_server += u64::from(!answer.stays);
                    // Surplus bytes would be taken for the answer to the next request.
                    let stray = answer.stays && !bytes.is_empty() && connection.flights.is_empty();
                    self.tally.connections.stray += u64::from(stray);
                    let kept = !self.connecting.new || flight.jar.is_some();
                    if !answer.stays || stray || !kept {
                        // Other requests sent over it are sent again over another connection.
                        self.answered(flight, answer, time, None);
                        self.retire(slot);
                        return false;
                    }
                    self.answered(flight, answer, time, Some(slot));
                }
            }
        }
        true
    }

    /// Handles a connection closed by the server.
    pub(super) fn ended(&mut self, slot: usize) {
        let Some(HeldConnection::Http1(connection)) = self.slots[slot].held.as_mut() else {
            return;
        };
        if let Some(flight) = connection.flights.front()
            && flight.first > 0
        {
            match connection.reader.closed() {
                Ok(answer) => {
                    self.tally.connections.closed_by_server += 1;
                    if let Some(flight) = connection.flights.pop_front() {
                        self.answered(flight, answer, now(), None);
                    }
                    return self.retire(slot);
                }
                Err(failure) => return self.broken(slot, failure),
            }
        }
        self.broken(slot, Failure::Closed);
    }

    /// Handles a broken connection: its first request failed, unless the server had closed the
    /// connection while it was idle; requests sent after it are sent again.
    pub(super) fn broken(&mut self, slot: usize, failure: Failure) {
        let time = now();
        let Some(held) = self.remove(slot) else { return };
        match held {
            HeldConnection::Http1(mut connection) => {
                if failure == Failure::Tls
                    && let Some(error) = connection.tls.as_mut().and_then(|own| own.error.take())
                {
                    self.tally.explain(failure, error);
                }
                if let Some(problem) = connection.reader.problem {
                    self.tally.explain(failure, problem);
                } else if matches!(failure, Failure::Reset | Failure::Closed)
                    && connection.flights.front().is_some_and(|flight| flight.first > 0)
                {
                    self.tally.explain(failure, HALF);
                }
                if connection.flights.is_empty() && connection.served > 0 {
                    let counts = &mut self.tally.connections;
                    match failure {
                        Failure::Malformed => counts.stray += 1,
                        _ => counts.closed_by_server += 1,
                    }
                }
                let lost_idle = connection.served > 0
                    && connection.reader.is_at_start()
                    && connection.was_idle()
                    && matches!(failure, Failure::Reset | Failure::Closed);
                if lost_idle {
                    let lost = u64::from(!connection.flights.is_empty());
                    self.tally.connections.lost_idle += lost;
                    self.tally.connections.closed_by_server += lost;
                } else if let Some(first) = connection.flights.pop_front() {
                    self.failed(first, failure, time);
                }
                for flight in connection.flights {
                    self.again(flight, failure, time);
                }
            }
            HeldConnection::Http2(own) => {
                for flight in own.into_flights() {
                    self.failed(flight, failure, time);
                }
            }
        }
        self.refill();
    }

    /// Resends a request that was lost because its connection was closed.
    pub(super) fn again(&mut self, mut flight: Flight, failure: Failure, time: u64) {
        if flight.again >= MOST_AGAIN {
            return self.failed(flight, failure, time);
        }
        (flight.again, flight.sent, flight.first) = (flight.again + 1, 0, 0);
        self.in_flight -= 1;
        self.dispatch(flight);
    }

    /// Closes a connection that will not be used again.
    pub(super) fn retire(&mut self, slot: usize) {
        let time = now();
        if let Some(HeldConnection::Http1(connection)) = self.remove(slot) {
            for flight in connection.flights {
                self.again(flight, Failure::Closed, time);
            }
        }
        self.refill();
    }

    pub(super) fn remove(&mut self, slot: usize) -> Option<HeldConnection> {
        let own = &mut self.slots[slot];
        let held = own.held.take()?;
        own.age = own.age.wrapping_add(1);
        self.free.push(slot);
        self.open -= 1;
        if matches!(&held, HeldConnection::Http1(own) if own.phase != Phase::Open) {
            self.opening -= 1;
        }
        Some(held)
    }

    /// Opens connections for waiting requests.
    pub(super) fn refill(&mut self) {
        while self.open < self.most
            && let Some(flight) = self.backlog.pop_front()
        {
            self.in_flight += 1;
            self.open_for(flight);
        }
    }
}
