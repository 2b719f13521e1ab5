//! The verbs, one file each, with their arguments, help and actions. `systems.rs` has the messages
//! about verbs that a system lacks.

#[cfg(unix)]
pub(crate) mod bench;
#[cfg(unix)]
pub(crate) mod bisect;
#[cfg(target_os = "linux")]
pub(crate) mod calibrate;
#[cfg(unix)]
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod convert;
pub(crate) mod describe;
#[cfg(target_os = "linux")]
pub(crate) mod doctor;
pub(crate) mod documents;
#[cfg(unix)]
pub(crate) mod gate;
pub(crate) mod history;
#[cfg(target_os = "linux")]
pub(crate) mod load;
pub(crate) mod ministat;
pub(crate) mod plan;
#[cfg(target_os = "linux")]
pub(crate) mod profile;
#[cfg(unix)]
pub(crate) mod repeat;
#[cfg(unix)]
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod simulate;
#[cfg(target_os = "linux")]
pub(crate) mod tests;
#[cfg(target_os = "linux")]
pub(crate) mod warm;
#[cfg(target_os = "linux")]
pub(crate) mod watch;
pub(crate) mod why;
