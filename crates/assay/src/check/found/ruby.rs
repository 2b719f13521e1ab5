//! Ruby: scripts of benchmark-ips.

use super::{Looked, Program, ProgramGroup, Tree, some, word};

const SOUGHT: &str = "a Gemfile or a gemspec, and scripts that require and call benchmark/ips";
/// The calls of the library in scripts.
const CALLS: [&str; 3] = ["Benchmark.ips", "Benchmark::IPS", "IPS::Job"];

pub(super) fn find(tree: &Tree) -> (Vec<ProgramGroup>, Looked) {
    let mut notes = Vec::new();
    let has_gemfile = tree.has("Gemfile");
    let is_gem = |path: &String| !path.contains('/') && path.ends_with(".gemspec");
    let is_project = has_gemfile || tree.files.iter().any(is_gem);
    if !is_project {
        notes.push("there is no Gemfile and no gemspec at the top".to_owned());
    }
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
    let scripts: Vec<String> = match is_project {
        true => tree.with_extension(&["rb"]).filter(requires).map(str::to_owned).collect(),
        false => Vec::new(),
    };
    if scripts.is_empty() {
        if is_project {
            notes.push("no script requires and calls it".to_owned());
        }
        return (Vec::new(), Looked { tool: "Ruby", sought: SOUGHT, notes });
    }
    // A revision's own files come before those of an installed gem.
    let program = |script: &String| Program {
        name: script.clone(),
        command: format!("ruby -Ilib {}", word(script)),
        directory: None,
        variables: Vec::new(),
        is_timed: false,
        sources: vec![script.clone()],
        is_linked: false,
    };
    let file = if has_gemfile { "Gemfile" } else { "gemspec" };
    let way = ProgramGroup {
        tool: "Ruby",
        evidence: format!("{file}; benchmarks in {}", some(&scripts)),
        build: Vec::new(),
        programs: scripts.iter().map(program).collect(),
    };
    (vec![way], Looked { tool: "Ruby", sought: SOUGHT, notes })
}
