//! Links one revision several times with different section orders, by passing a seed for the order
//! to the linker. This works with any build system.
//!
//! GCC and Clang look for the linker first in the directories of `COMPILER_PATH` (gcc(1),
//! "Environment Variables"). Our script in such a directory replaces the linker and starts mold or
//! lld with the seed, so that neither build files nor variables with the project's own options have
//! to be changed. Rust's compiler tells its C compiler to use another linker. Therefore, cargo is
//! given a script as its linker, which calls the C compiler with our directory and, as the last
//! option, a linker that is found there. The script is the same for all seeds, so that cargo
//! recompiles nothing. Other build systems find the seed in `ASSAY_BUILD_SEED`.

use super::RevisionError;
use crate::command::Command;
use assay_data::private;
use std::env;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The names under which compilers look for a linker.
const ASKED_FOR: [&str; 5] = ["ld", "ld.bfd", "ld.gold", "ld.lld", "ld.mold"];
/// Name of the script that cargo uses as its linker.
const OF_CARGO: &str = "cargo-linker";
/// C libraries of the targets for which cargo uses [`OF_CARGO`].
const C_LIBRARIES: [&str; 2] = ["GNU", "MUSL"];
/// The environment variable with the seed of a link.
pub const SEED: &str = "ASSAY_BUILD_SEED";

/// Which program to link, and how often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Links {
    /// Number of times to link.
    pub count: u32,
    /// Path of the program, relative to the root of the tree.
    pub program: PathBuf,
    /// The linker that shuffles the sections, or `None` to leave shuffling to the build line.
    pub linker: Option<Linker>,
}

/// A linker that can shuffle sections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linker {
    /// Any version of mold.
    Mold,
    /// lld from LLVM 11 or later.
    Lld,
}

impl Linker {
    /// Returns the installed linker, preferring mold to lld. `None` if neither is installed.
    pub fn installed() -> Option<Self> {
        let is_there = |name: &str| Command::new([name]).is_ok_and(|it| it.resolve().is_ok());
        let known = [(Self::Mold, "mold"), (Self::Lld, "ld.lld")];
        known.into_iter().find(|(_, name)| is_there(name)).map(|(linker, _)| linker)
    }

    /// Returns the linker's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mold => "mold",
            Self::Lld => "lld",
        }
    }

    fn shuffling(self, seed: &str) -> String {
        match self {
            Self::Mold => format!("--shuffle-sections={seed}"),
            Self::Lld => format!("--shuffle-sections=*={seed}"),
        }
    }

    /// Returns the script that replaces the linker. It calls the linker by its absolute path,
    /// because the linker's name would lead to the script again.
    fn script(self) -> Option<String> {
        let name = if self == Self::Mold { "mold" } else { "ld.lld" };
        let path = Command::new([name]).ok()?.resolve().ok()?;
        let path = path.display().to_string();
        let path = shell_words::quote(&path);
        let shuffling = self.shuffling(&format!("${SEED}"));
        Some(format!("#!/bin/sh\nexec {path} \"{shuffling}\" \"$@\"\n"))
    }
}

impl Links {
    /// Returns the path of the program made by a link, relative to the root of the tree. Links are
    /// counted from 1. The path is next to the original, which may need files there.
    pub fn file(&self, number: u32) -> PathBuf {
        let mut name = self.program.clone().into_os_string();
        name.push(format!("-build-{number}"));
        name.into()
    }

    /// Returns the links' contribution to the key that identifies a tree.
    pub(super) fn key(&self) -> String {
        let linker = self.linker.map_or("", Linker::name);
        format!("{} links of {} by {linker}", self.count, self.program.display())
    }

