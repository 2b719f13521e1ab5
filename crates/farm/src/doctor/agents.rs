//! The requirements of an agent: a sandbox, programs, disk space, and a server that knows it.

use super::{Check, size};
use crate::client::Client;
use assay_data::system_error::reason;
use assay_measure::sandbox::Sandbox;
use jiff::Timestamp;
use std::path::Path;
use std::process::{Command, Stdio};

/// Free space required on an agent's disk, bytes.
const FREE: u64 = 256 << 20;
/// Clock difference above which a note is shown, s: times would then be shown in the wrong order.
const CLOCK: f64 = 2.0;

/// Checks whether untrusted code can be run safely.
pub(crate) fn sandbox() -> Vec<Check> {
    let sandbox = match Sandbox::find() {
        Ok(sandbox) => sandbox,
        Err(error) => return vec![Check::lacks("sandbox", error.to_string())],
    };
    let mut checks = vec![Check::fine(
        "sandbox",
        match sandbox.user() {
            Some(user) => format!("bubblewrap; programs in it run as the user {user}"),
            None => {
                "bubblewrap; programs in it run as this user, without further privileges".to_owned()
            }
        },
    )];
    checks.push(match sandbox.has_groups() {
        true => Check::fine("control groups", "memory and processes of a job are limited together"),
        false => Check::note(
            "control groups",
            "none can be created here: limits of memory and processes apply to each process separately (run the agent as root, or delegate a group to its user)",
        ),
    });
    checks
}

/// Checks which programs are available for testing.
pub(crate) fn tools() -> Vec<Check> {
    // Searched for in the same way as by an agent, without PATH.
    let assay = match crate::agent::assay().and_then(version) {
        Some(version) => Check::fine("assay", version),
        None => Check::note(
            "assay",
            "neither next to this program nor named by ASSAY: without it, no benchmarks are run",
        ),
    };
    let git = match version("git") {
        Some(version) => Check::fine("git", version),
        None => Check::note("git", "not on PATH: needed for projects that are repositories"),
    };
    let mut checks = vec![assay, git];
    // The reason for a missing sandbox has already been reported.
    if let Ok((targets, notes)) = crate::agent::platforms() {
        if targets.is_empty() {
            let told = "none that the sandbox user can run: install ruby, python, node, go or rust for all users, and put it on PATH";
            checks.push(Check::lacks("runtime", told));
        }
        checks.extend(targets.into_iter().map(|target| Check::fine("runtime", target)));
        checks.extend(notes.into_iter().map(|note| Check::note("runtime", note)));
    }
    checks
}

fn version(program: impl AsRef<std::ffi::OsStr>) -> Option<String> {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stderr(Stdio::null());
    let output = command.output().ok().filter(|output| output.status.success())?;
    let said = String::from_utf8_lossy(&output.stdout);
    Some(said.lines().next().unwrap_or_default().chars().take(80).collect())
}

/// Checks the disk space in an agent's directory, or in the nearest existing one above it.
pub(crate) fn room(directory: &Path) -> Check {
    room_in(directory, FREE)
}

/// Like [`room`], with the required free space.
pub(crate) fn room_in(directory: &Path, least: u64) -> Check {
    let there = directory.ancestors().find(|path| path.exists()).unwrap_or(Path::new("/"));
    match rustix::fs::statvfs(there) {
        Ok(found) => {
            let free = found.f_bavail.saturating_mul(found.f_frsize);
            let said = format!("{} free in {}", size(free), there.display());
            match free < least {
                true => {
                    Check::lacks("disk", format!("{said}: at least {} are needed", size(least)))
                }
                false => Check::fine("disk", said),
            }
        }
        Err(error) => {
            Check::lacks("disk", format!("{}: {}", there.display(), reason(&error.into())))
        }
    }
}

/// Checks whether the server answers, knows the token, and has a similar time.
pub(crate) fn server(client: &Client) -> Vec<Check> {
    let asked = Timestamp::now();
    let about = match client.about() {
        Ok(about) => about,
        Err(error) => {
            let told = "start one with `assay farm serve`, and name it with --server";
            return vec![Check::lacks("server", format!("{error}: {told}"))];
        }
    };
    let answered = Timestamp::now();
    let mut checks = vec![Check::fine("server", format!("{} at {}", about.tool, client.address()))];
    checks.push(match about.time.parse::<Timestamp>() {
        Ok(theirs) => clock((asked, answered), theirs),
        Err(_) => Check::note(
            "clock",
            format!("the server's is `{}`, which is not a valid time", about.time),
        ),
    });
    checks.push(match client.owners() {
        Ok(_) => Check::fine("token", "the server knows it"),
        Err(error) => Check::lacks("token", error.to_string()),
    });
    checks
}

/// Compares the clocks. The server's clock was read between these two readings of the local one.
fn clock((asked, answered): (Timestamp, Timestamp), theirs: Timestamp) -> Check {
    let ahead = if theirs < asked {
        asked.duration_since(theirs).as_secs_f64()
    } else if theirs > answered {
        -theirs.duration_since(answered).as_secs_f64()
    } else {
        0.0
    };
    match ahead.abs() > CLOCK {
        false => Check::fine("clock", "agrees with the server's"),
        true => {
            let how = if ahead > 0.0 { "ahead of" } else { "behind" };
            let seconds = ahead.abs();
            Check::note(
                "clock",
                format!(
                    "{seconds:.0} s {how} the server's: synchronize both over the network (NTP)"
                ),
            )
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use super::super::State;
    use super::*;

    #[test]
    fn clocks_that_differ_are_noticed_in_both_directions() {
        let at = |second: i64| Timestamp::from_second(second).unwrap();
        let seen = |theirs| clock((at(100), at(103)), at(theirs));
        for theirs in [98, 100, 102, 103, 105] {
            assert_eq!(seen(theirs).state, State::Fine, "{theirs}");
        }
        assert!(seen(40).said.starts_with("60 s ahead"), "{}", seen(40).said);
        assert!(seen(163).said.starts_with("60 s behind"), "{}", seen(163).said);
    }

    #[test]
    fn room_is_looked_at_where_the_directory_will_be() {
        let room = tempfile::tempdir().unwrap();
        let later = room.path().join("a/b");
        assert_eq!(room_in(&later, 1).state, State::Fine);
        let none = room_in(&later, u64::MAX);
        assert_eq!(none.state, State::Lacks);
        assert!(none.said.contains(&*room.path().to_string_lossy()), "{}", none.said);
    }
}
