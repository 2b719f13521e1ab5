//! HTTP/2 at the level of frames, for servers that send data that no real server would send on
//! request.

use std::io::{Read, Write};
use std::net::TcpStream;

const PREFACE: usize = 24;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const RST_STREAM: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const GOAWAY: u8 = 7;
/// `:status: 200`, by its index in the static table (RFC 7541, A).
pub(crate) const OK: [u8; 1] = [0x88];

pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// Accepts a connection with these settings and calls `answer` with the stream of each request; the
/// connection ends when it returns `None`.
pub(crate) fn serve(
    mut stream: TcpStream,
    settings: &[u8],
    mut answer: impl FnMut(&mut TcpStream, u32) -> Option<()>,
) -> Option<()> {
    stream.read_exact(&mut [0; PREFACE]).ok()?;
    stream.write_all(&frame(SETTINGS, 0, 0, settings)).ok()?;
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head).ok()?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        stream.read_exact(&mut vec![0; length as usize]).ok()?;
        let id = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        match (head[3], head[4]) {
            (SETTINGS, 0) => stream.write_all(&frame(SETTINGS, 1, 0, &[])).ok()?,
            (HEADERS, _) => answer(&mut stream, id)?,
            _ => {}
        }
    }
}
