//! Cargo: bench targets that do not use nightly Rust's test harness, in packages that depend on
//! criterion, divan or gungraun.

use super::{Looked, OURS, Program, ProgramGroup, Tree, directory_of, matches, slug, within, word};
use std::collections::BTreeSet;
use toml::{Table, Value};

/// Libraries that `assay bench` can drive, and packages that replace them.
const LIBRARIES: [&str; 8] = [
    "criterion",
    "criterion2",
    "codspeed-criterion-compat",
    "divan",
    "codspeed-divan-compat",
    "gungraun",
    "iai-callgrind",
    "divan-compat",
];
const SOUGHT: &str = "Cargo.toml with a [[bench]] target or a file in benches/, and criterion, divan or gungraun as a dependency";

/// A bench target.
struct Target {
    package: String,
    name: String,
    /// Source file of the target, relative to the project's root.
    source: String,
    /// Directory of the target's package, relative to the project's root.
    directory: String,
    features: Vec<String>,
}

pub(super) fn find(tree: &Tree) -> (Vec<ProgramGroup>, Looked) {
    let manifests = tree.named("Cargo.toml");
    let mut notes = Vec::new();
    let mut ways: Vec<ProgramGroup> = Vec::new();
    // A directory below a workspace belongs to it. Any other directory is a separate project.
    let mut roots: Vec<&str> = Vec::new();
    for manifest in &manifests {
        let directory = directory_of(manifest);
        let is_below = |root: &&str| {
            root.is_empty() || directory == *root || directory.starts_with(&format!("{root}/"))
        };
        if !roots.iter().any(is_below) {
            roots.push(directory);
        }
    }
    for root in roots {
        let Some(table) = parsed(tree, &within(root, "Cargo.toml"), &mut notes) else { continue };
        let members = members(root, &table, &manifests);
        let mut targets = Vec::new();
        let mut libraries = BTreeSet::new();
        for directory in &members {
            let path = within(directory, "Cargo.toml");
            let Some(own) = parsed(tree, &path, &mut notes) else { continue };
            let Some(used) = library(&own, &table) else {
                if !benches(tree, directory, &own, &mut notes).is_empty() {
                    notes.push(format!("{path} has benches, but depends on none of the libraries"));
                }
                continue;
            };
            let found = benches(tree, directory, &own, &mut notes);
            if !found.is_empty() {
                libraries.insert(used);
            }
            targets.extend(found);
        }
        if !targets.is_empty() {
            ways.push(way(root, &targets, &libraries, table.contains_key("workspace")));
        }
    }
    if manifests.is_empty() {
        notes.push("there is no Cargo.toml".to_owned());
    } else if ways.is_empty() && notes.is_empty() {
        notes.push(format!("{} has no such target", manifests[0]));
    }
    (ways, Looked { tool: "Cargo", sought: SOUGHT, notes })
}

fn parsed(tree: &Tree, path: &str, notes: &mut Vec<String>) -> Option<Table> {
    match toml::from_str(&tree.read(path)?) {
        Ok(table) => Some(table),
        Err(error) => {
            notes.push(format!("{path}: {}", error.message()));
            None
        }
    }
}

/// Returns the directories of the packages in a workspace, or that of a single package.
fn members(root: &str, table: &Table, manifests: &[&str]) -> Vec<String> {
    let mut found = BTreeSet::new();
    if table.contains_key("package") {
        found.insert(root.to_owned());
    }
    if let Some(workspace) = table.get("workspace").and_then(Value::as_table) {
        let list = |key: &str| {
            let list = workspace.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
            let texts = list.iter().filter_map(Value::as_str);
            texts.map(|text| within(root, text.trim_end_matches('/'))).collect::<Vec<_>>()
        };
        let (named, excluded) = (list("members"), list("exclude"));
        for manifest in manifests {
            let directory = directory_of(manifest);
            let is = |patterns: &[String]| patterns.iter().any(|own| matches(own, directory));
            if is(&named) && !is(&excluded) {
                found.insert(directory.to_owned());
            }
        }
    }
    found.into_iter().collect()
}

/// Returns the benchmark library that a package depends on. `root` contains the dependencies that
/// packages inherit.
fn library(package: &Table, root: &Table) -> Option<String> {
    let inherited = root
        .get("workspace")
        .and_then(|workspace| workspace.get("dependencies"))
        .and_then(Value::as_table);
    let of = |name: &str, value: &Value| -> Option<String> {
        let renamed = value.get("package").and_then(Value::as_str);
        let renamed = renamed.or_else(|| {
            value.get("workspace")?;
            inherited?.get(name)?.get("package")?.as_str()
        });
        let name = renamed.unwrap_or(name);
        LIBRARIES.contains(&name).then(|| name.to_owned())
    };
    let in_table = |table: &Table| {
        ["dev-dependencies", "dependencies"].into_iter().find_map(|key| {
            let all = table.get(key)?.as_table()?;
            all.iter().find_map(|(name, value)| of(name, value))
        })
    };
    in_table(package).or_else(|| {
        let targets = package.get("target")?.as_table()?;
        targets.values().filter_map(Value::as_table).find_map(in_table)
    })
}

