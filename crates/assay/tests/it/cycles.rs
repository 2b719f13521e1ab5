//! The dependencies between the files of a crate: cycles are few and short, so that a file can be
//! read after those that it uses.
//!
//! A file depends on another one if a private `use` in it names something that the other file
//! defines, whichever module re-exports it. Re-exports (`pub use`), declarations of modules, paths
//! within other code, and tests are not counted. To break a cycle, move what both files need to the
//! file that owns the idea.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Maximum number of cycles in the workspace, and of the files in one.
const MOST: (usize, usize) = (8, 2);

/// The names of a path, from the root of its crate.
type Names = Vec<String>;

/// An imported name.
struct Import {
    name: String,
    path: Names,
    /// True if other files can import it from here.
    is_passed_on: bool,
}

struct Module {
    file: PathBuf,
    children: BTreeSet<String>,
    imports: Vec<Import>,
}

/// The modules below a root file, by their paths.
struct Tree(BTreeMap<Names, Module>);

impl Tree {
    fn below(root: &Path) -> Self {
        let mut tree = BTreeMap::new();
        let mut open = vec![(Names::new(), root.to_owned())];
        while let Some((path, file)) = open.pop() {
            let module = Module::read(file, &path);
            // The children of `a.rs` are in `a/`, and those of a root are next to it.
            let mut directory = root.parent().expect("a directory").to_owned();
            directory.extend(&path);
            for child in &module.children {
                let below = |name: &str| directory.join(name);
                let places = [below(&format!("{child}.rs")), below(child).join("mod.rs")];
                let own = path.iter().cloned().chain([child.clone()]).collect();
                open.extend(places.into_iter().find(|place| place.exists()).map(|p| (own, p)));
            }
            tree.insert(path, module);
        }
        Self(tree)
    }

    /// Returns the module that defines the item at a path seen from `from`; `None` outside the
    /// crate.
    fn owner(&self, from: &Names, path: &[String]) -> Option<&Names> {
        let mut here = from.clone();
        let mut rest = path;
        match rest.first()?.as_str() {
            "crate" => (here, rest) = (Names::new(), &rest[1..]),
            "self" => rest = &rest[1..],
            "super" => {
                while rest.first().is_some_and(|name| name == "super") {
                    here.pop();
                    rest = &rest[1..];
                }
            }
            first if self.0[from].children.contains(first) => {}
            _ => return None,
        }
        while let Some(name) = rest.first() {
            let module = self.0.get(&here)?;
            let mut below = here.clone();
            below.push(name.clone());
            if self.0.contains_key(&below) {
                (here, rest) = (below, &rest[1..]);
                continue;
            }
            let import = module.imports.iter().find(|import| import.name == *name);
            let is_here = |import: &&Import| import.path.first() != Some(name);
            return match import.filter(is_here) {
                Some(import) => self.owner(&here, &[&import.path, &rest[1..]].concat()),
                None => self.0.get_key_value(&here).map(|(path, _)| path),
            };
        }
        self.0.get_key_value(&here).map(|(path, _)| path)
    }

    /// Returns the files that each file uses, with the imported names.
    fn edges(&self) -> BTreeMap<&Path, BTreeMap<&Path, String>> {
        let mut edges: BTreeMap<&Path, BTreeMap<&Path, String>> = BTreeMap::new();
        for (path, module) in &self.0 {
            let own = edges.entry(&module.file).or_default();
            for import in module.imports.iter().filter(|import| !import.is_passed_on) {
                let owner =
                    self.owner(path, &import.path).map(|owner| self.0[owner].file.as_path());
                if let Some(owner) = owner.filter(|owner| *owner != module.file) {
                    own.insert(owner, import.name.clone());
                }
            }
        }
        edges
    }
}

impl Module {
    fn read(file: PathBuf, path: &Names) -> Self {
        let text = fs::read_to_string(&file).expect("a file of text");
        let (mut children, mut imports) = (BTreeSet::new(), Vec::new());
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            if line == "#[cfg(test)]" {
                let next = lines.next().unwrap_or_default();
                // Everything after it is a test.
                if next.starts_with("mod ") && next.ends_with('{') {
                    break;
                }
                continue;
            }
            let (is_passed_on, rest) = match line.strip_prefix("pub") {
                Some(rest) => (true, rest.split_once(' ').map_or("", |(_, rest)| rest)),
                None => (false, line),
            };
            if let Some(child) = rest.strip_prefix("mod ").and_then(|rest| rest.strip_suffix(';')) {
                children.insert(child.to_owned());
            } else if let Some(begun) = rest.strip_prefix("use ") {
                let mut tree = begun.to_owned();
                while !tree.ends_with(';') {
                    tree += lines.next().unwrap_or(";");
                }
                expand(&[], tree.trim_end_matches(';'), is_passed_on, &mut imports);
            }
        }
        assert!(path.is_empty() || file.exists());
        Self { file, children, imports }
    }
}

