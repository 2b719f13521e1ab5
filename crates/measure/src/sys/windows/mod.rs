//! Windows: nothing is run and measured there; what is left is what reads recorded runs.

pub(crate) mod asked;
pub(crate) mod clock;
pub(crate) mod facts;
pub(crate) mod terminal;
