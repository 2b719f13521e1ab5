//! Checks before any work is done that the output files named on a command line can be written, and
//! do not overwrite its input files.
//!
//! A typo must neither waste nor destroy a measurement. Nothing is written here.

use crate::console::whole_file;
use anyhow::Context;
use std::path::{Path, PathBuf};

/// An output file: the option that names it, its path, and an example of a file name, which the
/// error message shows if the path is a directory.
pub type OutputFile<'a> = (&'static str, &'a Path, &'static str);

/// Checks that every output can be written, and that none is the same file as another output or an
/// input.
///
/// # Errors
///
/// Returns an error if an output cannot be written or is the same file as another. The message
/// names the option.
pub fn check(inputs: &[PathBuf], outputs: &[OutputFile<'_>]) -> anyhow::Result<()> {
    let named: Vec<_> = outputs.iter().map(|&(option, path, _)| (option, path)).collect();
    check_distinct(inputs, &named)?;
    for (option, path, such_as) in outputs {
        whole_file::check(path, such_as).with_context(|| format!("{option} {}", path.display()))?;
    }
    Ok(())
}

/// Checks that no output, given by its option and path, is the same file as another output or an
/// input.
///
/// # Errors
///
/// Returns an error if two of them are the same file. The message names both.
pub fn check_distinct(inputs: &[PathBuf], outputs: &[(&str, &Path)]) -> anyhow::Result<()> {
    for (place, (option, path)) in outputs.iter().enumerate() {
        if let Some(input) = inputs.iter().find(|input| is_one_file(input, path)) {
            anyhow::bail!(
                "{option} {}: that would overwrite {}, which is read; name another file",
                path.display(),
                input.display()
            );
        }
        if let Some((other, _)) = outputs[..place].iter().find(|(_, o)| is_one_file(o, path)) {
            anyhow::bail!(
                "{option} {}: {other} names the same file; name a different one for each",
                path.display()
            );
        }
    }
    Ok(())
}

/// Returns true if both paths refer to the same regular file, or would once it is created.
pub fn is_one_file(one: &Path, other: &Path) -> bool {
    match (resolved(one), resolved(other)) {
        // Special files such as /dev/stdout can be written any number of times.
        (Some(one), Some(other)) => one == other && (one.is_file() || !one.exists()),
        _ => false,
    }
}

/// Returns the path without links and relative parts. For a file that does not exist yet, only its
/// directory is resolved.
fn resolved(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok().or_else(|| {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        Some(parent.unwrap_or(Path::new(".")).canonicalize().ok()?.join(path.file_name()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_takes_the_place_of_no_input_and_of_no_other_output() {
        let room = tempfile::tempdir().expect("a temporary directory");
        let at = |name: &str| room.path().join(name);
        std::fs::write(at("a.txt"), "1\n").expect("written");
        std::os::unix::fs::symlink(at("a.txt"), at("link")).expect("linked");
        let read = [at("a.txt")];
        let (new, link) = (at("new.html"), at("link"));
        fn page(path: &Path) -> OutputFile<'_> {
            ("--report", path, "report.html")
        }
        assert!(check(&read, &[page(&new)]).is_ok());
        let refused = check(&read, &[page(&link)]).expect_err("the same file");
        assert!(refused.to_string().contains("which is read"), "{refused}");
        let detour = room.path().join(".").join("new.html");
        let twice = check(&read, &[("--export", &new, "x.md"), page(&detour)]);
        assert!(twice.expect_err("twice").to_string().contains("--export names the same file"));
        let out = Path::new("/dev/null");
        assert!(check(&[], &[("--export", out, "x.md"), page(out)]).is_ok());
    }

    #[test]
    fn an_output_without_a_place_is_named_with_its_option() {
        let room = tempfile::tempdir().expect("a temporary directory");
        let told = |path: &Path| {
            let refused = check(&[], &[("--junit", path, "junit.xml")]).expect_err("no place");
            format!("{refused:#}")
        };
        let missing = told(&room.path().join("none/x.xml"));
        assert!(missing.starts_with("--junit "), "{missing}");
        assert!(missing.ends_with("none does not exist"), "{missing}");
        assert!(told(room.path()).ends_with("/junit.xml"));
    }
}
