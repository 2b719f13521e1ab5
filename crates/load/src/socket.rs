//! Sockets that never block. Everything that the kernel is asked for a connection is asked here.

use crate::failure::Failure;
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SocketAddrAny, SocketFlags, SocketType, connect, socket_with, sockopt,
};
use std::os::fd::OwnedFd;

/// What became of reading or writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Io {
    /// So many bytes; of reading, 0 is the end.
    Done(usize),
    /// Not now.
    Later,
    Failed(Failure),
}

/// Begins to connect. Whether that is done, epoll says.
///
/// # Errors
/// When the kernel refuses at once.
pub(crate) fn open(address: &SocketAddrAny) -> Result<OwnedFd, Failure> {
    let family = address.address_family();
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket =
        socket_with(family, SocketType::STREAM, flags, None).map_err(Failure::of_socket)?;
    if family != AddressFamily::UNIX {
        // A request is one small piece: nothing is gained by waiting for more (RFC 896).
        let _unset = sockopt::set_tcp_nodelay(&socket, true);
    }
    match connect(&socket, address) {
        Ok(()) | Err(Errno::INPROGRESS) => Ok(socket),
        // Of a Unix socket: its queue is full, which is the server's doing.
        Err(Errno::AGAIN) if family == AddressFamily::UNIX => Err(Failure::Refused),
        Err(error) => Err(Failure::of_socket(error)),
    }
}

/// What connecting came to, once epoll says that it is over.
pub(crate) fn connected(socket: &OwnedFd) -> Result<(), Failure> {
    match sockopt::socket_error(socket) {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) | Err(error) => Err(Failure::of_socket(error)),
    }
}

/// Closes at once, without the wait that keeps a local port busy after a connection (RFC 9293, TIME-WAIT): thousands of connections a
/// second would use up all ports within half a minute.
pub(crate) fn close_at_once(socket: OwnedFd) {
    let _unset = sockopt::set_socket_linger(&socket, Some(std::time::Duration::ZERO));
    drop(socket);
}

pub(crate) fn read(socket: &OwnedFd, into: &mut [u8]) -> Io {
    of(rustix::io::read(socket, into))
}

pub(crate) fn write(socket: &OwnedFd, bytes: &[u8]) -> Io {
    of(rustix::net::send(socket, bytes, rustix::net::SendFlags::NOSIGNAL))
}

fn of(result: rustix::io::Result<usize>) -> Io {
    match result {
        Ok(bytes) => Io::Done(bytes),
        Err(Errno::AGAIN | Errno::INTR) => Io::Later,
        Err(error) => Io::Failed(Failure::of_socket(error)),
    }
}
