//! Compares the machine code of a function and everything it calls between two builds, independent
//! of their placement by the linker.
//!
//! [`Code::digest`] walks from a function to everything that it refers to in the same file, and
//! digests these objects in the order in which they are first visited. Addresses do not count: each
//! is replaced by its target. Names do not count either, except those of functions in shared
//! libraries. Equal code therefore has equal digests, regardless of its placement.
//!
//! The digest covers calls, jumps and taken addresses; jump tables; the content and the pointers of
//! data with a symbol (virtual function tables, constants, initial values of variables); and, for
//! data without a symbol, a text, a float, or otherwise the first eight bytes.
//!
//! It does not cover: the behavior of shared libraries; anything known only at run time (callbacks
//! registered by others, values set by `main` or a constructor); on 64-bit ARM, data that GCC
//! accesses relative to another object's address (section anchors) after that address was spilled
//! to the stack, where moved data also changes instructions, so that the code counts as different;
//! in Go, method tables built at run time, and most data of its runtime. Code that can't be read
//! has no digest; code that can't be decoded counts with its bytes. In case of doubt, two builds
//! count as different.

mod arm64;
mod image;
mod same;
mod x86;

pub use same::is_same_program;

use image::{Extent, Image, RelocatedValue};
use object::Architecture;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::path::Path;
use std::rc::Rc;

/// Maximum depth to which pointers to pointers are followed.
const DEEPEST: u32 = 4;
/// Number of bytes digested of data that has no symbol and whose length is unknown.
const UNNAMED: usize = 8;
const LONGEST_TEXT: u64 = 1 << 16;

/// Code with its addresses set to zero, and the addresses with their targets.
#[derive(Debug, Default)]
struct MaskedCode {
    bytes: Vec<u8>,
    addresses: Vec<Address>,
}

/// An address in code.
#[derive(Debug)]
struct Address {
    /// Offset of the address.
    at: usize,
    /// Target of the address.
    target: u64,
    /// Minimum number of bytes loaded from the target; `None` if the address itself is taken, or
    /// jumped to.
    loads: Option<usize>,
}

/// A function or data object without its address, and the objects it refers to, in order.
#[derive(Debug, Default)]
struct Piece {
    digest: Sha256,
    /// Start addresses of the pieces that this one refers to, in order.
    refers: Vec<u64>,
}

/// All code under one name: the parts of a function, and other functions of the same name.
#[derive(Debug, Default)]
struct Function {
    digests: Vec<Vec<u8>>,
    bytes: u64,
    is_reached: bool,
}

/// A function that only one of two programs has, or whose own code, without that of functions it
/// calls, differs between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The name of its symbol.
    pub name: String,
    /// Length of the function in the program in which it is longer.
    pub bytes: u64,
    /// True if the function is reached, directly or through others, from a wanted symbol in either
    /// program.
    pub is_reached: bool,
}

/// Returns the functions that differ between two programs, the longest first. For each program,
/// `wanted` returns true for the symbols from which reachability is computed.
pub fn changed(
    (old, new): (&mut Code, &mut Code),
    wanted: [&dyn Fn(&str) -> bool; 2],
) -> Vec<Changed> {
    let [old, mut new] = [old.functions(wanted[0]), new.functions(wanted[1])];
    let mut changed: Vec<Changed> = Vec::new();
    let mut add = |name: String, one: &Function, other: &Function| {
        if one.digests != other.digests {
            let (bytes, is_reached) =
                (one.bytes.max(other.bytes), one.is_reached || other.is_reached);
            changed.push(Changed { name, bytes, is_reached });
        }
    };
    for (name, own) in old {
        let other = new.remove(&name).unwrap_or_default();
        add(name, &own, &other);
    }
    for (name, own) in new {
        add(name, &Function::default(), &own);
    }
    changed.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.name.cmp(&b.name)));
    changed
}

/// The code of a program.
#[derive(Debug)]
pub struct Code {
    image: Image,
    known: HashMap<u64, Rc<Piece>>,
}

