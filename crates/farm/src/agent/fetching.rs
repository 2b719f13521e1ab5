//! Origins of versions: lists the versions that an origin offers, and fetches one into a directory.
//! Downloads are verified if their checksum is known, and unpacked safely (`archive`). None of
//! their code is run here, except the commands that the project itself specifies, which run in the
//! sandbox.

pub(super) mod archive;
mod gem;
pub(super) mod git;
mod pypi;
mod web;
mod zip;

use super::policy::UNPACKED;
use super::repeating::is_zip;
use super::walls::{OutputReader, SandboxedRun, Walls};
use anyhow::Context;
use assay_data::system_error::reason;
use assay_farm::builds::model::VersionKind;
use assay_farm::builds::wire::{NewVersion, Origin, Version};
use assay_measure::Outcome;
use assay_measure::sandbox::Policy;
use assay_report::console::output;
use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
pub(super) use web::Web;

/// Maximum number of characters of a command's output that are quoted.
const SAID: usize = 400;

/// A version offered by an origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OfferedVersion {
    pub version: String,
    pub address: Option<String>,
    pub sha256: Option<String>,
    pub published: Option<String>,
}

impl OfferedVersion {
    /// Returns the version in the form in which it is added.
    pub fn added(self, kind: VersionKind) -> NewVersion {
        let Self { address, sha256, published, .. } = self;
        NewVersion { kind, published, ordinal: None, address, sha256 }
    }
}

/// The reason why a version could not be fetched.
#[derive(Debug, thiserror::Error)]
pub(super) enum FetchError {
    /// The version no longer exists.
    #[error("{0}")]
    Gone(String),
    /// The version cannot be used: its checksum differs, or the archive leads out of its directory.
    #[error("{0}")]
    Version(String),
    /// The origin did not answer.
    #[error("{0}")]
    Network(String),
    /// The disk is full.
    #[error("{0}")]
    Disk(String),
    /// A required program is not installed.
    #[error("{0}")]
    Toolchain(String),
    /// The job was ended.
    #[error("it was ended")]
    Ended,
}

impl FetchError {
    fn of(what: &str, error: &io::Error) -> Self {
        let said = format!("{what}: {}", reason(error));
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Disk(said),
            _ => Self::Version(said),
        }
    }

    /// Classifies an error by the causes in its chain.
    fn of_chain(error: &anyhow::Error) -> Self {
        let io = error.chain().find_map(|own| own.downcast_ref::<io::Error>());
        match io {
            Some(own) => Self::of(&output::told(error), own),
            None => Self::Version(output::told(error)),
        }
    }
}

/// Classifies git's errors by their text, since its exit status does not distinguish them.
fn of_git(error: &anyhow::Error) -> FetchError {
    let said = output::told(error);
    let has = |words: &[&str]| words.iter().any(|own| said.contains(own));
    if has(&["No space left"]) {
        FetchError::Disk(said)
    } else if has(&["was ended by", "did not end within its time limit"])
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

/// The resources and settings used for fetching.
pub(super) struct FetchContext<'a> {
    pub walls: &'a mut Walls,
    pub web: &'a Web,
    /// True if repositories on this machine may be read.
    pub allows_files: bool,
    /// Sandbox policy for the project's own commands: with network access, in a writable directory.
    pub policy: &'a Policy,
    /// A directory for temporary files.
    pub beside: &'a Path,
}

/// A fetched version.
#[derive(Debug, Default)]
pub(super) struct FetchedVersion {
    /// The directory that contains the version's files, relative to the working directory.
    pub top: PathBuf,
    /// The gem from which the files were unpacked, if the version is a gem.
    pub gem: Option<PathBuf>,
    /// A description of what was fetched: an address and its checksum, or a commit.
    pub from: String,
}

/// Returns all versions of an origin. For a repository, tags are returned as releases and branches
/// as commits; versions that are not yet known include the time of their commit.
///
/// # Errors
/// If the origin cannot be queried.
pub(super) fn offered(
    origin: &Origin,
    known: &HashSet<String>,
    means: &mut FetchContext<'_>,
    says: &mut dyn FnMut(&str),
) -> Result<Vec<(VersionKind, OfferedVersion)>, FetchError> {
    let release =
        |own: Vec<OfferedVersion>| own.into_iter().map(|own| (VersionKind::Release, own)).collect();
    match origin {
        Origin::Git { url } => {
            let named = git::named(url, means.allows_files).map_err(|error| of_git(&error))?;
            let is_new = |own: &&git::NamedCommit| !known.contains(own.version());
            let mut commits: Vec<&str> =
                named.iter().filter(is_new).map(|own| own.commit.as_str()).collect();
            commits.sort_unstable();
            commits.dedup();
            // Names have no order, and without one the first failing version cannot be determined.
            // Versions without a date keep the order in which they were found.
            let dated = git::dated(url, &commits, means.beside, means.allows_files);
            let dates = dated.unwrap_or_else(|error| {
                says(&format!(
                    "{}: the dates of commits are unknown: {}",
                    crate::plain::line(url),
                    output::told(&error)
                ));
                HashMap::new()
            });
            let all = named.into_iter().map(|own| {
                let date = dates.get(&own.commit).copied();
                let date = date.and_then(|seconds| jiff::Timestamp::from_second(seconds).ok());
                let published = date.map(|date| date.to_string());
                let kind = if own.is_tag { VersionKind::Release } else { VersionKind::Commit };
                let version = own.version().to_owned();
                (kind, OfferedVersion { version, address: None, sha256: None, published })
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
                Some(OfferedVersion { version, address, sha256: None, published: None })
            });
            Ok(release(lines.collect()))
        }
    }
}

