//! Builds revisions of a git repository, each once and in its own working tree, separate from the
//! user's.
//!
//! The trees are independent repositories that borrow the objects of the user's repository without
//! being registered there (git-worktree(1) would register them permanently). They are in a cache
//! directory, one for each combination of commit and build configuration. A tree counts as built if
//! there is a marker file next to it, which is written last; an interrupted build is restarted from
//! the beginning. The ten most recently used trees are kept. Users of a tree hold a lock on it
//! (flock(2)), so that two `assay` processes neither build anything twice nor remove each other's
//! trees. The user's own tree is never changed, except by the build line itself if that tree is
//! requested. Nothing is measured here.

mod error;
mod links;
mod paths;
mod snapshot;
mod submodules;
mod subprocesses;

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, SystemTime};

use assay_data::private;
use rustix::fs::FlockOperation;

use crate::command::word_of;
use crate::interrupt;
pub use error::RevisionError;
pub use links::{Linker, Links, SEED};
use paths::{BuildPaths, digest, locked};
use subprocesses::{GitOutput, Subprocesses};

/// Number of trees kept per repository.
const KEEP: usize = 10;
/// Interval for checking another process's lock.
const LOOK: Duration = Duration::from_millis(100);
/// Stands for the current working tree where a revision is expected.
const WORKING_TREE: &str = ".";

/// A commit, or the current working tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision {
    /// The name as the user wrote it.
    pub written: String,
    /// Full hash of the commit. For the working tree, this is the commit that it is based on, or
    /// `None` before the first commit.
    pub commit: Option<String>,
    /// True if the revision is the working tree itself.
    pub is_working_tree: bool,
}

/// A revision that has been built. Its tree is not removed while this exists.
#[derive(Debug)]
pub struct Built {
    /// Root directory of its working tree.
    pub directory: PathBuf,
    /// File with the output of the build line.
    pub log: PathBuf,
    _held: Option<File>,
}

/// Returns true if a directory is the tree of a revision that was built.
pub fn is_built(directory: &Path) -> bool {
    BuildPaths::at(directory).is_built()
}

/// Progress of preparing a revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage<'a> {
    /// Waiting for another `assay` that is building the revision.
    Waiting,
    /// Building. The output goes to the file at this path.
    Building(&'a Path),
    /// Built earlier, and reused.
    Kept,
}

/// A repository, and the location of its built revisions.
pub struct Repository {
    subprocesses: Subprocesses,
    top: PathBuf,
    /// The git directory that all linked worktrees share.
    common: PathBuf,
    home: PathBuf,
}

impl Repository {
    /// Opens the repository that contains a directory. Trees are kept below `cache`, in a
    /// subdirectory for this repository. Call [`interrupt::install`] first, so that an interrupt
    /// ends a build and not this process.
    ///
    /// # Errors
    ///
    /// Returns [`RevisionError::NoGit`], [`RevisionError::NoRepository`], [`RevisionError::Cache`]
    /// or [`RevisionError::Measure`].
    pub fn around(directory: &Path, cache: &Path) -> Result<Self, RevisionError> {
        let mut subprocesses = Subprocesses::start()?;
        let top = subprocesses.git_of_user(directory, ["rev-parse", "--show-toplevel"], &[])?;
        if !top.success {
            let directory = std::path::absolute(directory).unwrap_or_else(|_| directory.to_owned());
            return Err(RevisionError::NoRepository { directory, said: top.errors });
        }
        let common = subprocesses.git_of_user(directory, ["rev-parse", "--git-common-dir"], &[])?;
        let failed = |path: PathBuf| move |source| RevisionError::Cache { path, source };
        // The path is relative to the directory of the query. Linked worktrees share the git
        // directory.
        let common = directory.join(path_in(&common));
        let common = common.canonicalize().map_err(failed(common.clone()))?;
        let cache = std::path::absolute(cache).map_err(failed(cache.to_owned()))?;
        let home = cache.join(&digest([common.as_os_str().as_encoded_bytes()])[..16]);
        private::directory(&home).map_err(failed(home.clone()))?;
        Ok(Self { subprocesses, top: path_in(&top), common, home })
    }

