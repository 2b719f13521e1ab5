//! Reads the required parts of an ELF file: its interpreter, and the library directories linked
//! into it.
//!
//! Follows elf(5), for 32 and 64 bits and both byte orders. The file may be anything, so
//! inconsistent parts count as absent.

use super::SearchPaths;

const LOAD: u64 = 1;
const DYNAMIC: u64 = 2;
const INTERPRETER: u64 = 3;
const STRING_TABLE: u64 = 5;
const RPATH: u64 = 15;
const RUNPATH: u64 = 29;
/// Maximum number of bytes read from a table. No linker produces larger tables.
const MOST: u64 = 1 << 20;
/// Maximum length of a text, in bytes.
const LONGEST: usize = 1 << 14;

/// The information in an ELF file that determines which libraries are loaded.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ElfLinking {
    /// The program that loads the file, or `None` if the file is linked statically.
    pub(super) interpreter: Option<String>,
    pub(super) search: SearchPaths,
}

/// Reads a number of bytes at an offset. Returns either all of them or none.
type ReadAt<'a> = dyn Fn(u64, usize) -> Option<Vec<u8>> + 'a;

/// Properties that determine the file's layout: its word size and its byte order.
struct ElfLayout {
    wide: bool,
    little: bool,
}

/// A segment listed in the file's header.
struct Segment {
    kind: u64,
    offset: u64,
    address: u64,
    size: u64,
}

/// Parses a file. Returns `None` if it is not an ELF file.
pub(super) fn read(bytes: &ReadAt<'_>) -> Option<ElfLinking> {
    let ident = bytes(0, 16)?;
    if !ident.starts_with(b"\x7fELF") {
        return None;
    }
    let form = ElfLayout { wide: ident[4] == 2, little: ident[5] != 2 };
    let segments = form.segments(bytes).unwrap_or_default();
    let of_kind = |kind: u64| segments.iter().find(|segment| segment.kind == kind);
    let interpreter = of_kind(INTERPRETER).and_then(|segment| text(bytes, segment.offset));
    let search = of_kind(DYNAMIC).and_then(|dynamic| form.search(bytes, &segments, dynamic));
    Some(ElfLinking { interpreter, search: search.unwrap_or_default() })
}

impl ElfLayout {
    /// Returns the number stored in `length` bytes at an offset.
    fn number(&self, bytes: &[u8], at: usize, length: usize) -> Option<u64> {
        let own = bytes.get(at..at.checked_add(length)?)?;
        let join = |sum: u64, &byte: &u8| (sum << 8) | u64::from(byte);
        Some(match self.little {
            true => own.iter().rev().fold(0, join),
            false => own.iter().fold(0, join),
        })
    }

    /// Returns a number that has the size of an address, stored at the offset `wide` in 64-bit
    /// files and at `narrow` in 32-bit files.
    fn address(&self, bytes: &[u8], wide: usize, narrow: usize) -> Option<u64> {
        if self.wide { self.number(bytes, wide, 8) } else { self.number(bytes, narrow, 4) }
    }

    fn segments(&self, bytes: &ReadAt<'_>) -> Option<Vec<Segment>> {
        let header = bytes(0, if self.wide { 64 } else { 52 })?;
        let start = self.address(&header, 0x20, 0x1c)?;
        let at = if self.wide { 0x36 } else { 0x2a };
        let (size, count) = (self.number(&header, at, 2)?, self.number(&header, at + 2, 2)?);
        let length = size.checked_mul(count).filter(|&length| length <= MOST)?;
        let table = bytes(start, length as usize)?;
        let size = (size as usize).max(1);
        let segment = |own: &[u8]| {
            Some(Segment {
                kind: self.number(own, 0, 4)?,
                offset: self.address(own, 8, 4)?,
                address: self.address(own, 16, 8)?,
                size: self.address(own, 32, 16)?,
            })
        };
        table.chunks_exact(size).map(segment).collect()
    }

    fn search(
        &self,
        bytes: &ReadAt<'_>,
        segments: &[Segment],
        dynamic: &Segment,
    ) -> Option<SearchPaths> {
        let length = dynamic.size.min(MOST) as usize;
        let table = bytes(dynamic.offset, length)?;
        let half = if self.wide { 8 } else { 4 };
        let entries: Vec<(u64, u64)> = table
            .chunks_exact(2 * half)
            .filter_map(|e| Some((self.number(e, 0, half)?, self.number(e, half, half)?)))
            .take_while(|&(tag, _)| tag != 0)
            .collect();
        let value = |wanted: u64| entries.iter().find(|(tag, _)| *tag == wanted).map(|(_, v)| *v);
        let address = value(STRING_TABLE)?;
        // The table is given by its address in memory. Its offset in the file follows from the
        // segment that contains it.
        let strings =
            segments.iter().filter(|segment| segment.kind == LOAD).find_map(|segment| {
                let within = address.checked_sub(segment.address)?;
                (within < segment.size).then(|| segment.offset.checked_add(within)).flatten()
            })?;
        let named = |tag: u64| text(bytes, strings.checked_add(value(tag)?)?);
        Some(SearchPaths { rpath: named(RPATH), runpath: named(RUNPATH) })
    }
}

/// Returns the text at an offset, up to its terminating zero byte. Invalid UTF-8 is replaced.
fn text(bytes: &ReadAt<'_>, offset: u64) -> Option<String> {
    let mut found = Vec::new();
    // Read in small steps, because the file may end soon after the text.
    while found.len() < LONGEST {
        let at = offset.checked_add(found.len() as u64)?;
        let (piece, step) = match bytes(at, 64) {
            Some(piece) => (piece, 64),
            None => (bytes(at, 1)?, 1),
        };
        if let Some(end) = piece.iter().position(|&byte| byte == 0) {
            found.extend(&piece[..end]);
            return Some(String::from_utf8_lossy(&found).into_owned());
        }
        found.extend(&piece[..step]);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn known(file: &[u8]) -> Option<ElfLinking> {
        read(&|offset, length| {
            let start = usize::try_from(offset).ok()?;
            Some(file.get(start..start.checked_add(length)?)?.to_vec())
        })
    }

    #[test]
    fn a_small_file_of_32_bits_and_the_other_byte_order_is_read() {
        let mut file = vec![0_u8; 0xa0];
        let mut put = |at: usize, bytes: &[u8]| file[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, b"\x7fELF\x01\x02");
        put(0x1c, &[0, 0, 0, 0x34]);
        put(0x2a, &[0, 32, 0, 1]);
        put(0x34, &[0, 0, 0, 3, 0, 0, 0, 0x90]);
        put(0x90, b"/lib/ld.so.1\0");
        let known = known(&file).expect("an ELF file");
        assert_eq!(known.interpreter.as_deref(), Some("/lib/ld.so.1"));
        assert_eq!(known.search, SearchPaths::default());
    }

    #[test]
    fn what_is_cut_off_is_absent() {
        assert_eq!(known(b"\x7fELF"), None);
        assert_eq!(known(b"#!/bin/sh\nexec true and more"), None);
        assert_eq!(known(b"\x7fELF\x02\x01\0\0\0\0\0\0\0\0\0\0"), Some(ElfLinking::default()));
    }

    proptest! {
        #[test]
        fn no_file_makes_the_reader_panic(
            wide in 0_u8..4,
            order in 0_u8..4,
            rest in proptest::collection::vec(prop_oneof![Just(0_u8), Just(64), any::<u8>()], 10..400),
        ) {
            let file = [b"\x7fELF".as_slice(), &[wide, order], &rest].concat();
            let _ = known(&file);
        }
    }
}
