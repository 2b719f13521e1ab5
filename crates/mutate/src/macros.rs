//! Finds C and C++ macros that conditions test but that nothing defines: no source, build file or
//! system header, and not the command. Code in an `#ifdef` of such a macro is not built here. Files
//! are read, but nothing is run.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Extensions of sources and headers. In these files, only definitions count.
const SOURCES: [&str; 10] = ["c", "h", "cc", "cpp", "cxx", "c++", "hh", "hpp", "hxx", "inl"];
/// Default header directories of compilers.
const OF_SYSTEM: [&str; 3] = ["/usr/include", "/usr/local/include", "/usr/lib/gcc"];
/// Macros that compilers and build tools define by themselves, in addition to all that begin with
/// an underscore.
const BY_TOOLS: [&str; 4] = ["NDEBUG", "DEBUG", "PIC", "linux"];
/// Environment variables that compilers and build tools read.
const VARIABLES: [&str; 6] = ["CFLAGS", "CPPFLAGS", "CXXFLAGS", "CC", "CXX", "DEFS"];
/// Maximum size of a build's settings file, in bytes. Larger files are ignored.
const LARGEST: u64 = 4 << 20;

/// Returns the undefined macros of a project with these files, whose tests are run by the command
/// `words`. O(bytes), plus the bytes of the system headers that the project includes directly or
/// indirectly if any name remains.
pub(crate) fn undefined(top: &Path, files: &[String], words: &[String]) -> BTreeSet<String> {
    undefined_of(top, files, words, &OF_SYSTEM.map(PathBuf::from))
}

fn undefined_of(
    top: &Path,
    files: &[String],
    words: &[String],
    system: &[PathBuf],
) -> BTreeSet<String> {
    let is_source =
        |path: &str| path.rsplit_once('.').is_some_and(|(_, own)| SOURCES.contains(&own));
    let (mut asked, mut included) = (BTreeSet::new(), HashSet::new());
    let mut defined = DefinedNames::default();
    for path in files.iter().filter(|own| is_source(own)) {
        let text = text(&top.join(path));
        for line in text.lines() {
            match directive(line) {
                Some(("if" | "ifdef" | "ifndef" | "elif", rest)) => asked.extend(names(rest)),
                Some(("define", rest)) => defined.exact.extend(names(rest).take(1)),
                Some(("include" | "import", rest)) => {
                    included.insert(IncludedHeader::of(rest));
                }
                _ => {}
            }
        }
    }
    asked.retain(|own| !own.starts_with('_') && !BY_TOOLS.contains(&own.as_str()));
    if asked.is_empty() {
        return asked;
    }
    // A generated configuration may be in a directory that is not part of the project, such as a
    // build directory.
    for path in files.iter().filter(|own| !is_source(own)) {
        defined.take(&text(&top.join(path)));
    }
    for directory in fs::read_dir(top).into_iter().flatten().flatten() {
        for name in ["config.h", "CMakeCache.txt", "compile_commands.json"] {
            defined.take(&text(&directory.path().join(name)));
        }
    }
    words.iter().for_each(|own| defined.take(own));
    VARIABLES.iter().filter_map(|own| std::env::var(own).ok()).for_each(|own| defined.take(&own));
    if defined.is_anything {
        return BTreeSet::new();
    }
    asked.retain(|own| !defined.has(own));
    without_headers(system, included, &mut asked);
    asked
}

/// The names that occur in build files, all of which may be defined.
#[derive(Debug, Default)]
struct DefinedNames {
    exact: BTreeSet<String>,
    /// Prefixes of names that are assembled from variables.
    begins: BTreeSet<String>,
    /// True if a build file takes a whole name from a variable, so that any name may be defined.
    is_anything: bool,
}

impl DefinedNames {
    fn take(&mut self, text: &str) {
        self.exact.extend(names(text));
        for (at, _) in text.match_indices(['$', '@']) {
            let before = &text[..at];
            let begin = before.trim_end_matches(is_of_name).len();
            let name = &before[begin..];
            let behind_option = name.strip_prefix('D').filter(|_| before[..begin].ends_with('-'));
            match behind_option.unwrap_or(name) {
                "" => self.is_anything |= behind_option.is_some(),
                own => drop(self.begins.insert(own.to_owned())),
            }
        }
    }

    fn has(&self, name: &str) -> bool {
        // `-DNAME` is scanned as the single word `DNAME`.
        self.exact.contains(name)
            || self.exact.contains(&format!("D{name}"))
            || self.begins.iter().any(|own| name.starts_with(own.as_str()))
    }
}

