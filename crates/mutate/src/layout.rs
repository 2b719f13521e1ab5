//! Determines the directories from which Python tests import the project. A package installed for
//! the user's own interpreter (`pip install -e .`, `pip install .`) is not the copy in which code
//! is changed. A module that every interpreter loads (`drivers/sitecustomize.py`) therefore puts
//! the copy first.

use assay_mutate::mutants::Language;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The module that every interpreter loads.
const HOOK: &str = include_str!("drivers/sitecustomize.py");
/// The directory in a copy that holds this module.
const DIRECTORY: &str = ".assay/python";
/// Directories from which projects commonly import their packages.
const ROOTS: [&str; 4] = ["", "src", "lib", "python"];

/// The packages and modules of a Python project, each with the directory from which it is imported.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    names: BTreeMap<String, String>,
}

impl Layout {
    /// Determines the layout from the paths of a project's files.
    pub fn of(files: &[String]) -> Self {
        let is_package =
            |directory: &str| files.binary_search(&join(directory, "__init__.py")).is_ok();
        let mut names = BTreeMap::new();
        for path in files.iter().filter(|path| path.ends_with(".py")) {
            for root in ROOTS.iter().rev() {
                let below = match root.is_empty() {
                    true => Some(path.as_str()),
                    false => path.strip_prefix(root).and_then(|own| own.strip_prefix('/')),
                };
                let Some(below) = below else { continue };
                let name = match below.split_once('/') {
                    Some((first, _)) if is_package(&join(root, first)) => first,
                    None => below.trim_end_matches(".py"),
                    Some(_) => continue,
                };
                names.entry(name.to_owned()).or_insert_with(|| (*root).to_owned());
                break;
            }
        }
        Self { names }
    }

    /// Writes the module that every interpreter loads into a copy.
    ///
    /// # Errors
    ///
    /// Fails if the module cannot be written.
    pub fn install(&self, top: &Path) -> std::io::Result<()> {
        if self.names.is_empty() {
            return Ok(());
        }
        let directory = top.join(DIRECTORY);
        std::fs::create_dir_all(&directory)?;
        std::fs::write(directory.join("sitecustomize.py"), HOOK)
    }

    /// Adds the environment variables that give the copy at `top` precedence over the project at
    /// `root`.
    pub fn add(&self, env: &mut BTreeMap<String, String>, root: &Path, top: &Path) {
        let (Some(from), Some(to)) = (root.to_str(), top.to_str()) else { return };
        if self.names.is_empty() {
            return;
        }
        let told = serde_json::json!({ "from": from, "to": to, "names": self.names });
        env.insert("ASSAY_COPY".to_owned(), told.to_string());
        let own = top.join(DIRECTORY).display().to_string();
        let known = env.get("PYTHONPATH").cloned().or_else(|| std::env::var("PYTHONPATH").ok());
        let known = known.filter(|known| !known.is_empty());
        let value = known.map_or_else(|| own.clone(), |known| format!("{own}:{known}"));
        env.insert("PYTHONPATH".to_owned(), value);
    }
}

fn join(directory: &str, name: &str) -> String {
    if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") }
}

/// Returns true if a project has sources in a language but the tests loaded none of them, which
/// means that they use another copy.
pub(crate) fn is_elsewhere(
    files: &[String],
    language: Language,
    loaded: &BTreeSet<String>,
) -> bool {
    let is_source = |path: &&String| {
        Language::of_source(Path::new(path)) == Some(language)
            && assay_mutate::mutants::why_passed(language, path, b"").is_none()
            && !path.ends_with("setup.py")
    };
    let mut sources = files.iter().filter(is_source).peekable();
    sources.peek().is_some() && sources.all(|path| !loaded.contains(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_imported_from_the_directory_that_they_are_in() {
        let files = [
            "app/__init__.py",
            "app/sub/a.py",
            "one.py",
            "src/pk/__init__.py",
            "src/two.py",
            "scripts/x.py",
        ];
        let own = Layout::of(&files.map(str::to_owned));
        let names: Vec<_> =
            own.names.iter().map(|(name, root)| (name.as_str(), root.as_str())).collect();
        assert_eq!(names, [("app", ""), ("one", ""), ("pk", "src"), ("two", "src")]);
    }

    #[test]
    fn tests_that_load_no_source_use_another_copy() {
        let files = ["src/pk/__init__.py", "tests/test_a.py"].map(str::to_owned);
        let loaded = |own: &[&str]| own.iter().map(|own| (*own).to_owned()).collect();
        assert!(is_elsewhere(&files, Language::Python, &loaded(&["tests/test_a.py"])));
        assert!(!is_elsewhere(&files, Language::Python, &loaded(&["src/pk/__init__.py"])));
        assert!(!is_elsewhere(&files[1..], Language::Python, &loaded(&[])));
    }
}
