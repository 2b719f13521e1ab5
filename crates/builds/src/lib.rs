//! What a farm knows: whose projects, which versions, on which targets, what came of each; and what is said of it over the wire.
//!
//! It has no clock (times are handed in), speaks no HTTP, starts nothing and draws nothing: server, agents, executors and pages are
//! the program's, `assay-farm`. docs/design/010-farm.md has the whole picture.

pub mod model;
pub mod shown;
pub mod wire;
