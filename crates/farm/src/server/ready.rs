//! Notifies systemd that the server is ready. systemd requests this by naming a socket in the
//! environment (`sd_notify`).

use std::ffi::OsStr;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// Environment variable that names the socket.
const SOCKET: &str = "NOTIFY_SOCKET";

/// Sends the notification if it was requested. A failure is ignored, since it means that nothing is
/// listening.
pub(super) fn tell() {
    if let Some(socket) = std::env::var_os(SOCKET) {
        let _nobody_listens = tell_at(&socket);
    }
}

fn tell_at(socket: &OsStr) -> std::io::Result<()> {
    let place = match socket.as_bytes().strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name)?,
        None => SocketAddr::from_pathname(socket)?,
    };
    UnixDatagram::unbound()?.send_to_addr(b"READY=1\n", &place).map(drop)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;

    #[test]
    fn who_waits_is_told_by_either_kind_of_name() {
        let room = tempfile::tempdir().unwrap();
        let path = room.path().join("socket");
        let named = UnixDatagram::bind(&path).unwrap();
        let name = format!("assay-farm-test-{}", std::process::id());
        let place = SocketAddr::from_abstract_name(&name).unwrap();
        let without = UnixDatagram::bind_addr(&place).unwrap();
        for (socket, listens) in
            [(path.into_os_string(), named), (format!("@{name}").into(), without)]
        {
            tell_at(&socket).unwrap();
            let mut told = [0; 32];
            let read = listens.recv(&mut told).unwrap();
            assert_eq!(&told[..read], b"READY=1\n");
        }
        assert!(tell_at(OsStr::new("/nobody/listens/there")).is_err());
    }
}
