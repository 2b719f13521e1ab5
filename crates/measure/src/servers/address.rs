//! Addresses of the user's own servers: `postgres://…` and `redis://…`. Passwords are extracted and
//! used, but never shown or stored.

use super::Kind;
use super::redis_client::RedisAddress;
use std::path::PathBuf;
use thiserror::Error;

/// Reasons why a text is not an address of a server whose settings can be changed.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum AddressError {
    /// The address is not recognized.
    #[error(
        "`{shown}` is not the address of a PostgreSQL or Redis server: write postgres://USER@HOST/DATABASE, redis://HOST:PORT or unix:///SOCKET"
    )]
    Unknown {
        /// The address as given, without the part before an `@`.
        shown: String,
    },
    /// The address requires TLS.
    #[error("assay does not support TLS to a Redis server; use a tunnel")]
    Tls,
}

/// Address of one of the user's own servers.
#[derive(Clone, Debug)]
pub(super) struct Address {
    pub kind: Kind,
    /// The address without a password.
    pub shown: String,
    /// The password, or the user and the password; empty if none is given.
    pub login: Vec<String>,
    /// Where a Redis server listens; `None` for PostgreSQL.
    pub place: Option<RedisAddress>,
}

impl Address {
    /// Parses an address.
    pub fn read(text: &str) -> Result<Self, AddressError> {
        let (scheme, rest) = text.split_once("://").unwrap_or(("", text));
        let unknown = || {
            let shown = text.rsplit_once('@').map_or(text, |(_, rest)| rest);
            AddressError::Unknown { shown: shown.to_owned() }
        };
        match scheme {
            "postgres" | "postgresql" => {
                let (rest, query) = without_password_in_query(rest);
                let (login, rest) = split_login(&rest);
                let user = login.first().map(|user| format!("{user}@")).unwrap_or_default();
                let password = query.or_else(|| login.get(1).map(|own| decoded(own)));
                let login = password.into_iter().collect();
                let shown = format!("{scheme}://{user}{rest}");
                Ok(Self { kind: Kind::Postgres, shown, login, place: None })
            }
            "redis" => {
                let (login, rest) = split_login(rest);
                let login = login.iter().map(|own| decoded(own)).filter(|own| !own.is_empty());
                let host = rest.split(['/', '?']).next().unwrap_or_default();
                let (host, port) = host.rsplit_once(':').unwrap_or((host, "6379"));
                let port = port.parse().map_err(|_| unknown())?;
                let host =
                    if host.is_empty() { "127.0.0.1" } else { host.trim_matches(['[', ']']) };
                let place = Some(RedisAddress::Port(host.to_owned(), port));
                let shown = format!("redis://{rest}");
                Ok(Self { kind: Kind::Redis, shown, login: login.collect(), place })
            }
            "unix" if rest.starts_with('/') => {
                let path = PathBuf::from(rest.split('?').next().unwrap_or(rest));
                let (shown, place) = (text.to_owned(), Some(RedisAddress::Socket(path)));
                Ok(Self { kind: Kind::Redis, shown, login: Vec::new(), place })
            }
            "rediss" => Err(AddressError::Tls),
            _ => Err(unknown()),
        }
    }
}

/// Splits off the user and the password, which precede the last `@` of the host part.
fn split_login(rest: &str) -> (Vec<String>, String) {
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (login, host) = match rest[..end].rsplit_once('@') {
        Some(found) => found,
        // A password may contain a slash that is not encoded.
        None => match rest.rsplit_once('@') {
            Some((login, _)) if login.contains(':') && !login.contains('?') => {
                return (split_words(login), rest[login.len() + 1..].to_owned());
            }
            _ => return (Vec::new(), rest.to_owned()),
        },
    };
    (split_words(login), format!("{host}{}", &rest[end..]))
}

fn split_words(login: &str) -> Vec<String> {
    login.splitn(2, ':').map(str::to_owned).collect()
}

/// Removes `password=` from an address's query, and returns the remaining text and the password.
fn without_password_in_query(rest: &str) -> (String, Option<String>) {
    let Some((before, query)) = rest.split_once('?') else { return (rest.to_owned(), None) };
    let is_password = |word: &&str| word.starts_with("password=");
    let password = query.split('&').find(is_password).map(|word| decoded(&word[9..]));
    let others: Vec<&str> = query.split('&').filter(|word| !is_password(word)).collect();
    let rest = match others.is_empty() {
        true => before.to_owned(),
        false => format!("{before}?{}", others.join("&")),
    };
    (rest, password)
}

/// Decodes percent-encoded bytes.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        match digits.and_then(|two| u8::from_str_radix(two, 16).ok()).filter(|_| first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;

    #[test]
    fn a_password_is_taken_out_of_an_address_and_never_shown() {
        for (given, shown, password) in [
            ("postgres://ann:se%63ret@db/x", "postgres://ann@db/x", Some("secret")),
            ("postgresql://ann@db:5433/x", "postgresql://ann@db:5433/x", None),
            ("postgres:///x?host=/run&password=secret", "postgres:///x?host=/run", Some("secret")),
            ("postgres://db/x?password=secret", "postgres://db/x", Some("secret")),
            ("postgres://ann:se/secret@db/x", "postgres://ann@db/x", Some("se/secret")),
            ("redis://:secret@cache:6380/2", "redis://cache:6380/2", Some("secret")),
            ("redis://", "redis://", None),
            ("unix:///run/redis.sock", "unix:///run/redis.sock", None),
        ] {
            let read = Address::read(given).unwrap();
            assert_eq!(
                (read.shown.as_str(), read.login.first().map(String::as_str)),
                (shown, password),
                "{given}"
            );
        }
        let both = Address::read("redis://ann:secret@[::1]:7000").unwrap();
        assert_eq!(both.login, ["ann", "secret"]);
        assert!(matches!(both.place, Some(RedisAddress::Port(host, 7000)) if host == "::1"));
    }

    #[test]
    fn what_is_no_address_is_refused_without_its_password() {
        for given in ["mysql://ann:secret@db", "db", "redis://cache:port", "rediss://cache"] {
            let error = Address::read(given).unwrap_err().to_string();
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
