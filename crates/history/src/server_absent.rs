//! Replacement for the PostgreSQL client in builds without the feature `postgresql`: types without
//! values, so that the compiler removes the code that would use them.

use crate::trouble::Trouble;
use crate::value::Value;
use std::convert::Infallible;

/// An address, which cannot exist without the client.
#[derive(Clone)]
pub(crate) struct Address(Infallible);
/// A row, which no server sends.
pub struct ServerRow(Infallible);
/// An error, which no server reports.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ServerError(Infallible);

/// A connection, which cannot be made.
pub struct Client(Infallible);

/// Rejects every address; the caller reports the reason.
pub(crate) fn parse(_address: &str, _password: Option<&str>) -> Result<Address, String> {
    Err("no client".to_owned())
}

impl Client {
    /// Never called.
    pub(crate) fn connect(address: &Address) -> Result<Self, ServerError> {
        match address.0 {}
    }

    /// Never called.
    pub(crate) fn rows(&mut self, _: &str, _: &[Value<'_>]) -> Result<Vec<ServerRow>, ServerError> {
        match self.0 {}
    }

    /// Never called.
    pub(crate) fn execute(&mut self, _: &str, _: &[Value<'_>]) -> Result<u64, ServerError> {
        match self.0 {}
    }

    /// Never called.
    pub(crate) fn batch(&mut self, _: &str) -> Result<(), ServerError> {
        match self.0 {}
    }
}

/// Types that a column could be read as.
pub(crate) trait FromServer: Sized {
    /// Never called.
    fn from_server(row: &ServerRow, _: usize) -> Result<Self, ServerError> {
        match row.0 {}
    }
}

impl<T> FromServer for T {}

/// Never called.
pub(crate) fn text(row: &ServerRow, _: usize) -> Result<Option<String>, ServerError> {
    match row.0 {}
}

/// Never called.
pub(crate) fn trouble(error: &ServerError) -> (Trouble, String) {
    match error.0 {}
}
