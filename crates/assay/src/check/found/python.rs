//! Python: tests with the fixture `benchmark` of pytest-benchmark, and scripts of pyperf.
//!
//! A revision's own files must be imported, not those of an installed copy: their directory comes
//! first in `PYTHONPATH`. A package with extensions is installed into a directory of its revision.

use super::{Looked, OURS, Program, ProgramGroup, Tree, some, word};
use regex::Regex;

const SOUGHT: &str = "tests that use the fixture `benchmark` of pytest-benchmark, and scripts that make a pyperf.Runner, next to pyproject.toml, setup.py, setup.cfg or requirements*.txt";
/// Files that show that a directory is a Python project.
const MANIFESTS: [&str; 4] = ["pyproject.toml", "setup.py", "setup.cfg", "requirements.txt"];
/// Words in these files that show that something is compiled.
const COMPILED: [&str; 11] = [
    "maturin",
    "setuptools-rust",
    "setuptools_rust",
    "scikit-build",
    "meson-python",
    "mesonpy",
    "cython",
    "Cython",
    "pybind11",
    "ext_modules",
    "ext-modules",
];

pub(super) fn find(tree: &Tree) -> (Vec<ProgramGroup>, Looked) {
    let mut notes = Vec::new();
    let is_manifest = |path: &str| {
        !path.contains('/')
            && (MANIFESTS.contains(&path)
                || (path.starts_with("requirements") && path.ends_with(".txt")))
    };
    let manifests: Vec<&String> = tree.files.iter().filter(|path| is_manifest(path)).collect();
    if manifests.is_empty() {
        notes.push(format!("there is no {} at the top", MANIFESTS.join(", ")));
    }
    let (mut tests, mut scripts) = (Vec::new(), Vec::new());
    for path in tree.with_extension(&["py"]).filter(|_| !manifests.is_empty()) {
        let Some(text) = tree.read(path) else { continue };
        let name = path.rsplit('/').next().unwrap_or_default();
        if uses_fixture(&text) && name != "conftest.py" {
            tests.push(path.to_owned());
        } else if text.contains("pyperf") && text.contains("Runner(") && imports_pyperf(&text) {
            scripts.push(path.to_owned());
        }
    }
    if !manifests.is_empty() && tests.is_empty() && scripts.is_empty() {
        notes.push("no file uses the fixture or a runner".to_owned());
    }
    let way = (!tests.is_empty() || !scripts.is_empty()).then(|| way(tree, &tests, &scripts));
    (way.into_iter().collect(), Looked { tool: "Python", sought: SOUGHT, notes })
}

fn uses_fixture(text: &str) -> bool {
    // A function called `bench` is more often one of nox or of the project's own.
    let pattern = r"(?s)\bdef\s+(?:test|bench_|benchmark_)\w*\s*\(([^)]*)\)";
    let pattern = Regex::new(pattern).expect("a pattern");
    let is_fixture = |parameter: &str| {
        let name = parameter.split([':', '=']).next().unwrap_or_default().trim();
        name == "benchmark" || name == "benchmark_weave"
    };
    pattern.captures_iter(text).any(|found| found[1].split(',').any(is_fixture))
}

fn imports_pyperf(text: &str) -> bool {
    text.lines()
        .map(str::trim_start)
        .any(|line| line.starts_with("import pyperf") || line.starts_with("from pyperf import"))
}

fn way(tree: &Tree, tests: &[String], scripts: &[String]) -> ProgramGroup {
    let read = |name: &&str| tree.read(name).unwrap_or_default();
    let is_compiled = ["pyproject.toml", "setup.py"]
        .iter()
        .map(read)
        .any(|text| COMPILED.iter().any(|word| text.contains(word)));
    let site = format!("{OURS}/site");
    let (build, variable) = if is_compiled {
        let line = format!("python3 -m pip install --quiet --no-deps --target {site} .");
        (vec![format!("rm -rf {site} && {line}")], site)
    } else {
        // The layout with `src`, and the one without it.
        let has_source = tree.files.iter().any(|path| {
            let parts: Vec<&str> = path.split('/').collect();
            parts.len() > 2 && parts[0] == "src" && path.ends_with(".py")
        });
        (Vec::new(), if has_source { "src:.".to_owned() } else { ".".to_owned() })
    };
    let variables = vec![("PYTHONPATH".to_owned(), variable)];
    let program = |name: String, command: String, sources: Vec<String>| Program {
        name,
        command,
        directory: None,
        variables: variables.clone(),
        is_timed: false,
        sources,
        is_linked: false,
    };
    let mut programs = Vec::new();
    if !tests.is_empty() {
        let files: Vec<String> = tests.iter().map(|path| word(path)).collect();
        let command = format!("python3 -m pytest {}", files.join(" "));
        programs.push(program("pytest".to_owned(), command, tests.to_vec()));
    }
    for script in scripts {
        let command = format!("python3 {}", word(script));
        programs.push(program(script.clone(), command, vec![script.clone()]));
    }
    let all: Vec<String> = tests.iter().chain(scripts).cloned().collect();
    let how = if is_compiled { "; the package has extensions, and is installed" } else { "" };
    ProgramGroup {
        tool: "Python",
        evidence: format!("benchmarks in {}{how}", some(&all)),
        build,
        programs,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fixture_is_a_parameter_of_a_test() {
        assert!(uses_fixture("def test_a(benchmark):\n    benchmark(f)\n"));
        assert!(uses_fixture(
            "async def test_a(\n    self, size: int, benchmark: Fixture,\n) -> None:"
        ));
        assert!(!uses_fixture("def bench(session, installable, benchmark):\n    pass\n"));
        assert!(!uses_fixture("def test_a(benchmarks):\n    pass\ndef helper(benchmark): pass\n"));
    }
}
