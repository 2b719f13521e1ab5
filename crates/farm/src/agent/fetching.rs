//! Where versions come from: what an origin offers, and one version brought into a directory. What comes is verified where it was announced with a sum, and
//! unpacked with care (`archive`). Nothing of it is run here, but the commands that a project names itself, and those in the sandbox.

pub(super) mod archive;
mod gem;
pub(super) mod git;
mod pypi;
mod web;
mod zip;

use super::policy::UNPACKED;
use super::repeating::is_zip;
use super::walls::{How, SoFar, Walls};
use anyhow::Context;
use assay_builds::model::VersionKind;
use assay_builds::wire::{NewVersion, Origin, Version};
use assay_measure::Outcome;
use assay_sandbox::Policy;
use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
pub(super) use web::Web;

/// So much of what a command says is quoted.
const SAID: usize = 400;

/// A version that an origin has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Offered {
    pub version: String,
    pub address: Option<String>,
    pub sha256: Option<String>,
    pub published: Option<String>,
}

impl Offered {
    /// As it is added.
    pub fn added(self, kind: VersionKind) -> NewVersion {
        let Self { address, sha256, published, .. } = self;
        NewVersion { kind, published, ordinal: None, address, sha256 }
    }
}

/// Why a version could not be had.
#[derive(Debug, thiserror::Error)]
pub(super) enum FetchError {
    /// It is not there any more.
    #[error("{0}")]
    Gone(String),
    /// What there is can't be used: another sum, an archive that leads out of its directory.
    #[error("{0}")]
    Version(String),
    /// Nobody answers.
    #[error("{0}")]
    Network(String),
    /// No room.
    #[error("{0}")]
    Disk(String),
    /// A program that is needed is not there.
    #[error("{0}")]
    Toolchain(String),
    /// Somebody wanted an end.
    #[error("it was ended")]
    Ended,
}

impl FetchError {
    fn of(what: &str, error: &io::Error) -> Self {
        let said = format!("{what}: {error}");
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Disk(said),
            _ => Self::Version(said),
        }
    }

    /// By what a chain of causes has in it.
    fn of_chain(error: &anyhow::Error) -> Self {
        let io = error.chain().find_map(|own| own.downcast_ref::<io::Error>());
        match io {
            Some(own) => Self::of(&format!("{error:#}"), own),
            None => Self::Version(format!("{error:#}")),
        }
    }
}

/// What git said, by what it means: it tells nothing apart by its status.
fn of_git(error: &anyhow::Error) -> FetchError {
    let said = format!("{error:#}");
    let has = |words: &[&str]| words.iter().any(|own| said.contains(own));
    if has(&["No space left"]) {
        FetchError::Disk(said)
    } else if has(&["was ended by", "did not end in its time"])
        && assay_measure::interrupt::count() > 0
    {
        FetchError::Ended
    } else if has(&[
        "Could not resolve",
        "unable to access",
        "Connection",
        "timed out",
        "did not end",
    ]) {
        FetchError::Network(said)
    } else if has(&["there is no `git`", "cannot be found", "not found in"]) {
        FetchError::Toolchain(said)
    } else {
        FetchError::Version(said)
    }
}

/// What one may do while something is fetched.
pub(super) struct Means<'a> {
    pub walls: &'a mut Walls,
    pub web: &'a Web,
    /// Whether repositories on this machine may be read.
    pub allows_files: bool,
    /// How a command of the project's is run: with the network, in a directory that it may write.
    pub policy: &'a Policy,
    /// Where something may lie meanwhile.
    pub beside: &'a Path,
}

/// A version that was fetched.
#[derive(Debug, Default)]
pub(super) struct Fetched {
    /// Where its files are, below the directory.
    pub top: PathBuf,
    /// The gem that they are of.
    pub gem: Option<PathBuf>,
    /// What was fetched, for people: an address and its sum, or a commit.
    pub from: String,
}

/// All that an origin has; of a repository its tags as releases, and its branches as commits, those that are not known with the time of their commits.
///
/// # Errors
/// When it can't be asked.
pub(super) fn offered(
    origin: &Origin,
    known: &HashSet<String>,
    means: &mut Means<'_>,
    says: &mut dyn FnMut(&str),
) -> Result<Vec<(VersionKind, Offered)>, FetchError> {
    let release =
        |own: Vec<Offered>| own.into_iter().map(|own| (VersionKind::Release, own)).collect();
    match origin {
        Origin::Git { url } => {
            let named = git::named(url, means.allows_files).map_err(|error| of_git(&error))?;
            let is_new = |own: &&git::Named| !known.contains(own.version());
            let mut commits: Vec<&str> =
                named.iter().filter(is_new).map(|own| own.commit.as_str()).collect();
            commits.sort_unstable();
            commits.dedup();
            // Names have no order, and without one nobody knows what was the first to fail. Versions without a date stand where they were found.
            let dated = git::dated(url, &commits, means.beside, means.allows_files);
            let dates = dated.unwrap_or_else(|error| {
                says(&format!("{}: no dates of commits: {error:#}", crate::plain::line(url)));
                HashMap::new()
            });
            let all = named.into_iter().map(|own| {
                let date = dates.get(&own.commit).copied();
                let date = date.and_then(|seconds| jiff::Timestamp::from_second(seconds).ok());
                let published = date.map(|date| date.to_string());
                let kind = if own.is_tag { VersionKind::Release } else { VersionKind::Commit };
                let version = own.version().to_owned();
                (kind, Offered { version, address: None, sha256: None, published })
            });
            Ok(all.collect())
        }
        Origin::Gem { name, index } => gem::offered(means.web, name, index.as_deref()).map(release),
        Origin::PyPi { name, index } => {
            pypi::offered(means.web, name, index.as_deref()).map(release)
        }
        Origin::Command { list, .. } => {
            let said = by_command(list, &[], means, &mut || false)?;
            let lines = said.lines().filter_map(|line| {
                let mut words = line.split_whitespace();
                let version = words.next()?.to_owned();
                let address = words.next().map(str::to_owned);
                Some(Offered { version, address, sha256: None, published: None })
            });
            Ok(release(lines.collect()))
        }
    }
}

