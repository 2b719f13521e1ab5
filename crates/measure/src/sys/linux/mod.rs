//! Linux: the launcher from a memory file, the shared page, signal handlers, `/proc` and `/sys`.

pub(crate) mod clock;
pub(crate) mod facts;
pub(crate) mod launcher;
mod parse;
pub(crate) mod signals;
