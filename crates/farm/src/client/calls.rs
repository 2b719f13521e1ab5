//! Methods of the client, one for each path of the API. The types of the messages are in
//! `crate::builds::wire`.

use super::{Client, ClientError, ClientRequest, part, retry_after};
use crate::builds::model::{State, digest};
use crate::builds::wire::{
    AuditEntry, Build, Calibration, Ending, Heartbeat, HeartbeatAnswer, Hello, Job, LeaseRequest,
    LeasedJob, MadeToken, Matrix, NewBuild, NewJob, NewProject, NewTarget, NewToken, NewVersion,
    Node, Owner, Page, Project, Reason, Target, Token as Listed, Version, Welcome,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::time::Duration;
use ureq::http::Method;

/// Content type of binary data.
const BYTES: &str = "application/octet-stream";
/// Maximum number of pages read of a list, in case the server never ends it.
const MOST_PAGES: usize = 100_000;

/// The server's answer to a lease request.
#[derive(Debug)]
pub enum LeaseAnswer {
    /// A job for the agent to run.
    Granted(Box<LeasedJob>),
    /// There is no job. The server may specify how long to wait before the next request.
    Nothing(Option<Duration>),
}

/// A filter for builds. Fields that are `None` match all builds.
#[derive(Clone, Debug, Default)]
pub struct BuildFilter<'a> {
    /// Name of the owner.
    pub owner: Option<&'a str>,
    /// Name of the project. Requires an owner.
    pub project: Option<&'a str>,
    /// Name of the version. Requires a project.
    pub version: Option<&'a str>,
    /// Digest of the target.
    pub target: Option<&'a str>,
    /// State of the build.
    pub state: Option<State>,
}

fn owner(owner: &str) -> String {
    format!("/owners/{}", part(owner))
}

fn project(of: &str, project: &str) -> String {
    format!("{}/projects/{}", owner(of), part(project))
}

fn version(of: &str, of_project: &str, version: &str) -> String {
    format!("{}/versions/{}", project(of, of_project), part(version))
}

