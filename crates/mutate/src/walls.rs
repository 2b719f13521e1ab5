//! The sandbox in which changed programs run. It shows them the system, the programs on PATH, and
//! what is installed for the project, and lets them write only to their copy. If the user opts out,
//! they run without a sandbox.

use crate::installed;
use anyhow::Context;
use assay_measure::Command;
use assay_measure::sandbox::{Policy, Sandbox, SandboxedCommand};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Per-user installations: the environment variable of the directory, its default below the home
/// directory, and the part of it that is readable. The home directory within the sandbox is a
/// different one.
const INSTALLED: [(&str, &str, &str); 7] = [
    ("CARGO_HOME", ".cargo", ""),
    ("RUSTUP_HOME", ".rustup", ""),
    ("GOPATH", "go", ""),
    ("PYENV_ROOT", ".pyenv", ""),
    ("RBENV_ROOT", ".rbenv", ""),
    ("NVM_DIR", ".nvm", ""),
    ("PYTHONUSERBASE", ".local", "lib"),
];
/// Name of the directory for caches within the `room` of [`Walls::command`].
pub(crate) const CACHE: &str = "cache";
/// Files in directories of installations that must not be readable in the sandbox.
const SECRET: [&str; 3] = ["credentials", "credentials.toml", "share/keyrings"];

/// The isolation of changed programs from the machine.
#[derive(Debug)]
pub(crate) struct Walls {
    /// The sandbox; `None` if changed programs run without isolation.
    sandbox: Option<Sandbox>,
    /// Readable paths in addition to the system.
    reads: Vec<PathBuf>,
    /// Directories that only root can reach and that are made readable in the sandbox.
    opened: Vec<PathBuf>,
    /// Files with secrets in the readable directories, which are hidden in the sandbox.
    hides: Vec<PathBuf>,
    /// Environment variables with the directories of installations, which cannot be found through
    /// the home directory.
    places: Vec<(&'static str, PathBuf)>,
}

impl Walls {
    /// Creates the sandbox of this machine in which `readable` can be read; without isolation if
    /// `without` is true.
    ///
    /// # Errors
    /// If there is no sandbox on this machine.
    pub fn of(
        without: bool,
        readable: &[PathBuf],
        (top, argv): (&Path, &[OsString]),
    ) -> anyhow::Result<Self> {
        if without {
            let (reads, opened) = (Vec::new(), Vec::new());
            let (hides, places) = (Vec::new(), Vec::new());
            return Ok(Self { sandbox: None, reads, opened, hides, places });
        }
        let sandbox = Sandbox::find().context(
            "a changed program may delete files, so it is only run in a sandbox, and none is available here; --no-sandbox runs it as your user",
        )?;
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let path = std::env::var_os("PATH").unwrap_or_default();
        // Installations are next to the directories of their programs: `~/.rbenv/shims`,
        // `~/.pyenv/versions`.
        let beside = std::env::split_paths(&path).filter_map(|own| Some(own.parent()?.to_owned()));
        let is_too_much = |own: &PathBuf| {
            own.parent().is_none() || home.as_ref().is_some_and(|home| home.starts_with(own))
        };
        let beside = beside.chain(of_program(argv));
        let mut reads: Vec<PathBuf> =
            beside.filter(|own| !is_too_much(own) && !top.starts_with(own)).collect();
        reads.extend(installed::all(top));
        let places = places(home.as_deref());
        reads.extend(places.iter().map(|(own, read, _)| own.join(read)));
        let is_system =
            |own: &PathBuf| ["/usr", "/bin", "/sbin"].iter().any(|system| own.starts_with(system));
        reads.retain(|own| own.is_absolute() && own.exists() && !is_system(own));
        reads.sort();
        reads.dedup();
        // Paths that the sandbox user cannot read outside cannot be shown to it within the sandbox.
        let policy = Policy::default();
        let is_readable = |own: &PathBuf| sandbox.check(&policy, std::slice::from_ref(own)).is_ok();
        let (mut reads, closed): (Vec<PathBuf>, Vec<PathBuf>) =
            reads.into_iter().partition(is_readable);
        let mut opened: Vec<PathBuf> =
            closed.into_iter().filter(|own| sandbox.opens(own)).collect();
        for own in readable {
            let own =
                own.canonicalize().with_context(|| format!("--readable {}", own.display()))?;
            match sandbox.check(&policy, std::slice::from_ref(&own)) {
                Ok(()) => reads.push(own),
                Err(_) if sandbox.opens(&own) => opened.push(own),
                Err(error) => return Err(error).context("--readable"),
            }
        }
        let is_read = |(own, read, _): &(PathBuf, &str, &str)| {
            reads.contains(&own.join(read)) || opened.contains(&own.join(read))
        };
        let places = places.into_iter().filter(is_read);
        let places = places.map(|(own, _, name)| (name, own)).collect();
        // Files of these names within the project are not secrets of the user's installations.
        let outside = reads.iter().chain(&opened).filter(|own| !own.starts_with(top));
        let secret = outside.flat_map(|own| SECRET.map(|below| own.join(below)));
        let hides = secret.filter(|own| own.exists()).collect();
        Ok(Self { sandbox: Some(sandbox), reads, opened, hides, places })
    }

    /// Makes a private directory accessible to the user within the sandbox.
    ///
    /// # Errors
    /// If it cannot be handed over.
    pub fn hand_over(&self, directory: &Path) -> anyhow::Result<()> {
        match &self.sandbox {
            Some(sandbox) => Ok(sandbox.hand_over(directory)?),
            None => Ok(()),
        }
    }

