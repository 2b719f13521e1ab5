//! Each path of the API as a function. What is asked and answered is `assay_builds::wire`'s.

use super::{Asked, Client, ClientError, part, retry_after};
use assay_builds::model::{State, digest};
use assay_builds::wire::{
    Asking, Audited, Beat, Beaten, Build, Calibration, Ending, Hello, Job, Leased, MadeToken,
    Matrix, NewBuild, NewJob, NewProject, NewTarget, NewToken, NewVersion, Node, Owner, Page,
    Project, Reason, Target, Token as Listed, Version, Welcome,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::time::Duration;
use ureq::http::Method;

/// What is sent as it is.
const BYTES: &str = "application/octet-stream";
/// A list has an end, whatever the server says: pages.
const MOST_PAGES: usize = 100_000;

/// What came of asking for a lease.
#[derive(Debug)]
pub enum Lease {
    /// There is something to do.
    Job(Box<Leased>),
    /// There is not; asking again so much later is early enough, where the server says so.
    Nothing(Option<Duration>),
}

/// Of what builds are listed; `None`: of all.
#[derive(Clone, Debug, Default)]
pub struct Known<'a> {
    /// Whose.
    pub owner: Option<&'a str>,
    /// Which project.
    pub project: Option<&'a str>,
    /// Which version.
    pub version: Option<&'a str>,
    /// The target's digest.
    pub target: Option<&'a str>,
    /// What came of it.
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

/// What is added and read: each addition is idempotent.
impl Client {
    /// Adds something that stands at this path from then on, and remembers its number.
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

    /// Adds an owner; gives its number, without asking where that is known.
    ///
    /// # Errors
    /// As every call has them.
    pub fn add_owner(&self, name: &str) -> Result<i64, ClientError> {
        let path = owner(name);
        if let Some(known) = self.memory().id(&path) {
            return Ok(known);
        }
        let none = serde_json::Map::new();
        Ok(self.add(&path, &none, |own: &Owner| own.id)?.id)
    }

    /// Adds a project, or changes what is said of it.
    ///
    /// # Errors
    /// As every call has them.
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
    /// As every call has them.
    pub fn add_version(
        &self,
        (of, of_project): (&str, &str),
        name: &str,
        new: &NewVersion,
    ) -> Result<Version, ClientError> {
        self.add(&version(of, of_project, name), new, |own: &Version| own.id)
    }

    /// Notes that a version is gone where it came from; what was found of it stays.
    ///
    /// # Errors
    /// As every call has them.
    pub fn version_is_gone(
        &self,
        (of, of_project): (&str, &str),
        name: &str,
    ) -> Result<(), ClientError> {
        self.hand((Method::DELETE, &version(of, of_project, name)), None)
    }

    /// Adds a target under the digest of its facts; gives its number, without asking where that is known.
    ///
    /// # Errors
    /// As every call has them.
    pub fn add_target(&self, new: &NewTarget) -> Result<i64, ClientError> {
        let path = format!("/targets/{}", digest(&new.facts));
        if let Some(known) = self.memory().id(&path) {
            return Ok(known);
        }
        Ok(self.add(&path, new, |own: &Target| own.id)?.id)
    }

    /// Adds a build that no job asked for.
    ///
    /// # Errors
    /// As every call has them.
    pub fn add_build(&self, key: &str, new: &NewBuild) -> Result<Build, ClientError> {
        self.give((Method::PUT, &format!("/builds/{}", part(key))), new, true)
    }

    /// A list, page by page.
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

    /// All owners.
    ///
    /// # Errors
    /// As every call has them.
    pub fn owners(&self) -> Result<Vec<Owner>, ClientError> {
        self.list("/owners")
    }

    /// The projects of an owner.
    ///
    /// # Errors
    /// As every call has them.
    pub fn projects(&self, of: &str) -> Result<Vec<Project>, ClientError> {
        self.list(&format!("{}/projects", owner(of)))
    }

    /// The versions of a project.
    ///
    /// # Errors
    /// As every call has them.
    pub fn versions(&self, of: &str, of_project: &str) -> Result<Vec<Version>, ClientError> {
        self.list(&format!("{}/versions", project(of, of_project)))
    }

    /// All targets.
    ///
    /// # Errors
    /// As every call has them.
    pub fn targets(&self) -> Result<Vec<Target>, ClientError> {
        self.list("/targets")
    }

    /// Builds, as far as they are asked for.
    ///
    /// # Errors
    /// As every call has them.
    pub fn builds(&self, known: &Known<'_>) -> Result<Vec<Build>, ClientError> {
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

    /// Versions × targets of a project.
    ///
    /// # Errors
    /// As every call has them.
    pub fn matrix(&self, of: &str, of_project: &str) -> Result<Matrix, ClientError> {
        self.get(&format!("{}/matrix", project(of, of_project)))
    }
}

/// Jobs.
impl Client {
    /// Queues a job. Not asked again after a failure: it might be queued twice.
    ///
    /// # Errors
    /// As every call has them.
    pub fn add_job(&self, new: &NewJob) -> Result<Job, ClientError> {
        self.give((Method::POST, "/jobs"), new, false)
    }

    /// A job.
    ///
    /// # Errors
    /// As every call has them.
    pub fn job(&self, id: i64) -> Result<Job, ClientError> {
        self.get(&format!("/jobs/{id}"))
    }

    /// Takes a job back.
    ///
    /// # Errors
    /// As every call has them.
    pub fn cancel(&self, id: i64) -> Result<(), ClientError> {
        self.hand((Method::DELETE, &format!("/jobs/{id}")), None)
    }
}

/// What a node says.
impl Client {
    /// Says that a node is there, and what it can do.
    ///
    /// # Errors
    /// As every call has them.
    pub fn hello(&self, node: &str, hello: &Hello) -> Result<Welcome, ClientError> {
        self.give((Method::POST, &format!("/nodes/{}/hello", part(node))), hello, true)
    }

    /// Asks for a job. Not asked again after a failure: one may be leased already, and lies idle until its lease ends.
    ///
    /// # Errors
    /// As every call has them.
    pub fn lease(&self, node: &str, asking: &Asking) -> Result<Lease, ClientError> {
        let path = format!("/nodes/{}/lease", part(node));
        let text = super::text_of((&Method::POST, &path), asking)?;
        let body = Some(("application/json", text.as_slice()));
        let asked = Asked { method: Method::POST, path: &path, body, repeats: false };
        let mut answer = self.answered(&asked)?;
        if answer.status().as_u16() == 204 {
            return Ok(Lease::Nothing(retry_after(&answer)));
        }
        Ok(Lease::Job(Box::new(self.read(&asked, &mut answer)?)))
    }

    /// A sign of life.
    ///
    /// # Errors
    /// As every call has them.
    pub fn beat(&self, job: i64, beat: &Beat) -> Result<Beaten, ClientError> {
        self.give((Method::POST, &format!("/jobs/{job}/heartbeat")), beat, true)
    }

    /// More of a job's log: what stands there from this offset on.
    ///
    /// # Errors
    /// As every call has them.
    pub fn log(&self, job: i64, nonce: &str, offset: u64, bytes: &[u8]) -> Result<(), ClientError> {
        let path = format!("/jobs/{job}/log?nonce={}&offset={offset}", part(nonce));
        self.hand((Method::PUT, &path), Some((BYTES, bytes)))
    }

    /// The samples of a job: an `.assay` file.
    ///
    /// # Errors
    /// As every call has them.
    pub fn samples(&self, job: i64, nonce: &str, bytes: &[u8]) -> Result<(), ClientError> {
        let path = format!("/jobs/{job}/samples?nonce={}", part(nonce));
        self.hand((Method::PUT, &path), Some((BYTES, bytes)))
    }

    /// Ends a job. Handed in twice it is one build.
    ///
    /// # Errors
    /// As every call has them.
    pub fn result(&self, job: i64, ending: &Ending) -> Result<Build, ClientError> {
        self.give((Method::PUT, &format!("/jobs/{job}/result")), ending, true)
    }

    /// What an A/A run of the node came to.
    ///
    /// # Errors
    /// As every call has them.
    pub fn calibrated(&self, node: &str, own: &Calibration) -> Result<(), ClientError> {
        let path = format!("/nodes/{}/calibration", part(node));
        let text = super::text_of((&Method::POST, &path), own)?;
        self.hand((Method::POST, &path), Some(("application/json", &text)))
    }

    /// The node gets no more leases, for this reason.
    ///
    /// # Errors
    /// As every call has them.
    pub fn drain(&self, node: &str, reason: &str) -> Result<(), ClientError> {
        let path = format!("/nodes/{}/drain", part(node));
        let body = Reason { reason: reason.to_owned() };
        let text = super::text_of((&Method::POST, &path), &body)?;
        self.hand((Method::POST, &path), Some(("application/json", &text)))
    }

    /// It gets leases again.
    ///
    /// # Errors
    /// As every call has them.
    pub fn resume(&self, node: &str) -> Result<(), ClientError> {
        self.hand((Method::POST, &format!("/nodes/{}/resume", part(node))), None)
    }

    /// All nodes.
    ///
    /// # Errors
    /// As every call has them.
    pub fn nodes(&self) -> Result<Vec<Node>, ClientError> {
        self.list("/nodes")
    }

    /// One node.
    ///
    /// # Errors
    /// As every call has them.
    pub fn node(&self, name: &str) -> Result<Node, ClientError> {
        self.get(&format!("/nodes/{}", part(name)))
    }
}

/// What an administrator does.
impl Client {
    /// Makes a token. Not asked again after a failure: the first one would be there, and nobody have it.
    ///
    /// # Errors
    /// As every call has them.
    pub fn add_token(&self, new: &NewToken) -> Result<MadeToken, ClientError> {
        self.give((Method::POST, "/tokens"), new, false)
    }

    /// All tokens, without their secrets.
    ///
    /// # Errors
    /// As every call has them.
    pub fn tokens(&self) -> Result<Vec<Listed>, ClientError> {
        self.list("/tokens")
    }

    /// Takes a token back.
    ///
    /// # Errors
    /// As every call has them.
    pub fn remove_token(&self, id: i64) -> Result<(), ClientError> {
        self.hand((Method::DELETE, &format!("/tokens/{id}")), None)
    }

    /// Replaces a token by a new one. Not asked again after a failure.
    ///
    /// # Errors
    /// As every call has them.
    pub fn rotate_token(&self, id: i64) -> Result<MadeToken, ClientError> {
        let none = serde_json::Map::new();
        self.give((Method::POST, &format!("/tokens/{id}/rotate")), &none, false)
    }

    /// Who did what.
    ///
    /// # Errors
    /// As every call has them.
    pub fn audit(&self) -> Result<Vec<Audited>, ClientError> {
        self.list("/audit")
    }
}
