//! Machine settings that can be changed for a measurement and restored afterwards, the permitted
//! changes, and other processes that measure on the machine.
//!
//! Settings are changed in these steps, so that a process never leaves a machine changed
//! permanently, even after `kill -9`: [`Machine::plan`] returns the values to be written;
//! [`Journal::record`] stores them durably; only then does [`Machine::apply`] make the changes.
//! Afterwards, [`Machine::restore`] undoes them and [`Journal::clear`] removes the record. The next
//! process queries [`Journal::left_behind`] for changes that an earlier process had no time to
//! undo, and [`Journal::held_by_others`] for changes that another process holds at the moment.
//! [`Journal::turn`] serializes this.
//!
//! The right values of settings are not determined here: the analysis decides what disturbs a
//! measurement, from the facts of [`crate::environment`].

#[cfg(target_os = "linux")]
mod journal;

pub use crate::sys::facts::online_cpus;
pub use crate::sys::knobs::{Knob, KnobError, Machine};
pub use crate::sys::locked::{PinnedFile, lock_files};
#[cfg(target_os = "linux")]
pub use crate::sys::{
    knobs::{Change, Undone},
    processes::{Busy, Privileges, busiest, privileges},
};
#[cfg(target_os = "linux")]
pub use journal::{Entry, Holder, Journal, JournalOf, LeftBehind, Turn};
