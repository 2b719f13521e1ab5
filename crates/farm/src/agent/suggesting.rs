//! Suggests, based on a version's files, commands that install its dependencies and run its tests.
//! Uses only the names of files, and whether they contain certain words. A recipe takes precedence.

mod requirements;

use super::runtimes::Runtime;
use assay_farm::builds::wire::Recipe;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Maximum number of bytes of a file that are read.
const MOST_TEXT: u64 = 1 << 20;
/// Maximum number of test files looked at.
const MOST_FILES: usize = 200;

/// The commands that are run for a version, one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Steps {
    /// Shell lines that install the version and its dependencies.
    pub install: Vec<String>,
    /// True if the project specified install lines of its own, so that a missing program is the
    /// project's fault.
    pub is_own_install: bool,
    /// The command that runs the tests.
    pub test: Option<String>,
    pub is_own_test: bool,
}

/// Returns the steps of the recipe; those that it lacks are suggested from the files at `top`.
/// `gem` is the gem that contained these files.
pub(super) fn steps(recipe: &Recipe, top: &Path, runtime: &Runtime, gem: Option<&Path>) -> Steps {
    let suggested = match runtime.name {
        "ruby" => ruby(top, gem),
        "python" => python(top, recipe),
        "node" => node(top),
        "go" => go(top),
        "rust" => rust(top),
        _ => None,
    };
    let suggested = suggested.or_else(|| cmake(top)).unwrap_or_default();
    let is_own_install = !recipe.install.is_empty();
    let mut install = suggested.install;
    if is_own_install {
        // The recipe installs to the same place as the suggested dependencies, so that tools for
        // tests are already there.
        install.retain(|_| runtime.name == "python");
        install.extend(recipe.install.iter().cloned());
    }
    Steps {
        install,
        is_own_install,
        test: recipe.test.clone().or(suggested.test),
        is_own_test: recipe.test.is_some(),
    }
}

fn suggested(install: Vec<String>, test: Option<&str>) -> Option<Steps> {
    Some(Steps { install, test: test.map(str::to_owned), ..Steps::default() })
}

/// Returns true if a file or directory exists in the version and is not a link.
fn is_there(top: &Path, name: &str) -> bool {
    fs::symlink_metadata(top.join(name)).is_ok_and(|own| !own.file_type().is_symlink())
}

/// Returns the beginning of a file's text; empty if it is not a regular file of the version.
fn text_of(path: &Path) -> String {
    if !fs::symlink_metadata(path).is_ok_and(|own| own.is_file()) {
        return String::new();
    }
    let mut text = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MOST_TEXT).read_to_end(&mut text));
    read.map_or_else(|_| String::new(), |_| String::from_utf8_lossy(&text).into_owned())
}

fn has_text(path: &Path, words: &[&str]) -> bool {
    let text = text_of(path);
    words.iter().any(|word| text.contains(word))
}

/// Returns the files in a directory and its subdirectories whose names end with `ending`, at most
/// [`MOST_FILES`].
fn below(directory: &Path, ending: &str) -> Vec<PathBuf> {
    let (mut open, mut found) = (vec![directory.to_owned()], Vec::new());
    let is_meant = |own: &fs::DirEntry| own.file_name().to_string_lossy().ends_with(ending);
    while let Some(path) = open.pop() {
        for entry in fs::read_dir(&path).into_iter().flatten().flatten() {
            if found.len() >= MOST_FILES || open.len() > MOST_FILES {
                return found;
            }
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => open.push(entry.path()),
                Ok(kind) if kind.is_file() && is_meant(&entry) => found.push(entry.path()),
                _ => {}
            }
        }
    }
    found.sort();
    found
}

