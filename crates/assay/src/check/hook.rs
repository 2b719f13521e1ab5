//! Installs and removes the pre-push hook. A hook that assay did not install is never changed.

use crate::output;
use anyhow::{Context, bail};
use assay_measure::revisions::Repository;
use std::fs::{self, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// Text that only occurs in a hook that assay installed.
const MARK: &str = "# Installed by `assay check --install-hook`";

/// Contents of the hook.
const TEXT: &str = "\
#!/bin/sh
# Installed by `assay check --install-hook`; removed by `assay check --remove-hook`.
# Measures before each push whether the benchmarks became slower. To push without it: git push --no-verify
command -v assay >/dev/null || exit 0
# The commits to push come on standard input; if there are only branches to delete, nothing is measured.
pushed=no
while read -r _ commit _; do
    case $commit in *[!0]*) pushed=yes ;; esac
done
[ \"$pushed\" = yes ] || exit 0
assay check || {
    status=$?
    echo 'assay check stopped this push. To push anyway: git push --no-verify' >&2
    exit \"$status\"
}
";

/// Installs the hook.
///
/// # Errors
///
/// Fails if there is another hook, or if the file can't be written.
pub(crate) fn install(repository: &mut Repository) -> anyhow::Result<()> {
    let path = path(repository)?;
    match fs::read_to_string(&path) {
        Ok(text) if text.contains(MARK) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        _ => bail!(
            "{} was not installed by assay, so it is left as it is. To check before each push, add this line to it: assay check",
            path.display()
        ),
    }
    let directory = path.parent().context("a hook is in a directory")?;
    fs::create_dir_all(directory).with_context(|| directory.display().to_string())?;
    crate::whole_file::replace(&path, TEXT.as_bytes())?;
    let runnable = fs::set_permissions(&path, Permissions::from_mode(0o755));
    runnable.with_context(|| path.display().to_string())?;
    output::print(&format!(
        "installed: {}\n`git push` now runs `assay check` first. To push without it: git push --no-verify. To remove it: assay check --remove-hook\n",
        path.display()
    ))
}

/// Removes the hook, if there is one.
///
/// # Errors
///
/// Fails if assay did not install the hook, or if it can't be removed.
pub(crate) fn remove(repository: &mut Repository) -> anyhow::Result<()> {
    let path = path(repository)?;
    match fs::read_to_string(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            output::print("there is no pre-push hook\n")
        }
        Ok(text) if text.contains(MARK) => {
            fs::remove_file(&path).with_context(|| path.display().to_string())?;
            output::print(&format!("removed: {}\n", path.display()))
        }
        _ => bail!("{} was not installed by assay, so it is not removed", path.display()),
    }
}

fn path(repository: &mut Repository) -> anyhow::Result<PathBuf> {
    let hooks = repository.hooks().map_err(crate::revisions::told)?;
    Ok(hooks.join("pre-push"))
}
