//! Blocking client of a farm's API, for agents, executors and commands.
//!
//! Requests that are safe to repeat are repeated after a failure. A random pause precedes each
//! attempt, so that a hundred agents do not return at the same time. Other requests, such as
//! leasing a job, are never repeated. Additions are idempotent, so callers need not check first.
//! The cache is in `memory`.

mod calls;
mod error;
mod looks;
mod memory;
mod resolving;
mod token;

pub use calls::{BuildFilter, LeaseAnswer};
pub use error::{ClientError, Code};
pub use looks::ServerInfo;
pub use token::Token;

use crate::builds::wire::Refusal;
use memory::Memory;
use resolving::ThreadResolver;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;
use ureq::http::{Method, Request, Response};
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::unversioned::transport::DefaultConnector;
use ureq::{Agent, Body};

/// Version of the API that this client uses.
const VERSION: &str = "1";
/// Pauses before each repetition of a request, in ms.
const PAUSES: [u64; 3] = [250, 1000, 4000];
/// Maximum pause before a request is repeated, even if the server requests a longer one.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// Time limit for a request and its answer together.
const PATIENCE: Duration = Duration::from_secs(60);
/// Time limit for connecting.
const CONNECTING: Duration = Duration::from_secs(10);
/// Maximum size of an answer, in bytes.
const LONGEST_ANSWER: u64 = 256 << 20;

/// A client of one server. It uses at most one token.
#[derive(Debug)]
pub struct Client {
    agent: Agent,
    /// Address of the server, without a trailing slash.
    base: String,
    token: Option<Token>,
    memory: Mutex<Memory>,
    /// True if requests that are safe to repeat are repeated after a failure.
    repeats: bool,
}

struct ClientRequest<'a> {
    method: Method,
    /// Path below `/api/v1`, with its query.
    path: &'a str,
    body: Option<(&'static str, &'a [u8])>,
    /// True if the request is safe to repeat.
    repeats: bool,
}

impl Client {
    /// Creates a client for the server at this address.
    ///
    /// # Errors
    /// If the address is invalid.
    pub fn new(url: &str, token: Option<Token>) -> Result<Self, ClientError> {
        let base = url.trim_end_matches('/').to_owned();
        let refused = |why: &str| ClientError::Address { url: url.to_owned(), why: why.to_owned() };
        let parsed: ureq::http::Uri = base.parse().map_err(|_| refused("not a valid address"))?;
        let is_http = matches!(parsed.scheme_str(), Some("http" | "https"));
        if !is_http || parsed.host().is_none() || parsed.query().is_some() {
            return Err(refused("not the address of a server"));
        }
        if parsed.authority().is_some_and(|own| own.as_str().contains('@')) {
            return Err(refused("an address must not contain a password"));
        }
        let (memory, repeats) = (Mutex::default(), true);
        Ok(Self { agent: agent(PATIENCE, 0), base, token, memory, repeats })
    }

    /// Returns the client with repetition of requests disabled, for callers that must not be
    /// delayed by pauses.
    #[must_use]
    pub fn once(mut self) -> Self {
        self.repeats = false;
        self
    }

    /// Returns the server's address.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.base
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn away(&self, asked: &ClientRequest<'_>, why: String) -> ClientError {
        ClientError::Away { server: self.base.clone(), asked: endpoint(asked), why }
    }

    /// Sends a request. After a failure it is repeated with pauses, if it is safe to repeat.
    fn ask(&self, asked: &ClientRequest<'_>) -> Result<Response<Body>, ClientError> {
        let mut pauses = PAUSES.iter();
        loop {
            let answer = self.ask_once(asked);
            let (is_late, said) = match &answer {
                Ok(answer) => {
                    let status = answer.status().as_u16();
                    (matches!(status, 429 | 502..=504), retry_after(answer))
                }
                Err(error) => (error.is_away(), None),
            };
            let pause = match (is_late, asked.repeats && self.repeats, pauses.next()) {
                (true, true, Some(pause)) => jittered(Duration::from_millis(*pause)),
                _ => return answer,
            };
            thread::sleep(said.map_or(pause, |said| said.max(pause)).min(LONGEST_PAUSE));
        }
    }

