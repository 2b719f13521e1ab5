//! PostgreSQL and Redis servers that are started for one test suite and discarded afterwards.
//!
//! Each server has a private directory that contains its socket. If `assay` runs as root, the
//! server runs as another user, because PostgreSQL refuses to run as root. The server ends when
//! `assay` ends, for whatever reason, and its directory is removed. It uses default settings, so
//! that changed settings are compared with those that users have. To change the settings of a
//! running server, see [`settings`].

mod address;
mod postgres;
mod redis;
mod redis_client;
pub mod settings;

use crate::afterwards::Afterwards;
use crate::command::Command;
use crate::interrupt;
use crate::room::Room;
use crate::serving::{Server, ServingError};
use assay_data::system_error::reason;
use rustix::fs::statfs;
use std::ffi::OsString;
use std::io;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};
use thiserror::Error;

pub use address::AddressError;
pub use settings::{ServerChange, SettingError, Settings};

/// Time limit for a server to become ready.
const PATIENCE: Duration = Duration::from_secs(60);
/// Interval between checks of whether a server is ready.
const PAUSE: Duration = Duration::from_millis(10);
/// Directory on a file system in memory.
const MEMORY: &str = "/dev/shm";
/// File systems in memory, tmpfs and ramfs, by their `f_type` in statfs(2).
const IN_MEMORY: [u64; 2] = [0x0102_1994, 0x8584_58f6];
/// Script for the guard that ends a server. It removes the server's directory, `$1`, and the shared
/// memory segment by which PostgreSQL detects that no other process uses its data, because a killed
/// server can't remove that segment.
const REMOVE: &str = r#"segment=$(sed -n 's/^ *[0-9][0-9]*  *\([0-9][0-9]*\) *$/\1/p' "$1/data/postmaster.pid")
tries=0
while rm -rf -- "$1"; [ -e "$1" ] && [ $tries -lt 100 ]; do tries=$((tries + 1)); sleep 0.1; done
[ -z "$segment" ] || ipcrm -m "$segment""#;

/// A kind of server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// PostgreSQL.
    Postgres,
    /// Redis.
    Redis,
}

/// How clients connect to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Through a socket in the server's private directory.
    Socket,
    /// Through a port of the loopback device, with a random password: for clients that do not
    /// support sockets.
    Loopback,
}

/// Where a server's data are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Medium {
    /// In the directory for temporary files or, if that is in memory, in `/var/tmp`, unless that is
    /// in memory as well. If `assay` runs as root, every user must be able to access the directory.
    Disk,
    /// In memory.
    Memory,
}

