//! The paths of a built revision: its tree, the marker of a finished build, its log, and the lock
//! that its users hold.

use std::env;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use assay_data::private;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use sha2::{Digest, Sha256};

/// Environment variables that affect compilers and build tools. A build with other values is a
/// different build.
const STEERING: [&str; 16] = [
    "AR",
    "CC",
    "CFLAGS",
    "CGO_CFLAGS",
    "CGO_LDFLAGS",
    "CMAKE_BUILD_TYPE",
    "CMAKE_GENERATOR",
    "CPPFLAGS",
    "CXX",
    "CXXFLAGS",
    "GOFLAGS",
    "LD",
    "LDFLAGS",
    "MAKEFLAGS",
    "RUSTFLAGS",
    "RUSTUP_TOOLCHAIN",
];

/// The paths of one built revision.
pub(super) struct BuildPaths {
    pub(super) tree: PathBuf,
    /// Marker file, which exists if the tree is built.
    pub(super) marker: PathBuf,
    pub(super) log: PathBuf,
    pub(super) lock: PathBuf,
}

impl BuildPaths {
    /// Returns the paths for a commit built by a build line with the current variables.
    pub(super) fn of(home: &Path, commit: &str, line: &str) -> Self {
        let steering = STEERING.iter().map(|name| {
            let value = env::var_os(name).unwrap_or_default();
            [name.as_bytes(), b"=", value.as_encoded_bytes()].concat()
        });
        let all: Vec<Vec<u8>> = std::iter::once(line.as_bytes().to_vec()).chain(steering).collect();
        let digest = digest(all.iter().map(Vec::as_slice));
        Self::at(&home.join(format!("{commit}-{}", &digest[..12])))
    }

    pub(super) fn at(tree: &Path) -> Self {
        // The names contain no dot, so an extension can be added.
        let beside = |extension: &str| tree.with_extension(extension);
        Self {
            tree: tree.to_owned(),
            marker: beside("built"),
            log: beside("log"),
            lock: beside("lock"),
        }
    }

    pub(super) fn is_built(&self) -> bool {
        self.marker.exists() && self.tree.is_dir()
    }
}

/// Opens a file and locks it. Returns `None` if another process holds the lock, or has removed the
/// file in the meantime.
pub(super) fn locked(path: &Path, how: FlockOperation) -> io::Result<Option<File>> {
    let file = private::options().read(true).write(true).create(true).truncate(false).open(path)?;
    match flock(&file, how) {
        Ok(()) => {}
        Err(Errno::WOULDBLOCK | Errno::INTR) => return Ok(None),
        Err(error) => return Err(error.into()),
    }
    let own = file.metadata()?;
    let still = fs::metadata(path).is_ok_and(|at| (at.dev(), at.ino()) == (own.dev(), own.ino()));
    Ok(still.then_some(file))
}

/// Returns the SHA-256 digest of several texts in hexadecimal digits.
pub(super) fn digest<'a>(texts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
