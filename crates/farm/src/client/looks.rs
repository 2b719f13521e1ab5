//! Requests that read the server's state and its queue, for executors and the doctor.

use super::{Client, ClientError, Code, part};
use crate::builds::wire::{Job, Page};
use serde::Deserialize;

/// Information about a server.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ServerInfo {
    /// Name and version of the server's program.
    pub tool: String,
    /// Time on the server's clock.
    pub time: String,
}

impl Client {
    /// Returns information about the server. No token is required.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub fn about(&self) -> Result<ServerInfo, ClientError> {
        self.get("")
    }

    /// Returns at most `most` queued jobs, which have no lease. The most urgent come first, and
    /// equally urgent ones are in the order in which they were added.
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
    /// Returns true if the server refused the request because the resource does not exist.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.code() == Some(&Code::NotFound)
    }
}
