//! Determines from a program's file whether its allocations can be counted, and which memory the
//! counts will not include.
//!
//! A program that can't be counted is refused with the reason, since the counts would be zero and
//! misleading. An obstacle that the file does not show becomes apparent only after the run, which
//! then leaves no record. Damaged files cause no errors.

use std::ffi::OsStr;
use std::fmt;
use std::fs::{self, File, Metadata};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use object::Endianness;
use object::elf;
use object::read::elf::{Dyn, FileHeader, ProgramHeader, SectionTable, Sym};
use rustix::fs::{StatVfsMountFlags, getxattr, statvfs};
use rustix::process::{getgid, getuid};

use super::programs::behind;

type Header = elf::FileHeader64<Endianness>;

/// Maximum number of bytes read from a file. Programs are smaller than this, or at least have their
/// headers in this part.
const MOST_BYTES: u64 = 256 << 20;
const SETUID: u32 = 0o4000;
/// The setgid bit together with group execute permission. Without that permission the bit has a
/// different meaning.
const SETGID: u32 = 0o2010;
const BUILD_OF_GO: &[u8] = b".note.go.buildid";

/// A program whose allocations can't be counted, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Path of the program, or of the interpreter of a script.
    pub program: PathBuf,
    /// Reason why its allocations can't be counted.
    pub why: RefusalReason,
}

/// A reason why allocations can't be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalReason {
    /// The program has no dynamic linker that could load the counting library.
    Static,
    /// A statically linked Go program. Go's runtime does not use malloc.
    Go,
    /// The program defines its own malloc, which takes precedence over a preloaded one.
    OwnMalloc,
    /// The program uses AddressSanitizer, which refuses to run if another library is loaded before
    /// it.
    Sanitizer,
    /// The program runs with the privileges of its owner or group, so the system ignores preloaded
    /// libraries.
    Setuid,
    /// The program has file capabilities, so the system ignores preloaded libraries.
    Capabilities,
    /// The program is started with a changed environment that does not preload the counting
    /// library.
    OtherEnvironment,
    /// The program is built for a different architecture than `assay` itself.
    OtherMachine,
    /// The file is not a program of this system.
    NotAProgram,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.program.display(), self.why)
    }
}

/// Writes the reason as a predicate, such as "is linked statically", to follow the program's name.
impl fmt::Display for RefusalReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Static => "is linked statically: nothing can be put before its malloc",
            Self::Go => {
                "is a static program of Go, whose runtime takes memory from the kernel itself"
            }
            Self::OwnMalloc => {
                "contains its own malloc, which takes precedence over a preloaded one"
            }
            Self::Sanitizer => {
                "is built with AddressSanitizer, which must come before any other library"
            }
            Self::Setuid => {
                "runs with the privileges of its owner or group, and the system preloads nothing into such programs"
            }
            Self::Capabilities => {
                "is given capabilities, and the system preloads nothing into such programs"
            }
            Self::OtherEnvironment => {
                "is given its own environment, which lacks LD_PRELOAD or ASSAY_ALLOC"
            }
            Self::OtherMachine => "is built for a different architecture than assay",
            Self::NotAProgram => "is neither a program of this system nor a script",
        })
    }
}

/// Memory that a program's counts do not include.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note {
    /// Name of the runtime or the allocator.
    pub runtime: &'static str,
    /// A description of where the program gets this memory and, where possible, of how to have it
    /// counted.
    pub text: &'static str,
}

/// Language runtimes with their own memory management. Each entry has names of programs without
/// version, prefixes of library names, and a note.
const RUNTIMES: [(&[&str], &[&str], Note); 5] = [
    (
        &["python"],
        &["libpython"],
        Note {
            runtime: "CPython",
            text: "takes small objects from arenas that malloc does not see; PYTHONMALLOC=malloc \
                   in its environment shows them",
        },
    ),
    (
        &["ruby", "irb", "rake", "bundle"],
        &["libruby"],
        Note {
            runtime: "Ruby",
            text: "keeps objects in its own pages, and uses malloc only for what does not fit there; GC.stat(:total_allocated_objects) counts objects",
        },
    ),
    (
        &["java"],
        &["libjvm", "libjli"],
        Note {
            runtime: "the JVM",
            text: "keeps objects in its own heap, which malloc does not see",
        },
    ),
    (
        &["node", "nodejs", "deno"],
        &["libnode", "libv8"],
        Note {
            runtime: "V8",
            text: "keeps JavaScript objects in its own heap, which malloc does not see",
        },
    ),
    (
        &["php"],
        &["libphp"],
        Note {
            runtime: "PHP",
            text: "takes memory in large pieces and divides it itself; USE_ZEND_ALLOC=0 in its \
                   environment shows the small ones",
        },
    ),
];

const GO: Note = Note {
    runtime: "Go",
    text: "takes memory from the kernel itself; only what C code in it allocates is counted",
};

