//! Checks that the output files of a command line do not overwrite its input files.
//!
//! A typing error must not destroy measurements: no output may replace an input or another output.
//! Nothing is written here.

use std::path::{Path, PathBuf};

/// An output file, and the option that names it.
pub type OutputFile<'a> = (&'static str, &'a Path);

/// Checks that no output is the same file as another output or an input.
///
/// # Errors
///
/// If two are the same; the message names both.
pub fn check(inputs: &[PathBuf], outputs: &[OutputFile<'_>]) -> anyhow::Result<()> {
    for (place, (option, path)) in outputs.iter().enumerate() {
        if let Some(input) = inputs.iter().find(|input| is_one_file(input, path)) {
            anyhow::bail!(
                "{option} {}: that would take the place of {}, which is read; give it a file of its own",
                path.display(),
                input.display()
            );
        }
        if let Some((other, _)) = outputs[..place].iter().find(|(_, o)| is_one_file(o, path)) {
            anyhow::bail!(
                "{option} {}: {other} names the same file; give each one of its own",
                path.display()
            );
        }
    }
    Ok(())
}

/// Returns true if both names refer, or would refer, to the same regular file.
pub fn is_one_file(one: &Path, other: &Path) -> bool {
    match (resolved(one), resolved(other)) {
        // Special files such as /dev/stdout can be written any number of times.
        (Some(one), Some(other)) => one == other && (one.is_file() || !one.exists()),
        _ => false,
    }
}

/// Returns the path without links and relative parts; for a file that does not exist yet, its
/// resolved directory with its name.
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
        assert!(check(&read, &[("--report", &new)]).is_ok());
        let refused = check(&read, &[("--report", &link)]).expect_err("the same file");
        assert!(refused.to_string().contains("which is read"), "{refused}");
        let detour = room.path().join(".").join("new.html");
        let twice = check(&read, &[("--export", &new), ("--report", &detour)]);
        assert!(twice.expect_err("twice").to_string().contains("--export names the same file"));
        let out = Path::new("/dev/null");
        assert!(check(&[], &[("--export", out), ("--report", out)]).is_ok());
    }
}
