//! Settings of the machine that affect how steady measurements are. This module reads them, plans
//! the writes that give a setting another value, makes these writes, and restores the previous
//! values.
//!
//! The files are described in the kernel's documentation of cpufreq, intel_pstate and the
//! scheduler. Only [`Machine::apply`], [`Machine::restore`] and [`Machine::drop_caches`] write. A
//! list of changes may come from a journal that someone else could have written, and be restored by
//! root. Therefore a change is made only to a file that belongs to its knob, with a value that such
//! a knob can have.

use assay_data::system_error::reason;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

/// A setting and its requested value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Knob {
    /// The frequency governor of all processors, such as `performance`.
    Governor(String),
    /// True if processors may exceed their nominal frequency.
    Turbo(bool),
    /// Time of each period (usually a second) that real-time tasks may use, in µs; `None` if there
    /// is no limit.
    RtRuntime(Option<u32>),
    /// True if each session gets an equal share of the processors.
    Autogroup(bool),
}

const GOVERNOR: &str = "governor";
const TURBO: &str = "turbo";
const RT_RUNTIME: &str = "rt-runtime";
const AUTOGROUP: &str = "autogroup";

/// Names of all knobs.
pub(crate) const NAMES: [&str; 4] = [GOVERNOR, TURBO, RT_RUNTIME, AUTOGROUP];

impl Knob {
    /// Returns the knob's name: `governor`, `turbo`, `rt-runtime` or `autogroup`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Governor(_) => GOVERNOR,
            Self::Turbo(_) => TURBO,
            Self::RtRuntime(_) => RT_RUNTIME,
            Self::Autogroup(_) => AUTOGROUP,
        }
    }
}

/// A planned or completed change of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Name of the knob that is changed.
    pub knob: &'static str,
    /// Path of the file.
    pub path: PathBuf,
    /// Previous contents, without the line ending.
    pub before: String,
    /// Intended contents, without the line ending.
    pub after: String,
}

/// Result of undoing a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undone {
    /// The previous value was written, and was confirmed by reading the file.
    Restored,
    /// Nothing was written, because the file does not contain the value that the change writes: the
    /// change was not made, was already undone, or was overwritten by someone else.
    LeftAlone {
        /// The current contents of the file.
        now: String,
    },
}

/// Reasons why a setting could not be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum KnobError {
    /// This machine has no such setting.
    #[error("`{knob}` cannot be set on this machine: {why}")]
    NotOffered {
        /// The knob's name.
        knob: &'static str,
        /// The reason, in plain words.
        why: String,
    },
    /// The user lacks the permission.
    #[error("`{knob}` may not be changed: writing `{}` needs {needs}", path.display())]
    NotPermitted {
        /// The knob's name.
        knob: &'static str,
        /// The file that may not be written.
        path: PathBuf,
        /// The required privilege.
        needs: &'static str,
    },
    /// The setting cannot have this value.
    #[error("`{knob}` cannot be `{value}`: this machine offers {}", offered.join(", "))]
    UnknownValue {
        /// The knob's name.
        knob: &'static str,
        /// The requested value.
        value: String,
        /// The available values.
        offered: Vec<String>,
    },
    /// The value was written without an error, but the file had other contents afterwards.
    /// [`Machine::apply`] has then written the previous value back.
    #[error("`{knob}` did not change: `{}` was set to `{wanted}` and says `{found}`", path.display())]
    NotKept {
        /// The knob's name.
        knob: &'static str,
        /// Path of the file.
        path: PathBuf,
        /// The value that was written.
        wanted: String,
        /// The contents read back afterwards.
        found: String,
    },
    /// A change that cannot be part of a plan for this machine; it was not made.
    #[error("assay does not change `{}` to `{value}`: it is left as it is", path.display())]
    NotOurs {
        /// The file that the change names.
        path: PathBuf,
        /// The value that the change would write.
        value: String,
    },
    /// Reading or writing failed for another reason.
    #[error("`{knob}`: `{}`: {reason}", path.display(), reason = reason(error))]
    Io {
        /// The knob's name.
        knob: &'static str,
        /// Path of the file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
}

/// The files that contain the settings of a machine.
#[derive(Clone, Debug)]
pub struct Machine {
    root: PathBuf,
}

impl Machine {
    /// Returns the machine on which this program runs.
    pub fn here() -> Self {
        Self::at(Path::new("/"))
    }

    /// Returns a machine whose `sys` and `proc` are below `root`: a fake one for tests, or the
    /// host's as seen from a container.
    pub fn at(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    /// Returns a knob's files with their current contents. The value in `knob` does not matter.
    ///
    /// # Errors
    ///
    /// Returns [`KnobError::NotOffered`] if the knob has no readable files, and [`KnobError::Io`]
    /// if reading one fails.
    pub fn read(&self, knob: &Knob) -> Result<Vec<(PathBuf, String)>, KnobError> {
        let name = knob.name();
        let mut found = Vec::new();
        for path in self.files(name) {
            match fs::read_to_string(&path) {
                Ok(text) => found.push((path, text.trim().to_owned())),
                // All processors that this file applies to are offline.
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

    /// Returns the changes needed to give a knob its value; empty if it already has it. Nothing is
    /// written, so that the changes can be recorded and guarded before they are made.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`read`](Self::read), [`KnobError::UnknownValue`] if the value is not
    /// supported, and [`KnobError::NotPermitted`] if a file would have to be written but may not
    /// be.
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

    /// Makes changes one after another, and confirms each by reading the file. Stops at the first
    /// failure. Earlier changes remain, and [`restore`](Self::restore) with the same list undoes
    /// them.
    ///
    /// # Errors
    ///
    /// Returns [`KnobError::NotOurs`], before anything is written, if a change cannot be part of a
    /// plan, and [`KnobError::NotPermitted`], [`KnobError::NotKept`] or [`KnobError::Io`] if a
    /// change fails.
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

    /// Undoes changes, starting with the last. A file that does not contain the value written by
    /// its change is left alone. All changes are attempted, even after a failure.
    ///
    /// Returns the result for each change, in the order of `changes`. The errors are those of
    /// [`apply`](Self::apply).
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

    /// Writes dirty data to the disk, and then makes the kernel drop cached files, directories and
    /// inodes. This may take seconds, and slows down everything on the machine for a while.
    ///
    /// # Errors
    ///
    /// Returns an error if the kernel has no file for this, or it can't be written.
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

    /// Returns the existing files of a knob, in a fixed order.
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
        // If both files for turbo exist, the first one takes effect.
        candidates.into_iter().filter(|path| path.is_file()).take(1).collect()
    }

    /// Returns what a file of a knob must contain for the requested value.
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

    /// Returns an error if a change cannot be part of a plan.
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
            // The files of a processor disappear when it goes offline.
            return Err(failure(change.knob, change.path.clone(), error));
        }
        if possible && self.files(change.knob).contains(&change.path) {
            return Ok(());
        }
        Err(KnobError::NotOurs { path: change.path.clone(), value: value.to_owned() })
    }
}

/// Returns the governor files: one per policy or, on old kernels, one per processor.
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

/// Writes a value to an existing file. Never creates one: a missing file is an error.
fn write(knob: &'static str, path: &Path, value: &str) -> Result<(), KnobError> {
    let mut options = OpenOptions::new();
    let written = options.write(true).truncate(true).open(path).and_then(|mut file| {
        // The value is written in one piece, because the kernel treats each write as a value.
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
