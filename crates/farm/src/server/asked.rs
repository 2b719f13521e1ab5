//! A request, as handlers get it: who asks, what stands in its path, its query and its body.

use super::answer::Failure;
use super::kept::Kept;
use super::logs::Logs;
use assay_builds::Filter;
use assay_builds::model::{Scope, State};
use assay_builds::policy::{LARGEST_PAGE, PAGE};
use assay_builds::wire::Token;
use serde::de::DeserializeOwned;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// What all handlers have in common.
pub(crate) struct Context {
    /// The logs.
    pub logs: Logs,
    /// Bytes of one that are kept.
    pub log_limit: u64,
    /// What a lease is.
    pub lease: Duration,
    /// Whether browsers come by TLS, so that a cookie may be for that alone.
    pub is_secure: bool,
    /// How long who was given nothing waits.
    pub ask: Duration,
    /// When nodes were heard of, until that is written.
    pub seen: Mutex<HashMap<String, i64>>,
    /// When tokens were used, until that is written.
    pub used: Mutex<HashMap<i64, i64>>,
    /// Answers that are given again while they stand.
    pub kept: Kept,
}

impl Context {
    /// Notes that a node was heard of.
    pub fn saw(&self, node: &str, now: i64) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.insert(node.to_owned(), now);
    }

    /// A lease, in ms.
    pub fn lease_ms(&self) -> i64 {
        i64::try_from(self.lease.as_millis()).unwrap_or(i64::MAX)
    }
}

/// A request.
#[derive(Clone)]
pub(crate) struct Asked {
    /// What stands in the path, by name.
    pub path: HashMap<String, String>,
    /// What stands behind it.
    pub query: HashMap<String, String>,
    /// Both, as they were sent.
    pub place: String,
    /// Its body.
    pub body: Vec<u8>,
    /// Who asks; nobody where no token is needed.
    pub token: Option<Token>,
    /// When.
    pub now: i64,
}

impl Asked {
    /// A part of the path.
    pub fn part(&self, name: &str) -> &str {
        self.path.get(name).map_or("", String::as_str)
    }

    /// A number in the path.
    ///
    /// # Errors
    /// When it is none.
    pub fn number(&self, name: &str) -> Result<i64, Failure> {
        let text = self.part(name);
        text.parse().map_err(|_| Failure::bad(format!("`{}` is no number", text.escape_debug())))
    }

    /// A word of the query.
    pub fn word(&self, name: &str) -> Option<&str> {
        self.query.get(name).map(String::as_str).filter(|word| !word.is_empty())
    }

    /// The body, as a thing.
    ///
    /// # Errors
    /// When it is none.
    pub fn thing<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        serde_json::from_slice(&self.body)
            .map_err(|error| Failure::bad(format!("the body: {error}")))
    }

    /// Rows of a page that are wanted.
    ///
    /// # Errors
    /// When it is no number.
    pub fn most(&self) -> Result<i64, Failure> {
        let Some(text) = self.word("limit") else { return Ok(PAGE) };
        let most: Result<i64, _> = text.parse();
        most.ok().filter(|most| (1..=LARGEST_PAGE).contains(most)).ok_or_else(|| {
            Failure::bad(format!("limit=`{}`: 1 to {LARGEST_PAGE}", text.escape_debug()))
        })
    }

    /// A place in a log.
    ///
    /// # Errors
    /// When it is no number.
    pub fn offset(&self) -> Result<u64, Failure> {
        let Some(text) = self.word("offset") else { return Ok(0) };
        // No file has a place beyond that.
        let place = text.parse().ok().filter(|place| i64::try_from(*place).is_ok());
        place.ok_or_else(|| {
            Failure::bad(format!("offset=`{}`: a number of bytes", text.escape_debug()))
        })
    }

    /// Which builds are asked for.
    ///
    /// # Errors
    /// When there is no such state.
    pub fn filter(&self) -> Result<Filter<'_>, Failure> {
        let state = self.word("state").map(|name| {
            State::of(name).ok_or_else(|| {
                let names: Vec<&str> = State::ALL.iter().map(|state| state.name()).collect();
                Failure::bad(format!("state: one of {}", names.join(", ")))
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

    /// The node whose agent asks.
    ///
    /// # Errors
    /// When nobody's does.
    pub fn node(&self) -> Result<&str, Failure> {
        let node = self.token.as_ref().and_then(|token| token.of.node.as_deref());
        node.ok_or_else(|| Failure::forbidden("a token of scope `agent` is needed"))
    }

    /// Sees to it that an agent speaks of its own node alone.
    ///
    /// # Errors
    /// When it does not.
    pub fn is_node(&self, name: &str) -> Result<(), Failure> {
        match &self.token {
            Some(token) if token.of.scope == Scope::Agent => match self.node()? == name {
                true => Ok(()),
                false => Err(Failure::forbidden(format!(
                    "this token is that of node {}, not of {}",
                    self.node()?,
                    name.escape_debug()
                ))),
            },
            _ => Ok(()),
        }
    }

    /// Sees to it that a token that is bound to an owner changes what is that owner's alone.
    ///
    /// # Errors
    /// When it does not.
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
