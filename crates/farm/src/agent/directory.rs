//! The directory of an agent: `spool` contains results that could not be submitted yet, and `jobs`
//! contains one directory per current job, which is removed when the job ends. Only one agent uses
//! the directory at a time; the next one removes the remains of a killed agent's jobs. The
//! sandbox's user can access only the jobs.

use super::policy::FILES;
use super::runtimes::Runtime;
use super::walls::Walls;
use anyhow::{Context, bail};
use assay_measure::sandbox::{Limits, Policy, SandboxError};
use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// Variables of the agent that are passed to jobs because the network here requires them. Jobs can
/// read any secrets in them.
const HANDED_ON: [&str; 19] = [
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "CURL_CA_BUNDLE",
    "REQUESTS_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "GIT_SSL_CAINFO",
    "CARGO_HTTP_CAINFO",
    "PIP_CERT",
    "PIP_INDEX_URL",
    "PIP_DEFAULT_TIMEOUT",
    "GOPROXY",
    "GOSUMDB",
    "npm_config_registry",
];
/// The system's program directories.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

/// The directory of an agent, locked while in use.
#[derive(Debug)]
pub(super) struct AgentDirectory {
    directory: PathBuf,
    /// Held while the directory is in use.
    _lock: File,
}

/// The directories of one job, removed on drop.
#[derive(Debug)]
pub(super) struct JobDirectory {
    directory: PathBuf,
    reads: Vec<PathBuf>,
    /// Name and version of the job's runtime.
    runtime: (&'static str, String),
}

fn made(path: &Path, mode: u32) -> anyhow::Result<()> {
    let made = DirBuilder::new().recursive(true).mode(mode).create(path);
    made.with_context(|| path.display().to_string())?;
    // The mode is set explicitly, because the umask or an existing directory may differ.
    fs::set_permissions(path, Permissions::from_mode(mode))
        .with_context(|| path.display().to_string())
}

impl AgentDirectory {
    /// Opens the directory, an absolute path. If another agent uses it, the next one of `DIR-2`,
    /// `DIR-3`, … up to `most` is used.
    ///
    /// # Errors
    /// If the directory cannot be created, all are in use, or the sandbox's user cannot access it.
    pub fn open(directory: &Path, most: u32, walls: &Walls) -> anyhow::Result<Self> {
        let beside = (2..=most).map(|number| {
            let mut name = directory.as_os_str().to_owned();
            name.push(format!("-{number}"));
            PathBuf::from(name)
        });
        for directory in std::iter::once(directory.to_owned()).chain(beside) {
            if let Some(own) = Self::open_one(&directory, walls)? {
                return Ok(own);
            }
        }
        let name = directory.display();
        bail!(
            "{name} is in use by another agent; give this agent its own directory with --directory"
        );
    }

