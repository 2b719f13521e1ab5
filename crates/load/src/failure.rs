//! What may become of a request but an answer. Each request ends in exactly one of these, or was answered.

use serde::{Deserialize, Serialize};

/// Why a request got no answer that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// Nothing listens there.
    Refused,
    /// The other end, or something between, broke the connection off.
    Reset,
    /// The other end closed the connection before the answer was whole.
    Closed,
    /// No connection within the time allowed.
    ConnectTimeout,
    /// The TLS handshake was not done within the time allowed.
    TlsTimeout,
    /// The answer was not whole within the time allowed.
    Timeout,
    /// TLS: the certificate, or a broken rule of the protocol.
    Tls,
    /// What came was no answer by the rules of HTTP.
    Malformed,
    /// The body was not as long as its head said.
    WrongLength,
    /// The status was not one that was expected.
    WrongStatus,
    /// The body was not what was expected.
    WrongBody,
    /// HTTP/2: the server ended the stream or the connection with an error.
    StreamReset,
    /// This machine had no free local port.
    NoPort,
    /// This process may open no more descriptors.
    NoDescriptor,
    /// There is no way to that address.
    Unreachable,
    /// It was redirected again and again.
    RedirectLoop,
    /// It was redirected to another server.
    RedirectedAway,
}

impl Failure {
    /// All of them, in the order in which they are shown.
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

    /// Its name in files and documents.
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

    /// Whether it says something of this machine, and nothing of the server.
    pub fn is_ours(self) -> bool {
        matches!(self, Self::NoPort | Self::NoDescriptor)
    }

    /// What an error of a socket comes to.
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
