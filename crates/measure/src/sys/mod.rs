//! What depends on the operating system: the launcher's process, signals, facts about the machine.
//!
//! Only Linux so far. Another system adds a module that offers the same names; the rest of the
//! crate knows nothing of `/proc` and holds no `unsafe`.

#[cfg(target_os = "linux")]
mod linux;

#[cfg(target_os = "linux")]
pub(crate) use linux::*;

#[cfg(not(target_os = "linux"))]
compile_error!("assay-measure runs on Linux only so far: give `sys` a module for this system");
