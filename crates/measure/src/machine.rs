//! The machine as something that can be set up for measuring, and restored: its settings, what may
//! be done to it, and who else is at work on it.
//!
//! Whoever changes a setting goes this way, so that no end of a process, not even `kill -9`, leaves
//! a machine changed for good: [`Machine::plan`] says what has to be written; [`Journal::record`]
//! writes that down safely; only then [`Machine::apply`] does it. Afterwards comes
//! [`Machine::restore`], and [`Journal::clear`]. Who starts next asks [`Journal::left_behind`] for
//! what somebody before had no time to restored, and [`Journal::held_by_others`] for what somebody
//! else holds at this moment; one at a time, for which there is [`Journal::turn`].
//!
//! Nothing here decides what a setting should be: what disturbs a measurement is the analysis's to
//! say, from the facts of [`crate::environment`].

#[cfg(target_os = "linux")]
mod journal;

pub use crate::sys::facts::online_cpus;
pub use crate::sys::knobs::{Knob, KnobError, Machine};
pub use crate::sys::locked::{Locked, lock_files};
#[cfg(target_os = "linux")]
pub use crate::sys::{
    knobs::{Change, Undone},
    processes::{Busy, Privileges, busiest, privileges},
};
#[cfg(target_os = "linux")]
pub use journal::{Entry, Holder, Journal, JournalOf, LeftBehind, Turn};
