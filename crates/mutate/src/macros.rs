//! C and C++ macros that conditions test and nothing defines: no source, no build file, no system
//! header, not the command. Code in an `#ifdef` of such a macro is not built here. Files are read;
//! nothing is run.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Extensions of sources and headers, in which only definitions count.
const SOURCES: [&str; 10] = ["c", "h", "cc", "cpp", "cxx", "c++", "hh", "hpp", "hxx", "inl"];
/// Default header directories of compilers.
const OF_SYSTEM: [&str; 3] = ["/usr/include", "/usr/local/include", "/usr/lib/gcc"];
/// Macros that compilers and build tools define by themselves, in addition to all that begin with
/// an underscore.
const BY_TOOLS: [&str; 4] = ["NDEBUG", "DEBUG", "PIC", "linux"];
/// Environment variables that compilers and build tools read.
const VARIABLES: [&str; 6] = ["CFLAGS", "CPPFLAGS", "CXXFLAGS", "CC", "CXX", "DEFS"];
/// Maximum size of a build's settings file, bytes; larger files are ignored.
const LARGEST: u64 = 4 << 20;

/// Returns the macros that nothing defines in a project with these files, whose tests are run by
/// the command `words`. O(bytes), plus the bytes of system headers if any name remains.
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
    let mut asked = BTreeSet::new();
    let mut defined = Defined::default();
    for path in files.iter().filter(|own| is_source(own)) {
        let text = text(&top.join(path));
        for line in text.lines() {
            match directive(line) {
                Some(("if" | "ifdef" | "ifndef" | "elif", rest)) => asked.extend(names(rest)),
                Some(("define", rest)) => defined.exact.extend(names(rest).take(1)),
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
    for directory in system {
        without_headers(directory, &mut asked);
    }
    asked
}

/// The names that build files contain.
#[derive(Debug, Default)]
struct Defined {
    exact: BTreeSet<String>,
    /// Prefixes of names that are assembled from variables.
    begins: BTreeSet<String>,
    /// True if a whole name comes from a variable.
    is_anything: bool,
}

impl Defined {
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

/// Removes the names that a header below a directory defines.
fn without_headers(directory: &Path, asked: &mut BTreeSet<String>) {
    let mut open = vec![directory.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            if asked.is_empty() {
                return;
            }
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() {
                open.push(entry.path());
                continue;
            }
            for line in text(&entry.path()).lines() {
                if let Some(name) = directive(line)
                    .filter(|(word, _)| *word == "define")
                    .and_then(|(_, rest)| names(rest).next())
                {
                    asked.remove(&name);
                }
            }
        }
    }
}

/// Returns the text of a file; empty if the file is too large or missing.
fn text(path: &Path) -> String {
    let is_small = path.metadata().is_ok_and(|own| own.is_file() && own.len() <= LARGEST);
    let bytes = if is_small { fs::read(path).unwrap_or_default() } else { Vec::new() };
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns the keyword of a directive and the rest of the line.
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
        fs::create_dir_all(room.path().join("system/sys")).unwrap();
        fs::write(room.path().join("system/sys/a.h"), "#  define SIGINFO 3\n").unwrap();
        let paths: Vec<String> = files.iter().map(|(path, _)| (*path).to_owned()).collect();
        let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
        let system = [room.path().join("system")];
        undefined_of(&room.path().join("p"), &paths, &words, &system).into_iter().collect()
    }

    const SOURCE: &str = "\
#ifndef A_H
#define A_H
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
    fn names_that_are_put_together_may_be_any() {
        let own = |text: &str| of(&[("a.h", SOURCE), ("Makefile", text)], "make");
        assert_eq!(own("CFLAGS += -DWITH_$(WHAT)\n"), Vec::<String>::new());
        assert_eq!(own("CFLAGS += -D$(WHAT)\n"), Vec::<String>::new());
        assert_eq!(own("CFLAGS += -DHAVE_$(WHAT) $(MORE)\n").len(), 3);
        assert_eq!(own("# https://…$(MORE)\n").len(), 3);
    }
}
