//! Client of a preloaded process: each query has its own connection, one line of JSON in each
//! direction, and a time limit for the answer.

use super::PreloadedError;
use crate::runner::Outcome;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, IoSlice};
use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketAddrUnix,
    SocketFlags, SocketType, connect, send, sendmsg, socket_with,
};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Map, Value, json};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Maximum length of a line, in bytes.
const LONGEST: usize = 64 << 20;
const CHUNK: usize = 1 << 16;

/// Queries the preloaded process that listens on a socket.
#[derive(Clone, Debug)]
pub struct Client {
    socket: PathBuf,
}

/// A run to request of a preloaded process.
#[derive(Clone, Debug)]
pub struct PreloadedRun<'a> {
    /// The arguments, starting with the one that names the script or module.
    pub argv: &'a [String],
    /// Complete environment of the command.
    pub env: &'a [(String, String)],
    /// Working directory of the command.
    pub directory: &'a str,
}

/// How to wait for an answer, and when to give up.
pub struct Waiting<'a> {
    /// Interval at which `stops` is called.
    pub every: Duration,
    /// Descriptors that also cause `stops` to be called whenever one of them is readable.
    pub also: &'a [BorrowedFd<'a>],
    /// Returns true to give up waiting.
    pub stops: &'a mut dyn FnMut() -> bool,
}

/// The state of a preloaded process.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// True if a run would begin immediately.
    pub ready: bool,
    /// Stages of the process, in order.
    pub stages: Vec<Stage>,
    /// Descriptions of state that a fork does not preserve and of files that could not be loaded.
    pub notes: Vec<String>,
    /// Paths of the loaded files.
    pub loaded: Vec<PathBuf>,
}

/// A stage of a preloaded process.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stage {
    /// `framework`, `application` or `helpers`.
    pub name: String,
    /// Process ID of the stage.
    pub process: u32,
    /// Number of files that the stage loaded.
    pub files: u64,
    /// Load time, in seconds.
    pub seconds: f64,
    /// The stage's share of memory, in bytes, or `None` if unknown.
    pub memory: Option<u64>,
}

impl State {
    /// Returns the memory of all stages, in bytes. Shared memory is divided among them.
    pub fn memory(&self) -> u64 {
        self.stages.iter().filter_map(|stage| stage.memory).sum()
    }

    fn read(answer: &Value) -> Self {
        let texts = |name: &str| -> Vec<String> {
            let all = answer[name].as_array().into_iter().flatten();
            all.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let stage = |one: &Value| Stage {
            name: one["name"].as_str().unwrap_or_default().to_owned(),
            process: one["pid"].as_u64().and_then(|pid| pid.try_into().ok()).unwrap_or_default(),
            files: one["files"].as_u64().unwrap_or_default(),
            seconds: one["seconds"].as_f64().unwrap_or_default(),
            memory: one["memory"].as_u64(),
        };
        Self {
            ready: answer["ready"].as_bool().unwrap_or(true),
            stages: answer["stages"].as_array().into_iter().flatten().map(stage).collect(),
            notes: texts("notes"),
            loaded: texts("loaded").into_iter().map(PathBuf::from).collect(),
        }
    }
}

impl Client {
    /// Returns a client for the process behind a socket.
    pub fn of(socket: PathBuf) -> Self {
        Self { socket }
    }

