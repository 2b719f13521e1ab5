//! Reports saved files that are not ignored, by their paths relative to the root directory.

use super::ignored::Ignored;
use assay_data::system_error::reason;
use assay_measure::files::{Changes, Files, PollingReason, Skips};
use std::collections::BTreeSet;
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Interval between polls if the system does not report changes.
const ELSE_EVERY: Duration = Duration::from_secs(1);
/// Suggested limit on inotify watches for users of large projects.
const WATCHES: u64 = 524_288;
/// Suggested limit on inotify instances for such users.
const INSTANCES: u64 = 1024;

/// Saves since the last query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Saved {
    /// The saved files, relative to the root directory.
    pub paths: BTreeSet<String>,
    /// True if any file may have changed.
    pub are_unknown: bool,
    /// True if the root directory itself is gone.
    pub is_gone: bool,
}

impl Saved {
    /// Returns true if nothing was saved.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds later saves.
    pub fn and(&mut self, later: Self) {
        self.paths.extend(later.paths);
        self.are_unknown |= later.are_unknown;
        self.is_gone |= later.is_gone;
    }
}

/// Watches the files of a project.
pub(crate) struct Events {
    top: PathBuf,
    files: Files,
    ignored: Ignored,
    is_told: bool,
}

impl Events {
    /// Watches a directory tree. If `poll` is given, the tree is polled at that interval.
    ///
    /// # Errors
    /// Returns an error if the directory cannot be read.
    pub fn below(
        top: &Path,
        poll: Option<Duration>,
        mut ignored: Ignored,
    ) -> std::io::Result<Self> {
        let mut skips = |path: &Path, is_directory: bool| ignored.skips(path, is_directory);
        let files = Files::watch(top, poll, ELSE_EVERY, &mut skips)?;
        Ok(Self { top: top.to_owned(), files, ignored, is_told: poll.is_some() })
    }

    /// Returns a descriptor that becomes readable when files change, or `None` if the caller has to
    /// poll.
    pub fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.files.descriptor()
    }

    /// Returns the time until the next poll is due, or `None` if the descriptor reports changes.
    pub fn due_in(&self) -> Option<Duration> {
        self.files.due_in()
    }

    /// Returns the saves since the last call.
    pub fn saved(&mut self) -> Saved {
        let ignored = &mut self.ignored;
        let mut skips = |path: &Path, is_directory: bool| ignored.skips(path, is_directory);
        let skips: &mut Skips<'_> = &mut skips;
        let Changes { paths, directories, are_unknown, is_gone } =
            self.files.changes(ELSE_EVERY, skips);
        let own = |path: &PathBuf| {
            let path = path.strip_prefix(&self.top).unwrap_or(path);
            path.to_string_lossy().into_owned()
        };
        // If a directory is removed, the files in it are not reported.
        Saved {
            paths: paths.iter().map(own).collect(),
            are_unknown: are_unknown | directories,
            is_gone,
        }
    }

    /// Returns a message that files are polled and the reason, the first time only.
    pub fn said(&mut self) -> Option<String> {
        let why = self.files.why_polled().filter(|_| !self.is_told)?;
        let why = why_polled(why);
        self.is_told = true;
        Some(why)
    }
}

fn why_polled(why: &PollingReason) -> String {
    let of = |limit: &Option<u64>| limit.map_or(String::new(), |limit| format!(" ({limit})"));
    let why = match why {
        PollingReason::Wanted => "--poll was given".to_owned(),
        PollingReason::Watches(limit) => format!(
            "there are more directories than this user may watch{}; to raise the limit: sysctl fs.inotify.max_user_watches={WATCHES}",
            of(limit)
        ),
        PollingReason::Instances(limit) => format!(
            "this user may not have more watching programs{}; to raise the limit: sysctl fs.inotify.max_user_instances={INSTANCES}",
            of(limit)
        ),
        PollingReason::FileSystem => {
            "this file system does not report changes by others".to_owned()
        }
        PollingReason::Refused(error) => format!("the system can't watch them: {}", reason(error)),
    };
    format!("files are checked every second, so saves are noticed late: {why}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn why_files_are_looked_at_again_and_again_names_the_setting_that_helps() {
        for (why, names) in [
            (PollingReason::Watches(Some(8192)), ["(8192)", "sysctl fs.inotify.max_user_watches="]),
            (
                PollingReason::Instances(Some(128)),
                ["(128)", "sysctl fs.inotify.max_user_instances="],
            ),
            (PollingReason::FileSystem, ["every second", "file system"]),
        ] {
            let told = why_polled(&why);
            assert!(names.iter().all(|name| told.contains(name)), "{told}");
        }
    }
}