/// Runs a command of the project's in the sandbox, with the network; what it says to standard output.
fn by_command(
    line: &str,
    env: &[(&str, &str)],
    means: &mut Means<'_>,
    ends: &mut dyn FnMut() -> bool,
) -> Result<String, FetchError> {
    let mut policy = means.policy.clone();
    policy.environment.extend(env.iter().map(|(name, own)| (name.into(), own.into())));
    let argv = ["sh", "-c", line].map(OsString::from);
    let mut looks = |_: &SoFar<'_>| ends();
    let how = How { limit: super::policy::FETCHING, is_together: false, looks: &mut looks };
    let ran = means.walls.run(&policy, &argv, how);
    let ran = ran.map_err(|error| FetchError::Toolchain(format!("{error:#}")))?;
    match ran.outcome {
        Outcome::Exited(0) => Ok(String::from_utf8_lossy(&ran.output.bytes).into_owned()),
        _ if assay_measure::interrupt::count() > 0 => Err(FetchError::Ended),
        outcome => {
            let said = String::from_utf8_lossy(&ran.errors.bytes).into_owned();
            let said: String = crate::plain::line(&said).chars().take(SAID).collect();
            let shown = crate::plain::line(line);
            Err(FetchError::Version(format!("`{shown}` {outcome}; it said: {said}")))
        }
    }
}

/// Brings a version into `work`, which is there and empty.
///
/// # Errors
/// When it can't be had, or not be used.
pub(super) fn fetch(
    (origin, version): (Option<&Origin>, &Version),
    work: &Path,
    means: &mut Means<'_>,
    ends: &mut dyn FnMut() -> bool,
) -> Result<Fetched, FetchError> {
    let own = match origin {
        Some(Origin::Git { url }) => {
            let commit = git::fetch(url, &version.name, work, means.allows_files, ends)
                .map_err(|error| if ends() { FetchError::Ended } else { of_git(&error) })?;
            let from = format!("{} at {commit}", crate::plain::line(url));
            return Ok(Fetched { top: work.to_owned(), gem: None, from });
        }
        Some(Origin::Command { get, .. }) => {
            let address = version.of.address.clone().unwrap_or_default();
            let env = [("VERSION", version.name.as_str()), ("ADDRESS", address.as_str())];
            by_command(get, &env, means, ends)?;
            let from = format!("`{}`", crate::plain::line(get));
            return Ok(Fetched { top: work.to_owned(), gem: None, from });
        }
        Some(Origin::Gem { name, index }) => {
            located(version, || gem::offered(means.web, name, index.as_deref()))?
        }
        Some(Origin::PyPi { name, index }) => {
            located(version, || pypi::offered(means.web, name, index.as_deref()))?
        }
        None => located(version, || Ok(Vec::new()))?,
    };
    let address = own.address.unwrap_or_default();
    let name = address.split(['?', '#']).next().unwrap_or_default();
    let (is_gem, is_zip) = (name.ends_with(".gem"), is_zip(&address));
    let file = means.beside.join(match (is_gem, is_zip) {
        (true, _) => "version.gem",
        (_, true) => "version.zip",
        _ => "version.tar.gz",
    });
    let sum = means.web.download(&address, own.sha256.as_deref(), &file, ends)?;
    let opened = || fs::File::open(&file).with_context(|| file.display().to_string());
    let unpacked = match (is_gem, is_zip) {
        (true, _) => gem::unpack(&file, work),
        (_, true) => opened().and_then(|from| zip::unpack(from, work, UNPACKED)),
        _ => opened().and_then(|from| archive::unpack_gz(from, work)),
    };
    unpacked.context("the archive was refused").map_err(|error| FetchError::of_chain(&error))?;
    let top = if is_gem { work.to_owned() } else { single(work) };
    let from = format!("{}, SHA-256 {sum}", crate::plain::line(&address));
    let gem = is_gem.then_some(file.clone());
    if gem.is_none() {
        // It goes with the job's directory otherwise.
        let _with_the_rest = fs::remove_file(&file);
    }
    Ok(Fetched { top, gem, from })
}

/// Where a version is: as it was added, or else as the origin has it now.
fn located(
    version: &Version,
    offered: impl FnOnce() -> Result<Vec<Offered>, FetchError>,
) -> Result<Offered, FetchError> {
    if version.of.address.is_some() {
        return Ok(Offered {
            version: version.name.clone(),
            address: version.of.address.clone(),
            sha256: version.of.sha256.clone(),
            published: None,
        });
    }
    let found = offered()?.into_iter().find(|own| own.version == version.name);
    let Some(mut own) = found else {
        let name = crate::plain::line(&version.name);
        return Err(FetchError::Gone(format!("version {name} is not there, or has no address")));
    };
    // What was announced first counts.
    own.sha256 = version.of.sha256.clone().or(own.sha256);
    Ok(own)
}

/// The one directory that is all of what an archive holds, as is usual, or else the directory itself.
fn single(work: &Path) -> PathBuf {
    let entries: Vec<PathBuf> = fs::read_dir(work)
        .map(|all| all.flatten().map(|own| own.path()).collect())
        .unwrap_or_default();
    match entries.as_slice() {
        [only] if fs::symlink_metadata(only).is_ok_and(|own| own.is_dir()) => only.clone(),
        _ => work.to_owned(),
    }
}
