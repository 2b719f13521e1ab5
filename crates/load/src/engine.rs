//! The loop of a generator: it sends what is due, reads what comes, and counts what became of it. One thread, one epoll, one clock.
//!
//! Nothing of a request is taken from the server's pace in an open test: a request that is due while all connections are busy opens
//! another one, and its latency counts from the moment at which it was due, so that no stall of the server hides requests
//! (G. Tene: coordinated omission). Requests that fail stay in the count. How late the loop itself was is measured with the same clock.

mod answers;

use crate::clock::{nanoseconds, now};
use crate::connection::{Connection, Flight, Phase, Received};
use crate::failure::Failure;
use crate::http2::Http2;
use crate::job::{Connecting, Expect, Job, Load};
use crate::response::Keep;
use crate::scenario::{Asker, Jar, Prepared, ScenarioError};
use crate::socket;
use crate::tally::Tally;
use crate::target::{Target, TargetError};
use crate::tls::{self, TlsError};
use assay_data::Histogram;
use rustix::event::{Timespec, epoll};
use rustix::net::SocketAddrAny;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime,
};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// Room for what a connection gives at once.
const ROOM: usize = 256 * 1024;
/// How often a connection is read before others have their turn.
const MOST_READS: usize = 8;
/// Events that are taken at once.
const EVENTS: usize = 256;
/// How often time limits are looked at, ns, at most.
const SWEEP: u64 = 50_000_000;
/// How often it says how it goes, ns.
const TELL: u64 = 200_000_000;

/// Why a generator can't begin.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// Where to.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// What.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// TLS.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The system.
    #[error("epoll: {0}")]
    System(#[from] rustix::io::Errno),
}

/// How a slice goes, for people who watch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pace {
    /// Seconds since the start of the slice.
    pub seconds: f64,
    /// Requests that were sent, and that are unanswered now.
    pub sent: u64,
    /// Requests that are unanswered now.
    pub in_flight: u64,
    /// Answered well in the last whole second.
    pub answered: u64,
    /// Failed since the start.
    pub failed: u64,
    /// Latency of the last whole second: median and 99 % quantile, s; NaN where nothing was answered.
    pub latency: [f64; 2],
}

/// What the world outside may say to a generator, and hear of it.
pub struct Hooks<'a> {
    /// Whether it is to stop.
    pub stop: &'a dyn Fn() -> bool,
    /// Hears how it goes, a few times a second.
    pub pace: &'a dyn Fn(Pace),
}

/// Runs one slice.
///
/// # Errors
/// When it can't begin. What becomes of requests is in the tally.
pub fn generate(job: &Job, hooks: &Hooks<'_>) -> Result<Tally, LoadError> {
    // What is due must not wait for the kernel's convenience: by default it may wake a thread 50 µs later.
    let _unset = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
    raise_limit();
    let prepared = Prepared::of(&job.scenario, job.connecting.new && !job.scenario.session)?;
    let target = &job.scenario.requests[0].target;
    let tls = match target.tls {
        true => {
            let config = job.connecting.tls.config(job.connecting.http2_streams.is_some())?;
            Some((config, tls::name_of(target)?))
        }
        false => None,
    };
    let started = now();
    let cpu = cpu_seconds();
    let mut engine = Engine {
        epoll: epoll::create(epoll::CreateFlags::CLOEXEC)?,
        address: target.address()?,
        target,
        prepared: &prepared,
        tls,
        connecting: &job.connecting,
        expect: &job.expect,
        keep: Keep {
            fields: job.expect.follow || job.scenario.session,
            body: job.expect.body.is_some(),
        },
        started,
        counts_from: started + nanoseconds(job.settle_seconds),
        ends: started + nanoseconds(job.settle_seconds + job.seconds),
        closed: matches!(job.load, Load::Closed { .. }),
        in_window: false,
        per_connection: job.connecting.http2_streams.unwrap_or(job.connecting.pipeline).max(1),
        most: share(job.connecting.most, job.part),
        slots: Vec::new(),
        free: Vec::new(),
        open: 0,
        opening: 0,
        waiting: Vec::new(),
        backlog: VecDeque::new(),
        thinking: BinaryHeap::new(),
        unfinished: Vec::new(),
        index: job.part.0,
        stride: job.part.1,
        tally: Tally::default(),
        second: Histogram::default(),
        second_number: 0,
        bytes: Vec::new(),
        in_flight: 0,
        sent: 0,
        room: vec![0; ROOM],
        last: [0.0, f64::NAN, f64::NAN],
        failed: 0,
    };
    let total = job.settle_seconds + job.seconds;
    match &job.load {
        Load::Open(arrivals) => engine.run(arrivals.due(total, job.part), hooks)?,
        Load::Closed { connections } => {
            engine.most = share(*connections, job.part);
            for _ in 0..engine.most * engine.per_connection {
                engine.ask_again(started);
            }
            engine.run(std::iter::empty(), hooks)?;
        }
    }
    engine.tally.cpu_seconds = cpu_seconds() - cpu;
    Ok(engine.tally)
}

