//! The sandbox of this machine. Detects the available mechanisms, and builds command lines that run
//! inside.

use crate::descriptors;
use crate::room::Room;
use crate::sandbox::arguments;
use crate::sandbox::error::SandboxError;
use crate::sandbox::groups::{ExceededLimits, Group, Groups};
use crate::sandbox::policy::Policy;
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, lchown};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

/// Script that enters the groups, mounts directories where the sandbox's user can reach them (in a
/// separate mount namespace), and passes the arguments to bubblewrap. The arguments are passed in a
/// file, because everybody can see command lines, and because the intermediate programs would obey
/// environment variables. These programs have no variables at all, because bubblewrap remains the
/// first process inside, where its variables could be read.
const ENTER: &str = r#"words=$1; shift
while [ "$1" != -- ]; do echo 0 > "$1" || exit 125; shift; done; shift
while [ "$1" != -- ]; do mount --bind "$1" "$2" || exit 125; shift 2; done; shift
exec env -i "$@" 3< "$words""#;
/// Prints the first path that can't be read, and fails.
const READ: &str = r#"for path; do [ -r "$path" ] || { printf %s "$path"; exit 1; }; done"#;

/// The user inside the sandbox, if it is not the one who created it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct User {
    name: String,
    id: u32,
    group: u32,
}

/// Runs commands where they can do no harm.
#[derive(Debug)]
pub struct Sandbox {
    bubblewrap: PathBuf,
    prlimit: PathBuf,
    /// The program that switches to another user, and that user; `None` if the current user has no
    /// privileges to lose.
    becomes: Option<(PathBuf, User)>,
    /// True if bubblewrap can forbid further namespaces inside.
    closes: bool,
    groups: Groups,
    /// Private directory of the argument files.
    room: Room,
    /// Mounts for directories that only root can reach. `None` if they are unnecessary or
    /// impossible.
    mounts: Option<Mounts>,
    entered: AtomicU64,
}

/// The program that creates a mount namespace, and the directory that contains the mount points.
#[derive(Debug)]
struct Mounts {
    unshare: PathBuf,
    room: Room,
}

/// A command line that runs in the sandbox. Its argument file and control group exist until it is
/// dropped.
#[derive(Debug)]
pub struct SandboxedCommand {
    /// The command to run, in any directory, with the caller's environment.
    pub argv: Vec<OsString>,
    words: PathBuf,
    group: Option<Group>,
}

impl Sandbox {
    /// Detects the available mechanisms, and tries them once. After this call, programs started by
    /// this process inherit only descriptors passed to them explicitly.
    ///
    /// # Errors
    ///
    /// Returns an error if bubblewrap, `prlimit` or (for root) `setpriv` is missing, or if no
    /// sandbox can be created.
    pub fn find() -> Result<Self, SandboxError> {
        descriptors::close_on_exec();
        let program = |program: &'static str, package: &'static str| {
            arguments::found(program).ok_or(SandboxError::NoProgram { program, package })
        };
        let bubblewrap = program("bwrap", "bubblewrap")?;
        let prlimit = program("prlimit", "util-linux")?;
        let is_root = rustix::process::geteuid().is_root();
        let becomes = match is_root {
            true => Some((program("setpriv", "util-linux")?, nobody())),
            false => None,
        };
        let room = Room::temporary().map_err(|(path, error)| SandboxError::file(path)(error))?;
        let entered = AtomicU64::new(0);
        let groups = Groups::find();
        let mounts = None;
        let mut found =
            Self { bubblewrap, prlimit, becomes, closes: true, groups, room, mounts, entered };
        // The system may still refuse to use existing groups, and older versions of bubblewrap lack
        // `--disable-userns`.
        if found.tried().is_ok() {
            return Ok(found.with_mounts());
        }
        found.closes = false;
        if found.tried().is_ok() {
            return Ok(found.with_mounts());
        }
        found.groups = Groups::None;
        found.tried().map(|()| found.with_mounts())
    }

