//! Control groups, which limit the memory and the processes of a command and all its descendants
//! together. Versions 1 and 2 are supported. Without control groups, limits apply to each process
//! separately.

use crate::sandbox::policy::Limits;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Prefix of the names of sandboxes' groups.
const NAME: &str = "assay-sandbox";
/// Delays, in milliseconds, before attempts to remove a group, which remains in use for a short
/// time after its last process ended.
const PATIENCE: [u64; 8] = [0, 1, 2, 5, 10, 50, 200, 500];

/// Where groups can be created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Groups {
    /// Not available, or not permitted for this user.
    None,
    /// Version 1: the directories of the two controllers.
    One { memory: PathBuf, pids: PathBuf },
    /// Version 2: a directory whose groups have both controllers.
    Two(PathBuf),
}

/// The limits that a command exceeded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExceededLimits {
    /// True if the command was killed because it exceeded the memory limit.
    pub memory: bool,
    /// True if the command could not start as many processes as it tried to.
    pub processes: bool,
}

impl Groups {
    /// Returns the control groups of this system. Groups left behind by killed processes are
    /// removed.
    pub fn find() -> Self {
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        let found = Self::of(&mounts, &fs::read_to_string("/proc/self/cgroup").unwrap_or_default());
        found.remove_abandoned(&|process| Path::new("/proc").join(process).exists());
        found
    }

    fn remove_abandoned(&self, is_alive: &dyn Fn(&str) -> bool) {
        let places = match self {
            Self::None => return,
            Self::One { memory, pids } => vec![memory, pids],
            Self::Two(top) => vec![top],
        };
        for entry in places.iter().filter_map(|place| fs::read_dir(place).ok()).flatten().flatten()
        {
            let name = entry.file_name();
            let maker = name.to_str().and_then(|name| name.strip_prefix(NAME)?.split('-').nth(1));
            if maker.is_some_and(|maker| !is_alive(maker)) {
                drop(Group { directories: vec![entry.path()] });
            }
        }
    }

    /// Determines where groups can be created from the contents of `/proc/self/mounts` and
    /// `/proc/self/cgroup`.
    fn of(mounts: &str, own: &str) -> Self {
        let mount = |is: &dyn Fn(&str, &str) -> bool| {
            mounts.lines().find_map(|line| {
                let mut words = line.split(' ').skip(1);
                let (at, kind, options) = (words.next()?, words.next()?, words.next()?);
                is(kind, options).then(|| PathBuf::from(at))
            })
        };
        let of_one = |name: &str| {
            mount(&|kind, all| kind == "cgroup" && all.split(',').any(|own| own == name))
        };
        if let (Some(memory), Some(pids)) = (of_one("memory"), of_one("pids"))
            && [&memory, &pids].into_iter().all(|path| is_writable(path))
        {
            return Self::One { memory, pids };
        }
        let Some(top) = mount(&|kind, _| kind == "cgroup2") else { return Self::None };
        // The first of the groups from the root to our own in which this user may create others.
        let path = own.lines().find_map(|line| line.strip_prefix("0::/")).unwrap_or_default();
        let below = Path::new(path).components().scan(top.clone(), |at, part| {
            at.push(part);
            Some(at.clone())
        });
        let all = std::iter::once(top).chain(below);
        all.filter(|path| is_writable(path))
            .find(|path| has_both(path))
            .map_or(Self::None, Self::Two)
    }

    /// Creates a group with these limits, or returns `None` if there are no control groups.
    ///
    /// # Errors
    ///
    /// Returns the path and the error if a file or directory can't be written.
    pub fn make(&self, limits: &Limits) -> Result<Option<Group>, (PathBuf, io::Error)> {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let name =
            format!("{NAME}-{}-{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        // In version 1, each controller has its own directory.
        let (directories, memory, pids) = match self {
            Self::None => return Ok(None),
            Self::One { memory, pids } => {
                (vec![memory.join(&name), pids.join(&name)], "memory.limit_in_bytes", "pids.max")
            }
            Self::Two(top) => {
                // Fails if the controllers are already enabled and this user may not change them.
                let _on = fs::write(top.join("cgroup.subtree_control"), "+memory +pids");
                (vec![top.join(&name)], "memory.max", "pids.max")
            }
        };
        let group = Group { directories };
        let (first, last) =
            (&group.directories[0], &group.directories[group.directories.len() - 1]);
        for directory in &group.directories {
            fs::create_dir(directory).map_err(|error| (directory.clone(), error))?;
        }
        let limit = |file: PathBuf, most: Option<u64>| {
            let Some(most) = most else { return Ok(()) };
            fs::write(&file, most.to_string()).map_err(|error| (file, error))
        };
        limit(first.join(memory), limits.memory)?;
        // A memory limit is effective only if swap is limited as well, but not every kernel
        // accounts for swap.
        let swap = [("memory.memsw.limit_in_bytes", limits.memory), ("memory.swap.max", Some(0))];
        for (file, most) in swap {
            let _uncounted = first.join(file).exists().then(|| limit(first.join(file), most));
        }
        limit(last.join(pids), limits.processes)?;
        Ok(Some(group))
    }
}

fn is_writable(path: &Path) -> bool {
    rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok()
        && rustix::fs::access(path.join("cgroup.procs"), rustix::fs::Access::WRITE_OK).is_ok()
}

fn has_both(path: &Path) -> bool {
    let there = fs::read_to_string(path.join("cgroup.controllers")).unwrap_or_default();
    ["memory", "pids"].iter().all(|own| there.split_whitespace().any(|there| there == *own))
}

/// A control group that is removed on drop.
#[derive(Debug)]
pub(crate) struct Group {
    /// The directory for memory comes first, and that for processes last. Version 2 has a single
    /// directory.
    directories: Vec<PathBuf>,
}

impl Group {
    /// Returns the files to which a process writes itself to join the group.
    pub fn entrances(&self) -> Vec<PathBuf> {
        self.directories.iter().map(|directory| directory.join("cgroup.procs")).collect()
    }

