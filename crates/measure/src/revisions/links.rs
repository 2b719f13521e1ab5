//! Links one revision several times with different section orders. Passes the seed of the order to
//! the linker, regardless of the build system.
//!
//! GCC and Clang look for the linker first in the directories of `COMPILER_PATH` (gcc(1),
//! "Environment Variables"). A script of ours in such a directory takes the linker's place and
//! starts mold or lld with the seed, so that neither build files nor variables with the project's
//! own options have to be changed. Rust's compiler uses its own linker, and cargo relinks only with
//! different options: for them the seed is in `RUSTFLAGS`. Other build systems find it in
//! `ASSAY_BUILD_SEED`.

use super::RevisionError;
use crate::command::Command;
use assay_data::private;
use std::env;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The names under which compilers look for a linker.
const ASKED_FOR: [&str; 5] = ["ld", "ld.bfd", "ld.gold", "ld.lld", "ld.mold"];
/// The variable with the seed of a link.
pub const SEED: &str = "ASSAY_BUILD_SEED";

/// Number of links, and the program to link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Links {
    /// Number of links.
    pub count: u32,
    /// The program, relative to the top of the tree.
    pub program: PathBuf,
    /// The linker that shuffles; `None` leaves it to the build line.
    pub linker: Option<Linker>,
}

/// A linker that can shuffle sections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linker {
    /// mold, of any version.
    Mold,
    /// lld, from LLVM 11 on.
    Lld,
}

impl Linker {
    /// Returns the installed linker, preferring mold to lld.
    pub fn installed() -> Option<Self> {
        let is_there = |name: &str| Command::new([name]).is_ok_and(|it| it.resolve().is_ok());
        let known = [(Self::Mold, "mold"), (Self::Lld, "ld.lld")];
        known.into_iter().find(|(_, name)| is_there(name)).map(|(linker, _)| linker)
    }

    /// Returns its name.
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

    /// Returns the script, which uses the linker's absolute path, since its name would find the
    /// script again.
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
    /// Returns the file of a link, counted from 1; it is next to the program, which may need
    /// adjacent files.
    pub fn file(&self, number: u32) -> PathBuf {
        let mut name = self.program.clone().into_os_string();
        name.push(format!("-build-{number}"));
        name.into()
    }

    /// Returns the part of a tree's identity that depends on the links.
    pub(super) fn key(&self) -> String {
        let linker = self.linker.map_or("", Linker::name);
        format!("{} links of {} by {linker}", self.count, self.program.display())
    }

    /// Puts our script in the linker's place, in a separate directory below `home`.
    pub(super) fn prepare(&self, home: &Path) -> Result<(), RevisionError> {
        let Some(script) = self.linker.and_then(Linker::script) else { return Ok(()) };
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| RevisionError::Cache { path, source }
        };
        let directory = self.directory(home);
        private::directory(&directory).map_err(failed(&directory))?;
        for name in ASKED_FOR {
            let path = directory.join(name);
            // Another assay may be running it: replace it atomically.
            let new = directory.join(format!(".{name}-{}", std::process::id()));
            fs::write(&new, &script).map_err(failed(&new))?;
            fs::set_permissions(&new, Permissions::from_mode(0o700)).map_err(failed(&new))?;
            fs::rename(&new, &path).map_err(failed(&path))?;
        }
        Ok(())
    }

    fn directory(&self, home: &Path) -> PathBuf {
        home.join(format!("linker-{}", self.linker.map_or("none", Linker::name)))
    }

    /// Returns the variables of a link, counted from 1.
    pub(super) fn variables(&self, home: &Path, number: u32) -> Vec<(String, String)> {
        let seed = number.to_string();
        let mut set = vec![(SEED.to_owned(), seed.clone())];
        if let Some(linker) = self.linker {
            let before = |name: &str, own: String, between: &str| {
                let inherited = env::var(name).ok().filter(|text| !text.is_empty());
                let text = match inherited {
                    Some(inherited) if between == ":" => format!("{own}:{inherited}"),
                    Some(inherited) => format!("{inherited} {own}"),
                    None => own,
                };
                (name.to_owned(), text)
            };
            let directory = self.directory(home).display().to_string();
            set.push(before("COMPILER_PATH", directory, ":"));
            let (name, shuffling) = (linker.name(), linker.shuffling(&seed));
            let rust = format!("-Clink-arg=-fuse-ld={name} -Clink-arg=-Wl,{shuffling}");
            set.push(before("RUSTFLAGS", rust, " "));
        }
        set
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
        assert!(set[2].1.ends_with("-Wl,--shuffle-sections=2"), "{set:?}");
    }
}
