//! Wrapper of the PostgreSQL client, with the operations that this crate needs.

use crate::sql;
use crate::trouble::Trouble;
use crate::value::Value;
use bytes::BytesMut;
use postgres::NoTls;
use postgres::config::SslMode;
use postgres::error::SqlState;
use postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};
use std::collections::HashMap;
use std::error::Error;
use std::io;
use std::time::Duration;

/// Maximum time to wait for a connection to a server.
const PATIENCE: Duration = Duration::from_secs(10);

/// Parameters of a connection: hosts, database, user and password.
pub(crate) type Address = postgres::Config;
/// One row of a result.
pub type ServerRow = postgres::Row;
/// Error of a failed statement or connection.
pub type ServerError = postgres::Error;

/// Connection to a server, with its prepared statements.
pub struct Client {
    connection: postgres::Client,
    prepared: HashMap<String, postgres::Statement>,
}

/// Parses the address of a database. `password` is used if the address has none.
///
/// # Errors
/// If the address is malformed or requires TLS. The error is a description of the reason.
pub(crate) fn parse(address: &str, password: Option<&str>) -> Result<Address, String> {
    let mut config: Address = address.parse().map_err(|error: ServerError| words(&error))?;
    if config.get_ssl_mode() == SslMode::Require {
        return Err("assay does not support TLS to databases; use a tunnel".to_owned());
    }
    if let (None, Some(password)) = (config.get_password(), password) {
        config.password(password);
    }
    if config.get_hosts().is_empty() {
        config.host("/run/postgresql");
    }
    config.application_name("assay");
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(PATIENCE);
    }
    // Without this limit, a disconnected cable would go unnoticed for many minutes.
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(3 * PATIENCE);
    }
    Ok(config)
}

impl Client {
    /// Connects to a server.
    pub(crate) fn connect(address: &Address) -> Result<Self, ServerError> {
        Ok(Self { connection: address.connect(NoTls)?, prepared: HashMap::new() })
    }

    fn prepared(&mut self, statement: &str) -> Result<postgres::Statement, ServerError> {
        if let Some(known) = self.prepared.get(statement) {
            return Ok(known.clone());
        }
        let prepared = self.connection.prepare(&sql::in_postgres(statement))?;
        self.prepared.insert(statement.to_owned(), prepared.clone());
        Ok(prepared)
    }

    /// Runs a query and returns all rows of its result.
    pub(crate) fn rows(
        &mut self,
        statement: &str,
        values: &[Value<'_>],
    ) -> Result<Vec<ServerRow>, ServerError> {
        let prepared = self.prepared(statement)?;
        self.connection.query(&prepared, &as_parameters(values))
    }

    /// Runs a statement and returns the number of rows that it changed.
    pub(crate) fn execute(
        &mut self,
        statement: &str,
        values: &[Value<'_>],
    ) -> Result<u64, ServerError> {
        let prepared = self.prepared(statement)?;
        self.connection.execute(&prepared, &as_parameters(values))
    }

    /// Runs several statements without parameters.
    pub(crate) fn batch(&mut self, statements: &str) -> Result<(), ServerError> {
        self.connection.batch_execute(statements)
    }
}

fn as_parameters<'a>(values: &'a [Value<'a>]) -> Vec<&'a (dyn ToSql + Sync)> {
    values.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}

/// Type that a column of a server's row can be read as.
pub(crate) trait FromServer: Sized {
    /// Returns the value of a column.
    fn from_server(row: &ServerRow, at: usize) -> Result<Self, ServerError>;
}

impl<T: for<'a> FromSql<'a>> FromServer for T {
    fn from_server(row: &ServerRow, at: usize) -> Result<Self, ServerError> {
        row.try_get(at)
    }
}

/// Returns the value of a text column, with the escapes of [`escaped`] decoded.
pub(crate) fn text(row: &ServerRow, at: usize) -> Result<Option<String>, ServerError> {
    Ok(row.try_get::<_, Option<String>>(at)?.map(|text| unescaped(&text)))
}

impl ToSql for Value<'_> {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match *self {
            Self::Null => Ok(IsNull::Yes),
            Self::Flag(flag) => flag.to_sql(kind, out),
            Self::Integer(number) => number.to_sql(kind, out),
            Self::Real(number) => number.to_sql(kind, out),
            Self::Text(text) => escaped(text).to_sql(kind, out),
            Self::Bytes(bytes) => bytes.to_sql(kind, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// Escapes NUL characters, which may occur in names but not in a PostgreSQL text.
fn escaped(text: &str) -> String {
    text.replace('\u{1}', "\u{1}1").replace('\0', "\u{1}0")
}

fn unescaped(text: &str) -> String {
    if text.contains('\u{1}') {
        text.replace("\u{1}0", "\0").replace("\u{1}1", "\u{1}")
    } else {
        text.to_owned()
    }
}

/// Returns the kind of a server's error, and its message.
pub(crate) fn trouble(error: &ServerError) -> (Trouble, String) {
    (kind(error), words(error))
}

fn kind(error: &ServerError) -> Trouble {
    let Some(code) = error.code() else {
        let is_io = error.source().is_some_and(|source| source.is::<io::Error>());
        return if error.is_closed() || is_io { Trouble::Gone } else { Trouble::Other };
    };
    let going = [
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::TOO_MANY_CONNECTIONS,
    ];
    if *code == SqlState::LOCK_NOT_AVAILABLE {
        Trouble::Busy
    } else if *code == SqlState::DISK_FULL {
        Trouble::Full
    } else if [SqlState::READ_ONLY_SQL_TRANSACTION, SqlState::INSUFFICIENT_PRIVILEGE].contains(code)
    {
        Trouble::ReadOnly
    } else if going.contains(code) || code.code().starts_with("08") {
        Trouble::Gone
    } else if *code == SqlState::INVALID_CATALOG_NAME || code.code().starts_with("28") {
        Trouble::Refused
    } else {
        Trouble::Other
    }
}

/// Returns the server's message or, if there is none, that of the underlying error.
fn words(error: &ServerError) -> String {
    match (error.as_db_error(), error.source()) {
        (Some(said), _) => said.message().to_owned(),
        (None, Some(source)) => source.to_string(),
        (None, None) => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_text_is_read_as_it_was_written(text in "[\0\u{1}01a]*") {
            let written = escaped(&text);
            prop_assert!(!written.contains('\0'));
            prop_assert_eq!(unescaped(&written), text);
        }
    }
}
