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
    let known = [
        ("package-lock.json", "npm ci --no-audit --no-fund"),
        ("pnpm-lock.yaml", "$(command -v pnpm || echo npx --yes pnpm) install --frozen-lockfile"),
        ("yarn.lock", "$(command -v yarn || echo npx --yes yarn) install --frozen-lockfile"),
        ("bun.lock", "$(command -v bun || echo npx --yes bun) install --frozen-lockfile"),
    ];
    let found = known.into_iter().find(|(file, _)| tree.has(file));
    Some(found.map_or("npm install --no-audit --no-fund", |(_, line)| line).to_owned())
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
}