/// Wakes the loop at a moment, to the nanosecond. The time limit of epoll itself is in milliseconds before Linux 5.11.
struct Alarm {
    timer: OwnedFd,
    set: u64,
}

impl Alarm {
    /// What stands for it among the events of epoll: no connection.
    const DATA: u64 = u64::MAX;

    fn new(epoll: &OwnedFd) -> Result<Self, LoadError> {
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        // Each time that it goes off it is an event; nobody reads how often.
        let interest = epoll::EventFlags::IN | epoll::EventFlags::ET;
        epoll::add(epoll, &timer, epoll::EventData::new_u64(Self::DATA), interest)?;
        Ok(Self { timer, set: 0 })
    }

    fn set(&mut self, at: u64) -> Result<(), LoadError> {
        if self.set != at {
            self.set = at;
            let it_value =
                Timespec { tv_sec: (at / 1_000_000_000) as _, tv_nsec: (at % 1_000_000_000) as _ };
            let it_interval = Timespec { tv_sec: 0, tv_nsec: 0 };
            let when = Itimerspec { it_interval, it_value };
            timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &when)?;
        }
        Ok(())
    }
}

/// This generator's share of something whole.
fn share(all: usize, (number, of): (u64, u64)) -> usize {
    let (of, number) = (of.max(1) as usize, number as usize);
    all / of + usize::from(number < all % of)
}

/// Each connection takes a descriptor: as many as this process may have at most. Where that is refused, requests say so.
fn raise_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    if limit.current < limit.maximum {
        let _refused = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
    }
}

/// CPU time that this thread took, s.
fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// A place for a connection. Its age tells events of an earlier one from its own.
struct Slot {
    age: u32,
    held: Option<Held>,
}

enum Held {
    Http1(Box<Connection>),
    Http2(Box<Http2>),
}

/// A flight that waits for its user to think, by when that is over.
struct Thinking(u64, Flight);

impl PartialEq for Thinking {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}
impl Eq for Thinking {}
impl PartialOrd for Thinking {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Thinking {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.cmp(&other.0)
    }
}

struct Engine<'j> {
    epoll: OwnedFd,
    address: SocketAddrAny,
    target: &'j Target,
    prepared: &'j Prepared,
    tls: Option<(Arc<ClientConfig>, ServerName<'static>)>,
    connecting: &'j Connecting,
    expect: &'j Expect,
    keep: Keep,
    /// Moments of the clock, ns.
    started: u64,
    counts_from: u64,
    ends: u64,
    closed: bool,
    /// Whether what comes now comes in the part that counts.
    in_window: bool,
    /// Requests that one connection carries at once.
    per_connection: usize,
    /// Connections that may be open at once.
    most: usize,
    slots: Vec<Slot>,
    free: Vec<usize>,
    open: usize,
    /// Those of them that can't be used yet.
    opening: usize,
    /// Connections that have room for another request; the last was used last.
    waiting: Vec<usize>,
    /// What is due and has no connection, because there may be no more of them.
    backlog: VecDeque<Flight>,
    thinking: BinaryHeap<Reverse<Thinking>>,
    /// Connections that gave more than their turn took, or have something to send.
    unfinished: Vec<(usize, u32)>,
    /// The number of the next request, and how far it is to the one after.
    index: u64,
    stride: u64,
    tally: Tally,
    second: Histogram,
    second_number: usize,
    bytes: Vec<u8>,
    in_flight: u64,
    sent: u64,
    room: Vec<u8>,
    /// Of the last whole second: answered, median, 99 % quantile.
    last: [f64; 3],
    failed: u64,
}

