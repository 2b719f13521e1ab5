//! Ruby: scripts of benchmark-ips.
//!
//! C extensions are compiled into the `lib` of their gem, where both `require` and
//! `require_relative` find them before those of an installed gem.

use super::{Looked, OURS, Program, ProgramGroup, Tree, directory_of, slug, some, within, word};
use std::collections::BTreeMap;

const SOUGHT: &str = "a Gemfile or a gemspec, and scripts that require and call benchmark/ips";
/// How scripts call the library.
const CALLS: [&str; 3] = ["Benchmark.ips", "Benchmark::IPS", "IPS::Job"];

/// Names of directories whose gems do not belong to the project.
const OF_TESTS: [&str; 4] = ["test", "tests", "spec", "examples"];

pub(super) fn find(tree: &Tree) -> (Vec<ProgramGroup>, Looked) {
    let mut notes = Vec::new();
    let is_manifest = |path: &&str| path.ends_with(".gemspec") || path.ends_with("Gemfile");
    let manifests: Vec<&str> = tree.files.iter().map(String::as_str).filter(is_manifest).collect();
    if manifests.is_empty() {
        notes.push("there is no Gemfile and no gemspec".to_owned());
    }
    // A script belongs to the nearest project above it.
    let project_of = |path: &str| {
        let holds = |own: &&str| own.is_empty() || path.starts_with(&format!("{own}/"));
        let all = manifests.iter().map(|manifest| directory_of(manifest));
        all.filter(holds).max_by_key(|own| own.len())
    };
    let requires = |path: &&str| {
        tree.read(path).filter(|text| CALLS.iter().any(|call| text.contains(call))).is_some_and(
            |text| {
                text.lines().map(str::trim_start).any(|line| {
                    let quoted = ["benchmark/ips", "benchmark-ips"].map(|name| line.contains(name));
                    line.starts_with("require") && quoted.contains(&true)
                })
            },
        )
    };
    let mut projects: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for path in tree.with_extension(&["rb"]) {
        if let Some(project) = project_of(path).filter(|_| requires(&path)) {
            projects.entry(project).or_default().push(path.to_owned());
        }
    }
    if projects.is_empty() && !manifests.is_empty() {
        notes.push("no script requires and calls it".to_owned());
    }
    let is_of_gem =
        |path: &&str| !path.split('/').rev().skip(1).any(|name| OF_TESTS.contains(&name));
    let scripts = tree.named("extconf.rb").into_iter().filter(is_of_gem);
    let build: Vec<String> =
        scripts.filter_map(|script| Some(compiling(script, project_of(script)?))).collect();
    let ways =
        projects.iter().map(|(project, scripts)| way(tree, project, scripts, &build)).collect();
    (ways, Looked { tool: "Ruby", sought: SOUGHT, notes })
}

/// Returns the library directories, relative to that of a project: its own, and those of the other
/// gems in the tree. They take precedence over installed gems.
fn libraries(tree: &Tree, project: &str) -> Vec<String> {
    let up = match project {
        "" => String::new(),
        own => "../".repeat(own.split('/').count()),
    };
    let is_gem = |path: &&String| {
        let mut directories = path.split('/').rev().skip(1);
        path.ends_with(".gemspec") && !directories.any(|name| OF_TESTS.contains(&name))
    };
    let gems = tree.files.iter().filter(is_gem).map(|path| directory_of(path));
    let others = gems.filter(|own| *own != project).map(|own| within(own, "lib"));
    let has_files =
        |own: &String| tree.files.iter().any(|path| path.starts_with(&format!("{own}/")));
    let mut found = vec!["lib".to_owned()];
    found.extend(others.filter(has_files).map(|own| format!("{up}{own}")));
    found.dedup();
    found
}

/// Returns the line that compiles the extension of a gem.
fn compiling(script: &str, gem: &str) -> String {
    let room = format!("{OURS}/ext-{}", slug(directory_of(script)));
    // The root of the tree, from which the shell changed its directory.
    let top = "\"$OLDPWD\"";
    let (script, library) = (word(script), word(&within(gem, "lib")));
    format!(
        "mkdir -p {room} && (cd {room} && ruby {top}/{script} && make install sitearchdir={top}/{library} sitelibdir={top}/{library})"
    )
}

fn way(tree: &Tree, project: &str, scripts: &[String], build: &[String]) -> ProgramGroup {
    let libraries: String =
        libraries(tree, project).iter().map(|own| format!(" -I{}", word(own))).collect();
    let program = |script: &String| {
        let below = script.strip_prefix(project).unwrap_or(script).trim_start_matches('/');
        Program {
            name: script.clone(),
            command: format!("ruby{libraries} {}", word(below)),
            directory: (!project.is_empty()).then(|| project.to_owned()),
            variables: Vec::new(),
            is_timed: false,
            sources: vec![script.clone()],
            is_linked: false,
        }
    };
    let file = within(project, "Gemfile");
    let file = if tree.has(&file) { file } else { within(project, "gemspec") };
    ProgramGroup {
        tool: "Ruby",
        evidence: format!("{file}; benchmarks in {}", some(scripts)),
        build: build.to_vec(),
        programs: scripts.iter().map(program).collect(),
    }
}
