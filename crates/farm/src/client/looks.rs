//! What is asked by who looks at a farm from outside: executors and the doctor.

use super::{Client, ClientError, Code, part};
use assay_builds::wire::{Job, Page};
use serde::Deserialize;

/// What a server says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct About {
    /// What runs.
    pub tool: String,
    /// Its clock.
    pub time: String,
}

impl Client {
    /// What the server is; needs no token.
    ///
    /// # Errors
    /// As every call has them.
    pub fn about(&self) -> Result<About, ClientError> {
        self.get("")
    }

    /// So many of the jobs that nobody has, at most: the most urgent first, and of equal ones those that were added first.
    ///
    /// # Errors
    /// As every call has them.
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
    /// Whether there is no such thing.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.code() == Some(&Code::NotFound)
    }
}