impl Code {
    /// Reads a program for x86-64 or 64-bit ARM; `None` for other files, and if it has no symbols.
    pub fn read(program: &Path) -> Option<Self> {
        let image = Image::read(program)?;
        let is_known = matches!(image.architecture, Architecture::X86_64 | Architecture::Aarch64);
        (is_known && !image.named.is_empty()).then(|| Self { image, known: HashMap::new() })
    }

    /// Returns true if there is a symbol for whose name `is_wanted` returns true.
    pub fn has(&self, is_wanted: impl Fn(&str) -> bool) -> bool {
        self.image.named.iter().any(|(name, _)| is_wanted(name))
    }

    /// Returns the combined digest of all symbols for whose names `is_wanted` returns true, of
    /// everything that they refer to, and of the libraries in `beside`, given by their digests;
    /// `None` if no symbol matches.
    pub fn digest(
        &mut self,
        is_wanted: impl Fn(&str) -> bool,
        beside: &[String],
    ) -> Option<String> {
        let wanted = self.image.named.iter().filter(|(name, _)| is_wanted(name));
        // Several roots are ordered by name, which the linker does not change.
        let mut roots: Vec<_> = wanted.cloned().collect();
        roots.sort_unstable();
        roots.dedup();
        if roots.is_empty() {
            return None;
        }
        let order = self.walk(roots.iter().map(|(_, start)| *start));
        let numbers: HashMap<u64, usize> =
            order.iter().enumerate().map(|(number, (start, _))| (*start, number)).collect();
        let mut digest = Sha256::new();
        for other in beside {
            digest.update(other);
        }
        for (_, piece) in &order {
            let piece = piece.as_ref()?;
            digest.update(piece.digest.clone().finalize());
            for other in &piece.refers {
                digest.update(numbers.get(other)?.to_le_bytes());
            }
        }
        let hex: String = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Some(format!("sha256:{hex}"))
    }

    /// Returns everything reached from these addresses in the order of the first visits, by start
    /// address; `None` for code or data that can't be read.
    fn walk(&mut self, roots: impl Iterator<Item = u64>) -> Vec<(u64, Option<Rc<Piece>>)> {
        let mut met: HashSet<u64> = HashSet::new();
        let mut waiting: VecDeque<u64> = roots.filter(|&root| met.insert(root)).collect();
        let mut order = Vec::new();
        while let Some(start) = waiting.pop_front() {
            let piece = self.piece(start);
            let refers = piece.iter().flat_map(|piece| &piece.refers);
            waiting.extend(refers.copied().filter(|&other| met.insert(other)));
            order.push((start, piece));
        }
        order
    }

    /// Returns the functions by name, without the suffixes of clones and cold parts.
    fn functions(&mut self, is_root: &dyn Fn(&str) -> bool) -> BTreeMap<String, Function> {
        let named = self.image.named.clone();
        let roots = named.iter().filter(|(name, _)| is_root(name)).map(|(_, start)| *start);
        let reached: HashSet<u64> = self.walk(roots).into_iter().map(|(start, _)| start).collect();
        let mut found: BTreeMap<String, Function> = BTreeMap::new();
        for (name, start) in named {
            let extent = self.image.symbol(start).filter(|own| own.is_code && own.start == start);
            let (Some(extent), Some(piece)) = (extent, self.piece(start)) else { continue };
            let whole = if self.image.is_go { None } else { name.split_once('.') };
            let own =
                found.entry(whole.map_or(name.clone(), |(own, _)| own.to_owned())).or_default();
            own.digests.push(piece.digest.clone().finalize().to_vec());
            own.bytes += extent.size;
            own.is_reached |= reached.contains(&start);
        }
        for own in found.values_mut() {
            // Functions of the same name in several files have no order.
            own.digests.sort_unstable();
        }
        found
    }