impl Engine<'_> {
    fn run(&mut self, due: impl Iterator<Item = u64>, hooks: &Hooks<'_>) -> Result<(), LoadError> {
        let mut due = due.peekable();
        let mut events: Vec<epoll::Event> = Vec::with_capacity(EVENTS);
        let limits = self.connecting.timeout + self.connecting.connect_timeout;
        let gives_up = self.ends + nanoseconds(limits) + SWEEP;
        let mut alarm = Alarm::new(&self.epoll)?;
        let mut interrupted = false;
        let (mut sweep_at, mut tell_at) = (self.started + SWEEP, self.started + TELL);
        loop {
            let mut time = now();
            self.in_window = time >= self.counts_from && time < self.ends;
            self.send_due(&mut due, time);
            if time >= sweep_at {
                self.sweep(time);
                sweep_at = time + SWEEP;
                if (hooks.stop)() {
                    interrupted = true;
                    break;
                }
            }
            if time >= tell_at {
                tell_at = time + TELL;
                (hooks.pace)(self.pace(time));
            }
            let more_is_due = due.peek().is_some();
            if !more_is_due && time >= self.ends && self.is_done() || time >= gives_up {
                break;
            }
            let next = due.peek().map(|at| self.started + at);
            let thought = self.thinking.peek().map(|Reverse(thinking)| thinking.0);
            let wake = next.into_iter().chain(thought).fold(sweep_at, u64::min);
            time = now();
            if wake < sweep_at {
                alarm.set(wake)?;
            }
            let wait = match self.unfinished.is_empty() && wake > time {
                true => sweep_at.saturating_sub(time),
                false => 0,
            };
            let timeout = Timespec { tv_sec: 0, tv_nsec: wait as _ };
            events.clear();
            let room = rustix::buffer::spare_capacity(&mut events);
            match epoll::wait(&self.epoll, room, Some(&timeout)) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            for (slot, age) in std::mem::take(&mut self.unfinished) {
                if self.slots[slot].age == age && self.slots[slot].held.is_some() {
                    self.ready(slot, true, true, true);
                    self.send_due(&mut due, now());
                }
            }
            for event in &events {
                let data = event.data.u64();
                let (slot, age) = (data as u32 as usize, (data >> 32) as u32);
                if self.slots.get(slot).is_none_or(|own| own.age != age || own.held.is_none()) {
                    continue;
                }
                let flags = event.flags;
                let broken = flags.intersects(epoll::EventFlags::ERR | epoll::EventFlags::HUP);
                let ended = flags.contains(epoll::EventFlags::RDHUP);
                let reads = flags.contains(epoll::EventFlags::IN) || ended || broken;
                let writes = flags.contains(epoll::EventFlags::OUT) || broken;
                self.ready(slot, reads, writes, ended || broken);
                if due.peek().is_some() {
                    self.send_due(&mut due, now());
                }
            }
        }
        self.finish(due, interrupted);
        Ok(())
    }

    /// Whether nothing is on its way any more.
    fn is_done(&self) -> bool {
        self.in_flight == 0 && self.backlog.is_empty() && self.thinking.is_empty()
    }

    /// Sends all that is due by now.
    fn send_due(&mut self, due: &mut std::iter::Peekable<impl Iterator<Item = u64>>, time: u64) {
        while let Some(at) = due.next_if(|at| self.started + at <= time) {
            let at = self.started + at;
            let index = self.index;
            self.index += self.stride;
            let counts = at >= self.counts_from;
            if counts {
                self.tally.due += 1;
                self.tally.lateness.record(time - at);
            }
            let request = self.prepared.chosen(index);
            let jar = self.prepared.session.then(Box::<Jar>::default);
            self.dispatch(Flight { index, due: at, request, counts, jar, ..Flight::default() });
        }
        while let Some(Reverse(first)) = self.thinking.peek()
            && first.0 <= time
            && let Some(Reverse(Thinking(_, flight))) = self.thinking.pop()
        {
            self.dispatch(flight);
        }
    }

    /// The next request of a closed test.
    fn ask_again(&mut self, time: u64) {
        let index = self.index;
        self.index += self.stride;
        let counts = time >= self.counts_from && time < self.ends;
        if counts {
            self.tally.due += 1;
        }
        let request = self.prepared.chosen(index);
        let jar = self.prepared.session.then(Box::<Jar>::default);
        self.dispatch(Flight { index, due: time, request, counts, jar, ..Flight::default() });
    }

    /// Gives a request to a connection: one that waits, or a new one.
    fn dispatch(&mut self, flight: Flight) {
        self.in_flight += 1;
        let most = &mut self.tally.connections.most_in_flight;
        *most = (*most).max(self.in_flight);
        while let Some(slot) = self.waiting.pop() {
            match self.slots[slot].held.as_mut() {
                Some(Held::Http1(connection)) if connection.listed => connection.listed = false,
                Some(Held::Http2(own)) if own.listed => own.listed = false,
                _ => continue,
            }
            self.give(slot, flight);
            return;
        }
        // Connections that are being opened will carry several.
        let on_the_way = self.opening * (self.per_connection - 1);
        if self.open >= self.most || self.backlog.len() < on_the_way {
            self.in_flight -= 1;
            self.backlog.push_back(flight);
            return;
        }
        self.open_for(flight);
    }

    /// Opens a connection for a request.
    fn open_for(&mut self, flight: Flight) {
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
        own.held = Some(Held::Http1(Box::new(connection)));
        self.open += 1;
        self.opening += 1;
        let most = &mut self.tally.connections.most_open;
        *most = (*most).max(self.open as u64);
    }

    /// Sends a request over an open connection.
    fn give(&mut self, slot: usize, mut flight: Flight) {
        let time = now();
        flight.sent = time;
        self.sent += 1;
        let most = &mut self.tally.connections.most_in_flight;
        *most = (*most).max(self.in_flight);
        match self.slots[slot].held.as_mut() {
            Some(Held::Http1(connection)) => {
                let asker = Asker { row: flight.index, jar: flight.jar.as_deref() };
                let fixed = self.prepared.fixed(flight.request);
                let sent = match (fixed, &flight.redirected, flight.jar.is_some()) {
                    (Some(bytes), None, false) => connection.send(bytes),
                    (_, place, _) => {
                        self.bytes.clear();
                        match place {
                            Some(path) => {
                                self.prepared.write_redirected(path, asker, &mut self.bytes)
                            }
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
            Some(Held::Http2(own)) => {
                match own.send(self.prepared, flight) {
                    Ok(()) => {
                        if !own.is_dirty {
                            own.is_dirty = true;
                            self.unfinished.push((slot, self.slots[slot].age));
                        }
                        self.list(slot);
                    }
                    Err(flight) => {
                        // It takes no more: what it has goes on, and this one goes over another.
                        own.retired = true;
                        self.in_flight -= 1;
                        self.dispatch(*flight);
                    }
                }
            }
            None => self.failed(flight, Failure::Reset, time),
        }
    }

    /// Puts a connection among those that wait, if it has room.
    fn list(&mut self, slot: usize) {
        let room = match self.slots[slot].held.as_mut() {
            Some(Held::Http1(own)) => {
                let has = own.phase == Phase::Open && own.flights.len() < self.per_connection;
                has.then_some(&mut own.listed)
            }
            Some(Held::Http2(own)) => {
                (!own.retired && own.load() < self.per_connection).then_some(&mut own.listed)
            }
            None => None,
        };
        if let Some(listed) = room.filter(|listed| !**listed) {
            *listed = true;
            self.waiting.push(slot);
        }
    }

    /// Something happened to a connection.
    fn ready(&mut self, slot: usize, reads: bool, writes: bool, ended: bool) {
        match self.slots[slot].held.as_mut() {
            Some(Held::Http1(connection)) => {
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
            Some(Held::Http2(_)) => self.pump(slot),
            None => {}
        }
    }

    /// The TCP connection stands, or can't be had.
    fn connected(&mut self, slot: usize) {
        let Some(Held::Http1(connection)) = self.slots[slot].held.as_mut() else { return };
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

    fn handshake(&mut self, slot: usize) {
        let Some(Held::Http1(connection)) = self.slots[slot].held.as_mut() else { return };
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

    /// A connection may be used.
    fn opened(&mut self, slot: usize) {
        self.tally.connections.opened += 1;
        let Some(Held::Http1(connection)) = self.slots[slot].held.as_mut() else { return };
        connection.phase = Phase::Open;
        self.opening -= 1;
        let first = connection.flights.pop_front();
        if self.connecting.http2_streams.is_some() {
            let over_tls = connection.tls.as_ref().map(|session| session.speaks_http2());
            if over_tls == Some(false) {
                connection.flights.extend(first);
                return self.broken(slot, Failure::Malformed);
            }
            let Some(Held::Http1(connection)) = self.slots[slot].held.take() else { return };
            self.slots[slot].held = Some(Held::Http2(Box::new(Http2::new(*connection))));
        }
        if let Some(flight) = first {
            self.give(slot, flight);
        }
        self.fill(slot);
        // What came with the end of the handshake raises no event any more.
        if self.tls.is_some() && matches!(self.slots[slot].held, Some(Held::Http1(_))) {
            self.read(slot, false);
        }
    }

    /// Gives a connection what waits for one.
    fn fill(&mut self, slot: usize) {
        while !self.backlog.is_empty() {
            let has_room = match self.slots[slot].held.as_ref() {
                Some(Held::Http1(own)) => own.flights.len() < self.per_connection,
                Some(Held::Http2(own)) => !own.retired && own.load() < self.per_connection,
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

    /// Reads what a connection has, and takes the answers out of it. `ended`: the other end will send no more, which is told only once.
    fn read(&mut self, slot: usize, ended: bool) {
        let mut room = std::mem::take(&mut self.room);
        for turn in 0.. {
            let Some(Held::Http1(connection)) = self.slots[slot].held.as_mut() else { break };
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

    /// Takes the answers out of bytes; whether the connection still stands.
    fn take_answers(&mut self, slot: usize, mut bytes: &[u8]) -> bool {
        let time = now();
        while !bytes.is_empty() {
            let Some(Held::Http1(connection)) = self.slots[slot].held.as_mut() else {
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
                    let Some(answer) = answer else { continue };
                    connection.served += 1;
                    connection.answered = time;
                    let Some(flight) = connection.flights.pop_front() else { return false };
                    let stays = answer.stays && (!self.connecting.new || flight.jar.is_some());
                    if !stays {
                        // What else was sent over it goes again over another.
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

    /// The server closed a connection.
    fn ended(&mut self, slot: usize) {
        let Some(Held::Http1(connection)) = self.slots[slot].held.as_mut() else { return };
        if let Some(flight) = connection.flights.front()
            && flight.first > 0
        {
            match connection.reader.closed() {
                Ok(answer) => {
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

    /// A connection broke: its first request failed, unless the server had given it up while it was idle; what was sent behind goes again.
    fn broken(&mut self, slot: usize, failure: Failure) {
        let time = now();
        let Some(held) = self.remove(slot) else { return };
        match held {
            Held::Http1(mut connection) => {
                if failure == Failure::Tls && self.tally.tls_error.is_none() {
                    let session = connection.tls.as_mut();
                    self.tally.tls_error = session.and_then(|own| own.error.take());
                }
                let lost_idle = connection.served > 0
                    && connection.reader.is_at_start()
                    && connection.was_idle()
                    && matches!(failure, Failure::Reset | Failure::Closed);
                if lost_idle {
                    let lost = !connection.flights.is_empty();
                    self.tally.connections.lost_idle += u64::from(lost);
                } else if let Some(first) = connection.flights.pop_front() {
                    self.failed(first, failure, time);
                }
                for flight in connection.flights {
                    self.again(flight, failure, time);
                }
            }
            Held::Http2(own) => {
                for flight in own.into_flights() {
                    self.failed(flight, failure, time);
                }
            }
        }
        self.refill();
    }

    /// Sends once more what a connection lost that was no longer there.
    fn again(&mut self, mut flight: Flight, failure: Failure, time: u64) {
        if flight.again {
            return self.failed(flight, failure, time);
        }
        (flight.again, flight.sent, flight.first) = (true, 0, 0);
        self.in_flight -= 1;
        self.dispatch(flight);
    }

    /// A connection that serves no more is closed.
    fn retire(&mut self, slot: usize) {
        let time = now();
        if let Some(Held::Http1(connection)) = self.remove(slot) {
            for flight in connection.flights {
                self.again(flight, Failure::Closed, time);
            }
        }
        self.refill();
    }

    fn remove(&mut self, slot: usize) -> Option<Held> {
        let own = &mut self.slots[slot];
        let held = own.held.take()?;
        own.age = own.age.wrapping_add(1);
        self.free.push(slot);
        self.open -= 1;
        if matches!(&held, Held::Http1(own) if own.phase != Phase::Open) {
            self.opening -= 1;
        }
        Some(held)
    }

    /// Opens connections for what waits for one.
    fn refill(&mut self) {
        while self.open < self.most
            && let Some(flight) = self.backlog.pop_front()
        {
            self.in_flight += 1;
            self.open_for(flight);
        }
    }
}
