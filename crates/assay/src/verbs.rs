//! The verbs, one file each: its arguments with their help, and what it does.

pub(crate) mod bench;
pub(crate) mod bisect;
pub(crate) mod calibrate;
pub(crate) mod compare;
pub(crate) mod convert;
pub(crate) mod describe;
pub(crate) mod doctor;
pub(crate) mod documents;
pub(crate) mod gate;
pub(crate) mod history;
pub(crate) mod load;
pub(crate) mod ministat;
pub(crate) mod plan;
pub(crate) mod profile;
pub(crate) mod repeat;
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod simulate;
pub(crate) mod tests;
pub(crate) mod warm;
pub(crate) mod watch;
