//! Reads the build settings of the tests from manifests and the command line: crate features, Go
//! build tags, disabled Rust modules, and directories of examples. Files are read, but nothing is
//! run.

use crate::macros;
use assay_mutate::mutants::{BuildPlatform, Language, modules_off};
use assay_suites::coverage::rules;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::path::Path;

/// Directories of programs that no test runs, with a description of their contents.
const BESIDE: [(&str, &str); 9] = [
    ("examples", "an example"),
    ("example", "an example"),
    ("_examples", "an example"),
    ("demo", "an example"),
    ("demos", "an example"),
    ("samples", "an example"),
    ("fuzz", "a fuzz target"),
    ("fuzz_targets", "a fuzz target"),
    ("fuzzing", "a fuzz target"),
];

/// The build settings of a project.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    files: Vec<String>,
    words: Vec<String>,
    /// The settings of each crate, by its directory.
    crates: BTreeMap<String, BuildPlatform>,
    tags: BTreeSet<String>,
    /// C macros that nothing defines.
    undefined: BTreeSet<String>,
    /// Path prefixes of disabled modules, each with the reason.
    off: Vec<(String, String)>,
    /// Directories of Go modules that the tests do not build.
    foreign: Vec<String>,
}

impl Settings {
    /// Reads the settings of a project with these files. Its tests are run by `command` in the
    /// directory `below` of the project.
    pub fn of(top: &Path, below: &Path, files: Vec<String>, command: &[OsString]) -> Self {
        let words: Vec<String> =
            command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let mut own = Self { files, words, ..Self::default() };
        own.tags = own.tags();
        own.undefined = macros::undefined(top, &own.files, &own.words);
        own.crates = own.crates(top);
        own.foreign = own.foreign(below);
        let sources = own.files.iter().filter(|path| path.ends_with(".rs"));
        let texts = sources.filter_map(|path| Some((path, fs::read(top.join(path)).ok()?)));
        let off = texts.flat_map(|(path, text)| modules_off(path, &text, &own.here(path)));
        own.off = off.collect();
        own
    }

    /// Returns the build settings that apply to a file.
    pub fn here(&self, path: &str) -> BuildPlatform {
        let of_crate = self.crates.iter().filter(|(directory, _)| {
            directory.is_empty() || Path::new(path).starts_with(directory)
        });
        let nearest = of_crate.max_by_key(|(directory, _)| directory.len());
        let here = nearest.map(|(_, own)| own.clone()).unwrap_or_default();
        BuildPlatform { tags: self.tags.clone(), undefined: self.undefined.clone(), ..here }
    }

    /// Returns the reason why a whole file is not built here, or `None` if the file is built or if
    /// this depends on its contents.
    pub fn absent(&self, language: Language, path: &str) -> Option<String> {
        if language == Language::Go {
            let is_of = |own: &&String| Path::new(path).starts_with(own);
            let module = self.foreign.iter().filter(is_of).max_by_key(|own| own.len());
            return module.map(|own| format!("of another Go module, {own}"));
        }
        if language == Language::Rust {
            let is_below = |own: &str| {
                path.strip_prefix(own).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
            };
            let off = self.off.iter().find(|(own, _)| is_below(own));
            if let Some((_, why)) = off {
                return Some(why.clone());
            }
            if path.rsplit('/').next() == Some("build.rs") {
                return Some("a build script".to_owned());
            }
        }
        None
    }

