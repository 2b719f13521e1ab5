//! Targets of requests: parsing and resolving URLs and Unix sockets. Secrets in a URL are never
//! included in messages.

use rustix::net::SocketAddrAny;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::path::PathBuf;

/// A server and the resource requested from it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// True for HTTPS.
    pub tls: bool,
    /// The host as given, without brackets.
    pub host: String,
    /// Port.
    pub port: u16,
    /// Path and query, with the leading slash.
    pub path: String,
    /// The Unix socket on which the server listens, instead of host and port.
    pub socket: Option<PathBuf>,
    /// `user:password` of the URL.
    user: Option<String>,
}

/// Reasons why a target is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// The URL cannot be parsed.
    #[error(
        "`{0}` is not a valid URL: write http://host:port/path, https://…, or unix:/path/to/socket:/path"
    )]
    NotAUrl(String),
    /// The URL contains a space.
    #[error("`{0}`: a URL has no blanks: write %20")]
    Blank(String),
    /// The scheme is not supported.
    #[error("`{0}`: only http and https are supported")]
    Scheme(String),
    /// The host name cannot be resolved.
    #[error("{host}: its address cannot be resolved: {why}")]
    Unknown {
        /// The host.
        host: String,
        /// The system's error.
        why: String,
    },
}

impl Target {
    /// Parses a URL: `http://host:port/path`, `https://…`, a host and path without a scheme, or
    /// `unix:/path/to/socket:/path`.
    ///
    /// # Errors
    /// If the text is not a valid URL.
    pub fn parse(text: &str) -> Result<Self, TargetError> {
        let not_a_url = || TargetError::NotAUrl(without_user(text));
        if let Some(rest) = text.strip_prefix("unix:") {
            let (socket, path) = rest.split_once(":/").unwrap_or((rest, ""));
            if socket.is_empty() {
                return Err(not_a_url());
            }
            return Ok(Self {
                tls: false,
                host: "localhost".to_owned(),
                port: 0,
                path: format!("/{path}"),
                socket: Some(PathBuf::from(socket)),
                user: None,
            });
        }
        if text.contains(' ') && !text.trim().is_empty() {
            return Err(TargetError::Blank(without_user(text)));
        }
        let with_scheme = match text.contains("://") {
            true => text.to_owned(),
            false => format!("http://{text}"),
        };
        let without_fragment = encoded(with_scheme.split('#').next().unwrap_or_default());
        let uri: http::Uri = without_fragment.parse().map_err(|_| not_a_url())?;
        let tls = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(TargetError::Scheme(without_user(text))),
        };
        let authority = uri.authority().ok_or_else(not_a_url)?;
        let user = authority.as_str().rsplit_once('@').map(|(user, _)| user.to_owned());
        let host = uri.host().ok_or_else(not_a_url)?;
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        let own = authority.as_str().rsplit('@').next().unwrap_or_default();
        let names_a_port = own.rsplit(']').next().is_some_and(|rest| rest.contains(':'));
        // The system would take a number for an address: 100 for 0.0.0.100.
        let is_number = host.bytes().all(|byte| byte.is_ascii_digit());
        if host.is_empty() || is_number || names_a_port && authority.port_u16().is_none() {
            return Err(not_a_url());
        }
        let port = authority.port_u16().unwrap_or(if tls { 443 } else { 80 });
        Ok(Self { tls, host, port, path, socket: None, user })
    }

    /// Resolves a path or URL relative to this target (RFC 3986, 5.2). `None` if it is on another
    /// server. A fragment is removed, and characters that are not allowed in a request are encoded.
    pub fn at(&self, place: &str) -> Option<Self> {
        let place = place.split('#').next().unwrap_or_default();
        let scheme = if self.tls { "https:" } else { "http:" };
        let whole = match place.split_once("://") {
            Some((scheme, _)) if scheme.bytes().all(|b| b.is_ascii_alphanumeric()) => {
                Some(encoded(place))
            }
            _ => place.starts_with("//").then(|| format!("{scheme}{}", encoded(place))),
        };
        if let Some(whole) = whole {
            let other = Self::parse(&whole).ok()?;
            let same = self.socket.is_some()
                || (other.tls, other.host.to_ascii_lowercase(), other.port)
                    == (self.tls, self.host.to_ascii_lowercase(), self.port);
            return same.then(|| Self { path: other.path, ..self.clone() });
        }
        let own = self.path.split('?').next().unwrap_or_default();
        let path = match place.as_bytes().first() {
            None => self.path.clone(),
            Some(b'/') => place.to_owned(),
            Some(b'?') => format!("{own}{place}"),
            Some(_) => {
                let (steps, query) = match place.split_once('?') {
                    Some((steps, query)) => (steps, format!("?{query}")),
                    None => (place, String::new()),
                };
                let folder = own.rsplit_once('/').map_or("", |(folder, _)| folder);
                format!("{}{query}", without_dots(&format!("{folder}/{steps}")))
            }
        };
        Some(Self { path: encoded(&path), ..self.clone() })
    }

    /// Returns the same server with exactly this path.
    #[must_use]
    pub fn with_path(&self, path: &str) -> Self {
        Self { path: path.to_owned(), ..self.clone() }
    }

    /// Returns the value of the `Host` field.
    pub fn authority(&self) -> String {
        let host =
            if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        let usual = if self.tls { 443 } else { 80 };
        if self.port == usual || self.socket.is_some() {
            host
        } else {
            format!("{host}:{}", self.port)
        }
    }

    /// Returns the value of the `Authorization` field for the user and password of the URL (RFC
    /// 7617).
    pub fn authorization(&self) -> Option<String> {
        use base64::Engine;
        let user = self.user.as_ref()?;
        let plain = percent_decoded(user);
        Some(format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(plain)))
    }

    /// Returns the address of the server.
    ///
    /// # Errors
    /// If the name has no address, or the path of the socket is too long.
    pub(crate) fn address(&self) -> Result<SocketAddrAny, TargetError> {
        let unknown = |why: String| TargetError::Unknown { host: self.host.clone(), why };
        if let Some(socket) = &self.socket {
            let address = rustix::net::SocketAddrUnix::new(socket);
            return Ok(address.map_err(|error| unknown(error.to_string()))?.into());
        }
        Ok(self.inet_address()?.into())
    }

    fn inet_address(&self) -> Result<SocketAddr, TargetError> {
        let unknown = |why: String| TargetError::Unknown { host: self.host.clone(), why };
        let found: Vec<SocketAddr> = (self.host.as_str(), self.port)
            .to_socket_addrs()
            .map_err(|error| unknown(error.to_string()))?
            .collect();
        // Servers that listen on only one address family mostly use IPv4.
        let first = found.iter().find(|address| address.is_ipv4()).or(found.first());
        first.copied().ok_or_else(|| unknown("it has none".to_owned()))
    }

    /// Returns true if the server is on this machine, via loopback or a Unix socket.
    ///
    /// # Errors
    /// If the name has no address.
    pub fn is_this_machine(&self) -> Result<bool, TargetError> {
        let is_here = |ip: IpAddr| ip.is_loopback() || ip.is_unspecified();
        Ok(self.socket.is_some() || is_here(self.inet_address()?.ip()))
    }
}

