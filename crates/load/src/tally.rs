//! The outcomes of the requests of one slice: counts and histograms, which can be added up exactly
//! across generators. No conclusions are drawn here.

use crate::failure::Failure;
use crate::raw::Raw;
use assay_data::Histogram;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher};

/// One second of a slice, by the time at which requests ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Second {
    /// Number of successful answers.
    pub answered: u64,
    /// Number of failures of each kind, in the order of [`Failure::ALL`].
    pub failed: [u64; Failure::ALL.len()],
    /// Latencies of answered requests, encoded ([`Histogram::encoded`]) because a slice may last
    /// for hours. Empty if there are no answers.
    // Note: the histogram is encoded when its second is over, because the unencoded histograms of a
    // long slice would fill the memory.
    pub latency: String,
}

impl Second {
    /// Returns the latencies; an empty histogram if there are no answers.
    pub fn histogram(&self) -> Histogram {
        Histogram::decoded(&self.latency).unwrap_or_default()
    }
}

/// Counts of connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Connections {
    /// Opened, including TLS.
    pub opened: u64,
    /// Opened with a full TLS handshake.
    pub full_handshakes: u64,
    /// Opened with a resumed TLS handshake.
    pub resumed_handshakes: u64,
    /// Closed by the server while idle, so that a request had to be sent over another one.
    pub lost_idle: u64,
    /// Closed by the server after an answer, with or without notice.
    pub closed_by_server: u64,
    /// Closed because of surplus bytes that belong to no answer.
    pub stray: u64,
    /// Maximum number of simultaneously open connections.
    pub most_open: u64,
    /// Maximum number of simultaneously unanswered requests.
    pub most_in_flight: u64,
}

/// An answer, by its status and its body. Bodies that agree in their first 4 MiB have the same
/// digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerDigest {
    /// Status of the answer.
    pub status: u16,
    /// Number of digested bytes.
    pub bytes: u64,
    digest: u64,
}

impl AnswerDigest {
    pub(crate) fn of(status: u16, body: &[u8]) -> Self {
        let mut hasher = DefaultHasher::new();
        hasher.write(body);
        Self { status, bytes: body.len() as u64, digest: hasher.finish() }
    }
}

/// The outcomes of a slice.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// Number of requests that were due in the measured part.
    pub due: u64,
    /// Number of due requests that were answered successfully.
    pub answered: u64,
    /// Number of answers received in the measured part, whenever the requests were due: the
    /// server's throughput.
    pub delivered: u64,
    /// Number of failures of each kind among the due requests, in the order of [`Failure::ALL`].
    pub failed: [u64; Failure::ALL.len()],
    /// Number of requests sent in the whole slice, including the settling part; repeated sends
    /// count again.
    pub sent: u64,
    /// Number of answers in the whole slice, including the settling part.
    pub answered_in_all: u64,
    /// Number of due requests that were neither answered nor failed when the slice was interrupted.
    pub unknown: u64,
    /// Number of answers by status.
    pub statuses: BTreeMap<u16, u64>,
    /// Number of redirections that were answered or followed.
    pub redirected: u64,
    /// Bytes received in the measured part, including heads, without TLS overhead.
    pub received: u64,
    /// Counts of connections.
    pub connections: Connections,
    /// From the time at which a request was due to the end of its answer.
    pub latency: Histogram,
    /// From sending a request to the end of its answer.
    pub service: Histogram,
    /// From the time at which a request was due to the time at which the generator handled it: the
    /// lateness of the generator itself.
    pub lateness: Histogram,
    /// Time to establish a connection.
    pub connect: Histogram,
    /// Time from the established connection to the end of the TLS handshake.
    pub tls: Histogram,
    /// From sending a request to the first byte of the answer.
    pub first_byte: Histogram,
    /// From the first byte of the answer to the last.
    pub transfer: Histogram,
    /// Between successive chunks of a body without a declared length, as in server-sent events.
    pub chunk_gap: Histogram,
    /// Results by second.
    pub seconds: Vec<Second>,
    /// CPU time of the generator, in seconds.
    pub cpu_seconds: f64,
    /// Details of the first failure of each kind.
    pub details: BTreeMap<Failure, String>,
    /// Single requests, if requested: an evenly spaced sample of each generator's requests.
    pub requests: Vec<Raw>,
    /// The answers, if requested by [`Expect::digest`](crate::Expect::digest).
    pub answers: Vec<AnswerDigest>,
}

