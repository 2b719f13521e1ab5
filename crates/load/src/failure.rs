//! The ways in which a request can fail. Each request is either answered or fails in exactly one of
//! these ways.

use serde::{Deserialize, Serialize};

/// Reasons why a request has no valid answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// The connection was refused.
    Refused,
    /// The peer, or something in between, reset the connection.
    Reset,
    /// The peer closed the connection before the answer was complete.
    Closed,
    /// The connection was not established within the time limit.
    ConnectTimeout,
    /// The TLS handshake was not completed within the time limit.
    TlsTimeout,
    /// The answer was not complete within the time limit.
    Timeout,
    /// TLS: the certificate is invalid, or the protocol was violated.
    Tls,
    /// The answer is not valid HTTP.
    Malformed,
    /// The body does not have the length declared in the head.
    WrongLength,
    /// The status is not an expected one.
    WrongStatus,
    /// The body is not as expected.
    WrongBody,
    /// HTTP/2: the server ended the stream or the connection with an error.
    StreamReset,
    /// This machine has no free local port.
    NoPort,
    /// This process cannot open more file descriptors.
    NoDescriptor,
    /// The address is unreachable.
    Unreachable,
    /// There were too many redirections.
    RedirectLoop,
    /// The request was redirected to another server.
    RedirectedAway,
}

impl Failure {
    /// All kinds, in display order.
    pub const ALL: [Self; 17] = [
        Self::Refused,
        Self::Reset,
        Self::Closed,
        Self::ConnectTimeout,
        Self::TlsTimeout,
        Self::Timeout,
        Self::Tls,
        Self::Malformed,
        Self::WrongLength,
        Self::WrongStatus,
        Self::WrongBody,
        Self::StreamReset,
        Self::NoPort,
        Self::NoDescriptor,
        Self::Unreachable,
        Self::RedirectLoop,
        Self::RedirectedAway,
    ];

    /// Name in files and documents.
    pub fn name(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::Reset => "reset",
            Self::Closed => "closed",
            Self::ConnectTimeout => "connect_timeout",
            Self::TlsTimeout => "tls_timeout",
            Self::Timeout => "timeout",
            Self::Tls => "tls",
            Self::Malformed => "malformed",
            Self::WrongLength => "wrong_length",
            Self::WrongStatus => "wrong_status",
            Self::WrongBody => "wrong_body",
            Self::StreamReset => "stream_reset",
            Self::NoPort => "no_port",
            Self::NoDescriptor => "no_descriptor",
            Self::Unreachable => "unreachable",
            Self::RedirectLoop => "redirect_loop",
            Self::RedirectedAway => "redirected_away",
        }
    }

    /// Returns true if the failure concerns this machine and not the server.
    pub fn is_ours(self) -> bool {
        matches!(self, Self::NoPort | Self::NoDescriptor)
    }

    /// Classifies a socket error.
    pub(crate) fn of_socket(error: rustix::io::Errno) -> Self {
        use rustix::io::Errno;
        match error {
            Errno::CONNREFUSED | Errno::NOENT => Self::Refused,
            Errno::ADDRNOTAVAIL | Errno::ADDRINUSE | Errno::AGAIN => Self::NoPort,
            Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM => Self::NoDescriptor,
            Errno::TIMEDOUT => Self::ConnectTimeout,
            Errno::HOSTUNREACH | Errno::NETUNREACH | Errno::NETDOWN | Errno::HOSTDOWN => {
                Self::Unreachable
            }
            _ => Self::Reset,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_failure_has_its_place_and_the_name_that_files_hold() {
        for (place, failure) in Failure::ALL.into_iter().enumerate() {
            assert_eq!(failure as usize, place);
            let written = serde_json::to_value(failure).expect("written");
            assert_eq!(written, failure.name());
        }
    }
}