    /// Creates the scripts that replace the linker, in a separate directory below `home`.
    pub(super) fn prepare(&self, home: &Path) -> Result<(), RevisionError> {
        let Some(script) = self.linker.and_then(Linker::script) else { return Ok(()) };
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| RevisionError::Cache { path, source }
        };
        let directory = self.directory(home);
        private::directory(&directory).map_err(failed(&directory))?;
        // Every C compiler knows the name `bfd`, and finds our script under it.
        let of_cargo = "#!/bin/sh\nexec cc \"-B${0%/*}\" \"$@\" -fuse-ld=bfd\n";
        let scripts = ASKED_FOR.iter().map(|name| (*name, script.as_str()));
        for (name, text) in scripts.chain([(OF_CARGO, of_cargo)]) {
            let path = directory.join(name);
            // Another `assay` process may be running the script, so replace it atomically.
            let new = directory.join(format!(".{name}-{}", std::process::id()));
            fs::write(&new, text).map_err(failed(&new))?;
            fs::set_permissions(&new, Permissions::from_mode(0o700)).map_err(failed(&new))?;
            fs::rename(&new, &path).map_err(failed(&path))?;
        }
        Ok(())
    }

    fn directory(&self, home: &Path) -> PathBuf {
        home.join(format!("linker-{}", self.linker.map_or("none", Linker::name)))
    }

    /// Returns the environment variables for building a link. Links are counted from 1.
    pub(super) fn variables(&self, home: &Path, number: u32) -> Vec<(String, String)> {
        let seed = number.to_string();
        let mut set = vec![(SEED.to_owned(), seed.clone())];
        if self.linker.is_some() {
            let directory = self.directory(home);
            let inherited = env::var("COMPILER_PATH").ok().filter(|text| !text.is_empty());
            let path = [Some(directory.display().to_string()), inherited];
            let path: Vec<String> = path.into_iter().flatten().collect();
            set.push(("COMPILER_PATH".to_owned(), path.join(":")));
            let of_cargo = directory.join(OF_CARGO).display().to_string();
            set.extend(C_LIBRARIES.map(|library| {
                let machine = env::consts::ARCH.to_uppercase();
                (format!("CARGO_TARGET_{machine}_UNKNOWN_LINUX_{library}_LINKER"), of_cargo.clone())
            }));
        }
        set
    }

    /// Removes the program and its copies from a tree, except tracked files and earlier links. This
    /// is needed because cargo, for example, links again only if its own copy is missing.
    ///
    /// # Errors
    ///
    /// Returns the path that could not be read or removed, and the reason. A missing program is not
    /// an error, because the build line may create it under another name first.
    pub(super) fn remove(
        &self,
        tree: &Path,
        tracked: &[PathBuf],
    ) -> Result<(), (PathBuf, io::Error)> {
        let program = tree.join(&self.program);
        let Ok(content) = fs::read(&program) else { return Ok(()) };
        let kept: Vec<PathBuf> = (1..=self.count).map(|link| tree.join(self.file(link))).collect();
        let mut directories = vec![tree.to_owned()];
        while let Some(directory) = directories.pop() {
            let failed = |source| (directory.clone(), source);
            for entry in fs::read_dir(&directory).map_err(failed)? {
                let entry = entry.map_err(failed)?;
                let (path, own) = (entry.path(), entry.metadata().map_err(failed)?);
                if own.is_dir() && entry.file_name() != ".git" {
                    directories.push(path);
                } else if own.is_file()
                    && own.len() == content.len() as u64
                    && !kept.contains(&path)
                    && !tracked.contains(&path)
                    && fs::read(&path).is_ok_and(|other| other == content)
                {
                    fs::remove_file(&path).map_err(|source| (path, source))?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_link_has_its_file_and_its_seed() {
        let links = Links { count: 3, program: "build/bm".into(), linker: None };
        assert_eq!(links.file(2), Path::new("build/bm-build-2"));
        assert_eq!(links.variables(Path::new("/h"), 2), [(SEED.to_owned(), "2".to_owned())]);
        let by_mold = Links { linker: Some(Linker::Mold), ..links.clone() };
        assert_ne!(links.key(), by_mold.key());
        let set = by_mold.variables(Path::new("/h"), 2);
        assert!(set[1].1.starts_with("/h/linker-mold"), "{set:?}");
        assert!(set[2].0.starts_with("CARGO_TARGET_") && set[2].1.ends_with("/cargo-linker"));
        assert_eq!(set[1..], by_mold.variables(Path::new("/h"), 3)[1..], "only the seed differs");
    }
}
