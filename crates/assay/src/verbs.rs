//! The verbs, one file each: its arguments with their help, and what it does.

pub(crate) mod compare;
pub(crate) mod documents;
pub(crate) mod run;
