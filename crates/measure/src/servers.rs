//! Servers that a suite of tests needs, started for it alone and thrown away afterwards: PostgreSQL and Redis.
//!
//! Each has a private directory of its own, on a socket in which it listens; as root it runs as another user, because PostgreSQL refuses
//! to run as root. It ends with `assay` however that ends, and its directory goes with it. Its settings are those that it comes with, so
//! that what a setting changes is measured against what people have. How settings are changed while it runs: [`settings`].

mod address;
mod postgres;
mod redis;
pub mod settings;

use crate::afterwards::Afterwards;
use crate::command::Command;
use crate::interrupt;
use crate::room::Room;
use crate::serving::{Server, ServingError};
use rustix::fs::statfs;
use std::ffi::OsString;
use std::io;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};
use thiserror::Error;

pub use address::AddressError;
pub use settings::{Refused, ServerChange, Settings};

/// How long a server may take until it answers.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long between two looks.
const PAUSE: Duration = Duration::from_millis(10);
/// Where memory is a directory.
const MEMORY: &str = "/dev/shm";
/// File systems that are memory: tmpfs and ramfs, by statfs(2).
const IN_MEMORY: [u64; 2] = [0x0102_1994, 0x8584_58f6];
/// Removes the directory `$1` of a server that the guard is ending at this moment, and the segment of shared memory by which a
/// PostgreSQL knows that it is alone with its data: only the dead can't remove it.
const REMOVE: &str = r#"segment=$(sed -n 's/^ *[0-9][0-9]*  *\([0-9][0-9]*\) *$/\1/p' "$1/data/postmaster.pid")
tries=0
while rm -rf -- "$1"; [ -e "$1" ] && [ $tries -lt 100 ]; do tries=$((tries + 1)); sleep 0.1; done
[ -z "$segment" ] || ipcrm -m "$segment""#;

/// What kind of server it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// PostgreSQL.
    Postgres,
    /// Redis.
    Redis,
}

/// How clients reach a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// By a socket in its private directory.
    Socket,
    /// By a port of the loopback device, with a random password: for clients that know no sockets.
    Loopback,
}

/// Where a server has its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Medium {
    /// In the directory for temporary files; where that is memory, in `/var/tmp`, unless that is memory, too. As root it must be one that
    /// everybody can get to.
    Disk,
    /// In memory.
    Memory,
}

/// Why a server can't be had.
#[derive(Debug, Error)]
pub enum ServersError {
    /// It is not installed.
    #[error("there is no {kind} on this machine; on Debian: apt-get install {package}")]
    NotInstalled {
        /// What it is called.
        kind: &'static str,
        /// What it is in.
        package: &'static str,
    },
    /// As root it would have to run as another user, and there is none.
    #[error("{kind} is not run as root, and there is no user `{user}` or `nobody` to run it as")]
    NoUser {
        /// What it is called.
        kind: &'static str,
        /// As which user it would be run.
        user: &'static str,
    },
    /// There is no place for its data.
    #[error("no directory for the data of {kind} can be made in {}: {source}", place.display())]
    NoPlace {
        /// What it is called.
        kind: &'static str,
        /// Where.
        place: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Making the data of a new server failed.
    #[error("{program} {how}{}", said(tail))]
    NotMade {
        /// The program that makes them.
        program: &'static str,
        /// How it ended.
        how: String,
        /// The last that it said.
        tail: String,
    },
    /// It can't be started at all.
    #[error(transparent)]
    Serving(#[from] ServingError),
    /// It ended before it answered.
    #[error("{kind} did not start: it {how}")]
    Ended {
        /// What it is called.
        kind: &'static str,
        /// How it ended, and the end of its log.
        how: String,
    },
    /// It never answered.
    #[error("{kind} does not answer after {} s{}", PATIENCE.as_secs(), said(tail))]
    Silent {
        /// What it is called.
        kind: &'static str,
        /// The end of its log.
        tail: String,
    },
    /// It answers, but refuses to be prepared.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The user ended it.
    #[error("interrupted while {kind} was starting")]
    Interrupted {
        /// What it is called.
        kind: &'static str,
    },
}

/// A server that runs, and goes when it is dropped.
pub struct Throwaway {
    kind: Kind,
    // Dropped in this order: the server ends, its directory goes, and then nothing is left to be done afterwards.
    server: Server,
    room: Room,
    _afterwards: Afterwards,
    in_memory: bool,
    variables: Vec<(String, String)>,
    settings: Settings,
}

/// A user that a server runs as.
type User = Option<(u32, u32)>;

/// What is needed to start a server in a directory that is its own.
struct Start<'a> {
    directory: &'a Path,
    reach: Reach,
    user: User,
}

impl Start<'_> {
    /// Starts it in its directory, as its user.
    fn server(&self, kind: Kind, argv: Vec<OsString>) -> Result<Server, ServersError> {
        let mut command = Command::new(argv).map_err(|error| {
            let how = format!("has no command: {error}");
            ServersError::Ended { kind: kind.label(), how }
        })?;
        command.cwd = Some(self.directory.to_owned());
        Ok(Server::start_as(&command, &[], self.directory, self.user)?)
    }
}