fn ruby(top: &Path, gem: Option<&Path>) -> Option<Steps> {
    let mut install = Vec::new();
    match gem {
        // The dependencies of a gem are installed along with it.
        Some(file) => {
            let file = shell_words::quote(&file.to_string_lossy()).into_owned();
            install.push(format!("gem install --no-document --conservative {file}"));
        }
        None if is_there(top, "Gemfile") => {
            install.push("bundle install --quiet".to_owned());
        }
        None if below(top, ".gemspec").is_empty() && !is_there(top, "Rakefile") => return None,
        None => {}
    }
    let exec = if gem.is_none() && is_there(top, "Gemfile") { "bundle exec " } else { "" };
    let has_task = |task: &str| has_text(&top.join("Rakefile"), &[task]);
    // In the same order in which the first tinderbox tried them.
    let test = if is_there(top, "spec") && !has_task("TestTask") {
        Some(format!("{exec}rspec"))
    } else if has_task("TestTask") {
        Some(format!("{exec}rake test"))
    } else {
        let is_test = |own: &PathBuf| {
            let name = own.file_name().unwrap_or_default().to_string_lossy().into_owned();
            name.starts_with("test_") || name.ends_with("_test.rb")
        };
        let files: Vec<PathBuf> =
            below(&top.join("test"), ".rb").into_iter().filter(is_test).collect();
        (!files.is_empty()).then(|| {
            let load =
                "Dir['test/**/{test_*,*_test}.rb'].sort.each { |f| require File.expand_path(f) }";
            format!("{exec}ruby -Ilib -Itest -e \"{load}\"")
        })
    };
    suggested(install, test.as_deref())
}

/// Creates a virtual environment that can use system-wide packages, so that a common framework need
/// not be downloaded.
const VENV: &str = "python3 -m venv --system-site-packages \"$HOME/venv\"";

fn python(top: &Path, recipe: &Recipe) -> Option<Steps> {
    let is_package =
        ["pyproject.toml", "setup.py", "setup.cfg"].iter().any(|own| is_there(top, own));
    let place = ["tests", "test"].into_iter().find(|own| is_there(top, own));
    let beside = fs::read_dir(top).into_iter().flatten().flatten().any(|own| {
        let name = own.file_name().to_string_lossy().into_owned();
        name.starts_with("test_") && name.ends_with(".py")
    });
    let files = place.map_or_else(Vec::new, |own| below(&top.join(own), ".py"));
    let is_own = !recipe.install.is_empty();
    if !is_own && !is_package && files.is_empty() && !beside {
        return None;
    }
    let says = |own: &Path| has_text(own, &["pytest"]);
    let is_pytest = ["pyproject.toml", "setup.cfg", "tox.ini", "conftest.py", "pytest.ini"]
        .iter()
        .any(|own| says(&top.join(own)))
        || files.iter().any(|own| says(own) || own.ends_with("conftest.py"))
        || recipe.test.as_ref().is_some_and(|own| own.contains("pytest"));
    let needed = requirements::of(top);
    let wanted = [(is_package && !is_own, "."), (is_pytest, "pytest")].into_iter();
    let wanted = wanted.filter(|(is_wanted, _)| *is_wanted).map(|(_, own)| own.to_owned());
    let mut wanted: Vec<String> = wanted.collect();
    let pip =
        |words: &[String]| format!("python3 -m pip install --quiet {}", shell_words::join(words));
    let mut install = vec![VENV.to_owned()];
    if !needed.is_optional {
        wanted.extend(needed.words.iter().cloned());
    }
    if !wanted.is_empty() {
        // A project with its own commands may not need these packages, so a failure to install them
        // is ignored.
        install.push(pip(&wanted) + if is_own { " || true" } else { "" });
    }
    if needed.is_optional && !needed.words.is_empty() {
        // If development tools cannot be installed, that is not the version's fault.
        install.push(format!("{} || true", pip(&needed.words)));
    }
    if install.len() == 1 && !is_own {
        install.clear();
    }
    let test = match place {
        _ if is_pytest => Some("python3 -m pytest".to_owned()),
        Some(place) if !files.is_empty() => {
            let is_package = is_there(&top.join(place), "__init__.py");
            let from = if is_package { " -t ." } else { "" };
            Some(format!("python3 -m unittest discover -s {place}{from}"))
        }
        _ => beside.then(|| "python3 -m unittest discover".to_owned()),
    };
    suggested(install, test.as_deref())
}

fn node(top: &Path) -> Option<Steps> {
    if !is_there(top, "package.json") {
        return None;
    }
    let install = match is_there(top, "package-lock.json") {
        true => "npm ci --no-audit --no-fund",
        false => "npm install --no-audit --no-fund",
    };
    let has_script = has_text(&top.join("package.json"), &["\"test\""]);
    let test = if has_script { "npm test" } else { "node --test" };
    suggested(vec![install.to_owned()], Some(test))
}

fn go(top: &Path) -> Option<Steps> {
    let install = ["go mod download", "go build ./..."].map(str::to_owned).to_vec();
    is_there(top, "go.mod").then(|| suggested(install, Some("go test ./..."))).flatten()
}