/// The header named by an `#include`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum IncludedHeader {
    /// A path, without leading `.` and `..`.
    Header(PathBuf),
    /// Any header, because a macro supplies its name.
    Any,
}

impl IncludedHeader {
    /// Parses the part of a line that follows `#include`.
    fn of(rest: &str) -> Self {
        let rest = rest.trim_start_matches("_next").trim_start();
        let own = match rest.chars().next() {
            Some('<') => rest[1..].split('>').next(),
            Some('"') => rest[1..].split('"').next(),
            _ => None,
        };
        let is_name = |own: &Component<'_>| matches!(own, Component::Normal(_));
        own.map_or(Self::Any, |own| {
            Self::Header(Path::new(own).components().filter(is_name).collect())
        })
    }
}

/// The files below the system's header directories.
struct Headers<'a> {
    roots: &'a [PathBuf],
    by_name: HashMap<OsString, Vec<PathBuf>>,
}

impl<'a> Headers<'a> {
    fn of(roots: &'a [PathBuf]) -> Self {
        let mut by_name: HashMap<OsString, Vec<PathBuf>> = HashMap::new();
        for file in roots.iter().flat_map(|own| below(own)) {
            let name = file.file_name().unwrap_or_default().to_owned();
            by_name.entry(name).or_default().push(file);
        }
        Self { roots, by_name }
    }

    /// Returns the files that may be the header included by a file, where `None` stands for any
    /// file of the project. Compiler options may name any directory, so a candidate's path only has
    /// to end with the header's path. Returns the shallowest candidates below each root, and the
    /// one in the same directory as the including file.
    fn named(&self, header: &IncludedHeader, by: Option<&Path>) -> Vec<&PathBuf> {
        let all = self.by_name.values().flatten();
        let own = match (header, by) {
            (IncludedHeader::Header(own), _) => own,
            (IncludedHeader::Any, None) => return all.collect(),
            // If a macro supplies the name, it may be any file of the same library.
            (IncludedHeader::Any, Some(by)) => {
                let root = self.roots.iter().find(|own| by.starts_with(own));
                let depth = root.map_or(0, |own| own.components().count()) + 1;
                let library: PathBuf = by.components().take(depth).collect();
                return all.filter(|file| file.starts_with(&library)).collect();
            }
        };
        let of_name = own.file_name().and_then(|name| self.by_name.get(name));
        let all = || of_name.into_iter().flatten().filter(|file| file.ends_with(own));
        let depth = |file: &&PathBuf| file.components().count();
        let mut found: Vec<&PathBuf> = Vec::new();
        for root in self.roots {
            let least = all().filter(|file| file.starts_with(root)).map(|own| depth(&own)).min();
            let is_one = |file: &&PathBuf| file.starts_with(root) && Some(depth(file)) == least;
            found.extend(all().filter(is_one));
        }
        let beside = by.and_then(Path::parent).map(|place| place.join(own));
        found.extend(all().filter(|file| Some(*file) == beside.as_ref()));
        found
    }
}

/// Removes the names that are defined by the included headers below these directories, or by
/// headers that those include. No other headers are read because system directories can hold
/// hundreds of megabytes.
fn without_headers(
    roots: &[PathBuf],
    included: HashSet<IncludedHeader>,
    asked: &mut BTreeSet<String>,
) {
    if asked.is_empty() {
        return;
    }
    let headers = Headers::of(roots);
    let mut read: HashSet<PathBuf> = HashSet::new();
    let mut open: Vec<(IncludedHeader, Option<PathBuf>)> =
        included.into_iter().map(|own| (own, None)).collect();
    while let Some((header, by)) = open.pop().filter(|_| !asked.is_empty()) {
        for file in headers.named(&header, by.as_deref()) {
            if !read.insert(file.clone()) {
                continue;
            }
            for line in text(file).lines() {
                match directive(line) {
                    Some(("define", rest)) => {
                        asked.remove(&names(rest).next().unwrap_or_default());
                    }
                    Some(("include" | "import", rest)) => {
                        open.push((IncludedHeader::of(rest), Some(file.clone())));
                    }
                    _ => {}
                }
            }
        }
    }
}

/// Returns all files below a directory.
fn below(directory: &Path) -> Vec<PathBuf> {
    let (mut open, mut files) = (vec![directory.to_owned()], Vec::new());
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => open.push(entry.path()),
                Ok(_) => files.push(entry.path()),
                Err(_) => {}
            }
        }
    }
    files
}

