//! The servers of a suite whose settings are compared: those started for it, and the user's own
//! servers given with `--server`.
//!
//! As with machine settings, three mechanisms restore changes to the user's own servers: this
//! process when it ends, a shell that outlives it if it is killed, and the next run, from the
//! journal in the state directory.

use crate::{output, store};
use anyhow::{Context, bail, ensure};
use assay_data::private;
use assay_measure::afterwards::Afterwards;
use assay_measure::machine::{JournalOf, Undone};
use assay_measure::servers::settings::DesiredSetting;
use assay_measure::servers::{
    Kind, Medium, Reach, ServerChange, ServersError, SettingError, Settings, Throwaway,
};
use assay_suites::toggles::sides::Side;
use assay_suites::toggles::{ServerFrom, ServerKind, Toggle};
use std::path::{Path, PathBuf};

type Journal = JournalOf<ServerChange>;

/// All servers of a suite.
#[derive(Default)]
pub(super) struct Servers {
    held: Vec<ToggledServer>,
    journal: Option<Journal>,
}

/// One server of a suite, with its toggled settings.
struct ToggledServer {
    /// Handle of a server that was started for the suite; `None` for the user's own server.
    started: Option<Throwaway>,
    /// True for the second server of a kind, which keeps its data in memory.
    is_second: bool,
    settings: Settings,
    /// Original values of all toggled settings.
    before: Vec<DesiredSetting>,
    /// Current values of the settings.
    now: Vec<DesiredSetting>,
    /// Restores the settings if `assay` is killed; `None` for a server that was started for the
    /// suite.
    afterwards: Option<Afterwards>,
}

impl Servers {
    /// Starts a server, and waits until it is ready.
    pub fn start(&mut self, kind: Kind, reach: Reach, medium: Medium) -> Result<(), ServersError> {
        let server = Throwaway::start(kind, reach, medium)?;
        let settings = server.settings().clone();
        let is_second = medium == Medium::Memory;
        self.held.push(ToggledServer { is_second, ..ToggledServer::new(Some(server), settings) });
        Ok(())
    }

    /// Adds the user's own server at an address.
    pub fn name(&mut self, address: &str) -> anyhow::Result<()> {
        let settings = Settings::at(address).context("--server")?;
        let kind = settings.kind();
        ensure!(
            self.held.iter().all(|own| own.settings.kind() != kind),
            "--server {}: one {} at a time",
            settings.address(),
            kind.label()
        );
        self.held.push(ToggledServer::new(None, settings));
        Ok(())
    }

    /// Returns the kind and the origin of each server, before toggles are examined. Second servers
    /// are left out.
    pub fn known(&self) -> Vec<(ServerKind, ServerFrom)> {
        let known = |own: &ToggledServer| {
            let from = match &own.started {
                Some(server) => started(server.is_in_memory()),
                None => ServerFrom::Named,
            };
            (server_kind_of(own.settings.kind()), from)
        };
        self.held.iter().filter(|own| !own.is_second).map(known).collect()
    }

    /// Returns the reason why a server rejects a toggle, if it does. Starts a second server if the
    /// toggle needs data in memory. `reach` is how clients reach the first server.
    pub fn try_out(
        &mut self,
        toggle: &Toggle,
        reach: Option<Reach>,
    ) -> anyhow::Result<Option<String>> {
        let Some(kind) = toggle.server() else { return Ok(None) };
        let side = Side { name: String::new(), on: vec![toggle.clone()] };
        if side.is_in_memory() {
            if self.held.iter().any(|own| own.is_second) {
                return Ok(None);
            }
            let reach = reach.unwrap_or(Reach::Socket);
            return match self.start(kind_of(kind), reach, Medium::Memory) {
                Err(ServersError::Interrupted { .. }) => {
                    Err(super::failed(ServersError::Interrupted { kind: kind.label() }))
                }
                other => Ok(other.err().map(|error| error.to_string())),
            };
        }
        let mut of_kind = self.held.iter().filter(|own| own.settings.kind() == kind_of(kind));
        Ok(of_kind.find_map(|own| own.try_out(&side.settings(kind)).err()).map(|e| e.to_string()))
    }

