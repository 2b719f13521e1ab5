//! JavaScript on Node.js: `vitest bench`, and scripts that import tinybench or mitata.

use super::{Looked, Program, ProgramGroup, Tree, directory_of, matches, some, within, word};
use saphyr::{LoadableYamlNode, Yaml};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const SOUGHT: &str = "package.json with vitest and files *.bench.{js,ts}, and scripts that import tinybench or mitata";
const SCRIPTS: [&str; 6] = ["js", "mjs", "cjs", "ts", "mts", "cts"];
/// Lock files, and the package managers that write them.
const LOCKS: [(&str, &str); 5] = [
    ("package-lock.json", "npm"),
    ("pnpm-lock.yaml", "pnpm"),
    ("yarn.lock", "yarn"),
    ("bun.lock", "bun"),
    ("bun.lockb", "bun"),
];

pub(super) fn find(tree: &Tree) -> (Vec<ProgramGroup>, Looked) {
    let mut notes = Vec::new();
    let packages = Packages::of(tree, &mut notes);
    let is_bench = |path: &&str| {
        let name = path.rsplit('/').next().unwrap_or_default();
        [".bench.", ".benchmark."].iter().any(|part| name.contains(part))
    };
    let is_test = |path: &str| [".test.", ".spec."].iter().any(|part| path.contains(part));
    // Programs by the directory in which their packages are installed.
    let mut projects: BTreeMap<&str, Vec<Program>> = BTreeMap::new();
    let mut of_vitest: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for path in tree.with_extension(&SCRIPTS) {
        let Some(package) = packages.of_file(path) else { continue };
        let project = packages.project(package);
        // Prefer the project's directory if Vitest is installed there, since its settings may name
        // the packages.
        let runs_vitest =
            [project, package].into_iter().find(|own| packages.depends(own, "vitest"));
        if let Some(directory) = runs_vitest.filter(|_| is_bench(&path)) {
            of_vitest.entry(directory).or_default().push(path.to_owned());
        } else if !is_test(path) && imports(&tree.read(path).unwrap_or_default()) {
            let is_typed = path.rsplit_once('.').is_some_and(|(_, e)| e.ends_with("ts"));
            let node = if is_typed { "npx tsx" } else { "node" };
            let below = path.strip_prefix(package).unwrap_or(path).trim_start_matches('/');
            let command = format!("{node} {}", word(below));
            let own = program(path.to_owned(), command, package, vec![path.to_owned()]);
            projects.entry(project).or_default().push(own);
        }
    }
    for (directory, sources) in of_vitest {
        let command = "npx vitest bench".to_owned();
        let own = program(within(directory, "vitest"), command, directory, sources);
        projects.entry(packages.project(directory)).or_default().insert(0, own);
    }
    if projects.is_empty() && !packages.0.is_empty() {
        notes.push("package.json and the scripts use none of them".to_owned());
    }
    let group = |(project, programs): (&str, Vec<Program>)| {
        let sources: Vec<String> = programs.iter().flat_map(|own| own.sources.clone()).collect();
        let manifest = within(project, "package.json");
        ProgramGroup {
            tool: "JavaScript",
            evidence: format!("{manifest}; benchmarks in {}", some(&sources)),
            build: packages.build(tree, project, &sources),
            programs,
        }
    };
    let groups = projects.into_iter().map(group).collect();
    (groups, Looked { tool: "JavaScript", sought: SOUGHT, notes })
}

fn program(name: String, command: String, directory: &str, sources: Vec<String>) -> Program {
    Program {
        name,
        command,
        directory: (!directory.is_empty()).then(|| directory.to_owned()),
        variables: Vec::new(),
        is_timed: false,
        sources,
        is_linked: false,
    }
}

/// A package.json, and where the package's dependencies are installed.
struct Package {
    manifest: Value,
    /// Directory of the workspace or project that the package belongs to.
    project: String,
}

impl Package {
    /// Returns true if the package has a script that builds it.
    fn is_built(&self) -> bool {
        self.manifest["scripts"].get("build").is_some()
    }
}

/// All packages in a tree, by directory, which is empty for the root.
struct Packages(BTreeMap<String, Package>);

