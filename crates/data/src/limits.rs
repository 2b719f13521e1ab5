//! How much of a file is read at most, so that a small one can't take all memory: values, lines, columns, and bytes that come out of a
//! compressed one. The program raises the limit at its start, where its user has more.

use std::io::{self, Read};
use std::num::NonZeroUsize;
use std::sync::OnceLock;

/// The variable of the environment by which the user of the program says how many values a file may hold, as messages name it.
pub const VARIABLE: &str = "ASSAY_MAX_VALUES";
/// With so many a comparison of two files takes 2 GB.
const USUAL: usize = 20_000_000;
/// A number of a text and what parts it from the next take so many bytes at most, in files with that many.
const BYTES_A_VALUE: u64 = 26;
/// Columns of a table: of two hundred commands a scan makes thousands.
pub(crate) const MOST_COLUMNS: usize = 100_000;

static MOST_VALUES: OnceLock<NonZeroUsize> = OnceLock::new();

/// Lets a file hold so many values, and lines. To be called before anything is read: later calls, and those after the first, change nothing.
pub fn allow_values(most: NonZeroUsize) {
    MOST_VALUES.get_or_init(|| most);
}

/// How many values, and lines, a file may hold.
pub(crate) fn most_values() -> usize {
    MOST_VALUES.get().map_or(USUAL, |most| most.get())
}

/// What is wrong with a file that holds more, behind its name.
pub(crate) fn too_many(what: &str) -> String {
    format!("has more than {} {what}; set {VARIABLE} to read it all the same", most_values())
}

/// What comes out of a compressed file, up to the limit.
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
