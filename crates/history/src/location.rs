//! Location of a store: a file, or a PostgreSQL database. Passwords are used but never shown.

use crate::error::StoreError;
use crate::server::{self, Address};
use std::ffi::OsStr;
use std::fmt;
use std::path::PathBuf;

/// Prefixes of the address of a server.
const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];
/// Placeholder shown instead of a password.
const HIDDEN: &str = "***";

/// Location of a store.
#[derive(Clone, Debug)]
pub enum StoreLocation {
    /// An SQLite file.
    File(PathBuf),
    /// A PostgreSQL database.
    Server(Server),
}

/// The parameters of a connection to a PostgreSQL database.
#[derive(Clone)]
pub struct Server {
    pub(crate) address: Box<Address>,
    /// The address without its password.
    shown: String,
}

impl StoreLocation {
    /// Parses a location as given by the user: an address `postgres://…`, or the path of a file.
    /// `password` is used if the address has none.
    ///
    /// # Errors
    /// If the text is an address that is invalid or has an unsupported scheme, or if this build has
    /// no PostgreSQL client.
    pub fn read(text: &OsStr, password: Option<&str>) -> Result<Self, StoreError> {
        let address = text.to_string_lossy();
        let shown = without_password(&address);
        if !SCHEMES.iter().any(|scheme| address.starts_with(scheme)) {
            let scheme = address.split_once("://").map_or("", |(scheme, _)| scheme);
            let is_one = !scheme.is_empty() && scheme.chars().all(|c| c.is_ascii_alphanumeric());
            if is_one {
                let said = format!("{scheme}:// is not supported, and a path contains no ://");
                return Err(StoreError::NoAddress { shown, said });
            }
            return Ok(Self::File(PathBuf::from(text)));
        }
        if cfg!(not(feature = "postgresql")) {
            return Err(StoreError::NoClient { shown });
        }
        match server::parse(&address, password) {
            Ok(address) => Ok(Self::Server(Server { address: Box::new(address), shown })),
            Err(said) => Err(StoreError::NoAddress { shown, said }),
        }
    }
}

impl fmt::Display for StoreLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Server(server) => write!(f, "{}", server.shown),
        }
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Server({})", self.shown)
    }
}

/// Returns a word of a command line in which the password of a PostgreSQL address, if any, is
/// replaced.
pub fn without_password(word: &str) -> String {
    let Some((at, scheme)) = SCHEMES.iter().find_map(|s| Some((word.find(s)?, s))) else {
        return word.to_owned();
    };
    let (before, address) = word.split_at(at + scheme.len());
    // A password may itself contain `@` and `:`, so it extends to the last `@`.
    let (user, rest) = match address.rsplit_once('@') {
        Some((who, rest)) => match who.split_once(':') {
            Some((user, _)) => (format!("{user}:{HIDDEN}@"), rest),
            None => (format!("{who}@"), rest),
        },
        None => (String::new(), address),
    };
    let mut shown = format!("{before}{user}");
    let mut key = "password=";
    let mut rest = rest;
    while let Some((plain, secret)) = rest.split_once(key) {
        shown += plain;
        shown += key;
        shown += HIDDEN;
        rest = secret.find('&').map_or("", |end| &secret[end..]);
        key = "password=";
    }
    shown + rest
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail loudly")]
    use super::*;

    #[test]
    fn a_password_is_never_shown() {
        for (given, shown) in [
            ("postgres://ann:secret@db/runs", "postgres://ann:***@db/runs"),
            ("--store=postgresql://ann:se:cr@et/@db/runs", "--store=postgresql://ann:***@db/runs"),
            (
                "postgres://ann@db/runs?password=secret&x=1",
                "postgres://ann@db/runs?password=***&x=1",
            ),
            ("postgres:///runs?user=ann&password=secret", "postgres:///runs?user=ann&password=***"),
            ("postgres://db/runs", "postgres://db/runs"),
            ("history.db", "history.db"),
            ("a:b@c", "a:b@c"),
        ] {
            assert_eq!(without_password(given), shown);
            if let Ok(place @ StoreLocation::Server(_)) =
                StoreLocation::read(OsStr::new(given), Some("secret"))
            {
                let all = format!("{place} {place:?}");
                assert!(!all.contains("secret") && !all.contains("se:cr"), "{all}");
            }
        }
    }

    #[test]
    fn an_address_is_a_server_and_anything_else_a_file() {
        let read = |text: &str| StoreLocation::read(OsStr::new(text), None);
        let file = read("a/b.db").unwrap();
        assert!(matches!(&file, StoreLocation::File(path) if path.ends_with("b.db")), "{file}");
        let StoreLocation::Server(server) = read("postgres:///runs?host=/tmp/x").unwrap() else {
            unreachable!("it is an address")
        };
        assert_eq!(server.address.get_dbname(), Some("runs"));
        let wrong = read("postgres://ann:secret@db:port/runs").unwrap_err().to_string();
        assert!(wrong.contains("postgres://USER@HOST/DATABASE") && !wrong.contains("secret"));
    }
}
