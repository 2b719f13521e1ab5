//! The integration tests of this crate, as one program, so that it is linked once.

mod agent;
mod placing;
mod server;
mod setting_up;
mod support;
mod wrong;
