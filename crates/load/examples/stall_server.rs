//! A server for tests and benchmarks of load generators: it answers each request a fixed time after
//! reading it, optionally stalls or misbehaves in one way, and logs the arrival times of requests.
//! That log is the reference for the generator's own results.
//!
//!     stall_server [--port P] [--answer-after 1ms] [--stall-at 5s --stall-for 1s [--every 10s]] [--body N] [--log FILE] [--misbehave KIND]
//!
//! It prints `listening on 127.0.0.1:PORT` when it is ready (port 0, the default, selects a free
//! one) and runs until it is killed. The log has one line per request: the time at which it was
//! read, in nanoseconds of the monotonic clock; it is flushed at least every 20 ms. During a stall,
//! which is timed from the first request, the server accepts, reads and writes nothing. It uses one
//! thread, one epoll, and a timer with nanosecond precision, because its timing must be more
//! accurate than that of the program under test.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program, not a library")]
#![allow(clippy::exit, reason = "bad arguments end it")]

use rustix::event::epoll;
use rustix::net::{SocketFlags, accept_with};
use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime,
    timerfd_create, timerfd_settime,
};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::num::NonZeroU64;
use std::os::fd::OwnedFd;
use std::time::Duration;

/// The ways in which the server can misbehave, as given to `--misbehave`.
const KINDS: [&str; 17] = [
    "not",
    "never-answers",
    "closes-midway",
    "resets",
    "garbage",
    "endless-headers",
    "endless-body",
    "wrong-length",
    "bad-chunks",
    "answers-before-asked",
    "continue-100",
    "http10",
    "closes-after-each",
    "redirects",
    "slow-body",
    "status-500",
    "drops-every-third",
];

/// Maximum length of a head.
const LONGEST_HEAD: usize = 1 << 20;
/// Maximum interval between checks of the log and of stalls, in nanoseconds.
const TICK: u64 = 20_000_000;
/// Epoll tokens that do not belong to connections.
const LISTENER: u64 = 0;
const TIMER: u64 = 1;

struct Options {
    port: u16,
    answer_after: u64,
    stall: Option<Stall>,
    body: usize,
    log: Option<String>,
    kind: &'static str,
}

/// When the server stalls, in nanoseconds from the first request.
struct Stall {
    at: u64,
    length: u64,
    every: Option<u64>,
}

impl Stall {
    /// Returns the end of the stall at a given time; `None` if the server is not stalled then.
    fn until(&self, since_first: u64) -> Option<u64> {
        let past = since_first.checked_sub(self.at)?;
        let round = self.every.map_or(0, |every| past / every * every);
        (past - round < self.length).then(|| self.at + round + self.length)
    }
}

fn main() -> io::Result<()> {
    let options = options(std::env::args().skip(1)).unwrap_or_else(|problem| {
        eprintln!("stall_server: {problem}");
        std::process::exit(2);
    });
    // By default the kernel may delay the timer by 50 µs.
    rustix::thread::set_current_timer_slack(NonZeroU64::new(1))?;
    Server::new(options)?.run()
}

fn options(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options =
        Options { port: 0, answer_after: 0, stall: None, body: 13, log: None, kind: KINDS[0] };
    let (mut at, mut length, mut every) = (None, None, None);
    while let Some(option) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{option} lacks its value"))?;
        let wrong = || format!("{option}: `{value}` is not understood");
        let whole = || value.parse::<u64>().map_err(|_| wrong());
        match option.as_str() {
            "--port" => options.port = value.parse().map_err(|_| wrong())?,
            "--answer-after" => options.answer_after = nanoseconds(&value).ok_or_else(wrong)?,
            "--stall-at" => at = Some(nanoseconds(&value).ok_or_else(wrong)?),
            "--stall-for" => length = Some(nanoseconds(&value).ok_or_else(wrong)?),
            "--every" => every = Some(nanoseconds(&value).filter(|n| *n > 0).ok_or_else(wrong)?),
            "--body" => options.body = usize::try_from(whole()?).map_err(|_| wrong())?,
            "--log" => options.log = Some(value),
            "--misbehave" => {
                let known = KINDS.iter().find(|kind| **kind == value);
                options.kind =
                    known.ok_or_else(|| format!("{}; known are {}", wrong(), KINDS.join(", ")))?;
            }
            _ => return Err(format!("there is no {option}")),
        }
    }
    options.stall = match (at, length) {
        (Some(at), Some(length)) => Some(Stall { at, length, every }),
        (None, None) => None,
        _ => return Err("--stall-at and --stall-for go together".to_owned()),
    };
    Ok(options)
}

