//! What was saved: the files that changed, by their paths from the top, without those that are ignored.

use super::ignored::Ignored;
use assay_measure::files::{Changes, Files, Polled, Skips};
use std::collections::BTreeSet;
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where there are no events files are looked at so often.
const ELSE_EVERY: Duration = Duration::from_secs(1);
/// Watches that a user of large projects needs.
const WATCHES: u64 = 524_288;
const INSTANCES: u64 = 1024;

/// What was saved since somebody asked last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Saved {
    /// Files, from the top.
    pub paths: BTreeSet<String>,
    /// Anything may have changed.
    pub are_unknown: bool,
    /// The top itself is gone.
    pub is_gone: bool,
}

impl Saved {
    /// Whether nothing was.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Takes what was saved later.
    pub fn and(&mut self, later: Self) {
        self.paths.extend(later.paths);
        self.are_unknown |= later.are_unknown;
        self.is_gone |= later.is_gone;
    }
}

/// The files of a project.
pub(crate) struct Events {
    top: PathBuf,
    files: Files,
    ignored: Ignored,
    is_told: bool,
}

impl Events {
    /// Watches below a directory; `poll`: by looking again and again, so often.
    ///
    /// # Errors
    /// When it can't be read.
    pub fn below(
        top: &Path,
        poll: Option<Duration>,
        mut ignored: Ignored,
    ) -> std::io::Result<Self> {
        let mut skips = |path: &Path, is_directory: bool| ignored.skips(path, is_directory);
        let files = Files::watch(top, poll, ELSE_EVERY, &mut skips)?;
        Ok(Self { top: top.to_owned(), files, ignored, is_told: poll.is_some() })
    }

    /// Has something to be read when there are changes; `None` where one has to ask.
    pub fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.files.descriptor()
    }

    /// After so long one has to ask; `None`: when the descriptor has something.
    pub fn due_in(&self) -> Option<Duration> {
        self.files.due_in()
    }

    /// What was saved since the last time.
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
        // A directory that went took files with it of which nobody tells.
        Saved {
            paths: paths.iter().map(own).collect(),
            are_unknown: are_unknown | directories,
            is_gone,
        }
    }

    /// Says, once, that and why files are looked at again and again.
    pub fn said(&mut self) -> Option<String> {
        let why = self.files.why_polled().filter(|_| !self.is_told)?;
        let why = why_polled(why);
        self.is_told = true;
        Some(why)
    }
}

fn why_polled(why: &Polled) -> String {
    let of = |limit: &Option<u64>| limit.map_or(String::new(), |limit| format!(" ({limit})"));
    let why = match why {
        Polled::Wanted => "that was asked for".to_owned(),
        Polled::Watches(limit) => format!(
            "there are more directories than this user may watch{}; more by: sysctl fs.inotify.max_user_watches={WATCHES}",
            of(limit)
        ),
        Polled::Instances(limit) => format!(
            "this user has as many watching programs as may be{}; more by: sysctl fs.inotify.max_user_instances={INSTANCES}",
            of(limit)
        ),
        Polled::FileSystem => "this file system does not tell what others write in it".to_owned(),
        Polled::Refused(error) => format!("the system can't watch them: {error}"),
    };
    format!("files are looked at every second, no save is seen at once: {why}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn why_files_are_looked_at_again_and_again_names_the_setting_that_helps() {
        for (why, names) in [
            (Polled::Watches(Some(8192)), ["(8192)", "sysctl fs.inotify.max_user_watches="]),
            (Polled::Instances(Some(128)), ["(128)", "sysctl fs.inotify.max_user_instances="]),
            (Polled::FileSystem, ["every second", "file system"]),
        ] {
            let told = why_polled(&why);
            assert!(names.iter().all(|name| told.contains(name)), "{told}");
        }
    }
}
