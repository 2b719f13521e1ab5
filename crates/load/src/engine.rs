//! The event loop of a generator: sends requests that are due, reads answers, and counts the
//! outcomes. One thread, one epoll, one clock.
//!
//! In an open test the server's pace does not influence the requests: if all connections are busy
//! when a request is due, another one is opened, and its latency counts from the time at which it
//! was due, so a stall of the server does not hide requests (G. Tene: coordinated omission). Failed
//! requests stay in the count. The lateness of the loop itself is measured with the same clock.

mod answers;
mod connections;

use crate::clock::{nanoseconds, now};
use crate::connection::{Connection, Flight};
use crate::http2::Http2;
use crate::job::{ConnectionSettings, Expect, GeneratorJob, Load};
use crate::raw::RequestSampler;
use crate::response::Keep;
use crate::scenario::{Jar, Prepared, ScenarioError};
use crate::tally::Tally;
use crate::target::{Target, TargetError};
use crate::tls::{self, TlsError};
use assay_data::Histogram;
use assay_data::system_error::reason;
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

/// Number of files that a generator has open in addition to its connections, with a margin.
const OTHER_FILES: u64 = 32;
/// Buffer size for a single read.
const ROOM: usize = 256 * 1024;
/// Maximum number of reads from one connection before other connections are served.
const MOST_READS: usize = 8;
/// Maximum number of events returned by one wait.
const EVENTS: usize = 256;
/// Bounds of the interval between checks of time limits, in ns. Within these bounds, the interval
/// is a twentieth of the shortest limit.
const SWEEP: (u64, u64) = (1_000_000, 50_000_000);
/// Interval between progress reports, in ns.
const TELL: u64 = 200_000_000;

/// Reasons why a generator cannot start.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The target is invalid.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The scenario is invalid.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// TLS cannot be set up.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// More connections were requested than this process can have open.
    #[error(
        "{asked} connections exceed this process's limit of open files ({limit}): raise it with `ulimit -n`, or use fewer connections"
    )]
    Descriptors {
        /// Number of connections requested from this generator.
        asked: usize,
        /// The limit on the number of open files.
        limit: u64,
    },
    /// A system call failed.
    #[error("epoll: {}", of_system(.0))]
    System(#[from] rustix::io::Errno),
}

fn of_system(error: &rustix::io::Errno) -> String {
    reason(&(*error).into())
}

/// Progress of a slice, for display.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pace {
    /// Seconds since the start of the slice.
    pub seconds: f64,
    /// Number of requests sent.
    pub sent: u64,
    /// Number of requests that are unanswered now.
    pub in_flight: u64,
    /// Number of successful answers in the last whole second.
    pub answered: u64,
    /// Number of failures since the start.
    pub failed: u64,
    /// Latency in the last whole second: median and 99 % quantile, in seconds; NaN if nothing was
    /// answered.
    pub latency: [f64; 2],
}

/// Callbacks between a generator and its caller.
pub struct Hooks<'a> {
    /// Returns true if the generator should stop.
    pub stop: &'a dyn Fn() -> bool,
    /// Receives the progress a few times per second.
    pub pace: &'a dyn Fn(Pace),
}