/// The serialized form of a tally: numbers as text, histograms in V2 encoding.
#[derive(Debug, Serialize, Deserialize)]
struct WireTally {
    due: u64,
    answered: u64,
    delivered: u64,
    failed: Vec<u64>,
    sent: u64,
    answered_in_all: u64,
    unknown: u64,
    statuses: BTreeMap<u16, u64>,
    redirected: u64,
    received: u64,
    connections: Connections,
    histograms: Vec<String>,
    seconds: Vec<(u64, Vec<u64>, String)>,
    cpu_seconds: f64,
    details: BTreeMap<Failure, String>,
    requests: Vec<Raw>,
    #[serde(default)]
    answers: Vec<AnswerDigest>,
}

impl Tally {
    /// Returns the total number of failures.
    pub fn failures(&self) -> u64 {
        self.failed.iter().sum()
    }

    /// Returns the number of failures of this kind.
    pub fn failed_as(&self, failure: Failure) -> u64 {
        self.failed[failure as usize]
    }

    /// Counts the requests whose outcome is unknown as timed out.
    pub fn give_up_unknown(&mut self) {
        self.failed[Failure::Timeout as usize] += std::mem::take(&mut self.unknown);
    }

    /// Counts a failure.
    pub(crate) fn fail(&mut self, failure: Failure) {
        self.failed[failure as usize] += 1;
    }

    /// Keeps the details of a failure if it is the first of its kind.
    pub(crate) fn explain(&mut self, failure: Failure, detail: impl Into<String>) {
        self.details.entry(failure).or_insert_with(|| detail.into());
    }

    /// Returns the second with this number, creating it if necessary.
    pub(crate) fn second(&mut self, number: usize) -> &mut Second {
        if self.seconds.len() <= number {
            self.seconds.resize_with(number + 1, Second::default);
        }
        &mut self.seconds[number]
    }

    fn histograms(&self) -> [&Histogram; 8] {
        [
            &self.latency,
            &self.service,
            &self.lateness,
            &self.connect,
            &self.tls,
            &self.first_byte,
            &self.transfer,
            &self.chunk_gap,
        ]
    }

    fn histograms_mut(&mut self) -> [&mut Histogram; 8] {
        [
            &mut self.latency,
            &mut self.service,
            &mut self.lateness,
            &mut self.connect,
            &mut self.tls,
            &mut self.first_byte,
            &mut self.transfer,
            &mut self.chunk_gap,
        ]
    }

    /// Adds the counts of another generator for the same slice. The sums are exact, except for
    /// those of the maxima, which are upper bounds.
    pub fn add(&mut self, other: &Self) {
        self.due += other.due;
        self.answered += other.answered;
        self.delivered += other.delivered;
        self.unknown += other.unknown;
        self.sent += other.sent;
        self.answered_in_all += other.answered_in_all;
        self.redirected += other.redirected;
        self.received += other.received;
        self.cpu_seconds += other.cpu_seconds;
        self.requests.extend_from_slice(&other.requests);
        self.answers.extend_from_slice(&other.answers);
        for (&failure, detail) in &other.details {
            self.details.entry(failure).or_insert_with(|| detail.clone());
        }
        self.failed.iter_mut().zip(other.failed).for_each(|(own, more)| *own += more);
        for (&status, &count) in &other.statuses {
            *self.statuses.entry(status).or_default() += count;
        }
        let (own, more) = (&mut self.connections, &other.connections);
        own.opened += more.opened;
        own.full_handshakes += more.full_handshakes;
        own.resumed_handshakes += more.resumed_handshakes;
        own.lost_idle += more.lost_idle;
        own.closed_by_server += more.closed_by_server;
        own.stray += more.stray;
        own.most_open += more.most_open;
        own.most_in_flight += more.most_in_flight;
        for (own, more) in self.histograms_mut().into_iter().zip(other.histograms()) {
            own.add(more);
        }
        for (number, more) in other.seconds.iter().enumerate() {
            let own = self.second(number);
            own.answered += more.answered;
            own.failed.iter_mut().zip(more.failed).for_each(|(own, more)| *own += more);
            if own.latency.is_empty() {
                own.latency.clone_from(&more.latency);
            } else if !more.latency.is_empty() {
                let mut both = own.histogram();
                both.add(&more.histogram());
                own.latency = both.encoded();
            }
        }
    }

