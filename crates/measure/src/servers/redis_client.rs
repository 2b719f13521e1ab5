//! A minimal Redis client that supports only what changing settings requires.
//!
//! In Redis' protocol, RESP, a request is an array of strings. The reply is a line, a number, a
//! string preceded by its length, or an array of these.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

/// Time limit for each read and write.
const PATIENCE: Duration = Duration::from_secs(10);

/// Maximum length of a valid reply, in bytes.
const LONGEST: usize = 1 << 20;

/// Address of a Redis server.
#[derive(Clone, Debug)]
pub(super) enum RedisAddress {
    Socket(PathBuf),
    Port(String, u16),
}

/// A reply from Redis.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Text(String),
    Nothing,
    Several(Vec<Answer>),
}

trait Stream: Read + Write {}
impl<T: Read + Write> Stream for T {}

/// A connection to a Redis server.
pub(super) struct Client {
    stream: BufReader<Box<dyn Stream>>,
}

impl Client {
    /// Connects, and logs in with a password, or a user and a password, if given.
    pub(super) fn connect(place: &RedisAddress, login: &[String]) -> io::Result<Self> {
        let stream: Box<dyn Stream> = match place {
            RedisAddress::Socket(path) => {
                let stream = UnixStream::connect(path)?;
                stream.set_read_timeout(Some(PATIENCE))?;
                stream.set_write_timeout(Some(PATIENCE))?;
                Box::new(stream)
            }
            RedisAddress::Port(host, port) => {
                let stream = TcpStream::connect((host.as_str(), *port))?;
                stream.set_read_timeout(Some(PATIENCE))?;
                stream.set_write_timeout(Some(PATIENCE))?;
                Box::new(stream)
            }
        };
        let mut client = Self { stream: BufReader::new(stream) };
        if !login.is_empty() {
            let words: Vec<&str> =
                ["AUTH"].into_iter().chain(login.iter().map(String::as_str)).collect();
            client.ask(&words)?;
        }
        Ok(client)
    }

    /// Sends a request and returns the reply. If the server refuses the request, returns an error
    /// with its message.
    pub(super) fn ask(&mut self, words: &[&str]) -> io::Result<Answer> {
        let mut text = format!("*{}\r\n", words.len());
        for word in words {
            text += &format!("${}\r\n{word}\r\n", word.len());
        }
        self.stream.get_mut().write_all(text.as_bytes())?;
        self.answer(0)
    }

    fn answer(&mut self, depth: usize) -> io::Result<Answer> {
        let line = self.line()?;
        let odd = || io::Error::other(format!("it answers `{line}`: is it a Redis?"));
        let (kind, rest) = (line.chars().next().ok_or_else(odd)?, line.get(1..).unwrap_or(""));
        let length = || match rest.parse::<i64>() {
            Ok(-1) => Ok(None),
            Ok(length) => match usize::try_from(length) {
                Ok(length) if length <= LONGEST => Ok(Some(length)),
                _ => Err(odd()),
            },
            Err(_) => Err(odd()),
        };
        match kind {
            '+' | ':' => Ok(Answer::Text(rest.to_owned())),
            '-' => Err(io::Error::other(rest.to_owned())),
            '$' => match length()? {
                None => Ok(Answer::Nothing),
                Some(length) => {
                    let mut bytes = vec![0; length + 2];
                    self.stream.read_exact(&mut bytes)?;
                    bytes.truncate(length);
                    Ok(Answer::Text(String::from_utf8_lossy(&bytes).into_owned()))
                }
            },
            '*' if depth < 4 => match length()? {
                None => Ok(Answer::Nothing),
                Some(length) => (0..length)
                    .map(|_| self.answer(depth + 1))
                    .collect::<Result<_, _>>()
                    .map(Answer::Several),
            },
            _ => Err(odd()),
        }
    }

    fn line(&mut self) -> io::Result<String> {
        let mut bytes = Vec::new();
        (&mut self.stream).take(LONGEST as u64).read_until(b'\n', &mut bytes)?;
        let text = String::from_utf8_lossy(&bytes);
        if !text.ends_with('\n') {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the connection was closed"));
        }
        Ok(text.trim_end().to_owned())
    }
}