    fn ask_once(&self, asked: &ClientRequest<'_>) -> Result<Response<Body>, ClientError> {
        let path = asked.path;
        let failed = |why: String| self.away(asked, why);
        let odd = |why: String| ClientError::NotUnderstood { asked: endpoint(asked), why };
        let uri = format!("{}/api/v1{path}", self.base);
        let mut request = Request::builder().method(&asked.method).uri(&uri);
        request = request.header("assay-api", VERSION).header("accept", "application/json");
        if let Some(token) = &self.token {
            request = request.header("authorization", token.header());
        }
        if asked.method == Method::GET
            && let Some(known) = self.memory().answer(path)
        {
            request = request.header("if-none-match", &known.tag);
        }
        let ran = match asked.body {
            Some((kind, bytes)) => {
                let request = request.header("content-type", kind).body(bytes);
                self.agent.run(request.map_err(|error| odd(error.to_string()))?)
            }
            None => {
                let request = request.body(());
                self.agent.run(request.map_err(|error| odd(error.to_string()))?)
            }
        };
        ran.map_err(|error| failed(error.to_string()))
    }

    /// Sends a request and returns the answer if it reports success.
    ///
    /// # Errors
    /// If the server cannot be reached or refuses the request, or the answer is not that of a farm.
    fn answered(&self, asked: &ClientRequest<'_>) -> Result<Response<Body>, ClientError> {
        let mut answer = self.ask(asked)?;
        let status = answer.status();
        let odd = |why: String| ClientError::NotUnderstood { asked: endpoint(asked), why };
        let version = answer.headers().get("assay-api").and_then(|own| own.to_str().ok());
        let version = version.map(str::to_owned);
        if status.is_success() || status.as_u16() == 304 {
            return match version.as_deref() {
                Some(VERSION) => Ok(answer),
                Some(other) => Err(odd(format!("it has version {other}"))),
                None => Err(odd("it has no `Assay-Api`".to_owned())),
            };
        }
        let status = status.as_u16();
        let text = answer.body_mut().with_config().limit(1 << 16).read_to_vec().unwrap_or_default();
        match serde_json::from_slice::<Refusal>(&text) {
            Ok(Refusal { error }) => Err(ClientError::Refused {
                asked: endpoint(asked),
                status,
                code: Code::of(&error.code),
                message: plain(&error.message),
            }),
            // The answer is from a proxy, which reports that the server is unavailable.
            Err(_) if matches!(status, 429 | 502..=504) => {
                Err(self.away(asked, format!("status {status}")))
            }
            Err(_) => Err(odd(format!("status {status}"))),
        }
    }

    fn read<T: DeserializeOwned>(
        &self,
        asked: &ClientRequest<'_>,
        answer: &mut Response<Body>,
    ) -> Result<T, ClientError> {
        let body = self.bytes(asked, answer)?;
        parsed(asked, &body)
    }

    fn bytes(
        &self,
        asked: &ClientRequest<'_>,
        answer: &mut Response<Body>,
    ) -> Result<Vec<u8>, ClientError> {
        let body = answer.body_mut().with_config().limit(LONGEST_ANSWER).read_to_vec();
        body.map_err(|error| self.away(asked, error.to_string()))
    }

    /// Returns the resource at a path. If the server reports that it is unchanged, the cached one
    /// is returned.
    fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, ClientError> {
        let asked = ClientRequest { method: Method::GET, path, body: None, repeats: true };
        let mut answer = self.answered(&asked)?;
        if answer.status().as_u16() == 304 {
            let known = self.memory().answer(path).map(|known| known.body.clone());
            return parsed(&asked, &known.unwrap_or_default());
        }
        let tag = answer.headers().get("etag").and_then(|tag| tag.to_str().ok()).map(str::to_owned);
        let body = self.bytes(&asked, &mut answer)?;
        let read = parsed(&asked, &body)?;
        if let Some(tag) = tag {
            self.memory().keep(path, tag, &body);
        }
        Ok(read)
    }

    /// Sends a value as JSON, and parses the answer.
    fn give<T: DeserializeOwned>(
        &self,
        (method, path): (Method, &str),
        body: &impl Serialize,
        repeats: bool,
    ) -> Result<T, ClientError> {
        let text = text_of((&method, path), body)?;
        let asked =
            ClientRequest { method, path, body: Some(("application/json", &text)), repeats };
        let mut answer = self.answered(&asked)?;
        self.read(&asked, &mut answer)
    }