/// Reasons why a server could not be started.
#[derive(Debug, Error)]
pub enum ServersError {
    /// The server is not installed.
    #[error("there is no {kind} on this machine; on Debian: apt-get install {package}")]
    NotInstalled {
        /// Name of the server.
        kind: &'static str,
        /// Name of the Debian package that contains the server.
        package: &'static str,
    },
    /// `assay` runs as root, and neither the server's usual user nor `nobody` exists.
    #[error("{kind} does not run as root, and there is no user `{user}` or `nobody` to run it as")]
    NoUser {
        /// Name of the server.
        kind: &'static str,
        /// Name of the server's usual user.
        user: &'static str,
    },
    /// The directory for the server's data can't be created.
    #[error(
        "cannot create a data directory for {kind} in {}: {reason}",
        place.display(), reason = reason(source)
    )]
    NoPlace {
        /// Name of the server.
        kind: &'static str,
        /// The directory in which it was to be created.
        place: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Initializing the data of a new server failed.
    #[error("{program} {how}{}", quoted_output(tail))]
    NotMade {
        /// Name of the initialization program.
        program: &'static str,
        /// How the program ended, worded to follow its name.
        how: String,
        /// The end of the program's output.
        tail: String,
    },
    /// The server can't be started.
    #[error(transparent)]
    Serving(#[from] ServingError),
    /// The server ended before it was ready.
    #[error("{kind} did not start: it {how}")]
    Ended {
        /// Name of the server.
        kind: &'static str,
        /// How the server ended, and the end of its log.
        how: String,
    },
    /// The server was not ready within the time limit.
    #[error("{kind} does not answer after {} s{}", PATIENCE.as_secs(), quoted_output(tail))]
    Silent {
        /// Name of the server.
        kind: &'static str,
        /// The end of the server's log.
        tail: String,
    },
    /// The server responds, but preparing it failed.
    #[error(transparent)]
    Refused(#[from] SettingError),
    /// The user interrupted the server's start.
    #[error("interrupted while {kind} was starting")]
    Interrupted {
        /// Name of the server.
        kind: &'static str,
    },
}

/// A running server, which is ended when the value is dropped.
pub struct Throwaway {
    kind: Kind,
    // Dropped in this order: the server ends, its directory is removed, and then the cleanup is
    // cancelled.
    server: Server,
    room: Room,
    _afterwards: Afterwards,
    in_memory: bool,
    variables: Vec<(String, String)>,
    settings: Settings,
}

/// User and group ID that a server runs as; `None` for those of `assay`.
type User = Option<(u32, u32)>;

/// Parameters for starting a server in its private directory.
struct Start<'a> {
    directory: &'a Path,
    reach: Reach,
    user: User,
}

impl Start<'_> {
    /// Starts the server in its private directory, as the chosen user.
    fn server(&self, kind: Kind, argv: Vec<OsString>) -> Result<Server, ServersError> {
        let mut command = Command::new(argv).map_err(|error| {
            let how = format!("has no command: {error}");
            ServersError::Ended { kind: kind.label(), how }
        })?;
        command.cwd = Some(self.directory.to_owned());
        Ok(Server::start_as(&command, &[], self.directory, self.user)?)
    }
}

/// A started server, and what clients need to connect to it.
struct Started {
    server: Server,
    variables: Vec<(String, String)>,
    settings: Settings,
}

impl Kind {
    /// Returns the official name of the server.
    pub fn label(self) -> &'static str {
        match self {
            Self::Postgres => "PostgreSQL",
            Self::Redis => "Redis",
        }
    }

    /// Returns the name of the user that distributions run the server as.
    fn user(self) -> &'static str {
        match self {
            Self::Postgres => "postgres",
            Self::Redis => "redis",
        }
    }
}

impl Throwaway {
    /// Starts a server and waits until it is ready. This takes about a second, which must not be
    /// part of a measurement.
    ///
    /// # Errors
    ///
    /// Returns a [`ServersError`], with the end of the server's log if that explains it.
    pub fn start(kind: Kind, reach: Reach, medium: Medium) -> Result<Self, ServersError> {
        let is_root = rustix::process::geteuid().is_root();
        let place = match medium {
            Medium::Disk => place_on_disk(is_root),
            Medium::Memory => PathBuf::from(MEMORY),
        };
        let no_place = |source| {
            let place = place.clone();
            ServersError::NoPlace { kind: kind.label(), place, source }
        };
        let in_memory = is_memory(&place);
        if medium == Medium::Memory && !in_memory {
            return Err(no_place(io::Error::other("it is not in memory")));
        }
        let user = if is_root { Some(other_user(kind)?) } else { None };
        let room = Room::below(&place).map_err(no_place)?;
        if let Some((user, group)) = user {
            room.give_to(user, group).map_err(no_place)?;
        }
        let afterwards = Afterwards::run(REMOVE, &[&room.path().display().to_string()], &[]);
        let afterwards = afterwards.map_err(no_place)?;
        let start = Start { directory: room.path(), reach, user };
        let started = match kind {
            Kind::Postgres => postgres::start(&start)?,
            Kind::Redis => redis::start(&start)?,
        };
        let Started { server, variables, settings } = started;
        Ok(Self { kind, server, room, _afterwards: afterwards, in_memory, variables, settings })
    }

    /// Returns the kind of the server.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the environment variables that tell clients where the server is.
    pub fn variables(&self) -> &[(String, String)] {
        &self.variables
    }

    /// Returns true if the server's data are in memory, so that nothing has to wait for a disk.
    pub fn is_in_memory(&self) -> bool {
        self.in_memory
    }