impl Packages {
    fn of(tree: &Tree, notes: &mut Vec<String>) -> Self {
        let mut packages = Self(BTreeMap::new());
        // Start with the packages nearest to the root, so that workspaces come before their
        // members.
        for path in tree.named("package.json") {
            let directory = directory_of(path);
            let Some(manifest) = tree.read(path).and_then(|text| serde_json::from_str(&text).ok())
            else {
                notes.push(format!("{path} is not JSON"));
                continue;
            };
            let project = packages.project_of(tree, directory, &manifest).to_owned();
            packages.0.insert(directory.to_owned(), Package { manifest, project });
        }
        if packages.0.is_empty() && notes.is_empty() {
            notes.push("there is no package.json".to_owned());
        }
        packages
    }

    /// Returns the directory in which a package's dependencies are installed: its own, or that of a
    /// package above whose workspace contains it. A package without dependencies, such as one that
    /// only sets the type of its scripts, uses what is installed above.
    fn project_of<'a>(&'a self, tree: &Tree, directory: &'a str, manifest: &Value) -> &'a str {
        let Some(above) = directory
            .rsplit_once('/')
            .map(|(above, _)| above)
            .or(Some(""))
            .filter(|_| !directory.is_empty())
            .and_then(|above| self.of_directory(above))
        else {
            return directory;
        };
        let project = &*self.0[above].project;
        let below = directory.strip_prefix(project).unwrap_or(directory).trim_start_matches('/');
        let patterns = members(tree, project, &self.0[project].manifest);
        let is = |negated: bool| {
            patterns.iter().any(|own| {
                let (rest, is_negated) =
                    own.strip_prefix('!').map_or((&**own, false), |rest| (rest, true));
                is_negated == negated && matches(rest.trim_end_matches('/'), below)
            })
        };
        let is_member = is(false) && !is(true);
        let is_own = has_dependencies(manifest) || lock(tree, directory).is_some();
        if is_own && !is_member { directory } else { project }
    }

    /// Returns the directory of the package that a file belongs to, which is the nearest package
    /// above it.
    fn of_file(&self, path: &str) -> Option<&str> {
        self.of_directory(directory_of(path))
    }

    fn of_directory(&self, directory: &str) -> Option<&str> {
        let holds = |own: &&String| {
            own.is_empty() || directory == *own || directory.starts_with(&format!("{own}/"))
        };
        self.0.keys().filter(holds).max_by_key(|own| own.len()).map(String::as_str)
    }

    fn project(&self, package: &str) -> &str {
        &self.0[package].project
    }

    fn depends(&self, directory: &str, name: &str) -> bool {
        let tables = ["dependencies", "devDependencies", "peerDependencies"];
        let own = self.0.get(directory);
        own.is_some_and(|own| tables.iter().any(|table| own.manifest[table].get(name).is_some()))
    }

    /// Returns the lines that install the packages of a project and build it, or those members of
    /// its workspace that these benchmarks use. The lines for the project above come first, since
    /// its packages may be used.
    fn build(&self, tree: &Tree, project: &str, benchmarks: &[String]) -> Vec<String> {
        let above = project.rsplit_once('/').map_or("", |(above, _)| above);
        let mut lines = match self.of_directory(above).filter(|_| !project.is_empty()) {
            Some(above) => self.build(tree, self.project(above), &[]),
            None => Vec::new(),
        };
        let Some(own) = self.0.get(project) else { return lines };
        let enter = |directory: &str, line: &str| match directory.is_empty() {
            true => line.to_owned(),
            false => format!("(cd {} && {line})", word(directory)),
        };
        if let Some(line) = installing(tree, project, &own.manifest) {
            lines.push(enter(project, &line));
            // The script of the project itself most likely builds its members.
            let built =
                if own.is_built() { vec![project] } else { self.members(project, benchmarks) };
            lines.extend(built.into_iter().map(|own| enter(own, "npm run --silent build")));
        }
        lines
    }