    /// Returns the kind of a file that no test program uses, or `None` if a test program may use
    /// it.
    pub fn beside(&self, language: Language, path: &str) -> Option<&'static str> {
        let mut directory = String::new();
        let parts: Vec<&str> = path.split('/').collect();
        for part in &parts[..parts.len().saturating_sub(1)] {
            if !directory.is_empty() {
                directory.push('/');
            }
            directory += part;
            if let Some((_, what)) = BESIDE.iter().find(|(name, _)| name == part) {
                let is_below = |own: &&String| Path::new(own.as_str()).starts_with(&directory);
                let has_tests = self.files.iter().filter(is_below).any(|own| rules::is_test(own));
                if language == Language::Rust || !has_tests {
                    return Some(what);
                }
            }
        }
        None
    }

    /// Returns the directories of Go modules nested in the one that `go test` tests in `below`.
    /// None are returned for a workspace, whose modules may be built together.
    fn foreign(&self, below: &Path) -> Vec<String> {
        let is_plain = self.words.iter().map(String::as_str).take(2).eq(["go", "test"]);
        let is_named = |path: &String, name: &str| path.rsplit('/').next() == Some(name);
        if !is_plain || self.files.iter().any(|path| is_named(path, "go.work")) {
            return Vec::new();
        }
        let directory = |path: &String| path.rsplit_once('/').map_or("", |(own, _)| own).to_owned();
        let manifests = self.files.iter().filter(|path| is_named(path, "go.mod"));
        let modules: Vec<String> = manifests.map(directory).collect();
        let nearest = modules.iter().filter(|own| below.starts_with(own));
        let Some(tested) = nearest.max_by_key(|own| own.len()) else { return Vec::new() };
        let is_other = |own: &&String| *own != tested && Path::new(own).starts_with(tested);
        modules.iter().filter(is_other).cloned().collect()
    }

    fn tags(&self) -> BTreeSet<String> {
        let flags = std::env::var("GOFLAGS").unwrap_or_default();
        let words: Vec<&str> =
            self.words.iter().map(String::as_str).chain(flags.split_whitespace()).collect();
        let mut tags = BTreeSet::new();
        for (index, word) in words.iter().enumerate() {
            let own = word.trim_start_matches('-');
            let value = match own.strip_prefix("tags") {
                Some("") if word.starts_with('-') => words.get(index + 1).copied(),
                Some(rest) if word.starts_with('-') => rest.strip_prefix('='),
                _ => None,
            };
            let all = value.unwrap_or_default().split([',', ' ']);
            tags.extend(all.filter(|own| !own.is_empty()).map(str::to_owned));
        }
        tags
    }

    fn crates(&self, top: &Path) -> BTreeMap<String, BuildPlatform> {
        let manifests =
            self.files.iter().filter(|path| path.rsplit('/').next() == Some("Cargo.toml"));
        let texts: Vec<(&String, String)> = manifests
            .filter_map(|path| Some((path, fs::read_to_string(top.join(path)).ok()?)))
            .collect();
        // Any feature that one crate requests of another may be enabled.
        let perhaps: BTreeSet<String> =
            texts.iter().flat_map(|(_, text)| asked_features(text)).collect();
        let one = |(path, text): &(&String, String)| {
            let directory = path.rsplit_once('/').map_or("", |(own, _)| own).to_owned();
            let script = if directory.is_empty() {
                "build.rs".to_owned()
            } else {
                format!("{directory}/build.rs")
            };
            let has_script = self.files.contains(&script)
                || text
                    .lines()
                    .any(|line| line.starts_with("build ") || line.starts_with("build="));
            let flags = std::env::var("RUSTFLAGS").unwrap_or_default();
            let flags: Vec<&str> = flags.split_whitespace().collect();
            let set = flags.windows(2).filter(|two| two[0] == "--cfg").map(|two| two[1].to_owned());
            let features = self.features(text);
            let here = BuildPlatform {
                features,
                perhaps: perhaps.clone(),
                settings: (!has_script).then(|| set.collect()),
                ..BuildPlatform::default()
            };
            (directory, here)
        };
        texts.iter().map(one).collect()
    }

    /// Returns the enabled features of a crate, or `None` if any feature may be enabled.
    fn features(&self, manifest: &str) -> Option<BTreeSet<String>> {
        if self.words.iter().any(|word| word == "--all-features") {
            return None;
        }
        let table = feature_table(manifest);
        let mut on: Vec<String> = Vec::new();
        if !self.words.iter().any(|word| word == "--no-default-features") {
            on.push("default".to_owned());
        }
        for (index, word) in self.words.iter().enumerate() {
            let value = match word.as_str() {
                "--features" | "-F" => self.words.get(index + 1).map(String::as_str),
                own => own.strip_prefix("--features=").or_else(|| own.strip_prefix("-F")),
            };
            let all = value.unwrap_or_default().split([',', ' ']).filter(|own| !own.is_empty());
            on.extend(all.map(|own| own.rsplit('/').next().unwrap_or(own).to_owned()));
        }
        let mut seen = BTreeSet::new();
        while let Some(own) = on.pop() {
            if seen.insert(own.clone()) {
                on.extend(table.get(&own).into_iter().flatten().cloned());
            }
        }
        Some(seen)
    }
}

