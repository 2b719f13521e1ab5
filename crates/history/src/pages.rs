//! Reads the rows of samples in an SQLite file directly from its pages, without using the pages
//! that point to them.
//!
//! This is for files that SQLite itself can no longer read. A leaf page of a table is recognized by
//! its first byte, and a row of samples by the layout of its record. The checksum of a row's
//! contents shows if it is intact. For the file format, see SQLite's "Database File Format", 1.6,
//! 2.3 and 4. Nothing in a damaged file is trusted: every number may have any value.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// Page size in bytes if the first page does not give it: SQLite's default.
const USUAL: usize = 4096;
/// First byte of a leaf page of a table.
const LEAF: u8 = 13;
/// Size of the header of a write-ahead log in bytes. The frames follow it.
const LOG_HEADER: u64 = 32;
const FRAME_HEADER: u64 = 24;

/// Row of samples: the length of the text in bytes, and the compressed text. `None` if a part of
/// the row is lost.
pub(crate) type Packed = Option<(u64, Vec<u8>)>;

/// An SQLite file with its write-ahead log, if any.
pub(crate) struct Pages {
    file: File,
    log: Option<File>,
    /// Offset in the log, in bytes, of the latest version of a page, by page number.
    later: HashMap<u32, u64>,
    count: u32,
    size: usize,
    /// Number of bytes of a page that SQLite uses.
    usable: usize,
}

/// Fills `bytes` from a file, starting at the offset `at`.
fn read_at(mut file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(bytes)
}

impl Pages {
    /// Opens a file, and its write-ahead log if there is one.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let mut header = [0; 100];
        let length = file.metadata()?.len();
        let _short_file = (&file).read(&mut header)?;
        let named = match u16::from_be_bytes([header[16], header[17]]) {
            1 => 65536,
            size => usize::from(size),
        };
        let is_size = named.is_power_of_two() && named >= 512;
        let size = if header.starts_with(b"SQLite format 3\0") && is_size { named } else { USUAL };
        let reserved = if size == named { usize::from(header[20]) } else { 0 };
        let usable = size.saturating_sub(reserved).max(480);
        let count = u32::try_from(length.div_ceil(size as u64)).unwrap_or(u32::MAX);
        let mut log = path.as_os_str().to_owned();
        log.push("-wal");
        let log = File::open(log).ok();
        let mut pages = Self { file, log, later: HashMap::new(), count, size, usable };
        pages.read_log();
        Ok(pages)
    }

    /// Finds the pages that have a later version in the log, up to its last complete transaction.
    fn read_log(&mut self) {
        let Some(log) = &self.log else { return };
        let mut header = [0; LOG_HEADER as usize];
        if read_at(log, &mut header, 0).is_err() {
            return;
        }
        let mut pending = Vec::new();
        let mut at = LOG_HEADER;
        let mut frame = [0; FRAME_HEADER as usize];
        let mut most = self.count;
        // Frames written before the last reset of the log have other salts.
        while read_at(log, &mut frame, at).is_ok() && frame[8..16] == header[16..24] {
            pending.push((number(&frame, 0), at + FRAME_HEADER));
            at += FRAME_HEADER + self.size as u64;
            most = most.saturating_add(1);
            if number(&frame, 4) > 0 {
                self.count = self.count.max(number(&frame, 4).min(most));
                self.later.extend(pending.drain(..));
            }
        }
    }

    /// Reads a page by its number, counted from 1. Returns `None` if it cannot be read.
    fn page(&self, number: u32) -> Option<Vec<u8>> {
        let mut page = vec![0; self.size];
        let before = u64::from(number.checked_sub(1)?) * self.size as u64;
        let read = match (self.later.get(&number), &self.log) {
            (Some(&at), Some(log)) => read_at(log, &mut page, at),
            _ => read_at(&self.file, &mut page, before),
        };
        read.ok().map(|()| page)
    }

    /// Returns the numbers of the free pages, which contain only removed data.
    fn free(&self) -> HashSet<u32> {
        let mut free = HashSet::new();
        let mut trunk = self.page(1).map_or(0, |first| number(&first, 32));
        while trunk != 0 && trunk <= self.count && free.insert(trunk) {
            let Some(page) = self.page(trunk) else { break };
            let leaves = (number(&page, 4) as usize).min(self.usable / 4);
            free.extend((0..leaves).map(|leaf| number(&page, 8 + 4 * leaf)));
            trunk = number(&page, 0);
        }
        free
    }

    /// Passes the id and the samples of each run to `take`. O(size of the file).
    ///
    /// # Errors
    /// If `take` fails.
    pub fn rows<E>(&self, mut take: impl FnMut(i64, Packed) -> Result<(), E>) -> Result<(), E> {
        let free = self.free();
        // Page 1 belongs to SQLite's table of the schema.
        for at in (2..=self.count).filter(|at| !free.contains(at)) {
            let Some(page) = self.page(at).filter(|page| page[0] == LEAF) else { continue };
            let cells = usize::from(short(&page, 3)).min(self.usable / 4);
            for cell in 0..cells {
                let cell = usize::from(short(&page, 8 + 2 * cell));
                if let Some((id, row)) = self.row(&page, cell) {
                    take(id, row)?;
                }
            }
        }
        Ok(())
    }

    /// Reads the row in a cell; `None` if it is not a row of samples.
    fn row(&self, page: &[u8], cell: usize) -> Option<(i64, Packed)> {
        let cell = page.get(cell..self.usable)?;
        let (payload, first) = varint(cell)?;
        let (id, second) = varint(&cell[first..])?;
        let all = self.count as usize * self.usable;
        let payload = usize::try_from(payload).ok().filter(|&payload| payload <= all)?;
        let whole = self.usable - 35;
        let local = if payload <= whole {
            payload
        } else {
            let least = (self.usable - 12) * 32 / 255 - 23;
            let most = least + (payload - least) % (self.usable - 4);
            if most <= whole { most } else { least }
        };
        let begun = cell.get(first + second..)?;
        let begun = &begun[..local.min(begun.len())];
        let shape = Shape::of(begun, payload)?;
        let next = cell.get(first + second + local..).map_or(0, |rest| number(rest, 0));
        let packed = self.whole(begun, payload, next).and_then(|record| shape.read(&record));
        Some((id, packed))
    }

    /// Reads a record, including its overflow pages.
    fn whole(&self, begun: &[u8], payload: usize, mut next: u32) -> Option<Vec<u8>> {
        let mut record = begun.to_vec();
        while record.len() < payload {
            let page = self.page(next)?;
            let part = (payload - record.len()).min(self.usable - 4);
            record.extend_from_slice(page.get(4..4 + part)?);
            next = number(&page, 0);
        }
        Some(record)
    }
}

