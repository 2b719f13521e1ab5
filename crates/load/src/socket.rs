//! Non-blocking sockets. All system calls for a connection are made here.

use crate::failure::Failure;
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SocketAddrAny, SocketFlags, SocketType, connect, socket_with, sockopt,
};
use std::os::fd::OwnedFd;

/// Result of reading or writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Io {
    /// The number of bytes; 0 when reading means end of stream.
    Done(usize),
    /// The operation would block.
    Later,
    Failed(Failure),
}

/// Starts connecting; epoll reports when that is done.
///
/// # Errors
/// If connecting fails immediately.
pub(crate) fn open(address: &SocketAddrAny) -> Result<OwnedFd, Failure> {
    let family = address.address_family();
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket =
        socket_with(family, SocketType::STREAM, flags, None).map_err(Failure::of_socket)?;
    if family != AddressFamily::UNIX {
        // A request is one small write, so delaying it has no benefit (RFC 896).
        let _unset = sockopt::set_tcp_nodelay(&socket, true);
    }
    match connect(&socket, address) {
        Ok(()) | Err(Errno::INPROGRESS) => Ok(socket),
        // For a Unix socket: the server's queue is full.
        Err(Errno::AGAIN) if family == AddressFamily::UNIX => Err(Failure::Refused),
        Err(error) => Err(Failure::of_socket(error)),
    }
}

/// Returns the result of connecting, once epoll has reported that connecting is done.
pub(crate) fn connected(socket: &OwnedFd) -> Result<(), Failure> {
    match sockopt::socket_error(socket) {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) | Err(error) => Err(Failure::of_socket(error)),
    }
}

/// Closes immediately, without the TIME-WAIT state (RFC 9293) that keeps a local port in use:
/// thousands of connections per second would use up all ports within half a minute.
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
