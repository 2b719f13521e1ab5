//! Reads, changes and restores settings of a running server.
//!
//! PostgreSQL is queried with `psql`, which supports every authentication method, and its settings
//! are changed with `ALTER SYSTEM` and a reload. Redis is queried over its own protocol, and its
//! settings are changed with `CONFIG SET`. Only settings that take effect without a restart can be
//! changed. Every change on a user's own server is first recorded in a journal, as a
//! [`ServerChange`], so that it can be undone even after a crash.

use super::address::{Address, AddressError};
use super::redis_client::{Answer, Client, RedisAddress};
use super::{Kind, PAUSE, on_path};
use crate::afterwards::Afterwards;
use crate::machine::{Entry, Undone};
use crate::sys::child;
use serde_json::{Value, json};
use std::io;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use thiserror::Error;

/// Time limit for a server to reload its settings.
const PATIENCE: Duration = Duration::from_secs(10);

/// Reasons why a setting could not be read or changed.
#[derive(Debug, Error)]
pub enum SettingError {
    /// The server has no such setting.
    #[error("{kind} has no setting `{setting}`")]
    Unknown {
        /// Name of the server.
        kind: &'static str,
        /// Name of the setting.
        setting: String,
    },
    /// The setting takes effect only after a restart of the server.
    #[error("PostgreSQL applies `{setting}` only when it is restarted")]
    NeedsStart {
        /// Name of the setting.
        setting: String,
    },
    /// The server can't be queried.
    #[error("cannot query {kind} at {address}: {said}")]
    NotAsked {
        /// Name of the server.
        kind: &'static str,
        /// Address of the server, without a password.
        address: String,
        /// The reason, as reported by the client.
        said: String,
    },
    /// The server refused the request.
    #[error("{kind} refuses: {said}")]
    Said {
        /// Name of the server.
        kind: &'static str,
        /// The server's message.
        said: String,
    },
    /// The server did not reload its settings within the time limit.
    #[error("{kind} did not reload its settings within {} s", PATIENCE.as_secs())]
    NotRead {
        /// Name of the server.
        kind: &'static str,
    },
}

/// Access to the settings of one server.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Address of the server, without a password.
    address: String,
    way: SettingsAccess,
}

#[derive(Clone, Debug)]
enum SettingsAccess {
    /// The `psql` program and its environment variables, which may include the password.
    Psql {
        program: PathBuf,
        variables: Vec<(String, String)>,
        database: String,
    },
    Redis {
        place: RedisAddress,
        login: Vec<String>,
    },
}

/// Name and desired value of a setting. With `None`, PostgreSQL resets the setting to the value
/// that it has without `ALTER SYSTEM`.
pub type DesiredSetting = (String, Option<String>);

/// A change of a setting of a user's own server, as stored in a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerChange {
    /// Address of the server, without a password.
    pub address: String,
    /// Name of the setting.
    pub setting: String,
    /// Previous value; for PostgreSQL, `None` if the setting was not set by `ALTER SYSTEM`.
    pub before: Option<String>,
    /// New value.
    pub after: String,
}

impl Settings {
    /// Returns access to the settings of the user's own server at this address.
    ///
    /// # Errors
    ///
    /// Returns an error if the address is invalid.
    pub fn at(address: &str) -> Result<Self, AddressError> {
        let read = Address::read(address)?;
        let way = match (read.kind, read.place) {
            (Kind::Redis, Some(place)) => SettingsAccess::Redis { place, login: read.login },
            _ => {
                let password = read.login.into_iter().next();
                let variables = password.map(|own| ("PGPASSWORD".to_owned(), own));
                let program = on_path("psql").unwrap_or_else(|| PathBuf::from("psql"));
                let (variables, database) = (variables.into_iter().collect(), read.shown.clone());
                SettingsAccess::Psql { program, variables, database }
            }
        };
        Ok(Self { address: read.shown, way })
    }

    pub(super) fn of_postgres(program: PathBuf, socket: &str, port: u16, user: &str) -> Self {
        let own = [("PGHOST", socket), ("PGPORT", &port.to_string()), ("PGUSER", user)];
        let variables = own.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let way = SettingsAccess::Psql { program, variables, database: "postgres".to_owned() };
        Self { address: socket.to_owned(), way }
    }

    pub(super) fn of_redis(place: RedisAddress, login: Vec<String>) -> Self {
        Self { address: "its socket".to_owned(), way: SettingsAccess::Redis { place, login } }
    }

