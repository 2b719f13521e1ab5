//! The protocol between a client and a program that divides files into blocks. At startup the
//! program writes [`GREETING`]. A request has any number of texts, and its answer has as many
//! [`Blocks`] in the same order. The program answers requests until the input ends. This module
//! handles only bytes; it does not start or wait for anything.
//!
//! The program reads a whole request before it writes the answer, and the client writes a whole
//! request before it reads the answer, so neither side blocks the other.

use crate::coverage::blocks::{Block, Blocks};
use crate::coverage::language::Language;
use std::io::{self, Error, ErrorKind, Read, Write};

/// First message of the program: its name and protocol version.
pub const GREETING: [u8; 8] = *b"blocks 1";

/// Maximum length of a text or name in bytes, and maximum number of texts per request and of blocks
/// per file.
const MOST: u32 = 1 << 27;

/// Writes a request.
///
/// # Errors
///
/// Returns an error if the request can't be written or a text is too long.
pub fn write_request(out: &mut impl Write, texts: &[(Language, &[u8])]) -> io::Result<()> {
    write_number(out, texts.len())?;
    for (language, text) in texts {
        let number = Language::ALL.iter().position(|own| own == language).unwrap_or_default();
        out.write_all(&[number as u8])?;
        write_bytes(out, text)?;
    }
    out.flush()
}

/// The files of a request, each with its language.
pub type Texts = Vec<(Language, Vec<u8>)>;

/// Reads a request, or returns `None` at the end of the input.
///
/// # Errors
///
/// Returns an error if the request is malformed.
pub fn read_request(input: &mut impl Read) -> io::Result<Option<Texts>> {
    let mut first = [0; 4];
    match input.read(&mut first[..1]) {
        Ok(0) => return Ok(None),
        Ok(_) => input.read_exact(&mut first[1..])?,
        Err(error) if error.kind() == ErrorKind::Interrupted => input.read_exact(&mut first)?,
        Err(error) => return Err(error),
    }
    let one = |_| {
        let number = usize::from(read_byte(input)?);
        let language = Language::ALL.get(number).copied().ok_or_else(odd)?;
        Ok((language, read_bytes(input)?))
    };
    (0..checked(u32::from_le_bytes(first))?).map(one).collect::<io::Result<_>>().map(Some)
}

/// Writes the answer.
///
/// # Errors
///
/// If the answer can't be written.
pub fn write_answer(out: &mut impl Write, files: &[Blocks]) -> io::Result<()> {
    write_number(out, files.len())?;
    for file in files {
        out.write_all(&[u8::from(file.is_broken)])?;
        write_number(out, file.all.len())?;
        for block in &file.all {
            write_bytes(out, block.name.as_bytes())?;
            out.write_all(&block.begin.to_le_bytes())?;
            out.write_all(&block.end.to_le_bytes())?;
            out.write_all(&block.sum.to_le_bytes())?;
            out.write_all(&[u8::from(block.is_holder)])?;
        }
    }
    out.flush()
}

/// Reads the answer to a request that had `texts` texts.
///
/// # Errors
///
/// Returns an error if the answer is malformed or belongs to another request.
pub fn read_answer(input: &mut impl Read, texts: usize) -> io::Result<Vec<Blocks>> {
    if read_number(input)? as usize != texts {
        return Err(odd());
    }
    (0..texts).map(|_| read_blocks(input)).collect()
}

fn read_blocks(input: &mut impl Read) -> io::Result<Blocks> {
    let is_broken = read_flag(input)?;
    let count = read_number(input)?;
    let block = |_| {
        Ok(Block {
            name: String::from_utf8(read_bytes(input)?).map_err(|_| odd())?,
            begin: u32::from_le_bytes(read_array(input)?),
            end: u32::from_le_bytes(read_array(input)?),
            sum: u64::from_le_bytes(read_array(input)?),
            is_holder: read_flag(input)?,
        })
    };
    Ok(Blocks { is_broken, all: (0..count).map(block).collect::<io::Result<_>>()? })
}

fn odd() -> Error {
    Error::new(ErrorKind::InvalidData, "neither a request nor an answer about blocks")
}

fn checked(number: u32) -> io::Result<u32> {
    if number > MOST { Err(odd()) } else { Ok(number) }
}

fn write_number(out: &mut impl Write, number: usize) -> io::Result<()> {
    let number = u32::try_from(number).map_err(|_| odd())?;
    out.write_all(&checked(number)?.to_le_bytes())
}

fn write_bytes(out: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    write_number(out, bytes.len())?;
    out.write_all(bytes)
}

fn read_array<const N: usize>(input: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    input.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn read_number(input: &mut impl Read) -> io::Result<u32> {
    checked(u32::from_le_bytes(read_array(input)?))
}

fn read_byte(input: &mut impl Read) -> io::Result<u8> {
    read_array(input).map(|[byte]| byte)
}

fn read_flag(input: &mut impl Read) -> io::Result<bool> {
    match read_byte(input)? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(odd()),
    }
}

/// Reads bytes without trusting the announced length, so memory grows only with the data received.
fn read_bytes(input: &mut impl Read) -> io::Result<Vec<u8>> {
    let count = read_number(input)?;
    let mut bytes = Vec::new();
    input.take(u64::from(count)).read_to_end(&mut bytes)?;
    if bytes.len() == count as usize { Ok(bytes) } else { Err(ErrorKind::UnexpectedEof.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer() -> Vec<Blocks> {
        let block = |name: &str, sum| Block {
            name: name.to_owned(),
            begin: 1,
            end: 70_000,
            sum,
            is_holder: sum == 3,
        };
        let all = vec![block("", 3), block("User.naïve", u64::MAX)];
        vec![Blocks { all, is_broken: false }, Blocks::broken(b"def\n")]
    }

    #[test]
    fn what_is_written_is_read() {
        let texts: [(Language, &[u8]); 3] =
            [(Language::Ruby, b"x = 1\n"), (Language::Java, b""), (Language::Go, &[0xff; 70_000])];
        let mut bytes = Vec::new();
        write_request(&mut bytes, &texts).unwrap();
        write_request(&mut bytes, &[]).unwrap();
        let mut input = &bytes[..];
        let request = read_request(&mut input).unwrap().unwrap();
        let request: Vec<_> = request.iter().map(|(own, text)| (*own, &text[..])).collect();
        assert_eq!(request, texts);
        assert_eq!(read_request(&mut input).unwrap(), Some(Vec::new()));
        assert_eq!(read_request(&mut input).unwrap(), None);
        let mut bytes = Vec::new();
        write_answer(&mut bytes, &answer()).unwrap();
        assert_eq!(read_answer(&mut &bytes[..], 2).unwrap(), answer());
    }

    #[test]
    fn what_is_cut_off_or_something_else_is_an_error() {
        let mut bytes = Vec::new();
        write_answer(&mut bytes, &answer()).unwrap();
        for end in 0..bytes.len() {
            assert!(read_answer(&mut &bytes[..end], 2).is_err(), "{end}");
        }
        assert!(read_answer(&mut &bytes[..], 1).is_err());
        assert!(read_answer(&mut &[0xff; 64][..], 0xffff_ffff).is_err());
        bytes[4] = 7;
        assert!(read_answer(&mut &bytes[..], 2).is_err());
        let mut bytes = Vec::new();
        write_request(&mut bytes, &[(Language::Ruby, b"x = 1\n")]).unwrap();
        for end in 1..bytes.len() {
            assert!(read_request(&mut &bytes[..end]).is_err(), "{end}");
        }
        bytes[4] = 200;
        assert!(read_request(&mut &bytes[..]).is_err());
    }
}
