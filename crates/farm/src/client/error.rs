//! Errors of requests to the server, grouped by how to handle them.

use std::fmt;

/// The reason why a request failed.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The server's address is invalid.
    #[error(
        "`{url}`: {why}; an address begins with http:// or https://, as in https://farm.example"
    )]
    Address {
        /// The address, as given.
        url: String,
        /// The reason why the address is invalid.
        why: String,
    },
    /// The token is missing, unreadable or invalid.
    #[error(
        "{why}; provide a token in a file (--token-file FILE) or in the variable ASSAY_FARM_TOKEN; `assay farm token` creates one"
    )]
    NoToken {
        /// The reason why there is no valid token.
        why: String,
    },
    /// The server cannot be reached, or a proxy reports that it is unavailable. It may be available
    /// again later.
    #[error("the farm at {server} can't be reached ({asked}: {why})")]
    Away {
        /// Address of the server.
        server: String,
        /// Method and path of the request.
        asked: String,
        /// Message of the system or the HTTP library, or the status of the proxy's answer.
        why: String,
    },
    /// The server refused the request.
    #[error("{asked}: {message} ({code})")]
    Refused {
        /// Method and path of the request.
        asked: String,
        /// HTTP status of the answer.
        status: u16,
        /// The reason for the refusal, as a code for programs.
        code: Code,
        /// The server's message.
        message: String,
    },
    /// The answer did not come from a farm, or this program does not understand it.
    #[error("{asked}: the answer is not that of a farm's API of version 1: {why}")]
    NotUnderstood {
        /// Method and path of the request.
        asked: String,
        /// The reason why the answer was not understood.
        why: String,
    },
}

/// The reason why the server refused a request (docs/reference/farm-api.md).
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the words of the API, which are explained there")]
pub enum Code {
    BadRequest,
    Unauthorized,
    Forbidden,
    NotFound,
    Conflict,
    LeaseLost,
    TooLarge,
    TooMany,
    WrongVersion,
    Unavailable,
    Internal,
    /// A code that this program does not know, from a later version of the server.
    Other(String),
}

impl Code {
    const ALL: [(&'static str, Self); 11] = [
        ("bad_request", Self::BadRequest),
        ("unauthorized", Self::Unauthorized),
        ("forbidden", Self::Forbidden),
        ("not_found", Self::NotFound),
        ("conflict", Self::Conflict),
        ("lease_lost", Self::LeaseLost),
        ("too_large", Self::TooLarge),
        ("too_many", Self::TooMany),
        ("wrong_version", Self::WrongVersion),
        ("unavailable", Self::Unavailable),
        ("internal", Self::Internal),
    ];

    /// Returns the code that is written as `word` in the API.
    #[must_use]
    pub fn of(word: &str) -> Self {
        let known = Self::ALL.into_iter().find(|(name, _)| *name == word);
        known.map_or_else(|| Self::Other(word.chars().take(40).collect()), |(_, code)| code)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = Self::ALL.into_iter().find(|(_, code)| code == self);
        match (known, self) {
            (Some((name, _)), _) => f.write_str(name),
            (None, Self::Other(word)) => f.write_str(word),
            (None, _) => f.write_str("unknown"),
        }
    }
}

impl ClientError {
    /// Returns true if the request may succeed later, because the server was unreachable,
    /// overloaded or failed internally.
    #[must_use]
    pub fn is_away(&self) -> bool {
        match self {
            Self::Away { .. } => true,
            Self::Refused { status, .. } => matches!(status, 429 | 500..),
            _ => false,
        }
    }

    /// Returns the code of the refusal, or `None` if the server did not refuse the request.
    #[must_use]
    pub fn code(&self) -> Option<&Code> {
        match self {
            Self::Refused { code, .. } => Some(code),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_words_and_words_codes() {
        for (word, code) in Code::ALL {
            assert_eq!((Code::of(word), code.to_string()), (code.clone(), word.to_owned()));
        }
        assert_eq!(Code::of("new"), Code::Other("new".to_owned()));
    }
}
