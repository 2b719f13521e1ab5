//! Reads the file in which the counting library keeps the counts of a process. The layout is
//! defined in `c/alloc/table.h`.
//!
//! The contents are not trusted: invalid files are reported as errors and never cause a panic.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

const MAGIC: &[u8] = b"ASSAYALC";
const VERSION: u32 = 1;
const HEADER_BYTES: usize = 1024;
const SLOT_BYTES: usize = 64;
const SLOTS: usize = 112;
/// Offset of the program's path in the header, in bytes.
const PATH: usize = 64;

/// Flag: the allocator can report the sizes of blocks.
const KNOWS_SIZES: u32 = 1;
/// Flag: the program's calls of malloc do not reach the counting library.
const BYPASSED: u32 = 2;

/// The allocations of one process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Process ID.
    pub pid: u32,
    /// ID of the parent process.
    pub ppid: u32,
    /// Path of the program, or of the interpreter of a script. Empty if the system did not report
    /// it.
    pub program: PathBuf,
    /// Time at which counting started, in nanoseconds of `CLOCK_MONOTONIC`.
    pub started_ns: u64,
    /// Counts of the process; `None` for a program with its own malloc, which can't be counted.
    pub counts: Option<Counts>,
}

/// Numbers of calls that allocate, resize or free memory, and the bytes involved. Failed calls are
/// not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Number of calls that allocate a new block: malloc, calloc, `realloc(NULL, n)`, and the
    /// aligned variants.
    pub allocations: u64,
    /// Number of calls that resize a block, whether or not the block moves.
    pub reallocs: u64,
    /// Number of calls that free a block.
    pub frees: u64,
    /// Total number of requested bytes. A resized block counts with its whole new size.
    pub allocated_bytes: u64,
    /// Total usable size of freed blocks in bytes, which is at least the requested size. A resized
    /// block counts with its whole old size. `None` if the allocator does not report sizes.
    pub freed_bytes: Option<u64>,
    /// Peak of the usable bytes allocated at one time. It is exact if only one thread allocates at
    /// a time, and otherwise accurate to 32 KiB for each additional thread. A forked child starts
    /// at 0. `None` if the allocator does not report sizes.
    pub peak_bytes: Option<u64>,
}

impl Record {
    /// Parses a record from the contents of its file, even while the process is still counting.
    ///
    /// # Errors
    ///
    /// If the contents are invalid. The error describes the defect.
    pub fn parse(bytes: &[u8]) -> Result<Self, &'static str> {
        if !bytes.starts_with(MAGIC) {
            return Err("it is not a record of counts");
        }
        let header = bytes.get(..HEADER_BYTES).ok_or("it is cut off")?;
        if word(header, 8) != VERSION {
            return Err("another version of assay wrote it");
        }
        let sizes = [word(header, 24), word(header, 28), word(header, 32)];
        if sizes != [HEADER_BYTES as u32, SLOT_BYTES as u32, SLOTS as u32] {
            return Err("the sizes of its parts differ from this version's");
        }
        if bytes.len() < HEADER_BYTES + SLOTS * SLOT_BYTES {
            return Err("it is cut off");
        }
        if bytes.len() > HEADER_BYTES + SLOTS * SLOT_BYTES {
            return Err("it has additional data at the end");
        }
        let path = header.get(PATH..).and_then(|path| path.get(..word(header, 36) as usize));
        let path = path.ok_or("the name of its program does not fit")?;
        let flags = word(header, 12);
        Ok(Self {
            pid: word(header, 16),
            ppid: word(header, 20),
            program: PathBuf::from(OsStr::from_bytes(path)),
            started_ns: long(header, 40),
            counts: (flags & BYPASSED == 0).then(|| counts(bytes, flags & KNOWS_SIZES != 0)),
        })
    }
}

