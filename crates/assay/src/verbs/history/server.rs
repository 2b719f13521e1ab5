//! A small web server for the pages of a history. It serves one user on the same machine, with GET
//! and HEAD only and one response per connection.
//!
//! Other web sites must not learn anything through the user's browser. So host names that anybody
//! could control are rejected (DNS rebinding), requests for embedding by other sites are rejected,
//! and all responses forbid embedding. Pages are looked up only by name, and no files are served.

use crate::output;
use assay_data::threads;
use assay_history::Store;
use assay_history::site::Site;
use assay_report::site::POLICY;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown, TcpListener, TcpStream};
use std::sync::mpsc::channel;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Maximum number of concurrent connections. Further connections wait until one of them ends.
const MOST_CONNECTIONS: usize = 512;
/// Maximum time to receive a request, and to send a response; browsers open some connections in
/// advance.
const PATIENCE: Duration = Duration::from_secs(10);
/// Number of connections above which requests must arrive within [`HURRY`], so that incomplete
/// requests do not block other clients.
const CROWD: usize = 64;
const HURRY: Duration = Duration::from_secs(1);
/// Maximum size of a request, in bytes.
const LONGEST: usize = 16 << 10;
const MOST_HEADERS: usize = 64;

/// Answers requests until the program is interrupted.
///
/// # Errors
///
/// Returns an error if the listener's address cannot be determined.
pub(super) fn serve(listener: &TcpListener, site: Site<Store>) -> anyhow::Result<()> {
    let is_open = !listener.local_addr()?.ip().is_loopback();
    let site = Arc::new(Mutex::new(site));
    let connections = Arc::new(Connections::default());
    for stream in listener.incoming() {
        let Ok(stream) = stream else {
            // For example, too many open files.
            thread::sleep(Duration::from_millis(20));
            continue;
        };
        let patience = if connections.begin() > CROWD { HURRY } else { PATIENCE };
        let (give, take) = channel::<TcpStream>();
        let (its_site, own) = (Arc::clone(&site), Arc::clone(&connections));
        let started = threads::start(move || {
            if let Ok(stream) = take.recv() {
                // A client that disconnected is not an error.
                let _gone = answer(stream, &its_site, is_open, patience);
                own.end();
            }
        });
        match started {
            Ok(_) => {
                let _it_waits = give.send(stream);
            }
            // If no thread can be started, this connection is answered here.
            Err(_) => {
                let _gone = answer(stream, &site, is_open, HURRY);
                connections.end();
            }
        }
    }
    Ok(())
}

/// The number of open connections.
#[derive(Default)]
struct Connections {
    count: Mutex<usize>,
    fewer: Condvar,
}

impl Connections {
    /// Waits until another connection is allowed, and returns the number of connections including
    /// it.
    fn begin(&self) -> usize {
        let count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        let full = |count: &mut usize| *count >= MOST_CONNECTIONS;
        let mut count = self.fewer.wait_while(count, full).unwrap_or_else(PoisonError::into_inner);
        *count += 1;
        *count
    }

    fn end(&self) {
        *self.count.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.fewer.notify_one();
    }
}

fn answer(
    mut stream: TcpStream,
    site: &Mutex<Site<Store>>,
    is_open: bool,
    patience: Duration,
) -> io::Result<()> {
    stream.set_write_timeout(Some(PATIENCE))?;
    let head = head(&mut stream, patience)?;
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    let answer = match request.parse(&head) {
        Ok(httparse::Status::Complete(_)) => match refused(&request, is_open) {
            Some(refused) => refused,
            None => page(&request, site),
        },
        _ => Answer::plain(400, "this is not a request"),
    };
    answer.write(&mut stream, request.method != Some("HEAD"))?;
    stream.shutdown(Shutdown::Write)
}

/// Reads a request up to the empty line. Stops early at the end of the connection or at [`LONGEST`]
/// bytes.
fn head(stream: &mut TcpStream, patience: Duration) -> io::Result<Vec<u8>> {
    let begun = Instant::now();
    let mut head = Vec::new();
    let mut part = [0; 2048];
    while head.len() < LONGEST && !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let left = patience.checked_sub(begun.elapsed()).filter(|left| !left.is_zero());
        stream.set_read_timeout(Some(left.ok_or(io::ErrorKind::TimedOut)?))?;
        match stream.read(&mut part)? {
            0 => break,
            read => head.extend_from_slice(&part[..read]),
        }
    }
    Ok(head)
}

struct Answer {
    status: u16,
    kind: &'static str,
    body: String,
}

impl Answer {
    fn plain(status: u16, body: &str) -> Self {
        Self { status, kind: "text/plain", body: format!("{body}\n") }
    }

