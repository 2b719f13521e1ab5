//! Packages installed in a project's directory (`node_modules`, Python virtual environments). They
//! are only read, so copies contain links to them. Links that point back into the project, such as
//! those of workspaces, point into the copy instead.

use anyhow::Context;
use assay_suites::coverage::NOT_WRITTEN;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// The directory in which Node looks for packages.
pub(crate) const NODE: &str = "node_modules";

/// Returns true if a directory is a Python virtual environment of any name.
pub(crate) fn is_environment(directory: &Path) -> bool {
    directory.join("pyvenv.cfg").is_file()
}

/// Returns all directories of a project in which packages are installed, and the directories that
/// these depend on: the targets of links, and the interpreter of a virtual environment.
/// O(directories).
pub(crate) fn all(top: &Path) -> Vec<PathBuf> {
    let (mut found, mut open) = (Vec::new(), vec![top.to_owned()]);
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            if !path.is_dir() {
                continue;
            }
            let known = NOT_WRITTEN.iter().find(|(own, _)| name == *own).map(|(_, own)| *own);
            if known == Some(true) || is_environment(&path) {
                found.extend(path.canonicalize());
                found.extend(interpreter(&path));
                found.push(path);
            } else if known.is_none() && !path.is_symlink() {
                open.push(path);
            }
        }
    }
    let above = above(top);
    found.extend(above.iter().flat_map(|own| own.canonicalize()));
    found.extend(above);
    found
}

/// Returns the nearest `node_modules` in a directory above a Node project, where Node also looks
/// for modules.
pub(crate) fn above(top: &Path) -> Option<PathBuf> {
    let mut directories = top.ancestors().skip(1).map(|above| above.join(NODE));
    if top.join("package.json").is_file() { directories.find(|own| own.is_dir()) } else { None }
}

/// Returns the directory of the interpreter with which a Python virtual environment was created.
pub(crate) fn interpreter(environment: &Path) -> Option<PathBuf> {
    let settings = fs::read_to_string(environment.join("pyvenv.cfg")).ok()?;
    let home = settings.lines().find_map(|line| {
        let (name, value) = line.split_once('=')?;
        (name.trim() == "home").then(|| value.trim().to_owned())
    })?;
    let programs = PathBuf::from(home).canonicalize().ok()?;
    programs.parent().map(Path::to_owned)
}

/// Links the packages installed in `source` into `target`. `top` is the root directory of the
/// project, and `copy` that of the copy.
///
/// # Errors
///
/// Fails if something cannot be read or linked.
pub(crate) fn link(source: &Path, target: &Path, top: &Path, copy: &Path) -> anyhow::Result<()> {
    let named = |path: &Path| path.display().to_string();
    if !leads_back(source, top) {
        let whole = source.canonicalize().with_context(|| named(source))?;
        return symlink(whole, target).with_context(|| named(target));
    }
    fs::create_dir(target).with_context(|| named(target))?;
    for entry in fs::read_dir(source).with_context(|| named(source))? {
        let entry = entry.with_context(|| named(source))?;
        let (from, to) = (entry.path(), target.join(entry.file_name()));
        match own(&from, top) {
            Some(below) => symlink(copy.join(below), &to).with_context(|| named(&to))?,
            None if is_scope(&from) => link(&from, &to, top, copy)?,
            // A dangling link is kept as a link.
            None => {
                let aim = from.canonicalize().unwrap_or(from);
                symlink(aim, &to).with_context(|| named(&to))?;
            }
        }
    }
    Ok(())
}

/// Returns true if a directory holds packages of one owner, such as `@types`.
fn is_scope(path: &Path) -> bool {
    let name = path.file_name().is_some_and(|own| own.as_encoded_bytes().starts_with(b"@"));
    name && path.is_dir() && !path.is_symlink()
}

/// Returns true if `directory` contains a link into the project.
fn leads_back(directory: &Path, top: &Path) -> bool {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .any(|path| own(&path, top).is_some() || is_scope(&path) && leads_back(&path, top))
}

/// Returns the target of a link, relative to `top`, if it is part of the project and not an
/// installed package itself.
fn own(path: &Path, top: &Path) -> Option<PathBuf> {
    if !path.is_symlink() {
        return None;
    }
    let aim = path.canonicalize().ok()?;
    let below = aim.strip_prefix(top.canonicalize().ok()?).ok()?;
    let is_own = below.iter().all(|part| part != NODE && part != ".venv" && part != "venv");
    is_own.then(|| below.to_owned())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;

    #[test]
    fn links_of_a_workspace_lead_into_the_copy() {
        let room = tempfile::tempdir().unwrap();
        let (top, copy) = (room.path().join("p"), room.path().join("c"));
        for directory in ["p/packages/a", "p/node_modules/@me", "p/node_modules/other", "c"] {
            fs::create_dir_all(room.path().join(directory)).unwrap();
        }
        symlink("../../packages/a", top.join("node_modules/@me/a")).unwrap();
        symlink("../packages/a", top.join("node_modules/a")).unwrap();
        let (source, target) = (top.join("node_modules"), copy.join("node_modules"));
        link(&source, &target, &top, &copy).unwrap();
        let aim = |path: &str| fs::read_link(target.join(path)).unwrap();
        assert_eq!(aim("a"), copy.join("packages/a"));
        assert_eq!(aim("@me/a"), copy.join("packages/a"));
        assert_eq!(aim("other"), top.join("node_modules/other").canonicalize().unwrap());
        // A copy of the copy contains links into itself.
        let second = room.path().join("d");
        fs::create_dir_all(copy.join("packages/a")).unwrap();
        fs::create_dir(&second).unwrap();
        link(&target, &second.join("node_modules"), &copy, &second).unwrap();
        assert_eq!(
            fs::read_link(second.join("node_modules/a")).unwrap(),
            second.join("packages/a")
        );
    }
}
