//! Settings of a suite that are compared as sides of one experiment, and the servers that the suite
//! needs: `--toggle`, `--with` and `--server`.
//!
//! `assay_suites::toggles` defines toggles and their sides, and `assay_measure::servers` starts and
//! configures servers. This module combines them. The settings of a side are applied before its run
//! and undone afterwards, so that nothing remains even if `assay` is killed.

mod servers;

use crate::run_error::RunError;
use crate::tests::Setting;
use crate::{output, store};
use anyhow::{Context, bail, ensure};
use assay_data::code;
use assay_data::system_error::reason;
use assay_data::{Action, Finding};
use assay_measure::afterwards::Afterwards;
use assay_measure::hooks;
use assay_measure::room::Room;
use assay_measure::servers::{Kind, Medium, Reach, ServersError};
use assay_measure::{Command, Runner};
use assay_suites::toggles::sides::{EnvironmentAdditions, Side, sides};
use assay_suites::toggles::{FILES, Suite, Toggle};
use servers::Servers;
use std::cell::RefCell;
use std::fs;
use std::path::PathBuf;
use std::rc::Rc;

pub(crate) use assay_suites::toggles::language_of;
pub(crate) use assay_suites::toggles::sides::Side as Combination;
pub(crate) use servers::mend;

/// Options for settings and servers.
#[derive(clap::Args, Debug, Default)]
#[command(next_help_heading = "Settings and servers")]
pub(crate) struct ToggleArgs {
    /// Compare the suite with and without a setting, as in gc=off, hash-cost=min or pg.fsync=off;
    /// may be repeated
    ///
    /// Each setting by itself is a side, and so are all of them together; the reference is the
    /// suite without any of them. Built in: warm=on (Ruby and Python: each run is a fork of a
    /// process that has the suite loaded), gc=off (Ruby's garbage collector, during each test),
    /// gc=per-process, gc=generational, yjit=on, python-gc=off, python-gc=freeze, hash-cost=min
    /// (PBKDF2, bcrypt, scrypt and argon2 of OpenSSL, Rails, Devise, Django, werkzeug),
    /// log-level=LEVEL, workers=N, pg.SETTING=VALUE for PostgreSQL (pg.fsync=off,
    /// pg.synchronous_commit=off), pg.tmpfs=on, redis.SETTING=VALUE (redis.save=off), an
    /// environment variable NAME=VALUE in capitals, and 'NAME=ON-LINE;OFF-LINE' with shell lines to
    /// run before and after each run.
    #[arg(long, value_name = "SETTING=VALUE")]
    pub toggle: Vec<String>,

    /// Start a server for the suite and discard it afterwards: postgres or redis
    ///
    /// It listens on a socket in a private directory. The suite finds it through DATABASE_URL,
    /// PGHOST, PGUSER and PGDATABASE, or through REDIS_URL. For clients that cannot use sockets,
    /// postgres:tcp and redis:tcp listen on a loopback port with a random password.
    #[arg(long, value_name = "SERVER", value_parser = With::read)]
    pub with: Vec<With>,

    /// Your own server whose pg.* or redis.* settings may be changed and are restored afterwards:
    /// postgres://USER@HOST/DATABASE or redis://HOST:PORT
    ///
    /// Without this option, only servers that --with starts are changed. While fsync is off, a
    /// crash of the server's machine can lose its data.
    #[arg(long, value_name = "ADDRESS")]
    pub server: Vec<String>,
}

/// A server requested with `--with`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct With {
    kind: Kind,
    reach: Reach,
}

impl With {
    fn read(given: &str) -> Result<Self, String> {
        let (name, reach) = match given.split_once(':') {
            None => (given, Reach::Socket),
            Some((name, "tcp")) => (name, Reach::Loopback),
            Some((_, other)) => {
                return Err(format!("`{other}` is not a way to reach it; the only one is tcp"));
            }
        };
        let kind = match name {
            "postgres" | "postgresql" => Kind::Postgres,
            "redis" => Kind::Redis,
            _ => return Err("known are postgres, redis, postgres:tcp and redis:tcp".to_owned()),
        };
        Ok(Self { kind, reach })
    }
}

