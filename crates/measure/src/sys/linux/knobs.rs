//! Settings of the machine that change how steady it measures: what they are now, what would have
//! to be written for another value, writing it, and putting it back.
//!
//! The files are those of the kernel's documentation of cpufreq, intel_pstate and the scheduler.
//! Nothing is written but by [`Machine::apply`], [`Machine::restore`] and [`Machine::drop_caches`].
//! A list of changes may come out of a journal that somebody else could have written, and be
//! restored by root: so a change is only ever made to a file that belongs to its knob, with a value
//! that such a knob can have.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

/// A setting and the value that is wished for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Knob {
    /// By what rule the processors' frequency is chosen, for all of them: `performance` and so on.
    Governor(String),
    /// Whether processors may go beyond their nominal frequency.
    Turbo(bool),
    /// How many µs of each period (usually a second) real-time tasks may take; `None`: all.
    RtRuntime(Option<u32>),
    /// Whether each session gets an equal share of the processors.
    Autogroup(bool),
}

const GOVERNOR: &str = "governor";
const TURBO: &str = "turbo";
const RT_RUNTIME: &str = "rt-runtime";
const AUTOGROUP: &str = "autogroup";

/// The names of all knobs.
pub(crate) const NAMES: [&str; 4] = [GOVERNOR, TURBO, RT_RUNTIME, AUTOGROUP];

impl Knob {
    /// Its name: `governor`, `turbo`, `rt-runtime` or `autogroup`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Governor(_) => GOVERNOR,
            Self::Turbo(_) => TURBO,
            Self::RtRuntime(_) => RT_RUNTIME,
            Self::Autogroup(_) => AUTOGROUP,
        }
    }
}

/// One file that is to be written, or was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The name of the knob that it belongs to.
    pub knob: &'static str,
    /// The file.
    pub path: PathBuf,
    /// What it says before, without a line's end.
    pub before: String,
    /// What it shall say.
    pub after: String,
}

/// What became of a change that was to be undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undone {
    /// The value before was written back, and the file says it.
    Restored,
    /// Nothing was written: the file does not say what the change made it say. The change was not
    /// made, was undone already, or somebody else has set it since.
    LeftAlone {
        /// What the file says.
        now: String,
    },
}

/// Why a setting could not be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum KnobError {
    /// This machine has no such setting.
    #[error("`{knob}` cannot be set on this machine: {why}")]
    NotOffered {
        /// The knob's name.
        knob: &'static str,
        /// In plain words.
        why: String,
    },
    /// This user may not.
    #[error("`{knob}` may not be changed: writing `{}` needs {needs}", path.display())]
    NotPermitted {
        /// The knob's name.
        knob: &'static str,
        /// The file that may not be written.
        path: PathBuf,
        /// What it takes.
        needs: &'static str,
    },
    /// The setting cannot have this value.
    #[error("`{knob}` cannot be `{value}`: this machine offers {}", offered.join(", "))]
    UnknownValue {
        /// The knob's name.
        knob: &'static str,
        /// The value as it was given.
        value: String,
        /// What can be given instead.
        offered: Vec<String>,
    },
    /// The file took the value, and then said something else. It was restored.
    #[error("`{knob}` did not change: `{}` was set to `{wanted}` and says `{found}`", path.display())]
    NotKept {
        /// The knob's name.
        knob: &'static str,
        /// The file.
        path: PathBuf,
        /// What was written.
        wanted: String,
        /// What it said afterwards.
        found: String,
    },
    /// A change that no plan of this machine could hold; nothing was written.
    #[error("a change of `{}` to `{value}` is none that assay makes: it is left alone", path.display())]
    NotOurs {
        /// The file that it names.
        path: PathBuf,
        /// The value that it would write.
        value: String,
    },
    /// Reading or writing failed in another way.
    #[error("`{knob}`: `{}`: {error}", path.display())]
    Io {
        /// The knob's name.
        knob: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
}

/// The files by which a machine is set.
#[derive(Clone, Debug)]
pub struct Machine {
    root: PathBuf,
}

impl Machine {
    /// This machine.
    pub fn here() -> Self {
        Self::at(Path::new("/"))
    }

