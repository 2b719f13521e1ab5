//! Code that depends on the operating system: the launcher's process, signals, facts about the
//! machine.
//!
//! There is one directory per kind of system. All export the same names, as far as the parts of the
//! crate that are compiled on that system need them (see `lib.rs`); the rest of the crate does not
//! use `/proc` and contains no `unsafe`.

#[cfg(unix)]
pub(crate) mod asked;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(unix)]
pub(crate) mod terminal;
#[cfg(all(unix, not(target_os = "linux")))]
mod unix;
#[cfg(not(target_os = "linux"))]
mod unknown;
#[cfg(unix)]
pub(crate) mod waiting;
#[cfg(windows)]
mod windows;

#[cfg(target_os = "linux")]
pub(crate) use linux::*;
#[cfg(all(unix, not(target_os = "linux")))]
pub(crate) use unix::*;
#[cfg(windows)]
pub(crate) use windows::*;