    /// Returns the root directory of the user's working tree.
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// Returns the revision that a name refers to. The name may use any revision syntax of git, or
    /// be `.` for the current working tree.
    ///
    /// # Errors
    ///
    /// Returns [`RevisionError::Unknown`] with git's message, [`RevisionError::Interrupted`] or
    /// [`RevisionError::Measure`].
    pub fn revision(&mut self, written: &str) -> Result<Revision, RevisionError> {
        let is_working_tree = written == WORKING_TREE;
        let name = if is_working_tree { "HEAD" } else { written };
        // A name that begins with a dash would be taken as an option.
        let asked = if name.starts_with('-') { format!("refs/heads/{name}") } else { name.into() };
        let asked = word_of(&format!("{asked}^{{commit}}"));
        let found = self.git(["rev-parse".into(), "--verify".into(), asked])?;
        let commit = found.success.then(|| found.text().trim().to_owned());
        if commit.is_none() && !is_working_tree {
            let (revision, repository) = (written.to_owned(), self.top.clone());
            return Err(RevisionError::Unknown { revision, repository, said: found.errors });
        }
        Ok(Revision { written: written.to_owned(), commit, is_working_tree })
    }

    /// Returns true if tracked files of the user's working tree differ from its commit or, with
    /// `untracked`, if there are new files.
    ///
    /// # Errors
    ///
    /// Returns [`RevisionError::Git`], [`RevisionError::Interrupted`] or
    /// [`RevisionError::Measure`].
    pub fn is_changed(&mut self, untracked: bool) -> Result<bool, RevisionError> {
        let untracked = if untracked { "normal" } else { "no" };
        let option = format!("--untracked-files={untracked}");
        let found = self.git(["--no-optional-locks", "status", "--porcelain", &option])?;
        let found = done(found, "see what was changed in the working tree")?;
        Ok(!found.output.is_empty())
    }

