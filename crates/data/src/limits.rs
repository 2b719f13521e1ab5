//! Limits on the numbers of values, lines, columns and decompressed bytes that are read from a
//! file, so that a small file cannot exhaust memory. The program raises the limit at startup if the
//! user has set a higher one.

use std::io::{self, Read};
use std::num::NonZeroUsize;
use std::sync::OnceLock;

/// Environment variable that sets the number of values that a file may hold. Error messages refer
/// to it.
pub const VARIABLE: &str = "ASSAY_MAX_VALUES";
/// Default maximum number of values in a file. A comparison of two files of this size takes 2 GB of
/// memory.
const USUAL: usize = 20_000_000;
/// Number of decompressed bytes allowed per value, including its separator.
const BYTES_A_VALUE: u64 = 26;
/// Maximum number of columns of a table. A scan of two hundred commands produces thousands.
pub(crate) const MOST_COLUMNS: usize = 100_000;

static MOST_VALUES: OnceLock<NonZeroUsize> = OnceLock::new();

/// Sets the maximum number of values, and of lines, that a file may hold. Must be called before any
/// file is read. Only the first call has an effect.
pub fn allow_values(most: NonZeroUsize) {
    MOST_VALUES.get_or_init(|| most);
}

/// Returns the number of values, and of lines, that a file may hold.
pub(crate) fn most_values() -> usize {
    MOST_VALUES.get().map_or(USUAL, |most| most.get())
}

/// Returns the error text for a file that exceeds the limit, without the file's name, which must
/// precede it.
pub(crate) fn too_many(what: &str) -> String {
    format!("has more than {} {what}; set {VARIABLE} to read it all the same", most_values())
}

/// A reader of decompressed bytes that fails once they exceed the limit.
pub(crate) struct Unpacked<R> {
    packed: R,
    left: u64,
}

impl<R> Unpacked<R> {
    pub(crate) fn of(packed: R) -> Self {
        Self { packed, left: BYTES_A_VALUE * most_values() as u64 }
    }
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.packed.read(into)?;
        self.left = self.left.checked_sub(read as u64).ok_or_else(|| {
            let most = BYTES_A_VALUE * most_values() as u64 / 1_000_000;
            io::Error::other(format!(
                "unpacked it has more than {most} MB; unpack it, or set {VARIABLE} to more than {}",
                most_values()
            ))
        })?;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_is_compressed_ends_at_the_limit() {
        let mut all = Unpacked { packed: &b"0123456789"[..], left: 10 };
        assert_eq!(io::read_to_string(&mut all).unwrap(), "0123456789");
        let mut more = Unpacked { packed: &b"0123456789"[..], left: 9 };
        let error = io::read_to_string(&mut more).unwrap_err().to_string();
        assert!(error.contains(VARIABLE), "{error}");
    }
}
