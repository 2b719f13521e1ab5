//! Code shared by the programs of a farm: the client of its API.

pub mod client;
pub mod plain;