/// Allocators that programs call by names other than `malloc`. Each entry has a string that the
/// allocator's code contains, and a note.
const ALLOCATORS: [(&[u8], Note); 2] = [
    (
        b"<jemalloc>",
        Note {
            runtime: "jemalloc",
            text: "is linked into it; what comes from there is not counted",
        },
    ),
    (
        b"mimalloc: ",
        Note {
            runtime: "mimalloc",
            text: "is linked into it; what comes from there is not counted",
        },
    ),
];

/// Returns the reason why a program can't be counted; `None` if its file shows no obstacle. For a
/// script, the interpreter is examined. A file that can't be read is not refused. O(bytes of the
/// file).
pub fn refusal(program: &Path) -> Option<Refusal> {
    behind(program).into_iter().find_map(|program| {
        let why = why_not(&program)?;
        Some(Refusal { program, why })
    })
}

/// Returns notes on the allocations that a program's counts will not include, judged by the
/// program's name and file. For a script, the interpreter is examined. O(bytes of the file).
pub fn notes(program: &Path) -> Vec<Note> {
    let mut found = Vec::new();
    for program in behind(program) {
        for note in notes_of(&program) {
            if !found.contains(&note) {
                found.push(note);
            }
        }
    }
    found
}

fn why_not(program: &Path) -> Option<RefusalReason> {
    let about = fs::metadata(program).ok().filter(Metadata::is_file)?;
    if let Some(why) = gains_rights(program, &about) {
        return Some(why);
    }
    let bytes = content(program)?;
    let Some(own) = OwnFile::parse(&bytes) else {
        return Some(if bytes.starts_with(b"\x7fELF") {
            RefusalReason::OtherMachine
        } else {
            RefusalReason::NotAProgram
        });
    };
    if !own.has_linker() {
        return Some(if own.has_section(BUILD_OF_GO) {
            RefusalReason::Go
        } else {
            RefusalReason::Static
        });
    }
    if own.needs(&["libasan"]) {
        return Some(RefusalReason::Sanitizer);
    }
    own.defines(b"malloc").then_some(RefusalReason::OwnMalloc)
}

/// Returns the reason for refusal if the program runs with privileges that this process lacks. The
/// setuid and setgid bits add none if this process already has the file's owner or group, and
/// capabilities add none for root.
fn gains_rights(program: &Path, about: &Metadata) -> Option<RefusalReason> {
    let may = statvfs(program).is_ok_and(|fs| !fs.f_flag.contains(StatVfsMountFlags::NOSUID));
    let other_user = about.mode() & SETUID != 0 && about.uid() != getuid().as_raw();
    let other_group = about.mode() & SETGID == SETGID && about.gid() != getgid().as_raw();
    if may && (other_user || other_group) {
        return Some(RefusalReason::Setuid);
    }
    let mut value = [0_u8; 64];
    let capable = getxattr(program, "security.capability", &mut value).is_ok_and(|n| n > 0);
    (may && capable && !getuid().is_root()).then_some(RefusalReason::Capabilities)
}

fn notes_of(program: &Path) -> Vec<Note> {
    let real = fs::canonicalize(program).unwrap_or_else(|_| program.to_owned());
    let names = [program.file_name(), real.file_name()].map(|n| n.unwrap_or(OsStr::new("")));
    let bytes = content(&real).unwrap_or_default();
    let own = OwnFile::parse(&bytes);
    let mut found = Vec::new();
    for (programs, libraries, note) in RUNTIMES {
        let is_called = names.iter().any(|name| {
            let name = name.to_string_lossy();
            // The name may end in a version, as in python3.11 or ruby3.1.
            let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
            programs.contains(&name)
        });
        if is_called || own.as_ref().is_some_and(|own| own.needs(libraries)) {
            found.push(note);
        }
    }
    if own.as_ref().is_some_and(|own| own.has_section(BUILD_OF_GO)) {
        found.push(GO);
    }
    if found.is_empty() && own.is_some() {
        let inside = ALLOCATORS.iter().filter(|(words, _)| contains(&bytes, words));
        found.extend(inside.map(|(_, note)| *note));
    }
    found
}

fn content(program: &Path) -> Option<Vec<u8>> {
    let about = fs::metadata(program).ok()?;
    if !about.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(program).ok()?.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

fn contains(bytes: &[u8], words: &[u8]) -> bool {
    bytes.windows(words.len()).any(|window| window == words)
}

/// A program file for this architecture. Parts that can't be read count as absent.
struct OwnFile<'a> {
    bytes: &'a [u8],
    header: &'a Header,
    endian: Endianness,
    sections: SectionTable<'a, Header>,
}

impl<'a> OwnFile<'a> {
    /// Parses a program file; returns `None` if it is not a program for this architecture.
    fn parse(bytes: &'a [u8]) -> Option<Self> {
        let machine = match std::env::consts::ARCH {
            "x86_64" => elf::EM_X86_64,
            "aarch64" => elf::EM_AARCH64,
            _ => return None,
        };
        let header = Header::parse(bytes).ok()?;
        let endian = header.endian().ok()?;
        if header.e_machine(endian) != machine {
            return None;
        }
        let sections = header.sections(endian, bytes).unwrap_or_default();
        Some(Self { bytes, header, endian, sections })
    }