    /// A machine whose `sys` and `proc` are in another directory: made up for a test, or the host's
    /// as a container sees it.
    pub fn at(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    /// What a knob is set to now: each of its files and what it says. The value that the knob
    /// carries does not matter.
    ///
    /// # Errors
    ///
    /// [`KnobError::NotOffered`] where there is no such file, [`KnobError::Io`] where it cannot be
    /// read.
    pub fn read(&self, knob: &Knob) -> Result<Vec<(PathBuf, String)>, KnobError> {
        let name = knob.name();
        let mut found = Vec::new();
        for path in self.files(name) {
            match fs::read_to_string(&path) {
                Ok(text) => found.push((path, text.trim().to_owned())),
                // The processors of this policy are all switched off.
                Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {}
                Err(error) => return Err(KnobError::Io { knob: name, path, error }),
            }
        }
        if found.is_empty() {
            return Err(KnobError::NotOffered {
                knob: name,
                why: why_not_offered(name).to_owned(),
            });
        }
        Ok(found)
    }

    /// What has to be written so that a knob has its value; empty when it has it already. Nothing
    /// is written, so that the changes can be recorded and guarded before they are made.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read); also [`KnobError::UnknownValue`], and [`KnobError::NotPermitted`]
    /// where something would have to be written and may not.
    pub fn plan(&self, knob: &Knob) -> Result<Vec<Change>, KnobError> {
        let name = knob.name();
        let mut changes = Vec::new();
        for (path, before) in self.read(knob)? {
            let after = self.value(knob, &path)?;
            if before == after {
                continue;
            }
            access(&path, Access::WRITE_OK)
                .map_err(|error| failure(name, path.clone(), error.into()))?;
            changes.push(Change { knob: name, path, before, after });
        }
        Ok(changes)
    }

    /// Makes changes, one after the other, and reads each back. It stops at the first that fails;
    /// those before it stay made, and [`restore`](Self::restore) of the same list undoes them.
    ///
    /// # Errors
    ///
    /// [`KnobError::NotOurs`] before anything is written if a change is none that a plan could
    /// hold; [`KnobError::NotPermitted`], [`KnobError::NotKept`] and [`KnobError::Io`].
    pub fn apply(&self, changes: &[Change]) -> Result<(), KnobError> {
        changes.iter().try_for_each(|change| self.check(change, &change.after))?;
        for change in changes {
            write(change.knob, &change.path, &change.after)?;
            let found = read_back(change)?;
            if found != change.after {
                write(change.knob, &change.path, &change.before)?;
                return Err(KnobError::NotKept {
                    knob: change.knob,
                    path: change.path.clone(),
                    wanted: change.after.clone(),
                    found,
                });
            }
        }
        Ok(())
    }

    /// Undoes changes, the last first. What does not say what the change made it say is left as it
    /// is. All are tried, whatever becomes of one.
    ///
    /// The answer has what became of each change, in the order of the changes. Its errors are those
    /// of [`apply`](Self::apply).
    pub fn restore(&self, changes: &[Change]) -> Vec<Result<Undone, KnobError>> {
        let mut results: Vec<_> = changes.iter().rev().map(|change| self.undo(change)).collect();
        results.reverse();
        results
    }

    fn undo(&self, change: &Change) -> Result<Undone, KnobError> {
        self.check(change, &change.before)?;
        let now = read_back(change)?;
        if now != change.after {
            return Ok(Undone::LeftAlone { now });
        }
        write(change.knob, &change.path, &change.before)?;
        let found = read_back(change)?;
        if found == change.before {
            return Ok(Undone::Restored);
        }
        Err(KnobError::NotKept {
            knob: change.knob,
            path: change.path.clone(),
            wanted: change.before.clone(),
            found,
        })
    }

    /// Writes what is not yet on the disk, and then makes the kernel forget the files, directories
    /// and inodes that it holds in memory. It can take seconds, and everything on this machine is
    /// slower for a while.
    ///
    /// # Errors
    ///
    /// [`KnobError::NotOffered`], [`KnobError::NotPermitted`] or [`KnobError::Io`].
    pub fn drop_caches(&self) -> Result<(), KnobError> {
        let path = self.root.join("proc/sys/vm/drop_caches");
        rustix::fs::sync();
        match write("drop-caches", &path, "3") {
            Err(KnobError::Io { knob, error, .. }) if error.kind() == io::ErrorKind::NotFound => {
                let why = format!("there is no `{}`", path.display());
                Err(KnobError::NotOffered { knob, why })
            }
            other => other,
        }
    }

    /// The files of a knob that are there, in a fixed order.
    fn files(&self, knob: &str) -> Vec<PathBuf> {
        let cpu = self.root.join("sys/devices/system/cpu");
        let kernel = self.root.join("proc/sys/kernel");
        let candidates = match knob {
            GOVERNOR => return governor_files(&cpu),
            TURBO => vec![cpu.join("intel_pstate/no_turbo"), cpu.join("cpufreq/boost")],
            RT_RUNTIME => vec![kernel.join("sched_rt_runtime_us")],
            AUTOGROUP => vec![kernel.join("sched_autogroup_enabled")],
            _ => Vec::new(),
        };
        // Where both files of turbo exist, the first is what works.
        candidates.into_iter().filter(|path| path.is_file()).take(1).collect()
    }

    /// What a file of a knob has to say for the value that is wished for.
    fn value(&self, knob: &Knob, path: &Path) -> Result<String, KnobError> {
        let flag = |on: bool| if on { "1" } else { "0" }.to_owned();
        match knob {
            Knob::Governor(wanted) => {
                let offered = path.with_file_name("scaling_available_governors");
                let offered = match fs::read_to_string(&offered) {
                    Ok(text) => text,
                    Err(error) => {
                        return Err(KnobError::Io { knob: knob.name(), path: offered, error });
                    }
                };
                let offered: Vec<String> =
                    offered.split_ascii_whitespace().map(str::to_owned).collect();
                if offered.contains(wanted) {
                    return Ok(wanted.clone());
                }
                Err(KnobError::UnknownValue { knob: knob.name(), value: wanted.clone(), offered })
            }
            Knob::Turbo(on) => Ok(flag(*on != path.ends_with("no_turbo"))),
            Knob::Autogroup(on) => Ok(flag(*on)),
            Knob::RtRuntime(None) => Ok("-1".to_owned()),
            Knob::RtRuntime(Some(us)) => {
                let period = path.with_file_name("sched_rt_period_us");
                let period = fs::read_to_string(period).ok().and_then(|t| t.trim().parse().ok());
                match period {
                    Some(period) if *us > period => Err(KnobError::UnknownValue {
                        knob: knob.name(),
                        value: us.to_string(),
                        offered: vec![format!("0 to {period} us"), "no limit".to_owned()],
                    }),
                    _ => Ok(us.to_string()),
                }
            }
        }
    }

    /// Refuses a change that no plan of ours could hold.
    fn check(&self, change: &Change, value: &str) -> Result<(), KnobError> {
        let possible = match change.knob {
            GOVERNOR => {
                let letter = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
                (1..=15).contains(&value.len()) && value.bytes().all(letter)
            }
            TURBO | AUTOGROUP => matches!(value, "0" | "1"),
            RT_RUNTIME => value == "-1" || value.parse::<u32>().is_ok(),
            _ => false,
        };
        if let Err(error) = fs::symlink_metadata(&change.path) {
            // A processor that was switched off takes its files along.
            return Err(failure(change.knob, change.path.clone(), error));
        }
        if possible && self.files(change.knob).contains(&change.path) {
            return Ok(());
        }
        Err(KnobError::NotOurs { path: change.path.clone(), value: value.to_owned() })
    }
}

/// One file for each policy; on old kernels one for each processor.
fn governor_files(cpu: &Path) -> Vec<PathBuf> {
    let below = |directory: PathBuf, prefix: &str, rest: &str| {
        let entries = fs::read_dir(directory).into_iter().flatten().flatten();
        let mut found: Vec<(u32, PathBuf)> = entries
            .filter_map(|entry| {
                let number = entry.file_name().to_str()?.strip_prefix(prefix)?.parse().ok()?;
                Some((number, entry.path().join(rest)))
            })
            .filter(|(_, path)| path.is_file())
            .collect();
        found.sort();
        found.into_iter().map(|(_, path)| path).collect::<Vec<_>>()
    };
    let policies = below(cpu.join("cpufreq"), "policy", "scaling_governor");
    if policies.is_empty() {
        below(cpu.to_owned(), "cpu", "cpufreq/scaling_governor")
    } else {
        policies
    }
}

fn why_not_offered(knob: &str) -> &'static str {
    match knob {
        GOVERNOR => {
            "the kernel does not choose the frequency here (a virtual machine, or the firmware does)"
        }
        TURBO => "the kernel cannot switch turbo here (a virtual machine, or the firmware decides)",
        RT_RUNTIME => "the kernel has no limit for real-time tasks",
        _ => "the kernel was built without it",
    }
}

fn read_back(change: &Change) -> Result<String, KnobError> {
    fs::read_to_string(&change.path)
        .map(|text| text.trim().to_owned())
        .map_err(|error| failure(change.knob, change.path.clone(), error))
}

/// Never makes a file: one that is not there is an error.
fn write(knob: &'static str, path: &Path, value: &str) -> Result<(), KnobError> {
    let mut options = OpenOptions::new();
    let written = options.write(true).truncate(true).open(path).and_then(|mut file| {
        // In one piece: the kernel takes each write for a value.
        file.write_all(format!("{value}\n").as_bytes())
    });
    written.map_err(|error| failure(knob, path.to_owned(), error))
}

fn failure(knob: &'static str, path: PathBuf, error: io::Error) -> KnobError {
    match error.raw_os_error() {
        Some(libc::EACCES) => KnobError::NotPermitted { knob, path, needs: "root" },
        Some(libc::EPERM) => {
            let needs = "root, and a firmware or hypervisor that allows it";
            KnobError::NotPermitted { knob, path, needs }
        }
        Some(libc::EROFS) => {
            let needs = "root outside of this container: the file is on a read-only file system";
            KnobError::NotPermitted { knob, path, needs }
        }
        _ => KnobError::Io { knob, path, error },
    }
}
