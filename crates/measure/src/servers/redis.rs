//! A separate Redis server, and the part of its protocol that settings require.
//!
//! RESP: a request is an array of strings; the reply is a line, a number, a string of given length
//! or an array of those.

use super::settings::Settings;
use super::{
    Kind, Reach, ServersError, Start, Started, await_ready, free_port, on_path, password,
    private_file,
};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

/// Time limit for a reply.
const PATIENCE: Duration = Duration::from_secs(10);
/// Maximum length of a valid reply, bytes.
const LONGEST: usize = 1 << 20;

pub(super) fn start(asked: &Start<'_>) -> Result<Started, ServersError> {
    let label = Kind::Redis.label();
    let missing = ServersError::NotInstalled { kind: label, package: "redis-server" };
    let program = on_path("redis-server").ok_or(missing)?;
    let no_place = |source| {
        let place = asked.directory.to_owned();
        ServersError::NoPlace { kind: label, place, source }
    };
    let reached = match asked.reach {
        Reach::Socket => None,
        Reach::Loopback => Some((free_port().map_err(no_place)?, password().map_err(no_place)?)),
    };
    let directory = asked.directory.display();
    let socket = asked.directory.join("redis.sock");
    // In a file, since everybody can read the arguments of a program.
    let mut text = format!(
        "daemonize no\nunixsocket \"{}\"\nunixsocketperm 700\ndir \"{directory}\"\nlogfile \"\"\n",
        socket.display()
    );
    match &reached {
        None => text += "port 0\n",
        Some((port, password)) => {
            text += &format!("bind 127.0.0.1\nport {port}\nrequirepass {password}\n");
        }
    }
    let file = asked.directory.join("redis.conf");
    private_file(&file, &text, asked.user).map_err(no_place)?;
    let argv = vec![program.into_os_string(), file.into_os_string()];
    let server = asked.server(Kind::Redis, argv)?;
    let url = match &reached {
        None => format!("unix://{}", socket.display()),
        Some((port, password)) => format!("redis://:{password}@127.0.0.1:{port}/0"),
    };
    let place = Place::Socket(socket);
    let login = reached.map(|(_, password)| vec![password]).unwrap_or_default();
    let is_ready = || Client::connect(&place, &login).and_then(|mut c| c.ask(&["PING"])).is_ok();
    await_ready(Kind::Redis, &server, is_ready)?;
    let settings = Settings::of_redis(place, login);
    Ok(Started { server, variables: vec![("REDIS_URL".to_owned(), url)], settings })
}

/// Address of a Redis.
#[derive(Clone, Debug)]
pub(super) enum Place {
    Socket(PathBuf),
    Port(String, u16),
}

/// A reply of Redis.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Text(String),
    Nothing,
    Several(Vec<Answer>),
}

trait Stream: Read + Write {}
impl<T: Read + Write> Stream for T {}

/// A connection.
pub(super) struct Client {
    stream: BufReader<Box<dyn Stream>>,
}

impl Client {
    /// Connects, and logs in with a password, or a user and a password, if given.
    pub(super) fn connect(place: &Place, login: &[String]) -> io::Result<Self> {
        let stream: Box<dyn Stream> = match place {
            Place::Socket(path) => {
                let stream = UnixStream::connect(path)?;
                stream.set_read_timeout(Some(PATIENCE))?;
                stream.set_write_timeout(Some(PATIENCE))?;
                Box::new(stream)
            }
            Place::Port(host, port) => {
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

    /// Sends a request; a refusal is an error with Redis' message.
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