/// Sums the slots. Sums may wrap around for a damaged file, whose values are meaningless anyway.
fn counts(bytes: &[u8], knows_sizes: bool) -> Counts {
    let slots = bytes[HEADER_BYTES..].chunks_exact(SLOT_BYTES);
    let sum = |at: usize| slots.clone().fold(0_u64, |sum, slot| sum.wrapping_add(long(slot, at)));
    let (live, told_peak) = (long(bytes, 48) as i64, long(bytes, 56) as i64);
    // The largest of the slots' maxima since each slot's last report.
    let high = slots.clone().map(|slot| long(slot, 48) as i64).max().unwrap_or(0);
    let peak = told_peak.max(live.saturating_add(high)).max(0);
    Counts {
        allocations: sum(0),
        allocated_bytes: sum(8),
        frees: sum(16),
        freed_bytes: knows_sizes.then(|| sum(24)),
        reallocs: sum(32),
        peak_bytes: knows_sizes.then_some(peak as u64),
    }
}

/// Reads a 32-bit number; the caller has checked the length.
fn word(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(|b| b.first_chunk()).map_or(0, |chunk| u32::from_ne_bytes(*chunk))
}

/// Reads a 64-bit number; the caller has checked the length.
fn long(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(|b| b.first_chunk()).map_or(0, |chunk| u64::from_ne_bytes(*chunk))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use proptest::prelude::*;

    use super::*;

    fn put(bytes: &mut [u8], at: usize, number: u64) {
        bytes[at..at + 8].copy_from_slice(&number.to_ne_bytes());
    }

    /// Returns a record of process 7 with two slots in use.
    fn file(flags: u32) -> Vec<u8> {
        let mut bytes = vec![0; 8192];
        bytes[..8].copy_from_slice(MAGIC);
        let words = [VERSION, flags, 7, 6, 1024, 64, 112, 4];
        for (i, number) in words.into_iter().enumerate() {
            bytes[8 + 4 * i..12 + 4 * i].copy_from_slice(&number.to_ne_bytes());
        }
        bytes[64..68].copy_from_slice(b"/bin");
        put(&mut bytes, 40, 99);
        put(&mut bytes, 48, 5000);
        put(&mut bytes, 56, 5100);
        for (slot, numbers) in [(0, [3, 300, 2, 210, 1, 50, 400]), (111, [1, 10, 0, 0, 0, 24, 24])]
        {
            for (i, number) in numbers.into_iter().enumerate() {
                put(&mut bytes, 1024 + 64 * slot + 8 * i, number);
            }
        }
        bytes
    }

    #[test]
    fn the_slots_of_all_threads_are_summed() {
        let record = Record::parse(&file(KNOWS_SIZES)).unwrap();
        assert_eq!((record.pid, record.ppid, record.started_ns), (7, 6, 99));
        assert_eq!(record.program, PathBuf::from("/bin"));
        let expected = Counts {
            allocations: 4,
            reallocs: 1,
            frees: 2,
            allocated_bytes: 310,
            freed_bytes: Some(210),
            peak_bytes: Some(5400),
        };
        assert_eq!(record.counts, Some(expected));
    }

    #[test]
    fn what_is_not_known_is_no_zero() {
        let counts = Record::parse(&file(0)).unwrap().counts.unwrap();
        assert_eq!((counts.freed_bytes, counts.peak_bytes), (None, None));
        assert_eq!(Record::parse(&file(KNOWS_SIZES | BYPASSED)).unwrap().counts, None);
    }

    #[test]
    fn a_child_that_only_frees_has_had_no_peak() {
        let mut bytes = file(KNOWS_SIZES);
        put(&mut bytes, 48, (-9000_i64) as u64);
        put(&mut bytes, 56, 0);
        let counts = Record::parse(&bytes).unwrap().counts.unwrap();
        assert_eq!(counts.peak_bytes, Some(0));
    }

    proptest! {
        #[test]
        fn no_bytes_are_a_reason_to_panic(
            mut bytes in prop::collection::vec(any::<u8>(), 0..9000),
            whole in any::<bool>(),
        ) {
            if whole {
                // A valid header followed by arbitrary bytes.
                let head = &file(KNOWS_SIZES)[..40];
                bytes.resize(8192, 255);
                bytes[..40].copy_from_slice(head);
            }
            let _ = Record::parse(&bytes);
        }

        #[test]
        fn a_record_that_is_cut_or_longer_is_refused(length in 0_usize..9000) {
            let mut bytes = file(KNOWS_SIZES);
            bytes.resize(length, 0);
            prop_assert_eq!(Record::parse(&bytes).is_ok(), length == 8192);
        }
    }
}
