//! JavaScript on Node.js: `vitest bench`, and scripts that import tinybench or mitata.

use super::{Looked, Program, ProgramGroup, Tree, some, word};
use serde_json::Value;

const SOUGHT: &str = "package.json with vitest and files *.bench.{js,ts}, and scripts that import tinybench or mitata";
const SCRIPTS: [&str; 6] = ["js", "mjs", "cjs", "ts", "mts", "cts"];

pub(super) fn find(tree: &Tree) -> (Vec<ProgramGroup>, Looked) {
    let mut notes = Vec::new();
    let looked = |notes| Looked { tool: "JavaScript", sought: SOUGHT, notes };
    let Some(text) = tree.read("package.json") else {
        notes.push("there is no package.json at the top".to_owned());
        return (Vec::new(), looked(notes));
    };
    let Ok(package) = serde_json::from_str::<Value>(&text) else {
        notes.push("package.json is not JSON".to_owned());
        return (Vec::new(), looked(notes));
    };
    let depends = |name: &str| {
        let tables = ["dependencies", "devDependencies", "peerDependencies"];
        tables.iter().any(|table| package[table].get(name).is_some())
    };
    let mut programs = Vec::new();
    let is_bench = |path: &&str| {
        let name = path.rsplit('/').next().unwrap_or_default();
        [".bench.", ".benchmark."].iter().any(|part| name.contains(part))
    };
    let benches: Vec<String> = match depends("vitest") {
        true => tree.with_extension(&SCRIPTS).filter(is_bench).map(str::to_owned).collect(),
        false => Vec::new(),
    };
    let program = |name: String, command: String, sources: Vec<String>| Program {
        name,
        command,
        directory: None,
        variables: Vec::new(),
        is_timed: false,
        sources,
        is_linked: false,
    };
    if !benches.is_empty() {
        let command = "npx vitest bench".to_owned();
        programs.push(program("vitest".to_owned(), command, benches.clone()));
    }
    let is_test = |path: &str| [".test.", ".spec."].iter().any(|part| path.contains(part));
    let is_known = |path: &&str| benches.iter().any(|bench| bench == path) || is_test(path);
    for path in tree.with_extension(&SCRIPTS).filter(|path| !is_known(path)) {
        if imports(&tree.read(path).unwrap_or_default()) {
            let is_typed = path.rsplit_once('.').is_some_and(|(_, e)| e.ends_with("ts"));
            let node = if is_typed { "npx tsx" } else { "node" };
            let command = format!("{node} {}", word(path));
            programs.push(program(path.to_owned(), command, vec![path.to_owned()]));
        }
    }
    if programs.is_empty() {
        notes.push("package.json and the scripts use none of them".to_owned());
        return (Vec::new(), looked(notes));
    }
    let sources: Vec<String> = programs.iter().flat_map(|own| own.sources.clone()).collect();
    let mut build = installing(tree, &package).into_iter().collect::<Vec<String>>();
    if package["scripts"].get("build").is_some() && !build.is_empty() {
        build.push("npm run --silent build".to_owned());
    }
    let evidence = format!("package.json; benchmarks in {}", some(&sources));
    (vec![ProgramGroup { tool: "JavaScript", evidence, build, programs }], looked(notes))
}

/// Returns true for a script that imports one of the libraries.
fn imports(text: &str) -> bool {
    let ways = ["from ", "require(", "import ", "import("];
    ["tinybench", "mitata"].iter().any(|library| {
        ways.iter().any(|way| {
            ['\'', '"'].iter().any(|quote| text.contains(&format!("{way}{quote}{library}{quote}")))
        })
    })
}

/// Returns the line that installs the packages; `None` if there are no dependencies.
fn installing(tree: &Tree, package: &Value) -> Option<String> {
    let has = |table: &str| package[table].as_object().is_some_and(|own| !own.is_empty());
    if !has("dependencies") && !has("devDependencies") {
        return None;
    }
    if tree.has("package-lock.json") {
        return Some("npm ci --no-audit --no-fund".to_owned());
    }
    let known = [
        ("pnpm-lock.yaml", "pnpm"),
        ("yarn.lock", "yarn"),
        ("bun.lock", "bun"),
        ("bun.lockb", "bun"),
    ];
    let found = known.into_iter().find(|(file, _)| tree.has(file));
    Some(found.map_or_else(
        || "npm install --no-audit --no-fund".to_owned(),
        |(_, name)| format!("{} install --frozen-lockfile", manager(package, name)),
    ))
}

/// Returns the words that start a package manager: the installed one, or the version in
/// `packageManager`, downloaded. The newest version may not run on this Node.js, nor accept the lock
/// file.
fn manager(package: &Value, name: &str) -> String {
    let pinned = package["packageManager"].as_str().and_then(|text| {
        let version = text.strip_prefix(name)?.strip_prefix('@')?;
        // A hash may follow.
        let version = version.split('+').next().unwrap_or_default();
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-".contains(&byte);
        (!version.is_empty() && version.bytes().all(is_plain)).then_some(version)
    });
    let wanted = match pinned {
        // From version 2 on, Yarn is another package.
        Some(version) if name == "yarn" && !version.starts_with("1.") => {
            format!("--package=@yarnpkg/cli-dist@{version} yarn")
        }
        Some(version) => format!("{name}@{version}"),
        None => name.to_owned(),
    };
    format!("$(command -v {name} || echo npx --yes {wanted})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_that_only_names_a_library_does_not_import_it() {
        assert!(imports("import { Bench } from 'tinybench';"));
        assert!(imports("const { bench } = require(\"mitata\");"));
        assert!(imports("const { run } = await import('mitata')"));
        assert!(!imports("addRoute(router, 'GET', '/npm/tinybench'); const name = 'mitata';"));
    }

    #[test]
    fn the_package_manager_is_the_one_that_package_json_names() {
        let of = |pinned: &str, name| manager(&serde_json::json!({"packageManager": pinned}), name);
        let or =
            |name: &str, wanted: &str| format!("$(command -v {name} || echo npx --yes {wanted})");
        assert_eq!(of("pnpm@10.33.4", "pnpm"), or("pnpm", "pnpm@10.33.4"));
        assert_eq!(of("pnpm@9.1.0-rc.2+sha256.12ab", "pnpm"), or("pnpm", "pnpm@9.1.0-rc.2"));
        assert_eq!(of("yarn@1.22.22", "yarn"), or("yarn", "yarn@1.22.22"));
        let modern = "--package=@yarnpkg/cli-dist@4.9.2 yarn";
        assert_eq!(of("yarn@4.9.2", "yarn"), or("yarn", modern));
        // Another manager, nothing, and no version.
        assert_eq!(of("pnpm@10.33.4", "bun"), or("bun", "bun"));
        assert_eq!(manager(&serde_json::json!({}), "pnpm"), or("pnpm", "pnpm"));
        assert_eq!(of("pnpm@1; rm -r x", "pnpm"), or("pnpm", "pnpm"));
    }
}
