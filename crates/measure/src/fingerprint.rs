//! Digests of the files that make up a command, so that a resumed or repeated run can detect
//! whether it still measures the same program.
//!
//! The files are the program and every argument that names a regular file, because a script is as
//! much a part of the program as its interpreter. Files that these load are not considered. This
//! module does not judge differences.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::command::Command;

/// Size in bytes above which files are identified by size and modification time, since reading them
/// would take longer than many measurements.
const LARGEST: u64 = 256 << 20;

/// Digests of files; each file is read once, even if it belongs to several commands.
#[derive(Debug, Default)]
pub struct Fingerprints {
    known: HashMap<PathBuf, Option<String>>,
}

impl Fingerprints {
    /// Returns the files of a command in the order of its words, each once, as pairs of absolute
    /// path and digest. The digest is `sha256:…`, or `size:…,changed:…` for a file above 256 MiB.
    /// Unreadable files are left out, because whether they can be run is checked elsewhere.
    /// O(bytes).
    pub fn files_of(&mut self, command: &Command) -> Vec<(String, String)> {
        let mut found: Vec<(String, String)> = Vec::new();
        for path in paths_of(command) {
            let Some(path) = located(&path, command.cwd.as_deref()) else { continue };
            let name = path.display().to_string();
            if found.iter().any(|(known, _)| *known == name) {
                continue;
            }
            if let Some(digest) = self.digest(path) {
                found.push((name, digest));
            }
        }
        found
    }

    /// Returns the digest of a file in the form described at [`files_of`](Self::files_of), or
    /// `None` if it can't be read or is not a regular file. O(bytes).
    pub fn digest(&mut self, path: PathBuf) -> Option<String> {
        let digest = self.known.entry(path);
        digest.or_insert_with_key(|path| digest_of(path).ok().flatten()).clone()
    }
}

/// Returns the paths of the program and of all words of a command that may name files.
fn paths_of(command: &Command) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = command.resolve().into_iter().collect();
    paths.extend(command.argv.iter().skip(1).map(PathBuf::from));
    // A shell line is one argument; its words may name files as well.
    if let Some(line) = command.argv.last().filter(|_| command.shell) {
        paths.extend(line.to_string_lossy().split_whitespace().map(PathBuf::from));
    }
    paths
}

/// Returns the absolute path of a file that a command names, given the command's working directory.
pub(crate) fn located(path: &Path, directory: Option<&Path>) -> Option<PathBuf> {
    let path = match directory {
        Some(directory) => directory.join(path),
        None => path.to_owned(),
    };
    std::path::absolute(path).ok()
}

/// Returns the digest of a regular file, or `None` for anything else.
fn digest_of(path: &Path) -> io::Result<Option<String>> {
    let about = std::fs::metadata(path)?;
    if !about.is_file() {
        return Ok(None);
    }
    if about.len() > LARGEST {
        use std::os::unix::fs::MetadataExt;
        return Ok(Some(format!("size:{},changed:{}", about.len(), about.mtime())));
    }
    let mut file = File::open(path)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; about.len().clamp(1, 1 << 16) as usize];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => hash.update(&buffer[..n]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let mut text = String::from("sha256:");
    for byte in hash.finalize() {
        text.push_str(&format!("{byte:02x}"));
    }
    Ok(Some(text))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;

    #[test]
    fn a_script_counts_as_much_as_its_interpreter_and_a_change_shows() {
        let room = tempfile::tempdir().unwrap();
        let script = room.path().join("work.sh");
        std::fs::write(&script, "").unwrap();
        let mut command = Command::parse("sh work.sh nothing /dev/null", false).unwrap();
        command.cwd = Some(room.path().to_owned());
        let before = Fingerprints::default().files_of(&command);
        assert_eq!(before.len(), 2);
        assert!(before[0].0.ends_with("/sh"));
        // The digest of an empty file is well known.
        assert!(before[1].1.starts_with("sha256:e3b0c44298fc1c149afbf4c8996fb924"));
        std::fs::write(&script, "exit").unwrap();
        let after = Fingerprints::default().files_of(&command);
        assert_eq!(after[0], before[0]);
        assert_ne!(after[1].1, before[1].1);
    }
}
