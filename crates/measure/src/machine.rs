//! The machine's settings, which can be changed for measuring and restored; what may be done to it,
//! and which other processes measure on it.
//!
//! Settings are changed in these steps, so that no end of a process, not even `kill -9`, leaves a
//! machine changed for good: [`Machine::plan`] returns what has to be written; [`Journal::record`]
//! stores that durably; only then [`Machine::apply`] makes the changes. Afterwards come
//! [`Machine::restore`] and [`Journal::clear`]. The next process queries [`Journal::left_behind`]
//! for what an earlier one had no time to restore, and [`Journal::held_by_others`] for what another
//! one holds at the moment; [`Journal::turn`] serialises this.
//!
//! Nothing here decides what a setting should be: the analysis decides what disturbs a measurement,
//! from the facts of [`crate::environment`].

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