    /// Sends a request, and ignores the body of the answer.
    fn hand(
        &self,
        (method, path): (Method, &str),
        body: Option<(&'static str, &[u8])>,
    ) -> Result<(), ClientError> {
        self.answered(&ClientRequest { method, path, body, repeats: true }).map(drop)
    }
}

/// Serializes a value as JSON.
fn text_of((method, path): (&Method, &str), body: &impl Serialize) -> Result<Vec<u8>, ClientError> {
    serde_json::to_vec(body).map_err(|error| ClientError::NotUnderstood {
        asked: format!("{method} {path}"),
        why: error.to_string(),
    })
}

fn parsed<T: DeserializeOwned>(asked: &ClientRequest<'_>, body: &[u8]) -> Result<T, ClientError> {
    serde_json::from_slice(body).map_err(|error| ClientError::NotUnderstood {
        asked: endpoint(asked),
        why: error.to_string(),
    })
}

/// Returns the method and path of a request. The query is omitted, because it may contain a nonce.
fn endpoint(asked: &ClientRequest<'_>) -> String {
    let path = asked.path.split('?').next().unwrap_or_default();
    format!("{} /api/v1{path}", asked.method)
}

/// Converts a message of the server to one line that is safe to print on a terminal.
fn plain(text: &str) -> String {
    crate::plain::line(text)
}

fn retry_after(answer: &Response<Body>) -> Option<Duration> {
    let said = answer.headers().get("retry-after")?.to_str().ok()?;
    said.trim().parse().ok().map(Duration::from_secs)
}

/// Returns a random duration between 0.5 and 1.5 times `time`. It is derived from the clock, which
/// is random enough to spread requests.
#[must_use]
pub fn jittered(time: Duration) -> Duration {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let drawn = f64::from(now.map(|now| now.subsec_nanos()).unwrap_or_default() % 1_000_003);
    time.mul_f64(0.5 + drawn / 1_000_003.0)
}

/// Creates an HTTP client with a time limit for each request and a maximum number of redirects. It
/// trusts the certificates that the system trusts.
#[must_use]
pub fn agent(patience: Duration, redirects: u32) -> Agent {
    let found = rustls_native_certs::load_native_certs();
    let trusted: Vec<Certificate<'static>> =
        found.certs.iter().map(|own| Certificate::from_der(own.as_ref()).to_owned()).collect();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = TlsConfig::builder()
        .root_certs(RootCerts::new_with_certs(&trusted))
        .unversioned_rustls_crypto_provider(provider);
    let config = Agent::config_builder()
        .timeout_global(Some(patience))
        .timeout_connect(Some(CONNECTING))
        .http_status_as_error(false)
        .max_redirects(redirects)
        .max_redirects_will_error(redirects > 0)
        .user_agent(concat!("assay-farm/", env!("CARGO_PKG_VERSION")))
        .tls_config(tls.build());
    Agent::with_parts(config.build(), DefaultConnector::default(), ThreadResolver::default())
}

/// Encodes a word as one component of a path: all bytes except ASCII letters, digits, `-`, `_`, `.`
/// and `~` are percent-encoded.
#[must_use]
pub fn part(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    for byte in word.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(byte));
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    // `.` and `..` as path components would mean the current and the parent directory.
    if out.bytes().all(|byte| byte == b'.') { out.replace('.', "%2E") } else { out }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_within_their_part_of_a_path() {
        assert_eq!(part("a b/../c?x=1&y#é"), "a%20b%2F..%2Fc%3Fx%3D1%26y%23%C3%A9");
        assert_eq!((part(".."), part("1.2.3")), ("%2E%2E".to_owned(), "1.2.3".to_owned()));
    }

    #[test]
    fn addresses_are_those_of_servers() {
        for (url, is_one) in [
            ("http://127.0.0.1:8080/", true),
            ("https://farm.example/below", true),
            ("farm.example", false),
            ("ftp://farm.example", false),
            ("http://me:secret@farm.example", false),
        ] {
            let made = Client::new(url, None);
            assert_eq!(made.is_ok(), is_one, "{url}");
        }
    }

    #[test]
    fn a_pause_is_about_as_long_as_it_is() {
        let pause = jittered(Duration::from_secs(2));
        assert!((1.0..=3.0).contains(&pause.as_secs_f64()), "{pause:?}");
    }
}
