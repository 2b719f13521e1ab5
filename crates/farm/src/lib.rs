//! What the programs of a farm share: the client of its API.

pub mod client;
pub mod plain;
