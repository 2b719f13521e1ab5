//! Requests in the form that handlers receive: the client's token and the values in the path, query
//! and body.

use super::answer::Failure;
use super::cache::AnswerCache;
use super::logs::Logs;
use assay_farm::builds::Filter;
use assay_farm::builds::model::{Scope, State};
use assay_farm::builds::policy::{LARGEST_PAGE, PAGE};
use assay_farm::builds::wire::Token;
use serde::de::DeserializeOwned;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// State shared by all handlers.
pub(crate) struct Context {
    /// Logs of jobs and builds.
    pub logs: Logs,
    /// Maximum size of a log, bytes.
    pub log_limit: u64,
    /// Duration of a lease.
    pub lease: Duration,
    /// True if the server uses TLS, so that the cookie can be restricted to encrypted connections.
    pub is_secure: bool,
    /// Interval at which an agent without a job asks for one.
    pub ask: Duration,
    /// Times in ms at which nodes were last seen, by node, until they are written to the store.
    pub seen: Mutex<HashMap<String, i64>>,
    /// Times in ms at which tokens were last used, by number of the token, until they are written
    /// to the store.
    pub used: Mutex<HashMap<i64, i64>>,
    /// Cached answers.
    pub kept: AnswerCache,
}

impl Context {
    /// Records the time in ms at which a node was seen.
    pub fn saw(&self, node: &str, now: i64) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.insert(node.to_owned(), now);
    }

    /// Returns the duration of a lease in ms.
    pub fn lease_ms(&self) -> i64 {
        i64::try_from(self.lease.as_millis()).unwrap_or(i64::MAX)
    }
}

/// A request to a handler.
#[derive(Clone)]
pub(crate) struct ApiRequest {
    /// The path parameters, by name.
    pub path: HashMap<String, String>,
    /// The query parameters, by name.
    pub query: HashMap<String, String>,
    /// Path and query as sent by the client.
    pub place: String,
    /// Body of the request, bytes.
    pub body: Vec<u8>,
    /// Token of the client; `None` if the route requires none.
    pub token: Option<Token>,
    /// Time of the request in ms since the Unix epoch.
    pub now: i64,
}

impl ApiRequest {
    /// Returns the value of a path parameter; empty if there is no parameter of that name.
    pub fn part(&self, name: &str) -> &str {
        self.path.get(name).map_or("", String::as_str)
    }

    /// Returns the value of a path parameter as a number.
    ///
    /// # Errors
    /// If the value is not a number.
    pub fn number(&self, name: &str) -> Result<i64, Failure> {
        let text = self.part(name);
        text.parse().map_err(|_| Failure::bad(format!("`{}` is not a number", text.escape_debug())))
    }

    /// Returns the value of a query parameter; `None` if it is missing or empty.
    pub fn word(&self, name: &str) -> Option<&str> {
        self.query.get(name).map(String::as_str).filter(|word| !word.is_empty())
    }

    /// Parses the body as JSON.
    ///
    /// # Errors
    /// If the body is not the JSON of a `T`.
    pub fn thing<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        serde_json::from_slice(&self.body)
            .map_err(|error| Failure::bad(format!("the body: {error}")))
    }

    /// Returns the requested maximum number of rows on a page, or the default.
    ///
    /// # Errors
    /// If the parameter is not a number in the allowed range.
    pub fn most(&self) -> Result<i64, Failure> {
        let Some(text) = self.word("limit") else { return Ok(PAGE) };
        let most: Result<i64, _> = text.parse();
        most.ok().filter(|most| (1..=LARGEST_PAGE).contains(most)).ok_or_else(|| {
            Failure::bad(format!("limit=`{}`: must be 1 to {LARGEST_PAGE}", text.escape_debug()))
        })
    }

    /// Returns the requested offset into a log in bytes, or 0.
    ///
    /// # Errors
    /// If the parameter is not a valid number of bytes.
    pub fn offset(&self) -> Result<u64, Failure> {
        let Some(text) = self.word("offset") else { return Ok(0) };
        // Offsets above the maximum file size are rejected.
        let place = text.parse().ok().filter(|place| i64::try_from(*place).is_ok());
        place.ok_or_else(|| {
            Failure::bad(format!("offset=`{}`: must be a number of bytes", text.escape_debug()))
        })
    }

    /// Returns the requested filter on builds.
    ///
    /// # Errors
    /// If the requested state does not exist.
    pub fn filter(&self) -> Result<Filter<'_>, Failure> {
        let state = self.word("state").map(|name| {
            State::of(name).ok_or_else(|| {
                let names: Vec<&str> = State::ALL.iter().map(|state| state.name()).collect();
                Failure::bad(format!("state: must be one of {}", names.join(", ")))
            })
        });
        Ok(Filter {
            owner: self.word("owner"),
            project: self.word("project"),
            version: self.word("version"),
            target: self.word("target"),
            node: self.word("node"),
            state: state.transpose()?,
        })
    }

    /// Returns the node of the agent that sent the request.
    ///
    /// # Errors
    /// If the token does not belong to an agent.
    pub fn node(&self) -> Result<&str, Failure> {
        let node = self.token.as_ref().and_then(|token| token.of.node.as_deref());
        node.ok_or_else(|| Failure::forbidden("a token of scope `agent` is required"))
    }

    /// Checks that a request of an agent concerns its own node. Requests with other tokens are
    /// accepted.
    ///
    /// # Errors
    /// If the agent belongs to another node.
    pub fn is_node(&self, name: &str) -> Result<(), Failure> {
        match &self.token {
            Some(token) if token.of.scope == Scope::Agent => match self.node()? == name {
                true => Ok(()),
                false => Err(Failure::forbidden(format!(
                    "this token belongs to node {}, not to {}",
                    self.node()?,
                    name.escape_debug()
                ))),
            },
            _ => Ok(()),
        }
    }

    /// Checks that a token that is bound to an owner is used only for that owner's data.
    ///
    /// # Errors
    /// If the token is bound to another owner.
    pub fn is_owner(&self, name: &str) -> Result<(), Failure> {
        match self.token.as_ref().and_then(|token| token.of.owner.as_deref()) {
            Some(own) if own != name => Err(Failure::forbidden(format!(
                "this token is bound to the owner {own}, not to {}",
                name.escape_debug()
            ))),
            _ => Ok(()),
        }
    }
}
