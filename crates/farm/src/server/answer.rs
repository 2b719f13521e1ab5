//! Answers of handlers: the requested data, or the reason for a failure. `dispatch` converts them
//! to HTTP responses.

use assay_data::system_error::reason;
use assay_farm::builds::FarmError;
use assay_farm::builds::wire::{ErrorBody, Refusal};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::io;
use std::path::Path;

/// Content type of JSON.
const JSON: &str = "application/json";

/// The answer to a successful request.
#[derive(Debug)]
pub(crate) struct Answer {
    /// HTTP status code.
    pub status: u16,
    /// Content type of the body.
    pub kind: &'static str,
    /// The body of the answer.
    pub body: Body,
    /// Names and values of additional headers.
    pub headers: Vec<(&'static str, String)>,
    /// Entity tag of the body, if already known.
    pub tag: Option<String>,
}

/// The body of an answer.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    /// A complete body.
    Whole(Vec<u8>),
    /// A log that may still grow: its owner, the offset in bytes to start from, and the job that
    /// writes it.
    Follow { of: LogOwner, offset: u64, job: Option<i64> },
}

impl Answer {
    /// Creates an answer with a status code, a content type and a body.
    pub fn of(status: u16, kind: &'static str, body: Body) -> Self {
        Self { status, kind, body, headers: Vec::new(), tag: None }
    }

    /// Creates an answer with a value serialized as JSON.
    ///
    /// # Errors
    /// If the value cannot be serialized.
    pub fn json<T: Serialize>(status: u16, thing: &T) -> Result<Self, Failure> {
        let body = serde_json::to_vec(thing);
        let body = body.map_err(|error| Failure::internal(error.to_string()))?;
        Ok(Self::of(status, JSON, Body::Whole(body)))
    }

    /// Creates an answer from JSON text.
    pub fn text_of_json(text: &str) -> Self {
        Self::of(200, JSON, Body::Whole(text.into()))
    }

    /// Creates an answer with a value that was added (status 201) or already existed (status 200).
    ///
    /// # Errors
    /// If the value cannot be serialized.
    pub fn put<T: Serialize>(thing: &T, is_new: bool) -> Result<Self, Failure> {
        Self::json(if is_new { 201 } else { 200 }, thing)
    }

    /// Creates an answer with a body of the given content type.
    pub fn bytes(kind: &'static str, bytes: Vec<u8>) -> Self {
        Self::of(200, kind, Body::Whole(bytes))
    }

    /// Creates an answer without content (status 204).
    pub fn nothing() -> Self {
        Self::of(204, "", Body::Whole(Vec::new()))
    }

    /// Returns a copy of the answer.
    pub fn copy(&self) -> Self {
        Self {
            body: self.body.clone(),
            headers: self.headers.clone(),
            tag: self.tag.clone(),
            ..*self
        }
    }

    /// Returns the length of the body in bytes; 0 for a followed log, whose length is unknown.
    pub fn len(&self) -> usize {
        match &self.body {
            Body::Whole(bytes) => bytes.len(),
            Body::Follow { .. } => 0,
        }
    }

    /// Sets the entity tag to a digest of the body, unless there already is a tag or the body is a
    /// followed log.
    pub fn tagged(mut self) -> Self {
        if let (None, Body::Whole(bytes)) = (&self.tag, &self.body) {
            let digest = Sha256::digest(bytes);
            let tag: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
            self.tag = Some(format!("\"{tag}\""));
        }
        self
    }

    /// Adds a header.
    pub fn with(mut self, name: &'static str, value: String) -> Self {
        self.headers.push((name, value));
        self
    }
}

/// The failure of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// HTTP status code.
    pub status: u16,
    /// Error code, as listed in docs/reference/farm-api.md.
    pub code: &'static str,
    /// Message that says what failed, where, and what to do.
    pub message: String,
    /// Number of seconds after which the client may repeat the request.
    pub again: Option<u64>,
    /// True if the connection to the database was lost.
    pub is_gone: bool,
}

impl Failure {
    fn new(status: u16, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), again: None, is_gone: false }
    }

    /// Creates the failure of an invalid request (400).
    pub fn bad(message: impl Into<String>) -> Self {
        Self::new(400, "bad_request", message)
    }

    /// Creates the failure of a request for an unsupported version of the API.
    pub fn wrong_version(message: impl Into<String>) -> Self {
        Self::new(400, "wrong_version", message)
    }

    /// Creates the failure of a request without a valid token (401).
    pub fn unauthorized() -> Self {
        let told = "a valid token is required: Authorization: Bearer TOKEN (`assay farm token add` creates one)";
        Self::new(401, "unauthorized", told)
    }

    /// Creates the failure of a request that the token does not permit (403).
    pub fn forbidden(message: impl Into<String>) -> Self {
        Self::new(403, "forbidden", message)
    }

    /// Creates the failure of a request for an unknown path.
    pub fn no_path() -> Self {
        Self::new(404, "not_found", "no such path; GET /api/v1/openapi.json lists all paths")
    }

    /// Creates the failure of a request with a method that the path does not support.
    pub fn no_method() -> Self {
        Self::new(405, "bad_request", "this path does not support that method")
    }

    /// Creates the failure of a request that conflicts with the current state.
    pub fn conflict(message: impl Into<String>) -> Self {
        Self::new(409, "conflict", message)
    }

    /// Creates the failure of a request for a job whose lease was lost.
    pub fn lease_lost(message: impl Into<String>) -> Self {
        Self::new(409, "lease_lost", message)
    }

    /// Creates the failure of a request whose body is larger than `most` bytes.
    pub fn too_large(most: usize) -> Self {
        Self::new(413, "too_large", format!("the body may have at most {most} bytes"))
    }

    /// Creates the failure of a client that sends too many requests. `again` is the number of
    /// seconds to wait.
    pub fn too_many(again: u64) -> Self {
        let told = format!("too many requests: try again in {again} s");
        Self { again: Some(again), ..Self::new(429, "too_many", told) }
    }

    /// Creates the failure of a request that the server temporarily cannot answer.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self { again: Some(1), ..Self::new(503, "unavailable", message) }
    }

    /// Creates the failure of a request because of an internal error (500).
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(500, "internal", message)
    }

    /// Creates the failure of a request because of an I/O error. The path appears only in the
    /// server's log, not in the answer.
    pub fn of_disk(path: &Path, error: &io::Error) -> Self {
        log::error!("{}: {error}", path.display());
        let told = format!("the disk of the server: {}", reason(error));
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::unavailable(told),
            _ => Self::internal(told),
        }
    }

    /// Returns the body of the response as JSON.
    pub fn body(&self) -> Vec<u8> {
        let error = ErrorBody { code: self.code.to_owned(), message: self.message.clone() };
        serde_json::to_vec(&Refusal { error }).unwrap_or_default()
    }
}

impl From<FarmError> for Failure {
    fn from(error: FarmError) -> Self {
        let message = error.to_string();
        let is_gone = error.is_gone();
        let failure = match error.code() {
            "bad_request" => Self::bad(message),
            "not_found" => Self::new(404, "not_found", message),
            "forbidden" => Self::forbidden(message),
            "conflict" => Self::conflict(message),
            "lease_lost" => Self::lease_lost(message),
            "unavailable" => Self::unavailable(message),
            _ => Self::internal(message),
        };
        Self { is_gone, ..failure }
    }
}

/// The owner of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogOwner {
    /// A lease of a job, by its number.
    Lease(i64),
    /// A build that was submitted without a job, by its number.
    Build(i64),
}
