//! What can go wrong between a program and the server, by what there is to do about it.

use std::fmt;

/// Why the server was not asked, or what it refused.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The address is none.
    #[error("`{url}`: {why}; it has to begin with http:// or https://, as in https://farm.example")]
    Address {
        /// As it was given.
        url: String,
        /// What is wrong with it.
        why: String,
    },
    /// There is no token, or none that can be one.
    #[error(
        "{why}; a token comes from a file (--token-file FILE) or from the variable ASSAY_FARM_TOKEN, and `assay farm token` makes one"
    )]
    NoToken {
        /// What is wrong.
        why: String,
    },
    /// Nobody answers, or a proxy that says so: later it may be there again.
    #[error("the farm at {server} can't be reached ({asked}: {why})")]
    Away {
        /// Its address.
        server: String,
        /// Method and path.
        asked: String,
        /// What the system says.
        why: String,
    },
    /// The server answers that it will not.
    #[error("{asked}: {message} ({code})")]
    Refused {
        /// Method and path.
        asked: String,
        /// The status of HTTP.
        status: u16,
        /// What it is, for programs.
        code: Code,
        /// What it says.
        message: String,
    },
    /// Something answers that is no farm, or one that this program does not understand.
    #[error("{asked}: the answer is not that of a farm's API of version 1: {why}")]
    NotUnderstood {
        /// Method and path.
        asked: String,
        /// What is odd.
        why: String,
    },
}

/// What a server refuses for (docs/design/010-farm.md).
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
    /// One of a later version.
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

    /// The code of a word.
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
    /// Whether the same question may be answered later: nobody was there, or too much to do.
    #[must_use]
    pub fn is_away(&self) -> bool {
        match self {
            Self::Away { .. } => true,
            Self::Refused { status, .. } => matches!(status, 429 | 500..),
            _ => false,
        }
    }

    /// What the server refused for.
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
