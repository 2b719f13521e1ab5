//! A program's file as seen by its loader and its linker: sections, symbols, and relocations.

use object::elf::Rela64;
use object::read::elf::{ElfFile64, Rela as _, SectionHeader};
use object::{
    Architecture, Endianness, Object, ObjectSection, ObjectSymbol, ObjectSymbolTable, SectionKind,
    SymbolFlags, SymbolIndex, SymbolKind, elf,
};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// Maximum number of bytes read from a file.
const MOST_BYTES: u64 = 256 << 20;

type File<'data> = ElfFile64<'data, Endianness>;

/// A section of the program that is loaded into memory.
#[derive(Debug)]
pub(super) struct Section {
    pub start: u64,
    pub size: u64,
    pub is_code: bool,
    /// True if the linker made it, with stubs for functions of shared libraries.
    pub is_plt: bool,
    /// Empty if the file has no content for it: zero-initialized data.
    pub bytes: Vec<u8>,
}

impl Section {
    pub fn holds(&self, address: u64) -> bool {
        address >= self.start && address - self.start < self.size
    }
}

/// Extent and kind of a symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    pub start: u64,
    pub size: u64,
    pub name: String,
    pub is_code: bool,
}

/// A value that the loader writes to an address in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RelocatedValue {
    /// The address of an object in this file.
    Own(u64),
    /// The object with this name in a shared library.
    Foreign(String),
}

/// A program's file with its sections and symbols.
#[derive(Debug)]
pub(super) struct Image {
    pub architecture: Architecture,
    /// True if addresses are final: they are stored in the bytes, and are indistinguishable from
    /// numbers.
    pub is_fixed: bool,
    /// True if the data contain addresses that are listed only in the packed relocations
    /// (`.relr.dyn`), which are not read.
    holds_addresses: bool,
    /// True for Go, whose linker creates symbols that contain many objects.
    pub is_go: bool,
    sections: Vec<Section>,
    /// Symbols by start address; if several have the same one, the longest.
    symbols: BTreeMap<u64, Extent>,
    /// All names with their addresses.
    pub named: Vec<(String, u64)>,
    loaded: HashMap<u64, RelocatedValue>,
}

impl Image {
    /// Reads a program; `None` if it is not a program with a symbol table.
    pub fn read(path: &Path) -> Option<Self> {
        if std::fs::metadata(path).ok()?.len() > MOST_BYTES {
            return None;
        }
        let data = std::fs::read(path).ok()?;
        let file = File::parse(&*data).ok()?;
        let table = file.symbol_table()?;
        let mut image = Self {
            architecture: file.architecture(),
            is_fixed: file.elf_header().e_type.get(file.endian()) == elf::ET_EXEC,
            holds_addresses: file.section_by_name(".relr.dyn").is_some(),
            is_go: file.section_by_name(".gopclntab").is_some()
                || file.section_by_name(".note.go.buildid").is_some(),
            sections: Vec::new(),
            symbols: BTreeMap::new(),
            named: Vec::new(),
            loaded: HashMap::new(),
        };
        for section in file.sections() {
            let object::SectionFlags::Elf { sh_flags, .. } = section.flags() else { continue };
            let has = |flag: elf::SectionFlags| sh_flags.contains(flag);
            if !has(elf::SHF_ALLOC) || has(elf::SHF_TLS) {
                continue;
            }
            let is_empty = section.kind() == SectionKind::UninitializedData;
            image.sections.push(Section {
                start: section.address(),
                size: section.size(),
                is_code: has(elf::SHF_EXECINSTR),
                is_plt: section.name().is_ok_and(|name| name.starts_with(".plt")),
                bytes: if is_empty { Vec::new() } else { section.data().ok()?.to_owned() },
            });
        }
        for symbol in table.symbols().filter(|symbol| symbol.is_definition()) {
            image.add(&symbol);
        }
        for section in file.elf_section_table().iter() {
            let is_loaded = section.sh_flags(file.endian()).contains(elf::SHF_ALLOC);
            if let Ok(Some((relocations, _))) = section.rela(file.endian(), &*data)
                && is_loaded
            {
                relocations.iter().for_each(|relocation| image.relocate(&file, relocation));
            }
        }
        Some(image)
    }