    /// Checks that everything the tests need can be read within the sandbox.
    ///
    /// # Errors
    /// If something cannot be read; the error names it.
    pub fn check(&self, argv: &[OsString]) -> anyhow::Result<()> {
        let Some(sandbox) = &self.sandbox else { return Ok(()) };
        let path = std::env::var_os("PATH").unwrap_or_default();
        let program = argv.first().and_then(|word| {
            std::env::split_paths(&path).map(|own| own.join(word)).find(|own| own.is_file())
        });
        // Only the program is required; the other readable paths are optional.
        let policy = Policy::default();
        let temporary = std::env::temp_dir();
        sandbox
            .check(&policy, &[temporary])
            .context("the copies of the project are created in the directory for temporary files; set TMPDIR to another one")?;
        let is_opened = |own: &Path| self.opened.iter().any(|above| own.starts_with(above));
        // The program of a Python virtual environment is a link to the interpreter.
        let is_shown =
            |own: &PathBuf| is_opened(own) || own.canonicalize().is_ok_and(|own| is_opened(&own));
        let beside: Vec<PathBuf> = program.into_iter().filter(|own| !is_shown(own)).collect();
        sandbox
            .check(&policy, &beside)
            .context("the tests can't be run in the sandbox; --no-sandbox runs them as your user")
    }

    /// Returns a command that runs within the sandbox. It starts in `directory` and may write to a
    /// copy of the project and to `room`, which holds the command's caches. The second value
    /// returned keeps the command's limits in force.
    ///
    /// # Errors
    /// If the command cannot be created.
    pub fn command(
        &self,
        argv: Vec<OsString>,
        env: BTreeMap<String, String>,
        directory: &Path,
        (copy, room): (&Path, &Path),
    ) -> anyhow::Result<(Command, Option<SandboxedCommand>)> {
        let failed = |error| anyhow::anyhow!("{error}");
        let Some(sandbox) = &self.sandbox else {
            let command = Command::new(argv).map_err(failed)?;
            let env = env.into_iter().collect();
            return Ok((Command { env, cwd: Some(directory.to_owned()), ..command }, None));
        };
        // The home directory and the directory for temporary files are different ones in the
        // sandbox.
        let mut environment: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
        ["HOME", "TMPDIR", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME"].iter().for_each(|name| {
            environment.remove(&OsString::from(name));
        });
        let places = self.places.iter().map(|(name, own)| (OsString::from(name), own.into()));
        environment.extend(places);
        environment.insert("XDG_CACHE_HOME".into(), room.join(CACHE).into());
        environment.extend(env.into_iter().map(|(name, value)| (name.into(), value.into())));
        let above = copy.parent().map(|above| above.join(installed::NODE));
        let reads = self.reads.iter().cloned().chain(above.filter(|own| own.exists()));
        let policy = Policy {
            directory: directory.to_owned(),
            reads: reads.collect(),
            opened: self.opened.clone(),
            writes: vec![copy.to_owned(), room.to_owned()],
            hides: self.hides.clone(),
            environment: environment.into_iter().collect(),
            ..Policy::default()
        };
        let entered = sandbox.enter(&policy, &argv)?;
        let command = Command::new(entered.argv.clone()).map_err(failed)?;
        Ok((command, Some(entered)))
    }
}

/// Returns the directories in which the program of a command and its interpreter are installed.
fn of_program(argv: &[OsString]) -> Vec<PathBuf> {
    let Some(word) = argv.first() else { return Vec::new() };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut all = std::env::split_paths(&path).map(|own| own.join(word));
    let named = Path::new(word);
    let found = match named.components().count() {
        1 => all.find(|own| own.is_file()),
        _ => std::path::absolute(named).ok().filter(|own| own.is_file()),
    };
    let Some(found) = found else { return Vec::new() };
    // `bin/python` of a virtual environment leads to the interpreter that created it.
    let places = [Some(found.clone()), found.canonicalize().ok()].into_iter().flatten();
    let above = places.filter_map(|own| Some(own.parent()?.parent()?.to_owned()));
    let above: Vec<PathBuf> = above.collect();
    let interpreters = above.iter().filter_map(|own| installed::interpreter(own));
    interpreters.collect::<Vec<_>>().into_iter().chain(above.clone()).collect()
}

/// Returns the installations of this user: the directory, its readable part, and the variable that
/// names the directory.
fn places(home: Option<&Path>) -> Vec<(PathBuf, &'static str, &'static str)> {
    let place = |(name, below, read): (&'static str, &str, &'static str)| {
        let own = std::env::var_os(name).map(PathBuf::from);
        let own = own.or_else(|| Some(home?.join(below)))?;
        own.join(read).is_dir().then_some((own, read, name))
    };
    INSTALLED.into_iter().filter_map(place).collect()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;

    #[test]
    fn what_a_user_installed_is_found_without_their_home() {
        let home = tempfile::tempdir().unwrap();
        for own in [".cargo/bin", ".local/lib", ".local/share"] {
            std::fs::create_dir_all(home.path().join(own)).unwrap();
        }
        let found = places(Some(home.path()));
        let of = |name: &str| found.iter().find(|(_, _, own)| *own == name);
        // If the variable is set, it names another directory.
        if std::env::var_os("CARGO_HOME").is_none() {
            assert_eq!(of("CARGO_HOME").unwrap().0, home.path().join(".cargo"));
        }
        if std::env::var_os("PYTHONUSERBASE").is_none() {
            assert_eq!(
                *of("PYTHONUSERBASE").unwrap(),
                (home.path().join(".local"), "lib", "PYTHONUSERBASE")
            );
        }
        if std::env::var_os("NVM_DIR").is_none() {
            assert!(of("NVM_DIR").is_none());
        }
    }
}