impl fmt::Display for Target {
    /// Formats the URL without user and password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(socket) = &self.socket {
            return write!(f, "unix:{}:{}", socket.display(), self.path);
        }
        let scheme = if self.tls { "https" } else { "http" };
        write!(f, "{scheme}://{}{}", self.authority(), self.path)
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Target({self})")
    }
}

/// Removes user and password from a URL, for error messages about its parsing.
pub fn without_user(text: &str) -> String {
    let (scheme, rest) = text.split_once("://").unwrap_or(("", text));
    let authority_ends = rest.find('/').unwrap_or(rest.len());
    let Some(at) = rest[..authority_ends].rfind('@') else { return text.to_owned() };
    let sep = if scheme.is_empty() { "" } else { "://" };
    format!("{scheme}{sep}{}", &rest[at + 1..])
}

/// Appends a value that replaces a placeholder in the target of a request. Percent-encodes
/// characters that are not allowed in it, `#`, which would end it, and any `%` that does not begin
/// an encoded byte; other characters with a meaning in URLs keep it.
pub(crate) fn encode_value(value: &str, into: &mut Vec<u8>) {
    for (at, byte) in value.bytes().enumerate() {
        let after = value.as_bytes().get(at + 1..at + 3);
        let is_code = after.is_some_and(|two| two.iter().all(u8::is_ascii_hexdigit));
        match byte {
            b'%' if is_code => into.push(byte),
            b'#' | b'%' => push_code(byte, into),
            _ => push_encoded(byte, into),
        }
    }
}

/// Percent-encodes the characters of a given or received target that cannot be sent.
fn encoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    text.bytes().for_each(|byte| push_encoded(byte, &mut bytes));
    // Only ASCII is left.
    String::from_utf8_lossy(&bytes).into_owned()
}

fn push_encoded(byte: u8, into: &mut Vec<u8>) {
    match byte {
        b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | 0..=b' ' | 0x7f.. => push_code(byte, into),
        _ => into.push(byte),
    }
}

fn push_code(byte: u8, into: &mut Vec<u8>) {
    into.extend_from_slice(format!("%{byte:02X}").as_bytes());
}

