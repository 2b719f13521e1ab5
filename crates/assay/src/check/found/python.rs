//! Python: tests with pytest-benchmark's fixture `benchmark`, and pyperf scripts.
//!
//! A revision must import its own files rather than those of an installed copy, so their directory
//! comes first in `PYTHONPATH`. A package with extensions is installed into a directory of its
//! revision.

use super::{
    Looked, OURS, Program, ProgramGroup, Tree, directory_of, matches, slug, some, within, word,
};
use regex::Regex;
use std::collections::BTreeMap;
use toml::{Table, Value};

const SOUGHT: &str = "tests that use the fixture `benchmark` of pytest-benchmark, and scripts that make a pyperf.Runner, next to pyproject.toml, setup.py, setup.cfg or requirements*.txt";
/// Files that show that a directory is a Python project.
const MANIFESTS: [&str; 4] = ["pyproject.toml", "setup.py", "setup.cfg", "requirements.txt"];
/// Words in a project's files that show that it has compiled extensions.
const COMPILED: [&str; 12] = [
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
    "cffi_modules",
];

/// Files of a project that contain benchmarks.
#[derive(Default)]
struct Benchmarks {
    tests: Vec<String>,
    scripts: Vec<String>,
}

pub(super) fn find(tree: &Tree) -> (Vec<ProgramGroup>, Looked) {
    let mut notes = Vec::new();
    let projects = projects(tree);
    if projects.is_empty() {
        notes.push(format!("there is no {}", MANIFESTS.join(", ")));
    }
    let mut found: BTreeMap<&str, Benchmarks> = BTreeMap::new();
    for path in tree.with_extension(&["py"]) {
        let Some(project) = project_of(&projects, directory_of(path)) else { continue };
        let Some(text) = tree.read(path) else { continue };
        let name = path.rsplit('/').next().unwrap_or_default();
        if uses_fixture(&text) && name != "conftest.py" {
            found.entry(project).or_default().tests.push(path.to_owned());
        } else if text.contains("pyperf") && text.contains("Runner(") && imports_pyperf(&text) {
            found.entry(project).or_default().scripts.push(path.to_owned());
        }
    }
    if !projects.is_empty() && found.is_empty() {
        notes.push("no file uses the fixture or a runner".to_owned());
    }
    let ways = found.iter().map(|(project, own)| way(tree, project, &projects, own)).collect();
    (ways, Looked { tool: "Python", sought: SOUGHT, notes })
}

/// Returns the directories of the projects in a tree; the root is an empty string. Below the root,
/// many manifests only contain settings of tools or list the requirements of a few scripts.
fn projects(tree: &Tree) -> Vec<&str> {
    let is_manifest = |path: &str| {
        let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
        if directory.is_empty() {
            let is_list = name.starts_with("requirements") && name.ends_with(".txt");
            return MANIFESTS.contains(&name) || is_list;
        }
        let states = |words: &[&str]| {
            tree.read(path).is_some_and(|text| words.iter().any(|word| text.contains(word)))
        };
        match name {
            "pyproject.toml" => states(&["[project]", "[build-system]", "[tool.poetry]"]),
            "setup.py" => states(&["setup("]),
            "setup.cfg" => states(&["[metadata]"]),
            _ => false,
        }
    };
    let manifests = tree.files.iter().map(String::as_str).filter(|path| is_manifest(path));
    let mut found: Vec<&str> = manifests.map(directory_of).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Returns the project that a directory belongs to, which is the nearest one above it.
fn project_of<'a>(projects: &[&'a str], directory: &str) -> Option<&'a str> {
    let holds = |own: &&str| {
        own.is_empty() || directory == *own || directory.starts_with(&format!("{own}/"))
    };
    projects.iter().copied().filter(holds).max_by_key(|own| own.len())
}

