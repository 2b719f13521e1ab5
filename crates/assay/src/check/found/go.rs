//! Go: packages whose tests have functions `BenchmarkX(b *testing.B)`.

use super::{Looked, OURS, Program, ProgramGroup, Tree, directory_of, slug, within, word};
use crate::bench::module_path;
use std::collections::BTreeMap;

const SOUGHT: &str = "go.mod, and functions BenchmarkX(b *testing.B) in files *_test.go";

pub(super) fn find(tree: &Tree) -> (Vec<ProgramGroup>, Looked) {
    let modules = tree.named("go.mod");
    let mut notes = Vec::new();
    if modules.is_empty() {
        notes.push("there is no go.mod".to_owned());
    }
    let has_benchmark = |path: &&str| {
        path.ends_with("_test.go")
            && tree.read(path).is_some_and(|text| {
                text.lines().any(|line| {
                    let rest = line.strip_prefix("func Benchmark");
                    rest.is_some_and(|rest| rest.contains("*testing.B)"))
                })
            })
    };
    // A package belongs to the nearest module above it.
    let module_of = |directory: &str| {
        let holds = |module: &&&str| {
            let top = directory_of(module);
            top.is_empty() || directory == top || directory.starts_with(&format!("{top}/"))
        };
        modules.iter().filter(holds).max_by_key(|module| module.len()).copied()
    };
    let mut packages: BTreeMap<&str, BTreeMap<&str, Vec<String>>> = BTreeMap::new();
    for path in tree.with_extension(&["go"]).filter(has_benchmark) {
        let directory = directory_of(path);
        let Some(module) = module_of(directory) else { continue };
        packages.entry(module).or_default().entry(directory).or_default().push(path.to_owned());
    }
    if !modules.is_empty() && packages.is_empty() {
        notes.push(format!("{} has no such function in its tests", modules[0]));
    }
    let ways = packages.iter().map(|(module, packages)| way(tree, module, packages)).collect();
    (ways, Looked { tool: "Go", sought: SOUGHT, notes })
}

fn way(tree: &Tree, module: &str, packages: &BTreeMap<&str, Vec<String>>) -> ProgramGroup {
    let root = directory_of(module);
    let text = tree.read(module).unwrap_or_default();
    let path = module_path(&text).unwrap_or_default();
    // A module's path may end with its major version.
    let is_version = |part: &&str| {
        part.strip_prefix('v').is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let own = path.rsplit('/').find(|part| !is_version(part)).unwrap_or_default();
    let mut build = vec![format!("mkdir -p {OURS}")];
    let mut programs = Vec::new();
    for (directory, sources) in packages {
        let below = directory.strip_prefix(root).unwrap_or(directory).trim_start_matches('/');
        let name = if directory.is_empty() { own } else { directory };
        let file = format!("{OURS}/{}.test", slug(name));
        // With several builds, the order of functions is shuffled. `-trimpath` leaves the path of
        // the tree out of the program.
        let line = format!(
            "go test -c -trimpath ${{ASSAY_BUILD_SEED:+-ldflags=-randlayout=$ASSAY_BUILD_SEED}} -o \"$top/{}\" {}",
            file,
            word(&format!("./{below}"))
        );
        let enter = if root.is_empty() { String::new() } else { format!("cd {} && ", word(root)) };
        build.push(format!("top=$PWD; ({enter}{line})"));
        programs.push(Program {
            name: name.to_owned(),
            command: word(&file),
            directory: (!directory.is_empty()).then(|| (*directory).to_owned()),
            variables: Vec::new(),
            is_timed: false,
            sources: sources.clone(),
            is_linked: true,
        });
    }
    let count = programs.len();
    let plural = if count == 1 { "package" } else { "packages" };
    let evidence = format!("{}: benchmarks in {count} {plural}", within(root, "go.mod"));
    ProgramGroup { tool: "Go", evidence, build, programs }
}