    /// Requests a run with `streams` as its standard input, output and error. Returns when the run
    /// has begun, or turns out to be unavailable.
    ///
    /// # Errors
    ///
    /// Returns an error if the run is refused or does not begin within `patience`, or if the caller
    /// gives up. Nothing has run then.
    pub fn begin(
        &self,
        asked: &PreloadedRun<'_>,
        streams: [BorrowedFd<'_>; 3],
        patience: Duration,
        waiting: &mut Waiting<'_>,
    ) -> Result<Running, PreloadedError> {
        let until = Instant::now() + patience;
        let mut link = Link::connect(&self.socket)?;
        for stream in streams {
            link.hand(stream)?;
        }
        let env: Map<String, Value> =
            asked.env.iter().map(|(name, value)| (name.clone(), value.as_str().into())).collect();
        link.say(&json!({"run": {"argv": asked.argv, "env": env, "cwd": asked.directory}}), until)?;
        let answer = match link.line(Some(until), waiting)? {
            ReceiveOutcome::Line(answer) => answer,
            ReceiveOutcome::End => {
                return Err(PreloadedError::Ended("died before the run began".to_owned()));
            }
            ReceiveOutcome::Late => return Err(PreloadedError::Silent(patience)),
            ReceiveOutcome::Stopped => return Err(PreloadedError::Stopped),
        };
        if let Some(why) = answer["refused"].as_str() {
            return Err(PreloadedError::Refused(why.to_owned()));
        }
        // A group of 1 would address all processes.
        let group = answer["pid"].as_i64().and_then(|pid| i32::try_from(pid).ok());
        let group = group.filter(|pid| *pid > 1).and_then(Pid::from_raw).ok_or_else(nonsense)?;
        Ok(Running { link, group, is_over: false })
    }

    /// Reports changed files. Returns the first stage that is rebuilt, if any.
    ///
    /// # Errors
    ///
    /// Returns an error if the process can't be reached or does not answer in time.
    pub fn changed(
        &self,
        paths: &[&Path],
        patience: Duration,
    ) -> Result<Option<String>, PreloadedError> {
        let paths: Vec<_> = paths.iter().map(|path| path.to_string_lossy()).collect();
        let answer = self.ask(&json!({"changed": paths}), patience)?;
        Ok(answer["stage"].as_str().map(str::to_owned))
    }

    /// Returns the state of the process. Including `memory` takes longer than everything else.
    ///
    /// # Errors
    ///
    /// Returns an error if the process can't be reached or does not answer in time.
    pub fn state(&self, memory: bool, patience: Duration) -> Result<State, PreloadedError> {
        let question = if memory { json!({"state": true}) } else { json!({"state": "quick"}) };
        Ok(State::read(&self.ask(&question, patience)?))
    }

    /// Asks the process to end, which it does as soon as it receives the request.
    ///
    /// # Errors
    ///
    /// Returns an error if the process can't be reached.
    pub fn stop(&self) -> Result<(), PreloadedError> {
        let link = Link::connect(&self.socket)?;
        link.say(&json!({"stop": true}), Instant::now() + Duration::from_millis(200))
    }

    /// Sends a query and returns its answer.
    ///
    /// # Errors
    ///
    /// Returns an error if the process can't be reached or does not answer in time.
    pub fn ask(&self, question: &Value, patience: Duration) -> Result<Value, PreloadedError> {
        let until = Instant::now() + patience;
        let mut link = Link::connect(&self.socket)?;
        link.say(question, until)?;
        let mut never = || false;
        let mut waiting = Waiting { every: patience, also: &[], stops: &mut never };
        match link.line(Some(until), &mut waiting)? {
            ReceiveOutcome::Line(answer) => Ok(answer),
            ReceiveOutcome::End => Err(PreloadedError::Ended("died".to_owned())),
            ReceiveOutcome::Late | ReceiveOutcome::Stopped => Err(PreloadedError::Silent(patience)),
        }
    }
}

/// A run in progress. It is killed if this is dropped before the run ends.
#[derive(Debug)]
pub struct Running {
    link: Link,
    group: Pid,
    is_over: bool,
}

impl Running {
    /// Returns the ID of the run's process, which is also that of its process group.
    pub fn group(&self) -> Pid {
        self.group
    }

    /// Waits for the end of the run. Returns `None` if `until` passes or `waiting` gives up first.
    ///
    /// # Errors
    ///
    /// Returns [`PreloadedError::Lost`] if the process that the run was forked from is gone. The
    /// run is then killed.
    pub fn wait(
        &mut self,
        until: Option<Instant>,
        waiting: &mut Waiting<'_>,
    ) -> Result<Option<Outcome>, PreloadedError> {
        let answer = match self.link.line(until, waiting)? {
            ReceiveOutcome::Line(answer) => answer,
            ReceiveOutcome::End => {
                self.end_group(Signal::KILL);
                return Err(PreloadedError::Lost);
            }
            ReceiveOutcome::Late | ReceiveOutcome::Stopped => return Ok(None),
        };
        self.is_over = true;
        let number = |name: &str| answer[name].as_i64().and_then(|n| i32::try_from(n).ok());
        match (number("exit"), number("signal")) {
            (Some(status), _) => Ok(Some(Outcome::Exited(status))),
            (None, Some(signal)) => Ok(Some(Outcome::Signalled(signal))),
            (None, None) => Err(nonsense()),
        }
    }

