//! Values of the parameters of statements.

use rusqlite::types::{ToSqlOutput, ValueRef};

/// Value of a parameter of a statement.
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    /// NULL.
    Null,
    /// A boolean.
    Flag(bool),
    /// An integer.
    Integer(i64),
    /// A floating-point number.
    Real(f64),
    /// A text.
    Text(&'a str),
    /// A sequence of bytes.
    Bytes(&'a [u8]),
}

/// Creates the parameters of a statement, in order, from values that convert to `Value`.
#[macro_export]
macro_rules! values {
    ($($value:expr),* $(,)?) => { &[$($crate::db::Value::from($value)),*] };
}
pub use values;

impl rusqlite::ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match *self {
            Self::Null => ValueRef::Null,
            Self::Flag(flag) => ValueRef::Integer(i64::from(flag)),
            Self::Integer(number) => ValueRef::Integer(number),
            Self::Real(number) => ValueRef::Real(number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

macro_rules! from {
    ($($kind:ty => $variant:ident),*) => {
        $(impl<'a> From<$kind> for Value<'a> {
            fn from(value: $kind) -> Self {
                Self::$variant(value)
            }
        })*
    };
}
from!(bool => Flag, i64 => Integer, f64 => Real, &'a str => Text, &'a [u8] => Bytes);

impl<'a> From<&'a String> for Value<'a> {
    fn from(value: &'a String) -> Self {
        Self::Text(value)
    }
}

impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}
