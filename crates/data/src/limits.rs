//! Limits on reading a file, so that a small one cannot exhaust memory: numbers of values, lines
//! and columns, and of decompressed bytes. The program raises the limit at startup if the user has
//! set a higher one.

use std::io::{self, Read};
use std::num::NonZeroUsize;
use std::sync::OnceLock;

/// Environment variable that sets the number of values a file may hold; messages mention it.
pub const VARIABLE: &str = "ASSAY_MAX_VALUES";
/// Default number of values. A comparison of two files of this size takes 2 GB.
const USUAL: usize = 20_000_000;
/// Allowed number of decompressed bytes per value, including its separator.
const BYTES_A_VALUE: u64 = 26;
/// Maximum number of columns of a table: a scan of two hundred commands produces thousands.
pub(crate) const MOST_COLUMNS: usize = 100_000;

static MOST_VALUES: OnceLock<NonZeroUsize> = OnceLock::new();

/// Sets the number of values, and of lines, that a file may hold. Must be called before anything is
/// read; only the first call has an effect.
pub fn allow_values(most: NonZeroUsize) {
    MOST_VALUES.get_or_init(|| most);
}

/// Returns the number of values, and of lines, that a file may hold.
pub(crate) fn most_values() -> usize {
    MOST_VALUES.get().map_or(USUAL, |most| most.get())
}

/// Returns the error text for a file that exceeds the limit, to be put after its name.
pub(crate) fn too_many(what: &str) -> String {
    format!("has more than {} {what}; set {VARIABLE} to read it all the same", most_values())
}

/// Reads the decompressed bytes of a file, up to the limit.
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
