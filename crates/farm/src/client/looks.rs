//! Requests that only read the farm's state, for executors and the doctor.

use super::{Client, ClientError, Code, part};
use crate::builds::wire::{Job, Page};
use serde::Deserialize;

/// Information about a server.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ServerInfo {
    /// Name and version of the server's program.
    pub tool: String,
    /// The time according to the server's clock.
    pub time: String,
}

impl Client {
    /// Returns information about the server; requires no token.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub fn about(&self) -> Result<ServerInfo, ClientError> {
        self.get("")
    }

    /// Returns at most `most` of the jobs without a lease, most urgent first and then in the order
    /// in which they were added.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub fn queued(&self, most: usize) -> Result<Vec<Job>, ClientError> {
        let mut queued = Vec::new();
        let mut next: Option<String> = None;
        loop {
            let path = match &next {
                Some(after) => format!("/jobs?progress=queued&after={}", part(after)),
                None => "/jobs?progress=queued".to_owned(),
            };
            let page: Page<Job> = self.get(&path)?;
            queued.extend(page.items);
            match page.next {
                Some(after) if Some(&after) != next.as_ref() && queued.len() < most => {
                    next = Some(after)
                }
                _ => break,
            }
        }
        queued.truncate(most);
        Ok(queued)
    }
}

impl ClientError {
    /// Returns true if the resource does not exist.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.code() == Some(&Code::NotFound)
    }
}
