//! Downloads: into a file, up to a limit, with the SHA-256 of what came.

use super::FetchError;
use crate::agent::policy::{FETCHING, LARGEST_DOWNLOAD, LARGEST_INDEX};
use crate::client;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use ureq::http::Response;
use ureq::{Agent, Body};

/// Mirrors send one on.
const REDIRECTS: u32 = 8;
const PIECE: usize = 1 << 16;

/// What downloads.
pub(in crate::agent) struct Web {
    agent: Agent,
}

impl Web {
    pub fn new() -> Self {
        Self { agent: client::agent(FETCHING, REDIRECTS) }
    }

    /// Asks for a file; what refuses it is a server's word on it, or the network's.
    fn ask(&self, url: &str, accept: &str) -> Result<Response<Body>, FetchError> {
        let shown = crate::plain::line(url);
        if !(url.starts_with("https://") || url.starts_with("http://")) {
            return Err(FetchError::Version(format!("`{shown}` is no address of the web")));
        }
        let answer = self.agent.get(url).header("accept", accept).call();
        let answer = answer.map_err(|error| FetchError::Network(format!("{shown}: {error}")))?;
        match answer.status().as_u16() {
            200 => Ok(answer),
            404 | 410 => Err(FetchError::Gone(format!("{shown} is not there"))),
            status @ (429 | 500..) => Err(FetchError::Network(format!("{shown}: status {status}"))),
            status => Err(FetchError::Version(format!("{shown}: status {status}"))),
        }
    }

    /// What an index says.
    ///
    /// # Errors
    /// When it can't be had, or is longer than such are.
    pub fn text(&self, url: &str, accept: &str) -> Result<Vec<u8>, FetchError> {
        let mut answer = self.ask(url, accept)?;
        let body = answer.body_mut().with_config().limit(LARGEST_INDEX).read_to_vec();
        body.map_err(|error| FetchError::Network(format!("{}: {error}", crate::plain::line(url))))
    }

    /// Downloads into a file that is not there yet; the SHA-256 of it. `sha256`: what that has to be.
    ///
    /// # Errors
    /// When it can't be had, is too large, or is something else.
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
                    "{shown} is not what was announced: its SHA-256 is {found}, not {}",
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

/// An address as another one's page has it.
pub(super) fn joined(base: &str, url: &str) -> String {
    if url.starts_with("https://") || url.starts_with("http://") {
        return url.to_owned();
    }
    let rest = base.find("://").map_or(0, |at| at + 3);
    let host = base[rest..].find('/').map_or(base.len(), |at| rest + at);
    if let Some(rooted) = url.strip_prefix('/') {
        return format!("{}/{rooted}", &base[..host]);
    }
    // From the directory of the page, up as often as it says.
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
