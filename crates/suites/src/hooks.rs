//! The texts of the hooks that `assay tests` loads into the processes of a suite, for test
//! frameworks of Ruby, Python and JavaScript.
//!
//! All files are written to one directory, from which the interpreters load what they need. The
//! hooks are self-contained and import nothing from the gem or the package. Their output is
//! documented in docs/reference/test-events.md.

use flate2::read::DeflateDecoder;
use std::io::Read;
use std::sync::LazyLock;

/// Returns all hook files as pairs of name and text.
///
/// - `assay_tests.rb` is loaded through `RUBYOPT`.
/// - `assay_tests_hook.py` is the pytest plugin.
/// - `assay_unittest.py` is run in place of `-m unittest`.
/// - `assay_node_reporter.mjs` is a reporter for `node --test`, and `assay_node_coverage.mjs` is
///   imported by its processes.
/// - `assay_jest_vitest_reporter.mjs` is a reporter for jest and vitest.
/// - `assay_warm.rb` is loaded through `RUBYOPT`.
/// - `warm/sitecustomize.py` is found by every Python that has its directory in `PYTHONPATH`, and
///   loads `assay_warm.py`.
///
/// The other files are loaded by these.
pub fn files() -> impl Iterator<Item = (&'static str, &'static str)> {
    /// The texts of all hooks: a third of a megabyte, and a quarter of that when compressed.
    static TEXTS: LazyLock<String> = LazyLock::new(|| {
        let mut texts = String::new();
        // Decompression cannot fail: the data was compressed at build time.
        let _whole = DeflateDecoder::new(PACKED).read_to_string(&mut texts);
        texts
    });
    let mut rest = TEXTS.as_str();
    FILES.iter().map_while(move |&(name, length)| {
        let (text, later) = rest.split_at_checked(length)?;
        rest = later;
        Some((name, text))
    })
}

// `build.rs` compresses the directory: `FILES` has each name with the length of its text, in the
// order of the texts.
include!(concat!(env!("OUT_DIR"), "/hooks.rs"));
static PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/hooks.deflate"));

/// The libraries that `build.rs` compiles from C for the hooks, each with its file name. The hooks
/// look for them in their own directory and use slower replacements if they are missing.
#[cfg(target_os = "linux")]
pub const LIBRARIES: [(&str, &[u8]); 2] = [
    ("assay_marks.so", include_bytes!(concat!(env!("OUT_DIR"), "/assay_marks.so"))),
    ("assay_python_calls.so", include_bytes!(concat!(env!("OUT_DIR"), "/assay_python_calls.so"))),
];
/// The libraries compiled from C for the hooks, which exist only on Linux.
#[cfg(not(target_os = "linux"))]
pub const LIBRARIES: [(&str, &[u8]); 0] = [];

#[cfg(test)]
mod tests {
    use std::fs;

    #[test]
    fn every_file_of_the_directory_is_there_as_it_is() {
        let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/src/hooks");
        // File names relative to the language's directory.
        let places = |language: &str, below: &str| -> Vec<(String, String)> {
            let entries = fs::read_dir(format!("{directory}/{language}/{below}")).unwrap();
            let paths = entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
            let named = |path: std::path::PathBuf| {
                let name = path.file_name().unwrap().to_str().unwrap();
                (below.to_owned() + name, fs::read_to_string(&path).unwrap())
            };
            paths.map(named).collect()
        };
        let of = ["javascript", "python", "ruby"].map(|language| places(language, ""));
        let mut found = of.concat();
        found.extend(places("python", "warm/"));
        found.sort();
        let mut packed: Vec<(String, String)> =
            super::files().map(|(name, text)| (name.to_owned(), text.to_owned())).collect();
        packed.sort();
        assert_eq!(found, packed);
        assert!(packed.iter().all(|(_, text)| text.ends_with('\n')));
    }
}
