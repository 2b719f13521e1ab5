//! What the tests of `cargo test` use: the packages from which their program is built, according to
//! cargo, and the other files that the compiler read. Finding out what a single test executes would
//! require building everything again with instrumentation.
//!
//! Files opened by running tests are not recorded. A program is therefore assumed to use all files
//! of its packages, and those that belong to no package.

use super::{Program, below, place, top_of};
use crate::asking::Answer;
use assay_data::seen::{SuiteUsage, Used};
use serde::Deserialize;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Commands that the test program's runner executes first if usage is requested: they record the
/// working directory and the crate whose tests `rustdoc` runs, and once per run the output of
/// `cargo metadata`.
pub(crate) const RUNNER: &str = r#"
seen=${events%/*}/seen
if [ -d "$seen" ]; then
    crate= before=
    for word in "$@"; do
        [ "$before" = --crate-name ] && crate=$word
        before=$word
    done
    printf '%s\n%s\n' "$(pwd -P)" "$crate" > "$seen/$$"
    [ -f "$seen/packages" ] || "${CARGO:-cargo}" metadata --no-deps --offline --format-version 1 > "$seen/packages" 2> /dev/null < /dev/null
fi
"#;

/// The output of `cargo metadata`.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

/// A package of the workspace.
#[derive(Deserialize)]
struct Package {
    manifest_path: PathBuf,
    dependencies: Vec<Dependency>,
    targets: Vec<Target>,
}

/// A dependency; those within the project have a path.
#[derive(Deserialize)]
struct Dependency {
    kind: Option<String>,
    path: Option<PathBuf>,
}

/// A build target.
#[derive(Deserialize)]
struct Target {
    name: String,
}

impl Package {
    /// Returns the names of the package's crates as used by the compiler.
    fn crates(&self) -> impl Iterator<Item = String> {
        self.targets.iter().map(|own| own.name.replace('-', "_"))
    }
}

/// The packages that programs are built from.
pub(crate) struct Packages {
    top: PathBuf,
    room: PathBuf,
    /// The packages by directory.
    all: HashMap<PathBuf, Package>,
}

impl Packages {
    /// Reads the packages, if usage was requested and cargo listed them.
    pub fn of(answer: &Answer<'_>) -> Option<Self> {
        let top = top_of(answer)?;
        let room = place(answer.room);
        let told: Metadata =
            serde_json::from_str(&fs::read_to_string(room.join("packages")).ok()?).ok()?;
        let all = told.packages.into_iter().filter_map(|own| {
            let directory = own.manifest_path.parent()?.canonicalize().ok()?;
            Some((directory, own))
        });
        Some(Self { top, all: all.collect(), room })
    }

    /// Adds what the tests of a program use; the program ran with the process ID `process`.
    pub fn add(&self, seen: &mut SuiteUsage, process: &str, program: &Path, tests: Vec<String>) {
        let Some(builds) = self.builds(process, program) else { return };
        let mut of = Program::default();
        of.process.outside = Used { builds, ..Used::default() };
        of.process.tests = tests.into_iter().map(|name| (name, Used::default())).collect();
        seen.processes.push(of.process);
    }

    /// Returns the files that a program is built from.
    fn builds(&self, process: &str, program: &Path) -> Option<Vec<String>> {
        let text = fs::read_to_string(self.room.join(process)).ok()?;
        let mut lines = text.lines();
        let (directory, name) = (PathBuf::from(lines.next()?), lines.next()?);
        // rustdoc names the crate that it tests; cargo starts other programs in their package's
        // directory.
        let own = match name.is_empty() {
            true => directory,
            false => {
                let is_own = |(_, own): &(&PathBuf, &Package)| own.crates().any(|own| own == name);
                self.all.iter().find(is_own)?.0.clone()
            }
        };
        self.all.get(&own)?;
        let reached = self.reached(own);
        let mut extent = Vec::new();
        let mut is_at_top = false;
        for directory in reached.iter().chain(self.all.keys()) {
            let Some(path) = below(&self.top, directory) else { continue };
            is_at_top |= path.is_empty();
            let mark = if reached.contains(directory) { "" } else { "!" };
            let slash = if path.is_empty() { "" } else { "/" };
            extent.push(format!("{mark}{path}{slash}**"));
        }
        // Any program may read files that are in no package.
        if !is_at_top {
            extent.push("**".to_owned());
        }
        extent.sort();
        extent.dedup();
        let crates = reached.iter().filter_map(|own| self.all.get(own)).flat_map(Package::crates);
        let mut builds = self.compiled(program, &crates.collect());
        builds.insert(extent.join(":"));
        Some(builds.into_iter().collect())
    }

    /// Returns the directories of the project's packages that a package is built from, including
    /// its own.
    fn reached(&self, own: PathBuf) -> BTreeSet<PathBuf> {
        let mut reached = BTreeSet::from([own.clone()]);
        let mut next = vec![(own, true)];
        while let Some((directory, is_own)) = next.pop() {
            let all = self.all.get(&directory).map_or(&[][..], |own| &own.dependencies);
            // Dev-dependencies of other packages are not built for this one.
            let counts = |own: &&Dependency| is_own || own.kind.as_deref() != Some("dev");
            for path in all.iter().filter(counts).filter_map(|own| own.path.as_ref()) {
                if let Ok(path) = path.canonicalize()
                    && reached.insert(path.clone())
                {
                    next.push((path, false));
                }
            }
        }
        reached
    }

    /// Returns the files that the compiler read for these crates, from its dep-info files next to
    /// the program; all of them are included because it is unknown which are part of the program.
    fn compiled(&self, program: &Path, crates: &HashSet<String>) -> BTreeSet<String> {
        let mut read = BTreeSet::new();
        let directory = program.parent().unwrap_or(Path::new("."));
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let Some(name) = name.to_str().and_then(|name| name.strip_suffix(".d")) else {
                continue;
            };
            let name = name.rsplit_once('-').map_or(name, |(name, _)| name);
            if crates.contains(name) {
                let text = fs::read_to_string(entry.path()).unwrap_or_default();
                read.extend(files_of(&text).iter().filter_map(|path| self.of_project(path)));
            }
        }
        read
    }

    /// Returns a file named by the compiler relative to the top; the compiler runs in the
    /// workspace's directory.
    fn of_project(&self, path: &str) -> Option<String> {
        let places = [PathBuf::from(path), self.top.join(path)];
        let workspace = self
            .all
            .keys()
            .filter_map(|own| own.ancestors().find(|own| own.join("Cargo.lock").is_file()));
        let more = workspace.map(|own| own.join(path));
        let found = places.into_iter().chain(more).find_map(|own| own.canonicalize().ok())?;
        below(&self.top, &found)
    }
}

/// Returns the files after the colon on each line of a dep-info file, which is in `make` format.
fn files_of(text: &str) -> BTreeSet<String> {
    let mut files = BTreeSet::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let Some((_, needs)) = line.split_once(": ") else { continue };
        // A space within a name is escaped with a backslash.
        let needs = needs.replace("\\ ", "\0");
        files.extend(needs.split_whitespace().map(|file| file.replace('\0', " ")));
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_compiler_names_files_as_make_does() {
        let text = "/t/deps/a-1.d: src/lib.rs src/with\\ blank.rs\n\n/t/deps/a-1: src/lib.rs\n\nsrc/lib.rs:\n# env-dep:A=b: c\n";
        let files: Vec<_> = files_of(text).into_iter().collect();
        assert_eq!(files, ["src/lib.rs", "src/with blank.rs"]);
    }

    #[test]
    fn a_program_is_built_from_its_packages_and_what_they_need() {
        let room = tempfile::tempdir().unwrap();
        let top = room.path().canonicalize().unwrap();
        let package = |name: &str, needs: &[(&str, Option<&str>)]| {
            fs::create_dir_all(top.join(name)).unwrap();
            let dependencies = needs.iter().map(|(path, kind)| Dependency {
                kind: kind.map(str::to_owned),
                path: Some(top.join(path)),
            });
            let own = Package {
                manifest_path: top.join(name).join("Cargo.toml"),
                dependencies: dependencies.collect(),
                targets: vec![Target { name: name.to_owned() }],
            };
            (top.join(name), own)
        };
        for name in ["a", "b", "c", "d"] {
            fs::create_dir_all(top.join(name)).unwrap();
        }
        let all = HashMap::from([
            package("a", &[("b", None), ("c", Some("dev"))]),
            package("b", &[("d", Some("dev"))]),
            package("c", &[]),
            package("d", &[]),
        ]);
        fs::write(top.join("7"), format!("{}\n\n", top.join("a").display())).unwrap();
        fs::write(top.join("8"), format!("{}\nb\n", top.display())).unwrap();
        let packages = Packages { room: top.clone(), top, all };
        let of = |process: &str| packages.builds(process, Path::new("/nowhere/a-1")).unwrap();
        assert_eq!(of("7"), ["!d/**:**:a/**:b/**:c/**"]);
        assert_eq!(of("8"), ["!a/**:!c/**:**:b/**:d/**"]);
    }
}