/// Returns the features that a manifest declares, each with the features that it enables.
fn feature_table(manifest: &str) -> BTreeMap<String, Vec<String>> {
    let mut table = BTreeMap::new();
    let (mut is_within, mut name, mut depth) = (false, String::new(), 0_i32);
    for line in manifest.lines() {
        let line = line.split(" #").next().unwrap_or(line).trim();
        if line.starts_with('#') {
            continue;
        }
        if depth == 0 && line.starts_with('[') {
            is_within = line == "[features]";
            continue;
        }
        if !is_within {
            continue;
        }
        let value = match line.split_once('=').filter(|_| depth == 0) {
            Some((own, value)) => {
                name = own.trim().trim_matches('"').to_owned();
                value
            }
            None => line,
        };
        let signs = |sign: char| i32::try_from(value.matches(sign).count()).unwrap_or_default();
        depth += signs('[') - signs(']');
        let own: &mut Vec<String> = table.entry(name.clone()).or_default();
        own.extend(quoted(value).map(|own| own.trim_start_matches("dep:").to_owned()));
    }
    table.remove("");
    table
}

/// Returns the features that a manifest requests of dependencies.
fn asked_features(manifest: &str) -> Vec<String> {
    let lines = manifest
        .lines()
        .filter(|line| line.contains("features") && !line.trim_start().starts_with('['));
    lines.flat_map(quoted).map(str::to_owned).collect()
}

/// Returns the strings in double quotes.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('"').skip(1).step_by(2)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;

    fn settings(command: &str, files: &[(&str, &str)]) -> Settings {
        let room = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let place = room.path().join(path);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::write(place, text).unwrap();
        }
        let words: Vec<OsString> = command.split(' ').map(OsString::from).collect();
        Settings::of(
            room.path(),
            Path::new(""),
            files.iter().map(|(path, _)| (*path).to_owned()).collect(),
            &words,
        )
    }

    #[test]
    fn features_are_those_that_the_command_and_the_default_turn_on() {
        let manifest = "[package]\nname = \"a\"\n[features]\ndefault = [\"std\"] # all\nstd = [\n  \"alloc\",\n]\nalloc = []\nextra = []\n";
        let of = |command: &str| {
            let own = settings(command, &[("Cargo.toml", manifest), ("src/lib.rs", "")]);
            own.here("src/lib.rs").features.map(|own| own.into_iter().collect::<Vec<_>>())
        };
        assert_eq!(of("cargo test").unwrap(), ["alloc", "default", "std"]);
        assert_eq!(of("cargo test --no-default-features -F extra").unwrap(), ["extra"]);
        assert_eq!(of("cargo test --all-features"), None);
    }

    #[test]
    fn modules_of_other_systems_and_examples_are_known() {
        let files = [
            ("src/lib.rs", "#[cfg(windows)]\nmod win;\n#[cfg(unix)]\nmod nix;\n"),
            ("src/win/mod.rs", ""),
            ("src/nix.rs", ""),
            ("examples/a.go", ""),
            ("_examples/b/b.go", ""),
            ("_examples/b/b_test.go", ""),
        ];
        let own = settings("go test -tags=one,two ./...", &files);
        assert_eq!(own.here("a.go").tags, ["one", "two"].map(str::to_owned).into());
        if cfg!(unix) {
            assert!(own.absent(Language::Rust, "src/win/mod.rs").is_some());
        }
        assert!(own.absent(Language::Rust, "src/nix.rs").is_none());
        assert_eq!(own.beside(Language::Go, "examples/a.go"), Some("an example"));
        assert_eq!(own.beside(Language::Go, "_examples/b/b.go"), None);
    }

    #[test]
    fn nested_go_modules_are_not_tested_by_their_parents() {
        let files = [
            ("go.mod", "module a\n"),
            ("a.go", ""),
            ("tools/go.mod", "module a/tools\n"),
            ("tools/b/b.go", ""),
            ("toolsother/c.go", ""),
        ];
        let absent = |command: &str, extra: &[(&str, &str)], path: &str| {
            let all: Vec<_> = files.iter().chain(extra).copied().collect();
            settings(command, &all).absent(Language::Go, path)
        };
        let tests = "go test ./...";
        let why = absent(tests, &[], "tools/b/b.go");
        assert_eq!(why.unwrap(), "of another Go module, tools");
        for path in ["a.go", "toolsother/c.go"] {
            assert_eq!(absent(tests, &[], path), None, "{path}");
        }
        // A script may test every module, and a workspace may build them together.
        assert_eq!(absent("make test", &[], "tools/b/b.go"), None);
        assert_eq!(absent(tests, &[("go.work", "")], "tools/b/b.go"), None);
    }
}
