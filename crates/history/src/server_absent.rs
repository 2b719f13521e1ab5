//! Replacement for the PostgreSQL client in builds without the feature `postgresql`. Its types have
//! no values, so the compiler removes the code that would use them.

use crate::trouble::Trouble;
use crate::value::Value;
use std::convert::Infallible;

/// Parameters of a connection. No value exists in a build without the client.
#[derive(Clone)]
pub(crate) struct Address(Infallible);
/// Row of a server's result. No value exists in a build without the client.
pub struct ServerRow(Infallible);
/// Error of a server. No value exists in a build without the client.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ServerError(Infallible);

/// Connection to a server. No value exists in a build without the client.
pub struct Client(Infallible);

/// Rejects every address. The caller reports that this build has no client.
pub(crate) fn parse(_address: &str, _password: Option<&str>) -> Result<Address, String> {
    Err("no client".to_owned())
}

impl Client {
    /// Never called, because `address` cannot exist.
    pub(crate) fn connect(address: &Address) -> Result<Self, ServerError> {
        match address.0 {}
    }

    /// Never called, because a client cannot exist.
    pub(crate) fn rows(&mut self, _: &str, _: &[Value<'_>]) -> Result<Vec<ServerRow>, ServerError> {
        match self.0 {}
    }

    /// Never called, because a client cannot exist.
    pub(crate) fn execute(&mut self, _: &str, _: &[Value<'_>]) -> Result<u64, ServerError> {
        match self.0 {}
    }

    /// Never called, because a client cannot exist.
    pub(crate) fn batch(&mut self, _: &str) -> Result<(), ServerError> {
        match self.0 {}
    }
}

/// Type that a column of a server's row could be read as.
pub(crate) trait FromServer: Sized {
    /// Never called, because a row cannot exist.
    fn from_server(row: &ServerRow, _: usize) -> Result<Self, ServerError> {
        match row.0 {}
    }
}

impl<T> FromServer for T {}

/// Never called, because a row cannot exist.
pub(crate) fn text(row: &ServerRow, _: usize) -> Result<Option<String>, ServerError> {
    match row.0 {}
}

/// Never called, because an error cannot exist.
pub(crate) fn trouble(error: &ServerError) -> (Trouble, String) {
    match error.0 {}
}