    /// Records one relocation. In a static program, the startup code applies it instead of the
    /// loader.
    fn relocate(&mut self, file: &File<'_>, relocation: &Rela64<Endianness>) {
        let endian = file.endian();
        let addend = relocation.r_addend(endian) as u64;
        let loaded = match relocation.r_sym(endian, false) {
            0 => RelocatedValue::Own(addend),
            index => {
                let table = file.dynamic_symbol_table();
                let symbol =
                    table.and_then(|t| t.symbol_by_index(SymbolIndex(index as usize)).ok());
                let Some(symbol) = symbol else { return };
                match symbol.is_definition() && symbol.kind() != SymbolKind::Tls {
                    true => RelocatedValue::Own(symbol.address().wrapping_add(addend)),
                    false => RelocatedValue::Foreign(format!(
                        "{}+{addend}",
                        symbol.name().unwrap_or_default()
                    )),
                }
            }
        };
        self.loaded.insert(relocation.r_offset(endian), loaded);
    }

    fn add<'data>(&mut self, symbol: &impl ObjectSymbol<'data>) {
        let SymbolFlags::Elf { st_info, .. } = symbol.flags() else { return };
        let (start, mut size) = (symbol.address(), symbol.size());
        let Some(section) = self.section(start) else { return };
        let is_code = match st_info.st_type() {
            elf::STT_FUNC | elf::STT_GNU_IFUNC => true,
            elf::STT_OBJECT => false,
            // Symbols without a type are labels in assembly.
            elf::STT_NOTYPE => section.is_code,
            _ => return,
        };
        // Symbols of size 0 in data are only marks.
        if is_code != section.is_code || (!is_code && size == 0) {
            return;
        }
        size = size.min(section.start + section.size - start);
        let Ok(name) = symbol.name() else { return };
        if !name.is_empty() {
            self.named.push((name.to_owned(), start));
        }
        let known = self.symbols.get(&start);
        if known.is_none_or(|known| known.size < size) {
            self.symbols.insert(start, Extent { start, size, name: name.to_owned(), is_code });
        }
    }

    /// Returns the section that contains an address.
    pub fn section(&self, address: u64) -> Option<&Section> {
        self.sections.iter().find(|section| section.holds(address))
    }

    /// Returns the symbol that contains an address. A code symbol without a size extends to the
    /// next one.
    pub fn symbol(&self, address: u64) -> Option<Extent> {
        let mut found = self.symbols.range(..=address).next_back()?.1.clone();
        if found.size == 0 {
            let section = self.section(found.start)?;
            let next = self.symbols.range(found.start + 1..).next().map(|(next, _)| *next);
            let end = section.start + section.size;
            found.size = next.map_or(end, |next| next.min(end)) - found.start;
        }
        (address - found.start < found.size).then_some(found)
    }

    /// Returns `length` bytes, or as many as the section has; `None` if the file has no content
    /// there.
    pub fn bytes(&self, address: u64, length: u64) -> Option<&[u8]> {
        let section = self.section(address)?;
        let rest = section.bytes.get((address - section.start) as usize..)?;
        Some(&rest[..rest.len().min(usize::try_from(length).ok()?)]).filter(|b| !b.is_empty())
    }

    /// Returns the value that the loader writes to a place; if addresses are final, the value in
    /// the file.
    pub fn loaded(&self, place: u64) -> Option<RelocatedValue> {
        if let Some(loaded) = self.loaded.get(&place) {
            return Some(loaded.clone());
        }
        let word = self.bytes(place, 8).and_then(|bytes| bytes.try_into().ok());
        let address = u64::from_le_bytes(word?);
        (self.is_fixed || self.holds_addresses).then_some(())?;
        self.section(address).is_some().then_some(RelocatedValue::Own(address))
    }
}