fn rust(top: &Path) -> Option<Steps> {
    let install = vec!["cargo test --no-run --quiet".to_owned()];
    is_there(top, "Cargo.toml").then(|| suggested(install, Some("cargo test"))).flatten()
}

fn cmake(top: &Path) -> Option<Steps> {
    let install = ["cmake -B build", "cmake --build build"].map(str::to_owned).to_vec();
    let test = "ctest --test-dir build";
    is_there(top, "CMakeLists.txt").then(|| suggested(install, Some(test))).flatten()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;

    fn of(name: &'static str, files: &[(&str, &str)]) -> Steps {
        let room = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = room.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let runtime =
            Runtime { name, version: "1".to_owned(), programs: Vec::new(), reads: Vec::new() };
        steps(&Recipe::default(), room.path(), &runtime, None)
    }

    #[test]
    fn files_suggest_their_tests() {
        let test = |name, files: &[(&str, &str)]| of(name, files).test.unwrap_or_default();
        assert_eq!(
            test("python", &[("setup.py", ""), ("tests/test_a.py", "import unittest")]),
            "python3 -m unittest discover -s tests"
        );
        assert_eq!(
            test("python", &[("pyproject.toml", "[tool.pytest]"), ("tests/test_a.py", "")]),
            "python3 -m pytest"
        );
        assert_eq!(test("ruby", &[("p.gemspec", ""), ("spec/a_spec.rb", "")]), "rspec");
        assert_eq!(
            test("ruby", &[("Rakefile", "Rake::TestTask.new"), ("test/test_a.rb", "")]),
            "rake test"
        );
        assert!(
            test("ruby", &[("Rakefile", ""), ("test/test_a.rb", "")]).starts_with("ruby -Ilib")
        );
        assert_eq!(test("node", &[("package.json", "{}")]), "node --test");
        assert_eq!(test("go", &[("go.mod", "")]), "go test ./...");
        assert_eq!(test("rust", &[("Cargo.toml", "")]), "cargo test");
        assert_eq!(test("go", &[("CMakeLists.txt", "")]), "ctest --test-dir build");
        assert_eq!(of("python", &[("README", "")]), Steps::default());
        let found = of(
            "python",
            &[("pyproject.toml", "[dependency-groups]\ntest = ['a>1']"), ("tests/test_a.py", "")],
        );
        assert_eq!(found.install[1], "python3 -m pip install --quiet . 'a>1'");
        let found = of(
            "python",
            &[("setup.py", ""), ("requirements-dev.txt", ""), ("tests/test_a.py", "")],
        );
        assert_eq!(
            found.install[2],
            "python3 -m pip install --quiet -r requirements-dev.txt || true"
        );
    }

    #[test]
    fn a_recipe_comes_first() {
        let room = tempfile::tempdir().unwrap();
        fs::write(room.path().join("go.mod"), "").unwrap();
        let runtime = Runtime {
            name: "go",
            version: "1".to_owned(),
            programs: Vec::new(),
            reads: Vec::new(),
        };
        let recipe = Recipe { test: Some("go test ./a".to_owned()), ..Recipe::default() };
        let own = steps(&recipe, room.path(), &runtime, None);
        assert_eq!(own.test.as_deref(), Some("go test ./a"));
        assert!(own.is_own_test && !own.is_own_install && own.install.len() == 2);
        let own_install = Recipe { install: vec!["pip install .".to_owned()], ..Recipe::default() };
        let own = steps(&own_install, room.path(), &runtime, None);
        assert_eq!(own.install, ["pip install ."]);
        let python = Runtime { name: "python", ..runtime };
        let own = steps(&own_install, room.path(), &python, None);
        assert_eq!(own.install, [VENV, "pip install ."]);
        fs::write(room.path().join("test_a.py"), "import pytest").unwrap();
        fs::write(room.path().join("conftest.py"), "import pytest").unwrap();
        fs::write(room.path().join("requirements-test.txt"), "freezegun").unwrap();
        let needs = "python3 -m pip install --quiet pytest -r requirements-test.txt || true";
        let own = steps(&own_install, room.path(), &python, None);
        assert_eq!(own.install, [VENV, needs, "pip install ."]);
        assert_eq!(own.test.as_deref(), Some("python3 -m pytest"));
    }
}