    /// Returns the limits that were exceeded.
    pub fn exceeded(&self) -> ExceededLimits {
        let count = |place: usize, file: &str, key: &str| -> u64 {
            let text = fs::read_to_string(self.directories[place].join(file)).unwrap_or_default();
            let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' '));
            line.and_then(|count| count.trim().parse().ok()).unwrap_or(0)
        };
        let last = self.directories.len() - 1;
        ExceededLimits {
            memory: count(0, "memory.oom_control", "oom_kill")
                + count(0, "memory.events", "oom_kill")
                > 0,
            processes: count(last, "pids.events", "max") > 0,
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for directory in &self.directories {
            // All processes of the group were in a namespace that no longer exists. If any are
            // left, they are killed.
            let kill = fs::OpenOptions::new().write(true).open(directory.join("cgroup.kill"));
            let _killed = kill.and_then(|mut kill| kill.write_all(b"1"));
            let is_gone = |wait: &u64| {
                std::thread::sleep(Duration::from_millis(*wait));
                fs::remove_dir(directory).is_ok() || !directory.exists()
            };
            // A group that can't be removed is empty and costs nothing.
            let _gone = PATIENCE.iter().any(is_gone);
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;

    fn directory(path: &Path, files: &[(&str, &str)]) {
        fs::create_dir_all(path).unwrap();
        for (name, text) in files {
            fs::write(path.join(name), text).unwrap();
        }
    }

    #[test]
    fn groups_of_either_version_are_found_where_they_can_be_made() {
        let room = tempfile::tempdir().unwrap();
        let top = room.path();
        let [memory, pids, unified] = ["memory", "pids", "unified"].map(|name| top.join(name));
        let mounts = |kinds: &[(&str, &PathBuf, &str)]| -> String {
            let line = |(kind, at, options): &(&str, &PathBuf, &str)| {
                format!("{kind} {} {kind} rw,{options} 0 0\n", at.display())
            };
            kinds.iter().map(line).collect()
        };
        let one = mounts(&[("cgroup", &memory, "memory"), ("cgroup", &pids, "pids")]);
        assert_eq!(Groups::of(&one, ""), Groups::None);
        directory(&memory, &[("cgroup.procs", "")]);
        directory(&pids, &[("cgroup.procs", "")]);
        assert_eq!(Groups::of(&one, ""), Groups::One { memory, pids });
        // In version 2, the highest group above this process that has both controllers.
        let two = mounts(&[("cgroup2", &unified, "nsdelegate")]);
        let both = [("cgroup.procs", ""), ("cgroup.controllers", "cpu memory pids\n")];
        directory(&unified.join("user/session"), &both);
        assert_eq!(
            Groups::of(&two, "0::/user/session\n"),
            Groups::Two(unified.join("user/session"))
        );
        directory(&unified.join("user"), &both);
        assert_eq!(Groups::of(&two, "0::/user/session\n"), Groups::Two(unified.join("user")));
        directory(&unified, &[("cgroup.procs", ""), ("cgroup.controllers", "hugetlb\n")]);
        assert_eq!(Groups::of(&two, "0::/\n"), Groups::None);
    }

    #[test]
    fn limits_are_written_and_what_was_reached_is_read() {
        let room = tempfile::tempdir().unwrap();
        let groups = Groups::Two(room.path().to_owned());
        let limits = Limits { memory: Some(1000), processes: Some(7), ..Limits::default() };
        let group = groups.make(&limits).unwrap().unwrap();
        let own = group.directories[0].clone();
        let text = |name: &str| fs::read_to_string(own.join(name)).unwrap();
        assert_eq!((text("memory.max"), text("pids.max")), ("1000".to_owned(), "7".to_owned()));
        assert_eq!(group.exceeded(), ExceededLimits::default());
        fs::write(own.join("memory.events"), "max 3\noom 1\noom_kill 1\n").unwrap();
        fs::write(own.join("pids.events"), "max 0\n").unwrap();
        assert_eq!(group.exceeded(), ExceededLimits { memory: true, processes: false });
        // The system's own files disappear with the directory.
        for entry in fs::read_dir(&own).unwrap().flatten() {
            fs::remove_file(entry.path()).unwrap();
        }
        drop(group);
        assert!(!own.exists());
    }

    #[test]
    fn groups_of_killed_makers_are_removed() {
        let room = tempfile::tempdir().unwrap();
        let names = ["assay-sandbox-12-0", "assay-sandbox-13-4", "other-12"];
        for name in names {
            directory(&room.path().join(name), &[]);
        }
        Groups::Two(room.path().to_owned()).remove_abandoned(&|process| process == "13");
        assert_eq!(names.map(|name| room.path().join(name).exists()), [false, true, true]);
    }
}
