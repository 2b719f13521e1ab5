//! Permissions and limits of a command in the sandbox.

use std::ffi::OsString;
use std::path::PathBuf;

/// The permissions of a command. All paths are absolute, and the same inside as outside.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// Working directory of the command: one of the directories below, or inside one.
    pub directory: PathBuf,
    /// Files and directories that the command may read, in addition to those of the system.
    pub reads: Vec<PathBuf>,
    /// Directories that it may read although the sandbox's user can't reach them outside, because a
    /// parent directory is closed, as `/root` is ([`Sandbox::opens`](crate::sandbox::Sandbox::opens)).
    pub opened: Vec<PathBuf>,
    /// Directories that the command may write. They must belong to the sandbox's user
    /// ([`Sandbox::hand_over`](crate::sandbox::Sandbox::hand_over)).
    pub writes: Vec<PathBuf>,
    /// Files and directories within the readable ones that appear empty, such as tokens and keys.
    pub hides: Vec<PathBuf>,
    /// All environment variables of the command. `HOME`, `PATH` and `TMPDIR` have defaults.
    pub environment: Vec<(OsString, OsString)>,
    /// True if the command can use the machine's network, including its loopback device.
    pub network: bool,
    /// Resource limits of the command.
    pub limits: Limits,
}

/// Limits for a command and all its processes. `None` means unlimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Memory of all processes together, in bytes. Without control groups, this limits the memory
    /// of each process.
    pub memory: Option<u64>,
    /// Maximum number of simultaneous processes and threads.
    pub processes: Option<u64>,
    /// Size of `/tmp` and of each other directory in memory, in bytes.
    pub temporary: Option<u64>,
    /// Maximum file size, in bytes.
    pub file: Option<u64>,
    /// Maximum number of file descriptors per process.
    pub descriptors: Option<u64>,
    /// Processor time per process, in seconds.
    pub cpu_seconds: Option<u64>,
}

/// Enough for the tests of a typical project: 2 GiB of memory, 512 processes, 1 GiB in `/tmp` and
/// per file.
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
