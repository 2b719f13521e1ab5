//! Files that are their owner's alone: recordings may hold what commands were given, and what those said.

use std::fs::OpenOptions;

/// Options by which a file that is made is nobody else's to read, where the system is told so at its making; elsewhere its directory decides.
pub fn options() -> OpenOptions {
    private(OpenOptions::new())
}

#[cfg(unix)]
fn private(mut options: OpenOptions) -> OpenOptions {
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

#[cfg(not(unix))]
fn private(options: OpenOptions) -> OpenOptions {
    options
}
