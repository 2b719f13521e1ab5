//! Downloads files up to a size limit and computes their SHA-256.

use super::FetchError;
use crate::agent::policy::{FETCHING, LARGEST_DOWNLOAD, LARGEST_INDEX};
use crate::client;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use ureq::http::Response;
use ureq::{Agent, Body};

/// Maximum number of redirects, which mirrors use.
const REDIRECTS: u32 = 8;
const PIECE: usize = 1 << 16;

/// The HTTP client for downloads.
pub(in crate::agent) struct Web {
    agent: Agent,
}

impl Web {
    pub fn new() -> Self {
        Self { agent: client::agent(FETCHING, REDIRECTS) }
    }

    /// Requests a file. Errors distinguish refusals by the server from failures of the network.
    fn ask(&self, url: &str, accept: &str) -> Result<Response<Body>, FetchError> {
        let shown = crate::plain::line(url);
        if !(url.starts_with("https://") || url.starts_with("http://")) {
            return Err(FetchError::Version(format!("`{shown}` is not a web address")));
        }
        let answer = self.agent.get(url).header("accept", accept).call();
        let answer = answer.map_err(|error| FetchError::Network(format!("{shown}: {error}")))?;
        match answer.status().as_u16() {
            200 => Ok(answer),
            404 | 410 => Err(FetchError::Gone(format!("{shown} does not exist"))),
            status @ (429 | 500..) => Err(FetchError::Network(format!("{shown}: status {status}"))),
            status => Err(FetchError::Version(format!("{shown}: status {status}"))),
        }
    }

    /// Returns the answer of an index.
    ///
    /// # Errors
    /// If it cannot be fetched, or is too long.
    pub fn text(&self, url: &str, accept: &str) -> Result<Vec<u8>, FetchError> {
        let mut answer = self.ask(url, accept)?;
        let body = answer.body_mut().with_config().limit(LARGEST_INDEX).read_to_vec();
        body.map_err(|error| FetchError::Network(format!("{}: {error}", crate::plain::line(url))))
    }

    /// Downloads to a new file and returns its SHA-256. `sha256` is the expected value.
    ///
    /// # Errors
    /// If it cannot be fetched, is too large, or has a different checksum.
    pub fn download(
        &self,
        url: &str,
        sha256: Option<&str>,
        to: &Path,
        ends: &mut dyn FnMut() -> bool,
    ) -> Result<String, FetchError> {
        let shown = crate::plain::line(url);
        let failed = |error: std::io::Error| FetchError::of(&shown, &error);
        let mut answer = self.ask(url, "*/*")?;
        let mut from =
            answer.body_mut().with_config().limit(LARGEST_DOWNLOAD.saturating_add(1)).reader();
        let mut file = File::create_new(to).map_err(failed)?;
        let (mut hash, mut total) = (Sha256::new(), 0_u64);
        let mut piece = vec![0; PIECE];
        loop {
            if ends() {
                return Err(FetchError::Ended);
            }
            let read = match from.read(&mut piece) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) => return Err(FetchError::Network(format!("{shown}: {error}"))),
            };
            total += read as u64;
            if total > LARGEST_DOWNLOAD {
                return Err(FetchError::Version(format!(
                    "{shown} is larger than {LARGEST_DOWNLOAD} bytes"
                )));
            }
            hash.update(&piece[..read]);
            file.write_all(&piece[..read]).map_err(failed)?;
        }
        let found = digits(&hash.finalize());
        match sha256 {
            Some(wanted) if !wanted.eq_ignore_ascii_case(&found) => {
                Err(FetchError::Version(format!(
                    "{shown} is not the expected file: its SHA-256 is {found}, not {}",
                    crate::plain::line(wanted)
                )))
            }
            _ => Ok(found),
        }
    }
}

fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Resolves an address relative to a page.
pub(super) fn joined(base: &str, url: &str) -> String {
    if url.starts_with("https://") || url.starts_with("http://") {
        return url.to_owned();
    }
    let rest = base.find("://").map_or(0, |at| at + 3);
    let host = base[rest..].find('/').map_or(base.len(), |at| rest + at);
    if let Some(rooted) = url.strip_prefix('/') {
        return format!("{}/{rooted}", &base[..host]);
    }
    // Relative to the page's directory, going up once per `../`.
    let mut directory =
        base[..base.rfind('/').filter(|at| *at >= host).unwrap_or(base.len())].to_owned();
    let mut url = url;
    while let Some(above) = url.strip_prefix("../") {
        url = above;
        if let Some(at) = directory[host..].rfind('/') {
            directory.truncate(host + at);
        }
    }
    format!("{directory}/{}", url.trim_start_matches("./"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_seen_from_their_page() {
        let base = "http://host:1/simple/six/";
        for (url, whole) in [
            ("https://files.example/six-1.tar.gz", "https://files.example/six-1.tar.gz"),
            ("/files/six-1.tar.gz", "http://host:1/files/six-1.tar.gz"),
            ("../../files/six-1.tar.gz", "http://host:1/files/six-1.tar.gz"),
            ("../../../../six-1.tar.gz", "http://host:1/six-1.tar.gz"),
            ("six-1.tar.gz", "http://host:1/simple/six/six-1.tar.gz"),
        ] {
            assert_eq!(joined(base, url), whole, "{url}");
        }
    }
}
