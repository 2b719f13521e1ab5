//! What each Go test uses: the code that it entered, from Go's coverage of a separate run of the
//! test; the files that it opened, from the log that Go keeps for its test cache; and the files
//! from which its program is built, from `go list`.

use super::{Program, below, place, top_of};
use crate::asking::Answer;
use crate::run::Test;
use assay_data::path::without_dots;
use assay_data::seen::{Started, SuiteUsage, Used};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs::{self, Metadata};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A script that runs a test program, and then each of its tests separately.
pub(crate) const RUNNER: &str = r#"#!/bin/sh
# $1: where to leave what tests use; $2: words for `go list`; then the program and its arguments.
seen=$1/$$ words=$2 program=$3
shift 3
mkdir "$seen" || exec "$program" "$@"
pwd -P > "$seen/directory"
echo "$program" > "$seen/program"
fields=ImportPath,Dir,Standard,GoFiles,CgoFiles,CFiles,CXXFiles,MFiles,HFiles,FFiles,SFiles,SwigFiles,SwigCXXFiles,SysoFiles,EmbedFiles
fields=$fields,TestGoFiles,XTestGoFiles,TestEmbedFiles,XTestEmbedFiles,Deps
go list -e -deps -test -json=$fields $words . > "$seen/packages" 2> /dev/null < /dev/null &
"$program" -test.coverprofile="$seen/profile" "$@"
status=$?
[ -f "$seen/profile" ] && grep -v ' 0$' "$seen/profile" > "$seen/.cover"
wait
# It crashed, or took too long: what its tests use is not asked.
[ $status -gt 1 ] && exit $status
# What chooses tests, or was for that run, is not for those of single tests.
leading=1 chosen=. count=$#
while [ $count -gt 0 ]; do
    word=$1 count=$((count - 1))
    shift
    case $leading$word in
    1-test.run=*)
        chosen=${word#-test.run=}
        chosen=${chosen%%/*}
        continue
        ;;
    1-test.gocoverdir=* | 1-test.testlogfile=* | 1-test.bench=* | 1-test.v=* | 1-test.shuffle=* | 1-test.*profile=*) continue ;;
    1-test.*) ;;
    *) leading= ;;
    esac
    set -- "$@" "$word"
done
listed=$("$program" -test.list="$chosen" "$@" 2> /dev/null < /dev/null | grep -E '^(Test|Example|Fuzz)[^[:space:]]*$')
for test in $listed; do
    mkdir "$seen/counts"
    "$program" -test.run="^$test\$" -test.gocoverdir="$seen/counts" -test.coverprofile="$seen/profile" -test.testlogfile="$seen/$test.log" "$@" \
        > /dev/null 2>&1 < /dev/null
    if [ -f "$seen/profile" ]; then
        [ -f "$seen/counted" ] || cut -d: -f1 "$seen/profile" | sort -u > "$seen/counted"
        # What was not executed says nothing.
        grep -v ' 0$' "$seen/profile" > "$seen/$test.cover"
    fi
    rm -rf "$seen/counts" "$seen/profile"
done
exit $status
"#;

/// Suffix that `go list` appends to a package's path for its test program.
const PROGRAM: &str = ".test";

/// A package in the output of `go list`.
#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
struct Package {
    import_path: String,
    dir: PathBuf,
    standard: bool,
    go_files: Vec<String>,
    cgo_files: Vec<String>,
    c_files: Vec<String>,
    #[serde(rename = "CXXFiles")]
    cxx_files: Vec<String>,
    m_files: Vec<String>,
    h_files: Vec<String>,
    f_files: Vec<String>,
    s_files: Vec<String>,
    swig_files: Vec<String>,
    #[serde(rename = "SwigCXXFiles")]
    swig_cxx_files: Vec<String>,
    syso_files: Vec<String>,
    embed_files: Vec<String>,
    test_go_files: Vec<String>,
    x_test_go_files: Vec<String>,
    test_embed_files: Vec<String>,
    x_test_embed_files: Vec<String>,
    deps: Vec<String>,
}

impl Package {
    /// Returns the import path: `P [P.test]` is P as compiled for the tests of P.
    fn path(&self) -> &str {
        bare(&self.import_path)
    }

    /// Returns the Go files whose code is counted.
    fn sources(&self) -> impl Iterator<Item = &String> {
        let all = self.go_files.iter().chain(&self.cgo_files);
        all.filter(|file| !file.ends_with("_test.go"))
    }

    /// Returns all other files that the package is built from.
    fn others(&self) -> impl Iterator<Item = &String> {
        let all = [&self.c_files, &self.cxx_files, &self.m_files, &self.h_files, &self.f_files];
        let more = [&self.s_files, &self.swig_files, &self.swig_cxx_files, &self.syso_files];
        all.into_iter().chain(more).flatten().chain(&self.embed_files)
    }
}

fn bare(path: &str) -> &str {
    path.split(' ').next().unwrap_or_default()
}

/// Returns the module path declared in a `go.mod`.
fn module(text: &str) -> Option<String> {
    let own = text.lines().find_map(|line| line.trim().strip_prefix("module "))?;
    let own = own.split("//").next().unwrap_or_default();
    Some(own.trim().trim_matches('"').to_owned())
}

fn read(directory: &Path, name: &str) -> Option<String> {
    fs::read_to_string(directory.join(name)).ok()
}

/// Returns the patterns of all modules whose code is counted, separated by commas: those in
/// `go.work`, or, if there is none, the module that contains `directory`. `None` if there is no
/// module.
pub(crate) fn modules(directory: &Path) -> Option<String> {
    let directory = directory.canonicalize().ok()?;
    let pattern = |text: String| module(&text).map(|own| format!("{own}/..."));
    let of_work = directory.ancestors().find_map(|own| Some((own, read(own, "go.work")?)));
    if let Some((above, text)) = of_work {
        // `use ./a`, or a line within `use ( … )`.
        let lines = text.lines().map(str::trim);
        let words = lines.map(|line| line.strip_prefix("use ").unwrap_or(line).trim());
        let places = words.filter(|word| word.starts_with('.') || word.starts_with('/'));
        let all: Vec<String> =
            places.filter_map(|own| pattern(read(&above.join(own), "go.mod")?)).collect();
        return (!all.is_empty()).then(|| all.join(","));
    }
    pattern(directory.ancestors().find_map(|own| read(own, "go.mod"))?)
}

/// Returns true if a package belongs to the module that contains `directory`, and the package's
/// directory exists.
pub(crate) fn is_there(directory: &Path, package: &str) -> bool {
    place_of(directory, package).is_some_and(|own| own.is_dir())
}

/// Returns the directory of a package of the module that contains `directory`; `None` if the
/// package belongs to another module.
fn place_of(directory: &Path, package: &str) -> Option<PathBuf> {
    let directory = directory.canonicalize().ok()?;
    let around = directory.ancestors().find_map(|own| Some((own, module(&read(own, "go.mod")?)?)));
    let (top, module) = around?;
    let rest = package.strip_prefix(&module)?;
    (rest.is_empty() || rest.starts_with('/')).then(|| top.join(rest.trim_start_matches('/')))
}

/// Returns the file that contains each test, relative to `directory`, since `go test` identifies
/// tests only by package; `None` if the test is not in the module that contains `directory`, or its
/// file is not found.
pub(crate) fn files(directory: &Path, tests: &[&str]) -> Vec<Option<String>> {
    let package = |test: &str| Some(test.split_once(": ")?.0.to_owned());
    let packages: BTreeSet<String> = tests.iter().filter_map(|test| package(test)).collect();
    let packages: HashMap<String, _> =
        packages.into_iter().map(|own| (own.clone(), files_of(directory, &own))).collect();
    let file = |test: &&str| {
        let (package, name) = test.split_once(": ")?;
        packages.get(package)?.get(name.split('/').next()?).cloned()
    };
    tests.iter().map(file).collect()
}

fn files_of(directory: &Path, package: &str) -> HashMap<String, String> {
    let (Ok(here), Some(place)) = (directory.canonicalize(), place_of(directory, package)) else {
        return HashMap::new();
    };
    let mut files = HashMap::new();
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_of_tests = entry.file_name().to_string_lossy().ends_with("_test.go");
        let Some(file) = below(&here, &path).filter(|_| is_of_tests) else { continue };
        let text = fs::read_to_string(&path).unwrap_or_default();
        files.extend(tests_of(&text).into_iter().map(|own| (own, file.clone())));
    }
    files
}

/// Returns the functions of a file: their names, or `None` for methods, and their first lines.
/// `gofmt` puts each at the beginning of a line.
fn functions(text: &str) -> impl Iterator<Item = (Option<&str>, u32)> {
    (1..).zip(text.lines()).filter_map(|(number, line)| {
        let rest = line.strip_prefix("func ")?.trim_start();
        let name = rest.split(|c: char| !is_of_word(c)).next().filter(|name| !name.is_empty());
        Some((name, number))
    })
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns the names of the test functions in a file.
pub(crate) fn tests_of(text: &str) -> Vec<String> {
    let names = functions(text).filter_map(|(name, _)| name);
    names.filter(|name| is_test(name)).map(str::to_owned).collect()
}

fn is_test(name: &str) -> bool {
    let kinds = ["Test", "Example", "Fuzz", "Benchmark"];
    let rest = kinds.iter().find_map(|kind| name.strip_prefix(kind));
    rest.is_some_and(|rest| !rest.starts_with(char::is_lowercase)) && name != "TestMain"
}

/// Returns the usage by the tests of a run, and sets the files of the tests. Empty if usage was not
/// requested.
pub(crate) fn seen(answer: &Answer<'_>, tests: &mut [Test]) -> SuiteUsage {
    let Some(top) = top_of(answer) else { return SuiteUsage::default() };
    let here = answer.directory.canonicalize().ok();
    // `go test` reports only the package of each test.
    tests.iter_mut().for_each(|test| test.file = None);
    let mut named: HashMap<(String, String), Vec<usize>> = HashMap::new();
    for (index, test) in tests.iter().enumerate() {
        if let Some((package, name)) = test.name.split_once(": ") {
            let function = name.split('/').next().unwrap_or_default();
            named.entry((package.to_owned(), function.to_owned())).or_default().push(index);
        }
    }
    let mut seen = SuiteUsage::default();
    for entry in fs::read_dir(place(answer.room)).into_iter().flatten().flatten() {
        let room = entry.path();
        let Some(mut own) = ProgramUsage::read(&room, &top) else { continue };
        for (name, (file, used)) in own.tests {
            let Some(indices) = named.get(&(own.package.clone(), name)) else { continue };
            let file = here.as_ref().and_then(|here| below(here, &top.join(file)));
            for index in indices {
                let test = &mut tests[*index];
                test.file.clone_from(&file);
                let used = used.clone().map(|used| (test.name.clone(), used));
                own.program.process.tests.extend(used);
            }
        }
        seen.processes.push(own.program.process);
    }
    seen
}

/// The usage recorded for one program.
struct ProgramUsage<'a> {
    top: &'a Path,
    /// Directory that the runner wrote to.
    room: &'a Path,
    /// Path of the package.
    package: String,
    directory: PathBuf,
    program: Program,
    /// First lines of the functions of each file, ascending.
    begins: HashMap<u32, Vec<u32>>,
    /// For each test function, its file and its usage, if recorded.
    tests: BTreeMap<String, (String, Option<Used>)>,
}

impl<'a> ProgramUsage<'a> {
    fn read(room: &'a Path, top: &'a Path) -> Option<Self> {
        let directory = fs::read_to_string(room.join("directory")).ok()?;
        let directory = PathBuf::from(directory.trim_end_matches('\n'));
        let text = fs::read_to_string(room.join("packages")).ok()?;
        // An incomplete list would report too little usage.
        let all: Vec<Package> =
            serde_json::Deserializer::from_str(&text).into_iter().collect::<Result<_, _>>().ok()?;
        let packages: HashMap<&str, &Package> =
            all.iter().map(|own| (own.import_path.as_str(), own)).collect();
        let program_of = |own: &Package| packages.get(&*format!("{}{PROGRAM}", own.import_path));
        let own = packages.values().find(|own| {
            program_of(own).is_some() && own.dir.canonicalize().is_ok_and(|own| own == directory)
        })?;
        let (package, program) = (own.import_path.clone(), Program::default());
        let (begins, tests) = Default::default();
        let mut of = Self { top, room, package, directory, program, begins, tests };
        of.built(own, &packages, &program_of(own)?.deps);
        let directories = all.iter().map(|own| (own.path(), own.dir.as_path())).collect();
        of.of_tests(own, &directories);
        Some(of)
    }

    fn path(&self, directory: &Path, file: &str) -> Option<String> {
        below(self.top, &directory.canonicalize().ok()?.join(file))
    }

    /// Adds the files that the program is built from: the code outside of functions for sources,
    /// and everything for other files. In sources without coverage counters every function is
    /// assumed to be entered.
    fn built(&mut self, own: &Package, packages: &HashMap<&str, &Package>, deps: &[String]) {
        let counted = fs::read_to_string(self.room.join("counted")).unwrap_or_default();
        let counted: HashSet<&str> = counted.lines().collect();
        let reached: BTreeMap<&str, &Package> = deps
            .iter()
            .filter_map(|path| Some((bare(path), *packages.get(path.as_str())?)))
            .collect();
        for package in reached.values().filter(|own| !own.standard) {
            for file in package.sources() {
                let Some(path) = self.path(&package.dir, file) else { continue };
                let number = self.program.number(&path);
                let outside = &mut self.program.process.outside;
                outside.loads.push(number);
                if !counted.contains(&*format!("{}/{file}", package.path())) {
                    let text = fs::read_to_string(self.top.join(path)).unwrap_or_default();
                    let lines = functions(&text).map(|(_, line)| line).collect();
                    outside.blocks.insert(number, lines);
                }
            }
            for file in package.others() {
                let path = self.path(&package.dir, file);
                self.program.process.outside.builds.extend(path);
            }
        }
        for file in own.test_embed_files.iter().chain(&own.x_test_embed_files) {
            let path = self.path(&own.dir, file);
            self.program.process.outside.builds.extend(path);
        }
    }

    /// Adds what each test used.
    fn of_tests(&mut self, own: &Package, directories: &HashMap<&str, &Path>) {
        let mut texts = Vec::new();
        for file in own.test_go_files.iter().chain(&own.x_test_go_files) {
            let Some(path) = self.path(&own.dir, file) else { continue };
            let text = fs::read_to_string(self.top.join(&path)).unwrap_or_default();
            texts.push((self.program.number(&path), path, text));
        }
        // A test function named elsewhere may be called, or started as a program.
        let mut times: HashMap<&str, u32> = HashMap::new();
        for (_, _, text) in &texts {
            let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
            for word in code.flat_map(|line| line.split(|c| !is_of_word(c))) {
                *times.entry(word).or_default() += 1;
            }
        }
        // Code that is not part of a test may be used by every test.
        let mut shared = Used::default();
        let mut own_lines = Vec::new();
        for (number, path, text) in &texts {
            shared.loads.push(*number);
            let lines = shared.blocks.entry(*number).or_default();
            for (name, line) in functions(text) {
                let test = name.filter(|name| is_test(name));
                if let Some(name) = test {
                    own_lines.push((name, *number, path, line));
                }
                if test.is_none_or(|name| times.get(name).is_none_or(|times| *times > 1)) {
                    lines.push(line);
                }
            }
        }
        let counted: Vec<Option<Used>> =
            own_lines.iter().map(|own| self.counted(own.0, directories)).collect();
        let mut together = self.lines("", directories).unwrap_or_default();
        for (number, lines) in &mut together {
            let alone = counted.iter().flatten().filter_map(|own| own.blocks.get(number)).flatten();
            let alone: HashSet<&u32> = alone.collect();
            lines.retain(|line| !alone.contains(line));
        }
        self.program.process.outside.add(&Used { blocks: together, ..Used::default() });
        for ((name, number, path, line), used) in own_lines.into_iter().zip(counted) {
            let used = used.map(|mut used| {
                used.add(&shared);
                used.blocks.entry(number).or_default().push(line);
                // The expected output of an example is a comment.
                if name.starts_with("Example") {
                    used.builds.push(path.clone());
                }
                used
            });
            self.tests.insert(name.to_owned(), (path.clone(), used));
        }
    }

    /// Returns the code that a test entered and the files it opened; `None` if it was not recorded.
    fn counted(&mut self, name: &str, directories: &HashMap<&str, &Path>) -> Option<Used> {
        let mut used = Used { blocks: self.lines(name, directories)?, ..Used::default() };
        self.opened(name, &mut used);
        Some(used)
    }

    /// Returns the first lines of the functions that a test entered, by file; without a name, those
    /// of all tests together.
    fn lines(
        &mut self,
        name: &str,
        directories: &HashMap<&str, &Path>,
    ) -> Option<BTreeMap<u32, Vec<u32>>> {
        let text = fs::read_to_string(self.room.join(format!("{name}.cover"))).ok()?;
        let mut lines: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        let mut paths: HashMap<&str, Option<u32>> = HashMap::new();
        for line in text.lines() {
            // `example.com/a/b.go:10.2,12.3 1 1`; the first line of the file is the coverage mode.
            let Some((file, place)) = line.rsplit_once(':') else { continue };
            let line = place.split('.').next().and_then(|line| line.parse().ok());
            let Some(line) = line else { continue };
            let number = paths.entry(file).or_insert_with(|| {
                let (package, base) = file.rsplit_once('/')?;
                let path = self.path(directories.get(package)?, base)?;
                Some(self.program.number(&path))
            });
            let Some(number) = *number else { continue };
            let begins = self.begins(number);
            let before = begins.partition_point(|begin| *begin <= line);
            // Code before all functions is counted on its own line.
            let begin = before.checked_sub(1).and_then(|own| begins.get(own).copied());
            let own = lines.entry(number).or_default();
            let begin = begin.unwrap_or(line);
            // Entries of one function are adjacent.
            if own.last() != Some(&begin) {
                own.push(begin);
            }
        }
        Some(lines)
    }

    fn begins(&mut self, number: u32) -> &[u32] {
        let (top, sources) = (self.top, &self.program.process.sources);
        self.begins.entry(number).or_insert_with(|| {
            let text = sources.get(&number).map(|path| fs::read_to_string(top.join(path)));
            let text = text.and_then(Result::ok).unwrap_or_default();
            functions(&text).map(|(_, line)| line).collect()
        })
    }

    /// Adds the files and variables that a test accessed, according to Go's log.
    fn opened(&self, name: &str, used: &mut Used) {
        let Ok(log) = fs::read_to_string(self.room.join(format!("{name}.log"))) else {
            used.unseen = Some("what it opens is not known".to_owned());
            return;
        };
        let program = fs::read_to_string(self.room.join("program")).unwrap_or_default();
        let program = Path::new(program.trim_end_matches('\n'));
        let mut here = self.directory.clone();
        let mut opens = BTreeSet::new();
        let mut lists = BTreeSet::new();
        let mut spawns = BTreeSet::new();
        for line in log.lines() {
            let Some((what, path)) = line.split_once(' ') else { continue };
            if !matches!(what, "open" | "stat" | "chdir") {
                continue;
            }
            let path = without_dots(&here.join(path));
            let is_ours = path.starts_with(self.room.parent().unwrap_or(self.room));
            if what == "chdir" {
                here = path;
                continue;
            }
            if path == program {
                used.unseen = Some("it starts its own program".to_owned());
                continue;
            }
            let metadata = fs::metadata(&path).ok();
            let is_directory = metadata.as_ref().is_some_and(Metadata::is_dir);
            // Programs are looked up before they are started.
            let runs = |own: &Metadata| own.is_file() && own.permissions().mode() & 0o111 != 0;
            if metadata.as_ref().is_some_and(runs) {
                spawns.insert(path.display().to_string());
            }
            let Some(path) = below(self.top, &path).filter(|_| !is_ours) else { continue };
            match (is_directory, what) {
                (false, _) => drop(opens.insert(path)),
                (true, "open") => drop(lists.insert(path)),
                (true, _) => {}
            }
        }
        used.opens = opens.into_iter().collect();
        used.lists = lists.into_iter().collect();
        // The log contains neither their arguments nor their directories.
        let spawned = |program: String| Started { words: vec![program], place: None, is_cut: true };
        used.spawns = spawns.into_iter().map(spawned).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_and_tests_are_found_in_a_file() {
        let text = "package a\n\nfunc TestA(t *testing.T) {\n}\n\nfunc (s *S) TestB() {}\nfunc help[T any]() {}\nfunc Testing() {}\n";
        let all: Vec<_> = functions(text).collect();
        assert_eq!(all, [(Some("TestA"), 3), (None, 6), (Some("help"), 7), (Some("Testing"), 8)]);
        assert_eq!(tests_of(text), ["TestA"]);
        assert!(is_test("Test_x") && is_test("Example") && !is_test("TestMain"));
        assert_eq!(without_dots(Path::new("/a/./b/../c")), Path::new("/a/c"));
    }

    #[test]
    fn modules_are_those_of_the_work_or_of_the_directory() {
        let room = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = room.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("a/go.mod", "// about\nmodule example.com/a // it\n\ngo 1.20\n");
        write("a/deep/x.go", "package deep\n");
        write("b/go.mod", "module \"example.com/b\"\n");
        assert_eq!(modules(&room.path().join("a/deep")).unwrap(), "example.com/a/...");
        assert!(is_there(&room.path().join("a"), "example.com/a/deep"));
        assert!(!is_there(&room.path().join("a"), "example.com/a/gone"));
        assert!(!is_there(&room.path().join("a"), "example.com/about"));
        write("go.work", "go 1.20\n\nuse (\n\t./a\n\t./b\n)\n");
        let both = "example.com/a/...,example.com/b/...";
        assert_eq!(modules(&room.path().join("a/deep")).unwrap(), both);
    }
}
