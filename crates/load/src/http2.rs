//! One HTTP/2 connection, with several concurrent requests. The `h2` library implements the
//! protocol; its futures are polled whenever the socket is ready, so that a single loop serves both
//! protocols.

use crate::connection::{Connection, Flight, Received};
use crate::failure::Failure;
use crate::response::{Answer, Keep, MOST_HEAD, MOST_KEPT};
use bytes::Bytes;
use h2::client::{self, ResponseFuture, SendRequest};
use std::cell::RefCell;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Maximum number of bytes read from a connection before other connections are served.
const MOST_AT_ONCE: u64 = 2 << 20;

/// The outcome of a request.
pub(crate) enum RequestOutcome {
    Answered(Answer),
    /// Failed, with details if more than the kind is known.
    Failed(Failure, Option<String>),
    /// The server declared that it did not process the request, so it may be sent over another
    /// connection (RFC 9113, 8.7).
    Untouched,
}

/// State of a stream.
enum Stage {
    /// Waiting for the head of the answer.
    Head(ResponseFuture),
    /// Receiving the body.
    Body(h2::RecvStream, Answer),
}

struct Stream {
    flight: Flight,
    stage: Stage,
    /// Declared length of the body, in bytes.
    promised: Option<u64>,
    /// Number of bytes of the body that were received.
    came: u64,
    /// Time of the last piece of the body, in ns of the clock; 0 before the first.
    last_piece: u64,
}

impl Stream {
    fn new(flight: Flight, stage: Stage) -> Self {
        Self { flight, stage, promised: None, came: 0, last_piece: 0 }
    }
}

type Handshake = Pin<Box<dyn Future<Output = Result<ClientHalves, h2::Error>>>>;
type ClientHalves = (SendRequest<Bytes>, client::Connection<Wire, Bytes>);

enum State {
    Begun(Handshake),
    Open(Box<ClientHalves>),
}

/// The connection.
pub(crate) struct Http2 {
    state: State,
    streams: Vec<Stream>,
    /// Requests that wait until the preface has been sent.
    early: Vec<(Flight, http::Request<()>, Bytes)>,
    seen: Rc<RefCell<ReceiveState>>,
    /// Times between successive pieces of bodies without a declared length, in ns, kept until
    /// [`Http2::take_gaps`] is called.
    gaps: Vec<u64>,
    /// True if the connection is in the list of connections waiting for work.
    pub listed: bool,
    /// True if there is something to send.
    pub is_dirty: bool,
    /// True if the connection accepts no more requests.
    pub retired: bool,
}

/// State of the data received from the socket.
#[derive(Debug, Default)]
struct ReceiveState {
    /// Number of bytes received since [`Http2::take_received`] was last called.
    received: u64,
    /// True once anything was received.
    begun: bool,
    /// True if the first bytes received were those of an HTTP/1 answer.
    is_http1: bool,
}

/// The socket, with or without TLS, in the form that the library requires. It wakes no tasks: it is
/// polled again when epoll reports it ready.
struct Wire {
    connection: Connection,
    seen: Rc<RefCell<ReceiveState>>,
}