    /// Adds mounts for directories that only root can reach, if we are root and the system permits
    /// mounts.
    fn with_mounts(mut self) -> Self {
        let programs = arguments::found("unshare").zip(arguments::found("mount"));
        let Some((unshare, _)) = programs.filter(|_| self.becomes.is_some()) else { return self };
        let Ok(room) = Room::temporary() else { return self };
        let tried = room.path().join("0");
        if fs::create_dir(&tried).is_err() || self.hand_over(room.path()).is_err() {
            return self;
        }
        self.mounts = Some(Mounts { unshare, room });
        let policy = Policy {
            directory: PathBuf::from("/"),
            opened: vec![self.room.path().to_owned()],
            ..Policy::default()
        };
        let ran = self.enter(&policy, &["true".into()]).ok().and_then(|entered| {
            Command::new(&entered.argv[0]).args(&entered.argv[1..]).output().ok()
        });
        if !ran.is_some_and(|ran| ran.status.success()) {
            self.mounts = None;
        }
        self
    }

    /// Returns true if a file or directory can be shown inside although only root can reach it,
    /// because a parent directory is closed. Everybody must be permitted to read it.
    pub fn opens(&self, path: &Path) -> bool {
        let Ok(found) = fs::metadata(path) else { return false };
        let needed = if found.is_dir() { 0o005 } else { 0o004 };
        self.mounts.is_some() && found.permissions().mode() & needed == needed
    }