impl ToggleArgs {
    /// Returns true if any setting or server is requested.
    ///
    /// # Errors
    /// Fails if the user's own server is given without a setting to toggle.
    pub fn is_asked(&self) -> anyhow::Result<bool> {
        ensure!(
            self.server.is_empty() || !self.toggle.is_empty(),
            "--server names a server whose settings --toggle may change, but there is no --toggle"
        );
        Ok(!self.toggle.is_empty() || !self.with.is_empty())
    }

    /// Parses the toggles.
    ///
    /// # Errors
    /// Fails if an argument is not a toggle. The message names it.
    fn read(&self) -> anyhow::Result<Vec<Toggle>> {
        let read =
            |given: &String| Toggle::read(given).with_context(|| format!("--toggle {given}"));
        self.toggle.iter().map(read).collect()
    }
}

/// The sides of a suite, with their servers and settings.
pub(crate) struct Toggled {
    /// The suite without any settings, with each setting alone, and with all of them. Without
    /// toggles, there is a single side.
    pub sides: Vec<Side>,
    /// Findings about settings that were left out, with the reasons.
    pub findings: Vec<Finding>,
    files: Room,
    servers: Servers,
    runner: Option<Runner>,
    /// Runs the OFF-LINEs of the settings that are currently on, if `assay` is killed.
    off: Option<Afterwards>,
}

impl Toggled {
    /// Starts the servers, and determines which settings are available. The others are left out,
    /// with a finding. `language` is the language of the tests, if known.
    ///
    /// # Errors
    /// Fails if a server does not start, an argument is not a toggle, or no toggle is available.
    pub fn prepare(args: &ToggleArgs, language: Option<&str>) -> anyhow::Result<Self> {
        Self::prepare_in(args, language, store::state_directory())
    }

    /// Like [`Toggled::prepare`], but keeps the journal in the given directory.
    fn prepare_in(
        args: &ToggleArgs,
        language: Option<&str>,
        state: Option<PathBuf>,
    ) -> anyhow::Result<Self> {
        let wanted = args.read()?;
        let files = crate::room::temporary()?;
        for (name, text) in FILES {
            fs::write(files.path().join(name), text)
                .with_context(|| files.path().display().to_string())?;
        }
        let mut servers = Servers::default();
        for own in &args.with {
            ensure!(
                args.with.iter().filter(|other| other.kind == own.kind).count() == 1,
                "--with: one {} at a time",
                own.kind.label()
            );
            servers.start(own.kind, own.reach, Medium::Disk).map_err(failed)?;
        }
        for address in &args.server {
            servers.name(address)?;
        }
        let (mut toggles, mut findings): (Vec<Toggle>, Vec<Finding>) = (Vec::new(), Vec::new());
        let reach = args.with.iter().find(|own| own.kind == Kind::Postgres).map(|own| own.reach);
        let suite = Suite { language, servers: servers.known() };
        for toggle in wanted {
            let obstacle = toggle
                .obstacle(&suite)
                .or_else(|| blank_in(&files, &toggle))
                .or_else(|| refused_by_probe(&toggle))
                .map_or_else(|| servers.try_out(&toggle, reach), |why| Ok(Some(why)))?;
            match obstacle {
                Some(why) => findings.push(left_out(&toggle, &why)),
                None if toggles.contains(&toggle) => {}
                None => toggles.push(toggle),
            }
        }
        if toggles.is_empty() && !args.toggle.is_empty() {
            let reasons: Vec<&str> = findings.iter().map(|own| own.message.as_str()).collect();
            bail!("none of the settings can be applied here:\n  {}", reasons.join("\n  "));
        }
        servers.hold(&toggles, state)?;
        let sides = sides(&toggles);
        Ok(Self { sides, findings, files, servers, runner: None, off: None })
    }

    /// Returns what a side adds to the environment of the suite.
    pub fn added(&self, side: usize) -> EnvironmentAdditions {
        let own = &self.sides[side];
        let mut added = own.added(self.files.path());
        // The user's variables come after those that point to a server, and override them.
        let servers = self.servers.variables(own.is_in_memory());
        added.env = servers.into_iter().chain(added.env).collect();
        added
    }