impl AsyncRead for Wire {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let own = self.get_mut();
        let mut seen = own.seen.borrow_mut();
        // The library reads as long as data is available, which may be forever.
        if seen.received >= MOST_AT_ONCE {
            return Poll::Pending;
        }
        let room = into.initialize_unfilled();
        match own.connection.receive(room) {
            Ok((0, Received::End)) => Poll::Ready(Ok(())),
            Ok((0, _)) => Poll::Pending,
            Ok((bytes, _)) => {
                seen.is_http1 |= !seen.begun && room.starts_with(b"HTTP/1");
                seen.begun = true;
                seen.received += bytes as u64;
                into.advance(bytes);
                Poll::Ready(Ok(()))
            }
            Err(_) => Poll::Ready(Err(io::ErrorKind::ConnectionReset.into())),
        }
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let connection = &mut self.get_mut().connection;
        if connection.has_unsent() {
            if connection.flush().is_err() {
                return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
            }
            if connection.has_unsent() {
                return Poll::Pending;
            }
        }
        match connection.send(bytes) {
            Ok(()) => Poll::Ready(Ok(bytes.len())),
            Err(_) => Poll::Ready(Err(io::ErrorKind::ConnectionReset.into())),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        let connection = &mut self.get_mut().connection;
        match connection.flush() {
            Ok(()) if connection.has_unsent() => Poll::Pending,
            Ok(()) => Poll::Ready(Ok(())),
            Err(_) => Poll::Ready(Err(io::ErrorKind::ConnectionReset.into())),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

impl Http2 {
    /// Starts HTTP/2 over an established connection.
    pub(crate) fn new(connection: Connection) -> Self {
        let seen = Rc::new(RefCell::new(ReceiveState::default()));
        let wire = Wire { connection, seen: Rc::clone(&seen) };
        let handshake = client::Builder::new()
            .initial_window_size(1 << 20)
            .initial_connection_window_size(1 << 24)
            .max_header_list_size(MOST_HEAD as u32)
            .enable_push(false)
            .handshake::<_, Bytes>(wire);
        Self {
            state: State::Begun(Box::pin(handshake)),
            streams: Vec::new(),
            early: Vec::new(),
            seen,
            gaps: Vec::new(),
            listed: false,
            is_dirty: false,
            retired: false,
        }
    }

    /// Returns the number of requests on the connection.
    pub(crate) fn load(&self) -> usize {
        self.streams.len() + self.early.len()
    }

    fn flights(&self) -> impl Iterator<Item = &Flight> {
        let sent = self.streams.iter().map(|stream| &stream.flight);
        sent.chain(self.early.iter().map(|(flight, ..)| flight))
    }

    /// Returns the send time of the oldest request.
    pub(crate) fn oldest(&self) -> Option<u64> {
        self.flights().map(|flight| flight.sent).min()
    }

    /// Returns the number of requests in the measured part.
    pub(crate) fn counting(&self) -> u64 {
        self.flights().filter(|flight| flight.counts).count() as u64
    }

    /// Returns the number of bytes received since the last call, and true if there may be more.
    pub(crate) fn take_received(&self) -> (u64, bool) {
        let received = std::mem::take(&mut self.seen.borrow_mut().received);
        (received, received >= MOST_AT_ONCE)
    }

    /// Takes the times between successive pieces of bodies, in ns.
    pub(crate) fn take_gaps(&mut self) -> impl Iterator<Item = u64> {
        self.gaps.drain(..)
    }

    pub(crate) fn into_flights(self) -> Vec<Flight> {
        let sent = self.streams.into_iter().map(|stream| stream.flight);
        sent.chain(self.early.into_iter().map(|(flight, ..)| flight)).collect()
    }

    /// Sends a request; returns it if the connection accepts no more.
    pub(crate) fn send(
        &mut self,
        (head, body): (http::Request<()>, Bytes),
        flight: Flight,
    ) -> Result<(), Box<Flight>> {
        match &mut self.state {
            State::Begun(_) => {
                self.early.push((flight, head, body));
                Ok(())
            }
            State::Open(ends) => {
                let stage = begin(&mut ends.0, head, body);
                match stage {
                    Some(stage) => {
                        self.streams.push(Stream::new(flight, stage));
                        Ok(())
                    }
                    None => Err(Box::new(flight)),
                }
            }
        }
    }

    /// Sends and receives as much as possible and appends finished requests to `over`. Returns true
    /// if the connection is still usable.
    pub(crate) fn pump(
        &mut self,
        over: &mut Vec<(Flight, RequestOutcome)>,
        keep: Keep,
        time: u64,
    ) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        if let State::Begun(handshake) = &mut self.state {
            match handshake.as_mut().poll(&mut context) {
                Poll::Pending => return true,
                Poll::Ready(Err(_)) => return false,
                Poll::Ready(Ok(ends)) => self.state = State::Open(Box::new(ends)),
            }
            if let State::Open(ends) = &mut self.state {
                for (flight, head, body) in std::mem::take(&mut self.early) {
                    match begin(&mut ends.0, head, body) {
                        Some(stage) => self.streams.push(Stream::new(flight, stage)),
                        None => over.push((flight, RequestOutcome::Untouched)),
                    }
                }
            }
        }
        let State::Open(ends) = &mut self.state else { return true };
        let mut stands = true;
        let seen = &self.seen;
        // Reading answers opens the flow-control window, which must be announced immediately.
        loop {
            if let Poll::Ready(_ended) = Pin::new(&mut ends.1).poll(&mut context) {
                stands = false;
            }
            let before = over.len();
            let mut gave_room = false;
            let mut at = 0;
            while at < self.streams.len() {
                let stream = &mut self.streams[at];
                match stream.poll(&mut context, keep, time, (&mut gave_room, &mut self.gaps)) {
                    Poll::Pending => at += 1,
                    Poll::Ready(mut how) => {
                        if let RequestOutcome::Failed(Failure::Malformed, detail) = &mut how
                            && seen.borrow().is_http1
                        {
                            *detail = Some("it answers in HTTP/1.1, not in HTTP/2".to_owned());
                        }
                        let stream = self.streams.swap_remove(at);
                        over.push((stream.flight, how));
                    }
                }
            }
            if !stands || over.len() == before && !gave_room {
                return stands;
            }
        }
    }
}

/// Starts a request; `None` if the connection accepts no more.
fn begin(sender: &mut SendRequest<Bytes>, head: http::Request<()>, body: Bytes) -> Option<Stage> {
    let mut context = Context::from_waker(Waker::noop());
    if !matches!(sender.poll_ready(&mut context), Poll::Ready(Ok(()))) {
        return None;
    }
    let (answer, mut stream) = sender.send_request(head, body.is_empty()).ok()?;
    if !body.is_empty() {
        stream.send_data(body, true).ok()?;
    }
    Some(Stage::Head(answer))
}

/// Classifies the error of a stream that got no answer. A GOAWAY without an error means that the
/// server did not process the streams after the last one it names; REFUSED_STREAM means this for a
/// single stream.
fn without_answer(error: &h2::Error) -> RequestOutcome {
    match error.reason() {
        Some(h2::Reason::NO_ERROR) if error.is_go_away() => RequestOutcome::Untouched,
        Some(h2::Reason::REFUSED_STREAM) => RequestOutcome::Untouched,
        _ => broken(error),
    }
}

/// Classifies an error of a stream or its connection. Details include the name of the HTTP/2 error
/// code (RFC 9113, 7).
fn broken(error: &h2::Error) -> RequestOutcome {
    let Some(reason) = error.reason() else {
        return RequestOutcome::Failed(Failure::Closed, None);
    };
    if error.is_library() {
        let why = format!("it violates the HTTP/2 protocol ({reason:?})");
        return RequestOutcome::Failed(Failure::Malformed, Some(why));
    }
    let what = if error.is_go_away() { "connection" } else { "stream" };
    RequestOutcome::Failed(
        Failure::StreamReset,
        Some(format!("it ended the {what} with {reason:?}")),
    )
}

impl Stream {
    fn poll(
        &mut self,
        context: &mut Context<'_>,
        keep: Keep,
        time: u64,
        (gave_room, gaps): (&mut bool, &mut Vec<u64>),
    ) -> Poll<RequestOutcome> {
        loop {
            match &mut self.stage {
                Stage::Head(future) => {
                    let response = match Pin::new(future).poll(context) {
                        Poll::Pending => return Poll::Pending,
                        Poll::Ready(Err(error)) => return Poll::Ready(without_answer(&error)),
                        Poll::Ready(Ok(response)) => response,
                    };
                    self.flight.first = time;
                    let length = response.headers().get("content-length");
                    self.promised = length.and_then(|own| own.to_str().ok()?.trim().parse().ok());
                    let mut answer = Answer {
                        status: response.status().as_u16(),
                        stays: true,
                        ..Answer::default()
                    };
                    if keep.fields {
                        let text = |value: &http::HeaderValue| {
                            String::from_utf8_lossy(value.as_bytes()).into_owned()
                        };
                        answer.location = response.headers().get("location").map(text);
                        answer.cookies =
                            response.headers().get_all("set-cookie").iter().map(text).collect();
                    }
                    self.stage = Stage::Body(response.into_body(), answer);
                }
                Stage::Body(body, answer) => match body.poll_data(context) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(Some(Ok(bytes))) => {
                        self.came += bytes.len() as u64;
                        if self.promised.is_none() && !bytes.is_empty() {
                            if self.last_piece > 0 && self.flight.counts {
                                gaps.push(time.saturating_sub(self.last_piece));
                            }
                            self.last_piece = time;
                        }
                        *gave_room |= body.flow_control().release_capacity(bytes.len()).is_ok();
                        if keep.body {
                            let room = MOST_KEPT.saturating_sub(answer.body.len());
                            answer.body.extend_from_slice(&bytes[..bytes.len().min(room)]);
                        }
                    }
                    Poll::Ready(Some(Err(error))) => {
                        // The library enforces the declared length (RFC 9113, 8.1.1).
                        let other = self.promised.is_some_and(|promised| promised != self.came);
                        return Poll::Ready(
                            match error.is_library() && error.is_reset() && other {
                                true => RequestOutcome::Failed(Failure::WrongLength, None),
                                false => broken(&error),
                            },
                        );
                    }
                    Poll::Ready(None) => {
                        return Poll::Ready(RequestOutcome::Answered(std::mem::take(answer)));
                    }
                },
            }
        }
    }
}
