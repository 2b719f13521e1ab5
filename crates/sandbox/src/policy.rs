//! What a command in the sandbox may see, write and use.

use std::ffi::OsString;
use std::path::PathBuf;

/// What a command may do. All paths are absolute, and the same inside as outside.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// Where it starts; one of the directories below, or within one.
    pub directory: PathBuf,
    /// Files and directories that it may read, beside the system's own.
    pub reads: Vec<PathBuf>,
    /// Directories that it may read, although the user of the sandbox can't reach them outside because a directory above is closed, as `/root` is
    /// ([`Sandbox::opens`](crate::Sandbox::opens)).
    pub opened: Vec<PathBuf>,
    /// Directories that it may write; they have to belong to the sandbox's user ([`Sandbox::hand_over`](crate::Sandbox::hand_over)).
    pub writes: Vec<PathBuf>,
    /// Files and directories within what it may read that it sees empty: tokens, keys.
    pub hides: Vec<PathBuf>,
    /// All its variables; `HOME`, `PATH` and `TMPDIR` have defaults.
    pub environment: Vec<(OsString, OsString)>,
    /// Whether it has the machine's network, with the loopback device.
    pub network: bool,
    /// What it may use.
    pub limits: Limits,
}

/// What a command and all its processes may use. What it has no limit for is not limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of memory of all its processes; where there are no control groups, of each.
    pub memory: Option<u64>,
    /// Processes and threads at a time.
    pub processes: Option<u64>,
    /// Bytes in `/tmp` and in other places in memory, each.
    pub temporary: Option<u64>,
    /// Bytes of the largest file.
    pub file: Option<u64>,
    /// Descriptors of each process.
    pub descriptors: Option<u64>,
    /// Seconds of processor time of each process.
    pub cpu_seconds: Option<u64>,
}

/// As much as tests of a usual project need: 2 GiB of memory, 512 processes, 1 GiB in `/tmp` and in a file.
impl Default for Limits {
    fn default() -> Self {
        const GIB: u64 = 1 << 30;
        Self {
            memory: Some(2 * GIB),
            processes: Some(512),
            temporary: Some(GIB),
            file: Some(GIB),
            descriptors: Some(1024),
            cpu_seconds: None,
        }
    }
}
