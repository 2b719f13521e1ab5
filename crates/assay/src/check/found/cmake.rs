//! CMake: executables that are linked with Google Benchmark.

mod script;

use super::{Looked, OURS, Program, ProgramGroup, Tree, directory_of, some, word};
use script::{FILE, Project};
use std::collections::{BTreeMap, BTreeSet};

const SOUGHT: &str =
    "CMakeLists.txt with an executable that is linked with benchmark::benchmark (Google Benchmark)";

/// Names of the libraries of Google Benchmark.
const LIBRARIES: [&str; 4] =
    ["benchmark::benchmark", "benchmark::benchmark_main", "benchmark", "benchmark_main"];

pub(super) fn find(tree: &Tree) -> (Vec<ProgramGroup>, Looked) {
    let files = tree.named(FILE);
    let project = Project::of(tree);
    let mut targets: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut where_found = BTreeSet::new();
    for (name, (sources, file)) in &project.executables {
        if project.is_linked(name, &LIBRARIES) {
            where_found.insert(file.clone());
            let sources = sources.iter().filter(|own| tree.has(own)).cloned();
            targets.insert(name.clone(), sources.collect());
        }
    }
    let notes = match (files.first(), targets.is_empty()) {
        (None, _) => vec![format!("there is no {FILE}")],
        (Some(file), true) => vec![format!("{file} has no such executable")],
        _ => Vec::new(),
    };
    let way = (!targets.is_empty()).then(|| {
        let root = directory_of(files[0]);
        let where_found: Vec<String> = where_found.into_iter().collect();
        way(root, &targets, &switched_off(&project), &some(&where_found))
    });
    (way.into_iter().collect(), Looked { tool: "CMake", sought: SOUGHT, notes })
}

/// Returns the options about benchmarks that are off unless they are set.
fn switched_off(project: &Project) -> BTreeSet<String> {
    let off = project
        .options
        .iter()
        .filter(|(name, is_on)| !**is_on && name.to_uppercase().contains("BENCH"));
    off.map(|(name, _)| name.clone()).collect()
}

fn way(
    root: &str,
    targets: &BTreeMap<String, Vec<String>>,
    options: &BTreeSet<String>,
    evidence: &str,
) -> ProgramGroup {
    let tree = format!("{OURS}/cmake");
    let source = if root.is_empty() { "." } else { root };
    let switches: String = options.iter().map(|option| format!(" -D{option}=ON")).collect();
    let names: Vec<String> = targets.keys().map(|name| word(name)).collect();
    let mut build = vec![
        format!("cmake -S {} -B {tree} -DCMAKE_BUILD_TYPE=Release{switches}", word(source)),
        format!("cmake --build {tree} --config Release --target {}", names.join(" ")),
    ];
    let mut programs = Vec::new();
    for (name, sources) in targets {
        let file = format!("{OURS}/{name}");
        let found = format!("find {tree} -type f -name {} -perm -u+x", word(name));
        // A missing link is created again, because the build line runs once for every link.
        build.push(format!("cp \"$({found} | head -n 1)\" {}", word(&file)));
        programs.push(Program {
            name: name.clone(),
            command: word(&file),
            directory: None,
            variables: Vec::new(),
            is_timed: false,
            sources: sources.clone(),
            // The program is copied from the build directory, where it would not be linked again.
            is_linked: false,
        });
    }
    let evidence = format!("{evidence} links with Google Benchmark");
    ProgramGroup { tool: "CMake", evidence, build, programs }
}