    /// Applies the settings of a side. [`Toggled::undo`] must be called after the side's run.
    ///
    /// # Errors
    /// Fails if a server rejects a setting, or an ON-LINE fails.
    pub fn apply(&mut self, side: usize) -> Result<(), RunError> {
        let own = &self.sides[side];
        self.servers
            .apply(own)
            .map_err(|said| RunError::Failed(format!("{}: {said}", own.name)))?;
        let lines = own.lines();
        if lines.is_empty() {
            return Ok(());
        }
        let runner = match &mut self.runner {
            Some(runner) => runner,
            none => none.insert(Runner::start()?),
        };
        let off: Vec<&str> = lines.iter().rev().map(|(_, off)| *off).collect();
        let off = Afterwards::run(&off.join("\n"), &[], &[]);
        let unguarded = |error| {
            RunError::Failed(format!("{}: no shell can wait: {}", own.name, reason(&error)))
        };
        self.off = Some(off.map_err(unguarded)?);
        for (on, _) in lines.iter().filter(|(on, _)| !on.is_empty()) {
            hooks::run(runner, "--toggle", on)?;
        }
        Ok(())
    }

    /// Runs the OFF-LINEs of a side, which is necessary after each of its runs. Server settings are
    /// kept until a side needs different ones.
    ///
    /// # Errors
    /// Fails if an OFF-LINE fails.
    pub fn undo(&mut self, side: usize) -> Result<(), RunError> {
        let Some(runner) = self.runner.as_mut().filter(|_| self.off.is_some()) else {
            return Ok(());
        };
        // A line that fails must not prevent the others.
        let lines = self.sides[side].lines().into_iter().rev().filter(|(_, off)| !off.is_empty());
        let undone: Vec<_> = lines.map(|(_, off)| hooks::run(runner, "--toggle", off)).collect();
        self.off = None;
        undone.into_iter().collect::<Result<(), _>>().map_err(RunError::from)
    }

    /// Restores the settings of the user's own servers, and stops the other servers.
    ///
    /// # Errors
    /// Fails if settings cannot be restored. The next run then tries again.
    pub fn close(&mut self) -> anyhow::Result<()> {
        self.servers.put_back()
    }

    /// Returns the name of the side with all settings together, or an empty string if no side has
    /// several settings; `None` if no settings are compared.
    pub fn together(&self) -> Option<&str> {
        let last = self.sides.last().filter(|_| self.sides.len() > 1)?;
        Some(if last.on.len() > 1 { &last.name } else { "" })
    }
}

/// One side whose settings are applied and undone around its runs.
pub(crate) struct OfSide {
    pub toggled: Rc<RefCell<Toggled>>,
    pub side: usize,
}

impl Setting for OfSide {
    fn apply(&mut self) -> Result<(), RunError> {
        self.toggled.borrow_mut().apply(self.side)
    }

    fn undo(&mut self) -> Result<(), RunError> {
        self.toggled.borrow_mut().undo(self.side)
    }
}

impl Drop for Toggled {
    fn drop(&mut self) {
        if let Err(error) = self.servers.put_back() {
            output::error(&error);
        }
    }
}

/// Returns why `toggle` cannot work with the path of `files`: Ruby splits its options at spaces,
/// and Python splits its directories at colons.
fn blank_in(files: &Room, toggle: &Toggle) -> Option<String> {
    let own = Side { name: String::new(), on: vec![toggle.clone()] }.added(files.path());
    let path = files.path().display().to_string();
    (!own.paths.is_empty() && path.contains([' ', ':'])).then(|| {
        format!("{path} has a blank or a colon in its name; set TMPDIR to another directory")
    })
}

/// Runs the command that checks whether a setting is available, and returns the reason if it is
/// not.
fn refused_by_probe(toggle: &Toggle) -> Option<String> {
    let (words, otherwise) = toggle.probe()?;
    let Ok(command) = Command::new(words.iter().copied()) else { return None };
    let mut process = std::process::Command::new(&command.argv[0]);
    process.args(&command.argv[1..]).stdin(std::process::Stdio::null());
    let is_fine = process.output().is_ok_and(|ran| ran.status.success());
    (!is_fine).then(|| otherwise.to_owned())
}

fn left_out(toggle: &Toggle, why: &str) -> Finding {
    Finding::new(code::NOT_CONTROLLED, format!("{toggle} is left out: {why}"))
        .advise(Action::text("the other settings are compared; correct it, or leave it out"))
}

fn failed(error: ServersError) -> anyhow::Error {
    match error {
        ServersError::Interrupted { .. } => {
            RunError::Interrupted("before anything was measured".to_owned()).into()
        }
        other => other.into(),
    }
}

#[cfg(test)]
mod tests;