    /// Takes control of the settings of these toggles. Their original values are read, and also
    /// recorded in the journal if the server is the user's own.
    ///
    /// # Errors
    /// Fails if a server cannot be queried, another run holds a setting, or the journal cannot be
    /// written.
    pub fn hold(&mut self, toggles: &[Toggle], state: Option<PathBuf>) -> anyhow::Result<()> {
        let all = Side { name: String::new(), on: toggles.to_vec() };
        for held in &mut self.held {
            for (setting, _) in all.settings(server_kind_of(held.settings.kind())) {
                if held.before.iter().all(|(known, _)| *known != setting) {
                    let value = held.settings.read(&setting)?;
                    held.before.push((setting, value));
                }
            }
            held.now.clone_from(&held.before);
        }
        let changes: Vec<ServerChange> =
            self.held.iter().flat_map(|held| held.changes(&all)).collect();
        if changes.is_empty() {
            return Ok(());
        }
        let directory = state.context(
            "changed settings of your own server are recorded in the state directory, so that they can be restored after a crash, but neither XDG_STATE_HOME nor HOME names one",
        )?;
        let failed = || directory.display().to_string();
        private::directory(&directory).with_context(failed)?;
        let _turn = Journal::turn(&directory).with_context(failed)?;
        for other in Journal::held_by_others(&directory).with_context(failed)? {
            let is_ours = |own: &&ServerChange| {
                let same = |theirs: &ServerChange| {
                    (&theirs.address, &theirs.setting) == (&own.address, &own.setting)
                };
                other.changes.iter().any(same)
            };
            if let Some(own) = changes.iter().find(is_ours) {
                bail!(
                    "`{}` of {} is being changed by another run of assay (process {}); wait for it to end",
                    own.setting,
                    own.address,
                    other.process
                );
            }
        }
        let mut journal = Journal::open(&directory).with_context(failed)?;
        journal.record(&changes).with_context(failed)?;
        self.journal = Some(journal);
        for held in self.held.iter_mut().filter(|held| held.started.is_none()) {
            held.afterwards = held.settings.afterwards(&held.before)?;
        }
        Ok(())
    }

    /// Returns the variables by which a suite finds the servers started for it, with data in memory
    /// or on disk.
    pub fn variables(&self, in_memory: bool) -> Vec<(String, String)> {
        let used = self.held.iter().filter(|own| self.is_used(own, in_memory));
        let started = used.filter_map(|own| own.started.as_ref());
        started.flat_map(|server| server.variables().iter().cloned()).collect()
    }

    /// Applies the settings that a side wants, and resets all others to their original values.
    pub fn apply(&mut self, side: &Side) -> Result<(), String> {
        let in_memory = side.is_in_memory();
        for at in 0..self.held.len() {
            if self.is_used(&self.held[at], in_memory) {
                let held = &mut self.held[at];
                let wanted = side.settings(server_kind_of(held.settings.kind()));
                held.apply(&wanted).map_err(|error| held.explained(&error))?;
            }
        }
        Ok(())
    }

    /// Restores what was changed on the user's own servers, and drops all servers.
    ///
    /// # Errors
    /// Returns the first failure to restore a setting. The journal is then kept for the next run.
    pub fn put_back(&mut self) -> anyhow::Result<()> {
        let mut result = Ok(());
        for held in self.held.iter_mut().filter(|held| held.started.is_none()) {
            let back = held.apply(&[]).with_context(|| {
                format!("the settings of {} could not be restored", held.settings.address())
            });
            match back {
                // The shell must not restore them again, because others may change the settings
                // from now on.
                Ok(()) => held.afterwards = None,
                // The shell tries again after this process ended.
                Err(error) => {
                    held.afterwards.take().into_iter().for_each(std::mem::forget);
                    result = result.and(Err(error));
                }
            }
        }
        if result.is_ok() {
            self.held.clear();
            if let Some(mut journal) = self.journal.take() {
                journal.clear().context("the journal of changed settings could not be cleared")?;
            }
        }
        result
    }

    /// Returns true if a side uses this server. Of two servers of a kind, a side uses only one.
    fn is_used(&self, own: &ToggledServer, in_memory: bool) -> bool {
        let kind = own.settings.kind();
        let has_second = self.held.iter().any(|o| o.is_second && o.settings.kind() == kind);
        !has_second || own.is_second == in_memory
    }
}

impl ToggledServer {
    fn new(started: Option<Throwaway>, settings: Settings) -> Self {
        let (before, now) = (Vec::new(), Vec::new());
        Self { started, is_second: false, settings, before, now, afterwards: None }
    }

    /// Checks whether the settings exist and, on a server started for the suite, whether their
    /// values are accepted.
    fn try_out(&self, settings: &[(String, String)]) -> Result<(), SettingError> {
        for (setting, value) in settings {
            let before = self.settings.read(setting)?;
            if self.started.is_some() {
                self.settings.change(&[(setting.clone(), Some(value.clone()))])?;
                self.settings.change(&[(setting.clone(), before)])?;
            }
        }
        Ok(())
    }