/// Returns the text of a file, or an empty string if the file is too large or missing.
fn text(path: &Path) -> String {
    let is_small = path.metadata().is_ok_and(|own| own.is_file() && own.len() <= LARGEST);
    let bytes = if is_small { fs::read(path).unwrap_or_default() } else { Vec::new() };
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Splits a preprocessor directive into its keyword and the rest of the line.
fn directive(line: &str) -> Option<(&str, &str)> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start();
    let end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
    Some((&rest[..end], &rest[end..]))
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Returns the names in a text.
fn names(text: &str) -> impl Iterator<Item = String> {
    let end = [text.find("//"), text.find("/*")].into_iter().flatten().min();
    let end = end.filter(|_| !text.contains('\n')).unwrap_or(text.len());
    text[..end]
        .split(|c| !is_of_name(c))
        .filter(|own| own.starts_with(|c: char| !c.is_ascii_digit()) && *own != "defined")
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;

    fn of(files: &[(&str, &str)], command: &str) -> Vec<String> {
        let room = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let place = room.path().join("p").join(path);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::write(place, text).unwrap();
        }
        let of_system = [
            ("sys/a.h", "# include_next <bits/b.h>\n"),
            ("x86/bits/b.h", "#  define SIGINFO 3\n"),
            ("c.h", "#define WITH_ONE\n"),
            ("other/c.h", "#define WITH_TWO\n"),
            ("other/d.h", "#include \"c.h\"\n"),
            ("other/e.h", "#include HEADER\n"),
            ("z.h", "#define WITH_THREE\n"),
        ];
        for (path, text) in of_system {
            let place = room.path().join("system").join(path);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::write(place, text).unwrap();
        }
        let paths: Vec<String> = files.iter().map(|(path, _)| (*path).to_owned()).collect();
        let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
        let system = [room.path().join("system")];
        undefined_of(&room.path().join("p"), &paths, &words, &system).into_iter().collect()
    }

    const SOURCE: &str = "\
#ifndef A_H
#define A_H
#include <sys/a.h>
#if defined(WITH_ONE) && !defined WITH_TWO /* NOT_THIS */
#elif WITH_THREE > 1 // NOR_THIS
#endif
#ifdef SIGINFO
#endif
#ifdef __FANCY__
#endif
#endif
";

    #[test]
    fn macros_that_nothing_defines_are_found() {
        let own =
            |files: &[(&str, &str)], command| of(&[&[("a.h", SOURCE)], files].concat(), command);
        assert_eq!(own(&[], "make test"), ["WITH_ONE", "WITH_THREE", "WITH_TWO"]);
        assert_eq!(own(&[], "make CFLAGS=-DWITH_ONE test"), ["WITH_THREE", "WITH_TWO"]);
        assert_eq!(
            own(&[("Makefile", "CFLAGS = -DWITH_TWO=1\n")], "make"),
            ["WITH_ONE", "WITH_THREE"]
        );
        assert_eq!(
            own(&[("CMakeLists.txt", "option(WITH_THREE \"\" ON)\n")], "ctest"),
            ["WITH_ONE", "WITH_TWO"]
        );
        assert_eq!(
            own(&[("b.c", "#define WITH_ONE\n#undef WITH_TWO\n")], "make"),
            ["WITH_THREE", "WITH_TWO"]
        );
    }

    #[test]
    fn only_system_headers_that_are_included_count() {
        let own = |include: &str| of(&[("a.h", SOURCE), ("b.c", include)], "make");
        assert_eq!(own("#include <f.h>\n"), ["WITH_ONE", "WITH_THREE", "WITH_TWO"]);
        assert_eq!(own("#include \"../c.h\" // why\n"), ["WITH_THREE", "WITH_TWO"]);
        assert_eq!(own("#include <other/d.h>\n"), ["WITH_THREE"]);
        assert_eq!(own("#include <e.h>\n"), ["WITH_THREE"]);
        assert!(own("#include HEADER\n").is_empty());
    }

    #[test]
    fn names_that_are_put_together_may_be_any() {
        let own = |text: &str| of(&[("a.h", SOURCE), ("Makefile", text)], "make");
        assert_eq!(own("CFLAGS += -DWITH_$(WHAT)\n"), Vec::<String>::new());
        assert_eq!(own("CFLAGS += -D$(WHAT)\n"), Vec::<String>::new());
        assert_eq!(own("CFLAGS += -DHAVE_$(WHAT) $(MORE)\n").len(), 3);
        assert_eq!(own("# https://…$(MORE)\n").len(), 3);
    }
}