    /// Serializes the tally as one line of JSON.
    pub fn to_line(&self) -> String {
        let second = |own: &Second| (own.answered, own.failed.to_vec(), own.latency.clone());
        let sent = WireTally {
            due: self.due,
            answered: self.answered,
            delivered: self.delivered,
            failed: self.failed.to_vec(),
            sent: self.sent,
            answered_in_all: self.answered_in_all,
            unknown: self.unknown,
            statuses: self.statuses.clone(),
            redirected: self.redirected,
            received: self.received,
            connections: self.connections,
            histograms: self.histograms().into_iter().map(Histogram::encoded).collect(),
            seconds: self.seconds.iter().map(second).collect(),
            cpu_seconds: self.cpu_seconds,
            details: self.details.clone(),
            requests: self.requests.clone(),
            answers: self.answers.clone(),
        };
        // Serializing plain data cannot fail.
        serde_json::to_string(&sent).unwrap_or_default()
    }

    /// Parses the output of [`Self::to_line`].
    ///
    /// # Errors
    /// If the line is invalid; the error is a message.
    pub fn of_line(line: &str) -> Result<Self, String> {
        let sent: WireTally = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let by_kind = |failed: Vec<u64>| {
            <[u64; Failure::ALL.len()]>::try_from(failed)
                .map_err(|_| "another number of failures".to_owned())
        };
        let mut tally = Self {
            due: sent.due,
            answered: sent.answered,
            delivered: sent.delivered,
            failed: by_kind(sent.failed)?,
            sent: sent.sent,
            answered_in_all: sent.answered_in_all,
            unknown: sent.unknown,
            statuses: sent.statuses,
            redirected: sent.redirected,
            received: sent.received,
            connections: sent.connections,
            cpu_seconds: sent.cpu_seconds,
            details: sent.details,
            requests: sent.requests,
            answers: sent.answers,
            ..Self::default()
        };
        if sent.histograms.len() != tally.histograms().len() {
            return Err("another number of histograms".to_owned());
        }
        let read = |text: &String| Histogram::decoded(text).map_err(|error| error.to_string());
        for (own, text) in tally.histograms_mut().into_iter().zip(&sent.histograms) {
            *own = read(text)?;
        }
        for (answered, failed, latency) in sent.seconds {
            if !latency.is_empty() {
                read(&latency)?;
            }
            tally.seconds.push(Second { answered, failed: by_kind(failed)?, latency });
        }
        Ok(tally)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some(seed: u64) -> Tally {
        let mut tally = Tally { due: 10, answered: 8, received: 99 * seed, ..Tally::default() };
        for i in 0..8 {
            let value = (seed + 1) * (i + 1) * 1_234_567;
            tally.latency.record(value);
            tally.service.record(value / 2);
            let second = tally.second((i % 3) as usize);
            second.answered += 1;
            let mut latency = second.histogram();
            latency.record(value);
            second.latency = latency.encoded();
        }
        tally.fail(Failure::Timeout);
        tally.fail(Failure::Refused);
        tally.statuses.insert(200, 8);
        tally.answers.push(AnswerDigest::of(200, b"body"));
        tally
    }

    #[test]
    fn a_tally_survives_its_line() {
        let tally = some(3);
        let read = Tally::of_line(&tally.to_line()).expect("read");
        assert_eq!(read.to_line(), tally.to_line());
        assert_eq!(read.answers, tally.answers);
        assert_eq!(read.failed_as(Failure::Refused), 1);
        assert!(Tally::of_line("{}").is_err());
    }

    #[test]
    fn tallies_add_up() {
        let mut sum = some(1);
        sum.add(&some(2));
        assert_eq!((sum.due, sum.answered, sum.failures()), (20, 16, 4));
        assert_eq!(sum.latency.count(), 16);
        assert_eq!(sum.seconds.iter().map(|second| second.histogram().count()).sum::<u64>(), 16);
        assert_eq!(sum.statuses[&200], 16);
    }
}
