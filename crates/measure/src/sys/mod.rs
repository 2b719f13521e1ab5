//! What depends on the operating system: the launcher's process, signals, facts about the machine.
//!
//! A directory for each kind of system. They offer the same names, as far as the rest of the crate
//! is compiled there (`lib.rs` says what is); it knows nothing of `/proc` and holds no `unsafe`.

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