/// Runs a command of the project in the sandbox with network access, and returns its standard
/// output.
fn by_command(
    line: &str,
    env: &[(&str, &str)],
    means: &mut FetchContext<'_>,
    ends: &mut dyn FnMut() -> bool,
) -> Result<String, FetchError> {
    let mut policy = means.policy.clone();
    policy.environment.extend(env.iter().map(|(name, own)| (name.into(), own.into())));
    let argv = ["sh", "-c", line].map(OsString::from);
    let mut looks = |_: &OutputReader<'_>| ends();
    let how =
        SandboxedRun { limit: super::policy::FETCHING, is_together: false, looks: &mut looks };
    let ran = means.walls.run(&policy, &argv, how);
    let ran = ran.map_err(|error| FetchError::Toolchain(output::told(&error)))?;
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

/// Fetches a version into `work`, an existing empty directory.
///
/// # Errors
/// If the version cannot be fetched or used.
pub(super) fn fetch(
    (origin, version): (Option<&Origin>, &Version),
    work: &Path,
    means: &mut FetchContext<'_>,
    ends: &mut dyn FnMut() -> bool,
) -> Result<FetchedVersion, FetchError> {
    let own = match origin {
        Some(Origin::Git { url }) => {
            let commit = git::fetch(url, &version.name, work, means.allows_files, ends)
                .map_err(|error| if ends() { FetchError::Ended } else { of_git(&error) })?;
            let from = format!("{} at {commit}", crate::plain::line(url));
            return Ok(FetchedVersion { top: work.to_owned(), gem: None, from });
        }
        Some(Origin::Command { get, .. }) => {
            let address = version.of.address.clone().unwrap_or_default();
            let env = [("VERSION", version.name.as_str()), ("ADDRESS", address.as_str())];
            by_command(get, &env, means, ends)?;
            let from = format!("`{}`", crate::plain::line(get));
            return Ok(FetchedVersion { top: work.to_owned(), gem: None, from });
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
    unpacked.context("the archive was rejected").map_err(|error| FetchError::of_chain(&error))?;
    let top = if is_gem { work.to_owned() } else { single(work) };
    let from = format!("{}, SHA-256 {sum}", crate::plain::line(&address));
    let gem = is_gem.then_some(file.clone());
    if gem.is_none() {
        // If it cannot be removed, it is removed along with the job's directory.
        let _with_the_rest = fs::remove_file(&file);
    }
    Ok(FetchedVersion { top, gem, from })
}

/// Returns the location of a version: as recorded with it, or otherwise as the origin lists it now.
fn located(
    version: &Version,
    offered: impl FnOnce() -> Result<Vec<OfferedVersion>, FetchError>,
) -> Result<OfferedVersion, FetchError> {
    if version.of.address.is_some() {
        return Ok(OfferedVersion {
            version: version.name.clone(),
            address: version.of.address.clone(),
            sha256: version.of.sha256.clone(),
            published: None,
        });
    }
    let found = offered()?.into_iter().find(|own| own.version == version.name);
    let Some(mut own) = found else {
        let name = crate::plain::line(&version.name);
        return Err(FetchError::Gone(format!("version {name} does not exist, or has no address")));
    };
    // The checksum that was announced first is authoritative.
    own.sha256 = version.of.sha256.clone().or(own.sha256);
    Ok(own)
}

/// Returns the only directory in `work` if it contains nothing else, as with most unpacked
/// archives; otherwise `work` itself.
fn single(work: &Path) -> PathBuf {
    let entries: Vec<PathBuf> = fs::read_dir(work)
        .map(|all| all.flatten().map(|own| own.path()).collect())
        .unwrap_or_default();
    match entries.as_slice() {
        [only] if fs::symlink_metadata(only).is_ok_and(|own| own.is_dir()) => only.clone(),
        _ => work.to_owned(),
    }
}
