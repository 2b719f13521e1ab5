//! Compares whole programs, ignoring parts that do not matter when they run: the names of symbols,
//! which in Rust contain a digest of the source; notes; and the line and column numbers in Rust's
//! panic messages, which change with every line added above them.

use super::image::{Image, RelocatedValue};
use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSection, elf};
use std::path::Path;

/// Offsets of the line and the column in Rust's `core::panic::Location`; the path of the file
/// precedes them.
const LINE_AND_COLUMN: [u64; 2] = [16, 20];
/// The linker's digest of the whole file.
const BUILD_ID: &str = ".note.gnu.build-id";

/// A section that is loaded.
#[derive(PartialEq, Eq)]
struct Loaded<'d> {
    name: String,
    start: u64,
    size: u64,
    bytes: &'d [u8],
}

/// Returns true if two programs are certain to behave identically.
pub fn is_same_program(one: &Path, other: &Path) -> bool {
    let same = || {
        let (one_bytes, other_bytes) = (std::fs::read(one).ok()?, std::fs::read(other).ok()?);
        let first = ElfFile64::<Endianness>::parse(&*one_bytes).ok()?;
        let second = ElfFile64::<Endianness>::parse(&*other_bytes).ok()?;
        let image = Image::read(one)?;
        let (own, others) = (sections(&first)?, sections(&second)?);
        let is_same = |(a, b): (&Loaded<'_>, &Loaded<'_>)| {
            (&a.name, a.start, a.size, a.bytes.len()) == (&b.name, b.start, b.size, b.bytes.len())
                && differences(a, b).all(|address| is_line_or_column(&image, address))
        };
        Some(
            first.entry() == second.entry()
                && own.len() == others.len()
                && own.iter().zip(&others).all(is_same),
        )
    };
    same().unwrap_or(false)
}

fn sections<'d>(file: &ElfFile64<'d, Endianness>) -> Option<Vec<Loaded<'d>>> {
    let mut found = Vec::new();
    for section in file.sections() {
        let object::SectionFlags::Elf { sh_flags, .. } = section.flags() else { return None };
        let name = section.name().ok()?.to_owned();
        if sh_flags.contains(elf::SHF_ALLOC) && name != BUILD_ID {
            let (start, size) = (section.address(), section.size());
            found.push(Loaded { name, start, size, bytes: section.data().ok()? });
        }
    }
    Some(found)
}

/// Returns the addresses of bytes that differ.
fn differences<'a>(a: &'a Loaded<'_>, b: &'a Loaded<'_>) -> impl Iterator<Item = u64> + 'a {
    let pairs = a.bytes.iter().zip(b.bytes).enumerate();
    pairs.filter(|(_, (one, other))| one != other).map(|(at, _)| a.start + at as u64)
}

/// Returns true if an address is within the line or the column number of a location in a Rust
/// source.
fn is_line_or_column(image: &Image, address: u64) -> bool {
    let is_at = |offset: u64| {
        let place = (address & !3).checked_sub(offset).filter(|place| place % 8 == 0)?;
        let RelocatedValue::Own(text) = image.loaded(place)? else { return None };
        let length = u64::from_le_bytes(image.bytes(place + 8, 8)?.try_into().ok()?);
        let text = image.bytes(text, length).filter(|text| text.len() as u64 == length)?;
        // Recent compilers end the path with a zero byte.
        Some(text.strip_suffix(b"\0").unwrap_or(text).ends_with(b".rs"))
    };
    LINE_AND_COLUMN.into_iter().any(|offset| is_at(offset) == Some(true))
}
