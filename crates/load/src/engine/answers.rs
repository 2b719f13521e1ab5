//! Handles finished requests: validates and counts them, and starts the next one of the session,
//! redirection or connection.

use super::{Engine, HeldConnection, Pace, Thinking};
use crate::clock::{nanoseconds, now};
use crate::connection::{Flight, Phase};
use crate::failure::Failure;
use crate::http2::RequestOutcome;
use crate::job::Expect;
use crate::raw::Raw;
use crate::response::Answer;
use crate::scenario::RedirectTarget;
use crate::tally::AnswerDigest;
use crate::target::without_user;
use std::cmp::Reverse;

/// Maximum number of redirections of one request.
const MOST_HOPS: u8 = 10;
/// Number of connections per check of time limits: checking all of ten thousand in one go would
/// delay due requests by 2 ms.
const TURN: usize = 256;
/// Detail text for a redirection without a target.
const NOWHERE: &str = "it redirects without a Location";
/// Detail text for a timeout in the middle of an answer.
const BEGAN: &str = "its answer was not completed";
/// Pause of a closed test's connection after a failure, in ns. Without it, a server that refuses
/// connections would receive a million attempts per second.
const PAUSE: u64 = 1_000_000;

impl Engine<'_> {
    /// Handles an answer; `slot` is its connection if that stays open.
    pub(super) fn answered(
        &mut self,
        flight: Flight,
        answer: Answer,
        time: u64,
        slot: Option<usize>,
    ) {
        if (300..400).contains(&answer.status) && answer.status != 304 {
            self.tally.redirected += u64::from(flight.counts);
            if self.expect.follow && answer.location.is_some() {
                return self.follow(flight, answer, time, slot);
            }
        }
        if flight.counts {
            *self.tally.statuses.entry(answer.status).or_default() += 1;
        }
        if self.expect.digest {
            self.tally.answers.push(AnswerDigest::of(answer.status, &answer.body));
        }
        let failure = wrong(self.expect, &answer);
        if failure == Some(Failure::WrongStatus) && self.expect.follow && points(answer.status) {
            self.tally.explain(Failure::WrongStatus, NOWHERE);
        }
        self.keep(&flight, answer.status, failure, time);
        match failure {
            Some(failure) => self.count_failure(&flight, failure, time),
            None => self.count_answer(&flight, time),
        }
        self.in_flight -= 1;
        self.go_on(flight, Some(&answer), time, slot);
    }

    /// Handles a failed request. Its connection is closed, or never existed.
    pub(super) fn failed(&mut self, flight: Flight, failure: Failure, time: u64) {
        self.in_flight -= 1;
        self.keep(&flight, 0, Some(failure), time);
        self.count_failure(&flight, failure, time);
        // A session that lost a step is over: its user would not have taken the later steps.
        if self.closed && time < self.ends {
            let due = time + PAUSE;
            let next = self.next_flight(due);
            self.thinking.push(Reverse(Thinking(due, next)));
        }
    }

    /// Records a request in the measured part for inspection.
    fn keep(&mut self, flight: &Flight, status: u16, failure: Option<Failure>, time: u64) {
        if flight.counts {
            let from = self.counts_from;
            let moments = [flight.due, flight.sent, flight.first, time];
            let since = || moments.map(|at| at.saturating_sub(from));
            self.kept.offer(|| Raw::new(since(), status, failure));
        }
    }

    fn count_answer(&mut self, flight: &Flight, time: u64) {
        self.tally.answered_in_all += 1;
        if time >= self.counts_from && time < self.ends {
            self.tally.delivered += 1;
        }
        let latency = time - flight.due.min(time);
        self.in_second(time);
        self.second.record(latency);
        if !flight.counts {
            return;
        }
        let tally = &mut self.tally;
        tally.answered += 1;
        tally.latency.record(latency);
        tally.service.record(time - flight.sent);
        tally.first_byte.record(flight.first.saturating_sub(flight.sent));
        tally.transfer.record(time - flight.first);
    }

    fn count_failure(&mut self, flight: &Flight, failure: Failure, time: u64) {
        self.failed += 1;
        self.in_second(time);
        let number = self.second_number;
        self.tally.second(number).failed[failure as usize] += 1;
        if flight.counts {
            self.tally.fail(failure);
        }
    }

    /// Completes the statistics of the current second if that second is over.
    fn in_second(&mut self, time: u64) {
        let number = ((time - self.started) / 1_000_000_000) as usize;
        if number != self.second_number {
            self.end_second();
            self.second_number = number;
        }
    }

    fn end_second(&mut self) {
        let count = self.second.count();
        let quantile = |share| self.second.quantile_seconds(share, 0).unwrap_or(f64::NAN);
        self.last = [count as f64, quantile(0.5), quantile(0.99)];
        if count > 0 {
            let encoded = self.second.encoded();
            let own = self.tally.second(self.second_number);
            (own.answered, own.latency) = (count, encoded);
            self.second.clear();
        }
    }

    /// Continues after a request: starts the next step of its session, the next request of its
    /// connection, or a request that waits for a connection.
    fn go_on(&mut self, flight: Flight, answer: Option<&Answer>, time: u64, slot: Option<usize>) {
        let step = flight.request + 1;
        if let Some(mut jar) = flight.jar
            && step < self.prepared.len()
        {
            answer.iter().flat_map(|answer| &answer.cookies).for_each(|set| jar.take(set));
            let due = time + self.prepared.think_nanoseconds[step];
            let counts = self.counts(due);
            self.tally.due += u64::from(counts);
            let next = Flight {
                index: flight.index,
                due,
                request: step,
                counts,
                jar: Some(jar),
                ..Flight::default()
            };
            if due > time {
                self.thinking.push(Reverse(Thinking(due, next)));
            } else if let Some(slot) = slot {
                self.in_flight += 1;
                return self.give(slot, next);
            } else {
                self.dispatch(next);
            }
        } else if self.closed && time < self.ends {
            // In a closed test a connection sends its next request after all answers that arrived
            // together have been processed.
            match slot {
                Some(slot) => self.asks.push((slot, self.slots[slot].age)),
                None => {
                    let next = self.next_flight(time);
                    self.dispatch(next);
                }
            }
            return;
        }
        if let Some(slot) = slot {
            self.fill(slot);
        }
    }

    /// Sends the next requests on those connections of a closed test that received an answer in
    /// this turn. Requests sent together are received together, so that a saturated server needs
    /// fewer wake-ups, as it would with many clients.
    pub(super) fn ask_again(&mut self) {
        let mut asks = std::mem::take(&mut self.asks);
        for (slot, age) in asks.drain(..) {
            let time = now();
            if time >= self.ends {
                continue;
            }
            let next = self.next_flight(time);
            if self.slots[slot].age == age && self.slots[slot].held.is_some() {
                self.in_flight += 1;
                self.give(slot, next);
            } else {
                self.dispatch(next);
            }
        }
        self.asks = asks;
    }

    /// Sends a request to the target of a redirection.
    fn follow(&mut self, mut flight: Flight, answer: Answer, time: u64, slot: Option<usize>) {
        let place = answer.location.as_deref().unwrap_or_default();
        let asked = match &flight.redirected {
            Some(own) => self.target.with_path(&own.path),
            None => self.target.with_path(&self.prepared.path(flight.request, flight.index)),
        };
        let target = asked.at(place);
        let failure = match &target {
            None => Some(Failure::RedirectedAway),
            Some(_) if flight.hops >= MOST_HOPS => Some(Failure::RedirectLoop),
            Some(_) => None,
        };
        self.in_flight -= 1;
        let (Some(target), None) = (target, failure) else {
            let failure = failure.unwrap_or(Failure::RedirectedAway);
            // An empty target refers to the requested resource itself (RFC 3986, 4.4).
            let place = if place.is_empty() { "itself".to_owned() } else { without_user(place) };
            self.tally.explain(failure, place);
            self.in_flight += 1;
            return self.failed(flight, failure, time);
        };
        if let Some(jar) = &mut flight.jar {
            answer.cookies.iter().for_each(|set| jar.take(set));
        }
        flight.hops += 1;
        let as_get = flight.redirected.as_ref().is_some_and(|own| own.as_get)
            || self.prepared.becomes_get(flight.request, answer.status);
        flight.redirected = Some(RedirectTarget { path: target.path, as_get });
        (flight.sent, flight.first) = (0, 0);
        match slot {
            Some(slot) => {
                self.in_flight += 1;
                self.give(slot, flight);
            }
            None => self.dispatch(flight),
        }
    }

    /// Enforces the time limits of the next [`TURN`] connections; all connections are covered after
    /// [`Self::turns`] calls.
    pub(super) fn sweep(&mut self, time: u64) {
        let connecting = nanoseconds(self.connecting.connect_timeout);
        let answering = nanoseconds(self.connecting.timeout);
        let from = if self.swept < self.slots.len() { self.swept } else { 0 };
        let until = self.slots.len().min(from + TURN);
        self.swept = until;
        for slot in from..until {
            let late = match self.slots[slot].held.as_ref() {
                Some(HeldConnection::Http1(own)) => match own.phase {
                    Phase::Connecting if time > own.began + connecting => {
                        Some(Failure::ConnectTimeout)
                    }
                    Phase::Handshaking if time > own.began + connecting => {
                        Some(Failure::TlsTimeout)
                    }
                    Phase::Open => own
                        .flights
                        .front()
                        .filter(|flight| time > flight.sent + answering)
                        .map(|_| Failure::Timeout),
                    _ => None,
                },
                Some(HeldConnection::Http2(own)) => {
                    own.oldest().filter(|sent| time > sent + answering).map(|_| Failure::Timeout)
                }
                None => None,
            };
            if let Some(failure) = late {
                if let Some(HeldConnection::Http1(own)) = self.slots[slot].held.as_ref()
                    && failure == Failure::Timeout
                    && own.reader.is_within()
                {
                    self.tally.explain(failure, BEGAN);
                }
                self.broken(slot, failure);
            }
        }
    }

    /// Returns the number of calls of [`Self::sweep`] that cover all connections.
    pub(super) fn turns(&self) -> u64 {
        self.slots.len().div_ceil(TURN).max(1) as u64
    }

    /// Lets an HTTP/2 connection send and receive, and handles finished requests.
    pub(super) fn pump(&mut self, slot: usize) {
        let Some(HeldConnection::Http2(own)) = self.slots[slot].held.as_mut() else { return };
        own.is_dirty = false;
        let mut over = Vec::new();
        let stands = own.pump(&mut over, self.keep, now());
        let (received, more) = own.take_received();
        own.take_gaps().for_each(|gap| self.tally.chunk_gap.record(gap));
        if more {
            own.is_dirty = true;
            self.unfinished.push((slot, self.slots[slot].age));
        }
        if self.in_window {
            self.tally.received += received;
        }
        let time = now();
        for (flight, how) in over {
            let goes_on = stands && matches!(self.slots[slot].held, Some(HeldConnection::Http2(_)));
            match how {
                RequestOutcome::Answered(answer) => {
                    self.answered(flight, answer, time, goes_on.then_some(slot));
                }
                RequestOutcome::Untouched => self.again(flight, Failure::StreamReset, time),
                RequestOutcome::Failed(failure, detail) => {
                    if let Some(detail) = detail {
                        self.tally.explain(failure, detail);
                    }
                    self.failed(flight, failure, time);
                    if goes_on {
                        self.fill(slot);
                    }
                }
            }
        }
        if !stands {
            self.broken(slot, Failure::Closed);
        } else if let Some(HeldConnection::Http2(own)) = self.slots[slot].held.as_mut()
            && own.retired
            && own.load() == 0
        {
            self.remove(slot);
            self.refill();
        }
    }

    /// Returns the progress.
    pub(super) fn pace(&self, time: u64) -> Pace {
        Pace {
            seconds: (time - self.started) as f64 / 1e9,
            sent: self.sent,
            in_flight: self.in_flight + self.backlog.len() as u64,
            answered: self.last[0] as u64,
            failed: self.failed,
            latency: [self.last[1], self.last[2]],
        }
    }

    /// Counts the remaining requests. Those in flight when the slice is interrupted are neither
    /// answered nor failed; in an open test this includes due requests that were not sent. Requests
    /// that remain after all time limits have passed count as timed out.
    pub(super) fn finish(&mut self, due: impl Iterator<Item = u64>, interrupted: bool) {
        self.end_second();
        self.tally.requests = std::mem::take(&mut self.kept.requests);
        self.tally.sent = self.sent;
        let not_sent = due.filter(|at| self.started + at >= self.counts_from).count() as u64;
        let held = self.slots.iter().filter_map(|slot| slot.held.as_ref());
        let on_their_way: u64 = held
            .map(|held| match held {
                HeldConnection::Http1(own) => {
                    own.flights.iter().filter(|flight| flight.counts).count() as u64
                }
                HeldConnection::Http2(own) => own.counting(),
            })
            .sum();
        let backlog = self.backlog.iter().filter(|flight| flight.counts).count() as u64;
        let thinking = self.thinking.iter().filter(|Reverse(t)| t.1.counts).count() as u64;
        self.tally.due += not_sent;
        let left = not_sent + on_their_way + backlog + thinking;
        match interrupted {
            true => self.tally.unknown = left,
            false => self.tally.failed[Failure::Timeout as usize] += left,
        }
        for slot in &mut self.slots {
            if let Some(HeldConnection::Http1(own)) = slot.held.take() {
                crate::socket::close_at_once(own.socket);
            }
        }
    }
}

/// Returns true for a redirection status (RFC 9110, 15.4).
fn points(status: u16) -> bool {
    matches!(status, 301 | 302 | 303 | 307 | 308)
}

/// Returns the fault of an answer, if any.
fn wrong(expect: &Expect, answer: &Answer) -> Option<Failure> {
    let is_right = match expect.statuses.as_slice() {
        // After 101 the connection no longer speaks HTTP.
        [] => {
            let is_followed = expect.follow && points(answer.status);
            answer.status < 400 && answer.status != 101 && !is_followed
        }
        some => some.contains(&answer.status),
    };
    if !is_right {
        return Some(Failure::WrongStatus);
    }
    let text = expect.body.as_ref()?;
    let holds = memchr::memmem::find(&answer.body, text.as_bytes()).is_some();
    (!holds).then_some(Failure::WrongBody)
}