    /// Prepares a revision: checks out its tree and its submodules, and runs the build line there
    /// with `/bin/sh`. A tree built earlier by the same line with the same compiler variables is
    /// reused; the working tree is built at every call. With `links`, a commit is linked several
    /// times, by running the build line with different variables each time ([`Links`]). Compiled
    /// objects are kept between links if the build line keeps them.
    ///
    /// # Errors
    ///
    /// Returns any [`RevisionError`] except those about names. The first interrupt ends the build
    /// with all of its processes.
    pub fn ready(
        &mut self,
        revision: &Revision,
        line: &str,
        links: Option<&Links>,
        telling: &mut dyn FnMut(Stage<'_>),
    ) -> Result<Built, RevisionError> {
        let commit = match &revision.commit {
            Some(commit) if !revision.is_working_tree => commit,
            _ => {
                let (directory, log) = (self.top.clone(), self.home.join("working-tree.log"));
                telling(Stage::Building(&log));
                self.build(revision, &directory, line, &[], &log)?;
                return Ok(Built { directory, log, _held: None });
            }
        };
        let way = links.map_or_else(|| line.to_owned(), |links| format!("{line}\n{}", links.key()));
        let place = BuildPaths::of(&self.home, commit, &way);
        let mut anew = false;
        loop {
            let held = self.take(&place.lock, FlockOperation::NonBlockingLockShared, telling)?;
            if place.is_built() {
                // Time of last use. If it can't be recorded, only the order in which trees are
                // removed is affected.
                let _unknown = held.set_modified(SystemTime::now());
                if !anew {
                    telling(Stage::Kept);
                }
                return Ok(Built { directory: place.tree, log: place.log, _held: Some(held) });
            }
            drop(held);
            let _alone =
                self.take(&place.lock, FlockOperation::NonBlockingLockExclusive, telling)?;
            if !place.is_built() {
                telling(Stage::Building(&place.log));
                let built = self.build_in(revision, commit, &place, line, links);
                // Failed builds take space too. After an interrupt, do not cause a delay.
                if interrupt::count() == 0 {
                    self.prune();
                }
                built?;
                anew = true;
            }
        }
    }

    /// Runs a program in the tree of a revision until it ends or the first interrupt arrives.
    ///
    /// # Errors
    ///
    /// Returns [`RevisionError::Run`], [`RevisionError::Interrupted`], [`RevisionError::Cache`] or
    /// [`RevisionError::Measure`].
    pub fn run_in(
        &mut self,
        built: &Built,
        words: impl IntoIterator<Item = OsString>,
    ) -> Result<(), RevisionError> {
        self.run_at(&built.directory, words)
    }

    /// Like [`run_in`](Self::run_in), but in the user's own tree.
    ///
    /// # Errors
    ///
    /// Fails as [`run_in`](Self::run_in) does.
    pub fn run_here(
        &mut self,
        words: impl IntoIterator<Item = OsString>,
    ) -> Result<(), RevisionError> {
        let top = self.top.clone();
        self.run_at(&top, words)
    }

    fn run_at(
        &mut self,
        directory: &Path,
        words: impl IntoIterator<Item = OsString>,
    ) -> Result<(), RevisionError> {
        let log = self.home.join("run.log");
        let failed = self.subprocesses.words(directory, words.into_iter(), &log)?;
        let Some(how) = failed else { return Ok(()) };
        Err(RevisionError::Run { how, end: subprocesses::end_of(&log), log })
    }

    /// Builds a tree from the beginning.
    fn build_in(
        &mut self,
        revision: &Revision,
        commit: &str,
        place: &BuildPaths,
        line: &str,
        links: Option<&Links>,
    ) -> Result<(), RevisionError> {
        Self::remove(place).map_err(|(path, source)| RevisionError::Cache { path, source })?;
        let what = format!("make a whole working tree of `{}`", revision.written);
        let (top, common) = (self.top.clone(), self.common.clone());
        self.borrow(&top, &common, commit, &place.tree, &what)?;
        if place.tree.join(".gitmodules").exists() {
            self.borrow_submodules(&top, &common, &place.tree, &what)?;
            let words = ["submodule", "--quiet", "update", "--init", "--recursive"];
            let updated = self.subprocesses.git(&place.tree, words)?;
            done(updated, &format!("get the submodules of `{}`", revision.written))?;
        }
        match links {
            None => self.build(revision, &place.tree, line, &[], &place.log)?,
            Some(links) => self.link(revision, place, line, links)?,
        }
        let told = format!("{commit}\n{line}\n");
        private::replace(&place.marker, told.as_bytes())
            .map_err(|source| RevisionError::Cache { path: place.marker.clone(), source })
    }

    /// Creates a repository that borrows the user's objects, and checks out the commit. It gets the
    /// user's tags, because builds run git-describe(1), and the address of the user's remote,
    /// because addresses of submodules may be relative to it. `top` and `common` are the user's
    /// working tree and git directory.
    fn borrow(
        &mut self,
        top: &Path,
        common: &Path,
        commit: &str,
        tree: &Path,
        what: &str,
    ) -> Result<(), RevisionError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| RevisionError::Cache { path, source }
        };
        private::directory(tree).map_err(failed(tree))?;
        let format = if commit.len() > 40 { "sha256" } else { "sha1" };
        let init = ["init", "--quiet", "--template=", &format!("--object-format={format}")];
        done(self.subprocesses.git(tree, init)?, what)?;
        let own = tree.join(".git");
        let (info, shallow) = (own.join("objects/info"), common.join("shallow"));
        fs::create_dir_all(&info).map_err(failed(&info))?;
        let mut lender = common.join("objects").into_os_string().into_vec();
        lender.push(b'\n');
        fs::write(info.join("alternates"), lender).map_err(failed(&info))?;
        if shallow.exists() {
            fs::copy(&shallow, own.join("shallow")).map_err(failed(&shallow))?;
        }
        let words = ["--work-tree=.", "config", "--get", "remote.origin.url"];
        let told = self.subprocesses.git(common, words)?;
        let address = match told.text().trim() {
            "" => top.to_owned().into_os_string(),
            relative if relative.starts_with('.') => top.join(relative).into_os_string(),
            address => address.into(),
        };
        let set = [OsString::from("config"), "remote.origin.url".into(), address];
        done(self.subprocesses.git(tree, set)?, what)?;
        let fetch = ["fetch", "--quiet", "--no-tags"].map(OsString::from).into_iter();
        let tags = [common.to_owned().into_os_string(), "refs/tags/*:refs/tags/*".into()];
        done(self.subprocesses.git(tree, fetch.chain(tags))?, what)?;
        let words = ["checkout", "--quiet", "--detach", commit];
        let checked_out = done(self.subprocesses.git(tree, words)?, what)?;
        // If objects are missing, git reports it, leaves their files out, and exits with 0.
        if done(self.subprocesses.git(tree, ["ls-files", "--deleted"])?, what)?.output.is_empty() {
            return Ok(());
        }
        let said = format!(
            "{}\nIn a partial clone, `git fetch --refetch --no-filter` fetches everything that is missing.",
            checked_out.errors
        );
        Err(RevisionError::Git { what: what.to_owned(), said })
    }

    /// Builds the revision once for every link, in one tree. Compiled objects are kept; the program
    /// and its copies are removed, so that it is linked again.
    fn link(
        &mut self,
        revision: &Revision,
        place: &BuildPaths,
        line: &str,
        links: &Links,
    ) -> Result<(), RevisionError> {
        links.prepare(&self.home)?;
        let words = ["ls-files", "-z", "--recurse-submodules"];
        let tracked = done(self.subprocesses.git(&place.tree, words)?, "list its files")?.text();
        let tracked: Vec<_> = tracked.split('\0').map(|path| place.tree.join(path)).collect();
        let program = place.tree.join(&links.program);
        for number in 1..=links.count {
            if number > 1 {
                links
                    .remove(&place.tree, &tracked)
                    .map_err(|(path, source)| RevisionError::Cache { path, source })?;
            }
            let variables = links.variables(&self.home, number);
            self.build(revision, &place.tree, line, &variables, &place.log)?;
            let file = place.tree.join(links.file(number));
            match fs::copy(&program, &file) {
                // A missing program is reported by the code that uses it.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                copied => {
                    copied.map_err(|source| RevisionError::Cache { path: file, source })?;
                }
            }
        }
        Ok(())
    }

    fn build(
        &mut self,
        revision: &Revision,
        directory: &Path,
        line: &str,
        variables: &[(String, String)],
        log: &Path,
    ) -> Result<(), RevisionError> {
        let failed = self.subprocesses.line(directory, line, variables, log)?;
        let Some(how) = failed else { return Ok(()) };
        Err(RevisionError::Build {
            revision: revision.written.clone(),
            line: line.to_owned(),
            how,
            end: subprocesses::end_of(log),
            log: log.to_owned(),
        })
    }

    fn git<W: Into<OsString>>(
        &mut self,
        words: impl IntoIterator<Item = W>,
    ) -> Result<GitOutput, RevisionError> {
        let top = self.top.clone();
        self.subprocesses.git_of_user(&top, words, &[])
    }

    /// Acquires a lock, waiting until its holder releases it.
    fn take(
        &self,
        path: &Path,
        how: FlockOperation,
        telling: &mut dyn FnMut(Stage<'_>),
    ) -> Result<File, RevisionError> {
        let mut waited = false;
        loop {
            match locked(path, how) {
                Ok(Some(file)) => return Ok(file),
                Ok(None) => {}
                Err(source) => return Err(RevisionError::Cache { path: path.to_owned(), source }),
            }
            if interrupt::count() > 0 {
                return Err(RevisionError::Interrupted);
            }
            if !waited {
                telling(Stage::Waiting);
                waited = true;
            }
            sleep(LOOK);
        }
    }

    /// Removes a tree so that it can be rebuilt.
    fn remove(place: &BuildPaths) -> Result<(), (PathBuf, io::Error)> {
        let gone = |path: &Path, removed: io::Result<()>| match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err((path.to_owned(), error)),
            _ => Ok(()),
        };
        // The marker goes first, so that the tree no longer counts as built from here on.
        gone(&place.marker, fs::remove_file(&place.marker))?;
        gone(&place.tree, fs::remove_dir_all(&place.tree))
    }

    /// Removes the least recently used trees beyond the limit. Trees that are in use or can't be
    /// removed stay, because keeping too many is not an error.
    fn prune(&self) {
        let Ok(entries) = fs::read_dir(&self.home) else { return };
        let used =
            |entry: fs::DirEntry| Some((entry.metadata().ok()?.modified().ok()?, entry.path()));
        let mut places: Vec<(SystemTime, PathBuf)> = entries
            .filter_map(Result::ok)
            .filter(|entry| entry.path().extension() == Some(OsStr::new("lock")))
            .filter_map(used)
            .collect();
        places.sort_unstable_by(|a, b| b.cmp(a));
        for (_, path) in places.into_iter().skip(KEEP) {
            let Ok(Some(_alone)) = locked(&path, FlockOperation::NonBlockingLockExclusive) else {
                continue;
            };
            let place = BuildPaths::at(&path.with_extension(""));
            if Self::remove(&place).is_ok() {
                let _stays = fs::remove_file(&place.log);
                // The lock is removed last, after everything that it guards.
                let _stays = fs::remove_file(&place.lock);
            }
        }
    }
}

fn done(told: GitOutput, what: &str) -> Result<GitOutput, RevisionError> {
    if told.success {
        return Ok(told);
    }
    Err(RevisionError::Git { what: what.to_owned(), said: told.errors })
}

/// Returns the path that git printed.
fn path_in(told: &GitOutput) -> PathBuf {
    let line = told.output.strip_suffix(b"\n").unwrap_or(&told.output);
    PathBuf::from(OsString::from_vec(line.to_vec()))
}