/// Parses `5s`, `1ms` or `20us`; returns nanoseconds.
fn nanoseconds(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(char::is_alphabetic);
    let factor = match &text[digits.len()..] {
        "ns" => 1.0,
        "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return None,
    };
    let value = digits.parse::<f64>().ok()? * factor;
    (0.0..1e18).contains(&value).then_some(value as u64)
}

fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}

#[derive(Default)]
struct Connection {
    stream: Option<TcpStream>,
    /// Bytes that were read but are not a complete request yet.
    read: Vec<u8>,
    /// Bytes to write.
    write: Vec<u8>,
    /// Text that is written repeatedly after everything else.
    endless: &'static [u8],
    /// Bytes that are written in pieces, one every 10 ms.
    drip: Vec<u8>,
    closes: bool,
    wants_to_write: bool,
}

struct Server {
    options: Options,
    listener: TcpListener,
    epoll: OwnedFd,
    timer: OwnedFd,
    connections: HashMap<u64, Connection>,
    next: u64,
    /// Scheduled actions: an answer, or the next piece of a slow body.
    due: BinaryHeap<Reverse<(u64, u64, bool)>>,
    first: Option<u64>,
    requests: u64,
    log: Option<BufWriter<File>>,
}

impl Server {
    fn new(options: Options) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", options.port))?;
        // The standard library uses a backlog of 128; a stalled server needs more.
        rustix::net::listen(&listener, 65_535)?;
        listener.set_nonblocking(true)?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK)?;
        epoll::add(&epoll, &listener, epoll::EventData::new_u64(LISTENER), epoll::EventFlags::IN)?;
        epoll::add(&epoll, &timer, epoll::EventData::new_u64(TIMER), epoll::EventFlags::IN)?;
        let log = options.log.as_ref().map(File::create).transpose()?.map(BufWriter::new);
        println!("listening on {}", listener.local_addr()?);
        let (connections, due) = (HashMap::new(), BinaryHeap::new());
        Ok(Self {
            options,
            listener,
            epoll,
            timer,
            connections,
            next: 2,
            due,
            first: None,
            requests: 0,
            log,
        })
    }

    fn run(mut self) -> io::Result<()> {
        let mut events = Vec::with_capacity(256);
        let mut flushed = now();
        loop {
            self.stand_still();
            let time = now();
            if time - flushed >= TICK {
                flushed = time;
                self.log.as_mut().map(Write::flush).transpose()?;
            }
            self.do_what_is_due(time)?;
            self.set_timer()?;
            events.clear();
            match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), None) {
                Ok(_) => {}
                Err(rustix::io::Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            }
            self.stand_still();
            for event in &events {
                match event.data.u64() {
                    LISTENER => self.accept()?,
                    TIMER => drop(rustix::io::read(&self.timer, &mut [0u8; 8])),
                    id => self.serve(id, event.flags)?,
                }
            }
        }
    }

    /// Sleeps until the end of the current stall.
    fn stand_still(&self) {
        while let (Some(stall), Some(first)) = (&self.options.stall, self.first) {
            let since = now() - first;
            let Some(until) = stall.until(since) else { return };
            std::thread::sleep(Duration::from_nanos(until - since));
        }
    }

    /// Sets the timer for the next scheduled action, and for the log while there is something to
    /// do.
    fn set_timer(&self) -> io::Result<()> {
        let soon = now() + TICK;
        let at = self.due.peek().map_or(soon, |Reverse((at, ..))| (*at).min(soon));
        let (seconds, rest) = (at / 1_000_000_000, at % 1_000_000_000);
        let zero = Timespec { tv_sec: 0, tv_nsec: 0 };
        let at = Timespec { tv_sec: seconds.cast_signed(), tv_nsec: rest.cast_signed() };
        let once = Itimerspec { it_interval: zero, it_value: at };
        timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &once)?;
        Ok(())
    }

    fn accept(&mut self) -> io::Result<()> {
        loop {
            // One system call instead of two; after a stall there are hundreds of connections to
            // accept.
            let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
            // The peer is gone, or the file descriptors are exhausted: others may succeed.
            let Ok(stream) = accept_with(&self.listener, flags) else { return Ok(()) };
            let id = self.next;
            self.next += 1;
            let data = epoll::EventData::new_u64(id);
            epoll::add(&self.epoll, &stream, data, epoll::EventFlags::IN)?;
            let stream = TcpStream::from(stream);
            let mut connection = Connection { stream: Some(stream), ..Connection::default() };
            if self.options.kind == "answers-before-asked" {
                connection.write = self.response("200 OK", "");
            }
            self.connections.insert(id, connection);
            self.write(id)?;
            // Its request may have arrived already.
            self.read(id)?;
        }
    }

    fn serve(&mut self, id: u64, flags: epoll::EventFlags) -> io::Result<()> {
        if flags.contains(epoll::EventFlags::OUT) {
            self.write(id)?;
        }
        if flags.intersects(epoll::EventFlags::IN | epoll::EventFlags::HUP | epoll::EventFlags::ERR)
        {
            self.read(id)?;
        }
        Ok(())
    }

    fn read(&mut self, id: u64) -> io::Result<()> {
        let Some(connection) = self.connections.get_mut(&id) else { return Ok(()) };
        let Some(stream) = &mut connection.stream else { return Ok(()) };
        let mut piece = [0u8; 16 * 1024];
        match stream.read(&mut piece) {
            Ok(0) => drop(self.connections.remove(&id)),
            Ok(count) => {
                connection.read.extend_from_slice(&piece[..count]);
                while let Some(length) = self.connections.get(&id).and_then(|c| request(&c.read)) {
                    self.take(id, length)?;
                }
                if self.connections.get(&id).is_some_and(|c| c.read.len() > LONGEST_HEAD) {
                    self.connections.remove(&id);
                }
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(_) => drop(self.connections.remove(&id)),
        }
        Ok(())
    }

    /// Handles one request of the given length: records its time and schedules the answer.
    fn take(&mut self, id: u64, length: usize) -> io::Result<()> {
        let time = now();
        self.first.get_or_insert(time);
        if let Some(log) = &mut self.log {
            writeln!(log, "{time}")?;
        }
        if let Some(connection) = self.connections.get_mut(&id) {
            let head = connection.read[..length].to_ascii_lowercase();
            let has = |what: &[u8]| head.windows(what.len()).any(|window| window == what);
            // HTTP/1.0 closes unless asked not to; later versions do the opposite.
            connection.closes |= has(b"\r\nconnection: close")
                || has(b" http/1.0\r\n") && !has(b"\r\nconnection: keep-alive");
            connection.read.drain(..length);
        }
        self.due.push(Reverse((time + self.options.answer_after, id, false)));
        Ok(())
    }

    fn do_what_is_due(&mut self, time: u64) -> io::Result<()> {
        while let Some(&Reverse((at, id, is_drip))) = self.due.peek() {
            if at > time {
                break;
            }
            self.due.pop();
            if is_drip { self.drip(id)? } else { self.answer(id)? }
        }
        Ok(())
    }

    fn answer(&mut self, id: u64) -> io::Result<()> {
        let body = "x".repeat(self.options.body);
        let plain = self.response("200 OK", &body);
        self.requests += 1;
        let is_third = self.requests.is_multiple_of(3);
        let Some(connection) = self.connections.get_mut(&id) else { return Ok(()) };
        let mut say = |text: String| connection.write.extend_from_slice(text.as_bytes());
        match self.options.kind {
            "never-answers" => return Ok(()),
            "closes-midway" => {
                connection.write.extend_from_slice(&plain[..plain.len() / 2]);
                connection.closes = true;
            }
            "resets" => {
                if let Some(stream) = &connection.stream {
                    rustix::net::sockopt::set_socket_linger(stream, Some(Duration::ZERO))?;
                }
                self.connections.remove(&id);
                return Ok(());
            }
            "drops-every-third" if is_third => drop(self.connections.remove(&id)),
            "garbage" => connection.write.extend_from_slice(b"\0\xff\x01 this is no HTTP\r\n\r\n"),
            "endless-headers" => {
                say("HTTP/1.1 200 OK\r\n".to_owned());
                connection.endless =
                    b"X-Endless: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n";
            }
            "endless-body" => {
                say("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n".to_owned());
                connection.endless = &[b'x'; 4096];
            }
            "wrong-length" => {
                let length = body.len() + 10;
                say(format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{body}"));
                connection.closes = true;
            }
            "bad-chunks" => {
                say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n"
                    .to_owned());
            }
            "continue-100" => {
                say("HTTP/1.1 100 Continue\r\n\r\n".to_owned());
                connection.write.extend_from_slice(&plain);
            }
            "http10" => {
                say(format!("HTTP/1.0 200 OK\r\n\r\n{body}"));
                connection.closes = true;
            }
            "closes-after-each" => {
                connection.write.extend_from_slice(&plain);
                connection.closes = true;
            }
            "redirects" => {
                say("HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n".to_owned());
            }
            "slow-body" => {
                say(format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len()));
                connection.drip.extend_from_slice(body.as_bytes());
                self.due.push(Reverse((now(), id, true)));
            }
            "status-500" => {
                let answer = self.response("500 Internal Server Error", &body);
                if let Some(connection) = self.connections.get_mut(&id) {
                    connection.write.extend_from_slice(&answer);
                }
            }
            _ => connection.write.extend_from_slice(&plain),
        }
        self.write(id)
    }

    fn response(&self, status: &str, body: &str) -> Vec<u8> {
        let length = body.len();
        format!("HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\nConnection: keep-alive\r\n\r\n{body}")
            .into_bytes()
    }

    /// Sends the next twentieth of a slow body.
    fn drip(&mut self, id: u64) -> io::Result<()> {
        let piece = self.options.body.div_ceil(20).max(1);
        let Some(connection) = self.connections.get_mut(&id) else { return Ok(()) };
        let count = piece.min(connection.drip.len());
        connection.write.extend(connection.drip.drain(..count));
        if !connection.drip.is_empty() {
            self.due.push(Reverse((now() + 10_000_000, id, true)));
        }
        self.write(id)
    }

    /// Writes as much as possible, and requests an event when more can be written.
    fn write(&mut self, id: u64) -> io::Result<()> {
        let Some(connection) = self.connections.get_mut(&id) else { return Ok(()) };
        let Some(stream) = &mut connection.stream else { return Ok(()) };
        let wants_more = loop {
            if connection.write.is_empty() {
                if connection.endless.is_empty() {
                    break false;
                }
                connection.write.extend_from_slice(connection.endless);
            }
            match stream.write(&connection.write) {
                Ok(count) => drop(connection.write.drain(..count)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break true,
                Err(_) => {
                    self.connections.remove(&id);
                    return Ok(());
                }
            }
        };
        if connection.closes && !wants_more && connection.drip.is_empty() {
            self.connections.remove(&id);
            return Ok(());
        }
        if wants_more != connection.wants_to_write {
            connection.wants_to_write = wants_more;
            let also = if wants_more { epoll::EventFlags::OUT } else { epoll::EventFlags::empty() };
            let data = epoll::EventData::new_u64(id);
            epoll::modify(&self.epoll, &*stream, data, epoll::EventFlags::IN | also)?;
        }
        Ok(())
    }
}

/// Returns the length of the first request if it is complete: the head, and a body if
/// `Content-Length` is given.
fn request(read: &[u8]) -> Option<usize> {
    let head = read.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let text = String::from_utf8_lossy(&read[..head]).to_ascii_lowercase();
    let length = text.lines().find_map(|line| line.strip_prefix("content-length:"));
    let body = length.and_then(|length| length.trim().parse::<usize>().ok()).unwrap_or(0);
    (read.len() >= head + body).then_some(head + body)
}