    fn piece(&mut self, start: u64) -> Option<Rc<Piece>> {
        if let Some(known) = self.known.get(&start) {
            return Some(known.clone());
        }
        let extent = self.image.symbol(start)?;
        let (image, own, piece) = (&self.image, &extent, Piece::default());
        let mut reader = Reader { image, own, loads: None, piece };
        if extent.is_code {
            reader.code()?;
        } else {
            reader.data();
        }
        let piece = Rc::new(reader.piece);
        self.known.insert(start, piece.clone());
        Some(piece)
    }
}

/// Reads one piece.
struct Reader<'a> {
    image: &'a Image,
    own: &'a Extent,
    /// Number of bytes loaded from the target of the current address.
    loads: Option<usize>,
    piece: Piece,
}

impl Reader<'_> {
    fn note(&mut self, what: &str, value: u64) {
        self.piece.digest.update(what);
        self.piece.digest.update(value.to_le_bytes());
    }

    fn code(&mut self) -> Option<()> {
        let bytes = self.image.bytes(self.own.start, self.own.size)?;
        let masked = match self.image.architecture {
            Architecture::Aarch64 => arm64::masked(bytes, self.own.start),
            _ => self.masked_x86(bytes),
        };
        self.note("code", masked.bytes.len() as u64);
        self.piece.digest.update(&masked.bytes);
        for Address { at, target, loads } in masked.addresses {
            self.note("at", at as u64);
            self.loads = loads;
            self.target(target, 0)?;
        }
        Some(())
    }

    fn masked_x86(&self, bytes: &[u8]) -> MaskedCode {
        let mut masked = MaskedCode { bytes: bytes.to_owned(), addresses: Vec::new() };
        let mut take = |at: usize, length: usize, target: u64, loads: Option<usize>| {
            masked.bytes[at..at + length].fill(0);
            masked.addresses.push(Address { at, target, loads });
        };
        let mut at = 0;
        while let Some(found) = bytes.get(at..).and_then(x86::instruction) {
            let four = |field: usize| {
                let field = bytes.get(at + field..at + field + 4)?.try_into().ok()?;
                Some(i64::from(i32::from_le_bytes(field)))
            };
            let next = self.own.start + (at + found.length) as u64;
            if let Some((field, length)) = found.relative {
                let distance = match length {
                    4 => four(field).unwrap_or_default(),
                    _ => i64::from(bytes[at + field].cast_signed()),
                };
                let target = next.wrapping_add_signed(distance);
                if !self.is_within(target) {
                    take(at + field, length, target, found.loads);
                }
            }
            for field in found.absolute.into_iter().flatten().filter(|_| self.image.is_fixed) {
                let target = four(field).and_then(|value| u64::try_from(value).ok());
                if let Some(target) = target.filter(|&it| self.image.section(it).is_some()) {
                    let loads = found.loads.filter(|_| found.absolute[0] == Some(field));
                    take(at + field, 4, target, loads);
                }
            }
            at += found.length;
        }
        masked
    }

    fn is_within(&self, target: u64) -> bool {
        target >= self.own.start && target - self.own.start < self.own.size
    }

    /// Records the target of an address, wherever it is; `None` for code without a symbol.
    fn target(&mut self, target: u64, depth: u32) -> Option<()> {
        if self.is_within(target) {
            self.note("own", target - self.own.start);
            return Some(());
        }
        let Some(section) = self.image.section(target) else {
            self.note("outside", 0);
            return Some(());
        };
        let symbol = self.image.symbol(target);
        match symbol.filter(|symbol| symbol.is_code || self.is_whole(symbol)) {
            Some(symbol) => {
                self.note("piece", target - symbol.start);
                self.piece.refers.push(symbol.start);
            }
            None if section.is_plt => return self.slot(plt_slot(self.image, target)?, depth),
            None if section.is_code => return None,
            None => return self.unnamed(target, depth),
        }
        Some(())
    }

    /// Records the value that the loader writes to a place.
    fn slot(&mut self, place: u64, depth: u32) -> Option<()> {
        match self.image.loaded(place) {
            Some(RelocatedValue::Foreign(name)) => self.note(&name, 0),
            Some(RelocatedValue::Own(address)) if depth < DEEPEST => {
                self.note("pointer", 0);
                self.loads = None;
                return self.target(address, depth + 1);
            }
            _ => self.note("slot", 0),
        }
        Some(())
    }

    /// Records data without a symbol.
    fn unnamed(&mut self, target: u64, depth: u32) -> Option<()> {
        if self.image.loaded(target).is_some() {
            return self.slot(target, depth);
        }
        let entry = |number: u64| {
            let entry = self.image.bytes(target + 4 * number, 4)?.try_into().ok()?;
            let to = target.wrapping_add_signed(i64::from(i32::from_le_bytes(entry)));
            self.is_within(to).then(|| to - self.own.start)
        };
        // A jump table has the offsets of places in the function relative to the table itself.
        let jumps: Vec<u64> = (0..).map_while(entry).collect();
        for jump in &jumps {
            self.note("jump", *jump);
        }
        if jumps.is_empty() {
            let rest = self.image.bytes(target, LONGEST_TEXT).unwrap_or_default();
            let text = if self.loads.is_none() { text(rest) } else { None };
            let length = text.unwrap_or(rest.len().min(self.loads.unwrap_or(UNNAMED)));
            self.note("constant", length as u64);
            self.piece.digest.update(&rest[..length]);
        }
        Some(())
    }

    /// Returns true if a data symbol is a single object: Go's linker combines many objects under
    /// names such as `go:string.*`.
    fn is_whole(&self, symbol: &Extent) -> bool {
        !(self.image.is_go && symbol.name.ends_with(".*"))
    }

    /// Records data with a symbol, word by word.
    fn data(&mut self) {
        let (start, size) = (self.own.start, self.own.size);
        self.note("data", size);
        // Data of Go's runtime and linker change with the rest of the program: only the functions
        // they name count.
        let name = self.own.name.as_str();
        let functions_alone =
            self.image.is_go && (name.starts_with("runtime.") || name.contains(':'));
        let mut at = start;
        while at < start + size {
            let length = (8 - at % 8).min(start + size - at);
            let loaded = self.image.loaded(at).filter(|_| length == 8);
            let is_function = matches!(loaded, Some(RelocatedValue::Own(address))
                if self.image.section(address).is_some_and(|section| section.is_code));
            if loaded.is_some() && (is_function || !functions_alone) {
                // A pointer that can't be followed is identified by its address, so two builds that
                // differ there are different.
                if self.slot(at, 0).is_none() {
                    self.note("unknown", at);
                }
            } else if !functions_alone && let Some(bytes) = self.image.bytes(at, length) {
                self.piece.digest.update(bytes);
            }
            at += length;
        }
    }
}

/// Returns the length of the zero-terminated text at the beginning; `None` if there is none. What
/// follows is not part of it, since the order of adjacent texts is arbitrary.
fn text(bytes: &[u8]) -> Option<usize> {
    let end = bytes.iter().position(|&byte| byte == 0)?;
    let is_text = |byte: &u8| *byte >= b' ' || byte.is_ascii_whitespace();
    (end > 0 && bytes[..end].iter().all(is_text)).then_some(end)
}

/// Returns the place from which the linker's stub for a function in a shared library loads the
/// function's address.
fn plt_slot(image: &Image, stub: u64) -> Option<u64> {
    let bytes = image.bytes(stub, 16)?;
    if image.architecture == Architecture::Aarch64 {
        return arm64::masked(bytes, stub).addresses.first().map(|slot| slot.target);
    }
    // jmp *slot(%rip), possibly after endbr64 and bnd.
    let at = bytes.windows(2).position(|two| two == [0xff, 0x25])? + 2;
    let distance = i32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?);
    Some((stub + at as u64 + 4).wrapping_add_signed(i64::from(distance)))
}