fn uses_fixture(text: &str) -> bool {
    // A function called `bench` usually belongs to nox or to the project itself.
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

/// Returns true if a project has extensions that are compiled.
fn is_compiled(tree: &Tree, project: &str) -> bool {
    let read = |name: &&str| tree.read(&within(project, name)).unwrap_or_default();
    let mut texts = ["pyproject.toml", "setup.py"].iter().map(read);
    texts.any(|text| COMPILED.iter().any(|word| text.contains(word)))
}

/// Returns the directories from which a project's modules are imported: `src` if modules are in it,
/// and the project's directory.
fn imported(tree: &Tree, project: &str) -> Vec<String> {
    let source = within(project, "src");
    let is_below = |path: &String| {
        let below = path.strip_prefix(&source).and_then(|rest| rest.strip_prefix('/'));
        below.is_some_and(|below| below.contains('/') && path.ends_with(".py"))
    };
    let has_source = tree.files.iter().any(is_below);
    has_source.then_some(source).into_iter().chain([project.to_owned()]).collect()
}

/// Returns the other projects in the uv workspace that a project belongs to, except those with
/// extensions, which cannot be imported without being installed.
fn siblings<'a>(tree: &Tree, project: &str, projects: &[&'a str]) -> Vec<&'a str> {
    let text = tree.read("pyproject.toml").unwrap_or_default();
    let Ok(table) = text.parse::<Table>() else { return Vec::new() };
    let tool = table.get("tool").and_then(|tool| tool.get("uv")?.get("workspace"));
    let list = |key: &str| -> Vec<String> {
        let list = tool.and_then(|own| own.get(key)).and_then(Value::as_array);
        let texts = list.into_iter().flatten().filter_map(Value::as_str);
        texts.map(|text| text.trim_end_matches('/').to_owned()).collect()
    };
    let (named, excluded) = (list("members"), list("exclude"));
    let is_in = |own: &str| {
        let is = |patterns: &[String]| patterns.iter().any(|pattern| matches(pattern, own));
        tool.is_some() && (own.is_empty() || is(&named) && !is(&excluded))
    };
    let is_sibling = |own: &&str| *own != project && is_in(own) && !is_compiled(tree, own);
    let all = projects.iter().copied().filter(is_sibling);
    if is_in(project) { all.collect() } else { Vec::new() }
}

fn way(tree: &Tree, project: &str, projects: &[&str], found: &Benchmarks) -> ProgramGroup {
    let is_compiled = is_compiled(tree, project);
    // Programs run in the directory of their project.
    let up = match project {
        "" => String::new(),
        own => "../".repeat(own.split('/').count()),
    };
    let mut build = Vec::new();
    let mut path = Vec::new();
    if is_compiled {
        let name =
            if project.is_empty() { "site".to_owned() } else { format!("site-{}", slug(project)) };
        let site = format!("{OURS}/{name}");
        let source =
            if project.is_empty() { ".".to_owned() } else { word(&format!("./{project}")) };
        build.push(format!(
            "rm -rf {site} && python3 -m pip install --quiet --no-deps --target {site} {source}"
        ));
        build.push(beside_sources(&site, project));
        path.push(format!("{up}{site}"));
    } else {
        // The last of these directories is the project's own.
        let own = imported(tree, project);
        path.extend((own.len() > 1).then(|| "src".to_owned()));
        path.push(".".to_owned());
    }
    for sibling in siblings(tree, project, projects) {
        let own = imported(tree, sibling).into_iter().filter(|own| !own.is_empty());
        path.extend(own.map(|own| format!("{up}{own}")));
    }
    let variables = vec![("PYTHONPATH".to_owned(), path.join(":"))];
    let program = |name: String, command: String, sources: Vec<String>| Program {
        name,
        command,
        directory: (!project.is_empty()).then(|| project.to_owned()),
        variables: variables.clone(),
        is_timed: false,
        sources,
        is_linked: false,
    };
    let below =
        |path: &String| word(path.strip_prefix(project).unwrap_or(path).trim_start_matches('/'));
    let mut programs = Vec::new();
    if !found.tests.is_empty() {
        let files: Vec<String> = found.tests.iter().map(below).collect();
        let command = format!("python3 -m pytest {}", files.join(" "));
        programs.push(program(within(project, "pytest"), command, found.tests.clone()));
    }
    for script in &found.scripts {
        let command = format!("python3 {}", below(script));
        programs.push(program(script.clone(), command, vec![script.clone()]));
    }
    let all: Vec<String> = found.tests.iter().chain(&found.scripts).cloned().collect();
    let how = if is_compiled { "; the package has extensions, and is installed" } else { "" };
    ProgramGroup {
        tool: "Python",
        evidence: format!("benchmarks in {}{how}", some(&all)),
        build,
        programs,
    }
}

/// Returns the line that copies the extensions of an installed project, and the version file that
/// its build wrote, next to its sources. Python and pytest import the sources first if the package
/// is in their directory, and without the extensions they would fail or use slow replacements.
fn beside_sources(site: &str, project: &str) -> String {
    let tops = [project.to_owned(), within(project, "src")];
    let tops = tops.map(|own| if own.is_empty() { ".".to_owned() } else { word(&own) });
    format!(
        "(cd {site} && find . -name '*.so' -o -name '*.pyd' -o -name _version.py) | while read -r file; do for top in {}; do if [ -d \"$top/${{file%/*}}\" ]; then cp \"{site}/$file\" \"$top/$file\"; fi; done; done",
        tops.join(" ")
    )
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
