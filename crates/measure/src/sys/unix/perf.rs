//! Events that the system counts, by name: there are none on this system.

use std::convert::Infallible;
use std::io;

/// An event, which is never requested on this system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    SoftwareInKernel(()),
}

impl Source {
    /// The event that [`Opener::anchor`] opens.
    pub(crate) const ANCHOR: Self = Self::SoftwareInKernel(());

    pub(crate) fn is_hardware(self) -> bool {
        false
    }

    pub(crate) fn is_time(self) -> bool {
        false
    }
}

/// The supported events: none.
pub(crate) const KNOWN: [(&str, &str, Source); 0] = [];

/// The contents of a descriptor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reading {
    pub(crate) value: u64,
    pub(crate) enabled: u64,
    pub(crate) running: u64,
}

/// One open event; never constructed.
#[derive(Debug)]
pub(crate) struct Descriptor(Infallible);

impl Descriptor {
    pub(crate) fn read(&mut self) -> io::Result<Reading> {
        match self.0 {}
    }
}

/// Opens no events on this system.
pub(crate) struct Opener {
    pub(crate) user_only: bool,
}

impl Opener {
    pub(crate) fn new(_process: u32) -> Self {
        Self { user_only: false }
    }

    pub(crate) fn anchor(&self) -> io::Result<Descriptor> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn open(&mut self, _: Source, _: &[Descriptor]) -> io::Result<Descriptor> {
        self.anchor()
    }
}

/// Returns the reason why events are not counted, in plain words.
pub(crate) fn why_refused(_: &io::Error, _: Source, _: bool) -> String {
    why_not_in_user_code()
}

/// Returns the reason why events are not counted, in plain words.
pub(crate) fn why_not_in_user_code() -> String {
    "events can only be counted on Linux".to_owned()
}