    /// Returns the changes that a run will make on the user's own server.
    fn changes(&self, all: &Side) -> Vec<ServerChange> {
        if self.started.is_some() {
            return Vec::new();
        }
        let settings = all.settings(server_kind_of(self.settings.kind()));
        let change = |(setting, after): (String, String)| {
            let before = self.before.iter().find(|(known, _)| *known == setting)?.1.clone();
            let address = self.settings.address().to_owned();
            Some(ServerChange { address, setting, before, after })
        };
        settings.into_iter().filter_map(change).collect()
    }

    /// Applies the wanted settings and resets all others. The server then writes out its data, so
    /// that no run pays for the previous one.
    fn apply(&mut self, wanted: &[(String, String)]) -> Result<(), SettingError> {
        if self.before.is_empty() {
            return Ok(());
        }
        let value = |(setting, before): &DesiredSetting| {
            let own = wanted.iter().rev().find(|(name, _)| name == setting);
            (setting.clone(), own.map(|(_, value)| value.clone()).or_else(|| before.clone()))
        };
        let goal: Vec<DesiredSetting> = self.before.iter().map(value).collect();
        let changed: Vec<DesiredSetting> =
            goal.iter().filter(|own| !self.now.contains(own)).cloned().collect();
        self.settings.change(&changed)?;
        self.now = goal;
        match self.settings.settle() {
            // On their own server, the user may lack the permission to make it write out its data.
            Err(SettingError::Said { .. }) if self.started.is_none() => Ok(()),
            other => other,
        }
    }

    /// Returns how the server ended if it did, and the error otherwise.
    fn explained(&self, error: &SettingError) -> String {
        match self.started.as_ref().and_then(Throwaway::ended) {
            Some(how) => format!("{} {how}", self.settings.kind().label()),
            None => error.to_string(),
        }
    }
}

/// Restores settings that a killed run left changed on the user's own servers, and reports them.
/// `named` contains the addresses given on this command line. They may include passwords, which are
/// never written to the journal.
pub(crate) fn mend(named: &[String]) {
    let Some(directory) = store::state_directory() else { return };
    for line in mend_in(&directory, named) {
        output::say(&line);
    }
}

fn mend_in(directory: &Path, named: &[String]) -> Vec<String> {
    let mut said = Vec::new();
    let left = Journal::turn(directory).and_then(|turn| {
        let left = Journal::left_behind(directory)?;
        Ok((turn, left))
    });
    // If the journal's directory does not exist, nothing was ever changed.
    let Ok((_turn, left)) = left else { return said };
    for own in left.iter().rev().filter(|own| own.is_ours()) {
        let mut is_done = true;
        for change in own.changes.iter().rev() {
            match undone(change, named) {
                Ok(Undone::Restored) => said.push(format!(
                    "note: a run that was killed had left {} of {} at {}; it is as it was before",
                    change.setting, change.address, change.after
                )),
                Ok(Undone::LeftAlone { .. }) => {}
                Err(error) => {
                    is_done = false;
                    said.push(format!(
                        "warning: a run that was killed has left {} of {} at {}, and it can't be put back: {error}; give --server with its address and password again",
                        change.setting, change.address, change.after
                    ));
                }
            }
        }
        if is_done {
            let _stays = own.forget();
        }
    }
    said
}

fn undone(change: &ServerChange, named: &[String]) -> anyhow::Result<Undone> {
    let known = named.iter().filter_map(|given| Settings::at(given).ok());
    let same = known.into_iter().find(|own| own.address() == change.address);
    let settings = match same {
        Some(own) => own,
        None => Settings::at(&change.address)?,
    };
    Ok(settings.undo(change)?)
}

/// Converts a kind of server from `assay_suites::toggles` to `assay_measure::servers`.
pub(super) fn kind_of(kind: ServerKind) -> Kind {
    match kind {
        ServerKind::Postgres => Kind::Postgres,
        ServerKind::Redis => Kind::Redis,
    }
}

/// Converts a kind of server from `assay_measure::servers` to `assay_suites::toggles`.
pub(super) fn server_kind_of(kind: Kind) -> ServerKind {
    match kind {
        Kind::Postgres => ServerKind::Postgres,
        Kind::Redis => ServerKind::Redis,
    }
}

/// Returns the origin of a server that `assay` started.
pub(super) fn started(in_memory: bool) -> ServerFrom {
    ServerFrom::Started { in_memory }
}