    fn tried(&self) -> Result<(), SandboxError> {
        let policy = Policy { directory: PathBuf::from("/"), ..Policy::default() };
        let entered = self.enter(&policy, &["true".into()])?;
        let ran = Command::new(&entered.argv[0]).args(&entered.argv[1..]).output();
        let ran = ran.map_err(SandboxError::file(&entered.argv[0]))?;
        if ran.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&ran.stderr);
        let said = said.lines().last().unwrap_or_default().trim();
        let said = if said.is_empty() { ran.status.to_string() } else { format!("`{said}`") };
        Err(SandboxError::Refused { said })
    }

    /// Returns true if memory and processes are limited for a command and all its descendants
    /// together, rather than per process.
    pub fn has_groups(&self) -> bool {
        self.groups != Groups::None
    }

    /// Returns the name of the user inside the sandbox, or `None` if it is the current user.
    pub fn user(&self) -> Option<&str> {
        self.becomes.as_ref().map(|(_, user)| user.name.as_str())
    }

    /// Transfers a directory and its contents to the sandbox's user, so that commands can write
    /// there. Does nothing if that is the current user. Symbolic links are not followed. O(files).
    ///
    /// # Errors
    ///
    /// Returns an error that names the file if one can't be transferred.
    pub fn hand_over(&self, directory: &Path) -> Result<(), SandboxError> {
        let Some((_, user)) = &self.becomes else { return Ok(()) };
        let mut open = vec![directory.to_owned()];
        while let Some(path) = open.pop() {
            lchown(&path, Some(user.id), Some(user.group)).map_err(SandboxError::file(&path))?;
            if fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir()) {
                let entries = fs::read_dir(&path).map_err(SandboxError::file(&path))?;
                open.extend(entries.flatten().map(|entry| entry.path()));
            }
        }
        Ok(())
    }

    /// Checks that the user inside can read everything that the policy names, and the programs or
    /// directories in `beside`.
    ///
    /// # Errors
    ///
    /// Returns an error that names the first path that can't be read.
    pub fn check(&self, policy: &Policy, beside: &[PathBuf]) -> Result<(), SandboxError> {
        let all = policy.reads.iter().chain(&policy.writes).chain(beside);
        let all = all.filter(|path| !arguments::is_of_system(path));
        let mut command = match &self.becomes {
            Some((setpriv, user)) => {
                let mut command = Command::new(setpriv);
                command.args(as_user(user)).args(["sh", "-c", READ, "sh"]);
                command
            }
            None => {
                let mut command = Command::new("sh");
                command.args(["-c", READ, "sh"]);
                command
            }
        };
        let ran = command.args(all).output().map_err(SandboxError::file("sh"))?;
        match ran.status.success() {
            true => Ok(()),
            false => Err(SandboxError::Unreadable {
                path: PathBuf::from(std::ffi::OsStr::from_bytes(&ran.stdout)),
                user: self.user().unwrap_or("who runs this").to_owned(),
            }),
        }
    }

    /// Returns the command line that runs a command under a policy. Its exit status is that of the
    /// command.
    ///
    /// # Errors
    ///
    /// Returns an error if the argument file or the control groups can't be written.
    pub fn enter(
        &self,
        policy: &Policy,
        argv: &[OsString],
    ) -> Result<SandboxedCommand, SandboxError> {
        let number = self.entered.fetch_add(1, Ordering::Relaxed);
        let path = self.room.path().join(number.to_string());
        let mut text = Vec::new();
        let opened: Vec<PathBuf> = match &self.mounts {
            Some(own) => {
                let number = |own: usize| own.to_string();
                (0..policy.opened.len()).map(|index| own.room.path().join(number(index))).collect()
            }
            None => Vec::new(),
        };
        for (from, to) in policy.opened.iter().zip(&opened) {
            let made = if from.is_dir() { fs::create_dir(to) } else { fs::write(to, "") };
            made.or_else(|error| if to.exists() { Ok(()) } else { Err(error) })
                .map_err(SandboxError::file(to))?;
        }
        for word in arguments::of(policy, self.closes, &opened) {
            text.extend_from_slice(word.as_bytes());
            text.push(0);
        }
        let file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        file.and_then(|mut file| file.write_all(&text)).map_err(SandboxError::file(&path))?;
        let group = self.groups.make(&policy.limits);
        let group = group.map_err(|(path, error)| SandboxError::file(path)(error))?;
        let mut all: Vec<OsString> = match self.mounts.as_ref().filter(|_| !opened.is_empty()) {
            Some(own) => {
                let words = ["--mount", "--propagation", "private", "--"].map(OsString::from);
                std::iter::once(own.unshare.clone().into()).chain(words).collect()
            }
            None => Vec::new(),
        };
        all.extend(["sh", "-c", ENTER, "sh"].map(OsString::from));
        all.push(path.clone().into());
        all.extend(group.iter().flat_map(Group::entrances).map(OsString::from));
        all.push("--".into());
        for (from, to) in policy.opened.iter().zip(&opened) {
            all.extend([from.into(), to.into()]);
        }
        all.push("--".into());
        if let Some((setpriv, user)) = &self.becomes {
            all.push(setpriv.into());
            all.extend(as_user(user).map(OsString::from));
        }
        all.push((&self.bubblewrap).into());
        all.extend(["--args", "3", "--"].map(OsString::from));
        all.extend(arguments::limits(policy, &self.prlimit, group.is_some()));
        all.push("--".into());
        all.extend_from_slice(argv);
        Ok(SandboxedCommand { argv: all, words: path, group })
    }
}

/// Returns the arguments for `setpriv`.
fn as_user(user: &User) -> [String; 5] {
    let (id, group) = (user.id, user.group);
    [
        format!("--reuid={id}"),
        format!("--regid={group}"),
        "--clear-groups".to_owned(),
        "--inh-caps=-all".to_owned(),
        "--bounding-set=-all".to_owned(),
    ]
}

/// Returns the IDs of a user who owns no files.
fn nobody() -> User {
    const ID: u32 = 65_534;
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let known = users.lines().find_map(|line| {
        let mut fields = line.strip_prefix("nobody:")?.split(':').skip(1);
        Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
    });
    let (id, group) = known.unwrap_or((ID, ID));
    User { name: "nobody".to_owned(), id, group }
}

impl SandboxedCommand {
    /// Returns which limits for all processes together have been reached. Without control groups,
    /// these are none.
    pub fn exceeded(&self) -> ExceededLimits {
        self.group.as_ref().map(Group::exceeded).unwrap_or_default()
    }
}

impl Drop for SandboxedCommand {
    fn drop(&mut self) {
        // If the file can't be removed now, it is removed with the directory.
        let _with_the_room = fs::remove_file(&self.words);
    }
}