fn benches(tree: &Tree, directory: &str, manifest: &Table, notes: &mut Vec<String>) -> Vec<Target> {
    let Some(package) = manifest.get("package").and_then(Value::as_table) else {
        return Vec::new();
    };
    let name = package.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut found = Vec::new();
    let mut named = BTreeSet::new();
    let declared = manifest.get("bench").and_then(Value::as_array).cloned().unwrap_or_default();
    for bench in declared.iter().filter_map(Value::as_table) {
        let Some(own) = bench.get("name").and_then(Value::as_str) else { continue };
        named.insert(own.to_owned());
        let is_plain = bench.get("harness").and_then(Value::as_bool) == Some(false);
        let usual = [format!("benches/{own}.rs"), format!("benches/{own}/main.rs")];
        let path = bench.get("path").and_then(Value::as_str).map(str::to_owned);
        let path = path.or_else(|| usual.into_iter().find(|p| tree.has(&within(directory, p))));
        let Some(source) = path.map(|path| within(directory, &path)) else { continue };
        if !is_plain {
            notes.push(format!("{source} has no `harness = false`: #[bench] needs nightly Rust"));
            continue;
        }
        let features = bench.get("required-features").and_then(Value::as_array);
        let features = features.into_iter().flatten().filter_map(Value::as_str);
        found.push(Target {
            package: name.clone(),
            name: own.to_owned(),
            source,
            directory: directory.to_owned(),
            features: features.map(str::to_owned).collect(),
        });
    }
    // A target that is not declared uses nightly Rust's test harness.
    let below = within(directory, "benches/");
    let undeclared = tree.files.iter().filter_map(|path| {
        let rest = path.strip_prefix(&below)?;
        let own = rest.strip_suffix("/main.rs").or_else(|| rest.strip_suffix(".rs"))?;
        (!own.contains('/') && !named.contains(own)).then(|| path.clone())
    });
    if package.get("autobenches").and_then(Value::as_bool) != Some(false) {
        let is_declared = |path: &String| found.iter().any(|target| &target.source == path);
        notes.extend(undeclared.filter(|path| !is_declared(path)).map(|path| {
            format!("{path} is no [[bench]] with `harness = false`: #[bench] needs nightly Rust")
        }));
    }
    found
}

fn way(
    root: &str,
    targets: &[Target],
    libraries: &BTreeSet<String>,
    is_workspace: bool,
) -> ProgramGroup {
    let unique = |target: &Target| {
        let times = targets.iter().filter(|other| other.name == target.name).count();
        let name = if times > 1 {
            format!("{}-{}", target.package, target.name)
        } else {
            target.name.clone()
        };
        slug(&name)
    };
    let mut line = "cargo bench --no-run --message-format=json-render-diagnostics".to_owned();
    if !root.is_empty() {
        line += &format!(" --manifest-path {}", word(&within(root, "Cargo.toml")));
    }
    // *Note:* `-p NAME` would be ambiguous if a dependency has the same name in another version, as
    // in crates whose benchmarks depend on themselves.
    if is_workspace {
        line += " --workspace";
    }
    let named = |target: &Target, feature: &str| match is_workspace {
        true => format!("{}/{feature}", target.package),
        false => feature.to_owned(),
    };
    let features: BTreeSet<String> = targets
        .iter()
        .flat_map(|target| target.features.iter().map(|feature| named(target, feature)))
        .collect();
    for target in targets {
        line += &format!(" --bench {}", word(&target.name));
    }
    if !features.is_empty() {
        let list: Vec<String> = features.into_iter().collect();
        line += &format!(" --features {}", word(&list.join(",")));
    }
    let log = format!("{OURS}/cargo.json");
    let mut build = vec![format!("mkdir -p {OURS}"), format!("{line} >{log}")];
    let mut programs = Vec::new();
    for target in targets {
        let file = format!("{OURS}/{}", unique(target));
        // Cargo reports the path of each program, because the file name contains a hash.
        let source = regex::escape(&target.source).replace('/', r"\/");
        let found = format!(r#"s/.*"src_path":"[^"]*\/{source}".*"executable":"\([^"]*\)".*/\1/p"#);
        build.push(format!("cp \"$(sed -n {} {log} | tail -n 1)\" {}", word(&found), word(&file)));
        programs.push(Program {
            name: unique(target),
            command: word(&file),
            directory: (!target.directory.is_empty()).then(|| target.directory.clone()),
            variables: Vec::new(),
            is_timed: false,
            sources: vec![target.source.clone()],
            is_linked: true,
        });
    }
    let libraries: Vec<&str> = libraries.iter().map(String::as_str).collect();
    let evidence = format!("{} uses {}", within(root, "Cargo.toml"), libraries.join(", "));
    ProgramGroup { tool: "Cargo", evidence, build, programs }
}
