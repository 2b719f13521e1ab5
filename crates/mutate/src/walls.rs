//! Where changed programs run: in the sandbox of this machine, which sees the system, the programs on PATH, what is installed for the project, and may
//! write its copy alone; or, where the user wants none, as the user.

use anyhow::Context;
use assay_coverage::NOT_WRITTEN;
use assay_measure::Command;
use assay_sandbox::{Entered, Policy, Sandbox};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What stands between a changed program and the machine.
#[derive(Debug)]
pub(crate) struct Walls {
    /// `None`: nothing.
    sandbox: Option<Sandbox>,
    /// What may be read beside the system.
    reads: Vec<PathBuf>,
}

impl Walls {
    /// Those of this machine, through which these may be read; none if `without`.
    ///
    /// # Errors
    /// When there is no sandbox here.
    pub fn of(without: bool, readable: &[PathBuf], top: &Path) -> anyhow::Result<Self> {
        if without {
            return Ok(Self { sandbox: None, reads: Vec::new() });
        }
        let sandbox = Sandbox::find().context(
            "a changed program may delete files, so it runs in a sandbox only, and there is none here; --no-sandbox runs it as you",
        )?;
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let path = std::env::var_os("PATH").unwrap_or_default();
        // What is installed lies beside its programs: `~/.rbenv/shims`, `~/.pyenv/versions`.
        let beside = std::env::split_paths(&path).filter_map(|own| Some(own.parent()?.to_owned()));
        let is_too_much = |own: &PathBuf| {
            own.parent().is_none() || home.as_ref().is_some_and(|home| home.starts_with(own))
        };
        let mut reads: Vec<PathBuf> = beside.filter(|own| !is_too_much(own)).collect();
        let installed = NOT_WRITTEN.iter().filter(|(_, is_installed)| *is_installed);
        reads.extend(installed.map(|(own, _)| top.join(own)));
        let is_system =
            |own: &PathBuf| ["/usr", "/bin", "/sbin"].iter().any(|system| own.starts_with(system));
        reads.retain(|own| own.is_absolute() && own.exists() && !is_system(own));
        reads.sort();
        reads.dedup();
        // Who can't read something outside can't be shown it within.
        let policy = Policy::default();
        reads.retain(|own| sandbox.check(&policy, std::slice::from_ref(own)).is_ok());
        for own in readable {
            let own = own.canonicalize().with_context(|| own.display().to_string())?;
            sandbox.check(&policy, std::slice::from_ref(&own)).context("--readable")?;
            reads.push(own);
        }
        Ok(Self { sandbox: Some(sandbox), reads })
    }

    /// Makes a private directory the place of those within.
    ///
    /// # Errors
    /// When it can't be handed over.
    pub fn hand_over(&self, directory: &Path) -> anyhow::Result<()> {
        match &self.sandbox {
            Some(sandbox) => Ok(sandbox.hand_over(directory)?),
            None => Ok(()),
        }
    }

    /// Whether what they need can be read within.
    ///
    /// # Errors
    /// With what can't be read.
    pub fn check(&self, argv: &[OsString]) -> anyhow::Result<()> {
        let Some(sandbox) = &self.sandbox else { return Ok(()) };
        let path = std::env::var_os("PATH").unwrap_or_default();
        let program = argv.first().and_then(|word| {
            std::env::split_paths(&path).map(|own| own.join(word)).find(|own| own.is_file())
        });
        // Of what may be read, only the program must be.
        let policy = Policy::default();
        let beside: Vec<PathBuf> = program.into_iter().collect();
        sandbox
            .check(&policy, &beside)
            .context("the tests can't be run in the sandbox; --no-sandbox runs them as you")
    }

    /// A command within, which starts in `directory` and may write these; what is given back holds its limits.
    ///
    /// # Errors
    /// When it can't be made.
    pub fn command(
        &self,
        argv: Vec<OsString>,
        env: BTreeMap<String, String>,
        directory: &Path,
        writes: &[&Path],
    ) -> anyhow::Result<(Command, Option<Entered>)> {
        let failed = |error| anyhow::anyhow!("{error}");
        let Some(sandbox) = &self.sandbox else {
            let command = Command::new(argv).map_err(failed)?;
            let env = env.into_iter().collect();
            return Ok((Command { env, cwd: Some(directory.to_owned()), ..command }, None));
        };
        // Their home and their directory for temporary files are others.
        let mut environment: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
        ["HOME", "TMPDIR", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME"].iter().for_each(|name| {
            environment.remove(&OsString::from(name));
        });
        environment.extend(env.into_iter().map(|(name, value)| (name.into(), value.into())));
        let policy = Policy {
            directory: directory.to_owned(),
            reads: self.reads.clone(),
            writes: writes.iter().map(|own| (*own).to_owned()).collect(),
            environment: environment.into_iter().collect(),
            ..Policy::default()
        };
        let entered = sandbox.enter(&policy, &argv)?;
        let command = Command::new(entered.argv.clone()).map_err(failed)?;
        Ok((command, Some(entered)))
    }
}