/// How a server is started and reached.
struct Started {
    server: Server,
    variables: Vec<(String, String)>,
    settings: Settings,
}

impl Kind {
    /// As its makers call it.
    pub fn label(self) -> &'static str {
        match self {
            Self::Postgres => "PostgreSQL",
            Self::Redis => "Redis",
        }
    }

    /// The user that packages of it run it as.
    fn user(self) -> &'static str {
        match self {
            Self::Postgres => "postgres",
            Self::Redis => "redis",
        }
    }
}

impl Throwaway {
    /// Starts one and waits until it answers. Takes about a second; nothing of it belongs into a measurement.
    ///
    /// # Errors
    /// [`ServersError`], with the end of the server's log where that says why.
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
            return Err(no_place(io::Error::other("it is no memory")));
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

    /// What kind it is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// By which variables clients find it.
    pub fn variables(&self) -> &[(String, String)] {
        &self.variables
    }

    /// Whether its data are in memory, so that nothing waits for a disk.
    pub fn is_in_memory(&self) -> bool {
        self.in_memory
    }

    /// How its settings are changed.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Its private directory.
    pub fn directory(&self) -> &Path {
        self.room.path()
    }

    /// How it ended, and the end of its log; `None` while it runs.
    pub fn ended(&self) -> Option<String> {
        self.server.ended()
    }
}

impl Drop for Throwaway {
    fn drop(&mut self) {
        if self.kind == Kind::Postgres {
            // At once, without writing down what nobody will read; asked to terminate, it would wait for its clients first.
            self.server.quit();
        }
    }
}

/// The directory for temporary files, unless that is memory, or a server that runs as another user can't get there: then one that everybody
/// has, if it is better.
fn place_on_disk(as_other: bool) -> PathBuf {
    let temporary = std::env::temp_dir();
    let temporary = std::path::absolute(&temporary).unwrap_or(temporary);
    let everybodys = ["/var/tmp", "/tmp"].map(PathBuf::from);
    let known = || [&temporary].into_iter().chain(&everybodys);
    let is_reached = |place: &&PathBuf| place.is_dir() && (!as_other || is_everybodys(place));
    let best = known().filter(is_reached).find(|place| !is_memory(place));
    best.or_else(|| known().find(is_reached)).unwrap_or(&temporary).clone()
}

/// Whether everybody can get to a directory.
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

/// The ids of a user that is not root: the one that packages make for it, or the one that has nothing.
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

/// Waits until a server is ready; it may end meanwhile, or the user may end the wait.
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
            return Err(ServersError::Silent { kind: label, tail: server.said() });
        }
        sleep(PAUSE);
    }
    Ok(())
}

/// A port that nobody listens at now.
fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

/// Nobody can guess it: 128 bits of the kernel's, in hexadecimal digits.
fn password() -> io::Result<String> {
    use std::io::Read;
    let mut bytes = [0; 16];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// A program on PATH.
fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|place| place.join(name)).find(|file| file.is_file())
}

/// Makes a file that only its owner can read, and gives it to the server's user.
fn private_file(path: &Path, text: &str, user: User) -> io::Result<()> {
    use std::io::Write;
    crate::room::renew(path)?.write_all(text.as_bytes())?;
    match user {
        Some((user, group)) => std::os::unix::fs::chown(path, Some(user), Some(group)),
        None => Ok(()),
    }
}

fn said(tail: &str) -> String {
    match tail.trim() {
        "" => ", and said nothing".to_owned(),
        tail => format!("; it said:\n{tail}"),
    }
}

#[cfg(test)]
mod tests;