/// Removes `.` and `..` segments from a path (RFC 3986, 5.2.4).
fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut steps = path.split('/').skip(1).peekable();
    while let Some(step) = steps.next() {
        let is_last = steps.peek().is_none();
        match step {
            "." | ".." => {
                if step == ".." {
                    kept.pop();
                }
                if is_last {
                    kept.push("");
                }
            }
            step => kept.push(step),
        }
    }
    format!("/{}", kept.join("/"))
}

fn percent_decoded(text: &str) -> Vec<u8> {
    let mut bytes = text.bytes();
    let mut plain = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        let mut ahead = bytes.clone();
        let digit = |b: Option<u8>| b.and_then(|b| char::from(b).to_digit(16));
        match (byte, digit(ahead.next()), digit(ahead.next())) {
            (b'%', Some(high), Some(low)) => {
                plain.push((high * 16 + low) as u8);
                bytes = ahead;
            }
            _ => plain.push(byte),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_taken_apart_and_hide_their_passwords() {
        let target = Target::parse("https://me:p%40ss@example.org:8443/a/b?c=d#e").expect("a URL");
        assert_eq!(target.to_string(), "https://example.org:8443/a/b?c=d");
        assert_eq!(target.authorization().as_deref(), Some("Basic bWU6cEBzcw=="));
        assert_eq!((target.tls, target.port), (true, 8443));
        assert!(!format!("{target:?}").contains("p%40ss"));
        let plain = Target::parse("localhost:3000").expect("a URL");
        assert_eq!(
            (plain.to_string().as_str(), plain.path.as_str()),
            ("http://localhost:3000/", "/")
        );
        let v6 = Target::parse("http://[::1]:80/x").expect("a URL");
        assert_eq!((v6.host.as_str(), v6.authority().as_str()), ("::1", "[::1]"));
        let unix = Target::parse("unix:/run/app.sock:/status").expect("a socket");
        assert_eq!(unix.to_string(), "unix:/run/app.sock:/status");
        for bad in ["", "http://", "http://a:99999/", "http:// /", "unix:", "http://a:b/"] {
            assert!(Target::parse(bad).is_err(), "{bad}");
        }
        let blank = Target::parse("http://a/b c").expect_err("a blank").to_string();
        assert!(blank.contains("%20"), "{blank}");
        let letters = Target::parse("http://a/é?ü").expect("a URL");
        assert_eq!(letters.path, "/%C3%A9?%C3%BC");
        let error = Target::parse("ftp://me:secret@host/").expect_err("not HTTP").to_string();
        assert!(error.contains("ftp://host/") && !error.contains("secret"), "{error}");
    }

    #[test]
    fn a_place_is_on_the_same_server_or_on_none() {
        let target = Target::parse("http://a:1/x/y?z").expect("a URL");
        let to = |place: &str| target.at(place).map(|target| target.to_string());
        assert_eq!(to("/q").as_deref(), Some("http://a:1/q"));
        assert_eq!(to("q").as_deref(), Some("http://a:1/x/q"));
        assert_eq!(to("http://a:1/w").as_deref(), Some("http://a:1/w"));
        assert_eq!(to("HTTP://A:1/w#part").as_deref(), Some("http://a:1/w"));
        assert_eq!(to("//a:1/w").as_deref(), Some("http://a:1/w"));
        assert_eq!(to("?p=1").as_deref(), Some("http://a:1/x/y?p=1"));
        assert_eq!(to("../q?r=../s").as_deref(), Some("http://a:1/q?r=../s"));
        assert_eq!(to("./..").as_deref(), Some("http://a:1/"));
        assert_eq!(to("#part").as_deref(), Some("http://a:1/x/y?z"));
        assert_eq!(to("/a b/é").as_deref(), Some("http://a:1/a%20b/%C3%A9"));
        for elsewhere in ["http://b/", "https://a:1/w", "//b/w", "ftp://a:1/"] {
            assert_eq!(to(elsewhere), None, "{elsewhere}");
        }
    }

    #[test]
    fn only_this_machine_is_this_machine() {
        let is = |url: &str| Target::parse(url).expect("a URL").is_this_machine();
        assert_eq!(is("http://127.0.0.1:9/"), Ok(true));
        assert_eq!(is("http://[::1]:9/"), Ok(true));
        assert_eq!(is("unix:/tmp/x"), Ok(true));
        assert_eq!(is("http://0.0.0.0:9/"), Ok(true));
        assert_eq!(is("http://[::]:9/"), Ok(true));
        assert_eq!(is("http://192.0.2.1/"), Ok(false));
        assert!(is("http://no-such-host.invalid/").is_err());
    }
}