    fn write(&self, out: &mut impl Write, with_body: bool) -> io::Result<()> {
        let reason = match self.status {
            200 => "OK",
            400 => "Bad Request",
            403 => "Forbidden",
            404 => "Not Found",
            405 => "Method Not Allowed",
            _ => "Internal Server Error",
        };
        let allow = if self.status == 405 { "Allow: GET, HEAD\r\n" } else { "" };
        let head = format!(
            "HTTP/1.1 {} {reason}\r\nContent-Type: {}; charset=utf-8\r\nContent-Length: {}\r\n{allow}\
             Content-Security-Policy: {POLICY}; frame-ancestors 'none'\r\nX-Content-Type-Options: nosniff\r\n\
             Cross-Origin-Resource-Policy: same-origin\r\nCross-Origin-Opener-Policy: same-origin\r\n\
             Referrer-Policy: no-referrer\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n",
            self.status,
            self.kind,
            self.body.len()
        );
        out.write_all(head.as_bytes())?;
        if with_body {
            out.write_all(self.body.as_bytes())?;
        }
        out.flush()
    }
}

/// Returns the response to a request that must be rejected.
fn refused(request: &httparse::Request<'_, '_>, is_open: bool) -> Option<Answer> {
    let header = |name: &str| {
        let mut found =
            request.headers.iter().filter(|header| header.name.eq_ignore_ascii_case(name));
        // If a header occurs twice, it is unclear which value applies.
        let first = found.next().map(|header| std::str::from_utf8(header.value).unwrap_or("?"));
        if found.next().is_some() { Some("?") } else { first }
    };
    if !matches!(request.method, Some("GET" | "HEAD")) {
        return Some(Answer::plain(405, "only GET and HEAD are answered"));
    }
    if !header("host").is_some_and(|host| is_own(host, is_open)) {
        return Some(Answer::plain(403, "use the address that `assay history serve` printed"));
    }
    let is_foreign =
        header("sec-fetch-site").is_some_and(|site| !matches!(site, "same-origin" | "none"));
    let is_embedded = is_foreign && header("sec-fetch-mode") != Some("navigate");
    is_embedded.then(|| Answer::plain(403, "requests from other sites are rejected"))
}

/// Returns true if `host` is a loopback address or `localhost`, or any address if other machines
/// may connect. Other names are rejected because they may be made to resolve to any address.
fn is_own(host: &str, is_open: bool) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    match name.parse::<IpAddr>() {
        Ok(address) => is_open || address.is_loopback(),
        Err(_) => name.eq_ignore_ascii_case("localhost"),
    }
}

fn page(request: &httparse::Request<'_, '_>, site: &Mutex<Site<Store>>) -> Answer {
    let path = request.path.unwrap_or_default();
    let path = path.split(['?', '#']).next().unwrap_or_default().trim_start_matches('/');
    let path = if path.is_empty() { "index.html" } else { path };
    let mut site = site.lock().unwrap_or_else(PoisonError::into_inner);
    let made = site.refresh().and_then(|()| site.page(path));
    drop(site);
    match made {
        Ok(Some(body)) => Answer { status: 200, kind: kind(path), body },
        Ok(None) => Answer::plain(404, "there is no such page"),
        Err(error) => Answer::plain(500, &output::told(&error)),
    }
}

fn kind(path: &str) -> &'static str {
    match path.rsplit_once('.') {
        Some((_, "js")) => "text/javascript",
        Some((_, "css")) => "text/css",
        _ => "text/html",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(text: &str, is_open: bool) -> Option<u16> {
        let mut headers = [httparse::EMPTY_HEADER; 8];
        let mut request = httparse::Request::new(&mut headers);
        request.parse(text.as_bytes()).expect("a request");
        refused(&request, is_open).map(|answer| answer.status)
    }

    #[test]
    fn hosts_that_may_be_anybodys_are_refused() {
        let of = |host: &str| status(&format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"), false);
        for own in ["127.0.0.1:8020", "localhost", "LOCALHOST:1", "[::1]:8020", "127.9.9.9"] {
            assert_eq!(of(own), None, "{own}");
        }
        for foreign in [
            "evil.example",
            "127.0.0.1.evil.example",
            "10.0.0.1",
            "",
            "[::2]",
            "localhost.evil",
            "x@127.0.0.1",
        ] {
            assert_eq!(of(foreign), Some(403), "{foreign}");
        }
        assert_eq!(status("GET / HTTP/1.1\r\n\r\n", false), Some(403));
        assert_eq!(
            status("GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil\r\n\r\n", false),
            Some(403)
        );
        // If other machines may connect, addresses are accepted, but names still are not.
        assert_eq!(status("GET / HTTP/1.1\r\nHost: 10.0.0.1\r\n\r\n", true), None);
        assert_eq!(status("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", true), Some(403));
    }

    #[test]
    fn other_methods_and_what_other_sites_embed_are_refused() {
        let of = |line: &str, more: &str| {
            status(&format!("{line} HTTP/1.1\r\nHost: localhost\r\n{more}\r\n"), false)
        };
        assert_eq!(of("POST /", ""), Some(405));
        assert_eq!(of("HEAD /", ""), None);
        assert_eq!(
            of("GET /data/runs.js", "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n"),
            Some(403)
        );
        assert_eq!(
            of("GET /data/runs.js", "Sec-Fetch-Site: same-origin\r\nSec-Fetch-Mode: no-cors\r\n"),
            None
        );
        assert_eq!(of("GET /", "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n"), None);
    }
}