    /// Opens and locks one directory; returns `None` if another agent uses it.
    fn open_one(directory: &Path, walls: &Walls) -> anyhow::Result<Option<Self>> {
        let name = directory.display();
        if directory.exists() && !directory.is_dir() {
            bail!("--directory {name}: not a directory");
        }
        made(directory, 0o755)?;
        let lock = File::create(directory.join("lock")).with_context(|| name.to_string())?;
        if lock.try_lock().is_err() {
            return Ok(None);
        }
        let own = Self { directory: directory.to_owned(), _lock: lock };
        removed(&own.jobs()).with_context(|| own.jobs().display().to_string())?;
        made(&own.jobs(), 0o755)?;
        made(&own.spool(), 0o700)?;
        match walls.sandbox.check(&Policy::default(), &[own.jobs()]) {
            Ok(()) => Ok(Some(own)),
            Err(SandboxError::Unreadable { user, .. }) => bail!(
                "{name}: the sandbox user `{user}` cannot access it; use --directory to name a directory outside of home directories, such as /var/lib/assay-farm"
            ),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the path of the directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    fn jobs(&self) -> PathBuf {
        self.directory.join("jobs")
    }

    /// Returns the directory of results that wait to be submitted.
    pub fn spool(&self) -> PathBuf {
        self.directory.join("spool")
    }

    /// Returns the number of free bytes on the file system that contains the directory.
    pub fn free(&self) -> u64 {
        free(&self.directory)
    }

    /// Creates the directories of a job, which can read `beside` in addition to its runtime.
    ///
    /// # Errors
    /// If they cannot be created.
    pub fn job(
        &self,
        key: &str,
        runtime: &Runtime,
        beside: Option<&Path>,
    ) -> anyhow::Result<JobDirectory> {
        let job = JobDirectory {
            directory: self.jobs().join(key),
            reads: runtime
                .reads
                .iter()
                .map(PathBuf::as_path)
                .chain(beside)
                .map(Path::to_owned)
                .collect(),
            runtime: (runtime.name, runtime.version.clone()),
        };
        for own in [job.directory.clone(), job.bin()] {
            made(&own, 0o755)?;
        }
        for own in [job.work(), job.base(), job.home(), job.rooms(), job.beside()] {
            made(&own, 0o700)?;
        }
        for (called, program) in &runtime.programs {
            let link = job.bin().join(called);
            symlink(program, &link).with_context(|| link.display().to_string())?;
        }
        Ok(job)
    }
}

/// Returns the number of free bytes on a directory's file system; `u64::MAX` if unknown.
pub(super) fn free(directory: &Path) -> u64 {
    let found = rustix::fs::statvfs(directory);
    found.map_or(u64::MAX, |own| own.f_bavail.saturating_mul(own.f_frsize))
}

impl JobDirectory {
    /// Returns the directory of the version under test.
    pub fn work(&self) -> PathBuf {
        self.directory.join("work")
    }

    /// Returns the directory of the base with which it is compared.
    pub fn base(&self) -> PathBuf {
        self.directory.join("base")
    }

    /// Returns the directory into which the job installs packages.
    pub fn home(&self) -> PathBuf {
        self.directory.join("home")
    }

    /// Returns the directory for reports of test frameworks.
    pub fn rooms(&self) -> PathBuf {
        self.directory.join("rooms")
    }

    /// Returns the directory with the programs of the job's runtime.
    pub fn bin(&self) -> PathBuf {
        self.directory.join("bin")
    }

    /// Returns a directory that is not visible in the sandbox.
    pub fn beside(&self) -> PathBuf {
        self.directory.join("beside")
    }

    /// Gives the writable directories to the sandbox's user.
    ///
    /// # Errors
    /// If they cannot be handed over.
    pub fn hand_over(&self, walls: &Walls) -> anyhow::Result<()> {
        for own in [self.work(), self.base(), self.home(), self.rooms()] {
            walls.sandbox.hand_over(&own)?;
        }
        Ok(())
    }

    /// Returns the sandbox policy for one of the job's commands.
    pub fn policy(&self, directory: &Path, network: bool, limits: Limits) -> Policy {
        let mut reads = self.reads.clone();
        reads.push(self.bin());
        Policy {
            directory: directory.to_owned(),
            reads,
            writes: vec![self.work(), self.base(), self.home(), self.rooms()],
            hides: Vec::new(),
            opened: Vec::new(),
            environment: self.environment(),
            network,
            limits,
        }
    }

    /// Returns the job's variables, which include none of the agent's except those that the network
    /// requires.
    pub fn environment(&self) -> Vec<(OsString, OsString)> {
        let (home, bin) = (self.home(), self.bin());
        // Programs installed by the job come first, then those of its runtime.
        let path = [
            home.join("venv/bin"),
            home.join("gems/bin"),
            home.join(".local/bin"),
            home.join("go/bin"),
            home.join("cargo/bin"),
            bin,
        ];
        let path: Vec<String> = path.iter().map(|own| own.display().to_string()).collect();
        let mut all: Vec<(OsString, OsString)> = vec![
            ("HOME".into(), home.clone().into()),
            ("PATH".into(), format!("{}:{PATH}", path.join(":")).into()),
            ("LANG".into(), "C.UTF-8".into()),
            ("GEM_HOME".into(), home.join("gems").into()),
            ("CARGO_HOME".into(), home.join("cargo").into()),
            ("PIP_DISABLE_PIP_VERSION_CHECK".into(), "1".into()),
            ("PYTHONDONTWRITEBYTECODE".into(), "1".into()),
            // A recipe that supports several runtimes uses this variable to select one.
            ("ASSAY_RUNTIME".into(), self.runtime.0.into()),
            ("ASSAY_RUNTIME_VERSION".into(), self.runtime.1.clone().into()),
        ];
        let network = HANDED_ON.iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
        all.extend(network.map(|(name, own)| (OsString::from(name), own)));
        all
    }

    /// Returns the number of bytes that the job uses. Counting stops once `most` is exceeded.
    pub fn used(&self, most: u64) -> u64 {
        let mut open = vec![self.work(), self.base(), self.home(), self.rooms()];
        let (mut bytes, mut seen) = (0_u64, 0_u64);
        while let Some(path) = open.pop() {
            seen += 1;
            // Too many files also count as exceeding the limit.
            if bytes > most || seen > FILES * 5 {
                return most.saturating_add(1);
            }
            let Ok(found) = fs::symlink_metadata(&path) else { continue };
            if found.is_dir() {
                let entries = fs::read_dir(&path).map(|all| all.flatten().map(|own| own.path()));
                open.extend(entries.into_iter().flatten());
            }
            bytes += std::os::unix::fs::MetadataExt::blocks(&found) * 512;
        }
        bytes
    }
}

impl Drop for JobDirectory {
    fn drop(&mut self) {
        // If the directory cannot be removed now, the agent tries again at its next start.
        let _at_the_next_start = removed(&self.directory);
    }
}

/// Removes everything that could harm a reader with other permissions: links that lead out of the
/// directory, pipes, devices, and files larger than `most`. Called after all processes that could
/// create new ones have ended, and before the agent reads anything in the directory.
// Note: nothing that a job wrote may be read before this.
pub(super) fn disarm(directory: &Path, most: u64) -> io::Result<()> {
    let top = directory.canonicalize()?;
    let mut open = vec![top.clone()];
    while let Some(path) = open.pop() {
        let found = fs::symlink_metadata(&path)?;
        let kind = found.file_type();
        if kind.is_dir() {
            let entries = fs::read_dir(&path)?;
            open.extend(entries.flatten().map(|own| own.path()));
        } else if kind.is_symlink() {
            if !path.canonicalize().is_ok_and(|leads| leads.starts_with(&top)) {
                fs::remove_file(&path)?;
            }
        } else if !kind.is_file() || found.len() > most {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

/// Removes a directory and everything in it, regardless of modes; succeeds if it does not exist.
/// Links are not followed.
fn removed(directory: &Path) -> io::Result<()> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => return other,
    }
    let mut open = vec![directory.to_owned()];
    while let Some(path) = open.pop() {
        if fs::symlink_metadata(&path).is_ok_and(|own| own.is_dir()) {
            fs::set_permissions(&path, Permissions::from_mode(0o700))?;
            open.extend(fs::read_dir(&path)?.flatten().map(|own| own.path()));
        }
    }
    fs::remove_dir_all(directory)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;

    #[test]
    fn what_leads_out_is_taken_away() {
        let room = tempfile::tempdir().unwrap();
        let top = room.path().join("work");
        fs::create_dir_all(top.join("below")).unwrap();
        fs::write(room.path().join("secret"), "a token").unwrap();
        fs::write(top.join("report"), "fine").unwrap();
        fs::write(top.join("long"), "too long").unwrap();
        symlink("../report", top.join("below/inner")).unwrap();
        symlink(room.path().join("secret"), top.join("below/report.xml")).unwrap();
        symlink("../..", top.join("below/up")).unwrap();
        disarm(&top, 7).unwrap();
        let mut left: Vec<_> = fs::read_dir(top.join("below")).unwrap().flatten().collect();
        left.sort_by_key(fs::DirEntry::file_name);
        let names: Vec<_> = left.iter().map(fs::DirEntry::file_name).collect();
        assert_eq!(names, ["inner"]);
        assert!(top.join("report").exists() && !top.join("long").exists());
        assert!(room.path().join("secret").exists());
    }

    #[test]
    fn directories_that_nobody_may_enter_are_removed_too() {
        let room = tempfile::tempdir().unwrap();
        let top = room.path().join("jobs");
        fs::create_dir_all(top.join("a/b")).unwrap();
        fs::set_permissions(top.join("a"), Permissions::from_mode(0o000)).unwrap();
        removed(&top).unwrap();
        assert!(!top.exists());
        removed(&top).unwrap();
    }
}