    /// Returns the kind of the server.
    pub fn kind(&self) -> Kind {
        match self.way {
            SettingsAccess::Psql { .. } => Kind::Postgres,
            SettingsAccess::Redis { .. } => Kind::Redis,
        }
    }

    /// Returns the server's address, without a password.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Returns the value that [`Self::change`] would replace. For PostgreSQL, this is the value set
    /// by `ALTER SYSTEM`, or `None` if there is none.
    ///
    /// # Errors
    ///
    /// Returns a [`SettingError`] if the setting can't be changed while the server runs, or if the
    /// server can't be queried.
    pub fn read(&self, setting: &str) -> Result<Option<String>, SettingError> {
        let kind = self.kind().label();
        match &self.way {
            SettingsAccess::Psql { .. } => {
                let name = quoted(setting);
                let context =
                    self.psql(&[format!("SELECT context FROM pg_settings WHERE name = {name}")])?;
                match context.trim() {
                    "" => return Err(SettingError::Unknown { kind, setting: setting.to_owned() }),
                    "internal" | "postmaster" => {
                        return Err(SettingError::NeedsStart { setting: setting.to_owned() });
                    }
                    _ => {}
                }
                let set = self.psql(&[format!(
                    "SELECT '=' || setting FROM pg_file_settings WHERE name = {name} \
                     AND sourcefile LIKE '%postgresql.auto.conf' ORDER BY seqno DESC LIMIT 1"
                )])?;
                Ok(set.trim_end_matches('\n').strip_prefix('=').map(str::to_owned))
            }
            SettingsAccess::Redis { .. } => match self.redis(&["CONFIG", "GET", setting])? {
                Answer::Several(pair) => match &pair[..] {
                    [_, Answer::Text(value)] => Ok(Some(value.clone())),
                    _ => Err(SettingError::Unknown { kind, setting: setting.to_owned() }),
                },
                _ => Err(SettingError::Unknown { kind, setting: setting.to_owned() }),
            },
        }
    }

    /// Changes settings, and waits until they apply to all new connections.
    ///
    /// # Errors
    ///
    /// Returns a [`SettingError`] if a change fails. Some settings may have been changed by then.
    pub fn change(&self, wanted: &[DesiredSetting]) -> Result<(), SettingError> {
        if wanted.is_empty() {
            return Ok(());
        }
        match &self.way {
            SettingsAccess::Psql { .. } => {
                let mut lines = vec![format!("SELECT {LOADED}")];
                lines.extend(wanted.iter().map(altering));
                lines.push("SELECT pg_reload_conf()".to_owned());
                let said = self.psql(&lines)?;
                let before = said.lines().next().unwrap_or_default().to_owned();
                self.await_reload(&before)
            }
            SettingsAccess::Redis { .. } => {
                for (setting, value) in wanted {
                    let value = value.as_deref().unwrap_or_default();
                    self.redis(&["CONFIG", "SET", setting, value])?;
                }
                Ok(())
            }
        }
    }

    /// Makes PostgreSQL write pending data, so that the next measurement does not include the cost
    /// of the previous one. Does nothing for Redis.
    ///
    /// # Errors
    ///
    /// Returns a [`SettingError`], for example if a user's own server does not permit it.
    pub fn settle(&self) -> Result<(), SettingError> {
        match self.kind() {
            Kind::Postgres => self.psql(&["CHECKPOINT".to_owned()]).map(drop),
            Kind::Redis => Ok(()),
        }
    }

    /// Undoes a change, unless the setting has been changed again since.
    ///
    /// # Errors
    ///
    /// Returns a [`SettingError`] if that fails.
    pub fn undo(&self, change: &ServerChange) -> Result<Undone, SettingError> {
        let now = self.read(&change.setting)?;
        if now.as_ref() != Some(&change.after) {
            return Ok(Undone::LeftAlone { now: now.unwrap_or_default() });
        }
        self.change(&[(change.setting.clone(), change.before.clone())])?;
        Ok(Undone::Restored)
    }

    /// Arranges for settings of PostgreSQL to be restored to `before` when this process is gone,
    /// however it ends. Returns `None` for Redis, which loses its changes when it ends and can't be
    /// queried by a shell.
    ///
    /// # Errors
    ///
    /// Returns an error if the shell can't be started.
    pub fn afterwards(&self, before: &[DesiredSetting]) -> io::Result<Option<Afterwards>> {
        let SettingsAccess::Psql { program, variables, database } = &self.way else {
            return Ok(None);
        };
        let mut lines: Vec<String> = before.iter().map(altering).collect();
        lines.push("SELECT pg_reload_conf()".to_owned());
        let words = lines.iter().map(|line| format!(" -c {}", shell_words::quote(line)));
        let line = format!("\"$1\" -X -q -w -d \"$2\"{}", words.collect::<String>());
        let program = program.display().to_string();
        Afterwards::run(&line, &[&program, database], variables).map(Some)
    }