/// Runs one slice.
///
/// # Errors
/// If the generator cannot start. Outcomes of requests are in the tally.
pub fn generate(job: &GeneratorJob, hooks: &Hooks<'_>) -> Result<Tally, LoadError> {
    // By default the kernel may wake a thread up to 50 µs late, which would delay requests.
    let _unset = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
    let limit = raise_limit();
    if let Load::Closed { connections } = &job.load {
        let asked = share(*connections, job.part);
        if let Some(limit) = limit.filter(|limit| asked as u64 + OTHER_FILES > *limit) {
            return Err(LoadError::Descriptors { asked, limit });
        }
    }
    let prepared = Prepared::of(&job.scenario, job.connecting.new && !job.scenario.session)?;
    let target = &job.scenario.requests[0].target;
    let tls = match target.tls {
        true => {
            let config = job.connecting.tls.config(job.connecting.http2_streams.is_some())?;
            Some((config, tls::name_of(target, &job.connecting.tls)?))
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
            body: job.expect.body.is_some() || job.expect.digest,
        },
        started,
        counts_from: started + nanoseconds(job.settle_seconds),
        ends: started + nanoseconds(job.settle_seconds + job.seconds),
        closed: matches!(job.load, Load::Closed { .. }),
        in_window: false,
        per_connection: job.connecting.http2_streams.unwrap_or(job.connecting.pipeline).max(1),
        most: share(job.connecting.most, job.part),
        slots: Vec::new(),
        swept: 0,
        asks: Vec::new(),
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
        kept: RequestSampler::new(share(job.keep_requests, job.part)),
    };
    let total = job.settle_seconds + job.seconds;
    match &job.load {
        Load::Open(arrivals) => engine.run(arrivals.due(total, job.part), hooks)?,
        Load::Closed { connections } => {
            engine.most = share(*connections, job.part);
            for _ in 0..engine.most * engine.per_connection {
                let flight = engine.next_flight(started);
                engine.dispatch(flight);
            }
            engine.run(std::iter::empty(), hooks)?;
        }
    }
    engine.tally.cpu_seconds = cpu_seconds() - cpu;
    Ok(engine.tally)
}

/// A timer that wakes the loop with nanosecond precision. epoll's own timeout is in milliseconds
/// before Linux 5.11.
struct Alarm {
    timer: OwnedFd,
    set: u64,
}

impl Alarm {
    /// Epoll token of the alarm, which is not used by any connection.
    const DATA: u64 = u64::MAX;

    fn new(epoll: &OwnedFd) -> Result<Self, LoadError> {
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        // Edge-triggered: each expiry is an event, and the expiry count is never read.
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

/// Returns this generator's share of a total.
fn share(all: usize, (number, of): (u64, u64)) -> usize {
    let (of, number) = (of.max(1) as usize, number as usize);
    all / of + usize::from(number < all % of)
}

/// Raises the limit on file descriptors to the maximum, since each connection takes one, and
/// returns it; `None` if there is no limit. If raising it is not permitted, requests fail with an
/// error about the limit.
fn raise_limit() -> Option<u64> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    if limit.current < limit.maximum {
        let _refused = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
    }
    getrlimit(Resource::Nofile).current
}

/// Returns the CPU time of this thread, in seconds.
fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// A slot for a connection. Its age distinguishes events of an earlier connection from those of the
/// current one.
struct Slot {
    age: u32,
    held: Option<HeldConnection>,
}

enum HeldConnection {
    Http1(Box<Connection>),
    Http2(Box<Http2>),
}

/// The time at which a user's think time ends, and the request that is sent then.
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
    connecting: &'j ConnectionSettings,
    expect: &'j Expect,
    keep: Keep,
    /// Start of the slice, in ns of the clock.
    started: u64,
    /// Start of the measured part, in ns of the clock.
    counts_from: u64,
    /// End of the measured part, in ns of the clock.
    ends: u64,
    closed: bool,
    /// True if answers that arrive now are in the measured part.
    in_window: bool,
    /// Maximum number of concurrent requests per connection.
    per_connection: usize,
    /// Maximum number of open connections.
    most: usize,
    slots: Vec<Slot>,
    /// Slots of a closed test's connections that received an answer in this turn of the loop, with
    /// their ages.
    asks: Vec<(usize, u32)>,
    /// Slot at which the next check of time limits begins.
    swept: usize,
    free: Vec<usize>,
    open: usize,
    /// Number of open connections that cannot be used yet.
    opening: usize,
    /// Connections with room for another request; the last entry is the most recently used.
    waiting: Vec<usize>,
    /// Due requests that have no connection because the maximum number is open.
    backlog: VecDeque<Flight>,
    thinking: BinaryHeap<Reverse<Thinking>>,
    /// Slots of connections with more data than is read in one turn, or with something to send,
    /// with their ages.
    unfinished: Vec<(usize, u32)>,
    /// Number of the next request.
    index: u64,
    /// Increment from the number of one request to that of the next.
    stride: u64,
    tally: Tally,
    second: Histogram,
    second_number: usize,
    bytes: Vec<u8>,
    in_flight: u64,
    sent: u64,
    room: Vec<u8>,
    /// Statistics of the last whole second: answered, median, 99 % quantile.
    last: [f64; 3],
    failed: u64,
    kept: RequestSampler,
}