    /// Sends a signal to the process group of the run, and continues the group if it is stopped.
    pub fn end_group(&self, signal: Signal) {
        // The run may have ended in the meantime.
        let _gone = kill_process_group(self.group, signal);
        if signal != Signal::KILL {
            // A stopped process does not receive a signal until it continues.
            let _gone = kill_process_group(self.group, Signal::CONT);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.is_over {
            self.end_group(Signal::KILL);
        }
    }
}

fn nonsense() -> PreloadedError {
    PreloadedError::Refused("the preloaded process sent an unexpected message".to_owned())
}

enum ReceiveOutcome {
    Line(Value),
    /// The other side has closed the connection.
    End,
    Late,
    Stopped,
}

/// A connection to the process.
#[derive(Debug)]
struct Link {
    socket: OwnedFd,
    text: Vec<u8>,
}

impl Link {
    fn connect(path: &Path) -> Result<Self, PreloadedError> {
        let address = SocketAddrUnix::new(path).map_err(io::Error::from)?;
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None);
        let socket = socket.map_err(io::Error::from)?;
        match connect(&socket, &address) {
            Ok(()) => Ok(Self { socket, text: Vec::new() }),
            // The socket exists, but accepts no connections at the moment.
            Err(Errno::AGAIN) => Err(PreloadedError::Silent(Duration::ZERO)),
            Err(Errno::NOENT | Errno::CONNREFUSED) => Err(PreloadedError::Absent),
            Err(error) => Err(io::Error::from(error).into()),
        }
    }

    /// Sends a descriptor, along with a single byte.
    fn hand(&self, stream: BorrowedFd<'_>) -> Result<(), PreloadedError> {
        let streams = [stream];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        control.push(SendAncillaryMessage::ScmRights(&streams));
        loop {
            match sendmsg(&self.socket, &[IoSlice::new(b"\0")], &mut control, SendFlags::NOSIGNAL) {
                Ok(_) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(error) => return Err(gone(error)),
            }
        }
    }

    fn say(&self, message: &Value, until: Instant) -> Result<(), PreloadedError> {
        let mut line = message.to_string();
        line.push('\n');
        let mut rest = line.as_bytes();
        while !rest.is_empty() {
            match send(&self.socket, rest, SendFlags::NOSIGNAL) {
                Ok(sent) => rest = &rest[sent..],
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    let left = until.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return Err(PreloadedError::Silent(Duration::ZERO));
                    }
                    let mut polled = [PollFd::new(&self.socket, PollFlags::OUT)];
                    sleep(&mut polled, left)?;
                }
                Err(error) => return Err(gone(error)),
            }
        }
        Ok(())
    }

    /// Returns the next line, parsed as JSON.
    fn line(
        &mut self,
        until: Option<Instant>,
        waiting: &mut Waiting<'_>,
    ) -> Result<ReceiveOutcome, PreloadedError> {
        let mut bytes = vec![0; CHUNK];
        loop {
            if let Some(end) = self.text.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.text.drain(..=end).collect();
                let line = String::from_utf8_lossy(&line);
                return serde_json::from_str(&line)
                    .map(ReceiveOutcome::Line)
                    .map_err(|_| nonsense());
            }
            if self.text.len() > LONGEST {
                return Err(nonsense());
            }
            match rustix::io::read(&self.socket, &mut bytes) {
                Ok(0) | Err(Errno::CONNRESET) => return Ok(ReceiveOutcome::End),
                Ok(read) => {
                    self.text.extend_from_slice(&bytes[..read]);
                    continue;
                }
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(error) => return Err(io::Error::from(error).into()),
            }
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(ReceiveOutcome::Late);
            }
            let mut polled: Vec<PollFd<'_>> = std::iter::once(self.socket.as_fd())
                .chain(waiting.also.iter().copied())
                .map(|own| PollFd::from_borrowed_fd(own, PollFlags::IN))
                .collect();
            sleep(&mut polled, left.map_or(waiting.every, |left| left.min(waiting.every)))?;
            let is_answered = !polled[0].revents().is_empty();
            if !is_answered && (waiting.stops)() {
                return Ok(ReceiveOutcome::Stopped);
            }
        }
    }
}

/// Sleeps until one of the descriptors is readable, a signal arrives, or the time is up.
fn sleep(polled: &mut [PollFd<'_>], most: Duration) -> Result<(), PreloadedError> {
    let most = Timespec::try_from(most).map_err(io::Error::other)?;
    match poll(polled, Some(&most)) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(io::Error::from(error).into()),
    }
}

fn gone(error: Errno) -> PreloadedError {
    match error {
        Errno::PIPE | Errno::CONNRESET => PreloadedError::Absent,
        error => io::Error::from(error).into(),
    }
}
