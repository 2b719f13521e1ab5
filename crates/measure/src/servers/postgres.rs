//! Finds the programs of PostgreSQL, initializes the data of a private server, and starts it.

use super::settings::Settings;
use super::{
    Kind, Reach, ServersError, Start, Started, await_ready, free_port, on_path, password,
    private_file,
};
use crate::sys::child;
use assay_data::system_error::reason;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// Parent directories and name prefixes of the version directories in which Debian's and
/// PostgreSQL's own packages install programs, outside PATH.
const PLACES: [(&str, &str); 2] = [("/usr/lib/postgresql", ""), ("/usr", "pgsql-")];
/// Name of the server's only user.
const USER: &str = "postgres";
/// Name of the database created for the tests.
const DATABASE: &str = "test";

pub(super) fn start(asked: &Start<'_>) -> Result<Started, ServersError> {
    let label = Kind::Postgres.label();
    let missing = ServersError::NotInstalled { kind: label, package: "postgresql" };
    let programs = programs().ok_or(missing)?;
    let no_place = |source| {
        let place = asked.directory.to_owned();
        ServersError::NoPlace { kind: label, place, source }
    };
    let data = asked.directory.join("data");
    let reached = match asked.reach {
        Reach::Socket => None,
        Reach::Loopback => Some((free_port().map_err(no_place)?, password().map_err(no_place)?)),
    };
    make(&programs, &data, asked, reached.as_ref().map(|(_, password)| password.as_str()))?;
    let port = reached.as_ref().map_or(5432, |(port, _)| *port);
    let socket = asked.directory.display().to_string();
    let listens =
        if reached.is_some() { "listen_addresses=127.0.0.1" } else { "listen_addresses=" };
    let mut argv: Vec<OsString> = vec![programs.join("postgres").into_os_string()];
    argv.extend(["-D".into(), data.clone().into_os_string()]);
    // Keeps shared memory in files of the server's directory, which is removed however the server
    // ends.
    let (at, port_is) = (format!("unix_socket_directories={socket}"), format!("port={port}"));
    for own in [listens, &at, &port_is, "dynamic_shared_memory_type=mmap"] {
        argv.extend(["-c".into(), own.into()]);
    }
    let server = asked.server(Kind::Postgres, argv)?;
    await_ready(Kind::Postgres, &server, || is_ready(&data))?;
    let settings = Settings::of_postgres(programs.join("psql"), &socket, port, USER);
    settings.create_database(DATABASE)?;
    Ok(Started { server, variables: variables(&socket, port, reached), settings })
}

/// Returns the environment variables by which libpq and the client libraries of most languages find
/// the server.
fn variables(socket: &str, port: u16, reached: Option<(u16, String)>) -> Vec<(String, String)> {
    let mut found = vec![("PGUSER", USER.to_owned()), ("PGDATABASE", DATABASE.to_owned())];
    found.push(("PGPORT", port.to_string()));
    match reached {
        // This form has no host, and every URL parser accepts it.
        None => {
            found.push(("PGHOST", socket.to_owned()));
            let url = format!("postgresql:///{DATABASE}?host={socket}&user={USER}");
            found.push(("DATABASE_URL", url));
        }
        Some((port, password)) => {
            found.push(("PGHOST", "127.0.0.1".to_owned()));
            let url = format!("postgresql://{USER}:{password}@127.0.0.1:{port}/{DATABASE}");
            found.push(("DATABASE_URL", url));
            found.push(("PGPASSWORD", password));
        }
    }
    found.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Initializes the data of a new server and flushes them to disk, so that they are not written
/// during a measurement. Connections through the socket require no password, because only users
/// with access to the directory can reach it.
fn make(
    programs: &Path,
    data: &Path,
    asked: &Start<'_>,
    password: Option<&str>,
) -> Result<(), ServersError> {
    let failed = |how: String, tail: String| ServersError::NotMade { program: "initdb", how, tail };
    let broken =
        |error: io::Error| failed(format!("can't be started: {}", reason(&error)), String::new());
    let mut arguments: Vec<String> =
        ["-U", USER, "-E", "UTF8", "--auth-local=trust", "--no-instructions"]
            .map(Into::into)
            .into();
    if let Some(password) = password {
        let file = asked.directory.join("password");
        private_file(&file, &format!("{password}\n"), asked.user).map_err(broken)?;
        arguments.push("--auth-host=scram-sha-256".to_owned());
        arguments.push(format!("--pwfile={}", file.display()));
    }
    let run = |more: &[&str]| {
        let mut command = std::process::Command::new(programs.join("initdb"));
        command.arg("-D").arg(data).args(&arguments).args(more).current_dir(asked.directory);
        command.stdin(Stdio::null());
        if let Some((user, group)) = asked.user {
            command.uid(user).gid(group);
        }
        child::end_with_us(&mut command);
        command.output().map_err(broken)
    };
    let first = run(&[])?;
    // A locale that is missing on this machine must not prevent the server from starting.
    let again = if first.status.success() { None } else { Some(run(&["--locale=C"])?) };
    if first.status.success() || again.is_some_and(|again| again.status.success()) {
        return Ok(());
    }
    let tail = [first.stdout, first.stderr].concat();
    let tail = String::from_utf8_lossy(&tail).into_owned();
    Err(failed(format!("failed ({})", first.status), tail))
}

/// Returns true if the server accepts connections, according to the status line in
/// `postmaster.pid`, which pg_ctl also reads.
fn is_ready(data: &Path) -> bool {
    let text = fs::read_to_string(data.join("postmaster.pid")).unwrap_or_default();
    text.lines().nth(7).is_some_and(|status| status.trim() == "ready")
}

/// Returns the directory with the programs of the newest installed version or, if none is found in
/// [`PLACES`], of the version on PATH.
fn programs() -> Option<PathBuf> {
    let mut found: Vec<(u32, PathBuf)> = Vec::new();
    for (place, prefix) in PLACES {
        for entry in fs::read_dir(place).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let version = name.to_str().and_then(|name| name.strip_prefix(prefix));
            let Some(version) = version.and_then(|version| version.parse().ok()) else { continue };
            found.push((version, entry.path().join("bin")));
        }
    }
    found.retain(|(_, programs)| programs.join("initdb").is_file());
    found.sort();
    let newest = found.pop().map(|(_, programs)| programs);
    newest.or_else(|| on_path("initdb")?.parent().map(Path::to_owned))
}