/// Adding and reading resources. All additions are idempotent.
impl Client {
    /// Adds a resource at this path, and caches its number.
    fn add<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
        id: impl Fn(&T) -> i64,
    ) -> Result<T, ClientError> {
        let added = self.give((Method::PUT, path), body, true)?;
        self.memory().keep_id(path, id(&added));
        Ok(added)
    }

    /// Adds an owner and returns its number. If the number is cached, no request is sent.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub fn add_owner(&self, name: &str) -> Result<i64, ClientError> {
        let path = owner(name);
        if let Some(known) = self.memory().id(&path) {
            return Ok(known);
        }
        let none = serde_json::Map::new();
        Ok(self.add(&path, &none, |own: &Owner| own.id)?.id)
    }

    /// Adds a project, or updates the existing one.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub fn add_project(
        &self,
        of: &str,
        name: &str,
        new: &NewProject,
    ) -> Result<Project, ClientError> {
        self.add(&project(of, name), new, |own: &Project| own.id)
    }

    /// Adds a version.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub fn add_version(
        &self,
        (of, of_project): (&str, &str),
        name: &str,
        new: &NewVersion,
    ) -> Result<Version, ClientError> {
        self.add(&version(of, of_project, name), new, |own: &Version| own.id)
    }

    /// Marks a version as no longer available from its origin. Its results are kept.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub fn version_is_gone(
        &self,
        (of, of_project): (&str, &str),
        name: &str,
    ) -> Result<(), ClientError> {
        self.hand((Method::DELETE, &version(of, of_project, name)), None)
    }

    /// Adds a target under the digest of its facts, and returns its number. If the number is
    /// cached, no request is sent.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub fn add_target(&self, new: &NewTarget) -> Result<i64, ClientError> {
        let path = format!("/targets/{}", digest(&new.facts));
        if let Some(known) = self.memory().id(&path) {
            return Ok(known);
        }
        Ok(self.add(&path, new, |own: &Target| own.id)?.id)
    }

    /// Adds a build that belongs to no job. `key` identifies it, so that adding it twice creates
    /// one build.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub fn add_build(&self, key: &str, new: &NewBuild) -> Result<Build, ClientError> {
        self.give((Method::PUT, &format!("/builds/{}", part(key))), new, true)
    }

    /// Returns a whole list, which is requested page by page.
    fn list<T: DeserializeOwned>(&self, path: &str) -> Result<Vec<T>, ClientError> {
        let mut all = Vec::new();
        let mut next: Option<String> = None;
        for _ in 0..MOST_PAGES {
            let sign = if path.contains('?') { '&' } else { '?' };
            let asked = match &next {
                Some(after) => format!("{path}{sign}after={}", part(after)),
                None => path.to_owned(),
            };
            let page: Page<T> = self.get(&asked)?;
            all.extend(page.items);
            match page.next {
                Some(after) if Some(&after) != next.as_ref() => next = Some(after),
                _ => break,
            }
        }
        Ok(all)
    }

    /// Returns all owners.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub fn owners(&self) -> Result<Vec<Owner>, ClientError> {
        self.list("/owners")
    }

    /// Returns the projects of an owner.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub fn projects(&self, of: &str) -> Result<Vec<Project>, ClientError> {
        self.list(&format!("{}/projects", owner(of)))
    }

    /// Returns the versions of a project.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub fn versions(&self, of: &str, of_project: &str) -> Result<Vec<Version>, ClientError> {
        self.list(&format!("{}/versions", project(of, of_project)))
    }

    /// Returns all targets.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub fn targets(&self) -> Result<Vec<Target>, ClientError> {
        self.list("/targets")
    }

    /// Returns the builds that match a filter.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub fn builds(&self, known: &BuildFilter<'_>) -> Result<Vec<Build>, ClientError> {
        let words = [
            ("owner", known.owner),
            ("project", known.project),
            ("version", known.version),
            ("target", known.target),
            ("state", known.state.map(State::name)),
        ];
        let words = words.into_iter().filter_map(|(name, own)| Some((name, own?)));
        let query: Vec<String> = words.map(|(name, own)| format!("{name}={}", part(own))).collect();
        match query.is_empty() {
            true => self.list("/builds"),
            false => self.list(&format!("/builds?{}", query.join("&"))),
        }
    }

    /// Returns the results of a project's versions on its targets.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub fn matrix(&self, of: &str, of_project: &str) -> Result<Matrix, ClientError> {
        self.get(&format!("{}/matrix", project(of, of_project)))
    }
}

/// Queueing, reading and cancelling jobs.
impl Client {
    /// Queues a job. The request is not repeated after a failure, since that might queue the job
    /// twice.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub fn add_job(&self, new: &NewJob) -> Result<Job, ClientError> {
        self.give((Method::POST, "/jobs"), new, false)
    }

    /// Returns the job with the number `id`.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub fn job(&self, id: i64) -> Result<Job, ClientError> {
        self.get(&format!("/jobs/{id}"))
    }

    /// Cancels the job with the number `id`.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub fn cancel(&self, id: i64) -> Result<(), ClientError> {
        self.hand((Method::DELETE, &format!("/jobs/{id}")), None)
    }
}