/// Adds the names of a `use` tree.
fn expand(before: &[String], tree: &str, is_passed_on: bool, imports: &mut Vec<Import>) {
    let tree = tree.trim();
    if let Some((head, group)) = tree.split_once('{') {
        let head = head.split("::").filter(|name| !name.is_empty()).map(str::to_owned);
        let before: Names = before.iter().cloned().chain(head).collect();
        let group = group.strip_suffix('}').expect("a group ends");
        let (mut depth, mut from) = (0, 0);
        for (at, c) in group.char_indices().chain([(group.len(), ',')]) {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    expand(&before, &group[from..at], is_passed_on, imports);
                    from = at + 1;
                }
                _ => {}
            }
        }
    } else if !tree.is_empty() {
        let (path, alias) = tree.split_once(" as ").map_or((tree, None), |(p, a)| (p, Some(a)));
        let names = path.split("::").map(str::to_owned);
        let mut path: Names = before.iter().cloned().chain(names).collect();
        if path.last().is_some_and(|name| name == "self") {
            path.pop();
        }
        let name = alias.map_or_else(|| path.last().cloned().unwrap_or_default(), str::to_owned);
        imports.push(Import { name, path, is_passed_on });
    }
}

/// Returns every file that can be reached from one, over at least one edge.
fn reached<'a>(
    edges: &BTreeMap<&'a Path, BTreeMap<&'a Path, String>>,
    from: &'a Path,
) -> BTreeSet<&'a Path> {
    let (mut reached, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(file) = open.pop() {
        for next in edges.get(file).into_iter().flat_map(BTreeMap::keys) {
            if reached.insert(*next) {
                open.push(next);
            }
        }
    }
    reached
}

#[test]
fn cycles_of_files_are_few_and_short() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut cycles: Vec<String> = Vec::new();
    let mut longest = 0;
    for entry in fs::read_dir(&crates).expect("the crates").flatten() {
        let roots = ["lib.rs", "main.rs"].map(|name| entry.path().join("src").join(name));
        for root in roots.iter().filter(|root| root.exists()) {
            let tree = Tree::below(root);
            assert!(tree.0.len() > 1, "{}: its modules were not found", root.display());
            let edges = tree.edges();
            let from = edges.keys().map(|file| (*file, reached(&edges, file)));
            let reached: BTreeMap<&Path, BTreeSet<&Path>> = from.collect();
            let mut known: BTreeSet<&Path> = BTreeSet::new();
            for (file, others) in &reached {
                let both = |other: &&&Path| reached.get(**other).is_some_and(|o| o.contains(file));
                let cycle: BTreeSet<&Path> = others.iter().filter(both).copied().collect();
                if cycle.is_empty() || !known.insert(file) {
                    continue;
                }
                known.extend(&cycle);
                longest = longest.max(cycle.len());
                let short = |file: &Path| {
                    file.strip_prefix(&crates).expect("below the crates").display().to_string()
                };
                let uses = cycle.iter().flat_map(|file| {
                    let within = edges[file].iter().filter(|(other, _)| cycle.contains(*other));
                    within.map(|(other, what)| {
                        format!("    {} uses {what} of {}", short(file), short(other))
                    })
                });
                let uses: Vec<String> = uses.collect();
                cycles.push(format!("{} files:\n{}", cycle.len(), uses.join("\n")));
            }
        }
    }
    assert!(
        cycles.len() <= MOST.0 && longest <= MOST.1,
        "{} cycles, the longest of {longest} files:\n{}",
        cycles.len(),
        cycles.join("\n")
    );
}

#[test]
fn a_cycle_is_found_wherever_its_names_are_passed_on() {
    let room = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(room.path().join(name), text).unwrap();
    fs::create_dir(room.path().join("a")).unwrap();
    write("lib.rs", "mod a;\nmod c;\npub use c::C;\n");
    write("a.rs", "mod b;\npub use b::B;\nuse crate::{C as D};\n");
    write("a/b.rs", "use std::fs;\n#[cfg(test)]\nmod tests {\nuse super::Other;\n}\n");
    write("c.rs", "use crate::a::{B, b::{self}};\n");
    let tree = Tree::below(&room.path().join("lib.rs"));
    let edges = tree.edges();
    let used = |file: &str| -> Vec<&str> {
        let used = edges[room.path().join(file).as_path()].keys();
        used.map(|file| file.file_name().unwrap().to_str().unwrap()).collect()
    };
    assert_eq!(
        [used("lib.rs"), used("a.rs"), used("a/b.rs"), used("c.rs")],
        [vec![], vec!["c.rs"], vec![], vec!["b.rs"]]
    );
    assert!(reached(&edges, &room.path().join("c.rs")).len() == 1);
}