    pub(super) fn create_database(&self, name: &str) -> Result<(), SettingError> {
        self.psql(&[format!("CREATE DATABASE {name}")]).map(drop)
    }

    /// Waits until a new server process reports a different load time of its settings than
    /// `before`.
    fn await_reload(&self, before: &str) -> Result<(), SettingError> {
        let began = Instant::now();
        while self.psql(&[format!("SELECT {LOADED}")])?.trim() == before.trim() {
            if began.elapsed() > PATIENCE {
                return Err(SettingError::NotRead { kind: self.kind().label() });
            }
            sleep(PAUSE);
        }
        Ok(())
    }

    /// Runs statements one by one in a new connection, and returns their output.
    fn psql(&self, statements: &[String]) -> Result<String, SettingError> {
        let SettingsAccess::Psql { program, variables, database } = &self.way else {
            return Ok(String::new());
        };
        let mut command = Command::new(program);
        // The options ignore the user's psql settings, prompt for no password, print bare values,
        // and stop at the first error.
        command.args(["-X", "-q", "-w", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", database]);
        command.args(statements.iter().flat_map(|line| ["-c", line]));
        // The server's messages are shown in English, and one is matched in English.
        command.envs(variables.iter().map(|(name, value)| (name, value))).env("LC_ALL", "C");
        command.env("PGCONNECT_TIMEOUT", PATIENCE.as_secs().to_string()).stdin(Stdio::null());
        child::end_with_us(&mut command);
        let kind = self.kind().label();
        let not_asked = |said: String| {
            let address = self.address.clone();
            SettingError::NotAsked { kind, address, said }
        };
        let ran = command.output().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => not_asked(
                "it needs the program psql; on Debian: apt-get install postgresql-client"
                    .to_owned(),
            ),
            _ => not_asked(error.to_string()),
        })?;
        let said = String::from_utf8_lossy(&ran.stderr).trim().to_owned();
        match ran.status.code() {
            Some(0) => Ok(String::from_utf8_lossy(&ran.stdout).into_owned()),
            // According to psql(1), the connection failed.
            Some(2) => Err(not_asked(said)),
            _ => {
                let said =
                    said.strip_prefix("ERROR:").map_or(said.clone(), |own| own.trim().to_owned());
                Err(SettingError::Said { kind, said })
            }
        }
    }

    fn redis(&self, words: &[&str]) -> Result<Answer, SettingError> {
        let SettingsAccess::Redis { place, login } = &self.way else { return Ok(Answer::Nothing) };
        let kind = self.kind().label();
        let mut client = Client::connect(place, login).map_err(|error| {
            let (address, said) = (self.address.clone(), error.to_string());
            SettingError::NotAsked { kind, address, said }
        })?;
        client.ask(words).map_err(|error| SettingError::Said { kind, said: error.to_string() })
    }
}

/// SQL expression for the time at which the connected server process loaded its settings. A process
/// inherits that time when it is forked.
const LOADED: &str = "extract(epoch from pg_conf_load_time())";

/// Returns the statement that sets a setting to its desired value.
fn altering((setting, value): &DesiredSetting) -> String {
    // Each part of a dotted name is quoted separately.
    let name: Vec<String> = setting.split('.').map(|part| format!("\"{part}\"")).collect();
    let name = name.join(".");
    match value {
        Some(value) => format!("ALTER SYSTEM SET {name} = {}", quoted(value)),
        None => format!("ALTER SYSTEM RESET {name}"),
    }
}

/// Formats a text as an SQL literal.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

impl Entry for ServerChange {
    const PREFIX: &'static str = "changed-of-servers-by-";
    const SURVIVES_A_BOOT: bool = true;

    fn to_line(&self) -> io::Result<String> {
        let Self { address, setting, before, after } = self;
        Ok(json!({"server": address, "setting": setting, "before": before, "after": after})
            .to_string())
    }

    fn from_line(line: &Value) -> Option<Self> {
        let text = |name: &str| line[name].as_str().map(str::to_owned);
        let setting = text("setting")?;
        let known = |b: u8| b.is_ascii_alphanumeric() || b"_.-".contains(&b);
        if !setting.bytes().all(known) {
            return None;
        }
        Some(Self {
            address: text("server")?,
            setting,
            before: text("before"),
            after: text("after")?,
        })
    }
}