    /// Returns access to the server's settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the server's private directory.
    pub fn directory(&self) -> &Path {
        self.room.path()
    }

    /// Returns how the server ended, and the end of its log; `None` while it is running.
    pub fn ended(&self) -> Option<String> {
        self.server.ended()
    }
}

impl Drop for Throwaway {
    fn drop(&mut self) {
        if self.kind == Kind::Postgres {
            // Shuts down immediately, without writing data that nobody will read. A regular
            // shutdown would first wait for the clients.
            self.server.quit();
        }
    }
}

/// Returns a directory for data on a disk: the one for temporary files or, if that is in memory or
/// inaccessible to a server that runs as another user, a suitable public directory if there is one.
fn place_on_disk(as_other: bool) -> PathBuf {
    let temporary = std::env::temp_dir();
    let temporary = std::path::absolute(&temporary).unwrap_or(temporary);
    let everybodys = ["/var/tmp", "/tmp"].map(PathBuf::from);
    let known = || [&temporary].into_iter().chain(&everybodys);
    let is_reached = |place: &&PathBuf| place.is_dir() && (!as_other || is_everybodys(place));
    let best = known().filter(is_reached).find(|place| !is_memory(place));
    best.or_else(|| known().find(is_reached)).unwrap_or(&temporary).clone()
}

/// Returns true if every user can enter the directory and all its ancestors.
fn is_everybodys(directory: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let passes = |place: &Path| {
        std::fs::metadata(place).is_ok_and(|found| found.permissions().mode() & 0o001 != 0)
    };
    directory.ancestors().all(passes)
}

fn is_memory(directory: &Path) -> bool {
    statfs(directory).is_ok_and(|found| IN_MEMORY.contains(&(found.f_type as u64 & 0xffff_ffff)))
}

/// Returns the user and group IDs of a user other than root: the user that packages create for the
/// server or, if there is none, `nobody`.
fn other_user(kind: Kind) -> Result<(u32, u32), ServersError> {
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let ids = |name: &str| {
        users.lines().find_map(|line| {
            let fields: Vec<&str> = line.split(':').collect();
            let [own, _, user, group, ..] = fields[..] else { return None };
            (own == name).then_some((user.parse().ok()?, group.parse().ok()?))
        })
    };
    let found = ids(kind.user()).or_else(|| ids("nobody"));
    found.ok_or(ServersError::NoUser { kind: kind.label(), user: kind.user() })
}

/// Waits until a server is ready; fails if it ends, the user interrupts, or it takes too long.
fn await_ready(
    kind: Kind,
    server: &Server,
    mut is_ready: impl FnMut() -> bool,
) -> Result<(), ServersError> {
    let (began, interrupts, label) = (Instant::now(), interrupt::count(), kind.label());
    while !is_ready() {
        if let Some(how) = server.ended() {
            return Err(ServersError::Ended { kind: label, how });
        }
        if interrupt::count() > interrupts {
            return Err(ServersError::Interrupted { kind: label });
        }
        if began.elapsed() > PATIENCE {
            return Err(ServersError::Silent { kind: label, tail: server.output_tail() });
        }
        sleep(PAUSE);
    }
    Ok(())
}

/// Returns a port that is currently unused.
fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

/// Returns an unguessable password: 128 random bits from the kernel, in hexadecimal digits.
fn password() -> io::Result<String> {
    use std::io::Read;
    let mut bytes = [0; 16];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Returns the path of the first file named `name` in the directories of PATH.
fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|place| place.join(name)).find(|file| file.is_file())
}

/// Creates a file that only its owner can read, and gives it to the server's user.
fn private_file(path: &Path, text: &str, user: User) -> io::Result<()> {
    use std::io::Write;
    crate::room::renew(path)?.write_all(text.as_bytes())?;
    match user {
        Some((user, group)) => std::os::unix::fs::chown(path, Some(user), Some(group)),
        None => Ok(()),
    }
}

fn quoted_output(tail: &str) -> String {
    match tail.trim() {
        "" => ", and said nothing".to_owned(),
        tail => format!("; it said:\n{tail}"),
    }
}

#[cfg(test)]
mod tests;