    /// Returns the directories of those members of a project's workspace that have a build script
    /// and that these benchmarks use. Dependencies come first.
    fn members(&self, project: &str, benchmarks: &[String]) -> Vec<&str> {
        let own = self.0.iter().filter(|(_, package)| package.project == project);
        let named = own
            .filter_map(|(own, package)| Some((package.manifest["name"].as_str()?, own.as_str())));
        let directories: BTreeMap<&str, &str> = named.collect();
        let mut open: Vec<(&str, bool)> =
            benchmarks.iter().filter_map(|path| Some((self.of_file(path)?, false))).collect();
        let (mut seen, mut built) = (BTreeSet::new(), Vec::new());
        while let Some((directory, has_dependencies)) = open.pop() {
            let Some(package) = self.0.get(directory).filter(|own| own.project == project) else {
                continue;
            };
            if has_dependencies {
                built.extend(package.is_built().then_some(directory));
            } else if seen.insert(directory) {
                open.push((directory, true));
                let tables = ["dependencies", "devDependencies", "peerDependencies"];
                let names = tables.iter().filter_map(|table| package.manifest[table].as_object());
                let used = names.flatten().filter_map(|(name, _)| directories.get(&**name));
                open.extend(used.map(|own| (*own, false)));
            }
        }
        built
    }
}

/// Returns the patterns of the directories that belong to a package's workspace.
fn members(tree: &Tree, project: &str, manifest: &Value) -> Vec<String> {
    let listed = &manifest["workspaces"];
    let listed = listed.as_array().or_else(|| listed["packages"].as_array());
    let mut found: Vec<String> =
        listed.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
    let text = tree.read(&within(project, "pnpm-workspace.yaml")).unwrap_or_default();
    let documents = Yaml::load_from_str(&text).unwrap_or_default();
    let listed = documents.first().and_then(|own| own.as_mapping_get("packages"));
    let entries = listed.and_then(Yaml::as_sequence).into_iter().flatten();
    found.extend(entries.filter_map(Yaml::as_str).map(str::to_owned));
    found.iter().map(|own| own.trim_start_matches("./").to_owned()).collect()
}

fn has_dependencies(manifest: &Value) -> bool {
    let has = |table: &str| manifest[table].as_object().is_some_and(|own| !own.is_empty());
    has("dependencies") || has("devDependencies")
}

/// Returns the package manager that wrote the lock file in a directory.
fn lock(tree: &Tree, directory: &str) -> Option<&'static str> {
    LOCKS.into_iter().find_map(|(file, name)| tree.has(&within(directory, file)).then_some(name))
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

/// Returns the line that installs the packages of a project; `None` if there is nothing to install.
fn installing(tree: &Tree, project: &str, manifest: &Value) -> Option<String> {
    match lock(tree, project) {
        Some("npm") => Some("npm ci --no-audit --no-fund".to_owned()),
        Some(name) => Some(format!("{} install --frozen-lockfile", manager(manifest, name))),
        None if has_dependencies(manifest) || !members(tree, project, manifest).is_empty() => {
            Some("npm install --no-audit --no-fund".to_owned())
        }
        None => None,
    }
}

/// Returns the shell words that start a package manager: the installed one, or else a download of
/// the version in `packageManager`. The newest version might not run on this Node.js or accept the
/// lock file.
fn manager(package: &Value, name: &str) -> String {
    let pinned = package["packageManager"].as_str().and_then(|text| {
        let version = text.strip_prefix(name)?.strip_prefix('@')?;
        // A hash may follow the version.
        let version = version.split('+').next().unwrap_or_default();
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-".contains(&byte);
        (!version.is_empty() && version.bytes().all(is_plain)).then_some(version)
    });
    let wanted = match pinned {
        // From version 2 on, Yarn is another package, whose projects Yarn 1 refuses.
        Some(version) if name == "yarn" && !version.starts_with("1.") => {
            return format!(
                "$(yarn --version 2>/dev/null | grep -q '^[2-9]' && echo yarn || echo npx --yes --package=@yarnpkg/cli-dist@{version} yarn)"
            );
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
        let modern = of("yarn@4.9.2", "yarn");
        assert!(modern.starts_with("$(yarn --version"), "{modern}");
        assert!(modern.ends_with("|| echo npx --yes --package=@yarnpkg/cli-dist@4.9.2 yarn)"));
        // Another manager, nothing, and no version.
        assert_eq!(of("pnpm@10.33.4", "bun"), or("bun", "bun"));
        assert_eq!(manager(&serde_json::json!({}), "pnpm"), or("pnpm", "pnpm"));
        assert_eq!(of("pnpm@1; rm -r x", "pnpm"), or("pnpm", "pnpm"));
    }
}