/// Requests of agents, and management of nodes.
impl Client {
    /// Registers a node, its targets, and the kinds of jobs that it can run.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub fn hello(&self, node: &str, hello: &Hello) -> Result<Welcome, ClientError> {
        self.give((Method::POST, &format!("/nodes/{}/hello", part(node))), hello, true)
    }

    /// Requests a job. The request is not repeated after a failure: if the server had already
    /// leased a job, that job would stay idle until its lease ends.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub fn lease(&self, node: &str, asking: &LeaseRequest) -> Result<LeaseAnswer, ClientError> {
        let path = format!("/nodes/{}/lease", part(node));
        let text = super::text_of((&Method::POST, &path), asking)?;
        let body = Some(("application/json", text.as_slice()));
        let asked = ClientRequest { method: Method::POST, path: &path, body, repeats: false };
        let mut answer = self.answered(&asked)?;
        if answer.status().as_u16() == 204 {
            return Ok(LeaseAnswer::Nothing(retry_after(&answer)));
        }
        Ok(LeaseAnswer::Granted(Box::new(self.read(&asked, &mut answer)?)))
    }

    /// Sends a heartbeat, which extends the lease of a job.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub fn beat(&self, job: i64, beat: &Heartbeat) -> Result<HeartbeatAnswer, ClientError> {
        self.give((Method::POST, &format!("/jobs/{job}/heartbeat")), beat, true)
    }

    /// Appends `bytes` to the log of a job, at `offset` in bytes.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub fn log(&self, job: i64, nonce: &str, offset: u64, bytes: &[u8]) -> Result<(), ClientError> {
        let path = format!("/jobs/{job}/log?nonce={}&offset={offset}", part(nonce));
        self.hand((Method::PUT, &path), Some((BYTES, bytes)))
    }

    /// Submits the samples of a job, which are the contents of an `.assay` file.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub fn samples(&self, job: i64, nonce: &str, bytes: &[u8]) -> Result<(), ClientError> {
        let path = format!("/jobs/{job}/samples?nonce={}", part(nonce));
        self.hand((Method::PUT, &path), Some((BYTES, bytes)))
    }

    /// Submits the result of a job. Submitting it twice creates one build.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub fn result(&self, job: i64, ending: &Ending) -> Result<Build, ClientError> {
        self.give((Method::PUT, &format!("/jobs/{job}/result")), ending, true)
    }

    /// Submits the result of a node's A/A runs, which compare a program with itself.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub fn calibrated(&self, node: &str, own: &Calibration) -> Result<(), ClientError> {
        let path = format!("/nodes/{}/calibration", part(node));
        let text = super::text_of((&Method::POST, &path), own)?;
        self.hand((Method::POST, &path), Some(("application/json", &text)))
    }

    /// Drains a node for the given reason: it gets no more leases, but may finish its current jobs.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub fn drain(&self, node: &str, reason: &str) -> Result<(), ClientError> {
        let path = format!("/nodes/{}/drain", part(node));
        let body = Reason { reason: reason.to_owned() };
        let text = super::text_of((&Method::POST, &path), &body)?;
        self.hand((Method::POST, &path), Some(("application/json", &text)))
    }

    /// Allows a drained node to get leases again.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub fn resume(&self, node: &str) -> Result<(), ClientError> {
        self.hand((Method::POST, &format!("/nodes/{}/resume", part(node))), None)
    }

    /// Returns all nodes.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub fn nodes(&self) -> Result<Vec<Node>, ClientError> {
        self.list("/nodes")
    }

    /// Returns the node with this name.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub fn node(&self, name: &str) -> Result<Node, ClientError> {
        self.get(&format!("/nodes/{}", part(name)))
    }
}

/// Tokens and the audit log, for administrators.
impl Client {
    /// Creates a token. The request is not repeated after a failure, since that might leave a token
    /// whose secret is unknown.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub fn add_token(&self, new: &NewToken) -> Result<MadeToken, ClientError> {
        self.give((Method::POST, "/tokens"), new, false)
    }

    /// Returns all tokens, without their secrets.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub fn tokens(&self) -> Result<Vec<Listed>, ClientError> {
        self.list("/tokens")
    }

    /// Revokes a token.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub fn remove_token(&self, id: i64) -> Result<(), ClientError> {
        self.hand((Method::DELETE, &format!("/tokens/{id}")), None)
    }

    /// Replaces the secret of a token. The request is not repeated after a failure.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub fn rotate_token(&self, id: i64) -> Result<MadeToken, ClientError> {
        let none = serde_json::Map::new();
        self.give((Method::POST, &format!("/tokens/{id}/rotate")), &none, false)
    }

    /// Returns the audit log, which records the requests made with each token.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub fn audit(&self) -> Result<Vec<AuditEntry>, ClientError> {
        self.list("/audit")
    }
}
