//! Answers, as handlers give them: what is asked for, or why not. How they go over the wire is `dispatch`'s.

use super::logs::Of;
use assay_builds::FarmError;
use assay_builds::wire::{Refusal, Told};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::io;
use std::path::Path;

/// JSON.
const JSON: &str = "application/json";

/// What a request is answered with.
#[derive(Debug)]
pub(crate) struct Answer {
    /// Its status.
    pub status: u16,
    /// The kind of its body.
    pub kind: &'static str,
    /// The body.
    pub body: Body,
    /// More headers.
    pub headers: Vec<(&'static str, String)>,
    /// What its body is known by, where that is known already.
    pub tag: Option<String>,
}

/// The body of an answer.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    /// All of it.
    Whole(Vec<u8>),
    /// A log that may still grow: whose, from where on, and of which job.
    Follow { of: Of, offset: u64, job: Option<i64> },
}

impl Answer {
    /// Of a status, a kind and a body.
    pub fn of(status: u16, kind: &'static str, body: Body) -> Self {
        Self { status, kind, body, headers: Vec::new(), tag: None }
    }

    /// A thing.
    ///
    /// # Errors
    /// When it can't be written as JSON.
    pub fn json<T: Serialize>(status: u16, thing: &T) -> Result<Self, Failure> {
        let body = serde_json::to_vec(thing);
        let body = body.map_err(|error| Failure::internal(error.to_string()))?;
        Ok(Self::of(status, JSON, Body::Whole(body)))
    }

    /// A document that is JSON already.
    pub fn text_of_json(text: &str) -> Self {
        Self::of(200, JSON, Body::Whole(text.into()))
    }

    /// A thing that was added, or that was there.
    ///
    /// # Errors
    /// As [`Answer::json`].
    pub fn put<T: Serialize>(thing: &T, is_new: bool) -> Result<Self, Failure> {
        Self::json(if is_new { 201 } else { 200 }, thing)
    }

    /// Bytes of a kind.
    pub fn bytes(kind: &'static str, bytes: Vec<u8>) -> Self {
        Self::of(200, kind, Body::Whole(bytes))
    }

    /// Nothing.
    pub fn nothing() -> Self {
        Self::of(204, "", Body::Whole(Vec::new()))
    }

    /// The same again.
    pub fn copy(&self) -> Self {
        Self {
            body: self.body.clone(),
            headers: self.headers.clone(),
            tag: self.tag.clone(),
            ..*self
        }
    }

    /// Bytes of its body, as far as they are known.
    pub fn len(&self) -> usize {
        match &self.body {
            Body::Whole(bytes) => bytes.len(),
            Body::Follow { .. } => 0,
        }
    }

    /// The same with what its body is known by: a digest of it, where it is whole.
    pub fn tagged(mut self) -> Self {
        if let (None, Body::Whole(bytes)) = (&self.tag, &self.body) {
            let digest = Sha256::digest(bytes);
            let tag: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
            self.tag = Some(format!("\"{tag}\""));
        }
        self
    }

    /// The same with a header.
    pub fn with(mut self, name: &'static str, value: String) -> Self {
        self.headers.push((name, value));
        self
    }
}

/// Why a request is not answered with what it asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// The status.
    pub status: u16,
    /// One of the codes of docs/design/010-farm.md.
    pub code: &'static str,
    /// What, where, and what to do.
    pub message: String,
    /// Seconds after which it may be tried again.
    pub again: Option<u64>,
    /// Whether the database went away.
    pub is_gone: bool,
}

impl Failure {
    fn new(status: u16, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), again: None, is_gone: false }
    }

    /// What was said makes no sense.
    pub fn bad(message: impl Into<String>) -> Self {
        Self::new(400, "bad_request", message)
    }

    /// The API has another version.
    pub fn wrong_version(message: impl Into<String>) -> Self {
        Self::new(400, "wrong_version", message)
    }

    /// Nobody knows who asks.
    pub fn unauthorized() -> Self {
        let told = "a token is needed that is known and not over: Authorization: Bearer TOKEN (`assay farm token add` makes one)";
        Self::new(401, "unauthorized", told)
    }

    /// Whoever asks may not.
    pub fn forbidden(message: impl Into<String>) -> Self {
        Self::new(403, "forbidden", message)
    }

    /// There is no such path.
    pub fn no_path() -> Self {
        Self::new(404, "not_found", "there is no such path; GET /api/v1/openapi.json lists them")
    }

    /// The path is asked otherwise.
    pub fn no_method() -> Self {
        Self::new(405, "bad_request", "this path is not asked by that method")
    }

    /// It does not go together with what is there.
    pub fn conflict(message: impl Into<String>) -> Self {
        Self::new(409, "conflict", message)
    }

    /// The lease is gone.
    pub fn lease_lost(message: impl Into<String>) -> Self {
        Self::new(409, "lease_lost", message)
    }

    /// It is larger than may be.
    pub fn too_large(most: usize) -> Self {
        Self::new(413, "too_large", format!("the body may have {most} bytes"))
    }

    /// Somebody asks too often.
    pub fn too_many(again: u64) -> Self {
        let told = format!("too many requests: ask again in {again} s");
        Self { again: Some(again), ..Self::new(429, "too_many", told) }
    }

    /// The server can't for now.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self { again: Some(1), ..Self::new(503, "unavailable", message) }
    }

    /// A fault of ours.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(500, "internal", message)
    }

    /// The disk refuses. Where things are on it is the server's own business, and in its log.
    pub fn of_disk(path: &Path, error: &io::Error) -> Self {
        log::error!("{}: {error}", path.display());
        let told = format!("the disk of the server: {error}");
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::unavailable(told),
            _ => Self::internal(told),
        }
    }

    /// Its body.
    pub fn body(&self) -> Vec<u8> {
        let error = Told { code: self.code.to_owned(), message: self.message.clone() };
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
