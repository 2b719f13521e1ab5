//! The requirements of a server: a directory, disk space, a store of a known version, a port.

use super::agents::room_in;
use super::{Check, State};
use assay_data::system_error::reason;
use assay_farm::builds::Store;
use assay_history::StoreLocation;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;

/// Recommended free space on the disk of a server's data, bytes: logs and samples may arrive at any
/// time.
const FREE: u64 = 1 << 30;

/// Checks the data directory: whether it exists and is private, and how much disk space it has.
pub(crate) fn data(directory: &Path) -> Vec<Check> {
    use std::os::unix::fs::MetadataExt;
    let name = directory.display();
    let found = match directory.metadata() {
        Err(error) => {
            Check::note("data", format!("{name}: {}; the server will create it", reason(&error)))
        }
        Ok(found) if !found.is_dir() => Check::lacks("data", format!("{name} is not a directory")),
        Ok(found) if found.mode() & 0o077 != 0 => {
            Check::note("data", format!("{name} can be read by others: chmod 700 {name}"))
        }
        Ok(_) => Check::fine("data", name.to_string()),
    };
    vec![found, room_in(directory, FREE)]
}

/// Checks whether the store can be opened, and whether its version is known to this program.
pub(crate) fn store(directory: &Path, store: Option<&StoreLocation>) -> Check {
    let file = StoreLocation::File(directory.join("farm.sqlite"));
    let place = store.unwrap_or(&file);
    let nothing = || {
        Check::note(
            "store",
            format!("{place}: does not exist yet; `assay farm upgrade` creates it"),
        )
    };
    let found = match Store::look_at(place) {
        Ok(None) => return nothing(),
        Ok(Some(store)) => store,
        Err(error) => return Check::lacks("store", error.to_string()),
    };
    match (found.version(), found.is_current()) {
        (Ok(version), Ok(true)) => Check::fine("store", format!("{place}, version {version}")),
        (Ok(0), _) => nothing(),
        (Ok(version), Ok(false)) => {
            let known = Store::VERSION;
            Check::note(
                "store",
                format!(
                    "{place}: version {version}, current is {known}: `assay farm upgrade` upgrades it"
                ),
            )
        }
        (Err(error), _) | (_, Err(error)) => Check::lacks("store", error.to_string()),
    }
}

/// Checks whether a server could listen on the address.
pub(crate) fn port(address: SocketAddr) -> Check {
    match TcpListener::bind(address) {
        Ok(_) if address.ip().is_loopback() => {
            Check::fine("port", format!("{address} is free; only this machine can connect"))
        }
        Ok(_) => Check::note(
            "port",
            format!(
                "{address} is free; other machines can connect: give the server a certificate, or put it behind a proxy"
            ),
        ),
        Err(error) => Check {
            what: "port",
            state: State::Lacks,
            said: format!("{address}: {} (ss -ltnp shows who listens)", reason(&error)),
        },
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;

    #[test]
    fn a_port_that_is_taken_is_missing() {
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        assert_eq!(port(taken.local_addr().unwrap()).state, State::Lacks);
        assert_eq!(port("127.0.0.1:0".parse().unwrap()).state, State::Fine);
    }

    #[test]
    fn a_store_that_is_none_is_missing_and_one_that_is_not_there_is_made() {
        let room = tempfile::tempdir().unwrap();
        assert_eq!(store(room.path(), None).state, State::Note);
        std::fs::write(
            room.path().join("farm.sqlite"),
            "this is no store, and long enough to be sure of that",
        )
        .unwrap();
        assert_eq!(store(room.path(), None).state, State::Lacks);
    }
}
