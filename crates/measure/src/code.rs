//! Compares the machine code of a function and of everything it calls between two builds,
//! regardless of where the linker placed it.
//!
//! [`Code::digest`] walks from a function to everything that it refers to in the same file, and
//! digests these objects in the order in which they are first visited. Addresses do not count: each
//! is replaced by its target. Names do not count either, except those of functions in shared
//! libraries. Equal code therefore has equal digests wherever it is placed.
//!
//! The digest covers calls, jumps and taken addresses; jump tables; and the contents and pointers
//! of data with a symbol (virtual function tables, constants, initial values of variables). Of data
//! without a symbol it covers a text, a floating-point number, or otherwise the first eight bytes.
//!
//! It does not cover the behavior of shared libraries, or anything known only at run time
//! (callbacks registered by others, values set by `main` or a constructor). On 64-bit ARM, GCC
//! accesses some data relative to the address of another object (section anchors). If that address
//! was spilled to the stack, the data is not covered, and moving the data changes the instructions,
//! so that the code counts as different. In Go, method tables built at run time and most data of
//! the runtime are not covered.
//!
//! Code that can't be read has no digest. Code that can't be decoded counts with its bytes. In case
//! of doubt, two builds count as different.

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

/// Maximum number of pointers that are followed in a row.
const DEEPEST: u32 = 4;
/// Number of bytes digested of data that has no symbol and whose length is unknown.
const UNNAMED: usize = 8;
const LONGEST_TEXT: u64 = 1 << 16;

/// Machine code whose address fields are set to zero, with a list of these addresses.
#[derive(Debug, Default)]
struct MaskedCode {
    bytes: Vec<u8>,
    addresses: Vec<Address>,
}

/// An address contained in an instruction.
#[derive(Debug)]
struct Address {
    /// Offset of the address field within the code, in bytes.
    at: usize,
    /// The address that the field refers to.
    target: u64,
    /// Minimum number of bytes loaded from the target; `None` if the code jumps to the target or
    /// only takes its address.
    loads: Option<usize>,
}

/// The digest of a function or data object, independent of its address, and the objects it refers
/// to, in order.
#[derive(Debug, Default)]
struct Piece {
    digest: Sha256,
    /// Start addresses of the objects that this one refers to, in order.
    refers: Vec<u64>,
}

/// All code with one name: the parts of a function, and other functions with the same name.
#[derive(Debug, Default)]
struct Function {
    digests: Vec<Vec<u8>>,
    bytes: u64,
    is_reached: bool,
}

/// A function that exists in only one of two programs, or whose own code differs between them. The
/// code of the functions it calls does not matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// Name of the function's symbol.
    pub name: String,
    /// Length of the function in bytes, in the program in which it is longer.
    pub bytes: u64,
    /// True if the function is reachable, directly or through others, from a wanted symbol in
    /// either program.
    pub is_reached: bool,
}

/// Returns the functions that differ between two programs, longest first. `wanted` has one
/// predicate per program, which selects the symbols from which functions count as reached.
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

/// The code of a program, with the objects digested so far.
#[derive(Debug)]
pub struct Code {
    image: Image,
    known: HashMap<u64, Rc<Piece>>,
}

impl Code {
    /// Reads a program for x86-64 or 64-bit ARM. Returns `None` for other files, and if the program
    /// has no symbols.
    pub fn read(program: &Path) -> Option<Self> {
        let image = Image::read(program)?;
        let is_known = matches!(image.architecture, Architecture::X86_64 | Architecture::Aarch64);
        (is_known && !image.named.is_empty()).then(|| Self { image, known: HashMap::new() })
    }

    /// Returns true if `is_wanted` accepts the name of any symbol.
    pub fn has(&self, is_wanted: impl Fn(&str) -> bool) -> bool {
        self.image.named.iter().any(|(name, _)| is_wanted(name))
    }

    /// Returns the combined digest of all symbols whose names `is_wanted` accepts, of everything
    /// that they refer to, and of the libraries whose digests are given in `beside`. Returns `None`
    /// if no symbol matches, or if some of the code can't be read.
    pub fn digest(
        &mut self,
        is_wanted: impl Fn(&str) -> bool,
        beside: &[String],
    ) -> Option<String> {
        let wanted = self.image.named.iter().filter(|(name, _)| is_wanted(name));
        // Starting points are ordered by name, which does not depend on the linker.
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

    /// Returns everything reachable from these addresses, in the order of the first visits, as
    /// pairs of start address and contents. The contents are `None` for code or data that can't be
    /// read.
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

    /// Returns the functions by name. The suffixes of clones and cold parts are removed from the
    /// names.
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
            // Functions of the same name in several files have no defined order.
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

/// Digests one function or data object.
struct Reader<'a> {
    image: &'a Image,
    own: &'a Extent,
    /// Number of bytes loaded from the target of the current address; `None` if unknown.
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

    /// Adds the target of an address to the digest. Returns `None` if the target is code without a
    /// symbol.
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

    /// Adds to the digest the value that the loader writes to `place`. Returns `None` if that value
    /// points to code without a symbol.
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

    /// Adds data without a symbol to the digest: a pointer, a jump table, a text, or a few bytes.
    fn unnamed(&mut self, target: u64, depth: u32) -> Option<()> {
        if self.image.loaded(target).is_some() {
            return self.slot(target, depth);
        }
        let entry = |number: u64| {
            let entry = self.image.bytes(target + 4 * number, 4)?.try_into().ok()?;
            let to = target.wrapping_add_signed(i64::from(i32::from_le_bytes(entry)));
            self.is_within(to).then(|| to - self.own.start)
        };
        // A jump table consists of 32-bit offsets, relative to the table itself, of places in this
        // function.
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

    /// Returns true if a data symbol is a single object. Go's linker combines many objects under
    /// names such as `go:string.*`.
    fn is_whole(&self, symbol: &Extent) -> bool {
        !(self.image.is_go && symbol.name.ends_with(".*"))
    }

    /// Adds a data object with a symbol to the digest, word by word.
    fn data(&mut self) {
        let (start, size) = (self.own.start, self.own.size);
        self.note("data", size);
        // The data of Go's runtime and linker changes with the rest of the program, so only the
        // functions that it refers to count.
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
                // A pointer that can't be followed is represented by its place, so two builds in
                // which that place differs count as different.
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

/// Returns the length of the zero-terminated text at the start of `bytes`; `None` if there is none.
/// Bytes after the zero do not count, since the order of adjacent texts is arbitrary.
fn text(bytes: &[u8]) -> Option<usize> {
    let end = bytes.iter().position(|&byte| byte == 0)?;
    let is_text = |byte: &u8| *byte >= b' ' || byte.is_ascii_whitespace();
    (end > 0 && bytes[..end].iter().all(is_text)).then_some(end)
}

/// Returns the address from which a PLT stub, the linker's stub for a function in a shared library,
/// loads the function's address.
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
