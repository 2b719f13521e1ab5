//! Code shared by the programs of a farm: its data and wire format ([`builds`]), and the client of
//! its API ([`client`]).

pub mod builds;
pub mod client;
pub mod plain;
