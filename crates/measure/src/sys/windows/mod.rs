//! Windows: nothing is run or measured there; only recorded runs are read.

pub(crate) mod asked;
pub(crate) mod clock;
pub(crate) mod facts;
pub(crate) mod terminal;