    fn has_linker(&self) -> bool {
        let segments = self.header.program_headers(self.endian, self.bytes).unwrap_or_default();
        segments.iter().any(|segment| segment.p_type(self.endian) == elf::PT_INTERP)
    }

    fn has_section(&self, name: &[u8]) -> bool {
        self.sections.section_by_name(self.endian, name).is_some()
    }

    /// Returns true if the file needs a shared library whose name starts with one of these
    /// prefixes.
    fn needs(&self, libraries: &[&str]) -> bool {
        let Ok(table) = self.sections.dynamic_table(self.endian, self.bytes) else { return false };
        table.dynamics().iter().any(|entry| {
            entry.tag(self.endian) == elf::DT_NEEDED
                && entry.string(self.endian, *table.strings()).is_ok_and(|needed| {
                    libraries.iter().any(|name| needed.starts_with(name.as_bytes()))
                })
        })
    }

    /// Returns true if the file exports a function of this name.
    fn defines(&self, function: &[u8]) -> bool {
        let symbols = self.sections.symbols(self.endian, self.bytes, elf::SHT_DYNSYM);
        let Ok(symbols) = symbols else { return false };
        symbols.iter().any(|symbol| {
            !symbol.is_undefined(self.endian)
                && symbols.symbol_name(self.endian, symbol) == Ok(function)
        })
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use crate::emulated::{Emulated, ignored_under_emulation};
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_no_program_is_told_from_one_of_another_machine() {
        let room = tempfile::tempdir().unwrap();
        let path = room.path().join("file");
        let refused = |content: &[u8]| {
            fs::write(&path, content).unwrap();
            refusal(&path).map(|refusal| refusal.why)
        };
        assert_eq!(refused(b""), Some(RefusalReason::NotAProgram));
        assert_eq!(refused(b"PK\x03\x04"), Some(RefusalReason::NotAProgram));
        let own = fs::read(std::env::current_exe().unwrap()).unwrap();
        assert_eq!(refused(&own), None);
        let mut other = own.clone();
        other[18] = 40;
        assert_eq!(refused(&other), Some(RefusalReason::OtherMachine));
        let mut narrow = own;
        narrow[4] = 1;
        assert_eq!(refused(&narrow), Some(RefusalReason::OtherMachine));
        assert_eq!(refusal(&room.path().join("gone")), None);
        assert_eq!(refusal(room.path()), None);
        let message = Refusal { program: "/bin/x".into(), why: RefusalReason::Static }.to_string();
        assert_eq!(message, "`/bin/x` is linked statically: nothing can be put before its malloc");
    }

    #[test]
    fn runtimes_are_known_by_their_names_with_versions() {
        let room = tempfile::tempdir().unwrap();
        for (name, runtime) in [
            ("python3.11", Some("CPython")),
            ("python", Some("CPython")),
            ("ruby3.1", Some("Ruby")),
            ("java", Some("the JVM")),
            ("rubyist", None),
            ("pythonize", None),
        ] {
            let path = room.path().join(name);
            fs::write(&path, "").unwrap();
            let found = notes(&path);
            assert_eq!(found.first().map(|note| note.runtime), runtime, "{name}");
        }
        let script = room.path().join("script");
        let interpreter = room.path().join("ruby3.1");
        fs::write(&script, format!("#!{}\n", interpreter.display())).unwrap();
        assert_eq!(notes(&script)[0].runtime, "Ruby");
    }

    #[test]
    fn an_allocator_that_is_linked_in_is_known_by_its_words() {
        if ignored_under_emulation(Emulated::Machine) {
            return;
        }
        let room = tempfile::tempdir().unwrap();
        let path = room.path().join("search");
        let mut content = fs::read("/bin/true").unwrap();
        fs::write(&path, &content).unwrap();
        assert_eq!(notes(&path), []);
        content.extend(b"<jemalloc>: Error\0");
        fs::write(&path, content).unwrap();
        assert_eq!(notes(&path)[0].runtime, "jemalloc");
    }

    proptest! {
        #[test]
        fn a_damaged_program_is_no_reason_to_panic(
            place in 0_usize..4096,
            bytes in prop::collection::vec(any::<u8>(), 1..64),
            length in 0_usize..40_000,
        ) {
            let mut content = fs::read("/bin/true").unwrap();
            let end = (place + bytes.len()).min(content.len());
            content[place.min(end)..end].copy_from_slice(&bytes[..end - place.min(end)]);
            content.truncate(length);
            if let Some(own) = OwnFile::parse(&content) {
                own.has_linker();
                own.has_section(BUILD_OF_GO);
                own.needs(&["libc"]);
                own.defines(b"malloc");
            }
        }
    }
}