/// Layout of a record of samples, as offsets and lengths in bytes.
struct Shape {
    /// SQLite's serial type of the length field.
    kind: i64,
    length: usize,
    blob: usize,
    bytes: usize,
}

impl Shape {
    /// Returns the layout of a record of samples; `None` for any other record. A record of samples
    /// consists of NULL (the id of the run is that of the row), a length, and bytes.
    fn of(record: &[u8], payload: usize) -> Option<Self> {
        let (header, at) = varint(record)?;
        let (own, next) = varint(record.get(at..)?)?;
        let (kind, more) = varint(record.get(at + next..)?)?;
        let (blob, last) = varint(record.get(at + next + more..)?)?;
        let size = match kind {
            1..=4 => usize::try_from(kind).ok()?,
            5 => 6,
            6 => 8,
            8 | 9 => 0,
            _ => return None,
        };
        let length = at + next + more + last;
        let bytes = usize::try_from(blob.checked_sub(12)? / 2).ok()?;
        let is_it = own == 0
            && usize::try_from(header) == Ok(length)
            && blob >= 12
            && blob % 2 == 0
            && length + size + bytes == payload;
        is_it.then_some(Self { kind, length, blob: length + size, bytes })
    }

    fn read(&self, record: &[u8]) -> Packed {
        let digits = record.get(self.length..self.blob)?;
        let length = match self.kind {
            9 => 1,
            _ => digits.iter().fold(0, |number, &digit| number << 8 | u64::from(digit)),
        };
        let deflated = record.get(self.blob..self.blob + self.bytes)?;
        Some((length, deflated.to_vec()))
    }
}

/// Reads a big-endian number of four bytes at `at`; 0 beyond the end.
fn number(bytes: &[u8], at: usize) -> u32 {
    let four = bytes.get(at..at + 4).and_then(|four| four.try_into().ok());
    four.map_or(0, u32::from_be_bytes)
}

fn short(bytes: &[u8], at: usize) -> u16 {
    let two = bytes.get(at..at + 2).and_then(|two| two.try_into().ok());
    two.map_or(0, u16::from_be_bytes)
}

/// Reads an SQLite varint of one to nine bytes. Returns the number and its length in bytes.
fn varint(bytes: &[u8]) -> Option<(i64, usize)> {
    let mut number: u64 = 0;
    for (place, &byte) in bytes.iter().enumerate().take(9) {
        if place == 8 {
            return Some(((number << 8 | u64::from(byte)) as i64, 9));
        }
        number = number << 7 | u64::from(byte & 0x7F);
        if byte < 0x80 {
            return Some((number as i64, place + 1));
        }
    }
    None
}