impl Engine<'_> {
    fn run(&mut self, due: impl Iterator<Item = u64>, hooks: &Hooks<'_>) -> Result<(), LoadError> {
        let mut due = due.peekable();
        let mut events: Vec<epoll::Event> = Vec::with_capacity(EVENTS);
        let limits = self.connecting.timeout + self.connecting.connect_timeout;
        let shortest = self.connecting.timeout.min(self.connecting.connect_timeout);
        let pause = (nanoseconds(shortest) / 20).clamp(SWEEP.0, SWEEP.1);
        let gives_up = self.ends + nanoseconds(limits) + pause;
        let mut alarm = Alarm::new(&self.epoll)?;
        let mut interrupted = false;
        let (mut sweep_at, mut tell_at) = (self.started + pause, self.started + TELL);
        loop {
            let mut time = now();
            self.in_window = time >= self.counts_from && time < self.ends;
            self.send_due(&mut due, time);
            if time >= sweep_at {
                self.sweep(time);
                sweep_at = time + pause / self.turns();
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
            self.ask_again();
        }
        self.finish(due, interrupted);
        Ok(())
    }

    /// Returns true if no requests are outstanding.
    fn is_done(&self) -> bool {
        self.in_flight == 0 && self.backlog.is_empty() && self.thinking.is_empty()
    }

    /// Sends all requests that are due.
    fn send_due(&mut self, due: &mut std::iter::Peekable<impl Iterator<Item = u64>>, time: u64) {
        while let Some(at) = due.next_if(|at| self.started + at <= time) {
            let at = self.started + at;
            let flight = self.next_flight(at);
            if flight.counts {
                self.tally.lateness.record(time - at);
            }
            self.dispatch(flight);
        }
        while let Some(Reverse(first)) = self.thinking.peek()
            && first.0 <= time
            && let Some(Reverse(Thinking(_, flight))) = self.thinking.pop()
        {
            self.dispatch(flight);
        }
    }

    /// Returns true if a request due at this time is in the measured part.
    fn counts(&self, due: u64) -> bool {
        due >= self.counts_from && due < self.ends
    }

    /// Creates the next request of the scenario, due at `due`.
    fn next_flight(&mut self, due: u64) -> Flight {
        let index = self.index;
        self.index += self.stride;
        let counts = self.counts(due);
        self.tally.due += u64::from(counts);
        let request = self.prepared.chosen(index);
        let jar = self.prepared.session.then(Box::<Jar>::default);
        Flight { index, due, request, counts, jar, ..Flight::default() }
    }

    /// Assigns a request to a connection: a waiting one, or a new one.
    fn dispatch(&mut self, flight: Flight) {
        self.in_flight += 1;
        let most = &mut self.tally.connections.most_in_flight;
        *most = (*most).max(self.in_flight);
        while let Some(slot) = self.waiting.pop() {
            match self.slots[slot].held.as_mut() {
                Some(HeldConnection::Http1(connection)) if connection.listed => {
                    connection.listed = false
                }
                Some(HeldConnection::Http2(own)) if own.listed => own.listed = false,
                _ => continue,
            }
            self.give(slot, flight);
            return;
        }
        // Connections that are being opened will each carry several requests.
        let on_the_way = self.opening * (self.per_connection - 1);
        if self.open >= self.most || self.backlog.len() < on_the_way {
            self.in_flight -= 1;
            self.backlog.push_back(flight);
            return;
        }
        self.open_for(flight);
    }
}
