//! CMake: executables that are linked with Google Benchmark.

mod script;

use super::{Looked, OURS, Program, ProgramGroup, Tree, slug, some, word};
use script::{Executable, FILE, Project};
use std::collections::{BTreeMap, BTreeSet};

const SOUGHT: &str =
    "CMakeLists.txt with an executable that is linked with benchmark::benchmark (Google Benchmark)";

/// Names of Google Benchmark's libraries in CMake.
const LIBRARIES: [&str; 4] =
    ["benchmark::benchmark", "benchmark::benchmark_main", "benchmark", "benchmark_main"];

pub(super) fn find(tree: &Tree) -> (Vec<ProgramGroup>, Looked) {
    let files = tree.named(FILE);
    let project = Project::of(tree);
    // Executables by the directory in which their build starts.
    let mut roots: BTreeMap<&str, BTreeMap<&str, &Executable>> = BTreeMap::new();
    for (name, own) in &project.executables {
        if project.is_linked(name, &LIBRARIES) {
            roots.entry(&own.root).or_default().insert(name, own);
        }
    }
    let notes = match (files.first(), roots.is_empty()) {
        (None, _) => vec![format!("there is no {FILE}")],
        (Some(file), true) => vec![format!("{file} has no such executable")],
        _ => Vec::new(),
    };
    let way = |(root, targets): (&&str, &BTreeMap<&str, &Executable>)| {
        way(tree, root, targets, &switched_off(&project, targets))
    };
    let ways = roots.iter().map(way).collect();
    (ways, Looked { tool: "CMake", sought: SOUGHT, notes })
}

/// Returns the options that are off by default, but concern benchmarks or are needed by one of the
/// programs.
fn switched_off(project: &Project, targets: &BTreeMap<&str, &Executable>) -> BTreeSet<String> {
    let is_needed = |name: &String| {
        name.to_uppercase().contains("BENCH")
            || targets.values().any(|own| own.needs.contains(name))
    };
    let off = project.options.iter().filter(|(name, is_on)| !**is_on && is_needed(name));
    off.map(|(name, _)| name.clone()).collect()
}

fn way(
    tree: &Tree,
    root: &str,
    targets: &BTreeMap<&str, &Executable>,
    options: &BTreeSet<String>,
) -> ProgramGroup {
    let (build_tree, source) = match root {
        "" => (format!("{OURS}/cmake"), "."),
        _ => (format!("{OURS}/cmake-{}", slug(root)), root),
    };
    let switches: String = options.iter().map(|option| format!(" -D{option}=ON")).collect();
    let names: Vec<String> = targets.keys().map(|name| word(name)).collect();
    let mut build = vec![
        format!("cmake -S {} -B {build_tree} -DCMAKE_BUILD_TYPE=Release{switches}", word(source)),
        format!("cmake --build {build_tree} --config Release --target {}", names.join(" ")),
    ];
    let mut programs = Vec::new();
    for (name, own) in targets {
        let file = format!("{OURS}/{name}");
        let found = format!("find {build_tree} -type f -name {} -perm -u+x", word(name));
        // Copy the program every time, because the build line runs once for every link.
        build.push(format!("cp \"$({found} | head -n 1)\" {}", word(&file)));
        programs.push(Program {
            name: (*name).to_owned(),
            command: word(&file),
            directory: None,
            variables: Vec::new(),
            is_timed: false,
            sources: own.sources.iter().filter(|own| tree.has(own)).cloned().collect(),
            // The program is copied from the build directory, where it would not be linked again.
            is_linked: false,
        });
    }
    let files: BTreeSet<String> = targets.values().map(|own| own.file.clone()).collect();
    let files: Vec<String> = files.into_iter().collect();
    let evidence = format!("{} links with Google Benchmark", some(&files));
    ProgramGroup { tool: "CMake", evidence, build, programs }
}
